"""Exact numbers for privacy: rationals, logarithms of rationals, and their square roots.

Every budget, distance and Lipschitz constant is a `Number`

    x = a + sum_i c_i ln(r_i)      or      x = sqrt(a + sum_i c_i ln(r_i))      or      infinity,

with rational a, c_i and positive rational r_i. Two such numbers of one shape can always be compared exactly
(B-S19): unequal ones are separated by ball arithmetic at some precision, and equal ones are recognised
because a nonzero rational plus a logarithm of a rational is never 0 (Lindemann), so that equality means
equal rational parts and prod_i r_i^c_i = 1, which is a question about integers.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import total_ordering
from typing import Any

import attrs
from flint import arb, ctx

from dpspec.errors import NumericalError, ParameterError
from dpspec.forms import MOST_BITS, START_PRECISION, bits, canonical, digits, enclose, ending_decimal, sign

_LAST_PRECISION = 1 << 14
LONGEST_EXACT = 32
"""An exact form longer than this is shown as a decimal only; JSON output always has the exact form."""

MOST_DIGITS = MOST_BITS * 3 // 10
"""Decimals that are read have at most so many digits, before and behind the point."""

Scalar = int | Fraction


def rational(value: Any, subject: str = "number") -> Fraction:
    """Read an exact rational; a float is read as the decimal that it prints (0.1 is 1/10).

    Raises:
        ParameterError: for a bool, a NaN, an infinity, or text that is no number.

    >>> rational(0.1), rational("3/4"), rational("1e-10")
    (Fraction(1, 10), Fraction(3, 4), Fraction(1, 10000000000))
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Fraction, Decimal)):
        raise ParameterError(subject, "must be a number", 'write an integer or text such as "1/20"', value=value)
    try:
        if isinstance(value, Decimal) or (isinstance(value, str) and "/" not in value):
            return _of_decimal(Decimal(value.strip() if isinstance(value, str) else value), subject)
        return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
    except ParameterError:
        raise
    except (ValueError, InvalidOperation, OverflowError, ZeroDivisionError):
        raise ParameterError(
            subject, "must be a finite exact number", 'write a decimal or a ratio such as "1/20"', value=value
        ) from None


def _of_decimal(value: Decimal, subject: str) -> Fraction:
    """A decimal as a fraction, unless its exponent makes that too long to be worked with."""
    if value and value.is_finite() and max(abs(value.adjusted()), len(value.as_tuple().digits)) > MOST_DIGITS:
        rule = f"must lie between 1e-{MOST_DIGITS} and 1e{MOST_DIGITS} in size"
        raise ParameterError(subject, rule, "numbers are kept exactly, digit by digit", value=str(value))
    return Fraction(value)


