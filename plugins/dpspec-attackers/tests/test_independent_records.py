"""The attacker with independent records: exact Bayes on small worlds against theorem 4, and the world without its assumption."""

from __future__ import annotations

from fractions import Fraction

import pytest
from dpspec_attackers.independent_records import Belief, IndependentRecord
from dpspec_attackers.profiles import epsilon_at, recommend_epsilon, risk_bound
from dpspec_divergences import DNor, Mult, MultDelta, SymmetricDifference
from dpspec_divergences.routes import pure_spec, zcdp_spec
from dpspec_noise import RandomisedResponse
from hypothesis import given, strategies as st

from dpspec.base.errors import AttackerMisfitError, CertainTargetError, PriorError
from dpspec.base.exact import Bracket, ln, number
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.attacker import Sense
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.integers import TwoSidedGeometricLaw
from dpspec.laws.law import FiniteLaw
from dpspec.risks.engine import risk
from tests.risk.theorems import RATIOS, in_worlds, theorem

VALUES, OTHERS, OUTCOMES = (0, 1, 2), ("a", "b"), ("s", "t", "u")


@st.composite
def worlds(draw):
    """A belief that obeys assumption 2, and any laws with full support, whose epsilon is read off them."""

    def masses(keys, least=0):
        weights = draw(st.lists(st.integers(least, 9), min_size=len(keys), max_size=len(keys)).filter(any))
        return {key: Fraction(weight, sum(weights)) for key, weight in zip(keys, weights, strict=True)}

    places = [(record, others) for record in (None, *VALUES) for others in OTHERS]
    laws = {place: FiniteLaw.of(masses(OUTCOMES, 1)) for place in places}
    belief = Belief.independent(masses(VALUES, 1), masses(OTHERS), draw(st.fractions(Fraction(1, 32), 1, max_denominator=32)))
    return belief, laws, draw(st.sets(st.sampled_from(VALUES), min_size=1, max_size=2))


def epsilon_of(laws):
    """The largest log-ratio between a dataset with the target and the same one without, as a ratio."""
    return max(
        max(one / other, other / one)
        for record in VALUES
        for others in OTHERS
        for outcome in OUTCOMES
        for one, other in [(laws[record, others].probability(outcome), laws[None, others].probability(outcome))]
    )


@theorem(
    "Z-O51", "Z-T3", "Z-T4", "Z-T5", "Z-T6", "Z-T7", "Z-T53", "Z-D5", "Z-D6", "Z-D13", "Z-D28", "Z-D29", "Z-D30", "Z-D31",
    "Z-D32", "Z-S19", "Z-S20",
    world=worlds(), tolerated=RATIOS,
)  # fmt: skip
def theorems_3_to_7(world, tolerated):
    """Exact Bayes: the likelihoods, the bound on the relative risk, and that an epsilon for a tolerated risk keeps it."""
    belief, laws, secret = world
    ratio = epsilon_of(laws)
    p, q = belief.inclusion, belief.value(secret)
    assert belief.is_independent
    bound = risk_bound(p, q, ln(ratio)).upper
    kept = ln(ratio) <= epsilon_at(p, q, tolerated).lower

    def law(record, others):
        return laws[record, others]

    for outcome in OUTCOMES:
        assert belief.relative_risk(law, secret, outcome) <= bound
        assert bound <= ratio**2
        assert not kept or belief.relative_risk(law, secret, outcome) <= tolerated
        inside = belief.likelihood(law, outcome, lambda record: record in secret)
        outside = belief.likelihood(law, outcome, lambda record: record is not None and record not in secret)
        if p < 1:
            assert 1 / ratio <= inside / belief.likelihood(law, outcome, lambda record: record is None) <= ratio
        assert ratio**-2 <= inside / outside <= ratio**2
        posterior = belief.posterior(law, secret, outcome)
        assert posterior == belief.relative_risk(law, secret, outcome) * p * q


THEOREMS = (theorems_3_to_7,)


