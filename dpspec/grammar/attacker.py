"""Attacker models and tolerated risk: the meaning of a budget in terms of attacks, and the budget that keeps a risk within a
limit.

A budget says nothing to those who must set it. An attacker model turns it into a statement of risk, twice: for the worst
of all mechanisms that satisfy a specification, and for the law of one mechanism. Every statement carries the assumption
without which it does not hold.

A tolerance is the inverse: the risk that is acceptable, and the budget that follows, before any data are seen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import Enum
from typing import ClassVar

import attrs

from dpspec.base.errors import NoFormulaError
from dpspec.base.exact import Bracket, Number, rounded_down
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.space import Record
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.grammar.tables import Table


class Sense(Enum):
    """The relation of the quantity of a risk statement to its value: equal, at most, at least."""

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
        relation: the relation of the quantity to the value.
        value: the number, exactly or in a rigorous bracket.
        theorem: why it holds: the ID of a theorem, or the computation.
        assumption: what it assumes in addition to the specification, in words; "none" if nothing.
        trivial: the value that no release can go beyond, such as 1 for a probability: a limit there says nothing, and an equality
            is certainty. None where there is no such value.
    """

    quantity: str
    at: tuple[tuple[str, str], ...]
    relation: Sense
    value: Bracket
    theorem: str
    assumption: str
    trivial: Number | None = None

    @property
    def is_vacuous(self) -> bool:
        """Whether it is a limit that every release keeps."""
        if self.relation is Sense.AT_MOST:
            return self.value.lower.is_infinite or (self.trivial is not None and self.value.lower >= self.trivial)
        return self.relation is Sense.AT_LEAST and self.trivial == 0 and self.value.upper == 0

    @property
    def is_certainty(self) -> bool:
        """Whether it says that nothing is left to learn."""
        return self.relation is Sense.EQUALS and self.trivial is not None and self.value.lower == self.trivial


class AttackerModel(ABC):
    """An attacker: knowledge, target and observation, and what follows from them.

    A subclass is made with `dpspec.define`, registers under its `name`, and declares its prior and other parameters.
    """

    name: ClassVar[str]

    title: ClassVar[str]
    """The attacker in one line."""
    knowledge: ClassVar[str]
    """The prior knowledge of the attacker: the family of priors."""
    target: ClassVar[str]
    """The goal of the attacker."""
    observation: ClassVar[str]
    """The observation of the attacker."""
    assumption: ClassVar[str]
    """The assumptions of the statements in addition to the specification; "none" if there are none."""
    source: ClassVar[str]
    """The IDs of the definitions and theorems."""
    in_panel: ClassVar[bool] = False
    """Whether it is shown, with its defaults, where no attacker is named."""

    @abstractmethod
    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        """Statements that hold for every mechanism that satisfies the specification.

        Raises:
            IncompatibleBlocksError: the attacker does not fit the space, the distance or the output divergence.
        """

    @abstractmethod
    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        """Statements that hold for one mechanism on the space of the specification, from its own laws.

        Raises:
            IncompatibleBlocksError: as for `worst_case`.
            NotEnumerableError: the laws or the datasets cannot be listed.
        """

    def named_datasets(self) -> tuple[object, ...]:
        """The datasets that the parameters name, where they name some: two of them may refute the claim of the mechanism."""
        return ()


# --- attacks on tables ------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, eq=False)
class AttackScene:
    """The information available to an attacker in an experiment on a table: everything that is published, and the mechanism.

    Args:
        spec, mechanism: the specification, and the mechanism, but not its random bits.
        size: the number of records in the data.
        published: the tables that are published exactly, with their counts by cell.
        released: the released records; None where the mechanism releases no records of the space.
        output: the release as an outcome of `Mechanism.law`; None where it is not one.
    """

    spec: PrivacySpec
    mechanism: Mechanism
    size: int
    published: Mapping[Marginal, Mapping[tuple[str, ...], int]]
    released: Table | None
    output: object = None


@attrs.frozen(kw_only=True)
class AttackGuess:
    """The guess of an attacker of the secret of one target.

    Args:
        best: the values of the secret attributes that are named, each as likely as the others; () where nothing is known, so that
            every value is as likely.
        is_claim: whether the attacker claims to have identified the target, and does not only guess.
        undecided: whether the attack did not end, for instance at a limit of work.
    """

    best: tuple[Record, ...]
    is_claim: bool = False
    undecided: bool = False


class TableAttacker(AttackerModel):
    """An attacker of a released table, whose success is measured by an experiment (`dpspec attack`).

    What such an attacker achieves is a fact about one mechanism and one table. Nothing follows from it for other mechanisms.
    """

    @abstractmethod
    def guess(self, scene: AttackScene, known: Mapping[str, str], secret: tuple[str, ...]) -> AttackGuess:
        """The secret of one target.

        Args:
            scene: the published release.
            known: the attributes of the target that the attacker knows.
            secret: the attributes that are wanted.

        Raises:
            AttackerMisfitError: the release is of another kind than this attack reads.
            NotEnumerableError: too many datasets or laws would have to be listed.
        """

    def worst_case(self, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        raise self._no_formula()

    def under(self, mechanism: Mechanism, spec: PrivacySpec) -> tuple[RiskStatement, ...]:
        raise self._no_formula()

    def _no_formula(self) -> NoFormulaError:
        rule = "is an experiment on a table, for which there is no formula"
        return NoFormulaError(f"attacker {self.name}", rule, "run dpspec attack SPEC TABLE --secret ATTR")


# --- tolerances -----------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Recommendation:
    """The largest budget under which a tolerated risk is kept.

    Args:
        parameter: the name of the budget, such as epsilon.
        value: the least upper bound of the budgets that keep it, exactly or in a bracket. Infinity means no constraint.
        given: the other parameters of the budget, as (name, value) pairs such as ("delta", "1e-8"), ("releases", "12").
        at: the attacker for whom the requirement binds, as (name, value) pairs such as ("p", "1"), ("q", "1/12").
        attained: whether that attacker is one the requirement speaks about; if not, it is approached by such.
        binding: the requirement that binds, in words.
        method: "closed form", or how the number was found.
        theorem: why it holds: the ID of a theorem, or the computation.
        assumption: what it assumes in addition to the specification, in words.
        not_covered: attackers about whom the requirement says nothing, one line each.
        consequences: properties of a release under this budget, such as the standard deviation of its noise.
    """

    parameter: str
    value: Bracket
    given: tuple[tuple[str, str], ...] = ()
    at: tuple[tuple[str, str], ...]
    attained: bool = True
    binding: str
    method: str
    theorem: str
    assumption: str
    not_covered: tuple[str, ...] = ()
    consequences: tuple[RiskStatement, ...] = ()

    @property
    def stated(self) -> str:
        """The budget as a short decimal that is not above it: rounded up, it would break the tolerance."""
        return rounded_down(self.value.lower)


class Tolerance(ABC):
    """A tolerated risk: a bound on what an attacker may learn, stated without data.

    A subclass is declared with `dpspec.define`, and registers under its `name`. `recommend` has no argument: a budget that
    depended on the data would itself disclose something about them.
    """

    name: ClassVar[str]

    title: ClassVar[str]
    """The tolerated risk in one line."""
    source: ClassVar[str]
    """The IDs of the definitions and theorems."""

    @abstractmethod
    def recommend(self) -> Recommendation:
        """The largest budget that keeps the tolerated risk.

        Raises:
            ProfileBelowOneError: less is tolerated than what the attacker knows without any release.
        """
