"""Trade-off functions from lists of points: many (epsilon, delta) of one mechanism say more than any of them alone (K-S10).

Both functions round to the safe side: the curve is nowhere above the largest one that the points imply.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction

from flint import ctx

from dpspec.errors import ParameterError
from dpspec.exact import Number, NumberLike, dyadic, number, rational
from dpspec.laws.numeric import rational_exponential
from dpspec.laws.trade_off import TradeOff

MOST_POINTS = 64
BITS = 64

Point = tuple[NumberLike, NumberLike]
"""epsilon and delta."""


def curve_of_approximate(points: Iterable[Point]) -> TradeOff:
    """f = the pointwise largest max(0, 1 - delta - e^epsilon x, e^-epsilon (1 - delta - x)) over the points (K-section 6, K-T18).

    Exact when the points are the whole curve of the mechanism; for finitely many of them the largest that they imply.

    Args:
        points: pairs (epsilon, delta), each of which the mechanism satisfies.

    Raises:
        ParameterError: no points, more than `MOST_POINTS`, or one outside epsilon >= 0, 0 <= delta <= 1.

    >>> str(curve_of_approximate([("ln(2)", "1/4"), ("ln(8)", 0)]))
    '(0, 1), (1/24, 2/3), (1/4, 1/4), (2/3, 1/24), (1, 0)'
    """
    lines = [(Fraction(0), Fraction(0))]
    for epsilon, delta in _read(points):
        ratio = _ratio(epsilon)
        lines += [(1 - delta, -ratio), ((1 - delta) / ratio, -1 / ratio)]
    levels = {Fraction(0), Fraction(1)}
    for (a, s), (b, t) in itertools.combinations(set(lines), 2):
        if s != t and 0 < (level := (b - a) / (s - t)) < 1:
            levels.add(level)
    return TradeOff([(level, max(a + s * level for a, s in lines)) for level in levels])


def curve_of_pbdp(points: Iterable[Point]) -> TradeOff:
    """The largest convex curve below what the points say: at level delta e^-epsilon the error is at least 1 - delta (K-T11).

    For the whole curve of a mechanism f(delta e^-epsilon(delta)) = 1 - delta; finitely many points leave steps between them.

    Args:
        points: pairs (epsilon, delta) of probabilistically bounded privacy.

    Raises:
        ParameterError: as for `curve_of_approximate`.

    >>> str(curve_of_pbdp([("ln(3)", "3/4"), ("ln(3)", "3/8")]))
    '(0, 5/8), (1/8, 1/4), (1/4, 0), (1, 0)'
    """
    steps = sorted((delta / _ratio(epsilon), 1 - delta) for epsilon, delta in _read(points))
    errors = [max(error for _, error in steps[place:]) for place in range(len(steps))] + [Fraction(0)]
    ends = [Fraction(0), *(level for level, _ in steps)]
    return TradeOff(_convex([*zip(ends, errors, strict=True), (Fraction(1), Fraction(0))]))


def _read(points: Iterable[Point]) -> list[tuple[Number, Fraction]]:
    read = [
        (number(epsilon, "epsilon"), rational(delta, "delta")) for epsilon, delta in itertools.islice(points, MOST_POINTS + 1)
    ]
    if not 0 < len(read) <= MOST_POINTS:
        raise ParameterError("points", f"must be 1 to {MOST_POINTS}", "choose some of them", value=len(read))
    for epsilon, delta in read:
        if epsilon < 0 or epsilon.is_infinite or not 0 <= delta <= 1:
            raise ParameterError("point", "needs epsilon >= 0 and 0 <= delta <= 1", value=f"({epsilon}, {delta})")
    return read


def _ratio(epsilon: Number) -> Fraction:
    """e^epsilon, rounded up where it is irrational."""
    exact = rational_exponential(epsilon)
    if exact is not None:
        return exact
    with ctx.workprec(BITS):
        return dyadic(epsilon.enclose(BITS).exp().upper())


def _convex(points: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """The corners of the largest convex function below some points, from left to right."""
    hull: list[tuple[Fraction, Fraction]] = []
    for level, error in points:
        while len(hull) > 1:
            (a, b), (c, d) = hull[-2:]
            if (d - b) * (level - a) < (error - b) * (c - a):
                break
            hull.pop()
        if hull and hull[-1][0] == level:
            hull[-1] = level, min(error, hull[-1][1])
        else:
            hull.append((level, error))
    return hull
