"""Pages: the layout of results and specifications as text, HTML and Markdown, from one list of parts.

A page is a list of rich renderables: styled texts, tables, indented blocks. The command line prints it, a notebook displays it
as HTML, a report contains it as Markdown. No text is interpreted as markup in any of them.
"""

from __future__ import annotations

import base64
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import attrs
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dpspec.base.display import Showable
from dpspec.base.errors import PictureError, harmless, in_markup, reported_as_own
from dpspec.base.lazy import place_of
from dpspec.base.types import JsonData
from dpspec.base.words import Word
from dpspec.report import terminal
from dpspec.report.figures import Figure, draws_figures
from dpspec.report.json import answer
from dpspec.report.terminal import FAINT, blocks_in_words, drawn, thing_in_words

if TYPE_CHECKING:
    from dpspec.comparison.compare import Comparison
    from dpspec.comparison.order import Order
    from dpspec.composition import Composition, PrivacyAccount
    from dpspec.grammar.mechanism import Mechanism
    from dpspec.grammar.spec import PrivacySpec
    from dpspec.reason.conversions import Conversions, TheoremNumbers
    from dpspec.reason.search import Derivation
    from dpspec.risks.engine import Panel, RiskReport
    from dpspec.specfile.document import SpecDocument
    from dpspec.verifier.document import FileReport
    from dpspec.verifier.replay import Replay
    from dpspec.verifier.standing import Standing
    from dpspec.verifier.verdict import Verdict

_DRAWN = 'compare, order, risk of one attacker and explain("flavours") have figures; dp.curve plots specifications'
PageParts = Sequence[RenderableType]


@attrs.frozen(kw_only=True)
class RenderedPage:
    """The page of a value.

    Args:
        parts: what is drawn, from top to bottom.
        content: makes the data of it.
        figure: makes its figure; None where it has none.
    """

    parts: PageParts
    content: Callable[[], JsonData]
    figure: Callable[[], Figure] | None = None

    def text(self, *, coloured: bool = False) -> str:
        """The text that the command line prints; `coloured` for terminals that support colours."""
        return drawn(*self.parts, plain=not coloured).rstrip()

    def html(self) -> str:
        """As part of an HTML page: tables and paragraphs with their styles, then the figure where a package draws it."""
        plotted = [] if self.figure is None or not draws_figures() else [_image(self.figure())]
        return "\n".join([f'<div class="dpspec" style="{_PAGE}">', *map(_html, self.parts), *plotted, "</div>"])

    def markdown(self) -> str:
        """As Markdown: tables and paragraphs."""
        return re.sub(r"\n{3,}", "\n\n", "\n\n".join(map(_markdown, self.parts))).strip() + "\n"

    def data(self) -> JsonData:
        """The data that ``--format json`` prints."""
        return self.content()

    def plot(self) -> Figure:
        """The figure.

        Raises:
            PictureError: there is none.
        """
        if self.figure is None:
            raise PictureError("plot", "is not drawn of this", _DRAWN)
        return self.figure()


# --- as HTML --------------------------------------------------------------------------------------


_PAGE = "max-width:70em;line-height:1.4"
_CELL = "text-align:left;vertical-align:top;padding:.1em 1em .1em 0;border:0;background:none;white-space:normal"
_COLOURS = {  # as far from white as from the ground of a dark notebook
    "green": "color:#2e8b57",
    "red": "color:#e03a44",
    "yellow": "color:#a66d1a",
    "dim": "opacity:.7",
    "bold": "font-weight:bold",
}


def _span(html: str, style: object) -> str:
    css = ";".join(_COLOURS[word] for word in str(style).split() if word in _COLOURS)
    return f'<span style="{css}">{html}</span>' if css and html else html


def _runs(text: Text) -> Iterator[tuple[str, str]]:
    """The pieces of a text, each with all styles that lie on it."""
    edges = sorted({0, len(text.plain), *(min(edge, len(text.plain)) for span in text.spans for edge in (span.start, span.end))})
    for start, end in itertools.pairwise(edges):
        styles = [str(text.style), *(str(span.style) for span in text.spans if span.start <= start and end <= span.end)]
        yield text.plain[start:end], " ".join(styles)


