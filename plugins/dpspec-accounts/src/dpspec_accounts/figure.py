"""Figure of an account: its charges against its cap, and the cost of planned releases."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from dpspec.plugin import ParameterError, exact
from dpspec.plugin.applications import CurveLine, CurvePanel, Figure, chart, count, thing_in_words
from dpspec_accounts.account import Statement, totals_of
from dpspec_accounts.planning import SpendingPlan

MOST_PLANNED = 10_000
"""So many planned releases are drawn at most."""


def spending(found: Statement, plan: SpendingPlan | None = None, *, size: str = "slide", theme: str = "light") -> Figure:
    """The total after each charge, the cap, and the planned releases after it; of one period where there are periods.

    Args:
        found: the account.
        plan: planned releases, as of `dpspec account plan` of this account.
        size, theme: as of `chart`.

    Raises:
        ParameterError: the plan is in another parameter than the account, or has too many releases.
    """
    parameter, squares = found.frame.cap.parameter, found.frame.filter.squares
    changes = (change for change in totals_of(found.frame, found.history) if change[0].content.get("period") == found.period)
    totals = [0.0, *(float(total.value) for _, total in changes)]
    spent = tuple((float(place), value) for place, value in enumerate(totals))
    lines = [CurveLine(name="spent", points=_steps(spent), colour=0)]
    last = spent[-1][0]
    if plan is not None:
        if plan.cap.parameter != parameter:
            raise ParameterError("plan", f"is in {plan.cap.parameter}, and the account in {parameter}", "plan with the account")
        budgets = [float(one.budget) for one in plan.releases for _ in range(one.release.times)]
        if len(budgets) > MOST_PLANNED:
            raise ParameterError("plan", f"has more than {MOST_PLANNED:,} releases", "draw a shorter plan", value=len(budgets))
        planned = tuple(_planned(spent[-1], budgets, squares=squares))
        lines.append(CurveLine(name="planned", points=_steps(planned), dashed=True, colour=1))
        last = planned[-1][0]
    cap = float(found.frame.cap.value)
    lines.append(CurveLine(name="cap", points=((0.0, cap), (max(last, 1.0), cap)), colour=2))
    panel = CurvePanel(title=parameter, axis="releases, charged and voided, in their order", lines=tuple(lines))
    left = "" if found.remainder is None else f", left {parameter} = {exact.rounded_down(found.remainder.value)}"
    counted = [charge for charge in found.history.counted if charge.content.get("period") == found.period]
    note = f"{count(len(counted), 'charge')} in {thing_in_words(found.frame.spec.output_divergence)}{left}"
    of_period = "" if found.period is None else f", {found.period}"
    return chart(f"{found.frame.document.title}{of_period}: what is spent", [panel], size=size, theme=theme, note=note)


def _planned(start: tuple[float, float], budgets: list[float], *, squares: bool) -> Iterator[tuple[float, float]]:
    """The total after each planned release, where budgets or their squares add."""
    place, total = start
    yield place, total
    for budget in budgets:
        place += 1
        total = (total**2 + budget**2) ** 0.5 if squares else total + budget
        yield place, total


def _steps(points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    """A total stays as it is until the next charge."""
    corners = [points[0]]
    for (_, before), (place, after) in itertools.pairwise(points):
        corners += [(place, before), (place, after)]
    return tuple(corners)

