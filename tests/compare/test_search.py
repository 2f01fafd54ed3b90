"""The search of derivations: the shortest chain, of true steps alone, within its limits; and moves at the least budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from dpspec_divergences import DNor, HammingOrdered, Mult, MultDelta, Neighbour, SymmetricDifference, TotalVariation
from dpspec_divergences.counting import DifferInOnePosition

from dpspec.base.errors import ParameterError, PluginContractError
from dpspec.base.exact import INFINITY, Bracket, Number, number
from dpspec.blocks.budget import BudgetTable, UniformBudget
from dpspec.blocks.multiverse import ExplicitUniverses, Trivial
from dpspec.blocks.vectors import BitVectors
from dpspec.extension import installed
from dpspec.grammar.rule import Conversion, Rule, Step
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason import search as module
from dpspec.reason.search import (
    DEPTH,
    PROPOSED,
    Derivation,
    agreement,
    by_right_names,
    conversion_paths,
    moved,
    rules_of,
    search,
)

LARGE = BitVectors(length=40)
"""A space that is not listed, so that the last arguments find nothing."""


def spec(value: Any = 1, divergence: Any = None, d_x: Any = None, space: Any = LARGE) -> PrivacySpec:
    divergence = divergence or Mult()
    return PrivacySpec(
        space=space, multiverse=Trivial(), input_divergence=d_x or HammingOrdered(), output_divergence=divergence,
        budget=UniformBudget(parameter=divergence.budget_parameters[0], value=value),
    )  # fmt: skip


def step(rule: str, before: PrivacySpec, after: PrivacySpec) -> Step:
    return Step(rule=rule, block="budget", before=before, after=after, reason="because", citation="nobody")


class Grows(Rule):
    """A budget may be 1 more."""

    name: ClassVar[str] = "grows"
    citation: ClassVar[str] = "nobody"
    by: ClassVar[tuple[int, ...]] = (1,)

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        value = premise.budget.uniform()
        assert value is not None
        for more in self.by:
            yield step(self.name, premise, premise.replace(budget=UniformBudget(parameter="epsilon", value=value + number(more))))


class Leaps(Grows):
    """It may be 3 more."""

    name: ClassVar[str] = "leaps"
    by: ClassVar[tuple[int, ...]] = (3, 1, 0)


def test_the_shortest_chain_is_found() -> None:
    found = search(spec(1), spec(8), [Grows(), Leaps()])
    assert found.arrived
    assert len(found.derivation.steps) == 3  # 3 + 3 + 1
    assert found.derivation.conclusion == spec(8)
    alone = search(spec(1), spec(1), [Grows()])
    assert alone.arrived
    assert alone.derivation.steps == ()


def test_depth_and_breadth_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert search(spec(1), spec(1 + DEPTH), [Grows()]).arrived
    assert not search(spec(1), spec(2 + DEPTH), [Grows()]).arrived

    class Endless(Grows):
        def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
            value = premise.budget.uniform()
            assert value is not None
            for more in range(1, 10**9):
                larger = UniformBudget(parameter="epsilon", value=value + number(more))
                yield step(self.name, premise, premise.replace(budget=larger))

    monkeypatch.setattr(module, "DEPTH", 1)
    assert search(spec(1), spec(1 + PROPOSED), [Endless()]).arrived
    assert not search(spec(1), spec(2 + PROPOSED), [Endless()]).arrived


def test_a_rule_that_raises_or_lies_about_its_start_is_a_fault_of_its_author() -> None:
    class Raises(Grows):
        name: ClassVar[str] = "raises"

        def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
            raise RuntimeError("no")

    class Elsewhere(Grows):
        name: ClassVar[str] = "elsewhere"

        def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
            yield step(self.name, spec(1000), goal)

    class InAnothersName(Grows):
        name: ClassVar[str] = "mine"

        def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
            yield step("grows", premise, goal)

    for rule in (Raises(), Elsewhere(), InAnothersName()):
        with pytest.raises(PluginContractError, match=rule.name):
            search(spec(1), spec(2), [rule])


def test_where_the_goal_is_not_reached_the_nearest_specification_is() -> None:
    class Divides(Grows):
        name: ClassVar[str] = "divides"

        def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
            if premise.output_divergence != goal.output_divergence:
                after = goal.replace(space=premise.space, budget=UniformBudget(parameter="distance", value="1/2"))
                yield step(self.name, premise, after)

    goal = spec("1/10", TotalVariation())
    found = search(spec(1), goal, [Divides()])
    assert not found.arrived
    assert found.derivation.conclusion == spec("1/2", TotalVariation())
    assert agreement(spec(1), goal) < agreement(found.derivation.conclusion, goal) == 4 < agreement(goal, goal) == 5


def test_a_budget_agrees_only_beside_equal_divergences() -> None:
    assert agreement(spec(1, MultDelta(delta="1/10")), spec(1, MultDelta(delta="1/5"))) == 3
    assert agreement(spec(1, d_x=SymmetricDifference()), spec(1)) == 3


def test_derivations_are_chains() -> None:
    one, two, three = spec(1), spec(2), spec(3)
    first, second = step("grows", one, two), step("grows", two, three)
    whole = Derivation(premise=one, steps=(first,)).then(Derivation(premise=two, steps=(second,)))
    assert (whole.conclusion, len(whole.steps)) == (three, 2)
    for steps in ((second,), (second, first), (first, first)):
        with pytest.raises(ParameterError):
            Derivation(premise=one, steps=steps)
    data = whole.data(installed().registry)
    assert [row["before"] for row in data["steps"]] == [data["premise"], data["steps"][0]["after"]]
    assert data["steps"][-1]["after"] == data["conclusion"]
    assert 'epsilon = "3"' in data["conclusion"] or "epsilon = 3" in data["conclusion"]
    empty = Derivation(premise=one, steps=()).data(installed().registry)
    assert empty["conclusion"] == empty["premise"]


class Halves(Conversion):
    """Pure privacy to total variation: half of it."""

    name: ClassVar[str] = "halves"
    source: ClassVar[str] = "mult"
    target: ClassVar[str] = "total-variation"
    formula: ClassVar[str] = "epsilon"
    citation: ClassVar[str] = "nobody"
    share: ClassVar[str] = "1"

    def convert(self, source: Any, value: Number, target: Any) -> Bracket | None:
        return Bracket.exactly(value * number(self.share))


class Better(Halves):
    """It is less."""

    name: ClassVar[str] = "better"
    share: ClassVar[str] = "3/4"


NEAR = Neighbour(relation=DifferInOnePosition())


def test_a_block_is_moved_at_the_least_budget() -> None:
    goal = spec("1/2", TotalVariation(), NEAR)
    for rules in ([Halves(), Better()], [Better(), Halves()]):
        steps = moved(spec(1, d_x=NEAR), "output_divergence", goal, rules)
        assert steps is not None
        assert steps[-1].after.budget.uniform() == number("3/4")
    assert moved(goal, "output_divergence", goal, []) == ()
    assert moved(spec(1, d_x=NEAR), "output_divergence", goal, []) is None
    assert moved(spec(1), "output_divergence", goal, [Halves()]) is None  # at larger distances it says nothing


def test_an_infinite_or_varying_budget_is_not_converted() -> None:
    target, rules = TotalVariation(), [Halves()]
    assert [float(path.value.upper) for path in conversion_paths(spec(1), target, rules)] == [1.0]
    assert conversion_paths(spec(INFINITY), target, rules) == ()
    bits = BitVectors(length=1)
    universes = ExplicitUniverses(universes_by_label=(("a", ((0,),)), ("b", ((1,),))))
    table = BudgetTable(parameter="epsilon", values=(("a", number(1)), ("b", number(2))))
    assert conversion_paths(spec(space=bits).replace(multiverse=universes, budget=table), target, rules) == ()
    assert conversion_paths(spec("1/2", DNor()), Mult(), rules_of(installed().registry)) == ()  # no epsilon without a delta


class Taken(Mult):
    """A divergence of another meaning that bears a registered name."""

    name: ClassVar[str] = "total-variation"


def test_conversions_know_divergences_by_their_own_names_alone() -> None:
    rules: list[Rule] = [Halves(), Grows()]
    assert by_right_names(rules, spec(1), spec("1/2", TotalVariation())) == rules
    assert [rule.name for rule in by_right_names(rules, spec(1), spec(1, Taken()))] == ["grows"]
