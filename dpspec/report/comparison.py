"""The comparison of two specifications, as text and as a figure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dpspec.base.words import Word
from dpspec.blocks.parts import Collections
from dpspec.comparison.compare import Answer, Comparison, Direction, Implication
from dpspec.comparison.separations import Separation
from dpspec.grammar.spec import blocks_of
from dpspec.report import terminal
from dpspec.report.figures import BlockRow, Figure, side_by_side
from dpspec.report.risk import numbers_parts
from dpspec.report.terminal import (
    BAD,
    FAINT,
    GOOD,
    OPEN,
    blocks_in_words,
    number_in_words,
    pair_in_words,
    part_in_words,
    thing_in_words,
)
from dpspec.report.yardsticks import SpecNames

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dpspec.grammar.spec import PrivacySpec
    from dpspec.risks import RiskNumbers
    from dpspec.specfile.document import SpecDocument
    from dpspec.verifier.standing import Standing

_STYLES = {Answer.IMPLIES: GOOD, Answer.SEPARATED: BAD, Answer.UNKNOWN: OPEN}
_SENTENCES = {
    Implication.EQUIVALENT: (
        "Every mechanism that satisfies the promise of A satisfies that of B, and conversely. Whether the two methods keep "
        "their promises is the claim status."
    ),
    Implication.IMPLIES: "Every mechanism that satisfies A satisfies B",
    Implication.IMPLIED_BY: "Every mechanism that satisfies B satisfies A",
    Implication.INCOMPARABLE: "Neither promise contains the other: each allows a mechanism that the other forbids.",
    Implication.DIFFERENT_DATA: (
        "Their dataset spaces differ, and no common schema is known: each promise is silent about datasets of the other, and "
        "their budgets do not compare."
    ),
    Implication.UNKNOWN: "At least one direction could be neither derived nor separated.",
}


def comparison_parts(
    found: Comparison,
    left: SpecDocument,
    right: SpecDocument,
    standings: tuple[Standing, Standing],
    risks: tuple[RiskNumbers, RiskNumbers],
    *,
    verbose: bool = False,
) -> list[RenderableType]:
    """The answer, the two files with the status of their claims, their blocks, and the reasons.

    Args:
        found: the comparison.
        left, right: the two files.
        standings: the status of each claim.
        risks: the risk reports of each promise and its mechanism.
        verbose: show every step of the arguments too, what the exact engine checked, and both budgets in words.
    """
    titles = Table.grid(padding=(0, 2, 0, 0))
    for letter, document, claimed in (("A", left, standings[0]), ("B", right, standings[1])):
        titles.add_row(Text(letter, "bold"), Text(document.id, "bold"))
        titles.add_row("", document.title)
        titles.add_row("", terminal.standing_line(claimed))
    blocks = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), expand=True, header_style="bold")
    blocks.add_column("block", no_wrap=True, style=FAINT)
    blocks.add_column("A", ratio=1, overflow="fold")
    blocks.add_column("B", ratio=1, overflow="fold")
    ours, theirs = _both_in_words(found)
    for block, lines in ours.items():
        same = lines == theirs[block]  # printed once
        blocks.add_row(block, _lines(lines), Text("(the same)", FAINT) if same else _lines(theirs[block]))
    parts: list[RenderableType] = [_relation(found, standings), titles, blocks]
    parts += [_direction("A", "B", found.forward, found.right, verbose=verbose)]
    parts += [_direction("B", "A", found.backward, found.left, verbose=verbose)]
    for letter, document, numbers in (("A", left, risks[0]), ("B", right, risks[1])):
        risk_parts = numbers_parts(numbers, document.spec, with_own=document.mechanism is not None)
        parts += [_section(f"{letter}, {document.id}", risk_parts)] if risk_parts else []
    notes = [*found.notes, *rests_on("A", left), *rests_on("B", right)]
    if notes:
        parts.append(_section("Beware", [terminal.bullet(note) for note in notes]))
    if not verbose:
        parts.append(Text(MORE, FAINT))
    else:
        budgets = terminal.grid()
        for letter, spec in (("A", found.left), ("B", found.right)):
            value = spec.budget.uniform()
            number = number_in_words(value) if value is not None else "differs by universe"
            stated = spec.budget.unpublished() or f"{spec.budget.parameter} = {number}"
            per, standard = thing_in_words(spec.input_divergence), thing_in_words(spec.output_divergence)
            budgets.add_row(letter, f"{stated}, for {per}, by {standard}")
        parts.append(_section("Budgets", [budgets]))
    return [part for pair in zip(parts, [""] * len(parts), strict=True) for part in pair]


MORE = "All steps of the arguments, and what was checked: --verbose"


def rests_on(letter: str, document: SpecDocument) -> list[str]:
    """The assumptions and the limits of an answer about a file: assumed blocks, steps outside of the guarantee."""
    assumed = [f"the answer rests on an assumption about {letter}: {one}" for one in document.assumed]
    inferred = [f"about {letter}: {one}" for one in document.provenance if one.how == "inferred"]
    beside = [f"{letter} also promises: {part}, {part_in_words(part.spec, document.spec)}" for part in document.parts]
    return assumed + inferred + beside + [f"the promise of {letter} does not cover: {step}" for step in document.unaccounted]


def _both_in_words(found: Comparison) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The blocks of both; where the words leave out in what they differ, as of a budget for each universe, this is said."""
    left, right = blocks_in_words(found.left), blocks_in_words(found.right)
    ours, theirs = blocks_of(found.left), blocks_of(found.right)
    for name, block in zip(ours, left, strict=True):
        if ours[name] != theirs[name] and left[block] == right[block]:
            right[block] = [*right[block], OTHERWISE]
    return left, right


