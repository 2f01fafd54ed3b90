"""Permutations and derangements inside groups: exactly uniform for any sizes beside each other, ties read on, coins settled.

Size and errors of the statistical tests. Each compares the counts of N arrangements with the uniform law by chi-square at level
1e-9; sizes 2 to 5, both kinds and both sources make at most 16 tests, so a false alarm has a chance below 2e-8 in all. A law
under which one arrangement in 120 has half its chance, the hardest of the faults named, has noncentrality at least
N / (4 * 120) = 500, and is missed with a chance below 1e-6, which a test computes.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chi2, ncx2

from dpspec.base import randomness as module
from dpspec.base.randomness import (
    KeyedPlaces,
    SeededRandomness,
    deeper,
    deranged,
    derangement_share,
    permuted,
    shuffled,
    stable_order,
)
from tests.randomness.scripted import Scripted

GROUPS = 240_000
LEVEL = 1e-9
WORD = 1 << 64
TURNS = 300
"""Of the lengths of cycles. A turn settles one with a chance above 1/e, so that 300 leave one of 280,000 groups with at most 20
cycles open with a chance below 1e-20; lengths that can never be settled would be drawn for ever."""


class FewWords(KeyedPlaces):
    """Words of one bit at the top and 63 zeros, so that what was read ties all the time."""

    def words_at(self, stream, places):
        return super().words_at(stream, places) >> np.uint64(63) << np.uint64(63)


def arrangements(kind, sizes, source):
    """For every group what was drawn, as a tuple of places inside the group; the groups lie one after the other."""

    def words_at(stream, places):
        assert stream % (1 << 32) < 4 + 2 * TURNS, "the lengths of the cycles are never settled"
        return source.words_at(stream, places)

    groups = np.repeat(np.arange(len(sizes)), sizes)
    places = np.arange(len(groups)) * 5 + 2
    if kind == "permuted":
        drawn = permuted(words_at, places, groups, 3)
    else:
        drawn = deranged(words_at, places, groups, np.arange(len(sizes)) * 7 + 1, (3, 4))
    begins = np.cumsum(sizes) - sizes
    assert np.array_equal(groups[drawn], groups)
    inside = (drawn - begins[groups]).tolist()
    return [tuple(inside[b : b + n]) for b, n in zip(begins.tolist(), np.asarray(sizes).tolist(), strict=True)]


def possible(kind, n):
    every = itertools.permutations(range(n))
    return [p for p in every if kind == "permuted" or all(value != place for place, value in enumerate(p))]


def uniform(counts, outcomes):
    assert set(counts) <= set(outcomes)
    expected = sum(counts.values()) / len(outcomes)
    return len(outcomes) == 1 or sum((counts[z] - expected) ** 2 / expected for z in outcomes) < chi2.isf(
        LEVEL, len(outcomes) - 1
    )


@pytest.mark.spread(4)
@pytest.mark.statistical
@pytest.mark.reference("B-A3")
@pytest.mark.reference("B-A4")
@pytest.mark.parametrize("kind", ["permuted", "deranged"])
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_every_arrangement_of_a_group_has_the_same_chance(kind, n):
    drawn = arrangements(kind, np.full(GROUPS, n), SeededRandomness(1).placed())
    assert uniform(Counter(drawn), possible(kind, n))


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("n", [3, 4])
def test_ties_are_read_on_until_all_differ(n):
    """One bit at a time; the lengths of cycles, which would need 64, come from the full words."""
    few, full = FewWords(bytes([2] * 32), fit_for_publication=False), SeededRandomness(2).placed()

    def words_at(stream, places):
        return (few if stream % (1 << 32) == 3 else full).words_at(stream, places)

    source = type("Both", (), {"words_at": staticmethod(words_at)})
    for kind in ("permuted", "deranged"):
        assert uniform(Counter(arrangements(kind, np.full(20_000, n), source)), possible(kind, n))


@pytest.mark.statistical
def test_a_group_is_uniform_whatever_lies_beside_it():
    """Groups of 2 to 5 in turn, with one of 100,000 among them."""
    sizes = np.tile([2, 5, 3, 4], GROUPS // 8)
    sizes[1000] = 100_000
    for kind in ("permuted", "deranged"):
        by_size = {n: Counter() for n in (2, 3, 4, 5)}
        drawn = arrangements(kind, sizes, SeededRandomness(3).placed())
        for n, arrangement in zip(sizes.tolist(), drawn, strict=True):
            if n <= 5:
                by_size[n][arrangement] += 1
        assert all(uniform(counts, possible(kind, n)) for n, counts in by_size.items())
        assert sorted(drawn[1000]) == list(range(100_000))
        assert kind == "permuted" or all(value != place for place, value in enumerate(drawn[1000]))


@pytest.mark.statistical
def test_the_cycles_of_large_derangements_have_the_right_number():
    """Groups of 30, past the small cases: the number of cycles against the exact law of derangements without short cuts.

    Associated Stirling numbers count derangements of n by cycles: d(n, k) = (n - 1) (d(n - 1, k) + d(n - 2, k - 1)).
    40,000 groups; level 1e-9; half the chance of 1-cycles wrongly allowed would move the mean by more than 20 standard errors.
    """
    n, total = 30, 40_000
    table = {(0, 0): 1}
    for size, cycles in itertools.product(range(1, n + 1), range(n + 1)):
        table[size, cycles] = (size - 1) * (table.get((size - 1, cycles), 0) + table.get((size - 2, cycles - 1), 0))
    law = {k: Fraction(table[n, k], sum(table[n, c] for c in range(n + 1))) for k in range(1, 9)}
    drawn = np.asarray(arrangements("deranged", np.full(total, n), SeededRandomness(4).placed()))
    seen = Counter(min(cycles_of(row), 8) for row in drawn.tolist())
    law[8] = 1 - sum(law[k] for k in range(1, 8))
    statistic = sum((seen[k] - total * float(p)) ** 2 / (total * float(p)) for k, p in law.items())
    assert statistic < chi2.isf(LEVEL, len(law) - 1)


def cycles_of(permutation):
    left, found = set(range(len(permutation))), 0
    while left:
        place, found = left.pop(), found + 1
        while permutation[place] in left:
            place = permutation[place]
            left.remove(place)
    return found


def test_the_uniformity_test_has_the_power_that_it_states():
    for n in (2, 3, 4, 5):
        outcomes = math.factorial(n)
        assert ncx2.cdf(chi2.isf(LEVEL, outcomes - 1), outcomes - 1, GROUPS / (4 * outcomes)) < 1e-6
    half = Counter(dict.fromkeys(possible("permuted", 5), GROUPS // 120) | {(0, 1, 2, 3, 4): GROUPS // 240})
    assert not uniform(half, possible("permuted", 5))


# --- functions of the place ----------------------------------------------------------------------


@given(st.lists(st.integers(2, 9), min_size=1, max_size=12), st.data())
def test_what_a_group_draws_does_not_depend_on_the_others(sizes, data):
    groups, names = np.repeat(np.arange(len(sizes)), sizes), np.arange(len(sizes)) * 10
    places, source = np.arange(len(groups)) * 3, SeededRandomness(8).placed()
    whole = deranged(source.words_at, places, groups, names, (0, 1))
    kept = sorted(data.draw(st.sets(st.sampled_from(range(len(sizes))), min_size=1)))
    inside = np.isin(groups, kept)
    fewer = deranged(
        source.words_at, places[inside], np.repeat(np.arange(len(kept)), [sizes[k] for k in kept]), names[kept], (0, 1)
    )
    assert np.array_equal(places[inside][fewer], places[whole][inside])
    assert np.array_equal(
        places[inside][permuted(source.words_at, places[inside], groups[inside], 0)],
        places[permuted(source.words_at, places, groups, 0)][inside],
    )


@given(st.lists(st.integers(1, 6), min_size=2, max_size=6))
def test_nor_where_words_tie(sizes):
    groups, places = np.repeat(np.arange(len(sizes)), sizes), np.arange(sum(sizes)) * 3
    whole, last = FewWords(bytes([8] * 32), fit_for_publication=False), groups == len(sizes) - 1
    drawn = permuted(whole.words_at, places, groups, 0)
    assert np.array_equal(places[last][permuted(whole.words_at, places[last], groups[last], 0)], places[drawn][last])


def test_nothing_is_arranged_without_elements():
    none = np.zeros(0, dtype=np.int64)
    source = SeededRandomness(0).placed()
    assert not len(permuted(source.words_at, none, none, 0))
    assert not len(deranged(source.words_at, none, none, none, (0, 1)))
    assert not len(deranged(source.words_at, none, none, np.arange(3), (0, 1)))


def test_groups_without_elements_are_passed_over():
    places, groups = np.arange(4), np.asarray([1, 1, 4, 4])
    assert deranged(SeededRandomness(0).placed().words_at, places, groups, np.arange(6), (0, 1)).tolist() == [1, 0, 3, 2]


def test_elements_tie_only_inside_their_group():
    """Two groups with the same words; the second word alone tells the elements of the first group apart."""
    words = dict.fromkeys(itertools.product([0], range(4)), 1 << 40) | {(0, 3): 0}
    words |= {(deeper(0), 0): 9, (deeper(0), 1): 2, (deeper(0), 2): 7}
    order = shuffled(Scripted(words).words_at, np.arange(4), np.asarray([0, 0, 1, 1]), 0)
    assert order.tolist() == [1, 0, 3, 2]


@given(st.lists(st.integers(0, 2**40), max_size=60))
def test_digits_sort_stably(keys):
    array = np.asarray(keys, dtype=np.int64)
    bound = int(array.max(initial=0)) + 1
    assert stable_order(array, bound).tolist() == sorted(range(len(keys)), key=keys.__getitem__)


# --- lengths of cycles ---------------------------------------------------------------------------


@pytest.mark.reference("B-O40")
def test_the_share_of_derangements_is_that_of_their_numbers():
    numbers = [1, 0]
    while len(numbers) < 60:
        numbers.append((len(numbers) - 1) * (numbers[-1] + numbers[-2]))
    assert numbers[:9] == [1, 0, 1, 2, 9, 44, 265, 1854, 14833]
    assert [derangement_share(j) for j in range(60)] == [Fraction(number, math.factorial(j)) for j, number in enumerate(numbers)]


def test_the_last_threshold_serves_all_larger_groups():
    """d(j) alternates around its limit, so all of j > 40 lie between d(40) and d(41); both have the floor that is stored."""
    table = module._thresholds()
    assert len(table) == 41
    assert [int(t) for t in table[1:]] == [int(derangement_share(j) * WORD) for j in range(1, 41)]
    assert {math.floor(derangement_share(j) * WORD) for j in range(40, 260)} == {int(table[40])}
    assert sorted([derangement_share(40), derangement_share(41)]) == [derangement_share(41), derangement_share(40)]
    assert all(derangement_share(41) <= derangement_share(j) <= derangement_share(40) for j in range(40, 260))


@pytest.mark.parametrize(("j", "offset"), [
    *itertools.product([3, 7, 39, 40, 41, 199, 200, 201, 1000, 10**6], [-1, 0, 1]), *itertools.product([1, 2, 4], [0, 1])
])  # fmt: skip
def test_a_coin_of_a_length_is_settled_by_the_digits_of_d(j, offset):
    """A first word equal to that of d(j), then one at, below or above its second; the third decides a further tie."""
    digits = int(derangement_share(min(j, 400)) * WORD**3)
    first, second, third = digits >> 128, (digits >> 64) % WORD, digits % WORD
    words = {(0, 5): first, (deeper(0), 5): second + offset, (deeper(deeper(0)), 5): max(third - 1, 0)}
    ends = derangement_share(min(j, 400)) * WORD**2 == digits >> 64
    coin = module._keeps(Scripted(words).words_at, np.asarray([j]), np.asarray([5]), 0)[0]
    assert coin == (offset < 0 or (offset == 0 and not ends))


def test_nothing_is_left_over_with_certainty_and_one_never():
    words = Scripted({(0, place): 0 for place in range(4)}).words_at
    assert module._keeps(words, np.asarray([0, 2, 0, 2]), np.arange(4), 0).tolist() == [True] * 4
    high = Scripted(dict.fromkeys(itertools.product([0, deeper(0)], range(2)), WORD - 1)).words_at
    assert module._keeps(high, np.asarray([0, 1]), np.arange(2), 0).tolist() == [True, False]
    zeros = Scripted(dict.fromkeys(itertools.product([0, deeper(0)], range(1)), 0)).words_at
    assert module._keeps(zeros, np.asarray([1]), np.arange(1), 0).tolist() == [False]


def test_a_word_beyond_the_last_full_multiple_is_drawn_again():
    """Of four elements, lengths 2, 3, 4 are words modulo 3; 2^64 is 1 modulo 3, so the largest word is refused."""
    words = {(0, 0): WORD - 1, (1, 0): 0, (2, 0): WORD - 2, (3, 0): 0}
    refused, (begin, length) = module._cycles(Scripted(words).words_at, np.asarray([4]), np.asarray([0]), 0)
    assert not refused[0].size
    assert (begin.tolist(), length.tolist()) == ([0], [2 + (WORD - 2) % 3])
