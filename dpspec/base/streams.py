"""Standard output: the answers of commands, and what other code prints, which is no part of them.

A line that a plugin prints in front of an answer in JSON would make it unreadable.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TextIO

_answers: list[TextIO | None] = []
"""The output of the commands that run, from which what other code prints is kept away."""
printed: TextIO | None = None
"""Where this goes; None for standard error."""


class Pipe(io.TextIOWrapper):
    """A pipe for what other code prints, which is a terminal to those who ask `sys.stdout` where the output of answers is one."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(os.fdopen(descriptor, "wb", 0, closefd=False), "utf-8", "backslashreplace", write_through=True)

    def isatty(self) -> bool:
        own = answers()
        return own is not None and own is not self and own.isatty()


def answers() -> TextIO | None:
    """The stream of answers; None where the process has no output.

    >>> before = answers()
    >>> with own_answers():
    ...     is_other = answers() is before and sys.stdout is not before
    >>> is_other
    True
    """
    return _answers[-1] if _answers else sys.stdout


@contextlib.contextmanager
def own_answers() -> Iterator[None]:
    """Let `sys.stdout` be another stream than that of answers, whatever code does with it, until the context ends."""
    own, first = answers(), sys.__stdout__
    _answers.append(own)
    other = sys.stderr if printed is None else printed
    try:
        with contextlib.nullcontext(other) if other is not None else open(os.devnull, "w", encoding="utf-8") as stream:
            sys.stdout = stream
            if own is not None and not own.isatty():  # of a terminal it is asked for the width
                vars(sys)["__stdout__"] = stream
            yield
    finally:
        _answers.pop()
        vars(sys).update(stdout=own, __stdout__=first)
