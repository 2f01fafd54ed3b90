"""Conversions between tails of the privacy loss, approximate privacy and f-divergences, and from pure to concentrated privacy."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar, cast

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.conversion import Conversion
from dpspec.exact import INFINITY, Bracket, Number, ball, ln, number
from dpspec.params import define
from dpspec_divergences.f_divergence import FDivergence
from dpspec_divergences.from_entropy import distance_from_entropy
from dpspec_divergences.from_zcdp import BUN_STEINKE, delta_of
from dpspec_divergences.losses import PrivacyLoss
from dpspec_divergences.output import Renyi
from dpspec_divergences.solving import WORKING, enclosed


@define
class PureToZcdp(Conversion):
    """rho = epsilon^2/2.

    >>> from dpspec_divergences import DNor, Mult
    >>> str(PureToZcdp().convert(Mult(), number("1/2"), DNor()))
    '1/8'
    """

    name: ClassVar[str] = "pure-to-zcdp-simple"
    citation: ClassVar[str] = f"{BUN_STEINKE}, Proposition 1.4; stated as external in K-section 6"
    source: ClassVar[str] = "mult"
    target: ClassVar[str] = "d-nor"
    formula: ClassVar[str] = "epsilon^2/2"
    sense: ClassVar[str] = "approached as epsilon goes to 0; the largest is epsilon tanh(epsilon/2), see pure-to-zcdp"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        if value.is_infinite:
            return None
        if value.is_rational or value.root == 2:
            return Bracket.exactly(value.squared() * Fraction(1, 2))
        return enclosed(lambda: value.enclose(WORKING) ** 2 / 2)


class _SameNumbers(Conversion):
    """Shared: the same epsilon at a delta that is no smaller."""

    formula: ClassVar[str] = "the same epsilon and delta"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return Bracket.exactly(value) if delta_of(source) <= delta_of(target) else None

    def attained(self, source: OutputDivergence, target: OutputDivergence) -> bool:
        return self.tight and delta_of(source) == delta_of(target)


@define
class PbdpToApproximate(_SameNumbers):
    """(epsilon, delta)-pbdp is (epsilon, delta)-approximately private (K-T32).

    >>> from dpspec_divergences import MultDelta, Pbdp
    >>> str(PbdpToApproximate().convert(Pbdp(delta="0.1"), number(1), MultDelta(delta="0.1")))
    '1'
    """

    name: ClassVar[str] = "pbdp-to-approximate"
    citation: ClassVar[str] = "K-T32, K-T13"
    source: ClassVar[str] = "pbdp"
    target: ClassVar[str] = "mult-delta"
    sense: ClassVar[str] = "the approximate delta is below the tail of the loss, and that below the delta of pbdp"


@define
class PbdpToProbabilistic(_SameNumbers):
    """(epsilon, delta)-pbdp bounds the tail of the loss of the output itself (K-D10).

    >>> from dpspec_divergences import Pbdp
    >>> str(PbdpToProbabilistic().convert(Pbdp(delta="0.1"), number(1), PrivacyLoss(delta="0.1")))
    '1'
    """

    name: ClassVar[str] = "pbdp-to-probabilistic"
    citation: ClassVar[str] = "K-D10, K-T32"
    source: ClassVar[str] = "pbdp"
    target: ClassVar[str] = "probabilistic"
    tight: ClassVar[bool] = True
    sense: ClassVar[str] = "attained by randomised response"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return super().convert(source, value, target) if cast("PrivacyLoss", target).sides == "one" else None


@define
class ProbabilisticToApproximate(_SameNumbers):
    """(epsilon, delta)-probabilistic privacy is approximate privacy; the converse is false for delta > 0 (Z-T23).

    >>> from dpspec_divergences import MultDelta
    >>> str(ProbabilisticToApproximate().convert(PrivacyLoss(delta="0.1"), number(1), MultDelta(delta="0.1")))
    '1'
    """

    name: ClassVar[str] = "probabilistic-to-approximate"
    citation: ClassVar[str] = "Z-T23, K-T32"
    source: ClassVar[str] = "probabilistic"
    target: ClassVar[str] = "mult-delta"
    tight: ClassVar[bool] = True
    sense: ClassVar[str] = "attained by giving everything away with probability delta, and else randomised response"


@define
class ApproximateToProbabilistic(Conversion):
    """At a larger delta', epsilon' = ln(delta' e^epsilon + delta) - ln(delta' - delta).

    On one side alone, epsilon' = epsilon + ln(delta'/(delta' - delta)).

    Equivalent to delta' = delta (1 + e^-epsilon')/(1 - e^(epsilon - epsilon')) of Zhao et al. 2019.

    >>> from dpspec_divergences import MultDelta
    >>> target = PrivacyLoss(delta="1/2", sides="both")
    >>> ApproximateToProbabilistic().convert(MultDelta(delta="1/4"), ln(3), target).upper.decimal()
    '1.94591'
    """

    name: ClassVar[str] = "approximate-to-probabilistic"
    citation: ClassVar[str] = "Z-T35; Zhao et al. 2019"
    source: ClassVar[str] = "mult-delta"
    target: ClassVar[str] = "probabilistic"
    formula: ClassVar[str] = "ln((delta' e^epsilon + delta)/(delta' - delta)), on one side epsilon + ln(delta'/(delta' - delta))"
    sense: ClassVar[str] = "on one side attained by an event of probability delta' and delta' e^-epsilon', while that leaves room"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        old, new = delta_of(source), delta_of(target)
        if value.is_infinite:
            return None
        if old == 0:
            return Bracket.exactly(value)
        if new <= old:
            return Bracket.exactly(INFINITY)
        least = old if cast("PrivacyLoss", target).sides == "both" else Fraction(0)
        return enclosed(lambda: (ball(new) * value.enclose(WORKING).exp() + ball(least)).log() - ball(new - old).log())


@define
class ChiSquaredToRenyi(Conversion):
    """D_2 = ln(1 + chi-squared); smaller orders are below.

    >>> target = Renyi(order=2)
    >>> ChiSquaredToRenyi().convert(FDivergence(generator="chi-squared", direction="both"), number(2), target).upper.decimal()
    '1.09861'
    """

    name: ClassVar[str] = "chi-squared-to-renyi"
    citation: ClassVar[str] = "van Erven and Harremoes 2014, equation 7"
    source: ClassVar[str] = "f-divergence"
    target: ClassVar[str] = "renyi"
    formula: ClassVar[str] = "ln(1 + chi-squared), for alpha <= 2"
    tight: ClassVar[bool] = True
    sense: ClassVar[str] = "at alpha = 2 the same statement: every mechanism attains it"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        given = cast("FDivergence", source)
        fits = given.generator == "chi-squared" and given.direction == "both" and cast("Renyi", target).order <= 2
        if not fits or value.is_infinite:
            return None
        return (
            Bracket.exactly(ln(1 + value.as_fraction()))
            if value.is_rational
            else enclosed(lambda: value.enclose(WORKING).log1p())
        )

    def attained(self, source: OutputDivergence, target: OutputDivergence) -> bool:
        return cast("Renyi", target).order == 2

    def targets(self, source: OutputDivergence, goal: OutputDivergence) -> Iterator[OutputDivergence]:
        yield goal if goal.name == self.target else Renyi(order=Fraction(2))


@define
class FToTotalVariation(Conversion):
    """From D_KL: min(sqrt(x/2), sqrt(1 - e^-x)). From the squared Hellinger distance sqrt(x (2 - x)), from chi-squared sqrt(x)/2.

    >>> from dpspec_divergences import TotalVariation
    >>> given = FDivergence(generator="hellinger", direction="both")
    >>> FToTotalVariation().convert(given, number("1/2"), TotalVariation()).upper.decimal()
    '0.866025'
    """

    name: ClassVar[str] = "f-divergence-to-total-variation"
    citation: ClassVar[str] = "Pinsker; Bretagnolle and Huber 1979; Le Cam 1986; Cauchy and Schwarz"
    source: ClassVar[str] = "f-divergence"
    target: ClassVar[str] = "total-variation"
    formula: ClassVar[str] = "kl: min(sqrt(x/2), sqrt(1 - e^-x)); hellinger: sqrt(x (2 - x)); chi-squared: sqrt(x)/2"
    sense: ClassVar[str] = "classical inequalities; equal in the limits of no and of complete information"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        generator = cast("FDivergence", source).generator
        if generator == "kl":
            return distance_from_entropy(value)
        if value >= 1 and generator == "hellinger":
            return Bracket.exactly(1)
        if generator == "hellinger":
            return enclosed(lambda: value.enclose(WORKING).sqrt() * (2 - value.enclose(WORKING)).sqrt())
        if generator == "chi-squared" and not value.is_infinite:
            return enclosed(lambda: value.enclose(WORKING).sqrt() / 2)
        return Bracket.exactly(min(value, number(1))) if generator == "total-variation" else None


FROM_LOSSES: tuple[type[Conversion], ...] = (
    PureToZcdp, PbdpToApproximate, PbdpToProbabilistic, ProbabilisticToApproximate, ApproximateToProbabilistic, ChiSquaredToRenyi,
    FToTotalVariation,
)  # fmt: skip
