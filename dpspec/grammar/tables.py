"""Tables of categorical microdata, at the size of a census: one column of integer codes for each attribute.

A table is one file, or, where records hold members, a directory with two: `households.*`, one row for each household, and
`persons.*`, one row for each person. The column `household_id` ties them together and is itself never released.

Formats say how columns of categories lie on disk; builders make public tables on demand from printed figures, so that no big file
has to be shipped.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import attrs

from dpspec.base.errors import DpspecError, ParameterError, TableError, named
from dpspec.base.lazy import late_module
from dpspec.base.params import Items, Text, Truth, define, did_you_mean, raise_all
from dpspec.blocks.space import Attribute
from dpspec.grammar.table_counts import (
    CellCounter as CellCounter,
    CellCounts as CellCounts,
    Codes as Codes,
    Conditions,
    Countable as Countable,
    CountedTable as CountedTable,
    check_numbered as check_numbered,
    occurring as occurring,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = late_module("numpy")

_FAULTS_SHOWN = 5
_CATEGORIES_SHOWN = 8


def compact(codes: npt.ArrayLike, size: int) -> Codes:
    """Codes below `size` in the smallest unsigned type that holds them.

    >>> compact([0, 2, 1], 3).dtype
    dtype('uint8')
    """
    return np.asarray(codes, dtype=np.min_scalar_type(max(size - 1, 0)))


def signed(codes: Codes) -> Codes:
    """Codes that can be added to numbers of 64 bits: numpy makes decimals of unsigned numbers of 64 bits next to signed ones.

    >>> (np.zeros(1, dtype=np.int64) + signed(compact([2**60 + 1], 2**61))).tolist()
    [1152921504606846977]
    """
    return codes.view(np.int64) if codes.dtype == np.uint64 else codes


@attrs.frozen(kw_only=True, eq=False)
class Table(Countable):
    """Records in columns.

    Args:
        attributes: the attribute of each column.
        codes: for each attribute name the index of every record's category, in any integer type; compute with
            `key`, which cannot overflow.
        members: the records of the inner unit, where each record of the table holds some (the persons of households).
    """

    attributes: tuple[Attribute, ...]
    codes: Mapping[str, Codes]
    members: Members | None = None

    def __attrs_post_init__(self) -> None:
        lengths = {name: column.shape for name, column in self.codes.items()}
        if set(lengths) != {a.name for a in self.attributes} or len(set(lengths.values())) > 1:
            raise TableError("table", "needs one column of equal length for each attribute", value=lengths)

    def __len__(self) -> int:
        return len(next(iter(self.codes.values())))

    def replace(self, columns: Mapping[str, Codes]) -> Table:
        """The table with some columns exchanged."""
        return attrs.evolve(self, codes={**self.codes, **columns})

    def rows(self, kept: npt.NDArray[np.bool_]) -> Table:
        """The table of some of its records, with their members."""
        codes = {name: column[kept] for name, column in self.codes.items()}
        if self.members is None:
            return Table(attributes=self.attributes, codes=codes)
        theirs = kept[self.members.owner]
        owner = (np.cumsum(kept) - 1)[self.members.owner[theirs]]
        return Table(attributes=self.attributes, codes=codes, members=Members(table=self.members.table.rows(theirs), owner=owner))

    def with_members(self, kept: npt.NDArray[np.bool_]) -> Table:
        """The table of all of its records with some of their members.

        Raises:
            TableError: its records have no members.
        """
        held = self._held_members()
        return attrs.evolve(self, members=Members(table=held.table.rows(kept), owner=held.owner[kept]))

    def slice(self, begin: int, end: int) -> Table:
        """The records from one place to before another one, without members."""
        return Table(attributes=self.attributes, codes={name: column[begin:end] for name, column in self.codes.items()})

    def batches(self, size: int = 1 << 20) -> Iterator[Table]:
        """The records, so many at a time, without members; one batch without records where there are none."""
        return (self.slice(begin, begin + size) for begin in range(0, max(len(self), 1), size))

    def batches_of_members(self, size: int = 1 << 20) -> Iterator[Table]:
        """The same of `of_members`, of which no more than a batch is made at a time.

        Raises:
            TableError: there are none.
        """
        members = self._held_members()
        columns = self.attributes + members.table.attributes
        for begin in range(0, max(len(members.table), 1), size):
            owner = members.owner[begin : begin + size]
            codes = {name: column[owner] for name, column in self.codes.items()}
            yield Table(attributes=columns, codes={**codes, **members.table.slice(begin, begin + size).codes})

    def meeting(self, where: Conditions) -> Table:
        """The table of the records that meet the conditions, with their members."""
        return self.rows(self._meets(where))

    def cells(self, names: Sequence[str], where: Conditions = ()) -> CellCounts:
        counter, conditions = CellCounter([self.attribute(name) for name in names]), [(name, tuple(kept)) for name, kept in where]
        for batch in self.batches():
            counter.add(batch.keys_meeting(names, conditions))
        return counter.counts()

    def with_members_meeting(self, where: Conditions) -> Table:
        """The table of all of its records with those of their members that meet the conditions.

        A member has the attributes of the record that holds it, too.

        Raises:
            TableError: its records have no members.
        """
        return self.with_members(self.of_members()._meets(where))

    def keys_meeting(self, names: Sequence[str], where: Conditions) -> npt.NDArray[np.int64]:
        """The keys (`key`) of the records that meet the conditions."""
        keys, conditions = self.key(names), tuple(where)
        return keys[self._meets(conditions)] if conditions else keys

    def _meets(self, where: Conditions) -> npt.NDArray[np.bool_]:
        met = np.ones(len(self), dtype=np.bool_)
        for name, categories in where:
            attribute = self.attribute(name)
            met &= np.isin(self.codes[name], [attribute.index(category) for category in categories])
        return met

    def key(self, names: Sequence[str]) -> npt.NDArray[np.int64]:
        """One integer below `domain` per record that numbers the combination of the named attributes (0 for no attributes).

        Raises:
            TableError: the combinations are more than 64-bit integers can number.
        """
        attributes = [self.attribute(name) for name in names]
        check_numbered(attributes)
        return number_cells(self.codes, attributes, len(self))

    def kinds(self, names: Sequence[str]) -> npt.NDArray[np.int64]:
        """One integer per record, equal where records agree in the named columns, however many combinations these have.

        >>> a, b = (Attribute(name=name, count=10) for name in "ab")
        >>> Table.from_records([(7, 1), (3, 1), (7, 1)], (a, b)).kinds(["a", "b"]).tolist()
        [1, 0, 1]
        """
        found, most = np.zeros(len(self), dtype=np.int64), 1
        for name in names:
            size, codes = self.attribute(name).size, self.codes[name]
            if most * size > _MOST_NUMBERED:
                found, most = _dense(found), len(self)
            if most * size > _MOST_NUMBERED:
                codes, size = _dense(codes), len(self)
            found, most = found * size + signed(codes), most * size
        return _dense(found)

    def records(self) -> Iterator[tuple[str, ...]]:
        """The records as categories, in the order of the attributes; the inverse of `from_records`."""
        columns = [self.codes[a.name].tolist() for a in self.attributes]
        labels = [
            {code: a.category(code) for code in set(column)} if a.size > len(column) else list(a.values())
            for a, column in zip(self.attributes, columns, strict=True)
        ]
        return (tuple(label[code] for label, code in zip(labels, row, strict=True)) for row in zip(*columns, strict=True))

    def of_members(self) -> Table:
        """The members as records of their own, each with the attributes of the record that holds it."""
        members = self._held_members()
        codes = {name: column[members.owner] for name, column in self.codes.items()}
        return Table(attributes=self.attributes + members.table.attributes, codes={**codes, **members.table.codes})

    def _held_members(self) -> Members:
        if self.members is None:
            raise TableError("table", "has records without members", "give households together with their persons")
        return self.members

    @classmethod
    def from_records(cls, records: Iterable[Sequence[object]], attributes: tuple[Attribute, ...]) -> Table:
        """A table from records of categories, in the order of the attributes."""
        columns: list[list[int]] = [[] for _ in attributes]
        faults: list[DpspecError] = []
        known = [{category: place for place, category in enumerate(a.values())} for a in attributes]
        for row, record in enumerate(records, start=1):
            for column, lookup, attribute, category in zip(columns, known, attributes, record, strict=True):
                place = lookup.get(str(category))
                if place is None:
                    faults.append(value_fault(f"row {row}, column {named(attribute.name)}", attribute, category))
                column.append(-1 if place is None else place)
        shown = faults[:_FAULTS_SHOWN]
        if len(faults) > len(shown):
            shown.append(TableError("table", f"has {len(faults) - len(shown)} more faults of this kind"))
        raise_all(shown)
        codes = {a.name: np.asarray(c, dtype=np.int64) for a, c in zip(attributes, columns, strict=True)}
        return cls(attributes=attributes, codes=codes)


_MOST_NUMBERED = 1 << 62
"""The most combinations that are numbered in 64 bits; sorting the records makes room for more."""


def _dense(numbers: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The same kinds of records, numbered from 0 on without a gap."""
    return np.asarray(np.unique(numbers, return_inverse=True)[1], dtype=np.int64)


