"""Contributions of packages other than registered names, and the package to install for a missing name.

A package contributes commands and functions by entry points: click commands in the group ``dpspec.commands``, functions of
`dpspec` in the group ``dpspec.functions``. Both return an answer. A command in the group ``dpspec.servers`` returns none: it runs
until it is stopped, and writes to the standard output itself. A function in the group ``dpspec.renderers`` makes a form that
dpspec alone does not make: the SVG of a figure, its file, a page as an HTML file, or SARIF; or what keeps the budget
of a release. In the group ``dpspec.judges``, the name `function` has the class that judges claims about plain functions.

A package that imports nothing of dpspec returns any object with `command`, `exit_code`, `content`, `words` and `value`, and
raises errors with `code`, `exit_code`, `subject`, `rule`, `advice` and `given`.

`first_party.toml` lists what each first-party package brings (docs/make_packages.py). It is read only to say what to install.
"""

from __future__ import annotations

import tomllib
import traceback
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dpspec.base.errors import DpspecError, MissingPackageError, PluginContractError, PluginLoadError, raised_at, text_of
from dpspec.base.time_limits import Cut, cutting, ending
from dpspec.base.work import WorkSpent

GROUP = "dpspec"
"""The group of the entry points of plugins."""
COMMANDS, FUNCTIONS, SERVERS = "dpspec.commands", "dpspec.functions", "dpspec.servers"
RENDERERS, JUDGES = "dpspec.renderers", "dpspec.judges"


LOAD = 5.0
"""Code of a package that is imported or registers is cut when it had twice so many seconds."""


@contextmanager
def loading(distribution: str, subject: str, name: str = "", place: str = "") -> Iterator[None]:
    """Raise whatever code of a package raises while it is imported or registers as an error that names it, and limit its time.

    Args:
        distribution: the package; a first-party one has no limit.
        subject: what an error calls it.
        name, place: a registered name, and the place of its class, where it is that which is imported.

    Raises:
        PluginLoadError: it did not end, or raised what is no error of dpspec.

    >>> with loading("dpspec-example", "plugin example"):
    ...     raise SystemExit(0)
    Traceback (most recent call last):
    ...
    dpspec.base.errors.PluginLoadError: plugin example: raised SystemExit: 0 ...: correct or uninstall it
    """
    failed, given = (f"cannot load {name}: ", {"value": place}) if name else ("raised ", {})
    with nullcontext() if is_first_party(distribution) else _limited(subject):
        try:
            yield
        except (DpspecError, *_NOT_OF_A_PLUGIN):
            raise
        except BaseException as problem:  # a plugin may raise anything; it must not take the others down
            rule = f"{failed}{type(problem).__name__}: {text_of(problem)} ({raised_at(problem)})"
            raise PluginLoadError(subject, rule, "correct or uninstall it", **given) from problem


@contextmanager
def _limited(subject: str) -> Iterator[None]:
    """Raise PluginLoadError in code of a package that does not end."""
    try:
        with ending(subject, 3 * LOAD), cutting(lambda: 0, LOAD):
            yield
    except Cut as cut:
        rule = f"did not end within {2 * LOAD:g} s while it was loaded ({raised_at(cut)})"
        raise PluginLoadError(subject, rule, "correct or uninstall it") from None


_NOT_OF_A_PLUGIN = (KeyboardInterrupt, WorkSpent, Cut)
"""Raised in the middle of any code by what is around it."""


class Contribution:
    """What a package contributes under a name. (No attrs class: `dpspec --help` imports this module.)

    Args:
        point: its entry point.
    """

    def __init__(self, point: EntryPoint) -> None:
        self.module, self.dist, self._point = point.module, point.dist, point
        self._fault: DpspecError | None = None

    def load(self) -> Any:
        """Import it.

        Raises:
            PluginLoadError: a package that is not of dpspec failed.
        """
        package = self.module.partition(".")[0] if self.dist is None else self.dist.name
        if is_first_party(package):
            return self._point.load()
        if self._fault is None:  # what did not end is not tried again
            try:
                with loading(package, f"package {package}"):
                    return self._point.load()
            except DpspecError as fault:
                self._fault = fault
        raise self._fault


