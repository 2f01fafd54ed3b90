"""Laws on all integers: two-sided geometric and discrete Gaussian noise, with rigorous tails.

Cutting the support of such a law would change its guarantee, so nothing is cut: what lies outside a window is
bounded.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import attrs
from flint import arb, ctx, fmpq

from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import Bracket, Number, NumberLike, ln, number, rational, relative_ball
from dpspec.base.log_linear import ball, dyadic
from dpspec.base.memo import memoize
from dpspec.base.params import Exact, Integer, Rational
from dpspec.base.promises import is_a
from dpspec.base.work import spend
from dpspec.laws.dichotomy import INFINITE, Cells, Dichotomy, Growth, gain_of
from dpspec.laws.exponential import Exponential, exact_exponential, finite_law
from dpspec.laws.law import AtomicLaw, FiniteLaw, Kind, Law, LocationLaw, LocationSandwich, OutputValue
from dpspec.laws.location import LinePoint
from dpspec.laws.numeric import ball_exponential, hull, rational_exponential, whole_number

_MOST_POINTS = 4096
_DIRECT_VARIANCE = 100
"""Up to this variance a tail has so few terms that adding them up is quicker than corrections of an integral."""
_LONGEST_POWER = 1 << 20
"""Bits of a power that is written down exactly."""
_CENTERED = Fraction(0)


class IntegerLaw(LocationLaw, AtomicLaw):
    """A symmetric law on the integers that falls away from its center."""

    kind: ClassVar[Kind] = Kind.INTEGERS
    center: int

    @abstractmethod
    def reach(self, precision: int) -> int:
        """A distance from the center beyond which about 2^-precision of the mass lies."""

    @abstractmethod
    def upper_tail(self, distance: int, precision: int) -> arb:
        """P(X >= center + distance), for a distance of at least 1."""

    def rational_tail(self, distance: int) -> Fraction | None:
        """The same as a rational number; None where it is not known to be one."""
        return None

    def mass(self, outcome: OutputValue, precision: int = 64) -> arb:
        """P(outcome), exactly 0 for anything that is no integer."""
        return self.masses((outcome,), precision)[0]

    def masses(self, outcomes: Collection[OutputValue], precision: int = 64) -> list[arb]:
        whole = [whole_number(outcome) for outcome in outcomes]
        with ctx.workprec(precision + 32):
            densities = iter(self.log_densities([arb(k) for k in whole if k is not None], precision + 32))
            return [arb(0) if k is None else next(densities).exp() for k in whole]

    def tail(self, k: int, precision: int = 64) -> tuple[arb, arb]:
        """Balls around P(X <= k) and P(X >= k)."""
        with ctx.workprec(precision + 32):
            return self._at_least(2 * self.center - k, precision + 32), self._at_least(k, precision + 32)

    def _at_least(self, k: int, precision: int) -> arb:
        distance = k - self.center
        if distance >= 1:
            return self.upper_tail(distance, precision)
        return 1 - self.upper_tail(1 - distance, precision)

    def between(self, low: LinePoint, high: LinePoint, precision: int) -> arb:
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
    return _CENTER.read(value, "center")


@attrs.frozen
class TwoSidedGeometricLaw(IntegerLaw):
    """P(k) = (1 - r) / (1 + r) r^|k - center| with r = e^-decay, on all integers.

    Args:
        center: the mode.
        decay: ln(1/r), an exact number: ``ln(2)`` for the ratio 1/2, the privacy loss epsilon for r = e^-epsilon.

    >>> count = TwoSidedGeometricLaw.with_ratio(7, "1/2")
    >>> str(count.against(TwoSidedGeometricLaw(8, ln(2))).max_log_ratio())
    'ln(2)'
    """

    center: Annotated[int, Integer()] = attrs.field(converter=_whole)
    decay: Number = attrs.field(converter=_decay)

    @classmethod
    def with_ratio(cls, center: int, ratio: NumberLike) -> TwoSidedGeometricLaw:
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
        decay = relative_ball(self.decay, 50)
        try:
            return math.ceil(precision * math.log(2) / float(decay)) + 1
        except (ZeroDivisionError, OverflowError):  # a decay below all doubles; ln(2) < 7/10
            return math.ceil(Fraction(7, 10) * precision / dyadic(decay.lower())) + 1

    def upper_tail(self, distance: int, precision: int) -> arb:
        decay = self.decay.enclose(precision)
        return (-decay * distance).exp() / (1 + (-decay).exp())

    def rational_tail(self, distance: int) -> Fraction | None:
        """r^distance / (1 + r), unless r is irrational or the power too long to be written down."""
        r = self.ratio
        if r is None or distance * r.denominator.bit_length() > _LONGEST_POWER:
            return None
        return r**distance / (1 + r)

    def variance_ball(self, precision: int) -> arb:
        """2 r / (1 - r)^2."""
        ratio = (-self.decay.enclose(precision)).exp()
        return 2 * ratio / (1 - ratio) ** 2

    def probability(self, k: int) -> Fraction:
        """P(k), exactly, for a rational ratio."""
        r = self._rational_ratio()
        return Fraction(1 - r, 1 + r) * r ** abs(k - self.center)

    def at_least(self, k: int) -> Fraction:
        """P(X >= k), exactly, for a rational ratio."""
        r, distance = self._rational_ratio(), k - self.center
        return r**distance / (1 + r) if distance >= 1 else 1 - r ** (1 - distance) / (1 + r)

    def clamped(self, low: int, high: int) -> FiniteLaw:
        """The law of min(max(X, low), high), exactly, for a rational ratio."""
        if low >= high:
            return FiniteLaw.point(low)
        masses: dict[OutputValue, NumberLike] = {k: self.probability(k) for k in range(low + 1, high)}
        return FiniteLaw.of({**masses, low: 1 - self.at_least(low + 1), high: self.at_least(high)})

    def _rational_ratio(self) -> Fraction:
        if self.ratio is None:
            raise NoFormulaError("ratio", "is not rational", "use mass and tail, which enclose", value=f"exp(-({self.decay}))")
        return self.ratio

    def closed_against(self, other: Law) -> Dichotomy | None:
        from dpspec.laws.continuous import geometric_shift

        if is_a(other, TwoSidedGeometricLaw) and other.decay == self.decay:
            return geometric_shift(abs(self.center - other.center), self.decay)
        return None


def _mean_square(rate: arb, precision: int) -> arb:
    """The mean of k^2 under weights e^(-rate k^2) on the integers, for a rate of at least 1/2.

    Beyond the last term n, each term k^2 e^(-rate k^2) is at most a half of the one before.
    """
    last = math.ceil(math.sqrt((precision + 16) / max(float(rate), 0.5))) + 4
    weights = [(-rate * k * k).exp() for k in range(1, last + 1)]
    squares = 2 * sum((k * k * weight for k, weight in enumerate(weights, start=1)), arb(0))
    rest = 2 * last * last * weights[-1]
    above = squares + arb(0, rest.upper())
    return above / (1 + 2 * sum(weights, arb(0)) + arb(0, rest.upper()))


_VARIANCE, _CENTER = Rational(0, open_low=True), Integer()


def _variance(value: NumberLike) -> Fraction:
    return _VARIANCE.read(value, "variance")


@attrs.frozen(cache_hash=True)
class DiscreteGaussianLaw(IntegerLaw):
    """P(k) proportional to exp(-(k - center)^2 / (2 variance)), on all integers.

    `variance` is the parameter sigma^2 of the formula; the variance of the law is slightly smaller.

    >>> noise = DiscreteGaussianLaw(0, "1/2")
    >>> str(noise.against(DiscreteGaussianLaw(1, "1/2")).concentration())
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
        try:
            return math.ceil(math.sqrt(2 * math.log(2) * (precision + 4) * self.variance)) + 1
        except OverflowError:  # a variance beyond all doubles; 2 ln(2) < 7/5
            return math.isqrt(math.ceil(Fraction(7, 5) * (precision + 4) * self.variance)) + 2

    def upper_tail(self, distance: int, precision: int) -> arb:
        return _gaussian_tail(self.variance, distance, precision) / gaussian_normaliser(self.variance, precision)

    def variance_ball(self, precision: int) -> arb:
        r"""The sum of k^2 e^(-k^2/(2 s)) over that of e^(-k^2/(2 s)), s the parameter.

        From s = 1 on by Poisson's summation formula: s - 4 pi^2 s^2 E, E the mean of k^2 under weights e^(-2 pi^2 s k^2).
        """
        parameter = ball(self.variance)
        if self.variance < 1:
            return _mean_square(1 / (2 * parameter), precision)
        pi = arb.pi()
        return parameter - 4 * pi**2 * parameter**2 * _mean_square(2 * pi**2 * parameter, precision)

    def closed_against(self, other: Law) -> Dichotomy | None:

        if is_a(other, DiscreteGaussianLaw) and other.variance == self.variance:
            return DiscreteGaussianShift(self.center - other.center, self.variance)
        return None


