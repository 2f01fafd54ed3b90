"""The command `dpspec study`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpspec import CommandAnswer
    from dpspec.plugin.applications import Progress


class StudyCommand(click.Command):
    """A command that counts its steps."""

    counts = ("studying", "steps")


@click.command(name="study", cls=StudyCommand, short_help="Compare designs for a table and recommend one.")
@click.argument("table", type=click.Path())
@click.option(
    "--for", "question", metavar="QUESTION.toml", type=click.Path(), help="File with the table to publish and the tolerated risk."
)
@click.option("--out", metavar="DIR", required=True, type=click.Path(), help="Output folder, which must not exist.")
@click.option("--codebook", metavar="FILE", type=click.Path(), help="CSV file of public categories: column, value, label.")
@click.option(
    "--runs",
    type=click.IntRange(2, 10_000),
    default=20,
    show_default=True,
    help="Number of simulated releases, if no law is known.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the simulated releases.")
def command(  # noqa: PLR0917 - one argument for each option
    table: str, question: str | None, out: str, codebook: str | None, runs: int, seed: int, progress: Progress | None = None
) -> CommandAnswer:
    """Compare seven designs of a release of TABLE at equal attacker risk, and recommend one.

    The question names the table of counts to publish; the default is the first two columns. The space is drafted from TABLE. The
    parameters of discrete noise and swapping are chosen for the requested risk. Cell keys, rounding, suppression and coarsening
    have no such parameter, and are shown with what is known about their risk. Each guarantee is verified or refuted for data of
    any size. Results computed from TABLE are in DIR/confidential. Exits with 3 if no design can be recommended.

    \b
    Examples:
      dpspec study survey.csv --out study
      dpspec study survey.parquet --for question.toml --codebook codes.csv --out study
    \b
    question.toml:
      columns = ["region", "age"]   # the table of counts
      exchange = ["region"]         # what two persons exchange
      risk = "1/2"                  # what a test with 5 % false alarms may find
    """
    from dpspec_study.study import study

    return study(table, question, out=out, codebook=codebook, runs=runs, seed=seed, progress=progress)
