"""The cells of a unit: all combinations of its attributes other than geography, numbered; marginals as maps of cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpspec.blocks.households import MEMBERS
from dpspec.blocks.space import Attribute, DatasetSpace
from dpspec.errors import IncompatibleBlocksError
from dpspec.params import did_you_mean
from dpspec.table import Table
from dpspec_census.hierarchy.family import Mask
from dpspec_census.hierarchy.geography import Geography, geography_of, parents_of

Codes = npt.NDArray[np.int64]

CELLS = 1 << 22
"""The cells below one node are listed, with a category of each attribute."""


@attrs.frozen(kw_only=True, eq=False)
class Cells:
    """The cells of one unit in every geographic node.

    Args:
        unit: what is counted.
        geography: where.
        attributes: the attributes that tell cells apart, coarser ones before finer ones.
        codes: for every attribute the category of each cell.
    """

    unit: str
    geography: Geography
    attributes: tuple[Attribute, ...]
    codes: Mapping[str, Codes]

    @property
    def count(self) -> int:
        """The number of cells."""
        return len(next(iter(self.codes.values()))) if self.codes else 1

    def marginal(self, names: Sequence[str]) -> Codes:
        """For every cell the number of its answer in the marginal of some attributes; every answer has a cell."""
        key = np.zeros(self.count, dtype=np.int64)
        for name in names:
            key = key * self._attribute(name).size + self.codes[name]
        return np.asarray(np.unique(key, return_inverse=True)[1]).ravel()

    def labels(self, names: Sequence[str]) -> tuple[str, ...]:
        """What every answer of the marginal counts."""
        _, first = np.unique(self.marginal(names), return_index=True)
        categories = [list(self._attribute(name).values()) for name in names]
        rows = zip(*(self.codes[name][first] for name in names), strict=True) if names else [()]
        return tuple(" x ".join(c[int(code)] for c, code in zip(categories, row, strict=True)) or "total" for row in rows)

    def where(self, conditions: Sequence[tuple[str, Sequence[str]]]) -> Mask:
        """The cells that meet conditions on some attributes."""
        kept = np.ones(self.count, dtype=np.bool_)
        for name, categories in conditions:
            attribute = self._attribute(name)
            kept &= np.isin(self.codes[name], [attribute.index(category) for category in categories])
        return kept

    def counted(self, table: Table) -> Any:
        """The table as a sparse matrix of counts, shape (nodes of the smallest level, cells)."""
        from scipy.sparse import csr_array

        finest = self._finest()
        cell = table.key([a.name for a in finest])
        node = table.codes[self.geography.levels[-1].name].astype(np.int64)
        keys, counts = np.unique(node * self.count + cell, return_counts=True)
        shape = (self.geography.size(len(self.geography.levels) - 1), self.count)
        return csr_array((counts.astype(np.int64), (keys // self.count, keys % self.count)), shape=shape)

    def microdata(self, counts: Any) -> Table:
        """One record for each count of such a matrix."""
        from dpspec.table import compact

        listed = counts.tocoo()
        node, cell = np.repeat(listed.coords[0], listed.data), np.repeat(listed.coords[1], listed.data)
        last = len(self.geography.levels) - 1
        columns = {
            level.name: compact(self.geography.ancestors(last, place)[node], level.size)
            for place, level in enumerate(self.geography.levels)
        }
        columns |= {a.name: compact(self.codes[a.name][cell], a.size) for a in self.attributes}
        return Table(attributes=(*self.geography.levels, *self.attributes), codes=columns)

    def _finest(self) -> tuple[Attribute, ...]:
        coarser = {a.within for a in self.attributes}
        return tuple(a for a in self.attributes if a.name not in coarser)

    def _attribute(self, name: str) -> Attribute:
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        known = [a.name for a in self.attributes]
        raise IncompatibleBlocksError(f"unit {self.unit}", "has no such attribute", did_you_mean(name, known), value=name)


def cells_of(space: DatasetSpace, unit: str, levels: Sequence[str]) -> Cells:
    """The cells of a unit of a space, below the given levels of geography.

    Raises:
        IncompatibleBlocksError: a level is no attribute of the unit, levels are not nested, two attributes lie
            within the same coarser one, or there are more cells than are listed.
    """
    known = {a.name: a for a in space.attributes_of(unit) if a.name != MEMBERS}
    for name in levels:
        if name not in known:
            raise IncompatibleBlocksError("levels", f"name no attribute of the {unit}", did_you_mean(name, known), value=name)
    own = tuple(a for a in known.values() if a.name not in levels)
    nested = [a.within for a in own if a.within is not None]
    if len(set(nested)) < len(nested) or not set(nested) <= {a.name for a in own}:
        raise IncompatibleBlocksError(f"unit {unit}", "needs attributes that are apart or nested in a chain", value=nested)
    finest = [a for a in own if a.name not in nested]
    shape = tuple(a.size for a in finest)
    if (size := math.prod(shape)) > CELLS:
        raise IncompatibleBlocksError(f"unit {unit}", f"has more than {CELLS} cells below a node", "take fewer", value=size)
    grid = np.unravel_index(np.arange(size), shape) if finest else ()
    codes = {a.name: np.asarray(code, dtype=np.int64) for a, code in zip(finest, grid, strict=True)}
    for attribute in reversed(own):
        if attribute.within is not None:
            codes[attribute.within] = parents_of(attribute, known[attribute.within])[codes[attribute.name]]
    geography = geography_of([known[name] for name in levels])
    return Cells(unit=unit, geography=geography, attributes=own, codes=codes)
