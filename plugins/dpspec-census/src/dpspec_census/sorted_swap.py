"""The swap of a table that is larger than memory: the same draw as in memory (`stratum.exchanged`), from sorted records.

A library sorts; here are the passes over what it has sorted:

1. Every record is written down with its stratum and its row, and sorted by these.
2. Strata are taken in pieces that fit into memory, each with the kernel of the swap in memory.
3. A larger stratum is swapped in two passes. The first one selects its records by their rows, and sorts the selected ones by the
   words of their rows, which puts them in a uniform order. The second one gives each the values of another. Let s_0, s_1, ... be
   the selected records in this order, and t_0, t_1, ... the same records by row.

   - permuted: t_j gets the values of s_j
   - deranged: s_j gets the values of s_(j+1), and the last one of a cycle those of the first one
   - in pairs: s_2j and s_(2j+1) exchange their values

4. All records are sorted by all of their columns, which is the order of a release.

Where unique records have rates of their own, all records are sorted by their values before: a record is unique if it differs from
the one before and the one after it. Its rate is written down next to its row.

Held are one piece, and a few numbers of each stratum. A draw belongs to a row or to a stratum, so that the same records are
released as in memory.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from dpspec.plugin import Attribute, Table, errors, late_module, randomness, sorting, tables, workers
from dpspec_census.stratum import CYCLES, KEYS, KIND, SELECT, Algorithm, UniqueRates, held_members, swap_kernel
from dpspec_census.swap_budget import Rates, SwapScheme

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    import numpy.typing as npt
else:
    np = late_module("numpy")

ROWS = 1 << 18
"""Rows that are read at a time; an even number, since pairs are not divided."""
STRATUM, ROW, COUNT, WORD = "stratum", sorting.ROW, "count", "word"
HELD = ("members0", "members1", "members2", "members3")
"""The columns of the SHA-256 of the members of a record, which are the same where records hold the same members."""


@attrs.define
class SwappedStrata:
    """The strata of a swap, and how many records were selected.

    Args:
        names: their numbers in `Table.key(match)`, ascending.
        sizes: their records.
        varied: whether they hold at least two different records.
        selected: the number of selected records.
    """

    names: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    varied: npt.NDArray[np.bool_]
    selected: int = 0


@attrs.frozen(kw_only=True)
class SortedSwap:
    """One swap of a table that comes in batches.

    Args:
        attributes: the columns of the table.
        scheme: the variables of the swap.
        rates: p, by stratum.
        run: workers and progress.
        draws: the randomness of this run.
        sorter: sorts what memory does not hold.
        how: what is done with the selected records.
        own: the rates of unique records; None where these have that of their stratum.
    """

    attributes: tuple[Attribute, ...]
    scheme: SwapScheme
    rates: Rates
    run: workers.Run
    draws: randomness.PlacedRandomness
    sorter: sorting.Sorter
    how: Algorithm
    own: UniqueRates | None = None

    def swap(self, batches: Iterable[Table]) -> tuple[Iterator[Table], SwappedStrata]:
        """The swapped records, sorted by all of their columns, in batches that are read once."""
        rows, strata = self._spread_out(batches)
        released = self.sorter.counted(map(self._whole, self._released(rows, strata)), COUNT)
        rows.forget()
        return self._tables(released), strata

    def swap_households(self, batches: Iterable[Table], order: randomness.Randomness) -> tuple[sorting.SortedRows, SwappedStrata]:
        """The swapped records with their rows, in a random order, as `stratum.unordered` puts households that hold persons.

        Args:
            batches: the households.
            order: what the order is drawn from.
        """
        rows, strata = self._spread_out(batches)
        by_row = self.sorter.sorted(
            ({ROW: piece[ROW], **self._whole(piece)} for piece in self._released(rows, strata, with_rows=True)), by=(ROW,)
        )
        rows.forget()
        return shuffled(by_row, order, self.sorter), strata

    @property
    def packing(self) -> sorting.Packing:
        """How the whole records are written down."""
        return self._columns["whole"]

    def _spread_out(self, batches: Iterable[Table]) -> tuple[sorting.SortedRows, SwappedStrata]:
        """All records by stratum and row, and the strata."""
        sizes = tables.CellCounter([a for name in self.scheme.match for a in self.attributes if a.name == name])
        spread = self._spread(batches, sizes)
        if self.own is None:
            rows = self.sorter.sorted(spread, by=(STRATUM, ROW))
        else:
            by_value = self.sorter.sorted(spread, by=(STRATUM, *self._compared(whole=True)))
            rows = self.sorter.sorted(self._with_kinds(by_value, self.own), by=(STRATUM, ROW))
            by_value.forget()
        names, counts = sizes.counts().occurring()
        return rows, SwappedStrata(names, counts, np.zeros(len(names), dtype=np.bool_))

    @property
    def _columns(self) -> Mapping[str, sorting.Packing]:
        """How records are written down: what is swapped, the rest, what makes up strata, and all of it."""
        match, swap = self.scheme.match, self.scheme.swap
        kinds = {
            "match": [a for name in match for a in self.attributes if a.name == name],
            "rest": [a for a in self.attributes if a.name not in {*match, *swap}],
            "swap": [a for a in self.attributes if a.name in swap],
            "whole": list(self.attributes),
        }
        return {kind: sorting.Packing(attributes=tuple(found), name=kind) for kind, found in kinds.items()}

    def _spread(self, batches: Iterable[Table], sizes: tables.CellCounter) -> Iterator[workers.Columns]:
        """All records with their strata and rows; the strata are counted."""
        done = 0
        for batch in batches:
            keys = batch.key(self.scheme.match)
            sizes.add(keys)
            row = np.arange(done, done + len(batch), dtype=np.int64)
            packed = {**self._columns["rest"].packed(batch.codes), **self._columns["swap"].packed(batch.codes)}
            held = _digests(batch) if self.own is not None and self.own.members else {}
            yield {STRATUM: keys, ROW: row, **packed, **held}
            done += len(batch)

    def _compared(self, *, whole: bool) -> tuple[str, ...]:
        """The columns in which records of a stratum are compared.

        Args:
            whole: whether what is swapped is compared, too; it comes last.
        """
        held = HELD if self.own is not None and self.own.members else ()
        return (*self._columns["rest"].columns, *held, *(self._columns["swap"].columns if whole else ()))

    def _with_kinds(self, by_value: sorting.SortedRows, own: UniqueRates) -> Iterator[workers.Columns]:
        """The records with the rate that each has, from records that are sorted by their strata and what is compared."""
        for begin in range(0, len(by_value), ROWS):
            end, first = min(begin + ROWS, len(by_value)), max(begin - 1, 0)
            part = by_value.between(first, min(end + 1, len(by_value)))
            kind = np.full(len(part[ROW]), len(own.rates) - 1, dtype=np.int64)
            for place, whole in reversed([*enumerate(own.whole)]):
                kind[_alone(part, (STRATUM, *self._compared(whole=whole)))] = place
            columns = {**{name: column for name, column in part.items() if name not in HELD}, KIND: kind}
            yield {name: column[begin - first : end - first] for name, column in columns.items()}

    def _whole(self, columns: workers.Columns) -> workers.Columns:
        """The columns of all of a record, from those of its stratum and of its parts."""
        codes = {**self._columns["rest"].codes(columns), **self._columns["swap"].codes(columns)}
        if self.scheme.match:
            codes |= self._columns["match"].codes({"match0": columns[STRATUM]})
        return self._columns["whole"].packed(codes)

    def _released(
        self, rows: sorting.SortedRows, strata: SwappedStrata, *, with_rows: bool = False
    ) -> Iterator[workers.Columns]:
        """The swapped records in any order: first those of the strata that fit into memory.

        Args:
            rows: all records.
            strata: the strata.
            with_rows: whether those that are selected in two passes have their rows, as all others do.
        """
        ends, done = np.cumsum(strata.sizes), 0
        pieces = list(_pieces(ends, sorting.PIECE))
        small = [piece for piece in pieces if strata.sizes[piece[0]] <= sorting.PIECE]
        large = [first for first, _ in pieces if strata.sizes[first] > sorting.PIECE]
        for swapped in self._in_memory(rows, strata, ends, small):
            done += len(swapped[STRATUM])
            self.run.progress(done, len(rows))
            yield swapped
        for place in large:
            begin = int(ends[place] - strata.sizes[place])
            for swapped in self._in_two_passes(rows, strata, begin, place, with_rows=with_rows):
                done += len(swapped[STRATUM])
                self.run.progress(done, len(rows))
                yield swapped

    def _in_memory(
        self, rows: sorting.SortedRows, strata: SwappedStrata, ends: npt.NDArray[np.int64], pieces: Sequence[tuple[int, int]]
    ) -> Iterator[workers.Columns]:
        """The swapped records of pieces of whole strata."""
        own = None if self.own is None else self.own.rates
        kernel = partial(swap_kernel, rates=self.rates, source=self.draws, how=self.how, own=own)
        under_way: deque[workers.Columns] = deque()

        def parts() -> Iterator[workers.Columns]:
            for first, last in pieces:
                begin = int(ends[first] - strata.sizes[first])
                piece = rows.between(begin, int(ends[last - 1]))
                if not np.array_equal(piece[STRATUM], np.repeat(strata.names[first:last], strata.sizes[first:last])):
                    raise errors.LibraryError("sorted records", "are not sorted", "report it to the authors of the library")
                starts = ends[first:last] - strata.sizes[first:last] - begin
                strata.varied[first:last] = self._varied(piece, starts, strata.sizes[first:last])
                under_way.append(piece)
                yield {name: piece[name] for name in (STRATUM, ROW, *(() if own is None else (KIND,)))}

        for drawn in self.run.workers.map(kernel, parts()):
            piece = under_way.popleft()
            by_row = np.argsort(piece[ROW])
            to, giver = (by_row[np.searchsorted(piece[ROW], drawn[name], sorter=by_row)] for name in ("row", "giver"))
            strata.selected += len(to)
            swapped = {name: piece[name].copy() for name in self._columns["swap"].columns}
            for name, column in swapped.items():
                column[to] = piece[name][giver]
            yield {**piece, **swapped}

    def _varied(
        self, piece: workers.Columns, starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        """Which strata of a piece hold two different records."""
        differs = np.zeros(len(piece[ROW]), dtype=np.bool_)
        for name in (*self._columns["rest"].columns, *self._columns["swap"].columns):
            differs |= piece[name] != np.repeat(piece[name][starts], sizes)
        return np.logical_or.reduceat(differs, starts)

    # -- a stratum larger than a piece -------------------------------------------------------------

    def _in_two_passes(
        self, rows: sorting.SortedRows, strata: SwappedStrata, begin: int, place: int, *, with_rows: bool
    ) -> Iterator[workers.Columns]:
        """The swapped records of a stratum that is larger than a piece."""
        end, name = begin + int(strata.sizes[place]), int(strata.names[place])
        rate = next(rate for rate, having in self.rates.classes(strata.names[place : place + 1]) if having[0])
        first = rows.between(begin, begin + 1)
        for batch in rows.batches(begin, end, ROWS):
            for column in (*self._columns["rest"].columns, *self._columns["swap"].columns):
                strata.varied[place] |= bool((batch[column] != first[column][0]).any())
        own = (None,) if self.own is None else self.own.rates
        selected = tuple(rate if one is None else one for one in own)
        stratum = _Selection(rows=rows, begin=begin, end=end, rates=selected, draws=self.draws)
        if self.how is Algorithm.DERANGE:
            stratum = stratum.redrawn()
        swap, rest = self._columns["swap"].columns, (STRATUM, *self._columns["rest"].columns, *((ROW,) if with_rows else ()))
        ordered = stratum.ordered(self.sorter, swap if self.how is Algorithm.PERMUTE else (*rest, *swap))
        strata.selected += len(ordered)
        if self.how is Algorithm.PERMUTE:
            yield from self._permuted(stratum, ordered)
        else:
            for batch, chosen in stratum.batches():
                yield {column: values[~chosen] for column, values in batch.items()}
            lengths = self.draws.cycles_at(CYCLES, len(ordered), name) if self.how is Algorithm.DERANGE else None
            yield from self._in_pairs(ordered) if lengths is None else self._in_cycles(ordered, lengths)
        ordered.forget()

    def _permuted(self, stratum: _Selection, ordered: sorting.SortedRows) -> Iterator[workers.Columns]:
        done, swap = 0, self._columns["swap"].columns
        for batch, chosen in stratum.batches():
            count = int(np.count_nonzero(chosen))
            given, swapped = ordered.between(done, done + count, swap), {name: batch[name].copy() for name in swap}
            for name, column in swapped.items():
                column[chosen] = given[name]
            done += count
            yield {**batch, **swapped}

    def _in_cycles(self, ordered: sorting.SortedRows, lengths: Sequence[int]) -> Iterator[workers.Columns]:
        ends = np.cumsum(np.asarray(lengths, dtype=np.int64))  # some ln(n) cycles
        swap, count = self._columns["swap"].columns, len(ordered)
        for begin in range(0, count, ROWS):
            end = min(begin + ROWS, count)
            batch, after = ordered.between(begin, end), ordered.between(end, min(end + 1, count), swap)
            swapped = {name: np.append(batch[name][1:], after[name] if len(after[name]) else 0) for name in swap}
            for place in np.flatnonzero((ends > begin) & (ends <= end)):
                opened = int(ends[place]) - lengths[int(place)]
                start = ordered.between(opened, opened + 1, swap)
                for name, column in swapped.items():
                    column[int(ends[place]) - 1 - begin] = start[name][0]
            yield {**batch, **swapped}

    def _in_pairs(self, ordered: sorting.SortedRows) -> Iterator[workers.Columns]:
        swap = self._columns["swap"].columns
        for batch in ordered.batches(0, len(ordered), ROWS):
            places = np.arange(len(batch[STRATUM]))
            partners = np.where(places ^ 1 < len(places), places ^ 1, places)
            yield {**batch, **{name: batch[name][partners] for name in swap}}

    # -- the release -------------------------------------------------------------------------------

    def _tables(self, released: sorting.SortedRows) -> Iterator[Table]:
        """The records of the different rows, each as often as it was counted."""
        whole = self._columns["whole"]
        for rows in released.batches(0, len(released), ROWS):
            ends = np.cumsum(rows[COUNT])
            for begin in range(0, int(ends[-1]), ROWS):
                places = np.searchsorted(ends, np.arange(begin, min(begin + ROWS, int(ends[-1]))), side="right")
                yield Table(attributes=self.attributes, codes=whole.codes({name: rows[name][places] for name in whole.columns}))
        released.forget()


def shuffled(rows: sorting.SortedRows, order: randomness.Randomness, sorter: sorting.Sorter) -> sorting.SortedRows:
    """Rows in the order of `Randomness.permutation`; those that are given are forgotten."""
    while True:
        drawn = ({WORD: order.words(len(batch[ROW])), **batch} for batch in rows.batches(0, len(rows), ROWS))
        found = sorter.sorted(drawn, by=(WORD,))
        if all_differ(found, (WORD,)):
            rows.forget()
            return found
        found.forget()


def _pieces(ends: npt.NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """The strata in a row, cut into pieces of at most so many records; a larger stratum is a piece of its own."""
    first = 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield first, last
        first = last


@attrs.frozen(kw_only=True)
class _Selection:
    """The selection in one stratum.

    Args:
        rows: all records, sorted.
        begin, end: those of the stratum.
        rates: p, or those of which each record has the one of its kind.
        draws: the randomness of this run.
        stream: the stream of the coins.
    """

    rows: sorting.SortedRows
    begin: int
    end: int
    rates: tuple[Fraction, ...]
    draws: randomness.PlacedRandomness
    stream: int = SELECT

    def batches(self) -> Iterator[tuple[workers.Columns, npt.NDArray[np.bool_]]]:
        """The records by row, and which are selected."""
        for batch in self.rows.batches(self.begin, self.end, ROWS):
            yield batch, self._chosen(batch)

    def _chosen(self, batch: workers.Columns) -> npt.NDArray[np.bool_]:
        if len(self.rates) == 1:
            return self.draws.bernoulli_at(self.rates[0], self.stream, batch[ROW])
        chosen = np.zeros(len(batch[ROW]), dtype=np.bool_)
        for place, rate in enumerate(self.rates):
            having = np.flatnonzero(batch[KIND] == place)
            chosen[having] = self.draws.bernoulli_at(rate, self.stream, batch[ROW][having])
        return chosen

    def redrawn(self) -> _Selection:
        """The selection, drawn again as long as it is one record."""
        found = self
        while sum(int(np.count_nonzero(chosen)) for _, chosen in found.batches()) == 1:
            found = attrs.evolve(found, stream=found.stream + 1)
        return found

    def ordered(self, sorter: sorting.Sorter, columns: Sequence[str]) -> sorting.SortedRows:
        """The selected records in a uniform order: that of the words of their rows, with further words where some are equal.

        Args:
            columns: the columns that are wanted of them.
        """
        streams = [KEYS]
        while True:
            words = [f"word{place}" for place in range(len(streams))]
            found = sorter.sorted(self._with_words(dict(zip(words, streams, strict=True)), columns), by=words)
            if all_differ(found, words):
                return found
            found.forget()
            streams.append(randomness.deeper(streams[-1]))

    def _with_words(self, streams: Mapping[str, int], columns: Sequence[str]) -> Iterator[workers.Columns]:
        for batch, chosen in self.batches():
            words = {name: self.draws.words_at(stream, batch[ROW][chosen]) for name, stream in streams.items()}
            selected: dict[str, Any] = {name: batch[name][chosen] for name in columns}
            yield {**words, **selected}


def _digests(batch: Table) -> workers.Columns:
    """The columns of the SHA-256 of the members of each record."""
    digests = b"".join(hashlib.sha256(members).digest() for members in held_members(batch))
    return dict(zip(HELD, np.frombuffer(digests, dtype=np.int64).reshape(-1, len(HELD)).T.copy(), strict=True))


def _alone(part: workers.Columns, columns: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which rows differ from the one before and the one after them."""
    alone = np.ones(len(part[ROW]), dtype=np.bool_)
    changes = changed(part, columns)
    alone[1:] &= changes
    alone[:-1] &= changes
    return alone


def changed(part: workers.Columns, columns: Iterable[str]) -> npt.NDArray[np.bool_]:
    """Which rows but the first one differ from the one before in some of the columns."""
    changes = np.zeros(max(len(next(iter(part.values()))) - 1, 0), dtype=np.bool_)
    for name in columns:
        changes |= part[name][1:] != part[name][:-1]
    return changes


def all_differ(found: sorting.SortedRows, columns: Sequence[str]) -> bool:
    """Whether neighbours differ in some of the columns."""
    parts = (found.between(begin, min(begin + ROWS + 1, len(found)), columns) for begin in range(0, len(found), ROWS))
    return all(changed(part, columns).all() for part in parts)
