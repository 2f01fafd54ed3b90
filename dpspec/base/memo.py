"""Answers of a function that are kept, whatever it is called with.

Most objects of a specification can be hashed, so that an answer about them is found again. An object of a plugin need not be: it
is equal to itself alone as far as a dictionary is concerned, and an answer about it is computed each time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Generic, ParamSpec, TypeVar

from dpspec.base.work import current_search, spend, spent

Accepted = ParamSpec("Accepted")
Memoized = TypeVar("Memoized")
Keyed = TypeVar("Keyed")


def memoize(maxsize: int) -> Callable[[Callable[Accepted, Memoized]], Callable[Accepted, Memoized]]:
    """Keep the latest answers of a function, as `functools.lru_cache` does, where its arguments can be hashed.

    The work that an answer took (`dpspec.base.work`) is counted again, once in each limited search that finds it: whether a
    search ends does not depend on what was computed before.

    Args:
        maxsize: how many answers are kept.

    >>> @memoize(maxsize=8)
    ... def length(values):
    ...     return len(values)
    >>> length((1, 2)), length([1, 2])
    (2, 2)
    """

    def decorate(function: Callable[Accepted, Memoized]) -> Callable[Accepted, Memoized]:
        @functools.lru_cache(maxsize=maxsize)
        def kept(*args: Accepted.args, **kwargs: Accepted.kwargs) -> _Answer[Memoized]:
            before = spent()
            return _Answer(function(*args, **kwargs), spent() - before)

        @functools.wraps(function)
        def call(*args: Accepted.args, **kwargs: Accepted.kwargs) -> Memoized:
            try:
                return kept(*args, **kwargs).found()  # type: ignore[arg-type]  # whether they can be hashed is what is tried
            except TypeError:
                if is_hashable((*args, *kwargs.values())):
                    raise
            return function(*args, **kwargs)

        call.cache_clear = kept.cache_clear  # type: ignore[attr-defined]
        call.cache_info = kept.cache_info  # type: ignore[attr-defined]
        return call

    return decorate


class _Answer(Generic[Memoized]):
    """An answer that is kept, with its work and the search in which that was counted last."""

    __slots__ = ("answer", "search", "work")

    def __init__(self, answer: Memoized, work: int) -> None:
        self.answer, self.work, self.search = answer, work, current_search()

    def found(self) -> Memoized:
        if self.work and self.search != current_search():
            spend(self.work)
            self.search = current_search()
        return self.answer


def is_hashable(value: object) -> bool:
    """Whether a dictionary can hold the value as a key."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def key_of(value: object) -> object:
    """A dictionary key that is equal for equal values; a value that cannot be hashed is equal to itself alone.

    >>> key_of((1, 2)) == key_of((1, 2)), key_of([1]) == key_of([1])
    (True, False)
    """
    return value if is_hashable(value) else Identity(value)


def distinct(values: Iterable[Keyed]) -> list[Keyed]:
    """The values, each once, in their order; two that cannot be hashed are one if they are the same object.

    >>> distinct([2, 1, 2])
    [2, 1]
    """
    found: dict[object, Keyed] = {}
    for value in values:
        found.setdefault(key_of(value), value)
    return list(found.values())


class Identity(Generic[Keyed]):
    """A value as a key of its own: equal to the same object, and to nothing else.

    Also for values that are cheaper to read than to compare: two equal spaces of many attributes.
    """

    __slots__ = ("value",)

    def __init__(self, value: Keyed) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
