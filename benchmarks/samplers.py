"""Exact integer noise by the million: geometric, discrete Laplace and discrete Gaussian, and OpenDP where it is installed.

    python benchmarks/samplers.py --write benchmarks/samplers.json

Each line draws as a release does: from the keyed generator, through the sampler that the width of the law calls for. Times are
processor time, the best of three, after the table of the law is made; making it is timed separately. Goals are millions of draws
a second and core.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from dpspec_noise import DiscreteGaussian, Geometric

from dpspec.base.randomness import SystemRandomness
from dpspec.blocks.invariant import Marginal

QUERIES = (Marginal(attributes=()),)
DRAWS, PEER = 4_000_000, 20_000


def geometric(ratio: str) -> Geometric:
    """Geometric noise by its ratio."""
    return Geometric(queries=QUERIES, ratio=Fraction(ratio))


def laplace(scale: int) -> Geometric:
    """Discrete Laplace noise by its scale."""
    return Geometric(queries=QUERIES, epsilon=Fraction(1, scale))


def gaussian(variance: Fraction) -> DiscreteGaussian:
    """Discrete Gaussian noise by its variance."""
    return DiscreteGaussian(queries=QUERIES, sensitivities=(1,), variance=variance)


LINES = [
    *((f"geometric, ratio {ratio}", geometric(ratio), 10.0) for ratio in ("0.5", "0.9", "0.999", "0.99999", "0.999999999")),
    *((f"discrete Laplace, scale {scale:,}", laplace(scale), 20.0) for scale in (1, 100, 10_000, 1_000_000)),
    *(
        (f"discrete Gaussian, variance {variance}", gaussian(variance), 10.0 if variance > 10**6 else 30.0)
        for variance in map(Fraction, (Fraction(1, 4), 1, Fraction(271, 17), 10**4, 10**6, 10**8, 10**12))
    ),
]
"""The name, the mechanism that draws, and the goal."""


def best(draw: Callable[[int], object], count: int, repeats: int = 3) -> float:
    """Millions of draws a second."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        draw(count)
        times.append(time.process_time() - begin)
    return count / min(times) / 1e6


def peer(mechanism: Geometric | DiscreteGaussian) -> float | None:
    """OpenDP on a vector of integers."""
    if importlib.util.find_spec("opendp") is None:
        return None
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if isinstance(mechanism, DiscreteGaussian):
        measurement = dp.m.make_gaussian(domain, dp.l2_distance(T="i64"), float(mechanism.variance) ** 0.5)
    else:
        measurement = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), 1 / float(mechanism.decay()))
    return best(lambda count: measurement([0] * count), PEER)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    source, rows = SystemRandomness(), []
    for name, mechanism, goal in LINES:
        begin = time.process_time()
        mechanism.draw(1 << 15, source)
        first = time.process_time() - begin
        other = peer(mechanism)
        rows.append(
            {
                "line": name,
                "millions_per_second": round(best(lambda count, m=mechanism: m.draw(count, source), DRAWS), 2),
                "goal": goal,
                "first_draws_seconds": round(first, 4),
                "opendp_millions_per_second": None if other is None else round(other, 4),
            }
        )
        print(rows[-1], flush=True)
    if arguments.write is not None:
        arguments.write.write_text(json.dumps({"lines": rows}, indent=2) + "\n", encoding="utf-8")
    return 0 if all(row["millions_per_second"] >= row["goal"] for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
