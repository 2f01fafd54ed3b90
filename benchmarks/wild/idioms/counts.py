"""Counts with noise: how the noise is drawn, scaled, rounded and returned."""

from __future__ import annotations

import math
import random

import numpy as np
from scipy import stats

EPSILON = 1.0


def laplace_mechanism(value, sensitivity, epsilon):
    return value + np.random.laplace(loc=0, scale=sensitivity / epsilon)


def count_laplace(data):
    return len(data) + np.random.laplace(0, 1 / EPSILON)


def count_by_helper(data):
    return laplace_mechanism(len([age for age in data if age >= 2]), 1, EPSILON)


def count_by_inverse_distribution_function(data):
    scale = 1 / EPSILON
    u = random.uniform(-0.5, 0.5)
    noise = -math.copysign(1, u) * scale * math.log(1 - 2 * abs(u))
    return len(data) + noise


def count_by_two_uniforms(data):
    beta = 1 / EPSILON
    u1 = np.random.random()
    u2 = np.random.random()
    noise = -beta * np.log(1.0 - u2) if u1 <= 0.5 else beta * np.log(u2)
    return len(data) + noise


def count_by_two_exponentials(data):
    scale = 1.0 / EPSILON
    return len(data) + np.random.exponential(scale) - np.random.exponential(scale)


def count_by_signed_exponential(data):
    sign = random.choice([-1, 1])
    return len(data) + sign * random.expovariate(EPSILON)


def count_by_scipy(data):
    return len(data) + stats.laplace.rvs(loc=0, scale=1 / EPSILON)


def count_by_default_rng(data):
    rng = np.random.default_rng()
    return float(len(data) + rng.laplace(0.0, 1.0 / EPSILON))


class LaplaceMechanism:
    def __init__(self, epsilon, sensitivity=1.0):
        if epsilon <= 0:
            raise ValueError("epsilon must be positive")
        self.epsilon = epsilon
        self.sensitivity = sensitivity

    def randomise(self, value):
        return value + np.random.laplace(0, self.sensitivity / self.epsilon)


def count_by_class(data):
    mechanism = LaplaceMechanism(epsilon=0.5)
    return mechanism.randomise(len(data))


def count_geometric(data):
    alpha = math.exp(-EPSILON)
    return len(data) + np.random.geometric(1 - alpha) - np.random.geometric(1 - alpha)


def count_not_negative(data):
    return max(0, round(len(data) + np.random.laplace(0, 1 / EPSILON)))


def count_with_rounded_noise(data):
    noise = round(np.random.laplace(0, 1 / EPSILON))
    return len(data) + noise


def count_by_mask(data):
    ages = np.array(data)
    return np.sum(ages > 1) + np.random.laplace(0, 1 / EPSILON)


def count_by_loop(data):
    total = 0
    for age in data:
        if age >= 2:
            total += 1
    return total + np.random.laplace(0, 1 / EPSILON)


def count_by_generator_expression(data):
    return sum(1 for age in data if age == 3) + np.random.laplace(scale=1 / EPSILON)


def count_as_report(data):
    noisy = len(data) + np.random.laplace(0, 1 / EPSILON)
    return {"count": round(noisy, 2), "epsilon": EPSILON}


def count_as_text(data):
    noisy = len(data) + np.random.laplace(0, 1 / EPSILON)
    return f"about {noisy:.1f} people"


def two_counts_with_a_split_budget(data):
    half = EPSILON / 2
    young = sum(1 for age in data if age < 2) + np.random.laplace(0, 1 / half)
    everyone = len(data) + np.random.laplace(0, 1 / half)
    return young, everyone


def mean_of_repeated_counts(data):
    k = 4
    answers = [len(data) + np.random.laplace(0, k / EPSILON) for _ in range(k)]
    return sum(answers) / k


def count_with_array_noise(data):
    noise = np.random.laplace(0, 1 / EPSILON, 1)
    return len(data) + noise[0]


def count_in_range(data):
    noisy = len(data) + np.random.laplace(0, 1 / EPSILON)
    return float(np.clip(noisy, 0, 100))


def count_gaussian_zcdp(data):
    rho = 0.5
    sigma = math.sqrt(1 / (2 * rho))
    return len(data) + np.random.normal(0, sigma)


def count_gaussian_classical(data):
    epsilon, delta = 0.5, 1e-5
    sigma = np.sqrt(2 * np.log(1.25 / delta)) / epsilon
    return len(data) + np.random.normal(0, sigma)


def count_gauss_of_random(data):
    epsilon, delta = 1.0, 1e-5
    sigma = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    return len(data) + random.gauss(0, sigma)


def count_scale_is_epsilon(data):
    epsilon = 0.5
    return len(data) + np.random.laplace(0, epsilon)


def count_scale_as_location(data):
    epsilon = 0.5
    return len(data) + np.random.laplace(1.0 / epsilon)


def count_normal_for_laplace(data):
    return len(data) + np.random.normal(0, 1 / EPSILON)


def count_uniform_noise(data):
    return len(data) + np.random.uniform(-1 / EPSILON, 1 / EPSILON)


def count_positive_noise(data):
    return len(data) + abs(np.random.laplace(0, 1 / EPSILON))


def count_truncated_noise(data):
    return len(data) + int(np.random.laplace(0, 1 / EPSILON))


def count_redrawn_while_negative(data):
    noisy = len(data) + np.random.laplace(0, 1 / EPSILON)
    while noisy < 0:
        noisy = len(data) + np.random.laplace(0, 1 / EPSILON)
    return noisy


def count_true_where_noise_is_negative(data):
    noisy = len(data) + np.random.laplace(0, 1 / EPSILON)
    return noisy if noisy >= 0 else len(data)


def count_exact_when_large(data):
    if len(data) > 20:
        return float(len(data))
    return len(data) + np.random.laplace(0, 1 / EPSILON)


def count_relative_noise(data):
    return len(data) * (1 + np.random.laplace(0, 1 / EPSILON))


def count_wrong_inverse(data):
    scale = 1 / EPSILON
    u = random.uniform(-0.5, 0.5)
    return len(data) - scale * math.copysign(1, u) * math.log(1 - abs(u))


def three_counts_with_halved_budget(data):
    half = EPSILON / 2
    return [len(data) + np.random.laplace(0, 1 / half) for _ in range(3)]


def count_variance_for_deviation(data):
    rho = 2.0
    sigma = math.sqrt(1 / (2 * rho))
    return len(data) + np.random.normal(0, sigma**2)


def count_classical_for_a_large_epsilon(data):
    epsilon, delta = 8.0, 0.05
    sigma = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    return len(data) + np.random.normal(0, sigma)
