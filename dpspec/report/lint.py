"""Findings of the linter as text, one line each in front of its advice, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.padding import Padding
from rich.text import Text

from dpspec.lint.finding import Finding
from dpspec.plural import count
from dpspec.report.terminal import BAD, FAINT, OPEN, drawn, headline

_STYLES = {"error": BAD, "warning": OPEN}


def text(findings: Sequence[Finding], files: Sequence[Path], *, explained: bool) -> str:
    """The findings that nobody explains, with `explained` the others too, and how many there are of each."""
    shown = [single for single in findings if explained or single.explained is None]
    lines = [drawn(*_lines(single)) for single in shown]
    return "\n".join([*lines, _summary(findings, files)])


def _lines(found: Finding) -> Iterable[Text | Padding]:
    yield headline(f"{found.file}:{found.line}", found.severity.value, _STYLES[found.severity.value], f"  [{found.code}]")
    yield Padding(Text(found.message), (0, 0, 0, 2))
    if found.explained is None:
        yield Padding(Text(found.advice, FAINT), (0, 0, 0, 2))
    else:
        yield Padding(Text(f"explained: {found.explained}", FAINT), (0, 0, 0, 2))


def _summary(findings: Sequence[Finding], files: Sequence[Path]) -> str:
    stand = sum(single.explained is None for single in findings)
    told = "no finding" if stand == 0 else count(stand, "finding")
    rest = len(findings) - stand
    return f"{count(len(files), 'file')}: {told}" + (f", {rest} explained" if rest else "")


def data(findings: Sequence[Finding], files: Sequence[Path]) -> dict[str, Any]:
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
