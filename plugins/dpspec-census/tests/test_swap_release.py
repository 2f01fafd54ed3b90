"""Releases at scale: what they keep, and a test that each release follows the law of the listing.

Size and errors of the statistical test. One release swaps 20,000 equal strata of four records; the strata are
independent, so the counts of their tables are multinomial with the probabilities of the law, and Pearson's statistic is
compared with the chi-square quantile of level 1e-9 (the false alarm of each of the 10 correct cases). The noncentrality of
every broken variant at 20,000 strata is above 600, which the test computes, so that one is missed with a probability below 1e-9.
(A single one left alone shows least at high rates, and deranged values least at low ones: those rates are left out.)
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from dpspec_census import DerangementSwapping, PermutationSwapping, PreNoise
from scipy.stats import chi2, ncx2

from dpspec.base.errors import TableError
from dpspec.base.randomness import KeyedPlaces, SeededRandomness, SystemRandomness
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.grammar.tables import Table

STRATA = 20_000
LEVEL = 1e-9
KINDS = ((0, 0), (0, 1), (1, 1), (1, 2))
"""(rest, swap) of the four records of every stratum."""

ATTRIBUTES = (
    Attribute(name="match", count=STRATA),
    Attribute(name="rest", count=2),
    Attribute(name="swap", count=3),
)
SPACE = UnorderedRecords(attributes=ATTRIBUTES, unit="household")
BOTH = [DerangementSwapping, PermutationSwapping]


def equal_strata():
    codes = {
        "match": np.tile(np.arange(STRATA), len(KINDS)),
        "rest": np.repeat([rest for rest, _ in KINDS], STRATA),
        "swap": np.repeat([swap for _, swap in KINDS], STRATA),
    }
    return Table(attributes=ATTRIBUTES, codes=codes)


def observed(table):
    """How many strata hold each table of (rest, swap)."""
    order = np.argsort(table.codes["match"], kind="stable")
    kinds = table.key(["rest", "swap"])[order].reshape(STRATA, len(KINDS)).T
    tables, counts = np.unique(np.sort(kinds, axis=0), axis=1, return_counts=True)
    return {tuple(divmod(int(kind), 3) for kind in column): int(n) for column, n in zip(tables.T, counts, strict=True)}


def expected(mechanism):
    """The law of one stratum, from the mechanism itself."""
    space = UnorderedRecords(attributes=ATTRIBUTES[1:], unit="household")
    law = type(mechanism)(swap=["swap"], swap_rate=mechanism.swap_rate).law(space.dataset(KINDS), space)
    return {tuple(sorted((int(r), int(s)) for r, s in z)): float(law.probability(z)) for z in law.support}


def rejects(counts, law):
    """Pearson's test at LEVEL; an outcome that the law excludes rejects at once."""
    if set(counts) - set(law):
        return True
    total = sum(counts.values())
    statistic = sum((counts.get(z, 0) - total * p) ** 2 / (total * p) for z, p in law.items())
    return statistic > chi2.isf(LEVEL, len(law) - 1)


def variant(rate, rule):
    """The law of one stratum under a wrong reading of B-A3, by brute force.

    left: exactly one selected record is left alone instead of redrawn. values: no selected record may keep its *value*
    (when that is impossible, nothing moves). permuted: any permutation.
    """
    law, redraw = defaultdict(Fraction), Fraction(0)
    for coins in itertools.product([0, 1], repeat=len(KINDS)):
        chance = math.prod(rate if coin else 1 - rate for coin in coins)
        selected = [place for place, coin in enumerate(coins) if coin]
        if len(selected) == 1 and rule == "values":
            redraw += chance
            continue

        def allowed(arrangement, selected=selected):
            pairs = list(zip(selected, arrangement, strict=True))
            if rule == "values":
                return all(KINDS[a][1] != KINDS[b][1] for a, b in pairs)
            return rule == "permuted" or len(selected) == 1 or all(a != b for a, b in pairs)

        choices = [s for s in itertools.permutations(selected) if allowed(s)] or [tuple(selected)]
        for arrangement in choices:
            after = list(KINDS)
            for place, giver in zip(selected, arrangement, strict=True):
                after[place] = (KINDS[place][0], KINDS[giver][1])
            law[tuple(sorted(after))] += chance / len(choices)
    return {z: float(p / (1 - redraw)) for z, p in law.items() if p}


@pytest.mark.statistical
@pytest.mark.reference("B-A3")
@pytest.mark.reference("B-A4")
@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize("rate", ["1/5", "1/2", "3/4", "1"])
def test_a_release_follows_the_law(mechanism, rate):
    swap = mechanism(match=["match"], swap=["swap"], swap_rate=rate)
    released = swap.release(equal_strata(), SPACE, SeededRandomness(20))
    assert not rejects(observed(released), expected(swap))


