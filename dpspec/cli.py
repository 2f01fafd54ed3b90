"""The command line: `dpspec check | verify | compare | release | explain | plugins | new | schema`.

No logic lives here: a command reads its arguments, calls the library, and prints a report. Results go to stdout, talk
and progress to stderr. Exit codes: 0 holds; 1 refuted or an expectation missed; 2 bad input or usage; 3 undecided;
4 a needed plugin failed. Beyond those: 70 a fault of dpspec itself, 130 interrupted, 141 nobody reads the output.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dpspec.errors import DpspecError, Faults

if TYPE_CHECKING:
    from pathlib import Path

    from dpspec.extension import Registry

_FORMAT = "dpspec.format"
_SEVEREST_FIRST = (4, 2, 1, 3, 0)
_BUG, _INTERRUPTED, _UNREAD = 70, 130, 141

Command = TypeVar("Command", bound=Callable[..., Any])


class Face(click.Group):
    """The group of commands; turns every error into a message and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except DpspecError as fault:
            code = _report(ctx, fault)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing is left to flush at exit
            code = _UNREAD
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            code = _INTERRUPTED
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except Exception:
            traceback.print_exc()
            click.echo("This is a fault of dpspec, not of your input: please report it with the lines above.", err=True)
            code = _BUG
        ctx.exit(code if isinstance(code, int) else 0)


def _report(ctx: click.Context, fault: DpspecError) -> int:
    """The error on stderr, and for --format json as a document on stdout."""
    faults = fault.faults if isinstance(fault, Faults) else (fault,)
    for single in faults:
        click.echo(str(single), err=True)
    code = _worst(single.exit_code for single in faults)
    if ctx.meta.get(_FORMAT) == "json":
        from dpspec.report import json

        click.echo(json.document("error", code, {"errors": json.errors(fault)}))
    return code


def _worst(codes: Iterable[int]) -> int:
    """What cannot be used comes before what is refuted, and that before what is undecided."""
    found = set(codes)
    return next((code for code in _SEVEREST_FIRST if code in found), 0)


def formatted(command: Command) -> Command:
    """Add ``--format``; the choice also decides how an error is told."""

    def remember(ctx: click.Context, _: click.Parameter, value: str) -> bool:
        ctx.meta[_FORMAT] = value
        return value == "json"

    option = click.option(
        "--format", "as_json", type=click.Choice(["text", "json"]), default="text", show_default=True,
        callback=remember, is_eager=True, help="How to print the result; JSON has a schema, see `dpspec schema`.",
    )  # fmt: skip
    return option(command)


