"""Diagrams of boxes and arrows as SVG text, laid out so that no line runs through a box, and two specifications side by
side.

Boxes are in layers, an arrow leads to a later one. What arrows connect is laid out by itself; such parts share rows where there
is room, and boxes without arrows follow below in a grid, by their groups. A part of many layers runs downwards, others to the
right.
Between two layers is a gutter without boxes where arrows bend; through a layer that an arrow passes it has a lane of its own, as
wide as no box (Sugiyama, Tagawa and Toda 1981). So a line cannot meet a box, whatever the order is. Within a layer boxes and
lanes are sorted by the mean place of what they are joined to, to and fro, and the order with the fewest crossings is kept.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from dpspec.plugin.applications import BlockRow, DiagramBox, Figure, count, in_markup as escape
from dpspec_report.drawing import BOLD, THEMES, PictureTheme, head_of, text_width, wrapped, written

NODE_WIDTH, NODE_HEIGHT, SMALL_HEIGHT, GAP, LINE, NODE_MARGIN = 194, 91, 78, 14, 64, 30
"""Units: a box, one without arrows, the space next to it, the gutter between layers where arrows bend, the edge of the page."""
_LANE, _APART, _HEAD = 14, 40, 6
"""Units: the lane of an arrow that passes a layer, the space between parts, and the tip of an arrow."""
_ACROSS = 5 * NODE_WIDTH + 4 * LINE
"""Units: how wide a diagram gets where its parts let it; 1,226, the width of a laptop's window."""
_SWEEPS = 12
_ABOUT = 18
"""Units: a line of what is said above a part or a group."""

Spot = tuple[float, float]


# --- the layout -----------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class DiagramLayout:
    """The positions of all parts of a diagram.

    Args:
        boxes: the upper left corner of each box.
        routes: for each arrow the places where it leaves a box, enters and leaves lanes, and arrives.
        turned: the keys of the boxes of parts that run downwards.
        width, height: of all.
        parts: the keys of each part that arrows connect, and the upper left corner of what is said of it.
        groups: the name of each group of boxes without arrows, and how far down it begins.
    """

    boxes: Mapping[str, Spot]
    routes: tuple[tuple[Spot, ...], ...]
    turned: frozenset[str]
    width: float
    height: float
    parts: tuple[tuple[frozenset[str], Spot], ...]
    groups: tuple[tuple[str, float], ...]


