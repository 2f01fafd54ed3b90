"""`dpspec lint`, `explain` and `schema`: files and names told to people and to tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dpspec.cli.each import PATHS
from dpspec.cli.face import formatted, picture_option, say

if TYPE_CHECKING:
    from dpspec.report.picture import Picture


@click.command(short_help="What is well formed and still misleading?")
@PATHS
@click.option("--explained", is_flag=True, help="Show the findings too that a file explains.")
@formatted
def lint(paths: tuple[str, ...], explained: bool, as_json: bool) -> int:
    """Look for what is wrong or easily misread: numbers that do not recompute, units that do not fit, vacuous promises.

    A directory stands for every *.dpspec.toml directly in it. Files that are given together are seen together, so that the
    parts of a ledger are compared with their own files. A file says in [[explained]] what is meant to stand. Exits with 1
    when something is found that nobody explains.

    \b
    Examples:
      dpspec lint specs
      dpspec lint specs specs/ledger-2020 --explained
    """
    from dpspec.extension import installed
    from dpspec.lint import lint as look
    from dpspec.report import json
    from dpspec.report import lint as words
    from dpspec.report.terminal import Work
    from dpspec.specfile.reader import spec_files

    files = list(dict.fromkeys(file for path in paths for file in spec_files(path)))
    with Work("linting"):
        found = look(files, installed().registry)
    code = 1 if any(single.explained is None for single in found) else 0
    told = json.document("lint", code, words.data(found, files)) if as_json else words.text(found, files, explained=explained)
    say(told)
    return code


@click.command(short_help="Say what a name, an error code or a file means.")
@click.argument("name", metavar="NAME_OR_FILE")
@picture_option("With flavours: also draw the family")
@click.option("--audience", type=click.Choice(["public", "technical"]), help="With a FILE: tell its promise to these people.")
@formatted
def explain(name: str, picture: Picture | None, audience: str | None, as_json: bool) -> int:
    """Say what NAME means: anything registered, or an error code; or tell a specification FILE in words.

    The name flavours stands for all registered definitions of differential privacy, by the block that each one changes.
    With --audience, a FILE is told to the people in the data, or to those who must judge it, with what it lets an attacker do.

    \b
    Examples:
      dpspec explain hamming
      dpspec explain flavours --picture flavours.svg
      dpspec explain unknown-key
      dpspec explain specs/randomised-response.dpspec.toml
      dpspec explain specs/topdown-2020-pl.dpspec.toml --audience public
    """
    from pathlib import Path

    from dpspec.api import quick_standing, read_spec
    from dpspec.extension import installed
    from dpspec.report import audience as told
    from dpspec.report import explain as words
    from dpspec.report import family, json

    is_file = Path(name).is_file() or name.endswith(".toml")
    if audience is not None:
        if not is_file:
            raise click.UsageError(f"--audience tells a specification, and {name} is no file; give the FILE")
        found_file = read_spec(name)
        data = told.data(found_file, audience, quick_standing(found_file))
        say(json.document("explain", 0, {"audience": data}) if as_json else told.text(data, found_file))
        return 0
    if name == "flavours":
        data = family.family(installed().registry)
        if picture is not None:
            picture.save(family.picture(data))
        say(json.document("explain", 0, {"family": data}) if as_json else family.text(data))
        return 0
    if picture is not None:
        raise click.UsageError(
            f"--picture draws the flavours, not {name}; write: dpspec explain flavours --picture {picture.path}"
        )
    if is_file:
        found_file = read_spec(name)
        data = words.document(found_file, installed().registry, quick_standing(found_file))
        say(json.document("explain", 0, {"file": data}) if as_json else words.document_text(data))
        return 0
    found = words.explain(name, installed().registry)
    say(json.document("explain", 0, {"meanings": found}) if as_json else words.named_text(found))
    return 0


@click.command(short_help="Print the JSON schema of spec files or of results.")
@click.argument("of", type=click.Choice(["spec", "output"]), default="spec")
@formatted
def schema(of: str, as_json: bool) -> int:  # noqa: ARG001 - a schema is JSON in either format
    """Print a JSON schema: of specification files with the installed plugins, or of the results of `--format json`.

    A schema is JSON in either format.

    Example: dpspec schema output
    """
    import json as stdlib

    from dpspec.extension import installed
    from dpspec.report import json
    from dpspec.specfile.schema import language_schema

    found = language_schema(installed().registry) if of == "spec" else json.output_schema()
    say(stdlib.dumps(found, indent=2))
    return 0
