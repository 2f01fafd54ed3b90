"""What an observer sees: one definition, which both engines follow."""

from __future__ import annotations

import collections
import copy
import itertools
import struct
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpspec.verifier.observation import UnobservableError, observed, observed_raise, steady
from dpspec.verifier.outputs import atom

ODD_NAN = struct.unpack(">d", b"\x7f\xf8\0\0\0\0\0\1")[0]
DIFFERENT: list[Any] = [
    1,
    True,
    1.0,
    np.int64(1),
    np.int32(1),
    np.float64(1),
    np.float32(1),
    np.bool_(True),
    Fraction(1),
    Decimal(1),
    Decimal("1.0"),
    1j,
    0.0,
    -0.0,
    np.float64(-0.0),
    float("nan"),
    ODD_NAN,
    np.float64("nan"),
    float("inf"),
    "1",
    b"1",
    bytearray(b"1"),
    np.str_("1"),
    None,
    "None",
    (),
    [],
    set(),
    {},
    (1,),
    [1],
    {1},
    frozenset([1]),
    {1: 2},
    {2: 1},
    {1: 2, 3: 4},
    {3: 4, 1: 2},
    (1, (2,)),
    ((1,), 2),
    (1, 2),
    np.array([1]),
    np.array([1.0]),
    np.array([[1]]),
    np.array(1),
    np.array([1], dtype="i4"),
    np.array([1], dtype=">i8"),
    np.array([0.0]),
    np.array([-0.0]),
    np.array([True]),
    np.array(["a"]),
    np.array([1], dtype=object),
    np.arange(6).reshape(2, 3).copy(),
    np.asfortranarray(np.arange(6).reshape(2, 3)),
    2**60,
    2**60 + 1,
    np.int64(2**60),
    collections.Counter([1]),
    collections.OrderedDict({1: 1}),
    collections.defaultdict(int, {1: 1}),
    collections.defaultdict(None, {1: 1}),
    collections.deque([1]),
    collections.deque([1], maxlen=3),
    range(3),
    [None],
    (None,),
    "raises ValueError",
    [{8, 0}],
    [{0, 8}],
]


def test_two_values_are_one_sight_or_one_atom_only_when_they_are_the_same() -> None:
    for left, right in itertools.combinations(range(len(DIFFERENT)), 2):
        assert observed(DIFFERENT[left]) != observed(DIFFERENT[right]), (DIFFERENT[left], DIFFERENT[right])
        assert atom(DIFFERENT[left]) != atom(DIFFERENT[right]), (DIFFERENT[left], DIFFERENT[right])
    for value in DIFFERENT:
        again = copy.deepcopy(value)
        assert observed(again) == observed(value)
        assert hash(observed(again)) == hash(observed(value))
        assert atom(again) == atom(value)


def raised(problem: BaseException, note: str = "", cause: BaseException | None = None) -> Any:
    if note:
        problem.add_note(note)
    problem.__cause__ = cause
    return observed_raise(problem)


def test_two_exceptions_are_one_sight_only_when_all_that_is_told_is_the_same() -> None:
    sights = [
        raised(ValueError()),
        raised(ValueError("a")),
        raised(ValueError("a", 1)),
        raised(ValueError(("a", 1))),
        raised(TypeError("a")),
        raised(ValueError("a"), "note"),
        raised(ValueError("a"), cause=KeyError("a")),
        raised(ValueError("a"), cause=KeyError("b")),
        raised(SystemExit(0)),
        raised(SystemExit(False)),
        raised(SystemExit("0")),
        raised(KeyError("a")),
        raised(OSError(2, "no", "f")),
        raised(OSError(2, "no", "g")),
        raised(ExceptionGroup("a", [ValueError(1)])),
        raised(ExceptionGroup("a", [ValueError(2)])),
    ]
    assert len({*sights}) == len(sights)
    assert raised(ValueError("a")) == raised(ValueError("a"))
    assert observed("a") != observed("a", printed="b")


class Own:
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class Labelled(list):  # type: ignore[type-arg]
    pass


class Quiet(ValueError):
    def __str__(self) -> str:
        return ""


SHARED: list[int] = []
WITHIN: list[Any] = []
WITHIN.append(WITHIN)


@pytest.mark.parametrize(
    "value",
    [
        Own(),
        Labelled([1]),
        iter([1]),
        (i for i in (1,)),
        len,
        lambda: 1,
        object(),
        [SHARED, SHARED],
        WITHIN,
        {"a", "b"},
        {None, 1},
        np.ma.masked_array([1], [True]),
        np.zeros(1, dtype=[("a", int)]),
        np.longdouble(1),
        collections.defaultdict(lambda: 1),
        np.array([Own()], dtype=object),
        (1, [Own()]),
        type,
        np.random,
        int.__add__,
    ],
)
def test_what_cannot_be_compared_is_refused(value: Any) -> None:
    with pytest.raises(UnobservableError):
        observed(value)
    assert atom(value) == (("object", f"an object of type {type(value).__name__}"), ())


def test_an_exception_that_writes_itself_is_refused() -> None:
    with pytest.raises(UnobservableError):
        observed_raise(Quiet("secret"))


def test_the_hash_of_a_text_is_not_steady() -> None:
    assert [steady(v) for v in (1, True, 0.5, (1, 2), "a", None, float("nan"), ("a",))] == [True] * 4 + [False] * 4
