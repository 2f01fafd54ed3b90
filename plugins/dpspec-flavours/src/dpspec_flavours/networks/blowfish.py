"""Blowfish privacy: a policy says which values are secrets, as a graph on the values, and which facts are public.

Public facts may force several records to change together, which gives a policy neighbours of its own. Generic privacy is any
neighbour relation, given as a list of pairs, with one number for it.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, ClassVar

from dpspec_divergences import HammingOrdered, Mult, Neighbour
from dpspec_divergences.counting import Minorised, check_ordered
from dpspec_noise import Geometric, RandomisedResponse

from dpspec.plugin import (
    Attribute,
    BitVectors,
    Bound,
    Dataset,
    DatasetSpace,
    Example,
    Flavour,
    IncompatibleBlocksError,
    InputDivergence,
    Invariant,
    Items,
    LevelSets,
    Marginal,
    Number,
    OrderedRecords,
    ParameterError,
    PrivacySpec,
    Record,
    Registered,
    Relation,
    Text,
    Trivial,
    UniformBudget,
    blocks,
    define,
    errors,
    exact,
    is_a,
    ln,
    number,
    params,
)
from dpspec_flavours.standards import common


@define
class Policy(Minorised):
    """The distance of a policy graph G on the values of a record (He, Machanavajjhala and Ding, SIGMOD 2014).

    d(x, x') = sum over the records i of the length of a shortest path from x_i to x'_i in G; infinity when there is none, or
    when the numbers of records differ. An edge means that an attacker must not be able to distinguish its two values; the
    complete graph gives the ordered Hamming distance, a line protects close values better than distant ones.

    A constraint of Blowfish (a fact that is public) is an invariant of the multiverse. The distance stays that of the whole
    space, so that datasets which only meet the constraint together pay for every changed record; for the neighbours of
    the paper, which pay once, see `policy-neighbours`.

    Args:
        edges: pairs of values, each as a category, or as a list of categories for records of several attributes.
        unit: what one record is.

    >>> from dpspec.plugin import OrderedRecords
    >>> pay = OrderedRecords(attributes=(Attribute(name="pay", categories=("low", "mid", "high")),), most=2)
    >>> line = Policy(edges=[["low", "mid"], ["mid", "high"]])
    >>> str(line.distance((("low",), ("mid",)), (("high",), ("high",)), pay))
    '3'
    """

    name: ClassVar[str] = "policy"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    edges: Annotated[tuple[tuple[Record | str, ...], ...], Items(Items(params.Data()), least=1)]
    unit: Annotated[str, Text()] = "person"

    def __attrs_post_init__(self) -> None:
        check_edges(self.edges)

    def check(self, space: DatasetSpace) -> None:
        check_ordered(self.name, space, self.unit, "a policy on an ordered space")
        check_values(self.edges, space.attributes_of(self.unit))

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        ours, theirs = space.records(left, self.unit), space.records(right, self.unit)
        if len(ours) != len(theirs):
            return exact.INFINITY
        steps = [self.steps(one, other) for one, other in zip(ours, theirs, strict=True)]
        return exact.INFINITY if None in steps else number(sum(step or 0 for step in steps))

    def steps(self, one: Record, other: Record) -> int | None:
        """The length of a shortest path between two values; None when there is none."""
        return 0 if one == other else _reached(self.edges, one).get(other)

    def least_distance(self, space: DatasetSpace) -> Number | None:
        return HammingOrdered(unit=self.unit).least_distance(space)

    def counted_unit(self) -> str:
        return self.unit

    def unit_price(self, space: DatasetSpace) -> Number | None:
        """A value that changes may move along as many edges as lie between any two."""
        diameter = self.diameter(space)
        return None if diameter is None else number(diameter)

    def minorant(self) -> InputDivergence:
        return HammingOrdered(unit=self.unit)

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if self == other:
            return number(1), "the same input divergence"
        if is_a(other, Policy) and other.unit == self.unit:
            steps = [self.steps(as_record(one), as_record(two)) for one, two in other.edges]
            if None not in steps:
                most = max(step or 0 for step in steps)
                return number(most), f"an edge of the other policy is a path of at most {most} edges"
        diameter = self.diameter(space)
        known = HammingOrdered(unit=self.unit).bounded_by(other, space)
        if diameter is None or known is None:
            return None
        return known[0] * diameter, f"any two values are joined by at most {diameter} edges; {known[1]}"

    def diameter(self, space: DatasetSpace) -> int | None:
        """The largest distance of two values of a record; None when it is infinite or the values cannot be listed."""
        attributes = space.attributes_of(self.unit)
        values = list(blocks.all_records(attributes)) if attributes else []
        steps = [self.steps(one, other) for one, other in itertools.combinations(values, 2)]
        return None if None in steps or not steps else max(step or 0 for step in steps)

    @classmethod
    def examples(cls) -> Iterator[Policy | tuple[Policy, DatasetSpace]]:
        """What the conformance kit checks it with."""
        from dpspec.plugin import OrderedRecords

        line = (("low", "mid"), ("mid", "high"), ("none", "some"))
        salary = Attribute(name="salary", categories=("low", "mid", "high", "none", "some"))
        yield cls(edges=line), OrderedRecords(attributes=(salary,), least=1, most=2)
        yield cls(edges=(("0", "1"),))
        yield cls(edges=(("f", "m"),))

    def in_words(self) -> str:
        return f"the value of one {self.unit} moved along {_edge_in_words(self.edges)} of a policy"

    def __str__(self) -> str:
        return f"{self.name} of {len(self.edges)} edges ({self.unit})"


def _edge_in_words(edges: Sequence[object]) -> str:
    return "the only edge" if len(edges) == 1 else f"one of the {len(edges):,} edges"


def as_record(value: Record | str) -> Record:
    """A value as it is written in a file, as the record that it denotes."""
    return tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)


def check_edges(edges: tuple[tuple[Record | str, ...], ...]) -> None:
    """Refuse what is no pair of different values."""
    for place, pair in enumerate(edges):
        if len(pair) != 2 or as_record(pair[0]) == as_record(pair[1]):
            raise ParameterError(f"edges[{place}]", "must be two different values", 'write ["low", "mid"]', value=pair)


def check_values(edges: tuple[tuple[Record | str, ...], ...], attributes: tuple[Attribute, ...]) -> None:
    """Refuse values that are no records; a space that describes no attributes takes any."""
    for value in itertools.chain.from_iterable(edges) if attributes else ():
        record = as_record(value)
        if len(record) != len(attributes):
            rule = f"must name {len(attributes)} categories: {', '.join(a.name for a in attributes)}"
            raise IncompatibleBlocksError("policy", rule, value=record)
        for attribute, category in zip(attributes, record, strict=True):
            attribute.index(category)


@lru_cache(maxsize=4096)
def _reached(edges: tuple[tuple[Record | str, ...], ...], start: Record) -> dict[Record, int]:
    """The values that a path from the start reaches, with its length, breadth first."""
    around = _around(edges)
    steps, frontier = {start: 0}, [start]
    while frontier:
        following = []
        for value in frontier:
            for neighbour in around.get(value, ()):
                if neighbour not in steps:
                    steps[neighbour] = steps[value] + 1
                    following.append(neighbour)
        frontier = following
    return steps


@lru_cache(maxsize=64)
def _around(edges: tuple[tuple[Record | str, ...], ...]) -> dict[Record, set[Record]]:
    around: dict[Record, set[Record]] = {}
    for one, other in edges:
        around.setdefault(as_record(one), set()).add(as_record(other))
        around.setdefault(as_record(other), set()).add(as_record(one))
    return around


# --- neighbours under constraints -----------------------------------------------------------------


LISTED = 2000
"""The datasets are listed, so that the space may have no more than this."""

SecretChange = tuple[int, Record, Record]


@define
class PolicyNeighbours(Relation):
    """Two datasets that meet the same constraints and differ in as few secrets as these allow (He et al., SIGMOD 2014).

    A secret in which x and x' differ is (i, x_i, x'_i) with an edge between the two values; T(x, x') is the set of these, and
    D(x, x') the set of all (i, x_i, x'_i) with x_i != x'_i. Then x and x' are neighbours when the invariants agree on
    them, T(x, x') is not empty, and no x'' on which the invariants agree, too, has (a) a non-empty T(x, x'') that is a proper
    part of T(x, x'), or (b) the same T and a D(x, x'') that is a proper part of D(x, x'). It may hold in one order only.

    Without constraints these are the datasets at `policy` distance 1. With constraints a neighbour pays once for all the records
    that have to change together, which no sum over records expresses.

    Args:
        edges: the policy graph, as in `policy`.
        constraints: the invariants that are public.
        unit: what one record is.

    >>> from dpspec.plugin import BitVectors
    >>> same_total = PolicyNeighbours(edges=[["0", "1"]], constraints=[Marginal(attributes=("bit",))])
    >>> space = BitVectors(length=2)
    >>> same_total.related((0, 1), (1, 0), space), same_total.related((0, 1), (1, 1), space)
    (True, False)
    """

    name: ClassVar[str] = "policy-neighbours"

    edges: Annotated[tuple[tuple[Record | str, ...], ...], Items(Items(params.Data()), least=1)]
    constraints: Annotated[tuple[Invariant, ...], Items(Registered("invariants"))] = ()
    unit: Annotated[str, Text()] = "person"

    def __attrs_post_init__(self) -> None:
        check_edges(self.edges)

    def check(self, space: DatasetSpace) -> None:
        check_ordered(self.name, space, self.unit, "neighbours of another relation")
        check_values(self.edges, space.attributes_of(self.unit))
        LevelSets(invariants=self.constraints).check(space)
        size = space.cardinality()
        if size is None or size > LISTED:
            rule = f"looks for smaller changes among all datasets, and the space has more than {LISTED}"
            raise errors.NotEnumerableError(self.name, rule, "choose a smaller space", value=size)

    def related(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        return right in _neighbours(self, left, space)

    @classmethod
    def examples(cls) -> Iterator[PolicyNeighbours]:
        """What the conformance kit checks divergences with."""
        yield cls(edges=(("0", "1"),), constraints=(Marginal(attributes=("bit",)),))

    def in_words(self) -> str:
        held = f", with as few others as keep {'; '.join(map(str, self.constraints))}" if self.constraints else ""
        return f"the value of one {self.unit} moved along {_edge_in_words(self.edges)} of a policy{held}"

    def __str__(self) -> str:
        held = "; ".join(map(str, self.constraints))
        return f"{self.name} of {len(self.edges)} edges ({self.unit})" + (f" under {held}" if held else "")


@lru_cache(maxsize=LISTED)
def _neighbours(relation: PolicyNeighbours, left: Dataset, space: DatasetSpace) -> frozenset[Dataset]:
    """Every x' that is a neighbour of one x."""
    edges = frozenset(frozenset((as_record(one), as_record(other))) for one, other in relation.edges)
    ours = space.records(left, relation.unit)
    changes: list[tuple[frozenset[SecretChange], frozenset[SecretChange], Dataset]] = []
    for other in _universes(relation, space)[_label(relation, left, space)]:
        theirs = space.records(other, relation.unit)
        if len(ours) == len(theirs):
            changed = frozenset((i, a, b) for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
            secrets = frozenset(entry for entry in changed if frozenset(entry[1:]) in edges)
            changes.append((secrets, changed, other))
    telling = [entry for entry in changes if entry[0]]
    return frozenset(
        other
        for secrets, changed, other in telling
        if not any(fewer < secrets or (fewer == secrets and less < changed) for fewer, less, _ in telling)
    )


@lru_cache(maxsize=16)
def _universes(relation: PolicyNeighbours, space: DatasetSpace) -> dict[Hashable, list[Dataset]]:
    held: dict[Hashable, list[Dataset]] = {}
    for dataset in space.datasets():
        held.setdefault(_label(relation, dataset, space), []).append(dataset)
    return held


def _label(relation: PolicyNeighbours, dataset: Dataset, space: DatasetSpace) -> Hashable:
    return LevelSets(invariants=relation.constraints).labels(dataset, space)[0]


# --- the flavours ---------------------------------------------------------------------------------


_PAY = Attribute(name="pay", categories=("low", "mid", "high"))


def _at_most(*categories: str) -> Marginal:
    return Marginal(attributes=(), where=(("pay", categories),))


class Blowfish(Flavour):
    """Blowfish privacy: P_x(S) <= e^(epsilon d_G(x, x')) P_x'(S), d_G the distance of a policy graph on values.

    The policy is a line: low and mid pay must not be distinguished, nor mid and high; low and high may, at twice the price.

    >>> from dpspec import verify
    >>> flavour = Blowfish()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "blowfish"
    title: ClassVar[str] = "Blowfish privacy: a policy graph on the values of a record"
    citation: ClassVar[str] = "He, Machanavajjhala and Ding, SIGMOD 2014"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=OrderedRecords(attributes=(_PAY,), least=2, most=2),
            multiverse=Trivial(),
            input_divergence=Policy(edges=(("low", "mid"), ("mid", "high"))),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(2)),
        )

    def compared(self) -> PrivacySpec:
        return common(input_divergence=Policy(edges=(("0", "1"),)))

    def satisfied_by(self) -> Example:
        return Example(
            title="the cumulative counts (low; low or mid) with geometric noise of ratio 1/2",
            mechanism=Geometric(
                queries=(_at_most("low"), _at_most("low", "mid")), ratio=Fraction(1, 2), neighbours="replace-one"
            ),
            because="an edge of the line moves one person across one threshold",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the counts of low, mid and high pay with geometric noise of ratio 1/2",
            mechanism=Geometric(queries=(Marginal(attributes=("pay",)),), ratio=Fraction(1, 2), neighbours="replace-one"),
            because="an edge of the line changes two of the three counts",
        )


class BlowfishConstraints(Flavour):
    """Blowfish privacy with constraints: P_x(S) <= e^epsilon P_x'(S) for closest x, x' on which the public facts agree.

    Public is how many of three people answered "yes", so that one secret answer changes only together with another one.

    >>> from dpspec import verify
    >>> flavour = BlowfishConstraints()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "blowfish-constraints"
    title: ClassVar[str] = "Blowfish privacy with a public total"
    citation: ClassVar[str] = "He, Machanavajjhala and Ding, SIGMOD 2014"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("multiverse", "input_divergence")

    def spec(self) -> PrivacySpec:
        public = (Marginal(attributes=("bit",)),)
        return PrivacySpec(
            space=BitVectors(length=3),
            multiverse=LevelSets(invariants=public),
            input_divergence=Neighbour(relation=PolicyNeighbours(edges=(("0", "1"),), constraints=public)),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(4)),
        )

    def compared(self) -> PrivacySpec:
        public = (Marginal(attributes=("bit",)),)
        near = Neighbour(relation=PolicyNeighbours(edges=(("0", "1"),), constraints=public))
        return common(multiverse=LevelSets(invariants=public), input_divergence=near)

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 2/3",
            mechanism=RandomisedResponse(keep_probability=Fraction(2, 3)),
            because="two answers change together, each with likelihood ratio 2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 4/5, as without the constraint",
            mechanism=RandomisedResponse(keep_probability=Fraction(4, 5)),
            because="the public total makes a second answer change with the first, at likelihood ratio 4 each",
        )


# --- listed pairs ---------------------------------------------------------------------------------


@define
class ListedPairs(Relation):
    """An arbitrary relation R on the datasets, as a list of its pairs: the R of generic privacy (Kifer and Machanavajjhala 2011).

    Two datasets are neighbours when the pair is listed in one order or the other.

    Args:
        pairs: the pairs, each as two datasets in the way in which the space reads them.

    >>> from dpspec.plugin import BitVectors
    >>> swap = ListedPairs(pairs=[[[0, 1], [1, 0]]])
    >>> swap.related((1, 0), (0, 1), BitVectors(length=2)), swap.related((0, 0), (0, 1), BitVectors(length=2))
    (True, False)
    """

    name: ClassVar[str] = "listed-pairs"
    is_symmetric: ClassVar[bool] = True

    pairs: Annotated[tuple[tuple[Dataset, ...], ...], Items(Items(params.Data()), least=1)]

    def __attrs_post_init__(self) -> None:
        for place, pair in enumerate(self.pairs):
            if len(pair) != 2:
                raise ParameterError(f"pairs[{place}]", "must be two datasets", "write [[...], [...]]", value=pair)

    def check(self, space: DatasetSpace) -> None:
        for place, (left, right) in enumerate(self.pairs):
            if space.dataset(left) == space.dataset(right):
                raise ParameterError(f"pairs[{place}]", "must be two different datasets", "leave the pair out", value=left)

    def related(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        return frozenset((left, right)) in _related(self, space)

    @classmethod
    def examples(cls) -> Iterator[ListedPairs]:
        """What the conformance kit checks divergences with."""
        yield cls(pairs=(((0, 0), (0, 1)), ((1, 0), (0, 1))))

    def in_words(self) -> str:
        listed = "the only listed pair" if len(self.pairs) == 1 else f"one of the {len(self.pairs):,} listed pairs"
        return f"one dataset of {listed} replaced by the other"

    def __str__(self) -> str:
        return f"a list of {errors.count(len(self.pairs), 'pair')}"


@lru_cache(maxsize=64)
def _related(relation: ListedPairs, space: DatasetSpace) -> frozenset[frozenset[Dataset]]:
    """The pairs in canonical form."""
    return frozenset(frozenset(space.dataset(side) for side in pair) for pair in relation.pairs)


# --- generic privacy ------------------------------------------------------------------------------


_SWAPS = (
    ((1, 0, 0), (0, 1, 0)), ((1, 0, 0), (0, 0, 1)), ((0, 1, 0), (0, 0, 1)),
    ((1, 1, 0), (1, 0, 1)), ((1, 1, 0), (0, 1, 1)), ((1, 0, 1), (0, 1, 1)),
)  # fmt: skip


class GenericDP(Flavour):
    """Generic differential privacy: P_x(S) <= e^epsilon P_x'(S) for all pairs (x, x') of a given relation R.

    Here R holds between answers of three people with the same number of "yes", two of them exchanged: the neighbours of Kifer
    and Machanavajjhala after the exact total has been published.

    >>> from dpspec import verify
    >>> flavour = GenericDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "generic-dp"
    title: ClassVar[str] = "(R, epsilon)-generic differential privacy: neighbours by a list of pairs"
    citation: ClassVar[str] = "Kifer and Machanavajjhala, SIGMOD 2011"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block; Bailie, Gong and Meng 2023, neighbours"
    changes: ClassVar[tuple[str, ...]] = ("input_divergence",)

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=BitVectors(length=3),
            multiverse=Trivial(),
            input_divergence=Neighbour(relation=ListedPairs(pairs=_SWAPS)),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(4)),
        )

    def compared(self) -> PrivacySpec:
        return common(input_divergence=Neighbour(relation=ListedPairs(pairs=(((0, 1), (1, 0)),))))

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 2/3",
            mechanism=RandomisedResponse(keep_probability=Fraction(2, 3)),
            because="an exchange changes two answers, each with likelihood ratio 2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 4/5",
            mechanism=RandomisedResponse(keep_probability=Fraction(4, 5)),
            because="it spends ln(4) on one changed answer, and neighbours under R differ in two",
        )
