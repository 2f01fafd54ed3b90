"""Releases on samples composed on a grid, against exact sums over small spaces and against one step in closed form."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest

from dpspec.base.exact import number
from dpspec.laws.continuous import GaussianShift, LaplaceShift
from dpspec.laws.grid import Totals
from dpspec.laws.integers import DiscreteGaussianShift
from dpspec.laws.products import power, product_of_powers
from dpspec.laws.samples import FixedSizeSample, drawn, sampled

NOISE = {
    "gaussian": GaussianShift(number("1/4")),
    "laplace": LaplaceShift(number("1/2")),
    "discrete": DiscreteGaussianShift(2, Fraction(9)),
}


@pytest.mark.parametrize("name", [pytest.param("gaussian", marks=pytest.mark.slow), "laplace", "discrete"])
def test_one_step_on_the_grid_holds_its_closed_form(name: str) -> None:
    for rate in map(Fraction, ("1/1000", "1/3", "9/10")):
        pair = sampled(NOISE[name], rate)
        for way in (pair, pair.reverse(), FixedSizeSample(pair=NOISE[name], rate=rate)):
            grid = Totals.of([(way, 1)], 64)
            for epsilon in ("0", "1/100", "1/4"):
                closed, found = way.hockey_stick(epsilon), grid.hockey_stick(number(epsilon))
                assert found.lower <= closed.upper
                assert closed.lower <= found.upper
                if rate > Fraction(1, 10):  # else nearly all losses are smaller than one grid point of the tail
                    assert float(found.upper - found.lower) <= 1e-2 * float(closed.upper) + 1e-12


def exact(steps: list[tuple[float, float, float]], epsilon: float) -> float:
    """sum of (p - e^epsilon q)+ over all outcomes of steps of discrete Gaussian noise on samples, (R, P) each."""
    lists = []
    for rate, shift, variance in steps:
        reach = int(12 * math.sqrt(variance))
        norm = math.fsum(math.exp(-k * k / 2 / variance) for k in range(-reach * 2, reach * 2 + 1))
        lists.append([
            ((1 - rate) * math.exp(-k * k / 2 / variance) / norm + rate * math.exp(-((k - shift) ** 2) / 2 / variance) / norm,
             math.exp(-k * k / 2 / variance) / norm)
            for k in range(-reach, reach + int(shift) + 1)
        ])  # fmt: skip
    ways = itertools.product(*lists)
    return math.fsum(max(0.0, math.prod(p for p, _ in way) - math.exp(epsilon) * math.prod(q for _, q in way)) for way in ways)


def test_mixed_steps_of_discrete_noise_against_all_outcomes() -> None:
    lot = random.Random(7)
    for _ in range(3):
        steps = [(Fraction(lot.randint(1, 9), 10), lot.randint(1, 2), Fraction(lot.choice((1, 2, 4)))) for _ in range(3)]
        pairs = [(sampled(DiscreteGaussianShift(shift, variance), rate).reverse(), 1) for rate, shift, variance in steps]
        joint = product_of_powers(pairs)
        for epsilon in ("0", "1/2", "3/2"):
            found = joint.hockey_stick(epsilon)
            true = exact([(float(q), float(s), float(v)) for q, s, v in steps], float(Fraction(epsilon)))
            assert float(found.lower) <= true * (1 + 1e-9) + 1e-15
            assert float(found.upper) >= true * (1 - 1e-9)
            assert float(found.upper - found.lower) <= 1e-2 * true


def test_ten_thousand_steps_and_a_million() -> None:
    """Abadi et al. 2016 publish epsilon = 1.26 at delta = 1e-5 for rate 0.01, sigma 4 and 10,000 steps."""
    step = sampled(GaussianShift(number("1/16")), Fraction(1, 100))
    for way, low, high in ((step.reverse(), 0.946, 0.948), (step, 0.936, 0.938)):
        found = power(way, 10_000).epsilon_at("1e-5")
        assert low < float(found.lower) <= float(found.upper) < high
        assert float(found.upper - found.lower) < 1e-3
    found = power(step.reverse(), 10**6).epsilon_at("1e-5")
    assert 0 < float(found.upper - found.lower) < 1e-2


def test_samples_of_a_fixed_size_are_bracketed_by_two_datasets_and_the_pair_above() -> None:
    pair, rate = GaussianShift(number("1/16")), Fraction(1, 100)
    one = drawn(pair, rate)
    found, least = power(one, 1_000).epsilon_at("1e-5"), power(sampled(pair, rate).reverse(), 1_000).epsilon_at("1e-5")
    assert found.lower == least.lower
    assert found.lower < found.upper
    assert float(found.upper) < 1.2 * float(found.lower)


def test_masses_that_are_no_doubles_under_the_other_law_count_from_above() -> None:
    """Of Gaussian laws 30 and 40 standard deviations apart half of P lay in no cell, and no bound said so."""
    for mu in (30, 40):
        pair = GaussianShift(number(mu * mu))
        for epsilon in (100, mu * mu // 2):
            assert Totals.of([(pair, 1)], 64).hockey_stick(number(epsilon)).upper >= pair.hockey_stick(epsilon).lower


def test_few_steps_at_a_small_rate() -> None:
    """Single losses are far beyond what all of them usually add up to: the window holds both."""
    step = sampled(GaussianShift(number(1)), Fraction(1, 1000))
    found = power(step.reverse(), 100).epsilon_at("1e-5")
    assert 0.0551 < float(found.lower) <= float(found.upper) < 0.0552
