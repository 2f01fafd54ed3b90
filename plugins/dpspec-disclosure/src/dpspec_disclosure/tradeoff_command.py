"""The command `dpspec tradeoff`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpspec import CommandAnswer
    from dpspec.plugin.applications import Progress


@click.command(name="tradeoff", short_help="Compare designs by risk and error on a table.")
@click.argument("specs", metavar="SPECS...", nargs=-1, required=True, type=click.Path())
@click.option("--table", metavar="TABLE", required=True, help="Table: a file, or a registered table.")
@click.option("--statistic", metavar="marginal:ATTRS", required=True, help="Table of counts whose error is computed.")
@click.option(
    "--metric", type=click.Choice(["mape", "mae", "rmse", "max"]), default="mape", show_default=True, help="Error measure."
)
@click.option(
    "--risk", metavar="RISK", default="power:0.05:exchange", show_default=True,
    help="Risk: power:LEVEL, odds or belief:PRIOR, each optionally with :exchange; or exposure.",
)  # fmt: skip
@click.option(
    "--vary", metavar="PATH=VALUES", multiple=True,
    help="Parameter that varies: mechanism.NAME, variance or budget, as 1/10,1/2 or 0.1..0.5:5. May be repeated.",
)  # fmt: skip
@click.option("--at-risk", metavar="R", help="Find the parameter with which each design has this risk.")
@click.option("--exchange", metavar="ATTR,...", help="Attributes that two records exchange.  [default: those of the first swap]")
@click.option(
    "--runs", type=click.IntRange(2, 10_000), default=20, show_default=True, help="Number of simulated releases for each point."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the simulated releases.")
@click.option("--out", metavar="FILE", help="Output file of the figure (SVG, PNG or PDF).")
@click.option("--cells", metavar="FILE", help="Write the error of each cell to FILE (CSV, confidential).")
def command(
    specs: tuple[str, ...], table: str, statistic: str, progress: Progress | None = None, **options: str
) -> CommandAnswer:  # fmt: skip
    """Compare designs on TABLE: the risk of each against its error, over the values of a parameter.

    The risk in the worst universe and the risk for this table are separate numbers, each with the two datasets that it compares.
    The error is exact if the law of the published numbers is known, and otherwise simulated, with a confidence interval. Unknown
    numbers are reported with a reason. Exits with 3 if no number of a design is known. The numbers are confidential.

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
