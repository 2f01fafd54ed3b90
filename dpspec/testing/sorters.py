"""A sorter that holds all rows, for tests of mechanisms that sort."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dpspec.grammar.sorting import PlacedRows, SortedRows, Sorter
from dpspec.grammar.workers import Columns


class MemorySorter(Sorter):
    """Sorts in memory. The order of equal rows, which is not determined, is random.

    Args:
        seed: of that order.

    >>> rows = MemorySorter().sorted([{"a": np.array([3, 1])}, {"a": np.array([2])}], by=["a"])
    >>> rows.between(0, 2)["a"].tolist()
    [1, 2]
    """

    def __init__(self, seed: int = 1) -> None:
        self._random = np.random.default_rng(seed)
        self.made: list[Any] = []

    def sorted(self, rows: Iterable[Columns], by: Sequence[str]) -> MemoryRows:
        columns = _joined(rows)
        mixed = self._random.permutation(len(columns[by[0]]))
        order = mixed[np.lexsort([columns[name][mixed] for name in reversed(by)])]
        found = MemoryRows({name: column[order] for name, column in columns.items()})
        self.made.append(found)
        return found

    def counted(self, rows: Iterable[Columns], count: str) -> MemoryRows:
        columns = _joined(rows)
        different, counts = np.unique(np.stack(list(columns.values())), axis=1, return_counts=True)
        found = MemoryRows({**dict(zip(columns, different, strict=True)), count: counts})
        self.made.append(found)
        return found

    def placed(self, rows: Iterable[Columns], columns: Sequence[str]) -> MemoryPlaces:
        batches = [{name: np.zeros(0, dtype=np.int64) for name in columns}, *rows]
        found = MemoryPlaces({name: np.concatenate([batch[name] for batch in batches]) for name in columns})
        self.made.append(found)
        return found


def _joined(rows: Iterable[Columns]) -> Columns:
    batches = list(rows)
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


class MemoryRows(SortedRows):
    """Sorted rows in memory.

    Args:
        columns: the rows.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns, self.forgotten = columns, False

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def between(self, begin: int, end: int, columns: Sequence[str] = ()) -> Columns:
        if self.forgotten or not 0 <= begin <= end <= len(self):
            raise ValueError(f"rows {begin} to {end} of {len(self)}{', which were forgotten' if self.forgotten else ''}")
        return {name: column[begin:end] for name, column in self._columns.items() if not columns or name in columns}

    def forget(self) -> None:
        self.forgotten = True


class MemoryPlaces(PlacedRows):
    """Rows in memory, in the order in which they came.

    Args:
        columns: the rows.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns, self.forgotten = dict(columns), False

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def at(self, place: int) -> tuple[int, ...]:
        return tuple(int(column[0]) for column in self.between(place, place + 1).values())

    def between(self, begin: int, end: int) -> Columns:
        if self.forgotten or not 0 <= begin <= end <= len(self):
            raise ValueError(f"rows {begin} to {end} of {len(self)}{', which were forgotten' if self.forgotten else ''}")
        return {name: column[begin:end].copy() for name, column in self._columns.items()}

    def replace(self, begin: int, rows: Columns) -> None:
        for name, column in rows.items():
            if begin + len(column) > len(self):
                raise ValueError(f"rows {begin} to {begin + len(column)} of {len(self)}")
            self._columns[name][begin : begin + len(column)] = column

    def forget(self) -> None:
        self.forgotten = True
