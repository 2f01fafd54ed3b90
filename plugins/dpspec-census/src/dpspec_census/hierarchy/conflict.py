"""Whether the constraints of a family can be met, and if not, a smallest set of them that cannot.

Cells that lie in the same groups are one *atom*: a family has tables exactly when its atoms have. The deletion filter goes
through the constraints once and drops each one without which the others still contradict; what stays is a conflict of
which no part is one.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from dpspec.errors import InfeasibleConstraintsError
from dpspec_census.hierarchy.family import UNBOUNDED, Counts, Family, Mask


@attrs.frozen(kw_only=True, eq=False)
class _Row:
    """least <= the sum of some entries (atom, child) <= most."""

    label: str
    entries: Mask
    least: float
    most: float


def feasible(family: Family) -> bool:
    """Whether some tables keep all constraints.

    Groups that lie apart are decided by adding integers, others by a linear program.
    """
    low, high = family.low(), np.minimum(family.high(), UNBOUNDED)
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


def contradiction(family: Family) -> InfeasibleConstraintsError:
    """The error that names a smallest conflict in full."""
    named = "; ".join(smallest_conflict(family))
    return InfeasibleConstraintsError("constraints", f"contradict each other: {named}", "drop or correct one of these")


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

    Every bound is met by at least one atom, empty groups by one that nobody is in.
    """
    membership = np.array([bound.cells for bound in family.bounds], dtype=np.bool_).reshape(len(family.bounds), family.cells).T
    atoms, place = np.unique(membership, axis=0, return_inverse=True)
    parent = np.zeros(family.cells, dtype=np.int64) if family.parent is None else family.parent
    counts = np.zeros(len(atoms), dtype=np.int64)
    np.add.at(counts, place.ravel(), parent)
    return atoms, counts
