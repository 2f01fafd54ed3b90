"""The last arguments for an implication: exhaustive checks of small spaces, by events and by pairs of datasets.

They are no registered rules, for they see the whole of two small specifications at once; `ARGUMENTS` says what each does.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Generic, TypeVar

import attrs

from dpspec.base.errors import DpspecError, NotEnumerableError, NumericalError, count
from dpspec.base.exact import INFINITY, Bracket, Number, number
from dpspec.base.log_linear import dyadic
from dpspec.base.memo import memoize
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.multisets import all_records, restrict_attributes
from dpspec.blocks.multiverse import Multiverse, Universe, mentioned_by, miniatures, with_free_attributes
from dpspec.blocks.parts import CellCounts, Changes, Entries, Membership, Mentioned, own_attributes
from dpspec.blocks.space import Dataset, DatasetSpace, Pair, Record
from dpspec.grammar.rule import Conversion, Rule, Step
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.numeric import rational_exponential

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
    return min((spec.bound(Universe(label=u, datasets=(dataset,))) for u in labels), default=INFINITY) if value is None else value


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
    for dataset in itertools.islice(space.datasets(), min(WALKED, LABELLED // max(invariants, 1) + 1)):
        yield dataset
        left -= entries(dataset)
        if left <= 0:
            return


def _small_spaces(premise: PrivacySpec, conclusion: PrivacySpec) -> Iterator[DatasetSpace]:
    """The space itself when it is small, else its miniatures; larger ones where the budget differs by universe."""
    size = conclusion.space.cardinality()
    if size is not None and size <= WALKED:
        yield conclusion.space
        return
    varies = premise.budget.uniform() is None or conclusion.budget.uniform() is None
    largest = LARGEST if varies else 3
    smalls = list(miniatures(_invariants(premise, conclusion), conclusion.space, largest=largest, varied=True))
    if not smalls and _lists_datasets(conclusion.space):  # there are no smaller ones of its kind: its own smallest datasets
        yield conclusion.space
    for place, small in enumerate(smalls):
        size = small.cardinality()
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


# --- event by event -------------------------------------------------------------------------------


LISTED = 20
"""Spaces of at most this many datasets are listed."""

EVENT_BY_EVENT = "event-by-event"
BITS = 96
BLOCKS = ("space", "multiverse", "input_divergence", "output_divergence", "budget")

Line = tuple[Fraction, Fraction]
"""(r, s): p <= r q + s."""
Lines = Mapping[Pair, tuple[Line, ...]]
"""The required bounds of P_x(S) by P_y(S), by (x, y); pairs without a bound are absent."""


@attrs.frozen(kw_only=True)
class Broken:
    """Probabilities of one event that the premise allows and the conclusion forbids.

    Args:
        pair: where the conclusion is broken.
        probabilities: of the event, by dataset.
    """

    pair: Pair
    probabilities: Mapping[Dataset, Fraction]


def event_by_event(premise: PrivacySpec, goal: PrivacySpec) -> Step | None:
    """The step from the premise to the goal in one, when it follows for every event; None when that is not seen."""
    if premise.space != goal.space:
        return None
    given, asked = lines(premise, up=True), lines(goal, up=False)
    if given is None or asked is None or next(_broken(given, asked), None) is not None:
        return None
    return Step(
        rule=EVENT_BY_EVENT,
        block=next(block for block in BLOCKS if getattr(premise, block) != getattr(goal, block)).replace("_", " "),
        before=premise,
        after=goal,
        reason=f"for every event, on each of {count(len(asked), 'ordered pair')} of datasets that the conclusion compares",
        citation="post-processing to one event, and group privacy along paths; Wasserman and Zhou 2010, Theorem 2.4",
        parameters={"pairs": len(asked)},
    )


def broken(premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Broken]:
    """Events that the premise allows: those that the goal forbids, and where single events do not decide for the goal, those
    at the corners of what the premise allows, which may break it.
    """
    given = lines(premise, up=False) if premise.space == goal.space else None
    if given is None:
        return
    asked = lines(goal, up=True)
    if asked is not None:
        yield from _broken(given, asked)
        return
    allowed = _Allowed(_steps(given))
    for pair in itertools.permutations(goal.space.datasets(), 2):
        if not _asks_nothing(goal, pair):
            yield from (allowed.broken(pair, q) for q in allowed.corners(*pair))


def _asks_nothing(goal: PrivacySpec, pair: Pair) -> bool:
    try:
        return allowance(goal, pair).upper.is_infinite
    except DpspecError:  # a universe without a budget
        return True


@memoize(maxsize=64)
def lines(spec: PrivacySpec, *, up: bool) -> Lines | None:
    """The inequalities of a specification; None where its space is too large, or single events do not decide.

    Args:
        up: whether irrational numbers are rounded up, so that the inequalities require no more than the specification, or down.
    """
    size = spec.space.cardinality()
    if size is None or size > LISTED:
        return None
    divergence, found = spec.output_divergence, dict[Pair, tuple[Line, ...]]()
    try:
        for pair in itertools.permutations(spec.space.datasets(), 2):
            bracket = allowance(spec, pair)
            bound = bracket.upper if up else bracket.lower
            if bracket.upper.is_infinite:
                continue
            known = divergence.event_bounds(bound)
            if known is None:
                return None
            small = [(min(power, number(EVENTS_LARGEST)), slack) for power, slack in known if not (up and power > EVENTS_LARGEST)]
            asked = tuple((_exponential(power, up), _rounded(slack, up)) for power, slack in small)
            for ordered in (pair, pair[::-1]) if divergence.is_symmetric else (pair,):
                found[ordered] = tuple({*found.get(ordered, ()), *asked})
    except DpspecError:  # a universe without a budget
        return None
    return found


EVENTS_LARGEST = 200
"""e^a is written down up to this a, and exactly up to this many digits of it in base 2."""


def _exponential(power: Number, up: bool) -> Fraction:
    exact = rational_exponential(power)
    if exact is not None and exact.denominator.bit_length() < BITS:
        return exact
    ends = power.enclose(BITS).exp()
    found = dyadic(ends.upper() if up else ends.lower())
    return max(found, Fraction(1)) if power >= 0 else found


def _rounded(value: Number, up: bool) -> Fraction:
    if value.is_rational:
        return value.as_fraction()
    ends = value.enclose(BITS)
    return dyadic(ends.upper() if up else ends.lower())


# --- the largest probabilities that inequalities allow --------------------------------------------


def _broken(given: Lines, asked: Lines) -> Iterator[Broken]:
    """Every pair on which the required bounds do not follow from the given ones."""
    allowed = _Allowed(_steps(given))
    for pair, wanted in sorted(asked.items(), key=lambda item: repr(item[0])):
        found = next((q for line in wanted if (q := allowed.above(*pair, line)) is not None), None)
        if found is not None:
            yield allowed.broken(pair, found)


Steps = Mapping[Dataset, tuple[tuple[Dataset, Line], ...]]
"""For each dataset y the inequalities p_x <= r p_y + s, as (x, (r, s))."""


def _steps(given: Lines) -> Steps:
    """Each inequality, and what it says about the complement: 1 - p_x <= r (1 - p_y) + s is p_y <= p_x/r + 1 - (1 - s)/r."""
    found: dict[Dataset, list[tuple[Dataset, Line]]] = {}
    for (x, y), held in given.items():
        for ratio, slack in held:
            found.setdefault(y, []).append((x, (ratio, slack)))
            found.setdefault(x, []).append((y, (1 / ratio, 1 - (1 - slack) / ratio)))
    return {dataset: tuple(held) for dataset, held in found.items()}


CERTAIN = Fraction(1), Fraction(0)
"""A probability of 1, whatever q is."""


@attrs.define
class _Allowed:
    """The largest probabilities that inequalities allow.

    Args:
        steps: the inequalities.
        known: what was computed before, by the dataset and the probability at the start.
    """

    steps: Steps
    known: dict[tuple[Dataset, Fraction], dict[Dataset, tuple[Fraction, Fraction]]] = attrs.field(factory=dict)

    def largest(self, start: Dataset, q: Fraction) -> dict[Dataset, tuple[Fraction, Fraction]]:
        """With p_start = q each probability below 1, and how fast it grows with q along its path."""
        if (start, q) in self.known:
            return self.known[start, q]
        found: dict[Dataset, tuple[Fraction, Fraction]] = {}
        waiting, order = [(q, 0, Fraction(1), start)], itertools.count(1)
        while waiting:
            value, _, slope, dataset = heapq.heappop(waiting)
            if dataset in found:
                continue
            found[dataset] = value, slope
            for other, (ratio, slack) in self.steps.get(dataset, ()):
                reached = ratio * value + slack
                if other not in found and reached < 1:
                    heapq.heappush(waiting, (reached, next(order), ratio * slope, other))
        self.known[start, q] = found
        return found

    def piece(self, u: Dataset, v: Dataset, q: Fraction) -> tuple[Fraction, Fraction]:
        """p_u at p_v = q, and the slope of a straight line through it that is nowhere below."""
        return self.largest(v, q).get(u, CERTAIN)

    def broken(self, pair: Pair, q: Fraction) -> Broken:
        """The event with probability q at the second dataset, and the largest ones elsewhere."""
        return Broken(pair=pair, probabilities={x: p for x, (p, _) in self.largest(pair[1], q).items()})

    def above(self, u: Dataset, v: Dataset, line: Line) -> Fraction | None:
        """Some q with p_u(q) > r q + s; None when there is none in [0, 1]."""
        ratio, slack = line
        low, high = Fraction(0), Fraction(1)
        (left, rise), (right, fall) = self.piece(u, v, low), self.piece(u, v, high)
        left, right, rise, fall = left - slack, right - ratio - slack, rise - ratio, fall - ratio
        while left <= 0 and right <= 0 and rise > 0 > fall:
            q = (right - left + rise * low - fall * high) / (rise - fall)
            limit = left + rise * (q - low)  # where the lines through both ends meet: the maximum is no larger
            value, slope = self.piece(u, v, q)
            height, slope = value - ratio * q - slack, slope - ratio
            if height > 0:
                return q
            if limit <= 0 or height == limit or slope == 0:
                return None
            if slope > 0:
                low, left, rise = q, height, slope
            else:
                high, right, fall = q, height, slope
        return low if left > 0 else high if right > 0 else None

    def corners(self, u: Dataset, v: Dataset) -> Iterator[Fraction]:
        """The points where the linear pieces of p_u(q) meet, ends included."""
        ends = [(q, *self.piece(u, v, q)) for q in (Fraction(0), Fraction(1))]
        found, waiting = {Fraction(0), Fraction(1)}, [tuple(ends)]
        while waiting and len(found) < MOST_CORNERS:
            (low, left, rise), (high, right, fall) = waiting.pop()
            if rise <= fall:
                continue
            q = (right - left + rise * low - fall * high) / (rise - fall)
            value, slope = self.piece(u, v, q)
            if q in found:
                continue
            found.add(q)
            if value < left + rise * (q - low):
                middle = (q, value, slope)
                waiting += [((low, left, rise), middle), (middle, (high, right, fall))]
        yield from sorted(found)


MOST_CORNERS = 40


# --- pair by pair ---------------------------------------------------------------------------------


PAIRWISE_LISTED = 16
"""Spaces of at most this many datasets are listed."""

PAIR_BY_PAIR = "pair-by-pair"

DistanceTable = dict[Pair, Number]


def pair_by_pair(premise: PrivacySpec, goal: PrivacySpec, rules: Sequence[Rule]) -> Step | None:
    """The step from the premise to the goal in one, when it holds on each pair; None when that is not seen."""
    if premise.space != goal.space or not _listable(premise) or not _listable(goal):
        return None
    granted, asked = _table(premise, paths=True), _table(goal, paths=False)
    if granted is None or asked is None:
        return None
    wanted = {(granted.get(pair, INFINITY), allowed) for pair, allowed in asked.items()}
    for name, converted in _formulas(premise, goal, rules):
        if all(_follows(premise, goal, row, converted) for row in wanted):
            return Step(
                rule=PAIR_BY_PAIR,
                block=next(block for block in PAIRWISE_BLOCKS if getattr(premise, block) != getattr(goal, block)).replace(
                    "_", " "
                ),
                before=premise,
                after=goal,
                reason=f"on each of {count(len(asked), 'pair')} that the conclusion compares" + (f", by {name}" if name else ""),
                citation="Bailie et al. 2024, definition of a specification",
                parameters={"pairs": len(asked)} | ({"conversion": name} if name else {}),
            )
    return None


PAIRWISE_BLOCKS = ("multiverse", "input_divergence", "output_divergence", "budget")


def _listable(spec: PrivacySpec) -> bool:
    """Whether the space is small, and a bound on one order of two datasets is one on the other."""
    size = spec.space.cardinality()
    both = spec.output_divergence.is_symmetric or spec.input_divergence.is_symmetric
    return size is not None and size <= PAIRWISE_LISTED and both


@memoize(maxsize=256)
def _table(spec: PrivacySpec, *, paths: bool) -> DistanceTable | None:
    """The finite bounds between two datasets, in either order; None where there is a universe without a budget.

    Args:
        paths: whether these are given bounds, rounded up and along paths, or required ones, rounded down.
    """
    datasets = list(spec.space.datasets())
    try:
        brackets = {pair: allowance(spec, pair) for pair in itertools.permutations(datasets, 2)}
    except DpspecError:
        return None
    bounds = {pair: bracket.upper if paths else bracket.lower for pair, bracket in brackets.items()}
    found = {(x, y): min(bound, bounds[y, x]) for (x, y), bound in bounds.items()}
    if paths and spec.output_divergence.is_metric:
        for middle, (x, y) in itertools.product(datasets, itertools.permutations(datasets, 2)):
            if middle not in (x, y):
                found[x, y] = min(found[x, y], _sum(found[x, middle], found[middle, y]))
    return {(x, y): found[x, y] for x, y in itertools.combinations(datasets, 2) if not found[x, y].is_infinite}


def _sum(one: Number, other: Number) -> Number:
    """The sum; infinite where it has no exact form, so that it is of no use."""
    try:
        return one + other
    except NumericalError:
        return INFINITY


def _formulas(premise: PrivacySpec, goal: PrivacySpec, rules: Sequence[Rule]) -> Iterator[tuple[str, Conversion | None]]:
    source, target = premise.output_divergence, goal.output_divergence
    if source == target:
        yield "", None
        return
    for rule in rules:
        if not isinstance(rule, Conversion) or rule.mechanism is not None:
            continue
        if rule.source == source.name and target in rule.targets(source, target):
            yield rule.name, rule


def _follows(premise: PrivacySpec, goal: PrivacySpec, row: tuple[Number, Number], by: Conversion | None) -> bool:
    """Whether the given bounds imply the required ones."""
    granted, allowed = row
    if by is None or granted.is_infinite:
        return granted <= allowed
    source, target = premise.output_divergence, goal.output_divergence
    if granted == 0 and source.separates_laws():
        return True  # the laws are equal, and at 0 from each other by any divergence
    found = by.convert(source, source.budget_for(source.budget_parameters[0], granted), target)
    return found is not None and target.lipschitz(target.budget_parameters[0], found.upper) <= allowed


# --- in words -------------------------------------------------------------------------------------


ARGUMENTS = {
    PAIR_BY_PAIR: """\
