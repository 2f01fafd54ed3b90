"""The privacy loss L = ln(dP/dQ) of a pair as a random variable, drawn under P: atoms at infinity, tails, mean (K-T1 to K-T4).

It determines the pair, and adds up under independent composition. Its tails are no guarantee: they can grow under
post-processing (K-T9), and P(L > eps) lies between the hockey stick at eps and the delta of f-DP (K-T32).
"""

from __future__ import annotations

from fractions import Fraction

import attrs
from flint import arb, ctx

from dpspec.errors import NoRouteError
from dpspec.exact import Bracket, Number, NumberLike, ln, number
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.numeric import exponential, hull, normal_cdf, positive
from dpspec.laws.shifts import GaussianShift

_SLOPE_BITS = 12


@attrs.frozen
class PrivacyLoss:
    """The law of ln(dP/dQ) under P.

    >>> from dpspec.laws import FiniteLaw
    >>> toss = PrivacyLoss(FiniteLaw.bernoulli("3/4").against(FiniteLaw.bernoulli("1/4")))
    >>> str(toss.above(0)), str(toss.above(ln(3))), str(toss.at_least(ln(3))), str(toss.mean())
    ('3/4', '0', '3/4', '1/2*ln(3)')
    """

    pair: Dichotomy

    def at_infinity(self, *, precision: int = 64) -> Bracket:
        """P(L = infinity), below which no delta can fall (K-T4)."""
        return self.pair.singular_mass(precision=precision)

    def mean(self, *, precision: int = 64) -> Bracket:
        """E L, the Kullback-Leibler divergence."""
        return self.pair.renyi(1, precision=precision)

    def above(self, threshold: NumberLike, *, precision: int = 64) -> Bracket:
        """P(L > threshold)."""
        point = number(threshold, "threshold")
        atoms = self.pair.exact_atoms()
        if atoms is not None:
            return Bracket.exactly(sum((p for p, q in atoms if p and (not q or ln(p / q) > point)), Fraction(0)))
        return self._tail(point, precision, strict=True)

    def at_least(self, threshold: NumberLike, *, precision: int = 64) -> Bracket:
        """P(L >= threshold)."""
        point = number(threshold, "threshold")
        atoms = self.pair.exact_atoms()
        if atoms is not None:
            return Bracket.exactly(sum((p for p, q in atoms if p and (not q or ln(p / q) >= point)), Fraction(0)))
        return self._tail(point, precision, strict=False)

    def cdf(self, threshold: NumberLike, *, precision: int = 64) -> Bracket:
        """P(L <= threshold)."""
        tail = self.above(threshold, precision=precision)
        return Bracket(lower=number(1) - tail.upper, upper=number(1) - tail.lower)

    def _tail(self, point: Number, precision: int, *, strict: bool) -> Bracket:
        if isinstance(self.pair, GaussianShift):
            return _gaussian(self.pair, point, precision)
        try:
            cells = self.pair.cells(precision)
        except NoRouteError:
            return self._from_slopes(point, precision)
        with ctx.workprec(precision + 32):
            end = point.enclose(precision + 32)
            sure = [cell.p for cell in cells if cell.low > end or (not strict and cell.low >= end)]
            possible = [cell.p for cell in cells if not (cell.high < end or (strict and cell.high <= end))]
            return Bracket.around(hull(sum(sure, arb(0)), sum(possible, arb(0)).min(arb(1))), least=0)

    def _from_slopes(self, point: Number, precision: int) -> Bracket:
        """P(L > x) = H(x) + e^x Q(L > x), and Q(L > x) is a slope of the hockey stick, which is convex in e^x."""
        step = Fraction(1, 1 << _SLOPE_BITS)
        with ctx.workprec(precision + 32):
            before, here, after = (self.pair.hockey_stick(point + step * i, precision=precision) for i in (-1, 0, 1))
            ends = [exponential(point + step * i, precision + 32) for i in (-1, 0, 1)]
            values = [[bracket.lower.enclose(), bracket.upper.enclose()] for bracket in (before, here, after)]
            least = values[1][0] + ends[1] * positive((values[1][0] - values[2][1]) / (ends[2] - ends[1]))
            most = values[1][1] + ends[1] * (values[0][1] - values[1][0]) / (ends[1] - ends[0])
            return Bracket.around(hull(least, most.min(arb(1))), least=0)


def _gaussian(pair: GaussianShift, point: Number, precision: int) -> Bracket:
    """L ~ N(mu^2/2, mu^2) (K-D32)."""
    with ctx.workprec(precision + 32):
        mu = pair.mu_squared.enclose(precision + 32).sqrt()
        return Bracket.around(normal_cdf(mu / 2 - point.enclose(precision + 32) / mu), least=0)
