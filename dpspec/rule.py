"""Rules of inference between specifications: what makes one promise follow from another, step by step.

A step (S, S') says that every mechanism that satisfies S satisfies S'. A rule proposes steps that lead from a given S towards
a wanted goal; a derivation is a chain of steps. A rule never has to be complete, but each of its steps has to be true.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import attrs

from dpspec.spec import PrivacySpec


@attrs.frozen(kw_only=True)
class Step:
    """One step of a derivation: every mechanism that satisfies `before` satisfies `after`.

    Args:
        rule: the name of the rule.
        block: the block that changes, such as "input divergence" (its budget may change with it).
        before, after: the two specifications.
        reason: the argument in words.
        citation: where the rule is proved.
        parameters: what the rule was applied with, as JSON data: a constant, a number of steps.
    """

    rule: str
    block: str
    before: PrivacySpec
    after: PrivacySpec
    reason: str
    citation: str
    parameters: Mapping[str, Any] = MappingProxyType({})


class Rule(ABC):
    """A rule of inference, made with `dpspec.define` without parameters and registered under its `name`."""

    name: ClassVar[str]
    citation: ClassVar[str]
    hypotheses: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """What a step rests on: statements by a short name, none of which can be left out. ``dpspec explain`` shows them, and each
    one of the first-party rules has a mechanism in the tests that breaks the conclusion where it alone is dropped."""

    @abstractmethod
    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        """True steps that start at the premise and lead towards the goal; none when the rule does not apply."""
