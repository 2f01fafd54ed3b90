"""Routes: named formulas by which a printed number is recomputed.

An `[[expect]]` row of a specification file names its route, so that a reader knows which formula a published
epsilon came from, and the tool can tell whether that formula gives the printed value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from dpspec.exact import Bracket
from dpspec.spec import PrivacySpec


class Route(ABC):
    """A formula with its parameters; made with `dpspec.define` and registered under its `name`."""

    name: ClassVar[str]

    @abstractmethod
    def value(self, spec: PrivacySpec) -> Bracket:
        """The number, exactly or in a rigorous bracket; parameters left out are read from the specification."""