@pytest.mark.slow
@pytest.mark.parametrize(("declared", "count"), in_worlds(*THEOREMS))
def test_theorems_in_small_worlds(declared, count):
    declared.check(count)


def tight(ratio):
    """Laws whose odds of one outcome are e^epsilon with the value, 1 without the target, e^-epsilon with another value."""
    small = 1 / (4 * ratio)
    chances = {1: small * ratio, None: small, 0: small / ratio}
    return lambda record, _others: FiniteLaw.of({"yes": chances[record], "no": 1 - chances[record]})


@pytest.mark.reference("Z-T4", "Z-T5", "Z-T53", "Z-T7")
@given(
    p=st.fractions(Fraction(1, 16), 1, max_denominator=16),
    q=st.fractions(Fraction(1, 16), Fraction(15, 16), max_denominator=16),
    ratio=st.fractions(Fraction(17, 16), 9, max_denominator=16),
)
def test_theorem_4_is_attained(p, q, ratio):
    belief = Belief.independent({1: q, 0: 1 - q}, {(): Fraction(1)}, p)
    found = belief.relative_risk(tight(ratio), {1}, "yes")
    assert Bracket.exactly(found) == risk_bound(p, q, ln(ratio))
    assert epsilon_at(p, q, found).lower <= ln(ratio) <= epsilon_at(p, q, found).upper


@pytest.mark.reference("Z-D30", "Z-S20", "Z-T4")
@pytest.mark.parametrize("size", [2, 6, 12])
def test_without_independence_the_risk_is_unbounded(size):
    """All others have the target's value, half of the records count, and the noise is that of one record: epsilon = ln 2."""
    q, p = Fraction(1, 100), Fraction(1, 2)
    all_ones, all_zeros = (1,) * size, (0,) * size
    belief = Belief({
        (1, all_ones): p * q, (0, all_zeros): p * (1 - q),
        (None, all_ones): (1 - p) * q, (None, all_zeros): (1 - p) * (1 - q),
    })  # fmt: skip

    def law(record, others):
        return TwoSidedGeometricLaw.with_ratio(sum(others) + (record or 0), "1/2").clamped(0, size + 1)

    assert not belief.is_independent
    found = belief.relative_risk(law, {1}, size + 1)
    bound = risk_bound(p, q, "ln(2)").upper
    assert bound < 4
    if size > 2:
        assert found > bound
    if size == 12:
        assert found > 100, "it grows with the others, up to about 4/3 of 1/q"
        independent = Belief.independent({1: q, 0: 1 - q}, {all_ones: q, all_zeros: 1 - q}, p)
        assert independent.is_independent
        assert all(independent.relative_risk(law, {1}, t) <= bound for t in range(size + 2))


# --- the attacker model --------------------------------------------------------------------------

YES_NO = Attribute(name="answer", categories=("no", "yes"))


class Group(Mechanism):
    """A record that says yes moves the release one way, a no the other: e^epsilon each, e^(2 epsilon) between them."""

    name = "group"

    def law(self, dataset, space):
        records = space.records(dataset, "person")
        step = sum(1 if "yes" in str(record) else -1 for record in records)
        return TwoSidedGeometricLaw.with_ratio(step, "1/3").clamped(-1, 1)


def specification(divergence=None, parameter="epsilon", value="ln(3)"):
    return PrivacySpec(
        space=UnorderedRecords(attributes=(YES_NO,), most=2),
        multiverse=Trivial(),
        input_divergence=SymmetricDifference(unit="person"),
        output_divergence=divergence or Mult(),
        budget=UniformBudget(parameter=parameter, value=number(value)),
    )


@pytest.mark.reference("Z-T4", "Z-D28")
@pytest.mark.parametrize(("p", "q"), [("1/2", "1/2"), ("1/10", "1/5"), (1, "3/10"), ("1/2", 1)])
def test_attacker_beside_a_mechanism(p, q):
    attacker = IndependentRecord(inclusion=p, value=q)
    report = risk(specification(), attacker, Group())
    row = report.rows[0]
    assert row.quantity == "posterior by prior, largest"
    assert row.own[0].relation is Sense.EQUALS
    assert not report.exceeded
    assert row.own[0].value.upper <= row.worst[0].value.lower
    assert "unbounded" in row.worst[0].assumption
    assert row.own[0].value == row.worst[0].value, "yes, none and no are one step apart each: this release is the worst"


