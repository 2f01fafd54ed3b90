"""Means E_P f(1 - q + q L) of the likelihood ratio L = dQ/dP of a pair (P, Q), for f(w) = w^t, w ln w and -ln w.

Let R = (1 - q) P + q Q be the law on a sample that one record takes part in with probability q. Then dR/dP = w = 1 - q + q L, so

    E_P w^alpha = E_R (dR/dP)^(alpha - 1),    E_P w^(1 - alpha) = E_P (dP/dR)^(alpha - 1),

and both Renyi divergences of (R, P) and (P, R) at an order alpha follow, also at fractional orders (Mironov, Talwar and Zhang
2019, Section 3). Gaussian and Laplace pairs are integrated with proved error bounds (Johansson 2018, "Numerical integration in
arbitrary-precision ball arithmetic"), discrete Gaussian pairs are summed; every other pair goes through its cells.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch

import attrs
from flint import acb, arb, ctx

from dpspec.base.log_linear import ball
from dpspec.laws.continuous import GaussianShift, LaplaceShift
from dpspec.laws.dichotomy import Cell, Dichotomy
from dpspec.laws.integers import DiscreteGaussianLaw, DiscreteGaussianShift
from dpspec.laws.numeric import hull

_PRECISION = 64
"""Of the cells of a pair: more of them take long, and say little more."""
_FARTHEST = 1 << 16
"""The largest difference of Gaussian means, in standard deviations times the power, that is integrated."""
_MOST_TERMS = 1 << 17
"""A discrete Gaussian pair with more outcomes in reach goes through its cells."""


@attrs.frozen
class RatioMean:
    """f, one of w^power, w ln w and -ln w: convex functions of w > 0.

    Args:
        power: t, at least 1 or at most 0; of the two logarithms 1 and 0, of which they are the slopes in t there.
        is_log: whether it is the logarithm.
    """

    power: Fraction
    is_log: bool = False

    def at(self, w: arb) -> arb:
        """f(w) of a ball of numbers above 0."""
        return w.log() * self._factor(w) if self.is_log else (ball(self.power) * w.log()).exp()

    def continued(self, w: acb, analytic: bool) -> acb:
        """f(w) for complex w; not finite where `analytic` is requested and w is on the branch cut of the logarithm."""
        logarithm = w.log(analytic)
        return logarithm * (w if self.power == 1 else -1) if self.is_log else (acb(ball(self.power)) * logarithm).exp()

    def _factor(self, w: arb) -> arb:
        return w if self.power == 1 else arb(-1)

    @property
    def order(self) -> arb:
        """t such that |f(w)| <= 1 + w^t for w >= 1."""
        if self.is_log:
            return arb(2) if self.power == 1 else arb(1)
        return ball(self.power).max(arb(0))

    def below_one(self, rate: arb) -> arb:
        """The largest |f(w)| of 1 - rate <= w <= 1."""
        if self.is_log:
            return arb(1) if self.power == 1 else -(1 - rate).log()
        return (1 - rate) ** ball(self.power) if self.power <= 0 else arb(1)


def mean(pair: Dichotomy, rate: Fraction, function: RatioMean, precision: int, *, above_one: bool = False) -> arb:
    """E_P f(1 - q + q L) of a pair as a ball; not finite where it is infinite or unknown.

    Args:
        pair: (P, Q), of which L = dQ/dP.
        rate: q, in (0, 1).
        function: f.
        precision: bits to work with.
        above_one: whether only outcomes with L > 1 count.

    >>> from dpspec.base.exact import number
    >>> mean(GaussianShift(number("1/100")), Fraction(1, 100), RatioMean(Fraction(2)), 128).log().str(6, radius=False)
    '1.00502e-6'
    """
    with ctx.workprec(precision):
        return _mean(pair, rate, function, above_one)


def is_refined(pair: Dichotomy) -> bool:
    """Whether the mean is known the better the more bits are worked with."""
    return _mean.dispatch(type(pair)) is not _mean.dispatch(object)


@singledispatch
def _mean(pair: Dichotomy, rate: Fraction, function: RatioMean, above_one: bool) -> arb:
    if above_one:
        return arb.nan()
    return sum((_of_cell(cell, ball(rate), function) for cell in pair.cells(_PRECISION)), arb(0))


def _of_cell(cell: Cell, rate: arb, function: RatioMean) -> arb:
    """A convex function over a cell: at least at the mean of w (Jensen), at most on the chord of its ends."""
    if not cell.p > 0:
        return arb(0) if cell.q.is_zero() else arb.nan()
    middle = cell.q / cell.p
    least = function.at(1 - rate + rate * middle)
    low, high = (-cell.high).exp() if cell.high.is_finite() else arb(0), (-cell.low).exp()
    if not high.is_finite():
        return arb.nan() if function.power > 0 or function.is_log else cell.p * hull(arb(0), function.at(1 - rate + rate * low))
    ends = [function.at(1 - rate + rate * end) for end in (low, high)]
    share = ((middle - low) / (high - low)).max(arb(0)).min(arb(1)) if high > low else arb(0).union(arb(1))
    return cell.p * hull(least, ends[0] + share * (ends[1] - ends[0]))


@_mean.register
def _of_gaussian(pair: GaussianShift, rate: Fraction, function: RatioMean, above_one: bool) -> arb:
    """L = e^(mu y) of a standard normal y + mu/2. Beyond the upper end w <= (q + (1 - q)/L') L, with L' at this end, and
    |f(w)| <= 1 + w^t; beyond the lower one it is at most the largest value on [1 - q, 1]."""
    square, q = pair.mu_squared.enclose(int(ctx.prec)), ball(rate)
    mu, t = square.sqrt(), function.order
    if not t * mu < _FARTHEST or not mu < _FARTHEST:
        return arb.nan()
    reach = math.ceil(math.sqrt(2 * int(ctx.prec)))
    peak = math.ceil(float((t * mu).upper()))
    low, high = 0 if above_one else -reach - math.ceil(float((mu / 2).upper())), reach + peak
    height = (-square / 8).exp() / (2 * arb.pi()).sqrt()

    def integrand(y: acb, analytic: bool) -> acb:
        w = 1 + q * (mu * y).expm1()
        return height * (-y * (y + mu) / 2).exp() * function.continued(w, analytic)

    inner = _integral(integrand, [arb(end) for end in sorted({low, min(reach, high), max(low, peak - reach), high})])
    most = q + (1 - q) * (-mu * high).exp()
    beyond = _tail(high + mu / 2) + (t * most.log() + t * (t - 1) * square / 2).exp() * _tail(high + mu / 2 - t * mu)
    if not above_one:
        beyond += function.below_one(q) * _tail(-low - mu / 2)
    return inner + beyond * arb(-1).union(arb(1))


def _tail(distance: arb) -> arb:
    return (distance / arb(2).sqrt()).erfc() / 2


def _integral(integrand: Callable[[acb, bool], acb], ends: list[arb]) -> arb:
    """The integral of a function that is real on the line, part by part."""
    total = arb(0)
    for low, high in itertools.pairwise(ends):
        total += acb.integral(integrand, acb(low), acb(high)).real
    return total


@_mean.register
def _of_laplace(pair: LaplaceShift, rate: Fraction, function: RatioMean, above_one: bool) -> arb:
    """L = e^(-t) with probability 1/2, e^t with e^(-t)/2, and e^(2x - t) with the density e^(-x)/2 for x in (0, t)."""
    t, q = pair.t.enclose(int(ctx.prec)), ball(rate)

    def integrand(u: acb, analytic: bool) -> acb:
        x = t * u
        return t * (-x).exp() / 2 * function.continued(1 + q * (2 * x - t).expm1(), analytic)

    half = arb(1) / 2
    inner = _integral(integrand, [half, arb(1)] if above_one else [arb(0), half, arb(1)])
    outer = (-t).exp() / 2 * function.at(1 + q * t.expm1())
    return inner + outer + (arb(0) if above_one else function.at(1 + q * (-t).expm1()) / 2)


@_mean.register
def _of_discrete_gaussian(pair: DiscreteGaussianShift, rate: Fraction, function: RatioMean, above_one: bool) -> arb:
    """L = e^(s (2 k - s) / (2 v)) at k; the sum beyond the last k is that of a tail displaced by t s, as for Gaussian laws."""
    shift, q, working = abs(pair.shift), ball(rate), int(ctx.prec)
    law, variance, t = DiscreteGaussianLaw(0, pair.variance), ball(pair.variance), function.order
    reach = law.reach(working)
    if not t * shift < _MOST_TERMS or shift > _MOST_TERMS or reach > _MOST_TERMS:
        return _mean.dispatch(object)(pair, rate, function, above_one)
    first, last = -reach, reach + shift + math.ceil(float((t * shift).upper()))
    total, peak = arb(0), law.log_peak(working)
    for k in range(shift // 2 + 1 if above_one else first, last + 1):
        exponent = arb(shift * (2 * k - shift)) / (2 * variance)
        total += (peak - arb(k * k) / (2 * variance)).exp() * function.at(1 + q * exponent.expm1())
    height, log_ratio = peak.exp(), arb(shift * (2 * last - shift)) / (2 * variance)
    lifted = (t * (q + (1 - q) * (-log_ratio).exp()).log() + t * (t - 1) * shift**2 / (2 * variance)).exp()
    beyond = height * (_sum_from(arb(last + 1), variance) + lifted * _sum_from(last + 1 - t * shift, variance))
    if not above_one:
        beyond += height * function.below_one(q) * _sum_from(arb(1 - first), variance)
    return total + beyond * arb(-1).union(arb(1))


def _sum_from(start: arb, variance: arb) -> arb:
    """At least the sum of e^(-j^2 / (2 v)) over j = start, start + 1, ..., for a start above 0."""
    return (-start * start / (2 * variance)).exp() / -(-start / variance).expm1()
