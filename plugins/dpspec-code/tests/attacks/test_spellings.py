"""Spellings of one thing in numpy: each is read with its exact constant, and its twin with one mistake is not verified."""

from __future__ import annotations

import pytest
from dpspec_code.automatic.symbolic import NoConstant, WholeProof, whole_tree

import dpspec as dp
from dpspec.base.errors import DpspecError
from dpspec.verifier.verdict import Outcome
from tests.attacks.plain import ENTRIES, module_of

COUNTS = dp.spec(space=dp.integer_counts(length=3), distance="l1", standard="pure", epsilon=1)
TEXTS = dp.spec(space=dp.value_lists(values=["a", "b", ""]), distance="add-remove", standard="pure", epsilon=1)
FIVE = dp.spec(space=dp.value_lists(values=[0, 1, 2], least=5, most=5), distance="replace-one", standard="pure", epsilon=1)
HISTOGRAM = "np.bincount(x, minlength=3)"
PAIRS = [
    (ENTRIES, f"{HISTOGRAM}.astype('float64') + rng.laplace(0.0, 1.0, size=3)", "1.0, size", "0.5, size"),
    (ENTRIES, f"rng.laplace({HISTOGRAM}, 1.0)", "1.0", "0.5"),
    (ENTRIES, f"rng.laplace(loc={HISTOGRAM}, scale=1.0)", "loc=", "loc=2 * "),
    (ENTRIES, f"[c.item() + rng.laplace(0, 1.0) for c in {HISTOGRAM}]", "1.0", "0.5"),
    (ENTRIES, f"np.atleast_2d({HISTOGRAM} + rng.laplace(0, 1.0, 3)).T", "1.0", "0.5"),
    (ENTRIES, f"{HISTOGRAM}.sum(keepdims=True) + rng.laplace(0, 1.0, 1)", "1.0", "0.5"),
    (ENTRIES, "rng.laplace(len(x), 1.0)", "1.0", "0.5"),
    (ENTRIES, "np.asarray(x).shape[0] + rng.laplace(0, 1.0)", "1.0", "0.5"),
    (ENTRIES, "np.asarray(x).size + rng.laplace(0, 1.0, size=1).item()", "1.0", "0.5"),
    (ENTRIES, "np.clip(np.array(x, dtype='float64'), 0, 1).sum() + rng.laplace()", "0, 1)", "0, 2)"),
    (ENTRIES, "np.clip(x, a_min=0, a_max=1).sum(axis=0) + rng.laplace()", "a_max=1", "a_max=2"),
    (ENTRIES, "np.minimum(np.maximum(x, 0), 1).sum() + rng.laplace()", "0), 1)", "0), 2)"),
    (ENTRIES, "np.where(np.array(x) > 1, 1, np.array(x)).sum() + rng.laplace()", "> 1, 1", "> 1, 2"),
    (ENTRIES, "np.sum((np.array(x) / 2) ** 2) + rng.laplace()", "/ 2", "/ 1"),
    (ENTRIES, "np.dot(np.array(x) / 2, np.array(x) / 2) + rng.laplace()", "/ 2, ", "/ 1, "),
    (ENTRIES, "np.count_nonzero(np.atleast_1d(x) > 0) + rng.laplace()", "np.count", "2 * np.count"),
    (FIVE, "np.clip(x, 0, 2).mean() + rng.laplace(scale=2 / 5)", "2 / 5", "1 / 5"),
    (FIVE, "sum(x) / len(x) + rng.laplace(scale=2 / len(x))", "scale=2", "scale=1"),
    (COUNTS, "np.array(x, dtype=np.float64) + rng.laplace(0, 1.0, 3)", "1.0", "0.5"),
    (COUNTS, "rng.laplace(x, 1.0)", "1.0", "0.5"),
    (ENTRIES, "np.clip(np.array(x, dtype=np.int32), 0, 1).sum() + rng.laplace()", "0, 1)", "0, 2)"),
    (ENTRIES, "np.clip(np.array(x, dtype='int8'), 0, 1).sum() + rng.laplace()", "0, 1)", "0, 2)"),
    (ENTRIES, "(np.array(x, dtype=np.int16) * 15000).sum() / 15000 + rng.laplace(0, 2.0)", "/ 15000", "/ 7500"),
    (TEXTS, "[np.sum(np.array(x) == k) + rng.laplace() for k in ['a', 'b']]", "==", "!="),
    (TEXTS, "np.where(np.asarray(x) == 'b', 1, 0).sum() + rng.laplace()", "1, 0", "2, 0"),
    (TEXTS, "len(np.array(x)[np.array(x) != '']) + rng.laplace()", "len(np", "2 * len(np"),
    (COUNTS, "np.array([[1, 0, 0], [0, 1, 1]]) @ np.array(x) + rng.laplace(0, 1.0, 2)", "[0, 1, 1]", "[0, 1, 2]"),
    (ENTRIES, "np.bincount(np.digitize(x, [0.5, 1.5]), minlength=3) + rng.laplace(size=3)", "size=3", ""),
    (ENTRIES, "np.bincount(np.searchsorted([0.5, 1.5], np.array(x)), minlength=3) + rng.laplace(size=3)", "size=3", "0, 0.5, 3"),
    (ENTRIES, "np.isin(x, [0, 2]).sum() + rng.laplace()", "np.isin", "2 * np.isin"),
    (TEXTS, "np.bincount([['a', 'b', ''].index(v) for v in x], minlength=3) + rng.laplace(size=3)", "size=3", "0, 0.9, 3"),
    (COUNTS, "np.cumsum(x)[-1] + rng.laplace()", "[-1] + rng.laplace()", "+ rng.laplace(size=3)"),
]
"""The claim, the code, a part of it, and the mistake that is made there."""