def _inline(part: RenderableType, style: object = "") -> str:
    """A text as HTML without a block around it."""
    if isinstance(part, Text):
        words = "".join(_span(in_markup(run), styles) for run, styles in _runs(part))
    else:
        words = in_markup(str(part))
    return _span(words.replace("\n", "<br>"), style)


def _html(part: RenderableType) -> str:
    if isinstance(part, Group):
        return "\n".join(map(_html, part.renderables))
    if isinstance(part, Padding):
        return f'<div style="padding-left:{part.left}em">{_html(part.renderable)}</div>'
    if isinstance(part, Table):
        return _html_table(part)
    words = _inline(part)
    return f'<p style="margin:.4em 0">{words}</p>' if words else ""


def _cell(tag: str, part: RenderableType, style: object) -> str:
    if isinstance(part, Group):
        inner = "".join(
            _html(one) if isinstance(one, (Group, Padding, Table)) else f"<div>{_inline(one)}</div>" for one in part.renderables
        )
    else:
        inner = _html(part) if isinstance(part, (Padding, Table)) else _inline(part, style)
    return f'<{tag} style="{_CELL}">{inner}</{tag}>'


def _html_table(table: Table) -> str:
    rows = []
    if _has_header(table):
        cells = "".join(_cell("th", column.header, "bold") for column in table.columns)
        rows.append(f"<thead><tr>{cells}</tr></thead>")
    rows.append("<tbody>")
    for line in _lines(table):
        cells = "".join(_cell("td", part, column.style) for part, column in zip(line, table.columns, strict=True))
        rows.append(f"<tr>{cells}</tr>")
    rows.append("</tbody>")
    if table.show_footer:
        cells = "".join(_cell("td", column.footer, "bold") for column in table.columns)
        rows.append(f"<tfoot><tr>{cells}</tr></tfoot>")
    return f'<table style="border-collapse:collapse;margin:.4em 0">{"".join(rows)}</table>'


def _has_header(table: Table) -> bool:
    return table.show_header and any(str(column.header) for column in table.columns)


def _lines(table: Table) -> list[tuple[RenderableType, ...]]:
    return list(zip(*(list(column.cells) for column in table.columns), strict=True))


def _image(figure: Figure) -> str:
    """A figure that brings nothing with it: what is in its text cannot run."""
    code = base64.b64encode(figure.svg.encode()).decode("ascii")
    alternative = in_markup(f"{figure.title}. {figure.alt}")
    return f'<img alt="{alternative}" style="max-width:100%" src="data:image/svg+xml;base64,{code}">'


# --- as Markdown ----------------------------------------------------------------------------------


_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~#])")
_LISTLIKE = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)", re.MULTILINE)


def _plain(text: str) -> str:
    """A text of which nothing is markup."""
    text = _SPECIAL.sub(r"\\\1", harmless(text)).replace("&", "&amp;")
    return _LISTLIKE.sub(lambda found: f"{found[1]}{found[2][:-1]}\\{found[2][-1]}", text)


def _words(part: RenderableType, style: object = "") -> str:
    if not isinstance(part, Text):
        part = Text(str(part), str(style))
    words = ""
    for run, styles in _runs(part):
        inner = run.strip()
        if "bold" in f"{styles} {style}" and inner:
            before, after = run[: len(run) - len(run.lstrip())], run[len(run.rstrip()) :]
            words += f"{before}**{_plain(inner)}**{after}"
        else:
            words += _plain(run)
    return words


def _markdown(part: RenderableType) -> str:
    if isinstance(part, Group):
        return "\n\n".join(map(_markdown, part.renderables))
    if isinstance(part, Padding):
        return _markdown(part.renderable)
    if isinstance(part, Table):
        return _markdown_table(part)
    return _words(part).replace("\n", "  \n")


