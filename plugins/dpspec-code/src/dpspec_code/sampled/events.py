"""Events: sets of outputs that can be counted in many outputs at once, and written for people.

Atoms, Shapes   short lists of outputs, or of forms of the output
Ranges          a number made from the output (a coordinate, a sum, a fractional part, a score, ...) lies in a union of intervals
Both            an intersection
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction as Rational
from typing import Any

import attrs
import numpy as np

from dpspec.plugin import Floats, Mask
from dpspec.plugin.judges import MOST_NUMBERS, Atom, Expression, Outcomes, Shape, filled, shape_text, written


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
class Remainder(Projection):
    """A coordinate modulo an integer; modulo 1, its fractional part."""

    place: int
    modulus: int = 1

    def of(self, matrix: Floats) -> Floats:
        found: Floats = np.mod(matrix[:, self.place], self.modulus)
        return found

    def text(self, count: int) -> str:
        return f"{_entry(self.place, count)} % {self.modulus}"

    @property
    def data(self) -> dict[str, Any]:
        return {"fraction": self.place} if self.modulus == 1 else {"remainder": [self.place, str(self.modulus)]}


@attrs.frozen
class Whole(Projection):
    """A number made of all numbers of an output, however many there are."""

    what: str

    def of(self, matrix: Floats) -> Floats:
        found: Floats = np.asarray(WHOLE[self.what](matrix), dtype=float)
        return found

    def text(self, count: int) -> str:
        return _WORDS[self.what]

    @property
    def data(self) -> dict[str, Any]:
        return {"whole": self.what}


def _distinct(matrix: Floats) -> Any:
    ordered = np.sort(matrix, axis=1)
    return (np.diff(ordered, axis=1) != 0).sum(axis=1) + min(matrix.shape[1], 1)


WHOLE: dict[str, Callable[[Floats], Any]] = {
    "count": lambda matrix: np.full(len(matrix), matrix.shape[1]),
    "sum": lambda matrix: matrix.sum(axis=1),
    "distinct": _distinct,
    "zero": lambda matrix: (matrix == 0).sum(axis=1),
    "place of the largest": lambda matrix: matrix.argmax(axis=1),
    "place of the least": lambda matrix: matrix.argmin(axis=1),
}
"""What is made of all numbers; the first four also of outputs without any."""
ANYWHERE = ("count", "sum", "distinct")
_WORDS = {
    "count": "len(numbers of out)",
    "sum": "sum(out)",
    "distinct": "the number of different numbers of out",
    "zero": "the number of zeros of out",
    "place of the largest": "the place of the largest number of out",
    "place of the least": "the place of the least number of out",
}


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
    def expression(self) -> Expression | None:
        """The event as data; None where there is no expression for it."""

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

    shape: Shape | None
    count_of_numbers: int
    projection: Projection
    intervals: tuple[tuple[float, float], ...]
    alone: bool = True
    """Whether outputs have no other shape, or any will do, so that it need not be written."""

    def holds(self, outcomes: Outcomes) -> Mask:
        found = np.zeros(len(outcomes), dtype=bool)
        for shape, (rows, matrix) in outcomes.groups.items():
            if self.shape is None or shape == self.shape:
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
        form = None if self.shape is None else filled(self.shape, iter(()))
        return Expression.read({"number": self.projection.data, "within": ends, "of": form})

    @property
    def complexity(self) -> int:
        hard = {Extreme: 0, Remainder: 1, Whole: 1, Additive: 8}.get(type(self.projection), 0)
        if isinstance(self.projection, Combination):
            plain = all(abs(weight) == 1 for weight in self.projection.weights)
            hard = min(len(self.projection.places) - 1, 2) if plain else 2 + len(self.projection.places)
        return hard + sum(1 if math.isinf(low) or math.isinf(high) else 2 for low, high in self.intervals)

    def __str__(self) -> str:
        name = self.projection.text(self.count_of_numbers)
        text = " or ".join(_interval(name, low, high) for low, high in self.intervals)
        return text if self.alone or self.shape is None else f"out is {shape_text(self.shape)} and {text}"


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
    def expression(self) -> Expression | None:
        parts = self.first.expression, self.second.expression
        return None if None in parts else Expression((("and", tuple(part.data for part in parts if part is not None)),))

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


MOST_PLACES, COMBINED = 24, 12
"""The number of coordinates of a long output that are analysed singly, and in sums and differences."""


def telling_places(matrices: Sequence[Floats]) -> list[int]:
    """The coordinates of an output in which two samples differ most, every one compared singly; all where they are few."""
    count = matrices[0].shape[1]
    if count <= COMBINED or min(map(len, matrices)) < 2:
        return list(range(min(count, MOST_PLACES)))
    both_samples = np.concatenate(matrices)
    levels = np.quantile(both_samples, (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98), axis=0, method="higher")
    gaps = np.zeros(count)
    for level in levels:
        p, q = ((matrix < level).mean(axis=0) for matrix in matrices)
        gaps = np.maximum(gaps, np.abs(p - q) / np.sqrt((p + q) * (2 - p - q) / 4 + 1 / len(both_samples)))
    order = np.argsort(-gaps, kind="stable")
    return [int(place) for place in order[:MOST_PLACES]]


def projections(matrix: Floats, places: Sequence[int] | None = None) -> Iterator[Projection]:
    """The features of outputs with the given numbers: coordinates, sums, differences, ranks, ties, last digits.

    Args:
        matrix: the numbers, one row for each output.
        places: the coordinates to use, the most discriminating first; by default, all.
    """
    count = matrix.shape[1]
    near = list(range(count)) if places is None else list(places)
    yield from (Combination((place,), (1.0,)) for place in near)
    combined = sorted(near[:COMBINED])
    if 1 < count < MOST_NUMBERS:
        yield Extreme(largest=False)
        yield Extreme(largest=True)
        yield from map(Whole, ("place of the largest", "place of the least", "distinct", "zero"))
    if 2 < count < MOST_NUMBERS:
        yield Whole("sum")
        for cut in range(1, len(combined)):
            yield Combination(tuple(combined), (1.0,) * cut + (-1.0,) * (len(combined) - cut))
    pairs: Any = itertools.combinations(near[:5], 2) if count > 5 else itertools.combinations(range(count), 2)
    for first, second in dict.fromkeys([*map(_sorted, pairs), *itertools.pairwise(combined)]):
        yield Combination((first, second), (1.0, -1.0))
        yield Combination((first, second), (1.0, 1.0))
    for place in near[:4]:
        if np.any(matrix[:, place] % 1):
            yield Remainder(place)
        elif len(matrix) and np.ptp(matrix[:, place]) > 40:
            yield Remainder(place, 2)
            yield Remainder(place, 10)


def _sorted(pair: tuple[int, int]) -> tuple[int, int]:
    return min(pair), max(pair)
