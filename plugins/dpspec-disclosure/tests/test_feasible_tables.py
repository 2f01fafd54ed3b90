"""Audits of published tables against enumeration: ranges, certificates, sums that recompute a cell, releases in time."""

from __future__ import annotations

import itertools

import pytest
from dpspec_disclosure.feasible_tables import FeasibleSet, NoTableFits, Statement

# --- where whole numbers matter -------------------------------------------------------------------


def test_a_gap_between_real_and_whole_tables_is_closed_by_branches():
    """Three cells of which every two sum to 1 would each be a half; where they sum to at most 1, so do all three."""
    pairs = [Statement(((a, 1), (b, 1)), ((1, 1),)) for a, b in itertools.combinations(range(3), 2)]
    with pytest.raises(NoTableFits):
        FeasibleSet(3, pairs).table()
    loose = [Statement(one.terms, ((0, 1),)) for one in pairs]
    found = FeasibleSet(3, loose).range_of(((0, 1), (1, 1), (2, 1)))
    assert (found.low, found.high, found.is_exact) == (0, 1, True)


def test_a_search_that_is_cut_short_leaves_a_bound_that_is_wider_and_says_so():
    loose = [Statement(((a, 1), (b, 1)), ((0, 1),)) for a, b in itertools.combinations(range(5), 2)]
    every = tuple((cell, 1) for cell in range(5))
    found = FeasibleSet(5, loose).largest(every, nodes=1)
    assert (found.bound, found.is_exact) == (2, False)
    assert FeasibleSet(5, loose).largest(every).bound == 1
