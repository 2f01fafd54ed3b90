"""The command `dpspec hunt`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpspec import CommandAnswer
    from dpspec.plugin.applications import Progress
    from dpspec_hunt.plans import Plan


class HuntCommand(click.Command):
    """A command that counts functions."""

    counts = ("hunting", "functions")


@click.command(name="hunt", cls=HuntCommand, short_help="Find and check the functions of a repository that draw noise.")
@click.argument("target")
@click.option("--out", metavar="DIR", type=click.Path(), help="Output folder for report, answers, specifications and tests.")
@click.option(
    "--answers", metavar="FILE.toml", type=click.Path(), help="File with the claims of the functions, as a hunt writes it."
)
@click.option("--yes", is_flag=True, help="Accept all guesses, and mark them in the report.")
@click.option("--ask", is_flag=True, help="Confirm each guess at the terminal.")
@click.option(
    "--seconds", metavar="S", type=float, default=10.0, show_default=True, help="Processor time for each function, in seconds."
)
@click.option("--trust", is_flag=True, help="Run the code with your own rights if no sandbox is available.")
def command(*, progress: Progress | None = None, **given: Any) -> CommandAnswer:
    """Find the functions of TARGET that draw noise, infer what they claim, and check each.

    TARGET is a file, a folder or an installed package. It is read, not imported. The claim, the data and the neighbours of each
    function are inferred from names, docstrings and parameters; guesses must be confirmed. Each function is checked by `dpspec
    verify --function` in a jail (Linux): its code changes no file, opens no socket, and sends no signal outside. Exits with 1 if
    a function is refuted, with 3 if one is undecided or needs confirmation, and with 5 if nothing was checked.

    \b
    Examples:
      dpspec hunt src
      dpspec hunt src --yes --out found
      dpspec hunt src --answers found/answers.toml
      pytest found/tests
    """
    from dpspec_hunt.hunt import hunt

    asker = _ask if given["ask"] and sys.stdin.isatty() else None
    return hunt(
        given["target"], out=given["out"], answers=given["answers"], yes=given["yes"], seconds=given["seconds"],
        trusted=given["trust"], ask=asker, progress=progress,
    )  # fmt: skip


def _ask(made: Plan) -> Mapping[str, Any] | None:
    """Ask about each guess of a plan; Enter takes it, `skip` leaves the function out."""
    from dpspec_hunt.page import asked_value

    drawing = made.drawing
    click.echo(f"{drawing.module.shown}:{drawing.node.lineno} {drawing.name}", err=True)
    found: dict[str, Any] = {}
    for guess in made.guesses:
        answer = click.prompt(f"  {guess.subject} ({guess.why})", default=str(guess.value), err=True)
        if answer == "skip":
            return None
        asked_value(found, guess, answer)
    return found
