"""One release of TopDown by levels: microdata of every unit, the noisy measurements, and the report (B-A6)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpspec.blocks.space import Attribute, DatasetSpace
from dpspec.errors import PluginContractError
from dpspec.run import Output, Run
from dpspec.table import Table, compact
from dpspec_census.hierarchy.cells import Cells
from dpspec_census.hierarchy.descent import Fitted, aggregated
from dpspec_census.hierarchy.edits import EditConstraint
from dpspec_census.hierarchy.plan import Plan, TablePlan

if TYPE_CHECKING:
    from dpspec_census.hierarchy.mechanism import TopdownByLevels


def released(mechanism: TopdownByLevels, tables: Mapping[str, Table], space: DatasetSpace, run: Run) -> Output:
    """Measure, fit and round all levels of all tables.

    Raises:
        TableError: the table's geography is not nested.
        InfeasibleConstraintsError: the constraints contradict each other.
        PluginContractError: a released table does not keep a constraint; nothing is released.
    """
    plan = mechanism.plan(space)
    true = plan.true(tables)
    done = plan.descended(plan.invariants(true), run, true=true, given=None)
    microdata = {unit: cells.microdata(fitted.counts[-1]) for unit, (cells, fitted) in done.items()}
    checks = [_invariant_held(i, tables, microdata) for i in mechanism.invariants]
    checks += [_edit_held(edit, mechanism.levels[-1], microdata) for edit in mechanism.edits]
    ordered = {"released": microdata.pop(mechanism.unit), **{f"released-{unit}": table for unit, table in microdata.items()}}
    return Output(
        tables={**ordered, "measurements": measurements(plan, done)},
        report={
            "budget": _budget(mechanism, plan, space),
            "constraints": checks,
            "levels": [_level(p, done[p.cells.unit][1], level) for p in plan.tables for level in range(len(p.asked))],
        },
        confidential={
            "errors": [_error(p, done[p.cells.unit][1], true[p.cells.unit], k) for p in plan.tables for k in range(len(p.asked))]
        },
    )


# --- the noisy measurements ----------------------------------------------------------------------


def measurements(plan: Plan, done: Mapping[str, tuple[Cells, Fitted]]) -> Table:
    """All noisy answers: one row for each unit, level, node, query and cell."""
    words: dict[str, dict[str, int]] = {name: {} for name in ("unit", "level", "node", "query", "cell")}
    columns: dict[str, list[Any]] = {name: [] for name in (*words, "answer")}
    for table in plan.tables:
        cells, fitted = done[table.cells.unit]
        for level in range(len(table.asked)):
            nodes = cells.geography.size(level)
            labels = [(query.name, label) for query, spec in _named(table, level) for label in cells.labels(spec)]
            names = [name.partition(" ")[2] for name in cells.geography.names(level, np.arange(nodes))]
            coded = {
                "unit": np.full(nodes * len(labels), _code(words["unit"], cells.unit)),
                "level": np.full(nodes * len(labels), _code(words["level"], cells.geography.levels[level].name)),
                "node": np.repeat([_code(words["node"], name) for name in names], len(labels)),
                "query": np.tile([_code(words["query"], query) for query, _ in labels], nodes),
                "cell": np.tile([_code(words["cell"], label) for _, label in labels], nodes),
                "answer": fitted.answers[level].ravel(),
            }
            for name, column in coded.items():
                columns[name].append(column)
    joined = {name: np.concatenate(parts) for name, parts in columns.items()}
    values, joined["answer"] = np.unique(joined["answer"], return_inverse=True)
    categories = {name: tuple(known) for name, known in words.items()} | {"answer": tuple(map(str, values.tolist()))}
    attributes = tuple(Attribute(name=name, categories=known) for name, known in categories.items())
    return Table(attributes=attributes, codes={a.name: compact(joined[a.name].ravel(), a.size) for a in attributes})


def _code(known: dict[str, int], word: str) -> int:
    return known.setdefault(word, len(known))


def _named(table: TablePlan, level: int) -> list[tuple[Any, tuple[str, ...]]]:
    """The queries of a level with their attributes."""
    specs = [query.attributes for query in table.tabulation.asked(level)]
    return list(zip(table.asked[level], specs, strict=True))


# --- the report ----------------------------------------------------------------------------------


def _budget(mechanism: TopdownByLevels, plan: Plan, space: DatasetSpace) -> dict[str, Any]:
    """What is spent, with its derivation: every level and query with rho* and sigma^2, and their sums."""
    parts = [
        {
            "unit": table.cells.unit,
            "level": table.cells.geography.levels[level].name,
            "query": query.name,
            "rho": str(1 / query.noise.variance),
            "variance": str(query.noise.variance),
            "answers": query.size,
            "nodes": table.cells.geography.size(level),
        }
        for table in plan.tables
        for level, queries in enumerate(table.asked)
        for query in queries
    ]
    total = {
        table.cells.unit: str(sum((1 / query.noise.variance for queries in table.asked for query in queries), Fraction(0)))
        for table in plan.tables
    }
    return {"allocated": total, "unit": mechanism.unit, "rho": str(mechanism.rho(space)), "parts": parts}


def _level(table: TablePlan, fitted: Fitted, level: int) -> dict[str, Any]:
    """The residuals of a level: noisy answers against the fitted table, both released, in units of sigma."""
    counts = fitted.counts[level].tocoo()
    nodes, begin, queries = table.cells.geography.size(level), 0, []
    for query in table.asked[level]:
        answers = query.true(nodes, counts.coords[0], counts.coords[1], counts.data)
        residual = fitted.answers[level][:, begin : begin + query.size] - answers
        begin += query.size
        sigma = float(query.noise.variance) ** 0.5
        queries.append(
            {
                "query": query.name,
                "mean_absolute_residual": round(float(abs(residual).mean()), 4),
                "root_mean_square_in_sigma": round(float(np.sqrt((residual.astype(float) ** 2).mean())) / sigma, 4),
            }
        )
    notes = fitted.notes[level]
    return {
        "unit": table.cells.unit,
        "level": table.cells.geography.levels[level].name,
        "nodes": nodes,
        "families": len(notes),
        "records": int(counts.data.sum()),
        "largest_certified_gap": round(int(notes[:, 1].max(initial=0)) / 1e6, 6),
        "families_by_interior_point": int(notes[:, 2].sum()),
        "residuals": queries,
    }


def _error(table: TablePlan, fitted: Fitted, true: Any, level: int) -> dict[str, Any]:
    """How far the fitted counts of a level are from the confidential ones."""
    error = fitted.counts[level] - aggregated(table.cells, true, level)
    totals = np.abs(np.asarray(error.sum(axis=1)))
    nodes, cells = error.shape
    return {
        "unit": table.cells.unit,
        "level": table.cells.geography.levels[level].name,
        "mean_absolute_error_of_a_total": round(float(totals.mean()), 4),
        "mean_absolute_error_of_a_cell": round(float(np.abs(error.data).sum()) / (nodes * cells), 4),
    }


# --- constraints, counted again on the records -----------------------------------------------------


def _invariant_held(invariant: Any, before: Mapping[str, Table], after: Mapping[str, Table]) -> dict[str, Any]:
    """An invariant asked of the records before and after, by code that knows no matrix."""
    counted = invariant.as_marginal()
    first, second = (_counted(tables[counted.unit], counted.attributes, counted.where) for tables in (before, after))
    if first != second:
        raise PluginContractError("topdown-by-levels", f"does not hold {invariant}", "nothing is released; report it")
    return {"constraint": str(invariant), "counts": len(first), "held": True}


def _edit_held(edit: EditConstraint, level: str, tables: Mapping[str, Table]) -> dict[str, Any]:
    """An edit constraint asked of the released records."""
    records, units = (_counted(tables[u], (level,), w) for u, w in ((edit.unit, edit.where), (edit.of_unit, edit.of_where)))
    for node in {*records, *units}:
        held, allowed = records.get(node, 0), units.get(node, 0)
        above = edit.most * allowed if edit.most is not None else (held if allowed else 0)
        if not edit.least * allowed <= held <= above:
            raise PluginContractError("topdown-by-levels", f"does not hold {edit}", "nothing is released; report it")
    return {"constraint": str(edit), "counts": len({*records, *units}), "held": True}


def _counted(table: Table, names: tuple[str, ...], where: tuple[tuple[str, tuple[str, ...]], ...]) -> dict[tuple[str, ...], int]:
    """The records by some attributes, among those that meet the conditions; nodes without any are left out."""
    columns = list(dict.fromkeys((*names, *(name for name, _ in where))))
    allowed = {columns.index(name): frozenset(categories) for name, categories in where}
    found: dict[tuple[str, ...], int] = {}
    for cell, count in table.counts(columns).items():
        if all(cell[place] in categories for place, categories in allowed.items()):
            found[cell[: len(names)]] = found.get(cell[: len(names)], 0) + count
    return found
