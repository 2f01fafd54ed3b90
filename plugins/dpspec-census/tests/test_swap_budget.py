"""The printed budgets of the swapping theorem, its routes, and the size b of a universe."""

from __future__ import annotations

from fractions import Fraction

import attrs
import pytest
from dpspec_census import (
    DerangementSwapping,
    LeastSwappingBudgetRoute,
    PermutationSwapping,
    StratumSizes,
    SwappingBudget,
    SwappingBudgetRoute,
    SwapRateForBudgetRoute,
    SwapScheme,
    nominal_budget,
)
from dpspec_census.swap_budget import rate_of_least_budget, swap_rates
from dpspec_census.swapping import THEOREM
from dpspec_divergences import Hamming, Mult

import dpspec as dp
from dpspec.base.errors import DpspecError, IncompatibleBlocksError, ParameterError
from dpspec.base.exact import INFINITY, ZERO, ln, number
from dpspec.blocks.multiverse import LevelSets, Trivial
from dpspec.blocks.records import UnorderedRecords
from dpspec.grammar.spec import PrivacySpec
from dpspec.verifier.exhaustive import refute_on

ATTRIBUTES = [{"name": "match", "count": 2}, {"name": "rest", "count": 2}, {"name": "swap", "count": 2}]
SPACE = UnorderedRecords(attributes=ATTRIBUTES, least=0, most=4, unit="household")
SCHEME = SwapScheme(match=["match"], swap=["swap"])


def spec_with(budget):
    return PrivacySpec(
        space=SPACE,
        multiverse=LevelSets(invariants=SCHEME.invariants(SPACE)),
        input_divergence=Hamming(unit="household"),
        output_divergence=Mult(),
        budget=budget,
    )


SPEC = spec_with(SwappingBudget(match=["match"], swap_rate="1/20"))


@pytest.mark.parametrize(
    ("b", "rate", "printed"),
    [
        pytest.param(13680081, "0.05", "19.3759", marks=pytest.mark.reference("B-O1")),
        pytest.param(13680081, "0.50", "16.4315", marks=pytest.mark.reference("B-O1")),
        pytest.param(3653802, "0.05", "18.0557", marks=pytest.mark.reference("B-O2")),
        pytest.param(3653802, "0.50", "15.1113", marks=pytest.mark.reference("B-O2")),
        pytest.param(3445076, "0.05", "17.9969", marks=pytest.mark.reference("B-O3")),
        pytest.param(3445076, "0.50", "15.0525", marks=pytest.mark.reference("B-O3")),
        pytest.param(853003, "0.05", "16.6010", marks=pytest.mark.reference("B-O4")),
        pytest.param(853003, "0.50", "13.6565", marks=pytest.mark.reference("B-O4")),
        pytest.param(21535, "0.05", "12.9219", marks=pytest.mark.reference("B-O5")),
        pytest.param(21535, "0.50", "9.9775", marks=pytest.mark.reference("B-O5")),
        pytest.param(11691, "0.05", "12.3111", marks=pytest.mark.reference("B-O6")),
        pytest.param(11691, "0.50", "9.3667", marks=pytest.mark.reference("B-O6")),
        pytest.param(264331, "0.01", "17.0801", marks=pytest.mark.reference("B-O7")),
        pytest.param(264331, "0.05", "15.4294", marks=pytest.mark.reference("B-O7")),
        pytest.param(264331, "0.10", "14.6822", marks=pytest.mark.reference("B-O7")),
        pytest.param(264331, "0.50", "12.4850", marks=pytest.mark.reference("B-O7")),
        pytest.param(8, "0.9", "2.1972", marks=pytest.mark.reference("B-O8")),
        pytest.param(100, "0.9", "2.4179", marks=pytest.mark.reference("B-O9")),
        pytest.param(100, "0.95", "2.9444", marks=pytest.mark.reference("B-O9")),
    ],
)
def test_the_printed_budgets(b, rate, printed):
    value = SwappingBudgetRoute(largest_stratum=b, swap_rate=rate).value(SPEC)
    assert value.is_exact
    assert f"{float(value.lower):.4f}" == printed
    budget = SwappingBudget(match=["match"], swap_rate=rate, largest_stratum=b)
    assert budget.uniform() == value.lower
    assert budget.at(next(SPEC.multiverse.universes(SPACE)), SPACE) == value.lower
    assert SwappingBudgetRoute().value(spec_with(budget)) == value


@pytest.mark.reference("B-O8")
def test_both_branches_meet_at_three_quarters_for_b_8():
    assert nominal_budget(8, Fraction(3, 4)) == ln(3)
    assert nominal_budget(8, Fraction(9, 10)) == ln(9)


