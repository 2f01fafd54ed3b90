"""What a space may ask whoever chooses for it: the strategies of Hypothesis in tests, a plain generator elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

Item = TypeVar("Item")

Mentioned = Mapping[str, frozenset[str]]
"""Attributes that matter, each with the categories that are singled out."""


class Choice(Protocol):
    """Chooses; what comes first is simpler."""

    def number(self, least: int, most: int) -> int:
        """A number of the range."""

    def some(self, items: Sequence[Item], most: int) -> list[Item]:
        """At most so many different items, possibly none."""

    def places(self, size: int, least: int, most: int, favoured: Sequence[int] = ()) -> list[int]:
        """Different numbers below the size, in order, the favoured ones more often than others."""

    def bags(self, items: Sequence[Item], longest: int, most: int) -> list[tuple[Item, ...]]:
        """One to so many different multisets of sortable items, each sorted and no longer than `longest`, in order."""
