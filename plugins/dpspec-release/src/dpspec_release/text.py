"""Text output of `release` and `synth`."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dpspec import SpecDocument
from dpspec.plugin import exact
from dpspec.plugin.applications import FAINT, PageParts, count, level_in_words, stand_ins_in_words
from dpspec.plugin.releases import grid
from dpspec_release.accuracy import LARGEST_COUNT, Accuracy, ReleasedNumber, upper_in_words


def released(data: Mapping[str, Any], directory: str, *, verbose: bool = False) -> PageParts:
    """What was drawn, whether its claim holds, and what it keeps; with `verbose` what the mechanism states of itself, too."""
    rows = grid()
    for file in data["released"]:
        rows.add_row(Text("released", FAINT), Text(f"{directory}/{file['file']}", "bold"))
    if "margins" in data:
        rows.add_row(Text("margins", FAINT), f"in the column {data['margins']['column']}")
    records = sum(file["records"] for file in data["released"])
    rows.add_row("", f"{count(records, 'row')} by {data['mechanism']['name']}, from {data['table']}")
    rows.add_row(Text("claim", FAINT), data["claim"]["sentence"])
    for assumption in data.get("assumptions", ()):  # reports of earlier versions have none
        rows.add_row(Text("assumes", FAINT), assumption)
    rows.add_row(Text("spec", FAINT), data["specification"]["id"])
    for place, part in enumerate(data["not_released"]):
        rows.add_row(Text("" if place else "beside", FAINT), f"{part}: the file promises it too, and it is not released here")
    rows.add_row(Text("random", FAINT), data["randomness"])
    for held in data["invariants"]:
        cells = held["cells"]
        answer = "holds, by a digest of all records" if cells is None else f"holds in all {count(cells, 'cell')}"
        if not held["held"]:
            answer = f"not compared: {held.get('reason', 'it cannot be evaluated')}"  # reports of earlier versions have none
        rows.add_row(Text("invariant", FAINT), f"{held['invariant']}: {answer}")
    if data["invariants"] and "exposure" in data:  # reports of earlier versions have none
        rows.add_row(Text("exposed", FAINT), data["exposure"]["note"])
    for kept in data["kept"]:
        rows.add_row(Text("kept", FAINT), f"{kept['kept']}: as before ({count(kept['records'], 'record')})")
    lines = [line for name, value in data["stated_by_mechanism"].items() for line in _value_lines(name, value)]
    for place, line in enumerate(lines if verbose else ()):
        rows.add_row(Text("" if place else "mechanism", FAINT), line)
    for file in data["released"] if verbose else ():
        rows.add_row(Text("sha256", FAINT), file["sha256"])
    if "utility" in data:
        tables = data["utility"]["tables"]
        worst = max((table for table in tables if table["cells"]), key=lambda table: table["mape"], default=None)
        range_of = (
            ""
            if worst is None
            else f"; largest MAPE: {worst['mape']:.3g} % ({worst['unit']} by {' x '.join(worst['attributes'])})"
        )
        rows.add_row(Text("utility", FAINT), Text(data["utility"]["folder"], "bold"))
        compared = f"{count(len(tables), 'table')} compared" if tables else "no table was compared"
        rows.add_row("", f"{compared}{range_of}; NOT for publication")
        for one in data["utility"]["left_out"]:
            rows.add_row("", f"not compared, {one['table']}: {one['reason']}")
    return [rows]


def _value_lines(name: str, value: Any) -> list[str]:
    """An entry of the mechanism's report: the items of a list on lines of their own, nothing for an empty one."""
    if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        return [f"{name}:", *(f"  {_value_in_words(item)}" for item in value)]
    return [] if value in ([], {}) else [f"{name}: {_value_in_words(value)}"]


_LISTED = 2
"""The number of entries of a list inside another entry that are displayed at the terminal."""


