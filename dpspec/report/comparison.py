"""Comparisons, conversions, derivations, orders and yardsticks, as text and as JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dpspec.base.errors import UnknownNameError, count
from dpspec.base.exact import Bracket, Number
from dpspec.base.params import did_you_mean
from dpspec.base.types import JsonData
from dpspec.base.words import Word, worst_code
from dpspec.blocks.parts import Collections, nesting_of
from dpspec.comparison.compare import Answer, Comparison, Direction, Implication
from dpspec.comparison.order import Order
from dpspec.comparison.separations import Separation
from dpspec.report import terminal
from dpspec.report.figures import BlockRow, DiagramBox, Figure, diagram, side_by_side
from dpspec.report.json import bracket
from dpspec.report.risk import numbers_parts
from dpspec.report.terminal import (
    BAD,
    FAINT,
    GOOD,
    OPEN,
    blocks_in_words,
    bracket_in_words,
    budget_in_short,
    budget_in_words,
    drawn,
    grid,
    number_in_words,
    pair_in_words,
    thing_by_name,
    thing_in_words,
    width,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dpspec.comparison.yardstick import Attack, Yardstick, YardstickSide
    from dpspec.extension import Registry
    from dpspec.grammar.rule import Step
    from dpspec.grammar.spec import PrivacySpec
    from dpspec.reason.conversions import ConversionPath, Conversions, TheoremNumbers
    from dpspec.reason.search import Derivation
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
    parts: list[RenderableType] = [_relation(found, standings), titles, _side_by_side(found)]
    parts += [_direction("A", "B", found.forward, found.right, verbose=verbose)]
    parts += [_direction("B", "A", found.backward, found.left, verbose=verbose)]
    for letter, document, numbers in (("A", left, risks[0]), ("B", right, risks[1])):
        told = numbers_parts(numbers, document.spec, with_own=document.mechanism is not None)
        parts += [_section(f"{letter}, {document.id}", told)] if told else []
    notes = [*found.notes, *rests_on("A", left), *rests_on("B", right)]
    if notes:
        parts.append(_section("Beware", [terminal.bullet(note) for note in notes]))
    parts.append(_budgets(found) if verbose else Text(MORE, FAINT))
    return [part for pair in zip(parts, [""] * len(parts), strict=True) for part in pair]


MORE = "All steps of the arguments, and what was checked: --verbose"


def rests_on(letter: str, document: SpecDocument) -> list[str]:
    """The assumptions and the limits of an answer about a file: assumed blocks, steps outside of the guarantee."""
    assumed = [f"the answer rests on an assumption about {letter}: {one}" for one in document.assumed]
    inferred = [f"about {letter}: {one}" for one in document.provenance if one.how == "inferred"]
    beside = [f"{letter} also promises: {part}, {budget_in_words(part.spec.budget)}" for part in document.parts]
    return assumed + inferred + beside + [f"the promise of {letter} does not cover: {step}" for step in document.unaccounted]


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


def blocks_figure(
    found: Comparison, names: SpecNames, standings: Sequence[Standing | None] = (None, None), theme: str = "light"
) -> Figure:
    """The five blocks side by side, with the steps that separate the two, the answers, and the status of both claims."""
    left, right = blocks_in_words(found.left), blocks_in_words(found.right)
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
        steps.add_row(marks[step.holds], step.block, _reason(step.reason + factor))
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


_LISTED = re.compile(r"(?P<head>.*?) \((?P<items>.*; .*)\)", re.DOTALL)


def _reason(reason: str) -> RenderableType:
    """A reason; when it closes with a list in brackets, that list item by item."""
    listed = _LISTED.fullmatch(reason)
    if listed is None:
        return Text(reason)
    return _lines([listed["head"] + ":", *(f"- {item}" for item in listed["items"].split("; "))])


def _separation(
    found: Separation, premise: str, conclusion: str, spec: PrivacySpec, *, verbose: bool
) -> Iterator[RenderableType]:
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
    if Collections.found_in(spec.space) is not None:
        rows.add_row("", Text("(what is the same in all their records is left out)", FAINT))
    if verbose:
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
        missing = spec.budget.unpublished()
        number = number_in_words(value) if value is not None else "differs by universe"
        per, standard = thing_in_words(spec.input_divergence), thing_in_words(spec.output_divergence)
        stated = missing or f"{spec.budget.parameter} = {number}"
        rows.add_row(letter, f"{stated}, for {per}, by {standard}")
    return _section("Budgets", [rows])


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
    """Whether the claim of a file was checked, and with which result, in a few words."""
    return _CLAIMS[Word.UNCHECKED if standing is None else standing.word]


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


# --- derivations ----------------------------------------------------------------------------------


def chain_parts(found: Derivation) -> list[RenderableType]:
    """From the premise to the conclusion, step by step."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), expand=True, header_style="bold")
    for title in ("step", "block", "rule", "because", "budget then"):
        table.add_column(title, overflow="fold")
    for place, step in enumerate(found.steps, 1):
        table.add_row(str(place), step.block, step.rule, f"{step.reason} ({step.citation})", budget_in_words(step.after.budget))
    ends = grid()
    for label, spec in (("from", found.premise), ("to", found.conclusion)):
        ends.add_row(Text(label, FAINT), f"{budget_in_words(spec.budget)} {place_in_words(spec)}")
    head = f"Every mechanism that satisfies the first satisfies the second: {count(len(found.steps), 'step')}."
    parts: list[RenderableType] = [Text(head, "bold"), "", ends]
    return [*parts, "", table] if found.steps else parts


