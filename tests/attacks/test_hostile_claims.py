"""Claims made to break derived constants: each was verified, or read wrongly, although two datasets show the contrary.

The pairs are judged by the exhaustive engine on the law of the mechanism, which knows nothing of views.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import attrs
import pytest
from dpspec_divergences import AddRemove, Hamming, HammingOrdered, Mult, Neighbour, SymmetricDifference
from dpspec_flavours.secrets.averages import Subsampled
from dpspec_flavours.universes.part_budgets import ByPart
from dpspec_noise import (
    AboveThreshold,
    BoundedContributions,
    ClippedSum,
    ComposedMechanism,
    ExponentialMechanism,
    Filtered,
    Geometric,
)

from dpspec import Households, Marginal, PrivacySpec, Trivial, UniformBudget, UnorderedRecords
from dpspec.base.errors import IncompatibleBlocksError
from dpspec.blocks.multiverse import LevelSets, Multiverse
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.grammar.structure import Structure
from dpspec.grammar.views import Case, CountChanges, View
from dpspec.laws.law import FiniteLaw
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.proof import derive
from dpspec.verifier.sensitivity import Missing, Sensitivity
from dpspec.verifier.verdict import Outcome, Verdict


def named(name: str, *categories: str) -> Attribute:
    return Attribute(name=name, categories=categories)


HOMES = Households(household=(named("block", "b0", "b1"),), person=(named("kind", "k0", "k1"),), members=2)
PEOPLE = UnorderedRecords(attributes=(named("a", "a0", "a1"), named("b", "b0", "b1")))


def count(ratio: str = "1/2", **table: Any) -> Geometric:
    return Geometric(queries=(Marginal(**table),), ratio=ratio)


def claim(space: DatasetSpace, distance: Any, epsilon: str, *fixed: Marginal, **blocks: Any) -> PrivacySpec:
    return PrivacySpec(
        space=space,
        multiverse=blocks.get("multiverse", LevelSets(invariants=fixed) if fixed else Trivial()),
        input_divergence=distance,
        output_divergence=Mult(),
        budget=blocks.get("budget", UniformBudget(parameter="epsilon", value=epsilon)),
    )


def is_broken(mechanism: Any, spec: PrivacySpec, *pair: Any) -> bool:
    return verify(mechanism, spec, datasets=pair).outcome is Outcome.REFUTED


# --- persons counted, households bounded or sampled ----------------------------------------------


@pytest.mark.parametrize("bounds", [{"most": 1}, {"in_cell": 1}])
def test_a_person_who_comes_takes_the_place_of_another(bounds: Any) -> None:
    """With one person left of each household, one who comes first hides the one who was counted: two cells change."""
    bounded = BoundedContributions(mechanism=count(attributes=("kind",)), **bounds)
    spec = claim(HOMES, Neighbour(relation=AddRemove()), "ln(2)")
    alone, with_another = (("b0",), (("k1",),)), (("b0",), (("k0",), ("k1",)))
    assert is_broken(bounded, spec, (alone,), (with_another,))
    found = derive(bounded, spec)
    assert isinstance(found, Missing)
    assert found.step == "sensitivity"


@pytest.mark.parametrize("distance", [SymmetricDifference(), Neighbour(relation=AddRemove())])
def test_households_are_sampled_and_persons_counted(distance: Any) -> None:
    """Whether a household is drawn is seen from the others who live in it: the sample hides nothing of one more person."""
    found = derive(Subsampled(mechanism=count(attributes=("kind",)), rate="1/2"), claim(HOMES, distance, "ln(3/2)"))
    assert isinstance(found, Missing)
    assert found.step == "sample"


@pytest.mark.slow
def test_what_a_universe_fixes_is_not_fixed_in_a_sample() -> None:
    """A nearly exact count of the sampled a0 tells whether the one record of it takes part, and the other count what it is."""
    fixed = Marginal(attributes=(), where={"a": ("a0",)})
    both = ComposedMechanism(parts=(Geometric(queries=(fixed,), ratio="1/1000"), count(attributes=("b",))))
    sampled = Subsampled(mechanism=both, rate="1/100")
    spec = claim(PEOPLE, SymmetricDifference(), "ln(101/100)", fixed)
    assert is_broken(sampled, spec, (("a0", "b0"),), (("a0", "b1"),))
    found = derive(sampled, spec)
    assert not isinstance(found, Missing)
    assert found.outcome is not Outcome.VERIFIED


# --- views -----------------------------------------------------------------------------------------


def pair(share: str) -> tuple[FiniteLaw, FiniteLaw]:
    return FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli(share)


@attrs.frozen
class Certain(View):
    """A view that sees some changes and no others."""

    table: Marginal
    seen: CountChanges

    def changed(self, counts: CountChanges) -> tuple[Case, ...]:
        return ((pair("3/4"),) if counts == self.seen else (),)

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> Case:
        return ()


def test_views_of_different_cells_of_the_household_do_not_see_the_same() -> None:
    """Two k0 go from b0, k0 and k1 come to b1: by block and kind 2 go and 1, 1 come, by kind 1 goes and 1 comes.

    Both tables look at the same attribute of a person, and without monotony at the same list of possible changes.
    """
    views = (
        Certain(Marginal(attributes=("block", "kind")), (-2, 1, 1)),
        Certain(Marginal(attributes=("kind",)), (-1, 1)),
    )
    homes = Households(
        household=(named("block", "b0", "b1"),), person=(named("kind", "k0", "k1", "k2", "k3"),), members=2
    )  # fmt: skip
    known = Sensitivity(structure=Structure(views=views), spec=claim(homes, Hamming(unit="household"), "9"))
    costs = known.costs(known.changes()[1], 64)
    assert float(known.upper(costs)) >= 2 * float(Mult().between(*pair("3/4")).lower)


def test_a_view_that_reads_other_records_is_not_taken_for_one_that_invariants_fix() -> None:
    @attrs.frozen
    class Elsewhere(Certain):
        def read(self, dataset: Dataset, space: DatasetSpace) -> tuple[Any, ...]:
            return space.records(dataset, "person")[:1]

    table = Marginal(attributes=("a",))
    views = (Elsewhere(table, (1,)), Certain(table, (1,)))
    known = Sensitivity(structure=Structure(views=views), spec=claim(PEOPLE, SymmetricDifference(), "9", table))
    assert known.views == views[:1]


def test_a_sum_of_what_nobody_has() -> None:
    """An empty condition, or two that exclude each other: the sum is 0, which is proved and no failure of the plugin."""
    hours = UnorderedRecords(attributes=(named("n", "2", "3"),))
    none = Geometric(queries=(ClippedSum(attribute="n", least=1, most=5, where={"n": ()}),), ratio="1/2")
    two = Geometric(queries=(ClippedSum(attribute="n", least=1, most=5, where={"n": ("2",)}),), ratio="1/2")
    for mechanism in (none, Filtered(mechanism=two, where={"n": ("3",)})):
        found = derive(mechanism, claim(hours, SymmetricDifference(), "0"))
        assert not isinstance(found, Missing)
        assert found.outcome is Outcome.VERIFIED


@pytest.mark.parametrize(
    "made",
    [
        lambda table: ExponentialMechanism(query=table, rate="ln(2)"),
        lambda table: AboveThreshold(query=table, threshold=1, threshold_scale=1, query_scale=1),
    ],
)
def test_cells_that_no_output_tells_apart_are_refused(made: Any) -> None:
    """`u x v, w` and `u, v x w` have one label: the law knew one of them, the release and the pair both."""
    space = UnorderedRecords(attributes=(named("a", "u", "u x v"), named("b", "v x w", "w")))
    with pytest.raises(IncompatibleBlocksError, match="one label"):
        derive(made(Marginal(attributes=("a", "b"))), claim(space, SymmetricDifference(), "1"))


# --- universes that overlap ------------------------------------------------------------------------


class Twice(Multiverse):
    """Two universes, each of which holds every dataset."""

    name = "twice"

    @property
    def invariants(self) -> None:
        return None

    def labels(self, dataset: Dataset, space: DatasetSpace) -> tuple[Hashable, ...]:
        return ("generous",), ("strict",)

    def __str__(self) -> str:
        return "everything, twice"


def test_the_witness_names_the_universe_that_is_broken() -> None:
    budget = ByPart(parameter="epsilon", values=({"part": "generous", "value": 9},), otherwise="ln(2)")
    spec = claim(PEOPLE, SymmetricDifference(), "9", multiverse=Twice(), budget=budget)
    found = derive(count("1/3", attributes=("a",)), spec)
    assert not isinstance(found, Missing)
    assert found.witness is not None
    assert found.witness.universe == ("strict",)
    assert str(found.witness.bound) == "ln(2)"


def test_a_record_replaced_in_its_place_costs_a_removal_and_an_addition() -> None:
    """Of a sequence the counts alone are read; with rate 1/2, a removal costs (1 + e^eps)/2 and an addition 2/(1 + e^-eps)."""
    from dpspec import OrderedRecords

    ordered = OrderedRecords(attributes=PEOPLE.attributes)
    found = derive(Subsampled(mechanism=count(attributes=("a",)), rate="1/2"), claim(ordered, HammingOrdered(), "9"))
    assert isinstance(found, Verdict)
    assert str(found.constant) == "ln(2)"
