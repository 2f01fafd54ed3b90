"""Conversions: where a formula applies, what it gives at a distance, and that it is tried on laws that use up the budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from dpspec_divergences import DNor, Hamming, Mult, MultDelta, Neighbour, SymmetricDifference, TotalVariation, UserMetric
from dpspec_divergences.counting import AddRemove

from dpspec.base.errors import PluginContractError
from dpspec.base.exact import INFINITY, Bracket, Number, number, sqrt
from dpspec.blocks.budget import BudgetTable, UniformBudget
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import LevelSets, Trivial
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.rule import Conversion, Step, conversion
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import Answers, FiniteLaw

SEX = Attribute(name="sex", categories=("f", "m"))
PEOPLE = UnorderedRecords(attributes=(SEX,), least=3, most=3)
NEAR, FAR = Neighbour(relation=AddRemove()), SymmetricDifference()


def spec(divergence: Any, value: Any = 1, d_x: Any = NEAR, multiverse: Any = None) -> PrivacySpec:
    return PrivacySpec(
        space=PEOPLE, multiverse=multiverse or Trivial(), input_divergence=d_x, output_divergence=divergence,
        budget=UniformBudget(parameter=divergence.budget_parameters[0], value=value),
    )  # fmt: skip


class ToDistance(Conversion):
    """Pure privacy gives a total variation of at most epsilon."""

    name: ClassVar[str] = "to-distance"
    source: ClassVar[str] = "mult"
    target: ClassVar[str] = "total-variation"
    formula: ClassVar[str] = "epsilon"
    citation: ClassVar[str] = "nobody"

    def convert(self, source: Any, value: Number, target: Any) -> Bracket | None:
        return Bracket.exactly(value)


class Slow(ToDistance):
    """The same, which grows in proportion."""

    slows: ClassVar[bool] = True


class Sharp(ToDistance):
    """Less than the truth: total variation of randomised response is (e^eps - 1)/(e^eps + 1)."""

    def convert(self, source: Any, value: Number, target: Any) -> Bracket | None:
        return Bracket.exactly(value / 4)


class Squared(Conversion):
    """epsilon^2 / 2 for rho, as it grows faster than the distance; stated as if it did not."""

    name: ClassVar[str] = "squared"
    source: ClassVar[str] = "mult"
    target: ClassVar[str] = "d-nor"
    formula: ClassVar[str] = "epsilon^2/2"
    citation: ClassVar[str] = "nobody"
    slows: ClassVar[bool] = True

    def convert(self, source: Any, value: Number, target: Any) -> Bracket | None:
        exact = value.as_fraction()
        return Bracket.exactly(exact * exact / 2)


def steps(rule: Conversion, premise: PrivacySpec, goal: PrivacySpec) -> list[Step]:
    return list(rule.propose(premise, goal))


def amount(rule: Conversion, premise: PrivacySpec, goal: PrivacySpec) -> list[str]:
    return [str(step.after.budget.uniform()) for step in steps(rule, premise, goal)]


def test_a_formula_applies_to_neighbours_and_where_it_slows_to_whole_distances() -> None:
    near, far = spec(Mult()), spec(Mult(), d_x=FAR)
    assert amount(ToDistance(), near, spec(TotalVariation())) == ["1"]
    assert amount(ToDistance(), far, spec(TotalVariation(), d_x=FAR)) == []
    assert amount(Slow(), far, spec(TotalVariation(), d_x=FAR)) == ["1"]
    (step,) = steps(Slow(), far, spec(TotalVariation(), d_x=FAR))
    assert (step.rule, step.block, step.parameters) == ("to-distance", "output divergence", {})
    assert step.before == far
    assert step.after.input_divergence == FAR
    assert step.after.budget.parameter == "distance"


def test_distances_that_are_no_whole_numbers_are_not_converted() -> None:
    parts = UserMetric(function=lambda x, y: number("1/2"), label="halves")
    assert not parts.is_integral
    assert amount(Slow(), spec(Mult(), d_x=parts), spec(TotalVariation(), d_x=parts)) == []


class OfDelta(Slow):
    """From approximate privacy, where laws at 0 may differ."""

    source: ClassVar[str] = "mult-delta"
    slows: ClassVar[bool] = True  # stated again for another formula


def test_laws_at_nought_have_to_be_equal_beyond_neighbours() -> None:
    goal = spec(TotalVariation(), d_x=FAR)
    assert amount(OfDelta(), spec(MultDelta(delta="1/10"), d_x=FAR), goal) == []
    assert amount(OfDelta(), spec(MultDelta(delta=0), d_x=FAR), goal) == ["1"]


def test_a_varying_infinite_or_foreign_budget_is_not_converted() -> None:
    goal = spec(TotalVariation())
    table = spec(Mult()).replace(budget=BudgetTable(parameter="epsilon", values=(("X", number(1)),)))
    assert amount(ToDistance(), table, goal) == []
    assert amount(ToDistance(), spec(Mult(), INFINITY), goal) == []
    assert amount(ToDistance(), spec(DNor()), goal) == []
    assert amount(ToDistance(), spec(Mult()), spec(DNor())) == []


class OfGaussians(ToDistance):
    """A formula that needs to know the mechanism."""

    mechanism: ClassVar[str] = "gaussian"


def test_a_formula_about_a_mechanism_takes_no_part_in_derivations() -> None:
    assert steps(OfGaussians(), spec(Mult()), spec(TotalVariation())) == []


def test_a_formula_that_two_laws_contradict_is_a_fault_of_its_author() -> None:
    with pytest.raises(PluginContractError, match="rule sharp"):
        steps(Sharp(), spec(Mult()), spec(TotalVariation()))
    assert Sharp().convert(Mult(), number(1), TotalVariation()) == Bracket.exactly("1/4")

    class OneWay(Mult):
        """Laws are tried in both orders, and only where both are within the budget."""

        name: ClassVar[str] = "mult"
        is_symmetric: ClassVar[bool] = False

        def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
            return pair.max_log_ratio(precision=precision)  # type: ignore[no-any-return]

        def extremal(self, bound: Number) -> Iterator[Any]:
            yield Answers(law=lambda place: FiniteLaw.bernoulli("1/2" if place else "1"), words="")  # ln 2, and infinite

    assert Sharp().converted(OneWay(), number("9/10"), TotalVariation()) == Bracket.exactly("9/40")


def test_at_a_distance_the_number_is_that_of_the_distance_divided_by_it() -> None:
    """Two records exchanged: within invariants, different datasets are at distance 2 or more."""
    sexes = LevelSets(invariants=(Marginal(attributes=()),))
    fixed = Hamming()
    apart = fixed.apart_inside(sexes, PEOPLE)
    assert apart == 1

    class Twice(Hamming):
        name: ClassVar[str] = "twice"
        is_integral: ClassVar[bool] = True

        def apart_inside(self, multiverse: Any, space: Any) -> int:
            return 2

    d_x = Twice()
    (step,) = steps(Squared(), spec(Mult(), 3, d_x), spec(DNor(), d_x=d_x))
    # at distance 2: epsilon 6, rho 18, as a Lipschitz constant sqrt(18), divided by 2, and squared again
    assert step.after.budget.uniform() == number("9/2")
    assert step.parameters == {"apart": 2}
    assert step.after.output_divergence.lipschitz("rho", number("9/2")) == sqrt(18) / 2


def test_a_row_of_a_table_is_a_class_with_its_name() -> None:
    made = conversion(
        "somewhere", "mult-to-tv", "mult", "total-variation", "epsilon", lambda source, value, target: Bracket.exactly(value),
        doc="A row.", citation="nobody", tight=True,
    )  # fmt: skip
    rule = made()
    assert (made.__name__, rule.name) == ("MultToTv", "mult-to-tv")
    assert rule.tight
    assert rule.attained(Mult(), TotalVariation())
    assert rule == made()
    assert amount(rule, spec(Mult(), "1/2"), spec(TotalVariation())) == ["1/2"]
    assert list(rule.targets(Mult(), TotalVariation())) == [TotalVariation()]
    assert list(rule.targets(Mult(), DNor())) == []