def _in_cell(part: RenderableType, style: object = "") -> str:
    """The content of one cell, on one line."""
    if isinstance(part, Group):
        return "<br>".join(map(_in_cell, part.renderables))
    if isinstance(part, Padding):
        return _in_cell(part.renderable)
    if isinstance(part, Table):
        return "<br>".join(" ".join(filter(None, map(_in_cell, line))) for line in _lines(part))
    return _words(part, style).replace("\n", "<br>")


def _markdown_table(table: Table) -> str:
    if not _has_header(table) and len(table.columns) == 2 and all(str(line[0]) == "-" for line in _lines(table)):
        return "\n".join(f"- {_in_cell(line[1])}" for line in _lines(table))
    heads = [_in_cell(column.header) for column in table.columns] if _has_header(table) else [""] * len(table.columns)
    rows = [heads, ["---"] * len(heads)]
    rows += [[_in_cell(cell) for cell in line] for line in _lines(table)]
    if table.show_footer:
        rows.append([_in_cell(column.footer, "bold") for column in table.columns])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


# --- answers of commands --------------------------------------------------------------------------


_COLOURED = re.compile(r"\x1b\[[0-9;]*m")


@attrs.frozen(eq=False)
class CommandAnswer(Showable, Mapping[str, Any]):
    """The answer of a command: its data, as a mapping; its page; and the values behind it.

    Args:
        command: the command.
        exit_code: its exit code.
        content: the fields that ``--format json`` prints in addition to these two.
        words: makes the text.
        figure: makes its figure; None where it has none.
        as_html: makes its page, where it has one of its own.
        value: the values behind it.
        notes: messages on stderr after the answer, such as that a release is not fit for publication.
    """

    command: str
    exit_code: int
    content: Mapping[str, Any]
    words: Callable[[], str]
    figure: Callable[[], Figure] | None = None
    as_html: Callable[[], str] | None = attrs.field(default=None, kw_only=True)
    value: Any = attrs.field(default=None, kw_only=True)
    notes: Sequence[str] = attrs.field(default=(), kw_only=True)

    def shown(self, *, verbose: bool = False) -> TextPage:
        return TextPage(self)

    def __getitem__(self, key: str) -> Any:
        return self.content[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.content)

    def __len__(self) -> int:
        return len(self.content)


@attrs.frozen
class TextPage:
    """The page of an answer that is a text.

    Args:
        given: the answer.
    """

    given: CommandAnswer

    def text(self, *, coloured: bool = False) -> str:
        """As the command line prints it."""
        found = self.given.words()
        return found if coloured else _COLOURED.sub("", found)

    def html(self) -> str:
        """As part of an HTML page."""
        given = self.given
        if given.as_html is not None:
            return given.as_html()
        figure = "" if given.figure is None or not draws_figures() else _image(given.figure())
        return f'<pre class="dpspec" style="white-space:pre-wrap">{in_markup(self.text())}</pre>{figure}'

    def markdown(self) -> str:
        """As Markdown: a block of text as it is."""
        text = harmless(self.text())
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
        return f"{fence}text\n{text}\n{fence}\n"

    def data(self) -> JsonData:
        """The data that ``--format json`` prints."""
        return answer(self.given.command, self.given.exit_code, self.given.content)

    def plot(self) -> Figure:
        """The figure.

        Raises:
            PictureError: there is none.
        """
        if self.given.figure is None:
            raise PictureError("plot", "is not drawn of this", _DRAWN)
        return self.given.figure()


# --- whose page ------------------------------------------------------------------------------------


def page_of(found: Showable, *, verbose: bool = False) -> RenderedPage:
    """The page of a value, by its class or the nearest of its bases that has one."""
    for cls in type(found).__mro__:
        if place_of(cls) in _PAGES:
            return _PAGES[place_of(cls)](found, verbose)
    raise TypeError(f"{type(found).__name__} has no page")


