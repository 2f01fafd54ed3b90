"""The cell-key method: perturbation tables, both readings of its law, releases against the law, consistency.

Size and errors of the statistical test. Releases of 6,000 seeds are compared with the law by Pearson's statistic at level 1e-9,
the false alarm of each. For cell keys that are drawn per cell instead of per record (margins not the sum of their keys), the
noncentrality is above 600, which the test computes: it is missed with a probability below 1e-9.
"""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from dpspec_census.disclosure import CellKey, KeptCellKey, designed
from dpspec_census.disclosure.cell_key import PerturbationRow
from dpspec_census.disclosure.tables import (
    PerturbationDesignError,
    PerturbationKeysError,
    PerturbationMeanError,
    PerturbationRangeError,
    PerturbationSumError,
)
from scipy.stats import chi2

from dpspec import Outcome
from dpspec.base.errors import IncompatibleBlocksError, NotEnumerableError
from dpspec.base.exact import ln, number
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.tables import Table
from dpspec.laws.law import FiniteLaw
from dpspec.verifier.entry import verify_claim

ROW, COLUMN = Attribute(name="row", categories=("a", "b")), Attribute(name="column", categories=("x", "y"))
KEY = Attribute(name="key", count=4)
SPACE = UnorderedRecords(attributes=(ROW, COLUMN), most=3)
KEYED = UnorderedRecords(attributes=(ROW, KEY), most=2)
ROWS = [
    {"count": 1, "changes": {"-1": "1/2", "0": "1/4", "2": "1/4"}},
    {"count": 2, "changes": {"-2": "1/4", "0": "1/4", "1": "1/2"}},
]
TABLES = [["row", "column"], ["row"], []]
MECHANISM = CellKey(tables=TABLES, rows=ROWS, keys=4)
KEPT = KeptCellKey(tables=[["row"], []], rows=ROWS, keys=4, key="key")
TO_BASE_3 = [
    {"count": 1, "changes": {"-1": "2/3", "2": "1/3"}},
    {"count": 2, "changes": {"-2": "1/3", "1": "2/3"}},
    {"count": 3, "changes": {"0": 1}},
]
DRAWS, LEVEL = 6_000, 1e-9
CHANGES = {1: [-1, -1, 0, 2], 2: [-2, 0, 1, 1]}


def numbers(released):
    values = released.attribute("value").categories
    return tuple(int(values[code]) for code in released.codes["value"])


def by_hand(records, keys):
    """The published numbers of TABLES, cell by cell from the records and their keys."""

    def cell(row=None, column=None):
        held = [k for (r, c), k in zip(records, keys, strict=True) if row in (None, r) and column in (None, c)]
        return len(held) + CHANGES[min(len(held), 2)][sum(held) % 4] if held else 0

    return (*(cell(r, c) for r in "ab" for c in "xy"), *(cell(r) for r in "ab"), cell())


def flat_law(mechanism, x, space):
    """The law of the published numbers, table after table."""
    return mechanism.law(x, space).push_forward(lambda tables: tuple(itertools.chain.from_iterable(tables)))


# --- the law -------------------------------------------------------------------------------------


def test_the_law_is_that_of_uniform_record_keys():
    """Every key of every record, one by one; the law itself goes over keys of cells."""
    for x in SPACE.datasets():
        everything = Counter(by_hand(x, keys) for keys in itertools.product(range(4), repeat=len(x)))
        assert flat_law(MECHANISM, x, SPACE) == FiniteLaw.from_weights(everything)


def test_one_count_follows_its_row_and_zero_stays_zero():
    law = flat_law(MECHANISM, (("a", "x"), ("a", "x")), SPACE)
    assert law.push_forward(lambda z: z[0]) == FiniteLaw.of({0: "1/4", 2: "1/4", 3: "1/2"})
    assert law.push_forward(lambda z: z[3]) == FiniteLaw.point(0)


def test_a_cell_is_changed_alike_in_every_table_and_margins_for_themselves():
    law = flat_law(MECHANISM, (("a", "x"), ("a", "x")), SPACE)
    assert all(z[0] == z[4] == z[6] for z in law.support)  # the only records: cell, margin and total are one set of records
    law = flat_law(MECHANISM, (("a", "x"), ("a", "y")), SPACE)
    assert any(z[0] + z[1] != z[4] for z in law.support)


def test_kept_keys_are_no_randomness():
    for x in KEYED.datasets():
        (outcome,) = flat_law(KEPT, x, KEYED).support
        records, keys = [(row, None) for row, _ in x], [int(key) for _, key in x]
        *_, a, b, total = by_hand(records, keys)
        assert outcome == (a, b, total)


@pytest.mark.reference("B-T10")
def test_what_is_true_of_the_two_readings():
    (infinite,) = MECHANISM.claims(SPACE)
    assert verify_claim(MECHANISM, infinite.spec).constant.lower.is_infinite
    zero, infinite = (verify_claim(KEPT, claim.spec) for claim in KEPT.claims(KEYED))
    assert (zero.outcome, infinite.outcome) == (Outcome.VERIFIED, Outcome.UNDECIDED)  # every mechanism satisfies the second
    assert (zero.constant.upper, infinite.constant.lower.is_infinite) == (number(0), True)


def test_a_table_that_rounds_has_a_finite_budget_between_the_multiples():
    mechanism = CellKey(tables=[["row", "column"]], rows=TO_BASE_3, keys=3)
    claim = mechanism.claim("", "by hand", mechanism.own_universes(), 2 * ln(2), SPACE)
    verdict = verify_claim(mechanism, claim.spec)
    assert verdict.outcome is Outcome.VERIFIED
    assert verdict.constant.lower == 2 * ln(2)


# --- releases ------------------------------------------------------------------------------------

