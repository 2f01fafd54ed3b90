"""The last step to a smallest pair: drop records while the pair stays in one universe and still refutes.

Hypothesis shrinks what was drawn, not the pair; this pass works on the pair itself, in the documented order of witnesses: the two
magnitudes together, then the distance, then the text. When it ends, no pair that is left after dropping at most one
cell from each side (one step of a coordinate towards 0), after giving the categories that occur the first names there are, or
after merging those of one attribute, refutes and comes earlier.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import NotInSpaceError
from dpspec.spec import PrivacySpec

Pair = tuple[Dataset, Dataset]


def reduced(pair: Pair, refutes: Callable[[Pair], bool], spec: PrivacySpec) -> Pair:
    """The pair, or a smaller one of one universe that also refutes."""
    while True:
        smaller = next(_smaller(pair, refutes, spec), None)
        if smaller is None:
            return pair
        pair = smaller


def _smaller(pair: Pair, refutes: Callable[[Pair], bool], spec: PrivacySpec) -> Iterator[Pair]:
    size = order(pair, spec)
    left, right = (list(_less(dataset, spec.space)) for dataset in pair)
    for one, two in itertools.chain(spec.space.renamed(*pair), itertools.product(left, right)):
        if one == two or not spec.multiverse.share_universe(one, two, spec.space):
            continue
        if not spec.distance(one, two).is_infinite and order((one, two), spec) < size and refutes((one, two)):
            yield one, two


def order(pair: Pair, spec: PrivacySpec) -> tuple[Any, ...]:
    """The documented order of witnesses."""
    (left, left_text), (right, right_text) = (spec.space.order(dataset) for dataset in pair)
    return left + right, spec.distance(*pair), left_text, right_text


def _less(dataset: Dataset, space: DatasetSpace) -> Iterator[Dataset]:
    """The dataset, and what is left after one cell is dropped."""
    yield dataset
    if not space.has_counts():
        return
    for smaller in _without_one(dataset, space):
        try:
            yield smaller()
        except NotInSpaceError:
            continue


def _without_one(dataset: Dataset, space: DatasetSpace) -> Iterator[Callable[[], Dataset]]:
    if space.is_sequence:
        cells = space.cells_of(dataset)
        for place in range(len(cells)):
            yield partial(space.dataset, (*cells[:place], *cells[place + 1 :]))
        return
    counts = space.counts(dataset)
    for cell, count in counts.items():
        less = {**counts, cell: count - (1 if count > 0 else -1)}
        yield partial(space.from_counts, less)
