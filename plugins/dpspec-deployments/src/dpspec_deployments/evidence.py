"""Evidence for a reviewer: what a file shows of its deployment, line by line, along the pyramid of NIST SP 800-226 (2025).

A line is *proved* when an engine enumerated all of the space or a proof covers it, *recomputed* when a number or a check was
repeated, *stated* by the publisher or by others where nothing was checked, and *not stated* where there is no statement. A claim
that an engine refutes is proved false: the line then says so.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import attrs
from dpspec_checker.proofs import check_proof

from dpspec import DpspecError, Outcome, SpecDocument
from dpspec.plugin import linter
from dpspec.plugin.applications import (
    METHOD,
    FileReport,
    JsonData,
    Obligation,
    Progress,
    Standing,
    Word,
    blocks_in_words,
    blocks_of,
    budget_in_words,
    count,
    file_report_data,
    harmless,
    json_text,
    longer_units,
    margins,
    origins,
    part_in_words,
    promise_for,
    standing_data,
    thing_in_words,
    verify_document,
    witness_file,
    write_folder,
)
from dpspec_deployments.catalogue import number_state, one_of, unit_of

if TYPE_CHECKING:
    from dpspec.plugin import Registry

PROVED, RECOMPUTED, STATED, OTHERS, NOT_STATED = (
    "proved", "recomputed", "stated by the publisher", "stated by others", "not stated",
)  # fmt: skip
ACCURACY = "accuracy.json"
"""The error of every table, exactly."""
NUMBERS = ("level", "tables", "unknown", "joint", "joint_of_all")
MARKS = (PROVED, RECOMPUTED, STATED, OTHERS, NOT_STATED)
LEVELS_OF_EVIDENCE = {
    "budget": "Budget and unit",
    "definition": "Definition",
    "exact": "Exact facts",
    "correctness": "Correctness",
    "composition": "Composition",
    "utility": "Utility",
    "trust": "Trust model",
    "hazards": "Implementation hazards",
    "collection": "Collection",
}
"""From the top of the pyramid to its ground."""


@attrs.frozen(kw_only=True)
class EvidenceLine:
    """One item that a reviewer requires.

    Args:
        level: the level of the pyramid, a key of LEVELS_OF_EVIDENCE.
        what: the requirement.
        mark: how it is known.
        says: what is known of it.
        holds: for what was proved or recomputed, whether it is as the file states; None where that is not the question.
        sources: where it is stated.
        file: a file in the folder of the report that shows it.
    """

    level: str
    what: str
    mark: str
    says: str
    holds: bool | None = None
    sources: tuple[str, ...] = ()
    file: str | None = None

    @property
    def data(self) -> JsonData:
        return {**attrs.asdict(self), "sources": list(self.sources)}


@attrs.frozen(kw_only=True)
class Evidence:
    """All lines about one file, and the files that show them.

    Args:
        document: the file.
        standing: the status of its claim.
        lines: from the top of the pyramid to its ground.
        files: names and texts, the report not among them.
        versions: distributions and their versions.
    """

    document: SpecDocument
    standing: Standing
    lines: tuple[EvidenceLine, ...]
    files: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]


def gather(document: SpecDocument, registry: Registry, progress: Progress | None = None) -> Evidence:
    """Verify a file and collect the evidence that a reviewer requires."""
    report = verify_document(document, registry=registry, progress=progress)
    shown = dict(_witnesses(report, registry))
    name = f"{document.id}.dpspec.toml"
    verdicts = file_report_data(name, report)
    files = {f"witnesses/{path}": text for path, text in shown.values()}
    accuracy = margins(document)
    if accuracy is not None and accuracy["tables"]:
        files[ACCURACY] = json.dumps({key: accuracy[key] for key in NUMBERS}, indent=2) + "\n"
    files["verify.json"] = json_text("verify", report.word.exit_code, {"files": [verdicts]}) + "\n"
    if document.text is not None:
        files[name] = document.text
    rows = [
        *_budget(document), *_definition(document), *_correctness(report, verdicts, shown),
        *_composition(document), *_utility(document), *_trust(document), *_hazards(document, registry), *_collection(document),
    ]  # fmt: skip
    return Evidence(
        document=document,
        standing=report.standing,
        lines=tuple(rows),
        files=tuple(sorted(files.items())),
        versions=tuple(versions_of(document, registry)),
    )


# --- how a block is known -------------------------------------------------------------------------


def _stated_by(document: SpecDocument, ids: tuple[str, ...] = ()) -> str:
    """The mark of what sources state: the publisher, if one of those named is its own; where none is named, if all are."""
    made = document.deployment
    names = set() if made is None else {name.casefold() for name in made.publisher}
    own = [
        bool(names & {name.casefold() for name in (*source.publisher, *source.author)})
        for source in document.sources
        if not ids or source.id in ids
    ]
    return STATED if (any(own) if ids else own and all(own)) else OTHERS


def _block(document: SpecDocument, block: str, level: str, what: str, says: str) -> EvidenceLine:
    """A line about a block, marked by its provenance."""
    origin = next((one for one in document.provenance if one.block == block), None)
    if origin is None:
        words = f"{says} (source not stated)"
        return EvidenceLine(level=level, what=what, mark=OTHERS, says=words)
    because = "" if origin.because is None else f": {origin.because}"
    if origin.how == "stated":
        mark, words = _stated_by(document, origin.source), says
    else:
        mark, words = NOT_STATED, f"{origin.how} by the file: {says}{because}"
    return EvidenceLine(level=level, what=what, mark=mark, says=words, sources=origin.source)


def _fact(document: SpecDocument, level: str, what: str, value: str | None, missing: str) -> EvidenceLine:
    """A line about a fact of the deployment."""
    if value is None:
        return EvidenceLine(level=level, what=what, mark=NOT_STATED, says=missing)
    return EvidenceLine(level=level, what=what, mark=_stated_by(document), says=value)


# --- the levels -----------------------------------------------------------------------------------


def _budget(document: SpecDocument) -> Iterator[EvidenceLine]:
    spec, unpublished = document.spec, document.spec.budget.unpublished()
    if unpublished is not None:
        yield EvidenceLine(level="budget", what="budget", mark=NOT_STATED, says=unpublished)
    else:
        yield _block(document, "budget", "budget", "budget", "; ".join(blocks_in_words(spec)["budget"]))
    says = f"{unit_of(document) or 'no unit'}; one change: {one_of(thing_in_words(spec.input_divergence), document)}"
    yield _block(document, "input_divergence", "budget", "unit and change", says)
    for part in document.parts:
        says = one_of(part_in_words(part.spec, spec), document)
        yield _block(document, "budget", "budget", f"part: {part}", says)
    for one in document.expectations:
        state = number_state(one, spec)
        value = one.value(spec)
        printed = f"{one.parameter} = {one.printed.decimal(8)} printed, {value.lower.decimal(6)} by {one.route.name}"
        values = {
            "recomputed": "comes out",
            "failed": "does not come out",
            "open": "cannot be derived from the number",
            "misprint": "does not come out, as the file says; the right one does",
        }[state]
        held = {"recomputed": True, "failed": False, "misprint": False, "open": None}[state]
        yield EvidenceLine(
            level="budget", what=one.what, mark=RECOMPUTED, says=f"{printed}: {values} ({one.because})", holds=held
        )


def _definition(document: SpecDocument) -> Iterator[EvidenceLine]:
    """The measure of protection, the data, and the facts that are published exactly."""
    spec = document.spec
    yield _block(document, "output_divergence", "definition", "measure of protection", thing_in_words(spec.output_divergence))
    yield _block(document, "space", "definition", "data", "; ".join(blocks_in_words(spec)["dataset space"]))
    held = spec.multiverse.induced_by()
    says = "; ".join(map(str, held or ())) or thing_in_words(spec.multiverse)
    if held == ():
        says = "none: the promise is about all datasets"
    yield _block(document, "multiverse", "exact", "facts published without noise", says)


def _correctness(report: FileReport, verdicts: JsonData, shown: dict[str, tuple[str, str]]) -> Iterator[EvidenceLine]:
    document = report.document
    mechanism = document.mechanism or document.secret
    if mechanism is not None:
        yield _block(document, "mechanism", "correctness", "mechanism", thing_in_words(mechanism))
    else:
        yield EvidenceLine(level="correctness", what="mechanism", mark=NOT_STATED, says="the file names none")
    note = _about_a_stand_in(document)
    if document.unaccounted:
        outside = count(len(document.unaccounted), "step")
        lie = "lies" if len(document.unaccounted) == 1 else "lie"
        note += f"; of the mechanism alone: {outside} of the release, under implementation hazards, {lie} outside of it"
    rows = {row["name"]: row for row in verdicts["obligations"]}
    for one in report.obligations:
        if one.name.startswith(("number: ", "unaccounted: ")):
            continue
        path = shown[one.name][0] if one.name in shown else None
        yield _judged(one, note, None if path is None else f"witnesses/{path}", document)
        if one.verdict is not None and one.verdict.proof:
            steps = check_proof(rows[one.name])
            again, wrong = (sum(step.status == status for step in steps) for status in ("rechecked", "wrong"))
            says = f"{again} of {len(steps)} steps rechecked by a checker that shares no code with what found the proof"
            says += f"; {count(wrong, 'step')} found wrong" if wrong else ""
            yield EvidenceLine(
                level="correctness", what=f"{one.name}: proof", mark=RECOMPUTED if again or wrong else OTHERS, says=says,
                holds=False if wrong else True if again == len(steps) else None, file="verify.json",
            )  # fmt: skip
    verdicts_found = (one.verdict for one in report.obligations)
    for text in dict.fromkeys(text for verdict in verdicts_found if verdict is not None for text in verdict.assumptions):
        yield EvidenceLine(level="correctness", what="what the verdicts assume", mark=NOT_STATED, says=f"not shown: {text}")


def _about_a_stand_in(document: SpecDocument) -> str:
    """The verified blocks that are assumptions of the file; empty for none."""
    ours = document.stand_ins
    return f"; this is about a stand-in: the {' and the '.join(ours)} {'are' if len(ours) > 1 else 'is'} assumed" if ours else ""


def _judged(one: Obligation, note: str, witness: str | None, document: SpecDocument) -> EvidenceLine:
    """A claim and what the engine found of it; what was not decided is only stated."""
    must_fail = one.name.startswith("counterexample: ")
    verdict = one.verdict
    if verdict is None or verdict.outcome is Outcome.UNDECIDED:
        mark = NOT_STATED if document.spec.budget.unpublished() is not None else _stated_by(document)
        return EvidenceLine(level="correctness", what=one.name, mark=mark, says=f"nothing is shown: {one.detail}")
    holds = (verdict.outcome is Outcome.VERIFIED) is not must_fail
    whole = one.miniature is None or verdict.outcome is Outcome.REFUTED or verdict.method == METHOD
    if verdict.method == "sampled":
        whole = False
    where = "" if whole else " (there only: of the whole space nothing is shown)"
    says = f"{one.detail}{where}{'' if must_fail else note}"
    mark = PROVED if whole else RECOMPUTED
    if one.exchanged or (one.word in (Word.UNDECIDED, Word.UNCHECKED)):
        return EvidenceLine(level="correctness", what=one.name, mark=RECOMPUTED, says=f"{one.detail}{note}", file=witness)
    return EvidenceLine(level="correctness", what=one.name, mark=mark, says=says, holds=holds, file=witness)


def _composition(document: SpecDocument) -> Iterator[EvidenceLine]:
    made, spec = document.deployment, document.spec
    if document.ledger is not None:
        amounts = " + ".join(f"{part.amount.plain()} ({part.id})" for part in document.ledger.parts)
        says = f"{document.ledger.parameter}: {amounts} is the budget, exactly"
        yield EvidenceLine(level="composition", what="parts of the budget", mark=RECOMPUTED, says=says, holds=True)
    else:
        yield EvidenceLine(level="composition", what="parts of the budget", mark=NOT_STATED, says="the file has no ledger")
    release = None if made is None else made.release
    yield _fact(document, "composition", "releases", release, "whether the same data are released again")
    period = None if made is None or made.period is None else f"the budget is renewed after each {made.period}"
    yield _fact(document, "composition", "renewal", period, "whether the budget renews")
    own = unit_of(document)
    for unit in () if own is None else longer_units(own):
        found = promise_for(spec, unit, called=own)
        if found.budget is not None:
            says = f"{budget_in_words(found.budget)} ({found.reason})"
            yield EvidenceLine(level="composition", what=f"for one {unit}", mark=RECOMPUTED, says=says)


MOST_TABLES = 12
"""Tables whose error has a line of its own; accuracy.json has all."""


def _utility(document: SpecDocument) -> Iterator[EvidenceLine]:
    """The use of the release, and the error of what is published, from the law of the mechanism."""
    made = document.deployment
    yield _fact(document, "utility", "use", None if made is None else made.use, "what the release is for")
    found = margins(document)
    if found is None:
        why = "no mechanism is named, or no package that knows its law is installed"
        yield EvidenceLine(level="utility", what="error of what is published", mark=NOT_STATED, says=why)
        return
    note = _about_a_stand_in(document)
    for table, law, numbers, deviation, margin in found["rows"][:MOST_TABLES]:
        each = f"each of {numbers} numbers" if numbers else "each number"
        says = f"standard deviation {deviation or 'unknown'}, 95 % margin {margin} for {each} ({law}){note}"
        yield EvidenceLine(level="utility", what=f"error: {table}", mark=RECOMPUTED, says=says, file=ACCURACY)
    for sentence in found["notes"]:
        says = f"{sentence.removesuffix('.')}{note}"
        yield EvidenceLine(level="utility", what="error of all", mark=RECOMPUTED, says=says, file=ACCURACY)
    for one in found["unknown"]:
        yield EvidenceLine(level="utility", what=f"error: {one['table']}", mark=NOT_STATED, says=f"unknown: {one['reason']}")


def _trust(document: SpecDocument) -> Iterator[EvidenceLine]:
    made = document.deployment
    yield _fact(document, "trust", "model", None if made is None else made.trust, "who sees the data as they are")
    yield _fact(document, "trust", "access", None if made is None else made.access, "whether analysts ask, or all is published")
    for part in document.parts:
        if part.view is not None:
            says = one_of(f"as the {part.view} sees it: {part_in_words(part.spec, document.spec)}", document)
            yield _block(document, "budget", "trust", f"view: {part.title}", says)


def _hazards(document: SpecDocument, registry: Registry) -> Iterator[EvidenceLine]:
    for step in document.unaccounted:
        mark = _stated_by(document, step.source) if step.source else OTHERS
        says = f"outside of the guarantee: {step.effect}"
        yield EvidenceLine(level="hazards", what=step.step, mark=mark, says=says, sources=step.source)
    if not document.unaccounted:
        yield EvidenceLine(level="hazards", what="steps outside of the guarantee", mark=NOT_STATED, says="the file names none")
    if document.secret is not None:
        yield EvidenceLine(level="hazards", what="secret parameters", mark=_stated_by(document), says=str(document.secret))
    says = "how random numbers are drawn, arithmetic of floats, timing: the publisher's program was not checked"
    yield EvidenceLine(level="hazards", what="program", mark=NOT_STATED, says=says)
    for found in linter.lint([document.path], registry) if document.path is not None else ():
        explained = "" if found.explained is None else f" (explained: {found.explained})"
        yield EvidenceLine(level="hazards", what=f"linter: {found.code}", mark=RECOMPUTED, says=f"{found.message}{explained}")


def _collection(document: SpecDocument) -> Iterator[EvidenceLine]:
    made = document.deployment
    yield _fact(document, "collection", "region", None if made is None else made.region, "who or what it describes")
    yield _fact(document, "collection", "data", None if made is None else made.data, "whether the data change")
    for key, text in () if made is None else made.prose:
        yield EvidenceLine(level="collection", what=key, mark=_stated_by(document), says=text)
    says = "how the data were collected, cleaned, kept and who can reach them"
    yield EvidenceLine(level="collection", what="collection and security", mark=NOT_STATED, says=says)


# --- the files of the report ----------------------------------------------------------------------


def _witnesses(report: FileReport, registry: Registry) -> Iterator[tuple[str, tuple[str, str]]]:
    """For each refuted claim the name and the text of a witness file, which `dpspec verify --replay` reads."""
    for one in report.obligations:
        witness = None if one.verdict is None else one.verdict.witness
        if witness is None or one.spec is None:
            continue
        judged = SpecDocument(
            id=report.document.id, title=report.document.title, spec=one.spec, mechanism=cast("Any", one.subject)
        )
        try:
            text = witness_file(witness, judged, registry)
        except DpspecError:  # a block without a form in a file: the verdict holds the witness in words
            continue
        name = re.sub(r"[^a-z0-9]+", "-", one.name.lower()).strip("-")[:60]
        yield one.name, (f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.json", text)


def versions_of(document: SpecDocument, registry: Registry) -> Iterator[tuple[str, str]]:
    """dpspec and the distributions of the mechanism and the blocks, with their versions."""
    mechanism = {} if document.mechanism is None else {"mechanism": document.mechanism}
    blocks = {**mechanism, **blocks_of(document.spec)}
    found = {origin.distribution: origin.version for _, _, origin in origins(blocks, registry)}
    yield from sorted({"dpspec": version("dpspec"), **found}.items())


# --- the report -----------------------------------------------------------------------------------


def evidence_data(found: Evidence) -> JsonData:
    """The report as data, with the SHA-256 of every file in its folder."""
    return {
        "id": found.document.id,
        "title": found.document.title,
        "sha256_of_file": found.document.sha256,
        "standing": standing_data(found.standing),
        "marks": {mark: sum(line.mark == mark for line in found.lines) for mark in MARKS},
        "lines": [line.data for line in found.lines],
        "sources": [{"id": source.id, "text": str(source), "licence": source.licence} for source in found.document.sources],
        "versions": dict(found.versions),
        "files": {name: _digest(text) for name, text in found.files},
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def evidence_page(data: JsonData) -> str:
    """The report as Markdown."""
    marks = ", ".join(f"{n} {mark}" for mark, n in data["marks"].items())
    lines = [
        f"# Evidence: {_plain(data['title'])}", "",
        f"File `{data['id']}`, SHA-256 `{data['sha256_of_file']}`. Lines: {marks}.", "",
        f"Claim status: {_plain(data['standing']['sentence'])}.", "",
        "The levels are those of the pyramid of NIST SP 800-226, from its top to its ground.",
    ]  # fmt: skip
    for level, heading in LEVELS_OF_EVIDENCE.items():
        lines += ["", f"## {heading}", "", "| what | known | |", "|---|---|---|"]
        for row in (row for row in data["lines"] if row["level"] == level):
            known = {True: "", False: ", and false", None: ""}[row["holds"]] if row["mark"] == PROVED else ""
            known = ", and not as stated" if row["holds"] is False and row["mark"] == RECOMPUTED else known
            beside = f" ([{row['file']}]({row['file']}))" if row["file"] else ""
            where = f" [{', '.join(row['sources'])}]" if row["sources"] else ""
            lines.append(f"| {_plain(row['what'])} | {row['mark']}{known} | {_plain(row['says'] + where)}{beside} |")
    sources = [f"- {_plain(one['id'] or '')}: {_plain(one['text'])}" for one in data["sources"]]
    lines += ["", "## Sources", "", *(sources or ["None."])]
    lines += ["", "## Versions and hashes", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {number} |" for name, number in data["versions"].items()]
    lines += [f"| `{name}` | `{digest}` |" for name, digest in data["files"].items()]
    again = [
        f"dpspec verify {data['id']}.dpspec.toml",
        *(f"dpspec verify --replay {name}" for name in data["files"] if name.startswith("witnesses/")),
        *(["dpspec check-proof verify.json"] if any(row["what"].endswith(": proof") for row in data["lines"]) else []),
    ]
    return "\n".join([*lines, "", "Again, in this folder:", "", *(f"    {line}" for line in again), ""])


def _plain(text: str) -> str:
    """A text that is nothing but text in a table of Markdown."""
    once = " ".join(harmless(text, keep="").split())
    for sign in "\\`*_[]<>|":
        once = once.replace(sign, f"\\{sign}")
    return once


def write_evidence(found: Evidence, directory: Path) -> JsonData:
    """Write the report and what it points at; the folder appears with all of it or not at all.

    Raises:
        ReleaseError: it exists already, or cannot be written.
    """
    data = evidence_data(found)
    texts = {**dict(found.files), "evidence.json": json_text("evidence", 0, {"evidence": data}) + "\n"}
    texts["README.md"] = evidence_page(data)
    texts["SHA256SUMS"] = "".join(f"{_digest(text)}  {name}\n" for name, text in sorted(texts.items()))
    write_folder(directory, texts)
    return data
