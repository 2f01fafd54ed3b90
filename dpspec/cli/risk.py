"""`dpspec risk`: what a specification means to an attacker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dpspec.cli.face import formatted, picture_option

if TYPE_CHECKING:
    from dpspec.report.picture import Picture


@click.command(short_help="What does a budget mean to an attacker?")
@click.argument("path", metavar="FILE", type=click.Path())
@click.option(
    "--attacker", required=True, metavar="NAME", help="The attacker model; see `dpspec plugins`, `dpspec explain NAME`."
)
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A parameter of the attacker; lists and tables as in TOML."
)
@picture_option("Also draw the numbers")
@formatted
def risk(path: str, attacker: str, settings: tuple[str, ...], picture: Picture | None, as_json: bool) -> int:
    """Say what an attacker can do with a release: under the worst mechanism that the specification FILE allows, and under
    the mechanism that the file names. Every number comes with its theorem and its assumption.

    Exits with 1 when the mechanism is beyond what its specification allows.

    \b
    Examples:
      dpspec risk specs/topdown-2020-pl.dpspec.toml --attacker tester
      dpspec risk specs/randomised-response.dpspec.toml --attacker tester \\
                  --set 'levels=["0.01", "0.05"]' --picture power.svg
    """
    from dpspec.api import assess, quick_standing
    from dpspec.extension import installed
    from dpspec.report import json
    from dpspec.report import risk as words
    from dpspec.report.terminal import Work
    from dpspec.specfile.reader import read

    registry = installed().registry
    found = read(path, registry)
    with Work("asking"):
        report = assess(found, attacker, settings, registry)
        stands = quick_standing(found, registry)
    if picture is not None:
        picture.save(words.picture(report, found))
    code = 1 if report.exceeded else 0
    click.echo(json.document("risk", code, words.data(report, found, stands)) if as_json else words.text(report, found, stands))
    return code
