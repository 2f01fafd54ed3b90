"""Contents of figures: series and axes of charts, boxes and arrows of diagrams. A package draws them.

A module that puts numbers into a figure builds these values and calls `chart`, `diagram` or `side_by_side`. The SVG text is made
by the package that registers the renderer of this name (`dpspec.extension.packages.RENDERERS`), loaded when it is called. They
return a `Figure`, which notebooks display and which writes itself into a file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, groupby, pairwise
from pathlib import Path
from typing import Literal, Protocol

import attrs

from dpspec.extension.packages import RENDERERS, contributed, renderer

FIGURE = "figure"
"""The name of a figure in the message that no installed package draws it."""
CurvePoints = tuple[tuple[float, float], ...]


@attrs.frozen(kw_only=True, repr=False)
class Figure:
    """A figure: a notebook displays it, and `save` writes it as SVG, PNG or PDF.

    Every function of dpspec that makes a figure, and the `plot` of every value that has one, returns this class.

    Args:
        title: its title.
        alt: what it shows, in words.
        svg: the figure, as SVG text.

    >>> figure = Figure(title="Risk", alt="Power by level.", svg='<svg xmlns="http://www.w3.org/2000/svg"/>')
    >>> figure, sorted(figure._repr_mimebundle_())
    (<Figure: Risk>, ['image/svg+xml', 'text/plain'])
    """

    title: str
    alt: str
    svg: str

    def save(self, path: str | Path) -> None:
        """Write the figure into a file; its ending says the format: .svg, .png or .pdf.

        Raises:
            PictureError: it ends in something else, or no font is found for a PNG.
            MissingLibraryError: the library for this format is not installed.
            MissingPackageError: no installed package writes figures.
        """
        figure_file(path).save(self)

    def __repr__(self) -> str:
        return f"<Figure: {self.title}>"

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """The SVG, and for readers who do not see it the words; notebooks choose."""
        return {"image/svg+xml": self.svg, "text/plain": f"{self.title}. {self.alt}"}


def draws_figures() -> bool:
    """Whether an installed package draws figures."""
    return "chart" in contributed(RENDERERS)


# --- charts ---------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class CurveLine:
    """A named series of points (x, y), from left to right.

    Args:
        name: what the legend says.
        role: what kind of series it is, where several names share kinds; the legend then says each name and each role once.
        points: the places.
        dashed: whether the line is.
        joined: whether the points are joined by a line; False where a line between distant points would be misleading.
        side: on which side of the truth the values lie, for a bound that rises or falls all the way; it is drawn as steps.
        is_power: whether the values are powers of tests by level, so that lines bound them instead (`power_lines`).
        top: the corners of the upper edge of a band; the points are those of the lower edge, and it is filled.
        edge: the corners of the line of a band, one of its edges or inside; without them the lower edge.
        marks: what is written on the bars, one text for each point; without it the values, rounded to their side.
        colour: the number of its colour; without it that of its place.
        inside: whether its bars are drawn inside those of the series before it.
    """

    name: str
    points: CurvePoints
    role: str = ""
    dashed: bool = False
    joined: bool = True
    side: Literal["", "above", "below"] = ""
    is_power: bool = False
    top: CurvePoints = ()
    edge: CurvePoints = ()
    marks: tuple[str, ...] = ()
    colour: int | None = None
    inside: bool = False


def power_lines(points: CurvePoints, side: str) -> CurvePoints:
    """The corners of lines that bound the largest power of a test between levels at which it is bounded on one side.

    For a pair of laws the power is concave in the level, at least 0 at level 0 and 1 at level 1. So beyond a point it lies below
    the line from (0, 0) through it, before a point below the line through it and (1, 1), and above these lines on their other
    sides. All four also bound the largest power of several pairs.

    >>> [(round(x, 9), round(y, 9)) for x, y in power_lines(((0.125, 0.25), (0.5, 0.75)), "above")]
    [(0.125, 0.25), (0.333333333, 0.666666667), (0.375, 0.6875), (0.5, 0.75)]
    """
    if not side:
        return points
    start, end = (0.0, 0.0), (1.0, 1.0)
    choose = min if side == "above" else max
    corners = list(points[:1])
    for one, other in pairwise(points):
        through = ((start, one), (other, end)) if side == "above" else ((one, end), (start, other))
        lines = [(p, (q[1] - p[1]) / (q[0] - p[0])) for p, q in through if p[0] < q[0]]
        lines.append((other if side == "above" else one, 0.0))  # it rises
        meets = [
            (q[1] - p[1] + slope * p[0] - other_slope * q[0]) / (slope - other_slope)
            for (p, slope), (q, other_slope) in combinations(lines, 2)
            if slope != other_slope
        ]
        places = [one[0], *sorted(x for x in meets if one[0] < x < other[0]), other[0]]
        corners += [(x, choose(p[1] + slope * (x - p[0]) for p, slope in lines)) for x in places]
    return tuple(corner for corner, _ in groupby(corners))


def steps(points: CurvePoints, side: str) -> CurvePoints:
    """The corners of a line through the points, on one side of all that rises or falls through them."""
    if not side:
        return points
    corners = list(points[:1])
    for (left, before), (right, after) in pairwise(points):
        level = max(before, after) if side == "above" else min(before, after)
        corners += [(left, level), (right, level), (right, after)]
    return tuple(corner for corner, _ in groupby(corners))


@attrs.frozen(kw_only=True)
class CurvePanel:
    """One chart.

    Args:
        title: what is on the vertical axis.
        axis: what is on the horizontal one; "" where the places only have labels, and bars are drawn.
        lines: the series.
        labels: the label of place 0, 1, ... for bars.
        bottom: where the vertical axis begins; curves alone may begin elsewhere than at 0, bars would lie.
        powers: whether the vertical axis is logarithmic, as for a delta; values of 0 lie on its lower edge.
        places: whether the horizontal one is.
        below: what the places of bars are.
    """

    title: str
    axis: str
    lines: tuple[CurveLine, ...]
    labels: tuple[str, ...] = ()
    bottom: float = 0.0
    powers: bool = False
    places: bool = False
    below: str = ""


def chart(title: str, panels: Sequence[CurvePanel], *, size: str = "page", theme: str = "light", note: str = "") -> Figure:
    """Panels below each other; a panel without a point is left out, and the figure says so.

    Args:
        title: the title above them.
        panels: the charts.
        size: ``page``, ``slide``, ``column`` or ``poster``.
        theme: ``light``, ``dark`` or ``page``.
        note: a line below the title.

    Raises:
        PictureError: no panel has a point.
        MissingPackageError: no installed package draws charts.
    """
    found: Figure = renderer("chart", FIGURE)(title, panels, size=size, theme=theme, note=note)
    return found


# --- diagrams -------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class DiagramBox:
    """One box of a diagram.

    Args:
        key: its identifier in arrows.
        title: its name, in up to two lines.
        text: lines below the name; cut where it is too long, and whole as a tooltip.
        number: a last line, such as the budget.
        group: the label of the boxes of its colour; boxes without arrows are grouped by it.
    """

    key: str
    title: str
    text: str = ""
    number: str = ""
    group: str = ""


@attrs.frozen(kw_only=True)
class BlockRow:
    """One block of two specifications.

    Args:
        block: its name.
        left, right: the lines of the one and of the other.
        notes: what separates them there.
    """

    block: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    notes: tuple[str, ...] = ()


def diagram(
    boxes: Sequence[DiagramBox],
    arrows: Sequence[tuple[str, str]],
    title: str,
    caption: str = "",
    *,
    theme: str = "light",
    apart: str = "",
    about: Callable[[frozenset[str]], str] | None = None,
) -> Figure:
    """Boxes in layers, with an arrow from box to box for each pair of keys; an arrow leads to a later layer.

    Args:
        boxes: the boxes.
        arrows: from key to key.
        title, caption: above them.
        theme: ``light``, ``dark`` or ``page``.
        apart: the heading of the boxes without arrows.
        about: the line above the boxes of each part that arrows connect, by their keys.

    Raises:
        MissingPackageError: no installed package draws diagrams.
    """
    found: Figure = renderer("diagram", FIGURE)(boxes, arrows, title, caption, theme=theme, apart=apart, about=about)
    return found


def side_by_side(
    title: str, names: tuple[str, str], rows: Sequence[BlockRow], answers: Sequence[tuple[str, bool | None]], theme: str = "light"
) -> Figure:
    """Two specifications block by block: equal blocks as one box, others side by side with what separates them.

    Args:
        title: the title.
        names: what the two are called.
        rows: the blocks.
        answers: sentences at the end, each with whether it is good news.
        theme: ``light``, ``dark`` or ``page``.

    Raises:
        MissingPackageError: no installed package draws it.
    """
    found: Figure = renderer("side-by-side", FIGURE)(title, names, rows, answers, theme)
    return found


def merged(arrows: Sequence[tuple[str, str]]) -> dict[str, str]:
    """For each end of an arrow the first one with which arrows lead to and fro, itself where there is none: one box has them all.

    >>> merged([("a", "b"), ("b", "a"), ("b", "c")])
    {'a': 'a', 'b': 'a', 'c': 'c'}
    """
    given, nodes = set(arrows), list(dict.fromkeys(node for arrow in arrows for node in arrow))
    return {a: next(b for b in nodes if a == b or {(a, b), (b, a)} <= given) for a in nodes}


def reduced(arrows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The arrows that do not follow from two others: the figure of an order needs no more (its Hasse diagram).

    Of things that imply each other only the one that comes first keeps its arrows to and from third ones.

    >>> reduced([("a", "b"), ("b", "c"), ("a", "c")])
    [('a', 'b'), ('b', 'c')]
    """
    given, first = set(arrows), merged(arrows)
    between = {(a, b) for a, b in given if first[a] == a and first[b] == b}
    kept = [
        (a, b)
        for a, b in arrows
        if (a, b) in between and not any((a, c) in between and (c, b) in between for c in first if c not in (a, b))
    ]
    return kept + [pair for a, b in arrows if (b, a) in given and first[b] == a != b for pair in ((a, b), (b, a))]


# --- files ----------------------------------------------------------------------------------------


class FigureFile(Protocol):
    """A file that a figure is written into."""

    @property
    def path(self) -> Path:
        """The file."""

    def save(self, figure: Figure) -> None:
        """Write a figure, whole or not at all."""


def figure_file(path: str | Path) -> FigureFile:
    """A file for a figure; its ending says the format: .svg, .png or .pdf.

    Raises:
        PictureError: it ends in something else.
        MissingLibraryError: the library for this format is not installed.
        MissingPackageError: no installed package writes figures.
    """
    found: FigureFile = renderer("figure-file", FIGURE)(path)
    return found
