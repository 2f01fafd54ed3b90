"""A published report says nothing of the table beyond the released numbers: that of another table differs in them alone."""

from __future__ import annotations

import json

import pytest

import dpspec as dp

REGIONS = dp.records(region=["north", "south", "west"])
ONE = dp.marginal(attributes="region")
MECHANISMS = {
    "geometric": lambda: dp.geometric(queries=ONE, ratio="1/2"),
    "discrete-gaussian": lambda: dp.discrete_gaussian(queries=[ONE], variance="25/2", sensitivities=[1]),
}


def table(folder, name, counts):
    lines = ["region", *(region for region, count in counts.items() for _ in range(count))]
    path = folder / f"{name}.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


PROMISES = {"geometric": {"standard": "pure", "epsilon": "ln(2)"}, "discrete-gaussian": {"standard": "zCDP", "rho": "1/25"}}


def published(name, folder, counts, invariants=()):
    """The report of a release, but for the files and what they hold."""
    spec = dp.spec(space=REGIONS, distance="add-remove", invariants=list(invariants), **PROMISES[name])
    document = dp.SpecDocument(id="released", title="Counts", spec=spec, mechanism=MECHANISMS[name]())
    out = folder / f"out-{sum(counts.values())}"
    dp.release(document, table(folder, "people", counts), out, unverified=True, seed=1)
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    for part in ("released", "records"):
        del report[part]
    return report


@pytest.mark.parametrize("name", ["geometric", "discrete-gaussian"])
def test_the_report_does_not_tell_how_many_records_there_are(name, tmp_path):
    few = published(name, tmp_path, {"north": 3, "south": 2, "west": 1})
    many = published(name, tmp_path, {"north": 30, "south": 0, "west": 11})
    assert few == many
    assert few["exposure"]["of"] is None


def test_a_total_that_is_published_exactly_is_told(tmp_path):
    total = dp.marginal(attributes=[])
    report = published("geometric", tmp_path, {"north": 3, "south": 2, "west": 1}, [total])
    assert report["exposure"]["of"] == 6


def test_a_count_of_some_records_is_no_count_of_all(tmp_path):
    some = dp.marginal(attributes=[], where={"region": ["north"]})
    report = published("geometric", tmp_path, {"north": 3, "south": 2, "west": 1}, [some])
    assert report["exposure"]["of"] is None
    assert "6" not in report["exposure"]["note"]
