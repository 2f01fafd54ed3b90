"""Pairs inside universes that cannot be listed: they stay inside, reach what they must, and shrink to a smallest witness."""

import itertools
from pathlib import Path

import pytest
from dpspec_census.swap_budget import SwappingBudget
from dpspec_census.swapping import PermutationSwapping
from hypothesis import HealthCheck, find, given, settings, strategies as st

from dpspec.api import read
from dpspec.base.errors import NotReachedError
from dpspec.base.exact import ln
from dpspec.blocks.invariant import FunctionInvariant, LinearMap, Marginal
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Trivial
from dpspec.blocks.records import ContingencyTables, OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.grammar.mechanism import ReleaseInvariants
from dpspec.laws.law import FiniteLaw
from dpspec.testing.strategies import datasets, find_witness, reduced
from dpspec.testing.walks import pairs_from, pairs_in_universe
from tests.verify.toys import Toy, bits_spec, block

SPECS = Path(__file__).parents[2] / "specs"
PLACES = [
    Attribute(name="county", count=3143), Attribute(name="tract", count=84000, within="county"), Attribute(name="age", count=116),
]  # fmt: skip
SWAPPED = LevelSets(
    invariants=(Marginal(attributes=("county", "tract")), Marginal(attributes=("county", "age"))),
)


def quiet(examples):
    return settings(
        derandomize=True, database=None, deadline=None, max_examples=examples, suppress_health_check=list(HealthCheck)
    )


def on(space, multiverse, distance="hamming", epsilon="1", **parameters):
    divergence = block("input_divergences", distance, **parameters)
    spec = bits_spec(epsilon=epsilon)
    return spec.replace(space=space, multiverse=multiverse, input_divergence=divergence)


def drawn(strategy, examples=60):
    seen = []

    @quiet(examples)
    @given(strategy)
    def collect(example):
        seen.append(example)

    collect()
    return seen


def stay_inside(spec, examples=60):
    pairs = drawn(pairs_in_universe(spec), examples)
    for left, right in pairs:
        assert left != right
        assert spec.space.dataset(left) == left
        assert spec.space.dataset(right) == right
        assert spec.multiverse.share_universe(left, right, spec.space)
        assert not spec.distance(left, right).is_infinite
    assert len(set(pairs)) > len(pairs) / 4
    return pairs


# --- staying inside ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.reference("B-D23", "B-D25")
@pytest.mark.parametrize("name", ["swapping-2020-county-tract", "topdown-2020-pl"])
def test_pairs_of_the_census_spaces_with_millions_of_blocks_stay_inside(name):
    spec = read(SPECS / f"{name}.dpspec.toml").spec
    assert spec.space.cardinality() is None
    stay_inside(spec)


@pytest.mark.slow
def test_long_bit_vectors_with_a_fixed_sum():
    for held in (LinearMap(rows=((1,) * 1000,)), Marginal(attributes=("bit",))):
        spec = on(BitVectors(length=1000), LevelSets(invariants=(held,)))
        assert all(sum(left) == sum(right) for left, right in stay_inside(spec, 30))


@pytest.mark.long
def test_integer_maps_over_a_table_of_five_hundred_cells():
    attributes = [{"name": name, "count": size} for name, size in zip("abc", (5, 10, 10), strict=True)]
    space = ContingencyTables(attributes=attributes)
    weights = tuple(tuple((i * k) % 7 - 2 for i in range(500)) for k in (3, 5))
    for held in (
        (LinearMap(rows=((1,) * 500, *weights)),),
        tuple(Marginal(attributes=tuple(pair)) for pair in ("ab", "ac", "bc")),
    ):
        stay_inside(on(space, LevelSets(invariants=held)), 40)


@pytest.mark.slow
def test_ordered_records_bounded_counts_and_bounded_sizes():
    stay_inside(on(OrderedRecords(attributes=PLACES, least=3, most=5), SWAPPED))
    stay_inside(on(UnorderedRecords(attributes=PLACES, least=40, most=41), SWAPPED))
    stay_inside(on(UnorderedRecords(attributes=PLACES), Trivial()))
    bounded = IntegerCounts(length=12, low=-2, high=3)
    total = LevelSets(invariants=(LinearMap(rows=((1, 2) * 6,)),))
    stay_inside(on_counts(bounded, total))


