"""One model of a page, and its three forms: text for a terminal, Markdown, and HTML.

A page is a title, pieces, and a closing line. A piece is one of the classes of this module, or anything else that rich draws:
a styled text, a table, an indented block, a group. The terminal form is what rich draws of it. `to_html` and `to_markdown` are
the other two; both are defined for every piece, and for what else is not known they show its text. No text is interpreted as
markup in any form: it is escaped in `in_markup` and `escaped`, and nowhere else.

HTML is either a fragment, which a notebook displays, or a file with a style sheet: the renderer `document` makes it.
"""

from __future__ import annotations

import base64
import itertools
import re
import textwrap
from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import Literal, TypeAlias

import attrs
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dpspec.base.errors import harmless, in_markup
from dpspec.report.figures import Figure
from dpspec.report.terminal import BAD, FAINT, GOOD, OPEN, bullet, drawn

Piece: TypeAlias = RenderableType
PageParts = Sequence[Piece]
Mood = Literal["", "good", "bad", "open"]
"""The colour of a status word: green only for what was checked and is true."""

_LONGEST_NAME = 40
"""The head of a row stays on one line of a terminal up to so many characters; longer ones, such as paths, are folded."""
_STYLES: dict[Mood, str] = {"": "bold", "good": GOOD, "bad": BAD, "open": OPEN}


# --- pieces ---------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Heading:
    """A heading; deeper ones are its subheadings.

    Args:
        words: the heading.
        level: 2, 3 or 4; the title of the page is 1.
        anchor: where links lead to.
    """

    words: str
    level: int = 2
    anchor: str = ""

    def __rich__(self) -> Piece:
        return Text(self.words, "bold")


@attrs.frozen(kw_only=True)
class Sentence:
    """A paragraph.

    Args:
        words: the text.
        mark: an emphasised word in front of it.
        mood: the style of the word.
    """

    words: str
    mark: str = ""
    mood: Mood = ""

    def __rich__(self) -> Piece:
        return Text.assemble((self.mark, _STYLES[self.mood]), " ", self.words) if self.mark else Text(self.words)


@attrs.frozen(kw_only=True)
class Bullets:
    """Sentences as a list; where they have links, to these.

    Args:
        items: the sentences.
        links: for each the place that it leads to, or nothing at all.
    """

    items: tuple[str, ...]
    links: tuple[str, ...] = ()

    def __rich__(self) -> Piece:
        return Group(*(bullet(item) for item in self.items))


@attrs.frozen(kw_only=True)
class Grid:
    """A table.

    Args:
        caption: what it shows.
        heads: the head of each column.
        rows: its cells; the first of each row is the head of the row.
        moods: for each row its style, or nothing at all.
        links: for each row where its head leads to, or nothing at all.
        stacks: on a phone each row is a block, its cells below each other with their heads before them.
    """

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    moods: tuple[Mood, ...] = ()
    links: tuple[str, ...] = ()
    stacks: bool = False

    def __rich__(self) -> Piece:
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold", show_edge=False)
        for place, head in enumerate(self.heads):
            is_name = place == 0 and max(map(len, (head, *(row[0] for row in self.rows)))) <= _LONGEST_NAME
            table.add_column(Text(head), overflow="fold", no_wrap=is_name)
        for row, mood in zip(self.rows, self.every_mood, strict=True):
            table.add_row(*map(Text, row), style=_STYLES[mood] if mood else "")
        return Group(Text(f"{self.caption}:", FAINT), table)

    @property
    def every_mood(self) -> tuple[Mood, ...]:
        """The style of each row."""
        plain: Mood = ""
        return self.moods or (plain,) * len(self.rows)


@attrs.frozen(kw_only=True)
class CaptionedFigure:
    """A figure with a caption that says what it shows.

    Args:
        figure: the figure, in the theme `page`.
        caption: what it shows.
        wide: whether it scrolls in its own frame instead of becoming smaller.
    """

    figure: Figure
    caption: str
    wide: bool = False

    def __rich__(self) -> Piece:
        return Text(f"Figure: {self.caption}", FAINT)


@attrs.frozen(kw_only=True)
class Verbatim:
    """Lines as they are, such as those of a file.

    Args:
        text: the lines.
        language: their language, by the name that Markdown has for it.
        indent: by how many columns they are indented on a terminal.
    """

    text: str
    language: str = "text"
    indent: int = 2

    def __rich__(self) -> Piece:
        return Text(textwrap.indent(self.text, " " * self.indent), no_wrap=True)


