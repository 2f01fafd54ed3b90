"""Markov chains for the two-level posterior: Gibbs sampling, and the chain that reproduces what the thesis printed (Z-A2, Z-X3).

Both draw X1 given X2 and X2 given X1 in turn, from Z-T40 and Z-T41. The Gibbs sampler gives X1 = k1 no weight where k1 > k2; its
law is the posterior that `TwoLevels.posterior` sums. The printed tables follow from the chain without that indicator, whose two
conditionals belong to no joint law; its stationary law is P1 = T01/(T01 + T10). Everything here is in floats.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from itertools import accumulate

import attrs
import numpy as np
from numpy.typing import NDArray

from dpspec.errors import ParameterError
from dpspec_attackers.counts.hierarchy import Released, TwoLevels

Floats = NDArray[np.float64]

_REACH = 10.0


@attrs.frozen(kw_only=True)
class Draws:
    """What a chain visited.

    Args:
        ones: how often X1 was known + 1.
        larger: how often X2 had each value.
        sweeps: how often both were drawn.
    """

    ones: int
    larger: tuple[tuple[int, int], ...]
    sweeps: int

    @property
    def posterior(self) -> float:
        """The estimate of P[X1 = known + 1 | D]."""
        return self.ones / self.sweeps


def values(attack: TwoLevels, released: Released) -> range:
    """The counts of the group that matter, to 10 scale lengths around the centres."""
    centres = [attack.bell(k1, released) for k1, _ in attack.choices]
    reach = _REACH / math.sqrt(2 * float(centres[0][0])) + 1
    lows = [math.floor(float(centre) - reach) for _, centre in centres]
    highs = [math.ceil(float(centre) + reach) for _, centre in centres]
    ends = [attack.larger.support(k1) for k1, _ in attack.choices]
    floor = min((low for low, _ in ends if low is not None), default=None)
    top = max((high for _, high in ends if high is not None), default=None)
    low, high, wide = min(lows), max(highs), math.ceil(reach)
    if floor is not None:
        low, high = max(low, floor), max(high, floor + wide)
    if top is not None:
        low, high = min(low, top - wide), min(high, top)
        low = low if floor is None else max(low, floor)
    return range(low, high + 1)


def larger_given(attack: TwoLevels, released: Released, k1: int, counts: Floats) -> Floats:
    """P[X2 = k2 | X1 = k1, D] for the given counts (Z-T41)."""
    rate, centre = attack.bell(k1, released)
    low, high = attack.larger.support(k1)
    possible = (counts >= (-math.inf if low is None else low)) & (counts <= (math.inf if high is None else high))
    if not possible.any():
        raise ParameterError("larger", "leaves no count of the group for a value of the block's", "widen the prior", value=k1)
    exponent = np.where(possible, -float(rate) * (counts - float(centre)) ** 2, -math.inf)
    weights = np.exp(exponent - exponent.max())
    return np.asarray(weights / weights.sum())


def one_given(attack: TwoLevels, released: Released, counts: Floats, *, nested: bool = True) -> Floats:
    """P[X1 = known + 1 | X2 = k2, D] for the given counts (Z-T40); without the indicator k1 <= k2 when not `nested`."""
    from scipy.special import expit

    d, rho = attack.others, float(attack.rho_block)
    centre = (d * released.block + (counts - released.others)) / (d + 1)
    one, other = attack.known + 1, attack.known
    gain = (d + 1) / d * rho * ((other - centre) ** 2 - (one - centre) ** 2)
    weights = [float(attack.larger.weight(k1)) for k1, _ in attack.choices]
    if nested and not all(weights):
        return np.full(len(counts), float(weights[1] > 0))
    ratio = math.log(attack.prior / (1 - attack.prior)) + (math.log(weights[1] / weights[0]) if nested else 0.0)
    found = np.asarray(expit(gain + ratio))
    if nested and attack.larger.nested:
        found[counts < one] = 0.0
    return found


def gibbs(attack: TwoLevels, released: Released, *, sweeps: int = 10_000, seed: int = 0) -> Draws:
    """Gibbs sampling, started at X1 = known and a drawn X2 (Z-A2).

    >>> attack = TwoLevels(rho_block="0.09922635", rho_group="0.2464845", others=27, prior="1/2")
    >>> abs(gibbs(attack, Released(block=2, group=1, others=-1), sweeps=2000, seed=1).posterior - 0.5033) < 0.06
    True
    """
    counts = values(attack, released)
    grid = np.array(counts, dtype=float)
    tables = [list(accumulate(larger_given(attack, released, k1, grid).tolist())) for k1, _ in attack.choices]
    chances = one_given(attack, released, grid).tolist()
    last = len(counts) - 1
    uniforms = np.random.default_rng(seed).random((sweeps, 2)).tolist()
    one, ones, visited = 0, 0, Counter[int]()
    for for_larger, for_one in uniforms:
        place = min(bisect_right(tables[one], for_larger), last)
        one = int(for_one < chances[place])
        ones += one
        visited[place] += 1
    seen = tuple((counts[place], times) for place, times in sorted(visited.items()))
    return Draws(ones=ones, larger=seen, sweeps=sweeps)


@attrs.frozen(kw_only=True)
class Stationary:
    """The law in which a chain stays: P[X1 = known + 1], and the law of X2."""

    posterior: float
    larger: tuple[tuple[int, float], ...]


def stationary(attack: TwoLevels, released: Released, *, nested: bool = False) -> Stationary:
    """The stationary law of the chain, P1 = T01/(T01 + T10); by default of the one without the indicator (Z-A2, Z-X3).

    With it, the law is the posterior: that is what the chain was meant to sample.

    >>> attack = TwoLevels(rho_block="0.09922635", rho_group="0.2464845", others=27, prior="1/2")
    >>> released = Released(block=2, group=1, others=-1)
    >>> round(stationary(attack, released).posterior, 4), round(stationary(attack, released, nested=True).posterior, 4)
    (0.5777, 0.5033)
    """
    counts = values(attack, released)
    grid = np.array(counts, dtype=float)
    laws = [larger_given(attack, released, k1, grid) for k1, _ in attack.choices]
    chances = one_given(attack, released, grid, nested=nested)
    up, down = float(laws[0] @ chances), float(laws[1] @ (1 - chances))
    share = up / (up + down)
    mixed = (1 - share) * laws[0] + share * laws[1]
    return Stationary(posterior=share, larger=tuple(zip(counts, mixed.tolist(), strict=True)))