def on_counts(space, multiverse):
    from dpspec_divergences import UserRelation

    apart = UserRelation(function=lambda x, y: x != y, label="different")
    divergence = block("input_divergences", "neighbour", relation=apart)
    return bits_spec().replace(space=space, multiverse=multiverse, input_divergence=divergence)


def test_explicit_universes_and_small_spaces_are_listed():
    space = BitVectors(length=40)
    one, two = (0,) * 40, (1,) * 40
    spec = on(space, ExplicitUniverses(universes_by_label=(("u", (one, two)),)))
    assert set(drawn(pairs_in_universe(spec), 20)) == {(one, two), (two, one)}
    small = on(BitVectors(length=3), LevelSets(invariants=(LinearMap(rows=((1, 1, 1),)),)))
    every = {p for p in itertools.permutations(small.space.datasets(), 2) if sum(p[0]) == sum(p[1])}
    assert set(drawn(pairs_in_universe(small), 300)) == every


@pytest.mark.slow
def test_shrinking_never_leaves_the_universe():
    spec = on(UnorderedRecords(attributes=PLACES), SWAPPED)
    tried = []

    def large(pair):
        tried.append(pair)
        return len(pair[0]) >= 3

    left, right = find(pairs_in_universe(spec), large, settings=quiet(200))
    assert len(left) == 3
    assert spec.distance(left, right) == 2
    assert all(spec.multiverse.share_universe(*pair, spec.space) for pair in tried)


@pytest.mark.long
def test_the_move_of_degree_four_is_drawn():
    space = UnorderedRecords(attributes=[{"name": name, "count": 50} for name in "abc"])
    spec = on(space, LevelSets(invariants=tuple(Marginal(attributes=tuple(pair)) for pair in ("ab", "ac", "bc"))))
    left, right = find(pairs_in_universe(spec), lambda _: True, settings=quiet(500))
    assert len(left) == len(right) == 4
    assert not set(left) & set(right)


# --- rejection ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_functions_are_held_by_rejection_which_gives_up_with_a_clear_error():
    parity = FunctionInvariant(function=lambda x: sum(x) % 2, label="parity")
    stay_inside(on(BitVectors(length=60), LevelSets(invariants=(parity,))), 30)
    each = FunctionInvariant(function=lambda x: x, label="everything")
    with pytest.raises(NotReachedError, match="no two datasets of one universe"):
        find_witness(Toy(FiniteLaw.point), on(BitVectors(length=60), LevelSets(invariants=(each,))))


# --- walks from a dataset ----------------------------------------------------------------------------


@pytest.mark.long
def test_walks_from_a_large_dataset_stay_inside_and_shrink_to_one_exchange():
    spec = on(UnorderedRecords(attributes=PLACES), SWAPPED)
    start = [(str(i % 3), str(i % 3 * 27 + i % 5), str(i % 7)) for i in range(600)]
    for left, right in drawn(pairs_from(start, spec), 25):
        assert left == spec.space.dataset(start)
        assert spec.multiverse.share_universe(left, right, spec.space)
    left, right = find(pairs_from(start, spec), lambda _: True, settings=quiet(100))
    assert spec.distance(left, right) == 2


def test_walks_reach_the_whole_universe_where_exchanges_connect():
    small = [Attribute(name="county", count=1), Attribute(name="tract", count=3, within="county"), Attribute(name="age", count=3)]
    spec = on(UnorderedRecords(attributes=small, least=3, most=3), SWAPPED)
    start = (("0", "0", "0"), ("0", "1", "1"), ("0", "2", "2"))
    universe = {x for x in spec.space.datasets() if spec.multiverse.share_universe(x, start, spec.space)}
    assert {right for _, right in drawn(pairs_from(start, spec), 120)} == universe - {start}


