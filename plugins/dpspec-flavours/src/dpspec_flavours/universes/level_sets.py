"""Flavours whose universes are the level sets of what is published exactly, and noise that keeps linear invariants exact.

The noise lies inside the null space of the invariants, over the reals and over the integers.

Write C for the matrix of the invariants over the cells of the space, v(x) for the counts of a dataset. Both mechanisms
release v(x) + w with C w = 0. Their laws are given in coordinates that determine the release and are determined by it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Annotated, ClassVar

from dpspec_divergences import AddRemove, DNor, Hamming, Mult, MultDelta, Neighbour, SymmetricDifference

from dpspec.plugin import (
    Attribute,
    BitVectors,
    Dataset,
    DatasetSpace,
    Example,
    FiniteLaw,
    Flavour,
    IncompatibleBlocksError,
    Integer,
    Invariant,
    Items,
    Law,
    LevelSets,
    LinearMap,
    Marginal,
    Mechanism,
    ParameterError,
    PrivacySpec,
    Rational,
    Registered,
    Trivial,
    UniformBudget,
    UnorderedRecords,
    blocks,
    define,
    grammar,
    laws,
    ln,
    number,
    params,
)
from dpspec_flavours.mechanisms import NearbyDataset
from dpspec_flavours.standards import common


def invariant_rows(invariants: Sequence[Invariant], space: DatasetSpace, subject: str) -> tuple[blocks.Vector, ...]:
    """The rows of C over the cells of the space; raises IncompatibleBlocksError when an invariant is not linear in the counts."""
    if blocks.listed_cells(space) is None:
        raise IncompatibleBlocksError(subject, f"needs datasets that are counts over cells, not those of {space.name}")
    rows: list[blocks.Vector] = []
    for invariant in invariants:
        invariant.check(space)
        matrix = invariant.matrix(space)
        if matrix is None:
            raise IncompatibleBlocksError(
                subject, "has an invariant that is no linear map of the counts", "use linear-map", value=str(invariant)
            )
        rows += matrix
    return tuple(rows)


def orthogonalised(vectors: Iterable[blocks.Vector]) -> tuple[blocks.Vector, ...]:
    """Pairwise orthogonal integer vectors with the same real span, by Gram-Schmidt over the rationals.

    >>> orthogonalised(((1, -1, 0), (1, 0, -1)))
    ((1, -1, 0), (1, 1, -2))
    """
    found: list[blocks.Vector] = []
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
    >>> from dpspec.plugin import blocks
    >>> mechanism, space = ProjectedGaussian(invariants=(total,), variance=2), blocks.IntegerCounts(length=2, high=1)
    >>> pair = mechanism.law((0, 1), space).against(mechanism.law((1, 0), space))
    >>> str(pair.concentration())
    '1/2'
    """

    name: ClassVar[str] = "projected-gaussian"

    invariants: Annotated[tuple[Invariant, ...], Items(Registered("invariants"))]
    variance: Annotated[Fraction, Rational(0, open_low=True)]
    projection_only: Annotated[bool, params.Truth()] = False

    def check(self, space: DatasetSpace) -> None:
        invariant_rows(self.invariants, space, f"mechanism {self.name}")

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        vector = blocks.ListedCells.needed_in(space).vector(space.dataset(dataset))
        rows = invariant_rows(self.invariants, space, f"mechanism {self.name}")
        directions = orthogonalised(blocks.kernel_basis(rows, len(vector)))
        exact = FiniteLaw.point(() if self.projection_only else tuple(_dot(row, vector) for row in rows))
        noisy = (laws.GaussianLaw(_dot(u, vector), self.variance * _dot(u, u)) for u in directions)
        return laws.product((exact, *noisy))

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
        moves: pairwise orthogonal generators themselves, changes of counts. A generator that is a multiple, or too few of them,
            leave more exact than intended.
        variance: sigma^2, in counts squared.

    >>> total = LinearMap(rows=((1, 1),), label="total")
    >>> from dpspec.plugin import blocks
    >>> mechanism, space = LatticeGaussian(invariants=(total,), variance=2), blocks.IntegerCounts(length=2, high=1)
    >>> pair = mechanism.law((0, 1), space).against(mechanism.law((1, 0), space))
    >>> mechanism.generators(space), str(pair.concentration())
    (((1, -1),), '1/2')
    """

    name: ClassVar[str] = "lattice-gaussian"

    invariants: Annotated[tuple[Invariant, ...], Items(Registered("invariants"), least=1)] | None = None
    moves: Annotated[tuple[blocks.Vector, ...], Items(Items(Integer(), least=1), least=1)] | None = None
    variance: Annotated[Fraction, Rational(0, open_low=True)]

    def __attrs_post_init__(self) -> None:
        if (self.invariants is None) == (self.moves is None):
            raise ParameterError(self.name, "needs either invariants or moves", "write invariants = [...]")
        if self.moves is not None and (len({len(move) for move in self.moves}) > 1 or not all(map(any, self.moves))):
            raise ParameterError("moves", "must be nonzero vectors of one length", value=self.moves)

    def check(self, space: DatasetSpace) -> None:
        self.generators(space)

    def generators(self, space: DatasetSpace) -> tuple[blocks.Vector, ...]:
        """The pairwise orthogonal generators of the lattice of the noise.

        Raises:
            IncompatibleBlocksError: when the space has no counts, an invariant is not linear, or no orthogonal basis is found.
        """
        subject = f"mechanism {self.name}"
        cells = blocks.listed_cells(space)
        rows = invariant_rows(self.invariants or (), space, subject)
        found = blocks.kernel_basis(rows, len(cells or ())) if self.moves is None else self.moves
        if any(len(move) != len(cells or ()) for move in found):
            raise IncompatibleBlocksError(subject, f"has moves of another length than {len(cells or ())} cells", value=found)
        if any(_dot(left, right) for left, right in itertools.combinations(found, 2)):
            rule = "needs pairwise orthogonal generators, and the reduced basis of this lattice is not orthogonal"
            raise IncompatibleBlocksError(subject, rule, "hold more invariants, or use projected-gaussian", value=found)
        return found

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        vector = blocks.ListedCells.needed_in(space).vector(space.dataset(dataset))
        generators = self.generators(space)
        steps = [_dot(b, vector) // _dot(b, b) for b in generators]
        # Whole steps are taken off, so that all vectors of one coset of the lattice have one origin.
        origin = tuple(v - sum(k * b[i] for k, b in zip(steps, generators, strict=True)) for i, v in enumerate(vector))
        noisy = (laws.DiscreteGaussianLaw(k, self.variance / _dot(b, b)) for k, b in zip(steps, generators, strict=True))
        return laws.product((FiniteLaw.point(origin), *noisy))

    @classmethod
    def examples(cls) -> Iterable[tuple[LatticeGaussian, DatasetSpace]]:
        """What the conformance kit checks it with."""
        total = LinearMap(rows=((1, 1),), label="total")
        yield cls(invariants=(total,), variance=Fraction(1)), BitVectors(length=2)
        yield cls(moves=((2, -2),), variance=Fraction(1)), BitVectors(length=2)


# --- the flavours ---------------------------------------------------------------------------------


TOTAL = Marginal(attributes=())


class InvariantsDP(Flavour):
    """Privacy under invariants: P_x(S) <= e^(epsilon d(x, x')) P_x'(S) for all x, x' with c(x) = c(x') (Bailie et al. 2024).

    >>> from dpspec import verify
    >>> flavour = InvariantsDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "invariants-dp"
    title: ClassVar[str] = "Privacy under invariants: some facts are published exactly"
    citation: ClassVar[str] = "Ashmead, Kifer, Leclerc, Machanavajjhala and Sexton, 2019; Gong and Meng, FODS 2020"
    reference: ClassVar[str] = (
        "Bailie et al. 2024, flavours by building block and multiverse of invariants; Bailie, Gong and Meng 2023, theorem on the "
        "universes of invariants"
    )
    changes: ClassVar[tuple[str, ...]] = ("multiverse",)
    explained: ClassVar[tuple[tuple[str, str], ...]] = (
        ("no-such-pair", "under a fixed total a record is replaced: the nearest two datasets of a universe are at distance 2"),
    )

    def spec(self) -> PrivacySpec:
        sex = Attribute(name="sex", categories=("f", "m"))
        return PrivacySpec(
            space=UnorderedRecords(attributes=(sex,), most=2),
            multiverse=LevelSets(invariants=(TOTAL,)),
            input_divergence=SymmetricDifference(),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(2)),
        )

    def compared(self) -> PrivacySpec:
        return common(multiverse=LevelSets(invariants=(Marginal(attributes=("bit",)),)))

    def satisfied_by(self) -> Example:
        return Example(
            title="a nearby dataset of the same size",
            mechanism=NearbyDataset(distance=Hamming(), rate=ln(2)),
            because="a replaced record is at distance 2; it changes each weight by at most 2 and their sum by at most 2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the exact table by sex",
            mechanism=grammar.ReleaseInvariants(invariants=(Marginal(attributes=("sex",)),)),
            because="the total may be exact, a finer table may not: two datasets with one total are distinguished "
            "(Bailie, Gong and Meng 2023)",
        )


