"""Builders of public tables: microdata made on demand from printed figures, so that no big file has to be shipped."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from dpspec.blocks.space import Attribute
    from dpspec.table import Table

SEED = 1940
"""The seed of tables for which none is given: they are public, and with a seed they come out the same again."""

BATCH = 1 << 20
"""Records that are made at a time."""


class TableBuilder(ABC):
    """Builds one public table; made with `dpspec.define` and registered under its `name`."""

    name: ClassVar[str]

    @abstractmethod
    def build(self) -> Table:
        """The table."""

    def sized(self) -> SizedBuilder | None:
        """The builder as one of any size; None when its table has one size only."""
        return None


class SizedBuilder(TableBuilder):
    """Builds a public table of any size, batch by batch, so that it need not fit into memory.

    The same number of rows and the same seed give the same records.
    """

    own_size: ClassVar[int]
    """How many records there are when nobody says."""

    source: ClassVar[str]
    """Where its margins are printed, and what is made up."""

    attributes: ClassVar[tuple[Attribute, ...]]
    """The columns."""

    @abstractmethod
    def batches(self, rows: int, seed: int = SEED) -> Iterator[Table]:
        """A table of so many records, at most `BATCH` at a time."""

    def build(self) -> Table:
        from dpspec.table import joined

        return joined(self.attributes, self.batches(self.own_size))

    def sized(self) -> SizedBuilder:
        return self


def pieces(rows: int) -> Iterator[range]:
    """The places of all records, batch by batch.

    >>> [(piece.start, piece.stop) for piece in pieces(BATCH + 5)]
    [(0, 1048576), (1048576, 1048581)]
    """
    return (range(start, min(start + BATCH, rows)) for start in range(0, rows, BATCH))
