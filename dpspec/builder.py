"""Builders of public tables: microdata made on demand from printed figures, so that no big file has to be shipped."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from dpspec.table import Table


class TableBuilder(ABC):
    """Builds one public table; made with `dpspec.define` and registered under its `name`."""

    name: ClassVar[str]

    @abstractmethod
    def build(self) -> Table:
        """The table."""
