"""Judge the plain functions of a zoo and write the table of what was found.

    python benchmarks/zoo.py PATH_TO_ZOO.py [--laws] [--write docs/zoo.md] [--only P01,P02] [--processes 2] [--seed 0]
    python benchmarks/zoo.py PATH_TO_ZOO.py --otherwise       with values listed the other way round and coordinates permuted
    python benchmarks/zoo.py PATH_TO_ZOO.py --plainly         two-sample tests with Bonferroni in place of the engine
    python benchmarks/zoo.py PATH_TO_ZOO.py --seed 3 --add benchmarks/zoo.json        what is not in the file yet; parts add up
    python benchmarks/zoo.py PATH_TO_ZOO.py --show benchmarks/zoo.json                seeds, and what was missed

The zoo is a Python file with a table ZOO: id -> entry with the fields fn, data, metric, claim, universe, verdict, witness. The
engine gets the function, and the space, metric, universe and claim as its text fields say them: never a pair, an event or the
verdict. With --laws it gets, for the entries of `zoo_laws.py`, the law in place of the function; the two passes write the two
parts of the page.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import math
import multiprocessing
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import numpy as np
import zoo_laws
from dpspec_code.child_process import Clock
from dpspec_code.sampled.calls import datasets, pairs
from dpspec_code.sampled.events import Atoms, Combination, Ranges
from dpspec_code.sampled.null import Null, bounds_refute
from dpspec_divergences import (
    AddRemove,
    DifferInOnePosition,
    DNor,
    HammingOrdered,
    LInfinityDistance,
    Mult,
    MultDelta,
    Neighbour,
    SymmetricDifference,
)

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import FunctionInvariant
from dpspec.blocks.lists import ValueLists
from dpspec.blocks.multiverse import LevelSets, Multiverse, Trivial
from dpspec.blocks.space import DatasetSpace, presented
from dpspec.blocks.vectors import IntegerCounts
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws import Law
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.outputs import Outcomes, Raised
from dpspec.verifier.verdict import Outcome, Verdict

ANSWERS = 20
"""Query answers are looked at between minus this and this."""


def load(path: str) -> ModuleType:
    """The zoo as a module; its file may lie anywhere."""
    found = importlib.util.spec_from_file_location("zoo", path)
    if found is None or found.loader is None:
        raise SystemExit(f"cannot read {path}")
    module = importlib.util.module_from_spec(found)
    sys.modules["zoo"] = module
    found.loader.exec_module(module)
    return module


# --- from the text of an entry to a specification ------------------------------------------------


def values_of(text: str) -> tuple[Any, ...]:
    """The entries that a description of lists allows, on a plain grid where it names a range."""
    if match := re.search(r"subsets of \{([\d,]+)\}(?: \(at most (\d+))?", text):
        tags, most = [int(tag) for tag in match[1].split(",")], int(match[2] or len(match[1]))
        subsets = [tuple(t for i, t in enumerate(tags) if mask >> i & 1) for mask in range(2 ** len(tags))]
        return tuple(sorted((s for s in subsets if len(s) <= most), key=lambda s: (len(s), s)))
    if match := re.search(r"value in \{([^}]*)\}|\{([^}]*)\}", text):
        return _listed(match[1] or match[2])
    if match := re.search(r"integers in (-?\d+)\.\.(-?\d+)", text):
        return tuple(range(int(match[1]), int(match[2]) + 1))
    if match := re.search(r"numbers in \[([-\d.]+),([-\d.]+)\]", text):
        low, high = float(match[1]), float(match[2])
        steps = int(high - low) if 2 <= high - low <= 16 else 2
        grid = tuple(low + (high - low) * i / steps for i in range(steps + 1))
        return (*grid, math.nan) if "NaN" in text else grid
    if "numbers" in text:
        return (0.0, 1.0, -1.0, 10.0, -10.0, 100.0, -100.0)
    return (0, 1)


def _listed(text: str) -> tuple[Any, ...]:
    if match := re.fullmatch(r"(\w)\.\.(\w)", text):
        if match[1].isdigit():
            return tuple(range(int(match[1]), int(match[2]) + 1))
        return tuple(chr(c) for c in range(ord(match[1]), ord(match[2]) + 1))
    return tuple(None if part.strip() == "None" else int(part) for part in text.split(","))


def length_of(text: str) -> int | None:
    """The length that a description fixes, if any."""
    if text.startswith("one "):
        return 1
    match = re.search(r"length (\d+)|^list of (\d+) |^(\d+) (?:records|query)", text)
    return int(next(group for group in match.groups() if group)) if match else None


def space_of(entry: Any, zoo: dict[str, Any]) -> DatasetSpace:
    text = entry.data
    if match := re.match(r"as (\w+)", text):
        return space_of(zoo[match[1]], zoo)
    length = length_of(text)
    if entry.metric == "linf":
        return IntegerCounts(length=length, low=-ANSWERS, high=ANSWERS)
    ordered = entry.metric == "change_one"
    return ValueLists(values=values_of(text), least=length or 0, most=length, ordered=ordered)


def multiverse_of(entry: Any) -> Multiverse:
    if not entry.universe:
        return Trivial()
    held: list[FunctionInvariant] = []
    if "total of the values" in entry.universe:
        held.append(FunctionInvariant(function=sum, label="total of the values"))
    if "len" in entry.universe:
        held.append(FunctionInvariant(function=len, label="length"))
    return LevelSets(invariants=tuple(held))


def spec_of(entry: Any, zoo: dict[str, Any]) -> PrivacySpec:
    """The claim of an entry."""
    kind, size, *rest = entry.claim
    metric: Any
    if entry.metric == "linf":
        metric = LInfinityDistance()
    elif kind == "approx":
        metric = Neighbour(relation=AddRemove() if entry.metric == "add_remove" else DifferInOnePosition())
    else:
        metric = SymmetricDifference() if entry.metric == "add_remove" else HammingOrdered()
    divergence = {"pure": Mult, "approx": lambda: MultDelta(delta=rest[0]), "zcdp": DNor}[kind]()
    return PrivacySpec(
        space=space_of(entry, zoo),
        multiverse=multiverse_of(entry),
        input_divergence=metric,
        output_divergence=divergence,
        budget=UniformBudget(parameter="rho" if kind == "zcdp" else "epsilon", value=size),
    )


# --- running -------------------------------------------------------------------------------------


EXACT = {math.log(2): "ln(2)", math.log((1 + math.e) / 2): "0.62011450695828"}
"""Claims that are doubles next to what is meant: the exact number, or the double rounded up."""
SECONDS = 30


def exactly(entry: Any, spec: PrivacySpec) -> PrivacySpec:
    """The claim that is meant."""
    kind, size, *_ = entry.claim
    if kind == "pure" and size in EXACT:
        return attrs.evolve(spec, budget=UniformBudget(parameter="epsilon", value=EXACT[size]))
    return spec


def judged(name: str, zoo: dict[str, Any], seed: int, draws: int | None, seconds: float = SECONDS) -> tuple[str, Verdict, float]:
    """The function, in so much processor time; those of which the doubles are claimed, with their last bits."""
    clock, entry = Clock(seconds), zoo[name]
    spec = exactly(entry, spec_of(entry, zoo))
    verdict = verify_claim(entry.fn, spec, seed=seed, draws=draws, seconds=Fraction(seconds), bits=entry.level == "bits")
    return name, verdict, clock.spent()


# --- the same in another order, and a baseline ------------------------------------------------------


def otherwise(name: str, zoo: dict[str, Any], seed: int, seconds: float = SECONDS) -> tuple[str, Verdict, float]:
    """The same function with its values listed the other way round; of fixed lengths, with its coordinates permuted."""
    clock, entry = Clock(seconds), zoo[name]
    spec = exactly(entry, spec_of(entry, zoo))
    space = spec.space
    if isinstance(space, ValueLists):
        spec = attrs.evolve(spec, space=attrs.evolve(space, values=tuple(reversed(space.values))))
    length = length_of(entry.data) or 0
    order = np.random.default_rng(seed + 1).permutation(length)
    fixed = length > 1 and not entry.universe and getattr(space, "ordered", True)

    def moved(x: Any, rng: Any) -> Any:
        return entry.fn([x[place] for place in order] if fixed else x, rng)

    verdict = verify_claim(moved, spec, seed=seed, seconds=Fraction(seconds), bits=entry.level == "bits")
    return name, verdict, clock.spent()


BASELINE = 2_000


def plainly(name: str, zoo: dict[str, Any], seed: int, error: float = 1e-9) -> tuple[str, bool, float]:
    """The baseline: on each pair of small datasets, binomial tests of outcomes and quantiles against the claim, with Bonferroni.

    One sample suggests the events, another of the same size tests them: x has k of n in E, x' m of n, and with the bound g of the
    divergence P(p > g(q) is not so) is at most the error over all tests, by Clopper and Pearson. scipy does the rest.
    """
    clock, entry = Clock(SECONDS), zoo[name]
    spec = spec_of(entry, zoo)
    chosen = pairs(datasets(spec, seed, 24), spec)
    rng = np.random.default_rng(seed)
    held: dict[str, list[Outcomes]] = {}
    for pair in chosen:
        for dataset in (pair.left, pair.right):
            if repr(dataset) not in held:
                held[repr(dataset)] = [Outcomes.of(_calls(entry.fn, dataset, rng)) for _ in range(2)]
    found = False
    for pair in chosen:
        both = [held[repr(dataset)] for dataset in (pair.left, pair.right)]
        events = _quantile_events(Outcomes.from_atoms([*both[0][0].atoms, *both[1][0].atoms]))
        hits = np.array([[event.count(sides[1]) for event in events] for sides in both], dtype=float)
        null = Null(spec.output_divergence, pair.bound)
        tail = error / (4 * max(len(events), 1) * len(chosen) * 2)
        for one, two in ((hits[0], hits[1]), (hits[1], hits[0])):
            found = found or bool(bounds_refute(one, two, BASELINE, null, tail).any())
            found = found or bool(bounds_refute(BASELINE - one, BASELINE - two, BASELINE, null, tail).any())
        if found:
            break
    return name, found, clock.spent()


def _calls(function: Any, dataset: Any, rng: Any) -> Iterator[Any]:
    for _ in range(BASELINE):
        try:
            yield function(presented(dataset), rng)
        except Exception as problem:
            yield Raised(type(problem).__name__, str(problem)[:80])


def _quantile_events(pool: Outcomes) -> list[Any]:
    """The frequent outcomes, and half-lines of each number at its deciles."""
    found: list[Any] = [Atoms(frozenset([atom])) for atom, times in Counter(pool.atoms).most_common(20) if times > 5]
    for shape, (rows, matrix) in pool.groups.items():
        for place in range(matrix.shape[1] if len(rows) > 50 else 0):
            for cut in np.unique(np.quantile(matrix[:, place], np.linspace(0.1, 0.9, 9))):
                one = Combination((place,), (1.0,))
                found.append(Ranges(shape, matrix.shape[1], one, ((-math.inf, float(cut)),), len(pool.groups) == 1))
    return found


# --- with laws -------------------------------------------------------------------------------------


class GivenLaw(Mechanism):
    """A mechanism that is known by its law."""

    name = "given-law"

    def __init__(self, given: zoo_laws.Given) -> None:
        self.given = given

    def law(self, dataset: Any, space: DatasetSpace) -> Law:
        return self.given.law(presented(dataset))


def judged_by_law(name: str, zoo: dict[str, Any], given: zoo_laws.Given | None) -> tuple[str, Verdict, float]:
    """By its law, on the first of the datasets that black boxes are tried on; without one by its code, the last bits included."""
    start = time.process_time()
    entry = zoo[name]
    spec = exactly(entry, spec_of(entry, zoo))
    if given is None:
        verdict = verify_claim(entry.fn, spec, bits=entry.level == "bits")
    else:
        verdict = verify(GivenLaw(given), spec, datasets=datasets(spec, 0)[: given.most])
    return name, verdict, time.process_time() - start


_ZOO: dict[str, Any] = {}
_LAWS: dict[str, zoo_laws.Given] = {}


def _start(path: str) -> None:
    module = load(path)
    _ZOO.update(module.ZOO)
    _LAWS.update(zoo_laws.laws(module))


def _work(task: tuple[str, int, float]) -> tuple[str, Verdict, float]:
    return judged(task[0], _ZOO, task[1], None, task[2])


def _work_otherwise(task: tuple[str, int, float]) -> tuple[str, Verdict, float]:
    return otherwise(task[0], _ZOO, task[1], task[2])


def _work_by_law(task: tuple[str, int, float]) -> tuple[str, Verdict, float]:
    return judged_by_law(task[0], _ZOO, _LAWS.get(task[0]))


def _work_plainly(task: tuple[str, int, float]) -> tuple[str, bool, float]:
    return plainly(task[0], _ZOO, task[1])


# --- the page --------------------------------------------------------------------------------------

WITH_LAWS = "## The zoo with laws"


def entries(pair: tuple[Any, Any]) -> int:
    """The size of a pair: the entries of both datasets."""
    return sum(map(len, pair))


def row(name: str, entry: Any, verdict: Verdict, seconds: float, *, timed: bool) -> list[str]:
    refuted = verdict.outcome is Outcome.REFUTED
    right = entry.verdict == "ok"
    left = "verified" if verdict.outcome is Outcome.VERIFIED else "not refuted"
    mark = ("FALSE ALARM" if refuted else left) if right else ("refuted" if refuted else "missed")
    found, listed, event = "", "", ""
    if verdict.witness is not None:
        witness = verdict.witness
        found = f"{list(witness.left)} / {list(witness.right)}"
        shown = witness.event
        event = "" if shown is None else f"{shown.text}: {_ends(shown.left)} against {_ends(shown.right)}"
        if entry.witness is not None and entries((witness.left, witness.right)) > entries(entry.witness[:2]):
            listed = f" (listed: {entry.witness[0]} / {entry.witness[1]})"
    match = re.search(r"([\d,]+) draws", verdict.scope)
    cells = [
        name,
        "right" if right else "wrong",
        " ".join(map(str, entry.claim)),
        mark,
        verdict.method,
        found + listed,
        event[:150],
        match[1].replace(",", "") if match else "",
    ]
    return [*cells, f"{seconds:.1f}"] if timed else cells


def _ends(bracket: Any) -> str:
    return f"[{float(bracket.lower):.4g}, {float(bracket.upper):.4g}]"


def table(results: list[tuple[str, Verdict, float]], zoo: dict[str, Any], given: argparse.Namespace, wall: float) -> str:
    seed, processes = given.seed, given.processes
    wrong = [name for name, *_ in results if zoo[name].verdict != "ok"]
    found = [name for name, verdict, _ in results if name in wrong and verdict.outcome is Outcome.REFUTED]
    alarms = [name for name, verdict, _ in results if name not in wrong and verdict.outcome is Outcome.REFUTED]
    verified = [name for name, verdict, _ in results if name not in wrong and verdict.outcome is Outcome.VERIFIED]
    larger = [
        name for name, verdict, _ in results
        if name in found and verdict.witness is not None and zoo[name].witness is not None
        and entries((verdict.witness.left, verdict.witness.right)) > entries(zoo[name].witness[:2])
    ]  # fmt: skip
    missed = ", ".join(name for name in wrong if name not in found) or "none"
    lines = [
        f"# The zoo: {len(results)} plain functions with known answers",
        "",
        f"The zoo is a collection of {len(results)} plain functions, {len(wrong)} of which violate their claim. `python benchmarks/zoo.py",
        f"PATH_TO_ZOO.py --seed {seed} --write docs/zoo.md` generates this page. The engine receives only the function, the space, the",
        f"metric, the universe and the claim. Each function has {SECONDS} s of processor time, and the error is 1e-9 per claim. Intervals",
        "are at 99.9 % from fresh draws, x against x'. P14 is run with `bits=True`.",
        "",
        f"* {len(found)} of {len(wrong)} wrong functions are refuted; missed: {missed}.",
        f"* {len(alarms)} of {len(results) - len(wrong)} right functions are refuted. Verified: {len(verified)}.",
        f"* Witnesses with more entries than the listed one: {', '.join(larger) or 'none'}.",
        f"* Processor time {sum(seconds for *_, seconds in results):.0f} s; wall-clock time {wall:.0f} s; processes: {processes}.",
        "",
        "| id | truth | claim | verdict | method | x / x' | event | draws | CPU s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, verdict, seconds in results:
        cells = row(name, zoo[name], verdict, seconds, timed=True)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def table_of_laws(results: list[tuple[str, Verdict, float]], zoo: dict[str, Any], laws: dict[str, zoo_laws.Given]) -> str:
    """The second part of the page."""
    wrong = {name for name in zoo if zoo[name].verdict != "ok"}
    asked = {name for name, *_ in results}
    found = {name for name, verdict, _ in results if verdict.outcome is Outcome.REFUTED}
    verified = {name for name, verdict, _ in results if verdict.outcome is Outcome.VERIFIED}
    by_law, otherwise = found & laws.keys(), (found & wrong) - laws.keys()
    lines = [
        WITH_LAWS,
        "",
        "`python benchmarks/zoo.py PATH_TO_ZOO.py --laws --write docs/zoo.md` generates this section. Where `benchmarks/zoo_laws.py` gives a",
        "law, the exact engine evaluates it on the first of the datasets that black boxes are tested on. *Verified* refers to these datasets",
        "only. Every other entry is the function itself, evaluated by `dpspec.verify`, P14 with `bits=True`. Claims are exact: ln(2) where the",
        "zoo has a double.",
        "",
        f"* {len(found & wrong)} of {len(asked & wrong)} wrong functions are refuted: {len(by_law & wrong)} by a law, and as functions "
        f"{', '.join(sorted(otherwise)) or 'none'}.",
        f"* {len(found - wrong)} of {len(asked - wrong)} right functions are refuted. Verified: {len(verified)}.",
        f"* Processor time {sum(seconds for *_, seconds in results):.0f} s.",
        "",
        "| id | truth | claim | law given | verdict | constant | x / x' | CPU s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, verdict, seconds in results:
        entry, witness = zoo[name], verdict.witness
        given = laws[name].text if name in laws else "the function"
        pair = "" if witness is None else f"{list(witness.left)} / {list(witness.right)}"
        truth = "right" if entry.verdict == "ok" else "wrong"
        constant = str(verdict.constant) if verdict.universes else ""
        cells = [name, truth, " ".join(map(str, entry.claim)), given, verdict.outcome.value, constant, pair, f"{seconds:.2f}"]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def write(path: Path, text: str, *, laws: bool) -> None:
    """Put one part of the page in its place, and keep the other, and the sections below the first."""
    before, _, after = (path.read_text(encoding="utf-8") if path.is_file() else "").partition(WITH_LAWS)
    _, heading, sections = before.partition("\n## ")
    boxes, by_law = (before, text) if laws else (text + heading + sections, WITH_LAWS + after if after else "")
    path.write_text("\n\n".join(part.strip("\n") for part in (boxes, by_law) if part) + "\n", encoding="utf-8")


# --- in parts ---------------------------------------------------------------------------------------


def versions() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in ("dpspec", "numpy", "scipy", "python-flint")}


def add(path: Path, names: list[str], given: argparse.Namespace) -> None:
    """Judge, one after the other, what the file does not hold of these versions and this seed; each is written at once."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    ours = {"versions": versions(), "seed": given.seed, "seconds": given.seconds}
    part = next((one for one in kept if {key: one[key] for key in ours} == ours), None)
    if part is None:
        part = {**ours, "found": {}}
        kept.append(part)
    for name in names:
        if name not in part["found"]:
            _, verdict, seconds = judged(name, _ZOO, given.seed, None, given.seconds)
            part["found"][name] = [verdict.outcome.value, verdict.method, round(seconds, 1)]
            path.write_text(_written(kept), encoding="utf-8")


