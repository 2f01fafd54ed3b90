"""The commands on several releases together: `ledger` adds up what they spend, `compose` counts their privacy losses."""

from __future__ import annotations

import click

from dpspec.cli.face import formatted, say, tell


@click.command(short_help="What do several releases of one data collection spend together?")
@click.argument("given", metavar="FILE_OR_DIR[=TIMES]...", nargs=-1, required=True, type=click.Path(path_type=str))
@click.option("--like", metavar="FILE", type=click.Path(), help="State the total about the space and in the unit of this file.")
@click.option("--out", metavar="FILE", type=click.Path(), help="Write the total as a specification file.")
@click.option("--cap", metavar="NUMBER", help="Exit with 1 where the total is above this number, in the unit of the total.")
@click.option("--as-promised", is_flag=True, help="Add refuted promises too; the total is then printed as one of promises.")
@formatted
def ledger(  # noqa: PLR0917 - one argument for each option
    given: tuple[str, ...], like: str | None, out: str | None, cap: str | None, as_promised: bool, as_json: bool
) -> int:
    """Add up the specifications of one data collection: one specification that all releases satisfy together.

    Universes intersect, so that invariants unite; distances and output divergences go to a common one; budgets add up
    there. A directory is every *.dpspec.toml directly in it; FILE=TIMES is a release that is made so many times, each time
    with noise of its own. Exits with 2 when the files do not compose, and says what is missing. Exits with 1 when the claim
    of a file is refuted, for a release that does not keep its promise spends more than it says.

    \b
    Examples:
      dpspec ledger specs/ledger-2020
      dpspec ledger specs/topdown-2020-pl-persons.dpspec.toml \\
                    specs/safetab-2020-ddhc-a.dpspec.toml --out both.dpspec.toml
      dpspec ledger wave-1.dpspec.toml=12 wave-2.dpspec.toml=4 --cap 3
    """
    from pathlib import Path

    from dpspec import composition as engine
    from dpspec.base.exact import number
    from dpspec.base.files import write_whole
    from dpspec.base.params import Exact
    from dpspec.extension import installed
    from dpspec.report import json, shown, text
    from dpspec.report.terminal import Work, number_in_words

    registry, most = installed().registry, None if cap is None else Exact(0, "inf").read(cap, "cap")
    with Work("adding up"):
        found = engine.compose_files(given, registry, like, as_promised=as_promised)
    spent = found.best.spec.budget.uniform()
    above = most is not None and spent is not None and number(spent) > most
    if out is not None:
        write_whole(Path(out), engine.composed_text(found, Path(out), registry))
    data = {**text.ledger_data(found, out), "cap": None if most is None else {"value": str(most), "above": above}}
    say(json.document("ledger", int(above), data) if as_json else shown.printed(found))
    if above and not as_json and spent is not None and most is not None:
        say(f"{found.spec.budget.parameter} = {number_in_words(number(spent))} is above the cap of {number_in_words(most)}")
    return int(above)


@click.command(short_help="What epsilon at a delta do many releases have together?")
@click.argument("given", metavar="FILE[=TIMES]...", nargs=-1, required=True, type=click.Path(path_type=str))
@click.option("--delta", metavar="P", help="Ask for the epsilon at this delta, in [0, 1).")
@click.option("--epsilon", metavar="E", help="Ask for the delta at this epsilon instead.")
@click.option("--like", metavar="FILE", type=click.Path(), help="State the result about the space and in the unit of this file.")
@click.option("--as-promised", is_flag=True, help="Count refuted promises too; the result is then one of promises.")
@formatted
def compose(  # noqa: PLR0917 - one argument for each option
    given: tuple[str, ...], delta: str | None, epsilon: str | None, like: str | None, as_promised: bool, as_json: bool
) -> int:
    """Count releases together by their privacy losses, instead of adding up their epsilons and deltas.

    FILE=TIMES is a release that is made so many times. Each file is taken at the worst pair of laws that its promise allows.
    Independent copies of these pairs are the worst that all releases show together. Their epsilon at a delta, or delta at an
    epsilon, is printed in a proved bracket. It holds for datasets at distance 1 of one universe. Budgets in rho have no such
    pair: `ledger` adds them up.

    \b
    Examples:
      dpspec compose specs/randomised-response.dpspec.toml=100 --delta 1e-6
      dpspec compose wave-1.dpspec.toml=12 wave-2.dpspec.toml=4 --epsilon 3
    """
    from dpspec import composition as engine
    from dpspec.extension import installed
    from dpspec.report.terminal import Work

    registry = installed().registry
    with Work("counting privacy losses"):
        found = engine.account_files(given, registry, like, as_promised=as_promised, delta=delta, epsilon=epsilon)
    tell(found, as_json)
    return 0
