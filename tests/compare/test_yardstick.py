"""Yardsticks: common blocks, both budgets by hand, each route accepted by the checker, and what is left to an attacker."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from pathlib import Path

import pytest
from dpspec_checker.check import check_derivation
from dpspec_divergences import DNor, Hamming, Mult, MultDelta, Neighbour, ReplaceOne, SymmetricDifference

from dpspec.api import find_yardsticks, read
from dpspec.base.errors import NoYardstickError, ParameterError
from dpspec.base.exact import ln, number
from dpspec.base.words import Word
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.input_divergence import WithinDistance
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import LevelSets, Trivial
from dpspec.blocks.records import Households, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.comparison.yardstick import Yardstick, attacks, common_multiverse, common_space
from dpspec.extension import installed
from dpspec.grammar.spec import PrivacySpec
from dpspec.report import yardsticks as words
from dpspec.report.terminal import drawn
from dpspec.verifier.standing import Standing
from tests.compare.hunting import contradicted, random_mechanism, tight

ROOT = Path(__file__).parents[2]
REGISTRY = installed().registry
TOPDOWN, SWAPPING = (
    read(ROOT / f"specs/{name}.dpspec.toml").spec for name in ("topdown-2020-pl-dhc", "swapping-2020-county-tract")
)
SEX, AGE = Marginal(attributes=("sex",)), Marginal(attributes=("age",))
SEXES, AGES = Attribute(name="sex", categories=("f", "m")), Attribute(name="age", categories=("minor", "adult"))
PEOPLE = UnorderedRecords(attributes=(SEXES, AGES), most=3)
TOTAL = LevelSets(invariants=(Marginal(attributes=()),))
HOUSES = Hamming(unit="household")


def people(standard, parameter, value, distance=None, multiverse=None, space=PEOPLE) -> PrivacySpec:
    return PrivacySpec(
        space=space, multiverse=multiverse or Trivial(), input_divergence=distance or Hamming(), output_divergence=standard,
        budget=UniformBudget(parameter=parameter, value=number(value)),
    )  # fmt: skip


def accepted(found: Yardstick) -> bool:
    return all(check_derivation(proof.data(REGISTRY)).accepted for proof in found.proofs())


def common(*arguments, **options) -> list[Yardstick]:
    return [one for one in find_yardsticks(*arguments, **options) if one.is_common]


# --- the census ----------------------------------------------------------------------------------


@pytest.mark.parametrize("largest", [1, 3, 10])
def test_the_census_per_household_by_hand(largest) -> None:
    """A household replaced changes at most N persons, so sqrt(15.29) per person is N sqrt(15.29) per household: rho = 15.29 N^2.
    The swap's epsilon = ln(65456463) per household, between datasets at least two households apart, is
    (epsilon/2 tanh(epsilon))-zCDP (B-N1, B-N3)."""
    found = common(TOPDOWN, SWAPPING, largest_household=largest)
    best = found[0]
    assert best.spec.input_divergence == Hamming(unit="household")
    assert best.spec.output_divergence == DNor()
    assert best.left.budget == number("15.29") * largest**2
    epsilon = math.log(65456463)
    assert float(best.right.budget) == pytest.approx(epsilon / 2 * math.tanh(epsilon), rel=1e-14)
    assert best.spec.budget.uniform() == max(best.left.budget, best.right.budget)
    assert best.spec.multiverse == SWAPPING.multiverse, "the swap's invariants determine those of TopDown"
    assert all(map(accepted, found))


def test_the_census_where_two_households_exchange_their_places() -> None:
    """The least distance in the swap's universes is 2: pure 2 epsilon, which is 2 epsilon tanh(epsilon)-zCDP; 4 x 15.29 N^2."""
    by_block = {(one.spec.input_divergence, one.spec.output_divergence): one
                for one in common(TOPDOWN, SWAPPING, largest_household=10, at={"delta": "1e-10"})}  # fmt: skip
    near, epsilon = WithinDistance(of=Hamming(unit="household"), most=2), 2 * math.log(65456463)
    concentrated, approximate = by_block[near, DNor()], by_block[near, MultDelta(delta=Fraction(1, 10**10))]
    assert concentrated.left.budget == number(6116)
    assert float(concentrated.right.budget) == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=1e-14)
    assert concentrated.right.tight == ("pure-to-zcdp",)
    assert concentrated.follows_from == approximate.follows_from == 0
    assert 6116 < float(approximate.left.budget) < 6116 + 2 * math.sqrt(6116 * math.log(1e10))
    assert float(approximate.right.budget) <= epsilon
    assert accepted(concentrated)
    assert accepted(approximate)


