"""How a mechanism is made of the records of a dataset, so that its constant follows on spaces that nobody can list.

The output of such a mechanism is a collection of independent *views* of the records of one unit, and perhaps something that is
computed from them and from facts read from the data:

    T(x) = (t, f(t, c(x))),   t_1, t_2, ... independent, the law of t_i a function of the records through the cells of view i.

When a dataset changes by one record, only the cells that the record leaves or enters change. So the laws of two datasets
differ in the few answers of those cells, and all others cancel. A mechanism states its structure in `Mechanism.structure`;
what follows from it is proved by the verifier, and tried against the law that the mechanism states.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

import attrs

from dpspec.blocks.invariant import Invariant, Marginal

if TYPE_CHECKING:
    from dpspec.laws.law import Law

LawPair = tuple["Law", "Law"]
"""The laws of one independent part of the output, before a change and after it."""


class CellMove(enum.Enum):
    """What a view sees of a change of one record."""

    NOTHING = "nothing"
    """The record stays in its cell, or outside all cells."""
    LOST = "lost"
    """The record leaves a cell, and enters none."""
    GAINED = "gained"
    """The record enters a cell, and left none."""
    MOVED = "moved"
    """The record leaves one cell and enters another."""


class View(ABC):
    """One independent part of the output, which reads the records of a unit through the cells of a table.

    A plugin that makes its output otherwise than `NoisyCount` and `Report` writes a view of its own.
    """

    table: Marginal
    """The cells: combinations of attributes of the unit, of the records that meet the conditions."""

    by_record: bool = False
    """True when each record is answered for on its own, so that positions matter and not the counts alone."""

    @abstractmethod
    def changed(self, seen: CellMove) -> tuple[LawPair, ...] | None:
        """The laws of the answers that change, before and after; None where such a change changes the kind of output.

        They may not depend on which cells they are, nor on what else is in the dataset: up to a common bijection of the
        outcomes, each pair is the same for all of them.
        """

    @abstractmethod
    def between(self, before: Sequence[Hashable], after: Sequence[Hashable]) -> tuple[LawPair, ...] | None:
        """The laws of the answers that differ between two datasets; None where the two have different kinds of output.

        Args:
            before, after: for each record of the one and the other dataset the cell it lies in, None outside all of them.
        """


@attrs.frozen
class NoisyCount(View):
    """t = n + W for every cell of a table, n the number of records in it, W independent.

    Args:
        table: the cells.
        noise: the law of an answer whose true value is n. It is a location family, the law of n + W for one law of W; the
            divergence of two answers depends on the difference of their counts only.
    """

    table: Marginal
    noise: Callable[[int], Law]

    def changed(self, seen: CellMove) -> tuple[LawPair, ...]:
        lost, gained = (self.noise(1), self.noise(0)), (self.noise(0), self.noise(1))
        return {CellMove.NOTHING: (), CellMove.LOST: (lost,), CellMove.GAINED: (gained,), CellMove.MOVED: (lost, gained)}[seen]

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable]) -> tuple[LawPair, ...]:
        ours, theirs = Counter(before), Counter(after)
        cells = [cell for cell in {**ours, **theirs} if cell is not None and ours[cell] != theirs[cell]]
        return tuple((self.noise(ours[cell]), self.noise(theirs[cell])) for cell in cells)


@attrs.frozen
class Report(View):
    """Every record is answered for by itself, with a law R(v) of its cell v; positions are kept.

    Args:
        table: the cells v, such that every record lies in one.
        laws: R(v) and R(w) for two different cells. They may be any two: a symmetry of the cells carries each pair of
            different cells to every other.
    """

    table: Marginal
    laws: LawPair
    by_record: bool = True

    def changed(self, seen: CellMove) -> tuple[LawPair, ...] | None:
        return {CellMove.NOTHING: (), CellMove.MOVED: (self.laws,), CellMove.LOST: None, CellMove.GAINED: None}[seen]

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable]) -> tuple[LawPair, ...] | None:
        if len(before) != len(after) or None in (*before, *after):
            return None
        return tuple(self.laws for ours, theirs in zip(before, after, strict=True) if ours != theirs)


@attrs.frozen(kw_only=True)
class Structure:
    """How an output is made.

    Args:
        views: its independent parts t.
        reads: facts c(x) that what is computed from t also reads; () when nothing is.
        publishes_views: whether t itself is part of the output. If not, the views bound the output from above only.
    """

    views: tuple[View, ...]
    reads: tuple[Invariant, ...] = ()
    publishes_views: bool = True
