"""Engines: what runs the kernels of a mechanism over the parts of a large table.

A *kernel* is a pure function of one part, and a part is a mapping of equally long numpy columns that holds whole strata (or
whole parent nodes). All that is random in a kernel is drawn by place from a keyed source inside it, so a part that is run
twice, or on another machine, gives the same columns: an engine may cut, move, lose and repeat parts as it likes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy.typing as npt

Columns = Mapping[str, npt.NDArray[Any]]
Kernel = Callable[[Columns], Columns]


class Engine(ABC):
    """Runs a kernel over parts; registered under its `name`."""

    name: ClassVar[str]

    @property
    def parts(self) -> int:
        """Into how many parts a mechanism should cut its work at least."""
        return 1

    @abstractmethod
    def map(self, kernel: Kernel, parts: Iterable[Columns]) -> Iterator[Columns]:
        """The kernel's result for each part, in the order of the parts.

        Args:
            kernel: picklable: a function of a module, or `functools.partial` of one.
        """

    def close(self) -> None:
        """Give back what the engine holds: processes, connections. Called once, when the release is drawn or has failed."""
        return


class Embedded(Engine):
    """The default: one part after the other, in this process."""

    name: ClassVar[str] = "embedded"

    def map(self, kernel: Kernel, parts: Iterable[Columns]) -> Iterator[Columns]:
        return map(kernel, parts)
