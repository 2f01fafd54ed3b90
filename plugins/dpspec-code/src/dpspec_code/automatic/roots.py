"""Roots: what code keeps that outlives a run, with a print of all that can be reached from it.

Enumeration runs code many times, and its law is a law of one call. So whatever the code can reach by a name of its own (globals,
defaults, shared variables, attributes of classes) must be the same after a run as before the first: the same objects in the same
places, with the same values. A value that could keep more than its print shows is unknown, and ends the reading.
"""

from __future__ import annotations

import abc
import collections
import dataclasses
import enum
import functools
import random
import re
import sys
import types
import typing
from collections.abc import Callable, Hashable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from dpspec.plugin.judges import Enclosed, Exponential
from dpspec_code.automatic import generator as known
from dpspec_code.automatic.rewriting import all_codes

NUMBERS = (int, float, complex, bool, bytes, str, type(None), Fraction, Decimal, Exponential, Enclosed, range, type(...), slice)
METHOD_KINDS = (
    types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType, types.ClassMethodDescriptorType
)  # fmt: skip
_FIELD = vars(collections.namedtuple("_Field", "one"))["one"]
PLACES = (types.GetSetDescriptorType, types.MemberDescriptorType, type(_FIELD))
GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator)
METACLASSES = (type(abc.ABC), type(enum.Enum), type(typing.Protocol))
_OF_WRITERS = frozenset({
    "__class__", "NotImplemented", "__qualname__", "__setattr__", "__delattr__", "_tuple_new", "object", "hash", "type", "super",
    "field",
})  # fmt: skip
_WRITERS = (dataclasses, collections, enum, typing)
_DESCRIPTORS = (property, staticmethod, classmethod)


class Unknown(Exception):
    """A value that may hold state of which nothing is known."""


class Roots:
    """The recorded roots of one enumeration.

    Args:
        look_through: looks through a class of the user's, of which an object was met.
        of_library: the print of an object of a modelled library; NotImplemented for any other.
    """

    def __init__(self, look_through: Callable[[type], None], of_library: Callable[[Any], Hashable]) -> None:
        self.look_through, self.of_library = look_through, of_library
        self._held: dict[str, tuple[Any, Hashable]] = {}

    def remember(self, name: str, value: Any) -> None:
        """Remember what a name holds before the first run.

        Raises:
            Unknown: it holds what may change unseen.
        """
        if name in self._held:
            return
        changing: list[None] = []
        found = self._print_of(value, changing, {})
        if changing:
            self._held[name] = value, found

    def unchanged(self) -> bool:
        """Whether all of it is as it was."""
        try:
            return all(self._print_of(value, [], {}) == found for value, found in self._held.values())
        except Unknown:
            return False

    def _print_of(self, value: Any, changing: list[None], seen: dict[int, int]) -> Hashable:  # noqa: PLR0911 (one line per kind)
        """A hashable print of everything that can be reached from a value that outlives the runs."""
        kind = type(value)
        if kind in (float, np.float64):
            return kind, repr(value)
        known_print = self.of_library(value)
        if known_print is not NotImplemented:
            changing.append(None)
            return kind, known_print
        if kind in NUMBERS:
            return kind, value if kind is not slice else repr(value)
        if issubclass(kind, np.generic) and not kind.__name__.startswith("void"):
            return kind, value.tobytes()
        if isinstance(value, type) and _is_asked_itself(value):
            raise Unknown("a class that is asked itself by its operators")
        if isinstance(value, (types.ModuleType, types.FunctionType, type, np.ufunc, np.dtype)) or _is_of_typing(kind):
            return id(value)
        if id(value) in known.CALLABLES or value is _MAKES_GENERATORS or isinstance(value, (enum.Enum, *_DESCRIPTORS)):
            if isinstance(value, enum.Enum):
                self.look_through(kind)
            return id(value)
        if is_of_module(value):
            return id(getattr(value, "__func__", value))
        if isinstance(value, GENERATORS):
            raise Unknown("a generator of its own")
        if id(value) in seen:
            return "again", seen[id(value)]
        seen[id(value)] = len(seen)
        if kind not in (tuple, frozenset):
            changing.append(None)
        return kind, id(value), self._print_parts(value, kind, changing, seen)

    def _print_parts(  # noqa: PLR0911 (one line per kind)
        self, value: Any, kind: type, changing: list[None], seen: dict[int, int]
    ) -> Hashable:
        def parts(values: Any) -> Hashable:
            return tuple(self._print_of(part, changing, seen) for part in values)

        if kind is np.ndarray:
            content = parts(value.flat) if value.dtype.hasobject else value.tobytes()
            return value.dtype.str, value.shape, content
        if kind in known.BASES and issubclass(kind, dict):
            attributes, factory = getattr(value, "__dict__", {}), getattr(value, "default_factory", None)
            return parts(value.keys()), parts(value.values()), parts([*attributes.items(), factory])
        if kind in (set, frozenset):  # the order of entries that are added later depends on the size of the table
            return sys.getsizeof(value), parts(value)
        if (kind in known.BASES and issubclass(kind, (list, tuple))) or kind is collections.deque:
            return parts(value)
        if kind is types.CellType:
            try:
                return parts([value.cell_contents])
            except ValueError:
                return ()
        if kind is types.BuiltinFunctionType:
            return value.__name__, parts([value.__self__])
        if kind is types.MethodType:
            return id(value.__func__), parts([value.__self__])
        if kind is functools.partial:
            return parts([value.func, value.args, value.keywords])
        if kind in (bytearray, re.Pattern) or kind in METHOD_KINDS:
            return repr(value) if kind is bytearray else id(value)
        return self._print_object(value, kind, parts)

    def _print_object(self, value: Any, kind: type, parts: Callable[[Any], Hashable]) -> Hashable:
        """An object of a class of the user's: what it holds."""
        if kind in known.TYPES or not isinstance(getattr(sys.modules.get(kind.__module__), "__file__", None), str):
            raise Unknown(f"a value of type {kind.__name__}")
        if is_library(kind.__module__) or any(base in known.TYPES for base in kind.__mro__ if base is not object):
            if not (issubclass(kind, tuple) and hasattr(kind, "_fields")):
                raise Unknown(f"a value of type {kind.__name__}")
            self.look_through(kind)
            return parts([*tuple.__iter__(value), *getattr(value, "__dict__", {}).items()])
        self.look_through(kind)
        slots = [name for base in kind.__mro__ for name, held in vars(base).items() if type(held) is types.MemberDescriptorType]
        held = {**{name: getattr(value, name, None) for name in slots}, **getattr(value, "__dict__", {})}
        return tuple(held), parts(held.values())


