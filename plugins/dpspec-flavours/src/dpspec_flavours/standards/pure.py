"""Pure differential privacy, from which every other flavour differs in some block."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpspec_divergences import DifferInOnePosition, HammingOrdered, Mult, Neighbour
from dpspec_noise import RandomisedResponse

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.vectors import BitVectors
from dpspec.exact import NumberLike, ln, number
from dpspec.flavour import Example, Flavour
from dpspec.spec import PrivacySpec


class PureDP(Flavour):
    """Pure differential privacy: P_x(S) <= e^(epsilon d(x, x')) P_x'(S) for all events S (B-D15, B-T1).

    The definition asks d = 1; the rest follows, since `mult` is a metric and every pair is joined by a path of neighbours.

    >>> from dpspec import verify_claim
    >>> flavour = PureDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "pure-dp"
    title: ClassVar[str] = "Pure epsilon-differential privacy"
    citation: ClassVar[str] = "Dwork, McSherry, Nissim and Smith, TCC 2006, Definition 1"
    reference: ClassVar[str] = "B-D30, B-T1"
    changes: ClassVar[tuple[str, ...]] = ()

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=BitVectors(length=2),
            multiverse=Trivial(),
            input_divergence=HammingOrdered(),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(3)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 3/4",
            mechanism=RandomisedResponse(keep_probability=Fraction(3, 4)),
            because="each answer has likelihood ratio 3 or 1/3",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 4/5",
            mechanism=RandomisedResponse(keep_probability=Fraction(4, 5)),
            because="the likelihood ratio of one answer is 4",
        )


def relaxed(standard: OutputDivergence, value: NumberLike, *, parameter: str = "epsilon") -> PrivacySpec:
    """Pure privacy with another output divergence and its budget."""
    return PureDP().spec().replace(output_divergence=standard, budget=UniformBudget(parameter=parameter, value=number(value)))


def between_neighbours(standard: OutputDivergence, value: NumberLike, *, parameter: str = "epsilon") -> PrivacySpec:
    """The same, asked of datasets that differ in one record alone: what a definition for neighbours says, and no more."""
    return relaxed(standard, value, parameter=parameter).replace(input_divergence=Neighbour(relation=DifferInOnePosition()))
