"""Flags of divergences: nothing is promised by default, both orders are evaluated, and a false declaration is not used."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from dpspec_divergences import AddRemove, Hamming, HammingOrdered, Mult, Neighbour, SymmetricDifference, UserMetric
from dpspec_noise import Geometric

from dpspec import (
    Attribute,
    BitVectors,
    Marginal,
    Mechanism,
    PrivacySpec,
    Trivial,
    UniformBudget,
    UnorderedRecords,
    compare,
    verify,
)
from dpspec.base.errors import PluginContractError
from dpspec.base.exact import INFINITY, Bracket, number
from dpspec.blocks.input_divergence import InputDivergence, RecordSteps
from dpspec.blocks.invariant import FunctionInvariant
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.grammar.declarations import check_declared
from dpspec.laws.law import FiniteLaw
from dpspec.plugin import define
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.proof import Missing, derive
from dpspec.verifier.verdict import Outcome

SEX = Attribute(name="sex", categories=("f", "m"))
PEOPLE = UnorderedRecords(attributes=(SEX,))
SMALL = UnorderedRecords(attributes=(SEX,), most=2)
BY_SEX = Geometric(queries=(Marginal(attributes=("sex",)),), ratio="1/2")


@define
class OneWay(OutputDivergence):
    """The largest log-ratio in one order; nothing else is said about it."""

    name: ClassVar[str] = "test-one-way"

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        return pair.max_log_ratio(precision=precision)

    def largest_probability(self, q: Any, bound: Any) -> Any:
        return (bound.exp() * q).min(1)


@define
class SaidSymmetric(OneWay):
    """The same, declared to be symmetric."""

    name: ClassVar[str] = "test-said-symmetric"
    is_symmetric: ClassVar[bool] = True

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        return pair.max_log_ratio(precision=precision)


@define
class SaidMetric(OutputDivergence):
    """Squared total variation, declared to be a metric."""

    name: ClassVar[str] = "test-said-metric"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        return Bracket.exactly(pair.total_variation(precision=precision).lower.squared())


@define
class WrongScore(OutputDivergence):
    """Pure privacy with a score that falls where the divergence grows."""

    name: ClassVar[str] = "test-wrong-score"

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        return pair.max_log_ratio(precision=precision)

    def score(self, pair: Any) -> tuple[int, int]:
        large, small = pair.largest_ratio()
        return small, large


@define
class Upwards(InputDivergence):
    """The records added; those that are removed cost a hundredth. Nothing else is said about it."""

    name: ClassVar[str] = "test-upwards"

    def distance(self, left: Any, right: Any, space: Any) -> Any:
        more, fewer = _moved(left, right)
        return number(more) + number(fewer) * number("1/100").as_fraction()


@define
class SaidSymmetricDistance(Upwards):
    """The same, declared to be symmetric."""

    name: ClassVar[str] = "test-said-symmetric-distance"
    is_symmetric: ClassVar[bool] = True

    def distance(self, left: Any, right: Any, space: Any) -> Any:
        more, fewer = _moved(left, right)
        return number(more) + number(fewer) * number("1/100").as_fraction()


@define
class SaidPrice(InputDivergence):
    """A tenth for each record added or removed, declared to cost 1."""

    name: ClassVar[str] = "test-said-price"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def distance(self, left: Any, right: Any, space: Any) -> Any:
        return number(sum(_moved(left, right))) * number("1/10").as_fraction()

    def record_steps(self, space: Any) -> RecordSteps:
        return RecordSteps(unit="person", replaced=2, added=1)


@define
class SaidPriceOneWay(InputDivergence):
    """Records added cost 1, records removed a hundredth; declared to cost 1."""

    name: ClassVar[str] = "test-said-price-one-way"

    def distance(self, left: Any, right: Any, space: Any) -> Any:
        more, fewer = _moved(left, right)
        return number(more) + number(fewer) * number("1/100").as_fraction()

    def record_steps(self, space: Any) -> RecordSteps:
        return RecordSteps(unit="person", replaced=2, added=1)


@define
class SaidWhole(InputDivergence):
    """Half of the symmetric difference, declared to be whole."""

    name: ClassVar[str] = "test-said-whole"
    is_integral: ClassVar[bool] = True

    def distance(self, left: Any, right: Any, space: Any) -> Any:
        return number(sum(_moved(left, right))) * number("1/2").as_fraction()


def _moved(left: Any, right: Any) -> tuple[int, int]:
    from collections import Counter

    ours, theirs = Counter(left), Counter(right)
    return (theirs - ours).total(), (ours - theirs).total()


@define
class Lopsided(Mechanism):
    """Says "some" in one of 1000 cases where there is a person, and never else."""

    name: ClassVar[str] = "test-lopsided"

    def law(self, dataset: Any, space: Any) -> Any:
        some = bool(space.records(space.dataset(dataset), "person"))
        return FiniteLaw.of({"some": "1/1000", "none": "999/1000"}) if some else FiniteLaw.point("none")


def claim(output: Any, distance: Any = None, epsilon: Any = 1, space: Any = SMALL) -> PrivacySpec:
    return PrivacySpec(
        space=space, multiverse=Trivial(), input_divergence=distance or SymmetricDifference(), output_divergence=output,
        budget=UniformBudget(parameter="epsilon", value=epsilon),
    )  # fmt: skip


@pytest.mark.parametrize("base", [InputDivergence, OutputDivergence])
def test_nothing_is_promised_by_default(base: type) -> None:
    names = [name for name in base.__annotations__ if isinstance(getattr(base, name, None), bool)]
    assert names
    assert not any(getattr(base, name) for name in names)


def test_a_divergence_that_says_nothing_is_evaluated_in_both_orders() -> None:
    found = verify(Lopsided(), claim(OneWay()))
    assert found.outcome is Outcome.REFUTED
    assert found.constant.lower == INFINITY


def test_a_distance_that_says_nothing_is_evaluated_in_both_orders() -> None:
    found = verify(BY_SEX, claim(Mult(), Upwards()))
    assert found.outcome is Outcome.REFUTED
    assert str(found.constant) == "100*ln(2)"


def test_a_proof_and_its_pair_evaluate_both_orders() -> None:
    """A record removed shows an event that one added does not."""
    found = derive(BY_SEX, claim(OneWay(), Neighbour(relation=AddRemove()), "ln(2)", PEOPLE))
    assert not isinstance(found, Missing)
    assert found.outcome is Outcome.VERIFIED
    assert str(found.constant) == "ln(2)"


def test_samples_are_judged_in_both_orders() -> None:
    def some(people: list[Any], rng: Any) -> bool:
        return bool(people) and rng.random() < 0.4

    asked = claim(OneWay(), epsilon="1/2")
    assert verify_claim(some, asked, seconds=4).outcome is Outcome.REFUTED
    assert verify_claim(lambda people, rng: not people and rng.random() < 0.4, asked, seconds=4).outcome is Outcome.REFUTED


FALSE = [
    (SaidSymmetric(), None, "is_symmetric"),
    (SaidMetric(), None, "is_metric"),
    (WrongScore(), None, "score"),
    (Mult(), SaidSymmetricDistance(), "is_symmetric"),
    (Mult(), SaidWhole(), "is_integral"),
]


@pytest.mark.parametrize(("output", "distance", "flag"), FALSE, ids=lambda value: getattr(value, "name", value))
@pytest.mark.parametrize("space", [SMALL, PEOPLE], ids=["small", "any size"])
def test_a_false_declaration_is_a_fault_of_the_plugin(output: Any, distance: Any, flag: str, space: Any) -> None:
    asked = claim(output, distance, 1000, space)
    name = output.name if distance is None else distance.name
    for judge in (lambda: verify(BY_SEX, asked), lambda: derive(BY_SEX, asked), lambda: verify_claim(len, asked, seconds=1)):
        with pytest.raises(PluginContractError, match=f"{name}.*declares {flag}"):
            judge()


@pytest.mark.parametrize("distance", [SaidPrice(), SaidPriceOneWay()], ids=lambda value: value.name)
def test_a_price_of_records_above_the_distance_is_not_verified(distance: Any) -> None:
    with pytest.raises(PluginContractError):
        derive(BY_SEX, claim(Mult(), distance, "ln(2)", PEOPLE))


def test_one_way_does_not_imply_both_ways() -> None:
    assert compare(claim(OneWay()), claim(Mult())).relation is not compare(claim(Mult()), claim(Mult())).relation


def test_declared_distances_of_the_first_party_are_symmetric() -> None:
    for distance in (Hamming(), SymmetricDifference()):
        assert verify(BY_SEX, claim(Mult(), distance, "ln(4)")).outcome is Outcome.VERIFIED
    bits = BitVectors(length=2)
    assert HammingOrdered().is_symmetric
    assert verify(Lopsided(), claim(Mult(), HammingOrdered(), 1, bits)).outcome is Outcome.VERIFIED


def test_a_function_that_is_a_table_of_its_own_datasets_is_not_asked_about_fewer_records() -> None:
    """A dictionary of the pairs of three records raised KeyError for two, and `compare` ended with a traceback."""
    space = UnorderedRecords(attributes=(SEX,), least=3, most=3)
    datasets = list(space.datasets())
    distances = {(x, y): int(x != y) for x in datasets for y in datasets}
    first = {x: str(x) for x in datasets}
    spec = PrivacySpec(
        space=space,
        multiverse=LevelSets(invariants=(FunctionInvariant(function=first.__getitem__, label="first"),)),
        input_divergence=UserMetric(function=lambda x, y: distances[x, y], label="by a table"),
        output_divergence=Mult(),
        budget=UniformBudget(parameter="epsilon", value=number(1)),
    )
    check_declared(spec)
    with pytest.raises(KeyError):
        check_declared(spec.replace(input_divergence=UserMetric(function=lambda x, y: {}[x, y], label="by no table")))


def test_work_of_many_invariants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of hundreds of invariants is held against all others, on a space of a thousand attributes."""
    counted = {"mentions": 0, "reduced": 0, "attributes_of": 0}

    def count(cls: type, name: str) -> None:
        known = getattr(cls, name)

        def call(*given: Any, **named: Any) -> Any:
            counted[name] += 1
            return known(*given, **named)

        monkeypatch.setattr(cls, name, call)

    space = UnorderedRecords(attributes=tuple(Attribute(name=f"b{place}", count=3) for place in range(80)))
    invariants = tuple(Marginal(attributes=(f"b{place}",)) for place in range(40))
    claim = PrivacySpec(
        space=space,
        multiverse=LevelSets(invariants=invariants),
        input_divergence=Hamming(),
        output_divergence=Mult(),
        budget=UniformBudget(parameter="epsilon", value=number(1)),
    )
    for name in ("mentions",):
        count(Marginal, name)
    for name in ("reduced", "attributes_of"):
        count(UnorderedRecords, name)
    check_declared(claim)
    assert counted["reduced"] <= 3
    assert counted["mentions"] <= 2 * 40 * 80
    assert counted["attributes_of"] <= 40 * 80
