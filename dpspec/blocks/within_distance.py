"""Neighbours by a largest distance: what a standard that knows neighbours only can promise about a metric (B-D9, B-S2)."""

from __future__ import annotations

from typing import Annotated, ClassVar

from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.exact import INFINITY, ZERO, Number, number
from dpspec.params import Integer, Registered, define

Bound = tuple[Number, str]


@define
class WithinDistance(InputDivergence):
    """0 for equal datasets, 1 for different ones with d(x, x') <= most, infinity for all others.

    Inside the universes of many invariants no two datasets differ in one record alone: two households that exchange their places
    are at distance 2, and neighbours at distance 1 would promise nothing there (B-S2). No metric.

    Args:
        of: the divergence d that is cut off.
        most: the largest distance that is compared, in units of d.

    >>> from dpspec.blocks.vectors import BitVectors
    >>> from dpspec.extension import installed
    >>> hamming = installed().registry.get("input_divergences", "hamming-ordered")
    >>> d = WithinDistance(of=hamming(), most=2)
    >>> [str(d.distance((0, 0, 0), other, BitVectors(length=3))) for other in ((0, 0, 0), (0, 1, 1), (1, 1, 1))]
    ['0', '1', 'inf']
    """

    name: ClassVar[str] = "within-distance"
    is_metric: ClassVar[bool] = False
    is_neighbour_form: ClassVar[bool] = True
    is_integral: ClassVar[bool] = True

    of: Annotated[InputDivergence, Registered("input_divergences")]
    most: Annotated[int, Integer(1)]

    @property
    def is_symmetric(self) -> bool:  # type: ignore[override]  # of this class it depends on the divergence
        return self.of.is_symmetric

    @property
    def grows_on_subspaces(self) -> bool:  # type: ignore[override]  # of this class it depends on the divergence
        return self.of.grows_on_subspaces

    def check(self, space: DatasetSpace) -> None:
        self.of.check(space)

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        if left == right:
            return ZERO
        return number(1) if self.of.distance(left, right, space) <= self.most else INFINITY

    def least_distance(self, space: DatasetSpace) -> Number:
        return number(1)

    def bounds(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        known = other.bounded_by(self.of, space) or self.of.bounds(other, space)
        return None if known is None else (known[0] * self.most, f"{known[1]}; neighbours are at most {self.most} apart")

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if self == other:
            return number(1), "the same input divergence"
        if isinstance(other, WithinDistance):
            known = self.of.bounded_by(other.of, space) or other.of.bounds(self.of, space)
            if known is not None and known[0] * other.most <= self.most:
                return number(1), f"{known[1]}; what is within {other.most} of the one is within {self.most} of the other"
        return None

    def __str__(self) -> str:
        return f"within {self.most} of {self.of}"
