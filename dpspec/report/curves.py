"""Small charts as SVG text: curves over a number, or bars side by side.

A chord of a concave curve lies below it. So a bound is never drawn through its points by chords, but as steps on its own side:
of an upper bound that rises or falls all the way, the larger of two neighbouring values stands for all between them, of a lower
bound the smaller one. Pixels are rounded to that side too. A bound that may turn between its points is drawn as points alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import count, groupby, pairwise, takewhile
from textwrap import wrap
from typing import Literal

import attrs

from dpspec.harmless import in_markup as escape

WIDTH, HEIGHT, MARGIN, LEGEND = 520, 300, 56, 18
"""Pixels: a panel's plot, the space around it, and one line of the legend."""
COLOURS = ("#1f4e9c", "#b3541e", "#2f7d4f", "#7b3f8c", "#8a6d1a", "#3b7f8a", "#a02c4b", "#555555")
_TICKS, _TITLE, _DOTS = 5, 60, 24
"""About how many ticks an axis has, the letters of a line of the title, and up to how many points of every line get dots."""
_WHOLE = 0.3
"""From which largest value on, up to 1, the vertical axis ends at 1, as for probabilities."""

Place = Callable[[float, float], tuple[float, float]]
"""From a point to its pixels."""


@attrs.frozen(kw_only=True)
class Line:
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

        >>> Line(name="at most", points=((0, 1), (2, 3)), side="above").drawn
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
class Panel:
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
    lines: tuple[Line, ...]
    labels: tuple[str, ...] = ()
    bottom: float = 0.0
    powers: bool = False
    places: bool = False


def svg(title: str, panels: Sequence[Panel]) -> str:
    """A picture of panels below each other.

    >>> line = Line(name="power", points=((0.1, 0.2), (0.5, 0.6)))
    >>> picture = svg("Risk", [Panel(title="power", axis="level", lines=(line,))])
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


def _scaled(panel: Panel) -> Panel:
    """The panel with the logarithms of what stands on a logarithmic axis; 0 goes one decade below the least."""
    points = [point for line in panel.lines for point in line.points]

    def of(values: Sequence[float]) -> Callable[[float], float]:
        least = min((value for value in values if value > 0), default=1.0)
        return lambda value: math.log10(value) if value > 0 else math.floor(math.log10(least)) - 1

    on_x = of([x for x, _ in points]) if panel.places else float
    on_y = of([y for _, y in points]) if panel.powers else float
    lines = [attrs.evolve(line, points=tuple((on_x(x), on_y(y)) for x, y in line.points)) for line in panel.lines]
    return attrs.evolve(panel, lines=tuple(lines))


def _ends(panel: Panel, points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Where the vertical axis begins and ends."""
    top = max(y for _, y in points)
    if panel.powers:
        least, most = math.floor(min(y for _, y in points)), math.ceil(top)
        return float(least), float(most if most > least else least + 1)
    top, low = max(1e-300, top), panel.bottom
    return low, 1.0 if _WHOLE <= top <= 1 and not low else top + (top - low) * 0.05


def _panel(given: Panel) -> Iterator[str]:
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


def _pixel(line: Line, spot: tuple[float, float]) -> tuple[float, float]:
    """Rounded to hundredths, to the side of a bound (upwards is less)."""
    x, y = spot
    rounded = {"above": math.floor, "below": math.ceil}.get(line.side, round)(y * 100) / 100
    return round(x, 2), rounded


def _series(panel: Panel, line: Line, number: int, colour: str, place: Place) -> Iterator[str]:
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
