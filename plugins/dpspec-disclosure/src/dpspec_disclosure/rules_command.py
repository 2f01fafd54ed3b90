"""The commands on rules of disclosure control: `rules audit`, `rules check`, `rules compare`, `rules design`, `rules show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dpspec import CommandAnswer


@click.group(short_help="Audit tables, and check and compare rules of disclosure control.")
def rules() -> None:
    """Check tables against rules of statistical disclosure control, and compare such rules: thresholds, dominance, p-percent,
    redaction, rounding, cell keys, and chains of them.

    docs/rules.md describes rule files and what is checked.

    \b
    Examples:
      dpspec rules compare specs/rules/redact-5-round-5.rules.toml \\
                           specs/rules/redact-7-round-5.rules.toml
      dpspec rules check outputs --rules specs/rules/redact-7-round-5.rules.toml
    """


@rules.command("audit", short_help="Find suppressed cells that can be recomputed.")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path())
@click.option("--rules", "path", metavar="FILE", required=True, type=click.Path(), help="Rule file.")
@click.option(
    "--later", metavar="RELATION", default="same", show_default=True,
    help="Relation of each population to the one before: same, grows, any, or changes=N.",
)  # fmt: skip
@click.option("--certificate", metavar="FILE", type=click.Path(), help="Write the proofs, with confidential numbers, to FILE.")
@click.option("--secret", metavar="NAME", help="Attribute of one person that attackers want to learn.")
@click.option("--known", metavar="A,B", default="", help="Attributes of that person that attackers know.")
@click.option("--records", metavar="FILE", type=click.Path(), help="File of all records, for the attacker who knows all but one.")
def audit_rules(**given: Any) -> CommandAnswer:
    """Find the suppressed cells that published tables determine together, and name the sums that recompute them.

    All *.csv files in a DIR, searched recursively, are tables of one population. Several DIRs are releases in the order of time.
    No number of a table is printed. The certificate contains them, and `dpspec check-bounds` recomputes it without the solver.
    Exits with 0 if no suppressed cell can be recomputed, and with 1 if one can or a secret is certain. Exits with 2 if a table
    cannot be read, and with 3 if a cell is undecided or the numbers contradict each other. Exits with 5 if no cell is suppressed.

    \b
    Examples:
      dpspec rules audit tables --rules counts.rules.toml
      dpspec rules audit 2025 2026 --rules counts.rules.toml --later changes=20
      dpspec rules audit tables --rules counts.rules.toml --secret age --known region
    """
    from dpspec_disclosure import rules_functions

    known = [name.strip() for name in given.pop("known").split(",") if name.strip()]
    return rules_functions.rules_audit(*given.pop("folders"), rules=given.pop("path"), known=known, **given)


@rules.command("check", short_help="Check a folder of tables against a rule file.")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option("--rules", "path", metavar="FILE", required=True, type=click.Path(), help="Rule file.")
def check_rules(folder: str, path: str) -> CommandAnswer:
    """Check all *.csv files in DIR, searched recursively, against a rule file. Each violation has file, row, column and rule.

    No value of a table is printed. Exits with 0 if every table follows the rules, with 1 if a number breaks a rule, and with 2 if
    a table cannot be read. Exits with 3 if a rule could not be checked because the tables do not describe their cells, and with 5
    if a table has nothing to check.

    Example: dpspec rules check outputs --rules specs/rules/redact-7-round-5.rules.toml
    """
    from dpspec_disclosure import rules_functions

    return rules_functions.rules_check(folder, path)


@rules.command("compare", short_help="Compare what two rule files disclose.")
@click.argument("first", metavar="A", type=click.Path())
@click.argument("second", metavar="B", type=click.Path())
@click.option(
    "--total", metavar="N", type=click.IntRange(1, 36), help="For magnitudes, the largest total of a cell.  [default: 12]"
)
def compare_rule_files(first: str, second: str, total: int | None) -> CommandAnswer:
    """Compare what two rule files disclose: with the smallest table that separates them, and with the table that leaves the
    fewest possible values.

    For counts the result holds for every table, for magnitudes for all cells up to a total. Only which values are possible
    matters, not their probabilities.

    \b
    Example: dpspec rules compare specs/rules/redact-5-round-5.rules.toml \\
                                  specs/rules/redact-7-round-5.rules.toml
    """
    from dpspec_disclosure import rules_functions

    return rules_functions.rules_compare(first, second, total)


@rules.command("design", short_help="Find the least pattern of suppression.")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option("--rules", "path", metavar="FILE", required=True, type=click.Path(), help="Rule file.")
@click.option("--keep", metavar="A,B", multiple=True, help="Attributes whose cells stay published.")
@click.option(
    "--by", type=click.Choice(["cells", "records", "total"]), default="cells", show_default=True, help="Cost to minimise."
)
@click.option("--out", metavar="DIR", type=click.Path(), help="Output folder for the protected tables, which must not exist.")
def design_rules(folder: str, path: str, keep: tuple[str, ...], by: str, out: str | None) -> CommandAnswer:
    """Find the suppression pattern of least cost that protects all sensitive cells at a level of detail, with a proved bound on
    its cost.

    DIR has unprotected tables of one population. Cells that are sensitive by the rules are suppressed, and the fewest others that
    protect them. Exits with 0 if the pattern is proved to be the least, and with 1 if the published detail discloses a sensitive
    cell in every design. Exits with 2 if a table cannot be read, and with 3 if a pattern of a lower cost may exist.

    \b
    Example:
      dpspec rules design tables --rules counts.rules.toml --keep region --out protected
    """
    from dpspec_disclosure import rules_functions

    return rules_functions.rules_design(folder, path, keep, by, out)


@rules.command("show", short_help="Explain a rule file.")
@click.argument("path", metavar="FILE", type=click.Path())
def show_rules(path: str) -> CommandAnswer:
    """Explain a rule file: each step with its definition, formula and source, and what small published counts disclose.

    Example: dpspec rules show specs/rules/redact-7-round-5.rules.toml
    """
    from dpspec_disclosure import rules_functions

    return rules_functions.rules_show(path)