@pytest.mark.reference("Z-D5", "Z-D31")
def test_the_worst_of_three_values():
    """By hand: the value in S against the one outside that is least likely; sure beliefs about the others are worst."""
    colours = Attribute(name="colour", categories=("red", "green", "blue"))
    space = UnorderedRecords(attributes=(colours,), most=1)
    chances = {"red": Fraction(1, 2), "green": Fraction(1, 3), "blue": Fraction(1, 5)}

    class Colour(Mechanism):
        name = "colour"

        def law(self, dataset, space):
            held = [chance for word, chance in chances.items() if word in str(dataset)]
            return FiniteLaw.bernoulli(held[0] if held else Fraction(1, 4))

    p, q = Fraction(1, 3), Fraction(2, 5)
    yes = chances["red"] / (p * q * chances["red"] + p * (1 - q) * chances["blue"] + (1 - p) * Fraction(1, 4))
    no = Fraction(4, 5) / (p * q * Fraction(4, 5) + p * (1 - q) * Fraction(1, 2) + (1 - p) * Fraction(3, 4))
    said = IndependentRecord(inclusion=p, value=q).under(Colour(), specification().replace(space=space))
    assert said[0].value == Bracket.exactly(max(yes, no))


@pytest.mark.reference("Z-S1")
def test_replaced_records():
    """Replace-one privacy: r <= 1/(q + (1 - q) e^-epsilon); randomised response attains it."""
    attacker = IndependentRecord(value="1/4")
    report = risk(pure_spec(epsilon="ln(3)"), attacker, RandomisedResponse(keep_probability="3/4"))
    assert [str(row.worst[0].value) for row in report.rows] == ["2", "1/2"]
    assert [row.own[0].value == row.worst[0].value for row in report.rows] == [True, True]
    with pytest.raises(AttackerMisfitError, match="no one is in or out"):
        IndependentRecord(inclusion="1/2").worst_case(pure_spec(epsilon=1))


@pytest.mark.reference("Z-D33", "Z-P6")
def test_a_recommended_epsilon_keeps_the_risk_of_this_attacker():
    found = recommend_epsilon(lambda p, q: max(Fraction(1, 4) / (p * q), 3)).value.lower
    for p, q in ((1, "1/12"), ("1/2", "1/2"), ("1/10", 1)):
        said = IndependentRecord(inclusion=p, value=q).worst_case(specification(value=found))[0]
        assert said.value.lower <= max(Fraction(1, 4) / (Fraction(p) * Fraction(q)), Fraction(3))


def test_without_pure_privacy_nothing_follows():
    for divergence, parameter in ((MultDelta(delta="1e-6"), "epsilon"), (DNor(), "rho")):
        said = IndependentRecord(inclusion="1/2", value="1/2").worst_case(specification(divergence, parameter, 1))
        assert str(said[0].value) == "4"
        assert "without pure privacy nothing follows" in said[0].theorem
    assert IndependentRecord(value="1/2").worst_case(zcdp_spec(rho=1))[0].value.upper == 2


def test_errors_teach():
    with pytest.raises(CertainTargetError, match="nothing is left to learn"):
        IndependentRecord(inclusion=1, value=1)
    with pytest.raises(PriorError, match="sum to 1"):
        Belief({(1, "a"): Fraction(1, 2)})
    sure = Belief({(1, "a"): Fraction(1)})
    with pytest.raises(CertainTargetError, match="certain about the secret"):
        sure.relative_risk(tight(Fraction(2)), {1}, "yes")
    with pytest.raises(CertainTargetError, match="no probability"):
        sure.likelihood(tight(Fraction(2)), "yes", lambda record: record is None)
