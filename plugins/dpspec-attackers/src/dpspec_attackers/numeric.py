"""Formulas in e^epsilon: exact where it is rational, else in ball arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import ctx, fmpq

from dpspec.plugin import Bracket, Number, exact, laws, ln, number

WORKING = 160
"""Bits of the balls."""


def fmpq_of(value: Fraction | int) -> fmpq:
    """The rational in a form that multiplies with balls."""
    return fmpq(value.numerator, value.denominator)


def fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def as_bracket(value: exact.NumberLike | Bracket) -> Bracket:
    return value if isinstance(value, Bracket) else Bracket.exactly(number(value))


def in_decay(epsilon: exact.NumberLike | Bracket, formula: Callable[[Any], Any], *, part: Fraction = Fraction(1)) -> Bracket:
    """f(e^(-part epsilon)) for a formula that is monotone on [0, 1]; exact where that power is rational.

    Args:
        epsilon: a number of at least 0, infinity included.
        formula: f, written in +, -, *, / for rationals and balls alike.
        part: which multiple of epsilon.

    >>> str(in_decay("ln(3)", lambda y: 1 / (1 + y)))
    '3/4'
    """
    ends = as_bracket(epsilon)
    lower, upper = (_one_end(end, formula, part) for end in (ends.lower, ends.upper))
    return Bracket(lower=min(lower.lower, upper.lower), upper=max(lower.upper, upper.upper))


def _one_end(epsilon: Number, formula: Callable[[Any], Any], part: Fraction) -> Bracket:
    decay = Fraction(0) if epsilon.is_infinite else laws.rational_exponential(epsilon * -part) if epsilon.root == 1 else None
    if decay is not None:
        return Bracket.exactly(fraction(fmpq(1) * formula(fmpq_of(decay))))
    with ctx.workprec(WORKING):
        return Bracket.around(formula((-fmpq_of(part) * epsilon.enclose(WORKING)).exp()))


def minus_log(epsilon: exact.NumberLike | Bracket, formula: Callable[[Any], Any], *, part: Fraction = Fraction(1)) -> Bracket:
    """-ln f(e^(-part epsilon)) for a formula that rises on [0, 1] from f(0) >= 0; infinite where f is 0.

    >>> str(minus_log("ln(3)", lambda y: y / (2 - y)))
    'ln(5)'
    """
    ends = as_bracket(epsilon)
    lower, upper = (_log_end(end, formula, part) for end in (ends.lower, ends.upper))
    return Bracket(lower=min(lower.lower, upper.lower), upper=max(lower.upper, upper.upper))


def _log_end(epsilon: Number, formula: Callable[[Any], Any], part: Fraction) -> Bracket:
    decay = _one_end(epsilon, formula, part)
    if decay.lower <= 0:
        return Bracket(lower=_log(decay.upper).lower if decay.upper > 0 else exact.INFINITY, upper=exact.INFINITY)
    return Bracket(lower=_log(decay.upper).lower, upper=_log(decay.lower).upper)


def _log(value: Number) -> Bracket:
    """-ln of a positive rational, which is exact; of a long dyadic one, a ball around it."""
    fraction_of = value.as_fraction()
    if fraction_of.denominator.bit_length() < WORKING // 2:
        return Bracket.exactly(-ln(fraction_of))
    with ctx.workprec(WORKING):
        return Bracket.around(-exact.ball(fraction_of).log())


def largest_where(holds: Callable[[Fraction], bool], high: Fraction, *, bits: int = 48) -> Bracket:
    """The largest x in [0, high] such that a monotone property that holds at 0 holds up to x; both ends were evaluated.

    Args:
        holds: the property, called with dyadic fractions; true only where it is certain.
        high: where the search begins from above.
        bits: the width of the bracket, in relation to `high`.

    >>> float(largest_where(lambda x: x * x <= 2, Fraction(4)).lower)
    1.4142135623730923
    """
    if holds(high):
        return Bracket.exactly(high)
    low, top = Fraction(0), high
    for _ in range(bits):
        middle = (low + top) / 2
        low, top = (middle, top) if holds(middle) else (low, middle)
    return Bracket(lower=number(low), upper=number(top))
