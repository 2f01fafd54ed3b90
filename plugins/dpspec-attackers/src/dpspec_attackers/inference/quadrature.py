"""The posterior of (mu, sigma^2) on a grid, without simulation: what the samplers are checked by (Z-T59).

The noise and the sampling of the mean together have a closed density (normal plus Laplace), the evidence of S^2* is that of a
truncated gamma mixture; so without constraints two dimensions remain. With constraints the mean of the data is a third: the same
joint density, restricted to feasible parameters *and* feasible statistics without renormalising (Z-S26). All values are floats.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, logsumexp

from dpspec_attackers.inference.feasible import is_feasible, sample_variance_limit
from dpspec_attackers.inference.model import UNIFORM, Informative, NoisyMoments, Prior, check_proper
from dpspec_attackers.inference.tgm import log_evidence

Floats = NDArray[np.float64]

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
    """ln p(Y* | mu, sigma^2): normal of the given variance plus Laplace noise of a rate (Z-T59).

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


def unconstrained(data: NoisyMoments, prior: Prior = UNIFORM, *, points: int = 500) -> Grid:
    """The posterior for any mu and 0 < sigma^2 < (n - 1)/(2 n epsilon2) (Z-O52, Z-O61).

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


def constrained(data: NoisyMoments, prior: Prior = UNIFORM, *, points: int = 64) -> Grid:
    """The posterior with the parameters and the statistics in their feasible sets (Z-D40, Z-O62)."""
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