OTHERWISE = "(with other parameters)"


def blocks_figure(
    found: Comparison, names: SpecNames, standings: Sequence[Standing | None] = (None, None), theme: str = "light"
) -> Figure:
    """The five blocks side by side, with the steps that separate the two, the answers, and the status of both claims."""
    left, right = _both_in_words(found)
    ways = (
        ("A does not imply B here", "open from A to B", found.forward),
        ("B does not imply A here", "open from B to A", found.backward),
    )
    rows = [
        BlockRow(
            block=block, left=tuple(lines), right=tuple(right[block]),
            notes=tuple(
                f"{fails if step.holds is False else open_}: {step.reason}"
                for fails, open_, way in ways for step in way.steps
                if way.answer is not Answer.IMPLIES and step.holds is not True and step.block == block
            ),
        )
        for block, lines in left.items()
    ]  # fmt: skip
    words = {Answer.IMPLIES: ("yes", True), Answer.SEPARATED: ("no, a mechanism separates them", False),
             Answer.UNKNOWN: ("not known", None)}  # fmt: skip
    asked = (("Does A imply B?", found.forward), ("Does B imply A?", found.backward))
    answers = [(f"{question} {words[way.answer][0]}", words[way.answer][1]) for question, way in asked]
    answers.append((f"{headline(found, standings)}.", None))
    return side_by_side("The five blocks side by side", names, rows, answers, theme)


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


_LISTED = re.compile(r"(?P<head>.*?) \((?P<items>.*; .*)\)", re.DOTALL)


def _direction(premise: str, conclusion: str, direction: Direction, wanted: PrivacySpec, *, verbose: bool) -> Group:
    """Whether the premise implies the conclusion, with the steps of the argument; where a mechanism shows the contrary, only
    those that fail, unless all are requested."""
    head = Text.assemble(
        (f"Does {premise} imply {conclusion}?  ", "bold"),
        ({Answer.IMPLIES: "yes", Answer.SEPARATED: "no", Answer.UNKNOWN: "unknown"}[direction.answer], _STYLES[direction.answer]),
    )
    steps = Table.grid(padding=(0, 2, 0, 0))
    steps.add_column(no_wrap=True)
    steps.add_column(no_wrap=True, style=FAINT)
    steps.add_column(overflow="fold")
    marks = {True: Text("holds", GOOD), False: Text("fails", BAD), None: Text("open", OPEN)}
    everything = verbose or direction.separation is None
    shown = [step for step in direction.steps if everything or step.holds is False]
    for step in shown:
        factor = f" (factor {step.factor})" if step.factor != "1" else ""
        listed = _LISTED.fullmatch(step.reason + factor)
        reason: RenderableType = Text(step.reason + factor)
        if listed is not None:  # it closes with a list in brackets, which is shown item by item
            reason = _lines([listed["head"] + ":", *(f"- {item}" for item in listed["items"].split("; "))])
        steps.add_row(marks[step.holds], step.block, reason)
    if direction.tried and verbose:
        steps.add_row(
            "", "tried", _lines(["in search of a mechanism that separates them:", *(f"- {line}" for line in direction.tried)])
        )
    parts: list[RenderableType] = [steps] if steps.row_count else []
    if direction.separation is not None and direction.separation.kind == "space" and not verbose:
        lacks = f"{conclusion} covers datasets that the dataset space of {premise} does not have (--verbose shows two)"
        parts.append(Text(lacks))
    elif direction.separation is not None:
        parts += [Text("")] if parts else []
        parts += _separation(direction.separation, premise, conclusion, wanted, verbose=verbose)
    return _section(head, parts)


