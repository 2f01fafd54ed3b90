"""The exact law of the likelihood ratio of two tables that differ by one exchange, at any stratum size and swap rate.

A stratum holds n different records. A swap is a random permutation sigma of them with probability f(m), m the number of records
that sigma moves. x' is x with the swap values of records i and j exchanged, by the transposition tau. A table that sigma makes of
x is made of x' by sigma tau, so that the pair of laws is known from how many sigma have each (m(sigma), m(sigma tau)). The two
differ at i and j alone. With D_m the number of derangements of m things, the pairs that differ are

    (m, m + 2)   C(n-2, m) D_m         i and j both stay in x: in x' both have moved,        m = 0, 2, ..., n-2
    (m, m + 1)   2 C(n-2, m-1) D_m     one of them stays in x: in x' both have moved,        m = 2, ..., n-1

and both reversed; in all other tables the two laws agree. So dP_x/dP_x' takes the values f(m)/f(m+2), f(m)/f(m+1), their inverses
and 1. With B the binomial law of n-2 trials at rate p, q = 1-p and o = p/q,

    P_x(m, m + 2) = q^2 B(m) g_0(m),            P_x'(m, m + 2) = p^2 B(m) g_2(m),
    P_x(m, m + 1) = 2 p q B(m-1) g_0(m),        P_x'(m, m + 1) = 2 p^2 B(m-1) g_1(m),

    g_k(m) = D_m f(m+k) / (p^(m+k) q^(n-m-k)),

which is D_m/D_(m+k) up to the probability of a redraw for derangement swapping, and (D_m/(m+k)!) F(m+k) for permutation swapping,
F(m) = sum over t of C(n-m, t) o^t m!/(m+t)!.

The pair is symmetric: its reverse has the same atoms. Where values repeat, tables merge, and so every divergence of two tables
of the universe that differ by one exchange is at most that of this pair (data processing). Two tables of one universe of c_Swap
are at distance 2 in d_Ham exactly if they differ by one exchange.

Up to `EXACT_SIZE` records all probabilities are rational numbers. Beyond, masses are balls of Arb over ranges of m. In a range
the functions g_k are convex and decrease, so that a sum over the range lies between those of a tangent and of a chord; tails are
bounded by Chernoff's inequality. Nothing here lists permutations or shares code with the laws of `stratum`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import attrs
from flint import arb, ctx

from dpspec.plugin import Bracket, Number, ParameterError, exact, laws
from dpspec_census.swap_constant import SwapTheorem, derangement_constant, permutation_constant

EXACT_SIZE = 48
"""Up to so many records every probability is written out as a rational number."""

RANGES = 192
"""Into so many ranges of m the likely values are cut: the ratio of the two laws varies in one by less than a thousandth."""

SINGLE = 64
"""Up to so many moved records, each number is a range of its own: there D_m/m! is not yet 1/e within 2^-290."""

Interval = tuple[arb, arb, arb, arb]
"""Masses under P_x and under P_x', and both ends of ln(dP_x/dP_x')."""


@lru_cache(maxsize=256)
def exchange_law(size: int, swap_rate: Fraction, *, derange: bool) -> laws.Dichotomy:
    """The pair (P_x, P_x') of two tables of n different records that differ by one exchange.

    Args:
        size: n, the records of the stratum.
        swap_rate: p, the probability with which each record is selected.
        derange: derangement swapping; False for permutation swapping.

    Returns:
        a pair with finitely many rational atoms up to `EXACT_SIZE` records; beyond, a pair that is enclosed.

    Raises:
        ParameterError: for a negative size, or a rate outside [0, 1].

    >>> pair = exchange_law(8, Fraction(1, 2), derange=True)
    >>> laws.largest_power(pair, "1/20").upper.decimal(7), pair.total_variation().upper.decimal(7)
    ('0.4507893', '0.6127409')
    >>> large = exchange_law(13680081, Fraction(1, 2), derange=True)
    >>> large.total_variation().upper.decimal(), large.max_log_ratio().upper.decimal()
    ('0.75', '32.8629')
    """
    if size < 0:
        raise ParameterError("stratum", "must be a number of records of at least 0", value=size)
    if not 0 <= swap_rate <= 1:
        raise ParameterError("swap_rate", "must lie in [0, 1]", "it is the probability with which a record is selected",
                             value=str(swap_rate))  # fmt: skip
    if size < 2 or (swap_rate == 1 and not derange):
        return laws.IDENTICAL
    if size <= EXACT_SIZE:
        return laws.FiniteDichotomy.of(_atoms(size, swap_rate, derange=derange))
    if swap_rate in (0, 1):
        return _certain(size, swap_rate)
    constant = derangement_constant if derange else permutation_constant
    top = _top(constant, size, swap_rate)
    return ExchangePair.of(lambda precision: _cells(size, swap_rate, derange=derange, precision=precision), top, top)


def _top(constant: SwapTheorem, size: int, swap_rate: Fraction) -> Bracket:
    """sup ln(dP_x/dP_x'), by the theorem on the constants: its slopes of two records that exchange, for both of them."""
    slopes = [slope.value.scaled(2) for slope in constant(size, swap_rate).slopes if slope.exchanged == 2]
    return exact.largest([Bracket.exactly(0), *slopes])


@attrs.frozen(eq=False)
class ExchangePair(laws.Sandwich):
    """The pair of a large stratum. It is its own reverse, and its concentration is searched over the order.

    psi(s) = s D_(1+s) is convex and psi(0) = 0, so that on [a, b] it is below its chord, and psi(s)/(s (1+s)) below that of the
    chord, which has one maximum.
    """

    def reverse(self) -> ExchangePair:
        return self

    def _concentration(self, precision: int) -> Bracket:
        top = self.max_log_ratio(precision=precision).upper
        known: dict[Fraction, Bracket] = {}

        def at(s: Fraction) -> Bracket:
            """D_(1+s)."""
            if s not in known:
                known[s] = self.renyi(1 + s, precision=precision)
            return known[s]

        first, last = Fraction(1, 1 << 12), Fraction(1 << 8)
        starts = [first * 2**step for step in range(21)]
        with ctx.workprec(precision + 32):
            open_ = [(_below_chord(a, b, at), a, b) for a, b in pairwise(starts)]
            ends = max(at(first).upper, top / (1 + last))
            while True:
                lower = max(bracket.lower / (1 + s) for s, bracket in known.items())
                upper, a, b = max(open_)
                if len(known) > MOST_ORDERS or upper <= max(ends, lower * (1 + Fraction(1, 1 << 16))):
                    return Bracket(lower=lower, upper=max(upper, ends))
                open_.remove((upper, a, b))
                middle = (a + b) / 2
                open_ += [(_below_chord(a, middle, at), a, middle), (_below_chord(middle, b, at), middle, b)]


MOST_ORDERS = 200
"""At so many orders a concentration is evaluated at most."""


def _below_chord(a: Fraction, b: Fraction, at: Callable[[Fraction], Bracket]) -> Number:
    """At least D_(1+s)/(1+s) for all s in [a, b]."""
    left, right = (exact.ball(s) * at(s).upper.enclose(ctx.prec) for s in (a, b))
    slope = (right - left) / exact.ball(b - a)
    start = left - slope * exact.ball(a)
    found = [value / exact.ball(s * (1 + s)) for value, s in ((left, a), (right, b))]
    inner = start**2 - start * slope
    if slope > 0 and inner > 0:
        place = (inner.sqrt() - start) / slope
        if place > exact.ball(a) and place < exact.ball(b):
            found.append((start + slope * place) / (place * (1 + place)))
    wide = at(b).upper / (1 + a)  # divergences grow with the order
    best = found[0]
    for value in found[1:]:
        best = best.max(value)
    return min(wide, Bracket.around(best.upper(), least=0).upper)


# --- exact ----------------------------------------------------------------------------------------


def _atoms(size: int, p: Fraction, *, derange: bool) -> list[tuple[Fraction, Fraction]]:
    """Every atom (P_x, P_x'), as the module says."""
    numbers = _derangement_numbers(size)
    probability = [_permutation_probability(m, size, p, numbers, derange=derange) for m in range(size + 1)]
    found: list[tuple[Fraction, Fraction]] = []
    for m in range(size - 1):
        ways = math.comb(size - 2, m) * numbers[m]
        found.append((ways * probability[m], ways * probability[m + 2]))
    for m in range(2, size):
        ways = 2 * math.comb(size - 2, m - 1) * numbers[m]
        found.append((ways * probability[m], ways * probability[m + 1]))
    found += [(q, p) for p, q in found]
    neutral = 1 - sum((p for p, _ in found), Fraction(0))
    return [*found, (neutral, neutral)]


def _permutation_probability(m: int, size: int, p: Fraction, numbers: Sequence[int], *, derange: bool) -> Fraction:
    """f(m): the probability of one permutation that moves m of n records."""
    q = 1 - p
    if derange:
        left = 1 - size * p * q ** (size - 1)
        return p**m * q ** (size - m) / numbers[m] / left if numbers[m] else Fraction(0)
    terms = (
        Fraction(math.comb(size - m, t), math.factorial(m + t)) * p ** (m + t) * q ** (size - m - t) for t in range(size - m + 1)
    )
    return sum(terms, Fraction(0))


@lru_cache(maxsize=8)
def _derangement_numbers(size: int) -> tuple[int, ...]:
    """D_0, ..., D_n.

    >>> _derangement_numbers(6)
    (1, 0, 1, 2, 9, 44, 265)
    """
    numbers = [1, 0]
    for m in range(2, size + 1):
        numbers.append((m - 1) * (numbers[-1] + numbers[-2]))
    return tuple(numbers[: size + 1])


def _certain(size: int, swap_rate: Fraction) -> laws.Dichotomy:
    """A large stratum at p = 0, where nothing moves, or of derangement swapping at p = 1, where everything does.

    At p = 1 all derangements are equally likely. Of D_n derangements the exchange makes D_(n-2) into permutations that fix both
    records, and 2 D_(n-1) into such that fix one of them: these are impossible under the other law. D_(n-1)/D_n is 1/n within
    1/D_n, and D_(n-2)/D_n is 1/(n(n-1)) within 1/D_(n-2).
    """
    if swap_rate == 0:
        return laws.FiniteDichotomy((1, 0), (0, 1), 1, 1)

    def cells(precision: int) -> tuple[laws.Cell, ...]:
        with ctx.workprec(precision + 32):
            near = exact.ball(Fraction(2, size) + Fraction(1, size * (size - 1)))
            alone = near + _hull(-(arb(2) ** -180), arb(2) ** -180)  # 3/D_n is far below 2^-180 for n > 48
            one = arb(1) - alone
            return laws.Cell.lump(alone, arb(0)), laws.Cell.lump(arb(0), alone), laws.Cell(one, one, arb(0), arb(0))

    return laws.Sandwich.of(cells, Bracket.exactly(exact.INFINITY), Bracket.exactly(exact.INFINITY))


# --- enclosed -------------------------------------------------------------------------------------


class _Weights(ABC):
    """g_0, g_1 and g_2 of an algorithm as balls, for large strata and 0 < p < 1.

    On m >= `SINGLE` each is convex and decreases, up to a factor within 2^-280 of 1 that the balls include.
    """

    def __init__(self, size: int, p: Fraction) -> None:
        self.size, self.p, self.odds = size, exact.ball(p), exact.ball(p / (1 - p))
        self.left = arb(1)
        self._numbers = _derangement_numbers(SINGLE + 2)

    def share(self, m: int) -> arb:
        """D_m/m!, which is 1/e within 1/(m+1)!."""
        if m <= SINGLE:
            return exact.ball(Fraction(self._numbers[m], math.factorial(m)))
        return (-arb(1)).exp() * _nearly_one()

    @abstractmethod
    def at(self, m: int, k: int) -> arb:
        """g_k(m)."""

    @abstractmethod
    def lower_tail(self, moved: int, trials: int, p: Fraction) -> arb:
        """At least the probability that of the others fewer than so many move."""

    def log_ratio(self, m: int, k: int) -> arb:
        """ln f(m)/f(m+k), for a number m of records that can move."""
        ratio = self.at(m, 0) / self.at(m, k) / self.odds**k
        return ratio.log()


def _hull(low: arb, high: arb) -> arb:
    """A ball around both."""
    return low.union(high)


def _nearly_one() -> arb:
    """1, and what D_m/m! may be off by beyond `SINGLE`, relatively."""
    return arb(1) + _hull(-(arb(2) ** -280), arb(2) ** -280)


def _rising(m: int, k: int) -> int:
    """(m+1) ... (m+k)."""
    return math.prod(range(m + 1, m + k + 1))


class _Derangements(_Weights):
    def __init__(self, size: int, p: Fraction) -> None:
        super().__init__(size, p)
        self.left = 1 - size * self.p * (1 - self.p) ** (size - 1)

    def at(self, m: int, k: int) -> arb:
        share = self.share(m) / self.share(m + k) if k and m <= SINGLE else _nearly_one()
        return arb(0) if m == 1 else share / _rising(m, k) / self.left

    def lower_tail(self, moved: int, trials: int, p: Fraction) -> arb:
        return _chernoff(moved - 1, trials, p) / self.left


class _Permutations(_Weights):
    def at(self, m: int, k: int) -> arb:
        return self.share(m) / _rising(m, k) * self._series(m + k)

    def _series(self, m: int) -> arb:
        """F(m): its terms fall faster than a geometric series once their quotient is below 1/2, since quotients fall."""
        term, total, small = arb(1), arb(1), arb(2) ** -ctx.prec
        for t in range(self.size - m):
            quotient = self.odds * (self.size - m - t) / ((t + 1) * (m + t + 1))
            term *= quotient
            total += term
            if quotient < 0.5 and term < total * small:
                return total + _hull(arb(0), term)
        return total

    def lower_tail(self, moved: int, trials: int, p: Fraction) -> arb:
        """Fewer move only if few are selected, or if at least 48 of those that are stay: the latter with at most 1/48!."""
        return _chernoff(moved - 1 + 48, trials, p) + arb(1) / math.factorial(48)


def _chernoff(most: int, trials: int, p: Fraction) -> arb:
    """At least P(B <= most), by e^(-N KL(most/N || p)) below the mean; 1 above it."""
    if most < 0:
        return arb(0)
    if Fraction(most, trials) >= p:
        return arb(1)
    return (-trials * _relative_entropy(Fraction(most, trials), p)).exp().upper().min(arb(1))


def _chernoff_above(least: int, trials: int, p: Fraction) -> arb:
    """At least P(B >= least)."""
    return arb(0) if least > trials else _chernoff(trials - least, trials, 1 - p)


def _relative_entropy(a: Fraction, p: Fraction) -> arb:
    """KL(a || p) of two coins."""
    total = arb(0)
    for mine, theirs in ((a, p), (1 - a, 1 - p)):
        total += exact.ball(mine) * exact.ball(mine / theirs).log() if mine else 0
    return total


@attrs.frozen
class _Moments:
    """Over a range of k: its ends, and the sums of B(k) and of k B(k) from its middle on."""

    first: int
    last: int
    mass: arb
    lever: arb

    @property
    def middle(self) -> int:
        return (self.first + self.last) // 2

    def sum(self, function: Callable[[int], arb]) -> arb:
        """The sum of B(k) g(k) for a function that is convex on the range and known at single places."""
        a, b, c = self.first, self.last, self.middle
        if a == b:
            return self.mass * function(a)
        here, after = function(c), function(c + 1)
        tangent = here * self.mass + (after - here) * self.lever
        ends = function(a), function(b)
        slope = (ends[1] - ends[0]) / (b - a)
        chord = (ends[0] + slope * (c - a)) * self.mass + slope * self.lever
        return _hull(tangent.lower(), chord.upper()) * _nearly_one()


def _moments(trials: int, p: Fraction, low: int, high: int) -> Iterator[_Moments]:
    """The binomial law on [low, high], in ranges: single numbers first, then about `RANGES` of equal length."""
    odds = exact.ball(p / (1 - p))
    cuts = [*range(low, min(SINGLE + 2, high) + 1)]
    start = cuts[-1] + 1 if cuts else low
    width = max(1, -(-(high - start + 1) // RANGES))
    cuts += [*range(start, high + 1, width), high + 1]
    mode = min(max(low, math.floor((trials + 1) * p)), high)
    logarithm = (
        arb(trials + 1).lgamma() - arb(mode + 1).lgamma() - arb(trials - mode + 1).lgamma()
        + mode * exact.ball(p).log() + (trials - mode) * exact.ball(1 - p).log()
    )  # fmt: skip
    middle = logarithm.exp()
    below, value = [], middle
    for k in range(mode, low, -1):
        value = value * k / (odds * (trials - k + 1))
        below.append(value)
    masses = below[::-1]
    masses.append(middle)
    value = middle
    for k in range(mode, high):
        value = value * (odds * (trials - k)) / (k + 1)
        masses.append(value)
    for first, after in pairwise(cuts):
        held = masses[first - low : after - low]
        centre = (first + after - 1) // 2
        mass = sum(held, arb(0))
        lever = sum(((first + place - centre) * one for place, one in enumerate(held) if first + place != centre), arb(0))
        yield _Moments(first, after - 1, mass, lever)


def _window(trials: int, p: Fraction, bits: int) -> tuple[int, int]:
    """The numbers within which all but about 2^-bits of the binomial law lies; what is outside is bounded, not left out."""
    reach = bits * 7 // 10 + 1
    far = math.isqrt(math.ceil(2 * trials * p * (1 - p) * reach)) + reach + 48
    mean = math.floor(trials * p)
    return max(0, mean - far), min(trials, mean + far)


def _cells(size: int, p: Fraction, *, derange: bool, precision: int) -> tuple[laws.Cell, ...]:
    """The cells of the pair; the last one is where the two laws agree."""
    trials, bits = size - 2, precision + 64
    with ctx.workprec(bits + 2 * size.bit_length()):
        weights = (_Derangements if derange else _Permutations)(size, p)
        low, high = _window(trials, p, bits)
        found: list[Interval] = []
        for held in _moments(trials, p, low, high):
            if held.last != 1:  # both stay, and k of the others move; a single record cannot move
                found.append(_both_stay(weights, held))
            if held.last:  # one of them stays, and the other moves with k of the others
                found.append(_one_stays(weights, held))
        found += _tails(weights, trials, p, low, high)
        cells = [laws.Cell(one.max(arb(0)), other.max(arb(0)), *ends) for one, other, *ends in found]
        cells = [cell for cell in cells if not cell.is_empty]
        neutral = (1 - sum((cell.p + cell.q for cell in cells), arb(0))).max(arb(0))
        return (*cells, *(cell.turned() for cell in cells), laws.Cell(neutral, neutral, arb(0), arb(0)))


def _both_stay(weights: _Weights, held: _Moments) -> Interval:
    p, q = weights.p, 1 - weights.p
    mine, theirs = q**2 * held.sum(lambda k: weights.at(k, 0)), p**2 * held.sum(lambda k: weights.at(k, 2))
    return mine, theirs, weights.log_ratio(held.first, 2).lower(), weights.log_ratio(held.last, 2).upper()


def _one_stays(weights: _Weights, held: _Moments) -> Interval:
    p, q = weights.p, 1 - weights.p
    mine = 2 * p * q * held.sum(lambda k: weights.at(k + 1, 0))
    theirs = 2 * p**2 * held.sum(lambda k: weights.at(k + 1, 1))
    return mine, theirs, weights.log_ratio(held.first + 1, 1).lower(), weights.log_ratio(held.last + 1, 1).upper()


def _tails(weights: _Weights, trials: int, p: Fraction, low: int, high: int) -> Iterator[Interval]:
    """What is outside the window: at most so much mass under either law, and ratios between those at the ends of a range.

    Both ratios grow with m. At the least m they are at least min(1, 1/o^2).
    """
    if low:
        mass = _hull(arb(0), weights.lower_tail(low, trials, p))
        least = (-2 * weights.odds.log()).min(arb(0)).lower()
        yield mass, mass, least, weights.log_ratio(low - 1, 2).upper()
        yield mass, mass, least, weights.log_ratio(low, 1).upper()
    first = high + 1
    while first <= trials:
        last = min(2 * first, trials)
        mass = _hull(arb(0), _chernoff_above(first, trials, p) / weights.left)
        yield mass, mass, weights.log_ratio(first, 2).lower(), weights.log_ratio(last, 2).upper()
        yield mass, mass, weights.log_ratio(first + 1, 1).lower(), weights.log_ratio(last + 1, 1).upper()
        first = last + 1
