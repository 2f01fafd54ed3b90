"""Block 3: the input divergence d_X on X, which says who or what the unit of protection is (B-D5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.exact import Number, number


class Relation(ABC):
    """A relation on X: which datasets are neighbours."""

    name: ClassVar[str]

    is_symmetric: ClassVar[bool] = True

    @abstractmethod
    def related(self, left: Dataset, right: Dataset, space: DatasetSpace) -> bool:
        """Whether the two (different) datasets are neighbours."""

    def check(self, space: DatasetSpace) -> None:
        """Raise IncompatibleBlocksError when the relation is not defined on the space."""
        return

    def within(self, other: Relation) -> str | None:
        """A reason why every pair of this relation is one of the other, on every space; None when none is known."""
        return "the same relation" if self == other else None


class InputDivergence(ABC):
    """d_X: a distance on the whole space X, never recomputed inside a universe (B-S1).

    A subclass is made with `dpspec.define`, registers under its `name`, and declares its unit as a field
    when it counts units.
    """

    name: ClassVar[str]

    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    """Whether the triangle inequality holds (and distance 0 means equal datasets)."""
    is_neighbour_form: ClassVar[bool] = False
    """Whether it is 0 for equal datasets only, and 1 or infinity for all others: who is a neighbour, and nothing else (B-D9)."""
    is_integral: ClassVar[bool] = False
    """Whether every finite distance is a whole number, so that what changes by d is counted in steps of 1."""
    grows_on_subspaces: ClassVar[bool] = False
    """Whether d(x, x') on a part of the space is at least that on the whole, as when it looks at the two datasets only."""

    @abstractmethod
    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        """d_X(x, x'), exact; infinity for datasets that are never compared."""

    def check(self, space: DatasetSpace) -> None:
        """Raise IncompatibleBlocksError when the divergence is not defined on the space."""
        return

    def least_distance(self, space: DatasetSpace) -> Number | None:
        """A positive m with d(x, x') >= m for all different x, x' of the space; None when none is known."""
        return None

    def counted_unit(self) -> str | None:
        """A unit u such that |q(x) - q(x')| <= d(x, x') for every count q of the records of u with some property."""
        return None

    def path_form(self) -> InputDivergence | None:
        """For a neighbour form: the length of a shortest path of neighbours (B-D10); None when it has no name."""
        return None

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> tuple[Number, str] | None:
        """A constant c with d(x, x') <= c other(x, x') for all x, x' of the space, and the reason; None when unknown.

        The smaller c, the better; c = 1 for equal divergences. A mechanism that is eps-Lipschitz for this
        divergence is (c eps)-Lipschitz for the other.
        """
        return (number(1), "the same input divergence") if self == other else None

    def bounds(self, other: InputDivergence, space: DatasetSpace) -> tuple[Number, str] | None:
        """A constant c with other(x, x') <= c d(x, x') for all x, x' of the space, and the reason; None when unknown.

        What `other.bounded_by(self)` would say if it knew this divergence: so a new one tells how it stands to those before it.
        """
        return None
