"""The limits of work that a page states are those of the code."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "trust.md"
ROW = re.compile(r"^\|[^|]*\| ([^|]*?): ([\d,]+)[^|]*\| `([\w.]+)\.([A-Z_]+)` \|$", re.MULTILINE)
ROWS = ROW.findall(PAGE.read_text(encoding="utf-8"))


def test_the_table_is_read() -> None:
    section = PAGE.read_text(encoding="utf-8").split("## Limits of work")[1].split("\n## ")[0]
    assert len(ROWS) == section.count("\n| ") - 1


@pytest.mark.parametrize(("what", "written", "module", "constant"), ROWS, ids=[f"{row[2]}.{row[3]}" for row in ROWS])
def test_a_limit_is_that_of_the_code(what: str, written: str, module: str, constant: str) -> None:
    assert what
    assert getattr(importlib.import_module(module), constant) == int(written.replace(",", ""))
