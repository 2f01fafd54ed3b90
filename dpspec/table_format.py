"""Formats of table files: how columns of categories lie on disk. What is read is judged by `dpspec.reading`, not here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from dpspec.blocks.space import Attribute
    from dpspec.table import Table


@attrs.frozen(kw_only=True, eq=False)
class Coded:
    """A piece of a column.

    Args:
        codes: the place of each value among the categories of its attribute; -1 for a stranger.
        strangers: the values behind the -1, in order; None for a missing one.
    """

    codes: npt.NDArray[np.integer[Any]]
    strangers: Sequence[str | None]


class TableFormat(ABC):
    """One file format for tables, registered under its `name`; `suffixes` are the endings of its files."""

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]

    @abstractmethod
    def header(self, path: Path) -> tuple[str, ...]:
        """The names of the columns.

        Raises:
            TableError: the file cannot be read in this format.
        """

    @abstractmethod
    def batches(self, path: Path, attributes: Sequence[Attribute]) -> Iterator[Mapping[str, Coded]]:
        """The columns of these attributes, some million rows at a time, in the order of the file."""

    @abstractmethod
    def identifiers(self, path: Path, column: str) -> npt.NDArray[Any]:
        """A column of record identifiers: integers or texts, none missing.

        Raises:
            TableError: one is missing.
        """

    @abstractmethod
    def write(self, table: Table, path: Path, notes: Mapping[str, str]) -> None:
        """Write the table; the caller makes the write whole-or-nothing.

        Args:
            notes: what the file should say about itself, where the format has a place for it.
        """

    def write_batches(self, attributes: tuple[Attribute, ...], batches: Iterable[Table], path: Path) -> None:
        """Write a table that comes in batches; a format that can write as it goes does so, and needs no room for all of it.

        Args:
            attributes: the columns of every batch.
        """
        from dpspec.table import joined

        self.write(joined(attributes, batches), path, {})
