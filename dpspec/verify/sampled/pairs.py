"""Which datasets and pairs a black box is tried on: the smallest ones, and patterns.

    lists    the first ones of the space; one value repeated, also often; that with one entry changed, at every position once;
             a step; some by lot, with one entry changed and with two exchanged
    vectors  constants, moved up and down by 1 and 2 in patterns: all, one alone, one against the rest, a step, alternating
    records  (tables, households, whatever counts over cells) the first ones; w + v^- and w + v^+ for short changes v that keep
             the invariants, w a few equal cells; a space whose records are of very many kinds through its miniature

A pair is two datasets of one universe at finite distance. Pairs are compared at their own distance, not neighbours only.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from operator import add
from typing import Any, cast

import attrs
from flint import arb

from dpspec.blocks.moves import adds_up, counts_of, dataset_of, has_counts, kernel_of
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
MOST_KINDS = 500
"""A space whose records can be of more kinds is tried through its miniature."""
MOST_CELLS = 12
"""Changes are looked for over so many cells."""
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
        listed, lot = _listed(spec), random.Random(seed)
        patterns = _changes(spec, listed, lot) if has_counts(space) and not space.is_ordered else _patterns(listed, lot)
        wanted, most = itertools.chain(itertools.islice(listed.datasets(), FIRST), patterns), MOST
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
    """Lists with a pattern: constant, one changed, a step, by lot; the next datasets of spaces that are no plain lists."""
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


def _listed(spec: PrivacySpec) -> DatasetSpace:
    """The space whose first datasets are tried: a miniature, where one record alone can be of very many kinds."""
    space = spec.space
    kinds = (math.prod(attribute.size for attribute in space.attributes_of(unit)) for unit in space.units)
    if max(kinds, default=0) <= MOST_KINDS:
        return space
    mentioned: dict[str, frozenset[str]] = {a.name: frozenset() for unit in space.units for a in space.attributes_of(unit)}
    for invariant in spec.multiverse.invariants or ():
        for name, categories in invariant.mentions().items():
            mentioned[name] = mentioned.get(name, frozenset()) | categories
    return space.miniature(mentioned, 3) or space


def _changes(spec: PrivacySpec, listed: DatasetSpace, lot: random.Random) -> Iterator[Dataset]:
    """Pairs w + v^-, w + v^+ with a change v that keeps the invariants which add up, and a common part w."""
    space, first = spec.space, list(itertools.islice(listed.datasets(), MOST))
    cells = list(dict.fromkeys(cell for dataset in first for cell in counts_of(dataset, space)))[:MOST_CELLS]
    additive = [invariant for invariant in spec.multiverse.invariants or () if adds_up(invariant, space)]
    least = counts_of(first[0], space).total() if first else 0
    for common, whole in itertools.product((0, 1, 3), (True, False)):
        basis = kernel_of(additive, cells, space, keep_total=whole)[:MOST_CELLS]
        sums = [tuple(map(add, lot.choice(basis), lot.choice(basis))) for _ in basis]
        for change in (*basis, *sums):
            shared = [lot.choice(cells)] * max(common, least - sum(map(abs, change)) // 2)
            for sign in (-1, 1):
                side = Counter(shared)
                side.update({cell: abs(step) for cell, step in zip(cells, change, strict=True) if step * sign > 0})
                with contextlib.suppress(DpspecError):
                    yield dataset_of(side, space)
    yield from first[FIRST:]


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
