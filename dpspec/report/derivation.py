"""A checked derivation as text and as JSON."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from dpspec.checker.check import Checked
from dpspec.plural import count
from dpspec.report.terminal import BAD, FAINT, GOOD, OPEN, drawn

_STYLES = {"accepted": GOOD, "trusted": OPEN, "unchecked": OPEN, "rejected": BAD}


def data(path: str, found: Checked) -> dict[str, Any]:
    """The verdict on a derivation file, step by step."""
    steps = [{"rule": step.rule, "status": step.status, "reason": step.reason} for step in found.steps]
    return {"path": path, "accepted": found.accepted, "steps": steps}


def text(path: str, found: Checked) -> str:
    """The same for people."""
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_column(no_wrap=True)
    rows.add_column(no_wrap=True)
    rows.add_column(no_wrap=True, style=FAINT)
    rows.add_column(overflow="fold")
    for place, step in enumerate(found.steps, start=1):
        rows.add_row(f"  {place}", Text(step.status, _STYLES[step.status]), step.rule, Text(step.reason))
    word, style = ("accepted", GOOD) if found.accepted else ("not accepted", BAD)
    head = Text.assemble((f"{path}: ", "bold"), (word, style), f", {count(len(found.steps), 'step')}")
    return drawn(head, rows).rstrip() if found.steps else drawn(head).rstrip()
