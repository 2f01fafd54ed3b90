"""Hypotheses about the number of records, which a structure carries as data and each wrapper establishes anew or refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from dpspec.base.errors import NoFormulaError
from dpspec.laws.law import Law

if TYPE_CHECKING:
    from dpspec.laws.dichotomy import Dichotomy


@attrs.frozen(kw_only=True)
class SizedLaw(Law):
    """A law in a case of a view that is valid only where the view reads a stated number of records of every dataset.

    It compares with nothing: the verifier uses the law inside where the numbers are established, and rejects the proof otherwise.
    So a wrapper that returns the cases of a view unchanged, and ignores numbers of records, proves nothing.

    Args:
        law: the law.
        least, most: at least and at most so many records are read, the one that changes included; None for no bound.
    """

    law: Law
    least: int = 0
    most: int | None = None

    def against(self, other: Law) -> Dichotomy:
        rule = f"is compared only where they are established: {self.in_words()}"
        raise NoFormulaError("a law that holds for some numbers of records", rule)

    def in_words(self) -> str:
        """The numbers, for people."""
        bounds = [f"at least {self.least:,}"] if self.least else []
        bounds += [] if self.most is None else [f"at most {self.most:,}"]
        return " and ".join(bounds or ["any number of"]) + " records"


class NoStructure(Exception):
    """Raised by `Mechanism.structure` where a mechanism has none, with the reason; what applies the mechanism has none either."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
