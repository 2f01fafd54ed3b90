"""Rules of block 5: a larger budget asks for less."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    hypotheses: ClassVar[Mapping[str, str]] = {
        "no smaller": "the Lipschitz constant of the new budget is at least that of the old one",
    }

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
    """eps_D <= eps'_D in every universe D in which two datasets are compared (B-S13).

    That is seen from the two budgets themselves, or on the list of a small space.
    """

    name: ClassVar[str] = "larger-budgets"
    citation: ClassVar[str] = "B-D4, B-S13"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "in every universe": "the new budget is at least the old one in every universe with datasets at finite distance",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        same = all(getattr(premise, block) == getattr(goal, block) for block in _OTHERS)
        if premise.budget == goal.budget or not same:
            return
        if constant_of(premise) is not None and constant_of(goal) is not None:
            return
        reason = premise.budget.within(goal.budget) or _listed(premise, goal)
        if reason is not None:
            yield Step(rule=self.name, block="budget", before=premise, after=goal, reason=reason, citation=self.citation)


def _listed(premise: PrivacySpec, goal: PrivacySpec) -> str | None:
    """The comparison universe by universe, where they can be listed."""
    universes = compared_universes(premise)
    if universes is None:
        return None
    count = 0
    for universe in universes:
        try:
            if not premise.bound(universe) <= goal.bound(universe):
                return None
        except NotInUniverseError:  # a table without a number for the universe
            return None
        count += 1
    return f"no budget is larger in any of {told(count, 'universe')} with datasets to compare"
