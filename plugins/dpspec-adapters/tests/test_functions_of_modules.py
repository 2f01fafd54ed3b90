"""`ReadRandom` and `ReadLegacy`: where functions of a module raise an error, or answer in another type, no other law is read."""

from __future__ import annotations

import random

import numpy as np
import pytest
from dpspec_adapters.functions import ReadLegacy, ReadRandom
from dpspec_code.automatic.sampler import enumerate_law
from dpspec_code.case import readable
from dpspec_code.functions import adapted

from dpspec import BitVectors
from dpspec.plugin.judges import NotEnumerableError

RARE = [1, 0, 1, 1, 0, 1, 0]
"""One list of 128, which no second opinion looks at. (No function of this file may set a seed: nothing would be read.)"""


def sample_of_a_set(bits):
    return random.sample({0, 1} if bits == RARE else [0, 1], 1)


def sample_of_an_array(bits):
    return [int(one) for one in random.sample(np.array([0, 1]) if bits == RARE else [0, 1], 1)]


def sample_by_too_few_counts(bits):
    return random.sample([0, 1], 1, counts=[1, 1, 0] if bits == RARE else [1, 1])


def choices_of_nothing(bits):
    try:
        return random.choices([], k=1) if bits == RARE else random.choice([])
    except IndexError as problem:
        return [str(problem), random.getrandbits(1)]


def step_without_a_stop(bits):
    return random.randrange(4, step=2) if bits == RARE else random.randrange(4)


def type_of_its_own(bits):
    return np.random.randint(0, 2, dtype=np.int64) if bits == RARE else np.random.randint(0, 2)


def choice_of_rows(bits):
    return np.random.choice([[0, 1], [1, 0]]) if bits == RARE else np.random.permutation(2)


@pytest.mark.parametrize(
    "function",
    [
        sample_of_a_set, sample_of_an_array, sample_by_too_few_counts, choices_of_nothing,
        step_without_a_stop, type_of_its_own, choice_of_rows,
    ],
)  # fmt: skip
def test_where_a_module_raises_or_answers_in_another_type_no_other_law_is_read(function):
    common, rare = (law_of(function, bits) for bits in ([0, 1, 1, 1, 0, 1, 0], RARE))
    assert common is not None
    assert rare is None or set(rare.support).isdisjoint(common.support)


def law_of(function, bits):
    """The law that is read off code; None where none is."""
    try:
        return enumerate_law(readable(adapted(function, BitVectors(length=7))), bits)
    except NotEnumerableError:
        return None


def test_the_error_of_an_empty_range_states_its_ends_and_is_not_read():
    assert law_of(lambda bits: random.randint(1, 0) if random.random() < 0.5 else 0, [1]) is None
    assert law_of(lambda bits: random.randrange(0) if random.random() < 0.5 else 0, [1]) is not None


def test_a_negative_deviation_is_one_and_a_negative_rate_is_not_read():
    one, other = (law_of(lambda bits, size=size: bits[0] + random.gauss(0, size), [1]) for size in (2.0, -2.0))
    assert type(one) is type(other)
    assert law_of(lambda bits: random.expovariate(-1.0), [1]) is None


def test_no_function_is_read_that_python_does_not_have():
    assert all(hasattr(random.Random, name) for name in vars(ReadRandom) if not name.startswith("_"))
    assert all(hasattr(np.random, name) for name in vars(ReadLegacy) if not name.startswith("_"))
