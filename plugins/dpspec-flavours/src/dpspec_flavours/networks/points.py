"""Metric privacy of locations, points with rational coordinates: the closer two secrets are, the better they are protected."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, ClassVar, cast

from dpspec_divergences import HammingOrdered, Mult

from dpspec.plugin import (
    Attribute,
    Bound,
    Dataset,
    DatasetSpace,
    Example,
    Flavour,
    IncompatibleBlocksError,
    InputDivergence,
    Integer,
    Items,
    Number,
    ParameterError,
    PrivacySpec,
    Rational,
    Record,
    Text,
    Trivial,
    UniformBudget,
    blocks,
    define,
    errors,
    exact,
    is_a,
    ln,
    number,
    params,
)
from dpspec_flavours.mechanisms import NearbyDataset

_MOST = 100_000
"""A grid is listed, so it has no more points than this."""

Coordinates = tuple[Fraction, ...]


@define
class MetricPoints(DatasetSpace):
    """Locations out of a list of named points in R^k: one of them, or a sequence (a trajectory, one location for each user).

    A dataset is the sequence of the names of its points. A grid is a list of points, too: those with coordinates 0, 1, ... in
    units of `spacing`, named by these numbers ("2,0").

    Args:
        points: the points, a table from name to coordinates; or
        grid: the number of places along each axis.
        spacing: the distance of neighbouring places of a grid, in units of length.
        count: the number of locations in a dataset.
        unit: what one location is.

    >>> MetricPoints(points={"home": [0, 0], "work": ["3/2", 2]}).dataset(["work"])
    ('work',)
    >>> list(MetricPoints(grid=[2, 2]).datasets())
    [('0,0',), ('0,1',), ('1,0',), ('1,1',)]
    """

    name: ClassVar[str] = "metric-points"
    is_ordered: ClassVar[bool] = True

    points: Annotated[tuple[tuple[str, Coordinates], ...], params.Pairs(Items(Rational(), least=1))] = ()
    grid: Annotated[tuple[int, ...], Items(Integer(1))] = ()
    spacing: Annotated[Fraction, Rational(0, open_low=True)] = Fraction(1)
    count: Annotated[int, Integer(1)] = 1
    unit: Annotated[str, Text()] = "location"

    def __attrs_post_init__(self) -> None:
        if bool(self.points) == bool(self.grid):
            raise ParameterError(
                "metric-points", "needs either points or a grid", 'write points = { home = ["0", "1/2"] } or grid = [3, 3]'
            )
        if math.prod(self.grid) > _MOST:
            raise ParameterError("grid", f"must have at most {_MOST} points", "write a coarser one", value=self.grid)
        names = [name for name, _ in self.points]
        if len(set(names)) != len(names):
            raise ParameterError("points", "names a point twice", "give every point its own name", value=tuple(names))
        if len({len(place) for _, place in self.points}) > 1:
            raise ParameterError("points", "must all have equally many coordinates", value=self.points)
        if len({place for _, place in self.points}) < len(names):
            raise ParameterError(
                "points", "must lie in different places", "a metric separates different points", value=self.points
            )

    @property
    def units(self) -> tuple[str, ...]:
        return (self.unit,)

    def places(self) -> Mapping[str, Coordinates]:
        """The coordinates of every point, in order."""
        return _places(self)

    @property
    def dimension(self) -> int:
        """k, the number of coordinates."""
        return len(self.points[0][1]) if self.points else len(self.grid)

    def dataset(self, value: Any) -> Dataset:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise errors.NotInSpaceError(self.name, f"must be a list of {self.count} names of points", value=value)
        names = tuple(value)
        if len(names) != self.count:
            raise errors.NotInSpaceError(self.name, f"must be a list of {self.count} names of points", value=names)
        for name in names:
            if name not in self.places():
                raise errors.NotInSpaceError(
                    self.name, "has no such point", params.did_you_mean(str(name), self.places()), value=name
                )
        return names

    def datasets(self) -> Iterator[Dataset]:
        blocks.check_places(self.name, self.count)
        return itertools.product(self.places(), repeat=self.count)

    def cardinality(self) -> int | None:
        return blocks.sequences_between(len(self.places()), self.count, self.count)

    def magnitude(self, dataset: Dataset) -> int:
        return self.count

    def attributes_of(self, unit: str) -> tuple[Attribute, ...]:
        self.check_unit(unit)
        return (Attribute(name="point", categories=tuple(self.places())),)

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return tuple((name,) for name in cast("tuple[str, ...]", dataset))

    def fixes_size(self, unit: str) -> bool:
        return unit == self.unit

    def is_told_by(self, unit: str) -> bool:
        return unit == self.unit

    @classmethod
    def examples(cls) -> Iterator[MetricPoints]:
        """What the conformance kit checks divergences on."""
        half = Fraction(1, 2)
        yield cls(grid=(2,), spacing=half, count=2)
        yield cls(points=(("a", (Fraction(0), Fraction(0))), ("b", (half, half)), ("c", (Fraction(-2), Fraction(1)))))


@lru_cache(maxsize=64)
def _places(space: MetricPoints) -> dict[str, Coordinates]:
    if space.points:
        return dict(space.points)
    listed = itertools.product(*(range(size) for size in space.grid))
    return {",".join(map(str, place)): tuple(step * space.spacing for step in place) for place in listed}


def _euclidean(steps: Iterable[Fraction]) -> Number:
    return exact.sqrt(sum((step * step for step in steps), Fraction(0)))


def _manhattan(steps: Iterable[Fraction]) -> Number:
    return number(sum(map(abs, steps), Fraction(0)))


def _maximum(steps: Iterable[Fraction]) -> Number:
    return number(max(map(abs, steps)))


NORMS: dict[str, Callable[[Iterable[Fraction]], Number]] = {
    "euclidean": _euclidean,
    "manhattan": _manhattan,
    "maximum": _maximum,
}
"""The norms of a difference of two points."""
_ORDER = ("maximum", "euclidean", "manhattan")
"""From the least to the largest norm."""


@define
class Metric(InputDivergence):
    """The distance of locations under a norm, in a chosen unit of length: d_chi (Chatzikokolakis et al., PETS 2013).

    d(x, x') = |x - x'| / length for one location. For several it is the sum over the positions or, with `over` maximum, the
    largest of them, so that a whole trajectory is protected like one location.

    Args:
        norm: euclidean, manhattan (sum of the absolute coordinates), or maximum (largest absolute coordinate).
        length: the length that counts as distance 1, in the units of the coordinates.
        over: how the distances of several locations are put together, by sum or maximum. A sum of euclidean distances is
            refused, since square roots have no exact sum.

    >>> corner = MetricPoints(grid=[3, 2])
    >>> [str(Metric(norm=norm).distance(("0,0",), ("2,1",), corner)) for norm in NORMS]
    ['sqrt(5)', '3', '2']
    """

    name: ClassVar[str] = "metric"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    norm: Annotated[str, Text(tuple(NORMS))] = "euclidean"
    length: Annotated[Fraction, Rational(0, open_low=True)] = Fraction(1)
    over: Annotated[str, Text(("sum", "maximum"))] = "sum"

    def check(self, space: DatasetSpace) -> None:
        points = _points(space)
        if self.norm == "euclidean" and self.over == "sum" and points.count > 1:
            raise IncompatibleBlocksError(
                self.name,
                "cannot add euclidean distances exactly",
                'write over = "maximum", or norm = "manhattan"',
                value=points.count,
            )

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        each = [self._apart(one, other, _points(space)) for one, other in zip(cast("Any", left), cast("Any", right), strict=True)]
        return max(each) if self.over == "maximum" else sum(each, exact.ZERO)

    def _apart(self, one: str, other: str, space: MetricPoints) -> Number:
        here, there = space.places()[one], space.places()[other]
        return NORMS[self.norm](a - b for a, b in zip(here, there, strict=True)) * (1 / self.length)

    def _pairs(self, space: DatasetSpace) -> Iterator[Number]:
        """The distances of two different points."""
        points = _points(space)
        return (self._apart(one, other, points) for one, other in itertools.combinations(points.places(), 2))

    def least_distance(self, space: DatasetSpace) -> Number | None:
        return min(self._pairs(space), default=None)

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if self == other:
            return number(1), "the same input divergence"
        if is_a(other, Metric):
            return self._against(other, _points(space))
        known = HammingOrdered(unit=_points(space).unit).bounded_by(other, space)
        if known is None:
            return None
        farthest = max(self._pairs(space), default=exact.ZERO)
        return farthest * known[0], f"no two points are farther apart than {farthest}; {known[1]}"

    def _against(self, other: Metric, space: MetricPoints) -> Bound:
        """The constant between two norms on R^k, two lengths, and two ways to put locations together."""
        factor, reasons = other.length / self.length, []
        if self.length != other.length:
            reasons.append(f"one is in units of {self.length}, the other of {other.length}")
        root, k = 1, space.dimension
        if _ORDER.index(self.norm) > _ORDER.index(other.norm):
            root = k**2 if (self.norm, other.norm) == ("manhattan", "maximum") else k
            reasons.append(f"{self.norm} norm against {other.norm} norm on R^{k}")
        elif self.norm != other.norm:
            reasons.append(f"the {self.norm} norm is never above the {other.norm} norm")
        if self.over == "sum" and other.over == "maximum":
            factor *= space.count
            reasons.append(f"a sum over {space.count} locations against the largest")
        return exact.sqrt(root) * factor, "; ".join(reasons) or "a largest distance is never above the sum"

    def bounds(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        least = self.least_distance(space)
        counted = HammingOrdered(unit=_points(space).unit)
        known = other.bounded_by(counted, space)
        if known is None or least is None:
            return None
        places = 1 if self.over == "sum" else _points(space).count
        return number(known[0] * places) / least, f"different points are at least {least} apart; {known[1]}"

    def in_words(self) -> str:
        together = "" if self.over == "sum" else ", all of them at once"
        return f"locations moved by {number(self.length).plain()} in {self.norm} distance{together}"

    def __str__(self) -> str:
        unit = "" if self.length == 1 else f" in units of {self.length}"
        together = "" if self.over == "sum" else ", the largest over all locations"
        return f"{self.norm} distance{unit}{together}"


def _points(space: DatasetSpace) -> MetricPoints:
    if not is_a(space, MetricPoints):
        raise IncompatibleBlocksError(
            Metric.name, "needs points with coordinates", "use the space metric-points", value=space.name
        )
    return space


# --- metric privacy -------------------------------------------------------------------------------


class MetricDP(Flavour):
    """d-privacy: P_x(S) <= e^(epsilon d(x, x')) P_x'(S) for a metric d on the secrets, here a reading between 0 and 6.

    >>> from dpspec import verify
    >>> flavour = MetricDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "metric-dp"
    title: ClassVar[str] = "d-privacy: indistinguishable in proportion to a metric"
    citation: ClassVar[str] = "Chatzikokolakis, Andres, Bordenabe and Palamidessi, PETS 2013"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        places = {"none": 0, "low": 1, "mid": 2, "high": 6}
        return PrivacySpec(
            space=MetricPoints(points=tuple((name, (Fraction(x),)) for name, x in places.items()), unit="reading"),
            multiverse=Trivial(),
            input_divergence=Metric(norm="manhattan"),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(2)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="exponential mechanism on the readings, weight 2^(-d/2)",
            mechanism=NearbyDataset(distance=Metric(norm="manhattan"), rate=ln(2) / 2),
            because="weights and their sums each change by at most 2^(d/2), by the triangle inequality",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the true reading with odds 4 : 1 against each other one",
            mechanism=NearbyDataset(distance=HammingOrdered(unit="reading"), rate=ln(4)),
            because="ln(4) suffices for readings 2 or more apart, but distinguishes none from low, which have distance 1",
        )


class GeoIndistinguishability(Flavour):
    """Geo-indistinguishability: P_x(S) <= e^(epsilon |x - x'|) P_x'(S) for locations x, epsilon per kilometre.

    >>> from dpspec import verify
    >>> flavour = GeoIndistinguishability()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "geo-indistinguishability"
    title: ClassVar[str] = "Geo-indistinguishability: locations on a grid of half a kilometre"
    citation: ClassVar[str] = "Andres, Bordenabe, Chatzikokolakis and Palamidessi, CCS 2013"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=MetricPoints(grid=(3, 2), spacing=Fraction(1, 2)),
            multiverse=Trivial(),
            input_divergence=Metric(norm="euclidean"),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=number(1)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="exponential mechanism on the grid, weight e^(-|x - z|/2)",
            mechanism=NearbyDataset(distance=Metric(norm="euclidean"), rate=number("1/2")),
            because="weights and their sums each change by at most e^(|x - x'|/2), by the triangle inequality",
        )

    def broken_by(self) -> Example:
        return Example(
            title="exponential mechanism on the grid, weight e^(-|x - z|)",
            mechanism=NearbyDataset(distance=Metric(norm="euclidean"), rate=number(1)),
            because="the sum of the weights is smaller in a corner than in the middle, which distinguishes them again",
        )
