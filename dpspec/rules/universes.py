"""Rules of block 2: what is promised inside large universes is promised inside smaller ones (B-T10, B-T22)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import ClassVar

from dpspec.blocks.determination import Determination, determines
from dpspec.blocks.invariant import Invariant
from dpspec.blocks.space import DatasetSpace
from dpspec.errors import NotInUniverseError
from dpspec.params import define
from dpspec.plural import count as told
from dpspec.rule import Rule, Step
from dpspec.rules.listed import compared_pairs
from dpspec.spec import PrivacySpec


@lru_cache(maxsize=512)
def determined(fine: tuple[Invariant, ...], coarse: tuple[Invariant, ...], space: DatasetSpace) -> Determination:
    """`determines`, remembered: a search asks about the same invariants more than once."""
    return determines(fine, coarse, space)


@define
class FinerUniverses(Rule):
    """Every universe of the conclusion lies in one of the premise: it is the whole space, or its invariants are determined.

    The budget is one number, so that it is the same in every universe.
    """

    name: ClassVar[str] = "finer-universes"
    citation: ClassVar[str] = "B-T10, B-T22"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "inside": "every universe of the conclusion lies in a universe of the premise",
        "one budget": "the budget is the same number in all universes",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        if premise.multiverse == goal.multiverse or premise.space != goal.space or premise.budget.uniform() is None:
            return
        coarse, fine = premise.multiverse.invariants, goal.multiverse.invariants
        if coarse == ():
            reason = "the premise protects across the whole space"
        elif coarse is None or fine is None:
            return
        else:
            found = determined(fine, coarse, goal.space)
            if found.answer is not True:
                return
            reason = f"its invariants determine those of the premise ({found.reason})"
        yield Step(
            rule=self.name,
            block="multiverse",
            before=premise,
            after=premise.replace(multiverse=goal.multiverse),
            reason=reason,
            citation=self.citation,
        )


@define
class ListedUniverses(Rule):
    """Every two datasets that the conclusion compares share a universe of the premise, with a budget that is no larger.

    What is promised is promised about pairs, so no universe need lie in another one. On spaces that can be listed.
    """

    name: ClassVar[str] = "listed-universes"
    citation: ClassVar[str] = "B-D4, B-S13"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "shared": "every two datasets that the conclusion compares share a universe of the premise",
        "no smaller": "in one that they share, the budget of the premise is at most that of the conclusion",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        if premise.multiverse == goal.multiverse or premise.space != goal.space:
            return
        keeps = premise.budget.uniform() is not None
        if not keeps and premise.output_divergence != goal.output_divergence:
            return
        after = premise.replace(multiverse=goal.multiverse, budget=premise.budget if keeps else goal.budget)
        pairs = compared_pairs(after)
        if pairs is None:
            return
        count = 0
        try:
            bounds = {universe.label: premise.bound(universe) for universe in premise.multiverse.universes(premise.space)}
            for universe, left, right in pairs:
                count += 1
                shared = {*premise.multiverse.labels(left, premise.space)} & {*premise.multiverse.labels(right, premise.space)}
                allowed = after.bound(universe)
                if not any(bounds[label] <= allowed for label in shared):
                    return
        except NotInUniverseError:  # a table without a number for a universe
            return
        yield Step(
            rule=self.name,
            block="multiverse",
            before=premise,
            after=after,
            reason=f"{told(count, 'pair')} that the conclusion compares, and each shares a universe of the premise",
            citation=self.citation,
        )
