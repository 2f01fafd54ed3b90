"""Lists of arbitrary Python values, the space of a black box that is handed plain lists."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping
from random import Random
from typing import Annotated, Any, ClassVar, cast

from dpspec.blocks.multisets import multisets_between, sequences_between
from dpspec.blocks.patterns import lists_tried
from dpspec.blocks.space import Dataset, DatasetSpace, Record
from dpspec.blocks.wording import range_in_words
from dpspec.errors import NotInSpaceError, ParameterError
from dpspec.params import Domain, Integer, Text, Truth, define


class Values(Domain):
    """A tuple of hashable Python values that are told apart by their written form."""

    def read(self, value: Any, subject: str) -> tuple[Hashable, ...]:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise ParameterError(subject, f"must be {self.describe()}", value=value)
        values = tuple(value)
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
class ValueLists(DatasetSpace):
    """Lists with entries from a finite set of Python values: numbers, None, NaN, texts, tuples.

    Two values are the same when they are written the same, so that NaN is equal to itself and 1 differs from 1.0.

    Args:
        values: what an entry may be, the simplest first.
        least, most: the range of the length; without `most` it is unbounded.
        ordered: whether positions count; otherwise a dataset is a multiset, in the order of `values`.
        unit: what one entry is.

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

    def __attrs_post_init__(self) -> None:
        if self.most is not None and self.most < self.least:
            raise ParameterError("most", f"must not be below least={self.least}", value=self.most)

    @property
    def is_ordered(self) -> bool:  # type: ignore[override]
        return self.ordered

    @property
    def units(self) -> tuple[str, ...]:
        return (self.unit,)

    def dataset(self, value: Any) -> Dataset:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise NotInSpaceError(self.name, "must be a list of values", value=value)
        places = [self._place(entry) for entry in value]
        if len(places) < self.least or (self.most is not None and len(places) > self.most):
            top = "inf" if self.most is None else self.most
            raise NotInSpaceError(self.name, f"must have a length in [{self.least}, {top}]", value=len(places))
        return tuple(self.values[place] for place in (places if self.ordered else sorted(places)))

    def _place(self, entry: Any) -> int:
        texts = [repr(value) for value in self.values]
        if repr(entry) in texts:
            return texts.index(repr(entry))
        for place, value in enumerate(self.values):
            if value == entry:
                return place
        raise NotInSpaceError(self.name, f"entries must be among {self.values}", value=entry)

    def datasets(self) -> Iterator[Dataset]:
        choose: Any = (
            (lambda size: itertools.product(self.values, repeat=size))
            if self.ordered
            else (lambda size: itertools.combinations_with_replacement(self.values, size))
        )
        for size in itertools.count(self.least):
            if self.most is not None and size > self.most:
                return
            yield from choose(size)

    def extent(self) -> str:
        return range_in_words(self.least, self.most)

    def cardinality(self) -> int | None:
        if self.most is None:
            return None
        return (sequences_between if self.ordered else multisets_between)(len(self.values), self.least, self.most)

    def magnitude(self, dataset: Dataset) -> int:
        return len(cast("tuple[Any, ...]", dataset))

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return tuple((repr(entry),) for entry in cast("tuple[Any, ...]", dataset))

    def fixes_size(self, unit: str) -> bool:
        return unit == self.unit and self.least == self.most

    def is_told_by(self, unit: str) -> bool:
        return unit == self.unit

    def tried(self, lot: Random) -> Iterator[Any]:
        return lists_tried(self.datasets(), self.values, (self.least, self.most), lot, ordered=self.ordered)

    def order(self, dataset: Dataset) -> tuple[int, str]:
        entries = cast("tuple[Any, ...]", dataset)
        texts = [repr(value) for value in self.values]
        return len(entries), "".join(f"{texts.index(repr(entry)):06d}" for entry in entries)
