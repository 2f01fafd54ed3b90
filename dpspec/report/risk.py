"""Risk reports and recommended budgets, as text, as data, and as a figure.

A report shows the worst case next to a mechanism's own law; a recommendation the number, the binding attacker, and its
assumptions.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import attrs
from rich.table import Table
from rich.text import Text

from dpspec.base.exact import Bracket, number
from dpspec.base.params import parameters
from dpspec.base.types import JsonData
from dpspec.base.words import Word, worst_code
from dpspec.grammar.attacker import Recommendation, RiskStatement, Sense, Tolerance
from dpspec.report import terminal
from dpspec.report.figures import CurveLine, CurvePanel as Chart, Figure, chart
from dpspec.report.json import bracket
from dpspec.report.page import PageParts
from dpspec.report.terminal import (
    BAD,
    FAINT,
    OPEN,
    bracket_in_words,
    budget_in_words,
    end_in_words,
    grid,
    number_in_words,
    thing_in_words,
    value_in_words,
)
from dpspec.risks.numbers import risk_numbers
from dpspec.verifier.secrets import farthest_pairs
from dpspec.verifier.standing import failure_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import RenderableType

    from dpspec.blocks.budget import Budget
    from dpspec.extension.hooks import Registry
    from dpspec.grammar.spec import PrivacySpec
    from dpspec.risks import Panel, RiskNumbers, RiskReport, RiskRow
    from dpspec.specfile.document import SpecDocument
    from dpspec.verifier.standing import Standing

Reasons = dict[tuple[str, str], int]
"""The number of each pair (theorem, assumption)."""

_WORDS = {Sense.EQUALS: "", Sense.AT_MOST: "at most ", Sense.AT_LEAST: "at least "}
_WORST, _OWN = "any mechanism", "this mechanism"
NO_LIMIT = "this promise sets no limit here"
CERTAIN = ", for certain"


def risk_data(report: RiskReport, found: SpecDocument, standing: Standing) -> JsonData:
    """The report with exact numbers."""
    attacker = report.attacker
    return {
        "id": found.id,
        "title": found.title,
        "standing": terminal.standing_data(standing),
        "stand_ins": list(found.stand_ins),
        "attacker": {
            "name": attacker.name,
            "parameters": {
                p.name: "" if (value := getattr(attacker, p.name)) is None else value_in_words(value)
                for p in parameters(type(attacker))
            },
            **{part: getattr(attacker, part) for part in ("title", "knowledge", "target", "observation", "assumption", "source")},
        },
        "mechanism": None if report.mechanism is None else thing_in_words(report.mechanism),
        "rows": _rows(report.rows),
        "unknown": [{"side": side, "reason": reason} for side, reason in report.unknown],
    }


def _rows(rows: Iterable[RiskRow]) -> list[JsonData]:
    return [
        {
            "quantity": row.quantity,
            "at": [{"name": name, "value": value} for name, value in row.at],
            "worst_case": [_said(statement) for statement in row.worst],
            "own_law": [_said(statement) for statement in row.own],
            "exceeded": row.is_exceeded,
        }
        for row in rows
    ]


def panel_data(panel: Panel, found: SpecDocument, standing: Standing) -> JsonData:
    """The reports of several attackers, and the reasons why others do not apply."""
    parts = [risk_data(report, found, standing) for report in panel.reports]
    shared = {
        "id": found.id, "title": found.title, "standing": terminal.standing_data(standing), "stand_ins": list(found.stand_ins),
    }  # fmt: skip
    return {
        **shared,
        "panel": [{key: value for key, value in part.items() if key not in shared} for part in parts],
        "not_asked": [{"attacker": name, "reason": reason} for name, reason in panel.not_asked],
    }


def panel_parts(panel: Panel, found: SpecDocument, standing: Standing, *, verbose: bool = False) -> list[RenderableType]:
    """For every attacker the first row of each quantity; all rows are shown where the attacker is named. With `verbose` the
    theorem and the assumption of every number."""
    parts: list[RenderableType] = [Text.assemble((found.id, "bold"), f"  {found.title}"), terminal.standing_line(standing)]
    for report in panel.reports:
        attacker, reasons = report.attacker, Reasons()
        firsts = {(row.quantity, dict(row.at).get("candidates")): row for row in reversed(report.rows)}
        short = attrs.evolve(report, rows=tuple(row for row in report.rows if row in firsts.values()))
        parts += ["", Text.assemble((attacker.name, "bold"), f"  {attacker.title}"), _table(short, reasons)]
        shown = reasons.items() if verbose else ()
        parts += [Text(f"({place}) {theorem}. Assumes: {assumption}.", FAINT) for (theorem, assumption), place in shown]
        if report.exceeded:
            parts.append(Text("The mechanism is beyond the worst case.", BAD))
    parts.append("")
    parts += [Text(f"{name} not evaluated: {reason}", OPEN) for name, reason in panel.not_asked]
    reasons_at = "" if verbose else "the theorem and the assumption of each number: --verbose; "
    parts.append(Text(f"{reasons_at}all rows of one attacker: --attacker NAME; all attackers: dpspec plugins", FAINT))
    return parts


def _said(statement: RiskStatement) -> JsonData:
    return {
        "relation": statement.relation.value,
        "value": bracket(statement.value),
        "theorem": statement.theorem,
        "assumption": statement.assumption,
        "sets_no_limit": statement.is_vacuous,
        "certain": statement.is_certainty,
    }


def risk_parts(report: RiskReport, found: SpecDocument, standing: Standing, *, verbose: bool = False) -> list[RenderableType]:
    """A table of the numbers, the theorem and the assumption of each; with `verbose` who the attacker is."""
    attacker = report.attacker
    who = Table.grid(padding=(0, 2, 0, 0))
    who.add_column(no_wrap=True, style=FAINT)
    who.add_column(overflow="fold")
    for label, said in () if not verbose else (
        ("knows", attacker.knowledge), ("wants", attacker.target), ("sees", attacker.observation),
        ("assumes", attacker.assumption),
    ):  # fmt: skip
        who.add_row(label, said)
    who.add_row("budget", f"{budget_in_words(report.spec.budget)}, {thing_in_words(report.spec.output_divergence)}")
    if report.mechanism is not None:
        who.add_row("mechanism", thing_in_words(report.mechanism))
    reasons: Reasons = {}
    parts: list[RenderableType] = [Text.assemble((found.id, "bold"), f"  {found.title}")]
    parts += [Text.assemble((attacker.name, "bold"), f"  {attacker.title}"), _table(report, reasons), ""]
    parts.insert(1, terminal.standing_line(standing))
    for (theorem, assumption), place in reasons.items():
        parts.append(Text(f"({place}) {theorem}. Assumes: {assumption}.", FAINT))
    for side, reason in report.unknown:
        parts.append(Text(f"{side} open: {reason}", OPEN))
    if report.exceeded:
        beyond = (
            "The mechanism is beyond the worst case: it does not satisfy the specification, or a statement or assumption fails."
        )
        parts.insert(1, Text(beyond, BAD))
    return [*parts, "", who]


def _table(report: RiskReport, reasons: Reasons) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(3 if report.mechanism is not None else 2):
        table.add_column(overflow="fold")
    heads = ["", _WORST] + ([_OWN] if report.mechanism is not None else [])
    table.add_row(*(Text(head, FAINT) for head in heads))
    before = None
    for row in report.rows:
        if row.quantity != before:
            table.add_row(Text(row.quantity, "bold"))
            before = row.quantity
        cells = [_cell(row.worst, reasons), _cell(row.own, reasons)][: len(heads) - 1]
        table.add_row(f"  {_at(row)}", *(Text(cell, BAD if row.is_exceeded else "") for cell in cells))
    return table


def _at(row: RiskRow) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.at)


def _cell(statements: Sequence[RiskStatement], reasons: Reasons) -> str:
    numbered = ((said, reasons.setdefault((said.theorem, said.assumption), len(reasons) + 1)) for said in statements)
    return "; ".join(f"{stated(said)} ({reason})" for said, reason in numbered)


def stated(statement: RiskStatement) -> str:
    """A statement's number in words; a limit that every release keeps is none, and what cannot happen happens never."""
    if statement.is_vacuous:
        return NO_LIMIT
    words = in_words(statement.relation, statement.value)
    if statement.is_certainty and statement.trivial in (0, 1):
        return f"{words}{CERTAIN}"
    if statement.relation is Sense.AT_MOST and statement.trivial is not None:
        if statement.value.upper == 0:
            return "never"
        if words == f"at most {statement.trivial.decimal()}":
            return f"practically no limit: {words}"
    if statement.relation is Sense.AT_LEAST and statement.trivial == 1 and statement.value.lower >= 1:
        return "1, or as near to it as one likes"  # a supremum over datasets or releases, which none may attain
    return words


