"""Lists of bounded numbers and vectors: which entries there are, and that listing them and telling them apart is exact."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

from dpspec.base.errors import NotInSpaceError, ParameterError
from dpspec.blocks.bounded import BoundedIntegers, BoundedReals, ClippedVectors, NumberRange, TimeSeries, double, within_norm


def test_a_double_is_finite_with_one_zero() -> None:
    assert math.copysign(1, double(-0.0, "x")) == 1
    assert double(Fraction(1, 2), "x") == 0.5
    for wrong in (True, "1", None, math.inf, math.nan):
        with pytest.raises(NotInSpaceError):
            double(wrong, "x")


@pytest.mark.parametrize(
    ("low", "high", "step", "points"),
    [("0", "1", "1/2", [0, 0.5, 1]), ("0", "1", "2/5", [0, 0.4, 0.8]), ("-1", "-1", "1", [-1]), ("0", "1/3", "1", [0])],
)
def test_points_of_a_grid_end_at_or_below_the_upper_bound(low: str, high: str, step: str, points: list[float]) -> None:
    numbers = NumberRange(low=low, high=high, step=step)  # type: ignore[arg-type]  # read
    assert list(numbers.listed()) == points
    assert numbers.count() == len(points)
    assert list(numbers.numbers()) == points
    for point in points:
        assert numbers.number(point, "x") == point
    for other in (points[0] - 1, points[-1] + float(Fraction(step)), points[0] + 1e-3):
        with pytest.raises(NotInSpaceError):
            numbers.number(other, "x")


def test_doubles_between_two_bounds() -> None:
    numbers = NumberRange(low="-1/3", high="1")  # type: ignore[arg-type]  # read
    assert numbers.count() is None
    first = list(itertools.islice(numbers.numbers(), 40))
    assert len(set(first)) == 40
    assert all(float(numbers.low) <= one <= 1 for one in first)
    assert first[:3] == [float(Fraction(-1, 3)), 1.0, 0.0]
    assert {0.5, 0.25, -0.25, 0.75} <= set(first)
    for end in (float(Fraction(-1, 3)), 1.0):
        assert numbers.number(end, "x") == end
    for beyond in (math.nextafter(1, 2), math.nextafter(float(Fraction(-1, 3)), -1)):
        with pytest.raises(NotInSpaceError):
            numbers.number(beyond, "x")
    telling = numbers.telling()
    assert {0.0, 1.0, math.nextafter(1, 0)} <= set(telling)
    assert all(float(numbers.low) <= one <= 1 for one in telling)
    assert NumberRange(low=2, high=2).count() == 1  # type: ignore[arg-type]  # read
    with pytest.raises(ParameterError):
        NumberRange(low=1, high=0)  # type: ignore[arg-type]  # read
    with pytest.raises(ParameterError):
        NumberRange(low=0, high=1, step="1/10000000")  # type: ignore[arg-type]  # read


def test_whole_numbers_of_a_range() -> None:
    numbers = NumberRange(low=0, high=3, step=1, whole=True)  # type: ignore[arg-type]  # read
    assert numbers.listed() == (0, 1, 2, 3)
    assert type(numbers.number(2.0, "x")) is int
    with pytest.raises(NotInSpaceError):
        numbers.number(1.5, "x")


@pytest.mark.parametrize("norm", ["l1", "l2", "l-infinity"])
def test_vectors_on_a_grid_are_those_within_the_norm(norm: str) -> None:
    space = ClippedVectors(dimension=2, norm=norm, radius=2, step=1, least=1, most=1)  # type: ignore[arg-type]  # read
    size = {"l1": lambda a, b: abs(a) + abs(b), "l2": math.hypot, "l-infinity": lambda a, b: max(abs(a), abs(b))}[norm]
    every = {(float(a), float(b)) for a, b in itertools.product(range(-3, 4), repeat=2) if size(a, b) <= 2}
    listed = list(space.listed_entries())
    assert set(listed) == every
    assert len(listed) == len(every) == space.entry_count()
    for vector in itertools.product(range(-3, 4), repeat=2):
        inside = tuple(map(float, vector)) in every
        assert within_norm(vector, norm, 2.0) is inside
        if inside:
            assert space.entry(vector) == tuple(map(float, vector))
        else:
            with pytest.raises(NotInSpaceError):
                space.entry(vector)
    for other in ((0.5, 0), (1,), (1, 1, 1), "ab", 1):
        with pytest.raises(NotInSpaceError):
            space.entry(other)


def test_norms_are_decided_exactly() -> None:
    below, above = math.nextafter(1, 0), math.nextafter(1, 2)
    assert within_norm((below,), "l2", 1.0)
    assert not within_norm((above,), "l2", 1.0)
    assert not within_norm((1.0, 1e-300), "l2", 1.0)
    assert not within_norm((1.0, 1e-300), "l1", 1.0)
    assert within_norm((1.0, 1e-300), "l-infinity", 1.0)
    assert within_norm((), "l-infinity", 0.0)


@pytest.mark.parametrize("norm", ["l1", "l2", "l-infinity"])
def test_vectors_of_doubles(norm: str) -> None:
    space = ClippedVectors(dimension=2, norm=norm, most=2)
    first = list(itertools.islice(space.listed_entries(), 60))
    assert len(set(first)) == 60
    assert space.entry_count() is None
    for vector in (*first, *space.telling()):
        assert within_norm(vector, norm, 1.0)
    assert any(abs(vector[0]) == abs(vector[1]) > 0 for vector in space.telling())


def test_lists_of_numbers() -> None:
    space = BoundedReals(low=0, high=1, step="1/2", least=1, most=2, ordered=False)  # type: ignore[arg-type]  # read
    assert len(list(space.datasets())) == space.cardinality() == 3 + 6
    whole = BoundedIntegers(low=-1, high=1, most=2)
    assert len(list(whole.datasets())) == whole.cardinality() == 1 + 3 + 9
    assert whole.telling() == (-1, 1, 0)
    for wrong in (0.5, True, 2, None):
        with pytest.raises(NotInSpaceError):
            whole.entry(wrong)
    assert BoundedIntegers(low=0, high=1 << 20).entry_count() is None
    assert BoundedIntegers(low=1, high=1 << 20).entry_count() == 1 << 20
    with pytest.raises(ParameterError):
        BoundedIntegers(low=1, high=0)


def test_time_series() -> None:
    space = TimeSeries(length=2, low=0, high=1, whole=True, least=1, most=1)  # type: ignore[arg-type]  # read
    assert len(list(space.datasets())) == space.cardinality() == 4
    nested = (("event", "person"), ("person", "person"), ("person", "event"))
    assert [space.most_within(*units) for units in nested] == [2, 1, None]
    assert space.fixes_size("event")
    assert not TimeSeries(length=2, low=0, high=1, most=1).fixes_size("event")  # type: ignore[arg-type]  # read
    assert space.records(((0, 1),), "event") == (("0", "0"), ("1", "1"))
    for series in space.telling():
        space.entry(series)
    reals: Any = TimeSeries(length=2, low=0, high=1, most=1)  # type: ignore[arg-type]  # read
    first = list(itertools.islice(reals.listed_entries(), 30))
    assert len(set(first)) == 30
    for wrong in ({"event": "person"}, {"step": "1/2", "whole": True}):
        with pytest.raises(ParameterError):
            TimeSeries(length=2, low=0, high=1, **wrong)  # type: ignore[arg-type]  # read
