"""Released tables with more cells than memory holds: one number for each cell, also for an empty one.

1. Records are written down as the numbers of their cells, equal ones of a batch together, and sorted by a library.
2. The cells of all queries are listed in their order, piece by piece, and get their counts from what was sorted.
3. Each piece of `RANGE` cells becomes released numbers, by any workers. It is drawn from a key of its own, so that it depends
   neither on the other pieces nor on where it is made.

Held are the pieces under way, and the counts of those queries that are not large (`is_large`).

A mechanism may read more of a cell than its count: another sum over its records, such as that of their keys
(`CellStream.released_of_sums`). `DrawnSummands` draws one number for each cell of a base that has records, to be summed up so.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import attrs

from dpspec.base.errors import LibraryError, ReleaseError
from dpspec.base.lazy import late_module
from dpspec.base.promises import is_a
from dpspec.base.randomness import PlacedRandomness, Randomness
from dpspec.base.types import AnyIntegers, Integers, Mask
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.space import Attribute, DatasetSpace
from dpspec.grammar import answers
from dpspec.grammar.sorting import Packing, SortedRelease, SortedRows, Sorter
from dpspec.grammar.table_batches import PartCounts, cells_wanted
from dpspec.grammar.table_counts import CellsRead, Countable, cells_read, domain_of, occurring
from dpspec.grammar.tables import Codes, NumberRange, Table, compact, number_cells
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

SUM = "sum"
Numbers = Callable[[AnyIntegers, Randomness], AnyIntegers]
"""The released numbers for the counts of some cells, each made by itself; for rows of a count and a further sum, where the stream
has one. It can be pickled."""
Withheld = Callable[[AnyIntegers], Mask]
"""For the counts of some cells whether each of them is withheld. It can be pickled."""
Pieces = Iterable[tuple[Mapping[str, Codes], Integers]]
"""Codes of the attributes of some records or cells, and for each of them a row: how many records it is, and what they add to a
further sum."""
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
    drawn = np.empty(count, dtype=np.int64)
    for begin, end, own in _ranges(count, source):
        drawn[begin:end] = draw(end - begin, own)
    return drawn


def made_in_ranges(numbers: Numbers, counts: AnyIntegers, source: Randomness) -> AnyIntegers:
    """Released numbers in memory, equal to those of a stream of the same cells.

    Args:
        numbers: makes the released numbers.
        counts: the counts of all cells.
        source: the source of the release.
    """
    if len(counts) <= RANGE:
        return numbers(counts, source)
    made = np.empty(0, dtype=np.int64)
    for begin, end, own in _ranges(len(counts), source):
        part = numbers(counts[begin:end], own)
        if not begin:
            made = np.empty(len(counts), dtype=part.dtype)
        made[begin:end] = part
    return made


def _ranges(count: int, source: Randomness) -> Iterator[tuple[int, int, Randomness]]:
    """Where each range begins and ends, and what it is drawn from."""
    places = source.placed()
    for place, begin in enumerate(range(0, count, RANGE)):
        yield begin, min(begin + RANGE, count), _of_range(places, place).spawn("numbers")


def _of_range(places: PlacedRandomness, place: int) -> PlacedRandomness:
    """What a worker is sent to draw a range with: a key that belongs to this range alone."""
    return places.spawn("cells", place).placed()


def _made(numbers: Numbers, withheld: Withheld | None, part: Columns) -> Columns:
    """The kernel: the released numbers of a range."""
    return _released(numbers, withheld, part["counts"], part["source"][0].spawn("numbers"))


def _released(numbers: Numbers, withheld: Withheld | None, counts: AnyIntegers, source: Randomness) -> Columns:
    """Released numbers, and which of them are withheld where any may be."""
    made = {"numbers": np.asarray(numbers(counts, source))}
    return made if withheld is None else {**made, "withheld": withheld(counts)}


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
    in_order = (answers.is_in_order(query, space, read.attributes) for query, read in large)
    return all(in_order) and all(same) and size < MOST_SORTED


def _domain(names: Iterable[str], attributes: Sequence[Attribute]) -> int:
    known = {a.name: a for a in attributes}
    return domain_of(known[name] for name in names)


@attrs.frozen(kw_only=True)
class CellStream:
    """The released numbers of some queries, cell after cell; the same as in memory.

    Args:
        queries: the queries, each with the table of counts that is read for it. The cells of a large one are in the order of
            that table, whose first attribute is the slowest.
        attributes: the columns of the records.
        space: the dataset space.
        run: what is drawn and worked with.
        sorter: sorts what memory does not hold.
        numbers: makes the released numbers.
        listed: the cells of a query that is not large.
        held: the answers to such a query in the order of these cells, from the counts of a table; unused for several sums.
        withheld: says which cells are withheld; None where none ever is.
    """

    queries: tuple[tuple[Invariant, Marginal], ...]
    attributes: tuple[Attribute, ...]
    space: DatasetSpace
    run: Run
    sorter: Sorter
    numbers: Numbers
    listed: Callable[[Invariant], answers.AnswerCells]
    held: Callable[[Countable, Invariant], AnyIntegers]
    withheld: Withheld | None = None

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
        large = self._large((COUNT,))
        rows = self.sorter.sorted(large.rows(batches, counted), by=(CELL,))
        table = counted.table(self.attributes)
        held = {query: self.held(table, query) for query, read in self.queries if not is_large(read, self.attributes)}
        return self._release(rows, large, held)

    def released_of_sums(self, pieces: Pieces) -> SortedRelease:
        """The released table of numbers that are made from two sums over the records of each cell: their count, and another one.

        The queries are tables of all records, and the cells of all of them are in the order of the table that is read.

        Args:
            pieces: records or cells, in any order; they are read once.

        Raises:
            LibraryError: what was sorted is not sorted.
        """
        known = {a.name: a for a in self.attributes}
        small = {query: read for query, read in self.queries if not is_large(read, self.attributes)}
        held = {query: np.zeros((2, _domain(read.attributes, self.attributes)), dtype=np.int64) for query, read in small.items()}
        large = self._large((COUNT, SUM))

        def left() -> Iterator[tuple[Mapping[str, Codes], Integers]]:
            """The pieces, once they are summed up by the tables that are not large."""
            for codes, rows in pieces:
                for query, read in small.items():
                    numbers = number_cells(codes, [known[name] for name in read.attributes], len(rows))
                    for column, sums in zip(rows.T, held[query], strict=True):
                        np.add.at(sums, numbers, column)
                yield codes, rows

        rows = self.sorter.sorted(large.rows_of_sums(left()), by=(CELL,))
        return self._release(rows, large, {query: np.ascontiguousarray(sums.T) for query, sums in held.items()})

    def _large(self, sums: tuple[str, ...]) -> _LargeTables:
        tables = (read for _, read in self.queries if is_large(read, self.attributes))
        return _LargeTables.of(tables, self.attributes, sums)

    def _release(self, rows: SortedRows, large: _LargeTables, held: Mapping[Invariant, AnyIntegers]) -> SortedRelease:
        """The released table.

        Args:
            rows: the rows of the large tables, sorted.
            large: those tables.
            held: what the numbers of the cells of each other query are made from.
        """

        def readers() -> list[_HeldCounts | _SortedCounts]:
            """What gives the counts of all cells once, from the beginning."""
            return [
                large.counts(rows, read) if is_large(read, self.attributes) else _HeldCounts(held[query])
                for query, read in self.queries
            ]

        columns = answers.AnswerColumns.of([next(self._listed(place, 1)) for place in range(len(self.queries))])
        # Which statuses there are is in the head of a file, so it has to be known before the first cell is written.
        hides = self.withheld is not None and any(self.withheld(counts).any() for _, counts in self._pieces(readers()))
        value = NumberRange(answers.VALUE, -_MOST, _MOST - 1, ("",) if hides else ())
        kinds = (answers.PUBLISHED, answers.SUPPRESSED) if hides else (answers.PUBLISHED,)
        status = Attribute(name=answers.STATUS, categories=kinds)
        attributes = (*columns.attributes, value, status)

        def made() -> Iterator[Table]:
            for cells, part in self._numbered(readers()):
                found = [columns.codes(place, piece) for place, piece in cells]
                codes = {a.name: answers.one_column([piece[a.name] for piece in found]) for a in columns.attributes}
                numbers = value.codes_of(_in_range(part["numbers"]))
                withheld = part.get("withheld", np.zeros(len(numbers), dtype=np.bool_))
                codes[value.name] = compact(np.where(withheld, value.length, numbers) if hides else numbers, value.size)
                codes[status.name] = withheld.astype(np.uint8)
                yield Table(attributes=attributes, codes=codes)
            rows.forget()

        return SortedRelease(attributes=attributes, batches=made())

    def _listed(self, place: int, size: int) -> Iterator[answers.AnswerCells]:
        """The cells of a query; of a large one, at most `size` at a time."""
        query, read = self.queries[place]
        if is_large(read, self.attributes):
            return answers.cells_in_order(_marginal(query), self.space, size, read.attributes)
        return iter([self.listed(query)])

    def _size(self, place: int) -> int:
        """The number of cells of a query."""
        query, read = self.queries[place]
        if is_large(read, self.attributes):
            return answers.number_of_cells(_marginal(query), self.space)
        return len(self.listed(query))

    def _pieces(self, readers: Sequence[_HeldCounts | _SortedCounts]) -> Iterator[tuple[Cells, AnyIntegers]]:
        """The cells of each piece, and what their numbers are made from."""
        listed = ((place, part) for place in range(len(self.queries)) for part in self._listed(place, RANGE))
        for cells in answers.in_pieces(listed, RANGE):
            yield cells, np.concatenate([readers[place].of(part) for place, part in cells])
        for reader in readers:
            reader.check_end()

    def _numbered(self, readers: Sequence[_HeldCounts | _SortedCounts]) -> Iterator[tuple[Cells, Columns]]:
        """The cells of each piece, their released numbers, and which are withheld."""
        total = sum(map(self._size, range(len(self.queries))))
        if total <= RANGE:
            for cells, counts in self._pieces(readers):
                yield cells, _released(self.numbers, self.withheld, counts, self.run.source)
            return
        source, under_way, done = self.run.source.placed(), deque[Cells](), 0

        def parts() -> Iterator[Columns]:
            for place, (cells, counts) in enumerate(self._pieces(readers)):
                under_way.append(cells)
                sent = np.empty(1, dtype=object)
                sent[0] = _of_range(source, place)
                yield {"counts": counts, "source": sent}

        for made in self.run.workers.map(partial(_made, self.numbers, self.withheld), parts()):
            done += len(made["numbers"])
            self.run.progress(done, total)
            yield under_way.popleft(), made


def _marginal(query: Invariant) -> Marginal:
    """A large query, which is a table of counts."""
    assert is_a(query, Marginal)  # noqa: S101 - `can_be_streamed` has seen it
    return query


def _in_range(numbers: AnyIntegers) -> AnyIntegers:
    """Numbers that the released column can hold.

    Raises:
        ReleaseError: they are larger.
    """
    if numbers.dtype == object or (len(numbers) and not -_MOST <= int(numbers.min()) <= int(numbers.max()) < _MOST - 1):
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
        sums: the columns that are summed up for each cell.
    """

    begins: Mapping[CellsRead, int]
    sizes: dict[CellsRead, int]
    attributes: tuple[Attribute, ...]
    sums: tuple[str, ...]

    @classmethod
    def of(cls, tables: Iterable[Marginal], attributes: tuple[Attribute, ...], sums: tuple[str, ...]) -> _LargeTables:
        """Tables, each once."""
        begins, begin = dict[CellsRead, int](), 0
        for read in cells_wanted(tables):
            begins[read] = begin
            begin += _domain(read[0], attributes)
        return cls(begins=begins, sizes=dict.fromkeys(begins, 0), attributes=attributes, sums=sums)

    def rows(self, batches: Iterable[Table], counted: PartCounts) -> Iterator[Columns]:
        """The cells of the records of each batch in each table, and how many records they have.

        Args:
            batches: the records.
            counted: where the other tables are counted.
        """
        yield self._no_rows()
        for batch in batches:
            counted.add(batch)
            for read, begin in self.begins.items():
                cells, counts = occurring(batch.keys_meeting(*read), _domain(read[0], self.attributes))
                self.sizes[read] += len(cells)
                yield {CELL: cells + begin, COUNT: counts}

    def rows_of_sums(self, pieces: Pieces) -> Iterator[Columns]:
        """The cells of each piece in each table, and what they add to each sum.

        Args:
            pieces: records, or cells of a base.
        """
        yield self._no_rows()
        known = {a.name: a for a in self.attributes}
        for codes, rows in pieces:
            for read, begin in self.begins.items():
                numbers = number_cells(codes, [known[name] for name in read[0]], len(rows))
                cells, places = np.unique(numbers, return_inverse=True)
                sums = np.zeros((len(self.sums), len(cells)), dtype=np.int64)
                for column, added in zip(rows.T, sums, strict=True):
                    np.add.at(added, places, column)
                self.sizes[read] += len(cells)
                yield {CELL: cells + begin, **dict(zip(self.sums, sums, strict=True))}

    def _no_rows(self) -> Columns:
        """The columns that are sorted: all records may be left out, and there may be none of these tables."""
        return {name: np.zeros(0, dtype=np.int64) for name in (CELL, *self.sums)}

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
        return _SortedCounts(rows=rows, begin=begin, end=end, first=self.begins[read], attributes=own, sums=self.sums)


