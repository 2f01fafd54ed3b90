"""No flag of a base class promises anything by default, and the reference pages list every flag."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from dpspec.base.lazy import at
from dpspec.blocks.parts import PARTS
from dpspec.extension.hooks import BASES, KINDS
from dpspec.grammar.rule import Conversion
from dpspec.grammar.views import View

ROOT = Path(__file__).parents[2]
CONVENTIONS = {"is_handed"}
"""Flags that say how a plugin is called, and promise nothing about what it does."""


def maker() -> Any:
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs" / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_flag_of_a_base_class_promises_anything_by_default() -> None:
    made = maker()
    bases = [*(at(BASES[kind]) for kind in KINDS), *PARTS, View, Conversion]
    flags = {(base.__name__, name): default for base in bases for name, (default, _) in made.flags_of(base).items()}
    assert {"is_symmetric", "is_metric", "by_record", "replays", "tight"} <= {name for _, name in flags}
    assert [key for key, default in flags.items() if default and key[1] not in CONVENTIONS] == []


def test_the_reference_pages_list_every_flag_with_what_it_says() -> None:
    made, page = maker(), (ROOT / "docs" / "reference" / "parts.md").read_text(encoding="utf-8")
    for base in [*(at(BASES[kind]) for kind in KINDS), *PARTS, View]:
        for name, (default, text) in made.flags_of(base).items():
            assert text, f"{base.__name__}.{name} has no docstring"
            assert f"| `{name}` | {default} |" in page
