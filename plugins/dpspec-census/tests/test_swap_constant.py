"""The exact constants of swapping against permutations written out, against the exact laws, and against the engine."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from functools import cache

import pytest
from dpspec_census import DerangementSwapping, PermutationSwapping
from dpspec_census.stratum import derangement_weights, permutation_weights
from dpspec_census.swap_budget import nominal_budget
from dpspec_census.swap_constant import (
    apart,
    derangement_constant,
    least_size_above,
    lone_slopes,
    permutation_constant,
    sizes_refuted,
    stays,
    two_values_bound,
)
from dpspec_census.swap_pair import lone, tables_at

from dpspec.base.exact import INFINITY, ZERO, ln
from dpspec.blocks.records import Households, UnorderedRecords
from dpspec.verifier.exhaustive import verify
from reproductions.swapping_universes import partitions, tables

RATES = [
    Fraction(*p)
    for p in ((1, 1000), (1, 20), (1, 10), (4, 9), (1, 2), (5, 9), (3, 5), (5, 8), (2, 3), (3, 4), (9, 10), (999, 1000))
]
BOTH = [(derangement_constant, derangement_weights), (permutation_constant, permutation_weights)]
IDS = ["derange", "permute"]


# --- a second implementation: every permutation, in fractions ---------------------------------------


def moved(permutation):
    return sum(place != value for place, value in enumerate(permutation))


@cache
def triples(n):
    """(d, m, m') for every permutation tau != id, up to renaming, and sigma: moved by tau, by sigma, and by sigma tau."""
    found = set()
    for cycles in partitions(n):
        tau, start = [], 0
        for length in cycles:
            tau += [start + (i + 1) % length for i in range(length)]
            start += length
        if moved(tau):
            found |= {(moved(tau), moved(s), moved([s[t] for t in tau])) for s in itertools.permutations(range(n))}
    return found


def chances(n, p, derange):
    """P(a given permutation that moves m of n), from the listings: sets of selected records that hold the m moved ones."""
    found = {}
    deranged = [sum(moved(s) == m for s in itertools.permutations(range(m))) for m in range(n + 1)]
    for m in (0, *range(2, n + 1)):
        if derange:
            found[m] = p**m * (1 - p) ** (n - m) / deranged[m]
        else:
            selected = range(m, n + 1)
            found[m] = sum(math.comb(n - m, s - m) * p**s * (1 - p) ** (n - s) / math.factorial(s) for s in selected)
    return found


def constant_of_permutations(n, p, derange):
    """The largest ln(f(m)/f(m')) / d, found with integer powers only: r^(1/d) is compared by r^(60/d)."""
    f = chances(n, p, derange)
    best, power = ZERO, Fraction(1)
    for d, m, other in triples(n):
        if (ratio := f[m] / f[other]) ** (60 // d) > power:
            power, best = ratio ** (60 // d), ln(ratio) / d
    return best


@pytest.mark.parametrize("n", [2, 3, 4, 5, pytest.param(6, marks=pytest.mark.long)])
@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize("derange", [True, False], ids=IDS)
def test_the_constant_is_the_largest_over_all_permutations(n, rate, derange):
    constant = (derangement_constant if derange else permutation_constant)(n, rate)
    assert constant.value.is_exact
    assert constant.value.lower == constant_of_permutations(n, rate, derange)


def test_no_permutation_moves_one_record_and_any_two_numbers_at_distance_two_or_more_occur():
    for n in range(2, 7):
        seen = triples(n)
        assert all(d >= 2 and 1 not in (m, other) and abs(m - other) <= d for d, m, other in seen)
        numbers = [0, *range(2, n + 1)]
        assert {(d, m, m + d) for m in numbers for d in range(2, n + 1 - m)} <= seen


# --- drop a hypothesis, see the counterexample ------------------------------------------------------


def test_three_records_are_an_exception():
    rate = Fraction(1, 10)
    assert constant_of_permutations(3, rate, derange=False) != ln(1 + 6 * 9 + 6 * 81) / 2
    assert constant_of_permutations(3, rate, derange=True) == ln(1458) / 3 > ln(9)


def test_three_values_a_side_break_the_bound_of_two():
    rate = Fraction(1, 20)
    margins = ((3, 2, 1), (3, 2, 1))
    assert derangement_constant(4, rate).value.lower > two_values_bound(4, rate)
    assert constant_of_universe(margins, rate, derangement_weights) > two_values_bound(6, rate)


def test_with_fewer_invariants_the_constant_is_infinite():
    here = derangement_weights((1, 0, 0, 1), 2, 1, 4)
    assert not set(here) & set(derangement_weights((1, 0, 1, 0), 2, 1, 4))  # one swap value less


def test_a_rate_of_one_makes_permutations_of_two_tables_alike_and_derangements_unlike():
    assert len({tuple(sorted(permutation_weights(cells, 2, 1, 0).items())) for cells in ((1, 0, 0, 1), (0, 1, 1, 0))}) == 1
    assert not set(derangement_weights((1, 0, 0, 1), 2, 1, 0)) & set(derangement_weights((0, 1, 1, 0), 2, 1, 0))


# --- against the exact laws -------------------------------------------------------------------------


def different(n, permutation=None):
    permutation = permutation or range(n)
    return tuple(int(permutation[i] == j) for i in range(n) for j in range(n))


@pytest.mark.parametrize("n", [2, 3, 4, 5, pytest.param(6, marks=pytest.mark.long), pytest.param(7, marks=pytest.mark.long)])
@pytest.mark.parametrize(("constant", "weights"), BOTH, ids=IDS)
def test_the_constant_is_that_of_the_exact_laws_where_all_values_differ(n, constant, weights):
    """x = id and x' of every cycle type: all pairs are a renaming of one of these."""
    for rate in RATES if n < 7 else RATES[1:5]:
        odds = rate.numerator, rate.denominator - rate.numerator
        here, best = weights(different(n), n, *odds), ZERO
        for cycles in partitions(n):
            x, start = [], 0
            for length in cycles:
                x += [start + (i + 1) % length for i in range(length)]
                start += length
            if not moved(x):
                continue
            there = weights(different(n, x), n, *odds)
            assert sum(there.values()) == sum(here.values())
            for ratio in {Fraction(here[y], there[y]) for y in here}:
                best = max(best, ln(ratio) / moved(x))
        assert constant(n, rate).value.lower == best == constant(n, rate).value.upper


@cache
def laws(margins, rate, weights):
    columns = len(margins[1])
    found = {}
    for table in tables(margins):
        cells = tuple(table.count((rest, swap)) for rest in range(len(margins[0])) for swap in range(columns))
        found[cells] = weights(cells, columns, rate.numerator, rate.denominator - rate.numerator)
    return found


def constant_of_universe(margins, rate, weights):
    best = (Fraction(1), 1)
    found = laws(margins, rate, weights)
    for (x, p), (other, q) in itertools.permutations(found.items(), 2):
        d = sum(abs(a - b) for a, b in zip(x, other, strict=True)) // 2
        total = Fraction(sum(q.values()), sum(p.values()))
        if set(p) != set(q):
            return INFINITY
        ratio = total * max(Fraction(p[y], q[y]) for y in p)
        if ratio ** best[1] > best[0] ** d:
            best = ratio, d
    return ln(best[0]) / best[1]


MARGINS = [pair for n in range(2, 6) for pair in itertools.combinations_with_replacement(partitions(n), 2)]
SIX = [((2, 2, 1, 1), (2, 2, 1, 1)), ((3, 2, 1), (3, 2, 1)), ((3, 1, 1, 1), (2, 2, 1, 1)), ((2, 2, 2), (2, 2, 1, 1))]


LARGER = [m for m in MARGINS if sum(m[0]) == 5 and max(len(m[0]), len(m[1])) < 5] + SIX


@pytest.mark.parametrize(
    "margins", [[m for m in MARGINS if sum(m[0]) < 5], pytest.param(LARGER, marks=pytest.mark.long)], ids=["small", "larger"]
)
@pytest.mark.parametrize(("constant", "weights"), BOTH, ids=IDS)
@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(1, 2), Fraction(5, 8), Fraction(9, 10)], ids=str)
def test_where_values_repeat_the_constant_falls_unless_the_theorem_says_that_it_stays(constant, weights, rate, margins):
    for rests, swaps in margins:
        whole = constant(sum(rests), rate)
        found = constant_of_universe((rests, swaps), rate, weights)
        assert found <= whole.value.lower
        kept = stays(whole, rests, swaps)
        assert kept is None or kept == (found == whole.value.lower), (rests, swaps)


@pytest.mark.parametrize("rate", [Fraction(1, 50), Fraction(1, 5), Fraction(1, 2), Fraction(3, 4), Fraction(19, 20)], ids=str)
def test_two_values_bound_the_constant_of_derangements(rate):
    for n in range(2, 7):
        bound = two_values_bound(n, rate)
        for rests, swaps in itertools.product(partitions(n), repeat=2):
            if len(rests) == 2 <= len(swaps) <= (4 if n < 5 else 2):
                assert constant_of_universe((rests, swaps), rate, derangement_weights) <= bound, (rests, swaps)


@pytest.mark.long
def test_four_rest_and_swap_values_keep_the_constant_of_six_records_below_the_other_branch():
    margins = SIX[0]
    rate = Fraction(1, 2)
    assert stays(derangement_constant(6, rate), *margins)
    assert constant_of_universe(margins, rate, derangement_weights) == derangement_constant(6, rate).value.lower
    assert not stays(derangement_constant(6, Fraction(9, 10)), *margins)
    assert (
        constant_of_universe(margins, Fraction(9, 10), derangement_weights) < derangement_constant(6, Fraction(9, 10)).value.lower
    )


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(1)], ids=str)
@pytest.mark.parametrize(("constant", "weights"), BOTH, ids=IDS)
def test_rates_zero_and_one(constant, weights, rate):
    for rests, swaps in MARGINS:
        if sum(rests) == 5 and len(rests) + len(swaps) > 8:
            continue
        whole = constant(sum(rests), rate)
        assert (constant_of_universe((rests, swaps), rate, weights) == INFINITY) == (
            stays(whole, rests, swaps) and whole.value.upper == INFINITY
        )
    assert whole.value.lower == (ZERO if constant is permutation_constant and rate == 1 else INFINITY)
    assert constant(1, rate).value.upper == constant(0, rate).value.upper == ZERO


