"""The command `dpspec lsp`."""

from __future__ import annotations

import click


@click.command(name="lsp", short_help="Serve editors: faults, explanations, completion.")
def command() -> None:
    """Speak the language server protocol over the standard streams, for an editor to start: faults at their lines, what names
    mean under the cursor, completion of tables, names and parameters.

    Example: dpspec lsp
    """
    from dpspec_lsp.server import server

    server().start_io()
