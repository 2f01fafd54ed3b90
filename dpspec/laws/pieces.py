"""Privacy losses in doubles, cut into cells, put on a grid, and summed: with how wrong the doubles may be.

The law of L = ln(dP/dQ) under P decides every functional of a pair, and it adds up under independent composition (Kifer et
al. 2022, Example 4.6). These arrays are what the convolution of `dpspec.laws.grid` starts from; every pair that can be cut into
cells has them.

On a grid, losses are moved to grid points such that the masses of both laws are preserved. Sums of independent losses are tilted,
so that doubles resolve the required tail, and carry the error of the FFT.

With L = dQ/dP of a pair (P, Q) and the rate q, the loss of (R, P), R = (1 - q) P + q Q, is g = ln(1 - q + q L), that of (P, R) is
-g. So the cells are cut where g passes the multiples of the step, and have the masses of P and the means of L of the noise. A
sample of a fixed size has the losses of (R, P) above 0, the same turned round, and 0 with the probability that is left.

The laws are multiplied by e^(c loss). The transforms have the error of Higham (Accuracy and Stability of Numerical Algorithms,
Theorem 24.2), at most 7 u log2(n) in the relative 2-norm for twiddles that are correct to one unit; 16 is counted. What leaves
the window is bounded by Chernoff.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import attrs
import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from dpspec.base.errors import NoFormulaError, NumericalError
from dpspec.base.log_linear import ceiling_of, floor_of
from dpspec.base.types import Floats
from dpspec.base.work import spend
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.continuous import GaussianShift, LaplaceShift
from dpspec.laws.dichotomy import Cell, Dichotomy
from dpspec.laws.integers import DiscreteGaussianLaw, DiscreteGaussianShift
from dpspec.laws.samples import FixedSizeSample, Sampled

UNIT = 2.0**-53
"""The relative error of one rounded operation on doubles."""

EXP_ERROR = 16 * UNIT
"""The relative error of exp, expm1 and log of numpy, whose authors state at most 4 units in the last place, and of what is
done to their result here."""

_GAUSSIAN_REACH = 14
_GAUSSIAN_REST = Fraction(1, 10**42)
_UNSEEN = 2.0**-900

_MOST_CELLS = 1 << 20
"""The approximate largest number of cells of one loss; cells are wider than requested where that is not enough."""
_FARTHEST = 2.0**20
"""Losses beyond are not put on a grid."""

_POINTS_PER_UNIT, _POINTS_OF_TRANSFORM = 48, 32
"""So many points of a grid take a unit of work: a few exponentials in doubles, or a Fourier transform with its powers."""
_PRECISION = 96
_WORK_OF_A_CELL = 3
"""Units of work (`dpspec.base.work`) of reading a cell: a logarithm, and six middles of balls."""
_LEAST = 1e-300
"""Cells of less probability are no normal doubles; they join the rest."""
_ATOM = 2.0**-44
"""A cell whose losses differ by less is an atom, and the difference an error of its loss."""


@attrs.frozen
class Lattice:
    """All losses are offset + spacing x an integer, exactly."""

    offset: Fraction
    spacing: Fraction


@attrs.frozen(eq=False)
class LossPieces:
    """The part of P where the loss is finite and known, cell by cell.

    Args:
        masses: P(cell), each within the relative error `relative`.
        losses: ln(P(cell)/Q(cell)); a loss that differs from the true one by at most `absolute` everywhere has exactly these
            values, and the ranges below.
        low, high: the range of the loss in the cell; equal to `losses` for atoms.
        rest: at least all of P that is in no cell.
        singular: at most the part of it where Q has no mass.
        lattice: where the losses lie, when that is known exactly; the cells are atoms then.
    """

    masses: Floats
    losses: Floats
    low: Floats
    high: Floats
    relative: float
    absolute: float
    rest: Fraction
    singular: Fraction = Fraction(0)
    lattice: Lattice | None = None

    @classmethod
    def of_cells(cls, cells: Sequence[Cell]) -> LossPieces:
        """The cells of a pair; those of which too little is known join the rest."""
        spend(_WORK_OF_A_CELL * len(cells))
        known, ratios = list[Cell](), list[arb]()
        with ctx.workprec(_PRECISION + 32):
            for cell in cells:
                ratio = cell.p / cell.q  # of two wide balls it may hold 0, although neither does
                if cell.p > _LEAST and cell.q > 0 and ratio > 0 and cell.low.is_finite() and cell.high.is_finite():
                    known.append(cell)
                    ratios.append(ratio.log())
            rest = 1 - sum((cell.p for cell in known), arb(0))
            singular = sum((cell.p for cell in cells if cell.is_singular), arb(0))
        masses, losses = _middle([cell.p for cell in known]), _middle(ratios)
        low, high = _middle([cell.low for cell in known]), _middle([cell.high for cell in known])
        reach = float(np.max(np.abs(np.concatenate((losses, low, high))), initial=0.0))
        atom = high - low < _ATOM
        inner = float(np.max(high - low, initial=0.0, where=atom))
        absolute = max(map(_radius, ratios), default=0.0) + inner + 4 * UNIT * reach
        return cls(
            masses,
            losses,
            np.where(atom, losses, np.minimum(low, losses) - 2 * absolute),
            np.where(atom, losses, np.maximum(high, losses) + 2 * absolute),
            max((_radius(cell.p) / mass for cell, mass in zip(known, masses, strict=True)), default=0.0) + 4 * UNIT,
            absolute,
            upper_fraction(rest),
            max(Fraction(0), floor_of(singular) or Fraction(0)),
        )


def total(values: Floats) -> float:
    """The sum, with an error of at most `UNIT` times their number relative to the sum of absolute values."""
    return float(np.sum(values))


def upper_fraction(value: arb) -> Fraction:
    """A rational at least as large as a probability in the ball, and at least 0."""
    above = ceiling_of(value)
    return Fraction(1) if above is None else max(Fraction(0), above)


def _middle(values: Sequence[arb]) -> Floats:
    return np.array([float(value.mid()) for value in values], dtype=np.float64)


def _radius(value: arb) -> float:
    return 2 * math.nextafter(float(value.rad()), math.inf)


@functools.singledispatch
def loss_pieces(pair: Dichotomy, _step: float) -> LossPieces:
    """The loss of a pair, in cells that are best not wider than the step and cut at its multiples."""
    return LossPieces.of_cells(pair.cells(_PRECISION))


def has_fine_pieces(pair: Dichotomy) -> bool:
    """Whether the cells of a pair are atoms, or are cut at the multiples of the step."""
    return isinstance(pair, FiniteDichotomy) or loss_pieces.dispatch(type(pair)) is not loss_pieces.dispatch(object)


@loss_pieces.register
def _of_discrete_gaussian(pair: DiscreteGaussianShift, _step: float) -> LossPieces:
    """ln(dP/dQ)(k) = shift (shift - 2 k) / (2 variance), for a shift > 0 and P centered at 0."""
    law, shift = DiscreteGaussianLaw(0, pair.variance), abs(pair.shift)
    reach = law.reach(_PRECISION + 32)
    if reach > _MOST_CELLS:
        return LossPieces.of_cells(pair.cells(_PRECISION))
    outcomes = np.arange(-reach, reach + 1, dtype=np.float64)
    powers = outcomes * outcomes / (2 * float(pair.variance))
    with ctx.workprec(_PRECISION):
        height = float(law.log_peak(_PRECISION).exp().mid())
    losses = (shift * (shift - 2 * outcomes)) / float(2 * pair.variance)
    return LossPieces(
        height * np.exp(-powers),
        losses,
        losses,
        losses,
        EXP_ERROR + 4 * UNIT * float(powers[0]),
        4 * UNIT * float(np.max(np.abs(losses))),
        2 * upper_fraction(law.tail(reach + 1, _PRECISION)[1]),
        lattice=Lattice(Fraction(shift**2) / (2 * pair.variance), shift / pair.variance),
    )


@loss_pieces.register
def _of_laplace(pair: LaplaceShift, step: float) -> LossPieces:
    """Mass 1/2 at t, e^(-t)/2 at -t, and between them the density e^((loss - t)/2) / 4.

    The ratio P/Q of an interval of losses there is the one of its middle.
    """
    t = float(pair.t)
    step = _wide_enough(step, t)
    count = math.floor(t / step)
    inner = step * np.arange(-count, count + 1)
    ends = np.concatenate(([-t], inner[np.abs(inner) < t], [t]))
    low, high = ends[:-1], ends[1:]
    masses = np.exp((high - t) / 2) * -np.expm1((low - high) / 2) / 2
    atoms = np.array([-t, t])
    losses = np.concatenate(((low + high) / 2, atoms))
    return LossPieces(
        np.concatenate((masses, (math.exp(-t) / 2, 0.5))),
        losses,
        np.concatenate((low, atoms)),
        np.concatenate((high, atoms)),
        EXP_ERROR + 8 * UNIT * (1 + t),
        8 * UNIT * t,
        Fraction(0),
    )


@loss_pieces.register
def _of_gaussian(pair: GaussianShift, step: float) -> LossPieces:
    """N(mu^2/2, mu^2), cut at the multiples of the step up to 14 standard deviations; what is outside is below 10^-43."""
    mu = math.sqrt(float(pair.mu_squared))
    step = _wide_enough(step, _GAUSSIAN_REACH * mu + mu * mu)
    last = math.ceil(_GAUSSIAN_REACH * mu / step) + 1
    ends = step * (round(mu * mu / 2 / step) + np.arange(-last, last + 1, dtype=np.float64))
    scaled = (ends - mu * mu / 2) / mu
    masses, errors = _normal_masses(scaled)
    shifted, shifted_errors = _normal_masses(scaled + mu)
    seen = (masses > _UNSEEN) & (shifted > _UNSEEN)
    if not seen.any():
        raise NumericalError("loss", "has two laws that differ too much for doubles", "choose more noise", value=mu)
    unseen = total(masses[~seen] * (1 + errors[~seen])) * (1 + len(masses) * UNIT)
    low, high, masses, shifted = ends[:-1][seen], ends[1:][seen], masses[seen], shifted[seen]
    error = float(np.max(errors[seen]))
    rounding = EXP_ERROR + 16 * UNIT * (float(np.max(np.abs(ends))) + mu * mu)
    return LossPieces(
        masses,
        np.clip(np.log(masses / shifted), low, high),
        low,
        high,
        error,
        4 * (error + float(np.max(shifted_errors[seen])) + rounding),
        _GAUSSIAN_REST + Fraction(unseen),
    )


def _wide_enough(step: float, reach: float) -> float:
    """The step, times the power of 2 with which it does not cut a reach into too many cells."""
    if not reach < _FARTHEST:
        raise NumericalError("loss", "is beyond 2^20", "choose less extreme parameters", value=reach)
    return step * 2.0 ** max(0, math.ceil(math.log2(max(2 * reach / step, 1) / _MOST_CELLS)))


def _normal_masses(ends: Floats) -> tuple[Floats, Floats]:
    """The standard normal masses between points, as differences of tails on the smaller side, and their relative errors."""
    from scipy.special import erfc

    tails: Floats = erfc(np.abs(ends) / math.sqrt(2)) / 2
    left, right = tails[:-1], tails[1:]
    inner = (ends[:-1] < 0) & (ends[1:] > 0)
    masses = np.where(inner, 1 - left - right, np.abs(left - right))
    unsure = tails * (1 + ends**2)
    errors = 4 * EXP_ERROR * np.where(inner, 1.0, np.maximum(unsure[:-1], unsure[1:]))
    return masses, np.divide(errors, masses, out=np.ones_like(masses), where=masses > 0)


# --- losses on a random sample --------------------------------------------------------------------


_WIDEST_CELL = 1 / 16
"""In standard deviations; wider cells are cut."""
_MOST_MU = 20.0
"""The largest difference of Gaussian means: beyond it, one law has masses that are no normal doubles where the other has its
own."""
_NODES = 8
_ELLIPSE = 32.0


@attrs.frozen(eq=False)
class RatioCells:
    """Cells of a pair (P, Q) by their ln L, in increasing order.

    Args:
        masses: P(cell), each within the relative error `relative`.
        excess: Q(cell) / P(cell) - 1.
        low, high: g = ln(1 - q + q L) at both ends.
        relative: see `masses`.
        absolute: an error of g, and of its mean in a cell, that covers all of what doubles do.
        rest: at least the P-mass and the Q-mass outside of all cells.
    """

    masses: Floats
    excess: Floats
    low: Floats
    high: Floats
    relative: float
    absolute: float
    rest: float

    def of(self, rate: float, *, is_turned: bool) -> LossPieces:
        """The losses of (R, P), or of (P, R)."""
        with_it = self.masses * (1 + rate * self.excess)
        losses = np.clip(np.log1p(rate * self.excess), self.low, self.high)
        relative, rest = self.relative + EXP_ERROR, Fraction(self.rest)
        if is_turned:
            return LossPieces(with_it, losses, self.low, self.high, relative + 2 * self.absolute, self.absolute, rest)
        return LossPieces(self.masses, -losses, -self.high, -self.low, relative, self.absolute, rest)

    def of_fixed_size(self, rate: float, still: float) -> LossPieces:
        """The losses of a sample of a fixed size: those above 0, turned round, and 0."""
        kept = self.of(rate, is_turned=True)
        above = (self.low >= 0) & (self.high > 0)
        masses, losses, low, high = (part[above] for part in (kept.masses, kept.losses, kept.low, kept.high))
        return LossPieces(
            np.concatenate((masses, self.masses[above], [still])),
            np.concatenate((losses, -losses, [0.0])),
            np.concatenate((low, -high, [0.0])),
            np.concatenate((high, -low, [0.0])),
            kept.relative,
            kept.absolute,
            2 * kept.rest,
        )


def _thresholds(rate: float, step: float, low: float, high: float) -> tuple[Floats, Floats]:
    """The multiples of a step that g takes for ln L between two ends, and the ln L where it does."""
    ends = np.log1p(rate * np.expm1(np.array([low, high])))
    places = step * np.arange(math.floor(ends[0] / step) + 1, math.ceil(ends[1] / step), dtype=np.float64)
    inner = 1 + np.expm1(places) / rate
    known = inner > 0
    places, logs = places[known], np.log(inner[known])
    seen = (logs > low) & (logs < high)
    return places[seen], logs[seen]


def _cut(rate: float, step: float, ends: Floats) -> tuple[Floats, Floats]:
    """ln L at the given ends and where g passes a multiple of the step, in increasing order, with g; exact at these multiples."""
    places, logs = _thresholds(rate, step, float(ends[0]), float(ends[-1]))
    position = np.searchsorted(logs, ends, side="right")
    bounded = np.concatenate(([-np.inf], places, [np.inf]))
    values = np.clip(np.log1p(rate * np.expm1(ends)), bounded[position], bounded[position + 1])
    every, losses = np.concatenate((logs, ends)), np.concatenate((places, values))
    order = np.lexsort((losses, every))
    return every[order], losses[order]


def _error(rate: float, reach: float, largest: float) -> float:
    """A bound on the error of g, for ln L up to a reach: dg = q L / (1 - q + q L) d ln L, and roundings of the parts."""
    return 128 * UNIT * (2 + reach + largest) / (1 - rate)


def _gaussian_cells(pair: GaussianShift, rate: float, step: float) -> RatioCells:
    """ln L = mu z - mu^2/2 of a standard normal z, from 14 below 0 to 14 above mu; masses by Gauss's rule with 8 nodes."""
    mu = math.sqrt(float(pair.mu_squared))
    if not 0 < mu < _MOST_MU:
        raise NoFormulaError("sampled noise", "is too small for doubles", "choose more noise", value=mu)
    count = math.ceil((2 * _GAUSSIAN_REACH + mu) / _WIDEST_CELL)
    points = -_GAUSSIAN_REACH + (2 * _GAUSSIAN_REACH + mu) * np.arange(count + 1) / count
    reach = mu * (_GAUSSIAN_REACH + mu)
    step = _wide_enough(step, math.log1p(rate * math.expm1(reach)) - math.log1p(-rate))
    logs, losses = _cut(rate, step, mu * points - mu * mu / 2)
    z = np.maximum.accumulate((logs + mu * mu / 2) / mu)
    wide = z[1:] > z[:-1]
    left, right, low, high = z[:-1][wide], z[1:][wide], losses[:-1][wide], losses[1:][wide]
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    middle, half = (left + right) / 2, (right - left) / 2
    masses, moved = np.zeros(len(middle)), np.zeros(len(middle))
    for node, weight in zip(nodes, weights, strict=True):
        place = middle + half * node
        density = weight * np.exp(-place * place / 2)
        masses += density
        moved += density * np.expm1(mu * place - mu * mu / 2)
    farthest = _GAUSSIAN_REACH + mu
    rule = _gauss_error(farthest + mu)
    return RatioCells(
        masses * half / math.sqrt(2 * math.pi),
        moved / masses,
        low,
        high,
        EXP_ERROR + 8 * UNIT * (8 + farthest**2) + rule,
        _error(rate, reach + mu * mu, float(np.max(np.abs(losses)))) + 4 * rule / (1 - rate),
        float(_GAUSSIAN_REST),
    )


