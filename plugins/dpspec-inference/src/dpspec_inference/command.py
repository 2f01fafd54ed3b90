"""The command `dpspec infer`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpspec import CommandAnswer


@click.command(name="infer", short_help="Estimate statistics from a release.")
@click.argument("spec", type=click.Path())
@click.argument("release", type=click.Path())
@click.option("--model", metavar="FILE|NAME", required=True, help="Model: a name, or a TOML file with type and parameters.")
@click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help="Parameter of the model. May be repeated.")
def command(spec: str, release: str, model: str, settings: tuple[str, ...]) -> CommandAnswer:
    """Estimate statistics from RELEASE, which was released under SPEC. The likelihood is the law of its mechanism.

    RELEASE is a folder of `dpspec release`, a released table, or a TOML or JSON file of released numbers. The models are
    proportion, table-of-proportions, mean-and-variance, block-count, simple-regression, swapped-table, universe, and those of
    other packages. An improper posterior is an error that names the theorem.

    Exits with 3 if sampled chains do not agree.

    \b
    Examples:
      dpspec infer specs/inference/response.dpspec.toml \\
                   specs/inference/released/response.toml --model proportion
      dpspec infer specs/inference/mean-and-variance.dpspec.toml \\
                   specs/inference/released/lead.toml --model mean-and-variance
      dpspec infer SPEC RELEASE --model block-count --set 'prior={most=10}'
    """
    from dpspec.plugin.applications import parsed
    from dpspec_inference.analysis import infer

    return infer(spec, release, model=model, **parsed(settings))
