"""Draws from cut normal and from inverse Gaussian laws, on arrays of floats; stable in the tails."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp

Floats = NDArray[np.float64]


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
