"""Specifications on two schemas of the same data, and what is said of different data."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from dpspec_census.swap_budget import SwappingBudget

from dpspec.api import compare, find_yardsticks, order_specs, read
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import LevelSets, Trivial
from dpspec.blocks.records import ContingencyTables, Households, UnorderedRecords, on_one_schema
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.comparison.compare import Answer, Implication
from dpspec.comparison.one_schema import restated
from dpspec.laws.law import FiniteLaw
from dpspec.report.comparison import headline
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome
from tests.compare.test_rules import HAMMING, SYMMETRIC, d_pr, spec
from tests.verify.toys import Toy

ROOT = Path(__file__).parents[2]
REGION, SEX, AGE = (Attribute(name=name, count=2) for name in ("region", "sex", "age"))


def records(*attributes: Attribute, **sizes: Any) -> UnorderedRecords:
    return UnorderedRecords(attributes=attributes, **{"most": 2, **sizes})


def names(space: Any) -> list[str]:
    return [attribute.name for attribute in space.attributes]


# --- which schema ---------------------------------------------------------------------------------


def test_a_missing_attribute_is_added_on_both_sides() -> None:
    left, right = on_one_schema(records(SEX, AGE), records(REGION, SEX)) or (None, None)
    assert left == right
    assert names(left) == ["sex", "age", "region"]
    assert on_one_schema(records(SEX), records(REGION, SEX, AGE)) == (records(REGION, SEX, AGE),) * 2


def test_a_coarser_attribute_that_is_known_from_a_finer_one_is_added() -> None:
    country, nested = Attribute(name="country", count=1), Attribute(name="region", count=2, within="country")
    left, right = on_one_schema(records(REGION, SEX), records(country, nested)) or (None, None)
    assert left == right
    assert names(left) == ["country", "region", "sex"]


def test_the_order_of_attributes_and_categories_is_none_of_the_data() -> None:
    """Categories in another order were different data; attributes in another order lacked an attribute without a name."""
    one, other = (Attribute(name="answer", categories=order) for order in (("yes", "no"), ("no", "yes")))
    left, right = records(one, SEX), records(SEX, other)
    assert on_one_schema(left, right) == (right, right)
    said = "yes", "no"
    both = [
        spec(space, HAMMING, multiverse=LevelSets(invariants=(Marginal(attributes=(), where=(("answer", (kept,)),)),)))
        for space, kept in zip((left, right), said, strict=True)
    ]
    assert restated(*both)[2] == ("A is restated with its attributes and categories in another order",)
    assert compare(*both).relation is Implication.EQUIVALENT  # as many no, where the number of all is the same
    inner = Attribute(name="street", count=4, within="answer")  # its first two streets lie in the first category
    assert on_one_schema(records(one, inner), records(other, inner)) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (records(REGION), records(SEX)),
        (records(REGION, SEX), records(Attribute(name="region", categories=("n", "s")), SEX)),
        (records(REGION, SEX), records(REGION, SEX, unit="household")),
        (records(REGION, SEX), ContingencyTables(attributes=(REGION, SEX))),
        (records(REGION, SEX), BitVectors(length=2)),
        (records(REGION, SEX), Households(household=(REGION,), person=(SEX,))),
        (records(REGION, SEX), records(SEX, Attribute(name="region", count=2, within="sex"))),
    ],
    ids=["nothing shared", "other categories", "another unit", "tables", "bits", "households", "another nesting"],
)
def test_different_data_have_no_common_schema(left: Any, right: Any) -> None:
    assert on_one_schema(left, right) is None
    assert on_one_schema(right, left) is None


def test_an_attribute_of_persons_here_and_of_households_there() -> None:
    here, there = Households(household=(REGION, AGE), person=(SEX,)), Households(household=(REGION,), person=(SEX, AGE))
    assert on_one_schema(here, there) is None


# --- what is restated -----------------------------------------------------------------------------


def test_sizes_stay_what_they_are() -> None:
    left, right, notes = restated(spec(records(SEX, most=3), HAMMING), spec(records(SEX, AGE, most=2), HAMMING))
    assert (left.space.most, right.space.most) == (3, 2)  # type: ignore[attr-defined]
    assert notes == ("A is restated with the attributes that its schema lacks: age",)


@pytest.mark.parametrize("seed", range(40))
def test_a_mechanism_that_forgets_keeps_the_promise_as_restated(seed: int) -> None:
    """The argument, on random mechanisms: M keeps S; what forgets the added attribute first keeps S as restated."""
    generator = random.Random(seed)
    small = records(SEX, REGION)
    held = generator.choice(((), (Marginal(attributes=()),), (Marginal(attributes=("sex",)),)))
    multiverse = LevelSets(invariants=held) if held else Trivial()
    laws = {x: FiniteLaw.bernoulli(Fraction(generator.randint(1, 9), 10)) for x in small.datasets()}
    mechanism = Toy(lambda x: laws[x])
    given = spec(small, generator.choice((HAMMING, SYMMETRIC)), multiverse=multiverse, value="inf")
    found = verify(mechanism, given)
    least = given.replace(budget=spec(small, HAMMING, value=found.constant.upper).budget)
    assert verify(mechanism, least).outcome is Outcome.VERIFIED
    wider, _, notes = restated(least, spec(records(SEX, REGION, AGE), HAMMING))
    assert notes

    def forgets(x: Any) -> Any:
        return laws[small.dataset([record[:2] for record in x])]

    assert verify(Toy(forgets), wider).outcome is Outcome.VERIFIED


@pytest.mark.parametrize(
    "given",
    [
        spec(records(SEX), HAMMING, multiverse=LevelSets(invariants=(LinearMap(rows=((1, 0),)),))),
        spec(records(SEX, REGION), HAMMING).replace(budget=SwappingBudget(match=("sex",), swap_rate="1/10", unit="person")),
    ],
    ids=["a linear map over cells", "a budget that differs by universe"],
)
def test_what_an_added_attribute_would_change_is_left_as_it_is(given: Any) -> None:
    assert restated(given, spec(records(SEX, AGE), HAMMING))[2] == ()


# --- what is said ---------------------------------------------------------------------------------


def test_two_schemas_of_the_same_data_are_compared_on_the_larger_one() -> None:
    found = compare(spec(records(SEX), HAMMING, value=1), spec(records(SEX, AGE), HAMMING, value=2))
    assert found.relation is Implication.IMPLIES
    assert "Compared on one schema: A is restated with the attributes that its schema lacks: age." in str(found)
    assert found.to_dict()["restated"] == list(found.restated)
    assert found.forward.derivation is not None
    assert found.forward.derivation.premise.space == records(SEX, AGE)


def test_different_data_are_named_in_the_first_line() -> None:
    found = compare(spec(records(SEX), HAMMING, value=1), spec(records(AGE), HAMMING, value=2))
    assert found.relation is Implication.DIFFERENT_DATA
    first, *rest = str(found).splitlines()
    assert first.startswith("Relation: A and B describe different data")
    assert "publish the dataset" not in "\n".join(rest)
    assert "publish the dataset" in found.to_text(verbose=True)
    assert headline(found, (None, None)).startswith("A and B describe different data")
    assert found.to_dict()["relation"] == "different data"


def test_what_one_space_lacks_comes_last_where_there_is_more_to_say() -> None:
    """Both spaces hold persons with a sex; the second allows more of them. That is no reason that comes first."""
    found = compare(spec(records(SEX, most=1), HAMMING, value=2), spec(records(SEX, most=2), HAMMING, value=1))
    assert found.forward.answer is Answer.SEPARATED
    assert found.forward.separation is not None
    assert found.forward.separation.kind == "mechanism"


def test_an_infinite_budget_is_implied_by_whatever_it_is_about() -> None:
    found = compare(spec(records(SEX), HAMMING, value=1), spec(records(AGE), HAMMING, value="inf"))
    assert found.relation is not Implication.INCOMPARABLE


def test_an_order_leaves_specifications_as_they_are() -> None:
    """Implication is transitive between specifications that stay what they are."""
    from dpspec.specfile.document import SpecDocument

    one, two = spec(records(SEX), HAMMING, value=1), spec(records(SEX, AGE), HAMMING, value=2)
    found = order_specs([SpecDocument(id=id, title=id, spec=given) for id, given in (("one", one), ("two", two), ("more", two))])
    assert not found.implies(0, 1)


@pytest.mark.parametrize("scheme", ["state-size-county", "blockgroup-size-block"])
def test_schemes_that_match_on_household_size_have_a_yardstick_with_topdown(scheme: str) -> None:
    topdown, swap = (read(ROOT / f"specs/{name}.dpspec.toml").spec for name in ("topdown-2020-pl", f"swapping-2020-{scheme}"))
    left, right, notes = restated(topdown, swap)
    assert left.space == right.space == swap.space
    assert notes == ("A is restated with the attributes that its schema lacks: size",)
    assert (left.multiverse, left.input_divergence, left.budget) == (topdown.multiverse, topdown.input_divergence, topdown.budget)
    found = find_yardsticks(topdown, swap, largest_household=10)
    assert found[0].is_common
    assert found[0].spec.output_divergence == d_pr("d-nor")


def test_the_published_hierarchy_is_compared_with_the_sources_one() -> None:
    """Kifer et al. 2022 have the nation, hhgq and occupancy where the slides have one attribute, kind."""
    found = restated(*(read(ROOT / f"specs/{n}.dpspec.toml").spec for n in ("topdown-2020-pl", "census-2020/pl-persons")))
    assert found[0].space == found[1].space
    assert [a.name for a in found[0].space.attributes_of("household")][:3] == ["us", "state", "county"]
    assert len(found[2]) == 2
