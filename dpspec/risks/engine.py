"""The risk engine: the meaning of a specification, and of a mechanism, in terms of attacks.

An attacker model makes statements for the worst of all mechanisms that satisfy the specification, and for the law of one of them.
Statements on the same quantity at the same parameters form one row. A mechanism that certainly exceeds the worst case
does not satisfy the specification, or the assumption of the statement does not hold for it; the row reports this.

An attacker model is constructed from its registered name and its parameters as texts. Where budgets differ by universe, the
budget of the universe of a table is used.

A release keeps the invariants, so that the released table lies in the universe of the confidential one: anybody can ask about it.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, cast

import attrs

from dpspec.base.display import Showable
from dpspec.base.errors import (
    TO_ITS_AUTHOR,
    AttackerMisfitError,
    CounterfactualError,
    DpspecError,
    FailureProbabilityError,
    NoFormulaError,
    NotEnumerableError,
    NotReachedError,
    ParameterError,
    PluginContractError,
    TableError,
    WorkLimitError,
    raised_at,
)
from dpspec.base.exact import Bracket, number
from dpspec.base.params import build
from dpspec.base.work import limited
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.multisets import CELLS_LISTED, all_records, check_size, count_records
from dpspec.blocks.multiverse import Universe
from dpspec.blocks.parts import Collections, nesting_of, own_attributes
from dpspec.blocks.space import MEMBERS, Attribute, Dataset, DatasetSpace, Record
from dpspec.extension.hooks import Registry
from dpspec.grammar.attacker import AttackerModel, RiskStatement, Sense, Tolerance
from dpspec.grammar.declarations import check_declared
from dpspec.grammar.mechanism import LawsOnTables, Mechanism, SimulatedOnTables, states_itself
from dpspec.grammar.spec import PrivacySpec
from dpspec.grammar.table_counts import Countable
from dpspec.grammar.table_files import as_released, read_households, read_table
from dpspec.grammar.tables import Table, TableLayout, fitted
from dpspec.laws.law import NotALaw
from dpspec.risks.candidates import DISTINGUISHED, UNPROMISED

Place = tuple[tuple[str, str], ...]
"""The parameters at which a quantity is measured."""
_OPEN = (NoFormulaError, NotEnumerableError, NotReachedError, WorkLimitError)

MOST_ASKED, MOST_OF_PANEL = 1_000_000, 2_000_000
"""Units of `dpspec.base.work`, of about one microsecond each, that one attacker spends on either side, and all of them together.
Where they are spent, what remains is unknown."""
"""Errors that leave one side of the report open; every other one refuses the question."""


@attrs.frozen(kw_only=True)
class RiskRow:
    """All statements about one quantity at one place.

    Args:
        quantity, at: what is measured, and where.
        worst: what holds for every mechanism that satisfies the specification.
        own: what holds for the mechanism.
    """

    quantity: str
    at: Place
    worst: tuple[RiskStatement, ...]
    own: tuple[RiskStatement, ...]

    @property
    def is_exceeded(self) -> bool:
        """Whether the mechanism is certainly beyond what the worst case allows."""
        return any(_contradict(every, one) for every in self.worst for one in self.own)


@attrs.frozen(kw_only=True)
class RiskReport(Showable):
    """The power of an attacker: the worst case, and next to it the law of a mechanism.

    Args:
        spec: the specification.
        attacker: the attacker model with its parameters.
        mechanism: whose own law is shown; None for the worst case alone.
        rows: the statements, in the order in which the attacker makes them, those of the worst case first.
        unknown: what is undecided, as (side, reason), the side being "worst case" or "mechanism".
        about: the file and the status of its claim, for display; None where it was not checked.
    """

    spec: PrivacySpec
    attacker: AttackerModel
    mechanism: Mechanism | None
    rows: tuple[RiskRow, ...]
    unknown: tuple[tuple[str, str], ...] = ()
    about: Any = attrs.field(default=None, eq=False, repr=False)

    @property
    def exceeded(self) -> tuple[RiskRow, ...]:
        """The rows where the mechanism is certainly beyond the worst case."""
        return tuple(row for row in self.rows if row.is_exceeded)


def risk(spec: PrivacySpec, attacker: AttackerModel, mechanism: Mechanism | None = None) -> RiskReport:
    """Ask an attacker model about a specification, and about a mechanism where one is given.

    Args:
        spec: the specification.
        attacker: the reader of the release and its knowledge.
        mechanism: the mechanism whose law is shown next to the worst case.

    Raises:
        AttackerMisfitError, IncompatibleBlocksError: when the attacker or the mechanism does not fit the specification.
        NoFormulaError, NotEnumerableError, NotReachedError: when nothing at all can be said.
        PluginContractError: when the attacker raises what it must not, or hides an assumption; or when an example contradicts
            what a block of the specification says of itself.

    Either side alone may stay open, because no formula is known or there is too much to list; the report then says why.
    """
    check_declared(spec)
    worst = partial(attacker.worst_case, spec.of_unordered_pairs)
    sides: list[tuple[str, Callable[[], tuple[RiskStatement, ...]]]] = [("worst case", worst)]
    if mechanism is not None:
        mechanism.check(spec.space)
        sides.append(("mechanism", partial(attacker.under, mechanism, spec)))
    made: dict[str, tuple[RiskStatement, ...]] = {}
    open_sides: dict[str, DpspecError] = {}
    misfit: AttackerMisfitError | None = None
    for side, ask in sides:
        try:
            with limited(MOST_ASKED):
                made[side] = _checked(attacker, _asked(attacker, ask))
        except _OPEN as fault:
            open_sides[side] = fault
        except AttackerMisfitError as fault:  # a budget may differ by universe, where the laws of the mechanism are known
            if mechanism is None or side != "worst case":
                raise
            open_sides[side] = misfit = fault
    if misfit is not None and not made.get("mechanism"):
        raise misfit
    if not made:
        raise next(iter(open_sides.values()))
    return RiskReport(
        spec=spec,
        attacker=attacker,
        mechanism=mechanism,
        rows=_matched(made.get("worst case", ()), made.get("mechanism", ())),
        unknown=tuple((side, str(fault)) for side, fault in open_sides.items()),
    )


@attrs.frozen(kw_only=True)
class Panel(Showable):
    """The reports of several attackers on one specification.

    Args:
        reports: the reports of the attackers that apply.
        not_asked: the other attackers by name, and the reason.
    """

    reports: tuple[RiskReport, ...]
    not_asked: tuple[tuple[str, str], ...] = ()

    @property
    def exceeded(self) -> bool:
        """Whether the mechanism is certainly beyond a worst case."""
        return any(report.exceeded for report in self.reports)


def panel(spec: PrivacySpec, attackers: Iterable[AttackerModel], mechanism: Mechanism | None = None) -> Panel:
    """Ask several attacker models; those that do not fit say why.

    Raises:
        IncompatibleBlocksError: when none fits.
    """
    reports: list[RiskReport] = []
    refused: dict[str, DpspecError] = {}
    waiting = list(attackers)
    try:
        with limited(MOST_OF_PANEL):
            while waiting:
                try:
                    reports.append(risk(spec, waiting[0], mechanism))
                except (AttackerMisfitError, FailureProbabilityError, CounterfactualError, *_OPEN) as fault:
                    refused[waiting[0].name] = fault
                waiting.pop(0)
    except WorkLimitError as fault:
        refused |= {attacker.name: fault for attacker in waiting}
    if not reports and refused:
        raise next(iter(refused.values()))
    return Panel(reports=tuple(reports), not_asked=tuple((name, str(fault)) for name, fault in refused.items()))


def _asked(attacker: AttackerModel, ask: Callable[[], tuple[RiskStatement, ...]]) -> tuple[RiskStatement, ...]:
    try:
        return tuple(ask())
    except NotALaw as fault:  # of the mechanism as a rule; the file that names it is right
        rule = f"is no probability distribution at {raised_at(fault)}: {fault.subject} {fault.rule} (found: {fault.value})"
        raise PluginContractError("law", rule, TO_ITS_AUTHOR) from fault
    except DpspecError:
        raise
    except Exception as problem:  # a plugin may raise anything
        rule = f"raised {type(problem).__name__}: {problem} ({raised_at(problem)})"
        raise PluginContractError(f"attacker {attacker.name}", rule, TO_ITS_AUTHOR) from problem


def _checked(attacker: AttackerModel, statements: tuple[RiskStatement, ...]) -> tuple[RiskStatement, ...]:
    """The statements, each of which names its theorem and its assumption."""
    subject = f"attacker {attacker.name}"
    for statement in statements:
        if not isinstance(statement, RiskStatement) or not isinstance(statement.value, Bracket):
            raise PluginContractError(subject, "must return RiskStatements with brackets", value=statement)
        for part in ("quantity", "theorem", "assumption"):
            if not getattr(statement, part).strip():
                rule = f"makes a statement without its {part}"
                raise PluginContractError(subject, rule, 'write "none" where nothing is assumed')
    return statements


def _matched(worst: tuple[RiskStatement, ...], own: tuple[RiskStatement, ...]) -> tuple[RiskRow, ...]:
    keys = dict.fromkeys((said.quantity, said.at) for said in (*worst, *own))
    return tuple(
        RiskRow(
            quantity=quantity,
            at=at,
            worst=tuple(said for said in worst if (said.quantity, said.at) == (quantity, at)),
            own=tuple(said for said in own if (said.quantity, said.at) == (quantity, at)),
        )
        for quantity, at in keys
    )


def _contradict(every: RiskStatement, one: RiskStatement) -> bool:
    if every.relation is Sense.AT_MOST and one.relation is not Sense.AT_MOST:
        return one.value.lower > every.value.upper
    if every.relation is Sense.AT_LEAST and one.relation is not Sense.AT_LEAST:
        return one.value.upper < every.value.lower
    return False


def beside_worst(found: RiskReport, worst: RiskReport) -> RiskReport:
    """The report on the universe of one table, and next to it the results for the mechanism in the worst universe.

    Args:
        found: the report on the universe of a table.
        worst: the same on all universes; of it only the mechanism's own numbers are taken, where they differ.
    """
    others = {(row.quantity, row.at): row.own for row in worst.rows}
    rows: list[RiskRow] = []
    for row in found.rows:
        own = others.get((row.quantity, row.at), ())
        said = [[(statement.relation, statement.value) for statement in side] for side in (row.own, own)]
        if not row.own or not own or said[0] == said[1]:
            rows.append(row)
            continue
        rows.append(attrs.evolve(row, at=(*row.at, ("universe", "of this table"))))
        rows.append(RiskRow(quantity=row.quantity, at=(*row.at, ("universe", "the worst")), worst=(), own=own))
    return attrs.evolve(found, rows=tuple(rows))


def apart_from_all(found: RiskReport, everywhere: RiskReport) -> RiskReport:
    """The report on the universe of one table, with the mechanism's numbers for all universes in rows of their own.

    Where budgets differ by universe, the worst case is that of one universe, and what is true of the mechanism somewhere may be
    above it. A number of the mechanism is about this universe where it changes with the universe that is named, in its value or
    in the scope of its theorem. Candidates that published facts distinguish are not of one universe anyway.

    Args:
        found: the report on the universe of a table.
        everywhere: the same without a universe; of it only the mechanism's own numbers are taken.
    """
    others = {(row.quantity, row.at): row.own for row in everywhere.rows}
    rows: list[RiskRow] = []
    for row in found.rows:
        is_inside = dict(row.at).get("candidates") not in (DISTINGUISHED, UNPROMISED)
        if not (row.worst and row.own and is_inside and row.own == others.get((row.quantity, row.at))):
            rows.append(row)
            continue
        rows.append(attrs.evolve(row, own=()))
        rows.append(RiskRow(quantity=row.quantity, at=(*row.at, ("universe", "the worst")), worst=(), own=row.own))
    return attrs.evolve(found, rows=tuple(rows))


def beside_table(report: RiskReport, mechanism: Mechanism, spec: PrivacySpec, table: Table) -> RiskReport:
    """The report with what is known of tests between a table itself and another one of its universe at the nearest distance.

    By a theorem from above, and by simulated releases from below. The rows of the report itself are about the worst two tables of
    the universe. A simulated number has a row of its own: it is no proof, and contradicts nothing.
    """
    rows, levels = list(report.rows), dict.fromkeys(dict(row.at)["level"] for row in report.rows if row.quantity == "power")
    for level in levels:
        at = (("level", level), ("tables", "this one and the nearest ones"))
        if isinstance(mechanism, LawsOnTables) and states_itself(mechanism, "power_on_table"):
            known = mechanism.power_on_table(spec, table, Fraction(level))
            if known is not None:
                rows.append(_own("power", at, Sense.AT_MOST, Bracket.exactly(known.power.upper), known.citation))
        if isinstance(mechanism, SimulatedOnTables) and states_itself(mechanism, "simulated_power_on_table"):
            found = mechanism.simulated_power_on_table(spec, table, Fraction(level))
            if found is not None:
                how = f"{found.runs:,} simulated releases of each of two tables, seed {found.seed}; confidence {found.confidence}"
                rows.append(_own("power, simulated", at, Sense.AT_LEAST, Bracket.exactly(found.power), how))
    return attrs.evolve(report, rows=tuple(rows))


def _own(quantity: str, at: Place, relation: Sense, value: Bracket, theorem: str) -> RiskRow:
    theorem = f"{theorem}; computed from the table, and so for the office alone"
    said = RiskStatement(
        quantity=quantity, at=at, relation=relation, value=value, theorem=theorem, assumption="none", trivial=number(1)
    )  # fmt: skip
    return RiskRow(quantity=quantity, at=at, worst=(), own=(said,))


# --- attackers by name ----------------------------------------------------------------------------


def attacker_of(registry: Registry, name: str, settings: Mapping[str, Any]) -> AttackerModel:
    """The attacker of a name with its parameters.

    Args:
        registry: where the name is looked up.
        name: the registered name.
        settings: its parameters, values as in a file; a float is the decimal that it is written as.

    Raises:
        UnknownNameError: for a name that nothing registers.
        ParameterError, UnknownKeyError, MissingKeyError: for parameters that the attacker does not take.
    """
    given = {key: str(value) if isinstance(value, float) else value for key, value in settings.items()}
    return cast("AttackerModel", build(registry.get("attackers", name), given, name))


def panel_of(registry: Registry) -> tuple[AttackerModel, ...]:
    """The attackers that are shown where none is named, each with its defaults."""
    kinds = sorted(registry.classes("attackers"), key=lambda kind: str(kind.name))
    return tuple(cast("AttackerModel", build(kind, {}, kind.name)) for kind in kinds if kind.in_panel)


def tolerance_of(registry: Registry, name: str, settings: Iterable[str] = ()) -> Tolerance:
    """The tolerated risk of a name with its parameters, as texts KEY=VALUE.

    Raises:
        UnknownNameError: for a name that nothing registers.
        ParameterError, UnknownKeyError, MissingKeyError: for parameters that it does not take.
    """
    return cast("Tolerance", build(registry.get("tolerances", name), parsed(settings), name))


def parsed(settings: Iterable[str]) -> dict[str, Any]:
    """Texts KEY=VALUE as a table; decimals stay texts, so that they are read exactly.

    >>> parsed(["distance=2", "levels=[0.01, '1/3']", "prior=uniform"])
    {'distance': 2, 'levels': ['0.01', '1/3'], 'prior': 'uniform'}
    """
    table: dict[str, Any] = {}
    for text in settings:
        key, sign, value = (part.strip() for part in text.partition("="))
        if not (key and sign and value):
            raise ParameterError("set", "must be a name and a value", "write it as distance=2", value=text)
        if key in table:
            raise ParameterError(f"set {key}", "is given twice", "write one value", value=value)
        try:
            table[key] = tomllib.loads(f"value = {value}", parse_float=str)["value"]
        except tomllib.TOMLDecodeError as fault:
            if value[0] in "[{\"'":
                raise ParameterError("set", f"is no TOML value ({fault})", "quote texts inside lists", value=value) from fault
            table[key] = value
    return table


# --- the universe of a table ----------------------------------------------------------------------


OUTSIDE = "lies in no universe of the specification, which promises nothing about it"


def lies_outside(table: Table, spec: PrivacySpec) -> bool:
    """Whether a table lies in no universe. Invariants put every dataset into one; a list of universes may leave some out."""
    if spec.multiverse.induced_by() is not None:
        return False
    return not spec.multiverse.labels(dataset_in(table, spec.space), spec.space)


def at_universe_of(spec: PrivacySpec, dataset: Dataset) -> PrivacySpec:
    """The specification with the budget of the universe that holds a dataset, the largest if several do, for all universes.

    What it says about two datasets holds for two of that universe.

    Raises:
        AttackerMisfitError: when no universe holds the dataset.
    """
    uniform = spec.budget.uniform() is not None
    if uniform and spec.multiverse.induced_by() is not None:  # each dataset has a universe, and all have one budget
        return spec
    labels = spec.multiverse.labels(dataset, spec.space)
    if not labels:
        raise AttackerMisfitError("universe-of", OUTSIDE, "name another dataset")
    if uniform:
        return spec
    values = [spec.amount(Universe(label=label, datasets=(dataset,), is_whole=False)) for label in labels]
    return spec.replace(budget=UniformBudget(parameter=spec.budget.parameter, value=max(values)))


def dataset_of(name: str, space: DatasetSpace, registry: Registry, layout: TableLayout | None = None) -> Dataset:
    """The dataset in a table: a file, a directory with households and persons, a registered table, or a release's report.

    Args:
        name: the file to read; of a release's ``report.json`` the released tables next to it.
        space: the space of the records, of its largest unit.
        registry: where formats and tables are looked up.
        layout: how a table lies on disk; released ones are in the words of the space.

    Raises:
        TableError: when it cannot be read, or does not fit the space.
    """
    path = Path(name)
    named: Callable[[Iterable[Attribute]], tuple[Attribute, ...]] = tuple
    if path.suffix == ".json":
        path, layout, named = _released(path), None, as_released
    formats = {suffix: cls() for cls in registry.classes("formats") for suffix in cls.suffixes}
    unit = space.units[0] if space.units else ""
    if path.is_dir() and len(space.units) > 1:
        outer, inner = (named(own_attributes(space, kind)) for kind in space.units[:2])
        return _of_households(read_households(path, outer, inner, formats, layout=layout), space)
    attributes = named(a for a in space.attributes_of(unit) if a.name != MEMBERS)
    if path.exists():
        return dataset_in(read_table(path, attributes, formats, layout=layout), space)
    if name in registry.names("tables"):
        return dataset_in(fitted(registry.get("tables", name)().build(), attributes, f"table {name}"), space)
    advice = "give a table, or a release's report.json"
    raise TableError("universe-of", "is neither a file nor a registered table", advice, value=name)


def dataset_in(table: Table, space: DatasetSpace) -> Dataset:
    """The dataset that a table is in a space.

    Args:
        table: the records of the largest unit, with the members of each, where there are any.
        space: the space.

    Raises:
        NotInSpaceError: it has more records, or members of one, than the space allows.
        TableError: it is no dataset.
    """
    if table.members is not None:
        return _of_households(table, space)
    if any(a.name == MEMBERS for a in space.attributes_of(space.units[0])):
        return space.dataset([(record, ()) for record in table.records()])
    if Collections.found_in(space) is not None:
        check_dataset(table, space, space.units[0])
    return dataset_of_records(list(table.records()), space, space.units[0])


def check_dataset(table: Countable, space: DatasetSpace, unit: str) -> None:
    """Refuse a table of one unit that is no dataset of a space; no dataset is made of it where any collection is one.

    Args:
        table: the records, or what was counted of them.
        space: the space.
        unit: what a record of the table is.

    Raises:
        NotInSpaceError: it has fewer or more records than the space allows.
        TableError: it is no dataset.
    """
    collections = Collections.found_in(space)
    if collections is None:
        names = [a.name for a in table.attributes]
        kinds = Counter({tuple(cell): count for cell, count in table.cells(names).by_category().items()})
        dataset_of_records(list(kinds.elements()), space, unit)
        return
    least, most = collections.total_range()
    if unit != space.units[0]:  # of units that some record holds, a table may have none
        each = nesting_of(space).most_within(unit, space.units[0])
        least, most = 0, None if most is None or each is None else most * each
    check_size(space.name, len(table), least, most)


def dataset_of_records(records: Sequence[tuple[str, ...]], space: DatasetSpace, unit: str) -> Dataset:
    """A dataset that has these records of a unit, and no others.

    Raises:
        TableError: none is found. No record is quoted, as that of the space may be.
    """
    wanted = Counter(records)
    for written in _written(records, space, unit):
        try:
            found = space.dataset(written)
            read = Counter(tuple(map(str, record)) for record in space.records(found, unit))
        except (DpspecError, ValueError, TypeError):
            continue
        if read == wanted:
            return found
    rule = f"cannot be read as a dataset of the space {space.name} with a row for each {unit}"
    raise TableError("table", rule, f"see `dpspec explain {space.name}` for what a dataset is")


def _written(records: Sequence[tuple[str, ...]], space: DatasetSpace, unit: str) -> Iterator[Sequence[object]]:
    """Records as a space may take them: rows, the texts or numbers of a single column, or the counts of all cells."""
    yield records
    if all(len(record) == 1 for record in records):
        yield [value for (value,) in records]
        if all(value.isdecimal() for (value,) in records):
            yield [int(value) for (value,) in records]
    attributes, counts = space.attributes_of(unit), Counter[Record](records)
    kinds = count_records(attributes)
    if kinds is not None and kinds <= CELLS_LISTED:
        yield [counts[record] for record in all_records(attributes)]


def _of_households(table: Table, space: DatasetSpace) -> Dataset:
    held: list[list[tuple[str, ...]]] = [[] for _ in range(len(table))]
    if table.members is not None:
        for person, owner in zip(table.members.table.records(), table.members.owner.tolist(), strict=True):
            held[owner].append(person)
    return space.dataset(list(zip(table.records(), held, strict=True)))


def _released(report: Path) -> Path:
    """The released table next to a report; the folder itself where there are several."""
    try:
        listed = json.loads(report.read_text(encoding="utf-8"))["released"]
        files = [report.parent / Path(entry["file"]).name for entry in listed]
    except (OSError, ValueError, KeyError, TypeError) as fault:
        rule = "is no report of a release that can be read"
        raise TableError("universe-of", rule, "give its table", value=report.name) from fault
    return files[0] if len(files) == 1 else report.parent