def test_apart_is_decided_as_by_listing():
    def listed(rests, swaps):
        found = [set(table) for table in tables((rests, swaps))]
        return any(not a & b for a, b in itertools.combinations_with_replacement(found, 2))

    said = Counter()
    for n in range(1, 7):
        for rests, swaps in itertools.product(partitions(n), repeat=2):
            answer = apart(rests, swaps)
            said[answer] += 1
            assert answer is None or answer == listed(rests, swaps), (rests, swaps)
    assert said[True] > 10 < said[False]


# --- any size ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("constant", [derangement_constant, permutation_constant])
def test_the_constant_grows_with_the_stratum_and_stays_near_the_printed_one(constant):
    for rate in RATES:
        odds = rate / (1 - rate)
        values = [constant(n, rate).value for n in (*range(2, 30), *range(97, 104))]
        assert all(a.lower <= b.upper for a, b in itertools.pairwise(values))
        for n, value in zip((*range(2, 30), *range(97, 104)), values, strict=True):
            assert value.upper <= max(ln(odds), ln(1 + n / odds))


@pytest.mark.parametrize("n", [101, 102, 500])
def test_beyond_one_hundred_records_the_ratio_of_derangement_numbers_lies_in_its_bracket(n):
    numbers = [1, 0]
    for m in range(2, n + 1):
        numbers.append((m - 1) * (numbers[-1] + numbers[-2]))
    exact = ln(Fraction(numbers[n], numbers[n - 2])) / 2
    found = derangement_constant(n, Fraction(1, 2)).value
    assert found.lower <= exact <= found.upper
    assert not found.is_exact


