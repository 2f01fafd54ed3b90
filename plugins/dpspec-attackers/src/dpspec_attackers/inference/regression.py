"""A straight line from noisy sums: the release, the prior, and the exact laws that a sampler needs (Z-D44, Z-A15).

The model is Y ~ N(theta0 + theta1 x, sigma^2) for n points of [0, 1]^2, and the data enter through five sums,

    s = (x'1, x'x, Y'1, x'Y, Y'Y),

each of sensitivity 1 when one point is replaced. With G = [[n, x'1], [x'1, x'x]] and b = (Y'1, x'Y), the law of the sums of Y
given those of x is that of any normal regression, without limit theorems and for every n > 2:

    b ~ N(G theta, sigma^2 G),    R = Y'Y - b' G^-1 b ~ sigma^2 chi^2(n - 2),    independent.

All arrays have the five sums (or the two coefficients) first, and then one entry for each chain.
"""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpspec.errors import ParameterError
from dpspec_attackers.inference.feasible import RegressionSums

Floats = NDArray[np.float64]

_LEAST = 1e-300


@attrs.frozen(kw_only=True)
class NoisyRegression:
    """Laplace releases of the five sums of a regression on [0, 1] (Z-D44).

    Args:
        sums: what was released; nothing keeps it feasible.
        epsilon: of each sum that is released with noise.
        design: whether the sums of x are released with noise too; False where x is public, so that they are exact.

    Raises:
        ParameterError: for fewer than three points, or an epsilon that is not positive and finite.

    >>> sums = RegressionSums(n=46, x=12.2, xx=4.8, y=16.0, xy=5.7, yy=8.0)
    >>> NoisyRegression(sums=sums, epsilon=0.1).spent
    0.5
    """

    sums: RegressionSums
    epsilon: float
    design: bool = True

    def __attrs_post_init__(self) -> None:
        if self.sums.n < 3:
            raise ParameterError("n", "must be at least 3, for there to be a residual", value=self.sums.n)
        if not 0 < self.epsilon < math.inf:
            raise ParameterError("epsilon", "must be positive and finite", value=self.epsilon)

    @property
    def spent(self) -> float:
        """The epsilon of the whole release, by basic composition."""
        return self.epsilon * (5 if self.design else 3)

    def released(self, chains: int) -> Floats:
        """The five released numbers, once for every chain."""
        found = self.sums
        return np.repeat(np.array([[found.x], [found.xx], [found.y], [found.xy], [found.yy]], dtype=float), chains, axis=1)


@attrs.frozen(kw_only=True)
class LinePrior:
    """theta | sigma^2 ~ N(mean, sigma^2/weight I) and sigma^2 ~ IG(shape, rate), as (4.5) of the thesis (Z-D44).

    Args:
        mean: of intercept and slope.
        weight: in observations. The thesis prints the covariance sigma^2/4, a weight of 4, and computes with 4 sigma^2, a weight
            of 1/4 (Z-X15); the results it prints are only possible with the latter.
        shape, rate: of the inverse gamma law of sigma^2 (Z-S29).
    """

    mean: tuple[float, float] = (1.0, 0.0)
    weight: float = attrs.field(default=0.25, validator=attrs.validators.gt(0))
    shape: float = attrs.field(default=20.0, validator=attrs.validators.gt(0))
    rate: float = attrs.field(default=0.5, validator=attrs.validators.gt(0))


LINE = LinePrior()
"""The prior of the thesis as it was computed with."""


@attrs.frozen(eq=False)
class LinePosterior:
    """The law of (theta, sigma^2) given the sums: theta | sigma^2 ~ N(mean, sigma^2 U^-1 U^-T), sigma^2 ~ IG(shape, rate).

    `root` has the entries (u00, u01, u11) of the upper triangular U, the root of the precision.
    """

    mean: Floats
    root: Floats
    shape: float
    rate: Floats

    def sample(self, source: Generator) -> tuple[Floats, Floats]:
        """One draw of (theta, sigma^2) for every entry."""
        s2 = np.asarray(self.rate / source.gamma(self.shape, size=self.rate.shape))
        return self.line(source, s2), s2

    def line(self, source: Generator, s2: Floats) -> Floats:
        """One draw of theta given sigma^2 for every entry."""
        z = source.standard_normal(self.mean.shape) * np.sqrt(s2)
        slope = z[1] / self.root[2]
        return np.asarray(self.mean + np.stack([(z[0] - self.root[1] * slope) / self.root[0], slope]))

    def log_density(self, theta: Floats, s2: Any) -> Floats:
        """ln p(theta, sigma^2 | sums)."""
        gap = theta - self.mean
        first, second = self.root[0] * gap[0] + self.root[1] * gap[1], self.root[2] * gap[1]
        of_theta = -np.log(2 * math.pi * s2) + np.log(self.root[0] * self.root[2]) - (first**2 + second**2) / (2 * s2)
        of_s2 = self.shape * np.log(self.rate) - math.lgamma(self.shape) - (self.shape + 1) * np.log(s2) - self.rate / s2
        return np.asarray(of_theta + of_s2)