def in_words(relation: Sense, value: Bracket) -> str:
    """A statement's number in words.

    >>> in_words(Sense.AT_MOST, Bracket.exactly("1/4"))
    'at most 0.25'
    """
    if value.lower.is_infinite:
        return "no bound" if relation is Sense.AT_MOST else "infinity"
    if relation is Sense.EQUALS:
        return bracket_in_words(value)
    exact = number_in_words(value.lower) if value.is_exact else "about"
    if exact.startswith("about"):  # too long to be written: rounded to the side on which the statement stays true
        up = relation is Sense.AT_MOST
        exact = end_in_words(value.upper if up else value.lower, 6, up=up)
    return _WORDS[relation] + exact


# --- the numbers that other reports show ------------------------------------------------------------


KEEPING = "any mechanism that keeps the promise"
LARGEST = "Odds and beliefs are the largest over all releases that can occur, however rare these are."


def file_numbers(
    found: SpecDocument, standing: Standing, registry: Registry, at: PrivacySpec | None = None
) -> RiskNumbers:  # fmt: skip
    """The numbers of a file: those of `risk_numbers`, for the two datasets with the largest divergence in the check of its claim.

    Args:
        found: the file.
        standing: the claim status, with the verdicts behind it.
        registry: where the attackers are looked up.
        at: its specification with the budget of the universe of one table; the numbers are then those that the promise allows
            there, and not those of the mechanism, which were found in other universes.
    """
    if at is not None:
        return risk_numbers(at, None, registry)
    return risk_numbers(found.spec, found.mechanism, registry, *farthest_pairs(found.mechanism, found.spec, standing))


