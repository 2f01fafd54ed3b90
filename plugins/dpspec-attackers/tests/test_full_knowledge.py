"""What the release does to beliefs: the strongest attacker, any prior, the worlds without the record (K-T23 to K-T29, K-T31)."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from dpspec_attackers.full_knowledge import ODDS, PRIOR, ArbitraryPrior, StrongestAttacker, probability
from dpspec_attackers.independent_records import IndependentRecord
from dpspec_attackers.knowledge import CLASSES, AnyPriorTrueRecord, OthersKnownPredicted, WorstCase, pbdp
from dpspec_attackers.sampling import Outsider
from dpspec_attackers.semantics import loss_bound, pure_bound
from dpspec_attackers.tester import CompoundTester
from dpspec_attackers.worlds import ANY, Counterfactual, Weighted, World, replacing
from dpspec_divergences import (
    AddRemove,
    DNor,
    GaussianTradeOff,
    HockeyStick,
    Mult,
    MultDelta,
    Neighbour,
    Pbdp,
    Renyi,
    SymmetricDifference,
    TotalVariation,
)
from dpspec_flavours.streams.personal import MultOneWay, PersonalisedResponse, PersonalWeights
from dpspec_noise import RandomisedResponse
from flint import arb, ctx
from hypothesis import assume, given, strategies as st

from dpspec.base.errors import (
    AttackerMisfitError,
    CertainTargetError,
    CounterfactualError,
    NotEnumerableError,
    ParameterError,
    PriorError,
)
from dpspec.base.exact import Bracket, ln, number
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import LevelSets
from dpspec.laws.continuous import GaussianShift
from dpspec.laws.law import FiniteLaw
from dpspec.risks import risk
from dpspec.risks.attack_bounds import allowed_excess, allowed_power
from tests.risk.attacking import Listed, bits, budget_of, letters, mechanisms, priors

E = Fraction(2718281828459045235360287, 10**24)
"""e, to 24 digits."""
RESPONSE = RandomisedResponse(keep_probability="3/4")


def near(value: Bracket, expected: float, relative: float = 1e-5) -> bool:
    return all(abs(float(end.decimal(15)) / expected - 1) < relative for end in (value.lower, value.upper))


def log(value: Fraction) -> float:
    return math.log(value)


# --- closed forms -------------------------------------------------------------------------------------


@pytest.mark.reference("K-O38", "K-T27")
@pytest.mark.parametrize(("epsilon", "delta"), [(5, 3.95045e-3), (10, 2.59839e-7)])
def test_class_b(epsilon, delta):
    assert near(OthersKnownPredicted.concentrated("2.63", epsilon), delta)


@pytest.mark.reference("K-O39")
def test_class_b_at_one_order():
    assert near(OthersKnownPredicted.renyi(2, "5.26", 10), 3.96734e-7)


@pytest.mark.reference("K-O40", "K-E4")
def test_classes_b_and_d_differ_by_the_factor():
    one, other = OthersKnownPredicted.concentrated("2.63", 10), AnyPriorTrueRecord.concentrated("2.63", 10)
    assert near(other, 5.72334e-3)
    assert near(one, math.exp(-10) * float(other.upper.decimal(15)), 1e-9)


@pytest.mark.reference("K-O43", "K-T29")
def test_class_d():
    assert near(AnyPriorTrueRecord.concentrated("0.1115", 1), 0.170328)


@pytest.mark.reference("K-O44", "K-D26", "K-S15")
def test_the_epsilon_of_three_classes_at_one_delta():
    """rho = 0.1115, delta = 0.01; class c is the pbdp curve of the Gaussian."""
    low, high = 1.321645, 1.544645
    assert near(OthersKnownPredicted.concentrated("0.1115", str(low)), 0.01)
    assert near(AnyPriorTrueRecord.concentrated("0.1115", str(high)), 0.01)
    assert near(pbdp(GaussianShift(number("0.223")), "1.360073").value, 0.01)


@pytest.mark.reference("K-S12", "K-T27")
def test_outside_their_domain_the_printed_formulas_are_not_used():
    assert near(OthersKnownPredicted.concentrated("2.63", "0.5"), math.exp(-0.5))
    assert str(AnyPriorTrueRecord.concentrated("2.63", "0.5")) == "1"
    assert str(AnyPriorTrueRecord.renyi(2, "5.26", 5)) == "1"
    assert near(OthersKnownPredicted.renyi(2, "5.26", 1), math.exp(-1))


@pytest.mark.reference("K-D26", "K-S15", "K-S17")
def test_the_classes_cannot_be_confused():
    assert [known.letter for known in CLASSES] == list("abcdefg")
    assert len({known.assumption() for known in CLASSES}) == 7
    for known in set(CLASSES) - {OthersKnownPredicted, AnyPriorTrueRecord}:
        with pytest.raises(ParameterError, match="has no tail bound"):
            known.concentrated("2.63", 5)
        with pytest.raises(ParameterError, match="has no tail bound"):
            known.renyi(2, 1, 5)
    for arguments in ((0, 5), (1, -1), ("inf", 1)):
        with pytest.raises(ParameterError):
            OthersKnownPredicted.concentrated(*arguments)
    with pytest.raises(ParameterError, match="above 1"):
        OthersKnownPredicted.renyi(1, 1, 5)


# --- the worlds ----------------------------------------------------------------------------------------


@pytest.mark.reference("K-O41")
def test_the_bound_of_pure_privacy_is_approached():
    """Randomised response with epsilon = 1, the others known, prior 1e-6 of the record, which the answer names."""
    yes, no = FiniteLaw.bernoulli(E / (1 + E)), FiniteLaw.bernoulli(1 / (1 + E))
    tiny = Fraction(1, 10**6)
    world = World(prior={((), 1): tiny, ((), 0): 1 - tiny}, laws={((), 1): yes, ((), 0): no})
    assert abs(world.ratios(1)[1] - Fraction("2.7182772")) < Fraction(1, 10**6)
    assert world.ratios(1)[1] < E


@pytest.mark.reference("K-O42", "K-T26", "K-S16")
def test_a_default_record_costs_twice():
    a = Fraction(1, 10)
    shown = {(0, 0): a, (1, 0): a, (1, 1): a, (0, 2): a, (0, 1): E * a, (1, 2): a / E}
    tiny = Fraction(1, 10**6)
    world = World(prior={(0, 1): tiny, (1, 2): 1 - tiny}, laws={key: FiniteLaw.bernoulli(value) for key, value in shown.items()})
    found = world.ratios(1, Counterfactual.DEFAULT, 0)[1]
    assert abs(found - Fraction("7.389009")) < Fraction(1, 10**5)
    assert E < found < E**2
    assert world.ratios(1)[1] == 1  # the others tell which record it is: sampled, it is itself


@pytest.mark.reference("K-O37", "K-N5", "K-D28", "K-S14")
def test_a_wrong_prior_sees_a_breach_that_is_none():
    """100 Hispanic people, an attacker who believes in none of the other 99, and a count of 101.3 with unit Gaussian noise."""
    with ctx.workprec(400):
        weight = 99 * (arb("-101.3") + arb("0.5")).exp()
        posterior = 1 / (1 + weight)
        assert abs((1 - posterior) / arb("1.65482e-42") - 1) < 1e-5
        counterfactual = arb("0.01")  # the record is drawn anew from the prior, whatever is seen
        assert abs(posterior / counterfactual - 100) < 1e-30


@pytest.mark.slow
@pytest.mark.reference("K-O59", "K-T24")
@given(st.data())
def test_the_output_has_one_law_in_both_worlds(data):
    spec = letters(2, epsilon="inf")
    world = World.of(data.draw(mechanisms(spec.space)), spec, data.draw(priors(spec.space)), 0)
    assert world.marginal() == world.marginal(Counterfactual.SAMPLED)


@pytest.mark.reference("K-T24")
@given(st.data())
def test_with_known_others_the_counterfactual_posterior_is_the_prior(data):
    spec = letters(2, epsilon="inf")
    prior = [(x, mass) for x, mass in data.draw(priors(spec.space, low=1)) if x[1] == ("a",)]
    total = sum(mass for _, mass in prior)
    world = World.of(data.draw(mechanisms(spec.space)), spec, tuple((x, m / total) for x, m in prior), 0)
    for record in world.records:
        assert world.ratios(record) == world.posterior_to_prior(record)


@pytest.mark.slow
@pytest.mark.reference("K-O60", "K-T25", "B-T8")
@given(st.data())
def test_pure_privacy_bounds_the_ratio_for_every_prior(data):
    spec = letters(2, epsilon="inf")
    mechanism = data.draw(mechanisms(spec.space))
    world = World.of(mechanism, spec, data.draw(priors(spec.space)), 0)
    epsilon = budget_of(mechanism, spec, Mult())
    for record in world.records:
        assert all(ln(max(value, 1 / value)) <= epsilon for value in world.ratios(record).values())


@pytest.mark.slow
@pytest.mark.reference("K-T26")
@given(st.data())
def test_a_default_record_costs_at_most_twice(data):
    spec = letters(2, epsilon="inf")
    mechanism = data.draw(mechanisms(spec.space))
    world = World.of(mechanism, spec, data.draw(priors(spec.space)), 0)
    epsilon = budget_of(mechanism, spec, Mult())
    for record in world.records:
        for value in world.ratios(record, Counterfactual.DEFAULT, world.records[0]).values():
            assert ln(max(value, 1 / value)) <= epsilon * 2


GAMMA = {"3/2": Renyi(order="3/2"), "2": Renyi(order=2), "4": Renyi(order=4)}
factors = st.sampled_from([Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(4)])


@pytest.mark.slow
@pytest.mark.reference("K-T29", "K-O61", "K-S19")
@given(st.data(), factors, st.sampled_from(sorted(GAMMA)))
def test_class_d_for_random_worlds(data, factor, order):
    spec = bits(2, epsilon="inf")
    mechanism = data.draw(mechanisms(spec.space))
    world = World.of(mechanism, spec, data.draw(priors(spec.space)), 0)
    gamma, rho = budget_of(mechanism, spec, GAMMA[order]), budget_of(mechanism, spec, DNor()).squared()
    assume(gamma > 0)
    for record in world.records:
        seen = probability(world, record, world.ratios(record), factor)
        assert seen <= AnyPriorTrueRecord.renyi(order, gamma, ln(factor)).upper
        assert seen <= AnyPriorTrueRecord.concentrated(rho, ln(factor)).upper


@pytest.mark.slow
@pytest.mark.reference("K-T27", "K-O61")
@given(st.data(), factors, st.sampled_from(sorted(GAMMA)))
def test_class_b_for_random_worlds(data, factor, order):
    spec = letters(1, epsilon="inf")
    mechanism = data.draw(mechanisms(spec.space))
    world = World.of(mechanism, spec, data.draw(priors(spec.space)), 0)
    gamma, rho = budget_of(mechanism, spec, GAMMA[order]), budget_of(mechanism, spec, DNor()).squared()
    assume(gamma > 0)
    law = world.marginal()
    for record in world.records:
        seen = sum(law[o] for o, value in world.ratios(record).items() if value >= factor)
        assert seen <= OthersKnownPredicted.renyi(order, gamma, ln(factor)).upper
        assert seen <= OthersKnownPredicted.concentrated(rho, ln(factor)).upper
        assert seen * factor <= 1


@pytest.mark.reference("K-O61", "K-S12")
def test_the_class_b_formula_fails_outside_its_domain():
    """A mechanism that says nothing has ratio 1 always: at epsilon = 0 the printed formula would say e^(-rho/4) < 1."""
    silent = FiniteLaw.point("nothing")
    half = Fraction(1, 2)
    world = World(prior={((), 0): half, ((), 1): half}, laws={((), 0): silent, ((), 1): silent})
    assert sum(world.marginal()[o] for o, value in world.ratios(0).items() if value >= 1) == 1
    assert math.exp(-2.63 / 4) < 1
    assert str(OthersKnownPredicted.concentrated("2.63", 0)) == "1"


@pytest.mark.reference("K-O61", "K-S12")
def test_the_class_b_formula_fails_for_one_bit():
    """The smallest case found: 99/100 against 99/200, and 1/1000 of prior on the first; epsilon = ln(9/5) < rho = 1.64."""
    tiny, laws = Fraction(1, 1000), [FiniteLaw.bernoulli(p) for p in ("99/100", "99/200")]
    world = World(prior={((), 0): tiny, ((), 1): 1 - tiny}, laws={((), 0): laws[0], ((), 1): laws[1]})
    seen = sum(world.marginal()[t] for t, ratio in world.ratios(0).items() if ratio >= Fraction(9, 5))
    rho = float(DNor().between(*laws).upper.decimal(9)) ** 2
    epsilon = math.log(9 / 5)
    assert epsilon < rho
    assert seen > math.exp(-((epsilon + rho) ** 2) / (4 * rho))
    assert seen <= OthersKnownPredicted.concentrated(str(rho), ln("9/5")).upper


@pytest.mark.slow
@pytest.mark.reference("K-O63", "K-T31")
@given(st.data(), factors)
def test_the_lower_tail_of_class_b(data, factor):
    spec = letters(1, epsilon="inf")
    mechanism = data.draw(mechanisms(spec.space))
    world = World.of(mechanism, spec, data.draw(priors(spec.space)), 0)
    rho = budget_of(mechanism, spec, DNor()).squared()
    assume(rho > 0)
    law = world.marginal()
    for record in world.records:
        seen = sum(law[o] for o, value in world.ratios(record).items() if value <= 1 / factor)
        assert seen <= AnyPriorTrueRecord.concentrated(rho, ln(factor)).upper


@pytest.mark.slow
@pytest.mark.reference("K-O62", "K-T28", "K-T22")
@given(st.data(), factors)
def test_class_c_holds_for_every_prior(data, factor):
    """As K-T28 for known others; mixing over unknown ones keeps it, so that it is sharper than class d's own bound."""
    spec = bits(2, epsilon="inf")
    mechanism = data.draw(mechanisms(spec.space))
    world = World.of(mechanism, spec, data.draw(priors(spec.space)), 0)
    bound = budget_of(mechanism, spec, Mult())
    assume(bound > 0)
    allowed = allowed_excess(Mult(), bound, Bracket.exactly(factor)).upper
    for record in world.records:
        assert probability(world, record, world.ratios(record), factor) <= allowed


