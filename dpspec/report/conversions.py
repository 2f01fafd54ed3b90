"""Derivations, conversions and theorems about numbers, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dpspec.base.errors import count
from dpspec.base.exact import Bracket, rounded_up
from dpspec.base.types import JsonData
from dpspec.report.json import bracket
from dpspec.report.terminal import (
    FAINT,
    bracket_in_words,
    budget_in_words,
    grid,
    number_in_words,
    thing_by_name,
    thing_in_words,
)
from dpspec.report.yardsticks import place_in_words

if TYPE_CHECKING:

    from dpspec.reason.conversions import ConversionPath, Conversions, TheoremNumbers
    from dpspec.reason.search import Derivation


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


def conversion_data(found: Conversions) -> JsonData:
    """All of it, with exact numbers."""
    return {
        "given": {"divergence": thing_by_name(found.source), "parameter": _parameter(found.source), "value": str(found.value)},
        "wanted": {"divergence": thing_by_name(found.goal), "parameter": _parameter(found.goal)},
        "paths": [
            {
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
            for path in found.paths
        ],
        "alike": list(found.alike),
    }


def _limit(value: Bracket, equal: str = "") -> str:
    """The number that is promised: in exact form while that is short, else rounded up; a wide bracket by both of its ends."""
    words = number_in_words(value.lower) if value.is_exact else bracket_in_words(value)
    if words.startswith("about "):
        return f"at most {rounded_up(value.upper, 6)}"
    return f"{equal}{words}" if value.is_exact else words


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
        best = f"{_parameter(found.goal)} {_limit(implied[0].value, equal='= ')}"
        parts += [Text.assemble((best, "bold"), f" of {thing_in_words(found.goal)}, for every mechanism with {given}"), ""]
    else:
        parts += [Text("No formula gives a number for every mechanism.", "bold"), Text(f"From {given} to {wanted}"), ""]
    table = _table if verbose else _short_table
    if implied:
        parts += [Text("Implied for every mechanism, the best first", "bold"), table(implied), ""]
    for needs in dict.fromkeys(path.known[0].needs for path in found.paths if path.known):
        known = [path for path in found.paths if path.known and path.known[0].needs == needs]
        parts += [Text(f"Only when {needs}", "bold"), table(known), ""]
    parts.append(Text("Limits are rounded up; the conversion is valid for neighbours, datasets at distance 1.", FAINT))
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
    table = grid()
    for one in found.numbers:
        table.add_row(Text(_limit(one.value), "bold"), f"{one.about} ({one.citation})")
    return [*parts, table, Text("Limits are rounded up; --format json has their exact forms.", FAINT)]


def _table(paths: list[ConversionPath]) -> Table:
    table = grid()
    for path in paths:
        table.add_row(Text(_limit(path.value), "bold"), _path_steps(path))
        table.add_row("", "; then ".join(leg.conversion.formula for leg in path.legs))
        for leg in path.legs[:-1]:
            through = f"through {thing_in_words(leg.target)}: {_parameter(leg.target)} {_limit(leg.value)}"
            table.add_row("", Text(through, FAINT))
        tight = "tight" if path.tight else "not tight"
        table.add_row("", Text(f"{tight}: {path.sense} ({path.legs[-1].conversion.citation})", FAINT))
    return table


def _short_table(paths: list[ConversionPath]) -> Table:
    """A line for each formula."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), header_style="bold")
    for title in (_parameter(paths[0].legs[-1].target), "by", "tight", "proved in"):
        table.add_column(title, overflow="fold")
    for path in paths:
        tight = "yes" if path.tight else "no"
        table.add_row(Text(_limit(path.value), "bold"), _path_steps(path), tight, path.legs[-1].conversion.citation)
    return table


def _path_steps(path: ConversionPath) -> str:
    return " > ".join(path.names)
