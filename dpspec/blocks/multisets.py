"""Dataset spaces whose datasets are multisets of cells: what records, tables and households have in common.

A dataset is read, listed and put into words by its records over named categorical attributes. Where there are too many
records, few are taken:

A palette keeps one category of most attributes and two or three of some; its records are all their combinations, nested
categories consistent. Every dataset with n records lies on the palette of the categories it uses, so palettes of every width
reach every dataset; here at most `VARIED` attributes vary, and at most `CELLS` records are taken.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from dpspec.base.errors import IncompatibleBlocksError, NotInSpaceError, ParameterError
from dpspec.base.memo import memoize
from dpspec.base.params import evolve
from dpspec.blocks.parts import Changes, Choice, Collections, Entries, ListedCells, Mentioned, Wording, check_places
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Pair, Record, pair_of_records, range_in_words

Item = TypeVar("Item")

CELLS_LISTED = 4096
"""A space with more kinds of records than this does not list them as coordinates."""


_MOST_BITS = 1 << 13


def check_size(name: str, size: int, least: int, most: int | None) -> None:
    """Refuse a dataset whose size lies outside the range."""
    if size < least or (most is not None and size > most):
        raise NotInSpaceError(name, f"must have a size in [{least}, {'inf' if most is None else most}]", value=size)


def multisets_between(kinds: int, least: int, most: int) -> int | None:
    """The number of multisets of some kinds with a size in [least, most]: C(kinds + most, most) - C(kinds + least - 1, least -
    1).

    None where these are more than 2^8192, which is too many to list or to write down.

    >>> multisets_between(3, 1, 2), multisets_between(2, 0, 10**6), multisets_between(10**6, 0, 10**18)
    (9, 500001500001, None)
    """
    n, few = kinds + most, min(kinds, most)
    if few * max(1, n.bit_length() - 1 - few.bit_length()) > _MOST_BITS:  # C(n, k) >= (n/k)^k, and n >= 2 k
        return None
    return math.comb(n, few) - (math.comb(kinds + least - 1, min(kinds, least - 1)) if least else 0)


def sequences_between(kinds: int, least: int, most: int) -> int | None:
    """The number of sequences of some kinds with a length in [least, most]: the sum of kinds^n, (k^(most+1) - k^least)/(k - 1).

    None where these are more than 2^8192.

    >>> sequences_between(2, 1, 3), sequences_between(1, 0, 10**18), sequences_between(2, 0, 10**18)
    (14, 1000000000000000001, None)
    """
    if kinds == 1:
        return most - least + 1
    if (kinds.bit_length() - 1) * most > _MOST_BITS:
        return None
    return int((kinds ** (most + 1) - kinds**least) // (kinds - 1))


def reduced_sizes(least: int, most: int | None, records: int) -> tuple[int, int]:
    """The range of sizes of a reduced space: fixed where it was fixed, else from two or fewer up to `records`.

    >>> reduced_sizes(0, None, 4), reduced_sizes(1000, None, 4), reduced_sizes(1000, 1000, 4)
    ((0, 4), (2, 4), (3, 3))
    """
    if least == most:
        return min(least, records - 1), min(least, records - 1)
    return min(least, 2), records if most is None else min(most, records)


def check_sizes(least: int, most: int | None) -> None:
    """Refuse an empty range of sizes."""
    if most is not None and most < least:
        raise ParameterError("most", f"must not be below least={least}", value=most)


def repeated(counts: Mapping[Hashable, int], name: str) -> tuple[Hashable, ...]:
    """The cells of some counts, each as often as it counts, in the order of their text."""
    if any(count < 0 for count in counts.values()):
        raise NotInSpaceError(name, "counts must not be negative", value=dict(counts))
    return tuple(itertools.chain.from_iterable(itertools.repeat(c, n) for c, n in sorted(counts.items(), key=repr)))


MOST_FILLED = 10_000
"""Each pair of a search is filled up with at most so many records."""

MOST_WRITTEN = 100_000
"""The one pair that a search found is filled up with records of at most so many categories in all: as JSON it has 26 MB."""


def further_cells(sides: Sequence[tuple[Any, ...]], least: int, categories: int, cell: Hashable | None) -> tuple[Any, ...] | None:
    """Equal cells that fill up two datasets to a least size; None for more than `MOST_WRITTEN` categories, or without a cell.

    Args:
        sides: the cells of both datasets.
        least: the least number of cells.
        categories: how many categories each cell has.
        cell: the cell; by default the first one of a dataset.
    """
    further, known = least - min(map(len, sides)), next(itertools.chain(*sides), None) if cell is None else cell
    return None if known is None or further * categories > MOST_WRITTEN else (known,) * further


class Multisets(DatasetSpace, ListedCells, Collections, Changes, Entries, Wording):
    """Shared by the spaces whose datasets are multisets of *cells* (kinds of records), with a range of sizes."""

    least: int
    most: int | None

    @abstractmethod
    def kinds(self) -> Iterator[Hashable]:
        """Every kind of cell."""

    @abstractmethod
    def count_kinds(self) -> int | None:
        """Their number; None when infinite."""

    @abstractmethod
    def of(self, cells: tuple[Hashable, ...]) -> Dataset:
        """The canonical dataset with these cells."""

    @abstractmethod
    def cells_of(self, dataset: Dataset) -> tuple[Any, ...]:
        """The cells of a dataset, with repetitions."""

    def datasets(self) -> Iterator[Dataset]:
        check_places(self.name, self.least)
        sizes = itertools.count(self.least) if self.most is None else range(self.least, self.most + 1)
        for size in sizes:
            if size < 2:  # without a list of all kinds, which may be millions
                yield from map(self.of, ((kind,) for kind in self.kinds()) if size else ((),))
                continue
            few = self.count_kinds()
            listed = few is not None and few <= CELLS_LISTED
            every = itertools.combinations_with_replacement if listed else multisets_of
            yield from map(self.of, every(self.kinds(), size))

    def cardinality(self) -> int | None:
        kinds = self.count_kinds()
        if self.most is None or kinds is None:
            return None
        return multisets_between(kinds, self.least, self.most)

    def magnitude(self, dataset: Dataset) -> int:
        return len(self.cells_of(dataset))

    def differing(self, unit: str, gone: tuple[Record, ...], come: tuple[Record, ...]) -> Iterator[tuple[Any, Any]]:
        """The dataset with as many further equal records as the least size requires."""
        if unit != self.units[0]:
            return
        ours, theirs = (tuple(map(self.cell_of, records)) for records in (gone, come))
        further = max(0, self.least - min(len(ours), len(theirs)))
        if further <= MOST_FILLED:
            filled = (*(ours or theirs or tuple(itertools.islice(self.kinds(), 1)))[:1],) * further
            yield self.of(ours + filled), self.of(theirs + filled)

    def thinned(self) -> DatasetSpace | None:
        return evolve(self, least=0) if self.least > MOST_FILLED else None

    def filled(self, pair: Pair, record: Record | None = None) -> tuple[Any, Any] | None:
        sides = [self.cells_of(dataset) for dataset in pair]
        cell = None if record is None else self.cell_of(record)
        more = further_cells(sides, self.least, len(self.attributes_of(self.units[0])), cell)
        if more is None:
            return None
        left, right = (self.of(cells + more) for cells in sides)
        return left, right

    def fixes_size(self, unit: str) -> bool:
        return unit == self.units[0] and self.least == self.most

    def is_told_by(self, unit: str) -> bool:
        return unit == self.units[0]

    def cells(self) -> tuple[Hashable, ...] | None:
        kinds = self.count_kinds()
        return None if kinds is None or kinds > CELLS_LISTED else _all_kinds(self)

    def vector(self, dataset: Dataset) -> tuple[int, ...]:
        counts = Counter(self.cells_of(dataset))
        return tuple(counts[cell] for cell in self._listed())

    def from_vector(self, vector: tuple[int, ...]) -> Dataset:
        if any(count < 0 for count in vector):
            raise NotInSpaceError(self.name, "counts must not be negative", value=vector)
        cells = tuple(cell for cell, count in zip(self._listed(), vector, strict=True) for _ in range(count))
        self.check_size(len(cells))
        return self.of(cells)

    def entries(self) -> tuple[Any, ...] | None:
        return None if self.cells() is None else tuple(self.kinds())

    def from_entries(self, entries: Sequence[Any]) -> Dataset:
        self.check_size(len(entries))
        return self.of(tuple(entries))

    def least_entries(self) -> int:
        return self.least

    def most_entries(self) -> int | None:
        return self.most

    def records_of_cell(self, cell: Hashable, unit: str) -> tuple[Record, ...]:
        return self.records(self.of((cell,)), unit)

    def fixed_total(self) -> bool:
        return self.least == self.most

    def first_cell(self) -> Hashable:
        return next(self.kinds())

    def counts(self, dataset: Dataset) -> Counter[Hashable]:
        return Counter(self.cells_of(dataset))

    def from_counts(self, counts: Mapping[Hashable, int]) -> Dataset:
        cells = repeated(counts, self.name)
        self.check_size(len(cells))
        return self.of(cells)

    def total_range(self) -> tuple[int, int | None]:
        return self.least, self.most

    def extent(self) -> str:
        return range_in_words(self.least, self.most)

    def in_words(self, left: Dataset, right: Dataset) -> tuple[str, str]:
        unit = self.units[0]
        return pair_of_records(self.records(left, unit), self.records(right, unit), self.attributes_of(unit), unit)

    def check_size(self, size: int) -> None:
        """Raise NotInSpaceError for a number of cells outside the range."""
        check_size(self.name, size, self.least, self.most)

    def _listed(self) -> tuple[Hashable, ...]:
        cells = self.cells()
        if cells is None:
            raise IncompatibleBlocksError(f"space {self.name}", "has too many kinds of records for a linear map")
        return cells


def multisets_of(kinds: Iterator[Hashable], size: int) -> Iterator[tuple[Hashable, ...]]:
    """The multisets of one size in lexicographic order, as `itertools.combinations_with_replacement` gives them.

    Kinds are read only as far as the multisets need them: there may be more of them than memory holds, or infinitely many.

    >>> list(multisets_of(iter("ab"), 2))
    [('a', 'a'), ('a', 'b'), ('b', 'b')]
    """
    if size == 0:
        yield ()
        return
    known = list(itertools.islice(kinds, 1))
    chosen = [0] * size
    while known:
        yield tuple(known[index] for index in chosen)
        for position in reversed(range(size)):
            following = chosen[position] + 1
            if following == len(known):
                known.extend(itertools.islice(kinds, 1))
            if following < len(known):
                chosen[position:] = [following] * (size - position)
                break
        else:
            return


def sequences_of(kinds: Callable[[], Iterator[Item]], size: int) -> Iterator[tuple[Item, ...]]:
    """The sequences of one size in lexicographic order, as `itertools.product` gives them, without a list of all kinds.

    Args:
        kinds: begins to list the kinds, of which there may be more than memory holds.
        size: the length of each sequence.

    >>> list(sequences_of(lambda: iter("ab"), 2))
    [('a', 'a'), ('a', 'b'), ('b', 'a'), ('b', 'b')]
    """
    chosen = list(itertools.islice(kinds(), 1)) * size
    if len(chosen) < size:
        return
    first, later = chosen[:1], dict[int, Iterator[Item]]()
    while True:
        yield tuple(chosen)
        for position in reversed(range(size)):
            following = later.setdefault(position, itertools.islice(kinds(), 1, None))
            for kind in following:
                chosen[position] = kind
                break
            else:
                chosen[position] = first[0]
                del later[position]
                continue
            break
        else:
            return


@memoize(maxsize=64)
def _all_kinds(space: Multisets) -> tuple[Hashable, ...]:
    """The records, listed once: a law needs them for every dataset."""
    return tuple(space.kinds())


# --- records over attributes ----------------------------------------------------------------------


COUNTED = 10_000
"""Categories of an attribute, where several lie within one and records are counted one category after the other."""


def check_attributes(attributes: tuple[Attribute, ...], subject: str = "attributes") -> None:
    """Check that names are distinct, and that an attribute follows the coarser one it is nested in and fills each of its
    categories.

    No record could lie in a category that nothing fills, so records would not be as many as the finest categories.
    """
    seen: dict[str, Attribute] = {}
    for attribute in attributes:
        if attribute.name in seen:
            raise ParameterError(subject, "names an attribute twice", value=attribute.name)
        if attribute.within is not None and attribute.within not in seen:
            raise ParameterError(
                f"attribute {attribute.name}", "must come after the attribute that contains it", value=attribute.within
            )
        if attribute.within is not None:
            coarser, filled = seen[attribute.within], set(attribute.parents)
            for parent in filled - set(coarser.categories):
                coarser.index(parent)
            if (len(filled) if attribute.parents else attribute.size) < coarser.size:
                raise ParameterError(
                    f"attribute {attribute.name}", f"leaves categories of {coarser.name} empty",
                    "give each of them one at least, or leave them out there",
                )  # fmt: skip
        seen[attribute.name] = attribute


def read_record(value: Any, attributes: tuple[Attribute, ...]) -> Record:
    """One record as a tuple of categories, from a sequence in attribute order or a table by name."""
    if type(value) is tuple and set(map(type, value)) <= {str}:  # what is equal is written the same
        return _read_texts(value, attributes)
    return _read(value, attributes)


def read_records(values: Iterable[Any], attributes: tuple[Attribute, ...]) -> tuple[Record, ...]:
    """Records in the order given; those that are written the same are read once."""
    given = tuple(values)
    if set(map(type, given)) <= {tuple} and set(map(type, itertools.chain.from_iterable(given))) <= {str}:
        read = {record: _read_texts(record, attributes) for record in dict.fromkeys(given)}
        return tuple(map(read.__getitem__, given))
    return tuple(read_record(value, attributes) for value in given)


@lru_cache(maxsize=1 << 14)
def _read_texts(value: tuple[str, ...], attributes: tuple[Attribute, ...]) -> Record:
    """Cached: the same record occurs in most datasets of a search."""
    return _read(value, attributes)


def _read(value: Any, attributes: tuple[Attribute, ...]) -> Record:
    if isinstance(value, Mapping):
        missing = [a.name for a in attributes if a.name not in value]
        unknown = [key for key in value if key not in {a.name for a in attributes}]
        if missing or unknown:
            raise NotInSpaceError("record", f"lacks {missing} and has unknown {unknown}", value=dict(value))
        value = [value[a.name] for a in attributes]
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise NotInSpaceError("record", f"must give {len(attributes)} categories", value=value)
    given = tuple(value)
    if len(given) != len(attributes):
        raise NotInSpaceError("record", f"must give {len(attributes)} categories", value=given)
    chosen: dict[str, str] = {}
    by_name = {a.name: a for a in attributes}
    for attribute, category in zip(attributes, given, strict=True):
        if category is None or isinstance(category, (float, bool)):
            raise NotInSpaceError(attribute.name, "is missing or no category", "records are complete", value=category)
        attribute.index(category)
        chosen[attribute.name] = str(category)
        if attribute.within is not None:
            parent = attribute.parent(category, by_name[attribute.within])
            if parent != chosen[attribute.within]:
                raise NotInSpaceError(
                    attribute.name, f"lies within {attribute.within} {parent}, not {chosen[attribute.within]}", value=category
                )
    return tuple(chosen.values())


def all_records(attributes: tuple[Attribute, ...]) -> Iterator[Record]:
    """Every possible record, nested attributes kept consistent."""
    by_name = {a.name: a for a in attributes}
    places = {a.name: place for place, a in enumerate(attributes)}

    def choices(prefix: Sequence[str]) -> Iterator[str]:
        attribute = attributes[len(prefix)]
        coarser = attribute.within
        return iter(attribute.values() if coarser is None else attribute.children(prefix[places[coarser]], by_name[coarser]))

    if not attributes:
        yield ()
        return
    prefix: list[str] = []
    open_choices = [choices(prefix)]
    while open_choices:  # a loop, not a recursion: a file may name more attributes than Python nests calls
        category = next(open_choices[-1], None)
        if category is None:
            open_choices.pop()
            if prefix:
                prefix.pop()
        elif len(prefix) + 1 == len(attributes):
            yield (*prefix, category)
        else:
            prefix.append(category)
            open_choices.append(choices(prefix))


def count_records(attributes: tuple[Attribute, ...]) -> int | None:
    """The number of possible records: the product of the sizes of the finest attributes of each nesting.

    Where several attributes lie within one, the sum over its categories of the product of what lies in each. None where that
    is too many to count: an attribute of such a nesting has more than 10,000 categories, and each is in some record.

    >>> town, tract, school = (Attribute(name=n, count=c, within=w) for n, c, w in [("t", 2, None), ("u", 4, "t"), ("v", 6, "t")])
    >>> count_records((town, tract, school)), count_records((town, tract))
    (12, 4)
    """
    coarser = Counter(a.within for a in attributes if a.within is not None)
    if all(times == 1 for times in coarser.values()):
        return math.prod(a.size for a in attributes if a.name not in coarser)
    if any(a.size > COUNTED for a in attributes):
        return None
    by_name, total = {a.name: a for a in attributes}, 1
    inside = {a.name: [1] * a.size for a in attributes}
    for attribute in reversed(attributes):
        within = inside[attribute.name]
        if attribute.within is None:
            total *= sum(within)
            continue
        sums = [0] * by_name[attribute.within].size
        for place, count in zip(_above(attribute, by_name[attribute.within]), within, strict=True):
            sums[place] += count
        inside[attribute.within] = [one * more for one, more in zip(inside[attribute.within], sums, strict=True)]
    return total


def _above(attribute: Attribute, coarser: Attribute) -> list[int]:
    """The place of the coarser category of each category."""
    if attribute.parents:
        places = {category: place for place, category in enumerate(coarser.values())}
        return [places[parent] for parent in attribute.parents]
    return [place * coarser.size // attribute.size for place in range(attribute.size)]


def restrict_attributes(attributes: tuple[Attribute, ...], mentioned: Mapping[str, frozenset[str]]) -> tuple[Attribute, ...]:
    """Few categories for the attributes that matter, one for the others; nested ones branch under the first parent."""
    kept: dict[str, Attribute] = {}
    original = {a.name: a for a in attributes}
    singles = _with_coarser(attributes, mentioned)
    for attribute in attributes:
        wanted = 2 if attribute.name in mentioned else 1
        if attribute.within is None:
            categories = list(itertools.islice(attribute.values(), wanted))
            coarser = None
        else:
            coarser = original[attribute.within]
            categories = []
            for place, parent in enumerate(kept[attribute.within].values()):
                room = wanted if place == 0 else 1
                categories += itertools.islice(attribute.children(parent, coarser), room)
        singled = [c for c in sorted(singles.get(attribute.name, ())) if c not in categories]
        others = (c for c in attribute.values() if c not in mentioned.get(attribute.name, frozenset()))
        if attribute.within is None and mentioned.get(attribute.name):
            singled += [c for c in itertools.islice(others, 1) if c not in (*categories, *singled)]
        kept[attribute.name] = attribute.restricted([*categories, *singled], coarser)
    return tuple(kept.values())


def _with_coarser(attributes: tuple[Attribute, ...], mentioned: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
    """The categories that are mentioned, and those that they lie within."""
    found, original = dict(mentioned), {a.name: a for a in attributes}
    for attribute in reversed(attributes):
        if attribute.within is not None and found.get(attribute.name):
            coarser = original[attribute.within]
            parents = frozenset(attribute.parent(category, coarser) for category in found[attribute.name])
            found[coarser.name] = found.get(coarser.name, frozenset()) | parents
    return found


def include_attributes(larger: tuple[Attribute, ...], smaller: tuple[Attribute, ...]) -> bool:
    """Whether the attributes are the same ones in the same order, the smaller with no category of its own.

    A coarser attribute stays as it is when another lies within it, since a category may otherwise change its parent.
    """
    holding = {a.within for a in larger}
    pairs = itertools.zip_longest(larger, smaller)
    return all(a and b and (a == b or (a.name not in holding and a.includes(b))) for a, b in pairs)


def include_sizes(larger: tuple[int, int | None], smaller: tuple[int, int | None]) -> bool:
    """Whether the range of sizes (least, most) holds the other one."""
    return larger[0] <= smaller[0] and (larger[1] is None or (smaller[1] is not None and smaller[1] <= larger[1]))


def children(attribute: Attribute, parent: str, coarser: Attribute) -> Sequence[int]:
    """The places of the categories that lie in one category of the coarser attribute, without listing the others.

    >>> children(Attribute(name="block", count=8_100_000, within="tract"), "83999", Attribute(name="tract", count=84_000))
    range(8099904, 8100000)
    """
    if attribute.parents:
        return [place for place, above in enumerate(attribute.parents) if above == parent]
    chosen, size, above = coarser.index(parent), attribute.size, coarser.size
    return range(-(-chosen * size // above), -(-(chosen + 1) * size // above))


# --- few records out of many ----------------------------------------------------------------------


VARIED = 4
CELLS = 48
COMBINED = 64
"""The largest number of combinations of the values of some records that are listed."""


def palette_of(choose: Choice, attributes: Sequence[Attribute], mentioned: Mentioned) -> tuple[Record, ...]:
    """The records of a palette of some attributes; the categories mentioned are chosen more often than others."""
    names = [a.name for a in attributes if a.size > 1]
    varied = choose.some(names, VARIED) if names else []
    original, kept = {a.name: a for a in attributes}, dict[str, Attribute]()
    for attribute in attributes:
        width = choose.number(2, 3) if attribute.name in varied else 1
        singled = sorted(attribute.index(category) for category in mentioned.get(attribute.name, ()))
        coarser = None if attribute.within is None else original[attribute.within]
        if coarser is None:
            places = _places(choose, range(attribute.size), width, singled)
        else:
            families = (children(attribute, parent, coarser) for parent in kept[coarser.name].values())
            places = [place for family in families for place in _places(choose, family, width, singled)]
        kept[attribute.name] = attribute.restricted(map(attribute.category, places), coarser)
    return tuple(itertools.islice(all_records(tuple(kept.values())), CELLS))


def _places(choose: Choice, among: Sequence[int], width: int, singled: Sequence[int]) -> list[int]:
    """A few of some places."""
    if len(among) <= width:
        return list(among)
    known = [among.index(place) for place in singled if place in among]
    return [among[place] for place in choose.places(len(among), width, width, known)]


def combined(records: Sequence[Record], attributes: Sequence[Attribute]) -> tuple[Record, ...]:
    """All combinations of the categories that some records have, nested ones consistent."""
    original = {a.name: a for a in attributes}
    kept = tuple(
        attribute.restricted(
            sorted({str(record[place]) for record in records}, key=attribute.index),
            None if attribute.within is None else original[attribute.within],
        )
        for place, attribute in enumerate(attributes)
    )
    return tuple(itertools.islice(all_records(kept), COMBINED))


def renamed_records(
    left: Sequence[Record], right: Sequence[Record], attributes: Sequence[Attribute]
) -> Iterator[tuple[tuple[Record, ...], tuple[Record, ...]]]:
    """Two lists of records with the first categories there are: one to one, and with one attribute after the other merged."""
    for merged in (None, *(a.name for a in attributes)):
        names = first_names((*left, *right), attributes, merged)
        yield tuple(names[record] for record in left), tuple(names[record] for record in right)


def first_names(records: Iterable[Record], attributes: Sequence[Attribute], merged: str | None) -> dict[Record, Record]:
    """New names for whole records: of each attribute, inside each coarser category, the first ones in the old order.

    Of the attribute `merged` only the first one; values that only their parent distinguished then get names of their own.
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
                chosen[parent, category] = attribute.category(first)
        for record, names in new.items():
            new[record] = (*names, chosen[names[above[0]] if above else "", str(record[place])])
    return dict(new)
