"""Composition against another accountant, dp-accounting 0.6, in the same run where it is installed.

    python benchmarks/composition.py [--write benchmarks/composition.json]

Every line: the best of several runs with cold caches, theirs, and the ratio (above 1 we are faster); then our interval and
their point, and where that is below our lower end, and so no upper bound, or below our upper one. The goal: never slower, never
less tight, an interval where they have a point.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import math
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import attrs

from dpspec.base.exact import Bracket, number
from dpspec.laws import integers
from dpspec.laws.atoms import FiniteDichotomy
from dpspec.laws.continuous import GaussianShift, LaplaceShift
from dpspec.laws.integers import DiscreteGaussianShift
from dpspec.laws.loss import compose

DELTA = "1e-10"
MANY = 10_000

PERSONS = (104, 1440, 447, 687, 1256, 165)
"""Persons' shares of the levels from the nation to the block, in 4099ths (Kifer et al. 2022, Table 4)."""
HOUSING = tuple(map(Fraction, ("1/205", "1/205", "7/82", "364/1025", "1759/4100", "99/820")))
QUERIES = """0 3773/4097 3126/4097 1567/4102 1705/4099 5/4097
52/4097 6/4097 10/4097 4/2051 3/4099 9/4097
26/4097 6/4097 10/4097 5/4102 3/4099 5/4097
26/4097 6/4097 10/4097 5/4102 3/4099 5/4097
26/4097 6/4097 10/4097 5/4102 3/4099 5/4097
26/4097 6/4097 10/4097 5/4102 3/4099 5/4097
130/4097 12/4097 28/4097 1933/4102 1055/4099 21/4097
130/4097 12/4097 28/4097 10/2051 9/4099 21/4097
26/4097 6/4097 10/4097 5/4102 3/4099 5/4097
26/241 2/241 101/4097 67/4102 24/4099 71/4097
189/241 230/4097 754/4097 241/2051 1288/4099 3945/4097"""
"""What each query gets of a level (Kifer et al. 2022, Table 5)."""


def ledger() -> Counter[Fraction]:
    """The rho* of the 71 measurements of the 2020 redistricting file, equal ones counted."""
    rows = [tuple(map(Fraction, row.split())) for row in QUERIES.splitlines()]
    persons = [Fraction("2.56") * Fraction(share, 4099) * row[i] for i, share in enumerate(PERSONS) for row in rows if row[i]]
    return Counter(persons + [Fraction("0.07") * share for share in HOUSING])


@attrs.frozen
class Case:
    """What is timed: our way, theirs, and how often each is run."""

    name: str
    ours: Callable[[], Bracket]
    theirs: Callable[[Any], float]
    repeats: int = 3
    their_repeats: int = 3


def gaussians() -> Case:
    """10,000 Gaussians, no two of one scale, sigma^2 = 40,000 + 7 i: exact, since mu^2 adds."""
    variances = [40_000 + 7 * i for i in range(MANY)]

    def theirs(pld: Any) -> float:
        total = pld.from_gaussian_mechanism(math.sqrt(variances[0]))
        for variance in variances[1:]:
            total = total.compose(pld.from_gaussian_mechanism(math.sqrt(variance)))
        return float(total.get_epsilon_for_delta(1e-10))

    def ours() -> Bracket:
        return compose((GaussianShift(number(Fraction(1, variance))), 1) for variance in variances).epsilon_at(DELTA)

    return Case("gaussians", ours, theirs, their_repeats=1)


def discrete_gaussian(sigma: int) -> Case:
    """One discrete Gaussian to the epsilon at 1e-6."""
    return Case(
        f"discrete gaussian {sigma}",
        lambda: DiscreteGaussianShift(1, Fraction(sigma**2)).epsilon_at("1e-6"),
        lambda pld: float(pld.from_discrete_gaussian_mechanism(sigma).get_epsilon_for_delta(1e-6)),
        50,
        50,
    )


def census(interval: float) -> Case:
    """The whole 2020 ledger: 71 discrete Gaussians, sigma^2 = 1/rho*, two cells change by 1 in each."""
    budgets = ledger()

    def theirs(pld: Any) -> float:
        total = None
        for rho, count in budgets.items():
            one = pld.from_discrete_gaussian_mechanism(math.sqrt(1 / rho), value_discretization_interval=interval)
            power = one.self_compose(2 * count)
            total = power if total is None else total.compose(power)
        return float(total.get_epsilon_for_delta(1e-10))

    def ours() -> Bracket:
        parts = ((DiscreteGaussianShift(1, 1 / rho), 2 * count) for rho, count in budgets.items())
        return compose(parts).epsilon_at(DELTA)

    return Case(f"census {interval:g}", ours, theirs, 3, 1)


