"""Blowfish privacy: a policy says which values are secrets, and which facts are public."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpspec_divergences import Mult, Neighbour
from dpspec_noise import Geometric, RandomisedResponse

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import LevelSets, Trivial
from dpspec.blocks.records import OrderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.exact import ln
from dpspec.flavour import Example, Flavour
from dpspec.spec import PrivacySpec
from dpspec_flavours.networks.constrained import PolicyNeighbours
from dpspec_flavours.networks.policy import Policy

_PAY = Attribute(name="pay", categories=("low", "mid", "high"))


def _at_most(*categories: str) -> Marginal:
    return Marginal(attributes=(), where=(("pay", categories),))


class Blowfish(Flavour):
    """Blowfish privacy: P_x(S) <= e^(epsilon d_G(x, x')) P_x'(S), d_G the distance of a policy graph on values (B-D30).

    The policy is a line: low and mid pay must not be told apart, nor mid and high; low and high may, at twice the price.

    >>> from dpspec import verify_claim
    >>> flavour = Blowfish()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "blowfish"
    title: ClassVar[str] = "Blowfish privacy: a policy graph on the values of a record"
    citation: ClassVar[str] = "He, Machanavajjhala and Ding, SIGMOD 2014"
    reference: ClassVar[str] = "B-D30"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        return PrivacySpec(
            space=OrderedRecords(attributes=(_PAY,), least=2, most=2),
            multiverse=Trivial(),
            input_divergence=Policy(edges=(("low", "mid"), ("mid", "high"))),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(2)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="the cumulative counts (low; low or mid) with geometric noise of ratio 1/2",
            mechanism=Geometric(
                queries=(_at_most("low"), _at_most("low", "mid")), ratio=Fraction(1, 2), neighbours="replace-one"
            ),
            because="an edge of the line moves one person across one threshold",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the counts of low, mid and high pay with geometric noise of ratio 1/2",
            mechanism=Geometric(queries=(Marginal(attributes=("pay",)),), ratio=Fraction(1, 2), neighbours="replace-one"),
            because="an edge of the line changes two of the three counts",
        )


class BlowfishConstraints(Flavour):
    """Blowfish privacy with constraints: P_x(S) <= e^epsilon P_x'(S) for closest x, x' on which the public facts agree (B-D30).

    Public is how many of three people answered "yes", so that one secret answer changes only together with another one.

    >>> from dpspec import verify_claim
    >>> flavour = BlowfishConstraints()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "blowfish-constraints"
    title: ClassVar[str] = "Blowfish privacy with a public total"
    citation: ClassVar[str] = "He, Machanavajjhala and Ding, SIGMOD 2014"
    reference: ClassVar[str] = "B-D30"
    changes: ClassVar[tuple[str, ...]] = ("multiverse", "input_divergence")

    def spec(self) -> PrivacySpec:
        public = (Marginal(attributes=("bit",)),)
        return PrivacySpec(
            space=BitVectors(length=3),
            multiverse=LevelSets(invariants=public),
            input_divergence=Neighbour(relation=PolicyNeighbours(edges=(("0", "1"),), constraints=public)),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=ln(4)),
        )

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 2/3",
            mechanism=RandomisedResponse(keep_probability=Fraction(2, 3)),
            because="two answers change together, each with likelihood ratio 2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 4/5, as without the constraint",
            mechanism=RandomisedResponse(keep_probability=Fraction(4, 5)),
            because="the public total makes a second answer change with the first, at likelihood ratio 4 each",
        )
