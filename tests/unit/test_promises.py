"""Promises of a class do not outlive what they are about."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import attrs

from dpspec.base.promises import Promising, is_a, is_promised


class Voice(Promising):
    """A kind with two promises, one of which says once more what a voice is, and a helper beside them."""

    name: ClassVar[str]
    _promised: ClassVar[Any] = {"is_loud": False, "words": None}
    _restated = frozenset({"words"})
    _asides = frozenset({"check"})
    is_loud: ClassVar[bool] = False

    @abstractmethod
    def says(self) -> str:
        """What it is about."""

    def words(self) -> Any:
        return [self.says()]

    def check(self) -> None:
        return


class Shout(Voice):
    """A complete class that promises."""

    name: ClassVar[str] = "shout"
    is_loud: ClassVar[bool] = True
    times: int = 1

    def says(self) -> str:
        return "HEY" * self.times + self._end()

    def _end(self) -> str:
        return "!"

    def words(self) -> Any:
        return ["HEY!"]


class Twice(Shout):
    """A further member."""

    more: int = 2


class Checked(Shout):
    """An aside is no change."""

    def check(self) -> None:
        raise ValueError


class Whisper(Shout):
    """What the promise is about has changed."""

    def says(self) -> str:
        return "hey"


class Ends(Shout):
    """A helper of what the promise is about has."""

    def _end(self) -> str:
        return "?"


class StillLoud(Whisper):
    """It says so again."""

    is_loud: ClassVar[bool] = True


class Restated(Shout):
    """What is said once more has changed."""

    def words(self) -> Any:
        return []


class Below(Whisper):
    """Nothing of its own, below what has changed."""


CHANGED = (Whisper, Ends, Below, Restated)


def test_a_promise_is_withdrawn_where_what_it_is_about_changes() -> None:
    assert [cls.is_loud for cls in (Shout, Twice, Checked)] == [True] * 3
    assert [cls.is_loud for cls in CHANGED] == [False] * 4
    assert Whisper.words is None
    assert Shout().words() == ["HEY!"]


def test_a_promise_may_be_stated_again() -> None:
    assert StillLoud.is_loud is True


def test_who_is_of_a_class_without_having_changed_it() -> None:
    assert [is_a(cls(), Shout) for cls in (Shout, Twice, Checked)] == [True] * 3
    assert [is_a(cls(), Shout) for cls in (*CHANGED, StillLoud)] == [False] * 5
    assert is_a(Below(), Whisper)
    assert is_a(Whisper(), Shout, Whisper)
    assert not is_a(5, Shout)


def test_a_changed_class_has_a_name_of_its_own() -> None:
    assert [cls.name for cls in (Shout, Twice, Checked)] == ["shout"] * 3
    assert [cls.name for cls in (Whisper, Ends, Restated)] == ["whisper", "ends", "restated"]

    class OfTwoWords(Whisper):
        name: ClassVar[str] = "given"

    assert OfTwoWords.name == "given"


def test_whether_a_stated_promise_is_valid() -> None:
    assert is_promised(Shout(), "is_loud")
    assert is_promised(Twice(), "is_loud")
    assert is_promised(StillLoud(), "is_loud")

    class Later(StillLoud):
        def says(self) -> str:
            return ""

    assert not Later.is_loud


@attrs.frozen
class Valued(Promising):
    """A class of values."""

    name: ClassVar[str] = "valued"
    size: int


class Hidden(Valued):
    """State that no comparison sees."""

    def __init__(self, size: int, more: int) -> None:
        object.__setattr__(self, "size", size)
        self.__dict__["more"] = more


def test_state_of_its_own_is_compared_by_identity() -> None:
    assert Valued(1) == Valued(1)
    one = Hidden(1, 2)
    assert one == one
    assert one != Hidden(1, 2)
