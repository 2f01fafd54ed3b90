"""Targeted swapping of sorted records is that in memory, record for record, whatever is read at a time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from dpspec_census.disclosure import TargetedSwapping, sorted_targeted, targeted
from dpspec_census.disclosure.sorted_targeted import Runs, runs_of

from dpspec.base.errors import ReleaseError
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.records import UnorderedRecords
from dpspec.grammar.tables import Table
from dpspec.plugin import Attribute, workers
from dpspec.testing.sorters import MemoryRows, MemorySorter

COUNTY, TRACT = Attribute(name="county", count=4), Attribute(name="tract", count=12, within="county")
AGE, SIZE, SEX = Attribute(name="age", count=30), Attribute(name="size", count=4), Attribute(name="sex", count=2)
WIDE = tuple(Attribute(name=f"wide{place}", count=1 << 31) for place in range(4))
SPACE = UnorderedRecords(attributes=(COUNTY, TRACT, AGE, SIZE, SEX), unit="household")
OTHER = UnorderedRecords(attributes=(WIDE[0], COUNTY, *WIDE[1:]), unit="household")
LEVELS = {"levels": ["county", "tract"]}
MANY = {"levels": ["wide1"], "risk": ["wide0", "county", "wide2"], "k": 2}
MECHANISMS = {
    "two levels, two profiles": (LEVELS | {"risk": ["age"], "k": 2, "similar": [["size", "sex"], ["sex"]]}, SPACE),
    "any donor": (LEVELS | {"risk": ["age", "sex"], "k": 3}, SPACE),
    "a risk variable in a profile": (LEVELS | {"risk": ["age"], "k": 6, "similar": [["age"], ["age", "size"], []]}, SPACE),
    "all are risky": (LEVELS | {"risk": ["age"], "k": 10**9, "similar": [["sex"]]}, SPACE),
    "none is risky": (LEVELS | {"risk": ["sex"], "k": 1}, SPACE),
    "wide": (MANY | {"similar": [["wide3", "wide0", "wide2"], ["county"]]}, OTHER),
}


def table(space, records, seed, *, skewed=False):
    random = np.random.default_rng(seed)
    codes = {a.name: random.integers(0, min(a.size, 3 if a in WIDE else a.size), records) for a in space.attributes}
    if "tract" in codes:
        codes["tract"] = np.minimum(codes["tract"], random.integers(0, 12, records)) if skewed else codes["tract"]
        codes["county"] = codes["tract"] // 3
    if skewed:  # nearly all live in one county, so that most draws of a donor are refused
        far = random.integers(0, 40, records) > 0
        for name in ("county", "tract"):
            codes[name] = np.where(far, 0, codes[name]) if name in codes else None
    return Table(attributes=space.attributes, codes={name: column for name, column in codes.items() if column is not None})


def by_sorting(mechanism, space, given, seed, size=37):
    sorter = MemorySorter()
    run = workers.Run(source=SeededRandomness(seed))
    batches = [given.slice(begin, min(begin + size, len(given))) for begin in range(0, len(given), size)]
    batches.insert(1, given.slice(0, 0))
    made = mechanism.release_sorted(iter(batches), given.attributes, space, run, sorter)
    tables = list(made.batches)
    assert all(rows.forgotten for rows in sorter.made)
    return {a.name: np.concatenate([t.codes[a.name] for t in tables]).tolist() for a in given.attributes}, run.source.words(2)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("skewed", [False, True])
def test_the_records_are_those_of_the_swap_in_memory(monkeypatch, name, skewed):
    """And as much is drawn, so that what a source draws next is the same as well."""
    parameters, space = MECHANISMS[name]
    mechanism, changed = TargetedSwapping(**parameters), 0
    for seed, records, rows, taken, tries in (
        (1, 150, 400, 64, 32), (2, 150, 16, 10, 3), (3, 150, 7, 1, 1), (4, 150, 1, 300, 0), (5, 1, 2, 2, 32), (6, 2, 2, 2, 1),
        (7, 40, 5, 4, 2),
    ):  # fmt: skip
        monkeypatch.setattr(sorted_targeted, "ROWS", rows)
        monkeypatch.setattr(sorted_targeted, "TAKEN", taken)
        monkeypatch.setattr(targeted, "TRIES", tries)
        given, source = table(space, records, seed, skewed=skewed), SeededRandomness(seed)
        expected = mechanism.release(given, space, source)
        found, following = by_sorting(mechanism, space, given, seed)
        assert found == {name: column.tolist() for name, column in expected.codes.items()}
        assert following.tolist() == source.words(2).tolist()
        ordered = list(zip(*found.values(), strict=True))
        assert ordered == sorted(ordered), "the order of the table shows where a record came from"
        changed += ordered != sorted(zip(*(given.codes[name].tolist() for name in found), strict=True))
    assert bool(changed) is (name != "none is risky")


def test_an_order_with_equal_words_is_drawn_again(monkeypatch):
    """As in memory: all words are drawn again, from where the source stopped."""
    words, drawn = SeededRandomness.words, []
    monkeypatch.setattr(sorted_targeted, "ROWS", 50)

    def some_equal(self, count):
        found = words(self, count)
        drawn.append(count)
        return found & np.uint64(0xFF) if sum(drawn) <= 150 else found

    parameters, space = MECHANISMS["all are risky"]
    mechanism, given = TargetedSwapping(**parameters), table(space, 150, 1)
    monkeypatch.setattr(SeededRandomness, "words", some_equal)
    expected = mechanism.release(given, space, SeededRandomness(3))
    assert drawn[:2] == [150, 150]
    drawn.clear()
    assert by_sorting(mechanism, space, given, 3)[0] == {name: column.tolist() for name, column in expected.codes.items()}
    assert drawn[:6] == [50] * 6


def test_a_table_without_records_stays_empty():
    parameters, space = MECHANISMS["any donor"]
    found, _ = by_sorting(TargetedSwapping(**parameters), space, table(space, 0, 1), 1, size=1)
    assert found == {a.name: [] for a in space.attributes}


def test_columns_of_another_unit_are_refused():
    parameters, space = MECHANISMS["any donor"]
    given = table(OTHER, 5, 1)
    with pytest.raises(ReleaseError, match="does not have the attributes of a household"):
        by_sorting(TargetedSwapping(**parameters), space, given, 1)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_runs_are_found_across_batches(monkeypatch, size):
    monkeypatch.setattr(sorted_targeted, "ROWS", size)
    for seed in range(20):
        random = np.random.default_rng(seed)
        keys = np.sort(random.integers(0, random.integers(1, 12), random.integers(0, 30)))
        other = random.integers(0, 2, len(keys))
        found = [(*map(int, run),) for runs in runs_of(MemoryRows({"key": keys, "other": other}), ("key",), "other")
                 for run in zip(runs.starts, runs.sizes, runs.varied, strict=True)]  # fmt: skip
        expected, place = [], 0
        for _, group in itertools.groupby(keys.tolist()):
            count = len(list(group))
            expected.append((place, count, len({*other[place : place + count].tolist()}) > 1))
            place += count
        assert found == expected
    assert isinstance(next(runs_of(MemoryRows({"key": np.zeros(1), "other": np.zeros(1)}), ("key",), "other")), Runs)
