"""Weighted datasets: every value has a weight, and datasets are as far apart as their weights."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, cast

from dpspec_divergences import Hamming, SymmetricDifference

from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.multisets import sequences_between
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Record
from dpspec.errors import IncompatibleBlocksError, NotInSpaceError, ParameterError
from dpspec.exact import Number, number, rational
from dpspec.params import Items, Rational, Text, define

Bound = tuple[Number, str]


@define
class WeightedRecords(DatasetSpace):
    """Values with weights from a grid: a record of weight 1/2 counts half (Proserpio, Goldberg and McSherry 2014).

    A dataset is a tuple of records (value, weight) for the values of positive weight; the weight is written as a fraction. For
    linear queries a dataset is its weights in units of 1/`scale`, which are integers.

    Args:
        values: what a record may be.
        weights: the positive weights that a value may have; 0 is always possible.
        unit: what one record is.

    >>> space = WeightedRecords(values=("edge", "path"), weights=("1/2", 1))
    >>> space.dataset({"path": "0.5"}), space.vector((("path", "1/2"),)), space.scale
    ((('path', '1/2'),), (0, 1), 2)
    """

    name: ClassVar[str] = "weighted-records"

    values: Annotated[tuple[str, ...], Items(Text(), least=1)]
    weights: Annotated[tuple[Fraction, ...], Items(Rational(0, open_low=True), least=1)]
    unit: Annotated[str, Text()] = "record"

    def __attrs_post_init__(self) -> None:
        self.attributes_of(self.unit)  # the attributes refuse values and weights that are given twice

    @property
    def units(self) -> tuple[str, ...]:
        return (self.unit,)

    @property
    def scale(self) -> int:
        """The least number that makes all weights integers."""
        return math.lcm(*(weight.denominator for weight in self.weights))

    def attributes_of(self, unit: str) -> tuple[Attribute, ...]:
        self.check_unit(unit)
        grid = tuple(str(weight) for weight in self.weights)
        return Attribute(name="value", categories=self.values), Attribute(name="weight", categories=grid)

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        return cast("tuple[Any, ...]", dataset)

    def weight_of(self, dataset: Dataset) -> dict[str, Fraction]:
        """The weight of each value of positive weight."""
        return {str(value): Fraction(str(weight)) for value, weight in self.records(dataset, self.unit)}

    def is_told_by(self, unit: str) -> bool:
        return unit == self.unit

    def dataset(self, value: Any) -> Dataset:
        pairs = value.items() if isinstance(value, Mapping) else value
        if isinstance(pairs, str) or not isinstance(pairs, Iterable):
            raise NotInSpaceError(self.name, "must be a table of weights, or pairs (value, weight)", value=value)
        given: dict[str, Fraction] = {}
        for pair in pairs:
            if isinstance(pair, str) or not isinstance(pair, Iterable) or len(entry := tuple(pair)) != 2:
                raise NotInSpaceError(self.name, "must be pairs (value, weight)", value=pair)
            self.attributes_of(self.unit)[0].index(entry[0])
            if entry[0] in given:
                raise NotInSpaceError(self.name, "weighs a value twice", "add the weights up", value=entry[0])
            given[str(entry[0])] = self._weight(entry[1])
        return tuple((name, str(given[name])) for name in self.values if given.get(name))

    def _weight(self, value: Any) -> Fraction:
        try:
            weight = rational(value, self.name)
        except ParameterError as problem:
            raise NotInSpaceError(self.name, "weights must be rational numbers", value=value) from problem
        if weight and weight not in self.weights:
            raise NotInSpaceError(self.name, f"weights must be 0 or among {', '.join(map(str, self.weights))}", value=str(weight))
        return weight

    def datasets(self) -> Iterator[Dataset]:
        grid = tuple(str(weight) for weight in sorted(self.weights))
        for size in range(len(self.values) + 1):
            for chosen in itertools.combinations(self.values, size):
                for weights in itertools.product(grid, repeat=size):
                    yield tuple(zip(chosen, weights, strict=True))

    def cardinality(self) -> int | None:
        return sequences_between(len(self.weights) + 1, len(self.values), len(self.values))

    def magnitude(self, dataset: Dataset) -> int:
        """The number of values of positive weight."""
        return len(self.records(dataset, self.unit))

    def cells(self) -> tuple[Hashable, ...]:
        return self.values

    def vector(self, dataset: Dataset) -> tuple[int, ...]:
        weights, scale = self.weight_of(dataset), self.scale
        return tuple(int(weights.get(value, Fraction(0)) * scale) for value in self.values)

    def from_vector(self, vector: tuple[int, ...]) -> Dataset:
        return self.dataset([(v, Fraction(entry, self.scale)) for v, entry in zip(self.values, vector, strict=True)])

    @classmethod
    def examples(cls) -> Iterator[WeightedRecords]:
        """What the conformance kit checks it with."""
        yield cls(values=("edge", "path"), weights=(Fraction(1, 2), Fraction(2)))


@define
class WeightDistance(InputDivergence):
    """The sum of the changes in weight: d(x, x') = sum over values v of |x(v) - x'(v)| (Proserpio et al. 2014).

    A new record of weight 1 is at distance 1, as under the symmetric difference of ordinary records, and a transformation that
    turns a record into several, with weights that add up to at most its own, moves no two datasets apart.

    >>> space = WeightedRecords(values=("edge", "path"), weights=("1/2", 1))
    >>> str(WeightDistance().distance(space.dataset({"edge": 1}), space.dataset({"path": "1/2"}), space))
    '3/2'
    """

    name: ClassVar[str] = "weight-distance"

    def check(self, space: DatasetSpace) -> None:
        _weighted(space)

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        ours, theirs = (_weighted(space).weight_of(x) for x in (left, right))
        none = Fraction(0)
        return number(sum((abs(ours.get(v, none) - theirs.get(v, none)) for v in {*ours, *theirs}), none))

    def least_distance(self, space: DatasetSpace) -> Number:
        return number(min(later - former for former, later in itertools.pairwise(_grid(space))))

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if self == other:
            return number(1), "the same input divergence"
        if other == SymmetricDifference(unit=_weighted(space).unit):
            return number(_grid(space)[-1]), "no record weighs more"
        if other == Hamming(unit=_weighted(space).unit):
            return number(2 * _grid(space)[-1]), "no record weighs more, and a replaced one is one removed and one added"
        return None

    def bounds(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        """A value that changes its weight is one record gone and one come, or one of them alone."""
        if other != SymmetricDifference(unit=_weighted(space).unit):
            return None
        grid = _grid(space)
        steps = [2 / (later - former) for former, later in itertools.pairwise(grid[1:])]
        return number(max([1 / grid[1], *steps])), "a changed record changes its weight by a step of the grid at least"

    def __str__(self) -> str:
        return f"{self.name} (sum of the changes in weight)"


def _weighted(space: DatasetSpace) -> WeightedRecords:
    if not isinstance(space, WeightedRecords):
        raise IncompatibleBlocksError(WeightDistance.name, "needs records with weights", "use weighted-records", value=space.name)
    return space


def _grid(space: DatasetSpace) -> list[Fraction]:
    """The weights from 0 on."""
    return [Fraction(0), *sorted(_weighted(space).weights)]
