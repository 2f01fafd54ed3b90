"""Which distribution, in which version, stands behind every block:

for objects from files and for objects made in Python alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from dpspec.extension.loader import BASES, installed
from dpspec.extension.registry import Provenance, Registry

Origin = tuple[str, str, Provenance]
"""The role of a block, its registered name, and where its class comes from."""

_BLOCKS = tuple(BASES.values())


def origins(blocks: Mapping[str, Any], registry: Registry | None = None) -> tuple[Origin, ...]:
    """Where blocks come from, and what they hold that is registered, too: the relation of a neighbour distance, for example.

    Args:
        blocks: by their roles.
        registry: where their classes are looked up; without it, among all installed plugins. A class that no plugin
            brings is local code.

    >>> from dpspec.blocks.budget import UniformBudget
    >>> role, name, origin = origins({"budget": UniformBudget(parameter="epsilon", value=1)})[0]
    >>> role, name, origin.plugin, origin.distribution
    ('budget', 'uniform', 'core', 'dpspec')
    """
    known = installed().registry if registry is None else registry
    return tuple(
        (at, getattr(thing, "name", type(thing).__name__), known.provenance(thing))
        for role, block in blocks.items()
        for at, thing in _held(role, block)
    )


def _held(role: str, block: Any) -> Iterator[tuple[str, Any]]:
    """A block, and after it the blocks among its parameters, each with the way to it."""
    yield role, block
    for field in attrs.fields(type(block)) if attrs.has(type(block)) else ():
        value = getattr(block, field.name, None)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, _BLOCKS):
                yield from _held(f"{role}.{field.name}", part)
