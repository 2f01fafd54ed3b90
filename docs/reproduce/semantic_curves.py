"""The curves of the frequentist and Bayesian source: tables of their values, and Figures 1 to 5."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

from dpspec_attackers.knowledge import OthersKnownPredicted, approximate, concentrated, pbdp, tail
from dpspec_census.configuration_2020 import rho_star, spending
from dpspec_divergences import MultDelta

from dpspec.base.exact import Bracket, number
from dpspec.laws.continuous import GaussianShift
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.integers import DiscreteGaussianShift
from dpspec.laws.loss import compose
from dpspec.laws.trade_off import largest_power
from dpspec.report.figures import CurvePanel
from reproduce.layout import Table, beside, bound, curve, falling, middle
from reproductions import scenarios as scenario_curves

RHO = "2.63"
LEVELS = ("0.01", "0.05", "0.10")
_NO_PRINT = "The source prints the curves without numbers; in brackets is what was computed beforehand, with other code."
_DELTAS = ("approximate", "raw tail", "pbdp, class c", "zCDP, class d", "class b")

PRODUCTION = """
0.5 0.681419 0.823484 0.994697 1 0.606531
1 0.607138 0.761369 0.973177 1 0.367879
2 0.447473 0.608224 0.865158 1 0.135335
3 0.294350 0.435918 0.679457 0.987071 0.0491434
4 0.170243 0.275137 0.462292 0.836597 0.0153228
5 0.0855345 0.150716 0.269126 0.586299 0.00395045
6 0.0369791 0.0708635 0.132940 0.339747 8.42149e-4
8 0.00428234 0.00960498 0.0193933 0.0644961 2.1636e-5
10 2.53585e-4 6.55701e-4 1.39316e-3 5.72334e-3 2.59839e-7
12 7.4827e-6 2.19897e-5 4.84754e-5 2.37412e-4 1.45871e-9
15 9.92339e-9 3.45345e-8 7.91582e-8 4.81995e-7 1.47443e-13
"""
NOISE = """
1 0.973
4 0.462
8 0.0194
10 0.00139
"""
BLOCK = """
0.1 0.148189 0.509714 0.929205 1 0.904837
0.25 0.0996206 0.384650 0.758618 0.957902 0.746015
0.5 0.0443047 0.205341 0.441305 0.712901 0.432396
0.75 0.0160853 0.0881718 0.200194 0.400883 0.189364
1 0.00469075 0.0299517 0.0705793 0.170328 0.0626603
1.5 1.97195e-4 1.63941e-3 4.04193e-3 0.0132638 2.95955e-3
2 3.07246e-6 3.17891e-5 8.03862e-5 3.36644e-4 4.55598e-5
"""
EPSILONS = """
0.1 4.79065 6.34757 7.55171 2.30259
0.05 5.66093 7.10556 8.24383 2.98383
0.01 7.28315 8.55781 9.59034 4.33034
1e-3 9.08938 10.21862 11.15465 5.89465
1e-6 12.99263 13.90458 14.68567 9.42567
1e-10 16.74198 17.51700 18.19380 12.93380
"""
BY_RHO = """
0.1115 0.4514 0.9230 1.0714 1.3601 1.6945 2.4445
0.555 1.2307 2.3260 2.6640 3.3172 4.0698 5.7508
0.926 1.7513 3.1904 3.6308 4.4798 5.4558 7.6316
1.32 2.2614 4.0018 4.5312 5.5497 6.7185 9.3205
2.63 3.8249 6.3476 7.1056 8.5578 10.2186 13.9046
"""
POWERS = """
0.1115 0.0044 0.0319 0.1205 0.2092 0.3559 0.4792 0.6816 0.8405 0.9603
0.555 0.0208 0.1015 0.2772 0.4098 0.5839 0.7017 0.8540 0.9427 0.9902
0.926 0.0419 0.1672 0.3882 0.5316 0.6982 0.7986 0.9132 0.9703 0.9959
1.32 0.0714 0.2415 0.4920 0.6343 0.7832 0.8644 0.9479 0.9842 0.9982
2.63 0.2128 0.4869 0.7417 0.8442 0.9267 0.9616 0.9891 0.9976 0.9998
"""

Numbers = Callable[[str], Sequence[Bracket | float]]


def gaussian(rho: str) -> GaussianShift:
    """The pair of Gaussians with mu^2 = 2 rho."""
    return GaussianShift(number(2 * Fraction(rho)))


@cache
def production() -> Dichotomy:
    """The discrete noise of the whole file: 71 budgets, two cells each."""
    return compose((DiscreteGaussianShift(1, 1 / rho_star(query, at)), 2) for query, at in spending())


@cache
def discrete_power(level: str) -> Bracket:
    """The power against the discrete noise."""
    return largest_power(production(), level)


@cache
def discrete_delta(epsilon: str) -> float:
    """The delta of pbdp of the discrete noise: the least H(x)/(1 - e^(x - epsilon)) over x < epsilon, H the hockey stick.

    The least one is sought for the Gaussian of this rho; where it is flat, a place that is slightly off does not matter.
    """
    top = Fraction(epsilon)

    def bound(pair: Dichotomy, place: Fraction) -> float:
        return middle(pair.hockey_stick(place)) / -math.expm1(place - top)

    best = min((top - Fraction(k, 16) for k in range(1, 96)), key=lambda place: bound(gaussian(RHO), place))
    return bound(production(), best)


def deltas(rho: str) -> Numbers:
    """The five numbers of a row of Figures 1 and 3 to 5, Figures 7 to 9."""
    pair = gaussian(rho)
    return lambda epsilon: (
        *(kind(pair, epsilon).value for kind in (approximate, tail, pbdp)),
        concentrated(rho, epsilon).value,
        OthersKnownPredicted.concentrated(rho, epsilon),
    )


def epsilons(delta: str) -> Sequence[Bracket]:
    """The four numbers of a row of Figures 1 and 3 to 5."""
    return (
        MultDelta(delta=delta).evaluate(gaussian(RHO)),
        scenario_curves.epsilon_given_truth(RHO, delta),
        scenario_curves.epsilon_any_prior(RHO, delta),
        scenario_curves.epsilon_of_predictive(RHO, delta),
    )


def by_rho(number_of: Callable[[str, str], Bracket], places: Sequence[str]) -> Numbers:
    """A row over places for one rho."""
    return lambda rho: [number_of(rho, place) for place in places]


def compared(heading: str, columns: Sequence[str], numbers: Numbers, values: str, remark: str = _NO_PRINT) -> Table:
    """A table whose rows start with what `numbers` takes, and go on with the numbers to compare with."""
    rows = []
    for first, *others in map(str.split, values.strip().splitlines()):
        rows.append((first, *(beside(x, y, 6) for x, y in zip(numbers(first), others, strict=True))))
    return Table(heading=heading, columns=tuple(columns), rows=tuple(rows), remark=remark)


def tables() -> tuple[Table, ...]:
    """Figures 1 and 3 to 5, Figures 7 to 9, Figures 4, 8, 11, 13 and 15, Figures 2, 6, 10, 12 and 14."""
    at = ("0.5", "0.1", "0.05", "0.01", "1e-3", "1e-6")
    levels = ("0.001", "0.01", "0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "0.9")
    below = f"{_NO_PRINT} For epsilon up to rho the printed formula of class b is not valid, and e^-epsilon stands there."
    return (
        compared("Figures 1 and 3 to 5: delta at epsilon, rho = 2.63", ("epsilon", *_DELTAS), deltas(RHO), PRODUCTION, below),
        compared(
            "Figure 1: delta of pbdp, rho = 2.63, discrete noise", ("epsilon", "delta"), lambda e: [discrete_delta(e)], NOISE
        ),
        compared("Figures 1 and 3 to 5: epsilon at delta, rho = 2.63", ("delta", _DELTAS[0], *_DELTAS[2:]), epsilons, EPSILONS),
        compared(
            "Figures 7 to 9: delta at epsilon, scenario A, rho = 0.1115", ("epsilon", *_DELTAS), deltas("0.1115"), BLOCK, below
        ),
        compared(
            "Figures 4, 8, 11, 13 and 15: epsilon of class c at delta",
            ("rho", *at),
            by_rho(scenario_curves.epsilon_given_truth, at),
            BY_RHO,
        ),
        compared(
            "Figures 2, 6, 10, 12 and 14: power of a test at a level",
            ("rho", *levels),
            by_rho(scenario_curves.power, levels),
            POWERS,
        ),
    )


def charts() -> tuple[CurvePanel, ...]:
    """Figures 1 to 5; 6 to 15 are with the scenarios of the census."""
    rows = [(k / 4, deltas(RHO)(f"{k}/4")) for k in range(1, 61)]
    named = [falling(name, [(x, middle(row[i])) for x, row in rows]) for i, name in enumerate(_DELTAS)]
    grid = [Fraction(k * k, 441) for k in range(1, 21)]
    powers = [
        bound("zCDP bound", [(float(a), scenario_curves.power_bound(RHO, a)) for a in grid]),
        curve("Gaussian", [(float(a), middle(scenario_curves.power(RHO, a))) for a in grid]),
        curve("discrete noise", [(float(a), middle(discrete_power(a))) for a in LEVELS], joined=False),
    ]
    dots = curve("pbdp, discrete noise", [(float(e), discrete_delta(e)) for e in NOISE.split()[::2]], joined=False)
    return (
        CurvePanel(title="Figure 1: delta, rho = 2.63", axis="epsilon", lines=(named[0], named[2], named[3], dots), powers=True),
        CurvePanel(title="Figure 2: power, rho = 2.63", axis="level", lines=tuple(powers)),
        CurvePanel(
            title="Figures 3 to 5: delta by class of knowledge",
            axis="epsilon",
            lines=(named[4], named[2], named[3]),
            powers=True,
        ),
    )