# --- conversions ----------------------------------------------------------------------------------


def conversion_data(found: Conversions) -> JsonData:
    """All of it, with exact numbers."""
    return {
        "given": {"divergence": thing_by_name(found.source), "parameter": _parameter(found.source), "value": str(found.value)},
        "wanted": {"divergence": thing_by_name(found.goal), "parameter": _parameter(found.goal)},
        "paths": [_path(path) for path in found.paths],
        "alike": list(found.alike),
    }


def _path(path: ConversionPath) -> JsonData:
    return {
        "value": bracket(path.value),
        "tight": path.tight,
        "sense": path.sense,
        "needs": [known.needs for known in path.known],
        "steps": [
            {
                "rule": leg.conversion.name,
                "formula": leg.conversion.formula,
                "citation": leg.conversion.citation,
                "to": thing_by_name(leg.target),
                "value": bracket(leg.value),
            }
            for leg in path.legs
        ],
    }


def _parameter(divergence: Any) -> str:
    return str(divergence.budget_parameters[0])


def conversion_parts(found: Conversions, *, verbose: bool = False) -> list[RenderableType]:
    """The number, then a table of the formulas that every mechanism with this budget may take, and of those that need to know the
    mechanism; with `verbose` each formula, what lies between, in which sense it is tight, and where it is proved."""
    wanted = f"{_parameter(found.goal)} of {thing_in_words(found.goal)}"
    given = f"{_parameter(found.source)} = {number_in_words(found.value)} of {thing_in_words(found.source)}"
    implied = [path for path in found.paths if not path.known]
    parts: list[RenderableType] = []
    if implied:
        value = bracket_in_words(implied[0].value)
        best = f"{_parameter(found.goal)} {'= ' if implied[0].value.is_exact else ''}{value}"
        parts += [Text.assemble((best, "bold"), f" of {thing_in_words(found.goal)}, for every mechanism with {given}"), ""]
    else:
        parts += [Text("No formula gives a number for every mechanism.", "bold"), Text(f"From {given} to {wanted}"), ""]
    table = _table if verbose else _short_table
    if implied:
        parts += [Text("Implied for every mechanism, the best first", "bold"), table(implied), ""]
    for needs in dict.fromkeys(path.known[0].needs for path in found.paths if path.known):
        known = [path for path in found.paths if path.known and path.known[0].needs == needs]
        parts += [Text(f"Only when {needs}", "bold"), table(known), ""]
    parts.append(Text("Numbers are rounded for reading; the conversion is valid for neighbours, datasets at distance 1.", FAINT))
    if found.alike:
        others = ", ".join(found.alike)
        parts.append(Text(f"Other standards write {_parameter(found.goal)} too: --to {others}", FAINT))
    return parts


def theorem_data(found: TheoremNumbers) -> JsonData:
    """All of it, with exact numbers."""
    return {
        "given": {"theorem": found.theorem, "parameters": dict(found.given)},
        "wanted": {"divergence": thing_by_name(found.goal), "parameter": _parameter(found.goal)},
        "numbers": [
            {"value": bracket(one.value), "about": one.about, "citation": one.citation} for one in found.numbers
        ],
    }  # fmt: skip


