"""The truncated gamma mixture TGM(alpha, beta, lambda, tau): a gamma variable given its value with Laplace noise (Z-D7, Z-T20).

If x ~ Gamma(alpha, rate beta) and tau = x + Laplace noise of rate lambda < beta, then x given tau has the density proportional to
x^(alpha - 1) e^(-beta x - lambda |tau - x|): for tau > 0 a gamma law of rate beta - lambda below tau and one of rate beta +
lambda above. Weights are kept as logarithms, since (beta - lambda)^-alpha is of any size. All values are floats.
"""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import gammaln

from dpspec.errors import ParameterError
from dpspec_attackers.inference.gammas import gamma_between, log_between, log_lower

Floats = NDArray[np.float64]


def log_weights(shape: float, rate: Any, noise: float, released: Any, upper: Any = np.inf) -> tuple[Floats, Floats]:
    """ln w1 and ln w2, the unnormalised weights of the part below and of the part above the released value (Z-D7).

    Args:
        shape: alpha.
        rate: beta, above `noise`.
        noise: lambda, the rate of the noise.
        released: tau.
        upper: an upper end of x (Z-A10, constrained).
    """
    beta, tau, end = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (rate, released, upper)))
    cut = np.clip(tau, 0.0, end)
    less, more = beta - noise, beta + noise
    below = -noise * tau + log_lower(shape, less * cut) - shape * np.log(less)
    above = noise * tau + log_between(shape, more * cut, more * end) - shape * np.log(more)
    return np.where(cut > 0, below, -np.inf), np.where(cut < end, above, -np.inf)


def log_evidence(shape: float, rate: Any, noise: float, released: Any, upper: Any = np.inf) -> Floats:
    """ln of lambda beta^alpha (w1 + w2) / (2 Gamma(alpha)): the density of tau, x cut to (0, upper] without renormalising."""
    below, above = log_weights(shape, rate, noise, released, upper)
    beta = np.asarray(rate, dtype=float)
    return np.asarray(math.log(noise / 2) + shape * np.log(beta) - gammaln(shape) + np.logaddexp(below, above))


def sample(source: Generator, shape: float, rate: Any, noise: float, *, released: Any, upper: Any = np.inf) -> Floats:
    """Exact draws, one for every entry of the arrays (Algorithm 1; Z-A10, Z-T19)."""
    beta, tau, end = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (rate, released, upper)))
    below, above = log_weights(shape, beta, noise, tau, end)
    cut = np.clip(tau, 0.0, end)
    first = np.log(source.random(beta.shape)) < below - np.logaddexp(below, above)
    rates = np.where(first, beta - noise, beta + noise)
    return gamma_between(source, shape, rates, np.where(first, 0.0, cut), np.where(first, cut, end))


@attrs.frozen(kw_only=True)
class TruncatedGammaMixture:
    """TGM(alpha, beta, lambda, tau), cut to (0, upper] where an upper end is given.

    Args:
        shape: alpha > 0 (the thesis calls it a scale; Z-X11).
        rate: beta, with beta > lambda >= 0 strictly (Z-S25).
        noise: lambda > 0.
        released: tau, any real number.
        upper: an upper end of x.

    Raises:
        ParameterError: outside these domains.

    >>> law = TruncatedGammaMixture(shape=2, rate=2, noise=1, released=1)
    >>> round(law.share_below, 6), round(float(law.density(0.5)), 6), round(law.evidence, 6)
    (0.617757, 0.708989, 0.314716)
    """

    shape: float
    rate: float
    noise: float
    released: float
    upper: float = math.inf

    def __attrs_post_init__(self) -> None:
        if not (self.shape > 0 and self.noise > 0 and self.upper > 0):
            raise ParameterError("shape, noise, upper", "must be positive", value=(self.shape, self.noise, self.upper))
        if not self.rate > self.noise:
            raise ParameterError(
                "rate", "must exceed the rate of the noise", "cap sigma^2 below (n-1)/(2 n epsilon2)", value=self.rate
            )

    @property
    def _weights(self) -> tuple[float, float]:
        below, above = log_weights(self.shape, self.rate, self.noise, self.released, self.upper)
        return float(below), float(above)

    @property
    def share_below(self) -> float:
        """pi1, the probability of the part below tau."""
        below, above = self._weights
        return math.exp(below - float(np.logaddexp(below, above)))

    @property
    def evidence(self) -> float:
        """p(tau) (Z-T20, 4.25)."""
        return float(np.exp(log_evidence(self.shape, self.rate, self.noise, self.released, self.upper)))

    def density(self, x: Any) -> Floats:
        """p(x); continuous, and not differentiable at tau."""
        at = np.asarray(x, dtype=float)
        with np.errstate(divide="ignore"):
            kernel = (self.shape - 1) * np.log(at) - self.rate * at - self.noise * np.abs(self.released - at)
        return np.where((at > 0) & (at <= self.upper), np.exp(kernel - float(np.logaddexp(*self._weights))), 0.0)

    def cdf(self, x: Any) -> Floats:
        """P(X <= x)."""
        ends = np.minimum(np.asarray(x, dtype=float), self.upper)
        parts = log_weights(self.shape, self.rate, self.noise, self.released, np.maximum(ends, 1e-300))
        return np.where(ends > 0, np.exp(np.logaddexp(*parts) - float(np.logaddexp(*self._weights))), 0.0)

    def mean(self) -> float:
        """E X, from the same weights with alpha + 1."""
        above = log_weights(self.shape + 1, self.rate, self.noise, self.released, self.upper)
        return math.exp(float(np.logaddexp(*above)) - float(np.logaddexp(*self._weights)))

    def sample(self, source: Generator, count: int) -> Floats:
        """Exact draws."""
        rates = np.full(count, float(self.rate))
        return sample(source, self.shape, rates, self.noise, released=self.released, upper=self.upper)
