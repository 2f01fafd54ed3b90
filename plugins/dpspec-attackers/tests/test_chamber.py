"""The information chamber as printed and as corrected."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from dpspec_attackers.chamber import InformationChamber, family, markov_boundary
from dpspec_divergences import DNor, Mult
from dpspec_noise import RandomisedResponse
from hypothesis import assume, given, strategies as st

from dpspec.base.errors import (
    AttackerMisfitError,
    CertainTargetError,
)
from dpspec.risks import risk
from tests.risk.attacking import bits, budget_of, letters, mechanisms, priors

RESPONSE = RandomisedResponse(keep_probability="3/4")
HALF = Fraction(1, 2)

# --- the chamber ---------------------------------------------------------------------------------------


def equal(count, chance):
    return (((0,) * count, 1 - chance), ((1,) * count, chance))


@pytest.mark.reference("B-T9", "B-X9", "B-D27")
def test_the_printed_theorem_fails_for_three_equal_records():
    """The smallest case: with two equal records the boundary and the family are both the pair."""
    rare = Fraction(1, 1000)
    for count, exceeded in ((2, False), (3, True), (4, True)):
        attacker = InformationChamber(prior=equal(count, rare), chamber="printed")
        report = risk(bits(count), attacker, RESPONSE)
        assert bool(report.exceeded) is exceeded
        assert str(report.rows[0].worst[0].value) == "9"  # e^(2 ln 3), however many records
        assert not risk(bits(count), InformationChamber(prior=equal(count, rare)), RESPONSE).exceeded


@pytest.mark.slow
@pytest.mark.reference("B-T9")
@given(st.data())
def test_the_corrected_theorem_for_random_priors(data):
    spec = bits(3, epsilon="inf")
    mechanism, prior = data.draw(mechanisms(spec.space, outcomes=2)), data.draw(priors(spec.space))
    epsilon = budget_of(mechanism, spec, Mult())
    assume(epsilon > 0)
    report = risk(bits(3, epsilon=epsilon), InformationChamber(prior=prior), mechanism)
    assert not report.exceeded


@pytest.mark.slow
@pytest.mark.reference("B-T9")
@given(st.data())
def test_independent_records_form_families_of_one(data):
    shares = [data.draw(st.fractions("1/10", "9/10", max_denominator=10)) for _ in range(3)]
    prior = {}
    for x in bits(3).space.datasets():
        mass = Fraction(1)
        for bit, share in zip(x, shares, strict=True):
            mass *= share if bit else 1 - share
        prior[x] = mass
    assert family(prior, 0) == {0}
    assert markov_boundary(prior, 0) == 0


@pytest.mark.reference("B-D27", "B-X9")
def test_a_boundary_is_no_family():
    """A chain: the middle record screens the outer ones from each other, and all three still tell about each other."""
    chain = {}
    for x in bits(3).space.datasets():
        mass = HALF
        for one, two in itertools.pairwise(x):
            mass *= Fraction(3, 4) if one == two else Fraction(1, 4)
        chain[x] = mass
    assert [markov_boundary(chain, place) for place in range(3)] == [1, 2, 1]
    assert [len(family(chain, place)) for place in range(3)] == [3, 3, 3]
    pair = {(a, a, b): Fraction(1, 4) for a in (0, 1) for b in (0, 1)}
    assert (family(pair, 0), family(pair, 2)) == ({0, 1}, {2})


def test_a_chamber_needs_a_pure_bound_and_an_open_target():
    with pytest.raises(AttackerMisfitError, match="bounds no likelihood ratio"):
        InformationChamber(prior=equal(2, HALF)).worst_case(bits(2, DNor(), rho=1))
    with pytest.raises(CertainTargetError):
        InformationChamber(prior=[[[1, 0], "1/2"], [[1, 1], "1/2"]]).under(RESPONSE, bits(2))
    with pytest.raises(AttackerMisfitError, match="all of one size"):
        InformationChamber(prior=[[[["a"]], "1/2"], [[["a"], ["b"]], "1/2"]]).worst_case(letters(2, least=1))
