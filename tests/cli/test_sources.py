"""`dpspec explain` finds a source: by its key, its authors and year, or one of its authors."""

from __future__ import annotations

import pytest

import dpspec


@pytest.mark.parametrize("name", [
    "Bun and Steinke 2016", "bun-steinke-2016", "bun and steinke", "Bun, Steinke (2016)",
    "steinke bun 2016", "Bun and Steinke, TCC 2016, Definition 1.1",
])  # fmt: skip
def test_a_source_by_its_names(run, name):
    ran = run("explain", name)
    assert ran.code == 0
    for said in ("Bun and Steinke 2016", "Concentrated differential privacy", "Lemma 3.5", "zcdp-to-approximate", "d-nor"):
        assert said in ran.out


def test_a_source_as_json(run):
    data = run("explain", "Kairouz, Oh and Viswanath 2015", "--format", "json").json("explain")["source"]
    assert (data["key"], data["year"]) == ("kairouz-oh-viswanath-2015", 2015)
    assert [fact["where"] for fact in data["facts"]] == ["Theorem 2.4"]
    assert data["cited_by"]


@pytest.mark.parametrize(("name", "key"), [
    ("Warner", "warner-1965"), ("Wang", "wang-2019"), ("Wood", "wood-et-al-2018"),
    ("Bailie et al. 2024", "bailie-gong-meng-drechsler-2024"), ("Kifer et al. 2022, Theorem 6.1", "kifer-et-al-2022"),
    ("van Erven", "van-erven-harremoes-2014"), ("Jorgensen, Yu and Cormode, ICDE 2015", "jorgensen-yu-cormode-2015"),
])  # fmt: skip
def test_a_short_name_that_means_one_source(run, name, key):
    assert run("explain", name, "--format", "json").json("explain")["source"]["key"] == key


@pytest.mark.parametrize(("name", "keys"), [
    ("Mironov", ("mironov-2012", "mironov-2017")), ("Dwork et al. 2006", ("dwork-mcsherry-nissim-smith-2006",)),
    ("Bailie, Gong and Meng", ("bailie-gong-meng-2023", "bailie-gong-meng-2025")),
])  # fmt: skip
def test_a_name_that_means_several_lists_them(run, name, keys):
    ran = run("explain", name)
    assert ran.code == 2
    assert "sources" in ran.err
    assert all(key in ran.err for key in keys)


def test_a_key_that_is_nearly_right(run):
    ran = run("explain", "bun-steinke-2015")
    assert ran.code == 2
    assert "bun-steinke-2016" in ran.err


def test_the_same_from_python():
    assert str(dpspec.explain("Warner 1965")).startswith("Warner 1965  source, warner-1965")