@attrs.define(kw_only=True)
class _SortedCounts:
    """The counts of the cells of a large table, which are read in ascending order.

    Args:
        rows: sorted rows, several of which may be of one cell.
        begin: the place of the first row of the table that was not read.
        end: the place after the last one.
        first: the number of the first cell of the table.
        attributes: of the table, the slowest first.
        sums: the columns that are summed up.
    """

    rows: SortedRows
    begin: int
    end: int
    first: int
    attributes: tuple[Attribute, ...]
    sums: tuple[str, ...]
    _cells: Integers = attrs.field(factory=lambda: np.zeros(0, dtype=np.int64), init=False)
    _added: Sequence[Integers] = attrs.field(factory=tuple, init=False)

    def of(self, cells: answers.AnswerCells) -> Integers:
        """The counts of the next cells; rows of their sums, where there are several.

        Raises:
            LibraryError: rows of no cell come before the last of these cells.
        """
        codes = {a.name: column for a, column in cells.columns.items()}
        numbers = number_cells(codes, self.attributes, len(cells)) + self.first
        found, last = np.zeros((len(self.sums), len(numbers)), dtype=np.int64), numbers[-1]
        while True:
            until = int(np.searchsorted(self._cells, last, side="right"))
            places = np.searchsorted(numbers, self._cells[:until])
            if not np.array_equal(numbers[places], self._cells[:until]):
                raise _unsorted()
            for sums, added in zip(found, self._added, strict=False):  # there are none before the first rows are read
                np.add.at(sums, places, added[:until])
            self._cells, self._added = self._cells[until:], [added[until:] for added in self._added]
            if len(self._cells) or self.begin == self.end:
                return found[0] if len(found) == 1 else np.ascontiguousarray(found.T)
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
        self._cells, self._added, self.begin = rows[CELL], [rows[name] for name in self.sums], until
        if (self._cells[1:] < self._cells[:-1]).any():
            raise _unsorted()


