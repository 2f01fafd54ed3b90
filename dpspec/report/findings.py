"""Findings of the linter, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.text import Text

from dpspec.base.errors import count
from dpspec.report.terminal import (
    BAD,
    FAINT,
    OPEN,
    drawn,
    headline,
)

if TYPE_CHECKING:
    from pathlib import Path

    from dpspec.linter.finding import Finding

_STYLES = {"error": BAD, "warning": OPEN}


def lint_text(findings: Sequence[Finding], files: Sequence[Path], *, explained: bool) -> str:
    """The findings without an explanation, with `explained` the others too, and the number of each."""
    shown = [single for single in findings if explained or single.explained is None]
    lines = []
    for single in shown:
        style = _STYLES[single.severity.value]
        head = headline(f"{single.file}:{single.line}", single.severity.value, style, f"  [{single.code}]")
        last = single.advice if single.explained is None else f"explained: {single.explained}"
        lines.append(drawn(head, Padding(Text(single.message), (0, 0, 0, 2)), Padding(Text(last, FAINT), (0, 0, 0, 2))))
    left = sum(single.explained is None for single in findings)
    findings_left = "no finding" if left == 0 else count(left, "finding")
    rest = len(findings) - left
    return "\n".join([*lines, f"{count(len(files), 'file')}: {findings_left}" + (f", {rest} explained" if rest else "")])


def lint_data(findings: Sequence[Finding], files: Sequence[Path]) -> dict[str, Any]:
    """The same as JSON data, with the explained ones."""
    return {
        "files": [str(file) for file in files],
        "findings": [
            {
                "code": found.code,
                "severity": found.severity.value,
                "file": found.file,
                "line": found.line,
                "message": found.message,
                "advice": found.advice,
                "explained": found.explained,
            }
            for found in findings
        ],
    }
