"""Rules of block 5: a larger budget asks for less."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from dpspec.errors import NotInUniverseError
from dpspec.exact import Number, number
from dpspec.params import define
from dpspec.plural import count as told
from dpspec.rule import Rule, Step
from dpspec.rules.listed import compared_universes
from dpspec.spec import PrivacySpec

_OTHERS = ("space", "multiverse", "input_divergence", "output_divergence")


def constant_of(spec: PrivacySpec) -> Number | None:
    """The Lipschitz constant of a budget that is one number for all universes."""
    value = spec.budget.uniform()
    return None if value is None else spec.output_divergence.lipschitz(spec.budget.parameter, number(value))


def _told(value: Number) -> str:
    """The number for people: in exact form while that is short."""
    text = str(value)
    return text if len(text) <= 30 else f"{value.decimal(12)}..."


@define
class LargerBudget(Rule):
    """eps <= eps' and d_Pr <= eps d_X give d_Pr <= eps' d_X, for one number each, the other blocks as they are."""

    name: ClassVar[str] = "larger-budget"
    citation: ClassVar[str] = "B-D4"

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        given, allowed = constant_of(premise), constant_of(goal)
        if premise.budget == goal.budget or premise.output_divergence != goal.output_divergence:
            return
        if given is not None and allowed is not None and given <= allowed:
            same = given == premise.budget.uniform()
            yield Step(
                rule=self.name,
                block="budget",
                before=premise,
                after=premise.replace(budget=goal.budget),
                reason=f"{_told(given)} <= {_told(allowed)}" + ("" if same else " as Lipschitz constants"),
                citation=self.citation,
            )


@define
class LargerBudgets(Rule):
    """eps_D <= eps'_D in every universe D in which two datasets are compared, on a space that can be listed (B-S13)."""

    name: ClassVar[str] = "larger-budgets"
    citation: ClassVar[str] = "B-D4, B-S13"

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        same = all(getattr(premise, block) == getattr(goal, block) for block in _OTHERS)
        if premise.budget == goal.budget or not same:
            return
        if constant_of(premise) is not None and constant_of(goal) is not None:
            return
        universes = compared_universes(premise)
        if universes is None:
            return
        count = 0
        for universe in universes:
            try:
                if not premise.bound(universe) <= goal.bound(universe):
                    return
            except NotInUniverseError:  # a table without a number for the universe
                return
            count += 1
        yield Step(
            rule=self.name,
            block="budget",
            before=premise,
            after=goal,
            reason=f"no budget is larger in any of {told(count, 'universe')} with datasets to compare",
            citation=self.citation,
        )
