"""Loops over the places of entries, copies of the dataset, and samples by a mask, as people write them.

Each is verified on all datasets at once and refuted at four fifths of its budget; with one mistake it is not verified. A place
says which entry is at hand and nothing else: what uses it as a number is not read.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from dpspec_code.automatic.sampler import enumerate_law
from dpspec_code.automatic.symbolic import NoConstant, WholeProof, whole_tree

import dpspec as dp
from dpspec.base.errors import DpspecError
from dpspec.verifier.verdict import Outcome
from tests.attacks.plain import module_of

HEAD = "import numpy as np\n\n\n"
READ = {
    "places": ("t = 0\nfor i in range(len(x)):\n    t += min(x[i], 1)\nreturn t + rng.laplace()", "min(x[i], 1)", "x[i]"),
    "enumerated": (
        "t = 0\nfor i, v in enumerate(x):\n    t += 1 if v > 1 else 0\nreturn t + rng.laplace()", "v > 1", "i > 1",
    ),
    "enumerated_from_one": (
        "t = 0\nfor i, v in enumerate(x, 1):\n    t += v > 0\nreturn t + rng.laplace()", "t += v > 0", "t += i",
    ),
    "counts_by_place": (
        "h = [0, 0, 0]\nfor i in range(len(x)):\n    h[x[i]] += 1\nreturn [n + rng.laplace() for n in h]", "h[x[i]]", "h[i % 3]",
    ),
    "counts_written_out": (
        "h = [0, 0, 0]\nfor v in x:\n    h[v] = h[v] + 1\nreturn [n + rng.laplace() for n in h]", "h[v] + 1", "h[v] + 1 + v",
    ),
    "aligned": (
        "a = np.asarray(x, dtype=float)\nbig = a > 1\nt = 0\nfor i in range(len(a)):\n    if big[i]:\n        t += 1\n"
        "return t + rng.laplace()",
        "t += 1", "t += a[i]",
    ),
    "listed_places": (
        "at = [i for i in range(len(x)) if x[i] > 0]\nreturn sum(min(x[i], 1) for i in at) + rng.laplace()", "min(x[i], 1)", "i",
    ),
    "number_of_places": ("at = [i for i in range(len(x)) if x[i] > 0]\nreturn len(at) + rng.laplace()", "len(at)", "2 * len(at)"),
    "in_order": ("return sum(1 for v in sorted(x) if v > 0) + rng.laplace()", "sum(1", "sum(v"),
    "some": ("return any(v == 2 for v in x) + rng.laplace()", "any(", "2 * any("),
    "every": ("return float(all(v < 2 for v in x)) + rng.laplace()", "float(", "2 * float("),
    "copied": ("v = list(x)\nreturn v.count(2) + rng.laplace()", "v.count(2)", "2 * v.count(2)"),
    "asked_for_its_type": (
        "if not isinstance(x, (list, tuple)):\n    raise TypeError\nreturn len(x) + rng.laplace()", "len(x) + ", "len(x) * 2 + ",
    ),
}  # fmt: skip
"""The code of a count with noise of scale 1, a part of it, and the mistake that is made there."""
SAMPLED = {
    "mask": ("a = np.asarray(x, dtype=float)\nreturn len(a[rng.random(len(a)) < 0.5]) + rng.laplace()", "0.5", "0.9"),
    "mask_by_size": (
        "a = np.asarray(x)\nm = rng.random(size=a.shape) < 0.5\nreturn len(a[m]) + rng.laplace()", "len(a[m])", "len(a)",
    ),
    "sum_of_sampled": (
        "a = np.asarray(x, dtype=float)\nm = rng.random(len(x)) < 0.5\nreturn np.clip(a[m], 0, 1).sum() + rng.laplace()",
        "np.clip(a[m], 0, 1)", "a[m]",
    ),
    "sampled_places": (
        "at = [i for i in range(len(x)) if rng.random() < 0.5]\nreturn sum(min(x[i], 1) for i in at) + rng.laplace()",
        "min(x[i], 1)", "x[i]",
    ),
}  # fmt: skip
"""The same of a Poisson sample of half the entries."""
NOT_READ = [
    "t = 0\nfor i in range(len(x)):\n    t += i\nreturn t + rng.laplace()",
    "last = 0\nfor i in range(len(x)):\n    if x[i] == 2:\n        last = i\nreturn last + rng.laplace()",
    "t = 0\nfor i, v in enumerate(x):\n    t += isinstance(i, int)\nreturn t + rng.laplace(0, 0.5)",
    "t = 0\nfor i, v in enumerate(x):\n    t += [5, 1, 1][min(i, 2)]\nreturn t + rng.laplace()",
    "t = 0\nfor i in range(len(x)):\n    t += x[i - 1]\nreturn t + rng.laplace(0, 2)",
    "t = {}\nfor i in range(len(x)):\n    t[i] = 1\nreturn len(t) + rng.laplace()",
    "return [f'{i}' for i in range(len(x))], rng.laplace()",
    "return [i for i in range(len(x))] == [], rng.laplace()",
    "kept = [v for v in x if v > 1]\nreturn sum(x[i] > 0 for i in range(len(kept))) + rng.laplace()",
    "a = np.asarray(x)\nm = rng.random(len(a)) < 0.5\nreturn m.sum(), len(a[m]) + rng.laplace()",
    "a = np.asarray(x)\nm = rng.random(len(a)) < 0.5\nreturn len(a[~m]) + len(a[m]) + rng.laplace()",
    "a = np.asarray(x)\nu = rng.random(len(a))\nreturn len(a[u < 0.5]) + rng.laplace(), len(a[u < 0.9]) + rng.laplace()",
    "a = np.asarray(x)\nreturn len(a[rng.random(len(a)) < len(a) / 10]) + rng.laplace()",
    "a = np.asarray(x)\nreturn rng.random(len(a)).max() + rng.laplace()",
    "d = {0: 0, 1: 0}\nfor k in range(9):\n    i = rng.integers(2)\n    d[rng.integers(2)] = d.get(rng.integers(2), 0) + len(x)\n"
    "return d[0] + rng.laplace(0, 9)",
    "h = [0, 0, 0]\nk = 0\nfor v in x:\n    h[k] = h[k] + (k := v)\nreturn [n + rng.laplace() for n in h]",
    "a = np.asarray(sorted(x), dtype=float)\nreturn float((a * np.asarray(x)).clip(0, 1).sum()) + rng.laplace()",
    "a = np.asarray(sorted(x), dtype=float)\nb = np.asarray(x)\nreturn float(a[b > 1].clip(0, 1).sum()) + rng.laplace()",
    "a = sorted(x)\nt = 0\nfor i in range(len(x)):\n    t += min(a[i], x[i], 1)\nreturn t + rng.laplace()",
    "a = sorted(x)\nreturn (a[0] if a else 0) + rng.laplace()",
    "return all(v < 2 for v in x), rng.laplace()",
    "v = list(x)\nv.append(1)\nreturn len(v) + rng.laplace(0, 0.5)",
    "if isinstance(x, tuple):\n    return rng.laplace()\nreturn 2 * len(x) + rng.laplace()",
]


def claim(epsilon):
    return dp.spec(space=dp.value_lists(values=[0, 1, 2]), distance="add-remove", standard="pure", epsilon=epsilon)


def judged(epsilon, text, folder, name):
    body = "".join(f"    {line}\n" for line in text.splitlines())
    function = getattr(module_of(f"{HEAD}def {name}(x, rng):\n{body}", folder, name), name)
    try:
        return WholeProof.of(whole_tree(function, claim(epsilon), most_paths=500), claim(epsilon)).verdict()
    except (NoConstant, DpspecError) as problem:
        return str(problem)


@pytest.mark.parametrize("name", READ)
def test_places_are_read(name, tmp_path):
    right, part, mistake = READ[name]
    found = judged(1, right, tmp_path, name)
    assert not isinstance(found, str), found
    assert found.outcome is Outcome.VERIFIED
    assert judged("4/5", right, tmp_path, f"{name}_tight").outcome is Outcome.REFUTED
    assert part in right
    twin = judged(1, right.replace(part, mistake), tmp_path, f"{name}_twin")
    assert isinstance(twin, str) or twin.outcome is not Outcome.VERIFIED


def test_a_place_that_draws_is_drawn_twice(tmp_path):
    """d[U] = d.get(U', 0) + 1 with two draws: d[0] is 2 in a quarter of the runs where one draw would give it in half of them."""
    text = (
        "def drawn(x, rng):\n    d = {0: 1, 1: 0}\n    for k in range(1):\n"
        "        d[rng.integers(2)] = d.get(rng.integers(2), 0) + 1\n    return d[0]\n"
    )
    law = enumerate_law(module_of(text, tmp_path, "drawn").drawn, [0])
    assert {outcome: law.probability(outcome) for outcome in law.support} == {1: Fraction(3, 4), 2: Fraction(1, 4)}


@pytest.mark.parametrize("name", SAMPLED)
def test_samples_are_read(name, tmp_path):
    """ln(1 + (e - 1)/2) is about 0.6201."""
    right, part, mistake = SAMPLED[name]
    found = judged("0.6202", right, tmp_path, name)
    assert not isinstance(found, str), found
    assert found.outcome is Outcome.VERIFIED
    assert judged("0.62", right, tmp_path, f"{name}_tight").outcome is not Outcome.VERIFIED
    twin = judged("0.6202", right.replace(part, mistake), tmp_path, f"{name}_twin")
    assert isinstance(twin, str) or twin.outcome is not Outcome.VERIFIED


@pytest.mark.parametrize("text", NOT_READ)
def test_what_asks_for_more_than_the_entry_at_hand_is_not_verified(text, tmp_path):
    found = judged(1, text, tmp_path, "asks")
    assert isinstance(found, str) or found.outcome is not Outcome.VERIFIED
