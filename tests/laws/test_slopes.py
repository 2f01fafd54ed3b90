"""The power of composed pairs, from their hockey-stick curve, against exact tests, long lists and closed forms."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dpspec.base.exact import number
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.continuous import GaussianShift, LaplaceShift
from dpspec.laws.integers import DiscreteGaussianShift
from dpspec.laws.loss import compose
from dpspec.laws.products import Power, TwoAtomPower, power
from dpspec.laws.trade_off import TradeOff, largest_power, power_by_slopes

weights = st.lists(st.integers(1, 9), min_size=2, max_size=3)
levels = st.fractions(Fraction(1, 200), Fraction(199, 200), max_denominator=200)


def width(bracket):
    return float(bracket.upper) - float(bracket.lower)


@pytest.mark.reference("K-A3")
@given(st.integers(2, 3).flatmap(lambda n: st.tuples(*[st.lists(st.integers(1, 9), min_size=n, max_size=n)] * 2)),
       st.integers(2, 6), levels)  # fmt: skip
def test_finite_laws_against_the_exact_trade_off(laws, times, level):
    p, q = laws
    pair = FiniteDichotomy(tuple(p), tuple(q), sum(p), sum(q))
    if pair.is_identical or len(pair.by_ratio) == 1:
        return
    exact = 1 - TradeOff.of(power(pair, times)).at(level)
    found = power_by_slopes(Power(pair, times), level)
    assert found.lower <= exact <= found.upper
    assert width(found) < 2e-3


@pytest.mark.parametrize("level", ["0.001", "0.05", "0.5", "0.97"])
def test_a_hundred_answers_are_a_binomial_number(level):
    ways = [math.comb(100, k) * 11**k * 10 ** (100 - k) for k in range(101)]
    exact = 1 - TradeOff.of(FiniteDichotomy(tuple(ways), tuple(ways[::-1]), 21**100, 21**100)).at(Fraction(level))
    found = largest_power(TwoAtomPower(FiniteDichotomy((11, 10), (10, 11), 21, 21), 100), level)
    assert found.lower <= exact <= found.upper
    assert width(found) < 1e-4


@pytest.mark.parametrize(("times", "variance"), [(3, 25), (7, 4), (50, 25)])
@pytest.mark.parametrize("level", [0.001, 0.05, 0.5, 0.95])
def test_discrete_gaussians_against_a_sum_of_lists(times, variance, level):
    """The sum of the outcomes decides: its law is convolved in floats, and the test with the largest sums is written down."""
    places = np.arange(-60, 61)
    one = np.exp(-(places**2) / (2 * variance))
    mass = one / one.sum()
    total = mass
    for _ in range(times - 1):
        total = np.convolve(total, mass)
    p, q = total[::-1], np.roll(total, times)[::-1]  # under the alternative every outcome is 1 higher
    spent = np.cumsum(p)
    at = int(np.searchsorted(spent, level))
    before = spent[at - 1] if at else 0.0
    expected = q[:at].sum() + (level - before) / p[at] * q[at]
    found = largest_power(power(DiscreteGaussianShift(1, Fraction(variance)), times), str(level))
    assert float(found.lower) - 1e-9 <= expected <= float(found.upper) + 1e-9
    assert width(found) < 2e-5


@pytest.mark.parametrize("level", ["0.01", "0.05", "0.5"])
def test_two_laplace_releases_against_a_grid(level):
    """Losses of a grid of two outcomes, in floats: an error of about the spacing of the grid."""
    spots = np.linspace(-14, 15, 1161)
    p, q = (np.exp(-np.abs(spots - centre)) for centre in (0, 1))
    p, q = p / p.sum(), q / q.sum()
    joint_p, joint_q = np.outer(p, p).ravel(), np.outer(q, q).ravel()
    order = np.argsort(-joint_q / joint_p, kind="stable")
    spent, gained = np.cumsum(joint_p[order]), np.cumsum(joint_q[order])
    expected = float(np.interp(float(level), spent, gained))
    found = largest_power(power(LaplaceShift(number(1)), 2), level)
    assert float(found.lower) - 2e-4 <= expected <= float(found.upper) + 2e-4
    assert width(found) < 3e-4


def test_unequal_releases_are_near_their_gaussian():
    """Wide discrete Gaussians of different scales, together: by the central limit within 1e-3 of mu^2 = 1/25 x 30 + 1/16 x 20."""
    found = largest_power(
        compose([(DiscreteGaussianShift(1, Fraction(25)), 30), (DiscreteGaussianShift(1, Fraction(16)), 20)]), "0.05"
    )
    gaussian = largest_power(GaussianShift(number("49/20")), "0.05")
    assert abs(float(found.lower) - float(gaussian.lower)) < 1e-3
    assert width(found) < 1e-4


@pytest.mark.parametrize("level", [0, 1])
def test_the_ends(level):
    assert str(largest_power(power(LaplaceShift(number(1)), 3), level)) == str(level)


def test_what_only_the_alternative_shows_is_power_at_level_0():
    """1 - (3/4)^40, as 1/4 of each release shows the alternative for certain; too many atoms to be multiplied out."""
    pair = FiniteDichotomy((3, 5, 8, 0), (5, 3, 4, 4), 16, 16)
    exact = 1 - Fraction(3, 4) ** 40
    found = largest_power(Power(pair, 40), 0)
    assert found.lower <= exact <= found.upper
    assert width(found) < 1e-12
    assert largest_power(Power(pair, 40), "1/1000").upper >= exact


def test_without_three_points_the_level_is_all_that_is_said_from_below(monkeypatch):
    monkeypatch.setattr("dpspec.laws.trade_off._WIDER", 0)
    found = power_by_slopes(power(LaplaceShift(number("1/10")), 100), Fraction(1, 20))
    assert found.lower == Fraction(1, 20)
    assert 0.2541 < float(found.upper) < 0.2543
