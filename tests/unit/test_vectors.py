"""Vectors of integers: their order, and long ones."""

from __future__ import annotations

import itertools

import pytest

from dpspec.blocks.vectors import IntegerCounts


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize(("low", "width"), [(0, 0), (-1, 1), (2, 3), (0, None), (-2, None)])
def test_datasets_by_distance_from_the_least_one(length: int, low: int, width: int | None) -> None:
    space = IntegerCounts(length=length, low=low, high=None if width is None else low + width)
    largest = 4 if width is None else width
    every = itertools.product(range(low, low + largest + 1), repeat=length)
    expected = sorted(every, key=lambda vector: (sum(vector), vector))
    if width is None:  # of the unbounded ones, those that have no larger entry
        expected = [vector for vector in expected if sum(vector) - low * length <= largest]
        assert list(itertools.islice(space.datasets(), len(expected))) == expected
    else:
        assert list(space.datasets()) == expected


def test_vectors_of_many_places_are_listed_one_by_one() -> None:
    first = list(itertools.islice(IntegerCounts(length=20_000).datasets(), 3))
    assert [sum(vector) for vector in first] == [0, 1, 1]
    assert [vector.index(1) for vector in first[1:]] == [19_999, 19_998]
