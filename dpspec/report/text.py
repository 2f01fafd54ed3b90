"""Results as text: files, verdicts, releases, plugins, errors, ledgers, findings of the linter, test tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dpspec.base.errors import DpspecError, count, value_text
from dpspec.base.params import each
from dpspec.base.words import Word, joint_word
from dpspec.report import terminal
from dpspec.report.json import bracket, registered
from dpspec.report.terminal import (
    BAD,
    FAINT,
    GOOD,
    OPEN,
    blocks_in_words,
    bracket_in_words,
    budget_in_words,
    drawn,
    grid,
    headline,
    marked,
    multiverse_in_words,
    number_in_words,
    pair_in_words,
    probability_in_words,
    thing_by_name,
    thing_in_words,
)

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from dpspec.base.exact import Number
    from dpspec.composition import Composition, LedgerLine, PrivacyAccount
    from dpspec.extension.loader import Plugins
    from dpspec.grammar.spec import PrivacySpec
    from dpspec.linter.finding import Finding
    from dpspec.specfile.document import SpecDocument
    from dpspec.verifier.document import FileReport
    from dpspec.verifier.obligations import Obligation
    from dpspec.verifier.replay import Replay
    from dpspec.verifier.standing import Standing
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
        parts = [f"at most {bracket_in_words(verdict.constant)}; the budget differs by universe"]
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


# --- ledgers --------------------------------------------------------------------------------------


def ledger_parts(found: Composition) -> list[RenderableType]:
    """The table of the parts, the common blocks with the total, and the losses."""
    rows: list[RenderableType] = [
        _parts(found),
        "",
        Text("Claim status", "bold"),
        Padding(_standings(found), (0, 0, 0, 2)),
    ]
    blocks = grid()
    for block, lines in blocks_in_words(found.best.spec).items():
        blocks.add_row(Text(block, FAINT), "\n".join(lines))
    rows += ["", Text("Together", "bold"), Padding(blocks, (0, 0, 0, 2))]
    if found.proved is not None:
        promised = f"As promised: {budget_in_words(found.spec.budget)}. "
        promised += "The budget above is proved of the mechanisms of the files."
        rows.append(Padding(Text(promised), (0, 0, 0, 2)))
    rows += ["", Text.assemble(("What adds up: ", "bold"), f"{found.rule} ({found.citation})")]
    losses = found.losses()
    if losses:
        rows += ["", Text("What was lost on the way", "bold")]
        rows += [Padding(terminal.bullet(loss), (0, 0, 0, 2)) for loss in losses]
    return rows


def _narrow(value: Number) -> str:
    """A number for one of two columns: exact while that is short, else its decimal value."""
    words = number_in_words(value)
    return f"about {value.decimal()}" if "(about" in words else words


def _parts(found: Composition) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), expand=True, header_style="bold", show_footer=True)
    total = found.spec.budget.uniform()
    parameter = found.spec.budget.parameter
    amount = number_in_words if found.proved is None else _narrow
    table.add_column("part", overflow="fold", footer="together")
    table.add_column("as stated", overflow="fold")
    table.add_column("one change", overflow="fold")
    sum_promised = "" if total is None else amount(total)
    if found.proved is None:
        table.add_column(f"{parameter} in the common blocks", justify="right", footer=sum_promised)
    else:
        proved = found.proved.spec.budget.uniform()
        table.add_column(f"{parameter} as promised", justify="right", footer=sum_promised)
        table.add_column(f"{parameter} as proved", justify="right", footer="" if proved is None else amount(proved))
    for line, best in zip(found.lines, found.best.lines, strict=True):
        spec = line.part.spec
        amounts = [line.spent] if found.proved is None else [line.spent, best.spent]
        cells = [budget_in_words(spec.budget), thing_in_words(spec.input_divergence), *map(amount, amounts)]
        table.add_row(line.part.name, *cells)
    return table


def _standings(found: Composition | PrivacyAccount) -> Table:
    rows = grid()
    for line in found.lines:
        if line.part.standing is not None:
            rows.add_row(Text(line.part.id, FAINT), terminal.standing_line(line.part.standing))
    rows.add_row(Text("together", FAINT), terminal.standing_line(together(found)))
    return rows


def together(found: Composition | PrivacyAccount) -> Standing:
    """The status of the total: the worst of its parts, and derived where each of them is verified."""
    from dpspec.verifier.standing import Standing

    standings = {line.part.id: line.part.standing for line in found.lines}
    word = joint_word(Word.UNCHECKED if one is None else one.word for one in standings.values())
    if word.is_good:
        return Standing(
            word=Word.DERIVED, reason="each part is verified, and the total follows from the parts by the steps stated"
        )
    worst = ", ".join(id for id, one in standings.items() if (Word.UNCHECKED if one is None else one.word) is word)
    kept = (
        "a total of promises, which are not all kept"
        if word in (Word.REFUTED, Word.RECORDED)
        else "no more is known of the total"
    )
    return Standing(word=word, reason=f"as that of {worst}; {kept}")


def ledger_data(found: Composition, written: str | None = None) -> dict[str, Any]:
    """The same as JSON data."""
    return {
        "parts": [{**_line(line), "proved": str(best.spent)} for line, best in zip(found.lines, found.best.lines, strict=True)],
        "together": {
            "parameter": found.spec.budget.parameter,
            "value": str(found.spec.budget.uniform()),
            "proved": None if found.proved is None else str(found.proved.spec.budget.uniform()),
            "blocks": {block.replace(" ", "_"): lines for block, lines in blocks_in_words(found.spec, thing_by_name).items()},
            "standing": terminal.standing_data(together(found)),
        },
        "rule": found.rule,
        "citation": found.citation,
        "plain_sum": None if found.plain_sum is None else str(found.plain_sum),
        "losses": list(found.losses()),
        "written": written,
        "cap": None,
    }


def _line(line: LedgerLine) -> Mapping[str, Any]:
    stated = line.part.spec.budget
    value = stated.uniform()
    return {
        "id": line.part.id,
        "standing": None if line.part.standing is None else terminal.standing_data(line.part.standing),
        "parameter": stated.parameter,
        "stated": None if value is None else str(value),
        "times": line.part.times,
        "amount": str(line.spent),
        "steps": [
            {
                "rule": step.rule,
                "block": step.block,
                "reason": step.reason,
                "citation": step.citation,
                "parameters": dict(step.parameters),
                "before": str(step.before.budget),
                "after": str(step.after.budget),
            }
            for step in line.steps
        ],
    }


# --- releases counted by their privacy losses -----------------------------------------------------


def account_parts(found: PrivacyAccount) -> list[RenderableType]:
    """The answer, the parts, and what it is about."""
    name, value = found.given
    answer = found.value.outward(7)
    lies = "lies in" if answer.startswith("[") else "="
    head = Text.assemble((f"{found.wanted} {lies} {answer}", "bold"), f" at {name} = {value.plain()}")
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), expand=True, header_style="bold")
    for title in ("part", "promise"):
        table.add_column(title, overflow="fold")
    table.add_column("times", justify="right")
    for line, times in zip(found.lines, found.times, strict=True):
        promise = f"{budget_in_words(line.spec.budget)} by {thing_in_words(line.spec.output_divergence)}"
        table.add_row(line.part.id, promise, f"{times:,}")
    spec = found.lines[0].spec
    about = grid()
    about.add_row(Text("for datasets", FAINT), f"at distance one change: {thing_in_words(spec.input_divergence)}")
    about.add_row(Text("inside", FAINT), "\n".join(multiverse_in_words(spec.multiverse)))
    return [head, "", table, "", about, "", Text("Claim status", "bold"), Padding(_standings(found), (0, 0, 0, 2))]


def account_data(found: PrivacyAccount) -> dict[str, Any]:
    """The same as JSON data."""
    name, value = found.given
    return {
        "wanted": found.wanted,
        "value": bracket(found.value),
        "given": {"name": name, "value": str(value)},
        "parts": [{**_line(line), "times": times} for line, times in zip(found.lines, found.times, strict=True)],
        "together": {
            "blocks": {
                block.replace(" ", "_"): lines
                for block, lines in blocks_in_words(found.lines[0].spec, thing_by_name).items()
                if block in ("dataset space", "multiverse", "input divergence")
            },
            "standing": terminal.standing_data(together(found)),
        },
    }


# --- findings -------------------------------------------------------------------------------------


_STYLES = {"error": BAD, "warning": OPEN}


def lint_text(findings: Sequence[Finding], files: Sequence[Path], *, explained: bool) -> str:
    """The findings without an explanation, with `explained` the others too, and the number of each."""
    shown = [single for single in findings if explained or single.explained is None]
    lines = []
    for single in shown:
        style = _STYLES[single.severity.value]
        head = headline(f"{single.file}:{single.line}", single.severity.value, style, f"  [{single.code}]")
        last = single.advice if single.explained is None else f"explained: {single.explained}"
        lines.append(drawn(head, Padding(Text(single.message), (0, 0, 0, 2)), Padding(Text(last, FAINT), (0, 0, 0, 2))))
    left = sum(single.explained is None for single in findings)
    findings_left = "no finding" if left == 0 else count(left, "finding")
    rest = len(findings) - left
    return "\n".join([*lines, f"{count(len(files), 'file')}: {findings_left}" + (f", {rest} explained" if rest else "")])


def lint_data(findings: Sequence[Finding], files: Sequence[Path]) -> dict[str, Any]:
    """The same as JSON data, with the explained ones."""
    return {
        "files": [str(file) for file in files],
        "findings": [
            {
                "code": found.code,
                "severity": found.severity.value,
                "file": found.file,
                "line": found.line,
                "message": found.message,
                "advice": found.advice,
                "explained": found.explained,
            }
            for found in findings
        ],
    }
