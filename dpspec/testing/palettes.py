"""Few cells out of many: what a small pair of datasets is made of, drawn from a space of any size.

A palette keeps one category of most attributes and two or three of some; its cells are all their combinations, nested
categories consistent. Every dataset with n records lies on the palette of the categories it uses, so palettes of every width
reach every dataset; here at most `VARIED` attributes vary, and at most `CELLS` cells are taken.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from dpspec.blocks.attributes import all_records
from dpspec.blocks.households import Households
from dpspec.blocks.lattice import REDUCED
from dpspec.blocks.moves import children
from dpspec.blocks.records import Records
from dpspec.blocks.space import Attribute, DatasetSpace, Record

VARIED = 4
CELLS = 48
PERSONS = 3
"""A drawn household has at most this many persons."""

Draw = Any
Mentioned = Mapping[str, frozenset[str]]


def cells_drawn(draw: Draw, space: DatasetSpace, mentioned: Mentioned, *, whole: bool) -> tuple[Hashable, ...]:
    """The cells of one palette of the space.

    Args:
        mentioned: the attributes that the invariants look at, with the categories that they single out.
        whole: take all cells when they are at most `REDUCED`. Spaces without attributes do so anyway, or take a few.
    """
    if whole and len(space.cells() or range(REDUCED + 1)) <= REDUCED:
        return space.cells() or ()
    if isinstance(space, Households):
        return _households(draw, space, mentioned)
    if isinstance(space, Records):
        return _records(draw, space.attributes, mentioned)
    listed = space.cells() or ()
    if len(listed) <= REDUCED:
        return listed
    places = draw(st.lists(st.integers(0, len(listed) - 1), min_size=2, max_size=12, unique=True))
    return tuple(listed[place] for place in sorted(places))


def _records(draw: Draw, attributes: Sequence[Attribute], mentioned: Mentioned) -> tuple[Record, ...]:
    """The records of a palette of some attributes."""
    names = [a.name for a in attributes if a.size > 1]
    varied = draw(st.lists(st.sampled_from(names), unique=True, max_size=VARIED)) if names else []
    original, kept = {a.name: a for a in attributes}, dict[str, Attribute]()
    for attribute in attributes:
        width = draw(st.integers(2, 3)) if attribute.name in varied else 1
        singled = sorted(attribute.index(category) for category in mentioned.get(attribute.name, ()))
        coarser = None if attribute.within is None else original[attribute.within]
        if coarser is None:
            places = _places(draw, range(attribute.size), width, singled)
        else:
            families = (children(attribute, parent, coarser) for parent in kept[coarser.name].values())
            places = [place for family in families for place in _places(draw, family, width, singled)]
        categories = (str(place) if attribute.count is not None else attribute.categories[place] for place in places)
        kept[attribute.name] = attribute.restricted(categories, coarser)
    return tuple(itertools.islice(all_records(tuple(kept.values())), CELLS))


def _places(draw: Draw, choices: Sequence[int], width: int, singled: Sequence[int]) -> list[int]:
    """A few different places, the ones that an invariant singles out more often than the others."""
    if len(choices) <= width:
        return list(choices)
    known = [choices.index(place) for place in singled if place in choices]
    anywhere = st.integers(0, len(choices) - 1)
    one = st.one_of(anywhere, st.sampled_from(known)) if known else anywhere
    if width == 1:
        return [choices[draw(one)]]
    return sorted(choices[place] for place in draw(st.lists(one, min_size=width, max_size=width, unique=True)))


def _households(draw: Draw, space: Households, mentioned: Mentioned) -> tuple[Hashable, ...]:
    """Every place of one palette with every composition of another."""
    places = _records(draw, space.household, mentioned)
    persons = _records(draw, space.person, mentioned)
    most = PERSONS if space.members is None else min(space.members, PERSONS)
    household = st.lists(st.sampled_from(persons), max_size=most).map(lambda members: tuple(sorted(members)))
    compositions = sorted(draw(st.lists(household, min_size=1, max_size=4, unique=True)))
    return tuple(itertools.islice(itertools.product(places, compositions), CELLS))
