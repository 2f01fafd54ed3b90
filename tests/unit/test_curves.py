"""Charts as SVG: round ticks, titles that fit, and legends that show how a line is drawn."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpspec.report.curves import Line, Panel, svg, ticks

SPACE = "{http://www.w3.org/2000/svg}"


def drawn(title="Risk", **line):
    points = line.pop("points", ((0.1, 0.2), (0.5, 0.6)))
    return ET.fromstring(svg(title, [Panel(title="power", axis="level", lines=(Line(name="a", points=points, **line),))]))


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_few_and_evenly_spaced(low, width):
    found = ticks(low, low + width)
    assert 2 <= len(found) <= 9
    assert all(low - width / 1e6 <= spot <= low + width * (1 + 1e-6) for spot in found)
    steps = [after - before for before, after in itertools.pairwise(found)]
    assert max(steps) - min(steps) <= 1e-3 * max(steps)
    assert f"{max(steps):.0e}"[0] in "125"


def test_a_long_title_is_wrapped():
    picture = drawn("Scenarios of the 2020 Census " * 5)
    titles = [text.text for text in picture.findall(f"{SPACE}text")]
    assert len(titles) == 3
    assert max(map(len, titles)) <= 60
    assert int(picture.get("height")) == int(drawn().get("height")) + 2 * 18


def test_points_alone_have_no_line():
    assert len(drawn(joined=False).findall(f".//{SPACE}circle")) == 2
    assert not drawn(joined=False).findall(f".//{SPACE}polyline")
    assert len(drawn().findall(f".//{SPACE}polyline")) == 1


def test_many_points_have_no_dots():
    points = tuple((x / 100, x / 100) for x in range(100))
    assert not drawn(points=points).findall(f".//{SPACE}circle")


def test_the_legend_of_a_dashed_line_is_dashed():
    dashed = [path for path in drawn(dashed=True).findall(f".//{SPACE}path") if path.get("stroke-dasharray")]
    assert len(dashed) == 1
    assert not [path for path in drawn().findall(f".//{SPACE}path") if path.get("stroke-dasharray")]


@pytest.mark.parametrize(("largest", "tick"), [(0.05, "0.05"), (0.6, "1"), (52, "50")])
def test_the_vertical_axis_is_that_of_a_probability_unless_all_are_small(largest, tick):
    texts = [text.text for text in drawn(points=((0.1, 0.0), (0.5, largest))).findall(f".//{SPACE}text")]
    ends = [text for text in texts if text.replace(".", "").isdigit() and float(text) <= 1.05 * max(1, largest)]
    assert tick in ends
    assert largest > 0.3 or "1" not in ends


def test_an_axis_may_begin_above_0():
    """Values between 1.032 and 1.049 fill the chart, and its ticks tell them apart."""
    lines = (Line(name="a", points=((0.0, 1.032), (1.0, 1.049))),)
    picture = ET.fromstring(svg("Risk", [Panel(title="risk", axis="count", lines=lines, bottom=1.03)]))
    spots = [float(circle.get("cy")) for circle in picture.iter(f"{SPACE}circle")]
    assert spots[0] - spots[1] > 250
    assert max(spots) <= 300
    marks = [text.text for text in picture.iter(f"{SPACE}text") if text.get("text-anchor") == "end"]
    assert marks == ["1.03", "1.035", "1.04", "1.045"]
