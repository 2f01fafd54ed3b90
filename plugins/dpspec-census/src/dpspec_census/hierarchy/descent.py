"""The descent of TopDown: from the largest level to the smallest, every family of a level a task of its own (Bailie, Gong and
Meng 2023).

The work of one parent is written once: measure its children, fit them, round them.
A part holds whole families as rows (family, kind, node, place, value), so that any workers can carry it:

    CHILD    a child of the family                    PARENT   place: cell, value: the parent's fitted count
    TRUE     place: cell, value: the child's count    LOW, HIGH   place: limit, value: its bound for the child
    ANSWER   place: answer, value: the noisy answer; given instead of TRUE when the measuring was done before

and comes back as FITTED rows (place: cell, value: count), ANSWER rows, and NOTE rows about the fit of each family. What
a family draws is a function of the key and of (unit, level, parent), wherever and however often it is done.

No level is held as a whole. Its nodes are cut into parts, in the order of the hierarchy (`parts_of`). A part of a level is fitted
from the parts of the level above that hold its parents, and is kept as one stage of the run. A run that goes on does
the stages that are missing, with equal draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from dpspec.plugin import Attribute, Mask, errors, late_module, laws, randomness, workers
from dpspec_census.hierarchy.family import CellBound, Counts, Family, UnitCells, narrow
from dpspec_census.hierarchy.fit import Fit, least_squares, rounded
from dpspec_census.hierarchy.limits import Limit, contradiction, feasible
from dpspec_census.hierarchy.workload import MeasuredQuery, Tabulation, measured

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = late_module("numpy")

Places: TypeAlias = "npt.NDArray[np.int32]"
"""Nodes, or places of nodes, of which there are at most 2^24."""

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
    return _joined(found)


def rows_of(family: Counts | int, kind: int, node: Counts | int, place: Counts | int, value: Counts) -> workers.Columns:
    """Rows of one kind; numbers are repeated."""
    size = len(value)
    return {
        "family": np.broadcast_to(np.asarray(family, dtype=np.int32), (size,)),
        "kind": np.full(size, kind, dtype=np.int8),
        "node": np.broadcast_to(np.asarray(node, dtype=np.int32), (size,)),
        "place": np.broadcast_to(np.asarray(place, dtype=np.int32), (size,)),
        "value": np.asarray(value, dtype=np.int64),
    }


def _joined(rows: Sequence[workers.Columns]) -> workers.Columns:
    nothing = rows_of(0, CHILD, 0, 0, np.zeros(0, dtype=np.int64))
    return {name: np.concatenate([empty, *(part[name] for part in rows)]) for name, empty in nothing.items()}


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


# --- the parts of a level -------------------------------------------------------------------------


NODES_PER_PART = 256
"""The nodes of a part, where one family has not more: about a second of work, and 12 MB of 2,865 answers each on their way."""


@attrs.frozen(kw_only=True, eq=False, slots=False)
class LevelParts:
    """The nodes of a level in the order of the hierarchy, in which families follow each other as their parents do, in parts.

    Args:
        order: the nodes.
        ends: how many nodes lie in all parts up to each one; families are in one part.
    """

    order: Places
    ends: Counts

    def __len__(self) -> int:
        return len(self.ends)

    @cached_property
    def rank(self) -> Places:
        """The place of each node in the order."""
        found = np.empty_like(self.order)
        found[self.order] = np.arange(len(self.order), dtype=self.order.dtype)
        return found

    def begin(self, part: int) -> int:
        """How many nodes lie in the parts before."""
        return int(self.ends[part - 1]) if part else 0

    def nodes(self, part: int) -> Places:
        """The nodes of a part."""
        return self.order[self.begin(part) : int(self.ends[part])]

    def holding(self, nodes: Counts) -> Counts:
        """The part that holds each node."""
        return np.searchsorted(self.ends, self.rank[nodes], side="right")


def parts_of(parents: Sequence[Counts], most: int = NODES_PER_PART) -> tuple[LevelParts, ...]:
    """The parts of all levels.

    Args:
        parents: for every level the node of the level above in which each node lies; those of the first are not read.
        most: the nodes of a part; more where one family has more.

    >>> [part.ends.tolist() for part in parts_of([np.array([-1]), np.array([0, 0]), np.array([0, 1, 0, 1, 1])], most=2)]
    [[1], [2], [2, 5]]
    >>> parts_of([np.array([-1]), np.array([0, 0]), np.array([0, 1, 0, 1, 1])])[2].order
    array([0, 2, 1, 3, 4], dtype=int32)
    """
    found: list[LevelParts] = []
    for level, above in enumerate(parents):
        key = found[-1].rank[above] if level else np.arange(len(above))
        order = np.argsort(key, kind="stable").astype(np.int32)
        families = np.append(np.flatnonzero(np.diff(key[order])) + 1, len(order))  # the end of each
        ends: list[int] = []
        while not ends or ends[-1] < len(order):
            begin = ends[-1] if ends else 0
            first, fitting = np.searchsorted(families, [begin, begin + most], side="right")
            ends.append(int(families[max(first, fitting - 1)]))
        found.append(LevelParts(order=order, ends=np.array(ends, dtype=np.int64)))
    return tuple(found)


@attrs.frozen(kw_only=True, eq=False)
class FittedPart:
    """What a level has kept of one part.

    Args:
        nodes: the nodes.
        counts: the fitted counts, sparse, of shape (nodes, cells).
        answers: the noisy answers, of shape (nodes, answers).
        notes: rows (rounds, gap in millionths, exact solver) of the families.
    """

    nodes: Places
    counts: Any
    answers: npt.NDArray[Any]
    notes: Counts


@attrs.frozen(kw_only=True, eq=False)
class FittedLevel:
    """A level that was fitted, part by part.

    Args:
        cells: the cells.
        level: which level it is.
        parts: its nodes.
        stages: where its parts are kept.
    """

    cells: UnitCells
    level: int
    parts: LevelParts
    stages: workers.Checkpoints

    def __iter__(self) -> Iterator[FittedPart]:
        return (self.part(part) for part in range(len(self.parts)))

    def load(self, part: int) -> FittedPart | None:
        """A part; None where it is not fitted yet.

        Raises:
            CheckpointError: what was kept is about other nodes.
        """
        kept = self.stages.load(self._stage(part))
        if kept is None:
            return None
        nodes = self.parts.nodes(part)
        if not np.array_equal(kept.get("nodes", nodes[:0]), nodes):
            rule = f"has other nodes in {self._stage(part)} than this hierarchy"
            raise errors.CheckpointError("unfinished run", rule, "delete it and begin anew")
        return FittedPart(
            nodes=nodes,
            counts=_sparse((kept["count"], kept["cell"], kept["begin"]), (len(nodes), self.cells.count)),
            answers=kept["answers"],
            notes=kept["notes"],
        )

    def part(self, part: int) -> FittedPart:
        """A part that was fitted.

        Raises:
            CheckpointError: it is gone.
        """
        found = self.load(part)
        if found is None:
            raise errors.CheckpointError("unfinished run", f"has lost {self._stage(part)}", "delete it and begin anew")
        return found

    def save(self, part: int, result: workers.Columns, answers: int) -> None:
        """Keep what the kernel has returned of a part.

        Args:
            answers: the number of noisy answers of a node.
        """
        nodes, kind = self.parts.nodes(part), result["kind"]
        place = self.parts.rank[result["node"]] - self.parts.begin(part)
        table, noisy = kind == FITTED, kind == ANSWER
        shape = (len(nodes), self.cells.count)
        counts = _sparse((result["value"][table], (place[table], result["place"][table])), shape)
        values = np.zeros((len(nodes), answers), dtype=np.int64)
        values[place[noisy], result["place"][noisy]] = result["value"][noisy]
        kept = {
            "nodes": nodes, "begin": counts.indptr, "cell": counts.indices, "count": narrow(counts.data),
            "answers": narrow(values), "notes": result["value"][kind == NOTE].reshape(-1, 3),
        }  # fmt: skip
        self.stages.save(self._stage(part), kept)

    def answers(self, size: int) -> Iterator[Counts]:
        """The noisy answers of all nodes, in the order of their numbers: arrays of at most so many nodes."""
        for _, found, places in self._in_order(size, lambda part, rows: part.answers[rows].astype(np.int64)):
            yield np.concatenate(found)[places]

    def counts(self, size: int) -> Iterator[tuple[Counts, Any]]:
        """All nodes in the order of their numbers, at most so many at a time, with their fitted counts, sparse."""
        from scipy.sparse import vstack

        for nodes, found, places in self._in_order(size, lambda part, rows: part.counts[rows]):
            yield nodes, vstack(found, format="csr")[places]

    def _in_order(self, size: int, taken: Callable[[FittedPart, Counts], Any]) -> Iterator[tuple[Counts, list[Any], Counts]]:
        """The nodes in the order of their numbers, what is taken from each part, and the place of each node there.

        One part is at hand at a time, since nodes that follow each other may lie in as many parts.

        Args:
            size: how many nodes at most.
            taken: takes rows from a part.
        """
        latest: dict[int, FittedPart] = {}
        for begin in range(0, len(self.parts.order), size):
            nodes = np.arange(begin, min(begin + size, len(self.parts.order)))
            holding, found, places, before = self.parts.holding(nodes), [], np.empty(len(nodes), dtype=np.int64), 0
            for number in np.unique(holding).tolist():
                latest = latest if number in latest else {number: self.part(number)}
                own = np.flatnonzero(holding == number)
                found.append(taken(latest[number], self.parts.rank[nodes[own]].astype(np.int64) - self.parts.begin(number)))
                places[own] = np.arange(before, before + len(own))
                before += len(own)
            yield nodes, found, places

    def whole(self) -> Any:
        """All fitted counts, sparse, of shape (nodes, cells)."""
        ((_, counts),) = self.counts(len(self.parts.order))
        return counts

    def _stage(self, part: int) -> str:
        """Numbers first, so that no two parts have one name, whatever units and levels are called."""
        return f"{self.level + 1}-{part + 1}-{self.cells.unit}-{self.cells.geography.levels[self.level].name}"


def _sparse(entries: Any, shape: tuple[int, int]) -> Any:
    from scipy.sparse import csr_array

    values, *places = entries
    return csr_array((values.astype(np.int64), *places), shape=shape)


# --- level by level -------------------------------------------------------------------------------


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
    most: int = NODES_PER_PART,
) -> tuple[FittedLevel, ...]:
    """Measure and fit all levels.

    Args:
        asked: the queries of every level.
        limits: the constraints.
        draws: the randomness of this run, where counts are measured.
        gap: the certified gap, relative to the loss, at which the fast method may stop.
        true: the confidential counts of the smallest level, shape (nodes, cells), to be measured; or
        given: the noisy answers of every level, shape (nodes, answers).
        most: the nodes of a part.
    """
    stages, found = run.checkpoints.of_one_run(), list[FittedLevel]()
    parents = cells.geography.parents
    every = sum(map(len, parents))
    for level, parts in enumerate(parts_of(parents, most)):
        stated = [there for limit in limits if (there := limit.at(cells, level)) is not None]
        plan = Level(
            unit=cells.unit,
            level=cells.geography.levels[level],
            asked=asked[level],
            limits=tuple(limit.name for limit in stated),
            groups=np.array([limit.cells for limit in stated], dtype=np.bool_).reshape(len(stated), cells.count),
            cells=cells.count,
            root=level == 0,
            source=draws,
            gap=gap,
        )
        own = FittedLevel(cells=cells, level=level, parts=parts, stages=stages)
        source = _PartSource(
            level=own,
            above=found[-1] if found else None,
            true=None if true is None else aggregated(cells, true, level),
            given=None if given is None else given[level],
            limits=tuple(stated),
        )
        _fit(plan, own, source, run, partial(_report, run, sum(map(len, parents[:level])), every))
        found.append(own)
    return tuple(found)


def _report(run: workers.Run, before: int, every: int, nodes: int) -> None:
    run.progress(before + nodes, every)


def _fit(plan: Level, own: FittedLevel, source: _PartSource, run: workers.Run, progress: Callable[[int], None]) -> None:
    """Fit the parts of a level that are not there yet, with the workers of the run."""
    missing = [part for part in range(len(own.parts)) if own.load(part) is None]
    size = sum(query.size for query in plan.asked)
    for part, result in zip(missing, run.workers.map(partial(kernel, plan), map(source.rows, missing)), strict=True):
        own.save(part, result, size)
        progress(int(own.parts.ends[part]))
    progress(len(own.parts.order))


def aggregated(cells: UnitCells, counts: Any, level: int) -> Any:
    """Sparse counts of the smallest nodes added up to a level."""
    from scipy.sparse import csr_array

    last = len(cells.geography.levels) - 1
    if level == last:
        return counts
    nodes = cells.geography.size(last)
    within = (np.ones(nodes, dtype=np.int64), (cells.geography.ancestors(last, level), np.arange(nodes)))
    return csr_array(within, shape=(cells.geography.size(level), nodes)) @ counts


@attrs.define(kw_only=True, eq=False)
class _PartSource:
    """The rows that the kernel reads, part by part.

    Args:
        level: the level.
        above: the level above, where there is one.
        true: the confidential counts of its nodes; or
        given: their noisy answers.
        limits: those that are stated for its nodes.
    """

    level: FittedLevel
    above: FittedLevel | None
    true: Any
    given: Counts | None
    limits: tuple[Limit, ...]
    _latest: dict[int, FittedPart] = attrs.field(factory=dict, init=False)

    def rows(self, part: int) -> workers.Columns:
        """All rows of a part."""
        nodes = self.level.parts.nodes(part).astype(np.int64)
        geography, level = self.level.cells.geography, self.level.level
        family = geography.parents[level][nodes] if level else nodes
        found = [rows_of(family, CHILD, nodes, 0, np.zeros(len(nodes), dtype=np.int64))]
        if self.above is not None:
            found += self._parents(self.above, np.unique(family))
        if self.true is not None:
            part_counts = self.true[nodes].tocoo()
            row, cell = part_counts.coords
            found.append(rows_of(family[row], TRUE, nodes[row], cell, part_counts.data))
        if self.given is not None:
            size = self.given.shape[1]
            places = np.tile(np.arange(size), len(nodes))
            found.append(rows_of(np.repeat(family, size), ANSWER, np.repeat(nodes, size), places, self.given[nodes].ravel()))
        for place, limit in enumerate(self.limits):
            low, high = limit.bounds(nodes)
            found.append(rows_of(family, LOW, nodes, place, low))
            found.append(rows_of(family, HIGH, nodes, place, high))
        return _joined(found)

    def _parents(self, above: FittedLevel, families: Counts) -> Iterator[workers.Columns]:
        """What the parents have, read from the parts that hold them; those of the latest part are at hand."""
        holding = above.parts.holding(families)
        needed = np.unique(holding).tolist()
        self._latest = {part: self._latest[part] if part in self._latest else above.part(part) for part in needed}
        for part, kept in self._latest.items():
            own = families[holding == part]
            counts = kept.counts[above.parts.rank[own] - above.parts.begin(part)].tocoo()
            row, cell = counts.coords
            yield rows_of(own[row], PARENT, own[row], cell, counts.data)
