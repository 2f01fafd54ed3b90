"""Finds and loads plugins: sorted, with every fault recorded, and fatal only to commands that need the plugin.

It also determines the distribution and version of every block, for objects from files and for objects created in
Python alike.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points, version
from typing import Any

import attrs
import pluggy

from dpspec.base.errors import (
    ApiVersionError,
    DpspecError,
    DuplicateNameError,
    DuplicatePluginError,
    UnknownHookError,
)
from dpspec.base.lazy import at
from dpspec.base.log import log
from dpspec.base.params import did_you_mean
from dpspec.extension import hooks as hookspecs
from dpspec.extension.hooks import (
    API,
    BASES,
    GROUP,
    KINDS,
    LOCAL,
    PREFIX,
    TABLE,
    Entry,
    Provenance,
    Registrar,
    Registry,
    singular,
)
from dpspec.extension.packages import first_party, is_first_party, loading

Origin = tuple[str, str, Provenance]
"""The role of a block, its registered name, and where its class comes from."""


@attrs.frozen(kw_only=True)
class PluginInfo:
    """The state of one plugin.

    Args:
        provenance: its name, distribution and version.
        status: loaded, failed, or blocked.
        error: for a failed one, why.
        entries: what it registered.
    """

    provenance: Provenance
    status: str
    error: DpspecError | None = None
    entries: tuple[Entry, ...] = ()

    def faults(self) -> tuple[DpspecError, ...]:
        """The reasons why it failed, or why single classes of its table cannot be imported."""
        own = () if self.error is None else (self.error,)
        return (*own, *(entry.fault for entry in self.entries if entry.fault is not None))


@attrs.frozen(kw_only=True)
class Plugins:
    """The loaded plugins and the registry they fill."""

    infos: tuple[PluginInfo, ...]
    registry: Registry

    def faults(self) -> tuple[DpspecError, ...]:
        """Every fault on record: failed plugins, names whose classes cannot be imported, and ambiguous names."""
        return (*(fault for info in self.infos for fault in info.faults()), *self.registry.duplicates())


@attrs.frozen(kw_only=True)
class _FoundPlugins:
    provenance: Provenance
    module: Callable[[], Any]
    fault: DpspecError | None = None


def load_plugins(*, names: Sequence[str] | None = None, modules: Iterable[tuple[str, Any]] = ()) -> Plugins:
    """Load the core's own plugin and the installed ones.

    Args:
        names: load only the installed plugins with these names; None for all of them. The environment variable
            DPSPEC_LOAD_PLUGINS (a comma list, empty for none) replaces it, DPSPEC_BLOCK_PLUGINS excludes some.
        modules: further plugins as pairs (name, module or object with hook implementations), for tests.
    """
    if names is None and "DPSPEC_LOAD_PLUGINS" in os.environ:
        names = [name.strip() for name in os.environ["DPSPEC_LOAD_PLUGINS"].split(",") if name.strip()]
    blocked = {name.strip() for name in os.environ.get("DPSPEC_BLOCK_PLUGINS", "").split(",")}
    found = [_core(), *_discover(names), *(_local(name, module) for name, module in modules)]
    infos = []
    for one in _refuse_duplicates(found):
        if one.provenance.plugin in blocked:
            infos.append(PluginInfo(provenance=one.provenance, status="blocked"))
            continue
        infos.append(_load(one))
        log("plugins", "DEBUG", "plugin %s of %s: %s", one.provenance.plugin, one.provenance.distribution, infos[-1].status)
    failed = {info.provenance.plugin: str(info.error) for info in infos if info.error is not None}
    entries = tuple(entry for info in infos for entry in info.entries)
    return Plugins(infos=tuple(infos), registry=Registry(entries=entries, failed=failed))


@cache
def installed() -> Plugins:
    """All installed plugins, loaded once per process."""
    return load_plugins()


def _core() -> _FoundPlugins:
    return _FoundPlugins(
        provenance=Provenance(plugin="core", distribution="dpspec", version=version("dpspec")),
        module=partial(importlib.import_module, "dpspec.extension.standard"),
    )


def _local(name: str, module: Any) -> _FoundPlugins:
    return _FoundPlugins(
        provenance=Provenance(plugin=name, distribution="local code", version="(not installed)"), module=lambda: module
    )


def _discover(names: Sequence[str] | None) -> list[_FoundPlugins]:
    found = [
        _FoundPlugins(
            provenance=Provenance(
                plugin=point.name,
                distribution=point.dist.name if point.dist else "unknown",
                version=point.dist.version if point.dist else "unknown",
            ),
            module=partial(_imported, point),
        )
        for point in entry_points(group=GROUP)
        if names is None or point.name in names
    ]
    # By name, so that nothing depends on the order in which the file system lists distributions.
    return sorted(found, key=lambda f: (f.provenance.distribution, f.provenance.plugin))


def _imported(point: EntryPoint) -> Any:
    return importlib.import_module(point.module)


def _refuse_duplicates(found: list[_FoundPlugins]) -> list[_FoundPlugins]:
    """Two plugins with one name are both refused: choosing one would decide something. A first-party plugin keeps its name."""
    owners: dict[str, list[Provenance]] = {}
    for f in found:
        owners.setdefault(f.provenance.plugin, []).append(f.provenance)
    checked = []
    for f in found:
        rivals = owners[f.provenance.plugin]
        fault = None
        keeps = _is_first_party(f.provenance) and sum(map(_is_first_party, rivals)) == 1
        if len(rivals) > 1 and not keeps:
            names = " and by ".join(str(owner) for owner in rivals)
            fault = DuplicatePluginError(f"plugin {f.provenance.plugin}", f"is provided by {names}", "uninstall one of them")
        checked.append(attrs.evolve(f, fault=fault))
    return checked


def is_foreign(thing: object) -> bool:
    """Whether the class of an object comes from no first-party package: what it states is checked where it is used."""
    return not _is_first_party(installed().registry.provenance(thing))


def has_foreign_law(mechanism: object, provenance: Iterable[Origin]) -> bool:
    """Whether the law of a mechanism is code of no first-party package: its own, or that of a mechanism inside it.

    Args:
        mechanism: the mechanism.
        provenance: the origins of it and of what is in it, and of other blocks.
    """
    found = {origin for role, _, origin in provenance if role.partition(".")[0] == "mechanism"}
    if any(origin != LOCAL and not _is_first_party(origin) for origin in found):
        return True
    package = type(mechanism).__module__.partition(".")[0]
    return LOCAL in found and package not in {"dpspec", *(name.replace("-", "_") for name in first_party())}


def _is_first_party(provenance: Provenance) -> bool:
    return is_first_party(provenance.distribution)


def _refuse_taken(entries: Iterable[Entry], provenance: Provenance) -> None:
    """A name of a first-party package is not for another plugin, whether that package is installed or not.

    Files, verdicts and registered names would mean something else on a machine where the plugin is installed.

    Raises:
        DuplicateNameError: with the name to change.
    """
    if _is_first_party(provenance):
        return
    owned = {"dpspec": _core().module().dpspec_names(), **first_party()}
    for entry in entries:
        owner = next((package for package, brings in owned.items() if entry.name in brings.get(entry.kind, ())), None)
        if owner is not None:
            subject, rule = f"plugin {provenance.plugin}", f"registers the {singular(entry.kind)} {entry.name}, a name of {owner}"
            raise DuplicateNameError(subject, rule, f'register it under another name, such as "{provenance.plugin}-{entry.name}"')


def _load(found: _FoundPlugins) -> PluginInfo:
    """Import and register one plugin; whatever goes wrong becomes its recorded fault."""
    name = found.provenance.plugin
    try:
        if found.fault is not None:
            raise found.fault
        with loading(found.provenance.distribution, f"plugin {name}"):
            module = found.module()
            stated = getattr(module, "DPSPEC_API", API)
            if stated != API:
                rule = f"is written for plugin interface {stated!r}, this is {API}"
                raise ApiVersionError(f"plugin {name}", rule, "install a fitting version")
            _check_hooks(name, module)
            entries = _register(module, found.provenance)
        _refuse_taken(entries, found.provenance)
        return PluginInfo(provenance=found.provenance, status="loaded", entries=entries)
    except DpspecError as fault:
        return PluginInfo(provenance=found.provenance, status="failed", error=fault)


def _check_hooks(name: str, module: Any) -> None:
    known = [TABLE, *(PREFIX + kind for kind in KINDS)]
    for attribute in dir(module):
        if not attribute.startswith("dpspec_") or not callable(getattr(module, attribute)):
            continue
        if attribute not in known:
            raise UnknownHookError(f"plugin {name}", "implements no known hook", did_you_mean(attribute, known), value=attribute)
        if not hasattr(getattr(module, attribute), f"{GROUP}_impl"):
            raise UnknownHookError(f"plugin {name}", "lacks the decorator", "write @hookimpl above it", value=attribute)


def _register(module: Any, provenance: Provenance) -> tuple[Entry, ...]:
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hookspecs)
    manager.register(module, name=provenance.plugin)
    tables = manager.hook.dpspec_names()
    unknown = next((kind for table in tables for kind in table if kind not in KINDS), None)
    if unknown is not None:
        raise UnknownHookError(f"plugin {provenance.plugin}", "names no known kind", did_you_mean(unknown, KINDS), value=unknown)
    entries: list[Entry] = []
    for kind in KINDS:
        registrar = Registrar(kind, provenance)
        for table in tables:
            for name, place in table.get(kind, {}).items():
                registrar.add(name, place)
        getattr(manager.hook, PREFIX + kind)(register=registrar)
        entries += registrar.entries
    return tuple(entries)


# --- provenance of blocks -------------------------------------------------------------------------


def origins(blocks: Mapping[str, Any], registry: Registry | None = None) -> tuple[Origin, ...]:
    """The origin of blocks, and of the registered objects inside them: the relation of a neighbour distance, for example.

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
            if isinstance(part, _bases()):
                yield from _held(f"{role}.{field.name}", part)


@cache
def _bases() -> tuple[type, ...]:
    """The base classes of all kinds."""
    return tuple(at(place) for place in BASES.values())
