"""Gibbs sampling of (mu, sigma^2) given a noisy mean and variance, many chains at once (Z-A11; Algorithm 2).

State: mu, sigma^2, the confidential mean and variance, and omega^2, with which the Laplace noise on the mean is normal noise
(Z-D39). Each sweep draws all five from their full conditionals. In the constrained analysis every one of these is cut to the
feasible sets.

For the informative prior the thesis prints conditionals that leave out the factor p(mu | sigma^2) in that of sigma^2 (4.28,
4.33), so that they belong to no joint law (Z-X9). `Conditional.PRINTED` has them, for comparison with what is printed.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import attrs
import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from dpspec_attackers.inference import tgm
from dpspec_attackers.inference.draws import inverse_gaussian, normal_between
from dpspec_attackers.inference.feasible import mean_limits, sample_mean_limits, sample_variance_limit, variance_limit
from dpspec_attackers.inference.gammas import gamma_between
from dpspec_attackers.inference.model import UNIFORM, Informative, NoisyMoments, Prior, check_proper

Floats = NDArray[np.float64]

_LEAST = 1e-12


class Conditional(Enum):
    """Which conditional of sigma^2 is used under the informative prior (Z-X9)."""

    CORRECT = "correct"
    PRINTED = "printed"


@attrs.frozen(kw_only=True, eq=False)
class Draws:
    """Draws of (mu, sigma^2): one row for every sweep that was kept, one column for every chain."""

    mu: Floats
    s2: Floats


def sample(
    data: NoisyMoments | Batch,
    prior: Prior = UNIFORM,
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
        sweeps, warmup: kept and dropped sweeps of each chain. They mix slowly where sigma^2/n is far below 1/(epsilon1 n)^2
        (Z-S27). chains: how many run at once.
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

    def __init__(self, *, batch: Batch, prior: Prior, constrained: bool, printed: bool) -> None:
        self.batch, self.data, self.prior = batch, batch.moments, prior
        self.constrained, self.printed = constrained, printed
        self.s2 = np.clip(batch.variances, 1e-4, min(0.249, self.data.variance_cap * 0.999))
        self.variance = self.s2.copy()
        self.mean = np.clip(batch.means, 0.02, 0.98)
        self.mu = self.mean.copy()
        self.noise = np.full_like(self.s2, 2 / self.data.mean_rate**2)

    def sweep(self, source: Generator) -> None:
        """One round of the five conditionals, in the order of Z-A11."""
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
