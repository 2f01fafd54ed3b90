"""The invariants of a release, asked of the tables before and after by code that knows nothing of the mechanism."""

from __future__ import annotations

from collections import Counter
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.errors import PluginContractError
from dpspec.table import Table, occurring


@attrs.frozen(kw_only=True)
class Held:
    """What became of one invariant in a release.

    Args:
        invariant: the invariant in words.
        cells: how many of its counts were compared; None when it cannot be asked of the table.
    """

    invariant: str
    cells: int | None

    def data(self) -> dict[str, Any]:
        """The entry of the report; an invariant that does not hold is never reported, but refused."""
        return {"invariant": self.invariant, "cells": self.cells, "held": None if self.cells is None else True}


def held(invariant: Invariant, before: Table, after: Table, unit: str, mechanism: str) -> Held:
    """Compare the counts of a marginal before and after; other invariants cannot be asked of a table.

    Args:
        unit: the unit of the tables' records.

    Raises:
        PluginContractError: they differ.
    """
    counted = invariant.as_marginal()
    tables = None if counted is None else [_of_unit(table, counted.unit, unit) for table in (before, after)]
    if counted is None or tables is None or not all(_can_answer(counted, table) for table in tables):
        return Held(invariant=str(invariant), cells=None)
    cells, broken = compared(counted, *(table for table in tables if table is not None))
    if broken:
        raise PluginContractError(
            f"mechanism {mechanism}",
            f"does not hold the invariant {invariant}: {broken} of its counts changed",
            "nothing was written; report it to the plugin's author",
        )
    return Held(invariant=str(invariant), cells=cells)


def _of_unit(table: Table, wanted: str, unit: str) -> Table | None:
    """The records of the wanted unit."""
    if wanted == unit:
        return table
    return None if table.members is None else table.of_members()


def _can_answer(counted: Marginal, table: Table | None) -> bool:
    return table is not None and counted.mentions().keys() <= {a.name for a in table.attributes}


def compared(counted: Marginal, before: Table, after: Table) -> tuple[int, int]:
    """How many counts of a marginal are not 0 before, and how many are others after."""
    if any(before.attribute(name) != after.attribute(name) for name in counted.mentions()):
        first, second = marginal(counted, before), marginal(counted, after)
        return len(first), sum(first[cell] != second[cell] for cell in {*first, *second})
    (cells, counts), (others, again) = _numbered(counted, before), _numbered(counted, after)
    every = cells if np.array_equal(cells, others) else np.union1d(cells, others)
    change = np.zeros(len(every), dtype=np.int64)
    change[np.searchsorted(every, cells)] += counts
    change[np.searchsorted(every, others)] -= again
    return len(cells), int(np.count_nonzero(change))


def _numbered(counted: Marginal, table: Table) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The cells of a marginal that occur, as numbers, and their counts: millions of cells have no labels made for them."""
    keys = table.key(counted.attributes)
    for name, categories in counted.where:
        kept = np.asarray([category in categories for category in table.attribute(name).values()])
        keys = np.where(kept[table.codes[name]], keys, -1)
    return occurring(keys[keys >= 0], table.domain(counted.attributes))


def marginal(invariant: Marginal, table: Table) -> Counter[tuple[str, ...]]:
    """The counts of a marginal, asked of a table."""
    where = {attribute: frozenset(categories) for attribute, categories in invariant.where}
    names = list(dict.fromkeys((*invariant.attributes, *where)))
    counts: Counter[tuple[str, ...]] = Counter()
    for cell, count in table.counts(names).items():
        by_name = dict(zip(names, cell, strict=True))
        if all(by_name[attribute] in kept for attribute, kept in where.items()):
            counts[tuple(by_name[attribute] for attribute in invariant.attributes)] += count
    return counts
