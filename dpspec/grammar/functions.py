"""Plain functions as mechanisms.

A `DatasetAdapter` converts the dataset to the type that the function expects (a list, a data frame, an array or a text). A
`GeneratorAdapter` provides the random number generator that the function uses.
"""

from __future__ import annotations

import collections.abc
import contextlib
import copy
import inspect
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Annotated, Any, ClassVar

import attrs

from dpspec.base.errors import AdapterError
from dpspec.blocks.space import Dataset, DatasetSpace

PlainFunction = Callable[..., Any]
"""A function of a dataset, and of a generator where it takes one, to an output."""


class DatasetAdapter(ABC):
    """Converts a dataset to the type that a plain function expects: a data frame, an array, a text; registered under its
    `name`."""

    name: ClassVar[str]

    annotations: ClassVar[tuple[str, ...]] = ()
    """Annotations of a function's first parameter that ask for it, such as ``pandas.DataFrame`` or ``list[dict]``."""
    by_entry: ClassVar[bool] = False
    """Whether it is a list, or an array of numbers, whose entries are made of one entry of the dataset each, in its order."""

    @abstractmethod
    def written(self, dataset: Dataset, space: DatasetSpace) -> Any:
        """A dataset in this form; raises AdapterError where the form has no place for it, or a library is missing."""

    def copied(self, written: Any) -> Any:
        """A deep copy, so that a function cannot change the original."""
        return copy.deepcopy(written)


class ListAdapter(DatasetAdapter):
    """A list: of entries, of records, of the characters of a text. The default for functions that declare no type."""

    name: ClassVar[str] = "list"
    annotations: ClassVar[tuple[str, ...]] = ("list",)

    def written(self, dataset: Dataset, space: DatasetSpace) -> Any:
        if not isinstance(dataset, (tuple, str)):
            raise AdapterError("adapter", f"a dataset of {space.name} is no sequence", "leave it as it is", value=self.name)
        return list(dataset)


@attrs.frozen
class ModelledCall:
    """The model of a call of a library.

    Args:
        function: a function whose code is analysed; None where the library itself was called, because the call is deterministic.
        arguments: the arguments of the call.
        value: what the library returned.
    """

    function: Callable[..., Any] | None
    arguments: tuple[Any, ...] = ()
    value: Any = None


class LibraryModels(ABC):
    """Models of installed libraries: the laws of their functions, by which code that calls them is read.

    A model states the law of one function of a library, of stated versions. Whether it is that of the installed library is an
    assumption, which the verdict names.
    """

    @abstractmethod
    def attribute(self, owner: Any, name: str, draws: Any) -> Any:
        """The model of `owner.name`; NotImplemented where the owner belongs to no modelled library.

        Args:
            owner: any object.
            name: an attribute.
            draws: the generator from which models draw.

        Raises:
            NotEnumerableError: the attribute has no model.
        """

    @abstractmethod
    def called(self, function: Any, args: tuple[Any, ...], options: dict[str, Any], draws: Any) -> ModelledCall | None:
        """The model of a call; None where the function belongs to no modelled library.

        Raises:
            NotEnumerableError: the function, its version or its arguments have no model.
        """

    @abstractmethod
    def printed(self, value: Any) -> Hashable:
        """A print of an object of a modelled library, the same as long as the object is; NotImplemented for any other."""

    @abstractmethod
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions about the libraries whose models were used so far."""


class GeneratorAdapter(ABC):
    """The source of randomness of a plain function, derived from the bits of a numpy Generator; registered under its `name`.

    The bits are seeded. A class whose output depends on these bits alone declares `replays`, so that every draw can be repeated.
    """

    name: ClassVar[str]

    annotations: ClassVar[tuple[str, ...]] = ()
    """Annotations of a function's second parameter that ask for it, such as ``random.Random``."""
    is_handed: ClassVar[bool] = True
    """Whether the function takes a generator of this kind; otherwise it draws from a global generator."""
    replays: ClassVar[bool] = False
    """Whether the same bits give the same output. Unless a class declares it, no call is taken to be repeatable."""
    assumptions: ClassVar[tuple[str, ...]] = ()
    """The assumptions about functions that draw from it."""

    @abstractmethod
    def made(self, generator: Any) -> Any:
        """The generator that the function is handed, fresh for one call."""

    def recorded(self, generator: Any, write: Callable[[float | None], None]) -> Any:
        """As `made`, of the same draws; each draw of noise is written down without its center, a uniform number as one in [0, 1).

        A law that is read off code with noise is held against it; where nothing is written down, no such law is verified.
        """
        return self.made(generator)

    def drawing(self, generator: Any) -> contextlib.AbstractContextManager[None]:
        """Open while the function runs: what draws elsewhere gets its bits from the generator."""
        return contextlib.nullcontext()

    def readable(self, function: PlainFunction) -> PlainFunction | None:
        """The function as one of a dataset and a numpy Generator, of the same law, in code that can be read; None for none."""
        return None

    def models(self) -> LibraryModels | None:
        """Models of installed libraries, in place of which the code is read; None for none."""
        return None

    def modelled(self) -> GeneratorAdapter:
        """The adapter for runs in which the models draw in place of the libraries, so that they can be held against the law."""
        return self