@total_ordering
@attrs.frozen(eq=False, repr=False)
class Number:
    """An exact extended real: a log-linear form, the square root of one, or infinity.

    Args:
        rational_part: a.
        logs: pairs (r_i, c_i) of the form above, each r_i > 1, each c_i nonzero.
        root: 1 for the form itself, 2 for its square root.
        infinite: True for plus infinity (the other fields are then 0, (), 1).

    Use `number`, `ln`, `sqrt` and `INFINITY` to make one.

    >>> ln(Fraction(49)) / 2 == ln(7), ln(12) > ln(16) / 2, str(sqrt("2.63"))
    (True, True, 'sqrt(263/100)')
    """

    rational_part: Fraction = Fraction(0)
    logs: tuple[tuple[Fraction, Fraction], ...] = ()
    root: int = 1
    infinite: bool = False

    # -- value ------------------------------------------------------------------------------------

    @property
    def is_rational(self) -> bool:
        return not self.infinite and not self.logs and self.root == 1

    @property
    def is_infinite(self) -> bool:
        return self.infinite

    @property
    def bits(self) -> int:
        """The size of the longest rational in its form."""
        return max(bits(self.rational_part), *(max(bits(r), bits(c)) for r, c in self.logs), 0)

    def as_fraction(self) -> Fraction:
        """The value as a rational; raises ValueError when it is not written as one."""
        if not self.is_rational:
            raise ValueError(f"{self} is not rational")
        return self.rational_part

    def enclose(self, precision: int = START_PRECISION) -> arb:
        """A ball that contains the value, computed with `precision` bits."""
        if self.infinite:
            return arb.pos_inf()
        form = enclose(self.rational_part, self.logs, precision)
        if self.root == 1:
            return form
        with ctx.workprec(precision):
            return form.nonnegative_part().sqrt()

    def __float__(self) -> float:
        return float(self.enclose())

    # -- arithmetic -------------------------------------------------------------------------------

    def __add__(self, other: Number | Scalar) -> Number:
        other = number(other)
        if self.infinite or other.infinite:
            return INFINITY
        if self.root == other.root == 1:
            return Number(rational_part=self.rational_part + other.rational_part, logs=canonical(self.logs + other.logs))
        if _sign(other) == 0:
            return self
        if _sign(self) == 0:
            return other
        raise NumericalError(f"{self} + {other}", "has no exact form", "use brackets")

    __radd__ = __add__

    def __neg__(self) -> Number:
        return self * -1

    def __sub__(self, other: Number | Scalar) -> Number:
        other = number(other)
        if other.infinite:
            raise NumericalError(f"{self} - {other}", "is not defined")
        return self + -other if _sign(other) else self

    def __mul__(self, other: Number | Scalar) -> Number:
        other = number(other)
        if self.infinite or other.infinite:
            return _infinite_product(self, other)
        if self.root == 2 and other.root == 2:
            return self.squared() if self == other else (self.squared() * other.squared()).sqrt()
        if other.is_rational:
            return self._scaled(other.rational_part)
        if self.is_rational:
            return other._scaled(self.rational_part)
        raise NumericalError(f"{self} * {other}", "has no exact form", "use brackets")

    __rmul__ = __mul__

    def __truediv__(self, other: Number | Scalar) -> Number:
        other = number(other)
        if other.infinite or not (other.is_rational or (other.root == 2 and not other.logs)):
            raise NumericalError(f"{self} / {other}", "has no exact form", "use brackets")
        if other.root == 2:
            return self * sqrt(1 / other.rational_part)
        return self * (1 / other.rational_part)

    def squared(self) -> Number:
        """x^2 of a rational or a square root."""
        if self.infinite:
            return self
        if self.root == 2:
            return attrs.evolve(self, root=1)
        return number(self.as_fraction() ** 2)

    def sqrt(self) -> Number:
        """The square root of a nonnegative number of root 1."""
        if self.infinite:
            return self
        if self.root != 1 or _sign(self) < 0:
            raise NumericalError(f"sqrt({self})", "has no exact form")
        if self.is_rational:
            exact = _rational_sqrt(self.rational_part)
            if exact is not None:
                return number(exact)
        return attrs.evolve(self, root=2)

    def _scaled(self, factor: Fraction) -> Number:
        if self.root == 1:
            return Number(rational_part=self.rational_part * factor, logs=canonical((r, c * factor) for r, c in self.logs))
        if factor < 0:
            raise NumericalError(f"{factor} * {self}", "has no exact form")
        return (attrs.evolve(self, root=1) * factor**2).sqrt()

    # -- order ------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Number, int, Fraction)):
            return NotImplemented
        return _compare(self, number(other)) == 0

    def __lt__(self, other: Number | Scalar) -> bool:
        return _compare(self, number(other)) < 0

    def __hash__(self) -> int:
        # The rational part of a form is unique (Lindemann), its logarithms are not: ln 4 = 2 ln 2.
        return hash((self.rational_part, self.infinite)) if self.root == 1 else hash((self.rational_part, 2))

    # -- text -------------------------------------------------------------------------------------

    def __str__(self) -> str:
        if self.infinite:
            return "inf"
        parts = [digits(self.rational_part)] if self.rational_part or not self.logs else []
        for argument, coefficient in self.logs:
            log = f"ln({digits(argument)})"
            parts.append(log if coefficient == 1 else f"-{log}" if coefficient == -1 else f"{digits(coefficient)}*{log}")
        form = " + ".join(parts).replace("+ -", "- ")
        return f"sqrt({form})" if self.root == 2 else form

    def __repr__(self) -> str:
        return f"number({str(self)!r})"

    def decimal(self, places: int = 6) -> str:
        """The value rounded to `places` significant digits, for people; never used in a comparison.

        >>> ln(12).decimal()
        '2.48491'
        """
        if self.infinite:
            return "inf"
        size = float(self)
        if math.isinf(size) or (size == 0 and self != 0):  # beyond the range of doubles
            return str(self.enclose(64).str(places, radius=False))
        return f"{size:.{places}g}"

    def plain(self) -> str:
        """As people write it: a decimal where that ends soon, else the exact form, where that is short.

        >>> number("263/100").plain(), ln(3).plain(), number(Fraction(1, 3**70)).plain()
        ('2.63', 'ln(3)', 'about 3.99496e-34')
        """
        exact = ending_decimal(self.rational_part) if self.is_rational else None
        exact = exact or str(self)
        return exact if len(exact) <= LONGEST_EXACT else f"about {self.decimal()}"


