"""Input divergences made from a relation: neighbours, and shortest paths; and any metric written in Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import attrs

from dpspec.plugin import (
    BitVectors,
    Bound,
    Dataset,
    DatasetSpace,
    InputDivergence,
    Number,
    OrderedRecords,
    ParameterError,
    Registered,
    Relation,
    UnorderedRecords,
    blocks,
    define,
    errors,
    exact,
    is_a,
    number,
)
from dpspec_divergences.counting import AddRemove, CountedRelation, DifferInOnePosition, HammingOrdered, Minorised, ReplaceOne

LISTED = 2000
"""Shortest paths are searched on spaces with at most this many datasets."""


@define
class Neighbour(Minorised):
    """0 for equal datasets, 1 for neighbours, infinity otherwise (Bailie, Gong and Meng 2023).

    It is no metric: nothing is asked of pairs that are not neighbours, and in a universe without neighbour pairs
    nothing is asked at all.

    Args:
        relation: which datasets are neighbours (in one order or the other).

    >>> d = Neighbour(relation=DifferInOnePosition())
    >>> [str(d.distance((0, 0), other, BitVectors(length=2))) for other in ((0, 0), (0, 1), (1, 1))]
    ['0', '1', 'inf']
    """

    name: ClassVar[str] = "neighbour"
    is_metric: ClassVar[bool] = False
    is_neighbour_form: ClassVar[bool] = True
    is_integral: ClassVar[bool] = True

    relation: Annotated[Relation, Registered("relations")]

    def check(self, space: DatasetSpace) -> None:
        self.relation.check(space)

    @property
    def grows_on_subspaces(self) -> bool:  # type: ignore[override]  # of this class it depends on the relation
        return is_a(self.relation, CountedRelation)

    def record_steps(self, space: DatasetSpace) -> blocks.RecordSteps | None:
        measure = self.minorant()
        steps = None if measure is None else measure.record_steps(space)
        return None if steps is None else attrs.evolve(steps, within=1)

    def path_form(self) -> InputDivergence:
        return Path(relation=self.relation)

    def least_distance(self, space: DatasetSpace) -> Number:
        return number(1)

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        if left == right:
            return exact.ZERO
        return number(1) if _are_related(self.relation, left, right, space) else exact.INFINITY

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        reason = other.relation.within(self.relation) if is_a(other, Neighbour) else None
        return None if reason is None else (number(1), reason)

    def minorant(self) -> InputDivergence | None:
        return self.relation.measure() if is_a(self.relation, CountedRelation) else None

    def __str__(self) -> str:
        return f"{self.name} of {self.relation}"


@define
class Path(Minorised):
    """The length of a shortest path between two datasets, each step between neighbours (Bailie, Gong and Meng 2023).

    The path runs through X, not through one universe; infinity when there is none. Where the space holds
    *all* datasets of its kind the distance has a closed form (`closed_form`), otherwise the datasets are listed and
    searched breadth first.

    Args:
        relation: which datasets are neighbours (in one order or the other).

    >>> d = Path(relation=ReplaceOne())
    >>> str(d.distance((0, 1), (1, 0), BitVectors(length=2)))
    '2'
    """

    name: ClassVar[str] = "path"
    is_integral: ClassVar[bool] = True

    relation: Annotated[Relation, Registered("relations")]

    @property
    def grows_on_subspaces(self) -> bool:  # type: ignore[override]  # of this class it depends on the relation
        return is_a(self.relation, CountedRelation)

    def check(self, space: DatasetSpace) -> None:
        self.relation.check(space)

    def least_distance(self, space: DatasetSpace) -> Number:
        return number(1)

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        closed = self.closed_form(space)
        if closed is not None:
            return closed.distance(left, right, space)
        steps = _reached(self.relation, space, left).get(right)
        return exact.INFINITY if steps is None else number(steps)

    def closed_form(self, space: DatasetSpace) -> InputDivergence | None:
        """The counting divergence that equals this path distance on the space, where that is proved.

        Replacing (adding, removing) the records that differ one at a time, in an order that keeps the size in
        range, never leaves a space that holds every multiset or sequence of records, and no path is shorter.
        """
        relation = self.relation
        if not is_a(relation, CountedRelation) or not space.units or relation.unit != space.units[0]:
            return None
        if type(space) is BitVectors or type(space) is OrderedRecords:
            return relation.measure() if is_a(relation, DifferInOnePosition) else None
        exactly = type(space) in (UnorderedRecords, blocks.ContingencyTables, blocks.Households)
        if exactly and isinstance(space, (UnorderedRecords, blocks.Households)):
            sizes_vary = space.most is None or space.least < space.most
            if is_a(relation, ReplaceOne) or (is_a(relation, AddRemove) and sizes_vary):
                return relation.measure()
        return None

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        reason = other.relation.within(self.relation) if is_a(other, Neighbour) or is_a(other, Path) else None
        if reason is not None:
            return number(1), f"{reason}; one step costs 1"
        if is_a(other, HammingOrdered):
            steps = Path(relation=DifferInOnePosition(unit=other.unit))
            if steps != self and steps.closed_form(space) == other:
                return self.bounded_by(steps, space)
        closed = self.closed_form(space)
        bound = None if closed is None else closed.bounded_by(other, space)
        return None if bound is None else (bound[0], f"{self} is {closed} on this space; {bound[1]}")

    def minorant(self) -> InputDivergence | None:
        return self.relation.measure() if is_a(self.relation, CountedRelation) else None

    def __str__(self) -> str:
        return f"{self.name} of {self.relation}"


@attrs.frozen(kw_only=True)
class UserMetric(InputDivergence):
    """Any input divergence given in Python, real-valued if need be (d-privacy).

    Nothing is taken on trust: it counts neither as symmetric nor as a metric, so every pair is checked both ways.

    Args:
        function: maps two datasets to an exact number (an integer, a Fraction, text such as "ln(3)", or "inf").
        label: what it measures, for people.

    >>> totals = UserMetric(function=lambda x, y: abs(sum(x) - sum(y)), label="difference of totals")
    >>> str(totals.distance((0, 0), (1, 1), BitVectors(length=2)))
    '2'
    """

    name: ClassVar[str] = "function"
    is_symmetric: ClassVar[bool] = False
    is_metric: ClassVar[bool] = False

    function: Callable[[Any, Any], exact.NumberLike]
    label: str

    def __attrs_post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError(f"input divergence {self.label}", "must be a function of two datasets", value=self.function)

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        value = number(self.function(left, right), self.label)
        if value < 0:
            raise ParameterError(self.label, "must not be negative", "return a distance", value=str(value))
        return value

    def __str__(self) -> str:
        return self.label


def _are_related(relation: Relation, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
    if relation.related(left, right, space):
        return True
    return not relation.is_symmetric and relation.related(right, left, space)


@lru_cache(maxsize=8)
def _graph(relation: Relation, space: DatasetSpace) -> dict[Dataset, tuple[Dataset, ...]]:
    """The neighbours of every dataset of a space that can be listed."""
    size = space.cardinality()
    if size is None or size > LISTED:
        count = "infinitely many" if size is None else str(size)
        raise errors.NotEnumerableError(
            f"path of {relation}",
            f"needs a list of all datasets of the space {space.name}, which has {count}",
            f"give the space at most {LISTED} datasets, or use hamming, hamming-ordered or symmetric-difference",
        )
    datasets = tuple(space.datasets())
    edges: dict[Dataset, list[Dataset]] = {dataset: [] for dataset in datasets}
    for place, left in enumerate(datasets):
        for right in datasets[:place]:
            if _are_related(relation, left, right, space):
                edges[left].append(right)
                edges[right].append(left)
    return {dataset: tuple(neighbours) for dataset, neighbours in edges.items()}


@lru_cache(maxsize=LISTED)
def _reached(relation: Relation, space: DatasetSpace, start: Dataset) -> dict[Dataset, int]:
    """The distance to every dataset that a path from the start reaches, breadth first."""
    graph = _graph(relation, space)
    steps, frontier = {start: 0}, [start]
    while frontier:
        following = []
        for dataset in frontier:
            for neighbour in graph.get(dataset, ()):
                if neighbour not in steps:
                    steps[neighbour] = steps[dataset] + 1
                    following.append(neighbour)
        frontier = following
    return steps
