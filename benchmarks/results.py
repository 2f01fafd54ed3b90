"""The recorded results, `benchmarks/results.json`: what they hold, how they are written, and what a gate compares with them."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, Cost, Line, Round, exponent

PATH = Path(__file__).with_name("results.json")

LARGER = 1.1
"""A counter or an exponent that is deterministic may be larger than the recorded one by this factor."""
SLOWER = 1.5
"""A ratio of times is larger where every one of several rounds is larger than the recorded one by this factor."""
CLOSE = 0.05
"""Exponents near 0 are compared by their difference."""

LIBRARIES = ("numpy", "scipy", "polars", "python-flint", "attrs", "rich", "click")
PEERS = ("dp-accounting", "riskcal", "opendp")

Counts = Mapping[str, Any]
"""Of one line: its sizes, and for each counter its value at each size."""


# --- what is recorded -----------------------------------------------------------------------------


def read() -> dict[str, Any]:
    """The recorded results."""
    if not PATH.exists():
        return {"lines": {}, "growth": {}, "counters": {}}
    found: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return found


def write(results: Mapping[str, Any]) -> None:
    """Replace the recorded results, whole or not at all."""
    part = PATH.with_suffix(".part")
    part.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    os.replace(part, PATH)


def provenance() -> dict[str, str]:
    """When and of which commit a value was taken."""
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    return {"date": datetime.datetime.now(datetime.UTC).date().isoformat(), "commit": commit or "unknown"}


def machine() -> dict[str, Any]:
    """The machine, in words that name no host."""
    model = next(iter(_models()), platform.machine())
    return {"processor": model, "processors": os.cpu_count(), "system": platform.system(), "python": platform.python_version()}


def _models() -> Iterator[str]:
    path = Path("/proc/cpuinfo")
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if line.startswith("model name"):
            yield line.partition(":")[2].strip()


def versions(peers: str) -> dict[str, str]:
    """The versions of the libraries, and of the peers in their interpreter."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    code = (
        "import json, importlib.metadata as m\nfound = {}\n"
        f"for name in {PEERS!r}:\n try: found[name] = m.version(name)\n except m.PackageNotFoundError: pass\nprint(json.dumps(found))"
    )
    done = subprocess.run([peers, "-c", code], capture_output=True, text=True, check=True)
    return {**found, **json.loads(done.stdout)}


def entry(line: Line, rounds: Sequence[Round]) -> dict[str, Any]:
    """The result of a line: the shortest of its rounds, and the ratios of the shortest."""
    seconds, calibration = min(r.ours.seconds for r in rounds), min(r.calibration for r in rounds)
    peak = max(r.ours.peak for r in rounds)
    found: dict[str, Any] = {
        "what": line.what,
        "seconds": rounded(seconds),
        "megabytes": round(peak),
        "calibration": line.calibration,
        "ratio": rounded(seconds / calibration),
        "peer_ratio": None,
    }
    peers = [r.peer.seconds / line.peer_share for r in rounds if r.peer is not None]
    if peers:
        found |= {"peer": ", ".join(line.needs), "peer_seconds": rounded(min(peers)), "peer_ratio": rounded(seconds / min(peers))}
    if line.draws is not None:
        found["millions_per_second"] = rounded(line.draws / seconds / 1e6)
    goals = {"seconds": line.goal, "peer_ratio": line.goal_of_peer, "ratio": line.goal_of_ratio, "megabytes": line.megabytes}
    found["goals"] = {name: rounded(goal) for name, goal in goals.items() if goal is not None}
    found["missed"] = [name for name, goal in found["goals"].items() if found[name] is not None and found[name] > goal]
    return found


def growth(line: Line, costs: Sequence[Cost]) -> dict[str, Any]:
    """The exponent of processor time in the size, and the bytes of memory that a further record takes."""
    seconds = [rounded(cost.seconds) for cost in costs]
    found: dict[str, Any] = {"sizes": list(line.sizes), "seconds": seconds, "bound": line.bound}
    found["exponent"] = round(exponent(line.sizes, seconds), 3)
    missed = ["exponent"] if line.bound is not None and found["exponent"] > line.bound else []
    if line.memory_bound is not None:
        further = (costs[-1].peak - costs[0].peak) * 2**20 / (line.sizes[-1] - line.sizes[0])
        taken = [max(cost.peak - cost.before, 1) for cost in costs]
        found |= {"bytes_per_record": round(further, 1), "bytes_bound": line.memory_bound}
        found["memory_exponent"] = round(exponent(line.sizes, taken), 3)
        missed += ["bytes_per_record"] if further > line.memory_bound else []
    return {**found, "missed": missed}


def rounded(value: float) -> float:
    """Four significant digits."""
    return float(f"{value:.4g}")


# --- what is larger than recorded -----------------------------------------------------------------


def exponents(counts: Counts) -> dict[str, float]:
    """The exponent of each counter in the size, where there are at least four sizes."""
    sizes = counts["sizes"]
    if len(sizes) < 4:
        return {}
    return {name: round(exponent(sizes, values), 3) for name, values in counts["counts"].items()}


def ends(values: Sequence[int]) -> list[int]:
    """The first and the last one; one of a single one."""
    return [values[0], *values[1:][-1:]]


def at_ends(counts: Counts) -> Counts:
    """The counters at the smallest and the largest size alone."""
    return {**counts, "sizes": ends(counts["sizes"]), "counts": {name: ends(each) for name, each in counts["counts"].items()}}


def larger_counts(recorded: Mapping[str, Counts], found: Mapping[str, Counts]) -> list[str]:
    """Counters and their exponents that are larger than recorded; counters that are new; lines that were never recorded."""
    lines = []
    for name, counts in found.items():
        before = recorded.get(name)
        if before is None or before["sizes"] != counts["sizes"]:
            lines.append(f"{name}: its counters at these sizes are not recorded")
            continue
        for counter, values in counts["counts"].items():
            limits = before["counts"].get(counter, [0] * len(values))
            for size, value, limit in zip(counts["sizes"], values, limits, strict=True):
                if value > LARGER * limit:
                    lines.append(f"{name}: {counter} at size {size:,}: {value:,}, recorded {limit:,}")
        known = exponents(before)
        for counter, power in exponents(counts).items():
            limit = known.get(counter, 0.0)
            if power > max(LARGER * limit, limit + CLOSE):
                lines.append(f"{name}: {counter} grows with the exponent {power}, recorded {limit}")
    return lines


def slower(recorded: Mapping[str, Any], name: str, rounds: Sequence[Round]) -> str | None:
    """What to say where every round is slower than recorded by SLOWER, or nothing is recorded; one that is not is enough for None."""
    before = recorded.get(name)
    ratios = [r.ours.seconds / r.calibration for r in rounds]
    if before is None:
        return f"{name}: its time is not recorded"
    if min(ratios) <= SLOWER * before["ratio"]:
        return None
    return f"{name}: {', '.join(f'{ratio:.3g}' for ratio in ratios)} times {before['calibration']}, recorded {before['ratio']:.3g}"
