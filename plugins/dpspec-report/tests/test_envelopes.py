"""Bounds between computed places contain every function of their shape, and are thin where enough is known."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from statistics import NormalDist

import pytest
from dpspec_report.envelopes import PLAIN, PROFILE, RENYI, between, chords, extended, least_of, sandwiched
from hypothesis import given, strategies as st

from dpspec.base.exact import Bracket

NORMAL = NormalDist()


def at(corners, x, *, powers=False):
    """The lowest and the highest value of a line through corners, straight in the plot."""
    held = []
    for (left, before), (right, after) in itertools.pairwise(corners):
        if left <= x <= right:
            share = 0.0 if left == right else (x - left) / (right - left)
            if left == right:
                held += [before, after]
            else:
                held.append(before ** (1 - share) * after**share if powers else before + share * (after - before))
    return min(held), max(held)


def gaussian_profile(epsilon, mu=1.5):
    """Balle and Wang 2018, Theorem 8."""
    return NORMAL.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * NORMAL.cdf(-mu / 2 - epsilon / mu)


def response_renyi(order, epsilon=2.0):
    """Of randomised response (Mironov 2017, Proposition 5)."""
    p = 1 / (1 + math.exp(-epsilon))
    return math.log(p**order * (1 - p) ** (1 - order) + (1 - p) ** order * p ** (1 - order)) / (order - 1)


def gaussian_errors(a):
    return NORMAL.cdf(NORMAL.inv_cdf(1 - a) - 1.5) if 0 < a < 1 else 1.0 - a


def response_profile(e):
    return (math.exp(2) - math.exp(e)) / (1 + math.exp(2))


def falling_steps(e):
    return sum(10.0 ** (-2 * k) * max(0.0, 1 - math.exp(e - k)) for k in (1, 2, 3))


CASES = {
    "trade-off of Gaussian noise": (PLAIN, gaussian_errors, 0, 1, False),
    "trade-off of randomised response": (PLAIN, lambda a: max(1 - 3 * a, (1 - a) / 3), 0, 1, False),
    "profile of Gaussian noise": (PROFILE, gaussian_profile, 0, 6, False),
    "profile of randomised response": (PROFILE, response_profile, 0, Fraction(199, 100), False),
    "steps of a profile": (PROFILE, falling_steps, 0, Fraction(29, 10), False),
    "divergence of Gaussian noise": (RENYI, lambda order: order / 3, Fraction(9, 8), 16, True),
    "divergence of randomised response": (RENYI, response_renyi, Fraction(9, 8), 16, True),
}  # fmt: skip


def computed(truth, error=0.0):
    def function(x):
        """The truth is at the lower end of some brackets and at the upper end of others."""
        value, share = Fraction(truth(float(x))), hash(x) % 2
        slack, least = Fraction(error) * abs(value), Fraction(1, 10**13)
        low, high = value - share * slack - least, value + (1 - share) * slack + least
        return Bracket(lower=Bracket.exactly(max(0, low)).lower, upper=Bracket.exactly(high).upper)

    return function


@pytest.mark.parametrize("most", [7, 12, 60])
@pytest.mark.parametrize("error", [0.0, 1e-4, 0.02])
@pytest.mark.parametrize("name", CASES)
def test_the_truth_is_between_the_bounds(name, error, most):
    shape, truth, start, end, rises = CASES[name]
    start, end = Fraction(start), Fraction(end)
    values = sandwiched(shape, computed(truth, error), start, end, most, rises=rises)
    assert len(values) <= most
    low = extended(shape, values, rises=rises)
    high = chords(shape, tuple((float(x), top) for x, (_, top) in sorted(values.items())))
    powers = shape is PROFILE
    height = max(top for _, top in values.values())
    middle = between(low, high, powers=powers)
    for k in range(997):
        x = float(start + (end - start) * Fraction(2 * k + 1, 2 * 997))
        true = truth(x)
        least, most_ = at(low, x, powers=powers)[0], at(high, x, powers=powers)[1]
        assert least <= true * (1 + 1e-9) + 1e-12, x
        assert most_ >= true * (1 - 1e-9) - 1e-12, x
        if most == 60 and not error:  # thinner than a line of two pixels, up to where the curve falls off the plot
            if not powers:
                assert most_ - least < 0.005 * height
            else:
                assert math.log10(most_ / least) < 12 * 0.015
            assert least * (1 - 0.01) - 0.001 * height <= at(middle, x, powers=powers)[0] <= most_ * 1.01 + 0.001 * height


UNIT, STEEP = st.floats(0.01, 1), st.floats(0.01, 5)


@given(st.lists(STEEP, min_size=2, max_size=6), st.lists(UNIT, min_size=6, max_size=6), st.integers(7, 30))
def test_bounds_hold_for_any_convex_falling_function(slopes, offsets, most):
    def truth(x):
        return max(max(0.0, offset - slope * x) for slope, offset in zip(slopes, offsets, strict=False))

    values = sandwiched(PLAIN, computed(truth), Fraction(0), Fraction(1), most)
    low = extended(PLAIN, values, rises=False)
    high = chords(PLAIN, tuple((float(x), top) for x, (_, top) in sorted(values.items())))
    for k in range(101):
        x = (k + 0.31) / 102
        assert at(low, x)[0] - 1e-9 <= truth(x) <= at(high, x)[1] + 1e-9


def test_a_function_of_another_shape_is_not_bounded():
    """What the shape is for: the least of two convex functions leaves the bounds, so that each is bounded by itself."""
    one, two = lambda x: max(0.0, 0.5 - x), lambda x: max(0.0, 0.4 - 0.45 * x)
    least = lambda x: min(one(x), two(x))  # noqa: E731
    values = {Fraction(k, 4): (least(k / 4), least(k / 4)) for k in (0, 1, 2, 3, 4)}
    wrong = chords(PLAIN, tuple((float(x), top) for x, (_, top) in sorted(values.items())))
    assert any(at(wrong, k / 100)[1] < least(k / 100) - 1e-3 for k in range(1, 100))
    highs = [
        chords(PLAIN, tuple((k / 20, function(k / 20)) for k in range(21))) for function in (one, two)
    ]  # fmt: skip
    right = least_of(highs, above=True)
    assert all(at(right, k / 100)[1] >= least(k / 100) - 1e-9 for k in range(101))


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=4), st.floats(0, 1))
def test_the_least_of_bounds_is_the_least_everywhere(heights, x):
    bounds = [((0.0, a), (0.5, b), (1.0, c)) for a, b, c in heights]
    expected = min(at(bound, x)[0] for bound in bounds)
    found = at(least_of(bounds, above=False), x)
    assert found[0] == pytest.approx(expected, abs=1e-9)
