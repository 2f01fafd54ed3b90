"""Attackers on secret samples: the amplification, and questions that are refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
from dpspec_attackers.sampling import Journalist, NosyNeighbour, Outsider, amplified, sampled
from dpspec_divergences import DNor, Mult
from dpspec_flavours.streams.personal import PersonalWeights
from dpspec_noise import RandomisedResponse
from hypothesis import assume, given, strategies as st

from dpspec.base.errors import (
    AttackerMisfitError,
    CounterfactualError,
    NotEnumerableError,
    NotReachedError,
    ParameterError,
)
from dpspec.base.exact import ln, number
from dpspec.risks import risk
from tests.risk.attacking import bits, budget_of, letters, mechanisms

RESPONSE = RandomisedResponse(keep_probability="3/4")


# --- samples -------------------------------------------------------------------------------------------


@pytest.mark.reference("B-O29", "B-T21")
@pytest.mark.parametrize(("share", "epsilon", "amplification"), [
    ("1/10", number(1), 0.158565), ("1/100", number(1), 0.017037), ("1/2", ln(3), 0.693147), ("1/10", number("0.1"), 0.010462),
])  # fmt: skip
def test_the_exact_form_of_the_amplification(share, epsilon, amplification):
    spec = bits(1, epsilon=epsilon)
    found = Outsider(share=share).worst_case(spec)[0].value
    assert all(abs(float(end.decimal(12)) - amplification) < 1e-6 for end in (found.lower, found.upper))


@pytest.mark.reference("B-O30", "B-T21", "B-D28")
def test_one_of_two_people():
    """Randomised response on a sample of one: Pr(1) is 1/4, 1/2, 3/4; ln 2 for the outsider, ln 3 for those who know."""
    spec = bits(1)
    shown = [sampled(RESPONSE, spec, people, 1).probability((1,)) for people in ((0, 0), (1, 0), (1, 1))]
    assert shown == [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
    for attacker, loss in ((Outsider, ln(2)), (NosyNeighbour, ln(3)), (Journalist, ln(3))):
        report = risk(spec, attacker(population=2), RESPONSE)
        assert (report.rows[0].own[0].value.lower, report.rows[0].worst[0].value.lower) == (loss, loss)
        assert not report.exceeded


@pytest.mark.reference("B-T21")
@given(st.data(), st.integers(1, 2))
def test_amplification_of_random_mechanisms(data, drawn):
    spec = bits(drawn, epsilon="inf")
    mechanism = data.draw(mechanisms(spec.space, outcomes=2))
    epsilon = budget_of(mechanism, spec, Mult())
    assume(epsilon > 0)
    assert not risk(bits(drawn, epsilon=epsilon), Outsider(population=3), mechanism).exceeded


@pytest.mark.reference("B-T21")
def test_a_sample_in_the_order_of_the_population_is_amplified_less():
    """B-T21 does not say that the order must go: three of five people in their order, and ln(43/17) is above ln(11/5)."""
    spec = bits(3)
    worst = max(
        sampled(RESPONSE, spec, (one, *rest), 3, shuffled=False)
        .against(sampled(RESPONSE, spec, (1 - one, *rest), 3, shuffled=False))
        .max_log_ratio()
        .lower
        for one in (0, 1)
        for rest in bits(4).space.datasets()
    )
    assert worst == ln(Fraction(43, 17)) > amplified(ln(3), Fraction(3, 5)).upper
    report = risk(spec, Outsider(population=5), RESPONSE)
    assert report.rows[0].own[0].value.lower <= report.rows[0].worst[0].value.upper == ln(Fraction(11, 5))


@pytest.mark.parametrize(("settings", "spec", "error"), [
    ({}, bits(2), AttackerMisfitError),
    ({"population": 1}, bits(2), AttackerMisfitError),
    ({"share": "1/2"}, bits(2, DNor(), rho=1), AttackerMisfitError),
    ({"population": 3}, letters(2, least=1), CounterfactualError),
])  # fmt: skip
def test_bad_questions(settings, spec, error):
    with pytest.raises(error):
        Outsider(**settings).worst_case(spec)


def test_a_population_too_large_to_list():
    with pytest.raises(NotEnumerableError, match="more than"):
        Outsider(population=30).under(RESPONSE, bits(2))
    with pytest.raises(NotReachedError, match="population"):
        Outsider(share="1/2").under(RESPONSE, bits(2))
    with pytest.raises(ParameterError):
        Outsider(share=2)


def test_without_a_population_the_worst_case_is_still_known():
    report = risk(bits(1), Outsider(share="1/2"), RESPONSE)
    assert [str(row.worst[0].value) for row in report.rows] == ["ln(2)", "2"]
    assert not any(row.own for row in report.rows)
    assert [side for side, _ in report.unknown] == ["mechanism"]


def test_a_share_that_is_not_that_of_the_population_is_refused():
    """The bound for one of ten next to the law for one of two would make a mechanism within its budget exceed it."""
    for kind in (Outsider, NosyNeighbour, Journalist):
        with pytest.raises(AttackerMisfitError, match="which is 1/2"):
            risk(bits(1), kind(share="1/10", population=2), RESPONSE)
    assert not risk(bits(1), Outsider(share="1/2", population=2), RESPONSE).exceeded


def test_a_distance_below_that_of_some_replaced_records_is_refused():
    """The sample comes in random order, so that the target's record may lie where it weighs 3."""
    spec = bits(2, epsilon=1).replace(input_divergence=PersonalWeights(weights=("1", "3")))
    for kind in (Outsider, NosyNeighbour):
        with pytest.raises(AttackerMisfitError, match="distance 3"):
            kind(population=2, distance=1).worst_case(spec)
        assert "at distance 3" in kind(population=2).worst_case(spec)[0].assumption
