"""Independent composition on a grid: privacy losses spread to grid points, convolved by FFT, with two proved bounds.

**From above.** A loss in [a, b], a and b on the grid, becomes b with probability (1 - e^(a-loss)) / (1 - e^(a-b)), else a. That
keeps the masses of P and of Q, so the new pair can simulate the old one and its hockey stick G is at least H
("connect the dots"). The move D has E_P e^(-D) = 1 for every outcome, so that G - H is of second order.

**From below.** Let U = S + D be the composed losses, v = sum w_i^2 / 4 for moves within widths w_i, r = sqrt(v) <= 1/16,
theta = 1/(2r). Given S, the variance of e^(-D) is at most e^v - 1 and E e^(uD) <= e^((u + u^2) v/2) (Bhatia-Davis, Hoeffding); by
Scarf's and Chernoff's inequalities the curves differ by at most A r e^(-theta |S - eps|), A = 17/33, given S. Twice by parts,

    E e^(-theta |S - eps|) = -2 theta H(eps) + a nonnegative functional of H,

and H <= G turns this into the same expression of U plus 2 theta (G - H)(eps). Solved for the gap:

    0 <= G(eps) - H(eps) <= 17/16 r E_P e^(-theta |U - eps|)    which is about 17/4 v times the density of U at eps.

**Arithmetic.** The laws are tilted by e^(c loss), so that the tail that is asked for lies in the middle and doubles resolve it.
The transforms have the error of Higham (Accuracy and Stability of Numerical Algorithms, Theorem 24.2), at most 7 u log2(n) in
the relative 2-norm for twiddles that are correct to one unit; 16 is counted. What leaves the window is bounded by Chernoff.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from fractions import Fraction

import attrs
import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from dpspec.exact import ball, dyadic
from dpspec.laws.pieces import EXP_ERROR, UNIT, Floats, Lattice, LossPieces, total

Factor = tuple[LossPieces, int]
"""The loss of a pair, and how often it is released."""

_TINY = 2.0**-200
"""More than all that underflows: a sum of at most 2^64 numbers below 2^-1000."""

_LARGEST_VARIANCE = 1 / 256
_GAP = Fraction(17, 16)
_FAR = 48.0
"""Terms of a sum below e^-48 of the largest are bounded together."""


@attrs.frozen(eq=False)
class Spread:
    """One loss on the grid: masses at consecutive points from `first` on, of a factor that is repeated."""

    first: int
    masses: Floats
    relative: float
    times: int

    @classmethod
    def on(cls, lattice: Lattice, pieces: LossPieces, times: int) -> Spread:
        """The losses of a pair where they are, but for the offset of their lattice."""
        places = np.rint((pieces.losses - float(lattice.offset)) / float(lattice.spacing)).astype(np.int64)
        return cls._gather(places, pieces.masses, pieces.relative, times)

    @classmethod
    def of(cls, pieces: LossPieces, step: float, times: int) -> tuple[Spread, float]:
        """The losses of a pair on the multiples of the step, a power of two, and the widest move."""
        low = np.floor(pieces.low / step).astype(np.int64)
        high = np.maximum(np.ceil(pieces.high / step).astype(np.int64), low)
        width = (high - low) * step
        share = np.ones(len(low))
        np.divide(np.expm1(low * step - pieces.losses), np.expm1(-width), out=share, where=high > low)
        kept = np.zeros(len(low))
        np.divide(np.expm1(high * step - pieces.losses), np.expm1(width), out=kept, where=high > low)
        places = np.concatenate((low, high))
        masses = np.concatenate((pieces.masses * kept, pieces.masses * share))
        return cls._gather(places, masses, pieces.relative + 4 * EXP_ERROR, times), float(np.max(width, initial=0.0))

    @classmethod
    def _gather(cls, places: npt.NDArray[np.int64], masses: Floats, relative: float, times: int) -> Spread:
        first = int(places.min())
        return cls(first, _summed(places - first, masses), relative + len(masses) * UNIT, times)

    def tilted(self, tilt: float, step: float) -> tuple[Spread, arb]:
        """The masses times e^(tilt loss), normalised, and what that adds to the logarithm of the norm."""
        powers = tilt * self.losses(step)
        top = float(np.max(powers))
        masses = self.masses * np.exp(powers - top)
        norm = total(masses) * (1 + len(masses) * UNIT)
        relative = self.relative + EXP_ERROR + 8 * UNIT * float(np.max(np.abs(powers)))
        with ctx.workprec(128):
            return attrs.evolve(self, masses=masses / norm, relative=relative), self.times * (arb(norm).log() + arb(top))

    def losses(self, step: float) -> Floats:
        return step * np.arange(self.first, self.first + len(self.masses), dtype=np.float64)


@attrs.frozen(eq=False)
class GridLoss:
    """A composed loss: independent losses on one grid, displaced by `offset`.

    Args:
        spreads: the different factors.
        step: the distance of grid points.
        size: how many points are looked at, a power of two.
        offset: what is added to every point.
        variance: v above, at most 1/256.
        drift: how far the sum of the losses may be from what the doubles say, besides.
        rest, singular: bounds of the P-mass outside, above and below.
    """

    spreads: tuple[Spread, ...]
    step: float
    size: int
    offset: Fraction
    variance: float
    drift: float
    rest: Fraction
    singular: Fraction

    @classmethod
    def of(cls, factors: Sequence[Factor], step: float, size: int) -> GridLoss:
        """The composition of the losses, each as often as it says, on the multiples of a power of two."""
        found = [Spread.of(pieces, step, times) for pieces, times in factors]
        variance = sum(spread.times * width**2 / 4 for spread, width in found)
        return cls._around(
            factors,
            [spread for spread, _ in found],
            step=step,
            size=size,
            offset=Fraction(0),
            variance=variance * (1 + 2.0**-20),
        )

    @classmethod
    def on_lattice(cls, factors: Sequence[tuple[LossPieces, int, Lattice]], size: int) -> GridLoss:
        """The same for losses that lie on lattices of one spacing: nothing is moved."""
        spreads = [Spread.on(lattice, pieces, times) for pieces, times, lattice in factors]
        offset = sum((times * lattice.offset for _, times, lattice in factors), Fraction(0))
        step = float(factors[0][2].spacing)
        plain = [(pieces, times) for pieces, times, _ in factors]
        return cls._around(plain, spreads, step=step, size=size, offset=offset, variance=0.0)

    @classmethod
    def _around(
        cls, factors: Sequence[Factor], spreads: Sequence[Spread], *, step: float, size: int, offset: Fraction, variance: float
    ) -> GridLoss:
        return cls(
            tuple(spreads),
            step,
            size,
            offset,
            variance,
            sum(times * pieces.absolute for pieces, times in factors),
            _escaped([(pieces.rest, times) for pieces, times in factors], -1),
            _escaped([(pieces.singular, times) for pieces, times in factors], 1),
        )

    @functools.cached_property
    def _known_tilts(self) -> dict[float, Tilted]:
        return {}

    def tilted(self, tilt: float) -> Tilted:
        if tilt not in self._known_tilts:
            self._known_tilts[tilt] = Tilted.of(self, tilt)
        return self._known_tilts[tilt]

    def upper(self, epsilon: arb, tilt: float) -> Fraction:
        """An upper bound of the hockey stick at a ball of thresholds, from the law with this tilt."""
        middle, drift = self._threshold(epsilon)
        return min(Fraction(1), self.tilted(tilt).gain(middle - drift)[1] + self.rest)

    def lower(self, epsilon: arb, tilt: float) -> Fraction:
        """A lower bound of it."""
        middle, drift = self._threshold(epsilon)
        law = self.tilted(tilt)
        lower = law.gain(middle + drift)[0] - law.gap(middle + drift, self.variance)
        return max(Fraction(0), lower) + self.singular

    def _threshold(self, epsilon: arb) -> tuple[float, float]:
        """Where the grid is cut, and how far from there the threshold may be."""
        threshold = epsilon - ball(self.offset)
        middle = float(threshold.mid())
        radius = 2 * math.nextafter(float(threshold.rad()), math.inf)
        return middle, 2 * self.drift + radius + 8 * UNIT * (abs(middle) + self.size * self.step)


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
    def of(cls, loss: GridLoss, tilt: float) -> Tilted:
        step, size = loss.step, loss.size
        factors, norms = zip(*(spread.tilted(tilt, step) for spread in loss.spreads), strict=True)
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
            image = np.fft.rfft(_summed(places, factor.masses, size))
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

    def gain(self, threshold: float) -> tuple[Fraction, Fraction]:
        """Bounds of the integral of 1 - e^(threshold - loss) over the losses above the threshold."""
        start = max(0, math.floor(threshold / self.step) + 1 - self.first)
        stop = start + math.ceil(_FAR / (self.tilt * self.step)) + 1
        heights = (self.first + start) * self.step - threshold + self.step * np.arange(len(self.masses[start:stop]))
        kernel = np.exp(-self.tilt * heights) * -np.expm1(-heights)
        kernel[heights <= 0] = 0.0
        return self._integral(self.masses[start:stop], kernel, threshold)

    def gap(self, threshold: float, variance: float) -> Fraction:
        """The bound of the module text for the difference of the two curves."""
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

    def _integral(self, masses: Floats, kernel: Floats, threshold: float) -> tuple[Fraction, Fraction]:
        """sum of masses x kernel, in units of the true law at the threshold; the kernel is at most 1, and e^-48 where cut."""
        value = total(masses * kernel)
        slack = (len(masses) + 8) * UNIT + 2 * EXP_ERROR + 2.0**-44
        extra = self.noise * math.sqrt(total(kernel**2)) * (1 + 2.0**-20) + self.outside + math.exp(-_FAR) * 2
        with ctx.workprec(128):
            factor = (self.log_norm - arb(self.tilt) * arb(threshold)).exp()
            low, high = (dyadic(factor.lower()), dyadic(factor.upper()))
        lower = Fraction(max(0.0, value * (1 - slack) - extra)) * low * (1 - self.norm_error)
        return max(Fraction(0), lower), Fraction(value * (1 + slack) + extra) * high * (1 + self.norm_error)


def _summed(places: npt.NDArray[np.int64], masses: Floats, size: int = 0) -> Floats:
    """The masses at every place together."""
    return np.bincount(places, weights=masses, minlength=size).astype(np.float64, copy=False)


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
    """A bound of the probability that the sum lies below the first end, or at the second and above (Chernoff)."""
    mean, variance = moments
    escaping = 0.0
    for end, sign in zip(ends, (-1.0, 1.0), strict=True):
        rate = sign * abs(end - mean) / max(variance, step**2)
        bound = -rate * end
        for factor in factors:
            powers = rate * factor.losses(step)
            top = float(powers.max())
            bound += factor.times * (top + math.log(max(total(np.exp(powers - top) * factor.masses), _TINY)))
            bound += factor.times * (len(powers) + 64) * UNIT * (1 + abs(top))
        escaping += math.exp(min(0.0, bound + 2.0**-20 * abs(bound)))
    return escaping


def _escaped(masses: Sequence[tuple[Fraction, int]], direction: int) -> Fraction:
    """1 - prod (1 - mass)^times, rounded down (1) or up (-1)."""
    with ctx.workprec(256):
        kept = arb(1)
        for mass, times in masses:
            kept *= (1 - ball(mass)) ** times
        escaped = (1 - kept).max(arb(0))
        return dyadic(escaped.lower() if direction > 0 else escaped.upper())
