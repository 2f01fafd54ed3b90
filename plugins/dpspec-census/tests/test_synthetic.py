"""Synthetic tables: margins against the printed ones, nested geography, the same records for the same seed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from dpspec_census import Massachusetts1940, SyntheticDwellings, SyntheticHousingUnits, SyntheticPersons
from dpspec_census.massachusetts import COUNTIES, DWELLINGS_BY_SIZE, PRINTED, TENURES
from dpspec_census.synthetic import HHGQ, Places, hierarchy

from dpspec.grammar import tables as building
from dpspec.grammar.tables import joined

BUILDERS = [Massachusetts1940, SyntheticDwellings, SyntheticHousingUnits, SyntheticPersons]
SLOW_DWELLINGS = [pytest.param(cls, marks=pytest.mark.slow) if cls is SyntheticDwellings else cls for cls in BUILDERS]
"""A table of dwellings, however short, begins with the geography of a country."""


def made(cls, rows, seed=3):
    return joined(cls.attributes, cls().batches(rows, seed))


@pytest.mark.parametrize("cls", SLOW_DWELLINGS)
@pytest.mark.parametrize("rows", [1, 7, 5000])
def test_there_are_as_many_records_as_asked_for_and_all_fit_the_columns(cls, rows):
    table = made(cls, rows)
    assert len(table) == rows
    sizes = {a.name: a.size for a in cls.attributes}
    for attribute in cls.attributes:
        column = table.codes[attribute.name].astype(np.int64)
        assert column.min() >= 0
        assert column.max() < attribute.size
        if attribute.within is not None:
            parents = table.codes[attribute.within].astype(np.int64)
            assert (parents == column * sizes[attribute.within] // attribute.size).all()


@pytest.mark.parametrize("cls", SLOW_DWELLINGS)
def test_a_seed_gives_the_same_records_again_and_batches_are_put_together_in_order(cls, monkeypatch):
    one, again = made(cls, 3000), made(cls, 3000)
    assert all((one.codes[a.name] == again.codes[a.name]).all() for a in cls.attributes)
    if cls is not Massachusetts1940:
        other = made(cls, 3000, seed=4)
        assert any((one.codes[a.name] != other.codes[a.name]).any() for a in cls.attributes)
    monkeypatch.setattr(building, "BATCH", 700)
    batches = list(cls().batches(3000, 3))
    assert [len(batch) for batch in batches] == [700, 700, 700, 700, 200]
    pieces = joined(cls.attributes, batches)
    kept = [a.name for a in cls.attributes if a.within is not None or a.name in {"state", "county"}]
    assert all((one.codes[name] == pieces.codes[name]).all() for name in kept)


@pytest.mark.reference("B-N5")
@pytest.mark.parametrize("rows", [100, 77_777, 2_000_003])
def test_every_printed_count_is_within_one_of_its_share_at_any_size(rows):
    table = made(Massachusetts1940, rows)
    for names, margin in ((("county", "tenure"), PRINTED), (("persons",), DWELLINGS_BY_SIZE)):
        counts, whole = table.counts(names), sum(margin.values())
        for cell, count in margin.items():
            key = cell if isinstance(cell, tuple) else (cell,)
            assert abs(counts.get(key, 0) - Fraction(count * rows, whole)) < 1


@pytest.mark.slow
@pytest.mark.reference("B-N5")
@pytest.mark.statistical
def test_dwellings_have_the_printed_shares_of_owners_and_our_sizes():
    # 300,000 dwellings, 14 + 9 binomial counts, each within 7 standard deviations: false alarm below 6e-11. A share of owners
    # exchanged for its complement, or the sizes in reverse, would be off by more than 20 in the largest cells.
    table = made(SyntheticDwellings, 300_000)
    owners = table.codes["tenure"] == TENURES.index("owned")
    turn = table.codes["county"].astype(np.int64) % len(COUNTIES)
    for place, county in enumerate(COUNTIES):
        here = turn == place
        share = PRINTED[county, "owned"] / sum(PRINTED[county, tenure] for tenure in TENURES)
        assert abs(owners[here].sum() - share * here.sum()) < 7 * np.sqrt(share * (1 - share) * here.sum())
    for size, count in DWELLINGS_BY_SIZE.items():
        share = count / sum(DWELLINGS_BY_SIZE.values())
        found = table.counts(["size"])[size,]
        assert abs(found - share * len(table)) < 7 * np.sqrt(share * (1 - share) * len(table))


def test_blocks_have_a_long_tail_and_many_are_empty():
    table = made(SyntheticPersons, 200_000)
    sizes = np.bincount(table.codes["block"], minlength=10_000)
    assert 0.2 < (sizes == 0).mean() < 0.4
    assert sizes.max() > 20 * np.median(sizes[sizes > 0])
    assert (np.diff(table.codes["block"].astype(np.int64)) >= 0).all()


@pytest.mark.reference("K-D39")
def test_the_state_has_the_kinds_of_persons_of_the_redistricting_file_and_most_cells_of_a_block_are_empty():
    table = made(SyntheticPersons, 200_000)
    names = ("hhgq", "voting-age", "hispanic", "race")
    assert table.domain(names) == 2016
    kinds = table.counts(["block", *names])
    blocks = len(table.counts(["block"]))
    assert len(kinds) / blocks < 2016 / 100
    assert len(table.counts(["hhgq"])) == len(HHGQ) == 8
    assert len(table.counts(["race"])) > 40
    quarters = {cell[0] for cell in table.counts(["block", "hhgq"]) if cell[1] != "household"}
    assert 0 < len(quarters) < blocks / 40
    grown = table.counts(["hhgq", "voting-age"])
    assert ("correctional", "minor") not in grown
    assert ("household", "minor") in grown


def test_persons_and_housing_units_of_one_seed_are_in_the_same_blocks():
    persons, units = (np.bincount(made(cls, 300_000).codes["block"], minlength=10_000) for cls in BUILDERS[:1:-1])
    assert (np.abs(persons - units) <= 1).all()
    assert (persons > 0).sum() > 6000


def test_one_record_for_each_block_and_the_ends_of_batches():
    places = Places(levels=hierarchy({"state": 2, "block": 4}), ends=np.asarray([2, 2, 3, 6]))
    whole = places.codes(range(6))
    assert whole == {"block": pytest.approx([0, 0, 2, 3, 3, 3]), "state": pytest.approx([0, 0, 1, 1, 1, 1])}
    for cut in range(1, 6):
        parts = [places.codes(piece)["block"].tolist() for piece in (range(cut), range(cut, 6))]
        assert parts[0] + parts[1] == whole["block"].tolist()
