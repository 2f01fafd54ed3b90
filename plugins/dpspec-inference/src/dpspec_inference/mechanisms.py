"""Laplace releases of a mean and a variance, and of the sums of a straight line: what the models of this package read.

The mean of n values in [a, b] changes by at most (b - a)/n when one value is replaced, and their sample variance by at most
(b - a)^2/n (Kazan 2025, Section 4.2.2). Both are reached at once where all other values are a and the one moves from a to b. So
the constant of a release of both is epsilon_mean + epsilon_variance, exactly. Each of the five sums of a line on the unit square
changes by at most 1, and all of them by 1 where a point moves from (0, 0) to (1, 1): the constant is 5 epsilon.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, ClassVar

from dpspec_divergences import Hamming, HammingOrdered, Mult

from dpspec.plugin import (
    Attribute,
    Claim,
    Dataset,
    DatasetSpace,
    Exact,
    IncompatibleBlocksError,
    InputDivergence,
    Law,
    Mechanism,
    Number,
    OrderedRecords,
    ParameterError,
    PrivacySpec,
    Rational,
    Text,
    Trivial,
    UniformBudget,
    blocks,
    define,
    errors,
    grammar,
    laws,
    number,
    params,
)


class _Replaced(Mechanism):
    """Shared: numbers with Laplace noise about a fixed number of records, one of which is replaced."""

    theorem: ClassVar[str]
    citation: ClassVar[str]

    def size(self, space: DatasetSpace) -> int:
        """n, the number of records.

        Raises:
            IncompatibleBlocksError: the space has datasets of several sizes.
        """
        least, most = blocks.sizes_of(space)
        if least != most:
            rule, advice = "releases numbers that depend on a public number of records", "write least and most with one value"
            raise IncompatibleBlocksError(f"mechanism {self.name}", rule, advice, value=f"{least} to {most}")
        return least

    def distance(self, space: DatasetSpace) -> InputDivergence:
        """The number of replaced records."""
        return HammingOrdered(unit=space.units[0]) if space.is_ordered else Hamming(unit=space.units[0])

    def spends(self) -> Number:
        """The constant of d_MULT per replaced record."""
        raise NotImplementedError

    def extremes(self, space: DatasetSpace) -> tuple[Any, Any]:
        """Two records that differ by as much as records can."""
        raise NotImplementedError

    def check_numbers(self, space: DatasetSpace, name: str, low: Fraction, high: Fraction) -> None:
        """Refuse an attribute that is none of the space, or that has other categories than numbers between the bounds."""
        known = {a.name: a for a in space.attributes_of(space.units[0])} if space.units else {}
        if name not in known:
            rule = f"is none of the space {space.name}"
            raise IncompatibleBlocksError("attribute", rule, params.did_you_mean(name, known), value=name)
        for category in known[name].values():
            value = _number(category)
            if value is None or not low <= value <= high:
                rule = f"must have numbers between {low} and {high} as categories"
                raise IncompatibleBlocksError(f"attribute {name}", rule, value=str(category))

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """The whole budget, for one replaced record."""
        spec = PrivacySpec(
            space=space,
            multiverse=Trivial(),
            input_divergence=self.distance(space),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=self.spends()),
        )
        return (Claim(label=self.theorem, source=self.citation, spec=spec),)

    def bound(self, spec: PrivacySpec) -> grammar.ProvedBound | None:
        """What the theorem says of a claim: the constant, with the pair that attains it."""
        space, stated = spec.space, spec.budget.uniform()
        distance = self.distance(space)
        if stated is None or spec.input_divergence != distance or spec.output_divergence != Mult():
            return None
        low, high = self.extremes(space)
        rest = [low] * (self.size(space) - 1)
        try:
            pair = (space.dataset([low, *rest]), space.dataset([high, *rest]))
        except errors.NotInSpaceError:  # the bounds are no values of the grid
            pair = None
        return grammar.ProvedBound(
            holds=self.spends() <= stated,
            invariants=(),
            input_divergence=distance,
            output_divergence=Mult(),
            pair=pair,
            says=self.theorem,
            citation=self.citation,
        )


def record_at(space: DatasetSpace, values: Mapping[str, Fraction]) -> tuple[Any, ...]:
    """A record with these numbers; a number that no category has is written as it is, and the space refuses it."""
    record = []
    for a in space.attributes_of(space.units[0]):
        wanted = values.get(a.name)
        choices = iter(a.values())
        record.append(
            next(choices) if wanted is None else next((c for c in choices if _number(c) == wanted), str(wanted))
        )
    return tuple(record)


@define
class LaplaceMoments(_Replaced):
    """Mean and sample variance of n values in [a, b], each with Laplace noise (Kazan 2025, Section 4.2.2).

    The mean has noise of the scale (b - a)/(epsilon_mean n), and the sample variance, with the divisor n - 1, noise of the scale
    (b - a)^2/(epsilon_variance n). Both together satisfy epsilon = epsilon_mean + epsilon_variance for one replaced value. The
    categories of the attribute are numbers, written as texts.

    Args:
        attribute: whose values they are.
        low, high: a and b, the public bounds, in the unit of the values.
        epsilon_mean: the budget epsilon of the mean, for one replaced value.
        epsilon_variance: the budget epsilon of the variance, for one replaced value.

    >>> people = OrderedRecords(attributes=[{"name": "lead", "count": 101}], least=43, most=43)
    >>> release = LaplaceMoments(attribute="lead", low=0, high=100, epsilon_mean="1/4", epsilon_variance="1/4")
    >>> print(release.claims(people)[0].spec.budget)
    epsilon = 1/2
    """

    name: ClassVar[str] = "laplace-moments"
    theorem: ClassVar[str] = (
        "one replaced value changes the mean by at most (b - a)/n and the sample variance by at most (b - a)^2/n"
    )
    citation: ClassVar[str] = "Kazan 2025, Section 4.2.2"

    attribute: Annotated[str, Text()]
    low: Annotated[Fraction, Rational()] = Fraction(0)
    high: Annotated[Fraction, Rational()] = Fraction(1)
    epsilon_mean: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)]
    epsilon_variance: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)]

    def __attrs_post_init__(self) -> None:
        if not self.low < self.high:
            raise ParameterError("high", f"must be above low = {self.low}", 'write low = "0", high = "100"', value=str(self.high))

    def check(self, space: DatasetSpace) -> None:
        if self.size(space) < 2:
            rule, advice = "needs a sample variance", "state a space of at least two records"
            raise IncompatibleBlocksError(f"mechanism {self.name}", rule, advice, value=self.size(space))
        self.check_numbers(space, self.attribute, self.low, self.high)

    def spends(self) -> Number:
        return self.epsilon_mean + self.epsilon_variance

    def extremes(self, space: DatasetSpace) -> tuple[Any, Any]:
        return record_at(space, {self.attribute: self.low}), record_at(space, {self.attribute: self.high})

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """The product of two Laplace laws around mean and sample variance."""
        self.check(space)
        place = [a.name for a in space.attributes_of(space.units[0])].index(self.attribute)
        values = [Fraction(str(record[place])) for record in space.records(space.dataset(dataset), space.units[0])]
        size, width = len(values), self.high - self.low
        mean = sum(values, Fraction(0)) / size
        variance = sum(((value - mean) ** 2 for value in values), Fraction(0)) / (size - 1)
        return laws.product((
            laws.LaplaceLaw.with_decay(mean, self.epsilon_mean * (size / width)),
            laws.LaplaceLaw.with_decay(variance, self.epsilon_variance * (size / width**2)),
        ))  # fmt: skip

    def proved(self, spec: PrivacySpec) -> grammar.ProvedBound | None:
        self.check(spec.space)
        return self.bound(spec)

    @classmethod
    def examples(cls) -> Iterator[tuple[LaplaceMoments, DatasetSpace]]:
        """What the conformance tests check it with."""
        space = OrderedRecords(attributes=(Attribute(name="v", count=2),), least=3, most=3)
        yield cls(attribute="v", epsilon_mean=number("1/2"), epsilon_variance=number(1)), space


@define
class LaplaceRegression(_Replaced):
    """The five sums of a straight line, each with Laplace noise of the scale 1/epsilon (Kazan 2025, Section 4.5).

    With x and y mapped to [0, 1] by their bounds, the sums are those of x, x^2, y, xy and y^2 over the records. The categories
    of both attributes are numbers, written as texts.

    Args:
        x, y: the attributes.
        x_low, x_high, y_low, y_high: their public bounds, each in the unit of its attribute.
        epsilon: the budget of each sum, for one replaced record; the release spends 5 epsilon for one replaced record.
    """

    name: ClassVar[str] = "laplace-regression"
    theorem: ClassVar[str] = "one replaced point of the unit square changes each of the five sums by at most 1"
    citation: ClassVar[str] = "Kazan 2025, Section 4.5"

    x: Annotated[str, Text()]
    y: Annotated[str, Text()]
    x_low: Annotated[Fraction, Rational()] = Fraction(0)
    x_high: Annotated[Fraction, Rational()] = Fraction(1)
    y_low: Annotated[Fraction, Rational()] = Fraction(0)
    y_high: Annotated[Fraction, Rational()] = Fraction(1)
    epsilon: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)]

    def __attrs_post_init__(self) -> None:
        if not (self.x_low < self.x_high and self.y_low < self.y_high):
            raise ParameterError("bounds", "must be a lower and a higher number", 'write x_low = "0", x_high = "1"')
        if self.x == self.y:
            raise ParameterError("y", "must be another attribute than x", value=self.y)

    def check(self, space: DatasetSpace) -> None:
        self.size(space)
        self.check_numbers(space, self.x, self.x_low, self.x_high)
        self.check_numbers(space, self.y, self.y_low, self.y_high)

    def spends(self) -> Number:
        return self.epsilon * 5

    def sums(self, points: Iterable[tuple[Fraction, Fraction]]) -> tuple[Fraction, ...]:
        """The sums of x, x^2, y, xy and y^2 of points of the unit square."""
        listed = [(x, x * x, y, x * y, y * y) for x, y in points]
        return tuple(sum(column, Fraction(0)) for column in zip(*listed, strict=True))

    def _places(self, space: DatasetSpace) -> tuple[int, int]:
        names = [a.name for a in space.attributes_of(space.units[0])]
        return names.index(self.x), names.index(self.y)

    def _points(self, records: Sequence[Sequence[Any]], space: DatasetSpace) -> Iterator[tuple[Fraction, Fraction]]:
        across, up = self._places(space)
        for record in records:
            x, y = Fraction(str(record[across])), Fraction(str(record[up]))
            yield (x - self.x_low) / (self.x_high - self.x_low), (y - self.y_low) / (self.y_high - self.y_low)

    def extremes(self, space: DatasetSpace) -> tuple[Any, Any]:
        low, high = {self.x: self.x_low, self.y: self.y_low}, {self.x: self.x_high, self.y: self.y_high}
        return record_at(space, low), record_at(space, high)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """The product of five Laplace laws around the sums."""
        self.check(space)
        records = space.records(space.dataset(dataset), space.units[0])
        noise = partial(laws.LaplaceLaw.with_decay, decay=self.epsilon)
        return laws.product([noise(value) for value in self.sums(self._points(records, space))])

    def proved(self, spec: PrivacySpec) -> grammar.ProvedBound | None:
        self.check(spec.space)
        return self.bound(spec)

    @classmethod
    def examples(cls) -> Iterator[tuple[LaplaceRegression, DatasetSpace]]:
        """What the conformance tests check it with."""
        axes = tuple(Attribute(name=name, categories=("0", "1")) for name in ("x", "y"))
        yield cls(x="x", y="y", epsilon=number("1/4")), OrderedRecords(attributes=axes, least=2, most=2)


def _number(category: Any) -> Fraction | None:
    try:
        return Fraction(str(category))
    except (ValueError, ZeroDivisionError):
        return None
