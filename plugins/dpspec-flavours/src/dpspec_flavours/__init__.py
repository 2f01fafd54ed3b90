"""The first-party plugin of flavours: the published definitions of differential privacy, and the blocks they need."""

from dpspec.extension import Register, hookimpl
from dpspec.grammar.mechanism import Flavour
from dpspec_flavours import mechanisms, networks, secrets, standards, streams, trust, universes

DPSPEC_API = 1

_PARTS = (mechanisms, standards, networks, streams, secrets, universes, trust)


FLAVOURS: tuple[type[Flavour], ...] = tuple(cls for part in _PARTS for cls in part.BLOCKS.get("flavours", ()))
"""Every flavour of this distribution, by the block that it changes."""


def _register(kind: str, register: Register) -> None:
    for part in _PARTS:
        for cls in part.BLOCKS.get(kind, ()):
            register(cls)


@hookimpl
def dpspec_register_spaces(register: Register) -> None:
    _register("spaces", register)


@hookimpl
def dpspec_register_multiverses(register: Register) -> None:
    _register("multiverses", register)


@hookimpl
def dpspec_register_relations(register: Register) -> None:
    _register("relations", register)


@hookimpl
def dpspec_register_input_divergences(register: Register) -> None:
    _register("input_divergences", register)


@hookimpl
def dpspec_register_output_divergences(register: Register) -> None:
    _register("output_divergences", register)


@hookimpl
def dpspec_register_budgets(register: Register) -> None:
    _register("budgets", register)


@hookimpl
def dpspec_register_mechanisms(register: Register) -> None:
    _register("mechanisms", register)


@hookimpl
def dpspec_register_flavours(register: Register) -> None:
    _register("flavours", register)