def given_sums(prior: LinePrior, n: int, sums: Floats) -> LinePosterior:
    """The conjugate update: weights and moments add (step b of Z-A15, which is exact).

    >>> after = given_sums(LINE, 46, np.array([12.231293, 4.804202, 16.022571, 5.735709, 7.963661]))
    >>> [round(float(value), 4) for value in after.mean], after.shape
    ([0.1437, 0.7872], 43.0)
    """
    x, xx, y, xy, yy = sums
    first = np.sqrt(n + prior.weight) + np.zeros_like(x)
    cross = x / first
    second = np.sqrt(np.maximum(xx + prior.weight - cross**2, _LEAST))
    known = np.stack([y + prior.weight * prior.mean[0], xy + prior.weight * prior.mean[1]])
    half = known[0] / first
    rest = (known[1] - cross * half) / second  # U'(half, rest) = known, so that U mean = (half, rest)
    slope = rest / second
    squares = yy + prior.weight * (prior.mean[0] ** 2 + prior.mean[1] ** 2) - half**2 - rest**2
    return LinePosterior(
        mean=np.stack([(half - cross * slope) / first, slope]),
        root=np.stack([first, cross, second]),
        shape=prior.shape + n / 2,
        rate=np.asarray(prior.rate + np.maximum(squares, 0.0) / 2),
    )


def design_root(n: int, sums: Floats) -> tuple[float, Floats, Floats]:
    """The entries of the lower triangular L with L L' = G: sqrt n, x'1/sqrt n, and the root of the spread of x."""
    first = math.sqrt(n)
    cross = sums[0] / first
    return first, cross, np.sqrt(np.maximum(sums[1] - cross**2, _LEAST))


def whitened(n: int, sums: Floats) -> tuple[Floats, Floats]:
    """(L^-1 b, R): what is N(L' theta, sigma^2 I) and sigma^2 chi^2(n - 2) (see above)."""
    first, cross, second = design_root(n, sums)
    half = sums[2] / first
    rest = (sums[3] - cross * half) / second
    return np.stack([half, rest]), np.asarray(sums[4] - half**2 - rest**2)


def with_responses(n: int, sums: Floats, white: Floats, residual: Floats) -> Floats:
    """The inverse: the sums with these of x and these whitened ones of Y."""
    first, cross, second = design_root(n, sums)
    return np.stack([
        sums[0], sums[1], first * white[0], cross * white[0] + second * white[1], residual + white[0] ** 2 + white[1] ** 2,
    ])  # fmt: skip


def predicted(n: int, sums: Floats, theta: Floats) -> Floats:
    """L' theta, the mean of the whitened sums of Y."""
    first, cross, second = design_root(n, sums)
    return np.stack([first * theta[0] + cross * theta[1], second * theta[1]])


def log_likelihood(n: int, sums: Floats, theta: Floats, s2: Any) -> Floats:
    """ln p(b, Y'Y | G, theta, sigma^2), exactly; minus infinity where the residual is negative."""
    white, residual = whitened(n, sums)
    first, _, second = design_root(n, sums)
    gap, free = white - predicted(n, sums, theta), (n - 2) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        of_residual = (free - 1) * np.log(residual) - residual / (2 * s2) - free * np.log(2 * s2) - math.lgamma(free)
    of_white = -(gap**2).sum(axis=0) / (2 * s2) - np.log(2 * math.pi * s2) - np.log(first * second)
    return np.where(residual > 0, of_white + of_residual, -np.inf)
