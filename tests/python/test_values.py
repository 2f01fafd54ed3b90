"""Objects of the Python API as values: copies in other processes, truth values, and arguments of a wrong kind."""

from __future__ import annotations

import ast
import itertools
import os
import pickle
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpspec as dp
import dpspec.testing
from dpspec.base.errors import ParameterError
from dpspec.comparison import families
from dpspec.comparison.compare import Implication


def promise(epsilon: Any = 1) -> Any:
    people = dp.records(region=["north", "south"])
    return dp.spec(space=people, distance="add-remove", standard="pure", epsilon=epsilon)


BITS = dp.bit_vectors(length=2)
ONES = dp.linear_map(rows=[[1, 1]], label="ones")
SPECS = Path(__file__).parents[2] / "specs"


def promise_on_bits(epsilon: Any) -> Any:
    return dp.spec(space=BITS, distance="hamming-ordered", standard="pure", epsilon=epsilon)


API: Any = dp
"""The same without its types: some arguments below are wrong."""
TESTING: Any = dpspec.testing
COUNTS = dp.laplace(queries=dp.marginal(attributes="region"), epsilon=1)


def test_a_derivation_is_pickled() -> None:
    found = dp.compare(promise(1), promise(2)).forward.derivation
    assert found is not None
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301 - written by this test


def test_comparisons_with_separations_are_pickled() -> None:
    """By each kind of mechanism that separates: it is made of functions of modules, and its laws are the same afterwards."""
    fixed = dp.spec(space=BITS, invariants=[ONES], distance="hamming-ordered", standard="pure", epsilon=2)
    rho = dp.spec(space=BITS, distance="differ-in-one-position", standard="zcdp", rho="1/4")
    kinds = set()
    for given in (promise_on_bits(1), fixed, rho):
        found = dp.compare(given, promise_on_bits("1/8"))
        copy = pickle.loads(pickle.dumps(found))  # noqa: S301 - written by this test
        assert copy == found
        separation, its = found.forward.separation, copy.forward.separation
        assert separation is not None
        for dataset in BITS.datasets():
            assert repr(its.run.law(dataset, BITS)) == repr(separation.run.law(dataset, BITS))
        kinds.add(type(separation.run).__name__)
    assert kinds == {"Answered", "ReleaseInvariants"}


def test_numbers_and_cuts_of_families_of_mechanisms_are_pickled() -> None:
    fixed = dp.spec(space=BITS, invariants=[ONES], distance="hamming-ordered", standard="pure", epsilon=1)
    for family in (families.cuts, families.answered, families.reach, families.events, families.outside, families.invariants):
        for premise in (promise_on_bits(1), fixed):
            for candidate in itertools.islice(family(premise, promise_on_bits("1/8")), 5):
                pickle.dumps(candidate)


def test_answers_of_commands_are_pickled(tmp_path: Path) -> None:
    design = SPECS / "gaussian-lecture-corrected.dpspec.toml"
    swap = SPECS / "swapping-derangement.dpspec.toml"
    (tmp_path / "one.dpspec.toml").write_bytes(design.read_bytes())
    answers = (
        dp.diff(design, swap), dp.exposure(swap), dp.lock(tmp_path, lock=tmp_path / "dpspec.lock"), dp.catalogue(tmp_path),
        dp.check(design), dp.plugins(), dp.order(promise(1), promise(2)),
    )  # fmt: skip
    for answer in answers:
        assert str(pickle.loads(pickle.dumps(answer))) == str(answer)  # noqa: S301 - written by this test


def test_no_answer_of_a_command_holds_a_function_without_a_name() -> None:
    """A lambda cannot be pickled: a partial function is used instead."""
    for path in (path for where in ("dpspec", "plugins") for path in (SPECS.parent / where).rglob("*.py")):
        text = path.read_text("utf-8")
        if "CommandAnswer(" in text and "tests" not in path.parts:
            calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
            made = [call for call in calls if ast.unparse(call.func).endswith("CommandAnswer")]
            given = [one for call in made for one in (*call.args, *(keyword.value for keyword in call.keywords))]
            assert not any(isinstance(one, ast.Lambda) for one in given), path.name


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
