"""How often the two-level attacker bets on the true count, over all releases (Z-A3, Z-A7, Z-F2.4 to Z-F2.6).

The success is a sum over the lattice of releases (x1*, x2*, y1*), of the probability of each given the true counts, where the
posterior of the truth exceeds 1/2; no simulation. Everything here is in floats: these are illustrations, whose errors are those
of rounding.
"""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction

import attrs
import numpy as np
from numpy.typing import NDArray

from dpspec_attackers.counts.hierarchy import TwoLevels

Floats = NDArray[np.float64]

_REACH = 9.0
_TIE = 1e-9


class Method(Enum):
    """Whose posterior is meant: the true one, or that of the chain that forgets X1 <= X2 (Z-X3)."""

    EXACT = "exact"
    NO_NESTING = "no-nesting"


@attrs.frozen(kw_only=True)
class Region:
    """The releases that are counted: ranges of x2* and y1*, ends included; None for all (the thesis: (-3, 5) and (-30, 30))."""

    group: tuple[int, int] | None = None
    others: tuple[int, int] | None = None


@attrs.frozen(kw_only=True)
class Success:
    """Probabilities over the releases, given the true counts.

    Args:
        right: of a bet on the true count of the block.
        ties: of a posterior of exactly 1/2 (no bet; Z-S7).
        corrected: right, where the block's count alone says otherwise.
        spoiled: wrong, where the block's count alone says what is right.
        mass: of the releases that were counted.
    """

    right: float
    ties: float
    corrected: float
    spoiled: float
    mass: float


def success(attack: TwoLevels, truth: tuple[int, int], *, method: Method = Method.EXACT, region: Region | None = None) -> Success:
    """The success of the attacker when the counts of the block and of the group are `truth`.

    Args:
        attack: what the attacker knows, and the budgets.
        truth: (x1, x2), x1 one of the two values that the attacker takes for possible.
        method: whose posterior is used.
        region: which releases are counted; all by default.

    >>> attack = TwoLevels(rho_block="0.09922635", rho_group="0.2464845", others=27, prior="1/2")
    >>> round(success(attack, (1, 10)).right, 4), round(success(attack, (1, 1)).right, 4)
    (0.5897, 0.3182)
    """
    x1, x2 = truth
    block, mass_block = _noise(x1, attack.rho_block, None)
    region = region or Region()
    group, mass_group = _noise(x2, attack.rho_group, region.group)
    others, mass_others = _noise(x2 - x1, attack.rho_block / attack.others, region.others)
    odds = log_odds(attack, block, group, others, method)
    weights = mass_block[:, None, None] * mass_group[None, :, None] * mass_others[None, None, :]
    sign = 1 if x1 == attack.known + 1 else -1
    alone = math.log(attack.prior / (1 - attack.prior)) + float(attack.rho_block) * (2 * (block - attack.known) - 1)
    right, right_alone = sign * odds > _TIE, (sign * alone > _TIE)[:, None, None]
    return Success(
        right=float(weights[right].sum()),
        ties=float(weights[np.abs(odds) <= _TIE].sum()),
        corrected=float((weights * (right & ~right_alone)).sum()),
        spoiled=float((weights * (~right & right_alone)).sum()),
        mass=float(weights.sum()),
    )


def log_odds(attack: TwoLevels, block: Floats, group: Floats, others: Floats, method: Method = Method.EXACT) -> Floats:
    """The log odds of X1 = known + 1 for every release of a grid: an array over x1*, x2* and y1* (Z-T42; Z-F2.4)."""
    from scipy.special import logsumexp

    alone = math.log(attack.prior / (1 - attack.prior)) + float(attack.rho_block) * (2 * (block - attack.known) - 1)
    if method is Method.NO_NESTING:
        return _no_nesting(attack, alone, group, others)
    evidence = [logsumexp(_exponents(attack, k1, group, others), axis=-1) for k1, _ in attack.choices]
    weights = [float(attack.larger.weight(k1)) for k1, _ in attack.choices]
    between = evidence[1] - evidence[0] + math.log(weights[1] / weights[0])
    return np.asarray(alone[:, None, None] + between[None, :, :])


def _no_nesting(attack: TwoLevels, alone: Floats, group: Floats, others: Floats) -> Floats:
    """ln(T01 / T10) of the chain without the indicator, X1 given X2 from Z-T40 and X2 given X1 from Z-T41."""
    from scipy.special import logsumexp

    counts = _counts(attack, group, others)
    laws = []
    for k1, _ in attack.choices:
        exponents = _exponents(attack, k1, group, others)
        laws.append(np.exp(exponents - logsumexp(exponents, axis=-1, keepdims=True)))
    gap = others[:, None] - (counts[None, :] - attack.known)
    gain = float(attack.rho_block / attack.others) * (gap**2 - (gap + 1) ** 2)
    found = np.empty((len(alone), len(group), len(others)))
    for place, base in enumerate(alone):
        one = 1 / (1 + np.exp(-(base + gain)))
        up, down = (laws[0] * one).sum(axis=-1), (laws[1] * (1 - one)).sum(axis=-1)
        found[place] = np.log(up) - np.log(down)
    return found


def _exponents(attack: TwoLevels, k1: int, group: Floats, others: Floats) -> Floats:
    """-rho2 (x2* - k2)^2 - (rho1/d) (y1* - (k2 - k1))^2 over x2*, y1* and k2, minus infinity outside the support of k2."""
    counts = _counts(attack, group, others)
    low, high = attack.larger.support(k1)
    possible = (counts >= (-math.inf if low is None else low)) & (counts <= (math.inf if high is None else high))
    of_group = -float(attack.rho_group) * (group[:, None, None] - counts) ** 2
    of_others = -float(attack.rho_block / attack.others) * (others[None, :, None] - (counts - k1)) ** 2
    return np.where(possible, of_group + of_others, -math.inf)


def _counts(attack: TwoLevels, group: Floats, others: Floats) -> Floats:
    """All counts of the group that can matter for some release of the grid."""
    rate = float(attack.rho_group + attack.rho_block / attack.others)
    share = float(attack.rho_group) / rate
    reach = math.ceil(_REACH / math.sqrt(2 * rate)) + 2
    low = math.floor(share * group.min() + (1 - share) * (others.min() + attack.known)) - reach
    high = math.ceil(share * group.max() + (1 - share) * (others.max() + attack.known + 1)) + reach
    ends = [attack.larger.support(k1) for k1, _ in attack.choices]
    floors = [end for end, _ in ends if end is not None]
    tops = [end for _, end in ends if end is not None]
    if floors:
        low, high = max(low, min(floors)), max(high, min(floors) + reach)
    if tops:
        low, high = min(low, max(tops)), min(high, max(tops))
    return np.arange(low, high + 1, dtype=float)


def _noise(centre: int, rho: Fraction, limits: tuple[int, int] | None) -> tuple[Floats, Floats]:
    """The released values that matter, and their probabilities: exp(-rho (x - centre)^2), normalised over all integers."""
    reach = math.ceil(_REACH / math.sqrt(2 * float(rho))) + 2
    points = np.arange(centre - reach, centre + reach + 1, dtype=float)
    masses = np.exp(-float(rho) * (points - centre) ** 2)
    masses /= masses.sum()
    if limits is None:
        return points, masses
    inside = (points >= limits[0]) & (points <= limits[1])
    return points[inside], masses[inside]