_BLOCKS = (Heading, Grid, Verbatim, CaptionedFigure)


@attrs.frozen(kw_only=True)
class Page:
    """A page.

    Args:
        title: its title.
        pieces: its content, from top to bottom.
        foot: the last line.
    """

    title: str
    pieces: tuple[Piece, ...]
    foot: str = ""

    def parts(self) -> PageParts:
        """What is drawn on a terminal: a blank line is before each heading, and around tables and lines as they are."""
        found: list[Piece] = [Text(self.title, "bold", no_wrap=True)]
        was_block = False
        for piece in self.pieces:
            is_block = isinstance(piece, _BLOCKS)
            if is_block or was_block:
                found.append("")
            found.append(piece)
            was_block = is_block and not isinstance(piece, Heading)
        return [*found, "", Text(self.foot, FAINT)] if self.foot else found

    def text(self) -> str:
        """The page on a terminal.

        >>> print(Page(title="One", pieces=(Heading(words="Two"), Sentence(words="x", mark="holds")), foot="end").text())
        One
        <BLANKLINE>
        Two
        holds x
        <BLANKLINE>
        end
        """
        return drawn(*self.parts()).rstrip()

    def markdown(self) -> str:
        """The page as Markdown; of a figure its caption, since its values are in a table next to it.

        >>> print(Page(title="A <b>", pieces=(Sentence(words="x", mark="holds"),)).markdown().strip())
        # A \\<b\\>
        <BLANKLINE>
        **holds** x
        """
        return as_markdown([Heading(words=self.title, level=1), *self.pieces, *([self.foot] if self.foot else [])])


# --- HTML -----------------------------------------------------------------------------------------


_FRAGMENT = "max-width:70em;line-height:1.4"
_CELL = "text-align:left;vertical-align:top;padding:.1em 1em .1em 0;border:0;background:none;white-space:normal"
_COLOURS = {  # as far from white as from the ground of a dark notebook
    "green": "color:#2e8b57",
    "red": "color:#e03a44",
    "yellow": "color:#a66d1a",
    "dim": "opacity:.7",
    "bold": "font-weight:bold",
}
_MANY_COLUMNS = 4
"""From so many columns on a table keeps its width on a phone, and scrolls."""
_LONGEST_WORD = 18


def as_html(parts: PageParts, figure: Figure | None = None) -> str:
    """Pieces as a fragment of HTML that a notebook displays: with their styles, and without a style sheet."""
    plotted = [] if figure is None else [image(figure)]
    return "\n".join([f'<div class="dpspec" style="{_FRAGMENT}">', *map(to_html, parts), *plotted, "</div>"])


def image(figure: Figure) -> str:
    """A figure that brings nothing with it: what is in its text cannot run."""
    code = base64.b64encode(figure.svg.encode()).decode("ascii")
    alternative = in_markup(f"{figure.title}. {figure.alt}")
    return f'<img alt="{alternative}" style="max-width:100%" src="data:image/svg+xml;base64,{code}">'


@singledispatch
def to_html(piece: Piece) -> str:
    """A piece as HTML.

    >>> to_html(Sentence(words="a<b"))
    '<p dir="auto">a&lt;b</p>'
    """
    words = _inline(piece)
    return f'<p style="margin:.4em 0">{words}</p>' if words else ""


@to_html.register
def _(piece: Heading) -> str:
    anchor = f' id="{in_markup(piece.anchor)}"' if piece.anchor else ""
    return f'<h{piece.level}{anchor} dir="auto">{in_markup(piece.words)}</h{piece.level}>'


@to_html.register
def _(piece: Sentence) -> str:
    mark = f"<strong{_mood(piece.mood)}>{in_markup(piece.mark)}</strong> " if piece.mark else ""
    return f'<p dir="auto">{mark}{in_markup(piece.words)}</p>'


@to_html.register
def _(piece: Bullets) -> str:
    links = piece.links or ("",) * len(piece.items)
    rows = [f'<li dir="auto">{_linked(item, link)}</li>' for item, link in zip(piece.items, links, strict=True)]
    body = f"<ul>{''.join(rows)}</ul>"
    return f'<nav aria-label="Contents">{body}</nav>' if any(links) else body


