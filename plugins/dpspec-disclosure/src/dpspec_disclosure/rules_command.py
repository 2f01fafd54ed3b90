"""The commands on rules of statistical disclosure control: `rules check`, `rules compare` and `rules show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpspec import CommandAnswer


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
def check_rules(folder: str, path: str) -> CommandAnswer:
    """Hold every *.csv in DIR, and in the folders in it, to a rule file: what breaks it, with file, row, column and rule.

    No value of a table is printed. Exits with 0 when every table holds, with 1 when a number breaks a rule, and with 2 when a
    table cannot be read. Exits with 3 when a step could not be checked because tables do not say what is in their cells, and
    with 5 when a table holds nothing to check.

    Example: dpspec rules check outputs --rules specs/rules/redact-7-round-5.rules.toml
    """
    from dpspec_disclosure import rules_functions

    return rules_functions.rules_check(folder, path)


@rules.command("compare", short_help="Which of two rule files lets more be inferred?")
@click.argument("first", metavar="A", type=click.Path())
@click.argument("second", metavar="B", type=click.Path())
@click.option(
    "--total", metavar="N", type=click.IntRange(1, 36), help="Of magnitudes, look at cells up to this total.  [default: 12]"
)
def compare_rule_files(first: str, second: str, total: int | None) -> CommandAnswer:
    """Compare two rule files: which lets more be inferred, by the smallest table and by the one that leaves the fewest answers.

    Of counts the answer is for every table; of magnitudes for all cells up to a total. What is possible counts, not how
    probable it is.

    \b
    Example: dpspec rules compare specs/rules/redact-5-round-5.rules.toml \\
                                  specs/rules/redact-7-round-5.rules.toml
    """
    from dpspec_disclosure import rules_functions

    return rules_functions.rules_compare(first, second, total)


@rules.command("show", short_help="Say what a rule file means.")
@click.argument("path", metavar="FILE", type=click.Path())
def show_rules(path: str) -> CommandAnswer:
    """Say what a rule file means: each step with its definition, formula and source, and what small published counts
    disclose.

    Example: dpspec rules show specs/rules/redact-7-round-5.rules.toml
    """
    from dpspec_disclosure import rules_functions

    return rules_functions.rules_show(path)
