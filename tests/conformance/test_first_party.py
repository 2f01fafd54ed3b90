"""Every first-party plugin, the core's own and the tutorial's pass the conformance kit."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from pathlib import Path

import pytest

from dpspec import installed
from dpspec.testing import Status, check_plugin, parametrize, run_checks
from dpspec.testing.check import declared_checks

ROOT = Path(__file__).parents[2]
PACKAGES = (ROOT / "plugins").glob("*/pyproject.toml")
REGISTERING = [path for path in PACKAGES if "[project.entry-points.dpspec]" in path.read_text()]
"""Packages with names in the registry; others contribute commands alone."""
FIRST_PARTY = ("core", *sorted(path.parent.name.removeprefix("dpspec-") for path in REGISTERING))


def tutorial():
    """The tutorial's plugin, from its sources."""
    source = str(ROOT / "docs" / "examples" / "dpspec-hello" / "src")
    if source not in sys.path:
        sys.path.append(source)
    return importlib.import_module("dpspec_hello")


@functools.cache
def results(plugin):
    return run_checks(plugin)


def test_no_first_party_plugin_is_forgotten():
    assert set(FIRST_PARTY) <= {info.provenance.plugin for info in installed().infos}


@pytest.mark.statistical
@pytest.mark.parametrize("plugin", [
    pytest.param(plugin, marks=pytest.mark.long if plugin == "divergences" else pytest.mark.slow) for plugin in FIRST_PARTY
])  # fmt: skip
def test_a_first_party_plugin_conforms_in_full(plugin):
    """About 50 samplers are compared with their law on 3 datasets each, at a false-alarm probability of 1e-9 for each."""
    if plugin == "engines" and importlib.util.find_spec("ray") is None:  # importing it would fix whom its workers answer
        pytest.skip("workers of Ray and Spark need both libraries")
    check_plugin(plugin, level="full")


@parametrize("hello", module=tutorial())
def test_the_tutorials_plugin_conforms(case):
    case.run()


@pytest.mark.long
def test_together_they_are_asked_every_fast_check():
    """Otherwise a check could rot unnoticed: no plugin would ever be asked it."""
    asked = {result.check for plugin in FIRST_PARTY for result in results(plugin) if result.status is Status.PASSED}
    assert {check.name for check in declared_checks() if check.level == "fast"} <= asked
