"""The mean posterior of one noisy count, summed outcome by outcome: enclosed for a table, and in floats for a curve (Z-D17).

With w_j = e^(-rho j^2) and r_j = e^(-rho (2 j + 1)), the outcome 1 + j above the known count has the weight w_j and the posterior
1 / (1 + o r_j), o = (1 - p)/p; the outcome 1 - j has the same weight and the posterior r_(j-1) / (r_(j-1) + o).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from dpspec.exact import Bracket, ball
from dpspec_attackers.counts.belief import as_probability

Floats = NDArray[np.float64]

_REACH = 9.0


def mean_posteriors(rho: Fraction, priors: Sequence[Fraction], *, precision: int = 64) -> tuple[Bracket, ...]:
    """The mean posterior for every prior; what lies beyond the last outcome is bounded by a geometric sum."""
    with ctx.workprec(precision + 32):
        odds = [ball((1 - p) / p) for p in priors]
        negligible = arb(2) ** (-precision - 16)
        fall = ball(-2 * rho).exp()
        weight, ratio = arb(1), ball(-rho).exp()
        whole, sums = arb(1), [1 / (1 + o * ratio) for o in odds]
        while True:
            weight *= ratio
            before, ratio = ratio, ratio * fall
            if weight < negligible and ratio < 1:
                break
            whole += 2 * weight
            sums = [total + weight * (1 / (1 + o * ratio) + before / (before + o)) for total, o in zip(sums, odds, strict=True)]
        rest = arb(0).union((2 * weight / (1 - ratio)).upper())
        whole += rest
        return tuple(as_probability((total + rest) / whole) for total in sums)


def realised_risks(released: Floats, rho: float, prior: float) -> Floats:
    """R' of many released counts, each told by its difference from the known count (Z-D16), in floats.

    >>> [round(float(risk), 3) for risk in realised_risks(np.array([1.0, 5.0]), 0.0992263, 0.5)]
    [1.05, 1.419]
    """
    from scipy.special import expit

    return np.asarray(expit(math.log(prior / (1 - prior)) + rho * (2.0 * released - 1)) / prior)


def risk_curve(rhos: Floats, prior: float) -> Floats:
    """R against rho (Z-F2.2), in floats.

    >>> [round(float(risk), 4) for risk in risk_curve(np.array([0.1, 1.0, 10.0]), 0.5)]
    [1.0477, 1.3535, 1.9998]
    """
    from scipy.special import expit

    reach = math.ceil(_REACH / math.sqrt(2 * float(rhos.min()))) + 2
    points = np.arange(1 - reach, 2 + reach)
    weights = np.exp(-rhos[:, None] * (points - 1.0) ** 2)
    posteriors = expit(math.log(prior / (1 - prior)) + rhos[:, None] * (2.0 * points - 1))
    return np.asarray((weights * posteriors).sum(axis=1) / weights.sum(axis=1) / prior)


def success_curve(rhos: Floats, prior: float) -> Floats:
    """How often the bet on the likelier count is right, against rho (Z-F2.3), in floats.

    >>> [round(float(share), 4) for share in success_curve(np.array([0.25, 0.5, 1.0]), 0.2)]
    [0.0355, 0.3005, 0.2179]
    """
    reach = math.ceil(_REACH / math.sqrt(2 * float(rhos.min()))) + 2
    points = np.arange(1 - reach, 2 + reach)
    weights = np.exp(-rhos[:, None] * (points - 1.0) ** 2)
    right = math.log(prior / (1 - prior)) + rhos[:, None] * (2.0 * points - 1) > 0
    return np.asarray((weights * right).sum(axis=1) / weights.sum(axis=1))
