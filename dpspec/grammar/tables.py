"""Tables of categorical microdata, at the size of a census: one column of integer codes for each attribute.

A table is one file, or, where records hold members, a directory with two: `households.*`, one row for each household, and
`persons.*`, one row for each person. The column `household_id` ties them together and is itself never released.

Formats say how columns of categories lie on disk; builders make public tables on demand from printed figures, so that no big file
has to be shipped. Reading checks every value against the space, counts all faults, and places the first of each kind.

What stands in a cell is confidential, so a fault tells its row and column and never the value. A file that changes while it is
read, which takes several looks, is refused.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from dpspec.base.errors import DpspecError, ParameterError, TableError, named
from dpspec.base.files import check_regular
from dpspec.base.params import Items, Text, Truth, define, did_you_mean, evolve, raise_all
from dpspec.blocks.space import Attribute

Codes = npt.NDArray[np.integer[Any]]

_FAULTS_SHOWN = 5
_CATEGORIES_SHOWN = 8
_COLUMNS_SHOWN = 20
_PLAIN = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)
MOST_RECODED = 100_000
"""An attribute of more categories cannot be recoded while it is read."""


def compact(codes: npt.ArrayLike, size: int) -> Codes:
    """Codes below `size` in the smallest unsigned type that holds them.

    >>> compact([0, 2, 1], 3).dtype
    dtype('uint8')
    """
    return np.asarray(codes, dtype=np.min_scalar_type(max(size - 1, 0)))


@attrs.frozen(kw_only=True, eq=False)
class Table:
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

    def attribute(self, name: str) -> Attribute:
        """The attribute of a column."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise TableError("column", "is not in the table", did_you_mean(name, [a.name for a in self.attributes]), value=name)

    def domain(self, names: Sequence[str]) -> int:
        """How many combinations of the named attributes there are."""
        domain = 1
        for name in names:
            domain *= self.attribute(name).size
        return domain

    def key(self, names: Sequence[str]) -> npt.NDArray[np.int64]:
        """One integer below `domain` per record that numbers the combination of the named attributes (0 for no attributes).

        Raises:
            TableError: the combinations are more than 64-bit integers can number.
        """
        if self.domain(names) >= 1 << 63:
            raise TableError("columns", "have too many combinations to number", "name fewer attributes", value=list(names))
        key = np.zeros(len(self), dtype=np.int64)
        for name in names:
            key *= self.attribute(name).size
            key += self.codes[name]
        return key

    def counts(self, names: Sequence[str]) -> dict[tuple[str, ...], int]:
        """The number of records with each occurring combination of the named attributes."""
        keys, counts = occurring(self.key(names), self.domain(names))
        labels = [list(self.attribute(name).values()) for name in names]
        places = np.unravel_index(keys, [len(label) for label in labels]) if names else ()
        rows = zip(*(place.tolist() for place in places), strict=True) if names else [()] * len(keys)
        return {
            tuple(label[code] for label, code in zip(labels, row, strict=True)): int(count)
            for row, count in zip(rows, counts, strict=True)
        }

    def records(self) -> Iterator[tuple[str, ...]]:
        """The records as categories, in the order of the attributes; the inverse of `from_records`."""
        labels = [list(a.values()) for a in self.attributes]
        columns = (self.codes[a.name].tolist() for a in self.attributes)
        return (tuple(label[code] for label, code in zip(labels, row, strict=True)) for row in zip(*columns, strict=True))

    def of_members(self) -> Table:
        """The members as records of their own, each with the attributes of the record that holds it."""
        if self.members is None:
            raise TableError("table", "has records without members", "give households together with their persons")
        held, owner = self.members.table, self.members.owner
        codes = {name: column[owner] for name, column in self.codes.items()}
        return Table(attributes=self.attributes + held.attributes, codes={**codes, **held.codes})

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
class Members:
    """Records that belong to the records of another table.

    Args:
        table: the members.
        owner: for each member the row of the record that holds it.
    """

    table: Table
    owner: npt.NDArray[np.int64]


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


