"""The commands on whole tables: `release` draws a release of one, `synth` makes a public test table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from dpspec import CommandAnswer
    from dpspec.plugin.applications import Progress


class StagedProgress(Protocol):
    """Progress of work in stages, each of which has a title."""

    def __call__(self, done: int, total: int, /) -> None:
        """Report the progress of the stage; a total of 0 means unknown."""

    def entitle(self, title: str) -> None:
        """Begin another stage."""


class ReleaseCommand(click.Command):
    """A command that counts records as it reads, draws and writes them."""

    counts = ("reading", "records")


class AccuracyCommand(click.Command):
    """A command that counts the runs that it simulates."""

    counts = ("simulating", "runs")


class SynthCommand(click.Command):
    """A command that counts the records that it makes."""

    counts = ("making the table", None)


def _names_of_tables(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from dpspec import installed

    return [CompletionItem(name) for name in sorted(installed().registry.names("tables")) if name.startswith(incomplete)]


@click.command(cls=ReleaseCommand, short_help="Release a table with the mechanism of a specification.")
@click.argument("spec", type=click.Path())
@click.argument("table", type=click.Path())
@click.option(
    "--out", required=True, metavar="DIR", type=click.Path(), help="Output folder for the released tables and report.json."
)
@click.option(
    "--as", "suffix", metavar="SUFFIX", help="Format of the released tables: csv, parquet or arrow.  [default: that of TABLE]"
)
@click.option(
    "--workers",
    default="embedded",
    show_default=True,
    metavar="NAME",
    help="Workers that run the mechanism; `dpspec plugins` lists them.",
)
@click.option("--resume", is_flag=True, help="Continue the unfinished run in DIR, with the same random draws.")
@click.option(
    "--utility",
    is_flag=True,
    help="Also compare with TABLE, and write confidential tables and a figure to DIR.confidential.",
)
@click.option(
    "--margins",
    is_flag=True,
    help="Also write the 95 % margin of each number, in the column margin_95.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Seed for tests and audits. The release is then NOT fit for publication.",
)
@click.option(
    "--unverified",
    is_flag=True,
    help="Release even if the claim is not verified. The release is then NOT fit for publication.",
)
@click.option(
    "--memory",
    metavar="SIZE",
    help="Memory that the release may use, such as 4GB.  [default: half of the machine, its container or its address space]",
)
@click.option("--account", metavar="ACCOUNT", help="Account in which the budget is reserved before the release.")
@click.option("--period", metavar="PERIOD", help="With --account, the period of the data.  [default: the current one]")
@click.option("--fit", is_flag=True, help="With --account, add noise if SPEC exceeds the cap, so that it fits.")
@click.option("-v", "--verbose", is_flag=True, help="Show the full reasoning: steps, theorems, what was checked.")
def release(  # noqa: PLR0917 - one argument for each option
    spec: str,
    table: str,
    out: str,
    suffix: str | None,
    workers: str,
    resume: bool,
    utility: bool,
    margins: bool,
    seed: int | None,
    unverified: bool,
    memory: str | None,
    account: str | None,
    period: str | None,
    fit: bool,
    verbose: bool,
    progress: StagedProgress,
) -> CommandAnswer:
    """Release TABLE with the mechanism of SPEC, and write the release to DIR.

    TABLE is a file with one column for each attribute: .csv, .parquet, .arrow; with extras .sav, .dta, .xlsx, or a query in
    .sql. It may also be a registered table such as massachusetts-1940, or a directory with households.* and persons.* (or two
    folders of partitions), linked by a column household_id. A folder of other files of one format is one table. If the
    mechanism reads only counts, releases each record by itself, or swaps records, the table may be larger than memory. Random
    bits come from a key of the operating system. All files are written completely or not at all.

    The claim of SPEC is verified first. If it is refuted, nothing is released (exit 1). If it is undecided (exit 3), holds on
    miniatures only (7) or is unchecked (5), nothing is released without --unverified. With this option, the release is marked as
    not fit for publication. Confidential files are in DIR.confidential, which only you can open.

    With --account, the budget is reserved in an account of `dpspec account` before the first random bit, and committed with the
    hashes of the released files. If it exceeds the cap, nothing is drawn (exit 1). A run that fails after drawing began stays
    charged. With --fit, a release that exceeds the cap gets more noise, for the largest budget that fits. The report contains the
    specification that was released.

    \b
    Examples:
      dpspec release specs/swapping-1940-massachusetts.dpspec.toml \\
                     massachusetts-1940 --out out
      dpspec release swap.dpspec.toml dwellings.parquet --out out --utility
      dpspec release noisy.dpspec.toml survey.csv --out out --margins
      dpspec release noisy.dpspec.toml survey.csv --out out --account survey.db
    """
    import signal
    from functools import partial
    from pathlib import Path

    from dpspec import CommandAnswer, installed, read
    from dpspec.plugin.applications import harmless
    from dpspec.plugin.releases import read_size
    from dpspec_release import draw as engine, functions, text
    from dpspec_release.write import write, write_utility

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    registry = installed().registry
    if fit and (account is None or resume):
        rule = "belongs to --account" if account is None else "begins a new run"
        raise click.UsageError(f"--fit {rule}: `dpspec account fit` writes what fits as a file, to release and resume")
    guard = functions.guard_of(account, period)
    document = read(spec) if guard is None or not fit else guard.fit(read(spec))
    ending = f".{suffix.lstrip('.')}" if suffix else None
    options = engine.Options(
        seed=seed,
        workers=workers,
        resume=resume,
        suffix=ending,
        unverified=unverified,
        memory=None if memory is None else read_size(memory),
        margins=margins,
        progress=progress,
        stage=progress.entitle,
        guard=guard,
    )
    try:
        drawn = engine.draw(document, table, registry, Path(out), options)
        others = drawn.place.others()
        progress.entitle("writing")
        data = write(drawn, registry, Path(out))
    except BaseException:
        if guard is not None and guard.left():
            click.echo(harmless(guard.left()), err=True)
        raise
    if utility:
        data["utility"] = write_utility(drawn)
    notes = [] if data["warning"] is None else [data["warning"]]
    if options.guard is not None:
        notes.append(str(options.guard))
    if others:
        names = harmless(", ".join(others), keep="")
        notes.append(f"{out} also holds what no release here has placed, and it is left as it is: {names}")
    return CommandAnswer("release", 0, data, partial(text.released, data, out, verbose=verbose), notes=notes)


@click.command(cls=SynthCommand, short_help="Create a public test table of any size.")
@click.argument("name", required=False, shell_complete=_names_of_tables)
@click.option("--rows", type=click.IntRange(min=1), help="Number of records.  [default: that of the original table]")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the random part.  [default: the same table each time]")
@click.option("--out", metavar="FILE", type=click.Path(), help="Output file: .csv, .parquet or .arrow.")
def synth(
    name: str | None, rows: int | None, seed: int | None, out: str | None, progress: Progress | None = None
) -> CommandAnswer:
    """Create a census-like table from published margins, for tests at scale and for demonstrations without confidential data. Its
    records are invented. Without NAME, list the available tables with their sources.

    \b
    Examples:
      dpspec synth
      dpspec synth massachusetts-1940 --rows 50000000 --out dwellings.parquet
    """
    from dpspec_release import functions

    if name is not None and out is None:
        raise click.UsageError("Missing option '--out': the file to write.")
    return functions.synth(name, rows=rows, out=out, seed=seed, progress=progress)


@click.command(cls=AccuracyCommand, short_help="Compute margins of error of published numbers.")
@click.argument("spec", type=click.Path())
@click.argument("released", metavar="[RELEASE]", required=False, type=click.Path())
@click.option("--level", metavar="P", default="19/20", show_default=True, help="Probability that a number is within its margin.")
@click.option(
    "--runs", type=click.IntRange(min=1), default=200, show_default=True, help="Number of simulated runs, if no law is known."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the simulated runs.")
@click.option("--out", metavar="FILE", type=click.Path(), help="Write the released numbers with their margins to FILE (CSV).")
def accuracy(  # noqa: PLR0917 - one option, one argument
    spec: str, released: str | None, level: str, runs: int, seed: int, out: str | None, progress: Progress
) -> CommandAnswer:
    """Compute the margin of error of each table that SPEC publishes: bias, standard deviation, and the margin that holds in 95 %
    of releases.

    Before a release, the numbers follow from the law of the mechanism alone. With RELEASE, a folder of `dpspec release` or one
    released file, --out writes every published number with its margin, with one column for each attribute. If no law is known, as
    for swaps, the mechanism is simulated on the released data in place of the confidential table. Nothing confidential is read.
    Exits with 3 if nothing is known.

    \b
    Examples:
      dpspec accuracy specs/mechanisms/laplace-table-add-remove.dpspec.toml
      dpspec accuracy counts.dpspec.toml out --out counts-with-margins.csv
    """
    from dpspec_release import functions

    return functions.accuracy(spec, released, level=level, runs=runs, seed=seed, out=out, progress=progress)
