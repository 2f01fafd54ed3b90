"""The numbers of a mechanism are the same in every report that shows them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dpspec as dp
from dpspec.extension import installed
from dpspec.risks import risk_numbers

SPECS = Path(__file__).parents[2] / "specs"
PERSONS = SPECS / "census-2020" / "pl-persons.dpspec.toml"
SWAP = SPECS / "swapping-derangement.dpspec.toml"

RESPONSE = SPECS / "randomised-response.dpspec.toml"

PUBLISHED = {
    RESPONSE: ((0.03, 0.15, 0.3), (0.03, 0.15, 0.3)),
    PERSONS: ((0.3209, 0.5856, 0.7189), (0.6834, 0.9344, 0.9593)),
}
"""The power of the mechanism and of its promise at levels 1, 5 and 10 %: three times the level for an answer that is kept with
probability 3/4; for the 2020 Census the four digits that issue 28 states."""


def _powers(rows: list[dict], side: str) -> list[float]:
    found = [row for row in rows if row["quantity"] == "power"]
    end = "lower" if side == "own_law" else "upper"
    return [float(dp.number(row[side][0]["value"][end]).decimal(9)) for row in found]


@pytest.mark.parametrize("path", [RESPONSE, pytest.param(PERSONS, marks=pytest.mark.slow)], ids=["response", "census"])
def test_explain_label_compare_and_report_show_the_numbers_of_risk(path, tmp_path):
    page = tmp_path / "report.md"
    dp.write_report(path, out=page)
    compared, explained, label = dp.compare(path, SWAP), dp.explain(path), dp.label(path)
    own, allowed = PUBLISHED[path]
    inside = [row for row in dp.risk(path, "tester", levels=["1/100", "1/20", "1/10"]).to_dict()["rows"]
              if {"name": "candidates", "value": "distinguished by what is published"} not in row["at"]]  # fmt: skip
    assert _powers(inside, "own_law") == pytest.approx(own, abs=1e-4)
    assert _powers(inside, "worst_case") == pytest.approx(allowed, abs=2e-4)
    for data in (explained.to_dict()["file"]["risk"], label.to_dict()["risk"], compared.to_dict()["risk"]["left"]):
        assert [row for row in data["rows"] if row["quantity"].startswith(("power", "advantage"))] == inside
    in_100 = [float(number) for number in re.findall(r"at\s+least\s+([\d.]+)\s+for\s+this\s+release", str(label))]
    assert all(any(0 <= 100 * wanted - value < 0.1 for value in in_100) for wanted in own), label
    for text in (str(explained), str(compared), page.read_text(encoding="utf-8")):
        found = [float(number) for number in re.findall(r"at\s+least\s+(0\.\d+)", text)]
        assert all(any(abs(value - wanted) < 1e-4 for value in found) for wanted in own), text
        assert re.search(r"any mechanism that keeps the\s+(this mechanism\s+)?promise", text), "the head of a column may wrap"


def test_a_swap_has_numbers_of_its_mechanism_where_its_budget_differs_by_universe():
    text = str(dp.explain(SWAP))
    line = next(line for line in text.splitlines() if line.startswith("power, level 1/20"))
    assert "distance 2" in line
    assert "differs by universe" in line
    assert "at least 0.43" in line


def test_only_pairs_of_one_universe_are_counted():
    document = dp.read(SPECS / "swapping-by-risk.dpspec.toml")
    found = risk_numbers(document.spec, document.mechanism, installed().registry)
    assert found.rows
    assert {dict(row.at)["candidates"] for row in found.rows} == {"left open by what is published"}


def test_a_claim_that_is_refuted_at_distance_0_has_the_numbers_of_one_record():
    together = SPECS / "census-2020" / "pl-together-per-person.dpspec.toml"
    rows = dp.explain(together).to_dict()["file"]["risk"]["rows"]
    secret = dp.risk(together, secret=["votingage", "hispanic", "cenrace"])
    powers = [row.own[0].value.lower for row in secret.rows if row.quantity.startswith("power against") and row.own]
    open_ = [value for value in powers if value < 1]
    assert _powers(rows, "own_law") == [float(value.decimal(9)) for value in open_]
    assert {row["own_law"][0]["relation"] for row in rows if row["quantity"] == "power"} == {"at least"}
