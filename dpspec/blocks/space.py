"""Block 1: the dataset space X, what can be protected at all (Bailie, Gong, Meng and Drechsler 2024).

A space says which datasets exist, which *units* they are made of (person, household, ...), how a dataset
reads as records of a unit, and, where that is possible, lists all its datasets from the smallest on.
Datasets are plain hashable values (tuples) in one canonical form per element of X. What only some spaces have
in addition (cells, a palette, words, ...) are parts, in `dpspec.blocks.parts`.
"""

from __future__ import annotations

import itertools
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import attrs

from dpspec.base.errors import DpspecError, IncompatibleBlocksError, NotInSpaceError, ParameterError, count, value_text
from dpspec.base.params import Integer, Items, Pairs, Text, define, did_you_mean
from dpspec.base.promises import Promising

# --- attributes and spaces ------------------------------------------------------------------------


Dataset = Hashable
Pair = tuple[Dataset, Dataset]
"""Two datasets: what a distance, a claim or an attacker is about."""
Record = tuple[Hashable, ...]

MEMBERS = "members"
"""The name of a household's composition (the multiset of its persons), usable like an attribute in a marginal."""


_NUMBER = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{0,40})?([eE][+-]?[0-9]{1,3})?", re.ASCII)
_RANGE = re.compile(r"(?P<low>-?[0-9]+(?:\.[0-9]+)?)?\.\.(?P<open><)?(?P<high>-?[0-9]+(?:\.[0-9]+)?)?", re.ASCII)


@attrs.frozen
class _NumberRange:
    """A range of numbers that forms one category; a missing end means no bound."""

    written: str
    category: str
    low: Decimal | None
    high: Decimal | None
    is_open: bool

    def holds(self, value: Decimal) -> bool:
        below = self.high is None or (value < self.high if self.is_open else value <= self.high)
        return below and (self.low is None or self.low <= value)

    @property
    def key(self) -> tuple[bool, Decimal]:
        """Ranges in order of their lower ends."""
        return self.low is not None, Decimal(0) if self.low is None else self.low

    def meets(self, later: _NumberRange) -> bool:
        """Whether a later range begins before this one ends."""
        if self.high is None or later.low is None:
            return True
        return later.low < self.high or (later.low == self.high and not self.is_open)


