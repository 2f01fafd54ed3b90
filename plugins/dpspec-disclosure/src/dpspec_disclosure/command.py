"""The command `dpspec exposure`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpspec import CommandAnswer


@click.command(name="exposure", short_help="What do exact tables disclose before any noise?")
@click.argument("spec", type=click.Path())
@click.argument("table", required=False, type=click.Path())
@click.option("--secret", metavar="ATTR,...", help="The attributes of the secret; without it, each attribute in turn.")
@click.option("--known", metavar="ATTR,...", help="What the attacker knows of the target; without it, all other attributes.")
@click.option(
    "--unknown", metavar="K", type=click.IntRange(min=1), default=1, show_default=True,
    help="An attacker who knows all records but K, the target's among them.",
)  # fmt: skip
def command(spec: str, table: str | None, secret: str | None, known: str | None, unknown: int) -> CommandAnswer:
    """Say what the tables that SPEC publishes exactly (its invariants) disclose before any noise is added.

    With TABLE: how many of its records are determined by these tables, for an attacker who knows nothing else, who knows the
    target's values, or who knows all records but K. What cannot be proved either way is counted as undecided, and never as safe;
    the exit code is then 3. Without TABLE: which changes of one record no universe allows. The numbers are confidential.

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