@lru_cache(maxsize=512)
def _normaliser(variance: Fraction, offset: Fraction, precision: int) -> arb:
    """The sum over all integers k of exp(-(k - offset)^2 / (2 variance)).

    For a variance of at least 1 by Poisson summation, sqrt(2 pi variance) (1 + 2 sum_j exp(-2 pi^2 variance j^2)
    cos(2 pi j offset)), whose terms fall fast; else directly. What is left out of a sum is at most its first term that is
    left out over 1 minus a bound of the ratio of its terms, both balls. Since 2 pi^2 > 28 ln(2), all terms are below
    2^(1 - precision - 20) where the variance is at least (precision + 20) / 28, and add up to less than twice the first.
    """
    with ctx.workprec(precision + 16):
        if variance >= 1:
            size, negligible = ball(variance), arb(2) ** (-precision - 16)
            scale = (2 * arb.pi() * size).sqrt()
            if 28 * variance >= precision + 20:
                return scale * (1 + hull(-negligible, negligible))
            fall, place = (-2 * arb.pi() ** 2 * size).exp(), 2 * ball(offset)
            total, j = arb(1), 1
            while (term := 2 * fall ** (j * j)) > negligible:
                total += term * (place * j).cos_pi() if offset else term
                j += 1
            rest = term / (1 - fall)
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
        # corrections leave about e^(-2 pi^2 variance) at best; where that is no small part of the tail, few terms add up to it
        fall = min(Fraction(distance * distance) / (2 * variance), Fraction(_DEEPEST))
        if variance <= max(_DIRECT_VARIANCE, precision // 8) or 19 * variance < fall + precision:
            return _half_sum(variance, distance, precision)
        return _euler_maclaurin(variance, distance, precision)


_SHARES: list[fmpq] = []
"""B_2j / (2j)! for j = 1, 2, ...: constants, as far as they were needed."""


def _share(j: int) -> fmpq:
    while len(_SHARES) < j:
        even = 2 * len(_SHARES) + 2
        _SHARES.append(fmpq.bernoulli(even) / math.factorial(even))
    return _SHARES[j - 1]


def _euler_maclaurin(variance: Fraction, start: int, precision: int) -> arb:
    """The sum over k >= start of f(k) = exp(-k^2 / (2 variance)), for a large variance, with few terms.

    int f + f(start)/2 - sum_j B_2j/(2j)! f^(2j-1)(start), with f^(n)(x) = (-sigma)^-n He_n(x/sigma) f(x). The remainder after
    m corrections is at most 2 zeta(2m) / (2 pi)^2m x int |f^(2m)|, and int |He_n(y)| e^(-y^2/2) dy <= sqrt(2 pi n!).
    """
    sigma = ball(variance).sqrt()
    y, curve = start / sigma, arb(fmpq(variance.denominator, variance.numerator))
    slope, height = start * curve, (-(y * y) / 2).exp()
    total = (y / arb(2).sqrt()).erfc() * sigma * (arb.pi() / 2).sqrt() + height / 2
    count = _corrections(float(min(variance, _WIDEST)), float(y), precision)
    before, derivative, series = arb(1), slope, arb(0)
    for n in range(1, 2 * count, 2):  # here derivative = He_n(y) / sigma^n
        series += derivative * _share(n // 2 + 1)
        before, derivative = derivative, slope * derivative - n * curve * before
        before, derivative = derivative, slope * derivative - (n + 1) * curve * before
    rest = 4 * (2 * arb.pi() * math.factorial(2 * count)).sqrt() / (2 * arb.pi()) ** (2 * count) / sigma ** (2 * count - 1)
    least = (y / arb(2).sqrt()).erfc() * sigma * (arb.pi() / 2).sqrt()  # the integral: f falls, so that the sum is at least that
    found = total + series * height + hull(-rest, rest)
    return hull(found.lower().max(least.lower()), found.upper().min((least + height).upper()))


_DEEPEST = 4_000
"""Tails below e^-4000 times the peak are known between two integrals alone."""
_WIDEST = Fraction(10) ** 300
"""Wider laws take no more corrections than this one, whose variance is still a double."""


def _corrections(variance: float, y: float, precision: int) -> int:
    """The number of corrections that bring the bound of the remainder below 2^-precision times the first term, or close to it."""
    wanted = -math.log(2) * precision - min(y * y / 2, _DEEPEST) - math.log(variance) / 2 - 3
    fall = math.log(4 * math.pi**2 * variance)
    count = 1
    most = precision + _DEEPEST // 4
    while math.lgamma(2 * count + 1) / 2 - count * fall > wanted and math.log(2 * count + 2) < fall and count < most:
        count += 1
    return count


_FARTHEST = 10**150
"""A start farther away takes no more terms than this one, whose square is still a double."""


def _half_sum(variance: Fraction, start: int | Fraction, precision: int) -> arb:
    """The sum over i >= 0 of exp(-(start + i)^2 / (2 variance)), for start > -1.

    Terms are products: their ratios fall by the factor exp(-1/variance) each time. So many are added up that the next one is
    about 2^(-precision - 16) times the first.
    """
    with ctx.workprec(ctx.prec + 16):
        rate, point = arb(fmpq(-variance.denominator, 2 * variance.numerator)), ball(start)
        term, ratio, fall = (rate * point * point).exp(), (rate * (2 * point + 1)).exp(), (2 * rate).exp()
        total, far = arb(0), float(min(max(start, 0), _FARTHEST))
        count = math.ceil(math.sqrt(far * far + 2 * (precision + 16) * math.log(2) * float(variance)) - far) + 1
        while count > 0 or not ratio < 1:
            total += term
            term *= ratio
            ratio *= fall
            count -= 1
        return total + hull(arb(0), (term / (1 - ratio)).upper())


def theta_log_ratio(variance: Fraction, offset: Fraction, precision: int) -> arb:
    """ln of sum_k exp(-(k - offset)^2 / (2 variance)) over the same sum with offset 0; at most 0."""
    reduced = rational(offset) - math.floor(offset)
    return _log_normaliser(variance, reduced, precision) - _log_normaliser(variance, _CENTERED, precision)


# --- shifts of discrete Gaussian noise: two tails decide the hockey stick -------------------------


_WALK = 64
_FEW = 8
_NEAR = 1 / 16
_LARGEST = 700
"""The exponent at which e^epsilon leaves the range of doubles."""
_ROOT_TWO = math.sqrt(2)


@attrs.frozen
class DiscreteGaussianShift(Dichotomy, Growth):
    """Two discrete Gaussians of one variance at integer centers with difference `shift`.

    D_alpha = alpha shift^2 / (2 variance) + ln(Z(theta) / Z(0)) / (alpha - 1), where Z(theta) is the normaliser of the lattice
    displaced by theta = (alpha - 1) shift. Z(theta) <= Z(0), with equality when theta is an integer; so
    D_alpha / alpha <= shift^2 / (2 variance), with equality at integer orders and in the limit 1.

    >>> str(DiscreteGaussianShift(3, Fraction(4)).concentration())
    '9/8'
    """

    shift: int
    variance: Fraction

    def reverse(self) -> DiscreteGaussianShift:
        return self

    @property
    def is_linear_in_order(self) -> bool:
        return True

    @property
    def _rate(self) -> Fraction:
        return self.shift**2 / (2 * self.variance)

    @property
    def _picture(self) -> LocationSandwich:
        near, far = DiscreteGaussianLaw(0, self.variance), DiscreteGaussianLaw(abs(self.shift), self.variance)
        return LocationSandwich.of_parts(near.parts(), far.parts())

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        return INFINITE

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        return Bracket.exactly(0)

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        """By two tails, with more bits until there is one that counts: far out the tails are small, and known to 2^-bits only."""
        for working in (precision + 64, 8 * precision, 64 * precision):
            found = self._from_tails(epsilon, working)
            if found.lower > 0:
                break
        return found

    def _from_tails(self, epsilon: Number, working: int) -> Bracket:
        shift = abs(self.shift)
        with ctx.workprec(working):
            cut = ball(Fraction(shift, 2)) - epsilon.enclose(working) * ball(self.variance / shift)
            factor = ball_exponential(epsilon, working)
            last = {math.ceil(dyadic(end)) - 1 for end in (cut.lower(), cut.upper())}
            norm = gaussian_normaliser(self.variance, working)
            return gain_of([(p / norm, q / norm) for p, q in (self._below(m, working) for m in last)], factor)

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        """ln((P(X <= m) - delta) / Q(X <= m)) for the m between whose loss and the next one it lies: with few bits more than are
        wanted, and where differences cancel with many."""
        try:
            m = self._guess(math.log(delta.numerator) - math.log(delta.denominator), abs(self.shift))
        except (OverflowError, ZeroDivisionError):  # a variance that no double holds
            return Dichotomy._epsilon_at(self, delta, precision)
        found = None
        for working in (precision + 32, precision + 64 + delta.denominator.bit_length()):
            with ctx.workprec(working):
                epsilon = self._walked(m, delta, working)
                if epsilon is not None:
                    found = Bracket.around(epsilon, least=0)
                    if epsilon.rel_accuracy_bits() > precision or epsilon < 0:
                        break
        return Dichotomy._epsilon_at(self, delta, precision) if found is None else found

    def _walked(self, m: int, delta: Fraction, working: int) -> arb | None:
        """The same from one m on in either direction, as far as a few steps lead."""
        shift, rate = abs(self.shift), self._rate_ball()
        spent = ball(delta) * gaussian_normaliser(self.variance, working)
        p, q = self._below(m, working)
        for _ in range(_WALK):
            epsilon = ((p - spent) / q).log() if p > spent else arb.neg_inf()
            if not epsilon > rate * (shift * (2 * m + 2 - shift)):
                m += 1
                p, q = p + (rate * (m * m)).exp(), q + (rate * (m - shift) ** 2).exp()
            elif not epsilon < rate * (shift * (2 * m - shift)):
                p, q = p - (rate * (m * m)).exp(), q - (rate * (m - shift) ** 2).exp()
                m -= 1
            else:
                return epsilon
        return None

    def _below(self, m: int, precision: int) -> tuple[arb, arb]:
        """P(X <= m) and Q(X <= m), times the normaliser: these are the masses of the losses from the one at m on."""
        shift = abs(self.shift)
        far = gaussian_sums(self.variance, shift - m, precision)
        if shift > _FEW:
            return gaussian_sums(self.variance, -m, precision), far
        rate = self._rate_ball()
        return sum(((rate * (k * k)).exp() for k in range(-m, shift - m)), far), far

    def _rate_ball(self) -> arb:
        """-1/(2 variance): the loss at k is this times shift (2 k - shift)."""
        return arb(fmpq(-self.variance.denominator, 2 * self.variance.numerator))

    def _guess(self, log_delta: float, shift: int) -> int:
        """About the m of a delta: Newton's method on the logarithm of the Gaussian curve, from the right, in doubles."""
        variance = float(self.variance)
        root = shift / math.sqrt(variance)
        epsilon = root * root / 2 + root * math.sqrt(-2 * log_delta)
        for _ in range(_WALK):
            if epsilon > _LARGEST:
                break
            near = math.erfc((epsilon / root - root / 2) / _ROOT_TWO) / 2
            far = math.exp(epsilon) * math.erfc((epsilon / root + root / 2) / _ROOT_TWO) / 2
            if not 0 < far < near:
                break
            step = (math.log(near - far) - log_delta) * (near - far) / far
            epsilon += step
            if abs(step) * variance < _NEAR * shift:
                break
        return math.floor(shift / 2 - epsilon * variance / shift)

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        offset = (order - 1) * self.shift
        if offset.denominator == 1:
            return Bracket.exactly(order * self._rate)
        working = 2 * precision + 64
        with ctx.workprec(working):
            value = ball(order * self._rate) + theta_log_ratio(self.variance, offset, working) / ball(order - 1)
            bracket = Bracket.around(value, least=0)
        return Bracket(lower=bracket.lower, upper=min(bracket.upper, number(order * self._rate)))

    def _concentration(self, precision: int) -> Bracket:
        return Bracket.exactly(self._rate)

    def cells(self, precision: int) -> Cells:
        return _cells_of_shift(abs(self.shift), self.variance, precision)


@memoize(maxsize=16)
def _cells_of_shift(shift: int, variance: Fraction, precision: int) -> Cells:
    """The cells of two wide laws: of many answers of a table that moves by one they are the same."""
    found = DiscreteGaussianShift(shift, variance)._picture.cells(precision)
    spend(_WORK_OF_A_CELL * len(found))
    return found


_WORK_OF_A_CELL = 40
"""Units of work of the four tails of a cell, each of which is a series."""


# --- staircases ---------------------------------------------------------------------------------------


_MOST_PIECES = 1 << 14


@attrs.frozen
class StaircaseLaw(AtomicLaw):
    """The density, or mass on the integers, proportional to e^-(decay k(|t - center|)), with k growing in steps:

        k(d) = floor(d / width), and one more where the rest of the division is `inner` or more

    (Geng and Viswanath 2014). The ratio of two of one shape takes few values, and outside the two centers it repeats itself with
    every step; so a pair is one of finite laws, exactly.

    Args:
        center: the mode.
        width: of a step, down to e^-decay of the height.
        inner: the width of its first, higher part, more than 0 and at most `width`.
        decay: such that e^decay is an exact number.
        is_whole: whether the law is on the integers; center, width and inner are whole numbers then.

    >>> one, other = (StaircaseLaw(center, 2, 1, ln(3)) for center in (0, 2))
    >>> str(one.against(other).max_log_ratio()), str(one.against(other).hockey_stick(0))
    ('ln(3)', '4/9')
    """

    center: Fraction = attrs.field(converter=Fraction)
    width: Fraction = attrs.field(converter=Fraction)
    inner: Fraction = attrs.field(converter=Fraction)
    decay: Number = attrs.field(converter=_decay)
    is_whole: bool = True

    def __attrs_post_init__(self) -> None:
        exact_exponential(self.decay)  # refuses what has no exact powers
        if not 0 < self.inner <= self.width:
            raise ParameterError("inner", f"must be more than 0 and at most the width {self.width}", value=self.inner)
        if self.is_whole and any(part.denominator > 1 for part in (self.center, self.width, self.inner)):
            raise ParameterError("staircase", "has a whole center and whole steps on the integers", "use it on the line")

    def level(self, distance: Fraction) -> int:
        """k of a distance from the center."""
        return int(distance // self.width) + (distance % self.width >= self.inner)

    def window(self, precision: int) -> Sequence[int]:
        if not self.is_whole:
            raise NoFormulaError("staircase on the line", "has no atoms", "compare it with one of the same steps")
        steps = math.ceil(precision * math.log(2) / float(self.decay)) + 1
        reach = min(int(steps * self.width), _MOST_PIECES)
        return range(int(self.center) - reach, int(self.center) + reach + 1)

    def mass(self, outcome: OutputValue, precision: int = 64) -> arb:
        k = whole_number(outcome)
        if k is None or not self.is_whole:
            return arb(0)
        fall = exact_exponential(-self.decay)
        one_side = (self.inner + (self.width - self.inner) * fall) / (1 - fall)
        height = exact_exponential(-self.decay * self.level(abs(k - self.center)))
        return (height / (2 * one_side - 1)).enclose(precision + 32)

    def closed_against(self, other: Law) -> Dichotomy | None:
        if not is_a(other, StaircaseLaw) or attrs.evolve(other, center=self.center) != self:
            return None
        before, after = (
            finite_law({by: self._heights(lengths) for by, lengths in side.items()}, normalise=True)
            for side in self._pieces(other.center)
        )
        return before.against(after)

    def _heights(self, lengths: Mapping[tuple[int, bool], Fraction]) -> Exponential:
        """The sum of lengths times heights, those that begin a tail with all that follows them, every width one step lower."""
        every = 1 / (1 - exact_exponential(-self.decay))
        terms = (
            exact_exponential(-self.decay * k) * length * (every if is_tail else 1) for (k, is_tail), length in lengths.items()
        )
        return sum(terms, Exponential())

    def _pieces(self, other: Fraction) -> tuple[Any, Any]:
        """For either law, by the difference of the numbers of steps: how long the pieces of each height are."""
        low, high = sorted((self.center, other))
        if (high - low) / self.width > _MOST_PIECES:
            raise NoFormulaError("staircase", f"is compared at {_MOST_PIECES:,} steps apart at most", "choose wider steps")
        found: tuple[Any, Any] = defaultdict(Counter), defaultdict(Counter)
        for begin, length, point in self._flat(low - self.width, high + self.width, (low, high)):
            levels = [self.level(abs(point - center)) for center in (self.center, other)]
            for side, level in zip(found, levels, strict=True):
                side[levels[0] - levels[1]][level, begin < low or begin >= high] += length
        return found

    def _flat(
        self, low: Fraction, high: Fraction, centers: tuple[Fraction, Fraction]
    ) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
        """The start and the length of the pieces between two ends, and a point in each."""
        ends, first = (
            {low, high},
            Fraction(int(self.is_whole)),
        )  # on the integers a distance is first reached, on the left, one later
        for center in centers:
            for offset in {Fraction(0), self.inner, first, first - self.inner}:
                least = math.ceil((low - center - offset) / self.width)
                ends |= {center + offset + self.width * k for k in range(least, int((high - center - offset) // self.width) + 1)}
        for begin, end in itertools.pairwise(sorted(ends)):
            yield begin, end - begin, begin if self.is_whole else (begin + end) / 2
