"""What a comparison of two specifications says: each direction derived, separated or unknown, block by block (B-T22)."""

from __future__ import annotations

import enum
from typing import NoReturn

import attrs

from dpspec.blocks.space import Dataset
from dpspec.compare.derivation import Derivation
from dpspec.mechanism import Mechanism
from dpspec.spec import PrivacySpec


class Answer(enum.Enum):
    """Whether one specification implies another."""

    IMPLIES = "implies"
    SEPARATED = "does not imply"
    UNKNOWN = "unknown"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"an answer is not a truth value: compare it, as in `answer is Answer.{self.name}`")


class Relation(enum.Enum):
    """How two specifications stand to each other."""

    EQUIVALENT = "equivalent"
    IMPLIES = "implies"
    IMPLIED_BY = "implied by"
    INCOMPARABLE = "incomparable"
    UNKNOWN = "unknown"


@attrs.frozen(kw_only=True)
class Finding:
    """One line of the argument about S => S': a step that was found, or what is missing.

    Args:
        block: which of the five.
        holds: True, False, or None when it could not be decided.
        reason: the argument, with its source.
        factor: for a divergence, the constant by which it passes to the budget, as exact text.
        rule: for a step, the rule that it applies.
    """

    block: str
    holds: bool | None
    reason: str
    factor: str = "1"
    rule: str | None = None


@attrs.frozen(kw_only=True)
class Separation:
    """A mechanism that satisfies the one specification and not the other, checked by the exact engine.

    Args:
        mechanism: what it does, in words.
        argument: why it satisfies the first specification on the whole space.
        left, right: two datasets at which it breaks the second one.
        checks: what the engine said, for the first specification on the instance and for the second one on the two datasets.
        run: the mechanism itself.
        instance: the datasets of the first space, the two among them where it has them, on which the first half was checked.
        kind: "mechanism", or "space" where one of the two is a dataset of the second space and not of the first, so that the
            first specification asks nothing of its law.
    """

    mechanism: str
    argument: str
    left: Dataset
    right: Dataset
    checks: tuple[str, str]
    run: Mechanism = attrs.field(repr=False)
    instance: tuple[Dataset, ...]
    kind: str = "mechanism"


@attrs.frozen(kw_only=True)
class Direction:
    """The question S => S': does every mechanism that satisfies S satisfy S'?

    Args:
        answer: derived, separated or unknown.
        steps: the steps of the derivation; without one, those to the nearest specification, and what is missing then.
        derivation: when derived, the whole chain as data.
        separation: when separated, the mechanism that shows it.
        tried: when unknown, what was tried in search of one.
    """

    answer: Answer
    steps: tuple[Finding, ...]
    derivation: Derivation | None = None
    separation: Separation | None = None
    tried: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Comparison:
    """Both directions between two specifications, and the notes that keep a reader from comparing budgets only."""

    left: PrivacySpec
    right: PrivacySpec
    forward: Direction
    backward: Direction
    notes: tuple[str, ...]

    def __bool__(self) -> NoReturn:
        raise TypeError("a comparison is not a truth value: use comparison.relation")

    @property
    def relation(self) -> Relation:
        """The two answers in one word."""
        return {
            (Answer.IMPLIES, Answer.IMPLIES): Relation.EQUIVALENT,
            (Answer.SEPARATED, Answer.SEPARATED): Relation.INCOMPARABLE,
        }.get(
            (self.forward.answer, self.backward.answer),
            Relation.IMPLIES
            if self.forward.answer is Answer.IMPLIES
            else Relation.IMPLIED_BY
            if self.backward.answer is Answer.IMPLIES
            else Relation.UNKNOWN,
        )
