"""One-sided and personalised privacy: who is protected, and how much, depends on the record or the person.

*One-sided*: only sensitive records are protected, and a likelihood is bounded in one direction only. *Personalised*: everybody
has a budget of their own, written as a weight of their records in the input divergence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Annotated, ClassVar, cast

from dpspec_divergences import Hamming, HammingOrdered, Mult, SymmetricDifference
from flint import arb

from dpspec.plugin import (
    Attribute,
    BitVectors,
    Bound,
    Bracket,
    Dataset,
    DatasetSpace,
    Exact,
    FiniteLaw,
    IncompatibleBlocksError,
    InputDivergence,
    Items,
    Law,
    Mechanism,
    Number,
    OutputDivergence,
    ParameterError,
    Rational,
    Record,
    Text,
    UnorderedRecords,
    blocks,
    define,
    exact,
    is_a,
    laws,
    number,
    params,
)


@define
class SensitivePolicy:
    """The policy that defines sensitive records: those with certain categories of one attribute.

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
            raise IncompatibleBlocksError("policy", rule, params.did_you_mean(self.attribute, known), value=self.attribute)
        for category in self.sensitive:
            known[self.attribute].index(category)

    def place(self, space: DatasetSpace) -> int:
        """The place of the attribute in a record."""
        return [attribute.name for attribute in space.attributes_of(self.unit)].index(self.attribute)


