"""The functions of dpspec that draw curves and write pages: what each command prints, as data, and the values behind it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dpspec import CommandAnswer, SpecDocument, compare, installed
from dpspec.plugin import exact
from dpspec.plugin.applications import (
    Figure,
    Page,
    PictureError,
    Progress,
    ReleaseError,
    as_documents,
    outcome_summary,
    write_folder,
    write_whole,
)
from dpspec_report import dossier
from dpspec_report.curves import CurveData, curve as computed
from dpspec_report.drawing import Picture
from dpspec_report.page import document

AnyPath = str | Path


def curve(
    *specifications: SpecDocument | AnyPath,
    panel: str = "trade-off",
    size: str = "slide",
    theme: str = "light",
    distance: exact.NumberLike | None = None,
    level: exact.NumberLike = "1/20",
    out: AnyPath | None = None,
    progress: Progress | None = None,
) -> Figure:
    """Plot what specifications allow, as bands, and what their mechanisms do, as curves inside: one figure of all of them.

    Args:
        specifications: specifications or files.
        panel: ``trade-off``, ``profile`` (epsilon and delta), ``renyi``, ``power``, ``posterior`` or ``error`` (of counts).
        size: ``slide``, ``column``, ``poster`` or ``page``.
        theme: ``light`` or ``dark``.
        distance: the distance of the two datasets to be distinguished, in units of the input divergence; by default the
            smallest one that occurs in a universe.
        level: for posteriors, the level of the test, in (0, 1).
        out: a file that the figure is written into; ends in .svg, .png or .pdf.
        progress: called with (done, in all).

    Returns:
        the figure; a notebook displays it, and ``save`` writes it.

    Raises:
        PictureError: no requested figure can be drawn, or not into such a file.
    """
    file = None if out is None else Picture(Path(out))
    found = curve_points(*specifications, panel=panel, distance=distance, level=level, progress=progress)
    figure = found.plot(size=size, theme=theme)
    if file is not None:
        file.save(figure)
    return figure


def curve_points(
    *specifications: SpecDocument | AnyPath,
    panel: str = "trade-off",
    distance: exact.NumberLike | None = None,
    level: exact.NumberLike = "1/20",
    progress: Progress | None = None,
) -> CurveData:
    """The series of a figure of `curve`, as numbers: `data()` has their points, `plot()` the figure.

    Args:
        specifications: specifications or their files.
        panel: which figure: ``trade-off``, ``profile``, ``renyi``, ``power``, ``posterior`` or ``error``.
        distance: the distance of the two datasets, in units of the input divergence; by default the least one.
        level: for posteriors, the level of the test, in (0, 1).
        progress: called with (done, in all).

    Raises:
        PictureError: nothing is known of the requested figure.
    """
    documents = as_documents(specifications)
    return computed(documents, panel, installed().registry, distance=distance, level=level, progress=progress)


def write_report(
    *specifications: AnyPath,
    out: AnyPath,
    title: str = "",
    universe_of: Any = None,
    jobs: int | None = 1,
    progress: Progress | None = None,
) -> CommandAnswer:
    """Write one page on specifications, to share: promises, verdicts, witnesses, risks, comparisons, sources. `value` has them.

    Args:
        specifications: files, or directories, which mean their specification files.
        out: the page, as HTML or Markdown by its ending.
        title: what it is called.
        universe_of: a table (a file, a registered name or a data frame) or a release's report: where budgets differ by universe,
            the numbers are those of its universe.
        jobs: so many processes; None for one for each processor where there are many files.
        progress: called with (files done, files in all).

    Raises:
        PictureError: another ending.
        TableError: the table does not fit the space of a file whose budgets differ by universe.
    """
    target = Path(out)
    written = {".html": document, ".htm": document, ".md": Page.markdown}.get(target.suffix.lower())
    if written is None:
        raise PictureError("out", "is neither .html nor .md", "choose one of these endings", value=str(out))
    found = _gathered(specifications, progress, jobs, universe_of)
    write_whole(target, written(dossier.report_page(found, title)))
    data = {"written": [str(out)], "files": _ended(found)}
    return CommandAnswer("report", found.exit_code, data, partial(_handed_on, f"wrote {out}", found), value=found)


def site(
    *specifications: AnyPath,
    out: AnyPath,
    title: str = "",
    jobs: int | None = 1,
    progress: Progress | None = None,
) -> CommandAnswer:
    """Write what `write_report` says as a page for each specification with an index, into a new folder. `value` has all of it.

    Args:
        specifications, title, jobs, progress: as in `write_report`.
        out: the folder.

    Raises:
        ReleaseError: the folder exists.
    """
    if Path(out).exists() or Path(out).is_symlink():  # before an hour of work is lost to it
        raise ReleaseError("folder", "exists already", "choose another name or place", value=str(out))
    found = _gathered(specifications, progress, jobs)
    pages = {name: document(one) for name, one in dossier.site_pages(found, title).items()}
    write_folder(Path(out), pages)
    data = {"written": [f"{out}/{name}" for name in pages], "files": _ended(found)}
    head = f"wrote {out}: {len(pages)} pages, from {out}/index.html on"
    return CommandAnswer("site", found.exit_code, data, partial(_handed_on, head, found), value=found)


def _gathered(
    paths: Sequence[AnyPath], progress: Progress | None, jobs: int | None, universe_of: Any = None
) -> dossier.Dossier:  # fmt: skip
    registry = installed().registry
    return dossier.gather(
        paths, registry, lambda left, right: compare(left, right, registry), progress=progress, universe_of=universe_of,
        jobs=jobs,
    )  # fmt: skip


def _ended(found: dossier.Dossier) -> list[dict[str, str]]:
    return [{"path": one.path, "outcome": one.word.word} for one in found.files]


def _handed_on(head: str, found: dossier.Dossier) -> str:
    return f"{head}\n{outcome_summary([one.word for one in found.files])}"
