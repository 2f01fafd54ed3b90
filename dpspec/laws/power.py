"""The power of a test between two laws at a level: exactly, in closed form, or between two tests that are written down.

    power(P, Q)(a) = the largest Q(S) over all tests S (randomised ones too) with P(S) <= a,

which is 1 - T(P, Q)(a), T the trade-off function. Where the pair is known through cells only, it is bracketed: a test that
rejects the cells of the largest dQ/dP shows a power, and for every t >= 0 no power is above H_{ln t}(Q || P) + t a, H the hockey
stick. Compositions are known through that curve (`dpspec.laws.slopes`).
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb, ctx

from dpspec.errors import ParameterError
from dpspec.exact import Bracket, Number, NumberLike, ball, dyadic, number, rational
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.numeric import normal_cdf
from dpspec.laws.sandwich import merge
from dpspec.laws.slopes import power_by_slopes
from dpspec.laws.trade_off import TradeOff

_GUARD = 32
_SLOPE_BITS = 24


def largest_power(pair: Dichotomy, level: NumberLike, *, precision: int = 64) -> Bracket:
    """The power of the best test of P (the hypothesis) against Q (the alternative) at a level in [0, 1].

    Args:
        pair: (P, Q).
        level: the largest allowed probability of rejecting P when it is true.
        precision: bits; more give a narrower bracket.

    Raises:
        ParameterError: for a level outside [0, 1].
        NoRouteError: when the pair can neither be listed nor cut into cells.

    >>> from dpspec.laws.atoms import FiniteDichotomy
    >>> from dpspec.laws.shifts import GaussianShift
    >>> str(largest_power(FiniteDichotomy((3, 1), (1, 3), 4, 4), "1/8"))
    '3/8'
    >>> largest_power(GaussianShift(number("5.26")), "0.05").upper.decimal()
    '0.741706'
    """
    at = rational(level, "level")
    if not 0 <= at <= 1:
        raise ParameterError("level", "must lie in [0, 1]", "it is a probability", value=level)
    if pair.is_identical or at == 1:
        return Bracket.exactly(at)
    if pair.is_gaussian and at:
        return _gaussian(pair.concentration(precision=precision), at, precision)
    if pair.exact_atoms() is not None:
        return Bracket.exactly(1 - TradeOff.of(pair).at(at))
    if not at and (pair.is_gaussian or pair.is_convolved):
        return pair.reverse().singular_mass(precision=precision)
    if pair.below() is not pair:
        low, high = (largest_power(end, at, precision=precision) for end in (pair.below(), pair.above()))
        return Bracket(lower=low.lower, upper=max(low.lower, high.upper))
    return (power_by_slopes if pair.is_convolved else _by_cells)(pair, at, precision)


def _gaussian(rho: Bracket, level: Fraction, precision: int) -> Bracket:
    """Phi(Phi^-1(a) + mu), mu = sqrt(2 rho) (K-T12)."""
    with ctx.workprec(precision + _GUARD + level.denominator.bit_length()):
        mu = (2 * rho.lower.enclose(ctx.prec)).sqrt().union((2 * rho.upper.enclose(ctx.prec)).sqrt())
        return Bracket.around(normal_cdf(arb(2).sqrt() * ball(2 * level - 1).erfinv() + mu), least=0)


def _by_cells(pair: Dichotomy, level: Fraction, precision: int) -> Bracket:
    """A test that is written down, and a bound."""
    with ctx.workprec(precision + _GUARD):
        shown, slope = _by_event(pair, level, precision)
        most = _by_slope(pair, level, slope, precision)
        return Bracket(lower=min(shown, most), upper=most)


def _by_event(pair: Dichotomy, level: Fraction, precision: int) -> tuple[Number, Fraction]:
    """The power of the test that rejects cells by falling dQ/dP up to the level, and the slope of the curve there."""
    spent, power, slope = arb(0), arb(0), Fraction(1)
    room = ball(level)
    for cell in sorted(merge(pair.cells(precision)), key=lambda cell: float(cell.low)):
        left = room - spent
        if cell.p <= left:
            spent, power = spent + cell.p, power + cell.q
            continue
        power += cell.q * (left / cell.p).max(arb(0)).min(arb(1))  # the last cell is rejected with a probability
        slope = dyadic((cell.q / cell.p).mid()) if (cell.q / cell.p).is_finite() else slope
        break
    return Bracket.around(power.min(arb(1)), least=0).lower, slope


def _by_slope(pair: Dichotomy, level: Fraction, slope: Fraction, precision: int) -> Number:
    """H_{ln t}(Q || P) + t a at a few t around the slope, each a bound."""
    turned = pair.reverse()
    best = number(1)
    centre = dyadic(ball(max(slope, Fraction(1, 1 << 60))).log().mid())
    for step in (-1, 0, 1):
        place = Fraction(round(centre * (1 << _SLOPE_BITS)) + step, 1 << _SLOPE_BITS)
        above = turned.hockey_stick(place, precision=precision).upper.enclose(ctx.prec) + ball(place).exp() * ball(level)
        best = min(best, Bracket.around(above, least=0).upper)
    return best
