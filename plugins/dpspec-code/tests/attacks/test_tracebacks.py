"""What a traceback shows, and what stands behind an array, is part of the outcome for every engine."""

# ruff: noqa: RUF034, B904, B018
# two equal branches lie at different columns; contexts, and what raises, are what is tested

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from dpspec_code.automatic.sampler import enumerate_law
from dpspec_code.sampled.engine import refute

from dpspec.verifier.entry import verify_claim
from dpspec.verifier.expression import Expression, form
from dpspec.verifier.observation import UnobservableError, observed, observed_raise
from dpspec.verifier.outputs import Raised, atom, outcome_atom
from dpspec.verifier.verdict import Outcome
from tests.sampled.toys import BIT, claim


def caught(function, *given):
    """What a function raises, without the frame of the test that calls it."""
    try:
        function(*given)
    except BaseException as problem:
        return problem.with_traceback(problem.__traceback__.tb_next)
    raise AssertionError("it did not raise")


def seen(function, *given):
    return observed_raise(caught(function, *given))


# --- two exceptions that differ in one thing ------------------------------------------------------


def one_line(bit):
    return (1 // 0 if bit else 2) + (1 // 0)


def two_lines(bit):
    if bit:
        return 1 // 0
    return 1 // 0


def helper():
    raise ValueError("no")


def through_a_function(bit):
    return helper() if bit else another()


def another():
    raise ValueError("no")


def by_name(bit):
    return [helper, lambda: helper()][bit]()  # noqa: PLW0108 (another frame on one line)


def caused(bit):
    raise ValueError("no") from (KeyError("a") if bit else KeyError("b"))


def suppressed_context(bit):
    try:
        raise KeyError("a" if bit else "b")
    except KeyError:
        raise ValueError("no") from None


def suppressed_place(bit):
    try:
        {}[0] if bit else {}[0]
    except KeyError:
        raise ValueError("no") from None


def context(bit):
    try:
        raise KeyError("a" if bit else "b")
    except KeyError:
        raise ValueError("no")


def shown_or_suppressed(bit):
    try:
        raise KeyError("a")
    except KeyError as problem:
        found = ValueError("no")
        found.__suppress_context__ = bool(bit)
        found.__context__ = problem
        raise found


def noted(bit):
    problem = ValueError("no")
    problem.add_note("a" if bit else "b")
    raise problem


def with_an_attribute(bit):
    problem = ValueError("no")
    problem.held = bit
    raise problem


def grouped(bit):
    raise ExceptionGroup("all", [ValueError("no"), KeyError("a" if bit else "b")])


def group_with_tracebacks(bit):
    try:
        1 // 0 if bit else 1 // 0
    except ZeroDivisionError as problem:
        raise ExceptionGroup("all", [problem, KeyError("a")]) from None


def note_in_the_context(bit):
    problem = KeyError("a")
    problem.add_note(str(bit))
    try:
        raise problem
    except KeyError:
        raise ValueError("no") from None


def deep(bit, depth=0):
    return deep(bit, depth + 1) if depth < 3 + bit else 1 // 0


def in_a_comprehension(bit):
    return [1 // 0 for _ in range(1)] if bit else [1 // 0 for _ in range(1)]


DIFFERING = [
    one_line, two_lines, through_a_function, by_name, caused, suppressed_context, suppressed_place, context, shown_or_suppressed,
    noted, with_an_attribute, grouped, group_with_tracebacks, note_in_the_context, deep, in_a_comprehension,
]  # fmt: skip


@pytest.mark.parametrize("function", DIFFERING)
def test_exceptions_that_differ_in_what_is_shown_are_two_outcomes(function):
    one, other = seen(function, 0), seen(function, 1)
    assert one != other
    assert one == seen(function, 0)
    assert hash(one) == hash(seen(function, 0))


@pytest.mark.parametrize("function", DIFFERING)
def test_the_sampling_engine_distinguishes_them_too(function):
    def raised(bit):
        return Raised.of(caught(function, bit))

    assert atom(raised(0)) != atom(raised(1))
    assert atom(raised(0)) == atom(raised(0))
    assert form(seen(function, 0)) != form(seen(function, 1))
    assert outcome_atom(seen(function, 0)) == atom(raised(0))
    assert json.loads(json.dumps(form(seen(function, 0)))) == list(form(seen(function, 0)))


@pytest.mark.spread(4, slow=6)  # the engine's atoms of all are compared above
@pytest.mark.parametrize("function", DIFFERING)
def test_what_tells_the_data_by_a_traceback_is_refuted_and_never_verified(function):
    """Each function releases one bit by the way in which it raises."""
    spec = claim(BIT, epsilon=1)
    released = lambda x, rng: function(x[0]) if rng.random() < 0.9 else 0  # noqa: E731
    assert refute(released, spec, draws=20_000).outcome is Outcome.REFUTED


@pytest.mark.parametrize("function", [one_line, suppressed_context, suppressed_place, through_a_function, in_a_comprehension])
def test_the_whole_engine_never_verifies_a_release_by_traceback(function):
    def released(x, rng):
        return function(x[0]) if rng.random() < 0.5 else 0

    assert verify_claim(released, claim(BIT, epsilon=1), draws=20_000).outcome is Outcome.REFUTED


# --- both engines see the same --------------------------------------------------------------------


def divides(x, rng):
    return 1 // (1 if rng.random() < 0.5 else 0)


def divides_twice(x, rng):
    return (1 // (1 if rng.random() < 0.5 else 0)) + (2 // (1 if rng.random() < 0.5 else 0))


def indexes(x, rng):
    return [1][1 if rng.random() < 0.5 else 0]


def looks_up(x, rng):
    return {"a": 1}["a" if rng.random() < 0.5 else "b"]


def raises_itself(x, rng):
    if rng.random() < 0.5:
        raise ValueError("no", 1)
    return 0


def calls(x, rng):
    return inner(rng.random() < 0.5)


def inner(flag):
    return int("1" if flag else "x")


def unpacks(x, rng):
    a, b = (1, 2) if rng.random() < 0.5 else (1, 2, 3)
    return a + b


def handles(x, rng):
    try:
        return [1][1 if rng.random() < 0.5 else 0]
    except IndexError:
        raise KeyError("again") from None


def chains(x, rng):
    try:
        return [1][1 if rng.random() < 0.5 else 0]
    except IndexError as problem:
        raise KeyError("again") from problem


def in_a_list(x, rng):
    return [1 // v for v in ((1, 1) if rng.random() < 0.5 else (1, 0))]


def in_a_loop(x, rng):
    total = 0
    for value in [1, 0 if rng.random() < 0.5 else 2]:
        total += 1 // value
    return total


def over_two_lines(x, rng):
    return (
        1
        // (1 if rng.random() < 0.5 else 0)
    )  # fmt: skip


def by_method(x, rng):
    return "abc".index("a" if rng.random() < 0.5 else "z")


@pytest.mark.parametrize(
    "function",
    [
        divides, divides_twice, indexes, looks_up, raises_itself, calls, unpacks, handles, chains, in_a_list, in_a_loop,
        over_two_lines, by_method,
    ],
)  # fmt: skip
def test_real_runs_show_what_is_read_off_the_code(function):
    law = enumerate_law(function, (0,))
    known, real = set(law.support), set()
    for seed in range(40):
        try:
            real.add(observed(function((0,), np.random.default_rng(seed))))
        except Exception as problem:
            real.add(observed_raise(problem.with_traceback(problem.__traceback__.tb_next)))
    assert real == known


# --- forms, and what is refused -------------------------------------------------------------------


def test_a_form_without_details_stands_for_every_exception_of_its_type_and_message():
    event = Expression.listed([("raises", "ZeroDivisionError", "integer division or modulo by zero")])
    assert all(event.holds(seen(two_lines, bit)) for bit in (0, 1))
    assert [Expression.listed([form(seen(two_lines, 0))]).holds(seen(two_lines, bit)) for bit in (0, 1)] == [True, False]


def test_an_exception_of_a_class_that_is_made_on_the_way_is_not_compared():
    class Local(Exception):
        pass

    with pytest.raises(UnobservableError, match="made on the way"):
        observed_raise(Local("a"))
    assert atom(Raised.of(Local("a"))) == (("raises", "Local", "a"), ())


def test_exceptions_that_hold_each_other_are_compared():
    def circle(bit):
        first, second = ValueError("a"), KeyError("b")
        first.__context__, second.__context__ = second, first
        raise first if bit else second

    assert seen(circle, 0) == seen(circle, 0) != seen(circle, 1)


def test_a_recursion_without_end_looks_the_same_at_every_depth():
    def endless():
        return endless()

    def deeper(depth):
        return deeper(depth - 1) if depth else seen(endless)

    places = {tuple(frame for frame in deeper(depth).content[4]) for depth in (0, 7)}
    assert len(places) == 1


def test_the_text_names_the_place_and_what_is_behind_it():
    place = helper.__code__.co_firstlineno + 1
    assert repr(seen(through_a_function, 1)) == f"raises ValueError: 'no' at test_tracebacks.py:{place}:4"
    assert "(while handling KeyError: 'a'" in repr(seen(suppressed_context, 1))
    assert "(from KeyError: 'b'" in repr(seen(caused, 0))


# --- arrays ---------------------------------------------------------------------------------------


def hidden(value: Any) -> Any:
    """An array of one entry, and behind it, in memory, another one."""
    return np.array([7.0, value])[:1]


def _flagged(bit):
    found = np.zeros(2)
    found.flags.writeable = bool(bit)
    return found


def _shared(bit):
    """Two entries of one array, or of two."""
    first, second = np.zeros(2), np.zeros(2)
    return [first[:1], (first if bit else second)[1:]]


ARRAYS = {
    "base": [hidden],
    "base of a base": [lambda bit: hidden(bit)[:1].view()],
    "strides": [lambda bit: np.zeros(8)[:: 2 + bit][:2]],
    "order": [lambda bit: np.zeros((2, 2), order="F" if bit else "C")],
    "writeable": [_flagged],
    "owner": [lambda bit: np.zeros(2) if bit else np.zeros(2).view()],
    "offset": [lambda bit: np.zeros(3)[bit : bit + 1]],
    "bytes": [lambda bit: np.frombuffer(bytes([7, bit]), dtype=np.uint8, count=1)],
    "aligned": [lambda bit: np.frombuffer(b"\0" * 17, dtype=np.uint8)[bit : bit + 16].view(np.int64)],
    "shared": [_shared],
    "objects": [lambda bit: np.array([7, bit], dtype=object)[:1]],
    "texts": [lambda bit: np.array(["a", str(bit)])[:1]],
    "transposed": [lambda bit: np.arange(4).reshape(2, 2).T if bit else np.array([[0, 2], [1, 3]])],
    "repeated": [lambda bit: np.broadcast_to(np.array([1.0]), (2,)) if bit else np.array([1.0, 1.0])],
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_differ_in_memory_alone_are_two_outcomes(name):
    (made,) = ARRAYS[name]
    assert observed(made(0)) != observed(made(1))
    assert atom(made(0)) != atom(made(1))
    assert observed(made(0)) == observed(made(0))
    assert atom(made(1)) == atom(made(1))


def test_numbers_behind_a_view_are_numbers_of_the_output():
    """So a search groups such outputs as it groups others, and finds what the array behind a view shows."""
    shape, numbers = atom(hidden(0.25))
    assert numbers == (7.0, 7.0, 0.25)
    assert shape == atom(hidden(0.5))[0]


def test_arrays_over_foreign_memory_are_refused():
    with pytest.raises(UnobservableError, match="shows the memory"):
        observed(np.frombuffer(memoryview(bytearray(8)), dtype=np.uint8))


@pytest.mark.parametrize("engine", ["sampled", "whole"])
def test_what_stands_behind_a_view_is_judged(engine):
    """One noisy entry is shown; the array behind it holds the bit itself."""

    def leaky(x, rng):
        return np.array([rng.laplace(), float(x[0])])[:1]

    def right(x, rng):
        return np.array([x[0] + rng.laplace(), 0.0])[:1]

    spec = claim(BIT, epsilon=1)
    for function, wrong in ((leaky, True), (right, False)):
        found = {"sampled": refute, "whole": verify_claim}[engine](function, spec, draws=20_000)
        assert (found.outcome is Outcome.REFUTED) == wrong
        assert found.outcome is not Outcome.VERIFIED or not wrong


def test_no_two_of_these_are_one_outcome():
    everything = [seen(function, bit) for function in DIFFERING for bit in (0, 1)]
    everything += [observed(made(bit)) for name, (made,) in ARRAYS.items() for bit in (0, 1)]
    for one, other in itertools.combinations(everything, 2):
        assert one != other or repr(one) == repr(other)
    assert math.isfinite(len(everything))
