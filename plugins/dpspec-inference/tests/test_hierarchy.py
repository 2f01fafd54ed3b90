"""The two-level attacker: the exact posterior, the chain that the thesis ran, and what a fit does to the risk (chapter 2)."""

import math
from fractions import Fraction

import attrs
import pytest
from dpspec_attackers.counts import expected_posterior
from dpspec_inference import block, block as fitted, hierarchy, hierarchy as chains
from dpspec_inference.hierarchy import (
    ANY_INTEGER,
    BetMethod,
    BetRegion,
    LargerCount,
    Released,
    TwoLevels,
    known_to_be,
    log_odds,
    success,
    up_to,
)
from flint import arb
from hypothesis import given, settings, strategies as st

from dpspec.base.errors import CertainTargetError, ParameterError
from dpspec.base.log_linear import ball
from dpspec.laws.integers import DiscreteGaussianShift

pytestmark = pytest.mark.slow

BLOCK = Fraction(256, 100) * Fraction(165, 4099) * Fraction(3945, 4097)
GROUP = Fraction(256, 100) * Fraction(1256, 4099) * Fraction(1288, 4099)
ATTACK = TwoLevels(rho_block=BLOCK, rho_group=GROUP, others=27, prior="1/2")
REGION = BetRegion(group=(-3, 5), others=(-30, 30))


def release(block_count, group, others):
    return Released(block=block_count, group=group, others=others)


def plain(attack, released, k1_at_least=True):
    """The joint law by a double loop over floats: posterior of X1, law of X2."""
    joint = {}
    for k1, prior in attack.choices:
        low, high = attack.larger.support(k1)
        for k2 in range(-60 if low is None else low, 90 if high is None else high + 1):
            exponent = (
                -float(attack.rho_block) * (released.block - k1) ** 2
                - float(attack.rho_group) * (released.group - k2) ** 2
                - float(attack.rho_block) / attack.others * (released.others - (k2 - k1)) ** 2
            )
            joint[k1, k2] = float(prior * attack.larger.weight(k1)) * math.exp(exponent)
    whole = sum(joint.values())
    one = sum(weight for (k1, _), weight in joint.items() if k1 == attack.known + 1)
    larger = {}
    for (_, k2), weight in joint.items():
        larger[k2] = larger.get(k2, 0) + weight / whole
    return one / whole, larger


@pytest.mark.reference("Z-O17", "Z-T42", "Z-X3", "Z-N2.6", "Z-N2.7")
def test_the_exact_posterior_is_not_the_printed_one():
    """Table 2.7 prints 57.0%; the posterior of the stated model is 50.3%."""
    found = ATTACK.posterior(release(2, 1, -1))
    assert float(found.lower) == pytest.approx(0.5032878, abs=1e-7)
    assert found.upper - found.lower < Fraction(1, 10**15)
    assert abs(float(found.lower) - 0.570) > 0.06


@pytest.mark.reference("Z-O18", "Z-X3", "Z-A2")
def test_the_chain_that_forgets_the_nesting_gives_the_printed_posterior():
    found = [chains.stationary(ATTACK, release(2, 1, y)).posterior for y in (-1, 1)]
    assert found == pytest.approx([0.5777016, 0.5741354], abs=1e-7)
    assert all(abs(value - 0.570) < 0.01 for value in found)


