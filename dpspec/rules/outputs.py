"""Rules of block 4: output divergences that bound each other by a constant, and budgets of 0 that ask for equal laws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.exact import ZERO, Number
from dpspec.params import define
from dpspec.rule import Rule, Step
from dpspec.rules.budgets import constant_of
from dpspec.rules.scaling import rescaled
from dpspec.spec import PrivacySpec


@define
class OutputDomination(Rule):
    """d_Pr' <= k d_Pr for all laws turns the Lipschitz constant L of a budget into k L.

    The constant is proved by one of the two divergences. What is no constant (a delta that grows, a square) is a `Conversion`.
    """

    name: ClassVar[str] = "output-domination"
    citation: ClassVar[str] = "B-D5, B-T22"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "constant": "d_Pr' <= k d_Pr for all laws",
        "rescaled": "the new Lipschitz constant is at least k times the old one in every universe",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        source, target = premise.output_divergence, goal.output_divergence
        known = None if source == target else least_factor(source, target)
        budget = None if known is None else rescaled(premise.budget, source, target, known[0])
        if known is None or budget is None:
            return
        yield Step(
            rule=self.name,
            block="output divergence",
            before=premise,
            after=premise.replace(output_divergence=target, budget=budget),
            reason=known[1],
            citation=self.citation,
            parameters={"constant": str(known[0])},
        )


def least_factor(source: OutputDivergence, target: OutputDivergence) -> tuple[Number, str] | None:
    """The constant k with d_Pr' <= k d_Pr, as either of the two knows it."""
    return target.bounded_by(source) or source.bounds(target)


@define
class EqualLaws(Rule):
    """A budget of 0 asks for d_Pr(P_x, P_x') = 0 at every finite distance, and so for equal laws where only they are at 0.

    Equal laws are at 0 by every output divergence. (0, delta)-privacy and hockey sticks above epsilon = 0 ask for less.
    """

    name: ClassVar[str] = "equal-laws"
    citation: ClassVar[str] = "B-D5, B-S5"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "separates laws": "d_Pr(P, Q) = 0 for P = Q alone",
        "budget 0": "the old budget is 0 in every universe",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        source, target = premise.output_divergence, goal.output_divergence
        if source == target or constant_of(premise) != ZERO or not source.separates_laws():
            return
        budget = UniformBudget(parameter=target.budget_parameters[0], value=ZERO)
        yield Step(
            rule=self.name,
            block="output divergence",
            before=premise,
            after=premise.replace(output_divergence=target, budget=budget),
            reason=f"only equal laws are at 0 by {source.name}, and they are at 0 by every output divergence",
            citation=self.citation,
        )
