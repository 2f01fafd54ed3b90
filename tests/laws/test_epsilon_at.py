"""The general search for the epsilon at a delta: certified ends, as close as the grid allows, in few steps."""

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from dpspec.base.exact import ZERO, number, sqrt
from dpspec.laws import FiniteLaw
from dpspec.laws.continuous import GaussianShift, LaplaceShift
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.numeric import last_above

POSITIVE = st.fractions("1/50", 50, max_denominator=50)
DELTAS = st.fractions("1/1000000", "99/100", max_denominator=10**6)
GAUSSIAN = POSITIVE.map(lambda rate: GaussianShift(number(rate)))
LAPLACE = POSITIVE.map(lambda rate: LaplaceShift(sqrt(rate)))
FINITE = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=5).filter(
    lambda pairs: all(map(sum, zip(*pairs, strict=True)))
)


def finite(weights):
    p, q = (FiniteLaw.from_weights(dict(enumerate(side))) for side in zip(*weights, strict=True))
    return p.against(q)


@pytest.mark.slow
@given(st.one_of(GAUSSIAN, LAPLACE, FINITE.map(finite)), DELTAS, st.sampled_from((64, 128)))
def test_the_ends_are_proved_and_next_to_each_other(pair, delta, precision):
    found = Dichotomy._epsilon_at(pair, delta, precision)
    if found.lower.is_infinite:
        assert pair.singular_mass().lower > delta
        return
    assert found.lower == 0 or pair.hockey_stick(found.lower, precision=precision).lower > delta
    if found.upper.is_infinite:
        assert pair.singular_mass().upper == delta
        return
    assert pair.hockey_stick(found.upper, precision=precision).upper <= delta
    assert found.upper - found.lower <= max(found.upper * 2, number("1/256")) * Fraction(2, 2**precision)


@given(st.integers(1, 2**70), st.data())
def test_the_last_place_above_is_found_where_only_signs_are_known(high, data):
    last = data.draw(st.integers(0, high - 1))
    assert last_above(lambda place: 1.0 if place <= last else float("-inf"), 0, high) == last
    assert last_above(lambda place: 1.0 if place <= last else -1e-9, 0, high) == last


class Counted(GaussianShift):
    """A Gaussian pair that counts how often its curve is looked at."""

    looks = 0

    def _hockey_stick(self, epsilon, precision):
        Counted.looks += 1
        return GaussianShift._hockey_stick(self, epsilon, precision)


@pytest.mark.parametrize("delta", ["1/1000", "1/1000000", "1/1000000000000"])
def test_few_steps_are_needed(delta):
    Counted.looks = 0
    found = Counted(number(7)).epsilon_at(delta)
    assert Counted.looks <= 35
    assert ZERO < found.upper - found.lower < Fraction(1, 10**17)
