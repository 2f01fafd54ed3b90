"""From the largest level to the smallest: every family of a level is a task of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import attrs
import numpy as np

from dpspec.engine import Columns
from dpspec.laws.integers import DiscreteGaussian
from dpspec.randomness import PlacedRandomness
from dpspec.run import Run
from dpspec_census.hierarchy.cells import Cells
from dpspec_census.hierarchy.family import Counts
from dpspec_census.hierarchy.kernel import ANSWER, CHILD, FITTED, HIGH, LOW, NOTE, PARENT, TRUE, Level, kernel, rows_of
from dpspec_census.hierarchy.limits import Limit
from dpspec_census.hierarchy.measure import Asked
from dpspec_census.hierarchy.workload import Tabulation

FAMILIES_PER_PART = 64


@attrs.frozen(kw_only=True, eq=False)
class Fitted:
    """What a descent gives for one unit.

    Args:
        counts: for every level the fitted counts, sparse, of shape (nodes, cells).
        answers: for every level the noisy answers, of shape (nodes, answers).
        notes: for every level rows (rounds, gap in millionths, exact solver) of the families.
    """

    counts: tuple[Any, ...]
    answers: tuple[Counts, ...]
    notes: tuple[Counts, ...]


def asked_at(tabulation: Tabulation, cells: Cells, level: int) -> tuple[Asked, ...]:
    """The queries of a level over the cells."""
    found = []
    for query in tabulation.asked(level):
        answer = cells.marginal(query.attributes)
        noise = DiscreteGaussian(0, 1 / tabulation.rho_star(level, query))
        found.append(Asked(name=str(query), answer=answer, size=int(answer.max()) + 1, noise=noise))
    return tuple(found)


def descend(
    cells: Cells,
    asked: Sequence[tuple[Asked, ...]],
    limits: Sequence[Limit],
    run: Run,
    draws: PlacedRandomness | None = None,
    *,
    true: Any = None,
    given: Sequence[Counts] | None = None,
) -> Fitted:
    """Measure and fit all levels.

    Args:
        asked: the queries of every level.
        limits: the constraints.
        draws: the randomness of this run, where counts are measured.
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
            kept = _level(cells, asked[level], limits, run, draws, level, above, measured, known)
            run.checkpoints.save(stage, kept)
        above = _sparse(cells, level, kept)
        counts.append(above)
        answers.append(kept["answers"])
        notes.append(kept["notes"])
        run.progress(sum(cells.geography.size(place) for place in range(level + 1)), sum(map(len, cells.geography.parents)))
    return Fitted(counts=tuple(counts), answers=tuple(answers), notes=tuple(notes))


def aggregated(cells: Cells, counts: Any, level: int) -> Any:
    """Sparse counts of the smallest nodes added up to a level."""
    from scipy.sparse import csr_array

    last = len(cells.geography.levels) - 1
    nodes = cells.geography.size(last)
    within = (np.ones(nodes, dtype=np.int64), (cells.geography.ancestors(last, level), np.arange(nodes)))
    return csr_array(within, shape=(cells.geography.size(level), nodes)) @ counts


def _sparse(cells: Cells, level: int, kept: Mapping[str, Any]) -> Any:
    from scipy.sparse import csr_array

    shape = (cells.geography.size(level), cells.count)
    return csr_array((kept["count"].astype(np.int64), (kept["node"], kept["cell"])), shape=shape)


def _level(  # noqa: PLR0917 - one level with all that it is made of
    cells: Cells,
    asked: tuple[Asked, ...],
    limits: Sequence[Limit],
    run: Run,
    draws: PlacedRandomness | None,
    level: int,
    above: Any,
    true: Any,
    given: Counts | None,
) -> dict[str, Any]:
    """One level: cut into parts, run by the engine, collected."""
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
    )
    nodes, size = cells.geography.size(level), sum(query.size for query in plan.asked)
    answers = np.zeros((nodes, size), dtype=np.int32)
    fitted: list[tuple[Counts, Counts, Counts]] = []
    notes: list[Counts] = []
    parts = _parts(cells, level, above, true, given, [bounds for _, bounds in stated], run.engine.parts)
    for result in run.engine.map(partial(kernel, plan), parts):
        kind = result["kind"]
        table, answer = kind == FITTED, kind == ANSWER
        fitted.append((result["node"][table], result["place"][table], result["value"][table]))
        answers[result["node"][answer], result["place"][answer]] = result["value"][answer]
        notes.append(result["value"][kind == NOTE].reshape(-1, 3))
    node, cell, count = (np.concatenate(columns) for columns in zip(*fitted, strict=True))
    return {"node": node, "cell": cell, "count": count, "answers": answers, "notes": np.concatenate(notes)}


def _parts(  # noqa: PLR0917
    cells: Cells,
    level: int,
    above: Any,
    true: Any,
    given: Counts | None,
    bounds: Sequence[tuple[Counts, Counts]],
    least: int,
) -> Iterator[Columns]:
    """The families of a level, some in each part."""
    parents = cells.geography.parents[level] if level else np.arange(cells.geography.size(0))
    order = np.argsort(parents, kind="stable")
    families, starts = np.unique(parents[order], return_index=True)
    step = max(1, min(FAMILIES_PER_PART, -(-len(families) // max(least, 1))))
    ends = np.append(starts, len(order))
    for begin in range(0, len(families), step):
        rows: list[Columns] = []
        for place in range(begin, min(begin + step, len(families))):
            nodes, family = order[ends[place] : ends[place + 1]], int(families[place])
            rows.extend(_rows(family, nodes, above if level else None, true, given, bounds))
        yield {name: np.concatenate([part[name] for part in rows]) for name in rows[0]}


def _rows(  # noqa: PLR0917
    family: int, nodes: Counts, above: Any, true: Any, given: Counts | None, bounds: Sequence[tuple[Counts, Counts]]
) -> Iterator[Columns]:
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
