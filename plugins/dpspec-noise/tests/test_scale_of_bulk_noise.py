"""The scale of bulk discrete Gaussian noise to 2 %, from sigma 1/2 to 1,000.

A chi-square test on n = 1,500,000 draws in at most 40 cells that hold about equal mass under the right law; it rejects at level
1e-9, the false alarm. A scale (sigma) of 0.98 or 1.02 times the right one is missed with a chance below 1e-9, which the test
computes from the noncentral chi-square law; draws of such scales are rejected.
"""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from dpspec_noise.samplers import inverted
from scipy import stats

from dpspec.base.randomness import SeededRandomness
from dpspec.laws.integers import DiscreteGaussianLaw

N, LEVEL, CELLS = 1_500_000, 1e-9, 40
WRONG = (F(98, 100), F(102, 100))


def masses(variance, reach):
    """Probabilities of -reach..reach from the definition, in doubles."""
    support = np.arange(-reach, reach + 1)
    weights = np.exp(-(support.astype(float) ** 2) / (2 * float(variance)))
    return weights / weights.sum()


def cut(probabilities):
    """The cell of each integer: about equal masses, whole integers."""
    place = np.floor((np.cumsum(probabilities) - probabilities / 2) * CELLS).astype(int).clip(0, CELLS - 1)
    return np.unique(place, return_inverse=True)[1]


def judged(draws, cell, probabilities, reach):
    expected = len(draws) * np.bincount(cell, weights=probabilities)
    observed = np.bincount(cell[np.clip(draws, -reach, reach) + reach], minlength=len(expected))
    return ((observed - expected) ** 2 / expected).sum()


@pytest.mark.spread(1)
@pytest.mark.statistical
@pytest.mark.parametrize("variance", [F(1, 4), F(1), F(10), F(271, 17), F(10**4), F(10**6)])
def test_a_scale_that_is_wrong_by_two_percent_is_caught(variance):
    reach = int(12 * float(variance) ** 0.5) + 8
    right = masses(variance, reach)
    cell = cut(right)
    freedom = cell.max()
    assert freedom >= 2
    threshold = stats.chi2.isf(LEVEL, freedom)
    draws = inverted(DiscreteGaussianLaw(0, variance), N, SeededRandomness(41))
    assert judged(draws, cell, right, reach) < threshold
    for off in WRONG:
        other = masses(variance * off**2, reach)
        expected, shifted = (np.bincount(cell, weights=p) for p in (right, other))
        away = N * ((shifted - expected) ** 2 / expected).sum()
        assert stats.ncx2.cdf(threshold, freedom, 0.9 * away) < LEVEL  # 0.9: the cells' variances differ a little
        scaled = inverted(DiscreteGaussianLaw(0, variance * off**2), N, SeededRandomness(42))
        assert judged(scaled, cell, right, reach) > threshold
