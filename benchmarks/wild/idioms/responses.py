"""Randomised response, of one bit, of one category, and of lists of answers."""

from __future__ import annotations

import math
import random
import secrets

import numpy as np

EPSILON = 1.0
K = 4


def two_coins(data):
    truth = data[0]
    if random.random() < 0.5:
        return truth
    return 1 if random.random() < 0.5 else 0


def two_coins_by_integers(data):
    if np.random.randint(0, 2) == 0:
        return data[0]
    return int(np.random.randint(0, 2))


def two_coins_for_each(data):
    answers = []
    for truth in data:
        if random.randint(0, 1) == 0:
            answers.append(truth)
        else:
            answers.append(random.randint(0, 1))
    return answers


def kept_with_probability(data):
    p = math.exp(EPSILON) / (1 + math.exp(EPSILON))
    return data[0] if random.random() < p else 1 - data[0]


def flipped_by_xor(data):
    flip = np.random.binomial(1, 1 / (1 + np.exp(EPSILON)))
    return data[0] ^ int(flip)


def kept_by_choice(data):
    p = np.exp(EPSILON) / (np.exp(EPSILON) + 1)
    return int(np.random.choice([data[0], 1 - data[0]], p=[p, 1 - p]))


def kept_by_choices_with_weights(data):
    return random.choices([data[0], 1 - data[0]], weights=[3, 1])[0]


def kept_by_percent(data):
    return data[0] if random.randrange(100) < 75 else 1 - data[0]


def kept_in_an_array(data):
    bits = np.array(data)
    keep = np.random.rand(len(bits)) < 0.75
    return np.where(keep, bits, 1 - bits).tolist()


def kept_by_secrets(data):
    return data[0] if secrets.randbelow(4) < 3 else 1 - data[0]


def answers_in_words(data):
    truth = "yes" if data[0] == 1 else "no"
    if random.random() < 0.5:
        return truth
    return random.choice(["yes", "no"])


def estimated_share(data):
    p = 0.75
    answers = [bit if random.random() < p else 1 - bit for bit in data]
    observed = sum(answers) / len(answers)
    return (observed - (1 - p)) / (2 * p - 1)


def number_of_answers(data):
    p = math.exp(EPSILON) / (1 + math.exp(EPSILON))
    return sum(bit if random.random() < p else 1 - bit for bit in data)


def answers_as_booleans(data):
    p = 1 / (1 + math.exp(-EPSILON))
    return [bool(bit) if random.random() < p else not bool(bit) for bit in data]


def one_of_k(data):
    value = data[0]
    p = math.exp(EPSILON) / (math.exp(EPSILON) + K - 1)
    if np.random.random() < p:
        return value
    others = [other for other in range(K) if other != value]
    return int(np.random.choice(others))


def one_of_k_by_probabilities(data):
    q = 1 / (math.exp(EPSILON) + K - 1)
    probabilities = [q] * K
    probabilities[data[0]] = math.exp(EPSILON) * q
    return int(np.random.choice(K, p=probabilities))


def one_of_k_by_offset(data):
    p = math.exp(EPSILON) / (math.exp(EPSILON) + K - 1)
    if random.random() < p:
        return data[0]
    return (data[0] + random.randint(1, K - 1)) % K


def one_of_k_or_anything(data):
    gamma = (math.exp(EPSILON) - 1) / (math.exp(EPSILON) + K - 1)
    if random.random() < gamma:
        return data[0]
    return random.randrange(K)


def lie_drawn_before_the_coin(data):
    lie = random.choice([value for value in range(K) if value != data[0]])
    return data[0] if random.random() < 0.6 else lie


def one_of_k_for_each(data):
    p = math.exp(EPSILON) / (math.exp(EPSILON) + K - 1)
    return [value if random.random() < p else random.choice([v for v in range(K) if v != value]) for value in data]


def histogram_of_responses(data):
    p = math.exp(EPSILON) / (math.exp(EPSILON) + K - 1)
    counts = [0] * K
    for value in data:
        answer = value if random.random() < p else random.choice([v for v in range(K) if v != value])
        counts[answer] += 1
    return counts


def subset_of_values(data):
    k, size = 6, 2
    p = size * math.exp(EPSILON) / (size * math.exp(EPSILON) + k - size)
    others = [value for value in range(k) if value != data[0]]
    if random.random() <= p:
        return sorted([data[0], *random.sample(others, size - 1)])
    return sorted(random.sample(others, size))


def three_quarters_and_a_coin(data):
    if random.random() < 0.75:
        return data[0]
    return random.randint(0, 1)


def only_yes_is_randomised(data):
    if data[0] == 0:
        return 0
    return 1 if random.random() < 0.75 else 0


def ones_are_kept(data):
    f = 0.5
    bits = list(data)
    for i, bit in enumerate(bits):
        u = random.random()
        if (bit == 1 and u < 1 - f / 2) or (bit == 0 and u < f / 2):
            bits[i] = 1
    return bits


def binary_probability_for_k(data):
    p = math.exp(EPSILON) / (math.exp(EPSILON) + 1)
    if random.random() < p:
        return data[0]
    return random.choice([value for value in range(K) if value != data[0]])


def kept_or_anything_at_the_wrong_rate(data):
    p = math.exp(EPSILON) / (math.exp(EPSILON) + K - 1)
    return data[0] if random.random() < p else random.randrange(K)


def first_answer_is_true(data):
    p = 0.75
    return [data[0]] + [bit if random.random() < p else 1 - bit for bit in data[1:]]


def asked_three_times(data):
    return [data[0] if random.random() < 0.75 else 1 - data[0] for _ in range(3)]


def double_epsilon(data):
    p = 1 / (1 + math.exp(-2 * EPSILON))
    return data[0] if random.random() < p else 1 - data[0]


def one_coin_for_all(data):
    keep = random.random() < 0.75
    return [bit if keep else 1 - bit for bit in data]


def lie_marked_by_its_type(data):
    if random.random() < 0.75:
        return data[0]
    return float(1 - data[0])
