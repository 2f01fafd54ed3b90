"""Optional capabilities of dataset spaces: parts, each with a few methods, looked up by `SpacePart.found_in`.

A space has a part when it inherits from it, or when its `parts` return an object that does. Callers never test the class of a
space:

    CellCounts.found_in(space)            # the part, or None
    ListedCells.needed_in(space)     # the part, or an error that says what the space lacks
    wording_of(space)                # some parts have an answer for every space

`docs/reference/parts.md`, made of the docstrings here, says which commands and separations each part opens.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, ClassVar, Protocol, Self, TypeVar

import attrs

from dpspec.base.errors import IncompatibleBlocksError, NotEnumerableError, value_text
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Pair, Record
from dpspec.blocks.trial_lists import Ray

FEW_CELLS = 600
"""With at most so many cells, a small pair of datasets is drawn from all of them."""

LONGEST = 20_000
"""The largest number of characters of a dataset in words; longer text is cut."""

Item = TypeVar("Item")

Mentioned = Mapping[str, frozenset[str]]
"""Attributes that matter, each with the categories that are singled out."""


def merged_mentions(parts: Iterable[Mentioned]) -> dict[str, frozenset[str]]:
    """All attributes of several, each with the categories that any of them singles out.

    >>> merged = merged_mentions([{"age": frozenset("1")}, {"age": frozenset("2"), "sex": frozenset()}])
    >>> {name: sorted(categories) for name, categories in merged.items()}
    {'age': ['1', '2'], 'sex': []}
    """
    merged: dict[str, frozenset[str]] = {}
    for part in parts:
        for name, categories in part.items():
            merged[name] = merged.get(name, frozenset()) | categories
    return merged


class Choice(Protocol):
    """Chooses for a space, the strategies of Hypothesis in tests, a plain generator elsewhere; what comes first is simpler."""

    def number(self, least: int, most: int) -> int:
        """A number of the range."""

    def some(self, items: Sequence[Item], most: int) -> list[Item]:
        """At most so many different items, possibly none."""

    def places(self, size: int, least: int, most: int, favoured: Sequence[int] = ()) -> list[int]:
        """Different numbers below the size, in order, the favoured ones more often than others."""

    def bags(self, items: Sequence[Item], longest: int, most: int) -> list[tuple[Item, ...]]:
        """One to so many different multisets of sortable items, each sorted and no longer than `longest`, in order."""


class SpacePart(ABC):  # noqa: B024  # each part has abstract methods of its own
    """An optional part of a dataset space."""

    lacking: ClassVar[str] = "lacks a part that is needed here"
    """The message for a space without the part."""

    _asides: ClassVar[frozenset[str]] = frozenset()
    """Methods by which no argument goes: a space that has others is still the same (see `dpspec.base.promises`)."""

    @classmethod
    def found_in(cls, space: DatasetSpace) -> Self | None:
        """The part of the space; None where it has none."""
        return next((part for part in space.parts() if isinstance(part, cls)), None)

    @classmethod
    def needed_in(cls, space: DatasetSpace) -> Self:
        """The part of the space; raises IncompatibleBlocksError where it has none."""
        found = cls.found_in(space)
        if found is None:
            raise IncompatibleBlocksError(f"space {space.name}", cls.lacking)
        return found


# --- cells ----------------------------------------------------------------------------------------


class CellCounts(SpacePart):
    """Datasets are counts over cells (places of a vector, kinds of records), which may be too many to list.

    Opens:
        verify, tests: pairs of one universe inside spaces too large to list, by changes that keep the invariants; a witness that
            shrinks by dropping one cell after the other.
    """

    lacking: ClassVar[str] = "has no cells over which its datasets count"

    is_sequence: ClassVar[bool] = False
    """True when a dataset is its cells in an order that matters: `cells_of` gives them, `dataset` reads them back."""

    @abstractmethod
    def first_cell(self) -> Hashable | None:
        """Some cell; None when there are too many to count over."""

    @abstractmethod
    def counts(self, dataset: Dataset) -> Counter[Hashable]:
        """The dataset as counts over cells, those that are 0 left out; the order of a sequence is lost."""

    @abstractmethod
    def from_counts(self, counts: Mapping[Hashable, int]) -> Dataset:
        """The dataset with these counts, a sequence in sorted order; raises NotInSpaceError when there is none."""

    def cells_of(self, dataset: Dataset) -> tuple[Any, ...]:
        """The cells of a dataset with repetitions; of a sequence in its order."""
        return tuple(self.counts(dataset).elements())

    def cell_range(self) -> tuple[int, int | None]:
        """The least and the largest value of one count; None for no bound above."""
        return 0, None

    def total_range(self) -> tuple[int, int | None]:
        """The least and the largest sum of the counts, as far as the space bounds it; None for no bound above."""
        return 0, None

    def crossed(self, cells: Sequence[Hashable]) -> tuple[Hashable, ...]:
        """The cells that combine what some cells are made of, themselves among them: among these a short change is looked for."""
        return tuple(dict.fromkeys(cells))


def counting_cells(space: DatasetSpace) -> CellCounts | None:
    """The cells of the space, where its datasets can be counted over some; else None."""
    found = CellCounts.found_in(space)
    return None if found is None or found.first_cell() is None else found


class ListedCells(CellCounts):
    """The cells can be listed, so that a dataset is a vector of integers and linear algebra decides about it.

    Opens:
        verify: the invariant linear-map; universes of invariants by their kernels; noise on linear queries.
        compare: which invariants determine which others, by linear algebra.
    """

    lacking: ClassVar[str] = "has no coordinates for a linear map"

    @abstractmethod
    def cells(self) -> tuple[Hashable, ...] | None:
        """The coordinates in which `vector` counts; None when there are too many to list."""

    @abstractmethod
    def vector(self, dataset: Dataset) -> tuple[int, ...]:
        """The dataset as integer counts over `cells()`; what a linear invariant is applied to."""

    @abstractmethod
    def from_vector(self, vector: tuple[int, ...]) -> Dataset:
        """The dataset with the given coordinates; raises NotInSpaceError when there is none."""

    def fixed_total(self) -> bool:
        """Whether the sum of the coordinates is the same for all datasets."""
        return False

    def first_cell(self) -> Hashable | None:
        return next(iter(self.cells() or ()), None)

    def counts(self, dataset: Dataset) -> Counter[Hashable]:
        vector = self.vector(dataset)
        return Counter({cell: count for cell, count in zip(self.cells() or (), vector, strict=True) if count})

    def from_counts(self, counts: Mapping[Hashable, int]) -> Dataset:
        return self.from_vector(tuple(map(counts.get, self.cells() or (), itertools.repeat(0))))


def listed_cells(space: DatasetSpace) -> tuple[Hashable, ...] | None:
    """The coordinates of the space; None when it has none, or too many to list."""
    found = ListedCells.found_in(space)
    return None if found is None else found.cells()


class CellRecords(SpacePart):
    """Each cell represents records, so that a table of counts by attributes is a sum over cells.

    Opens:
        verify, compare: marginals as linear maps, in what decides about linear maps, and held by changes of `CellCounts`.
    """

    lacking: ClassVar[str] = "has no cells of records"

    @abstractmethod
    def records_of_cell(self, cell: Hashable, unit: str) -> tuple[Record, ...]:
        """The records of the unit that one count in a cell represents; raises IncompatibleBlocksError where that is no sum."""

    def records_replaced(self, cell: Hashable, unit: str) -> tuple[Record, ...]:
        """The records whose place those of `records_of_cell` take: a bit that is set replaces one that is not."""
        return ()


class Collections(CellCounts, CellRecords):
    """A dataset may be any collection of cells, with repetitions, and a cell is any record of the largest unit.

    Opens:
        verify: exchanges of values between two records, by which universes of marginals are walked through.
        release: the number of records in a table is held against the sizes that the space allows.
    """

    def cell_of(self, record: Record) -> Hashable:
        """The cell that a record of the largest unit is."""
        return record


class Sizes(SpacePart):
    """The numbers of records of its datasets are known, and datasets of other numbers of the same records are a space, too.

    Opens:
        verify: mechanisms about some of the records (filtered, parallel, subsampled), on the datasets that are left of those of
            the space; bounds that hold from a number of records on.
    """

    @abstractmethod
    def sizes(self) -> tuple[int, int | None]:
        """The least and the largest number of records of the largest unit in a dataset; None for no bound above."""

    @abstractmethod
    def of_sizes(self, least: int, most: int | None) -> DatasetSpace | None:
        """The space of all datasets with `least` to `most` records of the same kinds; None where there is no such space here."""

    _promised: ClassVar[Mapping[str, Any]] = {
        "sizes": lambda self: (0, None),  # noqa: ARG005 - a method
        "of_sizes": lambda self, least, most: None,  # noqa: ARG005
    }


def sizes_of(space: DatasetSpace) -> tuple[int, int | None]:
    """The least and the largest number of records of the largest unit in a dataset, as far as the space says.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> sizes_of(BitVectors(length=3))
    (3, 3)
    """
    own, cells = Sizes.found_in(space), Collections.found_in(space)
    stated = ([] if own is None else [own.sizes()]) + ([] if cells is None else [cells.total_range()])
    least = min((low for low, _ in stated), default=0)  # a derived class may have changed one of the two: the wider range counts
    most = [high for _, high in stated]
    return least, None if None in most else max((high for high in most if high is not None), default=None)


def resized(space: DatasetSpace, least: int, most: int | None) -> DatasetSpace | None:
    """The space of all datasets with `least` to `most` records of the same kinds; None where the space knows none."""
    own = Sizes.found_in(space)
    if own is None:
        return None
    return space if own.sizes() == (least, most) else own.of_sizes(least, most)


MOST_RECORDS = 1_000_000
"""Of a space whose smallest dataset has more records, none is made: a space for 330 million persons would fill the memory."""


def smallest_datasets(space: DatasetSpace) -> Iterator[Dataset]:
    """The datasets of a space, the smallest first; none where the smallest has more than `MOST_RECORDS` records.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> next(smallest_datasets(BitVectors(length=3)))
    (0, 0, 0)
    """
    return iter(()) if sizes_of(space)[0] > MOST_RECORDS else space.datasets()


_RECORDS_AT_ONCE = 256
"""So many records of a dataset take about as long as what else is done for each dataset of a walk."""


def listing_size(space: DatasetSpace) -> int | None:
    """The number of datasets of a space, each counted once more for every 256 records that it may have.

    A limit of a walk is held against it: 10,001 datasets of 10,000 records are a hundred million records. None as for
    `cardinality`.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> listing_size(BitVectors(length=3))
    8
    """
    size, (_, most) = space.cardinality(), sizes_of(space)
    return size if size is None or most is None else size * (1 + most // _RECORDS_AT_ONCE)


PLACES_LISTED = 1 << 20
"""Longer datasets are not listed."""


def check_places(name: str, length: int) -> None:
    """Raise NotEnumerableError where even one dataset is too long to be listed.

    Args:
        name: the name of the space.
        length: the least number of entries of a dataset.
    """
    if length > PLACES_LISTED:
        raise NotEnumerableError(f"space {name}", "has too many places to list even one dataset", "take fewer", value=length)


class Palette(SpacePart):
    """Few cells, chosen from very many, of which a small pair of datasets is made.

    Opens:
        verify, tests: pairs with the categories which the invariants single out, from spaces of millions of kinds of records.
    """

    _asides = frozenset({"palette"})

    @abstractmethod
    def palette(self, choose: Choice, mentioned: Mentioned) -> tuple[Hashable, ...]:
        """Few cells, chosen from all.

        Args:
            choose: chooses numbers and places.
            mentioned: the attributes that the invariants look at, with the categories that they single out.
        """


def few_cells(space: DatasetSpace, choose: Choice, mentioned: Mentioned) -> tuple[Hashable, ...]:
    """The palette of the space; without one all its cells, or what combines a few of them where they are many."""
    own = Palette.found_in(space)
    if own is not None:
        return own.palette(choose, mentioned)
    listed = listed_cells(space) or ()
    if len(listed) <= FEW_CELLS:
        return listed
    return CellCounts.needed_in(space).crossed([listed[place] for place in choose.places(len(listed), 2, 12)])[:FEW_CELLS]


# --- units ----------------------------------------------------------------------------------------


class Nesting(SpacePart):
    """The number of records of one unit that a record of another contains, and changes.

    Opens:
        compare, ledger: a promise for one unit carried over to another (persons to households, events to users).
        lint: what is read per one unit and promised per another.
        release: households with more persons than the space allows are refused.
    """

    @abstractmethod
    def most_within(self, inner: str, outer: str) -> int | None:
        """The largest number of units `inner` that one unit `outer` holds; None when it is unbounded or unknown."""

    def most_changed(self, unit: str, per: str) -> int | None:
        """A number m with |x (-) x'| <= m |x (-) x'|, records of `unit` on the left and of `per` on the right; None when unknown.

        Unknown by default, but for a unit and itself. A space in which a record of `per` shows all records of `unit` inside it
        returns `most_within`; one that also knows whose record one of the smaller units is returns more.
        """
        return 1 if unit == per else None


@attrs.frozen
class Unnested(Nesting):
    """Units of which none is known to lie in another; each lies once in itself."""

    space: DatasetSpace

    def most_within(self, inner: str, outer: str) -> int | None:
        return 1 if inner == outer and inner in self.space.units else None

    def most_changed(self, unit: str, per: str) -> int | None:
        return self.most_within(unit, per)


def nesting_of(space: DatasetSpace) -> Nesting:
    """The nesting of the units of the space; by default, none is known to be nested in another."""
    return Nesting.found_in(space) or Unnested(space)


class Membership(SpacePart):
    """Records of a smaller unit make up those of a larger one, as persons do households.

    Opens:
        release, risk: tables of households with persons, from two files in a directory.
        compare: pairs in which one larger unit changes many smaller ones; `--largest-household`.
    """

    @abstractmethod
    def own_attributes(self, unit: str) -> tuple[Attribute, ...]:
        """The attributes that distinguish records of the unit inside the larger units that contain them."""

    @abstractmethod
    def with_most(self, inner: str, outer: str, most: int) -> DatasetSpace | None:
        """The datasets in which no unit `outer` holds more than `most` units `inner`; None where that is no space."""

    @abstractmethod
    def with_members(self, dataset: Dataset, left: Callable[[tuple[Record, ...]], Sequence[int]]) -> Dataset:
        """The dataset in which each record of the largest unit keeps some of its members only.

        Args:
            dataset: a dataset of the space.
            left: the places that are left, of the members of one larger record, as records of the smallest unit.
        """

    @abstractmethod
    def exchanges(self, inner: str, outer: str, count: int) -> Iterator[tuple[Dataset, Dataset]]:
        """Pairs of datasets that differ in one record of `outer` and, by that, in `count` records of `inner`.

        They show how much one larger unit can change where a space sets no limit.
        """


def own_attributes(space: DatasetSpace, unit: str) -> tuple[Attribute, ...]:
    """The attributes that distinguish records of the unit inside larger units; all attributes where units are not nested."""
    members = Membership.found_in(space)
    return space.attributes_of(unit) if members is None else members.own_attributes(unit)


class Changes(SpacePart):
    """Pairs of datasets that differ in given records and in nothing else, also in spaces that are too large to list.

    Opens:
        verify: the pair that attains a constant, or refutes it, in a space of any size.
    """

    @abstractmethod
    def differing(self, unit: str, gone: tuple[Record, ...], come: tuple[Record, ...]) -> Iterator[tuple[Any, Any]]:
        """Pairs (x, x') as few records as can be, x with the records `gone` of the unit where x' has the records `come`.

        What is yielded need not be in the space; `dataset` decides.
        """

    def thinned(self) -> DatasetSpace | None:
        """The space without its least size, where that is too large for a pair to be written down; else None.

        A pair of it, with the same further records in both datasets, is a pair of this space (`filled`).
        """
        return None

    def filled(self, pair: Pair, record: Record | None = None) -> tuple[Any, Any] | None:
        """A pair of `thinned` with as many further records of the largest unit, all alike, as the least size requires.

        Args:
            pair: datasets of the space without its least size.
            record: the further record, the same in both datasets; by default one that a dataset of the pair already has.

        Returns:
            Both datasets; None where they would be too large to be written down. As in `differing`, `dataset` decides whether
            they are in the space.
        """
        return None

    def reduced(self, mentioned: Mentioned, records: int) -> DatasetSpace | None:
        """A space of the same kind with few categories and at most so many records, on which laws are quick to compute.

        Unlike a miniature it exists also where X has a least size, and its datasets need not be datasets of X. None where no such
        space is known.

        Args:
            mentioned: the attributes of which more than one category is kept, each with the categories that are singled out.
            records: the largest number of records.
        """
        return None

    def few_values(self, attribute: Attribute) -> Iterator[Hashable]:
        """The values that a record may have for an attribute."""
        return attribute.values()


# --- trial datasets, and datasets in words ---------------------------------------------------------


class Tabular(SpacePart):
    """A dataset reads as the rows of a table with named columns, values as they are.

    Opens:
        verify: functions that take data frames, arrays or lists of dicts, by `--dataset` or by annotation.
    """

    lacking: ClassVar[str] = "has no rows and columns"

    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, each once."""

    @abstractmethod
    def rows(self, dataset: Dataset) -> tuple[tuple[Any, ...], ...]:
        """The rows of a dataset, each with one value for every column."""


@attrs.frozen
class Recorded(Tabular):
    """The records of the largest unit as rows; categories that are whole numbers are handed over as integers."""

    space: DatasetSpace

    def _attributes(self) -> tuple[Attribute, ...]:
        return self.space.attributes_of(self.space.units[0]) if self.space.units else ()

    def columns(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self._attributes())

    def rows(self, dataset: Dataset) -> tuple[tuple[Any, ...], ...]:
        whole = [attribute.count is not None or all(map(_is_whole, attribute.categories)) for attribute in self._attributes()]
        records = self.space.records(dataset, self.space.units[0]) if whole else ()
        if not whole or any(len(record) != len(whole) or not all(isinstance(part, str) for part in record) for record in records):
            raise IncompatibleBlocksError(f"space {self.space.name}", Tabular.lacking)
        return tuple(
            tuple(int(str(part)) if number else part for part, number in zip(record, whole, strict=True)) for record in records
        )


def _is_whole(category: str) -> bool:
    return category.isascii() and category.isdigit() and category == str(int(category))


def tabular(space: DatasetSpace) -> Tabular:
    """A dataset as a table; by default, the records of its largest unit are the rows.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> table = tabular(BitVectors(length=2))
    >>> table.columns(), table.rows((0, 1))
    (('bit',), ((0,), (1,)))
    """
    return Tabular.found_in(space) or Recorded(space)


class Miniatures(SpacePart):
    """Small finite sub-spaces, in which witnesses are looked for when the space itself is too large.

    Opens:
        compare: separations in spaces without a largest size, and counterexamples to *these invariants determine those*.
        verify: the datasets that plain code is tried on, where records are of very many kinds.
    """

    @abstractmethod
    def miniature(self, mentioned: Mentioned, records: int) -> DatasetSpace | None:
        """A small finite sub-space of X, or None when there is none with so few records.

        Args:
            mentioned: the attributes that matter, each with the categories that are singled out.
            records: the largest number of records.
        """


def miniature_of(space: DatasetSpace, mentioned: Mentioned, records: int) -> DatasetSpace | None:
    """A miniature of the space; None where it has none."""
    found = Miniatures.found_in(space)
    return None if found is None else found.miniature(mentioned, records)


class Trials(SpacePart):
    """The datasets on which plain code is tested, where patterns reveal more than the smallest datasets and small changes of
    them.

    Opens:
        verify: `callable` and `function` mechanisms by sampling, on lists and vectors with a pattern.
    """

    _asides = frozenset({"tried", "order_tried", "rays"})

    @abstractmethod
    def tried(self, generator: Random) -> Iterator[Any]:
        """The values to test, the most discriminating first; values that are not datasets of the space are skipped.

        Args:
            generator: for what is drawn.
        """

    def order_tried(self, dataset: Dataset) -> tuple[int, str] | None:
        """The rank of a dataset among those that are tested; None for the order of the space."""
        return None

    def rays(self) -> Iterator[Ray]:
        """Growing families of datasets, along which the search locates the point where the behaviour of code changes."""
        return iter(())


def order_tried(space: DatasetSpace, dataset: Dataset) -> tuple[int, str]:
    """The rank of a dataset among those that are tested: the order of the space, unless another size is more discriminating."""
    trials = Trials.found_in(space)
    return (None if trials is None else trials.order_tried(dataset)) or space.order(dataset)


class Entries(SpacePart):
    """Datasets that code gets as a list: of entries of known kinds, or of the counts of cells.

    With this part, code that only sums and counts is verified on all datasets at once.
    """

    @abstractmethod
    def entries(self) -> tuple[Any, ...] | None:
        """The possible entries, as code gets them; None where they cannot be listed. An entry is a record of the first unit."""

    @abstractmethod
    def from_entries(self, entries: Sequence[Any]) -> Dataset:
        """The dataset with these entries; raises NotInSpaceError where there is none."""

    @abstractmethod
    def least_entries(self) -> int:
        """The least number of entries of a dataset."""

    def most_entries(self) -> int | None:
        """The largest number of entries of a dataset; None where that is not known."""
        return None

    def lists_counts(self) -> bool:
        """Whether the list holds how many entries there are of each kind, in their order."""
        return False


class NumberLists(SpacePart):
    """Datasets are all lists of so many whole numbers between two bounds, and code gets them as such.

    With this part, code that only adds noise to its numbers and compares them is verified on all datasets at once.
    """

    @abstractmethod
    def places(self) -> int:
        """The number of values in a list."""

    @abstractmethod
    def bounds(self) -> tuple[int, int | None]:
        """The least and the largest number; None for no bound above."""


class SimplerNames(SpacePart):
    """A symmetry of the space: categories may be permuted, so that a witness is stated with the first categories.

    Opens:
        verify, tests: witnesses that shrink to the simplest names.
    """

    _asides = frozenset({"renamed"})

    @abstractmethod
    def renamed(self, left: Dataset, right: Dataset) -> Iterator[tuple[Dataset, Dataset]]:
        """The two datasets with simpler names for what occurs in them, the same in both."""


class Wording(SpacePart):
    """Datasets in words; without this part, datasets are written as Python literals.

    Opens:
        verify, compare, explain: witnesses by the attributes of their records; the sizes of datasets behind a space.
    """

    _asides = frozenset({"extent", "in_words"})

    def extent(self) -> str:
        """A text after the name of the space about the sizes of its datasets, such as ", at least 1"."""
        return ""

    def in_words(self, left: Dataset, right: Dataset) -> tuple[str, str]:
        """Two datasets for people, with all that they hold: the words say which dataset it is."""
        return value_text(left, LONGEST), value_text(right, LONGEST)


def wording_of(space: DatasetSpace) -> Wording:
    """The wording of the datasets of the space; by default, datasets are written as Python literals."""
    return Wording.found_in(space) or Wording()


PARTS: tuple[type[SpacePart], ...] = (
    CellCounts, ListedCells, CellRecords, Collections, Sizes, Palette, Nesting, Membership, Changes, Tabular, Miniatures,
    Trials, SimplerNames, Wording,
)  # fmt: skip
"""All parts, in the order of `docs/reference/parts.md`."""
