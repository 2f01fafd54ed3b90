"""Sums of independent losses on a grid, tilted so that doubles resolve the tail that is asked for, with the error of the FFT.

The laws are multiplied by e^(c loss). The transforms have the error of Higham (Accuracy and Stability of Numerical Algorithms,
Theorem 24.2), at most 7 u log2(n) in the relative 2-norm for twiddles that are correct to one unit; 16 is counted. What leaves
the window is bounded by Chernoff.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import attrs
import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from dpspec.forms import ceiling_of, floor_of
from dpspec.laws.pieces import EXP_ERROR, UNIT, Floats, total
from dpspec.laws.spread import Spread, summed

_TINY = 2.0**-200
"""More than all that underflows: a sum of at most 2^64 numbers below 2^-1000."""

_LARGEST_VARIANCE = 1 / 256
_GAP = Fraction(17, 16)
_RATES = 12
_FAR = 48.0
"""Terms of a sum below e^-48 of the largest are bounded together."""


@attrs.frozen(eq=False)
class Tilted:
    """The law of a composed loss, tilted: masses at consecutive grid points, e^(tilt loss - log_norm) times the true ones.

    Args:
        tilt: positive.
        norm_error: the relative error that the masses inherit from those of the factors.
        noise: a bound of the error of the masses in the 2-norm.
        outside: a bound of the sum of the masses outside the window.
    """

    tilt: float
    step: float
    first: int
    masses: Floats
    log_norm: arb
    norm_error: Fraction
    noise: float
    outside: float

    @classmethod
    def of(cls, spreads: Sequence[Spread], step: float, size: int, tilt: float) -> Tilted:
        factors, norms = zip(*(spread.tilted(tilt, step) for spread in spreads), strict=True)
        mean, variance = _moments(factors, step)
        start = sum(factor.first * factor.times for factor in factors)
        count = sum((len(factor.masses) - 1) * factor.times for factor in factors) + 1
        first, outside = start, 0.0
        if count > size:
            first = round(mean / step) - size // 2
            outside = _escapes(factors, step, (first * step, (first + size) * step), (mean, variance))
        transform, noise = np.ones(size // 2 + 1, dtype=np.complex128), 0.0
        for factor in factors:
            places = np.arange(len(factor.masses)) % size
            image = np.fft.rfft(summed(places, factor.masses, size))
            transform *= _power(image, factor.times)
            noise += factor.times * math.sqrt(total(factor.masses**2))
        masses = np.maximum(np.fft.irfft(transform, size), 0.0)
        turns, times = math.log2(size), sum(factor.times for factor in factors)
        error = sum(factor.times * (factor.relative + 2 * UNIT) for factor in factors)
        with ctx.workprec(128):
            log_norm = sum(norms, arb(0))
        return cls(
            tilt,
            step,
            first,
            np.roll(masses, -((first - start) % size)),
            log_norm,
            Fraction(math.expm1(error) * 2),
            4 * (16 * UNIT * turns * (noise + 1) + 4 * UNIT * times),
            _TINY + outside,
        )

    def gain(self, threshold: float, drift: float) -> tuple[Fraction, Fraction]:
        """Bounds of the integral of 1 - e^(t - loss) over the losses above t, for all t within the drift of the threshold.

        It changes by at most the drift times P(loss > t), and that is at most the norm times e^(-tilt t).
        """
        start = max(0, math.floor(threshold / self.step) + 1 - self.first)
        stop = start + math.ceil(_FAR / (self.tilt * self.step)) + 1
        heights = (self.first + start) * self.step - threshold + self.step * np.arange(len(self.masses[start:stop]))
        kernel = np.exp(-self.tilt * heights) * -np.expm1(-heights)
        kernel[heights <= 0] = 0.0
        return self._integral(self.masses[start:stop], kernel, threshold, drift)

    def gap(self, threshold: float, variance: float) -> Fraction:
        """The bound of `dpspec.laws.grid` for the difference of the two curves."""
        if not variance:
            return Fraction(0)
        root = math.sqrt(variance)
        rate = 1 / (2 * root) * (1 - 2.0**-40)
        if variance > _LARGEST_VARIANCE or 2 * self.tilt > rate:
            return Fraction(1)
        reach = math.ceil(_FAR / ((rate - self.tilt) * self.step)) + 1
        middle = math.floor(threshold / self.step) - self.first
        begin, end = max(0, middle - reach), max(0, middle + reach)
        points = (self.first + begin) * self.step - threshold + self.step * np.arange(len(self.masses[begin:end]))
        kernel = np.exp(-self.tilt * points - rate * np.abs(points))
        near = self._integral(self.masses[begin:end], kernel, threshold)[1]
        return _GAP * Fraction(root * (1 + 2.0**-40)) * near

    def _integral(self, masses: Floats, kernel: Floats, threshold: float, drift: float = 0.0) -> tuple[Fraction, Fraction]:
        """sum of masses x kernel, in units of the true law at the threshold; the kernel is at most 1, and e^-48 where cut."""
        value = total(masses * kernel)
        slack = (len(masses) + 8) * UNIT + 2 * EXP_ERROR + 2.0**-44
        extra = self.noise * math.sqrt(total(kernel**2)) * (1 + 2.0**-20) + self.outside + math.exp(-_FAR) * 2
        extra += drift * math.exp(self.tilt * drift) * (1 + 2.0**-20)
        with ctx.workprec(128):
            factor = (self.log_norm - arb(self.tilt) * arb(threshold)).exp()
            low, high = floor_of(factor) or Fraction(0), ceiling_of(factor)
        if high is None:
            return Fraction(0), Fraction(1)
        lower = Fraction(max(0.0, value * (1 - slack) - extra)) * low * (1 - self.norm_error)
        return max(Fraction(0), lower), Fraction(value * (1 + slack) + extra) * high * (1 + self.norm_error)


def _power(values: npt.NDArray[np.complex128], times: int) -> npt.NDArray[np.complex128]:
    """values^times by repeated squaring: times - 1 rounded products, in whatever order."""
    result, square = None, values
    while True:
        if times & 1:
            result = square if result is None else result * square
        times >>= 1
        if not times:
            assert result is not None  # noqa: S101
            return result
        square = square * square


def _moments(factors: Sequence[Spread], step: float) -> tuple[float, float]:
    """About the mean and the variance of the sum."""
    mean = variance = 0.0
    for factor in factors:
        losses = factor.losses(step)
        one = total(losses * factor.masses)
        mean += factor.times * one
        variance += factor.times * total((losses - one) ** 2 * factor.masses)
    return mean, variance


def _escapes(factors: Sequence[Spread], step: float, ends: tuple[float, float], moments: tuple[float, float]) -> float:
    """A bound of the probability that the sum lies below the first end, or at the second and above.

    Chernoff's bound at the rate of a Gaussian law, and at slower ones while it says little.
    """
    mean, variance = moments
    escaping = 0.0
    for end, sign in zip(ends, (-1.0, 1.0), strict=True):
        rate, bound = sign * abs(end - mean) / max(variance, step**2), 0.0
        for _ in range(_RATES):
            bound = min(bound, _chernoff(factors, step, end, rate))
            if bound < -_FAR:
                break
            rate /= 2
        escaping += math.exp(bound)
    return escaping


def _chernoff(factors: Sequence[Spread], step: float, end: float, rate: float) -> float:
    """ln E e^(rate (sum - end)), rounded up."""
    bound, error = -rate * end, abs(rate * end)
    for factor in factors:
        powers = rate * factor.losses(step)
        top = float(np.max(powers))
        moment = top + math.log(max(total(np.exp(powers - top) * factor.masses), _TINY))
        bound += factor.times * moment
        error += factor.times * (abs(moment) + (len(powers) + 64) * (1 + abs(top)))
    return bound + error * 8 * UNIT
