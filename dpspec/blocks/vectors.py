"""Dataset spaces whose elements are vectors or lists: bits of n people, integer counts, and lists of arbitrary Python values.

Lists of values are the space of a black box that is handed plain lists; it is tried on the smallest ones, and on lists with a
pattern.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from random import Random
from typing import Annotated, Any, ClassVar, cast

from dpspec.base.errors import NotEnumerableError, NotInSpaceError, ParameterError
from dpspec.base.params import Domain, Integer, Items, Text, Truth, define
from dpspec.blocks.multisets import multisets_between, sequences_between
from dpspec.blocks.parts import CellRecords, Changes, Entries, ListedCells, NumberLists, Tabular, Trials, Wording
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Record, range_in_words

FIRST = 40
"""So many of the smallest datasets are tried before any pattern."""
TELLING = 6
"""Patterns of two values are made of so many; single entries take every value."""
LONG, LONGEST = 12, 64
"""Constant lists are tried up to the one length, every position is changed once up to the other."""
_STEPS = (16, 32, 64, 100, 128, 256)
"""... and around these lengths."""
_WRAPS = (128, 256, 32_768, 65_536)
"""Sums that reach these wrap in integers of 8 and 16 bits."""
_SUMMED = 400
_SMALL_SIGNS = 7


def telling(values: Sequence[Any]) -> list[Any]:
    """The values in an order of their own, however they are listed: the simplest, the extremes, what is no number, the rest.

    >>> telling((5, 3, 0, None, -2, 1))
    [0, 5, -2, None, 1, 3]
    """
    ranked = sorted(values, key=_simplicity)
    plain = [value for value in ranked if _simplicity(value)[0] == 0]
    ends = [max(plain), min(plain)] if plain else []
    others = {(type(value), repr(value) == "nan"): value for value in ranked if _simplicity(value)[0]}
    longest = [max(ranked, key=lambda value: (len(repr(value)), repr(value)))] if not plain else []
    chosen = [*ranked[:1], *ends, *others.values(), *longest, *ranked]
    return list({repr(value): value for value in chosen}.values())


def _simplicity(value: Any) -> tuple[int, float, bool, str]:
    """Numbers by size, the positive one first; then what is no number, the shorter first."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value - value == 0:
        return 0, abs(value), value < 0, repr(value)
    return 1, len(repr(value)), False, repr(value)


