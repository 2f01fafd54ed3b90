"""One-sided privacy: only sensitive records are protected, and a likelihood is bounded in one direction only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Annotated, ClassVar

from dpspec_divergences import Hamming, Mult
from flint import arb

from dpspec.blocks.composing import Composed, Spent, added
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.output_divergence import EventBounds, OutputDivergence
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Record
from dpspec.errors import IncompatibleBlocksError
from dpspec.exact import INFINITY, ZERO, Bracket, Number, number
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.finite import FiniteLaw
from dpspec.laws.law import Law
from dpspec.mechanism import Mechanism
from dpspec.params import Items, Rational, Text, define, did_you_mean

Bound = tuple[Number, str]


@define
class Policy:
    """What says which records are sensitive: those with certain categories of one attribute.

    Args:
        attribute: the attribute that decides.
        sensitive: its categories that are sensitive.
        unit: what one record is.
    """

    attribute: Annotated[str, Text()]
    sensitive: Annotated[tuple[str, ...], Items(Text())]
    unit: Annotated[str, Text()] = "person"

    def check_policy(self, space: DatasetSpace) -> None:
        """Raise IncompatibleBlocksError or NotInSpaceError when the space has no such attribute or category."""
        known = {attribute.name: attribute for attribute in space.attributes_of(self.unit)}
        if self.attribute not in known:
            rule = f"the space {space.name} has no such {self.unit} attribute"
            raise IncompatibleBlocksError("policy", rule, did_you_mean(self.attribute, known), value=self.attribute)
        for category in self.sensitive:
            known[self.attribute].index(category)

    def place(self, space: DatasetSpace) -> int:
        """The place of the attribute in a record."""
        return [attribute.name for attribute in space.attributes_of(self.unit)].index(self.attribute)


@define
class OneSided(Policy, InputDivergence):
    """The number of sensitive records replaced, in one direction (Doudalis et al. 2017).

    d(x, x') = number of records that x has and x' has not, when all of them are sensitive and |x| = |x'|; else infinity. A
    step replaces a sensitive record by any other, so that the way back is infinite when that one is not sensitive. It
    obeys the triangle inequality and is not symmetric, and belongs with `mult-one-way`: P_x(S) <= e^(epsilon d(x, x')) P_x'(S).

    Args:
        attribute, sensitive, unit: the policy, as in `Policy`.

    >>> kind = Attribute(name="kind", categories=("open", "secret"))
    >>> space, d = UnorderedRecords(attributes=(kind,)), OneSided(attribute="kind", sensitive=("secret",))
    >>> secret, open_ = space.dataset([["secret"]]), space.dataset([["open"]])
    >>> str(d.distance(secret, open_, space)), str(d.distance(open_, secret, space))
    ('1', 'inf')
    """

    name: ClassVar[str] = "one-sided"
    is_symmetric: ClassVar[bool] = False

    def check(self, space: DatasetSpace) -> None:
        self.check_policy(space)

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        before, after = (Counter(space.records(x, self.unit)) for x in (left, right))
        gone, place = before - after, self.place(space)
        protected = before.total() == after.total() and all(record[place] in self.sensitive for record in gone)
        return number(gone.total()) if protected else INFINITY

    def least_distance(self, space: DatasetSpace) -> Number | None:
        return number(1) if space.is_told_by(self.unit) and not space.is_ordered else None

    def counted_unit(self) -> str:
        return self.unit

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if isinstance(other, OneSided) and (self.attribute, self.unit) == (other.attribute, other.unit):
            fewer = set(other.sensitive) <= set(self.sensitive)
            return (number(1), "all that is sensitive there is sensitive here") if fewer else None
        return None

    def bounds(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        """Ordinary protection covers every record, and both directions."""
        if other != Hamming(unit=self.unit):
            return None
        return number(1), "the records replaced, with infinity where one of them is not sensitive"

    def __str__(self) -> str:
        return f"{self.name} ({self.unit}: {self.attribute} {', '.join(self.sensitive) or 'never'} is sensitive)"

    @classmethod
    def examples(cls) -> Iterator[tuple[OneSided, DatasetSpace]]:
        """What the conformance kit checks it with."""
        kind = Attribute(name="kind", categories=("open", "secret", "hidden"))
        for sensitive in ((), ("secret",), ("secret", "hidden")):
            yield cls(attribute="kind", sensitive=sensitive), UnorderedRecords(attributes=(kind,), most=2)


@define
class MultOneWay(OutputDivergence):
    """The max-divergence, one direction of the multiplicative distance: d(P, Q) = sup over events S of ln(P(S)/Q(S)).

    It obeys the triangle inequality and is not symmetric: P is the law of the first dataset, from which d_X is measured too. Its
    budget is epsilon.

    >>> always, half = FiniteLaw.bernoulli(1), FiniteLaw.bernoulli("1/2")
    >>> str(MultOneWay().between(always, half)), str(MultOneWay().between(half, always))
    ('ln(2)', 'inf')
    """

    name: ClassVar[str] = "mult-one-way"
    is_symmetric: ClassVar[bool] = False
    is_metric: ClassVar[bool] = True

    def evaluate(self, pair: Dichotomy, *, precision: int = 64) -> Bracket:
        return pair.max_log_ratio(precision=precision)

    def separates_laws(self) -> bool:
        """P(S) <= Q(S) for every event and its complement."""
        return True

    def event_bounds(self, bound: Number) -> EventBounds:
        return ((bound, ZERO),)

    def largest_probability(self, q: arb, bound: arb) -> arb:
        """P(S) <= e^bound Q(S) is all that is asked."""
        return (bound.exp() * q).min(arb(1))

    def bounded_by(self, other: OutputDivergence) -> Bound | None:
        if self == other:
            return number(1), "the same output divergence"
        return (number(1), "one of its two directions") if isinstance(other, Mult) else None

    def composed(self, parts: Spent) -> Composed | None:
        return added(self, parts, "epsilon adds", "Doudalis et al. 2017; the largest log-ratio of a product is the sum")

    def __str__(self) -> str:
        return self.name


@define
class OpenSample(Policy, Mechanism):
    """Sensitive records are left out, and of the others each is published as it is with probability p, independently.

    When an open record takes the place of a sensitive one, every sample without it stays possible, at 1 - p times its
    probability: one-sided privacy with epsilon = ln(1/(1 - p)) (Doudalis et al. 2017).

    Args:
        attribute, sensitive, unit: the policy, as in `Policy`.
        keep_probability: p in [0, 1]; at 1 a record that is missing is known to be sensitive (the exclusion attack).

    >>> kind = Attribute(name="kind", categories=("open", "secret"))
    >>> mechanism = OpenSample(attribute="kind", sensitive=("secret",), keep_probability="2/3")
    >>> mechanism.law([["open"], ["secret"]], UnorderedRecords(attributes=(kind,)))
    FiniteLaw({(): 1/3, (('open',),): 2/3})
    """

    name: ClassVar[str] = "open-sample"

    keep_probability: Annotated[Fraction, Rational(0, 1)]

    def check(self, space: DatasetSpace) -> None:
        self.check_policy(space)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        place = self.place(space)
        records = sorted(space.records(space.dataset(dataset), self.unit), key=repr)
        law = FiniteLaw.point(())
        for record in (r for r in records if r[place] not in self.sensitive):
            shown = law.push_forward(partial(_shown, record))
            law = FiniteLaw.mixture((1 - self.keep_probability, self.keep_probability), (law, shown))
        return law

    @classmethod
    def examples(cls) -> Iterator[tuple[OpenSample, DatasetSpace]]:
        """What the conformance kit checks it with."""
        kind = Attribute(name="kind", categories=("open", "secret"))
        space = UnorderedRecords(attributes=(kind,), most=2)
        yield cls(attribute="kind", sensitive=("secret",), keep_probability=Fraction(2, 3)), space


def _shown(record: Record, sample: tuple[Record, ...]) -> tuple[Record, ...]:
    return (*sample, record)
