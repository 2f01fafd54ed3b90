"""Code that draws from the generators of modules, or makes its own: read as if it were handed one, where nothing is seeded."""

from __future__ import annotations

import random
from functools import partial
from random import gauss as drawn_by_python

import numpy as np
import pytest
from numpy.random import laplace as drawn_elsewhere

import dpspec as dp
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.verdict import Outcome

pytestmark = pytest.mark.usefixtures("in_this_process")

CLAIM = dp.spec(space=dp.value_lists(values=[0, 1, 2]), distance="add-remove", standard="pure", epsilon=1)
KEPT = np.random.default_rng()
FIXED = random.Random(3)


def legacy(x):
    return len(x) + np.random.laplace(0, 1.0)


def legacy_of_half(x):
    return len(x) + np.random.laplace(0, 0.5)


def located(x):
    return np.random.laplace(np.bincount(x, minlength=3), 1.0)


def located_of_half(x):
    return np.random.laplace(loc=np.bincount(x, minlength=3), scale=0.5)


def own(x, scale=1.0):
    rng = np.random.default_rng()
    return len(x) + rng.laplace(scale=scale)


def own_of_half(x, scale=0.5):
    rng = np.random.default_rng()
    return len(x) + rng.laplace(scale=scale)


def two_of_their_own(x):
    return [np.random.default_rng().laplace(scale=2) + len(x), np.random.default_rng().laplace(scale=2) + len(x)]


def two_too_small(x):
    return [np.random.default_rng().laplace() + len(x), np.random.default_rng().laplace() + len(x)]


def of_python(x):
    return len(x) + random.expovariate(1) - random.expovariate(1)


def of_python_of_half(x):
    return len(x) + random.expovariate(2) - random.expovariate(2)


def mixed(x):
    return [len(x) + np.random.laplace(scale=2), len(x) + random.expovariate(0.5) - random.expovariate(0.5)]


def mixed_too_small(x):
    return [len(x) + np.random.laplace(scale=1), len(x) + random.expovariate(0.5) - random.expovariate(0.5)]


def held(x):
    noise = partial(np.random.laplace, 0, 1.0)
    return len(x) + noise()


def held_of_half(x):
    noise = partial(np.random.laplace, 0, 0.5)
    return len(x) + noise()


def of_a_seed(x):
    return len(x) + np.random.default_rng(7).laplace()


def of_a_seed_in_a_sequence(x):
    return len(x) + np.random.Generator(np.random.PCG64(1)).laplace()


def of_a_state(x):
    return len(x) + np.random.RandomState(1).laplace()


def of_a_state_of_python(x):
    return len(x) + FIXED.expovariate(1) - FIXED.expovariate(1)


def that_is_kept(x):
    return len(x) + 0 * KEPT.laplace()


def of_another_name(x):
    return 2 * len(x) + drawn_elsewhere()


def of_another_name_of_python(x):
    return 2 * len(x) + drawn_by_python(0, 1)


def asked_for(x):
    return len(x) + (np.random.laplace() if hasattr(np.random, "stand_in") else 0)


PAIRS = [
    (legacy, legacy_of_half),
    (located, located_of_half),
    (own, own_of_half),
    (two_of_their_own, two_too_small),
    (of_python, of_python_of_half),
    (mixed, mixed_too_small),
    (held, held_of_half),
]


@pytest.mark.parametrize(("right", "wrong"), PAIRS)
@pytest.mark.spread(1, slow=2)
def test_what_is_drawn_anywhere_is_read(right, wrong):
    verified, refuted = verify_claim(right, CLAIM, seconds=600), verify_claim(wrong, CLAIM, seconds=600)
    assert verified.outcome is Outcome.VERIFIED
    assert verified.universes[0].constant.lower == verified.universes[0].constant.upper
    assert refuted.outcome is Outcome.REFUTED


@pytest.mark.spread(0, slow=3)
@pytest.mark.parametrize(
    "function",
    [
        of_a_seed,
        of_a_seed_in_a_sequence,
        of_a_state,
        of_a_state_of_python,
        that_is_kept,
        of_another_name,
        of_another_name_of_python,
        asked_for,
    ],
)
def test_what_has_a_seed_or_a_state_is_not_verified(function):
    assert verify_claim(function, CLAIM, draws=2_000, seconds=600).outcome is not Outcome.VERIFIED
