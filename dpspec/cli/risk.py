"""`dpspec risk`: what a specification means to an attacker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dpspec.cli.face import formatted, picture_option, say

if TYPE_CHECKING:
    from dpspec.report.picture import Picture


@click.command(short_help="What does a budget mean to an attacker?")
@click.argument("path", metavar="FILE", type=click.Path())
@click.option(
    "--attacker",
    metavar="NAME",
    help="The attacker model; see `dpspec plugins`, `dpspec explain NAME`. Without it a panel of some.",
)
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A parameter of the attacker; lists and tables as in TOML."
)
@click.option(
    "--universe-of", metavar="TABLE", help="Where budgets differ by universe: that of this table, or of a release's report.json."
)
@picture_option("Also draw the numbers")
@formatted
def risk(  # noqa: PLR0917 - one option, one argument
    path: str, attacker: str | None, settings: tuple[str, ...], universe_of: str | None, picture: Picture | None, as_json: bool
) -> int:
    """Say what an attacker can do with a release: under the worst mechanism that the specification FILE allows, and under
    the mechanism that the file names. Every number comes with its theorem and its assumption. What is published exactly is
    known to every attacker: candidates that it tells apart are known for certain.

    Exits with 1 when the mechanism is beyond what its specification allows.

    \b
    Examples:
      dpspec risk specs/topdown-2020-pl.dpspec.toml --attacker tester
      dpspec risk specs/randomised-response.dpspec.toml --attacker tester \\
                  --set 'levels=["0.01", "0.05"]' --picture power.svg
      dpspec risk specs/randomised-response.dpspec.toml
    """
    from dpspec.api import assess, assess_panel, quick_standing
    from dpspec.extension import installed
    from dpspec.report import json
    from dpspec.report import risk as words
    from dpspec.report.terminal import Work
    from dpspec.specfile.reader import read

    registry = installed().registry
    found = read(path, registry)
    with Work("asking how the claim stands"):
        stands = quick_standing(found, registry)
    if attacker is None:
        if settings or picture is not None:
            raise click.UsageError("--set and --picture belong to one attacker; name it: --attacker NAME")
        with Work("asking"):
            told = assess_panel(found, registry, universe_of)
        code = 1 if told.exceeded else 0
        data = words.panel_data(told, found, stands)
        say(json.document("risk", code, data) if as_json else words.panel_text(told, found, stands))
        return code
    with Work("asking"):
        report = assess(found, attacker, settings, registry, universe_of)
    if picture is not None:
        picture.save(words.picture(report, found))
    code = 1 if report.exceeded else 0
    say(json.document("risk", code, words.data(report, found, stands)) if as_json else words.text(report, found, stands))
    return code
