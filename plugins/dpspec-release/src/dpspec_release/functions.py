"""The functions of dpspec that draw releases and make test tables, and the draft of a specification from a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from dpspec import CommandAnswer, SpecDocument, installed
from dpspec.plugin import ParameterError, exact, laws
from dpspec.plugin.applications import Progress, as_document, renderer, write_whole
from dpspec.plugin.releases import formats_of, table_file
from dpspec_release import drafts, draw as engine, synthesis, text
from dpspec_release.accuracy import (
    RUNS,
    as_csv,
    ends,
    files_of_release,
    is_noisy_answers,
    known_accuracy,
    read_released,
    released_numbers,
    simulated_accuracy,
)
from dpspec_release.write import write

AnyPath = str | Path
GivenTable: TypeAlias = Any
"""A path, the name of a registered table, or a data frame."""


def release(
    specification: SpecDocument | str | Path,
    table: GivenTable,
    out: str | Path,
    *,
    account: str | None = None,
    fit: bool = False,
    period: str | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Draw one release of a table by the mechanism of a specification, and write it to a directory.

    Args:
        specification: a specification or its file; its claim is verified first.
        table: a table file, a directory with households and persons, the name of a registered table, or a data frame (pandas,
            polars, pyarrow).
        out: the directory for the released tables and ``report.json``.
        account: the place of a budget account, in which the release is reserved before anything is drawn.
        period: with an account that has periods, the one whose data the release is about; without it, that of today.
        fit: with an account, add as much noise as the rest of the budget needs, where the release is over the cap.
        options: `seed` (for tests and audits: not fit for publication), `workers`, `resume`, `suffix`, `margins` (also
            write the 95 % margin of each number, in the column margin_95), `unverified` (release although the claim is not
            verified: not fit for publication), `memory` (the bytes that the release may use; by default half of the machine
            or its container).

    Returns:
        what ``report.json`` says.

    Raises:
        RefutedReleaseError: the claim is refuted.
        UnverifiedReleaseError: the claim is not verified, and `unverified` is not set.
        ReleaseError and its kin: the table does not fit, or the release cannot be written.
    """
    registry, place, guard, document = installed().registry, Path(out), guard_of(account, period), as_document(specification)
    if fit:
        if guard is None:
            raise ParameterError("fit", "needs an account into which the release is to fit", "name one: account=...")
        if options.get("resume"):
            raise ParameterError("fit", "begins a new run", "write what fits with `dpspec account fit`, and resume that")
        document = guard.fit(document)
    with table_file(table) as name:
        drawn = engine.draw(document, name, registry, place, engine.Options(guard=guard, **options))
        return write(drawn, registry, place)


def guard_of(account: str | None, period: str | None = None) -> engine.ReleaseGuard | None:
    """What keeps the budget of a release in an account; None without one.

    Raises:
        ParameterError: a period without an account.
        MissingPackageError: the package of accounts is not installed.
    """
    if account is None:
        if period is not None:
            raise ParameterError("period", "is one of an account", "name the account, too", value=period)
        return None
    made: engine.ReleaseGuard = renderer("release-guard", "option --account")(account, period)
    return made


def accuracy(
    specification: SpecDocument | AnyPath,
    released: AnyPath | None = None,
    *,
    level: exact.NumberLike = "19/20",
    runs: int = RUNS,
    seed: int = 0,
    out: AnyPath | None = None,
    progress: Progress | None = None,
) -> CommandAnswer:
    """How far published numbers lie from the true ones: ``dpspec accuracy``. `value` has the accuracy.

    Args:
        specification: a specification or its file; it names a mechanism.
        released: what it released: a folder of `dpspec release`, or one released file.
        level: how often a number is to be within its margin, in (0, 1).
        runs: how many runs are simulated, where the law of what was released is not known.
        seed: of these runs.
        out: a CSV file that the released numbers are written into, each with its margin.
        progress: called with (done, in all).

    Returns:
        for each table the margin of error, the standard deviation and the bias, and for what nothing is known, why.

    Raises:
        MissingKeyError: the file names no mechanism.
        ReleaseError: the release is of another specification.
        TableError and its kin: it cannot be read, or does not fit the space.

    >>> import dpspec as dp
    >>> noise = dp.geometric(queries=dp.marginal(attributes="colour"), ratio="1/2")
    >>> claim = dp.spec(space=dp.records(colour=3), distance="hamming", standard="pure", epsilon="ln(4)")
    >>> file = SpecDocument(id="colours", title="Colours", spec=claim, mechanism=noise)
    >>> accuracy(file)["tables"][0]["margin"]
    {'lower': '4', 'upper': '4'}
    """
    document, asked = as_document(specification), laws.read_level(level)
    known = known_accuracy(document, asked)
    rows = None
    if released is not None:
        registry, files = installed().registry, files_of_release(Path(released), document)
        noisy = [file for file in files if is_noisy_answers(file, document, registry)]
        if noisy:
            rows = released_numbers(noisy, known)
        elif not known.tables:
            known = simulated_accuracy(known, read_released(files, document, registry), runs, seed, progress or _unseen)
    if out is not None:
        if rows is None:
            raise ParameterError("out", "has no released numbers to write", "give a release of noisy answers")
        write_whole(Path(out), as_csv(rows, asked))
    data = {
        "specification": document.id, "level": str(asked), "runs": known.runs, "tables": [one.data() for one in known.tables],
        "unknown": [{"table": table, "reason": reason} for table, reason in known.unknown],
        "joint": ends(known.joint), "joint_of_all": ends(known.joint_of_all),
        "released": None if rows is None else len(rows), "written": None if out is None else str(out),
        "stand_ins": list(document.stand_ins),
    }  # fmt: skip
    code = 0 if known.tables else 3
    return CommandAnswer("accuracy", code, data, partial(text.accuracy_parts, known, rows, out), value=known)


