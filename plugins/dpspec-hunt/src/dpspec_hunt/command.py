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


@click.command(name="hunt", cls=HuntCommand, short_help="Which functions of a repository draw noise, and what do they keep?")
@click.argument("target")
@click.option(
    "--out", metavar="DIR", type=click.Path(), help="Write report, answers, specifications and tests into this new folder."
)
@click.option("--answers", metavar="FILE.toml", type=click.Path(), help="What the functions claim, as a hunt writes it.")
@click.option("--yes", is_flag=True, help="Accept all guesses; they are marked.")
@click.option("--ask", is_flag=True, help="Ask about each guess at the terminal.")
@click.option("--seconds", metavar="S", type=float, default=10.0, show_default=True, help="Processor time for each function.")
@click.option("--trust", is_flag=True, help="Run the code with your own rights where there is no jail.")
def command(  # noqa: PLR0917 - one argument for each option
    target: str, out: str | None, answers: str | None, yes: bool, ask: bool, seconds: float, trust: bool, progress: Progress | None = None
) -> CommandAnswer:  # fmt: skip
    """Find the functions of TARGET that draw noise, infer what they claim, and check each.

    TARGET is a file, a folder or an installed package. It is read, not imported. What a function claims, on which data and between
    which neighbours is inferred from names, docstrings and parameters; where nothing says it, the function asks. Each is checked by
    `dpspec verify --function` in a jail: it changes no file, opens no socket, and sends no signal (Linux). Exits with 1 when a
    function is refuted, with 3 when one is undecided or asks, and with 5 when nothing was checked.

    \b
    Examples:
      dpspec hunt src
      dpspec hunt src --yes --out found
      dpspec hunt src --answers found/answers.toml
      pytest found/tests
    """
    from dpspec_hunt.hunt import hunt

    asker = _ask if ask and sys.stdin.isatty() else None
    return hunt(target, out=out, answers=answers, yes=yes, seconds=seconds, trusted=trust, ask=asker, progress=progress)


def _ask(made: Plan) -> Mapping[str, Any] | None:
    """Ask about each guess of a plan; Enter takes it, `skip` leaves the function out."""
    from dpspec_hunt.page import asked_value

    drawing = made.drawing
    click.echo(f"{drawing.module.shown}:{drawing.node.lineno} {drawing.name}", err=True)
    found: dict[str, Any] = {}
    for guess in made.guesses:
        answer = click.prompt(f"  {guess.about} ({guess.why})", default=str(guess.value), err=True)
        if answer == "skip":
            return None
        asked_value(found, guess, answer)
    return found