_MAKES_GENERATORS = np.random.default_rng
"""An empty root: a name in code implies nothing about a call, which is checked by itself."""

_GLOBAL = {"random": random, "numpy.random": np.random}


def is_of_module(value: Any) -> bool:
    """Whether it is a function of `random` or `numpy.random`, which draws from the generator of the module.

    A name in code implies nothing; a call of it is checked by itself.

    >>> from numpy.random import laplace
    >>> is_of_module(laplace), is_of_module(np.random.RandomState(1).laplace)
    (True, False)
    """
    if type(value) not in (types.MethodType, types.BuiltinFunctionType):
        return False
    return any(getattr(module, value.__name__, None) == value for module in _GLOBAL.values())


LIBRARIES = ("numpy", "dpspec", "dpspec_code")
"""Packages other than the standard library whose code is not the user's: their known properties are in a table."""


def is_library(module: str) -> bool:
    root = module.partition(".")[0]
    return (root in sys.stdlib_module_names and root != "__main__") or root in LIBRARIES


def is_of_library(kind: type) -> bool:
    """Whether a class is what a library has by its name: the name of its module is what a class states.

    >>> is_of_library(dict), is_of_library(type("dict", (), {"__module__": "builtins"}))
    (True, False)
    """
    return is_library(kind.__module__) and _named(kind.__module__, kind.__qualname__) is kind


def is_function_of_library(function: types.FunctionType) -> bool:
    """Whether a function is of a library, by the module whose global names it uses and not by what it states."""
    module = sys.modules.get(function.__module__ or "")
    return is_library(function.__module__ or "") and module is not None and function.__globals__ is vars(module)


def _is_of_typing(kind: type) -> bool:
    """Whether it is a class of the module `typing`, whose objects are written in annotations."""
    return kind.__module__ == typing.__name__ and is_of_library(kind)


def _named(module: str, name: str) -> Any:
    """What a module has by a qualified name; None for nothing."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _is_asked_itself(kind: type) -> bool:
    """Whether operators on a class of the user's, not on its objects, run code of the user's."""
    own = [base for base in kind.__mro__ if not is_of_library(base)]
    return bool(own) and (type(kind) not in (type, *METACLASSES) or any("__class_getitem__" in vars(base) for base in own))


def is_generated(function: types.FunctionType, base: type) -> bool:
    """Whether a method was written by `dataclasses` or `collections.namedtuple`, of the fields of the class and nothing else."""
    names = {name for one in all_codes(function.__code__) for name in one.co_names}
    if any(function.__globals__ is vars(module) for module in _WRITERS):
        return True
    fields: dict[str, Any] = getattr(base, "__dataclass_fields__", dict.fromkeys(getattr(base, "_fields", ())))
    if function.__code__.co_filename != "<string>" or not fields:
        return False
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        field = fields.get(name.removeprefix("_dflt_"))
        given = cell.cell_contents
        default = field is not None and (given is field.default or given is field.default_factory)
        if not default and not isinstance(given, type) and not name.startswith("_type_") and given is not dataclasses.MISSING:
            return name in ("_HAS_DEFAULT_FACTORY", "__dataclass_HAS_DEFAULT_FACTORY__")
    written = {name for name in names if name.startswith(("_dflt_", "__dataclass_"))}
    return names <= fields.keys() | written | _OF_WRITERS
