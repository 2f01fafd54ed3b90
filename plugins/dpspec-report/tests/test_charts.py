"""Charts as SVG: round ticks, titles that fit, and legends that show how a line is drawn."""

from __future__ import annotations

import itertools
import math
import xml.etree.ElementTree as ET
from statistics import NormalDist

import attrs
import pytest
from dpspec_report.charts import chart, ticks
from hypothesis import given, strategies as st

from dpspec.base.exact import Bracket, number
from dpspec.grammar.attacker import RiskStatement, Sense
from dpspec.report.figures import CurveLine, CurvePanel, power_lines
from dpspec.report.risk import _panel
from dpspec.risks import RiskRow

SPACE = "{http://www.w3.org/2000/svg}"


def svg(*arguments, **given):
    return chart(*arguments, **given).svg


def drawn(title="Risk", **line):
    points = line.pop("points", ((0.1, 0.2), (0.5, 0.6)))
    return ET.fromstring(
        svg(title, [CurvePanel(title="power", axis="level", lines=(CurveLine(name="a", points=points, **line),))])
    )


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
    lines = (CurveLine(name="a", points=((0.0, 1.032), (1.0, 1.049))),)
    picture = ET.fromstring(svg("Risk", [CurvePanel(title="risk", axis="count", lines=lines, bottom=1.03)]))
    spots = [float(circle.get("cy")) for circle in picture.iter(f"{SPACE}circle")]
    assert spots[0] - spots[1] > 250
    assert max(spots) <= 300
    marks = [text.text for text in picture.iter(f"{SPACE}text") if text.get("text-anchor") == "end"]
    assert marks == ["1.03", "1.035", "1.04", "1.045"]


# --- bounds ----------------------------------------------------------------------------------------------------------


def corners(line, **panel):
    """What is drawn, in pixels."""
    picture = ET.fromstring(svg("Risk", [CurvePanel(title="power", axis="level", lines=(line,), **panel)]))
    text = picture.find(f".//{SPACE}polyline").get("points")
    return [tuple(map(float, corner.split(","))) for corner in text.split()]


def at(drawn, x):
    """The highest and the lowest pixel that is drawn at a place (pixels grow downwards)."""
    levels = []
    for (left, before), (right, after) in itertools.pairwise(drawn):
        if left <= x <= right:
            share = 0.0 if left == right else (x - left) / (right - left)
            levels += [before, after] if left == right else [before + share * (after - before)]
    return min(levels), max(levels)


GAUSSIAN = NormalDist()
TRUTHS = {
    "concave, rising": lambda x: GAUSSIAN.cdf(GAUSSIAN.inv_cdf(x) + 1),
    "convex, falling": lambda x: math.exp(-5 * x),
    "log-concave, falling": lambda x: GAUSSIAN.cdf(-8 * x),
    "straight": lambda x: x,
}


@pytest.mark.parametrize("side", ["above", "below"])
@pytest.mark.parametrize("powers", [False, True])
@pytest.mark.parametrize("name", TRUTHS)
def test_a_drawn_bound_is_on_its_side_of_the_truth_between_the_points_too(name, powers, side):
    truth = TRUTHS[name]
    spots = [0.01, 0.05, 0.1, 0.25, 0.5, 0.9]
    points = tuple((x, truth(x)) for x in spots)
    drawn = corners(CurveLine(name="bound", points=points, side=side), powers=powers)
    # The scale of the picture, from two of its own dots: exact values at the ends.
    dots = corners(CurveLine(name="points", points=points), powers=powers)
    (x_0, y_0), (x_1, y_1) = dots[0], dots[-1]
    scale = math.log10 if powers else float

    def pixel(x):
        across = x_0 + (x - spots[0]) / (spots[-1] - spots[0]) * (x_1 - x_0)
        share = (scale(truth(x)) - scale(truth(spots[0]))) / (scale(truth(spots[-1])) - scale(truth(spots[0])))
        return across, y_0 + share * (y_1 - y_0)

    for i in range(400):
        across, true = pixel(0.01 + 0.89 * (i + 0.5) / 400)
        highest, lowest = at(drawn, across)
        assert lowest <= true + 0.05 if side == "above" else highest >= true - 0.05


