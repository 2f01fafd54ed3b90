"""Sorting more rows than memory holds: a library does it, and what does not fit lies in files meanwhile.

Rows are columns of 64-bit integers. `Packing` turns records into such columns, in whose order the records are sorted as tuples of
codes. What sorts draws nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from dpspec.base.lazy import late_module
from dpspec.blocks.space import Attribute
from dpspec.grammar.table_counts import domain_of
from dpspec.grammar.tables import Codes, Table, compact, signed
from dpspec.grammar.workers import Columns

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = late_module("numpy")


PIECE = 1 << 19
"""Records that a mechanism that sorts holds for each part that is under way, about."""
_UNPACKED = 1 << 20
"""Records that are unpacked at a time, so that intermediate columns stay small."""


class SortedRows(ABC):
    """Rows in ascending order, outside of memory."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of rows."""

    @abstractmethod
    def between(self, begin: int, end: int, columns: Sequence[str] = ()) -> Columns:
        """The rows from one place to before another one, in memory.

        Args:
            columns: the columns that are wanted; () for all.
        """

    @abstractmethod
    def forget(self) -> None:
        """Give back the room that the rows take; they cannot be read any more."""

    def batches(self, begin: int, end: int, size: int) -> Iterator[Columns]:
        """The same, `size` rows at a time."""
        return (self.between(first, min(first + size, end)) for first in range(begin, end, size))


class PlacedRows(ABC):
    """Rows outside of memory in the order in which they were written down, of which any can be read, and replaced."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of rows."""

    @abstractmethod
    def at(self, place: int) -> tuple[int, ...]:
        """One row."""

    @abstractmethod
    def between(self, begin: int, end: int) -> Columns:
        """The rows from one place to before another one, in memory."""

    @abstractmethod
    def replace(self, begin: int, rows: Columns) -> None:
        """Write other rows over those from one place on, as many as they are."""

    @abstractmethod
    def forget(self) -> None:
        """Give back the room that the rows take; they cannot be read any more."""


class Sorter(ABC):
    """Sorts rows that come in batches; memory does not hold all of them."""

    @abstractmethod
    def sorted(self, rows: Iterable[Columns], by: Sequence[str]) -> SortedRows:
        """All rows, in ascending order of some columns; the order of rows that are equal there is not determined.

        Args:
            rows: batches of equally long columns of 64-bit integers, always the same columns.
            by: the columns, the most significant one first.
        """

    @abstractmethod
    def counted(self, rows: Iterable[Columns], count: str) -> SortedRows:
        """The different rows in ascending order of all their columns, with the number of each in a column `count`."""

    @abstractmethod
    def placed(self, rows: Iterable[Columns], columns: Sequence[str]) -> PlacedRows:
        """All rows in the order in which they come.

        Args:
            rows: batches of equally long columns of signed 64-bit integers.
            columns: the names of the columns.
        """


