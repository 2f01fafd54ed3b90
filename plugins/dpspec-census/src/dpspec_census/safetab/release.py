"""Adaptive tables at scale: every group in every unit of a level at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from dpspec.blocks.space import Attribute
from dpspec_census.safetab.counting import Integers, Tally, memberships
from dpspec_census.safetab.tabulation import size_of

if TYPE_CHECKING:
    from dpspec.randomness import Randomness
    from dpspec.table import Table
    from dpspec_census.safetab.noise import Planned

COLUMNS = ("population", "group", "level", "unit", "table", "cell", "count")
"""The columns of the released table."""

TOTAL = "total"
"""The name of the table without attributes, of its only cell, and of the only unit where there is no geography."""

Column = tuple[Integers, tuple[str, ...]]
"""Codes, and the label of each code."""


@attrs.frozen(kw_only=True, eq=False)
class Published:
    """The noisy counts of one table of one iteration level.

    Args:
        planned: the iteration level.
        table: the number of the table.
        chosen: the groups in units that it was chosen for, group x units + unit.
        counts: a row of noisy counts for each of them.
    """

    planned: Planned
    table: int
    chosen: Integers
    counts: Integers


def published(planned: Planned, groups: Integers, table: Table, source: Randomness) -> Iterator[Published]:
    """Both stages of one iteration level.

    Args:
        groups: the groups in which each record counts.
    """
    level = planned.level
    tally = Tally.of(planned.population, groups, level.geography, table)
    number = np.zeros(tally.shape[0] * tally.shape[1], dtype=np.int64)
    if planned.choosing is not None:
        noisy = tally.totals() + planned.choosing.draw(number.size, source)
        number = np.searchsorted(np.asarray(level.thresholds), noisy, side="right")
    for place, names in enumerate(level.tables):
        chosen = np.flatnonzero(number == place)
        true = tally.counts(chosen, table.key(names), size_of(names, table))
        noise = planned.filling.draw(true.size, source).reshape(true.shape)
        yield Published(planned=planned, table=place, chosen=chosen, counts=true + noise)


def released(plan: Sequence[Planned], table: Table, source: Randomness) -> Table:
    """The released table: one row for each published count."""
    from dpspec.table import Table

    populations = {planned.population.name: planned.population for planned in plan}
    groups = {name: memberships(population, table) for name, population in populations.items()}
    parts = [part for planned in plan for part in published(planned, groups[planned.population.name], table, source)]
    columns = [_columns(part, table) for part in parts]
    joined = {name: _joined([column[name] for column in columns]) for name in COLUMNS[:-1]}
    numbers, codes = np.unique(np.concatenate([part.counts.reshape(-1) for part in parts]), return_inverse=True)
    joined["count"] = codes.reshape(-1).astype(np.int64), tuple(map(str, numbers.tolist()))
    attributes = tuple(Attribute(name=name, categories=labels) for name, (_, labels) in joined.items())
    return Table(attributes=attributes, codes={name: column for name, (column, _) in joined.items()})


def _columns(part: Published, table: Table) -> dict[str, Column]:
    """All columns but the counts, for each noisy count of a part."""
    level, population = part.planned.level, part.planned.population
    names = level.tables[part.table]
    rows, cells = part.counts.shape
    units = tuple(table.attribute(level.geography).values()) if level.geography else (TOTAL,)
    group, unit = np.divmod(part.chosen, len(units))
    same = np.zeros(rows * cells, dtype=np.int64)
    labels = itertools.product(*(table.attribute(name).values() for name in names))
    return {
        "population": (same, (population.name,)),
        "group": (np.repeat(group, cells), tuple(group.name for group in population.groups)),
        "level": (same, (level.place,)),
        "unit": (np.repeat(unit, cells), units),
        "table": (same, (" x ".join(names) or TOTAL,)),
        "cell": (np.tile(np.arange(cells, dtype=np.int64), rows), tuple(" x ".join(label) or TOTAL for label in labels)),
    }


def _joined(pieces: Sequence[Column]) -> Column:
    """One column of several, over the labels of all."""
    every = dict.fromkeys(itertools.chain.from_iterable(labels for _, labels in pieces))
    known = {label: code for code, label in enumerate(every)}
    codes = [np.asarray([known[label] for label in labels], dtype=np.int64)[column] for column, labels in pieces]
    return np.concatenate(codes), tuple(known)
