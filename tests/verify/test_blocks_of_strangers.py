"""Blocks of plugins that were never checked: what they say of themselves, and of each other, is tried before it is used.

Each class is right but for one statement. With it comes an answer of `verify`, `compare`, `risk`, `ledger` or `convert` that
would be false if the statement were relied on; the answer has to be an error that names the block.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from dpspec_divergences import Hamming, HammingOrdered, Mult, Renyi, SymmetricDifference
from dpspec_noise import Geometric
from flint import arb

import dpspec as dp
from dpspec.base.errors import PluginContractError
from dpspec.blocks.multiverse import Universe
from dpspec.comparison.composition import Part, compose
from dpspec.comparison.yardstick import found_blocks, yardsticks
from dpspec.extension import Registry, installed, load_plugins
from dpspec.grammar.declarations import check_declared
from dpspec.grammar.mechanism import Symmetry
from dpspec.grammar.rule import Step
from dpspec.plugin import (
    Attribute,
    BitVectors,
    Bracket,
    Budget,
    Conversion,
    DatasetSpace,
    FiniteLaw,
    InputDivergence,
    Invariant,
    LevelSets,
    Marginal,
    Mechanism,
    Multiverse,
    Number,
    OutputDivergence,
    PrivacySpec,
    Rule,
    Trivial,
    UniformBudget,
    UnorderedRecords,
    blocks,
    define,
    hookimpl,
    number,
)
from dpspec.reason.conversions import paths
from dpspec.reason.search import rules_of

ROOT = Path(__file__).parents[2]
BITS = BitVectors(length=2)
MANY_BITS = BitVectors(length=200)
PEOPLE = UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")), Attribute(name="age", count=90)))
BY_SEX = Marginal(attributes=("sex",))
NOISE = Geometric(queries=(BY_SEX,), ratio=Fraction(1, 2))
"""ln 2 per person added or removed."""


def claim(**given: Any) -> PrivacySpec:
    """A claim with one block of a stranger."""
    usual = {
        "space": BITS, "multiverse": Trivial(), "input_divergence": HammingOrdered(), "output_divergence": Mult(),
        "budget": UniformBudget(parameter="epsilon", value=number(1)),
    }  # fmt: skip
    return PrivacySpec(**{**usual, **given})


def about_people(**given: Any) -> PrivacySpec:
    return claim(**{"space": PEOPLE, "input_divergence": SymmetricDifference(), **given})


@define
class Identity(Mechanism):
    """The data as they are."""

    name: ClassVar[str] = "test-identity"

    def law(self, dataset: Any, space: DatasetSpace) -> FiniteLaw:
        return FiniteLaw.point(tuple(dataset))

    def symmetries(self, space: DatasetSpace) -> tuple[Symmetry, ...]:
        return (Symmetry(label="exchange", dataset=lambda x: x[::-1], outcome=lambda x: x[::-1]),)


# --- spaces and multiverses -------------------------------------------------------------------------


@define
class Hiding(BitVectors):
    """Says that it has four datasets, and lists the two that agree in the first bit."""

    name: ClassVar[str] = "test-hiding"

    def datasets(self) -> Iterator[Any]:
        return iter([(0, 0), (0, 1)])

    def cardinality(self) -> int:
        return 4


class OneUniverse(Multiverse):
    """Shared: one universe by its labels."""

    @property
    def invariants(self) -> tuple[Invariant, ...] | None:
        return None

    def labels(self, dataset: Any, space: DatasetSpace) -> tuple[Any, ...]:
        return ("X",)


@define
class Dropping(OneUniverse):
    """Lists two of the datasets of its universe."""

    name: ClassVar[str] = "test-dropping"

    def universes(self, space: DatasetSpace) -> Iterator[Universe]:
        yield Universe(label="X", datasets=((0, 0), (0, 1)))


@define
class Unshared(OneUniverse):
    """Says that no two datasets share their universe."""

    name: ClassVar[str] = "test-unshared"

    def share_universe(self, left: Any, right: Any, space: DatasetSpace) -> bool:
        return False


@define
class Invariable(OneUniverse):
    """Says that invariants induce its one universe."""

    name: ClassVar[str] = "test-invariable"

    @property
    def invariants(self) -> tuple[Invariant, ...]:
        return (Marginal(attributes=("sex",)),)


@define
class RestlessLabels(OneUniverse):
    """Other labels in each call."""

    name: ClassVar[str] = "test-restless-labels"
    _calls: ClassVar[Any] = itertools.count()

    def labels(self, dataset: Any, space: DatasetSpace) -> tuple[Any, ...]:
        return (next(self._calls),)


# --- budgets ----------------------------------------------------------------------------------------


class Tenth(Budget):
    """Shared: epsilon = 1/10 in each universe."""

    parameter: str

    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        return number("1/10")


@define
class TwoFaced(Tenth):
    """Says that it is 5 everywhere."""

    name: ClassVar[str] = "test-two-faced"
    parameter: str = "epsilon"

    def uniform(self) -> Number:
        return number(5)


@define
class AtLeastFive(Tenth):
    """Says that it is at least 5 everywhere."""

    name: ClassVar[str] = "test-at-least-five"
    parameter: str = "epsilon"

    def least(self) -> Number:
        return number(5)


@define
class Bounded(Tenth):
    """Says that at most 1/100 is published."""

    name: ClassVar[str] = "test-bounded"
    parameter: str = "epsilon"

    def bounds(self) -> tuple[Number | None, Number | None]:
        return None, number("1/100")


@define
class Growing(Tenth):
    """One more in each call."""

    name: ClassVar[str] = "test-growing"
    parameter: str = "epsilon"
    _calls: ClassVar[Any] = itertools.count(1)

    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        return number(next(self._calls))


@define
class Inexact(Tenth):
    """A float."""

    name: ClassVar[str] = "test-inexact"
    parameter: str = "epsilon"

    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        return 5.0  # type: ignore[return-value]


@define
class Within(Tenth):
    """Says that it is below every other budget."""

    name: ClassVar[str] = "test-within"
    parameter: str = "epsilon"

    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        return number(9)

    def within(self, other: Budget) -> str:
        return "surely"


# --- input divergences ------------------------------------------------------------------------------


class Tripled(InputDivergence):
    """Shared: three times the number of bits that differ."""

    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Number:
        return number(3 * sum(a != b for a, b in zip(left, right, strict=True)))


@define
class BoundedAbove(Tripled):
    """Says that it is at most a tenth of every other distance."""

    name: ClassVar[str] = "test-bounded-above"

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> blocks.Bound:
        return number("1/10"), "surely"

    def counted_unit(self) -> str:
        return "person"


@define
class Cheap(Tripled):
    """Says that changing one person costs at most 1."""

    name: ClassVar[str] = "test-cheap"

    def counted_unit(self) -> str:
        return "person"

    def unit_price(self, space: DatasetSpace) -> Number:
        return number(1)


@define
class FarApart(Tripled):
    """Says that different datasets of one universe are at least 6 apart."""

    name: ClassVar[str] = "test-far-apart"
    is_integral: ClassVar[bool] = True

    def apart_inside(self, multiverse: Multiverse, space: DatasetSpace) -> int:
        return 6


@define
class Jumping(InputDivergence):
    """Neighbours differ in one bit; says that any two datasets are one step apart."""

    name: ClassVar[str] = "test-jumping"
    is_symmetric: ClassVar[bool] = True
    is_neighbour_form: ClassVar[bool] = True

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Number:
        apart = sum(a != b for a, b in zip(left, right, strict=True))
        return number(apart) if apart < 2 else number("inf")

    def path_form(self) -> InputDivergence:
        return OneStep()


@define
class OneStep(InputDivergence):
    """1 between different datasets."""

    name: ClassVar[str] = "test-one-step"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Number:
        return number(int(left != right))


@define
class BoundedDistance(InputDivergence):
    """The number of bits that differ, at most 1/2 of it counted."""

    name: ClassVar[str] = "test-bounded-distance"
    is_symmetric: ClassVar[bool] = True

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Number:
        return number(sum(a != b for a, b in zip(left, right, strict=True))) / 2


@define
class NeighbourForm(Tripled):
    """Says that all finite distances are 1."""

    name: ClassVar[str] = "test-neighbour-form"
    is_neighbour_form: ClassVar[bool] = True


@define
class LeastFour(Tripled):
    """Says that different datasets are at least 4 apart."""

    name: ClassVar[str] = "test-least-four"

    def least_distance(self, space: DatasetSpace) -> Number:
        return number(4)


@define
class Counting(InputDivergence):
    """Says that counts of persons move no faster than a tenth of the number of bits that differ."""

    name: ClassVar[str] = "test-counting"
    is_symmetric: ClassVar[bool] = True

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Number:
        return number(sum(a != b for a, b in zip(left, right, strict=True))) / 10

    def counted_unit(self) -> str:
        return "person"


@define
class FirstOnly(InputDivergence):
    """The largest change of a number, with steps that leave all numbers but the first as they are."""

    name: ClassVar[str] = "test-first-only"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Number:
        return number(max(abs(a - b) for a, b in zip(left, right, strict=True)))

    def number_steps(self, places: int) -> tuple[tuple[int, ...], ...]:
        return tuple((sign, *(0,) * (places - 1)) for sign in (1, -1))


# --- output divergences -----------------------------------------------------------------------------


class Pure(OutputDivergence):
    """Shared: what pure privacy bounds."""

    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        found: Bracket = Mult().evaluate(pair, precision=precision)
        return found


@define
class Pointwise(OutputDivergence):
    """The largest difference of the probabilities of one outcome, which merging outcomes raises."""

    name: ClassVar[str] = "test-pointwise"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        return Bracket.exactly(number(max(abs(p - q) for p, q in pair.atoms())))


@define
class ByName(OutputDivergence):
    """Reads the outcomes themselves: the difference of a mean of these."""

    name: ClassVar[str] = "test-by-name"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        return Bracket.exactly(number(0))

    def between(self, left: Any, right: Any, *, precision: int = 64) -> Bracket:
        values = {(0, 0): 0, (0, 1): 1, (1, 0): 5, (1, 1): Fraction(3, 2)}
        means = [sum((p * values.get(o, 0) for o, p in law.probabilities()), Fraction(0)) for law in (left, right)]
        return Bracket.exactly(number(abs(means[0] - means[1])))


@define
class Lossless(Pure):
    """Says that likelihood ratios change by a tenth of it."""

    name: ClassVar[str] = "test-lossless"

    def largest_loss(self, bound: Number) -> Number:
        return bound / 10


@define
class Eventless(Pure):
    """Says that events change by a tenth of it."""

    name: ClassVar[str] = "test-eventless"

    def event_bounds(self, bound: Number) -> blocks.EventBounds:
        return ((bound / 10, number(0)),)


@define
class Unlikely(Pure):
    """Says that no event becomes likelier."""

    name: ClassVar[str] = "test-unlikely"

    def largest_probability(self, q: arb, bound: arb) -> arb:
        return q


@define
class TooTame(Pure):
    """Says that two equal laws are the worst pair."""

    name: ClassVar[str] = "test-too-tame"

    def worst_pairs(self, bound: Number) -> blocks.WorstPairs:
        law = FiniteLaw.bernoulli(Fraction(1, 2))
        return law.against(law), law.against(law)


@define
class NearlyPure(Pure):
    """Says that pure privacy is at most a tenth of it."""

    name: ClassVar[str] = "test-nearly-pure"

    def bounds(self, other: OutputDivergence) -> tuple[Number, str] | None:
        return (number("1/10"), "surely") if other == Mult() else None


@define
class HalfTotal(Pure):
    """Says that two releases spend half of their sum."""

    name: ClassVar[str] = "test-half-total"

    def composed(self, parts: blocks.SpentBudgets) -> blocks.Composed:
        total = blocks.total(value for _, value in parts) / 2
        return blocks.Composed(divergence=self, value=total, rule="half of the sum", citation="none")


@define
class LowBudget(Pure):
    """Says that half of a constant is the budget that means it."""

    name: ClassVar[str] = "test-low-budget"

    def budget_for(self, parameter: str, constant: Number) -> Number:
        return constant / 2


@define
class Falling(Pure):
    """A larger budget allows less."""

    name: ClassVar[str] = "test-falling"

    def lipschitz(self, parameter: str, value: Number) -> Number:
        return number(0) if value > 2 else value


@define
class Separating(Pure):
    """Bounds nothing, and says that only equal laws are at 0."""

    name: ClassVar[str] = "test-separating"

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        return Bracket.exactly(number(0))

    def separates_laws(self) -> bool:
        return True


@define
class Variation(OutputDivergence):
    """Total variation, which says that it bounds pure privacy."""

    name: ClassVar[str] = "test-variation"
    is_symmetric: ClassVar[bool] = True

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        found: Bracket = pair.total_variation(precision=precision)
        return found

    def bounds(self, other: OutputDivergence) -> tuple[Number, str] | None:
        return (number(1), "surely") if other == Mult() else None


@define
class Implying(Invariant):
    """A constant that says to determine everything."""

    name: ClassVar[str] = "test-implying"

    def value(self, dataset: Any, space: DatasetSpace) -> int:
        return 0

    def implies(self, other: Invariant, space: DatasetSpace) -> str:
        return "surely"


FALSE: dict[str, tuple[str, Callable[[], Any]]] = {
    "hiding": ("test-hiding", lambda: dp.verify(Identity(), claim(space=Hiding(length=2)))),
    "dropping": ("test-dropping", lambda: dp.verify(Identity(), claim(multiverse=Dropping()))),
    "unshared": ("test-unshared", lambda: dp.verify(Identity(), claim(multiverse=Unshared()))),
    "invariable": ("test-invariable", lambda: dp.verify(NOISE, about_people(multiverse=Invariable()))),
    "restless-labels": ("test-restless-labels", lambda: dp.verify(Identity(), claim(multiverse=RestlessLabels()))),
    "two-faced": ("test-two-faced", lambda: dp.verify(NOISE, about_people(budget=TwoFaced()))),
    "at-least-five": ("test-at-least-five", lambda: dp.verify(NOISE, about_people(budget=AtLeastFive()))),
    "bounded": ("test-bounded", lambda: dp.compare(claim(budget=Bounded()), claim())),
    "growing": ("test-growing", lambda: dp.verify(NOISE, about_people(budget=Growing()))),
    "inexact": ("test-inexact", lambda: dp.verify(NOISE, about_people(budget=Inexact()))),
    "within": ("test-within", lambda: dp.compare(claim(budget=Within()), claim())),
    "bounded-above": (
        "test-bounded-above",
        lambda: dp.compare(claim(space=MANY_BITS, input_divergence=BoundedAbove()), claim(space=MANY_BITS)),
    ),
    "cheap": ("test-cheap", lambda: dp.verify(Identity(), claim(input_divergence=Cheap()))),
    "far-apart": ("test-far-apart", lambda: dp.compare(claim(input_divergence=FarApart()), claim())),
    "jumping": ("test-jumping", lambda: dp.compare(claim(input_divergence=Jumping()), claim(input_divergence=OneStep()))),
    "bounded-above-of-an-attacker": (
        "test-bounded-above",
        lambda: dp.risk(claim(space=MANY_BITS, input_divergence=BoundedAbove()), "independent-record"),
    ),
    "nearly-pure-of-an-attacker": (
        "test-nearly-pure",
        lambda: dp.risk(claim(output_divergence=NearlyPure()), "strongest"),
    ),
    "unlikely": ("test-unlikely", lambda: dp.risk(claim(output_divergence=Unlikely()))),
    "too-tame": ("test-too-tame", lambda: dp.risk(claim(output_divergence=TooTame()))),
    "neighbour-form": ("test-neighbour-form", lambda: dp.compare(claim(input_divergence=NeighbourForm()), claim())),
    "least-four": ("test-least-four", lambda: dp.risk(claim(input_divergence=LeastFour()))),
    "counting": ("test-counting", lambda: dp.risk(claim(input_divergence=Counting()))),
    "first-only": (
        "test-first-only",
        lambda: dp.verify(lambda x, rng: x[1], claim(space=dp.integer_counts(length=2), input_divergence=FirstOnly())),
    ),
    "pointwise": ("test-pointwise", lambda: dp.verify(NOISE, about_people(output_divergence=Pointwise()))),
    "lossless": ("test-lossless", lambda: dp.compare(claim(output_divergence=Lossless()), claim())),
    "eventless": ("test-eventless", lambda: dp.risk(claim(output_divergence=Eventless()))),
    "half-total": ("test-half-total", lambda: dp.ledger(claim(output_divergence=HalfTotal()), times=[2])),
    "low-budget": ("test-low-budget", lambda: dp.ledger(claim(output_divergence=LowBudget()))),
    "falling": ("test-falling", lambda: dp.verify(Identity(), claim(output_divergence=Falling()))),
    "separating": ("test-separating", lambda: dp.risk(claim(output_divergence=Separating()))),
    "bounding": ("test-variation", lambda: dp.compare(claim(output_divergence=Variation()), claim())),
    "implying": (
        "test-implying",
        lambda: dp.compare(
            about_people(input_divergence=Hamming(), multiverse=LevelSets(invariants=(BY_SEX,))),
            about_people(input_divergence=Hamming(), multiverse=LevelSets(invariants=(Implying(),))),
        ),
    ),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_false_statement_of_a_block_is_an_error_that_names_it(name: str) -> None:
    block, call = FALSE[name]
    with pytest.raises(PluginContractError) as raised:
        call()
    assert block in str(raised.value)


def test_what_is_said_of_other_blocks_is_used_only_where_it_is_checked() -> None:
    """`bounded_by` is called by `distance_bound` and `divergence_bound`, and inside of these; `convert` by `converted`."""
    allowed = {
        "bounded_by": {"bounded_by", "bounds", "distance_bound", "divergence_bound"},
        "convert": {"converted", "_converted", "value"},  # the last are routes by one formula, which they name
    }
    found = []
    for path in (path for where in ("dpspec", "plugins") for path in (ROOT / where).rglob("*.py")):
        text = path.read_text("utf-8")
        if {"tests", "testing"} & set(path.parts) or (".bounded_by(" not in text and ".convert(" not in text):
            continue
        for function in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)):
            calls = [node for node in ast.walk(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
            names = {call.func.attr for call in calls if call.func.attr != "convert" or len(call.args) == 3}
            wrong = [name for name in allowed if name in names and function.name not in allowed[name]]
            found += [f"{path.name}: {function.name} calls {name}" for name in wrong]
    assert found == []


def test_a_divergence_that_reads_outcomes_is_compared_on_every_pair() -> None:
    """The exchange of the bits maps pairs to pairs, but such a divergence differs between them: at most 5 here, not 1."""
    found = dp.verify(Identity(), claim(output_divergence=ByName(), budget=UniformBudget(parameter="epsilon", value=number(2))))
    assert found.outcome.value == "refuted"
    assert found.constant.lower == 5


def test_all_first_party_blocks_are_as_they_say() -> None:
    """A few of each kind; the others are checked whenever they are used."""
    for made in (claim(), about_people(), about_people(multiverse=LevelSets(invariants=(BY_SEX,)), input_divergence=Hamming())):
        check_declared(made)


# --- rules ------------------------------------------------------------------------------------------


@define
class Anything(Rule):
    """Whatever is asked for follows."""

    name: ClassVar[str] = "test-anything"
    citation: ClassVar[str] = "none"

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        yield Step(rule=self.name, block="budget", before=premise, after=goal, reason="surely", citation=self.citation)


@define
class TooGood(Conversion):
    """A thousandth of epsilon as the Renyi budget."""

    name: ClassVar[str] = "test-too-good"
    citation: ClassVar[str] = "none"
    source: ClassVar[str] = "mult"
    target: ClassVar[str] = "renyi"
    formula: ClassVar[str] = "epsilon/1000"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket:
        return Bracket.exactly(value / 1000)


def with_rule(rule: type) -> Registry:
    """What is installed, and a rule of a stranger."""

    @hookimpl
    def hook(register: Any) -> None:
        register(rule)

    return load_plugins(modules=[("strangers", SimpleNamespace(dpspec_register_rules=hook))]).registry


def test_an_implication_by_a_false_rule_is_contradicted_by_a_mechanism() -> None:
    with pytest.raises(PluginContractError, match="test-anything"):
        dp.compare(claim(budget=UniformBudget(parameter="epsilon", value=number(2))), claim(), with_rule(Anything))


@pytest.mark.parametrize("also", [Renyi(order=Fraction(2)), Mult()])
def test_a_ledger_that_rests_on_a_false_rule_is_contradicted_by_a_mechanism(also: OutputDivergence) -> None:
    """The rule leads the second part to the blocks of the first at a budget of 0, or to a distance that counts half as much."""
    other = claim(
        output_divergence=also,
        budget=UniformBudget(parameter=also.budget_parameters[0], value=number(1)),
        input_divergence=HammingOrdered() if also != Mult() else BoundedDistance(),
    )
    rules = (*rules_of(installed().registry), Anything())
    parts = [Part(id="first", spec=other), Part(id="second", spec=claim())]
    with pytest.raises(PluginContractError, match="test-anything"):
        compose(parts, rules=rules)


def test_a_common_measure_that_rests_on_a_false_rule_is_contradicted_by_a_mechanism() -> None:
    one, other = claim(), claim(input_divergence=BoundedDistance())
    blocks_tried = found_blocks(one, other, registry=installed().registry)
    with pytest.raises(PluginContractError, match="test-anything"):
        yardsticks(one, other, blocks_tried, (*rules_of(installed().registry), Anything()))


def test_a_formula_of_a_plugin_is_tried_on_laws_that_use_up_the_budget() -> None:
    with pytest.raises(PluginContractError, match="test-too-good"):
        paths([TooGood()], Mult(), number(1), Renyi(order=Fraction(2)))
