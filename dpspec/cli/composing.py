"""The commands on several releases together: `ledger` adds up what they spend, `compose` counts their privacy losses."""

from __future__ import annotations

import click

from dpspec.cli.framework import emit, formatted, say


@click.command(short_help="Compute the total budget of several releases of one data collection.")
@click.argument("given", metavar="FILE_OR_DIR[=TIMES]...", nargs=-1, required=True, type=click.Path(path_type=str))
@click.option("--like", metavar="FILE", type=click.Path(), help="State the total in the space and unit of this file.")
@click.option("--out", metavar="FILE", type=click.Path(), help="Write the total as a specification file.")
@click.option("--cap", metavar="NUMBER", help="Exit with 1 if the total is above this number, in the unit of the total.")
@click.option("--as-promised", is_flag=True, help="Include refuted guarantees; the total is then marked as promised, not proved.")
@formatted
def ledger(  # noqa: PLR0917 - one argument for each option
    given: tuple[str, ...], like: str | None, out: str | None, cap: str | None, as_promised: bool, as_json: bool
) -> int:
    """Compute the specification that all releases of one data collection satisfy together.

    The invariants of all files hold together. Distances and output divergences are converted to a common one, in which budgets
    add up. A directory means all *.dpspec.toml files directly in it. FILE=TIMES is a release that is repeated with independent
    noise. Exits with 2 if the files do not compose, and names what is missing. Exits with 1 if the claim of a file is refuted,
    because such a release spends more than it states.

    \b
    Examples:
      dpspec ledger specs/ledger-2020
      dpspec ledger specs/topdown-2020-pl-persons.dpspec.toml \\
                    specs/safetab-2020-ddhc-a.dpspec.toml --out both.dpspec.toml
      dpspec ledger wave-1.dpspec.toml=12 wave-2.dpspec.toml=4 --cap 3
    """
    from pathlib import Path

    from dpspec.base.exact import number
    from dpspec.base.files import write_whole
    from dpspec.base.params import Exact
    from dpspec.base.words import worst_code
    from dpspec.comparison import composition as engine
    from dpspec.extension import installed
    from dpspec.report import json, ledgers, pages
    from dpspec.report.terminal import Work, number_in_words

    registry, most = installed().registry, None if cap is None else Exact(0, "inf").read(cap, "cap")
    with Work("adding up"):
        found = engine.compose_files(given, registry, like, as_promised=as_promised)
    spent = found.best.spec.budget.uniform()
    above = most is not None and spent is not None and number(spent) > most
    if out is not None:
        write_whole(Path(out), engine.composed_text(found, Path(out), registry))
    data = {**ledgers.ledger_data(found, out), "cap": None if most is None else {"value": str(most), "above": above}}
    code = worst_code([int(above), ledgers.exit_code(found)])
    say(json.document("ledger", code, data) if as_json else pages.printed(found))
    if above and not as_json and spent is not None and most is not None:
        say(f"{found.spec.budget.parameter} = {number_in_words(number(spent))} is above the cap of {number_in_words(most)}")
    return code


@click.command(short_help="Compute the epsilon of many releases together, at a delta.")
@click.argument("given", metavar="FILE[=TIMES]...", nargs=-1, required=True, type=click.Path(path_type=str))
@click.option("--delta", metavar="P", help="Compute the epsilon at this delta in [0, 1).")
@click.option("--epsilon", metavar="E", help="Compute the delta at this epsilon instead.")
@click.option("--like", metavar="FILE", type=click.Path(), help="State the result in the space and unit of this file.")
@click.option(
    "--as-promised", is_flag=True, help="Include refuted guarantees; the result is then marked as promised, not proved."
)
@formatted
def compose(  # noqa: PLR0917 - one argument for each option
    given: tuple[str, ...], delta: str | None, epsilon: str | None, like: str | None, as_promised: bool, as_json: bool
) -> int:
    """Compute the epsilon of many releases from their privacy losses, which is less than the sum of their epsilons.

    FILE=TIMES is a release that is repeated. Each file contributes the worst pair of output laws that its guarantee allows. The
    epsilon at a delta, or the delta at an epsilon, is printed as a proved bracket. It holds for datasets of one universe at
    distance 1. Budgets in rho have no worst pair; use `ledger` for them.

    \b
    Examples:
      dpspec compose specs/randomised-response.dpspec.toml=100 --delta 1e-6
      dpspec compose wave-1.dpspec.toml=12 wave-2.dpspec.toml=4 --epsilon 3
    """
    from dpspec.comparison import composition as engine
    from dpspec.extension import installed
    from dpspec.report import ledgers
    from dpspec.report.terminal import Work

    registry = installed().registry
    with Work("counting privacy losses"):
        found = engine.account_files(given, registry, like, as_promised=as_promised, delta=delta, epsilon=epsilon)
    emit(found, as_json)
    return ledgers.exit_code(found)
