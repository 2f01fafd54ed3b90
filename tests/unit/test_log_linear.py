"""Forms a + sum c_i ln(r_i): signs against 60 digits, zeros by integers, and ends of balls on their side."""

from __future__ import annotations

import itertools
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from flint import arb

from dpspec.base.errors import NumericalError
from dpspec.base.log_linear import (
    LARGEST,
    MOST_BITS,
    ball,
    bits,
    canonical,
    ceiling_of,
    digits,
    dyadic,
    ending_decimal,
    floor_of,
    sign,
)

HALVES = [Fraction(n, 2) for n in (-3, -1, 1, 4)]
ARGUMENTS = [Fraction(2), Fraction(1, 3), Fraction(9, 4), Fraction(7, 5)]


def decimal_of(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def sign_of(constant: Fraction, logs: tuple[tuple[Fraction, Fraction], ...]) -> int:
    """The sign of the form, from 60 digits."""
    with localcontext() as context:
        context.prec = 60
        value = decimal_of(constant) + sum(decimal_of(c) * decimal_of(r).ln() for r, c in logs)
        return 0 if abs(value) < Decimal("1e-50") else -1 if value < 0 else 1


@pytest.mark.parametrize("constant", [Fraction(0), Fraction(1), Fraction(-2, 3)])
def test_the_sign_is_that_of_many_digits(constant: Fraction) -> None:
    for (r, c), (s, d) in itertools.product(itertools.product(ARGUMENTS, HALVES), repeat=2):
        logs = ((r, c), (s, d))
        assert sign(constant, logs) == sign_of(constant, logs)


def test_zero_is_found_by_integers_and_next_to_zero_by_digits() -> None:
    assert sign(Fraction(0), ((Fraction(4), Fraction(1)), (Fraction(2), Fraction(-2)))) == 0
    assert sign(Fraction(0), ((Fraction(6), Fraction(1)), (Fraction(2), Fraction(-1)), (Fraction(3), Fraction(-1)))) == 0
    near = 1 + Fraction(1, 10**200)
    assert sign(Fraction(0), ((near, Fraction(1)),)) == 1
    assert sign(Fraction(0), ((2 * near, Fraction(-1)), (Fraction(2), Fraction(1)))) == -1
    assert [sign(Fraction(n), ()) for n in (-1, 0, 1)] == [-1, 0, 1]


def test_forms_have_one_way_to_be_written() -> None:
    half = Fraction(1, 2)
    assert canonical([(Fraction(81), half)]) == ((Fraction(9), Fraction(1)),)
    assert canonical([(half, Fraction(1))]) == ((Fraction(2), Fraction(-1)),)
    assert canonical([(Fraction(3), Fraction(1)), (Fraction(1, 3), Fraction(1)), (Fraction(1), Fraction(5))]) == ()
    assert canonical([(Fraction(2), half), (Fraction(2), half)]) == ((Fraction(2), Fraction(1)),)


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(-1, 3), Fraction(7, 4), Fraction(0)])
def test_ends_of_a_ball_lie_on_their_side(value: Fraction) -> None:
    around = ball(value) + arb(0, "0.001")
    low, high = floor_of(around), ceiling_of(around)
    assert low is not None
    assert high is not None
    assert value - Fraction(2, 1000) < low <= value - Fraction(999, 10**6) < value + Fraction(999, 10**6) <= high
    assert high < value + Fraction(2, 1000)


def test_what_is_too_large_or_too_small_is_cut_on_the_safe_side() -> None:
    huge, tiny = arb(10**9).exp(), (-arb(10**9)).exp()
    assert (floor_of(huge), ceiling_of(huge)) == (LARGEST, None)
    assert (floor_of(-huge), ceiling_of(-huge)) == (None, -LARGEST)
    assert (floor_of(tiny), ceiling_of(tiny)) == (0, 1 / LARGEST)
    assert (floor_of(-tiny), ceiling_of(-tiny)) == (-1 / LARGEST, 0)
    assert (floor_of(arb.pos_inf()), ceiling_of(arb.pos_inf())) == (LARGEST, None)
    assert (floor_of(arb.neg_inf()), ceiling_of(arb.neg_inf())) == (None, -LARGEST)


def test_an_exact_ball_is_a_fraction_or_refused() -> None:
    assert dyadic(arb("-6.5")) == Fraction(-13, 2)
    assert dyadic(arb(2) ** 40) == 1 << 40
    for beyond in (arb(2) ** (MOST_BITS + 1), arb.pos_inf()):
        with pytest.raises(NumericalError):
            dyadic(beyond)


def test_sizes_and_texts() -> None:
    assert (bits(Fraction(7, 256)), bits(Fraction(-1024, 3))) == (9, 11)
    assert (digits(Fraction(-22, 7)), digits(Fraction(5))) == ("-22/7", "5")
    shown = {"1/8": "0.125", "-5/2": "-2.5", "1/7": None, "1234567": "1,234,567", "1/10000": "0.0001", "3/100000": "3e-5"}
    assert {text: ending_decimal(Fraction(text)) for text in shown} == shown
