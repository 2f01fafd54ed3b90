"""Points of a metric space, their norms and the bounds between them, against the definitions."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from dpspec_divergences import (
    HammingOrdered,
    UserMetric,
)
from dpspec_flavours.mechanisms import NearbyDataset
from dpspec_flavours.networks.blowfish import Policy
from dpspec_flavours.networks.graphs import Graphs
from dpspec_flavours.networks.points import GeoIndistinguishability, Metric, MetricPoints
from hypothesis import given, strategies as st

from dpspec.api import compare
from dpspec.base.errors import DpspecError, IncompatibleBlocksError, NotInSpaceError, ParameterError
from dpspec.base.exact import Number, ln, number, sqrt
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.vectors import BitVectors
from dpspec.comparison.compare import Answer
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.verdict import Outcome


def stated(less: Any, more: Any, space: Any) -> Number | None:
    known = less.bounded_by(more, space) or more.bounds(less, space)
    return None if known is None else known[0]


def holds(less: Any, more: Any, factor: Number, space: Any) -> Iterator[bool]:
    for x, y in itertools.combinations(space.datasets(), 2):
        wide = more.distance(x, y, space)
        yield wide.is_infinite or less.distance(x, y, space) <= wide * factor


def epsilon(value: Any) -> UniformBudget:
    return UniformBudget(parameter="epsilon", value=value)


def test_specifications_on_points_are_compared_and_separated() -> None:
    spec = GeoIndistinguishability().spec()
    manhattan = spec.replace(input_divergence=Metric(norm="manhattan"), budget=epsilon(ln(2)))
    found = compare(spec.replace(budget=epsilon(ln(2))), manhattan)
    assert found.forward.answer is Answer.IMPLIES
    assert found.backward.answer is not Answer.IMPLIES


# --- points ----------------------------------------------------------------------------------------

coordinates = st.fractions(-5, 5, max_denominator=6)


@pytest.mark.slow
@given(st.lists(st.tuples(coordinates, coordinates, coordinates), min_size=2, max_size=3, unique=True), st.data())
def test_norms_and_their_bounds_on_points(places: list[tuple[Fraction, ...]], data: st.DataObject) -> None:
    space = MetricPoints(points=tuple((f"p{i}", place) for i, place in enumerate(places)))
    (a, b) = data.draw(st.permutations([f"p{i}" for i in range(len(places))]))[:2]
    steps = [abs(u - v) for u, v in zip(space.places()[a], space.places()[b], strict=True)]
    euclid = Metric().distance((a,), (b,), space)
    assert euclid.squared() == sum(s * s for s in steps)
    assert Metric(norm="manhattan").distance((a,), (b,), space) == sum(steps)
    assert Metric(norm="maximum").distance((a,), (b,), space) == max(steps)
    assert Metric(length=Fraction(1, 3)).distance((a,), (b,), space) == euclid * 3
    metrics = [Metric(norm=norm, length=length) for norm in ("euclidean", "manhattan", "maximum") for length in (1, "2/3")]
    for less, more in itertools.permutations([*metrics, HammingOrdered(unit="location")], 2):
        factor = stated(less, more, space)
        assert factor is not None
        assert all(holds(less, more, factor, space)), (less, more, factor)


def test_constants_between_norms_are_the_best_ones() -> None:
    space = MetricPoints(grid=(2, 2, 2))
    euclid, manhattan, largest = (Metric(norm=norm) for norm in ("euclidean", "manhattan", "maximum"))
    assert stated(euclid, manhattan, space) == stated(largest, euclid, space) == 1
    assert stated(manhattan, euclid, space) == stated(euclid, largest, space) == sqrt(3)
    assert stated(manhattan, largest, space) == 3
    assert stated(manhattan, HammingOrdered(unit="location"), space) == 3
    assert stated(HammingOrdered(unit="location"), manhattan, space) == 1
    assert stated(Metric(length=1000), Metric(), space) == Fraction(1, 1000)


def test_trajectories_add_up_or_take_the_largest_step() -> None:
    space = MetricPoints(grid=(3,), count=3)
    added, farthest = Metric(norm="manhattan"), Metric(norm="manhattan", over="maximum")
    assert added.distance(("0", "1", "2"), ("2", "1", "1"), space) == 3
    assert farthest.distance(("0", "1", "2"), ("2", "1", "1"), space) == 2
    assert stated(added, farthest, space) == 3
    assert stated(farthest, added, space) == 1
    assert stated(HammingOrdered(unit="location"), farthest, space) == 3
    for less, more in itertools.permutations((added, farthest, HammingOrdered(unit="location")), 2):
        assert all(holds(less, more, stated(less, more, space), space))  # type: ignore[arg-type]
    with pytest.raises(IncompatibleBlocksError, match="cannot add euclidean"):
        Metric().check(space)


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({}, "either points or a grid"),
        ({"points": {"a": [0]}, "grid": [2]}, "either points or a grid"),
        ({"points": [["a", [0]], ["a", [1]]]}, "twice"),
        ({"points": {"a": [0], "b": [0, 1]}}, "equally many"),
        ({"points": {"a": [0], "b": [0]}}, "different places"),
    ],
)
def test_bad_points(parameters: dict[str, Any], word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        MetricPoints(**parameters)


def test_what_is_no_location_is_refused() -> None:
    space = MetricPoints(points={"home": [0], "work": [2]})
    for value, word in (("home", "list of 1 names"), (["home", "work"], "list of 1"), (["hom"], "did you mean home")):
        with pytest.raises(NotInSpaceError, match=word):
            space.dataset(value)
    with pytest.raises(IncompatibleBlocksError, match="metric-points"):
        Metric().check(BitVectors(length=1))


@pytest.mark.reference("B-D30")
def test_the_nearby_dataset_keeps_twice_its_rate_per_unit_of_every_metric() -> None:
    space = MetricPoints(points={"a": [0, 0], "b": [1, 2], "c": ["1/2", -1], "d": [3, 3]})
    for norm in ("euclidean", "manhattan", "maximum"):
        metric = Metric(norm=norm)
        spec = GeoIndistinguishability().spec().replace(space=space, input_divergence=metric, budget=epsilon(number("1/2")))
        assert verify_claim(NearbyDataset(distance=metric, rate=number("1/4")), spec).outcome is Outcome.VERIFIED


def test_a_metric_written_in_python_is_the_same_as_the_block() -> None:
    space, metric = MetricPoints(grid=(3, 2)), Metric(norm="manhattan")
    again = UserMetric(function=lambda x, y: metric.distance(x, y, space), label="again")
    spec = GeoIndistinguishability().spec().replace(space=space)
    mechanism = NearbyDataset(distance=metric, rate=number("1/2"))
    first, second = (verify_claim(mechanism, spec.replace(input_divergence=d)).constant for d in (metric, again))
    assert first == second


def test_errors_are_all_of_dpspec() -> None:
    for broken in (
        lambda: Graphs(nodes=()),
        lambda: Policy(edges=[["a"]]),
        lambda: Metric(norm="taxi"),
        lambda: Metric(length=0),
    ):
        with pytest.raises(DpspecError):
            broken()