@pytest.mark.parametrize("n", [853003, 13680081, 10**30])
@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(1, 2), Fraction(99, 100)], ids=str)
def test_derangements_keep_the_printed_budget_at_any_size_and_come_within_three_halves_over_n(n, rate):
    value, printed = derangement_constant(n, rate).value, nominal_budget(n, rate)
    assert value.upper < printed
    assert printed - value.lower < ln(1 + Fraction(2, n))


@pytest.mark.reference("B-T11", "B-X2")
def test_the_printed_form_is_false_for_permutations_exactly_at_the_sizes_that_are_told():
    for rate in [*RATES, Fraction(7, 12), Fraction(599, 1000), Fraction(601, 1000), Fraction(57, 100), Fraction(9, 16)]:
        told = sizes_refuted(rate, "s23-full")
        for n in range(2, 40):
            false = permutation_constant(n, rate).value.lower > nominal_budget(n, rate)
            assert false == any(least <= n and (most is None or n <= most) for least, most in told), (rate, n)
            assert permutation_constant(n, rate).value.lower != nominal_budget(n, rate)


@pytest.mark.reference("B-T11", "B-T12")
def test_derangements_attain_the_printed_budget_exactly_where_o_squared_is_at_least_b_plus_one():
    for rate in RATES:
        odds = rate / (1 - rate)
        for n in range(2, 40):
            value, printed = derangement_constant(n, rate).value.upper, nominal_budget(n, rate)
            assert value <= printed
            assert (value == printed) == (odds**2 >= n + 1)


