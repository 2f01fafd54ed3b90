"""Reading a JSON file that may be anyone's: bounded, and with one meaning for every reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dpspec_checker.errors import DerivationFileError, DerivationTooLongError

MOST_BYTES = 64 * 1024 * 1024
"""Larger files are refused unread."""



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
        return json.loads(text, object_pairs_hook=_each_key_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as problem:
        raise DerivationFileError("file", f"is no JSON ({problem})", value=str(path)) from None


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table whose keys differ: of a key that occurs twice, readers see different values."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one table")
    return found


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")
