"""From a file to TOML data: limits first, then the parser; numbers stay exactly as written."""

from __future__ import annotations

import math
import re
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

from dpspec.errors import SpecFileError, SpecSyntaxError, SpecTooLargeError, UnreadableFileError
from dpspec.files import read_bytes

SIZE_LIMIT = 1_000_000
"""The largest specification file that is read, in bytes."""
DEPTH_LIMIT = 32
"""The deepest nesting of lists, tables and dotted keys that is read."""

LONGEST_WORD = 2000
"""The longest bare key or number; a longer integer could not even be shown."""

SUFFIX = ".dpspec.toml"

_MARK = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}.=,\n]'
    r"|[0-9A-Za-z_+-]{2000,}",
    re.DOTALL,
)
_ADVICE = "a specification holds parameters, not data"
_LINE = re.compile(r"at line (\d+)")


class WrittenNumber(Decimal):
    """A decimal number exactly as it is written in the file."""

    def __repr__(self) -> str:
        return str(self)


def load_text(path: Path) -> str:
    """The text of a specification file.

    Raises:
        as `load_bytes` and `decoded`.
    """
    return decoded(load_bytes(path))


def load_bytes(path: Path) -> bytes:
    """A specification file as it lies on disk; it is opened once, and no more than a little beyond the limit is read.

    Raises:
        SpecFileError: there is no such file, or it cannot be read.
        NotAFileError: it is a pipe, a socket, a device.
        SpecTooLargeError: above 1 MB.
    """
    try:
        if path.is_dir():
            raise SpecFileError("file", "is a directory", f"name a file *{SUFFIX} in it", value=str(path))
        content = read_bytes(path, SIZE_LIMIT)
    except (OSError, ValueError) as problem:  # a zero byte in the path, or a name that is too long
        reason = getattr(problem, "strerror", None) or "this is no path"
        raise SpecFileError("file", f"cannot be read ({reason})", "check the path", value=str(path)) from None
    except UnreadableFileError as problem:
        raise SpecFileError("file", problem.rule, problem.advice, value=str(path)) from None
    if len(content) > SIZE_LIMIT:
        raise _too_large(f"is larger than {SIZE_LIMIT:,} bytes", path.stat().st_size)
    return content


def decoded(content: bytes) -> str:
    """The text of a specification file from its bytes.

    Raises:
        SpecSyntaxError: it is not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        fault = SpecSyntaxError("text", f"is not UTF-8 (byte {problem.start})", "save the file as UTF-8")
        fault.line = content.count(b"\n", 0, problem.start) + 1
        raise fault from None


def parse(text: str) -> dict[str, Any]:
    """TOML data with exact numbers; a text that is too large or too deep is refused before it is parsed.

    Raises:
        SpecTooLargeError, SpecSyntaxError.

    >>> parse("p = 0.1")
    {'p': 0.1}
    """
    if len(text) > SIZE_LIMIT:
        raise _too_large(f"is larger than {SIZE_LIMIT:,} characters", len(text))
    _check_depth(text)
    try:
        return tomllib.loads(text, parse_float=_read_float)
    except ValueError as problem:
        found = _LINE.search(str(problem))
        rule = re.sub(r"\s*\(at .*\)$", "", str(problem)).rstrip(".")
        rule = rule if len(rule) <= 200 else rule[:197] + "..."
        fault = SpecSyntaxError("TOML", rule[:1].lower() + rule[1:], "texts are quoted, a key stands once in its table")
        fault.line = int(found[1]) if found else len(text.splitlines())
        raise fault from None


def _read_float(written: str) -> Any:
    if written.lstrip("+-") == "inf":
        return -math.inf if written.startswith("-") else math.inf
    return WrittenNumber(written)


def _check_depth(text: str) -> None:
    """Brackets and the steps of dotted keys, counted outside strings and comments without recursion; endless words."""
    depth = dots = 0
    for found in _MARK.finditer(text):
        mark = found[0]
        if len(mark) >= LONGEST_WORD and mark[0] not in "\"'#":
            raise _too_large_at("word", f"is longer than {LONGEST_WORD} characters", text, found.start())
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        dots = dots + 1 if mark == "." else 0 if mark in "[{=,\n" else dots
        if depth + dots > DEPTH_LIMIT:
            raise _too_large_at("nesting", f"is deeper than {DEPTH_LIMIT}", text, found.start())


def _too_large(rule: str, size: int) -> SpecTooLargeError:
    return SpecTooLargeError("size", rule, _ADVICE, value=size)


def _too_large_at(subject: str, rule: str, text: str, place: int) -> SpecTooLargeError:
    fault = SpecTooLargeError(subject, rule, _ADVICE)
    fault.line = text.count("\n", 0, place) + 1
    return fault
