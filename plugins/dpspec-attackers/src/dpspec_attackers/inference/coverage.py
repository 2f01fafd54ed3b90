"""How often the intervals hold the truth: repeated data sets, releases and posteriors (Z-A14, Z-F4.2). Simulated."""

from __future__ import annotations

import math

import attrs
import numpy as np
from numpy.random import default_rng

from dpspec_attackers.inference import gibbs, likelihood
from dpspec_attackers.inference.draws import normal_between
from dpspec_attackers.inference.gibbs import Batch
from dpspec_attackers.inference.model import UNIFORM, NoisyMoments, Prior
from dpspec_attackers.inference.summaries import mode, shortest_interval


@attrs.frozen(kw_only=True)
class Study:
    """What a repeated-sampling study found about the mean.

    Args:
        length: of the interval, on average.
        coverage: how often it holds the true mean; its standard error is sqrt(c (1 - c) / data sets).
        error: the root of the mean squared error of the mode.
        sets: the number of data sets.
    """

    length: float
    coverage: float
    error: float
    sets: int

    @property
    def standard_error(self) -> float:
        """Of the coverage."""
        return math.sqrt(max(self.coverage * (1 - self.coverage), 1 / self.sets) / self.sets)


def study(
    *,
    n: int,
    mean: float,
    deviation: float,
    epsilon: float,
    constrained: bool,
    imputed: bool = False,
    prior: Prior = UNIFORM,
    sets: int = 100,
    sweeps: int = 1000,
    warmup: int = 300,
    level: float = 0.95,
    seed: int = 0,
) -> Study:
    """Draw data sets from N(mean, deviation^2) cut to [0, 1], release each with half of epsilon for the mean, and interval them.

    `imputed` is the alternative that imputes the data themselves (Z-A12, Z-F4.12). The thesis has 10,000 data sets and 20,000
    sweeps; short chains have too short intervals, which undercover where sigma is small and n large (Z-S27).

    Raises:
        ImproperPosteriorError: when the posterior has no integral.
    """
    source = default_rng(seed)
    values = normal_between(source, mean, deviation, np.zeros((n, sets)), 1.0)
    half = epsilon / 2
    moments = NoisyMoments(mean=0.5, variance=0.05, n=n, epsilon_mean=half, epsilon_variance=half)
    batch = Batch(
        moments=moments,
        means=values.mean(axis=0) + source.laplace(0, 1 / moments.mean_rate, sets),
        variances=values.var(axis=0, ddof=1) + source.laplace(0, 1 / moments.variance_rate, sets),
    )
    sampler = likelihood.sample if imputed else gibbs.sample
    drawn = sampler(batch, prior, constrained=constrained, sweeps=sweeps, warmup=warmup, seed=seed + 1)
    ends = np.array([shortest_interval(drawn.mu[:, i], level) for i in range(sets)])
    modes = np.array([mode(drawn.mu[:, i]) for i in range(sets)])
    return Study(
        length=float((ends[:, 1] - ends[:, 0]).mean()),
        coverage=float(((ends[:, 0] <= mean) & (mean <= ends[:, 1])).mean()),
        error=float(np.sqrt(((modes - mean) ** 2).mean())),
        sets=sets,
    )