def test_the_least_size_above_a_number():
    for constant in (derangement_constant, permutation_constant):
        for epsilon in (ZERO, ln(2), ln(1000), ln(10**9)):
            for rate in (Fraction(1, 20), Fraction(1, 2), Fraction(9, 10)):
                n = least_size_above(constant, rate, epsilon)
                assert constant(n, rate).value.lower > epsilon
                assert n == 2 or constant(n - 1, rate).value.lower <= epsilon
    assert least_size_above(permutation_constant, Fraction(1), ZERO) is None
    assert least_size_above(derangement_constant, Fraction(1), ln(7)) == 2


# --- the pairs --------------------------------------------------------------------------------------


def as_cells(table, rests, swaps):
    return tuple(table.get((rest, swap), 0) for rest in range(rests) for swap in range(swaps))


@pytest.mark.parametrize(("constant", "weights"), BOTH, ids=IDS)
def test_the_pair_attains_the_constant_under_the_exact_laws(constant, weights):
    for n in range(2, 8):
        for rate in RATES if n < 6 else RATES[3:5]:
            for slope in constant(n, rate).slopes:
                values = max(n, 5) if n < 6 else 4 + n % 2
                found = tables_at(slope, n, values, values)
                if found is None:
                    assert n >= 6
                    continue
                x, other, y = (as_cells(table, values, values) for table in found)
                odds = rate.numerator, rate.denominator - rate.numerator
                one, two = weights(x, values, *odds), weights(other, values, *odds)
                d = sum(abs(a - b) for a, b in zip(x, other, strict=True)) // 2
                assert d == slope.exchanged
                assert ln(Fraction(one[y], sum(one.values())) / Fraction(two[y], sum(two.values()))) / d == slope.value.lower


@pytest.mark.parametrize(("derange", "weights"), [(True, derangement_weights), (False, permutation_weights)], ids=IDS)
def test_the_slopes_of_the_lone_record_are_those_of_the_exact_laws(derange, weights):
    for n, rate in itertools.product(range(2, 8), RATES):
        met, parted = (as_cells(table, 2, 2) for table in lone(n))
        odds = rate.numerator, rate.denominator - rate.numerator
        one, two = weights(met, 2, *odds), weights(parted, 2, *odds)
        scale = Fraction(sum(two.values()), sum(one.values()))
        found = lone_slopes(n, rate, derange=derange)
        assert [slope.lower for slope in found] == [
            ln(scale * one[met] / two[met]) / 2,
            -ln(scale * one[parted] / two[parted]) / 2,
        ]


