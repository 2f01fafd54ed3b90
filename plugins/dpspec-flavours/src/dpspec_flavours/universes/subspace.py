"""Noise inside the null space of linear invariants, so that the invariants stay exact: over the reals and over the integers.

Write C for the matrix of the invariants over the cells of the space, v(x) for the counts of a dataset. Both mechanisms
release v(x) + w with C w = 0. Their laws are given in coordinates that determine the release and are determined by it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Annotated, ClassVar

from dpspec.blocks.invariant import Invariant, LinearMap
from dpspec.blocks.lattice import Vector, kernel_basis
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.errors import IncompatibleBlocksError, ParameterError
from dpspec.laws import DiscreteGaussian, FiniteLaw, Gaussian, Law, product
from dpspec.mechanism import Mechanism
from dpspec.params import Integer, Items, Rational, Registered, Truth, define


def invariant_rows(invariants: Sequence[Invariant], space: DatasetSpace, subject: str) -> tuple[Vector, ...]:
    """The rows of C over the cells of the space; raises IncompatibleBlocksError when an invariant is not linear in the counts."""
    if space.cells() is None:
        raise IncompatibleBlocksError(subject, f"needs datasets that are counts over cells, not those of {space.name}")
    rows: list[Vector] = []
    for invariant in invariants:
        invariant.check(space)
        matrix = invariant.matrix(space)
        if matrix is None:
            raise IncompatibleBlocksError(
                subject, "has an invariant that is no linear map of the counts", "use linear-map", value=str(invariant)
            )
        rows += matrix
    return tuple(rows)


def orthogonalised(vectors: Iterable[Vector]) -> tuple[Vector, ...]:
    """Pairwise orthogonal integer vectors with the same real span, by Gram-Schmidt over the rationals.

    >>> orthogonalised(((1, -1, 0), (1, 0, -1)))
    ((1, -1, 0), (1, 1, -2))
    """
    found: list[Vector] = []
    for vector in vectors:
        rest = [Fraction(entry) for entry in vector]
        for other in found:
            share = Fraction(_dot(vector, other), _dot(other, other))
            rest = [entry - share * step for entry, step in zip(rest, other, strict=True)]
        scale = math.lcm(*(entry.denominator for entry in rest))
        whole = [int(entry * scale) for entry in rest]
        divisor = math.gcd(*whole)
        if divisor:
            found.append(tuple(entry // divisor for entry in whole))
    return tuple(found)


def _dot(left: Sequence[int], right: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(left, right, strict=True))


@define
class ProjectedGaussian(Mechanism):
    """v(x) + P w, w standard Gaussian noise of a variance in every cell, P the projection onto {w : C w = 0}.

    The invariants C v(x) stay exact and the noise inside is isotropic, so that for C v(x) = C v(x')

        D_nor(P_x, P_x') = |v(x) - v(x')|_2 / (sigma sqrt(2)),

    the same as with noise in every cell (Gao, Gong and Yu 2022). The law is the point C v(x) times independent
    Gaussians <u, v(x)> + N(0, sigma^2 |u|^2) for an orthogonal integer basis of vectors u of the null space.

    Args:
        invariants: what stays exact; each must be linear in the counts.
        variance: sigma^2, in counts squared.
        projection_only: release P (v(x) + w) and keep C v(x) back, so that nothing is exact.

    >>> total = LinearMap(rows=((1, 1),), label="total")
    >>> from dpspec.blocks.vectors import IntegerCounts
    >>> mechanism, space = ProjectedGaussian(invariants=(total,), variance=2), IntegerCounts(length=2, high=1)
    >>> pair = mechanism.law((0, 1), space).against(mechanism.law((1, 0), space))
    >>> str(pair.concentration())
    '1/2'
    """

    name: ClassVar[str] = "projected-gaussian"

    invariants: Annotated[tuple[Invariant, ...], Items(Registered("invariants"))]
    variance: Annotated[Fraction, Rational(0, open_low=True)]
    projection_only: Annotated[bool, Truth()] = False

    def check(self, space: DatasetSpace) -> None:
        invariant_rows(self.invariants, space, f"mechanism {self.name}")

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        vector = space.vector(space.dataset(dataset))
        rows = invariant_rows(self.invariants, space, f"mechanism {self.name}")
        directions = orthogonalised(kernel_basis(rows, len(vector)))
        exact = FiniteLaw.point(() if self.projection_only else tuple(_dot(row, vector) for row in rows))
        noisy = (Gaussian(_dot(u, vector), self.variance * _dot(u, u)) for u in directions)
        return product((exact, *noisy))

    @classmethod
    def examples(cls) -> Iterable[tuple[ProjectedGaussian, DatasetSpace]]:
        """What the conformance kit checks it with."""
        total = LinearMap(rows=((1, 1),), label="total")
        yield cls(invariants=(total,), variance=Fraction(1)), BitVectors(length=2)


@define
class LatticeGaussian(Mechanism):
    """v(x) + W, W discrete Gaussian noise on the lattice {w integer : C w = 0}: P(w) proportional to e^(-|w|^2/(2 sigma^2)).

    The release is an integer vector in which the invariants are exact (Dharangutte, Gao, Gong and Yu 2022). For a lattice with
    pairwise orthogonal generators b the noise is sum_b K_b b with independent discrete Gaussians K_b of the parameter
    sigma^2/|b|^2, and for two datasets of one universe D_nor(P_x, P_x') = |v(x) - v(x')|_2 / (sigma sqrt(2)). Other lattices have
    no such product form and are refused.

    Args:
        invariants: what stays exact, each linear in the counts; the generators come from a reduced basis of the lattice. Or
        moves: pairwise orthogonal generators themselves. A generator that is a multiple, or too few of them, leave
            more exact than intended.
        variance: sigma^2, in counts squared.

    >>> total = LinearMap(rows=((1, 1),), label="total")
    >>> from dpspec.blocks.vectors import IntegerCounts
    >>> mechanism, space = LatticeGaussian(invariants=(total,), variance=2), IntegerCounts(length=2, high=1)
    >>> pair = mechanism.law((0, 1), space).against(mechanism.law((1, 0), space))
    >>> mechanism.generators(space), str(pair.concentration())
    (((1, -1),), '1/2')
    """

    name: ClassVar[str] = "lattice-gaussian"

    invariants: Annotated[tuple[Invariant, ...], Items(Registered("invariants"), least=1)] | None = None
    moves: Annotated[tuple[Vector, ...], Items(Items(Integer(), least=1), least=1)] | None = None
    variance: Annotated[Fraction, Rational(0, open_low=True)]

    def __attrs_post_init__(self) -> None:
        if (self.invariants is None) == (self.moves is None):
            raise ParameterError(self.name, "needs either invariants or moves", "write invariants = [...]")
        if self.moves is not None and (len({len(move) for move in self.moves}) > 1 or not all(map(any, self.moves))):
            raise ParameterError("moves", "must be nonzero vectors of one length", value=self.moves)

    def check(self, space: DatasetSpace) -> None:
        self.generators(space)

    def generators(self, space: DatasetSpace) -> tuple[Vector, ...]:
        """The pairwise orthogonal generators of the lattice of the noise.

        Raises:
            IncompatibleBlocksError: when the space has no counts, an invariant is not linear, or no orthogonal basis is found.
        """
        subject = f"mechanism {self.name}"
        cells = space.cells()
        rows = invariant_rows(self.invariants or (), space, subject)
        found = kernel_basis(rows, len(cells or ())) if self.moves is None else self.moves
        if any(len(move) != len(cells or ()) for move in found):
            raise IncompatibleBlocksError(subject, f"has moves of another length than {len(cells or ())} cells", value=found)
        if any(_dot(left, right) for left, right in itertools.combinations(found, 2)):
            rule = "needs pairwise orthogonal generators, and the reduced basis of this lattice is not orthogonal"
            raise IncompatibleBlocksError(subject, rule, "hold more invariants, or use projected-gaussian", value=found)
        return found

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        vector = space.vector(space.dataset(dataset))
        generators = self.generators(space)
        steps = [_dot(b, vector) // _dot(b, b) for b in generators]
        # Whole steps are taken off, so that all vectors of one coset of the lattice have one origin.
        origin = tuple(v - sum(k * b[i] for k, b in zip(steps, generators, strict=True)) for i, v in enumerate(vector))
        noisy = (DiscreteGaussian(k, self.variance / _dot(b, b)) for k, b in zip(steps, generators, strict=True))
        return product((FiniteLaw.point(origin), *noisy))

    @classmethod
    def examples(cls) -> Iterable[tuple[LatticeGaussian, DatasetSpace]]:
        """What the conformance kit checks it with."""
        total = LinearMap(rows=((1, 1),), label="total")
        yield cls(invariants=(total,), variance=Fraction(1)), BitVectors(length=2)
        yield cls(moves=((2, -2),), variance=Fraction(1)), BitVectors(length=2)
