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
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dpspec.base.errors import MissingPackageError, PluginContractError

GROUP = "dpspec"
"""The group of the entry points of plugins."""
COMMANDS, FUNCTIONS, SERVERS = "dpspec.commands", "dpspec.functions", "dpspec.servers"
RENDERERS, JUDGES = "dpspec.renderers", "dpspec.judges"


@cache
def contributed(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name.

    Where two packages use one name, a first-party package has it, else the first package by name.
    """
    by_name: dict[str, list[EntryPoint]] = defaultdict(list)
    for one in entry_points(group=group):
        by_name[one.name].append(one)
    return MappingProxyType({name: min(found, key=_rank) if len(found) > 1 else found[0] for name, found in by_name.items()})


def _rank(point: EntryPoint) -> tuple[bool, str]:
    package = "" if point.dist is None else point.dist.name
    return package not in first_party(), package


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
