"""Output divergences: multiplicative, approximate, normalised Renyi, Renyi of one order, total variation.

Each is a function of the pair of laws seen through its likelihood ratio (`Dichotomy`), in both directions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Annotated, ClassVar

from flint import arb

from dpspec.blocks.composing import Composed, Spent, added, total
from dpspec.blocks.output_divergence import EventBounds, OutputDivergence
from dpspec.exact import ZERO, Bracket, Number, ball, number, rounded_product, sqrt
from dpspec.laws.answers import Answers
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.dichotomy import Dichotomy
from dpspec.params import Rational, define
from dpspec_divergences import extremal
from dpspec_divergences.binary import ORDERS, by_hockey_stick, by_power

Bound = tuple[Number, str]

_HALF_ROOT = sqrt(Fraction(1, 2))


def both_ways(pair: Dichotomy, functional: Callable[[Dichotomy], Bracket]) -> Bracket:
    """The larger of the two directions; a pair that is its own reverse is looked at once."""
    forth, back = functional(pair), pair.reverse()
    return forth if back is pair else forth | functional(back)


class Named(OutputDivergence):
    """Shared: how the divergence is written in a reason."""

    def bounded_by(self, other: OutputDivergence) -> Bound | None:
        return (number(1), "the same output divergence") if self == other else self._bounded(other)

    def _bounded(self, other: OutputDivergence) -> Bound | None:
        """The constant against a different output divergence."""
        return None

    def __str__(self) -> str:
        return self.name


@define
class Mult(Named):
    """Multiplicative distance, the standard of pure differential privacy (B-D15).

    d(P, Q) = sup over events S of |ln(P(S)/Q(S))|. A metric; its budget is epsilon.

    >>> from dpspec.laws.finite import FiniteLaw
    >>> str(Mult().between(FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("1/4")))
    'ln(2)'
    """

    name: ClassVar[str] = "mult"
    is_metric: ClassVar[bool] = True

    def evaluate(self, pair: Dichotomy, *, precision: int = 64) -> Bracket:
        return both_ways(pair, lambda way: way.max_log_ratio(precision=precision))

    def separates_laws(self) -> bool:
        return True

    def event_bounds(self, bound: Number) -> EventBounds:
        return ((bound, ZERO),)

    def score(self, pair: Dichotomy) -> tuple[int, int] | None:
        return pair.largest_ratio() if isinstance(pair, FiniteDichotomy) else None

    def extremal(self, bound: Number) -> Iterator[Answers]:
        yield extremal.geometric(bound)
        yield from extremal.coin(bound)

    def largest_probability(self, q: arb, bound: arb) -> arb:
        return by_hockey_stick(q, bound, Fraction(0))

    def largest_loss(self, bound: Number) -> Number | None:
        return bound

    def _bounded(self, other: OutputDivergence) -> Bound | None:
        if is_pure(other):
            return number(1), "mult-delta at delta = 0 is mult (B-D16)"
        return None

    def composed(self, parts: Spent) -> Composed | None:
        return added(self, parts, "epsilon adds", "Dwork and Roth 2014, Theorem 3.14; K-section 6")


@define
class MultDelta(Named):
    """Approximate differential privacy: the least epsilon at a fixed delta (B-D16).

    d(P, Q) = sup over S of max{ ln([P(S) - delta]+ / Q(S)), ln([Q(S) - delta]+ / P(S)), 0 }, which is at most epsilon
    exactly when P(S) <= e^epsilon Q(S) + delta and conversely. No metric (B-S3); its budget is epsilon.

    Args:
        delta: the slack in probability, in [0, 1); part of the name of the divergence.

    >>> from dpspec.laws.finite import FiniteLaw
    >>> str(MultDelta(delta="0.1").between(FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("1/4")))
    'ln(8/5)'
    """

    name: ClassVar[str] = "mult-delta"

    delta: Annotated[Fraction, Rational(0, 1, open_high=True)]

    def evaluate(self, pair: Dichotomy, *, precision: int = 64) -> Bracket:
        return both_ways(pair, lambda way: way.epsilon_at(self.delta, precision=precision))

    def separates_laws(self) -> bool:
        return self.delta == 0

    def event_bounds(self, bound: Number) -> EventBounds:
        return ((bound, number(self.delta)),)

    def extremal(self, bound: Number) -> Iterator[Answers]:
        yield from extremal.coin(bound, self.delta)

    def largest_probability(self, q: arb, bound: arb) -> arb:
        return by_hockey_stick(q, bound, self.delta)

    def _bounded(self, other: OutputDivergence) -> Bound | None:
        if isinstance(other, Mult):
            return number(1), "a delta above 0 only relaxes pure privacy"
        if isinstance(other, MultDelta) and other.delta <= self.delta:
            return number(1), "a larger delta only relaxes"
        return None

    def composed(self, parts: Spent) -> Composed | None:
        """The naive sums of the epsilons and of the deltas, which have to stay below 1."""
        delta = Fraction(0)
        for measured, _ in parts:
            if not isinstance(measured, MultDelta) and not is_pure(measured):
                return None
            delta += measured.delta if isinstance(measured, MultDelta) else 0
        if delta >= 1:
            return None
        return Composed(
            divergence=MultDelta(delta=delta),
            value=total(value for _, value in parts),
            rule="epsilon adds and delta adds",
            citation="Dwork and Roth 2014, Theorem 3.16; K-section 6",
        )

    def __str__(self) -> str:
        return f"{self.name} (delta = {number(self.delta).plain()})"


@define
class DNor(Named):
    """Normalised Renyi metric, the standard of zero-concentrated privacy (B-D18).

    d(P, Q) = sup over alpha > 1 of sqrt(max(D_alpha(P||Q), D_alpha(Q||P)) / alpha). A budget is written as rho, and
    rho-zCDP says d <= sqrt(rho): the Lipschitz constant of the budget rho is its square root (B-X1).

    It is a metric. For w > alpha - 1 and t = (alpha - 1)/w, Hoelder's inequality gives
    D_alpha(P||Q) <= (alpha w / (alpha - 1)) a + (alpha w / (w + 1 - alpha)) b = alpha (a/t + b/(1 - t))
    whenever D_beta(P||R) <= a beta and D_beta(R||Q) <= b beta for all beta > 1, and the least value over t in (0, 1) is
    alpha (sqrt(a) + sqrt(b))^2.

    >>> from dpspec.laws.finite import FiniteLaw
    >>> value = DNor().between(FiniteLaw.bernoulli("3/4"), FiniteLaw.bernoulli("1/4"))
    >>> value.lower.decimal(), value.upper.decimal()
    ('0.741152', '0.741152')
    >>> str(DNor().lipschitz("rho", number("2.56")))
    '8/5'
    """

    name: ClassVar[str] = "d-nor"
    is_metric: ClassVar[bool] = True
    budget_parameters: ClassVar[tuple[str, ...]] = ("rho",)

    def evaluate(self, pair: Dichotomy, *, precision: int = 64) -> Bracket:
        return both_ways(pair, lambda way: way.concentration(precision=precision)).sqrt()

    def separates_laws(self) -> bool:
        return True

    def lipschitz(self, parameter: str, value: Number) -> Number:
        return value.sqrt()

    def budget_for(self, parameter: str, constant: Number) -> Number:
        return rounded_product(constant, constant)

    def extremal(self, bound: Number) -> Iterator[Answers]:
        yield extremal.discrete_gaussian(bound)

    def largest_probability(self, q: arb, bound: arb) -> arb:
        """Through the orders 9/8 to 64 only, which is a concave function above the exact one."""
        return by_power(q, [(order, bound**2 * ball(order)) for order in ORDERS])

    def _bounded(self, other: OutputDivergence) -> Bound | None:
        if is_pure(other):
            return _HALF_ROOT, "epsilon-DP implies (epsilon^2/2)-zCDP (Bun and Steinke 2016, Proposition 1.4)"
        return None

    def composed(self, parts: Spent) -> Composed | None:
        return added(self, parts, "rho adds", "Bun and Steinke 2016, Lemma 1.7; K-section 6")


@define
class Renyi(Named):
    """Renyi divergence of one order, the larger of the two directions (B-D17).

    d(P, Q) = max(D_alpha(P||Q), D_alpha(Q||P)) with D_alpha(P||Q) = ln(sum p^alpha q^(1-alpha)) / (alpha - 1).
    No metric (B-S3); its budget is epsilon at that order.

    Args:
        order: alpha > 1.

    >>> from dpspec.laws.finite import FiniteLaw
    >>> str(Renyi(order=2).between(FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("1/4")))
    'ln(4/3)'
    """

    name: ClassVar[str] = "renyi"

    order: Annotated[Fraction, Rational(1, open_low=True)]

    def evaluate(self, pair: Dichotomy, *, precision: int = 64) -> Bracket:
        return both_ways(pair, lambda way: way.renyi(self.order, precision=precision))

    def separates_laws(self) -> bool:
        """For every order above 1 (van Erven and Harremoes 2014, Theorem 8)."""
        return True

    def extremal(self, bound: Number) -> Iterator[Answers]:
        rate = (bound / self.order).sqrt() if bound.root == 1 else None
        if rate is not None:
            yield extremal.discrete_gaussian(rate)

    def largest_probability(self, q: arb, bound: arb) -> arb:
        return by_power(q, [(self.order, bound)])

    def _bounded(self, other: OutputDivergence) -> Bound | None:
        if is_pure(other):
            return number(1), "D_alpha never exceeds the largest log-ratio"
        if isinstance(other, Renyi) and self.order <= other.order:
            return number(1), "D_alpha never decreases in alpha"
        return None

    def composed(self, parts: Spent) -> Composed | None:
        return added(self, parts, "epsilon adds at one order", "Mironov 2017, Proposition 1; K-section 6")

    def __str__(self) -> str:
        return f"{self.name} (order = {self.order})"


@define
class TotalVariation(Named):
    """Total variation distance (B-D19).

    d(P, Q) = sup over events S of |P(S) - Q(S)|. A metric of size at most 1, so that even disjoint laws are at a finite
    distance and releasing the data themselves has a finite constant (B-S12). Its budget is the `distance`.

    >>> from dpspec.laws.finite import FiniteLaw
    >>> str(TotalVariation().between(FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("1/4")))
    '1/4'
    """

    name: ClassVar[str] = "total-variation"
    is_metric: ClassVar[bool] = True
    separates_disjoint: ClassVar[bool] = False
    budget_parameters: ClassVar[tuple[str, ...]] = ("distance",)

    def evaluate(self, pair: Dichotomy, *, precision: int = 64) -> Bracket:
        return pair.total_variation(precision=precision)

    def separates_laws(self) -> bool:
        return True

    def event_bounds(self, bound: Number) -> EventBounds:
        return ((ZERO, bound),)

    def extremal(self, bound: Number) -> Iterator[Answers]:
        yield extremal.linear_coin(bound)

    def largest_probability(self, q: arb, bound: arb) -> arb:
        return (q + bound).min(arb(1))

    def _bounded(self, other: OutputDivergence) -> Bound | None:
        if is_pure(other):
            return number(Fraction(1, 2)), "it is at most tanh(epsilon/2), which is at most epsilon/2"
        if isinstance(other, DNor):
            return _HALF_ROOT, "Pinsker's inequality, and the Kullback-Leibler divergence is at most d-nor squared"
        return None

    def composed(self, parts: Spent) -> Composed | None:
        return added(self, parts, "the distance adds, at most", "the laws of each part are coupled in turn (B-D19)")


def is_pure(divergence: OutputDivergence) -> bool:
    """Whether the divergence is the multiplicative distance, under either name."""
    return isinstance(divergence, Mult) or (isinstance(divergence, MultDelta) and divergence.delta == 0)
