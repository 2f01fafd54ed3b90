"""How every command behaves: ``--format``, exit codes, and what happens to errors.

Exit codes: 0 holds; 1 refuted or an expectation missed; 2 bad input or usage; 3 undecided; 4 a plugin, library or worker failed;
5 nothing was checked; 6 recorded as refuted, and is; 7 holds on miniatures only (`dpspec.verify.words`).
Beyond those: 70 a fault of dpspec itself, 130 interrupted, 141 nobody reads the output.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dpspec.errors import DpspecError, Faults
from dpspec.verify.words import worst_code

if TYPE_CHECKING:
    from dpspec.report.picture import Picture

_FORMAT = "dpspec.format"
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
    code = worst_code(single.exit_code for single in faults)
    if ctx.meta.get(_FORMAT) == "json":
        from dpspec.report import json

        click.echo(json.document("error", code, {"errors": json.errors(fault)}))
    return code


def picture_option(drawn: str) -> Callable[[Command], Command]:
    """Add ``--picture FILE``, which says what is drawn; a file that cannot be drawn is refused before any work."""

    def chosen(_: click.Context, __: click.Parameter, value: str | None) -> Picture | None:
        from dpspec.report.picture import Picture

        return None if value is None else Picture(Path(value))

    told = f"{drawn} into FILE, as SVG or PNG by its ending."
    return click.option("--picture", metavar="FILE", type=click.Path(), callback=chosen, help=told)


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
