"""Test tables in words: what there is, and what was made."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

_WIDTH = 100


def listing(tables: Sequence[Mapping[str, Any]]) -> str:
    """The tables that can be made, each with its own size, columns and source.

    >>> print(listing([{"name": "dwellings", "rows": 1200, "columns": [{"name": "tenure", "categories": 2}], "source": "ours"}]))
    dwellings: 1,200 records unless --rows says otherwise
      columns  tenure (2)
      source   ours
    """
    return "\n".join(line for table in tables for line in _lines(table))


def _lines(table: Mapping[str, Any]) -> list[str]:
    columns = ", ".join(f"{column['name']} ({column['categories']:,})" for column in table["columns"])
    told = [f"{table['name']}: {table['rows']:,} records unless --rows says otherwise"]
    for label, words in (("  columns  ", columns), ("  source   ", table["source"])):
        told += textwrap.wrap(words, _WIDTH, initial_indent=label, subsequent_indent=" " * len(label))
    return told


def text(made: Mapping[str, Any]) -> str:
    """A table that was made.

    >>> print(text({"rows": 50, "table": {"name": "dwellings"}, "seed": 1940, "path": "a.csv"}))
    a.csv: 50 records of dwellings, seed 1940
    """
    return f"{made['path']}: {made['rows']:,} records of {made['table']['name']}, seed {made['seed']}"
