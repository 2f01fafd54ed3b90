"""The command `dpspec attack`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpspec import CommandAnswer


@click.command(name="attack", short_help="Measure how often an attack on a release succeeds.")
@click.argument("spec", type=click.Path())
@click.argument("table", type=click.Path())
@click.option("--secret", metavar="ATTR,...", required=True, help="Attributes that the attacker wants to learn.")
@click.option("--known", metavar="ATTR,...", help="Attributes of the target that the attacker knows.  [default: all others]")
@click.option("--attacker", metavar="NAME", help="Attack to run.  [default: all attacks that apply]")
@click.option("--release", metavar="DIR", type=click.Path(), help="Attack this release of TABLE instead of simulated ones.")
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
    """Attack releases of the confidential TABLE by the mechanism of SPEC. The result is how often the attack names the secret of
    a target, with the target's record in the data and without it. The difference is the effect of the record itself.

    Attacks: nearest-donor (the released records most similar to the target), most-likely-record (Bayes' theorem with the law of
    the mechanism; small tables), integer-program (all exact tables). Plugins can register others. Only totals are printed; they
    are confidential. Exits with 3 if an attack did not finish for some target.

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
