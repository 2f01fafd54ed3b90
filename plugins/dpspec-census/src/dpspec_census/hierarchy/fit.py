"""The fit of a family: by alternating directions with a certificate, as a quadratic program, and in whole numbers near it.

**Alternating directions**, with a certificate of how far it is from the optimum.

The tables x are split from copies z, whose cells lie on the simplex of their parent, and y, the totals of the groups
between their bounds:

    x <- argmin  loss(x) + c/2 |x - z + u|^2 + c/2 |G x - y + v|^2     one small dense system for all children
    z <- projection of x + u: every cell is shared out among the children, exactly
    y <- G x + v, cut to [low, high];        u <- u + x - z,   v <- v + G x - y

Every z is non-negative and adds up to the parent. Its certificate is linear duality: for any multipliers m of the groups,

    loss(z) - optimum <= <g, z> - sum_cells parent min_k (g + G'm)_k + sum_groups (m+ high - m- low),   g = gradient at z,

and m = c v makes that go to 0. Groups may lie outside their bounds by a little until the rounding. That lowers the loss, to
first order by sum |m| excess, which is added: so the gap holds in both directions.

**A quadratic program**, solved by an interior-point solver (Clarabel).

Answers that add several cells get variables of their own, so that every matrix stays sparse:

    minimise    1/2 sum_cells d x^2 - b x  +  1/2 sum_answers w (a - t)^2
    subject to  a = B x,   sum_k x_k = parent,   low <= G x_k <= high,   x >= 0

**Whole numbers** near a fit that keep every constraint.

    minimise   sum |z - x|   over integers z >= 0 that keep the parent sums and the groups, and first of all
               floor(x) <= z <= floor(x) + 1 with every child's total within floor and ceiling of what it is

The parent sums cut the variables by cell; the groups and the totals cut them by child, each nested or disjoint. A matrix of two
such families is totally unimodular, so a vertex of the linear program is whole. That is used, not trusted: the vertex is rounded
and every constraint is then counted in integers. A fit that lies outside its constraints by an error of the solver may
have no such z; then every cell may move as far as it has to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

from dpspec.plugin import Floats, Mask, errors, late_module
from dpspec_census.hierarchy.family import LIGHT, UNBOUNDED, CellBound, Counts, Family, check_laminar, light
from dpspec_census.hierarchy.limits import contradiction

if TYPE_CHECKING:
    import numpy as np
else:
    np = late_module("numpy")

_RELAXED = 1.6
_EVERY = 10
"""Iterations between two looks at the certificate."""
_EXCESS = 0.5
"""By how many units a group may lie outside its bounds before rounding, which brings it inside."""
_WHOLE = 1e-6
"""So near to a whole number a fitted count is that number."""


_EXCESS_OF_PASS = 1e-2
"""The same for a pass before the last, whose answers the next one keeps."""
_WIDEST = 8
"""By so many units more the answers of earlier passes may move where no tables keep them, before they are kept no more."""


@attrs.frozen(kw_only=True, eq=False)
class Fit:
    """A fit with its diagnostics.

    Args:
        tables: x, shape (cells, children).
        loss: the loss that it has.
        gap: how far the loss lies from the optimum at most; infinite when that is not known.
        excess: by how much a group lies outside its bounds at most, before rounding.
        rounds: iterations.
    """

    tables: Floats
    loss: float
    gap: float
    excess: float
    rounds: int


def structured(family: Family, *, gap: float, excess: float = _EXCESS, most: int = 3000) -> Fit:
    """Fit a family that has a parent until the certified gap is at most `gap` times the loss, or for `most` iterations.

    Args:
        excess: by how many units a group may lie outside its bounds.
    """
    parent = family.shared().astype(float)
    scale = float(np.max(family.weights))
    groups, low, high = _scaled_groups(family)
    step, share, certificate = (
        _Step(family, scale, groups), _Sharing(parent, family.children), _Certificate(family, (groups, low, high))
    )  # fmt: skip
    z = np.repeat(parent[:, None] / family.children, family.children, axis=1)
    y = np.clip(groups @ z, low, high)
    u, v = np.zeros_like(z), np.zeros_like(y)
    c, next_change = step.first(), _EVERY
    for round_ in range(1, most + 1):
        x = step(z - u, y - v, c)
        last, gx = z, groups @ x
        xr, yr = _RELAXED * x + (1 - _RELAXED) * z, _RELAXED * gx + (1 - _RELAXED) * y
        z = share(xr + u)
        y = (yr + v).clip(low, high)
        u += xr - z
        v += yr - y
        if round_ % _EVERY and round_ != most:
            continue
        loss, width = certificate(z, c * scale * v)
        if width <= gap * loss and family.excess(z) <= excess:
            break
        if round_ >= next_change:
            factor = _balance(_norm(x - z) / max(_norm(z), 1e-300), _norm(z - last) / max(_norm(u), 1e-300))
            c, u, v, next_change = c * factor, u / factor, v / factor, int(1.5 * next_change)
    return Fit(tables=z, loss=loss, gap=width, excess=family.excess(z), rounds=round_)


def _norm(x: Floats) -> float:
    return float(np.sqrt((x * x).sum()))


def _balance(primal: float, dual: float) -> float:
    """The factor of the penalty that brings the two relative residuals together."""
    ratio = np.sqrt(max(primal, 1e-16) / max(dual, 1e-16))
    return float(np.clip(ratio, 0.1, 10)) if not 0.5 < ratio < 2 else 1.0


def _scaled_groups(family: Family) -> tuple[Any, Floats, Floats]:
    """The groups and their bounds, divided by the square root of the group's size so that all rows weigh alike."""
    groups = light(family.groups)
    sizes = np.sqrt(np.maximum(np.asarray(groups.sum(axis=1)).ravel(), 1.0))
    high = np.where(family.high >= UNBOUNDED, np.inf, family.high.astype(float))
    return _times(1 / sizes, groups), family.low / sizes[:, None], high / sizes[:, None]