def test_the_census_without_a_largest_household_has_no_yardstick_and_says_why() -> None:
    found = find_yardsticks(TOPDOWN, SWAPPING)
    assert not any(one.is_common for one in found)
    missing = " ".join(text for one in found for side in (one.left, one.right) for text in side.missing)
    assert "the largest number of person records that one household changes" in missing
    unchecked = Standing(word=Word.UNCHECKED, reason="nothing was run")
    assert "none found" in drawn(*words.yardstick_parts(found, ("a", "b"), (unchecked, unchecked)))


def test_swapping_has_no_budget_per_person() -> None:
    found = find_yardsticks(TOPDOWN, SWAPPING, largest_household=10)
    (per_person,) = [
        one for one in found if one.spec.input_divergence == Hamming(unit="person") and one.spec.output_divergence == DNor()
    ]
    assert per_person.left.budget == number("15.29")
    assert per_person.right.budget is None


# --- small cases ---------------------------------------------------------------------------------


def test_pure_and_concentrated() -> None:
    """epsilon = 1 and rho = 2 meet in zCDP: 1 tanh(1/2) on all distances, since they are whole, and on neighbours."""
    (best, near, *_) = found = common(people(Mult(), "epsilon", 1), people(DNor(), "rho", 2))
    assert (best.spec.output_divergence, best.right.budget) == (DNor(), number(2))
    assert float(best.left.budget) == pytest.approx(math.tanh(0.5), rel=1e-15)
    assert best.spec.budget == UniformBudget(parameter="rho", value=number(2))
    assert near.spec.input_divergence == WithinDistance(of=Hamming(), most=1)
    assert float(near.left.budget) == pytest.approx(math.tanh(0.5), rel=1e-15)
    assert near.follows_from == 0
    assert all(map(accepted, found))


def test_on_neighbours_approximate_privacy_is_reached_at_a_stated_delta() -> None:
    near = Neighbour(relation=ReplaceOne())
    one, two = people(Mult(), "epsilon", "ln(3)", near), people(DNor(), "rho", "1/8", near)
    found = {str(one.spec.output_divergence): one for one in common(one, two, at={"delta": "1/5"})}
    approximate = found["mult-delta (delta = 0.2)"]
    # the worst pair of ln 3 is (3/4, 1/4): delta = 3/4 - e^epsilon/4 = 1/5 at e^epsilon = 11/5
    assert approximate.left.budget == ln(Fraction(11, 5))
    assert accepted(approximate)


def test_universes_intersect_and_determined_invariants_go() -> None:
    both, sexes = Marginal(attributes=("sex", "age")), LevelSets(invariants=(SEX,))
    one = people(Mult(), "epsilon", 1, multiverse=sexes)
    assert common_multiverse(one, people(Mult(), "epsilon", 1), PEOPLE) == sexes
    ages = people(Mult(), "epsilon", 1, multiverse=LevelSets(invariants=(AGE,)))
    assert common_multiverse(one, ages, PEOPLE).invariants == (SEX, AGE)
    fine = people(Mult(), "epsilon", 1, multiverse=LevelSets(invariants=(both,)))
    assert common_multiverse(one, fine, PEOPLE) == fine.multiverse
    assert [str(single.spec.budget) for single in common(one, fine)][:1] == ["epsilon = 1"]


def test_distances_meet_in_the_smaller_one_inside_universes() -> None:
    """Where the number of persons is public: 1 per person replaced is 1/2 per person added or removed."""
    one = people(Mult(), "epsilon", 1, multiverse=TOTAL)
    two = people(Mult(), "epsilon", 1, SymmetricDifference(), TOTAL)
    found = {str(single.spec.input_divergence): single for single in common(one, two)}
    assert found["symmetric-difference (person)"].left.budget == number("1/2")
    assert found["hamming (person)"].right.budget == number(2)
    assert all(map(accepted, found.values()))


def test_a_false_domination_is_rejected() -> None:
    """Without the public total nothing bounds hamming by the symmetric difference; a forged step of that kind is refused."""
    one, two = people(Mult(), "epsilon", 1, multiverse=TOTAL), people(Mult(), "epsilon", 1, SymmetricDifference(), TOTAL)
    found = {str(single.spec.input_divergence): single for single in common(one, two)}
    data = found["symmetric-difference (person)"].proofs()[0].data(REGISTRY)
    assert data["steps"][0]["rule"] == "domination-inside-universes"
    assert check_derivation(data).accepted
    for key in ("before", "after"):
        data["steps"][0][key] = data["steps"][0][key].replace('type = "marginal"', 'type = "marginal", where = { sex = ["f"] }')
    del data["steps"][1:]
    data["premise"], data["conclusion"] = data["steps"][0]["before"], data["steps"][0]["after"]
    assert "where" in data["premise"]
    assert not check_derivation(data).accepted


