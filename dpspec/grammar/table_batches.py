"""A table as batches of records: a file, or a folder of files that together hold it, its *partitions*.

Every value is checked against the space, all faults are counted, and the first of each kind is located. The content of a cell is
confidential, so a fault states its row and column and never the value. A file that changes while it is read is rejected.

The counts of a table are the sums of the counts of its batches (`count_cells`), so that memory holds one batch at a time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

import attrs

from dpspec.base.errors import DpspecError, TableError, named
from dpspec.base.files import check_regular
from dpspec.base.lazy import late_module
from dpspec.base.params import did_you_mean, evolve, raise_all
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.space import Attribute
from dpspec.grammar.table_counts import CellCounter, CellsRead, CountedTable, cells_read
from dpspec.grammar.tables import Coded, Codes, Table, TableFormat, TableLayout, compact, value_fault
from dpspec.grammar.workers import Columns, Workers

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = late_module("numpy")  # what compares promises reads no table

Formats = Mapping[str, TableFormat]
"""The formats by the suffix of their files."""
_COLUMNS_SHOWN = 20
_PLAIN = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)
MOST_RECODED = 100_000
"""An attribute of more categories cannot be recoded while it is read."""
_HIVE_MISSING = "__HIVE_DEFAULT_PARTITION__"
"""What Hive and Spark write in the place of a missing value."""
_ASIDE = (".", "_")
"""First characters of the names of files that engines write next to the partitions of a table, such as _SUCCESS."""


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


@attrs.frozen(kw_only=True)
class TableSource:
    """The records of a table on disk, as batches of bounded size.

    Args:
        path: a file, or a folder of partitions.
        partitions: the files with the records, in the order of their names.
        attributes: the columns that are read.
        formats: how files are read, by suffix.
        keep: columns that may be present in addition, such as an identifier.
        layout: how the table lies on disk.
        passed: columns that names of folders may state and that are passed over, as another table has them.
        root: the folder from which messages name the partitions; None for `path`.
    """

    path: Path
    partitions: tuple[Path, ...]
    attributes: tuple[Attribute, ...]
    formats: Formats
    keep: tuple[str, ...] = ()
    layout: TableLayout = attrs.field(factory=TableLayout)
    passed: tuple[str, ...] = ()
    root: Path | None = None

    @classmethod
    def of(
        cls,
        path: Path,
        attributes: Sequence[Attribute],
        formats: Formats,
        *,
        keep: Sequence[str] = (),
        layout: TableLayout | None = None,
    ) -> TableSource:
        """The table in a file, or in a folder and its subfolders.

        In a folder all files are of one format. Names that begin with a point or an underscore are no partitions. A subfolder
        named ``state=01`` gives this value to all records below it, as Hive and Spark write partitioned tables.

        Raises:
            NotAFileError, UnreadableFileError: there is no such file.
            TableError: a file has no known format, or a folder holds no tables, tables of two formats, or other files.
        """
        found: tuple[Path, ...] = (path,)
        if path.is_dir():
            found = partitions_of(path, formats)
        for partition in found:
            check_regular(partition)
            format_of(partition, formats)
        return cls(
            path=path, partitions=found, attributes=tuple(attributes), formats=formats, keep=tuple(keep),
            layout=layout or TableLayout(),
        )  # fmt: skip

    def records(self) -> int | None:
        """The number of records, where the format says it without reading them."""
        counts = [format_of(path, self.formats).records(path) for path in self.partitions]
        return sum(count for count in counts if count is not None) if None not in counts else None

    def batches(self, progress: Callable[[int], object] | None = None) -> Iterator[Table]:
        """The records, some hundred thousand at a time, in the order of the partitions.

        Args:
            progress: called with the number of records so far.

        Raises:
            TableError (several as Faults): unreadable or empty table, missing or unknown column, missing value, unknown category,
                a category that does not lie in the coarser one of its row, a partition that changes meanwhile. What is wrong
                with values is raised after the last batch, when it is counted.
        """
        faults, rows = TableFaults(), 0
        with self.unchanged():
            for part in self.checked_parts(faults):
                for batch in part.batches(faults):
                    rows += len(batch)
                    yield batch
                    if progress is not None:
                        progress(rows)
        self.check(faults, rows)

    def check(self, faults: TableFaults, records: int) -> None:
        """Raise the faults of the table, after all of it was read."""
        faults.check(self.attributes)
        if not records:
            raise TableError(self.path.name, "has no records", "give a table with at least one row")

    def checked_parts(self, faults: TableFaults) -> tuple[TablePart, ...]:
        """The partitions, each with the columns of the table.

        Of a single file with other columns the values are checked nevertheless, so that all that is wrong is said at once.

        Raises:
            TableError (several as Faults): a partition has other columns than the table.
        """
        parts = tuple(map(self.part, range(len(self.partitions))))
        for part in parts:
            wrong = list(part.header_faults("" if len(parts) == 1 else f"{part.name} "))
            if len(parts) > 1:
                raise_all(wrong)
            faults.headers += wrong
        return parts

    def part(self, place: int) -> TablePart:
        """One partition."""
        path, name = self.partitions[place], self.name_of(place)
        form, own = format_of(path, self.formats), {a.source for a in self.attributes}
        stated = {key: value for key, value in _stated_by_folders(name).items() if key in own or key not in self.passed}
        return TablePart(path, name, self.attributes, form, self.keep, self.layout, stated)

    def passed_by_folders(self, place: int, attributes: Sequence[Attribute]) -> Iterator[tuple[Attribute, int]]:
        """What the folders of a partition state of another table, with the code of the value there; -1 for no category.

        Args:
            place: the partition.
            attributes: the columns of the other table.
        """
        stated = _stated_by_folders(self.name_of(place))
        for attribute in attributes:
            if attribute.source in stated and attribute.source in self.passed:
                column = _Column(attribute, strip=self.layout.strip)
                yield attribute, int(column.repeated(stated[attribute.source], 1).codes[0])

    def name_of(self, place: int) -> str:
        """The name of a partition in messages."""
        path = self.partitions[place]
        return path.relative_to(self.root or self.path).as_posix() if path != self.path else path.name

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Refuse a table whose files change, come or go before the block ends."""
        with unchanged(*self.partitions):
            yield
        if self.path.is_dir() and partitions_of(self.path, self.formats) != self.partitions:
            raise _changed(self.path)


