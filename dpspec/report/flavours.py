"""The family of flavours: what each one changes, and the implications between their instances, as data, text and a figure."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import attrs
from rich.table import Table
from rich.text import Text

from dpspec.base.params import parameters
from dpspec.base.types import JsonData
from dpspec.comparison.separations import check_foreign, exact_judge
from dpspec.extension import installed
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason.search import derive, rules_of
from dpspec.report.figures import DiagramBox, Figure, diagram, merged, reduced
from dpspec.report.page import PageParts
from dpspec.report.terminal import (
    FAINT,
    blocks_in_words,
    space_in_words,
    thing_by_name,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dpspec.extension import Registry
    from dpspec.grammar.flavour import Flavour

NOTHING = "nothing"
"""The changes of the first flavour of all."""


def family(registry: Registry) -> JsonData:
    """Every registered flavour, and the implications that the comparison engine derives between their instances."""
    entries = registry.usable("flavours")
    made: dict[str, Flavour] = {entry.name: entry.cls() for entry in entries}
    specs = {name: flavour.spec() for name, flavour in made.items()}
    instances = {name: flavour.compared() for name, flavour in made.items()}
    return {
        "flavours": [
            {
                "name": entry.name,
                "title": made[entry.name].title,
                "citation": made[entry.name].citation,
                "changes": [block.replace("_", " ") for block in made[entry.name].changes],
                "blocks": blocks_in_words(specs[entry.name], thing_by_name),
                "instance": {
                    "space": "; ".join(space_in_words(instances[entry.name].space)),
                    "budget": _measured(instances[entry.name]),
                },
                "distribution": entry.provenance.distribution,
            }
            for entry in entries
        ],
        "implications": implications(instances, registry),
    }


def _measured(spec: PrivacySpec) -> str:
    """The number of an instance, and the numbers among the parameters of its output divergence."""
    measure = spec.output_divergence
    given = {one.name: getattr(measure, one.name) for one in parameters(type(measure)) if one.required}
    return ", ".join([str(spec.budget), *(f"{name} = {value}" for name, value in given.items() if not isinstance(value, str))])


def implications(specs: dict[str, PrivacySpec], registry: Registry | None = None) -> list[list[str]]:
    """The pairs [a, b] of names for which a => b is derived, for specifications on one space."""
    rules, judge = rules_of(installed().registry if registry is None else registry), exact_judge(registry)
    found = []
    for (a, premise), (b, conclusion) in itertools.permutations(specs.items(), 2):
        derivation = derive(premise, conclusion, registry) if premise.space == conclusion.space else None
        if derivation is not None:
            check_foreign(derivation, rules, judge)
            found.append([a, b])
    return found


def columns(data: JsonData) -> dict[str, list[JsonData]]:
    """The flavours by the first block that they change, in the order of the blocks."""
    headings = [NOTHING, *(field.name.replace("_", " ") for field in attrs.fields(PrivacySpec))]
    sorted_out: dict[str, list[JsonData]] = {heading: [] for heading in headings}
    for flavour in data["flavours"]:
        sorted_out[(flavour["changes"] or [NOTHING])[0]].append(flavour)
    return {heading: found for heading, found in sorted_out.items() if found}


def family_parts(data: JsonData) -> PageParts:
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
    parts.append(Text("derived between instances on one space, each with its number", "bold"))
    instances = {flavour["name"]: flavour["instance"] for flavour in data["flavours"]}
    for space, arrows in _by_space(data).items():
        parts += [f"on {space}"]
        rows = Table.grid(padding=(0, 2, 0, 2))
        for a, b in arrows:
            rows.add_row(f"{a} implies {b}", Text(f"{instances[a]['budget']}; {instances[b]['budget']}", FAINT))
        parts.append(rows)
    return parts


def _by_space(data: JsonData) -> dict[str, list[tuple[str, str]]]:
    """The arrows by the space on which they hold."""
    space_of = {flavour["name"]: flavour["instance"]["space"] for flavour in data["flavours"]}
    found: dict[str, list[tuple[str, str]]] = {}
    for a, b in reduced([(a, b) for a, b in data["implications"]]):
        found.setdefault(space_of[a], []).append((a, b))
    return found


def family_figure(data: JsonData) -> Figure:
    """The family: one column for each block, arrows from what implies to what is implied."""
    space_of = {name: space for space, arrows in _by_space(data).items() for arrow in arrows for name in arrow}
    given = [(a, b) for a, b in data["implications"]]
    first = merged(given)
    boxes = []
    for heading, found in columns(data).items():
        for flavour in found:
            name = flavour["name"]
            if first.get(name, name) == name:
                equal = [other for other in data["flavours"] if other["name"] != name and first.get(other["name"]) == name]
                text = f"= {', '.join(other['name'] for other in equal)}" if equal else flavour["title"]
                budgets = dict.fromkeys(one["instance"]["budget"] for one in (flavour, *equal))
                boxes.append(
                    DiagramBox(
                        key=name,
                        title=name,
                        text=text,
                        number="; ".join(budgets),
                        group="changes nothing" if heading == NOTHING else f"changes the {heading}",
                    )
                )
    arrows = [(a, b) for a, b in reduced(given) if first[a] == a and first[b] == b]
    title = "Flavours of differential privacy by the block that each one changes"
    caption = (
        "An arrow leads to what is implied: derived on the space above it, with the numbers in the two boxes. "
        "Flavours that are equivalent there share a box."
    )
    return diagram(
        boxes, arrows, title, caption,
        apart="Without an arrow: stated on a space of its own, or neither implying nor implied there",
        about=lambda keys: f"on {space_of[min(keys)]}",
    )  # fmt: skip
