"""What a mechanism says that it keeps, asked of the release as it lies on disk by code that knows nothing of the mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpspec.errors import PluginContractError
from dpspec.mechanism import Kept
from dpspec.table import Table

Numbers = npt.NDArray[np.int64]


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


def check_kept(kept: Kept, before: Table, after: Table, mechanism: str) -> FoundKept:
    """Compare the records of two tables in the columns that do not move.

    Raises:
        PluginContractError: they are others.
    """
    if changed(kept, before, after):
        raise PluginContractError(
            f"mechanism {mechanism}", f"does not keep {kept}", "nothing was written; report it to the plugin's author"
        )
    return FoundKept(kept=str(kept), records=len(before))


def changed(kept: Kept, before: Table, after: Table) -> bool:
    """Whether two tables differ in what is kept: as multisets of records, or record by record where these are in order."""
    if len(before) != len(after) or any(before.attribute(name) != after.attribute(name) for name in kept.attributes):
        return True
    if kept.in_order:
        return not all(np.array_equal(before.codes[name], after.codes[name]) for name in kept.attributes)
    names = numbered((before, after), kept.attributes)
    if kept.members:
        if before.members is None or after.members is None:
            return before.members is not after.members
        names = _with_members(names, before, after)
    return not np.array_equal(np.sort(names[0]), np.sort(names[1]))


def numbered(tables: Sequence[Table], columns: Sequence[str]) -> tuple[Numbers, ...]:
    """A number for each record of some tables: equal where the columns are, and nowhere else.

    >>> from dpspec.blocks.space import Attribute
    >>> sex = Attribute(name="sex", categories=("f", "m"))
    >>> tables = [Table.from_records(rows, (sex,)) for rows in ([("f",), ("m",)], [("m",), ("m",)])]
    >>> [numbers.tolist() for numbers in numbered(tables, ["sex"])]
    [[0, 1], [1, 1]]
    """
    keys: Numbers = np.zeros(sum(map(len, tables)), dtype=np.int64)
    for name in columns:
        codes = np.concatenate([table.codes[name].astype(np.int64) for table in tables])
        keys = _paired(keys, codes)
    return tuple(np.split(keys, np.cumsum([len(table) for table in tables])[:-1]))


def _paired(first: Numbers, second: Numbers) -> Numbers:
    """Small numbers for pairs: ranks of ranks cannot overflow."""
    ranks = [np.unique(numbers, return_inverse=True)[1].reshape(-1) for numbers in (first, second)]
    many = int(ranks[1].max(initial=0)) + 1
    return np.asarray(np.unique(ranks[0] * many + ranks[1], return_inverse=True)[1].reshape(-1), dtype=np.int64)


def _with_members(names: Sequence[Numbers], before: Table, after: Table) -> tuple[Numbers, ...]:
    """The same with each record together with all of its members, in whatever order these stand."""
    held = [table.members for table in (before, after) if table.members is not None]
    columns = [a.name for a in held[0].table.attributes]
    if [a.name for a in held[1].table.attributes] != columns:
        return np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    kinds = np.concatenate(numbered([members.table for members in held], columns))
    owners = np.concatenate([held[0].owner, held[1].owner + len(before)])
    sizes = np.bincount(owners, minlength=len(before) + len(after))
    kinds = kinds[np.lexsort((kinds, owners))]
    begins = np.cumsum(sizes) - sizes
    keys = _paired(np.concatenate(names), sizes)  # households of one size alone are compared member by member
    active = np.flatnonzero(sizes)
    for place in range(int(sizes.max(initial=0))):
        active = active[sizes[active] > place]
        keys[active] = _paired(keys[active], kinds[begins[active] + place])
    final = _paired(keys, sizes)
    return tuple(np.split(final, [len(before)]))
