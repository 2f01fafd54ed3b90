"""Cell suppression: the rules by hand, protection and audit against all tables listed one by one, size, bad input."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from dpspec_census.disclosure import CellSuppression
from dpspec_census.disclosure.suppression import Contributions, Need, audit, suppressed
from dpspec_census.disclosure.tables import SUPPRESSED, Layout

from dpspec import Outcome
from dpspec.base.errors import IncompatibleBlocksError, ParameterError
from dpspec.base.exact import number
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.tables import Table
from dpspec.verifier.entry import verify_claim

ROW, COLUMN = Attribute(name="row", categories=("a", "b")), Attribute(name="column", categories=("x", "y", "z"))
TABLES = (("row", "column"), ("row",), ("column",), ())
LAYOUT = Layout((ROW, COLUMN), TABLES)
LARGE = UnorderedRecords(attributes=(ROW, COLUMN))
MOST = 7


def everything(layout, most):
    """Every table of base counts with at most so many records in all, with its published numbers."""
    size = len(layout.base)
    tables = (t for t in itertools.product(range(most + 1), repeat=size) if sum(t) <= most)
    return {table: layout.published(table) for table in tables}


ALL_TABLES = everything(LAYOUT, MOST)


def consistent(published):
    """The published numbers of all tables of up to MOST records that agree with what is not suppressed."""
    known = [(place, n) for place, n in enumerate(published) if n != SUPPRESSED]
    return [numbers for numbers in ALL_TABLES.values() if all(numbers[place] == n for place, n in known)]


def dataset(base):
    cells = itertools.product("ab", "xyz")
    return LARGE.dataset([cell for cell, count in zip(cells, base, strict=True) for _ in range(count)])


def flat_law(mechanism, x, space):
    """The law of the published numbers, table after table."""
    return mechanism.law(x, space).push_forward(lambda tables: tuple(itertools.chain.from_iterable(tables)))


SOME = [table for table in ALL_TABLES if sum(table) == 5 and max(table) <= 3][::7]


@pytest.mark.parametrize("threshold", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_no_suppressed_cell_can_be_computed(threshold):
    """Against a list of all tables: what stays published fits one with at least 1 more and one with 1 less, if it has any."""
    mechanism = CellSuppression(tables=TABLES, threshold=threshold)
    for base in SOME:
        (outcome,) = flat_law(mechanism, dataset(base), LARGE).support
        true, possible = LAYOUT.published(base), consistent(outcome)
        for place, shown in enumerate(outcome):
            sensitive = 0 < true[place] < threshold
            assert (shown == SUPPRESSED) or (shown == true[place] and not sensitive)
            if shown == SUPPRESSED:
                values = {numbers[place] for numbers in possible}
                assert len(values) > 1, (base, outcome, place)
            if sensitive:
                assert max(values) > true[place] > min(values)


def test_without_complementary_suppression_the_margins_give_it_away():
    """The same list shows the fault that the mechanism mends: one suppressed cell of a published table is a difference."""
    true = LAYOUT.published((1, 2, 2, 0, 0, 0))
    primary = tuple(SUPPRESSED if place == 0 else n for place, n in enumerate(true))
    assert {numbers[0] for numbers in consistent(primary)} == {1}
    (exposure,) = audit(LAYOUT, {place: n for place, n in enumerate(primary) if n != SUPPRESSED})
    assert exposure.is_known


@pytest.mark.parametrize("base", [(3, 1, 2, 1, 0, 0), (1, 1, 1, 1, 1, 1), (2, 0, 0, 0, 2, 1), (0, 0, 0, 0, 0, 1)])
def test_the_audit_finds_the_interval_of_the_list(base):
    mechanism = CellSuppression(tables=TABLES, threshold=2)
    (outcome,) = flat_law(mechanism, dataset(base), LARGE).support
    possible = consistent(outcome)
    exposures = iter(mechanism.audited(outcome, LARGE))
    for place, shown in enumerate(outcome):
        if shown == SUPPRESSED:
            found, values = next(exposures), {numbers[place] for numbers in possible}
            assert (found.label, found.low) == (LAYOUT.labels[place], min(values))
            assert found.high is None if outcome[-1] == SUPPRESSED else found.high == max(values)


@pytest.mark.parametrize("base", [(1, 2, 1, 0, 2, 0), (1, 1, 1, 1, 1, 1), (2, 1, 0, 1, 0, 1)])
def test_no_cheaper_set_protects_one_cell(base):
    """All sets of cells, one by one: none of less weight leaves a table with one more and one with one less."""
    true = LAYOUT.published(base)
    hidden = suppressed(LAYOUT, base, (Need(0, 1, min(1, true[0])),))

    def weight(cells):
        return sum(1 + true[cell] for cell in cells if cell)

    for amount in range(6):
        for others in itertools.combinations(range(1, len(true)), amount):
            if weight(others) < weight(hidden):
                shown = tuple(SUPPRESSED if place in (0, *others) else n for place, n in enumerate(true))
                values = {numbers[0] for numbers in consistent(shown)}
                assert not {true[0] - 1, true[0] + 1} <= values, (others, hidden)


@pytest.mark.parametrize(
    ("options", "contributions", "missing"),
    [
        ({"threshold": 3}, (5, 4), 1),
        ({"threshold": 3}, (5, 4, 1), None),
        ({"threshold": 3}, (), None),
        ({"threshold": 3, "protection": 2}, (1,), 2),
        ({"p_percent": 10}, (100, 50, 9), 1),
        ({"p_percent": 10}, (100, 50, 10), None),
        ({"p_percent": 20}, (100, 50, 9), 11),
        ({"p_percent": 10}, (30,), 3),
        ({"dominance": {"contributions": 1, "percent": 80}}, (81, 10, 9), 2),
        ({"dominance": {"contributions": 1, "percent": 80}}, (80, 11, 9), None),
        ({"dominance": {"contributions": 2, "percent": 90}}, (50, 41, 9), 2),
    ],
)
def test_the_rules(options, contributions, missing):
    rule = CellSuppression(tables=[[]], **options)
    cell = Contributions(len(contributions), sum(contributions), contributions[: rule.kept])
    assert rule.missing(cell) == missing


def test_a_table_of_magnitudes():
    """Turnover by row: the first row is one large firm, which the margin and the second row would give away."""
    turnover = Attribute(name="turnover", categories=("3", "4", "90"))
    space = UnorderedRecords(attributes=(ROW, turnover), most=6, unit="firm")
    x = space.dataset([("a", "90"), ("a", "3"), ("b", "4"), ("b", "4"), ("b", "3")])
    mechanism = CellSuppression(tables=[["row"], []], p_percent=10, value="turnover", unit="firm")
    (outcome,) = flat_law(mechanism, x, space).support
    assert outcome == (SUPPRESSED, SUPPRESSED, 104)
    table = Table.from_records(space.records(x, "firm"), (ROW, turnover))
    released = mechanism.release(table, space, SeededRandomness(1))
    assert released.counts(["measure", "row", "value", "status"]) == {
        ("sum of turnover", "a", "", "suppressed"): 1, ("sum of turnover", "b", "", "suppressed"): 1,
        ("sum of turnover", "(all)", "104", "published"): 1,
    }  # fmt: skip
    low, high = [(e.low, e.high) for e in mechanism.audited(outcome, space)]
    assert low == high == (0, 104)


@pytest.mark.parametrize("options", [{"p_percent": 10}, {"dominance": {"contributions": 3, "percent": 95}}, {"threshold": 4}])
def test_a_release_of_sums_is_the_output_of_the_records_one_by_one(options):
    """Several records of one amount in a cell; the output is made from a list of amounts, the release from counts of them."""
    turnover = Attribute(name="turnover", categories=("3", "4", "20"))
    space = UnorderedRecords(attributes=(COLUMN, turnover), unit="firm")
    mechanism = CellSuppression(tables=[["column"], []], value="turnover", unit="firm", **options)
    draw, seen = np.random.default_rng(1), set()
    for size in range(3, 20):
        x = space.dataset([("xyz"[c], turnover.categories[t]) for c, t in draw.integers(0, 3, (size, 2)).tolist()])
        table = Table.from_records(space.records(x, "firm"), (COLUMN, turnover))
        released = mechanism.release(table, space, SeededRandomness(1)).records()
        numbers = tuple(SUPPRESSED if row[-1] == "suppressed" else int(row[-2]) for row in released)
        assert flat_law(mechanism, x, space).support == (numbers,)
        seen.add(SUPPRESSED in numbers)
    assert seen == {False, True}


@pytest.mark.reference("B-T10")
def test_budget_0_where_the_published_tables_are_invariants():
    mechanism = CellSuppression(tables=[["row"], []], threshold=2)
    space = UnorderedRecords(attributes=(ROW, COLUMN), most=3)
    zero, infinite = (verify_claim(mechanism, claim.spec) for claim in mechanism.claims(space))
    assert (zero.outcome, infinite.outcome) == (Outcome.VERIFIED, Outcome.UNDECIDED)  # every mechanism satisfies the second
    assert (zero.constant.upper, infinite.constant.lower.is_infinite) == (number(0), True)


def test_the_rule_itself_can_give_a_suppressed_cell_away():
    """With a threshold of 2 a sensitive cell holds 1: whoever knows the rule needs no margins. The audit does not know it."""
    mechanism = CellSuppression(tables=[["row"], []], threshold=2)
    space = UnorderedRecords(attributes=(ROW,), most=4)
    held = defaultdict(set)
    for x in space.datasets():
        (outcome,) = flat_law(mechanism, x, space).support
        held[outcome].add(space.vector(x)[0])
    assert held[(SUPPRESSED, SUPPRESSED, 2)] == {1}
    assert [(e.low, e.high) for e in mechanism.audited((SUPPRESSED, SUPPRESSED, 2), space)] == [(0, 2), (0, 2)]


def test_a_million_records():
    attributes = Attribute(name="row", count=30), Attribute(name="column", count=10)
    space, source = UnorderedRecords(attributes=attributes), SeededRandomness(4)
    common = source.below(8, 1_000_000) + 2
    rare = source.below(100_000, 1_000_000) == 0
    codes = {"row": source.below(30, 1_000_000), "column": np.where(rare, source.below(2, 1_000_000), common)}
    mechanism = CellSuppression(tables=[["row", "column"], ["row"], ["column"], []], threshold=3)
    table = Table(attributes=attributes, codes=codes)
    released = mechanism.release(table, space, source)
    values = released.attribute("value").categories
    shown = [values[code] for code in released.codes["value"]]
    body = np.bincount(table.key(["row", "column"]), minlength=300).reshape(30, 10)
    true = [*body.ravel().tolist(), *body.sum(axis=1).tolist(), *body.sum(axis=0).tolist(), 1_000_000]
    hidden = {place for place, number in enumerate(shown) if number == ""}
    sensitive = {place for place, n in enumerate(true) if 0 < n < 3}
    assert sensitive
    assert sensitive < hidden
    assert all(shown[place] == str(n) for place, n in enumerate(true) if place not in hidden)
    known = {place: n for place, n in enumerate(true) if place not in hidden}
    assert not any(exposure.is_known for exposure in audit(mechanism.layout(space), known))


def test_bad_input():
    with pytest.raises(ParameterError, match="threshold=-1"):
        CellSuppression(tables=[[]], threshold=-1)
    with pytest.raises(ParameterError, match="no rule"):
        CellSuppression(tables=[[]])
    with pytest.raises(ParameterError, match="contributions"):
        CellSuppression(tables=[[]], dominance={"contributions": 0, "percent": 80})
    with pytest.raises(ParameterError, match="percent"):
        CellSuppression(tables=[[]], dominance={"contributions": 1, "percent": Fraction(0)})
    with pytest.raises(IncompatibleBlocksError, match="no whole number"):
        CellSuppression(tables=[["row"]], threshold=3, value="column").check(LARGE)
    turnover = UnorderedRecords(attributes=(ROW, Attribute(name="turnover", categories=("3", "4"))))
    with pytest.raises(IncompatibleBlocksError, match="no attribute of a table"):
        CellSuppression(tables=[["turnover"]], threshold=3, value="turnover").check(turnover)
