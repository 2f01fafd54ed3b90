"""The command `dpspec tradeoff`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpspec import CommandAnswer
    from dpspec.plugin.applications import Progress


@click.command(name="tradeoff", short_help="Which design has which error at which risk?")
@click.argument("specs", metavar="SPECS...", nargs=-1, required=True, type=click.Path())
@click.option("--table", metavar="TABLE", required=True, help="The table: a file, or a registered table.")
@click.option("--statistic", metavar="marginal:ATTRS", required=True, help="The table of counts whose error is computed.")
@click.option("--metric", type=click.Choice(["mape", "mae", "rmse", "max"]), default="mape", show_default=True, help="The error.")
@click.option(
    "--risk", metavar="RISK", default="power:0.05:exchange", show_default=True,
    help="power:LEVEL, odds or belief:PRIOR, each with :exchange or without; or exposure.",
)  # fmt: skip
@click.option(
    "--vary", metavar="PATH=VALUES", multiple=True,
    help="The parameter that varies: mechanism.NAME, variance or budget, as 1/10,1/2 or 0.1..0.5:5. May be repeated.",
)  # fmt: skip
@click.option("--at-risk", metavar="R", help="Solve for the parameter of each design that has this risk.")
@click.option("--exchange", metavar="ATTR,...", help="The values that two records exchange; else those of the first swap.")
@click.option("--runs", type=click.IntRange(2, 10_000), default=20, show_default=True, help="Releases drawn for each point.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The seed of these releases.")
@click.option("--out", metavar="FILE", help="Write the figure to FILE, as SVG, PNG or PDF by its ending.")
@click.option("--cells", metavar="FILE", help="Write the error of each cell to FILE, as CSV: confidential.")
def command(
    specs: tuple[str, ...], table: str, statistic: str, progress: Progress | None = None, **options: str
) -> CommandAnswer:  # fmt: skip
    """Compare designs on TABLE: the risk of each against its error, over a parameter.

    The risk in the worst universe and that for this table are separate numbers, each with the two datasets that it compares. The
    error is exact where the law of the published numbers is known, and simulated otherwise, with a confidence interval. What is
    not known is reported with a reason; exit code 3 if that is all there is of a design. The numbers are confidential.

    \b
    Examples:
      dpspec tradeoff specs/swapping-1940-massachusetts.dpspec.toml \\
                      --table massachusetts-1940 --statistic marginal:county,tenure \\
                      --vary mechanism.swap_rate=1/5,1/2 --out tradeoff.svg
      dpspec tradeoff specs/swapping-1940-massachusetts.dpspec.toml \\
                      --table massachusetts-1940 --statistic marginal:county,tenure \\
                      --vary mechanism.swap_rate=0.01..0.9 --at-risk 0.8
    """
    from dpspec_disclosure.tradeoff import tradeoff

    exchange = [name.strip() for name in (options.pop("exchange") or "").split(",") if name.strip()]
    return tradeoff(*specs, table=table, statistic=statistic, exchange=exchange, progress=progress, **options)  # type: ignore[arg-type]
