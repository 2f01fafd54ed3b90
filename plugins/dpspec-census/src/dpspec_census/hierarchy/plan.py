"""What a mechanism does on a space: cells, queries and invariants, and the one path from (c(x), t) to the fitted tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import IncompatibleBlocksError
from dpspec.randomness import SeededRandomness
from dpspec.run import Run
from dpspec.table import Table
from dpspec_census.hierarchy.cells import Cells, cells_of
from dpspec_census.hierarchy.descent import Fitted, aggregated, asked_at, descend
from dpspec_census.hierarchy.edits import EditConstraint
from dpspec_census.hierarchy.family import Counts
from dpspec_census.hierarchy.geography import check_nested
from dpspec_census.hierarchy.limits import Fixed, Limit, all_fixed
from dpspec_census.hierarchy.measure import Asked
from dpspec_census.hierarchy.workload import Tabulation

if TYPE_CHECKING:
    from dpspec_census.hierarchy.mechanism import TopdownByLevels


@attrs.frozen(kw_only=True, eq=False)
class TablePlan:
    """One table.

    Args:
        tabulation: its queries.
        cells: its cells.
        invariants: those about its unit.
        edits: what other tables demand of it.
        asked: for every level the queries over the cells.
    """

    tabulation: Tabulation
    cells: Cells
    invariants: tuple[Fixed, ...]
    edits: tuple[EditConstraint, ...]
    asked: tuple[tuple[Asked, ...], ...]

    def spent(self) -> tuple[Fraction, Fraction]:
        """rho of the (level, query) with several answers, which a replaced record moves, and of those with one."""
        moved = still = Fraction(0)
        for level, queries in enumerate(self.asked):
            for query in queries:
                rho = 1 / query.noise.variance
                if query.size * self.cells.geography.size(level) > 1:
                    moved += rho
                else:
                    still += rho
        return moved, still

    def sizes(self) -> list[tuple[int, int]]:
        """The shape (nodes, answers) of every level's answers."""
        return [(self.cells.geography.size(level), sum(q.size for q in queries)) for level, queries in enumerate(self.asked)]

    def shapes(self) -> list[tuple[int, int]]:
        """The shape (nodes, groups) of every invariant's value."""
        return [(self.cells.geography.size(f.level) if f.level >= 0 else 1, len(f.groups)) for f in self.invariants]

    def limits(self, fixed: Sequence[Counts], done: Mapping[str, tuple[Cells, Fitted]]) -> tuple[Limit, ...]:
        """The constraints, from the invariants' values and the tables that are fitted already."""
        found = [limit for f, value in zip(self.invariants, fixed, strict=True) for limit in f.limits(self.cells, value)]
        last = len(self.cells.geography.levels) - 1
        for edit in self.edits:
            cells, fitted = done[edit.of_unit]
            low, high = edit.limits(cells, fitted.counts[-1])
            found.append(Limit(name=str(edit), cells=self.cells.where(edit.where), level=last, low=low, high=high))
        return tuple(found)