class SubspaceDP(Flavour):
    """Subspace differential privacy: what is released inside the null space of C is (epsilon, delta)-private for all neighbours.

    With P the projection on {w : C w = 0}: Pr(P M(x) in S) <= e^epsilon Pr(P M(x') in S) + delta for datasets that differ in
    a record added or removed, whatever C v is on them. The disclosure by C v(x) itself needs another argument;
    `induced-subspace-dp` is what follows for the whole release where it is known.

    >>> from dpspec import verify
    >>> flavour = SubspaceDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "subspace-dp"
    title: ClassVar[str] = "Subspace differential privacy: the release inside the null space of linear invariants"
    citation: ClassVar[str] = "Gao, Gong and Yu, AAAI 2022"
    reference: ClassVar[str] = (
        "Bailie et al. 2024, flavours by building block; Dwork, Kenthapadi, McSherry, Mironov and Naor 2006"
    )
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence", "output_divergence")

    def spec(self) -> PrivacySpec:
        place = Attribute(name="place", categories=("a", "b", "c"))
        return PrivacySpec(
            space=blocks.ContingencyTables(attributes=(place,), most=2),
            multiverse=Trivial(),
            input_divergence=Neighbour(relation=AddRemove()),
            output_divergence=MultDelta(delta=Fraction(1, 100)),
            budget=UniformBudget(parameter="epsilon", value=number(1)),
        )

    def _noisy(self, *, whole: bool) -> ProjectedGaussian:
        return ProjectedGaussian(invariants=(TOTAL,), variance=Fraction(5, 2), projection_only=not whole)

    def satisfied_by(self) -> Example:
        return Example(
            title="the counts with Gaussian noise of variance 5/2, less their mean",
            mechanism=self._noisy(whole=False),
            because="a record is sqrt(2/3) long inside the null space, 0.52 standard deviations: delta = 0.0084 at epsilon = 1",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the same together with the exact total",
            mechanism=self._noisy(whole=True),
            because="that is the release which is made; the total discloses whether a record was added, and is not protected",
        )


class InducedSubspaceDP(Flavour):
    """The remaining promise of subspace privacy for a release with exact invariants: privacy among datasets on which they agree.

    D_nor(P_x, P_x') <= sqrt(rho) d(x, x') for all x, x' with C v(x) = C v(x'): there the exact part is the same, and the
    rest is what the projection releases. Stated in the concentrated standard, where a bound for neighbours is one for all pairs.

    >>> from dpspec import verify
    >>> flavour = InducedSubspaceDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "induced-subspace-dp"
    title: ClassVar[str] = (
        "Induced subspace privacy inside universes: exact linear invariants, real-valued noise in their null space"
    )
    citation: ClassVar[str] = "Gao, Gong and Yu, AAAI 2022"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block; Bun and Steinke 2016, Definition 1.1"
    changes: ClassVar[tuple[str, ...]] = ("multiverse", "output_divergence")
    explained: ClassVar[tuple[tuple[str, str], ...]] = (
        ("no-such-pair", "the published counts stay under a move: the nearest two datasets of a universe are more than 1 apart"),
    )

    def spec(self) -> PrivacySpec:
        place = Attribute(name="place", categories=("a", "b", "c"))
        return PrivacySpec(
            space=blocks.ContingencyTables(attributes=(place,), most=2),
            multiverse=LevelSets(invariants=(TOTAL,)),
            input_divergence=SymmetricDifference(),
            output_divergence=DNor(),
            budget=UniformBudget(parameter="rho", value=number("1/4")),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="Gaussian noise projected on the tables with an unchanged total",
            mechanism=ProjectedGaussian(invariants=(TOTAL,), variance=Fraction(1)),
            because="a moved record is sqrt(2) away for the noise and 2 away for d, so that D_nor is d/2",
        )

    def broken_by(self) -> Example:
        alone = Marginal(attributes=(), where=(("place", ("a",)),))
        return Example(
            title="noise projected on the null space of too many rows",
            mechanism=ProjectedGaussian(invariants=(TOTAL, alone), variance=Fraction(1)),
            because="the count of the first place is exact as well, and it differs between datasets of one total",
        )


