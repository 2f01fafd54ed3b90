"""The family of flavours: every published definition by the block that it changes, and which implies which."""

from __future__ import annotations

from typing import Any

import attrs
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dpspec.api import derive
from dpspec.extension import Registry
from dpspec.flavour import Flavour
from dpspec.report.diagram import Box, reduced, svg
from dpspec.report.terminal import FAINT, drawn
from dpspec.report.words import blocks_in_words
from dpspec.spec import PrivacySpec

Data = dict[str, Any]

NOTHING = "nothing"
"""What the first flavour of all changes."""


def family(registry: Registry) -> Data:
    """Every registered flavour, and the implications that the comparison engine derives between their instances."""
    entries = [entry for entry in registry if entry.kind == "flavours"]
    made: dict[str, Flavour] = {entry.name: entry.cls() for entry in entries}
    specs = {name: flavour.spec() for name, flavour in made.items()}
    return {
        "flavours": [
            {
                "name": entry.name,
                "title": made[entry.name].title,
                "citation": made[entry.name].citation,
                "changes": [block.replace("_", " ") for block in made[entry.name].changes],
                "blocks": blocks_in_words(specs[entry.name]),
                "distribution": entry.provenance.distribution,
            }
            for entry in entries
        ],
        "implications": implications(specs, registry),
    }


def implications(specs: dict[str, PrivacySpec], registry: Registry | None = None) -> list[list[str]]:
    """The pairs [a, b] of names for which a => b is derived, for specifications on one space."""
    return [
        [a, b]
        for a, premise in specs.items()
        for b, conclusion in specs.items()
        if a != b and premise.space == conclusion.space and derive(premise, conclusion, registry) is not None
    ]


def columns(data: Data) -> dict[str, list[Data]]:
    """The flavours by the first block that they change, in the order of the blocks."""
    headings = [NOTHING, *(field.name.replace("_", " ") for field in attrs.fields(PrivacySpec))]
    sorted_out: dict[str, list[Data]] = {heading: [] for heading in headings}
    for flavour in data["flavours"]:
        sorted_out[(flavour["changes"] or [NOTHING])[0]].append(flavour)
    return {heading: found for heading, found in sorted_out.items() if found}


def text(data: Data) -> str:
    """The family as a table, then who implies whom."""
    parts: list[RenderableType] = []
    for heading, found in columns(data).items():
        parts += [Text(f"changes {heading}" if heading != NOTHING else "the one from which the others differ", "bold")]
        rows = Table.grid(padding=(0, 2, 0, 0))
        rows.add_column(no_wrap=True, min_width=26)
        rows.add_column(overflow="fold")
        rows.add_column(overflow="fold", style=FAINT)
        for flavour in found:
            also = ", ".join(flavour["changes"][1:])
            rows.add_row(flavour["name"], flavour["title"] + (f" (also: {also})" if also else ""), flavour["citation"])
        parts += [rows, ""]
    parts.append(Text("derived between the instances on one space", "bold"))
    parts += [f"{a} implies {b}" for a, b in reduced([(a, b) for a, b in data["implications"]])] or ["nothing"]
    return drawn(*parts).rstrip()


def picture(data: Data) -> str:
    """The family as SVG: one column for each block, arrows from what implies to what is implied."""
    boxes = {
        f"changes {heading}" if heading != NOTHING else "changes nothing": [
            Box(key=flavour["name"], title=flavour["name"], text=flavour["title"]) for flavour in found
        ]
        for heading, found in columns(data).items()
    }
    arrows = reduced([(a, b) for a, b in data["implications"]])
    title = "Flavours of differential privacy by the block that each one changes"
    return svg(
        boxes,
        arrows,
        title,
        "An arrow leads to what is implied, as derived between the instances on one space with their budgets.",
    )
