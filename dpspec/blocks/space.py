"""What a space may ask whoever chooses for it: the strategies of Hypothesis in tests, a plain generator elsewhere.

Block 1: the dataset space X, what can be protected at all (B-D4, B-D5).

A space says which datasets exist, which *units* they are made of (person, household, ...), how a dataset
reads as records of a unit, and, where that is possible, lists all its datasets from the smallest on.
Datasets are plain hashable values (tuples) in one canonical form per element of X.

Records in words, by their attributes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Annotated, Any, ClassVar, Protocol, TypeVar

from dpspec.base.errors import IncompatibleBlocksError, NotInSpaceError, ParameterError, count, value_text
from dpspec.base.params import Integer, Items, Text, define, did_you_mean

Item = TypeVar("Item")

Mentioned = Mapping[str, frozenset[str]]
"""Attributes that matter, each with the categories that are singled out."""


class Choice(Protocol):
    """Chooses; what comes first is simpler."""

    def number(self, least: int, most: int) -> int:
        """A number of the range."""

    def some(self, items: Sequence[Item], most: int) -> list[Item]:
        """At most so many different items, possibly none."""

    def places(self, size: int, least: int, most: int, favoured: Sequence[int] = ()) -> list[int]:
        """Different numbers below the size, in order, the favoured ones more often than others."""

    def bags(self, items: Sequence[Item], longest: int, most: int) -> list[tuple[Item, ...]]:
        """One to so many different multisets of sortable items, each sorted and no longer than `longest`, in order."""


# --- block 1 --------------------------------------------------------------------------------------


Dataset = Hashable
Record = tuple[Hashable, ...]

MEMBERS = "members"
"""The name of a household's composition (the multiset of its persons), usable like an attribute in a marginal."""

FEW_CELLS = 600
"""With at most so many cells, a small pair of datasets is drawn from all of them."""

LONGEST = 20_000
"""Characters of a dataset told to people; beyond it the text is cut."""


