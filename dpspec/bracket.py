"""Brackets: what has no exact form is known to lie between two numbers."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import attrs
from flint import arb, ctx

from dpspec.errors import NumericalError
from dpspec.forms import MOST_BITS, START_PRECISION, ceiling_of, floor_of
from dpspec.numbers import INFINITY, LONGEST_EXACT, Number, NumberLike, Scalar, number


@attrs.frozen(kw_only=True)
class Bracket:
    """A value known to lie in [lower, upper]; exact when the two ends are equal.

    >>> Bracket.exactly(number("ln(3)")).is_exact
    True
    """

    lower: Number
    upper: Number

    @classmethod
    def exactly(cls, value: NumberLike) -> Bracket:
        """The value itself; next to it on both sides where its exact form is too long to be worked with.

        >>> Bracket.exactly(number(3) * (1 << 13_001)).is_exact
        False
        """
        exact = number(value)
        if not exact.infinite and exact.bits > MOST_BITS:
            return cls.around(exact.enclose(4 * START_PRECISION))
        return cls(lower=exact, upper=exact)

    @classmethod
    def around(cls, enclosure: arb, *, least: Scalar | None = None) -> Bracket:
        """The exact (dyadic) ends of a ball; `least` is a bound known beforehand, such as 0.

        Beyond 2^13000 and below 2^-13000 they are rounded outward, so that an end is never longer than can be worked with.

        >>> tiny = Bracket.around(arb(-(10**12)).exp(), least=0)
        >>> str(tiny.lower), tiny.upper < number("1e-3900"), str(tiny)
        ('0', True, '[0, 4.0743315621345154E-3914]')
        """
        floor, ceiling = (None, None) if enclosure.is_nan() else (floor_of(enclosure), ceiling_of(enclosure))
        if floor is None and least is None:
            raise NumericalError("bracket", "has no lower end", "choose less extreme parameters")
        low, high = number(floor or 0), INFINITY if ceiling is None else number(ceiling)
        if least is not None and not (least == 0 and enclosure > 0):
            low, high = max(low, number(least)), max(high, number(least))
        return cls(lower=low, upper=high)

    @property
    def is_exact(self) -> bool:
        return self.lower is self.upper or self.lower == self.upper

    def scaled(self, factor: Scalar | Number) -> Bracket:
        """Both ends times a positive factor."""
        lower = self.lower * factor
        return Bracket(lower=lower, upper=lower if self.lower is self.upper else self.upper * factor)

    def sqrt(self) -> Bracket:
        lower = self.lower.sqrt()
        return Bracket(lower=lower, upper=lower if self.lower is self.upper else self.upper.sqrt())

    def __or__(self, other: Bracket) -> Bracket:
        """The bracket of the larger of the two values."""
        return largest((self, other))

    def __str__(self) -> str:
        lower, upper = self.ends()
        return lower if self.is_exact else f"[{lower}, {upper}]"

    def outward(self, digits: int) -> str:
        """As text of so many digits: the exact form where there is a short one, else both ends, rounded outward.

        >>> Bracket(lower=number("0.1234567"), upper=number("0.2345678")).outward(3)
        '[0.123, 0.235]'
        """
        exact = str(self.lower) if self.is_exact else ""
        if exact and len(exact) <= LONGEST_EXACT:
            return exact
        return f"[{_outward(self.lower, ROUND_FLOOR, digits)}, {_outward(self.upper, ROUND_CEILING, digits)}]"

    def ends(self) -> tuple[str, str]:
        """Both ends as text: in exact form when the value is exact, else as decimals on the safe side."""
        if self.is_exact:
            return str(self.lower), str(self.lower)
        return _outward(self.lower, ROUND_FLOOR), _outward(self.upper, ROUND_CEILING)


def _outward(value: Number, rounding: str, digits: int = 17) -> str:
    """A decimal on the safe side of the value."""
    if value.is_infinite:
        return "inf"
    enclosure = value.enclose(2 * START_PRECISION)
    end = floor_of(enclosure) if rounding == ROUND_FLOOR else ceiling_of(enclosure)
    if end is None:
        return "inf"
    return str(Context(prec=digits, rounding=rounding).divide(Decimal(end.numerator), Decimal(end.denominator)))


def largest(brackets: Iterable[Bracket]) -> Bracket:
    """The bracket of the maximum of several nonnegative values (0 for none)."""
    best = Bracket.exactly(0)
    for bracket in brackets:
        lower = max(best.lower, bracket.lower)
        upper = max(best.upper, bracket.upper)
        best = Bracket(lower=lower, upper=upper)
    return best


def rounded_product(left: Number, right: Number) -> Number:
    """The product of two nonnegative numbers, exact where it has an exact form, else rounded up to 17 digits.

    >>> str(rounded_product(number("ln(2)"), number("ln(2)")))
    '48045301391820143/100000000000000000'
    """
    try:
        return left * right
    except NumericalError:
        with ctx.workprec(2 * START_PRECISION):
            enclosure = left.enclose(2 * START_PRECISION) * right.enclose(2 * START_PRECISION)
            return number(_outward(Bracket.around(enclosure, least=0).upper, ROUND_CEILING))
