"""Laws on the line: Laplace and Gaussian noise, by their closed forms.

The pairs of one noise law at two centers, which additive noise makes, are in closed form.
Every pair here is symmetric (turning it round gives an equal dichotomy) except two Gaussians of unequal variance.
"""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import ClassVar

import attrs
from flint import arb, arb_series, ctx

from dpspec.base.errors import NumericalError, ParameterError
from dpspec.base.exact import Bracket, Number, NumberLike, ln, number, rational
from dpspec.base.log_linear import MOST_BITS, ball, bits, dyadic
from dpspec.base.params import Exact
from dpspec.base.promises import is_a
from dpspec.laws.atoms import IDENTICAL, FiniteDichotomy, Sandwich
from dpspec.laws.cumulant import Cumulant, Derivatives, enclosed_limit, supremum
from dpspec.laws.dichotomy import INFINITE, BallDichotomy, Cell, Cells, Dichotomy, Growth, Joinable, gain_of
from dpspec.laws.law import Kind, Law, LocationLaw, LocationSandwich
from dpspec.laws.location import LinePoint
from dpspec.laws.numeric import ball_exponential, normal_cdf, rational_exponential

_BITS_PER_CELL = 16


class LineLaw(LocationLaw):
    """A symmetric law with a density that falls away from its center."""

    kind: ClassVar[Kind] = Kind.LINE
    center: Fraction

    @abstractmethod
    def upper_tail(self, distance: arb, precision: int) -> arb:
        """P(X > center + distance) for a ball of distances of at least 0."""

    @abstractmethod
    def spread(self) -> Fraction:
        """The distance by which breakpoints are scaled: about the scale, exact in size however small or large it is."""

    @abstractmethod
    def span(self, precision: int) -> float:
        """A multiple of `spread` beyond which about 2^-precision of the mass lies."""

    def density(self, point: NumberLike, precision: int = 64) -> arb:
        """A ball around the density at a rational point."""
        with ctx.workprec(precision + 32):
            return self.log_density(ball(rational(point)), precision + 32).exp()

    def cdf(self, point: NumberLike, precision: int = 64) -> arb:
        """A ball around P(X <= point)."""
        with ctx.workprec(precision + 32):
            return self.between(None, rational(point), precision + 32)

    def between(self, low: LinePoint, high: LinePoint, precision: int) -> arb:
        if low is not None and low >= self.center:
            return self._above(low, precision) - self._above(high, precision)
        if high is not None and high <= self.center:
            return self._below(high, precision) - self._below(low, precision)
        return 1 - self._below(low, precision) - self._above(high, precision)

    def _above(self, point: LinePoint, precision: int) -> arb:
        return arb(0) if point is None else self.upper_tail(ball(Fraction(point - self.center)), precision)

    def _below(self, point: LinePoint, precision: int) -> arb:
        return arb(0) if point is None else self.upper_tail(ball(Fraction(self.center - point)), precision)

    def breakpoints(self, precision: int) -> Sequence[Fraction]:
        # The span grows with the precision, so the number of cells grows faster: each of them must shrink.
        count = precision**2 // _BITS_PER_CELL
        scaled = self.spread() * Fraction(self.span(precision)) / count
        grain = _grain(scaled, _STEP_BITS)
        step = math.ceil(scaled / grain) * grain  # few bits, so that breakpoints stay short
        return [self.center + step * i for i in range(-count, count + 1)]


_STEP_BITS, _DOUBLE_BITS = 8, 53


def _grain(value: Fraction, bits: int) -> Fraction:
    """The power of 2 of which a positive number is a multiple with so many bits."""
    size = value.numerator.bit_length() - value.denominator.bit_length()
    return Fraction(2) ** (size + (value >= Fraction(2) ** size) - bits)


def _rounded(value: arb) -> Fraction:
    """A number within a ball of positive numbers, with as many bits as a double and any exponent."""
    middle = dyadic(value.mid())
    grain = _grain(middle, _DOUBLE_BITS)
    return round(middle / grain) * grain


