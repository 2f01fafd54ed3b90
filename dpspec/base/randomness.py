"""Randomness: sources of random bits, exact Bernoulli draws, and uniform permutations and derangements in many groups at once.

Sources come from the operating system for releases, from a seed for tests and audits only. A source is a 256-bit key and AES, a
pseudorandom function of it. What is random is spent once, so there are two kinds:

* `Randomness` is *consumed*: it gives words in a row, the AES-256 key stream in counter mode, and goes on where it stopped. It
  cannot be copied, pickled, or used after a fork, since two copies would draw the same.
* `PlacedRandomness` is a *function*: the word of (stream, place) depends on key, stream and place alone. A record that draws by
  its position in the file draws the same value wherever, whenever and however often it is drawn. The release therefore does not
  depend on how the work was divided, or on a part that was lost and repeated. `Randomness.placed` creates one, with a new key at
  every call: a run calls it once, and two runs of one source never draw the same values.

`PlacedRandomness.spawn` derives the key of a source by HMAC-SHA256 of a path of labels; these are independent of each other and
of the words by place.

An order inside a group is that of endlessly long random keys, one for each element; a tie of what was read so far is
settled by reading on, so the order is exactly uniform.

A uniform derangement needs no rejection of whole permutations. The cycle of a given element has length k >= 2 with probability

    d(n - k) / (n d(n)),      d(j) = D_j / j! = sum over i <= j of (-1)^i / i!,

and what is left is a uniform derangement of n - k elements. So the lengths are drawn one after the other (k uniform on 2..n,
kept with probability d(n - k)), and a uniform order of the elements is cut into cycles of these lengths: the uniform law on
derangements does not change when elements are renamed, so it is a mixture over cycle types of uniform laws.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from dpspec.base.errors import ReleaseError
from dpspec.base.lazy import late_module
from dpspec.base.types import AnyIntegers, Integers, Mask

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = late_module("numpy")

Words: TypeAlias = "npt.NDArray[np.uint64]"
WordsAt = Callable[[int, AnyIntegers], Words]

_WORD = 64
_LARGEST = (1 << _WORD) - 1
_TABLED = 40
"""All larger j have the floor(2^64 d(j)) of this one: they lie between d(40) and d(41)."""
_SERIES = 200
"""All larger j lie between d(200) and d(201), which differ by less than 2^-1250."""


def deeper(stream: int) -> int:
    """The stream that continues the words of another; streams below 2^32 are the caller's own."""
    return stream + (1 << 32)


def stable_order(keys: AnyIntegers, bound: int) -> Integers:
    """The stable ascending order of keys below `bound`, digit by digit (16 bits each, where numpy sorts in linear time)."""
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    shift = 16
    while bound > 1 << shift:
        digit = (keys >> shift).astype(np.uint16)
        order = order[np.argsort(digit[order], kind="stable")]
        shift += 16
    return order


def shuffled(words_at: WordsAt, places: AnyIntegers, groups: AnyIntegers, stream: int) -> Integers:
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


def _read_on(words_at: WordsAt, places: AnyIntegers, keys: Words, words: Words, stream: int) -> Integers:
    """The order of elements whose keys tie, by all of their first word, the next one, and so on."""
    read = [keys, words]
    while True:
        stream = deeper(stream)
        read.append(words_at(stream, places))
        order = np.lexsort(read[::-1])
        ranked = np.stack(read)[:, order]
        if not (ranked[:, 1:] == ranked[:, :-1]).all(axis=0).any():
            return order


def permuted(words_at: WordsAt, places: AnyIntegers, groups: AnyIntegers, stream: int) -> Integers:
    """For each element the index of the one whose value it gets, by a uniform permutation of each group.

    Args:
        places, groups: sorted by group, and by place inside a group, so that the result depends on nothing else.
    """
    return shuffled(words_at, places, groups, stream)


def deranged(
    words_at: WordsAt, places: AnyIntegers, groups: AnyIntegers, names: AnyIntegers, streams: tuple[int, int]
) -> Integers:
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


