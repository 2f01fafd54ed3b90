"""Small helpers that the laws share: exact sums, ball arithmetic, and tails of binomial laws as balls.

The loss of k-fold randomised response is a binomial number.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx, fmpz

from dpspec.base.exact import Number
from dpspec.base.log_linear import ball, bits
from dpspec.base.work import counted, spend

_MOST_BITS = 1 << 15
_LARGEST_ROOT = 64
_FREE_TURNS = 8
"""The number of steps by which a search may be slower than bisection."""


def spend_on_balls(count: int) -> None:
    """Count the work of so many exponentials or logarithms of balls, at the working precision.

    One takes about 1 microsecond at 100 bits, 3 at 600 and 7 at 1,100.

    Raises:
        WorkSpent: when that is more than a limit allows.
    """
    spend(count * (1 + (ctx.prec >> 8)))


def rational_exponential(value: Number) -> Fraction | None:
    """e^value when it is a rational number of moderate size, else None.

    For a form a + sum c_i ln(r_i) without a root, None means that e^value is irrational (by Lindemann when a is not
    0), or that it is rational but too large to be worth writing down.

    >>> from dpspec.base.exact import number
    >>> rational_exponential(number("1/2*ln(9/4)")), rational_exponential(number("1/2*ln(2)"))
    (Fraction(3, 2), None)
    """
    if value.is_infinite or value.root != 1 or value.rational_part:
        return None
    degree = math.lcm(*(c.denominator for _, c in value.logs))
    if degree > _LARGEST_ROOT or sum(abs(c) * degree * bits(r) for r, c in value.logs) > _MOST_BITS:
        return None
    power = Fraction(1)
    for argument, coefficient in value.logs:
        power *= argument ** int(coefficient * degree)
    return rational_root(power, degree)


def rational_root(value: Fraction, degree: int) -> Fraction | None:
    """The positive root of a positive rational when it is rational.

    >>> rational_root(Fraction(8, 27), 3), rational_root(Fraction(2), 2)
    (Fraction(2, 3), None)
    """
    top, bottom = _integer_root(value.numerator, degree), _integer_root(value.denominator, degree)
    return Fraction(top, bottom) if top is not None and bottom is not None else None


def _integer_root(value: int, degree: int) -> int | None:
    low, high = 1, 1 << (value.bit_length() // degree + 1)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle**degree < value else (low, middle)
    return low if low**degree == value else None


def ball_exponential(value: Number, precision: int) -> arb:
    """e^value as a ball (the infinite ball for infinity)."""
    return value.enclose(precision).exp()


def whole_number(value: object) -> int | None:
    """The integer that an outcome is equal to (1, 1.0 and Fraction(1) are one outcome), if any.

    >>> whole_number(1.0), whole_number(Fraction(1, 2)), whole_number("1")
    (1, None, None)
    """
    if isinstance(value, numbers.Rational):
        return int(value.numerator) if value.denominator == 1 else None
    return int(value) if isinstance(value, float) and value.is_integer() else None


def normal_cdf(x: arb) -> arb:
    """P(Z <= x) of a standard normal number."""
    return (-x / arb(2).sqrt()).erfc() / 2


def positive(value: arb) -> arb:
    """max(0, value) of every number in the ball."""
    return value.max(arb(0))


def hull(low: arb, high: arb) -> arb:
    """A ball around all numbers between two finite ones."""
    return low.union(high)


def last_above(excess: Callable[[int], float], low: int, high: int) -> int:
    """The last place from `low` on that is above 0, for a function that falls and is not above 0 at `high`.

    Regula falsi, where an end that stays twice counts half (Illinois); halving where that is no faster.

    >>> last_above(lambda place: 10.5 - place, 0, 64)
    10
    """
    below, beyond = excess(low), excess(high)
    allowed, stayed = (high - low) << _FREE_TURNS, 0
    while high - low > 1:
        share = below / (below - beyond) if below > beyond else 0.0
        if not 0 < share < 1 or high - low > allowed:
            share = 0.5
        middle = min(max(low + int(Fraction(share) * (high - low)), low + 1), high - 1)
        value = excess(middle)
        if value > 0:
            low, below, beyond, stayed = middle, value, beyond / 2 if stayed > 0 else beyond, 1
        else:
            high, beyond, below, stayed = middle, value, below / 2 if stayed < 0 else below, -1
        allowed //= 2
    return low


# --- binomial tails -------------------------------------------------------------------------------


def binomial_tail(trials: int, probability: Fraction, least: int, precision: int) -> arb:
    """P(X >= least) for X ~ Bin(trials, p) with p = `probability`, 0 < p < 1.

    >>> binomial_tail(2, Fraction(1, 2), 1, 64)
    0.750000000000000
    """
    if least <= 0:
        return arb(1)
    if least > trials:
        return arb(0)
    with ctx.workprec(precision + 32 + 2 * trials.bit_length()):
        if least <= trials * probability:
            return 1 - _from(trials, 1 - probability, trials - least + 1)
        return _from(trials, probability, least)


_WORK_OF_A_TERM = 2
"""Units of work of a term of a tail."""
_MOST_EXACT_TRIALS = 1 << 16
"""The binomial coefficient of more trials is enclosed: as a whole number it has nearly as many bits."""
_MOST_TERMS = 1 << 17
"""So many terms of a tail are added; the rest of it is enclosed."""


def _from(trials: int, probability: Fraction, least: int) -> arb:
    """The sum from a term on; where the terms fall they do so at least geometrically."""
    odds = ball(probability / (1 - probability))
    term = _coefficient(trials, least) * ball(probability) ** least * ball(1 - probability) ** (trials - least)
    total, negligible = arb(0), arb(2) ** -ctx.prec
    for place in counted(range(least, trials + 1), _WORK_OF_A_TERM):
        total += term
        ratio = odds * (trials - place) / (place + 1)
        term *= ratio
        if ratio < 1 and (term < total * negligible or place - least > _MOST_TERMS):
            return total + hull(arb(0), (term / (1 - ratio)).upper())
    return total


def _coefficient(trials: int, chosen: int) -> arb:
    if trials <= _MOST_EXACT_TRIALS:
        return arb(fmpz.bin_uiui(trials, chosen))
    logs = (arb(number + 1).lgamma() for number in (trials, chosen, trials - chosen))
    return (next(logs) - next(logs) - next(logs)).exp()
