"""A sorter that holds all rows, for tests of mechanisms that sort."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dpspec.grammar.sorting import SortedRows, Sorter
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
        self.made: list[MemoryRows] = []

    def sorted(self, rows: Iterable[Columns], by: Sequence[str]) -> MemoryRows:
        columns = _joined(rows)
        mixed = self._random.permutation(len(columns[by[0]]))
        order = mixed[np.lexsort([columns[name][mixed] for name in reversed(by)])]
        self.made.append(MemoryRows({name: column[order] for name, column in columns.items()}))
        return self.made[-1]

    def counted(self, rows: Iterable[Columns], count: str) -> MemoryRows:
        columns = _joined(rows)
        different, counts = np.unique(np.stack(list(columns.values())), axis=1, return_counts=True)
        self.made.append(MemoryRows({**dict(zip(columns, different, strict=True)), count: counts}))
        return self.made[-1]


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