GIVEN = (("a", "x"), ("a", "y"), ("b", "y"))


def statistic(counts, law):
    if set(counts) - set(law.support):
        return float("inf")
    return sum((counts.get(z, 0) - DRAWS * float(p)) ** 2 / (DRAWS * float(p)) for z, p in law.probabilities())


@pytest.mark.slow
@pytest.mark.statistical
def test_a_release_follows_the_law():
    law = flat_law(MECHANISM, GIVEN, SPACE)
    table = Table.from_records(GIVEN, SPACE.attributes)
    seen = Counter(numbers(MECHANISM.release(table, SPACE, SeededRandomness(seed))) for seed in range(DRAWS))
    assert min(p for _, p in law.probabilities()) * DRAWS >= 50
    assert statistic(seen, law) < chi2.isf(LEVEL, len(law.support) - 1)


@pytest.mark.statistical
def test_keys_drawn_per_cell_would_be_seen():
    """The same cells, each with a key of its own: the numbers of margins no longer depend on those of their cells."""
    law = flat_law(MECHANISM, GIVEN, SPACE)
    alone = FiniteLaw.product([law.push_forward(lambda z, place=place: z[place]) for place in range(7)])
    missed = sum(p for z, p in alone.probabilities() if z not in set(law.support))
    common = sum((alone.probability(z) - p) ** 2 / p for z, p in law.probabilities())
    assert missed > Fraction(1, 10) or DRAWS * common > 600  # an impossible outcome within 6,000 draws rejects at once


def test_a_million_records_by_keys_of_their_own():
    attributes = Attribute(name="row", count=300), Attribute(name="column", count=12)
    space = UnorderedRecords(attributes=attributes)
    rows, source = designed(Fraction(2), 5, 256), SeededRandomness(7)
    mechanism = CellKey(tables=[["row", "column"], ["row"], []], rows=rows, keys=256)
    codes = {"row": source.below(300, 1_000_000), "column": source.below(12, 1_000_000) // 3 * 3}
    given = Table(attributes=attributes, codes=codes)
    released = np.array(numbers(mechanism.release(given, space, source)))
    body = np.bincount(given.key(["row", "column"]), minlength=3600).reshape(300, 12)
    true = np.concatenate([body.ravel(), body.sum(axis=1), [1_000_000]])
    assert len(released) == len(true) == 3901
    assert (released[true == 0] == 0).all()
    assert (true == 0).sum() == 2400
    assert 0 < abs(released - true).max() <= 5


def test_a_million_records_with_kept_keys_give_the_same_tables_twice():
    attributes = Attribute(name="row", count=300), Attribute(name="key", count=256)
    space, source = UnorderedRecords(attributes=attributes), SeededRandomness(8)
    mechanism = KeptCellKey(tables=[["row"], []], rows=designed(Fraction(2), 5, 256), keys=256, key="key")
    codes = {"row": source.below(300, 1_000_000), "key": source.below(256, 1_000_000)}
    table = Table(attributes=attributes, codes=codes)
    first, second = (numbers(mechanism.release(table, space, SeededRandomness(seed))) for seed in (1, 2))
    assert first == second
    held = codes["key"][codes["row"] == 17]
    assert first[17] == len(held) + mechanism.rows[-1].change(int(held.sum()) % 256, 256)


# --- perturbation tables -------------------------------------------------------------------------


@pytest.mark.parametrize(("variance", "largest", "keys"), [("1", 2, 64), ("2", 5, 256), ("1/2", 1, 256), ("3/2", 3, 64)])
def test_a_designed_table_has_the_wanted_variance_exactly(variance, largest, keys):
    rows = designed(Fraction(variance), largest, keys)
    assert [row.count for row in rows] == list(range(1, largest + 1))
    for row in rows:
        law = row.law()
        assert (sum(p for _, p in law), sum(d * p for d, p in law)) == (1, 0)
        assert sum(d * d * p for d, p in law) == Fraction(variance)
        assert all(-min(largest, row.count) <= d <= largest and (p * keys).denominator == 1 for d, p in law)


@pytest.mark.parametrize(("variance", "largest", "keys"), [("3", 2, 256), ("1/3", 2, 256)])
def test_an_impossible_design_is_refused(variance, largest, keys):
    with pytest.raises(PerturbationDesignError, match="variance"):
        designed(Fraction(variance), largest, keys)


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"-1": "1/2", "1": "1/3"}, PerturbationSumError, "sum to exactly 1"),
        ({"-1": "1/4", "1": "3/4"}, PerturbationMeanError, "mean 0"),
        ({"-2": "1/2", "2": "1/2"}, PerturbationRangeError, "negative count"),
    ],
)
def test_a_row_is_a_law_with_mean_0_of_counts(changes, error, text):
    with pytest.raises(error, match=text):
        PerturbationRow(count=1, changes=changes)


def test_rows_stand_for_1_2_3_and_fit_the_keys():
    with pytest.raises(PerturbationRangeError, match="in this order"):
        CellKey(tables=[[]], rows=ROWS[::-1], keys=4)
    with pytest.raises(PerturbationKeysError, match="multiple of 1/6"):
        CellKey(tables=[[]], rows=ROWS[:1], keys=6)


def test_other_bad_input():
    with pytest.raises(NotEnumerableError, match="cell keys"):
        CellKey(tables=TABLES, rows=ROWS, keys=256).law((("a", "x"), ("a", "y"), ("b", "x")), SPACE)
    with pytest.raises(IncompatibleBlocksError, match="one for each key"):
        KeptCellKey(tables=[["column"]], rows=ROWS, keys=4, key="row").check(SPACE)
    with pytest.raises(IncompatibleBlocksError, match="no table may publish"):
        KeptCellKey(tables=[["key"]], rows=ROWS, keys=4, key="key").check(KEYED)
