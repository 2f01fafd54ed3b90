"""A stranger's plugin with broken distances, divergences and invariants: each is registered, and each is at fault.

The module imports the public API alone, so that it can be laid out as a distribution of its own. With each block comes a false
claim that a proof or a walk would verify if it relied on what the block says of itself.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any, ClassVar

from dpspec_divergences import Hamming, Mult, SymmetricDifference
from dpspec_noise import Geometric

from dpspec.plugin import (
    Attribute,
    Bracket,
    DatasetSpace,
    InputDivergence,
    Invariant,
    LevelSets,
    Marginal,
    Mechanism,
    Number,
    OutputDivergence,
    PrivacySpec,
    Register,
    Trivial,
    UniformBudget,
    UnorderedRecords,
    blocks,
    define,
    exact,
    grammar,
    hookimpl,
    laws,
    number,
)

DPSPEC_API = 1

SEX = Attribute(name="sex", categories=("f", "m"))
AGE = Attribute(name="age", count=90)
PEOPLE = UnorderedRecords(attributes=(SEX, AGE))
FEW = UnorderedRecords(attributes=(SEX,), most=3)
BY_SEX = Marginal(attributes=("sex",))
NOISE = Geometric(queries=(BY_SEX,), ratio="1/2")
"""ln 2 per record added or removed, ln 4 for a record replaced."""


# --- input divergences ------------------------------------------------------------------------------


def difference(left: Any, right: Any, space: DatasetSpace) -> int:
    """How many records only one of two datasets has."""
    ours, theirs = Counter(space.records(left, "person")), Counter(space.records(right, "person"))
    return (ours - theirs).total() + (theirs - ours).total()


class Counted(InputDivergence):
    """What these distances share: the records that differ, as a price of records added and replaced."""

    def check(self, space: DatasetSpace) -> None:
        space.check_unit("person")

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Number:
        return number(difference(left, right, space))


class Priced(Counted):
    """... and the price of changes of records."""

    def record_steps(self, space: DatasetSpace) -> blocks.RecordSteps:
        return blocks.RecordSteps(unit="person", replaced=2, added=1)


@define
class AsymmetricDeclared(Priced):
    """Records that come are three times as far as records that go; declared to be symmetric."""

    name: ClassVar[str] = "broken-asymmetric-declared"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Number:
        grows = len(space.records(right, "person")) > len(space.records(left, "person"))
        return number(difference(left, right, space) * (3 if grows else 1))


@define
class Asymmetric(AsymmetricDeclared):
    """The same without a declaration: right, and false claims have to be refuted in the order in which it is small."""

    name: ClassVar[str] = "broken-asymmetric"
    is_symmetric: ClassVar[bool] = False
    is_metric: ClassVar[bool] = False


@define
class HalfPrice(Counted):
    """Half the number of records that differ, with a price of whole numbers: every change is dearer than it is far."""

    name: ClassVar[str] = "broken-half-price"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Number:
        return number(difference(left, right, space)) / 2

    def record_steps(self, space: DatasetSpace) -> blocks.RecordSteps:
        return blocks.RecordSteps(unit="person", replaced=2, added=1)


@define
class Capped(Counted):
    """At most 2, with a price that has no such limit: two and more changes are dearer than they are far."""

    name: ClassVar[str] = "broken-capped"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Number:
        return number(min(2, difference(left, right, space)))

    def record_steps(self, space: DatasetSpace) -> blocks.RecordSteps:
        return blocks.RecordSteps(unit="person", replaced=2, added=1)


@define
class Squared(Counted):
    """The square, declared to be a metric."""

    name: ClassVar[str] = "broken-squared"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Number:
        return number(difference(left, right, space) ** 2)


@define
class Restless(Priced):
    """Another distance in each call."""

    name: ClassVar[str] = "broken-restless"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    _calls: ClassVar[Any] = itertools.count(1)

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Number:
        return number(difference(left, right, space) * next(self._calls))


@define
class Floats(Priced):
    """A float in place of an exact number."""

    name: ClassVar[str] = "broken-float-distance"
    is_symmetric: ClassVar[bool] = True

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Any:
        return 1.5 * difference(left, right, space)


@define
class Negative(Priced):
    """A distance below zero."""

    name: ClassVar[str] = "broken-negative"
    is_symmetric: ClassVar[bool] = True

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Number:
        return number(-difference(left, right, space))


@define
class Nowhere(Priced):
    """Infinity between all datasets, with a price of changes as if they were compared."""

    name: ClassVar[str] = "broken-nowhere"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def distance(self, left: Any, right: Any, space: DatasetSpace) -> Number:
        return exact.INFINITY


# --- output divergences -----------------------------------------------------------------------------


class Ratio(OutputDivergence):
    """The largest log-ratio of P against Q, which is not that of Q against P."""

    def evaluate(self, pair: Any, *, precision: int = 64) -> Any:
        return pair.max_log_ratio(precision=precision)


@define
class OneSidedDeclared(Ratio):
    """One order only, declared to be symmetric."""

    name: ClassVar[str] = "broken-one-sided-declared"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True


@define
class OneSided(Ratio):
    """One order only, with no declaration: right, and false claims have to be refuted in the order in which it is large."""

    name: ClassVar[str] = "broken-one-sided"


@define
class SquaredRatio(OutputDivergence):
    """The square of the largest log-ratio, declared to be a metric, so that bounds would add up along a path."""

    name: ClassVar[str] = "broken-no-metric"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def evaluate(self, pair: Any, *, precision: int = 64) -> Any:
        both = max(way.max_log_ratio(precision=precision).upper for way in (pair, pair.reverse()))
        if both.is_infinite:
            return Bracket.exactly(exact.INFINITY)
        squared = float(both) ** 2
        return Bracket(lower=number(str(squared * 0.999)), upper=number(str(squared * 1.001)))


@define
class RestlessRatio(OutputDivergence):
    """Another value in each call."""

    name: ClassVar[str] = "broken-restless-divergence"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    _calls: ClassVar[Any] = itertools.count(1)

    def evaluate(self, pair: Any, *, precision: int = 64) -> Any:
        return Bracket.exactly(number(1) / next(self._calls))


@define
class FloatRatio(OutputDivergence):
    """A float in place of a bracket."""

    name: ClassVar[str] = "broken-float-divergence"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def evaluate(self, pair: Any, *, precision: int = 64) -> Any:
        return 0.1


@define
class NegativeRatio(OutputDivergence):
    """A divergence below zero."""

    name: ClassVar[str] = "broken-negative-divergence"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def evaluate(self, pair: Any, *, precision: int = 64) -> Any:
        return Bracket.exactly(number(-1))


@define
class WrongScore(OutputDivergence):
    """A score that falls where the divergence grows: the walk would compare the wrong pair."""

    name: ClassVar[str] = "broken-score"
    is_symmetric: ClassVar[bool] = True

    def evaluate(self, pair: Any, *, precision: int = 64) -> Any:
        both = [way.max_log_ratio(precision=precision) for way in (pair, pair.reverse())]
        return max(both, key=lambda one: one.upper)

    def score(self, pair: Any) -> Any:
        top, bottom = max((way.largest_ratio() for way in (pair, pair.reverse())), key=lambda r: r[0] / r[1] if r[1] else 1e300)
        return bottom, top


# --- invariants -------------------------------------------------------------------------------------


class Constant(Invariant):
    """Holds nothing fixed: its value is the same for all datasets."""

    def check(self, space: DatasetSpace) -> None:
        BY_SEX.check(space)

    def value(self, dataset: Any, space: DatasetSpace) -> Any:
        return ()


@define
class NoTable(Constant):
    """... and says to be the table by sex."""

    name: ClassVar[str] = "broken-no-table"

    def as_marginal(self) -> Marginal:
        return BY_SEX


@define
class Implying(Constant):
    """... and says to determine everything."""

    name: ClassVar[str] = "broken-implying"

    def implies(self, other: Invariant, space: DatasetSpace) -> str:
        return "everything follows"


@define
class Partitioned(Constant):
    """... and says that every other table is a sum of itself."""

    name: ClassVar[str] = "broken-partitioned"

    def matrix(self, space: DatasetSpace) -> Any:
        cells = blocks.listed_cells(space)
        return None if cells is None else tuple(tuple(int(a == b) for a in cells) for b in cells)

    def rows_over(self, cells: Any, space: DatasetSpace) -> Any:
        return tuple(tuple(int(a == b) for a in cells) for b in cells)


@define
class RestlessValue(Invariant):
    """Another value in each call, so that no two datasets share a universe."""

    name: ClassVar[str] = "broken-restless-value"
    _calls: ClassVar[Any] = itertools.count()

    def value(self, dataset: Any, space: DatasetSpace) -> Any:
        return next(self._calls)

    def as_marginal(self) -> Marginal:
        return BY_SEX


@define
class NoHash(Invariant):
    """A value that has no hash."""

    name: ClassVar[str] = "broken-no-hash"

    def value(self, dataset: Any, space: DatasetSpace) -> Any:
        return [len(dataset)]


@define
class Finer(Invariant):
    """The number of women alone, said to be the table by sex: proofs would hold the men fixed, too."""

    name: ClassVar[str] = "broken-finer"

    def check(self, space: DatasetSpace) -> None:
        BY_SEX.check(space)

    def value(self, dataset: Any, space: DatasetSpace) -> Any:
        return sum(record[0] == "f" for record in space.records(dataset, "person"))

    def as_marginal(self) -> Marginal:
        return BY_SEX


# --- mechanisms for them ----------------------------------------------------------------------------


@define
class ExactBySex(Mechanism):
    """The exact counts by sex: harmless only where universes fix them."""

    name: ClassVar[str] = "broken-exact-by-sex"

    def check(self, space: DatasetSpace) -> None:
        BY_SEX.check(space)

    def law(self, dataset: Any, space: DatasetSpace) -> Any:
        return laws.FiniteLaw.point(BY_SEX.answers(space.dataset(dataset), space))

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        return grammar.Structure(views=(), reads=(BY_SEX,))


@define
class NoisyBySex(Mechanism):
    """Noisy counts by sex, as a view that universes might fix."""

    name: ClassVar[str] = "broken-noisy-by-sex"

    def check(self, space: DatasetSpace) -> None:
        BY_SEX.check(space)

    def law(self, dataset: Any, space: DatasetSpace) -> Any:
        return NOISE.law(dataset, space)

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        found = NOISE.structure(space)
        assert found is not None
        return found.restated(of=NOISE, by=self)


@hookimpl
def dpspec_register_input_divergences(register: Register) -> None:
    for each in (AsymmetricDeclared, Asymmetric, HalfPrice, Capped, Squared, Restless, Floats, Negative, Nowhere):
        register(each)


@hookimpl
def dpspec_register_output_divergences(register: Register) -> None:
    for each in (OneSidedDeclared, OneSided, SquaredRatio, RestlessRatio, FloatRatio, NegativeRatio, WrongScore):
        register(each)


@hookimpl
def dpspec_register_invariants(register: Register) -> None:
    for each in (NoTable, Implying, Partitioned, RestlessValue, NoHash, Finer):
        register(each)


@hookimpl
def dpspec_register_mechanisms(register: Register) -> None:
    register(ExactBySex)
    register(NoisyBySex)


# --- false claims -----------------------------------------------------------------------------------


def claim(
    distance: Any = None, output: Any = None, fixed: tuple[Any, ...] = (), epsilon: Any = "ln(2)", space: Any = PEOPLE
) -> PrivacySpec:
    """A claim with one broken block."""
    return PrivacySpec(
        space=space,
        multiverse=LevelSets(invariants=fixed) if fixed else Trivial(),
        input_divergence=distance or SymmetricDifference(),
        output_divergence=output or Mult(),
        budget=UniformBudget(parameter="epsilon", value=epsilon),
    )


def claims() -> list[tuple[str, Mechanism, PrivacySpec]]:
    """False claims by a name, on a space of any size and on one that is walked; each with its mechanism."""
    found: list[tuple[str, Mechanism, PrivacySpec]] = []
    for where, space in (("large", PEOPLE), ("few", FEW)):
        for distance, epsilon in (
            (AsymmetricDeclared(), "1/3*ln(2)"), (Asymmetric(), "1/3*ln(2)"), (HalfPrice(), "ln(2)"), (Capped(), "ln(2)"),
            (Squared(), "1/2*ln(2)"), (Restless(), "1/1000"), (Floats(), "1"), (Negative(), "1"), (Nowhere(), "1"),
        ):  # fmt: skip
            found.append((f"{distance.name}-{where}", NOISE, claim(distance=distance, epsilon=epsilon, space=space)))
        for output, epsilon in (
            (OneSidedDeclared(), "1/100"), (OneSided(), "1/100"), (SquaredRatio(), "9/10"), (RestlessRatio(), "1"),
            (FloatRatio(), "1"), (NegativeRatio(), "0"), (WrongScore(), "1/2"),
        ):  # fmt: skip
            made: Mechanism = NOISE
            found.append((f"{output.name}-{where}", made, claim(output=output, epsilon=epsilon, space=space)))
        for invariant in (NoTable(), Implying(), Partitioned(), RestlessValue(), NoHash(), Finer()):
            for mechanism in (ExactBySex(), NoisyBySex()):
                distance = SymmetricDifference() if isinstance(invariant, Finer) else Hamming()
                spec = claim(distance=distance, fixed=(invariant,), epsilon="0", space=space)
                found.append((f"{invariant.name}-{mechanism.name}-{where}", mechanism, spec))
    return found
