"""CSV, Parquet and Arrow files through Polars, as columns of codes.

>>> import tempfile
>>> from pathlib import Path
>>> from dpspec.plugin import Attribute
>>> from dpspec.plugin import table_files
>>> from dpspec.plugin import Table
>>> tenure = Attribute(name="tenure", categories=("owned", "rented"))
>>> table = Table.from_records([("owned",), ("rented",)], (tenure,))
>>> with tempfile.TemporaryDirectory() as folder:
...     Parquet().write(table, Path(folder) / "dwellings.parquet", {})
...     table_files.read_table(Path(folder) / "dwellings.parquet", [tenure], {".parquet": Parquet()}).counts(["tenure"])
{('owned',): 1, ('rented',): 1}
"""

from __future__ import annotations

import csv
import os
import queue
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dpspec.plugin import Attribute, Table, errors, late_module, tables

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl
else:
    np = late_module("numpy")

BATCH = 1 << 18
"""Rows that are read at a time. With four times as many, reading takes 30 MB more and no less time."""
COMPARED = 1 << 16
"""Rows of a released file that are compared at a time, as texts where its columns are texts."""
LONGEST_IDENTIFIER = 200
"""Characters."""


_AHEAD = {
    "POLARS_CSV_CHUNK_PREFETCH_LIMIT": "2",
    "POLARS_CSV_CHUNK_SIZE": str(1 << 21),
    "POLARS_RECORD_BATCH_PREFETCH_SIZE": "2",
    "POLARS_ROW_GROUP_PREFETCH_SIZE": "2",
}
"""How many parts of a file Polars reads ahead, and the bytes of one of CSV; unless the user says otherwise. By itself it takes
250 MB more for CSV, and 70 MB for Parquet, which it reaches after some 10 million records; measured in docs/decisions.md."""


_SETTING = threading.Lock()


def _read_few_ahead() -> None:
    """Bound what Polars holds of a file that it reads, for which it has environment variables alone.

    They are set once, before the first file is read, and stay: where one thread changes the environment while Polars looks up a
    variable in another one, the process ends with a segmentation fault.
    """
    with _SETTING:
        for name, value in _AHEAD.items():
            os.environ.setdefault(name, value)