def _times(weights: Floats, matrix: Any) -> Any:
    """The matrix with its rows multiplied by weights."""
    from scipy.sparse import diags_array

    return weights[:, None] * matrix if isinstance(matrix, np.ndarray) else diags_array(weights) @ matrix


class _Step:
    """The x-step: (D + c I + B'B + c G'G) x = b + c z + c G'y, D the answers of single cells, B all others."""

    def __init__(self, family: Family, scale: float, groups: Any) -> None:
        answers, weights = family.answers, family.weights / scale
        single = np.asarray(answers.sum(axis=1)).ravel() == 1
        self._single = np.asarray(answers[single].T @ weights[single]).ravel()
        self._rest = _times(np.sqrt(weights[~single]), answers[~single])
        self._linear = np.asarray(family.pulled_back @ (weights[:, None] * family.targets))
        self._groups = groups
        self._pull = groups.T if isinstance(groups, np.ndarray) else groups.T.tocsr()
        self._penalty = -1.0

    def first(self) -> float:
        """A first penalty: between the curvature of the detailed answers and of all."""
        return float(max(np.mean(self._single), 1e-3))

    def __call__(self, z: Floats, y: Floats, c: float) -> Floats:
        if c != self._penalty:
            self._factor(c)
        b = self._linear + c * z
        if len(y):
            b += c * (self._pull @ y)
        if self._dense is not None:
            return np.asarray(self._dense @ b)
        scaled = b / self._diagonal
        return np.asarray(scaled - (self._columns @ (self._inverse @ (self._rows @ scaled))) / self._diagonal)

    def _factor(self, c: float) -> None:
        from scipy.sparse import vstack

        self._penalty = c
        self._diagonal = (self._single + c)[:, None]
        both = (self._rest, np.sqrt(c) * self._groups)
        self._rows = np.vstack(both) if all(isinstance(part, np.ndarray) for part in both) else vstack(both, format="csr")
        self._columns = self._rows.T if isinstance(self._rows, np.ndarray) else self._rows.T.tocsr()
        answers, cells = self._rows.shape
        self._dense: Floats | None = None
        if cells <= answers:
            whole = np.diag(self._diagonal[:, 0]) + _array(self._rows.T @ self._rows)
            self._dense = np.asarray(np.linalg.inv(whole), dtype=np.float64)
        else:
            self._inverse = np.linalg.inv(np.eye(answers) + _array(self._rows @ _times(1 / self._diagonal[:, 0], self._columns)))


def _array(matrix: Any) -> Floats:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def shared_out(x: Floats, parent: Floats) -> Floats:
    """The nearest tables that are non-negative and add up to the parent in each cell (projection on simplices).

    >>> shared_out(np.array([[3.0, 1.0, -5.0]]), np.array([2.0]))
    array([[2., 0., 0.]])
    """
    return _Sharing(parent, x.shape[1])(x)


