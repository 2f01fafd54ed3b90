"""Steps of noisy gradient descent: clipping, noise, averaging, sampling."""

from __future__ import annotations

import math

import numpy as np

CLIP = 1.0
SIGMA = 2.0
BATCH = 10


def clip(gradient, bound):
    norm = np.linalg.norm(gradient, ord=2)
    return gradient * (bound / norm) if norm > bound else gradient


def clipped_sum(data):
    total = np.zeros(2)
    for gradient in data:
        total += clip(np.array(gradient, dtype=float), CLIP)
    return total + np.random.normal(0, SIGMA * CLIP, size=2)


def clipped_sum_in_plain_python(data):
    total = [0.0, 0.0]
    for a, b in data:
        factor = min(1.0, CLIP / max(math.hypot(a, b), 1e-12))
        total[0] += a * factor
        total[1] += b * factor
    return [value + np.random.normal(0, SIGMA * CLIP) for value in total]


def clipped_by_coordinate(data):
    total = [sum(max(-1, min(1, g[i])) for g in data) for i in range(2)]
    return [value + np.random.normal(0, SIGMA * math.sqrt(2)) for value in total]


def clipped_numbers(data):
    total = sum(max(-1.0, min(1.0, g)) for g in data)
    return (total + np.random.normal(0, SIGMA)) / BATCH


def clipped_numbers_of_arrays(data):
    clipped = np.clip(np.array(data, dtype=float), -CLIP, CLIP)
    return (clipped.sum() + np.random.normal(0, SIGMA * CLIP)) / BATCH


def one_step(data):
    weight, rate = 0.5, 0.1
    total = 0.0
    for x, y in data:
        gradient = 2 * x * (weight * x - y)
        total += max(-1.0, min(1.0, gradient))
    return weight - rate * (total + np.random.normal(0, SIGMA)) / BATCH


def two_steps(data):
    weight, rate = 0.0, 0.1
    for _ in range(2):
        total = sum(max(-1.0, min(1.0, 2 * x * (weight * x - y))) for x, y in data)
        weight -= rate * (total + np.random.normal(0, SIGMA)) / BATCH
    return weight


def mean_of_a_fixed_batch(data):
    gradients = np.clip(np.array(data, dtype=float), -CLIP, CLIP)
    return gradients.mean() + np.random.normal(0, 2 * CLIP * SIGMA / len(data))


def signs(data):
    return sum(1 if g > 0 else -1 for g in data) + np.random.normal(0, SIGMA)


def laplace_step(data):
    total = sum(max(-1.0, min(1.0, g)) for g in data)
    return total + np.random.laplace(0, CLIP / 1.0)


def laplace_on_l1_clipped(data):
    total = [0.0, 0.0]
    for a, b in data:
        factor = min(1.0, 1.0 / max(abs(a) + abs(b), 1.0))
        total[0] += a * factor
        total[1] += b * factor
    return [value + np.random.laplace(0, 1.0) for value in total]


def sampled_count_step(data):
    batch = [g for g in data if np.random.random() < 0.5]
    return len(batch) + np.random.laplace(0, 1.0)


def not_clipped(data):
    return sum(data) + np.random.normal(0, SIGMA)


def clipped_after_the_sum(data):
    total = max(-CLIP, min(CLIP, sum(data) / BATCH))
    return total + np.random.normal(0, SIGMA * CLIP / BATCH)


def noise_divided_by_the_batch(data):
    total = sum(max(-1.0, min(1.0, g)) for g in data)
    return total + np.random.normal(0, SIGMA * CLIP / BATCH)


def noise_without_the_clipping_bound(data):
    bound = 3.0
    total = sum(max(-bound, min(bound, g)) for g in data)
    return total + np.random.normal(0, SIGMA)


def maximum_for_minimum(data):
    total = 0.0
    for g in data:
        total += g * max(1.0, CLIP / max(abs(g), 1.0))
    return total + np.random.normal(0, SIGMA * CLIP)


def two_steps_with_one_draw(data):
    noise = np.random.normal(0, SIGMA)
    weight = 0.0
    weights = []
    for _ in range(2):
        total = sum(max(-1.0, min(1.0, 2 * x * (weight * x - y))) for x, y in data)
        weight -= 0.1 * (total + noise) / BATCH
        weights.append(weight)
    return weights


def noise_on_one_coordinate(data):
    total = [sum(max(-1, min(1, g[i])) for g in data) for i in range(2)]
    return [total[0] + np.random.normal(0, SIGMA), total[1]]


def mean_over_the_true_batch(data):
    if not data:
        return 0.0
    total = sum(max(-1.0, min(1.0, g)) for g in data)
    return (total + np.random.normal(0, SIGMA)) / len(data)


def noise_that_is_not_used(data):
    weight, rate = 0.5, 0.1
    clipped = sum(max(-1.0, min(1.0, g)) for g in data)
    noisy = (clipped + np.random.normal(0, SIGMA * CLIP)) / BATCH
    step = rate * clipped
    return weight - step if math.isfinite(noisy) else weight
