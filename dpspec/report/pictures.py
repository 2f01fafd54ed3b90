"""Pictures as SVG text, saved as SVG or as PNG of twice the size: charts, diagrams of boxes and arrows, the family of flavours.

PNG needs resvg, the extra `dpspec[png]`. It draws letters only in a font that it is told to take and that the machine has, and
leaves them out without a word otherwise; so a font is looked for, by drawing one letter, and its absence is an error.

A chord of a concave curve lies below it. So a bound is never drawn through its points by chords, but as steps on its own side:
of an upper bound that rises or falls all the way, the larger of two neighbouring values stands for all between them, of a lower
bound the smaller one. Pixels are rounded to that side too. A bound that may turn between its points is drawn as points alone.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import count, groupby, pairwise, takewhile
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

import attrs
from rich.table import Table
from rich.text import Text

from dpspec.base.errors import PictureError, in_markup as escape
from dpspec.base.files import write_bytes
from dpspec.base.types import JsonData
from dpspec.grammar.spec import PrivacySpec
from dpspec.reason.search import derive
from dpspec.report.terminal import FAINT, blocks_in_words, drawn

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dpspec.extension import Registry
    from dpspec.grammar.mechanism import Flavour

FAMILIES = ("DejaVu Sans", "Arial", "Liberation Sans", "Helvetica", "Noto Sans", "Segoe UI", "FreeSans", "Cantarell")
"""Fonts without serifs, one of which most machines have."""
ZOOM = 2
"""Pixels of a PNG for one of the SVG, so that the small letters are legible."""
_LETTER = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" font-family="sans-serif">{}</svg>'


@attrs.frozen
class Picture:
    """A file that a picture goes into.

    Args:
        path: the file; ends in .svg or .png.

    Raises:
        PictureError: it ends in something else, or in .png where resvg is not installed.

    >>> Picture(Path("risk.pdf"))
    Traceback (most recent call last):
    dpspec.base.errors.PictureError: picture=risk.pdf: is neither .svg nor .png: choose one of these endings
    """

    path: Path = attrs.field(converter=Path)

    def __attrs_post_init__(self) -> None:
        ending = self.path.suffix.lower()
        if ending not in {".svg", ".png"}:
            raise PictureError("picture", "is neither .svg nor .png", "choose one of these endings", value=str(self.path))
        if ending == ".png" and find_spec("resvg_py") is None:
            advice = "pip install resvg_py (the extra dpspec[png]), or choose the ending .svg"
            raise PictureError("picture", "needs resvg_py, which is not installed", advice, value=str(self.path))

    def save(self, svg: str) -> None:
        """Write the picture, whole or not at all.

        Raises:
            PictureError: the file is a PNG, and the machine has no font for it.
            ReleaseError: it cannot be written there.
        """
        write_bytes(self.path, png(svg) if self.path.suffix.lower() == ".png" else svg.encode())


def png(svg: str) -> bytes:
    """An SVG text as a PNG.

    Raises:
        PictureError: the machine has no font for it.
    """
    from resvg_py import svg_to_bytes

    return svg_to_bytes(svg_string=svg, zoom=ZOOM, **_font())


def _font() -> Mapping[str, Any]:
    """The first font that draws a letter; those that matplotlib brings count too."""
    from resvg_py import svg_to_bytes

    brought = find_spec("matplotlib")
    places = (brought and brought.submodule_search_locations) or ()
    folders = [str(Path(place) / "mpl-data/fonts/ttf") for place in places]
    blank = svg_to_bytes(svg_string=_LETTER.format(""))
    for family in FAMILIES:
        font: Mapping[str, Any] = {"sans_serif_family": family, "font_dirs": folders}
        if svg_to_bytes(svg_string=_LETTER.format('<text y="15">M</text>'), **font) != blank:
            return font
    raise PictureError(
        "font", "none is found to write with", f"install one of {', '.join(FAMILIES[:3])}, or choose the ending .svg"
    )


# --- charts ---------------------------------------------------------------------------------------


WIDTH, HEIGHT, MARGIN, LEGEND = 520, 300, 56, 18
"""Pixels: a panel's plot, the space around it, and one line of the legend."""
COLOURS = ("#1f4e9c", "#b3541e", "#2f7d4f", "#7b3f8c", "#8a6d1a", "#3b7f8a", "#a02c4b", "#555555")
_TICKS, _TITLE, _DOTS = 5, 60, 24
"""About how many ticks an axis has, the letters of a line of the title, and up to how many points of every line get dots."""
_WHOLE = 0.3
"""From which largest value on, up to 1, the vertical axis ends at 1, as for probabilities."""

