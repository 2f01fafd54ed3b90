"""Block 2: the data multiverse, the universes inside which protection is promised (B-D4 to B-D8).

Two datasets are compared only when some universe holds both. Universes may overlap and need not cover X.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from functools import partial
from typing import Annotated, ClassVar

import attrs

from dpspec.blocks.invariant import Invariant
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import ParameterError
from dpspec.params import Data, Items, Pairs, Registered, collect, define


@attrs.frozen(kw_only=True)
class Universe:
    """A set of datasets inside which protection is promised.

    Args:
        label: what names it within its multiverse (for level sets: the value of the invariants).
        datasets: its datasets, smallest first.
    """

    label: Hashable
    datasets: tuple[Dataset, ...]

    def __len__(self) -> int:
        return len(self.datasets)


class Multiverse(ABC):
    """A collection of universes."""

    name: ClassVar[str]

    is_listed: ClassVar[bool] = False
    """True when `universes` lists a few datasets, however large the space is."""

    @abstractmethod
    def labels(self, dataset: Dataset, space: DatasetSpace) -> tuple[Hashable, ...]:
        """The labels of all universes that hold the dataset; empty when none does."""

    @property
    @abstractmethod
    def invariants(self) -> tuple[Invariant, ...] | None:
        """The invariants that induce the multiverse; () for one universe, None when no invariants do."""

    def check(self, space: DatasetSpace) -> None:
        """Raise IncompatibleBlocksError or NotInSpaceError when the multiverse does not fit the space."""
        return

    def universes(self, space: DatasetSpace) -> Iterator[Universe]:
        """Every universe of a finite space, in the order of its smallest dataset."""
        members: dict[Hashable, list[Dataset]] = {}
        for dataset in space.datasets():
            for label in self.labels(dataset, space):
                members.setdefault(label, []).append(dataset)
        return (Universe(label=label, datasets=tuple(held)) for label, held in members.items())

    def share_universe(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        """Whether some universe holds both datasets."""
        return not set(self.labels(left, space)).isdisjoint(self.labels(right, space))


@define
class Trivial(Multiverse):
    """One universe: all of X (B-D8).

    >>> str(Trivial())
    'one universe: the whole space'
    """

    name: ClassVar[str] = "trivial"

    @property
    def invariants(self) -> tuple[Invariant, ...]:
        return ()

    def labels(self, dataset: Dataset, space: DatasetSpace) -> tuple[Hashable, ...]:
        return ("X",)

    def __str__(self) -> str:
        return "one universe: the whole space"


@define
class LevelSets(Multiverse):
    """The level sets of a set of invariants: D_c(x) = {x' : c(x') = c(x)} (B-D7).

    Args:
        invariants: the invariants held.
    """

    name: ClassVar[str] = "invariants"

    invariants: Annotated[tuple[Invariant, ...], Items(Registered("invariants"))]

    def check(self, space: DatasetSpace) -> None:
        collect(partial(invariant.check, space) for invariant in self.invariants)

    def labels(self, dataset: Dataset, space: DatasetSpace) -> tuple[Hashable, ...]:
        return (tuple(invariant.value(dataset, space) for invariant in self.invariants),)

    def __str__(self) -> str:
        return "invariants: " + "; ".join(str(invariant) for invariant in self.invariants)


@define
class ExplicitUniverses(Multiverse):
    """A list of universes, each a set of datasets with a label; they may overlap.

    Args:
        universes_by_label: a table from label to datasets, written in the canonical form of the space.
    """

    name: ClassVar[str] = "explicit"
    is_listed: ClassVar[bool] = True

    universes_by_label: Annotated[tuple[tuple[str, tuple[Dataset, ...]], ...], Pairs(Items(Data()))]

    def __attrs_post_init__(self) -> None:
        labels = [label for label, _ in self.universes_by_label]
        if len(set(labels)) != len(labels):
            raise ParameterError("universes_by_label", "names a universe twice", value=labels)

    @property
    def invariants(self) -> None:
        return None

    def check(self, space: DatasetSpace) -> None:
        collect(partial(space.dataset, x) for _, held in self.universes_by_label for x in held)

    def labels(self, dataset: Dataset, space: DatasetSpace) -> tuple[Hashable, ...]:
        return tuple(u.label for u in self.universes(space) if dataset in u.datasets)

    def universes(self, space: DatasetSpace) -> Iterator[Universe]:
        for label, held in self.universes_by_label:
            members = {space.dataset(x) for x in held}
            yield Universe(label=label, datasets=tuple(sorted(members, key=space.order)))

    def __str__(self) -> str:
        return f"{len(self.universes_by_label)} universes by list"
