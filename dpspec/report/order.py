"""The order of many specifications as a matrix, as JSON, and as a Hasse diagram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dpspec.compare.comparison import Answer
from dpspec.compare.order import Order
from dpspec.errors import UnknownNameError
from dpspec.params import did_you_mean
from dpspec.plural import count
from dpspec.report.diagram import Box, svg
from dpspec.report.terminal import FAINT, GOOD, OPEN, drawn, width
from dpspec.report.words import budget_in_words, thing_in_words
from dpspec.specfile.document import SpecDocument

_YES, _NO = Answer.IMPLIES, Answer.SEPARATED
_MARKS = {
    (_YES, _YES): ("=", "equivalent", GOOD),
    (_YES, _NO): (">=", "implies", GOOD),
    (_NO, _YES): ("<=", "implied by", GOOD),
    (_NO, _NO): ("x", "incomparable", FAINT),
}  # fmt: skip
_HALF = {_YES: (">=?", "implies", OPEN), _NO: ("?", "unknown", OPEN), Answer.UNKNOWN: ("?", "unknown", OPEN)}
LEGEND = (
    "  =   both imply each other",
    "  >=  the row implies the column (>=? whether the column implies the row too is unknown)",
    "  <=  the column implies the row",
    "  x   incomparable: neither implies the other; --explain A B shows what separates two of them",
    "  ?   unknown: a direction that could be neither derived nor separated",
)


def mark(found: Order, i: int, j: int) -> tuple[str, str, str]:
    """The sign of a cell, its word, and its style."""
    both = found.answers[i][j], found.answers[j][i]
    if both in _MARKS:
        return _MARKS[both]
    return ("<=?", "implied by", OPEN) if both[1] is _YES else _HALF[both[0]]


def text(found: Order, documents: Sequence[SpecDocument]) -> str:
    """The specifications by number, the matrix, and the arrows of the picture."""
    names = [f"{place:>3}  {document.id}" for place, document in enumerate(documents, 1)]
    head = [Text("Specifications", "bold"), Text("\n".join(names), no_wrap=True), Text("")]
    parts: list[RenderableType] = [*head, Text("The row against the column", "bold"), *_matrices(found)]
    parts += [Text("\n".join(LEGEND), FAINT), Text("")]
    parts += [Text("Strongest first, each with what it implies next", "bold"), *_chains(found)]
    if found.unknown:
        parts += [Text(""), Text(f"unknown: {count(len(found.unknown), 'direction')}", OPEN)]
    return drawn(*parts).rstrip()


def _matrices(found: Order) -> list[RenderableType]:
    """The matrix, in as many tables as the width asks for."""
    per_table = max(1, (width() - 5) // 4)
    columns = range(len(found))
    tables: list[RenderableType] = []
    for start in range(0, len(found), per_table):
        shown = columns[start : start + per_table]
        table = Table.grid(padding=(0, 1, 0, 0))
        for _ in ("", *shown):
            table.add_column(width=3, justify="right", no_wrap=True)
        table.add_row("", *(Text(str(j + 1), FAINT) for j in shown))
        for i in columns:
            cells = [mark(found, i, j) for j in shown]
            table.add_row(Text(str(i + 1), FAINT), *(Text(sign, style) for sign, _, style in cells))
        tables += [table, Text("")]
    return tables


def _chains(found: Order) -> list[RenderableType]:
    names = [" = ".join(found.names[i] for i in members) for members in found.classes]
    after = {a: [names[b] for c, b in found.covers if c == a] for a in range(len(names))}
    lower = {b for _, b in found.covers}
    rows: list[RenderableType] = [Text(f"  {names[a]} => {', '.join(held)}") for a, held in after.items() if held]
    alone = [names[a] for a, held in after.items() if not held and a not in lower]
    if alone:
        rows.append(Text(f"  comparable with none of the others: {', '.join(alone)}"))
    return rows


def data(found: Order, documents: Sequence[SpecDocument]) -> dict[str, Any]:
    """The same as JSON data."""
    size = range(len(found))
    return {
        "specifications": [{"id": d.id, "title": d.title, "path": d.path} for d in documents],
        "matrix": [[mark(found, i, j)[1] for j in size] for i in size],
        "implies": [[{_YES: True, _NO: False}.get(answer) for answer in row] for row in found.answers],
        "classes": [[found.names[i] for i in members] for members in found.classes],
        "covers": [[found.names[found.classes[c][0]] for c in pair] for pair in found.covers],
        "settled": [{"left": found.names[i], "right": found.names[j], "through": found.names[k]} for i, j, k in found.settled],
    }


def picture(found: Order, documents: Sequence[SpecDocument]) -> str:
    """The Hasse diagram as SVG: the strongest on the left, equivalent specifications in one box."""

    def box(place: int) -> Box:
        members = found.classes[place]
        spec = documents[members[0]].spec
        words = f"{budget_in_words(spec.budget)} per {thing_in_words(spec.input_divergence)}, {spec.output_divergence.name}"
        return Box(key=str(place), title=" = ".join(found.names[i] for i in members), text=words)

    heads = ["implied by no other", *(f"{count(n, 'step')} weaker" for n in range(1, len(found.levels)))]
    columns = {head: [box(place) for place in level] for head, level in zip(heads, found.levels, strict=True)}
    arrows = [(str(a), str(b)) for a, b in found.covers]
    return svg(columns, arrows, f"Which of {count(len(found), 'specification')} implies which")


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
    """0 when every direction was answered, 3 otherwise."""
    return 3 if found.unknown else 0
