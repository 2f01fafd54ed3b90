"""Brackets: what has no exact form is known to lie between two numbers."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import attrs
from flint import arb, ctx

from dpspec.errors import NumericalError
from dpspec.forms import START_PRECISION, dyadic
from dpspec.numbers import INFINITY, ZERO, Number, NumberLike, Scalar, number


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
        exact = number(value)
        return cls(lower=exact, upper=exact)

    @classmethod
    def around(cls, enclosure: arb, *, least: Scalar | None = None) -> Bracket:
        """The exact (dyadic) ends of a ball; `least` is a bound known beforehand, such as 0."""
        if enclosure.is_nan():
            low, high = number(least if least is not None else 0), INFINITY
        else:
            low, high = _endpoint(enclosure.lower()), _endpoint(enclosure.upper())
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
    end = dyadic(enclosure.lower() if rounding == ROUND_FLOOR else enclosure.upper())
    return str(Context(prec=digits, rounding=rounding).divide(Decimal(end.numerator), Decimal(end.denominator)))


def _endpoint(value: arb) -> Number:
    if value.is_finite():
        return number(dyadic(value))
    return INFINITY if value > 0 else ZERO


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
