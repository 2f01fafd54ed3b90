"""Plugins are found whoever answers for the installed distributions."""

from __future__ import annotations

import importlib.metadata
import types
from pathlib import Path

import attrs
import pytest

from dpspec import compare, load_plugins, read, risk
from dpspec.api import quick_standing
from dpspec.base.errors import PluginLoadError
from dpspec.extension import loader
from dpspec.extension.hooks import KINDS
from dpspec.plugin import hookimpl
from dpspec.report import json, text
from dpspec.specfile.schema import language_schema
from dpspec.testing.conformance import run_checks

SPECS = Path(__file__).parents[2] / "specs"


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


@hookimpl
def _broken_names():
    return {kind: {f"broken-{kind.replace('_', '-')}": "nowhere.at_all:Broken"} for kind in KINDS}


@pytest.mark.slow
def test_a_name_that_cannot_be_imported_is_fatal_only_to_what_names_it():
    """A plugin whose whole table leads nowhere changes no answer; it is on record, and whoever asks for its names is told why."""
    bad = types.SimpleNamespace(DPSPEC_API=1, dpspec_names=_broken_names)
    plugins = load_plugins(modules=[("bad", bad)])
    registry = plugins.registry
    for kind in KINDS:
        assert len(registry.classes(kind)) == len(registry.names(kind)) - 1, kind
        assert not registry.is_whole(kind)
        with pytest.raises(PluginLoadError, match="No module named 'nowhere'"):
            registry.get(kind, f"broken-{kind.replace('_', '-')}")
    language_schema(registry)
    assert len(plugins.faults()) == len(KINDS)
    (shown,) = (one for one in json.plugins(plugins)["plugins"] if one["plugin"] == "bad")
    assert len(shown["errors"]) == len(KINDS)
    assert text.plugins(plugins).count("cannot load") == len(KINDS)
    census, swap = (SPECS / f"{name}.dpspec.toml" for name in ("topdown-2020-pl", "swapping-2020-county-tract"))
    documents = [read(path, registry) for path in (census, swap)]
    found, known = compare(*documents, registry), compare(*documents)
    assert (found.forward.answer, found.backward.answer) == (known.forward.answer, known.backward.answer)
    response = read(SPECS / "randomised-response.dpspec.toml", registry)
    assert quick_standing(response, registry).word.is_good
    assert len(risk(response, registry=registry).reports) == len(risk(response).reports)


def test_the_checks_of_a_plugin_find_the_names_that_cannot_be_imported():
    module = types.SimpleNamespace(DPSPEC_API=1, dpspec_names=_broken_names)
    results = {result.check: result for result in run_checks("bad", module=module)}
    assert "cannot load broken-spaces" in results["check_plugin_loads"].detail