def _cycles(words_at: WordsAt, sizes: Integers, names: AnyIntegers, stream: int) -> list[tuple[Integers, Integers]]:
    """The start and the length of the cycles of each group, turn by turn."""
    begin, left = np.cumsum(sizes) - sizes, sizes.copy()
    active, largest = np.flatnonzero(left), np.uint64(_LARGEST)
    found = []
    while active.size:
        n = left[active].astype(np.uint64)
        word = words_at(stream, names[active])
        # k - 2 is uniform below n - 1; a word beyond the last full multiple is refused, as if the length were.
        fair = word <= largest - (largest % (n - 1) + 1) % (n - 1)
        length = (word % (n - 1)).astype(np.int64) + 2
        kept = fair & _keeps(words_at, left[active] - length, names[active], stream + 1)
        cut, length = active[kept], length[kept]
        found.append((begin[cut], length))
        begin[cut] += length
        left[cut] -= length
        active = active[left[active] > 0]
        stream += 2
    return found


def _keeps(words_at: WordsAt, rest: Integers, names: AnyIntegers, stream: int) -> npt.NDArray[np.bool_]:
    """A coin of probability d(j) for each j: whether the binary fraction that its words begin lies below d(j)."""
    sure = rest == 0
    thresholds = _thresholds()[np.minimum(rest, _TABLED)]
    words = words_at(stream, names)
    coins: npt.NDArray[np.bool_] = sure | (words < thresholds)
    for index in np.flatnonzero(~sure & (words == thresholds)):
        coins[index] = _settled(words_at, int(rest[index]), int(words[index]), names[index : index + 1], stream)
    return coins


def _settled(words_at: WordsAt, j: int, read: int, name: AnyIntegers, stream: int) -> bool:
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


# --- sources --------------------------------------------------------------------------------------


KEY_BYTES = 32
_BLOCKS = 1 << 14
"""Of so many blocks of the cipher at a time, what goes in and comes out stays in the cache. That takes a tenth of the time of
2^20 at a time, which are fetched from memory."""
_CHUNK = 1 << 20
"""Words by place are made in chunks of this many, so that memory stays bounded."""


class Randomness(ABC):
    """A source of independent uniform 64-bit words, each given once, and the exact samplers that integer mechanisms build on.

    >>> source = SeededRandomness(1)
    >>> bool((source.words(2) == source.words(2)).any())
    False
    """

    fit_for_publication: bool

    @abstractmethod
    def words(self, count: int) -> Words:
        """`count` independent uniform 64-bit words, others at every call."""

    @abstractmethod
    def placed(self) -> PlacedRandomness:
        """Randomness by place for one run, independent of all that was drawn before: another one at every call."""

    def below(self, bound: int, count: int) -> npt.NDArray[np.int64]:
        """`count` independent uniform integers in {0, ..., bound - 1}, exactly uniform (rejection)."""
        drawn = np.empty(count, dtype=np.int64)
        limit = (1 << 64) // bound * bound
        pending = np.arange(count)
        while pending.size:
            words = self.words(pending.size)
            kept = words <= np.uint64(limit - 1)
            drawn[pending[kept]] = (words[kept] % np.uint64(bound)).astype(np.int64)
            pending = pending[~kept]
        return drawn

    def bernoulli(self, probability: Fraction, count: int) -> Mask:
        """`count` independent coins that are True with exactly this rational probability."""
        if probability.denominator >= 1 << 63:
            raise ValueError(f"probability={probability}: the denominator must be below 2**63")
        return np.asarray(self.below(probability.denominator, count) < probability.numerator)

    def permutation(self, count: int) -> npt.NDArray[np.int64]:
        """A uniform permutation of range(count): the order of random keys, drawn afresh in the case of a tie."""
        while True:
            keys = self.words(count)
            order = np.argsort(keys, kind="stable")
            ranked = keys[order]
            if not np.any(ranked[1:] == ranked[:-1]):
                return order.astype(np.int64)


