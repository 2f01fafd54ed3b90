"""Reading a JSON file, and the TOML texts in it, that may be anyone's: bounded, and with one meaning for every reader."""

from __future__ import annotations

import json
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from dpspec_checker.errors import DerivationFileError, DerivationTooLongError

T = TypeVar("T")

MOST_BYTES = 64 * 1024 * 1024
"""Larger files are refused unread."""
MOST_NESTED = 64
"""Deeper data is refused: functions that descend into it would end with a RecursionError. No proof has more than 20 levels."""


def read_json(path: str | Path) -> Any:
    """The data of a file that may be anybody's.

    Raises:
        DerivationFileError, DerivationTooLongError: no file, no JSON, or too large.
    """
    try:
        if Path(path).exists() and not Path(path).is_file():
            raise DerivationFileError("file", "is a directory, a pipe or a device", "give a file on a disk", value=str(path))
        with Path(path).open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    except OSError as problem:
        raise DerivationFileError("file", f"cannot be read ({problem.strerror})", value=str(path)) from None
    if len(text) > MOST_BYTES:
        raise DerivationTooLongError("file", f"is larger than {MOST_BYTES} bytes", value=str(path))
    try:
        return _shallow(json.loads(text, object_pairs_hook=_each_key_once, parse_constant=_no_number))
    except (ValueError, RecursionError) as problem:
        raise DerivationFileError("file", f"is no JSON ({problem})", value=str(path)) from None


def toml_tables(text: str) -> dict[str, Any]:
    """The tables of a specification, with decimals as they are written.

    Raises:
        ValueError: it is no TOML, is nested too deeply, or holds a whole number of more digits than Python reads.
    """
    try:
        return _shallow(tomllib.loads(text, parse_float=Decimal))
    except RecursionError:
        raise ValueError("the text is nested too deeply") from None


def _shallow(data: T) -> T:
    """The data, where it is not nested too deeply."""
    level: list[Any] = [data] if isinstance(data, (dict, list)) else []
    for _ in range(MOST_NESTED):
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
        level = [one for one in level if isinstance(one, (dict, list))]
        if not level:
            return data
    raise ValueError(f"the data is nested more than {MOST_NESTED} levels deep")


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table whose keys differ: of a key that occurs twice, readers see different values."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one table")
    return found


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")
