"""The commands on real deployments and releases.

`catalogue`, `label`, `evidence`, `certify`, `check-certificate`, `new deployment`, `registry import` and `registry export`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dpspec import CommandAnswer
    from dpspec.plugin.applications import Progress
    from dpspec_deployments.new_deployment import DeploymentQuestion

_VERDICTS = ("verified", "stand-in", "miniature", "recorded", "refuted", "undecided", "unchecked", "not-stated", "plugin")


def _as_csv(found: CommandAnswer) -> str:
    from dpspec_deployments.catalogue import list_csv

    return list_csv(found.value)


def _as_html(found: CommandAnswer) -> str:
    from dpspec.plugin.applications import renderer

    return str(renderer("document", "format html")(found.page())).rstrip("\n")


class CatalogueCommand(click.Command):
    """A command that prints CSV, too."""

    formats: Mapping[str, Callable[[CommandAnswer], str]] = {"csv": _as_csv}


class LabelCommand(click.Command):
    """A command that prints HTML, too."""

    formats: Mapping[str, Callable[[CommandAnswer], str]] = {"html": _as_html}


class AskingCommand(click.Command):
    """An interactive command, so that no progress is drawn over its questions."""

    asks = True


@click.command("catalogue", cls=CatalogueCommand, short_help="List and compare real deployments.")
@click.argument("paths", metavar="[FILES_OR_DIRS]...", nargs=-1, type=click.Path(path_type=str))
@click.option("--publisher", metavar="TEXT", help="Select by the name of the publisher.")
@click.option("--year", metavar="YEAR[-YEAR]", help="Select by the years of publication.")
@click.option("--unit", metavar="NAME", help="Select by the protected unit, such as person or user-day.")
@click.option("--standard", metavar="NAME", help="Select by output divergence or definition, such as zCDP.")
@click.option("--invariants", metavar="NAME", help="Select by invariants: none, some, or the name of one.")
@click.option("--trust", type=click.Choice(["local", "central", "shuffle", "federated", "varies"]), help="Select by trust model.")
@click.option("--verdict", "verdicts", multiple=True, type=click.Choice(_VERDICTS), help="Select by claim status.")
@click.option(
    "--at-least", "target", metavar="ID", help="List the deployments whose guarantee implies that of this one, with reasons."
)
@click.option("--order", is_flag=True, help="Print the order of all deployments on the same dataset space.")
@click.option("--yardstick", is_flag=True, help="Print the power of one test under each, by unit, strongest guarantee first.")
@click.option("--delta", metavar="P", help="With --yardstick, also print the epsilon at this delta.")
@click.option("--ledger", is_flag=True, help="Compute the total of those listed, if they are about the same data.")
def catalogue(  # noqa: PLR0917 - one argument for each option
    paths: tuple[str, ...],
    target: str | None,
    order: bool,
    yardstick: bool,
    delta: str | None,
    ledger: bool,
    jobs: int | None,
    progress: Progress | None = None,
    **wanted: Any,
) -> CommandAnswer:
    """List real deployments, and compare their guarantees. FILES_OR_DIRS defaults to specs/deployments.

    The status of each claim is computed from its file. A file marks which of its blocks a source states, and which are inferred
    or assumed. Answers that depend on an assumption are marked. Unchecked claims are never reported as holding.

    With --ledger, choose releases about the same people. No file states whether another one is about the same people.

    \b
    Examples:
      dpspec catalogue specs/deployments --publisher census --standard zCDP
      dpspec catalogue specs/deployments --verdict recorded --format csv
      dpspec catalogue specs/deployments --at-least google-mobility
      dpspec catalogue specs/deployments --unit user-day --yardstick --delta 1e-6
      dpspec catalogue specs/ledger-2020 --order
    """
    from dpspec_deployments import functions

    questions = {"--at-least": target, "--order": order, "--yardstick": yardstick, "--ledger": ledger}
    asked = [name for name, on in questions.items() if on]
    if len(asked) > 1:
        raise click.UsageError(f"{' and '.join(asked)} are questions of their own: ask one")
    if delta is not None and not yardstick:
        raise click.UsageError("--delta belongs to --yardstick: add it, or leave this out")
    if _format() == "csv" and asked:
        raise click.UsageError(f"--format csv is of lists; {asked[0]} has text and json")
    return functions.catalogue(
        *paths, at_least=target, order=order, yardstick=yardstick, delta=delta, ledger=ledger,
        verdict=wanted.pop("verdicts"), jobs=jobs, progress=progress, **wanted,
    )  # fmt: skip


def _format() -> str:
    """The format that was chosen."""
    return str(click.get_current_context().meta.get("dpspec.format", "text"))


@click.command("label", cls=LabelCommand, short_help="Write a one-page privacy label for the public.")
@click.argument("path", metavar="FILE", type=click.Path())
@click.option(
    "--universe-of",
    metavar="TABLE",
    help="Source of the universe that determines the budget: a table or a report.json.",
)
def label(path: str, universe_of: str | None, progress: Progress | None = None) -> CommandAnswer:
    """Write one page about the guarantee of FILE for the people in the data. It states who is protected, what one change is, what
    is published exactly, the number, and what others can find out. It states whether the guarantee was checked, how exact the
    published numbers are, what is not covered, and what is unknown. It gives no grade.

    \b
    Examples:
      dpspec label specs/randomised-response.dpspec.toml
      dpspec label specs/randomised-response.dpspec.toml --format html > label.html
      dpspec label specs/swapping-derangement.dpspec.toml --universe-of households.csv
    """
    from dpspec_deployments import functions

    return functions.label(path, universe_of, progress=progress)


@click.command("evidence", short_help="Write an evidence folder for reviewers.")
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--out", required=True, metavar="DIR", type=click.Path(), help="Output folder, which must not exist.")
def evidence(path: str, out: str, progress: Progress | None = None) -> CommandAnswer:
    """Write an evidence folder for FILE along the pyramid of NIST SP 800-226: budget and unit, definition, exact facts,
    correctness, composition, utility, trust model, implementation hazards, collection.

    Each line is marked proved, recomputed, stated by the publisher, stated by others (a registry, a list, or the file alone), or
    not stated. DIR contains the report (README.md, evidence.json), FILE, all verdicts with their proofs (verify.json), a witness
    for each refuted claim, and SHA256SUMS. It is written completely or not at all. The exit code is that of `dpspec verify` for
    the same claim.

    Example: dpspec evidence specs/randomised-response.dpspec.toml --out evidence
    """
    from dpspec_deployments import functions

    return functions.evidence(path, out, progress=progress)


@click.command("certify", short_help="Certify a release, for anyone to check again.")
@click.argument("specification", metavar="SPEC", type=click.Path())
@click.argument("release", metavar="RELEASE", type=click.Path())
@click.option("--out", required=True, metavar="FILE", type=click.Path(), help="Output file (certificate).")
def certify(specification: str, release: str, out: str) -> CommandAnswer:
    """Certify a release. RELEASE is the folder that `dpspec release SPEC TABLE --out RELEASE` wrote.

    FILE contains the text of SPEC, the SHA-256 of every released file, and each claim with verdict, scope and proof. It also
    contains the invariants recounted from the released files, the budget and exposure of their universe, how the release was
    drawn, and versions. Claims that are refuted, unchecked, or hold on miniatures only are not certified; the exit code is that
    of the claim.

    Example: dpspec certify survey.dpspec.toml out --out certificate.json
    """
    from dpspec_deployments import functions

    return functions.certify(specification, release, out)


@click.command("check-certificate", short_help="Verify a certificate of a release.")
@click.argument("path", metavar="FILE", type=click.Path())
@click.argument("release", metavar="[RELEASE]", required=False, type=click.Path())
def check_certificate(path: str, release: str | None) -> CommandAnswer:
    """Recompute every section of the certificate FILE, without a network, and compare it with the released files in RELEASE.

    Exits with 0 if every line holds, with 1 if one fails, and with 2 if FILE is not a certificate or has another version. Without
    RELEASE, the statements about released files are not checked.

    Example: dpspec check-certificate certificate.json out
    """
    from dpspec_deployments import functions

    return functions.check_certificate(path, release)


@click.command("deployment", cls=AskingCommand, short_help="Create the file of a real release by questions.")
@click.argument("name")
@click.option("--dir", "directory", default=".", show_default=True, type=click.Path(), help="Output folder.")
def new_deployment(name: str, directory: str) -> CommandAnswer:
    """Ask for the five blocks and the facts of a real release, and write NAME.dpspec.toml.

    An empty line means unknown. Facts without a source are marked as assumed, and unpublished numbers as not stated. Answers may
    come from a file, one line for each question.

    Example: dpspec new deployment my-agency-2024
    """
    from dpspec_deployments import functions

    found = functions.new_deployment(name, _asked, directory)
    for line in found.value["said"]:
        click.echo(line, err=True)
    if _format() == "text":
        click.get_current_context().call_on_close(lambda: click.echo(f"next: {found['next']}", err=True))
    return found


def _asked(question: DeploymentQuestion) -> str:
    """An answer from the terminal."""
    kind = click.Choice(["", *question.choices]) if question.choices else str
    shown = f"{question.words} ({', '.join(question.choices)})" if question.choices else question.words
    default = question.default or ""
    answer = click.prompt(shown, default=default, show_default=bool(default), type=kind, err=True, show_choices=False)
    if question.default is None and not str(answer).strip():
        raise click.UsageError(f"{question.words} This one needs an answer; nothing is written.")
    return str(answer).strip() or default


# --- records of the deployments registry ----------------------------------------------------------


@click.group(short_help="Read and write records of the deployments registry.")
def registry() -> None:
    """Read records of the Differential Privacy Deployments Registry as specification files, and write such files as records.

    docs/registry.md describes how each field is converted.

    \b
    Examples:
      dpspec registry import deployments/google_mobility.yaml --out specs
      dpspec registry export specs/google-mobility.dpspec.toml --out google_mobility.yaml
    """


@registry.command("import", short_help="Convert registry records to specification files.")
@click.argument("paths", metavar="FILES_OR_DIRS...", nargs=-1, required=True, type=click.Path(path_type=str))
@click.option("--out", "folder", metavar="DIR", required=True, type=click.Path(), help="Output folder.")
def import_command(paths: tuple[str, ...], folder: str) -> CommandAnswer:
    """Convert each record to a specification file. A directory means all *.yaml files directly in it.

    Nothing is guessed. Facts that a record states only in words become placeholders, which are marked as assumed and listed for a
    person to fill in. Inconsistent facts give warnings. If a record has errors, all of them are reported and nothing is written.
    No file is overwritten.

    \b
    Examples:
      dpspec registry import deployments/google_mobility.yaml --out specs
      dpspec registry import deployments --out specs --format json
    """
    from dpspec_deployments import functions

    return functions.registry_import(*paths, out=folder)


@registry.command("export", short_help="Convert a specification file to a registry record.")
@click.argument("path", metavar="FILE", type=click.Path(path_type=str))
@click.option(
    "--out",
    metavar="YAML",
    required=True,
    type=click.Path(),
    help="Output file: lower-case letters, digits, _ and .yaml.",
)
@click.option("--author", "authors", metavar="NAME", multiple=True, help="Author of the record, if the file names none.")
def export_command(path: str, out: str, authors: tuple[str, ...]) -> CommandAnswer:
    """Write a specification FILE as a registry record that follows its schema and check script.

    Text that came from a record is written unchanged; other text is generated from the blocks of the file. The form of addresses
    is checked; none is opened. An existing file is not overwritten.

    \b
    Examples:
      dpspec registry export specs/google-mobility.dpspec.toml --out google_mobility.yaml
      dpspec registry export births.dpspec.toml --out births.yaml --author "A. Person"
    """
    from dpspec_deployments import functions

    return functions.registry_export(path, out, authors)
