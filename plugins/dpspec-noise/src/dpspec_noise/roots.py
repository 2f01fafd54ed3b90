"""Roots of rational numbers, rounded up: a mechanism of wider noise has rational parameters that are on the safe side."""

from __future__ import annotations

from fractions import Fraction

from flint import ctx

from dpspec.plugin import exact, ln, number

ROOT_BITS = 64
"""Binary places of a root that is rounded."""
MOST_POWERED = 1000
"""Up to this degree a root that is exact is found by its power, which has degree times `ROOT_BITS` digits."""


def rounded_root(value: Fraction, degree: Fraction) -> Fraction:
    """value^(1/degree) for a value in (0, 1), rounded up.

    >>> rounded_root(Fraction(1, 4), Fraction(2)) == Fraction(1, 2)
    True
    >>> 0 < rounded_root(Fraction(1, 3), Fraction(2)) ** 2 - Fraction(1, 3) < Fraction(1, 10**18)
    True
    """
    with ctx.workprec(2 * ROOT_BITS):
        exponent = ln(value).enclose(2 * ROOT_BITS) / number(degree).enclose(2 * ROOT_BITS)
        least = exact.dyadic(exponent.exp().upper())
    root = Fraction(-(-(least.numerator << ROOT_BITS) // least.denominator), 1 << ROOT_BITS)
    below = root - Fraction(1, 1 << ROOT_BITS)
    is_small = degree.denominator == 1 and degree <= MOST_POWERED
    return below if is_small and below > 0 and below**degree.numerator >= value else root