# --- the attackers --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.reference("K-D27", "B-T4", "B-T5", "B-D28")
@given(st.data())
def test_the_strongest_attacker_and_random_mechanisms(data):
    spec = bits(2, epsilon="inf")
    mechanism = data.draw(mechanisms(spec.space))
    epsilon = budget_of(mechanism, spec, Mult())
    assume(epsilon > 0)
    report = risk(bits(2, epsilon=epsilon), StrongestAttacker(), mechanism)
    assert not report.exceeded
    odds = next(row for row in report.rows if row.quantity == ODDS)
    assert odds.own[0].value.lower == odds.worst[0].value.lower


@pytest.mark.reference("K-T23", "B-T7", "B-O28")
def test_equal_records_tell_about_each_other():
    tiny = Fraction(1, 1000)
    prior = [((0, 0, 0, 0), 1 - tiny), ((1, 1, 1, 1), tiny)]
    report = risk(bits(4), ArbitraryPrior(prior=prior), RESPONSE)
    rows = {row.quantity: row for row in report.rows}
    assert str(rows["posterior by prior, largest"].worst[0].value) == "81"
    assert 74 < rows["posterior by prior, largest"].own[0].value.lower < 81
    assert str(rows["posterior with the record by posterior without it, largest"].own[0].value) == "1"
    assert not report.exceeded


