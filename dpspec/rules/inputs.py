"""Rules of block 3: distances that bound each other (B-T22, B-X7), and neighbours that are joined to paths (B-S2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from dpspec.blocks.input_divergence import InputDivergence
from dpspec.exact import Number
from dpspec.params import define
from dpspec.rule import Rule, Step
from dpspec.rules.scaling import rescaled
from dpspec.spec import PrivacySpec


@define
class InputDomination(Rule):
    """d <= c d' on the space, for a constant c, turns a budget eps per unit of d into c eps per unit of d'.

    d_Pr <= eps d <= c eps d'. The constant is proved by one of the two divergences (`bounded_by`, `bounds`): fixed sizes halve
    the symmetric difference, a stated largest household bounds what a household changes, a stated degree what a node does.
    """

    name: ClassVar[str] = "input-domination"
    citation: ClassVar[str] = "B-D5, B-T22, B-X7"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "constant": "d <= c d' for all datasets of the space",
        "rescaled": "the new budget is at least c times the old one in every universe",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        if premise.input_divergence == goal.input_divergence or premise.space != goal.space:
            return
        known = bound_of(premise.input_divergence, goal)
        if known is None:
            return
        budget = rescaled(premise.budget, premise.output_divergence, premise.output_divergence, known[0])
        if budget is None:
            return
        yield Step(
            rule=self.name,
            block="input divergence",
            before=premise,
            after=premise.replace(input_divergence=goal.input_divergence, budget=budget),
            reason=known[1],
            citation=self.citation,
            parameters={"constant": str(known[0])},
        )


def bound_of(smaller: InputDivergence, goal: PrivacySpec) -> tuple[Number, str] | None:
    """The constant c with d <= c d' for the input divergence d' of the goal, as either of the two knows it."""
    larger = goal.input_divergence
    return smaller.bounded_by(larger, goal.space) or larger.bounds(smaller, goal.space)


@define
class NeighboursToPaths(Rule):
    """A bound for neighbours is one for every path of k neighbours, k times as large (B-S2).

    Two conditions: the output divergence obeys the triangle inequality, and the path stays inside the universe, which is sure
    where the universe is the whole space.
    """

    name: ClassVar[str] = "neighbours-to-paths"
    citation: ClassVar[str] = "B-S2, B-S3, B-D10"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "triangle inequality": "d_Pr(P, R) <= d_Pr(P, Q) + d_Pr(Q, R) for all laws",
        "paths inside": "a shortest path of neighbours between two datasets of a universe runs inside it",
        "same neighbours": "the new distance counts steps between the neighbours of the old one",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        given = premise.input_divergence
        path = given.path_form() if given.is_neighbour_form else None
        if path is None or given == goal.input_divergence:
            return
        if premise.multiverse.invariants != () or not premise.output_divergence.is_metric:
            return
        yield Step(
            rule=self.name,
            block="input divergence",
            before=premise,
            after=premise.replace(input_divergence=path),
            reason=f"{premise.output_divergence.name} obeys the triangle inequality, and paths stay in the one universe",
            citation=self.citation,
        )
