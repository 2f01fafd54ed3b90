"""Errors about the files that are read: one class for each cause, with the code and the exit code of the command.

`dpspec` reports them as its own errors of the same code.
"""

from __future__ import annotations

from typing import Any, ClassVar

_ABSENT: Any = object()
LONGEST = 80
"""Characters of a value that a message shows: the value may be a whole file."""


class CheckerError(ValueError):
    """A file cannot be checked at all.

    Args:
        subject: the key, the step or the file.
        rule: what is wrong with it.
        advice: what to write instead.
        value: the offending value.

    >>> print(CheckerError("version", "this checker reads version 1", value=7))
    version=7: this checker reads version 1
    """

    code: ClassVar[str] = "checker"
    exit_code: ClassVar[int] = 2

    def __init__(self, subject: str, rule: str, advice: str = "", *, value: object = _ABSENT) -> None:
        self.subject, self.rule, self.advice = subject, rule, advice
        self.given = {} if value is _ABSENT else {"value": value}
        text = str(value) if isinstance(value, str) else repr(value)
        shown = subject if value is _ABSENT else f"{subject}={text if len(text) <= LONGEST else text[: LONGEST - 3] + '...'}"
        super().__init__(": ".join(part for part in (shown, rule, advice) if part))


class DerivationFileError(CheckerError):
    """A file is missing, is not JSON, or does not have the shape of a derivation or of the output of `dpspec verify`."""

    code = "derivation-file"


class DerivationVersionError(CheckerError):
    """A derivation file is written in a version that this checker does not read."""

    code = "derivation-version"


class DerivationTooLongError(CheckerError):
    """A derivation has more steps, or a file more bytes, than the checker reads."""

    code = "derivation-too-long"


class DerivationChainError(CheckerError):
    """A step of a derivation does not start where the step before it ends."""

    code = "derivation-chain"
