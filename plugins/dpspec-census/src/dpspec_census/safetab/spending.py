"""The budget of an adaptive release, stage by stage: what each spends, on which noise, for how many counts that move."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs

from dpspec.exact import ZERO, Number

if TYPE_CHECKING:
    from dpspec_census.safetab.noise import Planned

Words = Callable[[Number, int], str]
"""The noise of a stage in words, from what it spends and the most groups in which one person counts."""


@attrs.frozen(kw_only=True)
class Spent:
    """What one stage of one iteration level spends.

    Args:
        level: the iteration level.
        stage: choice or table.
        share: its part of the whole budget.
        budget: that part as a number.
        moved: how many counts move by 1 at most when one person is replaced.
        noise: the noise on every count, in words.
    """

    level: str
    stage: str
    share: Fraction
    budget: Number
    moved: int
    noise: str

    def data(self) -> dict[str, Any]:
        """The entry of a report."""
        return {**attrs.asdict(self), "share": str(self.share), "budget": str(self.budget)}


def spending(plan: Sequence[Planned], budget: Number, words: Words) -> tuple[Spent, ...]:
    """All stages in order; their shares add up to exactly 1, and so their budgets to the whole."""
    return tuple(spent for planned in plan for spent in _stages(planned, budget, words))


def _stages(planned: Planned, budget: Number, words: Words) -> Iterator[Spent]:
    level, most = planned.level, planned.population.most
    for stage, share in (("choice", level.choice_share), ("table", level.table_share)):
        if share:
            part = budget * share
            yield Spent(level=str(level), stage=stage, share=share, budget=part, moved=2 * most, noise=words(part, most))


def report(stages: Sequence[Spent], parameter: str) -> dict[str, Any]:
    """The stages and their sum, as data for the report of a release.

    Args:
        parameter: the name of the budget's number.
    """
    whole = sum((spent.budget for spent in stages), ZERO)
    return {"budget": parameter, "stages": [spent.data() for spent in stages], "sum": str(whole)}
