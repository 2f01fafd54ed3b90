"""The input metrics of OpenDP, as relations between datasets: at most so far apart.

SymmetricDistance        multisets, records added or removed        InsertDeleteDistance   sequences, the same
ChangeOneDistance        multisets of one size, records replaced    HammingDistance        sequences, the same
AbsoluteDistance, L1Distance, L2Distance                            vectors of numbers
DiscreteDistance                                                    all different datasets
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from dpspec_divergences import (
    AddRemove,
    DifferInOnePosition,
    Hamming,
    HammingOrdered,
    Neighbour,
    ReplaceOne,
    SymmetricDifference,
    UserRelation,
)

from dpspec.blocks.input_divergence import InputDivergence, Relation
from dpspec.blocks.space import DatasetSpace
from dpspec.errors import IncompatibleBlocksError
from dpspec.exact import rational

SCALARS = ("AbsoluteDistance",)
"""The metrics of single numbers."""

_ONE_STEP: dict[str, Callable[[str], Relation]] = {
    "SymmetricDistance": lambda unit: AddRemove(unit=unit),
    "ChangeOneDistance": lambda unit: ReplaceOne(unit=unit),
    "HammingDistance": lambda unit: DifferInOnePosition(unit=unit),
}
_COUNTING: dict[str, Callable[[str], InputDivergence]] = {
    "SymmetricDistance": lambda unit: SymmetricDifference(unit=unit),
    "ChangeOneDistance": lambda unit: Hamming(unit=unit),
    "HammingDistance": lambda unit: HammingOrdered(unit=unit),
}
_VECTORS: dict[str, int] = {"AbsoluteDistance": 1, "L1Distance": 1, "L2Distance": 2}
"""The power of the differences that is added up."""


def within(metric: str, at: Any, space: DatasetSpace, unit: str) -> InputDivergence:
    """1 for different datasets at most `at` apart in the metric, infinity beyond.

    The relations that have a registered name are used where they say the same: one step, between datasets that the metric
    tells apart.

    Raises:
        IncompatibleBlocksError: for a metric without a counterpart, or one that is not defined on the space.
    """
    ordered_as_the_metric = space.is_ordered == (metric == "HammingDistance")
    if at == 1 and metric in _ONE_STEP and ordered_as_the_metric:
        return Neighbour(relation=_ONE_STEP[metric](unit))
    close = _closeness(metric, at, space, unit)
    return Neighbour(relation=UserRelation(function=close, label=f"{metric} at most {at}"))


def _closeness(metric: str, at: Any, space: DatasetSpace, unit: str) -> Callable[[Any, Any], bool]:
    if metric == "DiscreteDistance":
        return lambda left, right: at >= 1 or left == right
    limit = rational(at, "d_in")
    if metric in _COUNTING:
        counting = _COUNTING[metric](unit)
        counting.check(space)
        return lambda left, right: counting.distance(left, right, space) <= limit
    if metric == "InsertDeleteDistance":
        if not space.is_ordered:
            raise IncompatibleBlocksError("InsertDeleteDistance", "needs a space of sequences", value=space.name)
        return lambda left, right: insert_delete(space.records(left, unit), space.records(right, unit)) <= limit
    if metric in _VECTORS:
        power = _VECTORS[metric]
        return lambda left, right: _difference(left, right, power) <= limit**power
    known = ", ".join((*_COUNTING, "InsertDeleteDistance", *_VECTORS, "DiscreteDistance"))
    raise IncompatibleBlocksError("input metric", "has no relation here", f"known: {known}", value=metric)


def insert_delete(left: Sequence[Any], right: Sequence[Any]) -> int:
    """The least number of entries to insert and delete that turns one sequence into the other.

    >>> insert_delete("abc", "bcd"), insert_delete("abc", "cba"), insert_delete("", "ab")
    (2, 4, 2)
    """
    common = [0] * (len(right) + 1)
    for entry in left:
        before = common
        common = [0]
        for place, other in enumerate(right):
            common.append(before[place] + 1 if entry == other else max(before[place + 1], common[place]))
    return len(left) + len(right) - 2 * common[-1]


def _difference(left: Sequence[Any], right: Sequence[Any], power: int) -> Fraction:
    """The sum of the differences of two vectors of numbers, each to the power."""
    differences = (abs(Fraction(a) - Fraction(b)) for a, b in zip(left, right, strict=True))
    return sum((difference**power for difference in differences), Fraction(0))
