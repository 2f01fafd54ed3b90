"""The sparse vector technique, as published and as broken."""

from __future__ import annotations

import numpy as np

EPSILON = 1.0
THRESHOLD = 1


def above_threshold(queries):
    noisy_threshold = THRESHOLD + np.random.laplace(0, 2 / EPSILON)
    for i, answer in enumerate(queries):
        if answer + np.random.laplace(0, 4 / EPSILON) >= noisy_threshold:
            return i
    return None


def above_threshold_as_list(queries):
    noisy_threshold = THRESHOLD + np.random.laplace(scale=2 / EPSILON)
    answers = []
    for answer in queries:
        if answer + np.random.laplace(scale=4 / EPSILON) >= noisy_threshold:
            answers.append(True)
            break
        answers.append(False)
    return answers


def sparse_vector(queries):
    c = 1
    out = []
    count = 0
    i = 0
    eta = np.random.laplace(scale=2.0 / EPSILON)
    noisy_threshold = THRESHOLD + eta
    while i < len(queries) and count < c:
        eta_i = np.random.laplace(scale=4.0 * c / EPSILON)
        if queries[i] + eta_i >= noisy_threshold:
            out.append(True)
            count += 1
        else:
            out.append(False)
        i += 1
    return out


def sparse_vector_of_two(queries):
    c = 2
    out = []
    count = 0
    noisy_threshold = THRESHOLD + np.random.laplace(scale=2.0 / EPSILON)
    for answer in queries:
        if answer + np.random.laplace(scale=4.0 * c / EPSILON) >= noisy_threshold:
            out.append(True)
            count += 1
            if count >= c:
                break
        else:
            out.append(False)
    return out


def sparse_vector_with_renewed_threshold(queries):
    c = 2
    found = []
    noisy_threshold = THRESHOLD + np.random.laplace(0, 2 * c / EPSILON)
    for i, answer in enumerate(queries):
        if answer + np.random.laplace(0, 4 * c / EPSILON) >= noisy_threshold:
            found.append(i)
            noisy_threshold = THRESHOLD + np.random.laplace(0, 2 * c / EPSILON)
            if len(found) == c:
                break
    return found


def numeric_sparse(queries):
    noisy_threshold = THRESHOLD + np.random.laplace(0, 4 / EPSILON)
    for i, answer in enumerate(queries):
        if answer + np.random.laplace(0, 8 / EPSILON) >= noisy_threshold:
            return i, answer + np.random.laplace(0, 2 / EPSILON)
    return None


def gap_sparse(queries):
    noisy_threshold = THRESHOLD + np.random.laplace(0, 2 / EPSILON)
    for i, answer in enumerate(queries):
        noisy = answer + np.random.laplace(0, 4 / EPSILON)
        if noisy >= noisy_threshold:
            return i, noisy - noisy_threshold
    return None


def below_threshold(queries):
    noisy_threshold = THRESHOLD + np.random.laplace(0, 2 / EPSILON)
    for i, answer in enumerate(queries):
        if answer + np.random.laplace(0, 4 / EPSILON) <= noisy_threshold:
            return i
    return -1


def clipping_bound(data):
    noisy_threshold = np.random.laplace(0, 2 / EPSILON)
    for bound in (0, 1, 2, 3):
        lost = sum(min(age, bound) - min(age, bound + 1) for age in data)
        if lost + np.random.laplace(0, 4 / EPSILON) >= noisy_threshold:
            return bound
    return 3


def one_noisy_test(data):
    return len(data) + np.random.laplace(0, 1 / EPSILON) > 10


def threshold_without_noise(queries):
    return [answer + np.random.laplace(0, 2 / EPSILON) >= THRESHOLD for answer in queries]


def sparse_without_query_noise(queries):
    noisy_threshold = THRESHOLD + np.random.laplace(0, 2 / EPSILON)
    return [answer >= noisy_threshold for answer in queries]


def sparse_without_end(queries):
    noisy_threshold = THRESHOLD + np.random.laplace(0, 2 / EPSILON)
    return [bool(answer + np.random.laplace(0, 2 / EPSILON) >= noisy_threshold) for answer in queries]


def sparse_with_the_compared_value(queries):
    noisy_threshold = THRESHOLD + np.random.laplace(0, 2 / EPSILON)
    out = []
    for answer in queries:
        noisy = answer + np.random.laplace(0, 2 / EPSILON)
        if noisy >= noisy_threshold:
            out.append(noisy)
            break
        out.append(None)
    return out


def sparse_with_the_true_value(queries):
    noisy_threshold = THRESHOLD + np.random.laplace(0, 2 / EPSILON)
    for i, answer in enumerate(queries):
        if answer + np.random.laplace(0, 4 / EPSILON) >= noisy_threshold:
            return i, answer
    return None


def sparse_without_scaling_by_c(queries):
    c = 3
    out = []
    noisy_threshold = THRESHOLD + np.random.laplace(0, 4 / EPSILON)
    for answer in queries:
        above = bool(answer + np.random.laplace(0, 4 / (3 * EPSILON)) >= noisy_threshold)
        out.append(above)
        if sum(out) == c:
            break
    return out


def sparse_with_scale_as_location(queries):
    epsilon = 0.5
    noisy_threshold = THRESHOLD + np.random.laplace(2.0 / epsilon)
    for i, answer in enumerate(queries):
        if answer + np.random.laplace(4.0 / epsilon) >= noisy_threshold:
            return i
    return None


def one_test_without_noise(data):
    if len(data) > 10:
        return len(data) + np.random.laplace(0, 1 / EPSILON)
    return None
