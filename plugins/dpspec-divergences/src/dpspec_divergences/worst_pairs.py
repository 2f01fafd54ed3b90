"""Conversions by worst pairs: what a guarantee implies is what the least private pair of laws that it allows has.

Five standards have a pair (P*, Q*) that simulates every pair they allow (Blackwell): pure and approximate privacy the answers of
randomised response, with a failure of probability delta that gives everything away; a hockey stick and a total variation the same
pairs; a trade-off function the pair whose curve it is; Gaussian privacy two Gaussians. For a divergence d' with data processing

    sup { d'(P, Q) : d(P, Q) <= t } = d'(P*, Q*),

so that these conversions are tight: the worst pair is a mechanism that attains the number. Where e^epsilon is irrational, the
pair lies between two with rational atoms, and the number in a bracket.

*Group privacy* where the output divergence is no metric: approximate privacy, whose delta grows with the group.

Where it is a metric (pure, concentrated, Gaussian privacy, curves), neighbours extend to paths and the budget is multiplied by
the length k, so that rho grows with k^2: no rule of its own is needed.

Conversions for known noise, Gaussian and discrete Gaussian, use f-divergences of N(0, 1) and N(mu, 1): in closed form for four
generators, by quadrature for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import ClassVar, cast

from flint import arb, ctx

from dpspec.plugin import (
    Bracket,
    Conversion,
    Number,
    OutputDivergence,
    PrivacySpec,
    Rule,
    UniformBudget,
    blocks,
    define,
    errors,
    exact,
    grammar,
    is_a,
    laws,
)
from dpspec_divergences.f_divergence import FDivergence
from dpspec_divergences.from_renyi import delta_of, simple
from dpspec_divergences.losses import rounded
from dpspec_divergences.output import WORKING, DNor, MultDelta, Renyi, enclosed
from dpspec_divergences.trade_off import GaussianTradeOff

row = partial(grammar.conversion, __name__)


def worst_curve(source: OutputDivergence, value: Number) -> tuple[laws.TradeOff, laws.TradeOff]:
    """The trade-off function that a guarantee allows, between one that is above it and one that is below it.

    Raises:
        NoFormulaError: when the standard has no such curve with finitely many corners.

    >>> from dpspec.plugin import ln
    >>> str(worst_curve(MultDelta(delta="1/5"), ln(3))[1])
    '(0, 4/5), (1/5, 1/5), (4/5, 0), (1, 0)'
    """
    above, below = (laws.TradeOff.of(pair) for pair in worst_pairs(source, value))
    return above, below


def worst_pairs(source: OutputDivergence, value: Number) -> blocks.WorstPairs:
    """The worst pair that a budget of a standard allows on neighbours.

    Raises:
        NoFormulaError: for standards without one, and for numbers too large to write it down.
    """
    pairs = source.worst_pairs(value)
    if pairs is None:
        raise errors.NoFormulaError(source.name, "has no single worst pair", "convert to a standard that has one")
    return pairs


def by_worst_pair(source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
    """The number of the worst pair of the source; None where it has none.

    >>> from dpspec.plugin import number
    >>> by_worst_pair(GaussianTradeOff(), number("sqrt(5.26)"), MultDelta(delta="1e-10")).upper.decimal()
    '16.742'
    """
    try:
        low, high = worst_pairs(source, value)
        bottom = target.evaluate(low)
        top = bottom if high is low else target.evaluate(high)
    except errors.NoFormulaError:
        return None
    lower, upper = _stated(target, bottom.lower), _stated(target, top.upper)
    return Bracket(lower=lower, upper=upper) if lower == upper else rounded(lower, upper)


def _stated(target: OutputDivergence, constant: Number) -> Number:
    """The budget that a Lipschitz constant of the target is written as."""
    return constant.squared() if is_a(target, DNor) else constant


_ATTAINED = {
    "pure": ("mult", "randomised response", "Kairouz, Oh and Viswanath 2015, Theorem 2.4; Kifer et al. 2022, Theorem 6.1"),
    "approximate": (
        "mult-delta",
        "randomised response that gives everything away with probability delta",
        "Kairouz, Oh and Viswanath 2015, Theorem 2.4; Kifer et al. 2022, Theorem 6.2",
    ),
    "hockey-stick": (
        "hockey-stick",
        "randomised response that gives everything away with probability delta",
        "Kairouz, Oh and Viswanath 2015, Theorem 2.4; Kifer et al. 2022, Theorem 6.2",
    ),
    "total-variation": (
        "total-variation",
        "giving everything away with that probability, else nothing",
        "Kifer et al. 2022, Example 4.7 and Section 5.1",
    ),
    "curve": (
        "trade-off",
        "the pair of laws with this curve",
        "Dong, Roth and Su 2022, Propositions 2.2 and 2.13; Kifer et al. 2022, Section 5.2",
    ),
    "gaussian": (
        "gaussian-trade-off",
        "Gaussian noise",
        "Dong, Roth and Su 2022, Corollary 2.13; Balle and Wang 2018, Theorem 8; Kifer et al. 2022, Example 5.10",
    ),
}
_NAMES = {
    "pure": "mult",
    "approximate": "mult-delta",
    "hockey-stick": "hockey-stick",
    "renyi": "renyi",
    "zcdp": "d-nor",
    "total-variation": "total-variation",
    "f-divergence": "f-divergence",
    "gaussian": "gaussian-trade-off",
    "curve": "trade-off",
    "pbdp": "pbdp",
}
_BOUNDED = ("approximate", "hockey-stick", "total-variation", "f-divergence", "pbdp")
"""The standards in which a guarantee that may fail has a finite number."""
_JOINED: dict[str, Iterable[str]] = {
    "pure": _NAMES,
    "approximate": (*_BOUNDED, "curve"),
    "hockey-stick": (*_BOUNDED, "curve"),
    "total-variation": (*_BOUNDED, "curve"),
    "curve": _NAMES,
    "gaussian": ("approximate", "hockey-stick", "total-variation", "pbdp", "renyi", "zcdp"),
}
_WORDS = {
    ("gaussian", "approximate"): "epsilon with delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)",
    ("gaussian", "hockey-stick"): "Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)",
    ("gaussian", "pbdp"): "ln delta - ln Phi(Phi^-1(delta) - mu)",
    ("gaussian", "total-variation"): "2 Phi(mu/2) - 1",
    ("gaussian", "renyi"): "alpha mu^2/2",
    ("gaussian", "zcdp"): "mu^2/2",
    ("pure", "total-variation"): "tanh(epsilon/2)",
    ("pure", "zcdp"): "epsilon tanh(epsilon/2)",
    ("pure", "gaussian"): "2 Phi^-1(e^epsilon/(1 + e^epsilon))",
    ("pure", "pbdp"): "ln delta - ln f^-1(1 - delta), f(x) = max(0, 1 - e^epsilon x, e^-epsilon (1 - x))",
    ("curve", "approximate"): "epsilon with delta = sup over x of 1 - f(x) - e^epsilon x",
    ("curve", "pbdp"): "ln(delta / f^-1(1 - delta))",
    ("total-variation", "pbdp"): "ln(delta / (delta - t)), infinite for delta <= t",
}
_SLOW = {("pure", "zcdp"), ("pure", "total-variation"), ("pure", "gaussian"), ("gaussian", "total-variation")}
"""Those whose constant f(t) has a falling f(t)/t.

