"""The composed loss of a list of pairs: which grid, which tilt, and the search for the epsilon at a delta."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import attrs
import numpy as np
from flint import arb, ctx

from dpspec.errors import NoRouteError
from dpspec.exact import INFINITY, ZERO, Bracket, Number, number
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.grid import Factor, GridLoss
from dpspec.laws.pieces import Lattice, LossPieces, loss_pieces, total

_SMALLEST, _LARGEST = 1 << 12, 1 << 22
_DEVIATIONS = 20
"""The window, in standard deviations of the composed loss."""
_FIRST_STEP = 2.0**-6
_MOST_TILT = 20
_TURNS = 40
_CLOSE = 2.0**-40


@attrs.frozen(eq=False)
class Totals:
    """A composed loss with its grid.

    Args:
        factors: the losses of the pairs, and how often each is released.
        loss: the same on the grid.
    """

    factors: tuple[Factor, ...]
    loss: GridLoss

    @classmethod
    def of(cls, parts: Sequence[tuple[Dichotomy, int]], precision: int) -> Totals:
        """The grid has about precision^2 sqrt(n) points for n releases; the bounds get closer with the square of that number."""
        coarse = [(loss_pieces(pair, _FIRST_STEP), times) for pair, times in parts]
        if any(not len(pieces.masses) for pieces, _ in coarse):
            raise NoRouteError("composition", "has a pair of which no finite loss is known", "ask for its singular mass")
        count = sum(times for _, times in parts)
        wanted = precision**2 * max(math.sqrt(count), 4 * count**0.25)
        size = min(max(1 << math.ceil(math.log2(wanted)), _SMALLEST), _LARGEST)
        reach = max(_reach(coarse), _CLOSE)
        laid = _on_one_lattice(coarse)
        if laid and reach / float(laid[0][2].spacing) < size / 2:
            size = max(_SMALLEST, 2 << math.ceil(math.log2(reach / float(laid[0][2].spacing))))
            return cls(tuple(coarse), GridLoss.on_lattice(laid, size))
        step = 2.0 ** math.ceil(math.log2(reach / max(size / 2, size - 2 * count - 1)))
        fine = [
            (loss_pieces(pair, step) if np.max(pieces.high - pieces.low) > step else pieces, times)
            for (pair, _), (pieces, times) in zip(parts, coarse, strict=True)
        ]
        return cls(tuple(fine), GridLoss.of(fine, step, size))

    # -- the tilt ---------------------------------------------------------------------------------

    @functools.cached_property
    def _known(self) -> dict[float, float]:
        return {}

    def _log_moment(self, tilt: float) -> float:
        """About ln E e^(tilt L)."""
        if tilt not in self._known:
            self._known[tilt] = sum(times * _log_moment(pieces, tilt) for pieces, times in self.factors)
        return self._known[tilt]

    def _tilt(self, value: Callable[[float], float]) -> float:
        """The power of two where a function of the tilt that falls and then rises is smallest, going downhill from 1."""
        place = 0
        for way in (1, -1):
            while abs(place + way) <= _MOST_TILT and value(2.0 ** (place + way)) < value(2.0**place):
                place += way
        return 2.0**place

    # -- what is asked ----------------------------------------------------------------------------

    def hockey_stick(self, epsilon: Number) -> Bracket:
        target = float(epsilon)
        tilt = self._tilt(lambda tilt: self._log_moment(tilt) - tilt * target)
        with ctx.workprec(128):
            lower, upper = self.loss.bounds(epsilon.enclose(128), tilt)
        return Bracket(lower=number(lower), upper=number(upper))

    def epsilon_at(self, delta: Fraction) -> Bracket:
        """Where the two bounds of the curve cross delta: guessed by secants, then moved to where it is proved."""
        target = math.log(delta)

        def chernoff(tilt: float) -> float:
            return (self._log_moment(tilt) - target) / tilt

        tilt = self._tilt(chernoff)

        def upper(epsilon: float) -> Fraction:
            return self.loss.upper(arb(epsilon), tilt)

        def lower(epsilon: float) -> Fraction:
            return self.loss.bounds(arb(epsilon), tilt)[0]

        start = max(0.0, chernoff(tilt))
        near = _crossing(lambda epsilon: _log_ratio(upper(epsilon), delta), start, tilt)
        above = _moved(lambda epsilon: upper(epsilon) <= delta, near, 1)
        near = _crossing(lambda epsilon: _log_ratio(lower(epsilon), delta), near, tilt)
        below = _moved(lambda epsilon: lower(epsilon) > delta, near, -1)
        return Bracket(lower=ZERO if below is None else number(below), upper=INFINITY if above is None else number(above))


def _log_ratio(value: Fraction, delta: Fraction) -> float:
    return math.log(value / delta) if value else -math.inf


def _crossing(excess: Callable[[float], float], start: float, slope: float) -> float:
    """About where a falling function is 0, by secants from a point with a guess of the slope."""
    here, value = start, excess(start)
    fall = slope
    for _ in range(_TURNS):
        if not math.isfinite(value):
            return here
        there = max(0.0, here + value / fall)
        if abs(there - here) <= _CLOSE * (1 + here):
            return there
        after = excess(there)
        if math.isfinite(after) and after != value and (after - value) * (there - here) < 0:
            fall = (value - after) / (there - here)
        here, value = there, after
    return here


def _moved(proved: Callable[[float], bool], start: float, way: int) -> Fraction | None:
    """The first point from a start on, in growing steps, where something is proved; None when there is none (at least 0)."""
    pad = _CLOSE * (1 + start)
    for _ in range(_TURNS):
        point = start + way * pad
        if point < 0:
            return None
        if proved(point):
            return Fraction(point)
        pad *= 4
    return None


def _reach(factors: Sequence[Factor]) -> float:
    """How wide the window should be: so many standard deviations, or all losses."""
    variance = whole = 0.0
    for pieces, times in factors:
        mean = total(pieces.losses * pieces.masses)
        variance += times * total((pieces.losses - mean) ** 2 * pieces.masses)
        whole += times * float(np.max(pieces.high) - np.min(pieces.low))
    return min(_DEVIATIONS * math.sqrt(variance), whole)


def _on_one_lattice(factors: Sequence[Factor]) -> list[tuple[LossPieces, int, Lattice]]:
    """The losses with their lattices when all have one spacing, else nothing."""
    laid = [(pieces, times, pieces.lattice) for pieces, times in factors if pieces.lattice is not None]
    return laid if len(laid) == len(factors) and len({lattice.spacing for _, _, lattice in laid}) == 1 else []


def _log_moment(pieces: LossPieces, tilt: float) -> float:
    powers = tilt * pieces.losses
    top = float(np.max(powers, initial=-math.inf))
    return top + math.log(total(np.exp(powers - top) * pieces.masses)) if math.isfinite(top) else -math.inf
