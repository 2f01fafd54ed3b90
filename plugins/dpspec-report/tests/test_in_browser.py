"""Pages in headless Chromium, where there is one: no errors, nothing loaded, no overflow on a phone or a desk, keys, print."""

from __future__ import annotations

from pathlib import Path

import pytest
from dpspec_report import dossier
from dpspec_report.page import document

from dpspec import api
from dpspec.extension import installed
from dpspec.plugin.applications import Bullets, Grid, Heading, Page, Sentence
from tests.report.browser import CHROMIUM, Browser

pytest.importorskip("tornado")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH")]
SPECS = Path(__file__).parents[3] / "specs"
FILES = ("randomised-response.dpspec.toml", "gaussian-lecture.dpspec.toml", "swapping-2020-county-tract.dpspec.toml")
LONG = "<script>document.title='x'</script>" + "\u05e9\u4f60\u0645x" * 2_500


@pytest.fixture(scope="module")
def browser():
    with Browser() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    registry = installed().registry
    found = dossier.gather(
        [*(SPECS / name for name in FILES), folder / "absent.dpspec.toml"], registry, lambda a, b: api.compare(a, b, registry)
    )
    rows = tuple((LONG, *("word " * 30 for _ in range(6))) for _ in range(3))
    hostile = (
        Heading(words=LONG, anchor="a"), Sentence(words=LONG, mark=LONG[:200]), Bullets(items=(LONG,), links=("#a",)),
        Grid(caption=LONG, heads=(LONG[:90],) * 7, rows=rows),
    )  # fmt: skip
    made = {"report": dossier.report_page(found), "hostile": Page(title=LONG, pieces=hostile, foot=LONG)}
    for name, page in made.items():
        (folder / f"{name}.html").write_text(document(page), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["report", "hostile"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_a_page_fits_and_says_nothing_to_the_console(browser, pages, name, width, dark):
    browser.open(pages / f"{name}.html", width=width, dark=dark)
    assert browser.value("document.scrollingElement.scrollWidth <= innerWidth")
    assert browser.said == []
    assert len([address for address in browser.asked if not address.startswith("data:")]) == 1, "the page alone is loaded"
    assert browser.value("document.scripts.length") == 0
    assert browser.value("getComputedStyle(document.body).backgroundColor") == (
        "rgb(21, 24, 29)" if dark else "rgb(255, 255, 255)"
    )
    letters = (
        "[...document.querySelectorAll('svg text')].filter(t => t.getBBox().width > t.ownerSVGElement.viewBox.baseVal.width)"
    )
    assert browser.value(f"{letters}.length") == 0


def test_the_keys_lead_through_the_page(browser, pages):
    browser.open(pages / "report.html", width=390)
    browser.press("Tab", 9)
    assert browser.value("document.activeElement.className") == "skip"
    assert browser.value("document.activeElement.getBoundingClientRect().left >= 0"), "it is seen when it has the focus"
    seen = set()
    for _ in range(12):
        browser.press("Tab", 9)
        seen.add(browser.value("document.activeElement.tagName + ' ' + document.activeElement.className"))
    assert {"A ", "DIV frame"} <= seen, "links, and the frames that scroll"
    assert browser.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_all_of_a_page_is_printed(browser, pages):
    browser.open(pages / "report.html", dark=True)
    found = browser.printed()
    assert found.startswith(b"%PDF-")
    assert found.count(b"/Type /Page\n") + found.count(b"/Type /Page ") + found.count(b"/Type/Page/") > 5
