"""Diagrams of boxes and arrows: every arrow can be followed, since none runs across a box."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

from dpspec.report.pictures import DiagramBox, diagram_svg

NAMES = [[f"{column}{row}" for row in range(4)] for column in "abcd"]
PAIRS = list(itertools.permutations(itertools.chain(*NAMES), 2))
SVG = "{http://www.w3.org/2000/svg}"


def drawn(arrows, text="two words"):
    columns = {names[0]: [DiagramBox(key=name, title=name, text=text) for name in names] for names in NAMES}
    return ElementTree.fromstring(diagram_svg(columns, arrows, "a title", "a caption"))


def points(path):
    """Points on a path of M, C and H, close together."""
    (x, y), found = (0.0, 0.0), []
    for command, numbers in re.findall(r"([MCH])([^MCH]*)", path):
        given = [float(part) for part in re.findall(r"-?[\d.]+", numbers)]
        if command == "C":
            x1, y1, x2, y2, x3, y3 = given
            for t in (step / 60 for step in range(61)):
                s = 1 - t
                weights = s**3, 3 * s * s * t, 3 * s * t * t, t**3
                found.append(
                    tuple(sum(w * p for w, p in zip(weights, ps, strict=True)) for ps in ((x, x1, x2, x3), (y, y1, y2, y3)))
                )
            x, y = x3, y3
        elif command == "H":
            found += [(x + (given[0] - x) * step / 200, y) for step in range(201)]
            x = given[0]
        else:
            x, y = given
    return found


def test_no_arrow_runs_across_a_box_or_off_the_page():
    assert [" ".join(pair) for pair in PAIRS if not runs_well(pair)] == []


def runs_well(pair):
    """Whether the one arrow of a diagram stays on the page and outside all boxes."""
    tree = drawn([pair])
    boxes = [[float(rect.get(key)) for key in ("x", "y", "width", "height")] for rect in tree.iter(f"{SVG}rect") if rect.get("x")]
    assert len(boxes) == 16
    (path,) = [path.get("d") for path in tree.iter(f"{SVG}path") if path.get("marker-end")]
    page = (0, 0, float(tree.get("width")), float(tree.get("height")))

    def inside(place, box):
        (x, y), (left, top, width, height) = place, box
        return left < x < left + width and top < y < top + height

    return all(inside(place, page) and not any(inside(place, box) for box in boxes) for place in points(path))


def test_long_texts_take_two_lines_and_are_whole_as_a_tooltip():
    long = "a text of many words that does not fit into two lines of a box, however one breaks it into lines, here or there"
    tree = drawn([], long)
    lines = [text.text for text in tree.iter(f"{SVG}text") if text.get("font-size") == "11"]
    assert len(lines) == 2 * 16
    assert lines[1].endswith("\N{HORIZONTAL ELLIPSIS}")
    assert [title.text for title in tree.iter(f"{SVG}title")][1] == long
