"""Attacker models: who reads a release, what they know before, and what they want to know.

A budget says nothing to those who must set it. An attacker model turns it into a statement of risk, twice: for the worst
of all mechanisms that satisfy a specification, and for the law of one mechanism. Every statement carries the assumption
without which it does not hold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import ClassVar

import attrs

from dpspec.exact import Bracket, Number
from dpspec.mechanism import Mechanism
from dpspec.spec import PrivacySpec


class Relation(Enum):
    """How the quantity of a risk statement stands to its value."""

    EQUALS = "equals"
    AT_MOST = "at most"
    AT_LEAST = "at least"


@attrs.frozen(kw_only=True)
class RiskStatement:
    """One number about what an attacker can do, with everything it depends on.

    Args:
        quantity: what is measured, such as "power" or "posterior odds by prior odds".
        at: where it is measured, as (name, value) pairs such as ("level", "1/20"); statements about the same quantity at the
            same place are shown side by side.
        relation: how the quantity stands to the value.
        value: the number, exactly or in a rigorous bracket.
        theorem: why it holds: the ID of a theorem, or the computation.
        assumption: what must hold for it besides the specification, in words; "none" if nothing must.
        trivial: the value that no release can go beyond, such as 1 for a probability: a limit there says nothing, and an equality
            is certainty. None where there is no such value.
    """

    quantity: str
    at: tuple[tuple[str, str], ...]
    relation: Relation
    value: Bracket
    theorem: str
    assumption: str
    trivial: Number | None = None

    @property
    def is_vacuous(self) -> bool:
        """Whether it is a limit that every release keeps."""
        if self.relation is Relation.AT_MOST:
            return self.value.lower.is_infinite or (self.trivial is not None and self.value.lower >= self.trivial)
        return self.relation is Relation.AT_LEAST and self.trivial == 0 and self.value.upper == 0

    @property
    def is_certainty(self) -> bool:
        """Whether it says that nothing is left to learn."""
        return self.relation is Relation.EQUALS and self.trivial is not None and self.value.lower == self.trivial


class AttackerModel(ABC):
    """An attacker: knowledge, target and observation, and what follows from them.

    A subclass is made with `dpspec.define`, registers under its `name`, and declares its prior and other parameters.
    """

    name: ClassVar[str]

    title: ClassVar[str]
    """The attacker in one line."""
    knowledge: ClassVar[str]
    """What the attacker knows before the release: the family of priors."""
    target: ClassVar[str]
    """What the attacker wants to know."""
    observation: ClassVar[str]
    """What the attacker sees."""
    assumption: ClassVar[str]
    """What the statements need besides the specification; "none" if nothing."""
    source: ClassVar[str]
    """The IDs of the definitions and theorems."""
    in_panel: ClassVar[bool] = False
    """Whether it is shown, with its defaults, where no attacker is named."""

    @abstractmethod
    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        """What holds for every mechanism that satisfies the specification.

        Raises:
            IncompatibleBlocksError: the attacker does not fit the space, the distance or the output divergence.
        """

    @abstractmethod
    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        """What holds for one mechanism on the space of the specification, from its own laws.

        Raises:
            IncompatibleBlocksError: as for `worst_case`.
            NotEnumerableError: the laws or the datasets cannot be listed.
        """