def read(spec, text, folder, name):
    function = getattr(module_of(f"import numpy as np\n\n\ndef {name}(x, rng):\n    return {text}\n", folder, name), name)
    try:
        return WholeProof.of(whole_tree(function, spec, most_paths=500), spec).verdict()
    except (NoConstant, DpspecError):
        return None


@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_every_spelling_is_read_and_its_twin_is_not_verified(number, tmp_path):
    spec, right, part, mistake = PAIRS[number]
    found = read(spec, right, tmp_path, f"right_{number}")
    assert found is not None
    assert found.outcome is Outcome.VERIFIED
    assert found.universes[0].constant.lower == found.universes[0].constant.upper == 1
    twin = read(spec, right.replace(part, mistake), tmp_path, f"twin_{number}")
    assert twin is None or twin.outcome is not Outcome.VERIFIED


BY_DEFAULT = """import numpy as np
from numpy.random import default_rng


def {name}(x, rng=None):
    {first}
    return len(x) + rng.laplace(0, 1.0)


def {name}_handed(x, rng):
    return {name}(x, rng)
"""


@pytest.mark.parametrize(
    ("first", "is_read"),
    [
        ("rng = rng or default_rng()", True),
        ("rng = rng or np.random.default_rng()", True),
        ("rng = default_rng() if rng is None else rng", True),
        ("rng = rng or default_rng(1)", True),
        ("rng = default_rng(1)", False),
        ("rng = default_rng(1) or rng", False),
        ("rng = rng and default_rng(1)", False),
    ],
)
def test_a_generator_that_is_made_by_default(first, is_read, tmp_path):
    """That code names `default_rng` says nothing; a call of it does."""
    name = "drawn_" + "".join(filter(str.isalnum, first))
    function = getattr(module_of(BY_DEFAULT.format(name=name, first=first), tmp_path, name), f"{name}_handed")
    try:
        outcome = WholeProof.of(whole_tree(function, ENTRIES, most_paths=500), ENTRIES).verdict().outcome
    except DpspecError:
        outcome = None
    assert (outcome is Outcome.VERIFIED) is is_read
