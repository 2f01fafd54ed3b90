"""Users whose records are made of elements, and weighted records, by brute force from the definitions."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import pytest
from dpspec_divergences import Hamming, HammingOrdered, SymmetricDifference
from dpspec_flavours.streams.elements import ElementRecords, WeightDistance, WeightedRecords
from dpspec_flavours.streams.events import (
    EventStreams,
    WindowEvents,
)
from dpspec_flavours.streams.personal import (
    OneSided,
    PersonalWeights,
    RecordWeights,
)

from dpspec.base.errors import IncompatibleBlocksError, NotInSpaceError, ParameterError
from dpspec.base.exact import ln, number
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.parts import nesting_of
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.testing.check import exceeds_times

VISITS = EventStreams(users=("ann", "bob"), times=3, values=("visit",), window=2)
TRADES = EventStreams(users=("ann",), times=2, values=("buy", "sell"), per_time=2, window=1)
SMOKES, DRINKS, VOTES = (Attribute(name=name, categories=("yes", "no")) for name in ("smokes", "drinks", "votes"))
CLUSTERS = (("drinks", "habits"), ("smokes", "habits"), ("votes", "views"))
PEOPLE = ElementRecords(users=("ann",), elements=(SMOKES, DRINKS, VOTES), clusters=CLUSTERS)
WEIGHTED = WeightedRecords(values=("edge", "path"), weights=(Fraction(1, 2), Fraction(2)))
CLOSE = WeightedRecords(values=("edge", "path"), weights=(Fraction(2), Fraction(9, 4)))
KIND = Attribute(name="kind", categories=("open", "secret", "hidden"))
RECORDS = UnorderedRecords(attributes=(KIND,), most=3)
SPACES: tuple[DatasetSpace, ...] = (VISITS, TRADES, PEOPLE, WEIGHTED)


def pairs(space: DatasetSpace) -> Iterable[tuple[Dataset, Dataset]]:
    return itertools.product(tuple(space.datasets()), repeat=2)


# --- spaces --------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_every_dataset_is_listed_once_and_the_smallest_first(space: DatasetSpace) -> None:
    listed = list(space.datasets())
    assert len(set(listed)) == len(listed) == space.cardinality()
    assert [space.magnitude(x) for x in listed] == sorted(space.magnitude(x) for x in listed)
    assert all(space.dataset(x) == x for x in listed)


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_a_dataset_is_its_coordinates_and_is_told_by_the_records_of_each_unit(space: DatasetSpace) -> None:
    listed = list(space.datasets())
    assert all(space.from_vector(space.vector(x)) == x for x in listed)
    for unit in space.units:
        assert space.is_told_by(unit)
        assert len({frozenset(Counter(space.records(x, unit)).items()) for x in listed}) == len(listed)
        assert len({len(space.records(x, unit)) for x in listed}) == 1 or not space.fixes_size(unit)


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_records_have_the_attributes_that_are_declared(space: DatasetSpace) -> None:
    for dataset in space.datasets():
        for unit in space.units:
            attributes = space.attributes_of(unit)
            for record in space.records(dataset, unit):
                assert len(record) == len(attributes)
                assert all(a.index(value) >= 0 for a, value in zip(attributes, record, strict=True))


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_no_more_records_change_than_stated(space: DatasetSpace) -> None:
    for unit, per in itertools.product(space.units, repeat=2):
        most = nesting_of(space).most_changed(unit, per)
        assert most is not None
        few, many = SymmetricDifference(unit=unit), SymmetricDifference(unit=per)
        looked = itertools.islice(((x, y) for x, y in pairs(space) if x != y), 0, None, 5)
        quotients = [few.distance(x, y, space).as_fraction() / many.distance(x, y, space).as_fraction() for x, y in looked]
        assert max(quotients) <= most


def test_queries_and_invariants_count_on_every_unit() -> None:
    x = VISITS.dataset([["ann", 0, "visit"], ["ann", 2, "visit"], ["bob", 2, "visit"]])
    assert Marginal(attributes=("time",), unit="event").answers(x, VISITS) == (1, 0, 2)
    assert Marginal(attributes=("time 2",), unit="user").answers(x, VISITS) == (0, 2)
    assert LinearMap(rows=((1, 1, 1, 0, 0, 0),), label="ann").answers(x, VISITS) == (2,)
    assert Marginal(attributes=("smokes", "votes"), unit="user").answers((("ann", "yes", "no", "no"),), PEOPLE) == (0, 1, 0, 0)


@pytest.mark.parametrize("space", [PEOPLE, VISITS], ids=lambda space: space.name)
def test_parts_that_do_not_add_up_to_a_record(space: DatasetSpace) -> None:
    cells = space.cells()
    assert cells is not None
    assert space.records_of_cell(cells[0], space.units[-1]) == (cells[0],)
    with pytest.raises(IncompatibleBlocksError, match="do not add up"):
        space.records_of_cell(cells[0], "user")


def test_clusters_show_their_elements_only() -> None:
    x = PEOPLE.dataset([{"user": "ann", "smokes": "yes", "drinks": "no", "votes": "no"}])
    assert PEOPLE.records(x, "cluster") == (("ann", "habits", "yes", "no", "-"), ("ann", "views", "-", "-", "no"))
    assert [PEOPLE.most_within(a, b) for a, b in (("element", "cluster"), ("element", "user"), ("cluster", "user"))] == [2, 3, 2]
    assert PEOPLE.most_within("user", "element") is None


def test_element_distance_is_the_number_of_elements_that_differ() -> None:
    space = ElementRecords(users=("ann", "bob"), elements=(SMOKES, DRINKS))
    for x, y in pairs(space):
        rows = list(zip(x, y, strict=True))  # type: ignore[call-overload]
        expected = sum(a != b for ours, theirs in rows for a, b in zip(ours, theirs, strict=True))
        assert Hamming(unit="element").distance(x, y, space) == expected
        assert Hamming(unit="user").distance(x, y, space) == sum(a != b for a, b in rows)


BAD: list[tuple[DatasetSpace, Any, str]] = [
    (VISITS, "text", "collection of events"),
    (VISITS, {"ann": 0}, "collection of events"),
    (VISITS, [["eve", 0, "visit"]], "eve"),
    (VISITS, [["ann", 3, "visit"]], "category"),
    (VISITS, [["ann", 0, "visit"], ["ann", "0", "visit"]], "at most 1 events"),
    (PEOPLE, 3, "collection of records"),
    (PEOPLE, [], "one record for each"),
    (PEOPLE, [["ann", "yes", "no", "maybe"]], "maybe"),
    (WEIGHTED, 1, "table of weights"),
    (WEIGHTED, [["edge"]], "pairs"),
    (WEIGHTED, {"knot": 1}, "knot"),
    (WEIGHTED, {"edge": 1}, "0 or among 1/2, 2"),
    (WEIGHTED, {"edge": "heavy"}, "rational"),
    (WEIGHTED, [["edge", 2], ["edge", 2]], "twice"),
]


@pytest.mark.parametrize(("space", "value", "words"), BAD)
def test_what_is_no_dataset_is_refused(space: DatasetSpace, value: Any, words: str) -> None:
    with pytest.raises(NotInSpaceError, match=words):
        space.dataset(value)


@pytest.mark.parametrize(
    ("space", "vector"),
    [(VISITS, (-1, 0, 0, 0, 0, 0)), (VISITS, (2, 0, 0, 0, 0, 0)), (PEOPLE, (2, 0, 0, 1, 0, 1)), (PEOPLE, (1, 0, 1, 0, 0, 0)),
     (PEOPLE, (1, 1, 0, 0, 1, 0)), (WEIGHTED, (3, 0)), (WEIGHTED, (-1, 0))],
)  # fmt: skip
def test_what_is_no_vector_of_a_dataset_is_refused(space: DatasetSpace, vector: tuple[int, ...]) -> None:
    with pytest.raises(NotInSpaceError):
        space.from_vector(vector)


@pytest.mark.parametrize(
    "make",
    [
        lambda: EventStreams(users=("ann", "ann"), times=1, values=("a",)),
        lambda: EventStreams(users=("ann",), times=1, values=("none",)),
        lambda: EventStreams(users=("ann",), times=1, values=("a", "b", "a + b"), per_time=2),
        lambda: EventStreams(users=("ann",), times=0, values=("a",)),
        lambda: ElementRecords(users=("ann",), elements=(SMOKES, SMOKES)),
        lambda: ElementRecords(users=("ann",), elements=(SMOKES, DRINKS), clusters=(("smokes", "habits"),)),
        lambda: ElementRecords(users=("ann",), elements=(Attribute(name="user", categories=("a",)),)),
        lambda: WeightedRecords(values=("a", "a"), weights=(Fraction(1),)),
        lambda: WeightedRecords(values=("a",), weights=(Fraction(0),)),
        lambda: WeightedRecords(values=("a",), weights=(Fraction(1), Fraction(1))),
        lambda: PersonalWeights(weights=(number(0),)),
        lambda: RecordWeights(attribute="kind", weights=()),
        lambda: WindowEvents(width=0),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(ParameterError):
        make()


def test_weight_distance_is_the_sum_of_the_changes() -> None:
    for x, y in pairs(WEIGHTED):
        ours, theirs = WEIGHTED.vector(x), WEIGHTED.vector(y)
        assert WeightDistance().distance(x, y, WEIGHTED) == Fraction(
            sum(abs(a - b) for a, b in zip(ours, theirs, strict=True)), 2
        )
    assert WeightDistance().least_distance(WEIGHTED) == Fraction(1, 2)


def counts(space: DatasetSpace) -> list[InputDivergence]:
    return [kind(unit=unit) for kind in (Hamming, SymmetricDifference) for unit in space.units]


def personal(*weights: object) -> PersonalWeights:
    return PersonalWeights(weights=tuple(number(weight) for weight in weights))  # type: ignore[arg-type]


DISTANCES: list[tuple[DatasetSpace, list[InputDivergence]]] = [
    (VISITS, [*(WindowEvents(width=width) for width in (1, 2, 3, 7)), *counts(VISITS)]),
    (TRADES, [WindowEvents(width=1), WindowEvents(width=2), *counts(TRADES)]),
    (PEOPLE, counts(PEOPLE)),
    (WEIGHTED, [WeightDistance(), *counts(WEIGHTED)]),
    (CLOSE, [WeightDistance(), *counts(CLOSE)]),
    (BitVectors(length=2), [personal(2, "5/2"), personal(1, "inf"), personal("1/3", ln(3)), HammingOrdered(), Hamming()]),
    (RECORDS, [*(OneSided(attribute="kind", sensitive=kinds) for kinds in (("secret",), ("secret", "hidden"))),
               RecordWeights(attribute="kind", weights=(("open", number("1/2")),), otherwise=number(3)), *counts(RECORDS)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("space", "distances"),
    [pytest.param(*row, marks=pytest.mark.slow if row[0] in (VISITS, TRADES) else ()) for row in DISTANCES],
    ids=[space.name for space, _ in DISTANCES],
)
def test_bounds_between_distances_hold_and_are_known(space: DatasetSpace, distances: list[InputDivergence]) -> None:
    looked = list(itertools.product(list(space.datasets())[:: 3 if space is VISITS else 1][:20], repeat=2))
    tables = {d: [d.distance(x, y, space) for x, y in looked] for d in distances}
    known = 0
    for one, other in itertools.permutations(distances, 2):
        stated = one.bounded_by(other, space) or other.bounds(one, space)
        if stated is None:
            continue
        known += 1
        for pair, near, far in zip(looked, tables[one], tables[other], strict=True):
            assert not exceeds_times(near, stated[0], far), (str(one), str(other), stated, pair)
    assert known >= len(distances)


def test_a_table_of_weighted_records_has_no_matrix():
    """Their cells are no records: the table is no sum over cells, and that is no error."""
    assert Marginal(unit="record", attributes=("value",)).matrix(WEIGHTED) is None