def _gauss_error(farthest: float) -> float:
    """The relative error of Gauss's rule on e^(-(c + x)^2 / 2), |x| <= h/2, |c| at most so much (Trefethen 2008, Theorem 4.5).

    64/15 (h/2) M / ((1 - r^-2) r^(2 n)), M the largest value on the ellipse with half axes (r +- 1/r) h/4, here at most 0.502 for
    h = 1/16 and r = 32; the integral is at least h e^(-c^2 / 2 - |c| h/2 - h^2/8).
    """
    return 64 / 15 * math.exp(farthest * (0.502 + _WIDEST_CELL / 2) + 0.2) / _ELLIPSE ** (2 * _NODES)


def _laplace_cells(pair: LaplaceShift, rate: float, step: float) -> RatioCells:
    """ln L = -t with probability 1/2, t with e^(-t)/2, and between them with the density e^(-(t + ln L)/2) / 4."""
    t = float(pair.t)
    step = _wide_enough(step, math.log1p(rate * math.expm1(t)) - math.log1p(rate * math.expm1(-t)))
    logs, losses = _cut(rate, step, np.linspace(-t, t, 65))
    wide = logs[1:] > logs[:-1]
    left, right, low, high = logs[:-1][wide], logs[1:][wide], losses[:-1][wide], losses[1:][wide]
    masses = np.exp(-(t + left) / 2) * -np.expm1((left - right) / 2) / 2
    atoms = np.array([-t, t])
    at_atoms = np.log1p(rate * np.expm1(atoms))
    return RatioCells(
        np.concatenate(([0.5], masses, [math.exp(-t) / 2])),
        np.concatenate((np.expm1(atoms[:1]), np.expm1((left + right) / 2), np.expm1(atoms[1:]))),
        np.concatenate((at_atoms[:1], low, at_atoms[1:])),
        np.concatenate((at_atoms[:1], high, at_atoms[1:])),
        EXP_ERROR + 16 * UNIT * (1 + t),
        _error(rate, t, float(np.max(np.abs(at_atoms)))),
        0.0,
    )


