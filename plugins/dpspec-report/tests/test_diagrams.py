"""Diagrams of boxes and arrows: every arrow can be followed, since none runs across a box, whatever the order is."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

from dpspec_report.diagrams import diagram, layers, side_by_side
from hypothesis import example, given, settings, strategies as st

from dpspec.report.figures import BlockRow, DiagramBox

NAMES = [[f"{column}{row}" for row in range(4)] for column in "abcd"]
FLAT = list(itertools.chain(*NAMES))
PAIRS = list(itertools.permutations(FLAT, 2))
SVG = "{http://www.w3.org/2000/svg}"


def drawn(arrows, text="two words", **given):
    boxes = [DiagramBox(key=name, title=name, text=text, group=name[1]) for name in FLAT]
    return ElementTree.fromstring(diagram(boxes, arrows, "a title", "a caption", **given).svg)


def points(path):
    """Points on a path of M, C, H and V, close together."""
    (x, y), found = (0.0, 0.0), []
    for command, numbers in re.findall(r"([MCHV])([^MCHV]*)", path):
        given = [float(part) for part in re.findall(r"-?[\d.]+", numbers)]
        if command == "C":
            x1, y1, x2, y2, x3, y3 = given
            for t in (step / 40 for step in range(41)):
                s = 1 - t
                weights = s**3, 3 * s * s * t, 3 * s * t * t, t**3
                found.append(
                    tuple(sum(w * p for w, p in zip(weights, ps, strict=True)) for ps in ((x, x1, x2, x3), (y, y1, y2, y3)))
                )
            x, y = x3, y3
        elif command == "H":
            found += [(x + (given[0] - x) * step / 100, y) for step in range(101)]
            x = given[0]
        elif command == "V":
            found += [(x, y + (given[0] - y) * step / 100) for step in range(101)]
            y = given[0]
        else:
            x, y = given
    return found


def boxes_of(tree):
    """The boxes of a diagram, by their names."""
    found = {}
    for group in tree.iter(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        if rect is not None and group.find(f"{SVG}title") is not None:
            found[group.find(f"{SVG}text").text] = [float(rect.get(key)) for key in ("x", "y", "width", "height")]
    return found


def arrows_of(tree):
    return [points(path.get("d")) for path in tree.iter(f"{SVG}path")]


def inside(place, box):
    (x, y), (left, top, width, height) = place, box
    return left < x < left + width and top < y < top + height


def touches(place, box):
    (x, y), (left, top, width, height) = place, box
    return left - 6.01 <= x <= left + width + 6.01 and top - 6.01 <= y <= top + height + 6.01


def check(arrows, **given):
    """No arrow in a box, off the page, or with an end that is not at its box; no two boxes on each other."""
    tree = drawn(arrows, **given)
    boxes = boxes_of(tree)
    assert set(boxes) == set(FLAT)
    for one, other in itertools.combinations(boxes.values(), 2):
        apart = abs(one[0] - other[0]) >= one[2] or abs(one[1] - other[1]) >= one[3]
        assert apart, (one, other)
    frames = [re.fullmatch(r"translate\(([\d.]+),([\d.]+)\)", group.get("transform", "")) for group in tree.iter(f"{SVG}g")]
    left, top = (sum(float(frame[side]) for frame in frames if frame) for side in (1, 2))
    page = (-left, -top, float(tree.get("width")), float(tree.get("height")))
    routes = arrows_of(tree)
    assert len(routes) == len(arrows)
    for (start, end), route in zip(arrows, routes, strict=True):
        assert all(inside(place, page) for place in route)
        assert not any(inside(place, box) for place in route for box in boxes.values()), (start, end)
        assert touches(route[0], boxes[start])
        assert touches(route[-1], boxes[end])
    return boxes


def test_each_single_arrow_runs_well():
    for pair in PAIRS:
        check([pair])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PAIRS), max_size=24, unique=True), st.sampled_from(["", "alone"]))
@example([(a, d) for a in NAMES[0] for d in NAMES[3]], "alone")
@example([("a0", "d0"), ("d1", "a1"), ("b0", "b3"), ("b3", "b0")], "")
def test_no_arrow_of_any_order_runs_across_a_box_or_off_the_page(arrows, apart):
    check(arrows, apart=apart)


LONG = [(here, there) for here, there in itertools.pairwise(FLAT)]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(PAIRS), max_size=12, unique=True))
@example([])
@example([("a0", "d3"), ("a0", "c2"), ("b1", "d0")])
def test_nor_of_one_that_runs_downwards(arrows):
    check(list(dict.fromkeys([*LONG, *(pair for pair in arrows if FLAT.index(pair[0]) < FLAT.index(pair[1]))])))


def test_an_order_of_many_layers_runs_downwards_and_is_not_wider_than_a_window():
    tree = drawn(LONG)
    boxes = boxes_of(tree)
    assert len({box[0] for box in boxes.values()}) == 1
    assert [boxes[name][1] for name in FLAT] == sorted(boxes[name][1] for name in FLAT)
    assert float(tree.get("width")) < 700


def test_parts_share_rows_and_what_is_not_connected_follows_below():
    boxes = check([("a0", "b0"), ("a1", "b1"), ("a2", "b2"), ("b2", "c2")], apart="alone")
    assert boxes["a2"][:2] == [0, 0], "the larger part first"
    assert boxes["a0"][1] == boxes["a1"][1] > boxes["a2"][1]
    assert boxes["a1"][0] >= boxes["b0"][0] + boxes["b0"][2] + 40
    alone = [box for name, box in boxes.items() if name not in ("a0", "b0", "a1", "b1", "a2", "b2", "c2")]
    assert min(box[1] for box in alone) >= boxes["b1"][1] + boxes["b1"][3] + 30
    assert {box[3] for box in alone} == {78}


def test_boxes_without_arrows_stand_by_their_groups():
    boxes = check([], apart="alone")
    rows = [{round(boxes[name][1]) for name in FLAT if name[1] == group} for group in "0123"]
    assert all(max(above) < min(below) for above, below in itertools.pairwise(rows))


def test_layers_follow_the_arrows_also_round_a_circle():
    found = layers(FLAT, [("a0", "b0"), ("b0", "c0"), ("a0", "c0"), ("c0", "d0"), ("d0", "c0"), ("d0", "a1"), ("b1", "a1")])
    assert [found[name] for name in ("a0", "b0", "c0", "d0", "a1", "b1")] == [0, 1, 2, 2, 3, 2]


def test_lines_that_need_not_cross_do_not():
    """Two layers in opposite orders: sorted, no line crosses another."""
    boxes = check([("a0", "b3"), ("a1", "b2"), ("a2", "b1"), ("a3", "b0"), ("a0", "b2"), ("a1", "b1"), ("a2", "b0")])
    order = sorted(("a0", "a1", "a2", "a3"), key=lambda name: boxes[name][1])
    assert order in (["a0", "a1", "a2", "a3"], ["a3", "a2", "a1", "a0"])


def test_a_long_chain_beside_a_short_cut_is_straight():
    boxes = check([("a0", "b0"), ("b0", "c0"), ("c0", "d0")])
    assert len({boxes[name][1] for name in ("a0", "b0", "c0", "d0")}) == 1


def test_long_texts_take_four_lines_and_are_whole_as_a_tooltip():
    long = "a text of many words that does not fit into four lines of a box, however one breaks it into lines " * 2 + "or not"
    tree = drawn([("a0", "b0")], long)
    lines = [text.text for text in tree.iter(f"{SVG}text") if text.get("font-size") == "11"]
    assert len(lines) == 2 * 4 + 14 * 3
    assert lines[3].endswith("\N{HORIZONTAL ELLIPSIS}")
    assert [title.text for title in tree.iter(f"{SVG}title")][1] == f"a0: {long}"


def test_the_number_of_a_box_is_never_cut():
    box = DiagramBox(key="a", title="a", text="a text of many words " * 20, number="rho = 2.63")
    lines = [text.text for text in ElementTree.fromstring(diagram([box], [], "A").svg).iter(f"{SVG}text")]
    assert lines[-1] == "rho = 2.63"
    assert lines[-2].endswith("\N{HORIZONTAL ELLIPSIS}")


def test_it_is_said_above_a_part_what_it_is_about():
    boxes = [DiagramBox(key=key, title=key) for key in "acb"]
    about = {frozenset("ab"): "on bits"}
    lines = [text.text for text in ElementTree.fromstring(
        diagram(boxes, [("a", "b")], "A", apart="no arrow", about=about.__getitem__).svg).iter(f"{SVG}text")]  # fmt: skip
    assert lines.count("on bits") == 1
    assert "no arrow" in lines


def test_side_by_side_equal_blocks_are_one_box_and_others_say_what_separates_them():
    rows = [
        BlockRow(block="space", left=("bits",), right=("bits",)),
        BlockRow(block="budget", left=("epsilon = 1",), right=("<script>",), notes=("A does not imply B here: 1 < 2",)),
    ]
    text = side_by_side("A and B", ("one", "two"), rows, [("Does A imply B? no", False)], "dark").svg
    tree = ElementTree.fromstring(text)
    assert len(list(tree.iter(f"{SVG}rect"))) == 1 + 1 + 2
    told = [one.text for one in tree.iter(f"{SVG}text")]
    assert told.count("bits") == 1
    assert {"<script>", "A does not imply B here: 1 < 2", "Does A imply B? no", "space, the same in both"} <= set(told)
    assert "<script>" not in text
