"""Released tables with more cells than memory holds: one number for each cell, also for an empty one.

1. Records are written down as the numbers of their cells, equal ones of a batch together, and sorted by a library.
2. The cells of all queries are listed in their order, piece by piece, and get their counts from what was sorted.
3. Each piece of `RANGE` cells becomes released numbers, by any workers. It is drawn from a key of its own, so that it depends
   neither on the other pieces nor on where it is made.

Held are the pieces under way, and the counts of those queries that are not large (`is_large`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import attrs

from dpspec.base.errors import LibraryError, ReleaseError
from dpspec.base.lazy import late_module
from dpspec.base.promises import is_a
from dpspec.base.randomness import PlacedRandomness, Randomness
from dpspec.base.types import AnyIntegers, Integers
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.space import Attribute, DatasetSpace
from dpspec.grammar import answers
from dpspec.grammar.sorting import SortedRelease, SortedRows, Sorter
from dpspec.grammar.table_batches import PartCounts, cells_wanted
from dpspec.grammar.table_counts import CellsRead, Countable, cells_read, domain_of, occurring
from dpspec.grammar.tables import Codes, NumberRange, Table, compact
from dpspec.grammar.workers import Columns, Run

if TYPE_CHECKING:
    import numpy as np
else:
    np = late_module("numpy")

RANGE = 1 << 18
"""Numbers that are drawn from one key. If there are no more, they are drawn from the source itself, as they were before."""
MOST_COUNTED = 1 << 22
"""Tables of more cells are counted by sorting, where memory does not suffice."""
MOST_SORTED = 1 << 62
"""All cells of the tables that are sorted have numbers below this."""
CELL, COUNT = "cell", "count"
_ROWS = 1 << 18
"""Sorted rows that are read at a time."""
_MOST = 1 << 62
"""Released numbers are below this in magnitude."""
_PER_CELL = 100
"""Bytes for each cell of a piece that is under way: its counts, words, draws and numbers."""

Numbers = Callable[[AnyIntegers, Randomness], AnyIntegers]
"""The released numbers for the counts of some cells, each made by itself. It can be pickled."""
Cells = list[tuple[int, answers.AnswerCells]]
"""Cells in a row, of one query or several: the place of each query, and its cells."""


def memory_of_piece() -> int:
    """The bytes that a piece takes, for each part that is under way."""
    return RANGE * _PER_CELL


def drawn_in_ranges(draw: Callable[[int, Randomness], Integers], count: int, source: Randomness) -> Integers:
    """Independent draws in memory, equal to those of a stream of as many cells.

    Args:
        draw: makes so many draws from a source.
        count: how many.
        source: the source of the release.

    >>> from dpspec.base.randomness import SeededRandomness
    >>> drawn = drawn_in_ranges(lambda count, source: source.below(6, count), RANGE + 2, SeededRandomness(1))
    >>> len(drawn), int(drawn.max())
    (262146, 5)
    """
    if count <= RANGE:
        return draw(count, source)
    places, drawn = source.placed(), np.empty(count, dtype=np.int64)
    for place, begin in enumerate(range(0, count, RANGE)):
        end = min(begin + RANGE, count)
        drawn[begin:end] = draw(end - begin, _of_range(places, place).spawn("numbers"))
    return drawn


def _of_range(places: PlacedRandomness, place: int) -> PlacedRandomness:
    """What a worker is sent to draw a range with: a key that belongs to this range alone."""
    return places.spawn("cells", place).placed()


def _made(numbers: Numbers, part: Columns) -> Columns:
    """The kernel: the released numbers of a range."""
    return {"numbers": np.asarray(numbers(part["counts"], part["source"][0].spawn("numbers")))}


def is_large(read: Marginal, attributes: Sequence[Attribute]) -> bool:
    """Whether the cells of a table that is read are so many that they are counted by sorting.

    Args:
        read: the table of counts.
        attributes: the columns of the records.
    """
    return _domain(read.attributes, attributes) > MOST_COUNTED


def can_be_streamed(queries: Iterable[tuple[Invariant, Marginal]], attributes: Sequence[Attribute], space: DatasetSpace) -> bool:
    """Whether the cells of each large query can be listed piece by piece, and numbered together.

    Args:
        queries: the queries, each with the table of counts that is read for it.
        attributes: the columns of the records.
        space: the dataset space.
    """
    known = {a.name: a for a in attributes}
    large = [(query, read) for query, read in queries if is_large(read, attributes)]
    same = (known[a.name] == a for _, read in large for a in space.attributes_of(read.unit) if a.name in read.attributes)
    size = sum(_domain(read.attributes, attributes) for _, read in large)
    return all(answers.is_in_order(query, space) for query, _ in large) and all(same) and size < MOST_SORTED


def _domain(names: Iterable[str], attributes: Sequence[Attribute]) -> int:
    known = {a.name: a for a in attributes}
    return domain_of(known[name] for name in names)


@attrs.frozen(kw_only=True)
class CellStream:
    """The released numbers of some queries, cell after cell; the same as in memory.

    Args:
        queries: the queries, each with the table of counts that is read for it.
        attributes: the columns of the records.
        space: the dataset space.
        run: what is drawn and worked with.
        sorter: sorts what memory does not hold.
        numbers: makes the released numbers.
        held: the answers to a query that is not large, from the counts of a table.
    """

    queries: tuple[tuple[Invariant, Marginal], ...]
    attributes: tuple[Attribute, ...]
    space: DatasetSpace
    run: Run
    sorter: Sorter
    numbers: Numbers
    held: Callable[[Countable, Invariant], AnyIntegers]

    def released(self, batches: Iterable[Table]) -> SortedRelease:
        """The released table.

        Args:
            batches: the records, in any order; they are read once.

        Raises:
            TableError: as reading the batches.
            LibraryError: what was sorted is not sorted.
        """
        small = [read for _, read in self.queries if not is_large(read, self.attributes)]
        counted = PartCounts.none(cells_wanted(small), self.attributes)
        large = _LargeTables.of((read for _, read in self.queries if is_large(read, self.attributes)), self.attributes)
        rows = self.sorter.sorted(large.rows(batches, counted), by=(CELL,))
        table = counted.table(self.attributes)
        readers = [
            large.counts(rows, read) if is_large(read, self.attributes) else _HeldCounts(self.held(table, query))
            for query, read in self.queries
        ]
        columns = answers.AnswerColumns.of([next(self._listed(place, 1)) for place in range(len(self.queries))])
        value = NumberRange(answers.VALUE, -_MOST, _MOST)
        status = Attribute(name=answers.STATUS, categories=(answers.PUBLISHED,))
        attributes = (*columns.attributes, value, status)

        def made() -> Iterator[Table]:
            for cells, numbers in self._numbered(readers):
                found = [columns.codes(place, part) for place, part in cells]
                codes = {a.name: answers.one_column([piece[a.name] for piece in found]) for a in columns.attributes}
                codes[value.name] = compact(value.codes_of(_in_range(numbers)), value.size)
                codes[status.name] = np.zeros(len(numbers), dtype=np.uint8)
                yield Table(attributes=attributes, codes=codes)
            rows.forget()

        return SortedRelease(attributes=attributes, batches=made())

    def _listed(self, place: int, size: int) -> Iterator[answers.AnswerCells]:
        """The cells of a query; of a large one, at most `size` at a time."""
        query, read = self.queries[place]
        if is_large(read, self.attributes):
            return answers.cells_in_order(_marginal(query), self.space, size)
        return iter([answers.cells_of(query, self.space)])

    def _size(self, place: int) -> int:
        """The number of cells of a query."""
        query, read = self.queries[place]
        if is_large(read, self.attributes):
            return answers.number_of_cells(_marginal(query), self.space)
        return len(answers.cells_of(query, self.space))

    def _numbered(self, readers: Sequence[_HeldCounts | _SortedCounts]) -> Iterator[tuple[Cells, AnyIntegers]]:
        """The cells of each piece and their released numbers."""
        places = range(len(self.queries))
        listed = ((place, part) for place in places for part in self._listed(place, RANGE))
        total = sum(map(self._size, places))

        def pieces() -> Iterator[tuple[Cells, AnyIntegers]]:
            for cells in answers.in_pieces(listed, RANGE):
                yield cells, np.concatenate([readers[place].of(part) for place, part in cells])
            for reader in readers:
                reader.check_end()

        if total <= RANGE:
            yield from ((cells, self.numbers(counts, self.run.source)) for cells, counts in pieces())
            return
        source, under_way, done = self.run.source.placed(), deque[Cells](), 0

        def parts() -> Iterator[Columns]:
            for place, (cells, counts) in enumerate(pieces()):
                under_way.append(cells)
                sent = np.empty(1, dtype=object)
                sent[0] = _of_range(source, place)
                yield {"counts": counts, "source": sent}

        for made in self.run.workers.map(partial(_made, self.numbers), parts()):
            done += len(made["numbers"])
            self.run.progress(done, total)
            yield under_way.popleft(), made["numbers"]


def _marginal(query: Invariant) -> Marginal:
    """A large query, which is a table of counts."""
    assert is_a(query, Marginal)  # noqa: S101 - `can_be_streamed` has seen it
    return query


def _in_range(numbers: AnyIntegers) -> AnyIntegers:
    """Numbers that the released column can hold.

    Raises:
        ReleaseError: they are larger.
    """
    if numbers.dtype == object or (len(numbers) and not -_MOST <= int(numbers.min()) <= int(numbers.max()) < _MOST):
        raise ReleaseError("numbers", "leave the range of 62 bits", "release fewer cells, so that they fit into memory")
    return numbers


# --- counts ---------------------------------------------------------------------------------------


@attrs.define
class _HeldCounts:
    """The answers to a query that is not large.

    Args:
        every: all of them, in the order of its cells.
    """

    every: AnyIntegers
    _done: int = attrs.field(default=0, init=False)

    def of(self, cells: answers.AnswerCells) -> AnyIntegers:
        """The answers of the next cells."""
        begin, self._done = self._done, self._done + len(cells)
        return self.every[begin : self._done]

    def check_end(self) -> None:
        """There is nothing to be left."""


@attrs.frozen(kw_only=True)
class _LargeTables:
    """The tables that are counted by sorting, whose cells are numbered one table after the other.

    Args:
        begins: the number of the first cell of each table.
        sizes: the number of rows that were written of each, as they are written.
        attributes: the columns of the records.
    """

    begins: Mapping[CellsRead, int]
    sizes: dict[CellsRead, int]
    attributes: tuple[Attribute, ...]

    @classmethod
    def of(cls, tables: Iterable[Marginal], attributes: tuple[Attribute, ...]) -> _LargeTables:
        """Tables, each once."""
        begins, begin = dict[CellsRead, int](), 0
        for read in cells_wanted(tables):
            begins[read] = begin
            begin += _domain(read[0], attributes)
        return cls(begins=begins, sizes=dict.fromkeys(begins, 0), attributes=attributes)

    def rows(self, batches: Iterable[Table], counted: PartCounts) -> Iterator[Columns]:
        """The cells of the records of each batch in each table, and how many records they have.

        Args:
            batches: the records.
            counted: where the other tables are counted.
        """
        nothing = np.zeros(0, dtype=np.int64)
        yield {CELL: nothing, COUNT: nothing}  # all records may be left out
        for batch in batches:
            counted.add(batch)
            for read, begin in self.begins.items():
                cells, counts = occurring(batch.keys_meeting(*read), _domain(read[0], self.attributes))
                self.sizes[read] += len(cells)
                yield {CELL: cells + begin, COUNT: counts}

    def counts(self, rows: SortedRows, table: Marginal) -> _SortedCounts:
        """The counts of a table.

        Args:
            rows: all rows, sorted.
            table: which.
        """
        read, known = cells_read(table.attributes, table.where), {a.name: a for a in self.attributes}
        begin = sum(size for other, size in self.sizes.items() if self.begins[other] < self.begins[read])
        own = tuple(known[name] for name in table.attributes)
        end = begin + self.sizes[read]
        return _SortedCounts(rows=rows, begin=begin, end=end, first=self.begins[read], attributes=own)


@attrs.define(kw_only=True)
class _SortedCounts:
    """The counts of the cells of a large table, which are read in ascending order.

    Args:
        rows: sorted rows, several of which may be of one cell.
        begin: the place of the first row of the table that was not read.
        end: the place after the last one.
        first: the number of the first cell of the table.
        attributes: of the table, the slowest first.
    """

    rows: SortedRows
    begin: int
    end: int
    first: int
    attributes: tuple[Attribute, ...]
    _cells: Integers = attrs.field(factory=lambda: np.zeros(0, dtype=np.int64), init=False)
    _counts: Integers = attrs.field(factory=lambda: np.zeros(0, dtype=np.int64), init=False)

    def of(self, cells: answers.AnswerCells) -> Integers:
        """The counts of the next cells.

        Raises:
            LibraryError: rows of no cell come before the last of these cells.
        """
        numbers = self._numbers(cells)
        found, last = np.zeros(len(numbers), dtype=np.int64), numbers[-1]
        while True:
            until = int(np.searchsorted(self._cells, last, side="right"))
            places = np.searchsorted(numbers, self._cells[:until])
            if not np.array_equal(numbers[places], self._cells[:until]):
                raise _unsorted()
            np.add.at(found, places, self._counts[:until])
            self._cells, self._counts = self._cells[until:], self._counts[until:]
            if len(self._cells) or self.begin == self.end:
                return found
            self._read()

    def check_end(self) -> None:
        """Refuse rows that are of no cell.

        Raises:
            LibraryError: some are left.
        """
        if len(self._cells) or self.begin < self.end:
            raise _unsorted()

    def _read(self) -> None:
        until = min(self.begin + _ROWS, self.end)
        rows = self.rows.between(self.begin, until)
        self._cells, self._counts, self.begin = rows[CELL], rows[COUNT], until
        if (self._cells[1:] < self._cells[:-1]).any():
            raise _unsorted()

    def _numbers(self, cells: answers.AnswerCells) -> Integers:
        codes: dict[str, Codes] = {a.name: column for a, column in cells.columns.items()}
        numbers = np.zeros(len(cells), dtype=np.int64)
        for attribute in self.attributes:
            numbers *= attribute.size
            numbers += codes[attribute.name]
        return numbers + self.first


def _unsorted() -> LibraryError:
    return LibraryError("sorted records", "are not sorted", "report it to the authors of the library")


__all__ = ["CellStream", "can_be_streamed", "drawn_in_ranges", "is_large", "memory_of_piece"]
