"""The shape that Laplace, Gaussian, geometric and discrete Gaussian laws share.

    ln f(t) = ln f(c) - curvature (t - c)^2 - slope |t - c|

so that every log-likelihood ratio of two of them is a quadratic between their centers, and its range on an interval,
its limits in the tails and the divergence of its moments are known exactly, not estimated.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from flint import arb, ctx

from dpspec.exact import Number, ball
from dpspec.laws.numeric import hull
from dpspec.laws.route import SimpleLaw

Point = Fraction | None
"""A point of the line; None stands for the infinite end on its side."""


class LocationLaw(SimpleLaw):
    """A law on the line or on the integers with the density above."""

    on_integers: ClassVar[bool]
    center: Fraction | int

    @property
    @abstractmethod
    def curvature(self) -> Number: ...

    @property
    @abstractmethod
    def slope(self) -> Number: ...

    @abstractmethod
    def log_peak(self, precision: int) -> arb:
        """The logarithm of the density (or mass) at the center."""

    @abstractmethod
    def between(self, low: Point, high: Point, precision: int) -> arb:
        """The mass of low < X < high on the line, of low <= X < high on the integers."""

    @abstractmethod
    def breakpoints(self, precision: int) -> Sequence[Fraction]:
        """Points in increasing order that cut the law into cells, all but about 2^-precision of it inside."""

    def log_density(self, point: arb, precision: int) -> arb:
        """ln f at a ball of points."""
        center, curvature, slope, peak = _coefficients(self, precision)
        distance = abs(point - center)
        return peak - (curvature * distance + slope) * distance


@functools.lru_cache(maxsize=256)
def _coefficients(law: LocationLaw, precision: int) -> tuple[arb, arb, arb, arb]:
    """Balls around center, curvature, slope and the logarithm of the peak."""
    with ctx.workprec(precision):
        return ball(law.center), law.curvature.enclose(precision), law.slope.enclose(precision), law.log_peak(precision)


def tail_sign(p: LocationLaw, q: LocationLaw, side: int) -> int:
    """1 when ln(p/q) tends to infinity in the tail on a side (1 or -1), -1 when to minus infinity, 0 for a constant."""
    if p.curvature != q.curvature:
        return 1 if p.curvature < q.curvature else -1
    if p.curvature > 0:
        shift = (p.center - q.center) * side
        return (shift > 0) - (shift < 0)
    return (p.slope < q.slope) - (p.slope > q.slope)


def moment_diverges(p: LocationLaw, q: LocationLaw, order: Fraction) -> bool:
    """Whether the integral of p^order q^(1 - order), order > 1, is proved infinite."""
    if (p.curvature == 0) != (q.curvature == 0):
        return p.curvature == 0
    if p.curvature == 0:
        return p.slope * order <= q.slope * (order - 1)
    return p.curvature * order < q.curvature * (order - 1)


def is_heavier(p: LocationLaw, q: LocationLaw) -> bool:
    """Whether some moment of p/q diverges: the tails of p are heavier than by a shift alone."""
    if p.curvature != q.curvature:
        return p.curvature < q.curvature
    return p.curvature == 0 and p.slope < q.slope


def ratio_range(p: LocationLaw, q: LocationLaw, low: Point, high: Point, precision: int) -> tuple[arb, arb]:
    """The range of ln(p/q) on an interval that holds no center in its inside."""
    values = [_end_value(p, q, end, precision) for end in (low, high) if end is not None]
    for end, side in ((low, -1), (high, 1)):
        if end is None:
            sign = tail_sign(p, q, side)
            values += [arb.pos_inf()] if sign > 0 else [arb.neg_inf()] if sign < 0 else []
    vertex = _vertex(p, q, low, high, precision)
    if vertex is not None:
        values.append(p.log_density(vertex, precision) - q.log_density(vertex, precision))
    return _smallest(values), _largest(values)


def ratio_supremum(p: LocationLaw, q: LocationLaw, precision: int) -> arb:
    """sup ln(p/q) of two laws on the line, when it is finite: at a center, at a turning point, or constant in a tail."""
    low, high = sorted((Fraction(p.center), Fraction(q.center)))
    points = [ball(low), ball(high)]
    regions = ((None, low), (low, high), (high, None))
    points += [vertex for a, b in regions if (vertex := _vertex(p, q, a, b, precision)) is not None]
    values = [p.log_density(point, precision) - q.log_density(point, precision) for point in points]
    return functools.reduce(arb.max, values)


def _end_value(p: LocationLaw, q: LocationLaw, end: Fraction, precision: int) -> arb:
    point = ball(Fraction(end))
    return p.log_density(point, precision) - q.log_density(point, precision)


def _vertex(p: LocationLaw, q: LocationLaw, low: Point, high: Point, precision: int) -> arb | None:
    """Where the quadratic ln(p/q) turns, when that may lie in the interval."""
    if p.curvature == q.curvature:
        return None
    slope, curvature = arb(0), arb(0)
    for law, sign in ((p, 1), (q, -1)):
        right = low is not None and low >= law.center
        center, a, b, _ = _coefficients(law, precision)
        slope += sign * (2 * a * center - (b if right else -b))
        curvature += sign * 2 * a
    vertex = slope / curvature
    if low is not None:
        vertex = vertex.max(ball(Fraction(low)))
    if high is not None:
        vertex = vertex.min(ball(Fraction(high)))
    return vertex


def _largest(values: Sequence[arb]) -> arb:
    best = values[0].upper()
    for value in values[1:]:
        best = best.max(value.upper())
    return best


def _smallest(values: Sequence[arb]) -> arb:
    return -_largest([-value for value in values])


def log_density_range(law: LocationLaw, low: Fraction, high: Fraction, precision: int) -> arb:
    """ln f over an interval that holds the center at most at an end."""
    return hull(law.log_density(ball(Fraction(low)), precision), law.log_density(ball(Fraction(high)), precision))
