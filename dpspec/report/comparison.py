"""A comparison as text: the blocks side by side, each direction with its argument, and what to beware of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dpspec.compare.comparison import Answer, Comparison, Direction, Relation, Separation
from dpspec.report import standing
from dpspec.report.terminal import BAD, FAINT, GOOD, OPEN, drawn
from dpspec.report.words import blocks_in_words, number_in_words, pair_in_words, thing_in_words
from dpspec.spec import PrivacySpec
from dpspec.specfile.document import SpecDocument
from dpspec.verify.standing import Standing

_STYLES = {Answer.IMPLIES: GOOD, Answer.SEPARATED: BAD, Answer.UNKNOWN: OPEN}
_SENTENCES = {
    Relation.EQUIVALENT: "Every mechanism that satisfies the one satisfies the other.",
    Relation.IMPLIES: "Every mechanism that satisfies A satisfies B",
    Relation.IMPLIED_BY: "Every mechanism that satisfies B satisfies A",
    Relation.INCOMPARABLE: "Neither promise contains the other: each allows a mechanism that the other forbids.",
    Relation.UNKNOWN: "At least one direction could be neither derived nor separated.",
}


def text(found: Comparison, left: SpecDocument, right: SpecDocument, stand: tuple[Standing, Standing]) -> str:
    """The whole comparison of two files, with how the claim of each stands."""
    parts: list[RenderableType] = [_titles(left, right, stand), _side_by_side(found)]
    parts += [_direction("A", "B", found.forward, found.right)]
    parts += [_direction("B", "A", found.backward, found.left)]
    if found.notes:
        parts.append(_section("Beware", [_bullet(note) for note in found.notes]))
    parts += [_budgets(found), _relation(found)]
    return drawn(*(part for pair in zip(parts, [""] * len(parts), strict=True) for part in pair)).rstrip()


def _titles(left: SpecDocument, right: SpecDocument, stand: tuple[Standing, Standing]) -> Table:
    rows = Table.grid(padding=(0, 2, 0, 0))
    for letter, document, stands in (("A", left, stand[0]), ("B", right, stand[1])):
        rows.add_row(Text(letter, "bold"), Text(document.id, "bold"))
        rows.add_row("", document.title)
        rows.add_row("", standing.line(stands))
    return rows


def _side_by_side(found: Comparison) -> Table:
    """The five blocks; where both specifications have the same one, it is printed once."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), expand=True, header_style="bold")
    table.add_column("block", no_wrap=True, style=FAINT)
    table.add_column("A", ratio=1, overflow="fold")
    table.add_column("B", ratio=1, overflow="fold")
    left, right = blocks_in_words(found.left), blocks_in_words(found.right)
    for block, lines in left.items():
        theirs = Text("(the same)", FAINT) if lines == right[block] else _lines(right[block])
        table.add_row(block, _lines(lines), theirs)
    return table


def _lines(lines: list[str]) -> RenderableType:
    rows = Table.grid(padding=(0, 1, 0, 0))
    rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold")
    if not any(line.startswith("- ") for line in lines):
        return Group(*map(Text, lines))
    for line in lines[1:]:
        rows.add_row("-", line.removeprefix("- "))
    return Group(Text(lines[0]), rows)


def _section(title: str | Text, parts: list[RenderableType]) -> Group:
    head = Text(title, "bold") if isinstance(title, str) else title
    return Group(head, *(Padding(part, (0, 0, 0, 2)) for part in parts))


def _bullet(note: str) -> Table:
    rows = Table.grid(padding=(0, 1, 0, 0))
    rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold")
    rows.add_row("-", note)
    return rows


