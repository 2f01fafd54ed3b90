"""Universes built around given datasets, such as the one that was observed.

They are sets of possible datasets that somebody names beforehand: the labels hold the centre, and everybody knows it. A
promise with such universes says nothing about datasets that lie in none of them (B-D30, B-S13).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from functools import partial
from typing import Annotated, ClassVar

from dpspec_divergences import Hamming, ReplaceOne

from dpspec.blocks.input_divergence import InputDivergence, Relation
from dpspec.blocks.multiverse import Multiverse
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.errors import IncompatibleBlocksError, NotEnumerableError
from dpspec.exact import Number, number
from dpspec.params import Data, Exact, Items, Registered, Text, collect, define

LISTED = 20_000
"""Neighbours are looked for in spaces with at most this many datasets."""


class Centred(Multiverse, ABC):
    """Shared by the multiverses that are built around datasets.

    Args:
        centres: the datasets x*, written in the canonical form of the space; without them every dataset is one.
    """

    centres: tuple[Dataset, ...] | None

    @property
    def invariants(self) -> None:
        return None

    def check(self, space: DatasetSpace) -> None:
        collect(partial(space.dataset, centre) for centre in self.centres or ())
        if self.centres is None:
            listed(space, f"multiverse {self.name}", "name the centres")

    def labels(self, dataset: Dataset, space: DatasetSpace) -> tuple[Hashable, ...]:
        return tuple(dict.fromkeys(label for centre in self._centres(space) for label in self._labels_at(centre, dataset, space)))

    @abstractmethod
    def _labels_at(self, centre: Dataset, dataset: Dataset, space: DatasetSpace) -> Iterator[Hashable]:
        """The universes around one centre that hold the dataset."""

    def _centres(self, space: DatasetSpace) -> Iterator[Dataset]:
        return space.datasets() if self.centres is None else (space.dataset(centre) for centre in self.centres)

    def __str__(self) -> str:
        return f"{self.name} " + ("every dataset" if self.centres is None else ", ".join(map(str, self.centres)))


def listed(space: DatasetSpace, subject: str, advice: str) -> None:
    """Refuse a space that has too many datasets to look at each of them."""
    size = space.cardinality()
    if size is None or size > LISTED:
        count = "infinitely many" if size is None else size
        raise NotEnumerableError(subject, f"looks at every dataset, and the space has more than {LISTED}", advice, value=count)


@define
class Around(Centred):
    """One universe around each centre x*: the ball {x : d(x*, x) <= radius}, in which all pairs count.

    It is the universe of conditioned differential privacy; the label is ("around", x*).

    Args:
        centres: the datasets x*; without them every dataset is one, and the universes overlap.
        distance: d.
        radius: the largest distance from x*, in units of d.

    >>> ball = Around(centres=((0, 0, 0),), distance=Hamming(), radius=1)
    >>> [len(universe) for universe in ball.universes(BitVectors(length=3))]
    [4]
    """

    name: ClassVar[str] = "around"

    centres: Annotated[tuple[Dataset, ...], Items(Data(), least=1)] | None = None
    distance: Annotated[InputDivergence, Registered("input_divergences")]
    radius: Annotated[Number, Exact(0)]

    def check(self, space: DatasetSpace) -> None:
        Centred.check(self, space)
        self.distance.check(space)

    def _labels_at(self, centre: Dataset, dataset: Dataset, space: DatasetSpace) -> Iterator[Hashable]:
        if dataset == centre or self.distance.distance(centre, dataset, space) <= self.radius:
            yield ("around", centre)

    @classmethod
    def examples(cls) -> Iterable[tuple[Around, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(centres=((0, 0),), distance=Hamming(), radius=number(1)), BitVectors(length=2)
        yield cls(distance=Hamming(), radius=number(1)), BitVectors(length=2)


@define
class Star(Centred):
    """Two-point universes {x*, x} for every neighbour x of a centre x* (individual privacy).

    The centre is compared with its neighbours, and these not with each other. The label is the pair, smaller dataset first;
    with every dataset a centre the universes are all neighbour pairs.

    Args:
        centres: the datasets x*; without them every dataset is one.
        relation: which datasets are neighbours.

    >>> star = Star(centres=((0, 0, 0),), relation=ReplaceOne())
    >>> [universe.label for universe in star.universes(BitVectors(length=3))][:1]
    [((0, 0, 0), (0, 0, 1))]
    """

    name: ClassVar[str] = "star"

    centres: Annotated[tuple[Dataset, ...], Items(Data(), least=1)] | None = None
    relation: Annotated[Relation, Registered("relations")]

    def check(self, space: DatasetSpace) -> None:
        listed(space, f"multiverse {self.name}", "choose a smaller space")
        Centred.check(self, space)
        self.relation.check(space)

    def _labels_at(self, centre: Dataset, dataset: Dataset, space: DatasetSpace) -> Iterator[Hashable]:
        others = neighbours(centre, self.relation, space) if dataset == centre else iter((dataset,))
        for other in others:
            if dataset == centre or are_neighbours(centre, other, self.relation, space):
                yield tuple(sorted((centre, other), key=space.order))

    def share_universe(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        """The same without a list of neighbours."""
        if left == right:
            return bool(self.labels(left, space))
        has_centre = any(centre in (left, right) for centre in self._centres(space))
        return has_centre and are_neighbours(left, right, self.relation, space)

    @classmethod
    def examples(cls) -> Iterable[tuple[Star, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(centres=((0, 0),), relation=ReplaceOne()), BitVectors(length=2)
        yield cls(relation=ReplaceOne()), BitVectors(length=2)


def neighbours(dataset: Dataset, relation: Relation, space: DatasetSpace) -> Iterator[Dataset]:
    """The neighbours of a dataset, in the order of the space."""
    return (other for other in space.datasets() if other != dataset and are_neighbours(dataset, other, relation, space))


def are_neighbours(left: Dataset, right: Dataset, relation: Relation, space: DatasetSpace) -> bool:
    """Whether the relation holds in one order or the other."""
    return relation.related(left, right, space) or (not relation.is_symmetric and relation.related(right, left, space))


@define
class Resamples(Centred):
    """The universe of resamples of x*: datasets with as many records as x*, each equal to some record of x* (bootstrap).

    The label is ("resamples of", x*).

    Args:
        centres: the observed datasets x*; without them every dataset is one.
        unit: what one record is.

    >>> seen = Resamples(centres=((0, 0, 0), (0, 1, 1)))
    >>> [len(universe) for universe in seen.universes(BitVectors(length=3))]
    [1, 8]
    """

    name: ClassVar[str] = "resamples"

    centres: Annotated[tuple[Dataset, ...], Items(Data(), least=1)] | None = None
    unit: Annotated[str, Text()] = "person"

    def check(self, space: DatasetSpace) -> None:
        told_by(space, self.unit, f"multiverse {self.name}")
        Centred.check(self, space)

    def _labels_at(self, centre: Dataset, dataset: Dataset, space: DatasetSpace) -> Iterator[Hashable]:
        seen, records = space.records(centre, self.unit), space.records(dataset, self.unit)
        if len(seen) == len(records) and set(records) <= set(seen):
            yield ("resamples of", centre)

    @classmethod
    def examples(cls) -> Iterable[tuple[Resamples, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(centres=((0, 1),)), BitVectors(length=2)


def told_by(space: DatasetSpace, unit: str, subject: str) -> None:
    """Refuse a space whose datasets hold more than their records of the unit show."""
    space.check_unit(unit)
    if not space.is_told_by(unit):
        rule = f"needs datasets of {space.name} to be told by their records of the unit"
        raise IncompatibleBlocksError(subject, rule, f"name the largest unit, {space.units[0]}", value=unit)
