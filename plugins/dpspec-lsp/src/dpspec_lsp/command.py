"""The command `dpspec lsp`."""

from __future__ import annotations

import click


@click.command(name="lsp", short_help="Start the language server for editors.")
def command() -> None:
    """Start a language server on the standard streams, for use by an editor: errors at their lines, explanations of names under
    the cursor, completion of tables, names and parameters.

    Example: dpspec lsp
    """
    from dpspec_lsp.server import server

    server().start_io()
