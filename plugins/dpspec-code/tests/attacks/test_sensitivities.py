"""Quantiles, extremes and variances of clipped data: read with the sensitivity that all pairs of small datasets have."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from dpspec_code.automatic.symbolic import NoConstant, WholeProof, whole_tree

import dpspec as dp
from dpspec.base.errors import DpspecError
from dpspec.verifier.verdict import Outcome
from tests.attacks.plain import module_of

VALUES = (0, 1, 4)
STATISTICS = [
    "np.median(a)", "np.max(a)", "a.min()", "np.quantile(a, 0.25)", "np.quantile(a, q=0.9)", "np.percentile(a, 30)", "a.var()",
    "np.var(a, ddof=1)", "np.quantile(a, 1.0)", "np.percentile(a, 0)",
]  # fmt: skip


def function_of(body, folder, name):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return getattr(module_of(f"import numpy as np\n\n\ndef {name}(x, rng):\n{lines}", folder, name), name)


def judged(spec, body, folder, name):
    try:
        return WholeProof.of(whole_tree(function_of(body, folder, name), spec, most_paths=50), spec).verdict()
    except (NoConstant, DpspecError) as problem:
        return str(problem)


def claim(size, epsilon=1, values=VALUES):
    space = dp.value_lists(values=list(values), least=size, most=size)
    return dp.spec(space=space, distance="replace-one", standard="pure", epsilon=epsilon)


@pytest.mark.parametrize("size", [2, 3, 4, 5])
@pytest.mark.parametrize("text", STATISTICS)
def test_the_sensitivity_is_that_of_all_pairs(text, size, tmp_path):
    worst = 0.0
    for dataset in itertools.product(VALUES, repeat=size):
        before = eval(text, {"np": np, "a": np.array(dataset, dtype=float)})  # noqa: S307
        for value in VALUES:
            after = eval(text, {"np": np, "a": np.array((*dataset[:-1], value), dtype=float)})  # noqa: S307
            worst = max(worst, abs(after - before))
    body = f"a = np.array(x, dtype=float)\nreturn {text} + rng.laplace(0, 100.0)"
    found = judged(claim(size), body, tmp_path, f"statistic_{STATISTICS.index(text)}_{size}")
    assert not isinstance(found, str), found
    constant = found.universes[0].constant
    assert float(constant.upper) == pytest.approx(worst / 100, rel=1e-9)
    assert float(constant.lower) == pytest.approx(worst / 100, rel=1e-9)


@pytest.mark.parametrize(
    ("text", "values", "size"), [("np.var(np.expm1(a))", (0.5, 1.5), 3), ("np.mean(127 - np.expm1(np.square(a)))", (0, 1), 2)]
)
def test_the_last_digits_of_a_pair_do_not_contradict_a_proof(text, values, size, tmp_path):
    """The doubles of the pair lie farther apart than the exact numbers, by their last digits: the bound holds without it."""
    body = f"a = np.array(x, dtype=float)\nreturn {text} + rng.laplace(0, 2.0)"
    found = judged(claim(size, values=values), body, tmp_path, f"last_digits_{size}")
    assert not isinstance(found, str), found
    (result,) = found.universes
    assert (found.outcome, result.constant.lower, result.attained) == (Outcome.VERIFIED, 0, None)
    exactly = judged(claim(size, result.constant.upper, values), body, tmp_path, f"exactly_{size}")
    assert not isinstance(exactly, str), exactly
    assert exactly.outcome is Outcome.UNDECIDED  # a pair of the code lies beyond it, if by its last digits alone
    assert "exceed that in their last digits" in exactly.reason


CLIP = "a = np.clip(np.array(x, dtype=float), 0, 2)\n"
PAIRS = [
    ("return np.median(a) + rng.laplace(0, 2.0)", "2.0", "1.9"),
    ("return np.quantile(a, 0.75) + rng.laplace(0, 2.0)", "np.quantile(a", "np.quantile(x"),
    ("return float(a.max() + rng.laplace(0, 2.0))", "a.max()", "2 * a.max()"),
    ("return a.var() + rng.laplace(0, 4 * 20 / 21 ** 2)", "20 / 21", "10 / 21"),
    ("return np.median(a) + rng.laplace(0, 4.0), a.mean() + rng.laplace(0, 4 / 21)", ", a.mean()", ", np.median(x)"),
    ("return round(np.median(a) + rng.laplace(0, 2.0))", "return round(np.median(a)", "return np.round(2 * np.median(a)"),
    ("m = np.median(a)\nreturn m + rng.laplace(0, 4.0), m + rng.laplace(0, 4.0)", ", m + rng.laplace(0, 4.0)", ", m"),
    ("m = np.median(a)\nreturn m - 1 + rng.laplace(0, 2.0)", "m - 1", "(m > 1) * 3"),
    ("m = np.median(a) + rng.laplace(0, 2.0)\nreturn m if m > 0 else 0.0", "m if m > 0", "m if m > a.max()"),
    ("return rng.laplace(np.median(a), 2.0)", "2.0)", "1.0 + np.median(a))"),
]


@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_a_statistic_of_clipped_data_is_verified_and_its_twin_is_not(number, tmp_path):
    text, part, mistake = PAIRS[number]
    spec = claim(21, values=(0, 1, 2, 3, 10))
    found = judged(spec, CLIP + text, tmp_path, f"right_{number}")
    assert not isinstance(found, str), found
    assert found.outcome is Outcome.VERIFIED
    assert part in text
    twin = judged(spec, CLIP + text.replace(part, mistake), tmp_path, f"twin_{number}")
    assert isinstance(twin, str) or twin.outcome is not Outcome.VERIFIED


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("a.max() + rng.laplace(0, 2.0)", Outcome.VERIFIED),
        ("a.max() + rng.laplace(0, 1.9)", Outcome.REFUTED),
        ("np.median(a) + rng.laplace(0, 2.0)", Outcome.VERIFIED),
        ("np.median(a) + rng.laplace(0, 0.9)", Outcome.REFUTED),
        ("a.var() + rng.laplace(0, 9.0)", None),
        ("a.max() + rng.exponential(9.0)", None),
        ("a.max() + rng.gumbel(0, 9.0)", None),
    ],
)
def test_where_entries_are_added_the_range_is_a_bound(text, outcome, tmp_path):
    space = dp.value_lists(values=[0, 1, 2, 3], least=1)
    spec = dp.spec(space=space, distance="add-remove", standard="pure", epsilon=1)
    found = judged(spec, f"{CLIP}return {text}", tmp_path, "added_" + "".join(filter(str.isalnum, text)))
    assert (found.outcome if not isinstance(found, str) else None) is outcome


def test_a_statistic_of_a_list_that_may_be_empty_is_not_read(tmp_path):
    spec = dp.spec(space=dp.value_lists(values=[0, 1]), distance="add-remove", standard="pure", epsilon=1)
    assert isinstance(judged(spec, "return np.array(x, dtype=float).max() + rng.laplace(0, 9.0)", tmp_path, "empty"), str)
