"""The commands on rules of disclosure control: `rules audit`, `rules check`, `rules compare`, `rules design`, `rules show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dpspec import CommandAnswer


@click.group(short_help="Audit tables, and judge and compare rules of disclosure control.")
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


@rules.command("audit", short_help="Which suppressed cells can be recomputed?")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path())
@click.option("--rules", "path", metavar="FILE", required=True, type=click.Path(), help="The rule file.")
@click.option(
    "--later", metavar="RELATION", default="same", show_default=True,
    help="How each population follows from the one before: same, grows, any, or changes=N.",
)  # fmt: skip
@click.option("--certificate", metavar="FILE", type=click.Path(), help="Write the proofs, with confidential numbers, into FILE.")
@click.option("--secret", metavar="NAME", help="An attribute that attackers want to learn of one person.")
@click.option("--known", metavar="A,B", default="", help="The attributes that they know of that person.")
@click.option("--records", metavar="FILE", type=click.Path(), help="All records, for the attacker who knows all but one.")
def audit_rules(**given: Any) -> CommandAnswer:
    """Find the suppressed cells that published tables determine together, and name the sums that recompute them.

    Every *.csv in a DIR, and in the folders in it, is a table of one population. Several DIRs are releases in the order of time.
    No number of a table is printed; the certificate holds them, and `dpspec check-bounds` recomputes it without the solver. Exits
    with 0 when every suppressed cell is open, and with 1 when one can be recomputed or a secret is certain. Exits with 2 when a
    table cannot be read, and with 3 when a cell was not decided or the numbers contradict each other. Exits with 5 when no cell
    is suppressed.

    \b
    Examples:
      dpspec rules audit tables --rules counts.rules.toml
      dpspec rules audit 2025 2026 --rules counts.rules.toml --later changes=20
      dpspec rules audit tables --rules counts.rules.toml --secret age --known region
    """
    from dpspec_disclosure import rules_functions

    known = [name.strip() for name in given.pop("known").split(",") if name.strip()]
    return rules_functions.rules_audit(*given.pop("folders"), rules=given.pop("path"), known=known, **given)


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


@rules.command("design", short_help="Which cells to suppress, at the least.")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option("--rules", "path", metavar="FILE", required=True, type=click.Path(), help="The rule file.")
@click.option("--keep", metavar="A,B", multiple=True, help="Keep the cells of no other attributes than these published.")
@click.option("--by", type=click.Choice(["cells", "records", "total"]), default="cells", show_default=True, help="What is least.")
@click.option("--out", metavar="DIR", type=click.Path(), help="Write the protected tables into a new folder.")
def design_rules(folder: str, path: str, keep: tuple[str, ...], by: str, out: str | None) -> CommandAnswer:
    """Find the pattern of suppression with the least disclosure among all that keep a level of detail, and a bound on its cost.

    DIR has unprotected tables of one population. Cells that the rules call sensitive are suppressed, and the fewest others that
    protect them. Exits with 0 when the pattern is proved to be the least, and with 1 when what is kept discloses a
    sensitive cell in every design. Exits with 2 when a table cannot be read, and with 3 when a pattern of a lower cost may exist.

    \b
    Example:
      dpspec rules design tables --rules counts.rules.toml --keep region --out protected
    """
    from dpspec_disclosure import rules_functions

    return rules_functions.rules_design(folder, path, keep, by, out)


@rules.command("show", short_help="Say what a rule file means.")
@click.argument("path", metavar="FILE", type=click.Path())
def show_rules(path: str) -> CommandAnswer:
    """Say what a rule file means: each step with its definition, formula and source, and what small published counts
    disclose.

    Example: dpspec rules show specs/rules/redact-7-round-5.rules.toml
    """
    from dpspec_disclosure import rules_functions

    return rules_functions.rules_show(path)
