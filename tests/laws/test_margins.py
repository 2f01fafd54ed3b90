"""Margins and deviations of noise: closed forms, exact sums, and levels near the ends."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpspec.base.errors import ParameterError
from dpspec.base.exact import ln
from dpspec.laws import DiscreteGaussianLaw, GaussianLaw, LaplaceLaw, TwoSidedGeometricLaw, deviation, margin

LEVELS = (Fraction(1, 2), Fraction(19, 20), Fraction(99, 100), 1 - Fraction(1, 10**9))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(70)])
def test_the_margin_of_laplace_noise_is_the_scale_times_a_logarithm(level, scale):
    found = margin(LaplaceLaw(5, scale), level)
    known = float(scale) * -math.log(1 - level)
    assert float(found.value.lower) == pytest.approx(known, rel=1e-9)
    assert float(found.value.upper) == pytest.approx(known, rel=1e-9)
    assert found.coverage.lower >= level
    assert float(deviation(LaplaceLaw(5, scale)).upper) == pytest.approx(math.sqrt(2) * float(scale), rel=1e-12)


def test_the_margin_of_gaussian_noise_is_that_of_tables():
    assert float(margin(GaussianLaw(0, 9)).value.upper) == pytest.approx(3 * 1.959963984540054, rel=1e-9)
    assert float(deviation(GaussianLaw(0, 9)).lower) == pytest.approx(3, rel=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("ratio", [Fraction(1, 10), Fraction(1, 2), Fraction(99, 100)])
def test_the_margin_of_geometric_noise_is_the_least_whole_number(level, ratio):
    """P(|W| > m) = 2 r^(m + 1) / (1 + r)."""
    found = margin(TwoSidedGeometricLaw.with_ratio(3, ratio), level)
    assert found.value.is_exact
    least = int(str(found.value.upper))
    assert 2 * ratio ** (least + 1) / (1 + ratio) <= 1 - level
    assert least == 0 or 2 * ratio**least / (1 + ratio) > 1 - level
    variance = 2 * ratio / (1 - ratio) ** 2
    assert float(deviation(TwoSidedGeometricLaw.with_ratio(3, ratio)).upper) == pytest.approx(math.sqrt(variance), rel=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("variance", [Fraction(1, 20), Fraction(1, 2), Fraction(999, 1000), 1, Fraction(1001, 1000), 7, 400])
def test_the_margin_and_deviation_of_discrete_gaussian_noise_are_those_of_its_sum(level, variance):
    weights = [math.exp(-k * k / (2 * float(variance))) for k in range(400)]
    total = weights[0] + 2 * sum(weights[1:])
    found = int(str(margin(DiscreteGaussianLaw(0, variance), level).value.upper))
    assert 2 * sum(weights[found + 1 :]) / total <= float(1 - level) * (1 + 1e-9)
    assert found == 0 or 2 * sum(weights[found:]) / total > float(1 - level) * (1 - 1e-9)
    known = math.sqrt(2 * sum(k * k * weight for k, weight in enumerate(weights)) / total)
    ends = deviation(DiscreteGaussianLaw(0, variance))
    assert float(ends.lower) == pytest.approx(known, rel=1e-11)
    assert float(ends.upper) == pytest.approx(known, rel=1e-11)


def test_noise_of_an_irrational_decay():
    found = margin(TwoSidedGeometricLaw(0, ln(3)))
    assert str(found.value.upper) == "3"
    assert float(found.coverage.lower) == pytest.approx(1 - 2 * 3.0**-4 / (1 + 1 / 3), rel=1e-12)


@pytest.mark.parametrize("level", [0, 1, "3/2", -1])
def test_a_level_that_is_no_probability_is_refused(level):
    with pytest.raises(ParameterError, match="level"):
        margin(LaplaceLaw(0, 1), level)


@pytest.mark.parametrize("ratio", [Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("least", [0, 1, 7])
def test_a_level_that_is_attained_has_the_margin_that_attains_it(ratio, least):
    """P(|W| <= m) is exactly the level; enclosures cannot decide that, and gave m + 1."""
    level = 1 - 2 * ratio ** (least + 1) / (1 + ratio)
    found = margin(TwoSidedGeometricLaw.with_ratio(3, ratio), level)
    assert str(found.value.upper) == str(least)
    assert found.value.is_exact
    assert found.coverage.lower == level == found.coverage.upper
    above = margin(TwoSidedGeometricLaw.with_ratio(3, ratio), level + Fraction(1, 10**60))
    assert str(above.value.upper) == str(least + 1)


@pytest.mark.parametrize("scale", ["1e-3000", "1e3000"])
def test_a_scale_beyond_doubles_has_its_margin(scale):
    """The scale as a double is 0, from which the search doubled without an end, or a division by 0."""
    size = Fraction(scale)
    for law, most in ((LaplaceLaw(0, size), 2.99573227), (GaussianLaw(0, size**2), 1.95996398)):
        assert float(margin(law).value.upper.as_fraction() / size) == pytest.approx(most, rel=1e-8)


@pytest.mark.parametrize(
    ("law", "level"),
    [
        (TwoSidedGeometricLaw(0, 10**9), "19/20"),
        (TwoSidedGeometricLaw(0, 10**25), 1 - Fraction(1, 10**1300)),
        (DiscreteGaussianLaw(0, Fraction(1, 10**9)), "19/20"),
    ],
)
def test_the_margin_of_next_to_no_noise_is_0(law, level):
    """The probability of any error is too small for an exact number; it is rounded up, and the coverage down."""
    found = margin(law, level)
    assert found.value.upper == 0
    assert Fraction(level) <= found.coverage.lower.as_fraction() < found.coverage.upper.as_fraction() <= 1
