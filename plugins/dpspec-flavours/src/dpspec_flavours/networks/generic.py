"""Generic privacy: any neighbour relation, and one number for it."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpspec_divergences import Mult, Neighbour
from dpspec_noise import RandomisedResponse

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.vectors import BitVectors
from dpspec.exact import ln
from dpspec.flavour import Example, Flavour
from dpspec.spec import PrivacySpec
from dpspec_flavours.networks.relations import ListedPairs

_SWAPS = (
    ((1, 0, 0), (0, 1, 0)), ((1, 0, 0), (0, 0, 1)), ((0, 1, 0), (0, 0, 1)),
    ((1, 1, 0), (1, 0, 1)), ((1, 1, 0), (0, 1, 1)), ((1, 0, 1), (0, 1, 1)),
)  # fmt: skip


class GenericDP(Flavour):
    """Generic differential privacy: P_x(S) <= e^epsilon P_x'(S) for all pairs (x, x') of a given relation R (B-D9, B-D30).

    Here R holds between answers of three people with the same number of "yes", two of them exchanged: the neighbours of Kifer
    and Machanavajjhala after the exact total has been published.

    >>> from dpspec import verify_claim
    >>> flavour = GenericDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "generic-dp"
    title: ClassVar[str] = "(R, epsilon)-generic differential privacy: neighbours by a list of pairs"
    citation: ClassVar[str] = "Kifer and Machanavajjhala, SIGMOD 2011"
    reference: ClassVar[str] = "B-D30, B-D9"
    changes: ClassVar[tuple[str, ...]] = ("input_divergence",)

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=BitVectors(length=3),
            multiverse=Trivial(),
            input_divergence=Neighbour(relation=ListedPairs(pairs=_SWAPS)),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(4)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 2/3",
            mechanism=RandomisedResponse(keep_probability=Fraction(2, 3)),
            because="an exchange changes two answers, each with likelihood ratio 2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 4/5",
            mechanism=RandomisedResponse(keep_probability=Fraction(4, 5)),
            because="it spends ln(4) on one changed answer, and neighbours under R differ in two",
        )
