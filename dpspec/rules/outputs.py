"""The rule of block 4: output divergences that bound each other by a constant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.exact import Number
from dpspec.params import define
from dpspec.rule import Rule, Step
from dpspec.rules.scaling import rescaled
from dpspec.spec import PrivacySpec


@define
class OutputDomination(Rule):
    """d_Pr' <= k d_Pr for all laws turns the Lipschitz constant L of a budget into k L.

    The constant is proved by one of the two divergences. What is no constant (a delta that grows, a square) is a `Conversion`.
    """

    name: ClassVar[str] = "output-domination"
    citation: ClassVar[str] = "B-D5, B-T22"

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
