"""Uniform permutations and derangements inside many groups at once, as functions of the words of places.

An order inside a group is that of endlessly long random keys, one for each element; a tie of what was read so far is
settled by reading on, so the order is exactly uniform.

A uniform derangement needs no rejection of whole permutations. The cycle of a given element has length k >= 2 with probability

    d(n - k) / (n d(n)),      d(j) = D_j / j! = sum over i <= j of (-1)^i / i!,

and what is left is a uniform derangement of n - k elements. So the lengths are drawn one after the other (k uniform on 2..n,
kept with probability d(n - k)), and a uniform order of the elements is cut into cycles of these lengths: the uniform law on
derangements does not change when elements are renamed, so it is a mixture over cycle types of uniform laws.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]
Integers = npt.NDArray[np.integer[Any]]
WordsAt = Callable[[int, Integers], Words]

_WORD = 64
_LARGEST = np.uint64((1 << 64) - 1)
_TABLED = 40
"""All larger j have the floor(2^64 d(j)) of this one: they lie between d(40) and d(41)."""
_SERIES = 200
"""All larger j lie between d(200) and d(201), which differ by less than 2^-1250."""


def deeper(stream: int) -> int:
    """The stream that continues the words of another; streams below 2^32 are the caller's own."""
    return stream + (1 << 32)


def stable_order(keys: Integers, bound: int) -> Indices:
    """The stable ascending order of keys below `bound`, digit by digit (16 bits each, where numpy sorts in linear time)."""
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    shift = 16
    while bound > 1 << shift:
        digit = (keys >> shift).astype(np.uint16)
        order = order[np.argsort(digit[order], kind="stable")]
        shift += 16
    return order


def shuffled(words_at: WordsAt, places: Integers, groups: Integers, stream: int) -> Indices:
    """The indices, group after group in ascending order, uniformly ordered inside each.

    Args:
        places: what each element draws by; all different.
        groups: numbers from 0 on.
    """
    bits = int(groups.max(initial=0)).bit_length()
    words = words_at(stream, places)
    keys = words >> np.uint64(bits)
    keys |= groups.astype(np.uint64) << np.uint64(_WORD - bits) if bits else np.uint64(0)
    order = np.argsort(keys)
    ranked = keys[order]
    equal = np.flatnonzero(ranked[1:] == ranked[:-1])
    if equal.size:
        run = np.union1d(equal, equal + 1)
        order[run] = order[run][_read_on(words_at, places[order[run]], ranked[run], words[order[run]], stream)]
    return order


def _read_on(words_at: WordsAt, places: Integers, keys: Words, words: Words, stream: int) -> Indices:
    """The order of elements whose keys tie, by all of their first word, the next one, and so on."""
    read = [keys, words]
    while True:
        stream = deeper(stream)
        read.append(words_at(stream, places))
        order = np.lexsort(read[::-1])
        ranked = np.stack(read)[:, order]
        if not (ranked[:, 1:] == ranked[:, :-1]).all(axis=0).any():
            return order


def permuted(words_at: WordsAt, places: Integers, groups: Integers, stream: int) -> Indices:
    """For each element the index of the one whose value it gets, by a uniform permutation of each group.

    Args:
        places, groups: sorted by group, and by place inside a group, so that the result depends on nothing else.
    """
    return shuffled(words_at, places, groups, stream)


def deranged(words_at: WordsAt, places: Integers, groups: Integers, names: Integers, streams: tuple[int, int]) -> Indices:
    """The same by a uniform derangement of each group; no group has exactly one element.

    Args:
        names: for each group, in order, what its lengths of cycles are drawn by.
        streams: of the order, and of the lengths; the second one takes two streams for each turn.
    """
    order = shuffled(words_at, places, groups, streams[0])
    following = np.arange(1, len(order) + 1)
    sizes = np.bincount(groups, minlength=len(names)) if len(groups) else np.zeros(len(names), dtype=np.int64)
    for first, length in _cycles(words_at, sizes, names, streams[1]):
        following[first + length - 1] = first
    givers = np.empty(len(order), dtype=np.int64)
    givers[order] = order[following]
    return givers


def _cycles(words_at: WordsAt, sizes: Indices, names: Integers, stream: int) -> list[tuple[Indices, Indices]]:
    """Where the cycles of each group begin, and how long they are, turn by turn."""
    begin, left = np.cumsum(sizes) - sizes, sizes.copy()
    active = np.flatnonzero(left)
    found = []
    while active.size:
        n = left[active].astype(np.uint64)
        word = words_at(stream, names[active])
        # k - 2 is uniform below n - 1; a word beyond the last full multiple is refused, as if the length were.
        fair = word <= _LARGEST - (_LARGEST % (n - 1) + 1) % (n - 1)
        length = (word % (n - 1)).astype(np.int64) + 2
        kept = fair & _keeps(words_at, left[active] - length, names[active], stream + 1)
        cut, length = active[kept], length[kept]
        found.append((begin[cut], length))
        begin[cut] += length
        left[cut] -= length
        active = active[left[active] > 0]
        stream += 2
    return found


def _keeps(words_at: WordsAt, rest: Indices, names: Integers, stream: int) -> npt.NDArray[np.bool_]:
    """A coin of probability d(j) for each j: whether the binary fraction that its words begin lies below d(j)."""
    sure = rest == 0
    thresholds = _thresholds()[np.minimum(rest, _TABLED)]
    words = words_at(stream, names)
    coins: npt.NDArray[np.bool_] = sure | (words < thresholds)
    for index in np.flatnonzero(~sure & (words == thresholds)):
        coins[index] = _settled(words_at, int(rest[index]), int(words[index]), names[index : index + 1], stream)
    return coins


def _settled(words_at: WordsAt, j: int, read: int, name: Integers, stream: int) -> bool:
    """The same for one coin whose first word does not decide: further words are read until they do."""
    bits = _WORD
    low, high = sorted((derangement_share(min(j, _SERIES)), derangement_share(min(j, _SERIES + 1))))
    while Fraction(read, 1 << bits) < high:
        if Fraction(read + 1, 1 << bits) <= low:
            return True
        stream, bits = deeper(stream), bits + _WORD
        read = read << _WORD | int(words_at(stream, name)[0])
    return False


@lru_cache(maxsize=1)
def _thresholds() -> Words:
    """floor(2^64 d(j)) for j up to the end of the table; d(0) = 1 has none."""
    floors = [0] + [int(derangement_share(j) * (1 << _WORD)) for j in range(1, _TABLED + 1)]
    return np.asarray(floors, dtype=np.uint64)


@lru_cache(maxsize=256)
def derangement_share(j: int) -> Fraction:
    """d(j) = D_j / j!, the share of permutations of j elements that move every one.

    >>> [str(derangement_share(j)) for j in range(5)]
    ['1', '0', '1/2', '1/3', '3/8']
    """
    share, term = Fraction(0), Fraction(1)
    for i in range(j + 1):
        share, term = share + term, term / -(i + 1)
    return share
