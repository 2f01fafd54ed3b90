"""The order of many specifications, as a table, a figure and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from dpspec.base.errors import UnknownNameError, count
from dpspec.base.params import did_you_mean
from dpspec.base.words import worst_code
from dpspec.comparison.compare import Answer
from dpspec.comparison.order import Order
from dpspec.report.comparison import claim_status
from dpspec.report.figures import DiagramBox, Figure, diagram
from dpspec.report.terminal import (
    FAINT,
    GOOD,
    OPEN,
    budget_in_short,
    thing_in_words,
    width,
)
from dpspec.verifier.standing import failure_code

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    classes = [class_title(found, members) for members in found.classes]
    after = {a: [classes[b] for c, b in found.covers if c == a] for a in range(len(classes))}
    lower = {b for _, b in found.covers}
    parts.append(Text("Strongest first, each with what it implies next", "bold"))
    parts += [Text(f"  {classes[a]} => {', '.join(held)}") for a, held in after.items() if held]
    alone = [classes[a] for a, held in after.items() if not held and a not in lower]
    if alone:
        parts.append(Text(f"  comparable with none of the others: {', '.join(alone)}"))
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
    return worst_code([3 if found.unknown else 0, failure_code(found.standings)])
