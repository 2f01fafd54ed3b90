"""What the best test gains, against riskcal 1.5 where it is installed: the lines "advantage" and "power at 5 %" of risk.py.

Both sides begin with the mechanism: what is released, how often. Ours is an interval, proved whatever the rounding and printed as
floats; theirs is a point meant as an upper bound: a closed form for one Gaussian, else the discretised loss of dp-accounting.
`ratio` is their time over ours, in one run.
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from dpspec.base.exact import Bracket, number
from dpspec.laws import integers
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.continuous import GaussianShift, LaplaceShift
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.integers import DiscreteGaussianShift
from dpspec.laws.products import power
from dpspec.laws.trade_off import largest_power

LEVEL = Fraction(1, 20)
ANSWERS = 100


class Release(NamedTuple):
    """A release; its pair of laws; and the other library's advantage and power."""

    name: str
    pair: Callable[[], Dichotomy]
    advantage_of: Callable[[Any, Any], float]
    power_of: Callable[[Any, Any], float]


def released(name: str, pair: Callable[[], Dichotomy], losses: Callable[[Any], Any]) -> Release:
    """A composition, whose privacy loss the other library discretises."""
    return Release(
        name,
        pair,
        lambda analysis, pld: float(analysis.get_advantage_from_pld(losses(pld))),
        lambda analysis, pld: 1 - float(analysis.get_beta_from_pld(losses(pld), alpha=float(LEVEL))),
    )


def answers() -> FiniteDichotomy:
    """Randomised response with odds 11 to 10, 100 times: the number of true answers is all that a test needs."""
    ways = [math.comb(ANSWERS, k) for k in range(ANSWERS + 1)]
    near = tuple(way * 11**k * 10 ** (ANSWERS - k) for k, way in enumerate(ways))
    return FiniteDichotomy(near, near[::-1], 21**ANSWERS, 21**ANSWERS)


RELEASES = (
    Release(
        "a Gaussian, mu = 1",
        lambda: GaussianShift(number(1)),
        lambda analysis, _: float(analysis.get_advantage_from_gdp(1.0)),
        lambda analysis, _: 1 - float(analysis.get_beta_from_gdp(1.0, float(LEVEL))),
    ),
    released(
        "50 discrete Gaussians, sigma = 5",
        lambda: power(DiscreteGaussianShift(1, Fraction(25)), 50),
        lambda pld: pld.from_discrete_gaussian_mechanism(5.0).self_compose(50),
    ),
    released(
        "100 Laplace releases, scale 10",
        lambda: power(LaplaceShift(number("1/10")), 100),
        lambda pld: pld.from_laplace_mechanism(10.0).self_compose(100),
    ),
    released(
        "100 randomised responses, odds 11 to 10",
        answers,
        lambda pld: pld.from_randomized_response(20 / 21, 2).self_compose(ANSWERS),
    ),
)


def best(run: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The shortest of several runs with cold caches, and what it found."""
    seconds, found = math.inf, None
    for _ in range(repeats):
        integers._normaliser.cache_clear()
        integers._gaussian_tail.cache_clear()
        start = time.perf_counter()
        found = run()
        seconds = min(seconds, time.perf_counter() - start)
    return seconds, found


def rows(repeats: int) -> list[dict[str, Any]]:
    """Two lines for every release; without their side where riskcal is missing, and it says so."""
    peers = None
    if importlib.util.find_spec("riskcal") and importlib.util.find_spec("dp_accounting"):
        from dp_accounting.pld import privacy_loss_distribution as pld
        from riskcal import analysis

        peers = (analysis, pld)
    else:
        print("riskcal is not installed: its side of the lines on advantage and power is left out")
    return [
        row(f"{what}: {release.name}", ours, theirs, peers, repeats)
        for release in RELEASES
        for what, ours, theirs in (
            ("advantage", lambda it=release: it.pair().total_variation(), release.advantage_of),
            ("power at 5 %", lambda it=release: largest_power(it.pair(), LEVEL), release.power_of),
        )
    ]


def row(name: str, ours: Callable[[], Bracket], theirs: Callable[..., float], peers: Any, repeats: int) -> dict[str, Any]:
    seconds, bracket = best(ours, repeats)
    ends = {"lower": float(bracket.lower), "upper": float(bracket.upper)}
    found: dict[str, Any] = {"case": name, "seconds": round(seconds, 7), **ends}
    if peers is not None:
        their_seconds, point = best(lambda: theirs(*peers), repeats)
        side = "below" if bracket.lower > Fraction(point) else "above" if bracket.upper < Fraction(point) else "inside"
        found |= {"their_seconds": round(their_seconds, 7), "ratio": round(their_seconds / seconds, 2)}
        found |= {"their_point": point, "their_point_is": side}
    return found


def text(line: dict[str, Any]) -> str:
    shown = f"{line['case']:53} {line['seconds'] * 1000:8.3f} ms   [{line['lower']:.8f}, {line['upper']:.8f}]"
    if "ratio" in line:
        shown += f"   riskcal {line['their_seconds'] * 1000:8.3f} ms  x{line['ratio']:<7g}"
        shown += f" {line['their_point']:.8f} {line['their_point_is']}"
    return shown
