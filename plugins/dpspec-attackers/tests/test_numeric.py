"""Formulas in e^epsilon: exact where it is rational, and certain brackets elsewhere."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from dpspec_attackers.numeric import as_bracket, fmpq_of, fraction, in_decay, largest_where, minus_log

from dpspec.base.exact import INFINITY, Bracket, ln, number


@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(3), Fraction(3, 2)])
@pytest.mark.parametrize("part", [Fraction(1), Fraction(2), Fraction(1, 2)])
def test_formulas_at_rational_powers_are_exact(ratio: Fraction, part: Fraction) -> None:
    epsilon = ln(ratio**2) if part.denominator == 2 else ln(ratio)
    power = 1 / (ratio**2 if part == 2 else ratio)
    found = in_decay(epsilon, lambda y: (1 - y) / (1 + y), part=part)
    assert found == Bracket.exactly((1 - power) / (1 + power))
    assert in_decay(INFINITY, lambda y: (1 - y) / (1 + y)) == Bracket.exactly(1)


def test_rising_and_falling_formulas_hold_both_ends() -> None:
    """Ends of the budget and of the formula need not be in one order."""
    budget = Bracket(lower=number(1), upper=number(2))
    for formula in (lambda y: 1 / (1 + y), lambda y: y):
        found = in_decay(budget, formula)
        ends = sorted((formula(math.exp(-1)), formula(math.exp(-2))))
        assert float(found.lower) <= ends[0] + 1e-15
        assert float(found.upper) >= ends[1] - 1e-15
        assert float(found.lower) == pytest.approx(ends[0], abs=1e-12)
        assert float(found.upper) == pytest.approx(ends[1], abs=1e-12)
        assert found.lower < found.upper


def test_logarithms_of_formulas() -> None:
    assert str(minus_log("ln(3)", lambda y: y / (2 - y))) == "ln(5)"
    assert minus_log(INFINITY, lambda y: y).lower.is_infinite
    rough = minus_log(1, lambda y: y)
    assert rough.lower <= number(1) <= rough.upper
    wide = minus_log(Bracket(lower=number(1), upper=number(2)), lambda y: y)
    assert wide.lower <= number(1) < number(2) <= wide.upper
    open_ended = minus_log(Bracket(lower=number(1), upper=INFINITY), lambda y: y)
    assert open_ended.lower <= number(1)
    assert open_ended.upper.is_infinite


@pytest.mark.parametrize("edge", ["1/3", "2", "0", "4"])
def test_the_largest_number_with_a_property(edge: str) -> None:
    found = largest_where(lambda x: x <= Fraction(edge), Fraction(4), bits=20)
    low, high = found.lower.as_fraction(), found.upper.as_fraction()
    assert low <= Fraction(edge) <= high
    assert high - low <= Fraction(4, 1 << 20)
    assert edge == "4" or high > Fraction(edge)


def test_rationals_come_back() -> None:
    for value in (Fraction(-2, 7), Fraction(5)):
        assert fraction(fmpq_of(value)) == value
    assert as_bracket(Bracket.exactly(1)) == as_bracket(1) == Bracket.exactly(1)