def _discrete_gaussian_cells(pair: DiscreteGaussianShift, rate: float, _step: float) -> RatioCells:
    """ln L = s (2 k - s) / (2 v) at k, as far as both laws have mass: atoms."""
    law, shift, variance = DiscreteGaussianLaw(0, pair.variance), abs(pair.shift), float(pair.variance)
    reach = law.reach(_PRECISION)
    if 2 * reach + shift > _MOST_CELLS:
        raise NoFormulaError("sampled noise", "has more integers in reach than are listed", "choose less noise", value=reach)
    k = np.arange(-reach, reach + shift + 1, dtype=np.float64)
    logs = shift * (2 * k - shift) / (2 * variance)
    with ctx.workprec(_PRECISION):
        height = float(law.log_peak(_PRECISION).exp().mid())
        rest = float(upper_fraction(2 * law.tail(reach + 1, _PRECISION)[1])) * (1 + 4 * UNIT)
    largest = float(k[-1] ** 2 / (2 * variance))
    if not largest < _MOST_MU**2:
        raise NoFormulaError("sampled noise", "is too small for doubles", "choose more noise", value=str(pair.variance))
    losses = np.log1p(rate * np.expm1(logs))
    return RatioCells(
        height * np.exp(-k * k / (2 * variance)),
        np.expm1(logs),
        losses,
        losses,
        EXP_ERROR + 8 * UNIT * (1 + largest),
        _error(rate, float(np.max(np.abs(logs))), float(np.max(np.abs(losses)))),
        rest,
    )