@click.group(cls=Face, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.version_option(package_name="dpspec", prog_name="dpspec")
def main() -> None:
    """Write down a differential privacy guarantee, verify it, compare it.

    \b
    Exit codes: 0 holds, 1 refuted or an expectation missed, 2 bad input or
    usage, 3 undecided, 4 a needed plugin failed.

    Example: dpspec verify specs
    """


_PATHS = click.argument("paths", metavar="FILES_OR_DIRS...", nargs=-1, required=True, type=click.Path(path_type=str))


@main.command(short_help="Read specification files and report every fault.")
@_PATHS
@formatted
def check(paths: tuple[str, ...], as_json: bool) -> int:
    """Read specification files: syntax, schema, names, fit of the blocks. Nothing is computed.

    A directory stands for every *.dpspec.toml directly in it.

    Example: dpspec check specs/randomised-response.dpspec.toml
    """
    from dpspec.api import read_spec
    from dpspec.report import json, text

    def one(path: Path, registry: Registry) -> tuple[int, str, dict[str, Any], str]:
        found = read_spec(path, registry)
        return 0, "valid", json.checked(str(path), found), text.checked(str(path), found)

    return _each_file("check", paths, as_json, one)


@main.command(short_help="Judge what specification files state.")
@_PATHS
@formatted
def verify(paths: tuple[str, ...], as_json: bool) -> int:
    """Judge what specification files state: the claim of the mechanism, and every printed number.

    A directory stands for every *.dpspec.toml directly in it.

    Example: dpspec verify specs
    """
    from dpspec.api import verify_file
    from dpspec.report import json, text
    from dpspec.report.terminal import Work

    codes = {"verified": 0, "refuted": 1, "undecided": 3}
    with Work("verifying") as work:

        def one(path: Path, registry: Registry) -> tuple[int, str, dict[str, Any], str]:
            work.entitle(path.name)
            found = verify_file(path, registry, progress=work)
            outcome = found.outcome.value
            return codes[outcome], outcome, json.file_report(str(path), found), text.file_report(str(path), found)

        return _each_file("verify", paths, as_json, one)


Judged = tuple[int, str, dict[str, Any], str]
"""An exit code, an outcome, and the two reports of one file."""


def _each_file(command: str, paths: tuple[str, ...], as_json: bool, judge: Callable[[Path, Registry], Judged]) -> int:
    """Judge every file, whatever happens to the others; print each result as soon as it is there."""
    from dpspec.extension import installed
    from dpspec.report import json, text
    from dpspec.specfile.reader import spec_files

    registry = installed().registry
    codes, outcomes, results = [], [], []

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
            code = _worst(single["exit_code"] for single in json.errors(fault))
            outcome = {4: "plugin", 3: "undecided"}.get(code, "invalid")
            tell((code, outcome, json.failed(str(path), outcome, fault), text.failed(str(path), outcome, fault)))
            click.echo(text.error_lines(fault, str(path)), err=True)

    for path in paths:
        try:
            files = spec_files(path)
        except DpspecError as fault:
            attempt(path, lambda fault=fault: _raise(fault))  # type: ignore[misc]
            continue
        for file in files:
            attempt(file, lambda file=file: judge(file, registry))  # type: ignore[misc]
    code = _worst(codes)
    if as_json:
        click.echo(json.document(command, code, {"files": results}))
    elif len(outcomes) > 1:
        click.echo(text.summary(outcomes))
    return code


def _raise(fault: DpspecError) -> Judged:
    raise fault


@main.command(short_help="Does one specification imply the other?")
@click.argument("left", metavar="A", type=click.Path())
@click.argument("right", metavar="B", type=click.Path())
@formatted
def compare(left: str, right: str, as_json: bool) -> int:
    """Compare two specifications: does one imply the other, and what separates them?

    Exits with 0 when both directions were answered, with 3 when one stayed unknown.

    \b
    Example:
      dpspec compare specs/topdown-2020-pl.dpspec.toml \\
                     specs/swapping-2020-county-tract.dpspec.toml
    """
    from dpspec.api import compare_specs
    from dpspec.extension import installed
    from dpspec.params import collect
    from dpspec.report import comparison, json
    from dpspec.report.terminal import Work
    from dpspec.specfile.reader import read

    registry = installed().registry
    first, second = collect([lambda: read(left, registry), lambda: read(right, registry)])
    with Work("comparing"):
        found = compare_specs(first.spec, second.spec, registry)
    code = json.comparison_exit_code(found)
    if as_json:
        click.echo(json.document("compare", code, json.comparison(found, (first.id, second.id))))
    else:
        click.echo(comparison.text(found, first, second))
    return code


@main.command(short_help="List what is installed.")
@formatted
def plugins(as_json: bool) -> int:
    """List the plugins: name, distribution, version, state, and what each registers.

    \b
    DPSPEC_LOAD_PLUGINS=a,b loads only these; DPSPEC_BLOCK_PLUGINS=c leaves c out.

    Example: dpspec plugins
    """
    from dpspec.extension import installed
    from dpspec.report import json, text

    found = installed()
    code = 4 if found.faults() else 0
    click.echo(json.document("plugins", code, json.plugins(found)) if as_json else text.plugins(found))
    return code