def exit_code(found: RiskReport | Panel) -> int:
    """1 where a number of the mechanism is beyond the worst case, 4 where its claim could not be checked, as a plugin failed."""
    first: Any = getattr(found, "reports", (found,))[0]
    standings = () if first.about is None else (first.about[1],)
    return worst_code([1 if found.exceeded else 0, failure_code(standings)])


def numbers_title(spec: PrivacySpec) -> str:
    """The title of the table of `risk_numbers`."""
    things = "distributions of the data" if spec.space.holds_laws else "datasets"
    inside = "" if spec.multiverse.induced_by() == () else " of one universe"
    return f"What an attacker finds out who must choose between two {things}{inside}"


def numbers_data(found: RiskNumbers) -> JsonData:
    """The numbers of `risk_numbers` as data; rows as in the JSON of `risk`."""
    return {
        "rows": _rows(found.rows),
        "unknown": [{"side": side, "reason": reason} for side, reason in found.unknown],
    }


def numbers_cells(found: RiskNumbers, spec: PrivacySpec, *, with_own: bool) -> list[tuple[str, ...]]:
    """One line for each number: what it is, what any mechanism may do, and what this mechanism does, the theorems left out."""
    lines, missing = [], (_no_single_number(spec.budget), "unknown")
    for row in found.rows:
        places = ", ".join(f"{name} {value}" for name, value in row.at if name != "candidates")
        what = f"{row.quantity}, {places}" if places else row.quantity
        limits = ("; ".join(stated(said).removesuffix(CERTAIN) for said in side) for side in (row.worst, row.own))
        cells = [said or other for said, other in zip(limits, missing, strict=True)]
        lines.append((what, *cells[: 2 if with_own else 1]))
    return lines


