"""Tables in a workbook or in a database: read, never written.

* **Excel** (``.xlsx``, through openpyxl: `pip install "dpspec-tables[excel]"`). The workbook has one sheet with data. Its first
  row names the columns; a cell holds what Excel shows as its value, and an empty one is missing. Whole numbers are whole, so the
  code 1 is "1". Of a formula the value is read that was stored with it. Empty rows are left out before and after the table alone.
* **A query** (``.sql``: `pip install "dpspec-tables[sql]"`). The file holds one query. DuckDB runs it, with the folder of the
  file as its own, so that it can read the CSV and Parquet files there, or on a database of its own
  (``-- connect: duckdb:///survey.duckdb``). Where the file begins with another line ``-- connect: URL``, SQLAlchemy runs it on
  the database of that URL. A URL with a password is refused, and is named by ``-- connect: env:NAME`` instead.

A query is run once in a process, and its rows are kept: without ORDER BY a second run may give them in another order. No message
quotes a query, a URL or a cell.
"""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from dpspec.plugin import errors
from dpspec_tables.formats import PolarsFormat, Reason, readable
from dpspec_tables.statistical import whole

if TYPE_CHECKING:
    import polars as pl

ROWS = 1 << 16
"""Rows that are taken from a database at a time."""


def _library(name: str, extra: str, path: Path, instead: str) -> ModuleType:
    """An optional library.

    Raises:
        MissingLibraryError: it is not installed; names the extra that brings it.
    """
    try:
        return import_module(name)
    except ImportError:
        raise errors.MissingLibraryError(path.name, name, f"dpspec-tables[{extra}]", instead) from None


class ReadOnlyFormat(PolarsFormat):
    """Base class of the sources: a frame that is read once, while the file is unchanged."""

    is_read_only: ClassVar[bool] = True

    def scan(self, path: Path) -> pl.LazyFrame:
        state = path.stat()
        with readable(path, self.reason):
            return self.frame(path.absolute(), state.st_mtime_ns, state.st_size).lazy()

    @abstractmethod
    def frame(self, path: Path, changed: int, size: int) -> pl.DataFrame:
        """The table of a file in one of its states."""

    def write_frame(self, frame: pl.DataFrame, path: Path, notes: Mapping[str, str]) -> None:
        raise errors.TableError(path.name, f"cannot be written: {self.name} is read only", "choose .csv, .parquet or .arrow")

    def sink(self, frame: pl.LazyFrame, path: Path, notes: Mapping[str, str]) -> None:
        raise errors.TableError(path.name, f"cannot be written: {self.name} is read only", "choose .csv, .parquet or .arrow")


class Excel(ReadOnlyFormat):
    """Workbooks of Excel with one sheet of data."""

    name: ClassVar[str] = "excel"
    suffixes: ClassVar[tuple[str, ...]] = (".xlsx",)

    def frame(self, path: Path, changed: int, size: int) -> pl.DataFrame:
        return _sheet(path, changed, size)


class Query(ReadOnlyFormat):
    """The rows of a query, by DuckDB or on a database that SQLAlchemy connects to."""

    name: ClassVar[str] = "sql"
    suffixes: ClassVar[tuple[str, ...]] = (".sql",)

    def reason(self, path: Path) -> Reason | None:
        return "holds a query that does not run", "try it in the database's own shell, whose message is not repeated here"

    def frame(self, path: Path, changed: int, size: int) -> pl.DataFrame:
        return _answer(path, changed, size)


# --- workbooks ------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def _sheet(path: Path, changed: int, size: int) -> pl.DataFrame:  # noqa: ARG001 - the state of the file is part of the key
    library = _library("openpyxl", "excel", path, "save the table as CSV")
    sheets = dict(_sheets(library, path, data_only=True))
    held = {name: rows for name, every in sheets.items() if (rows := _without_empty_ends(every))}
    if len(held) != 1:
        rule = "has no sheet with data" if not held else f"has {len(held)} sheets with data, and one table is needed"
        raise errors.TableError(path.name, rule, "save the sheet that is meant as a workbook of its own, or as CSV")
    ((name, rows),) = held.items()
    if len(rows) < len(sheets[name]):
        written = dict(_sheets(library, path, data_only=False))[name]
        if len(_without_empty_ends(written)) > len(rows):
            rule = "has rows of formulas without values before or after its table"
            raise errors.TableError(path.name, rule, "paste the values over the formulas, or clear these rows")
    names, *records = rows
    width = max((place for place, name in enumerate(names, 1) if name is not None), default=0)
    if any(any(cell is not None for cell in row[width:]) for row in records):
        raise errors.TableError(path.name, "has cells outside of its named columns", "name every column in the first row")
    padded = [(*row, *(None,) * (width - len(row)))[:width] for row in records]
    return _frame(["" if name is None else str(name) for name in names[:width]], padded, path)


_Row = tuple[Any, ...]


def _sheets(library: ModuleType, path: Path, *, data_only: bool) -> Iterator[tuple[str, list[_Row]]]:
    """The names and rows of the sheets, with the values of formulas, or with what is written."""
    with closing(library.load_workbook(path, read_only=True, data_only=data_only)) as book:
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # some programs write a wrong size, and rows beyond it were left out
            yield sheet.title, list(sheet.iter_rows(values_only=True))


