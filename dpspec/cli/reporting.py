"""The commands that make something to hand on: `curve`, `report`, `site`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dpspec.cli.face import formatted, say

if TYPE_CHECKING:
    from dpspec.report.drawing import Picture

_PANELS = ("trade-off", "profile", "renyi", "power", "posterior", "error")
_FILES = click.argument("paths", metavar="FILES...", nargs=-1, required=True, type=click.Path())


def _picture(_: click.Context, __: click.Parameter, value: str) -> Picture:
    from dpspec.report.drawing import Picture

    return Picture(value)  # type: ignore[arg-type]  # it converts texts


@click.command(short_help="Draw what promises allow and what mechanisms do.")
@_FILES
@click.option("--panel", type=click.Choice(_PANELS), default="trade-off", show_default=True, help="Draw this.")
@click.option("--out", metavar="FILE", required=True, callback=_picture, help="Write it into FILE, as SVG, PNG or PDF by its ending.")
@click.option("--size", type=click.Choice(["slide", "column", "poster", "page"]), default="slide", show_default=True, help="Draw it for this.")
@click.option("--theme", type=click.Choice(["light", "dark"]), default="light", show_default=True, help="Use these colours.")
@click.option("--distance", metavar="K", help="Tell datasets apart that differ by so many units; without it the smallest step.")
@click.option("--level", metavar="P", default="1/20", show_default=True, help="With posterior, the level of the test, in (0, 1).")
@formatted
def curve(paths: tuple[str, ...], panel: str, out: Picture, as_json: bool, **options: str) -> int:
    """Draw one picture of FILES: what each allows as a band, and what its mechanism does as a curve inside.

    Panels: trade-off (the two errors of a test), profile (delta for each epsilon, on a logarithmic axis), renyi (divergence by
    order), power (of the best test at four levels), posterior (the belief after a test accuses), error (how far the noise moves
    a count). Curves are drawn as steps that contain them: what is shown holds between the points, too.

    \b
    Examples:
      dpspec curve specs/randomised-response.dpspec.toml --out response.svg
      dpspec curve specs/topdown-2020-pl-persons.dpspec.toml \\
                   specs/mechanisms/laplace-adults-add-remove.dpspec.toml \\
                   --panel profile --size slide --theme dark --out profile.png
    """
    from dpspec import api
    from dpspec.report import json
    from dpspec.report.terminal import Work

    with Work("drawing", unit="specifications") as work:
        api.curve(*paths, panel=panel, out=out.path, progress=work, **options)  # type: ignore[arg-type]
    if as_json:
        say(json.document("curve", 0, {"written": str(out.path), "panel": panel}))
    else:
        say(f"wrote {out.path}")
    return 0