def test_the_slopes_of_the_lone_record_where_the_powers_are_long():
    short, exact = lone_slopes(2000, Fraction(1, 2), derange=True)[0], lone_slopes(1000, Fraction(1, 2), derange=True)[0]
    assert exact.is_exact
    assert short.lower < short.upper < short.lower + Fraction(1, 10**100)
    assert lone_slopes(2000, Fraction(1, 10**300), derange=True) is None


# --- in a space -------------------------------------------------------------------------------------


def space_of(rests=5, swaps=5, most=None, matches=1, least=0):
    attributes = [{"name": "match", "count": matches}, {"name": "rest", "count": rests}, {"name": "swap", "count": swaps}]
    return UnorderedRecords(attributes=attributes, unit="household", most=most, least=least)


def swap_of(cls, rate="1/20", **given):
    return cls(match=["match"], swap=["swap"], swap_rate=rate, **given)


CLASSES = [DerangementSwapping, PermutationSwapping]


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("n", [2, 4, 5, 6, 7, 101, 13680081])
def test_five_values_attain_the_constant_at_every_size_but_three(cls, n):
    mechanism = swap_of(cls)
    found = mechanism.constant(space_of(), {("0",): n})
    assert found.value.lower == mechanism.stratum_constant(n, Fraction(1, 20)).value.lower
    assert found.value.upper == mechanism.stratum_constant(n, Fraction(1, 20)).value.upper
    assert sum(found.pair.likely.values()) == sum(found.pair.unlikely.values()) == sum(found.pair.output.values()) == n
    assert len(found.pair.output) <= 7


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("rate", ["1/20", "3/5", "9/10"])
@pytest.mark.parametrize(("rests", "swaps", "most"), [(2, 2, 3), (3, 2, 2), (3, 3, 3), (1, 4, 2), (2, 2, 1)])
def test_the_constant_of_a_space_is_that_of_the_engine_or_brackets_it(cls, rate, rests, swaps, most):
    mechanism, space = swap_of(cls, rate), space_of(rests, swaps, most)
    found = mechanism.constant(space)
    claim = mechanism.claims(space)[0]
    exact = max(universe.constant.lower for universe in verify(mechanism, claim.spec).universes)
    assert found.value.lower <= exact <= found.value.upper
    if found.pair is not None:
        x, other, y = found.pair.datasets(mechanism.scheme(), space)
        p, q = mechanism.law(x, space).probability(y), mechanism.law(other, space).probability(y)
        assert ln(p / q) / found_distance(found.pair) == found.value.lower


def found_distance(pair):
    one, other = Counter(pair.likely), Counter(pair.unlikely)
    return (one - other).total()


def test_strata_of_different_sizes_and_rates_have_the_largest_of_their_constants():
    rates = [{"stratum": ["1"], "swap_rate": "1/10"}]
    for cls in CLASSES:
        mechanism, space = swap_of(cls, "1/2", rates=rates), space_of(3, 3, most=5, matches=2)
        for sizes in ({("0",): 3, ("1",): 2}, {("0",): 2, ("1",): 3}, {("0",): 1, ("1",): 2}, {("0",): 3}):
            found = mechanism.constant(space, sizes)
            assert found.value.is_exact
            assert found.value.lower == max(
                mechanism.stratum_constant(n, Fraction(1, 10) if s == ("1",) else Fraction(1, 2)).value.lower
                for s, n in sizes.items()
            )


def test_the_engine_agrees_on_strata_with_different_rates():
    mechanism, space = (
        swap_of(DerangementSwapping, "1/4", rates=[{"stratum": ["1"], "swap_rate": "1/10"}]),
        space_of(2, 2, most=3, matches=2),
    )
    for universe in verify(mechanism, mechanism.claims(space)[0].spec).universes:
        if universe.attained is not None:
            sizes = Counter(record[:1] for record in space.records(universe.attained[0], "household"))
            assert universe.constant.lower <= mechanism.constant(space, sizes).value.upper
            if sizes.total() == 2:
                assert universe.constant.lower == mechanism.constant(space, sizes).value.lower == ln(9 if sizes[("1",)] else 3)


