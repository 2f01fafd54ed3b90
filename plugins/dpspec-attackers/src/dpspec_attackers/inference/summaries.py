"""What is reported of draws from a posterior: shortest intervals, modes, predictions (Z-D42, Z-D43, Z-A13)."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpspec.errors import ParameterError
from dpspec_attackers.inference.draws import normal_between
from dpspec_attackers.inference.feasible import is_feasible

Floats = NDArray[np.float64]

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
    """The highest point of a Gaussian kernel density with Silverman's width, as the thesis's point estimate (Z-S32)."""
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
    """One new value for every draw: normal, or that normal cut to [0, 1] (Z-A13)."""
    flat, deviation = mu.ravel(), np.sqrt(s2.ravel())
    if truncated:
        return normal_between(source, flat, deviation, 0.0, 1.0)
    return np.asarray(flat + deviation * source.standard_normal(flat.shape))
