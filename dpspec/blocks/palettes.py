"""Few records out of many: palettes of categories, combinations of what some records have, and the first names there are.

A palette keeps one category of most attributes and two or three of some; its records are all their combinations, nested
categories consistent. Every dataset with n records lies on the palette of the categories it uses, so palettes of every width
reach every dataset; here at most `VARIED` attributes vary, and at most `CELLS` records are taken.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from dpspec.blocks.attributes import all_records, children
from dpspec.blocks.choice import Choice, Mentioned
from dpspec.blocks.space import Attribute, Record

VARIED = 4
CELLS = 48
COMBINED = 64
"""So many combinations of what some records have are looked at."""


def palette_of(choose: Choice, attributes: Sequence[Attribute], mentioned: Mentioned) -> tuple[Record, ...]:
    """The records of a palette of some attributes; the categories mentioned are chosen more often than others."""
    names = [a.name for a in attributes if a.size > 1]
    varied = choose.some(names, VARIED) if names else []
    original, kept = {a.name: a for a in attributes}, dict[str, Attribute]()
    for attribute in attributes:
        width = choose.number(2, 3) if attribute.name in varied else 1
        singled = sorted(attribute.index(category) for category in mentioned.get(attribute.name, ()))
        coarser = None if attribute.within is None else original[attribute.within]
        if coarser is None:
            places = _places(choose, range(attribute.size), width, singled)
        else:
            families = (children(attribute, parent, coarser) for parent in kept[coarser.name].values())
            places = [place for family in families for place in _places(choose, family, width, singled)]
        categories = (str(place) if attribute.count is not None else attribute.categories[place] for place in places)
        kept[attribute.name] = attribute.restricted(categories, coarser)
    return tuple(itertools.islice(all_records(tuple(kept.values())), CELLS))


def _places(choose: Choice, among: Sequence[int], width: int, singled: Sequence[int]) -> list[int]:
    """A few of some places."""
    if len(among) <= width:
        return list(among)
    known = [among.index(place) for place in singled if place in among]
    return [among[place] for place in choose.places(len(among), width, width, known)]


def combined(records: Sequence[Record], attributes: Sequence[Attribute]) -> tuple[Record, ...]:
    """All combinations of the categories that some records have, nested ones consistent."""
    original = {a.name: a for a in attributes}
    kept = tuple(
        attribute.restricted(
            sorted({str(record[place]) for record in records}, key=attribute.index),
            None if attribute.within is None else original[attribute.within],
        )
        for place, attribute in enumerate(attributes)
    )
    return tuple(itertools.islice(all_records(kept), COMBINED))


def renamed_records(
    left: Sequence[Record], right: Sequence[Record], attributes: Sequence[Attribute]
) -> Iterator[tuple[tuple[Record, ...], tuple[Record, ...]]]:
    """Two lists of records with the first categories there are: one to one, and with one attribute after the other merged."""
    for merged in (None, *(a.name for a in attributes)):
        names = first_names((*left, *right), attributes, merged)
        yield tuple(names[record] for record in left), tuple(names[record] for record in right)


def first_names(records: Iterable[Record], attributes: Sequence[Attribute], merged: str | None) -> dict[Record, Record]:
    """New names for whole records: of each attribute, inside each coarser category, the first ones in the old order.

    Of the attribute `merged` only the first one; what was told apart by its parent alone then gets names of its own.
    """
    original = {a.name: (place, a) for place, a in enumerate(attributes)}
    new: dict[Record, tuple[str, ...]] = dict.fromkeys(records, ())
    for place, attribute in enumerate(attributes):
        above = None if attribute.within is None else original[attribute.within]
        groups: dict[str, set[str]] = {}
        for record, names in new.items():
            groups.setdefault(names[above[0]] if above else "", set()).add(str(record[place]))
        single = attribute.name == merged
        chosen: dict[tuple[str, str], str] = {}
        for parent, used in groups.items():
            free = children(attribute, parent, above[1]) if above else range(attribute.size)
            # With too few names left some categories are merged, too.
            firsts = itertools.repeat(free[0]) if single else itertools.chain(free, itertools.repeat(free[-1]))
            for category, first in zip(sorted(used, key=attribute.index), firsts, strict=False):
                chosen[parent, category] = str(first) if attribute.count is not None else attribute.categories[first]
        for record, names in new.items():
            new[record] = (*names, chosen[names[above[0]] if above else "", str(record[place])])
    return dict(new)
