"""Dataset spaces whose elements are vectors of fixed length: bits of n people, and integer counts."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from random import Random
from typing import Annotated, Any, ClassVar, cast

from dpspec.base.errors import NotInSpaceError, ParameterError
from dpspec.base.params import Integer, Text, define, evolve
from dpspec.blocks.multisets import sequences_between
from dpspec.blocks.parts import (
    PLACES_LISTED,
    CellRecords,
    Changes,
    ListedCells,
    Mentioned,
    NumberLists,
    Sizes,
    Tabular,
    Trials,
    Wording,
    check_places,
)
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Record
from dpspec.blocks.trial_lists import Ray, list_rays, lists_tried, vector_rays, vectors_tried


def _integers(value: Any, length: int, subject: str) -> tuple[int, ...]:
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise NotInSpaceError(subject, f"must be a sequence of {length} integers", value=value)
    vector = tuple(value)
    if len(vector) != length:
        raise NotInSpaceError(subject, f"must have length {length}, not {len(vector)}", value=vector)
    if set(map(type, vector)) <= {int}:  # a long vector is read at the speed of a copy
        return vector
    for entry in vector:
        if isinstance(entry, bool) or not hasattr(entry, "__index__"):
            raise NotInSpaceError(subject, "must hold integers only", "no missing values, booleans or floats", value=entry)
    return tuple(int(entry) for entry in vector)


_RECORDS: tuple[Record, Record] = ("0",), ("1",)
"""The record of a bit."""


@define
class BitVectors(DatasetSpace, ListedCells, CellRecords, Sizes, Changes, Trials, Wording):
    """{0, 1}^n: one bit for each of n units, in a fixed order.

    Args:
        length: n, the number of positions.
        unit: what one position is.

    >>> list(BitVectors(length=2).datasets())
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """

    name: ClassVar[str] = "bit-vectors"
    is_ordered: ClassVar[bool] = True

    length: Annotated[int, Integer(1)]
    unit: Annotated[str, Text()] = "person"

    @property
    def units(self) -> tuple[str, ...]:
        return (self.unit,)

    def dataset(self, value: Any) -> Dataset:
        bits = _integers(value, self.length, self.name)
        for bit in set(bits) - {0, 1}:
            raise NotInSpaceError(self.name, "must hold bits 0 and 1 only", value=bit)
        return bits

    def datasets(self) -> Iterator[Dataset]:
        check_places(self.name, self.length)
        places = range(self.length)
        zeros = (chosen for ones in range(self.length + 1) for chosen in itertools.combinations(places, self.length - ones))
        return (tuple(int(place not in chosen) for place in places) for chosen in map(frozenset, zeros))

    def extent(self) -> str:
        return f" of length {self.length}"

    def cardinality(self) -> int | None:
        return sequences_between(2, self.length, self.length)

    def magnitude(self, dataset: Dataset) -> int:
        return sum(self._bits(dataset))

    def attributes_of(self, unit: str) -> tuple[Attribute, ...]:
        self.check_unit(unit)
        return (Attribute(name="bit", categories=("0", "1")),)

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return tuple(map(_RECORDS.__getitem__, self._bits(dataset)))

    def records_of_cell(self, cell: Hashable, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return (("1",),)

    def records_replaced(self, cell: Hashable, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return (("0",),)

    def fixes_size(self, unit: str) -> bool:
        return unit == self.unit

    def is_told_by(self, unit: str) -> bool:
        return unit == self.unit

    def sizes(self) -> tuple[int, int | None]:
        return self.length, self.length

    def of_sizes(self, least: int, most: int | None) -> DatasetSpace | None:
        return evolve(self, length=least) if 0 < least == most else None

    def cells(self) -> tuple[Hashable, ...] | None:
        return tuple(range(self.length)) if self.length <= PLACES_LISTED else None

    def vector(self, dataset: Dataset) -> tuple[int, ...]:
        return self._bits(dataset)

    def from_vector(self, vector: tuple[int, ...]) -> Dataset:
        return self.dataset(vector)

    def cell_range(self) -> tuple[int, int]:
        return 0, 1

    def tried(self, generator: Random) -> Iterator[Any]:
        return lists_tried((0, 1), (self.length, self.length), generator)

    def rays(self) -> Iterator[Ray]:
        return list_rays((0, 1), (self.length, self.length))

    def differing(self, unit: str, gone: tuple[Record, ...], come: tuple[Record, ...]) -> Iterator[tuple[Any, Any]]:
        """The records that differ in the first places, zeros in all others."""
        further = self.length - len(gone)
        if unit == self.unit and len(gone) == len(come) and 0 <= further <= PLACES_LISTED:
            ours, theirs = (tuple(int(str(bit)) for (bit,) in records) for records in (gone, come))
            yield ours + (0,) * further, theirs + (0,) * further

    def reduced(self, mentioned: Mentioned, records: int) -> DatasetSpace | None:
        return evolve(self, length=min(self.length, records))

    def _bits(self, dataset: Dataset) -> tuple[int, ...]:
        return cast("tuple[Any, ...]", dataset)


@define
class IntegerCounts(DatasetSpace, ListedCells, NumberLists, Trials, Tabular, Wording):
    """Vectors of k integers between two bounds: true query answers, or counts without records behind them.

    Args:
        length: k, the number of entries.
        low: the least value of an entry, a count.
        high: the largest value of an entry, a count; without it the entries are unbounded above.

    >>> IntegerCounts(length=2, high=1).cardinality()
    4
    """

    name: ClassVar[str] = "integer-counts"
    is_ordered: ClassVar[bool] = False

    length: Annotated[int, Integer(1)] = 1
    low: Annotated[int, Integer()] = 0
    high: Annotated[int, Integer()] | None = None

    def __attrs_post_init__(self) -> None:
        if self.high is not None and self.high < self.low:
            raise ParameterError("high", f"must be at least low={self.low}", value=self.high)

    @property
    def units(self) -> tuple[str, ...]:
        return ()

    def dataset(self, value: Any) -> Dataset:
        counts = _integers(value, self.length, self.name)
        for count in counts:
            if count < self.low or (self.high is not None and count > self.high):
                top = "inf" if self.high is None else self.high
                raise NotInSpaceError(self.name, f"counts must lie in [{self.low}, {top}]", value=count)
        return counts

    def datasets(self) -> Iterator[Dataset]:
        check_places(self.name, self.length)
        totals = itertools.count() if self.high is None else range(self.length * (self.high - self.low) + 1)
        for total in totals:
            yield from (tuple(self.low + step for step in steps) for steps in self._at_distance(total))

    def includes(self, other: DatasetSpace) -> str | None:
        if self == other:
            return "the same dataset space"
        if type(other) is not IntegerCounts or type(self) is not IntegerCounts or other.length != self.length:
            return None
        above = self.high is None or (other.high is not None and other.high <= self.high)
        return "a smaller range of counts" if self.low <= other.low and above else None

    def _at_distance(self, total: int) -> Iterator[tuple[int, ...]]:
        """Vectors of non-negative steps above `low` that add up to `total`, in lexicographic order."""
        most = total if self.high is None else self.high - self.low

        def least(rest: int, places: int) -> list[int]:
            """The first vector of some places: its last entries are as large as they may be."""
            full, more = divmod(rest, most) if most else (0, 0)
            return [0] * (places - full - (more > 0)) + [more] * (more > 0) + [most] * full

        steps = least(total, self.length)
        while True:
            yield tuple(steps)
            after = 0
            for place in reversed(range(self.length)):
                if after and steps[place] < most:
                    steps[place:] = [steps[place] + 1, *least(after - 1, self.length - place - 1)]
                    break
                after += steps[place]
            else:
                return

    def extent(self) -> str:
        return f" of length {self.length}"

    def cardinality(self) -> int | None:
        return None if self.high is None else sequences_between(self.high - self.low + 1, self.length, self.length)

    def places(self) -> int:
        return self.length

    def bounds(self) -> tuple[int, int | None]:
        return self.low, self.high

    def magnitude(self, dataset: Dataset) -> int:
        return sum(abs(entry - self.low) for entry in self.vector(dataset))

    def cells(self) -> tuple[Hashable, ...] | None:
        return tuple(range(self.length)) if self.length <= PLACES_LISTED else None

    def vector(self, dataset: Dataset) -> tuple[int, ...]:
        return cast("tuple[Any, ...]", dataset)

    def from_vector(self, vector: tuple[int, ...]) -> Dataset:
        return self.dataset(vector)

    def cell_range(self) -> tuple[int, int | None]:
        return self.low, self.high

    def columns(self) -> tuple[str, ...]:
        return ("value",)

    def rows(self, dataset: Dataset) -> tuple[tuple[Any, ...], ...]:
        return tuple((entry,) for entry in self.vector(dataset))

    def total_range(self) -> tuple[int, int | None]:
        return self.length * self.low, None if self.high is None else self.length * self.high

    def tried(self, generator: Random) -> Iterator[Any]:
        return vectors_tried(self.length, self.low, self.high, generator)

    def rays(self) -> Iterator[Ray]:
        return vector_rays(self.length, self.low, self.high)

    def order_tried(self, dataset: Dataset) -> tuple[int, str]:
        """By the largest absolute value, since these are answers of queries; then by text."""
        return max(map(abs, self.vector(dataset))), self.order(dataset)[1]
