"""What is missing for an implication: a finding for each block that differs, true, false or open."""

from __future__ import annotations

from typing import Any

from dpspec_divergences import DNor, Hamming, Mult, MultDelta, Neighbour, SymmetricDifference, TotalVariation
from dpspec_divergences.counting import AddRemove

from dpspec.base.exact import number
from dpspec.blocks.budget import BudgetTable, UniformBudget
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Trivial
from dpspec.blocks.records import Households, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.comparison.gaps import gaps
from dpspec.extension import installed
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason.search import rules_of

RULES = rules_of(installed().registry)
SEX, AGE = Attribute(name="sex", categories=("f", "m")), Attribute(name="age", categories=("young", "old"))
PEOPLE = UnorderedRecords(attributes=(SEX, AGE), most=3)


def spec(value: Any = 1, divergence: Any = None, d_x: Any = None, space: Any = PEOPLE, multiverse: Any = None) -> PrivacySpec:
    divergence = divergence or Mult()
    return PrivacySpec(
        space=space, multiverse=multiverse or Trivial(), input_divergence=d_x or SymmetricDifference(),
        output_divergence=divergence, budget=UniformBudget(parameter=divergence.budget_parameters[0], value=value),
    )  # fmt: skip


def found(nearest: PrivacySpec, goal: PrivacySpec) -> dict[str, tuple[bool | None, str]]:
    return {gap.block: (gap.holds, gap.reason) for gap in gaps(nearest, goal, RULES)}


def test_nothing_is_missing_between_equal_specifications() -> None:
    assert found(spec(), spec()) == {}


def test_a_budget_is_held_against_the_other_as_a_lipschitz_constant() -> None:
    assert found(spec(1), spec(2))["budget"][0] is True
    holds, reason = found(spec(2), spec(1))["budget"]
    assert holds is False
    assert "2 > 1" in reason
    assert found(spec("1/2", DNor()), spec("1/3", DNor()))["budget"][0] is False
    bits = BitVectors(length=1)
    universes = ExplicitUniverses(universes_by_label=(("a", ((0,),)), ("b", ((1,),))))
    table = BudgetTable(parameter="epsilon", values=(("a", number(1)), ("b", number(2))))
    varying = spec(space=bits, multiverse=universes, d_x=Hamming())
    assert found(varying.replace(budget=table), varying)["budget"][0] is None


def test_universes_that_the_goal_joins_are_a_false_step_and_split_ones_an_open_one() -> None:
    sexes, both = (LevelSets(invariants=(Marginal(attributes=names),)) for names in (("sex",), ("sex", "age")))
    assert found(spec(multiverse=both), spec(multiverse=sexes))["multiverse"][0] is False
    assert found(spec(multiverse=sexes), spec(multiverse=both))["multiverse"][0] is None
    bits = BitVectors(length=1)
    apart = ExplicitUniverses(universes_by_label=(("a", ((0,),)), ("b", ((1,),))))
    together = ExplicitUniverses(universes_by_label=(("a", ((0,), (1,))),))
    listed = [spec(space=bits, multiverse=one, d_x=Hamming()) for one in (apart, together)]
    assert found(*listed)["multiverse"][0] is False
    assert "(0,) and (1,)" in found(*listed)["multiverse"][1]
    assert found(*listed[::-1])["multiverse"][0] is None


def test_an_unknown_factor_between_units_is_named() -> None:
    homes = Households(household=(SEX,), person=(AGE,), most=2)
    persons, households = SymmetricDifference(), SymmetricDifference(unit="household")
    gap = found(spec(space=homes, d_x=persons), spec(space=homes, d_x=households))
    assert gap["input divergence"][0] is None
    assert "the largest number of person records that one household changes" in gap["input divergence"][1]
    assert gap["budget"] == (None, "not comparable until the divergences are")


def test_output_divergences_without_a_way_between_them() -> None:
    near = Neighbour(relation=AddRemove())
    open_ = found(spec("1/10", TotalVariation()), spec(1, Mult()))["output divergence"]
    assert open_[0] is None
    assert "neither a factor nor a conversion" in open_[1]
    for_neighbours = found(spec("1/2", DNor()), spec(1, MultDelta(delta="1/1000")))["output divergence"]
    assert "for neighbours only" in for_neighbours[1]
    assert "output divergence" not in found(spec(1, d_x=near), spec(2, d_x=near))


def test_another_space_is_all_that_is_said() -> None:
    small = UnorderedRecords(attributes=(SEX,), most=3)
    only = found(spec(), spec(5, TotalVariation(), space=small))
    assert list(only) == ["space"]
    assert "not known to hold all datasets" in only["space"][1]
    fewer = UnorderedRecords(attributes=(SEX, AGE), most=2)
    listed = spec(multiverse=LevelSets(invariants=(Marginal(attributes=()),)))
    assert "as large on the smaller space" in found(listed, spec(space=fewer))["space"][1]
