"""Fingerprint of the functions, classes and limits that dpspec uses, so that code that replaces some of them is reported.

A module that patches `fractions.Fraction` or `dpspec.verifier` changes what a verdict computed in its process means. Such a patch
is a fault of the module, and no property of the function that is verified.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Container, Iterator
from operator import attrgetter, is_
from types import CodeType, FunctionType, GetSetDescriptorType, MappingProxyType, MemberDescriptorType, ModuleType
from typing import Any

import attrs

from dpspec import DpspecError
from dpspec.plugin.judges import LibraryError

PACKAGES = ("dpspec.", "dpspec_")
"""How the names of first-party modules begin."""
MODULES = (
    "builtins", "decimal", "fractions", "functools", "itertools", "json", "math", "numbers", "numpy", "operator", "os", "pickle",
    "signal", "threading", "time",
)  # fmt: skip
_CHECKED = (GetSetDescriptorType, MemberDescriptorType, property, staticmethod, classmethod)
"""Kinds of values that are checked in addition to everything callable."""


class FunctionPatchesError(DpspecError):
    """A user's code replaces functions or classes of dpspec, or of a library that dpspec computes with."""

    code = "function-patches"


@attrs.frozen(eq=False)
class _Namespace:
    """The content of a module or a class at one moment.

    Args:
        now: its content, as it is at any time. name: of the module or class. keys, values: what it contained then.
    """

    now: Any
    name: str
    keys: tuple[str, ...]
    values: tuple[Any, ...]

    @classmethod
    def of(cls, space: Any, name: str) -> _Namespace:
        """The content of `space` at present."""
        return cls(space, name, tuple(space), tuple(space.values()))

    def is_same(self) -> bool:
        """Whether nothing in it was replaced, added or removed. All of it runs in C: there are tens of thousands of values."""
        return tuple(self.now) == self.keys and all(map(is_, self.now.values(), self.values))

    def changed(self) -> str:
        """The name of something that is checked and was replaced; empty for nothing, where only data are other ones."""
        for key, value in zip(self.keys, self.values, strict=True):
            if _is_checked(value) and self.now.get(key) is not value:
                return f"{self.name}.{key}"
        for key in _operators(self.now).difference(self.keys) if isinstance(self.now, MappingProxyType) else ():
            return f"{self.name}.{key}"
        return ""

    def names_of(self, values: Container[int]) -> Iterator[str]:
        """The names of some of its values, which are given by their `id`."""
        return (f"{self.name}.{key}" for key, value in zip(self.keys, self.values, strict=True) if id(value) in values)


@attrs.frozen(eq=False)
class Fingerprint:
    """The functions and classes of some modules, as they are at one moment.

    Args:
        namespaces: the modules and classes.
        functions, codes: the functions in them, each once, and the code of each.

    >>> import math
    >>> fingerprint, kept = Fingerprint.taken(), math.exp
    >>> math.exp = lambda x: 1.0
    >>> fingerprint.changed()
    'math.exp'
    >>> math.exp = kept
    >>> fingerprint.changed()
    ''
    """

    namespaces: tuple[_Namespace, ...]
    functions: tuple[FunctionType, ...]
    codes: tuple[CodeType, ...]

    @classmethod
    def taken(cls) -> Fingerprint:
        """The fingerprint now."""
        found = tuple(_namespaces())
        functions = tuple(dict.fromkeys(value for space in found for value in space.values if type(value) is FunctionType))
        return cls(found, functions, tuple(map(_CODE, functions)))

    def changed(self) -> str:
        """The name of something that was replaced since then; empty for nothing."""
        name = next((name for space in self.namespaces if not space.is_same() and (name := space.changed())), "")
        if name or all(map(is_, map(_CODE, self.functions), self.codes)):
            return name
        states = zip(self.functions, self.codes, strict=True)
        others = {id(function) for function, code in states if function.__code__ is not code}
        return next(name for space in self.namespaces for name in space.names_of(others))

    def check(self, about: str) -> None:
        """Refuse code that replaced something.

        Args:
            about: whose code ran.

        Raises:
            FunctionPatchesError: it did.
        """
        name = self.changed()
        if name:
            rule = f"replaces {name}, which dpspec computes with"
            raise FunctionPatchesError("function", rule, "leave other modules as they are: write it into your own", value=about)