def partitions_of(folder: Path, formats: Formats) -> tuple[Path, ...]:
    """The files of a table in a folder and its subfolders, in the order of their names.

    Raises:
        TableError: there are none, they are of two formats, or there are other files.
    """
    files = sorted(_below(folder, (folder.resolve(),)))
    others = [path for path in files if path.suffix.lower() not in formats]
    if others:
        rule, advice = "holds a file that is no table", "give a folder of partitions only, or one file"
        raise TableError(folder.name, rule, advice, value=others[0].relative_to(folder).as_posix())
    if not files:
        raise TableError(folder.name, "holds no tables", f"give a folder with files of one format: {', '.join(sorted(formats))}")
    kinds = sorted({formats[path.suffix.lower()].name for path in files})
    if len(kinds) > 1:
        raise TableError(folder.name, "holds tables of several formats", "give a folder of partitions of one", value=kinds)
    return tuple(files)


def _below(folder: Path, above: tuple[Path, ...]) -> Iterator[Path]:
    """The files in a folder and its subfolders, links followed.

    Names that begin with a point or an underscore are left out, unless they state a column, as Spark does.

    Args:
        above: the folders on the way here, none of which may follow again.

    Raises:
        TableError: a link leads back to a folder that it is in, or a folder cannot be read.
    """
    try:
        inside = list(folder.iterdir())
    except OSError as problem:
        raise TableError(folder.name, f"cannot be read ({problem.strerror})", "let its owner grant access to it") from None
    for path in inside:
        if path.name.startswith(_ASIDE) and "=" not in path.name:
            continue
        if not path.is_dir():
            yield path
        elif (real := path.resolve()) in above:
            raise TableError(path.name, "is a link to a folder that it is in", "give a folder without such links")
        else:
            yield from _below(path, (*above, real))


def _stated_by_folders(name: str) -> dict[str, str]:
    """The columns that the folders of a partition state, by the path of the partition in the table.

    >>> _stated_by_folders("state=01/county=St.%20Clair/part-0.parquet")
    {'state': '01', 'county': 'St. Clair'}

    Raises:
        TableError: two folders state one column.
    """
    folders = [folder.partition("=") for folder in PurePosixPath(name).parts[:-1]]
    stated = [(unquote(key), unquote(value)) for key, sign, value in folders if key and sign]
    keys = [key for key, _ in stated]
    if len(set(keys)) < len(keys):
        raise TableError(name, "is in folders that state one column twice", "keep one of them")
    return {key: "" if value == _HIVE_MISSING else value for key, value in stated}


