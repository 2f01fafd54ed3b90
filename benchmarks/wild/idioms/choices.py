"""Selections: the exponential mechanism, report noisy max, permute and flip, the best few."""

from __future__ import annotations

import math
import random

import numpy as np

EPSILON = 1.0
DOMAIN = [0, 1, 2, 3]
LETTERS = ["a", "b", "c"]


def score(data, option):
    return data.count(option)


def exponential(data, options, utility, sensitivity, epsilon):
    scores = [utility(data, option) for option in options]
    probabilities = [np.exp(epsilon * s / (2 * sensitivity)) for s in scores]
    probabilities = probabilities / np.linalg.norm(probabilities, ord=1)
    return np.random.choice(options, 1, p=probabilities)[0]


def mode_by_exponential(data):
    return int(exponential(data, DOMAIN, score, 1, EPSILON))


def mode_by_weights(data):
    weights = [math.exp(EPSILON * data.count(value) / 2) for value in DOMAIN]
    total = sum(weights)
    return int(np.random.choice(4, p=[weight / total for weight in weights]))


def mode_by_stable_weights(data):
    scores = np.array([data.count(value) for value in DOMAIN], dtype=float)
    weights = np.exp(EPSILON / 2 * (scores - scores.max()))
    return int(np.random.choice(len(DOMAIN), p=weights / weights.sum()))


def mode_by_monotone_weights(data):
    counts = np.bincount(data, minlength=4)
    weights = np.exp(EPSILON * (counts - np.max(counts)))
    return int(np.random.choice(4, p=weights / np.sum(weights)))


def mode_by_choices(data):
    weights = [math.exp(EPSILON * data.count(letter) / 2) for letter in LETTERS]
    return random.choices(LETTERS, weights=weights)[0]


def mode_by_cumulated_weights(data):
    weights = [math.exp(EPSILON * data.count(value) / 2) for value in DOMAIN]
    cumulated = np.cumsum([weight / sum(weights) for weight in weights])
    return DOMAIN[int(np.searchsorted(cumulated, np.random.rand()))]


def noisy_max_laplace(answers):
    noisy = [answer + np.random.laplace(0, 2 / EPSILON) for answer in answers]
    return int(np.argmax(noisy))


def noisy_max_of_index(answers):
    noisy = [answer + np.random.laplace(0, 2 / EPSILON) for answer in answers]
    return noisy.index(max(noisy))


def noisy_max_of_counts(data):
    noisy = [data.count(value) + np.random.laplace(0, 1 / EPSILON) for value in DOMAIN]
    return DOMAIN[int(np.argmax(noisy))]


def noisy_max_of_letters(data):
    noisy = {letter: data.count(letter) + np.random.laplace(0, 1 / EPSILON) for letter in LETTERS}
    return max(noisy, key=noisy.get)


def noisy_max_gumbel(answers):
    return int(np.argmax(np.random.gumbel(answers, scale=2 / EPSILON)))


def noisy_max_exponential(answers):
    noisy = np.array(answers) + np.random.exponential(scale=2 / EPSILON, size=len(answers))
    return int(np.argmax(noisy))


def noisy_min(answers):
    noisy = [answer + np.random.laplace(0, 2 / EPSILON) for answer in answers]
    return int(np.argmin(noisy))


def noisy_max_by_loop(answers):
    best, place = -math.inf, None
    for i, answer in enumerate(answers):
        noisy = answer + np.random.laplace(0, 2 / EPSILON)
        if noisy > best:
            best, place = noisy, i
    return place


def permute_and_flip(answers):
    top = max(answers)
    order = list(range(len(answers)))
    random.shuffle(order)
    for i in order:
        if random.random() <= math.exp(EPSILON * (answers[i] - top) / 2):
            return i
    return None


def best_two_in_turn(answers):
    left = list(range(len(answers)))
    chosen = []
    for _ in range(2):
        noisy = [answers[i] + np.random.laplace(0, 4 / EPSILON) for i in left]
        best = left[int(np.argmax(noisy))]
        chosen.append(best)
        left.remove(best)
    return chosen


def best_two_by_one_gumbel(answers):
    noisy = np.array(answers) + np.random.gumbel(0, 4 / EPSILON, size=len(answers))
    return np.argsort(-noisy)[:2].tolist()


def best_with_fresh_noise(answers):
    noisy = [answer + np.random.laplace(0, 4 / EPSILON) for answer in answers]
    best = int(np.argmax(noisy))
    return best, answers[best] + np.random.laplace(0, 2 / EPSILON)


def worst_approximated_query(data):
    estimate = [2.0, 2.0, 2.0, 2.0]
    errors = [abs(data.count(value) - estimate[value]) for value in DOMAIN]
    weights = np.exp(np.array(errors) * EPSILON / 2)
    return int(np.random.choice(4, p=weights / weights.sum()))


def marital_status_of_most(data):
    options = LETTERS
    utilities = [sum(1 for entry in data if entry == option) for option in options]
    weights = [math.exp(EPSILON * u / 2) for u in utilities]
    u = random.random() * sum(weights)
    for option, weight in zip(options, weights):
        u -= weight
        if u <= 0:
            return option
    return options[-1]


def exponential_without_the_factor_two(answers):
    weights = np.exp(EPSILON * np.array(answers, dtype=float))
    return int(np.random.choice(len(answers), p=weights / weights.sum()))


def noisy_max_with_its_value(answers):
    noisy = [answer + np.random.laplace(0, 2 / EPSILON) for answer in answers]
    best = int(np.argmax(noisy))
    return best, noisy[best]


def noisy_max_value(answers):
    return max(answer + np.random.laplace(0, 2 / EPSILON) for answer in answers)


def noisy_max_at_half_the_noise(answers):
    noisy = [answer + np.random.laplace(0, 1 / EPSILON) for answer in answers]
    return int(np.argmax(noisy))


def best_two_at_the_budget_of_one(answers):
    noisy = np.array(answers) + np.random.gumbel(0, 2 / EPSILON, size=len(answers))
    return np.argsort(-noisy)[:2].tolist()


def clear_winner_exactly(answers):
    ordered = sorted(answers)
    if ordered[-1] - ordered[-2] > 5:
        return answers.index(ordered[-1])
    return int(np.argmax([answer + np.random.laplace(0, 2 / EPSILON) for answer in answers]))


def rounded_probabilities(data):
    weights = np.array([math.exp(EPSILON * data.count(value) / 2) for value in DOMAIN])
    probabilities = np.round(weights / weights.sum(), 1)
    return int(np.random.choice(4, p=probabilities / probabilities.sum()))


def mode_with_its_true_count(data):
    noisy = [data.count(value) + np.random.laplace(0, 1 / EPSILON) for value in DOMAIN]
    best = int(np.argmax(noisy))
    return best, data.count(best)


def mode_of_the_present(data):
    options = sorted(set(data)) or [0]
    weights = np.exp(EPSILON / 2 * np.array([data.count(value) for value in options]))
    return int(np.random.choice(options, p=weights / weights.sum()))


def temperature_is_epsilon(answers):
    epsilon = 0.25
    weights = np.exp(np.array(answers, dtype=float) / (2 * epsilon))
    return int(np.random.choice(len(answers), p=weights / weights.sum()))


def uniform_noise_max(answers):
    return int(np.argmax([answer + np.random.uniform(0, 2 / EPSILON) for answer in answers]))
