"""`dpspec compare`, `check-derivation` and `convert`: one guarantee against another."""

from __future__ import annotations

import click

from dpspec.cli.face import formatted


@click.command(short_help="Does one specification imply the other?")
@click.argument("left", metavar="A", type=click.Path())
@click.argument("right", metavar="B", type=click.Path())
@click.option("--derivation", metavar="FILE", type=click.Path(), help="Write the derivation of A => B, else of B => A, as JSON.")
@formatted
def compare(left: str, right: str, derivation: str | None, as_json: bool) -> int:
    """Compare two specifications: does one imply the other, and what separates them?

    Exits with 0 when both directions were answered, with 3 when one stayed unknown.

    \b
    Example:
      dpspec compare specs/topdown-2020-pl.dpspec.toml \\
                     specs/swapping-2020-county-tract.dpspec.toml
    """
    from dpspec.api import compare_specs, write_derivation
    from dpspec.extension import installed
    from dpspec.params import collect
    from dpspec.report import comparison, json
    from dpspec.report.terminal import Work
    from dpspec.specfile.reader import read

    registry = installed().registry
    first, second = collect([lambda: read(left, registry), lambda: read(right, registry)])
    with Work("comparing"):
        found = compare_specs(first.spec, second.spec, registry)
    code = json.comparison_exit_code(found)
    if derivation is not None:
        click.echo(write_derivation(found, derivation, registry), err=True)
    if as_json:
        click.echo(json.document("compare", code, json.comparison(found, (first.id, second.id))))
    else:
        click.echo(comparison.text(found, first, second))
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
    click.echo(json.document("check-derivation", code, derivation.data(path, found)) if as_json else derivation.text(path, found))
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
    click.echo(json.document("convert", 0, conversion.data(found)) if as_json else conversion.text(found))
    return 0
