"""The swapping laws against brute force straight from the listings: every selection, every permutation, in Fractions."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction

import pytest
from dpspec_census import DerangementSwapping, PermutationSwapping
from dpspec_divergences import Hamming, Mult, SymmetricDifference

from dpspec.base.errors import IncompatibleBlocksError, ParameterError
from dpspec.base.exact import ln, number
from dpspec.blocks.records import ContingencyTables, Households, OrderedRecords, UnorderedRecords

RATES = [Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(3, 4), Fraction(1)]
BOTH = [DerangementSwapping, PermutationSwapping]
ATTRIBUTES = [{"name": "match", "count": 2}, {"name": "rest", "count": 2}, {"name": "swap", "count": 2}]


def space_of(least=0, most=None, attributes=ATTRIBUTES, cls=UnorderedRecords):
    return cls(attributes=attributes, least=least, most=most, unit="household")


# --- the oracle: the listings, word by word ------------------------------------------------------------


def moved_tables(records, selected, arrangement):
    """Line 17 to 19 of the listing: k(i) <- k0(sigma(i)) for every selected i."""
    after = list(records)
    for place, source in zip(selected, arrangement, strict=True):
        match, rest, _ = records[place]
        after[place] = (match, rest, records[source][2])
    return tuple(sorted(after))


def listing_derangement(records, rate):
    """B-A3 for one stratum, redrawing as a geometric series: P(outcome) = P(outcome before a redraw) / (1 - P(redraw))."""
    if len(records) < 2:
        return {tuple(sorted(records)): Fraction(1)}
    law, redraw = defaultdict(Fraction), Fraction(0)
    for coins in itertools.product([0, 1], repeat=len(records)):
        chance = math.prod(rate if coin else 1 - rate for coin in coins)
        selected = [place for place, coin in enumerate(coins) if coin]
        if len(selected) == 1:
            redraw += chance
            continue
        choices = [s for s in itertools.permutations(selected) if all(a != b for a, b in zip(s, selected, strict=True))]
        for arrangement in choices:
            law[moved_tables(records, selected, arrangement)] += chance / len(choices)
    return {table: chance / (1 - redraw) for table, chance in law.items() if chance}


def listing_permutation(records, rate):
    """B-A4 for one stratum: any permutation of the selected records, all equally likely."""
    law = defaultdict(Fraction)
    for coins in itertools.product([0, 1], repeat=len(records)):
        chance = math.prod(rate if coin else 1 - rate for coin in coins)
        selected = [place for place, coin in enumerate(coins) if coin]
        choices = list(itertools.permutations(selected))
        for arrangement in choices:
            law[moved_tables(records, selected, arrangement)] += chance / len(choices)
    return {table: chance for table, chance in law.items() if chance}


def listing(records, rate, one_stratum):
    """The loop over strata."""
    law = {(): Fraction(1)}
    for match in sorted({record[0] for record in records}):
        stratum = one_stratum([record for record in records if record[0] == match], rate)
        law = {(*done, *table): p * q for done, p in law.items() for table, q in stratum.items()}
    merged = defaultdict(Fraction)
    for table, chance in law.items():
        merged[tuple(sorted(table))] += chance
    return dict(merged)


ORACLES = [(DerangementSwapping, listing_derangement), (PermutationSwapping, listing_permutation)]


@pytest.mark.spread(4)
@pytest.mark.reference("B-A3")
@pytest.mark.reference("B-A4")
@pytest.mark.parametrize(("mechanism", "oracle"), ORACLES)
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_the_law_is_that_of_the_listing_for_every_dataset_of_up_to_four_records(mechanism, oracle, rate):
    space = space_of(most=4)
    swap = mechanism(match=["match"], swap=["swap"], swap_rate=rate)
    for dataset in space.datasets():
        law = swap.law(dataset, space)
        assert {z: law.probability(z) for z in law.support} == listing(dataset, rate, oracle), dataset


@pytest.mark.parametrize(("mechanism", "oracle"), ORACLES)
def test_one_stratum_of_three_categories_a_side_and_five_records(mechanism, oracle):
    space = space_of(attributes=[{"name": "match", "count": 1}, {"name": "rest", "count": 3}, {"name": "swap", "count": 3}])
    swap = mechanism(match=["match"], swap=["swap"], swap_rate="2/7")
    for kinds in [((0, 0), (1, 1), (2, 2), (0, 1), (2, 0)), ((0, 0), (0, 0), (1, 1), (1, 2), (2, 2)), ((0, 1),) * 4 + ((1, 0),)]:
        dataset = space.dataset([("0", rest, swap) for rest, swap in kinds])
        law = swap.law(dataset, space)
        assert {z: law.probability(z) for z in law.support} == listing(dataset, Fraction(2, 7), oracle)


@pytest.mark.reference("B-O41")
@pytest.mark.reference("B-O43")
@pytest.mark.parametrize(("mechanism", "stay"), [(DerangementSwapping, "16/17"), (PermutationSwapping, "49/50")])
def test_two_records_at_swap_rate_one_fifth(mechanism, stay):
    space = space_of()
    dataset = space.dataset([("0", "0", "0"), ("0", "1", "1")])
    law = mechanism(match=["match"], swap=["swap"], swap_rate="1/5").law(dataset, space)
    assert law.probability(dataset) == Fraction(stay)
    assert law.probability(space.dataset([("0", "0", "1"), ("0", "1", "0")])) == 1 - Fraction(stay)


@pytest.mark.reference("B-O42")
@pytest.mark.reference("B-O43")
@pytest.mark.parametrize(("mechanism", "constant"), [(DerangementSwapping, "ln(4)"), (PermutationSwapping, "ln(7)")])
def test_lipschitz_constant_of_two_records(mechanism, constant):
    space = space_of()
    one = space.dataset([("0", "0", "0"), ("0", "1", "1")])
    other = space.dataset([("0", "0", "1"), ("0", "1", "0")])
    swap = mechanism(match=["match"], swap=["swap"], swap_rate="1/5")
    distance = Hamming(unit="household").distance(one, other, space)
    divergence = Mult().between(swap.law(one, space), swap.law(other, space))
    assert divergence.is_exact
    assert divergence.lower / distance == number(constant)
    (claim, *_) = swap.claims(space)
    (universe,) = (u for u in claim.spec.multiverse.universes(space_of(2, 2)) if one in u.datasets)
    assert claim.spec.bound(universe) == ln(12)


@pytest.mark.reference("B-O44")
def test_chance_that_exactly_one_of_four_is_selected():
    p = Fraction(1, 5)
    one = sum(math.prod(p if c else 1 - p for c in coins) for coins in itertools.product([0, 1], repeat=4) if sum(coins) == 1)
    assert one == Fraction(256, 625)
    # The law at p=1/5 divides by what is left of the selections: stay + moves = 1 - 256/625, so "nothing moved" has
    # probability (4/5)^4 / (369/625) plus what exchanges of equal values add; with four distinct records, nothing more.
    attributes = [{"name": "rest", "count": 4}, {"name": "swap", "count": 4}]
    space = space_of(attributes=attributes)
    dataset = space.dataset([(str(i), str(i)) for i in range(4)])
    law = DerangementSwapping(swap=["swap"], swap_rate=p).law(dataset, space)
    assert law.probability(dataset) == Fraction(256, 625) / (1 - Fraction(256, 625))


# --- what a swap keeps ---------------------------------------------------------------------------------


@pytest.mark.reference("B-D22")
@pytest.mark.reference("B-O45")
def test_the_four_households_of_the_source():
    names = ["state", "location", "adults", "children", "age", "race"]
    rows = [
        ("MA", "Cambridge", "2", "2", "45", "White"),
        ("TX", "Houston", "1", "0", "28", "Hispanic"),
        ("WA", "Tacoma", "5", "0", "67", "Asian"),
        ("MA", "Somerville", "2", "2", "50", "Black"),
    ]
    attributes = [{"name": n, "categories": sorted({row[i] for row in rows})} for i, n in enumerate(names)]
    space = space_of(attributes=attributes)
    swap = DerangementSwapping(match=["state", "adults", "children"], swap=["location"], swap_rate=1)
    before = space.dataset(rows)
    law = swap.law(before, space)
    (after,) = law.support
    moved = {"Cambridge": "Somerville", "Somerville": "Cambridge"}
    assert after == space.dataset([(state, moved.get(place, place), *others) for state, place, *others in rows])
    assert SymmetricDifference(unit="household").distance(before, after, space) == 4
    assert Hamming(unit="household").distance(before, after, space) == 2
    change = Counter((r[1], r[5]) for r in after)
    change.subtract(Counter((r[1], r[5]) for r in before))
    assert {cell: n for cell, n in change.items() if n} == {
        ("Cambridge", "White"): -1, ("Cambridge", "Black"): 1, ("Somerville", "White"): 1, ("Somerville", "Black"): -1,
    }  # fmt: skip


@pytest.mark.reference("B-D23")
@pytest.mark.reference("B-S6")
@pytest.mark.parametrize("mechanism", BOTH)
def test_a_swap_keeps_its_invariants_and_at_an_inner_rate_reaches_its_whole_universe(mechanism):
    space = space_of(least=0, most=4)
    swap = mechanism(match=["match"], swap=["swap"], swap_rate="1/3")
    for universe in swap.scheme().multiverse(space).universes(space):
        for dataset in universe.datasets:
            assert set(swap.law(dataset, space).support) == set(universe.datasets)


@pytest.mark.parametrize("mechanism", BOTH)
def test_the_law_depends_on_more_than_the_invariants(mechanism):
    # Otherwise the swap would release c_Swap and noise only, and any budget would hold inside a universe.
    space = space_of()
    swap = mechanism(match=["match"], swap=["swap"], swap_rate="1/3")
    one = space.dataset([("0", "0", "0"), ("0", "1", "1")])
    other = space.dataset([("0", "0", "1"), ("0", "1", "0")])
    assert swap.scheme().multiverse(space).share_universe(one, other, space)
    assert swap.law(one, space) != swap.law(other, space)


@pytest.mark.reference("B-S7")
def test_exactly_one_selected_is_redrawn_not_left():
    space = space_of()
    dataset = space.dataset([("0", "0", "0"), ("0", "1", "1")])
    p = Fraction(1, 5)
    law = DerangementSwapping(match=["match"], swap=["swap"], swap_rate=p).law(dataset, space)
    left_alone = p**2
    kept_and_continued = 1 - (1 - p) ** 2
    swapped = law.probability(space.dataset([("0", "0", "1"), ("0", "1", "0")]))
    assert swapped == Fraction(1, 17)
    assert swapped not in (left_alone, kept_and_continued)


@pytest.mark.reference("B-S9")
def test_records_are_deranged_not_values():
    # Three records, two of them with swap value 0: deranging values could never give both of them a 0 again.
    space = space_of()
    dataset = space.dataset([("0", "0", "0"), ("0", "1", "0"), ("0", "1", "1")])
    law = DerangementSwapping(match=["match"], swap=["swap"], swap_rate=1).law(dataset, space)
    # Both derangements of three records: one gives record 0 the value 0 of record 1, the other gives it 1.
    assert law.probability(dataset) == Fraction(1, 2)
    pair = space.dataset([("0", "0", "0"), ("0", "1", "0")])
    assert DerangementSwapping(match=["match"], swap=["swap"], swap_rate=1).law(pair, space).probability(pair) == 1


@pytest.mark.reference("B-S10")
def test_the_redraw_chance_cancels_inside_a_universe_only():
    # The normalising constant depends on the stratum size, which c_Swap fixes.
    p = Fraction(1, 5)
    swap = DerangementSwapping(match=["match"], swap=["swap"], swap_rate=p)
    space = space_of()
    sizes = {}
    for n in (2, 3):
        dataset = space.dataset([("0", "0", "0")] + [("0", "1", "1")] * (n - 1))
        stay = swap.law(dataset, space).probability(dataset)
        sizes[n] = (1 - p) ** n / stay
    assert sizes[2] == 1 - 2 * p * (1 - p)
    assert sizes[2] != sizes[3]


@pytest.mark.parametrize("mechanism", BOTH)
def test_contingency_tables_give_the_same_law_in_their_own_form(mechanism):
    tables, records = space_of(most=3, cls=ContingencyTables), space_of(most=3)
    swap = mechanism(match=["match"], swap=["swap"], swap_rate="2/3")
    for dataset in records.datasets():
        law = swap.law(dataset, records)
        tabulated = swap.law(tables.of(dataset), tables)
        assert {tables.of(z): law.probability(z) for z in law.support} == {z: tabulated.probability(z) for z in tabulated.support}


@pytest.mark.parametrize("mechanism", BOTH)
def test_several_swap_columns_move_together(mechanism):
    space = space_of(attributes=[{"name": n, "count": 2} for n in ("rest", "a", "b")])
    dataset = space.dataset([("0", "0", "1"), ("1", "1", "0")])
    law = mechanism(swap=["a", "b"], swap_rate="1/2").law(dataset, space)
    assert set(law.support) == {dataset, space.dataset([("0", "1", "0"), ("1", "0", "1")])}


@pytest.mark.parametrize("mechanism", BOTH)
def test_households_move_with_all_their_members(mechanism):
    space = Households(
        household=[{"name": "size", "count": 3}, {"name": "county", "categories": ["A", "B"]}],
        person=[{"name": "race", "categories": ["b", "w"]}],
    )
    dataset = space.dataset([(("2", "A"), [("w",), ("w",)]), (("2", "B"), [("b",), ("w",)])])
    law = mechanism(match=["size"], swap=["county"], swap_rate="1/2").law(dataset, space)
    exchanged = space.dataset([(("2", "B"), [("w",), ("w",)]), (("2", "A"), [("b",), ("w",)])])
    assert set(law.support) == {dataset, exchanged}


@pytest.mark.reference("B-O47")
@pytest.mark.parametrize(
    ("kinds", "tables"),
    [(("00", "01", "10"), 2), (("00", "11", "22"), 6), (("00", "01", "10", "11"), 3)],
)
def test_how_many_tables_a_swap_can_make_from_one(kinds, tables):
    space = space_of(attributes=[{"name": "rest", "count": 3}, {"name": "swap", "count": 3}])
    law = DerangementSwapping(swap=["swap"], swap_rate="1/3").law(space.dataset([tuple(kind) for kind in kinds]), space)
    assert len(law.support) == tables


# --- spaces on which it makes no sense -----------------------------------------------------------------


@pytest.mark.reference("B-S8", "B-X14")
def test_an_ordered_release_is_refused():
    swap = DerangementSwapping(swap=["swap"], swap_rate="1/2")
    with pytest.raises(IncompatibleBlocksError, match="multiset"):
        swap.check(space_of(cls=OrderedRecords))


def test_persons_are_not_swapped_between_households():
    space = Households(household=[{"name": "county", "count": 2}], person=[{"name": "race", "count": 2}])
    with pytest.raises(IncompatibleBlocksError, match="whole households"):
        DerangementSwapping(match=["county"], swap=["race"], swap_rate="1/2", unit="person").check(space)


def test_a_nested_attribute_is_not_torn_from_the_one_it_lies_within():
    tract = {"name": "tract", "count": 4, "within": "county"}
    space = space_of(attributes=[{"name": "county", "count": 2}, tract, {"name": "tenure", "count": 2}])
    for match, swap in [((), ["tract"]), ((), ["county"]), (["tenure"], ["tract"])]:
        with pytest.raises(IncompatibleBlocksError, match="tear"):
            DerangementSwapping(match=match, swap=swap, swap_rate="1/2").check(space)
    for match, swap in [(["county"], ["tract"]), ((), ["county", "tract"]), (["tract"], ["tenure"])]:
        DerangementSwapping(match=match, swap=swap, swap_rate="1/2").check(space)


def test_unknown_and_repeated_attributes_are_refused():
    with pytest.raises(ParameterError, match="twice"):
        DerangementSwapping(match=["swap"], swap=["swap"], swap_rate="1/2")
    with pytest.raises(IncompatibleBlocksError, match="swap"):
        DerangementSwapping(swap=["swop"], swap_rate="1/2").check(space_of())
    with pytest.raises(ParameterError):
        DerangementSwapping(swap=["swap"], swap_rate="6/5")


# --- the theorem as printed for the one algorithm and the other --------------------------------------------


def constant(mechanism, rate, kinds):
    """max over all pairs of the universe of d_MULT / d_Ham, from the law of the listing and a plain maximum."""
    space = space_of(len(kinds), len(kinds), ATTRIBUTES[1:])
    swap = mechanism(swap=["swap"], swap_rate=rate)
    start = space.dataset(kinds)
    (universe,) = (u for u in swap.scheme().multiverse(space).universes(space) if start in u.datasets)
    laws = {x: swap.law(x, space) for x in universe.datasets}
    found = [
        ln(max(laws[x].probability(z) / laws[y].probability(z) for z in universe.datasets))
        / Hamming(unit="household").distance(x, y, space)
        for x, y in itertools.permutations(universe.datasets, 2)
    ]
    return max(found), [claim.spec.bound(universe) for claim in swap.claims(space)]


TWO = [("0", "0"), ("1", "1")]
THREE = [("0", "0"), ("1", "1"), ("1", "1")]
FOUR = [("0", "0"), ("0", "0"), ("1", "1"), ("1", "1")]


@pytest.mark.reference("B-T11")
@pytest.mark.parametrize("kinds", [TWO, THREE, FOUR])
@pytest.mark.parametrize("rate", ["1/20", "1/5", "1/2", "3/5", "3/4", "9/10"])
def test_the_printed_theorem_holds_for_the_derangement(rate, kinds):
    found, bounds = constant(DerangementSwapping, rate, kinds)
    assert all(found <= bound for bound in bounds)


@pytest.mark.reference("B-T11")
@pytest.mark.reference("B-X2")
@pytest.mark.parametrize("kinds", [TWO, THREE, FOUR])
@pytest.mark.parametrize("rate", ["1/20", "1/5", "1/2"])
def test_the_printed_theorem_holds_for_the_permutation_up_to_one_half(rate, kinds):
    found, bounds = constant(PermutationSwapping, rate, kinds)
    assert all(found <= bound for bound in bounds)


@pytest.mark.reference("B-T11")
@pytest.mark.reference("B-X2")
def test_the_printed_theorem_of_2024_is_refuted_for_the_permutation_at_three_fifths():
    # Two different records: they stay with probability 1 - p^2/2 = 41/50 and are exchanged with p^2/2 = 9/50. The
    # exact constant is half the logarithm of 41/9, the printed budget max{ln(3/2), ln(3 * 2/3)} = ln 2, and 41/9 > 4.
    found, (bound,) = constant(PermutationSwapping, "3/5", TWO)
    assert found == ln(Fraction(41, 9)) / 2
    assert bound == ln(2)
    assert found > bound
