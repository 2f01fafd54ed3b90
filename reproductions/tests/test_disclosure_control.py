"""The page on disclosure control is what its command prints, and every mechanism stands in it both ways."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpspec import installed
from reproductions.disclosure_control import known, main

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def page() -> str:
    ran = CliRunner().invoke(main, ["--specs", str(ROOT / "specs" / "disclosure")])
    assert ran.exit_code == 0, ran.output
    return ran.stdout


@pytest.mark.slow
def test_the_page_is_what_the_command_prints(page):
    """Mend with: python -m reproductions.disclosure_control > docs/disclosure-control.md"""
    assert (ROOT / "docs" / "disclosure-control.md").read_text(encoding="utf-8") == page


def test_every_mechanism_has_a_verified_and_a_refuted_claim(page):
    rows = re.findall(r"^\| \[([a-z-]+)\]\(.*?\) \| (.*?) \| .*? \| .*? \| (verified|refuted) \| (.*?) \|", page, re.MULTILINE)
    for mechanism in (
        cls for cls in installed().registry.classes("mechanisms") if cls.__module__.startswith("dpspec_census.disclosure.")
    ):
        filed = {(universe, verdict): found for name, universe, verdict, found in rows if name == mechanism.name}
        assert filed["one universe: the whole space", "refuted"] == "inf"
        assert filed[f"invariants: what {mechanism.name} can publish", "verified"] != "inf"


@pytest.mark.parametrize("threshold", [2, 3])
def test_the_auditor_finds_nothing_where_the_rule_tells(threshold):
    found = known(threshold)
    assert found.audited == 0 < found.pinned <= found.cells
