"""Run the lines of the benchmarks: `python -m benchmarks`.

    python -m benchmarks                        every line, its growth, and the counters of work
    python -m benchmarks --only swap,topdown    some lines, by name, or by what names begin with
    python -m benchmarks --quick                ratios of the quick lines, in up to three rounds
    python -m benchmarks --counters             the counters alone
    python -m benchmarks --write                record the results in benchmarks/results.json

Ends with 1 when a counter or its exponent is larger than recorded by a factor of 1.1, or something was never recorded. A ratio of
times that is larger by 1.5 in every one of three rounds is printed as SLOWER, and fails nothing: it depends on the machine as well.
`--write` needs `--reason` for either, which is recorded with the new value. `--peers PYTHON` names the interpreter
of an environment that has dp-accounting, riskcal and OpenDP; the folder in the variable BENCHMARK_DATA holds the blocks of
Rhode Island.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from benchmarks import results
from benchmarks.lines import KNOWN, LINES
from benchmarks.measure import ROOT, Line, Round, compile_bytecode, environment, growth, rounds

ROUNDS = 3


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAMES", help="names of lines, or what names begin with, separated by commas")
    parser.add_argument("--quick", action="store_true", help="ratios of the quick lines: under three minutes")
    parser.add_argument("--counters", action="store_true", help="counters alone: no time is measured")
    parser.add_argument("--write", action="store_true", help="record the results")
    parser.add_argument("--reason", help="why larger values, or goals that are missed, are accepted")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="interpreter with the libraries of the peers")
    given = parser.parse_args()
    lines = chosen(given.only)
    if not given.counters:
        compile_bytecode()
    recorded = results.read()
    found, larger, slower = measured(lines, recorded, given)
    for fault in larger:
        print(f"LARGER {fault}")
    for fault in slower:
        print(f"SLOWER {fault}")
    if not given.write:
        return int(bool(larger))
    if any("not recorded" not in fault for fault in larger + slower) and not given.reason:
        print('nothing was written: give --reason "..." to accept larger values', file=sys.stderr)
        return 1
    return written(recorded, found, given)


def chosen(only: str | None) -> dict[str, Line]:
    """The lines whose names begin with one of the given."""
    given = only.split(",") if only else [""]
    begins = tuple(part for part in given if part not in LINES)
    lines = {name: line for name, line in LINES.items() if name in given or name.startswith(begins)}
    if not lines:
        raise SystemExit(f"no line begins with {only}: there are {', '.join(LINES)}")
    return lines


def measured(lines: Mapping[str, Line], recorded: Mapping[str, Any], given: argparse.Namespace) -> tuple[dict[str, Any], list[str], list[str]]:
    """What was measured; which of its counters are larger than recorded; which of its times, or are not recorded."""
    counters = {} if given.quick else counts(lines)
    found: dict[str, Any] = {"lines": {}, "growth": {}, "counters": counters}
    larger = results.larger_counts(recorded["counters"], counters)
    slower: list[str] = []
    show_counts(counters)
    if given.counters:
        return found, larger, slower
    for name, line in lines.items():
        if given.quick and not line.is_quick:
            continue
        seen = quick_rounds(line, recorded, given) if given.quick else list(rounds(line, given.peers, line.repeats))
        found["lines"][name] = results.entry(line, seen)
        print(text(name, found["lines"][name]), flush=True)
        if fault := results.slower(recorded["lines"], name, seen):
            slower.append(fault)
        if not given.quick and len(line.sizes) > 1:
            found["growth"][name] = results.growth(line, growth(line))
            print(text_of_growth(name, found["growth"][name]), flush=True)
    return found, larger, slower


def quick_rounds(line: Line, recorded: Mapping[str, Any], given: argparse.Namespace) -> list[Round]:
    """Rounds until one is not slower than recorded: one is enough for a line that passes, or that has no record."""
    seen: list[Round] = []
    for found in rounds(line, given.peers, ROUNDS):
        seen.append(found)
        if line.name not in recorded["lines"] or (not given.write and results.slower(recorded["lines"], line.name, seen) is None):
            break
    return seen


def counts(lines: Mapping[str, Line]) -> dict[str, Any]:
    """The counters of work, from a process of their own."""
    command = [sys.executable, "-m", "benchmarks.counting", *lines]
    done = subprocess.run(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


# --- output ---------------------------------------------------------------------------------------


def show_counts(counters: Mapping[str, Any]) -> None:
    for name, line in counters.items():
        powers = results.exponents(line)
        sizes = f" at {line['sizes'][-1]:,}" if len(line["sizes"]) > 1 else ""
        values = (
            f"{counter} {values[-1]:,}" + (f" (size^{powers[counter]:.2f})" if counter in powers else "")
            for counter, values in line["counts"].items()
        )
        print(f"{name + sizes:34} {', '.join(values)}")


def text(name: str, entry: Mapping[str, Any]) -> str:
    shown = f"{name:34} {entry['seconds']:10.4g} s {entry['megabytes']:6,} MB   {entry['ratio']:9.4g} x {entry['calibration']}"
    if entry["peer_ratio"] is not None:
        shown += f"   {entry['peer_ratio']:.3g} x {entry['peer']} ({entry['peer_seconds']:.4g} s)"
    goals = ", ".join(f"{name} {goal:g}" for name, goal in entry["goals"].items())
    return shown + (f"   goal: {goals}" if goals else "") + (f"   MISSED: {', '.join(entry['missed'])}" if entry["missed"] else "")


def text_of_growth(name: str, grown: Mapping[str, Any]) -> str:
    bound = f", bound {grown['bound']}" if grown["bound"] is not None else ""
    memory = f"; {grown['bytes_per_record']} bytes a record" if "bytes_per_record" in grown else ""
    missed = f"   MISSED: {', '.join(grown['missed'])}" if grown["missed"] else ""
    return f"{name:34} time grows as size^{grown['exponent']:.2f}{bound}{memory}{missed}"


def written(recorded: Mapping[str, Any], found: Mapping[str, Any], given: argparse.Namespace) -> int:
    """Record what was measured; what was not stays, each with its date and commit."""
    measures_times = not given.counters or "machine" not in recorded  # counters are the same on every machine
    if measures_times and recorded.get("machine", results.machine()) != results.machine() and (given.only or given.quick):
        print("nothing was written: the other results are of another machine; run every line", file=sys.stderr)
        return 1
    origin = results.provenance()
    reason = {"reason": given.reason} if given.reason else {}
    of_here = {"machine": results.machine(), "versions": results.versions(given.peers)}
    whole: dict[str, Any] = of_here if measures_times else {key: recorded[key] for key in of_here}
    for part in ("lines", "growth", "counters"):
        stamped = {name: {**value, **origin, **kept_reason(recorded[part].get(name), value), **reason} for name, value in found[part].items()}
        known = recorded[part] if given.only or given.quick or given.counters else {}
        whole[part] = {name: value for name, value in {**known, **stamped}.items() if name in KNOWN}
    results.write(whole)
    return 0


def kept_reason(before: Mapping[str, Any] | None, value: Mapping[str, Any]) -> dict[str, str]:
    """The recorded reason, as long as a goal is missed or the value is not smaller."""
    if before is None or "reason" not in before:
        return {}
    return {"reason": before["reason"]} if value.get("missed", True) else {}


if __name__ == "__main__":
    sys.exit(main())
