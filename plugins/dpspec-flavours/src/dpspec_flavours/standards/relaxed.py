"""Flavours that bound a mean or all but a small part of the privacy loss: approximate, Renyi, concentrated, hockey stick, D_f."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpspec_divergences import DNor, FDivergence, HockeyStick, MultDelta, Renyi
from dpspec_noise import DiscreteGaussian, Gaussian, RandomisedResponse

from dpspec.blocks.invariant import LinearMap
from dpspec.exact import ln, number
from dpspec.flavour import Example, Flavour
from dpspec.spec import PrivacySpec
from dpspec_flavours.mechanisms import ListedLaw, ListedLaws
from dpspec_flavours.standards.leak import RevealByChance
from dpspec_flavours.standards.pure import relaxed

_DELTA = Fraction(1, 100)
_RHO = Fraction(61, 100)
_TOTAL = LinearMap(rows=((1, 1),), label="total")
_FIRST = LinearMap(rows=((1, 0),), label="first")


class ApproximateDP(Flavour):
    """Approximate differential privacy: P_x(S) <= e^(epsilon d(x, x')) P_x'(S) + delta for all events S (B-D16).

    >>> from dpspec import verify_claim
    >>> flavour = ApproximateDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "approximate-dp"
    title: ClassVar[str] = "Approximate (epsilon, delta)-differential privacy"
    citation: ClassVar[str] = "Dwork, Kenthapadi, McSherry, Mironov and Naor, EUROCRYPT 2006"
    reference: ClassVar[str] = "B-D30, B-D16"
    changes: ClassVar[tuple[str, ...]] = ("output_divergence",)

    def spec(self) -> PrivacySpec:
        return relaxed(MultDelta(delta=_DELTA), ln(3))

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response with 3/4, but with probability 1/100 the data themselves",
            mechanism=RevealByChance(mechanism=RandomisedResponse(keep_probability=Fraction(3, 4)), chance=_DELTA),
            because="the answers have likelihood ratio 3, and what only one dataset can show has probability delta",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the same, with probability 1/50",
            mechanism=RevealByChance(mechanism=RandomisedResponse(keep_probability=Fraction(3, 4)), chance=2 * _DELTA),
            because="it publishes everything with probability 2 delta, which no epsilon makes up for",
        )


class RenyiDP(Flavour):
    """Renyi differential privacy of one order: D_2(P_x || P_x') <= epsilon d(x, x') (B-D17).

    >>> from dpspec import verify_claim
    >>> flavour = RenyiDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "renyi-dp"
    title: ClassVar[str] = "Renyi differential privacy of order 2"
    citation: ClassVar[str] = "Mironov, CSF 2017"
    reference: ClassVar[str] = "B-D30, B-D17"
    changes: ClassVar[tuple[str, ...]] = ("output_divergence",)

    def spec(self) -> PrivacySpec:
        return relaxed(Renyi(order=Fraction(2)), ln(3))

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 7/9",
            mechanism=RandomisedResponse(keep_probability=Fraction(7, 9)),
            because="D_2 = ln(39/14) < ln(3) for one answer, and adds up over answers, although the likelihood ratio is 7/2",
        )

    def broken_by(self) -> Example:
        return Example(
            title="Gaussian noise of variance 1 on the total",
            mechanism=Gaussian(queries=(_TOTAL,), neighbours="differ-in-one-position", variance=Fraction(1)),
            because="D_2 = 1 for neighbours, but it grows with the square: 4 > 2 ln(3) for two persons (B-S3)",
        )


class ZeroConcentratedDP(Flavour):
    """Zero-concentrated differential privacy: D_alpha(P_x || P_x') <= alpha rho d(x, x')^2 for all alpha > 1 (B-D18).

    >>> from dpspec import verify_claim
    >>> flavour = ZeroConcentratedDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "zero-concentrated-dp"
    title: ClassVar[str] = "Zero-concentrated differential privacy (zCDP)"
    citation: ClassVar[str] = "Bun and Steinke, TCC 2016"
    reference: ClassVar[str] = "B-D30, B-D18"
    changes: ClassVar[tuple[str, ...]] = ("output_divergence", "budget")

    def spec(self) -> PrivacySpec:
        return relaxed(DNor(), _RHO, parameter="rho")

    def satisfied_by(self) -> Example:
        return Example(
            title="discrete Gaussian noise of variance 50/61 on the total",
            mechanism=_discrete_gaussian(_TOTAL),
            because="rho = sensitivity^2 / (2 variance) = 61/100",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the same noise on two questions, the total and the first person's bit",
            mechanism=_discrete_gaussian(_TOTAL, _FIRST),
            because="each answer spends the whole budget, and the first person is in both: rho = 122/100",
        )


def _discrete_gaussian(*queries: LinearMap) -> DiscreteGaussian:
    return DiscreteGaussian(
        queries=queries, neighbours="differ-in-one-position", sensitivities=(number(1),) * len(queries), variance=1 / (2 * _RHO)
    )


class FDivergencePrivacy(Flavour):
    """Privacy in an f-divergence: D_f(P_x || P_x') <= c d(x, x'), here Kullback-Leibler in both directions.

    >>> from dpspec import verify_claim
    >>> flavour = FDivergencePrivacy()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "f-divergence-privacy"
    title: ClassVar[str] = "f-divergence privacy: Kullback-Leibler, both directions"
    citation: ClassVar[str] = "Barthe and Olmedo, ICALP 2013; Barber and Duchi, 2014"
    reference: ClassVar[str] = "B-D30"
    changes: ClassVar[tuple[str, ...]] = ("output_divergence", "budget")

    def spec(self) -> PrivacySpec:
        return relaxed(FDivergence(generator="kl", direction="both"), ln(3), parameter="divergence")

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 5/6",
            mechanism=RandomisedResponse(keep_probability=Fraction(5, 6)),
            because="the mean log-ratio is 2/3 ln(5) < ln(3) for one answer, and adds up, although the largest is ln(5)",
        )

    def broken_by(self) -> Example:
        return Example(
            title="each one is reported with probability 1/2, and else as a zero",
            mechanism=ListedLaws(laws=tuple(_thinned(bits) for bits in ((0, 0), (0, 1), (1, 0), (1, 1)))),
            because="D(P||Q) is ln(2) where P has a zero for a one of Q, but infinite the other way: a reported one is certain",
        )


def _thinned(bits: tuple[int, ...]) -> ListedLaw:
    """The total of the reports of two bits."""
    half = Fraction(1, 2)
    laws: dict[int, tuple[tuple[str, Fraction], ...]] = {
        0: (("00", Fraction(1)),),
        1: (("00", half), ("".join(map(str, bits)), half)),
        2: tuple((text, half**2) for text in ("00", "01", "10", "11")),
    }
    return ListedLaw(dataset=bits, law=laws[sum(bits)])


class HockeyStickDP(Flavour):
    """Privacy in the hockey-stick divergence: P_x(S) - e^epsilon P_x'(S) <= delta d(x, x') at one fixed epsilon.

    On neighbours it is approximate privacy; for two persons it allows 2 delta at epsilon instead of delta at 2 epsilon.

    >>> from dpspec import verify_claim
    >>> flavour = HockeyStickDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "hockey-stick-dp"
    title: ClassVar[str] = "Hockey-stick privacy: delta per person at a fixed epsilon"
    citation: ClassVar[str] = "Barthe and Olmedo, ICALP 2013"
    reference: ClassVar[str] = "B-D30"
    changes: ClassVar[tuple[str, ...]] = ("output_divergence", "budget")

    def spec(self) -> PrivacySpec:
        return relaxed(HockeyStick(epsilon=ln(3)), Fraction(1, 3), parameter="delta")

    def satisfied_by(self) -> Example:
        return Example(
            title="randomised response, truth with probability 5/6",
            mechanism=RandomisedResponse(keep_probability=Fraction(5, 6)),
            because="5/6 - 3 x 1/6 = 1/3 for one answer, and 25/36 - 3 x 1/36 = 2/3 for two",
        )

    def broken_by(self) -> Example:
        return Example(
            title="the same, but with probability 1/3 the data themselves",
            mechanism=RevealByChance(mechanism=RandomisedResponse(keep_probability=Fraction(5, 6)), chance=Fraction(1, 3)),
            because="the slack is spent twice, on answers beyond the ratio 3 and on the leak: 1/3 + 2/3 x 1/3",
        )


RELAXED: tuple[type[Flavour], ...] = (ApproximateDP, RenyiDP, ZeroConcentratedDP, FDivergencePrivacy, HockeyStickDP)
