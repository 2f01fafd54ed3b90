"""How often sampling refutes a true claim: ten tight right mechanisms at error 1e-2, in parts that add up.

    python -m benchmarks.false_alarms --seconds 600 --add benchmarks/false-alarms.json     another part
    python -m benchmarks.false_alarms --show benchmarks/false-alarms.json                  what the parts come to

Every run judges one claim with 1,500 draws at most and a seed of its own; it counts when its bets are won, whether or not the
engine would ask afterwards if calls depend on each other. A part goes on with the seeds after those of the file, in turns of a
few seconds over the mechanisms, and writes the file anew after each: a part that is stopped loses no more. Runs of other versions
are kept beside. In all there may be Binomial(n, 0.01) refutations: the limits are passed with a chance below 10^-6.
"""

from __future__ import annotations

import argparse
import json
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpspec_code.sampled.calls import Calls, Function
from dpspec_code.sampled.engine import _SampledSearch, _tried, fingerprint
from scipy.stats import binom
from tests.sampled.test_false_alarms import TIGHT

from benchmarks.faults.run import versions
from dpspec import PrivacySpec
from dpspec.verifier.verdict import Outcome

DRAWS, ERROR, CHUNK, TURN = 1_500, "1e-2", 20, 4.0
"""Draws and error of a run; runs after which a turn may end, and its seconds."""
NAMES = (
    "randomised response, 1", "randomised response, 1/10", "one of three, 2", "unary encoding of three, 1", "Laplace, 1",
    "geometric, ln(2)", "geometric, 2", "shown or not, delta 1/10", "shown or not, TV 3/10", "Gaussian, rho 1/2",
)  # fmt: skip


def part_of(kept: list[dict[str, Any]]) -> dict[str, Any]:
    """The part of these versions, a new one where there is none."""
    ours = versions()
    found = next((part for part in kept if part["versions"] == ours), None)
    if found is None:
        found = {"versions": ours, "draws": DRAWS, "error": ERROR, "runs": {name: [0, 0] for name in NAMES}}
        kept.append(found)
    return found


def add(path: Path, seconds: float) -> None:
    """Run until so much processor time is over."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    runs, start = part_of(kept)["runs"], time.process_time()
    while time.process_time() - start < seconds:
        for name, (function, spec) in zip(NAMES, TIGHT, strict=True):
            turn = time.process_time()
            while time.process_time() - turn < TURN:
                done, refuted = runs[name]
                runs[name] = [done + CHUNK, refuted + sum(wins(function, spec, seed) for seed in range(done, done + CHUNK))]
            path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def wins(function: Function, spec: PrivacySpec, seed: int) -> bool:
    """Whether some bet of the search is won, as `refute` makes it."""
    calls = Calls(function=function, space=spec.space, claim=fingerprint(spec), seed=seed, draws=DRAWS)
    search = _SampledSearch(
        spec=spec, calls=calls, level=Fraction(ERROR), tried=_tried(spec, seed, None, None), progress=None, free=True, bits=False,
        seconds=None,
    )  # fmt: skip
    return search.run().outcome is Outcome.REFUTED


def show(path: Path) -> bool:
    """One line for each mechanism and one for all, with their limits; whether all are kept."""
    kept, fits = json.loads(path.read_text(encoding="utf-8")), True
    totals = {name: [sum(part["runs"][name][way] for part in kept) for way in (0, 1)] for name in NAMES}
    totals["in all"] = [sum(one[way] for one in totals.values()) for way in (0, 1)]
    for name, (runs, refuted) in totals.items():
        limit = int(binom.isf(1e-6, runs, float(ERROR)))
        fits = fits and refuted <= limit
        print(f"{name:28} {refuted:6,} of {runs:8,} refuted, limit {limit:,}")
    return fits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--add", type=Path)
    parser.add_argument("--show", type=Path)
    parser.add_argument("--seconds", type=float, default=600.0, help="of processor time")
    given = parser.parse_args()
    if given.add:
        add(given.add, given.seconds)
    if not show(given.add or given.show):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
