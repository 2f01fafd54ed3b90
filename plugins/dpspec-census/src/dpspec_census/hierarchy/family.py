"""One parent node with its children, the problem that TopDown solves again and again (Bailie, Gong and Meng 2023, step 2), in
its geographic hierarchy.

    minimise    1/2 sum_k sum_r w_r ((A x_k)_r - t_rk)^2          over tables x_k of the children k
    subject to  x >= 0,   sum_k x_k = parent in every cell,   low_gk <= sum of x_k over the cells of group g <= high_gk

A holds the marginal queries (0 or 1 for each answer and cell), t their noisy answers, w = 1/variance. Only the cells
where the parent has a positive count are variables. Arrays have the shape (cells, children) or (answers, children).

The hierarchy has levels from large to small, each node inside one node of the level above.
Nodes are numbered from 0 on in the order of the categories of their attribute, so a level is an array of parents.

The cells of a unit are all combinations of its attributes other than geography, numbered; marginals are maps of cells.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from dpspec.plugin import (
    Attribute,
    DatasetSpace,
    Floats,
    IncompatibleBlocksError,
    Mask,
    Table,
    blocks,
    errors,
    late_module,
    params,
    tables,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = late_module("numpy")

Counts: TypeAlias = "npt.NDArray[np.int64]"
Records: TypeAlias = Callable[[], Iterable[Table]]
"""Reads the records of a unit in batches, as often as it is called."""

UNBOUNDED = 1 << 39
"""A bound of this size is none; bounds of eight million nodes still add up in 64 bits."""


@attrs.frozen(kw_only=True, eq=False)
class CellBound:
    """low <= the number of units in a group of cells <= high, for every child.

    Args:
        name: what the constraint is, in words.
        cells: which cells form the group, shape (cells,).
        low, high: for every child; `UNBOUNDED` for no upper bound.
    """

    name: str
    cells: Mask
    low: Counts
    high: Counts


@attrs.frozen(kw_only=True, eq=False)
class Family:
    """The data of one fit.

    Args:
        incidence: A, a sparse matrix of shape (answers, cells) with entries 0 and 1.
        weights: w, shape (answers,).
        targets: t, shape (answers, children).
        bounds: the groups.
        parent: the counts that the children share out, shape (cells,); None for the root, which is its own only child.
        names: the children, for messages.
    """

    incidence: Any
    weights: Floats
    targets: Floats
    bounds: tuple[CellBound, ...] = ()
    parent: Counts | None = None
    names: tuple[str, ...] = ()

    @property
    def cells(self) -> int:
        """The number of cells that are variables for every child."""
        return int(self.incidence.shape[1])

    @property
    def children(self) -> int:
        """The number of children."""
        return int(self.targets.shape[1])

    def shared(self) -> Counts:
        """What the children share out; IncompatibleBlocksError for the root."""
        if self.parent is None:
            raise IncompatibleBlocksError("family", "has no parent", "fit the root by the interior-point solver")
        return self.parent

    @cached_property
    def answers(self) -> Any:
        """The incidence, as `light` has it."""
        return light(self.incidence)

    @cached_property
    def pulled_back(self) -> Any:
        """The transpose of the incidence."""
        return light(self.incidence.T.tocsr())

    @cached_property
    def groups(self) -> Any:
        """The groups as a sparse matrix of shape (bounds, cells)."""
        from scipy.sparse import csr_array

        return csr_array(np.array([bound.cells for bound in self.bounds], dtype=float).reshape(len(self.bounds), self.cells))

    @cached_property
    def low(self) -> Counts:
        """The lower bounds, shape (bounds, children)."""
        return np.array([bound.low for bound in self.bounds], dtype=np.int64).reshape(len(self.bounds), self.children)

    @cached_property
    def high(self) -> Counts:
        """The upper bounds, shape (bounds, children)."""
        return np.array([bound.high for bound in self.bounds], dtype=np.int64).reshape(len(self.bounds), self.children)

    def residual(self, x: Floats) -> Floats:
        """How far the answers of tables x of shape (cells, children) are from the noisy ones."""
        return np.asarray(self.answers @ x - self.targets)

    def loss(self, x: Floats) -> float:
        """The weighted least-squares loss of tables x."""
        return float(0.5 * (self.weights[:, None] * self.residual(x) ** 2).sum())

    def gradient(self, x: Floats) -> Floats:
        """Its gradient."""
        return np.asarray(self.pulled_back @ (self.weights[:, None] * self.residual(x)))

    def excess(self, x: Floats) -> float:
        """By how much a group lies outside its bounds at most."""
        if not self.bounds:
            return 0.0
        totals = self.groups @ x
        return float(np.maximum(totals - self.high, self.low - totals).max(initial=0.0))

    def broken(self, x: Counts) -> tuple[str, ...]:
        """The constraints that integer tables do not keep, counted in integers; empty when they keep all."""
        faults = []
        if (x < 0).any():
            faults.append("no count is negative")
        if self.parent is not None and (x.sum(axis=1) != self.parent).any():
            faults.append("the children add up to their parent")
        for bound in self.bounds:
            total = x[bound.cells].sum(axis=0)
            if ((total < bound.low) | (total > bound.high)).any():
                faults.append(bound.name)
        return tuple(faults)


def narrow(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same numbers in the smallest type that holds them: noisy answers of blocks nearly always need two bytes.

    >>> narrow(np.array([-1, 200])).dtype
    dtype('int16')
    """
    least, most = int(values.min(initial=0)), int(values.max(initial=0))
    return values.astype(np.promote_types(np.min_scalar_type(min(least, -1)), np.min_scalar_type(min(-1 - most, -1))))


