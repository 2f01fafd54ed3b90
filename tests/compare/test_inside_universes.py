"""What holds of two different datasets of one universe, against the list of all of them on small spaces.

Two statements are attacked: the number that a swapping budget is at least wherever a universe holds two different datasets, and
the least distance at which they lie. The oracle lists all datasets and computes every budget and every distance.
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest
from dpspec_census.swap_budget import StratumRate, SwappingBudget
from dpspec_checker.check import check_derivation
from dpspec_divergences import HammingOrdered, SymmetricDifference
from dpspec_flavours.networks.graphs import Graphs, NodeDistance
from dpspec_flavours.networks.points import Metric, MetricPoints
from dpspec_flavours.streams.elements import WeightDistance, WeightedRecords

from dpspec.api import compare
from dpspec.base.exact import number
from dpspec.base.params import define
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import LevelSets, Multiverse, Trivial
from dpspec.blocks.records import ContingencyTables, Households, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.comparison.compare import Answer
from dpspec.extension import installed
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import FiniteLaw
from dpspec.reason.search import derive
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome
from tests.compare.test_rules import HAMMING, MULT, SYMMETRIC, d_pr, d_x, spec
from tests.verify.toys import Toy

ATTRIBUTES = tuple(Attribute(name=name, count=2) for name in "abc")
SPACES: tuple[tuple[Any, str], ...] = (
    (UnorderedRecords(attributes=ATTRIBUTES[:2], most=4), "person"),
    (UnorderedRecords(attributes=ATTRIBUTES, least=2, most=3), "person"),
    (ContingencyTables(attributes=ATTRIBUTES[:2], most=3), "person"),
    (Households(household=ATTRIBUTES[:2], person=(Attribute(name="sex", count=2),), most=2, members=1), "household"),
)
PERSONS = UnorderedRecords(attributes=ATTRIBUTES[:2], most=4)
SWAPPED = LevelSets(invariants=(Marginal(attributes=("a",)), Marginal(attributes=("b",))))


def _invariants(space: Any, unit: str, generator: random.Random) -> Multiverse:
    names = [attribute.name for attribute in space.attributes_of(unit)]
    tables = [c for size in range(len(names) + 1) for c in itertools.combinations(names, size)]
    held = generator.sample(tables, generator.choice((0, 1, 2, 2, 3)))
    return LevelSets(invariants=tuple(Marginal(attributes=held_, unit=unit) for held_ in held)) if held else Trivial()


@pytest.mark.parametrize("seed", range(60))
def test_a_swapping_budget_is_at_least_what_is_said(seed: int) -> None:
    generator = random.Random(seed)
    space, unit = SPACES[seed % len(SPACES)]
    multiverse = _invariants(space, unit, generator)
    names = [attribute.name for attribute in space.attributes_of(unit) if attribute.name != "members"]
    match = tuple(generator.sample(names, generator.choice((0, 0, 1))))
    rates = (StratumRate(stratum=("0",), swap_rate="9/10"),) if match and generator.random() < 0.3 else ()
    form = generator.choice(("s23-full", "s24"))
    budget = SwappingBudget(match=match, swap_rate=generator.choice(("1/10", "1/2", "4/5")), rates=rates, form=form, unit=unit)
    said = budget.least_between(multiverse, space)
    several = [budget.at(universe, space) for universe in multiverse.universes(space) if len(universe) > 1]
    if said is not None:
        assert several == [] or said[0] <= min(several)


@pytest.mark.parametrize("seed", range(60))
def test_datasets_of_one_universe_are_as_far_apart_as_is_said(seed: int) -> None:
    generator = random.Random(seed)
    space, unit = SPACES[seed % len(SPACES)]
    multiverse = _invariants(space, unit, generator)
    for inputs in (d_x("hamming", unit=unit), d_x("symmetric-difference", unit=unit)):
        said = inputs.apart_inside(multiverse, space)
        pairs = (pair for u in multiverse.universes(space) for pair in itertools.combinations(u.datasets, 2))
        assert all(d == 0 or d >= said for d in (inputs.distance(*pair, space) for pair in pairs))


def test_both_are_said_of_a_swap() -> None:
    budget = SwappingBudget(match=(), swap_rate="1/10", unit="person")
    assert [str((budget.least_between(SWAPPED, PERSONS) or "?")[0])] == ["ln(27)"]
    assert (HAMMING.apart_inside(SWAPPED, PERSONS), SYMMETRIC.apart_inside(SWAPPED, PERSONS)) == (2, 4)


@pytest.mark.parametrize(
    ("multiverse", "match"),
    [
        (Trivial(), ()),
        (LevelSets(invariants=(Marginal(attributes=("a",)),)), ()),  # nothing is fixed about b: one record of two, and b = 0
        (SWAPPED, ("a",)),  # strata are those of a; the table of a x b is not fixed, and each of two strata has one record
        (LevelSets(invariants=(Marginal(attributes=("a", "b"), where={"a": ["0"]}), Marginal(attributes=("a",)))), ()),
    ],
    ids=["whole space", "one attribute", "other strata", "half a table"],
)
def test_without_the_tables_nothing_is_said_and_it_would_be_false(multiverse: Multiverse, match: tuple[str, ...]) -> None:
    budget = SwappingBudget(match=match, swap_rate="1/10", unit="person")
    assert budget.least_between(multiverse, PERSONS) is None
    spaces = [UnorderedRecords(attributes=ATTRIBUTES[:2], most=most) for most in (1, 2)]
    several = [budget.at(u, space) for space in spaces for u in multiverse.universes(space) if len(u) > 1]
    assert min(several) == number(0)


def test_a_budget_that_a_plugin_changes_says_nothing() -> None:
    @define
    class Halved(SwappingBudget):
        """The same by half, without a word on what it is at least."""

        name = "halved-swapping"

        def at(self, universe: Any, space: Any) -> Any:
            return super().at(universe, space) * Fraction(1, 2)

    assert Halved(match=(), swap_rate="1/10", unit="person").least_between(SWAPPED, PERSONS) is None


def test_a_distance_that_a_plugin_changes_says_nothing() -> None:
    @define
    class Lighter(type(HAMMING)):  # type: ignore[misc]
        """Half as far."""

        name = "lighter"

        def distance(self, left: Any, right: Any, space: Any) -> Any:
            return super().distance(left, right, space) * Fraction(1, 2)

    assert Lighter().apart_inside(SWAPPED, PERSONS) == 1


# --- what follows from them -----------------------------------------------------------------------


def _noisy(value: str = "2*ln(5/3)") -> Any:
    return spec(PERSONS, HAMMING, value=value)


def _survey(**changes: Any) -> Any:
    budget = SwappingBudget(**{"match": (), "swap_rate": "1/10", "unit": "person", **changes})
    return spec(PERSONS, HAMMING, multiverse=SWAPPED).replace(budget=budget)


def test_noise_implies_a_swap_with_a_larger_budget() -> None:
    found = compare(_noisy("ln(27)"), _survey())
    assert found.forward.answer is Answer.IMPLIES
    assert found.forward.derivation is not None
    checked = check_derivation(found.forward.derivation.data(installed().registry))
    assert checked.accepted
    assert [step.status for step in checked.steps] == ["accepted", "accepted"]
    assert compare(_noisy("ln(28)"), _survey()).forward.answer is not Answer.IMPLIES


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('attributes = ["b"]', "attributes = []"),
        ('swap_rate = "0.1"', 'swap_rate = "0.2"'),
        ('unit = "person"\n', 'unit = "household"\n'),
    ],
)
def test_the_checker_sees_a_missing_table_and_a_smaller_number(old: str, new: str) -> None:
    found = compare(_noisy("ln(27)"), _survey()).forward.derivation
    assert found is not None
    data = found.data(installed().registry)
    last = data["steps"][-1]
    for row, key in ((last, "after"), (data, "conclusion")):
        changed = row[key].replace(old, new)
        assert changed != row[key], row[key]
        row[key] = changed
    if "attributes" in old:
        last["before"] = data["steps"][0]["after"] = _without(data["steps"][0]["after"])
    assert not check_derivation(data).accepted


def _without(text: str) -> str:
    return text.replace('attributes = ["b"]', "attributes = []")


def test_pure_privacy_of_datasets_two_apart_is_half_the_concentrated_one() -> None:
    """(epsilon/2) tanh(epsilon), attained by randomised response to "which of the two tables is it?"."""
    small = UnorderedRecords(attributes=ATTRIBUTES[:2], least=2, most=2)
    premise = spec(small, HAMMING, multiverse=SWAPPED, value="ln(3)")
    x = small.dataset([["0", "0"], ["1", "1"]])
    coin = Toy(lambda y: FiniteLaw.bernoulli(Fraction(9, 10) if y == x else Fraction(1, 10)))
    assert verify(coin, premise).outcome is Outcome.VERIFIED  # odds of 9 at distance 2
    rho = number("ln(3)") * Fraction(1, 2) * Fraction(4, 5)  # tanh(ln 3) = 4/5
    goal = spec(small, HAMMING, d_pr("d-nor"), multiverse=SWAPPED).replace(
        budget=spec(small, HAMMING, d_pr("d-nor"), value=rho).budget
    )
    assert verify(coin, goal).outcome is Outcome.VERIFIED
    below = goal.replace(budget=spec(small, HAMMING, d_pr("d-nor"), value=rho * Fraction(999, 1000)).budget)
    assert verify(coin, below).outcome is Outcome.REFUTED
    above = goal.replace(budget=spec(small, HAMMING, d_pr("d-nor"), value=rho * Fraction(1001, 1000)).budget)
    derivation = derive(premise, above)
    assert derivation is not None
    assert derivation.steps[0].parameters == {"apart": 2}
    assert check_derivation(derivation.data(installed().registry)).accepted
    assert derive(premise, below) is None


@pytest.mark.parametrize(("apart", "accepted"), [(1, False), (2, True), (3, False), (True, False), ("2", False)])
def test_the_checker_recomputes_how_far_apart_they_are(apart: Any, accepted: bool) -> None:
    premise = spec(PERSONS, HAMMING, multiverse=SWAPPED, value="ln(3)")
    goal = spec(PERSONS, HAMMING, d_pr("d-nor"), multiverse=SWAPPED, value="45/100")
    derivation = derive(premise, goal)
    assert derivation is not None
    data = derivation.data(installed().registry)
    data["steps"][0]["parameters"] = {"apart": apart}
    assert check_derivation(data).accepted is accepted


def test_the_checker_does_not_see_two_apart_where_they_are_not() -> None:
    premise = spec(PERSONS, HAMMING, multiverse=SWAPPED, value="ln(3)")
    derivation = derive(premise, spec(PERSONS, HAMMING, d_pr("d-nor"), multiverse=SWAPPED, value="45/100"))
    assert derivation is not None
    data = derivation.data(installed().registry)
    ends = [(data, "premise"), (data, "conclusion"), *((step, key) for step in data["steps"] for key in ("before", "after"))]
    for row, key in ends:
        row[key] = _without(row[key])
    assert not check_derivation(data).accepted


def test_other_standards_from_pure_privacy_two_apart() -> None:
    """Total variation at distance 2: tanh(epsilon)/2 for each unit."""
    premise = spec(PERSONS, HAMMING, multiverse=SWAPPED, value="ln(3)")
    assert derive(premise, spec(PERSONS, HAMMING, d_pr("total-variation"), multiverse=SWAPPED, value="2/5")) is not None
    assert derive(premise, spec(PERSONS, HAMMING, d_pr("total-variation"), multiverse=SWAPPED, value="39/100")) is None
    assert premise.output_divergence == MULT


# --- distances of another kind of space -----------------------------------------------------------------

GRAPHS, POINTS = Graphs(nodes=("a", "b", "c")), MetricPoints(grid=[2, 2])
KINDS: dict[str, tuple[Any, Any, Any, Marginal]] = {
    "graphs": (GRAPHS, NodeDistance(), SymmetricDifference(unit="edge"), Marginal(attributes=(), unit="edge")),
    "points": (
        POINTS, Metric(norm="manhattan"), HammingOrdered(unit="location"), Marginal(attributes=(), unit="location"),
    ),
    "weights": (
        WeightedRecords(values=("e", "f"), weights=("1/2", 1)), WeightDistance(), SymmetricDifference(unit="record"),
        Marginal(attributes=(), unit="record"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_distances_of_another_kind_of_space_are_compared_inside_universes(kind: str) -> None:
    """They are about graphs, points or weights, and were asked about a universe of these: `compare` ended with an error."""
    space, own, other, published = KINDS[kind]
    promises = [
        PrivacySpec(
            space=space, multiverse=LevelSets(invariants=(published,)), input_divergence=distance, output_divergence=MULT,
            budget=UniformBudget(parameter="epsilon", value=4),
        )
        for distance in (own, other)
    ]  # fmt: skip
    found = compare(*promises)
    pairs = [
        pair for universe in promises[0].multiverse.universes(space) for pair in itertools.combinations(universe.datasets, 2)
    ]
    for answer, before, after in ((found.forward, own, other), (found.backward, other, own)):
        is_implied = all(before.distance(*pair, space) <= after.distance(*pair, space) for pair in pairs)
        assert answer.answer is (Answer.IMPLIES if is_implied else Answer.SEPARATED)
