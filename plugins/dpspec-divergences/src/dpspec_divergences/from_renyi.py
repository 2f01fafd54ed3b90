"""Conversions from Renyi privacy of one order: each is one step of the paths that start from concentrated privacy."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar, cast

from flint import arb

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.conversion import Conversion
from dpspec.exact import Bracket, Number, ball, ln
from dpspec.laws.numeric import exponential, rational_exponential
from dpspec.params import define
from dpspec_divergences.from_zcdp import CKS, delta_of
from dpspec_divergences.losses import Pbdp
from dpspec_divergences.output import Renyi
from dpspec_divergences.solving import WORKING, enclosed
from dpspec_divergences.trade_off import HockeyStick

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
class RenyiToHockeyStick(Conversion):
    """The largest p - e^epsilon q of an event with p^alpha q^(1 - alpha) <= e^((alpha - 1) gamma), as one term of D_alpha asks.

    With r = e^(gamma - epsilon) and b = alpha/(alpha - 1) it is (r/b)^(alpha - 1)/alpha at p = (r/b)^(alpha - 1), and 1 - 1/r at
    p = 1 from r = b on.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import HockeyStick
    >>> [str(RenyiToHockeyStick().convert(Renyi(order=2), number(g), HockeyStick(epsilon="ln(3)"))) for g in ("ln(3)", "ln(9)")]
    ['1/4', '2/3']
    """

    name: ClassVar[str] = "renyi-to-hockey-stick"
    citation: ClassVar[str] = f"{CKS}, Proposition 12"
    source: ClassVar[str] = "renyi"
    target: ClassVar[str] = "hockey-stick"
    formula: ClassVar[str] = "max over p <= 1 of p - e^(epsilon - gamma) p^(alpha/(alpha - 1))"
    sense: ClassVar[str] = "the other event of the same two laws is left out; close for rare events"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        order, free = _order(source), cast("HockeyStick", target).epsilon
        if value.is_infinite or free.is_infinite:
            return None
        slope, exponent = order / (order - 1), value - free
        ratio = rational_exponential(exponent)
        if ratio is not None and order.denominator == 1:
            exact = 1 - 1 / ratio if ratio >= slope else (ratio / slope) ** int(order - 1) / order
            return Bracket.exactly(exact)
        if exponent >= ln(slope):
            return enclosed(lambda: 1 - exponential(-exponent, WORKING))
        return enclosed(lambda: (exponential(exponent, WORKING) / ball(slope)) ** ball(order - 1) / ball(order))


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


FROM_RENYI: tuple[type[Conversion], ...] = (
    RenyiToApproximate, RenyiToApproximateCks, RenyiToPbdp, RenyiToProbabilistic, RenyiToHockeyStick, RenyiToRenyi,
)  # fmt: skip
