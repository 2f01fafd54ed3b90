"""Exact bulk sampling of integer noise by inversion of its distribution function.

A uniform number U of endlessly many bits gives the outcome k with F(k-1) <= U < F(k). Its first 64 bits, one word,
settle k unless some F(j) lies among the numbers that begin with this word (about one word in 2^64 for each entry of the
table), or k lies outside the table; such draws take more bits, until enclosures of F in ball arithmetic decide. Nothing is
rounded, and the parameters need not be rational.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import attrs
import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from dpspec.errors import NumericalError
from dpspec.exact import dyadic
from dpspec.laws.integers import IntegerLaw

if TYPE_CHECKING:
    from dpspec.randomness import Randomness, Words
    from dpspec_noise.samplers import Integers

_WORD = 64
_PRECISION = 192
"""Bits at which the table is computed."""
LARGEST_REACH = 1 << 15
"""No table is made for wider laws."""

_CHUNK = 1 << 15
"""Draws that are made together."""

BULK = 1000
"""From this many draws on a table pays."""


def fits(law: IntegerLaw) -> bool:
    """Whether the table of the law is small enough to be made."""
    return law.reach(_WORD) <= LARGEST_REACH


def inverted(law: IntegerLaw, count: int, source: Randomness) -> Integers:
    """`count` independent draws from the law, exactly.

    >>> from dpspec.laws.integers import DiscreteGaussian
    >>> from dpspec.randomness import SeededRandomness
    >>> len(inverted(DiscreteGaussian(0, "5/2"), 4, SeededRandomness(1)))
    4
    """
    table = _table(law)
    drawn = np.empty(count, dtype=np.int64)
    for begin in range(0, count, _CHUNK):
        part = drawn[begin : begin + _CHUNK]
        _invert(table, law, part, source)
    return drawn


def _invert(table: _Table, law: IntegerLaw, drawn: Integers, source: Randomness) -> None:
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
    floors: Words
    doubtful: npt.NDArray[np.bool_]


@lru_cache(maxsize=64)
def _table(law: IntegerLaw) -> _Table:
    """The tails outside it are below one word, so its ends are never drawn without more bits."""
    reach = law.reach(_WORD) + 1
    first = law.center - reach
    floors: list[int] = []
    doubtful: list[bool] = []
    with ctx.workprec(_PRECISION):
        total = law.tail(first - 1, _PRECISION)[0]
        for k in range(first, law.center + reach + 1):
            total += law.mass(k, _PRECISION)
            low, high = _floor(total.lower()), _floor(total.upper())
            if high > low + 1:
                raise NumericalError(f"F({k})", f"is not known to {_WORD} bits")
            floors.append(max(low, 0))
            doubtful.append(high > low)
    return _Table(first=first, floors=np.array(floors, dtype=np.uint64), doubtful=np.array(doubtful))


def _floor(value: arb) -> int:
    return min(math.floor(dyadic(value) * (1 << _WORD)), (1 << _WORD) - 1)


def _refined(law: IntegerLaw, word: int, source: Randomness) -> int:
    """The outcome of a draw that its first word leaves open."""
    bits = _WORD
    while True:
        word = (word << _WORD) | int(source.words(1)[0])
        bits += _WORD
        outcome = _located(law, word, bits)
        if outcome is not None:
            return outcome


def _located(law: IntegerLaw, word: int, bits: int) -> int | None:
    """The k with F(k-1) <= u < F(k) for every u that begins with these bits, if there is only one."""
    low, high = Fraction(word, 1 << bits), Fraction(word + 1, 1 << bits)
    if low == 0 or high == 1:
        return None

    def side(k: int) -> int:
        """-1 when F(k) lies below all such u, 1 when above, 0 when neither is proved."""
        with ctx.workprec(bits + 2 * _WORD):
            enclosure = law.tail(k, bits + _WORD)[0]
            if dyadic(enclosure.upper()) <= low:
                return -1
            return 1 if dyadic(enclosure.lower()) >= high else 0

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
