"""Local reports of one value: unary encodings, hashing, sketches, and reports of one number."""

from __future__ import annotations

import math
import random

import numpy as np

EPSILON = 1.0
D = 4


def perturb(bit, p, q):
    return 1 if random.random() < (p if bit == 1 else q) else 0


def encode(value):
    return [1 if i == value else 0 for i in range(D)]


def symmetric_unary(data):
    p = math.exp(EPSILON / 2) / (math.exp(EPSILON / 2) + 1)
    return [perturb(bit, p, 1 - p) for bit in encode(data[0])]


def optimised_unary(data):
    q = 1 / (math.exp(EPSILON) + 1)
    return [perturb(bit, 0.5, q) for bit in encode(data[0])]


def optimised_unary_of_arrays(data):
    bits = np.zeros(D, dtype=int)
    bits[data[0]] = 1
    q = 1 / (np.exp(EPSILON) + 1)
    for i in range(D):
        bits[i] = np.random.binomial(1, 0.5 if bits[i] == 1 else q)
    return bits.tolist()


def permanent_rappor(data):
    f = 0.5
    report = []
    for bit in encode(data[0]):
        u = random.random()
        if u < f / 2:
            report.append(1)
        elif u < f:
            report.append(0)
        else:
            report.append(bit)
    return report


def instantaneous_rappor(data):
    f, p, q = 0.5, 0.25, 0.75
    permanent = [perturb(bit, 1 - f / 2, f / 2) for bit in encode(data[0])]
    return [perturb(bit, q, p) for bit in permanent]


def bloom_rappor(data):
    f = 0.5
    positions = {0: (0, 2), 1: (1, 3), 2: (2, 3), 3: (0, 1)}[data[0]]
    return [perturb(1 if i in positions else 0, 1 - f / 2, f / 2) for i in range(D)]


def histogram_encoding(data):
    return [bit + np.random.laplace(0, 2 / EPSILON) for bit in encode(data[0])]


def thresholded_histogram_encoding(data):
    noisy = [bit + np.random.laplace(0, 2 / EPSILON) for bit in encode(data[0])]
    return [i for i, number in enumerate(noisy) if number > 0.67]


def local_hashing(data):
    g = 3
    a, b = random.randint(1, 6), random.randint(0, 6)
    hashed = (a * data[0] + b) % 7 % g
    p = math.exp(EPSILON) / (math.exp(EPSILON) + g - 1)
    report = hashed if random.random() < p else random.choice([v for v in range(g) if v != hashed])
    return a, b, report


def binary_local_hashing(data):
    table = [random.getrandbits(1) for _ in range(D)]
    bit = table[data[0]]
    p = math.exp(EPSILON) / (math.exp(EPSILON) + 1)
    return table, bit if random.random() < p else 1 - bit


def hadamard_report(data):
    row = random.randrange(1, D)
    sign = 1 if bin(row & data[0]).count("1") % 2 == 0 else -1
    p = math.exp(EPSILON) / (1 + math.exp(EPSILON))
    return row, sign if random.random() < p else -sign


def count_mean_sketch(data):
    hashes = ([0, 1, 2, 3, 1, 0], [2, 0, 1, 1, 3, 3])
    j = random.randrange(2)
    v = [-1] * 4
    v[hashes[j][data[0]]] = 1
    flip = 1 / (1 + math.exp(EPSILON / 2))
    return [-bit if random.random() < flip else bit for bit in v], j


def one_bit_mean(data):
    x = data[0]
    p = (x * (math.exp(EPSILON) - 1) + math.exp(EPSILON) + 1) / (2 * math.exp(EPSILON) + 2)
    c = (math.exp(EPSILON) + 1) / (math.exp(EPSILON) - 1)
    return c if random.random() < p else -c


def rounded_then_randomised(data):
    bit = 1 if random.random() < (data[0] + 1) / 2 else 0
    p = math.exp(EPSILON) / (math.exp(EPSILON) + 1)
    return bit if random.random() < p else 1 - bit


def laplace_report(data):
    return data[0] + np.random.laplace(0, 2 / EPSILON)


def laplace_report_clipped(data):
    value = max(-1.0, min(1.0, data[0]))
    return float(np.clip(value + np.random.laplace(0, 2 / EPSILON), -1, 1))


def piecewise_report(data):
    t = data[0]
    e2 = math.exp(EPSILON / 2)
    c = (e2 + 1) / (e2 - 1)
    left = (c + 1) / 2 * t - (c - 1) / 2
    right = left + c - 1
    if random.random() < e2 / (e2 + 1):
        return random.uniform(left, right)
    u = random.uniform(0, (left + c) + (c - right))
    return -c + u if u < left + c else right + (u - left - c)


def bits_at_a_shared_budget(data):
    p = math.exp(EPSILON / 2) / (1 + math.exp(EPSILON / 2))
    bits = [data[0] >> 1 & 1, data[0] & 1]
    return [bit if random.random() < p else 1 - bit for bit in bits]


def some_buckets(data):
    chosen = random.sample(range(D), 2)
    p = math.exp(EPSILON / 2) / (1 + math.exp(EPSILON / 2))
    return [(j, perturb(1 if j == data[0] else 0, p, 1 - p)) for j in chosen]


def unary_at_the_full_budget(data):
    p = math.exp(EPSILON) / (math.exp(EPSILON) + 1)
    return [perturb(bit, p, 1 - p) for bit in encode(data[0])]


def optimised_unary_with_a_larger_p(data):
    q = 1 / (math.exp(EPSILON) + 1)
    return [perturb(bit, 0.75, q) for bit in encode(data[0])]


def rappor_at_the_budget_of_one_bit(data):
    f = 0.5
    return [perturb(bit, 1 - f / 2, f / 2) for bit in encode(data[0])]


def bloom_rappor_at_the_budget_of_one_hash(data):
    f = 0.5
    positions = {0: (0, 1), 1: (2, 3), 2: (0, 2), 3: (1, 3)}[data[0]]
    return [perturb(1 if i in positions else 0, 1 - f / 2, f / 2) for i in range(D)]


def histogram_encoding_at_half_the_noise(data):
    return [bit + np.random.laplace(0, 1 / EPSILON) for bit in encode(data[0])]


def hashing_without_a_response(data):
    a, b = random.randint(1, 6), random.randint(0, 6)
    return a, b, (a * data[0] + b) % 7 % 3


def unary_with_true_zeros(data):
    return [1 if bit == 1 and random.random() < 0.75 else 0 for bit in encode(data[0])]


def stochastic_rounding_alone(data):
    return 1 if random.random() < (data[0] + 1) / 2 else -1


def laplace_report_for_half_the_range(data):
    return data[0] + np.random.laplace(0, 1 / EPSILON)


def sketch_at_the_full_budget(data):
    v = [-1] * 4
    v[data[0]] = 1
    flip = 1 / (1 + math.exp(EPSILON))
    return [-bit if random.random() < flip else bit for bit in v]


def bits_at_the_full_budget(data):
    p = math.exp(EPSILON) / (1 + math.exp(EPSILON))
    bits = [data[0] >> 1 & 1, data[0] & 1]
    return [bit if random.random() < p else 1 - bit for bit in bits]
