"""How two laws of different kinds are compared: each is cut into parts, the parts into common cells.

A law is a mixture of simple parts, and each part is one of four kinds: finitely many atoms; a location law on the
integers; a location law on the line; or atoms that can only be listed up to a small remainder (products and images of
infinite laws). Atoms and the line are mutually singular, so cells of different kinds never meet.
"""

from __future__ import annotations

import enum
import itertools
from abc import abstractmethod
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import ClassVar

from flint import arb

from dpspec.errors import NoRouteError
from dpspec.exact import ball
from dpspec.laws.atoms import IDENTICAL
from dpspec.laws.balls import Cell, Cells
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.law import Law
from dpspec.laws.sandwich import Sandwich

Outcome = Hashable

_PROBE = 8
"""The precision at which a law is asked whether it can list its atoms."""


class Kind(enum.Enum):
    """How the outcomes of a simple law lie."""

    ATOMS = "finitely many atoms"
    INTEGERS = "a location law on the integers"
    LINE = "a location law on the line"
    LISTED = "atoms that are listed up to a remainder"


class KnownLaw(Law):
    """A law that the general route understands; a third party subclasses `AtomicLaw`, or `Law` to bring its own route."""

    @abstractmethod
    def parts(self) -> Parts:
        """The law as a mixture of simple laws with positive weights."""

    def closed_against(self, other: Law) -> Dichotomy | None:
        """The pair with another law when it is known in closed form."""
        return None

    def against(self, other: Law) -> Dichotomy:
        if self == other:
            return IDENTICAL
        closed = self.closed_against(other)
        if closed is not None:
            return closed
        if not isinstance(other, KnownLaw):
            return other.against(self).reverse()
        mirrored = other.closed_against(self)
        return mirrored.reverse() if mirrored is not None else general(self, other)


class SimpleLaw(KnownLaw):
    """A law of one kind."""

    kind: ClassVar[Kind]

    def parts(self) -> Parts:
        return ((Fraction(1), self),)


class AtomicLaw(SimpleLaw):
    """A law on countably many outcomes.

    A subclass says which outcomes matter and encloses the mass of each; that is all the general route needs.
    """

    kind: ClassVar[Kind] = Kind.LISTED

    @abstractmethod
    def window(self, precision: int) -> Sequence[Outcome]:
        """Finitely many outcomes that hold all but about 2^-precision of the mass."""

    @abstractmethod
    def mass(self, outcome: Outcome, precision: int) -> arb:
        """A ball around P(outcome), exactly 0 where that is known."""


Parts = tuple[tuple[Fraction, SimpleLaw], ...]


def general(p: KnownLaw, q: KnownLaw) -> Dichotomy:
    """The sandwich of two laws over their common cells."""
    from dpspec.laws.tails import LocationSandwich

    p_parts, q_parts = p.parts(), q.parts()
    kinds = {part.kind for _, part in p_parts + q_parts}
    if Kind.LISTED not in kinds:
        return LocationSandwich.of_parts(p_parts, q_parts)
    if Kind.LINE in kinds:
        raise NoRouteError(
            f"{type(p).__name__} against {type(q).__name__}",
            "mixes a law on the line with one that is only listed atom by atom",
            "compare laws of one kind, or products of the same shape factor by factor",
        )
    for _, part in p_parts + q_parts:
        # Cells are computed when they are asked for; that a part cannot be listed must be noticed now.
        atomic(part).window(_PROBE)
    return Sandwich.of(lambda precision: listed_cells(p_parts, q_parts, precision))


def listed_cells(p_parts: Parts, q_parts: Parts, precision: int) -> Cells:
    """One cell for every listed outcome, and one for all the others."""
    outcomes = dict.fromkeys(itertools.chain.from_iterable(atomic(part).window(precision) for _, part in p_parts + q_parts))
    cells = [Cell.atom(_mass(p_parts, outcome, precision), _mass(q_parts, outcome, precision)) for outcome in outcomes]
    p_rest = _rest(p_parts, [cell.p for cell in cells])
    q_rest = _rest(q_parts, [cell.q for cell in cells])
    return (*cells, Cell.lump(p_rest, q_rest))


def _mass(parts: Parts, outcome: Outcome, precision: int) -> arb:
    return sum((ball(weight) * atomic(part).mass(outcome, precision) for weight, part in parts), arb(0))


def _rest(parts: Parts, masses: Sequence[arb]) -> arb:
    """What the listed outcomes leave over: nothing, exactly, for finite laws."""
    if all(part.kind is Kind.ATOMS for _, part in parts):
        return arb(0)
    return (1 - sum(masses, arb(0))).max(arb(0))


def atomic(part: Law) -> AtomicLaw:
    """The law as one that lists its atoms."""
    if not isinstance(part, AtomicLaw):
        raise NoRouteError(type(part).__name__, "has no atoms", "compare it with a law on the line")
    return part
