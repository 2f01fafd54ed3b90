"""A risk profile given as a Python function."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

import attrs

from dpspec.errors import ParameterError
from dpspec.exact import rational
from dpspec_attackers.profiles.profile import Region, RiskProfile


@attrs.frozen(kw_only=True)
class FromFunction(RiskProfile):
    """Any function (p, q) -> r*, of exact rationals, that never grows with p or q; None or infinity where nothing is asked.

    Args:
        function: called with two Fractions in (0, 1]; what it returns is read as an exact number.
        region: the priors that it speaks about.

    >>> profile = FromFunction(function=lambda p, q: max(Fraction(1, 4) / (p * q), 3))
    >>> found = profile.recommend()
    >>> found.value.lower.decimal(7), found.method
    ('0.6496415', 'branch and bound')
    """

    name: ClassVar[str] = "function"
    title: ClassVar[str] = "a tolerated ratio given by a function of the priors"
    source: ClassVar[str] = "Z-D33, Z-T47"

    function: Callable[[Fraction, Fraction], object]
    region: Region = attrs.field(factory=Region)

    def where(self) -> Region:
        return self.region

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction | None:
        value = self.function(p, q)
        if value is None or value == float("inf"):
            return None
        try:
            return rational(value, "ratio")
        except ParameterError as fault:
            raise ParameterError(
                "ratio", "must be a number, infinity or None", f"the profile was asked at p = {p}, q = {q}", value=value
            ) from fault
