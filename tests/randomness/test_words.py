"""Words of keyed sources: AES made again from its definition, functions of the place alone, children, copies, coins."""

from __future__ import annotations

import copy
import hashlib
import hmac
import os
import pickle
from fractions import Fraction

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from hypothesis import given, strategies as st
from scipy.stats import chi2

from dpspec.base import randomness as module
from dpspec.base.errors import ReleaseError
from dpspec.base.randomness import KEY_BYTES, KeyedRandomness, SeededRandomness, SystemRandomness, deeper
from tests.randomness.scripted import Scripted

KEY = bytes(range(KEY_BYTES))
WORD = 1 << 64
BIG = 10**12


def keyed():
    return KeyedRandomness(KEY, fit_for_publication=False)


def block(key, purpose, sixteen):
    """One block of AES-256 under the key that belongs to a purpose."""
    own = hmac.new(key, purpose.encode(), hashlib.sha256).digest()
    return Cipher(AES(own), ECB()).encryptor().update(sixteen)  # noqa: S305


# --- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("stream", "place"), [(0, 0), (0, 1), (1, 0), (7, 2**40), (deeper(7), 3), (2, 2**63 - 1)])
def test_a_word_by_place_is_the_beginning_of_the_aes_block_of_stream_and_place(stream, place):
    block_of = block(KEY, "words by place", stream.to_bytes(8, "little") + place.to_bytes(8, "little"))
    assert int(keyed().placed().words_at(stream, np.asarray([place]))[0]) == int.from_bytes(block_of[:8], "little")


def test_words_in_a_row_are_the_blocks_of_a_counter_whatever_the_pieces():
    blocks = b"".join(block(KEY, "words in a row", number.to_bytes(16, "big")) for number in range(50))
    wanted = [int.from_bytes(blocks[i : i + 8], "little") for i in range(0, len(blocks), 8)]
    source = keyed()
    assert [int(w) for count in (1, 2, 0, 30, 67) for w in source.words(count)] == wanted


@given(st.lists(st.integers(0, 2**63 - 1), max_size=40), st.integers(1, 12), st.integers(0, 5))
def test_a_word_depends_on_its_place_alone(places, cut, stream):
    array, source = np.asarray(places, dtype=np.int64), keyed().placed()
    whole = source.words_at(stream, array)
    pieces = [keyed().placed().words_at(stream, array[i : i + cut]) for i in range(0, len(array), cut)]
    assert np.array_equal(np.concatenate([*pieces, whole[:0]]), whole)
    assert np.array_equal(source.words_at(stream, array[::-1])[::-1], whole)
    assert len(set(whole.tolist())) == len(set(places))


def test_a_word_does_not_depend_on_the_chunks(monkeypatch):
    places = np.arange(1000) * 3
    whole, coins = keyed().placed().words_at(4, places), keyed().placed().bernoulli_at(Fraction(1, 3), 4, places)
    monkeypatch.setattr(module, "_CHUNK", 7)
    assert np.array_equal(keyed().placed().words_at(4, places), whole)
    assert np.array_equal(keyed().placed().bernoulli_at(Fraction(1, 3), 4, places), coins)


@pytest.mark.parametrize("type_", [np.uint8, np.int32, np.uint64])
def test_a_word_does_not_depend_on_the_type_of_its_place(type_):
    assert np.array_equal(keyed().placed().words_at(1, np.arange(200, dtype=type_)), keyed().placed().words_at(1, np.arange(200)))


@pytest.mark.statistical
def test_the_bytes_of_both_kinds_of_words_are_uniform():
    """2^17 words, the eight bytes of each against uniform by chi-square at level 1e-9 each (16 tests: 2e-8 in all).

    A byte with one value left out has noncentrality 2^17/255 > 500, and is missed with a chance below 1e-9.
    """
    count = 1 << 17
    for words in (keyed().words(count), keyed().placed().words_at(0, np.arange(count))):
        for byte in words.view(np.uint8).reshape(-1, 8).T:
            seen = np.bincount(byte, minlength=256)
            assert ((seen - count / 256) ** 2).sum() / (count / 256) < chi2.isf(1e-9, 255)


