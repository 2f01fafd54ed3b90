"""Checks of what moves tables: builders of public tables, file formats, and engines."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dpspec.blocks.space import Attribute
from dpspec.engine import Columns
from dpspec.table import Table, joined
from dpspec.testing.check import Context, NotApplicable, ValueSubject, check, require

KIND, FORMAT, ENGINE = "tables", "formats", "engines"
ROWS = 50


@check(KIND)
def check_a_sized_table_has_the_rows_that_are_asked_for(subject: ValueSubject, context: Context) -> None:
    """`batches(rows, seed)` gives so many records of the stated `attributes`.

    What is made up is told from what is printed by them.
    """
    builder = subject.thing.sized()
    if builder is None:
        raise NotApplicable("its table has one size")
    made = list(builder.batches(ROWS, 1))
    require(sum(map(len, made)) == ROWS, f"{sum(map(len, made))} records where {ROWS} were asked for")
    columns = {table.attributes for table in made}
    require(columns == {builder.attributes}, "a batch has other columns than it states")


@check(KIND, level="full")
def check_a_sized_table_is_the_same_again(subject: ValueSubject, context: Context) -> None:
    """Equal rows and seeds give equal records, so that a table with a name is one table, everywhere."""
    builder = subject.thing.sized()
    if builder is None:
        raise NotApplicable("its table has one size")
    first, second = (list(joined(builder.attributes, builder.batches(ROWS, 1)).records()) for _ in range(2))
    require(first == second, "the same seed gave other records")


# --- formats -------------------------------------------------------------------------------------

_PLACE = Attribute(name="place", categories=("north", "south, or nearly", "none"))
_SIZE = Attribute(name="size", categories=("1", "2"))


def _table() -> Table:
    rows = [("north", "2"), ("none", "1"), ("south, or nearly", "2"), ("north", "2")]
    return Table.from_records(rows, (_PLACE, _SIZE))


def _read(subject: ValueSubject, path: Path) -> list[tuple[str, ...]]:
    attributes = (_PLACE, _SIZE)
    rows: list[tuple[str, ...]] = []
    for batch in subject.thing.batches(path, attributes):
        columns = ([list(attribute.values())[code] for code in batch[attribute.name].codes] for attribute in attributes)
        rows += zip(*columns, strict=True)
    return rows


@check(FORMAT)
def check_a_table_reads_back_as_it_was_written(subject: ValueSubject, context: Context) -> None:
    """`header` and `batches` give back what `write` wrote:

    columns, categories and the order of the rows. Releases are re-read.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{subject.thing.suffixes[0]}"
        subject.thing.write(_table(), path, {})
        header = subject.thing.header(path)
        require(tuple(header) == ("place", "size"), f"the header is {header}")
        found, expected = _read(subject, path), [tuple(map(str, row)) for row in _table().records()]
        require(found == expected, f"{found} is read where {expected} was written")


@check(FORMAT)
def check_batches_are_written_as_one_table(subject: ValueSubject, context: Context) -> None:
    """`write_batches` leaves the table that `write` would: large releases are written in batches, and small ones are not."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{subject.thing.suffixes[0]}"
        subject.thing.write_batches((_PLACE, _SIZE), iter([_table(), _table()]), path)
        expected = [tuple(map(str, row)) for row in _table().records()] * 2
        found = _read(subject, path)
        require(found == expected, f"{found} is read where {expected} was written in two batches")


@check(FORMAT)
def check_file_endings_are_its_own(subject: ValueSubject, context: Context) -> None:
    """`suffixes` begin with a dot, and no other format has them: a file is read in the format that its ending names."""
    require(bool(subject.thing.suffixes), "it has no ending")
    others = {e.cls for e in context.registry if e.kind == FORMAT} - {type(subject.thing)}
    taken = {suffix: cls for cls in others for suffix in cls.suffixes}  # type: ignore[attr-defined]
    for suffix in subject.thing.suffixes:
        require(suffix.startswith("."), f"{suffix!r} does not begin with a dot")
        require(suffix not in taken, f"{suffix} is an ending of another format")


# --- engines -------------------------------------------------------------------------------------


def _doubled(part: Columns) -> Columns:
    return {"value": 2 * part["value"]}


def _parts() -> Iterator[Columns]:
    return ({"value": np.arange(size) + size} for size in (3, 0, 1, 5, 2))


@check(ENGINE, level="full")
def check_parts_come_back_in_order(subject: ValueSubject, context: Context) -> None:
    """`map` gives the kernel's result for each part, in the order of the parts. A release is put together by that order."""
    try:
        require(subject.thing.parts >= 1, f"parts = {subject.thing.parts}")
        found = [part["value"].tolist() for part in subject.thing.map(_doubled, _parts())]
    finally:
        subject.thing.close()
    expected = [_doubled(part)["value"].tolist() for part in _parts()]
    require(found == expected, f"the results are {found}, where {expected} belong")