def lists_tried(
    values: Sequence[Any], lengths: tuple[int, int | None], generator: random.Random, *, ordered: bool = True
) -> Iterator[Any]:
    """Lists in groups of neighbours, from each kind of pattern in turn; the same ones for every order in which values are listed.

    The smallest; constant ones at every length; one entry changed, at every place and to every value; steps from one value to
    another; all values once; lengths and sums where counters wrap; at random, with one entry changed and two exchanged.

    Args:
        values: what an entry may be.
        lengths: the least and the largest length.
        generator: for what is drawn.
        ordered: whether positions count.
    """
    least, most = lengths
    told = telling(values)
    choose: Any = itertools.product if ordered else itertools.combinations_with_replacement
    top = least + 64 if most is None else most
    small = itertools.chain.from_iterable(
        map(list, choose(told, repeat=size) if ordered else choose(told, size)) for size in range(least, top + 1)
    )
    few = max(2, FIRST // 3)
    yield from itertools.islice(small, few)
    base = min(max(least, 4), top)
    kinds = [
        ([told[0]] * size for size in range(least, min(top, max(LONG, least)) + 1)),
        _changed(told, base if most is None or most > least else least, ordered=ordered),
        _steps(told, min(top, max(base, 6))),
        itertools.islice(small, FIRST - few),
        _long(told, least, top),
        _mixed(told, (least, min(top, base + 2)), generator),
    ]
    while kinds:
        for kind in list(kinds):
            found = list(itertools.islice(kind, 4))
            yield from (one for one in found if least <= len(one) <= top)
            if not found:
                kinds.remove(kind)


def _changed(told: Sequence[Any], size: int, *, ordered: bool) -> Iterator[list[Any]]:
    """A constant list with one entry changed to every value, and at every place."""
    for base in told[:2] if size else ():
        yield [base] * size
        yield from ([base] * (size - 1) + [value] for value in told[:60] if value is not base)
    for base, other in itertools.islice(itertools.permutations(told[:TELLING], 2), 2 if ordered and size else 0):
        yield from ([other if i == place else base for i in range(size)] for place in range(min(size, LONGEST)))
    if size > 1:
        for base, other in itertools.islice(itertools.permutations(told[:TELLING], 2), 30):
            yield [base] * (size - 1) + [other]
            yield [base] * (size - 2) + [other] * 2


def _steps(told: Sequence[Any], size: int) -> Iterator[list[Any]]:
    """Lists of two values, from none of the second to nothing else; all values once; and those without their last entry."""
    for base, other in itertools.islice(itertools.combinations(told[:TELLING], 2), 15):
        for count in range(min(size, LONGEST) + 1):
            yield [other] * count + [base] * (size - count)
            yield ([other] * count + [base] * (size - count))[:-1]
    for count in range(min(len(told), size, LONG) + 1):
        yield list(told[:count])
        yield [*told[:count], *told[:1]]


def _long(told: Sequence[Any], least: int, top: int) -> Iterator[list[Any]]:
    """Constant lists of every telling value, and long ones beside the lengths and sums at which counters wrap."""
    for size in range(max(least, 1), min(top, least + 6, LONG) + 1):
        yield from ([value] * size for value in told[1:TELLING])
    for step in _STEPS:
        yield from ([told[0]] * size for size in (step - 1, step, step + 1) if least <= size <= top)
    for value in told[:3]:
        if isinstance(value, int) and abs(value) > 1:
            for wrap in _WRAPS:
                size = -(-wrap // abs(value))
                yield from ([value] * n for n in (size - 1, size) if least <= n <= min(top, _SUMMED))
    for value in told[1:3]:
        yield from ([value] * n for step in _STEPS for n in (step - 1, step) if least <= n <= top)


def _mixed(told: Sequence[Any], sizes: tuple[int, int], generator: random.Random) -> Iterator[list[Any]]:
    """Lists at random, the same with one entry changed, with two exchanged as totals ask for, and with one less."""
    for _ in range(DRAWN if len(told) > 1 else 0):
        drawn = [generator.choice(told) for _ in range(generator.randint(*sizes))]
        yield drawn
        if drawn:
            place, other = generator.randrange(len(drawn)), generator.randrange(len(drawn))
            yield [*drawn[:place], generator.choice(told), *drawn[place + 1 :]]
            exchanged = list(drawn)
            exchanged[place], exchanged[other] = drawn[other], drawn[place]
            yield exchanged
            yield drawn[:-1]


DRAWN = 200


def directions(length: int) -> list[tuple[int, ...]]:
    """Directions in {-1, 0, 1}^n, up to sign: all, one against the rest, steps, alternating, one alone; all signs where few.

    >>> directions(2)
    [(1, 1), (-1, 1), (1, -1), (1, 0), (0, 1)]
    """
    whole = [(1,) * length]
    against = [tuple(-1 if i == j else 1 for i in range(length)) for j in range(length)] if length > 1 else []
    steps = [tuple(1 if i < cut else -1 for i in range(length)) for cut in range(1, length)]
    steps.sort(key=lambda step: abs(sum(step)))
    waves = [tuple(1 if i % 2 == 0 else -1 for i in range(length))]
    alone = [tuple(1 if i == j else 0 for i in range(length)) for j in range(length)] if length > 1 else []
    found = [*whole, *against, *steps, *waves, *alone]
    if length <= _SMALL_SIGNS:
        found += [(1, *rest) for rest in itertools.product((1, -1), repeat=length - 1)]
    kept: dict[tuple[int, ...], None] = {}
    for way in found:
        if way in against or tuple(-entry for entry in way) not in kept:
            kept.setdefault(way)
    return list(kept)


def vectors_tried(length: int, low: int, high: int | None, generator: random.Random | None = None) -> Iterator[tuple[int, ...]]:
    """Constants, and constants moved by each direction, near the middle of the range first; then at random, and at its ends."""
    middle = 0 if low <= 0 and (high is None or high >= 0) else low
    ways = directions(length)
    yield from ((middle + step,) * length for step in (0, 1, -1, 2, 3))
    for base, size in ((0, 1), (0, 2), (3, 1), (1, 1), (0, 3)):
        for direction in ways:
            for sign in (1, -1):
                yield tuple(middle + base + sign * size * entry for entry in direction)
    drawn = generator or random.Random(0)
    for turn in range(DRAWN):
        way = [drawn.choice((1, -1)) if drawn.random() < 0.8 else 0 for _ in range(length)]
        start = [middle + drawn.choice((0, 0, 1, 2, 5)) * (turn % 3) for _ in range(length)]
        for size in (0, 1, 2):
            yield tuple(a + size * b for a, b in zip(start, way, strict=True))
    for end, inward in ((low, 1), *(() if high is None else ((high, -1),))):
        yield (end,) * length
        yield from (tuple(end + inward * (i == place) for i in range(length)) for place in range(min(length, LONGEST)))


# --- bits and counts ------------------------------------------------------------------------------


def _integers(value: Any, length: int, subject: str) -> tuple[int, ...]:
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise NotInSpaceError(subject, f"must be a sequence of {length} integers", value=value)
    vector = tuple(value)
    if len(vector) != length:
        raise NotInSpaceError(subject, f"must have length {length}, not {len(vector)}", value=vector)
    for entry in vector:
        if isinstance(entry, bool) or not hasattr(entry, "__index__"):
            raise NotInSpaceError(subject, "must hold integers only", "no missing values, booleans or floats", value=entry)
    return tuple(int(entry) for entry in vector)


_PLACES_LISTED = 1 << 20
"""Longer vectors have no list of their places."""


def _check_listed(name: str, length: int) -> None:
    if length > _PLACES_LISTED:
        raise NotEnumerableError(f"space {name}", "has too many places to list even one dataset", "take fewer", value=length)


@define
class BitVectors(DatasetSpace, ListedCells, CellRecords, Changes, Trials, Wording):
    """{0, 1}^n: one bit for each of n units, in a fixed order.

    Args:
        length: n.
        unit: what one position is.

    >>> list(BitVectors(length=2).datasets())
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """

    name: ClassVar[str] = "bit-vectors"
    is_ordered: ClassVar[bool] = True

    length: Annotated[int, Integer(1)]
    unit: Annotated[str, Text()] = "person"

    @property
    def units(self) -> tuple[str, ...]:
        return (self.unit,)

    def dataset(self, value: Any) -> Dataset:
        bits = _integers(value, self.length, self.name)
        for bit in bits:
            if bit not in (0, 1):
                raise NotInSpaceError(self.name, "must hold bits 0 and 1 only", value=bit)
        return bits

    def datasets(self) -> Iterator[Dataset]:
        _check_listed(self.name, self.length)
        places = range(self.length)
        zeros = (chosen for ones in range(self.length + 1) for chosen in itertools.combinations(places, self.length - ones))
        return (tuple(int(place not in chosen) for place in places) for chosen in map(frozenset, zeros))

    def extent(self) -> str:
        return f" of length {self.length}"

    def cardinality(self) -> int | None:
        return sequences_between(2, self.length, self.length)

    def magnitude(self, dataset: Dataset) -> int:
        return sum(self._bits(dataset))

    def attributes_of(self, unit: str) -> tuple[Attribute, ...]:
        self.check_unit(unit)
        return (Attribute(name="bit", categories=("0", "1")),)

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return tuple((str(bit),) for bit in self._bits(dataset))

    def records_of_cell(self, cell: Hashable, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return (("1",),)

    def records_replaced(self, cell: Hashable, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return (("0",),)

    def fixes_size(self, unit: str) -> bool:
        return unit == self.unit

    def is_told_by(self, unit: str) -> bool:
        return unit == self.unit

    def cells(self) -> tuple[Hashable, ...] | None:
        return tuple(range(self.length)) if self.length <= _PLACES_LISTED else None

    def vector(self, dataset: Dataset) -> tuple[int, ...]:
        return self._bits(dataset)

    def from_vector(self, vector: tuple[int, ...]) -> Dataset:
        return self.dataset(vector)

    def cell_range(self) -> tuple[int, int]:
        return 0, 1

    def tried(self, generator: Random) -> Iterator[Any]:
        return lists_tried((0, 1), (self.length, self.length), generator)

    def differing(self, unit: str, gone: tuple[Record, ...], come: tuple[Record, ...]) -> Iterator[tuple[Any, Any]]:
        """The records that differ in the first places, zeros in all others."""
        further = self.length - len(gone)
        if unit == self.unit and len(gone) == len(come) and 0 <= further <= _PLACES_LISTED:
            ours, theirs = (tuple(int(str(bit)) for (bit,) in records) for records in (gone, come))
            yield ours + (0,) * further, theirs + (0,) * further

    def _bits(self, dataset: Dataset) -> tuple[int, ...]:
        return cast("tuple[Any, ...]", dataset)


@define
class IntegerCounts(DatasetSpace, ListedCells, NumberLists, Trials, Tabular, Wording):
    """Vectors of k integers between two bounds: true query answers, or counts without records behind them.

    Args:
        length: k.
        low: the least value of an entry.
        high: the largest; without it the entries are unbounded above.

    >>> IntegerCounts(length=2, high=1).cardinality()
    4
    """

    name: ClassVar[str] = "integer-counts"
    is_ordered: ClassVar[bool] = False

    length: Annotated[int, Integer(1)] = 1
    low: Annotated[int, Integer()] = 0
    high: Annotated[int, Integer()] | None = None

    def __attrs_post_init__(self) -> None:
        if self.high is not None and self.high < self.low:
            raise ParameterError("high", f"must be at least low={self.low}", value=self.high)

    @property
    def units(self) -> tuple[str, ...]:
        return ()

    def dataset(self, value: Any) -> Dataset:
        counts = _integers(value, self.length, self.name)
        for count in counts:
            if count < self.low or (self.high is not None and count > self.high):
                top = "inf" if self.high is None else self.high
                raise NotInSpaceError(self.name, f"counts must lie in [{self.low}, {top}]", value=count)
        return counts

    def datasets(self) -> Iterator[Dataset]:
        _check_listed(self.name, self.length)
        for total in itertools.count():
            level = sorted(self._at_distance(total, self.length))
            if not level and self.high is not None and total > self.length * (self.high - self.low):
                return
            yield from (tuple(self.low + step for step in steps) for steps in level)

    def includes(self, other: DatasetSpace) -> str | None:
        if self == other:
            return "the same dataset space"
        if type(other) is not IntegerCounts or type(self) is not IntegerCounts or other.length != self.length:
            return None
        above = self.high is None or (other.high is not None and other.high <= self.high)
        return "a smaller range of counts" if self.low <= other.low and above else None

    def _at_distance(self, total: int, length: int) -> Iterator[tuple[int, ...]]:
        """Vectors of `length` non-negative steps above `low` that add up to `total`."""
        span = total if self.high is None else min(total, self.high - self.low)
        if length == 1:
            if total <= span:
                yield (total,)
            return
        for first in range(span + 1):
            for rest in self._at_distance(total - first, length - 1):
                yield (first, *rest)

    def extent(self) -> str:
        return f" of length {self.length}"

    def cardinality(self) -> int | None:
        return None if self.high is None else sequences_between(self.high - self.low + 1, self.length, self.length)

    def places(self) -> int:
        return self.length

    def bounds(self) -> tuple[int, int | None]:
        return self.low, self.high

    def magnitude(self, dataset: Dataset) -> int:
        return sum(abs(entry - self.low) for entry in self.vector(dataset))

    def cells(self) -> tuple[Hashable, ...] | None:
        return tuple(range(self.length)) if self.length <= _PLACES_LISTED else None

    def vector(self, dataset: Dataset) -> tuple[int, ...]:
        return cast("tuple[Any, ...]", dataset)

    def from_vector(self, vector: tuple[int, ...]) -> Dataset:
        return self.dataset(vector)

    def cell_range(self) -> tuple[int, int | None]:
        return self.low, self.high

    def columns(self) -> tuple[str, ...]:
        return ("value",)

    def rows(self, dataset: Dataset) -> tuple[tuple[Any, ...], ...]:
        return tuple((entry,) for entry in self.vector(dataset))

    def total_range(self) -> tuple[int, int | None]:
        return self.length * self.low, None if self.high is None else self.length * self.high

    def tried(self, generator: Random) -> Iterator[Any]:
        return vectors_tried(self.length, self.low, self.high, generator)

    def order_tried(self, dataset: Dataset) -> tuple[int, str]:
        """By the largest absolute value, since these are answers of queries; then by text."""
        return max(map(abs, self.vector(dataset))), self.order(dataset)[1]


# --- lists of values ------------------------------------------------------------------------------


def _as_tuple(entry: Any) -> Any:
    """Lists, as files write them, are tuples; what a file writes as a decimal is a double."""
    if isinstance(entry, Decimal) and type(entry) is not Decimal:
        return float(entry)
    return tuple(_as_tuple(part) for part in entry) if isinstance(entry, list) else entry


class Values(Domain):
    """A tuple of hashable Python values that are told apart by their written form."""

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
class ValueLists(DatasetSpace, Entries, Trials, Tabular, Wording):
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
        if self.most is not None and self.most < self.least:
            raise ParameterError("most", f"must not be below least={self.least}", value=self.most)
        width = self._width()
        if self.named and (len(set(self.named)) != len(self.named) or len(self.named) != (width or 1)):
            rule = f"must be {width or 1} different names, one for each part of a value"
            raise ParameterError("named", rule, value=self.named)

    @classmethod
    def examples(cls) -> Iterator[ValueLists]:
        """Numbers and tuples, ordered and not."""
        yield cls(values=(0, 1), most=2)
        yield cls(values=(("f", 1), ("m", 2)), least=1, most=2, ordered=False, named=("sex", "kind"))

    @property
    def is_ordered(self) -> bool:  # type: ignore[override]
        return self.ordered

    @property
    def units(self) -> tuple[str, ...]:
        return (self.unit,)

    def dataset(self, value: Any) -> Dataset:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise NotInSpaceError(self.name, "must be a list of values", value=value)
        places = [self._place(_as_tuple(entry)) for entry in value]
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

    def entries(self) -> tuple[Any, ...]:
        return self.values

    def from_entries(self, entries: Sequence[Any]) -> Dataset:
        return self.dataset(list(entries))

    def least_entries(self) -> int:
        return self.least

    def tried(self, generator: Random) -> Iterator[Any]:
        return lists_tried(self.values, (self.least, self.most), generator, ordered=self.ordered)

    def columns(self) -> tuple[str, ...]:
        width = self._width()
        return self.named or (("value",) if width is None else tuple(f"value{place}" for place in range(width)))

    def rows(self, dataset: Dataset) -> tuple[tuple[Any, ...], ...]:
        entries = cast("tuple[Any, ...]", dataset)
        return tuple((entry,) for entry in entries) if self._width() is None else entries

    def _width(self) -> int | None:
        """How many parts each value has; None where they are no tuples of one length."""
        widths = {len(value) if isinstance(value, tuple) else 0 for value in self.values}
        return widths.pop() if len(widths) == 1 and 0 not in widths else None

    def order(self, dataset: Dataset) -> tuple[int, str]:
        entries = cast("tuple[Any, ...]", dataset)
        texts = [repr(value) for value in self.values]
        return len(entries), "".join(f"{texts.index(repr(entry)):06d}" for entry in entries)
