"""Exact samplers for integer noise: coins, and the samplers of each law.

The coin of probability e^-g and the rejection samplers follow Canonne, Kamath and Steinke (2020), "The Discrete Gaussian for
Differential Privacy"; here they run on whole arrays, and the array of undecided draws shrinks. They need no table, so they make
the draws where these are few. Many are made by inversion in blocks (`dpspec_noise.wide_noise`), at a cost that does not depend on
the width of the law.

A source with a seed repeats earlier releases byte for byte. It therefore keeps to the rejection samplers, unless these take one
round for each step of the noise and would not end within seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from flint import arb, ctx

from dpspec.plugin import Integers, Mask, Number, errors, exact, late_module, laws, ln, number, randomness
from dpspec_noise.inversion import WORD_BITS as _WORD_BITS, fits, inverted
from dpspec_noise.wide_noise import in_range, wide_discrete_gaussian, wide_geometric, wide_two_sided_geometric

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from dpspec.plugin import Randomness
else:
    np = late_module("numpy")


AnyArray: TypeAlias = "npt.NDArray[Any]"
ExactProbability = Any
"""An exact probability: a `Fraction`, or a number of the field Q(e^r)."""
__all__ = [
    "BULK", "ExactProbability", "coins", "coins_at", "coins_of", "coins_of_exponential", "discrete_gaussian", "discrete_laplace",
    "fits", "inverted", "irrational_coins", "irrational_coins_at", "rational_coins", "staircase", "two_sided_geometric",
    "wide_two_sided_geometric",
]  # fmt: skip

_WORD = 62
_SMALL = 1 << _WORD
"""Products below this are computed in 64-bit integers, larger ones in Python's."""

BULK = 1000
"""From this many draws on the table of a narrow law pays."""

_MANY = 1 << 15
"""From this many draws on rejection takes longer than it takes to make any table of blocks."""

_FEW_STEPS, _REPEATED_STEPS = 10**6, 10**8
"""So many steps one by one take some 20 ms, as a table of blocks does; and two seconds."""

_ROUND = 1000
"""A round on arrays takes as long as so many of its steps."""


def _takes_steps(source: Randomness, count: int, decay: Number) -> bool:
    """Whether geometric numbers are drawn step by step, one round for each step of the largest."""
    most = _FEW_STEPS if source.fit_for_publication else _REPEATED_STEPS
    return count + _ROUND * (1 + math.log(max(count, 1))) <= most * float(exact.relative_ball(decay, 50))


def two_sided_geometric(source: Randomness, count: int, *, ratio: Fraction) -> Integers:
    """`count` draws with P(w) proportional to ratio^|w|, for a rational ratio in (0, 1).

    >>> from dpspec.plugin import randomness
    >>> len(two_sided_geometric(randomness.SeededRandomness(1), 5, ratio=Fraction(1, 2)))
    5
    """

    decay = ln(1 / ratio)
    if not _takes_steps(source, count, decay):
        return wide_two_sided_geometric(source, count, decay=decay)

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
    decay = number(1 / scale)
    if source.fit_for_publication and count >= _MANY and in_range(laws.TwoSidedGeometricLaw(0, decay)):
        return wide_two_sided_geometric(source, count, decay=decay)
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
    if source.fit_for_publication and count >= _MANY and in_range(laws.DiscreteGaussianLaw(0, variance)):
        return wide_discrete_gaussian(source, count, variance=variance)
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


def staircase(
    source: Randomness, count: int, *, width: int, inner: int, epsilon: Number, falls: Callable[[int], Mask]
) -> Integers:
    """`count` draws with P(w) proportional to b^k, k = floor(|w|/width), and one more where the rest is `inner` or more.

    The magnitude is width K + U with K geometric and U uniform below the width, kept with probability b where U >= inner.

    Args:
        source: of randomness.
        count: how many.
        width, inner: of a step.
        epsilon: b = e^-epsilon.
        falls: so many coins of probability b.
    """

    def magnitudes(size: int) -> Integers:
        def low_part(active: int) -> tuple[Integers, Mask]:
            drawn = source.below(width, active)
            kept = np.asarray(drawn < inner, dtype=np.bool_)
            outer = np.flatnonzero(~kept)
            kept[outer] = falls(outer.size)
            return drawn, kept

        steps = _takes_steps(source, size, epsilon)
        high = _successes(falls, size) if steps else wide_geometric(source, size, decay=epsilon)
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
    return _irrational(enclose, source.words(count), lambda _, __: int(source.words(1)[0]))


def irrational_coins_at(
    source: randomness.PlacedRandomness, enclose: Callable[[int], arb], stream: int, places: Integers
) -> Mask:
    """The same with one coin for each place."""

    def further(place: int, turn: int) -> int:
        later = stream
        for _ in range(turn):
            later = randomness.deeper(later)
        return int(source.words_at(later, places[place : place + 1])[0])

    return _irrational(enclose, source.words_at(stream, places), further)


def _irrational(enclose: Callable[[int], arb], words: AnyArray, further: Callable[[int, int], int]) -> Mask:
    """Whether each uniform number lies below p, from its first word and, where that does not decide, further ones.

    Args:
        further: the word that follows after so many turns, of the number at a place.
    """
    threshold = _beginning(enclose, _WORD_BITS)
    heads = np.asarray(words < np.uint64(threshold), dtype=np.bool_)
    for place in np.flatnonzero(words == np.uint64(threshold)).tolist():
        word, bits, turn = threshold, _WORD_BITS, 0
        while word == _beginning(enclose, bits):
            turn += 1
            word, bits = (word << _WORD_BITS) | further(place, turn), bits + _WORD_BITS
        heads[place] = word < _beginning(enclose, bits)
    return heads


def coins_of(source: Randomness, probability: ExactProbability, count: int) -> Mask:
    """`count` coins of an exact probability."""
    known = probability if isinstance(probability, Fraction) else probability.rational()
    return irrational_coins(source, probability.enclose, count) if known is None else rational_coins(source, known, count)


def coins_at(source: randomness.PlacedRandomness, probability: ExactProbability, stream: int, places: Integers) -> Mask:
    """One coin of an exact probability for each place."""
    known = probability if isinstance(probability, Fraction) else probability.rational()
    if known is None:
        return irrational_coins_at(source, probability.enclose, stream, places)
    return source.bernoulli_at(known, stream, places)


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