@attrs.frozen(kw_only=True, eq=False)
class Plan:
    """All tables, in the order in which they are fitted."""

    tables: tuple[TablePlan, ...]

    def true(self, tables: Mapping[str, Table]) -> dict[str, Any]:
        """The confidential counts by unit, sparse, of shape (smallest nodes, cells)."""
        for table in tables.values():
            check_nested(table)
        return {plan.cells.unit: plan.cells.counted(tables[plan.cells.unit]) for plan in self.tables}

    def invariants(self, true: Mapping[str, Any]) -> dict[str, list[Counts]]:
        """c(x): all that the fit may read of the confidential counts."""
        return {p.cells.unit: [f.value(p.cells, true[p.cells.unit]) for f in p.invariants] for p in self.tables}

    def fixed(self, true: Mapping[str, Any]) -> tuple[int, ...]:
        """The same as one row of integers."""
        return tuple(int(v) for values in self.invariants(true).values() for value in values for v in value.ravel())

    def answers(self, true: Mapping[str, Any]) -> tuple[int, ...]:
        """q(x): all answers of all tables, level by level, node by node."""
        return tuple(itertools.chain.from_iterable(_answers(plan, true[plan.cells.unit]) for plan in self.tables))

    def variances(self) -> tuple[Fraction, ...]:
        """The variance of the noise on every answer."""
        return tuple(
            query.noise.variance
            for plan in self.tables
            for level, queries in enumerate(plan.asked)
            for _ in range(plan.cells.geography.size(level))
            for query in queries
            for _ in range(query.size)
        )

    def descended(
        self, fixed: Mapping[str, Sequence[Counts]], run: Run, *, true: Mapping[str, Any] | None, given: Mapping[str, Any] | None
    ) -> dict[str, tuple[Cells, Fitted]]:
        """Fit all tables, from confidential counts that are measured on the way or from given answers."""
        done: dict[str, tuple[Cells, Fitted]] = {}
        draws = None if true is None else run.source.placed()
        for plan in self.tables:
            unit = plan.cells.unit
            known = {"true": None if true is None else true[unit], "given": None if given is None else given[unit]}
            done[unit] = plan.cells, descend(plan.cells, plan.asked, plan.limits(fixed[unit], done), run, draws, **known)
        return done

    def fitted(self, fixed: tuple[int, ...], measured: tuple[int, ...]) -> Dataset:
        """The fitted counts of a pair (c(x), t)."""
        values, answers = iter(fixed), iter(measured)
        given = {p.cells.unit: [_taken(answers, shape) for shape in p.sizes()] for p in self.tables}
        kept = {p.cells.unit: [_taken(values, shape) for shape in p.shapes()] for p in self.tables}
        nothing_drawn = Run(source=SeededRandomness(0))
        done = self.descended(kept, nothing_drawn, true=None, given=given)
        return tuple((unit, tuple(fitted.counts[-1].toarray().ravel().tolist())) for unit, (_, fitted) in done.items())


def plan_of(mechanism: TopdownByLevels, space: DatasetSpace) -> Plan:
    """The plan of a mechanism on a space.

    Raises:
        IncompatibleBlocksError: levels, queries, invariants or edit constraints that the space does not have.
    """
    units = {tabulation.unit for tabulation in mechanism.tabulations()}
    for invariant in mechanism.invariants:
        counted = invariant.as_marginal()
        if counted is not None and counted.unit not in units:
            raise IncompatibleBlocksError(
                f"invariant {invariant}", "is about a unit that is not measured, so no table keeps it", "add a table of that unit"
            )
    tables = []
    for tabulation in mechanism.tabulations():
        cells = cells_of(space, tabulation.unit, mechanism.levels)
        asked = tuple(asked_at(tabulation, cells, level) for level in range(len(mechanism.levels)))
        if not all(asked):
            raise IncompatibleBlocksError(f"table {tabulation.unit}", "asks nothing at one of the levels", "leave the level out")
        edits = tuple(edit for edit in mechanism.edits if edit.unit == tabulation.unit)
        invariants = all_fixed(mechanism.invariants, cells)
        tables.append(TablePlan(tabulation=tabulation, cells=cells, invariants=invariants, edits=edits, asked=asked))
    return Plan(tables=tuple(tables))


def _answers(plan: TablePlan, true: Any) -> Iterator[int]:
    for level, queries in enumerate(plan.asked):
        counts = aggregated(plan.cells, true, level).tocoo()
        nodes = plan.cells.geography.size(level)
        blocks = [query.true(nodes, counts.coords[0], counts.coords[1], counts.data) for query in queries]
        yield from (int(answer) for answer in np.concatenate(blocks, axis=1).ravel())


def _taken(values: Iterator[int], shape: tuple[int, int]) -> Counts:
    taken = list(itertools.islice(values, shape[0] * shape[1]))
    return np.array(taken, dtype=np.int64).reshape(shape)
