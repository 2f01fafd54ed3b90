"""Ledgers and accounts of releases, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dpspec.base.exact import rounded_up
from dpspec.base.words import Word, joint_word, stand_ins_in_words
from dpspec.report import terminal
from dpspec.report.json import bracket
from dpspec.report.terminal import (
    FAINT,
    at_most_in_words,
    blocks_in_words,
    budget_in_words,
    grid,
    multiverse_in_words,
    thing_by_name,
    thing_in_words,
)
from dpspec.verifier.standing import failure_code

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dpspec.base.exact import Number
    from dpspec.comparison.composition import Composition, LedgerLine, PrivacyAccount
    from dpspec.verifier.standing import Standing


def ledger_parts(found: Composition) -> list[RenderableType]:
    """The table of the parts, the common blocks with the total, and the losses."""
    rows: list[RenderableType] = [
        _parts(found),
        "",
        Text("Claim status", "bold"),
        Padding(_standings(found), (0, 0, 0, 2)),
    ]
    blocks = grid()
    for block, lines in blocks_in_words(found.best.spec).items():
        blocks.add_row(Text(block, FAINT), "\n".join(lines))
    rows += ["", Text("Together", "bold"), Padding(blocks, (0, 0, 0, 2))]
    if found.proved is not None:
        promised = f"As promised: {budget_in_words(found.spec.budget)}. "
        promised += (
            "The budget above is proved of the mechanisms of the files."
            if all(line.part.is_proved for line in found.lines)
            else "The budget above adds what is proved of the mechanisms of the files and, where nothing is, what is promised."
        )
        rows.append(Padding(Text(promised), (0, 0, 0, 2)))
    rows += ["", Text.assemble(("What adds up: ", "bold"), f"{found.rule} ({found.citation})")]
    return [*rows, *_losses(found)]


def _losses(found: Composition | PrivacyAccount) -> list[RenderableType]:
    losses = found.losses()
    if not losses:
        return []
    rows = [Padding(terminal.bullet(loss), (0, 0, 0, 2)) for loss in losses]
    return ["", Text("What was lost on the way", "bold"), *rows]


def _narrow(value: Number) -> str:
    """A number that is spent, for one of two columns: without the exact form of what is no short decimal."""
    words = at_most_in_words(value)
    return f"at most {rounded_up(value, 6)}" if "(about" in words else words


def _parts(found: Composition) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), expand=True, header_style="bold", show_footer=True)
    total = found.spec.budget.uniform()
    parameter = found.spec.budget.parameter
    amount = at_most_in_words if found.proved is None else _narrow
    table.add_column("part", overflow="fold", footer="together")
    table.add_column("as stated", overflow="fold")
    table.add_column("one change", overflow="fold")
    sum_promised = "" if total is None else amount(total)
    if found.proved is None:
        table.add_column(f"{parameter} in the common blocks", justify="right", footer=sum_promised)
    else:
        proved = found.proved.spec.budget.uniform()
        table.add_column(f"{parameter} as promised", justify="right", footer=sum_promised)
        table.add_column(f"{parameter} as proved", justify="right", footer="" if proved is None else amount(proved))
    for line, best in zip(found.lines, found.best.lines, strict=True):
        spec = line.part.spec
        amounts = [line.spent] if found.proved is None else [line.spent, best.spent]
        by = "" if spec.output_divergence == found.spec.output_divergence else f" by {thing_in_words(spec.output_divergence)}"
        cells = [budget_in_words(spec.budget) + by, thing_in_words(spec.input_divergence), *map(amount, amounts)]
        if found.proved is not None and not line.part.is_proved:
            cells[-1] += " (promised)"
        table.add_row(line.part.name, *cells)
    return table


def _standings(found: Composition | PrivacyAccount) -> Table:
    rows = grid()
    for line in found.lines:
        if line.part.standing is not None:
            rows.add_row(Text(line.part.id, FAINT), terminal.standing_line(line.part.standing))
    rows.add_row(Text("together", FAINT), terminal.standing_line(together(found)))
    return rows


def together(found: Composition | PrivacyAccount) -> Standing:
    """The status of the total: the worst of its parts, and derived where each of them is verified; with what these assume."""
    from dpspec.verifier.standing import Standing

    standings = {line.part.id: line.part.standing for line in found.lines}
    word = joint_word(Word.UNCHECKED if one is None else one.word for one in standings.values())
    deciding = [
        line.part for line in found.lines if line.part.standing is not None and (word.is_good or line.part.standing.word is word)
    ]
    assumed = [text for part in deciding if part.standing is not None for text in part.standing.assumptions]
    assumed += [f"the release {part.id} has {stand_ins_in_words(part.stand_ins)}" for part in deciding if part.stand_ins]
    assumptions = tuple(dict.fromkeys(assumed))
    if word.is_good:
        reason = "each part is verified, and the total follows from the parts by the steps stated"
        return Standing(word=Word.DERIVED, reason=reason, assumptions=assumptions)
    worst = ", ".join(id for id, one in standings.items() if (Word.UNCHECKED if one is None else one.word) is word)
    kept = (
        "a total of promises, which are not all kept"
        if word in (Word.REFUTED, Word.RECORDED)
        else "no more is known of the total"
    )
    return Standing(word=word, reason=f"as that of {worst}; {kept}", assumptions=assumptions)


def exit_code(found: Composition | PrivacyAccount) -> int:
    """0, or 4 where the claim of a part could not be checked, as a plugin failed."""
    return failure_code(line.part.standing for line in found.lines)


def ledger_data(found: Composition, written: str | None = None) -> dict[str, Any]:
    """The same as JSON data."""
    return {
        "parts": [
            {**_line(line), "proved": str(best.spent) if line.part.is_proved else None}
            for line, best in zip(found.lines, found.best.lines, strict=True)
        ],
        "together": {
            "parameter": found.spec.budget.parameter,
            "value": str(found.spec.budget.uniform()),
            "proved": None if found.proved is None else str(found.proved.spec.budget.uniform()),
            "blocks": {block.replace(" ", "_"): lines for block, lines in blocks_in_words(found.spec, thing_by_name).items()},
            "standing": terminal.standing_data(together(found)),
        },
        "rule": found.rule,
        "citation": found.citation,
        "plain_sum": None if found.plain_sum is None else str(found.plain_sum),
        "losses": list(found.losses()),
        "written": written,
        "cap": None,
    }


def _line(line: LedgerLine) -> Mapping[str, Any]:
    stated = line.part.spec.budget
    value = stated.uniform()
    return {
        "id": line.part.id,
        "standing": None if line.part.standing is None else terminal.standing_data(line.part.standing),
        "parameter": stated.parameter,
        "stated": None if value is None else str(value),
        "standard": thing_by_name(line.part.spec.output_divergence),
        "times": line.part.times,
        "amount": str(line.spent),
        "steps": [
            {
                "rule": step.rule,
                "block": step.block,
                "reason": step.reason,
                "citation": step.citation,
                "parameters": dict(step.parameters),
                "before": str(step.before.budget),
                "after": str(step.after.budget),
            }
            for step in line.steps
        ],
    }


def account_parts(found: PrivacyAccount) -> list[RenderableType]:
    """The answer, the parts, and what it is about."""
    name, value = found.given
    answer = found.value.outward(7)
    lies = "lies in" if answer.startswith("[") else "="
    head = Text.assemble((f"{found.wanted} {lies} {answer}", "bold"), f" at {name} = {value.plain()}")
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), expand=True, header_style="bold")
    for title in ("part", "promise"):
        table.add_column(title, overflow="fold")
    table.add_column("times", justify="right")
    for line, times in zip(found.lines, found.times, strict=True):
        promise = f"{budget_in_words(line.spec.budget)} by {thing_in_words(line.spec.output_divergence)}"
        table.add_row(line.part.id, promise, f"{times:,}")
    spec = found.lines[0].spec
    about = grid()
    about.add_row(Text("for datasets", FAINT), f"at distance one change: {thing_in_words(spec.input_divergence)}")
    about.add_row(Text("inside", FAINT), "\n".join(multiverse_in_words(spec.multiverse)))
    status: list[RenderableType] = [Text("Claim status", "bold"), Padding(_standings(found), (0, 0, 0, 2))]
    return [head, "", table, "", about, "", *status, *_losses(found)]


def account_data(found: PrivacyAccount) -> dict[str, Any]:
    """The same as JSON data."""
    name, value = found.given
    return {
        "wanted": found.wanted,
        "value": bracket(found.value),
        "given": {"name": name, "value": str(value)},
        "parts": [{**_line(line), "times": times} for line, times in zip(found.lines, found.times, strict=True)],
        "together": {
            "blocks": {
                block.replace(" ", "_"): lines
                for block, lines in blocks_in_words(found.lines[0].spec, thing_by_name).items()
                if block in ("dataset space", "multiverse", "input divergence")
            },
            "standing": terminal.standing_data(together(found)),
        },
        "losses": list(found.losses()),
    }
