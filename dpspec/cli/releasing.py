"""The commands that release: `ledger` adds up what releases spend, `compose` counts their privacy losses,
`release` draws one, `synth` makes a public test table."""

from __future__ import annotations

import click

from dpspec.base.errors import harmless
from dpspec.cli.face import formatted, named, reasoned, say, tell


@click.command(short_help="What do several releases of one data collection spend together?")
@click.argument("paths", metavar="FILES_OR_DIRS...", nargs=-1, required=True, type=click.Path(path_type=str))
@click.option("--like", metavar="FILE", type=click.Path(), help="State the total about the space and in the unit of this file.")
@click.option("--out", metavar="FILE", type=click.Path(), help="Write the total as a specification file.")
@click.option("--as-promised", is_flag=True, help="Add refuted promises too; the total is then printed as one of promises.")
@formatted
def ledger(paths: tuple[str, ...], like: str | None, out: str | None, as_promised: bool, as_json: bool) -> int:
    """Add up the specifications of one data collection: one specification that all releases satisfy together.

    Universes intersect, so that invariants unite; distances and output divergences go to a common one; budgets add up
    there. A directory stands for every *.dpspec.toml directly in it. Exits with 2 when the files do not compose, and
    says what is missing; with 1 when the claim of a file is refuted, for a release that does not keep its promise spends
    more than it says.

    \b
    Examples:
      dpspec ledger specs/ledger-2020
      dpspec ledger specs/topdown-2020-pl-persons.dpspec.toml \\
                    specs/safetab-2020-ddhc-a.dpspec.toml --out both.dpspec.toml
    """
    from pathlib import Path

    from dpspec import api, composition as engine
    from dpspec.base.files import write_whole
    from dpspec.extension import installed
    from dpspec.report import json, shown, text
    from dpspec.report.terminal import Work

    registry = installed().registry
    with Work("adding up"):
        found = api.ledger(*paths, like=like, as_promised=as_promised)
    if out is not None:
        write_whole(Path(out), engine.composed_text(found, Path(out), registry))
    say(json.document("ledger", 0, text.ledger_data(found, out)) if as_json else shown.printed(found))
    return 0


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

    FILE=TIMES is a release that is made so many times. Each file is taken at the worst pair of laws that its promise allows;
    independent copies of these pairs are the worst that all releases show together, whose epsilon at a delta, or delta at an
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


@click.command(short_help="Draw one release of a real table.")
@click.argument("spec", type=click.Path())
@click.argument("table", type=click.Path())
@click.option(
    "--out", required=True, metavar="DIR", type=click.Path(), help="Write the released tables and report.json into this folder."
)
@click.option(
    "--as", "suffix", metavar="SUFFIX", help="Write the released tables as csv, parquet or arrow; without it as TABLE is."
)
@click.option(
    "--workers",
    default="embedded",
    show_default=True,
    metavar="NAME",
    help="Say which registered workers run the kernels of the mechanism; `dpspec plugins` lists them.",
)
@click.option(
    "--resume", is_flag=True, help="Go on with the unfinished run of DIR; what is drawn again is what was drawn before."
)
@click.option(
    "--utility",
    is_flag=True,
    help="Compare with TABLE as well, and write confidential tables and a picture into DIR.confidential.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Draw from this seed, for tests and audits; the release is then NOT fit for publication.",
)
@click.option(
    "--unverified",
    is_flag=True,
    help="Release although the claim is not verified; the release is then NOT fit for publication.",
)
@reasoned
@formatted
def release(  # noqa: PLR0917 - one argument for each option
    spec: str,
    table: str,
    out: str,
    suffix: str | None,
    workers: str,
    resume: bool,
    utility: bool,
    seed: int | None,
    unverified: bool,
    verbose: bool,
    as_json: bool,
) -> int:
    """Draw one release of TABLE by the mechanism of SPEC and write it to DIR.

    TABLE is a table file (.csv, .parquet, .arrow) with one column for each attribute, a directory with households.* and
    persons.* that are tied by a column household_id, or a registered table such as massachusetts-1940. Random bits come
    from a key of the operating system. All files are written whole or not at all.

    The claim of SPEC is judged first. Where it is refuted, nothing is released (exit 1). Where it is undecided (exit 3), holds on
    miniatures only (7) or was never checked (5), nothing is released without --unverified; with it the release is marked as not
    fit for publication. What is confidential lies in DIR.confidential, which you alone can open.

    \b
    Examples:
      dpspec release specs/swapping-1940-massachusetts.dpspec.toml \\
                     massachusetts-1940 --out out
      dpspec release swap.dpspec.toml dwellings.parquet --out out --utility
    """
    import signal
    from pathlib import Path

    from dpspec import releases as face
    from dpspec.extension import installed
    from dpspec.report import json, text
    from dpspec.report.terminal import Work
    from dpspec.specfile.reader import read

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    registry = installed().registry
    document = read(Path(spec), registry)
    ending = f".{suffix.lstrip('.')}" if suffix else None
    with Work("reading", unit="records") as work:
        options = face.Options(
            seed=seed, workers=workers, resume=resume, suffix=ending, unverified=unverified, progress=work, stage=work.entitle
        )
        drawn = face.draw(document, table, registry, Path(out), options)
        others = drawn.place.others()
        work.entitle("writing")
        data = face.write(drawn, registry, Path(out))
        if utility:
            data["utility"] = face.write_utility(drawn)
    say(json.document("release", 0, data) if as_json else text.released(data, out, verbose=verbose))
    if data["warning"] is not None:
        say(data["warning"], err=True)
    if others:
        names = harmless(", ".join(others), keep="")
        say(f"{out} also holds what no release here has placed, and it is left as it is: {names}", err=True)
    return 0


# --- `dpspec synth` -------------------------------------------------------------------------------


@click.command(short_help="Make a public test table of any size.")
@click.argument("name", required=False, shell_complete=named("tables"))
@click.option("--rows", type=click.IntRange(min=1), help="Make so many records; without it as many as the table's own size.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed the random part; without it the table is the same each time.")
@click.option("--out", metavar="FILE", type=click.Path(), help="Write this file: .csv, .parquet or .arrow.")
@formatted
def synth(name: str | None, rows: int | None, seed: int | None, out: str | None, as_json: bool) -> int:
    """Make a census-like table from published margins, for tests at scale and for demonstrations without confidential data.
    Without NAME: list the tables there are, each with its source. Their records are nobody's.

    \b
    Examples:
      dpspec synth
      dpspec synth massachusetts-1940 --rows 50000000 --out dwellings.parquet
    """
    from dpspec import commands
    from dpspec.report.terminal import Work

    if name is not None and out is None:
        raise click.UsageError("Missing option '--out': the file to write.")
    with Work("making the table") as work:
        found = commands.synth(name, rows=rows, out=out, seed=seed, progress=work)
    return tell(found, as_json)
