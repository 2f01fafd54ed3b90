"""The constraints of one table at every level: invariants, structural zeros and edit constraints as bounds on groups of cells.

A bound that is stated on the nodes of a level holds, added up, at every level above; below it nothing is stated, since children
add up to their parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from dpspec.blocks.invariant import Invariant
from dpspec.errors import IncompatibleBlocksError
from dpspec_census.hierarchy.cells import Cells
from dpspec_census.hierarchy.family import UNBOUNDED, Counts, Mask

EVERYWHERE = -1
"""The level of an invariant that is counted over all nodes together."""


@attrs.frozen(kw_only=True, eq=False)
class Limit:
    """low <= the units in a group of cells <= high, for every node of one level.

    Args:
        name: in words.
        cells: the group, shape (cells,).
        level: the level.
        low, high: for every node of it.
    """

    name: str
    cells: Mask
    level: int
    low: Counts
    high: Counts

    def at(self, cells: Cells, level: int) -> tuple[Counts, Counts] | None:
        """The bounds for the nodes of a level; None where nothing is stated."""
        if level > self.level:
            return None
        low, high = (cells.geography.summed(bound, self.level, level) for bound in (self.low, np.minimum(self.high, UNBOUNDED)))
        return low, np.minimum(high, UNBOUNDED)


@attrs.frozen(kw_only=True, eq=False)
class Fixed:
    """An invariant as the counts of some groups of cells by the nodes of one level.

    Args:
        name: in words.
        level: the level, or EVERYWHERE.
        groups: the answers' groups, shape (groups, cells).
    """

    name: str
    level: int
    groups: Mask

    def value(self, cells: Cells, counts: Any) -> Counts:
        """c(x) from counts of shape (nodes of the smallest level, cells): shape (nodes, groups)."""
        last = len(cells.geography.levels) - 1
        by_node = np.asarray(counts @ self.groups.T.astype(np.int64), dtype=np.int64)
        return by_node.sum(axis=0)[None, :] if self.level == EVERYWHERE else cells.geography.summed(by_node, last, self.level)

    def limits(self, cells: Cells, value: Counts) -> tuple[Limit, ...]:
        """The bounds that keep this value.

        Raises:
            IncompatibleBlocksError: a count over all nodes where the first level has several, unless it is 0.
        """
        level, size = max(self.level, 0), cells.geography.size(max(self.level, 0))
        if self.level == EVERYWHERE and size > 1 and value.any():
            raise IncompatibleBlocksError(
                f"invariant {self.name}", "is a count over several nodes of the first level", "add a level with one node above it"
            )
        by_node = np.repeat(value, size, axis=0) if self.level == EVERYWHERE else value
        return tuple(
            Limit(name=self.name, cells=group, level=level, low=by_node[:, place], high=by_node[:, place])
            for place, group in enumerate(self.groups)
        )


def fixed_of(invariant: Invariant, cells: Cells) -> Fixed | None:
    """The invariant as counts of groups of cells; None when it is about another unit.

    Raises:
        IncompatibleBlocksError: it is no marginal, or has a condition on geography.
    """
    counted = invariant.as_marginal()
    if counted is None:
        raise IncompatibleBlocksError(f"invariant {invariant}", "is no marginal", "state it as counts by node")
    if counted.unit != cells.unit:
        return None
    places = {level.name: place for place, level in enumerate(cells.geography.levels)}
    if any(name in places for name, _ in counted.where):
        raise IncompatibleBlocksError(f"invariant {invariant}", "has a condition on geography", "count by the level instead")
    level = max((places[name] for name in counted.attributes if name in places), default=EVERYWHERE)
    others = [name for name in counted.attributes if name not in places]
    kept = cells.where(counted.where)
    answer = cells.marginal(others)
    groups = [kept & (answer == place) for place in np.unique(answer[kept])]
    return Fixed(name=str(invariant), level=level, groups=np.array(groups, dtype=np.bool_).reshape(len(groups), cells.count))


def all_fixed(invariants: Sequence[Invariant], cells: Cells) -> tuple[Fixed, ...]:
    """The invariants about the unit of the cells."""
    found = (fixed_of(invariant, cells) for invariant in invariants)
    return tuple(fixed for fixed in found if fixed is not None)
