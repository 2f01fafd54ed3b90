"""Exact draws by inversion of the distribution function F, from a table with a guide.

A uniform number U of endlessly many bits gives the outcome k with F(k-1) <= U < F(k). Its first 64 bits, one word, determine k
unless some F(j) lies among the numbers that begin with this word (about one word in 2^64 for each entry of the table), or k lies
outside the table. Such draws take more bits, until enclosures of F in ball arithmetic decide. Nothing is rounded, and the
parameters need not be rational.

The guide (Chen and Asau 1974) lists the outcome for each value of the first bits of the word, where these determine it. Only
the other words are searched in the table, so that the cost hardly depends on the number of outcomes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

import attrs
from flint import arb, ctx

from dpspec.plugin import Integers, errors, exact, late_module, laws, randomness

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from dpspec.plugin import Randomness
else:
    np = late_module("numpy")

WORD_BITS = 64
LARGEST_REACH = 1 << 15
"""No table is made for wider laws."""

_FIXED = 256
"""The table is computed in units of 2^-256."""

_CHUNK = 1 << 15
"""Draws that are made together."""

_GUIDE_BITS = 16
"""The longest guide. Measured at 2^12 to 2^18 entries: with 2^16 it fits the processor's cache, and of a law of 20,000 outcomes
one word in eleven is searched. Short tables have shorter guides, which take less time to make than the table."""


class Distribution(Protocol):
    """A law on an interval of the integers, as far as a table needs it; equal ones share a table."""

    def __hash__(self) -> int: ...

    @property
    def center(self) -> int:
        """An outcome from which the search for a rare outcome begins."""

    def masses(self) -> tuple[int, FixedMasses]:
        """The first outcome of the table, and the masses from there on; the others are below 2^-64 together."""

    def up_to(self, k: int, precision: int) -> arb:
        """A ball around P(X <= k)."""


@attrs.frozen
class WholeLaw:
    """A law on all integers."""

    law: laws.IntegerLaw

    @property
    def center(self) -> int:
        """The mode."""
        return self.law.center

    def masses(self) -> tuple[int, FixedMasses]:
        """Both sides."""
        side = _side(self.law, arb(1))
        return self.law.center - len(side.values) + 1, attrs.evolve(side, values=[*side.values[:0:-1], *side.values])

    def up_to(self, k: int, precision: int) -> arb:
        """P(X <= k)."""
        return self.law.tail(k, precision)[0]


@attrs.frozen
class Magnitude:
    """P(k) proportional to the mass of a law with center 0 at k, on the integers from 0 on.

    >>> half = Magnitude(laws.TwoSidedGeometricLaw.with_ratio(0, "1/2"))
    >>> [half.up_to(k, 64).str(4, radius=False) for k in (0, 1, 2)]
    ['0.5000', '0.7500', '0.8750']
    """

    law: laws.IntegerLaw

    @property
    def center(self) -> int:
        """The mode."""
        return 0

    def masses(self) -> tuple[int, FixedMasses]:
        """One side, after -1 with F(-1) = 0, so that a word below F(0) lies between two entries of the table."""
        side = _side(self.law, _share(self.law, _FIXED))
        return -1, attrs.evolve(side, values=[0, *side.values])

    def up_to(self, k: int, precision: int) -> arb:
        """P(X <= k)."""
        return arb(0) if k < 0 else 1 - self.law.upper_tail(k + 1, precision) / _share(self.law, precision)


@attrs.frozen(kw_only=True)
class FixedMasses:
    """Masses in units of 2^-256.

    Args:
        values: the masses; each is wrong by at most
        error: so many units.
    """

    values: list[int]
    error: int


def _side(law: laws.IntegerLaw, total: arb) -> FixedMasses:
    """The masses at the center and at each distance from it, divided by a total.

    One is r_k = e^-(slope + curvature (2k + 1)) times the one before, and r_k is e^-(2 curvature) times r_(k-1): two products of
    integers, where an exponential in ball arithmetic takes ten times as long. All three are at most 1. With errors of at most e
    units at the beginning, and less than 2 for each product, r_k is wrong by at most (k + 1)(e + 2), a mass by (k + 1)^2 (e + 2).
    """
    with ctx.workprec(_FIXED + 32):
        slope, curvature = law.slope.enclose(_FIXED + 32), law.curvature.enclose(_FIXED + 32)
        begin = (law.log_peak(_FIXED + 32).exp() / total, (-slope - curvature).exp(), (-2 * curvature).exp())
        (mass, ratio, bend), errors_ = zip(*map(_in_units, begin), strict=True)
    values = []
    for _ in range(law.reach(WORD_BITS) + 2):
        values.append(mass)
        mass = mass * ratio >> _FIXED
        ratio = ratio * bend >> _FIXED
    return FixedMasses(values=values, error=(max(errors_) + 2) * (len(values) + 1) ** 2)


def _in_units(ball: arb) -> tuple[int, int]:
    """A number of units of 2^-256 near a ball, and by how many it is wrong at most."""
    low, high = (exact.dyadic(end) * (1 << _FIXED) for end in (ball.lower(), ball.upper()))
    return math.floor(low), math.ceil(high) - math.floor(low)


@lru_cache(maxsize=256)
def _share(law: laws.IntegerLaw, precision: int) -> arb:
    """P(X >= 0) under a law with center 0."""
    with ctx.workprec(precision + 32):
        return 1 - law.upper_tail(1, precision + 32)


def fits(law: laws.IntegerLaw) -> bool:
    """Whether the table of the law is small enough to be made."""
    return law.reach(WORD_BITS) <= LARGEST_REACH


def inverted(law: laws.IntegerLaw, count: int, source: Randomness) -> Integers:
    """`count` independent draws from the law, exactly.

    >>> from dpspec.plugin import laws
    >>> from dpspec.plugin import randomness
    >>> len(inverted(laws.DiscreteGaussianLaw(0, "5/2"), 4, randomness.SeededRandomness(1)))
    4
    """
    return drawn_from(WholeLaw(law), count, source)


def drawn_from(distribution: Distribution, count: int, source: Randomness) -> Integers:
    """`count` independent draws from the distribution, exactly."""
    table = _table(distribution)
    drawn = np.empty(count, dtype=np.int64)
    for begin in range(0, count, _CHUNK):
        _invert(table, distribution, drawn[begin : begin + _CHUNK], source)
    return drawn


def _invert(table: _Table, distribution: Distribution, drawn: Integers, source: Randomness) -> None:
    """Fill an array that the processor's cache can hold."""
    words = source.words(len(drawn))
    index = table.guide[(words >> table.shift).view(np.int64)]
    np.add(index, table.first, out=drawn)
    searched = np.flatnonzero(index == _UNDECIDED)
    word = words[searched]
    place = np.searchsorted(table.floors, word)
    drawn[searched] = place + table.first
    last = len(table.floors) - 1
    open_ = (place == 0) | (place > last) | (table.floors[np.minimum(place, last)] == word)
    open_ |= table.doubtful[place - 1] & (table.floors[place - 1] + np.uint64(1) == word)
    for one in np.flatnonzero(open_):
        drawn[searched[one]] = _refined(distribution, int(word[one]), source)