class PolarsFormat(tables.TableFormat):
    """Base class of the formats."""

    columns_are_apart: ClassVar[bool] = False
    """Whether a file holds each column by itself, so that one can be read without the others."""

    @abstractmethod
    def scan(self, path: Path) -> pl.LazyFrame:
        """The file as a lazy frame."""

    def reason(self, path: Path) -> Reason | None:
        """What is wrong with a file that the library cannot read, without a value of it; None where that is not known."""
        return None

    def reading(self) -> pl.QueryOptFlags:
        """How a frame is read: whole rows where a row is one text, since a part of one does not show that it is no row."""
        import polars as pl

        return pl.QueryOptFlags(projection_pushdown=self.columns_are_apart)

    @abstractmethod
    def write_frame(self, frame: pl.DataFrame, path: Path, notes: Mapping[str, str]) -> None:
        """Write a frame of labels."""

    @abstractmethod
    def sink(self, frame: pl.LazyFrame, path: Path, notes: Mapping[str, str]) -> None:
        """Write a lazy frame of labels as it comes."""

    def write_batches(
        self, attributes: tuple[Attribute, ...], batches: Iterable[Table], path: Path, notes: Mapping[str, str]
    ) -> None:
        import polars as pl
        from polars.io.plugins import register_io_source

        def frames(*_: object) -> Iterator[pl.DataFrame]:
            return (pl.DataFrame([c.labelled(table.codes[c.attribute.name]) for c in columns]) for table in batches)

        columns = [Column(a) for a in attributes]
        schema = pl.DataFrame([c.labelled(tables.compact((), c.attribute.size)) for c in columns]).schema
        self.sink(register_io_source(frames, schema=schema), path, notes)

    def header(self, path: Path) -> tuple[str, ...]:
        with readable(path, self.reason):
            return tuple(self.scan(path).collect_schema().names())

    def batches(self, path: Path, attributes: Sequence[Attribute]) -> Iterator[Mapping[str, tables.Coded]]:
        _read_few_ahead()
        with readable(path, self.reason):
            frame = self.scan(path).select([a.name for a in attributes])
            rows, columns = tables.batch_size(len(attributes), BATCH), {a.name: Column(a) for a in attributes}
            for batch in in_batches(frame, rows, self.reading()):
                yield {name: column.coded(batch[name]) for name, column in columns.items()}

    def records(self, path: Path) -> int | None:
        import polars as pl

        if not self.columns_are_apart:
            return None
        with readable(path, self.reason):
            return int(self.scan(path).select(pl.len()).collect().item())

    def holds(self, path: Path, table: Table) -> bool:
        row, columns = 0, [Column(a) for a in table.attributes]
        with readable(path, self.reason):
            frame = self.scan(path)
            if frame.collect_schema().names() != [a.name for a in table.attributes]:
                return False
            for batch in in_batches(frame, COMPARED, self.reading()):
                part = slice(row, row + batch.height)
                if not all(_are(batch[c.attribute.name], table.codes[c.attribute.name][part], c) for c in columns):
                    return False
                row += batch.height
        return row == len(table)

    def describe(self, path: Path, columns: Sequence[str], most: int) -> tuple[int, tuple[tables.ColumnSeen, ...]]:
        with readable(path, self.reason):
            frame = self.scan(path).select(columns)
            return described(frame, most, self.reading())

    def identifiers(self, path: Path, column: str) -> npt.NDArray[Any]:
        import polars as pl

        with readable(path, self.reason):
            values = self.scan(path).select(column).collect(optimizations=self.reading())[column]
        if values.dtype in (pl.Categorical, pl.Enum, pl.Int128, pl.UInt128):
            values = values.cast(pl.String)
        if values.dtype == pl.String:
            values = values.replace("", None)
        missing = values.is_null().arg_true()
        if len(missing):
            raise errors.TableError(
                f"{path.name} row {missing[0] + 1}, column {errors.named(column)}", f"is missing ({len(missing)} records)"
            )
        if values.dtype.is_integer():
            return values.to_numpy()
        if values.dtype != pl.String:
            rule = f"holds {values.dtype.base_type().__name__} values, of which equal ones need not look equal"
            raise errors.TableError(f"{path.name} column {errors.named(column)}", rule, "identifiers are whole numbers or texts")
        return _texts(values, f"{path.name} column {errors.named(column)}")

    def write(self, table: Table, path: Path, notes: Mapping[str, str]) -> None:
        import polars as pl

        self.write_frame(pl.DataFrame([labelled(table.codes[a.name], a) for a in table.attributes]), path, notes)


