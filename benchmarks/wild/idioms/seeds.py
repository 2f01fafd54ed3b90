"""Scripts that fix a seed, or draw noise once: their releases are not random any more."""

from __future__ import annotations

import random

import numpy as np

EPSILON = 1.0
NOISE = float(np.random.laplace(0, 1 / EPSILON))
GENERATOR_SEED = 1234


def count_with_a_fixed_seed(data):
    np.random.seed(42)
    return len(data) + np.random.laplace(0, 1 / EPSILON)


def count_with_a_seeded_generator(data):
    rng = np.random.default_rng(0)
    return len(data) + rng.laplace(0, 1 / EPSILON)


def count_with_a_seeded_random_state(data):
    state = np.random.RandomState(GENERATOR_SEED)
    return len(data) + state.laplace(0, 1 / EPSILON)


def count_with_noise_drawn_once(data):
    return len(data) + NOISE


def response_with_a_seeded_random(data):
    random.seed(7)
    return [bit if random.random() < 0.75 else 1 - bit for bit in data]


def count_seeded_by_the_data(data):
    rng = np.random.default_rng(len(data))
    return len(data) + rng.laplace(0, 1 / EPSILON)


def sum_with_a_seeded_random(data):
    rng = random.Random(99)
    return sum(data) + rng.choice([-1, 1]) * rng.expovariate(EPSILON / 3)


def histogram_with_one_draw_for_all_bins(data):
    noise = np.random.laplace(0, 2 / EPSILON)
    return [data.count(value) + noise for value in (0, 1, 2, 3)]
