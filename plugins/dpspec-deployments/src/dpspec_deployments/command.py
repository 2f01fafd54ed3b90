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
    from dpspec_deployments.begin import DeploymentQuestion

_VERDICTS = ("verified", "stand-in", "miniature", "recorded", "refuted", "undecided", "unchecked", "not-stated", "plugin")


def _as_csv(found: CommandAnswer) -> str:
    from dpspec_deployments.catalogue import list_csv

    return list_csv(found.value)


def _as_html(found: CommandAnswer) -> str:
    return found._repr_html_()


class CatalogueCommand(click.Command):
    """A command that prints CSV, too."""

    formats: Mapping[str, Callable[[CommandAnswer], str]] = {"csv": _as_csv}


class LabelCommand(click.Command):
    """A command that prints HTML, too."""

    formats: Mapping[str, Callable[[CommandAnswer], str]] = {"html": _as_html}


class AskingCommand(click.Command):
    """A command that asks questions, so that no progress is drawn over them."""

    asks = True


@click.command("catalogue", cls=CatalogueCommand, short_help="What do real deployments promise, and how do they compare?")
@click.argument("paths", metavar="[FILES_OR_DIRS]...", nargs=-1, type=click.Path(path_type=str))
@click.option("--publisher", metavar="TEXT", help="List those whose publisher has this in its name.")
@click.option("--year", metavar="YEAR[-YEAR]", help="List those published, or first published, in these years.")
@click.option("--unit", metavar="NAME", help="List those whose promise is per this unit, such as person or user-day.")
@click.option("--standard", metavar="NAME", help="List those in this output divergence or definition, such as zCDP.")
@click.option("--invariants", metavar="NAME", help="List those with none, with some, or with an invariant of this name.")
@click.option(
    "--trust", type=click.Choice(["local", "central", "shuffle", "federated", "varies"]), help="List those of this trust model."
)
@click.option("--verdict", "verdicts", multiple=True, type=click.Choice(_VERDICTS), help="List those whose claim stands so.")
@click.option("--at-least", "target", metavar="ID", help="Ask which of them promise at least what this one does, and why.")
@click.option("--order", is_flag=True, help="Print the order of all that are about one dataset space.")
@click.option("--yardstick", is_flag=True, help="Print what each leaves to one test, unit by unit, the strongest promise first.")
@click.option("--delta", metavar="P", help="With --yardstick, print the epsilon at this delta as well.")
@click.option("--ledger", is_flag=True, help="Add up what those listed promise, where they are about the same data.")
def catalogue(  # noqa: PLR0917 - one argument for each option
    paths: tuple[str, ...],
    target: str | None,
    order: bool,
    yardstick: bool,
    delta: str | None,
    ledger: bool,
    progress: Progress | None = None,
    **wanted: Any,
) -> CommandAnswer:
    """List real deployments, and compare what they promise. Without FILES_OR_DIRS: those in specs/deployments.

    How each claim stands is computed from its file. A file says which of its blocks are stated by a source, inferred or
    assumed; an answer that rests on an assumption says so. What was not checked is never reported as holding.

    With --ledger, choose releases about the same people: that they are is for you to know, no file says it of another.

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
        verdict=wanted.pop("verdicts"), progress=progress, **wanted,
    )  # fmt: skip


def _format() -> str:
    """The format that was chosen."""
    return str(click.get_current_context().meta.get("dpspec.format", "text"))


@click.command("label", cls=LabelCommand, short_help="One page for people: what is promised, and what is not said?")
@click.argument("path", metavar="FILE", type=click.Path())
@click.option(
    "--universe-of",
    metavar="TABLE",
    help="Where budgets differ by universe, give the number of that of this table, or of a report.json.",
)
def label(path: str, universe_of: str | None, progress: Progress | None = None) -> CommandAnswer:
    """Write one page for the people in the data about what FILE promises. It says who is protected, what one change is, what is
    published exactly, the number and what someone can find out. It says whether that was checked, how exact the published numbers
    are, what is not covered, and what is not said. Nothing is graded.

    \b
    Examples:
      dpspec label specs/randomised-response.dpspec.toml
      dpspec label specs/randomised-response.dpspec.toml --format html > label.html
      dpspec label specs/swapping-derangement.dpspec.toml --universe-of households.csv
    """
    from dpspec_deployments import functions

    return functions.label(path, universe_of, progress=progress)


@click.command("evidence", short_help="What a reviewer asks for, with its proofs and witnesses.")
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--out", required=True, metavar="DIR", type=click.Path(), help="Write everything into this new folder.")
def evidence(path: str, out: str, progress: Progress | None = None) -> CommandAnswer:
    """Write what a reviewer asks for of FILE along the pyramid of NIST SP 800-226: budget and unit, definition, exact facts,
    correctness, composition, utility, trust model, implementation hazards, collection.

    Each line is marked proved, recomputed, stated by the publisher, stated by others (a registry, a list, or the file alone), or
    not stated. DIR gets the report (README.md, evidence.json), FILE, all verdicts with their proofs (verify.json), a witness for
    each refuted claim, and SHA256SUMS: all of it or nothing. Exits as `dpspec verify` does of the same claim.

    Example: dpspec evidence specs/randomised-response.dpspec.toml --out evidence
    """
    from dpspec_deployments import functions

    return functions.evidence(path, out, progress=progress)


@click.command("certify", short_help="Write what was checked of a release, for anyone to check again.")
@click.argument("specification", metavar="SPEC", type=click.Path())
@click.argument("release", metavar="RELEASE", type=click.Path())
@click.option("--out", required=True, metavar="FILE", type=click.Path(), help="Write the certificate into FILE.")
def certify(specification: str, release: str, out: str) -> CommandAnswer:
    """Certify a release: RELEASE is the folder that `dpspec release SPEC TABLE --out RELEASE` wrote.

    FILE gets the text of SPEC, the SHA-256 of every released file, and each claim with verdict, scope and proof. It also gets
    the invariants recounted from the released files, the budget and the exposure of their universe, how the release was drawn,
    and versions. A claim that is refuted, was never checked, or holds on miniatures only is not certified; the exit code is
    that of the claim.

    Example: dpspec certify survey.dpspec.toml out --out certificate.json
    """
    from dpspec_deployments import functions

    return functions.certify(specification, release, out)


@click.command("check-certificate", short_help="Does every line of a certificate hold?")
@click.argument("path", metavar="FILE", type=click.Path())
@click.argument("release", metavar="[RELEASE]", required=False, type=click.Path())
def check_certificate(path: str, release: str | None) -> CommandAnswer:
    """Compute every section of the certificate FILE again, without a network, and compare it with the released files in RELEASE.

    Exits with 0 when every line holds, with 1 when one fails, with 2 when FILE is no certificate or one of another version.
    Without RELEASE, what was computed from the released files is not checked.

    Example: dpspec check-certificate certificate.json out
    """
    from dpspec_deployments import functions

    return functions.check_certificate(path, release)


@click.command("deployment", cls=AskingCommand, short_help="Ask for a real release, and write its file.")
@click.argument("name")
@click.option("--dir", "directory", default=".", show_default=True, type=click.Path(), help="Write it into this folder.")
def new_deployment(name: str, directory: str) -> CommandAnswer:
    """Ask for the five blocks of a release that was really made and for its facts, and write NAME.dpspec.toml.

    An empty line means that the answer is unknown. What no source says is marked as assumed, and a number that was not
    published as not stated. Answers may come from a file: one line for each question.

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
def import_command(paths: tuple[str, ...], folder: str) -> CommandAnswer:
    """Make a specification file of each record. A directory is every *.yaml directly in it.

    Nothing is guessed: what a record says in words alone holds a place, is marked as assumed, and is listed as what a person
    must fill in, with warnings about what is odd. Where a record has a fault, all faults are reported and nothing is written.
    No file is overwritten.

    \b
    Examples:
      dpspec registry import deployments/google_mobility.yaml --out specs
      dpspec registry import deployments --out specs --format json
    """
    from dpspec_deployments import functions

    return functions.registry_import(*paths, out=folder)


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
def export_command(path: str, out: str, authors: tuple[str, ...]) -> CommandAnswer:
    """Write a specification FILE as a record of the registry, as its schema and its check script want it.

    Words that came from a record are written as they came; others are made of the blocks that the file states. The
    shape of addresses is checked; none is opened. An existing file is not overwritten.

    \b
    Examples:
      dpspec registry export specs/google-mobility.dpspec.toml --out google_mobility.yaml
      dpspec registry export births.dpspec.toml --out births.yaml --author "A. Person"
    """
    from dpspec_deployments import functions

    return functions.registry_export(path, out, authors)
