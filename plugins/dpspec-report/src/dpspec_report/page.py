"""Pages made of headings, sentences, tables and figures, as one HTML file that needs nothing else, or as Markdown.

The HTML has no script, and loads nothing: style and figures are inside, and a content policy says so to the browser. Everything
that is not written here is escaped in one place (`_text`), so that a name with markup stays a name. Colours are those of the
figures (`dpspec_report.drawing`) in light and dark, all letters with a contrast of at least 4.5 (WCAG 2.2, AA). Wide tables
and diagrams scroll inside their own frame, which the keyboard reaches; the page itself is never wider than the window.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

import attrs

from dpspec.plugin.applications import Figure, in_markup
from dpspec_report.drawing import DARK, LIGHT, page_colours

Mood = Literal["", "good", "bad", "open"]
"""The colour of a status word: green only for what was checked and is true."""


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


@attrs.frozen(kw_only=True)
class Bullets:
    """Sentences as a list; where they have links, to these.

    Args:
        items: the sentences.
        links: for each the place that it leads to, or nothing at all.
    """

    items: tuple[str, ...]
    links: tuple[str, ...] = ()


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


Piece: TypeAlias = "Heading | Sentence | Bullets | Grid | CaptionedFigure"


@attrs.frozen(kw_only=True)
class Handout:
    """A page.

    Args:
        title: its title.
        pieces: its content, from top to bottom.
        foot: the last line.
    """

    title: str
    pieces: tuple[Piece, ...]
    foot: str = ""


# --- HTML -----------------------------------------------------------------------------------------


_OPEN = {"light": "#7a5200", "dark": "#e8c26a"}
_STYLE = (
    f":root{{color-scheme:light dark;{page_colours(LIGHT)}--open:{_OPEN['light']};--link:#1a4a9c}}"
    f"@media(prefers-color-scheme:dark){{:root{{{page_colours(DARK)}--open:{_OPEN['dark']};--link:#9cc2ff}}}}"
    """
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,"DejaVu Sans",sans-serif;margin:0;color:var(--ink);background:var(--paper);overflow-wrap:anywhere}
header,main,footer{max-width:60rem;margin:0 auto;padding:0 1rem}
h1{font-size:1.6rem;line-height:1.25;margin:1.5rem 0 .5rem}
h2{font-size:1.3rem;line-height:1.3;margin:2.5rem 0 .5rem;padding-top:.8rem;border-top:2px solid var(--edge)}
h3{font-size:1.08rem;margin:1.6rem 0 .4rem}h4{font-size:1rem;margin:1.2rem 0 .3rem}
p,ul{margin:.5rem 0}li{margin:.2rem 0}a{color:var(--link)}
a:focus-visible,.frame:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--paper);padding:.3rem .6rem;z-index:1}
.frame{overflow-x:auto;margin:.8rem 0}
table{border-collapse:collapse;width:100%;font-size:.92rem}
caption{text-align:left;color:var(--faint);padding:.2rem 0;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.35rem .6rem .35rem 0;border-bottom:1px solid var(--grid);min-width:6.2rem}
th{overflow-wrap:break-word}td{overflow-wrap:normal}td.long{overflow-wrap:anywhere}.many{min-width:44rem}
th{font-weight:600}thead th{border-bottom:2px solid var(--edge)}
.good{color:var(--good)}.bad{color:var(--bad)}.open{color:var(--open)}strong.good,strong.bad,strong.open{margin-right:.3rem}
tr.bad>*{background:var(--fill-2);color:var(--ink)}
figure{margin:1rem 0;break-inside:avoid}figure svg{max-width:100%;height:auto;display:block}
.wide svg{max-width:none}figcaption{color:var(--faint);font-size:.9rem;max-width:40rem}
.pair{display:flex;flex-wrap:wrap;gap:0 2rem}.pair figure{flex:0 1 21.25rem;min-width:0}
section{content-visibility:auto;contain-intrinsic-size:auto 100vh}
footer{color:var(--faint);font-size:.85rem;margin-top:3rem;padding-bottom:2rem}
@media(max-width:40rem){.stacks thead{position:absolute;left:-99rem}.stacks tr,.stacks th,.stacks td{display:block;min-width:0}
.stacks th,.stacks td{border:0;padding:.1rem 0}.stacks tr{border-bottom:1px solid var(--grid);padding:.5rem 0}
.stacks td:empty{display:none}.stacks td::before{content:attr(data-head);color:var(--faint)}}
@media print{:root{"""
    f"color-scheme:light;{page_colours(LIGHT)}--open:{_OPEN['light']};--link:#1b1b1b"
    """}body{font-size:10pt}header,main,footer{max-width:none;padding:0}.skip,nav{display:none}.frame{overflow:visible}
section{content-visibility:visible}.wide svg{max-width:100%}h2,h3,h4{break-after:avoid}
tr,li,table:not(:has(tr:nth-child(9))){break-inside:avoid}a{text-decoration:none}
caption,thead{break-after:avoid}tbody tr:first-child,.pair{break-before:avoid}.pair{break-inside:avoid}}
"""
)
_MANY_COLUMNS = 4
"""From so many columns on a table keeps its width on a phone, and scrolls."""
_LONGEST_WORD = 18
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def html(page: Handout) -> str:
    """The page as one HTML file.

    >>> html(Handout(title="<b>", pieces=(Heading(words="One"),))).count("&lt;b&gt;")
    2
    """
    title = _text(page.title)
    return "\n".join([
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>{_STYLE}</style>",
        "</head>",
        "<body>",
        '<a class="skip" href="#content">To the content</a>',
        f'<header><h1 dir="auto">{title}</h1></header>',
        '<main id="content">',
        *_sections(page.pieces),
        "</main>",
        f"<footer><p>{_text(page.foot)}</p></footer>",
        "</body>",
        "</html>",
        "",
    ])  # fmt: skip


def _text(words: str) -> str:
    """Words as text of the page: nothing in them is markup, or turns the direction of what follows."""
    return in_markup(words)


def _sections(pieces: Sequence[Piece]) -> Iterator[str]:
    """The content under each heading of the second level as one section, which a browser lays out when it is displayed."""
    starts = [place for place, piece in enumerate(pieces) if isinstance(piece, Heading) and piece.level == 2]
    yield from _pieces(pieces[: starts[0] if starts else len(pieces)])
    for start, end in pairwise([*starts, len(pieces)]):
        yield "<section>"
        yield from _pieces(pieces[start:end])
        yield "</section>"


def _pieces(pieces: Sequence[Piece]) -> Iterator[str]:
    """The pieces; consecutive small figures are placed side by side where there is room."""
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        beside = [piece]
        while isinstance(piece, CaptionedFigure) and not piece.wide and place + len(beside) < len(pieces):
            after = pieces[place + len(beside)]
            if not isinstance(after, CaptionedFigure) or after.wide:
                break
            beside.append(after)
        if len(beside) > 1:
            yield '<div class="pair">'
        for one in beside:
            yield _piece(one)
        if len(beside) > 1:
            yield "</div>"
        place += len(beside)


def _piece(piece: Piece) -> str:
    if isinstance(piece, Heading):
        anchor = f' id="{_text(piece.anchor)}"' if piece.anchor else ""
        return f'<h{piece.level}{anchor} dir="auto">{_text(piece.words)}</h{piece.level}>'
    if isinstance(piece, Sentence):
        mark = f"<strong{_mood(piece.mood)}>{_text(piece.mark)}</strong> " if piece.mark else ""
        return f'<p dir="auto">{mark}{_text(piece.words)}</p>'
    if isinstance(piece, Bullets):
        return _list(piece)
    if isinstance(piece, CaptionedFigure):
        caption = f"<figcaption>{_text(piece.caption)}</figcaption>"
        inner = _frame(piece.caption, piece.figure.svg) if piece.wide else piece.figure.svg
        return f"<figure{' class=wide' if piece.wide else ''}>{inner}{caption}</figure>"
    return _table(piece)


def _mood(mood: Mood) -> str:
    return f' class="{mood}"' if mood else ""


def _frame(name: str, inner: str) -> str:
    """What may be wider than the window: it scrolls, also by the keys."""
    return f'<div class="frame" role="region" tabindex="0" aria-label="{_text(name)}">{inner}</div>'


def _list(piece: Bullets) -> str:
    links = piece.links or ("",) * len(piece.items)
    rows = [
        f'<li dir="auto">{_linked(item, link)}</li>' for item, link in zip(piece.items, links, strict=True)
    ]  # fmt: skip
    body = f"<ul>{''.join(rows)}</ul>"
    return f'<nav aria-label="Contents">{body}</nav>' if any(links) else body


def _linked(words: str, link: str) -> str:
    return f'<a href="{_text(link)}">{_text(words)}</a>' if link else _text(words)


def _breaks(cell: str) -> str:
    """A word longer than any of a language, such as a hash, breaks anywhere; others stay whole."""
    return " class=long" if any(len(word) > _LONGEST_WORD for word in cell.split()) else ""


def _table(piece: Grid) -> str:
    heads = "".join(f'<th scope="col">{_text(head)}</th>' for head in piece.heads)
    none: Mood = ""
    moods = piece.moods or (none,) * len(piece.rows)
    links = piece.links or ("",) * len(piece.rows)
    rows = []
    for (first, *rest), mood, link in zip(piece.rows, moods, links, strict=True):
        cells = "".join(
            f'<td{_breaks(cell)} dir="auto"{_head(head) if piece.stacks else ""}>{_text(cell)}</td>'
            for head, cell in zip(piece.heads[1:], rest, strict=True)
        )
        rows.append(f'<tr{_mood(mood)}><th scope="row" dir="auto">{_linked(first, link)}</th>{cells}</tr>')
    caption = f"<caption>{_text(piece.caption)}</caption>"
    many = ' class="stacks"' if piece.stacks else ' class="many"' if len(piece.heads) >= _MANY_COLUMNS else ""
    inner = f"<table{many}>{caption}<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return _frame(piece.caption, inner)


def _head(head: str) -> str:
    return f' data-head="{_text(head)}: "'


# --- Markdown -------------------------------------------------------------------------------------


_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def markdown(page: Handout) -> str:
    """The page as Markdown; of a figure its caption, since its values are in a table next to it.

    >>> print(markdown(Handout(title="A <b>", pieces=(Sentence(words="x", mark="holds"),))).strip())
    # A \\<b\\>
    <BLANKLINE>
    **holds** x
    """
    parts = [f"# {_plain(page.title)}", *filter(None, map(_in_markdown, page.pieces)), _plain(page.foot)]
    return "\n\n".join(parts).rstrip() + "\n"


def _plain(words: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(in_markup(words).replace("&#x27;", "'").replace("&quot;", '"').split())).replace(
        "&lt;", "\\<"
    ).replace("&gt;", "\\>").replace("&amp;", "&")  # fmt: skip


def _in_markdown(piece: Piece) -> str:
    if isinstance(piece, Heading):
        return f"{'#' * piece.level} {_plain(piece.words)}"
    if isinstance(piece, Sentence):
        return f"**{_plain(piece.mark)}** {_plain(piece.words)}" if piece.mark else _plain(piece.words)
    if isinstance(piece, Bullets):
        return "" if piece.links else "\n".join(f"- {_plain(item)}" for item in piece.items)
    if isinstance(piece, CaptionedFigure):
        return f"*Figure: {_plain(piece.caption)}*"
    head = "| " + " | ".join(map(_plain, piece.heads)) + " |"
    rows = ["| " + " | ".join(map(_plain, row)) + " |" for row in piece.rows]
    return "\n".join([_plain(piece.caption) + ":", "", head, "|" + "---|" * len(piece.heads), *rows])