@define
class OneSided(SensitivePolicy, InputDivergence):
    """The number of sensitive records replaced, in one direction (Doudalis et al. 2017).

    d(x, x') = number of records that x has and x' has not, when all of them are sensitive and |x| = |x'|; else infinity. A
    step replaces a sensitive record by any other, so that the way back is infinite when that one is not sensitive. It
    obeys the triangle inequality and is not symmetric, and belongs with `mult-one-way`: P_x(S) <= e^(epsilon d(x, x')) P_x'(S).

    Args:
        attribute, sensitive, unit: the policy, as in `SensitivePolicy`.

    >>> kind = Attribute(name="kind", categories=("open", "secret"))
    >>> space, d = UnorderedRecords(attributes=(kind,)), OneSided(attribute="kind", sensitive=("secret",))
    >>> secret, open_ = space.dataset([["secret"]]), space.dataset([["open"]])
    >>> str(d.distance(secret, open_, space)), str(d.distance(open_, secret, space))
    ('1', 'inf')
    """

    name: ClassVar[str] = "one-sided"
    is_metric: ClassVar[bool] = True

    def check(self, space: DatasetSpace) -> None:
        self.check_policy(space)

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        before, after = (Counter(space.records(x, self.unit)) for x in (left, right))
        gone, place = before - after, self.place(space)
        protected = before.total() == after.total() and all(record[place] in self.sensitive for record in gone)
        return number(gone.total()) if protected else exact.INFINITY

    def least_distance(self, space: DatasetSpace) -> Number | None:
        return number(1) if space.is_told_by(self.unit) and not space.is_ordered else None

    def counted_unit(self) -> str:
        return self.unit

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if is_a(other, OneSided) and (self.attribute, self.unit) == (other.attribute, other.unit):
            fewer = set(other.sensitive) <= set(self.sensitive)
            return (number(1), "all that is sensitive there is sensitive here") if fewer else None
        return None

    def bounds(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        """Ordinary protection covers every record, and both directions."""
        if other != Hamming(unit=self.unit):
            return None
        return number(1), "the records replaced, with infinity where one of them is not sensitive"

    def in_words(self) -> str:
        return f"one sensitive {self.unit} ({self.attribute} {', '.join(self.sensitive) or 'never'}) replaced by any other"

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
    keeps_mixtures: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def evaluate(self, pair: laws.Dichotomy, *, precision: int = 64) -> Bracket:
        return pair.max_log_ratio(precision=precision)

    def separates_laws(self) -> bool:
        """P(S) <= Q(S) for every event and its complement."""
        return True

    def event_bounds(self, bound: Number) -> blocks.EventBounds:
        return ((bound, exact.ZERO),)

    def largest_probability(self, q: arb, bound: arb) -> arb:
        """P(S) <= e^bound Q(S) is the only condition."""
        return (bound.exp() * q).min(arb(1))

    def bounded_by(self, other: OutputDivergence) -> Bound | None:
        if self == other:
            return number(1), "the same output divergence"
        return (number(1), "one of its two directions") if is_a(other, Mult) else None

    def composed(self, parts: blocks.SpentBudgets) -> blocks.Composed | None:
        return blocks.added(self, parts, "epsilon adds", "Doudalis et al. 2017; the largest log-ratio of a product is the sum")

    def in_words(self) -> str:
        return "pure differential privacy in one direction"

    def __str__(self) -> str:
        return self.name


@define
class OpenSample(SensitivePolicy, Mechanism):
    """Sensitive records are left out, and of the others each is published as it is with probability p, independently.

    When an open record takes the place of a sensitive one, every sample without it stays possible, at 1 - p times its
    probability: one-sided privacy with epsilon = ln(1/(1 - p)) (Doudalis et al. 2017).

    Args:
        attribute, sensitive, unit: the policy, as in `SensitivePolicy`.
        keep_probability: p in [0, 1], the probability with which an open record is published; at 1 a record that is
            missing is known to be sensitive (the exclusion attack).

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


# --- personalised privacy -------------------------------------------------------------------------


def total(weights: Iterable[Number]) -> Number:
    """The sum of exact numbers."""
    return sum(weights, exact.ZERO)


def _inverse(weight: Number) -> Number | None:
    """1 / weight, where that has an exact form: for rationals, and 1 as a bound for what is above 1."""
    if weight.is_rational and not weight.is_infinite:
        return number(1 / weight.as_fraction())
    return number(1) if weight >= 1 else None


@define
class PersonalWeights(InputDivergence):
    """Ordered Hamming distance with a weight for each position: d(x, x') = sum over i of w_i [x_i != x'_i].

    With the budget epsilon, position i is protected at epsilon_i = w_i epsilon (Jorgensen, Yu and Cormode 2015). A person with an
    infinite weight requires no protection at all.

    Args:
        weights: w_i > 0, one for each position; epsilon_i itself where the budget is epsilon = 1.
        unit: what one position is.

    Raises:
        IncompatibleBlocksError: when the datasets have no positions, or not all of them the same number as there are weights.

    >>> d = PersonalWeights(weights=(1, 2, "1/2"))
    >>> str(d.distance((0, 0, 0), (0, 1, 1), BitVectors(length=3)))
    '5/2'
    """

    name: ClassVar[str] = "personal-weights"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    weights: Annotated[tuple[Number, ...], Items(Exact(0, open_low=True), least=1)]
    unit: Annotated[str, Text()] = "person"

    def check(self, space: DatasetSpace) -> None:
        if not space.is_ordered:
            advice = "use record-weights, which goes by an attribute"
            raise IncompatibleBlocksError(self.name, "needs datasets with positions", advice, value=space.name)
        space.check_unit(self.unit)
        if not space.fixes_size(self.unit):
            raise IncompatibleBlocksError(self.name, "needs datasets with all positions", "fix their length", value=space.name)
        length = len(space.records(next(iter(space.datasets())), self.unit))
        if length != len(self.weights):
            raise IncompatibleBlocksError(
                self.name, f"needs a weight for each of the {length} positions", value=len(self.weights)
            )

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        entries = zip(self.weights, space.records(left, self.unit), space.records(right, self.unit), strict=True)
        return total(weight for weight, ours, theirs in entries if ours != theirs)

    def least_distance(self, space: DatasetSpace) -> Number | None:
        return min(self.weights) if space.is_told_by(self.unit) else None

    def counted_unit(self) -> str | None:
        return self.unit if min(self.weights) >= 1 else None

    def unit_price(self, space: DatasetSpace) -> Number:
        return max(self.weights)

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if self == other:
            return number(1), "the same input divergence"
        if other == HammingOrdered(unit=self.unit):
            return max(self.weights), "no position weighs more"
        if is_a(other, PersonalWeights) and other.unit == self.unit:
            lower = all(ours <= theirs for ours, theirs in zip(self.weights, other.weights, strict=True))
            return (number(1), "no position weighs more than there") if lower else None
        return None

    def bounds(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        least = _inverse(min(self.weights))
        return (least, "no position weighs less") if other == HammingOrdered(unit=self.unit) and least is not None else None

    def in_words(self) -> str:
        return f"the data of one {self.unit} changed, at the weights {', '.join(map(str, self.weights))}"

    def __str__(self) -> str:
        return f"{self.name} ({self.unit}: {', '.join(map(str, self.weights))})"

    @classmethod
    def examples(cls) -> Iterator[tuple[PersonalWeights, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(weights=(number(1), number("5/2"))), BitVectors(length=2)
        yield cls(weights=(number("1/3"), number("inf"))), BitVectors(length=2)


@define
class RecordWeights(InputDivergence):
    """Symmetric difference with weights: d(x, x') = sum of w(r) over the records r added or removed (Ebadi et al. 2015).

    The weight of a record is that of its category of one attribute, such as the person whose record it is, so that a budget
    epsilon protects the presence of r at w(r) epsilon (Ebadi, Sands and Schneider 2015).

    Args:
        attribute: the attribute that decides.
        weights: a table from category to weight, above 0.
        otherwise: the weight of the categories that are not listed; without it all of them must be.
        unit: what one record is.

    >>> owner = Attribute(name="owner", categories=("ann", "bob"))
    >>> space, d = UnorderedRecords(attributes=(owner,)), RecordWeights(attribute="owner", weights={"ann": 1, "bob": 3})
    >>> str(d.distance(space.dataset([["ann"], ["ann"]]), space.dataset([["ann"], ["bob"]]), space))
    '4'
    """

    name: ClassVar[str] = "record-weights"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    attribute: Annotated[str, Text()]
    weights: Annotated[tuple[tuple[str, Number], ...], params.Pairs(Exact(0, open_low=True))]
    otherwise: Annotated[Number, Exact(0, open_low=True)] | None = None
    unit: Annotated[str, Text()] = "person"

    def __attrs_post_init__(self) -> None:
        if not self.weights and self.otherwise is None:
            raise ParameterError("weights", "name no weight", "list the categories, or give `otherwise`")

    def check(self, space: DatasetSpace) -> None:
        _, attribute = self._attribute(space)
        for category, _ in self.weights:
            attribute.index(category)
        if self.otherwise is None and attribute.size > len(self.weights):
            rule = f"lists {len(self.weights)} of the {attribute.size} categories of {attribute.name}"
            raise IncompatibleBlocksError(self.name, rule, "list the others, or give `otherwise`")

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        place, _ = self._attribute(space)
        surplus = Counter(space.records(left, self.unit))
        surplus.subtract(space.records(right, self.unit))
        listed: dict[Hashable, Number] = dict(self.weights)
        changed = ((listed.get(record[place], self.otherwise), abs(count)) for record, count in surplus.items() if count)
        return total(weight * count for weight, count in changed if weight is not None)

    def least_distance(self, space: DatasetSpace) -> Number | None:
        return min(self._range()) if space.is_told_by(self.unit) and not space.is_ordered else None

    def counted_unit(self) -> str | None:
        return self.unit if min(self._range()) >= 1 else None

    def unit_price(self, space: DatasetSpace) -> Number:
        """Where no record is added or removed alone, a change is a record replaced."""
        return max(self._range()) * (2 if space.fixes_size(self.unit) else 1)

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if self == other:
            return number(1), "the same input divergence"
        if other == SymmetricDifference(unit=self.unit):
            return max(self._range()), "no record weighs more"
        return None

    def bounds(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        least = _inverse(min(self._range()))
        return (least, "no record weighs less") if other == SymmetricDifference(unit=self.unit) and least is not None else None

    def _range(self) -> list[Number]:
        return [*(weight for _, weight in self.weights), *([] if self.otherwise is None else [self.otherwise])]

    def _attribute(self, space: DatasetSpace) -> tuple[int, Attribute]:
        known = {attribute.name: (place, attribute) for place, attribute in enumerate(space.attributes_of(self.unit))}
        if self.attribute not in known:
            rule = f"the space {space.name} has no such {self.unit} attribute"
            raise IncompatibleBlocksError(self.name, rule, params.did_you_mean(self.attribute, known), value=self.attribute)
        return known[self.attribute]

    def in_words(self) -> str:
        rows = [f"{category} {weight}" for category, weight in self.weights]
        others = [] if self.otherwise is None else [f"others {self.otherwise}"]
        return f"one {self.unit} added or removed, at weights by {self.attribute} ({', '.join([*rows, *others])})"

    def __str__(self) -> str:
        rows = [f"{category} {weight}" for category, weight in self.weights]
        others = [] if self.otherwise is None else [f"others {self.otherwise}"]
        return f"{self.name} ({self.unit} by {self.attribute}: {', '.join([*rows, *others])})"

    @classmethod
    def examples(cls) -> Iterator[tuple[RecordWeights, DatasetSpace]]:
        """What the conformance kit checks it with."""
        owner = Attribute(name="owner", categories=("ann", "bob"))
        space = UnorderedRecords(attributes=(owner,), most=3)
        yield cls(attribute="owner", weights=(("ann", number(1)), ("bob", number("5/2")))), space
        yield cls(attribute="owner", weights=(("ann", number("1/3")),), otherwise=number("inf")), space


@define
class PersonalisedResponse(Mechanism):
    """Randomised response with a coin for each person: bit i is reported with probability p_i and flipped otherwise.

    Bit i is protected at epsilon_i = |ln(p_i / (1 - p_i))|, as personalised privacy requires.

    Args:
        keep_probabilities: p_i in [0, 1], the probability of the truth, one for each bit.

    >>> mechanism = PersonalisedResponse(keep_probabilities=("3/4", "9/10"))
    >>> mechanism.law((1, 1), BitVectors(length=2)).probability((1, 1))
    Fraction(27, 40)
    """

    name: ClassVar[str] = "personalised-response"

    keep_probabilities: Annotated[tuple[Fraction, ...], Items(Rational(0, 1), least=1)]

    def check(self, space: DatasetSpace) -> None:
        if not is_a(space, BitVectors):
            raise IncompatibleBlocksError(
                f"mechanism {self.name}", "answers for one bit per unit", "use the space bit-vectors", value=space.name
            )
        if space.length != len(self.keep_probabilities):
            raise IncompatibleBlocksError(f"mechanism {self.name}", f"needs {space.length} probabilities, one for each bit")

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """P(t) = product over i of (p_i if t_i = x_i else 1 - p_i)."""
        self.check(space)
        bits = cast("tuple[int, ...]", space.dataset(dataset))
        rows = zip(bits, self.keep_probabilities, strict=True)
        return laws.product([FiniteLaw.of({bit: keep, 1 - bit: 1 - keep}) for bit, keep in rows])

    @classmethod
    def examples(cls) -> Iterator[tuple[PersonalisedResponse, DatasetSpace]]:
        """What the conformance kit checks it with."""
        yield cls(keep_probabilities=(Fraction(3, 4), Fraction(1))), BitVectors(length=2)
