"""Where the keys of a TOML text stand: dotted paths to line numbers.

`tomllib` gives values without positions. This module scans a text that `tomllib` has already accepted, so it may
rely on it being well formed, and records the line of every table, key and list entry under its dotted path:
``space.household[1].count``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from dpspec.errors import DpspecError

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'',
    re.DOTALL,
)
_SCALAR = re.compile(r"[^\s,\]}#]+(?: \d[^\s,\]}#]*)?")
"""A number, a truth value, or a date; a date may have its time behind a blank."""


@attrs.frozen(kw_only=True)
class Positions:
    """The lines of one TOML text.

    Args:
        lines: dotted path to line (1-based).
        leaves: dotted path to the written form of each plain value and of each list.

    >>> Positions.of('[budget]\\nrho = "2.63"\\n', {"budget": {"rho": "2.63"}}).lines["budget.rho"]
    2
    """

    lines: Mapping[str, int]
    leaves: Mapping[str, str]

    @classmethod
    def of(cls, text: str, data: Mapping[str, Any]) -> Positions:
        """The positions of a text and of the data that `tomllib` made of it."""
        return cls(lines=_Scanner(text).scan(), leaves=dict(_leaves(data, "")))

    def of_fault(self, fault: DpspecError, path: str) -> int:
        """The line of a fault that was found while the table or value at `path` was read.

        The fault's own subject decides when it is a path at or below `path`, or the name of a key below it; then
        a value below `path` that equals the offending one; then the nearest table around.
        """
        subject = fault.subject
        if _below(subject, path):
            path = subject
        elif f"{path}.{subject}" in self.lines:
            path = f"{path}.{subject}"
        else:
            path = self._mention(fault, path) or path
        return self.nearest(path)

    def nearest(self, path: str) -> int:
        """The line of a path or of the nearest path around it."""
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]  # a key may hold both: each turn is shorter all the same
        return self.lines.get(path, 1)

    def _mention(self, fault: DpspecError, path: str) -> str | None:
        if isinstance(fault.value, (str, tuple)):
            for leaf, written in self.leaves.items():
                if _below(leaf, path) and written == str(fault.value):
                    return leaf
        word = fault.subject.rpartition(" ")[2]
        for leaf, written in self.leaves.items():
            if _below(leaf, path) and (written == word or leaf.endswith(f".{word}")):
                return leaf
        return None


def _below(path: str, root: str) -> bool:
    return not root or path == root or path.startswith((f"{root}.", f"{root}["))


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _leaves(entry, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        yield path, str(tuple(value))
        for place, entry in enumerate(value):
            yield from _leaves(entry, f"{path}[{place}]")
    else:
        yield path, str(value)


def _key(written: str) -> str:
    """A key as it is meant: its quotes and escapes resolved."""
    return str(next(iter(tomllib.loads(f"{written} = 0")))) if written[0] in "\"'" else written


class _Scanner:
    """One pass over a well-formed TOML text."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0
        self.lines: dict[str, int] = {}
        self.entries: dict[str, int] = {}
        self._counted, self._line = 0, 1

    def scan(self) -> dict[str, int]:
        table = ""
        self._skip()
        while self.place < len(self.text):
            table = self._header() if self._at("[") else self._pair(table)
            self._skip()
        return self.lines

    # -- grammar ----------------------------------------------------------------------------------

    def _header(self) -> str:
        array = self.text.startswith("[[", self.place)
        line = self._here()
        self.place += 2 if array else 1
        path = ""
        keys = self._keys()
        for key in keys[:-1]:
            path = self._last_entry(self._mark(path, key, line))
        path = self._mark(path, keys[-1], line)
        if array:
            place = self.entries[path] = self.entries.get(path, -1) + 1
            path = f"{path}[{place}]"
            self.lines[path] = line
        else:
            path = self._last_entry(path)
            self.lines[path] = line
        self.place += 2 if array else 1
        return path

    def _pair(self, table: str) -> str:
        line, path = self._here(), table
        for key in self._keys():
            path = self._mark(path, key, line)
        self.place += 1  # the equals sign
        self._value(path)
        return table

    def _value(self, path: str) -> None:
        self._skip()
        if self.place >= len(self.text):  # not reached on a text that tomllib accepts
            return
        if self._at("["):
            self._list(path)
        elif self._at("{"):
            self._inline(path)
        else:
            found = (_STRING if self.text[self.place] in "\"'" else _SCALAR).match(self.text, self.place)
            self.place = found.end() if found else len(self.text)

    def _list(self, path: str) -> None:
        self.place += 1
        self._skip()
        entry = 0
        while self.place < len(self.text) and not self._at("]"):
            self.lines[f"{path}[{entry}]"] = self._here()
            self._value(f"{path}[{entry}]")
            entry += 1
            self._comma()
        self.place += 1

    def _inline(self, path: str) -> None:
        self.place += 1
        self._skip()
        while self.place < len(self.text) and not self._at("}"):
            self._pair(path)
            self._comma()
        self.place += 1

    def _keys(self) -> list[str]:
        keys: list[str] = []
        while True:
            self._skip()
            found = _BARE.match(self.text, self.place) or _STRING.match(self.text, self.place)
            if found is None:  # not reached on a text that tomllib accepts
                self.place = len(self.text)
                return keys or [""]
            keys.append(_key(found[0]))
            self.place = found.end()
            self._skip()
            if not self._at("."):
                return keys
            self.place += 1

    # -- helpers ----------------------------------------------------------------------------------

    def _at(self, character: str) -> bool:
        return self.text.startswith(character, self.place)

    def _skip(self) -> None:
        found = _BLANK.match(self.text, self.place)
        self.place = found.end() if found else self.place

    def _comma(self) -> None:
        self._skip()
        if self._at(","):
            self.place += 1
            self._skip()

    def _here(self) -> int:
        self._line += self.text.count("\n", self._counted, self.place)
        self._counted = self.place
        return self._line

    def _mark(self, table: str, key: str, line: int) -> str:
        path = f"{table}.{key}" if table else key
        self.lines.setdefault(path, line)
        return path

    def _last_entry(self, path: str) -> str:
        return f"{path}[{self.entries[path]}]" if path in self.entries else path
