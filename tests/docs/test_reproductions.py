"""The pages of docs/reproductions are what the command makes; charts are compared by their names only, being floats."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def pages():
    """PAGES of docs/reproduce, which is no installed package."""
    spec = importlib.util.spec_from_file_location("reproduce", DOCS / "reproduce" / "__init__.py")
    sys.modules["reproduce"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PAGES


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.__module__)
def test_a_page_is_up_to_date(page):
    for name, text in page().files().items():
        kept = (DOCS / "reproductions" / name).read_text(encoding="utf-8")
        if name.endswith(".md"):
            assert text == kept, f"run python docs/make_reproductions.py: {name} has changed"
        if name.endswith(".json"):
            assert [chart["chart"] for chart in json.loads(text)] == [chart["chart"] for chart in json.loads(kept)]
