"""Conversions from concentrated privacy (zCDP) to other standards.

Every rho-concentrated mechanism satisfies what these say. A Gaussian one satisfies more, but that it is Gaussian does not follow
from rho: from concentrated privacy alone no Gaussian trade-off function follows (K-S21); see `known`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar, cast

from flint import arb, ctx

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.conversion import Conversion
from dpspec.exact import Bracket, Number, ln
from dpspec.params import define
from dpspec.rule import Step
from dpspec.spec import PrivacySpec
from dpspec_divergences.f_divergence import FDivergence
from dpspec_divergences.losses import Pbdp
from dpspec_divergences.output import Renyi
from dpspec_divergences.solving import WORKING, between, crossing, enclosed

BUN_STEINKE = "Bun and Steinke 2016"
CKS = "Canonne, Kamath and Steinke 2020"
ORDERS = tuple(Fraction(n, 4) for n in (5, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256))
"""The Renyi orders through which a path may go."""


def delta_of(target: OutputDivergence) -> Fraction:
    """The delta of a standard that has one; 0 for others."""
    return cast("Fraction", getattr(target, "delta", Fraction(0)))


def simple(rho: Number, delta: Fraction) -> Bracket | None:
    """rho + 2 sqrt(rho ln(1/delta)); None at delta = 0."""
    if delta == 0 or rho.is_infinite:
        return None
    return enclosed(lambda: rho.enclose(WORKING) + 2 * (rho.enclose(WORKING) * ln(1 / delta).enclose(WORKING)).sqrt())


@define
class ZcdpToApproximate(Conversion):
    """epsilon = rho + 2 sqrt(rho ln(1/delta)): the formula by which the Census Bureau's budgets are most often quoted (B-X5).

    From the tail of the privacy loss, P(L > epsilon) <= e^(-(epsilon - rho)^2 / (4 rho)) (K-T13), which is above delta.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import DNor, MultDelta
    >>> ZcdpToApproximate().convert(DNor(), number("2.63"), MultDelta(delta="1e-10")).upper.decimal()
    '18.1938'
    """

    name: ClassVar[str] = "zcdp-to-approximate"
    citation: ClassVar[str] = f"{BUN_STEINKE}, Proposition 1.3; K-T13, Z-section 2.5"
    source: ClassVar[str] = "d-nor"
    target: ClassVar[str] = "mult-delta"
    formula: ClassVar[str] = "rho + 2 sqrt(rho ln(1/delta))"
    sense: ClassVar[str] = (
        "bounds a tail of the loss, which no concentrated mechanism exhausts; the two improved formulas are below it"
    )

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return simple(value, delta_of(target))


@define
class ZcdpToPbdp(ZcdpToApproximate):
    """epsilon = rho + 2 sqrt(rho ln(1/delta)), for every post-processing of the output (K-T13).

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import DNor
    >>> ZcdpToPbdp().convert(DNor(), number("2.63"), Pbdp(delta="1e-6")).upper.decimal()
    '14.6857'
    """

    name: ClassVar[str] = "zcdp-to-pbdp"
    citation: ClassVar[str] = f"{BUN_STEINKE}, Lemma 3.5; K-T13"
    target: ClassVar[str] = "pbdp"
    sense: ClassVar[str] = "a Chernoff bound on the tail of the loss, kept by post-processing"

    def targets(self, source: OutputDivergence, goal: OutputDivergence) -> Iterator[OutputDivergence]:
        if 0 < delta_of(goal) <= 1:
            yield Pbdp(delta=delta_of(goal))


@define
class ZcdpToProbabilistic(ZcdpToApproximate):
    """epsilon = rho + 2 sqrt(rho ln(1/delta)) for the raw tail of the privacy loss (K-T13).

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import DNor
    >>> from dpspec_divergences.losses import PrivacyLoss
    >>> ZcdpToProbabilistic().convert(DNor(), number("2.63"), PrivacyLoss(delta="1e-6")).upper.decimal()
    '14.6857'
    """

    name: ClassVar[str] = "zcdp-to-probabilistic"
    citation: ClassVar[str] = f"{BUN_STEINKE}, Lemma 3.5; K-T13"
    target: ClassVar[str] = "probabilistic"
    sense: ClassVar[str] = "a Chernoff bound on the tail of the loss"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return simple(value, delta_of(target)) if getattr(target, "sides", None) == "one" else None


@define
class ZcdpToApproximateBunSteinke(ZcdpToApproximate):
    """The epsilon = rho + t at which delta = e^(-t^2/(4 rho)) 2/(c + sqrt(c^2 + 4/(pi rho))), c = 1 + t/(2 rho), t >= 0.

    delta is the integral of e^-x P(L > epsilon + x) over x > 0, and the tail under it is bounded as in `zcdp-to-approximate`; the
    Gaussian integral that remains is bounded by Komatsu's inequality.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import DNor, MultDelta
    >>> ZcdpToApproximateBunSteinke().convert(DNor(), number("2.63"), MultDelta(delta="1e-10")).upper.decimal()
    '17.7267'
    """

    name: ClassVar[str] = "zcdp-to-approximate-bun-steinke"
    citation: ClassVar[str] = f"{BUN_STEINKE}, Lemma 3.6"
    formula: ClassVar[str] = "rho + t with delta = e^(-t^2/(4 rho)) 2/(c + sqrt(c^2 + 4/(pi rho))), c = 1 + t/(2 rho)"
    sense: ClassVar[str] = "integrates the tail instead of taking it at one point; zcdp-to-approximate-cks is below it"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        delta = delta_of(target)
        if delta == 0 or value.is_infinite:
            return None
        if value == 0:
            return Bracket.exactly(0)
        with ctx.workprec(WORKING):
            rho, log = value.enclose(WORKING), ln(1 / delta).enclose(WORKING)

        def excess(beyond: arb) -> arb:
            """ln of the bound over delta, for epsilon = rho + beyond."""
            slope = 1 + beyond / (2 * rho)
            return (2 / (slope + (slope**2 + 4 / (arb.pi() * rho)).sqrt())).log() - beyond**2 / (4 * rho) + log

        with ctx.workprec(WORKING):
            if not excess(arb(0)) > 0:
                return enclosed(lambda: rho)
        low, high = crossing(excess, Fraction(0))
        return enclosed(lambda: rho + between(low, high))


@define
class ZcdpToApproximateCks(ZcdpToApproximate):
    """epsilon = inf over alpha > 1 of alpha rho + ln(1 - 1/alpha) + ln(1/(alpha delta))/(alpha - 1).

    The least value is at the only alpha with rho (alpha - 1)^2 + ln alpha = ln(1/delta), found between two points.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import DNor, MultDelta
    >>> ZcdpToApproximateCks().convert(DNor(), number("2.63"), MultDelta(delta="1e-10")).upper.decimal()
    '17.4306'
    """

    name: ClassVar[str] = "zcdp-to-approximate-cks"
    citation: ClassVar[str] = f"{CKS}, Corollary 13"
    formula: ClassVar[str] = "inf over alpha > 1 of alpha rho + ln(1 - 1/alpha) + ln(1/(alpha delta))/(alpha - 1)"
    sense: ClassVar[str] = "the best that each single Renyi order gives this way; no single mechanism attains all orders at once"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        delta = delta_of(target)
        if delta == 0 or value.is_infinite:
            return None
        if value == 0:
            return Bracket.exactly(0)
        with ctx.workprec(WORKING):
            rho, log = value.enclose(WORKING), ln(1 / delta).enclose(WORKING)
        low, high = crossing(lambda beyond: log - rho * beyond**2 - (1 + beyond).log(), Fraction(0))
        if low == 0:
            return None

        def least() -> arb:
            beyond = between(low, high)
            order = 1 + beyond
            return order * rho + (beyond / order).log() + (log - order.log()) / beyond

        return enclosed(least)


@define
class ZcdpToRenyi(Conversion):
    """gamma = alpha rho, for every order alpha > 1: the definition (K-D17).

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import DNor
    >>> str(ZcdpToRenyi().convert(DNor(), number("2.63"), Renyi(order=2)))
    '263/50'
    """

    name: ClassVar[str] = "zcdp-to-renyi"
    citation: ClassVar[str] = f"{BUN_STEINKE}, Definition 1.1; K-D17, K-T14"
    source: ClassVar[str] = "d-nor"
    target: ClassVar[str] = "renyi"
    formula: ClassVar[str] = "alpha rho"
    tight: ClassVar[bool] = True
    sense: ClassVar[str] = "attained by Gaussian noise at every order; all orders together are the definition of rho"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return None if value.is_infinite else scaled(value, cast("Renyi", target).order)

    def targets(self, source: OutputDivergence, goal: OutputDivergence) -> Iterator[OutputDivergence]:
        if goal.name == self.target:
            yield goal
        elif goal.name not in ("d-nor", "f-divergence"):
            yield from (Renyi(order=order) for order in ORDERS)

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        """Towards a Renyi budget alone: to the others there are better ways, and a search should not try every order."""
        if goal.output_divergence.name == self.target:
            yield from super().propose(premise, goal)


def scaled(value: Number, factor: Fraction) -> Bracket:
    """A multiple, in its exact form where it has one."""
    return Bracket.exactly(value * factor)


class ToF(Conversion):
    """Shared: to the f-divergences of one generator, in any direction."""

    target: ClassVar[str] = "f-divergence"
    generator: ClassVar[str]

    def targets(self, source: OutputDivergence, goal: OutputDivergence) -> Iterator[OutputDivergence]:
        if isinstance(goal, FDivergence) and goal.generator == self.generator:
            yield goal


@define
class ZcdpToKl(ToF):
    """D_KL <= rho: the Renyi divergence alpha rho in the limit alpha = 1.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import DNor
    >>> str(ZcdpToKl().convert(DNor(), number("2.63"), FDivergence(generator="kl", direction="both")))
    '263/100'
    """

    name: ClassVar[str] = "zcdp-to-kl"
    citation: ClassVar[str] = f"{BUN_STEINKE}, Definition 1.1, at the limit of the orders"
    source: ClassVar[str] = "d-nor"
    generator: ClassVar[str] = "kl"
    formula: ClassVar[str] = "rho"
    tight: ClassVar[bool] = True
    sense: ClassVar[str] = "attained by Gaussian noise"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return None if value.is_infinite else Bracket.exactly(value)


@define
class ZcdpToChiSquared(ToF):
    """chi-squared <= e^(2 rho) - 1, as D_2 = ln(1 + chi-squared) <= 2 rho.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import DNor
    >>> target = FDivergence(generator="chi-squared", direction="both")
    >>> ZcdpToChiSquared().convert(DNor(), number("1/2"), target).upper.decimal()
    '1.71828'
    """

    name: ClassVar[str] = "zcdp-to-chi-squared"
    citation: ClassVar[str] = f"{BUN_STEINKE}, Definition 1.1, at alpha = 2"
    source: ClassVar[str] = "d-nor"
    generator: ClassVar[str] = "chi-squared"
    formula: ClassVar[str] = "e^(2 rho) - 1"
    tight: ClassVar[bool] = True
    sense: ClassVar[str] = "attained by Gaussian noise"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return None if value.is_infinite else enclosed(lambda: (2 * value.enclose(WORKING)).exp() - 1)


@define
class ZcdpToHellinger(ToF):
    """The squared Hellinger distance is at most 1 - e^(-rho/2), as D_(1/2) = -2 ln(1 - H^2) <= D_1 <= rho.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import DNor
    >>> target = FDivergence(generator="hellinger", direction="both")
    >>> ZcdpToHellinger().convert(DNor(), number(2), target).upper.decimal()
    '0.632121'
    """

    name: ClassVar[str] = "zcdp-to-hellinger"
    citation: ClassVar[str] = "van Erven and Harremoes 2014, Theorem 3: Renyi divergences grow with the order"
    source: ClassVar[str] = "d-nor"
    generator: ClassVar[str] = "hellinger"
    formula: ClassVar[str] = "1 - e^(-rho/2)"
    sense: ClassVar[str] = "order 1/2 is bounded by order 1; Gaussian noise has 1 - e^(-rho/4)"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return None if value.is_infinite else enclosed(lambda: -(-value.enclose(WORKING) / 2).expm1())


def distance_from_entropy(entropy: Number) -> Bracket:
    """The smaller of sqrt(x/2) (Pinsker) and sqrt(1 - e^-x) (Bretagnolle and Huber): the largest total variation at D_KL = x."""
    if entropy.is_infinite:
        return Bracket.exactly(1)
    size = entropy.enclose(WORKING)
    return enclosed(lambda: (size / 2).sqrt().min((-(-size).expm1()).sqrt()))


@define
class ZcdpToTotalVariation(Conversion):
    """The total variation is at most sqrt(rho/2) (Pinsker) and sqrt(1 - e^-rho) (Bretagnolle and Huber), as D_KL <= rho.

    >>> from dpspec.exact import number
    >>> from dpspec_divergences import DNor, TotalVariation
    >>> ZcdpToTotalVariation().convert(DNor(), number("2.63"), TotalVariation()).upper.decimal()
    '0.963287'
    """

    name: ClassVar[str] = "zcdp-to-total-variation"
    citation: ClassVar[str] = "Pinsker's inequality; Bretagnolle and Huber 1979"
    source: ClassVar[str] = "d-nor"
    target: ClassVar[str] = "total-variation"
    formula: ClassVar[str] = "min(sqrt(rho/2), sqrt(1 - e^-rho))"
    sense: ClassVar[str] = "uses the Kullback-Leibler divergence alone; Gaussian noise has 2 Phi(sqrt(rho/2)) - 1"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return distance_from_entropy(value)


FROM_ZCDP: tuple[type[Conversion], ...] = (
    ZcdpToApproximate, ZcdpToApproximateBunSteinke, ZcdpToApproximateCks, ZcdpToPbdp, ZcdpToProbabilistic, ZcdpToRenyi, ZcdpToKl,
    ZcdpToChiSquared, ZcdpToHellinger, ZcdpToTotalVariation,
)  # fmt: skip
