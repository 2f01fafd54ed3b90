"""The swapped table of Massachusetts 1940 is a plausible draw: every printed cell lies within six exact standard deviations.

The law of a cell, conditional on the table. A stratum of n records has a in the row (tenure), b in the column (county), c in
both; X counts the records of the row that have the column's value after a derangement swap of m selected records, m binomial
and never 1. With w = m(m - 1) D_{m-2}/D_m (0 for m = 0), and (n)_k for falling factorials, the chances that one record, or two
different ones, get the values of given records are

    stays           (n - m)/n                   gets a given other one's          m/(n)_2
    both stay       (n - m)(n - m - 1)/(n)_2    one stays, one gets another one's m(n - m)/(n)_3
    exchange        w/(n)_2                     i gets that of i', i' a third's   (m - w)/(n)_3
    two others'     (m(m - 3) + w)/(n)_4

in the mean over m; so the mean and the variance of X are linear in the means of m, m^2 and w. On small strata they are compared
with the law that the mechanism itself lists. The sources print household sizes for one stratum alone (264,331 of two persons);
the others are made up, and so is their independence of county and tenure: what is shown holds for the table that is built here.

Errors. A true draw lies outside of six standard deviations in one of the 14 free cells (the rented ones follow from the owned
ones) with a chance of about 3e-8, by the normal law. A swap of the rate 2/5 in place of 1/2 has a mean 20 of these
standard deviations away in one cell, which a test computes, and is missed with a chance below 1e-40.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import attrs
import pytest
from dpspec_census import DerangementSwapping
from dpspec_census.massachusetts import DWELLINGS_BY_SIZE, PRINTED, PRINTED_SWAPPED, Massachusetts1940, county_table

from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.records import UnorderedRecords
from reproductions.massachusetts import SPACE, massachusetts_swap

HALF = Fraction(1, 2)
DEVIATIONS = 6
FAR = 300
"""Strata of more than this many records have w = 1 but for less than 2^-1000 in the mean."""


@attrs.frozen
class Moments:
    """The means of m, m^2 and w over the number m of selected records."""

    first: Fraction
    second: Fraction
    w: Fraction


def derangements(count):
    numbers = [1, 0]
    while len(numbers) <= count:
        numbers.append((len(numbers) - 1) * (numbers[-1] + numbers[-2]))
    return numbers


def small(n, p):
    """By the sum over m."""
    chances = {m: math.comb(n, m) * p**m * (1 - p) ** (n - m) for m in range(n + 1) if m != 1}
    total, d = sum(chances.values()), derangements(n)

    def mean(values):
        return sum(chance * values(m) for m, chance in chances.items()) / total

    return Moments(
        mean(Fraction),
        mean(lambda m: Fraction(m * m)),
        mean(lambda m: Fraction(m * (m - 1) * d[m - 2], d[m]) if m else Fraction(0)),
    )


def large(n, p):
    """Of a large stratum, as if one alone were never selected and w were 1: `slack` bounds what that changes."""
    return Moments(n * p, n * p * (1 - p) + (n * p) ** 2, Fraction(1))


def slack(n, p):
    """An upper bound of P(m = 1), P(m = 0) and of the mean of |w - 1| (w <= 2, and |w - 1| <= 3/(m - 1)! from m = 2 on)."""
    few = (FAR + 1) * math.comb(n, FAR) * max(p, 1 - p) ** n
    return few + Fraction(3, math.factorial(FAR - 1))


def ratio(top, *factors):
    """0/0 counts as 0: there is no such pair of records."""
    return Fraction(top) / math.prod(factors) if top else Fraction(0)


def stratum(n, a, b, c, of):
    """The exact mean and variance of X in one stratum."""
    moved = ratio(of.first, n, n - 1) if n > 1 else Fraction(0)
    mean = c * (1 - of.first / n) + (a * b - c) * moved
    pairs, touching = c * (c - 1), c * ((a - 1) * (b - 1) - (c - 1))
    apart = a * (a - 1) * b * (b - 1) - 2 * pairs - 4 * touching
    products = (
        ratio(pairs * (n * (n - 1) - (2 * n - 1) * of.first + of.second + of.w), n, n - 1)
        + ratio(2 * touching * ((n + 1) * of.first - of.second - of.w), n, n - 1, n - 2)
        + ratio(apart * (of.second - 3 * of.first + of.w), n, n - 1, n - 2, n - 3)
    )
    return mean, products + mean - mean**2


# --- the formulas --------------------------------------------------------------------------------


@pytest.mark.reference("B-A3")
@pytest.mark.parametrize("rate", ["1/5", "1/2", "1"])
@pytest.mark.parametrize("records", ["00 01", "00 00 11", "00 01 10 11", "00 00 01 11", "00 01 01 11 12", "00 00 11 11 12"])
def test_the_mean_and_the_variance_are_those_of_the_listed_law(records, rate):
    pairs = tuple(tuple(record) for record in records.split())
    space = UnorderedRecords(attributes=[{"name": "tenure", "count": 2}, {"name": "county", "count": 3}], unit="household")
    law = DerangementSwapping(swap=["county"], swap_rate=rate).law(space.dataset(pairs), space)
    of = small(len(pairs), Fraction(rate))
    for cell in {(row, column) for row in "01" for column in "012"}:
        values = [(z.count(cell), law.probability(z)) for z in law.support]
        mean = sum(value * chance for value, chance in values)
        variance = sum(value**2 * chance for value, chance in values) - mean**2
        a, b = (sum(pair[place] == cell[place] for pair in pairs) for place in (0, 1))
        assert stratum(len(pairs), a, b, pairs.count(cell), of) == (mean, variance)


@pytest.mark.parametrize("p", [HALF, Fraction(2, 5)])
def test_a_large_stratum_is_as_good_as_one_without_exceptions(p):
    assert slack(min(DWELLINGS_BY_SIZE.values()), p) < Fraction(1, 2**1000)
    exact, rough = small(100, p), large(100, p)
    assert all(
        abs(x - y) < Fraction(1, 10) ** 6 for x, y in zip(attrs.astuple(exact), attrs.astuple(rough), strict=True) if x != 1
    )


# --- the printed table ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built():
    return Massachusetts1940().build()


def cells(built, p):
    """Mean and variance of every cell of county x tenure, summed over the nine independent strata."""
    every = built.counts(("persons", "tenure", "county"))
    rows, columns = Counter(), Counter()
    for (size, tenure, county), count in every.items():
        rows[size, tenure] += count
        columns[size, county] += count
    found = {}
    for county, tenure in PRINTED:
        strata = [
            stratum(n, rows[size, tenure], columns[size, county], every.get((size, tenure, county), 0), large(n, p))
            for size, n in DWELLINGS_BY_SIZE.items()
        ]
        found[county, tenure] = tuple(map(sum, zip(*strata, strict=True)))
    return found


def outside(table, law):
    """The cells that lie beyond six standard deviations; decided in fractions, with a millionth more on either side left off."""
    room = Fraction(DEVIATIONS**2) * (1 - Fraction(1, 10**6))
    return [cell for cell, (mean, variance) in law.items() if (table[cell] - mean) ** 2 > room * variance]


@pytest.mark.reference("B-N5")
def test_the_printed_swapped_table_is_a_plausible_draw(built):
    law = cells(built, HALF)
    assert sum(mean for mean, _ in law.values()) == len(built)
    assert outside(PRINTED_SWAPPED, law) == []
    deviations = {cell: float(PRINTED_SWAPPED[cell] - mean) / float(v) ** 0.5 for cell, (mean, v) in law.items()}
    assert max(map(abs, deviations.values())) == pytest.approx(3.09, abs=0.005)


@pytest.mark.statistical
@pytest.mark.reference("B-N5")
def test_a_draw_of_ours_is_one_too(built):
    law = cells(built, HALF)
    for seed in (1, 2):
        drawn = massachusetts_swap(HALF).release(built, SPACE, SeededRandomness(seed))
        assert outside(county_table(drawn), law) == []


@pytest.mark.reference("B-N5")
def test_other_swaps_are_told_apart(built):
    law, other = cells(built, HALF), cells(built, Fraction(2, 5))
    away = max(abs(other[cell][0] - mean) / float(v) ** 0.5 for cell, (mean, v) in law.items())
    assert 20 < away < 21
    assert outside(PRINTED, law)
    drawn = massachusetts_swap(Fraction(2, 5)).release(built, SPACE, SeededRandomness(1))
    assert outside(county_table(drawn), law)
