"""The privacy loss L = ln(dP/dQ) of a pair as a random variable, drawn under P: atoms at infinity, tails, mean
(Kifer et al. 2022, Example 4.6, Definitions 4.8 and 5.1, Section 5.1).

It determines the pair, and adds up under independent composition. Its tails are no guarantee: they can grow under
post-processing (Kifer et al. 2022, Example 4.9), and P(L > eps) lies between the hockey stick at eps and the delta of f-DP.

Composition adds up what independent releases lose together, many of them and of different kinds.

Under independent composition privacy losses add (Kifer et al. 2022, Example 4.6). Gaussian pairs of any scales are one Gaussian
pair, exactly; finite pairs stay exact while they are small; a pair of two atoms, many times, is a binomial number; everything
else is convolved on a grid, with a proved bracket. The result is again a dichotomy, so that every output divergence works on it.

**Adaptive composition**, where a mechanism may be chosen by the outcomes before it, its promise fixed beforehand: epsilons add
(Kifer et al. 2022, Section 4.2), Renyi divergences of one order and rho add (Kifer et al. 2022, Section 5.3), and so does mu^2 of
Gaussian differential privacy (Kifer et al. 2022, Section 5.2). A curve found here holds for it when every mechanism, whatever
came before, is dominated by its pair: the product of dominating pairs dominates. It says nothing on promises that are themselves
chosen along the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import attrs
from flint import arb, ctx, fmpq

from dpspec.base.errors import NoFormulaError, ParameterError
from dpspec.base.exact import Bracket, Number, NumberLike, ln, number
from dpspec.laws.continuous import GaussianShift
from dpspec.laws.dichotomy import Dichotomy, exact_atoms_of
from dpspec.laws.numeric import ball_exponential, hull, normal_cdf, positive
from dpspec.laws.products import ProductDichotomy, product_of_powers

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
        """P(L = infinity), below which no delta can fall (Kifer et al. 2022, Section 5.1)."""
        return self.pair.singular_mass(precision=precision)

    def mean(self, *, precision: int = 64) -> Bracket:
        """E L, the Kullback-Leibler divergence."""
        return self.pair.renyi(1, precision=precision)

    def above(self, threshold: NumberLike, *, precision: int = 64) -> Bracket:
        """P(L > threshold)."""
        point = number(threshold, "threshold")
        atoms = exact_atoms_of(self.pair)
        if atoms is not None:
            return Bracket.exactly(sum((p for p, q in atoms if p and (not q or ln(p / q) > point)), Fraction(0)))
        return self._tail(point, precision, strict=True)

    def at_least(self, threshold: NumberLike, *, precision: int = 64) -> Bracket:
        """P(L >= threshold)."""
        point = number(threshold, "threshold")
        atoms = exact_atoms_of(self.pair)
        if atoms is not None:
            return Bracket.exactly(sum((p for p, q in atoms if p and (not q or ln(p / q) >= point)), Fraction(0)))
        return self._tail(point, precision, strict=False)

    def cdf(self, threshold: NumberLike, *, precision: int = 64) -> Bracket:
        """P(L <= threshold)."""
        tail = self.above(threshold, precision=precision)
        return Bracket(lower=number(1) - tail.upper, upper=number(1) - tail.lower)

    def _tail(self, point: Number, precision: int, *, strict: bool) -> Bracket:
        if isinstance(self.pair, GaussianShift):
            # L ~ N(mu^2/2, mu^2) (Kifer et al. 2022, Example 4.5)
            with ctx.workprec(precision + 32):
                mu = self.pair.mu_squared.enclose(precision + 32).sqrt()
                return Bracket.around(normal_cdf(mu / 2 - point.enclose(precision + 32) / mu), least=0)
        if isinstance(self.pair, ProductDichotomy) and self.pair.is_blurred:
            return self._from_slopes(point, precision)
        try:
            cells = self.pair.cells(precision)
        except NoFormulaError:
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
            ends = [ball_exponential(point + step * i, precision + 32) for i in (-1, 0, 1)]
            values = [[bracket.lower.enclose(), bracket.upper.enclose()] for bracket in (before, here, after)]
            least = values[1][0] + ends[1] * positive((values[1][0] - values[2][1]) / (ends[2] - ends[1]))
            most = values[1][1] + ends[1] * (values[0][1] - values[1][0]) / (ends[1] - ends[0])
            return Bracket.around(hull(least, most.min(arb(1))), least=0)


# --- composition ----------------------------------------------------------------------------------


def compose(releases: Iterable[tuple[Dichotomy, int]]) -> Dichotomy:
    """Independent releases, each pair as often as it says, in the simplest form.

    >>> str(compose([(GaussianShift(number("1/4")), 7), (GaussianShift(number("1/3")), 3)]).mu_squared)
    '11/4'

    Raises:
        ParameterError: when a number of times is negative.
    """
    merged: dict[object, tuple[Dichotomy, int]] = {}
    squares: list[tuple[Fraction, int]] = []
    for pair, times in releases:
        if times < 0:
            raise ParameterError("times", "must be at least 0", value=times)
        if times and isinstance(pair, GaussianShift) and pair.mu_squared.is_rational:
            squares.append((pair.mu_squared.as_fraction(), times))
        elif times:
            atoms = exact_atoms_of(pair)
            key = pair if atoms is None else atoms
            first, before = merged.get(key, (pair, 0))
            merged[key] = first, before + times
    return product_of_powers([*((pair, 1) for pair in _joined(squares)), *merged.values()])


def _joined(squares: Sequence[tuple[Fraction, int]]) -> Sequence[GaussianShift]:
    """One Gaussian pair: mu^2 adds, two by two, so that denominators grow late."""
    sums = [fmpq(square.numerator * times, square.denominator) for square, times in squares]
    while len(sums) > 1:
        sums = [sum(sums[i : i + 2], fmpq(0)) for i in range(0, len(sums), 2)]
    return [GaussianShift(number(Fraction(int(whole.p), int(whole.q)))) for whole in sums]