@define
class Attribute:
    """A categorical attribute of a record.

    Args:
        name: the attribute's name.
        categories: its categories, or
        count: their number, when they are too many to list; they are then named "0", "1", ...
        within: the coarser attribute in which this one is nested (a block lies within one block group).
        parents: the coarser category of each category, in the order of `categories`; without it the
            categories are dealt out evenly and in order.

    >>> Attribute(name="tract", count=4, within="county").parent("3", Attribute(name="county", count=2))
    '1'
    """

    name: Annotated[str, Text()]
    categories: Annotated[tuple[str, ...], Items(Text())] = ()
    count: Annotated[int, Integer(1)] | None = None
    within: Annotated[str, Text()] | None = None
    parents: Annotated[tuple[str, ...], Items(Text())] = ()

    def __attrs_post_init__(self) -> None:
        if bool(self.categories) == (self.count is not None):
            raise ParameterError(f"attribute {self.name}", "needs either categories or their count")
        if len(set(self.categories)) != len(self.categories):
            raise ParameterError(f"attribute {self.name}", "names a category twice", value=self.categories)
        if self.parents and (self.within is None or len(self.parents) != len(self.categories)):
            raise ParameterError(
                f"attribute {self.name}", "parents name one coarser category for each category of an attribute `within` another"
            )

    @property
    def size(self) -> int:
        """The number of categories."""
        return len(self.categories) if self.count is None else self.count

    def values(self) -> Iterator[str]:
        """The categories, in order."""
        return iter(self.categories) if self.count is None else (str(i) for i in range(self.count))

    def index(self, category: Hashable) -> int:
        """The place of a category; raises NotInSpaceError for what is none."""
        if self.count is None:
            if category in self.categories:
                return self.categories.index(str(category))
            raise NotInSpaceError(self.name, "is no category", did_you_mean(str(category), self.categories), value=category)
        text = str(category)
        if text.isdecimal() and text == str(int(text)) and int(text) < self.count:
            return int(text)
        raise NotInSpaceError(self.name, f'must be a category "0" to "{self.count - 1}"', value=category)

    def includes(self, other: Attribute) -> bool:
        """Whether it has every category of the other one, under the same name and each in the same coarser category.

        >>> Attribute(name="age", count=116).includes(Attribute(name="age", categories=("0", "17")))
        True
        """
        if self == other:
            return True
        if self.name != other.name or self.within is not None or other.within is not None or other.size >= self.size:
            return False
        return (self.count is not None and other.count is not None) or set(self.values()) >= set(other.values())

    def parent(self, category: Hashable, coarser: Attribute) -> str:
        """The category of the coarser attribute in which a category lies."""
        place = self.index(category)
        if self.parents:
            return self.parents[place]
        chosen = place * coarser.size // self.size
        return str(chosen) if coarser.count is not None else coarser.categories[chosen]

    def children(self, parent: str, coarser: Attribute) -> Iterator[str]:
        """The categories that lie in one category of the coarser attribute, in order.

        >>> list(Attribute(name="tract", count=4, within="county").children("1", Attribute(name="county", count=2)))
        ['2', '3']
        """
        if self.parents:
            return (category for category, within in zip(self.categories, self.parents, strict=True) if within == parent)
        start, end = (-(-place * self.size // coarser.size) for place in (coarser.index(parent), coarser.index(parent) + 1))
        return iter(self.categories[start:end]) if self.count is None else map(str, range(start, end))

    def restricted(self, kept: Iterable[str], coarser: Attribute | None) -> Attribute:
        """The attribute with only some of its categories, each under its old parent."""
        kept = tuple(kept)
        parents = () if coarser is None else tuple(self.parent(category, coarser) for category in kept)
        return Attribute(name=self.name, categories=kept, within=self.within, parents=parents)


class DatasetSpace(ABC):
    """The set X of all datasets that the specification speaks about.

    What must be there says which datasets exist. The rest has defaults, under which a space takes part where it can: its units
    and their records serve distances and marginals; its *cells* (coordinates, or kinds of records) serve linear invariants, and
    moves inside universes too large to list; the last ones say what a witness is looked for among, and how it is told.
    """

    name: ClassVar[str]

    is_ordered: ClassVar[bool] = False
    """True when a dataset is a sequence of records, so that positions have a meaning."""

    cells_are_records: ClassVar[bool] = False
    """True when a dataset may be any collection of cells, with repetitions, and a cell is any record of the largest unit."""

    is_sequence: ClassVar[bool] = False
    """True when a dataset is its cells in an order that matters: `cells_of` gives them, `dataset` reads them back."""

    @property
    @abstractmethod
    def units(self) -> tuple[str, ...]:
        """The names of the units a dataset is made of, the largest first; empty when it has none."""

    @abstractmethod
    def dataset(self, value: Any) -> Dataset:
        """The canonical form of an element of X; raises NotInSpaceError for anything else."""

    @abstractmethod
    def datasets(self) -> Iterator[Dataset]:
        """Every element of X once, smallest first; endless for an infinite space."""

    @abstractmethod
    def cardinality(self) -> int | None:
        """The number of elements of X; None when there are infinitely many, or too many to count."""

    @abstractmethod
    def magnitude(self, dataset: Dataset) -> int:
        """How large a dataset is (its records, its total), the first key of the order of witnesses."""

    def attributes_of(self, unit: str) -> tuple[Attribute, ...]:
        """The attributes of a record of the unit, in the order of its values."""
        self.check_unit(unit)
        return ()

    def own_attributes(self, unit: str) -> tuple[Attribute, ...]:
        """The attributes that tell records of the unit apart inside the units they lie in."""
        return self.attributes_of(unit)

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        """The dataset as records of one unit (in order, for an ordered space)."""
        self.check_unit(unit)
        raise IncompatibleBlocksError(f"space {self.name}", "has no records", value=unit)

    def fixes_size(self, unit: str) -> bool:
        """Whether all datasets are known to have equally many records of the unit."""
        return False

    def is_told_by(self, unit: str) -> bool:
        """Whether the records of the unit (in order, for an ordered space) are known to determine the dataset."""
        return False

    def most_within(self, inner: str, outer: str) -> int | None:
        """The largest number of units `inner` that one unit `outer` holds; None when it is unbounded or unknown."""
        return 1 if inner == outer and inner in self.units else None

    def with_most(self, inner: str, outer: str, most: int) -> DatasetSpace | None:
        """Its datasets in which no unit `outer` holds more than `most` units `inner`; None where that is no space."""
        return None

    def most_changed(self, unit: str, per: str) -> int | None:
        """A number m with |x (-) x'| <= m |x (-) x'|, records of `unit` on the left and of `per` on the right; None when unknown.

        For units inside others it is `most_within`; a space that also knows whose record one of the smaller units belongs to says
        more.
        """
        return self.most_within(unit, per)

    def includes(self, other: DatasetSpace) -> str | None:
        """A reason why every dataset of the other space is one of this, made of the same records; None when none is known."""
        return "the same dataset space" if self == other else None

    def cells(self) -> tuple[Hashable, ...] | None:
        """The coordinates in which `vector` counts; None when there are none, or too many to list."""
        return None

    def vector(self, dataset: Dataset) -> tuple[int, ...]:
        """The dataset as integer counts over `cells()`; what a linear invariant is applied to."""
        raise IncompatibleBlocksError(f"space {self.name}", "has no coordinates for a linear map")

    def from_vector(self, vector: tuple[int, ...]) -> Dataset:
        """The dataset with the given coordinates; raises NotInSpaceError when there is none."""
        raise IncompatibleBlocksError(f"space {self.name}", "has no coordinates for a linear map")

    def records_of_cell(self, cell: Hashable, unit: str) -> tuple[Record, ...]:
        """The records of the unit that one count in a cell stands for."""
        raise IncompatibleBlocksError(f"space {self.name}", "has no cells of records", value=unit)

    def records_replaced(self, cell: Hashable, unit: str) -> tuple[Record, ...]:
        """The records whose place those of `records_of_cell` take: a bit that is set replaces one that is not."""
        return ()

    def fixed_total(self) -> bool:
        """Whether the sum of the coordinates is the same for all datasets."""
        return False

    # -- datasets as counts over cells, and moves ---------------------------------------------------

    def first_cell(self) -> Hashable | None:
        """Some cell; None when datasets are no counts over cells. There may be too many for `cells()`."""
        return next(iter(self.cells() or ()), None)

    def has_counts(self) -> bool:
        """Whether datasets are counts over cells, as `counts` gives them."""
        return self.first_cell() is not None

    def counts(self, dataset: Dataset) -> Counter[Hashable]:
        """The dataset as counts over cells, those that are 0 left out; the order of a sequence is lost."""
        vector = self.vector(dataset)
        return Counter({cell: count for cell, count in zip(self.cells() or (), vector, strict=True) if count})

    def from_counts(self, counts: Mapping[Hashable, int]) -> Dataset:
        """The dataset with these counts, a sequence in sorted order; raises NotInSpaceError when there is none."""
        return self.from_vector(tuple(counts.get(cell, 0) for cell in self.cells() or ()))

    def cells_of(self, dataset: Dataset) -> tuple[Any, ...]:
        """The cells of a dataset with repetitions; of a sequence in its order."""
        return tuple(self.counts(dataset).elements())

    def cell_range(self) -> tuple[int, int | None]:
        """The least and the largest value of one coordinate; None for no bound above."""
        return 0, None

    def total_range(self) -> tuple[int, int | None]:
        """The least and the largest sum of the coordinates, as far as the space bounds it; None for no bound above."""
        return 0, None

    def cell_of(self, record: Record) -> Hashable:
        """The cell that a record of the largest unit is, when cells are records."""
        return record

    def crossed(self, cells: Sequence[Hashable]) -> tuple[Hashable, ...]:
        """The cells that combine what some cells are made of, themselves among them: among these a short change is looked for."""
        return tuple(dict.fromkeys(cells))

    def palette(self, choose: Choice, mentioned: Mentioned) -> tuple[Hashable, ...]:
        """Few cells, chosen from all, of which a small pair of datasets is made.

        Args:
            choose: chooses numbers and places.
            mentioned: the attributes that the invariants look at, with the categories that they single out.
        """
        listed = self.cells() or ()
        if len(listed) <= FEW_CELLS:
            return listed
        return self.crossed([listed[place] for place in choose.places(len(listed), 2, 12)])[:FEW_CELLS]

    # -- witnesses ----------------------------------------------------------------------------------

    def renamed(self, left: Dataset, right: Dataset) -> Iterator[tuple[Dataset, Dataset]]:
        """The two datasets with simpler names for what occurs in them, the same in both."""
        return iter(())

    def tried(self, lot: Random) -> Iterator[Any] | None:
        """What a black box is tried on, the most telling first; None for the smallest datasets and short changes of some.

        Values that are no datasets are passed over.

        Args:
            lot: for what is drawn.
        """
        return None

    def order_tried(self, dataset: Dataset) -> tuple[int, str]:
        """The order of datasets among those that are tried: `order`, unless another size tells more."""
        return self.order(dataset)

    def extent(self) -> str:
        """What is said behind its name about the sizes of its datasets, such as ", at least 1"; nothing by default."""
        return ""

    def in_words(self, left: Dataset, right: Dataset) -> tuple[str, str]:
        """Two datasets for people, with all that they hold: the words say which dataset it is."""
        return value_text(left, LONGEST), value_text(right, LONGEST)

    # -- parts --------------------------------------------------------------------------------------

    def miniature(self, mentioned: Mapping[str, frozenset[str]], records: int) -> DatasetSpace | None:
        """A small finite sub-space of X for hunting witnesses, or None when X has no natural one.

        Args:
            mentioned: the attributes that matter, each with the categories that are singled out.
            records: the largest number of records.
        """
        return None

    def exchanges(self, inner: str, outer: str, count: int) -> Iterator[tuple[Dataset, Dataset]]:
        """Pairs of datasets that differ in one record of `outer` and, by that, in `count` records of `inner`; none by default.

        They show how much one larger unit can change where a space sets no limit.
        """
        return iter(())

    def presented(self, dataset: Dataset) -> Any:
        """The dataset as a plain function gets it: a fresh list, so that what the function does to it stays outside."""
        return list(dataset) if isinstance(dataset, tuple) else dataset

    def check_unit(self, unit: str) -> None:
        """Raise IncompatibleBlocksError when the space has no such unit."""
        if unit not in self.units:
            known = did_you_mean(unit, self.units) if self.units else "it has no units"
            raise IncompatibleBlocksError("unit", f"is no unit of the space {self.name}", known, value=unit)

    def order(self, dataset: Dataset) -> tuple[int, str]:
        """The documented order of datasets in witnesses: by magnitude, then by their written form."""
        return self.magnitude(dataset), repr(dataset)


# --- records in words, by their attributes --------------------------------------------------------


def pair_of_records(
    left: Sequence[Record], right: Sequence[Record], attributes: Sequence[Attribute], noun: str, *, ordered: bool = False
) -> tuple[str, str]:
    """The records of two datasets, each with all its values: also those that all of them share."""
    first, second = (records_in_words(records, attributes, noun, ordered=ordered) for records in (left, right))
    return first, second


def record_in_words(record: Record, attributes: Sequence[Attribute], noun: str) -> str:
    """One record by its attributes; by its bare values where the space describes none.

    >>> record_in_words(("f",), [Attribute(name="sex", categories=("f", "m"))], "person")
    '(sex f)'
    """
    if len(attributes) != len(record):  # a space may describe no attributes, and records may differ in length
        return value_text(record)
    inner = ", ".join(f"{attribute.name} {value_text(value)}" for attribute, value in zip(attributes, record, strict=True))
    return f"({inner})" if inner else noun


def records_in_words(records: Sequence[Record], attributes: Sequence[Attribute], noun: str, *, ordered: bool = False) -> str:
    """Records with their multiplicity, or one after the other where their order counts."""
    if not records:
        return f"no {noun}"
    if not any(records):  # records without values
        return count(len(records), noun)
    texts = [record_in_words(record, attributes, noun) for record in records]
    if ordered:
        return "[" + ", ".join(texts) + "]"
    return ", ".join(text if times == 1 else f"{times} x {text}" for text, times in Counter(texts).items())


def range_in_words(least: int, most: int | None) -> str:
    """The sizes that datasets may have, behind the name of their space.

    >>> range_in_words(0, None), range_in_words(2, 2), range_in_words(0, 3)
    (', any number', ', exactly 2', ', 0 to 3')
    """
    if most is None:
        return f", at least {least:,}" if least else ", any number"
    return f", exactly {most:,}" if least == most else f", {least:,} to {most:,}"