@to_html.register
def _(piece: CaptionedFigure) -> str:
    caption = f"<figcaption>{in_markup(piece.caption)}</figcaption>"
    inner = _frame(piece.caption, piece.figure.svg) if piece.wide else piece.figure.svg
    return f"<figure{' class=wide' if piece.wide else ''}>{inner}{caption}</figure>"


@to_html.register
def _(piece: Verbatim) -> str:
    return f'<pre class="dpspec" style="white-space:pre-wrap">{in_markup(piece.text)}</pre>'


@to_html.register
def _(piece: Grid) -> str:
    heads = "".join(f'<th scope="col">{in_markup(head)}</th>' for head in piece.heads)
    links = piece.links or ("",) * len(piece.rows)
    rows = []
    for (first, *rest), mood, link in zip(piece.rows, piece.every_mood, links, strict=True):
        cells = ""
        for head, cell in zip(piece.heads[1:], rest, strict=True):
            # A word longer than any of a language, such as a hash, breaks anywhere; others stay whole.
            breaks = " class=long" if any(len(word) > _LONGEST_WORD for word in cell.split()) else ""
            name = f' data-head="{in_markup(head)}: "' if piece.stacks else ""
            cells += f'<td{breaks} dir="auto"{name}>{in_markup(cell)}</td>'
        rows.append(f'<tr{_mood(mood)}><th scope="row" dir="auto">{_linked(first, link)}</th>{cells}</tr>')
    caption = f"<caption>{in_markup(piece.caption)}</caption>"
    many = ' class="stacks"' if piece.stacks else ' class="many"' if len(piece.heads) >= _MANY_COLUMNS else ""
    inner = f"<table{many}>{caption}<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return _frame(piece.caption, inner)


@to_html.register
def _(piece: Group) -> str:
    return "\n".join(map(to_html, piece.renderables))


@to_html.register
def _(piece: Padding) -> str:
    return f'<div style="padding-left:{piece.left}em">{to_html(piece.renderable)}</div>'


@to_html.register
def _(piece: Table) -> str:
    rows = []
    if _has_header(piece):
        cells = "".join(_cell("th", column.header, "bold") for column in piece.columns)
        rows.append(f"<thead><tr>{cells}</tr></thead>")
    rows.append("<tbody>")
    for line in _lines(piece):
        cells = "".join(_cell("td", part, column.style) for part, column in zip(line, piece.columns, strict=True))
        rows.append(f"<tr>{cells}</tr>")
    rows.append("</tbody>")
    if piece.show_footer:
        cells = "".join(_cell("td", column.footer, "bold") for column in piece.columns)
        rows.append(f"<tfoot><tr>{cells}</tr></tfoot>")
    return f'<table style="border-collapse:collapse;margin:.4em 0">{"".join(rows)}</table>'


def _mood(mood: Mood) -> str:
    return f' class="{mood}"' if mood else ""


def _frame(name: str, inner: str) -> str:
    """What may be wider than the window: it scrolls, also by the keys."""
    return f'<div class="frame" role="region" tabindex="0" aria-label="{in_markup(name)}">{inner}</div>'


def _linked(words: str, link: str) -> str:
    return f'<a href="{in_markup(link)}">{in_markup(words)}</a>' if link else in_markup(words)


def _span(html: str, style: object) -> str:
    css = ";".join(_COLOURS[word] for word in str(style).split() if word in _COLOURS)
    return f'<span style="{css}">{html}</span>' if css and html else html


def _runs(text: Text) -> Iterator[tuple[str, str]]:
    """The pieces of a text, each with all styles that lie on it."""
    edges = sorted({0, len(text.plain), *(min(edge, len(text.plain)) for span in text.spans for edge in (span.start, span.end))})
    for start, end in itertools.pairwise(edges):
        styles = [str(text.style), *(str(span.style) for span in text.spans if span.start <= start and end <= span.end)]
        yield text.plain[start:end], " ".join(styles)


def _inline(part: Piece, style: object = "") -> str:
    """A text as HTML without a block around it."""
    if isinstance(part, Text):
        words = "".join(_span(in_markup(run), styles) for run, styles in _runs(part))
    else:
        words = in_markup(str(part))
    return _span(words.replace("\n", "<br>"), style)


def _cell(tag: str, part: Piece, style: object) -> str:
    if isinstance(part, Group):
        inner = "".join(
            to_html(one) if isinstance(one, (Group, Padding, Table)) else f"<div>{_inline(one)}</div>" for one in part.renderables
        )
    else:
        inner = to_html(part) if isinstance(part, (Padding, Table)) else _inline(part, style)
    return f'<{tag} style="{_CELL}">{inner}</{tag}>'


