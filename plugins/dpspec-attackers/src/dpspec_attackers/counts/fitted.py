"""Post-processed counts: the released block count is fitted to the known count of its group (Z-D26, Z-D27, Z-A6).

The fit moves the noisy counts as little as possible so that they add up to x2, which gives the block (Z-T45)

    tau = (d x1* + (x2 - y1*)) / (d + 1),       then 0 if tau < 0, x2 if tau > x2, else the nearest integer.

The thesis claims that this never raises the marginal risk (Z-T46). It can, against an attacker who saw x1* alone, because the
fitted count also carries y1* (Z-X7). Data processing bounds it by the risk to somebody who sees (x1*, y1*) (`ceiling`; Z-S13,
Z-T62).
"""

from __future__ import annotations

import math
from fractions import Fraction

import attrs
import numpy as np
from numpy.typing import NDArray

from dpspec.exact import Bracket, NumberLike
from dpspec.laws.discrete_gaussian import DiscreteGaussianShift
from dpspec.laws.products import product_of
from dpspec_attackers.counts.belief import expected_risk, read_prior
from dpspec_attackers.counts.block import read_rho

_REACH = 9.0


def fitted(block: int, others: int, total: int, d: int) -> int:
    """The published count of the block (Z-D26, 2.41 and 2.42); halves go to the even neighbour (Z-S12).

    Args:
        block: x1*.
        others: y1*, the noisy sum of the other blocks.
        total: x2, the published count of the group.
        d: the number of other blocks.

    >>> [fitted(*case, 27) for case in ((2, -1, 1), (0, 0, 5), (3, 4, 10), (-4, 2, 6), (1, 0, 3))]
    [1, 0, 3, 0, 1]
    """
    tau = Fraction(d * block + total - others, d + 1)
    return 0 if tau < 0 else total if tau > total else round(tau)


@attrs.frozen(kw_only=True)
class Fit:
    """The attack on a fitted count of somebody who knows the true count of the group, for x1 = 1 and `known` = 0 (Z-D27).

    Args:
        rho: the budget of every block's count.
        others: d.
        prior: p, the probability of the truth.
        total: the published count of the group, to which the blocks are fitted.
        group: x2, its true count.
        half_up: round halves up instead of to the even neighbour, for comparison.
    """

    rho: Fraction = attrs.field(converter=read_rho)
    others: int
    prior: Fraction = attrs.field(converter=read_prior)
    total: int
    group: int = 1
    half_up: bool = False

    def marginal_risk(self) -> float:
        """The mean posterior over the prior, for the fitted count; a float.

        >>> rho = "0.09922635"
        >>> round(Fit(rho=rho, others=27, prior="1/2", total=1).marginal_risk(), 4)
        1.0322
        """
        false, true = (self.law(k1) for k1 in (0, 1))
        p = float(self.prior)
        seen = true > 0
        posterior = p * true[seen] / (p * true[seen] + (1 - p) * false[seen])
        return float((posterior * true[seen]).sum() / p)

    def law(self, k1: int) -> NDArray[np.float64]:
        """P[fitted count = 0, ..., total | X1 = k1], the group publishing `total` (2.45)."""
        block, of_block = _noise(k1, float(self.rho))
        others, of_others = _noise(self.group - k1, float(self.rho) / self.others)
        top = self.others * block[:, None] + self.total - others[None, :]
        below = self.others + 1
        whole, rest = top // below, top % below
        up = (2 * rest > below) | ((2 * rest == below) & (self.half_up | (whole % 2 == 1)))
        published = np.where(top < 0, 0, np.where(top > self.total * below, self.total, whole + up))
        masses = of_block[:, None] * of_others[None, :]
        return np.bincount(published.ravel(), weights=masses.ravel(), minlength=self.total + 1).astype(np.float64)


def ceiling(rho: NumberLike, others: int, prior: NumberLike) -> Bracket:
    """The marginal risk to somebody who sees (x1*, y1*) and knows x2: no fit of them can raise it (Z-T62).

    >>> ceiling("0.09922635", 27, "1/2").lower.decimal(5)
    '1.049'
    """
    r = read_rho(rho)
    return expected_risk(product_of([DiscreteGaussianShift(1, 1 / (2 * r)), DiscreteGaussianShift(1, others / (2 * r))]), prior)


def _noise(centre: int, rho: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    reach = math.ceil(_REACH / math.sqrt(2 * rho)) + 2
    points = np.arange(centre - reach, centre + reach + 1)
    masses = np.exp(-rho * (points - centre) ** 2.0)
    return points, np.asarray(masses / masses.sum())
