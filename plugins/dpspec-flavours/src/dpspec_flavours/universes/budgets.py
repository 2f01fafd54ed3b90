"""Budgets that depend on a part of the universe's label: its stratum, its person, the value of its record (B-S13)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Annotated, ClassVar

from dpspec.blocks.budget import Budget
from dpspec.blocks.multiverse import Universe
from dpspec.blocks.space import DatasetSpace, Record
from dpspec.errors import NotInUniverseError, ParameterError
from dpspec.exact import Number, ln, number
from dpspec.params import Data, Exact, Integer, Items, Nested, Rational, Text, define, did_you_mean


class _OfPart(Budget):
    """Shared by the budgets that look at one entry of the label."""

    place: int

    def part(self, universe: Universe) -> Hashable:
        """The entry of the label that matters."""
        label = universe.label
        if not isinstance(label, tuple) or len(label) <= self.place:
            rule = f"needs labels with an entry number {self.place} (counted from 0)"
            raise NotInUniverseError(f"budget {self.name}", rule, "choose another place", value=label)
        found: Hashable = label[self.place]
        return found


@define
class PartBudget:
    """The budget of one part.

    Args:
        part: the entry of the label: a stratum, a position, a record.
        value: the budget; infinity asks for nothing.
    """

    part: Annotated[Hashable, Data()]
    value: Annotated[Number, Exact(0)]


@define
class ByPart(_OfPart):
    """A number for each value of one entry of the universe's label: eps_D = table[label of D [place]].

    The core's table ``[[budget.universe]]`` names whole labels, which is enough for a few universes; here all universes
    with the same stratum, person or record share a number.

    Args:
        parameter: which number it is, such as epsilon.
        values: rows (part, budget).
        otherwise: the budget of every part that is not listed; without it all of them must be.
        place: which entry of the label is looked up; 0, the first, is the part in strata, one-position and one-record.

    >>> budget = ByPart(parameter="epsilon", values=({"part": "north", "value": 1}, {"part": "south", "value": 2}))
    >>> str(budget.at(Universe(label=("south", ()), datasets=()), None))
    '2'
    """

    name: ClassVar[str] = "by-part"

    parameter: Annotated[str, Text()]
    values: Annotated[tuple[PartBudget, ...], Items(Nested(PartBudget), least=1)]
    otherwise: Annotated[Number, Exact(0)] | None = None
    place: Annotated[int, Integer(0)] = 0

    def __attrs_post_init__(self) -> None:
        parts = [row.part for row in self.values]
        if len(set(parts)) != len(parts):
            raise ParameterError("values", "name a part twice", "give each part one budget")

    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        part = self.part(universe)
        for row in self.values:
            if row.part == part:
                return row.value
        if self.otherwise is None:
            raise NotInUniverseError(f"budget {self.name}", "has no entry for this part", "add one, or `otherwise`", value=part)
        return self.otherwise

    def __str__(self) -> str:
        return f"{self.parameter} for each of {len(self.values)} parts"

    @classmethod
    def examples(cls) -> Iterable[ByPart]:
        """What the conformance kit checks it with."""
        yield cls(parameter="epsilon", values=(PartBudget(part="north", value=ln(2)), PartBudget(part=0, value=number(1))))
        yield cls(parameter="rho", values=(PartBudget(part=("f",), value=number(1)),), otherwise=number(2), place=1)


@define
class ByValue(_OfPart):
    """A policy function of the record: eps_D = base + rate x (the numeric value of one attribute of the record).

    The record is an entry of the label, as in one-record. Large records are protected less, which is what noise of one scale
    on a sum does.

    Args:
        parameter: which number it is.
        attribute: the attribute of the record, whose categories are written as rational numbers of at least 0.
        base: the budget of the value 0.
        rate: how much is added per unit of the value.
        unit: what the record is.
        place: which entry of the label is the record.
    """

    name: ClassVar[str] = "by-value"

    parameter: Annotated[str, Text()]
    attribute: Annotated[str, Text()]
    base: Annotated[Number, Exact(0, "inf", open_high=True)] = number(0)
    rate: Annotated[Number, Exact(0, "inf", open_high=True)]
    unit: Annotated[str, Text()] = "person"
    place: Annotated[int, Integer(0)] = 0

    def at(self, universe: Universe, space: DatasetSpace) -> Number:
        return self.base + self.rate * self._value(self.part(universe), space)

    def _value(self, record: Hashable, space: DatasetSpace) -> Fraction:
        names = [attribute.name for attribute in space.attributes_of(self.unit)]
        if self.attribute not in names:
            advice = did_you_mean(self.attribute, names)
            raise NotInUniverseError(f"budget {self.name}", f"is no attribute of a {self.unit}", advice, value=self.attribute)
        if not isinstance(record, tuple) or len(record) != len(names):
            rule = f"needs labels whose entry {self.place} is a record"
            raise NotInUniverseError(f"budget {self.name}", rule, "use the multiverse one-record", value=record)
        read: Record = record
        return Rational(0).read(read[names.index(self.attribute)], f"budget {self.name}, {self.attribute}")

    def __str__(self) -> str:
        return f"{self.parameter} = {self.base} + {self.rate} x {self.attribute}"

    @classmethod
    def examples(cls) -> Iterable[ByValue]:
        """What the conformance kit checks it with."""
        yield cls(parameter="epsilon", attribute="size", rate=ln(2))