def census_curve() -> Case:
    """The same at 40 values of epsilon: the curve (theirs with its interval 1e-3)."""
    budgets, grid = ledger(), [Fraction(i, 2) for i in range(1, 41)]

    def theirs(pld: Any) -> float:
        total = None
        for rho, count in budgets.items():
            one = pld.from_discrete_gaussian_mechanism(math.sqrt(1 / rho), value_discretization_interval=1e-3)
            power = one.self_compose(2 * count)
            total = power if total is None else total.compose(power)
        return float(total.get_delta_for_epsilon([float(epsilon) for epsilon in grid])[9])

    def ours() -> Bracket:
        pair = compose((DiscreteGaussianShift(1, 1 / rho), 2 * count) for rho, count in budgets.items())
        return [pair.hockey_stick(epsilon) for epsilon in grid][9]

    return Case("census curve", ours, theirs, 3, 1)


def response(excess: int) -> Case:
    """Randomised response 10,000 times, truth told with probability 1/2 + excess/2000."""
    keep, flip = 1000 + excess, 1000 - excess
    return Case(
        f"response {excess}",
        lambda: compose([(FiniteDichotomy((keep, flip), (flip, keep), 2000, 2000), MANY)]).epsilon_at(DELTA),
        lambda pld: float(pld.from_randomized_response(flip / 1000, 2).self_compose(MANY).get_epsilon_for_delta(1e-10)),
        3,
        1,
    )


def laplace(scale: int) -> Case:
    """Laplace noise 10,000 times, on a grid."""
    return Case(
        f"laplace {scale}",
        lambda: compose([(LaplaceShift(number(Fraction(1, scale))), MANY)]).epsilon_at(DELTA),
        lambda pld: float(pld.from_laplace_mechanism(scale).self_compose(MANY).get_epsilon_for_delta(1e-10)),
        3,
        1,
    )


CASES = (
    gaussians(),
    *map(discrete_gaussian, (1, 10, 100)),
    *map(census, (1e-3, 1e-4)),
    census_curve(),
    *map(response, (5, 50)),
    *map(laplace, (100, 10)),
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


def row(case: Case, pld: Any) -> dict[str, Any]:
    """One line of the results."""
    seconds, bracket = best(case.ours, case.repeats)
    lower, upper = bracket.ends()
    found: dict[str, Any] = {"case": case.name, "seconds": round(seconds, 7), "lower": lower, "upper": upper}
    if pld is not None:
        their_seconds, point = best(lambda: case.theirs(pld), case.their_repeats)
        found |= {
            "their_seconds": round(their_seconds, 7),
            "ratio": round(their_seconds / seconds, 2),
            "their_point": point,
            "as_tight": bool(bracket.upper <= Fraction(point)),
            "theirs_is_too_low": bool(bracket.lower > Fraction(point)),
        }
    return found


def text(line: dict[str, Any]) -> str:
    shown = f"{line['case']:22} {line['seconds'] * 1000:10.3f} ms   [{float(line['lower']):.10g}, {float(line['upper']):.10g}]"
    if "ratio" in line:
        verdict = "   no upper bound" if line["theirs_is_too_low"] else "" if line["as_tight"] else "   theirs is lower"
        shown += f"   theirs {line['their_seconds'] * 1000:11.3f} ms  x{line['ratio']:<8g} {line['their_point']:.10g}{verdict}"
    return shown


def reached(line: dict[str, Any]) -> bool:
    """Not slower, and not less tight than a point that is an upper bound."""
    return "ratio" not in line or (line["ratio"] >= 1 and (line["as_tight"] or line["theirs_is_too_low"]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="where to write the results as JSON")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    pld, names = None, ["dpspec", "python-flint", "numpy", "scipy"]
    if importlib.util.find_spec("dp_accounting"):
        from dp_accounting.pld import privacy_loss_distribution as pld

        names.append("dp-accounting")
    rows = []
    for case in CASES:
        rows.append(row(case, pld))
        print(text(rows[-1]), flush=True)
    if arguments.write is not None:
        versions = {name: version(name) for name in names}
        machine = {"python": platform.python_version(), "system": platform.system(), "processors": os.cpu_count()}
        results = json.dumps({"versions": versions, "machine": machine, "cases": rows}, indent=2)
        arguments.write.write_text(results + "\n", encoding="utf-8")
    return 0 if all(map(reached, rows)) else 1


if __name__ == "__main__":
    sys.exit(main())