LIGHT = 1 << 14
"""Entries of a matrix up to which a product with an array takes less time than scipy needs to begin one with a sparse matrix."""


def light(matrix: Any) -> Any:
    """A small sparse matrix as an array; others as they are."""
    return matrix.toarray() if math.prod(matrix.shape) <= LIGHT else matrix


def check_laminar(groups: Sequence[Mask]) -> None:
    """Raise IncompatibleBlocksError unless any two groups are nested or disjoint, as exact rounding needs.

    >>> check_laminar([np.array([True, True, False]), np.array([False, True, True])])
    Traceback (most recent call last):
    dpspec...IncompatibleBlocksError: constraints: any two groups must be nested or disjoint: state them on one attribute
    """
    for place, one in enumerate(groups):
        for other in groups[:place]:
            both = one & other
            if both.any() and not np.array_equal(both, one) and not np.array_equal(both, other):
                raise IncompatibleBlocksError(
                    "constraints", "any two groups must be nested or disjoint", "state them on one attribute"
                )


# --- the geographic hierarchy ---------------------------------------------------------------------


Nodes: TypeAlias = "npt.NDArray[np.int64]"


@attrs.frozen(kw_only=True, eq=False, slots=False)
class Geography:
    """A hierarchy of nodes.

    Args:
        levels: the attributes, from large to small, each within the one before it.
    """

    levels: tuple[Attribute, ...]

    @cached_property
    def parents(self) -> tuple[Nodes, ...]:
        """For every level the node of the level above in which each node lies; -1 on the first level."""
        above = itertools.pairwise(self.levels)
        return (np.full(self.size(0), -1), *(parents_of(attribute, coarser) for coarser, attribute in above))

    def size(self, level: int) -> int:
        """The number of nodes of a level."""
        return self.levels[level].size

    def names(self, level: int, nodes: Nodes) -> tuple[str, ...]:
        """The names of nodes."""
        attribute = self.levels[level]
        return tuple(f"{attribute.name} {attribute.category(n)}" for n in nodes.tolist())

    def ancestors(self, level: int, above: int, nodes: Nodes | None = None) -> Nodes:
        """For each node of a level, or for some of them, the node of a level above it (or of itself) in which it lies."""
        found = np.arange(self.size(level)) if nodes is None else nodes
        for place in range(level, above, -1):
            found = self.parents[place][found]
        return found

    def summed(self, counts: npt.NDArray[Any], level: int, above: int) -> Counts:
        """Counts by node (first axis) added up to a level above.

        >>> state, county = Attribute(name="state", count=1), Attribute(name="county", count=3, within="state")
        >>> geography_of((state, county)).summed(np.array([5, 0, 2]), 1, 0)
        array([7])
        """
        total = np.zeros((self.size(above), *counts.shape[1:]), dtype=np.int64)
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
    for coarser, attribute in itertools.pairwise(levels):
        if attribute.within != coarser.name:
            raise IncompatibleBlocksError(
                "levels", f"{attribute.name} does not lie within {coarser.name}", f'give it within = "{coarser.name}"'
            )
    return Geography(levels=tuple(levels))


