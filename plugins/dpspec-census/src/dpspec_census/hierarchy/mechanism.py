"""TopDown by levels, the mechanism: what it measures, what it holds fixed, its law in miniature and its claim."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from dpspec.blocks.households import MEMBERS
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import IncompatibleBlocksError, ParameterError
from dpspec.exact import INFINITY, Number, number
from dpspec.laws.law import Law
from dpspec.mechanism import Claim, Mechanism
from dpspec.params import Items, Nested, Registered, Text, define
from dpspec.spec import PrivacySpec
from dpspec_census.hierarchy.edits import EditConstraint
from dpspec_census.hierarchy.workload import PRESETS, Tabulation, preset
from dpspec_census.topdown import FittedLaw

if TYPE_CHECKING:
    from dpspec.randomness import Randomness
    from dpspec.run import Output, Run
    from dpspec.table import Table
    from dpspec_census.hierarchy.plan import Plan


@define
class TopdownByLevels(Mechanism):
    """TopDown over a geographic hierarchy (B-A6): noisy marginals of every node, then a fit from the largest level down.

    An outcome is (z, t): for every table the fitted counts of the smallest nodes, and all noisy answers.

    Args:
        levels: the attributes of geography, from large to small, each within the one before.
        allocation: allocations of 2020 by name; and
        tables: others, at most one for each unit.
        invariants: c, marginals that are read from the confidential data and kept exactly.
        edits: what one fitted table demands of another.
        unit: the unit that the claim protects, whose microdata are the main output.

    >>> from dpspec.blocks.records import UnorderedRecords
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

    def __attrs_post_init__(self) -> None:
        units = [table.unit for table in self.tabulations()]
        if len(set(units)) < len(units) or not units:
            raise ParameterError("tables", "need one table for each measured unit", value=units)
        if self.unit not in units:
            raise ParameterError("unit", "must be one that is measured", value=self.unit)
        for table in self.tables:
            if len(table.level_shares) != len(self.levels):
                raise ParameterError(f"table {table.unit}", "needs one share for each level", value=len(table.level_shares))
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
        from dpspec_census.hierarchy.plan import plan_of

        return plan_of(self, space)

    # --- what it spends --------------------------------------------------------------------------

    def rho(self, space: DatasetSpace) -> Number:
        """The largest sum over (level, query) of |dq|^2 / (2 sigma^2) when one unit is replaced, exactly (K-D41).

        A marginal of one answer, such as the total of the only state, does not move, and its share is not lost. A replaced
        household with at most m persons moves the answers about persons by m; persons do not determine their households
        (B-X6).
        """
        moved, still = {}, {}
        for plan in self.plan(space).tables:
            moved[plan.cells.unit], still[plan.cells.unit] = plan.spent()
        others = [unit for unit in moved if unit != self.unit]
        most = {unit: space.most_within(unit, self.unit) for unit in others}
        if any(count is None for count in most.values()):
            return INFINITY
        squares = {unit: Fraction(count) ** 2 for unit, count in most.items() if count is not None} | {self.unit: Fraction(1)}
        exchanged = sum((squares[unit] * rho for unit, rho in moved.items()), Fraction(0))
        emptied = moved[self.unit] + sum((squares[unit] * (moved[unit] + still[unit]) / 2 for unit in others), Fraction(0))
        return number(max(exchanged, emptied))

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """B-T13: inside the universes of its invariants, the budget of its noise; none where no budget is finite."""
        from dpspec_divergences import DNor, Hamming

        from dpspec.blocks.budget import UniformBudget

        if self.rho(space) == INFINITY:
            return ()
        spec = PrivacySpec(
            space=space,
            multiverse=LevelSets(invariants=self.invariants),
            input_divergence=Hamming(unit=self.unit),
            output_divergence=DNor(),
            budget=UniformBudget(parameter="rho", value=self.rho(space)),
        )
        return (Claim(label="TopDown by levels within its invariants", source="B-T13", spec=spec),)

    # --- in miniature ----------------------------------------------------------------------------

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        from dpspec.laws.combine import Product
        from dpspec.laws.integers import DiscreteGaussian

        plan = self.plan(space)
        true = plan.true(self._tables(space.dataset(dataset), space))
        pairs = zip(plan.answers(true), plan.variances(), strict=True)
        noise = Product(tuple(DiscreteGaussian(answer, variance) for answer, variance in pairs))
        return FittedLaw(fixed=plan.fixed(true), noise=noise, mechanism=self, space=space)

    def _tables(self, dataset: Dataset, space: DatasetSpace) -> dict[str, Table]:
        """The dataset as one table of records for each measured unit."""
        from dpspec.table import Table

        found = {}
        for table in self.tabulations():
            attributes = tuple(a for a in space.attributes_of(table.unit) if a.name != MEMBERS)
            records = [record[: len(attributes)] for record in space.records(dataset, table.unit)]
            found[table.unit] = Table.from_records(records, attributes)
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
        from dpspec.run import Run

        return self.run(table, space, Run(source=source)).main

    def run(self, table: Table, space: DatasetSpace, run: Run) -> Output:
        """Microdata of every unit, the noisy measurements, and a report."""
        from dpspec_census.hierarchy.release import released

        self.check(space)
        return released(self, self._given(table), space, run)

    def _given(self, table: Table) -> dict[str, Table]:
        found = {self.unit: table}
        for tabulation in self.tabulations():
            if tabulation.unit != self.unit:
                if table.members is None:
                    raise IncompatibleBlocksError(
                        "table", f"has no records of the unit {tabulation.unit}", "give households together with their persons"
                    )
                found[tabulation.unit] = table.of_members()
        return found
