"""Exact numbers for privacy: rationals, logarithms of rationals, their square roots, and rigorous brackets.

Every budget, distance and Lipschitz constant is a `Number`

    x = a + sum_i c_i ln(r_i)      or      x = sqrt(a + sum_i c_i ln(r_i))      or      infinity,

with rational a, c_i and positive rational r_i. Two such numbers of one shape can always be compared exactly
(B-S19): unequal ones are separated by ball arithmetic at some precision, and equal ones are recognised
because a nonzero rational plus a logarithm of a rational is never 0 (Lindemann), so that equality means
equal rational parts and prod_i r_i^c_i = 1, which is a question about integers.

What cannot be written that way is enclosed in a `Bracket`: two numbers between which the true value lies.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from fractions import Fraction
from functools import total_ordering
from typing import Any

import attrs
from flint import arb, ctx, fmpq

from dpspec.errors import NumericalError, ParameterError

_START_PRECISION = 64
_LAST_PRECISION = 1 << 14

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
        if isinstance(value, str) and "/" not in value:
            return Fraction(Decimal(value.strip()))
        return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
    except (ValueError, InvalidOperation, OverflowError, ZeroDivisionError):
        raise ParameterError(
            subject, "must be a finite exact number", 'write a decimal or a ratio such as "1/20"', value=value
        ) from None


def ball(value: Scalar) -> arb:
    """The rational as an `arb` ball at the working precision."""
    if isinstance(value, int):
        return arb(value)
    return arb(fmpq(value.numerator, value.denominator))


def dyadic(value: arb) -> Fraction:
    """The exact value of a ball without radius."""
    mantissa, exponent = value.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


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

    def as_fraction(self) -> Fraction:
        """The value as a rational; raises ValueError when it is not written as one."""
        if not self.is_rational:
            raise ValueError(f"{self} is not rational")
        return self.rational_part

    def enclose(self, precision: int = _START_PRECISION) -> arb:
        """A ball that contains the value, computed with `precision` bits."""
        with ctx.workprec(precision):
            if self.infinite:
                return arb.pos_inf()
            form = ball(self.rational_part)
            for argument, coefficient in self.logs:
                form += ball(coefficient) * ball(argument).log()
            return form.nonnegative_part().sqrt() if self.root == 2 else form

    def __float__(self) -> float:
        return float(self.enclose())

    # -- arithmetic -------------------------------------------------------------------------------

    def __add__(self, other: Number | Scalar) -> Number:
        other = number(other)
        if self.infinite or other.infinite:
            return INFINITY
        if self.root == other.root == 1:
            return _form(self.rational_part + other.rational_part, self.logs + other.logs)
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
            return _form(self.rational_part * factor, tuple((r, c * factor) for r, c in self.logs))
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
        parts = [str(self.rational_part)] if self.rational_part or not self.logs else []
        for argument, coefficient in self.logs:
            log = f"ln({argument})"
            parts.append(log if coefficient == 1 else f"-{log}" if coefficient == -1 else f"{coefficient}*{log}")
        form = " + ".join(parts).replace("+ -", "- ")
        return f"sqrt({form})" if self.root == 2 else form

    def __repr__(self) -> str:
        return f"number({str(self)!r})"

    def decimal(self, digits: int = 6) -> str:
        """The value rounded to `digits` significant digits, for people; never used in a comparison.

        >>> ln(12).decimal()
        '2.48491'
        """
        if self.infinite:
            return "inf"
        return f"{float(self):.{digits}g}"


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
    return _form(Fraction(0), ((value, Fraction(1)),))


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


def _form(constant: Fraction, logs: Iterable[tuple[Fraction, Fraction]]) -> Number:
    """The form with arguments above 1, equal arguments merged, zero coefficients dropped."""
    merged: dict[Fraction, Fraction] = {}
    for argument, coefficient in logs:
        if argument < 1:
            argument, coefficient = 1 / argument, -coefficient
        merged[argument] = merged.get(argument, Fraction(0)) + coefficient
    kept = tuple(sorted((r, c) for r, c in merged.items() if c and r != 1))
    return Number(rational_part=constant, logs=kept)


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
        return _sign(_form(left.rational_part - right.rational_part, left.logs + opposite))
    for one, other, flip in ((left, right, 1), (right, left, -1)):
        if one.is_rational:
            return -flip if one.rational_part < 0 else flip * _compare(one.squared(), other.squared())
    return _separate(left, right)


def _separate(left: Number, right: Number) -> int:
    precision = _START_PRECISION
    while precision <= _LAST_PRECISION:
        low, high = left.enclose(precision), right.enclose(precision)
        if low < high:
            return -1
        if low > high:
            return 1
        precision *= 2
    raise NumericalError(f"{left} against {right}", f"not separated at {_LAST_PRECISION} bits")


def _sign(value: Number) -> int:
    """The sign of a form (of what is under the root, for a root)."""
    if value.infinite:
        return 1
    if not value.logs:
        return (value.rational_part > 0) - (value.rational_part < 0)
    form = attrs.evolve(value, root=1)
    precision = _START_PRECISION
    while True:
        enclosure = form.enclose(precision)
        if enclosure > 0:
            return 1
        if enclosure < 0:
            return -1
        if precision == _START_PRECISION and form.rational_part == 0 and _product_is_one(form.logs):
            return 0
        precision *= 2


def _product_is_one(logs: tuple[tuple[Fraction, Fraction], ...]) -> bool:
    """Whether prod r_i^c_i = 1, from the exponents over a coprime base of all numerators and denominators."""
    base = _coprime_base([n for r, _ in logs for n in (r.numerator, r.denominator)])
    return all(sum(c * (_multiplicity(r.numerator, b) - _multiplicity(r.denominator, b)) for r, c in logs) == 0 for b in base)


def _coprime_base(values: Iterable[int]) -> list[int]:
    """Pairwise coprime integers above 1 of whose powers every value is a product (gcds only, no factoring)."""
    base: list[int] = []
    pending = list(values)
    while pending:
        value = pending.pop()
        if value == 1:
            continue
        for index, element in enumerate(base):
            common = math.gcd(value, element)
            if common > 1:
                del base[index]
                pending += [common, value // common, element // common]
                break
        else:
            base.append(value)
    return base


def _multiplicity(value: int, factor: int) -> int:
    count = 0
    while value % factor == 0:
        value //= factor
        count += 1
    return count


@attrs.frozen(kw_only=True)
class Bracket:
    """A value known to lie in [lower, upper]; exact when the two ends are equal.

    >>> Bracket.exactly(ln(3)).is_exact
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
        if least is not None:
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
    enclosure = value.enclose(2 * _START_PRECISION)
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
