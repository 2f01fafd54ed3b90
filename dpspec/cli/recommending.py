"""`dpspec recommend`: from a tolerated risk to a budget."""

from __future__ import annotations

import click

from dpspec.cli.face import formatted, say


@click.command(short_help="Which budget keeps a tolerated risk?")
@click.argument("tolerance", metavar="NAME")
@click.argument("settings", metavar="KEY=VALUE...", nargs=-1)
@formatted
def recommend(tolerance: str, settings: tuple[str, ...], as_json: bool) -> int:
    """Say how large a budget may be so that a tolerated risk is kept, who the binding attacker is, and what the noise of a count
    then looks like. No data are read: a budget that depended on them would tell something about them.

    NAME is a risk profile, such as two-dimensional, fixed-q or difference, or a bound on what is learned about membership;
    see `dpspec plugins` for all, `dpspec explain NAME` for their parameters.

    \b
    Examples:
      dpspec recommend fixed-q posterior=1/4 ratio=3 q=1
      dpspec recommend two-dimensional posterior=1/4 ratio=3
      dpspec recommend membership-difference difference=1/5 releases=12 \\
                       delta_each=1e-8 delta=1e-6 failure=1/100
    """
    from dpspec.extension import installed
    from dpspec.report import json, recommendation
    from dpspec.risk.settings import tolerance_of

    asked = tolerance_of(installed().registry, tolerance, settings)
    found = asked.recommend()
    told = recommendation.data(asked, found) if as_json else {}
    say(json.document("recommend", 0, told) if as_json else recommendation.text(asked, found))
    return 0
