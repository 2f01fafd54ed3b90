"""The commands `dpspec diff` and `dpspec lock`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dpspec import CommandAnswer
    from dpspec.plugin.applications import Progress


def _as_markdown(found: CommandAnswer) -> str:
    from dpspec_guard.page import markdown

    return markdown(found.value).rstrip("\n")


def _as_sarif(found: CommandAnswer) -> str:
    from dpspec.plugin.applications import contributed

    log = contributed("dpspec.renderers")["sarif"].load()([{"command": "diff", "exit_code": found.exit_code, **found.content}])
    return json.dumps(log, indent=2, ensure_ascii=False)


class DiffCommand(click.Command):
    """A command that counts specifications, and prints Markdown and SARIF, too."""

    counts = ("comparing", "specifications")
    formats: Mapping[str, Callable[[CommandAnswer], str]] = {"markdown": _as_markdown, "sarif": _as_sarif}


@click.command(cls=DiffCommand, short_help="Did a promise become weaker?")
@click.argument("given", metavar="OLD NEW | RANGE [PATHS]...", nargs=-1, required=True)
def diff(given: tuple[str, ...], progress: Progress | None = None) -> CommandAnswer:
    """Compare two versions of specifications: does every old promise still follow?

    OLD and NEW are files, folders with the folders in them, or git revisions. A RANGE is main..HEAD, or main...HEAD from the
    merge base. Nothing is checked out. For each changed specification: the blocks that changed, each alone too; the relation of
    both promises, with two datasets that separate them; what an attacker may find out, before and after; and both verdicts.

    Exits with 1 where a promise is weaker, a verdict worse or a file gone, unless a new [[change]] of the file names this very
    change. Exits with 3 where the relation is undecided.

    \b
    Examples:
      dpspec diff specs/topdown-2020-pl-persons.dpspec.toml \\
                  specs/topdown-2020-pl-housing-units.dpspec.toml
      dpspec diff main...HEAD --format markdown
      dpspec diff HEAD specs
    """
    from dpspec_guard.functions import diff as compared

    return compared(*given, progress=progress)


class LockCommand(click.Command):
    """A command that counts files."""

    counts = ("verifying", "files")


@click.command(cls=LockCommand, short_help="Record what was verified, for dpspec verify --locked.")
@click.argument("paths", metavar="[FILES_OR_DIRS]...", nargs=-1, type=click.Path(path_type=str))
def lock(paths: tuple[str, ...], progress: Progress | None = None) -> CommandAnswer:
    """Verify specifications and write dpspec.lock: one line for each file, sorted.

    A line has the hash of the file and of its promise, the verdict, scope, method and exact constant. It also has the hash of
    proof or witness, and whether the independent checker accepts the proof. The lock has the version and the hash of every
    package of dpspec. A directory means every *.dpspec.toml directly in it; without any, the current one is locked.

    The lock is a record and no signature. `dpspec verify --locked` compares with it.

    \b
    Examples:
      dpspec lock specs specs/mechanisms
      dpspec verify --locked
      dpspec verify --locked --all
    """
    from dpspec_guard.functions import lock as locked

    return locked(*paths, progress=progress)
