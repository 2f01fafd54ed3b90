"""Queries and invariants as integer rows over the cells of a space, and the loss of noise on them (B-T15)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import attrs

from dpspec.blocks.households import Households
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.multisets import Multisets
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import DatasetSpace
from dpspec.errors import IncompatibleBlocksError
from dpspec.exact import INFINITY, Number, number

Rows = tuple[tuple[int, ...], ...]
"""An integer matrix: one row for each answer, one column for each cell."""


def products(rows: Rows, vector: Sequence[int]) -> tuple[int, ...]:
    """The matrix times the dataset's vector.

    >>> products(((1, 1, 0), (0, 0, 2)), (3, 4, 5))
    (7, 10)
    """
    return tuple(sum(a * v for a, v in zip(row, vector, strict=True)) for row in rows)


@lru_cache(maxsize=256)
def query_rows(query: Invariant, space: DatasetSpace) -> Rows:
    """The rows of a linear query, one for each of its answers: column j is its answer on the dataset of one record j."""
    constraint_rows(query, space)
    if not isinstance(space, (UnorderedRecords, Households)):
        raise IncompatibleBlocksError(f"space {space.name}", "has no records that are counted", "use records or households")
    anything: Any = space
    wide: Multisets = attrs.evolve(anything, least=0, most=None)
    count = len(wide.cells() or ())
    units = (tuple(int(place == j) for place in range(count)) for j in range(count))
    columns = [query.answers(wide.from_vector(unit), wide) for unit in units]
    return tuple(zip(*columns, strict=True))


@lru_cache(maxsize=256)
def constraint_rows(invariant: Invariant, space: DatasetSpace) -> Rows:
    """The rows of a linear invariant; IncompatibleBlocksError when it is none on the space."""
    invariant.check(space)
    if not isinstance(space, Multisets) or space.cells() is None:
        raise IncompatibleBlocksError(
            f"space {space.name}", "has no list of cells to fit a table on", "use fewer attributes, or bound the members"
        )
    rows = invariant.matrix(space)
    if rows is None:
        raise IncompatibleBlocksError(f"query {invariant}", "is not linear in the counts", "use a marginal or a linear map")
    return rows


def loss_of_one_unit(measurements: Iterable[tuple[Invariant, Fraction]], space: DatasetSpace, unit: str) -> Number:
    """max over pairs (a, b) of kinds of records of  sum over measurements of |q(a) - q(b)|^2 / (2 variance).

    That is rho of discrete Gaussian noise when one record of the unit is replaced, |.| the Euclidean norm.
    The kinds are the cells of the space when they are records of the unit. Persons in households are counted as
    records of their own; a query on households then has no finite loss, since person records do not determine it (B-X6).
    """
    measurements = list(measurements)
    if isinstance(space, Households) and unit != space.units[0]:
        if any(getattr(query, "unit", None) != unit for query, _ in measurements):
            return INFINITY
        space = UnorderedRecords(attributes=space.attributes_of(unit), unit=unit)
    weighted = [(row, 1 / (2 * variance)) for query, variance in measurements for row in query_rows(query, space)]
    kinds = range(len(weighted[0][0]))
    losses = (
        sum((weight * (row[a] - row[b]) ** 2 for row, weight in weighted), Fraction(0))
        for a, b in itertools.combinations(kinds, 2)
    )
    return number(max(losses, default=Fraction(0)))
