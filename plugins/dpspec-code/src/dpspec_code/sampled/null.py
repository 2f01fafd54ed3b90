"""The null set of an event, and bets against it that are certified to be fair.

Let E be an event with p = P_x(E) and q = P_x'(E). The claim d_Pr(P_x, P_x') <= b allows p <= g(q), with g the divergence's
`largest_probability`, concave and non-decreasing. Toss a fair coin, then draw from P_x or P_x'. For an alternative
(p1, q1) outside, with projection (p0, q0) = argmin kl(p1, p0) + kl(q1, q0) over p0 <= g(q0), the bet pays

    x and E: p1/p0     x and not E: (1-p1)/(1-p0)     x' and E: q1/q0     x' and not E: (1-q1)/(1-q0),

each divided by a certified upper bound of its largest mean over the null. The mean is linear in (p, q),

    mean = c + A p + B q,   A >= 0 >= B,   so   sup over the null = c + sup over q of A g(q) + B q,

and on a cell between two points the concave g lies below both neighbouring chords, extended. A convex combination of the two is
linear, so that its maximum is at an end of the cell: every bound is one evaluation in ball arithmetic.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable

import attrs
import numpy as np
from flint import arb, ctx

from dpspec.plugin import Bracket, Floats, Mask, OutputDivergence
from dpspec.plugin.judges import rational

PRECISION = 80
SLACK = 1e-7
"""The certificate is refined until the largest mean exceeds 1 by less than this (or the steps run out)."""
STEPS = 60
_GOLDEN = (math.sqrt(5) - 1) / 2


@attrs.frozen
class Bet:
    """A certified e-variable for one draw behind a coin flip.

    Args:
        pays: what a draw pays: for (x in E, x not in E, x' in E, x' not in E), before division.
        largest_mean: a certified upper bound of the largest mean of `pays` over the null.
    """

    pays: tuple[float, float, float, float]
    largest_mean: float

    def log_wealth(self, counts: tuple[int, int, int, int]) -> float:
        """ln of the product over draws with the given counts of the four cells."""
        if any(count and not pay for count, pay in zip(counts, self.pays, strict=True)):
            return -math.inf
        gained = sum(count * math.log(pay) for count, pay in zip(counts, self.pays, strict=True) if count)
        return gained - sum(counts) * math.log(self.largest_mean)


def kl(p: float, q: float) -> float:
    """The Kullback-Leibler divergence of two Bernoulli laws."""
    total = 0.0
    for a, b in ((p, q), (1 - p, 1 - q)):
        if a > 0:
            if b <= 0:
                return math.inf
            total += a * math.log(a / b)
    return max(total, 0.0)


def _grid() -> tuple[float, ...]:
    tails = [10.0**-k for k in (9, 7, 6, 5, 4)]
    logits = [1 / (1 + math.exp(-t / 4)) for t in range(-32, 33)]
    return tuple(sorted({0.0, 1.0, *tails, *(1 - t for t in tails[:3]), *logits}))


GRID = _grid()
REFINED = 24
_SMOOTH = 1e-7
_REMEMBERED = 4096


def _widest(points: list[float], values: list[float]) -> tuple[int, float]:
    """The cell where the neighbouring chords, extended, rise furthest above its own, and where they meet; -1 for none."""
    best, chosen = 1e-9, (-1, 0.0)
    for i in range(1, len(points) - 2):
        before = (values[i] - values[i - 1]) / (points[i] - points[i - 1])
        here = (values[i + 1] - values[i]) / (points[i + 1] - points[i])
        after = (values[i + 2] - values[i + 1]) / (points[i + 2] - points[i + 1])
        if not before > here > after:
            continue
        width = points[i + 1] - points[i]
        meet = points[i] + width * (here - after) / (before - after)
        gap = (before - here) * (meet - points[i]) / math.sqrt(max(values[i + 1] * (1 - values[i]), 1e-12))
        if gap > best and points[i] < meet < points[i + 1]:
            best, chosen = gap, (i, meet)
    return chosen


@attrs.define(eq=False)
class Null:
    """The pairs (p, q) that a bound on the divergence allows.

    Args:
        divergence: d_Pr, which must say the largest p at q.
        bound: a ball around the bound b = eps_D d_X(x, x').
    """

    divergence: OutputDivergence
    bound: arb
    _balls: dict[float, arb] = attrs.field(factory=dict, init=False, repr=False)
    _table: tuple[Floats, Floats] | None = attrs.field(default=None, init=False, repr=False)
    _lists: tuple[list[float], list[float]] = attrs.field(factory=lambda: ([], []), init=False, repr=False)

    def ball(self, q: float) -> arb:
        """A ball around g(q)."""
        if q not in self._balls:
            if len(self._balls) > _REMEMBERED:
                self._balls.clear()
            with ctx.workprec(PRECISION):
                self._balls[q] = self.divergence.largest_probability(arb(q), self.bound)
        return self._balls[q]

    def largest(self, q: float) -> float:
        """g(q), as a float for searching."""
        return float(self.ball(q).mid())

    @property
    def table(self) -> tuple[Floats, Floats]:
        """Points q with g(q), for interpolation: a grid, finer where neighbouring chords leave room for a kink."""
        if self._table is None:
            points = list(GRID)
            values = [self.largest(q) for q in points]
            for _ in range(REFINED):
                place, q = _widest(points, values)
                if place < 0:
                    break
                points.insert(place + 1, q)
                values.insert(place + 1, self.largest(q))
            self._table = np.array(points), np.array(values)
            self._lists = points, values
        return self._table

    def near(self, q: float) -> float:
        """g(q) by interpolation, for searching: a little too small where g is curved."""
        if not self._lists[0]:
            self.table  # noqa: B018 (fills the lists)
        points, values = self._lists
        place = bisect.bisect_right(points, q)
        if place >= len(points):
            return values[-1]
        low, high = points[place - 1], points[place]
        return values[place - 1] + (values[place] - values[place - 1]) * (q - low) / (high - low)

    def excess(self, p: Floats, q: Floats, draws: float) -> Floats:
        """(p - g(q)) in standard errors of estimates from `draws` draws a side; what screening ranks by."""
        points, values = self.table
        allowed = np.interp(q, points, values)
        slope = (np.interp(np.minimum(q * 1.05 + 1e-4, 1.0), points, values) - allowed) / np.maximum(
            np.minimum(q * 1.05 + 1e-4, 1.0) - q, 1e-9
        )
        variance = p * (1 - p) + slope**2 * q * (1 - q)
        found: Floats = (p - allowed) / np.sqrt(np.maximum(variance, 1e-12) / draws)
        return found

    def growth(self, p: Floats, q: Floats) -> Floats:
        """About the nats that one draw gains against the null when the truth is (p, q); 0 inside the null."""
        points, values = self.table
        q0 = np.array(GRID[1:-1])
        p0 = np.clip(np.interp(q0, points, values), 1e-12, 1 - 1e-12)
        entropy = _entropy(p) + _entropy(q)
        crossed = (
            np.outer(p, np.log(p0)) + np.outer(1 - p, np.log1p(-p0)) + np.outer(q, np.log(q0)) + np.outer(1 - q, np.log1p(-q0))
        )
        coarse = (-crossed).min(axis=1) - entropy
        near = np.maximum(self.excess(p, q, 1.0), 0.0) ** 2 / 2
        found: Floats = np.where(near > 0, np.minimum(np.maximum(coarse, 0.0), near), 0.0) / 2
        return found

    # -- bets -------------------------------------------------------------------------------------

    def projection(self, p1: float, q1: float) -> tuple[float, float] | None:
        """The nearest point (p0, q0) of the null for an alternative outside it, None inside."""
        if p1 <= self.largest(q1):
            return None
        guess = _nearest((p1, q1), self.near, (q1, p1), 40)
        width = 0.02 * guess * (1 - guess)
        low, high = max(q1, guess - width), min(p1, guess + width)
        model = self._parabola(low, high) or self.largest
        q0 = _nearest((p1, q1), model, (low, high), 22)
        return self.largest(q0), q0

    def _parabola(self, low: float, high: float) -> Callable[[float], float] | None:
        """g between two near points by the parabola through it, to search with; None where two more points show a kink."""
        middle, half = (low + high) / 2, (high - low) / 2
        if half <= 0:
            return None
        left, centre, right = (self.largest(q) for q in (low, middle, high))
        slope, bend = (right - left) / (2 * half), (left + right - 2 * centre) / (2 * half * half)

        def model(q: float) -> float:
            return centre + slope * (q - middle) + bend * (q - middle) ** 2

        smooth = all(abs(model(q) - self.largest(q)) < _SMOOTH * centre for q in (middle - half / 3, middle + half / 3))
        return model if smooth else None

    def rate(self, p1: float, q1: float) -> float:
        """About the nats that one draw gains on average under the alternative, by the best bet on this event."""
        if p1 <= self.near(q1):
            return 0.0
        q0 = _nearest((p1, q1), self.near, (q1, p1), 30)
        return (kl(p1, self.near(q0)) + kl(q1, q0)) / 2

    def bets(self, p1: float, q1: float, shares: tuple[float, ...] = (1.0,)) -> tuple[Bet | None, ...]:
        """The log-optimal bets on an alternative, moved to the null by all but each share; None inside the null."""
        point = self.projection(p1, q1)
        if point is None:
            return (None,) * len(shares)
        p0, q0 = point
        return tuple(self._bet(p0 + share * (p1 - p0), q0 + share * (q1 - q0), p0, q0) for share in shares)

    def _bet(self, p1: float, q1: float, p0: float, q0: float) -> Bet | None:
        if not (1 > p1 >= p0 > 0 and 1 > q0 >= q1 > 0 and p0 < 1):
            return None
        pays = (p1 / p0, (1 - p1) / (1 - p0), q1 / q0, (1 - q1) / (1 - q0))
        return Bet(pays, self.largest_mean(pays, near=q0))

    def largest_mean(self, pays: tuple[float, float, float, float], near: float = 0.5) -> float:
        """A certified upper bound of the mean of a bet over the null (at least 1, so that idle wealth is counted too)."""
        with ctx.workprec(PRECISION):
            hit, miss, other_hit, other_miss = (arb(pay) for pay in pays)
            constant, rise, fall = (miss + other_miss) / 2, (hit - miss) / 2, (other_hit - other_miss) / 2
            if not (rise >= 0 and fall <= 0):
                raise ValueError("a bet on the event pays more for x and less for x'")
            points = self._points(near)
            ceilings = [self._ceiling(points, place, rise, fall) for place in range(len(points) - 1)]
            for _ in range(STEPS):
                place = max(range(len(ceilings)), key=lambda i: float(ceilings[i].upper()))
                if float((constant + ceilings[place]).upper()) <= 1 + SLACK or points[place + 1] - points[place] < 1e-13:
                    break
                points.insert(place + 1, (points[place] + points[place + 1]) / 2)
                ceilings.insert(place, ceilings[place])
                for i in range(max(0, place - 1), min(len(ceilings), place + 3)):
                    ceilings[i] = self._ceiling(points, i, rise, fall)
            worst = constant + max(ceilings, key=lambda ball: float(ball.upper()))
            return max(1.0, math.nextafter(float(worst.upper()), math.inf))

    def _points(self, near: float) -> list[float]:
        points = set(GRID)
        for step in (2.0**-4, 2.0**-7, 2.0**-10):
            points |= {near * (1 - step), near * (1 + step)} if near * (1 + step) < 1 else {near * (1 - step)}
        return sorted(points | {near})

    def _ceiling(self, points: list[float], place: int, rise: arb, fall: arb) -> arb:
        """An upper bound of rise * g(q) + fall * q for q between points[place] and the next (g is concave)."""
        low, high = points[place], points[place + 1]
        left = self._chord(points[place - 1], low, low, high) if place else None
        right = self._chord(high, points[place + 2], low, high) if place + 2 < len(points) else (arb(1), arb(1))
        ends = [arb(low), arb(high)]
        lines = [line for line in (left, right) if line is not None]
        bounds = [max((rise * y + fall * q for y, q in zip(line, ends, strict=True)), key=_upper) for line in lines]
        if left is not None:
            tilt = [float(rise * (line[1] - line[0]) + fall * (ends[1] - ends[0])) for line in lines]
            if tilt[0] > 0 > tilt[1]:
                weight = arb(-tilt[1] / (tilt[0] - tilt[1]))
                mixed = [weight * a + (1 - weight) * b for a, b in zip(left, right, strict=True)]
                bounds.append(max((rise * y + fall * q for y, q in zip(mixed, ends, strict=True)), key=_upper))
        return min(bounds, key=_upper)

    def _chord(self, first: float, second: float, low: float, high: float) -> tuple[arb, arb]:
        """The line through g at two points, at the two ends of a cell outside them."""
        here, there = self.ball(first), self.ball(second)
        slope = (there - here) / (arb(second) - arb(first))
        return here + slope * (arb(low) - arb(first)), here + slope * (arb(high) - arb(first))


def _nearest(point: tuple[float, float], largest: Callable[[float], float], ends: tuple[float, float], steps: int) -> float:
    """The q0 of the projection between two points: the cost is convex there."""
    (p1, q1), (low, high) = point, ends

    def cost(q0: float) -> float:
        return kl(p1, largest(q0)) + kl(q1, q0)

    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = cost(left), cost(right)
    for _ in range(steps):
        if at_left < at_right or (at_left == at_right == math.inf and largest(left) >= p1):
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = cost(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = cost(right)
    return (low + high) / 2


def _upper(ball: arb) -> float:
    value = float(ball.upper())
    return math.inf if math.isnan(value) else value


def _entropy(p: Floats) -> Floats:
    q = np.clip(p, 1e-300, 1.0)
    r = np.clip(1 - p, 1e-300, 1.0)
    found: Floats = -(p * np.log(q) + (1 - p) * np.log(r))
    return found


# --- numbers for people ---------------------------------------------------------------------------


CONFIDENCE = 0.999
_LARGEST = 64.0


def interval(hits: int, size: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The two-sided Clopper-Pearson interval for hits out of size.

    >>> [round(end, 4) for end in interval(0, 1000, 0.95)]
    [0.0, 0.0037]
    """
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, size - hits + 1, tail))
    high = 1.0 if hits == size else float(betaincinv(hits + 1, size - hits, 1 - tail))
    return low, high