@pytest.mark.parametrize(("place", "constant", "smaller"), [(0, "10", "9"), (1, "20", "19")])
def test_a_constant_that_is_too_small_is_rejected(place, constant, smaller) -> None:
    """Ten persons of one household; of two households that exchange their places, twenty."""
    proof = common(TOPDOWN, SWAPPING, largest_household=10)[place].proofs()[0].data(REGISTRY)
    step = next(step for step in proof["steps"] if step["rule"] == "domination-inside-universes")
    assert step["parameters"] == {"constant": constant}
    step["parameters"] = {"constant": smaller}
    assert not check_derivation(proof).accepted


PAIR = UnorderedRecords(attributes=(SEXES, AGES), most=2)
FEW = UnorderedRecords(attributes=(SEXES,), most=3)
HOMES = Households(household=(Attribute(name="place", categories=("a",)),), person=(SEXES,), most=2, members=2)
TOTALS = LevelSets(invariants=(Marginal(unit="person", attributes=()), Marginal(unit="household", attributes=())))
FEWER = LevelSets(invariants=(Marginal(unit="person", attributes=()),))
HUNTED = [
    (people(Mult(), "epsilon", 9, None, TOTAL, FEW), people(DNor(), "rho", 9, SymmetricDifference(), TOTAL, FEW), None),
    (people(Mult(), "epsilon", 9, None, LevelSets(invariants=(SEX,)), PAIR), people(DNor(), "rho", 9, space=PAIR), None),
    (people(Mult(), "epsilon", 9, multiverse=FEWER, space=HOMES), people(Mult(), "epsilon", 9, HOUSES, TOTALS, HOMES), 1),
    (people(DNor(), "rho", 9, multiverse=FEWER, space=HOMES), people(Mult(), "epsilon", 9, HOUSES, TOTALS, HOMES), 2),
]


@pytest.mark.spread(0, slow=1)
@pytest.mark.parametrize("case", [0, pytest.param(1, marks=pytest.mark.long), *range(2, len(HUNTED))])
def test_no_mechanism_contradicts_a_route(case) -> None:
    """Random mechanisms that keep a side with nothing to spare keep what its route derives, step by step."""
    *sides, largest = HUNTED[case]
    rules, tried = set(), 0
    for place, (side, source) in enumerate(zip(sides, (random.Random(case), random.Random(-case)), strict=True)):
        for _ in range(3 if largest == 2 else 8):
            mechanism = random_mechanism(source, side)
            given = tight(side, mechanism)
            if given is None:
                continue
            pair = (given, sides[1]) if place == 0 else (sides[0], given)
            for found in common(*pair, largest_household=largest, at={"delta": "1/10"}):
                steps = (found.left, found.right)[place].derivation.steps
                assert not list(contradicted(mechanism, steps))
                rules |= {step.rule for step in steps}
                tried += 1
    assert tried >= 6
    assert case == 1 or "domination-inside-universes" in rules


def test_bad_input() -> None:
    other = people(Mult(), "epsilon", 1, space=UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")),)))
    with pytest.raises(NoYardstickError, match="neither dataset space"):
        common_space(people(Mult(), "epsilon", 1), other)
    with pytest.raises(NoYardstickError, match="persons in households"):
        find_yardsticks(people(Mult(), "epsilon", 1), people(DNor(), "rho", 1), largest_household=3)
    with pytest.raises(ParameterError, match="delta"):
        find_yardsticks(TOPDOWN, SWAPPING, at={"delta": "2"})
    with pytest.raises(ParameterError, match="most"):
        find_yardsticks(TOPDOWN, SWAPPING, within=0 - 1)


# --- one attacker --------------------------------------------------------------------------------


@pytest.mark.reference("K-N2")
def test_power_under_concentrated_privacy_is_the_least_bound() -> None:
    """rho = 2.63: 0.946584 at level 5 %, all orders down to 1 taken in."""
    found = find_yardsticks(people(DNor(), "rho", "2.63"), people(DNor(), "rho", 1))
    assert float(attacks(found)[0][0].power.upper) == pytest.approx(0.946584, abs=1e-6)


def test_attacks_use_the_own_standard_of_each_side() -> None:
    """epsilon = ln 3: power at most 3/20 at level 1/20, odds at most tripled; concentrated privacy bounds no odds."""
    found = find_yardsticks(people(Mult(), "epsilon", "ln(3)"), people(DNor(), "rho", "1/8"))
    pure, concentrated = attacks(found)[0]
    assert (pure.spec.output_divergence, pure.loss) == (Mult(), ln(3))
    assert float(pure.power.upper) == pytest.approx(0.15, rel=1e-12)
    assert (concentrated.spec.output_divergence, concentrated.loss) == (DNor(), None)
    assert 0.05 < float(concentrated.power.upper) < 0.5
    assert words.power_in_words(pure.power).startswith("at most 0.15")
