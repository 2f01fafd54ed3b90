"""Three releases in the spellings of people: a histogram, a clipped mean and a step of clipped gradients.

Each spelling is verified on all datasets at once, and refuted at four fifths of its budget. Each has a twin with one mistake: a
clip that is missing or elsewhere, a scale or a sensitivity that is wrong, noise drawn once for all cells, a scale that depends on
the data, something exact beside the noise. No twin is verified.
"""

from __future__ import annotations

import pytest
from dpspec_code.automatic.symbolic import NoConstant, WholeProof, whole_tree

import dpspec as dp
from dpspec.base.errors import DpspecError
from dpspec.verifier.verdict import Outcome
from tests.attacks.plain import module_of

HEAD = """import collections
import functools
import math

import numpy as np


"""
HISTOGRAMS = [
    ("return np.bincount(x, minlength=3) + rng.laplace(0.0, 1.0, size=3)", "1.0", "0.5"),
    (
        "h, _ = np.histogram(x, bins=[0, 1, 2, 3])\n"
        "return h + rng.laplace(scale=1.0, size=h.shape)",
        ", size=h.shape", "",
    ),
    (
        "h = np.zeros(3)\n"
        "for v in x:\n"
        "    h[v] += 1\n"
        "return h + rng.laplace(0, 1.0, 3)",
        "h[v] += 1", "h[v] += 1 + v",
    ),
    (
        "h = np.zeros(3, dtype=int)\n"
        "np.add.at(h, x, 1)\n"
        "return h + rng.laplace(0, 1.0, 3)",
        "x, 1)", "x, 2)",
    ),
    (
        "a = np.asarray(x, dtype=int)\n"
        "return (a[:, None] == np.arange(3)).sum(axis=0) + rng.laplace(0, 1.0, 3)",
        "==", ">=",
    ),
    (
        "a = np.asarray(x)\n"
        "out = np.empty(3)\n"
        "for k in range(3):\n"
        "    out[k] = np.sum(a == k) + rng.laplace(0, 1.0)\n"
        "return out",
        "1.0", "1 / (1 + k)",
    ),
    (
        "c = collections.Counter(x)\n"
        "return {k: c.get(k, 0) + rng.laplace(0, 1.0) for k in range(3)}",
        "in range(3)}", "in c}",
    ),
    (
        "h = [0, 0, 0]\n"
        "for k in x:\n"
        "    h[k] += 1\n"
        "return [h[k] + rng.laplace(scale=1.0) for k in range(3)]",
        "h[k] += 1", "h[0] += k",
    ),
    (
        "h = np.bincount(x, minlength=3).astype(float)\n"
        "np.add(h, rng.laplace(0, 1.0, 3), out=h)\n"
        "return h",
        "0, 1.0, 3", "0, 1.0",
    ),
    (
        "h = np.bincount(x, minlength=3).astype(np.float64)\n"
        "h += rng.laplace(0, 1.0, h.shape)\n"
        "return h.tolist()",
        "1.0", "len(x)",
    ),
    (
        "h = np.bincount(x, minlength=3)\n"
        "out = np.zeros_like(h, dtype=float)\n"
        "for i, n in enumerate(h):\n"
        "    out[i] = n + rng.laplace(scale=1.0)\n"
        "return out",
        "n + rng", "n - i * len(x) + rng",
    ),
    (
        "draw = functools.partial(rng.laplace, 0.0, 1.0)\n"
        "return [x.count(k) + draw() for k in range(3)]",
        "1.0", "0.9",
    ),
    ("return rng.laplace(loc=np.bincount(x, minlength=3), scale=1.0)", "loc=", "loc=2 * "),
    ("return np.stack([(np.array(x) == k).sum() + rng.laplace(0, 1.0, 1) for k in range(3)]).ravel()", "== k", ">= k"),
    ("return [sum(map(lambda v: v == k, x)) + rng.laplace(0, 1.0) for k in range(3)], 3", ", 3", ", len(x)"),
    ("return [len([v for v in x if v == k]) + rng.laplace(0, 1.0) for k in range(3)]", "v == k", "v <= k"),
]  # fmt: skip
"""The code, a part of it, and the mistake that is made there."""
MEANS = [
    ("return np.clip(x, 0, 2).mean() + rng.laplace(0, 2 / len(x))", "0, 2)", "0, 3)"),
    (
        "a = np.clip(np.array(x, dtype=float), 0, 2)\n"
        "return a.sum() / len(a) + rng.laplace(0, 2 / len(x))",
        "2 / len(x)", "1 / len(x)",
    ),
    (
        "a = np.asarray(x, dtype='float64').clip(min=0, max=2)\n"
        "return rng.laplace(a.mean(), 2 / a.size)",
        "max=2", "max=None",
    ),
    (
        "a = np.minimum(np.maximum(x, 0), 2)\n"
        "return np.average(a) + rng.laplace(0, 2 / len(x))",
        "np.minimum(np.maximum(x, 0), 2)", "np.maximum(x, 0)",
    ),
    (
        "c = [min(max(v, 0), 2) for v in x]\n"
        "return sum(c) / len(c) + rng.laplace(0, 2 / len(x))",
        "sum(c)", "sum(x)",
    ),
    (
        "t = 0.0\n"
        "for v in x:\n"
        "    t += min(v, 2)\n"
        "return t / len(x) + rng.laplace(0, 2 / len(x))",
        "min(v, 2)", "v",
    ),
    (
        "t = 0\n"
        "for v in x:\n"
        "    if v > 2:\n"
        "        v = 2\n"
        "    t += v\n"
        "return t / len(x) + rng.laplace(0, 2 / len(x))",
        "v = 2", "t += 2",
    ),
    (
        "a = np.array(x)\n"
        "return np.where(a > 2, 2, a).mean() + rng.laplace(0, 2 / len(x))",
        "> 2, 2", "> 3, 2",
    ),
    (
        "a = np.array(x, dtype=float)\n"
        "a[a > 2] = 2.0\n"
        "return a.mean() + rng.laplace(0, 2 / len(x))",
        "a[a > 2] = 2.0", "b = a.copy()\nb[b > 2] = 2.0",
    ),
    (
        "a = np.array(x, dtype=float)\n"
        "np.clip(a, 0, 2, out=a)\n"
        "return a.mean() + rng.laplace(0, 2 / len(x))",
        ", out=a", "",
    ),
    (
        "a = np.array(x, dtype=np.float64)\n"
        "np.minimum(a, 2, out=a)\n"
        "return np.mean(a) + rng.laplace(0, 2 / len(x))",
        "2, out", "9, out",
    ),
    ("return math.fsum(min(v, 2) for v in x) / len(x) + rng.laplace(0, 2 / len(x))", "min(v, 2)", "min(v, 2.5)"),
    ("return sum(map(lambda v: min(v, 2), x)) / len(x) + rng.laplace(0, 2 / len(x))", "2 / len", "2 / 2 ** len"),
    (
        "c = []\n"
        "for v in x:\n"
        "    c.append(max(0, min(2, v)))\n"
        "return np.mean(c) + rng.laplace(0, 2 / len(x))",
        "c.append(max(0, min(2, v)))", "c.append(v)",
    ),
    (
        "a = np.clip(np.array(x), 0, 2)\n"
        "return float(a.mean().item() + rng.laplace(0, 2 / len(a)))",
        "0, 2)", "0, 4)",
    ),
    (
        "a = np.clip(np.array(x), 0, 2)\n"
        "return a.mean(keepdims=True) + rng.laplace(0, 2 / len(x), size=1)",
        "2 / len", "1.9 / len",
    ),
    (
        "a = np.clip(np.atleast_2d(x), 0, 2)\n"
        "return a.mean(axis=1) + rng.laplace(0, 2 / a.shape[1], size=1)",
        "shape[1]", "shape[0] / 99",
    ),
    (
        "a = np.array(x, dtype=float).reshape(-1, 1)\n"
        "return np.clip(a, 0, 2).mean(axis=0) + rng.laplace(0, 0.1, size=1)",
        "0.1", "0.01",
    ),
    (
        "a = np.clip(np.array(x, dtype=float), 0, 2)\n"
        "return np.einsum('i->', a) / len(a) + rng.laplace(0, 2 / len(x))",
        "'i->', a", "'i,i->', a, a",
    ),
    (
        "a = np.clip(np.array(x, dtype=float), 0, 2)\n"
        "return np.add.reduce(a) / len(a) + rng.laplace(0, 2 / len(x))",
        ", 2)", ", 2 + len(x))",
    ),
    (
        "a = np.clip(np.array(x, dtype=float), 0, 2)\n"
        "return a @ np.ones(len(a)) / len(a) + rng.laplace(0, 2 / len(x))",
        "@ np.ones(len(a))", "@ a",
    ),
    (
        "a = np.clip(x, a_min=0, a_max=2)\n"
        "return np.divide(np.sum(a), len(x)) + rng.laplace(0, 2 / len(x))",
        "0, 2 / len(x)", "0, (1 + a.sum()) / len(x)",
    ),
    (
        "a = np.asarray(x, float)\n"
        "return np.nanmean(np.clip(a, 0, 2)) + rng.laplace(0, 2 / len(x))",
        " + rng.laplace(0, 2 / len(x))", " + np.round(rng.laplace(0, 2 / len(x)))",
    ),
    (
        "c = [2 if v > 2 else v for v in x]\n"
        "n = len(c)\n"
        "return rng.laplace(sum(c) / n, 2 / n)",
        "return", "return max(x), ",
    ),
]  # fmt: skip
STEPS = [
    (
        "g = np.array(x, dtype=float).reshape(-1, 2)\n"
        "n = np.linalg.norm(g, axis=1, keepdims=True)\n"
        "return (g / np.maximum(1.0, n / 1.0)).sum(axis=0) + rng.normal(0, 2.0, size=2)",
        "axis=1", "axis=1, ord=np.inf",
    ),
    (
        "g = np.array(x, dtype=float).reshape(-1, 2)\n"
        "n = np.sqrt((g ** 2).sum(axis=1, keepdims=True))\n"
        "g = g / np.maximum(1, n)\n"
        "return g.sum(axis=0) + rng.normal(0, 2.0, size=2)",
        "2.0", "1.0",
    ),
    (
        "g = np.array(x, dtype=float).reshape(-1, 2)\n"
        "f = np.minimum(1, 1 / np.maximum(np.linalg.norm(g, axis=1), 1e-12))\n"
        "return (g * f[:, None]).sum(axis=0) + rng.normal(0, 2.0, size=2)",
        "np.minimum(1, ", "np.maximum(1, ",
    ),
    (
        "g = np.array(x, dtype=float).reshape(-1, 2)\n"
        "f = np.minimum(1, 1 / np.maximum(np.linalg.norm(g, axis=1), 1e-12))\n"
        "return (g.T * f).sum(axis=1) + rng.normal(0, 2.0, size=2)",
        "g.T * f", "g.T",
    ),
    (
        "g = np.array(x, dtype=float).reshape(-1, 2)\n"
        "f = np.minimum(1, 1 / np.maximum(np.linalg.norm(g, axis=1), 1e-12))\n"
        "return f @ g + rng.normal(0, 2.0, size=2)",
        "f @ g", "(f + 1) @ g",
    ),
    (
        "g = np.array(x, dtype=float).reshape(-1, 2)\n"
        "f = np.minimum(1, 1 / np.maximum(np.linalg.norm(g, axis=1), 1e-12))\n"
        "return np.einsum('ij,i->j', g, f) + rng.normal(0, 2.0, size=2)",
        "'ij,i->j', g, f", "'ij->j', g",
    ),
    (
        "g = np.array(x, dtype=float).reshape(-1, 2)\n"
        "n = np.linalg.norm(g, axis=1, keepdims=True)\n"
        "return np.where(n > 1, g / np.maximum(n, 1), g).sum(axis=0) + rng.normal(0, 2.0, size=2)",
        "n > 1", "n > 9",
    ),
    (
        "g = np.array(x, dtype=float).reshape(-1, 2)\n"
        "g /= np.maximum(1, np.linalg.norm(g, axis=1, keepdims=True))\n"
        "return g.sum(axis=0) + rng.normal(0, 2.0, size=2)",
        "g /=", "h =",
    ),
    (
        "g = np.array(x, dtype=float).reshape(-1, 2)\n"
        "n = np.linalg.norm(g, axis=1)\n"
        "big = n > 1\n"
        "g[big] = g[big] / n[big][:, None]\n"
        "return g.sum(axis=0) + rng.normal(0, 2.0, size=2)",
        "n > 1", "n < 1",
    ),
    (
        "t = np.zeros(2)\n"
        "for row in x:\n"
        "    g = np.array(row)\n"
        "    t += g / max(1.0, np.linalg.norm(g) / 1.0)\n"
        "return t + rng.normal(0, 2.0, size=2)",
        "norm(g) / 1.0", "norm(g) / 9.0",
    ),
    (
        "t = np.zeros(2)\n"
        "for row in x:\n"
        "    g = np.asarray(row)\n"
        "    t = t + g * min(1.0, 1.0 / max(np.linalg.norm(g), 1e-9))\n"
        "return t + rng.normal(0, 2.0, size=2)",
        "t + g *", "t + g + g *",
    ),
    (
        "a = b = 0.0\n"
        "for u, v in x:\n"
        "    n = max(1.0, math.hypot(u, v))\n"
        "    a += u / n\n"
        "    b += v / n\n"
        "return [a + rng.normal(0, 2.0), b + rng.normal(0, 2.0)]",
        "b += v / n", "b += v",
    ),
    (
        "g = np.array(x, dtype=float).reshape(-1, 2)\n"
        "g = np.clip(g, -1 / math.sqrt(2), 1 / math.sqrt(2))\n"
        "return np.sum(g, axis=0) + rng.normal(0, 2.0, size=2)",
        "-1 / math.sqrt(2), 1 / math.sqrt(2)", "-1, 1",
    ),
    (
        "g = np.array(x, dtype=float).reshape(-1, 2)\n"
        "def clip(g, bound):\n"
        "    return g / np.maximum(1, np.linalg.norm(g, axis=-1, keepdims=True) / bound)\n"
        "return clip(g, 1.0).sum(0) + rng.normal(scale=2.0 * 1.0, size=g.shape[1])",
        "clip(g, 1.0)", "clip(g, 2.0)",
    ),
    (
        "g = np.array(x, dtype=float).reshape(-1, 2)\n"
        "n = np.linalg.norm(g, axis=1, keepdims=True)\n"
        "t = (g / np.maximum(1, n)).sum(axis=0)\n"
        "for j in range(2):\n"
        "    t[j] += rng.normal(0, 2.0)\n"
        "return t",
        "for j in range(2)", "for j in range(1)",
    ),
]  # fmt: skip
VECTORS = [(0.0, 0.0), (3.0, 4.0), (0.6, 0.0), (0.0, -2.0), (2.0, 3.0), (-1.0, -1.0)]


