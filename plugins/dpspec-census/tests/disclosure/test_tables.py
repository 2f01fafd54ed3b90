"""Releases of rounded and perturbed tables against the formulas written out cell by cell, and what happens with many cells."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from dpspec_census.disclosure import (
    CellKey,
    CellSuppression,
    ControlledRounding,
    ConventionalRounding,
    KeptCellKey,
    PossibleOutputs,
    RandomRounding,
    cell_key,
)
from dpspec_noise import NoisyMax

from dpspec import Outcome
from dpspec.base.errors import IncompatibleBlocksError, LibraryError, NotEnumerableError, ReleaseError
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar import cell_stream
from dpspec.grammar.tables import Table
from dpspec.grammar.workers import Run
from dpspec.testing.sorters import MemoryRows, MemorySorter
from dpspec.verifier.entry import verify_claim

AGE, SEX, PLACE, KEY = (Attribute(name=name, count=count) for name, count in (("age", 4), ("sex", 2), ("place", 5), ("key", 6)))
SPACE = UnorderedRecords(attributes=(AGE, SEX, PLACE, KEY))
CODES = {a.name: a for a in SPACE.attributes}
TABLES = [["place", "sex"], ["sex"], ["age", "place", "sex"], [], ["place", "age"]]
"""The base is place x sex x age: its order is neither that of the space nor that of each table."""
BASE = ("place", "sex", "age")
ROWS = [
    {"count": 1, "changes": {"-1": "1/2", "0": "1/6", "1": "1/6", "2": "1/6"}},
    {"count": 2, "changes": {"-2": "1/3", "0": "1/3", "2": "1/3"}},
    {"count": 3, "changes": {"-1": "1/2", "1": "1/2"}},
]
CHANGES = {1: [-1, -1, -1, 0, 1, 2], 2: [-2, -2, 0, 0, 2, 2], 3: [-1, -1, -1, 1, 1, 1]}


def people(records, seed):
    draw = np.random.default_rng(seed)
    codes = {a.name: np.minimum(draw.integers(0, a.size, records), draw.integers(0, a.size, records)) for a in SPACE.attributes}
    return Table(attributes=SPACE.attributes, codes=codes)


def cells(names):
    """The cells of a table in the order of the release: the last attribute of the base is the fastest."""
    own = [name for name in BASE if name in names]
    return [dict(zip(own, cell, strict=True)) for cell in itertools.product(*(range(CODES[name].size) for name in own))]


def members(table, cell):
    """The rows of the records of a cell."""
    return [row for row in range(len(table)) if all(table.codes[name][row] == code for name, code in cell.items())]


def words(cell):
    """The columns of the released table that name a cell."""
    return tuple(str(cell[name]) if name in cell else "(all)" for name in BASE)


def every_cell():
    return [(names, cell) for names in TABLES for cell in cells(names)]


def expected(numbers):
    """The released rows, from the number of each cell or "x"."""
    names = {(): "person total"} | {tuple(t): f"person by {' x '.join(t)}" for t in TABLES if t}
    return [
        (names[tuple(table)], *words(cell), "" if number == "x" else str(number), "suppressed" if number == "x" else "published")
        for (table, cell), number in zip(every_cell(), numbers, strict=True)
    ]


def counts(table):
    return [len(members(table, cell)) for _, cell in every_cell()]


def by_hand(mechanism, table, seed):
    """The numbers that a mechanism releases, written out for one cell after the other."""
    source, found = SeededRandomness(seed), counts(table)
    if isinstance(mechanism, ConventionalRounding):
        low, high = mechanism.redact_from, -1 if mechanism.redact_up_to is None else mechanism.redact_up_to
        return ["x" if low <= n <= high else (2 * n + mechanism.base) // (2 * mechanism.base) * mechanism.base for n in found]
    if isinstance(mechanism, RandomRounding):
        coins = source.below(mechanism.base, len(found)).tolist()
        rests = [n % mechanism.base for n in found]
        return [n - r + (mechanism.base if coin < r else 0) for n, r, coin in zip(found, rests, coins, strict=True)]
    if isinstance(mechanism, CellKey):
        held = [cell for cell in cells(BASE) if members(table, cell)]
        drawn = iter(source.below(6, len(held)).tolist())
        keys = dict.fromkeys(range(len(table)), 0) | {members(table, cell)[0]: next(drawn) for cell in held}
    else:
        keys = dict(enumerate(table.codes["key"].tolist()))
    sums = [sum(keys[row] for row in members(table, cell)) for _, cell in every_cell()]
    return [n and n + CHANGES[min(n, 3)][key % 6] for n, key in zip(found, sums, strict=True)]


MECHANISMS = {
    "random": RandomRounding(tables=TABLES, base=3),
    "random-1": RandomRounding(tables=TABLES, base=1),
    "conventional": ConventionalRounding(tables=TABLES, base=5),
    "redacted": ConventionalRounding(tables=TABLES, base=5, redact_from=1, redact_up_to=7),
    "nothing-redacted": ConventionalRounding(tables=TABLES, base=5, redact_from=1000, redact_up_to=1001),
    "huge": ConventionalRounding(tables=TABLES, base=10**30),
    "cell-key": CellKey(tables=TABLES, rows=ROWS, keys=6),
    "kept": KeptCellKey(tables=TABLES, rows=ROWS, keys=6, key="key"),
}


@pytest.mark.parametrize("records", [1, 60])
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_release_is_the_formula_cell_by_cell(name, records, monkeypatch):
    monkeypatch.setattr(cell_key, "_PIECE", 7)
    mechanism, table = MECHANISMS[name], people(records, seed=records)
    released = mechanism.release(table, SPACE, SeededRandomness(7))
    assert list(released.records()) == expected(by_hand(mechanism, table, 7))


@pytest.mark.parametrize("ranges", [(1 << 18, 9), (16, 9), (16, 1 << 22)])
@pytest.mark.parametrize("name", [name for name in MECHANISMS if name != "huge"])
def test_a_release_by_sorting_is_that_in_memory(name, ranges, monkeypatch):
    """With one range and several, with large tables and none."""
    monkeypatch.setattr(cell_stream, "RANGE", ranges[0])
    monkeypatch.setattr(cell_stream, "MOST_COUNTED", ranges[1])
    monkeypatch.setattr(cell_stream, "_ROWS", 7)
    mechanism, table, sorter = MECHANISMS[name], people(60, seed=2), MemorySorter()
    inside = list(mechanism.release(table, SPACE, SeededRandomness(7)).records())
    batches = [table.slice(0, 0), table.slice(0, 25), table.slice(25, 60)]
    made = mechanism.release_sorted(batches, table.attributes, SPACE, Run(source=SeededRandomness(7)), sorter)
    assert [row for batch in made.batches for row in batch.records()] == inside
    assert all(rows.forgotten for rows in sorter.made)


def test_numbers_of_many_cells_are_drawn_in_ranges(monkeypatch):
    """Cells of different ranges have coins of their own, and so do cells of the base."""
    monkeypatch.setattr(cell_stream, "RANGE", 8)
    drawn, given = [], SeededRandomness.below

    def below(self, bound, count):
        drawn.append(given(self, bound, count).tolist())
        return np.asarray(drawn[-1])

    monkeypatch.setattr(SeededRandomness.__mro__[1], "below", below)
    MECHANISMS["random"].release(people(60, 1), SPACE, SeededRandomness(1))
    assert sum(map(len, drawn)) == len(every_cell())
    assert max(map(len, drawn)) == 8
    assert len({tuple(part) for part in drawn}) == len(drawn)
    drawn.clear()
    MECHANISMS["cell-key"].release(people(60, 1), SPACE, SeededRandomness(1))
    assert sum(map(len, drawn)) == sum(bool(members(people(60, 1), cell)) for cell in cells(BASE))


def test_sorted_cells_of_the_base_that_are_not_in_order_are_an_error(monkeypatch):
    monkeypatch.setattr(cell_stream, "RANGE", 8)
    table, given = people(60, 1), MemoryRows.between

    def twice(self, begin, end, columns=()):
        found = given(self, begin, end, columns)
        return {name: np.repeat(column[:1], len(column)) for name, column in found.items()}

    monkeypatch.setattr(MemoryRows, "between", twice)
    run = Run(source=SeededRandomness(7))
    with pytest.raises(LibraryError, match="not sorted"):
        MECHANISMS["cell-key"].release_sorted([table], table.attributes, SPACE, run, MemorySorter())


@pytest.mark.parametrize("name", ["random", "conventional", "cell-key", "kept"])
def test_a_table_without_records_has_the_same_release_by_sorting(name):
    table, mechanism = people(0, 1), MECHANISMS[name]
    held = mechanism.release(table, SPACE, SeededRandomness(1))
    found = mechanism.release_sorted([table], table.attributes, SPACE, Run(source=SeededRandomness(1)), MemorySorter())
    assert [row for batch in found.batches for row in batch.records()] == list(held.records())
    assert {row[-2] for row in held.records()} <= {"0", "(hidden)", "x", ""}


# --- many cells -----------------------------------------------------------------------------------

LARGE = UnorderedRecords(attributes=(Attribute(name="row", count=30_000), Attribute(name="column", count=800), KEY))
BOTH = [["row", "column"], ["row"]]


@pytest.mark.parametrize(
    "mechanism",
    [
        RandomRounding(tables=BOTH, base=3),
        ConventionalRounding(tables=BOTH, base=3),
        CellKey(tables=BOTH, rows=ROWS, keys=6),
        KeptCellKey(tables=BOTH, rows=ROWS, keys=6, key="key"),
    ],
)
def test_a_law_of_24_million_cells_is_refused_and_a_release_is_not(mechanism):
    mechanism.check(LARGE)
    with pytest.raises(NotEnumerableError, match="span 24,000,000 cells, and its law lists at most 1,000,000"):
        mechanism.law((("0", "0", "0"),), LARGE)
    PossibleOutputs(mechanism=mechanism).check(LARGE)
    for claim in mechanism.claims(LARGE):
        assert verify_claim(mechanism, claim.spec).outcome is Outcome.UNDECIDED


def test_possible_outputs_name_the_laws_that_they_list():
    """It was said of a choice among two cells that its laws are not finite; their probabilities are not rational."""
    chosen = NoisyMax(query=Marginal(attributes=("sex",)), noise="exponential", rate="1/2")
    with pytest.raises(IncompatibleBlocksError, match="rational probabilities, and those of noisy-max are others"):
        PossibleOutputs(mechanism=chosen).check(SPACE)


@pytest.mark.parametrize(
    ("mechanism", "instead"),
    [
        (ControlledRounding(rows="row", columns="column", base=3), "random-rounding"),
        (CellSuppression(tables=BOTH, threshold=3), "redact_up_to"),
    ],
)
def test_a_search_through_24_million_cells_is_refused_at_once(mechanism, instead):
    with pytest.raises(NotEnumerableError, match=f"also of a release, lists at most 1,000,000.*{instead}"):
        mechanism.check(LARGE)


def test_a_base_of_many_cells_is_not_held_for_a_few_tables(monkeypatch):
    """Twelve attributes by pairs: their base has 10^12 cells, of which those that occur have keys."""
    attributes = tuple(Attribute(name=f"a{place:02}", count=10) for place in range(12))
    space = UnorderedRecords(attributes=attributes)
    pairs = [list(pair) for pair in itertools.combinations([a.name for a in attributes], 2)]
    table = Table(attributes=attributes, codes={a.name: np.random.default_rng(3).integers(0, 10, 500) for a in attributes})
    for mechanism in (CellKey(tables=pairs, rows=ROWS, keys=6), RandomRounding(tables=pairs, base=3)):
        assert len(mechanism.release(table, space, SeededRandomness(1))) == 66 * 100


def test_what_64_bits_do_not_hold_is_refused():
    with pytest.raises(ReleaseError, match=r"base of random-rounding: is 2\^61 or more"):
        RandomRounding(tables=[[]], base=1 << 61).release(people(3, 1), SPACE, SeededRandomness(1))
    with pytest.raises(ReleaseError, match=r"base of random-rounding: is 2\^61 or more"):
        RandomRounding(tables=[[]], base=1 << 61).check_release(SPACE)
    with pytest.raises(ReleaseError, match="sums leave the range"):
        CellKey(tables=[[]], rows=[{"count": 1, "changes": {"0": 1}}], keys=1 << 61).release(
            people(3, 1), SPACE, SeededRandomness(1)
        )
    wide = UnorderedRecords(attributes=tuple(Attribute(name=f"a{place}", count=1 << 21) for place in range(3)))
    with pytest.raises(IncompatibleBlocksError, match="each of which has a key"):
        CellKey(tables=[["a0", "a1"], ["a2"]], rows=ROWS, keys=6).check(wide)
    RandomRounding(tables=[["a0"], ["a2"]], base=3).check(wide)


def test_rounding_follows_its_law_in_every_cell():
    """The numbers of a release are outcomes of the law, and so is each of 200 releases of one count."""
    mechanism = RandomRounding(tables=[[]], base=5)
    table = people(7, 1)
    law = mechanism.law([tuple(record) for record in table.records()], SPACE)
    found = Counter(next(iter(mechanism.release(table, SPACE, SeededRandomness(seed)).records()))[-2] for seed in range(200))
    assert {((int(number),),) for number in found} == set(law.support)
    assert law.probability(((10,),)) == Fraction(2, 5)
