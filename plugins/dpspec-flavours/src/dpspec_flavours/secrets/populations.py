"""Flavours about where the data come from: their law, the frame they are sampled from, a world without a record."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpspec_divergences import Hamming, HammingOrdered, Mult, Neighbour
from dpspec_noise import Geometric, RandomisedResponse

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import LinearMap
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.exact import Number, ln
from dpspec.flavour import Example, Flavour
from dpspec.mechanism import Mechanism, ReleaseInvariants
from dpspec.spec import PrivacySpec
from dpspec_flavours.secrets.attackers import HALF, PAIR, response
from dpspec_flavours.secrets.distances import DataVariation, DiscriminativePairs
from dpspec_flavours.secrets.laws import DataLaw, IndependentRecords
from dpspec_flavours.secrets.mechanisms import Averaged, Subsampled
from dpspec_flavours.secrets.spaces import DataLaws, bits


def _pure(epsilon: Number) -> UniformBudget:
    return UniformBudget(parameter="epsilon", value=epsilon)


class DistributionalPrivacy(Flavour):
    """Distributional privacy: the loss is bounded by the distance of the distributions that the data are drawn from.

    Two records, each 1 with probability 1/4, 1/2 or 3/4, at the total variation distance of their joint laws.

    >>> from dpspec import verify_claim
    >>> flavour = DistributionalPrivacy()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "distributional-privacy"
    title: ClassVar[str] = "Distributional privacy: the distance is one between laws of the data"
    citation: ClassVar[str] = "Zhou, Ligett and Wasserman, ISIT 2009"
    reference: ClassVar[str] = "B-D30"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        chances = {"a quarter": Fraction(1, 4), "a half": HALF, "three quarters": Fraction(3, 4)}
        laws = tuple(DataLaw(label=label, independent=(bits(chance, 2),)) for label, chance in chances.items())
        return PrivacySpec(
            space=DataLaws(base=PAIR, data_laws=laws),
            multiverse=Trivial(),
            input_divergence=DataVariation(),
            output_divergence=Mult(),
            budget=_pure(ln(Fraction(5, 3)) * 4),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 3/4",
            mechanism=response(Fraction(3, 4)),
            because="a quarter and three quarters give answers with the ratio (5/3)^2 at the distance 1/2",
        )

    def broken_by(self) -> Example:
        exact = ReleaseInvariants(invariants=(LinearMap(rows=((1, 1),), label="number of ones"),))
        return Example(
            title="the exact number of ones",
            mechanism=Averaged(mechanism=exact),
            because="that the data are random protects one record, not their law: 4 at the distance 5/16",
        )


