"""Records over named categorical attributes: reading one, listing all, and keeping few of them apart."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dpspec.blocks.space import Attribute, Record
from dpspec.errors import NotInSpaceError, ParameterError

COUNTED = 10_000
"""Categories of an attribute, where several lie within one and records are counted one category after the other."""


def check_attributes(attributes: tuple[Attribute, ...], subject: str = "attributes") -> None:
    """Names are distinct; an attribute stands after the coarser one it is nested in, and fills each of its categories.

    No record could lie in a category that nothing fills, so records would not be as many as the finest categories.
    """
    seen: dict[str, Attribute] = {}
    for attribute in attributes:
        if attribute.name in seen:
            raise ParameterError(subject, "names an attribute twice", value=attribute.name)
        if attribute.within is not None and attribute.within not in seen:
            raise ParameterError(
                f"attribute {attribute.name}", "must stand after the attribute it lies within", value=attribute.within
            )
        if attribute.within is not None:
            _check_nesting(attribute, seen[attribute.within])
        seen[attribute.name] = attribute


def _check_nesting(attribute: Attribute, coarser: Attribute) -> None:
    filled = set(attribute.parents)
    for parent in filled - set(coarser.categories):
        coarser.index(parent)
    if (len(filled) if attribute.parents else attribute.size) < coarser.size:
        raise ParameterError(
            f"attribute {attribute.name}", f"leaves categories of {coarser.name} empty",
            "give each of them one at least, or leave them out there",
        )  # fmt: skip


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


def count_records(attributes: tuple[Attribute, ...]) -> int | None:
    """The number of possible records: the product of the sizes of the finest attributes of each nesting.

    Where several attributes lie within one, the sum over its categories of the product of what lies in each. None where that
    is too many to count: an attribute of such a nesting has more than 10,000 categories, and each is in some record.

    >>> town, tract, school = (Attribute(name=n, count=c, within=w) for n, c, w in [("t", 2, None), ("u", 4, "t"), ("v", 6, "t")])
    >>> count_records((town, tract, school)), count_records((town, tract))
    (12, 4)
    """
    coarser = Counter(a.within for a in attributes if a.within is not None)
    if all(times == 1 for times in coarser.values()):
        return math.prod(a.size for a in attributes if a.name not in coarser)
    if any(a.size > COUNTED for a in attributes):
        return None
    by_name, total = {a.name: a for a in attributes}, 1
    inside = {a.name: [1] * a.size for a in attributes}
    for attribute in reversed(attributes):
        within = inside[attribute.name]
        if attribute.within is None:
            total *= sum(within)
            continue
        sums = [0] * by_name[attribute.within].size
        for place, count in zip(_above(attribute, by_name[attribute.within]), within, strict=True):
            sums[place] += count
        inside[attribute.within] = [one * more for one, more in zip(inside[attribute.within], sums, strict=True)]
    return total


def _above(attribute: Attribute, coarser: Attribute) -> list[int]:
    """The place of the coarser category of each category."""
    if attribute.parents:
        places = {category: place for place, category in enumerate(coarser.values())}
        return [places[parent] for parent in attribute.parents]
    return [place * coarser.size // attribute.size for place in range(attribute.size)]


def restrict_attributes(attributes: tuple[Attribute, ...], mentioned: Mapping[str, frozenset[str]]) -> tuple[Attribute, ...]:
    """Few categories for the attributes that matter, one for the others; nested ones branch under the first parent."""
    kept: dict[str, Attribute] = {}
    original = {a.name: a for a in attributes}
    singles = _with_coarser(attributes, mentioned)
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
        singled = [c for c in sorted(singles.get(attribute.name, ())) if c not in categories]
        others = (c for c in attribute.values() if c not in mentioned.get(attribute.name, frozenset()))
        if attribute.within is None and mentioned.get(attribute.name):
            singled += [c for c in itertools.islice(others, 1) if c not in categories]
        kept[attribute.name] = attribute.restricted([*categories, *singled], coarser)
    return tuple(kept.values())


def _with_coarser(attributes: tuple[Attribute, ...], mentioned: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
    """The categories that are mentioned, and those that they lie within."""
    found, original = dict(mentioned), {a.name: a for a in attributes}
    for attribute in reversed(attributes):
        if attribute.within is not None and found.get(attribute.name):
            coarser = original[attribute.within]
            parents = frozenset(attribute.parent(category, coarser) for category in found[attribute.name])
            found[coarser.name] = found.get(coarser.name, frozenset()) | parents
    return found


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
