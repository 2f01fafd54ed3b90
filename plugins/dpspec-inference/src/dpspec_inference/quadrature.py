"""The posterior of (mu, sigma^2) on a grid, without simulation, and how often its intervals hold the truth.

The samplers are checked by it (Kazan 2025).

The noise and the sampling of the mean together have a closed density (normal plus Laplace), the evidence of S^2* is that of a
truncated gamma mixture; so without constraints two dimensions remain. With constraints the mean of the data is a third: the same
joint density, restricted to feasible parameters *and* feasible statistics without renormalising. All values are floats.

The study repeats data sets, releases and posteriors (Kazan 2025); it is simulated.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import attrs
import numpy as np
from numpy.random import default_rng
from scipy.special import log_ndtr, logsumexp

from dpspec.plugin import Floats
from dpspec_inference import gibbs, gibbs as likelihood
from dpspec_inference.gibbs import Batch, mode, normal_between, shortest_interval
from dpspec_inference.moments import (
    UNIFORM,
    Informative,
    MomentPrior,
    NoisyMoments,
    check_proper,
    is_feasible,
    log_evidence,
    sample_variance_limit,
)

_LEAST = 1e-7


@attrs.frozen(kw_only=True, eq=False)
class Grid:
    """Points (mu, sigma^2) with their posterior masses, which add up to 1."""

    mu: Floats
    s2: Floats
    mass: Floats

    def expectation(self, function: Callable[[Floats, Floats], Floats]) -> float:
        """The posterior mean of a function of (mu, sigma^2)."""
        return float((self.mass * function(self.mu, self.s2)).sum())

    @property
    def mean(self) -> float:
        """E mu."""
        return self.expectation(lambda mu, _: mu)

    @property
    def variance(self) -> float:
        """E sigma^2."""
        return self.expectation(lambda _, s2: s2)

    @property
    def infeasible(self) -> float:
        """P(sigma^2 > mu (1 - mu)), also where mu lies outside [0, 1]."""
        return float(self.mass[~is_feasible(self.mu, self.s2)].sum())


def log_density_of_mean(released: float, mu: Floats, variance: Floats, rate: float) -> Floats:
    """ln p(Y* | mu, sigma^2): normal of the given variance plus Laplace noise of a rate.

    >>> round(float(np.exp(log_density_of_mean(0.3, np.array(0.3), np.array(1e-12), 10.0))), 4)
    5.0
    """
    gap, root = released - mu, np.sqrt(variance)
    left = -rate * gap + rate**2 * variance / 2 + log_ndtr((gap - rate * variance) / root)
    right = rate * gap + rate**2 * variance / 2 + log_ndtr((-gap - rate * variance) / root)
    return np.asarray(np.log(rate / 2) + np.logaddexp(left, right))


def log_likelihood(data: NoisyMoments, mu: Floats, s2: Floats) -> Floats:
    """ln p(Y*, S^2* | mu, sigma^2) without constraints."""
    of_mean = log_density_of_mean(data.mean, mu, s2 / data.n, data.mean_rate)
    return of_mean + log_evidence(data.shape, data.shape / s2, data.variance_rate, data.variance)


def unconstrained(data: NoisyMoments, prior: MomentPrior = UNIFORM, *, points: int = 500) -> Grid:
    """The posterior for any mu and 0 < sigma^2 < (n - 1)/(2 n epsilon2).

    Raises:
        ImproperPosteriorError: when it has none.
    """
    check_proper(prior, data.n, constrained=False)
    logs = np.linspace(np.log(_LEAST), np.log(data.variance_cap * (1 - 1e-9)), points)
    s2 = np.exp(logs)[:, None]
    if isinstance(prior, Informative):
        steps = np.linspace(-9, 9, points)[None, :]
        scale = np.sqrt(s2 / prior.mean_weight)
        mu = prior.mean + scale * steps
    else:
        scale = np.sqrt(2 / data.mean_rate**2 + s2 / data.n)
        mu = data.mean + scale * np.linspace(-16, 16, points)[None, :]
    s2 = np.broadcast_to(s2, mu.shape)
    return _normalised(mu, s2, log_likelihood(data, mu, s2) + prior.log_density(mu, s2) + np.log(s2) + np.log(scale))


def constrained(data: NoisyMoments, prior: MomentPrior = UNIFORM, *, points: int = 64) -> Grid:
    """The posterior with the parameters and the statistics in their feasible sets (Kazan 2025, Section 4.3.1)."""
    check_proper(prior, data.n, constrained=True)
    top = min(0.25, data.variance_cap)
    nodes, weights = np.polynomial.legendre.leggauss(points)
    roots = np.sqrt(top) * (nodes + 1) / 2
    s2 = (roots**2)[:, None]
    half = np.sqrt(np.maximum(0.25 - s2, 0))
    mu = 0.5 + half * nodes[None, :]
    log_weights = np.log(weights)[:, None] + np.log(weights)[None, :] + np.log(2 * roots)[:, None] + np.log(half)
    s2 = np.broadcast_to(s2, mu.shape)
    return _normalised(mu, s2, _log_restricted(data, mu, s2, points) + prior.log_density(mu, s2) + log_weights)


def _log_restricted(data: NoisyMoments, mu: Floats, s2: Floats, points: int) -> Floats:
    """ln of the integral of the joint density over feasible (Y, S^2), for every (mu, sigma^2)."""
    found = np.empty_like(mu)
    steps = np.linspace(-8, 8, points)
    for row in range(len(mu)):
        spread = np.sqrt(s2[row] / data.n)[:, None]
        mean = mu[row][:, None] + spread * steps[None, :]
        inside = (mean > 0) & (mean < 1)
        mean = np.clip(mean, 1e-12, 1 - 1e-12)
        kernel = -(steps[None, :] ** 2) / 2 - data.mean_rate * np.abs(data.mean - mean)
        limit = sample_variance_limit(mean, data.n)
        kernel = kernel + log_evidence(data.shape, data.shape / s2[row][:, None], data.variance_rate, data.variance, limit)
        found[row] = logsumexp(np.where(inside, kernel, -np.inf), axis=1)
    return found


def _normalised(mu: Floats, s2: Floats, logs: Floats) -> Grid:
    mass = np.exp(logs - logs.max())
    return Grid(mu=mu, s2=s2, mass=mass / mass.sum())


# --- the study ------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Study:
    """The result of a repeated-sampling study of the mean.

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
    prior: MomentPrior = UNIFORM,
    sets: int = 100,
    sweeps: int = 1000,
    warmup: int = 300,
    level: float = 0.95,
    seed: int = 0,
) -> Study:
    """Draw data sets from N(mean, deviation^2) cut to [0, 1], release each with half of epsilon for the mean, and interval them.

    `imputed` is the alternative that imputes the data themselves (Kazan 2025). The thesis has 10,000 data sets and 20,000
    sweeps; short chains have too short intervals, which undercover where sigma is small and n large.

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
    sampler = likelihood.sample_by_imputation if imputed else gibbs.sample
    drawn = sampler(batch, prior, constrained=constrained, sweeps=sweeps, warmup=warmup, seed=seed + 1)
    ends = np.array([shortest_interval(drawn.mu[:, i], level) for i in range(sets)])
    modes = np.array([mode(drawn.mu[:, i]) for i in range(sets)])
    return Study(
        length=float((ends[:, 1] - ends[:, 0]).mean()),
        coverage=float(((ends[:, 0] <= mean) & (mean <= ends[:, 1])).mean()),
        error=float(np.sqrt(((modes - mean) ** 2).mean())),
        sets=sets,
    )
