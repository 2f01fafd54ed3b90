"""`dpspec synth`: public test tables of any size."""

from __future__ import annotations

import click

from dpspec.cli.face import formatted, say


@click.command(short_help="Make a public test table of any size.")
@click.argument("name", required=False)
@click.option("--rows", type=click.IntRange(min=1), help="How many records; default: the table's own size.")
@click.option("--seed", type=click.IntRange(min=0), help="Of the random part; without it the table is the same each time.")
@click.option("--out", metavar="FILE", type=click.Path(), help="The file to write: .csv, .parquet or .arrow.")
@formatted
def synth(name: str | None, rows: int | None, seed: int | None, out: str | None, as_json: bool) -> int:
    """Make a census-like table from published margins, for tests at scale and for demonstrations without confidential data.
    Without NAME: list the tables there are, each with its source. Their records are nobody's.

    \b
    Examples:
      dpspec synth
      dpspec synth massachusetts-1940 --rows 50000000 --out dwellings.parquet
    """
    from pathlib import Path

    from dpspec import synthesis
    from dpspec.extension import installed
    from dpspec.report import json
    from dpspec.report import synthesis as words
    from dpspec.report.terminal import Work

    registry = installed().registry
    if name is None:
        listed = [synthesis.described(builder) for builder in synthesis.builders(registry)]
        say(json.document("synth", 0, {"tables": listed}) if as_json else words.listing(listed))
        return 0
    if out is None:
        raise click.UsageError("Missing option '--out': the file to write.")
    with Work("making the table") as work:
        made = synthesis.synthesise(registry, name, Path(out), rows=rows, seed=seed, progress=work).data()
    say(json.document("synth", 0, made) if as_json else words.text(made))
    return 0
