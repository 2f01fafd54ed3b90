"""Exact samplers for integer noise: every draw is decided by integer arithmetic on uniform words, never by a float.

The coin of probability e^-g and the two rejection samplers follow Canonne, Kamath and Steinke (2020), "The Discrete
Gaussian for Differential Privacy"; here they run on whole arrays, and the array of undecided draws shrinks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dpspec.errors import ReleaseError

if TYPE_CHECKING:
    from dpspec.randomness import Randomness

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
AnyIntegers = npt.NDArray[Any]

_WORD = 62
_SMALL = 1 << _WORD
"""Products below this are computed in 64-bit integers, larger ones in Python's."""


def two_sided_geometric(source: Randomness, count: int, *, ratio: Fraction) -> Integers:
    """`count` draws with P(w) proportional to ratio^|w|, for a rational ratio in (0, 1).

    >>> from dpspec.randomness import SeededRandomness
    >>> len(two_sided_geometric(SeededRandomness(1), 5, ratio=Fraction(1, 2)))
    5
    """

    def tries(size: int) -> Integers:
        return _successes(lambda active: rational_coins(source, ratio, active), size)

    return _two_sided(source, count, tries)


def discrete_laplace(source: Randomness, count: int, *, scale: Fraction) -> Integers:
    """`count` draws with P(w) proportional to e^(-|w|/scale), for a rational scale t/s.

    A geometric magnitude X with rate 1/t is X = U + tV, U uniform below t kept with probability e^(-U/t), V geometric
    with rate 1; floor(X/s) then has rate s/t.

    >>> from dpspec.randomness import SeededRandomness
    >>> len(discrete_laplace(SeededRandomness(1), 5, scale=Fraction(3, 2)))
    5
    """
    top, bottom = scale.numerator, scale.denominator
    _check_range(top)

    def magnitudes(size: int) -> Integers:
        def low_part(active: int) -> tuple[Integers, Flags]:
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

    >>> from dpspec.randomness import SeededRandomness
    >>> len(discrete_gaussian(SeededRandomness(1), 5, variance=Fraction(9, 4)))
    5
    """
    a, b = variance.numerator, variance.denominator
    t = math.isqrt(a // b) + 1

    def proposal(active: int) -> tuple[Integers, Flags]:
        drawn = discrete_laplace(source, active, scale=Fraction(t))
        largest = int(np.abs(drawn).max(initial=0))
        magnitude: AnyIntegers = np.abs(drawn)
        if max((largest * b * t + a) ** 2, 2 * a * b * t * t) >= _SMALL:
            magnitude = magnitude.astype(object)
        return drawn, coins_of_exponential(source, (magnitude * (b * t) - a) ** 2, 2 * a * b * t * t)

    return _until_kept(count, proposal)


def coins_of_exponential(source: Randomness, numerators: AnyIntegers, denominator: int) -> Flags:
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


def _small_exponential(source: Randomness, numerators: AnyIntegers, denominator: int) -> Flags:
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


def coins(source: Randomness, numerators: AnyIntegers, denominator: int) -> Flags:
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


def rational_coins(source: Randomness, probability: Fraction, count: int) -> Flags:
    """`count` coins, each True with exactly this rational probability, whatever its denominator."""
    kind: Any = np.int64 if probability.denominator < _SMALL else object
    return coins(source, np.full(count, probability.numerator, dtype=kind), probability.denominator)


def _successes(coin: Callable[[int], Flags], count: int) -> Integers:
    """How often each of `count` coins falls True before the first False."""
    total = np.zeros(count, dtype=np.int64)
    active = np.arange(count)
    while active.size:
        active = active[coin(active.size)]
        total[active] += 1
    return total


def _until_kept(count: int, propose: Callable[[int], tuple[Integers, Flags]]) -> Integers:
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

    def signed(active: int) -> tuple[Integers, Flags]:
        size = magnitudes(active)
        negative = source.below(2, active) == 1
        return np.where(negative, -size, size), ~(negative & (size == 0))

    return _until_kept(count, signed)


def _check_range(largest: int) -> None:
    if largest >= _SMALL:
        raise ReleaseError("noise", "leaves the range of 64-bit integers", "choose a smaller scale", value=largest)
