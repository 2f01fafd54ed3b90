"""Records over named categorical attributes: reading one, listing all, and keeping few of them apart."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dpspec.blocks.space import Attribute, Record
from dpspec.errors import NotInSpaceError, ParameterError


def check_attributes(attributes: tuple[Attribute, ...], subject: str = "attributes") -> None:
    """Names are distinct, and an attribute stands after the coarser one it is nested in."""
    seen: set[str] = set()
    for attribute in attributes:
        if attribute.name in seen:
            raise ParameterError(subject, "names an attribute twice", value=attribute.name)
        if attribute.within is not None and attribute.within not in seen:
            raise ParameterError(
                f"attribute {attribute.name}", "must stand after the attribute it lies within", value=attribute.within
            )
        seen.add(attribute.name)


def read_record(value: Any, attributes: tuple[Attribute, ...]) -> Record:
    """One record as a tuple of categories, from a sequence in attribute order or a table by name."""
    if isinstance(value, Mapping):
        missing = [a.name for a in attributes if a.name not in value]
        unknown = [key for key in value if key not in {a.name for a in attributes}]
        if missing or unknown:
            raise NotInSpaceError("record", f"lacks {missing} and has unknown {unknown}", value=dict(value))
        value = [value[a.name] for a in attributes]
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise NotInSpaceError("record", f"must give {len(attributes)} categories", value=value)
    given = tuple(value)
    if len(given) != len(attributes):
        raise NotInSpaceError("record", f"must give {len(attributes)} categories", value=given)
    chosen: dict[str, str] = {}
    by_name = {a.name: a for a in attributes}
    for attribute, category in zip(attributes, given, strict=True):
        if category is None or isinstance(category, (float, bool)):
            raise NotInSpaceError(attribute.name, "is missing or no category", "records are complete", value=category)
        attribute.index(category)
        chosen[attribute.name] = str(category)
        if attribute.within is not None:
            parent = attribute.parent(category, by_name[attribute.within])
            if parent != chosen[attribute.within]:
                raise NotInSpaceError(
                    attribute.name, f"lies within {attribute.within} {parent}, not {chosen[attribute.within]}", value=category
                )
    return tuple(chosen.values())


def all_records(attributes: tuple[Attribute, ...]) -> Iterator[Record]:
    """Every possible record, nested attributes kept consistent."""
    by_name = {a.name: a for a in attributes}
    places = {a.name: place for place, a in enumerate(attributes)}

    def extend(prefix: tuple[str, ...]) -> Iterator[Record]:
        if len(prefix) == len(attributes):
            yield prefix
            return
        attribute = attributes[len(prefix)]
        coarser = attribute.within
        for category in attribute.values() if coarser is None else attribute.children(prefix[places[coarser]], by_name[coarser]):
            yield from extend((*prefix, category))

    return extend(())


def count_records(attributes: tuple[Attribute, ...]) -> int:
    """The number of possible records: the product of the sizes of the finest attributes of each nesting."""
    coarser = {a.within for a in attributes}
    if all(len({b.name for b in attributes if b.within == a.name}) <= 1 for a in attributes):
        return math.prod(a.size for a in attributes if a.name not in coarser)
    return sum(1 for _ in all_records(attributes))


def restrict_attributes(attributes: tuple[Attribute, ...], mentioned: Mapping[str, frozenset[str]]) -> tuple[Attribute, ...]:
    """Few categories for the attributes that matter, one for the others; nested ones branch under the first parent."""
    kept: dict[str, Attribute] = {}
    original = {a.name: a for a in attributes}
    for attribute in attributes:
        wanted = 2 if attribute.name in mentioned else 1
        if attribute.within is None:
            categories = list(itertools.islice(attribute.values(), wanted))
            coarser = None
        else:
            coarser = original[attribute.within]
            categories = []
            for place, parent in enumerate(kept[attribute.within].values()):
                room = wanted if place == 0 else 1
                categories += itertools.islice(attribute.children(parent, coarser), room)
        singled = [c for c in sorted(mentioned.get(attribute.name, ())) if c not in categories]
        others = (c for c in attribute.values() if c not in mentioned.get(attribute.name, frozenset()))
        if attribute.within is None and mentioned.get(attribute.name):
            singled += [c for c in itertools.islice(others, 1) if c not in categories]
        kept[attribute.name] = attribute.restricted([*categories, *singled], coarser)
    return tuple(kept.values())


def include_attributes(larger: tuple[Attribute, ...], smaller: tuple[Attribute, ...]) -> bool:
    """Whether the attributes are the same ones in the same order, the smaller with no category of its own.

    A coarser attribute stays as it is when another lies within it, since a category may otherwise change its parent.
    """
    holding = {a.within for a in larger}
    pairs = itertools.zip_longest(larger, smaller)
    return all(a and b and (a == b or (a.name not in holding and a.includes(b))) for a, b in pairs)


def include_sizes(larger: tuple[int, int | None], smaller: tuple[int, int | None]) -> bool:
    """Whether the range of sizes (least, most) holds the other one."""
    return larger[0] <= smaller[0] and (larger[1] is None or (smaller[1] is not None and smaller[1] <= larger[1]))


def children(attribute: Attribute, parent: str, coarser: Attribute) -> Sequence[int]:
    """The places of the categories that lie in one category of the coarser attribute, without listing the others.

    >>> children(Attribute(name="block", count=8_100_000, within="tract"), "83999", Attribute(name="tract", count=84_000))
    range(8099904, 8100000)
    """
    if attribute.parents:
        return [place for place, above in enumerate(attribute.parents) if above == parent]
    chosen, size, above = coarser.index(parent), attribute.size, coarser.size
    return range(-(-chosen * size // above), -(-(chosen + 1) * size // above))
