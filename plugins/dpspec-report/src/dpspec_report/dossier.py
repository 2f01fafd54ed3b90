"""A report to share: some specifications, the results on each, their comparison, their total, and the assumptions.

`gather` verifies and compares; `report_page` and `site_pages` put it into words. A file that cannot be read or verified keeps its
place, with its error. Nothing in a page depends on the hour or the machine: the same files give the same bytes.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from dpspec import Comparison, DpspecError, Outcome, SpecDocument, Verdict, installed
from dpspec.plugin import Dataset, DatasetSpace, ParameterError, Record, specfile
from dpspec.plugin.applications import (
    KEEPING,
    REPORT,
    Answer,
    Bullets,
    CaptionedFigure,
    Composition,
    FileReport,
    Grid,
    Heading,
    LibraryError,
    Mood,
    Obligation,
    Order,
    Page,
    Piece,
    Progress,
    RefutedPartError,
    Registry,
    Sentence,
    Standing,
    UnreadableFileError,
    Witness,
    Word,
    add_up,
    at_most_in_words,
    audience_data,
    blocks_figure,
    blocks_in_words,
    bracket_in_words,
    budget_in_short,
    budget_in_words,
    claim_status,
    count,
    counted,
    document_at,
    each,
    file_numbers,
    headline,
    in_order,
    jobs_for,
    margins,
    number_in_words,
    numbers_cells,
    numbers_note,
    numbers_title,
    order,
    order_figure,
    order_mark,
    pair_in_words,
    part_in_words,
    probability_in_words,
    promise,
    read_bytes,
    thing_in_words,
    verdict_lines,
    verify_document,
    worst_code,
    worst_word,
)
from dpspec_report.curves import risk_figures

Compare = Callable[[Any, Any], Comparison]

MOST_ORDERED, MOST_COMPARED, MOST_TOGETHER, MOST_RECORDS = 16, 4, 6, 40
"""So many specifications are ordered, compared in detail, and plotted in one figure; so many records of a witness are listed."""
BLOCKS_ASK = {
    "dataset space": "Which datasets are meant?",
    "multiverse": "Which facts are published exactly, so that only datasets that agree in them are compared?",
    "input divergence": "What counts as one change?",
    "output divergence": "How are two releases held against each other?",
    "budget": "How much may one change show?",
}
_WORDS = {Answer.IMPLIES: "yes", Answer.SEPARATED: "no", Answer.UNKNOWN: "not known"}
_LONGEST = 120


@attrs.frozen(kw_only=True)
class FiledReport:
    """One file of a report.

    Args:
        path: the file.
        hash: SHA-256 of its bytes; empty where it cannot be read.
        document, found: what it says, and what was found; None where that failed.
        fault: why.
        at: the file with the budget of the universe of one table, where one was named and budgets differ by universe.
        pieces: what a page says of it, below its heading.
    """

    path: str
    hash: str
    document: SpecDocument | None = None
    found: FileReport | None = None
    fault: DpspecError | None = None
    at: SpecDocument | None = None
    pieces: tuple[Piece, ...] = attrs.field(default=(), repr=False)

    @property
    def word(self) -> Word:
        """How it ended, in the words of `dpspec verify`."""
        if self.fault is not None:
            code = worst_code(single.exit_code for single in each(self.fault))
            return {4: Word.PLUGIN, 3: Word.UNDECIDED}.get(code, Word.INVALID)
        return Word.UNCHECKED if self.found is None else self.found.word

    @property
    def outcome(self) -> str:
        """The same for a reader; a file can hold by its published numbers alone, and then says that its claim was not checked."""
        if self.found is None:
            return self.word.label
        claim = self.found.standing
        if not claim.word.is_good and claim.word is not self.word:
            return f"{self.word.label}; its claim: {claim.label}"
        return self.word.label + (claim.suffix if self.word.is_good or claim.word is self.word else "")

    @property
    def released(self) -> Path | None:
        """The folder of the release whose report the file is; None of a specification file."""
        return Path(self.path).parent if Path(self.path).name == REPORT else None

    @property
    def name(self) -> str:
        """Its id, or the name of the file."""
        return Path(self.path).name if self.document is None else self.document.id


@attrs.frozen(kw_only=True)
class Dossier:
    """The content of a report.

    Args:
        files: the files, in order.
        order: who implies whom, where they are few enough.
        total: what they promise together, where that is known.
        notes: what was left out, and why.
    """

    files: tuple[FiledReport, ...]
    order: Order | None
    total: Composition | None
    notes: tuple[str, ...]

    @property
    def documents(self) -> tuple[SpecDocument, ...]:
        """The specifications that could be read."""
        return tuple(one.document for one in self.files if one.document is not None)

    @property
    def exit_code(self) -> int:
        """That of the worst file."""
        return worst_code(one.word.exit_code for one in self.files)


# --- gathering ------------------------------------------------------------------------------------


def gather(
    paths: Sequence[str | Path], registry: Registry, compare: Compare, *, progress: Progress | None = None,
    universe_of: Any = None, jobs: int | None = 1,
) -> Dossier:  # fmt: skip
    """Read, judge, describe, compare and add up.

    Args:
        paths: files, or folders, which mean their specification files.
        registry: where names are looked up.
        compare: what compares two specifications.
        progress: called with (files done, files in all).
        universe_of: a table, for the numbers of files whose budgets differ by universe.
        jobs: so many processes, of which each has a registry of its own, of all that is installed; None for one for each
            processor where there are many files.

    Raises:
        ParameterError: for no path at all, or for a table that no file needs.
        TableError: the table does not fit the space of a file that needs it.
    """
    if not paths:
        raise ParameterError("files", "are none", "give specification files, or a folder with some")
    listed: dict[str, DpspecError | None] = {}
    for path in paths:
        try:
            listed |= {str(file): None for file in specfile.spec_files(path) if str(file) not in listed}
        except DpspecError as problem:
            listed.setdefault(str(path), problem)
    at_once = jobs_for(jobs, len(listed))
    work = partial(_described, registry=registry if at_once == 1 else None, universe_of=universe_of)
    files = []
    for one in in_order(work, list(listed.items()), at_once, _ended):
        files.append(one)
        if progress is not None:
            progress(len(files), len(listed))
    if universe_of is not None and all(one.at is None for one in files):
        rule = "is needed by no file: no budget differs by universe"
        raise ParameterError("universe-of", rule, "leave it out, or give the file whose budget differs")
    readable = [one.document for one in files if one.document is not None]
    notes: list[str] = []
    unchecked = Standing(word=Word.UNCHECKED, reason="the claim could not be checked")
    standings = [unchecked if one.found is None else one.found.standing for one in files if one.document is not None]
    return Dossier(
        files=tuple(files), order=_ordered(readable, standings, compare, notes), total=_total(readable, registry, notes),
        notes=tuple(notes),
    )  # fmt: skip


def _described(given: tuple[str, DpspecError | None], registry: Registry | None, universe_of: Any) -> FiledReport:
    """One file, with what a page says of it; without a registry by that of this process."""
    known = registry or installed().registry
    found = _filed(*given, known)
    if universe_of is not None and found.document is not None and found.document.spec.budget.uniform() is None:
        found = attrs.evolve(found, at=document_at(found.document, universe_of, known))
    return attrs.evolve(found, pieces=tuple(file_pieces(found)))


def _ended(given: tuple[str, DpspecError | None]) -> FiledReport:
    """A file that ended the process which worked on it."""
    rule, advice = "ended the process that checked this file", "verify it alone, or free memory"
    found = _filed(given[0], given[1] or LibraryError("library", rule, advice), installed().registry)
    return attrs.evolve(found, pieces=tuple(file_pieces(found)))


def _filed(file: str, fault: DpspecError | None, registry: Registry) -> FiledReport:
    try:
        digest = hashlib.sha256(read_bytes(Path(file))).hexdigest()
    except (DpspecError, IsADirectoryError):
        digest = ""
    if fault is not None:
        return FiledReport(path=file, hash=digest, fault=fault)
    document = None
    try:
        document = specfile.read(Path(file), registry)
        digest = document.sha256 or digest  # of a release, that of the specification
        return FiledReport(path=file, hash=digest, document=document, found=verify_document(document, registry=registry))
    except DpspecError as problem:
        return FiledReport(path=file, hash=digest, document=document, fault=problem)
    except OSError as problem:
        broken = UnreadableFileError("file", f"cannot be read ({problem.strerror})", "check the path", value=file)
        return FiledReport(path=file, hash=digest, fault=broken)


def _ordered(
    documents: Sequence[SpecDocument], standings: Sequence[Standing], compare: Compare, notes: list[str]
) -> Order | None:
    if len(documents) < 2:
        return None
    if len(documents) > MOST_ORDERED:
        notes.append(f"Of more than {MOST_ORDERED} specifications the order is left out; dpspec compare gives it.")
        return None
    names = [one.id for one in documents]
    if len(set(names)) < len(names):
        twice = ", ".join(name for name, times in Counter(names).items() if times > 1)
        notes.append(f"Not compared: {twice} is the id of more than one file.")
        return None
    try:
        return attrs.evolve(order([(one.id, one) for one in documents], compare), standings=tuple(standings))
    except DpspecError as fault:
        notes.append(f"Not compared: {fault}")
        return None


def _total(documents: Sequence[SpecDocument], registry: Registry, notes: list[str]) -> Composition | None:
    if len(documents) < 2:
        return None
    if len(documents) > MOST_ORDERED:
        notes.append(f"More than {MOST_ORDERED} specifications are not added up here; dpspec ledger does it.")
        return None
    try:
        return add_up(documents, registry)
    except DpspecError as fault:
        notes.append(f"Not added up: {_why_not_added(fault)}")
        return None


def _why_not_added(fault: DpspecError) -> str:
    """Why there is no total; of many promises that are not kept, which ones, and what to do about all of them."""
    faults = list(each(fault))
    broken = [single.subject.removeprefix("part ") for single in faults if isinstance(single, RefutedPartError)]
    if len(broken) < 2:
        return without_datasets("; ".join(map(str, faults)))
    others = [f"; {without_datasets(str(single))}" for single in faults if not isinstance(single, RefutedPartError)]
    named = f"{', '.join(broken[:-1])} and {broken[-1]}"
    return f"{named} do not keep what they promise; dpspec ledger --as-promised adds up what was promised{''.join(others)}."


# --- one file -------------------------------------------------------------------------------------


def mood_of(word: Word) -> Mood:
    """Green only for what was checked and is true."""
    if word.is_good:
        return "good"
    return "bad" if word.exit_code in (1, 2, 4) else "open"


def _shortened(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def file_pieces(one: FiledReport) -> Iterator[Piece]:
    """The section of one file, below its heading."""
    if one.fault is not None:
        yield Sentence(mark=one.word.label, mood=mood_of(one.word), words=f"{one.path} could not be checked:")
        yield Bullets(items=tuple(str(single) for single in each(one.fault)))
    if one.document is None:
        return
    yield Sentence(words=one.document.title)
    if one.found is not None:
        standing = one.found.standing
        mark, detail = standing.words, without_datasets(standing.detail)
        yield Sentence(
            mark=f"{mark[0].upper()}{mark[1:]}:", mood=mood_of(standing.word), words=f"{detail}. Scope: {one.found.scope}."
        )
    yield Heading(words="In plain words", level=3)
    try:
        paragraphs = [promise(one.document)]
        if one.found is not None:
            said = audience_data(one.at or one.document, "public", one.found.standing, of_table=one.at is not None)
            paragraphs = said["paragraphs"]
    except DpspecError as fault:
        paragraphs = [promise(one.document), f"What an attacker can find out is not one number here: {fault}"]
    for words in paragraphs:
        yield Sentence(words=words)
    yield from _blocks(one.document)
    if one.found is not None:
        yield from _checked(one.found)
    yield from _risk(one)
    yield from _accuracy(one.document, one.released)
    steps = [f"outside of the promise: {step}" for step in one.document.unaccounted]
    # Assumptions of a verdict are listed with the verdict.
    ours = ("inferred",) if one.found is not None else ("inferred", "assumed")
    inferred = [str(origin) for origin in one.document.provenance if origin.how in ours]
    if steps or inferred:
        yield Heading(words="What the promise does not cover, and what is not stated", level=3)
        yield Bullets(items=(*steps, *inferred))
    yield Heading(words="File and sources", level=3)
    named = [f"{label}: {words}" for label, words in one.document.source]
    items = (f"file {one.path}", f"SHA-256 {one.hash}", *named, *(str(source) for source in one.document.sources))
    yield Bullets(items=items)


def without_datasets(text: str) -> str:
    """A sentence without the two datasets of a witness, which are in a separate table.

    >>> without_datasets("the claim is refuted: x = ((1,),), x' = (): d_Pr = 2 > 1 x 1 at d_X = 1")
    'the claim is refuted: d_Pr = 2 > 1 x 1 at d_X = 1'
    """
    return re.sub(r"x = .*?, x' = .*?: (?=d_Pr)", "", text, flags=re.DOTALL)


def _blocks(document: SpecDocument) -> Iterator[Piece]:
    yield Heading(words="The five blocks", level=3)
    rows = []
    for block, lines in blocks_in_words(document.spec).items():  # lines with a dash in front are the items of a list
        listed = [line.removeprefix("- ") for line in lines if line.startswith("- ")]
        joined = "; ".join([*(line for line in lines if not line.startswith("- ")), *listed]).replace(":;", ":", 1)
        rows.append((block, BLOCKS_ASK[block], joined))
    run = document.mechanism or document.secret
    rows += [("mechanism", "What is said to keep the promise?", "none is named" if run is None else thing_in_words(run))]
    parts = [f"{part}: {part_in_words(part.spec, document.spec)}" for part in document.parts]
    rows += [("besides", "What is promised, too?", part) for part in parts]
    yield Grid(caption=f"The blocks of {document.id}", heads=("block", "asks", "here"), rows=tuple(rows))
    yield Sentence(mark="Together:", words=promise(document))


def _checked(found: FileReport) -> Iterator[Piece]:
    yield Heading(words="What was checked", level=3)
    rows = tuple((one.name, one.word.label, "" if one.verdict is not None else one.detail) for one in found.obligations)
    heads = ("statement", "verdict", "detail") if any(row[-1] for row in rows) else ("statement", "verdict")
    yield Grid(
        caption="Each claim and printed number, and what was found", heads=heads, rows=tuple(row[: len(heads)] for row in rows),
        moods=tuple("bad" if mood_of(one.word) == "bad" else "" for one in found.obligations),
    )  # fmt: skip
    for one in found.obligations:
        if one.verdict is not None:
            yield from _verdict(one, found.document)
    assumed = dict.fromkeys(text for one in found.obligations if one.verdict is not None for text in one.verdict.assumptions)
    assumed |= dict.fromkeys(str(one) for one in found.document.assumed)
    if assumed:
        yield Heading(words="What that rests on", level=4)
        yield Bullets(items=tuple(assumed))


def _verdict(one: Obligation, document: SpecDocument) -> Iterator[Piece]:
    assert one.verdict is not None  # noqa: S101 - ensured by the caller
    spec = one.spec or document.spec
    yield Heading(words=f"The verdict on the {one.name}", level=4)
    lines = [(label, text) for label, text in verdict_lines(attrs.evolve(one.verdict, witness=None), spec)]
    outcome = one.verdict.outcome.value
    if one.recorded is not None and one.recorded is not one.verdict.outcome:
        outcome += f", but the file records {one.recorded.value}"
    elif one.recorded not in (None, Outcome.VERIFIED):
        outcome += ", as the file records"
    first = [("verdict", outcome)]
    yield Grid(caption="How it was reached", heads=("part", "finding"), rows=(*first, *lines))
    if one.verdict.witness is not None:
        yield from _witness(one.verdict.witness, spec.space)
    elif one.word.exit_code == 1 and one.verdict.outcome is Outcome.REFUTED:
        yield Sentence(words="No pair of datasets is at hand that shows it.")
    if one.replay:
        yield Sentence(mark="Again:", words=one.replay)


# --- witnesses ------------------------------------------------------------------------------------


def _witness(witness: Witness, space: DatasetSpace) -> Iterator[Piece]:
    yield Heading(words="The witness: two datasets that show it", level=4)
    tables = list(_record_tables(witness.left, witness.right, space))
    yield from tables
    if not tables:
        left, right = pair_in_words(witness.left, witness.right, space)
        yield Grid(caption="The two datasets", heads=("dataset", "records"), rows=(("x", left), ("x'", right)))
    rows = [
        ("distance d_X", number_in_words(witness.distance)), ("d_Pr of the two laws", bracket_in_words(witness.divergence)),
        ("allowed", witness.allowed),
    ]  # fmt: skip
    if witness.event is not None:
        event = witness.event
        rows += [("event", f"{_shortened(event.text, 400)} ({event.role})"),
                 ("its probability at x", probability_in_words(event.left)),
                 ("its probability at x'", probability_in_words(event.right))]  # fmt: skip
    rows += [("note", witness.note)] if witness.note else []
    yield Grid(caption="What the two show", heads=("number", "value"), rows=tuple(rows))


def _record_tables(left: Dataset, right: Dataset, space: DatasetSpace) -> Iterator[Grid]:
    """The records of both datasets for each unit; the changed ones come first, and are marked."""
    for unit in space.units:
        try:
            ours, theirs = space.records(left, unit), space.records(right, unit)
            names = tuple(attribute.name for attribute in space.attributes_of(unit))
        except DpspecError:
            continue
        if not ours and not theirs:
            continue
        if space.is_ordered and len(ours) == len(theirs):
            by_place = [
                (str(place), _value(x), _value(y), "changed" if x != y else "")
                for place, (x, y) in enumerate(zip(ours, theirs, strict=True), 1)
            ]
            yield _marked(f"Each {unit}, by place", (unit, "in x", "in x'", "change"), by_place)
        else:
            yield _by_count(unit, names, ours, theirs)


def _by_count(unit: str, names: tuple[str, ...], ours: Sequence[Record], theirs: Sequence[Record]) -> Grid:
    one, other = Counter(ours), Counter(theirs)
    rows = []
    for record in dict.fromkeys([*ours, *theirs]):
        values = tuple(map(str, record)) if isinstance(record, tuple) and len(record) == len(names) else (_value(record),)
        here, there = one[record], other[record]
        change = "" if here == there else f"{there - here:+d}"
        rows.append((*(values or (unit,)), str(here), str(there), change))
    heads = names if rows and len(rows[0]) == len(names) + 3 and names else (unit,)
    return _marked(f"Records of the unit {unit}, and how many of each there are", (*heads, "in x", "in x'", "change"), rows)


def _value(record: object) -> str:
    return ", ".join(map(str, record)) if isinstance(record, tuple) else str(record)


def _marked(caption: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Grid:
    ranked = sorted(rows, key=lambda row: not row[-1])
    shown = ranked[:MOST_RECORDS]
    left_out = len(ranked) - len(shown)
    words = f"{caption}; the changed ones are marked" + (f"; {left_out:,} more are left out" if left_out else "")
    return Grid(caption=words, heads=heads, rows=tuple(shown), moods=tuple("bad" if row[-1] else "" for row in shown))


# --- risk, and what is not covered ----------------------------------------------------------------


_CAPTIONS = {
    "power": "How often the best test of one dataset against a neighbour succeeds, at four levels. The open bar is what the "
    "promise allows to any mechanism, the full bar what was found of the one in the file. The numbers stand in the table.",
    "posterior": "What an attacker believes after the best test at level 5 % has accused one of two datasets, for each belief "
    "before. On the diagonal nothing is learned.",
    "trade-off": "The two errors that a test of one dataset against a neighbour must make. The band is what a promise allows; "
    "the nearer a curve is to the upper edge, the less can be found out.",
}


def _with_verdict(one: FiledReport) -> tuple[SpecDocument, Verdict | None]:
    """The specification, and the verdict on its claim where that is about the whole space."""
    assert one.document is not None  # noqa: S101 - the callers ask
    claims = [] if one.found is None else [held.verdict for held in one.found.obligations if held.name == "claim"]
    return one.document, next(iter(claims), None)


def _risk(one: FiledReport) -> Iterator[Piece]:
    yield Heading(words="What an attacker can find out", level=3)
    try:
        found = risk_figures([_with_verdict(one)], ("power", "posterior"))
    except DpspecError as fault:
        yield Sentence(words=f"That is not known: {fault}")
        return
    for panel, figure in found.figures.items():
        yield CaptionedFigure(figure=figure, caption=_CAPTIONS[panel])
    yield from _numbers(one)
    for note in found.notes:
        yield Sentence(words=f"{note}.")


def _numbers(one: FiledReport) -> Iterator[Piece]:
    """The numbers that `dpspec risk` computes of the same file."""
    document, found = one.document, one.found
    if document is None or found is None:
        return
    at = None if one.at is None else one.at.spec
    numbers = file_numbers(document, found.standing, installed().registry, at)
    rows = tuple(numbers_cells(numbers, at or document.spec, with_own=at is None and document.mechanism is not None))
    if rows:
        heads = ("number", KEEPING, "this mechanism")[: len(rows[0])]
        yield Grid(caption=numbers_title(document.spec), heads=heads, rows=rows)
        note = numbers_note(numbers)
        yield from [Sentence(words=note)] if note else []
    for side, reason in numbers.unknown:
        yield Sentence(words=f"Unknown, {side}: {reason}.")


def _accuracy(document: SpecDocument, released: Path | None) -> Iterator[Piece]:
    """How far what is published is from the true numbers: what `dpspec accuracy` computes of the same file and release."""
    found = margins(document, released)
    if found is None:
        return
    yield Heading(words="How exact the published numbers are", level=3)
    if found["rows"]:
        caption = "The error of each published number, from the law of the mechanism"
        yield Grid(caption=caption, heads=tuple(found["heads"]), rows=tuple(map(tuple, found["rows"])))
    for note in found["notes"]:
        yield Sentence(words=note)
    for one in found["unknown"]:
        yield Sentence(words=f"Not known, {one['table']}: {one['reason']}.")
    if released is not None and found["published"] is not None:
        shown = found["published"]
        caption = f"Published numbers of the release {released.name}"
        yield Grid(caption=caption, heads=tuple(shown["heads"]), rows=tuple(map(tuple, shown["rows"])))
        for note in shown["notes"]:
            yield Sentence(words=note)


# --- several --------------------------------------------------------------------------------------


def summary(dossier: Dossier, links: Sequence[str] = ()) -> Iterator[Piece]:
    """The checked files, and the result of each."""
    words = Counter(one.word for one in dossier.files)
    counts = ", ".join(counted(word, words[word]) for word in Word if word in words)
    worst = worst_word(one.word for one in dossier.files)
    yield Sentence(mark=f"{count(len(dossier.files), 'file')}:", mood=mood_of(worst), words=f"{counts}.")
    rows = []
    for one in dossier.files:
        budget = standard = change = ""
        title = str(one.fault)
        if one.document is not None:
            spec, more = one.document.spec, len(one.document.parts)
            budget = _shortened(budget_in_short(spec.budget), 60) + (f", and {count(more, 'further promise')}" if more else "")
            standard = _shortened(thing_in_words(spec.output_divergence), 80)
            change = _shortened(thing_in_words(spec.input_divergence), 60)
            title = one.document.title
        rows.append((_shortened(one.name, 60), one.outcome, budget, standard, change, _shortened(title)))
    yield Grid(
        caption="The specifications and their verdicts",
        heads=("specification", "verdict", "budget", "standard", "one change", "title"),
        rows=tuple(rows), moods=tuple("bad" if mood_of(one.word) == "bad" else "" for one in dossier.files),
        links=tuple(links), stacks=True,
    )  # fmt: skip
    for note in dossier.notes:
        yield Sentence(words=note)


def compared(dossier: Dossier) -> Iterator[Piece]:
    """Who implies whom, what separates them, and all in one figure."""
    found, documents = dossier.order, dossier.documents
    if found is None:
        return
    yield Heading(words="Comparison", level=2, anchor="comparison")
    size = range(len(found))
    if len(found) > 2:
        caption = "Which specification implies which; an arrow leads to what is implied."
        yield CaptionedFigure(figure=order_figure(found, documents, theme="page"), caption=caption, wide=True)
    rows = [
        (
            f"{_shortened(name, 60)} (claim {claim_status(found.standings[i])})",
            *("" if i == j else order_mark(found, i, j)[1] for j in size),
        )
        for i, name in enumerate(found.names)
    ]
    yield Grid(
        caption="Relation of the specification in the row to that in the column",
        heads=("specification", *(_shortened(name, 60) for name in found.names)), rows=tuple(rows),
    )  # fmt: skip
    pairs = list(zip(itertools.combinations(size, 2), found.comparisons, strict=True))
    for (i, j), one in pairs if len(found) <= MOST_COMPARED else ():
        yield from _pair(one, (documents[i].id, documents[j].id), (found.standings[i], found.standings[j]))
    if len(found) > MOST_COMPARED:
        yield Sentence(words="What separates two of them: dpspec compare A B.")
    if len(found) <= MOST_TOGETHER:
        drawn = risk_figures([_with_verdict(one) for one in dossier.files if one.document is not None], ("trade-off", "power"))
        if drawn.figures:
            yield Heading(words="All of them in one figure", level=3)
        for panel, figure in drawn.figures.items():
            yield CaptionedFigure(figure=figure, caption=_CAPTIONS[panel])


def _pair(found: Comparison, names: tuple[str, str], standings: tuple[Standing, Standing]) -> Iterator[Piece]:
    short = _shortened(names[0], 60), _shortened(names[1], 60)
    yield Heading(words=f"A: {short[0]}, B: {short[1]}", level=3)
    answers = []
    for premise, conclusion, way in (("A", "B", found.forward), ("B", "A", found.backward)):
        answers.append(f"Does {premise} imply {conclusion}? {_WORDS[way.answer].capitalize()}.")
        if way.separation is not None:
            mechanism = _shortened(way.separation.mechanism, 400)
            answers.append(f"This mechanism keeps {premise} and breaks {conclusion}: {mechanism}.")
    yield Sentence(mark=f"{headline(found, standings)}.", words=" ".join(answers))
    blocks = blocks_figure(found, short, standings, theme="page")
    yield CaptionedFigure(figure=blocks, caption="The five blocks side by side, with the steps that separate them.", wide=True)
    for premise, conclusion, way in (("A", "B", found.forward), ("B", "A", found.backward)):
        moods: tuple[Mood, ...] = tuple("bad" if step.holds is False else "" for step in way.steps)
        marks = {True: "holds", False: "fails", None: "open"}
        steps = tuple((step.block, marks[step.holds], step.reason) for step in way.steps)
        if steps:
            yield Grid(caption=f"From {premise} to {conclusion}", heads=("block", "step", "reason"), rows=steps, moods=moods)
    if found.notes:
        yield Bullets(items=found.notes)


def ledger_pieces(dossier: Dossier) -> Iterator[Piece]:
    """What all of them promise together, if they are releases of one data collection."""
    total = dossier.total
    if total is None:
        return
    yield Heading(words="Ledger", level=2, anchor="ledger")
    proved = "" if total.proved is None else f" as promised, {budget_in_words(total.proved.spec.budget)} as proved,"
    yield Sentence(
        words="If all of these are released from one data collection: "
        f"{budget_in_words(total.spec.budget)}{proved} together, "
        f"for {thing_in_words(total.spec.input_divergence)}, by {thing_in_words(total.spec.output_divergence)} "
        f"({total.rule}; {total.citation})."
    )
    rows = []
    for line, best in zip(total.lines, total.best.lines, strict=True):
        standing = "" if line.part.standing is None else line.part.standing.label
        amounts = at_most_in_words(line.amount), at_most_in_words(best.amount)
        stated = f"{budget_in_words(line.part.spec.budget)} by {thing_in_words(line.part.spec.output_divergence)}"
        rows.append((line.part.id, stated, *amounts, standing))
    parameter = total.spec.budget.parameter
    amounts_of = f"{parameter} of the total"
    heads = ("part", "as stated", f"{amounts_of}, as promised", f"{amounts_of}, as proved", "claim status")
    yield Grid(caption="The parts", heads=heads, rows=tuple(rows))
    if total.losses():
        yield Bullets(items=total.losses())


def versions(dossier: Dossier) -> Iterator[Piece]:
    """The files by their hashes, and the versions of the software."""
    yield Heading(words="Versions and hashes", level=2, anchor="versions")
    rows = tuple((one.path, one.hash or "cannot be read") for one in dossier.files)
    yield Grid(caption="The files", heads=("file", "SHA-256"), rows=rows)
    known = dict.fromkeys((info.provenance.distribution, info.provenance.version) for info in installed().infos)
    yield Grid(caption="What checked them", heads=("distribution", "version"), rows=tuple(known))


FOOT = (
    "Made by dpspec report. A verdict states what was checked and what it depends on; unchecked claims are never called true. "
    "The same files give the same page."
)


def report_page(dossier: Dossier, title: str = "") -> Page:
    """Everything as one page."""
    anchors = _slugs(dossier.files)
    pieces: list[Piece] = [Heading(words="Summary", anchor="summary"), *summary(dossier, [f"#{anchor}" for anchor in anchors])]
    rest = [*compared(dossier), *ledger_pieces(dossier), *versions(dossier)]
    heads = [(piece.words, f"#{piece.anchor}") for piece in rest if isinstance(piece, Heading) and piece.anchor]
    pieces.append(Bullets(items=tuple(words for words, _ in heads), links=tuple(link for _, link in heads)))
    for one, anchor in zip(dossier.files, anchors, strict=True):
        pieces += (Heading(words=_shortened(one.name), anchor=anchor), *one.pieces)
    return Page(title=title or _title(dossier), pieces=(*pieces, *rest), foot=FOOT)


def _title(dossier: Dossier) -> str:
    if len(dossier.files) == 1:
        return f"Report on {_shortened(dossier.files[0].name)}"
    return f"Report on {count(len(dossier.files), 'specification')}"


def site_pages(dossier: Dossier, title: str = "") -> dict[str, Page]:
    """A page for each specification, and an index of all: file name to page."""
    slugs = _slugs(dossier.files)
    pages = {}
    for one, slug in zip(dossier.files, slugs, strict=True):
        back = Bullets(items=("All specifications",), links=("index.html",))
        pages[f"{slug}.html"] = Page(
            title=_shortened(one.name), pieces=(back, Heading(words="Summary"), *one.pieces), foot=FOOT
        )
    index = [Heading(words="Summary"), *summary(dossier, [f"{slug}.html" for slug in slugs])]
    index += [*compared(dossier), *ledger_pieces(dossier), *versions(dossier)]
    return {"index.html": Page(title=title or _title(dossier), pieces=tuple(index), foot=FOOT), **pages}


def _slugs(files: Sequence[FiledReport]) -> list[str]:
    """A name for each file that is safe in addresses and file systems, and no name twice."""
    taken: Counter[str] = Counter(("index", "summary", "comparison", "ledger", "versions", "content"))
    found = []
    for one in files:
        slug = re.sub(r"[^a-z0-9]+", "-", one.name.lower()).strip("-")[:60].rstrip("-") or "specification"
        while taken[slug]:
            taken[slug] += 1
            slug = f"{slug}-{taken[slug]}"
        taken[slug] += 1
        found.append(slug)
    return found
