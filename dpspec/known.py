"""Conversions that need more than a guarantee: they hold when the mechanism is known to be of some kind, and not otherwise.

From rho-concentrated privacy alone no Gaussian trade-off function follows; from rho of *Gaussian noise* it does. A program that
mixed the two up would print numbers that no theorem supports, so such a formula says what it needs and never takes part in a
derivation between specifications.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from dpspec.conversion import Conversion
from dpspec.rule import Step
from dpspec.spec import PrivacySpec


class KnownMechanism(Conversion):
    """A formula for mechanisms of one kind; `dpspec convert` prints its numbers apart from those that the guarantee implies."""

    mechanism: ClassVar[str]
    """The mechanism that has to be known, as a word for ``dpspec convert --mechanism``."""
    needs: ClassVar[str]
    """What has to be known of it, for people."""

    def propose(self, premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Step]:
        """No steps: a specification does not say what the mechanism is."""
        yield from ()
