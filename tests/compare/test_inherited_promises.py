"""Classes that are derived from first-party ones and change what an inherited promise is about: nothing false is concluded.

Each row is two specifications and a mechanism which the exact engine finds to keep the first and to break the second, so that an
implication between them is false. The change is all that separates them from two specifications of which the one does imply the
other by the promise in question.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar

import attrs
import pytest
from dpspec_divergences import (
    DifferInOnePosition,
    DNor,
    Hamming,
    HammingOrdered,
    Mult,
    MultDelta,
    Neighbour,
    Path,
    ReplaceOne,
    SymmetricDifference,
    TotalVariation,
)

from dpspec.base.errors import NoCompositionError, PluginContractError
from dpspec.base.exact import Bracket, ln, number
from dpspec.base.params import define
from dpspec.base.promises import Promising, is_a
from dpspec.blocks.budget import BudgetTable, UniformBudget
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import LevelSets, Trivial, Universe
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.comparison.composition import Part, compose
from dpspec.extension import installed
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.continuous import GaussianLaw
from dpspec.laws.law import FiniteLaw
from dpspec.reason.search import derive
from dpspec.risks.attack_bounds import allowed_power
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome
from tests.verify.toys import Toy

BITS, FEW = BitVectors(length=5), BitVectors(length=2)
SEX = Attribute(name="sex", categories=("f", "m"))
TWO = ln(2)


# --- input divergences, and relations -------------------------------------------------------------


@define
class Shrunk(SymmetricDifference):
    """A hundredth of it."""

    def distance(self, left: Any, right: Any, space: Any) -> Any:
        return super().distance(left, right, space) * Fraction(1, 100)


@define
class Stretched(SymmetricDifference):
    """A hundred times as far."""

    def distance(self, left: Any, right: Any, space: Any) -> Any:
        return super().distance(left, right, space) * 100


@define
class Elsewhere(Neighbour):
    """Other neighbours: those that differ everywhere."""

    def distance(self, left: Any, right: Any, space: Any) -> Any:
        if left == right:
            return number(0)
        return number(1) if all(a != b for a, b in zip(left, right, strict=True)) else number("inf")


@define
class Near(Neighbour):
    """Neighbours are a quarter apart."""

    def distance(self, left: Any, right: Any, space: Any) -> Any:
        return super().distance(left, right, space) * Fraction(1, 4)


@define
class Opposite(DifferInOnePosition):
    """Nobody is a neighbour but those who have nothing and all."""

    def related(self, left: Any, right: Any, space: Any) -> bool:
        return {sum(left), sum(right)} == {0, space.length}


@define
class ByRoom(Hamming):
    """Further in spaces with more room."""

    def distance(self, left: Any, right: Any, space: Any) -> Any:
        return super().distance(left, right, space) * (10 if space.most > 5 else 1)


@define
class ByHelper(SymmetricDifference):
    """The same, by a method of which the distance is made."""

    def distance(self, left: Any, right: Any, space: Any) -> Any:
        return super().distance(left, right, space) * self.weight()

    def weight(self) -> Fraction:
        return Fraction(1)


@define
class Heavier(ByHelper):
    """It says nothing of the distance."""

    def weight(self) -> Fraction:
        return Fraction(1, 100)


class Weighted(HammingOrdered):
    """It keeps a number besides its parameters."""

    def __init__(self, weight: int) -> None:
        super().__init__()
        object.__setattr__(self, "weight", weight)

    def distance(self, left: Any, right: Any, space: Any) -> Any:
        return super().distance(left, right, space) * self.weight  # type: ignore[attr-defined]


# --- output divergences ---------------------------------------------------------------------------


def _scaled(bracket: Bracket, factor: Any) -> Bracket:
    return Bracket(lower=bracket.lower * factor, upper=bracket.upper * factor)


@define
class Steep(DNor):
    """A hundred times as large."""

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        return _scaled(super().evaluate(pair, precision=precision), 100)


@define
class Renamed(DNor):
    """The same, under the name of another."""

    name: ClassVar[str] = "d-nor"

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        return _scaled(super().evaluate(pair, precision=precision), 100)


@define
class Stranger(OutputDivergence):
    """Another divergence, under a name that is taken."""

    name: ClassVar[str] = "d-nor"
    budget_parameters: ClassVar[tuple[str, ...]] = ("rho",)

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        return _scaled(Mult().evaluate(pair, precision=precision), 100)


@define
class SteepDelta(MultDelta):
    """A hundred times as large."""

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        return _scaled(super().evaluate(pair, precision=precision), 100)


@define
class Halved(Mult):
    """Half of it."""

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        return _scaled(super().evaluate(pair, precision=precision), Fraction(1, 2))


@define
class Between(Mult):
    """Half of it, said of laws."""

    def between(self, left: Any, right: Any, *, precision: int = 64) -> Bracket:
        return _scaled(super().between(left, right, precision=precision), Fraction(1, 2))


@define
class Blind(Mult):
    """It sees nothing up to ln(4)."""

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        plain = super().evaluate(pair, precision=precision)
        return Bracket.exactly(0) if plain.upper <= ln(4) else plain


@define
class InUnits(DNor):
    """A budget says what the constant is."""

    def lipschitz(self, parameter: str, value: Any) -> Any:
        return value * 100


# --- universes, invariants, budgets, spaces -------------------------------------------------------


@define
class Everything(LevelSets):
    """One universe."""

    def labels(self, dataset: Any, space: Any) -> Any:
        return ("all",)


@define
class Listed(LevelSets):
    """One universe, by its list."""

    def universes(self, space: Any) -> Iterator[Universe]:
        yield Universe(label="all", datasets=tuple(space.datasets()))


@define
class Rough(LinearMap):
    """It publishes nothing."""

    def value(self, dataset: Any, space: Any) -> Any:
        return 0


@define
class RoughTable(Marginal):
    """It publishes nothing."""

    def value(self, dataset: Any, space: Any) -> Any:
        return 0


@define
class Uncounted(Marginal):
    """It publishes nothing, by a method that its value is made of."""

    def _count(self, records: Any, space: Any) -> Any:
        return super()._count((), space)


@define
class Twice(UniformBudget):
    """Twice the number."""

    def at(self, universe: Any, space: Any) -> Any:
        return self.value * 2


@attrs.frozen(kw_only=True)
class TwiceTable(BudgetTable):
    """Twice the numbers."""

    def at(self, universe: Any, space: Any) -> Any:
        return super().at(universe, space) * 2


@define
class Loose(UnorderedRecords):
    """Any number of records up to the largest."""

    def dataset(self, value: Any) -> Any:
        return self.of(tuple(tuple(record) for record in value))

    def cardinality(self) -> int:
        return len(list(self.datasets()))

    def datasets(self) -> Iterator[Any]:
        return (tuple([("f",)] * f + [("m",)] * m) for f in range(self.most + 1) for m in range(self.most + 1 - f))  # type: ignore[operator]


@define
class Even(UnorderedRecords):
    """As many records as the largest number, give or take an even one."""

    def datasets(self) -> Iterator[Any]:
        return (x for x in super().datasets() if len(x) % 2 == self.most % 2)  # type: ignore[operator]

    def cardinality(self) -> int:
        return len(list(self.datasets()))


# --- mechanisms -----------------------------------------------------------------------------------


def coin(chance: Any) -> Toy:
    """One bit, whose chance depends on the dataset."""
    return Toy(lambda x: FiniteLaw.bernoulli(Fraction(chance(x))))


def told(odds: int, place: int = 0) -> Toy:
    """One position by randomised response."""
    return coin(lambda x: Fraction(odds if x[place] else 1, odds + 1))


def counted(odds: int) -> Toy:
    """A chance that grows with the number of ones, by the odds for each."""
    return coin(lambda x: Fraction(odds ** sum(x), odds**6))


def each(odds: int) -> Toy:
    """The first two positions, by randomised response."""
    chance = [Fraction(1, odds + 1), Fraction(odds, odds + 1)]
    return Toy(lambda x: FiniteLaw.of({(a, b): chance[a == x[0]] * chance[b == x[1]] for a in (0, 1) for b in (0, 1)}))


PUBLISHED = Toy(lambda x: FiniteLaw.point(sum(x)))
SIZE = Toy(lambda x: FiniteLaw.point(len(x)))


# --- the rows -------------------------------------------------------------------------------------


def spec(space: Any, d_x: Any, d_pr: Any = None, value: Any = TWO, multiverse: Any = None, budget: Any = None) -> PrivacySpec:
    d_pr = d_pr or Mult()
    stated = budget or UniformBudget(parameter=d_pr.budget_parameters[0], value=value)
    return PrivacySpec(
        space=space, multiverse=multiverse or Trivial(), input_divergence=d_x, output_divergence=d_pr, budget=stated
    )


ORDERED, CHANGED = HammingOrdered(), Neighbour(relation=DifferInOnePosition())
SUM = LinearMap(rows=((1,) * 5,), label="sum")
RECORDS = UnorderedRecords(attributes=(SEX,), most=3)
SEXES = Marginal(attributes=("sex",))

ROWS: dict[str, tuple[PrivacySpec, PrivacySpec, Toy]] = {
    "bounded by what another distance is": (spec(BITS, Hamming()), spec(BITS, Shrunk()), counted(2)),
    "bounds of its own distance": (spec(BITS, Stretched()), spec(BITS, Hamming(), value=TWO * 2), counted(1024)),
    "a method of which the distance is made": (spec(BITS, Hamming()), spec(BITS, Heavier()), counted(2)),
    "paths of its neighbours": (
        spec(BITS, Elsewhere(relation=DifferInOnePosition())), spec(BITS, Path(relation=DifferInOnePosition())),
        Toy(lambda x: FiniteLaw.point((x[0] + x[1]) % 2)),
    ),
    "a distance nowhere below another": (
        spec(BITS, Path(relation=DifferInOnePosition())), spec(BITS, Elsewhere(relation=DifferInOnePosition())), counted(2),
    ),
    "a relation within another": (
        spec(BITS, Neighbour(relation=ReplaceOne())), spec(BITS, Neighbour(relation=Opposite())), counted(2),
    ),
    "steps of a counted relation": (
        spec(BITS, Path(relation=Opposite())), spec(BITS, ORDERED), Toy(lambda x: FiniteLaw.point(0 < sum(x) < 5)),
    ),
    "neighbours at distance 1": (
        spec(BITS, Near(relation=DifferInOnePosition()), value=TWO * 8),
        spec(BITS, Near(relation=DifferInOnePosition()), TotalVariation(), value=Fraction(255, 257)), told(4),
    ),
    "a distance that grows on subspaces": (
        spec(UnorderedRecords(attributes=(SEX,), most=6), ByRoom()), spec(UnorderedRecords(attributes=(SEX,), most=5), ByRoom()),
        coin(lambda x: Fraction(8 ** x.count(("f",)), 8**7)),
    ),
    "equal by the parameters alone": (spec(BITS, Weighted(100)), spec(BITS, Weighted(1)), told(1024)),
    "a conversion by its name": (spec(BITS, CHANGED), spec(BITS, CHANGED, Steep(), value=1), told(2)),
    "a conversion by a name that it took": (spec(BITS, CHANGED), spec(BITS, CHANGED, Renamed(), value=1), told(2)),
    "a conversion by the name of a stranger": (spec(BITS, CHANGED), spec(BITS, CHANGED, Stranger(), value=1), told(2)),
    "bounded by what another divergence is": (spec(BITS, ORDERED), spec(BITS, ORDERED, SteepDelta(delta="1/100")), told(2)),
    "a bound of its own divergence": (spec(BITS, ORDERED, Halved()), spec(BITS, ORDERED, MultDelta(delta=0)), told(4)),
    "a divergence of laws": (spec(BITS, ORDERED, Between()), spec(BITS, ORDERED, MultDelta(delta=0)), told(4)),
    "only equal laws are at 0": (spec(BITS, ORDERED, Blind(), value=0), spec(BITS, ORDERED, value=0), told(2)),
    "the triangle inequality": (
        spec(BITS, CHANGED, Blind(), value="1/1000"),
        spec(BITS, Path(relation=DifferInOnePosition()), Blind(), value="1/1000"), each(4),
    ),
    "single events": (spec(FEW, ORDERED, Halved()), spec(FEW, ORDERED), told(4)),
    "a constant and its budget": (
        spec(FEW, Hamming(), InUnits(), value="1/10000"), spec(FEW, SymmetricDifference(), InUnits(), value="1/40000"),
        coin(lambda x: Fraction(5000 + 53 * sum(x), 10000)),
    ),
    "invariants of the labels": (
        spec(BITS, ORDERED, value=0, multiverse=LevelSets(invariants=(SUM,))),
        spec(BITS, ORDERED, value=0, multiverse=Everything(invariants=(SUM,))), PUBLISHED,
    ),
    "invariants of the list": (
        spec(BITS, ORDERED, value=0, multiverse=LevelSets(invariants=(SUM,))),
        spec(BITS, ORDERED, value=0, multiverse=Listed(invariants=(SUM,))), PUBLISHED,
    ),
    "the rows of an invariant": (
        spec(BITS, ORDERED, value=0, multiverse=LevelSets(invariants=(SUM,))),
        spec(BITS, ORDERED, value=0, multiverse=LevelSets(invariants=(Rough(rows=((1,) * 5,), label="sum"),))), PUBLISHED,
    ),
    "a coarser table": (
        spec(RECORDS, Hamming(), value=0, multiverse=LevelSets(invariants=(Marginal(attributes=()),))),
        spec(RECORDS, SymmetricDifference(), value=0, multiverse=LevelSets(invariants=(RoughTable(attributes=("sex",)),))), SIZE,
    ),
    "a table by what counts it": (
        spec(RECORDS, Hamming(), value=0, multiverse=LevelSets(invariants=(SEXES,))),
        spec(RECORDS, Hamming(), value=0, multiverse=LevelSets(invariants=(Uncounted(attributes=("sex",)),))),
        Toy(FiniteLaw.point),
    ),
    "one number everywhere": (
        spec(BITS, ORDERED, budget=Twice(parameter="epsilon", value=TWO)), spec(BITS, ORDERED), told(4),
    ),
    "numbers by label": (
        spec(BITS, SymmetricDifference(), budget=TwiceTable(parameter="epsilon", values=(("X", TWO),))),
        spec(BITS, ORDERED, budget=BudgetTable(parameter="epsilon", values=(("X", TWO * 2),))), counted(16),
    ),
    "equally many records": (
        spec(Loose(attributes=(SEX,), least=2, most=2), Hamming(), value=0),
        spec(Loose(attributes=(SEX,), least=2, most=2), SymmetricDifference(), value=0), SIZE,
    ),
    "a space that includes another": (
        spec(Even(attributes=(SEX,), most=4), SymmetricDifference(), value="1/1000"),
        spec(Even(attributes=(SEX,), most=3), SymmetricDifference(), value="1/1000"),
        Toy(lambda x: FiniteLaw.point(len(x) if len(x) % 2 else 0)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_nothing_false_is_derived(row: str) -> None:
    premise, conclusion, mechanism = ROWS[row]
    try:
        kept, broken = verify(mechanism, premise), verify(mechanism, conclusion)
    except PluginContractError:  # a block that contradicts itself is found before anything is judged
        with pytest.raises(PluginContractError):
            derive(premise, conclusion)
        return
    assert (kept.outcome, broken.outcome) == (Outcome.VERIFIED, Outcome.REFUTED), "the row proves nothing"
    found = derive(premise, conclusion)
    assert found is None, [step.reason for step in found.steps]


# --- what is verified -----------------------------------------------------------------------------


@define
class Downhill(HammingOrdered):
    """One way is a hundred times shorter."""

    def distance(self, left: Any, right: Any, space: Any) -> Any:
        return super().distance(left, right, space) * (1 if left < right else Fraction(1, 100))


@define
class Forward(Mult):
    """One of two orders."""

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        return pair.max_log_ratio(precision=precision)  # type: ignore[no-any-return]


@define
class Inside(Mult):
    """Large where laws are near each other."""

    def evaluate(self, pair: Any, *, precision: int = 64) -> Bracket:
        plain = super().evaluate(pair, precision=precision)
        return Bracket.exactly(5) if 0 < plain.upper <= TWO else plain


VERIFIED: dict[str, tuple[PrivacySpec, Toy]] = {
    "a symmetric distance": (spec(FEW, Downhill()), told(2)),
    "a symmetric divergence": (spec(FEW, ORDERED, Forward()), coin(lambda x: Fraction(1, 2) if x[0] else Fraction(1, 100))),
    "the farthest pair": (spec(FEW, ORDERED, Inside(), value=2), coin(lambda x: Fraction((1, 2, 8)[sum(x)], 16))),
}


@pytest.mark.parametrize("row", VERIFIED)
def test_nothing_false_is_verified(row: str) -> None:
    claimed, mechanism = VERIFIED[row]
    ordered = itertools.permutations(claimed.space.datasets(), 2)
    values = {(x, y): claimed.output_divergence.between(mechanism.function(x), mechanism.function(y)).lower for x, y in ordered}
    assert any(value > claimed.allowance(x, y) for (x, y), value in values.items()), "the row proves nothing"
    try:
        assert verify(mechanism, claimed).outcome is Outcome.REFUTED
    except PluginContractError as fault:
        assert claimed.output_divergence.name in str(fault)  # noqa: PT017 - a divergence that post-processing raises


def test_nothing_false_is_added_up() -> None:
    """Two releases that spend ln(2) each by half of a divergence: at twice that, the whole is not known to stay."""
    for divergence in (Halved(), Between(), Blind(), Steep(), SteepDelta(delta="1/100")):
        part = Part(id="one", spec=spec(BITS, ORDERED, divergence))
        with pytest.raises(NoCompositionError):
            compose([part, attrs.evolve(part, id="two")])


def test_nothing_false_is_said_of_a_test() -> None:
    """What the divergence allows is more than what its parent's formula says: odds of 4, at a budget of ln(2)."""
    left, right = told(4).function((1, 0)), told(4).function((0, 0))
    assert Halved().between(left, right).upper <= TWO
    assert allowed_power(Halved(), TWO, Fraction(1, 5)).upper >= Fraction(4, 5)
    assert Halved().largest_loss(TWO) is None


