"""Many posteriors of noisy counts at once: each between two doubles that are proved to enclose it.

A posterior is v = 1 / (1 + e^-z), z = logit p + L, L the loss of an outcome. With u = 2^-53 the rounding of one operation, z
is computed within (6 (ln a + ln b) + 6 |L| + 8) u, where p/(1 - p) = a/b in integers; an error of z is a relative one of e^-z
and of v, and exp, the sum and the quotient add their own. A mean sums the ends with positive weights e^(-rho j^2), which costs
n u more for n terms; what lies beyond the last outcome is bounded by a geometric sum, as in `sums`. Every error is counted twice,
which covers e^x - 1 <= 2 x and the rounding of the bounds themselves; where it exceeds 1/4, only 0 and 1 are said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import attrs
import numpy as np
from numpy.typing import NDArray

from dpspec.exact import Bracket, number
from dpspec.laws.pieces import EXP_ERROR, UNIT

Floats = NDArray[np.float64]

_FAR = 700.0
"""Beyond this |z| an end is 0 or 1: doubles reach no farther."""
_NEGLIGIBLE, _DEEPEST = 48.0, 192.0
"""Outcomes whose weight is below e^-48 are bounded together; no weight that is summed is below e^-192."""
_MOST = 1 << 20
"""The outcomes on either side that are summed at most; with more noise than that the result is wide, and true."""

_MOST_ERROR = 0.25
"""Larger relative errors are no bounds any more."""


@attrs.frozen(eq=False)
class Intervals:
    """Probabilities, each between two doubles.

    Args:
        lower, upper: arrays of one shape.
    """

    lower: Floats
    upper: Floats

    def bracket(self, *place: int) -> Bracket:
        """One of them, its ends as exact numbers."""
        return Bracket(lower=number(Fraction(float(self.lower[place]))), upper=number(Fraction(float(self.upper[place]))))


def posteriors(released: Sequence[int], rho: Fraction, priors: Sequence[Fraction]) -> Intervals:
    """The belief in the true count after every released value, told by its difference from the known count (Z-D15, 2.3).

    Args:
        released: x* - known, up to 2^50 either way.
        rho: the budget of the count, positive.
        priors: in (0, 1).

    Returns:
        A row for each prior, a column for each released value.

    >>> found = posteriors([4], Fraction("0.0992"), [Fraction(1, 5)])
    >>> found.bracket(0, 0).lower.decimal(12), found.bracket(0, 0).upper.decimal(12)
    ('0.333611795761', '0.333611795761')
    """
    return _believed(float(rho) * (2.0 * np.asarray(released, dtype=np.float64) - 1.0), priors)


def mean_posteriors(rho: Fraction, priors: Sequence[Fraction]) -> Intervals:
    """The same averaged over the noise around the true count (Z-D17, 2.5), for every prior.

    >>> found = mean_posteriors(Fraction("0.0992"), [Fraction(1, 2)])
    >>> found.bracket(0).lower.decimal(12), found.bracket(0).upper.decimal(12)
    ('0.52366037284', '0.523660372841')
    """
    places, weights, rest = _noise(rho)
    believed = _believed(float(rho) * (2.0 * places + 1.0), priors)
    whole = float(weights.sum()) + rest
    error = (8 * _DEEPEST + 2 * len(places) + 16) * UNIT + 2 * EXP_ERROR
    return Intervals(
        believed.lower @ weights / whole * (1 - 2 * error),
        np.minimum((believed.upper @ weights + rest) / whole * (1 + 2 * error), 1.0),
    )


def masses(released: Sequence[int], rho: Fraction) -> Intervals:
    """P(X* = known + released) when the count is known + 1.

    >>> masses([1], Fraction("0.0992")).bracket(0).upper.decimal(6)
    '0.177697'
    """
    places, weights, rest = _noise(rho)
    whole = float(weights.sum())
    powers = float(rho) * (np.asarray(released, dtype=np.float64) - 1.0) ** 2
    value = np.exp(-np.minimum(powers, _FAR))
    error = (4 * (powers + _DEEPEST) + len(places) + 16) * UNIT + 2 * EXP_ERROR
    low, high = value / (whole + rest) * (1 - 2 * error), value / whole * (1 + 2 * error)
    return Intervals(np.where(powers > _FAR, 0.0, low), np.minimum(high, 1.0))


def _believed(losses: Floats, priors: Sequence[Fraction]) -> Intervals:
    """v for every prior (rows) and loss (columns)."""
    logs = np.array([(math.log(p.numerator), math.log(p.denominator - p.numerator)) for p in priors])
    z = (logs[:, 0] - logs[:, 1])[:, None] + losses
    error = (6 * (logs[:, :1] + logs[:, 1:]) + 6 * np.abs(losses) + 16) * UNIT + EXP_ERROR
    value = 1.0 / (1.0 + np.exp(np.minimum(np.maximum(-z, -_FAR), _FAR)))
    vague = error > _MOST_ERROR
    return Intervals(
        np.where(vague | (z < -_FAR), 0.0, value * (1 - 2 * error)),
        np.where(vague | (z > _FAR), 1.0, np.minimum(value * (1 + 2 * error), 1.0)),
    )


def _noise(rho: Fraction) -> tuple[Floats, Floats, float]:
    """Outcomes around the true count, their weights e^(-rho j^2), and a bound of the sum of all other weights."""
    spent = float(rho)
    reach = min(math.ceil(math.sqrt(_NEGLIGIBLE / spent)), _MOST) if spent < _NEGLIGIBLE else 0
    places = np.arange(-reach, reach + 1, dtype=np.float64)
    after = math.exp(-min(spent * (reach + 1) ** 2, _FAR)) / -math.expm1(-spent * (2 * reach + 3))
    return places, np.exp(-spent * places**2), 2 * after * (1 + 2.0**-30)