def theorem_parts(found: TheoremNumbers) -> list[RenderableType]:
    """A line for each mechanism, its number first."""
    given = ", ".join(f"{name} = {value}" for name, value in found.given)
    parts: list[RenderableType] = [
        Text(f"{_parameter(found.goal)} of {thing_in_words(found.goal)}, by theorems: {given}", "bold")
    ]
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in found.numbers:
        table.add_row(Text(bracket_in_words(one.value), "bold"), f"{one.about} ({one.citation})")
    return [*parts, table, Text("Numbers are rounded for reading; --format json has their exact forms.", FAINT)]


def _table(paths: list[ConversionPath]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for path in paths:
        last = path.legs[-1]
        table.add_row(Text(bracket_in_words(path.value), "bold"), _path_steps(path))
        formulas = [leg.conversion.formula for leg in path.legs]
        through = [
            f"through {thing_in_words(leg.target)}: {_parameter(leg.target)} {bracket_in_words(leg.value)}"
            for leg in path.legs[:-1]
        ]
        table.add_row("", "; then ".join(formulas))
        for line in through:
            table.add_row("", Text(line, FAINT))
        table.add_row("", Text(f"{'tight' if path.tight else 'not tight'}: {path.sense} ({last.conversion.citation})", FAINT))
    return table


def _short_table(paths: list[ConversionPath]) -> Table:
    """A line for each formula."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), header_style="bold")
    for title in (_parameter(paths[0].legs[-1].target), "by", "tight", "proved in"):
        table.add_column(title, overflow="fold")
    for path in paths:
        tight = "yes" if path.tight else "no"
        table.add_row(Text(bracket_in_words(path.value), "bold"), _path_steps(path), tight, path.legs[-1].conversion.citation)
    return table


def _path_steps(path: ConversionPath) -> str:
    return " > ".join(path.names)


# --- the order of many specifications -------------------------------------------------------------


_YES, _NO = Answer.IMPLIES, Answer.SEPARATED
_MARKS = {
    (_YES, _YES): ("=", "equivalent", GOOD),
    (_YES, _NO): (">=", "implies", GOOD),
    (_NO, _YES): ("<=", "implied by", GOOD),
    (_NO, _NO): ("x", "incomparable", FAINT),
}  # fmt: skip
_HALF = {_YES: (">=?", "implies", OPEN), _NO: ("?", "unknown", OPEN), Answer.UNKNOWN: ("?", "unknown", OPEN)}
LEGEND = (
    "  =   equivalent promises: both imply each other; whether a method keeps its promise is its claim status",
    "  >=  the row implies the column (>=? whether the column implies the row too is unknown)",
    "  <=  the column implies the row",
    "  x   incomparable: neither implies the other; --explain A B shows what separates two of them",
    "  ?   unknown: a direction that could be neither derived nor separated",
)


def order_mark(found: Order, i: int, j: int) -> tuple[str, str, str]:
    """The sign of a cell, its word, and its style."""
    both = found.answers[i][j], found.answers[j][i]
    if both in _MARKS:
        return _MARKS[both]
    return ("<=?", "implied by", OPEN) if both[1] is _YES else _HALF[both[0]]


def order_parts(found: Order, documents: Sequence[SpecDocument]) -> list[RenderableType]:
    """The specifications by number, the matrix, and the arrows of the figure."""
    names = [
        f"{place:>3}  {document.id} (claim {status})"
        for place, (document, status) in enumerate(zip(documents, statuses(found), strict=True), 1)
    ]
    head = [Text("Specifications", "bold"), Text("\n".join(names), no_wrap=True), Text("")]
    parts: list[RenderableType] = [*head, Text("The row against the column", "bold"), *_matrices(found)]
    parts += [Text("\n".join(LEGEND), FAINT), Text("")]
    parts += [Text("Strongest first, each with what it implies next", "bold"), *_chains(found)]
    if found.unknown:
        parts += [Text(""), Text(f"unknown: {count(len(found.unknown), 'direction')}", OPEN)]
    return parts


def statuses(found: Order) -> tuple[str, ...]:
    """The claim status of each specification of an order."""
    return tuple(map(claim_status, found.standings or (None,) * len(found)))


def class_title(found: Order, members: Sequence[int]) -> str:
    """The names of equivalent promises; several of them with their claim status, so that none vouches for another."""
    if len(members) == 1:
        return found.names[members[0]]
    status = statuses(found)
    return " = ".join(f"{found.names[i]} (claim {status[i]})" for i in members)


def _matrices(found: Order) -> list[RenderableType]:
    """The matrix, in as many tables as the width requires."""
    per_table = max(1, (width() - 5) // 4)
    columns = range(len(found))
    tables: list[RenderableType] = []
    for start in range(0, len(found), per_table):
        shown = columns[start : start + per_table]
        table = _Matrix.grid(*([""] * (len(shown) + 1)))
        table.add_row(Text(""), *(Text(str(j + 1), FAINT) for j in shown))
        for i in columns:
            cells = [order_mark(found, i, j) for j in shown]
            table.add_row(Text(str(i + 1), FAINT), *(Text(sign, style) for sign, _, style in cells))
        tables += [table, Text("")]
    return tables


class _Matrix(Table):
    """A table whose cells are texts of at most three signs: a line for each row is made at once, as rich measures every cell of a
    table, which takes a second of processor time for the order of 123 specifications."""

    def __rich_console__(self, _console: Console, _options: ConsoleOptions) -> RenderResult:
        for cells in zip(*(column.cells for column in self.columns), strict=True):
            texts = [cell for cell in cells if isinstance(cell, Text)]
            yield Text.assemble(*((f"{cell.plain:>3} ", cell.style) for cell in texts), no_wrap=True)


def _chains(found: Order) -> list[RenderableType]:
    names = [class_title(found, members) for members in found.classes]
    after = {a: [names[b] for c, b in found.covers if c == a] for a in range(len(names))}
    lower = {b for _, b in found.covers}
    rows: list[RenderableType] = [Text(f"  {names[a]} => {', '.join(held)}") for a, held in after.items() if held]
    alone = [names[a] for a, held in after.items() if not held and a not in lower]
    if alone:
        rows.append(Text(f"  comparable with none of the others: {', '.join(alone)}"))
    return rows


def order_data(found: Order, documents: Sequence[SpecDocument]) -> dict[str, Any]:
    """The same as JSON data."""
    size = range(len(found))
    return {
        "specifications": [
            {"id": d.id, "title": d.title, "path": d.path, "claim": status}
            for d, status in zip(documents, statuses(found), strict=True)
        ],
        "matrix": [[order_mark(found, i, j)[1] for j in size] for i in size],
        "implies": [[{_YES: True, _NO: False}.get(answer) for answer in row] for row in found.answers],
        "classes": [[found.names[i] for i in members] for members in found.classes],
        "covers": [[found.names[found.classes[c][0]] for c in pair] for pair in found.covers],
        "settled": [{"left": found.names[i], "right": found.names[j], "through": found.names[k]} for i, j, k in found.settled],
    }


def order_figure(found: Order, documents: Sequence[SpecDocument], theme: str = "light") -> Figure:
    """The Hasse diagram: the strongest first, equivalent specifications in one box, colours by the standard."""

    def box(place: int) -> DiagramBox:
        members = found.classes[place]
        spec = documents[members[0]].spec
        change, standard = thing_in_words(spec.input_divergence), thing_in_words(spec.output_divergence)
        text = f"{change}; {standard}" if place in joined else change
        if len(members) > 1:
            equal = ", ".join(f"{found.names[i]} (claim {status[i]})" for i in members[1:])
            text = f"claim {status[members[0]]}; = {equal}"
        return DiagramBox(
            key=str(place),
            title=found.names[members[0]],
            text=text,
            number=budget_in_short(spec.budget),
            group=standard.partition(" (")[0],
        )

    joined = {place for cover in found.covers for place in cover}
    status = statuses(found)
    boxes = [box(place) for level in found.levels for place in level]
    arrows = [(str(a), str(b)) for a, b in found.covers]
    caption = "An arrow leads to what is implied. What follows from two arrows has none of its own."
    caption += " Equivalent ones share a box." if len(found.classes) < len(found) else ""
    title = f"Which of {count(len(found), 'specification')} implies which"
    return diagram(boxes, arrows, title, caption, theme=theme, apart="Comparable with none of the others")


def chosen(documents: Sequence[SpecDocument], name: str) -> SpecDocument:
    """The specification that is meant by an id, or by a file.

    Raises:
        UnknownNameError: it is none of them.
    """
    for document in documents:
        if name in (document.id, document.path):
            return document
    ids = [document.id for document in documents]
    raise UnknownNameError("explain", "is none of the specifications", did_you_mean(name, ids) or "name two of them", value=name)


def exit_code(found: Order) -> int:
    """0 when every direction was answered, 3 otherwise; 4 where the claim of a file could not be checked, as a plugin failed."""
    failed = [standing.exit_code for standing in found.standings if standing.word is Word.PLUGIN]
    return worst_code([3 if found.unknown else 0, *failed])


# --- yardsticks -----------------------------------------------------------------------------------


SpecNames = tuple[str, str]
NONE = "none found: in no choice of blocks that was tried do both have a finite budget"
SENSE = (
    "In the blocks of a common measure, a smaller budget is stronger. Both specifications imply the larger of the two "
    "budgets; it is the least that the registered rules derive, one step for each block, and not shown to be the least there is. "
    "Conversions marked tight are attained by some mechanism."
)


def yardstick_text(found: Sequence[Yardstick], names: SpecNames, standings: Sequence[Standing]) -> str:
    """All yardsticks of two specifications, called A and B."""
    rows = grid()
    for letter, name, standing in zip("AB", names, standings, strict=True):
        rows.add_row(Text(letter, "bold"), name)
        rows.add_row("", terminal.standing_line(standing))
    parts: list[RenderableType] = [rows, "", Text("Common yardsticks", "bold")]
    common = [one for one in found if one.is_common]
    if not common:
        parts.append(Padding(Text(NONE, BAD), (0, 0, 0, 2)))
    else:
        shared = grid()
        for block in ("dataset space", "multiverse"):
            shared.add_row(Text(block, FAINT), "\n".join(blocks_in_words(common[0].spec)[block]))
        members = nesting_of(common[0].spec.space).most_within("person", "household")
        if members is not None:
            shared.add_row(Text("assumed", FAINT), f"no household has more than {count(members, 'person')}")
        parts += [Padding(shared, (0, 0, 0, 2)), ""]
    for place, one in enumerate(common, 1):
        parts += [_one(place, one), ""]
    alone = [one for one in found if not one.is_common]
    if alone:
        parts += [Text("Blocks that only one of them reaches", "bold"), Padding(_alone(alone), (0, 0, 0, 2)), ""]
    if common:
        parts += [Text("What is left to one attacker who tests two datasets at distance 1", "bold"), _attacks(found), ""]
        parts += [Text("In which sense strongest", "bold"), Padding(SENSE, (0, 0, 0, 2))]
    return drawn(*parts).rstrip()


def _one(place: int, one: Yardstick) -> Group:
    """One common measure: its head line, and each side with its steps."""
    spec = one.spec
    head = Text.assemble((f"{place}. {budget_in_words(spec.budget)}", "bold"), f" {place_in_words(spec)}")
    if one.follows_from is not None:
        head.append(f"  (follows from {one.follows_from + 1})", OPEN)
    rows = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(3):
        rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold")
    for letter, side in (("A", one.left), ("B", one.right)):
        value = side.budget
        rows.add_row(Text(letter, "bold"), Text("implies", GOOD), "", f"{spec.budget.parameter} = {number_in_words(value or 0)}")
        for step in side.derivation.steps:
            rows.add_row("", "", Text(step.rule, FAINT), step_in_words(step, side))
    return Group(head, Padding(rows, (0, 0, 0, 2)))


def place_in_words(spec: PrivacySpec) -> str:
    """The distance and the standard of a common measure."""
    return f"for {thing_in_words(spec.input_divergence)}, by {thing_in_words(spec.output_divergence)}"


def step_in_words(step: Step, side: YardstickSide) -> str:
    """The effect of a step on the budget, its reason, and whether it is tight."""
    constant = step.parameters.get("constant")
    reason = step.reason.split(" (", 1)[0] if step.block == "multiverse" else step.reason
    kept = step.before.budget == step.after.budget
    words = "the same budget" if kept else budget_in_words(step.after.budget)
    factor = f", factor {constant}" if constant not in (None, "1") else ""
    return f"{words}{factor}{' (tight)' if step.rule in side.tight else ''}: {reason} [{step.citation}]"


def _alone(found: Sequence[Yardstick]) -> Table:
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold")
    for one in found:
        letter, side, other = ("A", one.left, one.right) if one.left.reaches else ("B", one.right, one.left)
        value = number_in_words(side.budget or 0)
        words = f"{one.spec.budget.parameter} = {value} {place_in_words(one.spec)}"
        rows.add_row(Text(letter, "bold"), words)
        rows.add_row("", Text(f"the other one: {'; '.join(other.missing)}", FAINT))
    return rows


def _attacks(found: Sequence[Yardstick]) -> Padding:
    from dpspec.comparison.yardstick import attacks

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_row("", *(Text(head, FAINT) for head in ("distance", "promise", "power at level 5 %", "posterior odds times")))
    for pair in attacks(found):
        for letter, attack in zip("AB", pair, strict=True):
            words = thing_in_words(attack.spec.input_divergence)
            table.add_row(Text(letter, "bold"), words, budget_in_words(attack.spec.budget), power_in_words(attack.power),
                          loss_in_words(attack.loss))  # fmt: skip
    return Padding(table, (0, 0, 0, 2))


def power_in_words(power: Bracket | None) -> str:
    """A bound on power, rounded up.

    >>> power_in_words(Bracket.exactly("3/20"))
    'at most 0.15'
    """
    if power is None:
        return "not known"
    top = power.upper
    if top > number_of("0.999999"):
        return "no bound worth the name (over 0.999999)"
    return f"at most {number_in_words(top)}" if power.is_exact else f"at most {bracket_in_words(power).removeprefix('about ')}"


def loss_in_words(loss: Number | None) -> str:
    """The largest factor between posterior odds and prior odds, in words."""
    return "no bound" if loss is None else f"at most e^{loss.decimal()}"


def number_of(text: str) -> Number:
    return Bracket.exactly(text).upper


# --- yardsticks as JSON ---------------------------------------------------------------------------


def yardstick_data(
    found: Sequence[Yardstick], names: SpecNames, registry: Registry, standings: Sequence[Standing]
) -> dict[str, Any]:
    """The same as JSON data; each common measure with its two derivations, as `dpspec check-derivation` reads them."""
    from dpspec.comparison.yardstick import attacks

    return {
        "left": names[0],
        "right": names[1],
        "standing": {side: terminal.standing_data(standing) for side, standing in zip(("left", "right"), standings, strict=True)},
        "yardsticks": [_yardstick(one, registry) for one in found],
        "attacks": [{"left": _attack(left), "right": _attack(right)} for left, right in attacks(found)],
        "sense": SENSE,
    }


def _yardstick(one: Yardstick, registry: Registry) -> dict[str, Any]:
    blocks = {block.replace(" ", "_"): lines for block, lines in blocks_in_words(one.spec, thing_by_name).items()}
    proofs = [proof.data(registry) for proof in one.proofs()] if one.is_common else [None, None]
    value = one.spec.budget.uniform()
    return {
        "common": one.is_common,
        "follows_from": one.follows_from,
        "blocks": blocks,
        "parameter": one.spec.budget.parameter,
        "value": str(value) if one.is_common else None,
        "left": {**_side(one.left), "derivation": proofs[0]},
        "right": {**_side(one.right), "derivation": proofs[1]},
    }


def _side(side: YardstickSide) -> dict[str, Any]:
    return {
        "value": None if side.budget is None else str(side.budget),
        "missing": list(side.missing),
        "tight": list(side.tight),
        "steps": [{"rule": step.rule, "block": step.block, "reason": step.reason, "budget": str(step.after.budget)}
                  for step in side.derivation.steps],
    }  # fmt: skip


def _attack(attack: Attack) -> dict[str, Any]:
    power = None if attack.power is None else attack.power.ends()[1]
    return {
        "input_divergence": thing_by_name(attack.spec.input_divergence),
        "budget": str(attack.spec.budget),
        "output_divergence": thing_by_name(attack.spec.output_divergence),
        "level": "1/20",
        "power_at_most": power,
        "log_odds_at_most": None if attack.loss is None else str(attack.loss),
    }
