"""Neighbours within a distance, prices of records, and sums of steps, against lists of all of them."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import pytest
from dpspec_divergences import Hamming, HammingOrdered, L1Distance, LInfinityDistance, Neighbour, SymmetricDifference
from dpspec_divergences.counting import DifferInOnePosition

from dpspec.base.exact import INFINITY, ZERO, Number, number
from dpspec.base.params import define
from dpspec.blocks import input_divergence as module
from dpspec.blocks.input_divergence import InputDivergence, RecordSteps, WithinDistance
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors, IntegerCounts

BITS = BitVectors(length=3)
PEOPLE = UnorderedRecords(attributes=(Attribute(name="sex", categories=("f", "m")),), most=3)


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize(("of", "space"), [(HammingOrdered(), BITS), (SymmetricDifference(), PEOPLE), (Hamming(), PEOPLE)])
def test_neighbours_are_those_within_the_distance(of: Any, space: Any, most: int) -> None:
    near = WithinDistance(of=of, most=most)
    for x, y in itertools.product(space.datasets(), repeat=2):
        wanted = ZERO if x == y else number(1) if of.distance(x, y, space) <= most else INFINITY
        assert near.distance(x, y, space) == wanted
    assert near.least_distance(space) == number(1)
    assert (near.is_neighbour_form, near.is_integral, near.is_metric) == (True, True, False)
    assert near.is_symmetric is of.is_symmetric


def test_prices_of_changes() -> None:
    both, replaced = RecordSteps(unit="person", replaced=2, added=1), RecordSteps(unit="person", replaced=1)
    cheap = RecordSteps(unit="person", replaced=1, added=1)
    for gone, come in itertools.product(range(4), repeat=2):
        assert both.price(gone, come) == 2 * min(gone, come) + abs(gone - come)
        assert cheap.price(gone, come) == max(gone, come)
        assert replaced.price(gone, come) == (gone if gone == come else None)


def test_steps_within_a_distance() -> None:
    near = WithinDistance(of=SymmetricDifference(), most=3)
    steps = near.record_steps(PEOPLE)
    assert steps is not None
    assert (steps.unit, steps.replaced, steps.added, steps.within) == ("person", 2, 1, 3)
    assert WithinDistance(of=near, most=2).record_steps(PEOPLE) is None  # neighbours of neighbours have no price
    assert WithinDistance(of=SymmetricDifference(), most=1).unit_price(PEOPLE) == number(1)

    @define
    class Dear(SymmetricDifference):
        name: ClassVar[str] = "dear"

        def unit_price(self, space: DatasetSpace) -> Number:
            return number(2)

    assert [WithinDistance(of=Dear(), most=most).unit_price(PEOPLE) for most in (1, 2)] == [None, number(1)]


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("d_x", [L1Distance(), LInfinityDistance()])
def test_differences_of_neighbours_are_all_listed(d_x: Any, most: int) -> None:
    places = 2
    space = IntegerCounts(length=places, low=0, high=3)
    steps = d_x.numbers_within(places, most)
    assert steps is not None
    for x, y in itertools.product(space.datasets(), repeat=2):
        distance = d_x.distance(x, y, space)
        difference = tuple(b - a for a, b in zip(x, y, strict=True))  # type: ignore[call-overload]  # tuples of integers
        if 0 < distance <= most:
            assert difference in steps
    assert all(tuple(-n for n in step) in steps for step in steps)
    assert all(any(step) for step in steps)
    size = sum if isinstance(d_x, L1Distance) else max
    assert all(size(map(abs, step)) <= most for step in steps)
    assert WithinDistance(of=d_x, most=most).number_steps(places) == steps


def test_too_many_differences_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = L1Distance()
    assert len(wide.numbers_within(2, 3) or ()) == 24  # |a| + |b| <= 3 without 0
    monkeypatch.setattr(module, "MOST_VECTORS", 23)
    assert wide.numbers_within(2, 3) is None
    monkeypatch.setattr(module, "MOST_VECTORS", 24)
    monkeypatch.setattr(module, "MOST_SUMS", 40)
    assert wide.numbers_within(2, 3) is None


def largest(divergence: Any, other: Any, space: Any) -> Number:
    """The largest quotient of two divergences, where both are finite and the other is positive; infinite where one alone is."""
    best = ZERO
    for x, y in itertools.permutations(space.datasets(), 2):
        one, two = divergence.distance(x, y, space), other.distance(x, y, space)
        if not two.is_infinite:
            best = max(best, INFINITY if one.is_infinite or two == 0 else one / two.as_fraction())
    return best


NEAR = Neighbour(relation=DifferInOnePosition())
OTHERS = [
    HammingOrdered(), NEAR, WithinDistance(of=HammingOrdered(), most=1), WithinDistance(of=HammingOrdered(), most=2),
    WithinDistance(of=HammingOrdered(), most=3), WithinDistance(of=Hamming(), most=2),
    WithinDistance(of=Hamming(), most=1), Hamming(),
]  # fmt: skip


@pytest.mark.parametrize("one", OTHERS, ids=str)
def test_no_constant_between_two_divergences_is_too_small(one: InputDivergence) -> None:
    for other in OTHERS:
        if other != one:
            compared(one, other)


def compared(one: InputDivergence, other: InputDivergence) -> None:
    known = one.bounded_by(other, BITS) or other.bounds(one, BITS)
    true = largest(one, other, BITS)
    assert known is None or known[0] >= true
    if isinstance(one, WithinDistance) and isinstance(other, WithinDistance) and one.of == other.of and one.most >= other.most:
        assert known is not None
    if isinstance(other, WithinDistance) and other.of == one:
        assert known is not None
        assert known[0] == other.most


def test_words() -> None:
    assert WithinDistance(of=SymmetricDifference(), most=1).in_words() == "neighbours only: one person added or removed"
    assert "up to 2 changes, each one person added" in WithinDistance(of=SymmetricDifference(), most=2).in_words()
    assert str(WithinDistance(of=Hamming(), most=2)).startswith("within 2 of")


@define
class Bare(InputDivergence):
    """A distance that says nothing of itself."""

    name: ClassVar[str] = "bare"

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        return ZERO


def test_nothing_is_promised_by_default() -> None:
    bare = Bare()
    assert not any((bare.is_symmetric, bare.is_metric, bare.is_neighbour_form, bare.is_integral, bare.grows_on_subspaces))
    unknown = [
        bare.least_distance(BITS), bare.counted_unit(), bare.record_steps(BITS), bare.unit_price(BITS), bare.number_steps(2),
        bare.numbers_within(2, 3), bare.path_form(), bare.bounded_by(Hamming(), BITS), bare.bounds(Hamming(), BITS),
    ]  # fmt: skip
    assert unknown == [None] * 9
    assert bare.apart_inside(Trivial(), BITS) == 1
    assert bare.bounded_by(Bare(), BITS) == (number(1), "the same input divergence")
    assert bare.in_words() == "bare"
