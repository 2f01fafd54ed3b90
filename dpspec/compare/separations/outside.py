"""Two dataset spaces: a specification asks nothing of a dataset that its space does not have.

So S => S' with spaces X and X' is the question whether every mechanism that satisfies S on X satisfies S' on X', however it goes
on over the datasets of X' that X lacks: a family of laws P_x over both spaces. One that tells those datasets, and says nothing
on X, satisfies S with budget 0. It breaks S' wherever S' allows less than that between such a dataset and another one.

A dataset of both spaces is the same value made of the same records: with the same units, and attributes of the same names.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import ClassVar

import attrs

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.compare.separations.candidate import Candidate
from dpspec.compare.separations.pairs import Pair, allowance, labeller, pairs
from dpspec.errors import DpspecError
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.law import Law
from dpspec.mechanism import Mechanism
from dpspec.spec import PrivacySpec

LISTED = 5_000
"""At most this many datasets of a space, or of a small part of it, are looked at."""

NAMED = 64
"""Attributes of at most this many categories are looked at category by category."""

TRIED = 6
"""At most this many pairs are tried, each with another allowance."""


@attrs.frozen(kw_only=True)
class TellOutside(Mechanism):
    """Say truthfully which dataset it is, where a space does not have it; on the space say nothing.

    Args:
        inside: the space.
    """

    name: ClassVar[str] = "tell-outside"

    inside: DatasetSpace

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return FiniteLaw.point("inside" if has(self.inside, space, dataset) else ("outside", dataset))


def outside(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Candidate]:
    """Tell the datasets that the space of the premise lacks: at one of them and another dataset of the conclusion."""
    if premise.space == conclusion.space:
        return
    seen: set[Hashable] = set()
    strange = itertools.islice(_strange(premise.space, conclusion), LISTED)
    for pair in itertools.chain.from_iterable((pair, pair[::-1]) for pair in strange):
        try:
            allowed = allowance(conclusion, pair)
        except DpspecError:  # a universe without a budget
            continue
        if not allowed.upper.is_infinite and allowed not in seen:
            seen.add(allowed)
            yield Candidate(
                mechanism=TellOutside(inside=premise.space),
                words="publish the dataset where the space of the premise does not have it, and nothing where it does",
                argument="the same law for all datasets of its space, and of no other dataset is anything asked",
                pair=pair,
                kind="space",
            )
        if len(seen) == TRIED:
            return


def has(space: DatasetSpace, other: DatasetSpace, dataset: Dataset) -> bool:
    """Whether a dataset of the other space is one of the space: the same value, made of the same records."""
    try:
        same = bool(space.dataset(dataset) == dataset)
    except DpspecError:
        return False
    return same and (space == other or _named(space) == _named(other) or not _records(other, dataset))


@lru_cache(maxsize=64)
def _named(space: DatasetSpace) -> dict[str, tuple[str, ...]]:
    return {unit: tuple(a.name for a in space.attributes_of(unit)) for unit in space.units}


def _records(space: DatasetSpace, dataset: Dataset) -> bool:
    """Whether it holds any record at all; the empty dataset is the same everywhere."""
    return not space.units or any(space.records(dataset, unit) for unit in space.units)


def _strange(space: DatasetSpace, conclusion: PrivacySpec) -> Iterator[Pair]:
    """Pairs in one universe of the conclusion, at least one of them not in the space: first among the smallest datasets."""
    for pair in pairs(conclusion, conclusion):
        if not all(has(space, conclusion.space, x) for x in pair):
            yield pair
    labels = labeller(conclusion.multiverse, conclusion.space)
    for small in _parts(conclusion.space):
        listed = list(itertools.islice(small.datasets(), LISTED))
        strangers = (x for x in reversed(listed) if not has(space, conclusion.space, x))
        for x in itertools.islice(strangers, TRIED):
            yield from ((x, y) for y in reversed(listed) if y != x and not set(labels(x)).isdisjoint(labels(y)))


@lru_cache(maxsize=64)
def _parts(space: DatasetSpace) -> tuple[DatasetSpace, ...]:
    """The space itself when it is small, else small parts of it: of few records, and of every category."""
    size = space.cardinality()
    if size is not None and size <= LISTED:
        return (space,)
    every = {a.name: frozenset(a.values()) for unit in space.units for a in space.attributes_of(unit) if a.size <= NAMED}
    smalls = [space.miniature(every, 1), *(space.miniature({}, records) for records in range(2, 5))]
    return tuple(small for small in smalls if small is not None) or (space,)
