"""Sums of numbers and brackets that keep to the safe side where a sum has no exact form."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from fractions import Fraction

from dpspec.errors import NumericalError
from dpspec.exact import INFINITY, ZERO, Bracket, Number, number
from dpspec.laws.dichotomy import INFINITE


def rational_end(value: Number, direction: int) -> Fraction:
    """The value, or a rational on its lower (-1) or upper (1) side.

    >>> rational_end(number("ln(2)"), -1) < rational_end(number("ln(2)"), 1)
    True
    """
    if value.is_rational:
        return value.as_fraction()
    bracket = Bracket.around(value.enclose(256))
    return (bracket.upper if direction > 0 else bracket.lower).as_fraction()


def total(brackets: Iterable[Bracket]) -> Bracket:
    """The sum of brackets; exact where all of them are and their exact sum can be written down.

    >>> str(total([Bracket.exactly(1), Bracket.exactly("ln(3)")]))
    '1 + ln(3)'
    """
    terms = list(brackets)
    if any(term.lower.is_infinite for term in terms):
        return INFINITE
    if all(term.lower is term.upper for term in terms):
        try:
            return Bracket.exactly(functools.reduce(Number.__add__, (term.lower for term in terms), ZERO))
        except NumericalError:
            pass
    return Bracket(
        lower=number(sum((rational_end(term.lower, -1) for term in terms), Fraction(0))),
        upper=functools.reduce(add_up, (term.upper for term in terms)),
    )


def add_up(left: Number, right: Number) -> Number:
    """The sum, rounded up where a number is irrational."""
    if left.is_infinite or right.is_infinite:
        return INFINITY
    return number(rational_end(left, 1) + rational_end(right, 1))