def answering(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that a package contributes, whose answers and errors are those of dpspec.

    A package that imports nothing of dpspec returns any object with `command`, `exit_code`, `content` and `words`. What is no
    answer, such as a figure, is returned as it is.
    """

    @wraps(function)
    def answered(*args: Any, **given: Any) -> Any:
        with reported_as_own():
            found = function(*args, **given)
        if isinstance(found, Showable) or not hasattr(found, "command"):
            return found
        return CommandAnswer(found.command, found.exit_code, found.content, found.words, value=found.value)

    return answered


def printed(found: Showable, *, verbose: bool = False) -> str:
    """The text that the command line prints of a value."""
    return found.shown(verbose=verbose).text(coloured=True)


def _spec(found: PrivacySpec, _: bool) -> RenderedPage:
    from dpspec.report.explain import promise_of

    rows = terminal.grid()
    for block, lines in blocks_in_words(found).items():
        rows.add_row(Text(block, FAINT), "\n".join(lines))
    return RenderedPage(parts=[rows, "", promise_of(found)], content=lambda: _tables(found))


def _tables(found: PrivacySpec) -> JsonData:
    """The tables of a file, as `dpspec.build` takes them."""
    import tomllib

    from dpspec.extension import installed
    from dpspec.specfile.writer import to_toml

    return tomllib.loads(to_toml(found, installed().registry))


def _document(found: SpecDocument, _: bool) -> RenderedPage:
    rows = terminal.grid()
    run = found.mechanism or found.secret
    for label, said in (
        ("mechanism", None if run is None else thing_in_words(run)),
        ("claim", None if found.claim is None else f"filed as {found.claim.verdict}: {found.claim.because}"),
    ):
        if said is not None:
            rows.add_row(Text(label, FAINT), said)
    head = Text.assemble((harmless(found.id, keep=""), "bold"), f"  {harmless(found.title, keep='')}")
    inner = _spec(found.spec, False)
    parts: list[RenderableType] = [head, "", *inner.parts]
    parts += ["", rows] if rows.row_count else []
    return RenderedPage(parts=parts, content=lambda: {"id": found.id, "title": found.title, **_tables(found.spec)})


def _verdict(found: Verdict, verbose: bool) -> RenderedPage:
    from dpspec.report import json as data, text

    return RenderedPage(parts=text.verdict_parts(found, verbose=verbose), content=lambda: data.verdict(found))


def _file_report(found: FileReport, verbose: bool) -> RenderedPage:
    from dpspec.report import json as data, text

    path = found.document.path or found.document.id

    def content() -> JsonData:
        return answer("verify", found.word.exit_code, {"files": [data.file_report(path, found)]})

    return RenderedPage(parts=text.file_report_parts(path, found, verbose=verbose), content=content)


def _replay(found: Replay, _: bool) -> RenderedPage:
    from dpspec.report import json as data, text

    code = Word[found.outcome.name].exit_code
    return RenderedPage(parts=text.replay_parts(found), content=lambda: answer("verify", code, data.replayed(found)))


def _unnamed(spec: PrivacySpec, mechanism: Mechanism | None = None) -> tuple[SpecDocument, Standing]:
    """Five blocks as in a file, without a claim status."""
    from dpspec.specfile.document import SpecDocument
    from dpspec.verifier.standing import Standing

    document = SpecDocument(id="specification", title="five blocks in Python", spec=spec, mechanism=mechanism)
    return document, Standing(word=Word.UNCHECKED, reason="it was not requested")


def _named(found: Order) -> tuple[SpecDocument, ...]:
    """The specifications of an order, by their names."""
    from dpspec.specfile.document import SpecDocument

    pairs = itertools.combinations(range(len(found)), 2)
    specs = {
        place: spec
        for (i, j), one in zip(pairs, found.comparisons, strict=True)
        for place, spec in ((i, one.left), (j, one.right))
    }
    return tuple(SpecDocument(id=name, title=name, spec=specs[place]) for place, name in enumerate(found.names))


def _comparison(found: Comparison, verbose: bool) -> RenderedPage:
    from dpspec.extension import installed
    from dpspec.report import comparison, json as data, risk

    (first, one), (second, two) = found.about or (_unnamed(found.left), _unnamed(found.right))
    registry = installed().registry
    numbers = risk.file_numbers(first, one, registry), risk.file_numbers(second, two, registry)

    def content() -> JsonData:
        said = {**data.comparison(found, first, second, (one, two)), "headline": comparison.headline(found, (one, two))}
        said["risk"] = {side: risk.numbers_data(known) for side, known in zip(("left", "right"), numbers, strict=True)}
        return answer("compare", data.comparison_exit_code(found), said)

    parts = comparison.comparison_parts(found, first, second, (one, two), numbers, verbose=verbose)
    return RenderedPage(
        parts=parts, content=content, figure=lambda: comparison.blocks_figure(found, (first.id, second.id), (one, two))
    )


def _order(found: Order, _: bool) -> RenderedPage:
    from dpspec.report import order

    documents = found.about or _named(found)
    return RenderedPage(
        parts=order.order_parts(found, documents),
        content=lambda: answer("compare", order.exit_code(found), order.order_data(found, documents)),
        figure=lambda: order.order_figure(found, documents),
    )


def _derivation(found: Derivation, _: bool) -> RenderedPage:
    from dpspec.extension import installed
    from dpspec.report import conversions

    return RenderedPage(parts=conversions.chain_parts(found), content=lambda: found.data(installed().registry))


def _conversions(found: Conversions, verbose: bool) -> RenderedPage:
    from dpspec.report import conversions

    return RenderedPage(
        parts=conversions.conversion_parts(found, verbose=verbose),
        content=lambda: answer("convert", 0, conversions.conversion_data(found)),
    )


def _theorems(found: TheoremNumbers, _: bool) -> RenderedPage:
    from dpspec.report import conversions

    return RenderedPage(
        parts=conversions.theorem_parts(found), content=lambda: answer("convert", 0, conversions.theorem_data(found))
    )


def _ledger(found: Composition, _: bool) -> RenderedPage:
    from dpspec.report import ledgers

    return RenderedPage(parts=ledgers.ledger_parts(found), content=lambda: answer("ledger", 0, ledgers.ledger_data(found)))


def _account(found: PrivacyAccount, _: bool) -> RenderedPage:
    from dpspec.report import ledgers

    return RenderedPage(parts=ledgers.account_parts(found), content=lambda: answer("compose", 0, ledgers.account_data(found)))


def _risk(found: RiskReport, verbose: bool) -> RenderedPage:
    from dpspec.report import risk

    document, standing = found.about or _unnamed(found.spec, found.mechanism)
    return RenderedPage(
        parts=risk.risk_parts(found, document, standing, verbose=verbose),
        content=lambda: answer("risk", 1 if found.exceeded else 0, risk.risk_data(found, document, standing)),
        figure=lambda: risk.figure(found, document),
    )


def _panel(found: Panel, verbose: bool) -> RenderedPage:
    from dpspec.report import risk

    first = found.reports[0]
    document, standing = first.about or _unnamed(first.spec, first.mechanism)
    return RenderedPage(
        parts=risk.panel_parts(found, document, standing, verbose=verbose),
        content=lambda: answer("risk", 1 if found.exceeded else 0, risk.panel_data(found, document, standing)),
    )


_PAGES: dict[str, Callable[[Any, bool], RenderedPage]] = {
    "dpspec.grammar.spec:PrivacySpec": _spec,
    "dpspec.specfile.document:SpecDocument": _document,
    "dpspec.verifier.verdict:Verdict": _verdict,
    "dpspec.verifier.document:FileReport": _file_report,
    "dpspec.verifier.replay:Replay": _replay,
    "dpspec.comparison.compare:Comparison": _comparison,
    "dpspec.comparison.order:Order": _order,
    "dpspec.reason.search:Derivation": _derivation,
    "dpspec.reason.conversions:Conversions": _conversions,
    "dpspec.reason.conversions:TheoremNumbers": _theorems,
    "dpspec.composition:Composition": _ledger,
    "dpspec.composition:PrivacyAccount": _account,
    "dpspec.risks.engine:RiskReport": _risk,
    "dpspec.risks.engine:Panel": _panel,
}
"""The page function of each class; the classes themselves are not imported for it."""