class PlacedRandomness(ABC):
    """Words that belong to places, and the exact samplers that kernels build on: a function, equal for equal arguments.

    >>> places, source = np.arange(3), SeededRandomness(1)
    >>> run, other = source.placed(), source.placed()
    >>> [bool((run.words_at(0, places) == again.words_at(0, places)).any()) for again in (run, other)]
    [True, False]
    """

    fit_for_publication: bool

    @abstractmethod
    def words_at(self, stream: int, places: AnyIntegers) -> Words:
        """The word of each place in a stream: equal for equal arguments, independent for different ones."""

    @abstractmethod
    def spawn(self, *path: str | int) -> Randomness:
        """The source that belongs to this path of labels, from its beginning: for a kernel that does one part of a run."""

    def bernoulli_at(self, probability: Fraction, stream: int, places: AnyIntegers) -> Mask:
        """One coin for each place, True with exactly this rational probability.

        The word is the beginning of a binary fraction U, and the coin is U < probability. A word that does not decide (one in
        2^64, and only where the probability does not end within 64 digits) is followed by those of further streams.
        """
        if probability >= 1:
            return np.ones(len(places), dtype=np.bool_)
        whole, rest = divmod(probability.numerator << 64, probability.denominator)
        coins = np.empty(len(places), dtype=np.bool_)
        for begin in range(0, len(places), _CHUNK):
            part = places[begin : begin + _CHUNK]
            words = self.words_at(stream, part)
            coins[begin : begin + _CHUNK] = words < np.uint64(whole)
            open_ = np.flatnonzero(words == np.uint64(whole)) if rest else words[:0].astype(np.int64)
            if open_.size:
                further = Fraction(rest, probability.denominator)
                coins[begin + open_] = self.bernoulli_at(further, deeper(stream), part[open_])
        return coins

    def below_at(self, bound: int, stream: int, places: AnyIntegers) -> Integers:
        """One integer in {0, ..., bound - 1} for each place, exactly uniform; a rejected word is followed by a further one.

        >>> places, run = np.arange(5), SeededRandomness(1).placed()
        >>> bool((run.below_at(7, 0, places)[2:] == run.below_at(7, 0, places[2:])).all())
        True
        """
        drawn, limit = np.empty(len(places), dtype=np.int64), (1 << _WORD) // bound * bound
        for begin in range(0, len(places), _CHUNK):
            part = places[begin : begin + _CHUNK]
            words = self.words_at(stream, part)
            drawn[begin : begin + _CHUNK] = (words % np.uint64(bound)).astype(np.int64)
            rejected = np.flatnonzero(words > np.uint64(limit - 1))
            if rejected.size:
                drawn[begin + rejected] = self.below_at(bound, deeper(stream), part[rejected])
        return drawn

    def selected_at(self, probability: Fraction, stream: int, places: AnyIntegers, groups: AnyIntegers, *, single: bool) -> Mask:
        """A selection of each element with this probability, drawn afresh in each group in which exactly one is selected.

        Args:
            stream: the first of the streams of the selection; each time that it is drawn afresh takes the next one.
            groups: numbers from 0 on.
            single: whether one alone may be selected after all; then nothing is drawn afresh.
        """
        chosen = self.bernoulli_at(probability, stream, places)
        while not single and len(chosen):
            alone = np.bincount(groups[chosen], minlength=int(groups.max()) + 1) == 1
            if not alone.any():
                break
            stream += 1
            again = np.flatnonzero(alone[groups])
            chosen[again] = self.bernoulli_at(probability, stream, places[again])
        return chosen

    def permuted_at(self, stream: int, places: AnyIntegers, groups: AnyIntegers) -> Integers:
        """For each element the index of the one whose value it gets, by a uniform permutation inside each group.

        Args:
            places, groups: sorted by group (numbers from 0 on), and by place inside a group.
        """
        return permuted(self.words_at, places, groups, stream)

    def deranged_at(self, streams: tuple[int, int], places: AnyIntegers, groups: AnyIntegers, names: AnyIntegers) -> Integers:
        """The same by a uniform derangement inside each group; no group may have exactly one element.

        Args:
            streams: of the order of the elements, and of the lengths of the cycles, which takes many streams from there on.
            names: the place by which each group draws.
        """
        return deranged(self.words_at, places, groups, names, streams)

    def cycles_at(self, stream: int, size: int, name: int) -> list[int]:
        """The lengths of the cycles of a uniform derangement of one group, in the order in which `deranged_at` cuts them.

        Args:
            stream: the second of the streams of `deranged_at`.
            size: the number of elements; 0, or at least 2.
            name: the place by which the group draws.

        >>> sum(SeededRandomness(1).placed().cycles_at(0, 1000, 7))
        1000
        """
        found = _cycles(self.words_at, np.asarray([size]), np.asarray([name]), stream)
        return [int(length[0]) for _, length in found if len(length)]