_RATIO_CELLS: dict[type[Dichotomy], Callable[..., RatioCells]] = {
    GaussianShift: _gaussian_cells,
    LaplaceShift: _laplace_cells,
    DiscreteGaussianShift: _discrete_gaussian_cells,
}


def _ratio_cells(pair: Dichotomy, rate: Fraction, step: float) -> RatioCells:
    found = _RATIO_CELLS.get(type(pair))
    if found is None:
        raise NoFormulaError("sampled release", f"is not known finely for {type(pair).__name__}", "use one kind of noise")
    return found(pair, float(rate), step)


@loss_pieces.register
def _of_sampled(pair: Sampled, step: float) -> LossPieces:
    if type(pair.pair) not in _RATIO_CELLS:
        return LossPieces.of_cells(pair.cells(_PRECISION))
    return _ratio_cells(pair.pair, pair.rate, step).of(float(pair.rate), is_turned=pair.is_turned)


@loss_pieces.register
def _of_fixed_size(pair: FixedSizeSample, step: float) -> LossPieces:
    cells = _ratio_cells(pair.pair, pair.rate, step)
    with ctx.workprec(_PRECISION):
        still = float(arb(pair.still(_PRECISION).mid()))
    return cells.of_fixed_size(float(pair.rate), still)


# --- one loss on a grid ---------------------------------------------------------------------------


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
        np.divide(np.expm1(pieces.losses - high * step), np.expm1(-width), out=kept, where=high > low)
        kept *= np.exp(low * step - pieces.losses)
        places = np.concatenate((low, high))
        masses = np.concatenate((pieces.masses * kept, pieces.masses * share))
        return cls._gather(places, masses, pieces.relative + 6 * EXP_ERROR, times), float(np.max(width, initial=0.0))

    @classmethod
    def _gather(cls, places: npt.NDArray[np.int64], masses: Floats, relative: float, times: int) -> Spread:
        first = int(places.min())
        return cls(first, summed(places - first, masses), relative + len(masses) * UNIT, times)

    def tilted(self, tilt: float, step: float) -> tuple[Spread, arb]:
        """The masses times e^(tilt loss), normalised, and what that adds to the logarithm of the norm."""
        powers = tilt * self.losses(step)
        top = float(np.max(powers))
        masses = self.masses * np.exp(powers - top)
        norm = total(masses) * (1 + len(masses) * UNIT)
        relative = self.relative + EXP_ERROR + 8 * UNIT * float(np.max(np.abs(powers)))
        with ctx.workprec(128):
            return attrs.evolve(self, masses=masses / norm, relative=relative), self.times * (arb(norm).log() + arb(top))

    def without_ends(self) -> tuple[Spread, float]:
        """The masses without those of both ends that hardly count, and at most how much all repetitions lose by that."""
        least = _CUT / self.times
        below, above = np.cumsum(self.masses), np.cumsum(self.masses[::-1])
        low, high = int(np.searchsorted(below, least)), int(np.searchsorted(above, least))
        if low + high >= len(self.masses):
            return self, 0.0
        kept = self.masses[low : len(self.masses) - high]
        lost = (below[low - 1] if low else 0.0) + (above[high - 1] if high else 0.0)
        slack = 1 + 2 * self.relative + 2.0**-20
        return attrs.evolve(self, first=self.first + low, masses=kept), float(lost) * self.times * slack

    def losses(self, step: float) -> Floats:
        return step * np.arange(self.first, self.first + len(self.masses), dtype=np.float64)


