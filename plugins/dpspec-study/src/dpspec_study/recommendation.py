"""The recommended design: the one with the least error among those whose promise is verified and whose risk is bounded.

The recommendation holds numbers of whole tables, and no count and no category of a cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs
from dpspec_disclosure.design_risk import TABLE, WORST
from dpspec_disclosure.tradeoff import TradePoint, risk_in_words
from dpspec_disclosure.utility import METRICS

from dpspec.plugin import number
from dpspec.plugin.applications import budget_in_words, count, level_in_words

if TYPE_CHECKING:
    from dpspec_disclosure.design_risk import RiskFound
    from dpspec_disclosure.utility import ErrorFound

    from dpspec.plugin.applications import FileReport
    from dpspec_study.designs import Proposal
    from dpspec_study.question import Question


@attrs.frozen(kw_only=True)
class StudiedDesign:
    """A design with all that was found of it.

    Args:
        proposal: what was proposed.
        value: of the parameter that was solved for; None where there is none, or none has the risk.
        unsolved: why no value has the risk; "" where one has.
        point: its risks and its error.
        report: what `dpspec verify` found of its file.
    """

    proposal: Proposal
    value: Fraction | None
    unsolved: str
    point: TradePoint
    report: FileReport

    @property
    def name(self) -> str:
        return self.proposal.name

    @property
    def parameter(self) -> str:
        """The parameter with its value; "" where none was solved for."""
        if self.value is None:
            return ""
        return f"{self.proposal.varied.removeprefix('mechanism.')} = {number(self.value).plain()}"

    @property
    def is_verified(self) -> bool:
        """Whether its claim was verified on the whole space."""
        standing = self.report.standing
        return standing.word.is_good and bool(standing.verdicts) and all(v.scope == WHOLE for v in standing.verdicts)

    @property
    def verdict(self) -> str:
        """What was found of its claim, in a few words."""
        if self.is_verified:
            return f"verified for data of any size{self.report.standing.suffix}"
        standing = self.report.standing
        pairs = [v for v in standing.verdicts if v.witness is not None and v.constant is not None]
        if standing.is_false and any(v.constant.lower.is_infinite for v in pairs if v.constant is not None):
            return "no finite budget holds: two datasets are distinguished with certainty"
        return "refuted: its promise is false" if standing.is_false else standing.label

    def is_within(self, risk: Fraction) -> bool:
        """Whether its risk is at most this one in the worst universe, by an upper bound."""
        found = self.point.risks[WORST]
        return found.value is not None and found.sense != "at least" and bool(found.value.upper <= risk)

    def why_not(self, risk: Fraction) -> str:
        """Why it cannot be recommended; "" where it can."""
        if not self.is_verified:
            return self.verdict
        if self.unsolved:
            return f"no parameter has the risk: {self.unsolved}"
        if not self.is_within(risk):
            return "its risk has no known upper bound that is small enough"
        return "" if self.point.error.value is not None else f"its error is not known: {self.point.error.reason}"


WHOLE = "the whole space"


def ranked(designs: Sequence[StudiedDesign], risk: Fraction) -> list[StudiedDesign]:
    """The designs that can be recommended, by their error."""
    able = [design for design in designs if not design.why_not(risk)]
    return sorted(able, key=lambda design: (design.point.error.value or 0.0, design.name))


def recommendation(
    designs: Sequence[StudiedDesign], question: Question, determined: tuple[int, int, int] | None = None
) -> tuple[str, ...]:
    """Five sentences: the design, the reason, the risk, the promise, and what was not considered.

    Args:
        designs, question: what was compared.
        determined: records that the exact tables of the swap determine, those that are undecided, and all; None where not known.
    """
    able = ranked(designs, question.risk)
    reasons: dict[str, list[str]] = {}
    for one in designs:
        if one.why_not(question.risk):
            reasons.setdefault(one.why_not(question.risk), []).append(one.name)
    others = "; ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items())
    if not able:
        return (
            "Recommendation: none of the designs that were compared.",
            "Reason: no design has a verified promise, a bounded risk and a known error.",
            f"Requested attacker risk: {_risk_in_words(question)}.",
            "Promise: none.",
            f"Not recommended: {others}.",
        )  # fmt: skip
    best, *rest = able
    return (
        f"Recommendation: {best.name}, {best.proposal.title}{', ' + best.parameter if best.parameter else ''}.",
        f"Reason: {_reason(best, rest, question)}.",
        f"Attacker risk: {_risk_in_words(question)}; of {best.name} it is {risk_text(best.point.risks[WORST])}, "
        f"for {best.point.risks[WORST].protects}.",
        f"Promise: {budget_in_words(best.report.document.spec.budget)} for one replaced {question.unit}, "
        f"{best.verdict}{_exact(best, determined)}.",
        f"Not recommended: {others or 'nothing'}.",
    )


def _exact(best: StudiedDesign, determined: tuple[int, int, int] | None) -> str:
    """What a design publishes exactly, and what that alone determines: the risk of an exchange says nothing about it."""
    held = best.report.document.spec.multiverse.induced_by() or ()
    if not held:
        return ""
    known = "an unknown number of"
    if determined is not None:
        sure, undecided, of = determined
        known = f"{sure:,} to {sure + undecided:,} of {of:,}" if undecided else f"{sure:,} of {of:,}"
    tables = " and ".join(map(str, held))
    return f"; it publishes {tables} exactly, of which nothing is promised and which alone determine {known} records"


def _reason(best: StudiedDesign, rest: Sequence[StudiedDesign], question: Question) -> str:
    named = METRICS[question.metric].split(",")[0]
    if not rest:
        return f"the only design with a verified promise and a bounded risk; its {named} is {error_text(best.point.error)}"
    shown = f"{error_text(best.point.error)}, against " + ", ".join(
        f"{error_text(one.point.error)} of {one.name}" for one in rest
    )
    unsure = [one.name for one in rest if _may_be_equal(best.point.error, one.point.error)]
    if unsure:
        return f"its {named} is {shown}; the difference to {' and '.join(unsure)} is within the error of the simulation"
    return f"the smallest {named} of {count(len(rest) + 1, 'design')} with a verified promise at this risk: {shown}"


def _may_be_equal(least: ErrorFound, other: ErrorFound) -> bool:
    """Whether a simulation does not show which of two errors is the smaller one."""
    if not (least.runs or other.runs):
        return False
    return least.high is None or other.low is None or least.high >= other.low


def _risk_in_words(question: Question) -> str:
    match = f" of equal {', '.join(question.match)}" if question.match else ""
    return (
        f"a test with {level_in_words(question.level)} false alarms finds that two {question.unit} records{match} have exchanged "
        f"{', '.join(question.exchange)} with probability at most {number(question.risk).plain()}"
    )


def risk_text(found: RiskFound) -> str:
    """A risk with its sense."""
    return "not known" if found.value is None else risk_in_words(found.value, found.sense)


def error_text(found: ErrorFound) -> str:
    """An error, with its interval where it was simulated."""
    if found.value is None:
        return "not known"
    left = f", {_plain(found.left_out)} cells without a number" if found.left_out else ""
    if not found.runs:
        return f"{_plain(found.value)}{left}"
    if found.low is None or found.high is None:
        return f"{_plain(found.value)} (equal in all {found.runs} runs){left}"
    return f"{_plain(found.value)} ({_plain(found.low)} to {_plain(found.high)}){left}"


def _plain(value: float) -> str:
    """To four figures.

    >>> _plain(0.89996), _plain(13.81), _plain(123456.0)
    ('0.9', '13.81', '123,456')
    """
    return f"{value:,.0f}" if 10_000 <= abs(value) < 1e15 else f"{value:.4g}"


def rows(designs: Sequence[StudiedDesign], question: Question) -> Iterator[tuple[str, ...]]:
    """For each design: name and parameter, promise, verdict, the two risks, the error, and whether it can be recommended."""
    for one in designs:
        budget = budget_in_words(one.report.document.spec.budget) if one.is_verified else "none"
        yield (
            one.name, one.parameter or "-", budget, one.verdict,
            risk_text(one.point.risks[WORST]), risk_text(one.point.risks[TABLE]),
            error_text(one.point.error), one.why_not(question.risk) or "yes",
        )  # fmt: skip


HEADS = ("design", "parameter", "promise", "verdict", "risk, worst case", "risk, this table", "error", "can be recommended")