def test_without_a_pure_bound_there_is_none():
    statements = ArbitraryPrior(factors=[2]).worst_case(bits(2, DNor(), rho="2.63"))
    assert [str(said.value) for said in statements[:3]] == ["inf", "0", "inf"]
    assert 0.99 < float(statements[3].value.upper.decimal()) < 1
    assert len(ArbitraryPrior(factors=[2]).worst_case(bits(2, Pbdp(delta="1/10"), epsilon=1))) == 3
    assert WorstCase.assumption() in statements[0].assumption


ATTACKERS = (StrongestAttacker(), ArbitraryPrior(), IndependentRecord(), Outsider(share="1/10"))


@pytest.mark.parametrize("attacker", ATTACKERS, ids=lambda one: one.name)
def test_a_hockey_stick_with_delta_0_is_pure_privacy_between_neighbours(attacker):
    """No limit of a belief was stated of it, next to the probabilities of pure privacy."""
    left_out = PRIOR if isinstance(attacker, ArbitraryPrior) else None  # of several changes, for which the two claims differ
    pure, stick = (
        {(said.quantity, said.at): said.value for said in attacker.worst_case(spec) if said.quantity != left_out}
        for spec in (bits(2, epsilon="ln(3)"), bits(2, HockeyStick(epsilon="ln(3)"), delta=0))
    )
    assert stick == pure
    assert not any(value.upper.is_infinite for value in stick.values())


