"""Exact samplers against probabilities computed here from their definitions.

Every chi-square test draws n = 200,000 and rejects at level 1e-9 (a false alarm once in 1e9 runs). Its power against the
stated wrong scale, computed from the noncentral chi-square law, misses it with chance below 1e-9.
"""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest
from dpspec_noise import Staircase
from dpspec_noise.samplers import (
    coins,
    coins_of_exponential,
    discrete_gaussian,
    discrete_laplace,
    fits,
    inverted,
    rational_coins,
    two_sided_geometric,
)
from scipy import stats

from dpspec.base.errors import ReleaseError
from dpspec.base.exact import number
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.invariant import Marginal
from dpspec.laws.integers import DiscreteGaussianLaw, TwoSidedGeometricLaw
from tests.randomness.scripted import Words

N, LEVEL = 200_000, 1e-9


def geometric_weight(scale):
    return lambda w: math.exp(-abs(w) / float(scale))


def gaussian_weight(variance):
    return lambda w: math.exp(-(w**2) / (2 * float(variance)))


def cells(weight, reach):
    """Cells of probability above 1e-3: single integers in the middle, the tails at the ends."""
    support = range(-reach, reach + 1)
    masses = np.array([weight(w) for w in support])
    masses /= masses.sum()
    inner = [i for i, mass in enumerate(masses) if mass > 1e-3]
    low, high = inner[0], inner[-1]
    return low - reach, np.concatenate(([masses[:low].sum() + masses[low]], masses[low + 1 : high], [masses[high:].sum()]))


def statistic(draws, first, expected):
    place = np.clip(draws - first, 0, len(expected) - 1)
    observed = np.bincount(place, minlength=len(expected))
    return ((observed - len(draws) * expected) ** 2 / (len(draws) * expected)).sum()


def judge(draws, right, wrongs, reach):
    first, expected = cells(right, reach)
    threshold = stats.chi2.isf(LEVEL, len(expected) - 1)
    assert statistic(draws, first, expected) < threshold
    for wrong in wrongs:
        masses = np.array([wrong(w) for w in range(-reach, reach + 1)])
        masses /= masses.sum()
        edge = first + reach
        other = np.concatenate((
            [masses[: edge + 1].sum()], masses[edge + 1 : edge + len(expected) - 1], [masses[edge + len(expected) - 1 :].sum()],
        ))  # fmt: skip
        assert statistic(draws, first, other) > threshold
        away = N * ((expected - other) ** 2 / other).sum()
        assert stats.ncx2.cdf(threshold, len(expected) - 1, away) < LEVEL


@pytest.mark.statistical
@pytest.mark.parametrize("ratio", [F(1, 2), F(3, 5), F(9, 10), F(6 * 10**25, 10**26 + 1)])
def test_two_sided_geometric(ratio):
    """Wrong scales: the ratio 4 % smaller and 4 % larger."""
    draws = two_sided_geometric(SeededRandomness(31), N, ratio=ratio)
    scale = -1 / math.log(ratio)
    wrongs = [geometric_weight(-1 / math.log(float(ratio) * off)) for off in (0.96, 1.04)]
    judge(draws, geometric_weight(scale), wrongs, int(40 * scale))


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [F(1, 2), F(7, 3), F(12), F(10**15 + 1, 10**14)])
def test_discrete_laplace(scale):
    """Wrong scales: 5 % smaller and 5 % larger."""
    draws = discrete_laplace(SeededRandomness(32), N, scale=scale)
    wrongs = [geometric_weight(float(scale) * off) for off in (0.95, 1.05)]
    judge(draws, geometric_weight(scale), wrongs, max(30, int(40 * scale)))


