"""Queries on a table of microdata, and the table of their noisy answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.space import Attribute, DatasetSpace
from dpspec.errors import TableError
from dpspec.table import Table

LISTED = 100_000
"""Tables up to this size are read record by record when a query is no plain marginal."""


def answers_on(table: Table, queries: Sequence[Invariant], space: DatasetSpace) -> list[tuple[str, str, int]]:
    """(query, cell, true answer) for every cell of every query."""
    rows = []
    for query in queries:
        counts = _counted(table, query, space)
        rows += [(str(query), cell, count) for cell, count in zip(query.labels(space), counts, strict=True)]
    return rows


def _counted(table: Table, query: Invariant, space: DatasetSpace) -> tuple[int, ...]:
    names = {a.name for a in table.attributes}
    unit = _unit(names, space)
    if isinstance(query, Marginal) and query.unit == unit and {*query.attributes, *dict(query.where)} <= names:
        fast = _marginal(table, query, space)
        if fast is not None:
            return fast
    if len(table) > LISTED:
        raise TableError("table", f"has more than {LISTED} records, and {query} is no marginal of its columns", value=len(table))
    lists = {a.name: list(a.values()) for a in table.attributes}
    order = [a.name for a in space.attributes_of(unit)]
    records = [[lists[name][table.codes[name][row]] for name in order] for row in range(len(table))]
    return query.answers(space.dataset(records), space)


def _unit(columns: set[str], space: DatasetSpace) -> str:
    """The unit whose records the rows are: the one that has the columns as its attributes, else the largest."""
    told = (unit for unit in space.units if {a.name for a in space.attributes_of(unit)} == columns)
    return next(told, space.units[0])


def _marginal(table: Table, query: Marginal, space: DatasetSpace) -> tuple[int, ...] | None:
    """The counts straight from the columns; None when the cells of the query are not simply told apart by their labels."""
    labels = query.labels(space)
    if len(set(labels)) != len(labels):
        return None
    kept = np.ones(len(table), dtype=np.bool_)
    for name, categories in query.where:
        codes = [table.attribute(name).index(category) for category in categories]
        kept &= np.isin(table.codes[name], codes)
    if not query.attributes:
        return (int(kept.sum()),)
    part = Table(attributes=table.attributes, codes={name: column[kept] for name, column in table.codes.items()})
    counts = {" x ".join(cell): count for cell, count in part.counts(query.attributes).items()}
    return tuple(counts.get(label, 0) for label in labels)


def noisy_table(rows: Iterable[tuple[str, str, int]]) -> Table:
    """The released table: one row for each cell, with the columns query, cell and answer."""
    listed = [(query, cell, str(answer)) for query, cell, answer in rows]
    columns = list(zip(*listed, strict=True)) or [(), (), ()]
    attributes = tuple(
        Attribute(name=name, categories=tuple(dict.fromkeys(column)) or ("none",))
        for name, column in zip(("query", "cell", "answer"), columns, strict=True)
    )
    return Table.from_records(listed, attributes)
