"""The constraints of one table at every level: invariants, structural zeros and edit constraints as bounds on groups of cells.

A bound that is stated on the nodes of a level holds, added up, at every level above; below it nothing is stated, since children
add up to their parent.

*Edit constraints* are what one released table demands of another, such as a person in every occupied group quarters:

    least x units <= persons <= most x units      in every node of the smallest level,

persons and units counted in groups of cells. The units are those of the table that was *fitted before*, never of the
confidential one; where their number is an invariant the two are equal.

Constraints that cannot be met are named by a smallest set of them that cannot.

Cells that lie in the same groups are one *atom*: a family has tables exactly when its atoms have. The deletion filter goes
through the constraints once and drops each one without which the others still contradict; what stays is a conflict of
which no part is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import attrs

from dpspec.plugin import IncompatibleBlocksError, Integer, Invariant, Items, Mask, Text, define, errors, late_module, params
from dpspec_census.hierarchy.family import UNBOUNDED, Counts, Family, UnitCells, narrow

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = late_module("numpy")

EVERYWHERE = -1
"""The level of an invariant that is counted over all nodes together."""


@attrs.frozen(kw_only=True, eq=False)
class Limit:
    """least x count <= the units in a group of cells <= most x count, for every node of one level.

    Held is one small number for each node, since a level may have millions of them.

    Args:
        name: in words.
        cells: the group, shape (cells,).
        level: the level.
        counts: for every node of it, not negative.
        least, most: as `EditConstraint` has them.

    >>> every = Limit(name="", cells=np.ones(1, dtype=np.bool_), level=0, counts=np.array([0, 5]), most=None)
    >>> [bound.tolist() for bound in every.bounds(np.array([0, 1]))]
    [[0, 5], [0, 549755813888]]
    """

    name: str
    cells: Mask
    level: int
    counts: npt.NDArray[Any]
    least: int = 1
    most: int | None = 1

    def at(self, cells: UnitCells, level: int) -> Limit | None:
        """The limit of the nodes of a level; None where nothing is stated."""
        if level > self.level:
            return None
        if level == self.level:
            return self
        return attrs.evolve(self, level=level, counts=narrow(cells.geography.summed(self.counts, self.level, level)))

    def bounds(self, nodes: Counts) -> tuple[Counts, Counts]:
        """The least and the most units of some nodes."""
        counts = self.counts[nodes].astype(np.int64)
        high = np.where(counts > 0, UNBOUNDED, 0) if self.most is None else self.most * counts
        return self.least * counts, np.minimum(high, UNBOUNDED)


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

    def value(self, cells: UnitCells, counts: Any) -> Counts:
        """c(x) from counts of shape (nodes of the smallest level, cells): shape (nodes, groups)."""
        last = len(cells.geography.levels) - 1
        by_node = np.asarray(counts @ self.groups.T.astype(counts.dtype))
        if self.level == EVERYWHERE:
            return np.asarray(by_node.sum(axis=0, dtype=np.int64)[None, :])
        return by_node if self.level == last else cells.geography.summed(by_node, last, self.level)

    def limits(self, cells: UnitCells, value: Counts) -> tuple[Limit, ...]:
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
            Limit(name=self.name, cells=group, level=level, counts=narrow(by_node[:, place]))
            for place, group in enumerate(self.groups)
        )


def fixed_of(invariant: Invariant, cells: UnitCells) -> Fixed | None:
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


def all_fixed(invariants: Sequence[Invariant], cells: UnitCells) -> tuple[Fixed, ...]:
    """The invariants about the unit of the cells."""
    found = (fixed_of(invariant, cells) for invariant in invariants)
    return tuple(fixed for fixed in found if fixed is not None)


# --- edit constraints -----------------------------------------------------------------------------


@define
class EditConstraint:
    """least x (units of a kind) <= (records of a kind) <= most x (units of a kind), in every node.

    Args:
        unit, where: the records that are bounded.
        of_unit, of_where: the units that bound them; their table is fitted first.
        least: of each unit at least so many records.
        most: of each unit at most so many; without it any number, but none where there is no unit.
    """

    unit: Annotated[str, Text()] = "person"
    where: Annotated[tuple[tuple[str, tuple[str, ...]], ...], params.Pairs(Items(Text()))] = ()
    of_unit: Annotated[str, Text()] = "household"
    of_where: Annotated[tuple[tuple[str, tuple[str, ...]], ...], params.Pairs(Items(Text()))] = ()
    least: Annotated[int, Integer(0)] = 0
    most: Annotated[int, Integer(0)] | None = None

    def __str__(self) -> str:
        return f"{self.unit} {_words(self.where)} per {self.of_unit} {_words(self.of_where)}"


def _words(where: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    return " and ".join(f"{name} {' or '.join(categories)}" for name, categories in where) or "in all"


# --- conflicts ------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, eq=False)
class _Row:
    """least <= the sum of some entries (atom, child) <= most."""

    label: str
    entries: Mask
    least: float
    most: float


def feasible(family: Family) -> bool:
    """Whether some tables keep all constraints.

    Disjoint groups are decided by adding integers, others by a linear program.
    """
    low, high = family.low, np.minimum(family.high, UNBOUNDED)
    if (low > high).any():
        return False
    if family.parent is not None:
        held = np.array([family.parent[bound.cells].sum() for bound in family.bounds], dtype=np.int64)
        if (low.sum(axis=1) > held).any() or (high.sum(axis=1) < held).any():
            return False
    cover = np.sum([bound.cells for bound in family.bounds], axis=0) if family.bounds else np.zeros(1)
    return bool(np.max(cover, initial=0) <= 1) or _possible(_rows(family))


def smallest_conflict(family: Family) -> tuple[str, ...]:
    """The labels of a smallest set of constraints in conflict; () when there is none."""
    kept = list(_rows(family))
    if _possible(kept):
        return ()
    for row in list(kept):
        fewer = [other for other in kept if other is not row]
        if not _possible(fewer):
            kept = fewer
    return tuple(row.label for row in kept)


def contradiction(family: Family) -> errors.InfeasibleConstraintsError:
    """The error that names a smallest conflict in full."""
    named = "; ".join(smallest_conflict(family))
    return errors.InfeasibleConstraintsError("constraints", f"contradict each other: {named}", "drop or correct one of these")


def _possible(rows: Sequence[_Row]) -> bool:
    """Whether non-negative numbers keep all rows; whole ones then do too, since the matrix is totally unimodular."""
    from scipy.optimize import linprog

    if not rows:
        return True
    matrix = np.array([row.entries.ravel() for row in rows], dtype=float)
    least, most = np.array([row.least for row in rows]), np.array([row.most for row in rows])
    found = linprog(
        np.zeros(matrix.shape[1]),
        A_ub=np.vstack([matrix[most < UNBOUNDED], -matrix[least > 0]]),
        b_ub=np.concatenate([most[most < UNBOUNDED], -least[least > 0]]),
        method="highs-ds",
    )
    return bool(found.status != 2)


def _rows(family: Family) -> list[_Row]:
    """The constraints over the atoms, each with its label; the first ones are the first to be dropped."""
    atoms, counts = _atoms(family)
    names = family.names or tuple(f"child {k + 1}" for k in range(family.children))
    shape = (len(atoms), family.children)
    rows: list[_Row] = []
    for atom, (inside, count) in enumerate(zip(atoms, counts, strict=True)):
        if family.parent is not None:
            within = " and ".join(bound.name for bound, member in zip(family.bounds, inside, strict=True) if member)
            entries = np.zeros(shape, dtype=np.bool_)
            entries[atom] = True
            label = f"the children share out {int(count)} ({within or 'cells without constraints'})"
            rows.append(_Row(label=label, entries=entries, least=float(count), most=float(count)))
    for place, bound in enumerate(family.bounds):
        members = np.array([bool(inside[place]) for inside in atoms], dtype=np.bool_)
        for child, name in enumerate(names):
            entries = np.zeros(shape, dtype=np.bool_)
            entries[members, child] = True
            low, high = int(bound.low[child]), int(bound.high[child])
            if low > 0:
                rows.append(
                    _Row(label=f"{name}: {bound.name}, at least {low}", entries=entries, least=float(low), most=UNBOUNDED)
                )
            if high < UNBOUNDED:
                rows.append(_Row(label=f"{name}: {bound.name}, at most {high}", entries=entries, least=0.0, most=float(high)))
    return rows


def _atoms(family: Family) -> tuple[Mask, Counts]:
    """Which groups each atom lies in, shape (atoms, bounds), and the parent's count in it.

    Every bound is met by at least one atom, empty groups by an atom without records.
    """
    membership = np.array([bound.cells for bound in family.bounds], dtype=np.bool_).reshape(len(family.bounds), family.cells).T
    atoms, place = np.unique(membership, axis=0, return_inverse=True)
    parent = np.zeros(family.cells, dtype=np.int64) if family.parent is None else family.parent
    counts = np.zeros(len(atoms), dtype=np.int64)
    np.add.at(counts, place.ravel(), parent)
    return atoms, counts