@pytest.mark.parametrize("held", [LinearMap(rows=((1,) * 40,)), FunctionInvariant(function=lambda x: sum(x) % 3, label="mod 3")])
def test_walks_in_bit_vectors(held):
    spec = on(BitVectors(length=40), LevelSets(invariants=(held,)))
    pairs = drawn(pairs_from((0, 1) * 20, spec), 30)
    assert all(spec.multiverse.share_universe(*pair, spec.space) for pair in pairs)
    assert len(set(pairs)) > 5


# --- witnesses ---------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.reference("B-X2", "B-T11")
def test_permutation_swapping_is_refuted_on_the_census_space_with_the_smallest_pair():
    printed = read(SPECS / "swapping-2020-county-tract.dpspec.toml").spec
    rate = {"match": ("county", "kind"), "swap_rate": "3/5", "unit": "household"}
    spec = printed.replace(budget=SwappingBudget(form="s24", **rate))
    found = find_witness(PermutationSwapping(swap=("tract", "block-group", "block"), **rate), spec, examples=40)
    assert found is not None
    assert (len(found.left), len(found.right), found.distance) == (2, 2, 2)
    assert found.divergence.lower == ln("41/9")
    assert found.bound == ln(2)
    assert [place for place, _ in found.left] == [("0",) * 4 + (block, "occupied") for block in "01"]
    assert spec.multiverse.share_universe(found.left, found.right, spec.space)


@pytest.mark.long
@pytest.mark.reference("B-T10", "B-X6")
def test_a_mechanism_that_reads_beyond_its_invariants_is_refuted_inside_a_universe():
    spec = read(SPECS / "topdown-2020-pl.dpspec.toml").spec
    found = find_witness(ReleaseInvariants(invariants=(Marginal(attributes=("kind",), unit="household"),)), spec, examples=200)
    assert found is not None
    first = ("0",) * 5
    assert (found.left, found.right, found.distance) == ((((*first, "occupied"), ()),), (((*first, "vacant"), ()),), 0)
    kept = ReleaseInvariants(invariants=(Marginal(attributes=("state",), unit="person"),))
    assert find_witness(kept, spec, examples=30) is None


def test_the_reduction_drops_what_is_shared_and_renames():
    spec = on(UnorderedRecords(attributes=PLACES), SWAPPED)
    here, there = ("7", "190", "3"), ("7", "200", "9")
    left = spec.space.dataset([here, here, there, ("9", "250", "9")])
    right = spec.space.dataset([here, ("7", "190", "9"), ("7", "200", "3"), ("9", "250", "9")])
    assert spec.multiverse.share_universe(left, right, spec.space)
    one, two = reduced((left, right), lambda pair: pair[0] != pair[1], spec)
    assert one == (("0", "0", "0"), ("0", "1", "1"))
    assert two == (("0", "0", "1"), ("0", "1", "0"))


def test_the_reduction_merges_what_need_not_differ_even_when_names_run_out():
    narrow = [
        Attribute(name="county", count=2),
        Attribute(name="tract", count=4, within="county"),
        Attribute(name="age", count=3),
    ]
    spec = on(UnorderedRecords(attributes=narrow), Trivial())
    left = spec.space.dataset([("0", "0", "1"), ("0", "1", "2"), ("1", "2", "0"), ("1", "3", "1")])
    one, two = reduced((left, (*left[:3], ("1", "3", "2"))), lambda pair: min(map(len, pair)) >= 4, spec)
    assert (len(one), len(two), spec.distance(one, two)) == (4, 4, 1)
    assert {record[:2] for record in one + two} == {("0", "0")}


@pytest.mark.slow
def test_datasets_of_a_large_space_use_any_category():
    space = UnorderedRecords(attributes=[{"name": "block", "count": 10**6}])
    seen = drawn(datasets(space), 60)
    assert all(space.dataset(dataset) == dataset for dataset in seen)
    assert max(int(record[0]) for dataset in seen for record in dataset) > 1000
    assert find(datasets(space), lambda x: len(x) > 1, settings=quiet(100)) == (("0",), ("0",))
    assert isinstance(datasets(BitVectors(length=2)), st.SearchStrategy)
