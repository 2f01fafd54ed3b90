"""The commands that make something to hand on: `curve`, `report`, `site`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dpspec.cli.face import formatted, say, tell

if TYPE_CHECKING:
    from dpspec.base.types import Progress
    from dpspec.report.drawing import Picture
    from dpspec.report.terminal import Work

_PANELS = ("trade-off", "profile", "renyi", "power", "posterior", "error")
_FILES = click.argument("paths", metavar="FILES...", nargs=-1, required=True, type=click.Path())


def _picture(_: click.Context, __: click.Parameter, value: str | None) -> Picture | None:
    from dpspec.report.drawing import Picture

    return None if value is None else Picture(value)  # it converts texts


@click.command(short_help="Draw what promises allow and what mechanisms do.")
@_FILES
@click.option("--panel", type=click.Choice(_PANELS), default="trade-off", show_default=True, help="Draw this.")
@click.option(
    "--out", metavar="FILE", callback=_picture, help="Output file, SVG, PNG or PDF by its ending; optional with --format json."
)
@click.option(
    "--size",
    type=click.Choice(["slide", "column", "poster", "page"]),
    default="slide",
    show_default=True,
    help="Draw it for this.",
)
@click.option("--theme", type=click.Choice(["light", "dark"]), default="light", show_default=True, help="Use these colours.")
@click.option("--distance", metavar="K", help="Tell datasets apart that differ by so many units; without it the smallest step.")
@click.option("--level", metavar="P", default="1/20", show_default=True, help="With posterior, the level of the test, in (0, 1).")
@formatted
def curve(  # noqa: PLR0917 - one option, one argument
    paths: tuple[str, ...], panel: str, out: Picture | None, size: str, theme: str, as_json: bool, **options: str
) -> int:
    """Draw one picture of FILES: what each allows as a band, and what its mechanism does as a curve inside.

    Panels: trade-off (the two errors of a test), profile (delta for each epsilon, on a logarithmic axis), renyi (divergence by
    order), power (of the best test at four levels), posterior (the belief after a test accuses), error (how far the noise moves
    a count). Curves are drawn as steps that contain them: what is shown holds between the points, too. With --format json the
    points are printed.

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

    if out is None and not as_json:
        raise click.UsageError("--out names the file to write, such as --out curve.svg; --format json prints the points")
    with Work("drawing", unit="specifications") as work:
        found = api.curve_points(*paths, panel=panel, progress=work, **options)
        if out is not None:
            out.save(found.svg(size=size, theme=theme))
    if as_json:
        say(json.document("curve", 0, {"written": [] if out is None else [str(out.path)], **found.data()}))
    elif out is not None:
        say(f"wrote {out.path}")
    return 0


_TITLE = click.option("--title", metavar="TEXT", default="", help="Call it so.")


@click.command(short_help="One page on specifications, to hand on.")
@_FILES
@click.option(
    "--out", metavar="FILE", required=True, type=click.Path(), help="Write it into FILE, as HTML or Markdown by its ending."
)
@_TITLE
@formatted
def report(paths: tuple[str, ...], out: str, title: str, as_json: bool) -> int:
    """Write one page on FILES (or all of a folder): what each promises in plain words, whether it was checked and how, the
    witness of what is refuted, what an attacker can find out, how they compare, what they add up to, sources and hashes.

    The HTML is one file without scripts that loads nothing; print it for a PDF. Files that cannot be judged are shown as such.
    Exits as `dpspec verify` does of the same files.

    \b
    Examples:
      dpspec report specs/randomised-response.dpspec.toml --out report.html
      dpspec report specs/topdown-2020-pl-persons.dpspec.toml \\
                    specs/swapping-2020-county-tract.dpspec.toml --out report.md
    """
    from dpspec import commands
    from dpspec.report.terminal import Work

    with Work("judging", unit="files") as work:
        found = commands.write_report(*paths, out=out, title=title, progress=work, drawing=_then(work))
    return tell(found, as_json)


@click.command(short_help="The same for a folder, as pages with an index.")
@click.argument("paths", metavar="FILES_OR_DIRS...", nargs=-1, required=True, type=click.Path())
@click.option("--out", metavar="DIR", required=True, type=click.Path(), help="Write the pages into this new folder.")
@_TITLE
@formatted
def site(paths: tuple[str, ...], out: str, title: str, as_json: bool) -> int:
    """Write a page for each specification, and an index of all, into a new folder: what `dpspec report` says, in parts.

    The pages need no server, no script, and load nothing. Exits as `dpspec verify` does of the same files.

    Example: dpspec site specs/samples --out public
    """
    from dpspec import commands
    from dpspec.report.terminal import Work

    with Work("judging", unit="files") as work:
        found = commands.site(*paths, out=out, title=title, progress=work, drawing=_then(work))
    return tell(found, as_json)


def _then(work: Work) -> Progress:
    """The progress of drawing, which comes after judging."""

    def drawing(done: int, total: int) -> None:
        if done == 1:
            work.entitle("drawing")
        work(done, total)

    return drawing
