"""Neighbour relations: which pairs of datasets are one step apart (B-D9, B-D20, B-D21)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import attrs

from dpspec.blocks.input_divergence import InputDivergence, Relation
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import ParameterError
from dpspec.params import Text, define
from dpspec_divergences.counting import Hamming, HammingOrdered, SymmetricDifference, check_ordered, exchange


class CountedRelation(Relation, ABC):
    """A relation that holds exactly where a counting divergence is 1."""

    unit: str

    @abstractmethod
    def measure(self) -> InputDivergence:
        """The divergence that is 1 on related datasets and on no others."""

    def check(self, space: DatasetSpace) -> None:
        self.measure().check(space)

    def __str__(self) -> str:
        return f"{self.name} ({self.unit})"


@define
class ReplaceOne(CountedRelation):
    """Bounded neighbours: equally many records, one of them replaced (B-D11).

    x ~ x' when |x| = |x'| and the multisets of records differ by one removed and one added.

    Args:
        unit: what one record is.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> ReplaceOne().related((0, 0, 1), (0, 1, 1), BitVectors(length=3))
    True
    """

    name: ClassVar[str] = "replace-one"

    unit: Annotated[str, Text()] = "person"

    def related(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        return exchange(left, right, space, self.unit) == (1, 1)

    def measure(self) -> InputDivergence:
        return Hamming(unit=self.unit)


@define
class AddRemove(CountedRelation):
    """Unbounded neighbours: one record is added or removed (B-D12, B-D20).

    Args:
        unit: what one record is.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> AddRemove().related((0, 0, 1), (0, 1, 1), BitVectors(length=3))
    False
    """

    name: ClassVar[str] = "add-remove"

    unit: Annotated[str, Text()] = "person"

    def related(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        return sum(exchange(left, right, space, self.unit)) == 1

    def measure(self) -> InputDivergence:
        return SymmetricDifference(unit=self.unit)


@define
class DifferInOnePosition(CountedRelation):
    """Neighbours among sequences: equal lengths, and one position differs (B-D13, B-D21).

    Args:
        unit: what one position is.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> DifferInOnePosition().related((0, 1), (1, 0), BitVectors(length=2))
    False
    """

    name: ClassVar[str] = "differ-in-one-position"

    unit: Annotated[str, Text()] = "person"

    def check(self, space: DatasetSpace) -> None:
        check_ordered(self.name, space, self.unit, "replace-one")

    def related(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        ours, theirs = space.records(left, self.unit), space.records(right, self.unit)
        return len(ours) == len(theirs) and sum(a != b for a, b in zip(ours, theirs, strict=True)) == 1

    def measure(self) -> InputDivergence:
        return HammingOrdered(unit=self.unit)

    def within(self, other: Relation) -> str | None:
        if other == ReplaceOne(unit=self.unit):
            return "one changed position replaces one record"
        return "the same relation" if self == other else None


@attrs.frozen(kw_only=True)
class UserRelation(Relation):
    """Any neighbour relation, given in Python; equal only to one with the same function and label.

    It may be one-sided: two datasets are neighbours when the function holds for them in one order or the other.

    Args:
        function: says of two different datasets whether they are neighbours.
        label: what it is, for people.

    >>> close = UserRelation(function=lambda x, y: abs(sum(x) - sum(y)) <= 1, label="totals within 1")
    >>> from dpspec.blocks.vectors import BitVectors
    >>> close.related((0, 0), (1, 1), BitVectors(length=2)), str(close)
    (False, 'totals within 1')
    """

    name: ClassVar[str] = "function"

    function: Callable[[Any, Any], bool]
    label: str

    def __attrs_post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError(f"relation {self.label}", "must be a function of two datasets", value=self.function)

    def related(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        return bool(self.function(left, right) or self.function(right, left))

    def __str__(self) -> str:
        return self.label
