"""Rules of disclosure control: each step against the mechanism of the same name, comparison against plain brute force."""

from __future__ import annotations

import itertools

import pytest
from dpspec_census.disclosure import (
    CellKey,
    CellSuppression,
    ConventionalRounding,
    Dominance,
    PerturbationRow,
    RandomRounding,
)
from dpspec_census.disclosure.suppression import Contributions
from dpspec_disclosure.rule_steps import (
    CellContents,
    DominanceStep,
    PerturbationStep,
    PPercentStep,
    RandomRoundingStep,
    RedactionStep,
    RoundingStep,
    RuleStep,
    ThresholdStep,
    read_perturbations,
)
from dpspec_disclosure.rules import RuleFile, compare_rules, partitions

from dpspec.base.errors import DpspecError


def chain(*steps: RuleStep, kind: str = "counts") -> RuleFile:
    return RuleFile(path="", id="chain", title="chain", kind=kind, steps=steps)


def perturbation(*changes: set[int], cycle: int = 1) -> PerturbationStep:
    step = PerturbationStep(file="keys.csv", cycle=cycle)
    object.__setattr__(step, "changes", ({0}, *changes))
    return step


def contents(xs: tuple[int, ...]) -> CellContents:
    return CellContents(len(xs), sum(xs), xs)


CELLS = [xs for total in range(13) for xs in partitions(total, total)]


# --- each step is what the mechanism of the house does -------------------------------------------


@pytest.mark.parametrize(
    ("step", "mechanism"),
    [
        (ThresholdStep(least=3), CellSuppression(tables=[[]], threshold=3)),
        (
            DominanceStep(contributions=1, percent=75),
            CellSuppression(tables=[[]], dominance=Dominance(contributions=1, percent=75)),
        ),
        (
            DominanceStep(contributions=2, percent="80.5"),
            CellSuppression(tables=[[]], dominance=Dominance(contributions=2, percent="80.5")),
        ),
        (PPercentStep(percent=20), CellSuppression(tables=[[]], p_percent=20)),
        (PPercentStep(percent=150), CellSuppression(tables=[[]], p_percent=150)),
    ],
)
def test_primary_rules_are_those_of_cell_suppression(step, mechanism):
    seen = set()
    for xs in CELLS:
        cell = contents(xs)
        sensitive = mechanism.missing(Contributions(cell.count, cell.total, xs[: mechanism.kept])) is not None
        assert step.outcomes(cell, cell.total) == {None if sensitive else cell.total}, xs
        seen.add(sensitive)
    assert seen == {True, False}


@pytest.mark.parametrize("base", [1, 2, 3, 5, 10])
@pytest.mark.parametrize(("least", "up_to"), [(0, 5), (1, 7), (0, 0)])
def test_redaction_and_rounding_are_conventional_rounding(base, least, up_to):
    mechanism = ConventionalRounding(tables=[[]], base=base, redact_up_to=up_to, redact_from=least)
    rules = chain(RedactionStep(up_to=up_to, least=least), RoundingStep(base=base))
    for count in range(60):
        shown = mechanism.shown(count)
        assert rules.outcomes(CellContents.of_count(count, 0)) == {None if shown == "x" else shown}


@pytest.mark.parametrize("base", [1, 3, 4])
def test_random_rounding_has_the_support_of_its_law(base):
    mechanism = RandomRounding(tables=[[]], base=base)
    for count in range(20):
        assert RandomRoundingStep(base=base).outcomes(contents(()), count) == set(mechanism._rounded(count).support)


def test_cell_keys_have_the_numbers_of_the_mechanism(tmp_path):
    rows = [
        PerturbationRow(count=1, changes={"-1": "2/3", "2": "1/3"}),
        PerturbationRow(count=2, changes={"-1": "1/3", "0": "1/3", "1": "1/3"}),
    ]
    by_key = tmp_path / "keys.csv"
    lines = [f"{row.count},{key},{row.change(key, 3)}" for row in rows for key in range(3)]
    by_key.write_text("pcv,ckey,pvalue\n" + "\n".join(lines) + "\n")
    by_chance = tmp_path / "chances.csv"
    lines = [f"{row.count},{d},{float(p):.3f}" for row in rows for d, p in row.law()] + ["2,5,0"]
    by_chance.write_text("i,v,p\n" + "\n".join(lines) + "\n")
    assert read_perturbations(by_key) == read_perturbations(by_chance) == ({0}, {-1, 2}, {-1, 0, 1})
    mechanism = CellKey(tables=[[]], rows=rows, keys=3)
    step = PerturbationStep(file="keys.csv").beside(tmp_path)
    for count in range(6):
        assert step.outcomes(contents(()), count) == {mechanism.numbers([count], [key])[0] for key in range(3)}


def test_rows_beyond_the_table_repeat():
    """As published tables of 750 rows do: 751 takes the row of 501."""
    step = perturbation({0}, {1}, {-1}, {2}, cycle=2)
    assert [next(iter(step.outcomes(contents(()), n))) - n for n in range(1, 10)] == [0, 1, -1, 2, -1, 2, -1, 2, -1]


