"""The command `dpspec calibrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpspec import CommandAnswer


@click.command(name="calibrate", short_help="Find the noise, rate or steps of a training run for a target.")
@click.option("--epsilon", metavar="E", required=True, help="Target epsilon, for one record added or removed.")
@click.option("--delta", metavar="P", default="1e-5", show_default=True, help="Target delta.")
@click.option("--steps", metavar="N", type=click.IntRange(min=1), help="Number of gradient steps.")
@click.option("--rate", metavar="Q", help="Probability with which each record takes part in a step, independently of all others.")
@click.option("--noise-multiplier", metavar="S", help="Standard deviation of the noise, in units of the clipping norm.")
@click.option("--out", metavar="FILE", type=click.Path(), help="Write the run as a specification file, for dpspec verify.")
def command(  # noqa: PLR0917 - one argument for each option
    epsilon: str, delta: str, steps: int | None, rate: str | None, noise_multiplier: str | None, out: str | None
) -> CommandAnswer:
    """Find the least noise, the largest rate or the most steps of a training run with differentially private gradient descent
    within (epsilon, delta). Give two of --steps, --rate and --noise-multiplier; the third is found.

    Each candidate is accepted only if the proved upper end of its epsilon is within the target. Noise multipliers are found to
    1/1000, rates to three digits. The result holds for Poisson sampling: in each step, each record takes part with the same
    probability, independently of all others. It does not hold for shuffled batches or batches of a fixed size.

    \b
    Examples:
      dpspec calibrate --epsilon 3 --steps 1000 --rate 0.01
      dpspec calibrate --epsilon 1 --delta 1e-6 --rate 0.01 --noise-multiplier 1
      dpspec calibrate --epsilon 3 --steps 1000 --rate 0.01 --out run.dpspec.toml
      dpspec verify run.dpspec.toml
    """
    from dpspec_flavours.training import calibrate, write_run

    found = calibrate(epsilon=epsilon, delta=delta, steps=steps, rate=rate, noise_multiplier=noise_multiplier)
    if out is not None:
        write_run(found.value, out)
    return found
