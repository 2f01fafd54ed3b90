"""The tables of the page on the swapping theorem are what the code makes, and say what is true."""

from __future__ import annotations

from fractions import Fraction

import pytest
from dpspec_census.swap_budget import nominal_budget
from dpspec_census.swapping import DerangementSwapping

from dpspec.api import read
from dpspec.base.exact import ZERO
from reproductions.swapping_theorem import PAGE, SCHEMES, SPECS, page


@pytest.mark.reference("B-T11", "B-T12", "B-X2")
def test_the_tables_of_the_page_are_those_that_are_made():
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text
    assert page(text.replace("19.375890443", "19.38")) == text


@pytest.mark.reference("B-T11")
@pytest.mark.parametrize("name", SCHEMES)
def test_the_space_of_each_scheme_attains_the_constant_of_its_printed_stratum(name):
    size = read(SPECS / f"swapping-2020-{name}.dpspec.toml").spec.budget.largest_stratum
    document = read(SPECS / "swapping-2020" / f"swapping-2020-{name}-by-universe.dpspec.toml")
    mechanism, space = document.mechanism, document.spec.space
    occupied = next(stratum for stratum in mechanism.constants().strata(space) if "occupied" in stratum)
    found = mechanism.constant(space, {occupied: size})
    assert found.value.lower == mechanism.stratum_constant(size, mechanism.swap_rate).value.lower == found.pair.slope.lower
    assert ZERO < nominal_budget(size, mechanism.swap_rate) - found.value.lower < Fraction(2, size)
    assert sum(found.pair.likely.values()) == sum(found.pair.output.values()) == size
    assert len(found.pair.output) <= 6
    scheme, kinds = mechanism.scheme(), [*found.pair.likely, *found.pair.output]
    dataset = scheme.dataset(kinds, space)
    assert space.dataset(dataset) == dataset


@pytest.mark.reference("B-T11")
def test_the_two_tenures_of_1940_need_much_less_than_is_printed():
    document = read(SPECS / "swapping-1940-massachusetts.dpspec.toml")
    assert isinstance(document.mechanism, DerangementSwapping)
    found = document.mechanism.constant(document.spec.space, {("2",): 264331, ("1",): 95000})
    printed = nominal_budget(264331, Fraction(1, 2))
    assert printed * Fraction(49, 100) < found.value.lower < found.value.upper < printed * Fraction(53, 100)
    assert sorted(found.pair.likely.values()) == [1, 264330]
