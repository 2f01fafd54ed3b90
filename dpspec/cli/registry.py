"""`dpspec registry import` and `registry export`: records of the deployments registry."""

from __future__ import annotations

import click

from dpspec.cli.face import formatted, say


@click.group(short_help="Read and write records of the deployments registry.")
def registry() -> None:
    """Read records of the Differential Privacy Deployments Registry as specification files, and write such files as records.

    docs/registry.md says what becomes of each field.

    \b
    Examples:
      dpspec registry import deployments/google_mobility.yaml --out specs
      dpspec registry export specs/google-mobility.dpspec.toml --out google_mobility.yaml
    """


@registry.command("import", short_help="Make specification files of records.")
@click.argument("paths", metavar="FILES_OR_DIRS...", nargs=-1, required=True, type=click.Path(path_type=str))
@click.option(
    "--out", "folder", metavar="DIR", required=True, type=click.Path(), help="Write the specification files into this folder."
)
@formatted
def import_command(paths: tuple[str, ...], folder: str, as_json: bool) -> int:
    """Make a specification file of each record. A directory stands for every *.yaml directly in it.

    Nothing is guessed: what a record says in words alone holds a place, is marked as assumed, and is listed as what a person
    must fill in, beside warnings about what is odd. Where a record has a fault, all faults are told and nothing is written.
    No file is overwritten.

    \b
    Examples:
      dpspec registry import deployments/google_mobility.yaml --out specs
      dpspec registry import deployments --out specs --format json
    """
    from pathlib import Path

    from dpspec.exchange.importing import import_data, import_records, import_text, record_files, write_records
    from dpspec.extension import installed
    from dpspec.report import json
    from dpspec.report.terminal import Work

    with Work("reading records"):
        found = import_records(record_files(paths), installed().registry)
        written = write_records(found, Path(folder))
    pairs = list(zip(found, written, strict=True))
    if as_json:
        say(json.document("registry-import", 0, {"records": [import_data(*pair) for pair in pairs]}))
    else:
        say("\n".join(import_text(*pair) for pair in pairs))
    return 0


@registry.command("export", short_help="Write a specification file as a record.")
@click.argument("path", metavar="FILE", type=click.Path(path_type=str))
@click.option(
    "--out",
    metavar="YAML",
    required=True,
    type=click.Path(),
    help="Write the record here: lower-case letters, digits, _ and .yaml.",
)
@click.option("--author", "authors", metavar="NAME", multiple=True, help="Say who writes the record, where the file does not.")
@formatted
def export_command(path: str, out: str, authors: tuple[str, ...], as_json: bool) -> int:
    """Write a specification FILE as a record of the registry, as its schema and its check script want it.

    Words that came from a record are written as they came; others are made of the blocks that the file states. Addresses are
    looked at for their shape; none is asked. An existing file is not overwritten.

    \b
    Examples:
      dpspec registry export specs/google-mobility.dpspec.toml --out google_mobility.yaml
      dpspec registry export births.dpspec.toml --out births.yaml --author "A. Person"
    """
    from pathlib import Path

    from dpspec.api import read
    from dpspec.exchange.exporting import export_data, export_record, export_text, write_record
    from dpspec.report import json

    target = Path(out)
    found = export_record(read(path), target.name, authors)
    write_record(found, target)
    say(json.document("registry-export", 0, export_data(found, path, target)) if as_json else export_text(found, target))
    return 0
