"""What data in [0, 1] can have as mean, variance and regression sums (Z-D40, Z-D45, Z-T13 to Z-T16, Z-T58)."""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray


def variance_limit(mean: Any) -> Any:
    """mu (1 - mu), the largest variance for a mean (Z-T14); at most 1/4 (Z-T15).

    >>> from fractions import Fraction
    >>> variance_limit(Fraction(1, 10))
    Fraction(9, 100)
    """
    return mean * (1 - mean)


def mean_limits(variance: Any) -> tuple[Any, Any]:
    """1/2 -+ sqrt(1/4 - sigma^2), the means that a variance allows (Z-T14).

    >>> [round(float(end), 12) for end in mean_limits(0.16)]
    [0.2, 0.8]
    """
    half = np.sqrt(np.maximum(0.25 - np.asarray(variance, dtype=float), 0.0))
    return 0.5 - half, 0.5 + half


def sample_variance_limit(mean: Any, n: int) -> Any:
    """n/(n - 1) Y (1 - Y), the largest sample variance for a sample mean (Z-T16).

    >>> from fractions import Fraction
    >>> sample_variance_limit(Fraction(1, 2), 4)
    Fraction(1, 3)
    """
    return mean * (1 - mean) * n / (n - 1)


def sample_mean_limits(variance: Any, n: int) -> tuple[Any, Any]:
    """The sample means that a sample variance allows (Z-T16)."""
    return mean_limits(np.asarray(variance, dtype=float) * (n - 1) / n)


def is_feasible(mean: Any, variance: Any) -> NDArray[np.bool_]:
    """Whether 0 <= sigma^2 <= mu (1 - mu), element by element (F_par)."""
    mu, s2 = np.asarray(mean, dtype=float), np.asarray(variance, dtype=float)
    return np.asarray((s2 >= 0) & (s2 <= variance_limit(mu)))


@attrs.frozen(kw_only=True)
class Bounds:
    """The public interval of the data, which is mapped to [0, 1] and back (Z-A16, Z-T13).

    Laplace noise scales with the data: noise on the mean by b - a, noise on the variance by (b - a)^2.

    >>> bounds = Bounds(low=0, high=100)
    >>> round(bounds.mean_inside(34.3), 6), bounds.variance_inside(47.16**2), bounds.variance_outside(0.25)
    (0.343, 0.22240656, 2500.0)
    """

    low: float
    high: float

    @property
    def width(self) -> float:
        """b - a."""
        return self.high - self.low

    def mean_inside(self, mean: float) -> float:
        """A mean on [0, 1]."""
        return (mean - self.low) / self.width

    def variance_inside(self, variance: float) -> float:
        """A variance on [0, 1]."""
        return variance / self.width**2

    def mean_outside(self, mean: Any) -> Any:
        """A mean on [a, b] again."""
        return mean * self.width + self.low

    def variance_outside(self, variance: Any) -> Any:
        """A variance on [a, b] again."""
        return variance * self.width**2

    def noise_scales(self, n: int, epsilon_mean: float, epsilon_variance: float) -> tuple[float, float]:
        """The Laplace scales (b - a)/(epsilon1 n) and (b - a)^2/(epsilon2 n) of replace-one neighbours (Z-D37).

        >>> [round(scale, 4) for scale in Bounds(low=0, high=100).noise_scales(43, 0.25, 0.25)]
        [9.3023, 930.2326]
        """
        return self.width / (epsilon_mean * n), self.width**2 / (epsilon_variance * n)


@attrs.frozen(kw_only=True)
class RegressionSums:
    """The sums of a simple regression on [0, 1]: x'1, x'x, Y'1, x'Y, Y'Y of n points (Z-D44)."""

    n: int
    x: float
    xx: float
    y: float
    xy: float
    yy: float

    @property
    def is_feasible(self) -> bool:
        """Z-D45: 0 <= x'x <= x'1 <= n, the same for Y, 0 <= x'Y <= min(x'1, Y'1), and Z'Z positive semidefinite."""
        moments = np.array([[self.n, self.x, self.y], [self.x, self.xx, self.xy], [self.y, self.xy, self.yy]])
        ordered = sums_are_ordered(self.n, np.array([self.x, self.xx, self.y, self.xy, self.yy]))
        return bool(ordered and np.linalg.eigvalsh(moments).min() >= -1e-9 * self.n)


def sums_are_ordered(n: int, sums: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The inequalities of Z-D45 between the sums (x'1, x'x, Y'1, x'Y, Y'Y), entry by entry.

    >>> bool(sums_are_ordered(2, np.array([1.5, 1.2, 1.0, 0.5, 1.0])))
    True
    """
    x, xx, y, xy, yy = sums
    of_x, of_y = (xx >= 0) & (xx <= x) & (x <= n), (yy >= 0) & (yy <= y) & (y <= n)
    return np.asarray(of_x & of_y & (xy >= 0) & (xy <= x) & (xy <= y))


def line_is_feasible(intercept: Any, slope: Any) -> NDArray[np.bool_]:
    """(4.115): -theta1 <= theta0 <= 1 for theta1 >= 0, and 0 <= theta0 <= 1 - theta1 otherwise; entry by entry.

    Necessary only: the line meets the unit square somewhere (Z-S33).

    >>> bool(line_is_feasible(0.1, 0.95)), bool(line_is_feasible(-0.5, 0.2))
    (True, False)
    """
    start, rise = np.asarray(intercept, dtype=float), np.asarray(slope, dtype=float)
    return np.asarray((-np.maximum(rise, 0) <= start) & (start <= 1 - np.minimum(rise, 0)))


def laplace_half_width(noise: float, alpha: float) -> float:
    """ln(1/alpha)/lambda: X -+ this has frequentist and posterior level 1 - alpha for one Laplace release of rate lambda (Z-T21).

    >>> round(laplace_half_width(10.75, 0.05), 7)
    0.2786728
    """
    return math.log(1 / alpha) / noise
