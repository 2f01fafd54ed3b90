"""Sorting with DuckDB, in a folder that only its owner can access: DuckDB holds as much as it may, and writes the rest to files.

It was compared with the streaming engine of Polars, which takes twice its processor time (docs/decisions.md).
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import struct
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from dpspec.plugin import errors, sorting, workers
from dpspec.plugin.releases import private_folder

LEAST = 160_000_000
"""The least bytes that DuckDB is given, of which it needs some for each thread."""
MOST_THREADS = 8
SHARE = 0.8
"""The part of the memory that is given to DuckDB as its limit, which it exceeds by some."""
AT_ONCE = 4
"""Rows of at most so many times the memory are sorted at once; more are sorted range by range. Of twenty times as much (500
million rows of two columns in 370 MB) DuckDB runs out of memory as it merges sorted parts. Half of the memory suffices."""
READING = 0.25
"""The part of its memory that DuckDB keeps while rows are read or written down and nothing is sorted; what is made of them needs
the rest."""
PER_VALUE = 0.03
"""Bytes that DuckDB holds outside of its limit for each value of its tables, until they are dropped: 52 MB for 500 million rows
of four columns, and 0.02 to 0.04 bytes for each value of 60 to 100 million rows."""
SAMPLED = 4096
"""Rows by which ranges are cut, for each range."""


MORE_MEMORY = "give --memory a size that the table fits into"
"""What to do without the library, where memory may suffice."""


def duckdb(instead: str = MORE_MEMORY) -> ModuleType:
    """The library.

    Args:
        instead: what to do without it.

    Raises:
        MissingLibraryError: it is not installed.
    """
    try:
        import duckdb as library
    except ImportError:
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
        "memory_limit": f"{int(memory * SHARE * READING) // 1000}KB",
        "temp_directory": str(folder / "temporary"),
        "threads": str(threads),
        "preserve_insertion_order": "true",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    try:
        with _own_errors(library), contextlib.closing(library.connect(folder / "rows.duckdb", config=config)) as database:
            database.execute("SET enable_progress_bar = false")
            with contextlib.closing(SpillSorter(library, database, memory, folder)) as sorter:
                yield sorter
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
        raise _no_room() from None
    except library.InterruptException:
        raise KeyboardInterrupt from None
    except RuntimeError as problem:  # DuckDB puts this in the place of the KeyboardInterrupt that a signal has raised
        if "interrupted" not in str(problem):
            raise
        raise KeyboardInterrupt from None
    except library.Error as problem:
        rule = f"cannot sort the table ({type(problem).__name__})"
        raise errors.LibraryError("duckdb", rule, MORE_MEMORY) from None


def _no_room() -> errors.ReleaseError:
    return errors.ReleaseError("directory", "has no room for the table while it is sorted", "choose another --out")


class SpillSorter(sorting.Sorter):
    """Sorts rows in tables of a database.

    Args:
        library: DuckDB.
        database: its connection.
        memory: the bytes that it may use.
        folder: where its files are.
    """

    def __init__(self, library: ModuleType, database: Any, memory: int, folder: Path) -> None:
        self._library, self._database, self._memory, self._folder = library, database, memory, folder
        self._names = (f"rows{place}" for place in itertools.count())
        self._at_once = AT_ONCE * memory
        self._files: list[FiledRows] = []

    @contextlib.contextmanager
    def _with_memory(self, further: int) -> Iterator[None]:
        """Give DuckDB all of its memory until the block ends, but for what its tables take outside of its limit.

        Args:
            further: the values that are written until then.
        """
        ((values,),) = self._database.execute("SELECT sum(estimated_size * column_count) FROM duckdb_tables()").fetchall()
        left = self._memory - int(PER_VALUE * (int(values) + further) / SHARE)
        self._limit(max(left, self._memory // 2, min(LEAST, self._memory)))
        yield
        self._limit(int(self._memory * READING))

    def _limit(self, memory: int) -> None:
        self._database.execute(f"SET memory_limit = '{int(memory * SHARE) // 1000}KB'")

    def sorted(self, rows: Iterable[workers.Columns], by: Sequence[str]) -> sorting.SortedRows:
        return self._derived(rows, "*", f"ORDER BY {', '.join(by)}", by)

    def counted(self, rows: Iterable[workers.Columns], count: str) -> sorting.SortedRows:
        return self._derived(rows, f"*, count(*) AS {count}", "GROUP BY ALL ORDER BY ALL", ())

    def placed(self, rows: Iterable[workers.Columns], columns: Sequence[str]) -> sorting.PlacedRows:
        found = FiledRows(self._folder / next(self._names), columns)
        self._files.append(found)
        for batch in rows:
            found.replace(len(found), batch)
        return found

    def close(self) -> None:
        """Close all files; rows cannot be read any more."""
        for found in self._files:
            found.close()

    def _derived(self, rows: Iterable[workers.Columns], what: str, how: str, by: Sequence[str]) -> sorting.SortedRows:
        """The rows as a new table.

        Args:
            rows: batches of rows.
            what: the columns of the table.
            how: how the rows are grouped and sorted.
            by: the columns by which they are sorted; () for all.
        """
        given, name, database, columns = next(self._names), next(self._names), self._database, tuple[str, ...]()
        for place, batch in enumerate(rows):
            columns = tuple(batch)
            with _own_errors(self._library):
                database.register("batch", dict(batch))
                into = f"INSERT INTO {given}" if place else f"CREATE TABLE {given} AS"
                database.execute(f"{into} SELECT * FROM batch")  # noqa: S608 - names of our own
                database.unregister("batch")
        with _own_errors(self._library), self._with_memory(len(columns) * self._count(given)):
            for place, where in enumerate(self._ranges(given, by or columns, 8 * len(columns))):
                into = f"INSERT INTO {name}" if place else f"CREATE TABLE {name} AS"
                database.execute(f"{into} SELECT {what} FROM {given} {where} {how}")  # noqa: S608 - the same
            database.execute(f"DROP TABLE {given}")
            count = self._count(name)
        return SpilledRows(self._library, database, name, count)

    def _count(self, name: str) -> int:
        ((count,),) = self._database.execute(f"SELECT count(*) FROM {name}").fetchall()  # noqa: S608 - the same
        return int(count)

    def _ranges(self, name: str, by: Sequence[str], width: int) -> list[str]:
        """Conditions that cut the rows of a table into ranges in ascending order, each of which can be sorted at once.

        Rows that are equal in the first two columns are in one range.

        Args:
            name: the table.
            by: the columns of the order.
            width: the bytes of a row.
        """
        count, columns = self._count(name), by[:2]
        parts = -(-count * width // self._at_once)
        if parts <= 1:
            return [""]
        step = max(1, count // (SAMPLED * parts))
        wanted = f"SELECT {', '.join(columns)} FROM {name} WHERE rowid % {step} = 0"  # noqa: S608 - the same
        found = self._database.execute(wanted).fetchnumpy()
        sample = sorted(zip(*(found[name].tolist() for name in columns), strict=True))
        cuts = sorted({sample[len(sample) * part // parts] for part in range(1, parts)})
        below = [f"NOT ({_from(columns, cut)})" for cut in cuts]
        above = [_from(columns, cut) for cut in cuts]
        return [f"WHERE ({') AND ('.join(one)})" for one in zip(["true", *above], [*below, "true"], strict=True)]


def _from(columns: Sequence[str], cut: Sequence[int]) -> str:
    """The condition that a row is a cut or after it."""
    first, *rest = columns
    if not rest:
        return f"{first} >= {cut[0]}"
    return f"{first} > {cut[0]} OR ({first} = {cut[0]} AND ({_from(rest, cut[1:])}))"


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


class FiledRows(sorting.PlacedRows):
    """Rows in a file of their own, row by row: one is read in microseconds, where a query of a database takes a millisecond.

    Args:
        path: the file, which is made.
        columns: the names of the columns.
    """

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._path, self._columns, self._row = path, tuple(columns), struct.Struct(f"={len(columns)}q")
        try:
            self._file = open(path, "x+b", buffering=0, opener=partial(os.open, mode=0o600))  # noqa: SIM115 - `close` is later
        except OSError:
            raise _no_room() from None
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def at(self, place: int) -> tuple[int, ...]:
        return self._row.unpack(self._read(place, place + 1))

    def between(self, begin: int, end: int) -> workers.Columns:
        rows = np.frombuffer(self._read(begin, end), dtype=np.int64).reshape(-1, len(self._columns))
        return {name: rows[:, place].copy() for place, name in enumerate(self._columns)}

    def _read(self, begin: int, end: int) -> bytes:
        wanted = (end - begin) * self._row.size
        try:
            self._file.seek(begin * self._row.size)
            found: bytes = self._file.read(wanted)
            while len(found) < wanted:
                more = self._file.read(wanted - len(found))
                if not more:
                    raise ValueError(f"rows {begin} to {end} of {self._count}")
                found += more
        except OSError:
            raise _no_room() from None
        return found

    def replace(self, begin: int, rows: workers.Columns) -> None:
        given = memoryview(np.stack([rows[name] for name in self._columns], axis=1).astype(np.int64, copy=False).tobytes())
        count = len(given) // self._row.size
        try:
            self._file.seek(begin * self._row.size)
            while given:
                given = given[self._file.write(given) :]
        except OSError:
            raise _no_room() from None
        self._count = max(self._count, begin + count)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def forget(self) -> None:
        self.close()
        self._path.unlink()
