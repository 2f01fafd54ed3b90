"""Lists of numbers between two bounds, of vectors clipped in a norm, and time series.

Numbers are doubles, or the points of a grid. Doubles are finitely many, but too many to list: plain code on such a space is
tested on its smallest lists and on lists with a pattern.

    bounded-reals       x_i in [low, high], a double, or low + k step
    bounded-integers    x_i in {low, ..., high}
    clipped-vectors     x_i in R^k with ||x_i|| <= radius, in L1, L2 or L-infinity
    time-series         x_i = (x_i1, ..., x_iT), one value for every time
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Annotated, Any, ClassVar, cast

from dpspec.base.errors import NotInSpaceError, ParameterError
from dpspec.base.params import Domain, Integer, Rational, Text, Truth, define
from dpspec.blocks.lists import Lists
from dpspec.blocks.multisets import sequences_between
from dpspec.blocks.parts import Nesting, check_places
from dpspec.blocks.space import Dataset, Record

_GRID = 1 << 20
"""A grid may have so many points for each number, at most."""


# --- numbers --------------------------------------------------------------------------------------


def double(value: Any, subject: str) -> float:
    """A finite double, with one zero.

    >>> double(-0.0, "entry")
    0.0
    """
    if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
        raise NotInSpaceError(subject, "must be a number", value=value)
    found = float(value)
    if not math.isfinite(found):
        raise NotInSpaceError(subject, "must be a finite number", value=value)
    return found + 0.0


@define
class NumberRange:
    """The numbers between two bounds: doubles, or the points low + k step that are not above high.

    Args:
        low, high: the bounds, as the doubles nearest to them.
        step: the width of the grid; without it all doubles.
        whole: whether the numbers are integers, handed over as such.

    >>> NumberRange(low=0, high=1, step="1/2").listed()
    (0.0, 0.5, 1.0)
    """

    low: Annotated[Fraction, Rational()]
    high: Annotated[Fraction, Rational()]
    step: Annotated[Fraction, Rational(low=0, open_low=True)] | None = None
    whole: Annotated[bool, Truth()] = False

    def __attrs_post_init__(self) -> None:
        if self.high < self.low:
            raise ParameterError("high", f"must be at least low={self.low}", value=str(self.high))
        if self.step is not None and (self.high - self.low) / self.step > _GRID:
            raise ParameterError(
                "step", f"must leave at most {_GRID} points", "take it larger, or leave it out", value=str(self.step)
            )

    def count(self) -> int | None:
        """The number of values in the range; None for all doubles of a range."""
        if self.low == self.high:
            return 1
        return None if self.step is None else len(self.listed())

    def listed(self) -> tuple[Any, ...]:
        """The points of the grid."""
        step = Fraction(1) if self.step is None else self.step
        points = [self.low + place * step for place in range(math.floor((self.high - self.low) / step) + 1)]
        return tuple(dict.fromkeys(int(point) if self.whole else float(point) + 0.0 for point in points))

    def number(self, value: Any, subject: str) -> Any:
        """A number of the range in canonical form."""
        found: Any = double(value, subject)
        if self.whole:
            if found != int(found):
                raise NotInSpaceError(subject, "must be a whole number", value=value)
            found = int(value)
        inside = float(self.low) <= found <= float(self.high)
        if not inside or (self.step is not None and found not in self.listed()):
            grid = "" if self.step is None or self.whole else f" in steps of {self.step}"
            raise NotInSpaceError(subject, f"must lie in [{self.low}, {self.high}]{grid}", value=value)
        return found

    def telling(self) -> tuple[Any, ...]:
        """The ends, zero, the middle, and what lies next to the ends."""
        if self.step is not None:
            points = self.listed()
            around = [points[0], points[-1], points[len(points) // 2], *points[1:2], *points[-2:-1]]
            return tuple(dict.fromkeys([*around, *(point for point in points if point == 0)]))
        low, high = float(self.low), float(self.high)
        around = [low, high, low / 2 + high / 2, math.nextafter(low, high), math.nextafter(high, low)]
        return tuple(dict.fromkeys([*around, *([0.0] if low <= 0 <= high else []), low + (high - low) / 3]))

    def numbers(self) -> Iterator[Any]:
        """Every number once: the ends, zero, then the multiples of 1, of 1/2, of 1/4, ... between them."""
        if self.step is not None:
            yield from self.listed()
            return
        low, high = float(self.low), float(self.high)
        seen = dict.fromkeys([low + 0.0, high + 0.0, *([0.0] if low <= 0 <= high else [])])
        yield from seen
        if low == high:
            return
        for halvings in itertools.count():
            width = Fraction(1, 1 << halvings)
            for place in range(math.ceil(Fraction(low) / width), math.floor(Fraction(high) / width) + 1):
                point = place * width
                new = halvings == 0 or place % 2
                if new and Fraction(float(point)) == point and float(point) not in seen:
                    yield float(point)


@define
class BoundedReals(Lists):
    """Lists of real numbers between two bounds: x_i in [low, high], as doubles or on a grid.

    Args:
        low, high: the bounds of a number, in its own unit.
        step: the width of a grid from `low` on, on which the numbers lie; without it they are all doubles between the bounds.
        least, most: the range of the length, the number of records; without `most` it is unbounded.
        ordered: whether positions count; otherwise a dataset is a multiset.
        unit: what one number is of.

    >>> list(BoundedReals(low=0, high=1, step="1/2", least=1, most=1).datasets())
    [(0.0,), (0.5,), (1.0,)]
    >>> BoundedReals(low=0, high=1).dataset([0.25, 1])
    (0.25, 1.0)
    """

    name: ClassVar[str] = "bounded-reals"

    low: Annotated[Fraction, Rational()]
    high: Annotated[Fraction, Rational()]
    step: Annotated[Fraction, Rational(low=0, open_low=True)] | None = None
    least: Annotated[int, Integer(0)] = 0
    most: Annotated[int, Integer(0)] | None = None
    ordered: Annotated[bool, Truth()] = True
    unit: Annotated[str, Text()] = "person"

    def __attrs_post_init__(self) -> None:
        self._check_lengths()
        self.range  # noqa: B018 (checks the bounds)

    @property
    def range(self) -> NumberRange:
        """The range of an entry."""
        return NumberRange(low=self.low, high=self.high, step=self.step)

    @classmethod
    def examples(cls) -> Iterator[BoundedReals]:
        """A grid of three points, ordered and not."""
        yield cls(low=Fraction(0), high=Fraction(1), step=Fraction(1, 2), least=1, most=2)
        yield cls(low=Fraction(-1), high=Fraction(1), step=Fraction(1), most=2, ordered=False)

    def entry(self, value: Any) -> float:
        return cast("float", self.range.number(value, self.name))

    def listed_entries(self) -> Iterator[float]:
        return self.range.numbers()

    def entry_count(self) -> int | None:
        return self.range.count()

    def telling(self) -> tuple[float, ...]:
        return self.range.telling()


@define
class BoundedIntegers(Lists):
    """Lists of integers between two bounds: x_i in {low, ..., high}.

    Args:
        low, high: the bounds of a number, in its own unit.
        least, most: the range of the length, the number of records; without `most` it is unbounded.
        ordered: whether positions count; otherwise a dataset is a multiset.
        unit: what one number is of.

    >>> list(BoundedIntegers(low=0, high=1, most=2, ordered=False).datasets())
    [(), (0,), (1,), (0, 0), (0, 1), (1, 1)]
    """

    name: ClassVar[str] = "bounded-integers"

    low: Annotated[int, Integer()]
    high: Annotated[int, Integer()]
    least: Annotated[int, Integer(0)] = 0
    most: Annotated[int, Integer(0)] | None = None
    ordered: Annotated[bool, Truth()] = True
    unit: Annotated[str, Text()] = "person"

    def __attrs_post_init__(self) -> None:
        self._check_lengths()
        if self.high < self.low:
            raise ParameterError("high", f"must be at least low={self.low}", value=self.high)

    @classmethod
    def examples(cls) -> Iterator[BoundedIntegers]:
        """Few numbers, ordered and not."""
        yield cls(low=-1, high=1, least=1, most=2)
        yield cls(low=0, high=2, most=2, ordered=False)

    def entry(self, value: Any) -> int:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise NotInSpaceError(self.name, "must hold integers only", "no missing values, booleans or floats", value=value)
        if not self.low <= int(value) <= self.high:
            raise NotInSpaceError(self.name, f"entries must lie in [{self.low}, {self.high}]", value=value)
        return int(value)

    def listed_entries(self) -> Iterator[int]:
        return iter(range(self.low, self.high + 1))

    def entry_count(self) -> int | None:
        count = self.high - self.low + 1
        return count if count <= _GRID else None

    def telling(self) -> tuple[int, ...]:
        around = [self.low, self.high, (self.low + self.high) // 2, self.low + 1, self.high - 1, 0]
        return tuple(number for number in dict.fromkeys(around) if self.low <= number <= self.high)


# --- vectors --------------------------------------------------------------------------------------


NORMS = ("l1", "l2", "l-infinity")


def within_norm(vector: Sequence[float], norm: str, radius: float) -> bool:
    """Whether ||v|| <= r, decided exactly on the doubles.

    >>> within_norm((0.6, 0.8), "l2", 1.0), within_norm((0.5, 0.5), "l1", 1.0)
    (False, True)
    """
    sizes, most = [abs(Fraction(entry)) for entry in vector], Fraction(radius)
    if norm == "l1":
        return sum(sizes) <= most
    if norm == "l2":
        return sum(size * size for size in sizes) <= most * most
    return max(sizes, default=Fraction(0)) <= most


class Norm(Domain):
    """The name of a norm."""

    python = "str"

    def read(self, value: Any, subject: str) -> str:
        if not isinstance(value, str) or value not in NORMS:
            raise ParameterError(subject, f"must be {self.describe()}", value=value)
        return value

    def describe(self) -> str:
        return f"one of {', '.join(NORMS)}"

    def schema(self) -> dict[str, Any]:
        return {"enum": list(NORMS)}

    def strategy(self) -> Any:
        from hypothesis import strategies as st

        return st.sampled_from(NORMS)


@define
class ClippedVectors(Lists):
    """Lists of vectors whose norm is at most a radius, as gradients are clipped: x_i in R^k with ||x_i|| <= radius.

    Args:
        dimension: k, the number of coordinates.
        norm: l1, l2 or l-infinity.
        radius: the largest norm, in the unit of the coordinates.
        step: the width of a grid around 0, on which every number lies; without it they are doubles.
        least, most: the range of the length, the number of records; without `most` it is unbounded.
        ordered: whether positions count; otherwise a dataset is a multiset.
        unit: what one vector is of.

    >>> list(ClippedVectors(dimension=2, norm="l1", radius=1, step=1, least=1, most=1).datasets())[:3]
    [((0.0, 0.0),), ((1.0, 0.0),), ((-1.0, 0.0),)]
    """

    name: ClassVar[str] = "clipped-vectors"

    dimension: Annotated[int, Integer(1)]
    norm: Annotated[str, Norm()] = "l2"
    radius: Annotated[Fraction, Rational(low=0, open_low=True)] = Fraction(1)
    step: Annotated[Fraction, Rational(low=0, open_low=True)] | None = None
    least: Annotated[int, Integer(0)] = 0
    most: Annotated[int, Integer(0)] | None = None
    ordered: Annotated[bool, Truth()] = True
    unit: Annotated[str, Text()] = "person"

    def __attrs_post_init__(self) -> None:
        self._check_lengths()

    @classmethod
    def examples(cls) -> Iterator[ClippedVectors]:
        """Grids in two dimensions, one for each norm."""
        for norm in NORMS:
            yield cls(dimension=2, norm=norm, step=Fraction(1), most=1)
        yield cls(dimension=1, norm="l2", step=Fraction(1, 2), least=2, most=2, ordered=False)

    def entry(self, value: Any) -> tuple[float, ...]:
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            raise NotInSpaceError(self.name, f"entries must be vectors of {self.dimension} numbers", value=value)
        vector = tuple(double(number, self.name) for number in value)
        if len(vector) != self.dimension:
            raise NotInSpaceError(self.name, f"vectors must have {self.dimension} numbers, not {len(vector)}", value=vector)
        if not within_norm(vector, self.norm, float(self.radius)):
            raise NotInSpaceError(self.name, f"the {self.norm} norm must be at most {self.radius}", "clip it", value=vector)
        if self.step is not None and any(float(round(Fraction(x) / self.step) * self.step) != x for x in vector):
            raise NotInSpaceError(self.name, f"numbers must be multiples of {self.step}", value=vector)
        return vector

    def listed_entries(self) -> Iterator[tuple[float, ...]]:
        check_places(self.name, self.dimension)
        steps = [self.step] if self.step is not None else (Fraction(float(self.radius)) / (1 << m) for m in itertools.count())
        for finer, step in enumerate(steps):
            yield from self._on_grid(step, only_odd=bool(finer))

    def _on_grid(self, step: Fraction, *, only_odd: bool) -> Iterator[tuple[float, ...]]:
        """The vectors on a grid, with few numbers that are not 0 first; without those of the grid that is twice as wide."""
        top = math.floor(Fraction(float(self.radius)) / step)
        sizes = [sign * place for place in range(1, top + 1) for sign in (1, -1)]
        for filled in range(self.dimension + 1):
            for places in itertools.combinations(range(self.dimension), filled):
                for chosen in itertools.product(sizes, repeat=filled):
                    if only_odd and not any(size % 2 for size in chosen):
                        continue
                    vector = [0.0] * self.dimension
                    for place, size in zip(places, chosen, strict=True):
                        vector[place] = float(size * step)
                    if within_norm(vector, self.norm, float(self.radius)):
                        yield tuple(vector)

    def entry_count(self) -> int | None:
        if self.step is None:
            return None
        points = 2 * math.floor(Fraction(float(self.radius)) / self.step) + 1
        most = sequences_between(points, self.dimension, self.dimension)
        return None if most is None or most > _GRID else sum(1 for _ in self.listed_entries())

    def telling(self) -> tuple[tuple[float, ...], ...]:
        check_places(self.name, self.dimension)
        size = float(self.radius) if self.step is None else float(math.floor(self.radius / self.step) * self.step)
        ends = range(min(self.dimension, 3))
        alone = [tuple(sign * size if i == j else 0.0 for i in range(self.dimension)) for j in ends for sign in (1, -1)]
        return ((0.0,) * self.dimension, *alone, *self._even())

    def _even(self) -> Iterator[tuple[float, ...]]:
        """Both vectors of one size in all directions at once, as large as the norm allows."""
        share = {"l1": 1.0 / self.dimension, "l2": 1.0 / math.sqrt(self.dimension), "l-infinity": 1.0}[self.norm]
        size = float(self.radius) * share
        if self.step is not None:
            size = float(math.floor(Fraction(size) / self.step) * self.step)
        while size > 0 and not within_norm((size,) * self.dimension, self.norm, float(self.radius)):
            size = math.nextafter(size, 0.0) if self.step is None else 0.0
        if size:
            yield (size,) * self.dimension
            yield (-size,) * self.dimension

    def columns(self) -> tuple[str, ...]:
        return tuple(f"x{place}" for place in range(self.dimension))

    def rows(self, dataset: Dataset) -> tuple[tuple[Any, ...], ...]:
        return cast("tuple[tuple[Any, ...], ...]", dataset)


# --- time series ----------------------------------------------------------------------------------


@define
class TimeSeries(Lists, Nesting):
    """Lists of time series, one for each person: x_i = (x_i1, ..., x_iT) with every value in [low, high].

    A unit is the whole series of one person, or one value of it (`event`), as in event-level privacy (Dwork, Naor, Pitassi and
    Rothblum 2010).

    Args:
        length: T, how many times there are.
        low, high: the bounds of a value, in its own unit.
        step: the width of a grid from `low` on, on which the values lie; without it they are doubles.
        whole: whether values are integers; they are then handed over as such, and the step is 1 unless it is given.
        least, most: how many series there are; without `most` any number.
        ordered: whether positions in the list count; otherwise a dataset is a multiset of series.
        unit: what one series is of.
        event: what one value of a series is.

    >>> space = TimeSeries(length=2, low=0, high=1, whole=True, least=1, most=1)
    >>> list(space.datasets())
    [((0, 0),), ((0, 1),), ((1, 0),), ((1, 1),)]
    >>> space.records(((0, 1),), "event")
    (('0', '0'), ('1', '1'))
    """

    name: ClassVar[str] = "time-series"

    length: Annotated[int, Integer(1)]
    low: Annotated[Fraction, Rational()]
    high: Annotated[Fraction, Rational()]
    step: Annotated[Fraction, Rational(low=0, open_low=True)] | None = None
    whole: Annotated[bool, Truth()] = False
    least: Annotated[int, Integer(0)] = 0
    most: Annotated[int, Integer(0)] | None = None
    ordered: Annotated[bool, Truth()] = True
    unit: Annotated[str, Text()] = "person"
    event: Annotated[str, Text()] = "event"

    def __attrs_post_init__(self) -> None:
        self._check_lengths()
        if self.event == self.unit:
            raise ParameterError("event", f"must be another name than unit={self.unit}", value=self.event)
        ends = (self.low, self.high, *(() if self.step is None else (self.step,)))
        if self.whole and any(end.denominator != 1 for end in ends):
            raise ParameterError("whole", "needs bounds and a step that are integers", value=self.whole)
        self.range  # noqa: B018 (checks the bounds)

    @property
    def range(self) -> NumberRange:
        """The range of one value."""
        step = Fraction(1) if self.whole and self.step is None else self.step
        return NumberRange(low=self.low, high=self.high, step=step, whole=self.whole)

    @classmethod
    def examples(cls) -> Iterator[TimeSeries]:
        """One series of two bits, and up to two of one."""
        yield cls(length=2, low=Fraction(0), high=Fraction(1), whole=True, least=1, most=1)
        yield cls(length=1, low=Fraction(0), high=Fraction(1), step=Fraction(1, 2), most=2, ordered=False)

    @property
    def units(self) -> tuple[str, ...]:
        return self.unit, self.event

    def entry(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            raise NotInSpaceError(self.name, f"entries must be series of {self.length} values", value=value)
        series, allowed = tuple(value), self.range
        if len(series) != self.length:
            raise NotInSpaceError(self.name, f"series must have {self.length} values, not {len(series)}", value=series)
        return tuple(allowed.number(number, self.name) for number in series)

    def listed_entries(self) -> Iterator[tuple[Any, ...]]:
        check_places(self.name, self.length)
        if self.range.count() is not None:
            yield from itertools.product(self.range.numbers(), repeat=self.length)
            return
        known: list[Any] = []
        for last, number in enumerate(self.range.numbers()):
            known.append(number)
            for places in itertools.product(range(last + 1), repeat=self.length):
                if last in places:
                    yield tuple(known[place] for place in places)

    def entry_count(self) -> int | None:
        count = self.range.count()
        every = None if count is None else sequences_between(count, self.length, self.length)
        return None if every is None or every > _GRID else every

    def telling(self) -> tuple[tuple[Any, ...], ...]:
        check_places(self.name, self.length)
        low, high, *others = *self.range.telling(), self.range.telling()[0]
        ends = [places for places in (0, self.length - 1, self.length // 2) if places < self.length]
        bumps = [tuple(high if time == place else low for time in range(self.length)) for place in ends]
        steps = [tuple(low if time < self.length // 2 else high for time in range(self.length))]
        return ((low,) * self.length, (high,) * self.length, *bumps, *steps, *((value,) * self.length for value in others[:2]))

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        every = cast("tuple[tuple[Any, ...], ...]", dataset)
        if unit == self.unit:
            return tuple((repr(series),) for series in every)
        return tuple((str(time), repr(value)) for series in every for time, value in enumerate(series))

    def fixes_size(self, unit: str) -> bool:
        return unit in self.units and self.least == self.most

    def is_told_by(self, unit: str) -> bool:
        return unit == self.unit or (unit == self.event and (self.ordered or self.most == 1))

    def most_within(self, inner: str, outer: str) -> int | None:
        if inner == outer and inner in self.units:
            return 1
        return self.length if (inner, outer) == (self.event, self.unit) else None

    def most_changed(self, unit: str, per: str) -> int | None:
        """As many as lie within: a record of a larger unit shows all that lie in it."""
        return self.most_within(unit, per)

    def columns(self) -> tuple[str, ...]:
        return tuple(f"t{time}" for time in range(self.length))

    def rows(self, dataset: Dataset) -> tuple[tuple[Any, ...], ...]:
        return cast("tuple[tuple[Any, ...], ...]", dataset)
