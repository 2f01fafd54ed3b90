"""The command line: `dpspec verify`, `compare`, `ledger`, `lint` and the others, a module for each group of commands.

No logic lives here: a command reads its arguments, calls the library, and prints a report. Results go to stdout, talk
and progress to stderr. Whatever a command needs is imported when it runs, so that ``dpspec --help`` answers at once.
"""

from __future__ import annotations

import click

from dpspec.cli.comparing import ablate, compare, convert, recommend, risk
from dpspec.cli.composing import compose, ledger
from dpspec.cli.files import (
    check,
    check_plugin,
    examples,
    explain,
    lint,
    measure,
    new,
    plugins as list_plugins,
    schema,
    verify,
)
from dpspec.cli.framework import CommandLine


@click.group(cls=CommandLine, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.version_option(package_name="dpspec", prog_name="dpspec")
def main() -> None:
    """Specify, verify, compare and explain differential privacy guarantees.

    \b
    Exit codes: 0 holds: checked, and true; 1 refuted, or an expectation
    missed; 2 bad input or usage; 3 undecided; 4 a plugin, library or worker
    failed; 5 nothing was checked; 6 known false (confirmed); 7 holds on
    miniatures only.

    \b
    To get started:
      dpspec examples --dir specs
      dpspec verify specs
    """


_IN_THE_ORDER_OF_THE_HELP = (
    check, verify, measure, compare, ablate, ledger, compose, convert, risk, recommend, lint,
    list_plugins, check_plugin, explain, examples, new, schema,
)  # fmt: skip
for _command in _IN_THE_ORDER_OF_THE_HELP:
    main.add_command(_command)
