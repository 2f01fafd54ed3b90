"""Exact draws from wide laws on the integers, at a cost that does not depend on their width.

The laws are geometric and discrete Gaussian: f(k) = e^-(slope k + curvature k^2) for k >= 0. A magnitude is drawn as
k = w j + u with w a power of two:

* j with P(j) proportional to f(w j), a law of the same family with slope w and curvature w^2 times as large, by inversion;
* u uniform in {0, ..., w - 1}: the first bits of a word;
* kept with probability f(w j + u) / f(w j) = e^-g, g = slope u + curvature u (2 w j + u).

So P(k) is proportional to f(w j) f(w j + u) / f(w j) = f(k), exactly (rejection; von Neumann 1951). The blocks are so small
that g is below 0.03, and nearly every draw is kept.

The coin of probability e^-g is U < e^-g for a uniform U of endlessly many bits. With V = 1 - U it is V > 1 - e^-g, and
g - g^2/2 <= 1 - e^-g <= g. An upper bound of g for all blocks of the table decides nearly all coins by one comparison of
integers. Of the rest, doubles decide where the two bounds do, with a margin that is a hundred times the proven bound of all
rounding errors. The others take more bits, until enclosures in ball arithmetic decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs
from flint import arb, ctx

from dpspec.plugin import Integers, Mask, Number, errors, exact, late_module, laws
from dpspec_noise.inversion import WORD_BITS, Magnitude, drawn_from

if TYPE_CHECKING:
    import numpy as np

    from dpspec.plugin import Randomness, randomness
else:
    np = late_module("numpy")

TABLE_REACH = 1 << 12
"""Blocks are counted up to about this one: such a table takes some 20 ms to make, and larger ones draw no faster."""

LARGEST = 1 << 62
"""Draws are below this in magnitude."""

_CHUNK = 1 << 15
"""Draws that are made together, in arrays that the processor's cache can hold."""


def wide_geometric(source: Randomness, count: int, *, decay: Number) -> Integers:
    """`count` draws with P(k) proportional to e^(-decay k), k >= 0, for any exact decay > 0.

    >>> from dpspec.plugin import number, randomness
    >>> len(wide_geometric(randomness.SeededRandomness(1), 5, decay=number("1/1000000")))
    5
    """
    return _magnitudes(_geometric(decay), count, source)[0]


def wide_two_sided_geometric(source: Randomness, count: int, *, decay: Number) -> Integers:
    """`count` draws with P(k) proportional to e^(-decay |k|), for any exact decay > 0.

    >>> from dpspec.plugin import number, randomness
    >>> len(wide_two_sided_geometric(randomness.SeededRandomness(1), 5, decay=number("1/1000000")))
    5
    """
    return _two_sided(_geometric(decay), count, source)


def wide_discrete_gaussian(source: Randomness, count: int, *, variance: Fraction) -> Integers:
    """`count` draws with P(k) proportional to e^(-k^2/(2 variance)), for any rational variance > 0.

    >>> from dpspec.plugin import randomness
    >>> len(wide_discrete_gaussian(randomness.SeededRandomness(1), 5, variance=Fraction(10**12)))
    5
    """
    law = laws.DiscreteGaussianLaw(0, variance)
    return _two_sided(_blocks(law, lambda width: laws.DiscreteGaussianLaw(0, variance / width**2)), count, source)


def in_range(law: laws.IntegerLaw) -> bool:
    """Whether the magnitudes that are drawn fit 64-bit integers."""
    return 4 * law.reach(WORD_BITS) < LARGEST


@attrs.frozen(kw_only=True)
class _Blocks:
    """How magnitudes of a law are cut into blocks.

    Args:
        law: the law.
        coarse: the law of j.
        bits: w = 2^bits.
    """

    law: laws.IntegerLaw
    coarse: laws.IntegerLaw
    bits: int

    @property
    def last(self) -> int:
        """The last block for which `sure` is meant."""
        return self.coarse.reach(WORD_BITS) + 1

    def sure(self) -> int:
        """2^64 V is at least this: the draw is kept in every block up to `last`."""
        most, width = (1 << self.bits) - 1, 1 << self.bits
        with ctx.workprec(2 * WORD_BITS):
            largest = self.exponent(most, 2 * width * self.last + most).enclose(2 * WORD_BITS)
            return min(math.ceil(exact.dyadic((largest * arb(2) ** WORD_BITS).upper())), (1 << WORD_BITS) - 1)

    def exponent(self, offset: int, sum_: int) -> Number:
        """g, for an offset u and 2 w j + u."""
        return self.law.slope * offset + self.law.curvature * (offset * sum_)