def summed(places: npt.NDArray[np.int64], masses: Floats, size: int = 0) -> Floats:
    """The masses at every place together."""
    return np.bincount(places, weights=masses, minlength=size).astype(np.float64, copy=False)


# --- tilted sums ----------------------------------------------------------------------------------


_CUT = 2.0**-60
"""The largest mass of the ends of a tilted factor, in all its repetitions, that is left out."""

_TINY = 2.0**-200
"""More than all that underflows: a sum of at most 2^64 numbers below 2^-1000."""

_LARGEST_VARIANCE = 1 / 256
_GAP = Fraction(17, 16)
_RATES = 32
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
        factors, cut = zip(*(factor.without_ends() for factor in factors), strict=True)
        mean = variance = 0.0  # about those of the sum
        for factor in factors:
            losses = factor.losses(step)
            one = total(losses * factor.masses)
            mean += factor.times * one
            variance += factor.times * total((losses - one) ** 2 * factor.masses)
        start = sum(factor.first * factor.times for factor in factors)
        count = sum((len(factor.masses) - 1) * factor.times for factor in factors) + 1
        first, outside = start, 0.0
        if count > size:
            first = round(mean / step) - size // 2
            outside = _escapes(factors, step, (first * step, (first + size) * step), (mean, variance))
        spend((1 + len(factors)) * size // _POINTS_OF_TRANSFORM)
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
            _TINY + outside + sum(cut),
        )

    def gain(self, threshold: float, drift: float) -> tuple[Fraction, Fraction]:
        """Bounds of the integral of 1 - e^(t - loss) over the losses above t, for all t within the drift of the threshold.

        It changes by at most the drift times P(loss > t), and that is at most the norm times e^(-tilt t).
        """
        start = max(0, math.floor(threshold / self.step) + 1 - self.first)
        stop = start + math.ceil(_FAR / (self.tilt * self.step)) + 1
        spend(len(self.masses[start:stop]) // _POINTS_PER_UNIT)
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
    """values^times, times >= 1, by repeated squaring: times - 1 rounded products, in whatever order.

    The products overwrite their factors, `values` included: with millions of points, new memory costs more than the products.
    """
    square = values
    while not times & 1:
        np.multiply(square, square, out=square)
        times >>= 1
    result = square.copy()
    while times := times >> 1:
        np.multiply(square, square, out=square)
        if times & 1:
            np.multiply(result, square, out=result)
    return result


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
