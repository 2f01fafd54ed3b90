"""All counts of an iteration level on a small table: what the law of a release is made of."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs
import numpy as np

from dpspec_census.safetab.counting import Tally, memberships

if TYPE_CHECKING:
    from dpspec.table import Table
    from dpspec_census.safetab.design import IterationLevel, PopulationLevel


@attrs.frozen(kw_only=True)
class Counted:
    """One group in one unit.

    Args:
        total: its members.
        tables: their counts, for each table that may be chosen.
    """

    total: int
    tables: tuple[tuple[int, ...], ...]


def size_of(names: tuple[str, ...], table: Table) -> int:
    """The number of cells of a table by some attributes: 1 for the total alone."""
    return math.prod(table.attribute(name).size for name in names)


def counted(population: PopulationLevel, level: IterationLevel, table: Table) -> Iterator[Counted]:
    """Every group in every unit of a level, group by group."""
    tally = Tally.of(population, memberships(population, table), level.geography, table)
    totals = tally.totals()
    everyone = np.arange(len(totals), dtype=np.int64)
    tables = [tally.counts(everyone, table.key(names), size_of(names, table)) for names in level.tables]
    for place, total in enumerate(totals):
        yield Counted(total=int(total), tables=tuple(tuple(map(int, counts[place])) for counts in tables))
