"""The descent of TopDown: from the largest level to the smallest, every family of a level a task of its own (Bailie, Gong and
Meng 2023).

The work of one parent is written once: measure its children, fit them, round them.
A part holds whole families as rows (family, kind, node, place, value), so that any workers can carry it:

    CHILD    a child of the family                    PARENT   place: cell, value: the parent's fitted count
    TRUE     place: cell, value: the child's count    LOW, HIGH   place: limit, value: its bound for the child
    ANSWER   place: answer, value: the noisy answer; given instead of TRUE when the measuring was done before

and comes back as FITTED rows (place: cell, value: count), ANSWER rows, and NOTE rows about the fit of each family. What
a family draws is a function of the key and of (unit, level, parent), wherever and however often it is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from dpspec.plugin import Attribute, Mask, late_module, laws, randomness, workers
from dpspec_census.hierarchy.family import CellBound, Counts, Family, UnitCells
from dpspec_census.hierarchy.fit import Fit, least_squares, rounded
from dpspec_census.hierarchy.limits import Limit, contradiction, feasible
from dpspec_census.hierarchy.workload import MeasuredQuery, Tabulation, measured

if TYPE_CHECKING:
    import numpy as np
else:
    np = late_module("numpy")

CHILD, PARENT, TRUE, LOW, HIGH, ANSWER, FITTED, NOTE = range(8)
ROUNDS, GAP, EXACT = range(3)
"""The notes: iterations, the certified gap in millionths of the loss, and whether the interior-point solver was used."""


@attrs.frozen(kw_only=True, eq=False)
class Level:
    """The input of the kernel for one level of one unit.

    Args:
        unit, level: the unit and the attribute of the level.
        asked: the queries.
        limits: the names of the limits and their groups of cells, shape (limits, cells).
        cells: the number of cells.
        root: whether the nodes have no parent.
        source: where noise comes from; None when all answers are given.
        gap: the certified gap, relative to the loss, at which the fast path may stop.
    """

    unit: str
    level: Attribute
    asked: tuple[MeasuredQuery, ...]
    limits: tuple[str, ...]
    groups: Mask
    cells: int
    root: bool
    source: randomness.PlacedRandomness | None
    gap: float


def kernel(level: Level, part: workers.Columns) -> workers.Columns:
    """Fit every family of a part.

    Raises:
        InfeasibleConstraintsError: the constraints of a family contradict each other.
    """
    order = np.argsort(part["family"], kind="stable")
    cuts = np.flatnonzero(np.diff(part["family"][order])) + 1
    found: list[workers.Columns] = []
    for places in np.split(order, cuts) if len(order) else []:
        rows = {name: column[places] for name, column in part.items()}
        found.extend(_done(level, rows))
    names = ("family", "kind", "node", "place", "value")
    return {name: np.concatenate([rows[name] for rows in found] or [np.zeros(0, dtype=np.int64)]) for name in names}


def rows_of(family: int, kind: int, node: Counts | int, place: Counts | int, value: Counts) -> workers.Columns:
    """Rows of one kind; numbers are repeated."""
    size = len(value)
    return {
        "family": np.full(size, family, dtype=np.int64),
        "kind": np.full(size, kind, dtype=np.int64),
        "node": np.broadcast_to(np.asarray(node, dtype=np.int64), (size,)),
        "place": np.broadcast_to(np.asarray(place, dtype=np.int64), (size,)),
        "value": np.asarray(value, dtype=np.int64),
    }


def _done(level: Level, rows: workers.Columns) -> Iterator[workers.Columns]:
    """The results of one family."""
    number = int(rows["family"][0])
    nodes = np.sort(rows["node"][rows["kind"] == CHILD])
    answers = _answers(level, rows, nodes)
    support, family, passes = _family(level, rows, nodes, answers)
    fit, tables = solved(family, level.gap, passes)
    cell, child = np.nonzero(tables)
    yield rows_of(number, FITTED, nodes[child], support[cell], tables[cell, child])
    count = answers.shape[1]
    yield rows_of(number, ANSWER, np.repeat(nodes, count), np.tile(np.arange(count), len(nodes)), answers.ravel())
    gap = -1 if np.isinf(fit.gap) else round(1e6 * fit.gap / max(fit.loss, 1e-9))
    yield rows_of(number, NOTE, number, np.array([ROUNDS, GAP, EXACT]), np.array([fit.rounds, gap, int(np.isinf(fit.gap))]))


def _answers(level: Level, rows: workers.Columns, nodes: Counts) -> Counts:
    """The noisy answers, shape (children, answers): drawn here, or given."""
    if level.source is None:
        given = rows["kind"] == ANSWER
        answers = np.zeros((len(nodes), sum(query.size for query in level.asked)), dtype=np.int64)
        answers[np.searchsorted(nodes, rows["node"][given]), rows["place"][given]] = rows["value"][given]
        return answers
    own = rows["kind"] == TRUE
    child = np.searchsorted(nodes, rows["node"][own])
    true = tuple(query.true(len(nodes), child, rows["place"][own], rows["value"][own]) for query in level.asked)
    return measured(level.asked, true, level.source.spawn(level.unit, level.level.name, int(rows["family"][0])))


def _family(level: Level, rows: workers.Columns, nodes: Counts, answers: Counts) -> tuple[Counts, Family, Counts | None]:
    """The cells that are variables, the problem over them, and the pass of each answer where there are several."""
    from scipy.sparse import csr_array

    above = rows["kind"] == PARENT
    support = np.arange(level.cells) if level.root else np.sort(rows["place"][above])
    parent = None
    if not level.root:
        parent = np.zeros(len(support), dtype=np.int64)
        parent[np.searchsorted(support, rows["place"][above])] = rows["value"][above]
    places, weights, targets, passes, begin, count = [], [], [], [], 0, 0
    for query in level.asked:
        used, place = np.unique(query.answer[support], return_inverse=True)
        places.append(place.ravel() + count)
        count += len(used)
        weights.append(np.full(len(used), float(1 / query.noise.variance)))
        passes.append(np.full(len(used), query.in_pass))
        targets.append(answers[:, begin + used].T.astype(float))
        begin += query.size
    bounds = [_bound(level, rows, nodes, place, support) for place in range(len(level.limits))]
    names = tuple(f"{level.level.name} {level.level.category(node)}" for node in nodes.tolist())
    entries = (np.concatenate(places), np.tile(np.arange(len(support)), len(places)))
    family = Family(
        incidence=csr_array((np.ones(len(entries[0])), entries), shape=(count, len(support))),
        weights=np.concatenate(weights),
        targets=np.concatenate(targets),
        bounds=tuple(bounds),
        parent=parent,
        names=names,
    )
    return support, family, np.concatenate(passes) if len({query.in_pass for query in level.asked}) > 1 else None


def _bound(level: Level, rows: workers.Columns, nodes: Counts, limit: int, support: Counts) -> CellBound:
    def of(kind: int) -> Counts:
        values = np.zeros(len(nodes), dtype=np.int64)
        chosen = (rows["kind"] == kind) & (rows["place"] == limit)
        values[np.searchsorted(nodes, rows["node"][chosen])] = rows["value"][chosen]
        return values

    return CellBound(name=level.limits[limit], cells=level.groups[limit][support], low=of(LOW), high=of(HIGH))


def solved(family: Family, gap: float, passes: Counts | None = None) -> tuple[Fit, Counts]:
    """The fit of a family (`least_squares`) and its whole numbers."""
    if not feasible(family):
        raise contradiction(family)
    if not family.cells:
        nothing = np.zeros((0, family.children))
        return Fit(tables=nothing, loss=0.0, gap=0.0, excess=0.0, rounds=0), nothing.astype(np.int64)
    fit = least_squares(family, gap, passes)
    return fit, rounded(family, fit.tables)


# --- level by level -------------------------------------------------------------------------------


FAMILIES_PER_PART = 64


@attrs.frozen(kw_only=True, eq=False)
class Fitted:
    """The result of a descent for one unit.

    Args:
        counts: for every level the fitted counts, sparse, of shape (nodes, cells).
        answers: for every level the noisy answers, of shape (nodes, answers).
        notes: for every level rows (rounds, gap in millionths, exact solver) of the families.
    """

    counts: tuple[Any, ...]
    answers: tuple[Counts, ...]
    notes: tuple[Counts, ...]


def asked_at(
    tabulation: Tabulation, cells: UnitCells, level: int, passes: Sequence[Sequence[str]] = ()
) -> tuple[MeasuredQuery, ...]:
    """The queries of a level over the cells.

    Args:
        passes: the queries of each pass of the fit, by their words; those that are in none come last.
    """
    number = {name: place for place, names in enumerate(passes) for name in names}
    found = []
    for query in tabulation.asked(level):
        answer = cells.marginal(query.attributes)
        noise = laws.DiscreteGaussianLaw(0, 1 / tabulation.rho_star(level, query))
        own = number.get(str(query), len(passes))
        found.append(MeasuredQuery(name=str(query), answer=answer, size=int(answer.max()) + 1, noise=noise, in_pass=own))
    return tuple(found)


def descend(
    cells: UnitCells,
    asked: Sequence[tuple[MeasuredQuery, ...]],
    limits: Sequence[Limit],
    run: workers.Run,
    draws: randomness.PlacedRandomness | None = None,
    *,
    gap: float,
    true: Any = None,
    given: Sequence[Counts] | None = None,
) -> Fitted:
    """Measure and fit all levels.

    Args:
        asked: the queries of every level.
        limits: the constraints.
        draws: the randomness of this run, where counts are measured.
        gap: the certified gap, relative to the loss, at which the fast method may stop.
        true: the confidential counts of the smallest level, shape (nodes, cells), to be measured; or
        given: the noisy answers of every level, shape (nodes, answers).
    """
    last = len(cells.geography.levels) - 1
    counts, answers, notes = [], [], []
    above: Any = None
    for level in range(last + 1):
        stage = f"{cells.unit}-{level + 1}-{cells.geography.levels[level].name}"
        kept = run.checkpoints.load(stage)
        if kept is None:
            measured = None if true is None else aggregated(cells, true, level)
            known = None if given is None else given[level]
            kept = _level(cells, asked[level], limits, run, draws, level, above, measured, known, gap)
            run.checkpoints.save(stage, kept)
        above = _sparse(cells, level, kept)
        counts.append(above)
        answers.append(kept["answers"])
        notes.append(kept["notes"])
        run.progress(sum(cells.geography.size(place) for place in range(level + 1)), sum(map(len, cells.geography.parents)))
    return Fitted(counts=tuple(counts), answers=tuple(answers), notes=tuple(notes))


def aggregated(cells: UnitCells, counts: Any, level: int) -> Any:
    """Sparse counts of the smallest nodes added up to a level."""
    from scipy.sparse import csr_array

    last = len(cells.geography.levels) - 1
    nodes = cells.geography.size(last)
    within = (np.ones(nodes, dtype=np.int64), (cells.geography.ancestors(last, level), np.arange(nodes)))
    return csr_array(within, shape=(cells.geography.size(level), nodes)) @ counts


def _sparse(cells: UnitCells, level: int, kept: Mapping[str, Any]) -> Any:
    from scipy.sparse import csr_array

    shape = (cells.geography.size(level), cells.count)
    return csr_array((kept["count"].astype(np.int64), (kept["node"], kept["cell"])), shape=shape)


def _level(  # noqa: PLR0917 - one level with all that it is made of
    cells: UnitCells,
    asked: tuple[MeasuredQuery, ...],
    limits: Sequence[Limit],
    run: workers.Run,
    draws: randomness.PlacedRandomness | None,
    level: int,
    above: Any,
    true: Any,
    given: Counts | None,
    gap: float,
) -> dict[str, Any]:
    """One level: cut into parts, run by the workers, collected."""
    stated = [(limit, bounds) for limit in limits if (bounds := limit.at(cells, level)) is not None]
    plan = Level(
        unit=cells.unit,
        level=cells.geography.levels[level],
        asked=asked,
        limits=tuple(limit.name for limit, _ in stated),
        groups=np.array([limit.cells for limit, _ in stated], dtype=np.bool_).reshape(len(stated), cells.count),
        cells=cells.count,
        root=level == 0,
        source=draws,
        gap=gap,
    )
    nodes, size = cells.geography.size(level), sum(query.size for query in plan.asked)
    answers = np.zeros((nodes, size), dtype=np.int32)
    fitted: list[tuple[Counts, Counts, Counts]] = []
    notes: list[Counts] = []
    parts = _parts(cells, level, above, true, given, [bounds for _, bounds in stated], run.workers.parts)
    for result in run.workers.map(partial(kernel, plan), parts):
        kind = result["kind"]
        table, answer = kind == FITTED, kind == ANSWER
        fitted.append((result["node"][table], result["place"][table], result["value"][table]))
        answers[result["node"][answer], result["place"][answer]] = result["value"][answer]
        notes.append(result["value"][kind == NOTE].reshape(-1, 3))
    node, cell, count = (np.concatenate(columns) for columns in zip(*fitted, strict=True))
    return {"node": node, "cell": cell, "count": count, "answers": answers, "notes": np.concatenate(notes)}


def _parts(  # noqa: PLR0917
    cells: UnitCells,
    level: int,
    above: Any,
    true: Any,
    given: Counts | None,
    bounds: Sequence[tuple[Counts, Counts]],
    least: int,
) -> Iterator[workers.Columns]:
    """The families of a level, some in each part."""
    parents = cells.geography.parents[level] if level else np.arange(cells.geography.size(0))
    order = np.argsort(parents, kind="stable")
    families, starts = np.unique(parents[order], return_index=True)
    step = max(1, min(FAMILIES_PER_PART, -(-len(families) // max(least, 1))))
    ends = np.append(starts, len(order))
    for begin in range(0, len(families), step):
        rows: list[workers.Columns] = []
        for place in range(begin, min(begin + step, len(families))):
            nodes, family = order[ends[place] : ends[place + 1]], int(families[place])
            rows.extend(_rows(family, nodes, above if level else None, true, given, bounds))
        yield {name: np.concatenate([part[name] for part in rows]) for name in rows[0]}


def _rows(  # noqa: PLR0917
    family: int, nodes: Counts, above: Any, true: Any, given: Counts | None, bounds: Sequence[tuple[Counts, Counts]]
) -> Iterator[workers.Columns]:
    """The rows of one family."""
    yield rows_of(family, CHILD, nodes, 0, np.zeros(len(nodes), dtype=np.int64))
    if above is not None:
        own = slice(above.indptr[family], above.indptr[family + 1])
        yield rows_of(family, PARENT, family, above.indices[own], above.data[own])
    if true is not None:
        part = true[nodes].tocoo()
        yield rows_of(family, TRUE, nodes[part.coords[0]], part.coords[1], part.data)
    if given is not None:
        size = given.shape[1]
        yield rows_of(family, ANSWER, np.repeat(nodes, size), np.tile(np.arange(size), len(nodes)), given[nodes].ravel())
    for limit, (low, high) in enumerate(bounds):
        yield rows_of(family, LOW, nodes, limit, low[nodes])
        yield rows_of(family, HIGH, nodes, limit, high[nodes])
