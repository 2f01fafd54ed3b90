"""Judge the corpus: every wrong and every mended function by `verify_claim`, which gets the function and the claim alone.

    python -m benchmarks.faults [--seconds 30] [--only NAME,NAME] [--seed 0] [--processes 1] [--write benchmarks/faults.json]

One line for each: outcome, seconds of processor time (with those of child processes), method, pair and event. Ends with 1 when a
mended one is refuted or a wrong one verified.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import multiprocessing
import platform
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.faults import FAULTS, THEMES
from dpspec import Verdict
from dpspec.verifier.entry import verify_claim

FIELDS = ("name", "side", "outcome", "seconds", "clock", "method", "pair", "event", "reason")
SHOWN = 110


def processor_seconds() -> float:
    """Of this process and of its children that have ended."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def judged(task: tuple[int, str, float, int]) -> dict[str, Any]:
    """One function of the corpus, judged in this process."""
    place, side, seconds, seed = task
    fault = FAULTS[place]
    start, clock = processor_seconds(), time.perf_counter()
    line: dict[str, Any] = {"name": fault.name, "side": side, "method": "", "pair": "", "event": "", "reason": ""}
    try:
        verdict = verify_claim(getattr(fault, side), fault.spec, seconds=seconds, seed=seed, bits=fault.bits)
    except Exception as problem:
        line |= {"outcome": "error", "reason": f"{type(problem).__name__}: {problem}"}
    else:
        line |= {"outcome": verdict.outcome.value, "method": verdict.method, "reason": verdict.reason or "", **seen(verdict)}
    line |= {"seconds": round(processor_seconds() - start, 2), "clock": round(time.perf_counter() - clock, 2)}
    return {field: line[field] for field in FIELDS}


def seen(verdict: Verdict) -> dict[str, str]:
    """The witness as text."""
    witness = verdict.witness
    if witness is None:
        return {}
    event = "" if witness.event is None else witness.event.text
    return {"pair": f"{brief(witness.left)} / {brief(witness.right)}", "event": event}


def brief(dataset: Any) -> str:
    text = str(list(dataset))
    return text if len(dataset) <= 8 else f"{len(dataset)} entries"


def text(line: dict[str, Any]) -> str:
    found = f"{line['pair']}  {line['event']}" if line["pair"] else line["reason"]
    return f"{line['name']:34} {line['side']:7}{line['outcome']:10}{line['seconds']:7.1f} s  {line['method']:11} {found[:SHOWN]}"


def totals(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """How many of each side have each outcome."""
    counted: dict[str, Any] = {side: {} for side in ("wrong", "mended")}
    for line in lines:
        counted[line["side"]][line["outcome"]] = counted[line["side"]].get(line["outcome"], 0) + 1
    counted["seconds"] = round(sum(line["seconds"] for line in lines), 1)
    counted["longest"] = max((line["seconds"] for line in lines), default=0.0)
    counted["missed"] = [line["name"] for line in lines if line["side"] == "wrong" and line["outcome"] != "refuted"]
    counted["false"] = [
        f"{line['side']} {line['name']} {line['outcome']}"
        for line in lines
        if (line["side"], line["outcome"]) in {("wrong", "verified"), ("mended", "refuted")}
    ]
    return counted


def versions(*more: str) -> dict[str, str]:
    names = ("dpspec", "numpy", "scipy", "hypothesis", "python-flint", *more)
    found = {name: importlib.metadata.version(name) for name in names if any(importlib.metadata.distributions(name=name))}
    return {"python": platform.python_version(), "machine": platform.machine(), **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--only", default="", help="names or themes, with commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    chosen = set(filter(None, given.only.split(",")))
    themes = {fault.name: theme for theme, faults in THEMES.items() for fault in faults}
    places = [i for i, fault in enumerate(FAULTS) if not chosen or {fault.name, themes[fault.name]} & chosen]
    tasks = [(place, side, given.seconds, given.seed) for place in places for side in ("wrong", "mended")]
    lines = []
    with ProcessPoolExecutor(given.processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        for line in pool.map(judged, tasks):
            lines.append(line)
            print(text(line), flush=True)
    counted = totals(lines)
    print(json.dumps(counted, indent=1))
    if given.write:
        kept = {"versions": versions(), "seconds": given.seconds, "seed": given.seed, "totals": counted, "lines": lines}
        given.write.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    sys.exit(bool(counted["false"]))