def parents_of(attribute: Attribute, coarser: Attribute) -> Nodes:
    """For every category of an attribute its category of the coarser one."""
    if attribute.parents:
        places = {category: place for place, category in enumerate(coarser.values())}
        return np.array([places[parent] for parent in attribute.parents], dtype=np.int64)
    return np.arange(attribute.size) * coarser.size // attribute.size


def check_nested(records: Records) -> None:
    """Raise TableError when a record lies in a category and not in the coarser one that contains it."""
    within: dict[Attribute, Nodes] | None = None
    first, count, row = dict[Attribute, tuple[int, str]](), dict[Attribute, int](), 0
    for batch in records():
        if within is None:
            known = {attribute.name: attribute for attribute in batch.attributes}
            within = {a: parents_of(a, known[a.within]) for a in batch.attributes if a.within in known}
        for attribute, parents in within.items():
            codes = batch.codes[attribute.name]
            wrong = np.flatnonzero(parents[codes] != batch.codes[str(attribute.within)])
            if wrong.size:
                first.setdefault(attribute, (row + int(wrong[0]), attribute.category(int(codes[wrong[0]]))))
                count[attribute] = count.get(attribute, 0) + len(wrong)
        row += len(batch)
    for attribute in within or {}:
        if attribute in first:
            raise errors.TableError(
                f"row {first[attribute][0] + 1}, column {errors.named(attribute.name)}",
                f"does not lie in the {attribute.within} of its record, as {count[attribute]} records do not",
                "correct the geography: every node lies in one node of the level above",
                value=first[attribute][1],
            )


# --- the cells of a unit --------------------------------------------------------------------------


CellCodes: TypeAlias = "npt.NDArray[np.int64]"

CELLS = 1 << 22
"""The cells below one node are listed, with a category of each attribute."""
SORTED = 1 << 22
"""Records that are counted at a time, and 8 bytes for each."""


