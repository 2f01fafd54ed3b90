"""Exact discrete Gaussian noise by the million: table inversion, rejection, and OpenDP where it is installed.

    python benchmarks/samplers.py --write benchmarks/samplers.json

Goal: ten million draws a second and core for sigma from 0.5 to 1,000. Times are processor time, the best of three, after
the table of the law is made; that is timed apart. Words come from the keyed generator of a release.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from dpspec_noise.samplers import discrete_gaussian, inverted

from dpspec.base.randomness import SystemRandomness
from dpspec.laws.integers import DiscreteGaussianLaw

GOAL = 10.0
VARIANCES = (Fraction(1, 4), Fraction(1), Fraction(10), Fraction(271, 17), Fraction(10**4), Fraction(10**6))
TABLE, REJECTION, PEER = 4_000_000, 200_000, 20_000


def best(draw: Callable[[int], object], count: int, repeats: int = 3) -> float:
    """Millions of draws a second."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        draw(count)
        times.append(time.process_time() - begin)
    return count / min(times) / 1e6


def peer(variance: Fraction) -> float | None:
    """OpenDP on a vector of integers."""
    if importlib.util.find_spec("opendp") is None:
        return None
    import opendp.prelude as dp

    dp.enable_features("contrib")
    measurement = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64"), float(variance) ** 0.5)
    return best(lambda count: measurement([0] * count), PEER)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    source, rows = SystemRandomness(), []
    for variance in VARIANCES:
        law = DiscreteGaussianLaw(0, variance)
        begin = time.process_time()
        inverted(law, 1, source)
        table = time.process_time() - begin
        speed = best(lambda count, law=law: inverted(law, count, source), TABLE)
        rejection = best(lambda count, v=variance: discrete_gaussian(source, count, variance=v), REJECTION)
        rows.append(
            {
                "variance": str(variance),
                "millions_per_second": round(speed, 2),
                "table_seconds": round(table, 4),
                "rejection_millions_per_second": round(rejection, 3),
                "opendp_millions_per_second": None if (found := peer(variance)) is None else round(found, 4),
            }
        )
        print(rows[-1], flush=True)
    if arguments.write is not None:
        arguments.write.write_text(json.dumps({"goal": GOAL, "cases": rows}, indent=2) + "\n", encoding="utf-8")
    return 0 if all(row["millions_per_second"] >= GOAL for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
