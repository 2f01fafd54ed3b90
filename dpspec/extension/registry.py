"""The registry: every registered class by kind and name, with its provenance. Read-only once plugins are loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from dpspec.errors import DuplicateNameError, ParameterError, PluginContractError, UnknownNameError
from dpspec.params import did_you_mean


@attrs.frozen(kw_only=True)
class Provenance:
    """Where a registered thing comes from.

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
    """One registered class."""

    kind: str
    name: str
    cls: type
    provenance: Provenance

    @property
    def qualified_name(self) -> str:
        return f"{self.provenance.plugin}:{self.name}"


@attrs.frozen(kw_only=True)
class Registry:
    """All entries of all loaded plugins.

    A bare name works while it is unambiguous; ``plugin:name`` always works.

    Args:
        entries: the entries, in the sorted order of their plugins.
        failed: what each plugin that failed to load would have been asked for: plugin name to reason.
    """

    entries: tuple[Entry, ...]
    failed: Mapping[str, str] = MappingProxyType({})

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def names(self, kind: str) -> tuple[str, ...]:
        """The bare names of a kind, sorted."""
        return tuple(sorted({entry.name for entry in self.entries if entry.kind == kind}))

    def entry(self, kind: str, name: str) -> Entry:
        """The entry of a name.

        Raises:
            UnknownNameError: with suggestions; exit code 4 when a failed plugin may be the reason.
            DuplicateNameError: when two plugins register the bare name.
        """
        found = [e for e in self.entries if e.kind == kind and name in (e.name, e.qualified_name)]
        if len(found) > 1:
            choices = " or ".join(e.qualified_name for e in found)
            raise DuplicateNameError(f"{singular(kind)} {name}", f"is registered by {len(found)} plugins", f"write {choices}")
        if not found:
            raise self._unknown(kind, name)
        return found[0]

    def get(self, kind: str, name: str) -> Any:
        """The class registered under a name."""
        return self.entry(kind, name).cls

    def provenance(self, thing: object) -> Provenance:
        """Which distribution an object's class comes from.

        A class that no plugin registers, but whose package brings registered ones (the budget table that every reader makes),
        comes from there, when its objects are data: what holds a function is local code, whoever wrote the wrapper.
        """
        cls = thing if isinstance(thing, type) else type(thing)
        found = next((e.provenance for e in self.entries if e.cls is cls), None)
        if found is not None or not attrs.has(cls) or any(callable(getattr(thing, f.name, None)) for f in attrs.fields(cls)):
            return found or LOCAL
        package = cls.__module__.partition(".")[0]
        owners = {e.provenance for e in self.entries if e.cls.__module__.partition(".")[0] == package}
        return owners.pop() if len(owners) == 1 else LOCAL

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
        advice = did_you_mean(name, self.names(kind))
        if not advice:
            advice = "see `dpspec plugins` for what is installed"
        error = UnknownNameError(singular(kind), "is not registered", advice, value=name)
        if self.failed:
            plugins = "; ".join(f"{plugin} failed to load ({reason})" for plugin, reason in self.failed.items())
            error = UnknownNameError(singular(kind), "is not registered", f"{advice}; {plugins}", value=name)
            error.exit_code = 4  # type: ignore[misc]
        return error


def singular(kind: str) -> str:
    """One thing of a kind: "input divergence" for "input_divergences"."""
    return {"multiverses": "multiverse"}.get(kind, kind.removesuffix("s")).replace("_", " ")


class Registrar:
    """Collects the entries of one plugin while it registers."""

    def __init__(self, kind: str, provenance: Provenance, base: type) -> None:
        self._kind, self._provenance, self._base = kind, provenance, base
        self.entries: list[Entry] = []

    def __call__(self, cls: type, *, name: str | None = None) -> None:
        chosen = name if name is not None else getattr(cls, "name", None)
        if not (isinstance(cls, type) and issubclass(cls, self._base)):
            raise PluginContractError(f"plugin {self._provenance.plugin}", f"registers no {self._base.__name__}", value=cls)
        if not isinstance(chosen, str) or chosen != chosen.lower() or not chosen.replace("-", "").isalnum():
            raise ParameterError("name", "must be lower-kebab, such as my-mechanism", value=chosen)
        if any(entry.name == chosen for entry in self.entries):
            raise DuplicateNameError(f"{singular(self._kind)} {chosen}", "is registered twice by one plugin")
        self.entries.append(Entry(kind=self._kind, name=chosen, cls=cls, provenance=self._provenance))