# --- counts ---------------------------------------------------------------------------------------


@attrs.define
class PartCounts:
    """The counts of some partitions.

    Args:
        records: the number of records.
        counters: the counts of cells.
        faults: the faults of values.
    """

    records: int
    counters: dict[CellsRead, CellCounter]
    faults: TableFaults

    @classmethod
    def none(cls, wanted: Iterable[CellsRead], attributes: Sequence[Attribute]) -> PartCounts:
        """Nothing counted yet."""
        known = {a.name: a for a in attributes}
        return cls(0, {one: CellCounter([known[name] for name in one[0]]) for one in wanted}, TableFaults())

    def add(self, batch: Table) -> None:
        """Count the records of a batch."""
        self.records += len(batch)
        held = {a.name for a in batch.attributes}
        for (names, where), counter in self.counters.items():
            if not held.issuperset((*names, *dict(where))):
                continue  # a table without a column is refused once all that is wrong with it is known
            counter.add(batch.keys_meeting(names, where))

    def merge(self, later: PartCounts) -> None:
        """Count the records of later partitions, too."""
        self.records += later.records
        for one, counter in later.counters.items():
            self.counters[one].merge(counter)
        self.faults.merge(later.faults)

    def table(self, attributes: tuple[Attribute, ...]) -> CountedTable:
        """What was counted, of a table with these columns."""
        found = {one: counter.counts() for one, counter in self.counters.items()}
        return CountedTable(attributes=attributes, records=self.records, found=found)


def cells_wanted(tables: Iterable[Marginal]) -> tuple[CellsRead, ...]:
    """The counts to be computed for some tables of counts, each once."""
    return tuple(dict.fromkeys(cells_read(table.attributes, table.where) for table in tables))


def memory_of_counts(tables: Iterable[Marginal], attributes: Sequence[Attribute]) -> int:
    """The bytes that the counts of some tables take at most: 8 for each possible cell."""
    known = {a.name: a for a in attributes}
    return sum(8 * math.prod(known[name].size for name in names) for names, _ in cells_wanted(tables))


def count_cells(
    source: TableSource,
    tables: Iterable[Marginal],
    progress: Callable[[int], object] | None = None,
    workers: Workers | None = None,
) -> CountedTable:
    """Count the cells of tables in one pass over a source; held are the counts, and one batch of records.

    The counts are the same whatever the partitions, their order and the size of the batches are.

    Args:
        source: the table.
        tables: what is counted; all of the unit of the records.
        progress: called with the number of records so far.
        workers: where they work on several parts at once, each partition is one. A worker reads it by its path, returns counts.

    Raises:
        TableError: as `TableSource.batches`.
    """
    wanted = cells_wanted(tables)
    counted = PartCounts.none(wanted, source.attributes)
    if workers is None or len(source.partitions) == 1 or workers.parts == 1:
        for batch in source.batches(progress):
            counted.add(batch)
    else:
        with source.unchanged():
            source.checked_parts(counted.faults)
            parts = ({"partition": np.asarray([place]), "state": _state(path)} for place, path in enumerate(source.partitions))
            for result in workers.map(partial(_count_part, source, wanted), parts):
                counted.merge(result["counted"][0])
                if progress is not None:
                    progress(counted.records)
        source.check(counted.faults, counted.records)
    return counted.table(source.attributes)


def _count_part(source: TableSource, wanted: tuple[CellsRead, ...], part: Columns) -> Columns:
    """The kernel of `count_cells`: the counts of one partition."""
    place = int(part["partition"][0])
    if not np.array_equal(_state(source.partitions[place]), part["state"]):  # another machine may have another file there
        raise _changed(source.partitions[place])
    counted = PartCounts.none(wanted, source.attributes)
    for batch in source.part(place).batches(counted.faults):
        counted.add(batch)
    result = np.empty(1, dtype=object)
    result[0] = counted
    return {"counted": result}


def _state(path: Path) -> npt.NDArray[np.int64]:
    """The size of a file and when it was changed, which are the same on each machine that shares it."""
    seen = check_regular(path)
    return np.asarray([seen.st_size, seen.st_mtime_ns], dtype=np.int64)


# --- one partition --------------------------------------------------------------------------------