class NumpyGenerator(GeneratorAdapter):
    """A numpy Generator, unchanged. The default for functions that declare no type."""

    name: ClassVar[str] = "numpy"
    annotations: ClassVar[tuple[str, ...]] = ("numpy.Generator",)
    replays: ClassVar[bool] = True

    def made(self, generator: Any) -> Any:
        return generator

    def readable(self, function: PlainFunction) -> PlainFunction:
        return function


@attrs.frozen(eq=False)
class AdaptedFunction:
    """A plain function that is called with datasets and a generator in the types that it expects.

    To its caller it is one of a dataset as it is (`presented`) and a numpy Generator.

    Args:
        function: the function.
        space: whose datasets it takes.
        dataset: the conversion of a dataset; None for none.
        generator: the source of randomness.
        takes: how many arguments it is called with, 1 or 2.

    >>> from random import Random
    >>> from dpspec.blocks.vectors import BitVectors
    >>> letters = AdaptedFunction(lambda bits, rng: bits, BitVectors(length=2), ListAdapter(), NumpyGenerator())
    >>> letters([0, 1], None)
    [0, 1]
    """

    function: PlainFunction
    space: DatasetSpace
    dataset: DatasetAdapter | None
    generator: GeneratorAdapter
    takes: int = 2
    _written: dict[str, Any] = attrs.field(factory=dict, init=False, repr=False)

    def __call__(self, given: Any, generator: Any) -> Any:
        handed = self.handed(given)
        if self.generator.is_handed:
            write = getattr(generator, "write", None)
            made = self.generator.made(generator) if write is None else self.generator.recorded(generator, write)
            return self.function(handed, made)
        with self.generator.drawing(generator):
            return self.function(handed) if self.takes == 1 else self.function(handed, self.generator.made(generator))

    def handed(self, given: Any) -> Any:
        """The argument of the function for a dataset, fresh for every call."""
        if self.dataset is None:
            return given
        key = repr(given)
        if key not in self._written:
            if len(self._written) >= _KEPT:
                self._written.clear()
            self._written[key] = self.dataset.written(tuple(given) if type(given) is list else given, self.space)
        return self.dataset.copied(self._written[key])

    @property
    def readable(self) -> PlainFunction | None:
        """The function of the converted dataset and a numpy Generator, for code analysis."""
        return self.generator.readable(self.function)

    @property
    def replays(self) -> bool:
        """Whether the same bits give the same output."""
        return self.generator.replays

    @property
    def __name__(self) -> str:
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))

_KEPT = 1_000
"""Datasets that an adapted function keeps in written form."""


def parameters_of(function: PlainFunction) -> tuple[inspect.Parameter, ...] | None:
    """The parameters by position of a function; None where it does not say."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return tuple(p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL))


def annotated(parameter: inspect.Parameter, function: PlainFunction) -> tuple[str, Any]:
    """The annotation of a parameter as adapters write it, and the annotation itself where it is a class; ("", None) for none.

    A class is written by its package and its name, what a list holds behind it.

    >>> import random
    >>> def survey(people: "list[dict[str, int]]", rng: random.Random): ...
    >>> [annotated(p, survey)[0] for p in parameters_of(survey)]
    ['list[dict]', 'random.Random']
    """
    found = parameter.annotation
    if found is parameter.empty or found is None:
        return "", None
    while isinstance(found, str):
        try:
            found = eval(found, getattr(inspect.unwrap(function), "__globals__", {}))  # noqa: S307 (the function's own text)
        except Exception:  # a name for type checkers alone
            alias, dot, name = found.partition(".")
            return f"{_ALIASES.get(alias, alias)}{dot}{name}", None
    if typing.get_origin(found) is Annotated:
        found = typing.get_args(found)[0]
    origin = typing.get_origin(found)
    if origin is None:
        return _class_text(found), found if isinstance(found, type) else None
    inner = typing.get_args(found)
    if origin in _SEQUENCES and inner and _class_text(typing.get_origin(inner[0]) or inner[0]) in _MAPPINGS:
        return "list[dict]", None
    return _class_text(origin), origin if isinstance(origin, type) else None

_ALIASES = {"pd": "pandas", "pl": "polars", "pa": "pyarrow", "np": "numpy"}

_SEQUENCES = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)

_MAPPINGS = ("dict", "collections.Mapping")


def _class_text(cls: Any) -> str:
    if not isinstance(cls, type):
        return ""
    package = cls.__module__.partition(".")[0]
    return cls.__name__ if package == "builtins" else f"{package}.{cls.__name__}"