def _value_in_words(value: Any) -> str:
    """A value of the mechanism's report in one line; a long list of entries is left to the file."""
    if isinstance(value, list) and len(value) > _LISTED and isinstance(value[0], Mapping):
        return f"{len(value)} entries in report.json"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_value_in_words(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return "; ".join(map(_value_in_words, value)) or "none"
    return str(value)


_WIDTH = 100


def listing(tables: Sequence[Mapping[str, Any]]) -> str:
    """The tables that can be made, each with its own size, columns and source.

    >>> print(listing([{"name": "dwellings", "rows": 1200, "columns": [{"name": "tenure", "categories": 2}], "source": "ours"}]))
    dwellings: 1,200 records unless --rows says otherwise
      columns  tenure (2)
      source   ours
    """
    return "\n".join(line for table in tables for line in _table_lines(table))


def _table_lines(table: Mapping[str, Any]) -> list[str]:
    columns = ", ".join(f"{column['name']} ({column['categories']:,})" for column in table["columns"])
    lines = [f"{table['name']}: {table['rows']:,} records unless --rows says otherwise"]
    for label, words in (("  columns  ", columns), ("  source   ", table["source"])):
        lines += textwrap.wrap(words, _WIDTH, initial_indent=label, subsequent_indent=" " * len(label))
    return lines


def synthesis_text(made: Mapping[str, Any]) -> str:
    """A table that was made.

    >>> print(synthesis_text({"rows": 50, "table": {"name": "dwellings"}, "seed": 1940, "path": "a.csv"}))
    a.csv: 50 records of dwellings, seed 1940
    """
    return f"{made['path']}: {made['rows']:,} records of {made['table']['name']}, seed {made['seed']}"


SHOWN = 12
"""Released numbers that are printed; --out writes all."""


def accuracy_parts(known: Accuracy, rows: Sequence[ReleasedNumber] | None, out: object) -> PageParts:
    """The margins of each table, what nothing is known of, and the first released numbers with theirs."""
    parts: list[RenderableType] = []
    percent = level_in_words(known.level)
    if known.tables:
        parts.append(Text(_headline(known, percent)))
        parts += [Text(), _accuracy_table(known, percent)]
        parts += [Text(f"{one.table}: {one.note}") for one in known.tables if one.note and one.source != "runs"]
        if known.runs:
            parts.append(Text(f"The cell of each table that moved most, in {count(known.runs, 'run')}; no law is known."))
        elif all(one.margin_of_all is not None for one in known.tables):
            parts.append(Text(f"In {percent} of releases, all numbers at once are within the margins of the last column."))
        parts += [Text(note) for note in (*_joint(known), *([] if known.runs or rows is not None else about(known.document)))]
    else:
        parts.append(Text("Nothing is known of the accuracy of these numbers."))
    parts += [Text(f"not known  {table}: {reason}") for table, reason in known.unknown]
    if rows is not None:
        parts += [Text(), *_released_rows(rows), *([Text(f"wrote {out}")] if out is not None else [])]
    return parts


def about(document: SpecDocument) -> list[str]:
    """Of which release margins are that follow from a file alone."""
    notes = [f"This is about {stand_ins_in_words(document.stand_ins)}."] if document.stand_ins else []
    others = [part.title for part in document.parts if document.release_of(part) is not None]
    return [*notes, *([f"Numbers of further releases are not among these: {'; '.join(others)}."] if others else [])]


def _joint(known: Accuracy) -> list[str]:
    """How often all numbers are within their margins at once, where that follows from independent noise."""
    numbers = sum(one.numbers or 0 for one in known.tables)
    if known.joint is None or numbers < 2:
        return []
    often = exact.rounded_down(known.joint.lower * 100, 3)
    return [f"All {numbers:,} numbers are within their own margins at once in at least {often} % of releases."]


MOST_ROWS = 40
"""Tables that a report lists."""


def margins(known: Accuracy) -> dict[str, Any]:
    """The accuracy of a file for reports: a grid, plain lines, and notes.

    Args:
        known: what follows from the specification.

    Returns:
        `heads` and `rows` of a grid; `plain`, pairs of a table in words and its margin; `notes`, sentences; `largest_count`, up
        to which true count all of that is known; None for all counts.
    """
    percent = level_in_words(known.level)
    shown = known.tables[:MOST_ROWS]
    rows = [
        [
            one.table, one.law, "" if one.numbers is None else f"{one.numbers:,}",
            "" if one.deviation is None else one.deviation.upper.decimal(4), upper_in_words(one.margin, 4),
        ]
        for one in shown
    ]  # fmt: skip
    notes = [_headline(known, percent), *_joint(known), *about(known.document)] if known.tables else []
    notes += [f"{one.table}: {one.note}." for one in shown if one.note]
    left_out = len(known.tables) - len(shown)
    notes += [f"{count(left_out, 'table')} more are left out here."] if left_out else []
    return {
        "heads": ["table", "error", "numbers", "standard deviation", f"margin ({percent})"], "rows": rows, "notes": notes,
        "plain": [[one.words, upper_in_words(one.margin, 3)] for one in known.tables],
        "largest_count": None if all(one.is_of_all_counts for one in known.tables) else LARGEST_COUNT,
    }  # fmt: skip


def published(numbers: Sequence[ReleasedNumber]) -> dict[str, Any]:
    """The first released numbers with their margins, for reports.

    Args:
        numbers: all of them.

    Returns:
        `heads` and `rows` of a grid, and `notes`.
    """
    rows = [
        [one.query, one.words, one.value or one.status, f"\u00b1 {one.margin}" if one.margin else "unknown"]
        for one in numbers[:MOST_ROWS]
    ]
    left_out = len(numbers) - len(rows)
    notes = [f"{count(left_out, 'number')} more are in the released files."] if left_out else []
    return {"heads": ["table", "cell", "published", "margin (95 %)"], "rows": rows, "notes": notes}


def _headline(known: Accuracy, percent: str) -> str:
    """What the margins are."""
    if known.runs:
        return f"In simulated runs on the released table, counts stay within their margins in {percent} of runs."
    if not all(one.is_of_all_counts for one in known.tables):
        return f"In {percent} of releases, a published number is within its margin of a true count up to {LARGEST_COUNT}."
    return f"In {percent} of releases, a published number is within its margin of the true one."


def _accuracy_table(known: Accuracy, percent: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="")
    of_all = any(one.margin_of_all is not None for one in known.tables)
    for heading in ("table", "error"):
        table.add_column(heading, overflow="fold")
    for heading in ("numbers", "bias", "deviation", f"margin ({percent})"):
        table.add_column(heading, justify="right")
    if of_all:
        table.add_column("margin of all", justify="right")
    for one in known.tables:
        cells = [
            one.table, one.law, "" if one.numbers is None else f"{one.numbers:,}", one.bias.upper.decimal(3),
            "" if one.deviation is None else one.deviation.upper.decimal(4), upper_in_words(one.margin, 4),
        ]  # fmt: skip
        table.add_row(*cells, *([upper_in_words(one.margin_of_all, 4) if one.margin_of_all else ""] if of_all else []))
    return table


def _released_rows(rows: Sequence[ReleasedNumber]) -> list[RenderableType]:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="")
    for heading in ("table", "cell"):
        table.add_column(heading, overflow="fold")
    table.add_column("published", justify="right")
    table.add_column("margin", justify="right")
    for row in rows[:SHOWN]:
        table.add_row(row.query, row.words, row.value or row.status, row.margin and f"\u00b1 {row.margin}")
    more = len(rows) - SHOWN
    return [table, *([Text(f"and {more:,} more; --out FILE writes all")] if more > 0 else [])]
