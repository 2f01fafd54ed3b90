"""The largest power of a test: exact, in closed form, and bracketed, each against another way to get it."""

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from dpspec.base.errors import ParameterError
from dpspec.base.exact import number
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.continuous import GaussianShift, LaplaceShift
from dpspec.laws.integers import DiscreteGaussianLaw
from dpspec.laws.law import FiniteLaw
from dpspec.laws.trade_off import largest_power

weights = st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any)


def by_vertices(p, q, level):
    """The best mix of two of all eight events."""
    points = []
    for mask in range(8):
        chosen = [place for place in range(3) if mask >> place & 1]
        points.append((sum(Fraction(p[i], sum(p)) for i in chosen), sum(Fraction(q[i], sum(q)) for i in chosen)))
    best = max(power for at, power in points if at <= level)
    for a, u in points:
        for b, v in points:
            if a < level < b:
                best = max(best, u + (v - u) * (level - a) / (b - a))
    return best


@pytest.mark.reference("K-A3", "K-D22", "K-D5")
@given(weights, weights, st.fractions(0, 1, max_denominator=20))
def test_finite_laws_against_all_events(p, q, level):
    pair = FiniteDichotomy(tuple(p), tuple(q), sum(p), sum(q))
    assert largest_power(pair, level).lower == largest_power(pair, level).upper == by_vertices(p, q, level)


@pytest.mark.parametrize("level", ["0.01", "0.05", "0.1", "0.3", "0.5", "0.7", "0.95"])
def test_laplace_noise_in_closed_form(level):
    """One unit of shift: e a up to 1/(2e), then 1 - 1/(4 e a) up to 1/2, then 1 - (1 - a)/e."""
    from math import e

    a = float(level)
    expected = e * a if a < 1 / (2 * e) else 1 - 1 / (4 * e * a) if a < 0.5 else 1 - (1 - a) / e
    found = largest_power(LaplaceShift(number(1)), level)
    assert float(found.lower.decimal(17)) - 1e-12 <= expected <= float(found.upper.decimal(17)) + 1e-12
    assert float(found.upper.decimal(12)) - float(found.lower.decimal(12)) < 1e-6


@pytest.mark.parametrize("level", ["0.01", "0.05", "0.4", "0.9"])
def test_discrete_gaussian_noise_against_a_long_list(level):
    import math

    mass = {k: math.exp(-k * k / 4) for k in range(-45, 47)}
    total = sum(mass.values())
    spent = power = 0.0
    for k in range(46, -46, -1):  # the alternative is one higher: large outcomes speak for it
        p, q = mass[k] / total, math.exp(-((k - 1) ** 2) / 4) / total
        share = min(1.0, max(0.0, (float(level) - spent) / p))
        spent, power = spent + share * p, power + share * q
    pair = DiscreteGaussianLaw(center=0, variance=2).against(DiscreteGaussianLaw(center=1, variance=2))
    found = largest_power(pair, level)
    assert float(found.lower.decimal(17)) - 1e-9 <= power <= float(found.upper.decimal(17)) + 1e-9


@pytest.mark.parametrize("pair", [GaussianShift(number(1)), FiniteLaw.bernoulli("1/2").against(FiniteLaw.bernoulli("1/4"))])
def test_the_ends(pair):
    assert str(largest_power(pair, 0)) == "0"
    assert str(largest_power(pair, 1)) == "1"
    for level in (-1, 2):
        with pytest.raises(ParameterError, match="must lie in"):
            largest_power(pair, level)


def test_identical_laws_have_power_equal_to_the_level():
    same = FiniteLaw.bernoulli("1/3")
    assert str(largest_power(same.against(same), "1/7")) == "1/7"
