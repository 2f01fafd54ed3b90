"""Plugins are found whoever answers for the installed distributions."""

from __future__ import annotations

import importlib.metadata

import attrs

from dpspec import load_plugins
from dpspec.extension import loader


@attrs.frozen
class Elsewhere:
    """An entry point of the backported importlib_metadata, which takes over from the standard library once it is imported."""

    name: str
    module: str
    dist: importlib.metadata.Distribution | None


def test_entry_points_of_another_class_are_loaded(monkeypatch):
    points = [Elsewhere(p.name, p.module, p.dist) for p in importlib.metadata.entry_points(group="dpspec")]
    known = load_plugins()
    monkeypatch.setattr(loader, "entry_points", lambda group: points)
    again = load_plugins()
    assert {info.provenance.plugin for info in again.infos} > {"core", "noise"}
    assert [(e.kind, e.qualified_name) for e in again.registry] == [(e.kind, e.qualified_name) for e in known.registry]