def _separation(
    found: Separation, premise: str, conclusion: str, spec: PrivacySpec, *, verbose: bool
) -> Iterator[RenderableType]:
    """The mechanism that satisfies the premise and breaks the conclusion."""
    where = f", at datasets that {premise} says nothing about" if found.kind == "space" else ""
    yield Text(f"A mechanism that satisfies {premise} and breaks {conclusion}{where}:")
    rows = terminal.grid(style=FAINT)
    words, *held = found.mechanism.split(": ", 1)
    rows.add_row("mechanism", _lines([f"{words}:", *(f"- {part}" for part in held[0].split("; "))]) if held else found.mechanism)
    rows.add_row(f"satisfies {premise}", found.argument)
    left, right = pair_in_words(found.left, found.right, spec.space)
    rows.add_row("on the pair", f"x  = {left}")
    rows.add_row("", f"x' = {right}")
    if Collections.found_in(spec.space) is not None:
        rows.add_row("", Text("(what is the same in all their records is left out)", FAINT))
    if verbose:
        rows.add_row(f"engine on {premise}", _shortened(found.checks[0]))
    rows.add_row(f"engine on {conclusion}", _shortened(found.checks[1]))
    yield rows


def _shortened(check: str, limit: int = 300) -> str:
    return check if len(check) <= limit else check[: limit - 3] + "..."


_CLAIMS = {
    Word.VERIFIED: "verified",
    Word.DERIVED: "verified by a derivation",
    Word.MINIATURE: "true on miniatures only",
    Word.RECORDED: "known to be false",
    Word.UNCHECKED: "not checked",
    Word.UNDECIDED: "undecided",
    Word.REFUTED: "refuted",
    Word.PLUGIN: "not checked, since a plugin failed",
}
_RELATIONS = {
    Implication.IMPLIES: "A implies B",
    Implication.IMPLIED_BY: "A is implied by B",
    Implication.EQUIVALENT: "A and B make equivalent promises",
    Implication.INCOMPARABLE: "A and B are incomparable",
    Implication.DIFFERENT_DATA: "A and B describe different data",
    Implication.UNKNOWN: "Unknown",
}


def claim_status(standing: Standing | None) -> str:
    """Whether the claim of a file was checked, and with which result, in a few words, and whether that rests on assumptions."""
    return _CLAIMS[Word.UNCHECKED] if standing is None else _CLAIMS[standing.word] + standing.suffix


def claims_in_words(standings: Sequence[Standing | None]) -> str:
    """The claim status of A and of B: equal promises say nothing about whether two methods keep them."""
    one, other = map(claim_status, standings)
    return f"both claims {one}" if one == other else f"claim of A {one}, claim of B {other}"


def headline(found: Comparison, standings: Sequence[Standing | None]) -> str:
    """The relation of two promises with the claim status of both."""
    return f"{_RELATIONS[found.relation]} ({claims_in_words(standings)})"


def _relation(found: Comparison, standings: Sequence[Standing]) -> Group:
    relation, answers = found.relation, {found.forward.answer, found.backward.answer}
    style = {Implication.INCOMPARABLE: BAD, Implication.UNKNOWN: OPEN, Implication.DIFFERENT_DATA: OPEN}.get(relation, GOOD)
    sentence = _SENTENCES[relation]
    if relation in (Implication.IMPLIES, Implication.IMPLIED_BY):
        sentence += ", and not conversely." if Answer.SEPARATED in answers else "; the converse stays open."
    elif relation is Implication.UNKNOWN and Answer.SEPARATED in answers:
        premise, conclusion = ("A", "B") if found.forward.answer is Answer.SEPARATED else ("B", "A")
        sentence = f"{premise} does not imply {conclusion}; whether {conclusion} implies {premise} stays open."
    head = Text.assemble(("Relation: ", "bold"), (_RELATIONS[relation], style), f" ({claims_in_words(standings)})")
    schema = [Text(f"Compared on one schema: {'; '.join(found.restated)}.")] if found.restated else []
    return Group(head, Text(sentence), *schema)
