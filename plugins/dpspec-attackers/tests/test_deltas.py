"""The four deltas at one epsilon: their order, their values, and that they cannot be mixed up (K-T32)."""

from __future__ import annotations

import itertools

import pytest
from dpspec_attackers.deltas import approximate, concentrated, pbdp, tail
from hypothesis import given
from hypothesis import strategies as st

from dpspec.errors import NoRouteError, ParameterError
from dpspec.exact import number
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.shifts import GaussianShift, LaplaceShift

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
    import math

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
    with pytest.raises(NoRouteError):
        pbdp(LaplaceShift(number(1)), "1/2")
    with pytest.raises(ParameterError, match="K-S8"):
        pbdp(PRODUCTION, 0)