class TablePart:
    """One file as batches of records.

    Args:
        path: the file.
        name: what it is called in messages.
        attributes: its columns.
        form: how it is read.
        keep: columns that may be present in addition.
        layout: how the table lies on disk.
        stated: values of columns that the folders of the file state for all of its records. If the file has such a column as
            well, all of its values must be this one.

    Raises:
        TableError: the file cannot be read, or its header names no column of the table.
    """

    def __init__(  # noqa: PLR0917 - one file with all that reads it
        self,
        path: Path,
        name: str,
        attributes: Sequence[Attribute],
        form: TableFormat,
        keep: Sequence[str],
        layout: TableLayout,
        stated: Mapping[str, str],
    ) -> None:
        self.path, self.name, self.attributes, self.format, self.layout = path, name, tuple(attributes), form, layout
        self._header = form.header(path)
        self._stated = {column: value for column, value in stated.items() if column not in self._header}
        self._twice = {column: value for column, value in stated.items() if column in self._header}
        self.names, self._keep = (*self._header, *self._stated), (*keep, *layout.unused)
        self.there = tuple(a for a in attributes if a.source in self.names)

    def header_faults(self, where: str = "") -> Iterator[DpspecError]:
        """All columns that do not fit.

        Args:
            where: what the message begins with; the name of the file, where the table has several.

        Raises:
            TableError: no column fits: without a header the first line is a record.
        """
        return _header_faults(self.names, self.attributes, self._keep, where)

    def batches(self, faults: TableFaults) -> Iterator[Table]:
        """The records, some hundred thousand at a time; an invalid value is coded as the first category, and recorded as a fault.

        Args:
            faults: faults of values are added to it.
        """
        inside = [a for a in self.there if a.source not in self._stated]
        columns = [{a.name: _Column(a, strip=self.layout.strip) for a in group} for group in _by_columns(inside)]
        stated = [_Column(a, strip=self.layout.strip) for a in self.there if a.source in self._stated]
        read = [self.format.batches(self.path, [column.asked for column in group.values()]) for group in columns]
        if not read and stated and self._header:  # any other column tells how many records there are
            columns, read = [{}], [self.format.batches(self.path, [Attribute(name=self._header[0], count=1)])]
        if not read:
            return
        twice = [_Column(a, strip=self.layout.strip) for a in self.there if a.source in self._twice]
        rows, names = 0, {a.name: a for a in self.there}
        above = {a.name: parents(a, names[a.within]) for a in self.there if a.within in names}
        for found in zip(*read, strict=True) if len(read) == 1 else _in_step(read):
            codes: dict[str, Codes] = {}
            for group, batch in zip(columns, found, strict=True):
                for name, column in group.items():
                    coded = column.coded(batch[column.attribute.source])
                    faults.count(self.name, column.attribute, coded, rows)
                    codes[name] = compact(np.maximum(coded.codes, 0), column.attribute.size)
            for column in stated:
                coded = column.repeated(self._stated[column.attribute.source], _rows(found[0]))
                faults.count(self.name, column.attribute, coded, rows)
                codes[column.attribute.name] = compact(np.maximum(coded.codes, 0), column.attribute.size)
            for column in twice:
                coded = column.repeated(self._twice[column.attribute.source], 1)
                others = np.flatnonzero(codes[column.attribute.name] != coded.codes[0])
                faults.contradict(self.name, column.attribute, others, rows)
            table = Table(attributes=self.there, codes={a.name: codes[a.name] for a in self.there})
            faults.nest(self.name, _torn(table, above), rows)
            rows += len(table)
            yield table


def _torn(batch: Table, above: Mapping[str, Codes]) -> dict[str, tuple[str, Codes]]:
    """For nested attributes the coarser one, and the rows whose category does not lie in the category of that one."""
    found: dict[str, tuple[str, Codes]] = {}
    for name, parent in above.items():
        coarser = str(batch.attribute(name).within)
        rows = np.flatnonzero(parent[batch.codes[name]] != batch.codes[coarser])
        if len(rows):
            found[name] = (coarser, rows)
    return found


def _in_step(read: Sequence[Iterator[Mapping[str, Coded]]]) -> Iterator[tuple[Mapping[str, Coded], ...]]:
    """The batches of several readers of one file, cut to the same records."""
    held: list[Mapping[str, Coded]] = [{} for _ in read]
    while True:
        held = [batch or next(reader, {}) for batch, reader in zip(held, read, strict=True)]
        if not all(held):
            return
        rows = min(map(_rows, held))
        yield tuple(_cut(batch, 0, rows) for batch in held)
        held = [_cut(batch, rows, None) if _rows(batch) > rows else {} for batch in held]


