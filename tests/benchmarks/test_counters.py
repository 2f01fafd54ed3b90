"""Cost is watched: counters of work are not larger than recorded, a planted regression is found, no page has a typed figure."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import counters, results
from benchmarks.lines import GROWTH, KNOWN, LINES
from benchmarks.measure import Cost, Round, environment

ROOT = Path(__file__).parents[2]

PLANTED = """
import importlib
import numpy as np

kept = importlib.import_module("dpspec_release.kept")
original = kept.record_keys
def record_keys(tables, columns):
    for name in columns:
        np.unique(np.concatenate([table.codes[name] for table in tables]), return_inverse=True)
    return original(tables, columns)
kept.record_keys = record_keys
"""
"""One `np.unique` for each column, put back into the checks of a release."""

RUN = """
import json, sys
from benchmarks import counting
print(json.dumps(counting.main(sys.argv[1:])))
"""


def counted(*names: str, planted: str = "", seed: str = "random") -> dict:
    """The counters of some lines, from a process of its own."""
    command = [sys.executable, "-c", planted + RUN, *names]
    given = {**environment(), "PYTHONHASHSEED": seed}
    done = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


FAST = ("check", "swap", "geometric-half")
"""Lines whose work is counted in the default run; the others are slow."""
LONG = ("account-charges", "compare-files", "ledger-files", "verify-blocks", "verify-invariants")
"""Lines that take half a minute or more to count."""


def test_no_counter_is_larger_than_recorded() -> None:
    """A larger value is accepted by `python -m benchmarks --counters --write --reason "..."`."""
    assert results.larger_counts(results.read()["counters"], counted(*FAST)) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(6))
def test_no_counter_of_any_line_is_larger_than_recorded(part: int) -> None:
    """At the smallest and the largest size: those between cost as much as these. In parts, so that several workers share them."""
    others = [name for name in LINES if name not in FAST + LONG]
    recorded = {name: results.at_ends(counts) for name, counts in results.read()["counters"].items()}
    assert results.larger_counts(recorded, counted("--ends", *others[part::6])) == []


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in LINES if name not in FAST])
def test_no_counter_at_any_size_is_larger_than_recorded(name: str) -> None:
    assert results.larger_counts(results.read()["counters"], counted(name)) == []


def test_every_line_has_recorded_counters() -> None:
    """A new line is recorded by `python -m benchmarks --counters --only LINE --write`."""
    recorded = results.read()["counters"]
    assert [name for name, line in LINES.items() if name not in recorded or recorded[name]["sizes"] != list(line.counted)] == []
    assert [name for name, line in LINES.items() if not line.counted] == []


def test_every_growth_has_a_bound_and_is_within_it() -> None:
    """What grows faster than its bound has a reason in the results."""
    recorded = results.read()["counters"]
    for what, names in GROWTH.items():
        for name in names:
            line, limit = LINES[name], 1.6 if what == "files of compare" else 1.1
            assert line.bound is not None, name
            assert line.bound <= limit, name
            assert min(len(line.sizes), len(line.counted)) >= 4, name
            powers = {counter: power for counter, power in results.exponents(recorded[name]).items() if power > line.bound}
            assert not powers or "reason" in recorded[name], (name, powers)


@pytest.mark.slow
def test_a_sort_of_each_column_in_the_checks_of_a_release_is_found() -> None:
    found = results.larger_counts(results.read()["counters"], counted("swap", planted=PLANTED))
    assert any(fault.startswith("swap: rows sorted at size ") for fault in found), found


@pytest.mark.long
def test_counters_do_not_depend_on_the_hash_seed() -> None:
    names = ("swap", "geometric-half", "census-ledger")
    one, other = (counted(*names, seed=seed) for seed in ("1", "2"))
    for name in names:
        for counter in one[name]["counts"]:
            if counter == "bytes":
                assert other[name]["counts"][counter] == pytest.approx(one[name]["counts"][counter], rel=0.03)
            else:
                assert other[name]["counts"][counter] == one[name]["counts"][counter], (name, counter)


def test_every_function_that_is_counted_by_name_is_there() -> None:
    for paths in counters.NAMED.values():
        for path in paths:
            assert counters.code_of(path).co_name == path.rpartition(":")[2].rpartition(".")[2]


def test_work_is_counted() -> None:
    import numpy as np
    from dpspec_release.keys import RecordKeys

    from dpspec.base.randomness import SeededRandomness

    def work() -> None:
        np.sort(np.arange(10))
        np.lexsort((np.arange(7), np.arange(7)))
        np.bincount(np.arange(5))
        np.fft.rfft(np.arange(16.0))
        SeededRandomness(1).words(9)
        RecordKeys(np.zeros(3, dtype=np.int64)).append(np.zeros(3, dtype=np.int64), 2)

    found = counters.counted(work)
    assert found["rows sorted"] == 10 + 14
    assert found["rows scanned"] == 5
    assert found["points transformed"] == 16
    assert found["words drawn"] == 9
    assert found["calls"] >= 1


# --- the gate ------------------------------------------------------------------------------------

BEFORE = {"line": {"sizes": [1, 2, 4, 8], "counts": {"rows sorted": [100, 200, 400, 800]}}}


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"rows sorted": [100, 200, 400, 800]}, []),
        ({"rows sorted": [110, 220, 440, 880]}, []),
        ({"rows sorted": [10, 20, 40, 80]}, []),
        ({"rows sorted": [100, 200, 400, 881]}, ["line: rows sorted at size 8: 881, recorded 800"]),
        ({"rows sorted": [10, 25, 65, 160]}, ["line: rows sorted grows with the exponent 1.338, recorded 1.0"]),
        ({"patterns": [0, 0, 0, 1]}, ["line: patterns at size 8: 1, recorded 0"]),
    ],
)
def test_what_is_larger_than_recorded(counts: dict, said: list[str]) -> None:
    found = results.larger_counts(BEFORE, {"line": {"sizes": [1, 2, 4, 8], "counts": counts}})
    assert [fault for fault in found if "patterns grows" not in fault] == said


def test_other_sizes_and_new_lines_have_to_be_recorded() -> None:
    for name, sizes in (("line", [1, 2, 4, 16]), ("other", [1, 2, 4, 8])):
        found = results.larger_counts(BEFORE, {name: {"sizes": sizes, "counts": {}}})
        assert found == [f"{name}: its counters at these sizes are not recorded"]


def round_of(ours: float, calibration: float = 1.0) -> Round:
    return Round(Cost(ours, 100.0), calibration, None)


@pytest.mark.parametrize(
    ("seconds", "is_slower"),
    [((1.0, 1.0, 1.0), False), ((9.0, 9.0, 1.4), False), ((1.6, 9.0, 1.51), True), ((1.4, 9.0, 9.0), False)],
)
def test_a_line_is_slower_only_where_all_rounds_agree(seconds: tuple[float, ...], is_slower: bool) -> None:
    before = {"line": {"ratio": 1.0, "calibration": "sort"}}
    assert (results.slower(before, "line", [round_of(value) for value in seconds]) is not None) is is_slower


def test_a_slow_machine_slows_the_calibration_too() -> None:
    before = {"line": {"ratio": 1.0, "calibration": "sort"}}
    assert results.slower(before, "line", [round_of(10.0, 10.0)] * 3) is None


def test_a_line_without_a_recorded_time_does_not_pass() -> None:
    assert results.slower({}, "line", [round_of(1.0)]) == "line: its time is not recorded"


# --- figures on pages ----------------------------------------------------------------------------


def test_results_have_their_origin() -> None:
    found = results.read()
    assert found["machine"]["processor"]
    assert found["versions"]["numpy"]
    for part in ("lines", "growth", "counters"):
        assert found[part]
        for name, entry in found[part].items():
            assert name in KNOWN
            assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry["date"])
            assert entry["commit"]


TIMING = re.compile(r"\b\d[\d,.]*(?:\s|-)?(?:ms|s|seconds?|minutes?|min|(?:core-)?hours?)\b(?!-|')")

LIMITS = {
    "docs/where-people-work.md": ["0.3 seconds after your last change"],
    "plugins/dpspec-lsp/README.md": ["0.3 seconds after the last change"],
    "docs/trust.md": ["The aim is 10 s and 2 GiB for any file"],
    "CONTRIBUTING.md": ["`.ci/run` has to end in 30 minutes", "takes more than 600 s of"],
}
"""Settings and limits that are chosen, and not measured."""

RECORDS = ("docs/decisions.md", "docs/zoo.md", "docs/changes.md")
"""Decisions state what was measured when they were taken; the page of the zoo is made by `benchmarks/zoo.py` from zoo.json."""

PAGES = [
    path
    for folder in (ROOT / "docs", ROOT / "benchmarks", *ROOT.glob("plugins/*"), ROOT)
    for path in sorted(folder.rglob("*.md") if folder.name in ("docs", "benchmarks") else folder.glob("*.md"))
    if path.name != "CHANGELOG.md" and path.relative_to(ROOT).as_posix() not in RECORDS
]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_timing_figure_is_typed_into_a_page(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for phrase in LIMITS.get(page.relative_to(ROOT).as_posix(), ()):
        text = text.replace(phrase, "")
    found = [line for line in text.splitlines() if TIMING.search(re.sub(r"user-\d+-hours?|--seconds \d+|\]\([^)]*\)", "", line))]
    assert found == [], "figures come from benchmarks/results.json: <!-- site: measured LINE -->"


@pytest.mark.parametrize(
    ("text", "is_timing"),
    [
        ("takes 5.8 s", True), ("in 3 ms.", True), ("about 20 minutes", True), ("3.2 core-hours", True), ("2020s", False),
        ("8 steps", False), ("the 1990s", False), ("10 min", True), ("a 3s run", True), ("3 sizes", False),
    ],
)  # fmt: skip
def test_timing_figures_are_recognised(text: str, is_timing: bool) -> None:
    assert bool(TIMING.search(re.sub(r"\b\d{4}s\b", "", text))) is is_timing
