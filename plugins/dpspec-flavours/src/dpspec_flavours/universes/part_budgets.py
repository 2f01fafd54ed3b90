"""Budgets and flavours by part: each pair, stratum, record value or person has a number of its own (Bailie, Gong, Meng and
Drechsler 2024).

The part is read from the label of the universe: its stratum, its person, the value of its record.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Annotated, ClassVar

from dpspec_divergences import HammingOrdered, Mult, SymmetricDifference
from dpspec_noise import Geometric, RandomisedResponse

from dpspec.plugin import (
    Attribute,
    BitVectors,
    Budget,
    Dataset,
    DatasetSpace,
    Exact,
    Example,
    Flavour,
    IncompatibleBlocksError,
    Integer,
    Items,
    LinearMap,
    Marginal,
    Mechanism,
    Multiverse,
    Nested,
    Number,
    ParameterError,
    PrivacySpec,
    Rational,
    Text,
    Trivial,
    UnorderedRecords,
    blocks,
    define,
    errors,
    is_a,
    ln,
    number,
    params,
)
from dpspec_flavours.universes.around_dataset import SUM, firms
from dpspec_flavours.universes.neighbourhoods import AgreeOutside, Instance, OnePosition, OneRecord, Strata, WithAndWithout

MOST_LISTED = 500
"""Datasets whose universes are listed to know their parts: a file is read in milliseconds then."""
NAMED = 10
"""Parts that a message names."""
_NO_ENTRY, _ADD_ONE = "has no entry for this part", "add one, or `otherwise`"


class _OfPart(Budget):
    """Shared by the budgets that look at one entry of the label."""

    place: int

    def part(self, universe: blocks.Universe) -> Hashable:
        """The entry of the label that matters."""
        label = universe.label
        if not isinstance(label, tuple) or len(label) <= self.place:
            rule = f"needs labels with an entry number {self.place} (counted from 0)"
            advice = "choose another place, or universes that are named by their parts, such as strata"
            raise errors.NotInUniverseError(f"budget {self.name}", rule, advice, value=label)
        found: Hashable = label[self.place]
        return found

    def _parts(self, multiverse: Multiverse, space: DatasetSpace) -> Sequence[Hashable]:
        """The parts of all universes; empty where they are not listed.

        Raises:
            NotInUniverseError: a label has no such entry.
        """
        if self.place == 0 and isinstance(multiverse, AgreeOutside):
            return multiverse.all_parts(space) or ()
        size = blocks.listing_size(space)
        datasets: Iterable[Dataset] = ((),) if is_a(multiverse, Trivial) else space.datasets()  # the one label reads no dataset
        if not is_a(multiverse, Trivial) and (size is None or size > MOST_LISTED):
            return ()
        labels = dict.fromkeys(label for dataset in datasets for label in multiverse.labels(dataset, space))
        return tuple(dict.fromkeys(self.part(blocks.Universe(label=label, datasets=())) for label in labels))


@define
class PartBudget:
    """The budget of one part.

    Args:
        part: the entry of the label: a stratum, a position, a record.
        value: the budget; infinity is no constraint.
    """

    part: Annotated[Hashable, params.Data()]
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
    >>> str(budget.at(blocks.Universe(label=("south", ()), datasets=()), None))
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

    def check_universes(self, multiverse: Multiverse, space: DatasetSpace) -> None:
        """With `otherwise`, a misspelt part would silently have the budget of all others; without it, a part may have none."""
        known = self._parts(multiverse, space)
        parts = known if isinstance(known, range) else frozenset(known)
        for row in self.values if known else ():
            if row.part not in parts:
                named = ", ".join(map(str, known[:NAMED])) + (f" and {len(known) - NAMED} more" if len(known) > NAMED else "")
                rule = "names a part that no universe has"
                raise IncompatibleBlocksError(f"budget {self.name}", rule, f"the parts are {named}", value=row.part)
        given = {row.part for row in self.values}
        lacking = next((part for part in known if part not in given), None) if self.otherwise is None else None
        if lacking is not None and (blocks.listing_size(space) or MOST_LISTED + 1) <= MOST_LISTED:
            needed = (self.part(universe) for universe in Multiverse.universes(multiverse, space) if len(universe) > 1)
            lacking = next((part for part in needed if part not in given), None)  # of one dataset nothing is promised
        if lacking is not None:
            raise IncompatibleBlocksError(f"budget {self.name}", _NO_ENTRY, _ADD_ONE, value=lacking)

    def at(self, universe: blocks.Universe, space: DatasetSpace) -> Number:
        part = self.part(universe)
        for row in self.values:
            if row.part == part:
                return row.value
        if self.otherwise is None:
            raise errors.NotInUniverseError(f"budget {self.name}", _NO_ENTRY, _ADD_ONE, value=part)
        return self.otherwise

    def least(self) -> Number | None:
        """The smallest of all parts, where those that are not listed have one."""
        return None if self.otherwise is None else min(self.otherwise, *(row.value for row in self.values))

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

    def check_universes(self, multiverse: Multiverse, space: DatasetSpace) -> None:
        """The entry of a label may be no record, and a category no number."""
        for part in self._parts(multiverse, space)[:MOST_LISTED]:
            self._value(part, space)

    def at(self, universe: blocks.Universe, space: DatasetSpace) -> Number:
        return self.base + self.rate * self._value(self.part(universe), space)

    def least(self) -> Number:
        """The budget of the value 0: no value is below it."""
        return self.base

    def _value(self, record: Hashable, space: DatasetSpace) -> Fraction:
        names = [attribute.name for attribute in space.attributes_of(self.unit)]
        if self.attribute not in names:
            advice = params.did_you_mean(self.attribute, names)
            raise errors.NotInUniverseError(
                f"budget {self.name}", f"is no attribute of a {self.unit}", advice, value=self.attribute
            )
        place = names.index(self.attribute)
        # an invariant may have as many values as a record has attributes; these are no categories
        if not isinstance(record, tuple) or len(record) != len(names) or not isinstance(record[place], str):
            rule = f"needs labels whose entry {self.place} is a record"
            raise errors.NotInUniverseError(f"budget {self.name}", rule, "use the multiverse one-record", value=record)
        return Rational(0).read(record[place], f"budget {self.name}, {self.attribute}")

    def __str__(self) -> str:
        return f"{self.parameter} = {self.base} + {self.rate} x {self.attribute}"

    @classmethod
    def examples(cls) -> Iterable[ByValue]:
        """What the conformance kit checks it with."""
        yield cls(parameter="epsilon", attribute="size", rate=ln(2))


# --- the flavours ---------------------------------------------------------------------------------


HALF = Fraction(1, 2)


def _noisy(query: LinearMap | Marginal, ratio: Fraction, unit: str) -> Mechanism:
    return Geometric(queries=(query,), ratio=ratio, unit=unit)


class PerInstanceDP(Flavour):
    """Per-instance differential privacy: e^-epsilon P_x(S) <= P_xz(S) <= e^epsilon P_x(S), epsilon = epsilon(x, z), for one pair.

    The pair is a dataset x and x with one record z added; each listed pair has its own budget.

    >>> from dpspec import verify
    >>> flavour = PerInstanceDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "per-instance-dp"
    title: ClassVar[str] = "Per-instance differential privacy: one dataset with and without one record, a budget for each pair"
    citation: ClassVar[str] = "Wang, Journal of Privacy and Confidentiality 2019 (first 2018)"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("multiverse", "budget")

    def spec(self) -> PrivacySpec:
        dataset = (("1",),)
        pairs = (Instance(dataset=dataset, record=("1",)), Instance(dataset=dataset, record=("4",)))
        return PrivacySpec(
            space=firms("1", "4"),
            multiverse=WithAndWithout(pairs=pairs),
            input_divergence=SymmetricDifference(unit="firm"),
            output_divergence=Mult(),
            budget=blocks.BudgetTable(parameter="epsilon", values=(((("1",), dataset), ln(2)), ((("4",), dataset), ln(16)))),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="a sum of sizes with two-sided geometric noise of ratio 1/2",
            mechanism=_noisy(SUM, HALF, "firm"),
            because="a record of size s moves the sum by s and costs s ln 2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the number of firms, with noise for the larger of the two budgets",
            mechanism=_noisy(LinearMap(rows=((1, 1),), label="number of firms"), Fraction(1, 16), "firm"),
            because="in a count the small record costs as much as the large one, ln 16 instead of ln 2",
        )