def _rows(batch: Mapping[str, Coded]) -> int:
    return len(next(iter(batch.values())).codes)


def _cut(batch: Mapping[str, Coded], start: int, stop: int | None) -> Mapping[str, Coded]:
    cut = {}
    for name, coded in batch.items():
        before = int(np.count_nonzero(coded.codes[:start] < 0))
        codes = coded.codes[start:stop]
        strangers = coded.strangers[before : before + int(np.count_nonzero(codes < 0))]
        cut[name] = Coded(codes=codes, strangers=strangers)
    return cut


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
    """A column as a format reads it, and the map from its values to the categories of its attribute.

    Args:
        attribute: whose column it is.
        strip: leave out the blanks around a value.
    """

    def __init__(self, attribute: Attribute, *, strip: bool) -> None:
        self.attribute, self.strip = attribute, strip
        self.asked = attribute
        if attribute.column is not None or attribute.recode or attribute.within is not None:
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
        """The codes of the attribute, for the codes that were read."""
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

    def repeated(self, value: str, rows: int) -> Coded:
        """The codes of the attribute where one value stands in all rows."""
        asked = self.asked
        if asked.count is not None:
            place = int(value) if _PLAIN.fullmatch(value) and int(value) < asked.count else -1
        else:
            place = next((place for place, category in enumerate(asked.values()) if category == value), -1)
        found = Coded(codes=np.full(rows, place, dtype=np.int64), strangers=[value] * rows if place < 0 else [])
        return self.coded(found)

    def _place(self, value: str | None) -> int:
        written = "" if value is None else value.strip() if self.strip else value
        if written in self.known:
            return self.known[written]
        if self.attribute.count is not None and not self.known and _PLAIN.fullmatch(written):
            return int(written) if int(written) < self.attribute.count else -1
        band = self.attribute.band(written)
        return -1 if band is None else self.attribute.index(band)


