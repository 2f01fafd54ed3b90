"""Log-linear forms a + sum_i c_i ln(r_i), with rational a, c_i and positive rational r_i: writing, enclosures and exact sign.

A nonzero rational plus a logarithm of a rational is never 0 (Lindemann). So the sign of a form is found by ball arithmetic at
some precision, and 0 is recognised by integers: equal rational parts and prod_i r_i^c_i = 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from flint import arb, ctx, fmpq, fmpz

from dpspec.base.errors import NumericalError

START_PRECISION = 64
"""The precision, in bits, at which a comparison starts."""

MOST_DECIMALS = 10
"""Fractions whose decimals go on for longer are no decimals to a reader."""

_SMALL = Fraction(1, 10**4)

MOST_BITS = 13_000
"""Numerators and denominators of exact numbers have at most so many bits, 3,900 digits, which Python reads and writes as
text; what is larger is known by brackets. Logarithms and powers make such numbers out of short input, e^-(10^9) for one."""

LARGEST = Fraction(1 << MOST_BITS)

_LONGEST = 2 * MOST_BITS

Logs = tuple[tuple[Fraction, Fraction], ...]
"""Pairs (r_i, c_i)."""


def ball(value: int | Fraction) -> arb:
    """The rational as an `arb` ball at the working precision."""
    if isinstance(value, int):
        return arb(value)
    return arb(fmpq(value.numerator, value.denominator))


def dyadic(value: arb) -> Fraction:
    """The exact value of a finite ball without radius.

    Raises:
        NumericalError: it is beyond 2^13000, or no multiple of 2^-26000; see `floor_of` and `ceiling_of`.

    >>> dyadic(arb("0.75"))
    Fraction(3, 4)
    """
    if not value.is_finite():
        raise NumericalError("number", "is not finite", "choose less extreme parameters")
    mantissa, exponent, _ = _parts(value)
    if not -_LONGEST <= exponent <= MOST_BITS:
        raise NumericalError("number", f"has more than {MOST_BITS} bits", "choose less extreme parameters")
    return _shifted(mantissa, exponent)


def floor_of(value: arb) -> Fraction | None:
    """A rational of bounded size at most every number of the ball, next to its lower end; None where that is -infinity.

    >>> floor_of(arb(-(10**9)).exp()), floor_of(arb(10**9).exp()) == 2**MOST_BITS
    (Fraction(0, 1), True)
    """
    end = value.lower()
    if not end.is_finite():
        return LARGEST if end == arb.pos_inf() else None
    mantissa, exponent, size = _parts(end)
    if size > MOST_BITS:
        return LARGEST if mantissa > 0 else None
    if mantissa and size < -MOST_BITS:
        return Fraction(0) if mantissa > 0 else -1 / LARGEST
    return _shifted(mantissa, exponent)


def ceiling_of(value: arb) -> Fraction | None:
    """A rational of bounded size at least every number of the ball, next to its upper end; None where that is infinity.

    >>> ceiling_of(arb(-(10**9)).exp()) == Fraction(1, 2**MOST_BITS), ceiling_of(arb(10**9).exp())
    (True, None)
    """
    end = value.upper()
    if not end.is_finite():
        return -LARGEST if end == arb.neg_inf() else None
    mantissa, exponent, size = _parts(end)
    if size > MOST_BITS:
        return None if mantissa > 0 else -LARGEST
    if mantissa and size < -MOST_BITS:
        return 1 / LARGEST if mantissa > 0 else Fraction(0)
    return _shifted(mantissa, exponent)


def _parts(end: arb) -> tuple[int, int, int]:
    """m, k and the bits of m times 2^k, for a finite ball without radius."""
    mantissa, exponent = end.man_exp()
    whole, places = int(mantissa), int(exponent)
    return whole, places, places + whole.bit_length()


def _shifted(mantissa: int, exponent: int) -> Fraction:
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def bits(value: Fraction) -> int:
    """The size of a rational: the bits of the longer of numerator and denominator."""
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def digits(value: Fraction) -> str:
    """The rational as text, of whatever length (Python writes integers of up to 4,300 digits only).

    >>> digits(Fraction(-3, 4)), len(digits(Fraction(10**5000)))
    ('-3/4', 5001)
    """
    top = str(fmpz(value.numerator))
    return top if value.denominator == 1 else f"{top}/{fmpz(value.denominator)}"


def canonical(logs: Iterable[tuple[Fraction, Fraction]]) -> Logs:
    """Arguments above 1, equal arguments merged, zero coefficients dropped, 1/2 ln(81) written as ln(9); sorted."""
    merged: dict[Fraction, Fraction] = {}
    for argument, coefficient in logs:
        above, signed = (argument, coefficient) if argument >= 1 else (1 / argument, -coefficient)
        merged[above] = merged.get(above, Fraction(0)) + signed
    return tuple(sorted(_without_root(r, c) for r, c in merged.items() if c and r != 1))


def _without_root(argument: Fraction, coefficient: Fraction) -> tuple[Fraction, Fraction]:
    """c ln(r) with the denominator of c taken out of r where r is such a power."""
    degree = coefficient.denominator
    if 1 < degree <= argument.numerator.bit_length():
        top, bottom = (int(fmpz(part).root(degree)) for part in (argument.numerator, argument.denominator))
        if top**degree == argument.numerator and bottom**degree == argument.denominator:
            return Fraction(top, bottom), coefficient * degree
    return argument, coefficient


def enclose(constant: Fraction, logs: Logs, precision: int) -> arb:
    """A ball that contains the form."""
    with ctx.workprec(precision):
        form = ball(constant)
        for argument, coefficient in logs:
            form += ball(coefficient) * ball(argument).log()
        return form


def sign(constant: Fraction, logs: Logs) -> int:
    """The sign of the form, decided exactly."""
    if not logs:
        return (constant > 0) - (constant < 0)
    precision = START_PRECISION
    while True:
        enclosure = enclose(constant, logs, precision)
        if enclosure > 0:
            return 1
        if enclosure < 0:
            return -1
        if precision == START_PRECISION and constant == 0 and _product_is_one(logs):
            return 0
        precision *= 2


def _product_is_one(logs: Logs) -> bool:
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


def ending_decimal(value: Fraction) -> str | None:
    """The decimal form of a fraction when it is short, with thousands separated; below 1/10000 as a power of ten.

    >>> ending_decimal(Fraction(13685, 5)), ending_decimal(Fraction(263, 100)), ending_decimal(Fraction(1, 3))
    ('2,737', '2.63', None)
    >>> ending_decimal(Fraction(1, 10**10)), ending_decimal(Fraction(-3, 2 * 10**6))
    ('1e-10', '-1.5e-6')
    """
    rest, places = value.denominator, 0
    while rest % 10 == 0 or rest % 5 == 0 or rest % 2 == 0:
        rest //= 10 if rest % 10 == 0 else 5 if rest % 5 == 0 else 2
        places += 1
    if rest != 1:
        return None
    scaled = int(abs(value) * 10**places)
    if places > MOST_DECIMALS and scaled >= 10**MOST_DECIMALS:
        return None
    if 0 < abs(value) < _SMALL:
        written = str(scaled).rstrip("0")
        digits = f"{written[0]}{'.' if written[1:] else ''}{written[1:]}e-{places + 1 - len(str(scaled))}"
    else:
        whole, part = divmod(scaled, 10**places)
        digits = f"{whole:,}" + (f".{part:0{places}d}".rstrip("0") if part else "")
    return f"-{digits}" if value < 0 else digits
