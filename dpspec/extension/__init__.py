"""Plugins: the hooks they implement, the loader that finds them, the registry they fill. Names are imported when used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpspec.base.lazy import late_names

if TYPE_CHECKING:
    from dpspec.extension.hooks import (
        KINDS as KINDS,
        LOCAL as LOCAL,
        Entry as Entry,
        Provenance as Provenance,
        Register as Register,
        Registry as Registry,
        hookimpl as hookimpl,
    )
    from dpspec.extension.loader import (
        PluginInfo as PluginInfo,
        Plugins as Plugins,
        installed as installed,
        is_foreign as is_foreign,
        load_plugins as load_plugins,
    )

_HOMES = {
    "dpspec.extension.hooks": ("KINDS", "LOCAL", "Entry", "Provenance", "Register", "Registry", "hookimpl"),
    "dpspec.extension.loader": ("PluginInfo", "Plugins", "installed", "is_foreign", "load_plugins"),
}
__all__ = [name for names in _HOMES.values() for name in names]
__getattr__, __dir__ = late_names(__name__, _HOMES)
