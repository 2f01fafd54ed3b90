"""The risk engine: what a specification, and a mechanism, mean to an attacker, row by row.

An attacker model answers twice, for the worst of all mechanisms that satisfy the specification and for the own law of one of
them. Statements about the same quantity at the same place stand in one row. A mechanism that is certainly beyond the worst case
does not satisfy the specification, or the assumption of the statement does not hold for it; the row says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import attrs

from dpspec.attacker import AttackerModel, Relation, RiskStatement
from dpspec.errors import (
    AttackerMisfitError,
    CounterfactualError,
    DpspecError,
    FailureProbabilityError,
    NoRouteError,
    NotEnumerableError,
    NotReachedError,
    PluginContractError,
)
from dpspec.exact import Bracket
from dpspec.mechanism import Mechanism
from dpspec.spec import PrivacySpec

Place = tuple[tuple[str, str], ...]
"""Where a quantity is measured."""
_OPEN = (NoRouteError, NotEnumerableError, NotReachedError)
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
class RiskReport:
    """What an attacker can do: the worst case beside a mechanism's own law.

    Args:
        spec: the specification.
        attacker: the attacker model with its parameters.
        mechanism: whose own law is shown; None for the worst case alone.
        rows: the statements, in the order in which the attacker makes them, those of the worst case first.
        unknown: what stayed open, as (side, reason), the side being "worst case" or "mechanism".
    """

    spec: PrivacySpec
    attacker: AttackerModel
    mechanism: Mechanism | None
    rows: tuple[RiskRow, ...]
    unknown: tuple[tuple[str, str], ...] = ()

    @property
    def exceeded(self) -> tuple[RiskRow, ...]:
        """The rows where the mechanism is certainly beyond the worst case."""
        return tuple(row for row in self.rows if row.is_exceeded)


def risk(spec: PrivacySpec, attacker: AttackerModel, mechanism: Mechanism | None = None) -> RiskReport:
    """Ask an attacker model about a specification, and about a mechanism where one is given.

    Args:
        spec: the specification.
        attacker: who reads the release, with what knowledge.
        mechanism: whose own law is put beside the worst case.

    Raises:
        AttackerMisfitError, IncompatibleBlocksError: when the attacker or the mechanism does not fit the specification.
        NoRouteError, NotEnumerableError, NotReachedError: when nothing at all can be said.
        PluginContractError: when the attacker raises what it must not, or hides an assumption.

    Either side alone may stay open, because no route is known or there is too much to list; the report then says why.
    """
    sides: list[tuple[str, Callable[[], tuple[RiskStatement, ...]]]] = [("worst case", partial(attacker.worst_case, spec))]
    if mechanism is not None:
        mechanism.check(spec.space)
        sides.append(("mechanism", partial(attacker.under, mechanism, spec)))
    made: dict[str, tuple[RiskStatement, ...]] = {}
    open_sides: dict[str, DpspecError] = {}
    for side, ask in sides:
        try:
            made[side] = _checked(attacker, _asked(attacker, ask))
        except _OPEN as fault:
            open_sides[side] = fault
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
class Panel:
    """What several attackers make of one specification.

    Args:
        reports: those that could be asked.
        not_asked: the others by name, and why.
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
    for attacker in attackers:
        try:
            reports.append(risk(spec, attacker, mechanism))
        except (AttackerMisfitError, FailureProbabilityError, CounterfactualError, *_OPEN) as fault:
            refused[attacker.name] = fault
    if not reports and refused:
        raise next(iter(refused.values()))
    return Panel(reports=tuple(reports), not_asked=tuple((name, str(fault)) for name, fault in refused.items()))


def _asked(attacker: AttackerModel, ask: Callable[[], tuple[RiskStatement, ...]]) -> tuple[RiskStatement, ...]:
    try:
        return tuple(ask())
    except DpspecError:
        raise
    except Exception as problem:  # a plugin may raise anything
        rule = f"raised {type(problem).__name__}: {problem}"
        raise PluginContractError(f"attacker {attacker.name}", rule, "report it to the author of the plugin") from problem


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
    if every.relation is Relation.AT_MOST and one.relation is not Relation.AT_MOST:
        return one.value.lower > every.value.upper
    if every.relation is Relation.AT_LEAST and one.relation is not Relation.AT_LEAST:
        return one.value.upper < every.value.lower
    return False
