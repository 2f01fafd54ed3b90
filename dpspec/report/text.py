"""Results as text: checked and verified files, verdicts, plugins, errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dpspec.errors import DpspecError
from dpspec.extension.loader import PluginInfo, Plugins
from dpspec.params import each
from dpspec.plural import count, value_text
from dpspec.report.json import registered
from dpspec.report.terminal import BAD, FAINT, GOOD, OPEN, drawn, grid, headline, marked
from dpspec.report.words import bracket_in_words, number_in_words, pair_in_words, probability_in_words
from dpspec.spec import PrivacySpec
from dpspec.specfile.document import SpecDocument
from dpspec.verify.verdict import Outcome, UniverseResult, Verdict, Witness
from dpspec.verify.words import Word

if TYPE_CHECKING:
    from dpspec.verify.document import FileReport, Obligation
    from dpspec.verify.growth import Grown
    from dpspec.verify.replay import Replay

Line = tuple[str, str]
"""A label and what stands behind it."""


def error_lines(fault: DpspecError, path: str | None = None) -> str:
    """Every single fault on a line of its own, behind its file and line; `path` stands in for an unknown file."""
    return "\n".join(f"{path}: {single}" if path and single.file is None else str(single) for single in each(fault))


# --- files ---------------------------------------------------------------------------------------


def checked(path: str, document: SpecDocument) -> str:
    """A file that was read without fault."""
    return drawn(headline(path, "valid", GOOD, f"  {document.title}"))


def failed(path: str, word: Word, fault: DpspecError) -> str:
    """A file that could not be judged; its faults go to stderr."""
    return drawn(headline(path, word.told, BAD, f"  {count(len(each(fault)), 'fault')}"))


def file_report(path: str, report: FileReport) -> str:
    """A judged file: its word, then every obligation."""
    head = headline(path, *marked(report.word))
    title = Padding(Text(f"{report.document.title} ({report.scope})", FAINT), (0, 0, 0, 2))
    rows = grid(indent=2)
    for obligation in report.obligations:
        mark, style = obligation.word.word, marked(obligation.word)[1]
        detail = "" if obligation.verdict is not None else f": {obligation.detail}"
        rows.add_row("", Text(mark, style), obligation.name + detail)
        for label, text in _finding(obligation, report.document):
            rows.add_row("", "", _labelled(label, text))
    judged = (obligation.verdict for obligation in report.obligations)
    assumed = [headline("  assumes", text, FAINT) for text in _assumed(verdict for verdict in judged if verdict is not None)]
    replays = [headline("  replay", obligation.replay, FAINT) for obligation in report.obligations if obligation.replay]
    return drawn(head, title, rows, *assumed, *replays)


def replayed(path: str, found: Replay) -> str:
    """A witness file judged anew."""
    mark, style = _REPLAYED[found.outcome]
    lines: list[Text | Table] = [Text(found.told)]
    lines += [_labelled("recorded", found.event_told)] if found.event is not None else []
    lines += [_labelled(label, text) for label, text in verdict_lines(found.verdict, found.spec)]
    lines += [_labelled("assumes", text) for text in _assumed([found.verdict])]
    return drawn(headline(path, mark, style), *(Padding(line, (0, 0, 0, 2)) for line in lines))


_REPLAYED = {
    Outcome.VERIFIED: ("no longer refuted", GOOD),
    Outcome.REFUTED: ("still refuted", BAD),
    Outcome.UNDECIDED: ("undecided", OPEN),
}


def _assumed(verdicts: Iterable[Verdict]) -> list[str]:
    """What several verdicts take for granted, each thing once."""
    return list(dict.fromkeys(text for verdict in verdicts for text in verdict.assumptions))


def _labelled(label: str, text: str) -> Table:
    line = Table.grid(padding=(0, 1, 0, 0))
    line.add_column(width=8, no_wrap=True, style=FAINT)
    line.add_column(overflow="fold")
    line.add_row(label, text)
    return line


def _finding(obligation: Obligation, document: SpecDocument) -> Iterator[Line]:
    if obligation.verdict is None:
        return
    recorded, found = obligation.recorded, obligation.verdict.outcome.value
    if recorded != found:
        found += f", but the file records {recorded}" if document.claim is not None or recorded != "verified" else ""
    elif found != "verified":
        found += ", as the file records"
    yield "verdict", found
    if obligation.exchanged:
        blocks = " and another ".join(obligation.exchanged)
        yield "but", f"the miniature has another {blocks}: another claim was tested, and the one on file was not checked"
    yield from verdict_lines(obligation.verdict, obligation.spec or document.spec)
    yield from _raised(obligation.grown)


def _raised(lines: Sequence[Grown]) -> Iterator[Line]:
    """What became of the constant while the sizes of a miniature were raised; those that could not be are told together."""
    for line in lines:
        if line.grows:
            yield "GROWS", str(line) if line.refuted is not None else f"{line}: this miniature says nothing about the claim"
        elif len(line.values) > 1:
            yield "raised", str(line)
    left = [line for line in lines if len(line.values) == 1]
    if left:
        yield "not", f"raised: {', '.join(line.size for line in left)} ({left[0].stopped})"


def verdict_lines(verdict: Verdict, spec: PrivacySpec) -> Iterator[Line]:
    """How a verdict was reached, its constant against the budget, its witness, and what else was noticed."""
    if verdict.reason:
        yield "reason", verdict.reason
    if verdict.method != "none":
        yield "method", f"{verdict.method}: {verdict.scope}"
    if verdict.universes:
        yield "constant", _constant(verdict)
    if verdict.vacuous:
        yield "vacuous", f"{count(len(verdict.vacuous), 'universe')} without a pair at finite distance: nothing is asked there"
    if verdict.witness is not None:
        yield from _witness(verdict.witness, spec)
    for finding in verdict.findings:
        yield "noticed", f"{finding.code}: {finding.text}"


def _constant(verdict: Verdict) -> str:
    best = verdict.tightest
    bounds = {result.bound for result in verdict.universes}
    if best is None:
        return bracket_in_words(verdict.constant)
    if len(bounds) > 1:
        tight = sum(result.is_tight for result in verdict.universes)
        over = sum(result.outcome is Outcome.REFUTED for result in verdict.universes)
        parts = [f"at most {bracket_in_words(verdict.constant)}; the budget differs by universe"]
        parts += [f"{count(tight, 'universe')} at the bound exactly"] if tight else []
        parts += [f"{count(over, 'universe')} above it"] if over else []
        return ", ".join(parts)
    return f"{bracket_in_words(verdict.constant)}, allowed {number_in_words(best.bound)}{_closeness(best)}"


def _closeness(result: UniverseResult) -> str:
    if result.is_tight:
        return ": tight"
    if result.outcome is Outcome.VERIFIED and not result.bound.is_infinite:
        return f": slack {result.slack()}"
    return ""


def _witness(witness: Witness, spec: PrivacySpec) -> Iterator[Line]:
    left, right = pair_in_words(witness.left, witness.right, spec.space)
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
    """How many files ended how."""
    parts = []
    for word in (word for word in Word if word in words):
        told, style = marked(word)
        parts.append(Text(f"{words.count(word):,} {_MANY.get(word, told)}", style))
    return drawn(Text.assemble(count(len(words), "file"), ": ", Text(", ").join(parts)))


_MANY = {
    Word.HOLDS: "hold", Word.MINIATURE: "hold on miniatures only", Word.RECORDED: "recorded as refuted, and are",
    Word.UNCHECKED: "in which nothing was checked", Word.MISSED: "FAIL", Word.PLUGIN: "need a plugin that failed",
}  # fmt: skip
"""The words that are other ones for many files."""


# --- releases ------------------------------------------------------------------------------------


def released(data: Mapping[str, Any], directory: str) -> str:
    """What was drawn, from what, and what it holds."""
    rows = grid()
    for file in data["released"]:
        rows.add_row(Text("released", FAINT), Text(f"{directory}/{file['file']}", "bold"))
    rows.add_row("", f"{count(data['records'], 'record')} of {data['table']}, by {data['mechanism']['name']}")
    rows.add_row(Text("spec", FAINT), data["specification"]["id"])
    rows.add_row(Text("claim", FAINT), data["claim"]["told"])
    rows.add_row(Text("random", FAINT), data["randomness"])
    for held in data["invariants"]:
        cells = held["cells"]
        told = "cannot be asked of this table" if cells is None else f"holds in all {count(cells, 'cell')}"
        rows.add_row(Text("invariant", FAINT), f"{held['invariant']}: {told}")
    for kept in data["kept"]:
        rows.add_row(Text("kept", FAINT), f"{kept['kept']}: as before ({count(kept['records'], 'record')})")
    lines = [line for name, told in data["told_by_mechanism"].items() for line in _told_lines(name, told)]
    for place, line in enumerate(lines):
        rows.add_row(Text("" if place else "mechanism", FAINT), line)
    for file in data["released"]:
        rows.add_row(Text("sha256", FAINT), file["sha256"])
    if "utility" in data:
        tables = data["utility"]["tables"]
        worst = max(tables, key=lambda table: table["mape"], default=None)
        told = (
            ""
            if worst is None
            else f"; largest MAPE: {worst['mape']:.3g} % ({worst['unit']} by {' x '.join(worst['attributes'])})"
        )
        rows.add_row(Text("utility", FAINT), Text(data["utility"]["folder"], "bold"))
        rows.add_row("", f"{count(len(tables), 'table')} compared{told}; NOT for publication")
    return drawn(rows)


def _told_lines(name: str, value: Any) -> list[str]:
    """An entry of the mechanism's report: the items of a list on lines of their own, nothing for an empty one."""
    if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        return [f"{name}:", *(f"  {_told(item)}" for item in value)]
    return [] if value in ([], {}) else [f"{name}: {_told(value)}"]


