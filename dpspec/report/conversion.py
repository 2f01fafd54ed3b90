"""Conversions of budgets as text and as data: every path with its number, its formulas, and how tight it is."""

from __future__ import annotations

from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dpspec.compare.conversions import Leg, Path
from dpspec.compare.quantities import Conversions
from dpspec.report.json import bracket
from dpspec.report.terminal import FAINT, drawn
from dpspec.report.words import bracket_in_words, number_in_words, thing_in_words

Data = dict[str, Any]


def data(found: Conversions) -> Data:
    """All of it, with exact numbers."""
    return {
        "given": {"divergence": thing_in_words(found.source), "parameter": _parameter(found.source), "value": str(found.value)},
        "wanted": {"divergence": thing_in_words(found.goal), "parameter": _parameter(found.goal)},
        "paths": [_path(path) for path in found.paths],
        "alike": list(found.alike),
    }


def _path(path: Path) -> Data:
    return {
        "value": bracket(path.value),
        "tight": path.tight,
        "sense": path.sense,
        "needs": [known.needs for known in path.known],
        "steps": [_step(leg) for leg in path.legs],
    }


def _step(leg: Leg) -> Data:
    return {
        "rule": leg.conversion.name,
        "formula": leg.conversion.formula,
        "citation": leg.conversion.citation,
        "to": thing_in_words(leg.target),
        "value": bracket(leg.value),
    }


def _parameter(divergence: Any) -> str:
    return str(divergence.budget_parameters[0])


def text(found: Conversions) -> str:
    """A headline, the paths that every mechanism with this budget may take, and those that need to know the mechanism."""
    wanted = f"{_parameter(found.goal)} of {thing_in_words(found.goal)}"
    given = f"{_parameter(found.source)} = {number_in_words(found.value)} of {thing_in_words(found.source)}"
    parts: list[RenderableType] = [Text.assemble(f"From {given} to ", (wanted, "bold")), ""]
    implied = [path for path in found.paths if not path.known]
    if implied:
        parts += [Text("Implied for every mechanism, the best first", "bold"), _table(implied), ""]
    else:
        parts += [Text("No formula gives a number for every mechanism.", "bold"), ""]
    for needs in dict.fromkeys(path.known[0].needs for path in found.paths if path.known):
        known = [path for path in found.paths if path.known and path.known[0].needs == needs]
        parts += [Text(f"Only when {needs}", "bold"), _table(known), ""]
    parts.append(Text("Numbers are rounded for reading; the conversion is valid for neighbours, datasets at distance 1.", FAINT))
    if found.alike:
        others = ", ".join(found.alike)
        parts.append(Text(f"Other standards write {_parameter(found.goal)} too: --to {others}", FAINT))
    return drawn(*parts).rstrip()


def _table(paths: list[Path]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for path in paths:
        last = path.legs[-1]
        table.add_row(Text(bracket_in_words(path.value), "bold"), _route(path))
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


def _route(path: Path) -> str:
    return " > ".join(path.names)