def _regions() -> UnorderedRecords:
    """At most two people, each in a region and ill or not."""
    region = Attribute(name="region", categories=("north", "south"))
    return UnorderedRecords(attributes=(region, Attribute(name="ill", categories=("no", "yes"))), most=2)


class StratifiedDP(Flavour):
    """Stratified differential privacy: P_x(S) <= e^(epsilon_s d(x, x')) P_x'(S) for x, x' that agree outside the stratum s.

    Bun et al. (2022), who are cited for the name, analyse what sampling by strata does to ordinary differential privacy; a
    budget for each stratum is the reading filed here, and no publication is known to us that states it.

    >>> from dpspec import verify
    >>> flavour = StratifiedDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "stratified-dp"
    title: ClassVar[str] = "Stratified differential privacy: a budget for each stratum"
    citation: ClassVar[str] = (
        "no publication known to us defines it; strata as in Bun, Drechsler, Gaboardi, McMillan and Sarathy, FORC 2022"
    )
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("multiverse", "budget")

    def spec(self) -> PrivacySpec:
        budgets = (PartBudget(part="north", value=ln(2)), PartBudget(part="south", value=ln(4)))
        return PrivacySpec(
            space=_regions(),
            multiverse=Strata(attribute="region"),
            input_divergence=SymmetricDifference(),
            output_divergence=Mult(),
            budget=ByPart(parameter="epsilon", values=budgets),
        )

    def satisfied_by(self) -> Example:
        ill = LinearMap(rows=((0, 1, 0, 0), (0, 0, 0, 2)), label="ill people, those of the south counted twice")
        return Example(
            title="the ill people of each stratum, those of the south with half the noise",
            mechanism=_noisy(ill, HALF, "person"),
            because="one person moves the northern count by 1 and costs ln 2, or the southern one by 2 and costs 2 ln 2",
        )

    def broken_by(self) -> Example:
        ill = Marginal(attributes=("region",), where=(("ill", ("yes",)),))
        return Example(
            title="the ill people of each stratum with the noise of the more generous budget",
            mechanism=_noisy(ill, Fraction(1, 4), "person"),
            because="the largest budget of the strata is not the budget of each: a person of the north costs ln 4",
        )


class PerRecordDP(Flavour):
    """Per-record differential privacy: P_x(S) <= e^(epsilon(r)) P_x'(S) where x and x' differ by one record of the value r.

    The policy epsilon(r) = s ln 2 for a firm of size s protects large firms less than small ones.

    >>> from dpspec import verify
    >>> flavour = PerRecordDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "per-record-dp"
    title: ClassVar[str] = "Per-record differential privacy: the budget is a function of the record's value"
    citation: ClassVar[str] = "Seeman, Sexton, Pujol and Machanavajjhala, 2023"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("multiverse", "budget")

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=firms("1", "4"),
            multiverse=OneRecord(),
            input_divergence=SymmetricDifference(unit="firm"),
            output_divergence=Mult(),
            budget=ByValue(parameter="epsilon", attribute="size", rate=ln(2), unit="firm"),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="a sum of sizes with two-sided geometric noise of ratio 1/2",
            mechanism=_noisy(SUM, HALF, "firm"),
            because="a firm of size s moves the sum by s, as if it were split into s firms of size 1",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the number of firms with noise for the average size, 5/2",
            mechanism=_noisy(LinearMap(rows=((1, 1),), label="number of firms"), Fraction(1, 5), "firm"),
            because="a policy bounds each record and not their average: a firm of size 1 may cost ln 2 and costs ln 5",
        )


