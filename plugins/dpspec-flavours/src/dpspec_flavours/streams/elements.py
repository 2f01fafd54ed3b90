"""Datasets of users whose records are made of elements, and weighted datasets.

One element, a cluster of them or a user can be the unit. In a weighted dataset every value has a weight, and the distance of
datasets is that of their weights.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, cast

from dpspec_divergences import Hamming, SymmetricDifference

from dpspec.plugin import (
    Attribute,
    Bound,
    Dataset,
    DatasetSpace,
    IncompatibleBlocksError,
    InputDivergence,
    Items,
    Nested,
    Number,
    ParameterError,
    Rational,
    Record,
    Text,
    blocks,
    define,
    errors,
    exact,
    is_a,
    number,
    params,
)

USER, CLUSTER, ELEMENT = "user", "cluster", "element"
OUTSIDE = "-"
"""What the record of a cluster shows for the elements that are not in it."""


@define
class ElementRecords(DatasetSpace, blocks.ListedCells, blocks.CellRecords, blocks.Nesting, blocks.Wording):
    """Named users, each with one value for every element (Asi, Duchi and Javidbakht 2022).

    A dataset is a tuple of records (user, value of the first element, ...), in the order of the users. It is read by *user*, by
    *element* (one record for each user and element), and, when the elements are put into clusters, by *cluster* (one record for
    each user and cluster). The element distance, the number of (user, element) pairs that differ, is hamming of elements.

    Args:
        users: their names.
        elements: the elements with their categories.
        clusters: a table from every element to its cluster; without it there is no unit cluster.

    >>> yes_no = ("yes", "no")
    >>> smokes, drinks = Attribute(name="smokes", categories=yes_no), Attribute(name="drinks", categories=yes_no)
    >>> space = ElementRecords(users=("ann",), elements=(smokes, drinks))
    >>> space.records(space.dataset([["ann", "yes", "no"]]), "element")
    (('ann', 'smokes', 'yes'), ('ann', 'drinks', 'no'))
    """

    name: ClassVar[str] = "element-records"

    users: Annotated[tuple[str, ...], Items(Text(), least=1)]
    elements: Annotated[tuple[Attribute, ...], Items(Nested(Attribute), least=1)]
    clusters: Annotated[tuple[tuple[str, str], ...], params.Pairs(Text())] = ()

    def __attrs_post_init__(self) -> None:
        blocks.check_attributes((Attribute(name=USER, categories=self.users), Attribute(name=CLUSTER, count=1), *self.elements))
        named = {element.name for element in self.elements}
        if self.clusters and {element for element, _ in self.clusters} != named:
            raise ParameterError(
                "clusters", "must name the cluster of every element and of nothing else", value=dict(self.clusters)
            )

    # -- units ------------------------------------------------------------------------------------

    @property
    def units(self) -> tuple[str, ...]:
        return (USER, CLUSTER, ELEMENT) if self.clusters else (USER, ELEMENT)

    @property
    def cluster_names(self) -> tuple[str, ...]:
        """The clusters, in the order in which they are first named."""
        return tuple(dict.fromkeys(cluster for _, cluster in self.clusters))

    def attributes_of(self, unit: str) -> tuple[Attribute, ...]:
        self.check_unit(unit)
        user = Attribute(name=USER, categories=self.users)
        if unit == USER:
            return (user, *self.elements)
        if unit == CLUSTER:
            shown = (Attribute(name=element.name, categories=(OUTSIDE, *element.values())) for element in self.elements)
            return user, Attribute(name=CLUSTER, categories=self.cluster_names), *shown
        values = tuple(dict.fromkeys(value for element in self.elements for value in element.values()))
        names = tuple(element.name for element in self.elements)
        return user, Attribute(name=ELEMENT, categories=names), Attribute(name="value", categories=values)

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        rows = cast("tuple[Any, ...]", dataset)
        if unit == USER:
            return rows
        names = [element.name for element in self.elements]
        if unit == ELEMENT:
            return tuple((user, *entry) for user, *values in rows for entry in zip(names, values, strict=True))
        home = [dict(self.clusters)[name] for name in names]
        return tuple(
            (user, cluster, *(value if at == cluster else OUTSIDE for at, value in zip(home, values, strict=True)))
            for user, *values in rows
            for cluster in self.cluster_names
        )

    def fixes_size(self, unit: str) -> bool:
        return unit in self.units

    def is_told_by(self, unit: str) -> bool:
        return unit in self.units

    def most_within(self, inner: str, outer: str) -> int | None:
        if not {inner, outer} <= set(self.units) or self.units.index(inner) < self.units.index(outer):
            return None
        if inner == outer:
            return 1
        if outer == USER:
            return len(self.elements) if inner == ELEMENT else len(self.cluster_names)
        return max(Counter(cluster for _, cluster in self.clusters).values())

    def most_changed(self, unit: str, per: str) -> int | None:
        """As `most_within`; and an element belongs to one cluster and one user, whose record changes with it."""
        if {unit, per} <= set(self.units) and self.units.index(unit) < self.units.index(per):
            return 1
        return self.most_within(unit, per)

    # -- datasets ---------------------------------------------------------------------------------

    def dataset(self, value: Any) -> Dataset:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise errors.NotInSpaceError(self.name, "must be a collection of records (user, values of the elements)", value=value)
        attributes = self.attributes_of(USER)
        rows = [blocks.read_record(row, attributes) for row in value]
        given = Counter(row[0] for row in rows)
        if given != Counter(self.users):
            raise errors.NotInSpaceError(
                self.name, f"must hold one record for each of the users {', '.join(self.users)}", value=dict(given)
            )
        return tuple(sorted(rows, key=lambda row: self.users.index(str(row[0]))))

    def datasets(self) -> Iterator[Dataset]:
        for chosen in blocks.sequences_of(lambda: blocks.all_records(self.elements), len(self.users)):
            yield tuple((user, *values) for user, values in zip(self.users, chosen, strict=True))

    def cardinality(self) -> int | None:
        kinds, users = blocks.count_records(self.elements), len(self.users)
        return None if kinds is None else blocks.sequences_between(kinds, users, users)

    def magnitude(self, dataset: Dataset) -> int:
        """The number of users, the same for all datasets."""
        return len(self.users)

    # -- coordinates ------------------------------------------------------------------------------

    def cells(self) -> tuple[Hashable, ...] | None:
        """(user, element, category): 1 where the user has it."""
        if len(self.users) * sum(element.size for element in self.elements) > blocks.CELLS_LISTED:
            return None
        return tuple((user, e.name, value) for user in self.users for e in self.elements for value in e.values())

    def vector(self, dataset: Dataset) -> tuple[int, ...]:
        held = set(self.records(dataset, ELEMENT))
        return tuple(int(cell in held) for cell in self._listed())

    def from_vector(self, vector: tuple[int, ...]) -> Dataset:
        cells = self._listed()
        if any(entry not in (0, 1) for entry in vector):
            raise errors.NotInSpaceError(self.name, "entries must be 0 or 1", value=vector)
        held = [cast("Record", cell) for cell, entry in zip(cells, vector, strict=True) if entry]
        rows = {user: [value for owner, _, value in held if owner == user] for user in self.users}
        found = self.dataset([(user, *values) for user, values in rows.items()])
        if self.vector(found) != tuple(vector):
            raise errors.NotInSpaceError(self.name, "must give every user one value of each element", value=vector)
        return found

    def records_of_cell(self, cell: Hashable, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        if unit != ELEMENT:
            raise IncompatibleBlocksError(f"space {self.name}", "elements do not add up to a record of this unit", value=unit)
        return (cast("Record", cell),)

    def in_words(self, left: Dataset, right: Dataset) -> tuple[str, str]:
        """The users with what they say."""
        pair = self.records(left, USER), self.records(right, USER)
        return blocks.pair_of_records(*pair, self.attributes_of(USER), USER, ordered=True)

    def cell_range(self) -> tuple[int, int]:
        return 0, 1

    def fixed_total(self) -> bool:
        return True

    def _listed(self) -> tuple[Hashable, ...]:
        cells = self.cells()
        if cells is None:
            raise IncompatibleBlocksError(f"space {self.name}", f"has more than {blocks.CELLS_LISTED} coordinates")
        return cells

    @classmethod
    def examples(cls) -> Iterator[ElementRecords]:
        """What the conformance kit checks it with."""
        one, two, three = (Attribute(name=name, categories=("yes", "no")) for name in ("smokes", "drinks", "votes"))
        yield cls(users=("ann", "bob"), elements=(one, two))
        clusters = (("drinks", "habits"), ("smokes", "habits"), ("votes", "views"))
        yield cls(users=("ann",), elements=(one, two, three), clusters=clusters)


# --- weighted datasets ----------------------------------------------------------------------------


@define
class WeightedRecords(DatasetSpace, blocks.ListedCells):
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
            raise errors.NotInSpaceError(self.name, "must be a table of weights, or pairs (value, weight)", value=value)
        given: dict[str, Fraction] = {}
        for pair in pairs:
            if isinstance(pair, str) or not isinstance(pair, Iterable) or len(entry := tuple(pair)) != 2:
                raise errors.NotInSpaceError(self.name, "must be pairs (value, weight)", value=pair)
            self.attributes_of(self.unit)[0].index(entry[0])
            if entry[0] in given:
                raise errors.NotInSpaceError(self.name, "weighs a value twice", "add the weights up", value=entry[0])
            given[str(entry[0])] = self._weight(entry[1])
        return tuple((name, str(given[name])) for name in self.values if given.get(name))

    def _weight(self, value: Any) -> Fraction:
        try:
            weight = exact.rational(value, self.name)
        except ParameterError as problem:
            raise errors.NotInSpaceError(self.name, "weights must be rational numbers", value=value) from problem
        if weight and weight not in self.weights:
            raise errors.NotInSpaceError(
                self.name, f"weights must be 0 or among {', '.join(map(str, self.weights))}", value=str(weight)
            )
        return weight

    def datasets(self) -> Iterator[Dataset]:
        grid = tuple(str(weight) for weight in sorted(self.weights))
        for size in range(len(self.values) + 1):
            for chosen in itertools.combinations(self.values, size):
                for weights in itertools.product(grid, repeat=size):
                    yield tuple(zip(chosen, weights, strict=True))

    def cardinality(self) -> int | None:
        return blocks.sequences_between(len(self.weights) + 1, len(self.values), len(self.values))

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
    turns a record into several, with weights that add up to at most its own, does not increase distances.

    >>> space = WeightedRecords(values=("edge", "path"), weights=("1/2", 1))
    >>> str(WeightDistance().distance(space.dataset({"edge": 1}), space.dataset({"path": "1/2"}), space))
    '3/2'
    """

    name: ClassVar[str] = "weight-distance"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

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

    def in_words(self) -> str:
        return "weights changed by 1 in sum"

    def __str__(self) -> str:
        return f"{self.name} (sum of the changes in weight)"


def _weighted(space: DatasetSpace) -> WeightedRecords:
    if not is_a(space, WeightedRecords):
        raise IncompatibleBlocksError(WeightDistance.name, "needs records with weights", "use weighted-records", value=space.name)
    return space


def _grid(space: DatasetSpace) -> list[Fraction]:
    """The weights from 0 on."""
    return [Fraction(0), *sorted(_weighted(space).weights)]
