"""What a release under a budget looks like: a count with geometric noise (Z-D4, Z-A9). No data are needed for it.

With r = e^-epsilon the noise K has P(K = k) = (1 - r)/(1 + r) r^|k|.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from dpspec.attacker import Relation, RiskStatement
from dpspec.errors import ParameterError
from dpspec.exact import Bracket, NumberLike
from dpspec_attackers.numeric import in_decay

NOISE = "two-sided geometric noise of this epsilon on a count that one record changes by 1"
DISTANCES = (1, 2, 4, 8)
"""Counts between the truth and a threshold, for which the chance of crossing it is told."""


def variance(epsilon: NumberLike | Bracket) -> Bracket:
    """2 r / (1 - r)^2.

    >>> str(variance("ln(3)"))
    '3/2'
    """
    return in_decay(epsilon, lambda r: 2 * r / ((1 - r) * (1 - r)))


def standard_deviation(epsilon: NumberLike | Bracket) -> Bracket:
    """sqrt(2 r) / (1 - r), the root mean squared error too.

    >>> str(standard_deviation("ln(3)"))
    'sqrt(3/2)'
    """
    return variance(epsilon).sqrt()


def exact_probability(epsilon: NumberLike | Bracket) -> Bracket:
    """P(K = 0) = (1 - r) / (1 + r): the released count is the true one.

    >>> str(exact_probability("ln(3)"))
    '1/2'
    """
    return in_decay(epsilon, lambda r: (1 - r) / (1 + r))


def flip_probability(epsilon: NumberLike | Bracket, distance: int) -> Bracket:
    """P(K <= -k) = r^k / (1 + r) for k >= 1: the release falls on the other side of a threshold k counts away.

    >>> str(flip_probability("ln(9)", 1))
    '1/10'
    """
    if distance < 1:
        raise ParameterError("distance", "must be a whole number of at least 1 count", value=distance)
    # r^k / (1 + r) rises in r for k >= 1
    return in_decay(epsilon, lambda r: r**distance / (1 + r))


def rounded_distance(rate: NumberLike, size: int, per: int = 1000) -> int:
    """The distance in counts of a rate from its threshold: round(rate size / per) (Z-S23).

    >>> [rounded_distance(rate, 4012) for rate in ("1/4", "1/2", 1, 2)]
    [1, 2, 4, 8]
    """
    return round(Fraction(str(rate)) * size / per)


def consequences(epsilon: NumberLike | Bracket, distances: Iterable[int] = DISTANCES) -> tuple[RiskStatement, ...]:
    """The row of a utility table as statements."""

    def said(quantity: str, at: tuple[tuple[str, str], ...], value: Bracket) -> RiskStatement:
        return RiskStatement(
            quantity=quantity, at=at, relation=Relation.EQUALS, value=value, theorem="Z-D4, Z-A9", assumption=NOISE
        )

    return (
        said("standard deviation of the noise", (), standard_deviation(epsilon)),
        said("probability that the count is exact", (), exact_probability(epsilon)),
        *(
            said("probability of crossing a threshold", (("counts away", str(k)),), flip_probability(epsilon, k))
            for k in distances
        ),
    )
