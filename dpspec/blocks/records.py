"""Dataset spaces of records over named categorical attributes: ordered, unordered, and as contingency tables."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, cast

from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Record
from dpspec.errors import IncompatibleBlocksError, NotInSpaceError, ParameterError
from dpspec.params import Integer, Items, Nested, Text, define, evolve

CELLS_LISTED = 4096
"""A space with more kinds of records than this does not list them as coordinates."""


def check_attributes(attributes: tuple[Attribute, ...], subject: str = "attributes") -> None:
    """Names are distinct, and an attribute stands after the coarser one it is nested in."""
    seen: set[str] = set()
    for attribute in attributes:
        if attribute.name in seen:
            raise ParameterError(subject, "names an attribute twice", value=attribute.name)
        if attribute.within is not None and attribute.within not in seen:
            raise ParameterError(
                f"attribute {attribute.name}", "must stand after the attribute it lies within", value=attribute.within
            )
        seen.add(attribute.name)


def read_record(value: Any, attributes: tuple[Attribute, ...]) -> Record:
    """One record as a tuple of categories, from a sequence in attribute order or a table by name."""
    if isinstance(value, Mapping):
        missing = [a.name for a in attributes if a.name not in value]
        unknown = [key for key in value if key not in {a.name for a in attributes}]
        if missing or unknown:
            raise NotInSpaceError("record", f"lacks {missing} and has unknown {unknown}", value=dict(value))
        value = [value[a.name] for a in attributes]
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise NotInSpaceError("record", f"must give {len(attributes)} categories", value=value)
    given = tuple(value)
    if len(given) != len(attributes):
        raise NotInSpaceError("record", f"must give {len(attributes)} categories", value=given)
    chosen: dict[str, str] = {}
    by_name = {a.name: a for a in attributes}
    for attribute, category in zip(attributes, given, strict=True):
        if category is None or isinstance(category, (float, bool)):
            raise NotInSpaceError(attribute.name, "is missing or no category", "records are complete", value=category)
        attribute.index(category)
        chosen[attribute.name] = str(category)
        if attribute.within is not None:
            parent = attribute.parent(category, by_name[attribute.within])
            if parent != chosen[attribute.within]:
                raise NotInSpaceError(
                    attribute.name, f"lies within {attribute.within} {parent}, not {chosen[attribute.within]}", value=category
                )
    return tuple(chosen.values())


def all_records(attributes: tuple[Attribute, ...]) -> Iterator[Record]:
    """Every possible record, nested attributes kept consistent."""
    by_name = {a.name: a for a in attributes}
    places = {a.name: place for place, a in enumerate(attributes)}

    def extend(prefix: tuple[str, ...]) -> Iterator[Record]:
        if len(prefix) == len(attributes):
            yield prefix
            return
        attribute = attributes[len(prefix)]
        for category in attribute.values():
            coarser = attribute.within
            if coarser is None or attribute.parent(category, by_name[coarser]) == prefix[places[coarser]]:
                yield from extend((*prefix, category))

    return extend(())


def count_records(attributes: tuple[Attribute, ...]) -> int:
    """The number of possible records: the product of the sizes of the finest attributes of each nesting."""
    coarser = {a.within for a in attributes}
    if all(len({b.name for b in attributes if b.within == a.name}) <= 1 for a in attributes):
        return math.prod(a.size for a in attributes if a.name not in coarser)
    return sum(1 for _ in all_records(attributes))


def restrict_attributes(attributes: tuple[Attribute, ...], mentioned: Mapping[str, frozenset[str]]) -> tuple[Attribute, ...]:
    """Few categories for the attributes that matter, one for the others; nested ones branch under the first parent."""
    kept: dict[str, Attribute] = {}
    original = {a.name: a for a in attributes}
    for attribute in attributes:
        wanted = 2 if attribute.name in mentioned else 1
        if attribute.within is None:
            categories = list(itertools.islice(attribute.values(), wanted))
            coarser = None
        else:
            coarser = original[attribute.within]
            categories = []
            for place, parent in enumerate(kept[attribute.within].values()):
                room = wanted if place == 0 else 1
                under = (c for c in attribute.values() if attribute.parent(c, original[attribute.within or ""]) == parent)
                categories += itertools.islice(under, room)
        singled = [c for c in sorted(mentioned.get(attribute.name, ())) if c not in categories]
        others = (c for c in attribute.values() if c not in mentioned.get(attribute.name, frozenset()))
        if attribute.within is None and mentioned.get(attribute.name):
            singled += [c for c in itertools.islice(others, 1) if c not in categories]
        kept[attribute.name] = attribute.restricted([*categories, *singled], coarser)
    return tuple(kept.values())


class Multisets(DatasetSpace):
    """Shared by the spaces whose datasets are multisets of *cells* (kinds of records), with a range of sizes."""

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
        return sum(math.comb(kinds + size - 1, size) for size in range(self.least, self.most + 1))

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

    def check_size(self, size: int) -> None:
        if size < self.least or (self.most is not None and size > self.most):
            top = "inf" if self.most is None else self.most
            raise NotInSpaceError(self.name, f"must have a size in [{self.least}, {top}]", value=size)

    def _listed(self) -> tuple[Hashable, ...]:
        cells = self.cells()
        if cells is None:
            raise IncompatibleBlocksError(f"space {self.name}", "has too many kinds of records for a linear map")
        return cells


def check_sizes(least: int, most: int | None) -> None:
    if most is not None and most < least:
        raise ParameterError("most", f"must not be below least={least}", value=most)


@define
class OrderedRecords(DatasetSpace):
    """Sequences of records over named categorical attributes.

    Args:
        attributes: the attributes of a record.
        least, most: the range of the number of records; without `most` it is unbounded.
        unit: what one record is.
    """

    name: ClassVar[str] = "ordered-records"
    is_ordered: ClassVar[bool] = True

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

    def dataset(self, value: Any) -> Dataset:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise NotInSpaceError(self.name, "must be a sequence of records", value=value)
        records = tuple(read_record(entry, self.attributes) for entry in value)
        if len(records) < self.least or (self.most is not None and len(records) > self.most):
            top = "inf" if self.most is None else self.most
            raise NotInSpaceError(self.name, f"must have a size in [{self.least}, {top}]", value=len(records))
        return records

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
        return sum(int(kinds**size) for size in range(self.least, self.most + 1))

    def magnitude(self, dataset: Dataset) -> int:
        return len(self.records(dataset, self.unit))

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return cast("tuple[Any, ...]", dataset)

    def fixes_size(self, unit: str) -> bool:
        return unit == self.unit and self.least == self.most

    def is_told_by(self, unit: str) -> bool:
        return unit == self.unit

    def miniature(self, mentioned: Mapping[str, frozenset[str]], records: int) -> DatasetSpace | None:
        if self.least > records:
            return None
        most = records if self.most is None else min(self.most, records)
        attributes = restrict_attributes(self.attributes, mentioned)
        return evolve(self, attributes=attributes, most=most)


@define
class UnorderedRecords(Multisets):
    """Multisets of records over named categorical attributes.

    Args:
        attributes: the attributes of a record.
        least, most: the range of the number of records; without `most` it is unbounded.
        unit: what one record is.

    >>> sex = Attribute(name="sex", categories=("f", "m"))
    >>> UnorderedRecords(attributes=(sex,), least=2, most=2).dataset([["m"], ["f"]])
    (('f',), ('m',))
    """

    name: ClassVar[str] = "records"

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

    def dataset(self, value: Any) -> Dataset:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise NotInSpaceError(self.name, "must be a collection of records", value=value)
        records = tuple(read_record(entry, self.attributes) for entry in value)
        self.check_size(len(records))
        return self.of(records)

    def of(self, cells: tuple[Hashable, ...]) -> Dataset:
        return tuple(sorted(cells))  # type: ignore[type-var]

    def cells_of(self, dataset: Dataset) -> tuple[Any, ...]:
        return cast("tuple[Any, ...]", dataset)

    def kinds(self) -> Iterator[Hashable]:
        return all_records(self.attributes)

    def count_kinds(self) -> int:
        return count_records(self.attributes)

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return self.cells_of(dataset)

    def miniature(self, mentioned: Mapping[str, frozenset[str]], records: int) -> DatasetSpace | None:
        if self.least > records:
            return None
        most = records if self.most is None else min(self.most, records)
        attributes = restrict_attributes(self.attributes, mentioned)
        return evolve(self, attributes=attributes, most=most)


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
        if self.count_kinds() > CELLS_LISTED:
            raise ParameterError("attributes", f"span {self.count_kinds()} cells, above {CELLS_LISTED}", "use the space records")

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
