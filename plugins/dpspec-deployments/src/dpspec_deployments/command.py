"""The commands on real deployments: `catalogue`, `evidence`, `label`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dpspec.cli.face import formatted, say, tell
from dpspec.cli.files import tell_begun

if TYPE_CHECKING:
    from dpspec.deployments.begin import DeploymentQuestion

_VERDICTS = ("verified", "stand-in", "miniature", "recorded", "refuted", "undecided", "unchecked", "not-stated", "plugin")


def _format(ctx: click.Context, _: click.Parameter, value: str) -> str:
    ctx.meta["dpspec.format"] = value
    return value


@click.command(short_help="What do real deployments promise, and how do they compare?")
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
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "csv"]), default="text", show_default=True, callback=_format,
    is_eager=True, help="Print the result so; csv is of lists.",
)  # fmt: skip
def catalogue(  # noqa: PLR0917 - one argument for each option
    paths: tuple[str, ...],
    target: str | None,
    order: bool,
    yardstick: bool,
    delta: str | None,
    ledger: bool,
    form: str,
    **wanted: Any,
) -> int:
    """List real deployments, and compare what they promise. Without FILES_OR_DIRS: those in specs/deployments.

    How each claim stands is computed from its file. A file says which of its blocks are stated by a source, inferred or
    assumed; an answer that rests on an assumption says so. What nobody checked is never told as holding.

    With --ledger, choose releases about the same people: that they are is for you to know, no file says it of another.

    \b
    Examples:
      dpspec catalogue specs/deployments --publisher census --standard zCDP
      dpspec catalogue specs/deployments --verdict recorded --format csv
      dpspec catalogue specs/deployments --at-least google-mobility
      dpspec catalogue specs/deployments --unit user-day --yardstick --delta 1e-6
      dpspec catalogue specs/ledger-2020 --order
    """
    from dpspec import commands
    from dpspec.deployments.catalogue import list_csv
    from dpspec.report.terminal import Work

    questions = {"--at-least": target, "--order": order, "--yardstick": yardstick, "--ledger": ledger}
    asked = [name for name, on in questions.items() if on]
    if len(asked) > 1:
        raise click.UsageError(f"{' and '.join(asked)} are questions of their own: ask one")
    if delta is not None and not yardstick:
        raise click.UsageError("--delta belongs to --yardstick: add it, or leave this out")
    if form == "csv" and asked:
        raise click.UsageError(f"--format csv is of lists; {asked[0]} has text and json")
    with Work("judging") as work:
        found = commands.catalogue(
            *paths, at_least=target, order=order, yardstick=yardstick, delta=delta, ledger=ledger,
            verdict=wanted.pop("verdicts"), progress=work, **wanted,
        )  # fmt: skip
    if form == "csv":
        say(list_csv(found.value))
        return found.exit_code
    return tell(found, form == "json")


@click.command(short_help="One page for people: what is promised, and what is not said?")
@click.argument("path", metavar="FILE", type=click.Path())
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "html"]), default="text", show_default=True, callback=_format,
    is_eager=True, help="Print the page so; html is one file that needs nothing else.",
)  # fmt: skip
def label(path: str, form: str) -> int:
    """Tell the people in the data, on one page, what FILE promises: who is protected, what one change is, what is published
    exactly, the number and what it does to an attacker, whether it was checked, what it does not cover, and what is not said.
    Nothing is graded.

    \b
    Examples:
      dpspec label specs/randomised-response.dpspec.toml
      dpspec label specs/randomised-response.dpspec.toml --format html > label.html
    """
    from dpspec import commands
    from dpspec.report.terminal import Work

    with Work("judging") as work:
        found = commands.label(path, progress=work)
    if form == "html":
        say(found._repr_html_())
        return 0
    return tell(found, form == "json")


@click.command(short_help="What a reviewer asks for, with its proofs and witnesses.")
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--out", required=True, metavar="DIR", type=click.Path(), help="Write everything into this new folder.")
@formatted
def evidence(path: str, out: str, as_json: bool) -> int:
    """Write what a reviewer asks for of FILE along the pyramid of NIST SP 800-226: budget and unit, definition, exact facts,
    correctness, composition, utility, trust model, implementation hazards, collection.

    Each line is marked proved, recomputed, stated by the publisher, stated by others (a registry, a list, or the file alone), or
    not stated. DIR gets the report (README.md, evidence.json), FILE, all verdicts with their proofs (verify.json), a witness for
    each refuted claim, and SHA256SUMS: all of it or nothing. Exits as `dpspec verify` does of the same claim.

    Example: dpspec evidence specs/randomised-response.dpspec.toml --out evidence
    """
    from dpspec import commands
    from dpspec.report.terminal import Work

    with Work("judging") as work:
        found = commands.evidence(path, out, progress=work)
    return tell(found, as_json)


@click.command("deployment", short_help="Ask for a real release, and write its file.")
@click.argument("name")
@click.option("--dir", "directory", default=".", show_default=True, type=click.Path(), help="Write it into this folder.")
@formatted
def new_deployment(name: str, directory: str, as_json: bool) -> int:
    """Ask for the five blocks of a release that was really made and for its facts, and write NAME.dpspec.toml.

    An empty line is an answer: that it is not known. What no source says is marked as assumed, and a number that nobody
    published as not stated. Answers may come from a file: one line for each question.

    Example: dpspec new deployment my-agency-2024
    """
    from dpspec import commands

    return tell_begun(commands.new_deployment(name, _asked, directory), as_json)


def _asked(question: DeploymentQuestion) -> str:
    """An answer from the terminal."""
    kind = click.Choice(["", *question.choices]) if question.choices else str
    shown = f"{question.words} ({', '.join(question.choices)})" if question.choices else question.words
    default = question.default or ""
    answer = click.prompt(shown, default=default, show_default=bool(default), type=kind, err=True, show_choices=False)
    if question.default is None and not str(answer).strip():
        raise click.UsageError(f"{question.words} This one needs an answer; nothing is written.")
    return str(answer).strip() or default
