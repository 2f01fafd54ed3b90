"""Adaptive laws: a first outcome i is drawn, then one from a law that depends on i, and both are seen.

    P(i, y) = w_i P_i(y),     so that  ln(dP/dQ)(i, y) = ln(w_i / v_i) + ln(dP_i/dQ_i)(y)

for P with the probabilities w_i and Q with v_i. The supports of different i are disjoint, and every functional of the pair is a
sum over i. Composition bounds it: the loss of the first outcome, plus the largest loss of what may follow (Bun and Steinke 2016).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any, TypeVar, cast

import attrs
from flint import arb, ctx

from dpspec.base.errors import NoFormulaError
from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, largest, ln, number
from dpspec.base.log_linear import ball
from dpspec.base.memo import memoize
from dpspec.laws.atoms import IDENTICAL, Sandwich
from dpspec.laws.dichotomy import INFINITE, NOTHING, WORK_OF_CELLS, Cell, Cells, Dichotomy, rational_end, total
from dpspec.laws.law import FiniteLaw, Law, OutputValue, atomic
from dpspec.laws.numeric import hull

_GRID = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64)
"""The orders at which the supremum over all orders is bounded from below."""

_SHOWN = 64
"""The precision at which it is decided whether the probabilities are exact."""

ProbabilityPairs = tuple[tuple[Bracket, Bracket], ...]
"""(w_i, v_i) for every first outcome i."""

Loss = Callable[[Dichotomy], Bracket]
"""A functional that adds up under composition."""

Value = TypeVar("Value")


@attrs.frozen(cache_hash=True)
class Adaptive(Law):
    """The law of the pair (i, Y): i is drawn from `first`, Y from the law that `then` holds for i.

    Args:
        first: a law with finitely many outcomes, each of them in `then`.
        then: every first outcome with the law that follows it.

    >>> coin, noise = FiniteLaw.bernoulli("1/2"), FiniteLaw.bernoulli("3/4")
    >>> one = Adaptive(coin, ((0, noise), (1, coin)))
    >>> two = Adaptive(FiniteLaw.bernoulli("3/4"), ((0, coin), (1, coin)))
    >>> one.against(two).max_log_ratio().lower == ln(3)
    True
    """

    first: Law
    then: tuple[tuple[OutputValue, Law], ...]

    def against(self, other: Law) -> Dichotomy:
        if self == other:
            return IDENTICAL
        if not isinstance(other, Adaptive) or self.labels != other.labels:
            raise NoFormulaError("adaptive law", "is compared with one of the same first outcomes only", "compare the stages")
        return _pair(self, other)

    @property
    def labels(self) -> tuple[OutputValue, ...]:
        """The first outcomes."""
        return tuple(label for label, _ in self.then)


@memoize(maxsize=4096)
def _pair(one: Adaptive, two: Adaptive) -> AdaptiveDichotomy:
    """Kept, since a release compares the same few laws for many groups."""

    def probabilities(precision: int) -> ProbabilityPairs:
        return tuple((_probability(one.first, i, precision), _probability(two.first, i, precision)) for i in one.labels)

    pairs = tuple(mine.against(its) for (_, mine), (_, its) in zip(one.then, two.then, strict=True))
    return AdaptiveDichotomy(one.first.against(two.first), probabilities, pairs)


def _probability(law: Law, outcome: OutputValue, precision: int) -> Bracket:
    """P(outcome), exact for a finite law."""
    if isinstance(law, FiniteLaw):
        return Bracket.exactly(law.probability(outcome))
    return Bracket.around(atomic(law).mass(outcome, precision), least=0)


@attrs.frozen(eq=False)
class AdaptiveDichotomy(Dichotomy):
    """The pair of two adaptive laws.

    Args:
        first: the pair of the laws of the first outcome.
        probabilities: the probabilities (w_i, v_i), at a precision in bits.
        pairs: the pair (P_i, Q_i) that follows each first outcome.
    """

    first: Dichotomy
    probabilities: Callable[[int], ProbabilityPairs]
    pairs: tuple[Dichotomy, ...]
    _known: dict[Any, Any] = attrs.field(factory=dict, repr=False)

    @property
    def is_identical(self) -> bool:
        return self.first.is_identical and all(pair.is_identical for pair in self.pairs)

    def signature(self) -> Hashable:
        probabilities = self.probabilities(_SHOWN)
        if not all(p.is_exact and q.is_exact for p, q in probabilities):
            return self
        return AdaptiveDichotomy, frozenset(
            Counter((p.lower, q.lower, pair.signature()) for (p, q), pair in zip(probabilities, self.pairs, strict=True)).items()
        )

    @property
    def work(self) -> int:
        return self.first.work + sum(pair.work + WORK_OF_CELLS for pair in self.pairs)

    def reverse(self) -> AdaptiveDichotomy:
        def turned(precision: int) -> ProbabilityPairs:
            return tuple((q, p) for p, q in self.probabilities(precision))

        def made() -> AdaptiveDichotomy:
            return AdaptiveDichotomy(self.first.reverse(), turned, tuple(pair.reverse() for pair in self.pairs))

        return self._once("reverse", made)

    # -- functionals ------------------------------------------------------------------------------

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        return self._once(("largest", precision), lambda: self._max_log_ratio(precision))

    def _max_log_ratio(self, precision: int) -> Bracket:
        def loss(pair: Dichotomy) -> Bracket:
            return pair.max_log_ratio(precision=precision)

        best = NOTHING
        for (p, q), pair in self._possible(precision):
            inner = loss(pair)
            lower = total((_log_ratio(p.lower, q.upper), inner)).lower if p.lower > 0 else ZERO
            best |= Bracket(lower=lower, upper=total((_log_ratio(p.upper, q.lower), inner)).upper)
        return _between(best.lower, min(best.upper, self._composed(loss)))

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        known = self.first.singular_mass(precision=precision).upper == 0
        lower = upper = Fraction(0)
        for (p, q), pair in self._possible(precision):
            inner = pair.singular_mass(precision=precision)
            alone = q.upper == 0, not known and q.lower == 0
            lower += rational_end(p.lower, -1) * (1 if alone[0] else rational_end(inner.lower, -1))
            upper += rational_end(p.upper, 1) * (1 if alone[1] else rational_end(inner.upper, 1))
        return Bracket(lower=number(lower), upper=number(min(upper, Fraction(1))))

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        """ln(sum_i w_i^alpha v_i^(1 - alpha) e^((alpha - 1) D_i)) / (alpha - 1); sum_i w_i (ln(w_i/v_i) + D_i) for alpha = 1."""

        def loss(pair: Dichotomy) -> Bracket:
            return pair.renyi(order, precision=precision)

        def made() -> Bracket:
            found = self._mean(loss, precision) if order == 1 else self._moment(order - 1, loss, precision)
            return _between(found.lower, min(found.upper, self._composed(loss)))

        return self._once((order, precision), made)

    def _mean(self, loss: Loss, precision: int) -> Bracket:
        later = (_times(p, loss(pair)) for (p, _), pair in self._possible(precision))
        return total((self._relative_entropy(precision), *later))

    def _relative_entropy(self, precision: int) -> Bracket:
        """sum_i w_i ln(w_i/v_i), from the probabilities where all of them are known to be positive."""
        probabilities = self.probabilities(precision)
        if not all(p.lower > 0 and q.lower > 0 for p, q in probabilities):
            return self.first.renyi(1, precision=precision)
        with ctx.workprec(precision + 32):
            joint = [(_enclosed(p), _enclosed(q)) for p, q in probabilities]
            return Bracket.around(sum((p * (p / q).log() for p, q in joint), arb(0)), least=0)

    def _moment(self, power: Fraction, loss: Loss, precision: int) -> Bracket:
        """A term grows with w_i and D_i and falls with v_i."""
        low, high, bounded = arb(0), arb(0), True
        with ctx.workprec(precision + 32):
            exponent = ball(power)
            for (p, q), pair in self._possible(precision):
                value = loss(pair)
                if p.lower > 0 and (q.upper == 0 or value.lower.is_infinite):
                    return INFINITE
                if p.lower > 0:
                    low += _term(p.lower, q.upper, value.lower, exponent)
                if q.lower == 0 or value.upper.is_infinite:
                    bounded = False
                else:
                    high += _term(p.upper, q.lower, value.upper, exponent)
            upper = Bracket.around(high.log() / exponent, least=0).upper if bounded else INFINITY
            return Bracket(lower=Bracket.around(low.log() / exponent, least=0).lower if low > 0 else ZERO, upper=upper)

    def _concentration(self, precision: int) -> Bracket:
        """At most the first stage's and the largest of the second's, by composition at every order."""

        def made() -> Bracket:
            lower = max(self.renyi(order, precision=precision).lower / order for order in _GRID)
            return _between(lower, self._composed(lambda pair: pair.concentration(precision=precision)))

        return self._once(("concentration", precision), made)

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        return self._picture.hockey_stick(epsilon, precision=precision)

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        return self._picture.epsilon_at(delta, precision=precision)

    def cells(self, precision: int) -> Cells:
        with ctx.workprec(precision + 32):
            return tuple(
                Cell.atom(_enclosed(p), _enclosed(q)).times(cell)
                for (p, q), pair in zip(self.probabilities(precision), self.pairs, strict=True)
                for cell in pair.cells(precision)
            )

    # -- parts ------------------------------------------------------------------------------------

    def _possible(self, precision: int) -> list[tuple[tuple[Bracket, Bracket], Dichotomy]]:
        """The first outcomes that P may have, with the pairs that follow them."""
        joint = zip(self.probabilities(precision), self.pairs, strict=True)
        return [(probability, pair) for probability, pair in joint if probability[0].upper > 0]

    def _composed(self, loss: Loss) -> Number:
        """The first stage's loss plus the largest of the second's: no functional that adds up is larger."""
        return total((loss(self.first), largest(loss(pair) for pair in self.pairs))).upper

    @property
    def _picture(self) -> Sandwich:
        return self._once("picture", lambda: Sandwich.of(self.cells))

    def _once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The cached value, computed at first use."""
        if key not in self._known:
            self._known[key] = make()
        return cast("Value", self._known[key])


