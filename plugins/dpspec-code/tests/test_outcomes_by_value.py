"""Defects come before verdicts; events name types, texts and exceptions; outcomes can be compared by value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dpspec_code.case import BY_VALUE
from dpspec_code.sampled.engine import refute
from dpspec_code.trial import FunctionRaisesError, trial

from dpspec.verifier.entry import verify_claim
from dpspec.verifier.observation import UnobservableError, compared_by_value, observed, observed_raise
from dpspec.verifier.verdict import Outcome
from tests.sampled.toys import BIT, LISTS, claim, laplace_count
from tests.verify.toys import bits_spec

pytestmark = pytest.mark.usefixtures("in_this_process")

TWO = bits_spec(length=2, epsilon="ln(3)")


# --- a function that raises on most datasets ------------------------------------------------------


def on_some(*raising: Any) -> Any:
    def function(x: Any, rng: Any) -> int:
        if tuple(x) in raising:
            raise ValueError("cannot handle it")
        return int(rng.random() < 0.5)

    return function


ALL = [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize("raising", [ALL, ALL[1:], ALL[:3]])
def test_a_function_that_raises_on_most_datasets_is_a_defect(raising: Any) -> None:
    with pytest.raises(FunctionRaisesError, match=r"raised in .*ValueError: cannot handle it"):
        verify_claim(on_some(*raising), TWO, draws=2_000)


@pytest.mark.parametrize("raising", [ALL[:1], ALL[:2], ALL[2:]])
def test_a_function_that_raises_on_few_datasets_is_judged(raising: Any) -> None:
    found = verify_claim(on_some(*raising), TWO, draws=20_000)
    assert found.outcome is Outcome.REFUTED
    assert "raises" in [finding.code for finding in found.findings]
    assert found.witness is not None
    assert found.witness.event is not None
    assert "ValueError" in found.witness.event.text or "outcome" in found.witness.event.text


def test_a_function_that_raises_by_chance_is_judged_on_every_dataset() -> None:
    def now_and_then(x: Any, rng: Any) -> int:
        if rng.random() < 0.5:
            raise ValueError("no")
        return 0

    found = trial(now_and_then, ALL)
    assert (found.raised > 0, found.failing) == (True, 0)
    assert verify_claim(now_and_then, TWO, draws=2_000).outcome is Outcome.VERIFIED


# --- what an event names --------------------------------------------------------------------------


def by_type(x: Any, rng: Any) -> Any:
    value = int(rng.random() < 0.5)
    return np.int64(value) if x[0] else value


def by_text(x: Any, rng: Any) -> int:
    print("one" if x[0] else "none")
    return int(rng.random() < 0.5)


def by_place(x: Any, rng: Any) -> int:
    if rng.random() < 0.5:
        if x[0]:
            raise KeyError("a")
        raise KeyError("a")
    return 0


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (by_type, ("(int)", "np.int64(", "distinct from")),
        (by_text, ("after printing", "one", "none")),
        (by_place, ("KeyError", "distinct from")),
    ],
)
def test_the_event_names_what_differs(function: Any, words: Any) -> None:
    found = verify_claim(function, claim(BIT, epsilon=1), draws=5_000)
    assert found.outcome is Outcome.REFUTED
    assert found.witness is not None
    assert found.witness.event is not None
    for word in words:
        assert word in found.witness.event.text, found.witness.event.text


def test_the_sampling_engine_names_types_too() -> None:
    found = refute(by_type, claim(BIT, epsilon=1), draws=20_000)
    assert found.outcome is Outcome.REFUTED
    assert "distinct from" in found.witness.event.text
    assert "np.int64" in found.witness.event.text


def test_an_integral_double_is_written_as_a_double() -> None:
    found = refute(lambda x, rng: 1.0 if x[0] else 1, claim(BIT, epsilon=1), draws=20_000)
    assert found.outcome is Outcome.REFUTED
    assert found.witness.event.text in (
        "out = 1 (int), distinct from 1.0 (float) on x'",
        "out = 1.0 (float), distinct from 1 (int) on x",
    )


# --- by value -------------------------------------------------------------------------------------


EQUAL = [
    [0, 0.0, -0.0, False, np.int64(0), np.float32(0), np.bool_(False)],
    [(1, 2), (1.0, np.int8(2)), (True, 2)],
    [[1.0, 2.0], np.array([1, 2]), np.array([9, 1, 2])[1:], [np.float64(1), 2]],
    [{"a": 1}, {"a": np.int64(1)}],
    [float("nan"), np.float64("nan")],
    ["a", np.str_("a")],
]


@pytest.mark.parametrize("values", EQUAL, ids=repr)
def test_equal_values_are_one_outcome_by_value(values: Any) -> None:
    with compared_by_value():
        assert len({observed(value) for value in values}) == 1
    assert len({observed(value) for value in values}) == len(values)


def test_different_values_stay_different_by_value() -> None:
    with compared_by_value():
        assert len({observed(value) for value in (0, 1, "0", None, (0,), [0], 2**60, 2**60 + 1, 0.5, {"a": 0}, b"0")}) == 11
        assert observed(0, "text") != observed(0)
        assert observed_raise(ValueError("a")) != observed_raise(ValueError("b")) != observed_raise(TypeError("b"))
    assert observed(0) != observed(False)


def test_the_option_changes_the_verdict_where_types_alone_differ() -> None:
    spec = claim(BIT, epsilon=1)
    for function in (by_type, by_place):
        assert verify_claim(function, spec, draws=5_000).outcome is Outcome.REFUTED
        found = verify_claim(function, spec, draws=5_000, by_value=True)
        assert found.outcome is Outcome.VERIFIED
        assert BY_VALUE in found.assumptions
    assert verify_claim(by_text, spec, draws=5_000, by_value=True).outcome is Outcome.REFUTED


def test_noise_that_is_a_symbol_is_sampled_by_value() -> None:
    found = verify_claim(laplace_count(1.0), claim(LISTS, epsilon=1), draws=3_000, by_value=True)
    assert (found.outcome, found.method) == (Outcome.UNDECIDED, "sampled")
    assert verify_claim(laplace_count(0.3), claim(LISTS, epsilon=1), draws=60_000, by_value=True).outcome is Outcome.REFUTED
    with compared_by_value(False), pytest.raises(UnobservableError):
        observed(iter([1]))
