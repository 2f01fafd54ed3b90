"""Dichotomies known through cells: rigorous balls around their masses and the range of the likelihood ratio.

A cell is a set of outcomes on which low <= ln(dP/dQ) <= high. An atom is a cell with low = high. Infinite ends stand
for outcomes where one of the laws has no mass.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import attrs
from flint import arb, ctx

from dpspec.exact import INFINITY, ZERO, Bracket, Number, ball, number
from dpspec.laws.cumulant import AtomSum, Cumulant, enclosed_limit, supremum
from dpspec.laws.dichotomy import INFINITE, Dichotomy
from dpspec.laws.numeric import exponential, hull, positive

_GRID = (1, "65/64", "9/8", "5/4", "3/2", 2, 3, 4, 6, 8, 16, 32, 64)
_LARGEST_STEP = 1 << 16


@attrs.frozen
class Cell:
    """Masses p = P(cell), q = Q(cell) and the range [low, high] of ln(dP/dQ) on it."""

    p: arb
    q: arb
    low: arb
    high: arb

    @classmethod
    def atom(cls, p: arb, q: arb) -> Cell:
        """A single outcome; where a ball does not exclude 0 the range is open on that side."""
        p, q = positive(p), positive(q)
        if p > 0 and q > 0:
            log_ratio = (p / q).log()
            return cls(p, q, log_ratio.lower(), log_ratio.upper())
        return cls.lump(p, q)

    @classmethod
    def lump(cls, p: arb, q: arb) -> Cell:
        """Outcomes about whose ratio nothing is known, beyond what a mass of exactly 0 says."""
        p, q = positive(p), positive(q)
        if q.is_zero():
            return cls(p, q, arb.pos_inf(), arb.pos_inf())
        return cls(p, q, arb.neg_inf(), arb.neg_inf() if p.is_zero() else arb.pos_inf())

    @property
    def is_empty(self) -> bool:
        return bool(self.p.is_zero() and self.q.is_zero())

    @property
    def is_singular(self) -> bool:
        """Whether Q has no mass here."""
        return bool(self.q.is_zero())

    def turned(self) -> Cell:
        return Cell(self.q, self.p, -self.high, -self.low)

    def times(self, other: Cell) -> Cell:
        """The cell of the product laws."""
        p, q = self.p * other.p, self.q * other.q
        if p.is_zero() or q.is_zero():
            return Cell.lump(p, q)
        return Cell(p, q, _lower_sum(self.low, other.low), _upper_sum(self.high, other.high))

    def gain(self, epsilon: arb, factor: arb) -> arb:
        """The hockey-stick integral over the cell, int max(dP - factor dQ, 0) with factor = e^epsilon."""
        if self.p.is_zero() or self.high < epsilon:
            return arb(0)
        whole = positive(self.p - factor * self.q)
        if self.low > epsilon:
            return whole
        most = self.p * positive(-(epsilon - self.high).expm1()) if self.high.is_finite() else self.p
        return hull(whole.lower(), most.upper().max(whole.upper()))

    def moment(self, exponent: arb) -> arb:
        """The integral of (dP/dQ)^exponent dP over the cell, for an exponent > 0 and a finite high end."""
        most = self.p * (exponent * self.high).exp()
        least = self.p * (exponent * self.low).exp() if self.low.is_finite() else arb(0)
        return hull(least, most)

    def divergence(self) -> arb:
        """The integral of ln(dP/dQ) dP over the cell, for a finite high end."""
        floor = (-self.q * arb(-1).exp()).lower()
        least = (self.p * self.low).lower().max(floor) if self.low.is_finite() else floor
        return hull(least, (self.p * self.high).upper())


def _lower_sum(left: arb, right: arb) -> arb:
    return left + right if left.is_finite() and right.is_finite() else arb.neg_inf()


def _upper_sum(left: arb, right: arb) -> arb:
    return left + right if left.is_finite() and right.is_finite() else arb.pos_inf()


Cells = tuple[Cell, ...]
CellsAt = Callable[[int], Cells]


@attrs.frozen(eq=False)
class BallDichotomy(Dichotomy):
    """A pair known through cells that can be computed at any precision.

    Args:
        cells_at: the cells at a precision in bits; their masses sum to 1 on both sides.
        top: sup ln(dP/dQ), where it is known beforehand.
        bottom: sup ln(dQ/dP), where it is known beforehand.
    """

    cells_at: CellsAt
    top: Bracket | None = None
    bottom: Bracket | None = None
    _known: dict[int, Cells] = attrs.field(factory=dict, repr=False)

    def cells(self, precision: int) -> Cells:
        if precision not in self._known:
            with ctx.workprec(precision + 32):
                self._known[precision] = tuple(cell for cell in self.cells_at(precision) if not cell.is_empty)
        return self._known[precision]

    def cumulant(self, precision: int) -> Callable[[int], Cumulant] | None:
        vague = any(not c.p.is_zero() and not (c.low.is_finite() and c.high.is_finite()) for c in self.cells(precision))
        return None if vague else self._sum

    def reverse(self) -> BallDichotomy:
        return BallDichotomy(lambda precision: tuple(c.turned() for c in self.cells(precision)), self.bottom, self.top)

    def max_log_ratio(self, *, precision: int = 64) -> Bracket:
        if self.top is not None:
            return self.top
        lower, upper = arb(0), arb(0)
        for cell in self.cells(precision):
            if not cell.p.is_zero():
                upper = upper.max(cell.high.upper())
            if cell.p > 0:
                lower = lower.max(cell.low.lower())
        return Bracket(lower=_end(lower), upper=_end(upper))

    def singular_mass(self, *, precision: int = 64) -> Bracket:
        if all(cell.p.is_zero() or cell.q.is_zero() for cell in self.cells(precision)):
            return Bracket.exactly(1)
        certain, possible = arb(0), arb(0)
        with ctx.workprec(precision + 32):
            for cell in self.cells(precision):
                certain += cell.p if cell.is_singular else 0
                possible += cell.p if cell.high == arb.pos_inf() else 0
            return Bracket.around(hull(certain.lower(), possible.upper()).min(arb(1)), least=0)

    def _hockey_stick(self, epsilon: Number, precision: int) -> Bracket:
        with ctx.workprec(precision + 32):
            threshold, factor = epsilon.enclose(precision + 32), exponential(epsilon, precision + 32)
            total = sum((cell.gain(threshold, factor) for cell in self.cells(precision)), arb(0))
            return Bracket.around(total.min(arb(1)), least=0)

    def _epsilon_at(self, delta: Fraction, precision: int) -> Bracket:
        """From below by the events {dP/dQ >= t} themselves, from above by the hockey stick next to the best of them."""
        singular = self.singular_mass(precision=precision)
        if singular.lower > delta:
            return INFINITE
        best = self._best_event(delta, precision)
        top = self.max_log_ratio(precision=precision).upper
        guess = max(best.upper, ZERO).as_fraction()
        step = Fraction(1, 1 << precision)
        while self.hockey_stick(guess + step, precision=precision).upper > delta:
            step *= 4
            if step > _LARGEST_STEP:
                return Bracket(lower=best.lower, upper=top)
        if guess == 0 and self.hockey_stick(0, precision=precision).upper <= delta:
            return Bracket.exactly(0)
        return Bracket(lower=best.lower, upper=min(number(guess + step), top))

    def _best_event(self, delta: Fraction, precision: int) -> Bracket:
        """max over threshold events S of ln((P(S) - delta) / Q(S)), a lower bound of the epsilon at delta."""
        ordered = sorted(self.cells(precision), key=lambda cell: -float(cell.low))
        with ctx.workprec(precision + 32):
            slack, best = ball(delta), arb(0)
            p, q = arb(0), arb(0)
            for cell in ordered:
                p, q = p + cell.p, q + cell.q
                if p > slack and q > 0:
                    value = ((p - slack) / q).log()
                    best = value if value.lower() > best.lower() else best
            return Bracket.around(best, least=0)

    def _renyi(self, order: Fraction, precision: int) -> Bracket:
        cells = self.cells(precision)
        if any(cell.is_singular and cell.p > 0 for cell in cells):
            return INFINITE
        with ctx.workprec(precision + 32):
            inside = [cell for cell in cells if cell.high.is_finite()]
            if order == 1:
                value = sum((cell.divergence() for cell in inside), arb(0))
            else:
                exponent = ball(order - 1)
                value = sum((cell.moment(exponent) for cell in inside), arb(0)).log() / exponent
            bracket = Bracket.around(value, least=0)
        unbounded = any(not cell.p.is_zero() and cell.high == arb.pos_inf() for cell in cells)
        if not unbounded:
            return bracket
        return Bracket(lower=ZERO if order == 1 else bracket.lower, upper=INFINITY)

    def _concentration(self, precision: int) -> Bracket:
        top = self.max_log_ratio(precision=precision)
        if any(cell.is_singular and cell.p > 0 for cell in self.cells(precision)):
            return INFINITE
        vague = any(not cell.p.is_zero() and not cell.low.is_finite() for cell in self.cells(precision))
        if vague or top.upper.is_infinite:
            lower = max(self.renyi(order, precision=precision).lower / number(order).as_fraction() for order in _GRID)
            return Bracket(lower=lower, upper=top.upper)
        found = supremum(self._sum, top=top.upper, precision=precision)
        if found is not None:
            return found
        with ctx.workprec(2 * precision + 64):
            return enclosed_limit(self._sum(2 * precision + 64))

    def _sum(self, precision: int) -> AtomSum:
        with ctx.workprec(precision):
            return AtomSum.of((c.p, hull(c.low, c.high)) for c in self.cells(precision) if not c.p.is_zero())


def _end(value: arb) -> Number:
    return Bracket.around(value).upper if value.is_finite() else INFINITY
