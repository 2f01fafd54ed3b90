"""Helpers that the laws share: powers and roots against integers, tails against sums of fractions, and a search by halves."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb

from dpspec.base.exact import INFINITY, ln, number, sqrt
from dpspec.base.log_linear import ceiling_of, floor_of
from dpspec.laws.numeric import (
    binomial_tail,
    hull,
    last_above,
    normal_cdf,
    positive,
    rational_exponential,
    rational_root,
    whole_number,
)


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_roots_of_powers_are_found_and_no_others(degree: int) -> None:
    for top in range(1, 12):
        for bottom in range(1, 12):
            root = Fraction(top, bottom)
            assert rational_root(root**degree, degree) == root
            other = root**degree + Fraction(1, 10**6)
            assert rational_root(other, degree) == (other if degree == 1 else None)


def test_the_exponential_of_logarithms_of_rationals() -> None:
    found = {
        "0": Fraction(1), "ln(3)": Fraction(3), "-ln(3)": Fraction(1, 3), "1/3*ln(8/27)": Fraction(2, 3),
        "2*ln(3/2)": Fraction(9, 4), "1/2*ln(2)": None, "1": None, "ln(2) + 1": None, "1/2*ln(2) + 1/2*ln(8)": Fraction(4),
    }  # fmt: skip
    assert {text: rational_exponential(number(text)) for text in found} == found
    assert rational_exponential(INFINITY) is None
    assert rational_exponential(sqrt(2)) is None
    assert rational_exponential(ln(2) * (1 << 20)) is None  # a million bits


@pytest.mark.parametrize("probability", [Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)])
@pytest.mark.parametrize("trials", [1, 2, 7, 40])
def test_tails_of_binomial_laws_hold_the_sum(trials: int, probability: Fraction) -> None:
    for least in range(-1, trials + 3):
        places = range(max(least, 0), trials + 1)
        true = sum((math.comb(trials, k) * probability**k * (1 - probability) ** (trials - k) for k in places), Fraction(0))
        tail = binomial_tail(trials, probability, least, 64)
        low, high = floor_of(tail), ceiling_of(tail)
        assert low is not None
        assert high is not None
        assert low <= true <= high <= low + Fraction(1, 2**50)


@pytest.mark.parametrize("last", [*range(9), 62, 63])
def test_the_last_place_above(last: int) -> None:
    for excess in (lambda k: last + 0.5 - k, lambda k: 1.0 if k <= last else -1e-9, lambda k: math.exp(5 * (last - k)) - 0.5):
        asked: list[int] = []
        assert last_above(lambda k, excess=excess, asked=asked: asked.append(k) or excess(k), 0, 64) == last  # type: ignore[misc]
        assert len(asked) <= 2 + 2 * 8


def test_numbers_that_are_whole() -> None:
    given = [1, True, 2.0, Fraction(4, 2), Fraction(1, 2), 0.5, math.inf, math.nan, "1", None]
    assert [whole_number(value) for value in given] == [1, 1, 2, 2, None, None, None, None, None, None]


def test_balls() -> None:
    assert positive(arb(-2)) == 0
    assert positive(arb(3)) == 3
    assert hull(arb(1), arb(2)).contains(arb("1.5"))
    assert not hull(arb(1), arb(2)).contains(arb("2.5"))
    assert normal_cdf(arb(0)).contains(arb(1) / 2)
    assert 0.97 < normal_cdf(arb(2)) < 0.98
