"""TopDown by levels: the mechanism, what it does on a space, and one release of it (Bailie, Gong and Meng 2023).

The mechanism says what it measures, what it holds fixed, its law in miniature and its claim. On a space it has cells, queries
and invariants, and one path from (c(x), t) to the fitted tables. A release is microdata of every unit, the noisy measurements,
and the report.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import attrs

from dpspec.plugin import (
    Attribute,
    Claim,
    Dataset,
    DatasetSpace,
    IncompatibleBlocksError,
    Invariant,
    Items,
    Law,
    LevelSets,
    Mechanism,
    Nested,
    Number,
    ParameterError,
    PrivacySpec,
    Rational,
    Registered,
    Table,
    Text,
    answers,
    blocks,
    define,
    errors,
    exact,
    grammar,
    late_module,
    laws,
    number,
    params,
    randomness,
    tables,
    workers,
)
from dpspec_census.hierarchy.descent import NODES_PER_PART, FittedLevel, aggregated, asked_at, descend
from dpspec_census.hierarchy.family import Counts, Records, UnitCells, cells_of, check_nested, narrow
from dpspec_census.hierarchy.limits import EditConstraint, Fixed, Limit, all_fixed
from dpspec_census.hierarchy.workload import PRESETS, MeasuredQuery, Tabulation, preset
from dpspec_census.topdown import FittedLaw

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from dpspec.plugin import Mask, Randomness
    from dpspec.plugin.releases import Countable
else:
    np = late_module("numpy")


_PER_BOUND = 10
"""Bytes for each constraint and smallest node: its value, and that in the type in which it bounds."""
_PER_NODE = 16
"""Bytes: the parent of each node, and two places of it in the order of the hierarchy."""


@define
class TopdownByLevels(Mechanism):
    """TopDown over a geographic hierarchy (Bailie, Gong and Meng 2023): noisy marginals of every node, then a fit from the
    largest level down.

    An outcome is (z, t): for every table the fitted counts of the smallest nodes, and all noisy answers.

    Args:
        levels: the attributes of geography, from large to small, each within the one before.
        allocation: allocations of 2020 by name; and
        tables: others, at most one for each unit.
        invariants: c, marginals that are read from the confidential data and kept exactly.
        edits: what one fitted table demands of another.
        unit: the unit that the claim protects, whose microdata are the main output.
        passes: the queries of each pass of the fit, by their words, such as "total" and "age x sex". A pass fits its own queries,
            and keeps what those before it fitted to within whole numbers. Queries that are in none come last; without any, all
            queries are fitted at once.
        gap: how far the loss of a fit may be from the optimum, relative to the optimum, where the fast method fits it.

    >>> from dpspec.plugin import UnorderedRecords
    >>> block = {"name": "block", "count": 2, "within": "state"}
    >>> space = UnorderedRecords(attributes=[{"name": "state", "count": 1}, block, {"name": "adult", "count": 2}])
    >>> total, by_age = {"shares": ["1/2", "1/2"]}, {"attributes": ["adult"], "shares": ["1/2", "1/2"]}
    >>> persons = {"rho": "2", "level_shares": ["1/4", "3/4"], "queries": [total, by_age]}
    >>> mechanism = TopdownByLevels(levels=["state", "block"], tables=[persons])
    >>> str(mechanism.rho(space))  # the total of the only state does not move: 1/4 less than was allocated
    '7/4'
    """

    name: ClassVar[str] = "topdown-by-levels"
    resumable: ClassVar[bool] = True

    levels: Annotated[tuple[str, ...], Items(Text(), least=1)]
    allocation: Annotated[tuple[str, ...], Items(Text(PRESETS))] = ()
    tables: Annotated[tuple[Tabulation, ...], Items(Nested(Tabulation))] = ()
    invariants: Annotated[tuple[Invariant, ...], Items(Registered("invariants"))] = ()
    edits: Annotated[tuple[EditConstraint, ...], Items(Nested(EditConstraint))] = ()
    unit: Annotated[str, Text()] = "person"
    passes: Annotated[tuple[tuple[str, ...], ...], Items(Items(Text(), least=1))] = ()
    gap: Annotated[Fraction, Rational(0, 1, open_low=True)] = Fraction(1, 1000)

    def __attrs_post_init__(self) -> None:
        units = [table.unit for table in self.tabulations()]
        if len(set(units)) < len(units) or not units:
            raise ParameterError("tables", "need one table for each measured unit", value=units)
        if self.unit not in units:
            raise ParameterError("unit", "must be one that is measured", value=self.unit)
        for table in self.tables:
            if len(table.level_shares) != len(self.levels):
                raise ParameterError(f"table {table.unit}", "needs one share for each level", value=len(table.level_shares))
        known = {str(query) for table in self.tabulations() for query in table.queries}
        named = [name for names in self.passes for name in names]
        for place, name in enumerate(named):
            if name not in known:
                raise ParameterError("passes", "name no query", params.did_you_mean(name, sorted(known)), value=name)
            if name in named[:place]:
                raise ParameterError("passes", "name a query twice", "leave it in one of them", value=name)
        for edit in self.edits:
            if edit.unit not in units or edit.of_unit not in units or edit.unit == edit.of_unit:
                raise ParameterError(f"edit {edit}", "must bound one measured unit by another one")
            if any(other.unit == edit.of_unit for other in self.edits):
                raise ParameterError(f"edit {edit}", "bounds by a unit that is bounded itself", value=edit.of_unit)

    @classmethod
    def examples(cls) -> tuple[TopdownByLevels, ...]:
        """Small workloads whose shares go with their levels."""
        persons: Any = {"rho": "2", "level_shares": ["1/4", "3/4"], "queries": [{"shares": ["1", "1"]}]}
        units: Any = {**persons, "unit": "household", "rho": "1/2"}
        return (
            cls(levels=("state", "block"), tables=(persons,)),
            cls(levels=("state", "block"), tables=(persons, units)),
            cls(levels=("state", "block"), tables=(persons,), passes=(("total",),)),
        )

    def tabulations(self) -> tuple[Tabulation, ...]:
        """The tables, those that bound others first."""
        tables = (*(preset(name, self.levels) for name in self.allocation), *self.tables)
        bounded = {edit.unit for edit in self.edits}
        return tuple(sorted(tables, key=lambda table: table.unit in bounded))

    def check(self, space: DatasetSpace) -> None:
        space.check_unit(self.unit)
        self.plan(space)

    def plan(self, space: DatasetSpace) -> Plan:
        """Everything that follows from the mechanism and the space."""

        return plan_of(self, space)

    # --- what it spends --------------------------------------------------------------------------

    def rho(self, space: DatasetSpace) -> Number:
        """The largest sum over (level, query) of |dq|^2 / (2 sigma^2) when one unit is replaced, exactly (Kifer et al. 2022).

        A marginal of one answer, such as the total of the only state, does not move, and its share is not lost. A replaced
        household with at most m persons moves the answers about persons by m; persons do not determine their households.
        """
        moved, still = {}, {}
        for plan in self.plan(space).tables:
            moved[plan.cells.unit], still[plan.cells.unit] = plan.spent()
        others = [unit for unit in moved if unit != self.unit]
        most = {unit: blocks.nesting_of(space).most_within(unit, self.unit) for unit in others}
        if any(count is None for count in most.values()):
            return exact.INFINITY
        squares = {unit: Fraction(count) ** 2 for unit, count in most.items() if count is not None} | {self.unit: Fraction(1)}
        exchanged = sum((squares[unit] * rho for unit, rho in moved.items()), Fraction(0))
        emptied = moved[self.unit] + sum((squares[unit] * (moved[unit] + still[unit]) / 2 for unit in others), Fraction(0))
        return number(max(exchanged, emptied))

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """Inside the universes of its invariants, the budget of its noise; none where no budget is finite."""
        from dpspec_divergences import DNor, Hamming

        from dpspec.plugin import UniformBudget

        if self.rho(space) == exact.INFINITY:
            return ()
        spec = PrivacySpec(
            space=space,
            multiverse=LevelSets(invariants=self.invariants),
            input_divergence=Hamming(unit=self.unit),
            output_divergence=DNor(),
            budget=UniformBudget(parameter="rho", value=self.rho(space)),
        )
        return (
            Claim(
                label="TopDown by levels within its invariants",
                source="Bailie, Gong and Meng 2023, theorem on TopDown",
                spec=spec,
            ),
        )

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        """Noise on the table of every (level, query), and a fit that reads c(x)."""
        views = [
            grammar.NoisyCount(
                blocks.Marginal(attributes=(name, *query.attributes), unit=table.unit),
                partial(laws.DiscreteGaussianLaw, variance=1 / table.rho_star(level, query)),
            )
            for table in self.tabulations()
            for level, name in enumerate(self.levels)
            for query in table.asked(level)
        ]
        return grammar.Structure(views=tuple(views), reads=self.invariants)

    def kept_invariants(self, space: DatasetSpace) -> tuple[Invariant, ...]:
        """c, of the microdata of every unit."""
        return self.invariants

    # --- in miniature ----------------------------------------------------------------------------

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:

        plan = self.plan(space)
        true = plan.true(self._tables(space.dataset(dataset), space))
        pairs = zip(plan.answers(true), plan.variances(), strict=True)
        noise = laws.Product(tuple(laws.DiscreteGaussianLaw(answer, variance) for answer, variance in pairs))
        return FittedLaw(fixed=plan.fixed(true), noise=noise, mechanism=self, space=space)

    def _tables(self, dataset: Dataset, space: DatasetSpace) -> dict[str, Records]:
        """The dataset as one table of records for each measured unit."""
        from dpspec.plugin import Table

        found: dict[str, Records] = {}
        for table in self.tabulations():
            attributes = tuple(a for a in space.attributes_of(table.unit) if a.name != blocks.MEMBERS)
            records = [record[: len(attributes)] for record in space.records(dataset, table.unit)]
            found[table.unit] = Table.from_records(records, attributes).batches
        return found

    def variances(self, space: DatasetSpace) -> tuple[Fraction, ...]:
        """The variance of the noise on every answer."""
        return self.plan(space).variances()

    def fit(self, fixed: tuple[int, ...], measured: tuple[int, ...], space: DatasetSpace) -> Dataset:
        """Step 2, a function of c(x) and t alone: for every table its unit and the counts of the smallest nodes, row by row."""
        return self.plan(space).fitted(fixed, measured)

    # --- on tables -------------------------------------------------------------------------------

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """The microdata of the unit."""

        return self.run(table, space, workers.Run(source=source)).main

    def run(self, table: Table, space: DatasetSpace, run: workers.Run) -> workers.Output:
        """Microdata of every unit, the noisy measurements, and a report."""

        self.check(space)
        return released(self, self._given(table), space, run)

    def memory_of_run(self, records: int, space: DatasetSpace) -> int:
        """The bytes of the bounds and the names of all nodes."""
        found = 0
        for table in self.plan(space).tables:
            nodes = [table.cells.geography.size(level) for level in range(len(self.levels))]
            limits = len(table.edits) + sum(len(fixed.groups) for fixed in table.invariants)
            found += nodes[-1] * limits * _PER_BOUND + sum(nodes) * _PER_NODE
        return found

    def check_table(self, table: Countable, space: DatasetSpace) -> None:
        if isinstance(table, Table):
            self._given(table)

    def _given(self, table: Table) -> dict[str, Records]:
        found: dict[str, Records] = {self.unit: table.batches}
        for tabulation in self.tabulations():
            if tabulation.unit != self.unit:
                if table.members is None:
                    raise IncompatibleBlocksError(
                        "table", f"has no records of the unit {tabulation.unit}", "give households together with their persons"
                    )
                found[tabulation.unit] = table.batches_of_members
        return found


# --- on a space -----------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, eq=False)
class TablePlan:
    """One table.

    Args:
        tabulation: its queries.
        cells: its cells.
        invariants: those about its unit.
        edits: its edit constraints, which involve other tables.
        asked: for every level the queries over the cells.
    """

    tabulation: Tabulation
    cells: UnitCells
    invariants: tuple[Fixed, ...]
    edits: tuple[EditConstraint, ...]
    asked: tuple[tuple[MeasuredQuery, ...], ...]

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

    def limits(self, fixed: Sequence[Counts], done: Mapping[str, FittedTable]) -> tuple[Limit, ...]:
        """The constraints, from the invariants' values and the counts of the tables that are fitted already."""
        found = [limit for f, value in zip(self.invariants, fixed, strict=True) for limit in f.limits(self.cells, value)]
        last = len(self.cells.geography.levels) - 1
        units: dict[EditConstraint, npt.NDArray[Any]] = {}
        for unit, bounding in done.items():
            edits = [edit for edit in self.edits if edit.of_unit == unit]
            groups = [bounding.plan.cells.where(edit.of_where) for edit in edits]
            units.update(zip(edits, bounding.units(groups), strict=True))
        for edit in self.edits:
            own = self.cells.where(edit.where)
            found.append(Limit(name=str(edit), cells=own, level=last, counts=units[edit], least=edit.least, most=edit.most))
        return tuple(found)


