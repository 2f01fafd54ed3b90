"""Plugins: the hooks they implement, the loader that finds them, the registry they fill."""

from dpspec.extension.hookspecs import KINDS, Register, hookimpl
from dpspec.extension.loader import PluginInfo, Plugins, installed, load_plugins
from dpspec.extension.registry import LOCAL, Entry, Provenance, Registry

__all__ = [
    "KINDS", "LOCAL", "Entry", "PluginInfo", "Plugins", "Provenance", "Register", "Registry", "hookimpl",
    "installed", "load_plugins",
]  # fmt: skip
