"""Swapping in pairs, against every selection and every matching that is written out."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from dpspec_census import PairSwapping
from dpspec_census.pair_swapping import pair_constant, pair_exchange_law
from dpspec_census.stratum import _in_pairs

from dpspec.base.exact import ln
from dpspec.blocks.records import UnorderedRecords
from dpspec.plugin import Bracket, errors, laws

RATES = [Fraction(rate) for rate in ("0", "1/20", "1/2", "4/5", "1")]
SPACE = UnorderedRecords(attributes=[{"name": "kin", "count": 6}, {"name": "place", "count": 6}], unit="household")


def matched(chosen: tuple[int, ...]) -> Iterator[tuple[tuple[int, int], ...]]:
    """Every way to match all records, or all but one of an odd number, in pairs."""
    if len(chosen) % 2:
        for kept in chosen:
            yield from matched(tuple(one for one in chosen if one != kept))
    elif not chosen:
        yield ()
    else:
        first, *others = chosen
        for other in others:
            for rest in matched(tuple(one for one in others if one != other)):
                yield ((first, other), *rest)


def written_out(rests: list[int], values: list[int], rate: Fraction) -> dict[tuple[tuple[str, str], ...], Fraction]:
    law: Counter[tuple[tuple[str, str], ...]] = Counter()
    for size in range(len(values) + 1):
        for chosen in itertools.combinations(range(len(values)), size):
            ways = list(matched(chosen))
            for pairs in ways:
                moved = list(values)
                for one, other in pairs:
                    moved[one], moved[other] = values[other], values[one]
                table = tuple(sorted((str(rest), str(value)) for rest, value in zip(rests, moved, strict=True)))
                law[table] += rate**size * (1 - rate) ** (len(values) - size) / len(ways)
    return {table: mass for table, mass in law.items() if mass}


TABLES = [
    ([0], [0]),
    ([0, 1], [0, 1]),
    ([0, 1, 2], [0, 1, 2]),
    ([0, 0, 1], [0, 1, 2]),
    ([0, 1, 2, 3], [0, 1, 2, 3]),
    ([0, 0, 1, 1], [0, 0, 1, 1]),
    ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4]),
    ([0, 0, 1, 1, 2], [0, 1, 1, 2, 2]),
    ([0, 0, 0, 0, 1], [0, 0, 1, 1, 1]),
]


@pytest.mark.parametrize(("rests", "values"), TABLES, ids=str)
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_the_law_is_that_of_every_matching(rests: list[int], values: list[int], rate: Fraction) -> None:
    dataset = tuple(sorted((str(rest), str(value)) for rest, value in zip(rests, values, strict=True)))
    law = PairSwapping(swap=["place"], swap_rate=rate).law(dataset, SPACE)
    expected = written_out(rests, values, rate)
    assert {outcome: law.probability(outcome) for outcome in law.support} == expected
    assert sum(expected.values()) == 1


@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_one_exchange(size: int, rate: Fraction) -> None:
    here = written_out(list(range(size)), list(range(size)), rate)
    there = written_out(list(range(size)), [1, 0, *range(2, size)], rate)
    found: dict[Fraction, list[Fraction]] = {}
    for table in {*here, *there}:
        p, q = here.get(table, Fraction(0)), there.get(table, Fraction(0))
        held = found.setdefault(p / (p + q), [Fraction(0), Fraction(0)])
        held[0] += p
        held[1] += q
    atoms = laws.exact_atoms_of(pair_exchange_law(size, rate))
    assert atoms is not None
    assert sorted(atoms) == sorted((p, q) for p, q in found.values())


@pytest.mark.parametrize("rate", RATES, ids=str)
def test_the_constant_is_the_largest_slope_of_all_tables(rate: Fraction) -> None:
    for size in (2, 3, 4):
        tables = [list(order) for order in itertools.permutations(range(size))]
        laws_of = [written_out(list(range(size)), order, rate) for order in tables]
        largest = Bracket.exactly(0)
        for (one, here), (other, there) in itertools.permutations(zip(tables, laws_of, strict=True), 2):
            distance = sum(a != b for a, b in zip(one, other, strict=True))
            for table, p in here.items():
                q = there.get(table, Fraction(0))
                slope = Bracket.exactly("inf") if not q else Bracket.exactly(ln(p / q) / distance)
                largest = slope if slope.lower > largest.lower else largest
        assert pair_constant(size, rate).value == largest


def test_two_records_at_one_in_twenty() -> None:
    assert str(pair_constant(2, Fraction(1, 20)).value) == "1/2*ln(399)"
    assert str(pair_constant(2, Fraction(19, 20)).value) == "1/2*ln(361/39)"
    assert pair_constant(1, Fraction(1, 2)).value == Bracket.exactly(0)
    assert pair_constant(3, Fraction(1, 20)).value.lower.is_infinite


def test_three_tables_refute_every_budget() -> None:
    swap = PairSwapping(swap=["place"], swap_rate="1/20")
    found = swap.constant(SPACE)
    assert found.value.lower.is_infinite
    assert found.pair is not None
    likely, unlikely, output = found.pair.datasets(swap.scheme(), SPACE)
    assert swap.probability(likely, output, SPACE) > 0
    assert swap.probability(unlikely, output, SPACE) == 0
    few = UnorderedRecords(attributes=[{"name": "kin", "count": 2}, {"name": "place", "count": 2}], unit="household")
    assert swap.constant(few).value.lower == ln(399) / 2  # of more records with two values nothing is known from below
    assert swap.constant(few).value.upper.is_infinite


def test_large_strata_are_not_listed() -> None:
    dataset = tuple((str(kin), str(kin)) for kin in (0, 1, 2, 3, 4, 5)) * 2
    with pytest.raises(errors.NotEnumerableError):
        PairSwapping(swap=["place"], swap_rate="1/2").law(dataset, SPACE)


def test_the_kernel_matches_neighbours_in_the_order() -> None:
    order = np.array([2, 0, 1, 4, 3, 5])
    groups = np.array([0, 0, 0, 1, 1, 2])
    assert _in_pairs(order, groups).tolist() == [2, 1, 0, 4, 3, 5]
    assert _in_pairs(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)).tolist() == []
