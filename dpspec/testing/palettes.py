"""Few cells out of many: what a small pair of datasets is made of, drawn from a space of any size.

The space says what a palette is (`DatasetSpace.palette`); here Hypothesis chooses it, so that it shrinks.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeVar

import attrs
from hypothesis import strategies as st

from dpspec.blocks.choice import Mentioned
from dpspec.blocks.space import FEW_CELLS, DatasetSpace

Draw = Any
Item = TypeVar("Item")


@attrs.frozen
class Drawn:
    """Chooses by drawing from strategies: a `dpspec.blocks.choice.Choice`.

    Args:
        draw: the function that a composite strategy is given.
    """

    draw: Draw

    def number(self, least: int, most: int) -> int:
        """A number of the range."""
        return int(self.draw(st.integers(least, most)))

    def some(self, items: Sequence[Item], most: int) -> list[Item]:
        """At most so many different items, possibly none."""
        return list(self.draw(st.lists(st.sampled_from(items), unique=True, max_size=most)))

    def places(self, size: int, least: int, most: int, favoured: Sequence[int] = ()) -> list[int]:
        """Different numbers below the size, in order, the favoured ones more often than others."""
        anywhere = st.integers(0, size - 1)
        one = st.one_of(anywhere, st.sampled_from(favoured)) if favoured else anywhere
        if least == most == 1:
            return [self.draw(one)]
        return sorted(self.draw(st.lists(one, min_size=least, max_size=most, unique=True)))

    def bags(self, items: Sequence[Item], longest: int, most: int) -> list[tuple[Item, ...]]:
        """One to so many different multisets of sortable items, each sorted and no longer than `longest`, in order."""
        bag = st.lists(st.sampled_from(items), max_size=longest).map(lambda chosen: tuple(sorted(chosen)))  # type: ignore[type-var]
        return sorted(self.draw(st.lists(bag, min_size=1, max_size=most, unique=True)))


def cells_drawn(draw: Draw, space: DatasetSpace, mentioned: Mentioned, *, whole: bool) -> tuple[Hashable, ...]:
    """The cells of one palette of the space.

    Args:
        mentioned: the attributes that the invariants look at, with the categories that they single out.
        whole: take all cells when they are few.
    """
    listed = space.cells() if whole else None
    return listed if listed is not None and len(listed) <= FEW_CELLS else space.palette(Drawn(draw), mentioned)
