"""Plugins: the hooks they implement, the loader that finds them, the registry they fill."""

from dpspec.extension.hooks import KINDS, LOCAL, Entry, Provenance, Register, Registry, hookimpl
from dpspec.extension.loader import PluginInfo, Plugins, installed, load_plugins

__all__ = [
    "KINDS", "LOCAL", "Entry", "PluginInfo", "Plugins", "Provenance", "Register", "Registry", "hookimpl",
    "installed", "load_plugins",
]  # fmt: skip