def occurring(keys: Codes, domain: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The keys that occur, ascending, and how often; counted directly where the domain is no larger than the keys."""
    if domain > max(4 * len(keys), 1 << 16):
        found, counts = np.unique(keys, return_counts=True)
        return np.asarray(found, dtype=np.int64), counts.astype(np.int64)
    every = np.bincount(keys).astype(np.int64)
    found = np.flatnonzero(every)
    return found.astype(np.int64), every[found]


def ranked(keys: Codes) -> tuple[npt.NDArray[np.int64], Codes, npt.NDArray[np.int64]]:
    """The keys that occur, ascending; the rank of each record's key among them; and how often each occurs.

    >>> [part.tolist() for part in ranked(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1], [1, 2]]
    """
    low = int(keys.min())
    names, sizes = occurring(keys - low, int(keys.max()) - low + 1)
    if names[-1] < max(4 * len(keys), 1 << 16):
        rank = np.zeros(int(names[-1]) + 1, dtype=np.min_scalar_type(len(names)))
        rank[names] = np.arange(len(names))
        return names + low, rank[keys - low], sizes
    return names + low, np.searchsorted(names, keys - low), sizes


def value_fault(subject: str, attribute: Attribute, category: object, note: str = "") -> TableError:
    """What is wrong with a value that is no category of its attribute; the value is confidential, and not told."""
    if category is None or str(category).strip() == "":
        return TableError(subject, f"is missing{note}", "every record needs every attribute")
    if attribute.count is not None:
        return TableError(subject, f"is no category of the space{note}", f"integers from 0 to {attribute.size - 1}")
    few = f"one of {', '.join(attribute.categories)}" if attribute.size <= _CATEGORIES_SHOWN else f"one of its {attribute.size}"
    return TableError(subject, f"is no category of the space{note}", few)


# --- formats --------------------------------------------------------------------------------------


@define
class TableLayout:
    """How tables of a specification lie on disk: the table [table] of its file.

    Args:
        unused: columns that no attribute takes; they are never read, and never released.
        strip: leave out the blanks around what stands in a cell.
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
    """What a column of a table holds, in a few words.

    Args:
        name: its name.
        missing: in how many records nothing stands there.
        distinct: how many values there are, the missing one not counted.
        values: all values, as they are written; None where there are more than were asked for.
        numbers: how many records hold a number; where all do,
        low, high: the least and the greatest, and
        whole: whether all are whole numbers, and
        plain: whether all are written as whole numbers are, without a point or leading zeros.
        padded: whether blanks stand around some value.
        commas: how many records hold a number with a decimal comma, which is read as text.
        labels: the codebook that the file itself has for it: what a value means.
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

    @abstractmethod
    def header(self, path: Path) -> tuple[str, ...]:
        """The names of the columns.

        Raises:
            TableError: the file cannot be read in this format.
        """

    @abstractmethod
    def batches(self, path: Path, attributes: Sequence[Attribute]) -> Iterator[Mapping[str, Coded]]:
        """The columns of these attributes, some million rows at a time, in the order of the file."""

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

    def write_batches(self, attributes: tuple[Attribute, ...], batches: Iterable[Table], path: Path) -> None:
        """Write a table that comes in batches; a format that can write as it goes does so, and needs no room for all of it.

        Args:
            attributes: the columns of every batch.
        """

        self.write(joined(attributes, batches), path, {})


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


class SizedBuilder(TableBuilder):
    """Builds a public table of any size, batch by batch, so that it need not fit into memory.

    The same number of rows and the same seed give the same records.
    """

    own_size: ClassVar[int]
    """How many records there are when nobody says."""

    source: ClassVar[str]
    """Where its margins are printed, and what is made up."""

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


# --- reading tables -------------------------------------------------------------------------------


Formats = Mapping[str, TableFormat]
"""The formats by the suffix of their files."""


@attrs.define
class _Kind:
    """All faults of one kind: the first of them, and their number."""

    row: int
    value: str | None
    count: int = 0


def format_of(path: Path, formats: Formats) -> TableFormat:
    """The format of a file, by its suffix.

    Raises:
        TableError: no installed plugin has it.
    """
    suffix = path.suffix.lower()
    if suffix not in formats:
        known = ", ".join(sorted(formats)) or "none"
        raise TableError("file", "has no known table format", f"formats installed here: {known}", value=path.name)
    return formats[suffix]


def read_table(
    path: Path,
    attributes: Sequence[Attribute],
    formats: Formats,
    *,
    keep: Sequence[str] = (),
    progress: Callable[[int], object] | None = None,
    released: bool = False,
    layout: TableLayout | None = None,
) -> Table:
    """Read one file; columns that neither the space nor its layout knows are refused, all of them in one message.

    Args:
        keep: columns that may be there besides, such as an identifier.
        layout: how the table lies on disk.
        progress: called with the number of rows read so far.
        released: whether it is a release that is read again: it has the attributes for columns, nothing in it is recoded, it may
            be empty, and its geography need not be nested.

    Raises:
        NotAFileError, UnreadableFileError: there is no such file.
        TableError (several as Faults): unreadable or empty file, missing or unknown column, missing value, unknown category,
            a category that does not lie in the coarser one of its row, a file that changes meanwhile.
    """
    format_ = format_of(path, formats)
    if released:
        attributes, layout = as_released(attributes), None
    with _unchanged(path):
        return _read(path, attributes, format_, keep, progress, released, layout or TableLayout())


def as_released(attributes: Iterable[Attribute]) -> tuple[Attribute, ...]:
    """The attributes of a table in the words of the space: each in a column of its own name, with nothing recoded."""
    return tuple(evolve(a, column=None, recode=()) for a in attributes)


def _read(  # noqa: PLR0917 - the arguments of its face
    path: Path,
    attributes: Sequence[Attribute],
    format_: TableFormat,
    keep: Sequence[str],
    progress: Callable[[int], object] | None,
    released: bool,
    layout: TableLayout,
) -> Table:
    names = format_.header(path)
    faults = list(_header_faults(names, attributes, (*keep, *layout.unused)))
    there = [a for a in attributes if a.source in names]
    pieces: dict[str, list[Codes]] = {a.name: [] for a in there}
    kinds: dict[tuple[str, str], _Kind] = {}
    rows, told = 0, 0
    for group in _by_columns(there):
        rows = 0
        columns = {a.name: _Column(a, strip=layout.strip) for a in group}
        for batch in format_.batches(path, [columns[a.name].asked for a in group]):
            for attribute in group:
                coded = columns[attribute.name].coded(batch[attribute.source])
                _count_strangers(kinds, attribute, coded, rows)
                pieces[attribute.name].append(compact(np.maximum(coded.codes, 0), attribute.size))
            read = len(next(iter(batch.values())).codes)
            rows, told = rows + read, max(told, rows + read)
            if progress is not None:
                progress(told)
    raise_all([*faults, *_faults(path, attributes, kinds)])
    if not rows and not released:
        raise TableError(path.name, "has no records", "give a table with at least one row")
    nothing = {a.name: compact((), a.size) for a in attributes}
    codes = {name: np.concatenate(pieces.pop(name) or [nothing[name]]) for name in list(pieces)}
    table = Table(attributes=tuple(attributes), codes=codes)
    if not released:
        raise_all(list(_nesting_faults(path, table)))
    return table


def _by_columns(attributes: Sequence[Attribute]) -> list[list[Attribute]]:
    """The attributes in groups that take each column once: two attributes may be recoded from one column."""
    groups: list[list[Attribute]] = []
    for attribute in attributes:
        free = (group for group in groups if all(other.source != attribute.source for other in group))
        group = next(free, None)
        if group is None:
            groups.append([attribute])
        else:
            group.append(attribute)
    return groups


class _Column:
    """A column as a format is asked for it, and the way from what stands there to the categories of its attribute.

    Args:
        attribute: whose column it is.
        strip: leave out the blanks around a value.
    """

    def __init__(self, attribute: Attribute, *, strip: bool) -> None:
        self.attribute, self.strip = attribute, strip
        self.asked = evolve(attribute, name=attribute.source, column=None, recode=(), within=None, parents=())
        self.places: npt.NDArray[np.int64] | None = None
        self.known: dict[str, int] = {}
        if attribute.recode:
            if attribute.size > MOST_RECODED:
                rule = f"has more than {MOST_RECODED:,} categories and is recoded"
                raise TableError(f"attribute {attribute.name}", rule, "recode the column before")
            place = {category: place for place, category in enumerate(attribute.values())}
            self.known = {**place, **{written: place[to] for written, to in attribute.exact_recodes().items()}}
            written = tuple(name for name in self.known if name)
            self.asked = Attribute(name=attribute.source, categories=written)
            self.places = np.asarray([*(self.known[name] for name in written), -1], dtype=np.int64)  # the last for strangers
        elif strip and attribute.count is None:
            self.known = {category: place for place, category in enumerate(attribute.values())}

    def coded(self, found: Coded) -> Coded:
        """The codes of the attribute, for codes of what was asked."""
        codes = found.codes if self.places is None else self.places[found.codes]
        if not len(found.strangers) or not (self.strip or self.attribute.recode):
            return Coded(codes=codes, strangers=found.strangers)
        codes = codes.astype(np.int64, copy=True)
        seen: dict[str | None, int] = {}
        for value in found.strangers:
            if value not in seen:
                seen[value] = self._place(value)
        strange = np.flatnonzero(found.codes < 0)
        resolved = np.fromiter((seen[value] for value in found.strangers), dtype=np.int64, count=len(strange))
        codes[strange] = resolved
        left = [value for value, place in zip(found.strangers, resolved.tolist(), strict=True) if place < 0]
        return Coded(codes=codes, strangers=left)

    def _place(self, value: str | None) -> int:
        written = "" if value is None else value.strip() if self.strip else value
        if written in self.known:
            return self.known[written]
        if self.attribute.count is not None and not self.known and _PLAIN.fullmatch(written):
            return int(written) if int(written) < self.attribute.count else -1
        band = self.attribute.band(written)
        return -1 if band is None else self.attribute.index(band)


@contextmanager
def _unchanged(*paths: Path) -> Iterator[None]:
    """Refuse files that are no files, or that change before the block ends."""

    def seen() -> list[tuple[int, ...]]:
        found = [check_regular(path) for path in paths]
        return [(s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in found]

    before = seen()
    yield
    for path, first, now in zip(paths, before, seen(), strict=True):
        if first != now:
            raise TableError(path.name, "changed while it was read", "run again when nobody writes to it")


def read_households(
    directory: Path,
    household: Sequence[Attribute],
    person: Sequence[Attribute],
    formats: Formats,
    *,
    progress: Callable[[int], object] | None = None,
    released: bool = False,
    layout: TableLayout | None = None,
) -> Table:
    """Read a directory with `households.*` and `persons.*`; a household without persons is vacant.

    Identifiers are compared as one type: whole numbers of any width as numbers, all else as texts, letter by letter.

    Args:
        progress: called with the number of rows of both files read so far.
        released, layout: as of `read_table`; `layout.unused` may name columns of either file.

    Raises:
        TableError: as `read_table`; a file that is missing or there twice; an identifier that is missing, that two households
            share, or that no household has.
    """
    of_households, of_persons = (_only(directory, stem, formats) for stem in ("households", "persons"))
    with _unchanged(of_households, of_persons):
        outer, inner = _both([(of_households, household), (of_persons, person)], formats, progress, released, layout)
        own, wanted = _as_one_type(_identifiers(of_households, formats), _identifiers(of_persons, formats))
    order = np.argsort(own, kind="stable")
    ranked = own[order]
    twice = np.flatnonzero(ranked[1:] == ranked[:-1])
    if twice.size:
        raise TableError(
            f"{of_households.name} row {order[twice[0] + 1] + 1}, column {HOUSEHOLD_ID}",
            f"is the identifier of an earlier household ({twice.size} such)", "give every household its own",
        )  # fmt: skip
    place = np.minimum(np.searchsorted(ranked, wanted), max(len(ranked) - 1, 0))
    owner = order[place].astype(np.int64) if len(order) else np.zeros(0, dtype=np.int64)
    lost = np.flatnonzero(own[owner] != wanted) if len(order) else np.arange(len(wanted))
    if lost.size:
        raise TableError(
            f"{of_persons.name} row {lost[0] + 1}, column {HOUSEHOLD_ID}",
            f"is the identifier of no household ({lost.size} such persons)",
            "identifiers are compared letter by letter: 007 is not 7, and A is not a",
        )  # fmt: skip
    return attrs.evolve(outer, members=Members(table=inner, owner=owner))


def _as_one_type(own: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Identifiers of two files such that equal ones are equal: as 64-bit numbers where both are, as texts otherwise.

    >>> _as_one_type(np.array([7], dtype=np.uint32), np.array([7], dtype=np.int8))
    (array([7]), array([7]))
    >>> _as_one_type(np.array([7]), np.array(["007"]))
    (array(['7'], dtype='<U21'), array(['007'], dtype='<U3'))
    """
    numbers = [array.dtype.kind in "iu" and (not array.size or int(array.max()) < 1 << 63) for array in (own, wanted)]
    if all(numbers):
        return own.astype(np.int64), wanted.astype(np.int64)
    return own.astype(str), wanted.astype(str)


def _both(
    files: Sequence[tuple[Path, Sequence[Attribute]]],
    formats: Formats,
    progress: Callable[[int], object] | None,
    released: bool,
    layout: TableLayout | None,
) -> list[Table]:
    """The tables of some files; the faults of all are raised together."""
    tables: list[Table] = []
    faults: list[DpspecError] = []
    for path, attributes in files:
        before = sum(map(len, tables))
        told = None if progress is None else lambda rows, before=before: progress(before + rows)
        try:
            found = read_table(path, attributes, formats, keep=[HOUSEHOLD_ID], progress=told, released=released, layout=layout)
            tables.append(found)
        except DpspecError as problem:
            faults.append(problem)
    raise_all(faults)
    return tables


def _only(directory: Path, stem: str, formats: Formats) -> Path:
    found = sorted(path for path in directory.glob(f"{stem}.*") if path.suffix.lower() in formats)
    if len(found) != 1:
        rule = f"needs exactly one file {stem}.* ({', '.join(sorted(formats))})"
        raise TableError(str(directory), rule, value=[path.name for path in found])
    return found[0]


def _identifiers(path: Path, formats: Formats) -> npt.NDArray[Any]:
    format_ = format_of(path, formats)
    if HOUSEHOLD_ID not in format_.header(path):
        raise TableError(f"{path.name} column", "is missing from the table", "it ties persons to households", value=HOUSEHOLD_ID)
    return format_.identifiers(path, HOUSEHOLD_ID)


# --- faults --------------------------------------------------------------------------------------


def _header_faults(names: Sequence[str], attributes: Sequence[Attribute], keep: Sequence[str]) -> Iterator[DpspecError]:
    """All columns that do not fit: those that are missing, those that nothing takes, and names that stand twice."""
    expected = [a.source for a in attributes]
    if not {*names} & {*expected, *keep} and expected:
        # Without a header the first record stands there, which is confidential.
        shown = ", ".join(expected[:_COLUMNS_SHOWN]) + (", ..." if len(expected) > _COLUMNS_SHOWN else "")
        raise TableError("header", "names no attribute of the space", f"the first line names the columns: {shown}")
    lost = [a for a in attributes if a.source not in names]
    more = [name for name in names if name not in {*expected, *keep}]
    for attribute in lost[:_COLUMNS_SHOWN]:
        advice = _meant(attribute.source, more) or f'name it by column = "..." at the attribute {attribute.name}'
        yield TableError("column", "is missing from the table", advice, value=attribute.source)
    for name in more[:_COLUMNS_SHOWN]:
        advice = _meant(name, [a.source for a in lost]) or "list it as unused = [...] in [table], or make it an attribute"
        yield TableError("column", "is no attribute of the space", advice, value=name)
    rest = max(len(lost) - _COLUMNS_SHOWN, 0) + max(len(more) - _COLUMNS_SHOWN, 0)
    if rest:
        yield TableError("columns", f"{rest:,} more do not fit: of {len(names):,} in the table {len(more):,} are unknown, "
                         f"and {len(lost):,} of {len(expected):,} are missing")  # fmt: skip
    if len(set(names)) != len(names):
        yield TableError("header", "names a column twice")


def _meant(name: str, others: Sequence[str]) -> str:
    """The column of another name that is meant, it seems: the same but for case, blanks and signs, or nearly the same."""
    plain = {"".join(filter(str.isalnum, other.casefold())): other for other in others}
    same = plain.get("".join(filter(str.isalnum, name.casefold())))
    return f"did you mean {same}?" if same is not None else did_you_mean(name, others) if len(others) < _COLUMNS_SHOWN else ""


def _count_strangers(kinds: dict[tuple[str, str], _Kind], attribute: Attribute, coded: Coded, rows: int) -> None:
    strange = np.flatnonzero(coded.codes < 0)
    for row, value in zip(strange.tolist(), coded.strangers, strict=True):
        missing = value is None or not value.strip()
        kind = kinds.setdefault((attribute.name, "missing" if missing else "unknown"), _Kind(rows + row + 1, value))
        kind.count += 1


def _faults(path: Path, attributes: Sequence[Attribute], kinds: Mapping[tuple[str, str], _Kind]) -> Iterator[DpspecError]:
    by_name = {a.name: a for a in attributes}
    for (name, _), kind in kinds.items():
        note = "" if kind.count == 1 else f" ({kind.count} records; this is the first)"
        yield value_fault(f"{path.name} row {kind.row}, column {named(name)}", by_name[name], kind.value, note)


def _nesting_faults(path: Path, table: Table) -> Iterator[DpspecError]:
    """Records whose category does not lie in the coarser category that they also name."""
    for attribute in table.attributes:
        if attribute.within is None or attribute.within not in table.codes:
            continue
        coarser = table.attribute(attribute.within)
        torn = np.flatnonzero(parents(attribute, coarser)[table.codes[attribute.name]] != table.codes[coarser.name])
        if torn.size:
            row = int(torn[0])
            yield TableError(
                f"{path.name} row {row + 1}, column {named(attribute.name)}",
                f"does not lie in the {coarser.name} of its row ({torn.size} records)", "the geography must be nested",
            )  # fmt: skip


def parents(attribute: Attribute, coarser: Attribute) -> npt.NDArray[np.int64]:
    """For each category of a nested attribute the place of the coarser one in which it lies.

    >>> parents(Attribute(name="tract", count=4, within="county"), Attribute(name="county", count=2)).tolist()
    [0, 0, 1, 1]
    """
    if not attribute.parents:
        return np.arange(attribute.size, dtype=np.int64) * coarser.size // attribute.size
    places = {category: place for place, category in enumerate(coarser.values())}
    return np.asarray([places[parent] for parent in attribute.parents], dtype=np.int64)
