"""Swapping on real tables: vectorised over all strata, with exact coins and exactly uniform permutations and derangements.

The kernel sees of each record its stratum and its row, and says which record gets the swap values of which. Every draw belongs
to a row or to a stratum (`PlacedRandomness`), so what is drawn does not depend on how the strata were dealt out to parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dpspec.engine import Columns
from dpspec.errors import TableError
from dpspec.randomness import PlacedRandomness, Randomness
from dpspec.randomness.arrangement import stable_order
from dpspec.run import Run
from dpspec.table import Members, Table, ranked
from dpspec_census.stratum_rate import Rates
from dpspec_census.swap_scheme import SwapScheme

Indices = npt.NDArray[np.int64]
Integers = npt.NDArray[np.integer[Any]]

SELECT, KEYS, CYCLES = 0, 1 << 16, 2 << 16
"""The streams of the selection (one for each time that it is drawn), of the order, and of the lengths of cycles."""

PART = 1 << 22
"""Records of a part, about; a larger stratum is a part of its own."""


def exchanged(
    table: Table, scheme: SwapScheme, rates: Rates, run: Run, draws: PlacedRandomness, *, derange: bool
) -> tuple[Table, int]:
    """One draw of the swap: the table with the rows as they were, and the number of records that were selected.

    Args:
        table: needs the columns `match` and `swap`; all its other columns stay as they are.
        rates: p, by stratum.
        draws: the randomness of this run.
        derange: B-A3 with its redraw rule; False for the permutation of B-A4.
    """
    for name in (*scheme.match, *scheme.swap):
        table.attribute(name)
    if not len(table):
        raise TableError("table", "has no records", "give a table with at least one row")
    kernel = partial(swap_kernel, rates=rates, source=draws, derange=derange)
    columns = {name: table.codes[name].copy() for name in scheme.swap}
    done = selected = 0
    for drawn in run.engine.map(kernel, _parts(table, scheme, run.engine.parts)):
        for name, column in columns.items():
            column[drawn["row"]] = table.codes[name][drawn["giver"]]
        selected += len(drawn["row"])
        done += int(drawn["seen"][0])
        run.progress(done, len(table))
    return table.replace(columns), selected


def _parts(table: Table, scheme: SwapScheme, least: int) -> Iterator[Columns]:
    """Whole strata, dealt out in order to parts of about equal size; each with the records' strata and rows."""
    keys, parts = table.key(scheme.match), max(least, -(-len(table) // PART))
    if parts == 1:
        yield {"stratum": keys, "row": np.arange(len(table), dtype=np.int64)}
        return
    _, stratum, sizes = ranked(keys)
    of_stratum = (np.cumsum(sizes) - sizes) // -(-len(table) // parts)
    part = of_stratum.astype(np.min_scalar_type(parts))[stratum]
    order = stable_order(part, parts)
    ends = np.cumsum(np.bincount(part, minlength=parts))
    del part, stratum
    for begin, end in zip(ends - np.diff(ends, prepend=0), ends, strict=True):
        rows = order[begin:end]
        if rows.size:
            yield {"stratum": keys[rows], "row": rows}


def swap_kernel(part: Columns, *, rates: Rates, source: PlacedRandomness, derange: bool) -> Columns:
    """Which record gets whose swap values, in a part that holds whole strata.

    Args:
        part: `stratum`, a number for each record's stratum, and `row`, its row in the table.

    Returns:
        `row` and `giver`: the rows of the selected records, and of those whose values they get; `seen`, the records of the part.
    """
    rows, keys = part["row"], part["stratum"]
    if (rows[1:] < rows[:-1]).any():
        order = np.argsort(rows)
        rows, keys = rows[order], keys[order]
    names, stratum, sizes = ranked(keys)
    chosen = np.zeros(len(rows), dtype=np.bool_)
    for rate, having in rates.classes(names):
        strata = having & (sizes > 1) if derange else having
        eligible = slice(None) if strata.all() else np.flatnonzero(strata[stratum])
        chosen[eligible] = source.selected_at(rate, SELECT, rows[eligible], stratum[eligible], single=not derange)
    places = np.flatnonzero(chosen)
    places = places[stable_order(stratum[places], len(names))]
    rows, groups = rows[places], stratum[places]
    givers = source.deranged_at((KEYS, CYCLES), rows, groups, names) if derange else source.permuted_at(KEYS, rows, groups)
    return {"row": rows, "giver": rows[givers], "seen": np.asarray([len(keys)])}


# --- what is published ---------------------------------------------------------------------------


def unordered(table: Table, source: Randomness) -> Table:
    """The records in an order that tells nothing about where they stood: the released object is a multiset (B-S8).

    Single tables are sorted by their categories. Households that hold persons are put in a random order, with their persons.
    """
    names = [a.name for a in table.attributes]
    if table.members is None:
        if table.domain(names) < 1 << 63:
            return _decoded(table, np.sort(table.key(names)))
        order = np.lexsort([table.codes[name] for name in reversed(names)])
        return Table(attributes=table.attributes, codes={name: table.codes[name][order] for name in names})
    order = source.permutation(len(table))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    persons, owner = table.members.table, place[table.members.owner]
    inside = np.lexsort([*(persons.codes[a.name] for a in reversed(persons.attributes)), owner])
    held = Table(attributes=persons.attributes, codes={name: column[inside] for name, column in persons.codes.items()})
    codes = {name: table.codes[name][order] for name in names}
    return Table(attributes=table.attributes, codes=codes, members=Members(table=held, owner=owner[inside]))


def _decoded(table: Table, keys: Indices) -> Table:
    """The inverse of `Table.key` for all columns."""
    codes = {}
    for attribute in reversed(table.attributes):
        keys, code = np.divmod(keys, attribute.size)
        codes[attribute.name] = code.astype(table.codes[attribute.name].dtype)
    return Table(attributes=table.attributes, codes={a.name: codes[a.name] for a in table.attributes})
