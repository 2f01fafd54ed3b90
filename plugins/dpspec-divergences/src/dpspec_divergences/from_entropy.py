"""Conversions by classical inequalities: to f-divergences and total variation, and between tails of the privacy loss.

They lead from concentrated and Renyi privacy to f-divergences, from tails of the loss to approximate privacy and f-divergences,
and from pure to concentrated privacy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import ClassVar, cast

from dpspec.plugin import Bracket, Conversion, Number, OutputDivergence, define, exact, grammar, is_a, ln, number
from dpspec_divergences.f_divergence import FDivergence
from dpspec_divergences.from_renyi import BUN_STEINKE, delta_of
from dpspec_divergences.losses import LossTail
from dpspec_divergences.output import WORKING, Renyi, enclosed

row = partial(grammar.conversion, __name__)


# --- to f-divergences and total variation ---------------------------------------------------------


def _generator_is(target: OutputDivergence, generator: str) -> bool:
    return is_a(target, FDivergence) and target.generator == generator


class ToF(Conversion):
    """Shared: to the f-divergences of one generator, in any direction."""

    generator: ClassVar[str]

    def targets(self, source: OutputDivergence, goal: OutputDivergence) -> Iterator[OutputDivergence]:
        if _generator_is(goal, self.generator):
            yield goal


def _to_f(
    name: str, source: str, generator: str, formula: str, bound: Callable[[Number], Bracket], *,
    doc: str, citation: str, sense: str, tight: bool = False,
) -> type[Conversion]:  # fmt: skip
    """A row with a formula of a finite rho or gamma, for the f-divergences of one generator."""

    def value(_source: OutputDivergence, budget: Number, target: OutputDivergence) -> Bracket | None:
        return bound(budget) if _generator_is(target, generator) and not budget.is_infinite else None

    return row(
        name, source, "f-divergence", formula, value, base=ToF, generator=generator,
        doc=doc, citation=citation, sense=sense, tight=tight,
    )  # fmt: skip


def _hellinger(entropy: Number) -> Bracket:
    return enclosed(lambda: -(-entropy.enclose(WORKING) / 2).expm1())


def distance_from_entropy(entropy: Number) -> Bracket:
    """The smaller of sqrt(x/2) (Pinsker) and sqrt(1 - e^-x) (Bretagnolle and Huber): the largest total variation at D_KL = x."""
    if entropy.is_infinite:
        return Bracket.exactly(1)
    size = entropy.enclose(WORKING)
    return enclosed(lambda: (size / 2).sqrt().min((-(-size).expm1()).sqrt()))


ZcdpToKl = _to_f(
    "zcdp-to-kl", "d-nor", "kl", "rho", Bracket.exactly, tight=True,
    citation=f"{BUN_STEINKE}, Definition 1.1, at the limit of the orders",
    sense="attained by Gaussian noise",
    doc="""D_KL <= rho: the Renyi divergence alpha rho in the limit alpha = 1.

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import DNor
    >>> str(ZcdpToKl().convert(DNor(), number("2.63"), FDivergence(generator="kl", direction="both")))
    '263/100'
    """,
)  # fmt: skip
ZcdpToChiSquared = _to_f(
    "zcdp-to-chi-squared", "d-nor", "chi-squared", "e^(2 rho) - 1",
    lambda rho: enclosed(lambda: (2 * rho.enclose(WORKING)).expm1()), tight=True,  # noqa: PLW0108 - at the working precision
    citation=f"{BUN_STEINKE}, Definition 1.1, at alpha = 2",
    sense="attained by Gaussian noise",
    doc="""chi-squared <= e^(2 rho) - 1, as D_2 = ln(1 + chi-squared) <= 2 rho.

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import DNor
    >>> target = FDivergence(generator="chi-squared", direction="both")
    >>> ZcdpToChiSquared().convert(DNor(), number("1/2"), target).upper.decimal()
    '1.71828'
    """,
)  # fmt: skip
ZcdpToHellinger = _to_f(
    "zcdp-to-hellinger", "d-nor", "hellinger", "1 - e^(-rho/2)", _hellinger,
    citation="van Erven and Harremoes 2014, Theorem 3: Renyi divergences grow with the order",
    sense="order 1/2 is bounded by order 1; Gaussian noise has 1 - e^(-rho/4)",
    doc="""The squared Hellinger distance is at most 1 - e^(-rho/2), as D_(1/2) = -2 ln(1 - H^2) <= D_1 <= rho.

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import DNor
    >>> target = FDivergence(generator="hellinger", direction="both")
    >>> ZcdpToHellinger().convert(DNor(), number(2), target).upper.decimal()
    '0.632121'
    """,
)  # fmt: skip
ZcdpToTotalVariation = row(
    "zcdp-to-total-variation", "d-nor", "total-variation", "min(sqrt(rho/2), sqrt(1 - e^-rho))",
    lambda _source, value, _target: distance_from_entropy(value),
    citation="Pinsker's inequality; Bretagnolle and Huber 1979",
    sense="uses the Kullback-Leibler divergence alone; Gaussian noise has 2 Phi(sqrt(rho/2)) - 1",
    doc="""The total variation is at most sqrt(rho/2) (Pinsker) and sqrt(1 - e^-rho) (Bretagnolle and Huber), as D_KL <= rho.

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import DNor, TotalVariation
    >>> ZcdpToTotalVariation().convert(DNor(), number("2.63"), TotalVariation()).upper.decimal()
    '0.963287'
    """,
)  # fmt: skip
RenyiToKl = _to_f(
    "renyi-to-kl", "renyi", "kl", "gamma", Bracket.exactly,
    citation="van Erven and Harremoes 2014, Theorem 3",
    sense="equal only in the limit of a constant loss",
    doc="""D_KL = D_1 <= D_alpha <= gamma.

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import FDivergence
    >>> str(RenyiToKl().convert(Renyi(order=2), number(1), FDivergence(generator="kl", direction="both")))
    '1'
    """,
)  # fmt: skip
RenyiToHellinger = _to_f(
    "renyi-to-hellinger", "renyi", "hellinger", "1 - e^(-gamma/2)", _hellinger,
    citation="van Erven and Harremoes 2014, Theorem 3",
    sense="order 1/2 is bounded by the order at hand",
    doc="""The squared Hellinger distance is at most 1 - e^(-gamma/2), as D_(1/2) = -2 ln(1 - H^2) <= D_alpha <= gamma.

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import FDivergence
    >>> target = FDivergence(generator="hellinger", direction="both")
    >>> RenyiToHellinger().convert(Renyi(order=2), number(2), target).upper.decimal()
    '0.632121'
    """,
)  # fmt: skip
RenyiToTotalVariation = row(
    "renyi-to-total-variation", "renyi", "total-variation", "min(sqrt(gamma/2), sqrt(1 - e^-gamma))",
    lambda _source, value, _target: distance_from_entropy(value),
    citation="Pinsker's inequality; Bretagnolle and Huber 1979",
    sense="uses the Kullback-Leibler divergence alone",
    doc="""The total variation is at most sqrt(gamma/2) (Pinsker) and sqrt(1 - e^-gamma) (Bretagnolle and Huber).

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import TotalVariation
    >>> RenyiToTotalVariation().convert(Renyi(order=2), number("0.02"), TotalVariation()).upper.decimal()
    '0.1'
    """,
)  # fmt: skip


@define
class RenyiToChiSquared(ToF):
    """chi-squared = e^(D_2) - 1 <= e^gamma - 1, for orders of at least 2.

    >>> from dpspec.plugin import ln
    >>> from dpspec_divergences import FDivergence
    >>> target = FDivergence(generator="chi-squared", direction="both")
    >>> RenyiToChiSquared().convert(Renyi(order=2), ln(3), target).upper.decimal()
    '2'
    """

    name: ClassVar[str] = "renyi-to-chi-squared"
    citation: ClassVar[str] = "van Erven and Harremoes 2014, equation 7"
    source: ClassVar[str] = "renyi"
    target: ClassVar[str] = "f-divergence"
    generator: ClassVar[str] = "chi-squared"
    formula: ClassVar[str] = "e^gamma - 1, for alpha >= 2"
    tight: ClassVar[bool] = True
    sense: ClassVar[str] = "at alpha = 2 the same statement: every mechanism attains it"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        if value.is_infinite or cast("Renyi", source).order < 2 or not _generator_is(target, self.generator):
            return None
        return enclosed(lambda: value.enclose(WORKING).expm1())

    def attained(self, source: OutputDivergence, target: OutputDivergence) -> bool:
        return cast("Renyi", source).order == 2


# --- between pure, concentrated and probabilistic privacy -----------------------------------------


def _half_square(_source: OutputDivergence, value: Number, _target: OutputDivergence) -> Bracket | None:
    if value.is_infinite:
        return None
    if value.is_rational or value.root == 2:
        return Bracket.exactly(value.squared() * Fraction(1, 2))
    return enclosed(lambda: value.enclose(WORKING) ** 2 / 2)


PureToZcdpSimple = row(
    "pure-to-zcdp-simple", "mult", "d-nor", "epsilon^2/2", _half_square,
    citation=f"{BUN_STEINKE}, Proposition 1.4",
    sense="approached as epsilon goes to 0; the largest is epsilon tanh(epsilon/2), see pure-to-zcdp",
    doc="""rho = epsilon^2/2.

    >>> from dpspec_divergences import DNor, Mult
    >>> str(PureToZcdpSimple().convert(Mult(), number("1/2"), DNor()))
    '1/8'
    """,
)  # fmt: skip


class _SameNumbers(Conversion):
    """Shared: tight where the deltas are equal."""

    def attained(self, source: OutputDivergence, target: OutputDivergence) -> bool:
        return self.tight and delta_of(source) == delta_of(target)


def _same(source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
    """At a delta that is no smaller; losses are counted on one side."""
    fits = delta_of(source) <= delta_of(target) and getattr(target, "sides", "one") == "one"
    return Bracket.exactly(value) if fits else None


same_row = partial(row, formula="the same epsilon and delta", value=_same, base=_SameNumbers)
PbdpToApproximate = same_row(
    "pbdp-to-approximate", "pbdp", "mult-delta",
    citation="Kifer et al. 2022, Section 5.3",
    sense="the approximate delta is below the tail of the loss, and that below the delta of pbdp",
    doc="""(epsilon, delta)-pbdp is (epsilon, delta)-approximately private.

    >>> from dpspec_divergences import MultDelta, Pbdp
    >>> str(PbdpToApproximate().convert(Pbdp(delta="0.1"), number(1), MultDelta(delta="0.1")))
    '1'
    """,
)  # fmt: skip
PbdpToProbabilistic = same_row(
    "pbdp-to-probabilistic", "pbdp", "probabilistic", tight=True,
    citation="Kifer et al. 2022, Definition 5.2",
    sense="attained by randomised response",
    doc="""(epsilon, delta)-pbdp bounds the tail of the loss of the output itself (Kifer et al. 2022, Definition 5.2).

    >>> from dpspec_divergences import Pbdp
    >>> str(PbdpToProbabilistic().convert(Pbdp(delta="0.1"), number(1), LossTail(delta="0.1")))
    '1'
    """,
)  # fmt: skip
ProbabilisticToApproximate = same_row(
    "probabilistic-to-approximate", "probabilistic", "mult-delta", tight=True,
    citation="Kazan 2025, Theorem 23",
    sense="attained by giving everything away with probability delta, and else randomised response",
    doc="""(epsilon, delta)-probabilistic privacy is approximate privacy; the converse is false for delta > 0 (Kazan 2025).

    >>> from dpspec_divergences import MultDelta
    >>> str(ProbabilisticToApproximate().convert(LossTail(delta="0.1"), number(1), MultDelta(delta="0.1")))
    '1'
    """,
)  # fmt: skip


@define
class ApproximateToProbabilistic(Conversion):
    """At a larger delta', epsilon' = ln(delta' e^epsilon + delta) - ln(delta' - delta).

    On one side alone, epsilon' = epsilon + ln(delta'/(delta' - delta)).

    Equivalent to delta' = delta (1 + e^-epsilon')/(1 - e^(epsilon - epsilon')) of Zhao et al. 2019.

    >>> from dpspec_divergences import MultDelta
    >>> target = LossTail(delta="1/2", sides="both")
    >>> ApproximateToProbabilistic().convert(MultDelta(delta="1/4"), ln(3), target).upper.decimal()
    '1.94591'
    """

    name: ClassVar[str] = "approximate-to-probabilistic"
    citation: ClassVar[str] = "Kazan 2025, Theorem 35; Zhao et al. 2019"
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
            return Bracket.exactly(exact.INFINITY)
        least = old if cast("LossTail", target).sides == "both" else Fraction(0)
        return enclosed(
            lambda: (exact.ball(new) * value.enclose(WORKING).exp() + exact.ball(least)).log() - exact.ball(new - old).log()
        )


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
