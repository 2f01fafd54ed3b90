"""Distances that count changes of records, on all pairs of small spaces, against shortest paths that are searched here."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import pytest
from dpspec_divergences import (
    AddRemove,
    DifferInOnePosition,
    Hamming,
    HammingOrdered,
    Neighbour,
    Path,
    ReplaceOne,
    SymmetricDifference,
    UserRelation,
)

from dpspec.base.errors import IncompatibleBlocksError
from dpspec.base.exact import INFINITY
from dpspec.blocks.records import ContingencyTables, Households, OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute, DatasetSpace
from dpspec.blocks.vectors import BitVectors, IntegerCounts

SEX = Attribute(name="sex", categories=("f", "m"))
PLACE = Attribute(name="place", categories=("a", "b", "c"))


def pairs(space: DatasetSpace) -> Iterator[tuple[object, object]]:
    return itertools.product(tuple(space.datasets()), repeat=2)


def searched(datasets, step):
    """All distances by the textbook method: relax every edge until nothing changes (no code of the plugin)."""
    index = {dataset: place for place, dataset in enumerate(datasets)}
    infinite = float("inf")
    table = [[0 if a == b else 1 if step(a, b) else infinite for b in datasets] for a in datasets]
    for k, i, j in itertools.product(range(len(datasets)), repeat=3):
        table[i][j] = min(table[i][j], table[i][k] + table[k][j])
    return lambda a, b: table[index[a]][index[b]]


def replaced(a, b):
    """One record of the list a exchanged for another gives the list b, up to order."""
    return a != b and any(sorted([*a[:i], *b[j : j + 1], *a[i + 1 :]]) == sorted(b) for i in range(len(a)) for j in range(len(b)))


def added(a, b):
    small, large = sorted((a, b), key=len)
    return any(sorted([*small, record]) == sorted(large) for record in large)


def as_float(value):
    return float("inf") if value.is_infinite else float(value)


@pytest.mark.reference("B-D11")
@pytest.mark.reference("B-D10")
@pytest.mark.parametrize("least", [0, 1, 2])
def test_hamming_is_the_number_of_replacements(least):
    space = UnorderedRecords(attributes=(PLACE,), least=least, most=3)
    shortest = searched(tuple(space.datasets()), replaced)
    closed, by_search = Path(relation=ReplaceOne()), Path(relation=UserRelation(function=replaced, label="replaced"))
    for x, y in pairs(space):
        for divergence in (Hamming(), closed, by_search):
            assert as_float(divergence.distance(x, y, space)) == shortest(x, y)


@pytest.mark.reference("B-D12")
@pytest.mark.reference("B-X7")
@pytest.mark.parametrize(("least", "most"), [(0, 3), (1, 2), (2, 3)])
def test_symmetric_difference_is_the_number_of_additions_and_removals(least, most):
    space = UnorderedRecords(attributes=(PLACE,), least=least, most=most)
    shortest = searched(tuple(space.datasets()), added)
    closed, by_search = Path(relation=AddRemove()), Path(relation=UserRelation(function=added, label="added"))
    for x, y in pairs(space):
        for divergence in (SymmetricDifference(), closed, by_search):
            assert as_float(divergence.distance(x, y, space)) == shortest(x, y)


@pytest.mark.reference("B-D13")
def test_ordered_hamming_counts_positions():
    space = OrderedRecords(attributes=(SEX,), most=3)
    for x, y in pairs(space):
        expected = sum(1 for i in range(len(x)) if x[i] != y[i]) if len(x) == len(y) else float("inf")
        assert as_float(HammingOrdered().distance(x, y, space)) == expected
        assert as_float(Path(relation=DifferInOnePosition()).distance(x, y, space)) == expected


@pytest.mark.reference("B-O45")
@pytest.mark.reference("B-D22")
def test_the_four_rows_of_the_illustration():
    names = ("location", "race")
    before = [("Cambridge", "White"), ("Houston", "Hispanic"), ("Tacoma", "Asian"), ("Somerville", "Black")]
    after = [("Somerville", "White"), ("Houston", "Hispanic"), ("Tacoma", "Asian"), ("Cambridge", "Black")]
    attributes = tuple(Attribute(name=n, categories=tuple(sorted({row[i] for row in before}))) for i, n in enumerate(names))
    space = UnorderedRecords(attributes=attributes, unit="household")
    x, y = space.dataset(before), space.dataset(after)
    assert SymmetricDifference(unit="household").distance(x, y, space) == 4
    assert Hamming(unit="household").distance(x, y, space) == 2


@pytest.mark.reference("B-O46")
@pytest.mark.reference("B-S5")
def test_unequal_sizes_are_infinitely_far_for_hamming():
    space = UnorderedRecords(attributes=(SEX,))
    three, four = space.dataset([["f"]] * 3), space.dataset([["f"]] * 4)
    assert Hamming().distance(three, four, space) == INFINITY
    assert SymmetricDifference().distance(three, four, space) == 1


@pytest.mark.reference("B-S8")
def test_two_orders_of_one_multiset_are_at_distance_zero():
    space = BitVectors(length=2)
    assert Hamming().distance((0, 1), (1, 0), space) == 0
    assert HammingOrdered().distance((0, 1), (1, 0), space) == 2


@pytest.mark.reference("B-D14")
@pytest.mark.reference("B-X6")
def test_units_of_one_dataset_of_households():
    space = Households(household=(PLACE,), person=(SEX,))
    family = space.dataset([(["a"], [["f"], ["m"]]), (["b"], [])])
    moved = space.dataset([(["b"], [["f"], ["m"]]), (["b"], [])])
    vacated = space.dataset([(["a"], [["f"], ["m"]]), (["c"], [])])
    assert Hamming(unit="household").distance(family, moved, space) == 1
    assert Hamming(unit="person").distance(family, moved, space) == 2
    assert Hamming(unit="household").distance(family, vacated, space) == 1
    assert Hamming(unit="person").distance(family, vacated, space) == 0


def test_metrics_obey_the_triangle_inequality_and_are_symmetric():
    spaces = (UnorderedRecords(attributes=(SEX,), most=3), BitVectors(length=3), OrderedRecords(attributes=(SEX,), most=2))
    for space in spaces:
        datasets = tuple(space.datasets())
        for divergence in (Hamming(), SymmetricDifference(), HammingOrdered(), Path(relation=ReplaceOne())):
            if divergence == HammingOrdered() and not space.is_ordered:
                continue
            d = {(x, y): as_float(divergence.distance(x, y, space)) for x, y in pairs(space)}
            assert all(d[x, y] == d[y, x] for x, y in d)
            assert all(d[x, z] <= d[x, y] + d[y, z] for x, y, z in itertools.product(datasets, repeat=3))


@pytest.mark.parametrize("divergence", [
    Hamming(unit="household"), SymmetricDifference(unit="houshold"), HammingOrdered(unit="edge"),
    Neighbour(relation=ReplaceOne(unit="edge")), Path(relation=AddRemove(unit="edge")),
])  # fmt: skip
def test_a_missing_unit_is_refused(divergence):
    with pytest.raises(IncompatibleBlocksError, match="is no unit of the space bit-vectors"):
        divergence.check(BitVectors(length=2))


@pytest.mark.parametrize("divergence", [HammingOrdered(), Path(relation=DifferInOnePosition())])
def test_a_space_without_positions_is_refused(divergence):
    with pytest.raises(IncompatibleBlocksError, match=r"needs datasets with positions.*use (hamming|replace-one)"):
        divergence.check(UnorderedRecords(attributes=(SEX,)))
    with pytest.raises(IncompatibleBlocksError, match="it has no units"):
        Hamming().check(IntegerCounts())


def spaces():
    for least, most in ((0, 2), (2, 2), (1, 3), (0, 1), (1, 1)):
        yield UnorderedRecords(attributes=(SEX,), least=least, most=most)
        yield OrderedRecords(attributes=(SEX,), least=least, most=most)
    yield ContingencyTables(attributes=(PLACE,), least=1, most=2)
    yield BitVectors(length=1)
    yield BitVectors(length=3)
    two = Attribute(name="place", categories=("a", "b"))
    for least, most, members in ((0, 2, 1), (1, 1, 2), (2, 2, 1), (0, 2, 2)):
        yield Households(household=(two,), person=(SEX,), least=least, most=most, members=members)


def divergences(unit):
    relations = (ReplaceOne(unit=unit), AddRemove(unit=unit), DifferInOnePosition(unit=unit))
    yield from (Hamming(unit=unit), SymmetricDifference(unit=unit), HammingOrdered(unit=unit))
    for relation in relations:
        yield from (Neighbour(relation=relation), Path(relation=relation))


def usable(space):
    for unit in space.units:
        for divergence in divergences(unit):
            try:
                divergence.check(space)
            except IncompatibleBlocksError:
                continue
            yield divergence


def least_constant(first, second):
    """sup d / d' over all pairs at finite d'; None when there is no finite constant."""
    worst = Fraction(0)
    for a, b in zip(first, second, strict=True):
        if b == float("inf") or a == 0:
            continue
        if a == float("inf") or b == 0:
            return None
        worst = max(worst, Fraction(a) / Fraction(b))
    return worst


@pytest.mark.reference("B-X7")
@pytest.mark.reference("B-T22")
@pytest.mark.parametrize(
    "space",
    [pytest.param(space, marks=pytest.mark.slow) if space.cardinality() > 90 else space for space in spaces()],
    ids=lambda s: f"{s.name}-{s.cardinality()}",
)
def test_every_constant_holds_and_is_the_least_one(space):
    values = {d: [as_float(d.distance(x, y, space)) for x, y in pairs(space)] for d in usable(space)}
    for d, other in itertools.product(values, repeat=2):
        bound, least = d.bounded_by(other, space), least_constant(values[d], values[other])
        if bound is None:
            continue
        assert least is not None, f"{d} has no finite constant against {other}"
        assert bound[0] >= least, f"{d} against {other}: {bound}"
        # Where nothing is compared (no pair at finite non-zero distance of `other`) every constant is right.
        assert bound[0] == least or least == 0, f"{d} against {other}: {bound[0]} is above the least constant {least}"


FOUND = {
    (Hamming(), SymmetricDifference()): Fraction(1, 2),
    (SymmetricDifference(), Hamming()): 2,
    (Hamming(), HammingOrdered()): 1,
    (SymmetricDifference(), Neighbour(relation=ReplaceOne())): 2,
    (Path(relation=DifferInOnePosition()), HammingOrdered()): 1,
    (HammingOrdered(), Neighbour(relation=DifferInOnePosition())): 1,
    (Hamming(), Path(relation=ReplaceOne())): 1,
    (Neighbour(relation=ReplaceOne()), Neighbour(relation=DifferInOnePosition())): 1,
    (HammingOrdered(), Hamming()): None,
    (Neighbour(relation=ReplaceOne()), Path(relation=ReplaceOne())): None,
    (Neighbour(relation=ReplaceOne()), Hamming()): None,
}


@pytest.mark.parametrize("pair", list(FOUND), ids=lambda pair: f"{pair[0]} / {pair[1]}")
def test_the_constants_on_bit_vectors(pair):
    bound = pair[0].bounded_by(pair[1], BitVectors(length=3))
    assert (None if bound is None else bound[0]) == FOUND[pair]


@pytest.mark.reference("B-X7")
def test_hamming_is_no_multiple_of_the_symmetric_difference_where_sizes_vary():
    varying = UnorderedRecords(attributes=(SEX,), most=3)
    assert Hamming().bounded_by(SymmetricDifference(), varying) is None
    assert Path(relation=ReplaceOne()).bounded_by(Hamming(), varying) is not None


@pytest.mark.reference("B-T22")
@pytest.mark.reference("B-D14")
def test_persons_against_households():
    space = Households(household=(PLACE,), person=(SEX,), members=3)
    person, household = SymmetricDifference(unit="person"), SymmetricDifference(unit="household")
    assert person.bounded_by(household, space)[0] == 3
    assert person.bounded_by(Hamming(unit="household"), space)[0] == 6
    assert person.bounded_by(Neighbour(relation=ReplaceOne(unit="household")), space)[0] == 6
    assert Hamming(unit="person").bounded_by(Hamming(unit="household"), space) is None
    assert household.bounded_by(person, space) is None
    assert person.bounded_by(household, Households(household=(PLACE,), person=(SEX,))) is None
