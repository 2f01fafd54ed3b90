"""The command `dpspec exposure`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpspec import CommandAnswer


@click.command(name="exposure", short_help="Compute what exactly published tables disclose.")
@click.argument("spec", type=click.Path())
@click.argument("table", required=False, type=click.Path())
@click.option("--secret", metavar="ATTR,...", help="Attributes of the secret.  [default: each attribute in turn]")
@click.option("--known", metavar="ATTR,...", help="Attributes of the target that the attacker knows.  [default: all others]")
@click.option(
    "--unknown", metavar="K", type=click.IntRange(min=1), default=1, show_default=True,
    help="Number of records that the attacker does not know, including the target's.",
)  # fmt: skip
def command(spec: str, table: str | None, secret: str | None, known: str | None, unknown: int) -> CommandAnswer:
    """Compute what the tables that SPEC publishes exactly (its invariants) disclose before any noise is added.

    With TABLE, count the records that these tables determine, for an attacker who knows nothing else, who knows the target's
    values, or who knows all records but K. Records without a proof either way are counted as undecided, never as safe; the exit
    code is then 3. Without TABLE, list the changes of one record that no universe allows. The numbers are confidential.

    \b
    Examples:
      dpspec exposure specs/swapping-1940-massachusetts.dpspec.toml
      dpspec exposure specs/swapping-1940-massachusetts.dpspec.toml \\
                      massachusetts-1940 --secret county --known tenure,persons
    """
    from dpspec_disclosure.analysis import exposure

    return exposure(spec, table, secret=_names(secret) or (), known=_names(known), unknown=unknown)


def _names(given: str | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(name.strip() for name in given.split(",") if name.strip())
