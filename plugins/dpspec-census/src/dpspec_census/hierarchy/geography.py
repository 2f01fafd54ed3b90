"""The geographic hierarchy: levels from large to small, each node inside one node of the level above.

Nodes are numbered from 0 on in the order of the categories of their attribute, so a level is an array of parents.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpspec.blocks.space import Attribute
from dpspec.errors import IncompatibleBlocksError, TableError
from dpspec.table import Table

Nodes = npt.NDArray[np.int64]


@attrs.frozen(kw_only=True, eq=False)
class Geography:
    """A hierarchy of nodes.

    Args:
        levels: the attributes, from large to small.
        parents: for every level the node of the level above in which each node lies; -1 on the first level.
    """

    levels: tuple[Attribute, ...]
    parents: tuple[Nodes, ...]

    def size(self, level: int) -> int:
        """The number of nodes of a level."""
        return len(self.parents[level])

    def names(self, level: int, nodes: Nodes) -> tuple[str, ...]:
        """The names of nodes."""
        attribute = self.levels[level]
        return tuple(f"{attribute.name} {attribute.categories[n] if attribute.categories else n}" for n in nodes.tolist())

    def ancestors(self, level: int, above: int) -> Nodes:
        """For each node of a level the node of a level above it (or of itself) in which it lies."""
        found = np.arange(self.size(level))
        for place in range(level, above, -1):
            found = self.parents[place][found]
        return found

    def summed(self, counts: npt.NDArray[Any], level: int, above: int) -> npt.NDArray[Any]:
        """Counts by node (first axis) added up to a level above.

        >>> state, county = Attribute(name="state", count=1), Attribute(name="county", count=3, within="state")
        >>> geography_of((state, county)).summed(np.array([5, 0, 2]), 1, 0)
        array([7])
        """
        total = np.zeros((self.size(above), *counts.shape[1:]), dtype=counts.dtype)
        np.add.at(total, self.ancestors(level, above), counts)
        return total


NODES = 1 << 24
"""A level is a list of its nodes; the census of the United States has 8 million blocks."""


def geography_of(levels: Sequence[Attribute]) -> Geography:
    """The hierarchy of nested attributes.

    Raises:
        IncompatibleBlocksError: a level does not lie within the one before it, or has more nodes than are listed.
    """
    largest = max(levels, key=lambda level: level.size)
    if largest.size > NODES:
        raise IncompatibleBlocksError(f"level {largest.name}", f"has more than {NODES} nodes", "take fewer", value=largest.size)
    parents = [np.full(levels[0].size, -1)]
    for coarser, attribute in itertools.pairwise(levels):
        if attribute.within != coarser.name:
            raise IncompatibleBlocksError(
                "levels", f"{attribute.name} does not lie within {coarser.name}", f'give it within = "{coarser.name}"'
            )
        parents.append(parents_of(attribute, coarser))
    return Geography(levels=tuple(levels), parents=tuple(parents))


def parents_of(attribute: Attribute, coarser: Attribute) -> Nodes:
    """For every category of an attribute its category of the coarser one."""
    if attribute.parents:
        places = {category: place for place, category in enumerate(coarser.values())}
        return np.array([places[parent] for parent in attribute.parents], dtype=np.int64)
    return np.arange(attribute.size) * coarser.size // attribute.size


def check_nested(table: Table) -> None:
    """Raise TableError when a record lies in a category and not in the coarser one that contains it."""
    known = {attribute.name: attribute for attribute in table.attributes}
    for attribute in table.attributes:
        if attribute.within is None or attribute.within not in known:
            continue
        right = parents_of(attribute, known[attribute.within])[table.codes[attribute.name]]
        wrong = np.flatnonzero(right != table.codes[attribute.within])
        if wrong.size:
            row = int(wrong[0])
            category = list(attribute.values())[int(table.codes[attribute.name][row])]
            raise TableError(
                f"row {row + 1}, column {attribute.name}",
                f"does not lie in the {attribute.within} of its record, as {len(wrong)} records do not",
                "correct the geography: every node lies in one node of the level above",
                value=category,
            )