@pytest.mark.reference("Z-O19", "Z-T42")
def test_all_integers_for_the_group_in_closed_form():
    free = attrs.evolve(ATTACK, larger=ANY_INTEGER)
    for y, expected in ((-1, 0.576529), (1, 0.572989)):
        assert float(free.posterior(release(2, 1, y)).lower) == pytest.approx(expected, abs=1e-6)
        odds = hierarchy.unbounded_log_odds(free, release(2, 1, y))
        assert 1 / (1 + math.exp(-odds)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.reference("Z-O20", "Z-N2.8", "Z-X3")
def test_the_law_of_the_count_of_the_group():
    released = release(2, 1, -1)
    exact = [100 * float(ATTACK.larger_posterior(k, released).lower) for k in range(6)]
    assert exact == pytest.approx([12.935, 38.660, 29.790, 13.919, 3.943, 0.677], abs=1e-3)
    chain = [100 * dict(chains.stationary(ATTACK, released).larger)[k] for k in range(6)]
    assert chain == pytest.approx([10.998, 39.503, 30.456, 14.237, 4.036, 0.694], abs=1e-3)
    assert [round(value) for value in chain[:4]] == [11, 40, 30, 14]  # as printed; the 4.6 beside them is 4.0 here
    assert float(ATTACK.larger_posterior(-1, released).upper) == 0


@pytest.mark.reference("Z-O21")
@pytest.mark.parametrize(
    ("counts", "expected"),
    [((1, 1, 0), 0.452862), ((1, 1, 20), 0.432852), ((0, 1, -20), 0.421760), ((1, 5, 20), 0.496669), ((3, 10, 9), 0.622401)],
)
def test_other_exact_posteriors(counts, expected):
    assert float(ATTACK.posterior(release(*counts)).lower) == pytest.approx(expected, abs=1e-6)


@pytest.mark.reference("Z-O22", "Z-O23", "Z-X4", "Z-F2.4")
def test_what_the_hierarchy_corrects_and_spoils_in_the_printed_region():
    exact, chain = (success(ATTACK, (1, 1), method=method, region=REGION) for method in BetMethod)
    assert exact.mass == pytest.approx(0.989843, abs=1e-6)  # printed: over 99%
    assert (exact.corrected, exact.spoiled) == pytest.approx((0.00200, 0.26985), abs=1e-5)
    assert (chain.corrected, chain.spoiled) == pytest.approx((0.02298, 0.01721), abs=1e-5)  # printed: 2.48% and 1.83%


@pytest.mark.reference("Z-O24", "Z-A3", "Z-F2.5", "Z-X3", "Z-F2.6")
def test_success_against_the_count_of_the_group():
    """Under the stated prior the group's count hurts the attacker while it is small; the printed help is that of the chain."""
    counts = (1, 2, 3, 4, 5, 10)
    exact = [success(ATTACK, (1, x2)).right for x2 in counts]
    assert exact == pytest.approx([0.318191, 0.434925, 0.516999, 0.561862, 0.581131, 0.589726], abs=1e-6)
    chain = [success(ATTACK, (1, x2), method=BetMethod.NO_NESTING).right for x2 in counts]
    assert chain == pytest.approx([0.594586, 0.592356, 0.590866, 0.590092, 0.589807, 0.589726], abs=1e-6)
    assert exact[0] < 0.588860 < chain[0]


@pytest.mark.reference("Z-O25", "Z-A7", "Z-D21", "Z-X6", "Z-S7", "Z-S9", "Z-F2.10", "Z-F2.11")
def test_success_under_other_priors():
    """For a believed 25 and the truth (1, 1) the digest has .731063; the definitions give .729468, and the ties agree."""
    known = success(attrs.evolve(ATTACK, larger=known_to_be(1)), (1, 1))
    assert (known.right, known.ties) == pytest.approx((0.586788, 0.005938), abs=1.2e-5)
    wrong = attrs.evolve(ATTACK, larger=known_to_be(25))
    one, zero = success(wrong, (1, 1)), success(wrong, (0, 0))
    assert (one.right, one.ties) == pytest.approx((0.729468, 0.005157), abs=1e-6)
    assert (zero.right, zero.ties) == pytest.approx((0.425207, 0.006077), abs=1e-6)
    bounded = attrs.evolve(ATTACK, larger=up_to(10))
    assert success(bounded, (1, 1)).right == pytest.approx(0.389694, abs=1e-6)
    assert success(bounded, (1, 1), method=BetMethod.NO_NESTING).right == pytest.approx(0.594586, abs=1e-6)


def test_success_with_a_believed_25_by_whole_numbers():
    """logit = rho1/27 (27 (2x - 1) + 49 - 2y), which is positive, zero or negative with 27 x + 11 - y."""
    blocks = {x: math.exp(-float(BLOCK) * (x - 1) ** 2) for x in range(-40, 43)}
    others = {y: math.exp(-float(BLOCK) / 27 * y**2) for y in range(-250, 251)}
    whole = sum(blocks.values()) * sum(others.values())
    right = sum(a * b for x, a in blocks.items() for y, b in others.items() if 27 * x + 11 > y) / whole
    tied = sum(a * b for x, a in blocks.items() for y, b in others.items() if 27 * x + 11 == y) / whole
    found = success(attrs.evolve(ATTACK, larger=known_to_be(25)), (1, 1))
    assert (found.right, found.ties) == pytest.approx((right, tied), abs=1e-9)


@pytest.mark.reference("Z-F2.4")
def test_the_thresholds_of_the_chain_on_the_map_of_decisions():
    import numpy as np

    group, others = np.arange(-3.0, 6), np.arange(-30.0, 31)
    odds = log_odds(ATTACK, np.array([-1.0, 0, 1, 2]), group, others, BetMethod.NO_NESTING)
    assert [min(others[odds[2, i] < 0]) for i in range(9)] == [14, 14, 14, 15, 15, 16, 17, 18, 19]
    assert [max(others[odds[1, i] > 0]) for i in range(9)] == [-14, -14, -14, -13, -13, -12, -12, -11, -10]
    assert (odds[0] < 0).all()
    assert (odds[3] > 0).all()


@pytest.mark.reference("Z-O26", "Z-A6", "Z-D26", "Z-D27", "Z-F2.12", "Z-S12")
def test_the_risk_of_a_fitted_count():
    totals = (1, 2, 5, 10, 50, 100)
    even = [fitted.CountFit(rho=BLOCK, others=27, prior="1/2", total=total).marginal_risk() for total in totals]
    assert even == pytest.approx([1.032219, 1.036473, 1.040716, 1.041723, 1.046353, 1.047947], abs=2e-6)
    up = [fitted.CountFit(rho=BLOCK, others=27, prior="1/2", total=total, half_up=True).marginal_risk() for total in totals]
    assert up == pytest.approx([1.032219, 1.036646, 1.040881, 1.041889, 1.046420, 1.047961], abs=2e-6)


@pytest.mark.reference("Z-T46", "Z-X7", "Z-S13", "Z-O26")
def test_the_claim_that_a_fit_never_raises_the_risk_is_refuted():
    alone = block.marginal_risk(BLOCK, "1/2")
    assert float(alone.upper) == pytest.approx(1.047333, abs=1e-6)
    most = fitted.CountFit(rho=BLOCK, others=27, prior="1/2", total=100).marginal_risk()
    assert most > float(alone.upper) + 5e-4
    ceiling = fitted.ceiling(BLOCK, 27, "1/2")
    assert float(ceiling.upper) == pytest.approx(1.049005, abs=1e-6)
    assert most < float(ceiling.lower)


@pytest.mark.reference("Z-O27", "Z-T45", "Z-D26")
def test_the_fit_is_the_nearest_table():
    cases = ((2, -1, 1), (0, 0, 5), (3, 4, 10), (-4, 2, 6), (1, 0, 3))
    assert [fitted.fitted(*case, 27) for case in cases] == [1, 0, 3, 0, 1]
    for x, y, total in cases:

        def cost(tau, x=x, y=y, total=total):
            return (tau - x) ** 2 + (total - tau - y) ** 2 / 27  # the other blocks share their change equally

        best = min((Fraction(i, 280) for i in range(-2800, 2800)), key=cost)
        assert abs(best - Fraction(27 * x + total - y, 28)) <= Fraction(1, 280)


@pytest.mark.spread(1)
@pytest.mark.reference("Z-P5", "Z-T62")
@pytest.mark.parametrize("total", [1, 3, 20])
@settings(max_examples=20)
@given(rho=st.fractions("1/20", 2, max_denominator=20), d=st.integers(1, 30), prior=st.fractions("1/9", "8/9", max_denominator=9))
def test_a_fit_is_bounded_by_the_risk_of_what_it_reads(total, rho, d, prior):
    risk = fitted.CountFit(rho=rho, others=d, prior=prior, total=total).marginal_risk()
    assert 1 - 1e-9 <= risk <= float(fitted.ceiling(rho, d, prior).upper) + 1e-9


budgets = st.fractions("1/20", 2, max_denominator=20)
attacks = st.builds(
    TwoLevels,
    rho_block=budgets,
    rho_group=budgets,
    others=st.integers(1, 30),
    prior=st.fractions("1/10", "9/10", max_denominator=10),
    known=st.integers(0, 3),
    larger=st.sampled_from([LargerCount(), ANY_INTEGER, up_to(9), known_to_be(6), LargerCount(least=2, most=7)]),
)
releases = st.builds(Released, block=st.integers(-4, 6), group=st.integers(-4, 12), others=st.integers(-8, 12))


@pytest.mark.slow
@pytest.mark.reference("Z-T40", "Z-T41", "Z-T42", "Z-D19", "Z-A2", "Z-S9", "Z-S10")
@given(attacks, releases)
def test_the_sum_the_double_loop_and_the_gibbs_chain_have_one_law(attack, released):
    """P1 = T01/(T01 + T10) of the sampler with the indicator is the posterior, for every prior of the group's count."""
    one, larger = plain(attack, released)
    assert float(attack.posterior(released).lower) == pytest.approx(one, abs=1e-9)
    if attack.larger != known_to_be(6):
        found = chains.stationary(attack, released, nested=True)
        assert found.posterior == pytest.approx(one, abs=1e-9)
        for k2, mass in found.larger:
            assert mass == pytest.approx(larger.get(k2, 0), abs=1e-9)
            assert float(attack.larger_posterior(k2, released).lower) == pytest.approx(mass, abs=1e-9)


@pytest.mark.reference("Z-D22", "Z-S6")
@given(attacks, releases, st.integers(1, 5))
def test_a_target_that_is_not_unique_shifts_everything(attack, released, shift):
    if attack.larger not in (LargerCount(), ANY_INTEGER):
        return
    moved = attrs.evolve(attack, known=attack.known + shift)
    there = Released(block=released.block + shift, group=released.group + shift, others=released.others)
    assert moved.posterior(there) == attack.posterior(released)


@pytest.mark.reference("Z-T43")
def test_a_known_group_does_not_tell_the_block():
    """However precise the group's count, the posterior stays away from 1: nobody knows in which block they are."""
    for x2 in (1, 10):
        precise = attrs.evolve(ATTACK, rho_group=100, larger=known_to_be(x2))
        assert success(precise, (1, x2)).right < 0.6
    assert success(attrs.evolve(ATTACK, rho_block=20), (1, 10)).right > 0.999


@pytest.mark.reference("Z-A2")
@pytest.mark.statistical
def test_gibbs_finds_the_posterior():
    """40,000 draws: 5 standard errors of a chain whose draws are a little dependent are about 0.015."""
    for counts in ((2, 1, -1), (0, 1, -20), (3, 10, 9)):
        draws = chains.gibbs(ATTACK, release(*counts), sweeps=40_000, seed=3)
        assert draws.posterior == pytest.approx(float(ATTACK.posterior(release(*counts)).lower), abs=0.015)
        for k2, times in draws.larger:
            assert times / draws.sweeps == pytest.approx(float(ATTACK.larger_posterior(k2, release(*counts)).lower), abs=0.015)


@pytest.mark.reference("Z-A3")
def test_success_is_the_mass_of_the_releases_that_are_decided_right():
    """A small case by the definition: a triple loop over releases, each judged by the double loop."""
    attack = TwoLevels(rho_block=1, rho_group=2, others=2, prior="1/3", larger=up_to(4))
    blocks = {x: math.exp(-((x - 1) ** 2)) for x in range(-4, 7)}
    groups = {x: math.exp(-2 * (x - 2) ** 2) for x in range(-2, 7)}
    others = {x: math.exp(-0.5 * (x - 1) ** 2) for x in range(-6, 9)}
    whole = sum(blocks.values()) * sum(groups.values()) * sum(others.values())
    right = sum(
        a * b * c
        for x, a in blocks.items()
        for y, b in groups.items()
        for z, c in others.items()
        if plain(attack, release(x, y, z))[0] > 0.5
    )
    assert success(attack, (1, 2)).right == pytest.approx(right / whole, abs=1e-6)


@given(
    st.fractions("1/30", 4, max_denominator=30), st.fractions(-9, 9, max_denominator=20), st.integers(-12, 12), st.integers(0, 15)
)
def test_lattice_sums_enclose_plain_sums(rate, centre, low, length):
    for ends in ((low, low + length), (low, None), (None, low), (None, None)):
        first, last = -80 if ends[0] is None else ends[0], 80 if ends[1] is None else ends[1]
        total = sum(((ball(-rate * (k - centre) ** 2)).exp() for k in range(first, last + 1)), arb(0))
        assert abs(float((hierarchy.lattice_sum(rate, centre, *ends) / total - 1).mid())) < 1e-12


def test_priors_that_rule_everything_out_are_refused():
    impossible = attrs.evolve(ATTACK, larger=known_to_be(-1))
    with pytest.raises(ParameterError, match="rules out both values"):
        impossible.posterior(release(1, 1, 1))
    with pytest.raises(ParameterError, match="leaves no count"):
        chains.gibbs(impossible, release(1, 1, 1))
    with pytest.raises(CertainTargetError, match="prior"):
        TwoLevels(rho_block=1, rho_group=1, others=1, prior=1)


@pytest.mark.reference("Z-O26")
def test_the_ceiling_by_a_double_loop():
    pairs = DiscreteGaussianShift(1, 1 / (2 * BLOCK)), DiscreteGaussianShift(1, 27 / (2 * BLOCK))
    assert expected_posterior(pairs[0], "1/2").lower < expected_posterior(pairs[1], "1/2").lower * 2
    first = {x: math.exp(-float(BLOCK) * (x - 1) ** 2) for x in range(-40, 43)}
    second = {y: math.exp(-float(BLOCK) / 27 * (y - 1) ** 2) for y in range(-220, 223)}
    whole = sum(first.values()) * sum(second.values())
    mean = sum(
        a * b / (1 + math.exp(-float(BLOCK) * (2 * x - 1) - float(BLOCK) / 27 * (2 * y - 1)))
        for x, a in first.items()
        for y, b in second.items()
    )
    assert 2 * mean / whole == pytest.approx(float(fitted.ceiling(BLOCK, 27, "1/2").lower), abs=1e-7)
