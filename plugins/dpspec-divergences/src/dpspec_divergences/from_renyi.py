"""Conversions from concentrated privacy (zCDP) and from Renyi privacy of one order to other standards.

Every rho-concentrated mechanism satisfies what these say. A Gaussian one satisfies more, but that it is Gaussian does not follow
from rho: from concentrated privacy alone no Gaussian trade-off function follows; see `known`.

Each of those from one order is a step of the paths that start from concentrated privacy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import ClassVar, cast

from flint import arb, ctx

from dpspec.plugin import Bracket, Conversion, Number, OutputDivergence, PrivacySpec, define, errors, exact, grammar, laws, ln
from dpspec_divergences.losses import Pbdp
from dpspec_divergences.output import WORKING, Renyi, between, crossing, enclosed
from dpspec_divergences.trade_off import HockeyStick

BUN_STEINKE = "Bun and Steinke 2016"
CKS = "Canonne, Kamath and Steinke 2020"
ORDERS = tuple(Fraction(n, 4) for n in (5, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256))
"""The Renyi orders through which a path may go."""


row = partial(grammar.conversion, __name__)


def delta_of(target: OutputDivergence) -> Fraction:
    """The delta of a standard that has one; 0 for others."""
    return cast("Fraction", getattr(target, "delta", Fraction(0)))


class ToPbdp(Conversion):
    """Shared: what holds for every post-processing of the output, on the way to any standard with a delta."""

    def targets(self, source: OutputDivergence, goal: OutputDivergence) -> Iterator[OutputDivergence]:
        if 0 < delta_of(goal) <= 1:
            yield Pbdp(delta=delta_of(goal))


def _says(value: Number, target: OutputDivergence) -> bool:
    """Whether a bound on a tail says anything: of a finite budget, at a delta above 0, of losses on one side."""
    return not value.is_infinite and delta_of(target) > 0 and getattr(target, "sides", "one") == "one"


# --- from concentrated privacy --------------------------------------------------------------------


def _of_rho(formula: Callable[[arb, arb], Bracket | None]) -> grammar.BudgetFormula:
    """A formula of rho and ln(1/delta), which gives 0 for equal laws."""

    def convert(_source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        if not _says(value, target):
            return None
        return Bracket.exactly(0) if value == 0 else formula(value.enclose(WORKING), ln(1 / delta_of(target)).enclose(WORKING))

    return convert


def _tail(rho: arb, log: arb) -> Bracket:
    return enclosed(lambda: rho + 2 * (rho * log).sqrt())


def _integrated_tail(rho: arb, log: arb) -> Bracket:
    def excess(beyond: arb) -> arb:
        """ln of the bound over delta, for epsilon = rho + beyond."""
        slope = 1 + beyond / (2 * rho)
        return (2 / (slope + (slope**2 + 4 / (arb.pi() * rho)).sqrt())).log() - beyond**2 / (4 * rho) + log

    with ctx.workprec(WORKING):
        if not excess(arb(0)) > 0:
            return enclosed(lambda: rho)
    low, high = crossing(excess, Fraction(0))
    return enclosed(lambda: rho + between(low, high))


def _every_order(rho: arb, log: arb) -> Bracket | None:
    """The least value is at the only alpha with rho (alpha - 1)^2 + ln alpha = ln(1/delta), found between two points."""
    low, high = crossing(lambda beyond: log - rho * beyond**2 - (1 + beyond).log(), Fraction(0))
    if low == 0:
        return None

    def least() -> arb:
        beyond = between(low, high)
        order = 1 + beyond
        return order * rho + (beyond / order).log() + (log - order.log()) / beyond

    return enclosed(least)


def simple(rho: Number, delta: Fraction) -> Bracket | None:
    """rho + 2 sqrt(rho ln(1/delta)); None at delta = 0."""
    if delta == 0 or rho.is_infinite:
        return None
    return _tail(rho.enclose(WORKING), ln(1 / delta).enclose(WORKING))


SIMPLE = "rho + 2 sqrt(rho ln(1/delta))"


ZcdpToApproximate = row(
    "zcdp-to-approximate", "d-nor", "mult-delta", SIMPLE, _of_rho(_tail),
    citation=f"{BUN_STEINKE}, Proposition 1.3; Kifer et al. 2022, Section 5.3; Kazan 2025, Theorem 1",
    sense="bounds a tail of the loss, which no concentrated mechanism exhausts; the two improved formulas are below it",
    doc="""epsilon = rho + 2 sqrt(rho ln(1/delta)): the formula by which the Census Bureau's budgets are most often quoted.

    From the tail of the privacy loss, P(L > epsilon) <= e^(-(epsilon - rho)^2 / (4 rho)) (Kifer et al. 2022, Section 5.3), which
    is above delta.

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import DNor, MultDelta
    >>> ZcdpToApproximate().convert(DNor(), number("2.63"), MultDelta(delta="1e-10")).upper.decimal()
    '18.1938'
    """,
)  # fmt: skip
ZcdpToPbdp = row(
    "zcdp-to-pbdp", "d-nor", "pbdp", SIMPLE, _of_rho(_tail), base=ToPbdp,
    citation=f"{BUN_STEINKE}, Lemma 3.5; Kifer et al. 2022, Section 5.3",
    sense="a Chernoff bound on the tail of the loss, kept by post-processing",
    doc="""epsilon = rho + 2 sqrt(rho ln(1/delta)), for every post-processing of the output (Kifer et al. 2022, Section 5.3).

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import DNor
    >>> ZcdpToPbdp().convert(DNor(), number("2.63"), Pbdp(delta="1e-6")).upper.decimal()
    '14.6857'
    """,
)  # fmt: skip
ZcdpToProbabilistic = row(
    "zcdp-to-probabilistic", "d-nor", "probabilistic", SIMPLE, _of_rho(_tail),
    citation=f"{BUN_STEINKE}, Lemma 3.5; Kifer et al. 2022, Section 5.3",
    sense="a Chernoff bound on the tail of the loss",
    doc="""epsilon = rho + 2 sqrt(rho ln(1/delta)) for the raw tail of the privacy loss (Kifer et al. 2022, Section 5.3).

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import DNor
    >>> from dpspec_divergences.losses import LossTail
    >>> ZcdpToProbabilistic().convert(DNor(), number("2.63"), LossTail(delta="1e-6")).upper.decimal()
    '14.6857'
    """,
)  # fmt: skip
ZcdpToApproximateBunSteinke = row(
    "zcdp-to-approximate-bun-steinke", "d-nor", "mult-delta",
    "rho + t with delta = e^(-t^2/(4 rho)) 2/(c + sqrt(c^2 + 4/(pi rho))), c = 1 + t/(2 rho)", _of_rho(_integrated_tail),
    citation=f"{BUN_STEINKE}, Lemma 3.6",
    sense="integrates the tail instead of taking it at one point; zcdp-to-approximate-cks is below it",
    doc="""The epsilon = rho + t at which delta = e^(-t^2/(4 rho)) 2/(c + sqrt(c^2 + 4/(pi rho))), c = 1 + t/(2 rho), t >= 0.

    delta is the integral of e^-x P(L > epsilon + x) over x > 0, and the tail under it is bounded as in `zcdp-to-approximate`; the
    Gaussian integral that remains is bounded by Komatsu's inequality.

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import DNor, MultDelta
    >>> ZcdpToApproximateBunSteinke().convert(DNor(), number("2.63"), MultDelta(delta="1e-10")).upper.decimal()
    '17.7267'
    """,
)  # fmt: skip
ZcdpToApproximateCks = row(
    "zcdp-to-approximate-cks", "d-nor", "mult-delta",
    "inf over alpha > 1 of alpha rho + ln(1 - 1/alpha) + ln(1/(alpha delta))/(alpha - 1)", _of_rho(_every_order),
    citation=f"{CKS}, Corollary 13",
    sense="the best that each single Renyi order gives this way; no single mechanism attains all orders at once",
    doc="""epsilon = inf over alpha > 1 of alpha rho + ln(1 - 1/alpha) + ln(1/(alpha delta))/(alpha - 1).

    The least value is at the only alpha with rho (alpha - 1)^2 + ln alpha = ln(1/delta), found between two points.

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import DNor, MultDelta
    >>> ZcdpToApproximateCks().convert(DNor(), number("2.63"), MultDelta(delta="1e-10")).upper.decimal()
    '17.4306'
    """,
)  # fmt: skip


@define
class ZcdpToRenyi(Conversion):
    """gamma = alpha rho, for every order alpha > 1: the definition (Kifer et al. 2022, Definition 5.13).

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import DNor
    >>> str(ZcdpToRenyi().convert(DNor(), number("2.63"), Renyi(order=2)))
    '263/50'
    """

    name: ClassVar[str] = "zcdp-to-renyi"
    citation: ClassVar[str] = f"{BUN_STEINKE}, Definition 1.1; Kifer et al. 2022, Definition 5.13"
    source: ClassVar[str] = "d-nor"
    target: ClassVar[str] = "renyi"
    formula: ClassVar[str] = "alpha rho"
    tight: ClassVar[bool] = True
    sense: ClassVar[str] = "attained by Gaussian noise at every order; all orders together are the definition of rho"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return None if value.is_infinite else Bracket.exactly(value * cast("Renyi", target).order)

    def targets(self, source: OutputDivergence, goal: OutputDivergence) -> Iterator[OutputDivergence]:
        if goal.name == self.target:
            yield goal
        elif goal.name not in ("d-nor", "f-divergence"):
            yield from (Renyi(order=order) for order in ORDERS)

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[grammar.Step]:
        """Towards a Renyi budget alone: to the others there are better ways, and a search should not try every order."""
        if goal.output_divergence.name == self.target:
            yield from super().propose(premise, goal)


# --- from one order -------------------------------------------------------------------------------


MIRONOV = "Mironov 2017"


def _order(source: OutputDivergence) -> Fraction:
    return cast("Renyi", source).order


def _of_gamma(formula: Callable[[arb, Fraction, Fraction], arb]) -> grammar.BudgetFormula:
    """A formula of gamma, alpha and delta."""

    def convert(source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        if not _says(value, target):
            return None
        return enclosed(lambda: formula(value.enclose(WORKING), _order(source), delta_of(target)))

    return convert


def _markov(gamma: arb, order: Fraction, delta: Fraction) -> arb:
    return gamma + ln(1 / delta).enclose(WORKING) / exact.ball(order - 1)


def _one_point(gamma: arb, order: Fraction, delta: Fraction) -> arb:
    return gamma + ln(1 - 1 / order).enclose(WORKING) + ln(1 / (delta * order)).enclose(WORKING) / exact.ball(order - 1)


MARKOV = "gamma + ln(1/delta)/(alpha - 1)"

RenyiToApproximate = row(
    "renyi-to-approximate", "renyi", "mult-delta", MARKOV, _of_gamma(_markov),
    citation=f"{MIRONOV}, Proposition 3; Kifer et al. 2022, Section 5.3",
    sense="Markov's inequality; renyi-to-approximate-cks is below it",
    doc="""epsilon = gamma + ln(1/delta)/(alpha - 1): Markov's inequality for e^((alpha - 1) L) (Kifer et al. 2022, Section 5.3).

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import MultDelta
    >>> RenyiToApproximate().convert(Renyi(order=2), number("5.26"), MultDelta(delta="8.73865e-3")).upper.decimal()
    '10'
    """,
)  # fmt: skip
RenyiToPbdp = row(
    "renyi-to-pbdp", "renyi", "pbdp", MARKOV, _of_gamma(_markov), base=ToPbdp,
    citation="Kifer et al. 2022, Section 5.3",
    sense="Markov's inequality, kept by post-processing",
    doc="""epsilon = gamma + ln(1/delta)/(alpha - 1), for every post-processing of the output (Kifer et al. 2022, Section 5.3).

    >>> from dpspec.plugin import number
    >>> RenyiToPbdp().convert(Renyi(order=2), number("5.26"), Pbdp(delta="8.73865e-3")).upper.decimal()
    '10'
    """,
)  # fmt: skip
RenyiToProbabilistic = row(
    "renyi-to-probabilistic", "renyi", "probabilistic", MARKOV, _of_gamma(_markov),
    citation="Kifer et al. 2022, Section 5.3",
    sense="Markov's inequality for the tail of the loss",
    doc="""epsilon = gamma + ln(1/delta)/(alpha - 1) for the raw tail of the privacy loss (Kifer et al. 2022, Section 5.3).

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences.losses import LossTail
    >>> RenyiToProbabilistic().convert(Renyi(order=2), number("5.26"), LossTail(delta="8.73865e-3")).upper.decimal()
    '10'
    """,
)  # fmt: skip
RenyiToApproximateCks = row(
    "renyi-to-approximate-cks", "renyi", "mult-delta",
    "gamma + ln(1 - 1/alpha) + ln(1/(alpha delta))/(alpha - 1)", _of_gamma(_one_point),
    citation=f"{CKS}, Proposition 12",
    sense="maximises the hockey stick over the loss at one point; close to the best that one order gives",
    doc="""epsilon = gamma + ln(1 - 1/alpha) + ln(1/(alpha delta))/(alpha - 1).

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import MultDelta
    >>> RenyiToApproximateCks().convert(Renyi(order=2), number("5.26"), MultDelta(delta="8.73865e-3")).upper.decimal()
    '8.61371'
    """,
)  # fmt: skip


@define
class RenyiToHockeyStick(Conversion):
    """The largest p - e^epsilon q of an event with p^alpha q^(1 - alpha) <= e^((alpha - 1) gamma), as one term of D_alpha
    requires.

    With r = e^(gamma - epsilon) and b = alpha/(alpha - 1) it is (r/b)^(alpha - 1)/alpha at p = (r/b)^(alpha - 1), and 1 - 1/r at
    p = 1 from r = b on.

    >>> from dpspec.plugin import number
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
        try:
            slope, exponent = order / (order - 1), value - free
        except errors.NumericalError:  # a root and another number: their difference has no exact form
            return None
        ratio = laws.rational_exponential(exponent)
        if ratio is not None and order.denominator == 1:
            closed = 1 - 1 / ratio if ratio >= slope else (ratio / slope) ** int(order - 1) / order
            return Bracket.exactly(closed)
        if exponent >= ln(slope):
            return enclosed(lambda: 1 - laws.ball_exponential(-exponent, WORKING))
        return enclosed(
            lambda: (laws.ball_exponential(exponent, WORKING) / exact.ball(slope)) ** exact.ball(order - 1) / exact.ball(order)
        )


def _smaller_order(source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
    return Bracket.exactly(value) if _order(target) <= _order(source) else None


RenyiToRenyi = row(
    "renyi-to-renyi", "renyi", "renyi", "gamma, for smaller orders", _smaller_order,
    citation="van Erven and Harremoes 2014, Theorem 3",
    sense="an order says little about another; a pair with a constant loss on its common part attains it",
    doc="""D_alpha never decreases in alpha: gamma at a larger order is gamma at a smaller one.

    >>> from dpspec.plugin import number
    >>> str(RenyiToRenyi().convert(Renyi(order=4), number(1), Renyi(order=2)))
    '1'
    """,
)  # fmt: skip
