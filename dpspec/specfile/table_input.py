"""Reads an input table: a file, a folder of households, a registered name or a data frame, with the attributes of a space.

No value of a table appears in a message, and neither does an input that is not a path.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dpspec.base.errors import ReleaseError, TableError
from dpspec.base.params import did_you_mean
from dpspec.base.types import Progress
from dpspec.blocks.parts import nesting_of, own_attributes
from dpspec.blocks.space import MEMBERS, DatasetSpace
from dpspec.extension.hooks import Registry
from dpspec.grammar.table_files import Formats, TableSource, held_table, read_households, sources_of_households
from dpspec.grammar.tables import Table, fitted
from dpspec.specfile.document import SpecDocument
from dpspec.specfile.reader import REPORT

WARNING = "NOT-FIT-FOR-PUBLICATION.txt"
"""The file of a release that says why it is not fit for publication."""


def released_files(folder: Path, document: SpecDocument) -> tuple[Path, ...]:
    """The released tables in a folder of `dpspec release`, as its report lists them.

    Args:
        folder: the folder.
        document: the specification that they were released under.

    Raises:
        ReleaseError: the folder has no report that can be read, or it is of another specification.
    """
    try:
        report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        sha256, files = report["specification"]["sha256"], [row["file"] for row in report["released"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as problem:
        rule = f"has no {REPORT} that can be read ({type(problem).__name__})"
        raise ReleaseError("RELEASE", rule, "give the folder that dpspec release wrote", value=folder.name) from None
    if sha256 != document.sha256:
        rule = f"is of another specification than {document.id}: its report has another SHA-256"
        raise ReleaseError("RELEASE", rule, "give the file that was released under", value=folder.name)
    if not files or any(not isinstance(name, str) or Path(name).name != name for name in files):
        raise ReleaseError("RELEASE", f"has a {REPORT} that names no released files", value=folder.name)
    return tuple(folder / name for name in files)


FRAME = "data-frame"
"""The name of a data frame in place of a file name."""


@contextlib.contextmanager
def table_file(given: object) -> Iterator[str]:
    """The path or the name of a table.

    A data frame of pandas, polars or pyarrow is written as CSV into a private folder of its own, which is removed at the end.

    Args:
        given: a path, the name of a registered table, or a data frame.

    Raises:
        TableError: it is nothing of these, or the frame cannot be written.
    """
    if isinstance(given, (str, os.PathLike)):
        yield os.fspath(given)
        return
    write = _writer(given)
    if write is None:
        advice = "give a file, a folder of households and persons, a registered table, or a data frame"
        raise TableError("table", f"cannot be a {type(given).__name__}", advice)
    with tempfile.TemporaryDirectory(prefix="dpspec-") as folder:  # for its owner alone
        path = Path(folder) / f"{FRAME}.csv"
        try:
            write(path)
        except Exception as problem:  # the message of a library may quote data: its type alone is reported
            rule = f"is a {type(given).__name__} that cannot be written as CSV ({type(problem).__name__})"
            raise TableError("table", rule, "write it to a file and give that") from None
        yield str(path)


def _writer(given: Any) -> Any:
    """The function that writes a data frame as CSV; None for other objects."""
    if hasattr(given, "write_csv"):
        return given.write_csv
    if hasattr(given, "to_csv"):
        return lambda path: given.to_csv(path, index=False)
    if hasattr(given, "to_pandas"):  # a table of pyarrow
        return lambda path: given.to_pandas().to_csv(path, index=False)
    return None


def table_name(given: object) -> str:
    """The name of a table in a result: its path or name; of a data frame, no value."""
    return os.fspath(given) if isinstance(given, (str, os.PathLike)) else FRAME


def formats_of(registry: Registry) -> Formats:
    """The installed table formats by suffix."""
    formats = sorted(registry.classes("formats"), key=lambda cls: str(cls.name))
    return {suffix: cls() for cls in formats for suffix in cls.suffixes}


def given_sources(name: str, document: SpecDocument, unit: str, registry: Registry) -> tuple[TableSource, ...]:
    """The files of the table that a path names: those of its records, and of their persons where these are next to them.

    Empty for a name that is no path.

    Raises:
        TableError: the folder holds no table.
    """
    path, formats, space, layout = Path(name), formats_of(registry), document.spec.space, document.layout
    if not path.exists():
        return ()
    if path.is_dir() and len(space.units) > 1 and unit == space.units[0]:
        outer, inner = (own_attributes(space, kind) for kind in space.units[:2])
        return sources_of_households(path, outer, inner, formats, layout)
    attributes = tuple(a for a in space.attributes_of(unit) if a.name != MEMBERS)
    return (TableSource.of(path, attributes, formats, layout=layout),)


def given_table(name: str, document: SpecDocument, unit: str, registry: Registry, progress: Progress) -> Table:
    """The table that a path or a registered name denotes, with the attributes of a unit of the specification's space.

    Raises:
        TableError: it cannot be read, or does not fit the space.
    """
    path, formats, space, layout = Path(name), formats_of(registry), document.spec.space, document.layout
    if path.is_dir() and len(space.units) > 1 and unit == space.units[0]:
        outer, inner = (own_attributes(space, kind) for kind in space.units[:2])
        found = read_households(path, outer, inner, formats, progress=lambda rows: progress(rows, 0), layout=layout)
        _check_members(found, space)
        return found
    attributes = tuple(a for a in space.attributes_of(unit) if a.name != MEMBERS)
    if path.exists():
        source = TableSource.of(path, attributes, formats, layout=layout)
        return held_table(source, lambda rows: progress(rows, 0))
    if name not in registry.names("tables"):
        known = did_you_mean(name, registry.names("tables")) or "give a table file with a header"
        raise TableError("table", "is neither a file nor a registered table", known, value=name)
    table: Table = registry.get("tables", name)().build()
    return fitted(table, attributes, f"table {name}")


def most_members(space: DatasetSpace) -> int | None:
    """The most members that a record of the largest unit may hold; None where there is no limit."""
    outer, inner = space.units[:2]
    return nesting_of(space).most_within(inner, outer)


def _check_members(table: Table, space: DatasetSpace) -> None:
    """Refuse records that hold more members than the space allows."""
    outer, inner = space.units[:2]
    most = most_members(space)
    if table.members is None or most is None:
        return
    held = np.bincount(table.members.owner, minlength=len(table))
    over = np.flatnonzero(held > most)
    if over.size:
        first = int(over[0])
        rule = f"holds more {inner} records than the {most} of the space ({over.size} such)"
        raise TableError(f"{outer} in row {first + 1}", rule, "correct the table, or the number of members in the specification")
