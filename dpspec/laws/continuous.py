"""Laws on the line: Laplace and Gaussian noise, by their closed forms."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import attrs
from flint import arb, ctx

from dpspec.errors import NumericalError, ParameterError
from dpspec.exact import Number, NumberLike, ball, number, rational
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.law import Law
from dpspec.laws.location import LocationLaw, Point
from dpspec.laws.route import Kind
from dpspec.params import Exact

_BITS_PER_CELL = 16


class LineLaw(LocationLaw):
    """A symmetric law with a density that falls away from its center."""

    kind: ClassVar[Kind] = Kind.LINE
    on_integers: ClassVar[bool] = False
    center: Fraction

    @abstractmethod
    def upper_tail(self, distance: arb, precision: int) -> arb:
        """P(X > center + distance) for a ball of distances of at least 0."""

    @abstractmethod
    def spread(self) -> float:
        """The distance by which breakpoints are scaled."""

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

    def between(self, low: Point, high: Point, precision: int) -> arb:
        if low is not None and low >= self.center:
            return self._above(low, precision) - self._above(high, precision)
        if high is not None and high <= self.center:
            return self._below(high, precision) - self._below(low, precision)
        return 1 - self._below(low, precision) - self._above(high, precision)

    def _above(self, point: Point, precision: int) -> arb:
        return arb(0) if point is None else self.upper_tail(ball(Fraction(point - self.center)), precision)

    def _below(self, point: Point, precision: int) -> arb:
        return arb(0) if point is None else self.upper_tail(ball(Fraction(self.center - point)), precision)

    def breakpoints(self, precision: int) -> Sequence[Fraction]:
        # The span grows with the precision, so the number of cells grows faster: each of them must shrink.
        count = precision**2 // _BITS_PER_CELL
        step = Fraction(_dyadic(self.spread() * self.span(precision) / count))
        return [self.center + step * i for i in range(-count, count + 1)]


def _dyadic(value: float) -> Fraction:
    """A nearby number with few bits, so that breakpoints stay short."""
    mantissa, exponent = math.frexp(value)
    return Fraction(math.ceil(mantissa * 256)) * Fraction(2) ** (exponent - 8)


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
class Laplace(LineLaw):
    """Density exp(-|t - center| / scale) / (2 scale).

    Args:
        center: the mode.
        scale: b, rational or the square root of a rational; for 1/ln(3) and the like use `with_decay`.

    >>> str(Laplace(0, 2).against(Laplace(1, 2)).max_log_ratio())
    '1/2'
    """

    center: Fraction
    decay: Number

    def __init__(self, center: NumberLike, scale: NumberLike) -> None:
        self.__attrs_init__(_center(center), _invertible(scale, "scale"))

    @classmethod
    def with_decay(cls, center: NumberLike, decay: NumberLike) -> Laplace:
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

    def spread(self) -> float:
        return 1 / float(self.decay)

    def span(self, precision: int) -> float:
        return precision * math.log(2)

    def closed_against(self, other: Law) -> Dichotomy | None:
        from dpspec.laws.shifts import LaplaceShift

        if isinstance(other, Laplace) and other.decay == self.decay:
            return LaplaceShift(self.decay * abs(self.center - other.center))
        return None


@attrs.frozen(init=False, repr=False)
class Gaussian(LineLaw):
    """Density exp(-(t - center)^2 / (2 variance)) / sqrt(2 pi variance).

    Args:
        center: the mean.
        variance: sigma^2, rational or the square root of a rational.

    >>> str(Gaussian(0, 4).against(Gaussian(1, 4)).concentration())
    '1/8'
    """

    center: Fraction
    accuracy: Number

    def __init__(self, center: NumberLike, variance: NumberLike) -> None:
        self.__attrs_init__(_center(center), _invertible(variance, "variance"))

    @classmethod
    def with_accuracy(cls, center: NumberLike, accuracy: NumberLike) -> Gaussian:
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

    def spread(self) -> float:
        return 1 / math.sqrt(float(self.accuracy))

    def span(self, precision: int) -> float:
        return math.sqrt(2 * math.log(2) * precision)

    def closed_against(self, other: Law) -> Dichotomy | None:
        from dpspec.laws.shifts import GaussianShift, UnequalGaussians

        if not isinstance(other, Gaussian):
            return None
        if other.accuracy == self.accuracy:
            return GaussianShift(self.accuracy * (self.center - other.center) ** 2)
        return UnequalGaussians.of_laws(self, other)