def _without_empty_ends(rows: Sequence[_Row]) -> Sequence[_Row]:
    """The rows from the first to the last that holds anything: an empty one between them is a record whose values are missing."""
    held = [place for place, row in enumerate(rows) if any(cell is not None for cell in row)]
    return rows[held[0] : held[-1] + 1] if held else ()


# --- queries --------------------------------------------------------------------------------------

_CONNECT = re.compile(r"\A\s*--\s*connect:\s*(\S+)\s*$", re.MULTILINE)
_INSTEAD, _DUCKDB = "export the table to CSV or Parquet", "duckdb:///"


@lru_cache(maxsize=2)
def _answer(path: Path, changed: int, size: int) -> pl.DataFrame:  # noqa: ARG001 - the state of the file is part of the key
    query = path.read_text(encoding="utf-8")
    connect = _CONNECT.search(query)
    named = None if connect is None else connect[1]
    if named is None or named.startswith(_DUCKDB):
        names, rows = _by_duckdb(query, path, None if named is None else path.parent / named.removeprefix(_DUCKDB))
    else:
        names, rows = _by_sqlalchemy(query, named, path)
    return _frame(names, rows, path)


def _by_duckdb(query: str, path: Path, file: Path | None) -> tuple[list[str], list[tuple[Any, ...]]]:
    library = _library("duckdb", "sql", path, _INSTEAD)
    if file is not None and not file.is_file():
        raise errors.TableError(path.name, "connects to a file of DuckDB that does not exist", "check the path in the URL")
    offline = {"autoinstall_known_extensions": "false"}
    with closing(library.connect(":memory:" if file is None else file, read_only=file is not None, config=offline)) as database:
        statements = database.extract_statements(query)
        if len(statements) != 1 or statements[0].type != library.StatementType.SELECT:
            raise errors.TableError(path.name, "must hold one query", "write one SELECT, without a statement that changes data")
        folder = str(path.parent).replace("'", "''")
        database.execute(f"SET file_search_path = '{folder}'")
        found = database.execute(query)
        return [column[0] for column in found.description], _fetched(found.fetchmany)


def _by_sqlalchemy(query: str, named: str, path: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
    library = _library("sqlalchemy", "sql", path, _INSTEAD)
    url = _url(library, named, path)
    try:
        engine = library.create_engine(url)
    except (ImportError, library.exc.NoSuchModuleError):
        rule = f"needs the driver of {url.get_backend_name()}, which is not installed"
        raise errors.TableError(path.name, rule, f"install it, or {_INSTEAD}") from None
    with engine.connect() as database:  # nothing is committed
        found = database.execution_options(stream_results=True).exec_driver_sql(query)
        if not found.returns_rows:
            raise errors.TableError(path.name, "must hold one query", "write one SELECT, without a statement that changes data")
        return list(found.keys()), _fetched(lambda size: [tuple(row) for row in found.fetchmany(size)])


def _url(library: ModuleType, named: str, path: Path) -> Any:
    """The URL that a file names, by itself or by an environment variable.

    Raises:
        TableError: it is none, holds a password in the file, or the variable is not set.
    """
    variable = named.removeprefix("env:") if named.startswith("env:") else None
    given = named if variable is None else os.environ.get(variable)
    if given is None:
        raise errors.TableError(path.name, f"names the environment variable {variable}, which is not set", "set it to a URL")
    try:
        url = library.engine.make_url(given)
    except library.exc.ArgumentError:
        advice = "write -- connect: sqlite:///survey.db"
        raise errors.TableError(path.name, "connects to what is no URL of a database", advice) from None
    if variable is None and url.password is not None:
        rule = "holds the password of a database"
        raise errors.TableError(path.name, rule, "put the URL into an environment variable and write -- connect: env:NAME")
    if url.get_backend_name() == "sqlite" and url.database and not Path(url.database).is_absolute():
        place = path.parent / url.database
        if not place.is_file():
            raise errors.TableError(path.name, "connects to a file of SQLite that does not exist", "check the path in the URL")
        url = url.set(database=str(place))
    return url


def _fetched(fetch: Any) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    while part := fetch(ROWS):
        rows += part
    return rows


def _frame(names: Sequence[str], rows: Sequence[tuple[Any, ...]], path: Path) -> pl.DataFrame:
    """The columns of rows: whole numbers, or texts as they are printed."""
    import polars as pl

    twice = [name for name, times in Counter(names).items() if times > 1]
    if not names or twice or any(not name.strip() for name in names):
        rule = f"has {len(twice)} names of columns twice" if twice else "has a column without a name, or none at all"
        raise errors.TableError(path.name, rule, "name each column once")
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return pl.DataFrame([_column(name, values) for name, values in zip(names, columns, strict=True)])


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    import polars as pl

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int} and _fit(values):
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds <= {int, float} and float in kinds:
        return whole(pl.Series(name, [None if value is None else float(value) for value in values], dtype=pl.Float64))
    return pl.Series(name, list(map(_text, values)), dtype=pl.String)


def _fit(values: Sequence[Any]) -> bool:
    return all(value is None or -(1 << 63) <= value < 1 << 63 for value in values)


def _text(value: Any) -> str | None:
    """A value as a text: a whole number without a point, a date as ISO writes it, a truth value as true or false."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


__all__ = ["Excel", "Query", "ReadOnlyFormat"]