@attrs.frozen(kw_only=True)
class Packing:
    """Records of some attributes as few columns of integers, in whose order the records are ordered as tuples of codes.

    Args:
        attributes: the attributes, the most significant one first.
        name: what the names of the columns begin with.

    >>> age, sex = Attribute(name="age", count=100), Attribute(name="sex", categories=("f", "m"))
    >>> packing = Packing(attributes=(age, sex), name="key")
    >>> packed = packing.packed({"age": np.array([7, 8]), "sex": np.array([1, 0])})
    >>> {name: column.tolist() for name, column in packed.items()}
    {'key0': [15, 16]}
    >>> {name: codes.tolist() for name, codes in packing.codes(packed).items()}
    {'age': [7, 8], 'sex': [1, 0]}
    """

    attributes: tuple[Attribute, ...]
    name: str

    def groups(self) -> tuple[tuple[Attribute, ...], ...]:
        """The attributes of each column, whose combinations 63 bits can number."""
        groups: list[tuple[Attribute, ...]] = []
        for attribute in self.attributes:
            if groups and domain_of((*groups[-1], attribute)) < 1 << 63:
                groups[-1] += (attribute,)
            else:
                groups.append((attribute,))
        return tuple(groups)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, the most significant one first; none without attributes."""
        return tuple(f"{self.name}{place}" for place in range(len(self.groups())))

    def packed(self, codes: Mapping[str, Codes]) -> dict[str, Any]:
        """The columns of some records."""
        found = {}
        for name, group in zip(self.columns, self.groups(), strict=True):
            key = codes[group[0].name].astype(np.int64)
            for attribute in group[1:]:
                key *= attribute.size
                key += signed(codes[attribute.name])
            found[name] = key
        return found

    def codes(self, columns: Columns) -> dict[str, Codes]:
        """The codes of the records of some columns."""
        found: dict[str, Codes] = {}
        for name, group in zip(self.columns, self.groups(), strict=True):
            packed = columns[name]
            found |= {a.name: np.empty(len(packed), dtype=compact((), a.size).dtype) for a in group}
            for begin in range(0, len(packed), _UNPACKED):
                part = slice(begin, begin + _UNPACKED)
                keys = packed[part]
                for attribute in reversed(group[1:]):
                    rest = keys // attribute.size  # numpy divides by one number without a division for each; divmod does not
                    found[attribute.name][part] = keys - rest * attribute.size
                    keys = rest
                found[group[0].name][part] = keys
        return found


def ranks(attribute: Attribute, codes: Codes, key: Callable[[str], Any] = str) -> npt.NDArray[np.int64]:
    """The rank of the category of each record, in the order of what a key makes of the categories.

    Args:
        attribute: whose categories they are.
        codes: the categories of the records, by number.
        key: by default their texts.

    >>> ranks(Attribute(name="age", categories=("9", "10")), np.array([0, 1, 0])).tolist()
    [1, 0, 1]
    """
    used = np.arange(attribute.size) if attribute.size <= len(codes) else np.unique(codes)
    in_order = sorted(range(len(used)), key=lambda place: key(attribute.category(int(used[place]))))
    return np.argsort(np.array(in_order, dtype=np.int64))[np.searchsorted(used, codes)]


def sorted_records(table: Table, key: Callable[[str], Any] | None = None) -> Table:
    """The records of a table without members in the order of their attributes, so that nothing is left of the order they had.

    Args:
        table: the records.
        key: what the categories are ordered by; by default their numbers.

    >>> table = Table.from_records([("10",), ("9",)], (Attribute(name="age", categories=("9", "10")),))
    >>> list(sorted_records(table).records()), list(sorted_records(table, key=str).records())
    ([('9',), ('10',)], [('10',), ('9',)])
    """
    whole = Packing(attributes=table.attributes, name="key")
    if key is None and len(whole.columns) == 1:
        keys = whole.packed(table.codes)
        for column in keys.values():
            column.sort()
        return Table(attributes=table.attributes, codes=whole.codes(keys))
    numbers = [table.codes[a.name] if key is None else ranks(a, table.codes[a.name], key) for a in table.attributes]
    order = np.lexsort(numbers[::-1])
    return Table(attributes=table.attributes, codes={name: codes[order] for name, codes in table.codes.items()})


def memory_of_piece(attributes: Sequence[Attribute]) -> int:
    """The bytes that a piece of records takes: its columns of integers, before and after, and what a kernel makes of them."""
    columns = 1 + len(Packing(attributes=tuple(attributes), name="key").columns)
    return PIECE * (80 + 24 * columns)


@attrs.frozen(kw_only=True)
class SortedRelease:
    """A released table that comes in batches, and what is said of it.

    Args:
        attributes: its columns.
        batches: its records; they are read once.
        report: as of `workers.Output`.
        confidential: the same.
    """

    attributes: tuple[Attribute, ...]
    batches: Iterable[Table]
    report: Mapping[str, Any] = attrs.field(factory=dict)
    confidential: Mapping[str, Any] = attrs.field(factory=dict)


ROW = "row"
"""The column of the row that a record has in the table that was read."""


@attrs.frozen(kw_only=True)
class SortedHouseholds:
    """Released records whose members follow them, in the order of the release.

    Args:
        attributes: their columns.
        packing: how they are written down.
        rows: the records: the columns of the packing, and `ROW`.
        report: as of `workers.Output`.
        confidential: the same.
    """

    attributes: tuple[Attribute, ...]
    packing: Packing
    rows: SortedRows
    report: Mapping[str, Any] = attrs.field(factory=dict)
    confidential: Mapping[str, Any] = attrs.field(factory=dict)
