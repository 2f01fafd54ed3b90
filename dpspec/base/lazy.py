"""Names that are loaded at first use, so that a command imports only what its file names.

A *place* is the text ``module:Name``. A module whose public names live elsewhere lists them by their modules:

    __getattr__, __dir__ = late_names(__name__, {"dpspec.laws.law": ("FiniteLaw", "Law")})

A module that computes with a heavy library in some of its functions, and is read for the names of its classes as well, takes the
library late:

    if TYPE_CHECKING:
        import numpy as np
    else:
        np = late_module("numpy")
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any


def at(place: str) -> Any:
    """The object at a place.

    Raises:
        ImportError, AttributeError: there is no such module, or no such name in it.

    >>> at("dpspec.base.lazy:at") is at
    True
    """
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def place_of(cls: type) -> str:
    """The place of a class.

    >>> place_of(int)
    'builtins:int'
    """
    return f"{cls.__module__}:{cls.__qualname__}"


def late_names(
    module: str, homes: Mapping[str, Iterable[str]], modules: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions `__getattr__` and `__dir__` of a module whose names are loaded when they are first used.

    Args:
        module: the name of the module.
        homes: for each module the names that are taken from it.
        modules: whole modules, by the names that they have here.
    """
    places = {name: f"{home}:{name}" for home, names in homes.items() for name in names}
    whole = dict(modules or {})

    def load(name: str) -> Any:
        if name in places:
            found = at(places[name])
        elif name in whole:
            found = importlib.import_module(whole[name])
        else:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        setattr(sys.modules[module], name, found)
        return found

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[module]), *places, *whole})

    return load, listed


class _LateModule(ModuleType):
    """A module that is imported when the first of its names is used; from then on its names are found here without delay."""

    def __getattr__(self, name: str) -> Any:
        module = importlib.import_module(self.__name__)
        vars(self).update({known: value for known, value in vars(module).items() if not known.startswith("__")})
        return getattr(module, name)

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        return late_module, (self.__name__,)


def late_module(name: str) -> ModuleType:
    """A module that is imported when the first of its names is used.

    Args:
        name: its full name.

    >>> late_module("fractions").Fraction(1, 2)
    Fraction(1, 2)
    """
    return _LateModule(name)
