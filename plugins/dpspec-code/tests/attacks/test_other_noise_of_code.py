"""Logistic and Cauchy noise, exponential draws rounded down, and generators by their imported names."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from dpspec_code.automatic.boxes import probability_between
from dpspec_code.automatic.coupling import shifted
from dpspec_code.automatic.formulas import NoiseDraw
from dpspec_code.automatic.symbolic import NoConstant, WholeProof, whole_tree

import dpspec as dp
from dpspec.base.errors import DpspecError
from dpspec.verifier.verdict import Outcome
from tests.attacks.plain import module_of

SHIFTS = [Fraction(1, 10), Fraction(1), Fraction(5, 2)]


def densities(kind, w):
    return np.exp(-w) / (1 + np.exp(-w)) ** 2 if kind == "logistic" else 1 / (np.pi * (1 + w * w))


@pytest.mark.parametrize("kind", ["logistic", "cauchy"])
@pytest.mark.parametrize("shift", SHIFTS)
def test_the_pair_of_two_laws_is_bounded_by_their_densities(kind, shift):
    w = np.linspace(-20, 20, 400_001)
    truth = float(np.max(np.abs(np.log(densities(kind, w) / densities(kind, w - float(shift))))))
    found = shifted(NoiseDraw(1, kind, Fraction(3)), 3 * shift).max_log_ratio()
    assert truth <= float(found.upper) <= truth + 1e-6
    assert kind == "cauchy" or truth - 1e-6 <= float(found.lower) <= float(found.upper)


def test_logistic_noise_lies_in_intervals_as_often_as_its_distribution_function_says():
    found = probability_between(NoiseDraw(1, "logistic", Fraction(2)), (Fraction(-1), False, Fraction(3), False), 64)
    assert float(found) == pytest.approx(1 / (1 + math.exp(-1.5)) - 1 / (1 + math.exp(0.5)), abs=1e-12)


def claim(epsilon):
    return dp.spec(space=dp.integer_counts(length=3), distance="l1", standard="pure", epsilon=epsilon)


def judged(body, epsilon, folder, name):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    function = getattr(module_of(f"import math\n\nimport numpy as np\n\n\ndef {name}(x, rng):\n{lines}", folder, name), name)
    try:
        return WholeProof.of(whole_tree(function, claim(epsilon), most_paths=100), claim(epsilon)).verdict().outcome
    except (NoConstant, DpspecError):
        return None


FLOORS = "a = math.floor(rng.exponential(1.0))\nb = math.floor(rng.exponential(1.0))\n"
READ = [
    "return [n + rng.logistic(0, 1.0) for n in x]",
    "return rng.logistic(x, 1.0)",
    "return np.array(x) + rng.logistic(size=3)",
    f"{FLOORS}return x[0] + a - b",
    "return np.array(x) + np.floor(rng.exponential(1.0, 3)) - np.floor(rng.exponential(1.0, 3))",
]


@pytest.mark.parametrize("number", range(len(READ)))
def test_it_is_read_with_its_constant(number, tmp_path):
    assert judged(READ[number], 1, tmp_path, f"read_{number}") is Outcome.VERIFIED
    assert judged(READ[number], "0.999", tmp_path, f"less_{number}") is Outcome.REFUTED


WRONG = [
    "return x[0] + rng.logistic(0, 0.9)",
    "w = rng.logistic()\nreturn [n + w for n in x]",
    "return x[0] + 0.9 * rng.standard_cauchy()",
    "return x[0] + math.floor(rng.exponential(1.0))",
    "return x[0] + math.floor(rng.exponential(2.0)) - math.floor(rng.exponential(1.0))",
    "e = rng.exponential(1.0)\na = math.floor(e)\nb = math.floor(rng.exponential(1.0))\nreturn x[0] + a - b, e",
    "e = rng.exponential(1.0)\na = math.floor(e)\nb = math.floor(rng.exponential(1.0))\nreturn x[0] + a - b if e > 1 else 0",
    f"{FLOORS}return x[0] + a - b, a",
    f"{FLOORS}return x[0] / 2 + a - b",
    f"{FLOORS}return 2 * x[0] + a - b",
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_is_not_private_is_not_verified(number, tmp_path):
    assert judged(WRONG[number], 1, tmp_path, f"wrong_{number}") is not Outcome.VERIFIED


def test_cauchy_noise_is_bounded_from_above(tmp_path):
    text, constant = "return x[0] + rng.standard_cauchy()", 2 * math.asinh(1 / 2)
    assert judged(text, str(round(constant + 1e-6, 9)), tmp_path, "cauchy_enough") is Outcome.VERIFIED
    assert judged(text, str(round(constant - 1e-6, 9)), tmp_path, "cauchy_less") is not Outcome.VERIFIED


IMPORTED = """from numpy.random import default_rng, laplace


def drawn(x):
    return [n + laplace(0, {scale}) for n in x]


def made(x):
    rng = default_rng()
    return [n + rng.laplace(0, {scale}) for n in x]


def seeded(x):
    rng = default_rng(1)
    return [n + rng.laplace(0, {scale}) for n in x]


def beside(x, rng):
    return [n + laplace(0, {scale}) for n in x]
"""


@pytest.mark.spread(0, slow=2)
@pytest.mark.parametrize(
    ("name", "scale", "outcome"),
    [
        ("drawn", 1.0, Outcome.VERIFIED), ("made", 1.0, Outcome.VERIFIED),
        ("drawn", 0.5, Outcome.REFUTED), ("made", 0.5, Outcome.REFUTED), ("seeded", 1.0, None), ("beside", 1.0, None),
    ],
)  # fmt: skip
def test_generators_by_imported_names(name, scale, outcome, tmp_path):
    module = module_of(IMPORTED.format(scale=scale), tmp_path, f"imported_{name}_{str(scale).replace('.', '_')}")
    limit = {"seconds": 600, "draws": 2_000} if outcome is None else {"seconds": 600}
    found = dp.verify(getattr(module, name), claim(1), **limit).outcome
    assert found is outcome or (outcome is None and found is not Outcome.VERIFIED)
