"""The least mu with T(P, Q) >= G_mu of any pair of laws, in a bracket where there is no exact trade-off function.

From below by events, each of which shows two errors (a, b) with T(a) <= b and so mu >= Phi^-1(1 - a) - Phi^-1(b); from above by
the lines T(a) >= 1 - H_e(Q||P) - e^e a, H the hockey stick: the corners of their upper envelope decide, as the knots of a
piecewise linear T do.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb, ctx

from dpspec.exact import INFINITY, ZERO, Bracket, Number, ball, dyadic
from dpspec.laws.dichotomy import NOTHING, Dichotomy
from dpspec.laws.sandwich import merge
from dpspec.laws.trade_off import TradeOff

_LINES_PER_BIT, _MOST_LINES = 2, 256
_SPARE = 64

Line = tuple[arb, arb]
"""(c, t) of the line c - t a."""


def least_mu(pair: Dichotomy, *, precision: int = 64) -> Bracket:
    """The least mu; exact for two Gaussians of one variance.

    Raises:
        NoRouteError: when the pair can neither be listed nor cut into cells.

    >>> from dpspec.exact import number
    >>> from dpspec.laws.shifts import LaplaceShift
    >>> found = least_mu(LaplaceShift(number(1)))
    >>> found.lower.decimal(3), found.upper.decimal(3)
    ('1.03', '1.03')
    """
    if pair.is_identical:
        return NOTHING
    if pair.is_gaussian:
        return pair.concentration(precision=precision).scaled(2).sqrt()
    if pair.below() is not pair:
        low, high = (least_mu(end, precision=precision) for end in (pair.below(), pair.above()))
        return Bracket(lower=low.lower, upper=high.upper)
    if pair.exact_atoms() is not None:
        return TradeOff.of(pair).least_mu(precision=precision)
    with ctx.workprec(precision + _SPARE):
        lower, upper = _by_events(pair, precision), _by_lines(pair, precision)
        return Bracket(lower=min(lower, upper), upper=upper)


def _by_events(pair: Dichotomy, precision: int) -> Number:
    """The largest gap that an event {dQ/dP > t} of the cells shows."""
    level, error, best = arb(0), arb(1), ZERO
    for cell in sorted(merge(pair.cells(precision)), key=lambda cell: float(cell.low)):
        level, error = level + cell.p, error - cell.q
        if level > 0 and error > 0 and level < 1 and error < 1:
            best = max(best, Bracket.around(_gap(level, error), least=0).lower)
    return best


def _by_lines(pair: Dichotomy, precision: int) -> Number:
    """The largest gap at a corner of the envelope of the lines, and at most what the largest log-ratio allows."""
    turned = pair.reverse()
    ends = turned.max_log_ratio(precision=precision).upper, pair.max_log_ratio(precision=precision).upper
    if any(end.is_infinite for end in ends):
        return INFINITY
    high, low = (dyadic(end.enclose(precision).upper()) for end in ends)
    count = min(_LINES_PER_BIT * precision, _MOST_LINES)
    places = [high - (high + low) * step / count for step in range(count + 1)]
    corners = _corners([_line(pair, turned, place, precision) for place in places])
    found = max((Bracket.around(_gap(*corner), least=0).upper for corner in corners), default=ZERO)
    pure = 2 * arb(2).sqrt() * (ball(max(high, low)) / 2).tanh().erfinv()
    return min(found, Bracket.around(pure, least=0).upper)


def _line(pair: Dichotomy, turned: Dichotomy, place: Fraction, precision: int) -> Line:
    """A line below T(P, Q) that falls by e^place."""
    slope = ball(place).exp()
    if place >= 0:
        return 1 - turned.hockey_stick(place, precision=precision).upper.enclose(ctx.prec), slope
    return slope * (1 - pair.hockey_stick(-place, precision=precision).upper.enclose(ctx.prec)), slope


def _corners(lines: list[Line]) -> list[tuple[arb, arb]]:
    """The corners of the upper envelope of some of the lines, steep ones first: each certainly right of the one before.

    A line whose corners are not certainly in order is left out, which only lowers the envelope.
    """
    kept: list[Line] = []
    corners: list[arb] = []
    for c, t in lines:
        while kept:
            level = (kept[-1][0] - c) / (kept[-1][1] - t)
            if not corners or level > corners[-1]:
                corners.append(level)
                break
            kept.pop()
            corners.pop()
        kept.append((c, t))
    return [(level, c - t * level) for level, (c, t) in zip(corners, kept[1:], strict=True)]


def _gap(level: arb, error: arb) -> arb:
    """Phi^-1(1 - a) - Phi^-1(b)."""
    return arb(2).sqrt() * ((1 - 2 * level).erfinv() + (1 - 2 * error).erfinv())