def _no_single_number(budget: Budget) -> str:
    """Why a budget gives no limit, in a few words: it is not published, or has no single number."""
    if budget.unpublished() is not None:
        return "no number published"
    return "differs by universe" if budget.uniform() is None else "unknown"


def numbers_note(found: RiskNumbers) -> str:
    """A note on reading odds and beliefs, where some are among the numbers."""
    extreme = any(not row.at or dict(row.at).keys() <= {"prior", "candidates"} for row in found.rows)
    return LARGEST if extreme else ""


def numbers_parts(found: RiskNumbers, spec: PrivacySpec, *, with_own: bool) -> list[RenderableType]:
    """The numbers of `risk_numbers` as a table with a title; nothing where no number is known and no reason either."""
    parts: list[RenderableType] = []
    if found.rows:
        table = Table.grid(padding=(0, 2, 0, 0))
        for _ in range(3 if with_own else 2):
            table.add_column(overflow="fold")
        table.add_row(*(Text(head, FAINT) for head in ("", KEEPING, _OWN)[: 3 if with_own else 2]))
        for row, line in zip(found.rows, numbers_cells(found, spec, with_own=with_own), strict=True):
            table.add_row(*(Text(cell, BAD if row.is_exceeded else "") for cell in line))
        note = numbers_note(found)
        parts = [Text(numbers_title(spec), "bold"), table, *([Text(note, FAINT)] if note else [])]
    return parts + [Text(f"{side} open: {reason}", OPEN) for side, reason in found.unknown]


# --- the figure -----------------------------------------------------------------------------------


def figure(report: RiskReport, found: SpecDocument) -> Figure:
    """One panel for each quantity: curves over the numbers at which it is measured, bars where there are none."""
    quantities = dict.fromkeys(row.quantity for row in report.rows)
    panels = [_panel(quantity, [row for row in report.rows if row.quantity == quantity]) for quantity in quantities]
    return chart(f"{found.id}, {report.attacker.name}: {report.attacker.title}", panels)


def _panel(quantity: str, rows: Sequence[RiskRow]) -> Chart:
    """Upper bounds by their upper ends, lower ones by their lower ends; lines where they are powers, else points."""
    # The first name whose values are numbers and differ.
    names = dict.fromkeys(name for row in rows for name, _ in row.at)
    varied = (name for name in names if _varies(rows, name))
    axis = next((name for name in varied if all(_is_number(dict(row.at).get(name)) for row in rows)), None)
    lines: dict[tuple[str, Sense], list[tuple[float, float]]] = {}
    for place, row in enumerate(rows):
        rest = ", ".join(f"{name} {value}" for name, value in row.at if name != axis and _varies(rows, name))
        where = float(place) if axis is None else float(number(dict(row.at)[axis]).decimal(9))
        for side, said in ((_WORST, row.worst), (_OWN, row.own)):
            for statement in said:
                end = statement.value.lower if statement.relation is Sense.AT_LEAST else statement.value.upper
                if not end.is_infinite:
                    name = ", ".join(part for part in (f"{side}: {statement.relation.value}", rest) if part)
                    lines.setdefault((name, statement.relation), []).append((where, float(end.decimal(12))))
    labels = () if axis is not None else tuple(_at(row) for row in rows)
    rising = (quantity, axis) in _RISING
    made = tuple(
        CurveLine(
            name=name,
            points=tuple(sorted(points)),
            dashed=_OWN in name,
            joined=rising and relation in _SIDES,
            side=_SIDES.get(relation, "") if rising else "",
            is_power=rising,
        )
        for (name, relation), points in lines.items()
    )
    return Chart(title=quantity, axis=axis or "", lines=made, labels=labels, powers=_is_delta(quantity), places=_is_delta(axis))


