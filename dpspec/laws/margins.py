"""Errors of released numbers: margin, coverage and standard deviation of symmetric laws.

For a number Y whose law is symmetric about its true value n, and a level L in (0, 1),

    margin      the least m with P(|Y - n| <= m) >= L
    coverage    P(|Y - n| <= m), at least L

On the integers the margin is a whole number and the coverage is usually more than L.
"""

from __future__ import annotations

from fractions import Fraction

import attrs
from flint import arb, ctx

from dpspec.base.errors import ParameterError
from dpspec.base.exact import Bracket, NumberLike, number, rational
from dpspec.base.log_linear import ball, dyadic
from dpspec.laws.continuous import LineLaw
from dpspec.laws.integers import IntegerLaw

_PRECISION = 128
_FINE = 1 << 40
"""Margins on the line are found to this part of themselves."""
_LEAST_BITS = 4096
"""Smaller probabilities than 2 to the minus this are rounded up to it: as fractions they may be too long for any number."""


@attrs.frozen(kw_only=True)
class Margin:
    """A margin of error.

    Args:
        level: L.
        value: the least margin, in the unit of the number: exact on the integers.
        coverage: how often a number is within the upper end of `value`.
    """

    level: Fraction
    value: Bracket
    coverage: Bracket


def read_level(level: NumberLike) -> Fraction:
    """A level as a fraction in (0, 1).

    Raises:
        ParameterError: it is none.
    """
    found = rational(level, "level")
    if not 0 < found < 1:
        raise ParameterError("level", "must lie between 0 and 1", 'such as "0.95"', value=str(level))
    return found


def margin(law: LineLaw | IntegerLaw, level: NumberLike = Fraction(19, 20)) -> Margin:
    """The margin of a law at a level.

    Args:
        law: the law of a number, symmetric about its true value.
        level: L, in (0, 1).

    Raises:
        ParameterError: for a level outside (0, 1).

    >>> from dpspec.laws.continuous import LaplaceLaw
    >>> margin(LaplaceLaw(0, 1)).value.upper.decimal(10)  # ln(20)
    '2.995732274'
    >>> from dpspec.laws.integers import TwoSidedGeometricLaw
    >>> str(margin(TwoSidedGeometricLaw.with_ratio(7, "1/2")).value.upper)
    '4'
    """
    wanted = read_level(level)
    with ctx.workprec(_PRECISION):
        return _on_integers(law, wanted) if isinstance(law, IntegerLaw) else _on_the_line(law, wanted)


def _on_integers(law: IntegerLaw, wanted: Fraction) -> Margin:
    least_bits = max(_LEAST_BITS, wanted.denominator.bit_length())  # 2^-least_bits is below 1 - wanted

    def outside(far: int) -> tuple[Fraction, Fraction]:
        """P(|Y - n| > far), from below and above; exactly, where the level may be attained and the law has a rational tail."""
        found = 2 * law.upper_tail(far + 1, _PRECISION)
        if found < arb(2) ** -least_bits:
            return Fraction(0), Fraction(1, 1 << least_bits)
        least, most = max(dyadic(found.lower()), Fraction(0)), dyadic(found.upper())
        tail = law.rational_tail(far + 1) if least <= 1 - wanted < most else None
        return (least, most) if tail is None else (2 * tail, 2 * tail)

    low, high = -1, 0  # at -1 nothing is within the margin
    while outside(high)[1] > 1 - wanted:
        low, high = high, 2 * high + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if outside(middle)[1] <= 1 - wanted else (middle, high)
    least, most = outside(high)
    return Margin(level=wanted, value=Bracket.exactly(high), coverage=Bracket(lower=number(1 - most), upper=number(1 - least)))


def _on_the_line(law: LineLaw, wanted: Fraction) -> Margin:
    def outside(far: Fraction) -> tuple[Fraction, Fraction]:
        found = 2 * law.upper_tail(ball(far), _PRECISION)
        return max(dyadic(found.lower()), Fraction(0)), dyadic(found.upper())

    low, high = Fraction(0), law.spread()
    while outside(high)[1] > 1 - wanted:
        low, high = high, 2 * high
    while high - low > high / _FINE:
        middle = (low + high) / 2
        if outside(middle)[1] <= 1 - wanted:
            high = middle
        elif outside(middle)[0] >= 1 - wanted:
            low = middle
        else:
            break
    least, most = outside(high)
    coverage = Bracket(lower=number(1 - most), upper=number(1 - least))
    return Margin(level=wanted, value=Bracket(lower=number(low), upper=number(high)), coverage=coverage)


def deviation(law: LineLaw | IntegerLaw) -> Bracket | None:
    """The standard deviation of a law; None where it is not known.

    >>> from dpspec.laws.continuous import GaussianLaw
    >>> float(deviation(GaussianLaw(0, 4)).upper)
    2.0
    """
    with ctx.workprec(_PRECISION):
        found = law.variance_ball(_PRECISION)
        return None if found is None else Bracket.around(found.sqrt())