def margins(document: SpecDocument, released: Path | None = None) -> dict[str, Any]:
    """The accuracy of a file as reports show it: that of `accuracy`.

    Args:
        document: a file that names a mechanism.
        released: a folder of `dpspec release` under this file.

    Returns:
        `tables` and `unknown` as in the JSON of `accuracy`, and the same for people: a grid of `heads` and `rows`, `plain` lines
        (table, margin), and `notes`. `published` has `heads`, `rows` and `notes` of the released numbers, or is None.

    Raises:
        ReleaseError, TableError: the release is of another file, or cannot be read.
    """
    known = known_accuracy(document, Fraction(19, 20))
    published = None
    if released is not None:
        files = [file for file in files_of_release(released, document) if is_noisy_answers(file, document, installed().registry)]
        published = text.published(released_numbers(files, known)) if files else None
    unknown = [{"table": table, "reason": reason} for table, reason in known.unknown]
    data = {"level": str(known.level), "tables": [one.data() for one in known.tables], "unknown": unknown}
    return (
        data
        | {"joint": ends(known.joint), "joint_of_all": ends(known.joint_of_all), "published": published}
        | text.margins(known)
    )


def synth(
    name: str | None = None,
    *,
    rows: int | None = None,
    out: AnyPath | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> CommandAnswer:
    """Make a public test table of any size from published margins; without a name, list the tables that there are.

    Args:
        name: the table.
        rows: how many records; without it as many as the table's own size.
        out: the file: .csv, .parquet or .arrow.
        seed: of the random part; without it the table is the same each time.
        progress: called with (done, in all).
    """
    registry = installed().registry
    if name is None:
        listed = [synthesis.described(builder) for builder in synthesis.builders(registry)]
        return CommandAnswer("synth", 0, {"tables": listed}, partial(text.listing, listed))
    if out is None:
        raise ParameterError("out", "is missing", "name the file to write")
    made = synthesis.synthesise(registry, name, Path(out), rows=rows, seed=seed, progress=progress or _unseen).data()
    return CommandAnswer("synth", 0, made, partial(text.synthesis_text, made))


def _unseen(done: int, total: int) -> None:
    """Ignore progress."""


def draft(
    name: str | None,
    table: Path,
    columns: Iterable[str],
    codebook: AnyPath | None,
    within: Iterable[str],
    *,
    unit: str,
    ask: Callable[[str], bool | None] | None,
) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    """The name and the text of a specification from a table, with warnings, and what was not asked."""
    formats = formats_of(installed().registry)
    chosen = drafts.read_within(tuple(within))
    meanings = None if codebook is None else drafts.read_codebook(Path(codebook))
    found = drafts.draft(table, formats, columns=tuple(columns), codebook=meanings)
    found = drafts.with_nesting(found, formats, chosen)
    said: tuple[str, ...] = ()
    if ask is not None and found.nested:
        confirmed, unasked = drafts.asked(found, ask)
        found = drafts.with_nesting(found, formats, [*chosen, *confirmed])
        if unasked:
            said = (f"no answer: {unasked} nestings that were found are left as comments (--within FINER=COARSER takes one)",)
    name = name or drafts.id_of(table)
    return name, drafts.text(found, name, unit), found.warnings, said