def _geometric(decay: Number) -> _Blocks:
    return _blocks(laws.TwoSidedGeometricLaw(0, decay), lambda width: laws.TwoSidedGeometricLaw(0, decay * width))


def _blocks(law: laws.IntegerLaw, coarse: Callable[[int], laws.IntegerLaw]) -> _Blocks:
    if not in_range(law):
        raise errors.ReleaseError("noise", "leaves the range of 64-bit integers", "choose a smaller scale")
    bits = max(law.reach(WORD_BITS) // TABLE_REACH, 1).bit_length() - 1
    return _Blocks(law=law, coarse=coarse(1 << bits), bits=bits)


def _two_sided(blocks: _Blocks, count: int, source: Randomness) -> Integers:
    """A magnitude with a sign; minus zero is drawn again, so that zero is not counted twice."""
    drawn, negative = _magnitudes(blocks, count, source)
    again = np.flatnonzero(negative & (drawn == 0))
    np.negative(drawn, out=drawn, where=negative)
    if again.size:
        drawn[again] = _two_sided(blocks, again.size, source)
    return drawn


def _magnitudes(blocks: _Blocks, count: int, source: Randomness) -> tuple[Integers, Mask]:
    """Magnitudes, and fair coins that are independent of them."""
    sure, drawn, coins = blocks.sure(), np.empty(count, dtype=np.int64), np.empty(count, dtype=np.bool_)
    for begin in range(0, count, _CHUNK):
        part, its = drawn[begin : begin + _CHUNK], coins[begin : begin + _CHUNK]
        part[:], its[:], rejected = _proposed(blocks, sure, len(part), source)
        while rejected.size:
            part[rejected], its[rejected], again = _proposed(blocks, sure, rejected.size, source)
            rejected = rejected[again]
    return drawn, coins


def _proposed(blocks: _Blocks, sure: int, count: int, source: Randomness) -> tuple[Integers, Mask, Integers]:
    """Magnitudes with their signs, and the indices of those that are rejected."""
    block, word = drawn_from(Magnitude(blocks.coarse), count, source), source.words(count)
    negative = (word & np.uint64(1)).astype(np.bool_)
    if not blocks.bits:
        return block, negative, np.zeros(0, dtype=np.int64)
    offset = (word >> np.uint64(WORD_BITS - blocks.bits)).view(np.int64)
    if int(block.max(initial=0)) >= LARGEST >> blocks.bits:
        raise errors.ReleaseError("noise", "leaves the range of 64-bit integers", "choose a smaller scale")
    far = ~source.words(count)
    start = block << blocks.bits
    unsure = np.flatnonzero((far < np.uint64(sure)) | (block > blocks.last))
    kept = _kept(blocks, offset[unsure], start[unsure], far[unsure], source)
    return start + offset, negative, unsure[~kept]


_MARGIN = 2.0**-40
"""Each bound below has fewer than ten operations on positive doubles, with a relative error of at most 2^-53 each."""


def _kept(blocks: _Blocks, offset: Integers, start: Integers, far: randomness.Words, source: Randomness) -> Mask:
    """Whether V > 1 - e^-g, where V lies in (far, far + 1] 2^-64."""
    slope, curvature = (_double(rate) for rate in (blocks.law.slope, blocks.law.curvature))
    u, both = offset.astype(np.float64), (2 * start + offset).astype(np.float64)
    g = slope * u + curvature * u * both
    v = far.astype(np.float64) * 2.0**-WORD_BITS
    kept = v >= g * (1 + _MARGIN)
    rejected = (g < 1) & (v + 2.0**-WORD_BITS <= (g - g * g / 2) * (1 - _MARGIN))
    for place in np.flatnonzero(~kept & ~rejected):
        exponent = blocks.exponent(int(offset[place]), 2 * int(start[place]) + int(offset[place]))
        kept[place] = _settled(exponent, (1 << WORD_BITS) - 1 - int(far[place]), source)
    return np.asarray(kept, dtype=np.bool_)


def _double(rate: Number) -> float:
    """The rate with a relative error of at most 2^-52."""
    return float(exact.relative_ball(rate, WORD_BITS - 4).mid()) if rate > 0 else 0.0


def _settled(exponent: Number, word: int, source: Randomness) -> bool:
    """Whether U < e^-exponent, for a U that begins with a word."""
    bits = WORD_BITS
    while True:
        with ctx.workprec(bits + 2 * WORD_BITS):
            probability = (-exponent.enclose(bits + 2 * WORD_BITS)).exp()
            if exact.dyadic(probability.upper()) <= Fraction(word, 1 << bits):
                return False
            if exact.dyadic(probability.lower()) >= Fraction(word + 1, 1 << bits):
                return True
        word, bits = (word << WORD_BITS) | int(source.words(1)[0]), bits + WORD_BITS