ToPixels = Callable[[float, float], tuple[float, float]]
"""From a point to its pixels."""


@attrs.frozen(kw_only=True)
class CurveLine:
    """A named series of points (x, y), from left to right.

    Args:
        name: what the legend says.
        points: the places.
        dashed: whether the line is.
        joined: whether there is a line; False for points so far apart that a line between them would say something else.
        side: on which side of the truth the values lie, for a bound that rises or falls all the way; it is drawn as steps.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    dashed: bool = False
    joined: bool = True
    side: Literal["", "above", "below"] = ""

    @property
    def drawn(self) -> tuple[tuple[float, float], ...]:
        """The corners of what is drawn.

        >>> CurveLine(name="at most", points=((0, 1), (2, 3)), side="above").drawn
        ((0, 1), (0, 3), (2, 3))
        """
        if not self.side:
            return self.points
        corners = list(self.points[:1])
        for (left, before), (right, after) in pairwise(self.points):
            level = max(before, after) if self.side == "above" else min(before, after)
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
    """

    title: str
    axis: str
    lines: tuple[CurveLine, ...]
    labels: tuple[str, ...] = ()
    bottom: float = 0.0
    powers: bool = False
    places: bool = False


def svg(title: str, panels: Sequence[CurvePanel]) -> str:
    """A picture of panels below each other.

    >>> line = CurveLine(name="power", points=((0.1, 0.2), (0.5, 0.6)))
    >>> picture = svg("Risk", [CurvePanel(title="power", axis="level", lines=(line,))])
    >>> picture.startswith("<svg"), picture.count("<polyline")
    (True, 1)
    """
    heights = [HEIGHT + 2 * MARGIN + LEGEND * len(panel.lines) for panel in panels]
    heads = wrap(title, _TITLE) or [""]
    above = LEGEND * (len(heads) - 1)
    width, height = WIDTH + 2 * MARGIN + 40, above + sum(heights) + MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        *(
            f'<text x="{MARGIN}" y="{MARGIN // 2 + 4 + LEGEND * row}" font-size="15" font-weight="bold">{escape(head)}</text>'
            for row, head in enumerate(heads)
        ),
    ]
    top = MARGIN // 2 + above
    for panel, size in zip(panels, heights, strict=True):
        lines += [f'<g transform="translate({MARGIN},{top + MARGIN})">', *_panel(panel), "</g>"]
        top += size
    return "\n".join([*lines, "</svg>"]) + "\n"


def ticks(low: float, high: float) -> list[float]:
    """Round numbers in [low, high]: multiples of 1, 2 or 5 times a power of ten.

    >>> ticks(-3.7, 0.3), ticks(0, 1)
    ([-3.0, -2.0, -1.0, 0.0], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    """
    raw = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= 0.7 * raw)
    spots = (round(k * step, 12 - math.floor(math.log10(step))) for k in count(math.ceil(low / step - 1e-9)))
    return [spot + 0.0 for spot in takewhile(lambda spot: spot <= high + step * 1e-9, spots)]


def decades(low: float, high: float) -> list[float]:
    """Exponents of powers of ten in [low, high], about as many as an axis has ticks.

    >>> decades(-10.2, -1.0)
    [-10.0, -8.0, -6.0, -4.0, -2.0]
    """
    step = max(1, math.ceil((high - low) / _TICKS))
    return [float(k) for k in range(math.ceil(low / step) * step, math.floor(high) + 1, step)]


def _scaled(panel: CurvePanel) -> CurvePanel:
    """The panel with the logarithms of what stands on a logarithmic axis; 0 goes one decade below the least."""
    points = [point for line in panel.lines for point in line.points]

    def of(values: Sequence[float]) -> Callable[[float], float]:
        least = min((value for value in values if value > 0), default=1.0)
        return lambda value: math.log10(value) if value > 0 else math.floor(math.log10(least)) - 1

    on_x = of([x for x, _ in points]) if panel.places else float
    on_y = of([y for _, y in points]) if panel.powers else float
    lines = [attrs.evolve(line, points=tuple((on_x(x), on_y(y)) for x, y in line.points)) for line in panel.lines]
    return attrs.evolve(panel, lines=tuple(lines))