class Sharper(GaussianLaw):
    """A quarter of the variance, under the parameters of the whole."""

    @property
    def curvature(self) -> Any:
        return super().curvature * 4

    def log_peak(self, precision: int) -> Any:
        return super().log_peak(precision) + number(2).enclose(precision).log()

    def upper_tail(self, distance: Any, precision: int) -> Any:
        return super().upper_tail(2 * distance, precision)


def test_nothing_false_is_said_of_two_laws() -> None:
    """N(0, 1/4) against N(1, 1/4) is twice as far apart as the closed form of its parent says: rho = 2, and not 1/2."""
    left, right = Sharper(0, 1), Sharper(1, 1)
    assert left.closed_against(right) is None
    assert GaussianLaw(0, 1).closed_against(right) is None
    found = TotalVariation().between(left, right, precision=32)
    true = TotalVariation().between(GaussianLaw(0, Fraction(1, 4)), GaussianLaw(1, Fraction(1, 4)))
    assert found.lower <= true.upper
    assert found.upper >= true.lower
    assert found.lower > TotalVariation().between(GaussianLaw(0, 1), GaussianLaw(1, 1)).upper


# --- every first-party class ----------------------------------------------------------------------


def _members(cls: type, names: str) -> set[str]:
    return {name for base in cls.__mro__ for name in vars(base).get(names, ())}


def _changed(cls: type) -> Iterator[type]:
    """Classes derived from it, each of which replaces one of the members that every object of the kind needs."""
    needed = {name for base in cls.__mro__ for name in getattr(base, "__abstractmethods__", ())}
    for name in sorted(needed - _members(cls, "_asides") - _members(cls, "_promised")):
        yield type(f"Other{cls.__name__}", (cls,), {name: lambda self, *given: None, "__module__": __name__})


@pytest.mark.parametrize("kind", sorted({entry.kind for entry in installed().registry}))
def test_a_first_party_class_that_is_changed_promises_nothing(kind: str) -> None:
    """What is unknown of every object of the kind is unknown of it, its name is its own, and it is not what it was."""
    for cls in installed().registry.classes(kind):
        for derived in _changed(cls) if issubclass(cls, Promising) else ():
            for base in cls.__mro__:
                for name, unknown in vars(base).get("_promised", {}).items():
                    assert getattr(derived, name) is unknown, (derived, name)
            assert derived.name != cls.name  # type: ignore[attr-defined]
            assert not is_a(object.__new__(derived), cls)
        if issubclass(cls, Promising):
            assert is_a(object.__new__(type("Same", (cls,), {"__module__": __name__})), cls)
