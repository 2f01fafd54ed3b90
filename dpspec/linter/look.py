"""The linter: the look for every kind of finding in every file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import attrs

from dpspec.base.errors import DpspecError, LibraryError, NotAFileError
from dpspec.base.jobs import FEW_LINTED, in_order, jobs_for
from dpspec.base.params import each
from dpspec.extension import Registry, installed
from dpspec.linter.finding import Finding, LintContext, LintedFile, Severity, declared_findings
from dpspec.specfile.maker import FilePositions
from dpspec.specfile.reader import load_text, parse, read_text, spec_files

EXPLAINS_NOTHING = "explains-nothing"
"""The code of an explanation without a finding."""


def lint(
    paths: Sequence[str | Path], registry: Registry, table: str | None = None, *, jobs: int | None = 1
) -> tuple[Finding, ...]:  # fmt: skip
    """Every finding in the specification files that paths mean, file by file and line by line.

    A file that cannot be read has its faults for findings, under their own codes.

    Args:
        paths: files, or directories that stand for their specification files.
        registry: what the names in the files mean.
        table: the confidential table that all files are about, for the findings that need one.
        jobs: so many processes, of which each has a registry of its own, of all that is installed; None for one for each
            processor where there are many files. A file that ends its process has this for a finding.

    Raises:
        SpecFileError: a path does not exist, or a directory holds no file.
        TableError: the table cannot be read, or does not fit the space of a file.
        PluginError and its kin: a plugin that a file needs has failed.
    """
    files = list(dict.fromkeys(file for path in paths for file in spec_files(path)))
    at_once = jobs_for(jobs, len(files), FEW_LINTED)
    look = partial(_of_file, registry=registry if at_once == 1 else None, table=table)
    found: list[Finding] = []
    looked: list[_FileFindings] = []
    for file, one in zip(files, in_order(look, files, at_once, _ended), strict=True):
        if isinstance(one, _FileFindings):
            looked.append(one)
        else:
            found += [one] if isinstance(one, Finding) else _faults(one, str(file))
    by_id = {one.linted.document.id: one.linted for one in looked}
    for one in looked:
        found += one.found if one.found is not None else _findings(one.linted, registry, table, by_id)
    return tuple(sorted(found, key=lambda single: (single.file, single.line, single.code)))


@attrs.frozen
class _FileFindings:
    """A file, and the findings in it; None where others are needed for them: it has a ledger, or the look raised an error.

    An error is met again in this process, after those of all files that cannot be read.
    """

    linted: LintedFile
    found: tuple[Finding, ...] | None


def _of_file(file: Path, registry: Registry | None, table: str | None) -> _FileFindings | DpspecError:
    """Look at a file alone; without a registry by that of this process."""
    known = registry or installed().registry
    try:
        text = load_text(file)
        linted = LintedFile(document=read_text(text, known, str(file)), positions=FilePositions.of(text, parse(text)))
    except DpspecError as fault:
        return fault
    if linted.document.ledger is not None:  # its parts are other files, which this process may not have read
        return _FileFindings(linted, None)
    try:
        return _FileFindings(linted, tuple(_findings(linted, known, table, {})))
    except DpspecError:
        return _FileFindings(linted, None)


def _ended(file: Path) -> Finding:
    """The finding about a file whose process was ended."""
    return Finding(
        code=LibraryError.code, severity=Severity.ERROR, file=str(file), line=1,
        message="a library, or the system, ended the process that checked this file",
        advice="check it alone with --jobs 1, or free memory",
    )  # fmt: skip


def _faults(fault: DpspecError, file: str) -> Iterator[Finding]:
    for single in each(fault):
        if isinstance(single, NotAFileError) or single.exit_code == 4:  # the fault of a plugin says nothing about the file
            raise fault
        yield Finding(
            code=single.code,
            severity=Severity.ERROR,
            file=file,
            line=single.line or 1,
            message=": ".join((single.subject, single.rule)),
            advice=single.advice,
        )


def _findings(linted: LintedFile, registry: Registry, table: str | None, by_id: Mapping[str, LintedFile]) -> Iterator[Finding]:
    """The findings in a file; the parts of its ledger are looked up among other files."""
    parts = () if linted.document.ledger is None else linted.document.ledger.parts
    others = {part.id: by_id[part.id] for part in parts if part.id in by_id}
    context = LintContext(registry=registry, others=others, table=table)
    explained = {explanation.finding: explanation.because for explanation in linted.document.explained}
    met = set()
    unasked = {declared.code for declared in declared_findings() if declared.needs_table and table is None}
    for declared in declared_findings():
        if declared.code in unasked:
            continue
        for seen in declared.look(linted, context):
            met.add(declared.code)
            yield Finding(
                code=declared.code,
                severity=declared.severity,
                file=str(linted.document.path),
                line=linted.positions.nearest(seen.path),
                message=seen.message,
                advice=seen.advice,
                explained=explained.get(declared.code) if seen.explained is None else seen.explained,
            )
    for place, explanation in enumerate(linted.document.explained):
        if explanation.finding not in met | unasked:
            yield Finding(
                code=EXPLAINS_NOTHING,
                severity=Severity.WARNING,
                file=str(linted.document.path),
                line=linted.positions.nearest(f"explained[{place}]"),
                message=f"{explanation.finding} is explained, and nothing of the kind is found",
                advice="take the explanation out, or correct its code",
            )
