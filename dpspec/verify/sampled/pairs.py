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
from collections.abc import Hashable, Iterator, Sequence
from operator import add
from typing import Any

import attrs
from flint import arb

from dpspec.blocks.moves import adds_up, kernel_of
from dpspec.blocks.multiverse import Universe
from dpspec.blocks.patterns import FIRST
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import DpspecError
from dpspec.exact import Number
from dpspec.spec import PrivacySpec

MOST = 130
MOST_VECTORS = 170
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
    space, listed, lot = spec.space, _listed(spec), random.Random(seed)
    wanted = listed.tried(lot)
    if wanted is None:
        changed = space.has_counts() and not space.is_ordered
        further = _changes(spec, listed, lot) if changed else itertools.islice(listed.datasets(), FIRST, MOST)
        wanted = itertools.chain(itertools.islice(listed.datasets(), FIRST), further)
    most = MOST if space.units else MOST_VECTORS
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
    cells = list(dict.fromkeys(cell for dataset in first for cell in space.counts(dataset)))[:MOST_CELLS]
    additive = [invariant for invariant in spec.multiverse.invariants or () if adds_up(invariant, space)]
    least = space.counts(first[0]).total() if first else 0
    for common, whole in itertools.product((0, 1, 3), (True, False)):
        basis = kernel_of(additive, cells, space, keep_total=whole)[:MOST_CELLS]
        sums = [tuple(map(add, lot.choice(basis), lot.choice(basis))) for _ in basis]
        for change in (*basis, *sums):
            shared = [lot.choice(cells)] * max(common, least - sum(map(abs, change)) // 2)
            for sign in (-1, 1):
                side = Counter(shared)
                side.update({cell: abs(step) for cell, step in zip(cells, change, strict=True) if step * sign > 0})
                with contextlib.suppress(DpspecError):
                    yield space.from_counts(side)
    yield from first[FIRST:]


def pairs(given: Sequence[Dataset], spec: PrivacySpec) -> list[Pair]:
    """All pairs among some datasets that the claim speaks about, the smaller dataset first."""
    one_way = not spec.output_divergence.is_symmetric
    ordered = sorted(given, key=spec.space.order_tried)
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


def pair_order(pair: Pair, space: DatasetSpace) -> tuple[Any, ...]:
    """The order of witnesses: smaller datasets first, then closer ones, then by text."""
    (left, left_text), (right, right_text) = space.order_tried(pair.left), space.order_tried(pair.right)
    return left + right, pair.length, left_text, right_text
