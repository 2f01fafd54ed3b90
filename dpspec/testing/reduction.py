"""The last step to a smallest pair: drop records while the pair stays in one universe and still refutes.

Hypothesis shrinks what was drawn, not the pair; this pass works on the pair itself, in the documented order of witnesses: the two
magnitudes together, then the distance, then the text. When it ends, no pair that is left after dropping at most one
cell from each side (one step of a coordinate towards 0), after giving the categories that occur the first names there are, or
after merging those of one attribute, refutes and comes earlier.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from dpspec.blocks.households import Households
from dpspec.blocks.moves import children, counts_of, dataset_of, has_counts
from dpspec.blocks.records import ContingencyTables, OrderedRecords, Records
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Record
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
    for one, two in itertools.chain(_renamed(pair, spec.space), itertools.product(left, right)):
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
    if not has_counts(space):
        return
    for smaller in _without_one(dataset, space):
        try:
            yield smaller()
        except NotInSpaceError:
            continue


def _without_one(dataset: Dataset, space: DatasetSpace) -> Iterator[Callable[[], Dataset]]:
    if isinstance(space, OrderedRecords):
        records = space.records(dataset, space.unit)
        for place in range(len(records)):
            yield partial(space.dataset, (*records[:place], *records[place + 1 :]))
        return
    counts: Counter[Hashable] = counts_of(dataset, space)
    for cell, count in counts.items():
        less = {**counts, cell: count - (1 if count > 0 else -1)}
        yield partial(dataset_of, less, space)


# --- first names ------------------------------------------------------------------------------------


def _renamed(pair: Pair, space: DatasetSpace) -> Iterator[Pair]:
    """The pair with the categories that occur replaced by the first ones: one to one, and with one attribute merged into one."""
    if isinstance(space, Households):
        for merged in (None, *(a.name for a in (*space.household, *space.person))):
            yield _renamed_households(pair, space, merged)
    elif isinstance(space, Records) and not isinstance(space, ContingencyTables):
        read = [space.records(dataset, space.unit) for dataset in pair]
        for merged in (None, *(a.name for a in space.attributes)):
            names = _first_names([record for records in read for record in records], space.attributes, merged)
            left, right = (space.dataset([names[record] for record in records]) for records in read)
            yield left, right


def _renamed_households(pair: Pair, space: Households, merged: str | None) -> Pair:
    households = [entry for dataset in pair for entry in space.cells_of(dataset)]
    places = _first_names([place for place, _ in households], space.household, merged)
    persons = _first_names([person for _, members in households for person in members], space.person, merged)
    left, right = (
        space.of(tuple((places[p], tuple(sorted(persons[m] for m in members))) for p, members in space.cells_of(dataset)))
        for dataset in pair
    )
    return left, right


def _first_names(records: Iterable[Record], attributes: Sequence[Attribute], merged: str | None) -> dict[Record, Record]:
    """New names for whole records: of each attribute, inside each coarser category, the first ones in the old order.

    Of the attribute `merged` only the first one; what was told apart by its parent alone then gets names of its own.
    """
    original = {a.name: (place, a) for place, a in enumerate(attributes)}
    new: dict[Record, tuple[str, ...]] = dict.fromkeys(records, ())
    for place, attribute in enumerate(attributes):
        above = None if attribute.within is None else original[attribute.within]
        groups: dict[str, set[str]] = {}
        for record, names in new.items():
            groups.setdefault(names[above[0]] if above else "", set()).add(str(record[place]))
        single = attribute.name == merged
        chosen: dict[tuple[str, str], str] = {}
        for parent, used in groups.items():
            free = children(attribute, parent, above[1]) if above else range(attribute.size)
            # With too few names left some categories are merged, too.
            firsts = itertools.repeat(free[0]) if single else itertools.chain(free, itertools.repeat(free[-1]))
            for category, first in zip(sorted(used, key=attribute.index), firsts, strict=False):
                chosen[parent, category] = str(first) if attribute.count is not None else attribute.categories[first]
        for record, names in new.items():
            new[record] = (*names, chosen[names[above[0]] if above else "", str(record[place])])
    return dict(new)
