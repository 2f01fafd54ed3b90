"""Two dataset spaces: what is defined on the one may not be defined on the other.

A mechanism that satisfies a specification is a law P_x for every dataset x of its space. When the conclusion speaks about a
dataset that the space of the premise does not have, no mechanism of the premise is one of the conclusion.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import DpspecError

LISTED = 5_000
"""At most this many datasets of a space, or of a small part of it, are looked at."""

NAMED = 64
"""Attributes of at most this many categories are looked at category by category."""


def outside(space: DatasetSpace, other: DatasetSpace) -> Dataset | None:
    """A dataset of the other space that is none of the space; None when none was found."""
    if space == other:
        return None
    return next((x for small in _parts(other) for x in itertools.islice(small.datasets(), LISTED) if not _has(space, x)), None)


def _has(space: DatasetSpace, dataset: Dataset) -> bool:
    try:
        return bool(space.dataset(dataset) == dataset)
    except DpspecError:
        return False


@lru_cache(maxsize=64)
def _parts(space: DatasetSpace) -> tuple[DatasetSpace, ...]:
    """The space itself when it is small, else small parts of it: of few records, and of every category."""
    size = space.cardinality()
    if size is not None and size <= LISTED:
        return (space,)
    every = {a.name: frozenset(a.values()) for unit in space.units for a in space.attributes_of(unit) if a.size <= NAMED}
    smalls = [space.miniature({}, 1), space.miniature(every, 1), *(space.miniature({}, records) for records in range(2, 5))]
    return tuple(small for small in smalls if small is not None) or (space,)
