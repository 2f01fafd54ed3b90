"""What the commands on many files share: the argument, and judging one file after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from dpspec.cli.face import worst
from dpspec.errors import DpspecError

if TYPE_CHECKING:
    from pathlib import Path

    from dpspec.extension import Registry


PATHS = click.argument("paths", metavar="FILES_OR_DIRS...", nargs=-1, required=True, type=click.Path(path_type=str))

Judged = tuple[int, str, dict[str, Any], str]
"""An exit code, an outcome, and the two reports of one file."""


def each_file(command: str, paths: tuple[str, ...], as_json: bool, judge: Callable[[Path, Registry], Judged]) -> int:
    """Judge every file, whatever happens to the others; print each result as soon as it is there."""
    from dpspec.extension import installed
    from dpspec.report import json, text
    from dpspec.specfile.reader import spec_files

    registry = installed().registry
    codes, outcomes, results = [], [], []
    done: set[Path] = set()

    def tell(judged: Judged) -> None:
        code, outcome, data, words = judged
        codes.append(code)
        outcomes.append(outcome)
        results.append(data)
        if not as_json:
            click.echo(words)

    def attempt(path: str | Path, call: Callable[[], Judged]) -> None:
        try:
            tell(call())
        except DpspecError as fault:
            code = worst(single["exit_code"] for single in json.errors(fault))
            outcome = {4: "plugin", 3: "undecided"}.get(code, "invalid")
            tell((code, outcome, json.failed(str(path), outcome, fault), text.failed(str(path), outcome, fault)))
            click.echo(text.error_lines(fault, str(path)), err=True)

    for path in paths:
        try:
            files = spec_files(path)
        except DpspecError as fault:
            attempt(path, lambda fault=fault: _raise(fault))  # type: ignore[misc]
            continue
        for file in [file for file in files if file not in done]:
            done.add(file)
            attempt(file, lambda file=file: judge(file, registry))  # type: ignore[misc]
    code = worst(codes)
    if as_json:
        click.echo(json.document(command, code, {"files": results}))
    elif len(outcomes) > 1:
        click.echo(text.summary(outcomes))
    return code


def _raise(fault: DpspecError) -> Judged:
    raise fault
