"""A noisy mean and variance of n values in [0, 1], the priors, and when a posterior is proper (Z-D37 to Z-D41, Z-T17, Z-T18)."""

from __future__ import annotations

import math

import attrs
import numpy as np
from numpy.typing import NDArray

from dpspec.errors import ParameterError
from dpspec_attackers.errors import ImproperPosteriorError
from dpspec_attackers.inference.feasible import Bounds

Floats = NDArray[np.float64]


@attrs.frozen(kw_only=True)
class NoisyMoments:
    """Laplace releases of the mean and of the sample variance of n values in [0, 1] (Z-D37).

    Args:
        mean: Y*.
        variance: S^2*, which may be negative.
        n: the number of values, public, at least 2.
        epsilon_mean, epsilon_variance: epsilon1 and epsilon2; the whole release spends their sum.

    Raises:
        ParameterError: for fewer than 2 values, or a budget that is not positive.

    >>> data = NoisyMoments(mean=0.343, variance=0.4716**2, n=43, epsilon_mean=0.25, epsilon_variance=0.25)
    >>> round(data.variance, 4), round(data.variance_cap, 7)
    (0.2224, 1.9534884)
    """

    mean: float
    variance: float
    n: int
    epsilon_mean: float
    epsilon_variance: float

    def __attrs_post_init__(self) -> None:
        if self.n < 2:
            raise ParameterError("n", "must be at least 2, for there to be a sample variance", value=self.n)
        for name in ("epsilon_mean", "epsilon_variance"):
            if not 0 < getattr(self, name) < math.inf:
                raise ParameterError(name, "must be positive and finite", value=getattr(self, name))

    @classmethod
    def on(
        cls, bounds: Bounds, *, mean: float, variance: float, n: int, epsilon_mean: float, epsilon_variance: float
    ) -> NoisyMoments:
        """Releases on another interval, mapped to [0, 1] (Z-T13)."""
        return cls(
            mean=bounds.mean_inside(mean),
            variance=bounds.variance_inside(variance),
            n=n,
            epsilon_mean=epsilon_mean,
            epsilon_variance=epsilon_variance,
        )

    @property
    def mean_rate(self) -> float:
        """epsilon1 n, the rate of the noise on the mean."""
        return self.epsilon_mean * self.n

    @property
    def variance_rate(self) -> float:
        """epsilon2 n, the rate of the noise on the variance."""
        return self.epsilon_variance * self.n

    @property
    def shape(self) -> float:
        """(n - 1)/2, the shape of the law of S^2 (4.47)."""
        return (self.n - 1) / 2

    @property
    def variance_cap(self) -> float:
        """(n - 1)/(2 n epsilon2): below it S^2 given the rest is a TGM, where sigma^2 is kept (Z-T56, 4.68)."""
        return self.shape / self.variance_rate


@attrs.frozen(kw_only=True)
class Prior:
    """A prior of (mu, sigma^2), by its log density (Z-D38, Z-D41)."""

    name: str

    def log_density(self, mu: Floats, s2: Floats) -> Floats:
        """ln p(mu, sigma^2), up to a constant."""
        return np.zeros_like(mu + s2)


UNIFORM = Prior(name="uniform")
"""p(mu, sigma^2) constant; in the constrained analysis on the feasible set, where mu is Beta(2, 2) (Z-T55, Z-S31)."""


@attrs.frozen(kw_only=True)
class _Jeffreys(Prior):
    def log_density(self, mu: Floats, s2: Floats) -> Floats:
        return np.asarray(np.zeros_like(mu) - np.log(s2))


JEFFREYS = _Jeffreys(name="jeffreys")
"""p(mu, sigma^2) = 1/sigma^2: its posterior is improper (Z-T17)."""


@attrs.frozen(kw_only=True)
class Informative(Prior):
    """sigma^2 ~ IG(nu0/2, nu0 sigma0^2/2) and mu | sigma^2 ~ N(mu0, sigma^2/kappa0) (Z-D38, 4.2).

    Args:
        mean: mu0.
        variance: sigma0^2.
        mean_weight: kappa0, in observations.
        variance_weight: nu0, in observations.
    """

    name: str = "informative"
    mean: float
    variance: float
    mean_weight: float = attrs.field(default=1.0, validator=attrs.validators.gt(0))
    variance_weight: float = attrs.field(default=1.0, validator=attrs.validators.gt(0))

    def log_density(self, mu: Floats, s2: Floats) -> Floats:
        of_variance = -(self.variance_weight / 2 + 1) * np.log(s2) - self.variance_weight * self.variance / (2 * s2)
        return np.asarray(of_variance - np.log(s2) / 2 - self.mean_weight * (mu - self.mean) ** 2 / (2 * s2))


def check_proper(prior: Prior, n: int, *, constrained: bool) -> str:
    """Why the posterior given (Y*, S^2*) is proper.

    A sampler gives no sign of an improper posterior: it drifts to sigma^2 = 0 (Z-S30). So this is asked before.

    Raises:
        ImproperPosteriorError: for 1/sigma^2, constrained or not, and for the uniform prior without constraints when n <= 3.

    >>> check_proper(UNIFORM, 43, constrained=False)
    'a constant prior and n > 3 (Z-T18)'
    """
    if prior == JEFFREYS:
        rule = "has an improper posterior: p(S^2* | sigma^2) is positive at sigma^2 = 0, where 1/sigma^2 has no integral"
        raise ImproperPosteriorError("prior 1/sigma^2", rule, "take the uniform prior, or an informative one (Z-T17)")
    if prior != UNIFORM:
        return "the prior is proper"
    if constrained:
        return "the prior is proper on the feasible set, whose area is 1/6 (Z-T55)"
    if n <= 3:
        rule = f"has an improper posterior for n = {n}: it needs n > 3"
        raise ImproperPosteriorError("uniform prior", rule, "constrain the parameters, or take an informative prior (Z-T18)")
    return "a constant prior and n > 3 (Z-T18)"


def uniform_normaliser(n: int, epsilon_variance: float, variance: float) -> float:
    """C of (4.106), the integral of the likelihood over all mu and sigma^2 > 0, for n > 3 (Z-T18).

    (n - 1)/(n - 3) (1/2 + sgn(s) (1 - e^(-epsilon2 n |s|))/2), s the released variance.

    >>> round(uniform_normaliser(10, 0.5, 0.05), 7)
    0.7850566
    """
    check_proper(UNIFORM, n, constrained=False)
    share = (1 - math.exp(-epsilon_variance * n * abs(variance))) / 2
    return (n - 1) / (n - 3) * (0.5 + math.copysign(share, variance))
