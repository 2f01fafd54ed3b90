"""Objects of the Python API as values: copies in other processes, truth values, and arguments of a wrong kind."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import dpspec as dp
import dpspec.testing
from dpspec.base.errors import ParameterError
from dpspec.comparison.compare import Implication


def promise(epsilon: Any = 1) -> Any:
    people = dp.records(region=["north", "south"])
    return dp.spec(space=people, distance="add-remove", standard="pure", epsilon=epsilon)


API: Any = dp
"""The same without its types: some arguments below are wrong."""
TESTING: Any = dpspec.testing
COUNTS = dp.laplace(queries=dp.marginal(attributes="region"), epsilon=1)


def test_a_derivation_is_pickled() -> None:
    found = dp.compare(promise(1), promise(2)).forward.derivation
    assert found is not None
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301 - written by this test


def test_a_specification_from_another_process_is_equal_and_has_the_same_hash() -> None:
    """The hash of a text differs between processes, so no hash is carried along."""
    code = (
        "import pickle, sys, dpspec as dp; people = dp.records(region=['north', 'south']);"
        "made = dp.spec(space=people, distance='add-remove', standard='pure', epsilon='ln(3)'); hash(made);"
        "sys.stdout.buffer.write(pickle.dumps(made))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": "7"}, capture_output=True, check=True
    )
    assert {pickle.loads(ran.stdout): "found"}[promise("ln(3)")] == "found"  # noqa: S301 - written by this test


def test_a_relation_is_no_truth_value() -> None:
    """`if compare(a, b).relation:` would be true for incomparable specifications, too."""
    relation = dp.compare(promise(1), promise(2)).relation
    assert relation is Implication.IMPLIES
    with pytest.raises(TypeError, match="not a truth value"):
        bool(relation)


@pytest.mark.parametrize(("given", "text"), [(np.float64(0.1), "1/10"), (np.int64(3), "3"), (Decimal("0.1"), "1/10")])
def test_numbers_of_libraries_are_read_as_they_print(given: Any, text: str) -> None:
    assert str(promise(given).budget) == f"epsilon = {text}"


@pytest.mark.parametrize("given", [np.bool_(True), np.float64("nan"), np.float32(0.1)])
def test_what_is_no_exact_number_is_refused(given: Any) -> None:
    with pytest.raises(ParameterError):
        promise(given)


@pytest.mark.parametrize("given", [{"north", "south"}, frozenset("ab")])
def test_categories_are_no_set(given: Any) -> None:
    """The order of a set differs from run to run, and two spaces with other orders are not equal."""
    with pytest.raises(dp.DpspecError, match="is a set"):
        dp.records(region=given)
    with pytest.raises(dp.DpspecError, match="is a set"):
        dp.marginal(attributes=given)


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda: API.convert("rho=1", "epsilon", delta=1e-6), 'convert\\(\\{"rho"'),
        (lambda: API.verify(type(COUNTS), promise()), "make an object of it"),
        (lambda: API.verify(3, promise()), "the mechanism first"),
        (lambda: TESTING.assert_satisfies(None, promise()), "the mechanism first"),
        (lambda: TESTING.assert_satisfies(promise(), COUNTS), "specification: cannot be a"),
        (lambda: TESTING.assert_satisfies(COUNTS, promise(), undecided="maybe"), "must be fail or pass"),
        (lambda: TESTING.find_witness(lambda x, rng: x, promise()), "give assert_satisfies the function"),
        (lambda: TESTING.find_witness(COUNTS, "file.dpspec.toml"), "must be five blocks"),
    ],
)
def test_an_argument_of_a_wrong_kind_is_an_error_that_says_what_to_write(call: Any, advice: str) -> None:
    with pytest.raises(ParameterError, match=advice):
        call()
