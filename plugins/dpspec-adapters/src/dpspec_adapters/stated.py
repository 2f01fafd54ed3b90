"""What the adapters share: numbers that a library states, and the error for a library that is not there."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

from dpspec.errors import IncompatibleBlocksError, PluginError
from dpspec.exact import rational


def outward(value: Any, subject: str) -> Fraction:
    """A stated bound as an exact rational that is nowhere below it: the double itself, or the decimal that it prints.

    Raises:
        IncompatibleBlocksError: for what is no finite number of at least 0: nothing is promised then.

    >>> outward(0.1, "epsilon") >= Fraction(0.1), outward(0.5, "epsilon")
    (True, Fraction(1, 2))
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)) or not math.isfinite(value) or value < 0:
        raise IncompatibleBlocksError(subject, "must be a finite number of at least 0 to be a claim", value=value)
    return max(Fraction(value), rational(value, subject))


def misfit(given: object, wanted: str, library: str, extra: str) -> PluginError:
    """The error for an object that is not of the library, which says so when the library is not installed at all."""
    if find_spec(library) is None:
        return PluginError(library, "is not installed", f'pip install "dpspec-adapters[{extra}]"')
    return PluginError("object to wrap", f"must be {wanted}", f"it is a {type(given).__name__}")
