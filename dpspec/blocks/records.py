"""Dataset spaces of records over named categorical attributes: ordered, unordered, and as contingency tables."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, cast

from dpspec.blocks.attributes import (
    all_records,
    check_attributes,
    count_records,
    include_attributes,
    include_sizes,
    read_record,
    restrict_attributes,
)
from dpspec.blocks.choice import Choice, Mentioned
from dpspec.blocks.multisets import CELLS_LISTED, Multisets, check_size, check_sizes, repeated, sequences_between
from dpspec.blocks.palettes import combined, palette_of, renamed_records
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Record
from dpspec.blocks.wording import pair_of_records, range_in_words
from dpspec.errors import NotInSpaceError, ParameterError
from dpspec.params import Integer, Items, Nested, Text, define, evolve


@define
class Records(DatasetSpace):
    """What the spaces of records of one unit share.

    Args:
        attributes: the attributes of a record.
        least, most: the range of the number of records; without `most` it is unbounded.
        unit: what one record is.
    """

    cells_are_records: ClassVar[bool] = True

    attributes: Annotated[tuple[Attribute, ...], Items(Nested(Attribute), least=1)]
    least: Annotated[int, Integer(0)] = 0
    most: Annotated[int, Integer(0)] | None = None
    unit: Annotated[str, Text()] = "person"

    def __attrs_post_init__(self) -> None:
        check_attributes(self.attributes)
        check_sizes(self.least, self.most)

    @property
    def units(self) -> tuple[str, ...]:
        return (self.unit,)

    def attributes_of(self, unit: str) -> tuple[Attribute, ...]:
        self.check_unit(unit)
        return self.attributes

    def records_of_cell(self, cell: Hashable, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return (cast("Record", cell),)

    def extent(self) -> str:
        return range_in_words(self.least, self.most)

    def fixes_size(self, unit: str) -> bool:
        return unit == self.unit and self.least == self.most

    def is_told_by(self, unit: str) -> bool:
        return unit == self.unit

    def includes(self, other: DatasetSpace) -> str | None:
        if self == other:
            return "the same dataset space"
        if not isinstance(other, Records) or type(other) is not type(self) or other.unit != self.unit:
            return None
        sizes = include_sizes((self.least, self.most), (other.least, other.most))
        return "fewer records or categories" if sizes and self._has_attributes(other) else None

    def _has_attributes(self, other: Records) -> bool:
        return include_attributes(self.attributes, other.attributes)

    def miniature(self, mentioned: Mapping[str, frozenset[str]], records: int) -> DatasetSpace | None:
        if self.least > records:
            return None
        most = records if self.most is None else min(self.most, records)
        return evolve(self, attributes=restrict_attributes(self.attributes, mentioned), most=most)

    def first_cell(self) -> Hashable:
        return next(all_records(self.attributes))

    def total_range(self) -> tuple[int, int | None]:
        return self.least, self.most

    def crossed(self, cells: Sequence[Hashable]) -> tuple[Hashable, ...]:
        return combined(cast("Sequence[Record]", cells), self.attributes)

    def palette(self, choose: Choice, mentioned: Mentioned) -> tuple[Hashable, ...]:
        return palette_of(choose, self.attributes, mentioned)

    def _read(self, value: Any) -> tuple[Record, ...]:
        """The records of a dataset as it is written, in the order given."""
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise NotInSpaceError(self.name, "must be a collection of records", value=value)
        records = tuple(read_record(entry, self.attributes) for entry in value)
        check_size(self.name, len(records), self.least, self.most)
        return records


@define
class OrderedRecords(Records):
    """Sequences of records over named categorical attributes.

    Args:
        attributes, least, most, unit: as in `Records`.
    """

    name: ClassVar[str] = "ordered-records"
    is_ordered: ClassVar[bool] = True
    is_sequence: ClassVar[bool] = True

    def dataset(self, value: Any) -> Dataset:
        return self._read(value)

    def datasets(self) -> Iterator[Dataset]:
        kinds = tuple(all_records(self.attributes))
        for size in itertools.count(self.least):
            if self.most is not None and size > self.most:
                return
            yield from itertools.product(kinds, repeat=size)

    def cardinality(self) -> int | None:
        if self.most is None:
            return None
        kinds = count_records(self.attributes)
        return None if kinds is None else sequences_between(kinds, self.least, self.most)

    def magnitude(self, dataset: Dataset) -> int:
        return len(self.records(dataset, self.unit))

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return self.cells_of(dataset)

    def cells_of(self, dataset: Dataset) -> tuple[Any, ...]:
        return cast("tuple[Any, ...]", dataset)

    def counts(self, dataset: Dataset) -> Counter[Hashable]:
        return Counter(self.cells_of(dataset))

    def from_counts(self, counts: Mapping[Hashable, int]) -> Dataset:
        return self.dataset(repeated(counts, self.name))

    def renamed(self, left: Dataset, right: Dataset) -> Iterator[tuple[Dataset, Dataset]]:
        return renamed_records(self.cells_of(left), self.cells_of(right), self.attributes)

    def in_words(self, left: Dataset, right: Dataset) -> tuple[str, str]:
        return pair_of_records(self.cells_of(left), self.cells_of(right), self.attributes, self.unit, ordered=True)


@define
class UnorderedRecords(Records, Multisets):
    """Multisets of records over named categorical attributes.

    Args:
        attributes, least, most, unit: as in `Records`.

    >>> sex = Attribute(name="sex", categories=("f", "m"))
    >>> UnorderedRecords(attributes=(sex,), least=2, most=2).dataset([["m"], ["f"]])
    (('f',), ('m',))
    """

    name: ClassVar[str] = "records"

    def dataset(self, value: Any) -> Dataset:
        return self.of(self._read(value))

    def of(self, cells: tuple[Hashable, ...]) -> Dataset:
        return tuple(sorted(cells))  # type: ignore[type-var]

    def cells_of(self, dataset: Dataset) -> tuple[Any, ...]:
        return cast("tuple[Any, ...]", dataset)

    def kinds(self) -> Iterator[Hashable]:
        return all_records(self.attributes)

    def count_kinds(self) -> int | None:
        return count_records(self.attributes)

    def renamed(self, left: Dataset, right: Dataset) -> Iterator[tuple[Dataset, Dataset]]:
        pairs = renamed_records(self.cells_of(left), self.cells_of(right), self.attributes)
        return ((self.of(one), self.of(two)) for one, two in pairs)

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return self.cells_of(dataset)


@define
class ContingencyTables(UnorderedRecords):
    """Tables of counts over all combinations of named categorical attributes.

    A dataset is the tuple of counts in the order of the combinations (last attribute fastest): the same
    information as a multiset of records, in the form in which statistics are published.

    Args:
        attributes, least, most, unit: as in `UnorderedRecords`; least and most bound the total count.
    """

    name: ClassVar[str] = "contingency-tables"

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        kinds = self.count_kinds()
        if kinds is None or kinds > CELLS_LISTED:
            raise ParameterError("attributes", f"span more than {CELLS_LISTED} cells", "use the space records")

    def dataset(self, value: Any) -> Dataset:
        counts = tuple(value) if isinstance(value, Iterable) and not isinstance(value, (str, Mapping)) else None
        if counts is None or len(counts) != self.count_kinds():
            raise NotInSpaceError(self.name, f"must be {self.count_kinds()} counts", value=value)
        for count in counts:
            if isinstance(count, bool) or not hasattr(count, "__index__"):
                raise NotInSpaceError(self.name, "must hold integers only", "no missing values or floats", value=count)
            if count < 0:
                raise NotInSpaceError(self.name, "must not hold a negative count", value=count)
        self.check_size(sum(counts))
        return tuple(int(count) for count in counts)

    def of(self, cells: tuple[Hashable, ...]) -> Dataset:
        counts = Counter(cells)
        return tuple(counts[kind] for kind in all_records(self.attributes))

    def cells_of(self, dataset: Dataset) -> tuple[Any, ...]:
        counts = cast("tuple[int, ...]", dataset)
        return tuple(kind for kind, count in zip(self.kinds(), counts, strict=True) for _ in range(count))

    def _has_attributes(self, other: Records) -> bool:
        return self.attributes == other.attributes  # a table of fewer combinations is a shorter tuple