@pytest.mark.statistical
@pytest.mark.reference("B-S7")
@pytest.mark.reference("B-S9")
@pytest.mark.reference("B-X2")
@pytest.mark.parametrize(
    ("rule", "rate"),
    [("left", "1/5"), ("left", "1/2"), ("values", "1/2"), ("values", "3/4"), ("permuted", "1/5"), ("permuted", "3/4")],
)
def test_the_same_test_rejects_every_wrong_reading(rule, rate):
    wrong = variant(Fraction(rate), rule)
    right = expected(DerangementSwapping(match=["match"], swap=["swap"], swap_rate=rate))
    outcomes = sorted(set(right) | set(wrong))
    assert set(wrong) <= set(right)
    noncentrality = STRATA * sum((wrong.get(z, 0) - right[z]) ** 2 / right[z] for z in outcomes)
    assert ncx2.cdf(chi2.isf(LEVEL, len(right) - 1), len(right) - 1, noncentrality) < 1e-9
    drawn = np.random.default_rng(3).multinomial(STRATA, [wrong.get(z, 0) for z in outcomes])
    assert rejects({z: int(n) for z, n in zip(outcomes, drawn, strict=True) if n}, right)


@pytest.mark.statistical
@pytest.mark.reference("B-X2")
def test_a_permutation_is_no_derangement():
    permuting, deranging = (m(match=["match"], swap=["swap"], swap_rate="1/2") for m in BOTH[::-1])
    released = permuting.release(equal_strata(), SPACE, SeededRandomness(4))
    assert not rejects(observed(released), expected(permuting))
    assert rejects(observed(released), expected(deranging))


def uneven_table(records=3000):
    """Strata of very different sizes, singletons among them, and every record of its own kind."""
    source = np.random.default_rng(7)
    attributes = (
        *(Attribute(name=n, count=40) for n in ("a", "b")),
        Attribute(name="rest", count=records),
        *(Attribute(name=n, count=records) for n in ("first", "second")),
    )
    codes = {n: np.minimum(source.geometric(0.2, records), 40) - 1 for n in ("a", "b")}
    codes |= {n: np.arange(records) for n in ("rest", "first", "second")}
    return Table(attributes=attributes, codes=codes)


@pytest.mark.reference("B-D23")
@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize("rate", ["0", "1/20", "1/2", "1"])
def test_a_release_keeps_the_invariants_and_moves_columns_together(mechanism, rate):
    table = uneven_table()
    swap = mechanism(match=["a", "b"], swap=["first", "second"], swap_rate=rate)
    space = UnorderedRecords(attributes=table.attributes, unit="household")
    released = swap.release(table, space, SystemRandomness())
    for marginal in (("a", "b", "rest"), ("a", "b", "first"), ("a", "b", "first", "second")):
        assert released.counts(marginal) == table.counts(marginal)
    order = np.argsort(released.codes["rest"])
    codes = {name: column[order] for name, column in released.codes.items()}
    for column in ("a", "b", "rest"):
        assert np.array_equal(codes[column], table.codes[column])
    assert np.array_equal(codes["first"], codes["second"])
    moved = codes["first"] != table.codes["first"]
    if rate == "0":
        assert not moved.any()
    if rate == "1" and mechanism is DerangementSwapping:
        sizes = Counter(table.key(("a", "b")).tolist())
        several = np.asarray([sizes[key] > 1 for key in table.key(("a", "b")).tolist()])
        assert np.array_equal(moved, several)


def test_a_seeded_release_can_be_repeated():
    swap = DerangementSwapping(match=["a"], swap=["first"], swap_rate="1/3")
    table = uneven_table()
    space = UnorderedRecords(attributes=table.attributes, unit="household")
    once, again = (swap.release(table, space, SeededRandomness(5)).codes["first"] for _ in range(2))
    assert np.array_equal(once, again)


class FewKeys(KeyedPlaces):
    """A source whose 64-bit words take eight values only, so that keys tie all the time."""

    def words_at(self, stream, places):
        return super().words_at(stream, places) >> np.uint64(61) << np.uint64(61)


class FewKeyed(SeededRandomness):
    def placed(self):
        return FewKeys(super().placed().key, fit_for_publication=False)


@pytest.mark.statistical
def test_tied_keys_are_read_on():
    swap = PermutationSwapping(match=["match"], swap=["swap"], swap_rate=1)
    released = swap.release(equal_strata(), SPACE, FewKeyed(6))
    assert not rejects(observed(released), expected(swap))


def test_a_table_without_the_columns_is_refused():
    table = uneven_table()
    space = UnorderedRecords(attributes=ATTRIBUTES, unit="household")
    with pytest.raises(TableError, match="not in the table"):
        DerangementSwapping(match=["match"], swap=["swap"], swap_rate="1/2").release(table, space, SystemRandomness())


@pytest.mark.parametrize("wrapped", [False, True])
def test_strata_that_are_not_numbered_in_64_bits_are_refused_without_a_table(wrapped):
    """The budget was spent before the table was refused."""
    names = ["street", "day"]
    places = [Attribute(name=name, count=1 << 32) for name in names]
    space = UnorderedRecords(attributes=(*places, Attribute(name="swap", count=2)), unit="household")
    swap = PermutationSwapping(swap=["swap"], match=names, swap_rate="1/2")
    mechanism = PreNoise(mechanism=swap, rate="1/2") if wrapped else swap
    mechanism.check(space)
    with pytest.raises(TableError, match="too many combinations to number"):
        mechanism.check_release(space)
