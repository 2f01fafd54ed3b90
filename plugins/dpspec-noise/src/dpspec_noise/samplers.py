"""Exact samplers for integer noise: every draw is decided by integer arithmetic on uniform words, never by a float.

The coin of probability e^-g and the two rejection samplers follow Canonne, Kamath and Steinke (2020), "The Discrete
Gaussian for Differential Privacy"; here they run on whole arrays, and the array of undecided draws shrinks.

Bulk sampling inverts the distribution function, exactly.

A uniform number U of endlessly many bits gives the outcome k with F(k-1) <= U < F(k). Its first 64 bits, one word,
settle k unless some F(j) lies among the numbers that begin with this word (about one word in 2^64 for each entry of the
table), or k lies outside the table; such draws take more bits, until enclosures of F in ball arithmetic decide. Nothing is
rounded, and the parameters need not be rational.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from dpspec.plugin import Integers, Mask, errors, exact, laws, randomness

if TYPE_CHECKING:
    from dpspec.plugin import Randomness


AnyArray = npt.NDArray[Any]

_WORD = 62
_SMALL = 1 << _WORD
"""Products below this are computed in 64-bit integers, larger ones in Python's."""


def two_sided_geometric(source: Randomness, count: int, *, ratio: Fraction) -> Integers:
    """`count` draws with P(w) proportional to ratio^|w|, for a rational ratio in (0, 1).

    >>> from dpspec.plugin import randomness
    >>> len(two_sided_geometric(randomness.SeededRandomness(1), 5, ratio=Fraction(1, 2)))
    5
    """

    def tries(size: int) -> Integers:
        return _successes(lambda active: rational_coins(source, ratio, active), size)

    return _two_sided(source, count, tries)


