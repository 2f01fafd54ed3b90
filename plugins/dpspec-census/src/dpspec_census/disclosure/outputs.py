"""What a release can be, as an invariant, and what is true of mechanisms whose releases are few (B-T10).

    c(x) = supp P_x,  the set of the outputs that the mechanism can give on x

For a finite law the multiplicative divergence of P_x and P_x' is finite exactly when c(x) = c(x'). So the level sets of c are the
coarsest universes of invariants in which the mechanism has a finite constant for each pair; for a deterministic mechanism they
are the level sets of its output, and the constant is 0.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Annotated, ClassVar

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.households import MEMBERS
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.multiverse import LevelSets, Multiverse, Trivial
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.errors import IncompatibleBlocksError, ReleaseError
from dpspec.exact import INFINITY, Number, number
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.law import Law
from dpspec.mechanism import Claim, Mechanism, ReleaseInvariants
from dpspec.params import Registered, Text, define, did_you_mean
from dpspec.spec import PrivacySpec
from dpspec_census.disclosure.errors import EmptyTableError

if TYPE_CHECKING:
    from dpspec.table import Table


TRIED = 3
"""A space is refused for the law of one of its first datasets; that of a later one is looked at when it is asked for."""


@define
class PossibleOutputs(Invariant):
    """The outputs that a mechanism can give on a dataset: the support of its law.

    Args:
        mechanism: a mechanism with finite laws.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> from dpspec_noise import RandomisedResponse
    >>> possible = PossibleOutputs(mechanism=RandomisedResponse(keep_probability="3/4"))
    >>> possible.value((0,), BitVectors(length=1)) == possible.value((1,), BitVectors(length=1))
    True
    """

    name: ClassVar[str] = "possible-outputs"

    mechanism: Annotated[Mechanism, Registered("mechanisms")]

    def check(self, space: DatasetSpace) -> None:
        self.mechanism.check(space)
        for dataset in itertools.islice(space.datasets(), TRIED):
            self.value(dataset, space)

    def value(self, dataset: Dataset, space: DatasetSpace) -> Hashable:
        """The support in the order of its text; raises IncompatibleBlocksError for a law that is not finite."""
        law = self.mechanism.law(dataset, space)
        if not isinstance(law, FiniteLaw):
            raise IncompatibleBlocksError(f"invariant {self.name}", f"{self.mechanism.name} has no finite laws")
        return tuple(sorted(law.support, key=repr))

    def __str__(self) -> str:
        return f"what {self.mechanism.name} can publish"

    @classmethod
    def examples(cls) -> Iterable[tuple[PossibleOutputs, DatasetSpace]]:
        """What the conformance kit checks it with."""
        sex = Attribute(name="sex", categories=("f", "m"))
        counted = ReleaseInvariants(invariants=(Marginal(attributes=("sex",)),))
        yield cls(mechanism=counted), UnorderedRecords(attributes=(sex,), most=3)


@define
class DisclosureControl(Mechanism):
    """A mechanism of statistical disclosure control on the records of one unit.

    Args:
        unit: the unit that one record is.
    """

    unit: Annotated[str, Text()] = "person"

    def attributes(self, space: DatasetSpace) -> tuple[Attribute, ...]:
        """The attributes of a record of the unit, without the composition of a household: persons are a file of their own."""
        return tuple(a for a in space.attributes_of(self.unit) if a.name != MEMBERS)

    def attribute(self, name: str, space: DatasetSpace) -> Attribute:
        """One attribute of the unit; raises IncompatibleBlocksError for what is none."""
        known = {a.name: a for a in self.attributes(space)}
        if name not in known:
            rule = f"is unknown to the space {space.name}"
            raise IncompatibleBlocksError(f"{self.unit} attribute", rule, did_you_mean(name, known), value=name)
        return known[name]

    def rows_of(self, table: Table, space: DatasetSpace) -> Table:
        """The table as it was given, when it has a row for each record of the unit.

        Raises:
            EmptyTableError: a table without records.
            ReleaseError: the rows are records of something else.
        """
        if {a.name for a in table.attributes} != {a.name for a in self.attributes(space)}:
            rule = f"does not have the attributes of a {self.unit} as its columns"
            raise ReleaseError("table", rule, "give one row for each", value=[a.name for a in table.attributes])
        if not len(table):
            raise EmptyTableError("table", "has no records", "give a table with at least one row")
        return table

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """B-T10: no finite budget in the one universe of all datasets, where some output gives two datasets away."""
        return (self.claim("no finite budget in one universe", "B-T10 (2)", Trivial(), INFINITY, space),)

    def claim(self, label: str, source: str, multiverse: Multiverse, epsilon: Number, space: DatasetSpace) -> Claim:
        """A claim of pure differential privacy, per record replaced."""
        from dpspec_divergences import Hamming, Mult

        spec = PrivacySpec(
            space=space,
            multiverse=multiverse,
            input_divergence=Hamming(unit=self.unit),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=epsilon),
        )
        return Claim(label=label, source=source, spec=spec)

    def own_universes(self) -> LevelSets:
        """The datasets with the same possible outputs, by the outputs."""
        return LevelSets(invariants=(PossibleOutputs(mechanism=self),))


class Deterministic(DisclosureControl):
    """A mechanism without randomness: its output is an invariant, with budget 0 in the level sets of it (B-T10)."""

    @abstractmethod
    def output(self, dataset: Dataset, space: DatasetSpace) -> Hashable:
        """T(x), for a dataset in its canonical form."""

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """The law of a certain outcome."""
        self.check(space)
        return FiniteLaw.point(self.output(space.dataset(dataset), space))

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """B-T10: budget 0 in the level sets of the output, and no finite one in the one universe of all datasets."""
        zero = self.claim("its output is an invariant", "B-T10 (1)", self.own_universes(), number(0), space)
        return zero, *super().claims(space)


def small_space(most: int | None = None) -> UnorderedRecords:
    """A space with two attributes of two categories, on which the mechanisms are shown.

    >>> small_space(most=3).cardinality()
    35
    """
    region, age = Attribute(name="region", categories=("north", "south")), Attribute(name="age", categories=("old", "young"))
    return UnorderedRecords(attributes=(region, age), most=most)
