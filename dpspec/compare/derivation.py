"""Derivations: chains of steps, each true, from one specification to another; as data that a small checker can read.

In JSON a derivation holds the specifications as the texts of specification files and is complete in itself:

    {"format": "dpspec-derivation", "version": 1, "premise": TEXT, "conclusion": TEXT,
     "steps": [{"rule", "block", "parameters", "citation", "reason", "before": TEXT, "after": TEXT}, ...]}
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import attrs

from dpspec.errors import ParameterError
from dpspec.extension import Registry
from dpspec.rule import Step
from dpspec.spec import PrivacySpec
from dpspec.specfile.writer import to_toml

FORMAT = "dpspec-derivation"
VERSION = 1


@attrs.frozen(kw_only=True)
class Derivation:
    """Every mechanism that satisfies the premise satisfies the conclusion, because of the steps in between.

    Args:
        premise: where it starts.
        steps: each starts where the one before ends; without any the conclusion is the premise.
    """

    premise: PrivacySpec
    steps: tuple[Step, ...]

    def __attrs_post_init__(self) -> None:
        ends = [self.premise, *(step.after for step in self.steps)]
        if [step.before for step in self.steps] != ends[:-1]:
            raise ParameterError("steps", "each must start where the one before ends")

    @property
    def conclusion(self) -> PrivacySpec:
        """Where it ends."""
        return self.steps[-1].after if self.steps else self.premise

    def then(self, other: Derivation) -> Derivation:
        """This derivation and one that starts at its conclusion, as one."""
        return Derivation(premise=self.premise, steps=(*self.steps, *other.steps))

    def data(self, registry: Registry) -> dict[str, Any]:
        """The derivation as JSON data.

        Raises:
            NotWritableError: a block has no form in a specification file.
        """
        specs = [self.premise, *(step.after for step in self.steps)]
        texts = [to_toml(spec, registry, id=_id(place, len(specs))) for place, spec in enumerate(specs)]
        steps = [
            {
                "rule": step.rule,
                "block": step.block,
                "parameters": dict(step.parameters),
                "citation": step.citation,
                "reason": step.reason,
                "before": before,
                "after": after,
            }
            for step, (before, after) in zip(self.steps, pairwise(texts), strict=True)
        ]
        return {"format": FORMAT, "version": VERSION, "premise": texts[0], "conclusion": texts[-1], "steps": steps}

    def text(self, registry: Registry) -> str:
        """The derivation as the text of a JSON file."""
        return json.dumps(self.data(registry), indent=1, ensure_ascii=False) + "\n"


def _id(place: int, count: int) -> str:
    return "premise" if place == 0 else "conclusion" if place == count - 1 else f"after-step-{place}"