@attrs.frozen(kw_only=True, eq=False)
class Plan:
    """All tables, in the order in which they are fitted.

    Args:
        tables: the tables.
        gap: how far a fit may be from the optimum, relative to its loss.
    """

    tables: tuple[TablePlan, ...]
    gap: Fraction

    def true(self, given: Mapping[str, Records]) -> dict[str, Any]:
        """The confidential counts by unit, sparse, of shape (smallest nodes, cells)."""
        for records in given.values():
            check_nested(records)
        return {plan.cells.unit: plan.cells.counted(given[plan.cells.unit]) for plan in self.tables}

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
        self,
        fixed: Mapping[str, Sequence[Counts]],
        run: workers.Run,
        *,
        true: Mapping[str, Any] | None,
        given: Mapping[str, Any] | None,
        most: int = NODES_PER_PART,
    ) -> tuple[FittedTable, ...]:
        """Fit all tables, from confidential counts that are measured on the way or from given answers.

        Args:
            most: the nodes of a part of a level, on which nothing that is released depends.
        """
        done: dict[str, FittedTable] = {}
        draws = None if true is None else run.source.placed()
        for plan in self.tables:
            unit = plan.cells.unit
            known = {"true": None if true is None else true[unit], "given": None if given is None else given[unit]}
            limits = plan.limits(fixed[unit], done)
            levels = descend(plan.cells, plan.asked, limits, run, draws, gap=float(self.gap), most=most, **known)
            done[unit] = FittedTable(plan=plan, levels=levels)
        return tuple(done.values())

    def fitted(self, fixed: tuple[int, ...], measured: tuple[int, ...]) -> Dataset:
        """The fitted counts of a pair (c(x), t)."""
        values, answers = iter(fixed), iter(measured)
        given = {p.cells.unit: [_taken(answers, shape) for shape in p.sizes()] for p in self.tables}
        kept = {p.cells.unit: [_taken(values, shape) for shape in p.shapes()] for p in self.tables}
        nothing_drawn = workers.Run(source=randomness.SeededRandomness(0))
        done = self.descended(kept, nothing_drawn, true=None, given=given)
        return tuple((table.plan.cells.unit, tuple(table.levels[-1].whole().toarray().ravel().tolist())) for table in done)


