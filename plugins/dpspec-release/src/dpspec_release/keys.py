"""Integer keys for the records of tables, so that millions of records are compared as multisets without a Python object each.

A key is a mixed-radix number with one digit for each column. It fits 64 bits for most tables; only where it does not are the keys
so far replaced by their ranks, at a cost of one sort. Equal keys always mean equal records: nothing is hashed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpspec.plugin import Table, tables
from dpspec.plugin.releases import Members, ranked

Numbers = npt.NDArray[np.int64]

_LIMIT = 1 << 63
_DENSE = 4
"""Multisets are compared by counting where there are at most this many possible keys for each record, otherwise by sorting."""


@attrs.define
class RecordKeys:
    """One key for each record, equal for two records exactly where all columns appended so far are equal.

    Args:
        keys: the keys, from 0 to radix - 1; they are changed in place.
        radix: an upper bound on the number of different keys.

    >>> keys = RecordKeys(np.zeros(3, dtype=np.int64))
    >>> keys.append(np.array([1, 0, 1]), 2)
    >>> keys.append(np.array([2, 2, 0]), 3)
    >>> keys.keys.tolist(), keys.radix
    ([5, 2, 3], 6)
    """

    keys: Numbers
    radix: int = 1

    def append(self, codes: npt.NDArray[Any], size: int) -> None:
        """Append a column of codes from 0 to size - 1."""
        if self.radix * size >= _LIMIT:
            self.keys, self.radix = _ranks(self.keys)
        if self.radix * size >= _LIMIT:
            codes, size = _ranks(codes)
        self.keys *= size
        self.keys += tables.signed(codes)
        self.radix *= size


def _ranks(numbers: npt.NDArray[Any]) -> tuple[Numbers, int]:
    """The rank of each number among the different ones, and how many these are."""
    if not len(numbers):
        return np.zeros(0, dtype=np.int64), 1
    different, ranks, _ = ranked(numbers)
    return ranks.astype(np.int64), len(different)


def record_keys(tables: Sequence[Table], columns: Sequence[str]) -> RecordKeys:
    """The keys of the records of several tables with the same attributes, one table after the other.

    >>> from dpspec.plugin import Attribute
    >>> sex = Attribute(name="sex", categories=("f", "m"))
    >>> tables = [Table.from_records(rows, (sex,)) for rows in ([("f",), ("m",)], [("m",), ("m",)])]
    >>> record_keys(tables, ["sex"]).keys.tolist()
    [0, 1, 1, 1]
    """
    found = RecordKeys(np.zeros(sum(map(len, tables)), dtype=np.int64))
    for name in columns:
        codes = [table.codes[name] for table in tables]
        found.append(codes[0] if len(codes) == 1 else np.concatenate(codes), tables[0].attribute(name).size)
    return found


def household_keys(records: RecordKeys, held: Sequence[Members], lengths: Sequence[int]) -> RecordKeys:
    """Extend the keys of records by the multiset of the members that each record holds.

    Args:
        records: the keys of the records of several tables, one table after the other.
        held: the members of each table, with the same attributes.
        lengths: the number of records of each table.
    """
    starts = np.cumsum([0, *lengths[:-1]])
    owners = np.concatenate([members.owner + start for members, start in zip(held, starts, strict=True)])
    sizes = np.bincount(owners, minlength=sum(lengths))
    largest = int(sizes.max(initial=0))
    kinds = record_keys([members.table for members in held], [a.name for a in held[0].table.attributes])
    members = _sorted_within(owners, kinds)
    begins = np.cumsum(sizes) - sizes
    records.append(sizes, largest + 1)
    finished, radix = records.keys, records.radix
    active = np.flatnonzero(sizes)
    running = RecordKeys(finished[active], radix)
    for place in range(largest):
        left = sizes[active] > place
        finished[active[~left]] = running.keys[~left]
        active, running = active[left], RecordKeys(running.keys[left], running.radix)
        running.append(members[begins[active] + place], kinds.radix)
        radix = max(radix, running.radix)
    finished[active] = running.keys
    found = RecordKeys(finished, radix)
    found.append(sizes, largest + 1)  # records of different sizes have gone through a different number of steps
    return found


def _sorted_within(owners: Numbers, kinds: RecordKeys) -> Numbers:
    """The keys of the members, in the order of their owners, and sorted for each owner."""
    if (int(owners.max(initial=0)) + 1) * kinds.radix < _LIMIT:
        both = owners * kinds.radix + kinds.keys
        both.sort()
        both %= kinds.radix
        return both
    return kinds.keys[np.lexsort((kinds.keys, owners))]


def same_multiset(found: RecordKeys, first: int) -> bool:
    """Whether the first keys, as many as `first`, are those of the rest in another order."""
    before, after = found.keys[:first], found.keys[first:]
    if len(before) != len(after):
        return False
    if found.radix <= _DENSE * len(before):
        return np.array_equal(np.bincount(before, minlength=found.radix), np.bincount(after, minlength=found.radix))
    before.sort()
    after.sort()
    return np.array_equal(before, after)
