"""The budget of an adaptive release, stage by stage: what each spends, on which noise, for how many counts that move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs

from dpspec.exact import Number

if TYPE_CHECKING:
    from dpspec_noise.additive import AdditiveNoise

    from dpspec_census.safetab.noise import Planned


@attrs.frozen(kw_only=True)
class Spent:
    """What one stage of one iteration level spends.

    Args:
        level: the iteration level.
        stage: choice or table.
        share: its part of the whole budget.
        budget: that part as a number.
        moved: how many counts move by 1 at most when one person is replaced.
        noise: the noise on every count.
    """

    level: str
    stage: str
    share: Fraction
    budget: Number
    moved: int
    noise: AdditiveNoise


def spending(plan: Sequence[Planned], budget: Number) -> tuple[Spent, ...]:
    """All stages in order; their shares add up to exactly 1, and so their budgets to the whole."""
    return tuple(spent for planned in plan for spent in _stages(planned, budget))


def _stages(planned: Planned, budget: Number) -> Iterator[Spent]:
    level = planned.level
    stages = (("choice", level.choice_share, planned.choosing), ("table", level.table_share, planned.filling))
    for stage, share, noise in stages:
        if noise is not None:
            moved = 2 * planned.population.most
            yield Spent(level=str(level), stage=stage, share=share, budget=budget * share, moved=moved, noise=noise)


def report(stages: Sequence[Spent], parameter: str) -> str:
    """The stages as text, one line each, and their sum.

    Args:
        parameter: the name of the budget's number.
    """
    rows = [(s.level, s.stage, str(s.share), f"{parameter} = {s.budget}", f"{s.moved} counts", s.noise.scale()) for s in stages]
    whole = stages[0].budget
    for spent in stages[1:]:
        whole += spent.budget
    rows.append(("all", "", str(sum(s.share for s in stages)), f"{parameter} = {whole}", "", ""))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows)
