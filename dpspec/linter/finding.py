"""Findings of the linter, and their declaration.

A finding is a function ``(file, context)`` that yields an `Observation` for each place. Its docstring says what is found and why
that matters; it is the text of the reference page.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping

import attrs

from dpspec.base.errors import DpspecError
from dpspec.extension import Registry
from dpspec.specfile.document import SpecDocument
from dpspec.specfile.maker import FilePositions


class Severity(enum.Enum):
    """An error is wrong; a warning is right and easily misread."""

    ERROR = "error"
    WARNING = "warning"


@attrs.frozen(kw_only=True)
class Finding:
    """One result of the linter.

    Args:
        code: which kind of finding it is.
        severity: how bad.
        file, line: where.
        message: what was seen.
        advice: what to do about it.
        explained: the reason from the file why it is accepted; None when the file gives none.
    """

    code: str
    severity: Severity
    file: str
    line: int
    message: str
    advice: str
    explained: str | None = None


@attrs.frozen(kw_only=True)
class Observation:
    """The result of a finding function.

    Args:
        path: where in the file, as a dotted path such as ``expect[2]``.
        message: what, with the values.
        advice: what to do about it.
        explained: the reason why it is accepted, when it is given at that place.
    """

    path: str
    message: str
    advice: str
    explained: str | None = None


@attrs.frozen(kw_only=True)
class LintedFile:
    """A file that could be read.

    Args:
        document: what it says.
        positions: where it says so.
    """

    document: SpecDocument
    positions: FilePositions


@attrs.frozen(kw_only=True)
class LintContext:
    """The resources of a finding in addition to its file.

    Args:
        registry: everything that is registered.
        others: of the files that are linted together those that its ledger names, by their ids.
        table: the confidential table that the files are about; None where none was given.
    """

    registry: Registry
    others: Mapping[str, LintedFile]
    table: str | None = None


FindingLook = Callable[[LintedFile, LintContext], Iterator[Observation]]


@attrs.frozen(kw_only=True)
class DeclaredFinding:
    """A kind of finding.

    Args:
        code: its name.
        severity: how bad it is.
        look: the function that looks for it.
        needs_table: whether it is looked for only where a table is given.
    """

    code: str
    severity: Severity
    look: FindingLook
    needs_table: bool = False


_ALL: dict[str, DeclaredFinding] = {}


def finding(code: str, severity: Severity, *, needs_table: bool = False) -> Callable[[FindingLook], FindingLook]:
    """Make a function a kind of finding."""

    def declare(look: FindingLook) -> FindingLook:
        if not look.__doc__ or code in _ALL:
            raise DpspecError("finding", "needs a code of its own and a docstring", value=code)
        _ALL[code] = DeclaredFinding(code=code, severity=severity, look=look, needs_table=needs_table)
        return look

    return declare


def declared_findings() -> tuple[DeclaredFinding, ...]:
    """Every kind of finding, in the order of their declaration."""
    return tuple(_ALL.values())
