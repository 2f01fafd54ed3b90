"""What a conformance check is, and what it is given.

A check is a function ``check_<property>(subject, context)``. It returns nothing, or a text to report; or it raises
`CheckFailedError`, or `NotApplicable` with the reason. Its docstring says the property, where it comes from, and what a failure
means. Its subjects are chosen by their kind and by what their class declares about itself (`is_metric`, ...), never by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, TypeVar
from unittest import SkipTest

import attrs

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.domains import Domain
from dpspec.errors import DpspecError
from dpspec.exact import Number
from dpspec.extension.loader import PluginInfo
from dpspec.extension.registry import Entry, Registry
from dpspec.report.words import thing_in_words

PRECISION = 128
"""Bits at which two numbers without a common exact form are compared."""


class CheckFailedError(AssertionError):
    """The subject lacks the property."""


class NotApplicable(SkipTest):
    """The property is not asked of the subject; says why. A test runner takes it as a skip."""


# --- subjects ------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class PluginSubject:
    """A plugin as a whole.

    Args:
        info: what became of it when it was loaded.
        module: the module (or object) with its hooks; None when it could not be imported.
        importable: the name under which a fresh interpreter can import it; None for an object made in a test.
    """

    info: PluginInfo
    module: Any
    importable: str | None

    def __str__(self) -> str:
        return self.info.provenance.plugin


@attrs.frozen(kw_only=True)
class ClassSubject:
    """A registered class."""

    entry: Entry

    @property
    def thing(self) -> type:
        """Where its tags are looked up."""
        return self.entry.cls

    def __str__(self) -> str:
        return self.entry.name


@attrs.frozen(kw_only=True)
class ValueSubject:
    """An object of a registered class, built from its declared parameters."""

    thing: Any

    def __str__(self) -> str:
        return thing_in_words(self.thing)


@attrs.frozen(kw_only=True)
class PlacedSubject:
    """An object on a small space that it fits.

    Args:
        thing: an input divergence, an invariant or a mechanism.
        space: the space.
        datasets: all datasets of the space.
        compared: those of which all pairs and triples are looked at, and all laws.
    """

    thing: Any
    space: DatasetSpace
    datasets: tuple[Dataset, ...]
    compared: tuple[Dataset, ...]

    def pairs(self) -> Iterator[tuple[Dataset, Dataset]]:
        """All ordered pairs of compared datasets, equal ones too."""
        return ((left, right) for left in self.compared for right in self.compared)

    def __str__(self) -> str:
        return f"{thing_in_words(self.thing)} on {thing_in_words(self.space)}"


# --- context -------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Context:
    """What a check may use besides its subject.

    Args:
        registry: everything that is registered.
        level: "fast", or "full" for more examples and for checks that draw samples.
        placed: all objects of a kind that fit a space.
        values: objects of a kind, without a space.
        members: a few values of a parameter's domain.
    """

    registry: Registry
    level: str
    placed: Callable[[str, DatasetSpace], tuple[Any, ...]]
    values: Callable[[str], tuple[Any, ...]]
    members: Callable[[Domain], list[Any]]

    def times(self, fast: int, full: int | None = None) -> int:
        """How many examples to draw; in full ten times as many, unless it is said how many."""
        return fast if self.level == "fast" else 10 * fast if full is None else full

    def random(self, name: str) -> Random:
        """A source of examples that is the same in every run."""
        return Random(name)


def require(condition: bool, message: str) -> None:
    """Fail the check with a message."""
    if not condition:
        raise CheckFailedError(message)


def exceeds_times(left: Number, factor: Number, right: Number) -> bool:
    """Whether left > factor x right for certain; False when that is too close to tell."""
    if factor == 0 or right == 0:
        return left > 0
    if factor.is_infinite or right.is_infinite:
        return False
    return left.is_infinite or bool(left.enclose(PRECISION) > factor.enclose(PRECISION) * right.enclose(PRECISION))


def exceeds(left: Number, *terms: Number) -> bool:
    """Whether left > the sum of the terms for certain; False when that is too close to tell."""
    if any(term.is_infinite for term in terms):
        return False
    if left.is_infinite:
        return True
    total = sum((term.enclose(PRECISION) for term in terms[1:]), terms[0].enclose(PRECISION))
    return bool(left.enclose(PRECISION) > total)


# --- checks --------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Check:
    """A check with the subjects that it is meant for.

    Args:
        name: the name of its function.
        kind: the kind of its subjects.
        call: the function.
        when: what the class of the subject must declare as true; "" for every class.
        level: "full" for a check that is not part of the fast run.
    """

    name: str
    kind: str
    call: Callable[[Any, Context], str | None]
    when: str = ""
    level: str = "fast"

    def excluded(self, subject: Any) -> str:
        """Why it is not asked of a subject; "" when it is."""
        if self.when and not getattr(subject.thing, self.when):
            return f"{self.when} is false"
        return ""


Function = TypeVar("Function", bound=Callable[[Any, Context], str | None])
_ALL: dict[str, Check] = {}


def check(kind: str, *, when: str = "", level: str = "fast") -> Callable[[Function], Function]:
    """Make a function a check of a kind of subjects."""

    def declare(function: Function) -> Function:
        name = function.__name__
        if not name.startswith("check_") or not function.__doc__ or name in _ALL:
            raise DpspecError("check", "needs a name check_... of its own and a docstring", value=name)
        _ALL[name] = Check(name=name, kind=kind, call=function, when=when, level=level)
        return function

    return declare


def declared_checks() -> tuple[Check, ...]:
    """Every check that has been declared, in order."""
    return tuple(_ALL.values())