def _center(value: NumberLike) -> Fraction:
    return rational(value, "center")


def _invertible(value: NumberLike, subject: str) -> Number:
    """1/value of a positive exact number whose inverse is one."""
    read: Number = Exact(0, open_low=True).read(value, subject)
    try:
        return number(1) / read
    except NumericalError:
        raise ParameterError(
            subject, "must be rational or the square root of a rational", "give its inverse to the other constructor", value=read
        ) from None


@attrs.frozen(init=False, repr=False)
class LaplaceLaw(LineLaw):
    """Density exp(-|t - center| / scale) / (2 scale).

    Args:
        center: the mode.
        scale: b, rational or the square root of a rational; for 1/ln(3) and the like use `with_decay`.

    >>> str(LaplaceLaw(0, 2).against(LaplaceLaw(1, 2)).max_log_ratio())
    '1/2'
    """

    center: Fraction
    decay: Number
    _hash: int = attrs.field(init=False, eq=False)
    """Computed once: a proof about thousands of cells looks up the same few laws hundreds of thousands of times."""

    @_hash.default
    def _hashed(self) -> int:
        return hash((LaplaceLaw, self.center, self.decay))

    def __hash__(self) -> int:
        return self._hash

    def __init__(self, center: NumberLike, scale: NumberLike) -> None:
        self.__attrs_init__(_center(center), _invertible(scale, "scale"))

    @classmethod
    def with_decay(cls, center: NumberLike, decay: NumberLike) -> LaplaceLaw:
        """The law with the given decay 1/scale, such as ``ln(3)``."""
        law = cls.__new__(cls)
        law.__attrs_init__(_center(center), Exact(0, open_low=True).read(decay, "decay"))
        return law

    def __repr__(self) -> str:
        return f"Laplace.with_decay({str(self.center)!r}, {str(self.decay)!r})"

    @property
    def curvature(self) -> Number:
        return number(0)

    @property
    def slope(self) -> Number:
        return self.decay

    def log_peak(self, precision: int) -> arb:
        return (self.decay.enclose(precision) / 2).log()

    def upper_tail(self, distance: arb, precision: int) -> arb:
        return (-self.decay.enclose(precision) * distance).exp() / 2

    def variance_ball(self, precision: int) -> arb:
        """2 b^2."""
        return 2 / self.decay.enclose(precision) ** 2

    def spread(self) -> Fraction:
        return _rounded(1 / self.decay.enclose())

    def span(self, precision: int) -> float:
        return precision * math.log(2)

    def closed_against(self, other: Law) -> Dichotomy | None:

        if is_a(other, LaplaceLaw) and other.decay == self.decay:
            return LaplaceShift(self.decay * abs(self.center - other.center))
        return None


@attrs.frozen(init=False, repr=False)
class GaussianLaw(LineLaw):
    """Density exp(-(t - center)^2 / (2 variance)) / sqrt(2 pi variance).

    Args:
        center: the mean.
        variance: sigma^2, rational or the square root of a rational.

    >>> str(GaussianLaw(0, 4).against(GaussianLaw(1, 4)).concentration())
    '1/8'
    """

    center: Fraction
    accuracy: Number

    def __init__(self, center: NumberLike, variance: NumberLike) -> None:
        self.__attrs_init__(_center(center), _invertible(variance, "variance"))

    @classmethod
    def with_accuracy(cls, center: NumberLike, accuracy: NumberLike) -> GaussianLaw:
        """The law with the given 1/variance."""
        law = cls.__new__(cls)
        law.__attrs_init__(_center(center), Exact(0, open_low=True).read(accuracy, "accuracy"))
        return law

    def __repr__(self) -> str:
        return f"Gaussian.with_accuracy({str(self.center)!r}, {str(self.accuracy)!r})"

    @property
    def curvature(self) -> Number:
        return self.accuracy / 2

    @property
    def slope(self) -> Number:
        return number(0)

    def log_peak(self, precision: int) -> arb:
        return (self.accuracy.enclose(precision) / (2 * arb.pi())).log() / 2

    def upper_tail(self, distance: arb, precision: int) -> arb:
        return (distance * (self.accuracy.enclose(precision) / 2).sqrt()).erfc() / 2

    def variance_ball(self, precision: int) -> arb:
        """sigma^2."""
        return 1 / self.accuracy.enclose(precision)

    def spread(self) -> Fraction:
        return _rounded(1 / self.accuracy.enclose().sqrt())

    def span(self, precision: int) -> float:
        return math.sqrt(2 * math.log(2) * precision)

    def closed_against(self, other: Law) -> Dichotomy | None:

        if not is_a(other, GaussianLaw):
            return None
        if other.accuracy == self.accuracy:
            return GaussianShift(self.accuracy * (self.center - other.center) ** 2)
        return UnequalGaussians.of_laws(self, other)


