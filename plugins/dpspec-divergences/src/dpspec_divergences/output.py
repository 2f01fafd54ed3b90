"""Output divergences: multiplicative, approximate, normalised Renyi, Renyi of one order, total variation.

Each is a function of the pair of laws seen through its likelihood ratio (`Dichotomy`), in both directions.

What one allows on one event is the largest p = P(S) at q = Q(S), in ball arithmetic. Every one of them obeys data processing,
so that the binary laws (p, 1 - p) and (q, 1 - q) decide. Answers use up a bound to the last.

Numbers that are defined by an equation or as a least value lie in brackets whose ends are proved in ball arithmetic.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Annotated, ClassVar

from flint import arb, ctx

from dpspec.plugin import (
    Bound,
    Bracket,
    FiniteLaw,
    Number,
    OutputDivergence,
    Rational,
    blocks,
    define,
    errors,
    exact,
    is_a,
    laws,
    number,
)

ORDERS = tuple(Fraction(n, 8) for n in (9, 10, 12, 16, 22, 32, 48, 72, 128, 256, 512))
"""The Renyi orders at which a concentrated claim is evaluated first."""

_HALVINGS = 50


def by_hockey_stick(q: arb, epsilon: arb, delta: Fraction) -> arb:
    """min(e^epsilon q + delta, 1 - e^-epsilon (1 - q - delta), 1): the event, and its complement the other way round.

    >>> by_hockey_stick(arb("0.25"), arb(2).log(), Fraction(0)).overlaps(arb("0.5"))
    True
    """
    slack = exact.ball(delta)
    straight = epsilon.exp() * q + slack
    return straight.min(1 - (-epsilon).exp() * (1 - q - slack)).min(arb(1))


_LARGEST_ORDER = Fraction(10) ** 9
"""Larger orders ask for next to nothing more than this one, and powers of them are not known in doubles."""


def by_power(q: arb, budgets: Sequence[tuple[Fraction, arb]]) -> arb:
    """The largest p with D_a(p || q) <= c and D_a(q || p) <= c for all given (a, c), a > 1.

    With F(u, v) = u^a v^(1-a) + (1-u)^a (1-v)^(1-a) this says F(p, q) and F(q, p) <= e^((a-1) c), both increasing in p above q.
    Solved in floats, then enclosed by checks in ball arithmetic.

    >>> found = by_power(arb("0.5"), [(Fraction(2), (arb(4) / 3).log())])
    >>> round(float(found.mid()), 9)
    0.75
    """
    if q <= 0 or q >= 1:
        return arb(0) if q <= 0 else arb(1)
    budgets = [(min(a, _LARGEST_ORDER), c) for a, c in budgets]  # a smaller order asks for no more
    at, limits = float(q.mid()), [(float(a), float((exact.ball(a - 1) * c).mid())) for a, c in budgets]
    low, high = at, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _fits(middle, at, limits) else (low, middle)
    bounds = [(exact.ball(a), (exact.ball(a - 1) * c).exp()) for a, c in budgets]
    return _enclosed(low, q, bounds)


def _fits(p: float, q: float, limits: list[tuple[float, float]]) -> bool:
    """Whether ln F <= limit both ways for every order; an order that fails moves to the front, to be tested first next time."""
    hit, miss = math.log(p / q), math.log1p(-p) - math.log1p(-q) if p < 1 else -math.inf
    for place, (order, limit) in enumerate(limits):
        forth = _log_sum(math.log(q) + order * hit, math.log1p(-q) + order * miss)
        back = _log_sum(math.log(p) - order * hit, math.log1p(-p) - order * miss) if p < 1 else math.inf
        if max(forth, back) > limit:
            limits.insert(0, limits.pop(place))
            return False
    return True


def _log_sum(a: float, b: float) -> float:
    """ln(e^a + e^b)."""
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


def _enclosed(found: float, q: arb, budgets: Sequence[tuple[arb, arb]]) -> arb:
    """A ball around the solution, widened until both its ends are certain."""
    width = 1e-14
    low, high = q, arb(1)
    while width < 1:
        below, above = arb(found - width), arb(found + width)
        if low is q and below > q and all(_power(u, v, a) <= top for a, top in budgets for u, v in ((below, q), (q, below))):
            low = below
        if above >= 1 or any(_power(u, v, a) > top for a, top in budgets for u, v in ((above, q), (q, above))):
            high = above.min(arb(1))
            break
        width *= 8
    return low.union(high)


def _power(u: arb, v: arb, order: arb) -> arb:
    return u**order * v ** (1 - order) + (1 - u) ** order * (1 - v) ** (1 - order)


# --- answers --------------------------------------------------------------------------------------


_LARGEST = 40
"""Odds are written down as ratios up to e^40."""


def geometric(bound: Number) -> laws.Answers:
    """Two-sided geometric noise of decay epsilon: its log-ratio is epsilon for each step, everywhere
    (Dwork, McSherry, Nissim and Smith 2006, Definition 1)."""
    law = partial(laws.TwoSidedGeometricLaw, decay=bound)
    return laws.Answers(law=law, words=f"plus two-sided geometric noise of decay {exact.in_few_digits(bound)}")


def coin(bound: Number, delta: Fraction = Fraction(0)) -> Iterator[laws.Answers]:
    """The worst pair of (epsilon, delta)-privacy: truth shown with probability delta, else a coin of odds e^epsilon."""
    if bound > _LARGEST:
        return
    ratio = laws.rational_exponential(bound) if bound.root == 1 else None
    odds = exact.dyadic(bound.enclose(64).exp().lower()) if ratio is None else ratio
    truth, lie = (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds)
    if not delta:
        answers = (FiniteLaw.bernoulli(lie), FiniteLaw.bernoulli(truth))
        words = f"yes with probability {exact.in_few_digits(truth)} if so, {exact.in_few_digits(lie)} if not"
        yield laws.Answers(law=answers.__getitem__, words=words, most=1)
        return
    shown = (("surely no", lie), ("surely yes", truth))
    both = [FiniteLaw.of({sign: delta, "yes": p, "no": 1 - delta - p}) for sign, p in shown]
    to_one = exact.in_few_digits(odds)
    words = f"with probability {exact.in_few_digits(delta)} what surely holds, else yes with odds of {to_one} to 1 if so"
    words += f", 1 to {to_one} if not"
    yield laws.Answers(law=both.__getitem__, words=words, most=1)


def discrete_gaussian(bound: Number) -> laws.Answers:
    """Discrete Gaussian noise of variance 1/(2 bound^2): D_alpha is alpha bound^2 at integer orders, less at others
    (Bun and Steinke 2016, Definition 1.1)."""
    square = bound.squared() if bound.is_rational or bound.root == 2 else None
    rate = square.as_fraction() if square is not None and square.is_rational else exact.dyadic((_from_below(bound) ** 2).lower())
    variance = 1 / (2 * rate)
    law = partial(laws.DiscreteGaussianLaw, variance=variance)
    return laws.Answers(law=law, words=f"plus discrete Gaussian noise of variance {exact.in_few_digits(variance)}")


def linear_coin(bound: Number) -> laws.Answers:
    """Yes with probability min(1, bound i): its total variation is bound for each step until it is 1."""
    rate = bound.as_fraction() if bound.is_rational else exact.dyadic(_from_below(bound))
    words = f"answered by yes with probability {exact.in_few_digits(rate)} for each 1 in it, at most 1"
    return laws.Answers(law=partial(_coin_of, rate), words=words)


def _from_below(bound: Number) -> arb:
    """A positive lower end of a positive number: one such as ln(1 + 1e-35) takes more bits than others."""
    precision = 64
    while not bound.enclose(precision).lower() > 0:
        precision *= 2
    return bound.enclose(precision).lower()


def _coin_of(rate: Fraction, ones: int) -> FiniteLaw:
    return FiniteLaw.bernoulli(min(Fraction(1), rate * ones))


def gaussian(bound: Number) -> Iterator[laws.Answers]:
    """Gaussian noise of variance 1/mu^2: mu for each step, exactly."""
    if bound.is_rational:
        variance = 1 / bound.as_fraction() ** 2
        words = f"plus Gaussian noise of variance {exact.in_few_digits(variance)}"
        yield laws.Answers(law=partial(_gaussian, variance), words=words)


def _gaussian(variance: Fraction, center: int) -> laws.GaussianLaw:
    return laws.GaussianLaw(center, variance)


def of_curve(bound: Number, curve: laws.TradeOff) -> Iterator[laws.Answers]:
    """The pair of laws whose trade-off function is the curve of so many steps."""
    steps = int(exact.dyadic(exact.ball(bound.as_fraction()).lower()).__floor__()) if bound.is_rational else 0
    if steps < 1:
        return
    knots = curve.group(steps).knots
    pieces = list(itertools.pairwise(knots))
    no: dict[Hashable, Fraction] = {place: right[0] - left[0] for place, (left, right) in enumerate(pieces)}
    yes: dict[Hashable, Fraction] = {place: left[1] - right[1] for place, (left, right) in enumerate(pieces)}
    yes[-1] = 1 - knots[0][1]
    pair = (FiniteLaw.of(no), FiniteLaw.of(yes))
    yield laws.Answers(law=pair.__getitem__, words=f"by the two pair of the trade-off function {curve.group(steps)}", most=1)


# --- the divergences ------------------------------------------------------------------------------


_HALF_ROOT = exact.sqrt(Fraction(1, 2))


def both_ways(pair: laws.Dichotomy, functional: Callable[[laws.Dichotomy], Bracket]) -> Bracket:
    """The larger of the two directions; a pair that is its own reverse is evaluated once."""
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
    """Multiplicative distance, the standard of pure differential privacy (Dwork, McSherry, Nissim and Smith 2006, Definition 1).

    d(P, Q) = sup over events S of |ln(P(S)/Q(S))|. A metric; its budget is epsilon.

    >>> from dpspec.plugin import FiniteLaw
    >>> str(Mult().between(FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("1/4")))
    'ln(2)'
    """

    name: ClassVar[str] = "mult"
    is_symmetric: ClassVar[bool] = True
    keeps_mixtures: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True

    def evaluate(self, pair: laws.Dichotomy, *, precision: int = 64) -> Bracket:
        return both_ways(pair, lambda way: way.max_log_ratio(precision=precision))

    def separates_laws(self) -> bool:
        return True

    def event_bounds(self, bound: Number) -> blocks.EventBounds:
        return ((bound, exact.ZERO),)

    def score(self, pair: laws.Dichotomy) -> tuple[int, int] | None:
        return pair.largest_ratio() if isinstance(pair, laws.FiniteDichotomy) else None

    def extremal(self, bound: Number) -> Iterator[laws.Answers]:
        yield geometric(bound)
        yield from coin(bound)

    def largest_probability(self, q: arb, bound: arb) -> arb:
        return by_hockey_stick(q, bound, Fraction(0))

    def largest_loss(self, bound: Number) -> Number | None:
        return bound

    def worst_pairs(self, bound: Number) -> blocks.WorstPairs:
        return responses(bound, (Fraction(0), Fraction(0)))

    def _bounded(self, other: OutputDivergence) -> Bound | None:
        if is_pure(other):
            return number(1), "mult-delta at delta = 0 is mult (Dwork, Kenthapadi, McSherry, Mironov and Naor 2006)"
        return None

    def composed(self, parts: blocks.SpentBudgets) -> blocks.Composed | None:
        return blocks.added(self, parts, "epsilon adds", "Dwork and Roth 2014, Theorem 3.14")

    def in_words(self) -> str:
        return "pure differential privacy"


@define
class MultDelta(Named):
    """Approximate differential privacy: the least epsilon at a fixed delta (Dwork, Kenthapadi, McSherry, Mironov and Naor 2006).

    d(P, Q) = sup over S of max{ ln([P(S) - delta]+ / Q(S)), ln([Q(S) - delta]+ / P(S)), 0 }, which is at most epsilon
    exactly when P(S) <= e^epsilon Q(S) + delta and conversely. No metric; its budget is epsilon.

    Args:
        delta: the slack in probability, in [0, 1); part of the name of the divergence.

    >>> from dpspec.plugin import FiniteLaw
    >>> str(MultDelta(delta="0.1").between(FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("1/4")))
    'ln(8/5)'
    """

    name: ClassVar[str] = "mult-delta"
    is_symmetric: ClassVar[bool] = True
    keeps_mixtures: ClassVar[bool] = True

    delta: Annotated[Fraction, Rational(0, 1, open_high=True)]

    def evaluate(self, pair: laws.Dichotomy, *, precision: int = 64) -> Bracket:
        return both_ways(pair, lambda way: way.epsilon_at(self.delta, precision=precision))

    def separates_laws(self) -> bool:
        return self.delta == 0

    def event_bounds(self, bound: Number) -> blocks.EventBounds:
        return ((bound, number(self.delta)),)

    def extremal(self, bound: Number) -> Iterator[laws.Answers]:
        yield from coin(bound, self.delta)

    def largest_probability(self, q: arb, bound: arb) -> arb:
        return by_hockey_stick(q, bound, self.delta)

    def largest_loss(self, bound: Number) -> Number | None:
        """At delta = 0 it is pure privacy; above 0 an event of probability delta may have probability 0 under the other law."""
        return bound if self.delta == 0 else None

    def worst_pairs(self, bound: Number) -> blocks.WorstPairs:
        return responses(bound, (self.delta, self.delta))

    def _bounded(self, other: OutputDivergence) -> Bound | None:
        if is_a(other, Mult):
            return number(1), "a delta above 0 only relaxes pure privacy"
        if is_a(other, MultDelta) and other.delta <= self.delta:
            return number(1), "a larger delta only relaxes"
        return None

    def composed(self, parts: blocks.SpentBudgets) -> blocks.Composed | None:
        """The naive sums of the epsilons and of the deltas, which have to stay below 1."""
        if not all(is_a(measured, MultDelta) or is_pure(measured) for measured, _ in parts):
            return None
        often = Counter(measured for measured, _ in parts)  # a million equal releases are one product
        delta = sum((measured.delta * n for measured, n in often.items() if is_a(measured, MultDelta)), Fraction(0))
        if delta >= 1:
            return None
        return blocks.Composed(
            divergence=MultDelta(delta=delta),
            value=blocks.total(value for _, value in parts),
            rule="epsilon adds and delta adds",
            citation="Dwork and Roth 2014, Theorem 3.16",
        )

    def in_words(self) -> str:
        return f"approximate differential privacy (delta = {number(self.delta).plain()})"

    def __str__(self) -> str:
        return f"{self.name} (delta = {number(self.delta).plain()})"


@define
class DNor(Named):
    """Normalised Renyi metric, the standard of zero-concentrated privacy (Bun and Steinke 2016, Definition 1.1).

    d(P, Q) = sup over alpha > 1 of sqrt(max(D_alpha(P||Q), D_alpha(Q||P)) / alpha). A budget is written as rho, and
    rho-zCDP says d <= sqrt(rho): the Lipschitz constant of the budget rho is its square root.

    It is a metric. For w > alpha - 1 and t = (alpha - 1)/w, Hoelder's inequality gives
    D_alpha(P||Q) <= (alpha w / (alpha - 1)) a + (alpha w / (w + 1 - alpha)) b = alpha (a/t + b/(1 - t))
    whenever D_beta(P||R) <= a beta and D_beta(R||Q) <= b beta for all beta > 1, and the least value over t in (0, 1) is
    alpha (sqrt(a) + sqrt(b))^2.

    >>> from dpspec.plugin import FiniteLaw
    >>> value = DNor().between(FiniteLaw.bernoulli("3/4"), FiniteLaw.bernoulli("1/4"))
    >>> value.lower.decimal(), value.upper.decimal()
    ('0.741152', '0.741152')
    >>> str(DNor().lipschitz("rho", number("2.56")))
    '8/5'
    """

    name: ClassVar[str] = "d-nor"
    is_symmetric: ClassVar[bool] = True
    keeps_mixtures: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    budget_parameters: ClassVar[tuple[str, ...]] = ("rho",)

    def evaluate(self, pair: laws.Dichotomy, *, precision: int = 64) -> Bracket:
        return both_ways(pair, lambda way: way.concentration(precision=precision)).sqrt()

    def separates_laws(self) -> bool:
        return True

    def lipschitz(self, parameter: str, value: Number) -> Number:
        return value.sqrt()

    def budget_for(self, parameter: str, constant: Number) -> Number:
        return exact.rounded_product(constant, constant)

    def extremal(self, bound: Number) -> Iterator[laws.Answers]:
        yield discrete_gaussian(bound)

    def largest_probability(self, q: arb, bound: arb) -> arb:
        """Through the orders 9/8 to 64 only, which is a concave function above the exact one."""
        return by_power(q, [(order, bound**2 * exact.ball(order)) for order in ORDERS])

    def _bounded(self, other: OutputDivergence) -> Bound | None:
        if is_pure(other):
            return _HALF_ROOT, "epsilon-DP implies (epsilon^2/2)-zCDP (Bun and Steinke 2016, Proposition 1.4)"
        return None

    def composed(self, parts: blocks.SpentBudgets) -> blocks.Composed | None:
        return blocks.added(self, parts, "rho adds", "Bun and Steinke 2016, Lemma 1.7")

    def in_words(self) -> str:
        return "zero-concentrated differential privacy"


@define
class Renyi(Named):
    """Renyi divergence of one order, the larger of the two directions (Mironov 2017, Definition 3).

    d(P, Q) = max(D_alpha(P||Q), D_alpha(Q||P)) with D_alpha(P||Q) = ln(sum p^alpha q^(1-alpha)) / (alpha - 1).
    No metric; its budget is epsilon at that order.

    Args:
        order: alpha > 1, a number without a unit.

    >>> from dpspec.plugin import FiniteLaw
    >>> str(Renyi(order=2).between(FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("1/4")))
    'ln(4/3)'
    """

    name: ClassVar[str] = "renyi"
    is_symmetric: ClassVar[bool] = True
    keeps_mixtures: ClassVar[bool] = True

    order: Annotated[Fraction, Rational(1, open_low=True)]

    def evaluate(self, pair: laws.Dichotomy, *, precision: int = 64) -> Bracket:
        return both_ways(pair, lambda way: way.renyi(self.order, precision=precision))

    def separates_laws(self) -> bool:
        """For every order above 1 (van Erven and Harremoes 2014, Theorem 8)."""
        return True

    def extremal(self, bound: Number) -> Iterator[laws.Answers]:
        rate = (bound / self.order).sqrt() if bound.root == 1 else None
        if rate is not None:
            yield discrete_gaussian(rate)

    def largest_probability(self, q: arb, bound: arb) -> arb:
        return by_power(q, [(self.order, bound)])

    def _bounded(self, other: OutputDivergence) -> Bound | None:
        if is_pure(other):
            return number(1), "D_alpha never exceeds the largest log-ratio"
        if is_a(other, Renyi) and self.order <= other.order:
            return number(1), "D_alpha never decreases in alpha"
        return None

    def composed(self, parts: blocks.SpentBudgets) -> blocks.Composed | None:
        return blocks.added(self, parts, "epsilon adds at one order", "Mironov 2017, Proposition 1")

    def in_words(self) -> str:
        return f"Renyi differential privacy of order {self.order}"

    def __str__(self) -> str:
        return f"{self.name} (order = {self.order})"


@define
class TotalVariation(Named):
    """Total variation distance.

    d(P, Q) = sup over events S of |P(S) - Q(S)|. A metric of size at most 1, so that even disjoint laws are at a finite
    distance and releasing the data themselves has a finite constant. Its budget is the `distance`.

    >>> from dpspec.plugin import FiniteLaw
    >>> str(TotalVariation().between(FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("1/4")))
    '1/4'
    """

    name: ClassVar[str] = "total-variation"
    is_symmetric: ClassVar[bool] = True
    keeps_mixtures: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    budget_parameters: ClassVar[tuple[str, ...]] = ("distance",)

    def evaluate(self, pair: laws.Dichotomy, *, precision: int = 64) -> Bracket:
        return pair.total_variation(precision=precision)

    def separates_laws(self) -> bool:
        return True

    def event_bounds(self, bound: Number) -> blocks.EventBounds:
        return ((exact.ZERO, bound),)

    def extremal(self, bound: Number) -> Iterator[laws.Answers]:
        yield linear_coin(bound)

    def largest_probability(self, q: arb, bound: arb) -> arb:
        return (q + bound).min(arb(1))

    def worst_pairs(self, bound: Number) -> blocks.WorstPairs:
        return responses(exact.ZERO, probability(bound))

    def _bounded(self, other: OutputDivergence) -> Bound | None:
        if is_pure(other):
            return number(Fraction(1, 2)), "it is at most tanh(epsilon/2), which is at most epsilon/2"
        if is_a(other, DNor):
            return _HALF_ROOT, "Pinsker's inequality, and the Kullback-Leibler divergence is at most d-nor squared"
        return None

    def composed(self, parts: blocks.SpentBudgets) -> blocks.Composed | None:
        return blocks.added(self, parts, "the distance adds, at most", "the laws of each part are coupled in turn")

    def in_words(self) -> str:
        return "total variation distance"


def is_pure(divergence: OutputDivergence) -> bool:
    """Whether the divergence is the multiplicative distance, under either name."""
    return is_a(divergence, Mult) or (is_a(divergence, MultDelta) and divergence.delta == 0)


# --- worst pairs ----------------------------------------------------------------------------------


LARGEST = 64
"""Up to this epsilon, or mu, a worst pair is written down."""
BITS = 96


def responses(epsilon: Number, deltas: tuple[Fraction, Fraction]) -> blocks.WorstPairs:
    """Randomised responses between which lies the worst pair of epsilon and a delta between two."""
    if epsilon.is_infinite:
        return _response(Fraction(1), Fraction(1)), _response(Fraction(1), Fraction(1))
    if epsilon > LARGEST:
        raise errors.NoFormulaError(
            "epsilon", f"is converted up to {LARGEST}", "larger numbers promise next to nothing", value=epsilon
        )
    ratio = laws.rational_exponential(epsilon)
    if ratio is not None:
        return _response(ratio, deltas[0]), _response(ratio, deltas[1])
    with ctx.workprec(BITS):
        enclosure = epsilon.enclose(BITS).exp()
    low, high = max(exact.dyadic(enclosure.lower()), Fraction(1)), exact.dyadic(enclosure.upper())
    return _response(low, deltas[0]), _response(high, deltas[1])


def _response(ratio: Fraction, delta: Fraction) -> laws.Dichotomy:
    """Randomised response with odds `ratio`, except that with probability delta the data are given away."""
    heads = (1 - delta) * ratio / (1 + ratio)
    tails = (1 - delta) / (1 + ratio)
    zero = Fraction(0)
    return laws.FiniteDichotomy.of([(heads, tails), (tails, heads), (delta, zero), (zero, delta)])


def probability(value: Number) -> tuple[Fraction, Fraction]:
    """A probability, or two that it lies between."""
    if value >= 1:
        return Fraction(1), Fraction(1)
    low, high = ends(value)
    return max(low, Fraction(0)), min(high, Fraction(1))


def ends(value: Number) -> tuple[Fraction, Fraction]:
    if value.is_rational:
        return value.as_fraction(), value.as_fraction()
    enclosure = value.enclose(BITS)
    return exact.dyadic(enclosure.lower()), exact.dyadic(enclosure.upper())


# --- solving equations ----------------------------------------------------------------------------


WORKING = 160
"""Bits of the balls."""

CLOSE = Fraction(1, 1 << 64)
"""Brackets are halved until they are this narrow, in relation to their size."""


def crossing(excess: Callable[[arb], arb], low: Fraction, *, step: Fraction = Fraction(1)) -> tuple[Fraction, Fraction]:
    """Two points around the only zero above `low` of a function that is positive before it and negative after it.

    Each end moves only when the sign there is certain; when it is not, the bracket stays as wide as it is.

    >>> low, high = crossing(lambda x: 2 - x * x, Fraction(0))
    >>> low**2 < 2 < high**2, float(high - low) < 1e-18
    (True, True)
    """
    with ctx.workprec(WORKING):
        high = low + step
        while not excess(exact.ball(high)) < 0:
            high, step = high + step, 2 * step
        while high - low > CLOSE * max(high, CLOSE):
            middle = exact.dyadic((exact.ball(low + high) / 2).mid())
            value = excess(exact.ball(middle))
            if value > 0:
                low = middle
            elif value < 0:
                high = middle
            else:
                break
    return low, high


def enclosed(formula: Callable[[], arb]) -> Bracket:
    """The bracket, from 0 on, of a formula that is evaluated in ball arithmetic."""
    with ctx.workprec(WORKING):
        return Bracket.around(formula(), least=0)


def between(low: Fraction, high: Fraction) -> arb:
    """A ball around all numbers from low to high."""
    return exact.ball(low).union(exact.ball(high))
