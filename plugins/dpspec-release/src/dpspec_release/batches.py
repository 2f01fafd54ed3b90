"""Releases that are drawn, written and checked batch by batch: of each record by itself, or of sorted records.

The table is read twice. The first time every value is checked and counted, before anything is drawn. The second time the records
are drawn and written. Batches have always the same number of records, whatever the partitions are, so that a file does not depend
on these. Neither the table nor the release is held.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import attrs

from dpspec.plugin import Attribute, DatasetSpace, Marginal, Mechanism, Table, randomness, sorting, tables
from dpspec.plugin.releases import (
    Formats,
    Kept,
    Output,
    PartCounts,
    PluginContractError,
    Run,
    cells_wanted,
    format_of,
    regrouped,
)
from dpspec_release.accuracy import Accuracy, margins_of_stream
from dpspec_release.kept import FoundKept, KeptDigest, check_kept

if TYPE_CHECKING:
    from dpspec.plugin import grammar

MOST_RECORDS = 1 << 18
"""Of a batch, as of those that are read (`dpspec_tables.formats.BATCH`)."""
PER_VALUE = 100
"""Bytes for each released value of a batch that is drawn, written and read back; measured for a thousand columns in CSV."""


def memory_of_batches(columns: int) -> int:
    """The bytes that drawing and writing take."""
    return PER_VALUE * columns * tables.batch_size(columns, MOST_RECORDS)


class ColumnDigests:
    """The SHA-256 of each column of a table that comes in batches.

    Args:
        attributes: its columns.
    """

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self._found = {a: hashlib.sha256() for a in attributes}

    def add(self, codes: Mapping[str, Any]) -> None:
        """Add the codes of a batch."""
        for attribute, found in self._found.items():
            found.update(tables.compact(codes[attribute.name], attribute.size).tobytes())

    def digests(self) -> tuple[str, ...]:
        """The digests of all columns, in their order."""
        return tuple(found.hexdigest() for found in self._found.values())


@attrs.frozen(kw_only=True)
class WrittenTable:
    """A released table that was written as it was drawn.

    Args:
        path: the file.
        formats: the formats by suffix.
        counted: its columns, the number of its records, and the counts that were asked for.
        digests: of the columns that were drawn.
        kept: what was found of what the mechanism keeps.
    """

    path: Path
    formats: Formats
    counted: tables.CountedTable
    digests: tuple[str, ...]
    kept: tuple[FoundKept, ...] = ()

    def is_read_back(self) -> bool:
        """Whether the file holds exactly the records that were drawn, in their order."""
        attributes, format_ = self.counted.attributes, format_of(self.path, self.formats)
        if format_.header(self.path) != tuple(a.name for a in attributes):
            return False
        again = ColumnDigests(attributes)
        for batch in format_.batches(self.path, attributes):
            codes = {a.name: tables.codes_read(a, batch[a.name]) for a in attributes}
            if any(len(column) and int(column.min()) < 0 for column in codes.values()):
                return False
            again.add(codes)
        return again.digests() == self.digests


@attrs.frozen(kw_only=True)
class BatchRelease:
    """One release, batch by batch.

    Args:
        mechanism: it releases each record by itself.
        space: the dataset space.
        source: randomness by place.
        attributes: the columns of the table.
        guard: what a call of the mechanism is made in, which says what it raises without quoting the table.
    """

    mechanism: Mechanism
    space: DatasetSpace
    source: randomness.PlacedRandomness
    attributes: tuple[Attribute, ...]
    guard: Callable[[Mechanism], AbstractContextManager[None]]

    def columns(self) -> tuple[Attribute, ...]:
        """The released columns, those of a batch without records."""
        nothing = {a.name: tables.compact((), a.size) for a in self.attributes}
        return self._drawn(Table(attributes=self.attributes, codes=nothing), 0).attributes

    def write(
        self,
        batches: Iterable[Table],
        path: Path,
        formats: Formats,
        notes: Mapping[str, str],
        asked: Sequence[Marginal],
    ) -> WrittenTable:
        """Draw a table and write it.

        Args:
            batches: its records.
            path: the file.
            formats: the formats by suffix.
            notes: what the file says about itself.
            asked: tables of counts, of which those of the released columns are counted.

        Raises:
            TableError: as reading the batches.
            PluginContractError: the mechanism raises, changes its columns, loses records, or does not keep what it says.
        """
        columns, kept = self.columns(), [_Keeping(one) for one in self.mechanism.keeps(_names(self.attributes))]

        def drawn() -> Iterator[Table]:
            first = 0
            for batch in regrouped(self.attributes, batches, tables.batch_size(len(columns), MOST_RECORDS)):
                made = self._drawn(batch, first)
                if made.attributes != columns or len(made) != len(batch):
                    rule = "release_batch() must return one record for each, always with the same columns"
                    raise PluginContractError(f"mechanism {self.mechanism.name}", rule, "report it to the plugin's author")
                for one in kept:
                    one.check(batch, made, self.mechanism.name)
                first += len(batch)
                yield made

        written = write_batches(columns, drawn(), path, formats, notes, asked)
        return attrs.evolve(written, kept=tuple(one.found(len(written.counted)) for one in kept))

    def _drawn(self, batch: Table, first: int) -> Table:
        mechanism = self.mechanism
        with self.guard(mechanism):
            by_record = cast("grammar.ReleasesRecords", mechanism)
            made: object = by_record.release_batch(batch, first, self.space, self.source)
        if not isinstance(made, Table):
            rule = "release_batch() must return a Table"
            raise PluginContractError(f"mechanism {mechanism.name}", rule, value=type(made).__name__)
        return made


def write_batches(  # noqa: PLR0917 - one table with all that says how it is written
    columns: tuple[Attribute, ...],
    batches: Iterable[Table],
    path: Path,
    formats: Formats,
    notes: Mapping[str, str],
    asked: Sequence[Marginal] = (),
) -> WrittenTable:
    """Write a table that comes in batches.

    Args:
        columns: its columns.
        batches: its records.
        path: the file.
        formats: the formats by suffix.
        notes: what the file says about itself.
        asked: tables of counts, of which those of the released columns are counted.
    """
    names = {a.name for a in columns}
    counted = PartCounts.none(cells_wanted(one for one in asked if one.mentions().keys() <= names), columns)
    digests = ColumnDigests(columns)
    problems: list[BaseException] = []

    def seen() -> Iterator[Table]:
        try:
            for batch in batches:
                counted.add(batch)
                digests.add(batch.codes)
                yield batch
        except BaseException as problem:
            problems.append(problem)
            raise

    try:
        format_of(path, formats).write_batches(columns, seen(), path, notes)
    except BaseException:
        if problems:  # libraries put what a batch raises into errors of their own
            raise problems[0] from None
        raise
    if problems:
        raise problems[0]
    return WrittenTable(path=path, formats=formats, counted=counted.table(columns), digests=digests.digests())


def _names(attributes: Iterable[Attribute]) -> tuple[str, ...]:
    return tuple(a.name for a in attributes)


@attrs.define
class _Keeping:
    """One statement of what is kept, checked in each batch: each record is released in its place."""

    kept: Kept
    words: str = ""

    def check(self, before: Table, after: Table, mechanism: str) -> None:
        self.words = check_kept(self.kept, before, after, mechanism).kept

    def found(self, records: int) -> FoundKept:
        return FoundKept(kept=self.words, records=records)


# --- of sorted records ----------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class SortingRelease:
    """One release of a table that is larger than memory, by a mechanism that sorts.

    Args:
        mechanism: it states that it releases such tables (`ReleasesSorted`).
        space: the dataset space.
        run: what it draws and works with.
        sorter: sorts what memory does not hold.
        attributes: the columns of the table.
        records: the number of its records.
        guard: as of `BatchRelease`.
        accuracy: of released numbers, where their margins are written with them.
    """

    mechanism: Mechanism
    space: DatasetSpace
    run: Run
    sorter: sorting.Sorter
    attributes: tuple[Attribute, ...]
    records: int
    guard: Callable[[Mechanism], AbstractContextManager[None]]
    accuracy: Accuracy | None = None

    def write(  # noqa: PLR0917 - one table with all that says how it is written
        self,
        batches: Iterable[Table],
        path: Path,
        formats: Formats,
        notes: Mapping[str, str],
        asked: Sequence[Marginal],
        invariants: Sequence[Marginal],
    ) -> tuple[WrittenTable, Output]:
        """Draw a table and write it; returns it with what the mechanism reports.

        Args:
            batches: its records.
            path: the file.
            formats: the formats by suffix.
            notes: what the file says about itself.
            asked: tables of counts that are counted.
            invariants: tables of counts of too many cells to be counted: they must stay the same.

        Raises:
            TableError: as reading the batches.
            PluginContractError: the mechanism raises, changes its columns, loses records, or does not keep what it says.
        """
        kept = [KeptDigest.of(one, self.attributes) for one in self.mechanism.keeps(_names(self.attributes))]
        kept += [KeptDigest.of(Kept(attributes=tuple(one.attributes)), self.attributes) for one in invariants]

        def read() -> Iterator[Table]:
            for batch in batches:
                for one in kept:
                    one.add_before(batch)
                yield batch

        with self.guard(self.mechanism):
            by_sorting = cast("grammar.ReleasesSorted", self.mechanism)
            made = by_sorting.release_sorted(read(), self.attributes, self.space, self.run, self.sorter)
        if made.attributes != self.attributes and kept:
            rule = "keeps records, and releases other columns"
            raise PluginContractError(f"mechanism {self.mechanism.name}", rule, "report it to the plugin's author")

        margins = None if self.accuracy is None else margins_of_stream(made.attributes, self.accuracy)
        columns = made.attributes if margins is None else margins.attributes

        def drawn() -> Iterator[Table]:
            released = iter(made.batches)
            while True:
                with self.guard(self.mechanism):
                    batch = next(released, None)
                if batch is None:
                    return
                for one in kept:
                    one.add_after(batch)
                yield batch if margins is None else margins.added(batch)

        size = tables.batch_size(len(columns), MOST_RECORDS)
        written = write_batches(columns, regrouped(columns, drawn(), size), path, formats, notes, asked)
        found = tuple(one.found(self.records, self.mechanism.name) for one in kept)
        output = Output(tables={}, report=made.report, confidential=made.confidential)
        return attrs.evolve(written, kept=found[: len(found) - len(invariants)]), output
