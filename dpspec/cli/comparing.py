"""The commands that hold guarantees against each other and against attackers: `compare`, `check-derivation`, `convert`, `risk`,
`recommend`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpspec.cli.framework import emit, formatted, jobs_option, named, picture_option, reasoned, say, warn_of_parts

if TYPE_CHECKING:
    from dpspec.report.figures import FigureFile
    from dpspec.specfile.document import SpecDocument


@click.command(short_help="Compare specifications: implication, order and common measures.")
@click.argument("paths", metavar="A B | FILES_OR_DIRS...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--derivation", metavar="FILE", type=click.Path(), help="Write the derivation of A => B, or of B => A, to FILE as JSON."
)
@click.option(
    "--yardstick",
    is_flag=True,
    help="Compare A and B by common measures: the strongest specifications that both imply, with both budgets.",
)
@click.option(
    "--largest-household", type=click.IntRange(min=1), metavar="N", help="With --yardstick, the size of the largest household."
)
@click.option("--delta", metavar="P", help="With --yardstick, also compare in approximate privacy at this delta in (0, 1).")
@click.option(
    "--within", type=click.IntRange(min=1), metavar="K", help="With --yardstick, also compare for datasets at distance up to K."
)
@picture_option("Write a figure of the five blocks of two files side by side, or of the order of many files,")
@click.option(
    "--explain", nargs=2, metavar="A B", help="With many files, print the comparison of these two, given by id or file."
)
@jobs_option
@reasoned
@formatted
def compare(paths: tuple[str, ...], jobs: int | None, as_json: bool, **options: Any) -> int:
    """Compare specifications: whether one implies the other, and which datasets separate them.

    Two files are compared in detail. More files, or a directory, give a matrix of all implications. Exits with 0 if every
    direction is decided, and with 3 if one is unknown or no common measure exists. Of many files, their claims are checked in
    parallel.

    \b
    Examples:
      dpspec compare specs/topdown-2020-pl.dpspec.toml \\
                     specs/swapping-2020-county-tract.dpspec.toml
      dpspec compare specs --picture order.svg
      dpspec compare specs/topdown-2020-pl-dhc.dpspec.toml \\
                     specs/swapping-2020-county-tract.dpspec.toml \\
                     --yardstick --largest-household 10 --delta 1e-10
    """
    verbose = options.pop("verbose")
    given = {name: value for name, value in options.items() if value not in (None, False, ())}
    many = len(paths) != 2 or any(Path(path).is_dir() for path in paths)
    _fits(paths, many, given)
    if many:
        return _order(paths, given, jobs, as_json, verbose)
    if "yardstick" in given:
        from dpspec import commands
        from dpspec.report.terminal import Work

        first, second = _read(paths)
        warn_of_parts((first, second), "the yardsticks are")
        with Work("looking for yardsticks"):
            found = commands.yardsticks(first, second, **{name: given[name] for name in _OF_YARDSTICK if name in given})
        return emit(found, as_json)
    return _pair(paths, given.get("derivation"), given.get("picture"), as_json, verbose)


@click.command(short_help="Compute what each block contributes to the budget.")
@click.argument("left", metavar="A", type=click.Path())
@click.argument("right", metavar="B", type=click.Path())
@click.option("--mechanism", metavar="FILE", type=click.Path(), help="Use the mechanism of FILE instead of that of A or B.")
@click.option("--largest-household", type=click.IntRange(min=1), metavar="N", help="Size of the largest household.")
@formatted
def ablate(left: str, right: str, mechanism: str | None, largest_household: int | None, as_json: bool) -> int:
    """Exchange the blocks of A for those of B, one at a time in every order, and compute the budget that the mechanism needs
    after each exchange.

    The first line is what `verify` proves for A, the last line what it proves for B. Exits with 3 if a step is undecided.

    \b
    Examples:
      dpspec ablate specs/topdown-2020-pl-persons.dpspec.toml \\
                    specs/swapping-2020-county-tract.dpspec.toml \\
                    --largest-household 10
    """
    from dpspec import commands
    from dpspec.report.terminal import Work

    first, second = _read((left, right))
    warn_of_parts((first, second), "the steps are")
    with Work("judging the steps"):
        found = commands.ablate(first, second, mechanism=mechanism, largest_household=largest_household)
    return emit(found, as_json)


_OF_YARDSTICK = ("largest_household", "delta", "within")


def _fits(paths: tuple[str, ...], many: bool, given: dict[str, Any]) -> None:
    """Refuse what does not go together."""
    if len(paths) == 1 and not Path(paths[0]).is_dir():
        raise click.UsageError("one file has nothing to be compared with: give another, or a directory")
    wrong = ("derivation", "yardstick", *_OF_YARDSTICK) if many else ("explain",)
    for name in wrong:
        if name in given:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} is of two files" if many else f"{option} is of many files, or of a directory")
    for name in (name for name in _OF_YARDSTICK if name in given and "yardstick" not in given):
        raise click.UsageError(f"--{name.replace('_', '-')} belongs to --yardstick: add it, or leave this out")
    if "yardstick" in given and "picture" in given:
        raise click.UsageError("--picture shows what separates two files: leave out --yardstick")
    if "yardstick" in given and "derivation" in given:
        raise click.UsageError("--derivation is of A => B; the derivations of a common measure are in its --format json")


def _pair(paths: Sequence[str], derivation: str | None, picture: FigureFile | None, as_json: bool, verbose: bool) -> int:
    from dpspec import api
    from dpspec.extension import installed
    from dpspec.report import json
    from dpspec.report.terminal import Work

    registry = installed().registry
    first, second = _read(paths)
    if derivation is not None and (first.parts or second.parts):
        raise click.UsageError("--derivation is of two single promises, and a file has parts")
    with Work("comparing"):
        found = api.compare(first, second, registry)
    code = json.comparison_exit_code(found)
    if derivation is not None:
        say(api.write_derivation(found, derivation, registry), err=True)
    if picture is not None:
        found.plot().save(picture.path)
        say(f"wrote {picture.path}", err=True)
    emit(found, as_json, verbose)
    return code


def _read(paths: Sequence[str]) -> Sequence[SpecDocument]:
    from dpspec.api import read
    from dpspec.base.params import collect

    return collect([partial(read, path) for path in paths])


def _order(paths: Sequence[str], given: dict[str, Any], jobs: int | None, as_json: bool, verbose: bool) -> int:
    from dpspec.api import order_specs
    from dpspec.comparison.composition import documents_of
    from dpspec.extension import installed
    from dpspec.report import order
    from dpspec.report.terminal import Work

    registry = installed().registry
    documents = documents_of(paths, registry)
    if "explain" in given:
        two = [order.chosen(documents, name).path or name for name in given["explain"]]
        return _pair(two, None, given.get("picture"), as_json, verbose)
    with Work("comparing") as work:
        found = order_specs(documents, registry, progress=work, jobs=jobs)
    if "picture" in given:
        found.plot().save(given["picture"].path)
        say(f"wrote {given['picture'].path}", err=True)
    emit(found, as_json)
    return order.exit_code(found)


@click.command(short_help="Convert a budget to another standard.")
@click.argument("given", metavar="NAME=VALUE...", nargs=-1, required=True)
@click.option("--to", required=True, metavar="NAME", help="Target budget (epsilon, rho, mu) or output divergence.")
@click.option("--delta", metavar="P", help="The delta of the target divergence, in (0, 1).")
@click.option("--order", metavar="A", help="The Renyi order of the target divergence, above 1.")
@click.option("--at", "further", multiple=True, metavar="NAME=VALUE", help="Another parameter of the target divergence.")
@click.option("--from", "divergence", metavar="NAME", help="Output divergence of the given budget, if it is ambiguous.")
@click.option("--mechanism", metavar="KIND", help="Noise of one count, if known: gaussian or discrete-gaussian.")
@reasoned
@formatted
def convert(given: tuple[str, ...], to: str, further: tuple[str, ...], as_json: bool, verbose: bool, **named: str | None) -> int:
    """Convert a budget to another standard by every known formula, the best one first.

    The first NAME=VALUE is the budget, the others are parameters of its divergence. Each result states its formula and in which
    sense it is tight. It holds for neighbours, that is, datasets at distance 1.

    \b
    Examples:
      dpspec convert rho=2.63 --to epsilon --delta 1e-10
      dpspec convert epsilon=1 delta=1e-6 --to distance
      dpspec convert rho=2.63 --to epsilon --delta 1e-10 --mechanism gaussian
    """
    from dpspec.extension import installed
    from dpspec.reason.conversions import convert as converted, equations

    at = {name: value for name in ("delta", "order") if (value := named[name]) is not None}
    found = converted(
        installed().registry, equations(given), to, at | equations(further),
        divergence=named["divergence"], mechanism=named["mechanism"],
    )  # fmt: skip
    emit(found, as_json, verbose)
    return 0


# --- `dpspec risk` --------------------------------------------------------------------------------


@click.command(short_help="Compute what attackers can achieve under a budget.")
@click.argument("path", metavar="FILE", type=click.Path())
@click.option(
    "--attacker",
    metavar="NAME",
    shell_complete=named("attackers"),
    help="Attacker to evaluate; `dpspec plugins` lists them. Without it, the standard attackers are evaluated.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Parameter of the attacker. Write lists and tables as in TOML.",
)
@click.option(
    "--universe-of",
    metavar="TABLE",
    help="Source of the universe that determines the budget: a table or a report.json.",
)
@click.option(
    "--secret",
    metavar="ATTR,...",
    default="",
    help="Instead of an attacker, compare datasets that differ in these attributes of one record.",
)
@click.option(
    "--move",
    metavar="ATTR,...",
    default="",
    help="Compare datasets in which one whole unit has other values of these attributes, such as the block of a household.",
)
@click.option(
    "--exchange",
    metavar="ATTR,...",
    default="",
    help="Compare datasets in which two units have exchanged their values of these attributes.",
)
@click.option(
    "--within",
    metavar="ATTR",
    help="With --secret, --move or --exchange: keep the values inside one category of this coarser attribute.",
)
@click.option("--change", metavar="A,B", default="", help="With --secret, --move or --exchange: the two values, A and B.")
@click.option(
    "--members",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="With --move and --exchange: number of records of each unit, such as persons of a household.",
)
@picture_option("Write a figure of the numbers")
@reasoned
@formatted
def risk(  # noqa: PLR0917 - one option, one argument
    path: str,
    attacker: str | None,
    settings: tuple[str, ...],
    universe_of: str | None,
    secret: str,
    move: str,
    exchange: str,
    within: str | None,
    change: str,
    members: int,
    picture: FigureFile | None,
    verbose: bool,
    as_json: bool,
) -> int:
    """Compute what an attacker can achieve with a release: under the worst mechanism that the specification FILE allows, and
    under the mechanism that the file names. Every number has its theorem and its assumptions. Every attacker knows what is
    published exactly, so that candidates which it distinguishes are certain.

    Exits with 1 if the mechanism exceeds what its specification allows.

    \b
    Examples:
      dpspec risk specs/topdown-2020-pl.dpspec.toml --attacker tester
      dpspec risk specs/randomised-response.dpspec.toml --attacker tester \\
                  --set 'levels=["0.01", "0.05"]' --picture power.svg
      dpspec risk specs/randomised-response.dpspec.toml
      dpspec risk specs/census-2020/pl-persons.dpspec.toml --secret cenrace
      dpspec risk specs/census-2020/pl-persons.dpspec.toml --exchange block \\
                  --within tract --members 3
      dpspec risk specs/swapping-derangement.dpspec.toml --exchange county
    """
    from dpspec import api
    from dpspec.extension import installed
    from dpspec.report.risk import exit_code
    from dpspec.report.terminal import Work
    from dpspec.risks.engine import parsed
    from dpspec.specfile.reader import read

    registry = installed().registry
    found = read(path, registry)
    warn_of_parts((found,), "the risk is")
    given = {name: text for name, text in (("secret", secret), ("move", move), ("exchange", exchange)) if text}
    asked: dict[str, Any] = {}
    if given or within is not None or change or members != 1:
        if attacker is not None or len(given) != 1:
            rule = "--within, --change and --members belong to one of --secret, --move and --exchange"
            raise click.UsageError(f"{rule}, which takes the place of --attacker")
        lists = {"secret": secret, "move": move, "exchange": exchange, "change": change}
        asked = {key: tuple(name.strip() for name in text.split(",") if name.strip()) for key, text in lists.items()}
        asked |= {"within": within, "members": members}
    elif attacker is None and (settings or picture is not None):
        raise click.UsageError("--set and --picture need one attacker; name it: --attacker NAME")
    with Work("asking"):
        report = api.risk(found, attacker, registry=registry, universe_of=universe_of, **asked, **parsed(settings))
    if picture is not None:
        report.plot().save(picture.path)
    emit(report, as_json, verbose)
    return exit_code(report)


# --- `dpspec recommend` ---------------------------------------------------------------------------


@click.command(short_help="Recommend a budget for a tolerated risk.")
@click.argument("tolerance", metavar="NAME")
@click.argument("settings", metavar="KEY=VALUE...", nargs=-1)
@formatted
def recommend(tolerance: str, settings: tuple[str, ...], as_json: bool) -> int:
    """Compute the largest budget within a tolerated risk, the attacker that limits it, and the noise of a count under it. No data
    are read, because a budget that depends on the data would disclose facts about them.

    NAME is a risk profile, such as two-dimensional, fixed-q or difference, or a bound on membership inference. `dpspec plugins`
    lists all of them, and `dpspec explain NAME` shows their parameters.

    \b
    Examples:
      dpspec recommend fixed-q posterior=1/4 ratio=3 q=1
      dpspec recommend two-dimensional posterior=1/4 ratio=3
      dpspec recommend membership-difference difference=1/5 releases=12 \\
                       delta_each=1e-8 delta=1e-6 failure=1/100
    """
    from dpspec import commands
    from dpspec.reason.conversions import equations
    from dpspec.report.terminal import Work

    with Work("looking for the budget"):
        found = commands.recommend(tolerance, **equations(settings))
    return emit(found, as_json)
