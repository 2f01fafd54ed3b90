"""Pair by pair on small spaces: no mechanism contradicts it, it uses what is granted, and the checker lists for itself."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import pytest
from dpspec_checker.check import check_derivation
from dpspec_divergences import MultDelta

from dpspec.api import compare
from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, number
from dpspec.base.params import Exact, define
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.comparison.compare import Answer
from dpspec.extension import installed
from dpspec.grammar.rule import Conversion
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason.pair_by_pair import PAIR_BY_PAIR, pair_by_pair
from dpspec.reason.search import derive
from dpspec.reason.small_spaces import product
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
    assert "universes of type invariants are not listed here" in checked.steps[0].reason


# --- what is granted and what is asked, by hand ---------------------------------------------------


@define
class OneWay(InputDivergence):
    """A distance of 1, or of `far`, from a dataset to the later ones alone; both ways where it is told to be symmetric."""

    name: ClassVar[str] = "one-way"

    far: Annotated[Number, Exact(0)] = number(1)

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        if left == right:
            return ZERO
        return self.far if left < right else INFINITY  # type: ignore[operator]  # both are tuples


@define
class BothWays(OneWay):
    """The same in both orders."""

    name: ClassVar[str] = "both-ways"
    is_symmetric: ClassVar[bool] = True

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        return ZERO if left == right else self.far


@define
class Forwards(MultDelta):
    """P against Q, and not Q against P."""

    name: ClassVar[str] = "forwards"
    is_symmetric: ClassVar[bool] = False


BIT = BitVectors(length=1)


def test_products_without_an_exact_form_are_rounded_up_where_granted_and_down_where_asked() -> None:
    """ln(2) sqrt(2) is irrational: it lies strictly between the ends of its bracket."""
    rough = spec(BIT, BothWays(far=number("sqrt(2)")), value="ln(2)")
    ends = product(number("ln(2)"), number("sqrt(2)"))
    assert ends.lower < ends.upper
    below, above = (spec(BIT, BothWays(), value=end) for end in (ends.lower, ends.upper))
    assert pair_by_pair(rough, above, RULES) is not None
    assert pair_by_pair(rough, below, RULES) is None
    assert pair_by_pair(below, rough, RULES) is not None
    assert pair_by_pair(above, rough, RULES) is None


def test_a_bound_on_one_order_is_none_on_the_other() -> None:
    both, one = (spec(BIT, d_x, Forwards(delta="1/10"), value=1) for d_x in (BothWays(), OneWay()))
    assert pair_by_pair(both, one.replace(output_divergence=MultDelta(delta="1/10")), RULES) is None  # no formula is known
    assert pair_by_pair(one, both, RULES) is None
    symmetric = [given.replace(output_divergence=MultDelta(delta="1/10")) for given in (one, both)]
    assert pair_by_pair(*symmetric, RULES) is not None


def test_bounds_add_up_along_paths_for_metrics_alone() -> None:
    near, far = d_x("neighbour", "differ-in-one-position"), by_list(far=(A, D))
    for divergence, follows in ((MULT, True), (HALF, False)):
        given, asked = spec(BITS, near, divergence, value=1), spec(BITS, ORDERED, divergence, multiverse=far, value=1)
        assert (pair_by_pair(given, asked, RULES) is not None) is follows
        less = spec(BITS, ORDERED, divergence, multiverse=far, value="999/1000")
        assert pair_by_pair(given, less, RULES) is None


class ToDistance(Conversion):
    """(epsilon, delta) bounds the total variation by e^epsilon - 1 + delta; here at epsilon 0 alone."""

    name: ClassVar[str] = "to-distance"
    source: ClassVar[str] = "mult-delta"
    target: ClassVar[str] = "total-variation"
    formula: ClassVar[str] = "delta"
    citation: ClassVar[str] = "none"

    def convert(self, source: Any, value: Number, target: Any) -> Bracket | None:
        return Bracket.exactly(source.delta) if value == 0 else None


class OfGaussians(ToDistance):
    """A formula that needs to know the mechanism."""

    name: ClassVar[str] = "of-gaussians"
    mechanism: ClassVar[str] = "gaussian"


def test_a_budget_of_nought_needs_no_equal_laws_where_a_delta_is_left() -> None:
    given = spec(BIT, BothWays(), HALF, value=0)
    enough, less = (spec(BIT, BothWays(), d_pr("total-variation"), value=value) for value in ("1/10", "99/1000"))
    assert pair_by_pair(given, enough, [ToDistance()]) is not None
    assert pair_by_pair(given, less, [ToDistance()]) is None
    assert pair_by_pair(given, enough, [OfGaussians()]) is None
    pure = spec(BIT, BothWays(), d_pr("mult-delta", delta=0), value=0)
    assert pair_by_pair(pure, less, [ToDistance()]) is not None
