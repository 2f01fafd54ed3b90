"""How many times the prior a posterior may be: the parameter `ratio` of risk profiles and of bounds on membership."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import attrs

from dpspec.errors import ProfileBelowOneError
from dpspec.exact import rational
from dpspec.params import Rational


@attrs.frozen
class Multiple(Rational):
    """A rational number above 1; one below 1 has an error of its own, since no release keeps it."""

    def read(self, value: Any, subject: str) -> Fraction:
        if rational(value, subject) < 1:
            rule = "is below 1: some outcome always raises the belief, so that no budget keeps it"
            raise ProfileBelowOneError(subject, rule, "tolerate more than the prior itself", value=str(value))
        return super().read(value, subject)


MULTIPLE = Multiple(1, open_low=True)