# --- closed forms ---------------------------------------------------------------------------------


_MOST_EXACT = 256
_MOST_BITS = 1 << 20
"""Exact atoms have at most so many bits in all, and exact powers."""
_MOST_ATOMS = 2048
_BINS_PER_BIT = 8


def geometric_shift(shift: int, decay: Number) -> Dichotomy:
    """Two-sided geometric noise at centers with difference `shift` >= 0: the likelihood ratio takes shift + 1 values.

    Below both centers ln(dP/dQ) is decay x shift, above both minus that, and between them it falls by 2 x decay from
    one integer to the next. With P centered at 0 and Q at the shift, P(X <= 0) = 1/(1+r) and P(X >= k) = r^k/(1+r).

    >>> str(geometric_shift(2, ln(2)).max_log_ratio())
    'ln(4)'
    """
    if shift == 0:
        return IDENTICAL
    r = rational_exponential(-decay) if decay.root == 1 else None
    if r is not None and shift <= _MOST_EXACT and shift**2 * bits(r) <= _MOST_BITS:
        tails = [1 / (1 + r), r**shift / (1 + r)]
        inner = [(1 - r) / (1 + r) * r**k for k in range(1, shift)]
        p = [tails[0], *inner, tails[1]]
        return FiniteDichotomy.of(zip(p, reversed(p), strict=True))
    top = Bracket.exactly(decay * shift)

    def cells_at(precision: int) -> Cells:
        return _geometric_cells(shift, decay.enclose(precision + 32))

    if shift <= _MOST_ATOMS:
        return BallDichotomy(cells_at, top, top)
    return Sandwich.of(cells_at, top, top)


