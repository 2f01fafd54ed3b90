"""Composition: what independent releases lose together, many of them and of different kinds.

Under independent composition privacy losses add (K-T1). Gaussian pairs of any scales are one Gaussian pair, exactly; finite
pairs stay exact while they are small; a pair of two atoms, many times, is a binomial number; everything else is convolved on a
grid, with a proved bracket. The result is again a dichotomy, so that every output divergence works on it.

**Adaptive composition**, where a mechanism may be chosen by the outcomes before it, its promise fixed beforehand: epsilons add
(K-T15), Renyi divergences of one order and rho add (K-T14), and so does mu^2 of Gaussian differential privacy (K-T10). A curve
found here holds for it when every mechanism, whatever came before, is dominated by its pair: the product of dominating pairs
dominates. It says nothing on promises that are themselves chosen along the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from flint import fmpq

from dpspec.errors import ParameterError
from dpspec.exact import number
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.powers import power
from dpspec.laws.products import product_of
from dpspec.laws.shifts import GaussianShift


def compose(releases: Iterable[tuple[Dichotomy, int]]) -> Dichotomy:
    """Independent releases, each pair as often as it says, in the simplest form.

    >>> str(compose([(GaussianShift(number("1/4")), 7), (GaussianShift(number("1/3")), 3)]).mu_squared)
    '11/4'

    Raises:
        ParameterError: when a number of times is negative.
    """
    merged: dict[Dichotomy, int] = {}
    for pair, times in releases:
        if times < 0:
            raise ParameterError("times", "must be at least 0", value=times)
        if times:
            merged[pair] = times + merged.get(pair, 0)
    squares = [(square, times) for pair, times in merged.items() if (square := _rational_square(pair)) is not None]
    others = (power(pair, times) for pair, times in merged.items() if _rational_square(pair) is None)
    return product_of([*_joined(squares), *others])


def _rational_square(pair: Dichotomy) -> Fraction | None:
    """mu^2 of a Gaussian pair where it is rational."""
    return pair.mu_squared.as_fraction() if isinstance(pair, GaussianShift) and pair.mu_squared.is_rational else None


def _joined(squares: Sequence[tuple[Fraction, int]]) -> Sequence[GaussianShift]:
    """One Gaussian pair: mu^2 adds, two by two, so that denominators grow late."""
    sums = [fmpq(square.numerator * times, square.denominator) for square, times in squares]
    while len(sums) > 1:
        sums = [sum(sums[i : i + 2], fmpq(0)) for i in range(0, len(sums), 2)]
    return [GaussianShift(number(Fraction(int(whole.p), int(whole.q)))) for whole in sums]
