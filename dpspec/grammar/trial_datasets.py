"""Datasets on which a claim is tried where its space is too large to list: one search for `verify`, `risk` and plain code.

`pattern_datasets` lists single datasets, for code that is sampled. `trial_groups` lists groups of datasets whose laws are
compared with each other: the smallest datasets of the space, and then pairs w + v^-, w + v^+ that differ by a short change v
which keeps the invariants. The common part w consists of many equal records, because methods with a threshold (suppression,
rounding, cell keys) treat small and large counts differently. Every command that looks for the worst pair of a mechanism takes
its pairs from here, so that no command finds a pair that another one does not look at.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import random
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Sized
from operator import add

from dpspec.base.errors import DpspecError
from dpspec.base.memo import memoize
from dpspec.base.work import spend
from dpspec.blocks.moves import adds_up, kernel_of
from dpspec.blocks.multiverse import mentioned_by
from dpspec.blocks.parts import (
    CellCounts,
    Changes,
    Item,
    Trials,
    counting_cells,
    few_cells,
    listed_cells,
    miniature_of,
    sizes_of,
    smallest_datasets,
)
from dpspec.blocks.space import MEMBERS, Attribute, Dataset, DatasetSpace, Pair, Record
from dpspec.blocks.trial_lists import FIRST
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec

MOST = 400
"""The largest number of datasets that are listed for plain code."""
MOST_KINDS = 500
"""A space whose records can be of more kinds is tried through its miniature."""
MOST_CELLS = 12
"""Changes are looked for over so many cells."""


# --- single datasets, for code that is sampled ----------------------------------------------------


def pattern_datasets(spec: PrivacySpec, seed: int) -> Iterator[Dataset]:
    """The datasets that code is sampled on, each once, the most telling first."""
    space, listed, generator = spec.space, _listed(spec), random.Random(seed)
    trials = Trials.found_in(listed)
    wanted = None if trials is None else trials.tried(generator)
    if wanted is None:
        changed = counting_cells(space) is not None and not space.is_ordered
        further = _changes(spec, listed, generator) if changed else itertools.islice(listed.datasets(), FIRST, MOST)
        wanted = itertools.chain(itertools.islice(listed.datasets(), FIRST), further)
    found: set[str] = set()
    for candidate in itertools.islice(wanted, 20 * MOST):
        with contextlib.suppress(DpspecError):
            dataset = space.dataset(candidate)
            if repr(dataset) not in found and spec.multiverse.labels(dataset, space):
                found.add(repr(dataset))
                yield dataset


def _listed(spec: PrivacySpec) -> DatasetSpace:
    """The space whose first datasets are tried: a miniature, where one record alone can be of very many kinds."""
    space = spec.space
    kinds = (math.prod(attribute.size for attribute in space.attributes_of(unit)) for unit in space.units)
    if max(kinds, default=0) <= MOST_KINDS:
        return space
    return miniature_of(space, _mentioned(spec), 3) or space


def _kinds(space: DatasetSpace) -> int:
    """The largest number of kinds of records of a unit, not counting the members inside a record."""
    sizes = ([a.size for a in space.attributes_of(unit) if a.name != MEMBERS] for unit in space.units)
    return max(map(math.prod, sizes), default=0)


def _mentioned(spec: PrivacySpec) -> dict[str, frozenset[str]]:
    """The attributes, each with the categories that an invariant singles out."""
    space = spec.space
    every = {a.name: frozenset[str]() for unit in space.units for a in space.attributes_of(unit)}
    return {**every, **mentioned_by(spec.multiverse.induced_by() or ())}


def _changes(spec: PrivacySpec, listed: DatasetSpace, generator: random.Random) -> Iterator[Dataset]:
    """Pairs w + v^-, w + v^+ with a change v that keeps the invariants which add up, and a common part w."""
    held, first = CellCounts.needed_in(spec.space), list(itertools.islice(listed.datasets(), MOST))
    cells = list(dict.fromkeys(cell for dataset in first for cell in held.counts(dataset)))[:MOST_CELLS]
    additive = [invariant for invariant in spec.multiverse.induced_by() or () if adds_up(invariant, spec.space)]
    least = held.counts(first[0]).total() if first else 0
    for common, whole in itertools.product((0, 1, 3), (True, False)):
        basis = kernel_of(additive, cells, spec.space, keep_total=whole)[:MOST_CELLS]
        sums = [tuple(map(add, generator.choice(basis), generator.choice(basis))) for _ in basis]
        for change in (*basis, *sums):
            shared = [generator.choice(cells)] * max(common, least - sum(map(abs, change)) // 2)
            for sign in (-1, 1):
                side = Counter(shared)
                side.update({cell: abs(step) for cell, step in zip(cells, change, strict=True) if step * sign > 0})
                with contextlib.suppress(DpspecError):
                    yield held.from_counts(side)
    yield from first[FIRST:]


# --- groups of datasets, for laws that are compared -----------------------------------------------


MOST_TABLED = 4_096
"""With more kinds of records than this datasets are tried only for a mechanism whose law is known to be small (`has_small_law`):
a law over all these cells takes too long, and often too much memory."""
MOST_NUMBERS = 20_000
"""A law is small with so many numbers in all its outcomes: 8,000 counts that are rounded take 0.1 s."""
MOST_RECORDS = 50_000
"""Pairs of a space with many kinds are tried until they have so many records in all: reading them takes about 0.4 s."""
PROBED = 6
"""The number of categories of an attribute that are kept to test whether a law grows with it."""
FEW = 48
"""The number of the smallest datasets that are compared with each other."""
CHANGES = 6
"""The number of changes that are tried with each common part: of those that keep the number of records, and of the others."""
COMMON = (*range(25), 31, 32, 49, 50, 63, 64, 99, 100)
"""So many equal records are shared by the two datasets of a pair. Statistical offices suppress or round counts up to about 20;
powers of two and round numbers are limits of counters."""
LARGEST = 10_000
"""A pair is not filled up with more records than this."""
_WORK_OF_AN_ATTRIBUTE = 100
"""Units of work to reduce one attribute of a space, and to read it in a law there."""
MOST_COMPARED, MOST_ENTRIES = 1 << 24, 1 << 22
"""The smallest datasets are so few that comparing each two of them entry by entry compares at most so many entries, and all pairs
that are filled up have at most so many. A second of work each; all datasets of up to 10,000 entries are within the first."""


@memoize(maxsize=64)
def trial_groups(spec: PrivacySpec) -> tuple[tuple[Dataset, ...], ...]:
    """Groups of datasets of a large space whose laws are compared inside each group; none where there are too many cells.

    The first group holds the smallest datasets, the others the two sides of one change. They depend on the specification alone.
    """
    return () if _has_many_kinds(spec.space) else tuple(_groups(spec))


def groups_for(mechanism: Mechanism, spec: PrivacySpec) -> Iterable[tuple[Dataset, ...]]:
    """The groups of datasets on which the laws of a mechanism are compared.

    With more than `MOST_TABLED` kinds of records, and a small law, these are pairs of a few records that differ in each attribute
    in turn; otherwise those of `trial_groups`.
    """
    if _has_many_kinds(spec.space):
        return _groups_of_few_records(spec) if has_small_law(mechanism, spec) else ()
    return trial_groups(spec)


def _has_many_kinds(space: DatasetSpace) -> bool:
    return counting_cells(space) is not None and listed_cells(space) is None and _kinds(space) > MOST_TABLED


def _groups_of_few_records(spec: PrivacySpec) -> Iterator[tuple[Dataset, ...]]:
    """Pairs of records that differ in each attribute in turn, also next to more and more records equal to one of the two."""
    pairs, left = itertools.chain(pairs_of_one_record(spec), _pairs_in_crowds(spec)), MOST_RECORDS
    for pair in pairs:
        yield pair
        left -= sum(map(spec.space.magnitude, pair))
        if left < 0:
            return


def _pairs_in_crowds(spec: PrivacySpec) -> Iterator[tuple[Dataset, Dataset]]:
    space, changes = spec.space, Changes.found_in(spec.space)
    if changes is None or not space.units:
        return
    unit = space.units[0]
    least = sizes_of(space)[0]
    base, *records = dict.fromkeys(_records_of_attributes(spec, unit))
    for common, record in itertools.product(COMMON[1:] if least <= LARGEST else (), records):
        for gone, come in (((base,), (record,)), ((), (record,))):
            filled = (base,) * max(0, least - common - len(gone))
            for crowd in ((base,) * common, (record,) * common):
                shared = crowd + filled
                with contextlib.suppress(DpspecError):
                    for one, other in changes.differing(unit, shared + gone, shared + come):
                        yield space.dataset(one), space.dataset(other)


def has_small_law(mechanism: Mechanism, spec: PrivacySpec) -> bool:
    """Whether the law of a mechanism on a space of many kinds of records has few numbers, as far as smaller spaces show.

    On a reduced space each attribute gets some categories more, and it is counted whether the law grows with them. Where it
    does, the law is expected to grow in proportion to the number of categories of the attribute.
    """
    part, space = Changes.found_in(spec.space), spec.space
    every = {a.name: a for unit in space.units for a in space.attributes_of(unit) if a.name != MEMBERS}
    if part is None:
        return False
    try:
        few = part.reduced(dict.fromkeys(every, frozenset()), 2)
        if few is None:
            return False
        expected = base = _numbers_of_law(mechanism, few)
        for name, attribute in every.items():
            spend(_WORK_OF_AN_ATTRIBUTE * len(every))
            kept = frozenset(itertools.islice(map(str, attribute.values()), PROBED))
            more = part.reduced({**dict.fromkeys(every, frozenset()), name: kept}, 2)
            if more is None or _numbers_of_law(mechanism, more) > base:
                size = next(a.size for unit in few.units for a in few.attributes_of(unit) if a.name == name)
                expected *= max(1, math.ceil(attribute.size / size))
        return expected <= MOST_NUMBERS
    except DpspecError:  # the mechanism does not fit the reduced space, or has no law there
        return False


def _numbers_of_law(mechanism: Mechanism, space: DatasetSpace) -> int:
    mechanism.check(space)
    return _numbers_in(mechanism.law(next(iter(space.datasets())), space))


def _numbers_in(thing: object) -> int:
    """The number of numerical values in the outcomes of a law, or in an outcome."""
    parts = getattr(thing, "laws", None) or getattr(thing, "support", None)
    inside = parts if parts is not None else thing
    return sum(map(_numbers_in, inside)) if isinstance(inside, tuple) else 1


def _groups(spec: PrivacySpec) -> Iterator[tuple[Dataset, ...]]:
    space = spec.space
    held = counting_cells(space)
    smallest = tuple(_few(space))
    if smallest:
        yield smallest
    if held is None:
        return
    found = {frozenset(smallest)}
    with contextlib.suppress(DpspecError):
        for pair in _pairs_of_changes(spec, held, smallest):
            if frozenset(pair) not in found and len(set(pair)) > 1:
                found.add(frozenset(pair))
                yield pair


def _few(space: DatasetSpace) -> Iterator[Dataset]:
    """The smallest datasets, two at least."""
    compared = 0
    for place, dataset in enumerate(itertools.islice(smallest_datasets(space), FEW)):
        compared += place * _entries(dataset)
        if place > 1 and compared > MOST_COMPARED:
            return
        yield dataset


def _entries(dataset: Dataset) -> int:
    return len(dataset) if isinstance(dataset, Sized) else 1


def _pairs_of_changes(
    spec: PrivacySpec, held: CellCounts, smallest: Sequence[Dataset]
) -> Iterator[tuple[Dataset, Dataset]]:  # fmt: skip
    """Pairs that differ by one change, and share more and more equal records."""
    space = spec.space
    cells = list(few_cells(space, _Plainest(), _mentioned(spec)))[:MOST_CELLS]
    additive = [invariant for invariant in spec.multiverse.induced_by() or () if adds_up(invariant, space)]
    changes = [
        change
        for keep_total in (True, False)
        for change in kernel_of(additive, cells, space, keep_total=keep_total)[:CHANGES]
    ]  # fmt: skip
    least = held.counts(smallest[0]).total() if smallest else 0
    entries = 0
    for common in COMMON:
        for change in dict.fromkeys(changes):
            steps = [(cell, step) for cell, step in zip(cells, change, strict=True) if step]
            sides = [Counter({cell: abs(step) for cell, step in steps if step * sign > 0}) for sign in (-1, 1)]
            for shared in _shared(cells, sides, common, least):
                entries += 2 * max(shared.total(), *map(_entries, smallest[:1]), 1)
                if entries > MOST_ENTRIES:
                    return
                with contextlib.suppress(DpspecError):
                    yield held.from_counts(sides[0] + shared), held.from_counts(sides[1] + shared)


def _shared(
    cells: Sequence[Hashable], sides: Sequence[Counter[Hashable]], common: int, least: int
) -> Iterator[Counter[Hashable]]:  # fmt: skip
    """Common parts: equal records of a kind that changes, filled up with records of another kind to the least size."""
    changed = list(dict.fromkeys(itertools.chain.from_iterable(sides)))
    others = [cell for cell in cells if cell not in changed] or changed
    missing = least - min(side.total() for side in sides)
    if missing > LARGEST:
        return
    for cell in changed[:2] if common else changed[:1]:
        shared = Counter({cell: common})
        shared[others[0]] += max(0, missing - common)
        yield shared


class _Plainest:
    """Chooses what comes first, and what comes last (`dpspec.blocks.parts.Choice`)."""

    def number(self, least: int, most: int) -> int:
        return most

    def some(self, items: Sequence[Item], most: int) -> list[Item]:
        return list(items[:most])

    def places(self, size: int, least: int, most: int, favoured: Sequence[int] = ()) -> list[int]:
        wanted = dict.fromkeys((*favoured, 0, size - 1, *range(size)))
        return sorted(itertools.islice(wanted, min(most, size)))

    def bags(self, items: Sequence[Item], longest: int, most: int) -> list[tuple[Item, ...]]:
        every = itertools.chain.from_iterable(
            itertools.combinations_with_replacement(items, size) for size in range(longest + 1)
        )
        return list(itertools.islice(every, most))


# --- pairs that differ in one record --------------------------------------------------------------


PLACES = 4
"""In a sequence, the record that differs is one of the first so many."""
MOST_VALUES = 6
"""An attribute takes so many values at most: the first ones, the last one, and those that an invariant singles out."""


def pairs_of_one_record(spec: PrivacySpec) -> Iterator[Pair]:
    """Pairs of datasets of a space of any size that differ in one record of some unit: one attribute changed, added, removed.

    Each attribute is changed by itself, with those that lie within it, and then all together; of sequences, the record is also
    one behind others. The laws of a mechanism are not computed on these pairs, so a record may be of any number of kinds.
    """
    space, changes = spec.space, Changes.found_in(spec.space)
    if changes is None:
        return
    for unit in space.units:
        records = list(dict.fromkeys(_records_of_attributes(spec, unit)))
        for record in records[1:]:
            for gone, come in (((records[0],), (record,)), ((), (record,)), ((record,), ())):
                with contextlib.suppress(DpspecError):
                    for left, right in changes.differing(unit, gone, come):
                        for before in range(PLACES if space.is_ordered else 1):
                            with contextlib.suppress(DpspecError):
                                first = (records[0],) * before
                                one, other = ((*first, *left), (*first, *right)) if before else (left, right)
                                yield space.dataset(one), space.dataset(other)


def _records_of_attributes(spec: PrivacySpec, unit: str) -> Iterator[Record]:
    """A record, the same with one attribute after the other changed, and with all of them changed."""
    attributes = {attribute.name: attribute for attribute in spec.space.attributes_of(unit)}
    mentioned = _mentioned(spec)
    values_of = {
        name: _telling_values(attribute, mentioned.get(name, frozenset()))
        for name, attribute in attributes.items()
        if name != MEMBERS
    }  # fmt: skip
    first = _completed({}, attributes, values_of)
    yield first
    places = {name: place for place, name in enumerate(attributes)}
    nestings = dict[str, dict[str, Attribute]]()
    for name, attribute in attributes.items():
        nestings.setdefault(_outermost(attribute, attributes), {})[name] = attribute
    for name, values in values_of.items():
        nested = nestings[_outermost(attributes[name], attributes)]  # only these change with it
        for value in values:
            record = list(first)
            for changed, category in zip(nested, _completed({name: value}, nested, values_of), strict=True):
                record[places[changed]] = category
            yield tuple(record)
    tops = [name for name in values_of if attributes[name].within not in attributes]
    yield _completed({name: values_of[name][-1] for name in tops}, attributes, values_of)


def _outermost(attribute: Attribute, attributes: Mapping[str, Attribute]) -> str:
    while attribute.within is not None and attribute.within in attributes:
        attribute = attributes[attribute.within]
    return attribute.name


def _telling_values(attribute: Attribute, mentioned: frozenset[str]) -> list[str]:
    if attribute.count is None:
        listed = list(attribute.categories)
        wanted = [*listed[:2], listed[-1], *sorted(mentioned & set(listed))]
    else:
        wanted = [*map(str, range(min(2, attribute.size))), str(attribute.size - 1), *sorted(mentioned)]
    return list(dict.fromkeys(wanted))[:MOST_VALUES]


def _completed(fixed: Mapping[str, str], attributes: Mapping[str, Attribute], values_of: Mapping[str, list[str]]) -> Record:
    """A record with some values fixed: what they lie in follows from them, what lies within them is its first part."""
    values: dict[str, Hashable] = dict(fixed)
    for name, value in fixed.items():
        finer, lies = attributes[name], value
        while finer.within is not None and finer.within in attributes:
            coarser = attributes[finer.within]
            lies = finer.parent(lies, coarser)
            values[coarser.name], finer = lies, coarser

    def value_of(name: str) -> Hashable:
        if name not in values:
            coarser = attributes[name].within
            if name == MEMBERS:
                values[name] = ()
            elif coarser is not None and coarser in attributes:
                values[name] = next(attributes[name].children(str(value_of(coarser)), attributes[coarser]))
            else:
                values[name] = values_of[name][0]
        return values[name]

    return tuple(value_of(name) for name in attributes)
