"""Trade-off functions: how small the errors of a test between two laws can be, exactly.

    T(P, Q)(a) = the least 1 - Q(S) over all tests S (randomised ones too) with P(S) <= a,

the smallest error of the second kind at level a. It is convex, non-increasing and at most 1 - a, which it reaches for P = Q
alone. Of two laws with finitely many rational atoms it is piecewise linear with rational knots (Neyman and Pearson), as is every
curve here. Larger is more private: T(P, Q) >= f is the condition of f-differential privacy (Dong, Roth and Su 2022).

The least mu with T(P, Q) >= G_mu of any pair of laws lies in a bracket where there is no exact trade-off function.

From below by events, each of which shows two errors (a, b) with T(a) <= b and so mu >= Phi^-1(1 - a) - Phi^-1(b); from above by
the lines T(a) >= 1 - H_e(Q||P) - e^e a, H the hockey stick: the corners of their upper envelope decide, as the knots of a
piecewise linear T do.

The power of the best test of a composed pair follows from a few points of its hockey-stick curve: at a level a it is the least
value over t >= 0 of

    h(t) = H_{ln t}(Q || P) + t a,      H_{ln t}(Q || P) = sup over events S of Q(S) - t P(S),

a convex function: every point bounds the power from above, and for three points a < b < c with h(b) the smallest no value
is below the line through a and b on [b, c], nor below that through b and c on [a, b].

The power of a test between two laws at a level is exact, in closed form, or between two tests that are written down:

    power(P, Q)(a) = the largest Q(S) over all tests S (randomised ones too) with P(S) <= a,

which is 1 - T(P, Q)(a), T the trade-off function. Where the pair is known through cells only, it is bracketed: a test that
rejects the cells of the largest dQ/dP shows a power, and for every t >= 0 no power is above H_{ln t}(Q || P) + t a, H the hockey
stick. Compositions are known through that curve (`dpspec.laws.trade_off`).
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from statistics import NormalDist

import attrs
from flint import arb, ctx

from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, NumberLike, largest, number, rational
from dpspec.base.log_linear import ball, dyadic
from dpspec.base.memo import memoize
from dpspec.base.work import spend
from dpspec.laws.atoms import merge
from dpspec.laws.dichotomy import INFINITE, NOTHING, Cell, Dichotomy, exact_atoms_of, growth_of, is_convolved
from dpspec.laws.integers import DiscreteGaussianLaw, DiscreteGaussianShift
from dpspec.laws.numeric import normal_cdf
from dpspec.laws.samples import Sampled

Knot = tuple[Fraction, Fraction]
_END = Fraction(1), Fraction(0)


def _corners(knots: Iterable[Sequence[NumberLike]]) -> tuple[Knot, ...]:
    """The curve through some points as its corners: the lowest value at every level, and none on a straight line."""
    lowest: dict[Fraction, Fraction] = {}
    for knot in knots:
        if len(knot) != 2:
            raise ParameterError("knots", "must be pairs (level, error)", value=len(knot))
        level, error = (value if isinstance(value, Fraction) else rational(value, "knot") for value in knot)
        lowest[level] = min(error, lowest.get(level, error))
    points = sorted(lowest.items())
    if len(points) < 2 or points[0][0] != 0 or points[0][1] > 1 or points[-1] != _END:
        rule = "must start at level 0 with a value of at most 1, and end in (1, 0)"
        raise ParameterError("knots", rule, "give pairs (level, error), as in (0, 1), (1/4, 1/4), (1, 0)", value=_text(points))
    turns = [  # positive where the slope grows at the middle point
        (three[1] - two[1]) * (two[0] - one[0]) - (two[1] - one[1]) * (three[0] - two[0])
        for one, two, three in zip(points, points[1:], points[2:], strict=False)
    ]
    if any(turn < 0 for turn in turns) or any(error < 0 for _, error in points):
        rule = "must lie on a convex curve that is nowhere below 0"
        raise ParameterError("knots", rule, "mixing two tests gives all errors on the line between them", value=_text(points))
    return (points[0], *(point for point, turn in zip(points[1:], turns, strict=False) if turn), points[-1])


def _text(points: Sequence[Knot]) -> str:
    return ", ".join(f"({a}, {b})" for a, b in points)


_WORK_OF_KNOT = 8
"""Units of work (`dpspec.base.work`) of a knot of a curve that is compared with another one, or composed with it."""


@attrs.frozen(cache_hash=True)
class TradeOff:
    """A piecewise linear trade-off function by its knots (level, error), from level 0 to level 1.

    Equal curves are equal objects: a point on a straight line is no knot.

    Raises:
        ParameterError: when the points are on no trade-off function.

    >>> from dpspec.laws.atoms import FiniteDichotomy
    >>> curve = TradeOff.of(FiniteDichotomy((3, 1), (1, 3), 4, 4))
    >>> str(curve), str(curve.at("1/8")), curve == TradeOff.approximate(3), curve >= TradeOff.approximate(2)
    ('(0, 1), (1/4, 1/4), (1, 0)', '5/8', True, False)
    """

    knots: tuple[Knot, ...] = attrs.field(converter=_corners)

    # -- making one -------------------------------------------------------------------------------

    @classmethod
    def of(cls, pair: Dichotomy) -> TradeOff:
        """T(P, Q) of two laws with finitely many rational atoms, in the order of their likelihood ratio.

        Raises:
            NoFormulaError: when the pair has other atoms.
        """
        atoms = exact_atoms_of(pair)
        if atoms is None:
            rule = "has no finite list of rational probabilities, so that no exact trade-off function is known"
            raise NoFormulaError(type(pair).__name__, rule, "use laws with finitely many rational probabilities")
        level, error = Fraction(0), Fraction(1)
        points = [(level, error)]
        for p, q in reversed(atoms):  # the likeliest under Q first
            level, error = level + p, error - q
            points.append((level, error))
        return cls(points)

    @classmethod
    def approximate(cls, ratio: Fraction | int, delta: Fraction | int = 0) -> TradeOff:
        """max(0, 1 - delta - r a, (1 - delta - a)/r): what (ln r, delta)-privacy allows, for r >= 1 (Wasserman and Zhou 2010).

        >>> str(TradeOff.approximate(3, Fraction(1, 5)))
        '(0, 4/5), (1/5, 1/5), (4/5, 0), (1, 0)'
        """
        rest = Fraction(1 - delta)
        corner = rest / (1 + ratio)
        return cls([(Fraction(0), rest), (corner, corner), (rest, Fraction(0)), (Fraction(1), Fraction(0))])

    # -- reading it -------------------------------------------------------------------------------

    def at(self, level: NumberLike) -> Fraction:
        """The least error of the second kind at a level in [0, 1]."""
        place = rational(level, "level")
        right = bisect_left(self.knots, place, key=lambda knot: knot[0])
        if not 0 <= place <= 1:
            raise ParameterError("level", "must be in [0, 1]", value=level)
        (b, after) = self.knots[right]
        if b == place:
            return after
        a, before = self.knots[right - 1]
        return before + (after - before) * (place - a) / (b - a)

    def inverse(self) -> TradeOff:
        """a -> the least level at which the error is at most a: the trade-off function of the pair in the other order.

        >>> str(TradeOff([(0, "1/2"), (1, 0)]).inverse())
        '(0, 1), (1/2, 0), (1, 0)'
        """
        return TradeOff([*((error, level) for level, error in self.knots), (Fraction(1), Fraction(0))])

    @property
    def is_symmetric(self) -> bool:
        """Whether it is its own inverse."""
        return self == self.inverse()

    @property
    def is_regular(self) -> bool:
        """Whether it starts in (0, 1): no outcome is possible under Q alone."""
        return self.knots[0][1] == 1

    @property
    def largest_ratio(self) -> Fraction | None:
        """The steepest fall, which is sup dQ/dP; None for infinity."""
        (_, start), (level, error) = self.knots[:2]
        return (start - error) / level if self.is_regular else None

    @property
    def advantage(self) -> Fraction:
        """sup over levels of 1 - a - T(a): the total variation distance."""
        return max(1 - level - error for level, error in self.knots)

    def __ge__(self, other: TradeOff) -> bool:
        """Whether it is nowhere below the other: between the knots of both the difference is linear."""
        spend(_WORK_OF_KNOT * (len(self.knots) + len(other.knots)))
        return all(error >= other.at(level) for level, error in self.knots) and all(
            self.at(level) >= error for level, error in other.knots
        )

    def __le__(self, other: TradeOff) -> bool:
        return other >= self

    def least_mu(self, *, precision: int = 64) -> Bracket:
        """The least mu with T >= G_mu, G_mu(a) = Phi(Phi^-1(1 - a) - mu): the difference, in standard deviations, of the means of
        two Gaussians that are at least as hard to distinguish.

        Between two knots T - G_mu is concave, so the knots decide: the largest Phi^-1(1 - a) - Phi^-1(T(a)).

        >>> TradeOff.approximate(3).least_mu().lower.decimal()
        '1.34898'
        """
        if not (self.is_regular and self.inverse().is_regular):
            return INFINITE
        return largest(_gap(knot, precision) for knot in self.knots[1:-1])

    # -- combining two ----------------------------------------------------------------------------

    def after(self, first: TradeOff) -> TradeOff:
        """a -> self(1 - first(a)), which T(P, R) is never below when T(P, Q) >= first and T(Q, R) >= self.

        >>> str(TradeOff.approximate(3).after(TradeOff.approximate(2)))
        '(0, 1), (1/8, 1/4), (1/3, 1/9), (1, 0)'
        """
        spend(_WORK_OF_KNOT * (len(self.knots) + len(first.knots)))
        back = first.inverse()
        levels = {level for level, _ in first.knots} | {back.at(1 - level) for level, _ in self.knots}
        return TradeOff([(level, self.at(1 - first.at(level))) for level in levels])

    def group(self, size: int) -> TradeOff:
        """1 - (1 - f) composed with itself `size` times: what f-privacy leaves to a group of that size (Dong, Roth and Su 2022).

        It is more than the pure privacy of twice the epsilon leaves.

        >>> str(TradeOff.approximate(3).group(2)), TradeOff.approximate(3).group(2) >= TradeOff.approximate(9)
        ('(0, 1), (1/12, 1/4), (1/4, 1/12), (1, 0)', True)
        """
        return _group(self, size)

    def __str__(self) -> str:
        return _text(self.knots)


PERFECT = TradeOff([(0, 1), (1, 0)])
"""1 - a, the curve of two equal laws."""


@memoize(maxsize=1024)
def _group(curve: TradeOff, size: int) -> TradeOff:
    if size == 0:
        return PERFECT
    return curve.after(_group(curve, size - 1))


def _gap(knot: Knot, precision: int) -> Bracket:
    """Phi^-1(1 - a) - Phi^-1(b), of both errors above 0; at least 0 since a + b <= 1."""
    level, error = knot
    if level + error == 1:
        return Bracket.exactly(ZERO)
    with ctx.workprec(precision + 32 + level.denominator.bit_length() + error.denominator.bit_length()):
        total: arb = ball(1 - 2 * level).erfinv() + ball(1 - 2 * error).erfinv()
        return Bracket.around(arb(2).sqrt() * total, least=0)


# --- the least mu ---------------------------------------------------------------------------------


_LINES_PER_BIT, _MOST_LINES = 2, 256
_SPARE = 64
_EVENTS = 16
"""The number of events that are evaluated rigorously, those that are best in doubles."""

Tangent = tuple[arb, arb]
"""(c, t) of the line c - t a."""


def least_mu(pair: Dichotomy, *, precision: int = 64) -> Bracket:
    """The least mu; exact for two Gaussians of one variance, on a sample too: the whole and the sample share it.

    Let R = (1 - q) P + q Q, q > 0. Every test has R(S) <= (1 - q) a + q (1 - T(a)) <= 1 - T(a) at level a = P(S), so the least
    mu of (P, R) is at most that of (P, Q). For N(0, 1) and N(mu, 1) it is no less: with A = {x > s + mu} and Phi' the upper tail,
    R(A) >= q Phi'(s), and Phi'^-1(q Phi'(s)) - s tends to 0, as Phi'(s + d) <= e^(-s d) Phi'(s).

    Raises:
        NoFormulaError: when the pair can neither be listed nor cut into cells.

    >>> from dpspec.base.exact import number
    >>> from dpspec.laws.continuous import LaplaceShift
    >>> found = least_mu(LaplaceShift(number(1)))
    >>> found.lower.decimal(3), found.upper.decimal(3)
    ('1.03', '1.03')
    """
    if pair.is_identical:
        return NOTHING
    known = _of_noise(pair, precision)
    if known is not None:
        return known
    if pair.below() is not pair:
        low, high = (least_mu(end, precision=precision) for end in (pair.below(), pair.above()))
        return Bracket(lower=low.lower, upper=high.upper)
    if exact_atoms_of(pair) is not None:
        return TradeOff.of(pair).least_mu(precision=precision)
    return _by_cells_and_lines(pair, precision)


def _of_noise(pair: Dichotomy, precision: int) -> Bracket | None:
    """Of Gaussian laws, of discrete ones with so many corners that all are computed, and of samples."""
    if growth_of(pair).is_gaussian:
        return pair.concentration(precision=precision).scaled(2).sqrt()
    if isinstance(pair, DiscreteGaussianShift):
        few = pair.variance <= (_MOST_CORNERS // _FAR) ** 2 and _bits_of_tail(pair) <= _MOST_BITS
        return _of_discrete_gaussian(pair, precision) if few else None
    return _of_sample(pair, precision) if isinstance(pair, Sampled) else None


def _by_cells_and_lines(pair: Dichotomy, precision: int) -> Bracket:
    with ctx.workprec(precision + _SPARE):
        lower, upper = _by_events(pair, precision), _by_lines(pair, precision)
        return Bracket(lower=min(lower, upper), upper=upper)


def _of_sample(pair: Sampled, precision: int) -> Bracket:
    """At most the least mu of the whole; of Gaussian laws exactly that."""
    whole = least_mu(pair.pair, precision=precision)
    if growth_of(pair.pair).is_gaussian:
        return whole
    found = _by_cells_and_lines(pair, precision)
    upper = min(found.upper, whole.upper)
    return Bracket(lower=min(found.lower, upper), upper=upper)


_MOST_CORNERS = 1 << 12
_MOST_BITS = 1 << 15
"""A discrete Gaussian pair with more corners, or with corners whose errors need more bits, has the bounds of other pairs."""
_FAR = 16
"""Beyond so many standard deviations corners are bounded together: by 1/256 more than the limit, about."""


def _of_discrete_gaussian(pair: DiscreteGaussianShift, precision: int) -> Bracket:
    """The largest gap of a corner of T, one by one near the centers, and all others together.

    The corners are the tests {X >= k}, with the errors T_k and 1 - T_(k - s), T_k = P(X >= k); k and s + 1 - k have the same gap
    z(T_k) - z(T_(k - s)), z the inverse of Phi'(x) = 1 - Phi(x). For m = k - s >= M, where M - 1/2 >= sigma:

    * T_m <= Phi'((m - 1/2)/sigma): a convex density is at most its mean over an interval of length 1 around, and the normaliser
      is at least sigma sqrt(2 pi) (Poisson summation). So z(T_m) >= (m - 1/2)/sigma.
    * T_k >= T_m e^(-(2 s E + s^2)/(2 v)), E the mean of X given X >= m (Jensen), at most m + 1/(e^((2 m + 1)/(2 v)) - 1).
    * Phi'(z + mu) <= Phi'(z) e^(-mu z - mu^2/2).

    So the gap is at most mu = s/sigma + eta once eta (M + s - 1/2)/sigma >= s/(2 v) + s/(v (e^((2 M + 1)/(2 v)) - 1)).
    """
    shift, variance = abs(pair.shift), pair.variance
    first = -((shift - 1) // 2)
    working = precision + _SPARE + _bits_of_tail(pair)
    law = DiscreteGaussianLaw(0, variance)
    with ctx.workprec(working):
        sigma = ball(variance).sqrt()
        gaps, places = list[arb](), deque[arb]()
        best, limit, tail = arb(0), _FAR * math.sqrt(variance), 1 - law.upper_tail(1 - first, working)
        for k in itertools.count(first):
            places.append(arb(2).sqrt() * (1 - 2 * tail).erfinv())
            tail -= law.mass(k, working)
            if len(places) <= shift:
                continue
            gaps.append(places[-1] - places.popleft())
            best, m = best.max(gaps[-1].lower()), k + 1 - shift
            beyond = _gap_from(m, shift, variance)
            if m >= 1 and m - arb(1) / 2 >= sigma and (beyond < best or m > limit):
                break
        found = [Bracket.around(gap, least=0) for gap in gaps]
        ends = [gap.upper for gap in found] + ([] if beyond < best else [Bracket.around(beyond, least=0).upper])
        return Bracket(lower=max(gap.lower for gap in found), upper=max(ends))


def _gap_from(m: int, shift: int, variance: Fraction) -> arb:
    """s/sigma + eta, which bounds the gaps of all k >= m + s, for m - 1/2 >= sigma."""
    v = ball(variance)
    return shift / v.sqrt() * (1 + (arb(1) / 2 + 1 / (arb(2 * m + 1) / (2 * v)).expm1()) / (m + shift - arb(1) / 2))


def _bits_of_tail(pair: DiscreteGaussianShift) -> int:
    """Of the smallest tail that is computed for the corners, e^(-x^2/2) for x = (16 sigma + s + 2)/sigma, and a few."""
    sigma = max(math.sqrt(pair.variance), 1 / _MOST_CORNERS)
    return math.ceil(0.75 * (_FAR + (abs(pair.shift) + 2) / sigma) ** 2)


def _by_events(pair: Dichotomy, precision: int) -> Number:
    """The largest gap that an event {dQ/dP > t} of the cells shows."""
    level, error = arb(0), arb(1)
    found: list[tuple[float, arb, arb]] = []
    for cell in _by_rising_ratio(pair, precision):
        level, error = level + cell.p, error - cell.q
        if level > 0 and error > 0 and level < 1 and error < 1:
            # Phi^-1(1 - a) - Phi^-1(b), roughly: it only selects the events that are evaluated
            about = -sum(_about_quantile(float(end.mid()), float((1 - end).mid())) for end in (level, error))
            found.append((about, level, error))
    found.sort(key=lambda event: event[0])
    best = (Bracket.around(_least_mu_at(level, error), least=0).lower for _, level, error in found[-_EVENTS:])
    return max(best, default=ZERO)


def _about_quantile(below: float, above: float) -> float:
    if below <= 0 or above <= 0:  # beyond all doubles
        return -40.0 if below <= 0 else 40.0
    return NormalDist().inv_cdf(below) if below < above else -NormalDist().inv_cdf(above)


def _by_lines(pair: Dichotomy, precision: int) -> Number:
    """The largest gap at a corner of the envelope of the lines, and at most what the largest log-ratio allows."""
    turned = pair.reverse()
    ends = turned.max_log_ratio(precision=precision).upper, pair.max_log_ratio(precision=precision).upper
    if any(end.is_infinite for end in ends):
        return INFINITY
    high, low = (dyadic(end.enclose(precision).upper()) for end in ends)
    count = min(_LINES_PER_BIT * precision, _MOST_LINES)
    places = [high - (high + low) * step / count for step in range(count + 1)]
    corners = _envelope_corners([_line(pair, turned, place, precision) for place in places])
    found = max((Bracket.around(_least_mu_at(*corner), least=0).upper for corner in corners), default=ZERO)
    pure = 2 * arb(2).sqrt() * (ball(max(high, low)) / 2).tanh().erfinv()
    return min(found, Bracket.around(pure, least=0).upper)


def _line(pair: Dichotomy, turned: Dichotomy, place: Fraction, precision: int) -> Tangent:
    """A line below T(P, Q) that falls by e^place."""
    slope = ball(place).exp()
    if place >= 0:
        return 1 - turned.hockey_stick(place, precision=precision).upper.enclose(ctx.prec), slope
    return slope * (1 - pair.hockey_stick(-place, precision=precision).upper.enclose(ctx.prec)), slope


def _envelope_corners(lines: list[Tangent]) -> list[tuple[arb, arb]]:
    """The corners of the upper envelope of some of the lines, steep ones first: each certainly right of the one before.

    A line whose corners are not certainly in order is left out, which only lowers the envelope.
    """
    kept: list[Tangent] = []
    corners: list[arb] = []
    for c, t in lines:
        while kept:
            level = (kept[-1][0] - c) / (kept[-1][1] - t)
            if not corners or level > corners[-1]:
                corners.append(level)
                break
            kept.pop()
            corners.pop()
        kept.append((c, t))
    return [(level, c - t * level) for level, (c, t) in zip(corners, kept[1:], strict=True)]


def _least_mu_at(level: arb, error: arb) -> arb:
    """Phi^-1(1 - a) - Phi^-1(b)."""
    return arb(2).sqrt() * ((1 - 2 * level).erfinv() + (1 - 2 * error).erfinv())


# --- the power for a composed pair ----------------------------------------------------------------


CurvePoint = tuple[arb, arb]
"""t, and h(t)."""

_FINEST = Fraction(1, 1 << 11)
"""The least distance of the three points, in ln t; the width of the bracket is about its square."""
_SHRINK = 8
_TURNS = 48
_WIDER, _GROWTH = 6, 4
_FARTHEST = 64
"""The search starts at |ln t| of at most this."""
_BITS = 20
"""Places of the search are multiples of 2^-20."""


def power_by_slopes(pair: Dichotomy, level: Fraction, precision: int = 64) -> Bracket:
    """The power of the best test of P (the hypothesis) against Q (the alternative) at a level in (0, 1).

    The search begins where the least value of a Gaussian pair with the same Kullback-Leibler divergence lies. Where no three
    points are proved to lie around the least value, nothing is said from below but that no power is less than its level.

    >>> from dpspec.laws.products import power
    >>> from dpspec.laws.continuous import LaplaceShift
    >>> found = power_by_slopes(power(LaplaceShift(number("1/10")), 100), Fraction(1, 20))
    >>> found.lower.decimal(4), found.upper.decimal(4)
    ('0.2542', '0.2542')
    """
    turned = _turned(pair)
    known: dict[Fraction, CurvePoint] = {}
    with ctx.workprec(precision + 64):
        room = ball(level)

        def point(place: Fraction) -> CurvePoint:
            if place not in known:
                t = ball(place).exp()
                stick = turned.hockey_stick(number(place), precision=precision)
                known[place] = t, stick.lower.enclose(ctx.prec).union(stick.upper.enclose(ctx.prec)) + t * room
            return known[place]

        place, width = _least(lambda place: float(point(place)[1].upper()), *_gaussian_place(turned, room, precision))
        least = number(level)
        for apart in (width * _GROWTH**turn for turn in range(_WIDER)):
            three = [point(place + way * apart) for way in (-1, 0, 1)]
            if three[0][1] >= three[1][1] and three[2][1] >= three[1][1]:
                least = max(least, _below(*three))
                break
        most = min(number(1), *(Bracket.around(value.upper(), least=0).upper for _, value in known.values()))
        return Bracket(lower=min(least, most), upper=most)


@memoize(maxsize=64)
def _turned(pair: Dichotomy) -> Dichotomy:
    """(Q, P), which keeps what it found at one level for the next."""
    return pair.reverse()


def _gaussian_place(turned: Dichotomy, level: arb, precision: int) -> tuple[Fraction, Fraction]:
    """About ln t for Gaussian laws whose alternative has the same mean loss mu^2/2, and a width in which to look around."""
    mean = turned.renyi(1, precision=precision).upper
    mu = math.sqrt(2 * min(float(mean), _FARTHEST)) if not mean.is_infinite else math.sqrt(2 * _FARTHEST)
    quantile = -float((arb(2).sqrt() * (2 * level - 1).erfinv()).mid())
    place = max(-_FARTHEST, min(_FARTHEST, mu * quantile - mu**2 / 2))
    return _rounded(place), max(_FINEST, _rounded(min(mu, 1) / _SHRINK))


def _least(value: Callable[[Fraction], float], place: Fraction, width: Fraction) -> tuple[Fraction, Fraction]:
    """About where a convex function is smallest, and how closely that is known: downhill in steps, then by parabolas."""
    for _ in range(_TURNS):
        left, middle, right = (value(place + way * width) for way in (-1, 0, 1))
        if left < middle or right < middle:
            place += -width if left < right else width
        elif width <= _FINEST:
            break
        else:
            bend = left - 2 * middle + right
            place += _rounded((left - right) / (2 * bend) * float(width)) if bend > 0 else 0
            width = max(_FINEST, width / _SHRINK)
    return place, width


def _below(left: CurvePoint, middle: CurvePoint, right: CurvePoint) -> Number:
    """A lower bound of a convex function whose value at the middle point is the smallest of the three."""
    (a, high), (b, least), (c, other) = left, middle, right
    after = least.lower() - (high.upper() - least.lower()) / (b - a) * (c - b)
    before = least.lower() - (other.upper() - least.lower()) / (c - b) * (b - a)
    return Bracket.around(after.min(before).lower(), least=0).lower


def _rounded(value: float) -> Fraction:
    return Fraction(round(value * (1 << _BITS)), 1 << _BITS)


# --- the power at a level -------------------------------------------------------------------------


_GUARD = 32
_SLOPE_BITS = 24


def largest_power(pair: Dichotomy, level: NumberLike, *, precision: int = 64) -> Bracket:
    """The power of the best test of P (the hypothesis) against Q (the alternative) at a level in [0, 1].

    Args:
        pair: (P, Q).
        level: the largest allowed probability of rejecting P when it is true.
        precision: bits; more give a narrower bracket.

    Raises:
        ParameterError: for a level outside [0, 1].
        NoFormulaError: when the pair can neither be listed nor cut into cells.

    >>> from dpspec.laws.atoms import FiniteDichotomy
    >>> from dpspec.laws.continuous import GaussianShift
    >>> str(largest_power(FiniteDichotomy((3, 1), (1, 3), 4, 4), "1/8"))
    '3/8'
    >>> largest_power(GaussianShift(number("5.26")), "0.05").upper.decimal()
    '0.741706'
    """
    at = rational(level, "level")
    if not 0 <= at <= 1:
        raise ParameterError("level", "must lie in [0, 1]", "it is a probability", value=level)
    if pair.is_identical or at == 1:
        return Bracket.exactly(at)
    if growth_of(pair).is_gaussian and at:
        return _gaussian(pair.concentration(precision=precision), at, precision)
    atoms = exact_atoms_of(pair)
    if atoms is not None:
        return Bracket.exactly(_of_atoms(atoms, at))
    if not at and (growth_of(pair).is_gaussian or is_convolved(pair)):
        return pair.reverse().singular_mass(precision=precision)
    if pair.below() is not pair:
        low, high = (largest_power(end, at, precision=precision) for end in (pair.below(), pair.above()))
        return Bracket(lower=low.lower, upper=max(low.lower, high.upper))
    by_slopes = is_convolved(pair) or (isinstance(pair, Sampled) and at > 0)
    return (power_by_slopes if by_slopes else _by_cells)(pair, at, precision)


def _of_atoms(atoms: Sequence[tuple[Fraction, Fraction]], level: Fraction) -> Fraction:
    """The power of the test that rejects atoms of the largest q/p first, the last one with a probability (Neyman and Pearson)."""
    spent = power = Fraction(0)
    for p, q in reversed(atoms):
        if spent + p > level:
            return power + q * (level - spent) / p
        spent, power = spent + p, power + q
    return power


def _gaussian(rho: Bracket, level: Fraction, precision: int) -> Bracket:
    """Phi(Phi^-1(a) + mu), mu = sqrt(2 rho) (Kifer et al. 2022, Example 5.10)."""
    with ctx.workprec(precision + _GUARD + level.denominator.bit_length()):
        mu = (2 * rho.lower.enclose(ctx.prec)).sqrt()
        if not rho.is_exact:
            mu = mu.union((2 * rho.upper.enclose(ctx.prec)).sqrt())
        return Bracket.around(normal_cdf(arb(2).sqrt() * ball(2 * level - 1).erfinv() + mu), least=0)


def _by_cells(pair: Dichotomy, level: Fraction, precision: int) -> Bracket:
    """A test that is written down, and a bound."""
    with ctx.workprec(precision + _GUARD):
        shown, slope = _by_event(pair, level, precision)
        most = _by_slope(pair, level, slope, precision)
        return Bracket(lower=min(shown, most), upper=most)


@memoize(maxsize=64)
def _by_rising_ratio(pair: Dichotomy, precision: int) -> tuple[Cell, ...]:
    """The cells of a pair, the same at every level of a curve."""
    with ctx.workprec(precision + _GUARD):
        return tuple(sorted(merge(pair.cells(precision)), key=lambda cell: float(cell.low)))


def _by_event(pair: Dichotomy, level: Fraction, precision: int) -> tuple[Number, Fraction]:
    """The power of the test that rejects cells by falling dQ/dP up to the level, and the slope of the curve there."""
    spent, power, slope = arb(0), arb(0), Fraction(1)
    room = ball(level)
    for cell in _by_rising_ratio(pair, precision):
        left = room - spent
        if cell.p <= left:
            spent, power = spent + cell.p, power + cell.q
            continue
        power += cell.q * (left / cell.p).max(arb(0)).min(arb(1))  # the last cell is rejected with a probability
        slope = dyadic((cell.q / cell.p).mid()) if (cell.q / cell.p).is_finite() else slope
        break
    return Bracket.around(power.min(arb(1)), least=0).lower, slope


def _by_slope(pair: Dichotomy, level: Fraction, slope: Fraction, precision: int) -> Number:
    """H_{ln t}(Q || P) + t a at a few t around the slope, each a bound."""
    turned = _turned(pair)
    best = number(1)
    centre = dyadic(ball(max(slope, Fraction(1, 1 << 60))).log().mid())
    for step in (-1, 0, 1):
        place = Fraction(round(centre * (1 << _SLOPE_BITS)) + step, 1 << _SLOPE_BITS)
        above = turned.hockey_stick(place, precision=precision).upper.enclose(ctx.prec) + ball(place).exp() * ball(level)
        best = min(best, Bracket.around(above, least=0).upper)
    return best
