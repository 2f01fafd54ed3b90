"""Results of the conformance kit, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from dpspec.plural import count
from dpspec.report.terminal import BAD, FAINT, GOOD, OPEN, drawn, grid
from dpspec.testing.kit import CheckResult, Status

_MARKS = {
    Status.PASSED: ("passed", GOOD), Status.FAILED: ("FAILED", BAD), Status.EXPECTED_FAILURE: ("expected", OPEN),
    Status.UNEXPECTED_PASS: ("PASSED AFTER ALL", BAD), Status.NOT_APPLICABLE: ("not asked", FAINT),
}  # fmt: skip
SHOWN = 3
"""Failing subjects that are shown of each check; JSON has all of them."""


def data(plugin: str, results: Sequence[CheckResult]) -> dict[str, Any]:
    """Every result, for programs."""
    listed = [{"check": r.check, "subject": r.subject, "status": r.status.value, "detail": r.detail} for r in results]
    return {"plugin": plugin, "conforms": not any(r.status.is_fault for r in results), "results": listed}


def text(plugin: str, results: Sequence[CheckResult]) -> str:
    """One line for each check, and what was found where one fails."""
    rows = grid(indent=2)
    for name in dict.fromkeys(result.check for result in results):
        same = [result for result in results if result.check == name]
        worst = next(status for status in _WORST_FIRST if any(r.status is status for r in same))
        mark, style = _MARKS[worst]
        rows.add_row("", Text(mark, style), f"{name.removeprefix('check_').replace('_', ' ')}: {_tally(same)}")
        for result in [r for r in same if r.status is worst and worst not in (Status.PASSED, Status.NOT_APPLICABLE)][:SHOWN]:
            rows.add_row("", "", Text(f"{result.subject}: {result.detail}"))
    faults = sum(result.status.is_fault for result in results)
    verdict = Text(f"{count(faults, 'result')} to be mended", BAD) if faults else Text("conforms", GOOD)
    return drawn(Text.assemble((plugin, "bold"), ": ", verdict), rows)


_WORST_FIRST = (Status.FAILED, Status.UNEXPECTED_PASS, Status.EXPECTED_FAILURE, Status.PASSED, Status.NOT_APPLICABLE)


def _tally(results: Sequence[CheckResult]) -> str:
    found = Counter(result.status for result in results)
    return ", ".join(f"{found[status]:,} {status.value}" for status in _WORST_FIRST if found[status])