def of_histograms(epsilon):
    return dp.spec(space=dp.value_lists(values=[0, 1, 2]), distance="add-remove", standard="pure", epsilon=epsilon)


def of_means(epsilon):
    space = dp.value_lists(values=[0, 1, 2, 3, 10], least=20, most=20)
    return dp.spec(space=space, distance="replace-one", standard="pure", epsilon=epsilon)


def of_steps(mu):
    return dp.spec(space=dp.value_lists(values=VECTORS), distance="add-remove", standard="gaussian", mu=mu)


CASES = [
    *((of_histograms, 1, f"histogram_{place}", case) for place, case in enumerate(HISTOGRAMS)),
    *((of_means, 1, f"mean_{place}", case) for place, case in enumerate(MEANS)),
    *((of_steps, dp.number("1/2"), f"step_{place}", case) for place, case in enumerate(STEPS)),
]


def judged(spec, text, folder, name):
    body = "".join(f"    {line}\n" for line in text.splitlines())
    function = getattr(module_of(f"{HEAD}def {name}(x, rng):\n{body}", folder, name), name)
    try:
        return WholeProof.of(whole_tree(function, spec, most_paths=500), spec).verdict()
    except (NoConstant, DpspecError) as problem:
        return str(problem)


@pytest.mark.parametrize("case", CASES, ids=[name for _, _, name, _ in CASES])
def test_every_spelling_is_verified_and_its_budget_is_tight(case, tmp_path):
    claim, budget, name, (right, _, _) = case
    found = judged(claim(budget), right, tmp_path, name)
    assert not isinstance(found, str), found
    assert found.outcome is Outcome.VERIFIED
    assert judged(claim(budget * 4 / 5), right, tmp_path, f"{name}_tight").outcome is Outcome.REFUTED


@pytest.mark.parametrize("case", CASES, ids=[name for _, _, name, _ in CASES])
def test_no_twin_with_one_mistake_is_verified(case, tmp_path):
    claim, budget, name, (right, part, mistake) = case
    assert part in right
    found = judged(claim(budget), right.replace(part, mistake), tmp_path, f"{name}_twin")
    assert isinstance(found, str) or found.outcome is not Outcome.VERIFIED
