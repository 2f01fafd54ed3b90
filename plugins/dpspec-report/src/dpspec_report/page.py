"""A page as one HTML file that needs nothing else.

It has no script, and loads nothing: style and figures are inside, and a content policy says so to the browser. Colours are
those of the figures (`dpspec_report.drawing`) in light and dark, all letters with a contrast of at least 4.5 (WCAG 2.2, AA). Wide
tables and diagrams scroll inside their own frame, which the keyboard reaches; the page itself is never wider than the window.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from dpspec.plugin.applications import CaptionedFigure, Heading, Page, PageParts, in_markup, to_html
from dpspec_report.drawing import DARK, LIGHT, page_colours

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
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def document(page: Page) -> str:
    """The page as one HTML file.

    >>> document(Page(title="<b>", pieces=(Heading(words="One"),))).count("&lt;b&gt;")
    2
    """
    title = in_markup(page.title)
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
        f"<footer><p>{in_markup(page.foot)}</p></footer>",
        "</body>",
        "</html>",
        "",
    ])  # fmt: skip


def _sections(pieces: PageParts) -> Iterator[str]:
    """The content under each heading of the second level as one section, which a browser lays out when it is displayed."""
    starts = [place for place, piece in enumerate(pieces) if isinstance(piece, Heading) and piece.level == 2]
    yield from _pieces(pieces[: starts[0] if starts else len(pieces)])
    for start, end in pairwise([*starts, len(pieces)]):
        yield "<section>"
        yield from _pieces(pieces[start:end])
        yield "</section>"


def _pieces(pieces: PageParts) -> Iterator[str]:
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
            yield to_html(one)
        if len(beside) > 1:
            yield "</div>"
        place += len(beside)