def _has_header(table: Table) -> bool:
    return table.show_header and any(str(column.header) for column in table.columns)


def _lines(table: Table) -> list[tuple[Piece, ...]]:
    return list(zip(*(list(column.cells) for column in table.columns), strict=True))


# --- Markdown -------------------------------------------------------------------------------------


_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~#])")
_LISTLIKE = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)", re.MULTILINE)


def as_markdown(parts: PageParts) -> str:
    """Pieces as Markdown: tables, lists and paragraphs, with an empty line between them."""
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(map(to_markdown, parts))).strip() + "\n"


def escaped(text: str) -> str:
    r"""A text of which nothing is markup, a link, or a mention in Markdown.

    >>> print(escaped("[a](b) @c <i>"))
    \[a\](b) &#64;c \<i\>
    """
    text = _SPECIAL.sub(r"\\\1", harmless(text)).replace("&", "&amp;").replace("@", "&#64;")
    return _LISTLIKE.sub(lambda found: f"{found[1]}{found[2][:-1]}\\{found[2][-1]}", text)


@singledispatch
def to_markdown(piece: Piece) -> str:
    """A piece as Markdown.

    >>> to_markdown(Sentence(words="a*b", mark="holds"))
    '**holds** a\\\\*b'
    """
    return _words(piece).replace("\n", "  \n")


@to_markdown.register
def _(piece: Heading) -> str:
    return f"{'#' * piece.level} {_on_one_line(piece.words)}"


@to_markdown.register
def _(piece: Sentence) -> str:
    return f"**{_on_one_line(piece.mark)}** {_on_one_line(piece.words)}" if piece.mark else _on_one_line(piece.words)


@to_markdown.register
def _(piece: Bullets) -> str:
    return "" if any(piece.links) else "\n".join(f"- {_on_one_line(item)}" for item in piece.items)


@to_markdown.register
def _(piece: CaptionedFigure) -> str:
    return f"*Figure: {_on_one_line(piece.caption)}*"


@to_markdown.register
def _(piece: Verbatim) -> str:
    text = harmless(piece.text)
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    return f"{fence}{piece.language}\n{text}\n{fence}"


@to_markdown.register
def _(piece: Grid) -> str:
    table = _rows([list(map(_on_one_line, row)) for row in (piece.heads, *piece.rows)])
    return f"{_on_one_line(piece.caption)}:\n\n{table}"


@to_markdown.register
def _(piece: Group) -> str:
    return "\n\n".join(map(to_markdown, piece.renderables))


@to_markdown.register
def _(piece: Padding) -> str:
    return to_markdown(piece.renderable)


@to_markdown.register
def _(piece: Table) -> str:
    if not _has_header(piece) and len(piece.columns) == 2 and all(str(line[0]) == "-" for line in _lines(piece)):
        return "\n".join(f"- {_in_cell(line[1])}" for line in _lines(piece))
    heads = [_in_cell(column.header) for column in piece.columns] if _has_header(piece) else [""] * len(piece.columns)
    rows = [heads, *([_in_cell(cell) for cell in line] for line in _lines(piece))]
    if piece.show_footer:
        rows.append([_in_cell(column.footer, "bold") for column in piece.columns])
    return _rows(rows)


def _rows(rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are Markdown; the first row is the head."""
    head, *others = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *others))


def _on_one_line(words: str) -> str:
    return escaped(" ".join(words.split()))


def _words(part: Piece, style: object = "") -> str:
    if not isinstance(part, Text):
        part = Text(str(part), str(style))
    words = ""
    for run, styles in _runs(part):
        inner = run.strip()
        if "bold" in f"{styles} {style}" and inner:
            before, after = run[: len(run) - len(run.lstrip())], run[len(run.rstrip()) :]
            words += f"{before}**{escaped(inner)}**{after}"
        else:
            words += escaped(run)
    return words


def _in_cell(part: Piece, style: object = "") -> str:
    """The content of one cell, on one line."""
    if isinstance(part, Group):
        return "<br>".join(map(_in_cell, part.renderables))
    if isinstance(part, Padding):
        return _in_cell(part.renderable)
    if isinstance(part, Table):
        return "<br>".join(" ".join(filter(None, map(_in_cell, line))) for line in _lines(part))
    return _words(part, style).replace("\n", "<br>")
