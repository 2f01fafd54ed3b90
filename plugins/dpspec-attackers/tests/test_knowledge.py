"""The four deltas at one epsilon: their order, their values, and that they cannot be mixed up (K-T32)."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from dpspec_attackers.knowledge import approximate, concentrated, pbdp, tail
from hypothesis import given, strategies as st

from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import number
from dpspec.laws.continuous import GaussianShift, LaplaceShift
from dpspec.laws.law import FiniteLaw
from dpspec.laws.trade_off import TradeOff

PRODUCTION = GaussianShift(number("5.26"))


@pytest.mark.reference("K-N13", "K-O46", "K-T12")
@pytest.mark.parametrize(("epsilon", "expected"), [
    (1, (0.607138, 0.761369, 0.973177, 1)), (5, (0.0855345, 0.150716, 0.269126, 0.586299)),
    (10, (2.53585e-4, 6.55701e-4, 1.39316e-3, 5.72334e-3)), (15, (9.92339e-9, 3.45345e-8, 7.91582e-8, 4.81995e-7)),
])  # fmt: skip
def test_the_four_at_the_production_budget(epsilon, expected):
    four = approximate(PRODUCTION, epsilon), tail(PRODUCTION, epsilon), pbdp(PRODUCTION, epsilon), concentrated("2.63", epsilon)
    for found, value in zip(four, expected, strict=True):
        assert abs(float(found.value.upper.decimal(12)) / value - 1) < 1e-5
    assert all(one.value.lower <= two.value.upper for one, two in itertools.pairwise(four))


@pytest.mark.reference("K-T32", "K-T4", "K-S5")
@given(
    st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any),
    st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any),
    st.sampled_from(["1/10", "1/2", "1", "2"]),
)
def test_their_order_for_finite_laws(p, q, epsilon):
    laws = [FiniteLaw.from_weights(dict(enumerate(weights))) for weights in (p, q)]
    pair = laws[0].against(laws[1])
    one, two, three = approximate(pair, epsilon), tail(pair, epsilon), pbdp(pair, epsilon)
    assert one.value.lower <= two.value.upper
    assert two.value.lower <= three.value.upper


@pytest.mark.reference("K-O6", "K-T4")
def test_sampling_one_of_ten():
    """Infinite loss with probability 1/10: approximate 0.1 at every epsilon, pbdp 0.158198 at 1."""
    pair = FiniteLaw.of({"same": "9/10", "here": "1/10"}).against(FiniteLaw.of({"same": "9/10", "there": "1/10"}))
    for epsilon in (0, 1, 5):
        found = approximate(pair, epsilon).value
        assert found.lower <= number("1/10") <= found.upper
        assert float(found.upper.decimal(12)) - float(found.lower.decimal(12)) < 1e-9
    assert abs(float(pbdp(pair, 1).value.upper.decimal(9)) - 0.158198) < 1e-6


@pytest.mark.reference("K-O9", "K-D8", "K-O27")
def test_the_coin_flip_reading():
    """E max(0, 1 - e^(eps - L)) of the loss N(2.63, 5.26) by a sum over a fine grid, and in closed form."""
    mean, variance, step = 2.63, 5.26, 1e-3
    total = sum(
        step * math.exp(-((x - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance) * (1 - math.exp(3 - x))
        for x in (3 + step * (k + 0.5) for k in range(20000))
    )
    closed = float(approximate(PRODUCTION, 3).value.upper.decimal(12))
    assert abs(total - closed) < 1e-6
    assert abs(closed - 0.294350) < 1e-6


def test_deltas_of_different_kinds_are_not_compared():
    one, other = approximate(PRODUCTION, 3), tail(PRODUCTION, 3)
    with pytest.raises(ParameterError, match="cannot be compared"):
        assert one <= other
    with pytest.raises(ParameterError, match="cannot be compared"):
        assert one <= approximate(PRODUCTION, 4)
    assert approximate(GaussianShift(number(1)), 3) <= one


def test_where_pbdp_is_not_known():
    with pytest.raises(NoFormulaError):
        pbdp(LaplaceShift(number(1)), "1/2")
    with pytest.raises(ParameterError, match="pbdp is not defined at 0"):
        pbdp(PRODUCTION, 0)


# --- errata ------------------------------------------------------------------------------------------------


@pytest.mark.reference("K-E3")
def test_the_event_is_a_loss_above_epsilon():
    """Printed in four places as L > e^epsilon: for randomised response with epsilon 1 that would be 0 at epsilon = 1/2."""
    response = FiniteLaw.bernoulli("731/1000").against(FiniteLaw.bernoulli("269/1000"))
    assert tail(response, "1/2").value.lower == number("731/1000")
    assert tail(response, "1.6487").value.upper == 0


@pytest.mark.reference("K-E8", "K-S11")
def test_the_inverse_of_a_curve_that_starts_below_one():
    """Printed: f(f^-1(z)) >= z. With infinite losses f(0) < 1, and above it f(f^-1(z)) = f(0) < z."""
    curve = TradeOff.approximate(1, Fraction(1, 10))
    assert curve.at(0) == Fraction(9, 10)
    for z in (Fraction(1, 2), Fraction(9, 10)):
        assert curve.at(curve.inverse().at(z)) == z
    assert curve.at(curve.inverse().at(Fraction(95, 100))) == Fraction(9, 10) < Fraction(95, 100)


@pytest.mark.reference("K-E1", "K-E2")
def test_the_three_cells_of_table_1():
    """0.820, 0.370 and 0.550 are printed for 0.082, 0.369 and 0.546: min(e^eps a, 1 - e^-eps (1 - a))."""
    for level, epsilon, printed, right in ((0.05, 0.5, 0.820, 0.082), (0.05, 2, 0.370, 0.369), (0.01, 4, 0.550, 0.546)):
        power = min(math.exp(epsilon) * level, 1 - math.exp(-epsilon) * (1 - level))
        assert round(power, 3) == right != printed
