"""The sizes of a dataset space that a smaller one lowers, and how each is raised again by one step.

A *miniature* of a space is the same space with smaller sizes: fewer records at most, fewer members of a household, fewer
categories or blocks, fewer coordinates. Everything else is equal; whatever is not is no miniature of it but another space.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from dpspec.blocks.space import Attribute, DatasetSpace
from dpspec.errors import DpspecError
from dpspec.params import evolve, parameters

Attributes = tuple[Attribute, ...]


@attrs.frozen(kw_only=True)
class Size:
    """A size that the small space has lowered.

    Args:
        name: the parameter, or the attribute whose categories are counted.
        here: the size in the small space.
        claimed: the size in the large one; None where that has no bound.
        larger: the small space with this size raised by one step.
    """

    name: str
    here: int
    claimed: int | None
    larger: DatasetSpace


def lowered(small: DatasetSpace, claimed: DatasetSpace) -> Mapping[str, Size] | None:
    """The sizes that a small space lowers, by their names; None when it is no miniature of the claimed one.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> found = lowered(BitVectors(length=2), BitVectors(length=20))
    >>> [(size.name, size.here, size.claimed, str(size.larger.length)) for size in found.values()]
    [('length', 2, 20, '3')]
    >>> lowered(BitVectors(length=2, unit="household"), BitVectors(length=20)) is None
    True
    """
    if type(small) is not type(claimed) or _is_larger(small.cardinality(), claimed.cardinality()):
        return None
    sizes: dict[str, Size] = {}
    for parameter in parameters(type(claimed)):
        here, there = getattr(small, parameter.name), getattr(claimed, parameter.name)
        if here == there:
            continue
        found = _of_parameter(parameter.name, here, there, small, claimed)
        if found is None:
            return None
        sizes |= found
    return sizes


def _is_larger(size: int | None, than: int | None) -> bool:
    return than is not None and (size is None or size > than)


def _of_parameter(name: str, here: Any, there: Any, small: DatasetSpace, claimed: DatasetSpace) -> Mapping[str, Size] | None:
    """The sizes behind one parameter that differs; None when the difference is none of size."""

    def raised(value: Any) -> DatasetSpace:
        return evolve(small, **{name: value})

    if type(here) is int and (there is None or type(there) is int):
        beyond = evolve(claimed, **{name: here}).includes(claimed) is not None
        step = here + 1 if there is None or here < there else here - 1
        return None if beyond else {name: Size(name=name, here=here, claimed=there, larger=raised(step))}
    if isinstance(here, DatasetSpace) and isinstance(there, DatasetSpace):
        inner = lowered(here, there)
        return None if inner is None else {key: attrs.evolve(size, larger=raised(size.larger)) for key, size in inner.items()}
    if isinstance(here, tuple) and isinstance(there, tuple):
        if all(isinstance(entry, Attribute) for entry in (*here, *there)):
            return _of_attributes(here, there, raised)
        missing = [entry for entry in there if entry not in here]
        if missing and all(entry in there for entry in here):
            return {name: Size(name=name, here=len(here), claimed=len(there), larger=raised((*here, missing[0])))}
    return None


# --- attributes ----------------------------------------------------------------------------------


def _of_attributes(here: Attributes, there: Attributes, raised: Callable[[Any], DatasetSpace]) -> Mapping[str, Size] | None:
    """The attributes with fewer categories; None unless they are the same attributes, each a part of the claimed one."""
    if [(a.name, a.within) for a in here] != [(a.name, a.within) for a in there]:
        return None
    claimed = {attribute.name: attribute for attribute in there}
    sizes: dict[str, Size] = {}
    for attribute in here:
        full = claimed[attribute.name]
        if attribute == full:
            continue
        if not _is_part(attribute, full, {a.name: a for a in here}, claimed):
            return None
        if attribute.size < full.size:
            larger = raised(_with_one_more(attribute.name, here, claimed))
            sizes[attribute.name] = Size(name=attribute.name, here=attribute.size, claimed=full.size, larger=larger)
    return sizes


def _is_part(attribute: Attribute, full: Attribute, here: Mapping[str, Attribute], claimed: Mapping[str, Attribute]) -> bool:
    """Whether an attribute has no category of its own: fewer by count, or some of those that are listed, under their parents."""
    if attribute.size > full.size:
        return False
    if attribute.count is not None and full.count is not None:
        return True
    try:
        for category in attribute.values():
            full.index(category)
            if attribute.within is not None:
                coarser = attribute.within
                if attribute.parent(category, here[coarser]) != full.parent(category, claimed[coarser]):
                    return False
    except DpspecError:
        return False
    return True


def _with_one_more(name: str, here: Attributes, claimed: Mapping[str, Attribute]) -> Attributes:
    """One more category of an attribute, with a child in each finer one, and its parent in the coarser one."""
    if all(attribute.count is not None for attribute in _chain(name, here)):
        counts = {name: next(a.size for a in here if a.name == name) + 1}
        before = {attribute.name: attribute.size for attribute in here}
        for attribute in here:  # a coarser one stands before those that lie within it; each of its parts keeps what it holds
            coarser = attribute.within
            if coarser in counts:
                counts[attribute.name] = counts[coarser] * -(-attribute.size // before[coarser])
        return tuple(evolve(a, count=counts[a.name]) if a.name in counts else a for a in here)
    return _listed(name, here, claimed)


def _chain(name: str, here: Attributes) -> Iterator[Attribute]:
    """An attribute and all that lie within it."""
    inside = {name}
    for attribute in here:
        if attribute.name in inside or attribute.within in inside:
            inside.add(attribute.name)
            yield attribute


def _listed(name: str, here: Attributes, claimed: Mapping[str, Attribute]) -> Attributes:
    """The same where categories are listed: the first one of the claimed attribute that is missing, under its own parent."""
    kept = {attribute.name: list(attribute.values()) for attribute in here}
    missing = next(itertools.islice((c for c in claimed[name].values() if c not in set(kept[name])), 1))
    added = {name: missing}
    kept[name].append(missing)
    child = name
    while (coarser := claimed[child].within) is not None:
        parent = claimed[child].parent(added[child], claimed[coarser])
        added[coarser] = parent
        if parent not in kept[coarser]:
            kept[coarser].append(parent)
        child = coarser
    for attribute in here:
        if attribute.within in added and attribute.name not in added:
            children = claimed[attribute.name].children(added[attribute.within], claimed[attribute.within])
            first = next(iter(children), None)
            if first is not None:
                added[attribute.name] = first
                kept[attribute.name] = [*kept[attribute.name], *([first] if first not in kept[attribute.name] else [])]
    return tuple(
        a if tuple(a.values()) == tuple(kept[a.name]) else
        claimed[a.name].restricted(kept[a.name], None if a.within is None else claimed[a.within])
        for a in here
    )  # fmt: skip