@lru_cache(maxsize=4096)
def _ranges(recode: tuple[tuple[str, str], ...]) -> tuple[_NumberRange, ...]:
    found = []
    for written, category in recode:
        parts = _RANGE.fullmatch(written)
        if parts is not None:
            low, high = (None if parts[end] is None else Decimal(parts[end]) for end in ("low", "high"))
            empty = low is not None and high is not None and (high < low or (high == low and parts["open"] is not None))
            if empty or (parts["open"] and high is None):
                raise ParameterError("recode", "is a range without numbers", "write 0..17, 0..<18, ..17 or 65..", value=written)
            found.append(_NumberRange(written, category, low, high, parts["open"] is not None))
    return tuple(found)


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
        column: the column of a table that holds it, where that has another name.
        recode: the category for each value in the column: a value as written ("" for a missing one), or a range of numbers,
            "0..17" with both ends, "0..<18" without the upper one, "65.." without an end. A value that is not listed is a
            category itself.

    The last two say how a table is read. They are no part of the space: two attributes that differ in nothing else are equal.

    >>> Attribute(name="tract", count=4, within="county").parent("3", Attribute(name="county", count=2))
    '1'
    >>> ages = Attribute(name="age", categories=("minor", "adult"), column="AGEP", recode={"..17": "minor", "18..": "adult"})
    >>> ages == Attribute(name="age", categories=("minor", "adult"))
    True
    >>> [ages.band(value) for value in ("-1", "17", "18.0", "17.5", "n/a")]
    ['minor', 'minor', 'adult', None, None]
    """

    name: Annotated[str, Text()]
    categories: Annotated[tuple[str, ...], Items(Text())] = ()
    count: Annotated[int, Integer(1)] | None = None
    within: Annotated[str, Text()] | None = None
    parents: Annotated[tuple[str, ...], Items(Text())] = ()
    column: Annotated[str, Text()] | None = attrs.field(default=None, eq=False)
    recode: Annotated[tuple[tuple[str, str], ...], Pairs(Text())] = attrs.field(default=(), eq=False)

    def __attrs_post_init__(self) -> None:
        if bool(self.categories) == (self.count is not None):
            raise ParameterError(f"attribute {self.name}", "needs either categories or their count")
        if len(set(self.categories)) != len(self.categories):
            raise ParameterError(f"attribute {self.name}", "names a category twice", value=self.categories)
        if self.parents and (self.within is None or len(self.parents) != len(self.categories)):
            raise ParameterError(
                f"attribute {self.name}", "parents name one coarser category for each category of an attribute `within` another"
            )
        if self.recode:
            self._check_recode()

    def _check_recode(self) -> None:
        known = set(self.values()) if self.count is None else None
        for written, category in self.recode:
            if not (category in known if known is not None else self._is_number(category)):
                advice = did_you_mean(category, self.categories) if self.categories else f"0 to {self.size - 1}"
                raise ParameterError(f"attribute {self.name}", f"recodes {written!r} to no category", advice, value=category)
        ranges = sorted(self._ranges(), key=lambda band: band.key)
        for one, other in itertools.pairwise(ranges):
            if one.meets(other):
                raise ParameterError(
                    f"attribute {self.name}", f"recodes two ranges that overlap, {one.written} and {other.written}"
                )

    @property
    def source(self) -> str:
        """The column of a table that holds it."""
        return self.name if self.column is None else self.column

    def exact_recodes(self) -> dict[str, str]:
        """The category of each value that is recoded by itself."""
        return {written: category for written, category in self.recode if _RANGE.fullmatch(written) is None}

    def band(self, written: str) -> str | None:
        """The category of the range of numbers in which a written value lies; None for what is no number, or in none."""
        if not self.recode or _NUMBER.fullmatch(written) is None:
            return None
        value = Decimal(written)
        return next((band.category for band in self._ranges() if band.holds(value)), None)

    def _ranges(self) -> tuple[_NumberRange, ...]:
        return _ranges(self.recode)

    def _is_number(self, category: str) -> bool:
        return category.isdecimal() and category == str(int(category)) and int(category) < self.size

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
        if self._is_number(str(category)):
            return int(str(category))
        raise NotInSpaceError(self.name, f'must be a category "0" to "{self.count - 1}"', value=category)

    def category(self, place: int) -> str:
        """The category at a place, the inverse of `index`; -1 is the last one.

        >>> Attribute(name="age", count=116).category(-1), Attribute(name="sex", categories=("f", "m")).category(0)
        ('115', 'f')
        """
        return str(range(self.size)[place]) if self.count is not None else self.categories[place]

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
        return coarser.category(place * coarser.size // self.size)

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


class DatasetSpace(Promising, ABC):
    """The set X of all datasets that the specification speaks about.

    What must be there says which datasets exist, and which units they are made of. Everything else that a space can do is an
    optional part (`dpspec.blocks.parts`): the space inherits from the part and writes its methods, or hands out an object of its
    own in `parts`. Code that needs a part calls `CellCounts.found_in(space)`, and handles None.
    """

    name: ClassVar[str]

    is_ordered: ClassVar[bool] = False
    """True when a dataset is a sequence of records, so that positions have a meaning."""

    holds_laws: ClassVar[bool] = False
    """True when an element represents a distribution of the data, which is all that an attacker knows of them."""

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
        """The size of a dataset (its records, its total), the first key of the order of witnesses."""

    def attributes_of(self, unit: str) -> tuple[Attribute, ...]:
        """The attributes of a record of the unit, in the order of its values."""
        self.check_unit(unit)
        return ()

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

    def includes(self, other: DatasetSpace) -> str | None:
        """A reason why every dataset of the other space is one of this, made of the same records; None when none is known."""
        return "the same dataset space" if self == other else None

    def order(self, dataset: Dataset) -> tuple[int, str]:
        """The documented order of datasets in witnesses: by magnitude, then by their written form."""
        return self.magnitude(dataset), repr(dataset)

    def parts(self) -> tuple[object, ...]:
        """The objects that may provide optional parts: by default the space itself, which may inherit from them."""
        return (self,)

    def check_unit(self, unit: str) -> None:
        """Raise IncompatibleBlocksError when the space has no such unit."""
        if unit not in self.units:
            known = did_you_mean(unit, self.units) if self.units else "it has no units"
            raise IncompatibleBlocksError("unit", f"is no unit of the space {self.name}", known, value=unit)

    _promised: ClassVar[Mapping[str, Any]] = {
        "cardinality": lambda self: None,  # noqa: ARG005 - a method
        "fixes_size": fixes_size,
        "is_told_by": is_told_by,
        "includes": includes,
        "parts": lambda self: (),  # noqa: ARG005 - a method
        "__str__": object.__str__,
    }
    _asides = frozenset({"check_unit", "magnitude", "order"})


def is_dataset(value: Any, space: DatasetSpace) -> bool:
    """Whether a value is a dataset of a space, in the form that the space gives it.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> is_dataset((0, 1), BitVectors(length=2)), is_dataset((0, 2), BitVectors(length=2))
    (True, False)
    """
    try:
        return bool(space.dataset(value) == value)
    except DpspecError:
        return False


def presented(dataset: Dataset) -> Any:
    """The dataset as a plain function gets it: a fresh list, so that what the function does to it stays outside.

    >>> presented((0, 1)), presented("text")
    ([0, 1], 'text')
    """
    return list(dataset) if isinstance(dataset, tuple) else dataset


# --- records in words -----------------------------------------------------------------------------


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


def exchanged_records(
    left: Dataset, right: Dataset, unit: str, space: DatasetSpace
) -> tuple[tuple[Record, ...], tuple[Record, ...]]:  # fmt: skip
    """The records of a unit that the first dataset has and the second has not, each as often as it has more, and the reverse."""
    ours, theirs = Counter(space.records(left, unit)), Counter(space.records(right, unit))
    return tuple((ours - theirs).elements()), tuple((theirs - ours).elements())


LONG_RUN = 8
"""More equal records in a row than this are written once, with their number."""


def records_in_words(records: Sequence[Record], attributes: Sequence[Attribute], noun: str, *, ordered: bool = False) -> str:
    """Records with their multiplicity; one after the other where their order counts, long runs of equal ones together.

    >>> sex = Attribute(name="sex", categories=("f", "m"))
    >>> records_in_words([("m",), ("f",)] + [("m",)] * 999, [sex], "person", ordered=True)
    '[(sex m), (sex f), 999 x (sex m)]'
    """
    if not records:
        return f"no {noun}"
    if not any(records):  # records without values
        return count(len(records), noun)
    texts = [record_in_words(record, attributes, noun) for record in records]
    if ordered:
        runs = [(text, len(list(run))) for text, run in itertools.groupby(texts)]
        return "[" + ", ".join(f"{n} x {text}" if n > LONG_RUN else ", ".join([text] * n) for text, n in runs) + "]"
    return ", ".join(text if times == 1 else f"{times} x {text}" for text, times in Counter(texts).items())


def range_in_words(least: int, most: int | None) -> str:
    """The sizes that datasets may have, behind the name of their space.

    >>> range_in_words(0, None), range_in_words(2, 2), range_in_words(0, 3)
    (', any number', ', exactly 2', ', 0 to 3')
    """
    if most is None:
        return f", at least {least:,}" if least else ", any number"
    return f", exactly {most:,}" if least == most else f", {least:,} to {most:,}"
