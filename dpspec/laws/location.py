"""Location laws: the shape that Laplace, Gaussian, geometric and discrete Gaussian laws share, and ratios of two of them.

    ln f(t) = ln f(c) - curvature (t - c)^2 - slope |t - c|

so that every log-likelihood ratio of two of them is a quadratic between their centers, and its range on an interval,
its limits in the tails and the divergence of its moments are known exactly, not estimated.

Mixtures of them are cut into common cells, each with the masses of both and the range of their ratio.
"""

from __future__ import annotations

import functools
import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction

import attrs
from flint import arb, ctx

from dpspec.base.exact import Number
from dpspec.base.log_linear import ball
from dpspec.base.memo import memoize
from dpspec.laws.dichotomy import Cell
from dpspec.laws.numeric import hull, spend_on_balls

LinePoint = Fraction | None
"""A point of the line; None means the infinite end on its side."""


class Location(ABC):
    """A law on the line or on the integers with the density above."""

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
    def between(self, low: LinePoint, high: LinePoint, precision: int) -> arb:
        """The mass of low < X < high on the line, of low <= X < high on the integers."""

    @abstractmethod
    def breakpoints(self, precision: int) -> Sequence[Fraction]:
        """Points in increasing order that cut the law into cells, all but about 2^-precision of it inside."""

    def variance_ball(self, precision: int) -> arb | None:
        """A ball around the variance; None where it is not known."""
        return None

    def log_density(self, point: arb, precision: int) -> arb:
        """ln f at a ball of points."""
        return self.log_densities((point,), precision)[0]

    def log_densities(self, points: Iterable[arb], precision: int) -> list[arb]:
        """ln f at balls of points, with its coefficients looked up once: to find them again takes a hash of the law."""
        center, curvature, slope, peak = _coefficients(self, precision)
        distances = (abs(point - center) for point in points)
        return [peak - (curvature * distance + slope) * distance for distance in distances]


@memoize(maxsize=256)
def _coefficients(law: Location, precision: int) -> tuple[arb, arb, arb, arb]:
    """Balls around center, curvature, slope and the logarithm of the peak."""
    with ctx.workprec(precision):
        return ball(law.center), law.curvature.enclose(precision), law.slope.enclose(precision), law.log_peak(precision)


def tail_sign(p: Location, q: Location, side: int) -> int:
    """1 when ln(p/q) tends to infinity in the tail on a side (1 or -1), -1 when to minus infinity, 0 for a constant."""
    if p.curvature != q.curvature:
        return 1 if p.curvature < q.curvature else -1
    if p.curvature > 0:
        shift = (p.center - q.center) * side
        return (shift > 0) - (shift < 0)
    return (p.slope < q.slope) - (p.slope > q.slope)


def moment_diverges(p: Location, q: Location, order: Fraction) -> bool:
    """Whether the integral of p^order q^(1 - order), order > 1, is proved infinite."""
    if (p.curvature == 0) != (q.curvature == 0):
        return p.curvature == 0
    if p.curvature == 0:
        return p.slope * order <= q.slope * (order - 1)
    return p.curvature * order < q.curvature * (order - 1)


def is_heavier(p: Location, q: Location) -> bool:
    """Whether some moment of p/q diverges: the tails of p are heavier than by a shift alone."""
    if p.curvature != q.curvature:
        return p.curvature < q.curvature
    return p.curvature == 0 and p.slope < q.slope


def ratio_range(p: Location, q: Location, low: LinePoint, high: LinePoint, precision: int) -> tuple[arb, arb]:
    """The range of ln(p/q) on an interval that holds no center in its inside."""
    points = [ball(Fraction(end)) for end in (low, high) if end is not None]
    values = [p.log_density(point, precision) - q.log_density(point, precision) for point in points]
    for end, side in ((low, -1), (high, 1)):
        if end is None:
            sign = tail_sign(p, q, side)
            values += [arb.pos_inf()] if sign > 0 else [arb.neg_inf()] if sign < 0 else []
    vertex = _vertex(p, q, low, high, precision)
    if vertex is not None:
        values.append(p.log_density(vertex, precision) - q.log_density(vertex, precision))
    return -_largest([-value for value in values]), _largest(values)


def ratio_supremum(p: Location, q: Location, precision: int) -> arb:
    """sup ln(p/q) of two laws on the line, when it is finite: at a center, at a turning point, or constant in a tail."""
    low, high = sorted((Fraction(p.center), Fraction(q.center)))
    points = [ball(low), ball(high)]
    regions = ((None, low), (low, high), (high, None))
    points += [vertex for a, b in regions if (vertex := _vertex(p, q, a, b, precision)) is not None]
    values = [p.log_density(point, precision) - q.log_density(point, precision) for point in points]
    return functools.reduce(arb.max, values)


