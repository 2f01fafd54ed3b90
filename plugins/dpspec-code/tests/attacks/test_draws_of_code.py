"""Ways of drawing noise and of choosing: each is read with its constant, and its twin with one mistake is not verified."""

from __future__ import annotations

import pytest
from dpspec_code.automatic.whole import NoConstant, WholeProof, whole_tree
from dpspec_code.case import models_of, readable
from dpspec_code.functions import adapted

import dpspec as dp
from dpspec.base.errors import DpspecError
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.verdict import Outcome
from tests.attacks.plain import module_of

CLAIM = dp.spec(space=dp.value_lists(values=[0, 1, 2], most=100), distance="add-remove", standard="pure", epsilon=1)
HEAD = '''import bisect
import itertools
import math
import random

import numpy as np


def weights(x, epsilon):
    scores = [epsilon * x.count(value) for value in range(3)]
    largest = max(scores)
    return [math.exp(score - largest) for score in scores]


def drawn(x):
'''


def module(body, folder, name):
    """A module whose function `drawn` has a body."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return module_of(f"{HEAD}{lines}", folder, name)


def read(body, folder, name):
    """What is read off the code alone, for all datasets; None for nothing."""
    function = adapted(module(body, folder, name).drawn, CLAIM.space)
    try:
        tree = whole_tree(readable(function), CLAIM, most_paths=500, models=models_of(function))
        return WholeProof.of(tree, CLAIM).verdict()
    except (NoConstant, DpspecError):
        return None


def check(right, part, mistake, folder, name):
    """The right code is verified, and by real runs too; the twin is not."""
    assert part in right
    found = verify_claim(module(right, folder, f"{name}_right").drawn, CLAIM, seconds=60)
    assert found.outcome is Outcome.VERIFIED
    twin = read(right.replace(part, mistake), folder, f"{name}_twin")
    assert twin is None or twin.outcome is not Outcome.VERIFIED


# --- choices of numpy's global generator, and geometric noise of it --------------------------------------------------------


GLOBAL = {
    "two_geometric_draws": (
        "p = 1 - math.exp(-1)\nreturn len(x) + np.random.geometric(p) - np.random.geometric(p)", "-1)\n", "-2)\n",
    ),
    "geometric_by_size": (
        "p = 1 - np.exp(-1)\nnoise = np.random.geometric(p, size=2)\nreturn len(x) + noise[0] - noise[1]", "exp(-1)", "exp(-2)",
    ),
    "one_choice": (
        "w = np.array(weights(x, 1))\nreturn int(np.random.choice(3, p=w / w.sum()))", "x, 1", "x, 2",
    ),
    "choice_by_norm": (
        "p = [np.exp(x.count(value)) for value in range(3)]\np = p / np.linalg.norm(p, ord=1)\n"
        "return np.random.choice(['a', 'b', 'c'], 1, p=p)[0]",
        "np.exp(", "np.exp(2 * ",
    ),
    "two_choices": (
        "w = np.array(weights(x, 1 / 2))\nreturn np.random.choice(3, 2, p=w / w.sum()).tolist()", "1 / 2", "1",
    ),
    "two_choices_without_replacement": (
        "w = np.array(weights(x, 1 / 2))\nreturn np.random.choice(3, 2, replace=False, p=w / w.sum()).tolist()", "1 / 2", "1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GLOBAL)
@pytest.mark.spread(2)
def test_choices_and_geometric_noise_of_the_global_generator(name, tmp_path):
    check(*GLOBAL[name], tmp_path, name)


@pytest.mark.parametrize(
    "body",
    [
        "w = np.array(weights(x, 1))\nreturn int(np.random.choice(2, p=w[:2] / w.sum()))",  # numpy raises: they do not sum to 1
        "w = np.array(weights(x, 1))\nreturn int(np.random.choice(3, p=w / np.linalg.norm(w)))",
        "w = np.array(weights(x, 1)) - 0.1\nreturn int(np.random.choice(3, p=w / np.linalg.norm(w, ord=1)))",  # may be negative
        "w = np.array([1 / (1 + x.count(value)) for value in range(3)])\nreturn int(np.random.choice(3, p=w / w.sum()))",
    ],
)
def test_choices_by_other_weights_are_not_verified(body, tmp_path):
    found = read(body, tmp_path, f"other_{abs(hash(body))}")
    assert found is None or found.outcome is not Outcome.VERIFIED


def test_weights_that_no_double_holds_are_not_verified(tmp_path):
    """With 1,420 entries of one kind `math.exp` raises, and with one entry fewer it does not."""
    body = "w = [math.exp(x.count(v) / 2) for v in range(3)]\nreturn int(np.random.choice(3, p=[one / sum(w) for one in w]))"
    function = adapted(module(body, tmp_path, "overflowing").drawn, CLAIM.space)
    claim = dp.spec(space=dp.value_lists(values=[0, 1, 2]), distance="add-remove", standard="pure", epsilon=1)
    with pytest.raises(DpspecError, match="subtract the largest score first"):
        whole_tree(readable(function), claim, most_paths=500)
    assert read(body, tmp_path, "not_overflowing").outcome is Outcome.VERIFIED