def _direction(premise: str, conclusion: str, direction: Direction, wanted: PrivacySpec) -> Group:
    """Whether the premise implies the conclusion, with every step of the argument."""
    head = Text.assemble(
        (f"Does {premise} imply {conclusion}?  ", "bold"),
        ({Answer.IMPLIES: "yes", Answer.SEPARATED: "no", Answer.UNKNOWN: "unknown"}[direction.answer], _STYLES[direction.answer]),
    )
    steps = Table.grid(padding=(0, 2, 0, 0))
    steps.add_column(no_wrap=True)
    steps.add_column(no_wrap=True, style=FAINT)
    steps.add_column(overflow="fold")
    marks = {True: Text("holds", GOOD), False: Text("fails", BAD), None: Text("open", OPEN)}
    for step in direction.steps:
        factor = f" (factor {step.factor})" if step.factor != "1" else ""
        steps.add_row(marks[step.holds], step.block, _reason(step.reason + factor))
    if direction.tried:
        steps.add_row(
            "", "tried", _lines(["in search of a mechanism that separates them:", *(f"- {line}" for line in direction.tried)])
        )
    parts: list[RenderableType] = [steps]
    if direction.separation is not None:
        parts += [Text(""), *_separation(direction.separation, premise, conclusion, wanted)]
    return _section(head, parts)


_LISTED = re.compile(r"(?P<head>.*?) \((?P<items>.*; .*)\)", re.DOTALL)


def _reason(reason: str) -> RenderableType:
    """A reason; when it closes with a list in brackets, that list item by item."""
    listed = _LISTED.fullmatch(reason)
    if listed is None:
        return Text(reason)
    return _lines([listed["head"] + ":", *(f"- {item}" for item in listed["items"].split("; "))])


def _separation(found: Separation, premise: str, conclusion: str, spec: PrivacySpec) -> Iterator[RenderableType]:
    """The mechanism that satisfies the premise and breaks the conclusion."""
    where = f", at datasets that {premise} says nothing about" if found.kind == "space" else ""
    yield Text(f"A mechanism that satisfies {premise} and breaks {conclusion}{where}:")
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_column(no_wrap=True, style=FAINT)
    rows.add_column(overflow="fold")
    words, *held = found.mechanism.split(": ", 1)
    rows.add_row("mechanism", _lines([f"{words}:", *(f"- {part}" for part in held[0].split("; "))]) if held else found.mechanism)
    rows.add_row(f"satisfies {premise}", found.argument)
    left, right = pair_in_words(found.left, found.right, spec.space)
    rows.add_row("on the pair", f"x  = {left}")
    rows.add_row("", f"x' = {right}")
    if spec.space.cells_are_records:
        rows.add_row("", Text("(what is the same in all their records is left out)", FAINT))
    rows.add_row(f"engine on {premise}", _shortened(found.checks[0]))
    rows.add_row(f"engine on {conclusion}", _shortened(found.checks[1]))
    yield rows


def _shortened(check: str, limit: int = 300) -> str:
    return check if len(check) <= limit else check[: limit - 3] + "..."


def _budgets(found: Comparison) -> Group:
    """Both budgets, each with the name of its number and what it multiplies."""
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold")
    for letter, spec in (("A", found.left), ("B", found.right)):
        value = spec.budget.uniform()
        number = number_in_words(value) if value is not None else "differs by universe"
        per, standard = thing_in_words(spec.input_divergence), thing_in_words(spec.output_divergence)
        rows.add_row(letter, f"{spec.budget.parameter} = {number}, per unit of {per}, measured by {standard}")
    return _section("Budgets", [rows])


def _relation(found: Comparison) -> Group:
    relation, answers = found.relation, {found.forward.answer, found.backward.answer}
    style = {Relation.INCOMPARABLE: BAD, Relation.UNKNOWN: OPEN}.get(relation, GOOD)
    words = {
        Relation.IMPLIES: "A implies B", Relation.IMPLIED_BY: "A is implied by B", Relation.EQUIVALENT: "A and B are equivalent",
        Relation.INCOMPARABLE: "A and B are incomparable", Relation.UNKNOWN: "unknown",
    }[relation]  # fmt: skip
    sentence = _SENTENCES[relation]
    if relation in (Relation.IMPLIES, Relation.IMPLIED_BY):
        sentence += ", and not conversely." if Answer.SEPARATED in answers else "; the converse stays open."
    elif relation is Relation.UNKNOWN and Answer.SEPARATED in answers:
        premise, conclusion = ("A", "B") if found.forward.answer is Answer.SEPARATED else ("B", "A")
        sentence = f"{premise} does not imply {conclusion}; whether {conclusion} implies {premise} stays open."
    return Group(Text.assemble(("Relation: ", "bold"), (words, style)), Text(sentence))
