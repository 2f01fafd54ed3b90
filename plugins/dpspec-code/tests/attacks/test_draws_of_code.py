"""Ways of drawing noise and of choosing: each is read with its constant, and its twin with one mistake is not verified."""

from __future__ import annotations

import numpy as np
import pytest
from dpspec_code.automatic.symbolic import NoConstant, WholeProof, whole_tree
from dpspec_code.case import _Case, models_of, readable
from dpspec_code.functions import adapted

import dpspec as dp
from dpspec.base.errors import DpspecError
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.functions import Sampling
from dpspec.verifier.verdict import Outcome
from tests.attacks.plain import module_of

pytestmark = pytest.mark.usefixtures("in_this_process")

CLAIM = dp.spec(space=dp.value_lists(values=[0, 1, 2], most=100), distance="add-remove", standard="pure", epsilon=1)
HEAD = '''import bisect
import itertools
import math
import random

import numpy as np
import scipy
from scipy import stats
from scipy.stats import expon, laplace


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
    """The right code is verified, and the twin is not."""
    assert part in right
    assert read(right, folder, f"{name}_right").outcome is Outcome.VERIFIED
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
        "w = np.array(weights(x, 1))\nreturn int(np.random.choice(3, p=w / w.sum()))",
        "x, 1",
        "x, 2",
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


# --- Laplace noise by inversion, and by signs ------------------------------------------------------------------------------


INVERTED = {
    "by_its_distribution_function": (
        "u = random.uniform(-0.5, 0.5)\nreturn len(x) - math.copysign(1, u) * 1.0 * math.log(1 - 2 * abs(u))", "1.0", "0.5",
    ),
    "in_numpy": (
        "u = np.random.rand() - 0.5\nreturn len(x) - 1.0 * np.sign(u) * np.log(1 - 2 * np.abs(u))", "1.0", "0.5",
    ),
    "with_log1p": (
        "u = random.random() - 0.5\nreturn len(x) - math.copysign(1.0, u) * math.log1p(-2 * math.fabs(u))", "1.0, u", "0.5, u",
    ),
    "of_an_array": (
        "u = np.random.uniform(-0.5, 0.5, size=3)\nreturn np.bincount(x, minlength=3) - np.sign(u) * np.log(1 - 2 * np.abs(u))",
        "- np.sign(u)", "- 0.5 * np.sign(u)",
    ),
    "clipped_at_0": (
        "u = random.random() - 0.5\nreturn max(0, len(x) - 1.0 * math.copysign(1, u) * math.log(1 - 2 * abs(u)))", "1.0", "0.5",
    ),
    "by_cases": (
        "u = random.random()\nreturn len(x) + 1.0 * (math.log(2 * u) if u < 0.5 else -math.log(2 * (1 - u)))", "1.0", "0.5",
    ),
    "by_two_uniform_numbers": (
        "u, v = np.random.random(), np.random.random()\nreturn len(x) + 1.0 * (-np.log(1.0 - v) if u <= 0.5 else np.log(v))",
        "+ 1.0", "+ 0.5",
    ),
    "by_a_sign": ("return len(x) + random.choice([-1, 1]) * random.expovariate(1.0)", "1.0", "2.0"),
    "by_a_sign_for_each": (
        "return [x.count(v) + (2 * np.random.randint(2) - 1) * np.random.exponential(1.0) for v in range(3)]", "1.0", "0.5",
    ),
    "by_two_logarithms": ("return len(x) - math.log(random.random()) + math.log(random.random())", "len(x)", "2 * len(x)"),
    "rounded": (
        "u = random.random() - 0.5\nreturn round(len(x) - 1.0 * math.copysign(1, u) * math.log(1 - 2 * abs(u)))", "1.0", "0.5",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", INVERTED)
def test_laplace_noise_by_inversion_and_by_signs(name, tmp_path):
    check(*INVERTED[name], tmp_path, f"inverted_{name}")


FALSELY_INVERTED = [
    "u = random.uniform(-0.5, 0.5)\nreturn len(x) - math.copysign(1, u) * math.log(1 - abs(u))",  # bounded
    "return len(x) - math.log(random.random())",  # one-sided
    "u = random.random()\nreturn len(x) - math.log(u) + math.log(1 - u)",  # both of one number: the logistic law
    "u = random.random()\nreturn len(x) - math.log(u) + math.log(u)",
    "u = random.random()\nreturn [len(x) - math.log(u) + math.log(random.random()), u < 0.3]",  # shows part of the noise
    "u = random.random()\nreturn [len(x) - math.log(u) + math.log(random.random()), u]",
    "u = random.random()\nn = len(x) - math.log(u) + math.log(random.random())\nreturn n if u < 0.9 else len(x)",
    "return len(x) + random.choice([-1, 1, 1]) * random.expovariate(1)",  # of unequal chances
    "return len(x) + (1 if random.random() < 0.6 else -1) * random.expovariate(1)",
    "return len(x) + random.choice([-1, 2]) * random.expovariate(1)",  # of unequal sizes
    "s = random.choice([-1, 1])\nreturn [s, len(x) + s * random.expovariate(1)]",  # the sign is shown
    "e = random.expovariate(1)\nreturn [e, len(x) + random.choice([-1, 1]) * e]",
    "s, e = random.choice([-1, 1]), random.expovariate(1)\nreturn len(x) + s * e if e > 1 else len(x)",
    "s, e = random.choice([-1, 1]), random.expovariate(1)\nreturn len(x) + s * e if s * e > -2 else len(x)",
    "s = random.choice([-1, 1])\nreturn [len(x) + s * random.expovariate(1), x.count(0) + s * random.expovariate(1)]",
    "s = 1 if len(x) > 3 else -1\nreturn len(x) + s * random.expovariate(1)",  # the data decide the sign
    "return len(x) + int(random.choice([-1, 1]) * random.expovariate(1))",  # 0 twice
]


@pytest.mark.parametrize("number", range(len(FALSELY_INVERTED)))
def test_what_is_no_inversion_is_not_verified(number, tmp_path):
    found = read(FALSELY_INVERTED[number], tmp_path, f"falsely_inverted_{number}")
    assert found is None or found.outcome is not Outcome.VERIFIED


def test_a_uniform_number_makes_noise_in_one_way(tmp_path):
    body = "u = random.random()\nreturn [len(x) - math.log(u), math.log(1 - u)]"
    function = adapted(module(body, tmp_path, "logistic").drawn, CLAIM.space)
    with pytest.raises(DpspecError, match="two ways that depend on each other"):
        whole_tree(readable(function), CLAIM, most_paths=500)


# --- choices by sums of weights --------------------------------------------------------------------------------------------


WEIGHED = {
    "choices_of_python": ("return random.choices(['a', 'b', 'c'], weights=weights(x, 1))[0]", "x, 1", "x, 2"),
    "choices_by_sums": (
        "return random.choices(['a', 'b', 'c'], cum_weights=list(itertools.accumulate(weights(x, 1))))[0]",
        "x, 1",
        "x, 2",
    ),
    "searched": (
        "w = np.array(weights(x, 1))\nreturn int(np.searchsorted(np.cumsum(w / w.sum()), np.random.rand()))",
        "x, 1",
        "x, 2",
    ),
    "bisected": (
        "sums = list(itertools.accumulate(weights(x, 1)))\nreturn bisect.bisect(sums, random.random() * sums[-1])",
        "x, 1",
        "x, 2",
    ),
    "first_above": (
        "w = np.array(weights(x, 1))\nreturn int(np.argmax(np.cumsum(w / np.sum(w)) > np.random.rand()))",
        "x, 1",
        "x, 2",
    ),
    "subtracted": (
        "w = weights(x, 1)\nu = random.random() * sum(w)\nfor value in range(3):\n    u -= w[value]\n    if u <= 0:\n"
        "        return value\nreturn 2",
        "x, 1",
        "x, 2",
    ),
    "added": (
        "w = weights(x, 1)\nu, total = random.random(), 0.0\nfor value in range(3):\n    total += w[value] / sum(w)\n"
        "    if u < total:\n        return value\nreturn 2",
        "x, 1",
        "x, 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WEIGHED)
def test_choices_by_sums_of_weights(name, tmp_path):
    check(*WEIGHED[name], tmp_path, f"weighed_{name}")


FALSELY_WEIGHED = [
    # each weight is compared alone, so that the sums are not those of one order
    "w = weights(x, 1)\nu = random.random()\nreturn next((v for v in range(3) if u < w[v] / sum(w)), 2)",
    # doubles may come to a sum below 1, and then the dataset is shown
    "w = weights(x, 1)\nu, total = random.random(), 0.0\nfor v in range(3):\n    total += w[v] / sum(w)\n"
    "    if u < total:\n        return v\nreturn len(x)",
    "w = weights(x, 1)\nu = random.random()\nreturn [u < w[0] / sum(w), u < 0.5]",
    "w = weights(x, 1)\nu = random.random()\nreturn [u < w[0] / sum(w), len(x) - math.log(u)]",
    # noise is made of what chose, and one number chooses by two sums
    "w = weights(x, 1 / 4)\nu, v = random.random(), random.random()\nb = bool(u < w[0] / sum(w))\n"
    "return [b, len(x) - 2 * math.log(u) + 2 * math.log(v)]",
    "w = weights(x, 1 / 4)\nu = random.random()\nreturn [bool(u < w[0] / sum(w)), bool(u < w[0] / (w[0] + w[1]))]",
    "w = weights(x, 1)\nu = random.random() * sum(w)\nreturn u",
    "w = weights(x, 1)\nu = random.random() * sum(w)\nreturn u < x.count(0)",
    "w = weights(x, 1)\nu = random.random() * w[0]\nreturn u < w[1]",
    "w = weights(x, 1)\nu = random.uniform(0, 2) * sum(w)\nreturn u < w[1]",
    "w = weights(x, 1)\nu = random.random() * sum(w)\nreturn u - x.count(0) < 0",
    "w = weights(x, 1)\nu = random.random() * sum(w)\nreturn isinstance(u, float) and u < len(x)",
    "w = [1 + x.count(v) for v in range(3)]\nreturn random.choices(['a', 'b', 'c'], weights=w)[0]",
    # of sums in no order, bisect finds others than the first one that is larger
    "w = weights(x, 1)\nsums = [w[0] + w[1] + w[2], w[0], w[0] + w[1]]\n"
    "return len(x) if bisect.bisect(sums, random.random() * sums[0]) == 2 else 0",
]


@pytest.mark.parametrize("number", range(len(FALSELY_WEIGHED)))
def test_other_comparisons_with_weights_are_not_verified(number, tmp_path):
    found = read(FALSELY_WEIGHED[number], tmp_path, f"falsely_weighed_{number}")
    assert found is None or found.outcome is not Outcome.VERIFIED


# --- noise on whole numbers, of whole parts --------------------------------------------------------------------------------


FLOORS = {
    "floors": (
        "first, second = random.expovariate(1), random.expovariate(1)\nreturn len(x) + math.floor(first) - math.floor(second)",
        "len(x)", "2 * len(x)",
    ),
    "floors_of_logarithms": (
        "g = [int(math.log(1 - random.random()) / -1.0) for _ in range(2)]\nreturn len(x) + g[0] - g[1]", "-1.0", "-2.0",
    ),
    "ceilings_in_numpy": (
        "g = np.ceil(np.random.exponential(1.0, size=2))\nreturn len(x) + int(g[0]) - int(g[1])", "1.0", "0.5",
    ),
    "quotients": (
        "first, second = random.expovariate(1), random.expovariate(1)\nreturn len(x) + first // 1.0 - second // 1.0",
        "1.0",
        "2.0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FLOORS)
def test_whole_parts_of_exponential_noise(name, tmp_path):
    check(*FLOORS[name], tmp_path, f"floors_{name}")


@pytest.mark.parametrize(
    "body",
    [
        "e = random.expovariate(1)\nreturn [e, len(x) + math.floor(e) - math.floor(random.expovariate(1))]",
        "e = random.expovariate(1)\nreturn len(x) + math.floor(e) - math.floor(2 * e)",
        "e = random.expovariate(1)\nreturn len(x) + math.floor(e) - math.floor(e / 2)",
        "return len(x) + math.floor(random.expovariate(1)) - math.floor(random.expovariate(2))",
        "return len(x) + math.floor(random.expovariate(1))",
        "return len(x) + math.floor(random.expovariate(1)) - math.floor(-random.expovariate(1))",
        "return len(x) + math.floor(random.expovariate(1)) + math.floor(random.expovariate(1))",
        "return len(x) + math.floor(random.expovariate(1) + 0.5) - math.floor(random.expovariate(1))",
        "return len(x) / 2 + math.floor(random.expovariate(1) + len(x) / 2) - math.floor(random.expovariate(1))",
        "e = random.expovariate(1)\nn = len(x) + math.floor(e) - math.floor(random.expovariate(1))\nreturn n if e < 5 else 0",
    ],
)
def test_other_whole_parts_are_not_verified(body, tmp_path):
    found = read(body, tmp_path, f"other_floor_{abs(hash(body))}")
    assert found is None or found.outcome is not Outcome.VERIFIED


# --- distributions of scipy, and texts of noisy numbers --------------------------------------------------------------------


SCIPY = {
    "laplace": ("return len(x) + stats.laplace.rvs(loc=0, scale=1.0)", "1.0", "0.5"),
    "located": ("return scipy.stats.laplace.rvs(len(x), 1.0)", "1.0", "0.5"),
    "of_an_array": ("return np.bincount(x, minlength=3) + stats.laplace.rvs(scale=1.0, size=3)", "1.0", "0.5"),
    "imported": ("return len(x) + laplace.rvs(scale=1.0)", "1.0", "0.5"),
    "exponential": ("return len(x) + expon.rvs(scale=1.0) - expon.rvs(scale=1.0)", "scale=1.0", "scale=0.5"),
}  # fmt: skip


@pytest.mark.parametrize("name", SCIPY)
def test_distributions_of_scipy(name, tmp_path):
    check(*SCIPY[name], tmp_path, f"scipy_{name}")


@pytest.mark.parametrize(
    "body",
    [
        "return len(x) + stats.laplace.rvs(scale=1.0, random_state=3)",
        "return len(x) + stats.laplace(scale=0.5).rvs()",
        "return len(x) + stats.norm.rvs(scale=1.0)",
        "return len(x) + expon.rvs(scale=1.0)",
        "stats.laplace.random_state = 3\nreturn len(x) + stats.laplace.rvs(scale=1.0)",
        "return 2 * len(x) + laplace.rvs(scale=1.0)",
    ],
)
def test_other_draws_of_scipy_are_not_verified(body, tmp_path):
    found = read(body, tmp_path, f"other_scipy_{abs(hash(body))}")
    assert found is None or found.outcome is not Outcome.VERIFIED


TEXTS = {
    "text": ("noisy = len(x) + np.random.laplace(0, 1.0)\nreturn f'about {noisy:.1f} people'", "1.0", "0.5"),
    "text_of_two": (
        "n = len(x) + np.random.laplace(0, 2.0)\nm = x.count(0) + np.random.laplace(0, 2.0)\n"
        "share = min(max(m / max(n, 1), 0), 1)\nreturn '{:.1%} of {}'.format(share, round(n))",
        "2.0", "0.5",
    ),
}  # fmt: skip


def by_post_processing(body, folder, name):
    """What is read off a part of the code of which the rest is post-processing; None for nothing."""
    function = adapted(module(body, folder, name).drawn, CLAIM.space)
    about = {"progress": None, "datasets": None, "registry": None, "sampling": Sampling(seconds=600)}
    return _Case(function=function, spec=CLAIM, **about)._by_post_processing(600)


@pytest.mark.parametrize("name", ["text", *(pytest.param(name, marks=pytest.mark.slow) for name in TEXTS if name != "text")])
def test_texts_of_noisy_numbers(name, tmp_path):
    right, part, mistake = TEXTS[name]
    assert by_post_processing(right, tmp_path, f"{name}_right").outcome is Outcome.VERIFIED
    assert by_post_processing(right.replace(part, mistake), tmp_path, f"{name}_twin") is None


@pytest.mark.parametrize(
    "text",
    [
        "noisy = len(x) + np.random.laplace()\nreturn f'{noisy:.1f} of {len(x)} people'",
        "n = len(x)\nreturn f'{n} people, about {n + np.random.laplace():.1f}'",
        "n = len(x)\nnoise = np.random.laplace()\nshown = f'{noise}'\nreturn f'{n + noise} {shown}'",
    ],
)
def test_texts_that_show_more_are_not_verified(text, tmp_path):
    assert read(text, tmp_path, f"text_{len(text)}") is None
    assert by_post_processing(text, tmp_path, f"text_{len(text)}_in_two") is None


@pytest.mark.parametrize("name", ["laplace", "norm"])
def test_a_distribution_with_a_seed_of_its_own_is_not_read(name, tmp_path, monkeypatch):
    from scipy import stats

    body = "return len(x) + stats.laplace.rvs(scale=1.0)"
    assert read(body, tmp_path, f"unseeded_{name}") is not None
    monkeypatch.setattr(getattr(stats, name), "_random_state", np.random.RandomState(1))
    assert read(body, tmp_path, f"seeded_{name}") is None


def test_a_module_that_seeds_a_distribution_is_not_read(tmp_path):
    found = module("return len(x) + stats.laplace.rvs(scale=1.0)", tmp_path, "seeding")
    text = f"{HEAD}    return len(x) + stats.laplace.rvs(scale=1.0)\n\n\ndef fix():\n    stats.norm.random_state = 3\n"
    fixed = module_of(text, tmp_path, "seeding_by_a_function")
    for function, is_read in ((found.drawn, True), (fixed.drawn, False)):
        known = adapted(function, CLAIM.space)
        try:
            tree = whole_tree(readable(known), CLAIM, most_paths=500)
        except DpspecError:
            tree = None
        assert (tree is not None) is is_read


# --- scores that decide by the dataset -------------------------------------------------------------------------------------


SCORES = {
    "median": (
        "scores = [-abs(sum(1 for v in x if v < o) - sum(1 for v in x if v > o)) for o in range(3)]\n"
        "w = np.exp(0.5 * np.array(scores))\nreturn int(np.random.choice(3, p=w / w.sum()))",
        "0.5", "1.0",
    ),
    "nearest": (
        "scores = [-abs(x.count(v) - 2.0) for v in range(3)]\n"
        "return random.choices(range(3), weights=[math.exp(1.0 * score) for score in scores])[0]",
        "1.0", "2.0",
    ),
    "farthest": (
        "return int(np.argmax([abs(x.count(v) - 3) + np.random.exponential(1.0) for v in range(3)]))", "1.0", "0.5",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.spread(1)
def test_scores_that_decide_by_the_dataset(name, tmp_path):
    check(*SCORES[name], tmp_path, f"scores_{name}")


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "return int(np.argmax([(9 if x.count(v) > 3 else 0) + np.random.laplace(0, 1.0) for v in range(3)]))",
        "return int(np.argmax([abs(x.count(v) - 3) * len(x) + np.random.laplace(0, 1.0) for v in range(3)]))",
        "return int(np.argmax([abs(x.count(v) - 3) + np.random.normal(0, 9.0) for v in range(3)]))",
        "return [x.count(v) > 3 or np.random.laplace() > 2 for v in range(2)]",
        "n = x.count(0) - 2.5\nreturn abs(n) + np.random.laplace(0, 0.9)",
        "n = 0.1 * x.count(0) - 0.7\nreturn abs(n) + np.random.laplace(0, 0.01)",
    ],
)
def test_decisions_by_the_dataset_that_cost_more_are_not_verified(body, tmp_path):
    found = read(body, tmp_path, f"decides_{abs(hash(body))}")
    assert found is None or found.outcome is not Outcome.VERIFIED


# --- real runs -------------------------------------------------------------------------------------------------------------


EVERY = {**GLOBAL, **INVERTED, **WEIGHED, **FLOORS, **SCIPY, **TEXTS, **SCORES}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.spread(1, slow=4)
def test_real_runs_show_what_was_read(name, tmp_path):
    assert verify_claim(module(EVERY[name][0], tmp_path, f"whole_{name}").drawn, CLAIM, seconds=600).outcome is Outcome.VERIFIED
