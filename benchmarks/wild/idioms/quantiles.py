"""Medians, quantiles, extremes and bounds."""

from __future__ import annotations

import math

import numpy as np

EPSILON = 1.0
DOMAIN = [0, 1, 2, 3]


def median_by_exponential(data):
    def utility(option):
        below = sum(1 for age in data if age < option)
        above = sum(1 for age in data if age > option)
        return -abs(below - above)

    weights = np.exp(EPSILON / 2 * np.array([utility(option) for option in DOMAIN]))
    return int(np.random.choice(DOMAIN, p=weights / weights.sum()))


def median_by_weights_in_a_loop(data):
    weights = []
    for option in DOMAIN:
        below = len([age for age in data if age < option])
        above = len([age for age in data if age > option])
        weights.append(math.exp(-EPSILON * abs(below - above) / 2))
    total = sum(weights)
    return int(np.random.choice(4, p=[weight / total for weight in weights]))


def median_of_noisy_bins(data):
    noisy = [max(0.0, data.count(value) + np.random.laplace(0, 1 / EPSILON)) for value in DOMAIN]
    half = sum(noisy) / 2
    cumulated = 0.0
    for value, count in zip(DOMAIN, noisy):
        cumulated += count
        if cumulated >= half:
            return value
    return DOMAIN[-1]


def noisy_distribution_function(data):
    n = 10
    return [sum(1 for age in data if age <= value) / n + np.random.laplace(0, 3 / (n * EPSILON)) for value in (0, 1, 2)]


def median_by_search(data):
    low, high = 0, 3
    for _ in range(2):
        middle = (low + high) // 2
        below = sum(1 for age in data if age <= middle) + np.random.laplace(0, 2 / EPSILON)
        if below >= 5:
            high = middle
        else:
            low = middle + 1
    return low


def median_with_noise_of_the_range(data):
    return float(np.median(data)) + np.random.laplace(0, 3 / EPSILON)


def middle_with_noise_of_the_range(data):
    return sorted(data)[len(data) // 2] + np.random.laplace(0, 3 / EPSILON)


def maximum_with_noise_of_the_range(data):
    return max(data) + np.random.laplace(0, 3 / EPSILON)


def upper_bound_by_noisy_counts(data):
    noisy = [data.count(value) + np.random.laplace(0, 1 / EPSILON) for value in DOMAIN]
    for value in reversed(DOMAIN):
        if noisy[value] > 3:
            return value
    return 0


def sum_clipped_at_a_noisy_bound(data):
    half = EPSILON / 2
    noisy = [data.count(value) + np.random.laplace(0, 1 / half) for value in DOMAIN]
    bound = max([value for value in DOMAIN if noisy[value] > 2], default=1)
    return bound, sum(min(age, 3) for age in data) + np.random.laplace(0, 3 / half)


def median_with_unit_noise(data):
    return float(np.median(data)) + np.random.laplace(0, 1 / EPSILON)


def median_with_local_sensitivity(data):
    ordered = sorted(data)
    middle = len(ordered) // 2
    sensitivity = max(ordered[middle] - ordered[middle - 1], ordered[middle + 1] - ordered[middle])
    if sensitivity == 0:
        return float(ordered[middle])
    return ordered[middle] + np.random.laplace(0, sensitivity / EPSILON)


def sum_clipped_at_an_exact_percentile(data):
    bound = np.percentile(data, 90)
    clipped = np.clip(data, 0, bound)
    return float(clipped.sum()) + np.random.laplace(0, 1) * bound / EPSILON


def sum_clipped_at_the_maximum(data):
    bound = max(data)
    return bound, sum(data) + np.random.laplace(0, 3 / EPSILON)


def maximum_with_noise_by_size(data):
    return max(data) + np.random.laplace(0, 3 / (len(data) * EPSILON))


def range_with_unit_noise(data):
    return max(data) - min(data) + np.random.laplace(0, 1 / EPSILON)


def quantile_without_the_factor_two(data):
    utilities = [-abs(sum(1 for age in data if age < option) - sum(1 for age in data if age > option)) for option in DOMAIN]
    weights = np.exp(2 * EPSILON * np.array(utilities, dtype=float))
    return int(np.random.choice(DOMAIN, p=weights / weights.sum()))
