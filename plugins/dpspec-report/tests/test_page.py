"""`dpspec curve`, `report` and `site`: files as they are asked for, whole or not at all; input stays text."""

from __future__ import annotations

import codecs
import html.parser
import itertools
import json
import random
import re
from fractions import Fraction
from pathlib import Path

import pytest
from dpspec_report.page import document

from dpspec import Figure
from dpspec.plugin.applications import Bullets, CaptionedFigure, Grid, Heading, Page, Sentence

ROOT = Path(__file__).parents[3]
NASTY = "<script>alert(1)</script> \"'&` \u202e\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u4f60\u597d \x07"
VOID = {"meta", "path", "rect", "circle", "polyline", "polygon"}


class Reader(html.parser.HTMLParser):
    """What a page is made of; fails where elements do not nest."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words, self.attributes = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def check(text):
    """A page without scripts or addresses that are loaded, with headings in order and heads of tables with a scope."""
    page = Reader(text)
    assert not {"script", "link", "img", "iframe", "object", "base", "form"} & set(page.tags)
    assert not any(name.startswith("on") for _, given in page.attributes for name in given)
    targets = {given["id"] for _, given in page.attributes if "id" in given}
    for tag, given in page.attributes:
        assert "src" not in given
        if tag == "a":
            assert given["href"].startswith("#") or re.fullmatch(r"[a-z0-9-]+\.html", given["href"])
            assert not given["href"].startswith("#") or given["href"][1:] in targets
        if tag == "th":
            assert given["scope"] in ("row", "col")
        if tag == "svg":
            assert given["role"] == "img"
            assert given["aria-label"]
    ids = [given["id"] for _, given in page.attributes if "id" in given]
    assert len(ids) == len(set(ids))
    levels = [int(tag[1]) for tag in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert ("html", {"lang": "en"}) in page.attributes
    assert page.tags.count("table") == page.tags.count("caption")
    assert "url(" not in text
    assert "@import" not in text
    return page


def test_names_with_markup_stay_text_wherever_they_stand():
    figure = Figure(title="a", alt="a", svg='<svg role="img" aria-label="a"><title>a</title></svg>')
    pieces = (
        Heading(words=NASTY, anchor='a"b'), Sentence(words=NASTY, mark=NASTY, mood="bad"),
        Bullets(items=(NASTY,), links=('#a"b',)),
        Heading(words=NASTY, level=3), Bullets(items=(NASTY,)), CaptionedFigure(figure=figure, caption=NASTY, wide=True),
        Grid(caption=NASTY, heads=(NASTY, NASTY), rows=((NASTY, NASTY),), moods=("bad",)),
    )  # fmt: skip
    text = document(Page(title=NASTY, pieces=pieces, foot=NASTY))
    page = check(text)
    seen = NASTY.replace("\u202e", "\\u202e").replace("\x07", "\\x07")
    assert page.words.count(seen) >= 10
    assert "\u202e" not in text, "nothing turns the direction of what follows"
    told = Page(title=NASTY, pieces=pieces, foot=NASTY).markdown()
    assert "<script>" not in told.replace("\\<", "")
    assert "\n\n\n" not in told


def test_a_report_of_a_file_tells_all_that_it_promises(run, response, tmp_path):
    ran = run("report", response(), "--out", tmp_path / "deep" / "report.html")
    assert ran.code == 0, ran.err
    text = (tmp_path / "deep" / "report.html").read_text(encoding="utf-8")
    page = check(text)
    told = " ".join(page.words)
    for words in ("In plain words", "The five blocks", "What was checked", "What an attacker can find out", "File and sources",
                  "Versions and hashes", "SHA-256", "verified", "at most 0.15", "What that rests on"):  # fmt: skip
        assert words in told, words
    again = run("report", response(), "--out", tmp_path / "again.html")
    assert again.code == 0
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == text, "the same files give the same page"


SHARED = """schema = 1
id = "{id}"
title = "Answers"
space = {{ type = "bit-vectors", length = 2 }}
input_divergence = {{ type = "hamming-ordered" }}
output_divergence = {{ {standard} }}
budget = {{ epsilon = "{epsilon}" }}
{more}
"""
FURTHER = '[[part]]\ntitle = "again"\nbudget = { epsilon = 2 }\n'


def test_numbers_of_several_standards_are_told_apart_in_the_overview(run, tmp_path):
    """Pure, approximate and Renyi privacy all were *epsilon = 1*, and a further promise of 2 was not mentioned."""
    given = (
        ("pure", 'type = "mult"', FURTHER, "pure differential privacy"),
        ("approximate", 'type = "mult-delta", delta = "1e-6"', "", "approximate differential privacy (delta = 1e-6)"),
        ("renyi", 'type = "renyi", order = 2', "", "Renyi differential privacy of order 2"),
    )
    for id, standard, more, _ in given:
        path = tmp_path / f"{id}.dpspec.toml"
        path.write_text(SHARED.format(id=id, standard=standard, more=more, epsilon=1), encoding="utf-8")
    run("report", tmp_path, "--out", tmp_path / "all.md")
    rows = [line for line in (tmp_path / "all.md").read_text(encoding="utf-8").splitlines() if "nothing was checked |" in line]
    for id, _, more, words in given:
        budget = f"epsilon = 1{', and 1 further promise' if more else ''}"
        assert any(f"| {id} | nothing was checked | {budget} | {words} |" in row for row in rows), (id, rows)


def test_the_ledger_of_a_report_names_standards_and_rounds_up(run, tmp_path):
    epsilon = Fraction(1, 3**68)  # the nearest decimal of six digits is below it
    for id, standard in (("a", 'type = "mult"'), ("b", 'type = "mult-delta", delta = "1e-6"')):
        path = tmp_path / f"{id}.dpspec.toml"
        path.write_text(SHARED.format(id=id, standard=standard, more="", epsilon=epsilon), encoding="utf-8")
    run("report", tmp_path, "--out", tmp_path / "all.md")
    text = (tmp_path / "all.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| [ab] \| epsilon at most \S+ by (.*?) \| at most (\S+) \|", text)
    assert [words for words, _ in rows] == ["pure differential privacy", "approximate differential privacy (delta = 1e-6)"]
    assert all(Fraction(amount) >= epsilon for _, amount in rows)


def test_a_refuted_claim_shows_its_witness_with_what_changed(run, response, tmp_path):
    ran = run("report", response(epsilon="ln(2)"), "--out", tmp_path / "r.html", "--format", "json")
    assert ran.code == 1
    assert ran.json("report")["files"][0]["outcome"] == "refuted"
    page = check((tmp_path / "r.html").read_text(encoding="utf-8"))
    told = " ".join(page.words)
    assert "The witness: two datasets that show it" in told
    assert "the changed ones are marked" in told
    assert [given for tag, given in page.attributes if tag == "tr" and given.get("class") == "bad"]


def test_a_file_that_holds_by_its_numbers_says_that_its_claim_was_not_looked_at(run, response, specs, tmp_path):
    unchecked = specs / "swapping-2020-county-tract.dpspec.toml"
    ran = run("report", unchecked, response(), "--out", tmp_path / "r.md")
    assert ran.code == 0
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "**2 files:** 2 hold." in text
    assert "| swapping-2020-county-tract | holds; its claim: nothing was checked |" in text
    assert text.count("its claim:") == 1


def test_broken_files_keep_their_place_with_their_error(run, response, tmp_path):
    good, empty = response(), tmp_path / "empty"
    broken = tmp_path / "broken.dpspec.toml"
    broken.write_text(f"schema = 1\nid = '''{NASTY[:30]}'''\n", encoding="utf-8")
    empty.mkdir()
    ran = run("report", good, broken, tmp_path / "absent.dpspec.toml", empty, "--out", tmp_path / "r.html", "--format", "json")
    assert ran.code == 2, "the worst of the files"
    assert [one["outcome"] for one in ran.json("report")["files"]] == ["holds", "invalid", "invalid", "invalid"]
    told = " ".join(check((tmp_path / "r.html").read_text(encoding="utf-8")).words)
    for words in ("could not be checked", "does not exist", "holds no file", "verified"):
        assert words in told
    ran = run("report", good, broken, "--out", tmp_path / "r.md")
    assert ran.code == 2
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "could not be checked" in text
    assert "<script>" not in text


BROKEN = {
    "not TOML": (b'schema = 1\nid = "x\n', ":2: TOML: "),
    "binary": (random.Random(1).randbytes(3000), ":1: text: is not UTF-8"),
    "empty": (b"", ":1: schema: is missing"),
    "of a plugin that is not there": (None, ": mechanism=stranger:secret: is not registered"),
    "with control characters": (b'schema = 1\nid = "\x1b[31m"\n', ":2: TOML: "),
}


def test_every_kind_of_broken_file_is_told_on_a_line_of_its_own(run, response, tmp_path):
    paths = []
    for place, (content, _) in enumerate(BROKEN.values()):
        path = tmp_path / f"broken-{place}.dpspec.toml"
        path.write_bytes(
            response().read_bytes().replace(b'"randomised-response"', b'"stranger:secret"') if content is None else content
        )
        paths.append(path)
    ran = run("report", *paths, tmp_path / "absent.dpspec.toml", "--out", tmp_path / "r.html")
    assert (ran.code, ran.out.splitlines()[-1]) == (2, "6 files: 6 invalid")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "\x1b" not in page
    told = check(page).words
    for path, (_, said) in zip(paths, BROKEN.values(), strict=True):
        assert [line for line in told if path.name in line and said in line], (path.name, said)
    assert any("does not exist: check the path" in line for line in told)
    assert run("site", *paths, "--out", tmp_path / "site").code == 2
    assert len(list((tmp_path / "site").glob("*.html"))) == len(paths) + 1


def test_a_title_of_10000_letters_and_of_all_scripts_is_no_wider_than_the_page(run, response, tmp_path):
    path = response()
    text = path.read_text(encoding="utf-8")
    long = "\u05e9\u4f60\u0645x" * 2_500
    path.write_text(re.sub(r'title = ".*"', f'title = "{long}"', text), encoding="utf-8")
    ran = run("report", path, "--out", tmp_path / "r.html")
    assert ran.code == 0, ran.err
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count(long) == 1, "whole once, shortened elsewhere"
    assert "overflow-wrap:anywhere" in page
    assert 'dir="auto"' in page


@pytest.mark.parametrize("command", ["report", "site", "curve"])
def test_no_files_is_wrong_usage(run, command, tmp_path):
    assert run(command, "--out", tmp_path / "r.html").code == 2


@pytest.mark.parametrize("name", ["r.pdf", "r", "r.txt"])
def test_other_endings_are_refused_before_any_work(run, name, tmp_path):
    ran = run("report", tmp_path / "absent.dpspec.toml", "--out", tmp_path / name, "--format", "json")
    assert [fault["code"] for fault in ran.json("failure")["errors"]] == ["picture"]
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_write_leaves_what_was_there(run, response, tmp_path, monkeypatch):
    (tmp_path / "r.html").write_text("before", encoding="utf-8")

    def full(*_):
        raise OSError(28, "No space left on device")

    path = response()
    assert run("report", path, "--out", tmp_path / "first.html").code == 0  # loads modules, which would keep what is patched
    monkeypatch.setattr("dpspec.base.files.to_disk", full)
    ran = run("report", path, "--out", tmp_path / "r.html")
    assert ran.code != 0
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == "before"
    assert [one.name for one in tmp_path.iterdir() if one.name.endswith(".part")] == []


def test_a_site_has_a_page_for_each_and_an_index(run, response, tmp_path):
    one = response()
    other = one.with_name("other.dpspec.toml")
    other.write_text(re.sub(r'id = ".*"', 'id = "index"', one.read_text(encoding="utf-8"), count=1), encoding="utf-8")
    ran = run("site", one, other, "--out", tmp_path / "site", "--format", "json")
    assert ran.code == 0, ran.err
    assert len(ran.json("site")["written"]) == 3
    pages = {path.name: check(path.read_text(encoding="utf-8")) for path in (tmp_path / "site").iterdir()}
    assert "index-2.html" in pages, "an id of index does not hide the index"
    linked = {given["href"] for tag, given in pages["index.html"].attributes if tag == "a"} - {"#content"}
    assert {link for link in linked if not link.startswith("#")} == set(pages) - {"index.html"}
    assert "equivalent" in " ".join(pages["index.html"].words)
    ran = run("site", one, "--out", tmp_path / "site")
    assert ran.code != 0
    assert "exists already" in ran.err


def test_curve_writes_a_picture_and_says_so(run, response, tmp_path):
    ran = run("curve", response(), "--panel", "power", "--theme", "dark", "--out", tmp_path / "new" / "c.svg", "--format", "json")
    assert ran.json("curve")["panel"] == "power"
    assert (tmp_path / "new" / "c.svg").read_text(encoding="utf-8").startswith("<svg")
    ran = run("curve", response(), "--panel", "error", "--out", tmp_path / "e.svg")
    assert (ran.code != 0, "no noise on counts" in ran.err) == (True, True)
    assert not (tmp_path / "e.svg").exists()


def test_compare_draws_two_files_side_by_side(run, response, tmp_path):
    one = response()
    weaker = one.with_name("weaker.dpspec.toml")
    weaker.write_text(one.read_text(encoding="utf-8").replace("ln(3)", "ln(4)"), encoding="utf-8")
    ran = run("compare", one, weaker, "--picture", tmp_path / "ab.svg")
    assert ran.code == 0, ran.err
    text = (tmp_path / "ab.svg").read_text(encoding="utf-8")
    assert "Does A imply B? yes" in text
    assert "Does B imply A? no" in text
    assert run("compare", one, weaker, "--yardstick", "--picture", tmp_path / "y.svg").code == 2


@pytest.mark.long
def test_many_promises_that_are_not_kept_are_one_sentence_and_rows_stack_on_a_phone(run, tmp_path):
    mistakes = sorted((ROOT / "specs" / "mechanisms" / "mistakes").glob("*.toml"))[:3]
    run("report", *mistakes, "--out", tmp_path / "mistakes.html")
    text = (tmp_path / "mistakes.html").read_text(encoding="utf-8")
    check(text)
    names = [path.name.removesuffix(".dpspec.toml") for path in mistakes]
    broken = f"{names[0]}, {names[1]} and {names[2]}"
    assert f"Not added up: {broken} do not keep what they promise; dpspec ledger --as-promised" in text
    assert text.count("leave it out, correct the claim") == 0
    assert 'class="stacks"' in text
    assert 'data-head="budget: "' in text


def test_a_report_of_a_release_shows_its_numbers_with_their_margins(run, tmp_path, monkeypatch):
    """The folder of a release takes the place of the file that it was drawn under."""
    monkeypatch.chdir(tmp_path)
    text = NOISY.replace("\n", "\r\n")  # text whose hash depends on its line ends
    Path("colours.dpspec.toml").write_bytes(codecs.BOM_UTF8 + text.encode())
    Path("table.csv").write_text("colour\n" + "red\nblue\nred\n" * 100, encoding="utf-8")
    assert run("release", "colours.dpspec.toml", "table.csv", "--out", "out", "--seed", "3").code == 0
    for given in ("out", "out/report.json"):
        assert run("report", given, "--out", "report.md").code == 0
        page = Path("report.md").read_text(encoding="utf-8")
        row = Path("out/released.csv").read_text(encoding="utf-8").splitlines()[1].split(",")
        assert f"| {row[0]} | red | {row[2]} | \u00b1 " in page
    assert run("verify", "out").code == 0
    assert run("explain", "out", "--audience", "public").out == run("explain", "colours.dpspec.toml", "--audience", "public").out

    report = json.loads(Path("out/report.json").read_text(encoding="utf-8"))
    report["specification"]["text"] = report["specification"]["text"].replace("ln(4)", "ln(3)")
    Path("out/report.json").write_text(json.dumps(report), encoding="utf-8")
    refused = run("report", "out", "--out", "report.md")
    assert refused.code == 2
    assert "does not have the SHA-256 that is stated" in Path("report.md").read_text(encoding="utf-8")
    Path("out/report.json").write_text("[1]", encoding="utf-8")
    assert "is not the report of a release" in run("verify", "out").err


NOISY = """\
schema = 1
id = "colours"
title = "Counts of colours with geometric noise"

[space]
type = "records"
attributes = [{ name = "colour", categories = ["red", "blue"] }]

[multiverse]
invariants = []

[input_divergence]
type = "hamming"

[output_divergence]
type = "mult"

[budget]
epsilon = "ln(4)"

[mechanism]
type = "geometric"
queries = [{ type = "marginal", attributes = ["colour"] }]
ratio = "1/2"
"""
