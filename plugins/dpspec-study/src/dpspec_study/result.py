"""The result of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from dpspec_study.recommendation import StudiedDesign, ranked, recommendation

if TYPE_CHECKING:
    from dpspec_disclosure.tradeoff import Tradeoff

    from dpspec_study.question import Question


@attrs.frozen(kw_only=True)
class Margins:
    """The margins of error of a design that follow from a law; None where there is no law.

    Args:
        design: its name.
        margin, margin_of_all: at the level 95 %, of one number and of all at once, as the upper end; None where not known.
        reason: why none is known.
    """

    design: str
    margin: str | None = None
    margin_of_all: str | None = None
    reason: str = ""


@attrs.frozen(kw_only=True)
class Study:
    """The result of a study.

    Args:
        table: the name of the table, and its number of records.
        question: the question, in the names of the attributes.
        cells: the number of cells of the table of counts.
        designs: the designs that were compared.
        frontier: risk and error of each, over its parameter.
        margins: of each design.
        determined: for a swap: records that its exact tables determine, those that are undecided, and all; None where not known.
        warnings: what the draft says about itself.
        steps: each step with its command.
        folder: where the study is written.
    """

    table: tuple[str, int]
    question: Question
    cells: int
    designs: tuple[StudiedDesign, ...]
    frontier: Tradeoff
    margins: tuple[Margins, ...]
    determined: tuple[int, int, int] | None
    warnings: tuple[str, ...]
    steps: tuple[tuple[str, str], ...]
    folder: str

    @property
    def recommendation(self) -> tuple[str, ...]:
        """The first five lines of the report."""
        return recommendation(self.designs, self.question, self.determined)

    @property
    def best(self) -> StudiedDesign | None:
        """The design that is recommended."""
        return next(iter(ranked(self.designs, self.question.risk)), None)

    @property
    def exit_code(self) -> int:
        """0 where a design is recommended, else 3."""
        return 3 if self.best is None else 0
