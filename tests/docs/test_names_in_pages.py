"""Modules, names and files that pages for maintainers mention are there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from dpspec.extension import packages

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / page for page in ("CONTRIBUTING.md", "docs/reference/hooks.md", "docs/architecture.md", "docs/plain-code.md")),
    *sorted(ROOT.glob("plugins/*/README.md")),
]
GROUPS = {
    packages.COMMANDS, f"{packages.COMMANDS}.new", packages.FUNCTIONS, packages.SERVERS, packages.RENDERERS, packages.JUDGES,
    "dpspec.models",
}  # fmt: skip
"""Entry-point groups, which are written like modules."""


def exists(name: str) -> bool:
    """Whether a dotted name is a module or something in one."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_name_is_there(page):
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`(dpspec(?:_\w+)?(?:\.\w+)+)`", text)) - GROUPS
    assert [name for name in sorted(named) if not name.endswith(".toml") and not exists(name)] == []
    files = set(re.findall(r"`((?:dpspec|tests|docs|plugins|benchmarks|reproductions)/[\w./-]+)`", text))
    beside = (ROOT, page.parent)
    wanted = [file for file in sorted(files) if "NAME" not in file and not any((folder / file).exists() for folder in beside)]
    assert wanted == []


def test_hooks_name_no_module_of_the_inside():
    """A plugin author imports the base classes from `dpspec.plugin`."""
    named = re.findall(r"The base class is `([\w.]+)`", (ROOT / "docs" / "reference" / "hooks.md").read_text(encoding="utf-8"))
    assert len(named) == 18
    assert all(name.startswith("dpspec.plugin.") for name in named)


def test_a_name_that_is_gone_is_found():
    assert exists("dpspec.plugin.Mechanism")
    assert exists("dpspec.plugin.tables.TableBuilder")
    assert not exists("dpspec.plugin.Mechanisms")
    assert not exists("dpspec.releases.draw")
