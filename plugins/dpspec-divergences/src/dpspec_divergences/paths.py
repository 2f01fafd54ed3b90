"""Input divergences made from a relation: neighbours, and shortest paths; distances of numbers and of texts; and any metric
written in Python.

    l1(x, x') = sum |x_i - x'_i|     l2(x, x') = sqrt(sum |x_i - x'_i|^2)     l-infinity(x, x') = max |x_i - x'_i|
    edit-distance(x, x') = the least number of entries to insert, delete and replace that turns x into x'   (Levenshtein 1966)
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import attrs

from dpspec.plugin import (
    BitVectors,
    Bound,
    Dataset,
    DatasetSpace,
    IncompatibleBlocksError,
    InputDivergence,
    Integer,
    Number,
    OrderedRecords,
    ParameterError,
    Registered,
    Relation,
    Text,
    UnorderedRecords,
    blocks,
    define,
    errors,
    exact,
    is_a,
    number,
)
from dpspec_divergences.counting import (
    AddRemove,
    CountedRelation,
    DifferInOnePosition,
    HammingOrdered,
    Minorised,
    ReplaceOne,
    SymmetricDifference,
    check_ordered,
)

LISTED = 2000
"""Shortest paths are searched on spaces with at most this many datasets."""


@define
class Neighbour(Minorised):
    """0 for equal datasets, 1 for neighbours, infinity otherwise (Bailie, Gong and Meng 2023).

    It is no metric: pairs that are not neighbours are not constrained, and in a universe without neighbour pairs
    nothing is.

    Args:
        relation: which datasets are neighbours (in one order or the other).

    >>> d = Neighbour(relation=DifferInOnePosition())
    >>> [str(d.distance((0, 0), other, BitVectors(length=2))) for other in ((0, 0), (0, 1), (1, 1))]
    ['0', '1', 'inf']
    """

    name: ClassVar[str] = "neighbour"
    is_symmetric: ClassVar[bool] = True
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

    def unit_price(self, space: DatasetSpace) -> Number | None:
        return self.path_form().unit_price(space)

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

    def in_words(self) -> str:
        return f"neighbours only: {self.relation.in_words()}"

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
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
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
        if left == right or _are_related(self.relation, left, right, space):  # known in spaces that no one can list
            return number(int(left != right))
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

    def unit_price(self, space: DatasetSpace) -> Number | None:
        closed = self.closed_form(space)
        return None if closed is None else closed.unit_price(space)

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

    def in_words(self) -> str:
        return f"{self.relation.in_words()}, step by step"

    def __str__(self) -> str:
        return f"{self.name} of {self.relation}"


# --- distances of numbers and of texts ------------------------------------------------------------


class NormDistance(InputDivergence):
    """The norm of the difference of two datasets of numbers; infinity for different sizes.

    A dataset is read as one vector: a list of numbers, or of vectors one after the other. Unordered lists of numbers are compared
    in sorted order, which no other order undercuts.
    """

    grows_on_subspaces: ClassVar[bool] = True
    weaker: ClassVar[tuple[str, ...]] = ()
    """The norms that are nowhere above it."""

    @abstractmethod
    def norm(self, differences: Sequence[Fraction]) -> Number:
        """The norm of a vector of absolute differences."""

    def check(self, space: DatasetSpace) -> None:
        first = _first_of_some_size(space)
        if first is None or numbers_of(first) is None:
            advice = "take a space of numbers, such as bounded-reals or integer-counts"
            raise IncompatibleBlocksError(self.name, f"needs datasets of numbers, and those of {space.name} are none", advice)
        if not space.is_ordered and space.units and any(isinstance(entry, tuple) for entry in blocks.presented(first)):
            advice = "take a list with positions"
            raise IncompatibleBlocksError(self.name, f"needs vectors in an order, and those of {space.name} have none", advice)

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        if isinstance(left, tuple) and isinstance(right, tuple) and {*map(type, left), *map(type, right)} == {int}:
            if len(left) != len(right):
                return exact.INFINITY
            # of thousands of integers few differ, and only these are made exact numbers
            differing = [Fraction(abs(a - b)) for a, b in zip(left, right, strict=True) if a != b]
            return self.norm(differing or [Fraction(0)])
        ours, theirs = numbers_of(left), numbers_of(right)
        if ours is None or theirs is None:
            raise IncompatibleBlocksError(self.name, f"needs datasets of numbers, and those of {space.name} are none")
        if len(ours) != len(theirs):
            return exact.INFINITY
        return self.norm([abs(a - b) for a, b in zip(ours, theirs, strict=True)])

    def least_distance(self, space: DatasetSpace) -> Number | None:
        """The least difference of two numbers that a dataset may hold: different datasets differ by as much in some place."""
        if isinstance(space, (BitVectors, blocks.ContingencyTables)) or blocks.NumberLists.found_in(space) is not None:
            return number(1)
        held = blocks.Entries.found_in(space)
        values = None if held is None else held.entries()
        if not values or not all(isinstance(value, (int, float)) and math.isfinite(value) for value in values):
            return None
        ranked = sorted({Fraction(value) for value in values})
        gaps = [after - before for before, after in itertools.pairwise(ranked)]
        return number(min(gaps)) if gaps and len(ranked) == len(values) else None

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if self == other:
            return number(1), "the same input divergence"
        if is_a(other, NormDistance) and self.name in other.weaker:
            return number(1), f"the {self.name} norm of a vector is at most its {other.name} norm"
        return None


def numbers_of(dataset: Dataset) -> tuple[Fraction, ...] | None:
    """The numbers of a dataset one after the other, exactly; None where it holds anything else.

    >>> numbers_of(((1, 0.5), (0, 2))), numbers_of(("a",))
    ((Fraction(1, 1), Fraction(1, 2), Fraction(0, 1), Fraction(2, 1)), None)
    """
    if not isinstance(dataset, tuple):
        return None
    found: list[Fraction] = []
    for entry in dataset:
        if isinstance(entry, tuple):
            inner = numbers_of(entry)
            if inner is None:
                return None
            found += inner
        elif isinstance(entry, (int, float, Fraction)) and math.isfinite(entry):
            found.append(Fraction(entry))
        else:
            return None
    return tuple(found)


def _first_of_some_size(space: DatasetSpace) -> Dataset | None:
    """The first dataset that is not empty, among the first ones; else the first.

    Where the space can have datasets of one record, it is one of these: the smallest of its own may be too large to be made.
    """
    least, most = blocks.sizes_of(space)
    small = blocks.resized(space, min(least, 1), 1 if most is None else min(most, 1)) or space
    first = None
    for place, dataset in enumerate(small.datasets()):
        first = dataset if first is None or dataset else first
        if dataset or place >= 8:
            break
    return first


_MOST_ALONE = 1_000
"""Of more places, steps of one place are not listed: their entries are the square of the places, 16 megabytes here."""
_MOST_PLACES = 8
"""Of more places, the steps of the largest difference are not listed."""


@define
class L1Distance(NormDistance):
    """The sum of the absolute differences: d(x, x') = sum |x_i - x'_i|, infinity for different sizes.

    >>> from dpspec import BoundedReals
    >>> str(L1Distance().distance((0.0, 0.5), (1.0, 0.0), BoundedReals(low=0, high=1)))
    '3/2'
    """

    name: ClassVar[str] = "l1"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    weaker: ClassVar[tuple[str, ...]] = ("l2", "l-infinity")

    def norm(self, differences: Sequence[Fraction]) -> Number:
        return number(sum(differences, Fraction(0)))

    def number_steps(self, places: int) -> tuple[tuple[int, ...], ...] | None:
        """One place by one."""
        if places > _MOST_ALONE:
            return None
        return tuple(tuple(by * (place == other) for other in range(places)) for place in range(places) for by in (1, -1))

    def in_words(self) -> str:
        return "numbers changed by 1 in the sum of the differences"


@define
class L2Distance(NormDistance):
    """The Euclidean distance: d(x, x') = sqrt(sum |x_i - x'_i|^2), infinity for different sizes.

    >>> str(L2Distance().distance((0, 0), (1, 1), BitVectors(length=2)))
    'sqrt(2)'
    """

    name: ClassVar[str] = "l2"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    weaker: ClassVar[tuple[str, ...]] = ("l-infinity",)

    def norm(self, differences: Sequence[Fraction]) -> Number:
        return exact.sqrt(sum((difference**2 for difference in differences), Fraction(0)))

    def numbers_within(self, places: int, most: int) -> tuple[tuple[int, ...], ...] | None:
        """All vectors whose squares add up to at most the square of `most`."""
        found: list[tuple[tuple[int, ...], int]] = [((), most**2)]
        for _ in range(places):
            found = [((*one, by), left - by**2) for one, left in found for by in range(-math.isqrt(left), math.isqrt(left) + 1)]
            if len(found) > blocks.MOST_VECTORS:
                return None
        return tuple(one for one, _ in found if any(one))

    def in_words(self) -> str:
        return "numbers changed by 1 in Euclidean distance"


@define
class LInfinityDistance(NormDistance):
    """The largest absolute difference: d(x, x') = max |x_i - x'_i|, infinity for different sizes.

    >>> str(LInfinityDistance().distance((0, 0), (1, 1), BitVectors(length=2)))
    '1'
    """

    name: ClassVar[str] = "l-infinity"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def norm(self, differences: Sequence[Fraction]) -> Number:
        return number(max(differences, default=Fraction(0)))

    def number_steps(self, places: int) -> tuple[tuple[int, ...], ...] | None:
        """Every place by at most one: all that are not there yet are brought nearer in each step."""
        if places > _MOST_PLACES:
            return None
        return tuple(step for step in itertools.product((-1, 0, 1), repeat=places) if any(step))

    def in_words(self) -> str:
        return "numbers changed by at most 1 each"


@define
class EditDistance(InputDivergence):
    """The least number of entries to insert, delete and replace that turns one sequence into the other (Levenshtein 1966).

    Args:
        unit: what one entry is.
        replacing: the distance that a replacement counts: 1, or 2 where entries are only inserted and deleted.

    >>> from dpspec import Texts
    >>> abc = Texts(alphabet="abc")
    >>> str(EditDistance(unit="letter").distance("abc", "bcc", abc)), str(EditDistance(unit="letter").distance("abc", "bca", abc))
    ('2', '2')
    """

    name: ClassVar[str] = "edit-distance"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    is_integral: ClassVar[bool] = True
    grows_on_subspaces: ClassVar[bool] = True

    unit: Annotated[str, Text()] = "person"
    replacing: Annotated[int, Integer(1, 2)] = 1

    def check(self, space: DatasetSpace) -> None:
        check_ordered(self.name, space, self.unit, "symmetric-difference")

    def counted_unit(self) -> str:
        return self.unit

    def unit_price(self, space: DatasetSpace) -> Number:
        return number(self.replacing)

    def least_distance(self, space: DatasetSpace) -> Number | None:
        return number(1) if space.is_ordered and space.is_told_by(self.unit) else None

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        return number(edits(space.records(left, self.unit), space.records(right, self.unit), self.replacing))

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if self == other:
            return number(1), "the same input divergence"
        if other == HammingOrdered(unit=self.unit):
            return number(self.replacing), "every position that differs is replaced"
        if is_a(other, EditDistance) and other.unit == self.unit:
            factor = 2 if self.replacing > other.replacing else 1
            return number(factor), "a replacement is one entry deleted and one inserted"
        return None

    def bounds(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if other == SymmetricDifference(unit=self.unit):
            return number(
                3 - self.replacing
            ), "an edit changes the multiset of entries as a record added, removed or replaced does"
        return None

    def in_words(self) -> str:
        how = "inserted, deleted or replaced" if self.replacing == 1 else "inserted or deleted"
        return f"one {self.unit} {how} in the sequence"

    def __str__(self) -> str:
        return f"{self.name} ({self.unit})" if self.replacing == 1 else f"{self.name} without replacements ({self.unit})"


def edits(left: Sequence[Any], right: Sequence[Any], replacing: int = 1) -> int:
    """The least price of edits: 1 for an entry inserted or deleted, `replacing` for one replaced (Wagner and Fischer 1974).

    >>> edits("kitten", "sitting"), edits("kitten", "sitting", 2), edits("", "ab")
    (3, 5, 2)
    """
    above = list(range(len(right) + 1))
    for row, entry in enumerate(left, start=1):
        before, above = above, [row]
        for place, other in enumerate(right):
            kept = before[place] + (0 if entry == other else replacing)
            above.append(min(kept, before[place + 1] + 1, above[place] + 1))
    return above[-1]


# --- any function ---------------------------------------------------------------------------------


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


def metric(name: str, function: Callable[[Any, Any], exact.NumberLike]) -> type[InputDivergence]:
    """A class of one input divergence, from a function: a plugin registers it under its name, and files name it so.

        @hookimpl
        def dpspec_register_input_divergences(register):
            register(metric("age-gap", age_gap))

    Nothing is taken on trust: it counts neither as symmetric nor as a metric. Where it is, say so in a class of your own.

    Args:
        name: what files call it, in lower-kebab.
        function: maps two datasets to an exact number (an integer, a Fraction, text such as "ln(3)", or "inf").

    >>> gap = metric("total-gap", lambda x, y: abs(sum(x) - sum(y)))
    >>> gap.name, str(gap().distance((0, 0), (1, 1), BitVectors(length=2)))
    ('total-gap', '2')
    """
    if not callable(function):
        raise ParameterError(f"input divergence {name}", "must be a function of two datasets", value=function)

    def distance(_: InputDivergence, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        return UserMetric(function=function, label=name).distance(left, right, space)

    text = (function.__doc__ or "").strip() or f"The input divergence {name}, a function of two datasets."
    members = {
        "name": name, "distance": distance, "__doc__": text, "__module__": function.__module__,
    }  # fmt: skip
    title = "".join(part.capitalize() for part in name.split("-"))
    return define(type(title, (InputDivergence,), members))


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
