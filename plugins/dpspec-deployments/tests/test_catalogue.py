"""The catalogue: how its numbers and texts are printed."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from click.testing import CliRunner
from dpspec_deployments.catalogue import CatalogueEntry, headline_of, short_budget

import dpspec as dp
from dpspec.base.words import Word
from dpspec.cli import main
from dpspec.verifier.standing import Standing

FILE = Path(__file__).parents[3] / "specs/deployments/microsoft-windows.dpspec.toml"


def test_no_number_of_a_catalogue_is_below_the_budget():
    """2 ln 2 is 1.386294361...: rounded to the nearest it would be a smaller budget."""
    promise = dp.spec(space=dp.bit_vectors(length=2), distance="hamming-ordered", standard="pure", epsilon="2*ln(2)")
    assert short_budget(promise) == "epsilon at most 1.3863"


@pytest.mark.parametrize("begun", ["=HYPERLINK", "+cmd", "-1+1", "@SUM"])
def test_no_text_of_a_file_is_a_formula_in_a_spreadsheet(tmp_path, begun):
    title = next(line for line in FILE.read_text(encoding="utf-8").splitlines() if line.startswith("title = "))
    path = tmp_path / FILE.name
    path.write_text(FILE.read_text(encoding="utf-8").replace(title, f"title = '{begun}'"), encoding="utf-8")
    shown = CliRunner().invoke(main, ["catalogue", str(tmp_path), "--format", "csv"])
    (row,) = csv.DictReader(io.StringIO(shown.stdout))
    assert row["title"] == f"'{begun}"
    assert row["id"] == "microsoft-windows"


def test_a_catalogue_says_which_verdicts_rest_on_assumptions():
    document = dp.read(FILE)
    entries = [CatalogueEntry(document=document, registry=dp.installed().registry) for _ in range(2)]
    for entry, assumed in zip(entries, ((), ("the data have fewer than 922 records",)), strict=True):
        vars(entry)["standing"] = Standing(word=Word.VERIFIED, reason="constant 1", assumptions=assumed)
    plain, conditional = entries
    assert conditional.status == f"{plain.status} under assumptions"
    assert "1 verified on a stand-in, 1 verified on a stand-in under assumptions" in headline_of(entries, 0)
    assert conditional.data["standing"]["assumptions"] == ["the data have fewer than 922 records"]
