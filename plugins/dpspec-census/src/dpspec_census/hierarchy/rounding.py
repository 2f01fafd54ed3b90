"""Whole numbers near a fit that keep every constraint.

    minimise   sum |z - x|   over integers z >= 0 that keep the parent sums and the groups, and first of all
               floor(x) <= z <= floor(x) + 1 with every child's total within floor and ceiling of what it is

The parent sums cut the variables by cell; the groups and the totals cut them by child, each nested or apart. A matrix of two
such families is totally unimodular, so a vertex of the linear program is whole. That is used, not trusted: the vertex is rounded
and every constraint is then counted in integers. A fit that lies outside its constraints by an error of the solver may
have no such z; then every cell may move as far as it has to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpspec.errors import NumericalError
from dpspec_census.hierarchy.conflict import contradiction
from dpspec_census.hierarchy.family import UNBOUNDED, Counts, Family, Reals

_WHOLE = 1e-6
"""So near to a whole number a fitted count is that number."""


def rounded(family: Family, x: Reals) -> Counts:
    """Integer tables near x that keep all constraints of the family.

    Raises:
        InfeasibleConstraintsError: no tables keep them; names a smallest set of constraints in conflict.
        NumericalError: the linear program was not solved to a whole vertex.

    >>> from scipy.sparse import eye_array
    >>> family = Family(incidence=eye_array(2), weights=np.ones(2), targets=np.zeros((2, 2)), parent=np.array([3, 1]))
    >>> rounded(family, np.array([[1.3, 1.7], [0.6, 0.4]]))
    array([[1, 2],
           [1, 0]])
    """
    near = np.floor(np.maximum(x, 0.0) + _WHOLE).astype(np.int64)
    z = _nearest(family, x, near, wide=False)
    if z is None:
        z = _nearest(family, x, near, wide=True)
    if z is None:
        raise contradiction(family)
    broken = family.broken(z)
    if broken:
        raise NumericalError("rounding", f"did not keep: {', '.join(broken)}", "nothing is released; report the node")
    return z


def _nearest(family: Family, x: Reals, near: Counts, *, wide: bool) -> Counts | None:
    """z = near + e + p - m with e in {0, 1} where x is no whole number; p, m >= 0 only when `wide`. None when there is none."""
    from scipy.optimize import linprog
    from scipy.sparse import hstack, vstack

    fraction = np.clip(x - near, 0.0, 1.0).ravel()
    places = np.flatnonzero(fraction > _WHOLE)
    rows, least, most = _constraints(family, near, None if wide else x)
    part = rows[:, places]
    cost, upper = 1 - 2 * fraction[places], np.ones(len(places))
    if wide:
        part = hstack([part, rows, -rows], format="csr")
        cost = np.concatenate([cost, np.ones(2 * x.size)])
        upper = np.concatenate([upper, np.full(x.size, np.inf), near.ravel().astype(float)])
    if not part.shape[1]:
        return near if (least <= 0).all() and (most >= 0).all() else None
    exact, capped, floored = least == most, (most < np.inf) & (least < most), (least > -np.inf) & (least < most)
    found = linprog(
        cost,
        A_ub=vstack([part[capped], -part[floored]], format="csr"),
        b_ub=np.concatenate([most[capped], -least[floored]]),
        A_eq=part[exact],
        b_eq=least[exact],
        bounds=np.column_stack([np.zeros(len(upper)), upper]),
        method="highs-ds",
    )
    if found.x is None:
        return None
    step = np.rint(found.x).astype(np.int64)
    z = near.ravel().copy()
    z[places] += step[: len(places)]
    if wide:
        z += step[len(places) :][: x.size] - step[len(places) + x.size :]
    return z.reshape(x.shape)


def _constraints(family: Family, near: Counts, x: Reals | None) -> tuple[Any, Reals, Reals]:
    """Rows over the entries (cell, child) with what has to be added to `near`: at least, at most."""
    from scipy.sparse import eye_array, kron, vstack

    cells, children = near.shape
    every = eye_array(children)
    groups = family.groups
    rows, held = [kron(groups, every)], [(groups @ near).ravel()]
    high = np.where(family.high() >= UNBOUNDED, np.inf, family.high())
    least, most = [family.low().astype(float).ravel()], [high.ravel()]
    if family.parent is not None:
        rows.append(kron(eye_array(cells), np.ones((1, children))))
        held.append(near.sum(axis=1))
        least.append(family.parent.astype(float))
        most.append(family.parent.astype(float))
    if x is not None:
        rows.append(kron(np.ones((1, cells)), every))
        held.append(near.sum(axis=0))
        least.append(np.floor(x.sum(axis=0) + _WHOLE))
        most.append(np.ceil(x.sum(axis=0) - _WHOLE))
    done = np.concatenate(held)
    return vstack(rows, format="csr"), np.concatenate(least) - done, np.concatenate(most) - done