def test_what_one_pair_may_lose_does_not_add_under_a_hockey_stick():
    stick = HockeyStick(epsilon="ln(3)")
    assert loss_bound(stick, number(0)) == ln(3)
    assert pure_bound(stick, number(0)).is_infinite  # two steps at 0 are within 2 ln 3, and 0 + 0 is 0
    assert loss_bound(stick, number("1/100")).is_infinite
    assert stick.largest_loss(number(0)) == MultDelta(delta=0).largest_loss(ln(3)) == ln(3)
    assert stick.largest_loss(number("1/100")) is None
    assert MultDelta(delta="1/100").largest_loss(ln(3)) is None


EQUAL_LAWS = {
    "rho": (DNor(), "rho"), "order 2": (Renyi(order=2), "epsilon"), "mu": (GaussianTradeOff(), "mu"),
    "variation": (TotalVariation(), "distance"), "hockey stick": (HockeyStick(epsilon=0), "delta"),
}  # fmt: skip


@pytest.mark.parametrize("name", EQUAL_LAWS)
def test_a_budget_of_zero_leaves_every_belief_as_it_is(name):
    """Posteriors without a limit were said of them, next to *never*; a test under rho = 0 ended at its limit of work."""
    divergence, parameter = EQUAL_LAWS[name]
    spec = bits(3, divergence, **{parameter: 0})
    for statement in (*StrongestAttacker(priors=["1/7"]).worst_case(spec), *ArbitraryPrior().worst_case(spec)):
        wanted = {"posterior odds by prior odds": 1, "posterior belief in one of two candidates": Fraction(1, 7)}
        grows = statement.quantity.startswith(("probability", "predicted probability"))
        assert statement.value == Bracket.exactly(wanted.get(statement.quantity, 0 if grows else 1)), statement
    assert allowed_power(divergence, number(0), "1/20") == Bracket.exactly("1/20")
    for statement in CompoundTester(levels=["1/20"]).worst_case(spec):
        assert statement.value == Bracket.exactly("1/20" if statement.quantity == "power" else 0), statement