tanh is concave, so that tanh(t/2)/t falls, which is (f(t)/t)^2 for f(t)^2 = t tanh(t/2), and f(t)/t for the total variation; so
is
2 Phi(t/2) - 1. And Phi^-1 of the logistic function is concave above 0, the tails of the logistic law being heavier than those
of the normal one (van Zwet 1964).
"""


_CLOSED_FORMS: dict[tuple[str, str], Callable[[arb, OutputDivergence], arb]] = {
    ("gaussian", "renyi"): lambda mu, target: exact.ball(cast("Renyi", target).order) * mu**2 / 2,
    ("gaussian", "zcdp"): lambda mu, _target: mu**2 / 2,
    ("gaussian", "total-variation"): lambda mu, _target: (mu / arb(8).sqrt()).erf(),
    ("pure", "zcdp"): lambda epsilon, _target: epsilon * (epsilon / 2).tanh(),
    ("pure", "total-variation"): lambda epsilon, _target: (epsilon / 2).tanh(),
}
"""For budgets whose worst pair is too far apart to be written down, although the number is a simple one."""


def _formula(start: str, end: str) -> grammar.BudgetFormula:
    """The number of the worst pair, or the closed form of it where there is one."""
    closed = _CLOSED_FORMS.get((start, end))
    if closed is None:
        return by_worst_pair

    def convert(source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        found = by_worst_pair(source, value, target)
        if found is not None or value.is_infinite:
            return found
        return enclosed(lambda: closed(value.enclose(WORKING), target))

    return convert


def _made() -> Iterator[type[Conversion]]:
    for start, ends in _JOINED.items():
        source, mechanism, citation = _ATTAINED[start]
        for end in ends:
            if end == start == "pure" or (end == start == "total-variation"):
                continue
            formula = _WORDS.get((start, end), f"{_NAMES[end]} of the worst pair, {mechanism}")
            yield row(
                f"{start}-to-{end}", source, _NAMES[end], formula, _formula(start, end), tight=True, slows=(start, end) in _SLOW,
                citation=citation,
                sense=f"attained by {mechanism}",
                doc=f"Tight, from {source} to {_NAMES[end]}: {formula}. Attained by {mechanism} ({citation}).",
            )  # fmt: skip


globals().update({cls.__name__: cls for cls in _made()})  # a place for each, as one has that is written out


# --- group privacy --------------------------------------------------------------------------------


EXACT_BITS = 1 << 14
"""A delta of more digits than this is rounded up: exactly, that of ten thousand steps has a million digits."""

MOST = 10_000
"""The largest group that is considered: delta is then above 1 for every epsilon of practical interest."""

LARGEST_GROUP_EPSILON = 200
"""Above this epsilon the delta of a group is taken to be 1, which it is for every delta that is not below e^-200."""


@define
class ApproximateGroups(Rule):
    """(epsilon, delta) on neighbours gives (k epsilon, delta sum of e^(i epsilon) over i < k) on datasets at k steps.

    P_0(S) <= e^epsilon P_1(S) + delta <= ... <= e^(k epsilon) P_k(S) + delta sum of e^(i epsilon), i < k, along a path of k
    neighbours inside the universe, here the whole space. The new distance is one of neighbours too, each at k old steps.

    >>> from dpspec.plugin import ln
    >>> str(group_delta(Fraction(1, 100), ln(2), 3))
    '7/100'
    """

    name: ClassVar[str] = "approximate-groups"
    citation: ClassVar[str] = "group privacy along paths of neighbours, a standard argument"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "steps": "new neighbours are at most k old steps apart",
        "paths inside": "the path runs inside the universe, here the whole space",
        "epsilon grows": "the new epsilon is at least k times the old one",
        "delta grows": "the new delta is at least the old one times the sum of e^(i epsilon) over i < k",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[grammar.Step]:
        source, target, value = premise.output_divergence, goal.output_divergence, premise.budget.uniform()
        if not is_a(source, MultDelta) or not is_a(target, MultDelta) or value is None or value.is_infinite:
            return
        steps = self._steps(premise, goal)
        if steps is None or group_delta(source.delta, value, steps) > target.delta:
            return
        budget = UniformBudget(parameter=premise.budget.parameter, value=value * steps)
        yield grammar.Step(
            rule=self.name,
            block="input divergence",
            before=premise,
            after=premise.replace(input_divergence=goal.input_divergence, output_divergence=target, budget=budget),
            reason=f"{steps} neighbours in a row: epsilon times {steps}, delta times the sum of e^(i epsilon) for i < {steps}",
            citation=self.citation,
            parameters={"steps": steps},
        )

    def _steps(self, premise: PrivacySpec, goal: PrivacySpec) -> int | None:
        """How many old steps make one new one, along paths that stay in the one universe."""
        new, path = goal.input_divergence, premise.input_divergence.path_form()
        if path is None or not new.is_neighbour_form or new == premise.input_divergence or premise.space != goal.space:
            return None
        if premise.multiverse.induced_by() != ():
            return None
        known = grammar.distance_bound(path, new, goal.space)
        if known is None or not known[0].is_rational or not 1 <= known[0] <= MOST:
            return None
        return int(known[0].as_fraction())


def group_delta(delta: Fraction, epsilon: Number, steps: int) -> Fraction:
    """delta (1 + e^epsilon + ... + e^((k-1) epsilon)) for k steps, rounded up where it is irrational or long; at most 1."""
    if not delta or steps == 1:
        return delta
    if epsilon > LARGEST_GROUP_EPSILON:
        return Fraction(1)
    if epsilon == 0:
        return min(Fraction(1), delta * steps)
    ratio = laws.rational_exponential(epsilon)
    if ratio is not None and steps * ratio.numerator.bit_length() <= EXACT_BITS:
        return min(Fraction(1), delta * (ratio**steps - 1) / (ratio - 1))
    with ctx.workprec(WORKING):
        one = epsilon.enclose(WORKING)
        return min(Fraction(1), exact.dyadic((exact.ball(delta) * (steps * one).expm1() / one.expm1()).upper()))


# --- known noise ----------------------------------------------------------------------------------


_SMALLEST = Fraction(1, 1000)
_LARGEST = 600
"""The profile is computed for rho from the first number on, while the epsilon of the simple formula is below the second."""


@define
class ZcdpToGaussian(Conversion):
    """mu = sqrt(2 rho), for Gaussian noise of the variance that rho was computed from: rho = mu^2/2, mu = sensitivity/sigma.

    From concentrated privacy alone no Gaussian trade-off function follows.

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import DNor
    >>> str(ZcdpToGaussian().convert(DNor(), number("2.63"), GaussianTradeOff()))
    'sqrt(263/50)'
    """

    name: ClassVar[str] = "zcdp-to-gaussian"
    citation: ClassVar[str] = "Kifer et al. 2022, Example 5.10 and Section 6.3, footnote 15"
    source: ClassVar[str] = "d-nor"
    target: ClassVar[str] = "gaussian-trade-off"
    formula: ClassVar[str] = "sqrt(2 rho)"
    tight: ClassVar[bool] = True
    sense: ClassVar[str] = "exact for this noise"
    mechanism: ClassVar[str | None] = "gaussian"
    needs: ClassVar[str] = "the mechanism adds Gaussian noise, and rho = sensitivity^2/(2 variance)"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        return None if value.is_infinite or value.root == 2 else Bracket.exactly((value * 2).sqrt())

    def targets(self, source: OutputDivergence, goal: OutputDivergence) -> Iterator[OutputDivergence]:
        yield GaussianTradeOff()


@define
class DiscreteGaussianProfile(Conversion):
    """The number of one count with discrete Gaussian noise of scale sigma^2 = 1/(2 rho), against the count that is larger by 1.

    One count alone: the sum of many is nearly Gaussian, and a count that moves by more than 1 is not covered.

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import DNor, MultDelta
    >>> DiscreteGaussianProfile().convert(DNor(), number("2.63"), MultDelta(delta="1e-10")).upper.decimal()
    '13.15'
    """

    name: ClassVar[str] = "zcdp-to-approximate-discrete-gaussian"
    citation: ClassVar[str] = "Canonne, Kamath and Steinke 2020, Theorem 7; Kifer et al. 2022, Section 8.1"
    source: ClassVar[str] = "d-nor"
    target: ClassVar[str] = "mult-delta"
    formula: ClassVar[str] = "epsilon with delta = P(L > epsilon) - e^epsilon P(-L' > epsilon), L = (1 - 2k) rho, k of the noise"
    tight: ClassVar[bool] = True
    sense: ClassVar[str] = "exact for this noise"
    mechanism: ClassVar[str | None] = "discrete-gaussian"
    needs: ClassVar[str] = "the mechanism adds discrete Gaussian noise of scale 1/(2 rho) to one count that changes by 1"

    def convert(self, source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
        most = simple(value, delta_of(target))
        if most is None or most.upper > _LARGEST or not value.is_rational or value < _SMALLEST:
            return None
        variance = 1 / (2 * value.as_fraction())
        try:
            return target.between(laws.DiscreteGaussianLaw(0, variance), laws.DiscreteGaussianLaw(1, variance))
        except errors.NoFormulaError:
            return None


# --- two Gaussians --------------------------------------------------------------------------------


CLOSED: dict[str, Callable[[arb], arb]] = {
    "kl": lambda mu: mu**2 / 2,
    "chi-squared": lambda mu: (mu**2).expm1(),
    "hellinger": lambda mu: -(-(mu**2) / 8).expm1(),
    "total-variation": lambda mu: (mu / arb(8).sqrt()).erf(),
}
"""By generator; a Gaussian pair looks the same in both directions."""


def _of_gaussians(source: OutputDivergence, value: Number, target: OutputDivergence) -> Bracket | None:
    closed = CLOSED.get(cast("FDivergence", target).generator)
    if closed is None or value.is_infinite:
        return by_worst_pair(source, value, target)
    return enclosed(lambda: closed(value.enclose(WORKING)))


GaussianToFDivergence = row(
    "gaussian-to-f-divergence", "gaussian-trade-off", "f-divergence",
    "kl: mu^2/2; chi-squared: e^(mu^2) - 1; hellinger: 1 - e^(-mu^2/8); total-variation: 2 Phi(mu/2) - 1", _of_gaussians,
    tight=True,
    citation="Dong, Roth and Su 2022, Corollary 2.13",
    sense="attained by Gaussian noise",
    doc="""The f-divergence of two unit Gaussians mu apart, the worst pair of Gaussian privacy; attained by Gaussian noise.

    kl: mu^2/2. chi-squared: e^(mu^2) - 1. hellinger: 1 - e^(-mu^2/8). total-variation: 2 Phi(mu/2) - 1. Others by quadrature.

    >>> from dpspec.plugin import number
    >>> from dpspec_divergences import GaussianTradeOff
    >>> target = FDivergence(generator="hellinger", direction="both")
    >>> GaussianToFDivergence().convert(GaussianTradeOff(), number(2), target).upper.decimal()
    '0.393469'
    """,
)  # fmt: skip