def _unsorted() -> LibraryError:
    return LibraryError("sorted records", "are not sorted", "report it to the authors of the library")


# --- a number for each cell that has records --------------------------------------------------------


@attrs.frozen(kw_only=True)
class DrawnSummands:
    """The cells of a base that have records, each with a number that is drawn for it; the same numbers as `drawn_in_ranges`.

    All tables of a release sum up the same numbers, which are drawn once: for the cells of a table of which all others are sums.

    Args:
        base: the attributes of the base, the slowest first, with at most 2^63 combinations.
        run: what is drawn with.
        sorter: sorts what memory does not hold.
        draw: makes so many draws from a source.
    """

    base: tuple[Attribute, ...]
    run: Run
    sorter: Sorter
    draw: Callable[[int, Randomness], Integers]

    def pieces(self, batches: Iterable[Table]) -> Pieces:
        """The cells of the base that have records: their codes, and a row of their count and of what was drawn.

        Args:
            batches: the records, in any order; they are read once.

        Raises:
            LibraryError: what was sorted is not sorted.
        """
        names, packing = tuple(a.name for a in self.base), Packing(attributes=self.base, name=CELL)
        (cell,) = packing.columns
        nothing = {cell: np.zeros(0, dtype=np.int64)}
        numbers = ({cell: batch.key(names)} for batch in batches)
        rows = self.sorter.counted(itertools.chain([nothing], numbers), COUNT)
        places, last = self.run.source.placed() if len(rows) > RANGE else None, -1
        for place, begin in enumerate(range(0, len(rows), RANGE)):
            found = rows.between(begin, min(begin + RANGE, len(rows)))
            cells = found[cell]
            if cells[0] <= last or (cells[1:] <= cells[:-1]).any():
                raise _unsorted()
            last = int(cells[-1])
            source = self.run.source if places is None else _of_range(places, place).spawn("numbers")
            yield packing.codes({cell: cells}), np.stack([found[COUNT].astype(np.int64), self.draw(len(cells), source)], axis=1)
        rows.forget()


__all__ = [
    "CellStream",
    "DrawnSummands",
    "can_be_streamed",
    "drawn_in_ranges",
    "is_large",
    "made_in_ranges",
    "memory_of_piece",
]
