"""What surrounds the noise in whole programs: checks, messages, samples, loops that try again, post-processing."""

from __future__ import annotations

import json
import math
import random

import numpy as np

EPSILON = 1.0


def composed_report(data):
    third = EPSILON / 3
    n = len(data) + np.random.laplace(0, 1 / third)
    total = sum(data) + np.random.laplace(0, 3 / third)
    bins = [data.count(value) + np.random.laplace(0, 1 / third) for value in (0, 1, 2, 3)]
    return {"n": n, "mean": total / max(n, 1.0), "bins": bins}


def report_as_json(data):
    noisy = round(float(len(data) + np.random.laplace(0, 1 / EPSILON)))
    return json.dumps({"count": noisy})


def sampled_count(data):
    sample = [age for age in data if random.random() < 0.5]
    return len(sample) + np.random.laplace(0, 1 / EPSILON)


def sampled_count_in_a_loop(data):
    count = 0
    for _ in data:
        if np.random.random() < 0.25:
            count += 1
    return count + np.random.laplace(0, 1 / EPSILON)


def detail_where_there_are_many(data):
    half = EPSILON / 2
    n = len(data) + np.random.laplace(0, 1 / half)
    if n < 5:
        return n, None
    return n, [data.count(value) + np.random.laplace(0, 1 / half) for value in (0, 1, 2, 3)]


def consistent_tree(data):
    half = EPSILON / 2
    total = len(data) + np.random.laplace(0, 1 / half)
    left = sum(1 for age in data if age < 2) + np.random.laplace(0, 1 / half)
    right = sum(1 for age in data if age >= 2) + np.random.laplace(0, 1 / half)
    gap = (total - left - right) / 3
    return total - gap, left + gap, right + gap


def sorted_noisy_bins(data):
    noisy = [data.count(value) + np.random.laplace(0, 1 / EPSILON) for value in (0, 1, 2, 3)]
    noisy.sort()
    return noisy


def shuffled_responses(data):
    answers = [bit if random.random() < 0.75 else 1 - bit for bit in data]
    random.shuffle(answers)
    return answers


def checked_parameters(data):
    epsilon, sensitivity = EPSILON, 1
    if epsilon <= 0 or sensitivity < 0:
        raise ValueError("epsilon and sensitivity must be positive")
    return len(data) + np.random.laplace(0, sensitivity / epsilon)


def empty_treated_as_zero(data):
    n = len(data) if data else 0
    return n + np.random.laplace(0, 1 / EPSILON)


def difference_of_groups(data):
    young = sum(1 for age in data if age < 2)
    old = len(data) - young
    return young - old + np.random.laplace(0, 1 / EPSILON)


def answers_within_a_budget(data):
    budget, spent, answers = 1.0, 0.0, []
    for threshold in (1, 2, 3):
        cost = 0.5
        if spent + cost > budget:
            answers.append(None)
            continue
        spent += cost
        answers.append(sum(1 for age in data if age >= threshold) + np.random.laplace(0, 1 / cost))
    return answers


def truncated_laplace(data):
    scale, radius = 1.0, 6.0
    while True:
        noise = np.random.laplace(0, scale)
        if abs(noise) <= radius:
            return len(data) + noise


def best_of_noisy_candidates(data):
    scores = [data.count(value) + np.random.laplace(0, 3 / EPSILON) for value in (0, 1, 2)]
    return max(scores)


def moving_average_of_noisy_bins(data):
    noisy = [data.count(value) + np.random.laplace(0, 1 / EPSILON) for value in (0, 1, 2, 3)]
    return [(noisy[i] + noisy[i + 1]) / 2 for i in range(3)]


def rounded_up(data):
    total = 0
    for age in data:
        total += 1 if age > 1 else 0
    noise = np.random.laplace(0, 1 / EPSILON)
    return math.ceil(total + noise)


def true_count_printed(data):
    print(f"true count: {len(data)}")
    return len(data) + np.random.laplace(0, 1 / EPSILON)


def exception_on_no_record(data):
    if len(data) == 0:
        raise ValueError("no records")
    return len(data) + np.random.laplace(0, 1 / EPSILON)


def exact_zero_on_no_record(data):
    if not data:
        return 0
    return len(data) + np.random.laplace(0, 1 / EPSILON)


def error_with_the_data(data):
    noisy = len(data) + np.random.laplace(0, 1 / EPSILON)
    if noisy < 0:
        raise RuntimeError(f"negative result for {len(data)} records")
    return noisy


def one_noise_for_each_record(data):
    return [age + np.random.laplace(0, 3 / EPSILON) for age in data]


def tries_until_close(data):
    while True:
        noisy = len(data) + np.random.laplace(0, 1 / EPSILON)
        if abs(noisy - len(data)) < 3:
            return noisy


def both_truth_and_noise(data):
    return {"true": len(data), "private": len(data) + np.random.laplace(0, 1 / EPSILON)}


def error_beside_the_noisy_count(data):
    noisy = len(data) + np.random.laplace(0, 1 / EPSILON)
    return noisy, abs(noisy - len(data))


def budget_by_size(data):
    epsilon = EPSILON * (1 + len(data) / 10)
    return len(data) + np.random.laplace(0, 1) / epsilon


def stops_when_exact_is_small(data):
    if sum(data) < 4:
        return None
    return sum(data) + np.random.laplace(0, 3 / EPSILON)


def every_group_at_the_full_budget(data):
    return [sum(1 for age in data if age >= low) + np.random.laplace(0, 1 / EPSILON) for low in (0, 1, 2, 3)]


def sample_of_true_records(data):
    return sorted(age for age in data if random.random() < 0.1)