_LOOPED = 12
"""Children up to which numpy adds up whole rows in less time than along the columns."""


class _Sharing:
    """`shared_out` for many tables of one family: what does not depend on these is made once.

    The threshold of a cell is the greatest of (x_1 + ... + x_k - parent) / k, x_1 >= x_2 >= ..., that is below x_k.

    Args:
        parent: what is shared out in each cell.
        children: the number of children.
    """

    def __init__(self, parent: Floats, children: int) -> None:
        self._parent, self._nothing, self._cells = parent, parent <= 0, np.arange(len(parent))
        self._numbers = np.arange(1.0, children + 1)[:, None]
        self._rows = np.empty((len(parent), children))
        self._ordered, self._shares = (np.empty((children, len(parent))) for _ in range(2))

    def __call__(self, x: Floats) -> Floats:
        rows, ordered, shares = self._rows, self._ordered, self._shares
        np.negative(x, out=rows)
        rows.sort(axis=1)
        np.negative(rows.T, out=ordered)
        if len(ordered) > _LOOPED:
            np.add.accumulate(ordered, axis=0, out=shares)
        else:
            shares[0] = ordered[0]
            for place in range(1, len(ordered)):
                np.add(shares[place - 1], ordered[place], out=shares[place])
        shares -= self._parent
        shares /= self._numbers
        kept = np.add.reduce(ordered > shares, axis=0, dtype=np.int64)
        threshold = shares[np.maximum(kept, 1) - 1, self._cells]
        threshold[(kept == 0) | self._nothing] = np.inf
        found = x - threshold[:, None]
        return np.asarray(np.maximum(found, 0.0, out=found))


class _Certificate:
    """The loss of tables on the simplex, and how far it lies from the optimum at most.

    Args:
        family: the family.
        scaled: its groups with their bounds.
    """

    def __init__(self, family: Family, scaled: tuple[Any, Floats, Floats]) -> None:
        self._family, self._parent = family, family.shared()
        self._groups, self._low, self._high = scaled
        self._bounded = np.where(np.isinf(self._high), 0.0, self._high)

    def __call__(self, z: Floats, multipliers: Floats) -> tuple[float, float]:
        family, residual = self._family, self._family.residual(z)
        weights = family.weights[:, None]
        gradient = np.asarray(family.pulled_back @ (weights * residual))
        cost = np.where(multipliers > 0, multipliers * self._bounded, multipliers * self._low).sum()
        totals = self._groups @ z
        slack = (abs(multipliers) * np.maximum(np.maximum(totals - self._high, self._low - totals), 0.0)).sum()
        reached = (self._parent * (gradient + self._groups.T @ multipliers).min(axis=1)).sum()
        gap = abs(float((gradient * z).sum() - reached + cost)) + float(slack)
        return float(0.5 * (weights * residual**2).sum()), gap


# --- passes ---------------------------------------------------------------------------------------


def least_squares(family: Family, gap: float, passes: Counts | None = None) -> Fit:
    """Fit a family, in several passes where its answers belong to several.

    Pass j minimises the loss of its answers alone. What was fitted for the answers of the passes before it is kept to within the
    whole numbers around it: floor((A y)_r) <= (A x)_r <= ceil((A y)_r) for the fit y of the pass of r (Abowd et al. 2022). Fits
    keep their groups up to an error, so that no tables may keep all of this. Then it is kept to within one unit more, or two,
    and so on, and in the end not at all.

    Args:
        family: the family; every two of its groups are nested or disjoint.
        gap: the certified gap, relative to the loss of a pass, at which the fast method may stop.
        passes: for every answer the number of its pass; None for one pass.

    Returns:
        the fit of the last pass, with the iterations of all.
    """
    if passes is None:
        return _one_pass(family, gap, _EXCESS)
    *earlier, last = sorted(set(passes.tolist()))
    kept, rounds = list[CellBound](), 0
    for number in earlier:
        own = _of_answers(family, passes == number)
        found = _kept_pass(own, kept, gap, _EXCESS_OF_PASS)
        rounds += found.rounds
        kept += _kept(own, found.tables)
    found = _kept_pass(_of_answers(family, passes == last), kept, gap, _EXCESS)
    return attrs.evolve(found, rounds=rounds + found.rounds, excess=family.excess(found.tables))