def test_one_way_privacy_bounds_beliefs_where_both_orders_are_promised():
    """Two datasets at distance 1 are so in both orders: the odds were said to have no limit, and to grow tenfold never."""
    for epsilon in (1, "ln(3)", 0):
        one, both = (bits(2, divergence, epsilon=epsilon) for divergence in (MultOneWay(), Mult()))
        for attacker in (StrongestAttacker(), ArbitraryPrior()):
            stated = [[(row.quantity, row.at, row.value) for row in attacker.worst_case(spec)][:4] for spec in (one, both)]
            assert stated[0] == stated[1]


def test_a_dropped_record_needs_a_smaller_dataset():
    smaller = letters(2, least=1).replace(input_divergence=SymmetricDifference(unit="person"))
    loud = Listed({x: FiniteLaw.of({len(x): "1/2", x[0]: "1/2"}) for x in smaller.space.datasets()})
    prior = [[[["a"], ["b"]], "1/2"], [[["c"], ["b"]], "1/2"]]
    assert ArbitraryPrior(prior=prior, counterfactual="dropped").under(loud, smaller)
    assert "left out is at distance 1" in ArbitraryPrior(counterfactual="dropped").worst_case(smaller)[0].assumption
    with pytest.raises(CounterfactualError, match="one size"):
        ArbitraryPrior(counterfactual="dropped").worst_case(letters(2))
    with pytest.raises(CounterfactualError, match="fixed size"):
        ArbitraryPrior(counterfactual="dropped").under(RESPONSE, bits(2))
    several = [[[["a"]], "1/2"], [[["c"], ["b"]], "1/2"]]
    with pytest.raises(CounterfactualError, match="several sizes"):
        ArbitraryPrior(prior=several).under(loud, smaller)


