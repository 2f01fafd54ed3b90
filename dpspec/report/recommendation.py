"""A recommended budget as text and as data: the number, who binds it, and what it rests on."""

from __future__ import annotations

from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dpspec.attacker import RiskStatement
from dpspec.params import parameters
from dpspec.report.json import bracket
from dpspec.report.terminal import FAINT, drawn, grid
from dpspec.report.words import bracket_in_words, value_in_words
from dpspec.tolerance import Recommendation, Tolerance
from dpspec.verify.words import Word

Data = dict[str, Any]


NO_CLAIM = (
    "no release was checked: this is what one that keeps the budget leaves to an attacker; dpspec verify judges whether one does"
)
"""How the claim stands that is not there yet."""


def data(tolerance: Tolerance, found: Recommendation) -> Data:
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
        "standing": {"word": Word.UNCHECKED.word, "sentence": NO_CLAIM},
        "consequences": [_consequence(said) for said in found.consequences],
    }


def _consequence(said: RiskStatement) -> Data:
    return {
        "quantity": said.quantity,
        "at": _pairs(said.at),
        "value": bracket(said.value),
        "theorem": said.theorem,
        "assumption": said.assumption,
    }


def _pairs(pairs: tuple[tuple[str, str], ...]) -> list[Data]:
    return [{"name": name, "value": value} for name, value in pairs]


def _asked(tolerance: Tolerance) -> list[tuple[str, str]]:
    """The parameters that differ from their defaults, as text."""
    values = [(p, getattr(tolerance, p.name)) for p in parameters(type(tolerance))]
    return [(p.name, _in_words(value)) for p, value in values if p.required or value != p.default]


def _in_words(value: Any) -> str:
    return f"{value.__module__}:{value.__qualname__}" if callable(value) else value_in_words(value)


def text(tolerance: Tolerance, found: Recommendation) -> str:
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
        parts += ["", Text(f"With {found.consequences[0].assumption}:", FAINT), _table(found)]
    return drawn(*parts).rstrip()


def _table(found: Recommendation) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for said in found.consequences:
        where = ", ".join(f"{name} {value}" for name, value in said.at)
        table.add_row(f"  {said.quantity}{', ' if where else ''}{where}", bracket_in_words(said.value))
    return table
