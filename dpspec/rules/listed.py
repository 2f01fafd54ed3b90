"""What the datasets of a small space say one by one, where no argument from the form of two blocks is at hand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from dpspec.blocks.multiverse import Universe
from dpspec.blocks.space import Dataset
from dpspec.spec import PrivacySpec

LISTED = 200
"""Universes are compared pair by pair on spaces of at most this many datasets."""

Pair = tuple[Universe, Dataset, Dataset]


def compared_pairs(spec: PrivacySpec) -> Iterator[Pair] | None:
    """Every pair at finite distance with each universe that holds it; None when there are too many datasets to list."""
    size = spec.space.cardinality()
    if size is None or size > LISTED:
        return None
    pairs = ((u, x, y) for u in spec.multiverse.universes(spec.space) for x, y in itertools.combinations(u.datasets, 2))
    return ((u, x, y) for u, x, y in pairs if not spec.distance(x, y).is_infinite or not spec.distance(y, x).is_infinite)


def compared_universes(spec: PrivacySpec) -> Iterator[Universe] | None:
    """The universes with a pair of datasets at finite distance; None when there are too many datasets to list."""
    pairs = compared_pairs(spec)
    return None if pairs is None else (universe for universe, _ in itertools.groupby(pairs, key=lambda pair: pair[0]))
