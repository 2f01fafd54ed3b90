"""Independent composition by transforms that are known in closed form: one integral along a line, with proved bounds.

With M(z) = E_P e^(z L) of the composed loss L, the product of those of the releases, and any tilt c > 0, the hockey stick is

    H(x) = 1/(2 pi i) times the integral of e^(-z x) M(z) / (z (z + 1)) over the line Re z = c

(the kernel is the transform of the gain 1 - e^(x - loss)). Three steps make a finite sum of it, each with a bound.

**Sum instead of integral.** By Poisson's formula the trapezoidal sum at the points c + i m h is exactly
the sum over k of e^(c k T) H(x + k T), T = 2 pi / h. The terms with k != 0 are not negative; those above x are bounded by
Chernoff's inequality, those below are known from P - e^y <= H(y) <= P, with the whole mass P.

**End of the sum.** Where Gaussian noise or many Laplace releases bound |M| far out, the rest is negligible. Elsewhere one more
Gaussian release with a small mu^2 = v is added. The sum G of this larger composition is an upper bound. With L_u the loss with a
Gaussian release of mu^2 = u added and f_u its density, the derivative of its hockey stick with respect to u is f_u(x) / 2,
since H'' - H' is the density. From u <= v follows exp(-(y - u/2)^2 / 2u) <= e^(v/8) exp(-(y - v/2)^2 / 2v), so that the
integral of f_u(x) over u from 0 to v is at most 2 v e^(v/8) f_v(x):

    0 <= G(x) - H(x) <= v e^(v/8) f_v(x),

and f_v is a sum of the same terms without the kernel.

**Doubles.** Each quotient M_j(c + i s) / M_j(c) of one release is at most 1 in absolute value, and is computed within an
absolute error alpha + beta s; n releases add up to n times that. Losses and parameters that are no doubles displace the
threshold, or change masses by a factor.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from dpspec.base.errors import NumericalError
from dpspec.base.exact import Bracket, Number, number
from dpspec.base.log_linear import ceiling_of, floor_of
from dpspec.base.types import Floats
from dpspec.base.work import spend
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.continuous import GaussianShift, LaplaceShift
from dpspec.laws.dichotomy import BallDichotomy, Dichotomy
from dpspec.laws.grid import CAREFUL, TiltedCurve, escaped
from dpspec.laws.integers import DiscreteGaussianShift
from dpspec.laws.pieces import UNIT, loss_pieces

Complexes = npt.NDArray[np.complex128]

_POINTS, _MORE_POINTS, _FEW = 2, 4, 8
"""Times the square of the precision: so many points has a line at most; and with at most 8 different releases."""
_MOST_POINTS = 1 << 20
_NEGLIGIBLE = 45.0
"""e^-45, 3e-20, relative to the largest term."""
_FALL = 8.5
"""A Gaussian function is below e^-36 beyond so many standard deviations."""
_ALIASES = 30.0
_DROPPED = 2.0**-70
_BATCH = 1 << 15
"""The number of complex values per batch; larger batches do not fit into the cache."""
_MOST_ATOMS = 256
_FEW_TERMS = 10
"""Discrete Gaussians of at least this variance have one term of their transform that counts, from 1 on three."""
_FARTHEST = 2.0**20
_LARGEST_ERROR = 2.0**-21
_LARGEST_POWER = 700.0
_NEAR_PLACES = 128
_POINTS_PER_UNIT = 8
"""So many points of a line take a unit of work: about ten operations on arrays each."""
_NEWTON, _CLOSE = 40, 2.0**-44
_STEPS = 12
_SUM = "i,i->"
"""Sums of products by `np.einsum`. `np.dot` has OpenBLAS share more than 10,000 terms among threads, which wait for each other
busily: where processors are in use that takes hundreds of times as long, and the last digits depend on the number of threads."""
_TINY = 2.0**-900
"""More than all that underflows."""


# --- the transforms of one release ----------------------------------------------------------------


@attrs.frozen(eq=False)
class Transforms(ABC):
    """Releases of one kind, a row for each, all made equally often.

    Args:
        times: how often each is made.
    """

    times: int

    @property
    @abstractmethod
    def variances(self) -> Floats:
        """About the variance of the loss of each."""

    @abstractmethod
    def log_moments(self, tilt: float) -> Floats:
        """ln M(c) of each, within `moment_error` of doubles."""

    @abstractmethod
    def ratios(self, rows: npt.NDArray[np.int64], heights: Floats, tilt: float) -> Complexes:
        """M(c + i s) / M(c) of some rows, at heights s >= 0."""

    @abstractmethod
    def errors(self, tilt: float) -> tuple[Floats, Floats]:
        """alpha and beta of each row, in units of 2^-53; alpha covers ln M(c) as well."""

    def log_ceiling(self, _height: float, _tilt: float) -> float:
        """A bound of the sum of ln |M(c + i s) / M(c)| over the rows, for all s from a height on."""
        return 0.0

    @property
    @abstractmethod
    def drift(self) -> float:
        """A bound on the error of the loss of all rows together as doubles."""

    @property
    def relative(self) -> float:
        """The relative error of the masses of all rows together."""
        return 0.0


@attrs.frozen(eq=False)
class LaplaceRows(Transforms):
    """Laplace noise with centers that differ by t scales: M(z) = ((z + 1) e^(z t) + z e^(-(z + 1) t)) / (2 z + 1)."""

    t: Floats

    @property
    def variances(self) -> Floats:
        return np.minimum(self.t, 1.0) * self.t

    def _scaled(self, tilt: float) -> Floats:
        """M(c) e^(-c t)."""
        found: Floats = ((tilt + 1) + tilt * np.exp(-(1 + 2 * tilt) * self.t)) / (2 * tilt + 1)
        return found

    def log_moments(self, tilt: float) -> Floats:
        found: Floats = tilt * self.t + np.log(self._scaled(tilt))
        return found

    def ratios(self, rows: npt.NDArray[np.int64], heights: Floats, tilt: float) -> Complexes:
        z, t = tilt + 1j * heights, self.t[rows, None]
        turned = np.exp(1j * (t * heights))
        ahead, behind = (z + 1) / (2 * z + 1), z / (2 * z + 1)
        fall = np.exp(-(1 + 2 * tilt) * t)
        found: Complexes = (ahead * turned + (fall * behind) * turned.conj()) / self._scaled(tilt)[rows, None]
        return found

    def errors(self, tilt: float) -> tuple[Floats, Floats]:
        """The two summands are at most twice M(c) e^(-c t) together."""
        return 128 + 16 * (1 + 2 * tilt) * self.t, 8 * self.t

    def log_ceiling(self, height: float, tilt: float) -> float:
        """|z + 1| / |2 z + 1| falls in s, and |z| / |2 z + 1| < 1/2."""
        ahead = math.hypot(tilt + 1, height) / math.hypot(2 * tilt + 1, 2 * height)
        ceiling = (ahead + np.exp(-(1 + 2 * tilt) * self.t) / 2) / self._scaled(tilt)
        return float(np.sum(np.log(np.minimum(ceiling * (1 + 2.0**-40), 1.0))))

    @property
    def drift(self) -> float:
        """Two Laplace losses with one P differ by at most what their t do."""
        return self.times * float(np.sum(self.t)) * 8 * UNIT


@attrs.frozen(eq=False)
class LatticeRows(Transforms):
    """Discrete Gaussians with centers that differ by b, of a variance of at least 1.

    With R = b^2 / (2 variance) and the period W = 2 pi variance / b, Poisson's formula gives M(z) as the sum over all j of
    (-1)^(b j) e^(z_j (z_j + 1) R), z_j = z + i W j, over the same at z = 0.
    """

    rate: Floats
    shift: Floats
    variance: Floats

    @property
    def variances(self) -> Floats:
        return 2 * self.rate

    def _theta(self, tilt: float) -> Floats:
        found: Floats = 1 + 2 * np.exp(-2 * math.pi**2 * self.variance) * np.cos(2 * math.pi * self.shift * tilt)
        return found

    def log_moments(self, tilt: float) -> Floats:
        found: Floats = tilt * (tilt + 1) * self.rate + np.log(self._theta(tilt) / self._theta(0.0))
        return found

    def ratios(self, rows: npt.NDArray[np.int64], heights: Floats, tilt: float) -> Complexes:
        rate, shift = self.rate[rows, None], self.shift[rows, None]
        period = 2 * math.pi * self.variance[rows, None] / shift
        turns = np.rint(heights / period)
        near = heights - turns * period
        total: Complexes = np.zeros(near.shape, dtype=np.complex128)
        for more in (0,) if self.variance[rows].min() >= _FEW_TERMS else (-1, 0, 1):
            place = near + more * period
            sign = 1 - 2 * np.mod(shift * (more - turns), 2)
            total += sign * np.exp(place * rate * ((2 * tilt + 1) * 1j - place))
        total /= self._theta(tilt)[rows, None]
        return total

    def errors(self, tilt: float) -> tuple[Floats, Floats]:
        """The terms that are left out are below e^-44; places within a period are known to 7 units of the height."""
        slope = np.sqrt(self.rate) + (2 * tilt + 1) * self.rate
        near = np.where(self.variance < 4 * _FEW_TERMS, 128 + 32 * (2 * tilt + 1) * self.shift, 0)
        return 128 + 8 * (2 * tilt + 1) * np.sqrt(self.rate) + 16 * tilt * (tilt + 1) * self.rate + near, 16 * slope

    @property
    def drift(self) -> float:
        return 0.0


@attrs.frozen(eq=False)
class AtomRows(Transforms):
    """Finitely many losses with their masses under P, equally many in each row."""

    masses: Floats
    losses: Floats
    relative_errors: Floats
    absolute_errors: Floats

    @property
    def variances(self) -> Floats:
        mean = np.sum(self.masses * self.losses, axis=1)[:, None]
        found: Floats = np.sum(self.masses * (self.losses - mean) ** 2, axis=1)
        return found

    def _weights(self, tilt: float) -> tuple[Floats, Floats]:
        """The masses times e^(c loss), normalised, and ln M(c)."""
        powers = tilt * self.losses
        top = np.max(powers, axis=1, keepdims=True)
        weights = self.masses * np.exp(powers - top)
        norm = np.sum(weights, axis=1, keepdims=True)
        return weights / norm, (top + np.log(norm))[:, 0]

    def log_moments(self, tilt: float) -> Floats:
        return self._weights(tilt)[1]

    def ratios(self, rows: npt.NDArray[np.int64], heights: Floats, tilt: float) -> Complexes:
        weights, losses = self._weights(tilt)[0][rows], self.losses[rows]
        total: Complexes = np.zeros((len(rows), len(heights)), dtype=np.complex128)
        for atom in range(losses.shape[1]):
            total += weights[:, atom, None] * np.exp(1j * (losses[:, atom, None] * heights))
        return total

    def errors(self, tilt: float) -> tuple[Floats, Floats]:
        farthest = np.max(np.abs(self.losses), axis=1)
        return 128 + 8 * self.losses.shape[1] + 32 * tilt * farthest, 4 * farthest

    @property
    def drift(self) -> float:
        return self.times * float(np.sum(self.absolute_errors))

    @property
    def relative(self) -> float:
        return self.times * float(np.sum(self.relative_errors))


# --- which pairs have one -------------------------------------------------------------------------


@attrs.frozen(eq=False)
class TransformedPair:
    """One pair with its transform.

    Args:
        kind: the class of its transforms, and what has to be equal in one group.
        row: its numbers.
        rest, singular: bounds of the mass of P that the transform leaves out, as in `LossPieces`.
    """

    kind: tuple[type[Transforms], int]
    row: tuple[Any, ...]
    rest: Fraction = Fraction(0)
    singular: Fraction = Fraction(0)


@functools.singledispatch
def release_of(_pair: Dichotomy) -> TransformedPair | None:
    """The transform of a pair, where one is known."""
    return None


@release_of.register
def _of_laplace(pair: LaplaceShift) -> TransformedPair | None:
    t = float(pair.t)
    return TransformedPair((LaplaceRows, 1), (t,)) if t < _FARTHEST else None


@release_of.register
def _of_discrete_gaussian(pair: DiscreteGaussianShift) -> TransformedPair | None:
    variance, shift = float(pair.variance), abs(pair.shift)
    if not shift:
        return None
    if variance < 1:
        return _of_pieces(pair)
    rate = float(Fraction(shift**2) / (2 * pair.variance))
    return (
        TransformedPair((LatticeRows, int(variance >= _FEW_TERMS)), (rate, float(shift), variance)) if shift < _FARTHEST else None
    )


@release_of.register
def _of_finite(pair: FiniteDichotomy) -> TransformedPair | None:
    return _of_pieces(pair) if len(pair.by_ratio) <= _MOST_ATOMS else None


@release_of.register
def _of_cells(pair: BallDichotomy) -> TransformedPair | None:
    return _of_pieces(pair)


def _of_pieces(pair: Dichotomy) -> TransformedPair | None:
    pieces = loss_pieces(pair, 1.0)
    if not 0 < len(pieces.masses) <= _MOST_ATOMS or not np.array_equal(pieces.low, pieces.high):
        return None
    if not float(np.max(np.abs(pieces.losses))) < _FARTHEST:
        return None
    row = tuple(pieces.masses), tuple(pieces.losses), pieces.relative, pieces.absolute
    return TransformedPair((AtomRows, len(pieces.masses)), row, pieces.rest, pieces.singular)


# --- the sum along one line -----------------------------------------------------------------------


@attrs.frozen(eq=False)
class ContourLine:
    """The terms of the sum with one tilt.

    Args:
        tilt: c.
        period: T, about; the points are the multiples of `step` = 2 pi / T.
        log_norm: ln M(c) of the composition with the added release, within `alpha`.
        places: m of the points where the terms count.
        values: M(c + i s) / M(c) there, twice for s > 0.
        added: v, the mu^2 of the added release.
        lost: a bound of the error of the sum over all points with the kernel, times T.
        lost_density: the same without the kernel; infinite where it is not needed.
    """

    tilt: float
    step: float
    log_norm: float
    alpha: float
    places: npt.NDArray[np.int64]
    values: Complexes
    added: float
    lost: float
    lost_density: float

    @property
    def period(self) -> float:
        return 2 * math.pi / self.step

    @functools.cached_property
    def heights(self) -> Floats:
        found: Floats = (self.step * self.places).astype(np.float64)
        return found

    @functools.cached_property
    def _terms(self) -> Complexes:
        z = self.tilt + 1j * self.heights
        found: Complexes = self.values / (z * (z + 1))
        return found

    @functools.cached_property
    def _sizes(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The sums of |term| and of |term| s, with the kernel and without."""
        both = (np.abs(self._terms), np.abs(self.values))
        with_kernel, without = ((float(np.sum(size)), float(np.sum(size * self.heights))) for size in both)
        return with_kernel, without

    def integral(self, point: float) -> tuple[float, float]:
        """Bounds of the sum at a point, over M(c) e^(-c x)."""
        return self._between(self._both(point)[0], self._sizes[0], self.lost, point)

    def density(self, point: float) -> float:
        """A bound of the density at a point, over M(c) e^(-c x)."""
        return self._between(self._both(point)[1], self._sizes[1], self.lost_density, point)[1]

    def _both(self, point: float) -> tuple[float, float]:
        """The sums at a point, with the kernel and without."""
        known = self._last.get(point)
        if known is None:
            turned = self._turned(point)
            known = float(np.einsum(_SUM, self._terms, turned).real), float(np.einsum(_SUM, self.values, turned).real)
            self._last.clear()
            self._last[point] = known
        return known

    @functools.cached_property
    def _last(self) -> dict[float, tuple[float, float]]:
        return {}

    def logarithm(self, point: float) -> tuple[float, float]:
        """About ln G at a point, and its slope; NaN where doubles do not resolve it."""
        turned = self._turned(point)
        value = float(np.einsum(_SUM, self._terms, turned).real)
        slope = float(np.einsum(_SUM, self._terms * self.heights, turned).imag)
        if not value > 0:
            return math.nan, math.nan
        return self.log_norm - self.tilt * point + math.log(value * self.step / (2 * math.pi)), slope / value - self.tilt

    def _turned(self, point: float) -> Complexes:
        """e^(-i s x) at all heights, as products of two: one for m modulo a power of two, and one for the rest."""
        spend(len(self.places) // _POINTS_PER_UNIT)
        turn, last = -1j * (self.step * point), int(self.places[-1])
        near, far = np.arange(_NEAR_PLACES), np.arange(0, last + 1, _NEAR_PLACES)
        whole = np.multiply.outer(np.exp(turn * far), np.exp(turn * near)).ravel()
        found: Complexes = whole[: last + 1] if len(self.places) == last + 1 else whole[self.places]
        return found

    def _between(self, value: float, sizes: tuple[float, float], lost: float, point: float) -> tuple[float, float]:
        error = (sizes[0] * (2 * len(self.places) + 64) + sizes[1] * 8 * abs(point)) * UNIT + lost
        error *= 1 + 2.0**-20
        scale = self.step / (2 * math.pi)
        return (value - error) * scale * (1 - math.copysign(2.0**-48, value - error)), (value + error) * scale * (1 + 2.0**-48)


@attrs.frozen(eq=False)
class Contour(TiltedCurve):
    """A composition of pairs whose transforms are known.

    Args:
        groups: the releases, those of one kind that are made equally often together.
        mu_squared: the sum of mu^2 of the Gaussian ones.
        points: so many points has a line at most.
        rest, singular: bounds of the P-mass that the transforms leave out, above and below.
    """

    groups: tuple[Transforms, ...]
    mu_squared: float
    points: int
    rest: Fraction
    singular: Fraction

    @classmethod
    @CAREFUL
    def of(cls, parts: Sequence[tuple[Dichotomy, int]], precision: int) -> Contour | None:
        """None where the transform of a pair is not known, or all losses lie on one lattice: a grid has them as they are."""
        spacings = {abs(pair.shift) / pair.variance if isinstance(pair, DiscreteGaussianShift) else None for pair, _ in parts}
        if len(spacings) == 1 and None not in spacings:
            return None
        rows: dict[tuple[type[Transforms], int, int], list[tuple[Any, ...]]] = {}
        outside: list[tuple[TransformedPair, int]] = []
        squares = [0.0]
        for pair, times in parts:
            if isinstance(pair, GaussianShift):
                squares.append(times * float(pair.mu_squared))
                continue
            release = release_of(pair)
            if release is None:
                return None
            rows.setdefault((*release.kind, times), []).append(release.row)
            if release.rest or release.singular:
                outside.append((release, times))
        groups = [kind(times, *map(np.array, zip(*found, strict=True))) for (kind, _, times), found in rows.items()]
        return cls(
            tuple(groups),
            math.fsum(squares),
            min((_MORE_POINTS if len(parts) <= _FEW else _POINTS) * precision**2, _MOST_POINTS),
            escaped([(release.rest, times) for release, times in outside], -1),
            escaped([(release.singular, times) for release, times in outside], 1),
        )

    @functools.cached_property
    def _known_lines(self) -> dict[float, ContourLine]:
        return {}

    @functools.cached_property
    def _known_moments(self) -> dict[float, float]:
        return {}

    @functools.cached_property
    def _drift(self) -> float:
        return sum(group.drift for group in self.groups)

    @functools.cached_property
    def _relative(self) -> float:
        return sum(group.relative for group in self.groups)

    # -- moments ----------------------------------------------------------------------------------

    def log_moment(self, tilt: float) -> float:
        if tilt not in self._known_moments:
            total = tilt * (tilt + 1) / 2 * self.mu_squared
            self._known_moments[tilt] = total + sum(group.times * float(np.sum(group.log_moments(tilt))) for group in self.groups)
        return self._known_moments[tilt]

    def log_integrand(self, tilt: float) -> float:
        return self.log_moment(tilt) - math.log(tilt * (tilt + 1))

    @functools.cached_property
    def _known_errors(self) -> dict[float, tuple[float, float]]:
        return {}

    def _errors(self, tilt: float) -> tuple[float, float]:
        if tilt not in self._known_errors:
            self._known_errors[tilt] = self._errors_at(tilt)
        return self._known_errors[tilt]

    def _errors_at(self, tilt: float) -> tuple[float, float]:
        """alpha and beta of the whole product, in units of 1; and what the rounded powers and products add."""
        alpha, beta = 256 + 32 * (2 * tilt + 1) * math.sqrt(self.mu_squared) + 32 * tilt * (tilt + 1) * self.mu_squared, 0.0
        for group in self.groups:
            alphas, betas = group.errors(tilt)
            alpha += group.times * (float(np.sum(alphas)) + 16 * len(alphas))
            beta += group.times * float(np.sum(betas))
        return alpha * (1 + 2.0**-20) * UNIT, beta * (1 + 2.0**-20) * UNIT

    def _deviation(self, tilt: float) -> float:
        """About the standard deviation of the tilted loss, by differences."""
        pad = tilt / 16
        bend = self.log_moment(tilt + pad) - 2 * self.log_moment(tilt) + self.log_moment(tilt - pad)
        return math.sqrt(max(bend, 0.0)) / pad

    # -- lines ------------------------------------------------------------------------------------

    def line(self, tilt: float, point: float) -> ContourLine:
        """A line with this tilt, whose period is long enough for a point."""
        known = self._known_lines.get(tilt)
        period = self._period(tilt, point)
        if known is None or known.period < period:
            self._known_lines[tilt] = known = self._line(tilt, period * 1.25)
        return known

    def _period(self, tilt: float, point: float) -> float:
        """Long enough for the terms of Poisson's formula that are not wanted to be negligible."""
        norm, wanted = self.log_moment(tilt), _ALIASES + math.log1p(tilt * (tilt + 1) * max(self._deviation(tilt), 1 / tilt))
        below = (max((tilt + 1) * point - norm, 0.0) + wanted) / (tilt + 1)
        return max(below, point, min(self._above(tilt, more, point, wanted) for more in self._rates(tilt)))

    def _above(self, tilt: float, more: float, point: float, wanted: float) -> float:
        """The period after which Chernoff's bound with a larger tilt is small."""
        return (self.log_moment(tilt + more) - self.log_moment(tilt) - more * point + wanted) / more

    def _rates(self, tilt: float) -> list[float]:
        first = 2.0 ** math.floor(math.log2(4 / max(self._deviation(tilt), 2.0**-40)))
        return [first * 2.0**place for place in range(-2, 3)]

    def _aliases(self, line: ContourLine, point: float) -> tuple[float, float]:
        """Bounds of the terms of Poisson's formula that are not wanted, over M(c) e^(-c x).

        The added release is in both moments.
        """
        tilt, period = line.tilt, line.period * (1 - 2.0**-40)
        error = line.alpha + self._relative + self._drift + (abs(line.log_norm) + (tilt + 1) * (abs(point) + period)) * 2.0**-40
        above = math.inf
        for more in self._rates(tilt):
            larger = self.log_moment(tilt + more) + (tilt + more) * (tilt + more + 1) / 2 * line.added
            power = larger - line.log_norm - more * (point + period) + error
            power += self._errors(tilt + more)[0] + (abs(larger) + more * (abs(point) + period)) * 2.0**-40
            above = min(above, _exponential(power) / -math.expm1(-more * period))
        power = tilt * (point - period) - line.log_norm
        whole, part = -math.expm1(-tilt * period), -math.expm1(-(tilt + 1) * period)
        lightest, heaviest = self._mass
        most = heaviest * _exponential(power + error) / whole * (1 + 2.0**-40)
        least = lightest * _exponential(power - error) / whole * (1 - 2.0**-30)
        least -= _exponential(power + point - period + error) / part * (1 + 2.0**-40)
        return max(least, 0.0), most + above * (1 + 2.0**-40)

    @functools.cached_property
    def _mass(self) -> tuple[float, float]:
        """Bounds of the mass of P that the transforms have."""
        lightest, heaviest = float(1 - self.rest) - 2.0**-50, float(1 - self.singular) + 2.0**-50
        return max(0.0, lightest * (1 - 2 * self._relative)), heaviest * (1 + 2 * self._relative)

    def _line(self, tilt: float, period: float) -> ContourLine:
        mantissa, exponent = math.frexp(2 * math.pi / period)
        step = math.ldexp(math.floor(mantissa * 16) / 16, exponent)  # few bits, so that its multiples are exact
        last, added = self._end(tilt, step)
        spend(last // _POINTS_PER_UNIT)
        heights = step * np.arange(last + 1, dtype=np.float64)
        weights = np.where(heights > 0, 2.0, 1.0)
        total = self.mu_squared + added
        kernel = weights / (np.hypot(tilt, heights) * np.hypot(tilt + 1, heights))
        values, dropped, dropped_density = self._product(heights, tilt, total, weights, kernel)
        alpha, beta = self._errors(tilt)
        alpha += (64 + 16 * (2 * tilt + 1) * math.sqrt(added) + 16 * tilt * (tilt + 1) * added) * UNIT
        end = step * last
        if alpha + beta * end > _LARGEST_ERROR:
            raise NumericalError("composition", "has too many releases for doubles", "ask for fewer")
        past = self._log_ceiling(end, tilt, total)
        lost = (
            float(alpha * np.sum(kernel) + beta * np.sum(kernel * heights)) + dropped + 2 * math.exp(past) / (step * end) + _TINY
        )
        density = math.inf
        if added:
            density = float(alpha * np.sum(weights) + beta * np.sum(weights * heights)) + dropped_density
            density += 2 * math.exp(past) / (step * total * end)
        kept = np.flatnonzero(values)
        norm = self.log_moment(tilt) + tilt * (tilt + 1) / 2 * added
        return ContourLine(tilt, step, norm, alpha, kept, values[kept], added, lost * (1 + 2.0**-20), density * (1 + 2.0**-20))

    def _log_ceiling(self, height: float, tilt: float, mu_squared: float) -> float:
        """ln |M(c + i s) / M(c)| is at most this, for all s from a height on."""
        return -mu_squared * height**2 / 2 + sum(group.times * group.log_ceiling(height, tilt) for group in self.groups)

    def _end(self, tilt: float, step: float) -> tuple[int, float]:
        """The last point, and the mu^2 of the release that has to be added for it."""
        last = 1 << math.ceil(math.log2(min(max(4 / (max(self._deviation(tilt), 2.0**-40) * step), 16), 2 * self.points)))
        while last <= self.points:
            if self._log_ceiling(last * step, tilt, self.mu_squared) < -_NEGLIGIBLE:
                return last, 0.0
            last *= 2
        return self.points, max((_FALL / (self.points * step)) ** 2 - self.mu_squared, 2.0**-60)

    def _product(
        self, heights: Floats, tilt: float, mu_squared: float, weights: Floats, kernel: Floats
    ) -> tuple[Complexes, float, float]:
        """The product of all transforms, 0 where it is negligible, and bounds of what that leaves out.

        No factor is larger than 1: what is negligible stays so. More and more rows are taken at a time, while terms get fewer.
        """
        found: Complexes = np.exp(mu_squared / 2 * heights * ((2 * tilt + 1) * 1j - heights))
        active = np.arange(len(heights))
        dropped = dropped_density = 0.0
        most = 1
        for group, rows in self._ordered:
            start = 0
            while start < len(rows):
                stop = start + max(1, min(most, _BATCH // max(len(active), 1)))
                spend((stop - start) * len(active) // _POINTS_PER_UNIT)
                values = np.ones(len(active), dtype=np.complex128)
                for row in group.ratios(rows[start:stop], heights[active], tilt):
                    values *= row
                found[active] *= _power(values, group.times)
                sizes = np.abs(found[active])
                small = sizes < _DROPPED
                gone = active[small]
                dropped += float(np.sum(sizes[small] * kernel[gone]))
                dropped_density += float(np.sum(sizes[small] * weights[gone]))
                found[gone] = 0.0
                active = active[~small]
                start, most = stop, 2 * most
        return found * weights, dropped, dropped_density

    @functools.cached_property
    def _ordered(self) -> list[tuple[Transforms, npt.NDArray[np.int64]]]:
        """The rows of all groups, those of the largest variance first: they make most terms negligible."""
        found = [(group, group.variances) for group in self.groups]
        found.sort(key=lambda pair: -pair[0].times * float(np.max(pair[1])))
        return [(group, np.argsort(-variances)) for group, variances in found]

    # -- the hockey stick -------------------------------------------------------------------------

    def upper(self, epsilon: arb, tilt: float) -> Fraction:
        return self.bounds(epsilon, tilt)[1]

    def bounds(self, epsilon: arb, tilt: float) -> tuple[Fraction, Fraction]:
        point = float(epsilon.mid())
        line = self.line(tilt, point)
        drift = self._drift + 4 * math.nextafter(float(epsilon.rad()), math.inf) + 8 * UNIT * abs(point)
        low, high = line.integral(point)
        least, most = self._aliases(line, point)
        low -= most + drift * math.exp(min(tilt * drift, 1.0)) * (1 + 2.0**-20)
        high += drift * math.exp(min(tilt * drift, 1.0)) * (1 + 2.0**-20) - least
        if line.added:
            low -= line.added * math.exp(line.added / 8) * (1 + 2.0**-40) * max(line.density(point), 0.0)
        if tilt * drift > 1 or not math.isfinite(high):
            return self.singular, Fraction(1)
        error = line.alpha + self._relative * (1 + 2.0**-20) + (abs(line.log_norm) + abs(tilt * point)) * 256 * UNIT
        with ctx.workprec(128):
            factor = (arb(line.log_norm, error) - arb(tilt) * arb(point)).exp()
            small, large = floor_of(factor) or Fraction(0), ceiling_of(factor)
        if large is None:
            return self.singular, Fraction(1)
        above = Fraction(max(high, 0.0)) * large + self.rest
        return Fraction(max(low, 0.0)) * small + self.singular, min(Fraction(1), above)

    # -- the epsilon at a delta -------------------------------------------------------------------

    @CAREFUL
    def epsilon_at(self, delta: Fraction, top: Number) -> Bracket:
        """By Newton's method on ln G along one line, then outward to where both ends are proved; else as `TiltedCurve`."""
        found = self._near_root(delta, float(min(top, number(_FARTHEST))))
        if found is None:
            return TiltedCurve.epsilon_at(self, delta, top)
        return Bracket(lower=number(Fraction(found[0])), upper=min(top, number(Fraction(found[1]))))

    def _near_root(self, delta: Fraction, last: float) -> tuple[float, float] | None:
        target = math.log(delta.numerator) - math.log(delta.denominator)
        tilt = self._tilt(lambda tilt: (self.log_integrand(tilt) - target) / tilt)
        here, slope = (self.log_integrand(tilt) - target) / tilt, -tilt
        for _ in range(_NEWTON):
            if not 0 < here <= last:
                return None
            value, slope = self.line(tilt, here).logarithm(here)
            if not slope < 0:
                return None
            there = here + (target - value) / slope
            if abs(there - here) <= _CLOSE * (1 + here):
                break
            here = there
        ends = []
        for way in (1, -1):
            lower, upper = self.bounds(arb(here), tilt)
            bound = lower if way < 0 else upper
            gap = abs((math.log(bound / delta) if bound else math.inf) / slope) + _CLOSE * (1 + here)
            if not math.isfinite(gap):
                return None
            for turn in range(_STEPS):
                point = here + way * gap * 1.25 * 2**turn
                if not 0 <= point <= last:
                    return None
                low, high = self.bounds(arb(point), tilt)
                if (high <= delta) if way > 0 else (low > delta):
                    ends.append(point)
                    break
        return (ends[1], ends[0]) if len(ends) == 2 else None


def _exponential(power: float) -> float:
    return math.exp(power) if power < _LARGEST_POWER else math.inf


def _power(values: Complexes, times: int) -> Complexes:
    """values^times, times >= 1, by repeated squaring."""
    while times % 2 == 0:
        values, times = values * values, times // 2
    result = values
    while times := times // 2:
        values = values * values
        if times % 2:
            result = result * values
    return result
