"""Whose page is what: the parts of the page of every result, and the answers of commands.

The command line prints a page, a notebook displays it as HTML, a report contains it as Markdown (`dpspec.report.page`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import attrs
from rich.text import Text

from dpspec.base.display import Showable
from dpspec.base.errors import PictureError, harmless, reported_as_own
from dpspec.base.lazy import place_of
from dpspec.base.types import JsonData
from dpspec.base.words import Word
from dpspec.report import terminal
from dpspec.report.figures import Figure, draws_figures
from dpspec.report.json import answer
from dpspec.report.page import Page, PageParts, Verbatim, as_html, as_markdown
from dpspec.report.terminal import FAINT, blocks_in_words, drawn, thing_in_words

if TYPE_CHECKING:
    from dpspec.comparison.compare import Comparison
    from dpspec.comparison.composition import Composition, PrivacyAccount
    from dpspec.comparison.order import Order
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


@attrs.frozen(kw_only=True)
class RenderedPage:
    """The page of a value. Each form is made when it is needed: data has no need of words, nor words of a figure.

    Args:
        words: makes the page, its parts from top to bottom, or a text without any structure.
        content: makes the data of it.
        figure: makes its figure; None where it has none.
    """

    words: Callable[[], Page | PageParts | str]
    content: Callable[[], JsonData]
    figure: Callable[[], Figure] | None = None

    def text(self, *, coloured: bool = False) -> str:
        """The text that the command line prints; `coloured` for terminals that support colours."""
        made = self._made()
        if isinstance(made, str):
            return made if coloured else _COLOURED.sub("", made)
        return drawn(*made, plain=not coloured).rstrip()

    def html(self) -> str:
        """As part of an HTML page: tables and paragraphs with their styles, then the figure where a package draws it."""
        return as_html(_pieces(self._made()), None if self.figure is None or not draws_figures() else self.figure())

    def markdown(self) -> str:
        """As Markdown: tables and paragraphs; a text without any structure is a block of lines as they are."""
        return as_markdown(_pieces(self._made()))

    def _made(self) -> PageParts | str:
        made = self.words()
        return made.parts() if isinstance(made, Page) else made

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


# --- answers of commands --------------------------------------------------------------------------


_COLOURED = re.compile(r"\x1b\[[0-9;]*m")


def _pieces(made: PageParts | str) -> PageParts:
    """The pieces of an answer; a text without any structure is one of them."""
    return [Verbatim(text=_COLOURED.sub("", made))] if isinstance(made, str) else made


@attrs.frozen(eq=False)
class CommandAnswer(Showable, Mapping[str, Any]):
    """The answer of a command: its data, as a mapping; its page; and the values behind it.

    Args:
        command: the command.
        exit_code: its exit code.
        content: the fields that ``--format json`` prints in addition to these two.
        words: makes the page, its parts, or a text without any structure.
        figure: makes its figure; None where it has none.
        value: the values behind it.
        notes: messages on stderr after the answer, such as that a release is not fit for publication.
    """

    command: str
    exit_code: int
    content: Mapping[str, Any]
    words: Callable[[], Page | PageParts | str]
    figure: Callable[[], Figure] | None = None
    value: Any = attrs.field(default=None, kw_only=True)
    notes: Sequence[str] = attrs.field(default=(), kw_only=True)

    def shown(self, *, verbose: bool = False) -> RenderedPage:
        content = partial(answer, self.command, self.exit_code, self.content)
        return RenderedPage(words=self.words, content=content, figure=self.figure)

    def page(self) -> Page:
        """The answer as a page of its own, of which the renderer `document` makes an HTML file."""
        made = self.words()
        return made if isinstance(made, Page) else Page(title=self.command, pieces=tuple(_pieces(made)))

    def __getitem__(self, key: str) -> Any:
        return self.content[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.content)

    def __len__(self) -> int:
        return len(self.content)


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
    return RenderedPage(words=lambda: _blocks(found), content=lambda: _tables(found))


def _blocks(found: PrivacySpec) -> PageParts:
    """The five blocks, and the promise that they make together."""
    from dpspec.report.explain import promise_of

    rows = terminal.grid()
    for block, lines in blocks_in_words(found).items():
        rows.add_row(Text(block, FAINT), "\n".join(lines))
    return [rows, "", promise_of(found)]


def _tables(found: PrivacySpec) -> JsonData:
    """The tables of a file, as `dpspec.build` takes them."""
    import tomllib

    from dpspec.extension import installed
    from dpspec.specfile.writer import to_toml

    return tomllib.loads(to_toml(found, installed().registry))


def _document(found: SpecDocument, _: bool) -> RenderedPage:
    def words() -> PageParts:
        rows = terminal.grid()
        run = found.mechanism or found.secret
        if run is not None:
            rows.add_row(Text("mechanism", FAINT), thing_in_words(run))
        if found.claim is not None:
            rows.add_row(Text("claim", FAINT), f"filed as {found.claim.verdict}: {found.claim.because}")
        head = Text.assemble((harmless(found.id, keep=""), "bold"), f"  {harmless(found.title, keep='')}")
        parts = [head, "", *_blocks(found.spec)]
        return [*parts, "", rows] if rows.row_count else parts

    return RenderedPage(words=words, content=lambda: {"id": found.id, "title": found.title, **_tables(found.spec)})


def _verdict(found: Verdict, verbose: bool) -> RenderedPage:
    from dpspec.report import json as data, text

    return RenderedPage(words=lambda: text.verdict_parts(found, verbose=verbose), content=lambda: data.verdict(found))


def _file_report(found: FileReport, verbose: bool) -> RenderedPage:
    from dpspec.report import json as data, text

    path = found.document.path or found.document.id

    def content() -> JsonData:
        return answer("verify", found.word.exit_code, {"files": [data.file_report(path, found)]})

    return RenderedPage(words=lambda: text.file_report_parts(path, found, verbose=verbose), content=content)


def _replay(found: Replay, _: bool) -> RenderedPage:
    from dpspec.report import json as data, text

    code = Word[found.outcome.name].exit_code
    return RenderedPage(words=lambda: text.replay_parts(found), content=lambda: answer("verify", code, data.replayed(found)))


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

    return RenderedPage(
        words=lambda: comparison.comparison_parts(found, first, second, (one, two), numbers, verbose=verbose),
        content=content,
        figure=lambda: comparison.blocks_figure(found, (first.id, second.id), (one, two)),
    )


def _order(found: Order, _: bool) -> RenderedPage:
    from dpspec.report import order

    documents = found.about or _named(found)
    return RenderedPage(
        words=lambda: order.order_parts(found, documents),
        content=lambda: answer("compare", order.exit_code(found), order.order_data(found, documents)),
        figure=lambda: order.order_figure(found, documents),
    )


def _derivation(found: Derivation, _: bool) -> RenderedPage:
    from dpspec.extension import installed
    from dpspec.report import conversions

    return RenderedPage(words=lambda: conversions.chain_parts(found), content=lambda: found.data(installed().registry))


def _conversions(found: Conversions, verbose: bool) -> RenderedPage:
    from dpspec.report import conversions

    return RenderedPage(
        words=lambda: conversions.conversion_parts(found, verbose=verbose),
        content=lambda: answer("convert", 0, conversions.conversion_data(found)),
    )


def _theorems(found: TheoremNumbers, _: bool) -> RenderedPage:
    from dpspec.report import conversions

    return RenderedPage(
        words=lambda: conversions.theorem_parts(found), content=lambda: answer("convert", 0, conversions.theorem_data(found))
    )


def _ledger(found: Composition, _: bool) -> RenderedPage:
    from dpspec.report import ledgers

    return RenderedPage(
        words=lambda: ledgers.ledger_parts(found),
        content=lambda: answer("ledger", ledgers.exit_code(found), ledgers.ledger_data(found)),
    )


def _account(found: PrivacyAccount, _: bool) -> RenderedPage:
    from dpspec.report import ledgers

    return RenderedPage(
        words=lambda: ledgers.account_parts(found),
        content=lambda: answer("compose", ledgers.exit_code(found), ledgers.account_data(found)),
    )


def _risk(found: RiskReport, verbose: bool) -> RenderedPage:
    from dpspec.report import risk

    document, standing = found.about or _unnamed(found.spec, found.mechanism)
    return RenderedPage(
        words=lambda: risk.risk_parts(found, document, standing, verbose=verbose),
        content=lambda: answer("risk", risk.exit_code(found), risk.risk_data(found, document, standing)),
        figure=lambda: risk.figure(found, document),
    )


def _panel(found: Panel, verbose: bool) -> RenderedPage:
    from dpspec.report import risk

    first = found.reports[0]
    document, standing = first.about or _unnamed(first.spec, first.mechanism)
    return RenderedPage(
        words=lambda: risk.panel_parts(found, document, standing, verbose=verbose),
        content=lambda: answer("risk", risk.exit_code(found), risk.panel_data(found, document, standing)),
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
    "dpspec.comparison.composition:Composition": _ledger,
    "dpspec.comparison.composition:PrivacyAccount": _account,
    "dpspec.risks.engine:RiskReport": _risk,
    "dpspec.risks.engine:Panel": _panel,
}
"""The page function of each class; the classes themselves are not imported for it."""
