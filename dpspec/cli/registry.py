"""The commands on files that others wrote.

`registry import` and `registry export` are about records of the deployments registry; `rules check`, `rules compare` and
`rules show` about rules of statistical disclosure control.
"""

from __future__ import annotations

import click

from dpspec.cli.face import formatted, tell


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
    from dpspec import commands
    from dpspec.report.terminal import Work

    with Work("reading records"):
        found = commands.registry_import(*paths, out=folder)
    return tell(found, as_json)


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
    from dpspec import commands

    return tell(commands.registry_export(path, out, authors), as_json)


# --- rules of disclosure control ------------------------------------------------------------------


@click.group(short_help="Judge and compare rules of disclosure control.")
def rules() -> None:
    """Judge tables by rules of statistical disclosure control, and compare such rules: thresholds, dominance, p-percent,
    redaction, rounding, cell keys, and chains of them.

    docs/rules.md says how a rule file is written, and what is looked at.

    \b
    Examples:
      dpspec rules compare specs/rules/redact-5-round-5.rules.toml \\
                           specs/rules/redact-7-round-5.rules.toml
      dpspec rules check outputs --rules specs/rules/redact-7-round-5.rules.toml
    """


@rules.command("check", short_help="Hold a folder of tables to a rule file.")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option("--rules", "path", metavar="FILE", required=True, type=click.Path(), help="The rule file.")
@formatted
def check_rules(folder: str, path: str, as_json: bool) -> int:
    """Hold every *.csv in DIR, and in the folders in it, to a rule file: what breaks it, with file, row, column and rule.

    No value of a table is printed. Exits with 0 when every table holds, with 1 when a number breaks a rule, with 2 when a table
    cannot be read, with 3 when a step could not be judged because tables do not say what is in their cells, with 5 when a
    table holds nothing to check.

    Example: dpspec rules check outputs --rules specs/rules/redact-7-round-5.rules.toml
    """
    from dpspec import commands
    from dpspec.report.terminal import Work

    with Work("checking tables"):
        found = commands.rules_check(folder, path)
    return tell(found, as_json)


@rules.command("compare", short_help="Which of two rule files lets more be inferred?")
@click.argument("first", metavar="A", type=click.Path())
@click.argument("second", metavar="B", type=click.Path())
@click.option(
    "--total", metavar="N", type=click.IntRange(1, 36), help="Of magnitudes, look at cells up to this total.  [default: 12]"
)
@formatted
def compare_rule_files(first: str, second: str, total: int | None, as_json: bool) -> int:
    """Compare two rule files: which lets more be inferred, by the smallest table and by the one that leaves the fewest answers.

    Of counts the answer is for every table; of magnitudes for all cells up to a total. What is possible counts, not how
    probable it is.

    \b
    Example: dpspec rules compare specs/rules/redact-5-round-5.rules.toml \\
                                  specs/rules/redact-7-round-5.rules.toml
    """
    from dpspec import commands
    from dpspec.report.terminal import Work

    with Work("comparing rules"):
        found = commands.rules_compare(first, second, total)
    return tell(found, as_json)


@rules.command("show", short_help="Say what a rule file means.")
@click.argument("path", metavar="FILE", type=click.Path())
@formatted
def show_rules(path: str, as_json: bool) -> int:
    """Say what a rule file means: each step with its definition, formula and source, and what small published counts give away.

    Example: dpspec rules show specs/rules/redact-7-round-5.rules.toml
    """
    from dpspec import commands

    return tell(commands.rules_show(path), as_json)