def _kept_pass(family: Family, kept: Sequence[CellBound], gap: float, excess: float) -> Fit:
    """A pass that keeps bounds of those before, widened by as little as it takes; without them where `_WIDEST` is not enough."""
    for wider in range(_WIDEST + 1 if kept else 0):
        bounds = [attrs.evolve(one, low=np.maximum(one.low - wider, 0), high=one.high + wider) for one in kept]
        try:
            return _one_pass(attrs.evolve(family, bounds=(*family.bounds, *bounds)), gap, excess)
        except errors.NumericalError:
            continue
    return _one_pass(family, gap, excess)


def _one_pass(family: Family, gap: float, excess: float) -> Fit:
    """The fast method, and the interior-point solver for the root and where the certificate is too wide."""
    if family.parent is None:
        return conic(family)
    if family.children == 1:
        only = family.shared()[:, None].astype(float)
        return Fit(tables=only, loss=family.loss(only), gap=0.0, excess=0.0, rounds=0)
    found = structured(family, gap=gap, excess=excess)
    return found if found.gap <= gap * found.loss and found.excess <= excess else conic(family, found.tables)


def _of_answers(family: Family, chosen: Mask) -> Family:
    """The family with some of its answers."""
    return attrs.evolve(
        family, incidence=family.incidence[chosen], weights=family.weights[chosen], targets=family.targets[chosen]
    )


def _kept(family: Family, x: Floats) -> list[CellBound]:
    """The bounds that keep the fitted answers of a pass to within the whole numbers around them."""
    answers = family.incidence @ x
    low, high = np.floor(answers + _WHOLE).astype(np.int64), np.ceil(answers - _WHOLE).astype(np.int64)
    cells = family.incidence.toarray() > 0
    return [
        CellBound(name="an answer of an earlier pass", cells=row, low=least, high=most)
        for row, least, most in zip(cells, low, high, strict=True)
    ]


# --- the quadratic program ------------------------------------------------------------------------


