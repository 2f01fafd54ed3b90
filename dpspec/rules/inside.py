"""Distances that bound each other only inside a universe, because the invariants fix how many records there are (B-X7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, ClassVar

from dpspec.blocks.determination import determines
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Record
from dpspec.errors import DpspecError
from dpspec.params import define
from dpspec.rule import Rule, Step
from dpspec.rules.scaling import rescaled
from dpspec.spec import PrivacySpec


class InsideUniverse(DatasetSpace):
    """A space as two datasets of one universe see it: it fixes the number of every unit whose total the invariants determine."""

    name: ClassVar[str] = "inside-universe"

    def __init__(self, space: DatasetSpace, invariants: tuple[Invariant, ...]) -> None:
        self.whole, self.invariants = space, invariants
        self.is_ordered = space.is_ordered  # type: ignore[misc]  # as in the space itself

    def fixes_size(self, unit: str) -> bool:
        return self.whole.fixes_size(unit) or _fixes(self.invariants, unit, self.whole)

    @property
    def units(self) -> tuple[str, ...]:
        return self.whole.units

    def dataset(self, value: Any) -> Dataset:
        return self.whole.dataset(value)

    def datasets(self) -> Iterator[Dataset]:
        return self.whole.datasets()

    def cardinality(self) -> int | None:
        return self.whole.cardinality()

    def magnitude(self, dataset: Dataset) -> int:
        return self.whole.magnitude(dataset)

    def attributes_of(self, unit: str) -> tuple[Attribute, ...]:
        return self.whole.attributes_of(unit)

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        return self.whole.records(dataset, unit)

    def is_told_by(self, unit: str) -> bool:
        return self.whole.is_told_by(unit)

    def most_within(self, inner: str, outer: str) -> int | None:
        return self.whole.most_within(inner, outer)

    def most_changed(self, unit: str, per: str) -> int | None:
        return self.whole.most_changed(unit, per)


@lru_cache(maxsize=256)
def _fixes(invariants: tuple[Invariant, ...], unit: str, space: DatasetSpace) -> bool:
    total = Marginal(unit=unit, attributes=())
    try:
        return determines(invariants, (total,), space).answer is True
    except DpspecError:  # a space without records of attributes
        return False


def fixed_units(spec: PrivacySpec) -> tuple[str, ...]:
    """The units whose number is the same in all datasets of a universe."""
    invariants = spec.multiverse.invariants
    if not invariants:
        return tuple(unit for unit in spec.space.units if spec.space.fixes_size(unit))
    inside = InsideUniverse(spec.space, invariants)
    return tuple(unit for unit in spec.space.units if inside.fixes_size(unit))


@define
class DominationInside(Rule):
    """d <= c d' for all pairs of one universe, though not on the whole space, since the invariants fix numbers of records.

    With |x| = |x'| the unordered Hamming distance is half the symmetric difference, and a household replaced changes at most as
    many persons as the largest household has: neither is true of datasets of different size, which no universe holds.
    """

    name: ClassVar[str] = "domination-inside-universes"
    citation: ClassVar[str] = "B-D4, B-S1, B-X7"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "constant inside": "d <= c d' for all datasets that share a universe",
        "fixed numbers": "the invariants determine the numbers of records that the constant needs, and stay",
        "rescaled": "the new budget is at least c times the old one in every universe",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        smaller, larger, invariants = premise.input_divergence, goal.input_divergence, premise.multiverse.invariants
        if smaller == larger or premise.space != goal.space or not invariants:
            return
        inside = InsideUniverse(premise.space, invariants)
        known = smaller.bounded_by(larger, inside) or larger.bounds(smaller, inside)
        budget = (
            None if known is None else rescaled(premise.budget, premise.output_divergence, premise.output_divergence, known[0])
        )
        if known is None or budget is None:
            return
        yield Step(
            rule=self.name,
            block="input divergence",
            before=premise,
            after=premise.replace(input_divergence=larger, budget=budget),
            reason=f"{known[1]}; inside each universe, whose invariants fix the number of {smaller.counted_unit()}s",
            citation=self.citation,
            parameters={"constant": str(known[0])},
        )