class _Keyed:
    """A key and the ciphers that belong to its purposes.

    Args:
        key: 32 bytes.
        fit_for_publication: whether the key is secret.
    """

    def __init__(self, key: bytes, *, fit_for_publication: bool) -> None:
        if len(key) != KEY_BYTES:
            raise ReleaseError("key", f"needs {KEY_BYTES} bytes", value=len(key))
        self.key = key
        self.fit_for_publication = fit_for_publication

    def __repr__(self) -> str:
        """Without the key, which must not come into a log."""
        return f"<{type(self).__name__}>"

    def _derived(self, label: str) -> bytes:
        return hmac.new(self.key, label.encode(), hashlib.sha256).digest()

    def _encryptor(self, purpose: str, mode: str) -> Any:
        """A new cipher that belongs to a purpose."""
        from cryptography.hazmat.primitives.ciphers import Cipher, modes
        from cryptography.hazmat.primitives.ciphers.algorithms import AES

        # Single blocks of a counter that an adversary cannot choose: ECB is the pseudorandom function itself, not an encryption.
        chosen = modes.CTR(bytes(16)) if mode == "CTR" else modes.ECB()  # noqa: S305
        return Cipher(AES(self._derived(purpose)), chosen).encryptor()


class KeyedRandomness(_Keyed, Randomness):
    """Consecutive words derived from a key; anyone who has the key can reproduce them.

    Args:
        key: 32 bytes.
        fit_for_publication: whether the key is secret.
    """

    def __init__(self, key: bytes, *, fit_for_publication: bool) -> None:
        super().__init__(key, fit_for_publication=fit_for_publication)
        self._process, self._runs, self._lock = os.getpid(), 0, threading.Lock()

    @cached_property
    def _words(self) -> Any:
        """One cipher for all threads: it goes on from call to call."""
        return self._encryptor("words in a row", "CTR")

    def words(self, count: int) -> Words:
        self._check_process()
        with self._lock:
            return np.frombuffer(self._words.update(bytes(8 * count)), dtype=np.uint64)

    def placed(self) -> KeyedPlaces:
        self._check_process()
        with self._lock:
            key = self._derived(f"run {self._runs}") if self._runs else self.key
            self._runs += 1
        return KeyedPlaces(key, fit_for_publication=self.fit_for_publication)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise ReleaseError("source", "belongs to the process that made it; a copy would draw the same", _COPIED)

    def __reduce__(self) -> Any:
        """No copy: it would draw the same words again."""
        raise ReleaseError("source", "cannot be copied: a copy would draw the same", _COPIED)


_COPIED = "give every process a source of its own, or the `placed` one of a run"


class KeyedPlaces(_Keyed, PlacedRandomness):
    """Words by place made from a key; it may be sent to another process.

    Args:
        key: 32 bytes.
        fit_for_publication: whether the key is secret.
    """

    def __init__(self, key: bytes, *, fit_for_publication: bool) -> None:
        super().__init__(key, fit_for_publication=fit_for_publication)
        self._own = threading.local()

    def words_at(self, stream: int, places: AnyIntegers) -> Words:
        if not hasattr(self._own, "cipher"):  # a function of the place alone, so each thread may have its own
            self._own.cipher = self._encryptor("words by place", "ECB")
        words, cipher = np.empty(len(places), dtype=np.uint64), self._own.cipher
        size = min(len(places), _BLOCKS)
        blocks = np.empty((size, 2), dtype="<u8")
        blocks[:, 0] = stream
        made = bytearray(16 * size + 15)  # the cipher asks for room for all but one byte of a further block
        found = np.frombuffer(made, dtype="<u8", count=2 * size)
        for begin in range(0, len(places), _BLOCKS):
            part = places[begin : begin + _BLOCKS]
            blocks[: len(part), 1] = part
            cipher.update_into(blocks[: len(part)].data.cast("B"), made)
            words[begin : begin + _BLOCKS] = found[: 2 * len(part) : 2]
        return words

    def spawn(self, *path: str | int) -> KeyedRandomness:
        # The separator is doubled inside labels, so that no two paths read alike.
        label = "\x1f".join(f"{type(part).__name__}:{part}".replace("\x1f", "\x1f\x1f") for part in path)
        return KeyedRandomness(self._derived("child " + label), fit_for_publication=self.fit_for_publication)

    def __reduce__(self) -> tuple[Any, ...]:
        """The pickled state: the key, and no cipher."""
        return partial(KeyedPlaces, fit_for_publication=self.fit_for_publication), (self.key,)


class SystemRandomness(KeyedRandomness):
    """A key from the operating system's generator that is never disclosed; the only source fit for publication."""

    def __init__(self) -> None:
        super().__init__(os.urandom(KEY_BYTES), fit_for_publication=True)


class SeededRandomness(KeyedRandomness):
    """A reproducible source for tests and audits. What it releases is not fit for publication."""

    def __init__(self, seed: int) -> None:
        super().__init__(hashlib.sha256(f"dpspec audit seed {seed}".encode()).digest(), fit_for_publication=False)