@contextmanager
def unchanged(*paths: Path) -> Iterator[None]:
    """Refuse files that are no files, or that change before the block ends."""

    def seen() -> list[tuple[int, ...]]:
        found = [check_regular(path) for path in paths]
        return [(s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in found]

    before = seen()
    yield
    for path, first, now in zip(paths, before, seen(), strict=True):
        if first != now:
            raise _changed(path)


def _changed(path: Path) -> TableError:
    return TableError(path.name, "changed while it was read", "run again when no program writes to it")


# --- faults --------------------------------------------------------------------------------------


def _header_faults(
    names: Sequence[str], attributes: Sequence[Attribute], keep: Sequence[str], where: str
) -> Iterator[DpspecError]:
    """All columns that do not fit: missing columns, columns that no attribute takes, and duplicate names."""
    expected = [a.source for a in attributes]
    if not {*names} & {*expected, *keep} and expected:
        # Without a header the first line is a record, which is confidential.
        shown = ", ".join(expected[:_COLUMNS_SHOWN]) + (", ..." if len(expected) > _COLUMNS_SHOWN else "")
        raise TableError(f"{where}header", "names no attribute of the space", f"the first line names the columns: {shown}")
    lost = [a for a in attributes if a.source not in names]
    more = [name for name in names if name not in {*expected, *keep}]
    for attribute in lost[:_COLUMNS_SHOWN]:
        advice = _meant(attribute.source, more) or f'name it by column = "..." at the attribute {attribute.name}'
        yield TableError(f"{where}column", "is missing from the table", advice, value=attribute.source)
    for name in more[:_COLUMNS_SHOWN]:
        advice = _meant(name, [a.source for a in lost]) or "list it as unused = [...] in [table], or make it an attribute"
        yield TableError(f"{where}column", "is no attribute of the space", advice, value=name)
    rest = max(len(lost) - _COLUMNS_SHOWN, 0) + max(len(more) - _COLUMNS_SHOWN, 0)
    if rest:
        unfit = f"{len(more):,} are unknown, and {len(lost):,} of {len(expected):,} are missing"
        yield TableError(f"{where}columns", f"{rest:,} more do not fit: of {len(names):,} in the table {unfit}")
    if len(set(names)) != len(names):
        yield TableError(f"{where}header", "names a column twice")


def _meant(name: str, others: Sequence[str]) -> str:
    """The column of another name that is meant, it seems: the same but for case, blanks and signs, or nearly the same."""
    plain = {"".join(filter(str.isalnum, other.casefold())): other for other in others}
    same = plain.get("".join(filter(str.isalnum, name.casefold())))
    return f"did you mean {same}?" if same is not None else did_you_mean(name, others) if len(others) < _COLUMNS_SHOWN else ""


@attrs.define
class _Kind:
    """All faults of one kind: the first of them, and their number."""

    file: str
    row: int
    value: str | None
    count: int = 0


Name = TypeVar("Name")


def _add_kinds(found: dict[Name, _Kind], later: Mapping[Name, _Kind]) -> None:
    """Add faults that come later in the table: the first of each kind stays."""
    for name, kind in later.items():
        if name in found:
            found[name].count += kind.count
        else:
            found[name] = kind


class TableFaults:
    """The faults of a table, as its batches are read: the first of each kind, and their number.

    Args:
        headers: the faults of its columns.
    """

    def __init__(self, headers: Sequence[DpspecError] = ()) -> None:
        self.headers = list(headers)
        self._values: dict[tuple[str, bool], _Kind] = {}
        self._torn: dict[str, _Kind] = {}
        self._contradicted: dict[str, _Kind] = {}

    def count(self, file: str, attribute: Attribute, coded: Coded, before: int) -> None:
        """Count the values of a batch that are no categories.

        Args:
            before: how many records of the file come before the batch.
        """
        strange = np.flatnonzero(coded.codes < 0)
        for row, value in zip(strange.tolist(), coded.strangers, strict=True):
            is_missing = value is None or not value.strip()
            kind = self._values.setdefault((attribute.name, is_missing), _Kind(file, before + row + 1, value))
            kind.count += 1

    def contradict(self, file: str, attribute: Attribute, rows: Codes, before: int) -> None:
        """Count the records whose value is not the one that the folder of their file states.

        Args:
            rows: these records in the batch.
            before: how many records of the file come before the batch.
        """
        if len(rows):
            kind = self._contradicted.setdefault(attribute.name, _Kind(file, before + int(rows[0]) + 1, None))
            kind.count += len(rows)

    def nest(self, file: str, torn: Mapping[str, tuple[str, Codes]], before: int) -> None:
        """Count the records whose category does not lie in the coarser category that they also name.

        Args:
            torn: for attributes, the coarser one and the rows of these records in the batch.
        """
        for name, (coarser, rows) in torn.items():
            kind = self._torn.setdefault(name, _Kind(file, before + int(rows[0]) + 1, coarser))
            kind.count += len(rows)

    def merge(self, later: TableFaults) -> None:
        """Add the faults of a later part of the table."""
        _add_kinds(self._values, later._values)
        _add_kinds(self._torn, later._torn)
        _add_kinds(self._contradicted, later._contradicted)

    def check(self, attributes: Sequence[Attribute]) -> None:
        """Raise the faults: those of columns and values first; if there are none, those of the nesting.

        Raises:
            TableError (several as Faults): something is.
        """
        by_name = {a.name: a for a in attributes}
        values = []
        for (name, _), kind in self._values.items():
            note = "" if kind.count == 1 else f" ({kind.count} records; this is the first)"
            values.append(value_fault(f"{kind.file} row {kind.row}, column {named(name)}", by_name[name], kind.value, note))
        raise_all([*self.headers, *values])
        torn = []
        for name, kind in self._contradicted.items():
            rule = f"is not the value that its folder states ({kind.count} records)"
            subject = f"{kind.file} row {kind.row}, column {named(name)}"
            torn.append(TableError(subject, rule, "correct the column or the name of the folder"))
        for name, kind in self._torn.items():
            rule = f"does not lie in the {kind.value} of its row ({kind.count} records)"
            subject = f"{kind.file} row {kind.row}, column {named(name)}"
            torn.append(TableError(subject, rule, "the geography must be nested"))
        raise_all(torn)


def parents(attribute: Attribute, coarser: Attribute) -> npt.NDArray[np.int64]:
    """For each category of a nested attribute the place of the coarser one in which it lies.

    >>> parents(Attribute(name="tract", count=4, within="county"), Attribute(name="county", count=2)).tolist()
    [0, 0, 1, 1]
    """
    if not attribute.parents:
        return np.arange(attribute.size, dtype=np.int64) * coarser.size // attribute.size
    places = {category: place for place, category in enumerate(coarser.values())}
    return np.asarray([places[parent] for parent in attribute.parents], dtype=np.int64)
