"""Models of installed libraries: the law of each function, stated once, by which code that calls it is read.

OpenDP draws in native code, and diffprivlib computes its noise of uniform numbers in ways that no engine reads. A *model* states
the law of one such function in code that can be read, for stated versions of the library. So a function that calls the library is
proved on all datasets, and its verdict lists, for every model that was used, that it is assumed to be the law of the library.

What is read is the library as it was installed. A version outside the tested ones, a module that was changed in memory or on
disk, an object of a class of the user's and a generator with a seed have no model: then the function is sampled, not read.
"""

from __future__ import annotations

import ast
import base64
import functools
import hashlib
import math
import sys
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import attrs

from dpspec.plugin import LibraryModels, ModelledCall, late_module
from dpspec.plugin.judges import NotEnumerableError

if TYPE_CHECKING:
    import numpy as np
else:
    np = late_module("numpy")

PLAIN = (bool, int, float, str, bytes, type(None), Fraction)
"""Types of arguments on which a library may be called while code is read: no number with noise and no count is of them."""


DRAWN = "tested with 20,000 draws"
ON_DATA = "tested on 100 datasets"
UNTESTED = "tested by the runs of this verification alone"
"""The known properties of a model other than its source."""


@attrs.frozen(kw_only=True)
class Model:
    """The law of one function of a library.

    Args:
        primitive: the function.
        law: what it returns, and what of the library this leaves out.
        source: where the law is stated.
        tested: what the tests of this package hold of the installed library against the model.
    """

    primitive: str
    law: str
    source: str
    tested: str = DRAWN


class Library(ABC):
    """The models of one library."""

    name: ClassVar[str]
    """Its distribution, and its package."""
    versions: ClassVar[tuple[str, ...]]
    """The beginnings of the versions for which the models were tested."""
    modules: ClassVar[tuple[str, ...]]
    """Modules whose code the models speak of."""
    models: ClassVar[tuple[Model, ...]]

    def __init__(self, *, reads: bool = True) -> None:
        """Args:
            reads: whether code is analysed, and the library is checked; else the models draw in place of it, as analysed before.
        """
        self.reads = reads
        self.used: dict[str, None] = {}

    @abstractmethod
    def owns(self, thing: Any) -> bool:
        """Whether something is an object of the library, or of a class that inherits from one of its classes."""

    @abstractmethod
    def attribute(self, owner: Any, name: str, draws: Any) -> Any:
        """As `LibraryModels.attribute`, of an object that it owns."""

    @abstractmethod
    def called(self, function: Any, args: tuple[Any, ...], options: dict[str, Any], draws: Any) -> ModelledCall | None:
        """As `LibraryModels.called`."""

    @abstractmethod
    def printed(self, value: Any) -> Hashable:
        """As `LibraryModels.printed`, of an object that it owns."""

    @abstractmethod
    def patches(self, draws: ModelDraws) -> list[tuple[Any, str, Any]]:
        """Attributes of the library with their replacements while models draw."""

    def using(self, primitive: str) -> None:
        """Write down that a model is used.

        Raises:
            NotEnumerableError: it has no model, or the library is not as it was when the models were tested.
        """
        if not any(model.primitive == primitive for model in self.models):
            self.refuse(f"{primitive} has no model")
        why = changed_since_install(self.name, self.versions, self.modules) if self.reads else ""
        if why:
            self.refuse(why)
        self.used.setdefault(primitive)

    def refuse(self, rule: str) -> NoReturn:
        """End the reading.

        Raises:
            NotEnumerableError: always.
        """
        raise NotEnumerableError(self.name, rule, "have it sampled (--generator native), or state its law by hand")

    def assumptions(self) -> Iterator[str]:
        """What is assumed of the models that were used."""
        version = ".".join(metadata.version(self.name).split(".")[:2])
        for model in self.models:
            if model.primitive in self.used:
                yield f"model of {self.name} {version} `{model.primitive}`, {model.tested}: {model.law} ({model.source})"


