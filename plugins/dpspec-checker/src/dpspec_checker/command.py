"""The commands `check-proof`, `check-derivation`, `check-bounds`: of `dpspec`, and of `dpspec-checker` where dpspec is absent."""

from __future__ import annotations

import json
import sys
from copy import copy
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dpspec_checker.answers import CheckerAnswer


@click.command(name="check-derivation", short_help="Verify a saved derivation with an independent checker.")
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--trust", multiple=True, metavar="RULE", help="Accept the steps of this rule, which the checker does not know.")
def check_derivation(path: str, trust: tuple[str, ...]) -> CheckerAnswer:
    """Verify a derivation step by step, with a checker that shares no code with the search.

    Exits with 0 if every step is accepted, with 1 if one is rejected or unchecked, and with 2 if FILE is not a derivation.

    \b
    Examples:
      dpspec compare specs/topdown-2020-pl.dpspec.toml \\
                     specs/topdown-2020-dhc.dpspec.toml --derivation d.json
      dpspec check-derivation d.json
    """
    from dpspec_checker import answers

    return answers.check_derivation(path, trust)


@click.command(name="check-proof", short_help="Verify a saved proof with an independent checker.")
@click.argument("path", metavar="FILE", type=click.Path())
def check_proof(path: str) -> CheckerAnswer:
    """Recompute every step of a proof and the statements of its verdict, with a checker that shares no code with the engine.

    FILE is written by `dpspec verify --format json`. The constant, its tightness, the attaining pair and the scope are
    recomputed. Title, SHA-256 and claim are compared with the specification file, so run the command in the same directory.
    Assumptions that the checker does not check are listed at the end. Exits with 0 if everything is recomputed, with 1 if
    something is wrong or cannot be recomputed, and with 2 if FILE contains no proof. Exits with 5 if all proofs are recomputed
    and FILE also has a specification without a proof.

    \b
    Examples:
      dpspec verify specs/census-2020 --format json > v.json
      dpspec check-proof v.json
    """
    from dpspec_checker import answers

    return answers.check_proof(path)


@click.command(name="check-bounds", short_help="Verify the cell ranges of an audit with an independent checker.")
@click.argument("path", metavar="FILE", type=click.Path())
def check_bounds(path: str) -> CheckerAnswer:
    """Recompute every range of a cell in the certificate of an audit, with a checker that does not use the solver.

    FILE is written by `dpspec rules audit --certificate FILE`. Exits with 0 if every range follows from the statements, with 1 if
    one does not, and with 2 if FILE is not a certificate.

    \b
    Examples:
      dpspec rules audit tables --rules counts.rules.toml --certificate c.json
      dpspec check-bounds c.json
    """
    from dpspec_checker import answers

    return answers.check_bounds(path)


FORMAT = 1
"""The version of the JSON output, which is that of dpspec."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dpspec-checker")
def main() -> None:
    """Check derivations and proofs that dpspec wrote, without dpspec."""


def _alone(command: click.Command) -> click.Command:
    """A command with ``--format``, which prints its answer and ends with its exit code; as dpspec does for its own."""
    made, ask = copy(command), command.callback
    made.params = [*command.params, click.Option(["--format", "form"], type=click.Choice(["text", "json"]), default="text")]

    def answered(form: str, **given: Any) -> None:
        from dpspec_checker.answers import printable
        from dpspec_checker.errors import CheckerError

        assert ask is not None  # noqa: S101 - each command has one
        try:
            found: CheckerAnswer = ask(**given)
        except CheckerError as fault:
            click.echo(printable(str(fault)), err=True)
            content = {"errors": [{"code": fault.code, "message": str(fault), "exit_code": fault.exit_code}]}
            name, code, text = "error", fault.exit_code, ""
        else:
            name, code, content, text = found.command, found.exit_code, found.content, str(found)
        if form == "json":  # ASCII: nothing in it is a command to a terminal
            text = json.dumps({"format": FORMAT, "command": name, "exit_code": code, **content}, indent=2)
        if text:
            click.echo(text)
        sys.exit(code)

    made.callback = answered
    return made


main.add_command(_alone(check_derivation))
main.add_command(_alone(check_proof))
main.add_command(_alone(check_bounds))