def _written(kept: list[dict[str, Any]]) -> str:
    """JSON with one line for each function."""
    return re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: f"[{' '.join(m[1].split())}]", json.dumps(kept, indent=1)) + "\n"


def show(path: Path) -> None:
    for part in json.loads(path.read_text(encoding="utf-8")):
        found = part["found"]
        wrong = {name for name in found if _ZOO[name].verdict != "ok"}
        refuted = {name for name in found if found[name][0] == "refuted"}
        verified = {name for name in found if found[name][0] == "verified"}
        print(
            f"dpspec {part['versions']['dpspec']}, seed {part['seed']}, {part['seconds']:g} s each: {len(refuted & wrong)} of "
            f"{len(wrong)} wrong ones refuted (missed: {', '.join(sorted(wrong - refuted)) or 'none'}); of "
            f"{len(found) - len(wrong)} right ones {len(refuted - wrong)} refuted, {len(verified - wrong)} verified; "
            f"wrong ones verified: {len(verified & wrong)}; "
            f"{sum(one[2] for one in found.values()):.0f} s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zoo")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--laws", action="store_true", help="judge by laws where they are given")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--otherwise", action="store_true", help="values reversed, coordinates permuted")
    parser.add_argument("--plainly", action="store_true", help="the baseline")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--add", type=Path, help="a file of results that parts add to")
    parser.add_argument("--show", type=Path, help="what such a file holds")
    given = parser.parse_args()
    _start(given.zoo)
    names = [name for name in _ZOO if not given.only or name in given.only.split(",")]
    if given.add or given.show:
        if given.add:
            add(given.add, names, given)
        show(given.add or given.show)
        return
    start = time.perf_counter()
    work: Any = _work_by_law if given.laws else _work_otherwise if given.otherwise else _work_plainly if given.plainly else _work
    results: list[Any] = []
    with multiprocessing.get_context("spawn").Pool(given.processes, _start, (given.zoo,)) as pool:
        for done in pool.imap_unordered(work, [(name, given.seed, given.seconds) for name in names]):
            results.append(done)
            if given.plainly:
                print(done[0], "refuted" if done[1] else "", f"{done[2]:.1f}", file=sys.stderr, flush=True)
                continue
            print(" | ".join(row(done[0], _ZOO[done[0]], done[1], done[2], timed=True)), file=sys.stderr, flush=True)
    results.sort(key=lambda result: names.index(result[0]))
    if given.plainly:
        wrong = {name for name in names if _ZOO[name].verdict != "ok"}
        found = {name for name, refuted, _ in results if refuted}
        print(f"baseline: {len(found & wrong)} of {len(wrong)} wrong ones, {len(found - wrong)} right ones refuted")
        return
    took = time.perf_counter() - start
    text = table_of_laws(results, _ZOO, _LAWS) if given.laws else table(results, _ZOO, given, took)
    if given.write:
        write(given.write, text, laws=given.laws)
    print(text.split("| id |", maxsplit=1)[0])


if __name__ == "__main__":
    main()