_UNDECIDED = -1


@attrs.frozen(kw_only=True)
class _Table:
    """The distribution function in words.

    Args:
        first: the first outcome.
        floors: floor(2^64 F(k)) for k = first, first + 1, ...
        doubtful: where it may be one more (F(k) close to, or at, a word).
        shift: by how many bits a word is shifted to give its place in the guide.
        guide: the number of floors below the words of this place, where they all have the same outcome without further bits.
    """

    first: int
    floors: randomness.Words
    doubtful: npt.NDArray[np.bool_]
    shift: np.uint64
    guide: npt.NDArray[np.int32]


@lru_cache(maxsize=64)
def _table(distribution: Distribution) -> _Table:
    """The tails outside it are below one word, so its ends are never drawn without more bits."""
    first, masses = distribution.masses()
    with ctx.workprec(_FIXED + 32):
        before, error = _in_units(distribution.up_to(first - 1, _FIXED))
    error += (len(masses.values) + 1) * masses.error
    totals = list(accumulate(masses.values, initial=before))[1:]
    low, high = ([total + wrong >> _FIXED - WORD_BITS for total in totals] for wrong in (-error, error))
    open_ = [place for place, (one, other) in enumerate(zip(low, high, strict=True)) if one != other]
    if any(high[place] > low[place] + 1 for place in open_):
        raise errors.NumericalError("F(k)", f"is not known to {WORD_BITS} bits")
    found = np.array([min(max(floor, 0), _LARGEST) for floor in low], dtype=np.uint64)
    doubtful = np.zeros(len(found), dtype=np.bool_)
    doubtful[[place for place in open_ if max(low[place], 0) < min(high[place], _LARGEST)]] = True
    bits = min(_GUIDE_BITS, len(found).bit_length() + 7)
    shift, guide = np.uint64(WORD_BITS - bits), _guide(found, bits)
    return _Table(first=first, floors=found, doubtful=doubtful, shift=shift, guide=guide)


_LARGEST = (1 << WORD_BITS) - 1


def _guide(floors: randomness.Words, bits: int) -> npt.NDArray[np.int32]:
    """The number of floors below all words of an interval, which is decided where no floor, or floor plus 1, lies in it."""
    low = np.arange(1 << bits, dtype=np.uint64) << np.uint64(WORD_BITS - bits)
    high = low | np.uint64((1 << (WORD_BITS - bits)) - 1)
    before = np.searchsorted(floors, np.maximum(low, np.uint64(1)) - np.uint64(1))
    up_to = np.searchsorted(floors, high, side="right")
    decided = (before == up_to) & (before > 0) & (before < len(floors))
    return np.where(decided, before, _UNDECIDED).astype(np.int32)


def _refined(distribution: Distribution, word: int, source: Randomness) -> int:
    """The outcome of a draw that its first word leaves open."""
    bits = WORD_BITS
    while True:
        word = (word << WORD_BITS) | int(source.words(1)[0])
        bits += WORD_BITS
        outcome = _located(distribution, word, bits)
        if outcome is not None:
            return outcome


def _located(distribution: Distribution, word: int, bits: int) -> int | None:
    """The k with F(k-1) <= u < F(k) for every u that begins with these bits, if there is only one."""
    low, high = Fraction(word, 1 << bits), Fraction(word + 1, 1 << bits)
    if low == 0 or high == 1:
        return None

    def side(k: int) -> int:
        """-1 when F(k) lies below all such u, 1 when above, 0 when neither is proved."""
        with ctx.workprec(bits + 2 * WORD_BITS):
            enclosure = distribution.up_to(k, bits + WORD_BITS)
            if exact.dyadic(enclosure.upper()) <= low:
                return -1
            return 1 if exact.dyadic(enclosure.lower()) >= high else 0

    below, above, step = distribution.center, distribution.center, 1
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