@pytest.mark.reference("B-O10")
@pytest.mark.reference("B-X3")
def test_the_forms_of_the_theorem_differ_where_the_sources_do():
    for rate in ("1/20", "1/2", "9/10"):
        assert nominal_budget(0, Fraction(rate)) == ZERO
    assert nominal_budget(0, Fraction(9, 10), "s24") == ln(9)
    for b in (0, 1, 7):
        for rate in (Fraction(1, 20), Fraction(1, 2)):
            assert nominal_budget(b, rate, "s23-short") == nominal_budget(b, rate, "s24") == ln((b + 1) * (1 - rate) / rate)


@pytest.mark.parametrize(
    ("given", "wrong"), [({"unit": "household"}, "unit"), ({"unit": "person", "match": ["kid"]}, "did you mean kind")]
)
def test_strata_are_read_from_a_unit_of_the_space(given, wrong):
    """The unit of a file that leaves it out is the household: of persons, a false claim was undecided instead of refuted."""
    blocks = {"space": dp.records(kind=3), "distance": "hamming", "standard": "pure"}
    with pytest.raises(IncompatibleBlocksError, match=wrong):
        dp.spec(**blocks, budget=dp.swapping(swap_rate="9/10", **given))
    dp.spec(**blocks, budget=dp.swapping(swap_rate="9/10", largest_stratum=7, **given))


@pytest.mark.reference("B-T11")
def test_where_the_theorem_is_not_stated():
    for rate in (0, 1):
        assert nominal_budget(5, Fraction(rate)) == INFINITY
        assert nominal_budget(0, Fraction(rate)) == ZERO
        with pytest.raises(ParameterError, match="says nothing"):
            SwappingBudget(swap_rate=rate, form="s24")
    with pytest.raises(ParameterError, match="0 < p <= 1/2"):
        SwappingBudget(swap_rate="3/5", form="s23-short")


@pytest.mark.reference("B-T11")
def test_claims_are_those_that_are_printed():
    def labels(mechanism, rate):
        claims = mechanism(match=["match"], swap=["swap"], swap_rate=rate).claims(SPACE)
        return [(claim.source, claim.spec.budget.form) for claim in claims]

    full, short = (f"{THEOREM}, appendix", "s23-full"), (f"{THEOREM}, short form", "s23-short")
    assert labels(DerangementSwapping, "1/2") == [full, short]
    assert labels(DerangementSwapping, "3/5") == [full]
    assert labels(PermutationSwapping, "3/5") == [("Bailie et al. 2024, swapping theorem", "s24")]
    assert labels(DerangementSwapping, 0) == labels(PermutationSwapping, 1) == []
    (claim,) = PermutationSwapping(match=["match"], swap=["swap"], swap_rate="3/5").claims(SPACE)
    assert claim.spec.multiverse.invariants == SCHEME.invariants(SPACE)
    assert (claim.spec.input_divergence, claim.spec.output_divergence) == (Hamming(unit="household"), Mult())


@pytest.mark.reference("B-O11")
@pytest.mark.reference("B-T12")
def test_the_least_budget_and_its_rate():
    assert LeastSwappingBudgetRoute(largest_stratum=99).value(SPEC).lower == ln(10)
    rate = LeastSwappingBudgetRoute(largest_stratum=99, quantity="swap-rate").value(SPEC)
    assert rate.lower == Fraction(10, 11)
    assert f"{float(LeastSwappingBudgetRoute(largest_stratum=264331).value(SPEC).lower):.6f}" == "6.242481"
    rate = rate_of_least_budget(264331)
    assert f"{float(rate.lower):.6f}" == f"{float(rate.upper):.6f}" == "0.998059"
    assert not rate.is_exact
    assert rate.upper - rate.lower < Fraction(1, 10**40)
    low, high = rate.lower.as_fraction(), rate.upper.as_fraction()
    assert (low / (1 - low)) ** 2 < 264332 < (high / (1 - high)) ** 2


@pytest.mark.reference("B-O12")
@pytest.mark.reference("B-T12")
def test_the_two_rates_of_a_budget():
    smaller, larger = (SwapRateForBudgetRoute(epsilon=5, largest_stratum=99, branch=b).value(SPEC) for b in ("smaller", "larger"))
    assert [f"{float(rate.lower):.6f}" for rate in (smaller, larger)] == ["0.402555", "0.993307"]
    for rate in (smaller, larger):
        ends = sorted(nominal_budget(99, end.as_fraction()) for end in (rate.lower, rate.upper))
        assert ends[0] <= number(5) <= ends[1]
    # Between the two rates the budget is smaller, outside it is larger.
    assert nominal_budget(99, Fraction(9, 10)) < number(5) < nominal_budget(99, Fraction(2, 5))
    with pytest.raises(ParameterError, match="by no swap rate"):
        swap_rates(number("2.3"), 99)
    assert [float(rate.lower) for rate in swap_rates(ln(10), 99)] == pytest.approx([10 / 11] * 2)


