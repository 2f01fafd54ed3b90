"""Routes: the formulas by which printed numbers are recomputed, each exact or in a bracket of ball arithmetic.

Those of conversions take a budget to another standard, and back. Small specifications for examples and tests are at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, ClassVar

from flint import arb, ctx

from dpspec.plugin import (
    BitVectors,
    Bracket,
    Conversion,
    Exact,
    Integer,
    Items,
    Number,
    ParameterError,
    PrivacySpec,
    Rational,
    Route,
    Trivial,
    UniformBudget,
    define,
    errors,
    exact,
    grammar,
    is_a,
    laws,
    ln,
    number,
)
from dpspec_divergences.counting import HammingOrdered
from dpspec_divergences.from_entropy import PureToZcdpSimple
from dpspec_divergences.from_renyi import ZcdpToApproximateBunSteinke, ZcdpToApproximateCks, simple
from dpspec_divergences.output import WORKING, DNor, Mult, MultDelta, enclosed

PRECISION = 128
"""Bits of the enclosures."""


def budget_of(spec: PrivacySpec, parameter: str, subject: str) -> Number:
    """The budget of a specification, when it is one number of the wanted kind for all universes."""
    value = spec.budget.uniform()
    if spec.budget.parameter != parameter or value is None:
        stated = spec.budget.parameter if value is not None else f"{spec.budget.parameter} by universe"
        raise errors.BudgetParameterError(
            f"route {subject}", f"needs {parameter}, and the budget is {stated}", f'write {parameter} = "..." in the row'
        )
    return value


def _enclosed(formula: Callable[[], arb]) -> Bracket:
    with ctx.workprec(PRECISION):
        return Bracket.around(formula(), least=0)


def _log1p_scaled(fraction: Fraction, size: arb) -> Bracket:
    """ln(1 + fraction (e^size - 1))."""
    with ctx.workprec(PRECISION):
        return Bracket.around((1 + exact.ball(fraction) * size.expm1()).log(), least=0)


@define
class DNorBudget(Route):
    """The Lipschitz constant that rho means under d-nor: sqrt(rho).

    Args:
        rho: the concentrated budget; without it the specification's.

    >>> from dpspec_divergences.routes import zcdp_spec
    >>> str(DNorBudget(rho="15.29").value(zcdp_spec(rho=1)))
    'sqrt(1529/100)'
    """

    name: ClassVar[str] = "d-nor-budget"

    rho: Annotated[Number, Exact(0)] | None = None

    def value(self, spec: PrivacySpec) -> Bracket:
        rho = budget_of(spec, "rho", self.name) if self.rho is None else self.rho
        return Bracket.exactly(rho.sqrt())


@define
class Sum(Route):
    """The sum of printed numbers, as rho adds over files (epsilon does not; Bailie, Gong and Meng 2023).

    Args:
        numbers: the summands, all in one unit.

    >>> from dpspec_divergences.routes import zcdp_spec
    >>> str(Sum(numbers=("0.07", "2.56")).value(zcdp_spec(rho=1)))
    '263/100'
    """

    name: ClassVar[str] = "sum"

    numbers: Annotated[tuple[Number, ...], Items(Exact(), least=1)]

    def value(self, spec: PrivacySpec) -> Bracket:
        try:
            return Bracket.exactly(sum(self.numbers, number(0)))
        except errors.NumericalError:
            with ctx.workprec(PRECISION):
                return Bracket.around(sum((each.enclose(PRECISION) for each in self.numbers), arb(0)))


@define
class Ratio(Route):
    """The quotient of two printed numbers, such as a constant before and after a change of unit.

    Args:
        numerator, denominator: the numbers whose ratio it is.

    >>> from dpspec_divergences.routes import zcdp_spec
    >>> str(Ratio(numerator="ln(16)", denominator=2).value(zcdp_spec(rho=1)).lower == ln(4))
    'True'
    """

    name: ClassVar[str] = "ratio"

    numerator: Annotated[Number, Exact(0)]
    denominator: Annotated[Number, Exact(0, open_low=True)]

    def value(self, spec: PrivacySpec) -> Bracket:
        try:
            return Bracket.exactly(self.numerator / self.denominator)
        except errors.NumericalError:
            top, bottom = self.numerator.enclose(PRECISION), self.denominator.enclose(PRECISION)
            return _enclosed(lambda: top / bottom)


@define
class Amplification(Route):
    """Amplification by secret sampling: ln(1 + fraction (e^epsilon - 1)) (Bailie et al. 2024).

    It holds for the outsider only: who knows that a record was sampled faces epsilon itself.

    Args:
        fraction: the share of records that is sampled.
        epsilon: the pure budget on the sample; without it the specification's.

    >>> from dpspec_divergences.routes import zcdp_spec
    >>> str(Amplification(fraction="1/2", epsilon="ln(3)").value(zcdp_spec(rho=1)))
    'ln(2)'
    """

    name: ClassVar[str] = "amplification"

    fraction: Annotated[Fraction, Rational(0, 1)]
    epsilon: Annotated[Number, Exact(0)] | None = None

    def value(self, spec: PrivacySpec) -> Bracket:
        epsilon = budget_of(spec, "epsilon", self.name) if self.epsilon is None else self.epsilon
        if self.fraction in (0, 1):
            return Bracket.exactly(epsilon if self.fraction else 0)
        if epsilon.is_infinite:
            return Bracket.exactly(exact.INFINITY)
        ratio = laws.rational_exponential(epsilon)
        if ratio is not None:
            return Bracket.exactly(ln(1 + self.fraction * (ratio - 1)))
        size = epsilon.enclose(PRECISION)
        return _log1p_scaled(self.fraction, size)


@define
class ShuffleAmplification(Route):
    """Epsilon of n shuffled reports, each of which alone has epsilon_0: what the analyst sees, from what the shuffler sees.

    ln(1 + (e^epsilon_0 - 1)/(e^epsilon_0 + 1) (8 sqrt(e^epsilon_0 ln(4/delta)/n) + 8 e^epsilon_0/n)), for one report replaced and
    epsilon_0 <= ln(n/(16 ln(4/delta))) (Feldman, McMillan and Talwar 2021, Theorem 3.1). It is an upper bound; numerical ones are
    smaller.

    Args:
        reports: n, the number of reports that are shuffled.
        delta: the slack in probability of the shuffled reports, in (0, 1).
        epsilon: epsilon_0, the pure budget of one report; without it the specification's.

    >>> from dpspec_divergences.routes import zcdp_spec
    >>> found = ShuffleAmplification(reports=10**6, delta="1e-6", epsilon=1)
    >>> found.value(zcdp_spec(rho=1)).lower.decimal()
    '0.0234968'
    """

    name: ClassVar[str] = "shuffle-amplification"

    reports: Annotated[int, Integer(1)]
    delta: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)]
    epsilon: Annotated[Number, Exact(0)] | None = None

    def value(self, spec: PrivacySpec) -> Bracket:
        epsilon = budget_of(spec, "epsilon", self.name) if self.epsilon is None else self.epsilon
        with ctx.workprec(PRECISION):
            odds = None if epsilon.is_infinite else epsilon.enclose(PRECISION).exp()
            log = (4 / exact.ball(self.delta)).log()
            if odds is None or not odds <= self.reports / (16 * log):
                rule = "needs epsilon <= ln(reports / (16 ln(4/delta))), beyond which the theorem says nothing"
                raise ParameterError(f"route {self.name}", rule, "give more reports, or a larger delta", value=str(epsilon))
            noise = 8 * (odds * log / self.reports).sqrt() + 8 * odds / self.reports
            return Bracket.around(((odds - 1) / (odds + 1) * noise + 1).log(), least=0)


@define
class LaplaceUnionBound(Route):
    """The error that all k Laplace answers keep with probability 1 - delta: ln(k/delta) sensitivity/epsilon (Lecture notes 2025).

    Args:
        count: k, the number of answers.
        delta: the probability of a larger error, in (0, 1].
        sensitivity: the L1 sensitivity of the answers, in counts.
        epsilon: the pure budget; without it the specification's.

    >>> from dpspec_divergences.routes import zcdp_spec
    >>> LaplaceUnionBound(count=10000, delta="0.05", epsilon=1).value(zcdp_spec(rho=1)).lower.decimal()
    '12.2061'
    """

    name: ClassVar[str] = "laplace-union-bound"

    count: Annotated[int, Integer(1)]
    delta: Annotated[Fraction, Rational(0, 1, open_low=True)]
    sensitivity: Annotated[Fraction, Rational(0, open_low=True)] = Fraction(1)
    epsilon: Annotated[Number, Exact(0, open_low=True)] | None = None

    def value(self, spec: PrivacySpec) -> Bracket:
        epsilon = budget_of(spec, "epsilon", self.name) if self.epsilon is None else self.epsilon
        if epsilon == 0:
            return Bracket.exactly(exact.INFINITY)
        if epsilon.is_infinite:
            return Bracket.exactly(0)
        log = ln(self.count / self.delta)
        if epsilon.is_rational:
            return Bracket.exactly(log * (self.sensitivity / epsilon.as_fraction()))
        top, bottom = log.enclose(PRECISION), epsilon.enclose(PRECISION)
        return _enclosed(lambda: top * exact.ball(self.sensitivity) / bottom)


# --- routes of conversions ------------------------------------------------------------------------


@define
class ZcdpToApproximateRoute(Route):
    """From concentrated to approximate privacy: epsilon = rho + 2 sqrt(rho ln(1/delta)).

    Args:
        delta: the slack in probability.
        rho: the concentrated budget; without it the specification's.

    >>> from dpspec_divergences.routes import zcdp_spec
    >>> ZcdpToApproximateRoute(delta="1e-10").value(zcdp_spec(rho="2.56")).upper.decimal()
    '17.9153'
    """

    name: ClassVar[str] = "zcdp-to-approximate"

    delta: Annotated[Fraction, Rational(0, 1, open_low=True)]
    rho: Annotated[Number, Exact(0)] | None = None

    def value(self, spec: PrivacySpec) -> Bracket:
        return simple(self._rho(spec), self.delta) or Bracket.exactly(exact.INFINITY)

    def question(self, spec: PrivacySpec) -> grammar.Question | None:
        rho = self._rho(spec)
        if self.delta == 1 or rho.is_infinite:
            return None
        return grammar.Question(source=DNor(), value=rho, goal=MultDelta(delta=self.delta))

    def _rho(self, spec: PrivacySpec) -> Number:
        return budget_of(spec, "rho", self.name) if self.rho is None else self.rho


@define
class ZcdpToApproximateCksRoute(ZcdpToApproximateRoute):
    """From concentrated to approximate privacy by the conversion of the same name, the best that holds for every mechanism.

    epsilon = inf over alpha > 1 of alpha rho + ln(1 - 1/alpha) + ln(1/(alpha delta))/(alpha - 1).

    Args:
        delta: the slack in probability.
        rho: the concentrated budget; without it the specification's.

    >>> from dpspec_divergences.routes import zcdp_spec
    >>> ZcdpToApproximateCksRoute(delta="1e-10").value(zcdp_spec(rho="2.56")).upper.decimal()
    '17.1583'
    """

    name: ClassVar[str] = "zcdp-to-approximate-cks"
    conversion: ClassVar[Conversion] = ZcdpToApproximateCks()

    def value(self, spec: PrivacySpec) -> Bracket:
        asked = self.question(spec)
        found = None if asked is None else self.conversion.convert(asked.source, asked.value, asked.goal)
        return Bracket.exactly(exact.INFINITY) if found is None else found


@define
class ZcdpToApproximateBunSteinkeRoute(ZcdpToApproximateCksRoute):
    """From concentrated to approximate privacy by the conversion of the same name: an integral over the tail of the loss.

    Args:
        delta: the slack in probability.
        rho: the concentrated budget; without it the specification's.

    >>> from dpspec_divergences.routes import zcdp_spec
    >>> ZcdpToApproximateBunSteinkeRoute(delta="1e-10").value(zcdp_spec(rho="2.56")).upper.decimal()
    '17.4511'
    """

    name: ClassVar[str] = "zcdp-to-approximate-bun-steinke"
    conversion: ClassVar[Conversion] = ZcdpToApproximateBunSteinke()


@define
class ApproximateToZcdp(Route):
    """The rho whose `zcdp-to-approximate` is epsilon: (epsilon / (sqrt(L + epsilon) + sqrt(L)))^2, L = ln(1/delta).

    It inverts a formula. It does not say that a mechanism with (epsilon, delta) is rho-concentrated.

    Args:
        delta: the slack in probability; without it the specification's.
        epsilon: the approximate budget; without it the specification's.

    >>> from dpspec_divergences.routes import zcdp_spec
    >>> ApproximateToZcdp(epsilon="2.70", delta="1e-10").value(zcdp_spec(rho=1)).upper.decimal(3)
    '0.0748'
    """

    name: ClassVar[str] = "approximate-to-zcdp"

    delta: Annotated[Fraction, Rational(0, 1, open_low=True)] | None = None
    epsilon: Annotated[Number, Exact(0)] | None = None

    def value(self, spec: PrivacySpec) -> Bracket:
        epsilon = budget_of(spec, "epsilon", self.name) if self.epsilon is None else self.epsilon
        delta = self._delta(spec)
        if epsilon.is_infinite or epsilon == 0:
            return Bracket.exactly(epsilon)
        log = ln(1 / delta).enclose(WORKING)
        size = epsilon.enclose(WORKING)
        return enclosed(lambda: (size / ((log + size).sqrt() + log.sqrt())) ** 2)

    def _delta(self, spec: PrivacySpec) -> Fraction:
        if self.delta is not None:
            return self.delta
        if is_a(spec.output_divergence, MultDelta) and spec.output_divergence.delta:
            return spec.output_divergence.delta
        raise errors.BudgetParameterError(f"route {self.name}", "needs a delta above 0", 'write delta = "1e-10" in the row')


@define
class PureToZcdpRoute(Route):
    """The concentrated budget that pure privacy implies: rho = epsilon^2 / 2 (Bun and Steinke 2016, Proposition 1.4).

    Args:
        epsilon: the pure budget; without it the specification's.

    >>> from dpspec_divergences.routes import zcdp_spec
    >>> str(PureToZcdpRoute(epsilon="1/2").value(zcdp_spec(rho=1)))
    '1/8'
    """

    name: ClassVar[str] = "pure-to-zcdp"

    epsilon: Annotated[Number, Exact(0)] | None = None

    def value(self, spec: PrivacySpec) -> Bracket:
        epsilon = budget_of(spec, "epsilon", self.name) if self.epsilon is None else self.epsilon
        return PureToZcdpSimple().convert(Mult(), epsilon, DNor()) or Bracket.exactly(exact.INFINITY)


@define
class ApproximateForProbabilistic(Route):
    """The approximate budget that a target of probabilistic privacy requires.

    epsilon = ln(((delta' - delta) e^epsilon' - delta)/delta') inverts `approximate-to-probabilistic`: a mechanism with this
    epsilon at delta keeps every loss, gains too, within epsilon' with probability 1 - delta' (the last row of the table in
    Theorem 1).

    Args:
        delta: the slack in probability of approximate privacy.
        probability: delta', the probability of a larger loss, above delta.
        epsilon: epsilon', the wanted bound; without it the specification's.

    >>> from dpspec_divergences.routes import zcdp_spec
    >>> route = ApproximateForProbabilistic(delta="1/4", probability="1/2", epsilon="ln(7)")
    >>> route.value(zcdp_spec(rho=1)).upper.decimal()
    '1.09861'
    """

    name: ClassVar[str] = "approximate-for-probabilistic"

    delta: Annotated[Fraction, Rational(0, 1, open_high=True)]
    probability: Annotated[Fraction, Rational(0, 1, open_low=True)]
    epsilon: Annotated[Number, Exact(0, "inf", open_high=True)] | None = None

    def __attrs_post_init__(self) -> None:
        if self.probability <= self.delta:
            raise ParameterError("probability", "must be above delta", "ask for less certainty", value=self.probability)

    def value(self, spec: PrivacySpec) -> Bracket:
        epsilon = budget_of(spec, "epsilon", self.name) if self.epsilon is None else self.epsilon
        room, size = self.probability - self.delta, epsilon.enclose(WORKING)
        return enclosed(
            lambda: (exact.ball(room) * size.exp() - exact.ball(self.delta)).log() - exact.ball(self.probability).log()
        )


# --- small specifications for documentation and tests ---------------------------------------------


def zcdp_spec(*, rho: exact.NumberLike) -> PrivacySpec:
    """rho-zCDP of three bits, one per person.

    >>> str(zcdp_spec(rho="2.63").budget)
    'rho = 263/100'
    """
    return PrivacySpec(
        space=BitVectors(length=3),
        multiverse=Trivial(),
        input_divergence=HammingOrdered(),
        output_divergence=DNor(),
        budget=UniformBudget(parameter="rho", value=number(rho)),
    )


def pure_spec(*, epsilon: exact.NumberLike) -> PrivacySpec:
    """epsilon-DP of three bits, one per person.

    >>> pure_spec(epsilon=1).output_divergence.name
    'mult'
    """
    return zcdp_spec(rho=0).replace(output_divergence=Mult(), budget=UniformBudget(parameter="epsilon", value=number(epsilon)))
