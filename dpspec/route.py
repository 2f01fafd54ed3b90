"""Routes: named formulas by which a printed number is recomputed.

An `[[expect]]` row of a specification file names its route, so that a reader knows which formula a published
epsilon came from, and the tool can tell whether that formula gives the printed value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import attrs

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.exact import Bracket, Number
from dpspec.spec import PrivacySpec


@attrs.frozen(kw_only=True)
class Question:
    """What is a budget of one output divergence in terms of another? More than one formula may answer.

    Args:
        source: the divergence to start from.
        value: a budget of it, in the first of its `budget_parameters`.
        goal: the divergence to reach, with its parameters.
    """

    source: OutputDivergence
    value: Number
    goal: OutputDivergence


class Route(ABC):
    """A formula with its parameters; made with `dpspec.define` and registered under its `name`."""

    name: ClassVar[str]

    @abstractmethod
    def value(self, spec: PrivacySpec) -> Bracket:
        """The number, exactly or in a rigorous bracket; parameters left out are read from the specification."""

    def question(self, spec: PrivacySpec) -> Question | None:
        """The question between output divergences that the number answers, so that other formulas can be tried; None if none."""
        return None
