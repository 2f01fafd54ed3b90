"""What others derive from a tolerated risk: Lee and Clifton 2011, and Wood et al. (Z-D35, Z-D36, Z-A24)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TypeVar

from dpspec.errors import ParameterError
from dpspec.exact import Bracket, NumberLike, rational
from dpspec_attackers.numeric import fmpq_of, in_decay
from dpspec_attackers.profiles.points import OneMissing

Record = TypeVar("Record")


def lee_clifton(size: int, posterior: NumberLike, change: NumberLike = 1, spread: NumberLike = 1) -> Bracket:
    """(change/spread) ln((n - 1) posterior/(1 - posterior)): one of n public individuals is missing, Laplace noise (Z-D35).

    At change = spread it is what the profile `one-missing` gives from the budget alone, for any mechanism (Z-T52).

    Args:
        size: n, the number of individuals.
        posterior: the largest tolerated belief in who is missing, at least 1/n.
        change, spread: the two sensitivities, from the population; see `sensitivities`.

    >>> str(lee_clifton(4, "1/3")), str(lee_clifton(4, "1/3", change=2, spread=4))
    ('ln(3/2)', '1/2*ln(3/2)')
    """
    largest, widest = rational(change, "change"), rational(spread, "spread")
    if largest <= 0 or widest <= 0:
        raise ParameterError("change, spread", "must be above 0", "take them from `sensitivities`", value=f"{change}, {spread}")
    found = OneMissing(size=size, posterior=rational(posterior, "posterior")).recommend().value
    return found.scaled(largest / widest)


def sensitivities(
    population: Sequence[Record], statistic: Callable[[tuple[Record, ...]], NumberLike]
) -> tuple[Fraction, Fraction]:
    """The two sensitivities of Lee and Clifton, over a *public* population: (change, spread) (Z-D35).

    change = max abs(T(Y1) - T(Y2)) over Y2 in Y1 in P of sizes n - 2 and n - 1; spread = the same over Y1, Y2 of size n - 1.

    >>> sensitivities((1, 2, 4, 9), sum)
    (Fraction(9, 1), Fraction(8, 1))
    """
    size = len(population)
    if size < 3:
        raise ParameterError("population", "must hold at least three individuals", value=size)

    def value(kept: tuple[int, ...]) -> Fraction:
        return rational(statistic(tuple(population[i] for i in kept)), "statistic")

    without_one = {kept: value(kept) for kept in combinations(range(size), size - 1)}
    change = max(
        abs(whole - value(kept[:place] + kept[place + 1 :])) for kept, whole in without_one.items() for place in range(size - 1)
    )
    return change, max(without_one.values()) - min(without_one.values())


def wood_bound(without: NumberLike, epsilon: NumberLike | Bracket) -> Bracket:
    """a0/(a0 + e^(-2 epsilon)(1 - a0)): the largest posterior with the target in, where it is a0 with the target out (Z-D36).

    It has the shape of the bound for p = 1 here, with the prior q in the place of a0 (Z-T53).

    >>> wood_bound("1/100", "1/2").upper.decimal(6)
    '0.0267236'
    """
    base = rational(without, "without")
    if not 0 <= base <= 1:
        raise ParameterError("without", "must lie in [0, 1]", value=str(without))
    a, rest = fmpq_of(base), fmpq_of(1 - base)
    if base == 0:
        return Bracket.exactly(0)
    return in_decay(epsilon, lambda y: a / (a + y * y * rest))
