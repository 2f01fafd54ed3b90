"""The commands that make something to share: `curve`, `report`, `site`."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


@click.command(cls=CurveCommand, short_help="Draw what promises allow and what mechanisms do.")
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
def curve(  # noqa: PLR0917 - one option, one argument
    paths: tuple[str, ...],
    panel: str,
    out: Picture | None,
    size: str,
    theme: str,
    progress: Progress | None = None,
    **options: str,
) -> CommandAnswer:
    """Plot FILES in one figure: what each allows as a band, and what its mechanism does as a curve inside.

    Panels: trade-off (the two errors of a test), profile (delta for each epsilon, on a logarithmic axis), and renyi (divergence
    by order). Further panels: power (of the best test at four levels), posterior (the belief after a test accuses), and error
    (how far the noise moves a count). Each curve is inside a proved band, which holds between the computed places, too.
    With --format json the points are printed.

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
    return CommandAnswer("curve", 0, {"written": written, **found.data()}, lambda: f"wrote {written[0]}", value=found)


_TITLE = click.option("--title", metavar="TEXT", default="", help="Call it so.")


@click.command(cls=PageCommand, short_help="One page on specifications, to share.")
@_FILES
@click.option(
    "--out", metavar="FILE", required=True, type=click.Path(), help="Write it into FILE, as HTML or Markdown by its ending."
)
@_TITLE
@click.option(
    "--universe-of",
    metavar="TABLE",
    help="Where budgets differ by universe, give the numbers of that of this table, or of a report.json.",
)
def report(
    paths: tuple[str, ...], out: str, title: str, universe_of: str | None, progress: Progress | None = None
) -> CommandAnswer:  # fmt: skip
    """Write one page on FILES (or all of a folder): what each promises in plain words, whether it was checked and how, and the
    witness of what is refuted. It has what an attacker can find out, how exact the numbers are, how the files compare, what they
    add up to, sources and hashes.

    The HTML is one file without scripts that loads nothing; print it for a PDF. Files that cannot be checked are shown as such.
    Exits as `dpspec verify` does of the same files.

    \b
    Examples:
      dpspec report specs/randomised-response.dpspec.toml --out report.html
      dpspec report specs/topdown-2020-pl-persons.dpspec.toml \\
                    specs/swapping-2020-county-tract.dpspec.toml --out report.md
    """
    from dpspec_report import functions

    return functions.write_report(
        *paths, out=out, title=title, universe_of=universe_of, progress=progress, drawing=_then(progress)
    )


@click.command(cls=PageCommand, short_help="The same for a folder, as pages with an index.")
@click.argument("paths", metavar="FILES_OR_DIRS...", nargs=-1, required=True, type=click.Path())
@click.option("--out", metavar="DIR", required=True, type=click.Path(), help="Write the pages into this new folder.")
@_TITLE
def site(paths: tuple[str, ...], out: str, title: str, progress: Progress | None = None) -> CommandAnswer:
    """Write a page for each specification, and an index of all, into a new folder: what `dpspec report` says, in parts.

    The pages need no server, no script, and load nothing. Exits as `dpspec verify` does of the same files.

    Example: dpspec site specs/samples --out public
    """
    from dpspec_report import functions

    return functions.site(*paths, out=out, title=title, progress=progress, drawing=_then(progress))


def _then(progress: Progress | None) -> Progress | None:
    """The progress of drawing, which follows that of judging, with a title of its own where it is shown with one."""
    if progress is None:
        return None
    entitle = getattr(progress, "entitle", None)

    def drawing(done: int, total: int) -> None:
        if done == 1 and entitle is not None:
            entitle("drawing")
        progress(done, total)

    return drawing
