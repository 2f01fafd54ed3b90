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
    from dpspec_guard.page import page

    return page(found.value).markdown().rstrip("\n")


def _as_sarif(found: CommandAnswer) -> str:
    from dpspec.plugin.applications import contributed

    log = contributed("dpspec.renderers")["sarif"].load()([{"command": "diff", "exit_code": found.exit_code, **found.content}])
    return json.dumps(log, indent=2, ensure_ascii=False)


class DiffCommand(click.Command):
    """A command that counts specifications, and prints Markdown and SARIF, too."""

    counts = ("comparing", "specifications")
    formats: Mapping[str, Callable[[CommandAnswer], str]] = {"markdown": _as_markdown, "sarif": _as_sarif}


@click.command(cls=DiffCommand, short_help="Compare two versions of specifications.")
@click.argument("given", metavar="OLD NEW | RANGE [PATHS]...", nargs=-1, required=True)
def diff(given: tuple[str, ...], progress: Progress | None = None) -> CommandAnswer:
    """Compare two versions of specifications, and check whether every old guarantee still follows.

    OLD and NEW are files, folders (searched recursively) or git revisions. A RANGE is main..HEAD, or main...HEAD from the merge
    base. Nothing is checked out. The output for a changed specification has the changed blocks and the effect of each. It has the
    relation of both guarantees, with two datasets that separate them. It also has what an attacker can find out before and after,
    and both verdicts.

    Exits with 1 if a guarantee is weaker, a verdict is worse or a file is missing, unless a new [[change]] of the file names this
    change. Exits with 3 if the relation is undecided.

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


@click.command(cls=LockCommand, short_help="Record verdicts in dpspec.lock.")
@click.argument("paths", metavar="[FILES_OR_DIRS]...", nargs=-1, type=click.Path(path_type=str))
def lock(paths: tuple[str, ...], jobs: int | None, progress: Progress | None = None) -> CommandAnswer:
    """Verify specifications and write dpspec.lock: one line for each file, sorted.

    A line has the hash of the file and of its guarantee, the verdict, scope, method and exact constant. It also has the hash of
    the proof or witness, and whether the independent checker accepts the proof. The lock has the version and hash of every
    package of dpspec. A directory means all *.dpspec.toml files directly in it; the default is the current directory.

    The lock is a record, not a signature. `dpspec verify --locked` compares files with it.

    \b
    Examples:
      dpspec lock specs specs/mechanisms
      dpspec verify --locked
      dpspec verify --locked --all
    """
    from dpspec_guard.functions import lock as locked

    return locked(*paths, jobs=jobs, progress=progress)
