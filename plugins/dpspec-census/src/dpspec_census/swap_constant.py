"""The exact constant of a swap at any size: the theorems of docs/swapping-theorem.md as functions.

In a stratum of n different records a swap is a random permutation, and P_x(y) = f(m) with m the number of records in which x and
y differ. d_Ham counts the records that a permutation moves, so the constant is the steepest slope of ln f on {0, 2, 3, ..., n}
(no permutation moves one record). Up to a factor, with o = p/(1-p),

    derangement swapping    f(m) = o^m / D_m,
    permutation swapping    f(m) = sum over s of C(n-m, s-m) o^s / s!,

ln f is concave from m = 2 (permutation: from 0) on, and so it is steepest at an end:

    derangement swapping    max{ ln o, ln(D_n / D_(n-2))/2 - ln o }          n >= 2, n != 3
    permutation swapping    ln(1 + 2n/o + n(n-1)/o^2)/2                      n >= 2, n != 3

Three records are an exception, since 3 - 2 = 1 is moved by no permutation. Where values repeat, outcomes merge and the constant
can only fall. Nothing here lists permutations or shares code with the laws of `stratum`.

The printed theorem is that of Bailie, Gong and Meng 2023; the constants and their proof are this project's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import attrs

from dpspec.plugin import Bracket, Number, exact, ln
from dpspec_census.swap_budget import nominal_budget

EXACT_SIZE = 100
"""Up to so many records D_n / D_(n-2) is written out; beyond, it is n(n-1) within 2^-500, on the side that is known."""

_RESIDUE = Fraction(1, 1 << 500)
HALF = Fraction(1, 2)
ZERO, INFINITE = Bracket.exactly(0), Bracket.exactly(exact.INFINITY)


@attrs.frozen(kw_only=True)
class Slope:
    """ln(P_x(y) / P_x'(y)) / d_Ham(x, x') for three tables x, x', y of n different records.

    Args:
        value: in nats per unit.
        exchanged: the records in which x and x' differ: 2 exchange their swap values, or 3 pass theirs round.
        likely: the records in which x and y differ.
        unlikely: the records in which x' and y differ.
    """

    value: Bracket
    exchanged: int
    likely: int
    unlikely: int

    def __str__(self) -> str:
        change = "two records exchange their swap values" if self.exchanged == 2 else "three records pass their swap values round"
        return f"{change}; the output differs from the one table in {self.likely} records, from the other in {self.unlikely}"


@attrs.frozen(kw_only=True)
class SwapConstant:
    """sup d_MULT(P_x, P_x') / d_Ham(x, x') over all universes of c_Swap with one stratum, of this size, at this rate.

    Args:
        size: n, the records of the stratum.
        swap_rate: p.
        slopes: those among which the steepest is found; none where all laws of a universe are equal.
    """

    size: int
    swap_rate: Fraction
    slopes: tuple[Slope, ...] = ()

    @property
    def value(self) -> Bracket:
        """In nats per unit, d_Ham being half the symmetric difference; half of it per unit of the whole symmetric difference."""
        return exact.largest([ZERO, *(slope.value for slope in self.slopes)])

    @property
    def steepest(self) -> Slope | None:
        """The slope that the constant is, and so where it is attained when all values differ; None where it is 0."""
        slope = max(self.slopes, key=lambda slope: slope.value.lower, default=None)
        return slope if slope is not None and slope.value.lower > 0 else None

    @property
    def needs_all_different(self) -> bool:
        """Whether it is attained only where no rest value and no swap value of the stratum repeats."""
        slope = self.steepest
        return slope is not None and (slope.exchanged, slope.likely, slope.unlikely) != (2, self.size - 2, self.size)


SwapTheorem = Callable[[int, Fraction], SwapConstant]
"""The constant of an algorithm for a stratum size and a swap rate."""


# --- the constants --------------------------------------------------------------------------------


def derangement_constant(size: int, swap_rate: Fraction) -> SwapConstant:
    """max{ ln o, ln(D_n/D_(n-2))/2 - ln o } for n >= 2 but n = 3; infinite at p = 0 and p = 1; 0 for n < 2.

    Three records: ln(2)/3 - ln o for o^3 <= 1/2, ln(2/o)/2 up to o^3 = 2, ln o above.

    >>> str(derangement_constant(5, Fraction(1, 10)).value), str(derangement_constant(5, Fraction(3, 4)).value)
    ('1/2*ln(1782)', 'ln(3)')
    >>> derangement_constant(13680081, Fraction(1, 20)).value.upper.decimal(12)
    '19.3758903338'
    """
    if size < 2:
        return SwapConstant(size=size, swap_rate=swap_rate)
    if swap_rate in (0, 1):
        return _certain(size, swap_rate)
    odds = swap_rate / (1 - swap_rate)
    first = Slope(value=Bracket.exactly(ln(odds)), exchanged=2, likely=2, unlikely=0)
    if size == 3:
        round_three = Slope(value=Bracket.exactly(ln(2) / 3 - ln(odds)), exchanged=3, likely=0, unlikely=3)
        two_to_three = Slope(value=Bracket.exactly(ln(2 / odds) / 2), exchanged=2, likely=2, unlikely=3)
        return SwapConstant(size=size, swap_rate=swap_rate, slopes=(round_three, two_to_three, first))
    low, high = derangement_ratio(size)
    lower = ln(low / odds**2) / 2
    ends = Bracket(lower=lower, upper=lower if low == high else ln(high / odds**2) / 2)
    last = Slope(value=ends, exchanged=2, likely=size - 2, unlikely=size)
    return SwapConstant(size=size, swap_rate=swap_rate, slopes=(last, first))


def permutation_constant(size: int, swap_rate: Fraction) -> SwapConstant:
    """ln(1 + 2n/o + n(n-1)/o^2)/2 for n >= 2 but n = 3; infinite at p = 0; 0 at p = 1, and for n < 2.

    Three records: ln(1 + 9/o + 18/o^2 + 6/o^3)/3. Always at most ln(1 + n/o).

    >>> str(permutation_constant(2, Fraction(3, 5)).value)
    '1/2*ln(41/9)'
    >>> permutation_constant(13680081, Fraction(1, 20)).value.lower.decimal(12)
    '19.3758903377'
    """
    if size < 2 or swap_rate == 1:
        return SwapConstant(size=size, swap_rate=swap_rate)
    if swap_rate == 0:
        return _certain(size, swap_rate)
    u = (1 - swap_rate) / swap_rate
    if size == 3:
        value = Bracket.exactly(ln(1 + 9 * u + 18 * u**2 + 6 * u**3) / 3)
        slope = Slope(value=value, exchanged=3, likely=0, unlikely=3)
    else:
        value = Bracket.exactly(ln(1 + 2 * size * u + size * (size - 1) * u**2) / 2)
        slope = Slope(value=value, exchanged=2, likely=size - 2, unlikely=size)
    return SwapConstant(size=size, swap_rate=swap_rate, slopes=(slope,))


def _certain(size: int, swap_rate: Fraction) -> SwapConstant:
    """The rates at which an output is impossible on one of two tables: p = 0 moves none, p = 1 deranges all."""
    left = size - 1 if size == 3 else size - 2
    likely, unlikely = (0, 2) if swap_rate == 0 else (size, left)
    slope = Slope(value=INFINITE, exchanged=2, likely=likely, unlikely=unlikely)
    return SwapConstant(size=size, swap_rate=swap_rate, slopes=(slope,))


def derangement_ratio(size: int) -> tuple[Fraction, Fraction]:
    """Ends around D_n / D_(n-2) = n(n-1) - (-1)^n (n-1)/D_(n-2), for n = 2 and n > 3; equal up to `EXACT_SIZE`.

    Beyond, the last term is below 100/D_99 < 2^-500 and has a known sign, so that nothing large is ever built.

    >>> [str(derangement_ratio(n)[0]) for n in (2, 4, 5, 6)], derangement_ratio(1000)[1]
    (['1', '9', '22', '265/9'], Fraction(999000, 1))
    """
    if size <= EXACT_SIZE:
        before, number = 1, 0
        for m in range(2, size):
            before, number = number, (m - 1) * (number + before)
        ratio = Fraction((size - 1) * (number + before), before)
        return ratio, ratio
    near = Fraction(size * (size - 1))
    return (near - _RESIDUE, near) if size % 2 == 0 else (near, near + _RESIDUE)


def lone_slopes(size: int, swap_rate: Fraction, *, derange: bool) -> tuple[Bracket, Bracket] | None:
    """The universe in which one rest value and one swap value occur once, and one other of each n - 1 times; for 0 < p < 1.

    It holds two tables at distance 2: x, where the two meet in one record, and x'. With a = P_x(x') = 1 - P_x(x),

        a = p - (1 - (1-p)^n)/n                                 permutation swapping,
        a = p (1 - (1-p)^(n-1)) / (1 - n p (1-p)^(n-1))         derangement swapping,

    and P_x'(x) = a/(n-1). The constant of this universe is the larger absolute value of the two slopes: about
    ln(n/o)/2 for large n.

    Returns:
        ln(P_x(x) / P_x'(x))/2 and ln(P_x'(x') / P_x(x'))/2, of either sign; None where (1-p)^n is long to write and not small.

    >>> print(*lone_slopes(3, HALF, derange=True), lone_slopes(264331, HALF, derange=True)[0].lower.decimal())
    1/2*ln(4/3) 1/2*ln(7/6) 6.24248
    """
    others, powers = size - 1, _power(1 - swap_rate, size - 1)
    if powers is None:
        return None
    if derange:
        leaves = [swap_rate * (1 - power) / (1 - size * swap_rate * power) for power in powers]
    else:
        leaves = [swap_rate - (1 - (1 - swap_rate) * power) / size for power in powers]
    met = [ln(others * (1 - a) / a) / 2 for a in leaves]
    parted = [ln((1 - a / others) / a) / 2 for a in leaves]
    return Bracket(lower=min(met), upper=max(met)), Bracket(lower=min(parted), upper=max(parted))


def two_values_bound(size: int, swap_rate: Fraction) -> Number:
    """An upper bound for derangement swapping where a stratum has only two rest values, or only two swap values, and 0 < p < 1:

        max{ 0, ln o, ln((n + 1/2)(1 + o)/o^2)/2 },

    about half of what is printed (docs/swapping-theorem.md, theorem 5).

    >>> two_values_bound(264331, HALF).decimal(), derangement_constant(264331, HALF).value.upper.decimal()
    ('6.58905', '12.485')
    """
    odds = swap_rate / (1 - swap_rate)
    return max(exact.ZERO, ln(odds), ln((size + HALF) * (1 + odds) / odds**2) / 2)


def _power(base: Fraction, exponent: int) -> tuple[Fraction, ...] | None:
    """The power; where it is long to write, 0 and a power of two above it, since (1-p)^k <= e^(-pk) < 2^(-pk).

    None where it is long and of little use; else n p (1-p)^k is below 1, and the probability a lies between those at the two
    ends.
    """
    if exponent * base.denominator.bit_length() <= 2048:
        return (base**exponent,)
    halvings = int((1 - base) * exponent)
    return (Fraction(0), Fraction(1, 1 << min(halvings, 2048))) if halvings >= 64 else None


# --- where the printed theorem is false --------------------------------------------------------------


def least_size_above(constant: SwapTheorem, swap_rate: Fraction, epsilon: Number) -> int | None:
    """The least stratum whose constant certainly exceeds a number; None where none does. The constant grows with the stratum.

    >>> least_size_above(derangement_constant, Fraction(1, 20), ln(259921558))  # printed for b = 13,680,081
    13680083
    """
    if constant(4, swap_rate).value.upper == 0 or epsilon.is_infinite:
        return None
    above = 2
    while not constant(above, swap_rate).value.lower > epsilon:
        above *= 2
    below = above // 2
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if constant(middle, swap_rate).value.lower > epsilon else (middle, above)
    return above


SizeRange = tuple[int, int | None]
"""The least and the largest of some stratum sizes; None where there is no largest."""


def sizes_refuted(swap_rate: Fraction, form: str) -> tuple[SizeRange, ...]:
    """The stratum sizes n >= 2 at which a printed form promises less than the constant of *permutation* swapping.

    With 1 < o < 3/2 a range from 2 on, with o >= 3/2 all from some size on, both with n = 3 judged by itself; none for o <= 1. No
    printed form promises less than the constant of derangement swapping (docs/swapping-theorem.md, theorem 4).

    >>> sizes_refuted(Fraction(3, 4), "s24"), sizes_refuted(Fraction(3, 5), "s24"), sizes_refuted(HALF, "s24")
    (((7, None),), ((2, 2), (4, None)), ())
    """
    if swap_rate <= HALF or swap_rate == 1:
        return ()

    def false(size: int) -> bool:
        return permutation_constant(size, swap_rate).value.lower > nominal_budget(size, swap_rate, form)

    odds = swap_rate / (1 - swap_rate)
    ranges: list[SizeRange] = [(size, size) for size in (2, 3) if false(size)]
    if odds < Fraction(3, 2):  # false where o^2 - 1 > (3 - 2o) n
        end = math.ceil((odds**2 - 1) / (3 - 2 * odds)) - 1
        return _joined([*ranges, *([(4, end)] if end >= 4 else [])])
    least, below = 4, 3  # false where (o + n)^2 - n > o^4
    while not false(least):
        below, least = least, 2 * least
    while least - below > 1:
        middle = (below + least) // 2
        below, least = (below, middle) if false(middle) else (middle, least)
    return _joined([*ranges, (least, None)])


def _joined(ranges: Sequence[SizeRange]) -> tuple[SizeRange, ...]:
    """Ranges that touch, as one."""
    joined: list[SizeRange] = []
    for least, most in ranges:
        if joined and joined[-1][1] == least - 1:
            joined[-1] = (joined[-1][0], most)
        else:
            joined.append((least, most))
    return tuple(joined)


# --- where values repeat --------------------------------------------------------------------------


def stays(constant: SwapConstant, rests: Sequence[int], swaps: Sequence[int]) -> bool | None:
    """Whether a universe of one stratum with these counts by rest and by swap value attains the constant of its size.

    Exactly when the outputs at which it is attained merge nothing (docs/swapping-theorem.md, theorem 3): no value repeats; or the
    steepest slope is that between n-2 and n, two rest values and two swap values occur once each, and the n-2 others can be dealt
    out in two ways with no kind of record in common. None where `apart` leaves the last one undecided.

    >>> ten = permutation_constant(10, Fraction(1, 20))
    >>> stays(ten, [4, 4, 1, 1], [4, 4, 1, 1]), stays(ten, [5, 3, 1, 1], [4, 4, 1, 1]), stays(ten, [8, 2], [8, 2])
    (True, False, False)
    """
    rests, swaps = sorted(rests, reverse=True), sorted(swaps, reverse=True)
    steepest = constant.steepest
    if steepest is None or len(rests) == len(swaps) == constant.size:
        return True
    if constant.value.upper.is_infinite:
        return min(len(rests), len(swaps)) > 1 if constant.swap_rate == 0 else rests[-1] == swaps[-1] == 1
    if any(slope.value.upper > steepest.value.lower for slope in constant.slopes if slope is not steepest):
        return None  # the brackets do not decide which one is steepest
    if constant.needs_all_different or rests[-2:] != [1, 1] or swaps[-2:] != [1, 1]:
        return False
    return apart(rests[:-2], swaps[:-2])


def apart(rests: Sequence[int], swaps: Sequence[int]) -> bool | None:
    """Whether records with these counts can be dealt out in two ways with no kind of record in common.

    Not when a value is held by more than half of them. Certainly when 2(R + C - 1) is at most their number, R and C being the
    largest counts (turn the one side by R + C - 1 places), and when both sides have the counts q, q or q, q, 1. Else not said.
    """
    number, largest = sum(rests), max((*rests, *swaps), default=0)
    if 2 * largest > number:
        return False
    if not number or 2 * (max(rests) + max(swaps) - 1) <= number:
        return True
    alike = sorted(rests) == sorted(swaps) and sorted(rests)[-2:] == [largest, largest]
    return True if alike and number - 2 * largest <= 1 else None
