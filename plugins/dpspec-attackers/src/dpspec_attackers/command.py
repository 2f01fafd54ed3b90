"""The command `dpspec attack`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpspec import CommandAnswer


@click.command(name="attack", short_help="How often is an attack on a release right, and why?")
@click.argument("spec", type=click.Path())
@click.argument("table", type=click.Path())
@click.option("--secret", metavar="ATTR,...", required=True, help="The attributes that the attacker wants.")
@click.option("--known", metavar="ATTR,...", help="What the attacker knows of the target; without it, all other attributes.")
@click.option("--attacker", metavar="NAME", help="Run this attack; without it, all attacks on tables that fit.")
@click.option("--release", metavar="DIR", type=click.Path(), help="Attack this release of TABLE instead of new ones.")
@click.option(
    "--targets", metavar="N", type=click.IntRange(min=1), default=200, show_default=True,
    help="Number of targets, drawn with replacement; tables of up to four records are listed instead.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of all draws, for tests and audits.")
@click.option("--confidence", metavar="P", default="0.95", show_default=True, help="Probability with which each interval holds.")
def command(  # noqa: PLR0917 - one option, one argument
    spec: str,
    table: str,
    secret: str,
    known: str | None,
    attacker: str | None,
    release: str | None,
    targets: int,
    seed: int | None,
    confidence: str,
) -> CommandAnswer:
    """Attack releases of the confidential TABLE by the mechanism of SPEC. Says how often the secret of a target is named, with
    the target's record in the data and without it. The difference is what the record itself adds.

    Attacks: nearest-donor (the released records most like the target), most-likely-record (Bayes' theorem with the law of the
    mechanism; small tables), integer-program (all exact tables). A plugin can register others. Only totals are printed; they are
    confidential. Exits with 3 where an attack did not end for some target.

    \b
    Examples:
      dpspec attack specs/swapping-1940-massachusetts.dpspec.toml \\
                    massachusetts-1940 --secret county --targets 50
      dpspec attack specs/swapping-1940-massachusetts.dpspec.toml \\
                    massachusetts-1940 --secret county --attacker nearest-donor \\
                    --release out --seed 1
    """
    from dpspec_attackers.experiment import attack

    names = [None if text is None else [name.strip() for name in text.split(",") if name.strip()] for text in (secret, known)]
    return attack(
        spec, table, secret=names[0] or (), known=names[1], attacker=attacker, release=release, targets=targets, seed=seed,
        confidence=confidence,
    )  # fmt: skip
