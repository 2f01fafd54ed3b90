"""Results as text: files, verdicts, plugins and errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dpspec.base.errors import DpspecError, count, value_text
from dpspec.base.params import each
from dpspec.base.words import Word
from dpspec.report.json import registered
from dpspec.report.terminal import (
    BAD,
    FAINT,
    GOOD,
    OPEN,
    at_most_in_words,
    bracket_in_words,
    drawn,
    grid,
    headline,
    marked,
    number_in_words,
    pair_in_words,
    probability_in_words,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dpspec.extension.loader import Plugins
    from dpspec.grammar.spec import PrivacySpec
    from dpspec.specfile.document import SpecDocument
    from dpspec.verifier.document import FileReport
    from dpspec.verifier.obligations import Obligation
    from dpspec.verifier.replay import Replay
    from dpspec.verifier.verdict import Verdict, Witness


TextLine = tuple[str, str]
"""A label and the text after it."""


def error_lines(fault: DpspecError, path: str | None = None) -> str:
    """Every single fault on its own line, after its file and line; `path` replaces an unknown file."""
    return "\n".join(f"{path}: {single}" if path and single.file is None else str(single) for single in each(fault))


# --- files ---------------------------------------------------------------------------------------


def checked(path: str, document: SpecDocument) -> str:
    """A file that was read without fault."""
    return drawn(headline(path, "valid", GOOD, f"  {document.title}"))


def failed(path: str, word: Word, fault: DpspecError) -> str:
    """A file that could not be verified; its faults go to stderr."""
    return drawn(headline(path, word.label, BAD, f"  {count(len(each(fault)), 'fault')}"))


def file_report_parts(path: str, report: FileReport, *, verbose: bool = False) -> list[RenderableType]:
    """A verified file: its status word, then every obligation; with `verbose` the steps of proofs."""
    head = headline(path, *marked(report.word))
    title = Padding(Text(f"{report.document.title} ({report.scope})", FAINT), (0, 0, 0, 2))
    rows = grid(indent=2)
    for obligation in report.obligations:
        mark, style = obligation.word.word, marked(obligation.word)[1]
        detail = "" if obligation.verdict is not None else f": {obligation.detail}"
        rows.add_row("", Text(mark, style), obligation.name + detail)
        for label, text in _finding(obligation, report.document, verbose=verbose):
            rows.add_row("", "", _labelled(label, text))
    judged = (obligation.verdict for obligation in report.obligations)
    taken = _assumed(verdict for verdict in judged if verdict is not None)
    taken += [str(one) for one in report.document.assumed]
    assumed = [headline("  assumes", text, FAINT) for text in taken]
    replays = [headline("  replay", obligation.replay, FAINT) for obligation in report.obligations if obligation.replay]
    return [head, title, rows, *assumed, *replays]


def replay_parts(found: Replay) -> list[RenderableType]:
    """The result of replaying a witness file."""
    from dpspec.verifier.verdict import Outcome

    mark, style = {
        Outcome.VERIFIED: ("no longer refuted", GOOD),
        Outcome.REFUTED: ("still refuted", BAD),
        Outcome.UNDECIDED: ("undecided", OPEN),
    }[found.outcome]
    lines: list[Text | Table] = [Text(found.sentence)]
    lines += [_labelled("recorded", found.event_in_words)] if found.event is not None else []
    lines += [_labelled(label, text) for label, text in verdict_lines(found.verdict, found.spec)]
    lines += [_labelled("assumes", text) for text in _assumed([found.verdict])]
    return [headline(found.path, mark, style), *(Padding(line, (0, 0, 0, 2)) for line in lines)]


def _assumed(verdicts: Iterable[Verdict]) -> list[str]:
    """The assumptions of several verdicts, each once."""
    return list(dict.fromkeys(text for verdict in verdicts for text in verdict.assumptions))


def _labelled(label: str, text: str) -> Table:
    line = Table.grid(padding=(0, 1, 0, 0))
    line.add_column(width=8, no_wrap=True, style=FAINT)
    line.add_column(overflow="fold")
    line.add_row(label, text)
    return line


def _finding(obligation: Obligation, document: SpecDocument, *, verbose: bool) -> Iterator[TextLine]:
    if obligation.verdict is None:
        return
    from dpspec.verifier.verdict import Outcome

    recorded, outcome = obligation.recorded, obligation.verdict.outcome
    found = outcome.value
    if recorded is not outcome:
        stated = "nothing" if recorded is None else recorded.value
        found += f", but the file records {stated}" if document.claim is not None or recorded is not Outcome.VERIFIED else ""
    elif outcome is not Outcome.VERIFIED:
        found += ", as the file records"
    yield "verdict", found
    if obligation.exchanged:
        blocks = " and another ".join(obligation.exchanged)
        yield "but", f"the miniature has another {blocks}: another claim was tested, and the one on file was not checked"
    yield from verdict_lines(obligation.verdict, obligation.spec or document.spec, verbose=verbose)
    for line in obligation.grown:  # the constants while the sizes of a miniature were raised
        if line.grows:
            yield "GROWS", str(line) if line.refuted is not None else f"{line}: this miniature says nothing about the claim"
        elif len(line.values) > 1:
            yield "raised", str(line)
    left = [line for line in obligation.grown if len(line.values) == 1]
    if left:
        yield "not", f"raised: {', '.join(line.size for line in left)} ({left[0].stopped})"
    if obligation.unproved:
        yield "whole", f"space: {obligation.unproved}"


def verdict_parts(found: Verdict, *, verbose: bool = False) -> list[RenderableType]:
    """A verdict by itself: its word, and how it was reached; with `verbose` the steps of the proof."""
    word = Word[found.outcome.name]
    rows = grid(indent=2)
    for label, said in verdict_lines(found, found.spec, verbose=verbose):
        rows.add_row("", Text(label, FAINT), said)
    for said in found.assumptions:
        rows.add_row("", Text("assumes", FAINT), said)
    return [Text(*marked(word)), rows]


def verdict_lines(verdict: Verdict, spec: PrivacySpec | None, *, verbose: bool = True) -> Iterator[TextLine]:
    """A verdict in lines: its method, its constant against the budget, its witness, and further observations."""
    if verdict.reason:
        yield "reason", verdict.reason
    if verdict.method != "none":
        yield "method", f"{verdict.method}: {verdict.scope}"
    if verdict.universes:
        yield "constant", _constant(verdict)
    if verdict.proof and not verbose:
        yield (
            "proof",
            f"{count(len(verdict.proof), 'step')}: {', '.join(step.step for step in verdict.proof)} (--verbose shows them)",
        )
    for step in verdict.proof if verbose else ():
        yield "proof", str(step)
    if verdict.vacuous:
        yield "vacuous", f"{count(len(verdict.vacuous), 'universe')} without a pair at finite distance, where nothing is required"
    if verdict.witness is not None:
        yield from witness_lines(verdict.witness, spec)
    for finding in verdict.findings:
        yield "noticed", f"{finding.code}: {finding.text}"


def _constant(verdict: Verdict) -> str:
    from dpspec.verifier.verdict import Outcome

    best = verdict.tightest
    bounds = {result.bound for result in verdict.universes}
    if best is not None and verdict.differs_by_universe:
        return f"differs by universe, within the budget of each; {number_in_words(best.constant.lower)} in one"
    if best is None:
        return bracket_in_words(verdict.constant)
    if len(bounds) > 1:
        tight = sum(result.is_tight for result in verdict.universes)
        over = sum(result.outcome is Outcome.REFUTED for result in verdict.universes)
        most = at_most_in_words(verdict.constant.upper).removeprefix("at most ")
        parts = [f"at most {most}; the budget differs by universe"]
        parts += [f"{count(tight, 'universe')} at the bound exactly"] if tight else []
        parts += [f"{count(over, 'universe')} above it"] if over else []
        return ", ".join(parts)
    closeness = ""
    if best.is_tight:
        closeness = ": tight"
    elif best.outcome is Outcome.VERIFIED and not best.bound.is_infinite:
        closeness = f": slack {best.slack()}"
    return f"{bracket_in_words(verdict.constant)}, allowed {number_in_words(best.bound)}{closeness}"


def witness_lines(witness: Witness, spec: PrivacySpec | None) -> Iterator[TextLine]:
    both = (witness.left, witness.right)
    left, right = map(value_text, both) if spec is None else pair_in_words(*both, spec.space)
    yield "witness", f"x  = {left}"
    yield "", f"x' = {right}"
    distance, divergence = number_in_words(witness.distance), bracket_in_words(witness.divergence)
    allowed = "0" if witness.distance == 0 else f"{number_in_words(witness.bound)} x {distance}"
    yield "", f"d_X = {distance}, d_Pr = {divergence}, allowed {allowed}"
    if witness.event is not None:
        at_left, at_right = probability_in_words(witness.event.left), probability_in_words(witness.event.right)
        yield "event", f"{value_text(witness.event.text, 200)} has probability {at_left} at x and {at_right} at x'"
        yield "", witness.event.role
    if witness.note:
        yield "note", witness.note


def summary(words: Sequence[Word]) -> str:
    """The number of files with each result."""
    parts = [Text(counted(word, words.count(word)), marked(word)[1]) for word in Word if word in words]
    return drawn(Text.assemble(count(len(words), "file"), ": ", Text(", ").join(parts)))


def counted(word: Word, number: int) -> str:
    """The results of some files, counted.

    >>> counted(Word.RECORDED, 1), counted(Word.RECORDED, 2), counted(Word.UNCHECKED, 1)
    ('1 known false (confirmed)', '2 known false (confirmed)', '1 in which nothing was checked')
    """
    return f"{number:,} {_ONE.get(word, marked(word)[0]) if number == 1 else _MANY.get(word, marked(word)[0])}"


_MANY = {
    Word.HOLDS: "hold", Word.MINIATURE: "hold on miniatures only",
    Word.UNCHECKED: "in which nothing was checked", Word.MISSED: "FAIL", Word.PLUGIN: "need a plugin that failed",
}  # fmt: skip
"""The words that are other ones for many files."""
_ONE = {Word.UNCHECKED: _MANY[Word.UNCHECKED], Word.PLUGIN: "needs a plugin that failed"}
"""The words that are other ones after a number."""


# --- plugins -------------------------------------------------------------------------------------


def plugins(found: Plugins) -> str:
    """Every plugin with its distribution, its state, and what it registers."""
    blocks = []
    for info in found.infos:
        style = {"loaded": GOOD, "failed": BAD}.get(info.status, OPEN)
        origin = info.provenance
        head = Text.assemble((origin.plugin, "bold"), f"  {origin.distribution} {origin.version}  ", (info.status, style))
        rows = grid(indent=2)
        for fault in info.faults():
            rows.add_row("", Text("fault", BAD), str(fault))
        for kind, names in registered(info.entries).items():
            rows.add_row("", Text(kind.replace("_", " "), FAINT), ", ".join(names))
        blocks.append(drawn(head, rows) if rows.row_count else drawn(head))
    ambiguous = found.registry.duplicates()
    if ambiguous:
        lines = Table.grid(padding=(0, 2, 0, 0))
        for duplicate in ambiguous:
            lines.add_row(Text("ambiguous", BAD), str(duplicate))
        blocks.append(drawn(lines))
    return "\n\n".join(blocks)