class AmplificationBySampling(Flavour):
    """Amplification by sampling: the dataset is the frame, the sample is part of the mechanism and secret.

    One of two records is drawn. A ln 3-DP answer on the sample is ln(1 + 1/2 (3 - 1)) = ln 2-DP on the frame.

    >>> from dpspec import verify_claim
    >>> flavour = AmplificationBySampling()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "amplification-by-sampling"
    title: ClassVar[str] = "Amplification by sampling: privacy of the frame"
    citation: ClassVar[str] = "Balle, Barthe and Gaboardi, NeurIPS 2018"
    reference: ClassVar[str] = "B-D30, B-T21, B-A10"
    changes: ClassVar[tuple[str, ...]] = ("space",)

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=PAIR,
            multiverse=Trivial(),
            input_divergence=HammingOrdered(),
            output_divergence=Mult(),
            budget=_pure(ln(2)),
        )

    def _sampled(self, *, published: bool) -> Mechanism:
        answer = RandomisedResponse(keep_probability=Fraction(3, 4))
        return Subsampled(mechanism=answer, size=1, samples=BitVectors(length=1), publishes_sample=published)

    def satisfied_by(self) -> Example:
        return Example(
            title="one of two records, drawn in secret, answers truthfully with probability 3/4",
            mechanism=self._sampled(published=False),
            because="ln(1 + p (e^epsilon - 1)) with p = 1/2 and e^epsilon = 3",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the same, and it is published who was drawn",
            mechanism=self._sampled(published=True),
            because="a neighbour who knows that a record is in the sample has the whole ln 3",
        )


class CoupledWorlds(Flavour):
    """Coupled-worlds privacy with a stated simulator: the mechanism itself, on the data without the record (Bassily et al. 2013).

    Given the first record, the output of the real world is compared with that of an ideal world in which this record is replaced
    by a 0. The definition lets the simulator be anything, which no five-tuple does: see docs/beyond-the-five-blocks.md.

    >>> from dpspec import verify_claim
    >>> flavour = CoupledWorlds()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "coupled-worlds"
    title: ClassVar[str] = "Coupled-worlds privacy, the simulator being the mechanism without the record"
    citation: ClassVar[str] = "Bassily, Groce, Katz and Smith, FOCS 2013"
    reference: ClassVar[str] = "K-D43"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        fair = bits(HALF)
        worlds = {"real, first is 0": 0, "real, first is 1": 1, "ideal, first is 0": 0, "ideal, first is 1": 0}
        laws = tuple(DataLaw(label=label, independent=(_fixed(bit), fair)) for label, bit in worlds.items())
        couples = tuple((f"real, first is {bit}", f"ideal, first is {bit}") for bit in (0, 1))
        return PrivacySpec(
            space=DataLaws(base=PAIR, data_laws=laws),
            multiverse=Trivial(),
            input_divergence=Neighbour(relation=DiscriminativePairs(pairs=couples)),
            output_divergence=Mult(),
            budget=_pure(ln(3)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 3/4",
            mechanism=response(Fraction(3, 4)),
            because="only the answer for the first record differs between the worlds, by the ratio 3",
        )

    def broken_by(self) -> Example:
        exact = ReleaseInvariants(invariants=(LinearMap(rows=((1, 1),), label="number of ones"),))
        return Example(
            title="the exact number of ones",
            mechanism=Averaged(mechanism=exact),
            because="two ones never happen in the ideal world: the other record is too little to hide behind",
        )


def _fixed(bit: int) -> IndependentRecords:
    return bits(Fraction(bit))


class RestrictedSensitivity(Flavour):
    """Restricted sensitivity: noise for the datasets of a hypothesis H, privacy for all datasets (Blocki et al. 2013).

    Amounts are 0, 1 or 4, and H says that nobody has more than 1. The sum is 1-Lipschitz on H; the sum of amounts cut off at 1
    agrees with it there and is 1-Lipschitz everywhere. That the answer is right on H is no part of a five-tuple: see
    docs/beyond-the-five-blocks.md.

    >>> from dpspec import verify_claim
    >>> flavour = RestrictedSensitivity()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "restricted-sensitivity"
    title: ClassVar[str] = "Restricted sensitivity: unconditional privacy, accuracy under a hypothesis"
    citation: ClassVar[str] = "Blocki, Blum, Datta and Sheffet, ITCS 2013"
    reference: ClassVar[str] = "K-D43"
    changes: ClassVar[tuple[str, ...]] = ()

    def spec(self) -> PrivacySpec:
        amount = Attribute(name="amount", categories=("0", "1", "4"))
        return PrivacySpec(
            space=UnorderedRecords(attributes=(amount,), least=2, most=2),
            multiverse=Trivial(),
            input_divergence=Hamming(),
            output_divergence=Mult(),
            budget=_pure(ln(3)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="the sum of the amounts cut off at 1, with geometric noise of ratio 1/3",
            mechanism=_noisy_sum((0, 1, 1), "sum of amounts up to 1"),
            because="it equals the sum where the hypothesis holds, and moves by at most 1 everywhere",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the sum itself, with the same noise",
            mechanism=_noisy_sum((0, 1, 4), "sum of amounts"),
            because="noise for the sensitivity on the hypothesis alone: outside of it one record moves the sum by 4",
        )


def _noisy_sum(row: tuple[int, ...], label: str) -> Geometric:
    total = LinearMap(rows=(row,), label=label)
    return Geometric(queries=(total,), ratio=Fraction(1, 3), neighbours="replace-one")