INFINITY = Number(infinite=True)
ZERO = Number()

NumberLike = Number | int | float | str | Fraction


def number(value: NumberLike, subject: str = "number") -> Number:
    """Read an exact number: a rational, ``ln(r)``, ``c*ln(r)``, a sum of those, ``sqrt(...)`` or ``inf``.

    >>> number("1/2*ln(49)") == ln(7), number("inf").is_infinite, number("sqrt(2.63)").squared()
    (True, True, number('263/100'))
    """
    if isinstance(value, Number):
        return value
    if isinstance(value, Fraction) or (isinstance(value, int) and not isinstance(value, bool)):
        return Number(rational_part=Fraction(value))
    if isinstance(value, float) and value == math.inf:
        return INFINITY
    if isinstance(value, str):
        return _parse(value.strip(), subject)
    return Number(rational_part=rational(value, subject))


def ln(argument: Scalar | str) -> Number:
    """ln of a positive rational."""
    value = rational(argument, "ln")
    if value <= 0:
        raise ParameterError("ln", "takes a positive rational", value=argument)
    return Number(logs=canonical(((value, Fraction(1)),)))


def sqrt(value: NumberLike) -> Number:
    """Square root of a nonnegative number."""
    return number(value).sqrt()


_SUMMAND = re.compile(r"\s*([+-]?)\s*(?:([0-9./eE]+(?:(?<=[eE])[+-][0-9]+)?)\s*(?:\*\s*)?)?(?:ln\(([^()]+)\))?\s*")


def _parse(text: str, subject: str) -> Number:
    if text in ("inf", "infinity"):
        return INFINITY
    if text.startswith("sqrt(") and text.endswith(")"):
        inner = _parse(text[5:-1].strip(), subject)
        if inner.infinite or inner.root == 2 or _sign(inner) < 0:
            raise ParameterError(subject, "is no exact number", value=text)
        return inner.sqrt()
    if "ln" not in text:
        return Number(rational_part=rational(text, subject))
    total, rest = ZERO, text
    while rest:
        match = _SUMMAND.match(rest)
        if match is None or match.end() == 0 or not (match[2] or match[3]) or (rest is not text and not match[1]):
            raise ParameterError(
                subject, "is no exact number", "write a rational, ln(r), c*ln(r), a sum or sqrt(...)", value=text
            )
        factor = rational(match[2] or 1, subject) * (-1 if match[1] == "-" else 1)
        total += ln(rational(match[3], subject)) * factor if match[3] else factor
        rest = rest[match.end() :]
    return total


def _sign(value: Number) -> int:
    """The sign of a number (of what is under the root, for a root)."""
    return 1 if value.infinite else sign(value.rational_part, value.logs)


def _infinite_product(left: Number, right: Number) -> Number:
    if _sign(left) <= 0 or _sign(right) <= 0:
        raise NumericalError(f"{left} * {right}", "is not defined", "0 x infinity never decides anything (B-S5)")
    return INFINITY


def _rational_sqrt(value: Fraction) -> Fraction | None:
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    return Fraction(top, bottom) if top * top == value.numerator and bottom * bottom == value.denominator else None


def _compare(left: Number, right: Number) -> int:
    """The sign of left - right, decided exactly."""
    if left.infinite or right.infinite:
        return left.infinite - right.infinite
    if left.root == right.root:
        # The square root is monotone, so the forms under it decide.
        opposite = tuple((r, -c) for r, c in right.logs)
        return sign(left.rational_part - right.rational_part, canonical(left.logs + opposite))
    for one, other, flip in ((left, right, 1), (right, left, -1)):
        if one.is_rational:
            return -flip if one.rational_part < 0 else flip * _compare(one.squared(), other.squared())
    return _separate(left, right)


def _separate(left: Number, right: Number) -> int:
    precision = START_PRECISION
    while precision <= _LAST_PRECISION:
        low, high = left.enclose(precision), right.enclose(precision)
        if low < high:
            return -1
        if low > high:
            return 1
        precision *= 2
    raise NumericalError(f"{left} against {right}", f"not separated at {_LAST_PRECISION} bits")
