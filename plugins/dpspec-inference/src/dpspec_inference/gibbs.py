"""Bayesian inference from a noisy mean and variance of bounded data (thesis, chapter 4): samplers, and what is reported of them.

**Gibbs sampling** of (mu, sigma^2), many chains at once (Kazan 2025, Algorithm 2).

State: mu, sigma^2, the confidential mean and variance, and omega^2, with which the Laplace noise on the mean is normal noise
(Kazan 2025). Each sweep draws all five from their full conditionals. In the constrained analysis every one of these is cut to the
feasible sets.

For the informative prior the thesis prints conditionals that leave out the factor p(mu | sigma^2) in that of sigma^2 (4.28,
4.33), so that they belong to no joint law. `Conditional.PRINTED` has them, for comparison with what is printed.

The alternative that imputes the data themselves: every value in [0, 1], parameters feasible
(Kazan 2025, Section 4.14.1; after Ju et al. 2022).

State: mu, sigma^2 and the n values. Each value is proposed from N(mu, sigma^2), refused outside [0, 1], and else accepted with
probability min(1, e^(-epsilon1 n (|Y* - Y'| - |Y* - Y|) - epsilon2 n (|S^2* - S^2'| - |S^2* - S^2|))). Where the constrained
statistics of `gibbs` cut a joint density, this cuts the likelihood of every single value, which favours small sigma^2.
Without constraints both have one posterior. A sweep costs n steps instead of one.

Reported are shortest intervals, modes and predictions (Kazan 2025). Draws from cut normal and from inverse Gaussian
laws are on arrays of floats, stable in the tails.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import Any

import attrs
import numpy as np
from numpy.random import Generator, default_rng
from scipy.special import log_ndtr, ndtri_exp

from dpspec.plugin import Floats, ParameterError
from dpspec_inference import moments as tgm
from dpspec_inference.moments import (
    UNIFORM,
    Informative,
    MomentPrior,
    NoisyMoments,
    check_proper,
    gamma_between,
    is_feasible,
    mean_limits,
    sample_mean_limits,
    sample_variance_limit,
    variance_limit,
)


def normal_between(source: Generator, mean: Any, deviation: Any, low: Any, high: Any) -> Floats:
    """Draws from N(mean, deviation^2) cut to [low, high], by inversion in log space.

    >>> from numpy.random import default_rng
    >>> draws = normal_between(default_rng(0), 0.0, 1.0, np.full(4, 30.0), 31.0)
    >>> bool(((draws >= 30) & (draws < 30.5)).all())
    True
    """
    centre, scale, start, end = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in (mean, deviation, low, high)))
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (start - centre) / scale, (end - centre) / scale
        turned = a + b > 0
        a, b = np.where(turned, -b, a), np.where(turned, -a, b)
        below, above = log_ndtr(a), log_ndtr(b)
        width = above + np.log(-np.expm1(np.minimum(below - above, 0.0)))
        z = ndtri_exp(np.minimum(np.logaddexp(below, np.log(source.random(a.shape)) + width), 0.0))
    z = np.where(np.isfinite(z), z, b)
    return np.asarray(np.clip(centre + scale * np.where(turned, -z, z), start, end))


def inverse_gaussian(source: Generator, mean: Any, shape: float) -> Floats:
    """Draws from the inverse Gaussian law; the mean may be infinite (Michael, Schucany and Haas 1976, without cancellation).

    >>> from numpy.random import default_rng
    >>> round(float(inverse_gaussian(default_rng(0), np.full(100_000, 2.0), 3.0).mean()), 1)
    2.0
    """
    m = np.minimum(np.asarray(mean, dtype=float), 1e150)
    y = source.standard_normal(m.shape) ** 2
    w = m * y / (2 * shape)
    x = m / (1 + w + np.sqrt(w * (2 + w)))
    return np.asarray(np.where(source.random(m.shape) * (m + x) <= m, x, m * (m / x)))


# --- Gibbs sampling -------------------------------------------------------------------------------


_LEAST = 1e-12


class Conditional(Enum):
    """The conditional of sigma^2 that is used under the informative prior."""

    CORRECT = "correct"
    PRINTED = "printed"


@attrs.frozen(kw_only=True, eq=False)
class Draws:
    """Draws of (mu, sigma^2): one row for every sweep that was kept, one column for every chain."""

    mu: Floats
    s2: Floats


def sample(
    data: NoisyMoments | Batch,
    prior: MomentPrior = UNIFORM,
    *,
    constrained: bool,
    sweeps: int = 1000,
    warmup: int = 500,
    chains: int = 100,
    conditional: Conditional = Conditional.CORRECT,
    seed: int = 0,
) -> Draws:
    """Run chains side by side.

    Args:
        data: the releases; a `Batch` has one chain for each of its releases.
        prior: of (mu, sigma^2).
        constrained: whether parameters and statistics are cut to their feasible sets.
        sweeps, warmup: kept and dropped sweeps of each chain. They mix slowly where sigma^2/n is far below 1/(epsilon1 n)^2.
        chains: how many run at once.
        conditional: see `Conditional`.
        seed: of numpy's generator.

    Raises:
        ImproperPosteriorError: when there is nothing to sample.

    >>> data = NoisyMoments(mean=0.45, variance=0.05, n=10, epsilon_mean=1, epsilon_variance=0.5)
    >>> drawn = sample(data, constrained=True, sweeps=50, warmup=10, chains=4)
    >>> drawn.mu.shape, bool((drawn.s2 <= drawn.mu * (1 - drawn.mu) + 1e-12).all())
    ((50, 4), True)
    """
    batch = data if isinstance(data, Batch) else Batch.of(data, chains)
    check_proper(prior, batch.moments.n, constrained=constrained)
    source = default_rng(seed)
    state = _Chain(batch=batch, prior=prior, constrained=constrained, printed=conditional is Conditional.PRINTED)
    size = len(batch.means)
    kept = np.empty((2, sweeps, size))
    for turn in range(-warmup, sweeps):
        state.sweep(source)
        if turn >= 0:
            kept[0, turn], kept[1, turn] = state.mu, state.s2
    return Draws(mu=kept[0], s2=kept[1])


@attrs.frozen(kw_only=True, eq=False)
class Batch:
    """Many releases of one kind: n and the budgets of `moments`, with means and variances of their own."""

    moments: NoisyMoments
    means: Floats
    variances: Floats

    @classmethod
    def of(cls, data: NoisyMoments, chains: int) -> Batch:
        """One release for all chains."""
        return cls(moments=data, means=np.full(chains, data.mean), variances=np.full(chains, data.variance))


class _Chain:
    """The state of all chains."""

    def __init__(self, *, batch: Batch, prior: MomentPrior, constrained: bool, printed: bool) -> None:
        self.batch, self.data, self.prior = batch, batch.moments, prior
        self.constrained, self.printed = constrained, printed
        self.s2 = np.clip(batch.variances, 1e-4, min(0.249, self.data.variance_cap * 0.999))
        self.variance = self.s2.copy()
        self.mean = np.clip(batch.means, 0.02, 0.98)
        self.mu = self.mean.copy()
        self.noise = np.full_like(self.s2, 2 / self.data.mean_rate**2)

    def sweep(self, source: Generator) -> None:
        """One round of the five conditionals, in the order of Algorithm 2."""
        self._draw_mu(source)
        self._draw_s2(source)
        self._draw_mean(source)
        self._draw_variance(source)
        gap = np.maximum(np.abs(self.batch.means - self.mean), 1e-150)
        self.noise = 1 / inverse_gaussian(source, self.data.mean_rate / gap, self.data.mean_rate**2)

    def _draw_mu(self, source: Generator) -> None:
        centre, weight = self.mean, float(self.data.n)
        if isinstance(self.prior, Informative):
            weight += self.prior.mean_weight
            centre = (self.data.n * self.mean + self.prior.mean_weight * self.prior.mean) / weight
        deviation = np.sqrt(self.s2 / weight)
        if self.constrained:
            self.mu = normal_between(source, centre, deviation, *mean_limits(self.s2))
        else:
            self.mu = centre + deviation * source.standard_normal(self.s2.shape)

    def _draw_s2(self, source: Generator) -> None:
        """sigma^2 ~ IG(a, b) below its cap, as 1/sigma^2 ~ Gamma(a, rate b) above the inverse of the cap."""
        n = self.data.n
        shape, rate = (n - 2) / 2, ((n - 1) * self.variance + n * (self.mean - self.mu) ** 2) / 2
        if isinstance(self.prior, Informative):
            shape = (n + self.prior.variance_weight) / 2
            rate = rate + self.prior.variance_weight * self.prior.variance / 2
            if not self.printed:
                shape += 0.5
                rate = rate + self.prior.mean_weight * (self.mu - self.prior.mean) ** 2 / 2
        cap: Any = self.data.variance_cap * (1 - 1e-12)
        if self.constrained:
            cap = np.minimum(cap, np.maximum(variance_limit(self.mu), _LEAST))
        self.s2 = np.maximum(
            1 / gamma_between(source, shape, np.maximum(rate, 1e-300), 1 / cap + np.zeros_like(self.s2), np.inf), _LEAST
        )

    def _draw_mean(self, source: Generator) -> None:
        precision = 1 / self.noise + self.data.n / self.s2
        centre = (self.batch.means / self.noise + self.data.n * self.mu / self.s2) / precision
        deviation = 1 / np.sqrt(precision)
        if self.constrained:
            self.mean = normal_between(source, centre, deviation, *sample_mean_limits(self.variance, self.data.n))
        else:
            self.mean = centre + deviation * source.standard_normal(self.s2.shape)

    def _draw_variance(self, source: Generator) -> None:
        upper: Any = np.inf
        if self.constrained:
            upper = np.maximum(sample_variance_limit(self.mean, self.data.n), _LEAST)
        rate = self.data.shape / self.s2
        noise, released = self.data.variance_rate, self.batch.variances
        self.variance = tgm.sample(source, self.data.shape, rate, noise, released=released, upper=upper)


# --- imputing the data ----------------------------------------------------------------------------


def sample_by_imputation(
    data: NoisyMoments | Batch,
    prior: MomentPrior = UNIFORM,
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
    source: Generator, n: int, prior: MomentPrior, values: Floats, s2: Floats, *, constrained: bool
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


# --- what is reported -----------------------------------------------------------------------------


_GRID = 512


def shortest_interval(draws: Floats, level: float = 0.95) -> tuple[float, float]:
    """The shortest interval that holds a share of the draws: the highest-posterior-density interval of a posterior with one mode.

    Raises:
        ParameterError: for a level outside (0, 1), or no draws.

    >>> shortest_interval(np.array([0.0, 1, 1.1, 1.2, 5]), 0.6)
    (1.0, 1.2)
    """
    if not 0 < level < 1 or draws.size == 0:
        raise ParameterError("level", "must lie in (0, 1), and there must be draws", value=level)
    ordered = np.sort(draws, axis=None)
    held = min(math.ceil(level * len(ordered)), len(ordered))
    widths = ordered[held - 1 :] - ordered[: len(ordered) - held + 1]
    best = int(widths.argmin())
    return float(ordered[best]), float(ordered[best + held - 1])


def mode(draws: Floats) -> float:
    """The highest point of a Gaussian kernel density with Silverman's width, as the thesis's point estimate."""
    flat = draws.ravel()
    low, high = np.quantile(flat, [0.001, 0.999])
    quartiles = np.subtract(*np.quantile(flat, [0.75, 0.25])) / 1.34
    width = 0.9 * min(float(flat.std()), float(quartiles)) * flat.size**-0.2
    counts, edges = np.histogram(flat, bins=_GRID, range=(low, high))
    step = edges[1] - edges[0]
    reach = np.arange(-_GRID, _GRID + 1) * step
    kernel = np.exp(-((reach / max(width, step / 2)) ** 2) / 2)
    density = np.convolve(counts, kernel)[_GRID : 2 * _GRID]
    return float(edges[int(density.argmax())] + step / 2)


def infeasible_share(mu: Floats, s2: Floats) -> float:
    """The share of draws with sigma^2 > mu (1 - mu)."""
    return float(1 - is_feasible(mu, s2).mean())


def predict(source: Generator, mu: Floats, s2: Floats, *, truncated: bool) -> Floats:
    """One new value for every draw: normal, or that normal cut to [0, 1] (Kazan 2025, Section 4.4.2)."""
    flat, deviation = mu.ravel(), np.sqrt(s2.ravel())
    if truncated:
        return normal_between(source, flat, deviation, 0.0, 1.0)
    return np.asarray(flat + deviation * source.standard_normal(flat.shape))