class Models(LibraryModels):
    """The models of all libraries that are imported."""

    def __init__(self, libraries: tuple[Library, ...]) -> None:
        self.libraries = libraries

    def attribute(self, owner: Any, name: str, draws: Any) -> Any:
        found = next((library for library in self.libraries if library.owns(owner)), None)
        return NotImplemented if found is None else found.attribute(owner, name, draws)

    def called(self, function: Any, args: tuple[Any, ...], options: dict[str, Any], draws: Any) -> ModelledCall | None:
        for library in self.libraries:
            found = library.called(function, args, options, draws)
            if found is not None:
                return found
        return None

    def printed(self, value: Any) -> Hashable:
        found = next((library for library in self.libraries if library.owns(value)), None)
        return NotImplemented if found is None else found.printed(value)

    def assumptions(self) -> tuple[str, ...]:
        return tuple(text for library in self.libraries for text in library.assumptions())

    def patches(self, draws: ModelDraws) -> list[tuple[Any, str, Any]]:
        """Attributes of the libraries with their replacements while models draw."""
        return [patch for library in self.libraries for patch in library.patches(draws)]


_HOMES = {"opendp": "dpspec_adapters.opendp_models:OpenDP", "diffprivlib": "dpspec_adapters.diffprivlib_models:DiffPrivLib"}


def imported_models(*, reads: bool = True) -> Models | None:
    """The models of the libraries that are imported, to read code or to draw in place of them; None where none is."""
    found = [name for name in _HOMES if name in sys.modules]
    homes = [_HOMES[name].partition(":") for name in found]
    made = (getattr(import_module(module), kind)(reads=reads) for module, _, kind in homes)
    return Models(tuple(made)) if found else None


def is_plain(value: Any) -> bool:
    """Whether an argument is a plain value, in which no draw and no count can hide."""
    if type(value) in (list, tuple):
        return all(map(is_plain, value))
    return type(value) in PLAIN or any(value is kind for kind in PLAIN)


# --- whether a library is as it was installed -------------------------------------------------------


@functools.cache
def changed_since_install(name: str, versions: tuple[str, ...], modules: tuple[str, ...]) -> str:
    """Why the models of a library do not speak of what is imported; empty where they do.

    Compared are the version, the text of its modules with the hashes that were installed, and what these modules hold in memory
    with their text: the code of functions and methods, and what they import.
    """
    version = metadata.version(name)
    if not version.startswith(versions):
        tested = ", ".join(one.rstrip(".") for one in versions)
        return f"version {version} is not one for which its models were tested ({tested})"
    listed = {str(one.locate()): one.hash for one in metadata.files(name) or ()}
    for module in map(import_module, modules):
        path = Path(str(module.__file__)).resolve()
        known = next((one for file, one in listed.items() if Path(file).resolve() == path), None)
        digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).decode().rstrip("=")
        if known is None or known.mode != "sha256" or known.value != digest:
            return f"{module.__name__} is not the file that was installed"
        place = _replaced_in(module, path)
        if place:
            return f"{place} was replaced after it was imported"
    return ""


def _replaced_in(module: types.ModuleType, path: Path) -> str:
    """What a module holds that its text does not say; empty for nothing."""
    text = path.read_bytes()
    code = compile(text, str(module.__spec__.origin if module.__spec__ else path), "exec", dont_inherit=True)
    written: Written = {}
    waiting = [code]
    while waiting:
        for part in waiting.pop().co_consts:
            if isinstance(part, types.CodeType):
                written.setdefault(part.co_qualname, []).append(part)
                waiting.append(part)
    for node in ast.parse(text).body:
        place = ""
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            place = _differs(vars(module).get(node.name), written, module, node.name)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            place = _imported(node, module)
        elif isinstance(node, ast.Import):
            found = ((one.asname, one.name) for one in node.names if one.asname)
            place = next((name for short, name in found if vars(module).get(short) is not sys.modules.get(name)), "")
        if place:
            return f"{module.__name__}.{place}"
    return ""


def _imported(node: ast.ImportFrom, module: types.ModuleType) -> str:
    """A name that a module took from another one, and which is not what that one holds; empty for none."""
    source = sys.modules.get(str(node.module))
    for alias in node.names:
        held = vars(module).get(alias.asname or alias.name)
        nested = sys.modules.get(f"{node.module}.{alias.name}")
        if alias.name != "*" and held is not None and held is not getattr(source, alias.name, nested) and held is not nested:
            return alias.asname or alias.name
    return ""


_OF_CLASSES = frozenset({
    "__module__", "__dict__", "__weakref__", "__doc__", "__abstractmethods__", "_abc_impl", "__qualname__", "__annotations__",
    "__orig_bases__", "__parameters__", "__firstlineno__", "__static_attributes__", "__classcell__",
})  # fmt: skip


Written = dict[str, list[types.CodeType]]
"""The code that a text makes, by qualified names."""