class IntegerSubspaceDP(Flavour):
    """Integer subspace privacy inside universes: `induced-subspace-dp` with integer noise, on the lattice {w : C w = 0}.

    The publication states (epsilon, delta) for the projection of neighbours, as in `subspace-dp`; a projection of integers need
    not be one, and what is filed here is what it leaves for datasets on which the invariants agree.

    >>> from dpspec import verify
    >>> flavour = IntegerSubspaceDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "integer-subspace-dp"
    title: ClassVar[str] = "Integer subspace differential privacy: exact linear invariants, integer noise in their lattice"
    citation: ClassVar[str] = "Dharangutte, Gao, Gong and Yu, AAAI 2023"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block; Bun and Steinke 2016, Definition 1.1"
    changes: ClassVar[tuple[str, ...]] = ("multiverse", "output_divergence")
    explained: ClassVar[tuple[tuple[str, str], ...]] = (
        ("no-such-pair", "the published counts stay under a move: the nearest two datasets of a universe are more than 1 apart"),
    )

    def spec(self) -> PrivacySpec:
        sex, place = Attribute(name="sex", categories=("f", "m")), Attribute(name="place", categories=("a", "b"))
        return PrivacySpec(
            space=blocks.ContingencyTables(attributes=(sex, place), most=2),
            multiverse=LevelSets(invariants=(Marginal(attributes=("sex",)), Marginal(attributes=("place",)))),
            input_divergence=SymmetricDifference(),
            output_divergence=DNor(),
            budget=UniformBudget(parameter="rho", value=number("1/8")),
        )

    def satisfied_by(self) -> Example:
        margins = (Marginal(attributes=("sex",)), Marginal(attributes=("place",)))
        return Example(
            title="discrete Gaussian noise along the move that keeps both margins",
            mechanism=LatticeGaussian(invariants=margins, variance=Fraction(1)),
            because="one move is 2 away for the noise and 4 away for d, so that D_nor is d/sqrt(8)",
        )

    def broken_by(self) -> Example:
        return Example(
            title="noise along twice the move",
            mechanism=LatticeGaussian(moves=((2, -2, -2, 2),), variance=Fraction(1)),
            because="even steps leave the parity of every cell exact, which no margin discloses",
        )
