"""The hooks of dpspec. Every hook *registers*; none decides anything.

A plugin is a module with functions decorated by `hookimpl`; its distribution names it in the entry-point group
``dpspec``. The argument `register` is bound to the plugin that is being asked, so provenance is certain:

    from dpspec.extension import hookimpl

    @hookimpl
    def dpspec_register_mechanisms(register):
        register(MyMechanism)
"""

from __future__ import annotations

from typing import Protocol

import pluggy

GROUP = "dpspec"
API = 1
"""The version of this interface; a plugin may state the one it was written for as ``DPSPEC_API = 1``."""

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


class Register(Protocol):
    """Registers a class under its `name` (or another, given here)."""

    def __call__(self, cls: type, *, name: str | None = None) -> None: ...


@hookspec
def dpspec_register_spaces(register: Register) -> None:
    """Register subclasses of `DatasetSpace` (block 1)."""


@hookspec
def dpspec_register_multiverses(register: Register) -> None:
    """Register subclasses of `Multiverse` (block 2)."""


@hookspec
def dpspec_register_invariants(register: Register) -> None:
    """Register subclasses of `Invariant` (block 2)."""


@hookspec
def dpspec_register_relations(register: Register) -> None:
    """Register subclasses of `Relation`, the neighbour relations that input divergences are built on."""


@hookspec
def dpspec_register_input_divergences(register: Register) -> None:
    """Register subclasses of `InputDivergence` (block 3)."""


@hookspec
def dpspec_register_output_divergences(register: Register) -> None:
    """Register subclasses of `OutputDivergence` (block 4)."""


@hookspec
def dpspec_register_budgets(register: Register) -> None:
    """Register subclasses of `Budget` (block 5)."""


@hookspec
def dpspec_register_mechanisms(register: Register) -> None:
    """Register subclasses of `Mechanism`."""


@hookspec
def dpspec_register_flavours(register: Register) -> None:
    """Register subclasses of `Flavour`: published definitions of differential privacy as specifications that run."""


@hookspec
def dpspec_register_attackers(register: Register) -> None:
    """Register subclasses of `AttackerModel`: who reads a release, what they know and what they want to know."""


@hookspec
def dpspec_register_tolerances(register: Register) -> None:
    """Register subclasses of `Tolerance`: tolerated risks, from each of which a budget follows."""


@hookspec
def dpspec_register_routes(register: Register) -> None:
    """Register subclasses of `Route`: named formulas that recompute printed numbers."""


@hookspec
def dpspec_register_tables(register: Register) -> None:
    """Register subclasses of `TableBuilder`: public tables that are built on demand from printed figures."""


@hookspec
def dpspec_register_formats(register: Register) -> None:
    """Register subclasses of `TableFormat`: formats of table files."""


@hookspec
def dpspec_register_engines(register: Register) -> None:
    """Register subclasses of `Engine`: what runs the kernels of a mechanism over the parts of a large table."""


@hookspec
def dpspec_register_rules(register: Register) -> None:
    """Register subclasses of `Rule`: rules of inference between specifications, and among them conversions of budgets."""


PREFIX = "dpspec_register_"
KINDS: tuple[str, ...] = tuple(name.removeprefix(PREFIX) for name in list(globals()) if name.startswith(PREFIX))
"""The kinds of registered things, in the order of the hooks above."""
