"""A ledger as text and as JSON: its parts, the common blocks, the total, and what was lost on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dpspec.ledger.composition import Composition, Line
from dpspec.report import standing
from dpspec.report.terminal import FAINT, drawn, grid
from dpspec.report.words import blocks_in_words, budget_in_words, number_in_words, thing_in_words
from dpspec.rule import Step
from dpspec.verify.standing import Standing
from dpspec.verify.words import Word, joint_word


def text(found: Composition) -> str:
    """The table of the parts, the common blocks with the total, and the losses."""
    rows: list[RenderableType] = [_parts(found), "", Text("How the claims stand", "bold"), Padding(_stand(found), (0, 0, 0, 2))]
    rows += ["", Text("Together", "bold"), Padding(_blocks(found), (0, 0, 0, 2))]
    rows += ["", Text.assemble(("What adds up: ", "bold"), f"{found.rule} ({found.citation})")]
    losses = found.losses()
    if losses:
        rows += ["", Text("What was lost on the way", "bold")]
        rows += [Padding(_bullet(loss), (0, 0, 0, 2)) for loss in losses]
    return drawn(*rows).rstrip()


def _parts(found: Composition) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), expand=True, header_style="bold", show_footer=True)
    total = found.spec.budget.uniform()
    parameter = found.spec.budget.parameter
    table.add_column("part", overflow="fold", footer="together")
    table.add_column("as stated", overflow="fold")
    table.add_column("per unit of", overflow="fold")
    table.add_column(f"{parameter} in the common blocks", justify="right", footer="" if total is None else number_in_words(total))
    for line in found.lines:
        spec = line.part.spec
        stated = budget_in_words(spec.budget)
        table.add_row(line.part.id, stated, thing_in_words(spec.input_divergence), number_in_words(line.amount))
    return table


def _stand(found: Composition) -> Table:
    rows = grid()
    for line in found.lines:
        if line.part.standing is not None:
            rows.add_row(Text(line.part.id, FAINT), standing.line(line.part.standing))
    rows.add_row(Text("together", FAINT), standing.line(together(found)))
    return rows


def together(found: Composition) -> Standing:
    """How the total stands: as the worst of its parts, and derived where each of them is verified."""
    stand = {line.part.id: line.part.standing for line in found.lines}
    word = joint_word(Word.UNCHECKED if one is None else one.word for one in stand.values())
    if word.is_good:
        return Standing(
            word=Word.DERIVED, reason="each part is verified, and the total follows from the parts by the steps stated"
        )
    worst = ", ".join(id for id, one in stand.items() if (Word.UNCHECKED if one is None else one.word) is word)
    kept = (
        "a total of promises, which are not all kept"
        if word in (Word.REFUTED, Word.RECORDED)
        else "no more is known of the total"
    )
    return Standing(word=word, reason=f"as that of {worst}; {kept}")


def _blocks(found: Composition) -> Table:
    rows = grid()
    for block, lines in blocks_in_words(found.spec).items():
        rows.add_row(Text(block, FAINT), "\n".join(lines))
    return rows


def _bullet(words: str) -> Table:
    rows = Table.grid(padding=(0, 1, 0, 0))
    rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold")
    rows.add_row("-", words)
    return rows


def data(found: Composition, written: str | None = None) -> dict[str, Any]:
    """The same as JSON data."""
    return {
        "parts": [_line(line) for line in found.lines],
        "together": {
            "parameter": found.spec.budget.parameter,
            "value": str(found.spec.budget.uniform()),
            "blocks": {block.replace(" ", "_"): lines for block, lines in blocks_in_words(found.spec).items()},
            "standing": standing.data(together(found)),
        },
        "rule": found.rule,
        "citation": found.citation,
        "plain_sum": None if found.plain_sum is None else str(found.plain_sum),
        "losses": list(found.losses()),
        "written": written,
    }


def _line(line: Line) -> Mapping[str, Any]:
    stated = line.part.spec.budget
    value = stated.uniform()
    return {
        "id": line.part.id,
        "standing": None if line.part.standing is None else standing.data(line.part.standing),
        "parameter": stated.parameter,
        "stated": None if value is None else str(value),
        "amount": str(line.amount),
        "steps": [_step(step) for step in line.steps],
    }


def _step(step: Step) -> Mapping[str, Any]:
    return {
        "rule": step.rule,
        "block": step.block,
        "reason": step.reason,
        "citation": step.citation,
        "parameters": dict(step.parameters),
        "before": str(step.before.budget),
        "after": str(step.after.budget),
    }
