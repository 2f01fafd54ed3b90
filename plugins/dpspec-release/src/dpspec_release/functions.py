"""The functions of dpspec that draw releases and make test tables, and the draft of a specification from a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from dpspec import CommandAnswer, SpecDocument, installed
from dpspec.plugin import ParameterError
from dpspec.plugin.applications import Progress, as_document
from dpspec.plugin.releases import formats_of
from dpspec_release import drafts, draw as engine, synthesis, text
from dpspec_release.write import write

AnyPath = str | Path


def release(specification: SpecDocument | str | Path, table: str | Path, out: str | Path, **options: Any) -> dict[str, Any]:
    """Draw one release of a table by the mechanism of a specification, and write it to a directory.

    Args:
        specification: a specification or its file; its claim is judged first.
        table: a table file, a directory with households and persons, or the name of a registered table.
        out: the directory for the released tables and ``report.json``.
        options: `seed` (for tests and audits: not fit for publication), `workers`, `resume`, `suffix`, `unverified` (release
            although the claim is not verified: not fit for publication).

    Returns:
        what ``report.json`` says.

    Raises:
        RefutedReleaseError: the claim is refuted.
        UnverifiedReleaseError: the claim is not verified, and `unverified` is not set.
        ReleaseError and its kin: the table does not fit, or the release cannot be written.
    """
    registry, place = installed().registry, Path(out)
    drawn = engine.draw(as_document(specification), str(table), registry, place, engine.Options(**options))
    return write(drawn, registry, place)


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
    """Work that nobody watches."""


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
