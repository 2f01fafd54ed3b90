"""The checker's own exact numbers: a + sum of c_p ln(p) over primes p, the square root of one, or infinity.

The logarithms of different primes are linearly independent over the rationals, and no rational but 0 is among their rational
combinations (Lindemann), so that this form is unique: two numbers are equal exactly when they are written alike. A factor that
is too large to be factored is left whole; equal numbers may then be written differently, and are not seen to be equal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Any

import attrs
from flint import arb, ctx, fmpq, fmpz

PRECISIONS = (64, 256, 1024, 4096)
MOST_DIGITS, LARGEST_EXPONENT = 2000, 1000
"""Longer texts, and numbers farther from 1 than by this power of ten, are not read: sums of them would take minutes."""
TRIAL, MOST_FACTORED = 1 << 12, 100
"""Factors of a logarithm up to this number are divided out; what is left is factored up to so many bits, in 0.03 s."""

JsonTable = dict[str, Any]


@attrs.frozen
class ExactValue:
    """A nonnegative number, or the difference of two on the way."""

    plain: Fraction = Fraction(0)
    logs: tuple[tuple[int, Fraction], ...] = ()
    root: bool = False
    infinite: bool = False

    def ball(self) -> arb:
        """An enclosure at the working precision."""
        if self.infinite:
            return arb.pos_inf()
        form = sum((rational(c) * arb(p).log() for p, c in self.logs), rational(self.plain))
        return form.nonnegative_part().sqrt() if self.root else form

    def under(self) -> ExactValue:
        """The number without its square root."""
        return attrs.evolve(self, root=False)

    def __str__(self) -> str:
        with ctx.workprec(64):
            return f"about {float(self.ball().mid()):.10g}"


def rational(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def linear(parts: Iterable[tuple[Fraction, ExactValue]]) -> ExactValue:
    """The sum of c v over numbers v without a root."""
    plain, logs = Fraction(0), dict[int, Fraction]()
    for factor, value in parts:
        plain += factor * value.plain
        for prime, c in value.logs:
            logs[prime] = logs.get(prime, Fraction(0)) + factor * c
    return ExactValue(plain, tuple(sorted((prime, c) for prime, c in logs.items() if c)))


def product(left: ExactValue, right: ExactValue) -> ExactValue | None:
    """The exact product where it has this form."""
    zero = ExactValue()
    if left.infinite or right.infinite:
        return None if zero in (left, right) else ExactValue(infinite=True)
    if left.logs and right.logs:
        return None
    one, other = (left, right) if right.logs else (right, left)  # one is rational, or the root of a rational
    if not one.root and not other.root:
        return linear([(one.plain, other)])
    if not other.root and other.logs:
        return None
    squared = other.under() if other.root else ExactValue(other.plain**2)
    return attrs.evolve(linear([(one.plain if one.root else one.plain**2, squared)]), root=True)


def at_most(left: ExactValue, right: ExactValue) -> bool:
    """Whether left <= right: equality by the form, strict inequality by balls; False when neither is seen."""
    if right.infinite or left.infinite:
        return right.infinite
    if left.root == right.root:
        left, right = left.under(), right.under()
    elif not left.logs and not right.logs:
        left, right = (v.under() if v.root else ExactValue(v.plain**2) for v in (left, right))
    return left == right or surely(lambda: left.ball() < right.ball(), lambda: left.ball() > right.ball())


def within_numbers(factors: list[ExactValue], limit: ExactValue) -> bool:
    """Whether a product of nonnegative numbers is at most a limit."""
    exact: ExactValue | None = ExactValue(Fraction(1))
    for factor in factors:
        exact = None if exact is None else product(exact, factor)
    if exact is not None:
        return at_most(exact, limit)

    def total() -> arb:
        return reduce(lambda a, b: a * b, (factor.ball() for factor in factors))

    return limit.infinite or surely(lambda: total() < limit.ball(), lambda: total() > limit.ball())


def exponential(value: ExactValue) -> Fraction | None:
    """e^v where it is a rational number of no more than a few thousand digits."""
    if value.plain or value.root or value.infinite or any(k.denominator != 1 for _, k in value.logs):
        return None
    if sum(abs(k) * prime.bit_length() for prime, k in value.logs) > 10_000:
        return None
    return math.prod((Fraction(prime) ** int(k) for prime, k in value.logs), start=Fraction(1))


def surely(holds: Callable[[], bool], fails: Callable[[], bool] = lambda: False) -> bool:
    """Whether a strict comparison of balls holds at some precision."""
    for precision in PRECISIONS:
        with ctx.workprec(precision):
            if holds():
                return True
            if fails():
                return False
    return False


_TERM = re.compile(r"\s*([+-]?)\s*(?:([0-9./eE]+(?:(?<=[eE])-[0-9]+)?)\s*\*?\s*)?(?:ln\(([0-9./eE-]+)\))?\s*")


def read(text: Any) -> ExactValue:
    """A nonnegative number as specification files write it; ValueError for anything else."""
    value = _read(text)
    if surely(lambda: value.ball() < 0):
        raise ValueError(f"{text!r} is negative")
    return value


def fraction(text: Any) -> Fraction:
    """A number that has to be rational."""
    value = read(text)
    if value.logs or value.root or value.infinite:
        raise ValueError(f"{text!r} is no rational number")
    return value.plain


def _read(text: Any) -> ExactValue:
    if isinstance(text, bool) or not isinstance(text, (int, Decimal, str)):
        raise ValueError(f"{text!r} is no number")
    if isinstance(text, Decimal):
        return ExactValue(_of_decimal(text))
    if not isinstance(text, str):
        return ExactValue(Fraction(text))
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number of more than {MOST_DIGITS} digits")
    if text in ("inf", "infinity"):
        return ExactValue(infinite=True)
    if text.startswith("sqrt(") and text.endswith(")"):
        return attrs.evolve(_read(text[5:-1]), root=True)
    parts, place = [], 0
    while place < len(text):
        match = _TERM.match(text, place)
        if match is None or match.end() == place or not (match[2] or match[3]) or (place and not match[1]):
            raise ValueError(f"{text!r} is no number")
        sign = -1 if match[1] == "-" else 1
        parts.append(
            (sign * _fraction(match[2] or "1"), _logarithm(_fraction(match[3])) if match[3] else ExactValue(Fraction(1)))
        )
        place = match.end()
    if not parts:
        raise ValueError("an empty text is no number")
    return linear(parts)


def _fraction(text: str) -> Fraction:
    return Fraction(text) if "/" in text else _of_decimal(Decimal(text))


def _of_decimal(value: Decimal) -> Fraction:
    """A decimal as a fraction. One with a large exponent is refused first: as a fraction 1e99999999 has as many digits."""
    if not value.is_finite() or abs(value.adjusted()) > LARGEST_EXPONENT or len(value.as_tuple().digits) > MOST_DIGITS:
        raise ValueError(f"a number is not between 1e-{LARGEST_EXPONENT} and 1e{LARGEST_EXPONENT}, or has too many digits")
    return Fraction(value)


def _logarithm(argument: Fraction) -> ExactValue:
    if argument <= 0:
        raise ValueError("ln takes a positive number")
    signed = ((argument.numerator, 1), (argument.denominator, -1))
    return linear((Fraction(sign * k), ExactValue(logs=((p, Fraction(1)),))) for n, sign in signed for p, k in _factors(n))


def _factors(whole: int) -> list[tuple[int, int]]:
    """The factors of a number with their exponents: the primes below `TRIAL`, and those of a rest that is not too large.

    A larger rest is left whole, since it may take years to factor. Two equal numbers can then be written differently. They are
    not seen to be equal, and intervals never show that one is below the other.
    """
    found = [(int(p), int(k)) for p, k in fmpz(whole).factor(trial_limit=TRIAL)]
    small = [(p, k) for p, k in found if p.bit_length() <= MOST_FACTORED]
    small = [(int(q), int(times) * k) for p, k in small for q, times in fmpz(p).factor()]
    return [*small, *((p, k) for p, k in found if p.bit_length() > MOST_FACTORED)]


# --- steps that are not accepted ------------------------------------------------------------------


class Rejected(Exception):
    """A step whose side condition does not hold, or cannot be seen to hold."""


class UnknownFormula(Exception):
    """A step by a formula that is not known here."""


def need(holds: bool, otherwise: str) -> None:
    """Reject the step unless something holds."""
    if not holds:
        raise Rejected(otherwise)