# --- keys ----------------------------------------------------------------------------------------


def test_children_of_different_paths_differ_and_of_equal_paths_agree():
    paths = [
        (),
        ("a",),
        ("a", "b"),
        ("ab",),
        ("a", 1),
        ("a", "1"),
        (1,),
        ("1",),
        (11,),
        (1, 1),
        ("a\x1fstr:b",),
        ("a\x1f", "b"),
        ("a", "\x1fb"),
    ]
    words = {path: tuple(keyed().placed().spawn(*path).placed().words_at(0, np.arange(2)).tolist()) for path in paths}
    parent = tuple(keyed().placed().words_at(0, np.arange(2)).tolist())
    assert len({parent, *words.values()}) == len(paths) + 1
    assert tuple(keyed().placed().spawn("a", "b").placed().words_at(0, np.arange(2)).tolist()) == words["a", "b"]
    grandchild = keyed().placed().spawn("a").placed().spawn("b")
    assert tuple(grandchild.placed().words_at(0, np.arange(2)).tolist()) not in {parent, *words.values()}


def test_a_child_is_as_fit_as_its_parent():
    assert SystemRandomness().placed().spawn("child").fit_for_publication
    assert not SeededRandomness(1).placed().spawn("child").fit_for_publication


def test_seeds_and_systems_differ():
    seeded = [SeededRandomness(seed).key for seed in (0, 1, 2, 12)]
    assert len({*seeded, SystemRandomness().key, SystemRandomness().key}) == 6
    assert SeededRandomness(12).key == seeded[-1]


@pytest.mark.parametrize("length", [0, 16, 31, 33])
def test_a_key_of_another_length_is_refused(length):
    with pytest.raises(ReleaseError, match="needs 32 bytes"):
        KeyedRandomness(bytes(length), fit_for_publication=False)


@pytest.mark.parametrize("made", [keyed(), SystemRandomness(), SeededRandomness(3).placed().spawn(1)])
def test_a_copy_gives_the_same_words_by_place(made):
    source = made.placed()
    before = source.words_at(1, np.arange(5))
    sent = pickle.loads(pickle.dumps(source))  # noqa: S301
    assert np.array_equal(sent.words_at(1, np.arange(5)), before)
    assert sent.fit_for_publication == source.fit_for_publication


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("drawn", [0, 1])
def test_a_source_is_never_copied(copied, drawn):
    """A copy would draw the same words: one that has drawn, and one that has not."""
    source = keyed()
    source.words(drawn)
    with pytest.raises(ReleaseError, match="cannot be copied"):
        copied(source)


def test_a_source_gives_nothing_in_another_process(monkeypatch):
    source = keyed()
    monkeypatch.setattr(os, "getpid", lambda: 1)
    for ask in (lambda: source.words(1), source.placed, lambda: source.below(3, 1)):
        with pytest.raises(ReleaseError, match="belongs to the process"):
            ask()


def test_every_run_has_words_of_its_own():
    """No word comes twice, in a row or by place, whatever is asked between."""
    source, places = keyed(), np.arange(50)
    seen = [source.placed().words_at(0, places) for _ in range(4)]
    seen += [source.words(50), source.placed().words_at(0, places), source.words(50), source.placed().spawn("a").words(50)]
    seen += [source.placed().spawn("a").words(50), source.placed().spawn("a").placed().words_at(0, places)]
    assert len(set(np.concatenate(seen).tolist())) == 50 * len(seen)


def test_a_source_made_again_gives_its_runs_in_the_same_order():
    first, second = keyed(), keyed()
    first.words(3)  # words in a row do not move the runs
    for _ in range(3):
        assert np.array_equal(first.placed().words_at(2, np.arange(5)), second.placed().words_at(2, np.arange(5)))


def test_a_key_is_never_shown():
    assert KEY.hex() not in repr(keyed())
    assert repr(KEY)[2:-1] not in f"{keyed()!r}{keyed().placed()!r}"


