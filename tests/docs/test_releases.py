"""The pages of docs/releases: made again where the samples lie, and their numbers counted from the raw files."""

from __future__ import annotations

import csv
import importlib.util
import os
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
DATA = Path(os.environ.get("DPSPEC_DATA", DOCS.parents[1] / "shared" / "data"))


def maker():
    spec = importlib.util.spec_from_file_location("make_releases", DOCS / "make_releases.py")
    sys.modules["make_releases"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER = maker()


def raw(sample):
    path = DATA / sample.file
    if not path.exists():
        pytest.skip("the sample is not here; DPSPEC_DATA names its folder")
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("sample", MAKER.SAMPLES, ids=lambda sample: sample.page)
def test_a_page_is_up_to_date(sample):
    raw(sample)
    kept = (DOCS / "releases" / f"{sample.page}.md").read_text(encoding="utf-8")
    assert MAKER.page(sample, DATA) == kept, "run: python docs/make_releases.py DATA"


@pytest.mark.parametrize("sample", MAKER.SAMPLES, ids=lambda sample: sample.page)
def test_the_strata_and_the_budget_are_those_of_the_raw_file(sample):
    records = raw(sample)
    page = (DOCS / "releases" / f"{sample.page}.md").read_text(encoding="utf-8")
    match = re.search(r"\| match \| (.*?) \|", page)[1].split(", ")
    swap = re.search(r"\| swap \| (.*?) \|", page)[1]
    rate = re.search(r"\| swap rate \| 1/(\d+) \|", page)[1]
    strata = Counter(tuple(record[sample.columns[name]] for name in match) for record in records)
    b = max(strata.values())
    assert f"| strata | {len(strata)} |\n" in page
    assert f"| largest stratum | {b} |\n" in page
    assert f"| ln({(b + 1) * (int(rate) - 1)})," in page
    held = Counter(tuple(record[sample.columns[name]] for name in (*match, swap)) for record in records)
    assert f"| person by {' x '.join((*match, swap))} | {len(held):,} | held |" in page


@pytest.mark.parametrize("sample", MAKER.SAMPLES, ids=lambda sample: sample.page)
def test_a_page_says_that_it_is_seeded_and_whose_data_it_is(sample):
    page = (DOCS / "releases" / f"{sample.page}.md").read_text(encoding="utf-8")
    assert "NOT FIT FOR PUBLICATION" in page
    assert sample.credit in page


def test_the_faults_on_the_page_about_releases_are_those_of_a_table(tmp_path):
    from dpspec import installed
    from dpspec.base.errors import Faults
    from dpspec.blocks.space import Attribute
    from dpspec.grammar.table_files import read_table
    from dpspec.specfile.table_input import formats_of

    shown = re.findall(r"^dwellings\.csv .*$", (DOCS / "releasing.md").read_text(encoding="utf-8"), re.MULTILINE)
    county = Attribute(name="county", categories=("a", "b"))
    block = Attribute(name="block", categories=("a1", "a2", "b1", "b2"), within="county", parents=("a", "a", "b", "b"))
    path = tmp_path / "dwellings.csv"
    path.write_text("county,block\na,a1\nb,b9\n,a1\na,c1\n", encoding="utf-8")
    with pytest.raises(Faults) as raised:
        read_table(path, [county, block], formats_of(installed().registry))
    assert [str(fault) for fault in raised.value.faults] == shown
