"""Plain code that asks by an error, an infinity or a pattern what a count is: nothing of it is read off as if it did not ask.

Each function below tells one number of records from the others, seventeen mostly, which no dataset of a second opinion has.
"""

from __future__ import annotations

import copy
import math
from collections import Counter

import numpy as np
import pytest
from dpspec_code.automatic.symbolic import NoConstant, WholeProof, whole_tree
from dpspec_code.sampled.calls import Calls

from dpspec.base.errors import DpspecError
from dpspec.blocks.lists import ValueLists
from dpspec.verifier.verdict import Outcome
from tests.attacks.plain import spec_of

LISTS = spec_of(ValueLists(values=(0, 1), ordered=False), 1, distance="symmetric-difference")


def outcome(function):
    """The outcome of the proof for all datasets; None where there is none."""
    try:
        return WholeProof.of(whole_tree(function, LISTS, most_paths=300), LISTS).verdict().outcome
    except (NoConstant, DpspecError):
        return None


# --- functions without a value ----------------------------------------------------------------------


def quotient(x, rng):
    1 / (len(x) - 17)
    return rng.laplace()


def quotient_in_try(x, rng):
    try:
        sum(x) / (len(x) - 17)
    except ZeroDivisionError:
        return 7 + rng.laplace()
    return rng.laplace()


def negative_power(x, rng):
    (len(x) - 17) ** -1
    return rng.laplace()


def root(x, rng):
    math.sqrt(17 - len(x))
    return rng.laplace()


def root_by_power(x, rng):
    math.pow(17 - len(x), 0.5)
    return rng.laplace()


def logarithm(x, rng):
    try:
        math.log(17 - sum(x))
    except ValueError:
        return 7 + rng.laplace()
    return rng.laplace()


def other_logarithms(x, rng):
    math.log10(len(x) + 1)
    math.log1p(16 - len(x))
    return rng.laplace()


def too_large(x, rng):
    math.exp(len(x))
    return rng.laplace()


def too_large_product(x, rng):
    int(math.exp(min(len(x), 17) * 40) * math.exp(min(len(x), 17) * 40))
    return rng.laplace()


def of_noise(x, rng):
    try:
        math.log(len(x) + rng.laplace())
    except ValueError:
        return 0
    return 1


def rounded_noise(x, rng):
    try:
        1 / int(len(x) + rng.laplace())
    except ZeroDivisionError:
        return 7
    return 0


def infinite(x, rng):
    return 7 * (np.float64(1) / (len(x) - 17) == np.inf) + rng.laplace()


def rounded_logarithm(x, rng):
    int(np.log(1 + max(17 - len(x), -1)))
    return rng.laplace()


def raised_by_numpy(x, rng):
    try:
        with np.errstate(all="raise"):
            np.log(len(x) + rng.laplace())
    except FloatingPointError:
        return 7
    return 0


ASKING = [
    quotient, quotient_in_try, negative_power, root, root_by_power, logarithm, other_logarithms, too_large, too_large_product,
    of_noise, rounded_noise, infinite, rounded_logarithm, raised_by_numpy,
]  # fmt: skip


@pytest.mark.parametrize("function", ASKING, ids=lambda function: function.__name__)
def test_a_function_that_may_have_no_value_is_not_read_as_if_it_had_one(function) -> None:
    assert outcome(function) in (None, Outcome.REFUTED)


def entries(x, rng):
    return sum(1 / (v + 1) for v in x) + rng.laplace()


def squared(x, rng):
    return (len(x) + rng.laplace()) ** 2


def weights(x, rng):
    scores = [x.count(0), x.count(1)]
    chances = [math.exp((score - max(scores)) / 2) for score in scores]
    return rng.choice(2, p=[one / sum(chances) for one in chances])


@pytest.mark.parametrize("function", [entries, squared, weights], ids=lambda function: function.__name__)
def test_a_function_with_a_value_wherever_it_is_asked_is_verified(function) -> None:
    assert outcome(function) is Outcome.VERIFIED


# --- patterns ---------------------------------------------------------------------------------------


def list_pattern(x, rng):
    match x:
        case [1, 1, 0, 1, 0, 0, 1]:
            return 7 + rng.laplace()
    return rng.laplace()


def open_pattern(x, rng):
    match sorted(x):
        case [_, _, _, *_]:
            return 7 + rng.laplace()
    return rng.laplace()


def pattern_of_a_range(x, rng):
    match range(len(x)):
        case [0, 1, 2, 3]:
            return 7 + rng.laplace()
    return rng.laplace()


def pattern_of_counts(x, rng):
    match Counter(x):
        case {0: 8, 1: 9}:
            return 7 + rng.laplace()
    return rng.laplace()


def pattern_inside(x, rng):
    match {"a": (1, [x])}:
        case {"a": (1, [[0, 1, 1]])}:
            return 7 + rng.laplace()
    return rng.laplace()


PATTERNS = [list_pattern, open_pattern, pattern_of_a_range, pattern_of_counts, pattern_inside]


@pytest.mark.parametrize("function", PATTERNS, ids=lambda function: function.__name__)
def test_a_pattern_that_the_dataset_may_match_is_not_read_as_if_it_did_not(function) -> None:
    assert outcome(function) in (None, Outcome.REFUTED)


# --- copies of the generator ------------------------------------------------------------------------


def from_a_copy(x, rng):
    return len(x) + copy.deepcopy(rng).laplace()


def put_back(x, rng):
    before = rng.bit_generator.state
    noisy = len(x) + rng.laplace()
    rng.bit_generator.state = before
    return noisy


def jumped(x, rng):
    return len(x) + np.random.Generator(rng.bit_generator.jumped()).laplace()


@pytest.mark.parametrize("function", [from_a_copy, put_back, jumped], ids=lambda function: function.__name__)
def test_calls_of_a_function_that_draws_from_a_copy_of_its_generator_are_independent(function) -> None:
    """They would all draw the same from one generator, and each dataset would have one output."""
    calls = Calls(function=function, space=LISTS.space, claim="copies", seed=0, draws=100)
    found = calls.outputs((0,), np.random.Generator(calls.generator((0,), "bet")), 20, observe=float)
    assert len(set(found)) == 20


def test_a_function_that_draws_nothing_leaves_its_generator_untouched() -> None:
    calls = Calls(function=lambda x, rng: len(x), space=LISTS.space, claim="copies", seed=0, draws=100)
    assert calls.ignores((0,))
