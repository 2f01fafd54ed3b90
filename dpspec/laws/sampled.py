"""Pairs of a release on a random sample: with probability q the record takes part, and otherwise nobody can tell.

Let (P, Q) be the laws of a release without and with one record. If the record takes part with probability q, independently of all
others (Poisson sampling), the release without it still has the law P, and with it the law

    R = (1 - q) P + q Q.

All that is known of (P, R) and (R, P) follows from the likelihood ratio L = dQ/dP, as dR/dP = 1 - q + q L (Balle, Barthe and
Gaboardi 2018; Zhu, Dong and Wang 2022).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb

import attrs
from flint import arb, ctx

from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, ball, ln, number
from dpspec.laws.dichotomy import NOTHING, Dichotomy
from dpspec.laws.numeric import ball_exponential, rational_exponential

MOST_ORDER = 64
"""Moments of integer orders up to this are summed up; higher ones are bounded by those of the pair without sampling."""


def sampled(pair: Dichotomy, rate: Fraction) -> Dichotomy:
    """The pair (P, R) for the laws (P, Q) without and with a record that takes part with a probability.

    >>> from dpspec.laws.law import FiniteLaw
    >>> pair = FiniteLaw.bernoulli("1/4").against(FiniteLaw.bernoulli("3/4"))
    >>> str(sampled(pair, Fraction(1, 2)).max_log_ratio()), str(sampled(pair, Fraction(1, 2)).reverse().max_log_ratio())
    ('ln(3/2)', 'ln(2)')
    """
    return pair if rate == 1 or pair.is_identical else Sampled(pair=pair, rate=rate)


@attrs.frozen(kw_only=True, eq=False)
class Sampled(Dichotomy):
    """(P, R), or (R, P) where it is turned round.

    Args:
        pair: (P, Q).
        rate: q, below 1.
        is_turned: whether it is (R, P).
    """

    pair: Dichotomy
    rate: Fraction
    is_turned: bool = False

    @property
    def is_identical(self) -> bool:
        return self.rate == 0

    def reverse(self) -> Dichotomy:
        return attrs.evolve(self, is_turned=not self.is_turned)

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        """ln(1 - q + q e^M), M = sup ln(dQ/dP), the one way; -ln(1 - q + q e^-M), M = sup ln(dP/dQ), the other."""
        if self.is_identical:
            return NOTHING
        if self.is_turned:
            return _mapped(self.pair.reverse().max_log_ratio(precision=precision), self._mixed, precision)
        return _mapped(self.pair.max_log_ratio(precision=precision), self._mixed_back, precision)

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        return self.pair.reverse().singular_mass(precision=precision).scaled(self.rate) if self.is_turned else NOTHING

    def _mixed(self, loss: Number, precision: int) -> Bracket:
        """ln(1 - q + q e^loss)."""
        if loss.is_infinite:
            return Bracket.exactly(INFINITY)
        power = rational_exponential(loss)
        if power is not None:
            return Bracket.exactly(ln(1 - self.rate + self.rate * power))
        with ctx.workprec(precision + 64):
            return Bracket.around((1 + ball(self.rate) * (ball_exponential(loss, precision + 64) - 1)).log(), least=0)

    def _mixed_back(self, loss: Number, precision: int) -> Bracket:
        """-ln(1 - q + q e^-loss)."""
        if loss.is_infinite:
            return Bracket.exactly(ln(1 / (1 - self.rate)))
        power = rational_exponential(loss)
        if power is not None:
            return Bracket.exactly(ln(1 / (1 - self.rate + self.rate / power)))
        with ctx.workprec(precision + 64):
            return Bracket.around(-(1 + ball(self.rate) * (1 / ball_exponential(loss, precision + 64) - 1)).log(), least=0)

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        """q H(e^s) of (Q, P) the one way, (1 - (1 - q) e^epsilon) H(e^s) of (P, Q) the other, each at another s."""
        inner = self.pair.reverse() if self.is_turned else self.pair
        factor = rational_exponential(epsilon)
        if factor is not None:
            weight = self.rate if self.is_turned else 1 - factor * (1 - self.rate)
            if weight <= 0:
                return NOTHING
            at = (factor - 1 + self.rate) / weight if self.is_turned else factor * self.rate / weight
            return inner.hockey_stick(ln(at), precision=precision).scaled(weight)
        with ctx.workprec(precision + 64):
            power, rate = ball_exponential(epsilon, precision + 64), ball(self.rate)
            scale = rate if self.is_turned else 1 - power * (1 - rate)
            if not scale > 0:
                return NOTHING if scale <= 0 else Bracket(lower=ZERO, upper=number(1))
            loss = ((power - 1 + rate) if self.is_turned else power * rate) / scale
            span = Bracket.around(loss.log(), least=0)
            most, least = (inner.hockey_stick(end, precision=precision) for end in (span.lower, span.upper))
            return Bracket.around(scale * _ball_of(least.lower, most.upper), least=0)

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        if self.is_turned:
            return _mapped(self.pair.reverse().epsilon_at(delta / self.rate, precision=precision), self._mixed, precision)
        top = self.max_log_ratio(precision=precision).upper
        return _first_within(lambda epsilon: self.hockey_stick(epsilon, precision=precision), delta, top, precision)

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        """Of (R, P) by the binomial sum for integer orders; else between 0 and that of the pair, of which R is a mixture."""
        turned = self.pair.reverse() if self.is_turned else self.pair
        most = turned.renyi(order, precision=precision).upper
        if not self.is_turned or order.denominator != 1 or not 1 < order <= MOST_ORDER:
            return Bracket(lower=ZERO, upper=most)
        moments = [turned.renyi(power, precision=precision) for power in range(2, int(order) + 1)]
        if any(moment.upper.is_infinite for moment in moments):
            return Bracket(lower=ZERO, upper=INFINITY)
        with ctx.workprec(precision + 64):
            rate, total = ball(self.rate), arb(0)
            for power in range(int(order) + 1):
                term = arb(1) if power < 2 else ((power - 1) * _ball_of(moments[power - 2].lower, moments[power - 2].upper)).exp()
                total += comb(int(order), power) * (1 - rate) ** (int(order) - power) * rate**power * term
            return Bracket.around(total.log() / ball(order - 1), least=0)

    def _concentration(self, precision: int) -> Bracket:
        """At most that of the pair: the divergence of a mixture from one of its parts is at most that of the other part."""
        turned = self.pair.reverse() if self.is_turned else self.pair
        lower = self.renyi(2, precision=precision).lower / 2
        return Bracket(lower=lower, upper=turned.concentration(precision=precision).upper)


def _mapped(bracket: Bracket, function: Callable[[Number, int], Bracket], precision: int) -> Bracket:
    """The image of a bracket under a function that grows."""
    low = function(bracket.lower, precision)
    return low if bracket.is_exact else Bracket(lower=low.lower, upper=function(bracket.upper, precision).upper)


def _ball_of(lower: Number, upper: Number) -> arb:
    precision = int(ctx.prec)
    return lower.enclose(precision).union(upper.enclose(precision))


def _first_within(stick: Callable[[Number], Bracket], delta: Fraction, top: Number, precision: int) -> Bracket:
    """The least epsilon from 0 to a finite `top` at which a falling function is at most delta, by halving."""
    if stick(ZERO).upper <= delta:
        return NOTHING
    if top.is_infinite:
        return Bracket(lower=ZERO, upper=top)
    low, high = Fraction(0), Bracket.around(top.enclose(precision)).upper.as_fraction()
    while (high - low) * (1 << precision) > 1:
        middle = (low + high) / 2
        value = stick(number(middle))
        if value.upper <= delta:
            high = middle
        elif value.lower > delta:
            low = middle
        else:
            break
    return Bracket(lower=number(low), upper=min(number(high), top))