_RISING = (("power", "level"),)
"""Quantities that rise with an axis by their meaning: the largest power of a test grows with its level. Others may turn."""
_SIDES: Mapping[Sense, Literal["above", "below"]] = {Sense.AT_MOST: "above", Sense.AT_LEAST: "below"}


def _is_delta(name: str | None) -> bool:
    """Whether a parameter is a delta, which is displayed on a logarithmic scale."""
    return name is not None and re.search(r"\bdelta\b", name) is not None


def _varies(rows: Sequence[RiskRow], name: str) -> bool:
    return len({dict(row.at).get(name) for row in rows}) > 1


def _is_number(value: str | None) -> bool:
    try:
        return value is not None and Fraction(value) == Fraction(value)
    except ValueError:
        return False


# --- recommendations ------------------------------------------------------------------------------


NO_CLAIM = (
    "no release was checked: this is what one that keeps the budget leaves to an attacker; dpspec verify checks whether one does"
)
"""The status of a claim that does not exist yet."""


def recommendation_data(tolerance: Tolerance, found: Recommendation) -> JsonData:
    """All of it, with exact numbers."""
    return {
        "tolerance": {
            "name": tolerance.name,
            "title": tolerance.title,
            "source": tolerance.source,
            "parameters": dict(_asked(tolerance)),
        },
        "budget": {"parameter": found.parameter, "value": bracket(found.value), "stated": found.stated},
        "given": _pairs(found.given),
        "binding": {"at": _pairs(found.at), "attained": found.attained, "requirement": found.binding},
        "method": found.method,
        "theorem": found.theorem,
        "assumption": found.assumption,
        "not_covered": list(found.not_covered),
        "standing": {"word": Word.UNCHECKED.word, "sentence": NO_CLAIM, "assumptions": []},
        "consequences": [
            {
                "quantity": said.quantity,
                "at": _pairs(said.at),
                "value": bracket(said.value),
                "theorem": said.theorem,
                "assumption": said.assumption,
            }
            for said in found.consequences
        ],
    }


def _pairs(pairs: tuple[tuple[str, str], ...]) -> list[JsonData]:
    return [{"name": name, "value": value} for name, value in pairs]


def _asked(tolerance: Tolerance) -> list[tuple[str, str]]:
    """The parameters that differ from their defaults, as text."""
    values = [(p, getattr(tolerance, p.name)) for p in parameters(type(tolerance))]
    return [
        (p.name, f"{value.__module__}:{value.__qualname__}" if callable(value) else value_in_words(value))
        for p, value in values
        if p.required or value != p.default
    ]


def recommendation_parts(tolerance: Tolerance, found: Recommendation) -> PageParts:
    """The number first, then who binds it, what it rests on, and what a release with it looks like."""
    rows = grid()
    asked = ", ".join(f"{name} = {value}" for name, value in _asked(tolerance))
    given = ", ".join(f"{name} {value}" for name, value in found.given)
    each = " of each release" if ("releases", "1") not in found.given and found.given else ""
    stated = "" if found.value.upper.is_infinite else f"; state at most {found.stated}"
    lines = [
        ("tolerated", asked), ("given", given),
        (found.parameter, f"{bracket_in_words(found.value)}{each}{stated}"), ("binding", found.binding),
        ("found by", f"{found.method} ({found.theorem})"), ("assumes", found.assumption),
        *(("not covered", line) for line in found.not_covered), ("standing", NO_CLAIM),
    ]  # fmt: skip
    for label, said in lines:
        if said:
            rows.add_row(Text(label, FAINT), Text(said, "bold" if label == found.parameter else ""))
    parts: list[RenderableType] = [Text.assemble((tolerance.name, "bold"), f"  {tolerance.title}"), "", rows]
    if found.consequences:
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(overflow="fold")
        table.add_column(overflow="fold")
        for one in found.consequences:
            where = ", ".join(f"{name} {value}" for name, value in one.at)
            table.add_row(f"  {one.quantity}{', ' if where else ''}{where}", bracket_in_words(one.value))
        parts += ["", Text(f"With {found.consequences[0].assumption}:", FAINT), table]
    return parts
