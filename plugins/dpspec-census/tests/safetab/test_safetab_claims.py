"""Adaptive tables in miniature: the claims hold on every pair, and what breaks the argument is refuted (B-A7, B-N1)."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from dpspec_census import Safetab, SafetabGeometric
from dpspec_census.safetab.design import Planned
from dpspec_divergences import AddRemove, DNor, Hamming, Mult, Neighbour, SymmetricDifference
from dpspec_noise import BoundedContributions, PostProcessed

from dpspec import PrivacySpec, Trivial, UniformBudget
from dpspec.base.exact import INFINITY, number
from dpspec.base.params import define, evolve
from dpspec.blocks.records import Households, UnorderedRecords
from dpspec.laws import Adaptive, FiniteLaw, Product
from dpspec.verifier import exhaustive
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.proof import Missing, derive
from dpspec.verifier.verdict import Outcome

GROUPS = [
    {"name": "A", "where": {"race": ["a", "ab"]}},
    {"name": "B", "where": {"race": ["b", "ab"]}},
    {"name": "C", "where": {"race": ["cd"]}},
    {"name": "D", "where": {"race": ["cd"]}},
]
DETAILED = {"name": "detailed", "most": 2, "groups": GROUPS}
WHOLE = {"population": "detailed", "share": "1/3", "choice": "1/10", "tables": [[], ["sex"]], "thresholds": [2]}
STATES = {
    "population": "detailed",
    "geography": "state",
    "share": "2/3",
    "choice": "1/4",
    "tables": [[], ["sex"]],
    "thresholds": [1],
}
LN_BUDGET = "120*ln(3/2)"


ALL = ("a", "b", "ab", "cd")


def space(size, *, states=("x", "y")):
    attributes = [
        {"name": "race", "categories": ALL},
        {"name": "state", "categories": states},
        {"name": "sex", "categories": ["f", "m"]},
    ]
    return UnorderedRecords(attributes=attributes, least=size, most=size)


def gaussian(cls=Safetab, **changes):
    return cls(**{"populations": [DETAILED], "levels": [WHOLE, STATES], "budget": "2", **changes})


def geometric(cls=SafetabGeometric, **changes):
    return cls(**{"populations": [DETAILED], "levels": [WHOLE, STATES], "budget": LN_BUDGET, **changes})


def judged(mechanism, over):
    (claim,) = mechanism.claims(over)
    return verify_claim(mechanism, claim.spec)


@pytest.mark.slow
@pytest.mark.reference("B-A7")
@pytest.mark.reference("B-N1")
@pytest.mark.parametrize("over", [space(1), pytest.param(space(2, states=("x",)), marks=pytest.mark.long)])
def test_the_claims_hold_on_every_pair(over):
    (claim,) = gaussian().claims(over)
    spec = claim.spec
    assert (spec.output_divergence, spec.input_divergence) == (DNor(), Hamming(unit="person"))
    assert spec.multiverse.invariants == ()
    for mechanism in (gaussian(), geometric()):
        assert judged(mechanism, over).outcome is Outcome.VERIFIED
        (own,) = mechanism.claims(over)
        walked = exhaustive.verify(mechanism, own.spec)  # without a limit of work: `judged` leaves it for the proof
        assert walked.outcome is Outcome.VERIFIED
        assert walked.universes[0].pairs == math.comb(over.cardinality(), 2)


def test_a_person_who_moves_from_two_groups_to_two_others_in_another_state_uses_the_whole_epsilon():
    # Every count that can move does, by one; and a total that passes a far threshold, on either side, tells all it can.
    far = {"thresholds": [-2, 3], "tables": [[], ["race"], ["sex"]]}
    levels = [{**WHOLE, **far}, {**STATES, **far}]
    mechanism = geometric(levels=levels)
    over = space(1)
    moved = [mechanism.law((record,), over) for record in (("ab", "x", "f"), ("cd", "y", "m"))]
    assert Mult().between(*moved).lower == number(LN_BUDGET)
    assert judged(mechanism, over).universes[0].constant.lower == number(LN_BUDGET)


def test_at_most_twice_the_most_counts_move_whatever_the_groups():
    over = space(1)
    for most in (1, 2):
        mechanism = gaussian(populations=[{**DETAILED, "most": most}])
        for planned in mechanism.plan():
            largest = 0
            for x, y in itertools.combinations(over.datasets(), 2):
                left, right = (counts_by_hand(z, planned) for z in (x, y))
                for stage in ("total", "table"):
                    changed = [abs(left[stage].get(k, 0) - right[stage].get(k, 0)) for k in {*left[stage], *right[stage]}]
                    assert max(changed) <= 1
                    largest = max(largest, sum(changed))
            assert largest == 2 * most


def counts_by_hand(dataset, planned):
    """Totals and tables of one level, record by record."""
    totals, tables = {}, {}
    for race, state, sex in dataset:
        unit = state if planned.level.geography else "whole"
        inside = [group.name for group in planned.population.groups if race in dict(group.where)["race"]]
        for group in inside[: planned.population.most]:
            totals[group, unit] = totals.get((group, unit), 0) + 1
            tables[group, unit, sex] = tables.get((group, unit, sex), 0) + 1
    return {"total": totals, "table": tables}


# --- the law ---------------------------------------------------------------------------------------------


def test_the_law_is_the_mixture_written_out_in_fractions():
    over = space(2, states=("x",))
    one_group = {"name": "detailed", "most": 1, "groups": GROUPS[:1]}
    level = {**WHOLE, "share": 1, "choice": "1/2"}
    mechanism = geometric(populations=[one_group], levels=[level], budget="4*ln(2)")  # both ratios are 1/2
    x = over.dataset([("a", "x", "f"), ("cd", "x", "m")])

    def mass(center, k):
        return Fraction(1, 3) * Fraction(1, 2) ** abs(k - center)

    (factor,) = mechanism.law(x, over).laws
    assert isinstance(factor, Adaptive)
    assert factor.first == FiniteLaw.of({"0": "2/3", "1": "1/3"})  # total 1; P(noise >= 1) = 1/3
    (_, total), (_, table) = factor.then
    assert [law.probability(3) for law in total.laws] == [mass(1, 3)]
    assert [law.probability(3) for law in table.laws] == [mass(1, 3), mass(0, 3)]


def test_the_choice_of_a_table_is_no_number_that_is_changed():
    """The released file has the columns of the chosen table, however its numbers are rounded."""
    over = space(1, states=("x",))
    mechanism = geometric(populations=[{"name": "detailed", "most": 1, "groups": GROUPS[:1]}], levels=[{**WHOLE, "share": 1}])
    (factor,) = mechanism.law(over.dataset([("a", "x", "f")]), over).laws
    (law,) = PostProcessed(mechanism=mechanism, at_least=1000, rounded_to=1000).law(over.dataset([("a", "x", "f")]), over).laws
    shown = [law.function((label, (0,) * len(table.laws))) for label, table in factor.then]
    assert shown == [("0", (1000,)), ("1", (1000, 1000))]
    one, other = (law.function((label, (0,))) for label in factor.labels)
    assert one != other


def test_persons_of_households_are_counted_with_the_geography_of_their_household():
    homes = Households(
        household=[{"name": "state", "categories": ["x", "y"]}],
        person=[{"name": "race", "categories": ["a", "b", "ab", "cd"]}, {"name": "sex", "categories": ["f", "m"]}],
        most=2,
        members=2,
    )
    people = UnorderedRecords(attributes=homes.attributes_of("person"), most=4)
    mechanism = gaussian()
    for dataset in list(homes.datasets())[::97]:
        persons = homes.records(dataset, "person")
        assert mechanism.law(dataset, homes) == mechanism.law(people.dataset(persons), people)


@pytest.mark.parametrize("make", [gaussian, geometric])
@pytest.mark.parametrize(
    ("most", "second"), [(1, ["both"]), (1, ["both", "one"]), (2, ["both"]), (2, ["both", "one"]), (1, ["one"])]
)
def test_no_proof_takes_a_person_who_is_left_out_of_a_group_for_one_in_it(make, most, second):
    """Of a person in more groups than count, the first ones do. So whoever leaves the first may enter the second."""
    groups = [{"name": "first", "where": {"race": ["both"]}}, {"name": "second", "where": {"race": second}}]
    level = {"population": "detailed", "share": 1, "tables": [[]]}
    budget = "4*ln(2)" if make is geometric else "2"
    mechanism = make(populations=[{"name": "detailed", "most": most, "groups": groups}], levels=[level], budget=budget)
    over = UnorderedRecords(attributes=[{"name": "race", "categories": ["both", "one"]}], least=1, most=1)
    (claim,) = mechanism.claims(over)
    found, (x, y) = derive(mechanism, claim.spec), over.datasets()
    assert isinstance(found, Missing) is (most == 1 and "both" in second)
    if not isinstance(found, Missing):
        assert found.constant.upper >= claim.spec.output_divergence.between(mechanism.law(x, over), mechanism.law(y, over)).lower


# --- mutations -------------------------------------------------------------------------------------------


def chosen_from_the_truth(planned, found, tables):
    """The choice is made from the true total."""
    sure = sum(found.total >= threshold for threshold in planned.level.thresholds)
    return Adaptive(FiniteLaw.point(sure), tuple(enumerate(tables)))


@define
class Truthful(Safetab):
    """Chooses the table from the total without noise."""

    name = "truthful"

    def one(self, planned, found):
        tables = [Product(tuple(map(planned.filling.noise, counts))) for counts in found.tables]
        return chosen_from_the_truth(planned, found, tables)


@define
class TruthfulGeometric(SafetabGeometric):
    """The same with geometric noise."""

    name = "truthful-geometric"
    one = Truthful.one


@pytest.mark.parametrize("mechanism", [gaussian(Truthful), geometric(TruthfulGeometric)])
def test_a_choice_from_the_true_total_is_refuted(mechanism):
    verdict = judged(mechanism, space(1))
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.witness.divergence.lower == INFINITY


def overcounting(make):
    """Noise for persons in one group, counts of persons in two."""
    honest = make(populations=[{**DETAILED, "most": 1}])

    @define
    class Overcounting(type(honest)):
        name = "overcounting"

        def plan(self):
            wide = evolve(self.populations[0], most=2)
            return tuple(
                Planned(level=p.level, population=wide, choosing=p.choosing, filling=p.filling) for p in type(honest).plan(self)
            )

    return Overcounting(populations=honest.populations, levels=honest.levels, budget=honest.budget), honest


@pytest.mark.spread(1)
@pytest.mark.parametrize("make", [gaussian, geometric])
def test_a_person_in_more_groups_than_stated_is_refuted(make):
    wrong, honest = overcounting(make)
    over = space(1)
    assert judged(honest, over).outcome is Outcome.VERIFIED
    assert judged(wrong, over).outcome is Outcome.REFUTED


@pytest.mark.spread(1)
@pytest.mark.parametrize(("make", "budget"), [(gaussian, "1"), (geometric, "60*ln(3/2)")])
def test_a_claim_that_forgets_that_a_replaced_person_also_leaves_groups_is_refuted(make, budget):
    over, mechanism = space(1), make()
    (claim,) = make(budget=budget).claims(over)
    assert verify_claim(mechanism, claim.spec).outcome is Outcome.REFUTED


@pytest.mark.spread(1)
@pytest.mark.parametrize("make", [gaussian, geometric])
def test_tables_that_spend_what_the_choice_has_spent_already_are_refuted(make):
    honest = make(levels=[{**STATES, "share": 1, "choice": "1/2", "thresholds": [3]}])

    @define
    class Spendthrift(type(honest)):
        name = "spendthrift"

        def plan(self):
            return tuple(
                Planned(level=p.level, population=p.population, choosing=p.choosing, filling=self.stage(self.budget, 2))
                for p in type(honest).plan(self)
            )

    over = space(1)
    wrong = Spendthrift(populations=honest.populations, levels=honest.levels, budget=honest.budget)
    assert judged(honest, over).outcome is Outcome.VERIFIED
    assert judged(wrong, over).outcome is Outcome.REFUTED


# --- tables that are coarser than the cells of the structure ------------------------------------------


def of_everybody(tables, thresholds):
    """The total of all persons, which chooses one of the tables: variance 10 for the total, 5/2 for a cell."""
    level = {"population": "all", "share": 1, "choice": "1/5", "tables": tables, "thresholds": thresholds}
    return Safetab(populations=[{"name": "all", "most": 1, "groups": [{"name": "all"}]}], levels=[level], budget="1/2")


def rho_claim(over, distance, rho):
    return PrivacySpec(
        space=over, multiverse=Trivial(), input_divergence=distance, output_divergence=DNor(),
        budget=UniformBudget(parameter="rho", value=rho),
    )  # fmt: skip


@pytest.mark.parametrize("categories", [2, 2_000])
def test_members_who_may_not_be_in_one_cell_are_in_one_cell_of_a_coarser_table(categories):
    """A household of two persons of different sex moves the total by 2, not two cells by 1: 4/20 + 4/5 and not 4/20 + 2/5."""
    over = Households(household=[{"name": "block", "count": 1}], person=[{"name": "sex", "count": categories}], members=2)
    bounded = BoundedContributions(mechanism=of_everybody([[], ["sex"]], [3]), in_cell=1, by=("sex",))
    near = Neighbour(relation=AddRemove(unit="household"))
    assert verify_claim(bounded, rho_claim(over, near, "3/5")).outcome is not Outcome.VERIFIED
    held = verify_claim(bounded, rho_claim(over, near, 1))
    assert held.outcome is Outcome.VERIFIED
    assert held.constant.upper == 1
    refuted = verify_claim(bounded, rho_claim(over, near, "1/2"))
    assert refuted.witness is None or refuted.witness.divergence.lower <= refuted.witness.divergence.upper


def test_the_law_on_several_persons_does_not_contradict_the_structure():
    """Two women who differ by age are in one cell of the table by sex: the right claim ended with an error that blamed it."""
    people = UnorderedRecords(attributes=[{"name": "sex", "count": 2}, {"name": "age", "count": 2}])
    mechanism = of_everybody([["sex"], ["age"], []], [3, 9])
    for distance, rho in ((SymmetricDifference(), "1/4"), (Hamming(), "2/5")):
        assert verify_claim(mechanism, rho_claim(people, distance, rho)).outcome is Outcome.VERIFIED