def in_batches(frame: pl.LazyFrame, rows: int, reading: pl.QueryOptFlags) -> Iterator[pl.DataFrame]:
    """The rows of a frame in their order, so many at a time.

    Polars runs in a thread of its own. Its `collect_batches` ends as if all were read where the library panics, as in a damaged
    Arrow file, and the rows that follow were left out. `sink_batches` raises what happened.
    """
    made: queue.Queue[pl.DataFrame | BaseException | None] = queue.Queue(1)
    is_left = threading.Event()

    def give(batch: pl.DataFrame) -> bool:
        made.put(batch)
        return is_left.is_set()

    def run() -> None:
        try:
            frame.sink_batches(give, chunk_size=rows, maintain_order=True, engine="streaming", optimizations=reading)
        except BaseException as problem:  # a panic is no Exception
            made.put(problem)
        else:
            made.put(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while (batch := made.get()) is not None:
            if isinstance(batch, BaseException):
                raise batch
            yield batch
    finally:
        is_left.set()
        while thread.is_alive():  # it waits to give a batch, or is about to end
            with suppress(queue.Empty):
                made.get(timeout=0.01)


def described(frame: pl.LazyFrame, most: int, reading: pl.QueryOptFlags) -> tuple[int, tuple[tables.ColumnSeen, ...]]:
    """What the columns of a frame hold, in two looks: first how many values, then the values of those with few."""
    import polars as pl

    kinds = dict(frame.collect_schema())
    names = [
        name for name, kind in kinds.items() if not kind.is_nested() and kind.base_type() not in (pl.Binary, pl.Object, pl.Null)
    ]
    texts = {name: pl.col(name).cast(pl.String) for name in names}
    asked = [pl.len().alias("rows")]
    for place, name in enumerate(names):
        text = texts[name]
        stripped = text.str.strip_chars()
        is_number = stripped.str.contains(_NUMBER)
        number = pl.when(is_number).then(stripped).cast(pl.Float64, strict=False)
        asked += [
            (text.is_null() | (stripped == "")).sum().alias(f"{place} missing"),
            text.filter(stripped != "").n_unique().alias(f"{place} distinct"),
            is_number.sum().alias(f"{place} numbers"),
            number.min().alias(f"{place} low"),
            number.max().alias(f"{place} high"),
            (is_number & ~stripped.str.contains(_PLAIN)).sum().alias(f"{place} otherwise"),
            (number != number.round()).sum().alias(f"{place} broken"),
            (stripped != text).any().alias(f"{place} padded"),
            stripped.str.contains(_COMMA).sum().alias(f"{place} commas"),
        ]
    (found,) = frame.select(asked).collect(optimizations=reading).to_dicts()
    few = [place for place, _ in enumerate(names) if found[f"{place} distinct"] <= most]
    values = {}
    if few:
        wanted = [texts[names[place]].filter(texts[names[place]].str.strip_chars() != "").unique().implode() for place in few]
        named = [one.alias(str(place)) for one, place in zip(wanted, few, strict=True)]
        values = frame.select(named).collect(optimizations=reading).to_dicts()[0]
    seen = {
        name: tables.ColumnSeen(
            name=name,
            **{key: found[f"{place} {key}"] for key in ("missing", "distinct", "numbers", "low", "high", "commas")},
            whole=not found[f"{place} broken"],
            plain=not found[f"{place} otherwise"],
            padded=bool(found[f"{place} padded"]),
            values=tuple(sorted(values[str(place)])) if place in few else None,
        )
        for place, name in enumerate(names)
    }
    unread = {name: tables.ColumnSeen(name=name, unreadable=f"holds {kinds[name].base_type().__name__} values") for name in kinds}
    return found["rows"], tuple(seen.get(name, unread[name]) for name in kinds)


_NUMBER = r"^[+-]?[0-9]{1,40}(\.[0-9]{0,40})?([eE][+-]?[0-9]{1,3})?$"
_PLAIN = r"^-?(0|[1-9][0-9]*)$"
_COMMA = r"^[+-]?[0-9]{1,40},[0-9]{1,40}$"


def _texts(values: pl.Series, subject: str) -> npt.NDArray[Any]:
    """Identifiers that are texts; as numbers where every one is a number as it is printed, which loses nothing.

    Raises:
        TableError: two that differ could look alike: blanks around one, control characters, another normal form of Unicode.
    """
    import polars as pl

    whole = values.cast(pl.Int64, strict=False)
    if (whole.cast(pl.String) == values).all(ignore_nulls=False):
        return whole.to_numpy()
    unclean = (values.str.strip_chars() != values) | values.str.contains(r"[\pC]") | (values.str.normalize("NFC") != values)
    odd = (unclean | (values.str.len_chars() > LONGEST_IDENTIFIER)).arg_true()
    if len(odd):
        rule = f"has an identifier with blanks around it, invisible characters, no normal form, or no end (row {odd[0] + 1})"
        raise errors.TableError(
            subject, rule, f"identifiers are texts in Unicode's form NFC, up to {LONGEST_IDENTIFIER} characters"
        )
    return values.to_numpy().astype(str)


class Column:
    """How a column of categories is written and read: what follows from its attribute is made once for all batches of a file.

    Args:
        attribute: the attribute.
    """

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute
        self._is_listed = attribute.count is None and not isinstance(attribute, tables.OWN_FORMS)

    @cached_property
    def _labels(self) -> pl.Series:
        """All categories, listed in the type of the column where they are few enough."""
        import polars as pl

        kinds = self.attribute.categories
        return pl.Series(self.attribute.name, kinds, dtype=_enum(kinds) if len(kinds) <= tables.MOST_LISTED else pl.String())

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """The place of each category, where they are many."""
        return {category: place for place, category in enumerate(self.attribute.categories)}

    @cached_property
    def _by_number(self) -> tuple[int, npt.NDArray[np.int64]] | None:
        """Where the numbers of the attribute lie close together, the least, and for each number from it on its place or -1."""
        numbers = self.attribute.numbers if isinstance(self.attribute, tables.NumberedAttribute) else np.zeros(0)
        if not len(numbers) or numbers.dtype == object or int(numbers[-1]) - int(numbers[0]) not in range(_CLOSE):
            return None
        low = int(numbers[0])
        places = np.full(int(numbers[-1]) - low + 1, -1, dtype=np.int64)
        inside = (numbers >= low) & (numbers <= numbers[-1])  # of numbers that are not sorted, some are not found
        places[numbers[inside] - low] = np.flatnonzero(inside)
        return low, places

    def labelled(self, codes: npt.NDArray[Any]) -> pl.Series:
        """A column of categories; of integers, where these are numbered and not listed; of texts, where they are very many."""
        import polars as pl

        attribute = self.attribute
        if attribute.count is not None:
            return pl.Series(attribute.name, codes)
        if isinstance(attribute, tables.NumberedAttribute):
            return _numbers(codes, attribute)
        if isinstance(attribute, tables.NumberedTexts):
            return pl.Series(attribute.name, codes).cast(pl.String)
        return self._labels.gather(codes)

    def coded(self, values: pl.Series) -> tables.Coded:
        """The codes of a column, found all at once; what is no category becomes -1."""
        import polars as pl

        attribute = self.attribute
        if attribute.count is not None and values.dtype.is_integer() and not values.null_count():
            numbers = values.to_numpy()
            if not len(numbers) or (numbers.min() >= 0 and numbers.max() < attribute.count):  # as nearly always
                return tables.Coded(codes=numbers, strangers=[])
        known = None if values.null_count() else self._as_written(values)
        if known is not None:
            return tables.Coded(codes=known, strangers=[])
        if isinstance(attribute, tables.NumberRange):
            codes = _in_range(values.cast(pl.String), attribute)
        elif attribute.count is None and not isinstance(attribute, tables.NumberedTexts):
            codes = self._found(values.cast(pl.String))
        else:
            codes = values if values.dtype.is_integer() else _integers(values.cast(pl.String))
            codes = codes.cast(pl.Int64, strict=False)
            codes = codes.set((codes < 0) | (codes >= attribute.size), None)
        strange = values.filter(codes.is_null()).cast(pl.String).to_list() if codes.null_count() else []
        return tables.Coded(codes=codes.fill_null(-1).to_numpy(), strangers=strange)

    def _found(self, texts: pl.Series) -> pl.Series:
        """The places of texts among the categories; null for strangers."""
        import polars as pl

        if self.attribute.size <= tables.MOST_LISTED:
            return texts.cast(_enum(self.attribute.categories), strict=False).to_physical().cast(pl.Int64)
        # To make such a type takes as long as there are categories, and a batch holds few of them.
        here = texts.drop_nulls().unique()
        places = pl.Series([self._places.get(text) for text in here.to_list()], dtype=pl.Int64)
        return places.gather(texts.cast(pl.Enum(here), strict=False).to_physical())

    def _as_written(self, values: pl.Series) -> npt.NDArray[np.integer[Any]] | None:
        """The codes of a column in the form in which it is written, without a text for each value; None for any other."""
        import polars as pl

        attribute = self.attribute
        if isinstance(attribute, tables.NumberedAttribute):
            if values.dtype not in (pl.Int8, pl.Int16, pl.Int32, pl.Int64):  # others are none in numpy, or are sorted as floats
                return None
            found = values.to_numpy()
            if self._by_number is not None:
                low, by_number = self._by_number
                if int(found.min(initial=low)) < low or int(found.max(initial=low)) - low >= len(by_number):
                    return None
                places = by_number[found.astype(np.int64) - low]
                return places if (places >= 0).all() else None
            places = attribute.codes_of(found)
            return places if (places >= 0).all() else None  # of numbers that are not sorted, some are not found
        if self._is_listed and isinstance(values.dtype, pl.Enum) and values.dtype == _enum(attribute.categories):
            return values.to_physical().to_numpy().astype(np.int64)
        return None


_CLOSE = 1 << 20
"""Numbers that differ by less are looked up in an array, which takes a fifth of the time of a search."""


def labelled(codes: npt.NDArray[Any], attribute: Attribute) -> pl.Series:
    """The column of some codes, of a file with one batch."""
    return Column(attribute).labelled(codes)


def coded(values: pl.Series, attribute: Attribute) -> tables.Coded:
    """The codes of a column, of a file with one batch."""
    return Column(attribute).coded(values)


def _in_range(texts: pl.Series, attribute: tables.NumberRange) -> pl.Series:
    """The codes of a column of texts; null for those that are no number as it is written, nor one of the texts."""
    import polars as pl

    numbers = texts.set(~texts.str.contains(r"^(0|-?[1-9][0-9]*)$"), None).cast(pl.Int64, strict=False)
    codes = pl.Series(attribute.codes_of(numbers.fill_null(attribute.stop).to_numpy()))
    for place, text in enumerate(attribute.texts):
        codes = codes.set(texts == text, attribute.length + place)
    return codes.set(codes < 0, None)


def _integers(texts: pl.Series) -> pl.Series:
    """Texts that are integers as they are printed; null for all others."""
    import polars as pl

    return texts.set(~texts.str.contains(r"^(0|[1-9][0-9]*)$"), None).cast(pl.Int64, strict=False)


def _are(values: pl.Series, codes: npt.NDArray[Any], column: Column) -> bool:
    """Whether a column is the one that is written for these codes: letter by letter, or number by number."""
    import polars as pl

    attribute, wanted = column.attribute, column.labelled(codes)
    if len(values) != len(codes) or values.null_count() != wanted.null_count():
        return False
    if wanted.null_count() or isinstance(attribute, tables.NumberedAttribute):
        same = wanted if values.dtype == wanted.dtype else wanted.cast(pl.String)
        return values.dtype == same.dtype and bool(values.eq_missing(same).all())
    if values.dtype == wanted.dtype and not wanted.dtype.is_(pl.String):
        return np.array_equal(values.to_physical().to_numpy(), wanted.to_physical().to_numpy())
    if values.dtype == pl.String:
        return bool((values == wanted.cast(pl.String)).all())
    return np.array_equal(column.coded(values).codes, codes)


@lru_cache(maxsize=64)
def _enum(categories: tuple[str, ...]) -> pl.Enum:
    import polars as pl

    return pl.Enum(categories)


def _numbers(codes: npt.NDArray[Any], attribute: tables.NumberedAttribute) -> pl.Series:
    """A column of whole numbers, without a Python object for each; of texts, where some are there or a number has no 64 bits."""
    import polars as pl

    missing = attribute.is_missing(codes)
    if not attribute.size:
        return pl.Series(attribute.name, [], dtype=pl.Int64)
    if attribute.numbers.dtype == object:
        return pl.Series(attribute.name, [text or None for text in attribute.values()], dtype=pl.String).gather(codes)
    if not attribute.texts:
        return pl.Series(attribute.name, attribute.numbers_of(codes))
    shown = np.zeros(len(codes), dtype=attribute.numbers.dtype)
    shown[~missing] = attribute.numbers_of(codes[~missing])
    found = pl.Series(attribute.name, shown)
    if attribute.texts == ("",):
        return found.zip_with(pl.Series(~missing), pl.Series([None], dtype=found.dtype))
    first = attribute.length
    texts = pl.Series(attribute.texts, dtype=pl.String).gather(np.where(missing, codes, first) - first)
    return found.cast(pl.String).zip_with(pl.Series(~missing), texts)


_HEALTHY = "see whether it is whole, and of the format that its ending names"
Reason = tuple[str, str]
"""The fault of a file, and the advice."""


@contextmanager
def readable(path: Path, reason: Callable[[Path], Reason | None] | None = None) -> Iterator[None]:
    """What cannot be read is said in one line, whatever the library calls it.

    Args:
        path: the file.
        reason: looks for what is wrong with it, where the library could not read it.

    Raises:
        NotAFileError, UnreadableFileError: there is no such file, such as where a pipe took its place, which may never end.
    """
    import polars as pl

    from dpspec.plugin.releases import check_regular

    check_regular(path)
    try:
        yield
    except pl.exceptions.NoDataError:
        raise errors.TableError(path.name, "is empty", "the first line names the columns") from None
    except (errors.DpspecError, MemoryError):
        raise
    except pl.exceptions.PanicException:
        raise errors.LibraryError(path.name, "cannot be read: the library that reads tables panicked", _HEALTHY) from None
    except OSError as problem:
        raise errors.TableError(path.name, f"cannot be read ({problem.strerror or type(problem).__name__})", _HEALTHY) from None
    except Exception as problem:  # what the library says may quote cells, which are confidential
        found = None if reason is None else reason(path)
        rule, advice = (f"cannot be read ({type(problem).__name__})", _HEALTHY) if found is None else found
        raise errors.TableError(path.name, rule, advice) from None


# --- CSV ------------------------------------------------------------------------------------------


_AS_CSV = "save it as CSV in UTF-8, with commas between the columns"
_BEGINNING = 1 << 16


def begins_wrong(path: Path) -> Reason | None:
    """What the first bytes of a file show that is no CSV as it is read here; None where nothing is wrong with them."""
    with path.open("rb") as file:
        start = file.read(_BEGINNING)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "cannot be read: it is text in UTF-16", _AS_CSV
    if start.startswith(b"PK\x03\x04"):
        return "cannot be read: it is a workbook or another archive", _AS_CSV
    if b"\0" in start.partition(b"\n")[0]:
        return "cannot be read: its first line holds bytes of 0, as no text does", _AS_CSV
    if b"\r" in start and b"\n" not in start:
        return "cannot be read: a carriage return alone ends its lines", _AS_CSV
    lines = [line.decode("utf-8", "replace") for line in start.splitlines()[:2]]
    for sign, name in ((";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")):
        if len(lines) == 2 and "," not in lines[0] and 0 < lines[0].count(sign) == lines[1].count(sign):
            return f"cannot be read: {name} stand between its columns", _AS_CSV
    return None


def csv_fault(path: Path) -> Reason | None:
    """The first line of a CSV file that is none, by its number; None where none is found."""
    begun = begins_wrong(path)
    if begun is not None:
        return begun
    with path.open("rb") as bytes_:
        for line, content in enumerate(bytes_, 1):
            try:
                content.decode("utf-8-sig")
            except UnicodeDecodeError:
                return f"cannot be read: line {line:,} is no text in UTF-8", _AS_CSV
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            width = len(next(reader, ()))
            for row in reader:
                if len(row) > width:
                    found = (
                        f"{errors.count(len(row), 'value')} stand in line {reader.line_num:,}, and the first line names {width}"
                    )
                    return f"cannot be read: {found}", "put a value that holds a comma in quotes"
        except csv.Error:
            rule = f"cannot be read: a quotation mark in line {reader.line_num:,} or before it is not closed"
            return rule, "close it; one that stands in a value is doubled"
    return None


def _are_different(path: Path) -> bool:
    """Whether all names in the first line of a CSV file differ, as they stand there."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            names = next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return False
    return len(set(names)) == len(names)


class Csv(PolarsFormat):
    """Comma separated values; the first line names the columns, every other one is a record."""

    name: ClassVar[str] = "csv"
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".data")

    def scan(self, path: Path) -> pl.LazyFrame:
        import polars as pl

        return pl.scan_csv(path, infer_schema=False, glob=False, truncate_ragged_lines=False)

    def reason(self, path: Path) -> Reason | None:
        return csv_fault(path)

    def describe(self, path: Path, columns: Sequence[str], most: int) -> tuple[int, tuple[tables.ColumnSeen, ...]]:
        found = super().describe(path, columns, most)
        fault = None if found[0] else csv_fault(path)
        if fault is not None:
            raise errors.TableError(path.name, *fault)
        return found

    def header(self, path: Path) -> tuple[str, ...]:
        names = super().header(path)
        if len(names) == 1 or "\0" in names[0] or any("\r" in name for name in names):  # a look at the first lines is enough
            found = begins_wrong(path)
            if found is not None:
                raise errors.TableError(path.name, *found)
        known = set(names)
        for number, name in enumerate(names, start=1):
            first, mark, place = name.rpartition("_duplicated_")  # Polars uses this name for a duplicate column
            if mark and place.isdecimal() and first in known and not _are_different(path):
                if not first:
                    raise errors.TableError(path.name, "has several columns without a name", "name every column once")
                rule = "has a name that stands twice in the first line"  # which is a record, where there is no header
                raise errors.TableError(f"{path.name} column {number}", rule, "name every column once")
        return names

    def write_frame(self, frame: pl.DataFrame, path: Path, notes: Mapping[str, str]) -> None:
        frame.write_csv(path)

    def sink(self, frame: pl.LazyFrame, path: Path, notes: Mapping[str, str]) -> None:
        frame.sink_csv(path)


class Parquet(PolarsFormat):
    """Parquet, with the notes as key-value metadata."""

    name: ClassVar[str] = "parquet"
    columns_are_apart: ClassVar[bool] = True
    suffixes: ClassVar[tuple[str, ...]] = (".parquet",)

    def scan(self, path: Path) -> pl.LazyFrame:
        import polars as pl

        return pl.scan_parquet(path, glob=False)

    def write_frame(self, frame: pl.DataFrame, path: Path, notes: Mapping[str, str]) -> None:
        rows = tables.batch_size(frame.width, BATCH)  # as of `sink`, so that a file does not depend on how it was drawn
        frame.write_parquet(path, metadata=dict(notes) or None, row_group_size=rows)

    def sink(self, frame: pl.LazyFrame, path: Path, notes: Mapping[str, str]) -> None:
        rows = tables.batch_size(len(frame.collect_schema()), BATCH)
        frame.sink_parquet(path, metadata=dict(notes) or None, row_group_size=rows)


class Arrow(PolarsFormat):
    """Arrow IPC files."""

    name: ClassVar[str] = "arrow"
    columns_are_apart: ClassVar[bool] = True
    suffixes: ClassVar[tuple[str, ...]] = (".arrow", ".feather")

    def scan(self, path: Path) -> pl.LazyFrame:
        import polars as pl

        return pl.scan_ipc(path, glob=False)

    def write_frame(self, frame: pl.DataFrame, path: Path, notes: Mapping[str, str]) -> None:
        frame.write_ipc(path)

    def sink(self, frame: pl.LazyFrame, path: Path, notes: Mapping[str, str]) -> None:
        frame.sink_ipc(path)


__all__ = ["BATCH", "Arrow", "Csv", "Parquet", "PolarsFormat", "coded", "described", "labelled", "readable"]
