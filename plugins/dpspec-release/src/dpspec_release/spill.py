"""Sorting with DuckDB, in a folder that only its owner can access: DuckDB holds as much as it may, and writes the rest to files.

It was compared with the streaming engine of Polars, which takes twice its processor time (docs/decisions.md).
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from dpspec.plugin import errors, sorting, workers
from dpspec.plugin.releases import private_folder

LEAST = 160_000_000
"""The least bytes that DuckDB is given, of which it needs some for each thread."""
MOST_THREADS = 8
SHARE = 0.8
"""The part of the memory that is given to DuckDB as its limit, which it exceeds by some."""


def duckdb() -> ModuleType:
    """The library.

    Raises:
        MissingLibraryError: it is not installed.
    """
    try:
        import duckdb as library
    except ImportError:
        instead = "give --memory a size that the table fits into"
        raise errors.MissingLibraryError("table larger than memory", "duckdb", "dpspec-release[spill]", instead) from None
    return library


@contextlib.contextmanager
def spilling(folder: Path, memory: int) -> Iterator[SpillSorter]:
    """A sorter whose files are in a new folder of its own, which is removed at the end, also after an error.

    Args:
        folder: its path; what a killed run has left there is removed.
        memory: the bytes that it may use.
    """
    library = duckdb()
    shutil.rmtree(folder, ignore_errors=True)
    private_folder(folder)
    threads = max(1, min(MOST_THREADS, os.cpu_count() or 1, memory // (LEAST // 2)))
    config = {
        "memory_limit": f"{int(memory * SHARE) // 1000}KB",
        "temp_directory": str(folder / "temporary"),
        "threads": str(threads),
        "preserve_insertion_order": "true",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    try:
        with _own_errors(library), contextlib.closing(library.connect(folder / "rows.duckdb", config=config)) as database:
            database.execute("SET enable_progress_bar = false")
            yield SpillSorter(library, database)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _own_errors(library: ModuleType) -> Iterator[None]:
    """Replace errors of DuckDB, whose messages may quote rows, by errors of dpspec."""
    try:
        yield
    except library.OutOfMemoryException:
        rule = "does not suffice to sort the table"
        raise errors.ReleaseError("--memory", rule, "give more, or make room on the disk of the release") from None
    except library.IOException:
        raise errors.ReleaseError("directory", "has no room for the table while it is sorted", "choose another --out") from None
    except library.InterruptException:
        raise KeyboardInterrupt from None
    except RuntimeError as problem:  # DuckDB puts this in the place of the KeyboardInterrupt that a signal has raised
        if "interrupted" not in str(problem):
            raise
        raise KeyboardInterrupt from None
    except library.Error as problem:
        rule = f"cannot sort the table ({type(problem).__name__})"
        raise errors.LibraryError("duckdb", rule, "give --memory a size that the table fits into") from None


class SpillSorter(sorting.Sorter):
    """Sorts rows in tables of a database.

    Args:
        library: DuckDB.
        database: its connection.
    """

    def __init__(self, library: ModuleType, database: Any) -> None:
        self._library, self._database, self._names = library, database, (f"rows{place}" for place in itertools.count())

    def sorted(self, rows: Iterable[workers.Columns], by: Sequence[str]) -> sorting.SortedRows:
        return self._derived(rows, "*", f"ORDER BY {', '.join(by)}")

    def counted(self, rows: Iterable[workers.Columns], count: str) -> sorting.SortedRows:
        return self._derived(rows, f"*, count(*) AS {count}", "GROUP BY ALL ORDER BY ALL")

    def _derived(self, rows: Iterable[workers.Columns], what: str, how: str) -> sorting.SortedRows:
        given, name, database = next(self._names), next(self._names), self._database
        for place, batch in enumerate(rows):
            with _own_errors(self._library):
                database.register("batch", dict(batch))
                into = f"INSERT INTO {given}" if place else f"CREATE TABLE {given} AS"
                database.execute(f"{into} SELECT * FROM batch")  # noqa: S608 - names of our own
                database.unregister("batch")
        with _own_errors(self._library):
            database.execute(f"CREATE TABLE {name} AS SELECT {what} FROM {given} {how}")  # noqa: S608 - the same
            database.execute(f"DROP TABLE {given}")
            ((count,),) = database.execute(f"SELECT count(*) FROM {name}").fetchall()  # noqa: S608 - the same
        return SpilledRows(self._library, database, name, count)


class SpilledRows(sorting.SortedRows):
    """Sorted rows in a table of a database.

    Args:
        library: DuckDB.
        database: its connection.
        name: the table.
        count: the number of its rows.
    """

    def __init__(self, library: ModuleType, database: Any, name: str, count: int) -> None:
        self._library, self._database, self._name, self._count = library, database.cursor(), name, count

    def __len__(self) -> int:
        return self._count

    def between(self, begin: int, end: int, columns: Sequence[str] = ()) -> workers.Columns:
        with _own_errors(self._library):
            what = ", ".join(columns) or "*"
            wanted = f"SELECT {what} FROM {self._name} WHERE rowid >= {begin} AND rowid < {end}"  # noqa: S608 - the same
            found: workers.Columns = self._database.execute(wanted).fetchnumpy()
        return found

    def forget(self) -> None:
        with _own_errors(self._library):
            self._database.execute(f"DROP TABLE {self._name}")
            self._database.close()
