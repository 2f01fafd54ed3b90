"""Numbers for people: Clopper-Pearson intervals, the divergence that they show, and what a test could have found."""

from __future__ import annotations

import math

from flint import arb
from scipy.special import betaincinv

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.exact import Bracket, rational
from dpspec.verify.sampled.null import Null, kl

CONFIDENCE = 0.999
_LARGEST = 64.0


def interval(hits: int, size: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The two-sided Clopper-Pearson interval for hits out of size.

    >>> [round(end, 4) for end in interval(0, 1000, 0.95)]
    [0.0, 0.0037]
    """
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, size - hits + 1, tail))
    high = 1.0 if hits == size else float(betaincinv(hits + 1, size - hits, 1 - tail))
    return low, high


def bracket(ends: tuple[float, float]) -> Bracket:
    """An interval of probabilities as a bracket, rounded outwards to six digits."""
    low, high = math.floor(ends[0] * 1e6) / 1e6, math.ceil(ends[1] * 1e6) / 1e6
    return Bracket(lower=Bracket.exactly(rational(low)).lower, upper=Bracket.exactly(rational(min(high, 1.0))).upper)


def least_bound(divergence: OutputDivergence, p: float, q: float) -> float:
    """About the least bound on the divergence that allows (p, q); infinity when it is beyond 64."""
    low, high = 0.0, _LARGEST
    if _allowed(divergence, high, q) < p:
        return math.inf
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if _allowed(divergence, middle, q) >= p else (middle, high)
    return high


def _allowed(divergence: OutputDivergence, bound: float, q: float) -> float:
    return float(divergence.largest_probability(arb(q), arb(bound)).mid())


def detectable(null: Null, mass: float, draws: int, log_needed: float, quantile: float = 2.33) -> float | None:
    """The divergence at an event of the given mass under x that `draws` draws find with 99 % power; None when there is none.

    By the normal approximation of the log-wealth of the best bet; the lowest q counts, so that a smaller divergence is missed.
    """
    low, high = 0.0, mass

    def finds(q: float) -> bool:
        point = null.projection(mass, q)
        if point is None:
            return False
        pays = (mass / point[0], (1 - mass) / (1 - point[0]), q / point[1], (1 - q) / (1 - point[1]))
        chances = (mass / 2, (1 - mass) / 2, q / 2, (1 - q) / 2)
        mean = (kl(mass, point[0]) + kl(q, point[1])) / 2
        square = sum(chance * math.log(pay) ** 2 for chance, pay in zip(chances, pays, strict=True) if chance)
        return draws * mean - quantile * math.sqrt(draws * max(square - mean**2, 0.0)) >= log_needed

    least = mass * 1e-6
    if not finds(least):
        return None
    low = least
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if finds(middle) else (low, middle)
    return least_bound(null.divergence, mass, low)