def _differs(held: Any, written: Written, module: types.ModuleType, name: str) -> str:
    """The first function of a definition whose code is not the one that is written; empty for none."""
    while isinstance(held, (staticmethod, classmethod)):
        held = held.__func__
    if isinstance(held, property):
        parts = [part for part in (held.fget, held.fset, held.fdel) if part is not None]
        return next(filter(None, (_differs(part, written, module, name) for part in parts)), "")
    if isinstance(held, type):
        return _class_differs(held, written, module, name)
    held = getattr(held, "__wrapped__", held) if not isinstance(held, types.FunctionType) else held
    if not isinstance(held, types.FunctionType):
        return name
    if name not in written:  # it was made elsewhere, and given a name of its own here
        source = sys.modules.get(held.__module__)
        is_same = held.__module__.partition(".")[0] == module.__name__.partition(".")[0]
        return "" if is_same and vars(source or module).get(held.__name__) is held else name
    known = map(_instructions, written.get(name, ()))
    return "" if _instructions(held.__code__) in known and held.__globals__ is vars(module) else name


def _class_differs(held: type, written: Written, module: types.ModuleType, name: str) -> str:
    """The same of a class: its own attributes are those that its text names."""
    if held.__module__ != module.__name__:
        return name
    names = {one for body in written.get(held.__qualname__, ()) for one in body.co_names}
    for key, part in vars(held).items():
        if key not in _OF_CLASSES and key not in names and type(part).__module__ not in ("_ctypes", "ctypes"):
            return f"{name}.{key}"
        if isinstance(part, (types.FunctionType, staticmethod, classmethod, property)):
            place = _differs(part, written, module, f"{name}.{key.removeprefix(f'_{held.__name__}')}")
            if place:
                return place
    return ""


def _instructions(code: types.CodeType) -> Hashable:
    """What some code does: its instructions, names and constants with their types, the code that it makes included."""
    return code.co_code, code.co_names, tuple(map(_constant, code.co_consts))


def _constant(value: Any) -> Hashable:
    if isinstance(value, types.CodeType):
        return _instructions(value)
    if isinstance(value, (tuple, frozenset)):
        parts = map(_constant, value)
        return type(value), tuple(parts) if isinstance(value, tuple) else frozenset(parts)
    return type(value), repr(value)


# --- drawing by models ------------------------------------------------------------------------------


class ModelDraws:
    """The source of randomness of models that run and are not analysed: a numpy Generator, with noise on whole numbers.

    Args:
        generator: the generator; one that writes down what it draws gets the noise on whole numbers written down, too.

    >>> isinstance(ModelDraws(np.random.default_rng(1)).discrete_laplace(2.0), int)
    True
    """

    def __init__(self, generator: Any) -> None:
        self._generator = generator
        self._bits = np.random.Generator(generator.bit_generator)  # whose draws are not written down

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return getattr(self._generator, name)  # type: ignore[no-any-return]  # a method of the generator

    def _written(self, value: int) -> int:
        write = getattr(self._generator, "write", None)
        if write is not None:
            write(float(value))
        return value

    def _two_sided(self, scale: float) -> int:
        success = -math.expm1(-1 / scale)
        return int(self._bits.geometric(success)) - int(self._bits.geometric(success))

    def discrete_laplace(self, scale: float) -> int:
        """Noise on whole numbers with probabilities proportional to e^(-|k| / scale)."""
        return self._written(self._two_sided(float(scale)))

    def discrete_normal(self, deviation: float) -> int:
        """Noise with probabilities proportional to e^(-k^2 / (2 deviation^2)) (Canonne, Kamath and Steinke 2020, Algorithm 3)."""
        deviation = float(deviation)
        scale = math.floor(deviation) + 1
        while True:
            found = self._two_sided(scale)
            if self._bits.random() < math.exp(-((abs(found) - deviation**2 / scale) ** 2) / (2 * deviation**2)):
                return self._written(found)

    def held(self, value: Any, low: int, high: int, reason: str) -> None:
        """That a library takes numbers between two ends only: beyond, a model does not say what it does."""
        if not all(low <= one <= high for one in (value if isinstance(value, list) else [value])):
            self.not_modelled(reason)

    def types_in(self, values: Any) -> set[type]:
        """The types of the entries of a list, of a number its own."""
        return set(map(type, values if type(values) in (list, tuple) else [values]))

    def not_modelled(self, rule: str) -> NoReturn:
        """A model does not say what the library does.

        Raises:
            NotEnumerableError: always.
        """
        raise NotEnumerableError("model", rule, "have it sampled")
