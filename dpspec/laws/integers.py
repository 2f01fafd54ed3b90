"""Laws on all integers: two-sided geometric and discrete Gaussian noise, with rigorous tails.

Cutting the support of such a law would change its guarantee (B-S15), so nothing is cut: what lies outside a window is
bounded.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import attrs
from flint import arb, ctx, fmpq

from dpspec.errors import NoRouteError
from dpspec.exact import Number, NumberLike, ball, ln, number, rational
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.law import Law
from dpspec.laws.location import LocationLaw, Point
from dpspec.laws.numeric import hull, rational_exponential, whole_number
from dpspec.laws.route import AtomicLaw, Kind, Outcome
from dpspec.params import Exact, Integer, Rational

_MOST_POINTS = 4096
_DIRECT_VARIANCE = 256
_CENTERED = Fraction(0)


class IntegerLaw(LocationLaw, AtomicLaw):
    """A symmetric law on the integers that falls away from its center."""

    kind: ClassVar[Kind] = Kind.INTEGERS
    on_integers: ClassVar[bool] = True
    center: int

    @abstractmethod
    def reach(self, precision: int) -> int:
        """A distance from the center beyond which about 2^-precision of the mass lies."""

    @abstractmethod
    def upper_tail(self, distance: int, precision: int) -> arb:
        """P(X >= center + distance), for a distance of at least 1."""

    def mass(self, outcome: Outcome, precision: int = 64) -> arb:
        """P(outcome), exactly 0 for anything that is no integer."""
        k = whole_number(outcome)
        if k is None:
            return arb(0)
        with ctx.workprec(precision + 32):
            return self.log_density(arb(k), precision + 32).exp()

    def tail(self, k: int, precision: int = 64) -> tuple[arb, arb]:
        """Balls around P(X <= k) and P(X >= k)."""
        with ctx.workprec(precision + 32):
            return self._at_least(2 * self.center - k, precision + 32), self._at_least(k, precision + 32)

    def _at_least(self, k: int, precision: int) -> arb:
        distance = k - self.center
        if distance >= 1:
            return self.upper_tail(distance, precision)
        return 1 - self.upper_tail(1 - distance, precision)

    def between(self, low: Point, high: Point, precision: int) -> arb:
        if low is not None and high is not None and high - low <= 1:
            return self.mass(int(low), precision)
        left = None if low is None else int(low) - self.center
        right = None if high is None else int(high) - self.center
        if left is not None and left >= 1:
            return self._outside(left, right, precision)
        if right is not None and right <= 0:
            return self._outside(1 - right, None if left is None else 1 - left, precision)
        below = arb(0) if left is None else self.upper_tail(1 - left, precision)
        above = arb(0) if right is None else self.upper_tail(right, precision)
        return 1 - below - above

    def _outside(self, near: int, far: int | None, precision: int) -> arb:
        """P(near <= X - center < far) for near >= 1."""
        beyond = arb(0) if far is None else self.upper_tail(far, precision)
        return self.upper_tail(near, precision) - beyond

    def breakpoints(self, precision: int) -> Sequence[Fraction]:
        reach = self.reach(precision)
        step = -(-2 * reach // _MOST_POINTS)
        count = -(-reach // step)
        return [Fraction(self.center + step * i) for i in range(-count, count + 1)] + [Fraction(self.center + 1)]

    def window(self, precision: int) -> Sequence[int]:
        reach = min(self.reach(precision), 2 * _MOST_POINTS)
        return range(self.center - reach, self.center + reach + 1)


def _decay(value: NumberLike) -> Number:
    return Exact(low=0, open_low=True).read(value, "decay")


def _whole(value: Any) -> int:
    return Integer().read(value, "center")


@attrs.frozen
class TwoSidedGeometric(IntegerLaw):
    """P(k) = (1 - r) / (1 + r) r^|k - center| with r = e^-decay, on all integers.

    Args:
        center: the mode.
        decay: ln(1/r), an exact number: ``ln(2)`` for the ratio 1/2, the privacy loss epsilon for r = e^-epsilon.

    >>> count = TwoSidedGeometric.with_ratio(7, "1/2")
    >>> str(count.against(TwoSidedGeometric(8, ln(2))).max_log_ratio())
    'ln(2)'
    """

    center: Annotated[int, Integer()] = attrs.field(converter=_whole)
    decay: Number = attrs.field(converter=_decay)

    @classmethod
    def with_ratio(cls, center: int, ratio: NumberLike) -> TwoSidedGeometric:
        """The law with the rational ratio r."""
        r = Rational(0, 1, open_low=True, open_high=True).read(ratio, "ratio")
        return cls(center, ln(1 / r))

    @property
    def ratio(self) -> Fraction | None:
        """r when it is rational."""
        return rational_exponential(-self.decay) if self.decay.root == 1 else None

    @property
    def curvature(self) -> Number:
        return number(0)

    @property
    def slope(self) -> Number:
        return self.decay

    def log_peak(self, precision: int) -> arb:
        return (self.decay.enclose(precision) / 2).tanh().log()

    def reach(self, precision: int) -> int:
        return math.ceil(precision * math.log(2) / float(self.decay)) + 1

    def upper_tail(self, distance: int, precision: int) -> arb:
        decay = self.decay.enclose(precision)
        return (-decay * distance).exp() / (1 + (-decay).exp())

    def probability(self, k: int) -> Fraction:
        """P(k), exactly, for a rational ratio."""
        r = self._rational_ratio()
        return Fraction(1 - r, 1 + r) * r ** abs(k - self.center)

    def at_least(self, k: int) -> Fraction:
        """P(X >= k), exactly, for a rational ratio."""
        r, distance = self._rational_ratio(), k - self.center
        return r**distance / (1 + r) if distance >= 1 else 1 - r ** (1 - distance) / (1 + r)

    def clamped(self, low: int, high: int) -> FiniteLaw:
        """The law of min(max(X, low), high), exactly, for a rational ratio (B-O52)."""
        if low >= high:
            return FiniteLaw.point(low)
        masses: dict[Outcome, NumberLike] = {k: self.probability(k) for k in range(low + 1, high)}
        return FiniteLaw.of({**masses, low: 1 - self.at_least(low + 1), high: self.at_least(high)})

    def _rational_ratio(self) -> Fraction:
        if self.ratio is None:
            raise NoRouteError("ratio", "is not rational", "use mass and tail, which enclose", value=f"exp(-({self.decay}))")
        return self.ratio

    def closed_against(self, other: Law) -> Dichotomy | None:
        from dpspec.laws.shifts import geometric_shift

        if isinstance(other, TwoSidedGeometric) and other.decay == self.decay:
            return geometric_shift(abs(self.center - other.center), self.decay)
        return None


def _variance(value: NumberLike) -> Fraction:
    return Rational(0, open_low=True).read(value, "variance")


@attrs.frozen
class DiscreteGaussian(IntegerLaw):
    """P(k) proportional to exp(-(k - center)^2 / (2 variance)), on all integers.

    `variance` is the parameter sigma^2 of the formula; the variance of the law is slightly smaller.

    >>> noise = DiscreteGaussian(0, "1/2")
    >>> str(noise.against(DiscreteGaussian(1, "1/2")).concentration())
    '1'
    """

    center: Annotated[int, Integer()] = attrs.field(converter=_whole)
    variance: Fraction = attrs.field(converter=_variance)

    @property
    def curvature(self) -> Number:
        return number(1 / (2 * self.variance))

    @property
    def slope(self) -> Number:
        return number(0)

    def log_peak(self, precision: int) -> arb:
        return -_log_normaliser(self.variance, _CENTERED, precision)

    def reach(self, precision: int) -> int:
        return math.ceil(math.sqrt(2 * math.log(2) * (precision + 4) * self.variance)) + 1

    def upper_tail(self, distance: int, precision: int) -> arb:
        return _gaussian_tail(self.variance, distance, precision) / gaussian_normaliser(self.variance, precision)

    def closed_against(self, other: Law) -> Dichotomy | None:
        from dpspec.laws.discrete_gaussian import DiscreteGaussianShift

        if isinstance(other, DiscreteGaussian) and other.variance == self.variance:
            return DiscreteGaussianShift(self.center - other.center, self.variance)
        return None


@lru_cache(maxsize=512)
def _normaliser(variance: Fraction, offset: Fraction, precision: int) -> arb:
    """The sum over all integers k of exp(-(k - offset)^2 / (2 variance)).

    For a variance of at least 1 by Poisson summation, sqrt(2 pi variance) (1 + 2 sum_j exp(-2 pi^2 variance j^2)
    cos(2 pi j offset)), whose terms fall fast; else directly. What is left out of a sum is at most its first term that is
    left out over 1 minus a bound of the ratio of its terms, both balls.
    """
    with ctx.workprec(precision + 16):
        if variance >= 1:
            pi, size, place = arb.pi(), ball(variance), 2 * ball(offset)
            rate, scale = 2 * pi * pi * size, (2 * pi * size).sqrt()
            total, j, negligible = arb(1), 1, arb(2) ** (-precision - 16)
            while (term := 2 * (-rate * (j * j)).exp()) > negligible:
                total += term * (place * j).cos_pi() if offset else term
                j += 1
            rest = term / (1 - (-rate).exp())
            return scale * (total + hull(-rest, rest))
        base = round(offset)
        return _half_sum(variance, base - offset, precision) + _half_sum(variance, offset - base + 1, precision)


def _log_normaliser(variance: Fraction, offset: Fraction, precision: int) -> arb:
    with ctx.workprec(precision + 16):
        return _normaliser(variance, offset, precision).log()


def gaussian_sums(variance: Fraction, least: int, precision: int) -> arb:
    """The sum over k >= least of exp(-k^2 / (2 variance)), for any integer."""
    if least >= 1:
        return _gaussian_tail(variance, least, precision)
    return gaussian_normaliser(variance, precision) - _gaussian_tail(variance, 1 - least, precision)


def gaussian_normaliser(variance: Fraction, precision: int) -> arb:
    """The sum over all integers k of exp(-k^2 / (2 variance))."""
    return _normaliser(variance, _CENTERED, precision)


@lru_cache(maxsize=1 << 14)
def _gaussian_tail(variance: Fraction, distance: int, precision: int) -> arb:
    """The sum over k >= distance of exp(-k^2 / (2 variance)), for a distance of at least 1."""
    with ctx.workprec(precision + 16):
        if variance <= _DIRECT_VARIANCE:
            return _half_sum(variance, Fraction(distance), precision)
        return _euler_maclaurin(variance, distance, precision)


def _euler_maclaurin(variance: Fraction, start: int, precision: int) -> arb:
    """The sum over k >= start of f(k) = exp(-k^2 / (2 variance)), for a large variance, with few terms.

    int f + f(start)/2 - sum_j B_2j/(2j)! f^(2j-1)(start), with f^(n)(x) = (-sigma)^-n He_n(x/sigma) f(x). The remainder after
    m corrections is at most 2 zeta(2m) / (2 pi)^2m x int |f^(2m)|, and int |He_n(y)| e^(-y^2/2) dy <= sqrt(2 pi n!).
    """
    sigma = ball(variance).sqrt()
    y = start / sigma
    height = (-(y**2) / 2).exp()
    total = (y / arb(2).sqrt()).erfc() * sigma * (arb.pi() / 2).sqrt() + height / 2
    before, hermite, factorial, n = arb(1), y, 1, 1
    while True:
        # Here hermite = He_n(y), n odd, and factorial = (n + 1)!.
        factorial *= n + 1
        total += arb.bernoulli(n + 1) / factorial * hermite * height / sigma**n
        rest = 4 * (2 * arb.pi() * factorial).sqrt() / (2 * arb.pi()) ** (n + 1) / sigma**n
        if rest < arb(2) ** (-precision) or n > precision:
            return total + hull(-rest, rest)
        before, hermite = hermite, y * hermite - n * before
        before, hermite = hermite, y * hermite - (n + 1) * before
        factorial, n = factorial * (n + 2), n + 2


def _half_sum(variance: Fraction, start: Fraction, precision: int) -> arb:
    """The sum over i >= 0 of exp(-(start + i)^2 / (2 variance)), for start > -1.

    Terms are products: their ratios fall by the factor exp(-1/variance) each time.
    """
    with ctx.workprec(ctx.prec + 32):
        rate, point = arb(fmpq(-variance.denominator, 2 * variance.numerator)), ball(start)
        term, ratio, fall = (rate * point * point).exp(), (rate * (2 * point + 1)).exp(), (2 * rate).exp()
        total, negligible = arb(0), term * arb(2) ** (-precision - 16)
        while term > negligible or not ratio < 1:
            total += term
            term *= ratio
            ratio *= fall
        return total + hull(arb(0), (term / (1 - ratio)).upper())


def theta_log_ratio(variance: Fraction, offset: Fraction, precision: int) -> arb:
    """ln of sum_k exp(-(k - offset)^2 / (2 variance)) over the same sum with offset 0; at most 0."""
    reduced = rational(offset) - math.floor(offset)
    return _log_normaliser(variance, reduced, precision) - _log_normaliser(variance, _CENTERED, precision)