The last argument for an implication: on a small space, every pair of datasets that the conclusion compares.

The premise grants t(x, x') = eps d(x, x') inside its universes, and under a metric between laws the shortest sum of such terms
along datasets in between. A conclusion asks d_Pr'(P_x, P_x') <= a(x, x'). It follows from f(t) <= a on every pair, where f is the
identity or the formula of a conversion. It holds where no argument from the form of two blocks is known, and explains less.""",
    EVENT_BY_EVENT: """\
Small spaces where both output divergences are seen on single events: an implication is decided, one way or the other.

Where d_Pr(P, Q) <= t says P(S) <= e^a Q(S) + b for every event S (pure and approximate privacy, hockey sticks, total variation,
trade-off curves), a specification is a list of inequalities p_x <= r p_y + s between the probabilities p_x = P_x(S) of one event,
those of the complement 1 - p_x included. Two outcomes are enough: S and its complement are post-processing, which keeps the
premise, and one event shows that a conclusion is broken. With p_v = q the largest probabilities that the premise allows are

    p_x = min over paths from v to x of the inequalities along the path, applied to q,

because p_y <= r p_y + s: no inequality leads below its start (so that Dijkstra's order finds them), and the laws of these p keep
the premise. So the conclusion p_u <= r' p_v + s' follows exactly when p_u(q) - r' q - s' <= 0 for all q in [0, 1]. In q this is
concave and piecewise linear, and its maximum is found by cutting with the straight pieces at both sides.""",
}
"""The definition of each argument, by its name."""