@pytest.mark.reference("K-S3", "K-S4", "K-D2", "K-D3")
def test_replacing_a_record_is_two_steps_where_records_are_added_and_removed():
    """Unbounded neighbours: without a size no record is replaced; with one, a replacement is at distance 2."""
    added = letters(2).replace(input_divergence=SymmetricDifference(unit="person"))
    assert replacing(letters(2)) == 1
    assert replacing(added) == 2
    ratios = [ArbitraryPrior(factors=[]).worst_case(spec)[0].value for spec in (letters(2), added)]
    assert [str(value) for value in ratios] == ["3", "9"]
    unsized = letters(2, least=1).replace(input_divergence=SymmetricDifference(unit="person"))
    with pytest.raises(CounterfactualError, match="size of the data is not known"):
        ArbitraryPrior().worst_case(unsized)
    assert str(ArbitraryPrior(factors=[], distance=2).worst_case(unsized)[0].value) == "9"


@pytest.mark.parametrize(("settings", "error"), [
    ({"counterfactual": "default"}, CounterfactualError),
    ({"default": 0}, CounterfactualError),
    ({"prior": [[[0, 0], "1/2"], [[1, 0], "1/3"]]}, PriorError),
    ({"prior": [[[0, 0], "3/2"], [[1, 0], "-1/2"]]}, PriorError),
    ({"prior": [[[0, 0], "1/2"], [[0, 0], "1/2"]]}, PriorError),
    ({"prior": [[[0, 0], "1/2", 3]]}, PriorError),
    ({"prior": "flat"}, PriorError),
    ({"prior": 3}, PriorError),
    ({"factors": [1]}, ParameterError),
])  # fmt: skip
def test_bad_parameters(settings, error):
    with pytest.raises(error):
        ArbitraryPrior(**settings)


@pytest.mark.parametrize(("settings", "spec", "error"), [
    ({"prior": [[[1, 0], "1/2"], [[1, 1], "1/2"]]}, bits(2), CertainTargetError),
    ({"position": 2}, bits(2), AttackerMisfitError),
    ({}, bits(20), NotEnumerableError),
    ({"distance": "1/2"}, bits(2), AttackerMisfitError),
])  # fmt: skip
def test_bad_questions(settings, spec, error):
    with pytest.raises(error):
        ArbitraryPrior(**settings).under(RESPONSE, spec)


@pytest.mark.parametrize("prior", ["0", "1"])
def test_a_target_that_is_certain_has_an_error_of_its_own(prior):
    with pytest.raises(CertainTargetError, match="nothing to learn"):
        StrongestAttacker(priors=[prior])


def test_the_domain_of_priors_tells_what_it_takes():
    assert "sum to 1" in Weighted().describe()
    assert Weighted().read("uniform", "prior") == Weighted().read((), "prior") == ()


