"""TopDown on tables: exact discrete Gaussian noise on the counts, and the fitted table as records again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from dpspec_noise.answers import noisy_table
from dpspec_noise.samplers import discrete_gaussian

from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import TableError
from dpspec.randomness import Randomness
from dpspec.table import Table
from dpspec_census.linear import products, query_rows

if TYPE_CHECKING:
    from dpspec_census.topdown import TopdownNoise


def measured(
    mechanism: TopdownNoise, table: Table, space: DatasetSpace, source: Randomness
) -> tuple[tuple[int, ...], Table, tuple[int, ...]]:
    """The counts of the table over the cells, the noisy measurement file, and its answers t."""
    vector = counted(table, space)
    rows: list[tuple[str, str, int]] = []
    for measurement in mechanism.measurements:
        true = products(query_rows(measurement.query, space), vector)
        noise = discrete_gaussian(source, len(true), variance=measurement.variance)
        noisy = (answer + int(w) for answer, w in zip(true, noise, strict=True))
        labels = measurement.query.labels(space)
        rows += [(str(measurement.query), label, answer) for label, answer in zip(labels, noisy, strict=True)]
    return vector, noisy_table(rows), tuple(answer for _, _, answer in rows)


def counted(table: Table, space: DatasetSpace) -> tuple[int, ...]:
    """The table as counts over the cells of a space of records."""
    space = _of_records(space)
    counts = table.counts([a.name for a in space.attributes])
    cells: Any = space.cells() or ()
    space.check_size(len(table))
    unknown = set(counts) - set(cells)
    if unknown:
        raise TableError("table", f"has {len(unknown)} kinds of records that the space does not know", "check nested attributes")
    return tuple(counts.get(cell, 0) for cell in cells)


def microdata(dataset: Dataset, space: DatasetSpace) -> Table:
    """The records of a dataset as a table."""
    space = _of_records(space)
    records = space.records(dataset, space.unit)
    if not records:
        empty = {a.name: np.zeros(0, dtype=np.int64) for a in space.attributes}
        return Table(attributes=space.attributes, codes=empty)
    return Table.from_records(records, space.attributes)


def _of_records(space: DatasetSpace) -> UnorderedRecords:
    if not isinstance(space, UnorderedRecords):
        raise TableError(f"space {space.name}", "is not a table of records of one unit", "use records or contingency-tables")
    return space