FEW_COLUMNS, FEW_RECORDS = 16, 1 << 10


def batch_size(columns: int, most: int) -> int:
    """How many records are read, drawn or written at a time: `most`, and fewer of more than 16 columns, for the same memory.

    A text takes 16 bytes or more, so 2^18 records of 1,000 columns would take 4 GB.

    >>> [batch_size(columns, 1 << 18) for columns in (1, 16, 1000)]
    [262144, 262144, 4194]
    """
    return max(most * FEW_COLUMNS // max(columns, FEW_COLUMNS), min(most, FEW_RECORDS))


def regrouped(attributes: tuple[Attribute, ...], tables: Iterable[Table], size: int) -> Iterator[Table]:
    """The records of several tables of these columns as tables of `size` records, and one of the rest.

    >>> sex = Attribute(name="sex", categories=("f", "m"))
    >>> parts = [Table.from_records([("f",)] * count, (sex,)) for count in (1, 5, 1)]
    >>> [len(table) for table in regrouped((sex,), parts, 3)]
    [3, 3, 1]
    """
    held: list[Table] = []
    count = 0
    for table in tables:
        begin = 0
        while count + len(table) - begin >= size:
            end = begin + size - count
            yield joined(attributes, (*held, table.slice(begin, end)))
            begin, held, count = end, [], 0
        held.append(table.slice(begin, len(table)))
        count += len(held[-1])
    if count:
        yield joined(attributes, held)


def joined(attributes: tuple[Attribute, ...], tables: Iterable[Table]) -> Table:
    """The records of several tables of these columns, one after the other, in compact codes.

    >>> sex = Attribute(name="sex", categories=("f", "m"))
    >>> parts = [Table.from_records([("f",), ("m",)], (sex,)), Table.from_records([("m",)], (sex,))]
    >>> joined((sex,), parts).counts(["sex"])
    {('f',): 1, ('m',): 2}
    """
    columns: dict[str, list[Codes]] = {a.name: [compact((), a.size)] for a in attributes}
    for table in tables:
        for a in attributes:
            columns[a.name].append(compact(table.codes[a.name], a.size))
    return Table(attributes=attributes, codes={name: np.concatenate(parts) for name, parts in columns.items()})


@attrs.frozen(kw_only=True, eq=False)
class TableStream:
    """A table that is made batch by batch, as often as it is read, and never held as a whole.

    Args:
        attributes: its columns.
        records: how many records it has.
        batches: makes its records, in their order; the same ones each time.

    >>> sex = Attribute(name="sex", categories=("f", "m"))
    >>> parts = [Table.from_records([(one,)], (sex,)) for one in "fm"]
    >>> stream = TableStream(attributes=(sex,), records=2, batches=lambda: iter(parts))
    >>> len(stream), list(stream.joined().records())
    (2, [('f',), ('m',)])
    """

    attributes: tuple[Attribute, ...]
    records: int
    batches: Callable[[], Iterator[Table]]

    def __len__(self) -> int:
        return self.records

    def joined(self) -> Table:
        """All of it in memory."""
        return joined(self.attributes, self.batches())

    def regrouped(self, most: int) -> Iterator[Table]:
        """Its records, at most so many at a time, and fewer of many columns."""
        return regrouped(self.attributes, self.batches(), batch_size(len(self.attributes), most))


MOST_LISTED = 1 << 16
"""A column of a released table with at most so many categories is a list of them and codes; one with more holds texts. A file
with a dictionary of 10^6 texts takes 11 s to read with Polars, the texts 0.1 s."""


class NumberedAttribute(Attribute):
    """The attribute of a released column of whole numbers, which are converted to Python texts only on demand.

    Its categories are the numbers in decimal digits, then some texts. With the text "" alone, some numbers are missing. Equal
    only to itself.

    Args:
        name: the attribute's name.
        numbers: the numbers, different ones.
        texts: what may be there instead of a number.

    >>> value = NumberedAttribute("value", np.array([-3, 17]), ("",))
    >>> value.size, list(value.values())
    (3, ['-3', '17', ''])
    """

    __slots__ = ("numbers", "texts")

    numbers: npt.NDArray[Any]
    texts: tuple[str, ...]

    def __init__(self, name: str, numbers: npt.NDArray[Any], texts: Sequence[str] = ()) -> None:
        plain = {"name": name, "count": None, "within": None, "parents": (), "column": None, "recode": ()}
        for field, value in {**plain, "numbers": numbers, "texts": tuple(texts)}.items():
            object.__setattr__(self, field, value)

    @property
    def categories(self) -> tuple[str, ...]:  # computed on demand
        return tuple(self.values())

    @property
    def length(self) -> int:
        """How many numbers there are."""
        return len(self.numbers)

    @property
    def size(self) -> int:
        return self.length + len(self.texts)

    def values(self) -> Iterator[str]:
        return itertools.chain(map(str, self.numbers.tolist()), self.texts)

    def category(self, place: int) -> str:
        place = range(self.size)[place]
        return str(self.numbers_of(np.asarray(place))) if place < self.length else self.texts[place - self.length]

    def is_missing(self, codes: Codes) -> npt.NDArray[np.bool_]:
        """For each code whether no number is there."""
        return np.asarray(codes) >= self.length

    def numbers_of(self, codes: Codes) -> npt.NDArray[Any]:
        """The numbers of some codes, none of which is missing."""
        return self.numbers[codes]

    def codes_of(self, numbers: npt.NDArray[np.integer[Any]]) -> Codes:
        """The code of each number; -1 where it is none of those of the column."""
        if not len(self.numbers):
            return np.full(len(numbers), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return np.where(self.numbers[places] == numbers, places, -1)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return NumberedAttribute, (self.name, self.numbers, self.texts)

    def __repr__(self) -> str:
        return f"NumberedAttribute({self.name!r}, {self.size} categories)"


class NumberedTexts(Attribute):
    """The attribute of a released column with the texts "0", "1", ..., very many of them, which are made on demand.

    A column of an attribute with a `count` holds numbers. Equal only to itself.

    Args:
        name: the attribute's name.
        size: how many categories there are.

    >>> node = NumberedTexts("node", 1_000_000)
    >>> node.count, node.size, node.category(70)
    (None, 1000000, '70')
    """

    __slots__ = ("numbered",)

    numbered: int

    def __init__(self, name: str, size: int) -> None:
        plain = {"name": name, "count": None, "within": None, "parents": (), "column": None, "recode": ()}
        for field, value in {**plain, "numbered": size}.items():
            object.__setattr__(self, field, value)

    @property
    def categories(self) -> tuple[str, ...]:  # computed on demand
        return tuple(self.values())

    @property
    def size(self) -> int:
        return self.numbered

    def values(self) -> Iterator[str]:
        return map(str, range(self.numbered))

    def category(self, place: int) -> str:
        return str(range(self.numbered)[place])

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return NumberedTexts, (self.name, self.numbered)

    def __repr__(self) -> str:
        return f"NumberedTexts({self.name!r}, {self.numbered})"


OWN_FORMS = (NumberedAttribute, NumberedTexts)
"""Attributes whose columns have a form of their own: their categories are not listed."""


class NumberRange(NumberedAttribute):
    """The attribute of a released column of whole numbers in a range, of which none is stored.

    A column that is written as it is made has such an attribute: which numbers it will hold is not known before.

    Args:
        name: the attribute's name.
        start: the first number.
        stop: the number after the last one.
        texts: what may be there instead of a number.

    >>> value = NumberRange("value", -5, 100)
    >>> value.size, value.numbers_of(np.array([0, 8])).tolist(), value.codes_of(np.array([3, 100])).tolist()
    (105, [-5, 3], [8, -1])
    """

    __slots__ = ("start", "stop")

    start: int
    stop: int

    def __init__(self, name: str, start: int, stop: int, texts: Sequence[str] = ()) -> None:
        super().__init__(name, np.zeros(0, dtype=np.int64), texts)
        for field, number in (("start", start), ("stop", stop)):
            object.__setattr__(self, field, number)

    @property
    def length(self) -> int:
        return self.stop - self.start

    def values(self) -> Iterator[str]:
        return itertools.chain(map(str, range(self.start, self.stop)), self.texts)

    def numbers_of(self, codes: Codes) -> npt.NDArray[Any]:
        return np.asarray(codes).astype(np.int64) + self.start

    def codes_of(self, numbers: npt.NDArray[np.integer[Any]]) -> Codes:
        known = (numbers >= self.start) & (numbers < self.stop)
        return np.where(known, numbers.astype(np.int64) - self.start, -1)

    def __reduce__(self) -> tuple[Any, ...]:
        return NumberRange, (self.name, self.start, self.stop, self.texts)

    def __repr__(self) -> str:
        return f"NumberRange({self.name!r}, {self.size} categories)"


@attrs.frozen(kw_only=True, eq=False)
class Members:
    """Records that belong to the records of another table.

    Args:
        table: the members.
        owner: for each member the row of the record that holds it.
    """

    table: Table
    owner: npt.NDArray[np.integer[Any]]


HOUSEHOLD_ID = "household_id"
"""The column that ties persons to households in files."""


def files_of(name: str, table: Table) -> dict[str, Table]:
    """The tables by the names of the files they become: one, or households and persons tied by numbers."""
    if table.members is None:
        return {name: table}
    tie = Attribute(name=HOUSEHOLD_ID, count=max(len(table), 1))
    persons, owner = table.members.table, table.members.owner
    return {
        "households": _with_column(table, tie, np.arange(len(table))),
        "persons": _with_column(persons, tie, owner),
    }


def _with_column(table: Table, attribute: Attribute, codes: Codes) -> Table:
    return Table(attributes=(attribute, *table.attributes), codes={**table.codes, attribute.name: codes})


def number_cells(codes: Mapping[str, Codes], attributes: Sequence[Attribute], size: int) -> npt.NDArray[np.int64]:
    """The numbers of cells in a table, whose first attribute is the slowest.

    Args:
        codes: the codes of the cells, of these attributes at least.
        attributes: those of the table.
        size: how many cells there are.

    >>> number_cells({"sex": np.array([1, 0])}, [Attribute(name="sex", count=2)], 2).tolist()
    [1, 0]
    """
    numbers = np.zeros(size, dtype=np.int64)
    for attribute in attributes:
        numbers *= attribute.size
        numbers += signed(codes[attribute.name])
    return numbers


def ranked(keys: Codes) -> tuple[npt.NDArray[np.int64], Codes, npt.NDArray[np.int64]]:
    """The keys that occur, ascending; the rank of each record's key among them; and how often each occurs.

    >>> [part.tolist() for part in ranked(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1], [1, 2]]
    """
    if not len(keys):
        return (np.zeros(0, dtype=np.int64),) * 3
    low = int(keys.min())
    names, sizes = occurring(keys - low, int(keys.max()) - low + 1)
    if names[-1] < max(4 * len(keys), 1 << 16):
        rank = np.zeros(int(names[-1]) + 1, dtype=np.min_scalar_type(len(names)))
        rank[names] = np.arange(len(names))
        return names + low, rank[keys - low], sizes
    return names + low, np.searchsorted(names, keys - low), sizes


def value_fault(subject: str, attribute: Attribute, category: object, note: str = "") -> TableError:
    """The message for a value that is not a category of its attribute; the value is confidential, and not included."""
    if category is None or str(category).strip() == "":
        return TableError(subject, f"is missing{note}", "every record needs every attribute")
    if attribute.count is not None:
        return TableError(subject, f"is no category of the space{note}", f"integers from 0 to {attribute.size - 1}")
    few = f"one of {', '.join(attribute.categories)}" if attribute.size <= _CATEGORIES_SHOWN else f"one of its {attribute.size}"
    return TableError(subject, f"is no category of the space{note}", few)


# --- formats --------------------------------------------------------------------------------------


@define
class TableLayout:
    """The layout of tables of a specification on disk: the table [table] of its file.

    Args:
        unused: columns that no attribute takes; they are never read, and never released.
        strip: remove the blanks around the text of a cell.
        observed: attributes whose categories, ranges or nesting were read off a confidential table: what they are is
            a fact about it, and published with the file.
    """

    unused: Annotated[tuple[str, ...], Items(Text(empty=True))] = ()
    strip: Annotated[bool, Truth()] = False
    observed: Annotated[tuple[str, ...], Items(Text())] = ()

    def check(self, attributes: Sequence[Attribute]) -> None:
        """Raise ParameterError where a column is both used and unused, or an attribute that is observed is none."""
        names = [a.name for a in attributes]
        faults: list[DpspecError] = [
            ParameterError("table.observed", "names no attribute of the space", did_you_mean(name, names), value=name)
            for name in self.observed
            if name not in names
        ]
        faults += [
            ParameterError("table.unused", f"is the column of the attribute {a.name}", "take it out of the list", value=a.source)
            for a in attributes
            if a.source in self.unused
        ]
        raise_all(faults)


@attrs.frozen(kw_only=True)
class ColumnSeen:
    """Summary of a column of a table.

    Args:
        name: its name.
        missing: the number of records without a value.
        distinct: the number of distinct values, without the missing one.
        values: all values, as they are written; None where there are more than the requested number.
        numbers: how many records hold a number; where all do,
        low, high: the least and the greatest, and
        whole: whether all are whole numbers, and
        plain: whether all are written as whole numbers are, without a point or leading zeros.
        padded: whether some value is surrounded by blanks.
        commas: how many records hold a number with a decimal comma, which is read as text.
        labels: the codebook in the file itself: the meaning of each value.
        unreadable: why its values cannot be categories; None where they can.
    """

    name: str
    missing: int = 0
    distinct: int = 0
    values: tuple[str, ...] | None = None
    numbers: int = 0
    low: float | None = None
    high: float | None = None
    whole: bool = False
    plain: bool = False
    padded: bool = False
    commas: int = 0
    labels: Mapping[str, str] = attrs.field(factory=dict)
    unreadable: str | None = None


@attrs.frozen(kw_only=True, eq=False)
class Coded:
    """A piece of a column.

    Args:
        codes: the place of each value among the categories of its attribute; -1 for a stranger.
        strangers: the values behind the -1, in order; None for a missing one.
    """

    codes: npt.NDArray[np.integer[Any]]
    strangers: Sequence[str | None]


class TableFormat(ABC):
    """One file format for tables, registered under its `name`; `suffixes` are the endings of its files."""

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    is_read_only: ClassVar[bool] = False
    """Whether this format can only be read: a release of such a table is written as CSV."""

    @abstractmethod
    def header(self, path: Path) -> tuple[str, ...]:
        """The names of the columns.

        Raises:
            TableError: the file cannot be read in this format.
        """

    @abstractmethod
    def batches(self, path: Path, attributes: Sequence[Attribute]) -> Iterator[Mapping[str, Coded]]:
        """The columns of these attributes, some hundred thousand rows at a time, in the order of the file."""

    def records(self, path: Path) -> int | None:
        """The number of records, where the file says it and they need not be read; None otherwise.

        Raises:
            TableError: the file cannot be read in this format.
        """
        return None

    @abstractmethod
    def identifiers(self, path: Path, column: str) -> npt.NDArray[Any]:
        """A column of record identifiers: integers or texts, none missing.

        Raises:
            TableError: one is missing.
        """

    def describe(self, path: Path, columns: Sequence[str], most: int) -> tuple[int, tuple[ColumnSeen, ...]]:
        """The number of records, and what the named columns hold, for `dpspec new spec --from`; optional.

        Args:
            most: the values of a column are listed where there are at most so many.
        """
        raise TableError(path.name, f"cannot be described: the format {self.name} does not say how", "write the file by hand")

    @abstractmethod
    def write(self, table: Table, path: Path, notes: Mapping[str, str]) -> None:
        """Write the table; the caller makes the write whole-or-nothing.

        Args:
            notes: what the file should say about itself, where the format has a place for it.
        """

    def holds(self, path: Path, table: Table) -> bool:
        """Whether a file that was written in this format holds exactly the records of a table, in its order.

        Called for every released file before it is moved to its place. A format that can compare without codes overrides this.

        Raises:
            TableError: the file cannot be read in this format.
        """
        names = self.header(path)
        if len(names) != len(table.attributes) or {*names} != {a.name for a in table.attributes}:
            return False
        row = 0
        for batch in self.batches(path, table.attributes):
            count = len(next(iter(batch.values())).codes)
            part = slice(row, row + count)
            if not all(_agree(table.attribute(name), coded, table.codes[name][part]) for name, coded in batch.items()):
                return False
            row += count
        return row == len(table)

    def write_batches(
        self, attributes: tuple[Attribute, ...], batches: Iterable[Table], path: Path, notes: Mapping[str, str]
    ) -> None:
        """Write a table that comes in batches; a format that can write as it goes does so, and needs no room for all of it.

        Args:
            attributes: the columns of every batch.
            notes: as of `write`.
        """
        self.write(joined(attributes, batches), path, notes)


def _agree(attribute: Attribute, found: Coded, written: Codes) -> bool:
    """Whether codes that were read are those that were written."""
    return np.array_equal(codes_read(attribute, found), written)


def codes_read(attribute: Attribute, found: Coded) -> Codes:
    """The codes of a piece of a released column; a missing number may have been read as a stranger, and has its code."""
    if isinstance(attribute, NumberedAttribute) and attribute.texts == ("",) and not any(found.strangers):
        return np.where(found.codes == -1, attribute.length, found.codes)
    return found.codes


# --- builders -------------------------------------------------------------------------------------


SEED = 1940
"""The seed of tables for which none is given: they are public, and with a seed they come out the same again."""

BATCH = 1 << 20
"""Records that are made at a time."""


class TableBuilder(ABC):
    """Builds one public table; made with `dpspec.define` and registered under its `name`."""

    name: ClassVar[str]

    @abstractmethod
    def build(self) -> Table:
        """The table."""

    def sized(self) -> SizedBuilder | None:
        """The builder as one of any size; None when its table has one size only."""
        return None


def fitted(table: Table, attributes: tuple[Attribute, ...], name: str) -> Table:
    """A table that was built, with its columns in the order of the attributes of a space: datasets have no names of columns.

    Raises:
        TableError: it has other columns, or other categories.
    """
    expected, given = ({a.name: tuple(a.values()) for a in columns} for columns in (attributes, table.attributes))
    for attribute in sorted(expected.keys() | given.keys()):
        if expected.get(attribute) != given.get(attribute):
            raise TableError(name, "has other columns or categories than the space", value=attribute)
    return attrs.evolve(table, attributes=attributes)


class SizedBuilder(TableBuilder):
    """Builds a public table of any size, batch by batch, so that it need not fit into memory.

    The same number of rows and the same seed give the same records.
    """

    own_size: ClassVar[int]
    """The default number of records."""

    source: ClassVar[str]
    """The source of its margins, and what is invented."""

    attributes: ClassVar[tuple[Attribute, ...]]
    """The columns."""

    @abstractmethod
    def batches(self, rows: int, seed: int = SEED) -> Iterator[Table]:
        """A table of so many records, at most `BATCH` at a time."""

    def build(self) -> Table:

        return joined(self.attributes, self.batches(self.own_size))

    def sized(self) -> SizedBuilder:
        return self


def pieces(rows: int) -> Iterator[range]:
    """The places of all records, batch by batch.

    >>> [(piece.start, piece.stop) for piece in pieces(BATCH + 5)]
    [(0, 1048576), (1048576, 1048581)]
    """
    return (range(start, min(start + BATCH, rows)) for start in range(0, rows, BATCH))