def steps(width, inner, epsilon):
    return lambda w: math.exp(-epsilon * (abs(w) // width + (abs(w) % width >= inner)))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("width", "inner", "epsilon"), [(5, 2, number("ln(2)")), (3, 3, number("1/2")), (4, 1, number("ln(3)+1/3"))]
)
def test_staircase(width, inner, epsilon):
    """Wrong shapes: an inner part that is one wider or narrower (any width but all), and an epsilon 6 % larger."""
    mechanism = Staircase(queries=(Marginal(attributes=()),), width=width, inner=inner, epsilon=epsilon)
    draws, value = mechanism.draw(N, SeededRandomness(35)), float(epsilon)
    wrongs = [steps(width, inner + 1 if inner < width else inner - 1, value), steps(width, inner, 1.06 * value)]
    judge(draws, steps(width, inner, value), wrongs, 40 * width)


@pytest.mark.spread(4)
@pytest.mark.reference("K-A7")
@pytest.mark.statistical
@pytest.mark.parametrize("variance", [F(1, 3), F(1), F(5, 2), F(271, 17), F(10**9 + 7, 9 * 10**7), F(2 * 10**20 + 1, 10**19)])
def test_discrete_gaussian(variance):
    """Wrong scales: the variance 5 % smaller and 5 % larger. The last two need integers beyond 64 bits."""
    draws = discrete_gaussian(SeededRandomness(33), N, variance=variance)
    wrongs = [gaussian_weight(float(variance) * off) for off in (0.95, 1.05)]
    judge(draws, gaussian_weight(variance), wrongs, max(10, int(20 * math.sqrt(variance))))


@pytest.mark.statistical
@pytest.mark.parametrize("variance", [F(1, 3), F(5, 2), F(271, 17), F(40)])
def test_discrete_gaussian_by_inversion(variance):
    """Wrong scales: the variance 6 % smaller and 6 % larger."""
    draws = inverted(DiscreteGaussianLaw(0, variance), N, SeededRandomness(35))
    wrongs = [gaussian_weight(float(variance) * off) for off in (0.94, 1.06)]
    judge(draws, gaussian_weight(variance), wrongs, max(10, int(20 * math.sqrt(variance))))


@pytest.mark.statistical
@pytest.mark.parametrize("decay", ["ln(3)", "1/7", "sqrt(2)"])
def test_two_sided_geometric_by_inversion(decay):
    """Wrong scales: 5 % smaller and 5 % larger. The ratio 1/3 has F(0) = 3/4, an exact binary fraction."""
    draws = inverted(TwoSidedGeometricLaw(0, number(decay)), N, SeededRandomness(36))
    scale = 1 / float(number(decay))
    wrongs = [geometric_weight(scale * off) for off in (0.95, 1.05)]
    judge(draws, geometric_weight(scale), wrongs, max(30, int(40 * scale)))


THIRD = (2**64 - 1) // 3  # the bits 0101...01
ALL = 2**64 - 1


@pytest.mark.parametrize(("ratio", "words", "outcome"), [
    # r = 1/2: F(-2) = 1/6, F(-1) = 1/3, F(0) = 2/3; 1/3 = 0.010101... in binary.
    (F(1, 2), [THIRD - 1], -1), (F(1, 2), [THIRD + 1], 0), (F(1, 2), [2 * THIRD + 1], 1), (F(1, 2), [2 * THIRD - 1], 0),
    (F(1, 2), [THIRD, THIRD - 1], -1), (F(1, 2), [THIRD, THIRD + 1], 0), (F(1, 2), [THIRD, THIRD, ALL], 0),
    (F(1, 2), [THIRD, THIRD, 0], -1),
    # r = 1/3: F(-1) = 1/4 and F(0) = 3/4 exactly.
    (F(1, 3), [2**62 - 1, ALL, 5], -1), (F(1, 3), [2**62, 7], 0), (F(1, 3), [2**62, 0, 3], 0), (F(1, 3), [2**62 + 1], 0),
    (F(1, 3), [3 * 2**62, 1], 1), (F(1, 3), [3 * 2**62 - 1, 1], 0),
    # Beyond the table: r = 1/2, F(-k) = 2^(1-k)/3, so 2^-64 u lies between F(-67) and F(-66) for u = 2^-2.
    (F(1, 2), [0, 2**62], -65), (F(1, 2), [ALL, ALL - 2**62], 65), (F(1, 2), [0, 0, 2**62], -129),
])  # fmt: skip
def test_words_near_a_threshold_take_more_bits(ratio, words, outcome):
    source = Words(*words)
    assert inverted(TwoSidedGeometricLaw.with_ratio(0, ratio), 1, source).tolist() == [outcome]
    assert inverted(TwoSidedGeometricLaw.with_ratio(40, ratio), 1, Words(*words)).tolist() == [outcome + 40]


def test_a_wide_law_has_no_table():
    assert fits(DiscreteGaussianLaw(0, 10**6))
    assert not fits(DiscreteGaussianLaw(0, 10**8))


@pytest.mark.statistical
@pytest.mark.parametrize("exponent", [F(0), F(1, 3), F(1), F(7, 2), F(10**25, 10**25 * 2 + 1)])
def test_coins_of_an_exponential(exponent):
    """The number of heads in 200,000 lies within the 1e-9 quantiles of its binomial law; 2 % off would not."""
    numerators = np.full(N, exponent.numerator, dtype=object)
    heads = int(coins_of_exponential(SeededRandomness(34), numerators, exponent.denominator).sum())
    p = math.exp(-exponent)
    assert stats.binom.ppf(LEVEL, N, p) <= heads <= stats.binom.isf(LEVEL, N, p)
    if 0.1 < p < 1:
        assert heads > stats.binom.isf(LEVEL, N, 0.98 * p) or p * 1.02 > 1 or heads < stats.binom.ppf(LEVEL, N, 1.02 * p)


class Scripted:
    """A source whose uniform integers are written down beforehand."""

    def __init__(self, *values):
        self.values = list(values)

    def below(self, bound, count):
        drawn, self.values = self.values[:count], self.values[count:]
        assert all(value < bound for value in drawn)
        return np.array(drawn, dtype=np.int64)


def test_a_coin_beyond_64_bits_is_decided_digit_by_digit():
    digit = 1 << 62
    # n/d = 1/2 + 1/2^101: first digit 2^61, then 2^23.
    numerator, denominator = 2**100 + 1, 2**101
    for digits, heads in (
        ([2**61 - 1], True), ([2**61 + 1], False), ([2**61, 2**23 - 1], True), ([2**61, 2**23], False),
        ([2**61, 2**23 + 1], False), ([2**61, 0], True), ([0], True), ([digit - 1], False),
    ):  # fmt: skip
        assert coins(Scripted(*digits), np.array([numerator], dtype=object), denominator).tolist() == [heads]


def test_certain_coins():
    for denominator in (3, 3**60):
        never, always = np.array([0], dtype=object), np.array([denominator], dtype=object)
        assert not coins(SeededRandomness(1), np.repeat(never, 1000), denominator).any()
        assert coins(SeededRandomness(1), np.repeat(always, 1000), denominator).all()
    assert coins_of_exponential(SeededRandomness(1), np.zeros(1000, dtype=np.int64), 7).all()


def test_a_small_coin_is_exact():
    assert rational_coins(Scripted(0, 1, 2, 3, 4, 5, 6), F(3, 7), 7).tolist() == [True] * 3 + [False] * 4


def test_nothing_is_drawn_for_no_answers():
    for draws in (
        two_sided_geometric(SeededRandomness(1), 0, ratio=F(1, 2)), discrete_laplace(SeededRandomness(1), 0, scale=F(2)),
        discrete_gaussian(SeededRandomness(1), 0, variance=F(2)),
    ):  # fmt: skip
        assert draws.size == 0


def test_a_scale_beyond_64_bits_is_refused():
    with pytest.raises(ReleaseError, match="choose a smaller scale"):
        discrete_laplace(SeededRandomness(1), 1, scale=F(2**62))
