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
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction

import attrs
import numpy as np
from flint import arb, ctx

from dpspec.base.errors import NoFormulaError, NumericalError
from dpspec.base.exact import ZERO, Bracket, Number, number
from dpspec.base.log_linear import ball, dyadic
from dpspec.base.types import Floats
from dpspec.base.work import spend
from dpspec.laws.dichotomy import NOTHING, Dichotomy
from dpspec.laws.pieces import UNIT, Lattice, LossPieces, Spread, Tilted, loss_pieces, total

Factor = tuple[LossPieces, int]
"""The loss of a pair, and how often it is released."""


@attrs.frozen(eq=False)
class GridLoss:
    """A composed loss: independent losses on one grid, displaced by `offset`.

    Args:
        spreads: the different factors.
        step: the distance of grid points.
        size: the number of grid points, a power of two.
        offset: what is added to every point.
        variance: v above, at most 1/256.
        drift: a bound on the further error of the sum of the losses as doubles.
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
            escaped([(pieces.rest, times) for pieces, times in factors], -1),
            escaped([(pieces.singular, times) for pieces, times in factors], 1),
        )

    @functools.cached_property
    def _known_tilts(self) -> dict[float, Tilted]:
        return {}

    def tilted(self, tilt: float) -> Tilted:
        """The law with this tilt, or with the next smaller one, by powers of two, that the window holds."""
        if tilt not in self._known_tilts:
            found = Tilted.of(self.spreads, self.step, self.size, tilt)
            if found.outside > _OUTSIDE and tilt > _LEAST_TILT:
                found = min(found, self.tilted(tilt / 2), key=lambda law: law.outside)
            self._known_tilts[tilt] = found
        return self._known_tilts[tilt]

    def upper(self, epsilon: arb, tilt: float) -> Fraction:
        """An upper bound of the hockey stick at a ball of thresholds, from the law with this tilt."""
        return min(Fraction(1), self.tilted(tilt).gain(*self._threshold(epsilon))[1] + self.rest)

    def bounds(self, epsilon: arb, tilt: float) -> tuple[Fraction, Fraction]:
        """Both bounds of it."""
        law, (middle, drift) = self.tilted(tilt), self._threshold(epsilon)
        lower, upper = law.gain(middle, drift)
        lower = max(Fraction(0), lower - law.gap(middle + drift, self.variance))
        return lower + self.singular, min(Fraction(1), upper + self.rest)

    def _threshold(self, epsilon: arb) -> tuple[float, float]:
        """The index at which the grid is cut, and the largest distance of the threshold from there."""
        threshold = epsilon - ball(self.offset)
        middle = float(threshold.mid())
        radius = 2 * math.nextafter(float(threshold.rad()), math.inf)
        return middle, 2 * self.drift + radius + 8 * UNIT * (abs(middle) + self.size * self.step)


def escaped(masses: Sequence[tuple[Fraction, int]], direction: int) -> Fraction:
    """1 - prod (1 - mass)^times, rounded down (1) or up (-1)."""
    with ctx.workprec(256):
        kept = arb(1)
        for mass, times in masses:
            kept *= (1 - ball(mass)) ** times
        escaped = (1 - kept).max(arb(0))
        return dyadic(escaped.lower() if direction > 0 else escaped.upper())


# --- which grid, which tilt, and the epsilon at a delta -------------------------------------------


_SMALLEST, _LARGEST = 1 << 12, 1 << 22
_POINTS_PER_UNIT = 96
"""So many losses take a unit of work: an exponential in doubles each."""
_DEVIATIONS = 20
"""The window, in standard deviations of the composed loss."""
_UNSEEN = 2.0**-80
"""The probability with which a single release may have a loss that the window does not hold."""
_SELDOM = 2.0**-40
_WIDER, _WIDENED = 4, 1 << 20
"""Windows that are so many times as wide as usual get more points, up to this number."""
_OUTSIDE = 2.0**-40
"""A tilted law with more than this outside of the window says little."""
_LEAST_TILT = 2.0**-20
_FIRST_STEP = 2.0**-6
_MOST_TILT = 20
_TURNS, _STEPS = 60, 16
_BELOW_THE_GUESS = 1 / 2, 3 / 4
"""Shares of the bound by Chernoff: the curve is mostly above delta at one of them, which proves that the epsilon is positive."""
_CLOSE = 2.0**-40
_NEAR = 2.0**-12
"""The relative width of a bracket of epsilon above which it is refined."""
_FINE = 2.0**-24
_FARTHEST = 10**12
"""The largest epsilon that is searched."""


CAREFUL = np.errstate(over="raise", invalid="raise")
"""No infinity and no NaN of doubles gets into a bound."""


class TiltedCurve(ABC):
    """The hockey stick of a composed loss from bounds with a tilt."""

    singular: Fraction

    @abstractmethod
    def log_moment(self, tilt: float) -> float:
        """About ln E e^(tilt L)."""

    def log_integrand(self, tilt: float) -> float:
        """The exponent whose minimum is the best tilt at a threshold, without the term -tilt times the threshold."""
        return self.log_moment(tilt)

    @abstractmethod
    def upper(self, epsilon: arb, tilt: float) -> Fraction:
        """An upper bound of the hockey stick at a ball of thresholds, from the law with this tilt."""

    @abstractmethod
    def bounds(self, epsilon: arb, tilt: float) -> tuple[Fraction, Fraction]:
        """Both bounds of it."""

    # -- the tilt ---------------------------------------------------------------------------------

    def _tilt(self, value: Callable[[float], float]) -> float:
        """The power of two where a function of the tilt that falls and then rises is smallest, going downhill from 1."""
        place = 0
        for way in (1, -1):
            while abs(place + way) <= _MOST_TILT and value(2.0 ** (place + way)) < value(2.0**place):
                place += way
        return 2.0**place

    # -- queries ----------------------------------------------------------------------------------

    @CAREFUL
    def hockey_stick(self, epsilon: Number) -> Bracket:
        if epsilon > _FARTHEST:
            beyond = self.hockey_stick(number(_FARTHEST))
            return Bracket(lower=number(self.singular), upper=beyond.upper)
        target = float(epsilon)
        tilt = self._tilt(lambda tilt: self.log_integrand(tilt) - tilt * target)
        with ctx.workprec(128):
            lower, upper = self.bounds(epsilon.enclose(128), tilt)
        return Bracket(lower=number(lower), upper=number(upper))

    @CAREFUL
    def epsilon_at(self, delta: Fraction, top: Number) -> Bracket:
        """The point where the curve H crosses delta: at most the largest loss, with proofs of H <= delta and H > delta on both
        sides.

        Guessed by secants; where that leads astray, halved.

        Args:
            delta: the value that is looked for.
            top: the largest loss, perhaps infinite.
        """
        last = float(min(top, number(_FARTHEST)))
        tilt, guess = self._best_at(delta)
        is_positive = guess > 0 and any(self.bounds(arb(guess * share), tilt)[0] > delta for share in _BELOW_THE_GUESS)
        if not is_positive:  # the curve at 0 decides; its best tilt is another one, and each tilt costs two transforms
            start = self.hockey_stick(ZERO)
            if start.upper.as_fraction() <= delta:
                return NOTHING
            is_positive = start.lower.as_fraction() > delta
        low, high = self._guess(delta, last, tilt, guess)

        def within(point: float) -> bool:
            return self.upper(arb(point), tilt) <= delta or self._at(point).upper.as_fraction() <= delta

        def beyond(point: float) -> bool:
            return self.bounds(arb(point), tilt)[0] > delta or self._at(point).lower.as_fraction() > delta

        above, below = _moved(within, high, 1, last), _moved(beyond, low, -1, last)
        if above is None or below is None or above - below > _NEAR * (1 + above):
            if below is None and is_positive:
                below = _halved(beyond, 0.0, last if above is None else above)
            above = _halved(within, last if above is None else above, below or 0.0)
        upper = top if above == last and not within(last) else min(top, number(Fraction(above)))
        return Bracket(lower=number(Fraction(below or 0.0)), upper=upper)

    def _at(self, point: float) -> Bracket:
        return self.hockey_stick(number(Fraction(point)))

    def _best_at(self, delta: Fraction) -> tuple[float, float]:
        """The tilt with the least bound by Chernoff of the epsilon at delta, and that bound."""
        target = math.log(delta.numerator) - math.log(delta.denominator)

        def chernoff(tilt: float) -> float:
            return (self.log_integrand(tilt) - target) / tilt

        tilt = self._tilt(chernoff)
        return tilt, chernoff(tilt)

    def _guess(self, delta: Fraction, last: float, tilt: float, start: float) -> tuple[float, float]:
        """About where both bounds of the curve cross delta."""
        start = min(max(0.0, start), last)
        high = _crossing(lambda point: _log_ratio(self.upper(arb(point), tilt), delta), start, tilt, last)
        low = _crossing(lambda point: _log_ratio(self.bounds(arb(point), tilt)[0], delta), high, tilt, last)
        return low, high


@attrs.frozen(eq=False)
class Totals(TiltedCurve):
    """A composed loss with its grid.

    Args:
        factors: the losses of the pairs, and how often each is released.
        loss: the same on the grid.
    """

    factors: tuple[Factor, ...]
    loss: GridLoss

    @classmethod
    @CAREFUL
    def of(cls, parts: Sequence[tuple[Dichotomy, int]], precision: int) -> Totals:
        """The grid has about precision^2 sqrt(n) points for n releases; the bounds get closer with the square of that number."""
        coarse = [(loss_pieces(pair, _FIRST_STEP), times) for pair, times in parts]
        if any(not len(pieces.masses) for pieces, _ in coarse):
            raise NoFormulaError("composition", "has a pair of which no finite loss is known", "ask for its singular mass")
        count = sum(times for _, times in parts)
        wanted = precision**2 * max(math.sqrt(count), 4 * count**0.25)
        size = min(max(1 << math.ceil(math.log2(wanted)), _SMALLEST), _LARGEST)
        narrow, reach = (max(found, _CLOSE) for found in _reach(coarse))
        laid = _on_one_lattice(coarse)
        if laid and reach / float(laid[0][2].spacing) < size / 2 and _span(laid) < _LARGEST:
            size = max(_SMALLEST, 2 << math.ceil(math.log2(reach / float(laid[0][2].spacing))))
            return cls(tuple(coarse), GridLoss.on_lattice(laid, size))
        if size < _WIDENED and reach > _WIDER * narrow:  # as fine as without the losses of single releases
            size = min(_WIDENED, size << math.ceil(math.log2(reach / narrow)))
        # below minus this loss a release, as often as it is made, has few losses: they hardly count in a tilted law
        lowest = max(_quantile(pieces.losses, pieces.masses * times, _SELDOM) for pieces, times in coarse)
        wide = min(_LARGEST, 1 << math.ceil(math.log2(size * max(1.0, 1.5 * lowest / reach))))
        widest = max(float(np.max(pieces.high) - np.min(pieces.low)) for pieces, _ in coarse)
        step = 2.0 ** math.ceil(math.log2(max(reach / max(size / 2, size - 2 * count - 1), widest / _LARGEST)))
        fine = [
            (loss_pieces(pair, step) if np.max(pieces.high - pieces.low) > step else pieces, times)
            for (pair, _), (pieces, times) in zip(parts, coarse, strict=True)
        ]
        return cls(tuple(fine), GridLoss.of(fine, step, max(size, wide)))

    @property
    def singular(self) -> Fraction:  # type: ignore[override]
        return self.loss.singular

    @functools.cached_property
    def _known(self) -> dict[float, float]:
        return {}

    def log_moment(self, tilt: float) -> float:
        if tilt not in self._known:
            self._known[tilt] = sum(times * _log_moment(pieces, tilt) for pieces, times in self.factors)
        return self._known[tilt]

    def upper(self, epsilon: arb, tilt: float) -> Fraction:
        return self.loss.upper(epsilon, tilt)

    def bounds(self, epsilon: arb, tilt: float) -> tuple[Fraction, Fraction]:
        return self.loss.bounds(epsilon, tilt)


def _log_ratio(value: Fraction, delta: Fraction) -> float:
    with ctx.workprec(64):
        return float((ball(value) / ball(delta)).log()) if value else -math.inf


def _crossing(excess: Callable[[float], float], start: float, slope: float, last: float) -> float:
    """About where a falling function is 0 in [0, last], by secants from a point with a guess of the slope."""
    here, value = start, excess(start)
    fall = slope
    for _ in range(_TURNS):
        if not math.isfinite(value):
            return here
        there = min(max(0.0, here + value / fall), last)
        if abs(there - here) <= _CLOSE * (1 + here):
            return there
        after = excess(there)
        if math.isfinite(after) and after != value and (after - value) * (there - here) < 0:
            fall = (value - after) / (there - here)
        here, value = there, after
    return here


def _moved(proved: Callable[[float], bool], start: float, way: int, last: float) -> float | None:
    """The first point of [0, last] from a start on, in growing steps, where something is proved; None when there is none."""
    pad = _CLOSE * (1 + start)
    for _ in range(_STEPS):
        point = start + way * pad
        if not 0 <= point <= last:
            return None
        if proved(point):
            return point
        pad *= 4
    return None


def _halved(proved: Callable[[float], bool], good: float, bad: float) -> float:
    """A point next to which, towards the bad one, something is no longer proved; it is proved there, if it is at the good one."""
    for _ in range(_TURNS):
        middle = (good + bad) / 2
        if abs(good - bad) <= _FINE * (1 + abs(good)):
            break
        good, bad = (middle, bad) if proved(middle) else (good, middle)
    return good


def _reach(factors: Sequence[Factor]) -> tuple[float, float]:
    """How wide the window should be: so many standard deviations, and with the losses that single releases may have; at most all
    losses."""
    variance = whole = single = 0.0
    for pieces, times in factors:
        # a release, as often as it is made, has almost no loss above this one
        single = max(single, _quantile(-pieces.losses, pieces.masses * times, _UNSEEN))
        mean = total(pieces.losses * pieces.masses)
        variance += times * total((pieces.losses - mean) ** 2 * pieces.masses)
        whole += times * float(np.max(pieces.high) - np.min(pieces.low))
    narrow = min(_DEVIATIONS * math.sqrt(variance), whole)
    return narrow, min(max(narrow, 3 * single), whole)


def _quantile(keys: Floats, masses: Floats, least: float) -> float:
    """Minus the first key up to which there is so much mass; 0 where it is above 0."""
    order = np.argsort(keys)
    seen = np.cumsum(masses[order]) > least
    return max(0.0, -float(keys[order][seen][0])) if seen.any() else 0.0


def _on_one_lattice(factors: Sequence[Factor]) -> list[tuple[LossPieces, int, Lattice]]:
    """The losses with their lattices when all have one spacing, else nothing."""
    laid = [(pieces, times, pieces.lattice) for pieces, times in factors if pieces.lattice is not None]
    return laid if len(laid) == len(factors) and len({lattice.spacing for _, _, lattice in laid}) == 1 else []


def _span(laid: Sequence[tuple[LossPieces, int, Lattice]]) -> float:
    """The number of points of its lattice that the widest loss covers."""
    return max(float(np.max(pieces.high) - np.min(pieces.low)) / float(lattice.spacing) for pieces, _, lattice in laid)


def _log_moment(pieces: LossPieces, tilt: float) -> float:
    spend(len(pieces.losses) // _POINTS_PER_UNIT)
    powers = tilt * pieces.losses
    top = float(np.max(powers, initial=-math.inf))
    if not math.isfinite(top):
        return -math.inf
    moment = total(np.exp(powers - top) * pieces.masses)
    if not moment > 0:
        raise NumericalError("composition", "has a loss whose probability doubles do not hold", "ask for its largest log-ratio")
    return top + math.log(moment)
