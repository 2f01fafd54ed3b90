"""The swap of sorted records is the swap in memory, record for record: strata in one piece, and strata in two passes."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from dpspec_census import sorted_swap
from dpspec_census.sorted_swap import SortedSwap
from dpspec_census.stratum import KEYS, Algorithm, RecordRates, UniqueRates, exchanged, unordered
from dpspec_census.swap_budget import Rates, SwapScheme

from dpspec.base.randomness import PlacedRandomness, SeededRandomness
from dpspec.grammar import sorting
from dpspec.grammar.tables import Table
from dpspec.plugin import Attribute, workers
from dpspec.testing.sorters import MemoryRows, MemorySorter


class FewWords(PlacedRandomness):
    """Words of the order have two bits, so that most of them are equal; those of coins and of cycles are whole."""

    fit_for_publication = False

    def __init__(self, seed):
        self.draws = SeededRandomness(seed).placed()

    def words_at(self, stream, places):
        words = self.draws.words_at(stream, places)
        return words & np.uint64(3 << 62) if stream % (1 << 32) == KEYS else words

    def spawn(self, *path):
        return self.draws.spawn(*path)


A, B, C = (Attribute(name=name, count=count) for name, count in (("a", 3), ("b", 4), ("c", 5)))
WIDE = tuple(Attribute(name=f"wide{place}", count=1 << 31) for place in range(5))


def table(attributes, records, seed, most=None):
    random = np.random.default_rng(seed)
    codes = {a.name: random.integers(0, min(a.size, most or a.size), records) for a in attributes}
    return Table(attributes=attributes, codes=codes)


def swapped(given, scheme, rates, how, draws, *, size, run=None, own=None):
    """The released codes from sorted records, and what was found of the strata."""
    sorter = MemorySorter()
    run = run or workers.Run(source=SeededRandomness(0))
    swap = SortedSwap(
        attributes=given.attributes, scheme=scheme, rates=rates, run=run, draws=draws, sorter=sorter, how=how, own=own
    )
    batches = [given.slice(begin, min(begin + size, len(given))) for begin in range(0, len(given), size)]
    batches.insert(1, given.slice(0, 0))
    found, strata = swap.swap(batches)
    tables = list(found)
    assert all(rows.forgotten for rows in sorter.made)
    return {a.name: np.concatenate([t.codes[a.name] for t in tables]).tolist() for a in given.attributes}, strata


def in_memory(given, scheme, rates, how, draws, own=None):
    run = workers.Run(source=SeededRandomness(0))
    found, selected = exchanged(given, scheme, rates, run, draws, how=how, own=own)
    return {name: column.tolist() for name, column in unordered(found, SeededRandomness(0)).codes.items()}, selected


TABLES = {
    "three columns": ((A, B, C), ("a",), ("b",)),
    "one stratum": ((A, B, C), (), ("c", "a")),
    "nothing else": ((C, B), ("b",), ("c",)),
    "four columns": ((B, A, C, Attribute(name="d", count=90)), ("a",), ("d", "b")),
    "small strata": ((A, B, C), ("c", "b"), ("a",)),
    "wide": ((A, *WIDE), ("a",), ("wide1", "wide3", "wide4")),
    "wide strata": ((*WIDE, A), ("wide2",), ("a",)),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("how", Algorithm)
def test_the_records_are_those_of_the_swap_in_memory(monkeypatch, name, how):
    attributes, match, swap = TABLES[name]
    scheme = SwapScheme(match=match, swap=swap, unit="person")
    for seed, records, piece, rows, rate in (
        (1, 300, 400, 64, "1/2"), (2, 300, 40, 10, "1/2"), (3, 300, 1, 6, "9/10"), (4, 300, 150, 300, "1/100"),
        (5, 1, 1, 2, "1/2"), (6, 2, 1, 2, "1/2"), (7, 90, 3, 4, "1"), (8, 90, 3, 4, "0"),
    ):  # fmt: skip
        monkeypatch.setattr(sorting, "PIECE", piece)
        monkeypatch.setattr(sorted_swap, "ROWS", rows)
        given, rates = table(attributes, records, seed, most=6), Rates(default=Fraction(rate), own={2: Fraction(1, 3)})
        draws = SeededRandomness(seed).placed()
        expected, selected = in_memory(given, scheme, rates, how, draws)
        found, strata = swapped(given, scheme, rates, how, draws, size=37)
        assert found == expected
        assert strata.selected == selected
        assert strata.sizes.sum() == records


def rates_of_rows(given, scheme, own):
    """The rate of each row, record by record: how often its stratum with what it holds, or all of it, occurs."""
    held = [a.name for a in given.attributes if a.name not in scheme.swap]
    rows = [[tuple(int(given.codes[name][row]) for name in names) for row in range(len(given))]
            for names in (held, [*held, *scheme.swap])]  # fmt: skip
    seen = [Counter(each) for each in rows]
    of_row = [
        next((place for place, whole in enumerate(own.whole) if seen[whole][rows[whole][row]] == 1), len(own.whole))
        for row in range(len(given))
    ]
    return RecordRates(rates=own.rates, of_row=np.asarray(of_row, dtype=np.int64))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("how", [Algorithm.DERANGE, Algorithm.PERMUTE])
def test_unique_records_have_their_own_rates(monkeypatch, name, how):
    """Also where all records are unique or none is, in any batch or stratum."""
    attributes, match, swap = TABLES[name]
    scheme, kinds = SwapScheme(match=match, swap=swap, unit="person"), set()
    for seed, records, piece, rows, most, own, rate in (
        (1, 200, 400, 64, 6, ("1/2", "1/3"), "1/4"), (2, 200, 30, 10, 6, ("9/10", "1/100"), "1/2"),
        (3, 200, 1, 2, 40, ("1/3", "2/3"), "1/5"), (4, 1, 1, 2, 6, ("1", "1"), "1/2"), (5, 2, 1, 2, 6, ("1/2", "1/2"), "1/2"),
        (6, 90, 3, 4, 6, ("1", "1/2"), "1"), (7, 90, 30, 90, 6, ("0", "1/2"), "0"), (8, 150, 20, 7, 1, ("1/2", "1/3"), "1/4"),
    ):  # fmt: skip
        monkeypatch.setattr(sorting, "PIECE", piece)
        monkeypatch.setattr(sorted_swap, "ROWS", rows)
        given, rates = table(attributes, records, seed, most=most), Rates(default=Fraction(rate), own={2: Fraction(1, 3)})
        for whole in ((False, True), (True, False)):
            unique = UniqueRates(rates=(*map(Fraction, own), None), whole=whole, members=False)
            of_rows, draws = rates_of_rows(given, scheme, unique), SeededRandomness(seed).placed()
            kinds |= {*of_rows.of_row.tolist()}
            found, strata = swapped(given, scheme, rates, how, draws, size=37, own=unique)
            assert (found, strata.selected) == in_memory(given, scheme, rates, how, draws, of_rows)
    assert kinds >= {0, 2}


def test_a_selection_is_drawn_again_as_often_as_it_takes(monkeypatch):
    """One unique record that is nearly always selected, and others that are nearly never; a recursion ended with an error."""
    monkeypatch.setattr(sorting, "PIECE", 1)
    scheme, rates = SwapScheme(match=("a",), swap=("b",), unit="person"), Rates(default=Fraction(1, 10**9), own={})
    given = Table(attributes=(A, B, C), codes={name: np.asarray([0, 0, 0]) for name in "ab"} | {"c": np.asarray([0, 0, 1])})
    own = UniqueRates(rates=(Fraction(2999, 3000), None), whole=(False,), members=False)
    of_rows, draws = rates_of_rows(given, scheme, own), SeededRandomness(7).placed()
    found, strata = swapped(given, scheme, rates, Algorithm.DERANGE, draws, size=3, own=own)
    assert (found, strata.selected) == in_memory(given, scheme, rates, Algorithm.DERANGE, draws, of_rows)
    assert sum(1 for _ in itertools.takewhile(lambda stream: draws.bernoulli_at(Fraction(2999, 3000), stream, np.asarray([2]))[0],
                                              itertools.count())) > sys.getrecursionlimit()  # fmt: skip


@pytest.mark.parametrize("how", Algorithm)
def test_equal_words_are_settled_by_further_ones(monkeypatch, how):
    monkeypatch.setattr(sorting, "PIECE", 20)
    monkeypatch.setattr(sorted_swap, "ROWS", 8)
    scheme, rates = SwapScheme(match=("a",), swap=("b",), unit="person"), Rates(default=Fraction(1, 2), own={})
    for seed in range(4):
        given, draws = table((A, B, C), 150, seed), FewWords(seed)
        assert swapped(given, scheme, rates, how, draws, size=50)[0] == in_memory(given, scheme, rates, how, draws)[0]


def test_a_selection_of_one_record_is_drawn_again(monkeypatch):
    """At this rate one record in 30 is selected in a stratum, and often alone."""
    monkeypatch.setattr(sorting, "PIECE", 10)
    monkeypatch.setattr(sorted_swap, "ROWS", 4)
    scheme, rates = SwapScheme(match=("a",), swap=("b",), unit="person"), Rates(default=Fraction(1, 30), own={})
    again = 0
    for seed in range(30):
        given, draws = table((A, B, C), 90, seed), SeededRandomness(seed).placed()
        found, strata = swapped(given, scheme, rates, Algorithm.DERANGE, draws, size=90)
        assert (found, strata.selected) == in_memory(given, scheme, rates, Algorithm.DERANGE, draws)
        coins = draws.bernoulli_at(Fraction(1, 30), 0, np.arange(90))
        again += sum(int(coins[given.codes["a"] == code].sum()) == 1 for code in range(3))
    assert again > 20


def test_equal_records_and_strata_of_one_are_told(monkeypatch):
    records = [(0, 1, 1)] * 5 + [(1, 0, 0)] + [(2, 3, 3)] * 6 + [(2, 3, 4)]
    given = Table(attributes=(A, B, C), codes=dict(zip("abc", np.asarray(records).T, strict=True)))
    scheme, rates = SwapScheme(match=("a",), swap=("b",), unit="person"), Rates(default=Fraction(1, 2), own={})
    for piece in (100, 6, 1):
        monkeypatch.setattr(sorting, "PIECE", piece)
        monkeypatch.setattr(sorted_swap, "ROWS", 2)
        found, strata = swapped(given, scheme, rates, Algorithm.PERMUTE, SeededRandomness(1).placed(), size=4)
        assert (strata.names.tolist(), strata.sizes.tolist()) == ([0, 1, 2], [5, 1, 7])
        assert strata.varied.tolist() == [False, False, True]
        assert sorted(zip(*found.values(), strict=True)) == sorted(records)


def test_workers_that_hold_several_parts_give_the_same(monkeypatch):
    class Ahead(workers.Workers):
        name = "ahead"
        parts = 4

        def map(self, kernel, parts):
            held = []
            for part in parts:
                held.append(part)
                if len(held) == 4:
                    yield kernel(held.pop(0))
            yield from map(kernel, held)

    monkeypatch.setattr(sorting, "PIECE", 12)
    scheme, rates = SwapScheme(match=("b", "c"), swap=("a",), unit="person"), Rates(default=Fraction(1, 2), own={})
    given, draws = table((A, B, C), 200, 1), SeededRandomness(1).placed()
    run = workers.Run(source=SeededRandomness(0), workers=Ahead())
    found = swapped(given, scheme, rates, Algorithm.DERANGE, draws, size=70, run=run)[0]
    assert found == in_memory(given, scheme, rates, Algorithm.DERANGE, draws)[0]


def test_rows_that_are_not_sorted_are_refused(monkeypatch):
    class Lazy(MemorySorter):
        def sorted(self, rows, by):
            batches = list(rows)
            return MemoryRows({name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]})

    monkeypatch.setitem(globals(), "MemorySorter", Lazy)
    scheme, rates = SwapScheme(match=("a",), swap=("b",), unit="person"), Rates(default=Fraction(1, 2), own={})
    with pytest.raises(sorted_swap.errors.LibraryError, match="are not sorted"):
        swapped(table((A, B, C), 50, 1), scheme, rates, Algorithm.PERMUTE, SeededRandomness(1).placed(), size=50)


@pytest.mark.parametrize(("words", "differ"), [([1, 2, 3, 4, 5], True), ([1, 2, 2, 4, 5], False), ([1, 1, 3, 4, 5], False)])
def test_equal_neighbours_are_found_across_batches(monkeypatch, words, differ):
    monkeypatch.setattr(sorted_swap, "ROWS", 2)
    column = np.asarray(words, dtype=np.uint64)
    assert sorted_swap.all_differ(MemoryRows({"word0": column}), ["word0"]) is differ
    both = MemoryRows({"word0": column, "word1": np.arange(5, dtype=np.uint64)})
    assert sorted_swap.all_differ(both, ["word0", "word1"])
