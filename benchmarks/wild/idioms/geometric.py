"""Noise on whole numbers: geometric, discrete Gaussian, binomial, and how it is drawn."""

from __future__ import annotations

import math
import random

import numpy as np

EPSILON = 1.0


def two_geometric_draws(data, rng):
    p = 1 - math.exp(-EPSILON)
    return len(data) + int(rng.geometric(p)) - int(rng.geometric(p))


def two_geometric_draws_of_numpy(data):
    p = 1 - np.exp(-EPSILON)
    noise = np.random.geometric(p) - np.random.geometric(p)
    return int(len(data) + noise)


def geometric_for_a_sum(data, rng):
    p = 1 - math.exp(-EPSILON / 3)
    return sum(data) + int(rng.geometric(p) - rng.geometric(p))


def geometric_by_floor_of_exponentials(data):
    first = math.floor(random.expovariate(1.0) / EPSILON)
    second = math.floor(random.expovariate(1.0) / EPSILON)
    return len(data) + first - second


def geometric_by_coins(data, rng):
    ratio = 0.5
    noise = 0
    while rng.random() < ratio:
        noise += 1
    while rng.random() < ratio:
        noise -= 1
    return len(data) + noise


def geometric_by_sign_and_size(data, rng):
    ratio = 0.5
    while True:
        positive = rng.random() < 0.5
        size = int(rng.geometric(1 - ratio)) - 1
        if positive or size > 0:
            return len(data) + (size if positive else -size)


def geometric_clipped(data, rng):
    p = 1 - math.exp(-EPSILON)
    noisy = len(data) + int(rng.geometric(p)) - int(rng.geometric(p))
    return min(max(noisy, 0), 20)


def rounded_laplace(data):
    return round(len(data) + np.random.laplace(0, 1 / EPSILON))


def floor_of_laplace(data):
    return math.floor(len(data) + np.random.laplace(0, 1 / EPSILON))


def binomial_noise(data, rng):
    return len(data) + int(rng.binomial(100, 0.5)) - 50


def bernoulli_exp(gamma, rng):
    k = 1
    while rng.random() < gamma / k:
        k += 1
    return k % 2


def discrete_laplace_by_bernoullis(data, rng):
    scale = 1
    while True:
        negative = rng.random() < 0.5
        size = 0
        while bernoulli_exp(1 / scale, rng):
            size += 1
        if not (negative and size == 0):
            return len(data) + (-size if negative else size)


def discrete_gaussian_by_rejection(data, rng):
    sigma2 = 4.0
    t = 3
    while True:
        candidate = int(rng.geometric(1 - math.exp(-1 / t))) - int(rng.geometric(1 - math.exp(-1 / t)))
        bias = (abs(candidate) - sigma2 / t) ** 2 / (2 * sigma2)
        if rng.random() < math.exp(-bias):
            return len(data) + candidate


def one_sided_geometric(data, rng):
    return len(data) + int(rng.geometric(1 - math.exp(-EPSILON)))


def geometric_with_success_and_failure_swapped(data, rng):
    epsilon = 0.5
    p = math.exp(-epsilon)
    return len(data) + int(rng.geometric(p)) - int(rng.geometric(p))


def sign_and_size_with_two_zeros(data, rng):
    sign = 1 if rng.random() < 0.5 else -1
    return len(data) + sign * (int(rng.geometric(1 - math.exp(-EPSILON))) - 1)


def sign_and_size_without_zero(data, rng):
    sign = 1 if rng.random() < 0.5 else -1
    return len(data) + sign * int(rng.geometric(1 - math.exp(-EPSILON)))


def truncated_geometric(data, rng):
    p = 1 - math.exp(-EPSILON)
    noise = int(rng.geometric(p)) - int(rng.geometric(p))
    return len(data) + min(max(noise, -5), 5)


def poisson_noise(data, rng):
    return len(data) + int(rng.poisson(2.0))


def binomial_noise_pure(data, rng):
    return len(data) + int(rng.binomial(20, 0.5)) - 10


def rounded_normal(data):
    return round(len(data) + np.random.normal(0, 2.0))


def geometric_for_unit_sensitivity(data, rng):
    p = 1 - math.exp(-EPSILON)
    return sum(data) + int(rng.geometric(p) - rng.geometric(p))


def scaled_geometric(data, rng):
    p = 1 - math.exp(-EPSILON)
    return len(data) + 2 * int(rng.geometric(p) - rng.geometric(p))