def test_a_route_says_what_it_lacks():
    with pytest.raises(ParameterError, match="largest_stratum"):
        SwappingBudgetRoute(swap_rate="1/2").value(SPEC)


@pytest.mark.reference("B-D24")
@pytest.mark.reference("B-S6")
@pytest.mark.parametrize(
    ("records", "largest", "varied"),
    [
        ([], 0, 0),
        (["000"], 1, 0),
        (["000", "000", "000"], 3, 0),
        (["000", "000", "000", "100", "101"], 3, 2),
        (["000", "010", "101"], 2, 2),
        (["000", "110"], 1, 0),
    ],
)
def test_the_size_b_needs_two_different_records(records, largest, varied):
    dataset = tuple(sorted(tuple(record) for record in records))
    assert StratumSizes.of(dataset, SPACE, ("match",), "household") == StratumSizes(largest=largest, largest_varied=varied)


@pytest.mark.reference("B-S6")
@pytest.mark.reference("B-S13")
def test_b_is_constant_inside_a_universe_and_recomputed_for_each():
    full = SwappingBudget(match=["match"], swap_rate="1/20")
    short = SwappingBudget(match=["match"], swap_rate="1/20", form="s23-short")
    seen = set()
    for universe in SPEC.multiverse.universes(SPACE):
        sizes = {StratumSizes.of(x, SPACE, ("match",), "household") for x in universe.datasets}
        (size,) = sizes
        expected = ln(19 * (size.largest_varied + 1)) if size.largest_varied else ZERO
        assert full.at(universe, SPACE) == expected
        assert short.at(universe, SPACE) == ln(19 * (size.largest + 1))
        seen.add(size.largest_varied)
    assert seen == {0, 2, 3, 4}


def test_in_a_coarser_universe_the_largest_b_counts():
    (universe,) = Trivial().universes(SPACE)
    assert SwappingBudget(match=["match"], swap_rate="1/2").at(universe, SPACE) == ln(5)
    assert SwappingBudget(match=["match"], swap_rate="1/2").uniform() is None


def test_two_datasets_do_not_have_the_budget_of_their_universe_unless_it_fixes_the_strata() -> None:
    """In one universe of all tables of up to 250 persons the largest stratum has 250: pairs of one person refute nothing."""
    people = dp.records(attributes=[{"name": "sex", "categories": ["f", "m"]}], most=250)
    budget = SwappingBudget(match=(), swap_rate="1/2", unit="person")
    one = dp.spec(space=people, distance="hamming", standard="pure", budget=budget)
    noise = dp.geometric(queries=[dp.marginal(attributes=["sex"])], ratio="1/3")
    found = refute_on(noise, one, [((("f",),), (("m",),))])
    assert found == "the budget swapping depends on all datasets of a universe, and the space has too many to list"
    by_sex = dp.spec(
        space=people, distance="hamming", standard="pure", budget=budget, invariants=[dp.marginal(attributes=["sex"])]
    )
    same = (("f",), ("m",)), (("f",), ("m",))
    assert by_sex.allowance(*same) == 0
    assert budget.is_same_in_parts(by_sex.multiverse, people)
    assert not budget.is_same_in_parts(one.multiverse, people)
    assert not budget.is_same_in_parts(by_sex.multiverse, SPACE)  # it has no persons


@pytest.mark.parametrize(("arguments", "words"), [
    ({"match": ["mach"]}, "household attribute=mach: is unknown to the space records: did you mean match"),
    ({"match": ["match"], "rates": [{"stratum": ["2"], "swap_rate": "1/3"}]}, 'must be a category "0" to "1"'),
    ({"match": ["match"], "unit": "person"}, "is no unit of the space records"),
])  # fmt: skip
def test_strata_that_the_space_lacks_are_refused(arguments, words):
    """`check` accepted the file; `verify` ended with a ValueError, or a rate counted for no stratum."""
    budget = SwappingBudget(swap_rate="1/20", **arguments)
    with pytest.raises(DpspecError, match=words):
        budget.check_universes(SPEC.multiverse, SPACE)
    attrs.evolve(SPEC.budget, rates=[{"stratum": ["1"], "swap_rate": "1/3"}]).check_universes(SPEC.multiverse, SPACE)
    SwappingBudget(match=["mach"], swap_rate="1/20", largest_stratum=9).check_universes(SPEC.multiverse, SPACE)