def _between(lower: Number, upper: Number) -> Bracket:
    """The bracket of two ends, exact when they are equal."""
    return Bracket.exactly(lower) if lower == upper else Bracket(lower=lower, upper=upper)


def _enclosed(probability: Bracket) -> arb:
    """A ball around a probability."""
    return hull(probability.lower.enclose(ctx.prec), probability.upper.enclose(ctx.prec))


def _log_ratio(p: Number, q: Number) -> Bracket:
    """ln(p/q) for p > 0, infinite for q = 0."""
    return Bracket.exactly(ln(p.as_fraction() / q.as_fraction())) if q > 0 else INFINITE


def _times(probability: Bracket, value: Bracket) -> Bracket:
    """The product of a probability and a loss."""
    lower = ZERO if value.lower.is_infinite else number(probability.lower.as_fraction() * rational_end(value.lower, -1))
    if value.upper.is_infinite:
        return Bracket(lower=INFINITY if value.lower.is_infinite and probability.lower > 0 else lower, upper=INFINITY)
    return Bracket(lower=lower, upper=number(probability.upper.as_fraction() * rational_end(value.upper, 1)))


def _term(p: Number, q: Number, loss: Number, exponent: arb) -> arb:
    """p^alpha q^(1 - alpha) e^((alpha - 1) loss) for alpha - 1 = exponent."""
    mass = p.enclose(ctx.prec)
    return mass * (exponent * ((mass / q.enclose(ctx.prec)).log() + loss.enclose(ctx.prec))).exp()
