"""Rounding by a rule, by chance, and so that tables add up: the laws by hand, releases against laws, budgets.

Size and errors of the statistical tests. Releases of 6,000 seeds from one small table are compared with the law by Pearson's
statistic at level 1e-9, the false alarm of each. The broken variants (coins of the wrong side; fair coins) have noncentrality
above 600 at this size, which the test computes, so that one is missed with a probability below 1e-9.
"""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from dpspec_census.disclosure import ControlledRounding, ConventionalRounding, RandomRounding
from scipy.stats import chi2

from dpspec import Outcome
from dpspec.api import build
from dpspec.base.errors import IncompatibleBlocksError, NotEnumerableError, ParameterError
from dpspec.base.exact import ln, number
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.tables import Table
from dpspec.laws.law import FiniteLaw
from dpspec.verifier.entry import verify_claim

ROW, COLUMN = Attribute(name="row", categories=("a", "b")), Attribute(name="column", categories=("x", "y"))
SPACE = UnorderedRecords(attributes=(ROW, COLUMN), most=4)
LARGE = UnorderedRecords(attributes=(ROW, COLUMN))
TABLES = [["row", "column"], ["row"], ["column"], []]
DRAWS, LEVEL = 6_000, 1e-9


def dataset(counts):
    """The records of a 2 x 2 table (ax, ay, bx, by)."""
    cells = itertools.product("ab", "xy")
    return LARGE.dataset([cell for cell, count in zip(cells, counts, strict=True) for _ in range(count)])


def table(counts):
    return Table.from_records(dataset(counts), LARGE.attributes)


def numbers(released):
    """The published numbers, in the order of the rows."""
    values = released.attribute("value").categories
    return tuple(int(values[code]) for code in released.codes["value"])


def published(counts):
    ax, ay, bx, by = counts
    return (*counts, ax + ay, bx + by, ax + bx, ay + by, sum(counts))


def flat_law(mechanism, x, space):
    """The law of the published numbers, table after table."""
    return mechanism.law(x, space).push_forward(lambda tables: tuple(itertools.chain.from_iterable(tables)))


# --- by a rule -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "rounded"), [(1, [0, 1, 2, 3, 4, 5, 6, 7]), (3, [0, 0, 3, 3, 3, 6, 6, 6]), (4, [0, 0, 4, 4, 4, 4, 8, 8])]
)
def test_the_nearest_multiple_ties_up(base, rounded):
    mechanism = ConventionalRounding(tables=[[]], base=base)
    laws = [flat_law(mechanism, dataset((count, 0, 0, 0)), LARGE) for count in range(8)]
    assert laws == [FiniteLaw.point((value,)) for value in rounded]


def test_margins_are_rounded_for_themselves_and_need_not_add_up():
    mechanism = ConventionalRounding(tables=TABLES, base=3)
    (outcome,) = flat_law(mechanism, dataset((1, 1, 1, 1)), LARGE).support
    assert outcome == (0, 0, 0, 0, 3, 3, 3, 3, 3)
    released = mechanism.release(table((1, 1, 1, 1)), LARGE, SeededRandomness(1))
    assert numbers(released) == outcome
    assert released.counts(["row", "column", "value"])[("a", "(all)", "3")] == 1


# --- by chance -----------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [2, 3, 5])
def test_random_rounding_is_unbiased_and_keeps_multiples(base):
    mechanism = RandomRounding(tables=[[]], base=base)
    for count in range(3 * base):
        law = flat_law(mechanism, dataset((count, 0, 0, 0)), LARGE)
        assert sum(value[0] * p for value, p in law.probabilities()) == count
        assert all(abs(value[0] - count) < base and value[0] % base == 0 for value in law.support)


@pytest.mark.spread(4)
@pytest.mark.reference("B-T10")
@pytest.mark.parametrize(("base", "per_table"), [(2, 0), (3, 2), (4, 2)])
@pytest.mark.parametrize("tables", [[["row"]], [["row", "column"]], [["row"], ["column"], []]])
def test_the_budget_between_two_multiples(base, per_table, tables):
    """2 t ln 2 holds; for one table of two cells it is attained (b = 3), so nothing smaller does. At b = 2 nothing can change
    in a universe: where the universe knows every cell it is one dataset, and there is nothing to compare."""
    space = UnorderedRecords(attributes=(ROW, COLUMN), most=5)
    mechanism = RandomRounding(tables=tables, base=base)
    stated, infinite = mechanism.claims(space)
    t = sum(bool(names) for names in tables)
    assert stated.spec.budget.uniform() == per_table * t * ln(2)
    verdict = verify_claim(mechanism, stated.spec)
    empty = base == 2 and tables == [["row", "column"]]
    assert verdict.outcome is (Outcome.UNDECIDED if empty else Outcome.VERIFIED)
    if tables == [["row"]] and base == 3:
        assert verdict.constant.lower == 2 * ln(2)
    assert verify_claim(mechanism, infinite.spec).constant.lower.is_infinite


