"""Privacy losses in doubles: cells of P with the range of ln(dP/dQ) in each, and how wrong the doubles may be.

The law of L = ln(dP/dQ) under P decides every functional of a pair, and it adds up under independent composition (K-T1).
These arrays are what the convolution of `dpspec.laws.grid` starts from; every pair that can be cut into cells has them.
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

from dpspec.errors import NumericalError
from dpspec.forms import ceiling_of, floor_of
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.balls import Cell
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.discrete_gaussian import DiscreteGaussianShift
from dpspec.laws.integers import DiscreteGaussian
from dpspec.laws.shifts import GaussianShift, LaplaceShift

Floats = npt.NDArray[np.float64]

UNIT = 2.0**-53
"""The relative error of one rounded operation on doubles."""

EXP_ERROR = 16 * UNIT
"""The relative error of exp, expm1 and log of numpy, whose authors state at most 4 units in the last place, and of what is
done to their result here."""

_GAUSSIAN_REACH = 14
_GAUSSIAN_REST = Fraction(1, 10**42)
_UNSEEN = 2.0**-900

_MOST_CELLS = 1 << 20
"""One loss has at most about so many cells; cells get wider than was asked for where that is not enough."""
_FARTHEST = 2.0**20
"""Losses beyond are not put on a grid."""

_PRECISION = 96
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
        known = [cell for cell in cells if cell.p > 0 and cell.q > 0 and cell.low.is_finite() and cell.high.is_finite()]
        with ctx.workprec(_PRECISION + 32):
            ratios = [(cell.p / cell.q).log() for cell in known]
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
    law, shift = DiscreteGaussian(0, pair.variance), abs(pair.shift)
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
        _GAUSSIAN_REST,
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
