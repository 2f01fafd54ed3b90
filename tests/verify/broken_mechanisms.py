"""A stranger's plugin with broken mechanisms: the structure that each states is not that of its law.

Next to each is a false claim that a proof would verify if it relied on the structure alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar

from dpspec_divergences import (
    AddRemove,
    DNor,
    Hamming,
    HammingOrdered,
    Mult,
    MultDelta,
    Neighbour,
    SymmetricDifference,
    TotalVariation,
)

from dpspec.plugin import (
    Attribute,
    FiniteLaw,
    IncompatibleBlocksError,
    LevelSets,
    Marginal,
    Mechanism,
    OrderedRecords,
    PrivacySpec,
    Register,
    Trivial,
    UniformBudget,
    UnorderedRecords,
    blocks,
    define,
    grammar,
    hookimpl,
    laws,
)

DPSPEC_API = 1

Households, NoisyCount, Report, Structure = blocks.Households, grammar.NoisyCount, grammar.Report, grammar.Structure
TwoSidedGeometricLaw, product = laws.TwoSidedGeometricLaw, laws.product

SEX = Attribute(name="sex", categories=("f", "m"))
AGE = Attribute(name="age", count=90)
PEOPLE = UnorderedRecords(attributes=(SEX, AGE))
BY_SEX = Marginal(attributes=("sex",))
HALF = Fraction(1, 2)


def noise(center: int) -> Any:
    return TwoSidedGeometricLaw.with_ratio(center, HALF)


def refuse(condition: bool, wanted: str) -> None:
    if condition:
        raise IncompatibleBlocksError("mechanism", f"is about {wanted}")


def claim(
    distance: Any = None, epsilon: Any = "ln(2)", fixed: tuple[Any, ...] = (), space: Any = PEOPLE, output: Any = None,
    parameter: str = "epsilon",
) -> PrivacySpec:  # fmt: skip
    return PrivacySpec(
        space=space,
        multiverse=LevelSets(invariants=fixed) if fixed else Trivial(),
        input_divergence=distance or SymmetricDifference(),
        output_divergence=output or Mult(),
        budget=UniformBudget(parameter=parameter, value=epsilon),
    )


class Noisy(Mechanism):
    """What the mechanisms here share: noisy counts by sex, in the structure and in the law, and examples for the conformance
    tests with as many records and attributes as show the fault."""

    def check(self, space: Any) -> None:
        for attribute in ("sex", "age"):
            Marginal(attributes=(attribute,)).check(space)

    @classmethod
    def examples(cls) -> Iterator[Any]:
        yield cls(), UnorderedRecords(attributes=(SEX, Attribute(name="age", count=1)), most=7)
        yield cls(), UnorderedRecords(attributes=(SEX, Attribute(name="age", count=2)), most=2)

    def counts(self, dataset: Any, space: Any) -> list[Any]:
        return [noise(answer) for answer in BY_SEX.answers(space.dataset(dataset), space)]

    def structure_of_counts(self) -> Structure:
        return Structure(views=(NoisyCount(BY_SEX, noise),))


@define
class Correct(Noisy):
    """Noisy counts by sex."""

    name: ClassVar[str] = "test-correct"

    def law(self, dataset: Any, space: Any) -> Any:
        return product(self.counts(dataset, space))

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


@define
class WithNumber(Noisy):
    """Noisy counts, and the exact number of records, which the structure does not mention."""

    name: ClassVar[str] = "test-with-number"

    def law(self, dataset: Any, space: Any) -> Any:
        return product([*self.counts(dataset, space), FiniteLaw.point(len(space.records(dataset, "person")))])

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


@define
class WithOldest(Noisy):
    """Noisy counts, and whether anyone is of age 0: an attribute that the structure does not read."""

    name: ClassVar[str] = "test-with-oldest"

    def law(self, dataset: Any, space: Any) -> Any:
        ages = {record[1] for record in space.records(dataset, "person")}
        return product([*self.counts(dataset, space), FiniteLaw.point("0" in ages)])

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


@define
class WithParity(Noisy):
    """Noisy counts, and noise without which the number of records could not be even: only seen next to others."""

    name: ClassVar[str] = "test-with-parity"

    def law(self, dataset: Any, space: Any) -> Any:
        number = len(space.records(dataset, "person"))
        return product([*self.counts(dataset, space), FiniteLaw.point(number >= 2)])

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


@define
class LessNoise(Noisy):
    """The noise becomes smaller with each record: the law of one record depends on the others."""

    name: ClassVar[str] = "test-less-noise"

    def law(self, dataset: Any, space: Any) -> Any:
        number = len(space.records(dataset, "person"))
        answers = BY_SEX.answers(space.dataset(dataset), space)
        return product([TwoSidedGeometricLaw.with_ratio(answer, HALF ** (1 + (number > 3))) for answer in answers])

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


@define
class OtherKind(Noisy):
    """A text in place of the counts of an empty table: another kind of output."""

    name: ClassVar[str] = "test-other-kind"

    def law(self, dataset: Any, space: Any) -> Any:
        return product(self.counts(dataset, space)) if space.records(dataset, "person") else FiniteLaw.point("no data")

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


@define
class CountedTwice(Noisy):
    """Each man counts twice in the law, and once in the structure."""

    name: ClassVar[str] = "test-counted-twice"

    def law(self, dataset: Any, space: Any) -> Any:
        women, men = BY_SEX.answers(space.dataset(dataset), space)
        return product([noise(women), noise(2 * men)])

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


@define
class WithSecondPerson(Noisy):
    """Noisy counts, and whether the second record of a list is a man."""

    name: ClassVar[str] = "test-with-second-person"

    def check(self, space: Any) -> None:
        refuse(not space.is_ordered, "lists")

    @classmethod
    def examples(cls) -> Iterator[Any]:
        yield cls(), OrderedRecords(attributes=(SEX,), most=2)

    def law(self, dataset: Any, space: Any) -> Any:
        records = space.records(dataset, "person")
        return product([*self.counts(dataset, space), FiniteLaw.point(records[1:2] and records[1][0] == "m")])

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


@define
class WithLargest(Mechanism):
    """A noisy number of persons, and whether a household has two persons or more."""

    name: ClassVar[str] = "test-with-largest"

    def check(self, space: Any) -> None:
        refuse(len(space.units) != 2, "households")

    @classmethod
    def examples(cls) -> Iterator[Any]:
        block = Attribute(name="block", categories=("a",))
        yield cls(), Households(household=(block,), person=(SEX,), most=1, members=2)

    def law(self, dataset: Any, space: Any) -> Any:
        persons = len(space.records(dataset, "person"))
        members = [members for _, members in space.dataset(dataset)]
        return product([noise(persons), FiniteLaw.point(any(len(each) > 1 for each in members))])

    def structure(self, space: Any) -> Structure:
        return Structure(views=(NoisyCount(Marginal(attributes=()), noise),))


@define
class WrongReport(Mechanism):
    """Each person reports: young and middle-aged persons in the same way, old ones the truth."""

    name: ClassVar[str] = "test-wrong-report"

    def check(self, space: Any) -> None:
        refuse(AGES not in space.attributes_of("person"), "the three ages")

    @classmethod
    def examples(cls) -> Iterator[Any]:
        yield cls(), OrderedRecords(attributes=(AGES,), most=2)

    _laws: ClassVar[dict[str, Any]] = {
        "young": FiniteLaw.of({0: "2/3", 1: "1/3"}), "middle": FiniteLaw.of({0: "1/3", 1: "2/3"}), "old": FiniteLaw.point(1),
    }  # fmt: skip

    def law(self, dataset: Any, space: Any) -> Any:
        return FiniteLaw.product([self._laws[record[0]] for record in space.records(dataset, "person")])

    def structure(self, space: Any) -> Structure:
        return Structure(views=(Report(Marginal(attributes=("age",)), (self._laws["young"], self._laws["middle"])),))


@define
class Rounded(Noisy):
    """Something computed from the counts and from an exact number, which the structure does not read."""

    name: ClassVar[str] = "test-rounded"

    def law(self, dataset: Any, space: Any) -> Any:
        women = noise(BY_SEX.answers(space.dataset(dataset), space)[0])
        return product([women, FiniteLaw.point(min(3, len(space.records(dataset, "person"))))])

    def structure(self, space: Any) -> Structure:
        return Structure(views=(NoisyCount(BY_SEX, noise),), publishes_views=False)


@define
class FromSixOn(Noisy):
    """The exact number of records of tables with six and more: never seen on four records."""

    name: ClassVar[str] = "test-from-six-on"

    def law(self, dataset: Any, space: Any) -> Any:
        number = len(space.records(dataset, "person"))
        return product([*self.counts(dataset, space), FiniteLaw.point(max(5, number))])

    def structure(self, space: Any) -> Structure:
        return self.structure_of_counts()


@define
class ManyCategories(Noisy):
    """Another structure for a space of many categories, which a reduced space has not."""

    name: ClassVar[str] = "test-many-categories"

    @classmethod
    def examples(cls) -> Iterator[Any]:
        yield cls(), UnorderedRecords(attributes=(SEX, Attribute(name="age", count=51)), most=1)

    def law(self, dataset: Any, space: Any) -> Any:
        return product([*self.counts(dataset, space), noise(len(space.records(dataset, "person")))])

    def structure(self, space: Any) -> Structure:
        views = (NoisyCount(BY_SEX, noise), NoisyCount(Marginal(attributes=()), noise))
        return Structure(views=views[:1] if space.attributes_of("person")[1].size > 50 else views)


AGES = Attribute(name="age", categories=("young", "middle", "old"))
LISTS = OrderedRecords(attributes=(SEX, AGE))
HOMES = Households(household=(Attribute(name="block", count=500),), person=(SEX,))
OF_TWO = Households(household=(Attribute(name="block", count=500),), person=(SEX,), members=2)

BROKEN = [
    (WithNumber(), claim()),
    (WithNumber(), claim(epsilon="ln(4)")),
    (WithNumber(), claim(Neighbour(relation=AddRemove()))),
    (WithNumber(), claim(output=MultDelta(delta="1/1000"), distance=Neighbour(relation=AddRemove()))),
    (WithNumber(), claim(output=DNor(), parameter="rho")),
    (WithNumber(), claim(output=TotalVariation(), parameter="distance", epsilon="1/3")),
    (WithNumber(), claim(space=UnorderedRecords(attributes=(SEX, AGE), least=1000))),
    (WithOldest(), claim(Hamming(), "ln(4)")),
    (WithOldest(), claim(Hamming(), "ln(4)", fixed=(Marginal(attributes=()),))),
    (WithParity(), claim()),
    (LessNoise(), claim()),
    (OtherKind(), claim()),
    (CountedTwice(), claim()),
    (WithSecondPerson(), claim(Hamming(), "ln(4)", space=LISTS)),
    (WithLargest(), claim(space=HOMES)),
    (WithLargest(), claim(SymmetricDifference(unit="household"), "ln(4)", space=OF_TWO)),
    (WrongReport(), claim(HammingOrdered(), space=OrderedRecords(attributes=(AGES,)))),
    (Rounded(), claim()),
    (FromSixOn(), claim()),
    (FromSixOn(), claim(Neighbour(relation=AddRemove()))),
    (ManyCategories(), claim()),
]


@hookimpl
def dpspec_register_mechanisms(register: Register) -> None:
    for cls in dict.fromkeys([Correct, *(type(mechanism) for mechanism, _ in BROKEN)]):
        register(cls)
