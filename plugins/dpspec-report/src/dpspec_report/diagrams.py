"""Diagrams of boxes and arrows as SVG text, laid out so that no line runs through a box, and two specifications side by
side.

Boxes stand in columns. What is connected by arrows stands together, and apart from all else. Between two columns is a gutter
without boxes where arrows bend; through a column that an arrow passes it has a lane of its own, as high as no box (Sugiyama,
Tagawa and Toda 1981). So a line cannot meet a box, whatever the order is. Within a column boxes and lanes are sorted by the mean
place of what they are joined to, to and fro, which leaves few crossings.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from dpspec.plugin.applications import BlockRow, DiagramBox, Figure, count, in_markup as escape
from dpspec_report.drawing import BOLD, THEMES, PictureTheme, head_of, wrapped, written

NODE_WIDTH, NODE_HEIGHT, GAP, LINE, NODE_MARGIN = 250, 91, 16, 90, 30
"""Units: a box, the space below it, the gutter between columns where arrows bend, and the edge of the page."""
_LANE, _APART, _HEAD = 14, 40, 6
"""Units: the lane of an arrow that passes a column, the space between what is not connected, and the tip of an arrow."""
_SWEEPS = 8
_ABOUT = 30
"""Units: the room for what is said above a connected part."""

Spot = tuple[float, float]


# --- the layout -----------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class DiagramLayout:
    """Where everything stands.

    Args:
        boxes: the upper left corner of each box.
        routes: for each arrow the places where it leaves a box, enters and leaves lanes, and arrives.
        height: how far down it reaches.
        apart: where the boxes begin that no arrow touches; None where there are none.
        parts: the keys of each part that arrows connect, and how far down it begins.
    """

    boxes: Mapping[str, Spot]
    routes: tuple[tuple[Spot, ...], ...]
    height: float
    apart: float | None
    parts: tuple[tuple[frozenset[str], float], ...] = ()


@attrs.define
class _Slot:
    """A box in its column, or the lane of an arrow that passes it."""

    key: str
    column: int
    height: float
    y: float = 0.0
    before: list[_Slot] = attrs.field(factory=list, repr=False)
    after: list[_Slot] = attrs.field(factory=list, repr=False)

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


def laid_out(
    columns: Sequence[Sequence[str]], arrows: Sequence[tuple[str, str]], *, in_rows: bool = False, above: float = 0.0
) -> DiagramLayout:
    """Places for boxes and arrows.

    Args:
        columns: the keys of the boxes in each.
        arrows: pairs of keys.
        in_rows: whether boxes that no arrow touches fill rows below, whatever their column; without it they stay in theirs.
        above: room for words above each part that arrows connect.

    >>> found = laid_out([["a", "c"], ["b"]], [("a", "b")])
    >>> found.boxes["a"], found.boxes["b"], found.routes
    ((0, 0.0), (340, 0.0), (((250, 45.5), (340, 45.5)),))
    """
    column_of = {key: place for place, keys in enumerate(columns) for key in keys}
    boxes: dict[str, Spot] = {}
    routes: dict[tuple[str, str], tuple[Spot, ...]] = {}
    top, parts = 0.0, list[tuple[frozenset[str], float]]()
    for group in _connected(list(column_of), arrows):
        inner = [(a, b) for a, b in arrows if a in group]
        found, lines, depth = _together({key: column_of[key] for key in column_of if key in group}, inner)
        parts.append((frozenset(group), top))
        top += above
        boxes |= {key: (x, y + top) for key, (x, y) in found.items()}
        routes |= {pair: tuple((x, y + top) for x, y in line) for pair, line in lines.items()}
        top += depth + _APART
    alone = [key for key in column_of if key not in boxes]
    apart = top if alone and boxes else None
    filled = [0] * max(1, len(columns))
    for number, key in enumerate(alone):
        place = number % len(filled) if in_rows else column_of[key]
        boxes[key] = (_left(place), top + filled[place] * (NODE_HEIGHT + GAP))
        filled[place] += 1
    height = top + max(filled) * (NODE_HEIGHT + GAP) if alone else max(0.0, top - _APART)
    return DiagramLayout(
        boxes=boxes, routes=tuple(routes[pair] for pair in arrows), height=height, apart=apart, parts=tuple(parts)
    )


def _left(column: int) -> int:
    return column * (NODE_WIDTH + LINE)


def _connected(keys: Sequence[str], arrows: Sequence[tuple[str, str]]) -> list[set[str]]:
    """The boxes that arrows connect, together; those without one are in no group."""
    groups: list[set[str]] = []
    for a, b in arrows:
        met = [group for group in groups if a in group or b in group]
        groups = [group for group in groups if group not in met] + [{a, b}.union(*met)]
    return sorted(groups, key=lambda group: min(keys.index(key) for key in group))


def _together(
    column_of: Mapping[str, int], arrows: Sequence[tuple[str, str]]
) -> tuple[dict[str, Spot], dict[tuple[str, str], tuple[Spot, ...]], float]:
    """One connected part: boxes, routes, and its height."""
    slots = {key: _Slot(key, column, NODE_HEIGHT) for key, column in column_of.items()}
    stacks: dict[int, list[_Slot]] = {}
    for slot in slots.values():
        stacks.setdefault(slot.column, []).append(slot)
    chains = {pair: _chain(slots[pair[0]], slots[pair[1]], stacks) for pair in arrows}
    for _ in range(_SWEEPS):
        for stack in (*map(stacks.get, sorted(stacks)), *map(stacks.get, sorted(stacks, reverse=True))):
            _sort(stack or [])
    _settle_down([stacks[column] for column in sorted(stacks)])
    ports = _ports(chains)
    routes = {pair: tuple(_route(chain, *ports[pair])) for pair, chain in chains.items()}
    depth = max(slot.y + slot.height for stack in stacks.values() for slot in stack)
    return {key: (_left(slot.column), slot.y) for key, slot in slots.items()}, routes, depth


def _chain(start: _Slot, end: _Slot, stacks: dict[int, list[_Slot]]) -> list[_Slot]:
    """The slots that an arrow goes through, with a lane in each column that it passes; each knows its neighbours."""
    step = 1 if end.column > start.column else -1
    chain = [start]
    for column in range(start.column + step, end.column, step) if start.column != end.column else ():
        lane = _Slot(f"{start.key} > {end.key}", column, _LANE)
        stacks.setdefault(column, []).append(lane)
        chain.append(lane)
    chain.append(end)
    for here, there in itertools.pairwise(chain):
        if here.column != there.column:
            left, right = (here, there) if here.column < there.column else (there, here)
            left.after.append(right)
            right.before.append(left)
    return chain


def _sort(stack: list[_Slot]) -> None:
    """Sort a column by the mean place of the neighbours, and stack it anew."""
    wanted = {id(slot): _wanted(slot) for slot in stack}
    stack.sort(key=lambda slot: wanted[id(slot)])
    y = -sum(slot.height + GAP for slot in stack) / 2
    for slot in stack:
        slot.y = y
        y += slot.height + GAP


def _wanted(slot: _Slot) -> float:
    near = [*slot.before, *slot.after]
    return sum(other.middle for other in near) / len(near) if near else slot.middle


def _settle_down(stacks: Sequence[list[_Slot]]) -> None:
    """Move each column to its neighbours, its order kept and nothing overlapping; the whole then begins at 0."""
    for stack in (*stacks, *reversed(stacks), *stacks):
        floor = float("-inf")
        for slot in stack:
            slot.y = max(floor, _wanted(slot) - slot.height / 2)
            floor = slot.y + slot.height + GAP
        lifted = sum(_wanted(slot) - slot.middle for slot in stack) / len(stack)
        for slot in stack:
            slot.y += lifted
    top = min(slot.y for stack in stacks for slot in stack)
    for stack in stacks:
        for slot in stack:
            slot.y = round(slot.y - top, 2)


def _ports(chains: Mapping[tuple[str, str], list[_Slot]]) -> dict[tuple[str, str], tuple[float, float]]:
    """How far down the side of its box each arrow leaves and arrives, sorted by where it goes, so that ends lie apart."""
    sides: dict[tuple[int, bool], list[tuple[float, tuple[str, str], int]]] = {}
    for pair, chain in chains.items():
        for end, (here, there) in enumerate(((chain[0], chain[1]), (chain[-1], chain[-2]))):
            right = there.column >= here.column
            sides.setdefault((id(here), right), []).append((there.middle, pair, end))
    found: dict[tuple[str, str], dict[int, float]] = {pair: {} for pair in chains}
    for ends in sides.values():
        for place, (_, pair, end) in enumerate(sorted(ends), 1):
            found[pair][end] = round(NODE_HEIGHT * place / (len(ends) + 1), 2)
    return {pair: (ends[0], ends[1]) for pair, ends in found.items()}


def _route(chain: Sequence[_Slot], leaves: float, arrives: float) -> Iterator[Spot]:
    """The places between which an arrow bends, in the gutters, or goes straight, through its lanes."""
    start, *lanes, end = chain
    onward = end.column > start.column
    yield _left(start.column) + (NODE_WIDTH if onward or end.column == start.column else 0), start.y + leaves
    for lane in lanes:
        sides = (0, NODE_WIDTH) if onward else (NODE_WIDTH, 0)
        for side in sides:
            yield _left(lane.column) + side, lane.middle
    yield _left(end.column) + (0 if onward else NODE_WIDTH), end.y + arrives


# --- the picture ----------------------------------------------------------------------------------


def diagram(
    columns: Mapping[str, Sequence[DiagramBox]],
    arrows: Sequence[tuple[str, str]],
    title: str,
    caption: str = "",
    *,
    theme: str = "light",
    apart: str = "",
    about: Callable[[frozenset[str]], str] | None = None,
) -> Figure:
    """Headed columns of boxes, with an arrow from box to box for each pair of keys.

    Args:
        columns: heading to boxes.
        arrows: from key to key.
        title, caption: above them.
        theme: one of `dpspec_report.drawing.THEMES`.
        apart: what is said of boxes that no arrow touches; they then fill rows of their own, else stay in their columns.
        about: what is said above the boxes of each part that arrows connect, by their keys.

    >>> rows = {"one": [DiagramBox(key="a", title="A")], "two": [DiagramBox(key="b", title="B")]}
    >>> figure = diagram(rows, [("a", "b")], "A before B")
    >>> figure.alt, figure.svg.count("<rect"), figure.svg.count("<polygon")
    ('Diagram of 2 boxes and 1 arrow.', 3, 1)
    """
    palette = THEMES[theme]
    joined = {key for pair in arrows for key in pair}
    keys = [[box.key for box in boxes] for boxes in columns.values()]
    found = laid_out(keys, arrows, in_rows=bool(apart), above=0 if about is None else _ABOUT)
    whole = len(columns) * (NODE_WIDTH + LINE) - LINE
    width = 2 * NODE_MARGIN + whole + LINE // 2
    heads = wrapped(title, whole, 17 * BOLD)
    captions = wrapped(caption, whole, 12) if caption else []
    above = NODE_MARGIN + 22 * (len(heads) - 1) + 16 * len(captions) + 44
    height = above + found.height + NODE_MARGIN
    alt = f"Diagram of {count(sum(map(len, keys)), 'box', 'boxes')} and {count(len(arrows), 'arrow')}. {caption}".rstrip()
    lines = list(head_of(title, alt, width, height, palette))
    for row, head in enumerate(heads):
        lines.append(written(NODE_MARGIN, NODE_MARGIN + 22 * row, head, 17, palette.ink, 'font-weight="bold"'))
    for row, line in enumerate(captions):
        lines.append(written(NODE_MARGIN, NODE_MARGIN + 22 * (len(heads) - 1) + 20 + 16 * row, line, 12, palette.faint))
    lines.append(f'<g transform="translate({NODE_MARGIN},{above})">')
    for column, (heading, boxes) in enumerate(columns.items()):
        if any(box.key in joined for box in boxes) or not apart:
            lines.append(written(_left(column), -10, heading, 14, palette.ink))
        fill = palette.fills[column % len(palette.fills)]
        for box in boxes:
            lines += _box(box, found.boxes[box.key], fill if box.key in joined or not apart else palette.fills[-1], palette)
    if about is not None:
        lines += [written(0, top + 16, about(part), 13, palette.faint) for part, top in found.parts]
    if apart and found.boxes.keys() - joined:
        lines.append(written(0, (found.apart or 0) - 10, apart, 14, palette.ink))
    lines += [part for route in found.routes for part in _arrow(route, palette)]
    return Figure(title=title, alt=alt, svg="\n".join([*lines, "</g>", "</svg>"]) + "\n")


def _box(box: DiagramBox, spot: Spot, fill: str, palette: PictureTheme) -> Iterator[str]:
    x, y = spot
    size = f'width="{NODE_WIDTH}" height="{NODE_HEIGHT}"'
    told = "; ".join(filter(None, (box.text, box.number)))
    yield f"<g><title>{escape(f'{box.title}: {told}' if told else box.title)}</title>"
    yield f'<rect x="{x:g}" y="{y:g}" {size} rx="6" fill="{fill}" stroke="{palette.edge}"/>'
    names = wrapped(box.title, NODE_WIDTH - 16, 13 * BOLD, 2)
    for line, words in enumerate(names):
        yield written(x + 10, y + 20 + 15 * line, words, 13, palette.ink, 'font-weight="bold"')
    room = 5 - len(names) - bool(box.number)
    below = wrapped(box.text, NODE_WIDTH - 16, 11, room) if box.text else []
    for line, words in enumerate([*below, *(wrapped(box.number, NODE_WIDTH - 16, 11, 1) if box.number else [])]):
        yield written(x + 10, y + 22 + 15 * len(names) + 13 * line, words, 11, palette.faint)
    yield "</g>"


def _arrow(route: Sequence[Spot], palette: PictureTheme) -> Iterator[str]:
    """From edge to edge; within one column round its right side."""
    (x, y), *_, (last_x, last_y) = route
    back = -1 if route[-1][0] <= route[-2][0] else 1  # arrives from the right, or from the left
    path = f"M{x:g} {y:g}"
    for (x, y), (to_x, to_y) in itertools.pairwise(route):
        end = to_x - back * _HEAD if (to_x, to_y) == (last_x, last_y) else to_x
        if to_x == x:
            reach = x + 24 + (LINE - 30) * (1 - math.exp(-abs(to_y - y) / 400))
            path += f"C{reach:g} {y:g} {reach:g} {to_y:g} {end:g} {to_y:g}"
        elif abs(to_x - x) > LINE:
            path += f"H{to_x:g}"
        else:
            middle = (x + to_x) / 2
            path += f"C{middle:g} {y:g} {middle:g} {to_y:g} {end:g} {to_y:g}"
    yield f'<path d="{path}" fill="none" stroke="{palette.faint}" stroke-width="1.2"/>'
    tip = ((last_x, last_y), (last_x - back * _HEAD, last_y - 3.5), (last_x - back * _HEAD, last_y + 3.5))
    yield f'<polygon points="{" ".join(f"{x:g},{y:g}" for x, y in tip)}" fill="{palette.faint}"/>'


# --- side by side ---------------------------------------------------------------------------------


_HALF, _BETWEEN, _LINE_HEIGHT = 380, 14, 15


def side_by_side(
    title: str, names: tuple[str, str], rows: Sequence[BlockRow], answers: Sequence[tuple[str, bool | None]], theme: str = "light"
) -> Figure:
    """Two specifications block by block: equal blocks as one box, others beside each other with what separates them below.

    Args:
        title: the title.
        names: what the two are called.
        rows: the blocks.
        answers: sentences at the end, each with whether it is good news.
        theme: one of `dpspec_report.drawing.THEMES`.
    """
    palette = THEMES[theme]
    whole = 2 * _HALF + _BETWEEN
    parts: list[str] = []
    y = float(NODE_MARGIN)
    for head in wrapped(title, whole, 17 * BOLD, 2):
        parts.append(written(0, y, head, 17, palette.ink, 'font-weight="bold"'))
        y += 22
    for side, name in enumerate(names):
        (shown,) = wrapped(f"{'AB'[side]}: {name}", _HALF - 10, 14 * BOLD, 1)
        parts.append(written(side * (_HALF + _BETWEEN), y + 12, shown, 14, palette.ink, 'font-weight="bold"'))
    y += 24
    for row in rows:
        lines, y = _block_row(row, y, palette)
        parts += lines
    for words, good in answers:
        colour = {True: palette.good, False: palette.bad, None: palette.faint}[good]
        for line in wrapped(words, whole, 13 * BOLD, 3):
            y += 18
            parts.append(written(0, y, line, 13, colour, 'font-weight="bold"'))
    width, height = whole + 2 * NODE_MARGIN, y + NODE_MARGIN
    alt = " ".join([f"{names[0]} and {names[1]}, block by block.", *(words for words, _ in answers)])
    inner = [f'<g transform="translate({NODE_MARGIN},0)">', *parts, "</g>", "</svg>"]
    return Figure(title=title, alt=alt, svg="\n".join([*head_of(title, alt, width, height, palette), *inner]) + "\n")


def _block_row(row: BlockRow, y: float, palette: PictureTheme) -> tuple[list[str], float]:
    """The boxes of one block and what is below them, and where the next one begins."""
    same = row.left == row.right
    sides = [row.left] if same else [row.left, row.right]
    room = 2 * _HALF + _BETWEEN if same else _HALF
    texts = [[one for line in lines for one in wrapped(line, room - 20, 11, 4)] for lines in sides]
    notes = [one for note in row.notes for one in wrapped(note, 2 * _HALF + _BETWEEN - 20, 11, 3)]
    parts = [written(0, y + 14, row.block + (", the same in both" if same else ""), 12, palette.faint)]
    y += 20
    height = _LINE_HEIGHT * max(map(len, texts)) + 12
    for side, lines in enumerate(texts):
        x = side * (_HALF + _BETWEEN)
        fill = palette.fills[-1] if same else palette.fills[side]
        parts.append(f'<rect x="{x}" y="{y:g}" width="{room}" height="{height}" rx="6" fill="{fill}" stroke="{palette.edge}"/>')
        for place, line in enumerate(lines):
            parts.append(written(x + 10, y + 18 + _LINE_HEIGHT * place, line, 11, palette.ink))
    y += height
    for line in notes:
        y += _LINE_HEIGHT
        parts.append(written(10, y, line, 11, palette.bad))
    return parts, y + 10