@attrs.frozen(kw_only=True, eq=False)
class FittedTable:
    """A table that was fitted.

    Args:
        plan: what it was made from.
        levels: its levels, whose parts are read where they are kept.
    """

    plan: TablePlan
    levels: tuple[FittedLevel, ...]

    def units(self, groups: Sequence[Mask]) -> list[npt.NDArray[Any]]:
        """For each of some groups of cells, how many units each of the smallest nodes has there."""
        (*_, last) = self.levels
        units = [np.zeros(len(last.parts.order), dtype=np.int32) for _ in groups]
        for part in last if groups else ():
            for group, found in zip(groups, units, strict=True):
                found[part.nodes] = part.counts @ group.astype(np.int64)
        return [narrow(found) for found in units]

    def microdata(self, records: int) -> tables.TableStream:
        """The records, in the order of the smallest nodes.

        Args:
            records: how many there are.
        """
        (*_, last) = self.levels
        cells = self.plan.cells

        def batches() -> Iterator[Table]:
            return (cells.microdata(nodes, counts) for nodes, counts in last.counts(NODES_PER_PART))

        return tables.TableStream(attributes=cells.columns(), records=records, batches=batches)


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
        asked = tuple(asked_at(tabulation, cells, level, mechanism.passes) for level in range(len(mechanism.levels)))
        if not all(asked):
            raise IncompatibleBlocksError(f"table {tabulation.unit}", "asks nothing at one of the levels", "leave the level out")
        edits = tuple(edit for edit in mechanism.edits if edit.unit == tabulation.unit)
        invariants = all_fixed(mechanism.invariants, cells)
        tables.append(TablePlan(tabulation=tabulation, cells=cells, invariants=invariants, edits=edits, asked=asked))
    return Plan(tables=tuple(tables), gap=mechanism.gap)


