"""The alternative that imputes the data themselves: every value in [0, 1], parameters feasible (Z-D46, Z-A12; after Ju et al.
2022).

State: mu, sigma^2 and the n values. Each value is proposed from N(mu, sigma^2), refused outside [0, 1], and else accepted with
probability min(1, e^(-epsilon1 n (|Y* - Y'| - |Y* - Y|) - epsilon2 n (|S^2* - S^2'| - |S^2* - S^2|))). Where the constrained
statistics of `gibbs` cut a joint density, this cuts the likelihood of every single value, which favours small sigma^2 (Z-O68).
Without constraints both have one posterior (Z-O67). A sweep costs n steps instead of one.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from dpspec_attackers.inference.draws import normal_between
from dpspec_attackers.inference.feasible import mean_limits, variance_limit
from dpspec_attackers.inference.gammas import gamma_between
from dpspec_attackers.inference.gibbs import Batch, Draws
from dpspec_attackers.inference.model import UNIFORM, Informative, NoisyMoments, Prior, check_proper

Floats = NDArray[np.float64]

_LEAST = 1e-12


def sample(
    data: NoisyMoments | Batch,
    prior: Prior = UNIFORM,
    *,
    constrained: bool = True,
    sweeps: int = 1000,
    warmup: int = 300,
    chains: int = 100,
    seed: int = 0,
) -> Draws:
    """Run chains side by side; a release, or a batch of them, and parameters as in `gibbs.sample`.

    Raises:
        ImproperPosteriorError: when there is nothing to sample.
    """
    batch = data if isinstance(data, Batch) else Batch.of(data, chains)
    n, size = batch.moments.n, len(batch.means)
    check_proper(prior, n, constrained=constrained)
    source = default_rng(seed)
    values = source.uniform(0.2, 0.8, (n, size))
    mu, s2 = values.mean(axis=0), np.full(size, 0.05)
    kept = np.empty((2, sweeps, size))
    for turn in range(-warmup, sweeps):
        mu, s2 = _parameters(source, n, prior, values, s2, constrained=constrained)
        _impute(source, batch, values, mu, np.sqrt(s2), constrained=constrained)
        if turn >= 0:
            kept[0, turn], kept[1, turn] = mu, s2
    return Draws(mu=kept[0], s2=kept[1])


def _parameters(
    source: Generator, n: int, prior: Prior, values: Floats, s2: Floats, *, constrained: bool
) -> tuple[Floats, Floats]:
    """mu and sigma^2 from what they are without any noise."""
    mean = values.mean(axis=0)
    spread = ((values - mean) ** 2).sum(axis=0)
    weight, centre = float(n), mean
    shape, known = (n - 2) / 2, spread
    if isinstance(prior, Informative):
        weight += prior.mean_weight
        centre = (n * mean + prior.mean_weight * prior.mean) / weight
        shape = (n + prior.variance_weight + 1) / 2
        known = spread + prior.variance_weight * prior.variance
    deviation = np.sqrt(s2 / weight)
    mu = normal_between(source, centre, deviation, *mean_limits(s2)) if constrained else source.normal(centre, deviation)
    rate = (known + n * (mean - mu) ** 2) / 2
    if isinstance(prior, Informative):
        rate = rate + prior.mean_weight * (mu - prior.mean) ** 2 / 2
    least = 1 / np.maximum(variance_limit(mu), _LEAST) if constrained else np.zeros_like(mu)
    return mu, np.maximum(1 / gamma_between(source, shape, np.maximum(rate, 1e-300), least, np.inf), _LEAST)


def _impute(source: Generator, batch: Batch, values: Floats, mu: Floats, deviation: Floats, *, constrained: bool) -> None:
    """One pass over the values, with updates of mean and variance in constant time."""
    data, n = batch.moments, batch.moments.n
    mean, variance = values.mean(axis=0), values.var(axis=0, ddof=1)
    for i in range(n):
        new, old = source.normal(mu, deviation), values[i]
        new_mean = mean + (new - old) / n
        new_variance = np.maximum(variance + (new - old) * (old + new - mean - new_mean) / (n - 1), 0.0)
        worse = data.mean_rate * (np.abs(batch.means - new_mean) - np.abs(batch.means - mean))
        worse += data.variance_rate * (np.abs(batch.variances - new_variance) - np.abs(batch.variances - variance))
        taken = np.log(source.random(len(mu))) < -worse
        if constrained:
            taken &= (new >= 0) & (new <= 1)
        values[i] = np.where(taken, new, old)
        mean, variance = np.where(taken, new_mean, mean), np.where(taken, new_variance, variance)