def test_midpoint_rounding():
    """The middle of the six values that go up to the same multiple, 0 for 0."""
    assert [next(iter(RoundingStep(base=6, to="midpoint").outcomes(contents(()), n))) for n in (0, 1, 6, 7, 12, 13)] == [
        0,
        3,
        3,
        9,
        9,
        15,
    ]


# --- comparison -----------------------------------------------------------------------------------


COUNT_CHAINS = [
    (RoundingStep(base=3),),
    (RoundingStep(base=2), RoundingStep(base=3)),
    (RoundingStep(base=3, to="midpoint"),),
    (RandomRoundingStep(base=3),),
    (ThresholdStep(least=4),),
    (ThresholdStep(least=2), RandomRoundingStep(base=2)),
    (RandomRoundingStep(base=3), RedactionStep(up_to=3)),
    (RedactionStep(up_to=5), RoundingStep(base=5)),
    (RedactionStep(up_to=7), RoundingStep(base=5)),
    (DominanceStep(contributions=1, percent=30), RoundingStep(base=2, to="down")),
    (PPercentStep(percent=120),),
    (perturbation({-1, 2}, {-1, 0, 1}),),
    (perturbation({0}, {1}, {-1}, {2}, cycle=2), RoundingStep(base=2, to="up")),
]


def test_what_tells_more_of_a_count_tells_more_of_a_table():
    """A table of two cells with its total, each rounded or redacted by itself: the same answer as from single counts."""
    redacted = [(RedactionStep(up_to=n), RoundingStep(base=3)) for n in (2, 4)]
    rounded = {base: (RoundingStep(base=base),) for base in (2, 3, 4)}
    for first, second in (redacted, (rounded[4], rounded[2]), (rounded[3], rounded[2])):
        one, two = chain(*first), chain(*second)
        tables = list(itertools.product(range(14), repeat=2))

        def published(rules, table):
            return set(itertools.product(*(rules.outcomes(CellContents.of_count(n, 0)) for n in (*table, sum(table)))))

        def agreeing(rules):
            held = {}
            for table in tables:
                for y in published(rules, table):
                    held.setdefault(y, set()).add(table)
            return held

        a, b = agreeing(one), agreeing(two)
        inside = [table for table in tables if sum(table) <= 6]
        first_tells = any(not any(b[z] <= a[y] for z in published(two, t)) for t in inside for y in published(one, t))
        second_tells = any(not any(a[z] <= b[y] for z in published(one, t)) for t in inside for y in published(two, t))
        found = compare_rules(one, two)
        assert (found.by_first is not None, found.by_second is not None) == (first_tells, second_tells)


@pytest.mark.parametrize("steps", COUNT_CHAINS)
def test_what_is_shown_of_a_published_number_is_all_that_it_can_stand_for(steps):
    rules = chain(*steps)
    for value, known in rules.first_inferred():
        assert set(known) == {n for n in range(200) if value in rules.outcomes(CellContents.of_count(n, 4))}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "pcv, ckey, pvalue"),
        ("a,b\n1,2\n", "pcv, ckey, pvalue"),
        ("pcv,ckey,pvalue,pcv\n1,0,0,1\n", "each once"),
        ("pcv,ckey,pvalue\n", "a row for each of the counts"),
        ("pcv,ckey,pvalue\n1,0\n", "2 fields instead of 3"),
        ("pcv,ckey,pvalue\n1,0,x\n", "whole number"),
        ("pcv,ckey,pvalue\n1,0,0\n1,0,1\n", "stands twice"),
        ("pcv,ckey,pvalue\n1,0,0\n3,0,0\n", "a row for each of the counts"),
        ("pcv,ckey,pvalue\n1,0,0\n2,1,0\n", "the same cell keys"),
        ("pcv,ckey,pvalue\n1,0,-2\n", "negative"),
        ("i,v,p\n1,0,2\n", "probability"),
        ("i,v,p\n1,0,0.5\n", "sum to 1"),
        ("i,v,p\n1,0,nan\n", "number"),
        ("i,v,p\n1,0,1/0\n", "number"),
    ],
)
def test_faults_of_perturbation_tables(tmp_path, text, words):
    path = tmp_path / "keys.csv"
    path.write_text(text)
    with pytest.raises(DpspecError, match=words) as caught:
        read_perturbations(path)
    assert str(caught.value).startswith(f"{path}:")


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(DpspecError, match="one kind"):
        compare_rules(chain(ThresholdStep(least=3)), chain(ThresholdStep(least=3), kind="magnitudes"))
    with pytest.raises(DpspecError, match="50,000"):
        compare_rules(chain(RoundingStep(base=997)), chain(RoundingStep(base=1000)))
    with pytest.raises(DpspecError, match="36"):
        compare_rules(chain(RoundingStep(base=20), kind="magnitudes"), chain(RoundingStep(base=2), kind="magnitudes"))
