"""Dataset spaces of lists: what they share, lists of arbitrary Python values, and texts over an alphabet.

A list is what most code is handed. Its entries are the records of one unit. A space with finitely many entries is walked; any
other is tried on its smallest lists and on lists with a pattern.

    value-lists         x_i in a finite set of Python values
    texts               strings over an alphabet
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from random import Random
from typing import Annotated, Any, ClassVar, cast

from dpspec.base.errors import NotInSpaceError, ParameterError
from dpspec.base.params import Domain, Integer, Items, Text, Truth, define, evolve
from dpspec.blocks.multisets import multisets_between, sequences_between
from dpspec.blocks.parts import Entries, Sizes, Tabular, Trials, Wording, check_places
from dpspec.blocks.space import Dataset, DatasetSpace, Record, range_in_words
from dpspec.blocks.trial_lists import Ray, list_rays, lists_tried

_KINDS = 10_000
"""More kinds of entries than these are not listed for code that is read on all datasets at once."""


class Lists(DatasetSpace, Entries, Sizes, Trials, Tabular, Wording):
    """Lists of `least` to `most` entries of one sort; unordered ones are multisets, in sorted order."""

    least: int
    most: int | None
    ordered: bool
    unit: str

    @abstractmethod
    def entry(self, value: Any) -> Any:
        """The canonical form of an entry; raises NotInSpaceError for anything else."""

    @abstractmethod
    def listed_entries(self) -> Iterator[Any]:
        """Every entry once, the simplest first; endless where there are infinitely many, or too many to count."""

    @abstractmethod
    def entry_count(self) -> int | None:
        """The number of possible entries; None for infinitely many, or too many to list."""

    @abstractmethod
    def telling(self) -> Sequence[Any]:
        """A few entries at which code goes wrong, the simplest first: extremes, zero, what lies close to them."""

    def _check_lengths(self) -> None:
        if self.most is not None and self.most < self.least:
            raise ParameterError("most", f"must not be below least={self.least}", value=self.most)

    @property
    def is_ordered(self) -> bool:  # type: ignore[override]
        return self.ordered

    @property
    def units(self) -> tuple[str, ...]:
        return (self.unit,)

    def dataset(self, value: Any) -> Dataset:
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            raise NotInSpaceError(self.name, "must be a list", value=value)
        entries = [self.entry(entry) for entry in value]
        self._check_size(len(entries))
        return self._joined(tuple(entries))

    def _check_size(self, size: int) -> None:
        if size < self.least or (self.most is not None and size > self.most):
            top = "inf" if self.most is None else self.most
            raise NotInSpaceError(self.name, f"must have a length in [{self.least}, {top}]", value=size)

    def datasets(self) -> Iterator[Dataset]:
        check_places(self.name, self.least)
        count = self.entry_count()
        listed = (self._small() if count is None else self._all()) if count != 0 else iter([()] if self.least == 0 else [])
        return map(self._joined, listed)

    def _joined(self, entries: tuple[Any, ...]) -> Dataset:
        return entries if self.ordered else tuple(sorted(entries))

    def _chosen(self, values: Sequence[Any], size: int) -> Iterator[tuple[Any, ...]]:
        if self.ordered:
            return itertools.product(values, repeat=size)
        return itertools.combinations_with_replacement(values, size)

    def _all(self) -> Iterator[tuple[Any, ...]]:
        """All lists over finitely many entries, by length."""
        values = tuple(self.listed_entries())
        for size in itertools.count(self.least) if self.most is None else range(self.least, self.most + 1):
            yield from self._chosen(values, size)

    def _small(self) -> Iterator[tuple[Any, ...]]:
        """All lists over infinitely many entries: after round k those of the first k + 1, and at most k longer than the least."""
        values: list[Any] = []
        for last, value in enumerate(self.listed_entries()):
            values.append(value)
            top = self.least + last if self.most is None else min(self.most, self.least + last)
            for size in range(self.least, top + 1):
                fresh = size == self.least + last
                for places in self._chosen(range(last + 1), size):
                    if fresh or last in places:
                        yield tuple(values[place] for place in places)

    def cardinality(self) -> int | None:
        count = self.entry_count()
        if count is None or self.most is None:
            return None if self.most != 0 else 1
        return (sequences_between if self.ordered else multisets_between)(count, self.least, self.most)

    def extent(self) -> str:
        return range_in_words(self.least, self.most)

    def magnitude(self, dataset: Dataset) -> int:
        return len(cast("tuple[Any, ...]", dataset))

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return tuple((repr(entry),) for entry in cast("tuple[Any, ...]", dataset))

    def fixes_size(self, unit: str) -> bool:
        return unit == self.unit and self.least == self.most

    def is_told_by(self, unit: str) -> bool:
        return unit == self.unit

    def _some(self) -> list[Any]:
        return list(dict.fromkeys([*self.telling(), *itertools.islice(self.listed_entries(), 3)]))

    def tried(self, generator: Random) -> Iterator[Any]:
        return lists_tried(self._some(), (self.least, self.most), generator, ordered=self.ordered)

    def rays(self) -> Iterator[Ray]:
        return list_rays(self._some(), (self.least, self.most))

    def entries(self) -> tuple[Any, ...] | None:
        count = self.entry_count()
        return None if count is None or count > _KINDS else tuple(self.listed_entries())

    def from_entries(self, entries: Sequence[Any]) -> Dataset:
        return self.dataset(entries)

    def sizes(self) -> tuple[int, int | None]:
        return self.least, self.most

    def of_sizes(self, least: int, most: int | None) -> DatasetSpace:
        return evolve(self, least=least, most=most)

    def least_entries(self) -> int:
        return self.least

    def most_entries(self) -> int | None:
        return self.most

    def columns(self) -> tuple[str, ...]:
        return ("value",)

    def rows(self, dataset: Dataset) -> tuple[tuple[Any, ...], ...]:
        return tuple((entry,) for entry in cast("tuple[Any, ...]", dataset))


# --- values ----


def _as_tuple(entry: Any) -> Any:
    """Lists, as files write them, are tuples; what a file writes as a decimal is a double."""
    if isinstance(entry, Decimal) and type(entry) is not Decimal:
        return float(entry)
    return tuple(_as_tuple(part) for part in entry) if isinstance(entry, list) else entry


class Values(Domain):
    """A tuple of hashable Python values that are distinguished by their written form."""

    python = "Sequence[Any]"

    def read(self, value: Any, subject: str) -> tuple[Hashable, ...]:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise ParameterError(subject, f"must be {self.describe()}", value=value)
        values = tuple(_as_tuple(entry) for entry in value)
        for entry in values:
            try:
                hash(entry)
            except TypeError:
                raise ParameterError(subject, "must hold hashable values", "write tuples for lists", value=entry) from None
        if not values or len({repr(entry) for entry in values}) != len(values):
            raise ParameterError(subject, "must be different values, at least one", value=values)
        return values

    def describe(self) -> str:
        return "a list of different hashable values"

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "minItems": 1}

    def strategy(self) -> Any:
        from hypothesis import strategies as st

        return st.lists(st.one_of(st.integers(-9, 9), st.floats(-9, 9), st.none()), min_size=1, max_size=4, unique_by=repr)


@define
class ValueLists(Lists):
    """Lists with entries from a finite set of Python values: numbers, None, NaN, texts, tuples.

    Two values are the same when they are written the same, so that NaN is equal to itself and 1 differs from 1.0.

    Args:
        values: what an entry may be, the simplest first.
        least, most: the range of the length; without `most` it is unbounded.
        ordered: whether positions count; otherwise a dataset is a multiset, in the order of `values`.
        unit: what one entry is.
        named: the columns of a table of entries: a name for each part, where entries are tuples of one length, or one name.

    >>> nan = float("nan")
    >>> list(ValueLists(values=(0, nan), least=1, most=1).datasets())
    [(0,), (nan,)]
    >>> ValueLists(values=("a", "b"), ordered=False).dataset(["b", "a"])
    ('a', 'b')
    """

    name: ClassVar[str] = "value-lists"

    values: Annotated[tuple[Hashable, ...], Values()]
    least: Annotated[int, Integer(0)] = 0
    most: Annotated[int, Integer(0)] | None = None
    ordered: Annotated[bool, Truth()] = True
    unit: Annotated[str, Text()] = "person"
    named: Annotated[tuple[str, ...], Items(Text())] = ()

    def __attrs_post_init__(self) -> None:
        self._check_lengths()
        width = self._width()
        if self.named and (len(set(self.named)) != len(self.named) or len(self.named) != (width or 1)):
            rule = f"must be {width or 1} different names, one for each part of a value"
            raise ParameterError("named", rule, value=self.named)

    @classmethod
    def examples(cls) -> Iterator[ValueLists]:
        """Numbers and tuples, ordered and not."""
        yield cls(values=(0, 1), most=2)
        yield cls(values=(("f", 1), ("m", 2)), least=1, most=2, ordered=False, named=("sex", "kind"))

    def entry(self, value: Any) -> Any:
        return self.values[self._place(_as_tuple(value))]

    def listed_entries(self) -> Iterator[Any]:
        return iter(self.values)

    def entry_count(self) -> int | None:
        return len(self.values)

    def telling(self) -> tuple[Any, ...]:
        return self.values

    def tried(self, generator: Random) -> Iterator[Any]:
        return lists_tried(self.values, (self.least, self.most), generator, ordered=self.ordered)

    @cached_property
    def _places(self) -> dict[str, int]:
        """The place of each value by how it is written."""
        return {repr(value): place for place, value in enumerate(self.values)}

    def _place(self, entry: Any) -> int:
        known = self._places.get(repr(entry))
        if known is not None:
            return known
        for place, value in enumerate(self.values):
            if value == entry:
                return place
        raise NotInSpaceError(self.name, f"entries must be among {self.values}", value=entry)

    def _joined(self, entries: tuple[Any, ...]) -> Dataset:
        return entries if self.ordered else tuple(sorted(entries, key=self._place))

    def datasets(self) -> Iterator[Dataset]:
        return self._all()

    def columns(self) -> tuple[str, ...]:
        width = self._width()
        return self.named or (("value",) if width is None else tuple(f"value{place}" for place in range(width)))

    def rows(self, dataset: Dataset) -> tuple[tuple[Any, ...], ...]:
        entries = cast("tuple[Any, ...]", dataset)
        return tuple((entry,) for entry in entries) if self._width() is None else entries

    def _width(self) -> int | None:
        """The number of parts of each value; None where they are no tuples of one length."""
        widths = {len(value) if isinstance(value, tuple) else 0 for value in self.values}
        return widths.pop() if len(widths) == 1 and 0 not in widths else None

    def order(self, dataset: Dataset) -> tuple[int, str]:
        entries = cast("tuple[Any, ...]", dataset)
        texts = [repr(value) for value in self.values]
        return len(entries), "".join(f"{texts.index(repr(entry)):06d}" for entry in entries)


# --- texts ----------------------------------------------------------------------------------------


@define
class Texts(Lists):
    """Texts over an alphabet, handed over as such.

    Args:
        alphabet: the letters, each once, the simplest first.
        least, most: the range of the length; without `most` it is unbounded.
        unit: what one letter is.

    >>> list(Texts(alphabet="ab", most=2).datasets())
    ['', 'a', 'b', 'aa', 'ab', 'ba', 'bb']
    """

    name: ClassVar[str] = "texts"
    ordered: ClassVar[bool] = True  # type: ignore[misc]  # of this class it is no parameter

    alphabet: Annotated[str, Text()]
    least: Annotated[int, Integer(0)] = 0
    most: Annotated[int, Integer(0)] | None = None
    unit: Annotated[str, Text()] = "letter"

    def __attrs_post_init__(self) -> None:
        self._check_lengths()
        if not self.alphabet or len(set(self.alphabet)) != len(self.alphabet):
            raise ParameterError("alphabet", "must be different letters, at least one", value=self.alphabet)

    @classmethod
    def examples(cls) -> Iterator[Texts]:
        """Short texts of two letters."""
        yield cls(alphabet="ab", most=2)
        yield cls(alphabet="abc", least=2, most=2)

    def dataset(self, value: Any) -> Dataset:
        if not isinstance(value, str) and not (isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)):
            raise NotInSpaceError(self.name, "must be a text", value=value)
        text = "".join(self.entry(letter) for letter in value)
        self._check_size(len(text))
        return text

    def entry(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) != 1 or value not in self.alphabet:
            raise NotInSpaceError(self.name, f"letters must be among {self.alphabet!r}", value=value)
        return value

    def listed_entries(self) -> Iterator[str]:
        return iter(self.alphabet)

    def entries(self) -> None:
        """None: code gets a text and no list."""

    def entry_count(self) -> int | None:
        return len(self.alphabet)

    def telling(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.alphabet[0], self.alphabet[-1], self.alphabet[len(self.alphabet) // 2], *self.alphabet)))

    def _joined(self, entries: tuple[Any, ...]) -> Dataset:
        return "".join(entries)

    def magnitude(self, dataset: Dataset) -> int:
        return len(cast("str", dataset))

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return tuple((letter,) for letter in cast("str", dataset))

    def columns(self) -> tuple[str, ...]:
        return (self.unit,)

    def rows(self, dataset: Dataset) -> tuple[tuple[Any, ...], ...]:
        return tuple((letter,) for letter in cast("str", dataset))

    def in_words(self, left: Dataset, right: Dataset) -> tuple[str, str]:
        return repr(left), repr(right)