def _vertex(p: Location, q: Location, low: LinePoint, high: LinePoint, precision: int) -> arb | None:
    """The vertex of the quadratic ln(p/q), when it may lie in the interval."""
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


def log_density_range(law: Location, low: Fraction, high: Fraction, precision: int) -> arb:
    """ln f over an interval that holds the center at most at an end."""
    return hull(law.log_density(ball(Fraction(low)), precision), law.log_density(ball(Fraction(high)), precision))


WeightedLaw = tuple[Fraction, Location]


@attrs.frozen
class Measure:
    """The parts of one law that live on the integers, or on the line."""

    laws: tuple[WeightedLaw, ...]
    atoms: dict[int, Fraction] = attrs.field(factory=dict)

    def between(self, low: LinePoint, high: LinePoint, precision: int) -> arb:
        total = sum((ball(weight) * law.between(low, high, precision) for weight, law in self.laws), arb(0))
        if self.atoms and low is not None and high == low + 1:
            total += ball(self.atoms.get(int(low), Fraction(0)))
        return total


_WORK_OF_A_CELL = 2
"""Units of work of the masses and the likelihood ratios of one cell."""


def interval_cells(p: Measure, q: Measure, precision: int, *, on_integers: bool) -> list[Cell]:
    """Cells between all breakpoints and atoms of two measures."""
    points: set[Fraction] = set()
    for _, law in (*p.laws, *q.laws):
        points.update(law.breakpoints(precision))
    for outcome in (*p.atoms, *q.atoms):
        points.update((Fraction(outcome), Fraction(outcome + 1)))
    ordered: list[LinePoint] = [None, *sorted(points), None]
    spend_on_balls(_WORK_OF_A_CELL * len(ordered) * max(1, len(p.laws) * len(q.laws)))
    return [_cell(p, q, low, high, precision, on_integers=on_integers) for low, high in itertools.pairwise(ordered)]


def _cell(p: Measure, q: Measure, low: LinePoint, high: LinePoint, precision: int, *, on_integers: bool) -> Cell:
    p_mass, q_mass = p.between(low, high, precision), q.between(low, high, precision)
    last = high - 1 if on_integers and high is not None else high
    single = on_integers and low is not None and low == last
    holds_atom = single and low is not None and (int(low) in p.atoms or int(low) in q.atoms)
    if not p.laws or not q.laws or holds_atom or (single and len(p.laws) * len(q.laws) > 1):
        return Cell.atom(p_mass, q_mass)
    high_ratio = _largest_ratio(p.laws, q.laws, low, last, precision)
    low_ratio = -_largest_ratio(q.laws, p.laws, low, last, precision)
    return Cell(p_mass.max(arb(0)), q_mass.max(arb(0)), low_ratio, high_ratio)


def _largest_ratio(p: Sequence[WeightedLaw], q: Sequence[WeightedLaw], low: LinePoint, high: LinePoint, precision: int) -> arb:
    """An upper bound of ln(sum w_i p_i / sum v_j q_j) on an interval that holds no center inside.

    With ln(p_i/q_j) <= u_ij there: sum_i min_j (w_i/v_j) e^(u_ij), and max_ij e^(u_ij) sum w / sum v; on a bounded
    interval also the largest densities over the smallest ones.
    """
    upper = [[ratio_range(law, other, low, high, precision)[1] for _, other in q] for _, law in p]
    if len(p) == len(q) == 1:
        return (upper[0][0] + ball(p[0][0] / q[0][0]).log()).upper()
    sharp, widest = arb(0), arb.neg_inf()
    for (weight, _), row in zip(p, upper, strict=True):
        least = arb.pos_inf()
        for (other_weight, _), bound in zip(q, row, strict=True):
            widest = widest.max(bound)
            least = least.min(bound + ball(weight / other_weight).log())
        sharp += least.exp()
    total = ball(sum((w for w, _ in p), Fraction(0)) / sum((v for v, _ in q), Fraction(0)))
    best = _log(sharp).min((widest + total.log()).upper())
    if low is None or high is None:
        return best
    top = sum((ball(w) * log_density_range(law, low, high, precision).upper().exp() for w, law in p), arb(0))
    bottom = sum((ball(v) * log_density_range(law, low, high, precision).lower().exp() for v, law in q), arb(0))
    return best.min(_log(top / bottom))


def _log(value: arb) -> arb:
    return value.log().upper() if value.is_finite() else arb.pos_inf()