def _answers(plan: TablePlan, true: Any) -> Iterator[int]:
    for level, queries in enumerate(plan.asked):
        counts = aggregated(plan.cells, true, level).tocoo()
        nodes = plan.cells.geography.size(level)
        blocks = [query.true(nodes, counts.coords[0], counts.coords[1], counts.data) for query in queries]
        yield from (int(answer) for answer in np.concatenate(blocks, axis=1).ravel())


def _taken(values: Iterator[int], shape: tuple[int, int]) -> Counts:
    taken = list(itertools.islice(values, shape[0] * shape[1]))
    return np.array(taken, dtype=np.int64).reshape(shape)


# --- one release ----------------------------------------------------------------------------------


def released(mechanism: TopdownByLevels, given: Mapping[str, Records], space: DatasetSpace, run: workers.Run) -> workers.Output:
    """Measure, fit and round all levels of all tables.

    Args:
        given: the confidential records of each unit.

    Raises:
        TableError: the table's geography is not nested.
        InfeasibleConstraintsError: the constraints contradict each other.
        PluginContractError: a released table does not keep a constraint; nothing is released.
    """
    plan = mechanism.plan(space)
    true = plan.true(given)
    done = plan.descended(plan.invariants(true), run, true=true, given=None)
    sums = [_summed(table, level, true[table.plan.cells.unit]) for table in done for level in table.levels]
    del true
    records = {one.table.cells.unit: one.records for one in sums}  # of the last level of each
    microdata = {table.plan.cells.unit: table.microdata(records[table.plan.cells.unit]) for table in done}
    checks = held_constraints(mechanism, given, microdata)
    ordered = {"released": microdata.pop(mechanism.unit), **{f"released-{unit}": table for unit, table in microdata.items()}}
    return workers.Output(
        tables={},
        streams={**ordered, "measurements": measurements(done, [one.values for one in sums])},
        report={
            "budget": _budget(mechanism, plan, space),
            "constraints": checks,
            "levels": [one.report() for one in sums],
        },
        confidential={"errors": [one.errors() for one in sums]},
    )