def test_an_unlimited_space_has_no_finite_constant_and_a_pair_above_every_number():
    for cls in CLASSES:
        for space in (space_of(), space_of(2, 2)):
            mechanism = swap_of(cls)
            assert mechanism.constant(space).value.lower == INFINITY
            pair = mechanism.constants().pair_above(ln(10**6), space)
            assert pair.slope.lower > ln(10**6)
    assert swap_of(PermutationSwapping, 1).constant(space_of()).value.upper == ZERO
    assert swap_of(DerangementSwapping, 1).constant(space_of()).value.lower == INFINITY
    assert swap_of(DerangementSwapping).constant(space_of(1, 5)).value.upper == ZERO


def test_a_pair_refutes_the_printed_form_for_permutations_in_the_space_itself():
    pair = swap_of(PermutationSwapping, "3/4").constants().pair_against("s24", space_of())
    assert sum(pair.likely.values()) in (7, 8)
    assert pair.slope.lower > nominal_budget(sum(pair.likely.values()), Fraction(3, 4), "s24")
    assert swap_of(PermutationSwapping, "3/4").constants().pair_against("s24", space_of(most=6)) is None
    assert swap_of(DerangementSwapping, "3/4").constants().pair_against("s23-full", space_of()) is None


def test_the_constant_of_one_universe():
    space = space_of(6, 6)
    rows = [("0", str(i), str(i)) for i in range(4)]
    swap = swap_of(DerangementSwapping).constants()
    assert swap.of_universe(space.dataset(rows), space).lower == derangement_constant(4, Fraction(1, 20)).value.lower
    merged = swap.of_universe(space.dataset([*rows[:3], rows[2]]), space)
    assert merged.lower == ZERO
    assert merged.upper == derangement_constant(4, Fraction(1, 20)).value.upper
    assert swap.of_universe(space.dataset([("0", "1", str(i)) for i in range(4)]), space).upper == ZERO


def test_households_with_nested_places():
    space = Households(
        household=[
            {"name": "state", "count": 2},
            {"name": "county", "count": 10, "within": "state"},
            {"name": "block", "count": 40, "within": "county"},
        ],
        person=[{"name": "age", "count": 3}],
    )
    mechanism = DerangementSwapping(match=["state"], swap=["county", "block"], swap_rate="1/2")
    found = mechanism.constant(space, {("0",): 8, ("1",): 1})
    assert found.value.is_exact
    x, other, y = found.pair.datasets(mechanism.scheme(), space)
    assert space.dataset(x) == x
    assert mechanism.scheme().multiverse(space).share_universe(x, other, space)
    p, q = mechanism.law(x, space).probability(y), mechanism.law(other, space).probability(y)
    assert ln(p / q) / 2 == found.value.lower == derangement_constant(8, Fraction(1, 2)).value.lower


def test_a_place_in_the_match_fixes_the_coarser_ones():
    """Matched on the county, all records of a stratum lie in one state: with nothing else held there is one table."""
    places = [{"name": "state", "count": 2}, {"name": "county", "count": 4, "within": "state"}, {"name": "kin", "count": 3}]
    space = UnorderedRecords(attributes=places, unit="household")
    mechanism = DerangementSwapping(match=["county"], swap=["kin"], swap_rate="1/4")
    assert mechanism.constant(space, {("3",): 6}).value.upper == mechanism.constant(space).value.upper == ZERO


def test_a_pair_has_as_many_records_as_the_space_asks_for():
    """Two records have a larger slope than any pair of five with two values a side, but are too few here."""
    mechanism = swap_of(DerangementSwapping, "99/100")
    found = mechanism.constant(space_of(2, 2, most=5, least=5))
    assert sum(found.pair.likely.values()) == 5
    assert found.value.lower < mechanism.constant(space_of(2, 2, most=5)).value.lower == ln(99)


def test_the_branch_ln_o_needs_all_values_to_differ():
    assert stays(derangement_constant(6, Fraction(1, 2)), *SIX[0])
    assert not stays(derangement_constant(6, Fraction(9, 10)), *SIX[0])
    assert stays(derangement_constant(6, Fraction(9, 10)), [1] * 6, [1] * 6)
