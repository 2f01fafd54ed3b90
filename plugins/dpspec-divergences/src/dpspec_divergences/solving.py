"""Numbers that are defined by an equation or as a least value, in brackets whose ends are proved in ball arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx

from dpspec.exact import Bracket, ball, dyadic

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
        while not excess(ball(high)) < 0:
            high, step = high + step, 2 * step
        while high - low > CLOSE * max(high, CLOSE):
            middle = dyadic((ball(low + high) / 2).mid())
            value = excess(ball(middle))
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
    return ball(low).union(ball(high))
