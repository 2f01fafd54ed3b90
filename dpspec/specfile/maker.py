"""From TOML tables to registered objects; every fault goes into a log with its line, and reading goes on."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final, TypeVar

from dpspec.errors import (
    DpspecError,
    MissingKeyError,
    ParameterError,
    PluginContractError,
    SpecError,
    UnknownKeyError,
    WrongShapeError,
)
from dpspec.extension import Registry
from dpspec.params import (
    Domain,
    Exact,
    Integer,
    Items,
    Nested,
    Pairs,
    Parameter,
    Rational,
    Registered,
    did_you_mean,
    each,
    parameters,
)
from dpspec.specfile.positions import Positions

Result = TypeVar("Result")

UNKNOWN_KEYS_SHOWN = 20
"""So many unknown keys of one table are reported one by one."""
FAULTS_SHOWN = 100
"""So many faults of one file are shown; the others are counted."""
DIGITS = 2000
"""No privacy number has more digits, or a decimal exponent of more than four digits."""

_HUGE_EXPONENT = re.compile(r"[eE][+-]?[0-9_]{5,}")
_SHAPES: dict[type, str] = {dict: "table", list: "list", str: "text"}


class _Failed:
    """What stands for a value with a fault; the fault is in the log."""

    def __repr__(self) -> str:
        return "FAILED"


FAILED: Final = _Failed()


class Log:
    """The faults of one file, each with its file and line."""

    def __init__(self, file: str, positions: Positions) -> None:
        self.file, self.positions = file, positions
        self.faults: list[DpspecError] = []
        self.found = 0

    def add(self, fault: DpspecError, path: str) -> None:
        """Record a fault that was met while `path` was read; a group of faults is taken apart."""
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
    """What a TOML value is, in one word."""
    return _SHAPES.get(type(value), "number" if not isinstance(value, bool) else "truth value")


class Maker:
    """Makes registered objects from tables.

    Args:
        registry: what names mean.
        log: where faults go.
    """

    def __init__(self, registry: Registry, log: Log) -> None:
        self.registry, self.log = registry, log

    def registered(self, kind: str, value: Any, path: str) -> Any:
        """The object of a registered kind that a table with the key ``type`` describes, or FAILED.

        A bare text stands for a table with nothing but that type.
        """
        if isinstance(value, str):
            value = {"type": value}
        table = self.table(value, path)
        if table is None:
            return FAILED
        name = table.get("type")
        if name is None:
            known = ", ".join(self.registry.names(kind))
            return self._fail(MissingKeyError(f"{path}.type", "is missing", f"name one of {known}"), path)
        if not isinstance(name, str):
            return self._fail(WrongShapeError(f"{path}.type", f"must be a text, not a {shape_of(name)}", value=name), path)
        cls = self.log.attempt(f"{path}.type", lambda: self.registry.get(kind, name))
        if cls is None:
            return FAILED
        return self.make(cls, {key: entry for key, entry in table.items() if key != "type"}, path)

    def make(self, cls: type, table: Mapping[str, Any], path: str) -> Any:
        """An object of a class from a table of its declared parameters, or FAILED."""
        declared = {p.name: p for p in parameters(cls)}
        healthy = self.known_keys(table, declared, path)
        meant = misspelt(table, declared)
        values = {
            key: self._parameter(parameter, table, path)
            for key, parameter in declared.items()
            if key in table or (parameter.required and key not in meant)
        }
        if not healthy or any(value is FAILED for value in values.values()):
            return FAILED
        try:
            return cls(**values)
        except DpspecError as fault:
            return self._fail(fault, path)
        except Exception as problem:  # a plugin's class may raise anything
            broken = PluginContractError(
                f"plugin {self.registry.provenance(cls).plugin}",
                f"raised {type(problem).__name__} while it made a {getattr(cls, 'name', cls.__name__)}: {problem}",
                "mend the plugin",
            )
            broken.__cause__ = problem
            return self._fail(broken, path)

    def value(self, domain: Domain, value: Any, path: str) -> Any:
        """A value read by its domain, with the tables inside it made into objects, or FAILED."""
        if isinstance(domain, (Rational, Exact, Integer)) and _is_huge(value):
            rule = f"has more than {DIGITS} digits or a five-digit exponent"
            return self._fail(ParameterError(path, rule, "no privacy number needs that", value=str(value)), path)
        prepared = self._prepared(domain, value, path)
        if prepared is FAILED:
            return FAILED
        before = self.log.found
        read = self.log.attempt(path, lambda: domain.read(prepared, path))
        return FAILED if self.log.found > before else read

    def table(self, value: Any, path: str) -> Mapping[str, Any] | None:
        """The value as a table; a fault otherwise."""
        if isinstance(value, Mapping):
            return value
        self._fail(WrongShapeError(path, f"must be a table, not a {shape_of(value)}", "write keys and values in it"), path)
        return None

    def known_keys(self, table: Mapping[str, Any], known: Mapping[str, object], path: str) -> bool:
        """Whether all keys have a meaning; a fault with a suggestion for each that has none."""
        unknown = [key for key in table if key not in known]
        for key in unknown[:UNKNOWN_KEYS_SHOWN]:
            shown = f"{path}.{key}" if path else key
            advice = did_you_mean(key.replace("-", "_"), known) or "remove it"
            self._fail(UnknownKeyError(shown, "is no key of this table", advice), path)
        if len(unknown) > UNKNOWN_KEYS_SHOWN:
            self._fail(UnknownKeyError(path or "file", f"has {len(unknown)} unknown keys, the first are shown"), path)
        return not unknown

    # -- helpers ----------------------------------------------------------------------------------

    def _fail(self, fault: DpspecError, path: str) -> Any:
        self.log.add(fault, path)
        return FAILED

    def _parameter(self, parameter: Parameter, table: Mapping[str, Any], path: str) -> Any:
        key = f"{path}.{parameter.name}"
        if parameter.name not in table:
            advice = f"write {parameter.name} = <{parameter.domain.describe()}>"
            return self._fail(MissingKeyError(key, "is missing", advice), path)
        return self.value(parameter.domain, table[parameter.name], key)

    def _prepared(self, domain: Domain, value: Any, path: str) -> Any:
        """The value with every table that stands for an object replaced by that object."""
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
        return value.bit_length() > 4 * DIGITS
    written = str(value)
    return len(written) > DIGITS or _HUGE_EXPONENT.search(written) is not None
