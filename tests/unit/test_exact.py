"""Exact numbers: parsing, order and arithmetic, against independent high-precision evaluation."""

from decimal import Decimal, getcontext
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from dpspec.base.errors import NumericalError, ParameterError
from dpspec.base.exact import INFINITY, Bracket, Number, largest, ln, number, rational, rounded_down, rounded_up, sqrt

getcontext().prec = 80


def high_precision(value: Number) -> Decimal:
    """The value through the decimal module, which shares no code with the ball arithmetic under test."""
    form = Decimal(value.rational_part.numerator) / value.rational_part.denominator
    for argument, coefficient in value.logs:
        log = (Decimal(argument.numerator) / argument.denominator).ln()
        form += Decimal(coefficient.numerator) / coefficient.denominator * log
    return form.sqrt() if value.root == 2 else form


positive = st.fractions(Fraction(1, 30), 30, max_denominator=30)
small = st.fractions(-3, 3, max_denominator=12)
forms = st.builds(lambda a, c, r, d, s: number(a) + ln(r) * c + ln(s) * d, small, small, positive, small, positive)


@pytest.mark.slow
@pytest.mark.reference("B-S19")
@given(forms, forms)
def test_order_agrees_with_high_precision_decimals(left: Number, right: Number) -> None:
    difference = high_precision(left) - high_precision(right)
    if abs(difference) > Decimal("1e-60"):
        assert (left < right) == (left <= right) == (difference < 0)
        assert (left > right) == (left >= right) == (difference > 0)
        assert left != right
    else:
        assert left == right
        assert hash(left) == hash(right)


@pytest.mark.reference("B-S19")
@pytest.mark.parametrize(
    ("left", "right"),
    [
        (ln(4), ln(2) * 2),
        (ln(49) / 2, ln(7)),
        (ln(12) - ln(3), ln(2) * 2),
        (ln(Fraction(9, 4)), ln(Fraction(3, 2)) * 2),
        (ln(6) + ln(35), ln(10) + ln(21)),
        (sqrt("2.25"), number("3/2")),
        (sqrt(ln(3) / 2) * 2, sqrt(ln(3) * 2)),
    ],
)
def test_equal_values_are_equal_and_hash_alike(left: Number, right: Number) -> None:
    assert left == right
    assert hash(left) == hash(right)
    assert not left < right
    assert not left > right
    assert left <= right
    assert left >= right


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (number("1/3"), number("1/2")),
        (ln(2) * 2, ln(4) + Fraction(1, 10**40)),
        (ln(6) + ln(35), ln(10) + ln(22)),
        (ln(3) - 1, ln(3)),
        (sqrt(ln(2)), sqrt(ln(3))),
        (number(-1), sqrt(ln(2))),
        (sqrt(2), number("3/2")),
        (ln(10**9), INFINITY),
    ],
)
def test_unequal_values_stand_in_one_order(less: Number, more: Number) -> None:
    for left, right in ((less, more), (-less, -more)) if less.root == more.root == 1 and more != INFINITY else ((less, more),):
        below, above = (left, right) if left is less else (right, left)
        assert (below < above, below <= above, above > below, above >= below) == (True,) * 4
        assert (above < below, above <= below, below > above, below >= above) == (False,) * 4
        assert below != above


@pytest.mark.reference("B-S19")
def test_values_one_part_in_ten_to_the_hundred_apart_are_told_apart() -> None:
    nearly = ln(3) + Fraction(1, 10**100)
    assert nearly > ln(3)
    assert ln(Fraction(3 * 10**100 + 1, 10**100)) > ln(3)
    assert sqrt(Fraction(2) + Fraction(1, 10**90)) > sqrt(2)


@given(forms)
def test_text_reads_back(value: Number) -> None:
    assert number(str(value)) == value


@pytest.mark.parametrize(
    "text", ["sqrt(263/100)", "sqrt(1/2*ln(3))", "inf", "ln(3)", "1e-10", "-1/3", "2 + 3*ln(5/4) - ln(7)", "3 ln(2)"]
)
def test_literals_are_read(text: str) -> None:
    assert number(str(number(text))) == number(text)


@pytest.mark.parametrize(
    "bad", ["", "ln(0)", "ln(-1)", "ln(x)", "1 2", "exp(1)", "__import__('os')", "nan", "1/0", "sqrt(-1)", "ln(2)ln(3)"]
)
def test_what_is_no_number_is_refused(bad: str) -> None:
    with pytest.raises((ParameterError, NumericalError)):
        number(bad)


@pytest.mark.parametrize("bad", [True, float("nan"), None, [], 1j, float("inf")])
def test_what_is_no_rational_is_refused(bad: object) -> None:
    with pytest.raises(ParameterError):
        rational(bad)


def test_a_float_is_the_decimal_it_prints() -> None:
    assert rational(0.1) == Fraction(1, 10)
    assert number(1e-10) == Fraction(1, 10**10)


@pytest.mark.reference("B-S5")
def test_zero_times_infinity_never_appears() -> None:
    with pytest.raises(NumericalError):
        number(0) * INFINITY
    assert number(2) * INFINITY == INFINITY
    assert number(10**9) < INFINITY


@pytest.mark.slow
@given(forms.filter(lambda x: x > 0), st.integers(40, 200))
def test_enclosures_contain_the_value_and_shrink(value: Number, precision: int) -> None:
    narrow, wide = Bracket.around(value.enclose(precision + 60)), Bracket.around(value.enclose(precision))
    assert wide.lower <= value <= wide.upper
    assert narrow.upper - narrow.lower <= wide.upper - wide.lower


def test_largest_keeps_both_ends() -> None:
    found = largest([Bracket(lower=number(1), upper=number(5)), Bracket(lower=number(2), upper=number(3))])
    assert (found.lower, found.upper) == (2, 5)
    assert largest([]).is_exact


def test_printed_brackets_are_rounded_outwards() -> None:
    third = Fraction(1, 3)
    low, high = str(Bracket(lower=number(third), upper=number(2 * third))).strip("[]").split(", ")
    assert Fraction(low) <= third
    assert Fraction(high) >= 2 * third


@pytest.mark.parametrize("text", ["0.3", "99.9", "1e-7", "4.96", "-0.1"])
def test_a_decimal_is_rounded_to_itself_on_both_sides(text):
    """It was taken through an enclosure, of which neither end is the decimal: 0.3 came out as 0.2999 and 0.3001."""
    value = number(text)
    assert number(rounded_down(value)) == value == number(rounded_up(value))
    assert number(Bracket(lower=value, upper=value + 1).ends()[0]) == value


@pytest.mark.parametrize("value", [Fraction(3, 2), number("3/2"), Decimal("1.5")])
def test_a_number_in_an_error_is_not_the_code_that_makes_it(value):
    """They were printed as Fraction(3, 2) and number('3/2')."""
    assert str(ParameterError("rate", "is too large", value=value)).startswith(f"rate={value}: is")
