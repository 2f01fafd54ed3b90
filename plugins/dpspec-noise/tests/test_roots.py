"""Roots are rounded up, by at most one binary place, and exact where they are dyadic."""

from __future__ import annotations

from fractions import Fraction

import pytest
from dpspec_noise.roots import ROOT_BITS, rounded_root

ULP = Fraction(1, 1 << ROOT_BITS)


@pytest.mark.parametrize("degree", [1, 2, 3, 7])
@pytest.mark.parametrize("value", ["1/2", "1/3", "999/1000", "1/1000000", "2/3"])
def test_a_root_is_the_next_place_above(value: str, degree: int) -> None:
    exact, root = Fraction(value), rounded_root(Fraction(value), Fraction(degree))
    assert root**degree >= exact
    assert (root - ULP) ** degree < exact
    assert (root / ULP).denominator == 1


@pytest.mark.parametrize("root", ["1/2", "3/4", "5/8"])
@pytest.mark.parametrize("degree", [1, 2, 5])
def test_a_dyadic_root_is_exact(root: str, degree: int) -> None:
    assert rounded_root(Fraction(root) ** degree, Fraction(degree)) == Fraction(root)


@pytest.mark.parametrize(("value", "degree"), [("1/3", "3/2"), ("1/5", "1/2"), ("9/10", "7/3")])
def test_broken_degrees(value: str, degree: str) -> None:
    power, root = Fraction(degree), rounded_root(Fraction(value), Fraction(degree))
    raised = Fraction(value) ** power.denominator  # root >= value^(1/degree) exactly when root^numerator >= value^denominator
    assert root**power.numerator >= raised
    assert (root - 2 * ULP) ** power.numerator < raised