KNOTS = st.lists(st.floats(0.02, 0.98), min_size=1, max_size=3, unique=True)


@given(st.lists(st.tuples(KNOTS, st.floats(0.05, 1)), min_size=1, max_size=3), st.floats(0, 0.3))
def test_lines_bound_the_largest_power_of_several_pairs(pairs, slack):
    """Each pair has a concave power from (0, 0) or above to (1, 1); the largest of them need not be concave."""

    def power(level):
        return max(min(1.0, *(k**share + share * k ** (share - 1) * (level - k) for k in knots)) for knots, share in pairs)

    spots = [0.0, 0.05, 0.1, 0.25, 0.5, 0.9, 1.0]
    high = power_lines(tuple((x, min(1.0, power(x) + slack * x)) for x in spots), "above")
    low = power_lines(tuple((x, max(0.0, power(x) - slack)) for x in spots), "below")
    for place in range(1, 200):
        x = place / 200
        assert at(low, x)[0] - 1e-9 <= power(x) <= at(high, x)[1] + 1e-9


def test_the_chord_of_a_concave_bound_would_lie_below_it():
    """What the steps are for: the same check finds a chord out."""
    truth = TRUTHS["concave, rising"]
    points = ((0.0, 0.0), (0.5, truth(0.5)))
    drawn = corners(CurveLine(name="chords", points=points), bottom=0.0)
    top = truth(0.5)
    assert at(drawn, 576 * 0.1 / 0.5)[1] > drawn[0][1] + (drawn[-1][1] - drawn[0][1]) * truth(0.1) / top + 20


def test_a_delta_is_drawn_by_its_order_of_magnitude():
    points = ((1.0, 1e-3), (2.0, 1e-6), (3.0, 1e-9))
    spots = corners(CurveLine(name="delta", points=points), powers=True)
    assert spots[1][1] - spots[0][1] == pytest.approx(spots[2][1] - spots[1][1], abs=0.02)
    picture = ET.fromstring(
        svg("d", [CurvePanel(title="delta", axis="epsilon", lines=(CurveLine(name="d", points=points),), powers=True)])
    )
    marks = [text.text for text in picture.iter(f"{SPACE}text") if text.get("text-anchor") == "end"]
    assert {"1e-4", "1e-6", "1e-8"} <= set(marks)
    assert corners(CurveLine(name="delta", points=((1.0, 0.0), (2.0, 1e-6))), powers=True)[0][1] == 300


def test_the_delta_of_an_axis_is_too():
    points = ((1e-9, 3.0), (1e-6, 2.0), (1e-3, 1.0))
    spots = corners(CurveLine(name="epsilon", points=points), places=True)
    assert [x for x, _ in spots] == [0, 288, 576]


def statement(relation, value):
    return RiskStatement(quantity="power", at=(), value=value, relation=relation, theorem="t", assumption="none")


def test_a_risk_picture_takes_the_safe_end_of_each_bracket():
    bracket = Bracket(lower=number("1/4"), upper=number("1/2"))
    rows = [
        RiskRow(quantity="power", at=(("level", level),), worst=(statement(Sense.AT_MOST, bracket),),
                own=(statement(Sense.AT_LEAST, bracket),))
        for level in ("1/10", "1/5")
    ]  # fmt: skip
    panel = _panel("power", rows)
    assert [(line.side, line.points[0][1]) for line in panel.lines] == [("above", 0.5), ("below", 0.25)]
    turning = [attrs.evolve(row, quantity="change", at=(("prior", row.at[0][1]),)) for row in rows]
    assert not any(line.joined for line in _panel("change", turning).lines)
    assert _panel("delta of the release", rows).powers
