"""The risk of a specification and its mechanism, in the few numbers that every report shows.

The same attackers that `risk` evaluates are evaluated here, with fixed parameters and inside the universes only: the power of the
best test at three levels, its advantage, the posterior odds, and the belief of an attacker for whom two candidates are equally
likely. `explain`, `label`, `compare` and `report` show these rows, so that they cannot differ from `risk`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from dpspec.base.errors import DpspecError
from dpspec.base.work import limited
from dpspec.blocks.space import Pair
from dpspec.extension.hooks import Registry
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.risks.candidates import DISTINGUISHED, UNPROMISED
from dpspec.risks.engine import MOST_ASKED, RiskReport, RiskRow, attacker_of, risk
from dpspec.risks.mechanism_pairs import FARTHEST, evidence

STANDARD_ATTACKERS: Mapping[str, Mapping[str, Any]] = {
    "tester": {"levels": ["1/100", "1/20", "1/10"]},
    "strongest": {"priors": ["1/2"], "factors": []},
}
"""Registered attackers, and the parameters with which they are evaluated. Growth factors are left out: their tails need several
minutes where a mechanism has many measurements."""
FURTHEST = 3
"""The largest distance at which two datasets of one universe are looked for."""


@attrs.frozen(kw_only=True)
class RiskNumbers:
    """The numbers of a specification and its mechanism, for two datasets of one universe.

    Args:
        rows: each with what holds for any mechanism that satisfies the specification, and what holds for its own mechanism.
        unknown: what stayed open, as (side, reason).
    """

    rows: tuple[RiskRow, ...]
    unknown: tuple[tuple[str, str], ...] = ()


def risk_numbers(
    spec: PrivacySpec, mechanism: Mechanism | None, registry: Registry, pairs: Iterable[Pair] = (), scope: str = FARTHEST
) -> RiskNumbers:  # fmt: skip
    """The power, the advantage, the odds and the belief that a specification allows, and those of its mechanism.

    Args:
        spec: the specification.
        mechanism: whose own law is shown; None for the specification alone.
        registry: where the attackers are looked up.
        pairs: the datasets on which a proof of the claim found the largest constant, or others that the numbers are about.
        scope: which these are, in words.

    Returns:
        the rows about two datasets of one universe at the smallest distance, at most 3, at which some number is known.
    """
    rows: list[RiskRow] = []
    unknown: dict[tuple[str, str], None] = {}
    with evidence(pairs, scope=scope):
        for name, given in STANDARD_ATTACKERS.items():
            try:
                with limited(MOST_ASKED):
                    found = _nearest(spec, mechanism, registry, name, given)
            except DpspecError as fault:
                unknown[name, str(fault)] = None
                continue
            rows += _inside(found)
            unknown |= dict.fromkeys(found.unknown)
    return RiskNumbers(rows=tuple(rows), unknown=tuple(unknown))


def _nearest(
    spec: PrivacySpec, mechanism: Mechanism | None, registry: Registry, name: str, given: Mapping[str, Any]
) -> RiskReport:  # fmt: skip
    """The report at the smallest distance at which something is known of two datasets of one universe."""
    report: RiskReport | None = None
    for distance in range(1, FURTHEST + 1):
        model = attacker_of(registry, name, {**given, "distance": distance})
        try:
            found = risk(spec, model, mechanism)
        except DpspecError:
            if report is None and distance == FURTHEST:
                raise
            continue
        report = report or found
        if any(_inside(found)):
            return found
    if report is None:
        raise AssertionError("the last distance raises")
    return report


def _inside(report: RiskReport) -> Iterator[RiskRow]:
    return (row for row in report.rows if dict(row.at).get("candidates") not in (DISTINGUISHED, UNPROMISED))
