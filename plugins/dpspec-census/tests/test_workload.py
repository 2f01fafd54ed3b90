"""TopDown by levels: its budget, its claim judged by the exact engine, its constraints, and what it refuses."""

from __future__ import annotations

from fractions import Fraction

import pytest
from dpspec_census.hierarchy.workload import Tabulation, preset

from dpspec.base.errors import (
    ParameterError,
)

TOTAL = {"shares": ["1/2", "1/5"]}
BY_AGE = {"attributes": ["adult"], "shares": ["1/2", "4/5"]}
PERSONS = {"rho": "6", "level_shares": ["1/3", "2/3"], "queries": [TOTAL, BY_AGE]}


@pytest.mark.reference("K-N8")
@pytest.mark.reference("K-N9")
def test_the_allocation_of_2020():
    six = ["us", "state", "county", "tract", "block-group", "block"]
    assert preset("2020-pl-persons", six).rho == Fraction(256, 100)
    assert preset("2020-pl-housing-units", six).rho == Fraction(7, 100)
    part = preset("2020-pl-persons", six[1:])
    assert part.rho == Fraction(256, 100) * Fraction(3995, 4099)
    total, tract = part.queries[0], 2
    assert part.rho_star(tract, total) == Fraction(256, 100) * Fraction(687, 4099) * Fraction(1567, 4102)
    assert sum(part.rho_star(level, q) for level in range(5) for q in part.queries) == part.rho
    with pytest.raises(ParameterError, match="none of the 2020"):
        preset("2020-pl-persons", ["state", "parish"])


@pytest.mark.parametrize(
    "change",
    [
        {"level_shares": ["1/3", "1/3"]},
        {"queries": [TOTAL]},
        {"queries": [{"shares": ["1"]}]},
        {"rho": "0"},
        {"rho": "-1"},
    ],
)
def test_shares_that_do_not_add_up_are_refused(change):
    with pytest.raises(ParameterError):
        Tabulation(**{**PERSONS, **change})
