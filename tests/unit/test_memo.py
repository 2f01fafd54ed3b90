"""Kept answers: found again for equal arguments, computed anew for what cannot be hashed, and counted once in each search."""

from __future__ import annotations

import pytest

from dpspec.base.errors import WorkLimitError
from dpspec.base.memo import Identity, distinct, is_hashable, key_of, memoize
from dpspec.base.work import limited, spend


def test_an_answer_is_computed_once_for_equal_arguments() -> None:
    calls: list[object] = []

    @memoize(maxsize=2)
    def answer(value: object, *, twice: bool = False) -> object:
        calls.append(value)
        return (value, twice)

    assert answer((1, 2)) == answer((1, 2)) == ((1, 2), False)
    assert answer((1, 2), twice=True) == ((1, 2), True)
    assert len(calls) == 2
    answer("other"), answer("another")
    answer((1, 2))
    assert len(calls) == 5  # two answers are kept, and the first one is not among them any more


def test_what_cannot_be_hashed_is_computed_each_time_and_errors_pass_through() -> None:
    calls: list[object] = []

    @memoize(maxsize=8)
    def size(value: list[int]) -> int:
        calls.append(value)
        if not value:
            raise TypeError("empty")
        return len(value)

    assert (size([1]), size([1]), len(calls)) == (1, 1, 2)
    with pytest.raises(TypeError, match="empty"):
        size(())  # type: ignore[arg-type]  # it can be hashed, so that the error is one of the function, which runs once
    assert len(calls) == 3


def test_the_work_of_an_answer_counts_once_in_each_search() -> None:
    @memoize(maxsize=8)
    def costly(value: int) -> int:
        spend(60)
        return value

    with limited(100):
        assert (costly(1), costly(1)) == (1, 1)
    with limited(100):
        costly(1)  # known, and as expensive as it was
    with pytest.raises(WorkLimitError), limited(100):
        costly(1), costly(2)
    with pytest.raises(WorkLimitError), limited(50):
        costly(1)


def test_keys_and_identities() -> None:
    one, other = [1], [1]
    assert (is_hashable((1, 2)), is_hashable((1, [2]))) == (True, False)
    assert key_of("a") == "a"
    assert key_of(one) == key_of(one) != key_of(other)
    assert hash(Identity(one)) == hash(Identity(one))
    assert Identity((1, 2)) != (1, 2)
    assert distinct([one, other, one, 2, 2.0]) == [one, other, 2]
