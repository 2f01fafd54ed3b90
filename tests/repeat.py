"""Run the default tests several times in a row beside busy loops, to find tests that depend on the clock or on load.

    python tests/repeat.py --times 10 --busy 4            on all cores
    python tests/repeat.py --times 10 --busy 4 --cores 1  on one core
    python tests/repeat.py --times 3 -- tests/sampled     only some tests

Prints the closing line of each run, and the names of the tests that failed. The exit code is 1 when any run failed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def spin() -> None:
    """Use all the processor time that the system grants."""
    while True:
        pass


def run_once(arguments: list[str]) -> tuple[bool, list[str]]:
    """One run of the tests: whether it passed, and its closing line after the names of failed tests."""
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--no-header", *arguments]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = found.stdout.rstrip().splitlines() or [found.stderr.strip()]
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return found.returncode == 0, [*failed, lines[-1]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10, help="number of runs")
    parser.add_argument("--busy", type=int, default=4, help="number of busy loops beside the tests")
    parser.add_argument("--cores", type=int, help="number of cores for tests and loops together; default: all")
    parser.add_argument("arguments", nargs="*", help="arguments of pytest, after --")
    chosen = parser.parse_args()
    if chosen.cores is not None:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: chosen.cores])  # children inherit it
    loops = [multiprocessing.Process(target=spin, daemon=True) for _ in range(chosen.busy)]
    for loop in loops:
        loop.start()
    failures = 0
    try:
        for number in range(1, chosen.times + 1):
            passed, lines = run_once(chosen.arguments)
            failures += not passed
            print(f"run {number}:", *lines, sep="\n  ", flush=True)
    finally:
        for loop in loops:
            loop.kill()
    print(f"{failures} of {chosen.times} runs failed, {chosen.busy} busy loops, {len(os.sched_getaffinity(0))} cores")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
