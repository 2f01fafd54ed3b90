"""`dpspec compare`, `check-derivation` and `convert`: one guarantee against another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpspec.cli.face import formatted, picture_option, say

if TYPE_CHECKING:
    from dpspec.specfile.document import SpecDocument


@click.command(short_help="Does one specification imply the other?")
@click.argument("paths", metavar="A B | FILES_OR_DIRS...", nargs=-1, required=True, type=click.Path())
@click.option("--derivation", metavar="FILE", type=click.Path(), help="Write the derivation of A => B, else of B => A, as JSON.")
@click.option("--yardstick", is_flag=True, help="Of A and B: the strongest specifications that both imply, with both budgets.")
@click.option("--largest-household", type=click.IntRange(min=1), metavar="N", help="... assuming that no household is larger.")
@click.option("--delta", metavar="P", help="... also in approximate privacy at this delta, in (0, 1).")
@click.option("--within", type=click.IntRange(min=1), metavar="K", help="... for neighbours at most K apart.")
@picture_option("Of many: draw the Hasse diagram")
@click.option("--explain", nargs=2, metavar="A B", help="Of many: the comparison of these two, by id or file.")
@formatted
def compare(paths: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Compare specifications: does one imply the other, and what separates them?

    Two files are compared in detail. More, or a directory, give the order of all: a matrix, and what implies what.
    Exits with 0 when every direction was answered, with 3 when one stayed unknown, or when there is no yardstick.

    \b
    Examples:
      dpspec compare specs/topdown-2020-pl.dpspec.toml \\
                     specs/swapping-2020-county-tract.dpspec.toml
      dpspec compare specs --picture order.svg
      dpspec compare specs/topdown-2020-pl-dhc.dpspec.toml \\
                     specs/swapping-2020-county-tract.dpspec.toml \\
                     --yardstick --largest-household 10 --delta 1e-10
    """
    given = {name: value for name, value in options.items() if value not in (None, False, ())}
    many = len(paths) != 2 or any(Path(path).is_dir() for path in paths)
    _fits(paths, many, given)
    if many:
        return _order(paths, given, as_json)
    return _yardsticks(paths, given, as_json) if "yardstick" in given else _pair(paths, given.get("derivation"), as_json)


_OF_YARDSTICK = ("largest_household", "delta", "within")


def _fits(paths: tuple[str, ...], many: bool, given: dict[str, Any]) -> None:
    """Refuse what does not go together."""
    if len(paths) == 1 and not Path(paths[0]).is_dir():
        raise click.UsageError("one file has nothing to be compared with: give another, or a directory")
    wrong = ("derivation", "yardstick", *_OF_YARDSTICK) if many else ("picture", "explain")
    for name in wrong:
        if name in given:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} is of two files" if many else f"{option} is of many files, or of a directory")
    for name in (name for name in _OF_YARDSTICK if name in given and "yardstick" not in given):
        raise click.UsageError(f"--{name.replace('_', '-')} belongs to --yardstick: add it, or leave this out")
    if "yardstick" in given and "derivation" in given:
        raise click.UsageError("--derivation is of A => B; the derivations of a yardstick are in its --format json")


def _pair(paths: Sequence[str], derivation: str | None, as_json: bool) -> int:
    from dpspec.api import compare_specs, quick_standing, write_derivation
    from dpspec.extension import installed
    from dpspec.report import comparison, json
    from dpspec.report.terminal import Work

    registry = installed().registry
    first, second = _read(paths)
    with Work("comparing"):
        found = compare_specs(first.spec, second.spec, registry)
        stand = quick_standing(first, registry), quick_standing(second, registry)
    code = json.comparison_exit_code(found)
    if derivation is not None:
        say(write_derivation(found, derivation, registry), err=True)
    if as_json:
        say(json.document("compare", code, json.comparison(found, (first.id, second.id), stand)))
    else:
        say(comparison.text(found, first, second, stand))
    return code


def _read(paths: Sequence[str]) -> Sequence[SpecDocument]:
    from dpspec.api import read_spec
    from dpspec.params import collect

    return collect([partial(read_spec, path) for path in paths])


