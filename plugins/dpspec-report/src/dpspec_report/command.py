"""The commands that make something to share: `curve`, `report`, `site`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dpspec import CommandAnswer
    from dpspec.plugin.applications import Progress
    from dpspec_report.drawing import Picture

_PANELS = ("trade-off", "profile", "renyi", "power", "posterior", "error")
_FILES = click.argument("paths", metavar="FILES...", nargs=-1, required=True, type=click.Path())


class CurveCommand(click.Command):
    """A command that counts the specifications that it draws."""

    counts = ("drawing", "specifications")


class PageCommand(click.Command):
    """A command that counts the files that it judges."""

    counts = ("judging", "files")


def _picture(_: click.Context, __: click.Parameter, value: str | None) -> Picture | None:
    from dpspec_report.drawing import Picture

    return None if value is None else Picture(value)  # it converts texts


@click.command(cls=CurveCommand, short_help="Plot what guarantees allow and what mechanisms do.")
@_FILES
@click.option("--panel", type=click.Choice(_PANELS), default="trade-off", show_default=True, help="Function to plot.")
@click.option("--out", metavar="FILE", callback=_picture, help="Output file (SVG, PNG or PDF). Optional with --format json.")
@click.option(
    "--size",
    type=click.Choice(["slide", "column", "poster", "page"]),
    default="slide",
    show_default=True,
    help="Size of the figure.",
)
@click.option("--theme", type=click.Choice(["light", "dark"]), default="light", show_default=True, help="Colours of the figure.")
@click.option("--distance", metavar="K", help="Distance of the two datasets, in units.  [default: the smallest one]")
@click.option("--level", metavar="P", default="1/20", show_default=True, help="With posterior, the level of the test in (0, 1).")
def curve(  # noqa: PLR0917 - one option, one argument
    paths: tuple[str, ...],
    panel: str,
    out: Picture | None,
    size: str,
    theme: str,
    progress: Progress | None = None,
    **options: str,
) -> CommandAnswer:
    """Plot FILES in one figure: what each guarantee allows as a band, and what its mechanism does as a curve inside.

    Panels: trade-off (the two errors of a test), profile (delta for each epsilon, on a logarithmic axis), and renyi (divergence
    by order). Further panels: power (of the best test at four levels), posterior (the belief after a test accuses), and error
    (the error of a noisy count). Each curve is inside a proved band, which also holds between the computed points. With
    --format json the points are printed.

    \b
    Examples:
      dpspec curve specs/randomised-response.dpspec.toml --out response.svg
      dpspec curve specs/topdown-2020-pl-persons.dpspec.toml \\
                   specs/mechanisms/laplace-adults-add-remove.dpspec.toml \\
                   --panel profile --size slide --theme dark --out profile.png
    """
    from dpspec import CommandAnswer
    from dpspec_report.functions import curve_points

    if out is None and click.get_current_context().meta["dpspec.format"] == "text":
        raise click.UsageError("--out names the file to write, such as --out curve.svg; --format json prints the points")
    found = curve_points(*paths, panel=panel, progress=progress, **options)
    if out is not None:
        out.save(found.plot(size=size, theme=theme))
    written = [] if out is None else [str(out.path)]
    return CommandAnswer("curve", 0, {"written": written, **found.data()}, partial("wrote {}".format, *written), value=found)


_TITLE = click.option("--title", metavar="TEXT", default="", help="Title.")


@click.command(cls=PageCommand, short_help="Write a report on specifications.")
@_FILES
@click.option(
    "--out", metavar="FILE", required=True, type=click.Path(), help="Output file. The format follows the extension: .html or .md."
)
@_TITLE
@click.option(
    "--universe-of",
    metavar="TABLE",
    help="Source of the universe that determines the budget: a table or a report.json.",
)
def report(paths: tuple[str, ...], *, jobs: int | None, progress: Progress | None = None, **asked: Any) -> CommandAnswer:
    """Write one page about FILES, or all files of a folder: the guarantee of each in plain words, how it was checked, and the
    witness if it is refuted. The page also has what an attacker can find out, the accuracy of the numbers, the comparison of
    the files, their total budget, sources and hashes.

    The HTML page is one file without scripts or external content; print it for a PDF. Files that cannot be checked are marked.
    The exit code is that of `dpspec verify` for the same files.

    \b
    Examples:
      dpspec report specs/randomised-response.dpspec.toml --out report.html
      dpspec report specs/topdown-2020-pl-persons.dpspec.toml \\
                    specs/swapping-2020-county-tract.dpspec.toml --out report.md
    """
    from dpspec_report import functions

    return functions.write_report(*paths, jobs=jobs, progress=progress, **asked)


@click.command(cls=PageCommand, short_help="Write a site of reports, with an index.")
@click.argument("paths", metavar="FILES_OR_DIRS...", nargs=-1, required=True, type=click.Path())
@click.option("--out", metavar="DIR", required=True, type=click.Path(), help="Output folder, which must not exist.")
@_TITLE
def site(paths: tuple[str, ...], out: str, title: str, jobs: int | None, progress: Progress | None = None) -> CommandAnswer:
    """Write a page for each specification, and an index, to a new folder. The content is that of `dpspec report`.

    The pages need no server, no scripts and no external content. The exit code is that of `dpspec verify` for the same files.

    Example: dpspec site specs/samples --out public
    """
    from dpspec_report import functions

    return functions.site(*paths, out=out, title=title, jobs=jobs, progress=progress)
