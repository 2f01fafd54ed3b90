"""Fingerprint of the functions, classes and limits that dpspec uses, so that code that replaces some of them is reported.

A module that patches `fractions.Fraction` or `dpspec.verifier` changes what a verdict computed in its process means. Such a patch
is a fault of the module, and no property of the function that is verified.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from types import FunctionType, GetSetDescriptorType, MappingProxyType, MemberDescriptorType, ModuleType
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
            for key in _operators(space).difference(before) if isinstance(space, MappingProxyType) else ():
                return f"{name}.{key}"
        return ""

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
    return {key: (value, _code(value)) for key, value in space.items() if _is_checked(value)}


def _is_checked(value: Any) -> bool:
    return callable(value) or isinstance(value, _CHECKED)


def _operators(space: Any) -> set[str]:
    """The special methods of a class, such as `__eq__`: one that is added changes what the class does."""
    return {key for key, value in space.items() if key.startswith("__") and _is_checked(value)}


def _code(value: Any) -> Any:
    return value.__code__ if isinstance(value, FunctionType) else None


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
