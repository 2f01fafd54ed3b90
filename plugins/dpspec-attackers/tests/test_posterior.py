"""Chapter 5 of the thesis: laws of the posterior, and its theorems over random pairs of laws."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from dpspec_attackers.membership import (
    approximate_of_loss,
    difference_bound,
    expected_posterior,
    highest_posterior,
    largest_change,
    largest_ratio,
    loss_of_approximate,
    loss_of_difference_criterion,
    lowest_posterior,
    lowest_ratio,
    posterior_cdf,
    posterior_law,
    two_sided_loss,
    worst_priors,
)
from hypothesis import assume, given, strategies as st

from dpspec.base.exact import Bracket, ln
from dpspec.laws.continuous import GaussianLaw, LaplaceLaw
from dpspec.laws.integers import DiscreteGaussianLaw, TwoSidedGeometricLaw
from dpspec.laws.law import FiniteLaw
from dpspec.laws.loss import PrivacyLoss
from tests.risk.attacking import near
from tests.risk.theorems import PRIORS, RATIOS, SHARES, in_worlds, laws as laws_of, pairs, theorem

LAWS = pairs().map(laws_of)


@pytest.mark.reference("Z-O93", "Z-T60", "Z-S37")
@pytest.mark.parametrize("drawn", ["in", "out"])
def test_the_converse_of_theorem_31_fails(drawn):
    """Example 10: with probability delta (1 + e^-e~) randomised response at e~, else nothing; in fractions, e~ = ln 7/2."""
    step = Fraction(7, 2)
    half = (3 * step + 1) / (step + 3)  # e^(epsilon/2), from (3 h - 1)/(3 - h) = step
    assert (3 * half - 1) / (3 - half) == step
    delta = Fraction(1, 100)
    yes, no, nothing = delta, delta / step, 1 - delta - delta / step
    inside, outside = FiniteLaw.of({1: yes, 0: no, "none": nothing}), FiniteLaw.of({1: no, 0: yes, "none": nothing})
    bound = (half - 1) / (half + 1)
    for k in range(1, 200):
        prior = Fraction(k, 200)
        law = posterior_law(inside.against(outside), prior, drawn)
        held = sum(mass for value, mass in law if abs(value - prior) <= bound)
        assert held >= 1 - delta
    size = PrivacyLoss(inside.against(outside))
    within = 1 - size.above(ln(half) * 2).lower.as_fraction() - (1 - size.at_least(ln(half) * -2).lower.as_fraction())
    assert within == nothing < 1 - delta


@pytest.mark.reference("Z-O93", "Z-T60")
def test_the_printed_numbers_of_example_10():
    step = math.exp(float(loss_of_difference_criterion(1).lower))
    assert 1 - 0.01 * (1 + 1 / step) == pytest.approx(0.9865757, abs=1e-7)


@pytest.mark.reference("Z-O94", "Z-T27", "Z-T39", "Z-P11", "Z-A23")
def test_gaussian_posterior():
    pair = GaussianLaw(1, 1).against(GaussianLaw(0, 1))
    assert near(pair.hockey_stick(1), 0.1269367, 1e-7)
    for share, value in (("0.025", "0.188473"), ("0.5", "0.622459"), ("0.975", "0.921287")):
        assert near(posterior_cdf(pair, "1/2", value), float(Fraction(share)), 2e-6)
    loss, back = PrivacyLoss(pair), PrivacyLoss(pair.reverse())
    form = float(loss.above(1).lower) - math.e * float(back.cdf(-1).lower)
    assert form == pytest.approx(0.1269367, abs=1e-7), "P[Z > e] - e^e P[-Z' > e]"


@pytest.mark.reference("Z-O95", "Z-T35", "Z-P8", "Z-T36", "Z-T37", "Z-T38")
@pytest.mark.parametrize(
    ("failure", "loss", "within"), [("1/5", 2.216837, 0.9537), ("3/10", 1.694795, 0.8698), ("1/2", 1.382147, 0.7812)]
)
def test_gaussian_within_theorem_35(failure, loss, within):
    pair = GaussianLaw(1, 1).against(GaussianLaw(0, 1))
    delta = pair.hockey_stick(1).upper.as_fraction()
    found = loss_of_approximate(1, delta, failure)
    assert near(found, loss)
    size = PrivacyLoss(pair)
    held = float(size.cdf(found.upper).lower) - float(size.cdf(found.upper * -1).upper)
    assert held == pytest.approx(within, abs=1e-4)
    assert held >= 1 - float(Fraction(failure))
    own = two_sided_loss(pair, Fraction(failure))
    assert own.upper < found.lower
    assert float(own.upper) - float(own.lower) < 1e-6


@pytest.mark.reference("Z-O96", "Z-X17")
def test_one_laplace_release_attains_the_bound():
    """Printed: the Laplace mechanism cannot attain U. One release of full sensitivity does, with probability 1/2."""
    pair = LaplaceLaw(1, 1).against(LaplaceLaw(0, 1))
    most = highest_posterior("1/2", 1)
    assert near(most, 0.731059)
    for loss in ("-1", "-0.5", "0", "0.9", "0.999"):
        below = 0.5 * math.exp(-(1 - float(loss)) / 2)  # P(L <= loss), by hand
        bracket = PrivacyLoss(pair).cdf(loss)
        assert float(bracket.lower) - 1e-9 <= below <= float(bracket.upper) + 1e-9
    attained = PrivacyLoss(pair).at_least(1)
    assert 0.4999 < float(attained.lower) < 0.5 + 1e-9 < float(attained.upper) < 0.502
    steps = 1000  # Simpson's rule in doubles over the law of the loss between its two atoms: an illustration
    slope = [0.25 * math.exp(-(1 - k / steps) / 2) / (1 + math.exp(-k / steps)) for k in range(-steps, steps + 1)]
    between = (slope[0] + slope[-1] + 4 * sum(slope[1:-1:2]) + 2 * sum(slope[2:-1:2])) / (3 * steps)
    mean = 0.5 * float(most.lower) + 0.5 / math.e * float(lowest_posterior("1/2", 1).lower) + between
    assert mean == pytest.approx(0.585376, abs=1e-6)


@pytest.mark.reference("Z-O97", "Z-T27", "Z-A23")
def test_geometric_posterior():
    """Epsilon = ln 3, clamped where the ratio no longer changes: three quarters with probability three quarters."""
    inside, outside = (TwoSidedGeometricLaw.with_ratio(center, "1/3").clamped(0, 1) for center in (1, 0))
    pair = inside.against(outside)
    assert posterior_law(pair, "1/2") == ((Fraction(1, 4), Fraction(1, 4)), (Fraction(3, 4), Fraction(3, 4)))
    assert expected_posterior(pair, "1/2") == Fraction(5, 8)


@pytest.mark.reference("Z-O98", "Z-T27", "Z-P1", "Z-D15")
def test_discrete_gaussian_is_the_block_attacker():
    rho, prior = Fraction(1, 10), Fraction(1, 5)
    for released in range(-3, 6):
        masses = [DiscreteGaussianLaw(center, 1 / (2 * rho)).mass(released, 128) for center in (1, 0)]
        loss = float((masses[0] / masses[1]).log())
        assert loss == pytest.approx(float(rho * (2 * released - 1)), abs=1e-12)
        bayes = float(prior) / (float(prior) + float(1 - prior) * float(masses[1] / masses[0]))
        signed = (
            highest_posterior(prior, rho * (2 * released - 1))
            if released > 0
            else lowest_posterior(prior, rho * (1 - 2 * released))
        )
        assert near(signed, bayes, 1e-12)


# --- theorems as properties ----------------------------------------------------------------------


def held_by(law, low, high):
    """The probability that a posterior lies between two numbers."""
    return sum((mass for value, mass in law if low <= value <= high), Fraction(0))


@theorem(
    "Z-T28", "Z-T29", "Z-T31", "Z-T32", "Z-T33", "Z-T34", "Z-T22", "Z-D47", "Z-D48", "Z-D9", "Z-D10", "Z-S36",
    laws=LAWS, prior=PRIORS, failure=SHARES,
)  # fmt: skip
def posteriors_stay(laws, prior, failure):
    """Theorems 28, 29 and 31 (1), and at failure 0 corollaries 32 to 34, under both laws."""
    for share in (failure, Fraction(0)):
        forth, back = laws[0].against(laws[1]), laws[1].against(laws[0])
        loss = max(two_sided_loss(forth, share).upper, two_sided_loss(back, share).upper)
        if loss.is_infinite:
            continue
        low, high, change = lowest_posterior(prior, loss), highest_posterior(prior, loss), difference_bound(loss)
        for drawn in ("in", "out"):
            law = posterior_law(forth, prior, drawn)
            assert held_by(law, low.upper.as_fraction(), high.lower.as_fraction()) >= 1 - share
            least, most = prior - change.upper.as_fraction(), prior + change.upper.as_fraction()
            assert held_by(law, least, most) >= 1 - share
            ratios = [(value / prior, mass) for value, mass in law]
            inside = sum(
                mass for ratio, mass in ratios if ratio and abs(ln(ratio).enclose().mid()) <= loss.enclose(96).upper() + 1e-12
            )
            assert inside >= 1 - share


@pytest.mark.reference("Z-T28", "Z-T29")
@given(laws=LAWS, failure=SHARES)
def test_bounded_posteriors_bound_the_loss(laws, failure):
    """The converse of theorem 28: a smaller loss than the true one is contradicted by the posterior of some prior."""
    forth = laws[0].against(laws[1])
    loss = two_sided_loss(forth, failure).upper
    assume(not loss.is_infinite and loss > 0)
    smaller = loss * Fraction(99, 100)
    low, high = lowest_posterior("1/2", smaller).upper.as_fraction(), highest_posterior("1/2", smaller).lower.as_fraction()
    assert held_by(posterior_law(forth, "1/2"), low, high) < 1 - failure


@theorem("Z-T35", "Z-P8", "Z-T36", "Z-T37", "Z-T38", "Z-T23", "Z-T39", laws=LAWS, ratio=RATIOS, failure=SHARES)
def loss_stays(laws, ratio, failure):
    """The delta of a pair at epsilon bounds the loss at every larger failure; PDP implies DP (theorem 23)."""
    forth, back = laws[0].against(laws[1]), laws[1].against(laws[0])
    delta = max(forth.hockey_stick(ln(ratio)).upper, back.hockey_stick(ln(ratio)).upper).as_fraction()
    if delta < failure:
        bound = loss_of_approximate(ln(ratio), delta, failure)
        assert bound.upper >= ln(ratio)
        for pair in (forth, back):
            assert two_sided_loss(pair, failure).lower <= bound.upper
    loss = max(two_sided_loss(forth, failure).upper, two_sided_loss(back, failure).upper)
    if not loss.is_infinite:
        assert forth.hockey_stick(loss).lower <= failure


def most_beyond(pair, bound):
    """The largest probability, over all priors and both laws, of a posterior further than a bound from the prior.

    It changes only where the posterior of some atom is that far away, so one prior between each two such places decides.
    """
    places = {0.0, 1.0}
    for p, q in pair.exact_atoms():
        if not p or not q:
            places |= {float(bound), float(1 - bound)}
        elif p != q:
            rise = float(p / q - 1)
            change = math.copysign(float(bound), rise)
            middle, square = (1 - change) / 2, (1 - change) ** 2 / 4 - change / rise
            places |= {middle - math.sqrt(square), middle + math.sqrt(square)} if square >= 0 else set()
    cuts = sorted(place for place in places if 0 <= place <= 1)
    tried = [Fraction((a + b) / 2) for a, b in itertools.pairwise(cuts) if b - a > 1e-9]
    laws = [(prior, posterior_law(pair, prior, drawn)) for prior in tried for drawn in ("in", "out")]
    return max(1 - held_by(law, prior - bound, prior + bound) for prior, law in laws)


@theorem("Z-T31", "Z-T38", laws=LAWS, ratio=st.integers(33, 95).map(lambda k: Fraction(k, 32)))
def difference_bounds_the_loss(laws, ratio):
    """|D| <= tanh(epsilon/4) but for delta, for all priors and both laws: (epsilon, 2 delta)- and (epsilon~, delta)-PDP."""
    pair, epsilon = laws[0].against(laws[1]), ln(ratio) * 2
    delta = most_beyond(pair, (ratio - 1) / (ratio + 1))
    wide = loss_of_difference_criterion(epsilon).upper
    for way in (pair, pair.reverse()):
        assert two_sided_loss(way, min(2 * delta, Fraction(1))).lower <= epsilon
        assert two_sided_loss(way, delta).lower <= wide


THEOREMS = posteriors_stay, loss_stays, difference_bounds_the_loss


@pytest.mark.parametrize(("declared", "count"), in_worlds(*THEOREMS))
def test_in_random_worlds(declared, count):
    declared.check(count)


@pytest.mark.reference("Z-P8", "Z-T35")
@given(ratio=RATIOS, delta=SHARES, failure=SHARES, more=SHARES)
def test_theorem_35_is_monotone_and_inverts(ratio, delta, failure, more):
    assume(delta < failure)
    found = loss_of_approximate(ln(ratio), delta, failure)
    assert found.is_exact
    assert approximate_of_loss(found, delta, failure) == Bracket.exactly(ln(ratio))
    if more > failure:
        assert loss_of_approximate(ln(ratio), delta, more).upper < found.lower
    if delta < more < failure:
        assert loss_of_approximate(ln(ratio), more, failure).lower > found.upper


@pytest.mark.reference("Z-P9", "Z-T30", "Z-T61", "Z-D49")
@given(prior=PRIORS, ratio=RATIOS)
def test_bounds_on_the_posterior(prior, ratio):
    loss = ln(ratio) * 2
    low, high = lowest_posterior(prior, loss), highest_posterior(prior, loss)
    assert low.is_exact
    assert low.upper < prior < high.lower
    assert high.lower == 1 - lowest_posterior(1 - prior, loss).lower.as_fraction()
    bound, worst = difference_bound(loss).lower, worst_priors(loss)[0].lower
    rise = high.lower - prior
    assert rise <= bound
    assert (rise == bound) == (prior == worst)
    assert largest_change(prior, loss).lower <= bound
    assert largest_ratio(prior, loss).upper < ratio**2
    assert lowest_ratio(prior, loss).lower == low.lower / prior