_CODE = attrgetter("__code__")


def _namespaces() -> Iterator[_Namespace]:
    for name, module in list(sys.modules.items()):
        if not isinstance(module, ModuleType) or not (name.startswith(PACKAGES) or name in MODULES):
            continue
        space = vars(module)
        yield _Namespace.of(space, name)
        for key, value in list(space.items()):
            if isinstance(value, type) and value.__module__ == name:
                yield _Namespace.of(vars(value), f"{name}.{key}")


def _is_checked(value: Any) -> bool:
    return callable(value) or isinstance(value, _CHECKED)


def _operators(space: Any) -> set[str]:
    """The special methods of a class, such as `__eq__`: one that is added changes what the class does."""
    return {key for key, value in space.items() if key.startswith("__") and _is_checked(value)}


# --- the process ----------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class ProcessSettings:
    """Process settings that a module may change, and that are restored once it is imported: they affect the measurement of calls.

    Args:
        handlers: of signals. limits: of resources. recursion: how deep calls may be.
    """

    handlers: dict[Any, Any]
    limits: dict[str, tuple[int, int]]
    recursion: int

    @classmethod
    def taken(cls) -> ProcessSettings:
        """The settings now."""
        handlers = {number: signal.getsignal(number) for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}}
        return cls(handlers=dict(handlers), limits=_limits(), recursion=sys.getrecursionlimit())

    def restore(self, about: str) -> None:
        """Put them back; limits that are raised stay.

        Raises:
            FunctionPatchesError: a limit was lowered that cannot be raised again.
        """
        for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
            signal.setitimer(timer, 0)
        for number, handler in self.handlers.items():
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        sys.setrecursionlimit(max(self.recursion, sys.getrecursionlimit()))
        sys.settrace(None)
        sys.setprofile(None)
        for name, before in self.limits.items():
            if _is_lower(_limits()[name], before):
                import resource

                with contextlib.suppress(OSError, ValueError):
                    resource.setrlimit(getattr(resource, name), before)
        self.check(about)

    def check(self, about: str) -> None:
        """Refuse code that lowered a limit of its process: whatever fails then is its doing.

        Args:
            about: whose code ran.

        Raises:
            FunctionPatchesError: it did.
        """
        now = _limits()
        lowered = {name: now[name][0] for name, before in self.limits.items() if _is_lower(now[name], before)}
        if sys.getrecursionlimit() < self.recursion:
            lowered["the recursion limit"] = sys.getrecursionlimit()
        for name, limit in lowered.items():
            rule = f"lowers {name} of its process to {limit:,}"
            raise FunctionPatchesError("function", rule, "leave the limits as they are", value=about)


_LIMITS = ("RLIMIT_AS", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_NPROC", "RLIMIT_STACK")


def _limits() -> dict[str, tuple[int, int]]:
    """The limits on resources of this process, where there are such."""
    try:
        import resource
    except ImportError:
        return {}
    return {name: resource.getrlimit(getattr(resource, name)) for name in _LIMITS if hasattr(resource, name)}


def _is_lower(now: tuple[int, int], before: tuple[int, int]) -> bool:
    return any(one >= 0 and (other < 0 or one < other) for one, other in zip(now, before, strict=True))  # negative: no limit


def explained(problem: BaseException, fingerprint: Fingerprint, settings: ProcessSettings, about: str) -> DpspecError | None:
    """What the user's code did that explains an exception which is no error of dpspec; None for nothing that is known."""
    try:
        fingerprint.check(about)
        settings.check(about)
    except DpspecError as fault:
        return fault
    if isinstance(problem, MemoryError):
        return LibraryError("function", "exhausts memory", "let it use less, or give the process more", value=about)
    return None