# --- coins ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("probability", "further", "coin"), [
    (Fraction(1, 3), 0, True), (Fraction(1, 3), WORD // 3 - 1, True), (Fraction(1, 3), WORD // 3 + 1, False),
    (Fraction(2, 3), 2 * WORD // 3 - 1, True), (Fraction(2, 3), WORD - 1, False),
])  # fmt: skip
def test_a_word_that_ties_is_followed_by_the_next_stream(probability, further, coin):
    """1/3 = 0.0101..., so a word of its first 64 digits leaves the coin to the next 64, which are the same."""
    tie = int(probability * WORD)
    source = Scripted({(5, 9): tie, (deeper(5), 9): further, (5, 8): tie - 1, (5, 7): tie + 1})
    assert source.bernoulli_at(probability, 5, np.asarray([8, 9, 7])).tolist() == [True, coin, False]


def test_a_word_that_ties_twice_is_read_on_twice():
    third = WORD // 3
    source = Scripted({(0, 1): third, (deeper(0), 1): third, (deeper(deeper(0)), 1): third + 1})
    assert source.bernoulli_at(Fraction(1, 3), 0, np.asarray([1])).tolist() == [False]


def test_a_probability_that_ends_within_a_word_is_decided_by_it():
    source = Scripted({(0, 1): WORD // 2, (0, 2): WORD // 2 - 1})
    assert source.bernoulli_at(Fraction(1, 2), 0, np.asarray([1, 2])).tolist() == [False, True]


@given(st.fractions(0, 1, max_denominator=BIG), st.integers(0, WORD - 1), st.integers(0, WORD - 1))
def test_a_coin_is_whether_the_digits_read_lie_below_the_probability(probability, first, second):
    """Where 128 digits decide; the least and the largest number that begin so are compared."""
    digits = first * WORD + second
    source = Scripted({(0, 1): first, (deeper(0), 1): second})
    if Fraction(digits + 1, WORD**2) <= probability or Fraction(digits, WORD**2) >= probability:
        coin = source.bernoulli_at(probability, 0, np.asarray([1]))[0]
        assert coin == (Fraction(digits, WORD**2) < probability)


def test_coins_of_chance_0_and_1_need_no_luck():
    places = np.arange(1000)
    assert not keyed().placed().bernoulli_at(Fraction(0), 0, places).any()
    assert keyed().placed().bernoulli_at(Fraction(1), 0, places).all()
    assert len(keyed().placed().bernoulli_at(Fraction(1, 2), 0, places[:0])) == 0


def test_a_selection_of_one_alone_is_drawn_afresh_from_the_next_streams():
    """Group 0 selects one, then one, then two; group 1 selects two at once and is asked no more; group 2 selects none."""
    high, low = WORD - 1, 0
    words = {(0, 0): low, (0, 1): high, (1, 0): high, (1, 1): low, (2, 0): low, (2, 1): low}
    words |= {(0, 2): low, (0, 3): low, (0, 4): high, (0, 5): high}
    places, groups = np.arange(6), np.asarray([0, 0, 1, 1, 2, 2])
    chosen = Scripted(words).selected_at(Fraction(1, 2), 0, places, groups, single=False)
    assert chosen.tolist() == [True] * 4 + [False] * 2
    alone = Scripted(words).selected_at(Fraction(1, 2), 0, places, groups, single=True)
    assert alone.tolist() == [True, False, True, True, False, False]


def test_threads_that_share_a_source_get_the_words_of_their_places():
    from concurrent.futures import ThreadPoolExecutor

    places = np.arange(20_000)
    shared = keyed().placed()
    expected = [shared.words_at(stream, places) for stream in range(64)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda stream: shared.words_at(stream, places), range(64)))
    assert all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))


def test_threads_that_share_words_in_a_row_never_get_the_same():
    from concurrent.futures import ThreadPoolExecutor

    shared = keyed()
    with ThreadPoolExecutor(8) as pool:
        drawn = np.concatenate(list(pool.map(shared.words, [500] * 64)))
    assert set(drawn.tolist()) == set(keyed().words(32_000).tolist())
