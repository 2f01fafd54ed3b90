"""An attacker model from its registered name and its parameters as texts."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Any, cast

from dpspec.attacker import AttackerModel
from dpspec.errors import ParameterError
from dpspec.extension.registry import Registry
from dpspec.params import build
from dpspec.tolerance import Tolerance


def attacker_of(registry: Registry, name: str, settings: Iterable[str] = ()) -> AttackerModel:
    """The attacker of a name with its parameters.

    Args:
        registry: where the name is looked up.
        name: the registered name.
        settings: texts such as "distance=2" or 'levels=["0.01", "0.05"]', values as in TOML or plain.

    Raises:
        UnknownNameError: for a name that nothing registers.
        ParameterError, UnknownKeyError, MissingKeyError: for parameters that the attacker does not take.
    """
    return cast("AttackerModel", build(registry.get("attackers", name), parsed(settings), name))


def panel_of(registry: Registry) -> tuple[AttackerModel, ...]:
    """The attackers that are shown where none is named, each with its defaults."""
    kinds = [registry.get("attackers", name) for name in registry.names("attackers")]
    return tuple(cast("AttackerModel", build(kind, {}, kind.name)) for kind in kinds if kind.in_panel)


def tolerance_of(registry: Registry, name: str, settings: Iterable[str] = ()) -> Tolerance:
    """The tolerated risk of a name with its parameters, as texts KEY=VALUE.

    Raises:
        UnknownNameError: for a name that nothing registers.
        ParameterError, UnknownKeyError, MissingKeyError: for parameters that it does not take.
    """
    return cast("Tolerance", build(registry.get("tolerances", name), parsed(settings), name))


def parsed(settings: Iterable[str]) -> dict[str, Any]:
    """Texts KEY=VALUE as a table; decimals stay texts, so that they are read exactly.

    >>> parsed(["distance=2", "levels=[0.01, '1/3']", "prior=uniform"])
    {'distance': 2, 'levels': ['0.01', '1/3'], 'prior': 'uniform'}
    """
    table: dict[str, Any] = {}
    for text in settings:
        key, sign, value = (part.strip() for part in text.partition("="))
        if not (key and sign and value):
            raise ParameterError("set", "must be a name and a value", "write it as distance=2", value=text)
        if key in table:
            raise ParameterError(f"set {key}", "is given twice", "write one value", value=value)
        table[key] = _value(value)
    return table


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}", parse_float=str)["value"]
    except tomllib.TOMLDecodeError as fault:
        if text[0] in "[{\"'":
            raise ParameterError("set", f"is no TOML value ({fault})", "quote texts inside lists", value=text) from fault
        return text
