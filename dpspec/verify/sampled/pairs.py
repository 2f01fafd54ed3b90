"""Which datasets and pairs a black box is tried on: the smallest ones, and patterns.

    lists    the first ones of the space; one value repeated, also often; that with one entry changed, at every position once;
             a step; some by lot, with one entry changed and with two exchanged
    vectors  constants, moved up and down by 1 and 2 in patterns: all, one alone, one against the rest, a step, alternating

A pair is two datasets of one universe at finite distance. Pairs are compared at their own distance, not neighbours only.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, cast

import attrs
from flint import arb

from dpspec.blocks.multiverse import Universe
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.blocks.values import ValueLists
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.errors import DpspecError
from dpspec.exact import Number
from dpspec.spec import PrivacySpec

FIRST = 40
MOST = 130
MOST_VECTORS = 170
LONG, LONGEST = 12, 30
"""Constant lists are tried up to the one length, every position is changed once up to the other."""
_PRECISION = 96


@attrs.frozen
class Pair:
    """Two datasets of one universe.

    Args:
        left, right: x and x'.
        distance: d_X(x, x').
        universe: the label of the universe.
        budget: the Lipschitz constant of the universe.
    """

    left: Dataset
    right: Dataset
    distance: Number
    universe: Hashable
    budget: Number
    length: float = attrs.field(eq=False)
    """The distance as a float, to sort by."""

    @property
    def bound(self) -> arb:
        """A ball around budget x distance."""
        return self.budget.enclose(_PRECISION) * self.distance.enclose(_PRECISION)


def datasets(spec: PrivacySpec, seed: int) -> list[Dataset]:
    """The datasets that are tried, each once."""
    space = spec.space
    if isinstance(space, IntegerCounts):
        wanted: Iterable[Any] = _vectors(space)
        most = MOST_VECTORS
    else:
        first = itertools.islice(space.datasets(), FIRST)
        wanted, most = itertools.chain(first, _patterns(space, random.Random(seed))), MOST
    found: dict[str, Dataset] = {}
    for candidate in itertools.islice(wanted, 20 * most):
        if len(found) >= most:
            break
        try:
            dataset = space.dataset(candidate)
        except DpspecError:
            continue
        if spec.multiverse.labels(dataset, space):
            found.setdefault(repr(dataset), dataset)
    return list(found.values())


def _patterns(space: DatasetSpace, lot: random.Random) -> Iterator[Any]:
    """Lists with a pattern: constant, one changed, a step, by lot; nothing for spaces that are no lists."""
    if isinstance(space, ValueLists):
        values, least, most = space.values, space.least, space.most
    elif isinstance(space, BitVectors):
        values, least, most = (0, 1), space.length, space.length
    else:
        yield from itertools.islice(space.datasets(), FIRST, MOST)
        return
    telling = [*dict.fromkeys((values[0], values[-1], values[len(values) // 2], *values))]
    sizes = range(least, min(least + 4, 8 if most is None else most) + 1)
    for size in sizes:
        for value in telling[:6]:
            yield [value] * size
    if space.is_ordered and len(telling) > 1:
        for place in range(min(max(sizes), LONGEST)):
            yield [telling[1] if i == place else telling[0] for i in range(max(sizes))]
    for size in range(sizes.stop, LONG if most is None else min(most, LONG) + 1):
        yield [telling[0]] * size
    for size in sizes:
        for value, other in itertools.islice(itertools.permutations(telling, 2), 12):
            yield [value] * (size - 1) + [other] if size else []
            yield [other] + [value] * (size - 1) if size else []
            yield [value] * (size // 2) + [other] * (size - size // 2)
    if len(values) ** max(sizes) > FIRST:
        for _ in range(MOST):
            yield from _by_lot(values, lot.choice(sizes), lot)


def _by_lot(values: Sequence[Any], size: int, lot: random.Random) -> Iterator[list[Any]]:
    """A list by lot, the same with one entry changed, and with two entries exchanged, as invariants such as totals ask for."""
    drawn = [lot.choice(values) for _ in range(size)]
    yield drawn
    if size:
        place, other = lot.randrange(size), lot.randrange(size)
        yield [*drawn[:place], lot.choice(values), *drawn[place + 1 :]]
        exchanged = list(drawn)
        exchanged[place], exchanged[other] = drawn[other], drawn[place]
        yield exchanged


def moves(length: int) -> list[tuple[int, ...]]:
    """Directions in {-1, 0, 1}^n, up to sign: all, one against the rest, steps, alternating, one alone.

    >>> moves(2)
    [(1, 1), (-1, 1), (1, -1), (1, 0), (0, 1)]
    """
    whole = [(1,) * length]
    against = [tuple(-1 if i == j else 1 for i in range(length)) for j in range(length)] if length > 1 else []
    steps = [tuple(1 if i < cut else -1 for i in range(length)) for cut in range(1, length)]
    steps.sort(key=lambda step: abs(sum(step)))
    waves = [tuple(1 if i % 2 == 0 else -1 for i in range(length))]
    alone = [tuple(1 if i == j else 0 for i in range(length)) for j in range(length)] if length > 1 else []
    return list(dict.fromkeys([*whole, *against, *steps, *waves, *alone]))


def _vectors(space: IntegerCounts) -> Iterator[tuple[int, ...]]:
    """Constants, and constants moved by each direction, near the middle of the space first."""
    middle = 0 if space.low <= 0 and (space.high is None or space.high >= 0) else space.low
    directions = moves(space.length)
    yield from ((middle + step,) * space.length for step in (0, 1, -1, 2, 3))
    for base, size in ((0, 1), (0, 2), (3, 1), (1, 1)):
        for direction in directions:
            for sign in (1, -1):
                yield tuple(middle + base + sign * size * entry for entry in direction)


def pairs(given: Sequence[Dataset], spec: PrivacySpec) -> list[Pair]:
    """All pairs among some datasets that the claim speaks about, the smaller dataset first."""
    one_way = not spec.output_divergence.is_symmetric
    ordered = sorted(given, key=size_of(spec.space))
    labels = {repr(dataset): spec.multiverse.labels(dataset, spec.space) for dataset in ordered}
    budgets: dict[Any, Number] = {}
    lengths: dict[str, tuple[Number, float]] = {}
    found = []
    for left, right in itertools.permutations(ordered, 2) if one_way else itertools.combinations(ordered, 2):
        theirs = labels[repr(right)]
        shared = [label for label in labels[repr(left)] if label in theirs]
        pair = _pair(left, right, shared, spec, (budgets, lengths), one_way=one_way) if shared else None
        if pair is not None:
            found.append(pair)
    return found


def _pair(
    left: Dataset,
    right: Dataset,
    shared: list[Hashable],
    spec: PrivacySpec,
    known: tuple[dict[Any, Number], dict[str, tuple[Number, float]]],
    *,
    one_way: bool,
) -> Pair | None:
    budgets, lengths = known
    distance = spec.distance(left, right)
    if not one_way and not spec.input_divergence.is_symmetric:
        back = spec.distance(right, left)
        if back < distance:
            left, right, distance = right, left, back
    if distance.is_infinite:
        return None
    for label in shared:
        if label not in budgets:
            budgets[label] = spec.bound(Universe(label=label, datasets=(left, right)))
    universe = shared[0] if len(shared) == 1 else min(shared, key=lambda label: budgets[label])
    distance, length = lengths.setdefault(str(distance), (distance, float(distance)))
    return None if budgets[universe].is_infinite else Pair(left, right, distance, universe, budgets[universe], length)


def size_of(space: DatasetSpace) -> Callable[[Dataset], tuple[int, str]]:
    """The order of datasets in witnesses: by size, then by text; the size of query answers is their largest absolute value."""
    if isinstance(space, IntegerCounts):
        return lambda dataset: (max(map(abs, cast("tuple[int, ...]", dataset))), space.order(dataset)[1])
    return space.order


def pair_order(pair: Pair, space: DatasetSpace) -> tuple[Any, ...]:
    """The order of witnesses: smaller datasets first, then closer ones, then by text."""
    size = size_of(space)
    (left, left_text), (right, right_text) = size(pair.left), size(pair.right)
    return left + right, pair.length, left_text, right_text
