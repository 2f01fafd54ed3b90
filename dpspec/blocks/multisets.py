"""Dataset spaces whose datasets are multisets of cells: what records, tables and households have in common."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, ClassVar

from dpspec.blocks.space import Dataset, DatasetSpace, Record
from dpspec.blocks.wording import pair_of_records, range_in_words
from dpspec.errors import IncompatibleBlocksError, NotInSpaceError, ParameterError

CELLS_LISTED = 4096
"""A space with more kinds of records than this does not list them as coordinates."""


_MOST_BITS = 1 << 13


def check_size(name: str, size: int, least: int, most: int | None) -> None:
    """Refuse a dataset whose size lies outside the range."""
    if size < least or (most is not None and size > most):
        raise NotInSpaceError(name, f"must have a size in [{least}, {'inf' if most is None else most}]", value=size)


def multisets_between(kinds: int, least: int, most: int) -> int | None:
    """How many multisets of so many kinds have a size in [least, most]: C(kinds + most, most) - C(kinds + least - 1, least - 1).

    None where these are more than 2^8192, which nobody lists or writes down.

    >>> multisets_between(3, 1, 2), multisets_between(2, 0, 10**6), multisets_between(10**6, 0, 10**18)
    (9, 500001500001, None)
    """
    n, few = kinds + most, min(kinds, most)
    if few * max(1, n.bit_length() - 1 - few.bit_length()) > _MOST_BITS:  # C(n, k) >= (n/k)^k, and n >= 2 k
        return None
    return math.comb(n, few) - (math.comb(kinds + least - 1, min(kinds, least - 1)) if least else 0)


def sequences_between(kinds: int, least: int, most: int) -> int | None:
    """How many sequences of so many kinds have a length in [least, most]: the sum of kinds^n, (k^(most+1) - k^least)/(k - 1).

    None where these are more than 2^8192.

    >>> sequences_between(2, 1, 3), sequences_between(1, 0, 10**18), sequences_between(2, 0, 10**18)
    (14, 1000000000000000001, None)
    """
    if kinds == 1:
        return most - least + 1
    if (kinds.bit_length() - 1) * most > _MOST_BITS:
        return None
    return int((kinds ** (most + 1) - kinds**least) // (kinds - 1))


def check_sizes(least: int, most: int | None) -> None:
    """Refuse an empty range of sizes."""
    if most is not None and most < least:
        raise ParameterError("most", f"must not be below least={least}", value=most)


def repeated(counts: Mapping[Hashable, int], name: str) -> tuple[Hashable, ...]:
    """The cells of some counts, each as often as it counts, in the order of their text."""
    if any(count < 0 for count in counts.values()):
        raise NotInSpaceError(name, "counts must not be negative", value=dict(counts))
    return tuple(itertools.chain.from_iterable(itertools.repeat(c, n) for c, n in sorted(counts.items(), key=repr)))


class Multisets(DatasetSpace):
    """Shared by the spaces whose datasets are multisets of *cells* (kinds of records), with a range of sizes."""

    cells_are_records: ClassVar[bool] = True

    least: int
    most: int | None

    @abstractmethod
    def kinds(self) -> Iterator[Hashable]:
        """Every kind of cell."""

    @abstractmethod
    def count_kinds(self) -> int | None:
        """Their number; None when infinite."""

    @abstractmethod
    def of(self, cells: tuple[Hashable, ...]) -> Dataset:
        """The canonical dataset with these cells."""

    @abstractmethod
    def cells_of(self, dataset: Dataset) -> tuple[Any, ...]:
        """The cells of a dataset, with repetitions."""

    def datasets(self) -> Iterator[Dataset]:
        kinds = tuple(self.kinds())
        sizes = itertools.count(self.least) if self.most is None else range(self.least, self.most + 1)
        for size in sizes:
            for chosen in itertools.combinations_with_replacement(kinds, size):
                yield self.of(chosen)

    def cardinality(self) -> int | None:
        kinds = self.count_kinds()
        if self.most is None or kinds is None:
            return None
        return multisets_between(kinds, self.least, self.most)

    def magnitude(self, dataset: Dataset) -> int:
        return len(self.cells_of(dataset))

    def fixes_size(self, unit: str) -> bool:
        return unit == self.units[0] and self.least == self.most

    def is_told_by(self, unit: str) -> bool:
        return unit == self.units[0]

    def cells(self) -> tuple[Hashable, ...] | None:
        kinds = self.count_kinds()
        return None if kinds is None or kinds > CELLS_LISTED else tuple(self.kinds())

    def vector(self, dataset: Dataset) -> tuple[int, ...]:
        counts = Counter(self.cells_of(dataset))
        return tuple(counts[cell] for cell in self._listed())

    def from_vector(self, vector: tuple[int, ...]) -> Dataset:
        if any(count < 0 for count in vector):
            raise NotInSpaceError(self.name, "counts must not be negative", value=vector)
        cells = tuple(cell for cell, count in zip(self._listed(), vector, strict=True) for _ in range(count))
        self.check_size(len(cells))
        return self.of(cells)

    def records_of_cell(self, cell: Hashable, unit: str) -> tuple[Record, ...]:
        return self.records(self.of((cell,)), unit)

    def fixed_total(self) -> bool:
        return self.least == self.most

    def first_cell(self) -> Hashable:
        return next(self.kinds())

    def counts(self, dataset: Dataset) -> Counter[Hashable]:
        return Counter(self.cells_of(dataset))

    def from_counts(self, counts: Mapping[Hashable, int]) -> Dataset:
        cells = repeated(counts, self.name)
        self.check_size(len(cells))
        return self.of(cells)

    def total_range(self) -> tuple[int, int | None]:
        return self.least, self.most

    def extent(self) -> str:
        return range_in_words(self.least, self.most)

    def in_words(self, left: Dataset, right: Dataset) -> tuple[str, str]:
        unit = self.units[0]
        return pair_of_records(self.records(left, unit), self.records(right, unit), self.attributes_of(unit), unit)

    def check_size(self, size: int) -> None:
        """Raise NotInSpaceError for a number of cells outside the range."""
        check_size(self.name, size, self.least, self.most)

    def _listed(self) -> tuple[Hashable, ...]:
        cells = self.cells()
        if cells is None:
            raise IncompatibleBlocksError(f"space {self.name}", "has too many kinds of records for a linear map")
        return cells
