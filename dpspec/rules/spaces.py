"""The rule of block 1: what is promised about all datasets is promised about some of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from dpspec.errors import DpspecError
from dpspec.params import define
from dpspec.rule import Rule, Step
from dpspec.spec import PrivacySpec


@define
class SmallerSpace(Rule):
    """X' is a part of X, made of the same records; a mechanism on X is one on X' too, and its laws there are the same.

    Asked of the input divergence is d <= d' on X', since a distance may look at the whole space (shortest paths get longer),
    and of the universes that invariants cut them out, since D'_c(x) is then D_c(x) within X'. The budget is one number.
    """

    name: ClassVar[str] = "smaller-space"
    citation: ClassVar[str] = "B-D4, B-S1"
    hypotheses: ClassVar[Mapping[str, str]] = {
        "part": "every dataset of the new space is one of the old space, made of the same records",
        "distances do not shrink": "d(x, x') on the new space is at least d(x, x') on the old one",
        "universes of invariants": "the universe of x on the new space is that on the old one, cut to the new space",
        "one budget": "the budget is the same number in all universes of both spaces",
    }

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        if premise.space == goal.space or premise.budget.uniform() is None or premise.multiverse.invariants is None:
            return
        reason = premise.space.includes(goal.space)
        if reason is None or not premise.input_divergence.grows_on_subspaces:
            return
        try:
            after = premise.replace(space=goal.space)
        except DpspecError:  # an invariant names a category that the smaller space lacks
            return
        yield Step(rule=self.name, block="space", before=premise, after=after, reason=reason, citation=self.citation)