@attrs.define
class _Slot:
    """A box in its layer, or the lane of an arrow that passes it; `y` is its place in the layer."""

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
    groups: Mapping[str, str],
    arrows: Sequence[tuple[str, str]],
    *,
    about: Callable[[frozenset[str]], Sequence[str]] | None = None,
) -> DiagramLayout:
    """Places for boxes and arrows.

    Args:
        groups: the group of each box, by its key.
        arrows: pairs of keys.
        about: the lines above each part that arrows connect.

    >>> found = laid_out({"a": "", "b": "", "c": "alone"}, [("a", "b")])
    >>> found.boxes["a"], found.boxes["b"], found.routes, found.groups
    ((0.0, 0.0), (258.0, 0.0), (((194.0, 45.5), (258.0, 45.5)),), (('alone', 131.0),))
    """
    boxes: dict[str, Spot] = {}
    routes: dict[tuple[str, str], tuple[Spot, ...]] = {}
    turned, parts = set[str](), list[tuple[frozenset[str], Spot]]()
    x = top = row = widest = 0.0
    depth_of = layers(list(groups), arrows)
    for group in _connected(list(groups), arrows):
        inner = [(a, b) for a, b in arrows if a in group]
        found, lines, (width, height), downwards = _together({key: depth_of[key] for key in groups if key in group}, inner)
        said = [] if about is None else about(frozenset(group))
        width, above = max(width, *(text_width(line, 13) for line in said), 0.0), _ABOUT * len(said)
        if x and x + width > _ACROSS:
            x, top, row = 0.0, top + row + _APART, 0.0
        parts.append((frozenset(group), (x, top)))
        boxes |= {key: (left + x, y + top + above) for key, (left, y) in found.items()}
        routes |= {pair: tuple((left + x, y + top + above) for left, y in line) for pair, line in lines.items()}
        turned |= group if downwards else set()
        row, widest, x = max(row, height + above), max(widest, x + width), x + width + LINE + _APART
    y = top + row + _APART if parts else 0.0
    across = max(_ACROSS, widest)
    per_row = int((across + GAP) // (NODE_WIDTH + GAP))
    headed: list[tuple[str, float]] = []
    for name in dict.fromkeys(group for key, group in groups.items() if key not in boxes):
        alone = [key for key, group in groups.items() if key not in boxes and group == name]
        headed.append((name, y))
        y += _ABOUT if name else 0
        for number, key in enumerate(alone):
            boxes[key] = (number % per_row * (NODE_WIDTH + GAP), y + number // per_row * (SMALL_HEIGHT + GAP))
        widest = max(widest, min(len(alone), per_row) * (NODE_WIDTH + GAP) - GAP)
        y += math.ceil(len(alone) / per_row) * (SMALL_HEIGHT + GAP) + GAP
    return DiagramLayout(
        boxes=boxes, routes=tuple(routes[pair] for pair in arrows), turned=frozenset(turned), width=widest,
        height=y - GAP if headed else top + row, parts=tuple(parts), groups=tuple(headed),
    )  # fmt: skip


def layers(keys: Sequence[str], arrows: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The layer of each box: the number of arrows in the longest chain that leads to it; a box that none leads to is just before
    the first one that it leads to. Boxes that arrows lead between to and fro share a layer.

    >>> layers(["a", "b", "c", "d"], [("a", "b"), ("b", "c"), ("d", "c")])
    {'a': 0, 'b': 1, 'c': 2, 'd': 1}
    """
    after: dict[str, set[str]] = {key: {b for a, b in arrows if a == key} for key in keys}
    reached = {key: _reached(key, after) for key in keys}
    onward = [(a, b) for a, b in arrows if a not in reached[b]]
    depth = dict.fromkeys(keys, 0)
    for _ in keys:
        for a, b in onward:
            depth[b] = max(depth[b], depth[a] + 1)
        for a in keys:
            for b in reached[a]:
                if a in reached[b]:
                    depth[a] = depth[b] = max(depth[a], depth[b])
    led_to = {b for _, b in arrows}
    return {key: min((depth[b] for b in after[key]), default=1) - 1 if key not in led_to else depth[key] for key in keys}


def _reached(key: str, after: Mapping[str, set[str]]) -> set[str]:
    found, open_ = set[str](), [key]
    while open_:
        fresh = after[open_.pop()] - found
        found |= fresh
        open_ += fresh
    return found


def _connected(keys: Sequence[str], arrows: Sequence[tuple[str, str]]) -> list[set[str]]:
    """The boxes that arrows connect, together, the largest part first; those without one are in no part."""
    groups: list[set[str]] = []
    for a, b in arrows:
        met = [group for group in groups if a in group or b in group]
        groups = [group for group in groups if group not in met] + [{a, b}.union(*met)]
    return sorted(groups, key=lambda group: (-len(group), min(keys.index(key) for key in group)))


def _together(
    column_of: Mapping[str, int], arrows: Sequence[tuple[str, str]]
) -> tuple[dict[str, Spot], dict[tuple[str, str], tuple[Spot, ...]], Spot, bool]:
    """One connected part: boxes, routes, its width and height, and whether it runs downwards."""
    used = sorted(set(column_of.values()))
    column_of = {key: used.index(column) for key, column in column_of.items()}
    downwards = len(used) * (NODE_WIDTH + LINE) - LINE > _ACROSS
    along, across = (NODE_HEIGHT, NODE_WIDTH) if downwards else (NODE_WIDTH, NODE_HEIGHT)
    slots = {key: _Slot(key, column, across) for key, column in column_of.items()}
    stacks: dict[int, list[_Slot]] = {}
    for slot in slots.values():
        stacks.setdefault(slot.column, []).append(slot)
    chains = {pair: _chain(slots[pair[0]], slots[pair[1]], stacks) for pair in arrows}
    ordered = [stacks[column] for column in sorted(stacks)]
    _sort_all(ordered)
    _settle_down(ordered)
    ports = _ports(chains, across)
    routes = {pair: tuple(_route(chain, *ports[pair], along)) for pair, chain in chains.items()}
    depth = max(slot.y + slot.height for stack in ordered for slot in stack)
    length = len(used) * (along + LINE) - LINE + (LINE if any(a.column == b.column for a, *_, b in chains.values()) else 0)
    boxes: dict[str, Spot] = {key: (_start(slot.column, along), slot.y) for key, slot in slots.items()}
    if not downwards:
        return boxes, routes, (length, depth), False
    turned = {pair: tuple((y, x) for x, y in route) for pair, route in routes.items()}
    return {key: (y, x) for key, (x, y) in boxes.items()}, turned, (depth, length), True


def _start(column: int, along: float) -> float:
    return column * (along + LINE)


def _chain(start: _Slot, end: _Slot, stacks: dict[int, list[_Slot]]) -> list[_Slot]:
    """The slots that an arrow goes through, with a lane in each layer that it passes; each knows its neighbours."""
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


def _sort_all(stacks: Sequence[list[_Slot]]) -> None:
    """Sort every layer by the mean place of the neighbours, to and fro; the order with the fewest crossings remains."""
    best = (math.inf, [list(stack) for stack in stacks])
    for sweep in range(_SWEEPS):
        for stack in stacks if sweep % 2 == 0 else reversed(stacks):
            stack.sort(key=_wanted)
            _stack(stack)
        found = crossings(stacks)
        if found < best[0]:
            best = (found, [list(stack) for stack in stacks])
    for stack, kept in zip(stacks, best[1], strict=True):
        stack[:] = kept
        _stack(stack)


def crossings(stacks: Sequence[Sequence[_Slot]]) -> int:
    """How many lines between neighbouring layers cross."""
    found = 0
    for stack in stacks:
        lines = [(here, place) for here, slot in enumerate(stack) for place in sorted(one.y for one in slot.after)]
        found += sum(a < b and x > y for (a, x), (b, y) in itertools.combinations(lines, 2))
    return found


def _stack(stack: Sequence[_Slot]) -> None:
    y = -sum(slot.height + GAP for slot in stack) / 2
    for slot in stack:
        slot.y = y
        y += slot.height + GAP


def _wanted(slot: _Slot) -> float:
    near = [*slot.before, *slot.after]
    return sum(other.middle for other in near) / len(near) if near else slot.middle


def _settle_down(stacks: Sequence[list[_Slot]]) -> None:
    """Move each layer to its neighbours, its order kept and nothing overlapping; the whole then begins at 0."""
    # To and fro, since a layer has neighbours on both sides.
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


def _ports(chains: Mapping[tuple[str, str], list[_Slot]], across: float) -> dict[tuple[str, str], tuple[float, float]]:
    """How far along the side of its box each arrow leaves and arrives, sorted by where it goes, so that ends are separate."""
    sides: dict[tuple[int, bool], list[tuple[float, tuple[str, str], int]]] = {}
    for pair, chain in chains.items():
        for end, (here, there) in enumerate(((chain[0], chain[1]), (chain[-1], chain[-2]))):
            right = there.column >= here.column
            sides.setdefault((id(here), right), []).append((there.middle, pair, end))
    found: dict[tuple[str, str], dict[int, float]] = {pair: {} for pair in chains}
    for ends in sides.values():
        for place, (_, pair, end) in enumerate(sorted(ends), 1):
            found[pair][end] = round(across * place / (len(ends) + 1), 2)
    return {pair: (ends[0], ends[1]) for pair, ends in found.items()}


def _route(chain: Sequence[_Slot], leaves: float, arrives: float, along: float) -> Iterator[Spot]:
    """The places between which an arrow bends, in the gutters, or goes straight, through its lanes."""
    start, *lanes, end = chain
    onward = end.column > start.column
    yield _start(start.column, along) + (along if onward or end.column == start.column else 0), start.y + leaves
    for lane in lanes:
        sides = (0, along) if onward else (along, 0)
        for side in sides:
            yield _start(lane.column, along) + side, lane.middle
    yield _start(end.column, along) + (0 if onward else along), end.y + arrives


# --- the figure -----------------------------------------------------------------------------------


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
    """Boxes in layers, with an arrow from box to box for each pair of keys.

    Args:
        boxes: the boxes; those of one group have one colour.
        arrows: from key to key.
        title, caption: above them.
        theme: one of `dpspec_report.drawing.THEMES`.
        apart: the heading of the boxes without arrows.
        about: the heading of the boxes of each part that arrows connect, by their keys.

    >>> figure = diagram([DiagramBox(key="a", title="A"), DiagramBox(key="b", title="B")], [("a", "b")], "A before B")
    >>> figure.alt, figure.svg.count("<rect"), figure.svg.count("<polygon")
    ('Diagram of 2 boxes and 1 arrow.', 3, 1)
    """
    palette = THEMES[theme]
    groups = {box.key: box.group for box in boxes}
    joined = {key for pair in arrows for key in pair}
    connected = map(frozenset, _connected(list(groups), arrows))
    said = {} if about is None else {part: wrapped(about(part), _ACROSS / 2, 13) for part in connected}
    found = laid_out(groups, arrows, about=said.__getitem__ if said else None)
    fills = {name: palette.fills[place % len(palette.fills)] for place, name in enumerate(dict.fromkeys(groups.values()))}
    whole = max(found.width, 3.0 * NODE_WIDTH)
    alt = f"Diagram of {count(len(boxes), 'box', 'boxes')} and {count(len(arrows), 'arrow')}. {caption}".rstrip()
    parts: list[str] = []
    y = float(NODE_MARGIN)
    for head in wrapped(title, whole, 17 * BOLD):
        parts.append(written(0, y, head, 17, palette.ink, 'font-weight="bold"'))
        y += 22
    for line in wrapped(caption, whole, 12) if caption else []:
        parts.append(written(0, y, line, 12, palette.faint))
        y += 16
    colours = [name for name in fills if any(box.group == name and box.key in joined for box in boxes)]
    if 1 < len(fills) <= len(palette.fills) and colours:
        lines, y = _legend({name: fills[name] for name in colours}, whole, y, palette)
        parts += lines
    above = y + 6
    parts.append(f'<g transform="translate(0,{above:g})">')
    parts += [
        written(left, top + 13 + _ABOUT * row, line, 13, palette.faint)
        for part, (left, top) in found.parts for row, line in enumerate(said.get(part, ()))
    ]  # fmt: skip
    below = found.groups[0][1] if found.groups else 0.0
    shift = 0.0
    if apart and found.groups and joined:
        parts.append(written(0, below, apart, 14, palette.ink, 'font-weight="bold"'))
        shift = 16.0
    parts += [written(0, top + shift + 12, name, 12, palette.faint) for name, top in found.groups if name]
    for box in boxes:
        left, top = found.boxes[box.key]
        spot = (left, top + (0 if box.key in joined else shift))
        parts += _box(box, spot, fills[box.group], palette, small=box.key not in joined)
    for (start, _), route in zip(arrows, found.routes, strict=True):
        parts += _arrow(route, palette, turned=start in found.turned)
    width, height = 2 * NODE_MARGIN + whole, above + found.height + shift + NODE_MARGIN
    inner = [f'<g transform="translate({NODE_MARGIN},0)">', *parts, "</g>", "</g>", "</svg>"]
    return Figure(title=title, alt=alt, svg="\n".join([*head_of(title, alt, width, height, palette), *inner]) + "\n")


def _legend(fills: Mapping[str, str], width: float, y: float, palette: PictureTheme) -> tuple[list[str], float]:
    """What the colours are, and where what is below it begins."""
    y += 4
    lines: list[str] = []
    x = 0.0
    for name, fill in fills.items():
        wide = 22 + text_width(name, 12) + 18
        x, y = (0.0, y + 18) if x and x + wide > width else (x, y)
        lines.append(f'<rect x="{x:g}" y="{y - 9:g}" width="16" height="11" rx="3" fill="{fill}" stroke="{palette.edge}"/>')
        lines.append(written(x + 22, y, name, 12, palette.ink))
        x += wide
    return lines, y + 18


def _box(box: DiagramBox, spot: Spot, fill: str, palette: PictureTheme, *, small: bool) -> Iterator[str]:
    x, y = spot
    height, most = (SMALL_HEIGHT, 4) if small else (NODE_HEIGHT, 5)
    text = "; ".join(filter(None, (box.text, box.number)))
    yield f"<g><title>{escape(f'{box.title}: {text}' if text else box.title)}</title>"
    yield f'<rect x="{x:g}" y="{y:g}" width="{NODE_WIDTH}" height="{height}" rx="6" fill="{fill}" stroke="{palette.edge}"/>'
    names = wrapped(box.title, NODE_WIDTH - 16, 13 * BOLD, 2)
    for line, words in enumerate(names):
        yield written(x + 10, y + 20 + 15 * line, words, 13, palette.ink, 'font-weight="bold"')
    number = wrapped(box.number, NODE_WIDTH - 16, 11, most - len(names)) if box.number else []
    room = most - len(names) - len(number)
    below = wrapped(box.text, NODE_WIDTH - 16, 11, room) if box.text and room else []
    for line, words in enumerate([*below, *number]):
        yield written(x + 10, y + 22 + 15 * len(names) + 13 * line, words, 11, palette.faint)
    yield "</g>"


def _arrow(route: Sequence[Spot], palette: PictureTheme, *, turned: bool) -> Iterator[str]:
    """From edge to edge; within one layer round its far side."""
    if turned:
        route = [(y, x) for x, y in route]

    def at(x: float, y: float) -> str:
        return f"{y:g} {x:g}" if turned else f"{x:g} {y:g}"

    (x, y), *_, (last_x, last_y) = route
    back = -1 if route[-1][0] <= route[-2][0] else 1  # arrives from the far side, or from the near one
    path = f"M{at(x, y)}"
    for (x, y), (to_x, to_y) in itertools.pairwise(route):
        end = to_x - back * _HEAD if (to_x, to_y) == (last_x, last_y) else to_x
        if to_x == x:
            reach = x + 24 + (LINE - 30) * (1 - math.exp(-abs(to_y - y) / 400))
            path += f"C{at(reach, y)} {at(reach, to_y)} {at(end, to_y)}"
        elif abs(to_x - x) > LINE:
            path += f"{'V' if turned else 'H'}{to_x:g}"
        else:
            middle = (x + to_x) / 2
            path += f"C{at(middle, y)} {at(middle, to_y)} {at(end, to_y)}"
    yield f'<path d="{path}" fill="none" stroke="{palette.faint}" stroke-width="1.2"/>'
    tip = ((last_x, last_y), (last_x - back * _HEAD, last_y - 3.5), (last_x - back * _HEAD, last_y + 3.5))
    yield f'<polygon points="{" ".join(at(x, y).replace(" ", ",") for x, y in tip)}" fill="{palette.faint}"/>'


# --- side by side ---------------------------------------------------------------------------------


_HALF, _BETWEEN, _LINE_HEIGHT = 380, 14, 15


def side_by_side(
    title: str, names: tuple[str, str], rows: Sequence[BlockRow], answers: Sequence[tuple[str, bool | None]], theme: str = "light"
) -> Figure:
    """Two specifications block by block: equal blocks as one box, others side by side with their difference below.

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