def test_what_holds_inside_universes_is_no_statement_about_a_prior_that_crosses_them():
    """The published bit tells of the target through the other record, though the target's own record never shows in it."""
    laws = {(0, 0): (3, 4, 2), (0, 1): (3, 4, 2), (1, 0): (3, 2, 2), (1, 1): (3, 4, 2)}
    weights = {(0, 0): 2, (0, 1): 3, (1, 0): 3}
    spec = bits(2).replace(multiverse=LevelSets(invariants=(LinearMap(rows=((0, 1),), label="second"),)))
    prior = [(list(dataset), Fraction(weight, 8)) for dataset, weight in weights.items()]
    loud = Listed({dataset: FiniteLaw.from_weights(dict(enumerate(law))) for dataset, law in laws.items()})
    rows = {(row.quantity, dict(row.at).get("candidates")): row for row in risk(spec, ArbitraryPrior(prior=prior), loud).rows}

    found = []
    for outcome, second, record in itertools.product(range(3), (0, 1), (0, 1)):
        seen = {x: Fraction(w * laws[x][outcome], sum(laws[x])) for x, w in weights.items() if x[1] == second}
        before = Fraction(sum(w for x, w in weights.items() if x[0] == record), sum(weights.values()))
        found.append(sum(mass for x, mass in seen.items() if x[0] == record) / sum(seen.values()) / before)
    assert ("posterior by prior, largest", None) not in rows
    assert rows["posterior by prior, largest", ANY].own[0].value == Bracket.exactly(max(found))
    inside = rows["posterior by prior, largest", "left open by what is published"]
    assert "one universe" in inside.own[0].assumption


def test_where_no_outcome_is_possible_without_the_record_no_ratio_is_small():
    """The published size differs: each ratio is infinite, and the smallest of them is not 0."""
    total = LevelSets(invariants=(Marginal(attributes=(), unit="person"),))
    spec = letters(1, least=0).replace(input_divergence=SymmetricDifference(unit="person"), multiverse=total)
    even = FiniteLaw.from_weights({0: 1, 1: 1})
    prior = [[[["a"]], Fraction(1, 2)], [[["b"]], Fraction(1, 2)]]
    loud = Listed(dict.fromkeys(spec.space.datasets(), even))
    found = ArbitraryPrior(prior=prior, counterfactual="dropped", factors=[], distance=1).under(loud, spec)
    assert all(said.value.lower.is_infinite for said in found if "without it" in said.quantity)


def test_a_distance_that_is_asked_for_is_not_that_of_every_replaced_record():
    """The second bit weighs 3: two datasets that differ in both are 4 apart, whatever distance is asked for."""
    spec = bits(2, epsilon=1).replace(input_divergence=PersonalWeights(weights=("1", "3")))
    loud = PersonalisedResponse(keep_probabilities=("7/10", "19/20"))
    prior = [[[0, 0], "99/100"], [[1, 1], "1/100"]]
    for distance in (None, 1):
        report = risk(spec, ArbitraryPrior(prior=prior, factors=[], distance=distance), loud)
        assert not report.exceeded
    tail = [said for said in ArbitraryPrior(distance=1).worst_case(spec) if said.quantity.startswith("probability")]
    assert all("a record replaced is at distance 1" in said.assumption for said in tail)
    assert "is at distance 1" in CompoundTester(distance=1).worst_case(spec)[0].assumption


def test_a_record_that_may_only_be_left_out_is_replaced_in_two_steps():
    """Neighbours by one record more or less: from (a, a) to (b, b) are four steps, and each may double the ratio."""
    added = letters(2, least=0, epsilon="ln(2)").replace(input_divergence=Neighbour(relation=AddRemove()))
    counts = {x: sum({"a": 1, "b": -1, "c": 0}[record[0]] for record in x) + 2 for x in added.space.datasets()}

    def noisy(count):
        """Two-sided geometric noise of ratio 1/2, cut off at the ends."""
        ends = {0: Fraction(2, 3), 4: Fraction(2, 3)}
        return FiniteLaw.of({out: ends.get(out, Fraction(1, 3)) / 2 ** abs(out - count) for out in range(5)})

    prior = [[[["a"], ["a"]], "1/1000"], [[["b"], ["b"]], "999/1000"]]
    attacker = ArbitraryPrior(prior=prior, counterfactual="dropped", factors=[])
    report = risk(added, attacker, Listed({x: noisy(count) for x, count in counts.items()}))
    assert not report.exceeded
    assert next(str(row.worst[0].value) for row in report.rows if row.quantity == "posterior by prior, largest") == "16"
