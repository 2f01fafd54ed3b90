"""Timing cases against their targets: what the benchmarks share."""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

Case = tuple[Callable[[], str], float, int]
"""What is timed, its target in seconds, and how often it is run."""


def run(cases: Sequence[Case], description: str | None, distributions: Sequence[str]) -> int:
    """Time every case, print it, and write it where asked; 0 when every target is met."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--write", type=Path, help="where to write the results as JSON")
    arguments = parser.parse_args()
    rows = [_timed(*case) for case in cases]
    for row in rows:
        print(f"{row['case']:18} {row['seconds'] * 1000:10.2f} ms   target {row['target'] * 1000:8.0f} ms   {row['found']}")
    if arguments.write is not None:
        versions = {name: version(name) for name in distributions}
        machine = {"python": platform.python_version(), "system": platform.system(), "processors": os.cpu_count()}
        text = json.dumps({"versions": versions, "machine": machine, "cases": rows}, indent=2)
        arguments.write.write_text(text + "\n", encoding="utf-8")
    return 0 if all(row["seconds"] <= row["target"] for row in rows) else 1


def _timed(case: Callable[[], str], target: float, repeats: int) -> dict[str, Any]:
    """The best of several runs."""
    best, found = math.inf, ""
    for _ in range(repeats):
        start = time.perf_counter()
        found = case()
        best = min(best, time.perf_counter() - start)
    return {"case": case.__name__, "what": case.__doc__, "seconds": round(best, 6), "target": target, "found": found}
