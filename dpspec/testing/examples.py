"""What a class says itself that it wants to be tried with: its class method ``examples()``, where it has one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def examples(cls: type) -> list[Any]:
    """What the class yields: objects of it, or pairs (object, space)."""
    given: Callable[[], Iterable[Any]] | None = getattr(cls, "examples", None)
    return [] if given is None else list(given())


def example_objects(cls: type) -> list[Any]:
    """The objects among its examples, on whatever space.

    >>> example_objects(int)
    []
    """
    return [example[0] if isinstance(example, tuple) else example for example in examples(cls)]
