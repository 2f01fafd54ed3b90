"""The two kinds of noise of an adaptive release, each with the budget that it spends, and the choice that it makes.

A replaced person leaves at most m groups of an iteration level and enters at most m: at most 2m counts of one stage move,
each by 1. So discrete Gaussian noise of variance m/rho spends rho (B-T15), and geometric noise whose ratio is
e^(-epsilon/(2m)) spends epsilon (B-O51).
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from fractions import Fraction

import attrs
from dpspec_noise import DiscreteGaussian, Geometric
from dpspec_noise.additive import AdditiveNoise

from dpspec.blocks.invariant import Marginal
from dpspec.exact import Number, number
from dpspec.laws import FiniteLaw, Law, PushForward, TwoSidedGeometric
from dpspec_census.safetab.design import IterationLevel, PopulationLevel

_ONE_COUNT = (Marginal(attributes=()),)


def gaussian_noise(rho: Number, most: int) -> DiscreteGaussian:
    """Discrete Gaussian noise that spends rho where 2m counts move by 1.

    >>> from dpspec.exact import number
    >>> gaussian_noise(number("1/5"), 3).variance
    Fraction(15, 1)
    """
    return DiscreteGaussian(queries=_ONE_COUNT, sensitivities=(number(2 * most).sqrt(),), variance=most / rho.as_fraction())


def geometric_noise(epsilon: Number, most: int) -> Geometric:
    """Two-sided geometric noise that spends epsilon where 2m counts move by 1.

    >>> from dpspec.exact import number
    >>> str(geometric_noise(number("4*ln(3)"), 2).decay())
    'ln(3)'
    """
    return Geometric(queries=_ONE_COUNT, sensitivity=Fraction(2 * most), epsilon=epsilon)


@attrs.frozen
class Reached:
    """How many of the thresholds a noisy total reaches: the number of the table that is chosen.

    >>> [Reached((5, 20))(total) for total in (-3, 4, 5, 19, 20)]
    [0, 0, 1, 1, 2]
    """

    thresholds: tuple[int, ...]

    def __call__(self, total: int) -> int:
        return bisect_right(self.thresholds, total)


def choice_law(total: Law, thresholds: tuple[int, ...]) -> Law:
    """The law of the table that a noisy total chooses; with rational chances for geometric noise of a rational ratio.

    >>> choice_law(TwoSidedGeometric.with_ratio(1, "1/2"), (2,))
    FiniteLaw({0: 2/3, 1: 1/3})
    """
    if not isinstance(total, TwoSidedGeometric) or total.ratio is None:
        return PushForward(total, Reached(thresholds))
    reached = [Fraction(1), *(total.at_least(threshold) for threshold in thresholds), Fraction(0)]
    return FiniteLaw.of({k: more - less for k, (more, less) in enumerate(itertools.pairwise(reached))})


@attrs.frozen(kw_only=True)
class Planned:
    """An iteration level with the noise of its stages.

    Args:
        level: the iteration level.
        population: its population level.
        choosing: the noise on the totals that choose a table; None where there is one table only.
        filling: the noise on the tables.
    """

    level: IterationLevel
    population: PopulationLevel
    choosing: AdditiveNoise | None
    filling: AdditiveNoise
