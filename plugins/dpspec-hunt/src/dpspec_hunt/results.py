"""The results of a hunt."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Mapping
from typing import Any

import attrs

from dpspec_hunt.plans import Plan


class Outcome(enum.StrEnum):
    """What a check ended with, in the order of a page."""

    REFUTED = "refuted"
    UNDECIDED = "undecided"
    BROKEN = "broken"
    """It cannot be run."""
    ASKED = "asked"
    """A guess was not accepted."""
    VERIFIED = "verified"
    UNCHECKED = "unchecked"


@attrs.frozen(kw_only=True)
class Checked:
    """The result of a check.

    Args:
        plan: what was checked.
        outcome: what it ended with.
        reason: why, in one line; for a verdict what the engine said.
        verdict: the verdict of the engine as data; None without one.
    """

    plan: Plan
    outcome: Outcome
    reason: str = ""
    verdict: Mapping[str, Any] | None = None


@attrs.frozen(kw_only=True)
class Hunt:
    """The results of a hunt.

    Args:
        target: where.
        files: how many modules were read.
        unread: files that were not, each with the reason.
        functions: every function that draws, in the order of the files.
        accepted: whether guesses were accepted unseen.
        no_jail: why nothing was run; empty where it was.
    """

    target: str
    files: int
    unread: tuple[tuple[str, str], ...]
    functions: tuple[Checked, ...]
    accepted: bool
    no_jail: str = ""

    @property
    def exit_code(self) -> int:
        """1 where one is refuted, 3 where one is undecided, asks or cannot be run, 0 where one is verified, else 5."""
        seen = Counter(one.outcome for one in self.functions)
        if seen[Outcome.REFUTED]:
            return 1
        if seen[Outcome.UNDECIDED] or seen[Outcome.BROKEN] or seen[Outcome.ASKED]:
            return 3
        return 0 if seen[Outcome.VERIFIED] else 5
