"""Histograms with noise: bins, marginals, what is derived of them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np

EPSILON = 1.0
DOMAIN = [0, 1, 2, 3]
LETTERS = ["a", "b", "c"]


def bins_of_bincount(data):
    counts = np.bincount(data, minlength=4)
    return counts + np.random.laplace(0, 1 / EPSILON, size=4)


def bins_of_numpy_histogram(data):
    hist, _ = np.histogram(data, bins=[0, 1, 2, 3, 4])
    return hist + np.random.laplace(loc=0.0, scale=1.0 / EPSILON, size=len(hist))


def bins_of_counter(data):
    counts = Counter(data)
    return {value: counts[value] + np.random.laplace(0, 1 / EPSILON) for value in DOMAIN}


def bins_of_dict(data):
    counts = dict.fromkeys(DOMAIN, 0)
    for value in data:
        counts[value] += 1
    for value in counts:
        counts[value] += np.random.laplace(0, 1 / EPSILON)
    return counts


def bins_by_count(data):
    return [data.count(value) + np.random.laplace(0, 1 / EPSILON) for value in DOMAIN]


def bins_of_letters(data):
    counts = Counter(data)
    return [counts.get(letter, 0) + np.random.laplace(0, 1 / EPSILON) for letter in LETTERS]


def bins_of_defaultdict(data):
    counts = defaultdict(int)
    for letter in data:
        counts[letter] += 1
    return [(letter, counts[letter] + np.random.laplace(0, 1 / EPSILON)) for letter in LETTERS]


def bins_rounded_not_negative(data):
    noisy = np.bincount(data, minlength=4) + np.random.laplace(0, 1 / EPSILON, 4)
    return np.maximum(np.round(noisy), 0).astype(int).tolist()


def bins_normalised(data):
    noisy = np.bincount(data, minlength=4) + np.random.laplace(0, 1 / EPSILON, 4)
    clipped = np.clip(noisy, 0, None)
    total = clipped.sum()
    return clipped / total if total > 0 else np.full(4, 0.25)


def bins_geometric(data):
    p = 1 - math.exp(-EPSILON)
    return [data.count(value) + int(np.random.geometric(p) - np.random.geometric(p)) for value in DOMAIN]


def bins_gaussian_zcdp(data):
    rho = 0.5
    sigma = np.sqrt(1 / (2 * rho))
    return np.bincount(data, minlength=4) + np.random.normal(0, sigma, size=4)


def bins_for_replacement(data):
    sensitivity = 2
    return [data.count(value) + np.random.laplace(0, sensitivity / EPSILON) for value in DOMAIN]


def cumulated_bins(data):
    noisy = np.bincount(data, minlength=4) + np.random.laplace(0, 1 / EPSILON, 4)
    return np.cumsum(noisy).tolist()


def most_frequent_bin(data):
    noisy = [data.count(value) + np.random.laplace(0, 1 / EPSILON) for value in DOMAIN]
    return DOMAIN[int(np.argmax(noisy))]


def total_and_bins(data):
    half = EPSILON / 2
    total = len(data) + np.random.laplace(0, 1 / half)
    bins = [data.count(value) + np.random.laplace(0, 1 / half) for value in DOMAIN]
    return total, bins


def two_marginals(data):
    ages = Counter(age for age, _ in data)
    places = Counter(place for _, place in data)
    scale = 2 / EPSILON
    return (
        [ages[age] + np.random.laplace(0, scale) for age in (0, 1)],
        [places[place] + np.random.laplace(0, scale) for place in ("north", "south")],
    )


def cross_table(data):
    table = [[0, 0], [0, 0]]
    for age, place in data:
        table[age][0 if place == "north" else 1] += 1
    return [[cell + np.random.laplace(0, 1 / EPSILON) for cell in row] for row in table]


def small_noisy_bins_suppressed(data):
    noisy = [data.count(value) + np.random.laplace(0, 1 / EPSILON) for value in DOMAIN]
    return [count if count > 2 else 0.0 for count in noisy]


def synthetic_records_of_bins(data):
    noisy = [max(0.0, data.count(value) + np.random.laplace(0, 1 / EPSILON)) for value in DOMAIN]
    return [value for value, count in zip(DOMAIN, noisy) for _ in range(round(count))]


def bins_sorted_by_noisy_count(data):
    noisy = {value: data.count(value) + np.random.laplace(0, 1 / EPSILON) for value in DOMAIN}
    return sorted(noisy.items(), key=lambda item: -item[1])


def prefix_sums_of_noise(counts):
    total = 0.0
    sums = []
    for count in counts:
        total += count + np.random.laplace(0, 1 / EPSILON)
        sums.append(total)
    return sums


def cells_in_place(counts):
    for i in range(len(counts)):
        counts[i] += np.random.laplace(0, 1 / EPSILON)
    return counts


def bins_of_present_keys(data):
    counts = Counter(data)
    return {value: count + np.random.laplace(0, 1 / EPSILON) for value, count in sorted(counts.items())}


def noise_on_filled_bins(data):
    hist = np.bincount(data, minlength=4)
    return np.where(hist > 0, hist + np.random.laplace(0, 1 / EPSILON, 4), 0.0)


def bins_for_replacement_at_half_the_noise(data):
    return [data.count(value) + np.random.laplace(0, 1 / EPSILON) for value in DOMAIN]


def total_and_bins_at_the_full_budget(data):
    total = len(data) + np.random.laplace(0, 1 / EPSILON)
    return total, [data.count(value) + np.random.laplace(0, 1 / EPSILON) for value in DOMAIN]


def noise_divided_by_bins(data):
    return [data.count(value) + np.random.laplace(0, 1 / (EPSILON * len(DOMAIN))) for value in DOMAIN]


def shares_with_noise_by_size(data):
    n = max(len(data), 1)
    return [data.count(value) / n + np.random.laplace(0, 1 / (n * EPSILON)) for value in DOMAIN]


def noise_by_the_largest_bin(data):
    hist = np.bincount(data, minlength=4)
    return hist + np.random.laplace(0, 1 / EPSILON, 4) * hist.max()


def bins_sorted_by_true_count(data):
    counts = Counter(data)
    order = sorted(DOMAIN, key=lambda value: -counts[value])
    return [(value, counts[value] + np.random.laplace(0, 1 / EPSILON)) for value in order]


def small_true_bins_suppressed(data):
    return [0.0 if data.count(value) < 3 else data.count(value) + np.random.laplace(0, 1 / EPSILON) for value in DOMAIN]


def last_bin_by_difference(data):
    noisy = [data.count(value) + np.random.laplace(0, 1 / EPSILON) for value in DOMAIN[:3]]
    return [*noisy, len(data) - sum(noisy)]


def bins_by_a_gaussian_pure(data):
    return np.bincount(data, minlength=4) + np.random.normal(0, 1 / EPSILON, size=4)
