"""Looking for every kind of finding in every file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dpspec.errors import DpspecError, NotAFileError
from dpspec.extension import Registry
from dpspec.lint import blocks as _about_blocks  # noqa: F401 - declares its findings
from dpspec.lint import ledgers as _about_ledgers  # noqa: F401
from dpspec.lint import numbers as _about_numbers  # noqa: F401
from dpspec.lint.finding import Context, Declared, Finding, Linted, Severity, declared_findings
from dpspec.params import each
from dpspec.specfile.positions import Positions
from dpspec.specfile.reader import read_text, spec_files
from dpspec.specfile.text import load_text, parse

EXPLAINS_NOTHING = "explains-nothing"
"""The code of an explanation without a finding."""


def lint(paths: Sequence[str | Path], registry: Registry) -> tuple[Finding, ...]:
    """Every finding in the specification files that paths mean, file by file and line by line.

    A file that cannot be read has its faults for findings, under their own codes.

    Args:
        paths: files, or directories that stand for their specification files.
        registry: what the names in the files mean.

    Raises:
        SpecFileError: a path does not exist, or a directory holds no file.
        PluginError and its kin: a plugin that a file needs has failed.
    """
    found: list[Finding] = []
    read: list[Linted] = []
    for file in dict.fromkeys(file for path in paths for file in spec_files(path)):
        try:
            text = load_text(file)
            read.append(Linted(document=read_text(text, registry, str(file)), positions=Positions.of(text, parse(text))))
        except DpspecError as fault:
            found += _faults(fault, str(file))
    context = Context(registry=registry, others={linted.document.id: linted for linted in read})
    for linted in read:
        found += _findings(linted, context)
    return tuple(sorted(found, key=lambda single: (single.file, single.line, single.code)))


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


def _findings(linted: Linted, context: Context) -> Iterator[Finding]:
    explained = {explanation.finding: explanation.because for explanation in linted.document.explained}
    met = set()
    for declared in declared_findings():
        for single in _looked(declared, linted, context, explained.get(declared.code)):
            met.add(single.code)
            yield single
    for place, explanation in enumerate(linted.document.explained):
        if explanation.finding not in met:
            yield Finding(
                code=EXPLAINS_NOTHING,
                severity=Severity.WARNING,
                file=str(linted.document.path),
                line=linted.positions.nearest(f"explained[{place}]"),
                message=f"{explanation.finding} is explained, and nothing of the kind is found",
                advice="take the explanation out, or correct its code",
            )


def _looked(declared: Declared, linted: Linted, context: Context, because: str | None) -> Iterator[Finding]:
    for seen in declared.look(linted, context):
        yield Finding(
            code=declared.code,
            severity=declared.severity,
            file=str(linted.document.path),
            line=linted.positions.nearest(seen.path),
            message=seen.message,
            advice=seen.advice,
            explained=because if seen.explained is None else seen.explained,
        )
