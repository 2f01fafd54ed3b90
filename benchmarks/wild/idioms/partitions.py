"""Keys that are released: thresholds on noisy counts, and what goes wrong with them."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

EPSILON = 1.0
DELTA = 0.01
KEYS = ["a", "b", "c"]


def keys_above_a_threshold(data):
    threshold = 1 + math.log(1 / (2 * DELTA)) / EPSILON
    counts = Counter(data)
    released = {}
    for key in sorted(counts):
        noisy = counts[key] + np.random.laplace(0, 1 / EPSILON)
        if noisy > threshold:
            released[key] = noisy
    return released


def key_names_above_a_threshold(data):
    threshold = 1 + math.log(1 / (2 * DELTA)) / EPSILON
    return [key for key in sorted(set(data)) if data.count(key) + np.random.laplace(0, 1 / EPSILON) > threshold]


def known_keys_above_a_threshold(data):
    return [key for key in KEYS if data.count(key) + np.random.laplace(0, 1 / EPSILON) > 3]


def known_keys_with_counts(data):
    noisy = {key: data.count(key) + np.random.laplace(0, 1 / EPSILON) for key in KEYS}
    return {key: count for key, count in noisy.items() if count >= 5}


def keys_above_a_gaussian_threshold(data):
    sigma = 4.0
    released = []
    for key in KEYS:
        count = data.count(key)
        if count > 0 and count + np.random.normal(0, sigma) > 20:
            released.append(key)
    return released


def is_there_a_large_key(data):
    noisy = [data.count(key) + np.random.laplace(0, 1 / EPSILON) for key in KEYS]
    return max(noisy) > 10


def keys_above_a_true_threshold(data):
    counts = Counter(data)
    return {key: counts[key] + np.random.laplace(0, 1 / EPSILON) for key in sorted(counts) if counts[key] >= 3}


def keys_above_a_low_threshold(data):
    return [key for key in sorted(set(data)) if data.count(key) + np.random.laplace(0, 1 / EPSILON) > 2]


def keys_above_a_threshold_without_the_one(data):
    threshold = math.log(1 / (2 * DELTA)) / EPSILON
    return [key for key in sorted(set(data)) if data.count(key) + np.random.laplace(0, 1 / EPSILON) > threshold]


def all_keys_with_noisy_counts(data):
    counts = Counter(data)
    return [(key, counts[key] + np.random.laplace(0, 1 / EPSILON)) for key in sorted(counts)]


def number_of_keys_with_little_noise(data):
    return len(set(data)) + np.random.laplace(0, 0.5 / EPSILON)


def number_of_keys(data):
    return len(set(data)) + np.random.laplace(0, 1 / EPSILON)
