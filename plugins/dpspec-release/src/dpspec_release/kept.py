"""What a release keeps of its table, checked by code that knows nothing of the mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from dpspec.plugin import Attribute, Table, randomness, sorting
from dpspec.plugin.releases import Kept, PluginContractError, SystemRandomness
from dpspec_release.keys import household_keys, record_keys, same_multiset


@attrs.frozen(kw_only=True)
class FoundKept:
    """What was found of one such statement.

    Args:
        kept: the statement in words.
        records: how many records were compared.
    """

    kept: str
    records: int

    def data(self) -> dict[str, Any]:
        """The entry of the report; what is not kept is never reported, but refused."""
        return {"kept": self.kept, "records": self.records}


@attrs.define
class _Sums:
    """The number of records, and two sums modulo 2^64."""

    records: int = 0
    words: Any = attrs.field(factory=lambda: np.zeros(2, dtype=np.uint64))


@attrs.define
class KeptDigest:
    """One statement of what is kept of a table, compared by digests of multisets of records: sums of pseudorandom numbers.

    Two words of 64 bits are drawn by the key of each record, and summed over the records. Let two multisets differ by d_1, d_2,
    ... in the numbers of some records. The sums agree with probability 2^-128 gcd(2^64, d_1, d_2, ...)^2, which is below 2^-60
    for fewer than 2^34 records. They do not depend on the order of the records, nor on the batches.

    Args:
        kept: the statement.
        packing: the columns that are kept.
        words: the words, by a key that is used for this comparison alone.
        inside: the columns of members, where records are compared with the multisets of theirs; None where they are not.

    Members have two words of their own, and their sums over the members of a record are part of its key.
    """

    kept: Kept
    packing: sorting.Packing
    words: randomness.PlacedRandomness
    inside: sorting.Packing | None = None
    _before: _Sums = attrs.field(factory=_Sums, init=False)
    _after: _Sums = attrs.field(factory=_Sums, init=False)

    @classmethod
    def of(cls, kept: Kept, attributes: Sequence[Attribute], members: Sequence[Attribute] = ()) -> KeptDigest:
        """The comparison of tables with these columns, with nothing added yet.

        Args:
            kept: the statement.
            attributes: the columns.
            members: those of the members; without any, records are compared without theirs.
        """
        known = {a.name: a for a in attributes}
        packing = sorting.Packing(attributes=tuple(known[name] for name in kept.attributes), name="key")
        inside = sorting.Packing(attributes=tuple(members), name="member") if kept.members and members else None
        return cls(attrs.evolve(kept, members=inside is not None), packing, SystemRandomness().placed(), inside)

    def add_before(self, batch: Table) -> None:
        """Add records of the table that was read."""
        self._add(self._before, batch)

    def add_after(self, batch: Table) -> None:
        """Add records of the released table."""
        self._add(self._after, batch)

    def _add(self, sums: _Sums, batch: Table) -> None:
        columns = list(self.packing.packed(batch.codes).values())
        if self.kept.in_order:
            columns.insert(0, np.arange(sums.records, sums.records + len(batch)))
        if self.inside is not None:
            columns += self._of_members(batch, self.inside)
        sums.records += len(batch)
        sums.words += np.asarray([column.sum(dtype=np.uint64) for column in self._words(columns, len(batch), 0)])

    def _of_members(self, batch: Table, inside: sorting.Packing) -> list[Any]:
        """For each record of a batch the sums of two words of its members."""
        sums = [np.zeros(len(batch), dtype=np.uint64) for _ in range(2)]
        if batch.members is not None:
            columns = list(inside.packed(batch.members.table.codes).values())
            words = self._words(columns, len(batch.members.owner), _OF_MEMBERS)
            for total, column in zip(sums, words, strict=True):
                np.add.at(total, batch.members.owner, column)
        return sums

    def _words(self, columns: Sequence[Any], count: int, first: int) -> list[Any]:
        """Two words for each row of some columns, from streams of this number on."""
        places = np.zeros(count, dtype=np.uint64)
        for stream, column in enumerate(columns, first):
            own = column.astype(np.uint64)
            places = self.words.words_at(stream, places) ^ own if stream > first else own
        return [self.words.words_at(first + len(columns) + place, places) for place in range(2)]

    def found(self, records: int, mechanism: str) -> FoundKept:
        """The result, after all records were added.

        Args:
            records: the number of records that there are.
            mechanism: its name.

        Raises:
            PluginContractError: the records are others.
        """
        before, after = self._before, self._after
        if not (before.records == after.records == records and np.array_equal(before.words, after.words)):
            raise _not_kept(self.kept, mechanism)
        return FoundKept(kept=str(self.kept), records=records)


_OF_MEMBERS = 1 << 20
"""The first stream of the words of members."""


def _not_kept(kept: Kept, mechanism: str) -> PluginContractError:
    rule = f"does not keep {kept}"
    return PluginContractError(f"mechanism {mechanism}", rule, "nothing was written; report it to the plugin's author")


def check_kept(kept: Kept, before: Table, after: Table, mechanism: str) -> FoundKept:
    """Compare the records of two tables in the columns that do not move.

    Raises:
        PluginContractError: they are others.
    """
    if changed(kept, before, after):
        raise _not_kept(kept, mechanism)
    seen = kept if before.members is not None else attrs.evolve(kept, members=False)
    return FoundKept(kept=str(seen), records=len(before))


def changed(kept: Kept, before: Table, after: Table) -> bool:
    """Whether two tables differ in what is kept: as multisets of records, or record by record where these are in order."""
    if len(before) != len(after) or any(before.attribute(name) != after.attribute(name) for name in kept.attributes):
        return True
    if kept.in_order:
        return not all(np.array_equal(before.codes[name], after.codes[name]) for name in kept.attributes)
    if kept.members and (before.members is None or after.members is None):
        return before.members is not after.members
    keys = record_keys((before, after), kept.attributes)
    if kept.members and before.members is not None and after.members is not None:
        held = before.members, after.members
        if held[0].table.attributes != held[1].table.attributes:
            return True
        keys = household_keys(keys, held, (len(before), len(after)))
    return not same_multiset(keys, len(before))
