"""Dataset spaces of records over named categorical attributes: ordered, unordered, as contingency tables, and in households.

Households have two levels, so that the unit of protection is a real choice (Bailie, Gong, Meng and Drechsler 2024).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar, cast

from dpspec.base.errors import NotInSpaceError, ParameterError
from dpspec.base.params import Integer, Items, Nested, Text, define, evolve
from dpspec.blocks.multisets import (
    CELLS,
    CELLS_LISTED,
    COMBINED,
    MOST_FILLED,
    Multisets,
    all_records,
    check_attributes,
    check_size,
    check_sizes,
    combined,
    count_records,
    first_names,
    further_cells,
    include_attributes,
    include_sizes,
    multisets_between,
    palette_of,
    read_record,
    read_records,
    reduced_sizes,
    renamed_records,
    repeated,
    restrict_attributes,
    sequences_between,
    sequences_of,
)
from dpspec.blocks.parts import (
    Changes,
    Choice,
    Collections,
    Membership,
    Mentioned,
    Miniatures,
    Nesting,
    Palette,
    SimplerNames,
    Sizes,
    Unnested,
    Wording,
    check_places,
)
from dpspec.blocks.space import (
    MEMBERS,
    Attribute,
    Dataset,
    DatasetSpace,
    Pair,
    Record,
    pair_of_records,
    range_in_words,
    record_in_words,
    records_in_words,
)


@define
class Records(DatasetSpace, Collections, Sizes, Palette, Miniatures, Wording):
    """Base class of the spaces of records of one unit.

    Args:
        attributes: the attributes of a record.
        least, most: the range of the number of records; without `most` it is unbounded.
        unit: what one record is.
    """

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

    def reduced(self, mentioned: Mentioned, records: int) -> DatasetSpace | None:
        least, most = reduced_sizes(self.least, self.most, records)
        return evolve(self, attributes=restrict_attributes(self.attributes, mentioned), least=least, most=most)

    def first_cell(self) -> Hashable:
        return next(all_records(self.attributes))

    def total_range(self) -> tuple[int, int | None]:
        return self.least, self.most

    def sizes(self) -> tuple[int, int | None]:
        return self.least, self.most

    def of_sizes(self, least: int, most: int | None) -> DatasetSpace:
        return evolve(self, least=least, most=most)

    def crossed(self, cells: Sequence[Hashable]) -> tuple[Hashable, ...]:
        return combined(cast("Sequence[Record]", cells), self.attributes)

    def palette(self, choose: Choice, mentioned: Mentioned) -> tuple[Hashable, ...]:
        return palette_of(choose, self.attributes, mentioned)

    def _read(self, value: Any) -> tuple[Record, ...]:
        """The records of a dataset as it is written, in the order given."""
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise NotInSpaceError(self.name, "must be a collection of records", value=value)
        records = read_records(value, self.attributes)
        check_size(self.name, len(records), self.least, self.most)
        return records


@define
class OrderedRecords(Records, Changes, SimplerNames):
    """Sequences of records over named categorical attributes.

    Args:
        attributes, least, most, unit: as in `Records`.
    """

    name: ClassVar[str] = "ordered-records"
    is_ordered: ClassVar[bool] = True
    is_sequence: ClassVar[bool] = True

    def dataset(self, value: Any) -> Dataset:
        return self._read(value)

    def differing(self, unit: str, gone: tuple[Record, ...], come: tuple[Record, ...]) -> Iterator[tuple[Any, Any]]:
        """The records that differ first, followed by as many further equal records as the least size requires."""
        further = max(0, self.least - min(len(gone), len(come)))
        if unit == self.unit and further <= MOST_FILLED:
            filled = (*(gone or come or tuple(itertools.islice(all_records(self.attributes), 1)))[:1],) * further
            yield gone + filled, come + filled

    def thinned(self) -> DatasetSpace | None:
        return evolve(self, least=0) if self.least > MOST_FILLED else None

    def filled(self, pair: Pair, record: Record | None = None) -> tuple[Any, Any] | None:
        """The records of the pair first, in their order, followed by the others."""
        left, right = (cast("tuple[Record, ...]", dataset) for dataset in pair)
        more = further_cells((left, right), self.least, len(self.attributes), record)
        return None if more is None else (left + more, right + more)

    def datasets(self) -> Iterator[Dataset]:
        check_places(self.name, self.least)
        few = count_records(self.attributes)
        listed = tuple(all_records(self.attributes)) if few is not None and few <= CELLS_LISTED else None
        for size in itertools.count(self.least):
            if self.most is not None and size > self.most:
                return
            if listed is None:
                yield from sequences_of(lambda: all_records(self.attributes), size)
            else:
                yield from itertools.product(listed, repeat=size)

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
class UnorderedRecords(Records, Multisets, SimplerNames):
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

    # said again of tables, which are the same multisets, written down as counts
    cardinality, parts = UnorderedRecords.cardinality, UnorderedRecords.parts
    fixes_size, is_told_by, includes = UnorderedRecords.fixes_size, UnorderedRecords.is_told_by, UnorderedRecords.includes

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
        return tuple(counts[kind] for kind in _listed_cells(self))

    def cells_of(self, dataset: Dataset) -> tuple[Any, ...]:
        counts = cast("tuple[int, ...]", dataset)
        return tuple(kind for kind, count in zip(_listed_cells(self), counts, strict=True) for _ in range(count))

    def miniature(self, mentioned: Mentioned, records: int) -> DatasetSpace | None:
        """Tables of the same cells with few records: one of fewer cells is a shorter tuple, and no dataset of this space."""
        if self.least > records:
            return None
        return evolve(self, most=records if self.most is None else min(self.most, records))

    def sizes(self) -> tuple[int, int | None]:
        return self.least, self.most

    def of_sizes(self, least: int, most: int | None) -> DatasetSpace:
        return evolve(self, least=least, most=most)

    def lists_counts(self) -> bool:
        return True

    def _has_attributes(self, other: Records) -> bool:
        return self.attributes == other.attributes  # a table of fewer combinations is a shorter tuple


# --- households -----------------------------------------------------------------------------------


PERSONS = 3
"""A household of a palette has at most this many persons."""


_LISTED_PERSONS = 4_096
"""The largest number of kinds of persons that are cached while households are listed; further ones are created on demand."""


def _bags(attributes: tuple[Attribute, ...], size: int, first: int = 0) -> Iterator[tuple[Record, ...]]:
    """Multisets of so many records, in the order of their kinds, from the kind number `first` on."""
    if size == 0:  # without a list of kinds: it is asked for at each record of a larger multiset
        yield ()
        return
    few = tuple(itertools.islice(all_records(attributes), first, first + _LISTED_PERSONS + 1))
    if len(few) <= _LISTED_PERSONS:
        yield from itertools.combinations_with_replacement(few, size)
    else:
        for number, record in enumerate(itertools.islice(all_records(attributes), first, None), first):
            yield from ((record, *rest) for rest in _bags(attributes, size - 1, number))


@define
class Households(Multisets, Nesting, Membership, Sizes, Palette, Miniatures, SimplerNames):
    """Multisets of households, each with its own attributes and a multiset of persons.

    A dataset is a sorted tuple of households ``(household categories, sorted persons)``; a household without
    persons is a vacant housing unit. As records of the unit *household* it reads
    ``(*household categories, members)``; as records of the unit *person*
    ``(*household categories, *person categories)``, one for each person.

    In a file or on the command line a dataset is a list of such pairs: ``[[["county 1"], [["34", "f"]]], [["county 2"], []]]``
    has two housing units, and a woman of 34 lives in the first.

    Args:
        household: the attributes of a household.
        person: the attributes of a person.
        least, most: the range of the number of households.
        members: the largest number of persons in a household.
    """

    name: ClassVar[str] = "households"

    household: Annotated[tuple[Attribute, ...], Items(Nested(Attribute), least=1)]
    person: Annotated[tuple[Attribute, ...], Items(Nested(Attribute), least=1)]
    least: Annotated[int, Integer(0)] = 0
    most: Annotated[int, Integer(0)] | None = None
    members: Annotated[int, Integer(0)] | None = None

    def __attrs_post_init__(self) -> None:
        check_attributes(self.household, "household")
        check_attributes(self.person, "person")
        check_sizes(self.least, self.most)
        shared = {a.name for a in self.household} & ({a.name for a in self.person} | {MEMBERS})
        if shared:
            raise ParameterError("attributes", "must not share a name", value=sorted(shared))

    @property
    def units(self) -> tuple[str, ...]:
        return ("household", "person")

    def attributes_of(self, unit: str) -> tuple[Attribute, ...]:
        self.check_unit(unit)
        if unit == "person":
            return self.household + self.person
        return (*self.household, _members(max(self._compositions() or 2**62, 1)))

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        if unit == "household":
            return tuple((*place, members) for place, members in self.cells_of(dataset))
        return tuple((*place, *person) for place, members in self.cells_of(dataset) for person in members)

    def dataset(self, value: Any) -> Dataset:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise NotInSpaceError(self.name, "must be a collection of households", value=value)
        cells = tuple(self._read_household(entry) for entry in value)
        self.check_size(len(cells))
        return self.of(cells)

    def _read_household(self, entry: Any) -> Hashable:
        if isinstance(entry, (str, Mapping)) or not isinstance(entry, Iterable) or len(parts := tuple(entry)) != 2:
            raise NotInSpaceError("household", "must be a pair (household categories, persons)", value=entry)
        if isinstance(parts[1], (str, Mapping)) or not isinstance(parts[1], Iterable):
            raise NotInSpaceError("household", "must give its persons as a collection", value=parts[1])
        persons = tuple(sorted(read_records(parts[1], self.person)))
        if self.members is not None and len(persons) > self.members:
            raise NotInSpaceError("household", f"has more than {self.members} persons", value=len(persons))
        return read_record(parts[0], self.household), persons

    def of(self, cells: tuple[Hashable, ...]) -> Dataset:
        return tuple(sorted(cells))  # type: ignore[type-var]

    def cells_of(self, dataset: Dataset) -> tuple[Any, ...]:
        return cast("tuple[Any, ...]", dataset)

    def magnitude(self, dataset: Dataset) -> int:
        return sum(1 + len(members) for _, members in self.cells_of(dataset))

    def kinds(self) -> Iterator[Hashable]:
        sizes = itertools.count() if self.members is None else range(self.members + 1)
        for size in sizes:
            for members in _bags(self.person, size):
                for place in all_records(self.household):
                    yield place, tuple(sorted(members))  # by their texts, as in `dataset`; bags are in the order of categories

    def differing(self, unit: str, gone: tuple[Record, ...], come: tuple[Record, ...]) -> Iterator[tuple[Any, Any]]:
        """Persons that go and come leave their households where they are; alone in them first, then with one other."""
        if unit == "household":
            yield from super().differing(unit, gone, come)
            return
        here, there = ([(r[: len(self.household)], r[len(self.household) :]) for r in records] for records in (gone, come))
        if {place for place, _ in here} == {place for place, _ in there}:
            yield from self._settled(tuple(dict.fromkeys(place for place, _ in here)), here, there, ())
        places = tuple(dict.fromkeys(place for place, _ in (*here, *there)))
        companion = next(iter((*here, *there)))[1] if here or there else ()
        for others in ((), (companion,)):
            yield from self._settled(places, here, there, others)

    def _settled(
        self, places: tuple[Record, ...], here: list[tuple[Record, Record]], there: list[tuple[Record, Record]],
        others: tuple[Record, ...],
    ) -> Iterator[tuple[Any, Any]]:  # fmt: skip
        """Households at these places, first with the one persons in them, then with the other ones; `others` in all of them."""
        further = max(0, self.least - len(places))
        if further > MOST_FILLED or not places:
            return
        settled: list[Any] = []
        for persons in (here, there):
            left, cells = list(persons), []
            for place in places:
                own = [person for at, person in left if at == place]
                left = [(at, person) for at, person in left if at != place]
                cells.append((place, tuple(sorted((*others, *own)))))
            settled.append(self.of((*cells, *((places[0], others),) * further)))
        yield settled[0], settled[1]

    def few_values(self, attribute: Attribute) -> Iterator[Hashable]:
        if attribute.name != MEMBERS:
            return attribute.values()
        one = next(all_records(self.person))
        return iter([(), (one,), (one, one)][: 3 if self.members is None else self.members + 1])

    def sizes(self) -> tuple[int, int | None]:
        return self.least, self.most

    def of_sizes(self, least: int, most: int | None) -> DatasetSpace:
        return evolve(self, least=least, most=most)

    def most_within(self, inner: str, outer: str) -> int | None:
        return self.members if (inner, outer) == ("person", "household") else Unnested(self).most_within(inner, outer)

    def most_changed(self, unit: str, per: str) -> int | None:
        """As many as lie within: a record of a larger unit shows all that lie in it."""
        return self.most_within(unit, per)

    def with_most(self, inner: str, outer: str, most: int) -> DatasetSpace | None:
        if (inner, outer) != ("person", "household"):
            return None
        return evolve(self, members=most if self.members is None else min(most, self.members))

    def with_members(self, dataset: Dataset, left: Callable[[tuple[Record, ...]], Sequence[int]]) -> Dataset:
        def kept(place: Record, members: tuple[Record, ...]) -> tuple[Record, tuple[Record, ...]]:
            return place, tuple(members[index] for index in left(tuple((*place, *person) for person in members)))

        return self.of(tuple(kept(place, members) for place, members in self.cells_of(dataset)))

    def includes(self, other: DatasetSpace) -> str | None:
        if self == other:
            return "the same dataset space"
        if not isinstance(other, Households) or type(other) is not type(self):
            return None
        sizes = include_sizes((self.least, self.most), (other.least, other.most))
        persons = include_sizes((0, self.members), (0, other.members))
        attributes = include_attributes(self.household, other.household) and include_attributes(self.person, other.person)
        return "fewer or smaller households, or fewer categories" if sizes and persons and attributes else None

    def exchanges(self, inner: str, outer: str, count: int) -> Iterator[tuple[Dataset, Dataset]]:
        """One household whose persons are all of one kind, and then all of another."""
        fits = (inner, outer) == ("person", "household") and self.least <= 1 and (self.members is None or count <= self.members)
        kinds = list(itertools.islice(all_records(self.person), 2))
        if fits and len(kinds) == 2:
            for place in itertools.islice(all_records(self.household), 3):
                yield self.of(((place, (kinds[0],) * count),)), self.of(((place, (kinds[1],) * count),))

    def count_kinds(self) -> int | None:
        compositions, places = self._compositions(), count_records(self.household)
        return None if compositions is None or places is None else compositions * places

    def _compositions(self) -> int | None:
        kinds = count_records(self.person)
        return None if kinds is None or self.members is None else multisets_between(kinds, 0, self.members)

    def own_attributes(self, unit: str) -> tuple[Attribute, ...]:
        self.check_unit(unit)
        return self.household if unit == "household" else self.person

    def cell_of(self, record: Record) -> Hashable:
        return record[:-1], record[-1]

    def crossed(self, cells: Sequence[Hashable]) -> tuple[Hashable, ...]:
        pairs = cast("Sequence[tuple[Record, Hashable]]", cells)
        places = combined([place for place, _ in pairs], self.household)
        members = dict.fromkeys(composition for _, composition in pairs)
        return tuple(itertools.islice(itertools.product(places, members), COMBINED))

    def palette(self, choose: Choice, mentioned: Mentioned) -> tuple[Hashable, ...]:
        """Every place of one palette with every composition of another."""
        places = palette_of(choose, self.household, mentioned)
        persons = palette_of(choose, self.person, mentioned)
        most = PERSONS if self.members is None else min(self.members, PERSONS)
        return tuple(itertools.islice(itertools.product(places, choose.bags(persons, most, 4)), CELLS))

    def renamed(self, left: Dataset, right: Dataset) -> Iterator[tuple[Dataset, Dataset]]:
        households = (*self.cells_of(left), *self.cells_of(right))
        for merged in (None, *(a.name for a in (*self.household, *self.person))):
            places = first_names([place for place, _ in households], self.household, merged)
            persons = first_names([person for _, members in households for person in members], self.person, merged)
            one, two = (
                self.of(tuple((places[p], tuple(sorted(persons[m] for m in members))) for p, members in self.cells_of(dataset)))
                for dataset in (left, right)
            )
            yield one, two

    def in_words(self, left: Any, right: Any) -> tuple[str, str]:
        def household(place: Record, members: tuple[Record, ...]) -> str:
            where = record_in_words(place, self.household, "")
            persons = records_in_words(members, self.person, "person") if members else "vacant"
            return f"a household {where + ' ' if where else ''}of {persons}" if members else f"an empty household {where}".strip()

        def whole(dataset: Any) -> str:
            found = Counter(household(place, members) for place, members in dataset)
            texts = [text if times == 1 else f"{times} times {text}" for text, times in found.items()]
            return "; ".join(texts) or "no household"

        return whole(left), whole(right)

    def miniature(self, mentioned: Mapping[str, frozenset[str]], records: int) -> DatasetSpace | None:
        if self.least > records:
            return None
        return evolve(
            self,
            household=restrict_attributes(self.household, mentioned),
            person=restrict_attributes(self.person, mentioned),
            most=records if self.most is None else min(self.most, records),
            members=1 if self.members is None else min(self.members, 1),
        )

    def reduced(self, mentioned: Mentioned, records: int) -> DatasetSpace | None:
        least, most = reduced_sizes(self.least, self.most, records)
        return evolve(
            self,
            household=restrict_attributes(self.household, mentioned),
            person=restrict_attributes(self.person, mentioned),
            least=least, most=most, members=2 if self.members is None else min(self.members, 2),
        )  # fmt: skip


@lru_cache(maxsize=16)
def _listed_cells(space: ContingencyTables) -> tuple[Hashable, ...]:
    """The cells of a table, which each of its datasets is read with: at most `CELLS_LISTED`."""
    return tuple(space.kinds())


@lru_cache(maxsize=64)
def _members(count: int) -> Attribute:
    return Attribute(name=MEMBERS, count=count)


# --- two schemas of the same data -----------------------------------------------------------------


def on_one_schema(left: DatasetSpace, right: DatasetSpace) -> tuple[DatasetSpace, DatasetSpace] | None:
    """Two spaces of records, each with the attributes that it lacks and the other one has; None where they describe other data.

    They describe the same data when the kind of space and the unit are the same, and they share an attribute, and whatever
    attribute has one name in both has the same categories, in whatever order, or a part of them.

    >>> region, sex = Attribute(name="region", count=4), Attribute(name="sex", count=2)
    >>> both = on_one_schema(UnorderedRecords(attributes=(region,)), UnorderedRecords(attributes=(region, sex)))
    >>> [attribute.name for attribute in both[0].attributes]
    ['region', 'sex']
    >>> on_one_schema(UnorderedRecords(attributes=(region,)), UnorderedRecords(attributes=(sex,))) is None
    True
    """
    if type(left) is not type(right) or left.units != right.units:
        return None
    if isinstance(left, Records) and isinstance(right, Records):
        found = _on_one_schema({"attributes": left.attributes}, {"attributes": right.attributes})
    elif isinstance(left, Households) and isinstance(right, Households):
        found = _on_one_schema(
            {"household": left.household, "person": left.person}, {"household": right.household, "person": right.person}
        )
    else:
        return None
    if found is None:
        return None
    try:
        return evolve(left, **found[0]), evolve(right, **found[1])
    except ParameterError:  # an attribute of persons here and of households there
        return None


AttributesByUnit = dict[str, tuple[Attribute, ...]]


def _on_one_schema(left: AttributesByUnit, right: AttributesByUnit) -> tuple[AttributesByUnit, AttributesByUnit] | None:
    found: tuple[AttributesByUnit, AttributesByUnit] = ({}, {})
    shares = False
    holding = {a.within for side in (left, right) for attributes in side.values() for a in attributes}
    for unit in left:
        ours, theirs = ({a.name: a for a in side[unit]} for side in (left, right))
        pairs: dict[str, tuple[Attribute, Attribute]] = {}
        for name in {**ours, **theirs}:
            pair = _one_attribute(ours.get(name), theirs.get(name), ours, theirs, reorders=name not in holding)
            if pair is None:
                return None
            pairs[name] = pair
        shares = shares or not ours.keys().isdisjoint(theirs)
        order = _outer_first(list(theirs if ours.keys() <= theirs.keys() else {**ours, **theirs}), pairs)
        for side in (0, 1):
            found[side][unit] = tuple(pairs[name][side] for name in order)
    return found if shares else None


def _one_attribute(
    ours: Attribute | None,
    theirs: Attribute | None,
    left: Mapping[str, Attribute],
    right: Mapping[str, Attribute],
    *,
    reorders: bool,
) -> tuple[Attribute, Attribute] | None:
    """An attribute as each of the two has it then; None where the two mean different things by its name.

    The same categories in another order are those of the second, unless the order says which of them hold finer ones.
    """
    if ours is None or theirs is None:
        added = ours or theirs
        return None if added is None else (added, added)
    if ours == theirs or ours.includes(theirs) or theirs.includes(ours):
        return ours, theirs
    if reorders and ours.within is None is theirs.within and ours.size == theirs.size and {*ours.values()} == {*theirs.values()}:
        return theirs, theirs
    same = (ours.categories, ours.count) == (theirs.categories, theirs.count)
    if same and ours.within is None and theirs.within not in left:  # the coarser attribute is added, and is known from this one
        return theirs, theirs
    if same and theirs.within is None and ours.within not in right:
        return ours, ours
    return None


def _outer_first(names: Sequence[str], pairs: Mapping[str, tuple[Attribute, Attribute]]) -> list[str]:
    """The names with each attribute behind the coarser one in which it lies."""
    order: list[str] = []

    def visit(name: str) -> None:
        for within in (attribute.within for attribute in pairs[name]):
            if within is not None and within in pairs and within not in order:
                visit(within)
        if name not in order:
            order.append(name)

    for name in names:
        visit(name)
    return order
