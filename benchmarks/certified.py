"""How fast certified numerics are, against their targets.

    python benchmarks/certified.py [--write FILE]

Every line is the best of several runs on this machine with cold caches, and its target.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import time
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dpspec.laws import Gaussian, quadrature
from dpspec.laws.quadrature import IntegralLaw, first_above

CLASSIC = Fraction(math.sqrt(2 * math.log(1250)) / 10) ** 2
"""The variance of the classic Gaussian calibration at epsilon = 10, delta = 1/1000, as its double."""


def classic_gaussian() -> str:
    """P16: delta(10) of the classic calibration at epsilon = 10, where 1/1000 is claimed."""
    spent = Gaussian(0, CLASSIC).against(Gaussian(1, CLASSIC)).hockey_stick(10, precision=64)
    assert spent.lower > Fraction(1, 1000)  # noqa: S101
    return f"delta(10) = {spent}: refuted"


def sparse_vector() -> str:
    """P37: the loss of sparse vector, variant 4, from its densities: all outcomes, both ways, one pair."""
    quadrature._mass.cache_clear()
    left, right = _variant_four((4, 4, 4, 4, 2)), _variant_four((3, 3, 3, 3, 3))
    ways = [one.against(two).max_log_ratio(precision=64) for one, two in ((left, right), (right, left))]
    loss = max(ways, key=lambda bracket: float(bracket.lower))
    width = float((loss.upper.enclose(128) - loss.lower.enclose(128)).upper())
    assert width < 1e-15  # noqa: S101
    return f"loss = {float(loss.lower):.16g}, width {width:.1e}"


def long_sparse_vector() -> str:
    """The same for 40 queries, 41 outcomes."""
    quadrature._mass.cache_clear()
    left, right = _variant_four((4,) * 39 + (2,)), _variant_four((3,) * 40)
    return f"loss = {right.against(left).max_log_ratio(precision=64)}"


def _variant_four(answers: tuple[int, ...]) -> IntegralLaw:
    return first_above(answers, threshold=0, threshold_scale=4, query_scale="4/3")


CASES: tuple[tuple[Callable[[], str], float, int], ...] = (
    (classic_gaussian, 0.01, 20),
    (sparse_vector, 1, 5),
    (long_sparse_vector, 10, 2),
)
"""What is timed, its target in seconds, and how often it is run."""


def main() -> int:
    """Time every case, print it, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="where to write the results as JSON")
    arguments = parser.parse_args()
    rows = [_timed(*case) for case in CASES]
    for row in rows:
        print(f"{row['case']:18} {row['seconds'] * 1000:10.2f} ms   target {row['target'] * 1000:6.0f} ms   {row['found']}")
    if arguments.write is not None:
        machine = {"python": platform.python_version(), "system": platform.system(), "processors": os.cpu_count()}
        versions = {name: version(name) for name in ("dpspec", "python-flint")}
        text = json.dumps({"versions": versions, "machine": machine, "cases": rows}, indent=2)
        arguments.write.write_text(text + "\n", encoding="utf-8")
    return 0 if all(row["seconds"] <= row["target"] for row in rows) else 1


def _timed(case: Callable[[], str], target: float, repeats: int) -> dict[str, Any]:
    best, found = math.inf, ""
    for _ in range(repeats):
        start = time.perf_counter()
        found = case()
        best = min(best, time.perf_counter() - start)
    return {"case": case.__name__, "what": case.__doc__, "seconds": round(best, 6), "target": target, "found": found}


if __name__ == "__main__":
    raise SystemExit(main())