# --- the noisy measurements ----------------------------------------------------------------------


MEASURED = ("unit", "level", "node")
"""The columns of the noisy measurements before the query."""


def measurements(done: Sequence[FittedTable], values: Sequence[Counts]) -> tables.TableStream:
    """All noisy answers: one row for each unit, level, node, query and cell, with a column for each attribute.

    Args:
        values: for every level of every table, the different answers.
    """
    words: dict[str, dict[str, int]] = {name: {} for name in (*MEASURED, answers.QUERY)}
    levels = [(table.plan, level) for table in done for level in table.levels]
    node = _NodeNames(tuple(level.cells.geography.levels[level.level] for _, level in levels))
    for plan, level in levels:
        for _, spec in _named(plan, level.level):
            for name in spec:
                words.setdefault(answers.column_of(name, *MEASURED), {})
    others = [name for name in words if name not in MEASURED]
    coded: list[dict[str, Counts]] = []
    for plan, level in levels:
        coded.append(
            {
                "unit": np.array([_code(words["unit"], plan.cells.unit)]),
                "level": np.array([_code(words["level"], plan.cells.geography.levels[level.level].name)]),
                **{name: _of_queries(name, words[name], plan, level.level) for name in others},
            }
        )
    kinds = {name: Attribute(name=name, categories=tuple(known)) for name, known in words.items() if known}
    listed = (node.attribute if name == "node" else kinds[name] for name in words)
    numbers = np.unique(np.concatenate(values))
    (value, _), (status, published) = answers.number_columns(numbers)
    attributes = (*listed, value, status)
    number = _Ranks(numbers)
    size = tables.batch_size(len(attributes), _ROWS)

    def batches() -> Iterator[Table]:
        for (_, level), own in zip(levels, coded, strict=True):
            rows, begin = len(own[answers.QUERY]), 0
            for found in level.answers(max(size // rows, 1)):
                nodes = len(found)
                columns = {
                    "unit": np.repeat(own["unit"], nodes * rows),
                    "level": np.repeat(own["level"], nodes * rows),
                    "node": np.repeat(node.codes(level.cells.geography.levels[level.level], begin, begin + nodes), rows),
                    **{name: np.tile(own[name], nodes) for name in others},
                    value.name: number.of(found.ravel()),
                    status.name: np.repeat(published[:1], nodes * rows),
                }
                begin += nodes
                yield Table(attributes=attributes, codes={a.name: tables.compact(columns[a.name], a.size) for a in attributes})

    records = sum(len(level.parts.order) * len(own[answers.QUERY]) for (_, level), own in zip(levels, coded, strict=True))
    return tables.TableStream(attributes=attributes, records=records, batches=batches)


_ROWS = 1 << 18
"""The measurements that are made at a time, at most."""


class _NodeNames:
    """The column of the nodes of all levels. Millions of nodes that are numbered have no text each.

    Args:
        levels: the levels.
    """

    def __init__(self, levels: Sequence[Attribute]) -> None:
        self._known: dict[str, int] | None = {}
        largest = max(level.size for level in levels)
        if largest > tables.MOST_LISTED and all(level.count is not None for level in levels):
            self._known = None
            self.attribute: Attribute = tables.NumberedTexts("node", largest)
        else:
            every = dict.fromkeys(itertools.chain.from_iterable(level.values() for level in levels))
            self._known = {name: place for place, name in enumerate(every)}
            self.attribute = Attribute(name="node", categories=tuple(every))

    def codes(self, level: Attribute, begin: int, end: int) -> npt.NDArray[Any]:
        """The codes of some nodes of a level."""
        if self._known is None:
            return np.arange(begin, end)
        return np.array([self._known[level.category(place)] for place in range(begin, end)], dtype=np.int64)


class _Ranks:
    """The places of numbers among some sorted ones, looked up in an array where these lie close together.

    Args:
        numbers: the numbers, of which those that are asked for are some.
    """

    def __init__(self, numbers: Counts) -> None:
        self._numbers, self._places = numbers, np.zeros(0, dtype=np.int32)
        if len(numbers) and int(numbers[-1]) - int(numbers[0]) < _CLOSE:
            self._places = np.zeros(int(numbers[-1]) - int(numbers[0]) + 1, dtype=np.int32)
            self._places[numbers - numbers[0]] = np.arange(len(numbers))

    def of(self, numbers: Counts) -> npt.NDArray[Any]:
        """The place of each."""
        return self._places[numbers - self._numbers[0]] if len(self._places) else np.searchsorted(self._numbers, numbers)


_CLOSE = 1 << 20


def _of_queries(column: str, known: dict[str, int], table: TablePlan, level: int) -> Any:
    """One column of the answers to the queries of a level, in one node."""
    pieces = []
    for query, spec in _named(table, level):
        own = {answers.column_of(name, *MEASURED): (name, codes) for name, codes in table.cells.answer_codes(spec).items()}
        if column in own:
            name, codes = own[column]
            labels = next(list(a.values()) for a in table.cells.attributes if a.name == name)
            pieces.append(np.asarray([_code(known, label) for label in labels])[codes])
        else:
            word = query.name if column == answers.QUERY else answers.ALL
            pieces.append(np.full(query.size, _code(known, word)))
    return np.concatenate(pieces)


def _code(known: dict[str, int], word: str) -> int:
    return known.setdefault(word, len(known))


def _named(table: TablePlan, level: int) -> list[tuple[Any, tuple[str, ...]]]:
    """The queries of a level with their attributes."""
    specs = [query.attributes for query in table.tabulation.asked(level)]
    return list(zip(table.asked[level], specs, strict=True))


# --- the report ----------------------------------------------------------------------------------


def _budget(mechanism: TopdownByLevels, plan: Plan, space: DatasetSpace) -> dict[str, Any]:
    """The budget account, with its derivation: every level and query with rho* and sigma^2, and their sums."""
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


@attrs.frozen(kw_only=True, eq=False)
class LevelSums:
    """What is reported of a level, added up over its parts in integers.

    Args:
        table, level: the level.
        records: the fitted units.
        families: how many families there are.
        gap: their largest certified gap, in millionths.
        exact: how many of them the interior-point solver fitted.
        values: the different noisy answers.
        residuals: for every query the sum of the distances between the noisy answers and the fitted table.
        squares: the same of their squares.
        total_errors: the sum of the distances between the fitted totals of nodes and the confidential ones.
        cell_errors: the same of their cells.
    """

    table: TablePlan
    level: int
    records: int
    families: int
    gap: int
    exact: int
    values: Counts
    residuals: tuple[int, ...]
    squares: tuple[int, ...]
    total_errors: int
    cell_errors: int

    def report(self) -> dict[str, Any]:
        """The residuals: noisy answers against the fitted table, both released, in units of sigma."""
        nodes, queries = self.table.cells.geography.size(self.level), []
        for query, residual, square in zip(self.table.asked[self.level], self.residuals, self.squares, strict=True):
            sigma, size = float(query.noise.variance) ** 0.5, nodes * query.size
            queries.append(
                {
                    "query": query.name,
                    "mean_absolute_residual": round(residual / size, 4),
                    "root_mean_square_in_sigma": round(float(np.sqrt(square / size)) / sigma, 4),
                }
            )
        return {
            **self._of(),
            "nodes": nodes,
            "families": self.families,
            "records": self.records,
            "largest_certified_gap": round(self.gap / 1e6, 6),
            "families_by_interior_point": self.exact,
            "residuals": queries,
        }

    def errors(self) -> dict[str, Any]:
        """How far the fitted counts are from the confidential ones."""
        nodes = self.table.cells.geography.size(self.level)
        return {
            **self._of(),
            "mean_absolute_error_of_a_total": round(self.total_errors / nodes, 4),
            "mean_absolute_error_of_a_cell": round(self.cell_errors / (nodes * self.table.cells.count), 4),
        }

    def _of(self) -> dict[str, str]:
        return {"unit": self.table.cells.unit, "level": self.table.cells.geography.levels[self.level].name}


def _summed(fitted: FittedTable, level: FittedLevel, true: Any) -> LevelSums:
    """One reading of all parts of a level.

    Args:
        true: the confidential counts of the smallest nodes.
    """
    queries = fitted.plan.asked[level.level]
    confidential = aggregated(level.cells, true, level.level)
    notes, values = [np.zeros((0, 3), dtype=np.int64)], np.zeros(0, dtype=np.int64)
    residuals, squares = [0] * len(queries), [0] * len(queries)
    records = total_errors = cell_errors = 0
    for part in level:
        counts = part.counts.tocoo()
        row, cell = counts.coords
        begin = 0
        for place, query in enumerate(queries):
            noisy = part.answers[:, begin : begin + query.size].astype(np.int64)
            residual = noisy - query.true(len(part.nodes), row, cell, counts.data)
            begin += query.size
            residuals[place] += int(abs(residual).sum())
            squares[place] += int((residual**2).sum())
        error = part.counts - confidential[part.nodes]
        total_errors += int(np.abs(np.asarray(error.sum(axis=1))).sum())
        cell_errors += int(np.abs(error.data).sum())
        records += int(counts.data.sum())
        notes.append(part.notes)
        values = np.union1d(values, _different(part.answers))
    every = np.concatenate(notes)
    return LevelSums(
        table=fitted.plan,
        level=level.level,
        records=records,
        families=len(every),
        gap=int(every[:, 1].max(initial=0)),
        exact=int(every[:, 2].sum()),
        values=values,
        residuals=tuple(residuals),
        squares=tuple(squares),
        total_errors=total_errors,
        cell_errors=cell_errors,
    )


def _different(values: npt.NDArray[Any]) -> Counts:
    """The different ones of some numbers, counted where they lie close together, which takes less time than to sort them."""
    low = int(values.min(initial=0))
    return tables.occurring(values.ravel().astype(np.int64) - low, int(values.max(initial=0)) - low + 1)[0] + low


# --- constraints, counted again on the records -----------------------------------------------------


def held_constraints(
    mechanism: TopdownByLevels, before: Mapping[str, Records], after: Mapping[str, tables.TableStream]
) -> list[dict[str, Any]]:
    """All constraints, counted on the records before and after by code that uses no matrix.

    The released records are read once, and those of a piece of the smallest nodes are held at a time.

    Args:
        before: the confidential records of each unit.
        after: the released ones, in the order of the smallest nodes.

    Raises:
        PluginContractError: one is not kept.
    """
    fixed = [(str(invariant), _marginal(invariant)) for invariant in mechanism.invariants]
    counters = [(table.unit, table.attributes, table.where, _counter(table, after[table.unit])) for _, table in fixed]
    edited = [0] * len(mechanism.edits)
    for batches in zip(*(stream.batches() for stream in after.values()), strict=True):
        batch = dict(zip(after, batches, strict=True))
        for unit, names, where, counter in counters:
            counter.add(batch[unit].keys_meeting(names, where))
        for place, edit in enumerate(mechanism.edits):
            edited[place] += _edit_held(edit, mechanism.levels[-1], batch)
    checks = [
        _invariant_held(name, table, before[table.unit], counter)
        for (name, table), (*_, counter) in zip(fixed, counters, strict=True)
    ]
    return checks + [
        {"constraint": str(edit), "counts": count, "held": True} for edit, count in zip(mechanism.edits, edited, strict=True)
    ]


def _marginal(invariant: Invariant) -> blocks.Marginal:
    counted = invariant.as_marginal()
    if counted is None:  # `fixed_of` refuses others
        raise IncompatibleBlocksError(f"invariant {invariant}", "is no marginal", "state it as counts by node")
    return counted


def _counter(table: blocks.Marginal, records: tables.TableStream) -> tables.CellCounter:
    known = {attribute.name: attribute for attribute in records.attributes}
    return tables.CellCounter([known[name] for name in table.attributes])


def _invariant_held(name: str, table: blocks.Marginal, before: Records, after: tables.CellCounter) -> dict[str, Any]:
    """An invariant counted on the confidential records, against what was counted on the released ones."""
    counter = tables.CellCounter(after.attributes)
    for batch in before():
        counter.add(batch.keys_meeting(table.attributes, table.where))
    (cells, counts), (others, again) = counter.counts().occurring(), after.counts().occurring()
    if not (np.array_equal(cells, others) and np.array_equal(counts, again)):
        raise errors.PluginContractError("topdown-by-levels", f"does not hold {name}", "nothing is released; report it")
    return {"constraint": name, "counts": len(cells), "held": True}


def _edit_held(edit: EditConstraint, level: str, records: Mapping[str, Table]) -> int:
    """An edit constraint evaluated on the released records of some nodes; returns how many nodes have any of these."""
    units = (edit.unit, edit.where), (edit.of_unit, edit.of_where)
    found = [records[unit].cells((level,), where).occurring() for unit, where in units]
    every = np.union1d(*(nodes for nodes, _ in found))
    held, allowed = (np.zeros(len(every), dtype=np.int64) for _ in found)
    for total, (nodes, counts) in zip((held, allowed), found, strict=True):
        total[np.searchsorted(every, nodes)] = counts
    above = np.where(allowed > 0, held, 0) if edit.most is None else edit.most * allowed
    if ((held < edit.least * allowed) | (held > above)).any():
        raise errors.PluginContractError("topdown-by-levels", f"does not hold {edit}", "nothing is released; report it")
    return len(every)
