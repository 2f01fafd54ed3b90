"""Tails of binomial laws as balls: the loss of k-fold randomised response is a binomial number."""

from __future__ import annotations

from fractions import Fraction

from flint import arb, ctx, fmpz

from dpspec.exact import ball
from dpspec.laws.numeric import hull


def binomial_tail(trials: int, chance: Fraction, least: int, precision: int) -> arb:
    """P(X >= least) for X ~ Bin(trials, chance), 0 < chance < 1.

    >>> binomial_tail(2, Fraction(1, 2), 1, 64)
    0.750000000000000
    """
    if least <= 0:
        return arb(1)
    if least > trials:
        return arb(0)
    with ctx.workprec(precision + 32 + 2 * trials.bit_length()):
        if least <= trials * chance:
            return 1 - _from(trials, 1 - chance, trials - least + 1)
        return _from(trials, chance, least)


def _from(trials: int, chance: Fraction, least: int) -> arb:
    """The sum from a term on; where the terms fall they do so at least geometrically."""
    odds = ball(chance / (1 - chance))
    term = arb(fmpz.bin_uiui(trials, least)) * ball(chance) ** least * ball(1 - chance) ** (trials - least)
    total, negligible = arb(0), arb(2) ** -ctx.prec
    for place in range(least, trials + 1):
        total += term
        ratio = odds * (trials - place) / (place + 1)
        term *= ratio
        if ratio < 1 and term < total * negligible:
            return total + hull(arb(0), (term / (1 - ratio)).upper())
    return total
