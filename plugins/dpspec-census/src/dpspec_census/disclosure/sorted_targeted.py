"""Targeted swapping of a table that is larger than memory: the same draws as in memory (`targeted.swapped`), in the same order.

Whether a record finds a donor depends on all records that were swapped before. Which words are drawn for it depends on how many
were drawn for these. So the table is not cut into parts. The risky records of a level are taken one after the other, and what is
read of other records is looked up in a file.

1. All records are written down in their order.
2. For each level, the records are sorted by area and risk variables, and the small cells are found. Their records are risky.
3. For each profile, the records are sorted by profile and row. The records of a profile, its pool, are then next to each other.
4. The risky records are sorted by words that are drawn in the order of the rows, which puts them in a uniform order. Each draws
   places in its pools.
5. The pairs are sorted by row, and each record gets the area of its partner.

Held are two bits of each record: whether it is risky, and whether it has been swapped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from dpspec.plugin import Attribute, Table, late_module, sorting, tables, workers
from dpspec_census.sorted_swap import all_differ, changed

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from dpspec.plugin import Randomness
else:
    np = late_module("numpy")

ROWS = 1 << 18
"""Rows that are read at a time."""
TAKEN = 1 << 14
"""Risky records that are read at a time, as numbers of Python."""
BITS = 2
"""Bits that are held of each record."""
ROW, AREA, START, SIZE, WORD, PARTNER, LEVEL = sorting.ROW, "area", "start", "size", "word", "partner", "level"
_SHRUNK = -1
"""Instead of a row, in the last place of a pool: the number next to it is how many records are left."""


class _Bits:
    """One bit for each record.

    Args:
        count: the number of records.
    """

    def __init__(self, count: int) -> None:
        self._bytes = bytearray(count // 8 + 1)
        self._array = np.frombuffer(self._bytes, dtype=np.uint8)

    def __getitem__(self, row: int) -> int:
        return self._bytes[row >> 3] >> (row & 7) & 1

    def add(self, row: int) -> None:
        """Set the bit of a record."""
        self._bytes[row >> 3] |= 1 << (row & 7)

    def add_all(self, rows: npt.NDArray[np.int64]) -> None:
        """Set the bits of several records."""
        np.bitwise_or.at(self._array, rows >> 3, (1 << (rows & 7)).astype(np.uint8))

    def of(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """The bits of several records."""
        return np.asarray(self._array[rows >> 3] >> (rows & 7).astype(np.uint8) & 1, dtype=np.bool_)

    def within(self, begin: int, end: int) -> npt.NDArray[np.int64]:
        """The rows from one to before another one whose bits are set."""
        rows = np.arange(begin, end, dtype=np.int64)
        return rows[self.of(rows)]


@attrs.frozen
class Runs:
    """Some runs of rows that are equal in some columns.

    Args:
        starts: where they begin.
        sizes: their rows.
        varied: whether their rows differ in another column.
    """

    starts: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    varied: npt.NDArray[np.bool_]


def runs_of(rows: sorting.SortedRows, by: Sequence[str], other: str) -> Iterator[Runs]:
    """The runs of rows that are equal in the columns `by`, and whether these differ in another column."""
    opened, varied = 0, False
    for begin in range(0, len(rows), ROWS):
        end, first = min(begin + ROWS, len(rows)), max(begin - 1, 0)
        part = rows.between(first, end, (*by, other))
        starting = changed(part, by)
        starts = np.concatenate([[opened], np.flatnonzero(starting) + first + 1])
        run = np.cumsum(starting)
        differing = np.bincount(run[changed(part, (other,)) & ~starting], minlength=len(starts)) > 0
        differing[0] |= varied
        yield Runs(starts[:-1], np.diff(starts), differing[:-1])
        opened, varied = int(starts[-1]), bool(differing[-1])
    if len(rows):
        yield Runs(np.asarray([opened]), np.asarray([len(rows) - opened]), np.asarray([varied]))


def _inside(
    rows: sorting.SortedRows, runs: Runs, wanted: npt.NDArray[np.bool_]
) -> Iterator[tuple[workers.Columns, npt.NDArray[np.int64]]]:
    """The rows of some runs, and which run each belongs to."""
    places = np.flatnonzero(wanted)
    if not len(places):
        return
    begin, end = int(runs.starts[places[0]]), int(runs.starts[places[-1]] + runs.sizes[places[-1]])
    for first in range(begin, end, ROWS):
        last = min(first + ROWS, end)
        run = np.searchsorted(runs.starts, np.arange(first, last), side="right") - 1
        having = wanted[run]
        yield {name: column[having] for name, column in rows.between(first, last).items()}, run[having]


@attrs.frozen
class _Pools:
    """The records by profile, inside the area of the level above.

    Args:
        members: the rows and areas of all records, pool after pool. The first ones of a pool are those that are left of it.
        of_risky: the pool of each risky record, by row; there is none where all members live in one area.
    """

    members: sorting.PlacedRows
    of_risky: sorting.SortedRows

    def forget(self) -> None:
        """Give back the room that they take."""
        self.members.forget()
        self.of_risky.forget()

    def draw(  # noqa: PLR0917 - a risky record, its pool, and what is drawn from
        self, area: int, start: int, size: int, moved: _Bits, source: Randomness, tries: int
    ) -> int | None:
        """A uniform record of a pool that has not moved and lives in another area; None when there is none."""
        if not size:
            return None
        last, left = self.members.at(start + size - 1)
        held = left if last == _SHRUNK else size
        if not held:
            return None
        for tried in source.below(held, tries).tolist():
            row, other = self.members.at(start + tried)
            if other != area and not moved[row]:
                return row
        held, fitting = self._shrunk(area, start, held, moved)
        if held < size:
            self.members.replace(start + size - 1, {ROW: np.asarray([_SHRUNK]), AREA: np.asarray([held])})
        if not fitting:
            return None
        place = int(source.below(fitting, 1)[0])
        for part in self._parts(start, held):
            rows = part[ROW][part[AREA] != area]
            if place < len(rows):
                return int(rows[place])
            place -= len(rows)
        return None

    def _parts(self, start: int, held: int) -> Iterator[workers.Columns]:
        return (self.members.between(begin, min(begin + ROWS, start + held)) for begin in range(start, start + held, ROWS))

    def _shrunk(self, area: int, start: int, held: int, moved: _Bits) -> tuple[int, int]:
        """Take those that have moved out of a pool; the number of those that are left, and of those in other areas."""
        seen = kept = fitting = 0
        for part in self._parts(start, held):
            still = ~moved.of(part[ROW])
            left = {name: column[still] for name, column in part.items()}
            if kept < seen or not still.all():
                self.members.replace(start + kept, left)
            seen += len(still)
            kept += len(left[ROW])
            fitting += int(np.count_nonzero(left[AREA] != area))
        return kept, fitting


@attrs.frozen(kw_only=True)
class SortedTargetedSwap:
    """One swap of a table that comes in batches.

    Args:
        attributes: the columns of the table.
        levels, risk, k, similar: as of the mechanism.
        run: what is drawn from, and progress.
        sorter: sorts what memory does not hold.
        tries: the records that are drawn from a pool before the fitting ones are listed.
    """

    attributes: tuple[Attribute, ...]
    levels: tuple[str, ...]
    risk: tuple[str, ...]
    k: int
    similar: tuple[tuple[str, ...], ...]
    run: workers.Run
    sorter: sorting.Sorter
    tries: int

    def swap(self, batches: Iterable[Table]) -> Iterator[Table]:
        """The swapped records in their order, in batches that are read once."""
        whole = self._whole
        records = self.sorter.placed((whole.packed(batch.codes) for batch in batches), whole.columns)
        moved, done = _Bits(len(records)), 0
        pairs = self.sorter.sorted(self._pairs(records, moved), by=(ROW,))
        for begin, codes in self._read(records):
            count = len(next(iter(codes.values())))
            found = pairs.between(done, done + len(moved.within(begin, begin + count)))
            done += len(found[ROW])
            partners = np.asarray([records.at(row) for row in found[PARTNER].tolist()], dtype=np.int64)
            given = whole.codes(dict(zip(whole.columns, partners.reshape(-1, len(whole.columns)).T, strict=True)))
            for level, name in enumerate(self.levels):
                moving = found[LEVEL] <= level
                codes[name][found[ROW][moving] - begin] = given[name][moving]
            self.run.progress(begin + count, len(records))
            yield Table(attributes=self.attributes, codes=codes)
        pairs.forget()
        records.forget()

    @property
    def _whole(self) -> sorting.Packing:
        return sorting.Packing(attributes=self.attributes, name="whole")

    def _packing(self, names: Iterable[str], name: str) -> sorting.Packing:
        known = {a.name: a for a in self.attributes}
        return sorting.Packing(attributes=tuple(known[each] for each in dict.fromkeys(names)), name=name)

    def _read(self, records: sorting.PlacedRows) -> Iterator[tuple[int, Mapping[str, tables.Codes]]]:
        """All records in batches, each with the row of its first one; there is one batch at least."""
        for begin in range(0, max(len(records), 1), ROWS):
            yield begin, self._whole.codes(records.between(begin, min(begin + ROWS, len(records))))

    def _pairs(self, records: sorting.PlacedRows, moved: _Bits) -> Iterator[workers.Columns]:
        """Each record that is swapped, with its partner and the level, level after level."""
        yield {name: np.zeros(0, dtype=np.int64) for name in (ROW, PARTNER, LEVEL)}
        for level, area in enumerate(self.levels):
            risky = self._risky(records, level, moved)
            if risky is None:
                continue
            above = self.levels[:level]
            pools = [self._pools(records, (*above, *profile), area, risky) for profile in self.similar]
            ordered = self._ordered(records, area, risky, pools)
            for batch in ordered.batches(0, len(ordered), TAKEN):
                pairs = np.asarray(self._drawn(batch, pools, moved), dtype=np.int64).reshape(-1, 2)
                rows, partners = (np.concatenate([pairs[:, side], pairs[:, 1 - side]]) for side in (0, 1))
                yield {ROW: rows, PARTNER: partners, LEVEL: np.full(len(rows), level, dtype=np.int64)}
            ordered.forget()
            for pool in pools:
                pool.forget()

    def _risky(self, records: sorting.PlacedRows, level: int, moved: _Bits) -> _Bits | None:
        """The records of small cells that have not moved; None where there are none."""
        packing = self._packing((*self.levels[: level + 1], *self.risk), "cell")
        rows = self.sorter.sorted(self._spread(records, packing), by=packing.columns)
        risky, found = _Bits(len(records)), False
        for runs in runs_of(rows, packing.columns, ROW):
            for part, _ in _inside(rows, runs, runs.sizes < self.k):
                small = part[ROW][~moved.of(part[ROW])]
                found |= bool(len(small))
                risky.add_all(small)
        rows.forget()
        return risky if found else None

    def _spread(
        self, records: sorting.PlacedRows, packing: sorting.Packing, area: str | None = None
    ) -> Iterator[workers.Columns]:
        """Some columns of all records, with their rows and, where one is named, their areas."""
        for begin, codes in self._read(records):
            count = len(next(iter(codes.values())))
            areas = {} if area is None else {AREA: codes[area].astype(np.int64)}
            yield {**packing.packed(codes), ROW: np.arange(begin, begin + count, dtype=np.int64), **areas}

    def _pools(self, records: sorting.PlacedRows, names: Iterable[str], area: str, risky: _Bits) -> _Pools:
        """The pools of one profile."""
        packing = self._packing(names, "profile")
        rows = self.sorter.sorted(self._spread(records, packing, area), by=(*packing.columns, ROW))

        def of_risky() -> Iterator[workers.Columns]:
            yield {name: np.zeros(0, dtype=np.int64) for name in (ROW, START, SIZE)}
            for runs in runs_of(rows, packing.columns, AREA):
                for part, run in _inside(rows, runs, runs.varied):
                    having = risky.of(part[ROW])
                    yield {ROW: part[ROW][having], START: runs.starts[run[having]], SIZE: runs.sizes[run[having]]}

        found = self.sorter.sorted(of_risky(), by=(ROW,))
        batches = rows.batches(0, len(rows), ROWS)
        members = self.sorter.placed(({ROW: batch[ROW], AREA: batch[AREA]} for batch in batches), (ROW, AREA))
        rows.forget()
        return _Pools(members, found)

    def _ordered(
        self, records: sorting.PlacedRows, area: str, risky: _Bits, pools: Sequence[_Pools]
    ) -> sorting.SortedRows:
        """The risky records with their pools, in the order of `Randomness.permutation`."""
        while True:
            found = self.sorter.sorted(self._listed(records, area, risky, pools), by=(WORD,))
            if all_differ(found, (WORD,)):
                return found
            found.forget()

    def _listed(
        self, records: sorting.PlacedRows, area: str, risky: _Bits, pools: Sequence[_Pools]
    ) -> Iterator[workers.Columns]:
        """The risky records by row, with what they are ordered by, their areas and pools."""
        done = [0] * len(pools)
        for begin, codes in self._read(records):
            rows = risky.within(begin, begin + len(codes[area]))
            columns = {WORD: self.run.source.words(len(rows)), ROW: rows, AREA: codes[area][rows - begin].astype(np.int64)}
            for place, pool in enumerate(pools):
                part = pool.of_risky.between(done[place], min(done[place] + len(rows), len(pool.of_risky)))
                count = int(np.searchsorted(part[ROW], begin + len(codes[area])))
                done[place] += count
                having = np.searchsorted(rows, part[ROW][:count])
                for name in (START, SIZE):
                    columns[f"{name}{place}"] = column = np.zeros(len(rows), dtype=np.int64)
                    column[having] = part[name][:count]
            yield columns

    def _drawn(self, risky: workers.Columns, pools: Sequence[_Pools], moved: _Bits) -> list[tuple[int, int]]:
        """The pairs of some risky records, in their order."""
        found, source = [], self.run.source
        begins = zip(*(risky[f"{START}{place}"].tolist() for place in range(len(pools))), strict=True)
        sizes = zip(*(risky[f"{SIZE}{place}"].tolist() for place in range(len(pools))), strict=True)
        for row, area, starts, counts in zip(risky[ROW].tolist(), risky[AREA].tolist(), begins, sizes, strict=True):
            if moved[row]:
                continue
            for pool, start, size in zip(pools, starts, counts, strict=True):
                donor = pool.draw(area, start, size, moved, source, self.tries)
                if donor is not None:
                    moved.add(row)
                    moved.add(donor)
                    found.append((row, donor))
                    break
        return found