def anytime_interval(hits: int, size: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The interval for hits out of size that holds at every stopping time, whatever rule the draws were ended by.

    It consists of all p with B(hits + 1, misses + 1) < (1 / alpha) p^hits (1 - p)^misses: under p the ratio of the two sides
    without alpha is a martingale with mean 1 (a uniform mixture of likelihood ratios), so that it ever exceeds 1 / alpha with
    probability at most alpha (Ville 1939).

    >>> [round(end, 4) for end in anytime_interval(0, 1000, 0.95)]
    [0.0, 0.0099]
    """
    from scipy.special import betaln

    if not size:
        return 0.0, 1.0
    most = float(betaln(hits + 1, size - hits + 1)) + math.log(1 - confidence)

    def inside(p: float) -> bool:
        return (hits * math.log(p) if hits else 0.0) + ((size - hits) * math.log1p(-p) if size > hits else 0.0) > most

    def end(outer: float) -> float:
        inner = hits / size
        for _ in range(60):
            middle = (outer + inner) / 2
            outer, inner = (outer, middle) if 0 < middle < 1 and inside(middle) else (middle, inner)
        return outer

    return (0.0 if hits == 0 else end(0.0)), (1.0 if hits == size else end(1.0))


def bracket(ends: tuple[float, float]) -> Bracket:
    """An interval of probabilities as a bracket, rounded outwards to six digits."""
    low, high = math.floor(ends[0] * 1e6) / 1e6, math.ceil(ends[1] * 1e6) / 1e6
    return Bracket(lower=Bracket.exactly(rational(low)).lower, upper=Bracket.exactly(rational(min(high, 1.0))).upper)


def least_bound(divergence: OutputDivergence, p: float, q: float) -> float:
    """About the least bound on the divergence that allows (p, q); infinity when it is beyond 64."""
    low, high = 0.0, _LARGEST
    if _allowed(divergence, high, q) < p:
        return math.inf
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if _allowed(divergence, middle, q) >= p else (middle, high)
    return high


def _allowed(divergence: OutputDivergence, bound: float, q: float) -> float:
    return float(divergence.largest_probability(arb(q), arb(bound)).mid())


NINETY_NINE = 2.33
"""The 99 % quantile of the normal law."""


def detectable(null: Null, mass: float, draws: int, log_needed: float) -> float | None:
    """The divergence at an event of the given mass under x that `draws` draws find with 99 % power; None when there is none.

    By the normal approximation of the log-wealth of the best bet; the lowest q counts, so that a smaller divergence is missed.
    """
    low, high = 0.0, mass

    def finds(q: float) -> bool:
        point = null.projection(mass, q)
        if point is None:
            return False
        pays = (mass / point[0], (1 - mass) / (1 - point[0]), q / point[1], (1 - q) / (1 - point[1]))
        probabilities = (mass / 2, (1 - mass) / 2, q / 2, (1 - q) / 2)
        mean = (kl(mass, point[0]) + kl(q, point[1])) / 2
        square = sum(
            probability * math.log(pay) ** 2 for probability, pay in zip(probabilities, pays, strict=True) if probability
        )
        return draws * mean - NINETY_NINE * math.sqrt(draws * max(square - mean**2, 0.0)) >= log_needed

    least = mass * 1e-6
    if not finds(least):
        return None
    low = least
    for _ in range(14):
        middle = math.sqrt(low * high) if low < high / 2 else (low + high) / 2
        low, high = (middle, high) if finds(middle) else (low, middle)
    return least_bound(null.divergence, mass, low)


# --- draws that are enough ------------------------------------------------------------------------


_FINE = 1.03
"""Faults of all masses are taken together in cells from p to this times p, and from 1 - p to this times 1 - p."""
MOST_NEEDED = 1 << 24


def bounds_refute(hits: Floats, others: Floats, size: int, null: Null, tail: float) -> Mask:
    """Where Clopper-Pearson bounds of p from below and q from above, each wrong with probability `tail`, lie outside the null."""
    from scipy.special import betaincinv

    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1), size - np.maximum(hits, 1) + 1, tail), 0.0)
    high = np.where(others < size, betaincinv(others + 1, np.maximum(size - others, 1), 1 - tail), 1.0)
    points, values = null.table
    found = np.zeros(hits.shape, dtype=bool)
    for place in np.flatnonzero(low > np.interp(high, points, values)):
        exact = null.ball(math.nextafter(float(high.flat[place]) * (1 + 1e-9), 1.0)) if high.flat[place] < 1 else arb(1)
        found.flat[place] = float(low.flat[place]) * (1 - 1e-9) > _upper(exact)
    return found


def draws_for(null: Null, worse: Null, mass: float, tail: float, miss: float) -> int | None:
    """Draws a side for which `bounds_refute` holds with a probability of at least 1 - miss, whatever the fault; None for too
    many.

    A fault is an event with p >= mass, 1 - q >= mass, that the null set `worse` does not allow. In a cell p1 <= p <= p2 the
    counts are the smallest under Binomial(n, p1) and, of the other dataset, the largest under Binomial(n, q2), with q2 the end of
    what is left to q at p2: both are monotone, so that one check for each cell decides about all of it.
    """
    rise = mass * _FINE ** np.arange(math.ceil(math.log(0.5 / mass, _FINE)))
    fall = 1 - mass / 1000 * _FINE ** np.arange(math.ceil(math.log(500 / mass, _FINE)))
    cells = np.concatenate([rise, fall[::-1], [1.0]])
    low, high = cells[:-1], cells[1:]
    points, values = worse.table
    rising = np.concatenate([[True], np.diff(np.maximum.accumulate(values)) > 0])
    others = np.minimum(np.where(high < values[-1], np.interp(high, values[rising], points[rising]), 1.0), 1 - mass)

    def enough(size: int) -> bool:
        least, most = _quantile(miss / 2, size, low), _quantile(1 - miss / 2, size, others)
        return bool(bounds_refute(least, most, size, null, tail).all())

    size = 64
    while not enough(size):
        size *= 2
        if size > MOST_NEEDED:
            return None
    below = size // 2
    while size - below > size // 16:
        middle = (size + below) // 2
        below, size = (below, middle) if enough(middle) else (middle, size)
    return size


def _quantile(level: float, size: int, probability: Floats) -> Floats:
    """The least k with P(Binomial(size, probability) <= k) >= level."""
    from scipy.special import bdtr

    below, above = np.full(probability.shape, -1.0), np.full(probability.shape, float(size))
    while (above - below > 1).any():
        middle = np.floor((below + above) / 2)
        enough = bdtr(np.maximum(middle, 0), size, probability) >= level
        move = above - below > 1
        below, above = np.where(move & ~enough, middle, below), np.where(move & enough, middle, above)
    return above