@cache
def contributed(group: str) -> Mapping[str, Contribution]:
    """The contributions to a group by name.

    Where two packages use one name, a first-party package has it, else the first package by name.
    """
    by_name: dict[str, list[EntryPoint]] = defaultdict(list)
    for one in entry_points(group=group):
        by_name[one.name].append(one)
    return MappingProxyType({name: Contribution(min(found, key=_rank)) for name, found in by_name.items()})


def _rank(point: EntryPoint) -> tuple[bool, str]:
    package = "" if point.dist is None else point.dist.name
    return package not in first_party(), package


def is_first_party(distribution: str) -> bool:
    """Whether a package is one of dpspec."""
    return distribution == "dpspec" or distribution in first_party()


@cache
def first_party() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """The contents of each first-party package: `commands`, `functions`, `judges`, `renderers`, `classes`, and registered
    names."""
    from importlib.resources import files

    text = files("dpspec.extension").joinpath("first_party.toml").read_text(encoding="utf-8")
    return MappingProxyType(tomllib.loads(text))


def plugin_of(problem: BaseException) -> tuple[str, str] | None:
    """The plugin of another package through whose code an exception came, and the file and line there; None where none did.

    The last such place counts: what is called with wrong arguments from there may raise anything.
    """
    first = {"dpspec", *first_party()}
    named = {
        point.module.partition(".")[0]: point.name
        for point in entry_points(group=GROUP)
        if point.dist is None or point.dist.name not in first
    }
    found = None
    for frame, line in traceback.walk_tb(problem.__traceback__):
        plugin = named.get(str(frame.f_globals.get("__name__", "")).partition(".")[0])
        if plugin is not None:
            found = plugin, f"{Path(frame.f_code.co_filename).name}, line {line}"
    return found


def missing_package(name: str, *kinds: str) -> str | None:
    """The first-party package that brings a name and is not installed; None where there is none.

    Args:
        name: the name.
        kinds: what it may be: commands, functions, judges, renderers, classes, or kinds of registered names; without any, all of
            these.
    """
    for package, brings in first_party().items():
        if any(name in names for kind, names in brings.items() if kind in kinds or not kinds) and _is_absent(package):
            return package
    return None


def renderer(name: str, subject: str) -> Any:
    """The function that an installed package contributes under a name in the group ``dpspec.renderers``.

    Args:
        name: ``chart``, ``diagram``, ``document``, ``side-by-side``, ``figure-file``, ``sarif``, ``draft``, ``margins`` or
            ``release-guard``.
        subject: what a message calls the form that is missing, such as "format sarif".

    Raises:
        MissingPackageError: the first-party package that contributes it is not installed.
        PluginContractError: this package is installed, in a version without it.
    """
    return _loaded(RENDERERS, name, subject)


def function(name: str, subject: str) -> Any:
    """The function that an installed package contributes under a name in the group ``dpspec.functions``.

    Args:
        name: its name.
        subject: what a message calls that which needs it, such as "option --locked".

    Raises:
        MissingPackageError: the first-party package that contributes it is not installed.
        PluginContractError: this package is installed, in a version without it.
    """
    return _loaded(FUNCTIONS, name, subject)


def _loaded(group: str, name: str, subject: str) -> Any:
    found = contributed(group).get(name)
    if found is not None:
        return found.load()
    kind = group.partition(".")[2]
    package = missing_package(name, kind)
    if package is None:
        raise PluginContractError(subject, f"has no {kind[:-1]} {name}", "install all packages of dpspec in one version")
    raise MissingPackageError(subject, package)


def _is_absent(package: str) -> bool:
    try:
        distribution(package)
    except PackageNotFoundError:
        return True
    return False
