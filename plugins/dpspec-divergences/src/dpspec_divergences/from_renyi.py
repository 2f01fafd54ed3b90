"""Conversions from Renyi privacy of one order: each is one step of the paths that start from concentrated privacy."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar, cast

from flint import arb

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.conversion import Conversion
from dpspec.exact import Bracket, Number, ball, ln
from dpspec.params import define
from dpspec_divergences.from_zcdp import CKS, ToF, delta_of, distance_from_entropy
from dpspec_divergences.losses import Pbdp
from dpspec_divergences.output import Renyi
from dpspec_divergences.solving import WORKING, enclosed

MIRONOV = "Mironov 2017"


def _order(source: OutputDivergence) -> Fraction:
    return cast("Renyi", source).order


@define
class RenyiToApproximate(Conversion):
    """epsilon = gamma + ln(1/delta)/(alpha - 1): Markov's inequality for e^((alpha - 1) L) (K-T13).

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import MultDelta
    >>> RenyiToApproximate().convert(Renyi(order=2), number("5.26"), MultDelta(delta="8.73865e-3")).upper.decimal()
    '10'
    """

    name: ClassVar[str] = "renyi-to-approximate"
    citation: ClassVar[str] = f"{MIRONOV}, Proposition 3; K-T13"
    source: ClassVar[str] = "renyi"
    target: ClassVar[str] = "mult-delta"
    formula: ClassVar[str] = "gamma + ln(1/delta)/(alpha - 1)"
    sense: ClassVar[str] = "Markov's inequality; renyi-to-approximate-cks is below it"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        delta, order = delta_of(target), _order(source)
        if delta == 0 or value.is_infinite:
            return None
        return enclosed(lambda: value.enclose(WORKING) + ln(1 / delta).enclose(WORKING) / ball(order - 1))


@define
class RenyiToPbdp(RenyiToApproximate):
    """epsilon = gamma + ln(1/delta)/(alpha - 1), for every post-processing of the output (K-T13).

    >>> from dpspec.exact import number
    >>> RenyiToPbdp().convert(Renyi(order=2), number("5.26"), Pbdp(delta="8.73865e-3")).upper.decimal()
    '10'
    """

    name: ClassVar[str] = "renyi-to-pbdp"
    citation: ClassVar[str] = "K-T13"
    target: ClassVar[str] = "pbdp"
    sense: ClassVar[str] = "Markov's inequality, kept by post-processing"

    def targets(self, source: OutputDivergence, goal: OutputDivergence) -> Iterator[OutputDivergence]:
        if 0 < delta_of(goal) <= 1:
            yield Pbdp(delta=delta_of(goal))


@define
class RenyiToProbabilistic(RenyiToApproximate):
    """epsilon = gamma + ln(1/delta)/(alpha - 1) for the raw tail of the privacy loss (K-T13).

    >>> from dpspec.exact import number
    >>> from dpspec_divergences.losses import PrivacyLoss
    >>> RenyiToProbabilistic().convert(Renyi(order=2), number("5.26"), PrivacyLoss(delta="8.73865e-3")).upper.decimal()
    '10'
    """

    name: ClassVar[str] = "renyi-to-probabilistic"
    citation: ClassVar[str] = "K-T13"
    target: ClassVar[str] = "probabilistic"
    sense: ClassVar[str] = "Markov's inequality for the tail of the loss"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        one_sided = getattr(target, "sides", None) == "one"
        return RenyiToApproximate().convert(source, value, target) if one_sided else None


@define
class RenyiToApproximateCks(RenyiToApproximate):
    """epsilon = gamma + ln(1 - 1/alpha) + ln(1/(alpha delta))/(alpha - 1).

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import MultDelta
    >>> RenyiToApproximateCks().convert(Renyi(order=2), number("5.26"), MultDelta(delta="8.73865e-3")).upper.decimal()
    '8.61371'
    """

    name: ClassVar[str] = "renyi-to-approximate-cks"
    citation: ClassVar[str] = f"{CKS}, Proposition 12"
    formula: ClassVar[str] = "gamma + ln(1 - 1/alpha) + ln(1/(alpha delta))/(alpha - 1)"
    sense: ClassVar[str] = "maximises the hockey stick over the loss at one point; close to the best that one order gives"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        delta, order = delta_of(target), _order(source)
        if delta == 0 or value.is_infinite:
            return None

        def bound() -> arb:
            log = ln(1 / (delta * order)).enclose(WORKING)
            return value.enclose(WORKING) + ln(1 - 1 / order).enclose(WORKING) + log / ball(order - 1)

        return enclosed(bound)


@define
class RenyiToRenyi(Conversion):
    """D_alpha never decreases in alpha: gamma at a larger order is gamma at a smaller one.

    >>> from dpspec.exact import number
    >>> str(RenyiToRenyi().convert(Renyi(order=4), number(1), Renyi(order=2)))
    '1'
    """

    name: ClassVar[str] = "renyi-to-renyi"
    citation: ClassVar[str] = "van Erven and Harremoes 2014, Theorem 3"
    source: ClassVar[str] = "renyi"
    target: ClassVar[str] = "renyi"
    formula: ClassVar[str] = "gamma, for smaller orders"
    sense: ClassVar[str] = "an order says little about another; a pair with a constant loss on its common part attains it"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return Bracket.exactly(value) if _order(target) <= _order(source) else None


@define
class RenyiToKl(ToF):
    """D_KL = D_1 <= D_alpha <= gamma.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import FDivergence
    >>> str(RenyiToKl().convert(Renyi(order=2), number(1), FDivergence(generator="kl", direction="both")))
    '1'
    """

    name: ClassVar[str] = "renyi-to-kl"
    citation: ClassVar[str] = "van Erven and Harremoes 2014, Theorem 3"
    source: ClassVar[str] = "renyi"
    generator: ClassVar[str] = "kl"
    formula: ClassVar[str] = "gamma"
    sense: ClassVar[str] = "equal only in the limit of a constant loss"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return None if value.is_infinite else Bracket.exactly(value)


@define
class RenyiToChiSquared(ToF):
    """chi-squared = e^(D_2) - 1 <= e^gamma - 1, for orders of at least 2.

    >>> from dpspec.exact import ln
    >>> from dpspec_divergences import FDivergence
    >>> target = FDivergence(generator="chi-squared", direction="both")
    >>> RenyiToChiSquared().convert(Renyi(order=2), ln(3), target).upper.decimal()
    '2'
    """

    name: ClassVar[str] = "renyi-to-chi-squared"
    citation: ClassVar[str] = "van Erven and Harremoes 2014, equation 7"
    source: ClassVar[str] = "renyi"
    generator: ClassVar[str] = "chi-squared"
    formula: ClassVar[str] = "e^gamma - 1, for alpha >= 2"
    tight: ClassVar[bool] = True
    sense: ClassVar[str] = "at alpha = 2 the same statement: every mechanism attains it"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        if value.is_infinite or _order(source) < 2:
            return None
        return enclosed(lambda: value.enclose(WORKING).expm1())


@define
class RenyiToHellinger(ToF):
    """The squared Hellinger distance is at most 1 - e^(-gamma/2), as D_(1/2) = -2 ln(1 - H^2) <= D_alpha <= gamma.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import FDivergence
    >>> target = FDivergence(generator="hellinger", direction="both")
    >>> RenyiToHellinger().convert(Renyi(order=2), number(2), target).upper.decimal()
    '0.632121'
    """

    name: ClassVar[str] = "renyi-to-hellinger"
    citation: ClassVar[str] = "van Erven and Harremoes 2014, Theorem 3"
    source: ClassVar[str] = "renyi"
    generator: ClassVar[str] = "hellinger"
    formula: ClassVar[str] = "1 - e^(-gamma/2)"
    sense: ClassVar[str] = "order 1/2 is bounded by the order at hand"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return None if value.is_infinite else enclosed(lambda: -(-value.enclose(WORKING) / 2).expm1())


@define
class RenyiToTotalVariation(Conversion):
    """The total variation is at most sqrt(gamma/2) (Pinsker) and sqrt(1 - e^-gamma) (Bretagnolle and Huber).

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import TotalVariation
    >>> RenyiToTotalVariation().convert(Renyi(order=2), number("0.02"), TotalVariation()).upper.decimal()
    '0.1'
    """

    name: ClassVar[str] = "renyi-to-total-variation"
    citation: ClassVar[str] = "Pinsker's inequality; Bretagnolle and Huber 1979"
    source: ClassVar[str] = "renyi"
    target: ClassVar[str] = "total-variation"
    formula: ClassVar[str] = "min(sqrt(gamma/2), sqrt(1 - e^-gamma))"
    sense: ClassVar[str] = "uses the Kullback-Leibler divergence alone"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return distance_from_entropy(value)


FROM_RENYI: tuple[type[Conversion], ...] = (
    RenyiToApproximate, RenyiToApproximateCks, RenyiToPbdp, RenyiToProbabilistic, RenyiToRenyi, RenyiToKl, RenyiToChiSquared,
    RenyiToHellinger, RenyiToTotalVariation,
)  # fmt: skip
