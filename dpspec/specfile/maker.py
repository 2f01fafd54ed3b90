"""From TOML tables to registered objects; every fault goes into a log with its line, and reading goes on.

`FilePositions` knows the line of every key by its dotted path.

`tomllib` gives values without positions. This module scans a text that `tomllib` has already accepted, so it may
rely on it being well formed, and records the line of every table, key and list entry under its dotted path:
``space.household[1].count``.
"""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from dpspec.base.errors import (
    DpspecError,
    MissingKeyError,
    ParameterError,
    PluginContractError,
    SpecError,
    WrongShapeError,
    raised_at,
)
from dpspec.base.params import (
    FAILED,
    UNKNOWN_KEYS_SHOWN,
    Domain,
    Exact,
    Integer,
    Items,
    Nested,
    Pairs,
    Parameter,
    Rational,
    Registered,
    Structurer,
    each,
)

if TYPE_CHECKING:
    from dpspec.extension import Registry

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'',
    re.DOTALL,
)
_SCALAR = re.compile(r"[^\s,\]}#]+(?: \d[^\s,\]}#]*)?")
"""A number, a truth value, or a date; a date may have its time behind a blank."""


@attrs.frozen(kw_only=True)
class FilePositions:
    """The lines of one TOML text.

    They are found when the first one is needed: a file without faults is not scanned a second time.

    Args:
        text: the text.
        data: what `tomllib` made of it.

    >>> FilePositions.of('[budget]\\nrho = "2.63"\\n', {"budget": {"rho": "2.63"}}).lines["budget.rho"]
    2
    """

    text: str
    data: Mapping[str, Any]

    @classmethod
    def of(cls, text: str, data: Mapping[str, Any]) -> FilePositions:
        """The positions of a text and of the data that `tomllib` made of it."""
        return cls(text=text, data=data)

    @functools.cached_property
    def lines(self) -> Mapping[str, int]:
        """Dotted path to line (1-based)."""
        return _Scanner(self.text).scan()

    @functools.cached_property
    def leaves(self) -> Mapping[str, str]:
        """Dotted path to the written form of each plain value and of each list."""
        return dict(_leaves(self.data, ""))

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
            written = found[0]  # of a quoted key the parser resolves the escapes
            keys.append(next(iter(tomllib.loads(f"{written} = 0"))) if written[0] in "\"'" else written)
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
        # From the place of the last call on: from the beginning, all calls together would take quadratic time.
        self._line += self.text.count("\n", self._counted, self.place)
        self._counted = self.place
        return self._line

    def _mark(self, table: str, key: str, line: int) -> str:
        path = f"{table}.{key}" if table else key
        self.lines.setdefault(path, line)
        return path

    def _last_entry(self, path: str) -> str:
        return f"{path}[{self.entries[path]}]" if path in self.entries else path


# --- log and maker --------------------------------------------------------------------------------


Result = TypeVar("Result")

FAULTS_SHOWN = 100
"""The largest number of faults of one file that are shown; the others are counted."""
DIGITS = 2000
"""No privacy number has more digits, or a decimal exponent of more than four digits."""

_HUGE_EXPONENT = re.compile(r"[eE][+-]?[0-9_]{5,}")
_SHAPES: dict[type, str] = {dict: "table", list: "list", str: "text"}


class Log:
    """The faults of one file, each with its file and line."""

    def __init__(self, file: str, positions: FilePositions) -> None:
        self.file, self.positions = file, positions
        self.faults: list[DpspecError] = []
        self.found = 0

    def add(self, fault: DpspecError, path: str) -> None:
        """Record a fault that was raised while `path` was read; a group of faults is recorded one by one."""
        for single in each(fault):
            if single.file is not None:
                continue
            self.found += 1
            if self.found <= FAULTS_SHOWN:
                single.file, single.line = self.file, self.positions.of_fault(single, path)
                self.faults.append(single)

    def attempt(self, path: str, call: Callable[[], Result]) -> Result | None:
        """The result of a call; its faults are recorded at `path`."""
        try:
            return call()
        except DpspecError as fault:
            self.add(fault, path)
            return None

    def in_line_order(self) -> list[DpspecError]:
        """Every different fault once, from the top of the file to its end."""
        once = {str(fault): fault for fault in self.faults}
        listed = sorted(once.values(), key=lambda fault: fault.line or 0)
        if self.found > FAULTS_SHOWN:
            rest = SpecError("file", f"has {self.found:,} faults", f"the first {FAULTS_SHOWN} that were found are shown")
            rest.file = self.file
            listed.append(rest)
        return listed


def shape_of(value: object) -> str:
    """The type of a TOML value, in one word."""
    return _SHAPES.get(type(value), "number" if not isinstance(value, bool) else "truth value")


