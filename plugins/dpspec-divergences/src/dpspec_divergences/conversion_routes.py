"""Routes that convert a budget to another standard, and back, by the formulas of the conversions."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar

from dpspec.conversion import Conversion
from dpspec.errors import BudgetParameterError, ParameterError
from dpspec.exact import INFINITY, Bracket, Number, ball, ln
from dpspec.params import Exact, Rational, define
from dpspec.route import Question, Route
from dpspec.spec import PrivacySpec
from dpspec_divergences import from_zcdp
from dpspec_divergences.from_zcdp import simple
from dpspec_divergences.output import DNor, MultDelta
from dpspec_divergences.routes import budget_of
from dpspec_divergences.solving import WORKING, enclosed


@define
class ZcdpToApproximate(Route):
    """From concentrated to approximate privacy: epsilon = rho + 2 sqrt(rho ln(1/delta)) (B-X5, B-O13).

    Args:
        delta: the slack in probability.
        rho: the concentrated budget; without it the specification's.

    >>> from dpspec_divergences.examples import zcdp_spec
    >>> ZcdpToApproximate(delta="1e-10").value(zcdp_spec(rho="2.56")).upper.decimal()
    '17.9153'
    """

    name: ClassVar[str] = "zcdp-to-approximate"

    delta: Annotated[Fraction, Rational(0, 1, open_low=True)]
    rho: Annotated[Number, Exact(0)] | None = None

    def value(self, spec: PrivacySpec) -> Bracket:
        return simple(self._rho(spec), self.delta) or Bracket.exactly(INFINITY)

    def question(self, spec: PrivacySpec) -> Question | None:
        rho = self._rho(spec)
        if self.delta == 1 or rho.is_infinite:
            return None
        return Question(source=DNor(), value=rho, goal=MultDelta(delta=self.delta))

    def _rho(self, spec: PrivacySpec) -> Number:
        return budget_of(spec, "rho", self.name) if self.rho is None else self.rho


@define
class ZcdpToApproximateCks(ZcdpToApproximate):
    """From concentrated to approximate privacy by the conversion of the same name, the best that holds for every mechanism.

    epsilon = inf over alpha > 1 of alpha rho + ln(1 - 1/alpha) + ln(1/(alpha delta))/(alpha - 1).

    Args:
        delta: the slack in probability.
        rho: the concentrated budget; without it the specification's.

    >>> from dpspec_divergences.examples import zcdp_spec
    >>> ZcdpToApproximateCks(delta="1e-10").value(zcdp_spec(rho="2.56")).upper.decimal()
    '17.1583'
    """

    name: ClassVar[str] = "zcdp-to-approximate-cks"
    conversion: ClassVar[Conversion] = from_zcdp.ZcdpToApproximateCks()

    def value(self, spec: PrivacySpec) -> Bracket:
        asked = self.question(spec)
        found = None if asked is None else self.conversion.convert(asked.source, asked.value, asked.goal)
        return Bracket.exactly(INFINITY) if found is None else found


@define
class ZcdpToApproximateBunSteinke(ZcdpToApproximateCks):
    """From concentrated to approximate privacy by the conversion of the same name: an integral over the tail of the loss.

    Args:
        delta: the slack in probability.
        rho: the concentrated budget; without it the specification's.

    >>> from dpspec_divergences.examples import zcdp_spec
    >>> ZcdpToApproximateBunSteinke(delta="1e-10").value(zcdp_spec(rho="2.56")).upper.decimal()
    '17.4511'
    """

    name: ClassVar[str] = "zcdp-to-approximate-bun-steinke"
    conversion: ClassVar[Conversion] = from_zcdp.ZcdpToApproximateBunSteinke()


@define
class ApproximateToZcdp(Route):
    """The rho whose `zcdp-to-approximate` is epsilon: (epsilon / (sqrt(L + epsilon) + sqrt(L)))^2, L = ln(1/delta) (B-O15).

    It inverts a formula. It does not say that a mechanism with (epsilon, delta) is rho-concentrated.

    Args:
        delta: the slack in probability; without it the specification's.
        epsilon: the approximate budget; without it the specification's.

    >>> from dpspec_divergences.examples import zcdp_spec
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
        if isinstance(spec.output_divergence, MultDelta) and spec.output_divergence.delta:
            return spec.output_divergence.delta
        raise BudgetParameterError(f"route {self.name}", "needs a delta above 0", 'write delta = "1e-10" in the row')


@define
class PureToZcdp(Route):
    """The concentrated budget that pure privacy implies: rho = epsilon^2 / 2 (Bun and Steinke 2016, Proposition 1.4).

    Args:
        epsilon: the pure budget; without it the specification's.

    >>> from dpspec_divergences.examples import zcdp_spec
    >>> str(PureToZcdp(epsilon="1/2").value(zcdp_spec(rho=1)))
    '1/8'
    """

    name: ClassVar[str] = "pure-to-zcdp"

    epsilon: Annotated[Number, Exact(0)] | None = None

    def value(self, spec: PrivacySpec) -> Bracket:
        epsilon = budget_of(spec, "epsilon", self.name) if self.epsilon is None else self.epsilon
        if epsilon.is_rational or epsilon.is_infinite or epsilon.root == 2:
            return Bracket.exactly(epsilon.squared() * Fraction(1, 2))
        size = epsilon.enclose(WORKING)
        return enclosed(lambda: size**2 / 2)


@define
class ApproximateForProbabilistic(Route):
    """The approximate budget that a target of probabilistic privacy asks for.

    epsilon = ln(((delta' - delta) e^epsilon' - delta)/delta') inverts `approximate-to-probabilistic`: a mechanism with this
    epsilon at delta keeps every loss, gains too, within epsilon' with probability 1 - delta' (the last row of the table in
    Z-section 2.5).

    Args:
        delta: the approximate slack.
        probability: delta', the probability of a larger loss, above delta.
        epsilon: epsilon', the wanted bound; without it the specification's.

    >>> from dpspec_divergences.examples import zcdp_spec
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
        return enclosed(lambda: (ball(room) * size.exp() - ball(self.delta)).log() - ball(self.probability).log())


CONVERSION_ROUTES: tuple[type[Route], ...] = (
    ZcdpToApproximate, ZcdpToApproximateCks, ZcdpToApproximateBunSteinke, ApproximateToZcdp, PureToZcdp,
    ApproximateForProbabilistic,
)  # fmt: skip
