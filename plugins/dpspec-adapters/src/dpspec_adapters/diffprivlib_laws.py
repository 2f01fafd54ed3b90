"""The laws of diffprivlib's mechanisms and tools, in code that can be read: what is drawn comes from a generator, named `draws`.

The last argument is the data. Types of results are those of the library, which computes its noise with numpy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

REAL = frozenset({int, float, np.int64, np.float64})
WHOLE = frozenset({int, np.int64})
HELD = 1 << 52
"""Whole numbers that doubles hold, with noise."""


def laplace(scale: Any, draws: Any, value: Any) -> Any:
    """Laplace noise."""
    if draws.types_in(value) - REAL:
        draws.not_modelled("diffprivlib takes a number here")
    return value + draws.laplace(0.0, scale) * np.float64(1.0)


def gaussian(scale: Any, draws: Any, value: Any) -> Any:
    """Gaussian noise."""
    if draws.types_in(value) - REAL:
        draws.not_modelled("diffprivlib takes a number here")
    return value + draws.normal(0.0, scale) * np.float64(1.0)


def truncated(lower: Any, upper: Any, noisy: Any) -> Any:
    """A number, or the bound that it lies beyond."""
    if noisy > upper:
        return upper
    if noisy < lower:
        return lower
    return noisy


def truncated_laplace(scale: Any, lower: Any, upper: Any, draws: Any, value: Any) -> Any:
    """Laplace noise, truncated."""
    return truncated(lower, upper, laplace(scale, draws, value))


def geometric(scale: Any, draws: Any, value: Any) -> Any:
    """Two-sided geometric noise: the whole numbers with probabilities proportional to e^(-|k| / scale)."""
    if draws.types_in(value) - WHOLE:
        draws.not_modelled("diffprivlib takes a whole number here")
    draws.held(value, -HELD, HELD, "diffprivlib rounds sums in doubles, which hold no whole number beyond 2^53")
    return int(value) + draws.discrete_laplace(scale)


def truncated_geometric(scale: Any, lower: Any, upper: Any, draws: Any, value: Any) -> Any:
    """Two-sided geometric noise, truncated."""
    return int(truncated(lower, upper, geometric(scale, draws, value)))


def discrete_gaussian(scale: Any, draws: Any, value: Any) -> Any:
    """Discrete Gaussian noise."""
    if draws.types_in(value) != {int}:
        draws.not_modelled("the noise of GaussianDiscrete has a model for Python's whole numbers")
    return value + draws.discrete_normal(scale)


def binary(value0: Any, value1: Any, truth: Any, draws: Any, value: Any) -> Any:
    """One of two labels, the other one with probability (1 - delta) / (e^epsilon + 1)."""
    if value not in {value0, value1}:
        draws.not_modelled("of a value that is none of the two labels no law is stated")
    other = value1 if value == value0 else value0
    return value if draws.random() < truth else other


def exponential(scale: Any, candidates: Any, draws: Any, utility: Any) -> Any:
    """One of the candidates, with probabilities proportional to e^(scale utility)."""
    scores = np.array(utility) * scale
    weights = np.exp(scores - scores.max())
    place = draws.choice(len(utility), p=weights / weights.sum())
    return candidates[place] if candidates else np.int64(place)


def permute_and_flip(logarithms: Any, candidates: Any, draws: Any) -> Any:
    """Candidates in random order, each taken with its probability."""
    left = list(range(len(logarithms)))
    while len(left) > 1:
        place = left.pop(int(draws.integers(len(left))))
        if draws.random() < math.exp(logarithms[place]):
            return candidates[place] if candidates else place
    return candidates[left[0]] if candidates else left[0]


def categorical(rows: Any, draws: Any, value: Any) -> Any:
    """One of the categories, by the probabilities of the row of a value."""
    if value not in rows:
        draws.not_modelled("of a value that is no category no law is stated")
    return list(rows)[int(draws.choice(len(rows), p=rows[value]))]


def bounded_sum(scale: Any, lower: Any, upper: Any, draws: Any, values: Any) -> Any:
    """The sum of clipped values with Laplace noise, truncated by their number."""
    total = np.clip(np.asarray(values), lower, upper).sum()
    return truncated_laplace(scale, lower * len(values), upper * len(values), draws, total)


def bounded_mean(epsilon: Any, lower: Any, upper: Any, draws: Any, values: Any) -> Any:
    """The mean of clipped values with Laplace noise, truncated."""
    average = np.clip(np.asarray(values), lower, upper).mean()
    return truncated_laplace((upper - lower) / len(values) / epsilon, lower, upper, draws, average)


def nonzero(scale: Any, draws: Any, values: Any) -> Any:
    """How many values are not zero, with two-sided geometric noise, truncated by their number."""
    hits = int(np.count_nonzero(np.asarray(values)))
    return truncated_geometric(scale, 0, len(values), draws, hits)