@attrs.frozen(kw_only=True, eq=False)
class Program:
    """minimise 1/2 v'diag(curvature) v + linear'v with equal @ v = right, below @ v <= most; the first entries of v are x."""

    curvature: Floats
    linear: Floats
    equal: Any
    right: Floats
    below: Any
    most: Floats

    def around(self, v: Floats) -> Program:
        """The same program for the distance from v.

        A solver stops at a gap relative to its objective. Far from the answers that is a large number, compared with which
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
    low, high = family.low.T.ravel(), family.high.T.ravel()
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


def conic(family: Family, start: Floats | None = None) -> Fit:
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


def _start(family: Family) -> Floats:
    """The answers about single cells, none of them negative."""
    single = np.asarray(family.incidence.sum(axis=1)).ravel() == 1
    weights, rows = family.weights[single][:, None], family.incidence[single]
    total = np.asarray(rows.T @ np.broadcast_to(weights, (rows.shape[0], 1)))
    pulled = rows.T @ (weights * family.targets[single])
    return np.asarray(np.maximum(pulled / np.where(total > 0, total, 1.0), 0.0))


def solve(posed: Program) -> tuple[Floats, int]:
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
        raise errors.NumericalError("fit", "found no optimum", "report the node", value=str(solution.status))
    return np.asarray(solution.x), int(solution.iterations)


# --- whole numbers --------------------------------------------------------------------------------


def rounded(family: Family, x: Floats) -> Counts:
    """Integer tables near x that keep all constraints of the family.

    Raises:
        IncompatibleBlocksError: two groups are neither nested nor disjoint.
        InfeasibleConstraintsError: no tables keep them; names a smallest set of constraints in conflict.
        NumericalError: the linear program was not solved to a whole vertex.

    >>> from scipy.sparse import eye_array
    >>> family = Family(incidence=eye_array(2), weights=np.ones(2), targets=np.zeros((2, 2)), parent=np.array([3, 1]))
    >>> rounded(family, np.array([[1.3, 1.7], [0.6, 0.4]]))
    array([[1, 2],
           [1, 0]])
    """
    check_laminar([bound.cells for bound in family.bounds])
    near = np.floor(np.maximum(x, 0.0) + _WHOLE).astype(np.int64)
    z = _nearest(family, x, near, wide=False)
    if z is None:
        z = _nearest(family, x, near, wide=True)
    if z is None:
        raise contradiction(family)
    broken = family.broken(z)
    if broken:
        raise errors.NumericalError("rounding", f"did not keep: {', '.join(broken)}", "nothing is released; report the node")
    return z


def _nearest(family: Family, x: Floats, near: Counts, *, wide: bool) -> Counts | None:
    """z = near + e + p - m with e in {0, 1} where x is no whole number; p, m >= 0 only when `wide`. None when there is none."""
    from scipy.optimize import linprog
    from scipy.sparse import csc_array

    fraction = np.clip(x - near, 0.0, 1.0).ravel()
    places = np.flatnonzero(fraction > _WHOLE)
    least, most = _needed(family, near, None if wide else x)
    variables, signs = places, np.ones(len(places))
    cost, upper = 1 - 2 * fraction[places], np.ones(len(places))
    if wide:
        every = np.arange(x.size)
        variables = np.concatenate([places, every, every])
        signs = np.repeat([1.0, 1.0, -1.0], [len(places), x.size, x.size])
        cost = np.concatenate([cost, np.ones(2 * x.size)])
        upper = np.concatenate([upper, np.full(x.size, np.inf), near.ravel().astype(float)])
    if not len(variables):
        return near if (least <= 0).all() and (most >= 0).all() else None
    rows, column = _entries(family, x.shape, variables, totals=not wide)
    exact, capped, floored = least == most, (most < np.inf) & (least < most), (least > -np.inf) & (least < most)

    def part(*kept: tuple[Mask, float]) -> Any:
        """The rows that are kept, one selection below the other, each times a number."""
        chosen = [(mask[rows], sign) for mask, sign in kept]
        before = np.cumsum([0, *(int(mask.sum()) for mask, _ in kept)])
        index = [(np.cumsum(mask) - 1 + begin)[rows[at]] for (mask, _), (at, _), begin in zip(kept, chosen, before, strict=False)]
        values = [sign * signs[column[at]] for at, sign in chosen]
        columns = [column[at] for at, _ in chosen]
        entries, shape = (np.concatenate(index), np.concatenate(columns)), (int(before[-1]), len(variables))
        if math.prod(shape) > LIGHT:
            return csc_array((np.concatenate(values), entries), shape=shape)
        matrix = np.zeros(shape)
        matrix[entries] = np.concatenate(values)
        return matrix

    found = linprog(
        cost,
        A_ub=part((capped, 1.0), (floored, -1.0)),
        b_ub=np.concatenate([most[capped], -least[floored]]),
        A_eq=part((exact, 1.0)),
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


def _entries(family: Family, shape: tuple[int, ...], variables: Counts, *, totals: bool) -> tuple[Counts, Counts]:
    """The rows of `_needed` in which some entries (cell, child) are counted, and the place of each among these entries."""
    cells, children = shape
    cell, child = np.divmod(variables, children)
    every = np.arange(len(variables))
    rows, columns = [], []
    for place, bound in enumerate(family.bounds):
        held = bound.cells[cell]
        rows.append(place * children + child[held])
        columns.append(every[held])
    begin = len(family.bounds) * children
    if family.parent is not None:
        rows.append(begin + cell)
        columns.append(every)
        begin += cells
    if totals:
        rows.append(begin + child)
        columns.append(every)
    nothing = np.zeros(0, dtype=np.int64)
    return np.concatenate([nothing, *rows]), np.concatenate([nothing, *columns])


def _needed(family: Family, near: Counts, x: Floats | None) -> tuple[Floats, Floats]:
    """What has to be added to `near`, at least and at most: in each group and child, in each cell, and in each child."""
    high = np.where(family.high >= UNBOUNDED, np.inf, family.high)
    least, most = [family.low.astype(float).ravel()], [high.ravel()]
    held = [np.array([near[bound.cells].sum(axis=0) for bound in family.bounds], dtype=float).ravel()]
    if family.parent is not None:
        held.append(near.sum(axis=1))
        least.append(family.parent.astype(float))
        most.append(family.parent.astype(float))
    if x is not None:
        held.append(near.sum(axis=0))
        least.append(np.floor(x.sum(axis=0) + _WHOLE))
        most.append(np.ceil(x.sum(axis=0) - _WHOLE))
    done = np.concatenate(held)
    return np.concatenate(least) - done, np.concatenate(most) - done
