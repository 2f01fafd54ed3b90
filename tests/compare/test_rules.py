"""Every first-party rule against random finite mechanisms: the exact engine never contradicts what is derived."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from dpspec.api import compare
from dpspec.base.errors import PluginContractError
from dpspec.base.exact import number
from dpspec.base.params import define, evolve
from dpspec.blocks.budget import BudgetTable, UniformBudget
from dpspec.blocks.invariant import FunctionInvariant, LinearMap, Marginal
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Trivial, determines
from dpspec.blocks.records import ContingencyTables, Households, OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.comparison.compare import Answer
from dpspec.extension import installed
from dpspec.grammar.rule import Conversion, Rule, Step
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason.search import rules_of, search
from tests.compare.hunting import contradicted, random_mechanism, tight
from tests.verify.toys import bits_spec, block

SEX = Attribute(name="sex", categories=("f", "m"))
AGE = Attribute(name="age", categories=("young", "old", "very old"))
RULES = rules_of(installed().registry)

FEWER = Attribute(name="age", categories=("young", "old"))

TWO = UnorderedRecords(attributes=(SEX,), most=2)
PAIRS = UnorderedRecords(attributes=(AGE,), least=2, most=2)
MANY = UnorderedRecords(attributes=(Attribute(name="age", count=6),), least=2, most=2)  # too many to look at pair by pair
BITS = BitVectors(length=2)
COUNTS = ContingencyTables(attributes=(SEX,), most=2)
HOMES = Households(household=(Attribute(name="place", categories=("a",)),), person=(SEX,), most=2, members=2)


def d_x(name: str, relation: str | None = None, **parameters: Any) -> Any:
    if relation is None:
        return block("input_divergences", name, **parameters)
    return block("input_divergences", name, relation=block("relations", relation, **parameters))


def d_pr(name: str, **parameters: Any) -> Any:
    return block("output_divergences", name, **parameters)


def budget(divergence: Any, value: Any = 1) -> UniformBudget:
    return UniformBudget(parameter=divergence.budget_parameters[0], value=value)


def spec(space: Any, inputs: Any, outputs: Any = None, multiverse: Any = None, value: Any = 10**6) -> PrivacySpec:
    outputs = outputs or d_pr("mult")
    return PrivacySpec(
        space=space, multiverse=multiverse or Trivial(), input_divergence=inputs, output_divergence=outputs,
        budget=budget(outputs, value),
    )  # fmt: skip


MULT, HALF = d_pr("mult"), d_pr("mult-delta", delta="1/10")
ORDERED, HAMMING, SYMMETRIC = d_x("hamming-ordered"), d_x("hamming"), d_x("symmetric-difference")
REPLACED, ADDED = d_x("neighbour", "replace-one"), d_x("neighbour", "add-remove")
SEXES, EVERYTHING = Marginal(attributes=("sex",)), LevelSets(invariants=(Marginal(attributes=()),))
HOUSEHOLDS, ADDED_HOUSEHOLDS = d_x("hamming", unit="household"), d_x("symmetric-difference", unit="household")
TOTAL = LevelSets(invariants=(LinearMap(rows=((1, 1),)),))
GRAPHS, SPARSE = (block("spaces", "graphs", nodes=("a", "b", "c"), most_degree=most) for most in (None, 1))
STREAMS = block("spaces", "event-streams", users=("ann", "bob"), times=2, values=("visit",), window=1)
EDGES, EVENTS = (d_x("symmetric-difference", unit=unit) for unit in ("edge", "event"))
TRADE_OFF = d_pr("trade-off", epsilon="ln(2)", delta="1/10")


def by_list(**universes: tuple[tuple[int, ...], ...]) -> ExplicitUniverses:
    return ExplicitUniverses(universes_by_label=universes)  # type: ignore[arg-type]


def table(given: PrivacySpec, **values: Any) -> PrivacySpec:
    rows = tuple((label, number(value)) for label, value in values.items())
    return given.replace(budget=BudgetTable(parameter=given.budget.parameter, values=rows))


A, B, C, D = (0, 0), (0, 1), (1, 0), (1, 1)
HALVES = by_list(left=(A, B), right=(C, D))
LEFT_RIGHT = table(spec(BITS, ORDERED, multiverse=HALVES), left=5, right=5)

CASES: dict[str, list[tuple[PrivacySpec, PrivacySpec]]] = {
    "larger-budget": [(spec(TWO, SYMMETRIC), spec(TWO, SYMMETRIC))],
    "larger-budgets": [
        (LEFT_RIGHT, table(LEFT_RIGHT, left=10**6, right=10**6)),
        (LEFT_RIGHT, spec(BITS, ORDERED, multiverse=HALVES)),
        (spec(BITS, ORDERED, multiverse=HALVES), table(LEFT_RIGHT, left=10**6, right=10**6)),
    ],
    "finer-universes": [
        (spec(TWO, SYMMETRIC), spec(TWO, SYMMETRIC, multiverse=LevelSets(invariants=(SEXES,)))),
        (spec(TWO, SYMMETRIC, multiverse=EVERYTHING), spec(TWO, SYMMETRIC, multiverse=LevelSets(invariants=(SEXES,)))),
        (spec(PAIRS, HAMMING), spec(PAIRS, HAMMING, multiverse=EVERYTHING)),
    ],
    "listed-universes": [
        (spec(BITS, ORDERED, multiverse=by_list(one=(A, B, C))), spec(BITS, ORDERED, multiverse=by_list(two=(A, C)))),
        (LEFT_RIGHT, table(spec(BITS, ORDERED, multiverse=by_list(one=(A, B), two=(C, D))), one=10**6, two=10**6)),
    ],
    "smaller-space": [
        (spec(TWO, SYMMETRIC), spec(UnorderedRecords(attributes=(SEX,), most=1), SYMMETRIC)),
        (spec(PAIRS, HAMMING), spec(UnorderedRecords(attributes=(FEWER,), least=2, most=2), HAMMING)),
        (spec(OrderedRecords(attributes=(AGE,), most=2), d_x("path", "differ-in-one-position")),
         spec(OrderedRecords(attributes=(FEWER,), least=2, most=2), d_x("path", "differ-in-one-position"))),
        (spec(HOMES, HOUSEHOLDS), spec(evolve(HOMES, members=1), HOUSEHOLDS)),
        (spec(COUNTS, SYMMETRIC, multiverse=TOTAL), spec(evolve(COUNTS, least=1), SYMMETRIC, multiverse=TOTAL)),
    ],
    "input-domination": [
        (spec(PAIRS, HAMMING), spec(PAIRS, SYMMETRIC)),
        (spec(PAIRS, SYMMETRIC), spec(PAIRS, HAMMING)),
        (spec(BITS, HAMMING), spec(BITS, ORDERED)),
        (spec(HOMES, d_x("symmetric-difference")), spec(HOMES, ADDED_HOUSEHOLDS)),
        (spec(HOMES, d_x("symmetric-difference")), spec(HOMES, HOUSEHOLDS)),
        (spec(TWO, SYMMETRIC), spec(TWO, ADDED)),
        (spec(TWO, HAMMING, HALF), spec(TWO, REPLACED, HALF)),
        (spec(BITS, d_x("personal-weights", weights=("1", "3"))), spec(BITS, ORDERED)),
        (spec(BITS, ORDERED), spec(BITS, d_x("personal-weights", weights=("1/2", "3")))),
        (spec(GRAPHS, EDGES), spec(GRAPHS, d_x("node-distance"))),
        (spec(GRAPHS, d_x("node-distance")), spec(GRAPHS, EDGES)),
        (spec(SPARSE, EDGES), spec(SPARSE, d_x("node-distance", removal_only=True))),
        (spec(STREAMS, EVENTS), spec(STREAMS, d_x("hamming", unit="user"))),
        (spec(STREAMS, EVENTS), spec(STREAMS, d_x("hamming", unit="user-window"))),
        (spec(STREAMS, d_x("hamming", unit="user")), spec(STREAMS, EVENTS)),
        (spec(STREAMS, d_x("window-events", width=2)), spec(STREAMS, EVENTS)),
        (spec(STREAMS, EVENTS), spec(STREAMS, d_x("window-events", width=2))),
        (spec(PAIRS, HAMMING), spec(PAIRS, d_x("within-distance", of=HAMMING, most=2))),
        (spec(TWO, SYMMETRIC, d_pr("d-nor")), spec(TWO, d_x("within-distance", of=HAMMING, most=1), d_pr("d-nor"))),
        (spec(TWO, d_x("within-distance", of=SYMMETRIC, most=2)), spec(TWO, d_x("within-distance", of=HAMMING, most=1))),
        (spec(TWO, d_x("within-distance", of=SYMMETRIC, most=2)), spec(TWO, REPLACED)),
        (spec(TWO, d_x("within-distance", of=SYMMETRIC, most=1)), spec(TWO, ADDED)),
    ],
    "domination-inside-universes": [
        (spec(TWO, HAMMING, multiverse=EVERYTHING), spec(TWO, SYMMETRIC, multiverse=EVERYTHING)),
        (spec(COUNTS, HAMMING, HALF, multiverse=EVERYTHING), spec(COUNTS, SYMMETRIC, HALF, multiverse=EVERYTHING)),
    ],
    "equal-laws": [
        (spec(BITS, ORDERED, d_pr("f-divergence", generator="kl", direction="forward"), value=0), spec(BITS, ORDERED, value=0)),
        (spec(BITS, ORDERED, d_pr("total-variation"), value=0), spec(BITS, ORDERED, value=0)),
    ],
    "neighbours-to-paths": [
        (spec(PAIRS, REPLACED), spec(PAIRS, HAMMING)),
        (spec(TWO, ADDED, d_pr("d-nor")), spec(TWO, SYMMETRIC, d_pr("d-nor"))),
        (spec(BITS, d_x("neighbour", "differ-in-one-position"), TRADE_OFF), spec(BITS, ORDERED, TRADE_OFF)),
        (spec(HOMES, d_x("neighbour", "add-remove", unit="household")), spec(HOMES, ADDED_HOUSEHOLDS)),
    ],
    "output-domination": [
        (spec(BITS, ORDERED), spec(BITS, ORDERED, outputs))
        for outputs in (
            HALF, d_pr("d-nor"), d_pr("renyi", order=2), d_pr("total-variation"), d_pr("hockey-stick", epsilon="ln(2)"),
            d_pr("f-divergence", generator="kl", direction="both"),
        )
    ] + [
        (spec(BITS, ORDERED, d_pr("renyi", order=3)), spec(BITS, ORDERED, d_pr("renyi", order=2))),
        (spec(BITS, ORDERED, d_pr("d-nor")), spec(BITS, ORDERED, d_pr("total-variation"))),
        (spec(BITS, ORDERED, HALF), spec(BITS, ORDERED, d_pr("mult-delta", delta="1/5"))),
        (spec(BITS, ORDERED, TRADE_OFF), spec(BITS, ORDERED, d_pr("total-variation"))),
    ],
}  # fmt: skip
"""For each rule, pairs (premise, goal) that it leads from and to; the budgets stand for any."""

PLACES = [(rule, place) for rule, cases in CASES.items() for place in range(len(cases))]
MECHANISMS = 2000
"""In all, in the long profile."""


@pytest.fixture
def mechanisms(request: pytest.FixtureRequest) -> int:
    """How many to try for one pair."""
    return -(-MECHANISMS // len(PLACES)) if request.config.getoption("--profile") == "long" else 6


def satisfied(premise: PrivacySpec, count: int, seed: object) -> Iterator[tuple[Any, PrivacySpec]]:
    """Random mechanisms, each with the premise at the least budget that it keeps."""
    source = random.Random(f"{seed}")
    for _ in range(20 * count):
        mechanism = random_mechanism(source, premise)
        given = tight(premise, mechanism)
        if given is not None:
            yield mechanism, given
            count -= 1
        if count == 0:
            return


@pytest.mark.spread(15, slow=15)
@pytest.mark.parametrize(("rule", "place"), [place for place in PLACES if place[0] != "equal-laws"])
def test_no_mechanism_contradicts_what_a_rule_derives(rule: str, place: int, mechanisms: int) -> None:
    premise, goal = CASES[rule][place]
    tried = 0
    for mechanism, given in satisfied(premise, mechanisms, (rule, place)):
        found = search(given, goal, RULES)
        assert found.arrived, found
        assert rule in [step.rule for step in found.derivation.steps]
        assert not list(contradicted(mechanism, found.derivation.steps))
        tried += 1
    assert tried == mechanisms


@pytest.mark.parametrize(("premise", "goal"), CASES["equal-laws"])
def test_a_budget_of_0_is_kept_by_equal_laws_alone(premise: PrivacySpec, goal: PrivacySpec) -> None:
    """No other mechanism is there to be drawn, and the rule takes no other budget."""
    found = search(premise, goal, RULES)
    assert [step.rule for step in found.derivation.steps] == ["equal-laws"]
    source = random.Random(0)
    for _ in range(20):
        mechanism = random_mechanism(source, premise)
        least = tight(premise, mechanism)
        laws = {mechanism.function(x) for x in premise.space.datasets()}
        assert (least is not None and least.budget.uniform() == 0) == (len(laws) == 1)
    more = premise.replace(budget=budget(premise.output_divergence, "1/1000"))
    assert "equal-laws" not in {step.rule for step in search(more, goal, RULES).derivation.steps}


def test_every_rule_of_the_core_is_hunted() -> None:
    core = {entry.name for entry in installed().registry if entry.kind == "rules" and entry.provenance.plugin == "core"}
    assert core == set(CASES)


# --- groups under approximate privacy ------------------------------------------------------------


@pytest.mark.reference("B-S3", "B-T20")
def test_the_delta_of_a_group_grows(mechanisms: int) -> None:
    premise, goal = spec(TWO, ADDED, d_pr("mult-delta", delta="1/20")), spec(TWO, REPLACED, d_pr("mult-delta", delta="9/10"))
    found = 0
    for mechanism, given in satisfied(premise, 4 * mechanisms, "groups"):
        derived = search(given, goal, RULES)
        if derived.arrived:
            assert "approximate-groups" in [step.rule for step in derived.derivation.steps]
            assert not list(contradicted(mechanism, derived.derivation.steps))
            found += 1
    assert found >= mechanisms


@pytest.mark.parametrize(("delta", "derived"), [("3/20", True), ("0.1499", False)])
def test_the_delta_of_a_group_is_the_sum(delta: str, derived: bool) -> None:
    """1/20 (1 + 2) for epsilon = ln 2 and two steps."""
    premise = spec(TWO, ADDED, d_pr("mult-delta", delta="1/20"), value="ln(2)")
    assert search(premise, spec(TWO, REPLACED, d_pr("mult-delta", delta=delta)), RULES).arrived is derived


# --- the hunt finds what is false ----------------------------------------------------------------


@define
class Generous(Rule):
    """False: every distance is at most half of every other."""

    name: ClassVar[str] = "generous"
    citation: ClassVar[str] = "none"

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        after = premise.replace(input_divergence=goal.input_divergence)
        yield Step(rule=self.name, block="input divergence", before=premise, after=after, reason="", citation="")


def test_a_false_rule_is_contradicted() -> None:
    """Symmetric difference is twice Hamming on pairs, and not at most it."""
    premise, goal = spec(PAIRS, SYMMETRIC), spec(PAIRS, HAMMING)
    rules = [Generous(), *(rule for rule in RULES if rule.name == "larger-budget")]
    seen = [list(contradicted(m, search(given, goal, rules).derivation.steps)) for m, given in satisfied(premise, 6, "false")]
    assert all(steps and steps[0].rule == "generous" for steps in seen if steps)
    assert any(seen)


# --- what no rule may say ------------------------------------------------------------------------


@pytest.mark.reference("B-S2", "B-S3")
@pytest.mark.parametrize(
    ("premise", "goal"),
    [
        (spec(MANY, REPLACED, multiverse=EVERYTHING), spec(MANY, HAMMING, multiverse=EVERYTHING)),  # paths may leave
        (spec(PAIRS, REPLACED, HALF), spec(PAIRS, HAMMING, HALF)),  # no triangle inequality
        (spec(TWO, SYMMETRIC, multiverse=LevelSets(invariants=(SEXES,))), spec(TWO, SYMMETRIC)),  # larger universes
        (spec(UnorderedRecords(attributes=(SEX,), most=1), SYMMETRIC), spec(TWO, SYMMETRIC)),  # a larger space
        (spec(TWO, HAMMING), spec(TWO, SYMMETRIC)),  # sizes vary
        (spec(BITS, ORDERED, d_pr("d-nor")), spec(BITS, ORDERED)),  # concentrated is not pure
    ],
)  # fmt: skip
def test_what_does_not_follow_is_not_derived(premise: PrivacySpec, goal: PrivacySpec) -> None:
    assert not search(premise.replace(budget=budget(premise.output_divergence)), goal, RULES).arrived


ONE = UnorderedRecords(attributes=(Attribute(name="kind", categories=("a", "b")),), least=1, most=1)
KIND_A, KIND_B = (("a",),), (("b",),)


@pytest.mark.parametrize("sensitive", ["a", "b"])
@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ((by_list(u=(KIND_A, KIND_B)), {"u": 5}), (by_list(u=(KIND_A, KIND_B)), {"u": 1})),  # a larger budget
        ((by_list(u=(KIND_A,), v=(KIND_B,)), {"u": 1, "v": 1}), (by_list(w=(KIND_A, KIND_B)), {"w": 5})),  # nothing shared
    ],
)
def test_a_pair_that_is_compared_in_one_order_alone_is_compared(sensitive: str, given: Any, wanted: Any) -> None:
    """A one-sided distance is finite from the sensitive record to the other one, in whichever order these are listed."""
    one_sided = spec(ONE, d_x("one-sided", attribute="kind", sensitive=(sensitive,)), d_pr("mult-one-way"))
    premise, goal = (table(one_sided.replace(multiverse=held), **budgets) for held, budgets in (given, wanted))
    assert {premise.distance(*pair).is_infinite for pair in itertools.permutations((KIND_A, KIND_B), 2)} == {True, False}
    assert not search(premise, goal, RULES).arrived
    shares = (given[0], {label: min(wanted[1].values()) for label in given[1]}) if len(given[1]) == 1 else (wanted[0], {"w": 5})
    assert search(table(one_sided.replace(multiverse=shares[0]), **shares[1]), goal, RULES).arrived


def test_universes_of_which_it_is_not_decided_that_they_are_finer_are_not() -> None:
    """Datasets of a hundred records show that the total does not determine it: no search comes so far, and none has to."""
    people, total = UnorderedRecords(attributes=(SEX,)), Marginal(attributes=())
    crowd = FunctionInvariant(function=lambda records: records.count(("f",)) > 99, label="more than 99 women")
    assert determines((total,), (crowd,), people).answer is None
    premise, goal = (spec(people, SYMMETRIC, multiverse=LevelSets(invariants=(held,))) for held in (crowd, total))
    assert not search(premise, goal, RULES).arrived
    assert search(premise, premise.replace(multiverse=LevelSets(invariants=(crowd, total))), RULES).arrived


# --- cyclic and faulty rules of plugins ----------------------------------------------------------


@define
class Circle(Rule):
    """True, and of no use: it proposes where it is, and other budgets without end."""

    name: ClassVar[str] = "circle"
    citation: ClassVar[str] = "this test"

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        value = premise.budget.uniform() or number(1)
        while True:
            yield self.step(premise, premise)
            value += 1
            yield self.step(premise, premise.replace(budget=UniformBudget(parameter=premise.budget.parameter, value=value)))

    def step(self, before: PrivacySpec, after: PrivacySpec) -> Step:
        return Step(rule=self.name, block="budget", before=before, after=after, reason="larger", citation="this test")


def test_cyclic_rules_end_and_hide_no_derivation() -> None:
    premise, goal = bits_spec(epsilon=1), bits_spec(epsilon=2).replace(output_divergence=d_pr("renyi", order=2))
    assert search(premise, goal, [Circle(), *RULES]).arrived
    assert not search(goal, premise, [Circle(), *RULES]).arrived


@define
class Astray(Circle):
    """Its steps start at the goal."""

    name: ClassVar[str] = "astray"

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        yield self.step(goal, premise)


@define
class Broken(Circle):
    """Raises."""

    name: ClassVar[str] = "broken"

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        raise ZeroDivisionError("oops")


@pytest.mark.parametrize(("rule", "said"), [(Astray(), "starts elsewhere"), (Broken(), "raised ZeroDivisionError: oops")])
def test_a_faulty_rule_is_named(rule: Rule, said: str) -> None:
    with pytest.raises(PluginContractError, match=said):
        search(bits_spec(epsilon=2), bits_spec(epsilon=1), [rule])


# --- what is missing is said ---------------------------------------------------------------------


@pytest.mark.reference("B-T22")
def test_without_the_stated_largest_household_it_is_unknown_and_says_what_is_missing() -> None:
    person, household = d_x("symmetric-difference"), d_x("symmetric-difference", unit="household")
    unlimited = Households(household=HOMES.household, person=HOMES.person, most=2)
    found = compare(spec(unlimited, person, value=1), spec(unlimited, household, value=4))
    assert found.forward.answer is not Answer.IMPLIES
    (said,) = [step.reason for step in found.forward.steps if step.block == "input divergence"]
    assert "missing: the largest number of person records that one household changes" in said
    assert compare(spec(HOMES, person, value=1), spec(HOMES, household, value=4)).forward.answer is Answer.IMPLIES
    assert compare(spec(HOMES, person, value=1), spec(HOMES, household, value=2)).forward.answer is Answer.IMPLIES
    assert compare(spec(HOMES, person, value=1), spec(HOMES, household, value="1.9")).forward.answer is not Answer.IMPLIES


# --- conversions ---------------------------------------------------------------------------------

DIVERGENCES: dict[str, list[Any]] = {
    "mult": [MULT],
    "mult-delta": [HALF, d_pr("mult-delta", delta="1/3")],
    "d-nor": [d_pr("d-nor")],
    "renyi": [d_pr("renyi", order=2), d_pr("renyi", order="3/2")],
    "total-variation": [d_pr("total-variation")],
    "hockey-stick": [d_pr("hockey-stick", epsilon="ln(2)"), d_pr("hockey-stick", epsilon="1/4")],
    "trade-off": [TRADE_OFF, d_pr("trade-off", epsilon="ln(3)", delta="1/5")],
    "gaussian-trade-off": [d_pr("gaussian-trade-off")],
    "f-divergence": [d_pr("f-divergence", generator=g, direction="both") for g in ("kl", "chi-squared", "hellinger")],
    "pbdp": [d_pr("pbdp", delta="1/10"), d_pr("pbdp", delta="3/4")],
}
CONVERSIONS = [rule for rule in RULES if isinstance(rule, Conversion) and {rule.source, rule.target} <= set(DIVERGENCES)]
ONE_BIT = BitVectors(length=1)


@pytest.mark.spread(24, slow=24)
@pytest.mark.parametrize("rule", CONVERSIONS, ids=lambda rule: rule.name)
def test_no_mechanism_contradicts_a_conversion(rule: Conversion, request: pytest.FixtureRequest) -> None:
    """On two neighbours, from the divergence of a random mechanism to every divergence that the conversion leads to."""
    count = 100 if request.config.getoption("--profile") == "long" else 5
    seen = 0
    for source, target in itertools.product(DIVERGENCES[rule.source], DIVERGENCES[rule.target]):
        premise, goal = (spec(ONE_BIT, d_x("neighbour", "differ-in-one-position"), outputs) for outputs in (source, target))
        for mechanism, given in satisfied(premise, count, (rule.name, str(source), str(target))):
            for step in rule.propose(given, goal):
                seen += 1
                assert not list(contradicted(mechanism, (step,))), (str(source), str(target), step.after.budget)
    assert seen or rule.mechanism is not None  # which says nothing about specifications
