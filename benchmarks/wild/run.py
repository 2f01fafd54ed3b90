"""Judge the corpus and compare the vectors.

    python -m benchmarks.wild [--only NAME,NAME] [--seconds 30] [--kind functions,libraries,vectors] [--missing] [--write]

One line for each. Ends with 1 when there is a false answer: a correct function refuted, a wrong one verified, a vector contradicted.
`--write` records each result in `results.json` as it is found, and one line of the trend at the end.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Iterator
from typing import Any

import dpspec as dp
from benchmarks.faults.run import processor_seconds, versions
from benchmarks.results import machine, provenance
from benchmarks.wild import results
from benchmarks.wild.entry import IDIOMS, MECHANISMS, Idiom
from benchmarks.wild.vectors import VECTORS, Vector

LIBRARIES = ("opendp", "diffprivlib")
SHOWN = 150


def judged(idiom: Idiom, seconds: float) -> dict[str, Any]:
    """The verdict on one function, as a line of the results."""
    start = processor_seconds()
    verdict = dp.verify(idiom.function, idiom.spec(), seconds=seconds)
    reason = (verdict.reason or "").rpartition("nor was it verified: ")[2] if verdict.outcome.value == "undecided" else ""
    return {
        "truth": idiom.truth,
        "outcome": verdict.outcome.value,
        "method": verdict.method,
        "seconds": round(processor_seconds() - start, 1),
        "bound": seconds,
        "reason": reason,
    }


def text(name: str, line: dict[str, Any]) -> str:
    return f"{name:62} {line.get('truth', ''):8}{line['outcome']:16}{line.get('method', ''):11} {line['reason'][:SHOWN]}"


def lines(kinds: set[str], chosen: set[str], known: dict[str, Any], seconds: float) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Kind, name and result of everything that is chosen and not known."""

    def wanted(kind: str, label: str) -> bool:
        named = not chosen or bool({label, label.partition(".")[0], label.partition(".")[2]} & chosen)
        return kind in kinds and named and label not in known[kind]

    for kind, idioms in (("functions", IDIOMS), ("libraries", MECHANISMS)):
        for idiom in idioms:
            if wanted(kind, idiom.label) and is_installed(idiom):
                yield kind, idiom.label, judged(idiom, seconds)
    for vector in VECTORS:
        if wanted("vectors", vector.label):
            yield "vectors", vector.label, compared(vector)


def is_installed(idiom: Idiom) -> bool:
    """Whether the library that the function calls is installed, if any."""
    library = idiom.module.rpartition(".")[2]
    return library not in LIBRARIES or importlib.util.find_spec(library) is not None


def compared(vector: Vector) -> dict[str, Any]:
    """The comparison of one vector, as a line of the results."""
    outcome, ours = vector.compared()
    return {"outcome": outcome, "ours": ours, "reason": f"{vector.expected} published, {ours or 'nothing'} here"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0, help="bound of processor time for each function")
    parser.add_argument("--only", default="", help="names, modules or projects, with commas")
    parser.add_argument("--kind", default=",".join(results.KINDS), help="functions, libraries, vectors, with commas")
    parser.add_argument("--missing", action="store_true", help="only what is not recorded")
    parser.add_argument("--write", action="store_true", help="record the results")
    given = parser.parse_args()
    kept = results.read()
    known = kept if given.missing else {kind: {} for kind in results.KINDS}
    found: dict[str, Any] = {kind: {} for kind in results.KINDS}
    stamp = provenance()
    for kind, name, line in lines(set(given.kind.split(",")), set(filter(None, given.only.split(","))), known, given.seconds):
        found[kind][name] = line
        print(text(name, line), flush=True)
        if given.write:
            kept[kind][name] = {**line, **stamp}
            results.write(kept)
    print(results.summary(found, **stamp))
    if given.write:
        libraries = kept.get("versions", {}).get("libraries", {}) | {
            name: version for name, version in versions(*LIBRARIES).items() if name in LIBRARIES
        }
        results.write({**kept, "machine": machine(), "versions": {**versions(), "libraries": libraries}})
        results.add_to_trend(results.summary(kept, **stamp))
    wrong = results.false_answers(found)
    print("\n".join(["false answers:", *wrong]) if wrong else "no false answer")
    sys.exit(bool(wrong))
