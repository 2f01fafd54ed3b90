"""Which functions and classes dpspec computes with, so that code that replaces some of them is named.

A module that patches `fractions.Fraction` or `dpspec.verifier` changes what a verdict computed in its process means. Such a patch
is a fault of the module, and no property of the function that is verified.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType, WrapperDescriptorType
from typing import Any

import attrs

from dpspec.base.errors import DpspecError

PACKAGES = ("dpspec.", "dpspec_")
"""How the names of first-party modules begin."""
MODULES = (
    "builtins", "decimal", "fractions", "functools", "itertools", "json", "math", "numbers", "numpy", "operator", "os", "pickle",
    "signal", "threading", "time",
)  # fmt: skip
_CHECKED = (
    FunctionType, BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType, type, property, staticmethod, classmethod,
)  # fmt: skip


class FunctionPatchesError(DpspecError):
    """A user's code replaces functions or classes of dpspec, or of a library that dpspec computes with."""

    code = "function-patches"


@attrs.frozen(eq=False)
class Fingerprint:
    """The functions and classes of some modules, as they are at one moment.

    Args:
        parts: each by its module, or class, and name.

    >>> import math
    >>> fingerprint, kept = Fingerprint.taken(), math.exp
    >>> math.exp = lambda x: 1.0
    >>> fingerprint.changed()
    'math.exp'
    >>> math.exp = kept
    >>> fingerprint.changed()
    ''
    """

    parts: tuple[tuple[dict[str, Any] | Any, str, dict[str, Any]], ...]

    @classmethod
    def taken(cls) -> Fingerprint:
        """The fingerprint now."""
        return cls(tuple(_parts()))

    def changed(self) -> str:
        """The name of something that was replaced since then; empty for nothing."""
        for space, name, before in self.parts:
            for key, (value, code) in before.items():
                now = space.get(key)
                if now is not value or (code is not None and _code(now) is not code):
                    return f"{name}.{key}"
        return ""

    def check(self) -> None:
        """Refuse code that replaced something.

        Raises:
            FunctionPatchesError: it did.
        """
        name = self.changed()
        if name:
            rule = f"replaces {name}, which dpspec computes with"
            raise FunctionPatchesError("function", rule, "leave other modules as they are; put what differs into your own module")


def _parts() -> Iterator[tuple[Any, str, dict[str, Any]]]:
    for name, module in list(sys.modules.items()):
        if not isinstance(module, ModuleType) or not (name.startswith(PACKAGES) or name in MODULES):
            continue
        space = vars(module)
        yield space, name, _checked(space)
        for key, value in list(space.items()):
            if isinstance(value, type) and value.__module__ == name:
                yield vars(value), f"{name}.{key}", _checked(vars(value))


def _checked(space: Any) -> dict[str, Any]:
    return {key: (value, _code(value)) for key, value in space.items() if isinstance(value, _CHECKED)}


def _code(value: Any) -> Any:
    return value.__code__ if isinstance(value, FunctionType) else None
