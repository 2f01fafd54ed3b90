"""The swapping laws against brute force straight from the listings: every selection, every permutation, in Fractions."""

from __future__ import annotations

import itertools
import math

import pytest
from dpspec_census.stratum import derangements, permutations_by_moved


@pytest.mark.reference("B-O40")
def test_derangement_numbers():
    assert [derangements(m) for m in range(9)] == [1, 0, 1, 2, 9, 44, 265, 1854, 14833]
    for m in range(6):
        assert derangements(m) == sum(all(a != b for a, b in enumerate(s)) for s in itertools.permutations(range(m)))


def test_the_permutations_of_all_records_are_counted_once_by_the_number_they_move():
    counted = permutations_by_moved((1, 2, 0, 1), 2)
    by_moved = [sum(counts[m] for _, counts in counted) for m in range(5)]
    assert by_moved == [math.comb(4, m) * derangements(m) for m in range(5)]
