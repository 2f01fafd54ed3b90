"""Pair by pair on small spaces: no mechanism contradicts it, it uses what is granted, and the checker lists for itself."""

from __future__ import annotations

from typing import Any

import pytest
from dpspec_checker.check import check_derivation

from dpspec.api import compare
from dpspec.base.exact import number
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.vectors import BitVectors
from dpspec.comparison.compare import Answer
from dpspec.extension import installed
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason.pair_by_pair import PAIR_BY_PAIR, pair_by_pair
from dpspec.reason.search import derive
from tests.compare.hunting import contradicted
from tests.compare.test_rules import (
    BITS,
    HALF,
    MULT,
    ORDERED,
    RULES,
    SYMMETRIC,
    TOTAL,
    TRADE_OFF,
    TWO,
    A,
    B,
    C,
    D,
    budget,
    by_list,
    d_pr,
    d_x,
    satisfied,
    spec,
)
from tests.verify.toys import block

REGISTRY = installed().registry
WEIGHTS = d_x("personal-weights", weights=("1", "2"))
NEIGHBOURS = d_x("neighbour", "differ-in-one-position")
ONE_POSITION = block("multiverses", "one-position")
CHAIN, ENDS = by_list(ab=(A, B), bd=(B, D), ac=(A, C)), by_list(ad=(A, D))
KL = d_pr("f-divergence", generator="kl", direction="both")

CASES = [
    (spec(BITS, ORDERED, multiverse=ONE_POSITION), spec(BITS, WEIGHTS)),
    (spec(BITS, NEIGHBOURS), spec(BITS, WEIGHTS, multiverse=TOTAL)),
    (spec(BITS, ORDERED, multiverse=CHAIN), spec(BITS, ORDERED, multiverse=ENDS)),
    (spec(BITS, ORDERED, HALF), spec(BITS, ORDERED, d_pr("hockey-stick", epsilon="ln(2)"))),
    (spec(BITS, ORDERED), spec(BITS, ORDERED, KL)),
    (spec(BITS, ORDERED, TRADE_OFF), spec(BITS, ORDERED, d_pr("mult-delta", delta="3/10"))),
    (spec(BITS, ORDERED, d_pr("d-nor")), spec(BITS, ORDERED, d_pr("renyi", order=2))),
    (spec(TWO, SYMMETRIC, d_pr("renyi", order=2)), spec(TWO, SYMMETRIC, HALF)),
]  # fmt: skip
SIZES = ["1/20", "1/8", "1/4", "1/2", "3/4", 1, "5/4", "3/2", 2, 3, 4, 6, 8, 12, 20, 50]


def least(given: PrivacySpec, goal: PrivacySpec) -> Any:
    """The step to the goal with the least of some budgets for which it is found."""
    goals = (goal.replace(budget=budget(goal.output_divergence, size)) for size in SIZES)
    return next((step for wanted in goals if (step := pair_by_pair(given, wanted, RULES)) is not None), None)


@pytest.mark.spread(5)
@pytest.mark.parametrize("place", range(len(CASES)))
def test_no_mechanism_contradicts_what_is_seen_pair_by_pair(place: int, request: pytest.FixtureRequest) -> None:
    premise, goal = CASES[place]
    count = 200 if request.config.getoption("--profile") == "long" else 10
    seen = 0
    for mechanism, given in satisfied(premise, count, place):
        step = least(given, goal)
        if step is not None:
            seen += 1
            assert not list(contradicted(mechanism, (step,))), step.after.budget
    assert seen


def stated(goal: PrivacySpec, value: Any) -> PrivacySpec:
    return goal.replace(budget=budget(goal.output_divergence, value))


@pytest.mark.parametrize(
    ("premise", "goal", "value", "tight"),
    [
        (stated(CASES[0][0], "ln(2)"), CASES[0][1], "ln(2)", True),
        (stated(CASES[1][0], "ln(2)"), CASES[1][1], "2/3 ln(2)", True),  # two steps of ln 2 at distance 3
        (stated(CASES[2][0], "ln(2)"), CASES[2][1], "ln(2)", True),  # two steps of ln 2 at distance 2
        (stated(CASES[4][0], "ln(3)"), CASES[4][1], "4/5 ln(3)", False),  # (4/5) ln 9 at distance 2
    ],
)
def test_it_reaches_what_paths_grant_and_no_less(premise: PrivacySpec, goal: PrivacySpec, value: str, tight: bool) -> None:
    wanted = stated(goal, value)
    assert pair_by_pair(premise, wanted, RULES) is not None
    less = stated(goal, number(value) * number("99/100"))
    assert pair_by_pair(premise, less, RULES) is None
    assert compare(premise, wanted).forward.answer is Answer.IMPLIES
    if tight:
        assert compare(premise, less).forward.answer is not Answer.IMPLIES


@pytest.mark.parametrize(
    ("premise", "goal"),
    [
        (spec(BitVectors(length=5), NEIGHBOURS, value=1), spec(BitVectors(length=5), ORDERED, value=9)),  # too many datasets
        (spec(BITS, ORDERED, multiverse=ENDS, value=1), spec(BITS, ORDERED, value=9)),  # nothing is granted elsewhere
        (spec(BITS, NEIGHBOURS, HALF, value=1), spec(BITS, ORDERED, HALF, value=9)),  # no triangle inequality
        (spec(BITS, ORDERED, KL, value=1), spec(BITS, ORDERED, MULT, value=9)),  # no formula
    ],
)
def test_what_is_not_seen_is_not_said(premise: PrivacySpec, goal: PrivacySpec) -> None:
    assert pair_by_pair(premise, goal, RULES) is None


def test_rules_come_first() -> None:
    """What follows from the form of the blocks is said so, on small spaces too."""
    found = derive(spec(BITS, ORDERED, value=1), spec(BITS, ORDERED, d_pr("total-variation"), value=1))
    assert found is not None
    assert PAIR_BY_PAIR not in {step.rule for step in found.steps}


def written(premise: PrivacySpec, goal: PrivacySpec) -> dict[str, Any]:
    found = derive(premise, goal)
    assert found is not None
    assert [step.rule for step in found.steps] == [PAIR_BY_PAIR]
    return found.data(REGISTRY)


def test_the_checker_counts_the_pairs_and_follows_the_conversion_that_is_named() -> None:
    data = written(stated(CASES[4][0], "ln(3)"), stated(CASES[4][1], "1"))
    (step,) = data["steps"]
    assert step["parameters"] == {"pairs": 6, "conversion": "pure-to-f-divergence"}
    assert check_derivation(data).accepted
    for parameters in (
        {},
        {"pairs": 5, "conversion": "pure-to-f-divergence"},
        {"pairs": 6},
        {"pairs": 6, "conversion": "pure-to-renyi"},
    ):
        assert not check_derivation({**data, "steps": [{**step, "parameters": parameters}]}).accepted, parameters


def test_spaces_that_the_checker_does_not_list_are_not_accepted() -> None:
    one = LevelSets(invariants=())
    renyi, half = (spec(TWO, SYMMETRIC, outputs, multiverse=one) for outputs in (d_pr("renyi", order=2), HALF))
    checked = check_derivation(written(stated(renyi, 1), stated(half, 20)))
    assert not checked.accepted
    assert "the datasets of records are not listed here" in checked.steps[0].reason
