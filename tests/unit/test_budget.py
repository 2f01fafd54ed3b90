"""Budgets that differ by universe: what they read of a universe, and what is known of it."""

from __future__ import annotations

import operator
import re
from collections.abc import Hashable
from contextlib import nullcontext
from typing import Any, ClassVar

import pytest

import dpspec as dp
from dpspec.base.errors import BudgetNotKnownError, IncompatibleBlocksError, ParameterError, PluginContractError
from dpspec.base.exact import Number, number
from dpspec.base.params import define
from dpspec.blocks.budget import Budget, BudgetTable
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Multiverse, Trivial, Universe
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.comparison.compare import Answer
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import FiniteLaw
from dpspec.verifier.exhaustive import refute_on
from dpspec.verifier.verdict import Outcome
from tests.verify.toys import bits_spec, response


@define
class BySize(Budget):
    """A number for each dataset of the universe, which has to be known as a whole."""

    name: ClassVar[str] = "by-size"

    parameter: str = "epsilon"
    per_dataset: Number

    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        try:
            return self.per_dataset * len(universe)
        except Exception:  # however a stranger handles errors, what was read stays known
            return number(0)


@define
class FirstBit(Multiverse):
    """The datasets that begin with the same bit."""

    name: ClassVar[str] = "first-bit"

    @property
    def invariants(self) -> None:
        return None

    def labels(self, dataset: Any, space: DatasetSpace) -> tuple[Hashable, ...]:
        return (dataset[0],)


def by_size(per_dataset: Any, length: int = 3) -> PrivacySpec:
    """Universes of 2^(length - 1) datasets."""
    return bits_spec(length, multiverse=FirstBit()).replace(budget=BySize(per_dataset=number(per_dataset)))


PAIR: tuple[Dataset, Dataset] = ((0, 0, 0), (0, 0, 1))


def test_a_budget_that_reads_all_datasets_is_that_of_the_whole_universe() -> None:
    """Four datasets allow 4/3, which ln 3 keeps, and two of them alone would allow 2/3."""
    spec = by_size("1/3")
    assert spec.allowance(*PAIR) == number("4/3")
    part = Universe(label=0, datasets=PAIR, is_whole=False)
    assert spec.bound(part) == number("4/3")
    assert dp.verify(response("3/4"), spec, datasets=PAIR).outcome is Outcome.VERIFIED


def test_no_promise_is_derived_from_a_part_of_a_universe() -> None:
    """A promise of 4 does not imply one of 2, which the pairs of datasets would allow by themselves."""
    found = dp.compare(by_size(1), bits_spec(3, multiverse=FirstBit(), epsilon=2))
    assert found.forward.answer is Answer.SEPARATED
    assert found.backward.answer is Answer.IMPLIES


def test_a_budget_of_a_universe_that_cannot_be_listed_refutes_nothing() -> None:
    """2^19 datasets of a universe allow far more than two, and are not listed."""
    spec = by_size("1/10", 20)
    pair = (0,) * 20, (0,) * 19 + (1,)
    with pytest.raises(BudgetNotKnownError, match="depends on all datasets"):
        spec.allowance(*pair)
    found = refute_on(LastBit(), spec, [pair])
    assert found == "the budget by-size depends on all datasets of a universe, and the space has too many to list"


@define
class LastBit(Mechanism):
    """Publishes the last bit."""

    name: ClassVar[str] = "last-bit"

    def law(self, dataset: Any, space: DatasetSpace) -> FiniteLaw:
        return FiniteLaw.point(dataset[-1])


@define
class ByLabel(Budget):
    """A number that the label alone decides."""

    name: ClassVar[str] = "by-first-bit"

    parameter: str = "epsilon"

    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        return number(2) if universe.label == 0 else number("1/2")


def test_a_budget_that_reads_the_label_is_known_of_a_pair() -> None:
    """So it is in a space that is not listed."""
    spec = by_size(1, 20).replace(budget=ByLabel())
    assert [spec.allowance((bit,) * 20, (bit,) * 19 + (1 - bit,)) for bit in (0, 1)] == [number(2), number("1/2")]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (((1, number(1)), (True, number(2))), "two entries for one universe"),
        (((0, number(1)), (0.0, number(1))), "two entries for one universe"),
        ((([0], number(1)),), "pairs of a label and an exact number"),
        (((0, 1),), "pairs of a label and an exact number"),
        ({0: number(1)}, "pairs of a label and an exact number"),
        (((0, number(-1)),), "is negative in the universe 0"),
    ],
)
def test_a_table_has_one_number_for_each_label(values: Any, says: str) -> None:
    """Two numbers for one universe were called a fault of a plugin, and a label without a hash was an error of Python."""
    with pytest.raises(ParameterError, match=says):
        BudgetTable(parameter="epsilon", values=values)


@pytest.mark.parametrize("stated", [(1.0, "why"), number(1), (number(-1), "why")], ids=["float", "no reason", "negative"])
def test_a_bound_that_is_none_is_a_fault_of_the_divergence(stated: Any) -> None:
    """It was called one of the rule that uses it."""
    distance = Stated(stated=stated)
    with pytest.raises(PluginContractError, match="test-stated"):
        dp.compare(bits_spec(2).replace(input_divergence=distance), bits_spec(2))


@define
class Stated(InputDivergence):
    """The number of bits that differ, with a bound of any kind."""

    name: ClassVar[str] = "test-stated"

    stated: Any

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Number:
        return number(sum(map(operator.ne, left, right)))

    def bounds(self, other: InputDivergence, space: DatasetSpace) -> Any:
        return self.stated


BY_LIST = ExplicitUniverses(universes_by_label=(("northern", (("a",), ("b",))), ("southern", (("a",),)), ("empty", ())))
ONE_A, TWO_A = (((("a",), 1),),), (((("a",), 2),),)
BY_COUNT = LevelSets(invariants=(Marginal(attributes=("kind",)),))


@pytest.mark.parametrize(
    ("multiverse", "most", "labels", "says"),
    [
        (BY_LIST, 1, ["northern", "southern", "empty"], ""),
        (BY_LIST, None, ["northern", "southern", "soutern"], "did you mean southern?"),
        (Trivial(), None, ["X"], ""),
        (Trivial(), None, ["X", "Y"], "known: X"),
        (BY_COUNT, 1, [ONE_A, (((("b",), 1),),), ((),)], ""),
        (BY_COUNT, 1, [ONE_A, TWO_A], "names a universe that the specification does not have"),
        (BY_COUNT, None, [ONE_A, TWO_A, "misspelt"], ""),  # the universes are not listed
    ],
)
def test_a_misspelt_label_of_a_table_is_an_error(multiverse: Multiverse, most: int | None, labels: list[Any], says: str) -> None:
    """It was accepted next to entries for all universes, and promised nothing."""
    space = UnorderedRecords(attributes=(Attribute(name="kind", categories=("a", "b")),), most=most)
    budget = BudgetTable(parameter="epsilon", values=tuple((label, number(1)) for label in labels))
    with pytest.raises(IncompatibleBlocksError, match=re.escape(says)) if says else nullcontext():
        budget.check_universes(multiverse, space)
