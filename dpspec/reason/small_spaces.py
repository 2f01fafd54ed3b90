"""Small cases of two specifications: their datasets, the pairs that each of them compares, and what it allows on a pair."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, TypeVar

import attrs

from dpspec.base.errors import DpspecError, NotEnumerableError, NumericalError
from dpspec.base.exact import INFINITY, Bracket, Number
from dpspec.base.memo import memoize
from dpspec.base.work import whole
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.multisets import all_records, restrict_attributes
from dpspec.blocks.multiverse import Multiverse, Universe, mentioned_by, miniatures, with_free_attributes
from dpspec.blocks.parts import (
    CellCounts,
    Changes,
    Entries,
    Membership,
    Mentioned,
    listing_size,
    own_attributes,
    smallest_datasets,
)
from dpspec.blocks.space import Dataset, DatasetSpace, Pair, Record
from dpspec.grammar.spec import PrivacySpec

WALKED = 5_000
"""The largest number of datasets of each miniature that are checked."""

OF_UNIVERSE = 60
"""At most this many datasets of each universe are compared with each other."""

OF_DISTANCE = 150
"""At most this many pairs at one distance are kept."""

LARGEST = 6
"""Miniatures have at most this many records."""

ENTRIES = 300_000
"""The datasets that are listed of one space hold at most this many entries together: three vectors of 100,000 bits."""

LABELLED = 50_000
"""The largest number of values of invariants that are computed to decide which datasets of one space share a universe."""

COMPARED = 2_000_000
"""The pairs whose distance is computed in one space hold at most this many entries together, which takes about a second."""


@attrs.frozen(kw_only=True)
class SmallCase:
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
        """The kind of case: one case of each kind is enough."""
        return self.near, self.together, self.rate, self.allowed.lower


def cases(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[SmallCase]:
    """One case of each kind, from the smallest datasets on."""
    return iter(_cases(premise, conclusion))


_Item = TypeVar("_Item")


@attrs.define
class _Remembered(Generic[_Item]):
    """The items of a generator, computed once and only as far as they are read; an error that ends it is raised again."""

    source: Iterator[_Item]
    found: list[_Item] = attrs.field(factory=list)
    fault: DpspecError | None = None

    def __iter__(self) -> Iterator[_Item]:
        for place in itertools.count():
            if place == len(self.found):
                if self.fault is not None:
                    raise self.fault
                try:
                    with whole():
                        following = next(self.source, None)
                except DpspecError as fault:
                    self.fault = fault
                    raise
                if following is None:
                    return
                self.found.append(following)
            yield self.found[place]


@memoize(maxsize=4)
def _cases(premise: PrivacySpec, conclusion: PrivacySpec) -> _Remembered[SmallCase]:
    return _Remembered(_distinct(premise, conclusion))


def _distinct(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[SmallCase]:
    seen: set[tuple[object, ...]] = set()
    near, far = labeller(premise.multiverse, premise.space), labeller(conclusion.multiverse, conclusion.space)
    for left, right in pairs(premise, conclusion):
        for pair in ((left, right), (right, left)):
            try:
                _belong(pair, premise.space, conclusion.space)
                case = _case(premise, conclusion, pair, [near(x) for x in pair], [far(x) for x in pair])
            except DpspecError:  # a dataset that is none of the other space, or that has no budget
                continue
            if case.kind not in seen:
                seen.add(case.kind)
                yield case


def _belong(pair: Pair, *spaces: DatasetSpace) -> None:
    """Refuse datasets of which some space knows nothing: its invariants are functions on that space alone."""
    for space in spaces if spaces[0] != spaces[1] else ():
        for dataset in pair:
            space.dataset(dataset)


Labels = tuple[Hashable, ...]


@memoize(maxsize=64)
def labeller(multiverse: Multiverse, space: DatasetSpace) -> Callable[[Dataset], Labels]:
    """The labels of datasets, each computed once."""
    known: dict[Dataset, Labels] = {}

    def labels(dataset: Dataset) -> Labels:
        if dataset not in known:
            known[dataset] = multiverse.labels(dataset, space)
        return known[dataset]

    return labels


def _case(premise: PrivacySpec, conclusion: PrivacySpec, pair: Pair, near: list[Labels], far: list[Labels]) -> SmallCase:
    return SmallCase(
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
    if value is not None:
        return value
    held = (Universe(label=label, datasets=(dataset,), is_whole=False) for label in labels)
    return min(map(spec.bound, held), default=INFINITY)


@memoize(maxsize=64)
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
        value = min(spec.bound(Universe(label=label, datasets=pair, is_whole=False)) for label in shared)
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
    invariants = _invariants(premise, conclusion)
    yield from _changed(conclusion.space, invariants, conclusion.multiverse, conclusion.input_divergence)
    yield from _crowded(premise, conclusion)


@memoize(maxsize=1024)
def own_pairs(spec: PrivacySpec) -> Iterable[Pair]:
    """The pairs of a specification alone, computed once: a folder of files compares each of them with all others."""
    return _Remembered(pairs(spec, spec))


def _invariants(premise: PrivacySpec, conclusion: PrivacySpec) -> tuple[Invariant, ...]:
    return (*(premise.multiverse.induced_by() or ()), *(conclusion.multiverse.induced_by() or ()))


def entries(dataset: Dataset) -> int:
    """The number of entries of a dataset, those of its records included: the cost of one evaluation."""
    if isinstance(dataset, tuple) and dataset and isinstance(dataset[0], tuple):
        return 1 + sum(map(entries, dataset))
    return 1 + len(dataset) if isinstance(dataset, (tuple, str)) else 1


def first_datasets(space: DatasetSpace, invariants: int = 1) -> Iterator[Dataset]:
    """The first datasets of a space, as many as `WALKED`, `ENTRIES` and `LABELLED` allow, by how many invariants label them."""
    left = ENTRIES
    for dataset in itertools.islice(smallest_datasets(space), min(WALKED, LABELLED // max(invariants, 1) + 1)):
        yield dataset
        left -= entries(dataset)
        if left <= 0:
            return


def _small_spaces(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[DatasetSpace]:
    """The space itself when it is small, else its miniatures; larger ones where the budget differs by universe."""
    size = listing_size(conclusion.space)
    if size is not None and size <= WALKED:
        yield conclusion.space
        return
    varies = premise.budget.uniform() is None or conclusion.budget.uniform() is None
    largest = LARGEST if varies else 3
    smalls = list(miniatures(_invariants(premise, conclusion), conclusion.space, largest=largest, varied=True))
    if not smalls and _lists_datasets(conclusion.space):  # there are no smaller ones of its kind: its own smallest datasets
        yield conclusion.space
    for place, small in enumerate(smalls):
        size = listing_size(small)
        if place % largest < 2 or (size is not None and size <= WALKED):
            yield small


def _lists_datasets(space: DatasetSpace) -> bool:
    """Whether the smallest datasets can be written down at all."""
    cells, lists = CellCounts.found_in(space), Entries.found_in(space)
    least = (0 if cells is None else cells.total_range()[0], 0 if lists is None else lists.least_entries())
    return max(least) <= ENTRIES


@memoize(maxsize=256)
def _pairs_in(small: DatasetSpace, space: DatasetSpace, multiverse: Multiverse, divergence: InputDivergence) -> tuple[Pair, ...]:
    by_distance: dict[Number, list[Pair]] = {}
    left = COMPARED
    for held in universes(small, space, multiverse):
        for pair in itertools.combinations(held[:OF_UNIVERSE], 2):
            left -= sum(map(entries, pair))
            if left <= 0:
                break
            try:
                distance = divergence.distance(*pair, space)
                if not divergence.is_symmetric:
                    distance = min(distance, divergence.distance(*pair[::-1], space))
            except NotEnumerableError:  # a distance that is a search through the whole space
                continue
            if not distance.is_infinite and len(kept := by_distance.setdefault(distance, [])) < OF_DISTANCE:
                kept.append(pair)
    return tuple(pair for distance in sorted(by_distance) for pair in by_distance[distance])


@memoize(maxsize=256)
def universes(small: DatasetSpace, space: DatasetSpace, multiverse: Multiverse) -> tuple[list[Dataset], ...]:
    """The datasets of a miniature, universe by universe."""
    members: dict[object, list[Dataset]] = {}
    for dataset in first_datasets(small, len(multiverse.induced_by() or ())):
        for label in multiverse.labels(dataset, space):
            members.setdefault(label, []).append(dataset)
    return tuple(held for held in members.values() if len(held) > 1)


KINDS_CHANGED, RECORDS_CHANGED = 6, 2
"""The largest number of kinds of records that change in spaces without small datasets, and of records."""


@memoize(maxsize=256)
def _changed(
    space: DatasetSpace, invariants: tuple[Invariant, ...], multiverse: Multiverse, divergence: InputDivergence
) -> tuple[Pair, ...]:
    """Pairs that differ in one or two records: also in spaces whose smallest datasets are large, or too many to list."""
    part, found, left = Changes.found_in(space), dict[Pair, None](), ENTRIES
    mentioned = with_free_attributes(mentioned_by(invariants), space)
    if part is None:
        return ()
    for unit in space.units:
        kinds = list(itertools.islice(_kinds(space, unit, mentioned), KINDS_CHANGED))
        bags = [
            bag for size in range(RECORDS_CHANGED + 1) for bag in itertools.combinations_with_replacement(kinds, size)
        ]
        for gone, come in itertools.combinations(bags, 2):
            if not set(gone).isdisjoint(come):
                continue
            for pair in part.differing(unit, gone, come):
                left -= sum(map(entries, pair))
                if left <= 0:
                    return tuple(found)
                if _is_compared(pair, space, multiverse, divergence):
                    found[pair] = None
    return tuple(found)


def _kinds(space: DatasetSpace, unit: str, mentioned: Mentioned) -> Iterator[Record]:
    """Kinds of records of a unit that differ in what is mentioned; what larger units hold of smaller ones varies, too."""
    own, attributes = own_attributes(space, unit), space.attributes_of(unit)
    named = attributes if len(own) == 0 else tuple(a for a in attributes if a in own or unit != space.units[0])
    further = [a for a in attributes if a not in named]
    part = Changes.needed_in(space)
    for record in all_records(restrict_attributes(named, mentioned)):
        for rest in itertools.product(*(itertools.islice(part.few_values(a), 2) for a in further)):
            yield (*record, *rest)


def _is_compared(pair: Pair, space: DatasetSpace, multiverse: Multiverse, divergence: InputDivergence) -> bool:
    try:
        left, right = (space.dataset(x) for x in pair)
        if not multiverse.share_universe(left, right, space):
            return False
        return not (divergence.distance(left, right, space).is_infinite and divergence.distance(right, left, space).is_infinite)
    except DpspecError:  # no dataset of the space
        return False


def _crowded(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[Pair]:
    """Pairs in which one unit of the conclusion changes many units of the premise, from 1 to 1024."""
    inner, outer = premise.input_divergence.counted_unit(), conclusion.input_divergence.counted_unit()
    members = Membership.found_in(conclusion.space)
    if inner is None or outer is None or inner == outer or members is None:
        return
    for changed in (2**exponent for exponent in range(11)):
        for pair in members.exchanges(inner, outer, changed):
            if conclusion.multiverse.share_universe(*pair, conclusion.space) and not conclusion.distance(*pair).is_infinite:
                yield pair
