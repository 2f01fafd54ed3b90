"""Conversions: none is ever violated by a finite mechanism, and every tight one is attained by a mechanism."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from dpspec_divergences import (
    Mult,
    MultDelta,
)
from dpspec_divergences.worst_pairs import group_delta, worst_curve

from dpspec import laws
from dpspec.base.exact import ln, number
from dpspec.laws.trade_off import TradeOff

# --- curves and bounds of the input --------------------------------------------------------------


@pytest.mark.reference("K-T18")
def test_the_curve_of_approximate_privacy():
    above, below = worst_curve(MultDelta(delta="1/5"), ln(3))
    assert above == below == TradeOff.approximate(3, Fraction(1, 5))
    high, low = worst_curve(Mult(), number(1))
    assert high >= low
    assert float(low.at("1/10")) == pytest.approx(1 - 0.27182818, abs=1e-7)  # K-O13


@pytest.mark.parametrize("steps", [1, 2, 7, 1_000])
@pytest.mark.parametrize("epsilon", ["0", "ln(2)", "ln(1000001/1000000)", "1/1000", "1e-400"])
def test_the_delta_of_a_group_is_rounded_up_and_short(epsilon: str, steps: int) -> None:
    delta, loss = Fraction(1, 10**12), number(epsilon)
    found, ratio = group_delta(delta, loss, steps), laws.rational_exponential(loss)
    if ratio is None:
        power = float(Fraction(epsilon))
        least = math.fsum(math.exp(power * step) for step in range(steps)) * float(delta)
        assert math.isclose(float(found), least, rel_tol=1e-12)
        assert found > delta * steps or steps == 1
    else:
        true = min(Fraction(1), delta * sum(ratio**step for step in range(steps)))
        assert true <= found <= true * (1 + Fraction(1, 10**30))
    assert found.denominator.bit_length() < 17_000
