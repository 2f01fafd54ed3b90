"""Counting the members of population groups in geographic units, whole columns at a time.

A person counts in at most `most` groups of a level: what is counted is one entry for each person and each of these groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt

from dpspec_census.safetab.design import PopulationLevel

if TYPE_CHECKING:
    from dpspec.table import Table

Integers = npt.NDArray[np.int64]

NOBODY = -1
"""Stands where a person is in fewer groups than the most that count."""


def memberships(population: PopulationLevel, table: Table) -> Integers:
    """The groups in which each record counts: one row for each record, `most` columns, `NOBODY` where there are fewer.

    >>> from dpspec.blocks.space import Attribute
    >>> from dpspec.table import Table
    >>> race = Attribute(name="race", categories=("a", "b", "ab"))
    >>> groups = [{"name": "A", "where": {"race": ["a", "ab"]}}, {"name": "B", "where": {"race": ["b", "ab"]}}]
    >>> table = Table.from_records([["b"], ["ab"]], (race,))
    >>> memberships(PopulationLevel(name="detailed", most=2, groups=groups), table).tolist()
    [[1, -1], [0, 1]]
    >>> memberships(PopulationLevel(name="detailed", most=1, groups=groups), table).tolist()
    [[1], [0]]
    """
    names = sorted({name for group in population.groups for name, _ in group.where})
    _, first, kind = np.unique(table.key(names), return_index=True, return_inverse=True)
    codes = {name: table.codes[name][first] for name in names}
    belongs = np.ones((len(population.groups), len(first)), dtype=np.bool_)
    for place, group in enumerate(population.groups):
        for name, categories in group.where:
            attribute = table.attribute(name)
            belongs[place] &= np.isin(codes[name], [attribute.index(category) for category in categories])
    rank = np.cumsum(belongs, axis=0, dtype=np.int32)
    members, kinds = np.nonzero(belongs & (rank <= population.most))
    groups = np.full((len(first), population.most), NOBODY, dtype=np.int64)
    groups[kinds, rank[members, kinds] - 1] = members
    return np.asarray(groups[kind.reshape(-1)])


@attrs.frozen(kw_only=True, eq=False)
class Tally:
    """The members of the groups of one level in the units of one level of geography.

    Args:
        groups: as from `memberships`.
        units: the geographic unit of each record.
        shape: how many groups and how many units there are.
    """

    groups: Integers
    units: Integers
    shape: tuple[int, int]

    @classmethod
    def of(cls, population: PopulationLevel, groups: Integers, geography: str | None, table: Table) -> Tally:
        """The tally of a table."""
        one = np.zeros(len(table), dtype=np.int64)
        units = one if geography is None else np.asarray(table.codes[geography], dtype=np.int64)
        size = 1 if geography is None else table.attribute(geography).size
        return cls(groups=groups, units=units, shape=(len(population.groups), size))

    def totals(self) -> Integers:
        """The members of every group in every unit, group by group."""
        everyone = np.arange(self.shape[0] * self.shape[1], dtype=np.int64)
        return self.counts(everyone, np.zeros(len(self.units), dtype=np.int64), 1)[:, 0]

    def counts(self, chosen: Integers, cells: Integers, size: int) -> Integers:
        """A table for each of the chosen population groups.

        Args:
            chosen: their numbers, group x units + unit, in increasing order.
            cells: the cell of each record in the table.
            size: the number of cells.

        Returns:
            One row of `size` counts for each of them.
        """
        row_of = np.full(self.shape[0] * self.shape[1], NOBODY, dtype=np.int64)
        row_of[chosen] = np.arange(len(chosen))
        counts: Any = np.zeros(len(chosen) * size, dtype=np.int64)
        for group in self.groups.T:
            member = np.flatnonzero(group != NOBODY)
            row = row_of[group[member] * self.shape[1] + self.units[member]]
            member, row = member[row != NOBODY], row[row != NOBODY]
            counts += np.bincount(row * size + cells[member], minlength=counts.size)
        return np.asarray(counts.reshape(len(chosen), size))
