"""Boxes in columns with arrows between them, as SVG text: how families and orders of specifications are drawn."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

import attrs

from dpspec.harmless import in_markup as escape

WIDTH, HEIGHT, GAP, LINE, MARGIN = 250, 64, 16, 90, 30
"""Pixels: a box, the space below it, the space between columns where arrows run, and the edge of the page."""
LETTERS = 36
"""So many letters of the small text fit into a line of a box."""
FILLS = ("#eef3fb", "#f3f8ec", "#fdf3e3", "#f9eef4", "#eef7f7", "#f5f2ec")


@attrs.frozen(kw_only=True)
class Box:
    """One box of a diagram.

    Args:
        key: what arrows call it.
        title: its name; in smaller letters where it is long.
        text: two lines below the name; cut where it is too long, and whole as a tooltip.
    """

    key: str
    title: str
    text: str = ""


def svg(columns: Mapping[str, Sequence[Box]], arrows: Sequence[tuple[str, str]], title: str, caption: str = "") -> str:
    """A picture of headed columns of boxes, with an arrow from box to box for each pair of keys; a caption says what it means.

    >>> picture = svg({"one": [Box(key="a", title="A")], "two": [Box(key="b", title="B")]}, [("a", "b")], "A before B")
    >>> picture.startswith("<svg"), picture.count("<rect"), picture.count("marker-end")
    (True, 3, 1)
    """
    rows = max((len(boxes) for boxes in columns.values()), default=0)
    width = 2 * MARGIN + len(columns) * WIDTH + max(0, len(columns) - 1) * LINE + LINE // 2
    height = 3 * MARGIN + 2 * GAP + rows * (HEIGHT + GAP)
    places = {
        box.key: (MARGIN + column * (WIDTH + LINE), 2 * MARGIN + 2 * GAP + row * (HEIGHT + GAP))
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
        f'<text x="{MARGIN}" y="{MARGIN}" font-size="17" font-weight="bold">{escape(title)}</text>',
        f'<text x="{MARGIN}" y="{MARGIN + 20}" font-size="12" fill="#444">{escape(caption)}</text>',
    ]
    for column, (heading, boxes) in enumerate(columns.items()):
        x = MARGIN + column * (WIDTH + LINE)
        lines.append(f'<text x="{x}" y="{2 * MARGIN + GAP}" font-size="14" fill="#333">{escape(heading)}</text>')
        lines += [part for box in boxes for part in _box(box, *places[box.key], FILLS[column % len(FILLS)])]
    lines += [_arrow(places[start], places[end]) for start, end in arrows]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _box(box: Box, x: int, y: int, fill: str) -> Iterator[str]:
    yield f'<g><title>{escape(box.text or box.title)}</title><rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6" '
    yield f'fill="{fill}" stroke="#999"/><text x="{x + 10}" y="{y + 22}" font-weight="bold" '
    yield f'font-size="{max(6, min(14, 340 // max(1, len(box.title))))}">{escape(box.title)}</text>'
    for line, words in enumerate(textwrap.wrap(box.text, LETTERS, max_lines=2, placeholder="\N{HORIZONTAL ELLIPSIS}")):
        yield f'<text x="{x + 10}" y="{y + 40 + 14 * line}" font-size="11" fill="#444">{escape(words)}</text>'
    yield "</g>"


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    """From edge to edge; within one column round its right side, past other columns above the row of the other box."""
    (x, y), (to_x, to_y) = start, end
    lane = to_y - GAP // 2
    y, to_y = y + HEIGHT // 2, to_y + HEIGHT // 2
    if to_x == x:
        side, reach = x + WIDTH, x + WIDTH + min(LINE - 10, 20 + abs(to_y - y) // 6)
        path = f"M{side} {y} C{reach} {y}, {reach} {to_y}, {side} {to_y}"
    else:
        x, to_x, step = (x + WIDTH, to_x, LINE) if to_x > x else (x, to_x + WIDTH, -LINE)
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