@attrs.frozen(kw_only=True, eq=False)
class UnitCells:
    """The cells of one unit in every geographic node.

    Args:
        unit: the unit that is counted.
        geography: where.
        attributes: the attributes that define cells, coarser ones before finer ones.
        codes: for every attribute the category of each cell.
    """

    unit: str
    geography: Geography
    attributes: tuple[Attribute, ...]
    codes: Mapping[str, CellCodes]

    @property
    def count(self) -> int:
        """The number of cells."""
        return len(next(iter(self.codes.values()))) if self.codes else 1

    def marginal(self, names: Sequence[str]) -> CellCodes:
        """For every cell the number of its answer in the marginal of some attributes; every answer has a cell."""
        key = np.zeros(self.count, dtype=np.int64)
        for name in names:
            key = key * self._attribute(name).size + self.codes[name]
        return np.asarray(np.unique(key, return_inverse=True)[1]).ravel()

    def answer_codes(self, names: Sequence[str]) -> dict[str, CellCodes]:
        """For each attribute of the marginal the category of what every answer counts."""
        _, first = np.unique(self.marginal(names), return_index=True)
        return {name: self.codes[name][first] for name in names}

    def where(self, conditions: Sequence[tuple[str, Sequence[str]]]) -> Mask:
        """The cells that meet conditions on some attributes."""
        kept = np.ones(self.count, dtype=np.bool_)
        for name, categories in conditions:
            attribute = self._attribute(name)
            kept &= np.isin(self.codes[name], [attribute.index(category) for category in categories])
        return kept

    def counted(self, records: Records) -> Any:
        """The records as a sparse matrix of counts, shape (nodes of the smallest level, cells), of 8 bytes for each count.

        They are read once for each range of nodes that has `SORTED` records, which are sorted together.
        """
        from scipy.sparse import csr_array

        nodes, last = self.geography.size(len(self.geography.levels) - 1), self.geography.levels[-1].name
        held = np.zeros(nodes, dtype=np.int64)
        for batch in records():
            held += np.bincount(batch.codes[last], minlength=nodes)
        ends = np.cumsum(held)
        cuts = [0, *(np.searchsorted(ends, np.arange(SORTED, ends[-1], SORTED)) + 1).tolist(), nodes]
        begins = np.zeros(nodes + 1, dtype=np.int64)
        pieces = []
        for begin, end in itertools.pairwise(dict.fromkeys(cuts)):
            keys, counts = np.unique(np.concatenate([*self._keys(records, begin, end)]), return_counts=True)
            node, cell = np.divmod(keys, self.count)
            begins[begin + 1 : end + 1] = np.bincount(node, minlength=end - begin)
            pieces.append((counts.astype(np.int32), cell.astype(np.int32)))
        counts, cells = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        begins = np.cumsum(begins)
        short = begins.astype(np.int32) if len(cells) < 1 << 31 else begins  # both arrays of places have one type
        return csr_array((counts, cells, short), shape=(nodes, self.count))

    def _keys(self, records: Records, begin: int, end: int) -> Iterator[Nodes]:
        """The node and the cell of each record in a range of nodes, as one number."""
        finest, last = [a.name for a in self._finest()], self.geography.levels[-1].name
        yield np.zeros(0, dtype=np.int64)
        for batch in records():
            node = batch.codes[last].astype(np.int64) - begin
            here = (node >= 0) & (node < end - begin)
            yield node[here] * self.count + batch.key(finest)[here]

    def columns(self) -> tuple[Attribute, ...]:
        """The columns of a record."""
        return (*self.geography.levels, *self.attributes)

    def microdata(self, nodes: Nodes, counts: Any) -> Table:
        """One record for each count of some nodes of the smallest level.

        Args:
            counts: of shape (nodes, cells).
        """
        listed = counts.tocoo()
        node, cell = nodes[np.repeat(listed.coords[0], listed.data)], np.repeat(listed.coords[1], listed.data)
        last = len(self.geography.levels) - 1
        columns = {
            level.name: tables.compact(self.geography.ancestors(last, place, node), level.size)
            for place, level in enumerate(self.geography.levels)
        }
        columns |= {a.name: tables.compact(self.codes[a.name][cell], a.size) for a in self.attributes}
        return Table(attributes=self.columns(), codes=columns)

    def _finest(self) -> tuple[Attribute, ...]:
        coarser = {a.within for a in self.attributes}
        return tuple(a for a in self.attributes if a.name not in coarser)

    def _attribute(self, name: str) -> Attribute:
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        known = [a.name for a in self.attributes]
        raise IncompatibleBlocksError(f"unit {self.unit}", "has no such attribute", params.did_you_mean(name, known), value=name)


def cells_of(space: DatasetSpace, unit: str, levels: Sequence[str]) -> UnitCells:
    """The cells of a unit of a space, below the given levels of geography.

    Raises:
        IncompatibleBlocksError: a level is no attribute of the unit, levels are not nested, two attributes lie
            within the same coarser one, or there are more cells than are listed.
    """
    known = {a.name: a for a in space.attributes_of(unit) if a.name != blocks.MEMBERS}
    for name in levels:
        if name not in known:
            raise IncompatibleBlocksError(
                "levels", f"name no attribute of the {unit}", params.did_you_mean(name, known), value=name
            )
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
    return UnitCells(unit=unit, geography=geography, attributes=own, codes=codes)