_LISTED = 2
"""Entries of a list inside another entry that are told at the terminal."""


def _told(value: Any) -> str:
    """A value of the mechanism's report in one line; a long list of entries is left to the file."""
    if isinstance(value, list) and len(value) > _LISTED and isinstance(value[0], Mapping):
        return f"{len(value)} entries in report.json"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_told(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return "; ".join(map(_told, value)) or "none"
    return str(value)


# --- plugins -------------------------------------------------------------------------------------


def plugins(found: Plugins) -> str:
    """Every plugin with its distribution, its state, and what it registers."""
    blocks = [_plugin(info) for info in found.infos]
    ambiguous = found.registry.duplicates()
    if ambiguous:
        lines = Table.grid(padding=(0, 2, 0, 0))
        for fault in ambiguous:
            lines.add_row(Text("ambiguous", BAD), str(fault))
        blocks.append(drawn(lines))
    return "\n\n".join(blocks)


def _plugin(info: PluginInfo) -> str:
    style = {"loaded": GOOD, "failed": BAD}.get(info.status, OPEN)
    origin = info.provenance
    head = Text.assemble((origin.plugin, "bold"), f"  {origin.distribution} {origin.version}  ", (info.status, style))
    rows = grid(indent=2)
    if info.error is not None:
        rows.add_row("", Text("fault", BAD), str(info.error))
    for kind, names in registered(info.entries).items():
        rows.add_row("", Text(kind.replace("_", " "), FAINT), ", ".join(names))
    return drawn(head, rows) if rows.row_count else drawn(head)
