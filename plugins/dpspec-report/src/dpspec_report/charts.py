"""Charts: curves, bands and bars with axes, as SVG text.

The edges of a band are the corners of lines that bound it, between the corners too (`envelopes`). Of a bound that is known at
some points alone, and rises or falls all the way, steps are drawn on its own side: a chord of a concave curve lies below it.
Pixels are rounded to that side too. A bound that may turn between its points is drawn as points alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import count, takewhile

import attrs

from dpspec.plugin.applications import CurveLine, CurvePanel, CurvePoints, Figure, PictureError, power_lines, steps
from dpspec_report.drawing import BOLD, SIZES, THEMES, PictureTheme, head_of, text_width, wrapped, written

HEIGHT, MARGIN, LEGEND = 300, 56, 18
"""Units: a panel's plot where a size leaves it open, the space around it, and one line of the legend."""
_RIGHT, _HEAD, _SMALL = 96, 15, 11
"""Units: the total margins next to a plot, and the letters of the title and of the legend."""
_EXTRA = 16
"""Units: one more line of the title of a panel."""
_TICKS, _DOTS = 5, 24
"""About how many ticks an axis has, and up to how many points of every line get dots."""
_WHOLE = 0.3
"""From which largest value on, up to 1, the vertical axis ends at 1, as for probabilities."""

ToPixels = Callable[[float, float], tuple[float, float]]
"""From a point to its pixels."""


