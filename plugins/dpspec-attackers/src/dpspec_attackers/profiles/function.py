"""A risk profile given as a Python function."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import attrs

from dpspec.errors import ParameterError
from dpspec.exact import rational
from dpspec.params import Domain, define
from dpspec_attackers.profiles.profile import Region, RiskProfile

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

ProfileFunction = Callable[[Fraction, Fraction], object]


@attrs.frozen
class FunctionOfPriors(Domain):
    """A function of two priors, given as it is or as the text module:name; the current directory is looked through first."""

    def read(self, value: Any, subject: str) -> ProfileFunction:
        if callable(value):
            return value  # type: ignore[no-any-return]
        module, colon, name = str(value).partition(":")
        if not (module and colon and name):
            raise ParameterError(
                subject, f"must be a {self.describe()}", "such as profiles:cautious for profiles.py", value=value
            )
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        try:
            found = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as problem:
            raise ParameterError(subject, f"cannot be imported: {problem}", "run dpspec in its folder", value=value) from problem
        return self.read(found, subject) if callable(found) else _refuse(subject, value)

    def describe(self) -> str:
        return "function (p, q) -> tolerated ratio, or its place written module:name"

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "description": self.describe()}

    def strategy(self) -> SearchStrategy[Any]:
        from hypothesis import strategies as st

        return st.just(_twice)


def _twice(*_: Fraction) -> object:
    """A profile that tolerates twice the prior."""
    return 2


def _refuse(subject: str, value: object) -> ProfileFunction:
    raise ParameterError(subject, "is no function", "name one that takes p and q", value=value)


@define
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

    function: Annotated[ProfileFunction, FunctionOfPriors()]
    region: Region = attrs.field(factory=Region)

    def where(self) -> Region:
        return self.region

    def tolerated(self, p: Fraction, q: Fraction) -> Fraction | None:
        value: Any = self.function(p, q)
        if value is None or value == float("inf"):
            return None
        try:
            return rational(value, "ratio")
        except ParameterError as fault:
            raise ParameterError(
                "ratio", "must be a number, infinity or None", f"the profile was asked at p = {p}, q = {q}", value=value
            ) from fault
