"""What the commands on many files share: the argument, and judging one file after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import click

from dpspec.cli.face import say
from dpspec.errors import DpspecError
from dpspec.verify.words import Word, worst_code

if TYPE_CHECKING:
    from pathlib import Path

    from dpspec.extension import Registry


PATHS = click.argument("paths", metavar="FILES_OR_DIRS...", nargs=-1, required=True, type=click.Path(path_type=str))

Judged = tuple[Word, dict[str, Any], str]
"""How one file ended, and its two reports."""


def each_file(
    command: str,
    paths: tuple[str, ...],
    as_json: bool,
    judge: Callable[[Path, Registry], Judged],
    accepted: Collection[Word] = (),
) -> int:
    """Judge every file, whatever happens to the others; print each result as soon as it is there.

    Returns:
        the exit code of the worst word, where those that are accepted count as success.
    """
    from dpspec.extension import installed
    from dpspec.report import json, text
    from dpspec.specfile.reader import spec_files

    registry = installed().registry
    words: list[Word] = []
    results = []
    done: set[Path] = set()

    def tell(judged: Judged) -> None:
        word, data, told = judged
        words.append(word)
        results.append(data)
        if not as_json:
            say(told)

    def attempt(path: str | Path, call: Callable[[], Judged]) -> None:
        try:
            tell(call())
        except DpspecError as fault:
            code = worst_code(single["exit_code"] for single in json.errors(fault))
            word = {4: Word.PLUGIN, 3: Word.UNDECIDED}.get(code, Word.INVALID)
            tell((word, json.failed(str(path), word, fault), text.failed(str(path), word, fault)))
            say(text.error_lines(fault, str(path)), err=True)

    for path in paths:
        try:
            files = spec_files(path)
        except DpspecError as fault:
            attempt(path, lambda fault=fault: _raise(fault))  # type: ignore[misc]
            continue
        for file in [file for file in files if file not in done]:
            done.add(file)
            attempt(file, lambda file=file: judge(file, registry))  # type: ignore[misc]
    code = worst_code(word.exit_code for word in words if word not in accepted)
    if as_json:
        say(json.document(command, code, {"files": results}))
    elif len(words) > 1:
        say(text.summary(words))
    return code


def _raise(fault: DpspecError) -> Judged:
    raise fault