def chart(title: str, panels: Sequence[CurvePanel], *, size: str = "page", theme: str = "light", note: str = "") -> Figure:
    """Panels below each other; a panel without a point is left out, and said.

    Args:
        title: the title above them.
        panels: the charts.
        size: one of `SIZES`.
        theme: one of `THEMES`.
        note: a sentence below the title.

    Raises:
        PictureError: no panel has a point.

    >>> line = CurveLine(name="power", points=((0.1, 0.2), (0.5, 0.6)))
    >>> figure = chart("Risk", [CurvePanel(title="power", axis="level", lines=(line,))])
    >>> figure.alt, figure.svg.count("<polyline")
    ('Chart of power by level. Series: power.', 1)
    """
    palette, form = THEMES[theme], SIZES[size]
    shown = [panel for panel in panels if any(line.points for line in panel.lines)]
    empty = [panel.title for panel in panels if panel not in shown]
    if not shown:
        raise PictureError("picture", "would show no finite number", "ask about what is promised, or known")
    said = [note] if note else []
    said += [f"No finite number: {', '.join(empty)}."] if empty else []
    width = form.width / form.zoom
    room = width - _RIGHT
    heads, notes = (
        wrapped(title, width - MARGIN, _HEAD * BOLD),
        [one for part in said for one in wrapped(part, width - MARGIN, _SMALL)],
    )
    above = LEGEND * len(heads) + 14 * len(notes) + MARGIN // 2 - 8
    rest = [2 * MARGIN - 20 + LEGEND * len(_legend(panel, room)) + _EXTRA * (len(_title(panel, room)) - 1) for panel in shown]
    plot = float(HEIGHT if not form.height else max(120.0, (form.height / form.zoom - above - sum(rest) - 16) / len(shown)))
    height = above + sum(rest) + plot * len(shown) + 16
    axes = ((panel.title, panel.axis or panel.below) for panel in shown)
    charts = "; ".join(f"{up} by {across}" if across else up for up, across in axes)
    series = dict.fromkeys(", ".join(filter(None, (line.name, line.role))) for panel in shown for line in panel.lines)
    alt = f"Chart of {charts}. Series: {'; '.join(series)}." + (f" {note[:1].upper()}{note[1:]}." if note else "")
    lines = list(head_of(title, alt, width, height, palette, form.zoom))
    for row, head in enumerate(heads):
        lines.append(written(MARGIN - 30, MARGIN // 2 + LEGEND * row, head, _HEAD, palette.ink, 'font-weight="bold"'))
    for row, one in enumerate(notes):
        lines.append(written(MARGIN - 30, MARGIN // 2 + LEGEND * len(heads) + 14 * row - 2, one, _SMALL, palette.faint))
    top = float(above)
    for panel, under in zip(shown, rest, strict=True):
        start = top + 34 + _EXTRA * (len(_title(panel, room)) - 1)
        lines += [f'<g transform="translate({MARGIN},{start:g})">', *_panel(panel, room, plot, palette), "</g>"]
        top += plot + under
    return Figure(title=title, alt=alt, svg="\n".join([*lines, "</svg>"]) + "\n")


def _title(panel: CurvePanel, room: float) -> list[str]:
    return wrapped(panel.title, room + _RIGHT / 3, 13 * BOLD)


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


def _points(panel: CurvePanel) -> list[tuple[float, float]]:
    return [point for line in panel.lines for point in (*line.points, *line.top)]


def _scaled(panel: CurvePanel) -> CurvePanel:
    """The panel with the logarithms of the values of a logarithmic axis; 0 goes one decade below the least."""
    points = _points(panel)

    def of(values: Sequence[float]) -> Callable[[float], float]:
        least = min((value for value in values if value > 0), default=1.0)
        return lambda value: math.log10(value) if value > 0 else math.floor(math.log10(least)) - 1

    on_x = of([x for x, _ in points]) if panel.places else float
    on_y = of([y for _, y in points]) if panel.powers else float

    def scaled(points: CurvePoints) -> CurvePoints:
        return tuple((on_x(x), on_y(y)) for x, y in points)

    lines = [attrs.evolve(line, points=scaled(line.points), top=scaled(line.top), edge=scaled(line.edge)) for line in panel.lines]
    return attrs.evolve(panel, lines=tuple(lines))


def _ends(panel: CurvePanel, points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Where the vertical axis begins and ends."""
    top = max(y for _, y in points)
    if panel.powers:
        least, most = math.floor(min(y for _, y in points)), math.ceil(top)
        return float(least), float(most if most > least else least + 1)
    top, low = max(1e-300, top), panel.bottom
    if _WHOLE <= top <= 1 and not low:
        return low, 1.0 if panel.axis else 1.1
    return low, top + (top - low) * (0.05 if panel.axis else 0.1)


def _panel(given: CurvePanel, width: float, height: float, palette: PictureTheme) -> Iterator[str]:
    panel = _scaled(given)
    points = _points(panel)
    heads = _title(panel, width)
    for row, head in enumerate(heads):
        yield written(0, -10 - _EXTRA * (len(heads) - 1 - row), head, 13, palette.ink, 'font-weight="bold"')
    yield f'<rect width="{width:g}" height="{height:g}" fill="none" stroke="{palette.edge}"/>'
    low, high = _ends(panel, points)
    left, right = (
        (min(math.inf if panel.places else 0.0, *(x for x, _ in points)), max(x for x, _ in points))
        if panel.axis
        else (-0.5, max(len(panel.labels), 1) - 0.5)
    )
    right = right if right > left else left + 1

    def place(x: float, y: float) -> tuple[float, float]:
        return (x - left) / (right - left) * width, height - (y - low) / (high - low) * height

    yield from _axes(panel, place, (left, right), (low, high), (width, height), palette)
    slot, bars = -1, sum(not line.inside for line in panel.lines)
    wide = width / max(len(panel.labels), 1) / (bars + 0.6)
    for number, line in enumerate(panel.lines):
        colour = palette.colours[(number if line.colour is None else line.colour) % len(palette.colours)]
        slot += not line.inside
        if panel.axis:
            yield from _series(panel, line, colour, place)
        else:
            around = [y for _, y in panel.lines[number - 1].points] if line.inside else []
            yield from _bars(line, around, ((slot - bars / 2) * wide, wide), colour, place, palette)
    for row, entries in enumerate(_legend(panel, width)):
        for x, entry in entries:
            yield from _key(panel, entry, x, height + 48 + LEGEND * row, palette)


def _axes(  # noqa: PLR0917 - the two ends of each axis
    panel: CurvePanel,
    place: ToPixels,
    across: tuple[float, float],
    up: tuple[float, float],
    size: tuple[float, float],
    palette: PictureTheme,
) -> Iterator[str]:
    """Grid, ticks and what they are."""
    (left, right), (low, high), (width, height) = across, up, size
    digits = 3 if not low or panel.powers else 3 + math.ceil(math.log10(high / (high - low)))
    for y in decades(low, high) if panel.powers else ticks(low, high):
        at = round(place(left, y)[1], 2)
        yield f'<path d="M0 {at}h{width:g}" fill="none" stroke="{palette.grid}"/>'
        mark = f"1e{y:g}" if panel.powers else f"{y:.{digits}g}"
        yield written(-6, at + 4, mark, 10, palette.faint, 'text-anchor="end"')
    if panel.axis:
        for x in decades(left, right) if panel.places else ticks(left, right):
            at = round(place(x, low)[0], 2)
            mark = f"1e{x:g}" if panel.places else f"{x:.3g}"
            yield f'<path d="M{at} {height:g}v4" fill="none" stroke="{palette.edge}"/>'
            yield written(at, height + 15, mark, 10, palette.faint, 'text-anchor="middle"')
    for spot, label in enumerate(panel.labels):
        at = round(place(spot, low)[0], 2)
        (shown,) = wrapped(label, width / len(panel.labels), 10, 1)
        yield written(at, height + 14, shown, 10, palette.ink, 'text-anchor="middle"')
    for words in filter(None, (panel.axis or panel.below,)):
        yield written(width / 2, height + 30, words, 11, palette.ink, 'text-anchor="middle"')


@attrs.frozen(kw_only=True)
class _Entry:
    """One entry of a legend: a series for its colour, or for how it is drawn where `is_role`; `is_rest` has words alone."""

    text: str
    line: CurveLine
    colour: int
    is_role: bool = False
    is_rest: bool = False


def _legend(panel: CurvePanel, width: float) -> list[list[tuple[float, _Entry]]]:
    """The rows of the legend, each entry with its place: every name and every role once, and no name that is the chart's."""
    entries: dict[str, _Entry] = {}
    for number, line in enumerate(panel.lines):
        colour = number if line.colour is None else line.colour
        entries.setdefault(line.name, _Entry(text=line.name, line=line, colour=colour))
    if list(entries) == [panel.title]:
        entries = {}
    for line in panel.lines:
        if line.role:
            entries.setdefault(line.role, _Entry(text=line.role, line=line, colour=0, is_role=True))
    rows: list[list[tuple[float, _Entry]]] = []
    x = 0.0
    for entry in (entry for entry in entries.values() if entry.text):
        text, *rest = wrapped(entry.text, width - 22, _SMALL, 2)
        short = attrs.evolve(entry, text=text)
        wide = 22 + text_width(short.text, _SMALL) + 14
        flows = any(line.role for line in panel.lines) or len(entries) <= 3
        if not rows or x + wide > width + 14 or not flows:
            rows.append([])
            x = 0.0
        rows[-1].append((x, short))
        rows += [[(x, attrs.evolve(entry, text=line, is_rest=True))] for line in rest]
        x += width if rest else wide
    return rows


def _key(panel: CurvePanel, entry: _Entry, x: float, y: float, palette: PictureTheme) -> Iterator[str]:
    yield written(x + 22, y, entry.text, _SMALL, palette.ink)
    if entry.is_rest:
        return
    line = entry.line
    colour = palette.faint if entry.is_role else palette.colours[entry.colour % len(palette.colours)]
    plain = bool(line.role) and not entry.is_role
    if line.dashed and panel.axis and not plain:
        yield f'<path d="M{x:g} {y - 4:g}h16" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="6 4"/>'
    elif (line.top or (not panel.axis and line.dashed)) and not plain:
        look = f'fill="{colour}" fill-opacity="0.22" stroke="{colour}"'
        yield f'<rect x="{x + 0.5:g}" y="{y - 8.5:g}" width="15" height="8" {look}/>'
    else:
        yield f'<rect x="{x:g}" y="{y - 9:g}" width="16" height="9" fill="{colour}"/>'


def _pixel(side: str, spot: tuple[float, float]) -> tuple[float, float]:
    """Rounded to hundredths, to the side of a bound (upwards is less)."""
    x, y = spot
    rounded = {"above": math.floor, "below": math.ceil}.get(side, round)(y * 100) / 100
    return round(x, 2), rounded


def _around(spots: Sequence[tuple[float, float]]) -> str:
    """An area as a path; of a stair one number for each corner, which halves a page of many pictures.

    >>> _around([(0, 0), (2, 0), (2, 1), (3, 4)])
    'M0 0H2V1L3 4Z'
    """
    path = f"M{spots[0][0]:g} {spots[0][1]:g}"
    for (x, y), (to_x, to_y) in itertools.pairwise(spots):
        path += f"H{to_x:g}" if y == to_y else f"V{to_y:g}" if x == to_x else f"L{to_x:g} {to_y:g}"
    return path + "Z"


def _series(panel: CurvePanel, line: CurveLine, colour: str, place: ToPixels) -> Iterator[str]:
    def pixels(points: CurvePoints, side: str) -> list[tuple[float, float]]:
        lines = line.is_power and not (panel.powers or panel.places)  # straight on plain axes
        corners = points if line.top else power_lines(points, side) if lines else steps(points, side)
        return [spot for spot, _ in itertools.groupby(_pixel(side, place(x, y)) for x, y in corners)]

    def text(found: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{x:g},{y:g}" for x, y in found)

    dash = ' stroke-dasharray="6 4"' if line.dashed else ""
    side = "below" if line.top else line.side
    spots = pixels(line.points, side)
    if line.top:
        high = pixels(line.top, "above")
        yield f'<path d="{_around([*spots, *reversed(high)])}" fill="{colour}" fill-opacity="0.16" stroke="none"/>'
        spots = high if line.edge is line.top else pixels(line.edge, "") if line.edge else spots
    if line.joined:
        yield f'<polyline points="{text(spots)}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
    dotted = all(len(one.points) <= _DOTS and not one.top for one in panel.lines)
    for x, y in (_pixel(side, place(x, y)) for x, y in line.points) if dotted or not line.joined else ():
        yield f'<circle cx="{x:g}" cy="{y:g}" r="{2.5 if line.joined else 4}" fill="{colour}"/>'


def _bars(  # noqa: PLR0917 - where, and in which colours
    line: CurveLine, around: Sequence[float], span: tuple[float, float], colour: str, place: ToPixels, palette: PictureTheme
) -> Iterator[str]:
    """A bar from the axis to each value, and the value on it; a bound is an open bar, so that what lies inside is seen."""
    start, wide = span
    inset = wide * (0.18 if line.inside else 0.04)
    look = f'fill="{colour}" fill-opacity="0.22" stroke="{colour}"' if line.dashed else f'fill="{colour}"'
    for number, (x, y) in enumerate(line.points):
        (at, top), (_, foot) = place(x, y), place(x, 0.0)
        edge, top = at + start + inset, _pixel(line.side, (0, top))[1]
        size = f'width="{wide - 2 * inset:.2f}" height="{max(0.0, foot - top):.2f}"'
        yield f'<rect x="{edge:.2f}" y="{top:g}" {size} {look}/>'
        mark = line.marks[number] if line.marks else value_mark(y, line.side)
        middle = round(edge + wide / 2 - inset, 2)
        if line.inside and foot - top > 14:  # at the foot of the bar: the value of the bar around it is above
            yield written(middle, foot - 5, mark, 9, palette.paper, _upright(mark, wide - 2 * inset, middle, foot - 5))
        elif line.inside:
            turned = text_width(mark, 9) > 0.92 * wide + 4  # as the mark of the bar around it is, which begins at its top
            above = place(x, around[number])[1] - (text_width(mark, 9) + 10 if turned else 15)
            yield written(middle, above, mark, 9, colour, _upright(mark, wide * 0.92, middle, above))
        else:
            yield written(middle, top - 4, mark, 9, palette.ink, _upright(mark, wide, middle, top - 4))


def _upright(mark: str, room: float, x: float, y: float) -> str:
    """A mark that is wider than its bar is turned."""
    if text_width(mark, 9) <= room + 4:
        return 'text-anchor="middle"'
    return f'transform="rotate(-90 {x:g} {y:g})"'


def value_mark(value: float, side: str = "") -> str:
    """A number for a bar in three digits, rounded to the side of a bound.

    >>> value_mark(0.12345, "above"), value_mark(0.12345, "below"), value_mark(0.12345), value_mark(17)
    ('0.124', '0.123', '0.123', '17')
    """
    if not value or not math.isfinite(value) or not side:
        return f"{value:.3g}"
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - 2)
    steps_of = {"above": math.ceil, "below": math.floor}[side](round(value / unit, 6))
    return f"{steps_of * unit:.3g}"
