"""The fit of a family as a quadratic program, solved by an interior-point solver (Clarabel).

Answers that add several cells get variables of their own, so that every matrix stays sparse:

    minimise    1/2 sum_cells d x^2 - b x  +  1/2 sum_answers w (a - t)^2
    subject to  a = B x,   sum_k x_k = parent,   low <= G x_k <= high,   x >= 0
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dpspec.errors import NumericalError
from dpspec_census.hierarchy.family import UNBOUNDED, Family, Reals
from dpspec_census.hierarchy.structured import Fit


@attrs.frozen(kw_only=True, eq=False)
class Program:
    """minimise 1/2 v'diag(curvature) v + linear'v with equal @ v = right, below @ v <= most; the first entries of v are x."""

    curvature: Reals
    linear: Reals
    equal: Any
    right: Reals
    below: Any
    most: Reals

    def around(self, v: Reals) -> Program:
        """The same program for the distance from v.

        A solver stops at a gap relative to its objective. Far from the answers that is a large number, beside which
        the loss of the fit disappears; from a good start it is the loss that is left.
        """
        return attrs.evolve(
            self,
            linear=self.linear + self.curvature * v,
            right=self.right - self.equal @ v,
            most=self.most - self.below @ v,
        )


def program(family: Family) -> Program:
    """The quadratic program of a family; x is flattened child by child."""
    from scipy.sparse import block_array, csr_array, eye_array, hstack, kron

    k, cells = family.children, family.cells
    weights = family.weights / float(np.max(family.weights))
    single = np.asarray(family.incidence.sum(axis=1)).ravel() == 1
    several = family.incidence[~single]
    answers = several.shape[0] * k
    diagonal = np.asarray(family.incidence[single].T @ weights[single]).ravel()
    pulled = family.incidence[single].T @ (weights[single][:, None] * family.targets[single])
    heavy = np.tile(weights[~single], k)
    every = eye_array(k)
    blocks = [[kron(every, several), -eye_array(answers)]]
    right = [np.zeros(answers)]
    if family.parent is not None:
        blocks.append([kron(np.ones((1, k)), eye_array(cells)), csr_array((cells, answers))])
        right.append(family.parent.astype(float))
    low, high = family.low().T.ravel(), family.high().T.ravel()
    groups = hstack([kron(every, family.groups), csr_array((len(low), answers))], format="csr")
    fixed = low == high
    capped = ~fixed & (high < UNBOUNDED)
    floored = ~fixed & (low > 0)
    equal = block_array(blocks, format="csr")
    from scipy.sparse import vstack

    return Program(
        curvature=np.concatenate([np.tile(diagonal, k), heavy]),
        linear=np.concatenate([-pulled.T.ravel(), -heavy * family.targets[~single].T.ravel()]),
        equal=vstack([equal, groups[fixed]], format="csc"),
        right=np.concatenate([*right, low[fixed].astype(float)]),
        below=vstack(
            [groups[capped], -groups[floored], hstack([-eye_array(k * cells), csr_array((k * cells, answers))])], format="csc"
        ),
        most=np.concatenate([high[capped].astype(float), -low[floored].astype(float), np.zeros(k * cells)]),
    )


def conic(family: Family, start: Reals | None = None) -> Fit:
    """Fit a family by Clarabel.

    Args:
        start: tables near the fit, if some are known; without them those that the detailed answers say.

    Raises:
        NumericalError: when it finds no optimum.
    """
    posed = program(family)
    near = _start(family) if start is None else start
    single = np.asarray(family.incidence.sum(axis=1)).ravel() == 1
    origin = np.concatenate([near.T.ravel(), (family.incidence[~single] @ near).T.ravel()])
    step, rounds = solve(posed.around(origin))
    v = origin + step
    x = np.maximum(v[: family.children * family.cells].reshape(family.children, family.cells).T, 0.0)
    loss, excess = family.loss(x), family.excess(x)
    return Fit(tables=np.ascontiguousarray(x), loss=loss, gap=float("inf"), excess=excess, rounds=rounds)


def _start(family: Family) -> Reals:
    """The answers about single cells, none of them negative."""
    single = np.asarray(family.incidence.sum(axis=1)).ravel() == 1
    weights, rows = family.weights[single][:, None], family.incidence[single]
    total = np.asarray(rows.T @ np.broadcast_to(weights, (rows.shape[0], 1)))
    pulled = rows.T @ (weights * family.targets[single])
    return np.asarray(np.maximum(pulled / np.where(total > 0, total, 1.0), 0.0))


def solve(posed: Program) -> tuple[Reals, int]:
    """The solver alone: its solution and its iterations."""
    import clarabel
    from scipy.sparse import diags_array, vstack

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.ZeroConeT(posed.equal.shape[0]), clarabel.NonnegativeConeT(posed.below.shape[0])]
    curvature = diags_array(posed.curvature, format="csc")
    rows, right = vstack([posed.equal, posed.below], format="csc"), np.concatenate([posed.right, posed.most])
    solution = clarabel.DefaultSolver(curvature, posed.linear, rows, right, cones, settings).solve()
    if str(solution.status) not in {"Solved", "AlmostSolved"}:
        raise NumericalError("fit", "found no optimum", "report the node", value=str(solution.status))
    return np.asarray(solution.x), int(solution.iterations)
