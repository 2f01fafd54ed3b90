"""The bracket of `measure` contains the least budget of fifty functions, which is known by hand or by an enumeration here."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import dpspec as dp

COUNTS = {"space": dp.integer_counts(length=2), "distance": "l1", "standard": "pure"}
COUNT = {**COUNTS, "space": dp.integer_counts(length=1)}
BITS = {"space": dp.bit_vectors(length=3), "distance": "hamming-ordered", "standard": "pure"}
LISTS = {"space": dp.bounded_integers(low=0, high=1, ordered=False), "distance": "symmetric-difference", "standard": "pure"}


# --- counts ---------------------------------------------------------------------------------------


def each_count(x, rng):
    return [c + rng.laplace(scale=2.0) for c in x]


def one_count(x, rng):
    return x[0] + rng.laplace(scale=4.0)


def total(x, rng):
    return sum(x) + rng.laplace()


def largest(x, rng):
    return max(x) + rng.laplace()


def doubled(x, rng):
    return 2 * x[0] + rng.laplace()


def difference(x, rng):
    return x[0] - x[1] + rng.laplace()


def rounded(x, rng):
    return round(x[0] + rng.laplace())


def binned(x, rng):
    return math.floor((x[0] + rng.laplace()) / 2)


def above_three(x, rng):
    return x[0] + rng.laplace() > 3


def clamped(x, rng):
    return min(max(x[0] + rng.laplace(), 0.0), 10.0)


def geometric_difference(x, rng):
    return x[0] + int(rng.geometric(0.5)) - int(rng.geometric(0.5))


def released_twice(x, rng):
    return x[0] + rng.laplace(scale=2.0), x[0] + rng.laplace(scale=2.0)


def mean_of_two_noises(x, rng):
    return x[0] + (rng.laplace() + rng.laplace()) / 2


def normal(x, rng):
    return x[0] + rng.normal()


def uniform(x, rng):
    return x[0] + rng.uniform(-1, 1)


def one_sided(x, rng):
    return x[0] + rng.exponential()


def capped(x, rng):
    return min(x[0], 5) + rng.laplace()


def parity(x, rng):
    return x[0] % 2 + rng.laplace()


def halved(x, rng):
    return x[0] // 2 + rng.laplace()


def squared(x, rng):
    return x[0] * x[0] + rng.laplace()


def capped_and_squared(x, rng):
    return min(x[0], 3) ** 2 + rng.laplace()


def kept_by_chance(x, rng):
    return x[0] if rng.random() < 0.5 else 0


def constant(x, rng):
    return 7


def noise_alone(x, rng):
    return rng.laplace()


def clipped_counts(x, rng):
    return np.clip(x, 0, 1).sum() + rng.laplace()


def each_normal(x, rng):
    return [c + rng.normal(scale=2.0) for c in x]


def normal_of_scale_four(x, rng):
    return x[0] + rng.normal(scale=4.0)


# --- bits -----------------------------------------------------------------------------------------


def each_response(x, rng):
    return [b ^ int(rng.random() < 0.25) for b in x]


def noisy_sum(x, rng):
    return sum(x) + rng.laplace()


def geometric_sum(x, rng):
    return sum(x) + int(rng.geometric(0.5)) - int(rng.geometric(0.5))


def any_bit(x, rng):
    return int(any(x)) ^ int(rng.random() < 0.25)


def forced_response(x, rng):
    return x[0] if rng.random() < 0.5 else int(rng.random() < 0.5)


def parity_of_bits(x, rng):
    return (x[0] ^ x[1] ^ x[2]) ^ int(rng.random() < 0.25)


def first_bit(x, rng):
    return x[0]


def majority(x, rng):
    return int(sum(x) > 1) ^ int(rng.random() < 1 / 4)


def bit_of_someone(x, rng):
    return x[int(rng.integers(3))] ^ int(rng.random() < 0.25)


def shuffled_responses(x, rng):
    return tuple(rng.permutation([b ^ int(rng.random() < 0.25) for b in x]).tolist())


def sum_of_responses(x, rng):
    return sum(b ^ int(rng.random() < 0.25) for b in x)


def noisy_mean(x, rng):
    return sum(x) / 3 + rng.laplace(scale=1 / 3)


def exponential_choice(x, rng):
    weights = [math.exp((3 - sum(x)) / 2), math.exp(sum(x) / 2)]
    return int(rng.random() < weights[1] / (weights[0] + weights[1]))


def noisy_majority(x, rng):
    return sum(x) + rng.laplace() > 3 - sum(x) + rng.laplace()


def sampled_sum(x, rng):
    return sum(b for b in x if rng.random() < 0.5) + int(rng.geometric(0.5)) - int(rng.geometric(0.5))


# --- lists of any length --------------------------------------------------------------------------


def length(x, rng):
    return len(x) + rng.laplace()


def sum_of_list(x, rng):
    return sum(x) + rng.laplace()


def length_and_sum(x, rng):
    return len(x) + rng.laplace(scale=2.0), sum(x) + rng.laplace(scale=2.0)


def histogram(x, rng):
    return [x.count(value) + rng.laplace() for value in (0, 1)]


def largest_of_list(x, rng):
    return max(x, default=0) + rng.laplace()


def median(x, rng):
    return (sorted(x)[len(x) // 2] if x else 0) + rng.laplace()


def kinds(x, rng):
    return len(set(x)) + rng.laplace()


def ones(x, rng):
    return sum(1 for value in x if value > 0) + rng.laplace()


# --- what is known --------------------------------------------------------------------------------


def of_responses() -> float:
    """The largest log ratio of the number of ones among three responses, right with probability 3/4, by enumeration."""

    def law(bits: tuple[int, ...]) -> list[float]:
        found = [0.0] * 4
        for flips in itertools.product((0, 1), repeat=3):
            found[sum(b ^ f for b, f in zip(bits, flips, strict=True))] += math.prod((3, 1)[f] for f in flips) / 64
        return found

    laws = [law(tuple(int(i < k) for i in range(3))) for k in range(4)]
    return max(abs(math.log(p / q)) for a, b in itertools.pairwise(laws) for p, q in zip(a, b, strict=True))


def epsilon_of_normal(sigma: float, delta: float) -> float:
    """The least epsilon of Gaussian noise on a count at a delta (Balle and Wang 2018, Theorem 8), by bisection."""

    def spent(epsilon: float) -> float:
        a, b = 1 / (2 * sigma) - epsilon * sigma, -1 / (2 * sigma) - epsilon * sigma
        return 0.5 * math.erfc(-a / math.sqrt(2)) - math.exp(epsilon) * 0.5 * math.erfc(-b / math.sqrt(2))

    low, high = 0.0, 50.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if spent(middle) > delta else (low, middle)
    return high


NEAR = {"distance": dp.within_distance(of="l1", most=1)}
KNOWN = {
    each_count: (COUNTS, 1 / 2), one_count: (COUNT, 1 / 4), total: (COUNTS, 1), largest: (COUNTS, 1), doubled: (COUNT, 2),
    difference: (COUNTS, 1), rounded: (COUNT, 1), binned: (COUNT, 1), above_three: (COUNT, 1), clamped: (COUNT, 1),
    geometric_difference: (COUNT, math.log(2)), released_twice: (COUNT, 1), mean_of_two_noises: (COUNT, 2),
    normal: (COUNT, math.inf), uniform: (COUNT, math.inf), one_sided: (COUNT, math.inf), capped: (COUNT, 1), parity: (COUNT, 1),
    halved: (COUNT, 1), squared: (COUNT, math.inf), capped_and_squared: (COUNT, 5), kept_by_chance: (COUNT, math.inf),
    constant: (COUNT, 0), noise_alone: (COUNT, 0), clipped_counts: (COUNTS, 1),
    each_normal: ({**COUNTS, "distance": "l2", "standard": "zero-concentrated"}, 1 / 8),
    normal_of_scale_four: ({**COUNT, **NEAR, "standard": "approximate", "delta": "1e-5"}, epsilon_of_normal(4, 1e-5)),
    each_response: (BITS, math.log(3)), noisy_sum: (BITS, 1), geometric_sum: (BITS, math.log(2)), any_bit: (BITS, math.log(3)),
    forced_response: (BITS, math.log(3)), parity_of_bits: (BITS, math.log(3)), first_bit: (BITS, math.inf),
    majority: (BITS, math.log(3)), bit_of_someone: (BITS, math.log(5 / 3)), shuffled_responses: (BITS, of_responses()),
    sum_of_responses: (BITS, of_responses()), noisy_mean: (BITS, 1),
    exponential_choice: (BITS, math.log((1 + math.exp(1.5)) / (1 + math.exp(0.5)))),
    noisy_majority: (BITS, 2 + math.log(3 / 5)), sampled_sum: (BITS, math.log(1.5)),
    length: (LISTS, 1), sum_of_list: (LISTS, 1), length_and_sum: (LISTS, 1), histogram: (LISTS, 1), largest_of_list: (LISTS, 1),
    median: (LISTS, 1), kinds: (LISTS, 1), ones: (LISTS, 1),
}  # fmt: skip
"""The blocks and the least budget of each."""


def bracket(function, blocks, draws):
    found = dp.measure(function, **blocks, seconds=600, draws=draws).value  # draws end it, not seconds
    return float(found.budget.lower), float(found.budget.upper)


@pytest.mark.spread(1, slow=1)
@pytest.mark.parametrize("function", [each_count, capped, each_response, first_bit, histogram])
def test_the_bracket_is_the_least_budget(function):
    blocks, known = KNOWN[function]
    assert bracket(function, blocks, 5_000) == pytest.approx((known, known), rel=1e-12)


@pytest.mark.statistical
@pytest.mark.parametrize("function", [
    pytest.param(function, marks=pytest.mark.long if place % 24 else pytest.mark.slow) for place, function in enumerate(KNOWN)
], ids=lambda function: function.__name__)
def test_the_bracket_contains_the_least_budget(function):
    """A lower end by draws is wrong with probability 1e-9 at most, 5e-8 for all."""
    blocks, known = KNOWN[function]
    low, high = bracket(function, blocks, 20_000)
    assert low <= known * (1 + 1e-12)
    assert high >= known * (1 - 1e-12)
