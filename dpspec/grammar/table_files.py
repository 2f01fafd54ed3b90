"""Reading whole tables: one file, a folder of partitions, or households with their persons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from dpspec.base.errors import DpspecError, TableError, named
from dpspec.base.lazy import late_module
from dpspec.base.params import evolve, raise_all
from dpspec.blocks.space import Attribute
from dpspec.grammar.table_batches import (
    Formats as Formats,
    TableSource as TableSource,
    format_of as format_of,
    parents as parents,
)
from dpspec.grammar.tables import (
    HOUSEHOLD_ID,
    Codes,
    Members,
    Table,
    TableLayout,
    compact,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = late_module("numpy")  # what compares promises reads no table


def read_table(
    path: Path,
    attributes: Sequence[Attribute],
    formats: Formats,
    *,
    keep: Sequence[str] = (),
    progress: Callable[[int], object] | None = None,
    layout: TableLayout | None = None,
) -> Table:
    """Read one file or a folder of partitions; columns that neither space nor layout knows are refused, all in one message.

    Args:
        keep: columns that may be present in addition, such as an identifier.
        layout: how the table lies on disk.
        progress: called with the number of rows read so far.

    Raises:
        NotAFileError, UnreadableFileError: there is no such file.
        TableError (several as Faults): unreadable or empty file, missing or unknown column, missing value, unknown category,
            a category that does not lie in the coarser one of its row, a file that changes meanwhile.
    """
    return held_table(TableSource.of(path, attributes, formats, keep=keep, layout=layout), progress)


def held_table(source: TableSource, progress: Callable[[int], object] | None = None) -> Table:
    """All records of a source.

    Args:
        progress: called with the number of records so far.

    Raises:
        TableError (several as Faults): as `TableSource.batches`.
    """
    codes: dict[str, list[Codes]] = {a.name: [compact((), a.size)] for a in source.attributes}
    for batch in source.batches(progress):
        for name, column in batch.codes.items():
            codes[name].append(column)
    return Table(attributes=source.attributes, codes={name: np.concatenate(codes.pop(name)) for name in list(codes)})


def memory_of(source: TableSource, records: int) -> int:
    """The bytes that so many records take as a table that is held."""
    return records * sum(compact((), a.size).dtype.itemsize for a in source.attributes)


def as_released(attributes: Iterable[Attribute]) -> tuple[Attribute, ...]:
    """The attributes of a table in the words of the space: each in a column of its own name, with nothing recoded."""
    return tuple(a if a.column is None and not a.recode else evolve(a, column=None, recode=()) for a in attributes)


def read_households(
    directory: Path,
    household: Sequence[Attribute],
    person: Sequence[Attribute],
    formats: Formats,
    *,
    progress: Callable[[int], object] | None = None,
    layout: TableLayout | None = None,
) -> Table:
    """Read a directory with `households.*` and `persons.*`; a household without persons is vacant.

    Either may also be a folder of partitions, `households` or `persons`. Identifiers are compared as one type: whole numbers of
    any width as numbers, all else as texts, letter by letter.

    Args:
        progress: called with the number of rows of both files read so far.
        layout: as of `read_table`; `layout.unused` may name columns of either file.

    Raises:
        TableError: as `read_table`; a file that is missing or there twice; an identifier that is missing, that two households
            share, or that no household has.
    """
    sources = sources_of_households(directory, household, person, formats, layout)
    of_households, of_persons = sources
    with of_households.unchanged(), of_persons.unchanged():
        outer, inner = _all_held(sources, progress)
        owner = _owners(of_households, of_persons)
    _check_passed(of_persons, outer, owner)
    return attrs.evolve(outer, members=Members(table=inner, owner=np.concatenate([_rows(len(outer)), *owner])))


_AT_ONCE = 1 << 20
"""Persons whose households are looked up at a time."""


def _owners(of_households: TableSource, of_persons: TableSource) -> list[npt.NDArray[Any]]:
    """For each file of persons the rows of their households.

    Raises:
        TableError: as `read_households`.
    """
    identifiers, wanted = _identifiers(of_households), _identifiers(of_persons)
    type_ = _common_type((*identifiers, *wanted))
    own = np.concatenate([array.astype(type_) for array in identifiers])
    order = np.argsort(own, kind="stable").astype(_rows(len(own)).dtype)
    ranked = own[order]
    twice = np.flatnonzero(ranked[1:] == ranked[:-1])
    if twice.size:
        raise TableError(
            f"{_place(of_households, identifiers, int(order[twice[0] + 1]))}, column {HOUSEHOLD_ID}",
            f"is the identifier of an earlier household ({twice.size} such)", "give every household its own",
        )  # fmt: skip
    found: list[npt.NDArray[Any]] = []
    lost: list[npt.NDArray[Any]] = []
    before = 0
    for array in wanted:
        rows = [_rows(len(own))]
        for begin in range(0, len(array), _AT_ONCE):
            some: npt.NDArray[Any] = array[begin : begin + _AT_ONCE].astype(type_)
            place = np.minimum(np.searchsorted(ranked, some), max(len(ranked) - 1, 0))
            lost.append(before + begin + np.flatnonzero(ranked[place] != some if len(ranked) else np.ones(len(some))))
            rows.append(order[place] if len(order) else order)
        found.append(np.concatenate(rows))
        before += len(array)
    every = np.concatenate([np.zeros(0, dtype=np.int64), *lost])
    if every.size:
        raise TableError(
            f"{_place(of_persons, wanted, int(every[0]))}, column {HOUSEHOLD_ID}",
            f"is the identifier of no household ({every.size} such persons)",
            "identifiers are compared letter by letter: 007 is not 7, and A is not a",
        )  # fmt: skip
    return found


def _rows(count: int) -> npt.NDArray[Any]:
    """No rows, of a table with so many, in the type in which they are held: rows of two such tables together fit, too."""
    return np.zeros(0, dtype=np.int32 if count < 1 << 30 else np.int64)


def _check_passed(persons: TableSource, households: Table, owners: Sequence[npt.NDArray[np.int64]]) -> None:
    """Refuse persons in a folder that states something of their households that these do not have.

    Args:
        owners: the households of the persons of each partition.
    """
    for place, owner in enumerate(owners):
        for attribute, stated in persons.passed_by_folders(place, households.attributes):
            wrong = np.flatnonzero(households.codes[attribute.name][owner] != stated)
            if len(wrong):
                rule = f"is of a household that is not where the folder states ({len(wrong)} such persons)"
                subject = f"{persons.name_of(place)} row {wrong[0] + 1}, column {named(attribute.name)}"
                raise TableError(subject, rule, "correct the name of the folder")


def _common_type(files: Iterable[npt.NDArray[Any]]) -> type:
    """The type in which equal identifiers of some files are equal: 64-bit numbers where all are, else texts.

    >>> _common_type([np.array([7], dtype=np.uint32), np.array([7], dtype=np.int8), np.array([8], dtype=np.uint64)]).__name__
    'int64'
    >>> _common_type([np.array([7]), np.array(["007"])]).__name__
    'str'
    """
    are_numbers = all(array.dtype.kind in "iu" and (not array.size or int(array.max()) < 1 << 63) for array in files)
    return np.int64 if are_numbers else str


def sources_of_households(
    directory: Path,
    household: Sequence[Attribute],
    person: Sequence[Attribute],
    formats: Formats,
    layout: TableLayout | None = None,
) -> tuple[TableSource, TableSource]:
    """The households and the persons of a directory.

    Raises:
        TableError: a file is missing or there twice.
    """
    files = [(_only(directory, stem, formats), columns) for stem, columns in (("households", household), ("persons", person))]
    outer, inner = (TableSource.of(path, columns, formats, keep=[HOUSEHOLD_ID], layout=layout) for path, columns in files)
    # Persons are often partitioned by the place of their household, whose table has it.
    inner = attrs.evolve(inner, passed=tuple(a.source for a in household))
    return attrs.evolve(outer, root=directory), attrs.evolve(inner, root=directory)


def _all_held(sources: Iterable[TableSource], progress: Callable[[int], object] | None) -> list[Table]:
    """The tables of some sources; the faults of all are raised together."""
    tables: list[Table] = []
    faults: list[DpspecError] = []
    for source in sources:
        before = sum(map(len, tables))
        report = None if progress is None else lambda rows, before=before: progress(before + rows)
        try:
            tables.append(held_table(source, report))
        except DpspecError as problem:
            faults.append(problem)
    raise_all(faults)
    return tables


def _only(directory: Path, stem: str, formats: Formats) -> Path:
    found = sorted(path for path in directory.glob(f"{stem}.*") if path.suffix.lower() in formats)
    if (directory / stem).is_dir():
        found.append(directory / stem)
    if len(found) != 1:
        rule = f"needs exactly one file {stem}.* ({', '.join(sorted(formats))}), or a folder {stem}"
        raise TableError(str(directory), rule, value=[path.name for path in found])
    return found[0]


def _identifiers(source: TableSource) -> list[npt.NDArray[Any]]:
    """The identifiers of the households in each file of a table."""
    found = []
    for place, path in enumerate(source.partitions):
        format_ = format_of(path, source.formats)
        if HOUSEHOLD_ID not in format_.header(path):
            subject, advice = f"{source.name_of(place)} column", "it ties persons to households"
            raise TableError(subject, "is missing from the table", advice, value=HOUSEHOLD_ID)
        found.append(_small(format_.identifiers(path, HOUSEHOLD_ID)))
    return found


def _small(identifiers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same identifiers, in 32 bits where they are numbers that fit."""
    bounds = np.iinfo(np.int32)
    is_number = identifiers.dtype.kind in "iu" and len(identifiers)
    fits = is_number and bounds.min <= int(identifiers.min()) and int(identifiers.max()) <= bounds.max
    return identifiers.astype(np.int32) if fits else identifiers


def _place(source: TableSource, identifiers: Sequence[npt.NDArray[Any]], row: int) -> str:
    """The file of a record, and its row there."""
    ends = np.cumsum(list(map(len, identifiers)))
    place = int(np.searchsorted(ends, row, side="right"))
    return f"{source.name_of(place)} row {row - int(ends[place]) + len(identifiers[place]) + 1}"
