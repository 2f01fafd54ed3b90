"""The pages of docs/deployments: each was made from the file as it is, and the findings come out of the files again."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from pathlib import Path

import pytest

from dpspec.extension import installed
from dpspec.specfile.reader import read

ROOT = Path(__file__).parents[2]
FOLDER, PAGES = ROOT / "specs" / "deployments", ROOT / "docs" / "deployments"
AGAIN = "run: python docs/make_deployments.py"


def maker():
    spec = importlib.util.spec_from_file_location("make_deployments", ROOT / "docs" / "make_deployments.py")
    sys.modules["make_deployments"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER, REGISTRY = maker(), installed().registry
FILES = sorted(path.name.removesuffix(".dpspec.toml") for path in FOLDER.glob("*.dpspec.toml"))


def kept(name):
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


def test_each_file_has_its_page_and_no_page_is_left_over():
    assert sorted(path.stem for path in PAGES.glob("*.md")) == sorted(["README", *FILES]), AGAIN


def test_each_page_was_made_from_the_file_as_it_is():
    digests = {name: hashlib.sha256((FOLDER / f"{name}.dpspec.toml").read_bytes()).hexdigest() for name in FILES}
    stale = [name for name, digest in digests.items() if digest not in kept(name)]
    assert stale == [], AGAIN


def test_the_front_page_lists_each_once():
    table = kept("README").partition("## All of them")[2]
    assert sorted(re.findall(r"^\| \[([a-z0-9-]+)\]", table, re.MULTILINE)) == FILES, AGAIN


def test_the_front_page_has_at_least_ten_findings():
    assert len(re.findall(r"^### \d+\. ", kept("README"), re.MULTILINE)) >= 10


def entry(name):
    (found,) = MAKER.catalogue_of([read(FOLDER / f"{name}.dpspec.toml", REGISTRY)], REGISTRY)
    return found


@pytest.mark.parametrize("name", ["meta-urls", "ohmconnect-as-printed", "wikimedia-editors-weekly"])
def test_a_page_is_made_again(name):
    assert MAKER.page(entry(name)) == kept(name), AGAIN


def test_what_a_false_promise_would_give_is_not_said_of_the_release():
    """The page of a refuted claim said that laws are no further apart, and that a test has a power of at most so much."""
    page = MAKER.page(entry("ohmconnect-as-printed"))
    assert "**known false (confirmed) under assumptions**" in page
    assert "The promise is that for any two datasets" in page
    assert "If the promise is kept, a test of level 5%" in page


@pytest.mark.long
def test_all_pages_and_findings_are_made_again():
    entries = MAKER.load()
    assert MAKER.front(entries) == kept("README"), AGAIN
    assert [one.id for one in entries if MAKER.page(one) != kept(one.id)] == [], AGAIN


def test_findings_follow_the_files():
    """Without the misprint the finding is gone: nothing of it is typed."""
    symptoms, census = entry("google-symptoms"), entry("us-2020-sdhc")
    assert any("0.021" in line for line in MAKER.sums([symptoms, census])[1])
    assert MAKER.sums([census])[1] == []
    assert any("12.74" in line and "bun-steinke" in line for line in MAKER.conversions([census])[1])
    pair = [entry("opensafely-old-rule"), entry("opensafely")]
    assert any("what does hold: [opensafely]" in line for line in MAKER.false_as_written(pair)[1])
    assert MAKER.false_as_written(pair[1:])[1] == []
