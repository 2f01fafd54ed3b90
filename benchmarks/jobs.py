"""Time commands on many files with several jobs against one, in the same run.

    python -m benchmarks.jobs
    python -m benchmarks.jobs --jobs 4 --repeats 5 --only verify

Seconds are those of the clock, since processor time does not show what runs at once. So the machine has to be quiet: the load before
each run is printed, and a ratio that was measured while others worked says little. Every pair of runs must give the same bytes.

The limit of the machine is measured in the same run: as many commands with one job each, at the same time, which share nothing.
Processors that share caches and memory slow each other down, so two of them do less than twice the work of one.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from benchmarks.measure import ENDS, ROOT, compile_bytecode, environment

SPECS = ROOT / "specs"
GOAL = 1.9
"""How many times as fast two jobs are to be as one, for `verify` of all specifications."""


def folders() -> list[str]:
    """Every folder of specifications but those of files with faults."""
    found = sorted({path.parent for path in SPECS.rglob("*.dpspec.toml")} - {SPECS / "bad"})
    return [str(path) for path in found if SPECS / "lint" not in (path, *path.parents)]


def commands() -> dict[str, list[str]]:
    """The timed commands by their names."""
    deployments = str(SPECS / "deployments")
    return {
        "verify": ["verify", *folders()],
        "compare": ["compare", deployments],
        "lint": ["lint", *folders()],
        "catalogue": ["catalogue", deployments],
    }


def seconds(words: list[str], jobs: int) -> tuple[float, bytes]:
    """The time of one run by the clock, and its output."""
    command = [sys.executable, "-m", "dpspec", *words, "--jobs", str(jobs)]
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, check=False)
    if done.returncode not in (*ENDS, 5):
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.decode()}")
    return time.perf_counter() - begin, done.stdout


def limit(words: list[str], jobs: int, alone: float) -> float:
    """How many times as fast this machine does so many independent commands at the same time, as one after the other.

    Args:
        words: a command, which is run with one job.
        jobs: so many at the same time.
        alone: the seconds of one that runs alone.
    """
    with ThreadPoolExecutor(jobs) as pool:
        together = [spent for spent, _ in pool.map(lambda _: seconds(words, 1), range(jobs))]
    return jobs * alone / max(together)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2, help="Number of jobs against one.")
    parser.add_argument("--repeats", type=int, default=3, help="Number of runs of each.")
    parser.add_argument("--only", choices=commands(), help="One command.")
    given = parser.parse_args()
    compile_bytecode()
    for name, words in commands().items():
        if given.only not in (None, name):
            continue
        times: dict[int, list[float]] = {1: [], given.jobs: []}
        printed = set()
        load = f"{os.getloadavg()[0]:.1f}"
        for _ in range(given.repeats):
            for jobs, taken in times.items():
                spent, output = seconds(words, jobs)
                taken.append(spent)
                printed.add(output)
        if len(printed) > 1:
            raise SystemExit(f"{name}: the output depends on the number of jobs")
        one, several = (statistics.median(taken) for taken in times.values())
        goal = f" (goal {GOAL})" if name == "verify" and given.jobs == 2 else ""
        print(
            f"{name}: {one:.1f} s with 1 job, {several:.1f} s with {given.jobs}: {one / several:.2f} times as fast{goal}, "
            f"where {given.jobs} independent commands are {limit(words, given.jobs, one):.2f} times as fast; load {load}"
        )


if __name__ == "__main__":
    main()
