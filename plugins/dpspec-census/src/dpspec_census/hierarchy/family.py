"""One parent node with its children: the problem that TopDown solves again and again (B-A6, step 2).

    minimise    1/2 sum_k sum_r w_r ((A x_k)_r - t_rk)^2          over tables x_k of the children k
    subject to  x >= 0,   sum_k x_k = parent in every cell,   low_gk <= sum of x_k over the cells of group g <= high_gk

A holds the marginal queries (0 or 1 for each answer and cell), t their noisy answers, w = 1/variance. Only the cells
where the parent has somebody are variables. Arrays have the shape (cells, children) or (answers, children).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpspec.errors import IncompatibleBlocksError

Reals = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

UNBOUNDED = 1 << 39
"""A bound of this size is none; bounds of eight million nodes still add up in 64 bits."""


@attrs.frozen(kw_only=True, eq=False)
class Bound:
    """low <= the number of units in a group of cells <= high, for every child.

    Args:
        name: what the constraint is, in words.
        cells: which cells form the group, shape (cells,).
        low, high: for every child; `UNBOUNDED` for no upper bound.
    """

    name: str
    cells: Mask
    low: Counts
    high: Counts


@attrs.frozen(kw_only=True, eq=False)
class Family:
    """The data of one fit.

    Args:
        incidence: A, a sparse matrix of shape (answers, cells) with entries 0 and 1.
        weights: w, shape (answers,).
        targets: t, shape (answers, children).
        bounds: the groups; any two are nested or disjoint, which makes the rounding exact.
        parent: the counts that the children share out, shape (cells,); None for the root, which is its own only child.
        names: the children, for messages.
    """

    incidence: Any
    weights: Reals
    targets: Reals
    bounds: tuple[Bound, ...] = ()
    parent: Counts | None = None
    names: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        check_laminar([bound.cells for bound in self.bounds])

    @property
    def cells(self) -> int:
        """The number of cells that are variables for every child."""
        return int(self.incidence.shape[1])

    @property
    def children(self) -> int:
        """The number of children."""
        return int(self.targets.shape[1])

    def shared(self) -> Counts:
        """What the children share out; IncompatibleBlocksError for the root."""
        if self.parent is None:
            raise IncompatibleBlocksError("family", "has no parent", "fit the root by the interior-point solver")
        return self.parent

    @cached_property
    def pulled_back(self) -> Any:
        """The transpose of the incidence."""
        return self.incidence.T.tocsr()

    @cached_property
    def groups(self) -> Any:
        """The groups as a sparse matrix of shape (bounds, cells)."""
        from scipy.sparse import csr_array

        return csr_array(np.array([bound.cells for bound in self.bounds], dtype=float).reshape(len(self.bounds), self.cells))

    def low(self) -> Counts:
        """The lower bounds, shape (bounds, children)."""
        return np.array([bound.low for bound in self.bounds], dtype=np.int64).reshape(len(self.bounds), self.children)

    def high(self) -> Counts:
        """The upper bounds, shape (bounds, children)."""
        return np.array([bound.high for bound in self.bounds], dtype=np.int64).reshape(len(self.bounds), self.children)

    def loss(self, x: Reals) -> float:
        """The weighted least-squares loss of tables x of shape (cells, children)."""
        return float(0.5 * (self.weights[:, None] * (self.incidence @ x - self.targets) ** 2).sum())

    def gradient(self, x: Reals) -> Reals:
        """Its gradient."""
        return np.asarray(self.pulled_back @ (self.weights[:, None] * (self.incidence @ x - self.targets)))

    def excess(self, x: Reals) -> float:
        """By how much a group lies outside its bounds at most."""
        totals = self.groups @ x
        return float(np.maximum(totals - self.high(), self.low() - totals).max(initial=0.0))

    def broken(self, x: Counts) -> tuple[str, ...]:
        """The constraints that integer tables do not keep, counted in integers; empty when they keep all."""
        faults = []
        if (x < 0).any():
            faults.append("no count is negative")
        if self.parent is not None and (x.sum(axis=1) != self.parent).any():
            faults.append("the children add up to their parent")
        for bound in self.bounds:
            total = x[bound.cells].sum(axis=0)
            if ((total < bound.low) | (total > bound.high)).any():
                faults.append(bound.name)
        return tuple(faults)


def check_laminar(groups: Sequence[Mask]) -> None:
    """Raise IncompatibleBlocksError unless any two groups are nested or disjoint.

    >>> check_laminar([np.array([True, True, False]), np.array([False, True, True])])
    Traceback (most recent call last):
    dpspec.errors.IncompatibleBlocksError: constraints: any two groups must be nested or disjoint: state them on one attribute
    """
    for place, one in enumerate(groups):
        for other in groups[:place]:
            both = one & other
            if both.any() and not np.array_equal(both, one) and not np.array_equal(both, other):
                raise IncompatibleBlocksError(
                    "constraints", "any two groups must be nested or disjoint", "state them on one attribute"
                )
