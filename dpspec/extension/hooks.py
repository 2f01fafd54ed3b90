"""The hooks of dpspec, and the registry of the classes that plugins provide. Every hook *registers*; none decides anything.

A plugin is a module with functions decorated by `hookimpl`; its distribution names it in the entry-point group
``dpspec``. The argument `register` is bound to the plugin that is being loaded, so provenance is certain. Many names are
registered as a table, `dpspec_names`, whose classes are imported when they are used:

    from dpspec.plugin import hookimpl

    @hookimpl
    def dpspec_register_mechanisms(register):
        register(MyMechanism)

The registry holds every registered class by kind and name, with its provenance; it is read-only once plugins are loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Protocol

import attrs
import pluggy

from dpspec.base.errors import (
    DpspecError,
    DuplicateNameError,
    ParameterError,
    PluginContractError,
    UnknownNameError,
)
from dpspec.base.lazy import at, place_of
from dpspec.base.params import did_you_mean
from dpspec.extension.packages import GROUP as GROUP, loading, missing_package

API = 1
"""The version of this interface; a plugin may state the one it was written for as ``DPSPEC_API = 1``."""

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


class Register(Protocol):
    """Registers a class under its `name` (or another, given here)."""

    def __call__(self, cls: type, *, name: str | None = None) -> None: ...


Names = Mapping[str, Mapping[str, str]]
"""For each kind the registered names, and the place ``module:Class`` of each."""


@hookspec
def dpspec_names() -> Names:  # type: ignore[empty-body]
    """Return the table of the names of a plugin, by kind, each with the place of its class.

    The classes are imported when a file or a command first names them. What is registered by the hooks below is imported at
    once: both ways may be mixed.
    """


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
def dpspec_register_workers(register: Register) -> None:
    """Register subclasses of `Workers`: what runs the kernels of a mechanism over the parts of a large table."""


@hookspec
def dpspec_register_adapters(register: Register) -> None:
    """Register subclasses of `DatasetAdapter`: what plain functions are handed as a dataset."""


@hookspec
def dpspec_register_generators(register: Register) -> None:
    """Register subclasses of `GeneratorAdapter`: sources of randomness of plain functions."""


@hookspec
def dpspec_register_rules(register: Register) -> None:
    """Register subclasses of `Rule`: rules of inference between specifications, and among them conversions of budgets."""


PREFIX, TABLE = "dpspec_register_", "dpspec_names"
KINDS: tuple[str, ...] = tuple(name.removeprefix(PREFIX) for name in list(globals()) if name.startswith(PREFIX))
"""The kinds of registered things, in the order of the hooks above."""

BASES: dict[str, str] = {
    "spaces": "dpspec.blocks.space:DatasetSpace",
    "multiverses": "dpspec.blocks.multiverse:Multiverse",
    "invariants": "dpspec.blocks.invariant:Invariant",
    "relations": "dpspec.blocks.input_divergence:Relation",
    "input_divergences": "dpspec.blocks.input_divergence:InputDivergence",
    "output_divergences": "dpspec.blocks.output_divergence:OutputDivergence",
    "budgets": "dpspec.blocks.budget:Budget",
    "mechanisms": "dpspec.grammar.mechanism:Mechanism",
    "flavours": "dpspec.grammar.flavour:Flavour",
    "attackers": "dpspec.grammar.attacker:AttackerModel",
    "tolerances": "dpspec.grammar.attacker:Tolerance",
    "routes": "dpspec.grammar.rule:Route",
    "tables": "dpspec.grammar.tables:TableBuilder",
    "formats": "dpspec.grammar.tables:TableFormat",
    "workers": "dpspec.grammar.workers:Workers",
    "adapters": "dpspec.grammar.functions:DatasetAdapter",
    "generators": "dpspec.grammar.functions:GeneratorAdapter",
    "rules": "dpspec.grammar.rule:Rule",
}
"""The place of the base class of each kind."""

VALUES = (
    "spaces", "multiverses", "invariants", "relations", "input_divergences", "output_divergences", "budgets", "mechanisms",
    "attackers", "tolerances", "routes", "tables",
)  # fmt: skip
"""Kinds whose objects are made from the parameters of a file, and are compared and hashed: `define` makes them so."""


# --- the registry ---------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Provenance:
    """The origin of a registered class.

    Args:
        plugin: the entry-point name of the plugin.
        distribution, version: the installed distribution that brought it.
    """

    plugin: str
    distribution: str
    version: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"


LOCAL = Provenance(plugin="local", distribution="local code", version="(not installed)")
"""The provenance of an object whose class no plugin registered."""


@attrs.frozen(kw_only=True)
class Entry:
    """One registered class.

    Args:
        kind, name: its kind and registered name.
        place: its location, ``module:Class``; it is imported at first use.
        provenance: which plugin registers it.
        loaded: the class itself, where the plugin gave it.
    """

    kind: str
    name: str
    place: str
    provenance: Provenance
    loaded: type | None = attrs.field(default=None, repr=False)

    @property
    def qualified_name(self) -> str:
        return f"{self.provenance.plugin}:{self.name}"

    @property
    def is_loaded(self) -> bool:
        """Whether the class, or the module that contains it, was imported already."""
        return self.loaded is not None or self.place.partition(":")[0] in sys.modules

    @property
    def cls(self) -> Any:
        """The class.

        Raises:
            PluginLoadError: it cannot be imported.
            PluginContractError: the object at the place is no class of the kind.
        """
        if self.fault is not None:
            raise self.fault
        return _class_of(self)

    @property
    def fault(self) -> DpspecError | None:
        """The reason why there is no class, although the name is registered; None when there is one."""
        found = _class_of(self)
        return found if isinstance(found, DpspecError) else None


@cache
def _class_of(entry: Entry) -> type | DpspecError:
    """The class of an entry, or why there is none: looked for once."""
    if entry.loaded is not None:
        return entry.loaded
    subject, package = f"plugin {entry.provenance.plugin}", entry.provenance.distribution
    try:
        with loading(package, subject, entry.name, entry.place):
            return checked_class(at(entry.place), entry.kind, subject)
    except DpspecError as fault:
        return fault


def checked_class(cls: Any, kind: str, subject: str) -> type:
    """A class that may be registered as one of a kind; raises PluginContractError for anything else."""
    base: type = at(BASES[kind])
    if not (isinstance(cls, type) and issubclass(cls, base)):
        raise PluginContractError(subject, f"registers no {base.__name__}", value=cls)
    called = f"{singular(kind)} {getattr(cls, 'name', cls.__name__)}"
    if kind in VALUES and "__attrs_attrs__" not in vars(cls):
        rule = f"{called} lacks the decorator define"
        raise PluginContractError(subject, rule, f"write @define above `class {cls.__name__}`")
    missing = sorted(getattr(cls, "__abstractmethods__", ()))
    if missing:
        raise PluginContractError(subject, f"{called} lacks {missing[0]}()", f"define it in `class {cls.__name__}`")
    # A class must define the class variables that its base declares without a value; not the name: it may have another here.
    written = (vars(parent).get("__annotations__", {}) for parent in base.__mro__)
    declared = (name for found in written for name, said in found.items() if "ClassVar" in str(said))
    stated = [name for name in declared if name != "name" and not hasattr(base, name) and not hasattr(cls, name)]
    if stated:
        example = f'{stated[0]}: ClassVar[str] = "..."'
        raise PluginContractError(subject, f"{called} lacks {stated[0]}", f"write `{example}` in `class {cls.__name__}`")
    return cls


@attrs.frozen(kw_only=True)
class Registry:
    """All entries of all loaded plugins.

    A bare name works while it is unambiguous; ``plugin:name`` always works.

    Args:
        entries: the entries, in the sorted order of their plugins.
        failed: the plugins that failed to load: plugin name to reason.
    """

    entries: tuple[Entry, ...]
    failed: Mapping[str, str] = attrs.field(factory=dict)
    _named: Mapping[tuple[str, str], tuple[Entry, ...]] = attrs.field(init=False, repr=False, eq=False)

    @_named.default
    def _by_name(self) -> Mapping[tuple[str, str], tuple[Entry, ...]]:
        """A kind and a name, with or without that of the plugin, to the entries."""
        found: dict[tuple[str, str], tuple[Entry, ...]] = {}
        for entry in self.entries:
            for name in dict.fromkeys((entry.name, entry.qualified_name)):
                found[entry.kind, name] = (*found.get((entry.kind, name), ()), entry)
        return found

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def names(self, kind: str) -> tuple[str, ...]:
        """The bare names of a kind, sorted."""
        return tuple(sorted({entry.name for entry in self.entries if entry.kind == kind}))

    def usable(self, kind: str) -> tuple[Entry, ...]:
        """The entries of a kind whose classes can be imported: a plugin that failed is fatal only to what names it."""
        return tuple(entry for entry in self.entries if entry.kind == kind and entry.fault is None)

    def classes(self, kind: str) -> tuple[type[Any], ...]:
        """All classes of a kind that can be imported, in the order of their plugins."""
        return tuple(entry.cls for entry in self.usable(kind))

    def is_whole(self, kind: str) -> bool:
        """Whether no plugin failed that may have brought more of a kind."""
        return not self.failed and all(entry.fault is None for entry in self.entries if entry.kind == kind)

    def entry(self, kind: str, name: str) -> Entry:
        """The entry of a name.

        Raises:
            UnknownNameError: with suggestions; exit code 4 when a failed plugin may be the reason.
            DuplicateNameError: when two plugins register the bare name.
        """
        found = self._named.get((kind, name), ())
        if len(found) > 1:
            choices = " or ".join(e.qualified_name for e in found)
            raise DuplicateNameError(f"{singular(kind)} {name}", f"is registered by {len(found)} plugins", f"write {choices}")
        if not found:
            raise self._unknown(kind, name)
        return found[0]

    def get(self, kind: str, name: str) -> Any:
        """The class registered under a name."""
        return self.entry(kind, name).cls

    def entry_of(self, cls: type) -> Entry | None:
        """The entry of a class; None when no plugin registers it. No other class is loaded for it."""
        place = place_of(cls)
        return next((e for e in self.entries if e.place == place and e.cls is cls), None)

    def provenance(self, thing: object) -> Provenance:
        """The distribution that an object's class comes from.

        A class that no plugin registers, but whose package registers others (the budget table that every reader makes), comes
        from that package, when its objects are data: an object that contains a function is local code, whoever wrote the wrapper.
        """
        cls = thing if isinstance(thing, type) else type(thing)
        entry = self.entry_of(cls)
        found = entry and entry.provenance
        if found is not None or not attrs.has(cls) or any(callable(getattr(thing, f.name, None)) for f in attrs.fields(cls)):
            return found or LOCAL
        package = cls.__module__.partition(".")[0]
        owners = {e.provenance for e in self.entries if e.place.partition(".")[0].partition(":")[0] == package}
        return owners.pop() if len(owners) == 1 else LOCAL

    @property
    def lacking(self) -> str:
        """The advice where no plugin is installed, so that hardly any name is known; else an empty text."""
        alone = {entry.provenance.plugin for entry in self.entries} == {"core"}
        return 'pip install "dpspec[standard]" brings the first-party plugins, and with them most names' if alone else ""

    def duplicates(self) -> tuple[DuplicateNameError, ...]:
        """One error for each bare name that more than one plugin registers."""
        seen: dict[tuple[str, str], list[Entry]] = {}
        for entry in self.entries:
            seen.setdefault((entry.kind, entry.name), []).append(entry)
        return tuple(
            DuplicateNameError(
                f"{singular(kind)} {name}", "is registered by " + " and by ".join(str(e.provenance) for e in same),
                "use the qualified names " + ", ".join(e.qualified_name for e in same),
            )
            for (kind, name), same in seen.items()
            if len(same) > 1
        )  # fmt: skip

    def _unknown(self, kind: str, name: str) -> UnknownNameError:
        package = missing_package(name, kind)
        advice = f"pip install {package}" if package else self.lacking or did_you_mean(name, self.names(kind))
        advice = advice or "see `dpspec plugins` for what is installed"
        if advice.startswith("known: "):  # nothing is like it
            advice += "; if it is from a plugin, install that"
        error = UnknownNameError(singular(kind), "is not registered", advice, value=name)
        if self.failed:
            plugins = "; ".join(f"{plugin} failed to load ({reason})" for plugin, reason in self.failed.items())
            error = UnknownNameError(singular(kind), "is not registered", f"{advice}; {plugins}", value=name)
            error.exit_code = 4  # type: ignore[misc]
        return error


def singular(kind: str) -> str:
    """One thing of a kind: "input divergence" for "input_divergences"."""
    return {"multiverses": "multiverse", "workers": "workers"}.get(kind, kind.removesuffix("s")).replace("_", " ")


class Registrar:
    """Collects the entries of one plugin while it registers."""

    def __init__(self, kind: str, provenance: Provenance) -> None:
        self._kind, self._provenance = kind, provenance
        self.entries: list[Entry] = []

    def __call__(self, cls: type, *, name: str | None = None) -> None:
        """Register a class that was imported."""
        chosen = name if name is not None else getattr(cls, "name", None)
        self.add(chosen, place_of(checked_class(cls, self._kind, f"plugin {self._provenance.plugin}")), cls)

    def add(self, name: object, place: str, loaded: type | None = None) -> None:
        """Register the class at a place."""
        if not isinstance(name, str) or name != name.lower() or not name.replace("-", "").isalnum():
            raise ParameterError("name", "must be lower-kebab, such as my-mechanism", value=name)
        if any(entry.name == name for entry in self.entries):
            raise DuplicateNameError(f"{singular(self._kind)} {name}", "is registered twice by one plugin")
        self.entries.append(Entry(kind=self._kind, name=name, place=place, provenance=self._provenance, loaded=loaded))
