"""The fit of a family by alternating directions, with a certificate of how far it is from the optimum.

The tables x are split from copies z, whose cells lie on the simplex of their parent, and y, the totals of the groups
between their bounds:

    x <- argmin  loss(x) + c/2 |x - z + u|^2 + c/2 |G x - y + v|^2     one small dense system for all children
    z <- projection of x + u: every cell is shared out among the children, exactly
    y <- G x + v, cut to [low, high];        u <- u + x - z,   v <- v + G x - y

Every z is non-negative and adds up to the parent. Its certificate is linear duality: for any multipliers m of the groups,

    loss(z) - optimum <= <g, z> - sum_cells parent min_k (g + G'm)_k + sum_groups (m+ high - m- low),   g = gradient at z,

and m = c v makes that go to 0. Groups may lie outside their bounds by a little until the rounding. That lowers the loss, to
first order by sum |m| excess, which is added: so the gap holds in both directions.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dpspec_census.hierarchy.family import UNBOUNDED, Family, Reals

_RELAXED = 1.6
_EVERY = 10
"""Iterations between two looks at the certificate."""
_EXCESS = 0.5
"""By how many units a group may lie outside its bounds before rounding, which brings it inside."""


@attrs.frozen(kw_only=True, eq=False)
class Fit:
    """A fit with what is known of it.

    Args:
        tables: x, shape (cells, children).
        loss: the loss that it has.
        gap: how far the loss lies from the optimum at most; infinite when that is not known.
        excess: by how much a group lies outside its bounds at most, before rounding.
        rounds: iterations.
    """

    tables: Reals
    loss: float
    gap: float
    excess: float
    rounds: int


def structured(family: Family, *, gap: float = 1e-2, most: int = 3000) -> Fit:
    """Fit a family that has a parent until the certified gap is at most `gap` times the loss, or for `most` iterations."""
    parent = family.shared().astype(float)
    scale = float(np.max(family.weights))
    groups, low, high = _scaled_groups(family)
    step = _Step(family, scale, groups)
    z = np.repeat(parent[:, None] / family.children, family.children, axis=1)
    y = np.clip(groups @ z, low, high)
    u, v = np.zeros_like(z), np.zeros_like(y)
    c, next_change = step.first(), _EVERY
    for round_ in range(1, most + 1):
        x = step(z - u, y - v, c)
        last, gx = z, groups @ x
        xr, yr = _RELAXED * x + (1 - _RELAXED) * z, _RELAXED * gx + (1 - _RELAXED) * y
        z = shared_out(xr + u, parent)
        y = np.clip(yr + v, low, high)
        u += xr - z
        v += yr - y
        if round_ % _EVERY and round_ != most:
            continue
        found = _judged(family, z, c * scale * v, (groups, low, high), round_)
        if found.gap <= gap * found.loss and found.excess <= _EXCESS:
            return found
        if round_ >= next_change:
            factor = _balance(_norm(x - z) / max(_norm(z), 1e-300), _norm(z - last) / max(_norm(u), 1e-300))
            c, u, v, next_change = c * factor, u / factor, v / factor, int(1.5 * next_change)
    return found


def _norm(x: Reals) -> float:
    return float(np.sqrt((x * x).sum()))


def _balance(primal: float, dual: float) -> float:
    """The factor of the penalty that brings the two relative residuals together."""
    ratio = np.sqrt(max(primal, 1e-16) / max(dual, 1e-16))
    return float(np.clip(ratio, 0.1, 10)) if not 0.5 < ratio < 2 else 1.0


def _scaled_groups(family: Family) -> tuple[Any, Reals, Reals]:
    """The groups and their bounds, divided by the square root of the group's size so that all rows weigh alike."""
    from scipy.sparse import diags_array

    groups = family.groups
    sizes = np.sqrt(np.maximum(np.asarray(groups.sum(axis=1)).ravel(), 1.0))
    high = np.where(family.high() >= UNBOUNDED, np.inf, family.high().astype(float))
    return diags_array(1 / sizes) @ groups, family.low() / sizes[:, None], high / sizes[:, None]


