"""Project settings for all commands, from the table ``[tool.dpspec]`` of pyproject.toml.

The nearest pyproject.toml with this table counts, from the working directory upwards. What the command line says goes first.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from dpspec.base.errors import DpspecError, ParameterError, UnknownKeyError, UnreadableFileError, WrongShapeError
from dpspec.base.params import did_you_mean, raise_all

FILE, TABLE = "pyproject.toml", "tool.dpspec"
FORMATS = ("text", "json", "sarif")
TAKE_PATHS = ("check", "verify", "lint")
"""Commands that take the files of a project where none is named."""


def project_settings() -> Mapping[str, Any]:
    """The settings of the project that holds the working directory.

    Returns:
        `paths` (below the folder of the file), `format`, `jobs`, `cap` and `cache` (below it, too), as far as they are set.

    Raises:
        UnreadableFileError: the file is no TOML.
        UnknownKeyError, WrongShapeError, ParameterError: a key or a value that is wrong; all of them together.
    """
    here = Path.cwd()
    for place in (here, *here.parents):
        table = _table(place / FILE)
        if table is not None:
            return _read(table, place)
    return {}


def _table(path: Path) -> Any:
    """The table ``[tool.dpspec]`` of the file; None where it is absent."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    if "dpspec" not in text:  # most projects have no such table, and their file need not be parsed
        return None
    try:
        tool = tomllib.loads(text).get("tool")
    except tomllib.TOMLDecodeError as fault:
        raise UnreadableFileError(FILE, f"is no TOML ({fault})", f"correct it, or remove [{TABLE}]") from None
    return tool.get("dpspec") if isinstance(tool, dict) else None


def _read(table: Any, place: Path) -> Mapping[str, Any]:
    if not isinstance(table, dict):
        raise WrongShapeError(f"{FILE}: {TABLE}", "must be a table", f'write [{TABLE}] and below it format = "json"')
    faults: list[DpspecError] = []
    found: dict[str, Any] = {}
    for key, value in table.items():
        subject = f"{FILE}: {TABLE}.{key}"
        if key not in READERS:
            faults.append(UnknownKeyError(subject, "is no setting", did_you_mean(key, READERS) or f"known: {', '.join(READERS)}"))
            continue
        try:
            found[key] = READERS[key](value, subject, place)
        except DpspecError as fault:
            faults.append(fault)
    raise_all(faults)
    return found


def _paths(value: Any, subject: str, place: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(one, str) and one for one in value):
        raise WrongShapeError(subject, "must be a list of files or directories", 'write paths = ["specs"]')
    return tuple(os.path.relpath(place / one) for one in value)


def _format(value: Any, subject: str, _: Path) -> str:
    if value not in FORMATS:
        advice = did_you_mean(str(value), FORMATS) or f"write one of {', '.join(FORMATS)}"
        raise ParameterError(subject, "is no format", advice, value=value)
    return str(value)


def _jobs(value: Any, subject: str, _: Path) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ParameterError(subject, "must be a whole number from 1 on", "write jobs = 4", value=value)
    return value


def _cap(value: Any, subject: str, _: Path) -> str:
    from dpspec.base.exact import number

    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise WrongShapeError(subject, "must be a number", 'write cap = "3"')
    if number(str(value), subject) < 0:
        raise ParameterError(subject, "must not be negative", 'write cap = "3"', value=value)
    return str(value)


def _cache(value: Any, subject: str, place: Path) -> str:
    if not isinstance(value, str) or not value:
        raise WrongShapeError(subject, "must be a folder", 'write cache = ".dpspec-cache"')
    return os.path.relpath(place / value)


READERS: Mapping[str, Callable[[Any, str, Path], Any]] = {
    "paths": _paths, "format": _format, "jobs": _jobs, "cap": _cap, "cache": _cache,
}  # fmt: skip


def defaults_of(command: click.Command, name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as defaults of the parameters that a command has.

    Args:
        command: the command; a group is applied recursively.
        name: its name.
        settings: as `project_settings` gives them.
    """
    if isinstance(command, click.Group):
        context = click.Context(command)
        inner = {one: command.get_command(context, one) for one in command.list_commands(context)}
        return {one: defaults_of(found, one, settings) for one, found in inner.items() if found is not None}
    found: dict[str, Any] = {}
    for one in command.params:
        if one.name == "paths" and name in TAKE_PATHS and "paths" in settings:
            found["paths"] = settings["paths"]
        elif one.name == "as_json" and isinstance(one.type, click.Choice) and settings.get("format") in one.type.choices:
            found["as_json"] = settings["format"]
        elif one.name in ("jobs", "cap", "cache") and one.name in settings:
            found[one.name] = settings[one.name]
    return found
