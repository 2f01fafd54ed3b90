"""Bounds between the places where a function was computed, for functions of a known shape, as the corners of polylines.

A convex function lies below the chord of two of its points, and beyond both points above the line through them. So values in
brackets at some places bound it everywhere, above by chords and below by chords that are extended (a sandwich algorithm: Rote
1992), and the gap shrinks with the square of the distance of the places. Three shapes occur, each convex in coordinates (X, Y) of
its own:

    PLAIN        y over x: a trade-off function is convex (Dong, Roth and Su 2022, Proposition 2.2)
    PROFILE      y over e^x: delta(epsilon) = sup P(S) - e^epsilon Q(S) is a supremum of lines in e^epsilon
    RENYI        (x - 1) y over x: (alpha - 1) D_alpha is a cumulant generating function (van Erven and Harremoes 2014)

A straight line of such a plane is an arc of the plot. Its polyline lies on the side of the bound: inscribed, or along the
tangents of both ends. Lines are computed in floats and moved outward by far more than what rounding costs.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

import attrs

from dpspec import Bracket, Number
from dpspec.plugin import exact
from dpspec.plugin.applications import CurvePoints

FIRST = 7
"""At so many places a function is computed before it is known where more are needed."""
FINEST = 1 / 1000
"""Share of the height of a plot: a gap that is smaller is left, a third of a pixel of a plot of 300."""
_OUTWARD = 2.0**-30
"""Lines are moved by this share of the values that they join. Floats err by less than 2^-40 of these, since the distance of
places is at least 2^-13 of the width."""
_NEAR = 4
"""The extended chords of so many neighbours on each side are tried."""
_EDGE = Fraction(1, 8)
"""A place nearer to the end of an interval, as a share of it, is none to compute next: the middle is."""
_WORST = 4
"""Gaps are made narrower together whose widths differ by less than this factor, the widest ones first."""
_GRID = 3 << 11
"""Places are multiples of one part in so many of the width."""

Computed = Callable[[Fraction], Bracket]
Values = Mapping[Fraction, tuple[float, float]]
"""For each place a float that the function is not below, and one that it is not above."""


def lower(value: Number) -> float:
    """A float that is not above a number."""
    return _float(value, -1)


def upper(value: Number) -> float:
    """A float that is not below it."""
    return _float(value, 1)


def _float(value: Number, side: int) -> float:
    if value.is_infinite:
        return float("inf")
    fraction = value.as_fraction() if value.is_rational else None
    if fraction is None:
        held = value.enclose(96)
        fraction = exact.dyadic(held.upper() if side > 0 else held.lower())
    near = float(fraction)
    if (Fraction(near) < fraction and side > 0) or (Fraction(near) > fraction and side < 0):
        near += side * abs(near) * 2**-52 if near else side * 5e-324
    return near


# --- shapes ---------------------------------------------------------------------------------------


@attrs.frozen
class Line:
    """A straight line of the plane in which a function is convex: `height` at X = `start`, and `slope`."""

    start: float
    height: float
    slope: float

    def at(self, across: float) -> float:
        """Its Y at an X."""
        return self.height + self.slope * (across - self.start)

    def moved(self, by: float) -> Line:
        """The line `by` higher."""
        return attrs.evolve(self, height=self.height + by)


@attrs.frozen(kw_only=True)
class Shape:
    """Coordinates in which a function is convex, and how a line of them looks in the plot.

    Args:
        across, back: from x to X, which grows with it, and back.
        up: from (x, y) to Y, which grows with y.
        plot: for a line and an x, the height in the plot and its slope there.
        unplot: from a height in the plot to y.
        level: the line of the plane that is the constant y.
    """

    across: Callable[[float], float]
    back: Callable[[float], float]
    up: Callable[[float, float], float]
    plot: Callable[[Line, float], tuple[float, float]]
    unplot: Callable[[float], float]
    level: Callable[[float], Line]


def _log_plot(line: Line, x: float) -> tuple[float, float]:
    value = line.at(math.exp(x))
    return math.log10(value), line.slope * math.exp(x) / value / math.log(10)


def _order_plot(line: Line, x: float) -> tuple[float, float]:
    value = line.at(x) / (x - 1)
    return value, (line.slope - value) / (x - 1)


PLAIN = Shape(
    across=float, back=float, up=lambda _, y: y, plot=lambda line, x: (line.at(x), line.slope), unplot=float,
    level=lambda y: Line(0.0, y, 0.0),
)  # fmt: skip
PROFILE = Shape(
    across=math.exp, back=math.log, up=lambda _, y: y, plot=_log_plot, unplot=lambda height: 10.0**height,
    level=lambda y: Line(0.0, y, 0.0),
)  # fmt: skip
"""Its vertical axis is logarithmic."""
RENYI = Shape(
    across=float, back=float, up=lambda x, y: (x - 1) * y, plot=_order_plot, unplot=float, level=lambda y: Line(1.0, 0.0, y)
)


# --- between the places ---------------------------------------------------------------------------


def chords(shape: Shape, points: CurvePoints) -> CurvePoints:
    """What a function of a shape is nowhere above, given points (x, y) that it is not above: the chords of their convex hull.

    >>> chords(PLAIN, ((0.0, 1.0), (0.5, 0.9), (1.0, 0.0)))[-1][0], len(chords(PROFILE, ((0.0, 0.5), (1.0, 0.1)))) > 9
    (1.0, True)
    """
    seen = _Pixels.of(shape, points)
    hull: list[tuple[float, float, float]] = []
    for x, y in points:
        across, up = shape.across(x), shape.up(x, y)
        while len(hull) > 1 and _slope(hull[-2], (across, up)) <= _slope(hull[-2], hull[-1][:2]):
            hull.pop()
        hull.append((across, up, x))
    corners: list[tuple[float, float]] = []
    for (left, before, x), (right, after, to_x) in itertools.pairwise(_few(shape, hull, seen)):
        chord = _through((right, after), (left, before)).moved(_OUTWARD * max(abs(before), abs(after)))
        corners += _arc(shape, chord, x, to_x, seen, above=True)
    return (*_plotted(shape, corners), points[-1]) if corners else points


def _few(shape: Shape, hull: Sequence[tuple[float, float, float]], seen: _Pixels) -> list[tuple[float, float, float]]:
    """The corners of a hull without the superfluous ones: the chord past them is not visibly higher."""
    kept = [hull[0]]
    for place in range(1, len(hull) - 1):
        last, after = kept[-1], hull[place + 1]
        start = hull.index(last)
        chord = _through(after[:2], last[:2])
        if any(
            shape.plot(chord, x)[0] - shape.plot(Line(across, up, 0.0), x)[0] > seen.height / 2
            for across, up, x in hull[start + 1 : place + 1]
        ):
            kept.append(hull[place])
    return [*kept, *hull[1:][-1:]]


def _slope(one: Sequence[float], other: Sequence[float]) -> float:
    return (other[1] - one[1]) / (other[0] - one[0])


def _through(anchor: tuple[float, float], other: tuple[float, float]) -> Line:
    return Line(anchor[0], anchor[1], _slope(anchor, other))


def extended(shape: Shape, values: Values, *, rises: bool) -> CurvePoints:
    """What a function of a shape, which rises or falls all the way, is nowhere below: the highest of its extended chords.

    >>> known = {Fraction(x, 4): (max(0, 1 - x / 2),) * 2 for x in (0, 1, 3, 4)}
    >>> list(dict.fromkeys((round(x, 6), round(y, 6) + 0.0) for x, y in extended(PLAIN, known, rises=False)))
    [(0.0, 0.75), (0.25, 0.5), (0.5, 0.0), (0.75, 0.0), (1.0, 0.0)]
    """
    spots = _spots(shape, values)
    seen = _Pixels.of(shape, tuple((spot.x, spot.floor) for spot in spots))
    corners: list[tuple[float, float]] = []
    for place in range(len(spots) - 1):
        corners += _below(shape, spots, place, seen, rises=rises)
    return _plotted(shape, corners)


@attrs.frozen
class _Spot:
    """A place in the plane: x, X, and the ends of Y; with the lower end of y."""

    x: float
    across: float
    least: float
    most: float
    floor: float


def _spots(shape: Shape, values: Values) -> list[_Spot]:
    return [
        _Spot(float(at), shape.across(float(at)), shape.up(float(at), low), shape.up(float(at), high), low)
        for at, (low, high) in sorted(values.items())
    ]


def _lines(shape: Shape, spots: Sequence[_Spot], place: int, *, rises: bool) -> list[Line]:
    """Lines that a function is nowhere below in the interval after a place."""
    left, right = spots[place], spots[place + 1]
    floor = (left if rises else right).floor
    found = [shape.level(floor - _OUTWARD * abs(floor))]
    for near, far, others in (
        (left, right, spots[max(0, place - _NEAR) : place]),
        (right, left, spots[place + 2 : place + 2 + _NEAR]),
    ):
        extensions = [_through((near.across, near.least), (other.across, other.most)) for other in others]
        if extensions:
            line = max(extensions, key=lambda line: line.at(far.across))
            found.append(line.moved(-_OUTWARD * (abs(near.least) + abs(line.slope * (far.across - near.across)))))
    return found


def _meets(lines: Sequence[Line], left: float, right: float) -> list[float]:
    """The X between two at which lines meet."""
    found = set()
    for one, other in itertools.combinations(lines, 2):
        if one.slope != other.slope:
            found.add(left + (other.at(left) - one.at(left)) / (one.slope - other.slope))
    return sorted(at for at in found if left < at < right)


def _below(shape: Shape, spots: Sequence[_Spot], place: int, seen: _Pixels, *, rises: bool) -> Iterator[tuple[float, float]]:
    """The corners, in the plot, of what bounds a function from below in the interval after a place."""
    left, right = spots[place], spots[place + 1]
    lines = _lines(shape, spots, place, rises=rises)
    inner = _meets(lines, left.across, right.across)
    places = [left.x, *(min(max(shape.back(at), left.x), right.x) for at in inner), right.x]
    for start, end in itertools.pairwise(places):
        if start < end:
            middle = shape.across((start + end) / 2)
            yield from _arc(shape, max(lines, key=lambda line: line.at(middle)), start, end, seen, above=False)


@attrs.frozen
class _Pixels:
    """What is no longer seen in a plot: in its height, and in its width."""

    height: float
    width: float

    @classmethod
    def of(cls, shape: Shape, points: CurvePoints) -> _Pixels:
        """Of the plot that holds some points."""
        heights = [shape.plot(Line(shape.across(x), shape.up(x, y), 0.0), x)[0] for x, y in points]
        return cls(FINEST * max(max(heights) - min(heights), 2.0**-20), (points[-1][0] - points[0][0]) * FINEST)


def _arc(shape: Shape, line: Line, start: float, end: float, seen: _Pixels, *, above: bool) -> list[tuple[float, float]]:
    """A line of the plane between two x as corners of the plot, nowhere on the other side of it.

    An arc that bends one way lies between its chord and the tangents of its ends, whose distance is at most a quarter of the
    bulge: the change of its slope times its width.
    """
    (first, leaving), (last, arriving) = shape.plot(line, start), shape.plot(line, end)
    bulge = (leaving - arriving) * (end - start)
    if abs(bulge) > 4 * seen.height:
        if end - start < seen.width:
            level = max(first, last) if above else min(first, last)
            return [(start, first), (start, level), (end, level), (end, last)]
        middle = (start + end) / 2
        return [
            *_arc(shape, line, start, middle, seen, above=above), *_arc(shape, line, middle, end, seen, above=above)
        ]  # fmt: skip
    if (bulge > 0) is not above:
        return [(start, first), (end, last)]
    if abs(bulge) < _OUTWARD:
        return [(start, first + bulge), (end, last + bulge)]
    at = min(max((last - first + leaving * start - arriving * end) / (leaving - arriving), start), end)
    return [(start, first), (at, first + leaving * (at - start)), (end, last)]


def _plotted(shape: Shape, corners: Sequence[tuple[float, float]]) -> CurvePoints:
    return tuple((x, shape.unplot(y)) for (x, y), _ in itertools.groupby(corners))


# --- where to compute -----------------------------------------------------------------------------


def sandwiched(
    shape: Shape,
    function: Computed,
    start: Fraction,
    end: Fraction,
    most: int,
    *,
    rises: bool = False,
    height: float = 0.0,
) -> Values:
    """Values at places between two ends, more where the bounds between them differ much in the plot.

    Args:
        shape: of the function.
        function: what is computed; it rises or falls all the way.
        start, end: the ends.
        most: at how many places.
        rises: whether it rises.
        height: of the plot, in the units of its axis; 0 for the largest value.

    >>> found = sandwiched(PLAIN, lambda x: Bracket.exactly(max(1 - 2 * x, (1 - x) / 2)), Fraction(0), Fraction(1), 40)
    >>> len(found) < 12, Fraction(1, 3) - min(found, key=lambda x: abs(x - Fraction(1, 3))) < Fraction(1, 1000)
    (True, True)
    """
    width = end - start
    values: dict[Fraction, tuple[float, float]] = {}

    def compute(at: Fraction) -> None:
        value = function(at)
        values[at] = lower(value.lower), upper(value.upper)

    for step in range(FIRST):
        compute(start + width * Fraction(step * _GRID // (FIRST - 1), _GRID))
    while len(values) < most:
        places, spots = sorted(values), _spots(shape, values)
        least = FINEST * (height or max(high for _, high in values.values()))
        gaps = sorted((_gap(shape, spots, place, rises=rises), place) for place in range(len(spots) - 1))
        wanted = []
        for (gap, x), place in reversed(gaps[-(most - len(values)) :]):
            if gap <= max(least, gaps[-1][0][0] / _WORST):
                break
            left, right = places[place], places[place + 1]
            wished = Fraction(x) if _EDGE < (Fraction(x) - left) / (right - left) < 1 - _EDGE else (left + right) / 2
            at = start + width * Fraction(round((wished - start) / width * _GRID), _GRID)
            if left < at < right:
                wanted.append(at)
        if not wanted:
            break
        for at in wanted:
            compute(at)
    return values


def _gap(shape: Shape, spots: Sequence[_Spot], place: int, *, rises: bool) -> tuple[float, float]:
    """The distance of the bounds of an interval in the plot, beyond the widths of the brackets, and where."""
    left, right = spots[place], spots[place + 1]
    chord = _through((right.across, right.most), (left.across, left.most))
    lines = _lines(shape, spots, place, rises=rises)
    found = (0.0, left.x)
    known = 2 * max(
        shape.plot(Line(one.across, one.most, 0.0), one.x)[0] - shape.plot(Line(one.across, one.least, 0.0), one.x)[0]
        for one in (left, right)
    )
    for at in (shape.across((left.x + right.x) / 2), *_meets(lines, left.across, right.across)):
        x = min(max(shape.back(at), left.x), right.x)
        line = max(lines, key=lambda line: line.at(at))
        found = max(found, (shape.plot(chord, x)[0] - shape.plot(line, x)[0] - known, x))
    return found


# --- several bounds ------------------------------------------------------------------------------


def least_of(bounds: Sequence[CurvePoints], *, above: bool) -> CurvePoints:
    """The least of bounds on one side, all between the same two places, each the corners of a line.

    >>> least_of([((0.0, 0.0), (1.0, 1.0)), ((0.0, 1.0), (1.0, 0.0))], above=True)
    ((0.0, 0.0), (0.5, 0.5), (1.0, 0.0))
    """
    least = bounds[0]
    for other in bounds[1:]:
        places = sorted({x for x, _ in (*least, *other)})
        values = [(x, _height(least, x, above=above), _height(other, x, above=above)) for x in places]
        corners = [(values[0][0], min(values[0][1:]))]
        for (x, one, two), (to_x, to_one, to_two) in itertools.pairwise(values):
            before, after = one - two, to_one - to_two
            if before * after < 0:
                share = before / (before - after)
                corners.append((x + share * (to_x - x), one + share * (to_one - one)))
            corners.append((to_x, min(to_one, to_two)))
        least = tuple(corners)
    return least


def between(low: CurvePoints, high: CurvePoints, *, powers: bool = False) -> CurvePoints:
    """The line in the middle of a band; in the middle of its powers of ten on a logarithmic axis."""
    places = sorted({x for x, _ in (*low, *high)})
    ends = ((x, _height(low, x, powers=powers), _height(high, x, above=True, powers=powers)) for x in places)
    middle = [(x, math.sqrt(one * other) if powers else (one + other) / 2) for x, one, other in ends]
    heights = [(x, math.log10(y) if powers else y) for x, y in middle]
    seen = FINEST * (max(y for _, y in heights) - min(y for _, y in heights)) / 4
    kept = [0]
    for place in range(1, len(middle) - 1):
        chord = _through(heights[place + 1], heights[kept[-1]])
        if any(abs(chord.at(x) - y) > seen for x, y in heights[kept[-1] + 1 : place + 1]):
            kept.append(place)
    return tuple(middle[place] for place in (*kept, len(middle) - 1))


def _height(line: CurvePoints, x: float, *, above: bool = False, powers: bool = False) -> float:
    """The height of a line through corners, at a corner of two heights the one of its side; beyond its ends that of the end."""
    right = bisect.bisect_left(line, x, key=lambda corner: corner[0])
    if right == len(line) or line[right][0] == x:
        at = x if right < len(line) else line[-1][0]
        return (max if above else min)(y for corner, y in line if corner == at)
    if not right:
        return line[0][1]
    (left, before), (to, after) = line[right - 1], line[right]
    share = (x - left) / (to - left)
    if powers:
        return float(before ** (1 - share) * after**share)
    return before + share * (after - before)