def discrete_laplace(source: Randomness, count: int, *, scale: Fraction) -> Integers:
    """`count` draws with P(w) proportional to e^(-|w|/scale), for a rational scale t/s.

    A geometric magnitude X with rate 1/t is X = U + tV, U uniform below t kept with probability e^(-U/t), V geometric
    with rate 1; floor(X/s) then has rate s/t.

    >>> from dpspec.plugin import randomness
    >>> len(discrete_laplace(randomness.SeededRandomness(1), 5, scale=Fraction(3, 2)))
    5
    """
    top, bottom = scale.numerator, scale.denominator
    _check_range(top)

    def magnitudes(size: int) -> Integers:
        def low_part(active: int) -> tuple[Integers, Mask]:
            drawn = source.below(top, active)
            return drawn, coins_of_exponential(source, drawn, top)

        low = _until_kept(size, low_part)
        one = np.ones(size, dtype=np.int64)
        high = _successes(lambda active: coins_of_exponential(source, one[:active], 1), size)
        _check_range(int(high.max(initial=0)) * top + top)
        return np.asarray((low + top * high) // bottom)

    return _two_sided(source, count, magnitudes)


def discrete_gaussian(source: Randomness, count: int, *, variance: Fraction) -> Integers:
    """`count` draws with P(w) proportional to e^(-w^2/(2 variance)), for a rational variance a/b.

    A draw y of scale t = floor(sqrt(variance)) + 1 is kept with probability e^-g, g = (|y| - variance/t)^2/(2 variance)
    = (|y| b t - a)^2 / (2 a b t^2).

    >>> from dpspec.plugin import randomness
    >>> len(discrete_gaussian(randomness.SeededRandomness(1), 5, variance=Fraction(9, 4)))
    5
    """
    a, b = variance.numerator, variance.denominator
    t = math.isqrt(a // b) + 1

    def proposal(active: int) -> tuple[Integers, Mask]:
        drawn = discrete_laplace(source, active, scale=Fraction(t))
        largest = int(np.abs(drawn).max(initial=0))
        magnitude: AnyArray = np.abs(drawn)
        if max((largest * b * t + a) ** 2, 2 * a * b * t * t) >= _SMALL:
            magnitude = magnitude.astype(object)
        return drawn, coins_of_exponential(source, (magnitude * (b * t) - a) ** 2, 2 * a * b * t * t)

    return _until_kept(count, proposal)


def staircase(source: Randomness, count: int, *, width: int, inner: int, falls: Callable[[int], Mask]) -> Integers:
    """`count` draws with P(w) proportional to b^k, k = floor(|w|/width), and one more where the rest is `inner` or more.

    The magnitude is width K + U with K geometric and U uniform below the width, kept with probability b where U >= inner.

    Args:
        source: of randomness.
        count: how many.
        width, inner: of a step.
        falls: so many coins of probability b.
    """

    def magnitudes(size: int) -> Integers:
        def low_part(active: int) -> tuple[Integers, Mask]:
            drawn = source.below(width, active)
            kept = np.asarray(drawn < inner, dtype=np.bool_)
            outer = np.flatnonzero(~kept)
            kept[outer] = falls(outer.size)
            return drawn, kept

        high = _successes(falls, size)
        _check_range(int(high.max(initial=0)) * width + width)
        return _until_kept(size, low_part) + width * high

    return _two_sided(source, count, magnitudes)


def coins_of_exponential(source: Randomness, numerators: AnyArray, denominator: int) -> Mask:
    """One coin for each numerator n >= 0, True with probability exactly e^(-n/denominator)."""
    whole = numerators // denominator
    kept = _small_exponential(source, numerators - whole * denominator, denominator)
    round_ = 0
    while True:
        active = np.flatnonzero(kept & np.asarray(whole > round_, dtype=np.bool_))
        if not active.size:
            return kept
        kept[active] = _small_exponential(source, np.ones(active.size, dtype=np.int64), 1)
        round_ += 1


def _small_exponential(source: Randomness, numerators: AnyArray, denominator: int) -> Mask:
    """The same for n <= denominator: e^-g = P(the first k with a failed coin of probability g/k is odd)."""
    odd = np.zeros(len(numerators), dtype=np.bool_)
    active = np.arange(len(numerators))
    k = 1
    while active.size:
        succeeded = coins(source, numerators[active], denominator * k)
        odd[active[~succeeded]] = k % 2 == 1
        active = active[succeeded]
        k += 1
    return odd


def coins(source: Randomness, numerators: AnyArray, denominator: int) -> Mask:
    """One coin for each numerator n in [0, denominator], True with probability exactly n/denominator.

    Beyond 62 bits the uniform number is compared digit by digit, as far as needed to decide.
    """
    if denominator < _SMALL:
        return np.asarray(source.below(denominator, len(numerators)) < numerators, dtype=np.bool_)
    rest = np.asarray(numerators, dtype=object)
    result = np.zeros(len(numerators), dtype=np.bool_)
    active = np.arange(len(numerators))
    while active.size:
        digit = source.below(_SMALL, active.size)
        shifted = rest * _SMALL
        threshold = shifted // denominator
        result[active] = np.asarray(digit < threshold, dtype=np.bool_)
        rest = shifted - threshold * denominator
        tied = np.asarray((digit == threshold) & (rest > 0), dtype=np.bool_)
        rest, active = rest[tied], active[tied]
    return result


def rational_coins(source: Randomness, probability: Fraction, count: int) -> Mask:
    """`count` coins, each True with exactly this rational probability, whatever its denominator."""
    kind: Any = np.int64 if probability.denominator < _SMALL else object
    return coins(source, np.full(count, probability.numerator, dtype=kind), probability.denominator)


def irrational_coins(source: Randomness, enclose: Callable[[int], arb], count: int) -> Mask:
    """`count` coins, each True with exactly the irrational probability p in (0, 1) that `enclose(bits)` is a ball around.

    The coin is U < p for a uniform U of endlessly many bits; its first word decides, unless p begins with it.
    """
    words = source.words(count)
    threshold = _beginning(enclose, _WORD_BITS)
    heads = np.asarray(words < np.uint64(threshold), dtype=np.bool_)
    for place in np.flatnonzero(words == np.uint64(threshold)):
        word, bits = threshold, _WORD_BITS
        while word == _beginning(enclose, bits):
            word, bits = (word << _WORD_BITS) | int(source.words(1)[0]), bits + _WORD_BITS
        heads[place] = word < _beginning(enclose, bits)
    return heads


def _beginning(enclose: Callable[[int], arb], bits: int) -> int:
    """floor(2^bits p) for an irrational p."""
    precision = 2 * bits
    while True:
        with ctx.workprec(precision):
            found = (enclose(precision) * arb(2) ** bits).floor().unique_fmpz()
        if found is not None:
            return int(found)
        precision *= 2


def _successes(coin: Callable[[int], Mask], count: int) -> Integers:
    """How often each of `count` coins falls True before the first False."""
    total = np.zeros(count, dtype=np.int64)
    active = np.arange(count)
    while active.size:
        active = active[coin(active.size)]
        total[active] += 1
    return total


def _until_kept(count: int, propose: Callable[[int], tuple[Integers, Mask]]) -> Integers:
    """Draw again what was not kept."""
    drawn = np.empty(count, dtype=np.int64)
    active = np.arange(count)
    while active.size:
        proposal, kept = propose(active.size)
        drawn[active[kept]] = proposal[kept]
        active = active[~kept]
    return drawn


def _two_sided(source: Randomness, count: int, magnitudes: Callable[[int], Integers]) -> Integers:
    """A magnitude with a sign; minus zero is drawn again, so that zero is not counted twice."""

    def signed(active: int) -> tuple[Integers, Mask]:
        size = magnitudes(active)
        negative = source.below(2, active) == 1
        return np.where(negative, -size, size), ~(negative & (size == 0))

    return _until_kept(count, signed)


def _check_range(largest: int) -> None:
    if largest >= _SMALL:
        raise errors.ReleaseError("noise", "leaves the range of 64-bit integers", "choose a smaller scale", value=largest)


# --- inversion ------------------------------------------------------------------------------------


_WORD_BITS = 64
_PRECISION = 192
"""Bits at which the table is computed."""
LARGEST_REACH = 1 << 15
"""No table is made for wider laws."""

_CHUNK = 1 << 15
"""Draws that are made together."""

BULK = 1000
"""From this many draws on a table pays."""


def fits(law: laws.IntegerLaw) -> bool:
    """Whether the table of the law is small enough to be made."""
    return law.reach(_WORD_BITS) <= LARGEST_REACH


def inverted(law: laws.IntegerLaw, count: int, source: Randomness) -> Integers:
    """`count` independent draws from the law, exactly.

    >>> from dpspec.plugin import laws
    >>> from dpspec.plugin import randomness
    >>> len(inverted(laws.DiscreteGaussianLaw(0, "5/2"), 4, randomness.SeededRandomness(1)))
    4
    """
    table = _table(law)
    drawn = np.empty(count, dtype=np.int64)
    for begin in range(0, count, _CHUNK):
        part = drawn[begin : begin + _CHUNK]
        _invert(table, law, part, source)
    return drawn


def _invert(table: _Table, law: laws.IntegerLaw, drawn: Integers, source: Randomness) -> None:
    """Fill an array that the processor's cache can hold."""
    words = source.words(len(drawn))
    index = np.searchsorted(table.floors, words)
    np.add(index, table.first, out=drawn)
    last = len(table.floors) - 1
    open_ = (index == 0) | (index > last) | (table.floors[np.minimum(index, last)] == words)
    if table.doubtful.any():
        open_ |= table.doubtful[index - 1] & (table.floors[index - 1] + np.uint64(1) == words)
    for place in np.flatnonzero(open_):
        drawn[place] = _refined(law, int(words[place]), source)


@attrs.frozen(kw_only=True)
class _Table:
    """floor(2^64 F(k)) for k = first, first + 1, ...; `doubtful` where it may be one more (F(k) close to, or at, a word)."""

    first: int
    floors: randomness.Words
    doubtful: npt.NDArray[np.bool_]


@lru_cache(maxsize=64)
def _table(law: laws.IntegerLaw) -> _Table:
    """The tails outside it are below one word, so its ends are never drawn without more bits."""
    reach = law.reach(_WORD_BITS) + 1
    first = law.center - reach
    floors: list[int] = []
    doubtful: list[bool] = []
    with ctx.workprec(_PRECISION):
        total = law.tail(first - 1, _PRECISION)[0]
        for k in range(first, law.center + reach + 1):
            total += law.mass(k, _PRECISION)
            low, high = _floor(total.lower()), _floor(total.upper())
            if high > low + 1:
                raise errors.NumericalError(f"F({k})", f"is not known to {_WORD_BITS} bits")
            floors.append(max(low, 0))
            doubtful.append(high > low)
    return _Table(first=first, floors=np.array(floors, dtype=np.uint64), doubtful=np.array(doubtful))


def _floor(value: arb) -> int:
    return min(math.floor(exact.dyadic(value) * (1 << _WORD_BITS)), (1 << _WORD_BITS) - 1)


def _refined(law: laws.IntegerLaw, word: int, source: Randomness) -> int:
    """The outcome of a draw that its first word leaves open."""
    bits = _WORD_BITS
    while True:
        word = (word << _WORD_BITS) | int(source.words(1)[0])
        bits += _WORD_BITS
        outcome = _located(law, word, bits)
        if outcome is not None:
            return outcome


def _located(law: laws.IntegerLaw, word: int, bits: int) -> int | None:
    """The k with F(k-1) <= u < F(k) for every u that begins with these bits, if there is only one."""
    low, high = Fraction(word, 1 << bits), Fraction(word + 1, 1 << bits)
    if low == 0 or high == 1:
        return None

    def side(k: int) -> int:
        """-1 when F(k) lies below all such u, 1 when above, 0 when neither is proved."""
        with ctx.workprec(bits + 2 * _WORD_BITS):
            enclosure = law.tail(k, bits + _WORD_BITS)[0]
            if exact.dyadic(enclosure.upper()) <= low:
                return -1
            return 1 if exact.dyadic(enclosure.lower()) >= high else 0

    below, above, step = law.center, law.center, 1
    while side(below) >= 0:
        below, step = below - step, 2 * step
    while side(above) <= 0:
        above, step = above + step, 2 * step
    while above - below > 1:
        middle = (below + above) // 2
        found = side(middle)
        if found == 0:
            return None
        below, above = (middle, above) if found < 0 else (below, middle)
    return above