class Maker(Structurer):
    """The structurer of spec files: faults go to the log with their lines, tables with the key ``type`` become objects.

    Args:
        registry: what names mean.
        log: where faults go.
    """

    def __init__(self, registry: Registry, log: Log) -> None:
        self.registry, self.log = registry, log

    def registered(self, kind: str, value: Any, path: str) -> Any:
        """The object of a registered kind that a table with the key ``type`` describes, or FAILED.

        A text is short for a table with nothing but that type.
        """
        if isinstance(value, str):
            value = {"type": value}
        table = self.table(value, path)
        if table is None:
            return FAILED
        name = table.get("type")
        if name is None:
            known = ", ".join(self.registry.names(kind))
            return self.fail(MissingKeyError(f"{path}.type", "is missing", f"name one of {known}"), path)
        if not isinstance(name, str):
            return self.fail(WrongShapeError(f"{path}.type", f"must be a text, not a {shape_of(name)}", value=name), path)
        cls = self.attempt(f"{path}.type", lambda: self.registry.get(kind, name))
        if cls is FAILED:
            return FAILED
        return self.make(cls, {key: entry for key, entry in table.items() if key != "type"}, path)

    def construct(self, cls: type, values: Mapping[str, Any], path: str) -> Any:
        """The object of read values, or FAILED; what a plugin's class raises is a fault of the plugin."""
        try:
            return super().construct(cls, values, path)
        except Exception as problem:
            broken = PluginContractError(
                f"plugin {self.registry.provenance(cls).plugin}",
                f"raised {type(problem).__name__} while it made a {getattr(cls, 'name', cls.__name__)}: {problem} "
                f"({raised_at(problem)})",
                "correct the plugin",
            )
            broken.__cause__ = problem
            return self.fail(broken, path)

    def value(self, domain: Domain, value: Any, path: str) -> Any:
        """A value read by its domain, with the tables inside it made into objects, or FAILED."""
        if isinstance(domain, (Rational, Exact, Integer)) and _is_huge(value):
            rule = f"has more than {DIGITS} digits or a five-digit exponent"
            return self.fail(ParameterError(path, rule, "no privacy number needs that", value=str(value)), path)
        prepared = self._prepared(domain, value, path)
        return FAILED if prepared is FAILED else super().value(domain, prepared, path)

    def absent(self, key: str, declared: Mapping[str, Parameter], table: Mapping[str, Any], path: str) -> Any:
        """FAILED, with a fault, unless an unknown key of the table is meant for it: that one is reported already."""
        if key in misspelt(table, declared):
            return FAILED
        advice = f"write {key} = <{declared[key].domain.describe()}>"
        return self.fail(MissingKeyError(f"{path}.{key}", "is missing", advice), path)

    def table(self, value: Any, path: str) -> Mapping[str, Any] | None:
        """The value as a table; a fault otherwise."""
        if isinstance(value, Mapping):
            return value
        self.fail(WrongShapeError(path, f"must be a table, not a {shape_of(value)}", "write keys and values in it"), path)
        return None

    def fail(self, fault: DpspecError, path: str) -> Any:
        """Record a fault in the log."""
        self.log.add(fault, path)
        return FAILED

    def _prepared(self, domain: Domain, value: Any, path: str) -> Any:
        """The value with every table that describes an object replaced by that object."""
        if isinstance(domain, Registered):
            return self.registered(domain.kind, value, path)
        if isinstance(domain, Nested) and isinstance(value, Mapping):
            return self.make(domain.cls, value, path)
        if isinstance(domain, Items) and isinstance(value, list) and _holds_objects(domain.item):
            made = [self._prepared(domain.item, entry, f"{path}[{place}]") for place, entry in enumerate(value)]
            return FAILED if any(entry is FAILED for entry in made) else made
        if isinstance(domain, Pairs) and isinstance(value, Mapping) and _holds_objects(domain.item):
            table = {key: self._prepared(domain.item, entry, f"{path}.{key}") for key, entry in value.items()}
            return FAILED if any(entry is FAILED for entry in table.values()) else table
        return value


def misspelt(table: Mapping[str, Any], known: Iterable[str]) -> set[str]:
    """The absent keys that the unknown keys of a table are close to: their absence is no fault of its own.

    >>> sorted(misspelt({"lenght": 3}, ["length", "unit"]))
    ['length']
    """
    known = list(known)
    unknown = [key for key in table if key not in known][:UNKNOWN_KEYS_SHOWN]
    absent = [key for key in known if key not in table]
    return {match for key in unknown for match in difflib.get_close_matches(key.replace("-", "_"), absent, n=1)}


def _holds_objects(domain: Domain) -> bool:
    if isinstance(domain, (Items, Pairs)):
        return _holds_objects(domain.item)
    return isinstance(domain, (Registered, Nested))


def _is_huge(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (str, int, Decimal)):
        return False
    if isinstance(value, int):
        # A digit has less than four bits; to count digits would take a conversion, whose time is quadratic.
        return value.bit_length() > 4 * DIGITS
    written = str(value)
    return len(written) > DIGITS or _HUGE_EXPONENT.search(written) is not None