class PersonalisedBudgets(Flavour):
    """Personalised privacy with a budget for each person: P_x(S) <= e^(epsilon_i) P_x'(S) where only person i changes.

    For pure privacy it is the same promise as one number under the distance that weighs person i with epsilon_i.

    >>> from dpspec import verify
    >>> flavour = PersonalisedBudgets()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "personalised-budgets"
    title: ClassVar[str] = "Personalised differential privacy, written with a budget for each person"
    citation: ClassVar[str] = "Jorgensen, Yu and Cormode, ICDE 2015"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("multiverse", "budget")

    def spec(self) -> PrivacySpec:
        budgets = (PartBudget(part=0, value=ln(2)), PartBudget(part=1, value=ln(4)))
        return PrivacySpec(
            space=BitVectors(length=2),
            multiverse=OnePosition(),
            input_divergence=HammingOrdered(),
            output_divergence=Mult(),
            budget=ByPart(parameter="epsilon", values=budgets),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="a weighted sum with two-sided geometric noise of ratio 1/2",
            mechanism=_noisy(LinearMap(rows=((1, 2),), label="sum with the second person counted twice"), HALF, "person"),
            because="the first person moves the sum by 1, the second by 2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response for all with the average budget",
            mechanism=RandomisedResponse(keep_probability=Fraction(3, 4)),
            because="ln 3 is more than the cautious person agreed to, ln 2",
        )
