"""Output divergences of trade-off functions: hockey stick, Gaussian privacy, and steps of a given curve.

Trade-off functions are made of lists of points: many (epsilon, delta) of one mechanism say more than any of them alone (Kifer et
al. 2022).
Both functions round to the safe side: the curve is nowhere above the largest one that the points imply.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, ClassVar

from flint import arb, ctx

from dpspec.plugin import (
    Bound,
    Bracket,
    Exact,
    Items,
    Number,
    OutputDivergence,
    ParameterError,
    Rational,
    blocks,
    define,
    errors,
    exact,
    is_a,
    laws,
    ln,
    number,
)
from dpspec_divergences import output as extremal
from dpspec_divergences.f_divergence import by_total_variation
from dpspec_divergences.output import DNor, Named, TotalVariation, both_ways, is_pure

MOST_STEPS = 100
"""Curves are composed at most this many times: each time they get more knots, and longer numbers in them."""

_PROBIT = Fraction(94, 75)
_DENSITY = Fraction(2, 5)
_BITS = 64
_FINENESS = Fraction(257, 256)


@define
class HockeyStick(Named):
    """The hockey-stick divergence at a fixed epsilon, the larger of the two directions.

    d(P, Q) = sup over events S of P(S) - e^epsilon Q(S), and the same with P and Q exchanged. Its budget is delta: on neighbours
    d <= delta is (epsilon, delta)-privacy, the same as `mult-delta` at that delta. They differ with the distance: two datasets
    at distance k are allowed k delta at the one epsilon here, and k epsilon at the one delta there. At epsilon = 0 it is the
    total variation; above 0 it is no metric (Barthe and Olmedo 2013).

    Args:
        epsilon: the log-ratio that is free, at least 0.

    >>> from dpspec.plugin import FiniteLaw
    >>> str(HockeyStick(epsilon="ln(2)").between(FiniteLaw.bernoulli("3/4"), FiniteLaw.bernoulli("1/4")))
    '1/4'
    """

    name: ClassVar[str] = "hockey-stick"
    is_symmetric: ClassVar[bool] = True
    keeps_mixtures: ClassVar[bool] = True
    budget_parameters: ClassVar[tuple[str, ...]] = ("delta",)

    epsilon: Annotated[Number, Exact(0, "inf", open_high=True)]

    def evaluate(self, pair: laws.Dichotomy, *, precision: int = 64) -> Bracket:
        return both_ways(pair, lambda way: way.hockey_stick(self.epsilon, precision=precision))

    def separates_laws(self) -> bool:
        """At epsilon = 0 alone: above it, laws within a likelihood ratio of e^epsilon are at 0."""
        return self.epsilon == 0

    def event_bounds(self, bound: Number) -> blocks.EventBounds:
        return ((self.epsilon, bound),)

    def extremal(self, bound: Number) -> Iterator[laws.Answers]:
        if bound.is_rational and bound < 1:
            yield from extremal.coin(self.epsilon, bound.as_fraction())

    def largest_probability(self, q: arb, bound: arb) -> arb:
        """min(e^epsilon q + delta, 1 - e^-epsilon (1 - q - delta), 1)."""
        epsilon = self.epsilon.enclose(ctx.prec)
        return (epsilon.exp() * q + bound).min(1 - (-epsilon).exp() * (1 - q - bound)).min(arb(1))

    def largest_loss(self, bound: Number) -> Number | None:
        """At delta = 0 a pair of laws is within pure privacy of epsilon."""
        return self.epsilon if bound == 0 else None

    def worst_pairs(self, bound: Number) -> blocks.WorstPairs:
        return extremal.responses(self.epsilon, extremal.probability(bound))

    def _bounded(self, other: OutputDivergence) -> Bound | None:
        if is_a(other, HockeyStick) and other.epsilon <= self.epsilon:
            return number(1), "a larger epsilon only relaxes"
        if is_pure(other):
            reason = "a pair with mult = m has a hockey stick of at most (e^m - e^epsilon)/(e^m + 1), here over m at its largest"
            return number(_largest_share(self.epsilon)), reason
        return by_total_variation(number(1), "it never exceeds the total variation", other)

    def bounds(self, other: OutputDivergence) -> Bound | None:
        if self.epsilon == 0 and is_a(other, TotalVariation):
            return number(1), "at epsilon = 0 it is the total variation"
        return None

    def composed(self, parts: blocks.SpentBudgets) -> blocks.Composed | None:
        """The naive sums of the epsilons, which are part of the divergences, and of the deltas."""
        sticks = [measured for measured, _ in parts if is_a(measured, HockeyStick)]
        if len(sticks) < len(parts):
            return None
        return blocks.Composed(
            divergence=HockeyStick(epsilon=blocks.total(stick.epsilon for stick in sticks)),
            value=blocks.total(value for _, value in parts),
            rule="epsilon adds and delta adds",
            citation="Dwork and Roth 2014, Theorem 3.16",
        )

    def in_words(self) -> str:
        return f"hockey-stick divergence at epsilon = {self.epsilon}"

    def __str__(self) -> str:
        return f"{self.name} (epsilon = {self.epsilon})"


@lru_cache(maxsize=64)
def _largest_share(epsilon: Number) -> Fraction:
    """A bound, at most 1/2 and close to the least, of (e^m - e^epsilon)/((e^m + 1) m) over m > epsilon, by short intervals."""
    if epsilon < Fraction(1, 64):
        return Fraction(1, 2)  # by the total variation
    low, best = exact.dyadic(epsilon.enclose(_BITS).lower()), Fraction(0)
    with ctx.workprec(_BITS):
        while 1 / low > best:
            high = low * _FINENESS
            top = exact.ball(high)  # the numerator and the denominator are divided by e^m, which may be beyond all numbers
            share = -(epsilon.enclose(_BITS) - top).expm1() / ((1 + (-top).exp()) * exact.ball(low))
            best = max(best, exact.dyadic(share.upper()))
            low = high
    return min(Fraction(1, 2), Fraction(-(-best.numerator * 1000 // best.denominator), 1000))


@define
class GaussianTradeOff(Named):
    """Gaussian privacy: the laws are at least as hard to distinguish as N(0, 1) and N(mu, 1) (Dong, Roth and Su 2022).

    d(P, Q) = the least mu with T(P, Q) >= G_mu, G_mu(a) = Phi(Phi^-1(1 - a) - mu); both directions say the same, since G_mu is
    its own inverse. Its budget is mu. It is exact for two Gaussians of one variance, and in a narrow bracket for laws with a
    bounded likelihood ratio; for others, such as discrete Gaussians, only a lower bound is known, which may refute and never
    verifies.

    It is a metric: T(P, Q) >= G_a and T(Q, R) >= G_b give T(P, R) >= G_b(1 - G_a), which is G_(a+b).

    >>> from dpspec.plugin import laws
    >>> str(GaussianTradeOff().between(laws.GaussianLaw(0, 4), laws.GaussianLaw(3, 4)))
    '3/2'
    """

    name: ClassVar[str] = "gaussian-trade-off"
    is_symmetric: ClassVar[bool] = True
    keeps_mixtures: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    budget_parameters: ClassVar[tuple[str, ...]] = ("mu",)

    def evaluate(self, pair: laws.Dichotomy, *, precision: int = 64) -> Bracket:
        return laws.least_mu(pair, precision=precision)

    def separates_laws(self) -> bool:
        """G_0 is 1 - a, the curve of equal laws."""
        return True

    def extremal(self, bound: Number) -> Iterator[laws.Answers]:
        yield from extremal.gaussian(bound)

    def largest_probability(self, q: arb, bound: arb) -> arb:
        """1 - G_mu(q) = Phi(Phi^-1(q) + mu), concave in q."""
        if q <= 0 or q >= 1:
            return arb(0) if q <= 0 else arb(1)
        root = arb(2).sqrt()
        return (-((2 * q - 1).erfinv() + bound / root)).erfc() / 2

    def worst_pairs(self, bound: Number) -> blocks.WorstPairs:
        if bound.is_infinite:
            return extremal.responses(bound, (Fraction(0), Fraction(0)))
        if bound > extremal.LARGEST:
            rule = f"is converted up to mu = {extremal.LARGEST}"
            raise errors.NoFormulaError(self.name, rule, "larger numbers promise next to nothing", value=bound)
        if bound.logs:
            low, high = extremal.ends(bound)
            return _gaussians(low * low), _gaussians(high * high)
        pair = _gaussians(bound.squared().as_fraction())
        return pair, pair

    def _bounded(self, other: OutputDivergence) -> Bound | None:
        if is_pure(other):
            return number(_PROBIT), "mu <= 2 Phi^-1(e^m/(1 + e^m)), which is concave in m with slope sqrt(pi/2) < 94/75 at 0"
        return None

    def bounds(self, other: OutputDivergence) -> Bound | None:
        if is_a(other, DNor):
            return exact.sqrt(
                Fraction(1, 2)
            ), "mu-Gaussian privacy processes two Gaussians mu apart, which are (mu^2/2)-concentrated"
        if is_a(other, TotalVariation):
            return number(_DENSITY), "it is at most 2 Phi(mu/2) - 1, and the Gaussian density is below 2/5"
        return None

    def composed(self, parts: blocks.SpentBudgets) -> blocks.Composed | None:
        if any(measured != self for measured, _ in parts):
            return None
        squares = {key: exact.rounded_product(mu, mu) for key, mu in {id(mu): mu for _, mu in parts}.items()}
        square = blocks.total(squares[id(mu)] for _, mu in parts)  # a release that is made a million times is one object
        return blocks.Composed(
            divergence=self, value=square.sqrt(), rule="mu^2 adds", citation="Dong, Roth and Su 2022, Corollary 3.3"
        )

    def in_words(self) -> str:
        return "Gaussian differential privacy"


def _gaussians(square: Fraction) -> laws.Dichotomy:
    """N(0, 1/mu^2) against N(1, 1/mu^2), by mu^2."""
    if square == 0:
        return laws.FiniteDichotomy((1,), (1,), 1, 1)
    return laws.GaussianLaw(0, 1 / square).against(laws.GaussianLaw(1, 1 / square))


@define
class TradeOffSteps(Named):
    """f-differential privacy with a curve for a budget, counted in steps of the curve (Dong, Roth and Su 2022).

    A curve f is no number. But f-privacy on neighbours gives a group of k the curve f_k = 1 - (1 - f) composed k times (their
    theorem on group privacy), and the curves f_0 = 1 - a, f_1 = f, f_2, ... fall. So the curve becomes the unit of measurement,

        d(P, Q) = the least k in {0, 1, 2, ..., inf} with T(P, Q) >= f_k,

    and a budget of 1 step says: f-private, with what that means for groups. f must be its own inverse; then d is a metric,
    since T(P, Q) >= f_j and T(Q, R) >= f_k give T(P, R) >= f_k(1 - f_j), which is f_(j+k). Its budget is `steps`.
    After `MOST_STEPS` steps only that is known as a lower bound: the numbers get long, and no budget is meant that far away.

    Args:
        curve: the knots (level, error) of f, from level 0 to (1, 0).
        epsilon: instead of a curve, that of pure or approximate privacy, e^epsilon rational, with
        delta: the slack in probability.

    >>> from dpspec.plugin import FiniteLaw
    >>> steps = TradeOffSteps(epsilon="ln(2)")
    >>> str(steps.between(FiniteLaw.bernoulli("3/4"), FiniteLaw.bernoulli("1/4"))), str(steps.f)
    ('2', '(0, 1), (1/3, 1/3), (1, 0)')
    """

    name: ClassVar[str] = "trade-off"
    is_symmetric: ClassVar[bool] = True
    keeps_mixtures: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    budget_parameters: ClassVar[tuple[str, ...]] = ("steps",)

    curve: Annotated[tuple[tuple[Fraction, ...], ...], Items(Items(Rational(0, 1)))] = ()
    epsilon: Annotated[Number, Exact(0, "inf", open_high=True)] | None = None
    delta: Annotated[Fraction, Rational(0, 1, open_high=True)] = Fraction(0)

    def __attrs_post_init__(self) -> None:
        if bool(self.curve) == (self.epsilon is not None) or (self.curve and self.delta):
            raise ParameterError("trade-off", "needs either a curve, or epsilon and perhaps delta", 'write epsilon = "ln(3)"')
        if not self.f.is_symmetric:
            raise ParameterError("curve", "must be its own inverse: with (a, b) it holds (b, a)", value=str(self.f))
        if self.f == laws.PERFECT:
            raise ParameterError("curve", "must lie below 1 - a, of which any number of steps lead nowhere", value=str(self.f))

    @property
    def f(self) -> laws.TradeOff:
        """The curve of one step."""
        return _curve(self)

    def evaluate(self, pair: laws.Dichotomy, *, precision: int = 64) -> Bracket:
        """The least number of steps.

        Raises:
            NoFormulaError: when the laws have other atoms than finitely many rational ones.
        """
        if pair.is_identical:
            return laws.NOTHING
        if self.f.is_regular and any(way.max_log_ratio().lower.is_infinite for way in (pair, pair.reverse())):
            return laws.INFINITE
        if pair.below() is not pair:
            low, high = (self.evaluate(end, precision=precision) for end in (pair.below(), pair.above()))
            return Bracket(lower=low.lower, upper=high.upper)
        found = laws.TradeOff.of(pair)
        steps = next((k for k in range(MOST_STEPS) if found >= self.f.group(k)), None)
        return Bracket(lower=number(MOST_STEPS), upper=exact.INFINITY) if steps is None else Bracket.exactly(steps)

    def separates_laws(self) -> bool:
        """No step leaves 1 - a, the curve of equal laws."""
        return True

    def event_bounds(self, bound: Number) -> blocks.EventBounds | None:
        """The straight pieces of the curve of so many steps: Q(S) <= 1 - f(P(S)), and f is the largest of their lines."""
        steps = int(exact.dyadic(bound.enclose(_BITS).lower()).__floor__())
        if not bound.is_rational or steps >= MOST_STEPS:
            return None
        pieces = itertools.pairwise(self.f.group(steps).knots)
        falls = [((b - d) / (c - a), 1 - b - (b - d) / (c - a) * a) for (a, b), (c, d) in pieces]
        return tuple((ln(fall), number(slack)) for fall, slack in falls if fall)

    def extremal(self, bound: Number) -> Iterator[laws.Answers]:
        yield from extremal.of_curve(bound, self.f)

    def largest_probability(self, q: arb, bound: arb) -> arb:
        """1 - f_k(q), concave in q."""
        curve = self.f.group(int(exact.dyadic(bound.upper()).__floor__()))
        corners = itertools.pairwise(curve.knots)
        lines = [(b - (d - b) / (c - a) * a, (d - b) / (c - a)) for (a, b), (c, d) in corners]
        found = arb(1)
        for start, rise in lines:
            found = found.min(1 - exact.ball(start) - exact.ball(rise) * q)
        return found

    def worst_pairs(self, bound: Number) -> blocks.WorstPairs:
        if bound.is_infinite:
            return extremal.responses(bound, (Fraction(0), Fraction(0)))
        steps = int(exact.dyadic(bound.enclose(extremal.BITS).lower()).__floor__())
        if steps > MOST_STEPS:
            raise errors.NoFormulaError(self.name, f"is composed at most {MOST_STEPS} times", "ask for fewer steps")
        curve = self.f.group(steps)
        corners = itertools.pairwise(curve.knots)
        atoms = [(c - a, b - d) for (a, b), (c, d) in corners]
        pair = laws.FiniteDichotomy.of([*atoms, (Fraction(0), 1 - curve.knots[0][1])])
        return pair, pair

    def bounds(self, other: OutputDivergence) -> Bound | None:
        ratio = self.f.largest_ratio
        if is_pure(other) and ratio is not None:
            return ln(ratio), "each step multiplies the likelihood ratio by at most the steepest fall of the curve"
        if is_a(other, TotalVariation):
            return number(self.f.advantage), "each step adds at most the total variation of the curve"
        mu = self.f.least_mu().upper
        if mu.is_infinite:
            return None
        if is_a(other, GaussianTradeOff):
            return mu, "each step adds at most the mu of the curve, and Gaussian curves compose by adding mu"
        if is_a(other, DNor):
            return mu * exact.sqrt(Fraction(1, 2)), "each step adds at most the mu of the curve, and d-nor is at most mu/sqrt(2)"
        return None

    def in_words(self) -> str:
        return f"f-differential privacy, in steps of the curve through {self.f}"

    def __str__(self) -> str:
        return f"{self.name} (f through {self.f})"

    @classmethod
    def examples(cls) -> Iterable[TradeOffSteps]:
        """What the conformance kit checks it with."""
        yield cls(epsilon=ln(3))
        yield cls(epsilon=ln(2), delta=Fraction(1, 10))
        knots = ((0, 9), (1, 5), (5, 1), (9, 0))
        yield cls(curve=tuple((Fraction(a, 9), Fraction(b, 9)) for a, b in knots))


@lru_cache(maxsize=256)
def _curve(steps: TradeOffSteps) -> laws.TradeOff:
    """The curve is looked up by the divergence, whose hash is kept: a curve may have a thousand knots."""
    if steps.epsilon is None:
        return laws.TradeOff(steps.curve)
    ratio = laws.rational_exponential(steps.epsilon)
    if ratio is None:
        rule = "has an irrational e^epsilon, and the knots of a curve are rational"
        raise ParameterError("epsilon", rule, 'write "ln(3)", or a curve by its knots', value=str(steps.epsilon))
    return laws.TradeOff.approximate(ratio, steps.delta)


# --- curves from lists of points ------------------------------------------------------------------


MOST_POINTS = 64
BITS = 64

ErrorPoint = tuple[exact.NumberLike, exact.NumberLike]
"""epsilon and delta."""


def curve_of_approximate(points: Iterable[ErrorPoint]) -> laws.TradeOff:
    """f = the pointwise largest max(0, 1 - delta - e^epsilon x, e^-epsilon (1 - delta - x)) over the points (Kifer et al. 2022).

    Exact when the points are the whole curve of the mechanism; for finitely many of them the largest that they imply.

    Args:
        points: pairs (epsilon, delta), each of which the mechanism satisfies.

    Raises:
        ParameterError: no points, more than `MOST_POINTS`, or one outside epsilon >= 0, 0 <= delta <= 1.

    >>> str(curve_of_approximate([("ln(2)", "1/4"), ("ln(8)", 0)]))
    '(0, 1), (1/24, 2/3), (1/4, 1/4), (2/3, 1/24), (1, 0)'
    """
    lines = [(Fraction(0), Fraction(0))]
    for epsilon, delta in _read(points):
        ratio = _ratio(epsilon)
        lines += [(1 - delta, -ratio), ((1 - delta) / ratio, -1 / ratio)]
    levels = {Fraction(0), Fraction(1)}
    for (a, s), (b, t) in itertools.combinations(set(lines), 2):
        if s != t and 0 < (level := (b - a) / (s - t)) < 1:
            levels.add(level)
    return laws.TradeOff([(level, max(a + s * level for a, s in lines)) for level in levels])


def curve_of_pbdp(points: Iterable[ErrorPoint]) -> laws.TradeOff:
    """The largest convex curve below what the points say: at level delta e^-epsilon the error is at least 1 - delta
    (Kifer et al. 2022, Section 5.2).

    For the whole curve of a mechanism f(delta e^-epsilon(delta)) = 1 - delta; finitely many points leave steps between them.

    Args:
        points: pairs (epsilon, delta) of probabilistically bounded privacy.

    Raises:
        ParameterError: as for `curve_of_approximate`.

    >>> str(curve_of_pbdp([("ln(3)", "3/4"), ("ln(3)", "3/8")]))
    '(0, 5/8), (1/8, 1/4), (1/4, 0), (1, 0)'
    """
    steps = sorted((delta / _ratio(epsilon), 1 - delta) for epsilon, delta in _read(points))
    errors = [max(error for _, error in steps[place:]) for place in range(len(steps))] + [Fraction(0)]
    ends = [Fraction(0), *(level for level, _ in steps)]
    return laws.TradeOff(_convex([*zip(ends, errors, strict=True), (Fraction(1), Fraction(0))]))


def _read(points: Iterable[ErrorPoint]) -> list[tuple[Number, Fraction]]:
    read = [
        (number(epsilon, "epsilon"), exact.rational(delta, "delta"))
        for epsilon, delta in itertools.islice(points, MOST_POINTS + 1)
    ]
    if not 0 < len(read) <= MOST_POINTS:
        raise ParameterError("points", f"must be 1 to {MOST_POINTS}", "choose some of them", value=len(read))
    for epsilon, delta in read:
        if epsilon < 0 or epsilon.is_infinite or not 0 <= delta <= 1:
            raise ParameterError("point", "needs epsilon >= 0 and 0 <= delta <= 1", value=f"({epsilon}, {delta})")
    return read


def _ratio(epsilon: Number) -> Fraction:
    """e^epsilon, rounded up where it is irrational."""
    ratio = laws.rational_exponential(epsilon)
    if ratio is not None:
        return ratio
    with ctx.workprec(BITS):
        return exact.dyadic(epsilon.enclose(BITS).exp().upper())


def _convex(points: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """The corners of the largest convex function below some points, from left to right."""
    hull: list[tuple[Fraction, Fraction]] = []
    for level, error in points:
        while len(hull) > 1:
            (a, b), (c, d) = hull[-2:]
            if (d - b) * (level - a) < (error - b) * (c - a):
                break
            hull.pop()
        if hull and hull[-1][0] == level:
            hull[-1] = level, min(error, hull[-1][1])
        else:
            hull.append((level, error))
    return hull
