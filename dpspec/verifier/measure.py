r"""Measuring: the least budget that a mechanism or a function needs, as a bracket.

Without the budget a claim imposes no constraint, and what `verify` proves of it is the Lipschitz constant itself:

    c = sup d_Pr(P_x, P_x') / d_X(x, x')    over all x, x' of a common universe at finite non-zero distance.

Its upper end is proved, its lower end is attained by a pair of datasets. Where the two ends differ, or nothing was proved, claims
in between are verified: a refuted claim raises the lower end, a verified one lowers the upper end. A lower end that
rests on draws is wrong with at most the probability `error` of `verify`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import attrs

from dpspec.base.exact import INFINITY, ZERO, Bracket, Number, number
from dpspec.base.log_linear import dyadic
from dpspec.blocks.budget import UniformBudget
from dpspec.grammar.spec import PrivacySpec
from dpspec.verifier.exhaustive import as_guarantee
from dpspec.verifier.verdict import Outcome, Verdict

TRIES = 6
"""The number of claims between the ends that are verified: six halvings leave a gap of a 64th."""

CLOSE = 1 / 64
"""The relative gap of the ends, as a part of the upper one, below which they are not narrowed further."""

JUST_BELOW = 0.999
"""The claim that shows the event: this part of a lower end that a pair attains."""

FINITE = 1_000
"""A budget at which a mechanism without a finite constant is refuted, by a pair of datasets that are infinitely far apart."""

DIGITS = 6
"""The claims have so many significant digits, since they are printed."""

ClaimJudge = Callable[[PrivacySpec, Fraction], Verdict]
"""Judges a specification in a share of the time."""


@attrs.frozen(kw_only=True)
class Measurement:
    """The answer.

    Args:
        spec: the blocks; the budget is infinite.
        constant: the least Lipschitz constant.
        proved: the verdict that proves the upper end; None where there is no finite one.
        refuted: the verdict whose pair and event show that less is not enough; None where there is none.
        first: the verdict on the blocks without a budget, with what was not understood.
        tried: the budgets that were claimed, each with how it ended.
    """

    spec: PrivacySpec
    constant: Bracket
    proved: Verdict | None
    refuted: Verdict | None
    first: Verdict
    tried: tuple[tuple[Number, Outcome], ...]

    @property
    def parameter(self) -> str:
        """The name of the budget."""
        return self.spec.budget.parameter

    @property
    def budget(self) -> Bracket:
        """The least budget, in units of `parameter`."""
        to = self.spec.output_divergence.budget_for
        return Bracket(lower=to(self.parameter, self.constant.lower), upper=to(self.parameter, self.constant.upper))

    @property
    def is_vacuous(self) -> bool:
        """Whether no checked universe contains two datasets at a finite distance: then the claim imposes no constraint."""
        return bool(self.first.universes) and all(result.is_vacuous for result in self.first.universes)

    @property
    def by_draws(self) -> bool:
        """Whether the lower end rests on draws."""
        return self.refuted is not None and self.refuted.method == "sampled"

    @property
    def exit_code(self) -> int:
        """0 where a finite budget was proved or the need of an infinite one shown, else 3."""
        return 3 if self.constant.upper.is_infinite and not self.constant.lower.is_infinite else 0


def without_budget(spec: PrivacySpec) -> PrivacySpec:
    """The specification with an infinite budget, which is no constraint."""
    return spec.replace(budget=UniformBudget(parameter=spec.budget.parameter, value=INFINITY))


def measure(judge: ClaimJudge, spec: PrivacySpec) -> Measurement:
    """The least budget under the blocks of a specification.

    Args:
        judge: verifies a specification, in a share of the total time.
        spec: the blocks; the budget is ignored.
    """
    blocks = without_budget(spec)
    first = judge(blocks, Fraction(1, 2))
    if first.outcome is Outcome.VERIFIED and len(first.vacuous) == len(first.universes):  # nothing was compared
        anything = Bracket(lower=ZERO, upper=INFINITY)
        return Measurement(
            spec=blocks, constant=anything, proved=None, refuted=None, first=as_guarantee(first, blocks), tried=()
        )
    decided = first.outcome is not Outcome.UNDECIDED
    low, high = (first.constant.lower, first.constant.upper) if decided else (ZERO, INFINITY)
    proved, refuted = (None if high.is_infinite else first), None
    tried: list[tuple[Number, Outcome]] = []

    def claimed(bound: Fraction) -> Verdict:
        value = blocks.output_divergence.budget_for(blocks.budget.parameter, number(bound))
        verdict = judge(
            blocks.replace(budget=UniformBudget(parameter=blocks.budget.parameter, value=value)), Fraction(1, 2 * TRIES)
        )
        tried.append((value, verdict.outcome))
        return verdict

    reach = math.inf if high.is_infinite else float(high)  # above it nothing is claimed again
    while math.isfinite(float(low)) and len(tried) < TRIES and (math.isinf(reach) or reach - float(low) > CLOSE * reach):
        bound = _between(float(low), reach)
        verdict = claimed(bound)
        if verdict.outcome is Outcome.REFUTED:
            low, refuted = max(number(bound), _shown(verdict)), verdict
            continue
        reach = float(bound)
        if verdict.outcome is Outcome.VERIFIED:
            high, proved = min(high, verdict.constant.upper), verdict
    if refuted is None and low > 0:
        verdict = claimed(Fraction(FINITE) if low.is_infinite else _just_below(low))
        refuted = verdict if verdict.outcome is Outcome.REFUTED else None
    return Measurement(
        spec=blocks, constant=Bracket(lower=low, upper=high), proved=proved, refuted=refuted, first=first, tried=tuple(tried)
    )


def _just_below(low: Number) -> Fraction:
    size = float(low)
    return _short(size * JUST_BELOW) if 0 < size < math.inf else dyadic(low.enclose().lower()) * Fraction(JUST_BELOW)


def _between(low: float, reach: float) -> Fraction:
    """The next claim: in the middle, or four times the lower end where nothing bounds it from above."""
    if math.isinf(reach):
        return _short(4 * low or 1.0)
    return _short((low + reach) / 2)


def _short(value: float) -> Fraction:
    """A number near to a double, with few digits."""
    return Fraction(f"{value:.{DIGITS}g}")


def _shown(verdict: Verdict) -> Number:
    """The constant that the pair of a refutation shows, where that is exact; else 0."""
    witness = verdict.witness
    if witness is None or verdict.method == "sampled" or witness.distance == 0:
        return ZERO
    if witness.divergence.lower.is_infinite:
        return INFINITY
    return witness.divergence.lower / witness.distance if witness.distance.is_rational else ZERO
