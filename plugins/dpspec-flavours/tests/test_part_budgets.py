"""Budgets by part: which entry of a label they read, and what they say of parts without a number."""

from fractions import Fraction
from typing import Any

import pytest
from dpspec_divergences import (
    UserMetric,
)
from dpspec_flavours.mechanisms import ListedLaw, ListedLaws
from dpspec_flavours.universes.level_sets import LatticeGaussian
from dpspec_flavours.universes.part_budgets import ByPart, ByValue, PersonalisedBudgets
from hypothesis import given, strategies as st

from dpspec import installed
from dpspec.base.errors import (
    NotInUniverseError,
    ParameterError,
)
from dpspec.base.exact import ln, number
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import Trivial, Universe
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.verifier.entry import verify_claim

REGISTRY = installed().registry
AREA, ILL = Attribute(name="area", categories=("n", "s")), Attribute(name="ill", categories=("no", "yes"))
PEOPLE = UnorderedRecords(attributes=(AREA, ILL), most=2)
BITS = BitVectors(length=3)
FIRMS = UnorderedRecords(attributes=(Attribute(name="size", categories=("1", "4")),), most=3, unit="firm")


# --- budgets ---------------------------------------------------------------------------------------


@pytest.mark.reference("B-S13")
def test_a_budget_by_part_looks_at_one_entry_of_the_label() -> None:
    budget = ByPart(parameter="epsilon", values=({"part": ["n"], "value": 1}, {"part": 3, "value": 2}), otherwise=5, place=1)  # type: ignore[arg-type]
    for label, value in (((0, ("n",)), 1), ((0, 3), 2), ((0, "n"), 5)):
        assert budget.at(Universe(label=label, datasets=()), BITS) == value
    assert budget.uniform() is None


@pytest.mark.parametrize("size", ["1", "4"])
def test_a_budget_by_value_is_affine_in_the_value_of_the_record(size: str) -> None:
    budget = ByValue(parameter="epsilon", attribute="size", base=number(3), rate=number("1/2"), unit="firm")
    label = ((size,), ())
    assert budget.at(Universe(label=label, datasets=()), FIRMS) == 3 + Fraction(1, 2) * int(size)


@pytest.mark.reference("B-S13")
def test_the_allowance_is_the_least_budget_of_the_shared_universes() -> None:
    spec = PersonalisedBudgets().spec()
    assert spec.allowance((0, 0), (1, 0)) == ln(2)
    assert spec.allowance((0, 0), (0, 1)) == ln(4)
    with pytest.raises(NotInUniverseError, match="no common universe"):
        spec.allowance((0, 0), (1, 1))


laws = st.lists(st.integers(1, 6), min_size=8, max_size=8)


def listed(weights: list[int], datasets: Any) -> ListedLaws:
    """A mechanism with two outcomes on each of the datasets."""
    rows = []
    for place, dataset in enumerate(datasets):
        a, b = weights[2 * place], weights[2 * place + 1]
        rows.append(ListedLaw(dataset=dataset, law=(("a", Fraction(a, a + b)), ("b", Fraction(b, a + b)))))
    return ListedLaws(laws=tuple(rows))


@pytest.mark.slow
@pytest.mark.reference("B-D30")
@given(laws)
def test_personal_budgets_and_weighted_distances_accept_the_same_mechanisms(weights: list[int]) -> None:
    """For a divergence with the triangle inequality: a path changes one person after the other."""
    by_person = PersonalisedBudgets().spec()
    mechanism = listed(weights, by_person.space.datasets())
    cost = (ln(2), ln(4))
    weighted = UserMetric(
        function=lambda x, y: sum((c for c, a, b in zip(cost, x, y, strict=True) if a != b), number(0)), label="weighted"
    )
    in_file = REGISTRY.get("input_divergences", "personal-weights")(weights=(Fraction(1), Fraction(2)))
    one = UniformBudget(parameter="epsilon", value=number(1))
    doubled = UniformBudget(parameter="epsilon", value=ln(2))
    verdicts = {
        verify_claim(mechanism, spec).outcome.value
        for spec in (
            by_person,
            by_person.replace(multiverse=Trivial(), input_divergence=weighted, budget=one),
            by_person.replace(multiverse=Trivial(), input_divergence=in_file, budget=doubled),
        )
    }
    assert len(verdicts) == 1


# --- subspaces -------------------------------------------------------------------------------------

rows = st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3).map(tuple), min_size=1, max_size=2).map(tuple)


@pytest.mark.parametrize(
    ("budget", "label", "words"),
    [
        (ByPart(parameter="epsilon", values=({"part": "n", "value": 1},)), ("s", ()), "add one, or `otherwise`"),  # type: ignore[arg-type]
        (ByPart(parameter="epsilon", values=({"part": "n", "value": 1},)), "X", "choose another place"),  # type: ignore[arg-type]
        (ByValue(parameter="epsilon", attribute="sise", rate=number(1), unit="firm"), (("1",), ()), "did you mean size"),
        (ByValue(parameter="epsilon", attribute="size", rate=number(1), unit="firm"), ("n", ()), "one-record"),
        (ByValue(parameter="epsilon", attribute="size", rate=number(1), unit="firm"), ((1,), ()), "one-record"),
    ],
)
def test_labels_that_a_budget_does_not_know_say_why(budget: Any, label: Any, words: str) -> None:
    with pytest.raises(NotInUniverseError, match=words):
        budget.at(Universe(label=label, datasets=()), FIRMS)


def test_parameters_that_make_no_sense_say_why() -> None:
    with pytest.raises(ParameterError, match="name a part twice"):
        ByPart(parameter="epsilon", values=({"part": 0, "value": 1}, {"part": 0, "value": 2}))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="either invariants or moves"):
        LatticeGaussian(variance=Fraction(1))
    with pytest.raises(ParameterError, match="nonzero vectors"):
        LatticeGaussian(moves=((0, 0),), variance=Fraction(1))
    area = ByValue(parameter="epsilon", attribute="area", rate=number(1))
    with pytest.raises(ParameterError, match="by-value, area"):
        area.at(Universe(label=(("n", "no"), ()), datasets=()), PEOPLE)
