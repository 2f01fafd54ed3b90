"""What an attacker reaches at the rho of the ledger: the power of a test of two Gaussians, Phi(Phi^-1(level) + sqrt(2 rho))."""

from fractions import Fraction

import pytest
from dpspec_census.configuration_2020 import SCENARIOS, spent
from dpspec_divergences.trade_off import GaussianTradeOff
from flint import arb

LEVELS = ("0.01", "0.05", "0.10")


def power(level, rho):
    """The largest probability of detection at a level, under mu = sqrt(2 rho)."""
    ball = arb(Fraction(rho).numerator) / Fraction(rho).denominator
    return float(GaussianTradeOff().largest_probability(arb(level), (2 * ball).sqrt()).mid())


@pytest.mark.reference("K-O55")
@pytest.mark.parametrize(
    ("rho", "printed"),
    [
        ("0.926", (0.167, 0.388, 0.532)), ("0.952", (0.172, 0.396, 0.539)), ("0.945", (0.171, 0.394, 0.537)),
        ("1.32", (0.242, 0.492, 0.634)), ("0.555", (0.102, 0.277, 0.410)),
    ],
)  # fmt: skip
def test_the_printed_powers_follow_from_the_printed_rho(rho, printed):
    assert [power(level, rho) for level in LEVELS] == pytest.approx(printed, abs=1e-3)


@pytest.mark.reference("K-E7", *(f"K-O54{letter}" for letter in "ABCDEFGH"))
@pytest.mark.parametrize(
    ("letter", "recomputed"),
    [
        ("A", (0.0319, 0.1205, 0.2092)), ("B", (0.1671, 0.3882, 0.5316)), ("C", (0.1828, 0.4116, 0.5556)),
        ("D", (0.1812, 0.4094, 0.5534)), ("E", (0.2528, 0.5063, 0.6476)), ("F", (0.1112, 0.2950, 0.4303)),
        ("G", (0.1858, 0.4160, 0.5601)), ("H", (0.1857, 0.4158, 0.5599)),
    ],
)  # fmt: skip
def test_the_powers_at_the_recomputed_rho(letter, recomputed):
    assert [power(level, SCENARIOS[letter].rho) for level in LEVELS] == pytest.approx(recomputed, abs=1e-4)


@pytest.mark.reference("K-N11")
def test_the_powers_of_scenario_a_as_printed():
    assert [round(power(level, "0.1115"), 2) for level in LEVELS] == [0.03, 0.12, 0.21]
    assert [power(level, "0.1115") for level in LEVELS] == pytest.approx([0.031861, 0.120473, 0.209165], abs=1e-6)


@pytest.mark.reference("K-O56", "K-D42")
def test_neighbours_within_a_state():
    within = spent(lambda query, level: (query.name, level) != ("total", "state"))
    assert [power(level, within) for level in LEVELS] == pytest.approx([0.3343, 0.6000, 0.7313], abs=1e-4)


@pytest.mark.reference("K-O57", "K-E5")
def test_the_caption_with_one_over_rho_at_sensitivity_1_is_half_the_rho():
    """sigma^2 = 1/2.63 at sensitivity 1 is mu^2 = 2.63, rho = 1.315; the 2.63 meant has two cells that change by 1."""
    assert [power(level, "1.315") for level in LEVELS] == pytest.approx([0.2405, 0.4908, 0.6331], abs=1e-4)
    assert [round(power(level, "1.315"), 2) for level in LEVELS] == [0.24, 0.49, 0.63]
    assert power("0.01", "2.63") == pytest.approx(0.486886, abs=1e-5)