class _Step:
    """The x-step: (D + c I + B'B + c G'G) x = b + c z + c G'y, D the answers of single cells, B all others."""

    def __init__(self, family: Family, scale: float, groups: Any) -> None:
        from scipy.sparse import diags_array

        single = np.asarray(family.incidence.sum(axis=1)).ravel() == 1
        weights = family.weights / scale
        self._single = np.asarray(family.incidence[single].T @ weights[single]).ravel()
        self._rest = diags_array(np.sqrt(weights[~single])) @ family.incidence[~single]
        self._linear = np.asarray(family.incidence.T @ (weights[:, None] * family.targets))
        self._groups = groups
        self._pull = groups.T.tocsr()
        self._penalty = -1.0

    def first(self) -> float:
        """A first penalty: between the curvature of the detailed answers and of all."""
        return float(max(np.mean(self._single), 1e-3))

    def __call__(self, z: Reals, y: Reals, c: float) -> Reals:
        if c != self._penalty:
            self._factor(c)
        b = self._linear + c * z + c * (self._pull @ y)
        if self._dense is not None:
            return np.asarray(self._dense @ b)
        scaled = b / self._diagonal
        return np.asarray(scaled - (self._columns @ (self._inverse @ (self._rows @ scaled))) / self._diagonal)

    def _factor(self, c: float) -> None:
        from scipy.sparse import vstack

        self._penalty = c
        self._diagonal = (self._single + c)[:, None]
        self._rows = vstack([self._rest, np.sqrt(c) * self._groups], format="csr")
        self._columns = self._rows.T.tocsr()
        answers, cells = self._rows.shape
        self._dense: Reals | None = None
        if cells <= answers:
            self._dense = np.linalg.inv(np.diag(self._diagonal[:, 0]) + (self._rows.T @ self._rows).toarray())
        else:
            scaled = self._rows.multiply(1 / self._diagonal.T)
            self._inverse = np.linalg.inv(np.eye(answers) + (scaled @ self._rows.T).toarray())


def shared_out(x: Reals, parent: Reals) -> Reals:
    """The nearest tables that are non-negative and add up to the parent in each cell (projection on simplices).

    >>> shared_out(np.array([[3.0, 1.0, -5.0]]), np.array([2.0]))
    array([[2., 0., 0.]])
    """
    ordered = -np.sort(-x, axis=1)
    over = np.cumsum(ordered, axis=1) - parent[:, None]
    shares = over / np.arange(1, x.shape[1] + 1)
    kept = np.count_nonzero(ordered > shares, axis=1)
    threshold = np.where(kept > 0, shares[np.arange(len(x)), np.maximum(kept, 1) - 1], np.inf)
    threshold = np.where(parent > 0, threshold, np.inf)
    return np.asarray(np.maximum(x - threshold[:, None], 0.0))


def _judged(family: Family, z: Reals, multipliers: Reals, scaled: tuple[Any, Reals, Reals], rounds: int) -> Fit:
    """The certificate of tables on the simplex."""
    gradient = family.gradient(z)
    groups, low, high = scaled
    bounded = np.where(np.isinf(high), 0.0, high)
    cost = np.where(multipliers > 0, multipliers * bounded, multipliers * low).sum()
    totals = groups @ z
    slack = (abs(multipliers) * np.maximum(np.maximum(totals - high, low - totals), 0.0)).sum()
    reached = (family.shared() * (gradient + groups.T @ multipliers).min(axis=1)).sum()
    return Fit(
        tables=z,
        loss=family.loss(z),
        gap=abs(float((gradient * z).sum() - reached + cost)) + float(slack),
        excess=family.excess(z),
        rounds=rounds,
    )
