"""Flavours whose universes are the level sets of what is published exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpspec_divergences import AddRemove, DNor, Hamming, Mult, MultDelta, Neighbour, SymmetricDifference

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import LevelSets, Trivial
from dpspec.blocks.records import ContingencyTables, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.exact import ln, number
from dpspec.flavour import Example, Flavour
from dpspec.mechanism import ReleaseInvariants
from dpspec.spec import PrivacySpec
from dpspec_flavours.mechanisms import NearbyDataset
from dpspec_flavours.universes.subspace import LatticeGaussian, ProjectedGaussian

TOTAL = Marginal(attributes=())


class InvariantsDP(Flavour):
    """Privacy under invariants: P_x(S) <= e^(epsilon d(x, x')) P_x'(S) for all x, x' with c(x) = c(x') (B-D7).

    >>> from dpspec import verify_claim
    >>> flavour = InvariantsDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "invariants-dp"
    title: ClassVar[str] = "Privacy under invariants: some facts are published exactly"
    citation: ClassVar[str] = "Ashmead, Kifer, Leclerc, Machanavajjhala and Sexton, 2019; Gong and Meng, FODS 2020"
    reference: ClassVar[str] = "B-D30, B-D7, B-T10"
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

    def satisfied_by(self) -> Example:
        return Example(
            title="a nearby dataset of the same size",
            mechanism=NearbyDataset(distance=Hamming(), rate=ln(2)),
            because="a replaced record is at distance 2; it changes each weight by at most 2 and their sum by at most 2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the exact table by sex",
            mechanism=ReleaseInvariants(invariants=(Marginal(attributes=("sex",)),)),
            because="the total may be exact, a finer table may not: two datasets with one total are told apart (B-T10)",
        )


class SubspaceDP(Flavour):
    """Subspace differential privacy: what is released inside the null space of C is (epsilon, delta)-private for all neighbours.

    With P the projection on {w : C w = 0}: Pr(P M(x) in S) <= e^epsilon Pr(P M(x') in S) + delta for datasets that differ in
    a record added or removed, whatever C v says of them. What C v(x) itself tells is left to another argument;
    `induced-subspace-dp` is what follows for the whole release where it is known.

    >>> from dpspec import verify_claim
    >>> flavour = SubspaceDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "subspace-dp"
    title: ClassVar[str] = "Subspace differential privacy: the release inside the null space of linear invariants"
    citation: ClassVar[str] = "Gao, Gong and Yu, AAAI 2022"
    reference: ClassVar[str] = "B-D30, B-D16"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence", "output_divergence")

    def spec(self) -> PrivacySpec:
        place = Attribute(name="place", categories=("a", "b", "c"))
        return PrivacySpec(
            space=ContingencyTables(attributes=(place,), most=2),
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
            because="that is the release which is made; the total tells whether a record was added, and is not promised",
        )


class InducedSubspaceDP(Flavour):
    """What subspace privacy leaves for a release with exact invariants: privacy among datasets on which they agree.

    D_nor(P_x, P_x') <= sqrt(rho) d(x, x') for all x, x' with C v(x) = C v(x'): there the exact part is the same, and the
    rest is what the projection releases. Stated in the concentrated standard, where a bound for neighbours is one for all pairs.

    >>> from dpspec import verify_claim
    >>> flavour = InducedSubspaceDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "induced-subspace-dp"
    title: ClassVar[str] = (
        "Induced subspace privacy inside universes: exact linear invariants, real-valued noise in their null space"
    )
    citation: ClassVar[str] = "Gao, Gong and Yu, AAAI 2022"
    reference: ClassVar[str] = "B-D30, B-D18"
    changes: ClassVar[tuple[str, ...]] = ("multiverse", "output_divergence")
    explained: ClassVar[tuple[tuple[str, str], ...]] = (
        ("no-such-pair", "the published counts stay under a move: the nearest two datasets of a universe are more than 1 apart"),
    )

    def spec(self) -> PrivacySpec:
        place = Attribute(name="place", categories=("a", "b", "c"))
        return PrivacySpec(
            space=ContingencyTables(attributes=(place,), most=2),
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

    >>> from dpspec import verify_claim
    >>> flavour = IntegerSubspaceDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "integer-subspace-dp"
    title: ClassVar[str] = "Integer subspace differential privacy: exact linear invariants, integer noise in their lattice"
    citation: ClassVar[str] = "Dharangutte, Gao, Gong and Yu, AAAI 2023"
    reference: ClassVar[str] = "B-D30, B-D18, B-S14"
    changes: ClassVar[tuple[str, ...]] = ("multiverse", "output_divergence")
    explained: ClassVar[tuple[tuple[str, str], ...]] = (
        ("no-such-pair", "the published counts stay under a move: the nearest two datasets of a universe are more than 1 apart"),
    )

    def spec(self) -> PrivacySpec:
        sex, place = Attribute(name="sex", categories=("f", "m")), Attribute(name="place", categories=("a", "b"))
        return PrivacySpec(
            space=ContingencyTables(attributes=(sex, place), most=2),
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
            because="even steps leave the parity of every cell exact, which no margin tells",
        )
