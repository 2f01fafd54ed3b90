"""What a divergence allows on one event: the largest p = P(S) at q = Q(S), in ball arithmetic.

Every divergence here obeys data processing, so that the binary laws (p, 1 - p) and (q, 1 - q) decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from dpspec.exact import ball

ORDERS = tuple(Fraction(n, 8) for n in (9, 10, 12, 16, 22, 32, 48, 72, 128, 256, 512))
"""The Renyi orders through which a concentrated claim is looked at."""

_HALVINGS = 50


def by_hockey_stick(q: arb, epsilon: arb, delta: Fraction) -> arb:
    """min(e^epsilon q + delta, 1 - e^-epsilon (1 - q - delta), 1): the event, and its complement the other way round.

    >>> by_hockey_stick(arb("0.25"), arb(2).log(), Fraction(0)).overlaps(arb("0.5"))
    True
    """
    slack = ball(delta)
    straight = epsilon.exp() * q + slack
    return straight.min(1 - (-epsilon).exp() * (1 - q - slack)).min(arb(1))


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
    at, limits = float(q.mid()), [(float(a), float((ball(a - 1) * c).mid())) for a, c in budgets]
    low, high = at, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _fits(middle, at, limits) else (low, middle)
    exact = [(ball(a), (ball(a - 1) * c).exp()) for a, c in budgets]
    return _enclosed(low, q, exact)


def _fits(p: float, q: float, limits: list[tuple[float, float]]) -> bool:
    """Whether ln F <= limit both ways for every order; an order that fails moves to the front, to be asked first next time."""
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
