"""One model of a page: every piece in its three forms, of which none reads a text as markup."""

from __future__ import annotations

import html.parser

import pytest
from markdown_it import MarkdownIt
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dpspec.report.figures import Figure
from dpspec.report.page import (
    Bullets,
    CaptionedFigure,
    Grid,
    Heading,
    Page,
    Sentence,
    Verbatim,
    as_html,
    as_markdown,
    escaped,
    to_html,
    to_markdown,
)
from dpspec.report.pages import CommandAnswer
from dpspec.report.terminal import drawn

HOSTILE = "<script>x</script> | [a](b) ![i](u) @someone #1 `c` *d* _e_ \u202e\x1b[31m ```"


def of_rich(words):
    table = Table("head", "other")
    table.add_row(Text(words, "bold"), Group(words, Padding(words, (0, 0, 0, 2))))
    return table


PIECES = {
    "heading": lambda words: Heading(words=words, level=3),
    "sentence": lambda words: Sentence(words=words, mark=words, mood="bad"),
    "bullets": lambda words: Bullets(items=(words, words)),
    "grid": lambda words: Grid(caption=words, heads=(words, "b"), rows=((words, words),), moods=("good",)),
    "figure": lambda words: CaptionedFigure(figure=Figure(title="t", alt="a", svg="<svg/>"), caption=words),
    "lines as they are": lambda words: Verbatim(text=f"{words}\n{words}"),
    "text": lambda words: Text(words, "bold red"),
    "string": lambda words: words,
    "table of rich": of_rich,
    "group": lambda words: Group(Text(words), words),
    "indented": lambda words: Padding(Text(words), (0, 0, 0, 2)),
}


class Tags(html.parser.HTMLParser):
    """The elements and the text of a page; fails where elements do not nest."""

    def __init__(self, text):
        super().__init__()
        self.open, self.names, self.words = [], set(), ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        if tag not in ("br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.names.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data


@pytest.mark.parametrize("piece", PIECES)
def test_no_form_reads_a_text_as_markup(piece: str) -> None:
    made = PIECES[piece](HOSTILE)
    page = Tags(to_html(made))
    assert "<script>x</script>" in page.words
    assert "script" not in page.names
    markdown = to_markdown(made)
    read = Tags(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))  # a reader that is not ours
    assert "<script>x</script>" in read.words
    assert "[a](b) ![i](u) @someone #1 `c` *d* _e_" in read.words
    assert not {"script", "a", "img"} & read.names
    assert piece.startswith("lines") or "code" not in read.names
    assert "@" not in markdown or piece.startswith("lines")
    for form in (page.words, markdown, drawn(made, plain=True)):
        assert "\x1b" not in form
        assert "\u202e" not in form


def test_lines_as_they_are_cannot_end_their_block() -> None:
    markdown = to_markdown(Verbatim(text="a\n````\n<b>\n```", language="toml"))
    fence = markdown.partition("toml")[0]
    assert set(fence) == {"`"}
    assert markdown.count(fence) == 2
    assert markdown.endswith(fence)


def test_lists_and_tables_keep_their_items_on_one_line() -> None:
    assert to_markdown(Bullets(items=("a\nb", "- c"))) == "- a b\n- \\- c"
    grid = Grid(caption="C", heads=("x", "y"), rows=(("1\n2", "a|b"),))
    assert to_markdown(grid).splitlines() == ["C:", "", "| x | y |", "| --- | --- |", "| 1 2 | a\\|b |"]


def test_links_are_left_out_of_markdown() -> None:
    assert as_markdown([Bullets(items=("a",), links=("#a",)), "b"]) == "b\n"


def test_a_page_on_a_terminal_sets_blocks_apart_and_keeps_sentences_together() -> None:
    pieces = (
        Sentence(words="first"), Sentence(words="second", mark="note:"), Heading(words="Part"), Sentence(words="third"),
        Verbatim(text="a\nb", language="diff"), Bullets(items=("c",)), Grid(caption="T", heads=("h", "i"), rows=(("1", "2"),)),
    )  # fmt: skip
    assert Page(title="Title", pieces=pieces, foot="end").text().splitlines() == [
        "Title", "first", "note: second", "", "Part", "third", "", "  a", "  b", "", "- c", "", "T:", "h  i", "1  2", "", "end",
    ]  # fmt: skip


def test_a_table_without_rows_is_a_table() -> None:
    empty = Grid(caption="T", heads=("h",), rows=())
    assert drawn(empty).split() == ["T:", "h"]
    assert "<tbody></tbody>" in to_html(empty)


def test_lines_as_they_are_are_never_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    command = "dpspec verify " + "x" * 120
    assert drawn(Verbatim(text=command, indent=0)) == command


@pytest.mark.parametrize(
    ("words", "lines"),
    [("plain\ntext", "plain text"), (["a", Text("b", "bold")], "a b"), (Page(title="T", pieces=("a",)), "T a")],
)
def test_an_answer_has_its_words_in_every_form(words, lines: str) -> None:
    answer = CommandAnswer("measure", 0, {"x": 1}, lambda: words)
    for form in (str(answer), answer.page().text().removeprefix("measure"), Tags(answer._repr_html_()).words):
        assert " ".join(form.split()) == lines


def test_a_fragment_shows_its_figure_where_one_is_given() -> None:
    figure = Figure(title="<t>", alt='"a"', svg="<svg><script/></svg>")
    page = Tags(as_html(["a"], figure))
    assert page.names == {"div", "p", "img"}


def test_what_begins_a_list_does_not_begin_one() -> None:
    assert escaped("1. a\n+ b\n- c") == "1\\. a\n\\+ b\n\\- c"


def test_the_data_of_an_answer_has_no_need_of_its_words() -> None:
    def words() -> str:
        raise AssertionError("the words were made")

    assert CommandAnswer("measure", 0, {"x": 1}, words).to_dict()["x"] == 1