def _geometric_cells(shift: int, decay: arb) -> Cells:
    """Atoms, or runs of them when there are many."""
    whole = 1 + (-decay).exp()
    step = -(-shift // _MOST_ATOMS)
    cells = [_constant((1 / whole), (-decay * shift).exp() / whole, decay * shift)]
    for first in range(1, shift, step):
        last = min(first + step, shift) - 1
        p = ((-decay * first).exp() - (-decay * (last + 1)).exp()) / whole
        q = ((-decay * (shift - last)).exp() - (-decay * (shift - first + 1)).exp()) / whole
        cells.append(Cell(p, q, (decay * (shift - 2 * last)).lower(), (decay * (shift - 2 * first)).upper()))
    return (*cells, cells[0].turned())


def _constant(p: arb, q: arb, log_ratio: arb) -> Cell:
    return Cell(p, q, log_ratio.lower(), log_ratio.upper())


@attrs.frozen
class GaussianShift(Dichotomy, Growth, Joinable):
    """Two Gaussians of one variance whose means differ by mu standard deviations.

    D_alpha = alpha mu^2 / 2; the hockey stick is Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu).

    Args:
        mu_squared: mu^2 > 0, exactly.

    >>> str(GaussianShift(number("1/4")).renyi(3))
    '3/8'
    """

    mu_squared: Number

    def reverse(self) -> GaussianShift:
        return self

    @property
    def is_gaussian(self) -> bool:
        return True

    @functools.cached_property
    def _known_mu(self) -> dict[int, arb]:
        return {}

    def _mu(self, precision: int) -> arb:
        """mu as a ball, computed once: the exact sum of many squares is a fraction of many digits."""
        if precision not in self._known_mu:
            with ctx.workprec(precision):
                self._known_mu[precision] = self.mu_squared.enclose(precision).sqrt()
        return self._known_mu[precision]

    @functools.cached_property
    def _square(self) -> Bracket:
        """mu^2; a bracket where it has too many digits to be worked with."""
        return Bracket.exactly(self.mu_squared)

    def joined(self, other: Dichotomy) -> Dichotomy | None:
        if not isinstance(other, GaussianShift):
            return None
        try:
            return GaussianShift(self.mu_squared + other.mu_squared)
        except NumericalError:
            return None

    @property
    def is_linear_in_order(self) -> bool:
        return True

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        return INFINITE

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        return Bracket.exactly(0)

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        working = precision + 64
        with ctx.workprec(working):
            mu, threshold = self._mu(working), epsilon.enclose(working)
            near, far = mu / 2 - threshold / mu, -mu / 2 - threshold / mu
            return gain_of([(normal_cdf(near), normal_cdf(far))], ball_exponential(epsilon, working))

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        return self._square.scaled(order / 2)

    def _concentration(self, precision: int) -> Bracket:
        return self._square.scaled(Fraction(1, 2))

    def cells(self, precision: int) -> Cells:
        accuracy = self.mu_squared
        near, far = GaussianLaw.with_accuracy(0, accuracy), GaussianLaw.with_accuracy(1, accuracy)
        return LocationSandwich.of_parts(near.parts(), far.parts()).cells(precision)


@attrs.frozen(eq=False)
class UnequalGaussians(LocationSandwich):
    """Two Gaussians of different variance: Renyi divergences in closed form, the rest by cells.

    With s2 = (1 - alpha) var_p + alpha var_q, D_alpha = alpha shift^2 / (2 s2) + ln(s2 / (var_p^(1-alpha) var_q^alpha))
    / (2 (1 - alpha)), infinite when s2 <= 0.
    """

    p: GaussianLaw
    q: GaussianLaw

    @classmethod
    def of_laws(cls, p: GaussianLaw, q: GaussianLaw) -> UnequalGaussians:
        base = LocationSandwich.of_parts(p.parts(), q.parts())
        return cls(base.lowers, base.uppers, base.raw, base.p_parts, base.q_parts, p, q)

    def reverse(self) -> UnequalGaussians:
        return UnequalGaussians.of_laws(self.q, self.p)

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        # In terms of 1/variance: s2 > 0 exactly when order / var_p > (order - 1) / var_q.
        if self.p.accuracy * order <= self.q.accuracy * (order - 1):
            return INFINITE
        shift = ball((self.p.center - self.q.center) ** 2)
        with ctx.workprec(precision + 64):
            p_variance = 1 / self.p.accuracy.enclose(precision + 64)
            q_variance = 1 / self.q.accuracy.enclose(precision + 64)
            if order == 1:
                ratio = p_variance / q_variance
                return Bracket.around((ratio + shift / q_variance - 1 - ratio.log()) / 2, least=0)
            alpha = ball(order)
            mixed = (1 - alpha) * p_variance + alpha * q_variance
            logs = mixed.log() - (1 - alpha) * p_variance.log() - alpha * q_variance.log()
            return Bracket.around(alpha * shift / (2 * mixed) + logs / (2 * (1 - alpha)), least=0)

    def _concentration(self, precision: int) -> Bracket:
        bracket = LocationSandwich._concentration(self, precision)
        return Bracket(lower=max(bracket.lower, self.renyi(1, precision=precision).lower), upper=bracket.upper)


@attrs.frozen
class LaplaceShift(Dichotomy, Growth):
    """Two Laplace laws of one scale whose centers differ by t scales.

    max_log_ratio = t; hockey stick 1 - e^((eps - t)/2) for |eps| <= t;
    D_alpha = ln( alpha/(2 alpha - 1) e^((alpha-1) t) + (alpha-1)/(2 alpha - 1) e^(-alpha t) ) / (alpha - 1).

    >>> str(LaplaceShift(number(1)).epsilon_at("1/10"))
    '1 - 2*ln(10/9)'
    """

    t: Number

    def reverse(self) -> LaplaceShift:
        return self

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        return Bracket.exactly(self.t)

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        if epsilon < 0 and self.t <= -epsilon:
            whole = rational_exponential(epsilon)
            if whole is not None:
                return Bracket.exactly(1 - whole)
            with ctx.workprec(precision + 32):
                return Bracket.around(1 - ball_exponential(epsilon, precision + 32), least=0)
        root = _rational_decay(epsilon, self.t)
        if root is not None:
            return Bracket.exactly(1 - root)
        with ctx.workprec(precision + 32):
            gap = epsilon.enclose(precision + 32) - self.t.enclose(precision + 32)
            return Bracket.around(-(gap / 2).expm1(), least=0)

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        if self.t.root == 2:
            return Dichotomy._epsilon_at(self, delta, precision)
        return Bracket.exactly(max(number(0), self.t + ln(1 - delta) * 2))

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        factor = rational_exponential(self.t) if self.t.root == 1 else None
        if order == 1 and factor is not None:
            return Bracket.exactly(self.t + (1 / factor - 1))
        if order.denominator == 1 and factor is not None and order * bits(factor) <= MOST_BITS:
            n = int(order)
            mean = (n * factor ** (n - 1) + (n - 1) / factor**n) / (2 * n - 1)
            return Bracket.exactly(ln(mean) / (n - 1))
        working = 2 * precision + 64
        with ctx.workprec(working):
            cumulant = self._cumulant(working)
            if order == 1:
                return enclosed_limit(cumulant)
            return Bracket.around(cumulant.value(ball(order - 1)) / ball(order - 1), least=0)

    def cumulant(self, precision: int) -> Callable[[int], Cumulant]:
        return self._cumulant

    def _concentration(self, precision: int) -> Bracket:
        found = supremum(self._cumulant, top=self.t, precision=precision)
        return self.renyi(1, precision=precision) if found is None else found

    def _cumulant(self, precision: int) -> Cumulant:
        return _LaplaceCumulant(self.t.enclose(precision))

    def cells(self, precision: int) -> Cells:
        """The two outer parts, where the ratio is constant, and bins between the centers."""
        t, bins = self.t.enclose(precision + 32), _BINS_PER_BIT * precision
        outer = _constant(arb(1) / 2, (-t).exp() / 2, t)
        cells = [outer]
        for i in range(bins):
            a, b = t * i / bins, t * (i + 1) / bins
            p = ((-a).exp() - (-b).exp()) / 2
            q = ((b - t).exp() - (a - t).exp()) / 2
            cells.append(Cell(p, q, (t - 2 * b).lower(), (t - 2 * a).upper()))
        return (*cells, outer.turned())


def _rational_decay(epsilon: Number, t: Number) -> Fraction | None:
    """e^((epsilon - t)/2) when it is rational."""
    try:
        return rational_exponential((epsilon - t) / 2)
    except NumericalError:
        return None


@attrs.frozen
class _LaplaceCumulant(Cumulant):
    """K(s) = ln( (1 + s) e^(s t) + s e^(-(1 + s) t) ) - ln(1 + 2 s), with e^(s t) taken out of the logarithm."""

    t: arb

    def value(self, s: arb) -> arb:
        return s * self.t + (1 + s + s * (-(1 + 2 * s) * self.t).exp()).log() - (1 + 2 * s).log()

    def derivatives(self, s: arb) -> Derivatives:
        order = 5
        x = arb_series([s, 1], prec=order)
        falling = arb_series([-(1 + 2 * s) * self.t, -2 * self.t], prec=order).exp()
        series = x * self.t + (1 + x + x * falling).log() - (1 + 2 * x).log()
        return series[1], 2 * series[2], 6 * series[3], 24 * series[4]
