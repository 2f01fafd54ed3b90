"""Report noisy max: its exact law against quadrature and sums, its loss against random changes of counts, and its releases.

Sampler tests draw n = 2,000 and reject at level 1e-9; a probability that is off by 0.09 is missed with chance below 1e-4.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction as F

import numpy as np
import pytest
from dpspec_noise import NoisyMax
from scipy import integrate, stats

from dpspec.base.errors import ParameterError
from dpspec.base.exact import number
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.tables import Table
from dpspec.laws import exact_exponential

COLOUR = Attribute(name="colour", categories=("red", "blue", "green"))
NOISES = ("laplace", "exponential", "geometric")


def noisy_max(noise, rate="1/2"):
    return NoisyMax(query=Marginal(attributes=("colour",)), noise=noise, rate=rate)


def density(noise, rate):
    return {
        "laplace": lambda w: rate / 2 * math.exp(-rate * abs(w)),
        "exponential": lambda w: rate * math.exp(-rate * w) if w >= 0 else 0.0,
    }[noise]


def below(noise, rate):
    if noise == "laplace":
        return lambda w: math.exp(rate * w) / 2 if w < 0 else 1 - math.exp(-rate * w) / 2
    return lambda w: 1 - math.exp(-rate * w) if w >= 0 else 0.0


def by_quadrature(noise, rate, counts):
    f, less = density(noise, rate), below(noise, rate)
    for own in range(len(counts)):

        def integrand(z, own=own):
            return f(z - counts[own]) * math.prod(less(z - n) for place, n in enumerate(counts) if place != own)

        yield integrate.quad(integrand, -60, 70, points=sorted(set(counts)), limit=400)[0]


def by_sums(rate, counts):
    support = np.arange(-150, 151)
    masses = np.exp(-rate * abs(support))
    masses /= masses.sum()
    sums = np.concatenate(([0], np.cumsum(masses)))
    for own in range(len(counts)):
        yield math.fsum(
            p * math.prod(sums[min(max(t - n - (place < own) + 151, 0), 301)] for place, n in enumerate(counts) if place != own)
            for p, t in zip(masses, support + counts[own], strict=True)
        )


@pytest.mark.parametrize("noise", NOISES)
def test_the_law_is_that_of_the_largest_noisy_count(noise):
    lot = random.Random(7)
    for _ in range(10):
        counts, rate = [lot.randint(0, 4) for _ in range(lot.randint(1, 4))], lot.choice((F(1, 2), F(3, 2)))
        found = noisy_max(noise, rate).chances(counts)
        assert sum(found, exact_exponential(0) * 0) == 1
        wanted = by_sums(float(rate), counts) if noise == "geometric" else by_quadrature(noise, float(rate), counts)
        assert all(abs(float(p.enclose(64)) - q) < 1e-6 for p, q in zip(found, wanted, strict=True))


def largest_log_ratio(mechanism, counts, others):
    ratios = [one / other for one, other in zip(mechanism.chances(counts), mechanism.chances(others), strict=True)]
    return max(max(ratio, 1 / ratio) for ratio in ratios)


@pytest.mark.parametrize("noise", NOISES)
def test_no_change_of_counts_is_dearer_than_its_span(noise):
    """The bound is held against exact laws, of counts that go up and down by up to three."""
    lot, mechanism = random.Random(8), noisy_max(noise, "ln(2)" if noise != "laplace" else "1/2")
    for _ in range(40 if noise != "laplace" else 15):
        counts = [lot.randint(3, 6) for _ in range(lot.randint(2, 4))]
        changes = [lot.choice((0, 0, 1, -1, 2, -3)) for _ in counts]
        span = max(0, *changes) - min(0, *changes)
        found = largest_log_ratio(mechanism, counts, [n + by for n, by in zip(counts, changes, strict=True)])
        assert found <= exact_exponential(mechanism.rate * span)


def test_exponential_noise_attains_both_bounds_and_the_others_come_near():
    for noise, near in (("exponential", 1), ("laplace", F(9, 10)), ("geometric", F(9, 10))):
        mechanism = noisy_max(noise)
        for counts, others, losses in (([0, 40], [1, 40], 1), ([0, 40], [1, 39], 2)):
            found = largest_log_ratio(mechanism, counts, others)
            bound = mechanism.rate * losses
            assert exact_exponential(bound * near) <= found <= exact_exponential(bound)


def test_ties_of_whole_noisy_counts_go_to_the_first():
    first, second = noisy_max("geometric", "ln(3)").chances([0, 0])
    assert (first.rational(), second.rational()) == (F(21, 32), F(11, 32))  # two equal whole numbers have probability 5/16


def test_a_rate_without_an_exact_law_is_refused():
    for noise, rate in (("laplace", "ln(2)"), ("exponential", number(2).sqrt())):
        with pytest.raises(ParameterError):
            noisy_max(noise, rate)


@pytest.mark.statistical
@pytest.mark.parametrize("noise", NOISES)
def test_releases_follow_the_law(noise):
    mechanism, space, source = noisy_max(noise, "1"), UnorderedRecords(attributes=(COLOUR,)), SeededRandomness(9)
    table = Table.from_records([("blue",), ("blue",), ("green",)], (COLOUR,))
    drawn = [next(iter(mechanism.release(table, space, source).records()))[0] for _ in range(2_000)]
    expected = np.array([float(p.enclose(64)) for p in mechanism.chances([0, 2, 1])]) * len(drawn)
    observed = np.array([drawn.count(colour) for colour in COLOUR.categories])
    assert ((observed - expected) ** 2 / expected).sum() < stats.chi2.isf(1e-9, 2)
