"""Exact numbers for privacy: rationals, logarithms of rationals and their square roots, and brackets for what has no exact form.

Every budget, distance and Lipschitz constant is a `Number`

    x = a + sum_i c_i ln(r_i)      or      x = sqrt(a + sum_i c_i ln(r_i))      or      infinity,

with rational a, c_i and positive rational r_i. Two such numbers of one shape can always be compared exactly:
unequal ones are separated by ball arithmetic at some precision, and equal ones are recognised
because a nonzero rational plus a logarithm of a rational is never 0 (Lindemann), so that equality means
equal rational parts and prod_i r_i^c_i = 1, which is a question about integers.

A `Bracket` is a value that is known to lie between two numbers. The forms themselves are in `dpspec.base.log_linear`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from numbers import Integral
from typing import Any

import attrs
from flint import arb, ctx

from dpspec.base.errors import NumericalError, ParameterError
from dpspec.base.log_linear import (
    MOST_BITS,
    START_PRECISION,
    Logs,
    ball as ball,
    bits,
    canonical,
    ceiling_of as ceiling_of,
    digits,
    dyadic as dyadic,
    enclose,
    ending_decimal,
    floor_of as floor_of,
    sign,
)

# --- numbers --------------------------------------------------------------------------------------


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
    if isinstance(value, bool) or not isinstance(value, (Integral, float, str, Fraction, Decimal)):
        raise ParameterError(subject, "must be a number", 'write an integer or text such as "1/20"', value=value)
    try:
        if isinstance(value, Decimal) or (isinstance(value, str) and "/" not in value):
            return _of_decimal(Decimal(value.strip() if isinstance(value, str) else value), subject)
        if isinstance(value, Integral):  # those of numpy as well
            return Fraction(int(value))
        return Fraction(float.__repr__(value)) if isinstance(value, float) else Fraction(value)
    except ParameterError:
        raise
    except (ValueError, InvalidOperation, OverflowError, ZeroDivisionError):
        raise ParameterError(subject, "must be a finite exact number", _number_advice(value), value=value) from None


_PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")
_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
_LOG = re.compile(r"\s*log\s*(\(.*\))\s*")


def _number_advice(value: object) -> str:
    """The advice for a text that is not a number; the usual mistakes are recognised.

    >>> _number_advice("5%"), _number_advice("log(3)"), _number_advice("1,5")
    ('write "5/100"', 'write "ln(3)": ln is the natural logarithm', 'write "1.5", with a point')
    """
    text = value if isinstance(value, str) else ""
    if found := _PERCENT.fullmatch(text):
        return f'write "{found[1]}/100"' if "." not in found[1] else f'write "{Fraction(found[1]) / 100}"'
    if found := _LOG.fullmatch(text):
        return f'write "ln{found[1]}": ln is the natural logarithm'
    if _COMMA.fullmatch(text):
        text = text.strip()
        thousands = f', or "{text.replace(",", "")}" for thousands' if len(text.partition(",")[2]) == 3 else ""
        return f'write "{text.replace(",", ".")}", with a point{thousands}'
    return 'write a decimal or a ratio such as "1/20"'


def _of_decimal(value: Decimal, subject: str) -> Fraction:
    """A decimal as a fraction, unless its exponent makes that too long to be worked with."""
    if value and value.is_finite() and max(abs(value.adjusted()), len(value.as_tuple().digits)) > MOST_DIGITS:
        rule = f"must lie between 1e-{MOST_DIGITS} and 1e{MOST_DIGITS} in size"
        raise ParameterError(subject, rule, "numbers are kept exactly, digit by digit", value=str(value))
    return Fraction(value)


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
        whole = bits(self.rational_part)
        return max(whole, *(max(bits(r), bits(c)) for r, c in self.logs)) if self.logs else whole

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
            logs = canonical(self.logs + other.logs) if self.logs and other.logs else self.logs or other.logs
            return Number(rational_part=self.rational_part + other.rational_part, logs=logs)
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
            if _sign(self) <= 0 or _sign(other) <= 0:
                raise NumericalError(f"{self} * {other}", "is not defined", "0 x infinity never decides anything")
            return INFINITY
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
            value = self.rational_part
            top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
            if top * top == value.numerator and bottom * bottom == value.denominator:
                return number(Fraction(top, bottom))
        return attrs.evolve(self, root=2)

    def _scaled(self, factor: Fraction) -> Number:
        if self.root == 1:
            logs = canonical((r, c * factor) for r, c in self.logs) if self.logs else ()
            return Number(rational_part=self.rational_part * factor, logs=logs)
        if factor < 0:
            raise NumericalError(f"{factor} * {self}", "has no exact form")
        return (attrs.evolve(self, root=1) * factor**2).sqrt()

    # -- order ------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, (Number, int, Fraction)):
            return NotImplemented
        return _compare(self, number(other)) == 0

    def __lt__(self, other: Number | Scalar) -> bool:
        return _compare(self, number(other)) < 0

    def __le__(self, other: Number | Scalar) -> bool:
        return _compare(self, number(other)) <= 0

    def __gt__(self, other: Number | Scalar) -> bool:
        return _compare(self, number(other)) > 0

    def __ge__(self, other: Number | Scalar) -> bool:
        return _compare(self, number(other)) >= 0

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


def relative_ball(value: Number, bits: int) -> arb:
    """A ball around a finite number other than 0, with a radius of at most 2^-bits times the number.

    `Number.enclose` bounds the absolute error alone: of ln(10^12/(10^12 - 1)) its 64 bits give 22.

    >>> relative_ball(ln(Fraction(10**30, 10**30 - 1)), 64).rel_accuracy_bits() >= 64
    True
    """
    precision = START_PRECISION
    while True:
        found = value.enclose(precision)
        if found.rel_accuracy_bits() >= bits:
            return found
        precision *= 2


def number(value: NumberLike, subject: str = "number") -> Number:
    """Read an exact number: a rational, ``ln(r)``, ``c*ln(r)``, a sum of those, ``sqrt(...)`` or ``inf``.

    Args:
        value: the number or its text; a float is the decimal that it prints as.
        subject: what an error calls it.

    >>> number("1/2*ln(49)") == ln(7), number("inf").is_infinite, number("sqrt(2.63)").squared()
    (True, True, number('263/100'))
    """
    if isinstance(value, Number):
        return value
    if type(value) is int:  # most often; the check whether it is a fraction is slow
        return _whole(value)
    if isinstance(value, Fraction) or (isinstance(value, int) and not isinstance(value, bool)):
        return Number(rational_part=value if isinstance(value, Fraction) else Fraction(value))
    if isinstance(value, float) and value == math.inf:
        return INFINITY
    if isinstance(value, str):
        return _parse(value.strip(), subject)
    return Number(rational_part=rational(value, subject))


@lru_cache(maxsize=256)
def _whole(value: int) -> Number:
    """A whole number: distances are small ones, and there are many of them."""
    return Number(rational_part=Fraction(value))


def ln(argument: Scalar | str) -> Number:
    """ln of a positive rational.

    Args:
        argument: a positive number without a unit: an integer, a fraction, or a text such as "3/2".
    """
    value = rational(argument, "ln")
    if value <= 0:
        raise ParameterError("ln", "takes a positive rational", value=argument)
    return Number(logs=canonical(((value, Fraction(1)),)))


def sqrt(value: NumberLike) -> Number:
    """Square root of a nonnegative number.

    Args:
        value: the number, in whatever unit: the root is in the root of that unit.
    """
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
        argument = rational(match[3], subject) if match[3] else None
        if argument is not None and argument <= 0:
            advice = 'write a number above 0 in ln(...), such as "ln(3)"'
            raise ParameterError(subject, "is the logarithm of no positive number", advice, value=text)
        total += factor if argument is None else ln(argument) * factor
        rest = rest[match.end() :]
    return total


def _sign(value: Number) -> int:
    """The sign of a number (of what is under the root, for a root)."""
    return 1 if value.infinite else sign(value.rational_part, value.logs)


def _compare(left: Number, right: Number) -> int:
    """The sign of left - right, decided exactly."""
    if left.infinite or right.infinite:
        return left.infinite - right.infinite
    if left.root == right.root:
        # The square root is monotone, so the forms under it decide.
        if left.logs == right.logs:
            mine, theirs = left.rational_part, right.rational_part
            a, b = mine.numerator * theirs.denominator, theirs.numerator * mine.denominator
            return (a > b) - (a < b)
        if left.rational_part == right.rational_part and len(left.logs) <= 1 and len(right.logs) <= 1:
            settled = _compare_logs(left.logs, right.logs)
            if settled is not None:
                return settled
        opposite = tuple((r, -c) for r, c in right.logs)
        return sign(left.rational_part - right.rational_part, left.logs + opposite)
    for one, other, flip in ((left, right, 1), (right, left, -1)):
        if one.is_rational:
            return -flip if one.rational_part < 0 else flip * _compare(one.squared(), other.squared())
    return _separate(left, right)


def _compare_logs(left: Logs, right: Logs) -> int | None:
    """The sign of the difference of at most one logarithm each, without computing one; None where that takes more.

    Arguments are above 1 (`canonical`), so that c ln(r) has the sign of c, and rises with r for c > 0.
    """
    signs = [(logs[0][1] > 0) - (logs[0][1] < 0) if logs else 0 for logs in (left, right)]
    if signs[0] != signs[1]:
        return 1 if signs[0] > signs[1] else -1
    (mine, factor), (theirs, other) = left[0], right[0]
    if factor != other:
        return None
    return signs[0] * ((mine > theirs) - (mine < theirs))


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


# --- brackets -------------------------------------------------------------------------------------


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

    @property
    def width(self) -> Number:
        """upper - lower, rounded up where it is no rational: 0 for an exact value, infinite where the upper end is.

        >>> str(Bracket(lower=number("1/4"), upper=number("3/4")).width)
        '1/2'
        """
        if self.is_exact:
            return ZERO
        return INFINITY if self.upper.infinite else number(self._outer[1] - self._outer[0])

    @property
    def midpoint(self) -> Number:
        """A value in the middle: the value itself where it is exact, infinite where the upper end is.

        >>> str(Bracket(lower=number("1/4"), upper=number("3/4")).midpoint)
        '1/2'
        """
        if self.is_exact or self.upper.infinite:
            return self.upper
        return min(max(number(sum(self._outer) / 2), self.lower), self.upper)

    @property
    def _outer(self) -> tuple[Fraction, Fraction]:
        """The ends as rationals: themselves where they are, else next to them on the outside."""
        if self.lower.is_rational and self.upper.is_rational:
            return self.lower.as_fraction(), self.upper.as_fraction()
        low, high = (end.enclose(4 * START_PRECISION) for end in (self.lower, self.upper))
        floor, ceiling = floor_of(low), ceiling_of(high)
        if floor is None or ceiling is None:  # a finite end that is too large to be enclosed
            raise NumericalError("bracket", "has an end that cannot be enclosed", "choose less extreme parameters")
        return floor, ceiling

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
    """A decimal on the safe side of the value; the value itself where it is a decimal of so many digits."""
    if value.is_infinite:
        return "inf"
    context = Context(prec=digits, rounding=rounding)
    if value.is_rational:
        exact = value.as_fraction()
        rounded = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
        if Fraction(rounded) == exact:
            return str(rounded)
    enclosure = value.enclose(2 * START_PRECISION)
    end = floor_of(enclosure) if rounding == ROUND_FLOOR else ceiling_of(enclosure)
    return "inf" if end is None else str(context.divide(Decimal(end.numerator), Decimal(end.denominator)))


def rounded_down(value: Number, digits: int = 4) -> str:
    """A decimal of so many digits that is not above the value, for people.

    >>> rounded_down(number("ln(11/3)")), rounded_down(number("0.99999"))
    ('1.299', '0.9999')
    """
    return _for_people(_outward(value, ROUND_FLOOR, digits))


def rounded_up(value: Number, digits: int = 4) -> str:
    """A decimal of so many digits that is not below the value, for people.

    >>> rounded_up(number("ln(11/3)")), rounded_up(number("0.99999"))
    ('1.3', '1')
    """
    return _for_people(_outward(value, ROUND_CEILING, digits))


def limit_in_words(value: Number, equal: str = "") -> str:
    """A budget or another limit for people: in exact form while that is short, else rounded up.

    Args:
        value: the number.
        equal: the text before an exact number, such as "= ".

    >>> limit_in_words(number("263/100"), "= "), limit_in_words(number(Fraction(1, 3**70)), "= ")
    ('= 2.63', 'at most 3.99496E-34')
    """
    exact = value.plain()
    return f"at most {rounded_up(value, 6)}" if exact.startswith("about ") else f"{equal}{exact}"


_FEW_DIGITS = 12
"""In a sentence, a whole number or one side of a fraction has at most so many digits."""


def in_few_digits(value: Number | Fraction | int) -> str:
    """A number in a sentence: in exact form while its parts have few digits, else about its decimal value.

    >>> in_few_digits(Fraction(3, 4)), in_few_digits(Fraction(6121026514868071, 2251799813685248))
    ('3/4', 'about 2.71828')
    """
    exact = str(number(value))
    is_short = all(len(run) <= _FEW_DIGITS for run in re.findall(r"\d+", exact))
    return exact if is_short else f"about {number(value).decimal()}"


def _for_people(text: str) -> str:
    """Without zeros at its end, and without an exponent where the number is neither tiny nor huge."""
    size = Decimal(text).adjusted() if text not in {"inf", "-inf"} else 99
    text = f"{Decimal(text):f}" if -5 <= size < 16 else text
    return text.rstrip("0").rstrip(".") if "." in text and "E" not in text else text


def largest(brackets: Iterable[Bracket]) -> Bracket:
    """The bracket of the maximum of several nonnegative values (0 for none)."""
    best = Bracket.exactly(0)
    for bracket in brackets:
        lower = max(best.lower, bracket.lower)
        upper = max(best.upper, bracket.upper)
        best = Bracket(lower=lower, upper=upper)
    return best


@lru_cache(maxsize=1024)
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
