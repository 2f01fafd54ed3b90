"""The largest power against one exchange of a real table, against the laws of small tables, and against simulated swaps."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import attrs
import pytest
from dpspec_census.swap_table import binomial, corner_power, corners, power_of_exchanges
from dpspec_census.swapping import DerangementSwapping, PermutationSwapping

import dpspec as dp
from dpspec.plugin import Table, UniformBudget, UnorderedRecords, laws

SPACE = UnorderedRecords(
    attributes=[{"name": "size", "count": 2}, {"name": "kin", "count": 3}, {"name": "place", "count": 3}], unit="household"
)
LEVEL = Fraction(1, 20)


def swap(kind, rate):
    return kind(match=["size"], swap=["place"], swap_rate=rate)


def promise(mechanism):
    return dp.PrivacySpec(
        space=SPACE, multiverse=mechanism.scheme().multiverse(SPACE), input_divergence=dp.hamming(unit="household"),
        output_divergence=dp.mult(), budget=UniformBudget(parameter="epsilon", value=1),
    )  # fmt: skip


def table(records):
    return Table.from_records(records, SPACE.attributes)


def exchanges(records):
    """Every table that differs by one exchange of places inside a stratum."""
    for i, j in itertools.combinations(range(len(records)), 2):
        (a, b, c), (d, e, f) = records[i], records[j]
        if a == d and b != e and c != f:
            yield [*(r for k, r in enumerate(records) if k not in (i, j)), (a, b, f), (d, e, c)]


def most_power(mechanism, records):
    """From the whole laws, outcome by outcome."""
    here = mechanism.law(SPACE.dataset(records), SPACE)
    found = [Fraction(0)]
    for other in exchanges(records):
        there = mechanism.law(SPACE.dataset(other), SPACE)
        both = here.against(there), there.against(here)
        found += [laws.largest_power(pair, LEVEL).upper.as_fraction() for pair in both]
    return max(found)


@pytest.mark.parametrize("kind", [PermutationSwapping, DerangementSwapping])
def test_no_small_table_is_told_apart_with_more_power(kind):
    generator = random.Random(7)
    for _ in range(60):
        records = [tuple(str(generator.randrange(n)) for n in (2, 3, 3)) for _ in range(generator.randrange(2, 6))]
        mechanism = swap(kind, Fraction(generator.randrange(0, 21), 20))
        bound = mechanism.power_on_table(promise(mechanism), table(records), LEVEL)
        known = most_power(mechanism, records)
        assert (bound is None) == (known == 0)
        if bound is not None:
            assert known <= bound.power.upper.as_fraction()


def test_permutation_swapping_of_many_equal_records_is_bounded_far_below_the_worst_universe():
    mechanism = swap(PermutationSwapping, "1/2")
    records = [("0", kin, place) for kin in ("0", "1") for place in ("0", "1") for _ in range(40)]
    found = mechanism.power_on_table(promise(mechanism), table(records), LEVEL)
    worst = mechanism.nearest_laws_of_table(promise(mechanism), table(records))
    assert float(found.power.upper) < 0.1
    assert float(max(laws.largest_power(pair, LEVEL).upper for pair in worst.above)) > 0.78


def test_the_universe_of_a_table_is_that_of_its_records():
    mechanism = swap(DerangementSwapping, "1/5")
    records = [("0", "0", "0"), ("0", "1", "1"), ("0", "2", "2"), ("1", "0", "0"), ("1", "0", "1")]
    spec = promise(mechanism)
    assert mechanism.nearest_laws_of_table(spec, table(records)) == mechanism.nearest_laws(spec, SPACE.dataset(records))


def test_four_binomial_cells_against_all_their_outcomes():
    """The bound is at least the power, and above it by little."""
    for corner in ((0, 0, 0, 0), (1, 2, 0, 3), (3, 3, 2, 2)):
        atoms = []
        for turned in (False, True):
            pairs = []
            for place, count in enumerate(corner):
                p, q = [*_binomial(count), Fraction(0)], _binomial(count + 1)
                pairs.append(list(zip(p, q, strict=True) if (place > 1) != turned else zip(q, p, strict=True)))
            mass = [(_times(a for a, _ in some), _times(b for _, b in some)) for some in itertools.product(*pairs)]
            atoms.append(_power(mass))
        found = corner_power(corner, Fraction(1, 3), LEVEL)
        assert max(atoms) <= Fraction(found) <= max(atoms) + Fraction(1, 500)


def _binomial(n):
    """With success probability 2/3."""
    return [Fraction(1, 3) ** (n - k) * Fraction(2, 3) ** k * _choose(n, k) for k in range(n + 1)]


def _choose(n, k):
    return Fraction(1) if k == 0 else _choose(n, k - 1) * (n - k + 1) / k


def _times(factors):
    product = Fraction(1)
    for factor in factors:
        product *= factor
    return product


def _power(mass):
    """Neyman and Pearson: the most telling outcomes first."""
    left, power = LEVEL, Fraction(0)
    for p, q in sorted(mass, key=lambda pair: (pair[0] > 0, -(pair[1] / pair[0]) if pair[0] else 0)):
        if p <= left:
            left, power = left - p, power + q
        elif left:
            power, left = power + q * left / p, Fraction(0)
    return power


def test_only_the_smallest_counts_are_kept():
    cells = {(("a",), ("x",)): 5, (("a",), ("y",)): 9, (("b",), ("x",)): 7, (("b",), ("y",)): 3, (("c",), ("x",)): 100}
    assert set(corners(cells)) == {(2, 4, 7, 9), (6, 8, 3, 5), (0, 0, 0, 0)} - {(0, 0, 0, 0)} | {(2, 99, 0, 7), (8, 99, 0, 5)}


def test_masses_are_those_of_the_binomial_law():
    assert abs(float(binomial(50, 0.3).sum()) - 1) < 1e-12


def test_a_single_value_cannot_be_exchanged():
    assert corners({(("a",), ("x",)): 5, (("b",), ("x",)): 2}) == ()
    mechanism = attrs.evolve(swap(PermutationSwapping, "1/2"))
    assert power_of_exchanges(mechanism.constants(), {(): {(("a",), ("x",)): 5}}, LEVEL, derange=False) is None
