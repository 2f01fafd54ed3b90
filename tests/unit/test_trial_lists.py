"""The lists on which plain code is tried: in every order of the values the same, within the lengths, and with each pattern."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import pytest

from dpspec.blocks.trial_lists import FIRST, directions, list_rays, lists_tried, telling, vector_rays, vectors_tried


def tried(values: Any, lengths: tuple[int, int | None], *, ordered: bool = True, most: int = 400) -> list[list[Any]]:
    return list(itertools.islice(lists_tried(values, lengths, random.Random(1), ordered=ordered), most))


def test_the_simplest_the_extremes_and_what_is_no_number_come_first() -> None:
    assert telling((5, 3, 0, None, -2, 1)) == [0, 5, -2, None, 1, 3]
    assert telling((1, -1, 2)) == [1, 2, -1]
    assert telling((math.nan, 1.0))[0] == 1.0
    assert set(telling(("a", "bbb", "cc"))[:2]) == {"a", "bbb"}
    for order in itertools.permutations((5, 0, None, -2, "x")):
        assert telling(order) == telling((5, 0, None, -2, "x"))


@pytest.mark.parametrize("lengths", [(0, None), (0, 3), (2, 5), (4, 4), (0, 0), (1, 1)])
@pytest.mark.parametrize("ordered", [True, False])
def test_lists_are_within_the_lengths_whatever_the_order_of_values(lengths: tuple[int, int | None], ordered: bool) -> None:
    found = tried((0, 1, 7), lengths, ordered=ordered)
    assert found == tried((7, 0, 1), lengths, ordered=ordered)
    assert all(lengths[0] <= len(one) <= (lengths[1] if lengths[1] is not None else math.inf) for one in found)
    assert {entry for one in found for entry in one} <= {0, 1, 7}


def test_the_smallest_lists_are_there() -> None:
    found = {tuple(one) for one in tried((0, 1), (0, None), most=10_000)}
    small = [one for size in range(4) for one in itertools.product((0, 1), repeat=size)]
    assert set(small[:FIRST]) <= found
    assert {(0,) * size for size in range(13)} <= found


def test_patterns_are_there() -> None:
    found = {tuple(one) for one in tried((0, 1, 7), (0, 300), most=10_000)}
    for place in range(4):
        assert tuple(7 if i == place else 0 for i in range(4)) in found
    for size in (15, 16, 17, 99, 100, 101, 256):
        assert (0,) * size in found
    assert (7,) * 19 in found  # 133 wraps in 8 bits, and 126 does not
    assert (7,) * 18 in found
    assert (0, 7, 1) in found  # all values once
    assert any(sorted(one) != list(one) and len(set(one)) == 3 for one in found)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 9])
def test_directions_are_distinct_up_to_sign(length: int) -> None:
    found = directions(length)
    assert len(set(found)) == len(found)
    assert (1,) * length in found
    against = {tuple(1 if i == place else -1 for i in range(length)) for place in range(length)}
    if length <= 7:
        every = {(1, *rest) for rest in itertools.product((1, -1), repeat=length - 1)}
        assert every <= {way if way[0] == 1 else tuple(-n for n in way) for way in found if 0 not in way}
    elif length > 1:
        assert against & {*found, *(tuple(-n for n in way) for way in found)}
    assert length == 1 or {tuple(int(i == place) for i in range(length)) for place in range(length)} <= set(found)


def test_rays_grow_by_one_entry_or_number() -> None:
    for ray in list_rays((0, 1), (2, 6)):
        first, last = ray.ends
        sizes = [ray.at(place) for place in range(first, last + 1)]
        assert all(2 <= len(one) <= 6 or len(set(one)) == 1 for one in sizes)
        for before, after in itertools.pairwise(sizes):
            changed = sum(a != b for a, b in zip(before, after, strict=False)) + abs(len(before) - len(after))
            assert changed == 1
    assert next(iter(list_rays((0, 1), (3, 3)))).ends == (0, 3)
    for low, high, ends in ((0, None, {1 << 40}), (0, 9, {9}), (-5, 9, {5, 9}), (1, 9, set())):
        rays = list(vector_rays(2, low, high))
        assert {ray.ends[1] for ray in rays} == ends
        for ray in rays:
            assert ray.at(0) == (0, 0)
            last = ray.at(ray.ends[1])
            assert all(low <= n and (high is None or n <= high) for n in last)


def test_vectors_reach_both_ends() -> None:
    found = list(vectors_tried(3, -2, 4))
    assert {(-2,) * 3, (4,) * 3, (0, 0, 0), (1, 1, 1)} <= set(found)
    assert {(-1, -2, -2), (3, 4, 4)} <= set(found)
    assert all(len(one) == 3 for one in found)
    assert found == list(vectors_tried(3, -2, 4))
    assert next(iter(vectors_tried(2, 5, None))) == (5, 5)
