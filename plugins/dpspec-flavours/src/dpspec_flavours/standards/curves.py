"""Flavours that bound the whole trade-off curve of the errors of a test: Gaussian privacy and f-privacy."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpspec_divergences import GaussianTradeOff, TradeOffSteps
from dpspec_noise import Gaussian, RandomisedResponse

from dpspec.blocks.invariant import LinearMap
from dpspec.flavour import Example, Flavour
from dpspec.spec import PrivacySpec
from dpspec_flavours.standards.pure import relaxed

_MU = Fraction(8, 5)
_KNOTS = tuple((Fraction(a, 9), Fraction(b, 9)) for a, b in ((0, 9), (1, 5), (5, 1), (9, 0)))


class GaussianDP(Flavour):
    """Gaussian differential privacy: T(P_x, P_x') >= G_(mu d(x, x')), the curve of two unit Gaussians that far apart.

    >>> from dpspec import verify_claim
    >>> flavour = GaussianDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "gaussian-dp"
    title: ClassVar[str] = "Gaussian differential privacy (mu-GDP)"
    citation: ClassVar[str] = "Dong, Roth and Su, J. R. Stat. Soc. B 2022"
    reference: ClassVar[str] = "B-D30"
    changes: ClassVar[tuple[str, ...]] = ("output_divergence", "budget")

    def spec(self) -> PrivacySpec:
        return relaxed(GaussianTradeOff(), _MU, parameter="mu")

    def satisfied_by(self) -> Example:
        total = LinearMap(rows=((1, 1),), label="total")
        return Example(
            title="Gaussian noise of variance 25/64 on the total",
            mechanism=Gaussian(queries=(total,), neighbours="differ-in-one-position", variance=1 / _MU**2),
            because="one person moves the mean by 1, which is 8/5 standard deviations",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 4/5",
            mechanism=RandomisedResponse(keep_probability=Fraction(4, 5)),
            because="its epsilon ln(4) is below 8/5, but mu is no epsilon: 2 Phi^-1(4/5) is about 1.68",
        )


class FDP(Flavour):
    """f-differential privacy: T(P_x, P_x') >= f on neighbours, and for k persons f composed k times as for a group.

    The budget is a curve, not a number; so it is written into the divergence, and counted in steps (`trade-off`). Here f is the
    curve of a bit that is reported twice, each time correctly with probability 2/3.

    >>> from dpspec import verify_claim
    >>> flavour = FDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "f-dp"
    title: ClassVar[str] = "f-differential privacy: a trade-off curve for a budget"
    citation: ClassVar[str] = "Dong, Roth and Su, J. R. Stat. Soc. B 2022"
    reference: ClassVar[str] = "B-D30"
    changes: ClassVar[tuple[str, ...]] = ("output_divergence", "budget")

    def spec(self) -> PrivacySpec:
        return relaxed(TradeOffSteps(curve=_KNOTS), 1, parameter="steps")

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 2/3",
            mechanism=RandomisedResponse(keep_probability=Fraction(2, 3)),
            because="one report of the two: the errors (1/3, 1/3) of its best test lie on the curve",
        )

    def broken_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 3/4",
            mechanism=RandomisedResponse(keep_probability=Fraction(3, 4)),
            because="its ratio 3 is below the 4 that the curve allows at its ends, but its errors (1/4, 1/4) lie below the curve",
        )


CURVES: tuple[type[Flavour], ...] = (GaussianDP, FDP)
