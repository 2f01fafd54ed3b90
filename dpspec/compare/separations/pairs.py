"""Small pairs of datasets on which two specifications are held against each other."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache

import attrs

from dpspec.blocks.determination import miniatures
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.multiverse import Multiverse, Universe
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import DpspecError, NumericalError
from dpspec.exact import INFINITY, Bracket, Number
from dpspec.spec import PrivacySpec

WALKED = 5_000
"""At most this many datasets of each miniature are looked at."""

OF_UNIVERSE = 60
"""At most this many datasets of each universe are compared with each other."""

OF_DISTANCE = 150
"""At most this many pairs at one distance are kept."""

LARGEST = 6
"""Miniatures have at most this many records."""

Pair = tuple[Dataset, Dataset]


@attrs.frozen(kw_only=True)
class Case:
    """Two datasets in a universe of the conclusion at finite distance, and what the two specifications say about them.

    Args:
        left, right: the datasets x and x'.
        near: d(x, x') of the premise.
        together: whether some universe of the premise holds both.
        rate: the Lipschitz constant that the premise grants in the universes of x.
        allowed: eps' d'(x, x'), the most that the conclusion allows between their laws.
    """

    left: Dataset
    right: Dataset
    near: Number
    together: bool
    rate: Number
    allowed: Bracket

    @property
    def kind(self) -> tuple[object, ...]:
        """What the families look at: one case of each kind is enough."""
        return self.near, self.together, self.rate, self.allowed.lower


def cases(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Case]:
    """One case of each kind, from the smallest datasets on."""
    return iter(_cases(premise, conclusion))


@attrs.define
class _Remembered:
    """What a generator yields, computed once and as far as somebody asks."""

    source: Iterator[Case]
    found: list[Case] = attrs.field(factory=list)

    def __iter__(self) -> Iterator[Case]:
        for place in itertools.count():
            if place == len(self.found):
                following = next(self.source, None)
                if following is None:
                    return
                self.found.append(following)
            yield self.found[place]


@lru_cache(maxsize=4)
def _cases(premise: PrivacySpec, conclusion: PrivacySpec) -> _Remembered:
    return _Remembered(_distinct(premise, conclusion))


def _distinct(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Case]:
    seen: set[tuple[object, ...]] = set()
    near, far = labeller(premise.multiverse, premise.space), labeller(conclusion.multiverse, conclusion.space)
    for left, right in pairs(premise, conclusion):
        for pair in ((left, right), (right, left)):
            try:
                case = _case(premise, conclusion, pair, [near(x) for x in pair], [far(x) for x in pair])
            except DpspecError:  # a dataset that is none of the other space, or that has no budget
                continue
            if case.kind not in seen:
                seen.add(case.kind)
                yield case


Labels = tuple[Hashable, ...]


@lru_cache(maxsize=64)
def labeller(multiverse: Multiverse, space: DatasetSpace) -> Callable[[Dataset], Labels]:
    """The labels of datasets, each computed once."""
    known: dict[Dataset, Labels] = {}

    def labels(dataset: Dataset) -> Labels:
        if dataset not in known:
            known[dataset] = multiverse.labels(dataset, space)
        return known[dataset]

    return labels


def _case(premise: PrivacySpec, conclusion: PrivacySpec, pair: Pair, near: list[Labels], far: list[Labels]) -> Case:
    return Case(
        left=pair[0],
        right=pair[1],
        near=premise.distance(*pair),
        together=not set(near[0]).isdisjoint(near[1]),
        rate=_rate(premise, pair[0], near[0]),
        allowed=_allowed(conclusion, pair, set(far[0]) & set(far[1])),
    )


def _rate(spec: PrivacySpec, dataset: Dataset, labels: Labels) -> Number:
    """The budget as a Lipschitz constant; the least over the universes of the dataset, where it differs by universe."""
    value = constant(spec)
    return min((spec.bound(Universe(label=u, datasets=(dataset,))) for u in labels), default=INFINITY) if value is None else value


@lru_cache(maxsize=64)
def constant(spec: PrivacySpec) -> Number | None:
    """The budget as a Lipschitz constant, where it is one number."""
    value = spec.budget.uniform()
    return None if value is None else spec.output_divergence.lipschitz(spec.budget.parameter, value)


def allowance(spec: PrivacySpec, pair: Pair) -> Bracket:
    """eps_D d(x, x'), the least over the universes that hold both: exact, or between two bounds."""
    labels = labeller(spec.multiverse, spec.space)
    return _allowed(spec, pair, {*labels(pair[0])} & {*labels(pair[1])})


def _allowed(spec: PrivacySpec, pair: Pair, shared: set[Hashable]) -> Bracket:
    distance = spec.distance(*pair)
    if not shared or distance.is_infinite:
        return Bracket.exactly(INFINITY)
    if distance == 0:
        return Bracket.exactly(0)
    value = constant(spec)
    if value is None:
        value = min(spec.bound(Universe(label=label, datasets=pair)) for label in shared)
    return product(value, distance)


def product(rate: Number, distance: Number) -> Bracket:
    """rate x distance: exact, or between two bounds where it has no exact form, such as ln(2) sqrt(2)."""
    try:
        return Bracket.exactly(rate * distance)
    except NumericalError:
        return Bracket.around(rate.enclose() * distance.enclose(), least=0)


def pairs(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Pair]:
    """Pairs of small datasets in one universe of the conclusion at finite distance, the closest of each miniature first."""
    for small in _small_spaces(premise, conclusion):
        yield from _pairs_in(small, conclusion.space, conclusion.multiverse, conclusion.input_divergence)
    yield from _crowded(premise, conclusion)


def _small_spaces(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[DatasetSpace]:
    """The space itself when it is small, else what is small of it; larger ones where the budget differs by universe."""
    size = conclusion.space.cardinality()
    if size is not None and size <= WALKED:
        yield conclusion.space
        return
    invariants = (*(premise.multiverse.invariants or ()), *(conclusion.multiverse.invariants or ()))
    varies = premise.budget.uniform() is None or conclusion.budget.uniform() is None
    smalls = list(miniatures(invariants, conclusion.space, largest=LARGEST))
    if not smalls:  # there are no smaller ones of its kind: the smallest datasets of the space itself
        yield conclusion.space
    for records, small in enumerate(smalls, start=1):
        size = small.cardinality()
        if records <= 2 or (size is not None and size <= WALKED and (varies or records <= 3)):
            yield small


@lru_cache(maxsize=256)
def _pairs_in(small: DatasetSpace, space: DatasetSpace, multiverse: Multiverse, divergence: InputDivergence) -> tuple[Pair, ...]:
    by_distance: dict[Number, list[Pair]] = {}
    for held in universes(small, space, multiverse):
        for pair in itertools.combinations(held[:OF_UNIVERSE], 2):
            distance = divergence.distance(*pair, space)
            if not divergence.is_symmetric:
                distance = min(distance, divergence.distance(*pair[::-1], space))
            if not distance.is_infinite and len(kept := by_distance.setdefault(distance, [])) < OF_DISTANCE:
                kept.append(pair)
    return tuple(pair for distance in sorted(by_distance) for pair in by_distance[distance])


@lru_cache(maxsize=256)
def universes(small: DatasetSpace, space: DatasetSpace, multiverse: Multiverse) -> tuple[list[Dataset], ...]:
    """The datasets of a miniature, universe by universe."""
    members: dict[object, list[Dataset]] = {}
    for dataset in itertools.islice(small.datasets(), WALKED):
        for label in multiverse.labels(dataset, space):
            members.setdefault(label, []).append(dataset)
    return tuple(held for held in members.values() if len(held) > 1)


def _crowded(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Pair]:
    """Pairs in which one unit of the conclusion changes many units of the premise, from 1 to 1024."""
    inner, outer = premise.input_divergence.counted_unit(), conclusion.input_divergence.counted_unit()
    if inner is None or outer is None or inner == outer:
        return
    for count in (2**exponent for exponent in range(11)):
        for pair in conclusion.space.exchanges(inner, outer, count):
            if conclusion.multiverse.share_universe(*pair, conclusion.space) and not conclusion.distance(*pair).is_infinite:
                yield pair