def _ends(panel: CurvePanel, points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Where the vertical axis begins and ends."""
    top = max(y for _, y in points)
    if panel.powers:
        least, most = math.floor(min(y for _, y in points)), math.ceil(top)
        return float(least), float(most if most > least else least + 1)
    top, low = max(1e-300, top), panel.bottom
    return low, 1.0 if _WHOLE <= top <= 1 and not low else top + (top - low) * 0.05


def _panel(given: CurvePanel) -> Iterator[str]:
    panel = _scaled(given)
    points = [point for line in panel.lines for point in line.points]
    yield f'<text x="0" y="-10" font-size="13" font-weight="bold">{escape(panel.title)}</text>'
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>'
    if not points:
        yield f'<text x="{WIDTH // 2}" y="{HEIGHT // 2}" font-size="12" text-anchor="middle">no finite number</text>'
        return
    low, high = _ends(panel, points)
    left, right = (
        (min(math.inf if panel.places else 0.0, *(x for x, _ in points)), max(x for x, _ in points))
        if panel.axis
        else (-0.5, max(len(panel.labels), 1) - 0.5)
    )
    right = right if right > left else left + 1

    def place(x: float, y: float) -> tuple[float, float]:
        return (x - left) / (right - left) * WIDTH, HEIGHT - (y - low) / (high - low) * HEIGHT

    digits = 3 if not low or panel.powers else 3 + math.ceil(math.log10(high / (high - low)))
    for y in decades(low, high) if panel.powers else ticks(low, high):
        at = round(place(left, y)[1], 2)
        yield f'<path d="M0 {at}h{WIDTH}" stroke="#e6e6e6"/>'
        mark = f"1e{y:g}" if panel.powers else f"{y:.{digits}g}"
        yield f'<text x="-6" y="{at + 4}" font-size="10" text-anchor="end" fill="#444">{mark}</text>'
    if panel.axis:
        for x in decades(left, right) if panel.places else ticks(left, right):
            at = round(place(x, low)[0], 2)
            mark = f"1e{x:g}" if panel.places else f"{x:.3g}"
            yield f'<path d="M{at} {HEIGHT}v4" stroke="#999"/>'
            yield f'<text x="{at}" y="{HEIGHT + 15}" font-size="10" text-anchor="middle" fill="#444">{mark}</text>'
        yield f'<text x="{WIDTH // 2}" y="{HEIGHT + 30}" font-size="11" text-anchor="middle">{escape(panel.axis)}</text>'
    for spot, label in enumerate(panel.labels):
        at = round(place(spot, low)[0], 2)
        yield f'<text x="{at}" y="{HEIGHT + 14}" font-size="10" text-anchor="middle">{escape(label)}</text>'
    for number, line in enumerate(panel.lines):
        colour = COLOURS[number % len(COLOURS)]
        yield from _series(panel, line, number, colour, place)
        y = HEIGHT + 48 + LEGEND * number
        if line.dashed and panel.axis:
            yield f'<path d="M0 {y - 4}h16" stroke="{colour}" stroke-width="2" stroke-dasharray="6 4"/>'
        else:
            yield f'<rect x="0" y="{y - 9}" width="16" height="9" fill="{colour}"/>'
        yield f'<text x="22" y="{y}" font-size="11">{escape(line.name)}</text>'


def _pixel(line: CurveLine, spot: tuple[float, float]) -> tuple[float, float]:
    """Rounded to hundredths, to the side of a bound (upwards is less)."""
    x, y = spot
    rounded = {"above": math.floor, "below": math.ceil}.get(line.side, round)(y * 100) / 100
    return round(x, 2), rounded


def _series(panel: CurvePanel, line: CurveLine, number: int, colour: str, place: ToPixels) -> Iterator[str]:
    spots = [_pixel(line, place(x, y)) for x, y in line.points]
    if panel.axis:
        drawn = " ".join(f"{x},{y}" for x, y in (_pixel(line, place(x, y)) for x, y in line.drawn))
        dash = ' stroke-dasharray="6 4"' if line.dashed else ""
        if line.joined:
            yield f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
        dotted = all(len(one.points) <= _DOTS for one in panel.lines)
        for x, y in spots if dotted or not line.joined else ():
            yield f'<circle cx="{x}" cy="{y}" r="{2.5 if line.joined else 4}" fill="{colour}"/>'
        return
    wide = WIDTH / max(len(panel.labels), 1) / (len(panel.lines) + 1)
    for x, y in spots:
        start = x + (number - len(panel.lines) / 2) * wide
        yield f'<rect x="{start:.2f}" y="{y}" width="{wide:.2f}" height="{HEIGHT - y:.2f}" fill="{colour}"/>'


# --- diagrams -------------------------------------------------------------------------------------


NODE_WIDTH, NODE_HEIGHT, GAP, LINE, NODE_MARGIN = 250, 64, 16, 90, 30
"""Pixels: a box, the space below it, the space between columns where arrows run, and the edge of the page."""
LETTERS = 36
"""So many letters of the small text fit into a line of a box."""
FILLS = ("#eef3fb", "#f3f8ec", "#fdf3e3", "#f9eef4", "#eef7f7", "#f5f2ec")


@attrs.frozen(kw_only=True)
class DiagramBox:
    """One box of a diagram.

    Args:
        key: what arrows call it.
        title: its name; in smaller letters where it is long.
        text: two lines below the name; cut where it is too long, and whole as a tooltip.
    """

    key: str
    title: str
    text: str = ""


def diagram_svg(
    columns: Mapping[str, Sequence[DiagramBox]], arrows: Sequence[tuple[str, str]], title: str, caption: str = ""
) -> str:
    """A picture of headed columns of boxes, with an arrow from box to box for each pair of keys; a caption says what it means.

    >>> rows = {"one": [DiagramBox(key="a", title="A")], "two": [DiagramBox(key="b", title="B")]}
    >>> picture = diagram_svg(rows, [("a", "b")], "A before B")
    >>> picture.startswith("<svg"), picture.count("<rect"), picture.count("marker-end")
    (True, 3, 1)
    """
    rows = max((len(boxes) for boxes in columns.values()), default=0)
    width = 2 * NODE_MARGIN + len(columns) * NODE_WIDTH + max(0, len(columns) - 1) * LINE + LINE // 2
    height = 3 * NODE_MARGIN + 2 * GAP + rows * (NODE_HEIGHT + GAP)
    places = {
        box.key: (NODE_MARGIN + column * (NODE_WIDTH + LINE), 2 * NODE_MARGIN + 2 * GAP + row * (NODE_HEIGHT + GAP))
        for column, boxes in enumerate(columns.values())
        for row, box in enumerate(boxes)
    }
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif">',
        f"<title>{escape(title)}</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#555"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{NODE_MARGIN}" y="{NODE_MARGIN}" font-size="17" font-weight="bold">{escape(title)}</text>',
        f'<text x="{NODE_MARGIN}" y="{NODE_MARGIN + 20}" font-size="12" fill="#444">{escape(caption)}</text>',
    ]
    for column, (heading, boxes) in enumerate(columns.items()):
        x = NODE_MARGIN + column * (NODE_WIDTH + LINE)
        lines.append(f'<text x="{x}" y="{2 * NODE_MARGIN + GAP}" font-size="14" fill="#333">{escape(heading)}</text>')
        lines += [part for box in boxes for part in _box(box, *places[box.key], FILLS[column % len(FILLS)])]
    lines += [_arrow(places[start], places[end]) for start, end in arrows]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _box(box: DiagramBox, x: int, y: int, fill: str) -> Iterator[str]:
    size = f'width="{NODE_WIDTH}" height="{NODE_HEIGHT}"'
    yield f'<g><title>{escape(box.text or box.title)}</title><rect x="{x}" y="{y}" {size} rx="6" '
    yield f'fill="{fill}" stroke="#999"/><text x="{x + 10}" y="{y + 22}" font-weight="bold" '
    yield f'font-size="{max(6, min(14, 340 // max(1, len(box.title))))}">{escape(box.title)}</text>'
    for line, words in enumerate(textwrap.wrap(box.text, LETTERS, max_lines=2, placeholder="\N{HORIZONTAL ELLIPSIS}")):
        yield f'<text x="{x + 10}" y="{y + 40 + 14 * line}" font-size="11" fill="#444">{escape(words)}</text>'
    yield "</g>"


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    """From edge to edge; within one column round its right side, past other columns above the row of the other box."""
    (x, y), (to_x, to_y) = start, end
    lane = to_y - GAP // 2
    y, to_y = y + NODE_HEIGHT // 2, to_y + NODE_HEIGHT // 2
    if to_x == x:
        side, reach = x + NODE_WIDTH, x + NODE_WIDTH + min(LINE - 10, 20 + abs(to_y - y) // 6)
        path = f"M{side} {y} C{reach} {y}, {reach} {to_y}, {side} {to_y}"
    else:
        x, to_x, step = (x + NODE_WIDTH, to_x, LINE) if to_x > x else (x, to_x + NODE_WIDTH, -LINE)
        path = f"M{x} {y}"
        if abs(to_x - x) > LINE:
            path += f" {_bend(x, y, x + step, lane)} H{to_x - step}"
            x, y = to_x - step, lane
        path += f" {_bend(x, y, to_x, to_y)}"
    return f'<path d="{path}" fill="none" stroke="#555" stroke-width="1.2" marker-end="url(#tip)"/>'


def _bend(x: int, y: int, to_x: int, to_y: int) -> str:
    middle = (x + to_x) // 2
    return f"C{middle} {y}, {middle} {to_y}, {to_x} {to_y}"


def reduced(arrows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The arrows that do not follow from two others: the picture of an order needs no more (its Hasse diagram).

    Of things that imply each other only the first keeps its arrows to and from third ones.

    >>> reduced([("a", "b"), ("b", "c"), ("a", "c")])
    [('a', 'b'), ('b', 'c')]
    """
    given = set(arrows)
    first = {node: min([node, *(other for other in _nodes(arrows) if {(node, other), (other, node)} <= given)])
             for node in _nodes(arrows)}  # fmt: skip
    between = {(a, b) for a, b in given if first[a] == a and first[b] == b}
    kept = [
        (a, b)
        for a, b in arrows
        if (a, b) in between and not any((a, c) in between and (c, b) in between for c in first if c not in (a, b))
    ]
    return kept + [pair for a, b in arrows if (b, a) in given and first[b] == a != b for pair in ((a, b), (b, a))]


def _nodes(arrows: Sequence[tuple[str, str]]) -> list[str]:
    return sorted({node for arrow in arrows for node in arrow})


# --- the family of flavours -----------------------------------------------------------------------


NOTHING = "nothing"
"""What the first flavour of all changes."""


def family(registry: Registry) -> JsonData:
    """Every registered flavour, and the implications that the comparison engine derives between their instances."""
    entries = registry.usable("flavours")
    made: dict[str, Flavour] = {entry.name: entry.cls() for entry in entries}
    specs = {name: flavour.spec() for name, flavour in made.items()}
    return {
        "flavours": [
            {
                "name": entry.name,
                "title": made[entry.name].title,
                "citation": made[entry.name].citation,
                "changes": [block.replace("_", " ") for block in made[entry.name].changes],
                "blocks": blocks_in_words(specs[entry.name]),
                "distribution": entry.provenance.distribution,
            }
            for entry in entries
        ],
        "implications": implications(specs, registry),
    }


def implications(specs: dict[str, PrivacySpec], registry: Registry | None = None) -> list[list[str]]:
    """The pairs [a, b] of names for which a => b is derived, for specifications on one space."""
    return [
        [a, b]
        for a, premise in specs.items()
        for b, conclusion in specs.items()
        if a != b and premise.space == conclusion.space and derive(premise, conclusion, registry) is not None
    ]


def columns(data: JsonData) -> dict[str, list[JsonData]]:
    """The flavours by the first block that they change, in the order of the blocks."""
    headings = [NOTHING, *(field.name.replace("_", " ") for field in attrs.fields(PrivacySpec))]
    sorted_out: dict[str, list[JsonData]] = {heading: [] for heading in headings}
    for flavour in data["flavours"]:
        sorted_out[(flavour["changes"] or [NOTHING])[0]].append(flavour)
    return {heading: found for heading, found in sorted_out.items() if found}


def family_text(data: JsonData) -> str:
    """The family as a table, then who implies whom."""
    parts: list[RenderableType] = []
    for heading, found in columns(data).items():
        parts += [Text(f"changes {heading}" if heading != NOTHING else "the one from which the others differ", "bold")]
        rows = Table.grid(padding=(0, 2, 0, 0))
        rows.add_column(no_wrap=True, min_width=26)
        rows.add_column(overflow="fold")
        rows.add_column(overflow="fold", style=FAINT)
        for flavour in found:
            also = ", ".join(flavour["changes"][1:])
            rows.add_row(flavour["name"], flavour["title"] + (f" (also: {also})" if also else ""), flavour["citation"])
        parts += [rows, ""]
    parts.append(Text("derived between the instances on one space", "bold"))
    parts += [f"{a} implies {b}" for a, b in reduced([(a, b) for a, b in data["implications"]])] or ["nothing"]
    return drawn(*parts).rstrip()


def family_picture(data: JsonData) -> str:
    """The family as SVG: one column for each block, arrows from what implies to what is implied."""
    boxes = {
        f"changes {heading}" if heading != NOTHING else "changes nothing": [
            DiagramBox(key=flavour["name"], title=flavour["name"], text=flavour["title"]) for flavour in found
        ]
        for heading, found in columns(data).items()
    }
    arrows = reduced([(a, b) for a, b in data["implications"]])
    title = "Flavours of differential privacy by the block that each one changes"
    return diagram_svg(
        boxes,
        arrows,
        title,
        "An arrow leads to what is implied, as derived between the instances on one space with their budgets.",
    )
