"""Sums, means, proportions and variances: clipping, sensitivity, division."""

from __future__ import annotations

import numpy as np

EPSILON = 1.0
N = 10
LOWER, UPPER = 0, 3


def clamp(value, lower, upper):
    return max(lower, min(value, upper))


def laplace_mech(v, sensitivity, epsilon):
    return v + np.random.laplace(loc=0, scale=sensitivity / epsilon)


def sum_by_clip(data):
    return np.clip(data, LOWER, UPPER).sum() + np.random.laplace(0, UPPER / EPSILON)


def sum_by_clamp(data):
    return laplace_mech(sum(clamp(age, LOWER, UPPER) for age in data), UPPER - LOWER, EPSILON)


def sum_of_incomes(data):
    bound = 100
    clipped = [min(max(income, 0), bound) for income in data]
    return sum(clipped) + np.random.laplace(0, bound / EPSILON)


def sum_of_incomes_by_numpy(data):
    clipped = np.clip(np.array(data, dtype=float), 0, 100)
    return float(np.sum(clipped) + np.random.laplace(0, 100 / EPSILON))


def mean_by_noisy_sum_and_count(data):
    noisy_sum = laplace_mech(sum(data), UPPER, EPSILON / 2)
    noisy_count = laplace_mech(len(data), 1, EPSILON / 2)
    return noisy_sum / noisy_count


def mean_by_noisy_sum_and_safe_count(data):
    noisy_sum = np.clip(data, 0, 3).sum() + np.random.laplace(0, 2 * 3 / EPSILON)
    noisy_count = max(1.0, len(data) + np.random.laplace(0, 2 / EPSILON))
    return min(max(noisy_sum / noisy_count, 0.0), 3.0)


def mean_of_fixed_size(data):
    return np.mean(data) + np.random.laplace(0, (UPPER - LOWER) / (N * EPSILON))


def mean_of_public_size(data):
    return (sum(data) + np.random.laplace(0, (UPPER - LOWER) / EPSILON)) / N


def mean_by_len_of_fixed_size(data):
    values = np.clip(data, LOWER, UPPER)
    return values.mean() + np.random.laplace(0, (UPPER - LOWER) / (len(data) * EPSILON))


def mean_in_range(data):
    noisy = np.mean(data) + np.random.laplace(0, (UPPER - LOWER) / (N * EPSILON))
    return float(np.clip(noisy, LOWER, UPPER))


def mean_around_the_middle(data):
    middle = (LOWER + UPPER) / 2
    centred = sum(age - middle for age in data)
    noisy_sum = centred + np.random.laplace(0, (UPPER - LOWER) / 2 / (EPSILON / 2))
    noisy_count = max(1.0, len(data) + np.random.laplace(0, 1 / (EPSILON / 2)))
    return middle + noisy_sum / noisy_count


def sum_gaussian_zcdp(data):
    rho = 0.5
    sigma = UPPER / np.sqrt(2 * rho)
    return float(np.sum(data)) + np.random.normal(0, sigma)


def proportion_of_fixed_size(data):
    share = sum(1 for age in data if age > 1) / len(data)
    return share + np.random.laplace(0, 1 / (len(data) * EPSILON))


def proportion_by_mask(data):
    return np.mean(np.array(data) > 1) + np.random.laplace(0, 1 / (N * EPSILON))


def two_moments(data):
    values = np.array(data)
    first = values.sum() + np.random.laplace(0, 3 / (EPSILON / 2))
    second = (values**2).sum() + np.random.laplace(0, 9 / (EPSILON / 2))
    return first, second


def variance_by_moments(data):
    first = sum(data) + np.random.laplace(0, 3 / (EPSILON / 3))
    second = sum(age * age for age in data) + np.random.laplace(0, 9 / (EPSILON / 3))
    count = max(2.0, len(data) + np.random.laplace(0, 1 / (EPSILON / 3)))
    return max(0.0, second / count - (first / count) ** 2)


def variance_of_fixed_size(data):
    sensitivity = (UPPER - LOWER) ** 2 * (N - 1) / N**2
    return np.var(data) + np.random.laplace(0, sensitivity / EPSILON)


def weighted_sum(data):
    weights = {0: 0.0, 1: 0.5, 2: 1.0, 3: 1.5}
    return sum(weights[age] for age in data) + np.random.laplace(0, 1.5 / EPSILON)


def sum_of_ratings(data):
    total = 0.0
    for rating in data:
        total += (rating - 1.0) / 4.0
    return total + np.random.laplace(0, 1 / EPSILON)


def regression_statistics(data):
    scale = 4 / EPSILON
    sx = sum(x for x, _ in data) + np.random.laplace(0, scale)
    sy = sum(y for _, y in data) + np.random.laplace(0, scale)
    sxy = sum(x * y for x, y in data) + np.random.laplace(0, scale)
    sxx = sum(x * x for x, _ in data) + np.random.laplace(0, scale)
    return sx, sy, sxy, sxx


def mean_of_local_noise(data):
    noisy = [age + np.random.laplace(0, UPPER / EPSILON) for age in data]
    return sum(noisy) / len(noisy)


def sum_with_sensitivity_one(data):
    return sum(data) + np.random.laplace(0, 1 / EPSILON)


def sum_with_sensitivity_of_a_mean(data):
    return sum(data) + np.random.laplace(0, (UPPER - LOWER) / (N * EPSILON))


def mean_with_observed_range(data):
    sensitivity = (max(data) - min(data)) / len(data)
    return np.mean(data) + np.random.laplace(0, 1) * sensitivity / EPSILON


def noisy_sum_by_true_count(data):
    return (sum(data) + np.random.laplace(0, UPPER / EPSILON)) / len(data)


def clip_after_noise(data):
    noisy = sum(data) + np.random.laplace(0, 100 / EPSILON)
    return float(np.clip(noisy, 0, 10**6))


def mean_with_noise_by_size(data):
    n = max(len(data), 1)
    return sum(data) / n + np.random.laplace(0, UPPER / (n * EPSILON))


def squares_with_sensitivity_of_values(data):
    return sum(age**2 for age in data) + np.random.laplace(0, UPPER / EPSILON)


def mean_with_unit_sensitivity(data):
    return np.mean(data) + np.random.laplace(0, 1 / (len(data) * EPSILON))


def sum_scaled_by_the_maximum(data):
    top = max(data, default=0)
    if top == 0:
        return np.random.laplace(0, 1 / EPSILON)
    return sum(age / top for age in data) + np.random.laplace(0, 1 / EPSILON)


def sum_clipped_below_only(data):
    return sum(max(income, 0) for income in data) + np.random.laplace(0, 100 / EPSILON)


def mean_by_noisy_parts_at_the_full_budget(data):
    noisy_sum = sum(data) + np.random.laplace(0, UPPER / EPSILON)
    noisy_count = len(data) + np.random.laplace(0, 1 / EPSILON)
    return noisy_sum, noisy_count


def mean_for_replacement_with_half_range(data):
    return sum(data) / N + np.random.laplace(0, (UPPER - LOWER) / (2 * N * EPSILON))
