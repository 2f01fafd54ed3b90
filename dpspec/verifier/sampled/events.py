"""Events: sets of outputs that can be counted in many outputs at once, and written for people.

Atoms, Shapes   short lists of outputs, or of forms of the output
Ranges          a number made from the output (a coordinate, a sum, a fractional part, a score, ...) lies in a union of intervals
Both            an intersection
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction as Rational
from typing import Any

import attrs
import numpy as np

from dpspec.base.types import Floats, Mask
from dpspec.verifier.expression import Atom, Expression, Outcomes, Shape, filled, shape_text, written


def exact(value: float) -> str:
    """A double as a ratio, exactly."""
    return str(Rational(value))


class Projection(ABC):
    """A number made from the numbers of an output of one shape."""

    @abstractmethod
    def of(self, matrix: Floats) -> Floats:
        """The number for every row."""

    @abstractmethod
    def text(self, count: int) -> str:
        """How it is written, for an output with `count` numbers."""

    @property
    @abstractmethod
    def data(self) -> dict[str, Any]:
        """The number as data; see `dpspec.verifier.expression`."""


def _entry(place: int, count: int) -> str:
    return "out" if count == 1 else f"out[{place}]"


@attrs.frozen
class Combination(Projection):
    """A linear combination of coordinates; one coordinate is the simplest."""

    places: tuple[int, ...]
    weights: tuple[float, ...]

    def of(self, matrix: Floats) -> Floats:
        found: Floats = matrix[:, list(self.places)] @ np.array(self.weights)
        return found

    def text(self, count: int) -> str:
        if count > 1 and self.places == tuple(range(count)) and set(self.weights) == {1.0}:
            return "sum(out)"
        parts: list[str] = []
        for place, weight in zip(self.places, self.weights, strict=True):
            size = "" if abs(weight) == 1 else f"{abs(weight):.4g}*"
            sign = ("-" if weight < 0 else "") if not parts else (" - " if weight < 0 else " + ")
            parts.append(f"{sign}{size}{_entry(place, count)}")
        return "".join(parts)

    @property
    def data(self) -> dict[str, Any]:
        terms = zip(self.places, self.weights, strict=True)
        return {"sum": [[place, exact(weight)] for place, weight in terms]}


@attrs.frozen
class Fraction(Projection):
    """The fractional part of a coordinate."""

    place: int

    def of(self, matrix: Floats) -> Floats:
        column: Floats = matrix[:, self.place]
        found: Floats = column - np.floor(column)
        return found

    def text(self, count: int) -> str:
        return f"{_entry(self.place, count)} % 1"

    @property
    def data(self) -> dict[str, Any]:
        return {"fraction": self.place}


@attrs.frozen
class Extreme(Projection):
    """The least or the largest coordinate."""

    largest: bool

    def of(self, matrix: Floats) -> Floats:
        found: Floats = matrix.max(axis=1) if self.largest else matrix.min(axis=1)
        return found

    def text(self, count: int) -> str:
        return "max(out)" if self.largest else "min(out)"

    @property
    def data(self) -> dict[str, Any]:
        return {"largest": self.largest}


@attrs.frozen
class Additive(Projection):
    """A score that adds one value per coordinate, read from steps: the cells between the cuts of the coordinate."""

    cuts: tuple[tuple[float, ...], ...]
    values: tuple[tuple[float, ...], ...]

    def of(self, matrix: Floats) -> Floats:
        total = np.zeros(len(matrix))
        for place, (cuts, values) in enumerate(zip(self.cuts, self.values, strict=True)):
            total += np.array(values)[np.searchsorted(np.array(cuts), matrix[:, place], side="right")]
        return total

    def text(self, count: int) -> str:
        return "the score adding a step function of each coordinate"

    @property
    def data(self) -> dict[str, Any]:
        steps = zip(self.cuts, self.values, strict=True)
        return {"steps": [[list(map(exact, cuts)), list(map(exact, values))] for cuts, values in steps]}


class OutputEvent(ABC):
    """A set of outputs."""

    @abstractmethod
    def holds(self, outcomes: Outcomes) -> Mask:
        """Whether each output is in the event."""

    @abstractmethod
    def __str__(self) -> str: ...

    @property
    @abstractmethod
    def expression(self) -> Expression:
        """The event as data."""

    @property
    @abstractmethod
    def complexity(self) -> int:
        """1 for a half-line or one outcome, more for what takes longer to read."""

    def count(self, outcomes: Outcomes) -> int:
        """How many of the outputs are in the event."""
        return int(self.holds(outcomes).sum())


def _listed(texts: list[str]) -> str:
    return f"out = {texts[0]}" if len(texts) == 1 else f"out in {{{', '.join(texts)}}}"


@attrs.frozen
class Atoms(OutputEvent):
    """A set of outputs, listed."""

    members: frozenset[Atom]

    def holds(self, outcomes: Outcomes) -> Mask:
        return np.fromiter(map(self.members.__contains__, outcomes.atoms), dtype=bool, count=len(outcomes))

    @property
    def expression(self) -> Expression:
        return Expression.listed(filled(shape, iter(numbers)) for shape, numbers in sorted(self.members, key=repr))

    @property
    def complexity(self) -> int:
        return len(self.members)

    def __str__(self) -> str:
        return _listed(sorted(map(written, self.members)))


@attrs.frozen
class Shapes(OutputEvent):
    """A set of forms of the output: its type, its length, where it has None or NaN, whether it raises."""

    members: frozenset[Shape]

    def holds(self, outcomes: Outcomes) -> Mask:
        found = np.zeros(len(outcomes), dtype=bool)
        for shape in self.members:
            if shape in outcomes.groups:
                found[outcomes.groups[shape][0]] = True
        return found

    @property
    def expression(self) -> Expression:
        return Expression.listed(filled(shape, iter(())) for shape in sorted(self.members, key=repr))

    @property
    def complexity(self) -> int:
        return len(self.members)

    def __str__(self) -> str:
        texts = sorted(map(shape_text, self.members))
        return texts[0] if len(texts) == 1 and texts[0].startswith("raises") else _listed(texts).replace("out =", "out is")


@attrs.frozen
class Ranges(OutputEvent):
    """Outputs of one shape whose projection lies in a union of half-open intervals [low, high)."""

    shape: Shape
    count_of_numbers: int
    projection: Projection
    intervals: tuple[tuple[float, float], ...]
    alone: bool = True
    """Whether outputs have no other shape, so that it need not be written."""

    def holds(self, outcomes: Outcomes) -> Mask:
        found = np.zeros(len(outcomes), dtype=bool)
        if self.shape in outcomes.groups:
            rows, matrix = outcomes.groups[self.shape]
            values = self.projection.of(matrix)
            inside = np.zeros(len(rows), dtype=bool)
            for low, high in self.intervals:
                inside |= (values >= low) & (values < high)
            found[rows] = inside
        return found

    def complement(self) -> Ranges | None:
        """The other half-line, where this is one and outputs have no other shape."""
        if not self.alone or len(self.intervals) != 1:
            return None
        low, high = self.intervals[0]
        if math.isinf(low) == math.isinf(high):
            return None
        return attrs.evolve(self, intervals=((high, math.inf),) if math.isinf(low) else ((-math.inf, low),))

    @property
    def expression(self) -> Expression:
        ends = [[None if math.isinf(end) else exact(end) for end in interval] for interval in self.intervals]
        return Expression.read({"number": self.projection.data, "within": ends, "of": filled(self.shape, iter(()))})

    @property
    def complexity(self) -> int:
        hard = {Extreme: 0, Fraction: 1, Additive: 8}.get(type(self.projection), 0)
        if isinstance(self.projection, Combination):
            plain = all(abs(weight) == 1 for weight in self.projection.weights)
            hard = min(len(self.projection.places) - 1, 2) if plain else 2 + len(self.projection.places)
        return hard + sum(1 if math.isinf(low) or math.isinf(high) else 2 for low, high in self.intervals)

    def __str__(self) -> str:
        name = self.projection.text(self.count_of_numbers)
        text = " or ".join(_interval(name, low, high) for low, high in self.intervals)
        return text if self.alone else f"out is {shape_text(self.shape)} and {text}"


def _interval(name: str, low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return "any number"
    if math.isinf(high):
        return f"{name} >= {low:.8g}"
    return f"{name} < {high:.8g}" if math.isinf(low) else f"{low:.8g} <= {name} < {high:.8g}"


@attrs.frozen
class Both(OutputEvent):
    """The intersection of two events."""

    first: OutputEvent
    second: OutputEvent

    def holds(self, outcomes: Outcomes) -> Mask:
        return self.first.holds(outcomes) & self.second.holds(outcomes)

    @property
    def expression(self) -> Expression:
        return Expression((("and", (self.first.expression.data, self.second.expression.data)),))

    @property
    def complexity(self) -> int:
        return self.first.complexity + self.second.complexity

    def __str__(self) -> str:
        first, second = (f"({part})" if " or " in str(part) else str(part) for part in (self.first, self.second))
        return f"{first} and {second}"


def both(first: OutputEvent, second: OutputEvent) -> OutputEvent:
    """The intersection; two ranges of one number become one."""
    if not (isinstance(first, Ranges) and isinstance(second, Ranges)):
        return Both(first, second)
    if (first.shape, first.projection) != (second.shape, second.projection):
        return Both(first, second)
    cut = [(max(a, c), min(b, d)) for a, b in first.intervals for c, d in second.intervals if max(a, c) < min(b, d)]
    return attrs.evolve(first, intervals=tuple(sorted(cut)))


def merged(cells: list[int], cuts: Floats) -> tuple[tuple[float, float], ...]:
    """The cells (numbered from below the first cut) as intervals, neighbours joined."""
    edges = [-math.inf, *map(float, cuts), math.inf]
    intervals: list[tuple[float, float]] = []
    for cell in sorted(cells):
        low, high = edges[cell], edges[cell + 1]
        if intervals and intervals[-1][1] == low:
            intervals[-1] = (intervals[-1][0], high)
        else:
            intervals.append((low, high))
    return tuple(intervals)


def projections(matrix: Floats) -> Iterator[Projection]:
    """The numbers that are looked at for outputs with the given numbers: coordinates, sums, differences, fractional parts."""
    count = matrix.shape[1]
    listed = min(count, 12)
    for place in range(listed):
        yield Combination((place,), (1.0,))
    if count > 1:
        yield Extreme(largest=False)
        yield Extreme(largest=True)
    if count > 2:
        yield Combination(tuple(range(count)), (1.0,) * count)
        for cut in range(1, listed):
            yield Combination(tuple(range(listed)), (1.0,) * cut + (-1.0,) * (listed - cut))
    pairs: Any = itertools.combinations(range(listed), 2) if listed <= 5 else itertools.pairwise(range(listed))
    for first, second in pairs:
        yield Combination((first, second), (1.0, -1.0))
        yield Combination((first, second), (1.0, 1.0))
    for place in range(min(count, 4)):
        if np.any(matrix[:, place] % 1):
            yield Fraction(place)
