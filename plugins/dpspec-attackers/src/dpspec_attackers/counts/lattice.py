"""Sums of a bell over the integers between two ends, enclosed."""

from __future__ import annotations

from fractions import Fraction

from flint import arb, ctx

from dpspec.errors import ParameterError
from dpspec.exact import ball

_MOST_TERMS = 1 << 16


def lattice_sum(rate: Fraction, centre: Fraction, low: int | None, high: int | None) -> arb:
    """The sum over low <= k <= high of exp(-rate (k - centre)^2), at the precision in force; None for an end at infinity.

    What is left out beyond a term t of a falling sequence is at most t / (1 - the next ratio).

    >>> lattice_sum(Fraction(1, 2), Fraction(0), None, None).overlaps(1 + 2 * sum((arb(-k * k) / 2).exp() for k in range(1, 30)))
    True
    """
    if low is not None and high is not None and low > high:
        return arb(0)
    middle = round(centre)
    start = middle if low is None else max(low, middle)
    start = start if high is None else min(start, high)
    above = _falling(rate, start - centre, None if high is None else high - start)
    below = _falling(rate, centre - start + 1, None if low is None else start - 1 - low)
    return above + below


def _falling(rate: Fraction, offset: Fraction, last: int | None) -> arb:
    """The sum over 0 <= i <= last of exp(-rate (offset + i)^2), for an infinite number of terms unless `last` is given."""
    if last is not None and last < 0:
        return arb(0)
    total, negligible = arb(0), arb(2) ** (-ctx.prec)
    for i in range(_MOST_TERMS):
        term = ball(-rate * (offset + i) ** 2).exp()
        total += term
        if last is not None and i == last:
            return total
        ratio = ball(-rate * (2 * (offset + i) + 1)).exp()
        if offset + i > 0 and term < negligible * total:
            rest = term * ratio / (1 - ratio)
            return total + arb(0).union(rest)
    raise ParameterError("rho", f"is so small that more than {_MOST_TERMS} counts matter", "take a larger one", value=str(rate))