@pytest.mark.slow
def test_universes_of_random_rounding_are_the_intervals():
    """By hand: two datasets share one when every published count is the same multiple, or lies between the same two."""
    mechanism = RandomRounding(tables=TABLES, base=3)
    universes = mechanism.own_universes()
    vectors = [v for v in itertools.product(range(4), repeat=4) if sum(v) <= 4]

    def interval(v):
        return [(n // 3, n % 3 == 0) for n in published(v)]

    for one, two in itertools.combinations(vectors, 2):
        assert universes.share_universe(dataset(one), dataset(two), SPACE) == (interval(one) == interval(two))


# --- so that it adds up --------------------------------------------------------------------------


@pytest.mark.parametrize("base", [2, 3, 5])
def test_controlled_rounding_adds_up_is_unbiased_and_stays_next_to_the_truth(base):
    mechanism = ControlledRounding(rows="row", columns="column", base=base)
    for counts in itertools.product(range(base + 1), repeat=4):
        law = flat_law(mechanism, dataset(counts), LARGE)
        for outcome, _ in law.probabilities():
            assert outcome == published(outcome[:4])
            assert all(abs(n - m) < base and n % base == 0 for n, m in zip(outcome, published(counts), strict=True))
        means = [sum(outcome[i] * p for outcome, p in law.probabilities()) for i in range(9)]
        assert means == list(published(counts))


def test_controlled_rounding_adds_up_in_a_larger_table():
    """Three rows and four columns: cycles of more than four entries."""
    attributes = Attribute(name="row", count=3), Attribute(name="column", count=4)
    space = UnorderedRecords(attributes=attributes)
    mechanism = ControlledRounding(rows="row", columns="column", base=5)
    for seed in range(60):
        source = SeededRandomness(seed)
        cells = source.below(9, 12)
        codes = {"row": np.repeat(np.arange(12) // 4, cells), "column": np.repeat(np.arange(12) % 4, cells)}
        inner = np.array(numbers(mechanism.release(Table(attributes=attributes, codes=codes), space, source)))
        body, rows, columns = inner[:12].reshape(3, 4), inner[12:15], inner[15:19]
        assert (body.sum(axis=1) == rows).all()
        assert (body.sum(axis=0) == columns).all()
        assert inner[19] == rows.sum()
        assert (inner % 5 == 0).all()
        assert (abs(body.ravel() - cells) < 5).all()


# --- releases ------------------------------------------------------------------------------------

CASES = [
    (RandomRounding(tables=[["row"], []], base=5), (2, 1, 1, 0)),
    (ControlledRounding(rows="row", columns="column", base=5), (2, 1, 1, 4)),
    (ControlledRounding(rows="row", columns="column", base=3), (1, 1, 1, 1)),
]


def observed(mechanism, counts):
    given = table(counts)
    return Counter(numbers(mechanism.release(given, LARGE, SeededRandomness(seed))) for seed in range(DRAWS))


def statistic(counts, law):
    if set(counts) - set(law.support):
        return float("inf")
    return sum((counts.get(z, 0) - DRAWS * float(p)) ** 2 / (DRAWS * float(p)) for z, p in law.probabilities())


@pytest.mark.spread(0, slow=1)
@pytest.mark.statistical
@pytest.mark.parametrize(("mechanism", "counts"), CASES, ids=lambda value: str(value)[:60])
def test_a_release_follows_the_law(mechanism, counts):
    law = flat_law(mechanism, dataset(counts), LARGE)
    assert min(p for _, p in law.probabilities()) * DRAWS >= 50  # the chi-square law is a good approximation
    assert statistic(observed(mechanism, counts), law) < chi2.isf(LEVEL, len(law.support) - 1)


@pytest.mark.statistical
def test_a_wrong_coin_would_be_seen():
    """The noncentrality sum (q - p)^2 / p of two wrong roundings of the counts 3, 1 and 4 to base 5."""
    law = flat_law(CASES[0][0], dataset(CASES[0][1]), LARGE)
    rests = (3, 1, 4)
    for chances in ([1 - Fraction(r, 5) for r in rests], [Fraction(1, 2)] * 3):
        wrong = FiniteLaw.product([FiniteLaw.of({0: 1 - up, 5: up}) for up in chances])
        assert set(wrong.support) == set(law.support)
        assert DRAWS * sum((wrong.probability(z) - p) ** 2 / p for z, p in law.probabilities()) > 600


@pytest.mark.parametrize(
    "mechanism",
    [
        ConventionalRounding(tables=TABLES, base=10),
        RandomRounding(tables=TABLES, base=10),
        ControlledRounding(rows="row", columns="column", base=10),
    ],
    ids=lambda mechanism: mechanism.name,
)
def test_a_million_records(mechanism):
    attributes = Attribute(name="row", count=40), Attribute(name="column", count=12)
    space, source = UnorderedRecords(attributes=attributes), SeededRandomness(5)
    codes = {"row": source.below(40, 1_000_000), "column": source.below(12, 1_000_000)}
    given = Table(attributes=attributes, codes=codes)
    released = np.array(numbers(mechanism.release(given, space, source)))
    body = np.bincount(given.key(["row", "column"]), minlength=480).reshape(40, 12)
    true = np.concatenate([body.ravel(), body.sum(axis=1), body.sum(axis=0), [1_000_000]])
    assert len(released) == len(true) == 533
    assert (released % 10 == 0).all()
    assert (abs(released - true) < 10).all()
    assert (released[true % 10 == 0] == true[true % 10 == 0]).all()


@pytest.mark.parametrize("cls", [ConventionalRounding, RandomRounding])
@pytest.mark.parametrize("base", [0, -3])
def test_a_base_is_at_least_1(cls, base):
    with pytest.raises(ParameterError, match="base="):
        cls(tables=[["row"]], base=base)


def test_bad_tables():
    with pytest.raises(ParameterError, match="base="):
        ControlledRounding(rows="row", columns="column", base=0)
    with pytest.raises(IncompatibleBlocksError, match="two different attributes"):
        ControlledRounding(rows="row", columns="row", base=3).check(LARGE)
    with pytest.raises(IncompatibleBlocksError, match="twice"):
        ConventionalRounding(tables=[["row", "column"], ["column", "row"]], base=3).check(LARGE)
    with pytest.raises(IncompatibleBlocksError, match="did you mean row"):
        ConventionalRounding(tables=[["rows"]], base=3).check(LARGE)
    many = UnorderedRecords(attributes=(Attribute(name="row", count=20),))
    with pytest.raises(NotEnumerableError, match="outcomes"):
        RandomRounding(tables=[["row"]], base=3).law([(str(i),) for i in range(20)], many)
    nested = UnorderedRecords(attributes=(ROW, Attribute(name="place", count=4, within="row")))
    with pytest.raises(IncompatibleBlocksError, match="lies within"):
        ConventionalRounding(tables=[["row", "place"]], base=3).check(nested)


def test_budget_0_in_the_universes_of_conventional_rounding():
    mechanism = ConventionalRounding(tables=TABLES, base=3)
    zero, infinite = (verify_claim(mechanism, claim.spec) for claim in mechanism.claims(SPACE))
    assert (zero.outcome, infinite.outcome) == (Outcome.VERIFIED, Outcome.UNDECIDED)  # every mechanism satisfies the second
    assert (zero.constant.upper, infinite.constant.lower.is_infinite) == (number(0), True)


# --- redaction, then rounding ---------------------------------------------------------------------


def redacted(up_to, least=0, base=5):
    """One total, redacted and then rounded, against the promise that rounding alone hides which count it was."""
    total = {"tables": [[]], "base": base, "unit": "patient"}
    return build(
        space={"type": "records", "unit": "patient", "most": 13, "attributes": [{"name": "region", "categories": ["north"]}]},
        multiverse={"invariants": [{"type": "possible-outputs", "mechanism": {"type": "conventional-rounding", **total}}]},
        input_divergence={"type": "symmetric-difference", "unit": "patient"},
        output_divergence={"type": "mult"},
        budget={"epsilon": 0},
        mechanism={"type": "conventional-rounding", **total, "redact_up_to": up_to, "redact_from": least},
    )


@pytest.mark.parametrize(
    ("up_to", "least", "outcome"),
    [
        (5, 0, Outcome.REFUTED),  # of the counts that round to 5, a published 5 is 6 or 7
        (7, 0, Outcome.VERIFIED),  # redaction ends where a multiple begins
        (7, 1, Outcome.REFUTED),  # 0 is told from 1 and 2
        (2, 0, Outcome.VERIFIED),
        (12, 0, Outcome.VERIFIED),
    ],
)
def test_redacting_before_rounding_hides_what_rounding_hides_only_where_both_end_together(up_to, least, outcome):
    document = redacted(up_to, least)
    assert verify_claim(document.mechanism, document.spec).outcome is outcome


def test_what_is_redacted_and_rounded_by_hand():
    mechanism = ConventionalRounding(tables=[[]], base=5, redact_up_to=7, redact_from=1)
    assert [mechanism.shown(count) for count in (0, 1, 7, 8, 12, 13)] == [0, "x", "x", 10, 10, 15]
    assert [ConventionalRounding(tables=[[]], base=5).shown(count) for count in (0, 2, 3)] == [0, 0, 5]
    table = Table(attributes=(ROW, COLUMN), codes={"row": np.array([0, 0, 1]), "column": np.array([0, 1, 1])})
    rule = ConventionalRounding(tables=[["row"]], base=1, redact_up_to=1)
    assert rule.release(table, LARGE, SeededRandomness(0)).counts(["row", "value", "status"]) == {
        ("a", "2", "published"): 1, ("b", "", "suppressed"): 1,
    }  # fmt: skip


def test_a_least_redacted_count_needs_a_greatest():
    with pytest.raises(ParameterError, match="redact_from"):
        ConventionalRounding(tables=[[]], base=5, redact_from=1)
