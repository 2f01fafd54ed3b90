"""The work of one parent, written once: measure its children, fit them, round them (B-A6).

A part holds whole families as rows (family, kind, node, place, value), so that any engine can carry it:

    CHILD    a child of the family                    PARENT   place: cell, value: the parent's fitted count
    TRUE     place: cell, value: the child's count    LOW, HIGH   place: limit, value: its bound for the child
    ANSWER   place: answer, value: the noisy answer; given instead of TRUE when the measuring was done before

and comes back as FITTED rows (place: cell, value: count), ANSWER rows, and NOTE rows about the fit of each family. What
a family draws is a function of the key and of (unit, level, parent), wherever and however often it is done.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np

from dpspec.blocks.space import Attribute
from dpspec.engine import Columns
from dpspec.randomness import PlacedRandomness
from dpspec_census.hierarchy.conflict import contradiction, feasible
from dpspec_census.hierarchy.conic import conic
from dpspec_census.hierarchy.family import Bound, Counts, Family, Mask
from dpspec_census.hierarchy.measure import Asked, measured
from dpspec_census.hierarchy.rounding import rounded
from dpspec_census.hierarchy.structured import Fit, structured

CHILD, PARENT, TRUE, LOW, HIGH, ANSWER, FITTED, NOTE = range(8)
ROUNDS, GAP, EXACT = range(3)
"""The notes: iterations, the certified gap in millionths of the loss, and whether the interior-point solver was used."""


@attrs.frozen(kw_only=True, eq=False)
class Level:
    """What the kernel knows about one level of one unit.

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
    asked: tuple[Asked, ...]
    limits: tuple[str, ...]
    groups: Mask
    cells: int
    root: bool
    source: PlacedRandomness | None
    gap: float = 1e-2


def kernel(level: Level, part: Columns) -> Columns:
    """Fit every family of a part.

    Raises:
        InfeasibleConstraintsError: the constraints of a family contradict each other.
    """
    order = np.argsort(part["family"], kind="stable")
    cuts = np.flatnonzero(np.diff(part["family"][order])) + 1
    found: list[Columns] = []
    for places in np.split(order, cuts) if len(order) else []:
        rows = {name: column[places] for name, column in part.items()}
        found.extend(_done(level, rows))
    names = ("family", "kind", "node", "place", "value")
    return {name: np.concatenate([rows[name] for rows in found] or [np.zeros(0, dtype=np.int64)]) for name in names}


def rows_of(family: int, kind: int, node: Counts | int, place: Counts | int, value: Counts) -> Columns:
    """Rows of one kind; numbers are repeated."""
    size = len(value)
    return {
        "family": np.full(size, family, dtype=np.int64),
        "kind": np.full(size, kind, dtype=np.int64),
        "node": np.broadcast_to(np.asarray(node, dtype=np.int64), (size,)),
        "place": np.broadcast_to(np.asarray(place, dtype=np.int64), (size,)),
        "value": np.asarray(value, dtype=np.int64),
    }


def _done(level: Level, rows: Columns) -> Iterator[Columns]:
    """The results of one family."""
    number = int(rows["family"][0])
    nodes = np.sort(rows["node"][rows["kind"] == CHILD])
    answers = _answers(level, rows, nodes)
    support, family = _family(level, rows, nodes, answers)
    fit, tables = solved(family, level.gap)
    cell, child = np.nonzero(tables)
    yield rows_of(number, FITTED, nodes[child], support[cell], tables[cell, child])
    count = answers.shape[1]
    yield rows_of(number, ANSWER, np.repeat(nodes, count), np.tile(np.arange(count), len(nodes)), answers.ravel())
    gap = -1 if np.isinf(fit.gap) else round(1e6 * fit.gap / max(fit.loss, 1e-9))
    yield rows_of(number, NOTE, number, np.array([ROUNDS, GAP, EXACT]), np.array([fit.rounds, gap, int(np.isinf(fit.gap))]))


def _answers(level: Level, rows: Columns, nodes: Counts) -> Counts:
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


def _family(level: Level, rows: Columns, nodes: Counts, answers: Counts) -> tuple[Counts, Family]:
    """The cells that are variables, and the problem over them."""
    from scipy.sparse import csr_array, vstack

    above = rows["kind"] == PARENT
    support = np.arange(level.cells) if level.root else np.sort(rows["place"][above])
    parent = None
    if not level.root:
        parent = np.zeros(len(support), dtype=np.int64)
        parent[np.searchsorted(support, rows["place"][above])] = rows["value"][above]
    blocks, weights, targets, begin = [], [], [], 0
    for query in level.asked:
        used, place = np.unique(query.answer[support], return_inverse=True)
        shape = (len(used), len(support))
        blocks.append(csr_array((np.ones(len(support)), (place.ravel(), np.arange(len(support)))), shape=shape))
        weights.append(np.full(len(used), float(1 / query.noise.variance)))
        targets.append(answers[:, begin + used].T.astype(float))
        begin += query.size
    bounds = [_bound(level, rows, nodes, place, support) for place in range(len(level.limits))]
    names = tuple(
        f"{level.level.name} {level.level.categories[node] if level.level.categories else node}" for node in nodes.tolist()
    )
    family = Family(
        incidence=vstack(blocks, format="csr"),
        weights=np.concatenate(weights),
        targets=np.concatenate(targets),
        bounds=tuple(bounds),
        parent=parent,
        names=names,
    )
    return support, family


def _bound(level: Level, rows: Columns, nodes: Counts, limit: int, support: Counts) -> Bound:
    def of(kind: int) -> Counts:
        values = np.zeros(len(nodes), dtype=np.int64)
        chosen = (rows["kind"] == kind) & (rows["place"] == limit)
        values[np.searchsorted(nodes, rows["node"][chosen])] = rows["value"][chosen]
        return values

    return Bound(name=level.limits[limit], cells=level.groups[limit][support], low=of(LOW), high=of(HIGH))


def solved(family: Family, gap: float) -> tuple[Fit, Counts]:
    """The fit of a family and its whole numbers; the interior-point solver takes over where the certificate is too wide."""
    if not feasible(family):
        raise contradiction(family)
    if not family.cells:
        nothing = np.zeros((0, family.children))
        return Fit(tables=nothing, loss=0.0, gap=0.0, excess=0.0, rounds=0), nothing.astype(np.int64)
    if family.parent is None:
        fit = conic(family)
    elif family.children == 1:
        table = family.parent[:, None]
        fit = Fit(tables=table.astype(float), loss=family.loss(table.astype(float)), gap=0.0, excess=0.0, rounds=0)
    else:
        fit = structured(family, gap=gap)
        if fit.gap > gap * fit.loss:
            fit = conic(family, fit.tables)
    return fit, rounded(family, fit.tables)