def _yardsticks(paths: Sequence[str], given: dict[str, Any], as_json: bool) -> int:
    from dpspec.api import find_yardsticks, quick_standing
    from dpspec.extension import installed
    from dpspec.report import json
    from dpspec.report import yardstick as words
    from dpspec.report.terminal import Work

    registry = installed().registry
    first, second = _read(paths)
    at = {"delta": given["delta"]} if "delta" in given else {}
    with Work("looking for yardsticks"):
        found = find_yardsticks(
            first.spec, second.spec, registry, at=at,
            largest_household=given.get("largest_household"), within=given.get("within"),
        )  # fmt: skip
        stand = [quick_standing(document, registry) for document in (first, second)]
    code, names = 0 if any(one.is_common for one in found) else 3, (first.id, second.id)
    say(json.document("compare", code, words.data(found, names, registry, stand)) if as_json else words.text(found, names, stand))
    return code


def _order(paths: Sequence[str], given: dict[str, Any], as_json: bool) -> int:
    from dpspec.api import order_specs
    from dpspec.extension import installed
    from dpspec.ledger.files import documents_of
    from dpspec.report import json
    from dpspec.report import order as words
    from dpspec.report.terminal import Work

    registry = installed().registry
    documents = documents_of(paths, registry)
    if "explain" in given:
        return _pair([words.chosen(documents, name).path or name for name in given["explain"]], None, as_json)
    with Work("comparing") as work:
        found = order_specs(documents, registry, progress=work)
    if "picture" in given:
        given["picture"].save(words.picture(found, documents))
        say(f"wrote {given['picture'].path}", err=True)
    code = words.exit_code(found)
    say(json.document("compare", code, words.data(found, documents)) if as_json else words.text(found, documents))
    return code


@click.command("check-derivation", short_help="Is every step of a derivation true?")
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--trust", multiple=True, metavar="RULE", help="Accept the steps of this rule, which the checker does not know.")
@formatted
def check_derivation(path: str, trust: tuple[str, ...], as_json: bool) -> int:
    """Check a derivation step by step, with a checker that shares no code with what found it.

    Exits with 0 when every step is accepted, with 1 when one is rejected or unchecked, with 2 when FILE is no derivation.

    \b
    Examples:
      dpspec compare specs/topdown-2020-pl.dpspec.toml \\
                     specs/topdown-2020-dhc.dpspec.toml --derivation d.json
      dpspec check-derivation d.json
    """
    from dpspec.checker.check import check_file
    from dpspec.report import derivation, json

    found = check_file(path, trust)
    code = 0 if found.accepted else 1
    say(json.document("check-derivation", code, derivation.data(path, found)) if as_json else derivation.text(path, found))
    return code


@click.command(short_help="What is a budget in another standard?")
@click.argument("given", metavar="NAME=VALUE...", nargs=-1, required=True)
@click.option("--to", required=True, metavar="NAME", help="The wanted budget (epsilon, rho, mu), or an output divergence.")
@click.option("--delta", metavar="P", help="... at this delta, in (0, 1).")
@click.option("--order", metavar="A", help="... at this Renyi order, above 1.")
@click.option("--at", "further", multiple=True, metavar="NAME=VALUE", help="... with this other parameter of its divergence.")
@click.option("--from", "divergence", metavar="NAME", help="The output divergence of the given budget, where it is not clear.")
@click.option("--mechanism", metavar="KIND", help="The noise is known: gaussian or discrete-gaussian, for one count.")
@formatted
def convert(given: tuple[str, ...], to: str, further: tuple[str, ...], as_json: bool, **named: str | None) -> int:
    """Convert a budget to another standard, by every formula that is known, the best first.

    The first NAME=VALUE is the budget, the others are parameters of its divergence. Each number names its formula and
    says in which sense it is tight. It holds for neighbours, datasets at distance 1.

    \b
    Examples:
      dpspec convert rho=2.63 --to epsilon --delta 1e-10
      dpspec convert epsilon=1 delta=1e-6 --to distance
      dpspec convert rho=2.63 --to epsilon --delta 1e-10 --mechanism gaussian
    """
    from dpspec.compare.quantities import convert as converted
    from dpspec.compare.quantities import equations
    from dpspec.extension import installed
    from dpspec.report import conversion, json

    at = {name: value for name in ("delta", "order") if (value := named[name]) is not None}
    found = converted(
        installed().registry, equations(given), to, at | equations(further),
        divergence=named["divergence"], mechanism=named["mechanism"],
    )  # fmt: skip
    say(json.document("convert", 0, conversion.data(found)) if as_json else conversion.text(found))
    return 0
