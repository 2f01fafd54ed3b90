"""Streams, elements, weights and policies, against brute force from the definitions."""

import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import pytest
from dpspec_divergences import Hamming, HammingOrdered, Mult, Renyi, ReplaceOne, SymmetricDifference
from dpspec_flavours.streams.elements import ElementRecords, WeightDistance, WeightedRecords
from dpspec_flavours.streams.events import (
    EventLevelDP,
    EventStreams,
    UserLevelDP,
    UserWindowDP,
    WEventDP,
    WindowEvents,
    windows_needed,
)
from dpspec_flavours.streams.personal import (
    MultOneWay,
    OneSided,
    OpenSample,
    PersonalisedResponse,
    PersonalWeights,
    RecordWeights,
)
from dpspec_flavours.streams.record_flavours import ElementLevelDP, OneSidedDP, WeightedDP
from dpspec_noise import RandomisedResponse
from hypothesis import given, strategies as st

from dpspec import installed
from dpspec.api import compare
from dpspec.base.errors import DpspecError, IncompatibleBlocksError, NotInSpaceError, ParameterError
from dpspec.base.exact import INFINITY, Number, ln, number
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import determines
from dpspec.blocks.parts import nesting_of
from dpspec.blocks.records import OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.comparison.compare import Answer
from dpspec.grammar.tables import Table
from dpspec.laws.law import FiniteLaw
from dpspec.specfile import read_text
from dpspec.specfile.document import flavour_document
from dpspec.testing.check import exceeds_times
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.exhaustive import verify
from reproductions.flavours import text_of

BLOCKS = {
    kind: tuple(cls for cls in installed().registry.classes(kind) if cls.__module__.startswith("dpspec_flavours.streams"))
    for kind in ("flavours", "multiverses", "budgets", "mechanisms")
}

REGISTRY = installed().registry
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


def slots(space: EventStreams, dataset: Any) -> dict[tuple[str, int], Counter[str]]:
    """What every user did at every time, straight from the events."""
    done = {(user, time): Counter[str]() for user in space.users for time in range(space.times)}
    for user, time, value in dataset:
        done[user, int(time)][value] += 1
    return done


def differing(space: EventStreams, left: Dataset, right: Dataset) -> set[tuple[str, int]]:
    ours, theirs = slots(space, left), slots(space, right)
    return {slot for slot in ours if ours[slot] != theirs[slot]}


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


def test_units_of_streams_are_the_levels_of_protection() -> None:
    """User-level counts users, event-level events, user-window pairs of user and block: the distances that were there before."""
    for x, y in pairs(VISITS):
        changed = differing(VISITS, x, y)
        assert Hamming(unit="user").distance(x, y, VISITS) == len({user for user, _ in changed})
        assert Hamming(unit="user-window").distance(x, y, VISITS) == len({(user, time // 2) for user, time in changed})
        assert SymmetricDifference(unit="event").distance(x, y, VISITS) == len(changed)


def test_several_events_at_one_time() -> None:
    twice = TRADES.dataset([["ann", 1, "sell"], ["ann", 1, "buy"]])
    assert twice == (("ann", "1", "buy"), ("ann", "1", "sell"))
    assert TRADES.records(twice, "user") == (("ann", "none", "buy + sell"),)
    assert TRADES.records(twice, "user-window") == (("ann", "0", "none"), ("ann", "1", "buy + sell"))
    assert [a.name for a in TRADES.attributes_of("user-window")] == ["user", "block", "slot 0"]
    assert TRADES.most_within("event", "user") == 4


def test_events_stand_in_the_order_of_users_times_and_values() -> None:
    space = EventStreams(users=("bob", "ann"), times=12, values=("sell", "buy"), per_time=2)
    given = [["ann", 0, "buy"], ["bob", 10, "buy"], ["bob", 9, "buy"], ["bob", 9, "sell"]]
    assert space.dataset(given) == (("bob", "9", "sell"), ("bob", "9", "buy"), ("bob", "10", "buy"), ("ann", "0", "buy"))


@pytest.mark.parametrize(
    "flavour", [EventLevelDP(), UserLevelDP(), WEventDP(), ElementLevelDP(), WeightedDP()], ids=lambda f: f.name
)
def test_a_release_reads_a_table_of_the_records_of_the_smallest_unit(flavour: Any) -> None:
    """Each row is one event, element or weighted record; the noise is drawn for every answer."""
    spec, mechanism = flavour.spec(), flavour.satisfied_by().mechanism
    unit = spec.space.units[-1]
    largest = max(itertools.islice(spec.space.datasets(), 16), key=spec.space.magnitude)
    table = Table.from_records(spec.space.records(largest, unit), spec.space.attributes_of(unit))
    released = mechanism.release(table, spec.space, SeededRandomness(1))
    assert len(released) == len(mechanism.answers(largest, spec.space))


def test_queries_and_invariants_count_on_every_unit() -> None:
    x = VISITS.dataset([["ann", 0, "visit"], ["ann", 2, "visit"], ["bob", 2, "visit"]])
    assert Marginal(attributes=("time",), unit="event").answers(x, VISITS) == (1, 0, 2)
    assert Marginal(attributes=("time 2",), unit="user").answers(x, VISITS) == (0, 2)
    assert LinearMap(rows=((1, 1, 1, 0, 0, 0),), label="ann").answers(x, VISITS) == (2,)
    assert Marginal(attributes=("smokes", "votes"), unit="user").answers((("ann", "yes", "no", "no"),), PEOPLE) == (0, 1, 0, 0)


def test_invariants_of_any_unit_are_compared() -> None:
    """What does not add up over events is settled by looking at all datasets, and no fault."""
    first, per_time = Marginal(attributes=("time 0",), unit="user"), Marginal(attributes=("time",), unit="event")
    assert first.matrix(VISITS) is None
    assert per_time.matrix(VISITS) is not None
    assert determines((per_time,), (first,), VISITS).answer is True
    assert determines((first,), (per_time,), VISITS).answer is False


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


# --- distances -----------------------------------------------------------------------------------


def fewest_windows(demand: Mapping[int, int], width: int, times: int) -> int:
    """By trying all multisets of windows, the smallest first."""
    for size in itertools.count():
        for starts in itertools.combinations_with_replacement(range(times), size):
            if all(sum(s <= t < s + width for s in starts) >= wanted for t, wanted in demand.items()):
                return size
    raise AssertionError


@given(st.dictionaries(st.integers(0, 4), st.integers(0, 2), max_size=4), st.integers(1, 6))
def test_windows_are_as_few_as_can_be(demand: dict[int, int], width: int) -> None:
    assert windows_needed(demand, width) == fewest_windows(demand, width, 5)


@pytest.mark.reference("B-D30")
@pytest.mark.parametrize("width", [1, 2, 3])
def test_window_distance_is_the_path_distance_of_w_neighbours(width: int) -> None:
    """One step changes what one user did at each time of a window (Kellaris et al. 2014, Definition of w-neighbours)."""
    space = EventStreams(users=("ann", "bob"), times=3, values=("visit",))
    start, d = (), WindowEvents(width=width)
    for x, steps in walked(space, start, lambda x, y: one_window(space, x, y, width)).items():
        assert d.distance(start, x, space) == steps
    for x, y in itertools.islice(pairs(space), 0, None, 7):
        assert d.distance(x, y, space) == d.distance(y, x, space)


def one_window(space: EventStreams, x: Dataset, y: Dataset, width: int) -> bool:
    changed = differing(space, x, y)
    times = [time for _, time in changed]
    return len(set(times)) == len(times) and max(times) - min(times) < width


def walked(space: DatasetSpace, start: Dataset, related: Callable[[Dataset, Dataset], bool]) -> dict[Dataset, int]:
    """Steps from the start along directed neighbours, breadth first."""
    everything, steps, waiting = tuple(space.datasets()), {start: 0}, deque([start])
    while waiting:
        x = waiting.popleft()
        for y in everything:
            if y not in steps and related(x, y):
                steps[y] = steps[x] + 1
                waiting.append(y)
    return steps


@pytest.mark.reference("K-D43")
def test_one_sided_distance_is_the_path_distance_of_one_sided_neighbours() -> None:
    d = OneSided(attribute="kind", sensitive=("secret",))

    def related(x: Dataset, y: Dataset) -> bool:
        """x' is x with one sensitive record replaced (Doudalis et al. 2017)."""
        return ReplaceOne().related(x, y, RECORDS) and bool(Counter(x)[("secret",)] > Counter(y)[("secret",)])  # type: ignore[call-overload]

    for x in RECORDS.datasets():
        reached = walked(RECORDS, x, related)
        for y in RECORDS.datasets():
            assert d.distance(x, y, RECORDS) == reached.get(y, INFINITY)


def test_weights_of_people_add_up() -> None:
    space, d = BitVectors(length=3), PersonalWeights(weights=(number(1), ln(3), number("inf")))
    assert d.distance((0, 0, 0), (1, 1, 0), space) == number(1) + ln(3)
    assert d.distance((0, 0, 0), (0, 0, 1), space).is_infinite
    assert d.distance((0, 0, 1), (0, 0, 1), space) == 0
    assert d.least_distance(space) == 1


def test_a_count_moves_no_faster_than_weights_of_at_least_one() -> None:
    assert [personal(*weights).counted_unit() for weights in ((1, 2), ("1/2", 2))] == ["person", None]
    rows = [RecordWeights(attribute="kind", weights=(), otherwise=number(weight)) for weight in ("1/2", 1)]
    assert [weights.counted_unit() for weights in rows] == [None, "person"]


def test_weights_of_records_add_up() -> None:
    d = RecordWeights(attribute="kind", weights=(("open", number("1/2")), ("secret", number(3))), otherwise=number(10))
    for x, y in pairs(RECORDS):
        gone_or_come = [*(Counter(x) - Counter(y)).elements(), *(Counter(y) - Counter(x)).elements()]  # type: ignore[call-overload]
        cost = {"open": Fraction(1, 2), "secret": Fraction(3), "hidden": Fraction(10)}
        assert d.distance(x, y, RECORDS) == sum((cost[kind] for (kind,) in gone_or_come), Fraction(0))


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


def bound(one: InputDivergence, other: InputDivergence, space: DatasetSpace) -> Number | None:
    stated = one.bounded_by(other, space) or other.bounds(one, space)
    return None if stated is None else stated[0]


@pytest.mark.reference("B-D30", "B-T22")
def test_who_dominates_whom() -> None:
    """Hand-computed: T = 3 times, blocks of 2, at most one event per time."""
    user, window, event = Hamming(unit="user"), Hamming(unit="user-window"), SymmetricDifference(unit="event")
    assert [bound(a, b, VISITS) for a, b in ((user, window), (window, event), (user, event))] == [1, 1, 1]
    assert [bound(a, b, VISITS) for a, b in ((window, user), (event, window), (event, user))] == [2, 4, 6]
    two = WindowEvents(width=2)
    assert [bound(two, d, VISITS) for d in (user, window, event)] == [2, 1, 1]
    assert [bound(d, two, VISITS) for d in (user, window, event)] == [2, 2, 4]
    assert bound(WindowEvents(width=1), two, VISITS) == 2
    assert bound(two, WindowEvents(width=1), VISITS) == 1
    element, cluster, person = (Hamming(unit=unit) for unit in ("element", "cluster", "user"))
    assert [bound(a, b, PEOPLE) for a, b in ((person, element), (element, person), (cluster, element))] == [1, 3, 1]
    weights = PersonalWeights(weights=(number("1/2"), number(3)))
    space = BitVectors(length=2)
    assert (bound(weights, HammingOrdered(), space), bound(HammingOrdered(), weights, space)) == (3, 2)
    assert bound(Hamming(), OneSided(attribute="kind", sensitive=("open",)), RECORDS) == 1
    assert bound(WeightDistance(), SymmetricDifference(unit="record"), WEIGHTED) == 2
    assert bound(SymmetricDifference(unit="record"), WeightDistance(), WEIGHTED) == 2
    assert bound(SymmetricDifference(unit="record"), WeightDistance(), CLOSE) == 8


@pytest.mark.parametrize(
    ("divergence", "space", "words"),
    [
        (WindowEvents(width=2), BitVectors(length=2), "no unit"),
        (WindowEvents(width=2), UnorderedRecords(attributes=(KIND,), unit="event"), "attribute user"),
        (PersonalWeights(weights=(number(1),)), RECORDS, "positions"),
        (PersonalWeights(weights=(number(1),)), BitVectors(length=2), "each of the 2"),
        (PersonalWeights(weights=(number(1),)), OrderedRecords(attributes=(KIND,), most=2), "all positions"),
        (RecordWeights(attribute="sex", weights=(("f", number(1)),)), RECORDS, "no such person attribute"),
        (RecordWeights(attribute="kind", weights=(("open", number(1)),)), RECORDS, "1 of the 3"),
        (OneSided(attribute="sex", sensitive=("f",)), RECORDS, "no such person attribute"),
        (WeightDistance(), IntegerCounts(), "weights"),
    ],
)
def test_a_distance_says_which_space_it_needs(divergence: InputDivergence, space: DatasetSpace, words: str) -> None:
    with pytest.raises(IncompatibleBlocksError, match=words):
        divergence.check(space)


def test_an_unknown_category_is_refused() -> None:
    for divergence in (
        OneSided(attribute="kind", sensitive=("secre",)),
        RecordWeights(attribute="kind", weights=(("o", number(1)),)),
    ):
        with pytest.raises(DpspecError, match="kind"):
            divergence.check(RECORDS)


def test_windows_are_counted_on_any_records_with_users_and_times() -> None:
    attributes = Attribute(name="user", categories=("ann", "bob")), Attribute(name="time", count=12)
    space, d = UnorderedRecords(attributes=attributes, unit="event"), WindowEvents(width=3)
    d.check(space)
    events = space.dataset([["ann", "2"], ["ann", "4"], ["ann", "10"], ["ann", "11"]])
    assert d.distance((), events, space) == 2
    assert d.distance(events, space.dataset([*events, ("bob", "3")]), space) == 1  # type: ignore[misc]


@pytest.mark.parametrize(("size", "width"), [(1, 1), (2, 1), (2, 2)])
def test_an_event_that_replaces_another_may_need_a_window_for_each(size: int, width: int) -> None:
    """Of a fixed number of events, half of the multiset difference was counted, as of users: two events are two slots."""
    attributes = Attribute(name="user", categories=("ann", "bob")), Attribute(name="time", count=3)
    space = UnorderedRecords(attributes=attributes, unit="event", least=size, most=size)
    windows = WindowEvents(width=width)
    pairs = list(itertools.combinations(space.datasets(), 2))
    for other in (SymmetricDifference(unit="event"), Hamming(unit="event")):
        constant = bound(windows, other, space)
        assert constant is not None
        ratios = [windows.distance(x, y, space) / other.distance(x, y, space).as_fraction() for x, y in pairs]
        assert max(ratios) == constant


# --- one direction -------------------------------------------------------------------------------


@pytest.mark.reference("K-D43")
@given(st.lists(st.integers(0, 5), min_size=2, max_size=3), st.lists(st.integers(0, 5), min_size=2, max_size=3))
def test_one_way_is_the_largest_log_ratio_of_an_event(left: list[int], right: list[int]) -> None:
    """sup over events S of ln(P(S)/Q(S)), by all events."""
    left, right = [left[0] + 1, *left[1:]], [right[0] + 1, *right[1:]]
    laws = [FiniteLaw.from_weights({i: w for i, w in enumerate(weights) if w}) for weights in (left, right)]
    ratios: list[Fraction | None] = []
    for size in range(1, 4):
        for event in itertools.combinations(range(3), size):
            p, q = (sum((law.probability(i) for i in event), Fraction(0)) for law in laws)
            if p:
                ratios.append(p / q if q else None)
    found = MultOneWay().between(*laws)
    assert found.is_exact
    assert found.lower == (INFINITY if None in ratios else ln(max(r for r in ratios if r is not None)))
    assert Mult().between(*laws).lower == max(found.lower, MultOneWay().between(*reversed(laws)).lower)


def test_one_way_is_implied_by_both_ways() -> None:
    assert MultOneWay().bounded_by(Mult()) == (number(1), "one of its two directions")
    assert MultOneWay().bounded_by(MultOneWay()) is not None
    assert Mult().bounded_by(MultOneWay()) is None
    assert MultOneWay().bounded_by(Renyi(order=2)) is None  # type: ignore[arg-type]


@pytest.mark.reference("K-D43")
def test_both_ways_would_ask_too_much_of_a_one_sided_mechanism() -> None:
    """One record: the sample of open records keeps the directed promise and breaks the symmetric one."""
    spec, sample = OneSidedDP().spec(), OneSidedDP().satisfied_by().mechanism
    assert verify(sample, spec).outcome.value == "verified"
    verdict = verify(sample, spec.replace(output_divergence=Mult()))
    assert verdict.outcome.value == "refuted"
    assert verdict.witness is not None
    assert (verdict.witness.left, verdict.witness.right) == ((("secret",),), (("open",),))


def test_a_one_way_witness_shows_the_event_of_its_direction() -> None:
    witness = verify(OneSidedDP().broken_by().mechanism, OneSidedDP().spec()).witness
    assert witness is not None
    assert witness.event is not None
    assert (witness.event.left.lower, witness.event.right.lower) == (1, 0)


@pytest.mark.parametrize("keep", [Fraction(0), Fraction(1, 4), Fraction(1)])
def test_a_sample_has_binomial_counts(keep: Fraction) -> None:
    law = OpenSample(attribute="kind", sensitive=("secret", "hidden"), keep_probability=keep).law(
        [["open"], ["open"], ["secret"]], RECORDS
    )
    expected = {(): (1 - keep) ** 2, (("open",),): 2 * keep * (1 - keep), (("open",), ("open",)): keep**2}
    assert law == FiniteLaw.of({outcome: p for outcome, p in expected.items() if p})


# --- mechanisms and flavours ---------------------------------------------------------------------


def test_everybody_has_a_coin() -> None:
    mechanism = PersonalisedResponse(keep_probabilities=(Fraction(3, 4), Fraction(1)))
    assert mechanism.law((0, 1), BitVectors(length=2)) == FiniteLaw.of({(0, 1): "3/4", (1, 1): "1/4"})
    same = PersonalisedResponse(keep_probabilities=(Fraction(2, 3),) * 2)
    assert same.law((0, 1), BitVectors(length=2)) == RandomisedResponse(keep_probability=Fraction(2, 3)).law(
        (0, 1), BitVectors(length=2)
    )
    for space, words in ((BitVectors(length=3), "needs 3"), (RECORDS, "bit-vectors")):
        with pytest.raises(IncompatibleBlocksError, match=words):
            mechanism.check(space)


@pytest.mark.spread(3)
@pytest.mark.reference("B-D30")
@pytest.mark.parametrize("flavour", [cls() for cls in BLOCKS["flavours"]], ids=lambda flavour: flavour.name)
def test_a_flavour_is_kept_tightly_and_broken_by_few_records(flavour: Any) -> None:
    spec = flavour.spec()
    kept = verify_claim(flavour.satisfied_by().mechanism, spec)
    assert kept.outcome.value == "verified"
    assert kept.constant.lower == kept.constant.upper == spec.budget.value
    broken = verify_claim(flavour.broken_by().mechanism, spec)
    assert broken.outcome.value == "refuted"
    assert max(spec.space.magnitude(x) for x in (broken.witness.left, broken.witness.right)) <= 3


@pytest.mark.parametrize("flavour", [cls() for cls in BLOCKS["flavours"]], ids=lambda flavour: flavour.name)
def test_the_file_of_a_flavour_reads_back(flavour: Any) -> None:
    assert read_text(text_of(flavour, REGISTRY), REGISTRY) == flavour_document(flavour)


@pytest.mark.slow
@pytest.mark.reference("B-D30", "B-T22")
def test_event_level_noise_is_no_user_level_noise() -> None:
    """The mistake of user-level-dp keeps the event level, and a user pays once for each time."""
    mechanism = UserLevelDP().broken_by().mechanism
    at_events = verify(mechanism, EventLevelDP().spec())
    assert (at_events.outcome.value, at_events.constant.lower) == ("verified", ln(4))
    assert verify(mechanism, UserLevelDP().spec()).constant.lower == 4 * ln(4)


@pytest.mark.reference("B-D30")
def test_a_budget_per_day_is_none_per_sliding_window() -> None:
    """The mistake of w-event-dp keeps its promise for the fixed blocks of two times."""
    mechanism = WEventDP().broken_by().mechanism
    assert verify(mechanism, UserWindowDP().spec()).outcome.value == "verified"
    assert verify(mechanism, WEventDP().spec()).outcome.value == "refuted"


@pytest.mark.slow
@pytest.mark.reference("B-D30", "B-T22")
def test_the_levels_of_protection_form_a_chain() -> None:
    """With one user and equal budgets: user-level, w-event, user-window, event-level; no way back."""
    chain = [cls().spec() for cls in (UserLevelDP, WEventDP, UserWindowDP, EventLevelDP)]
    for (i, stricter), (j, laxer) in itertools.permutations(enumerate(chain), 2):
        assert (compare(stricter, laxer).forward.answer is Answer.IMPLIES) == (i < j), (i, j)


def test_a_long_stream_is_listed_and_read_from_its_events(monkeypatch):
    space = EventStreams(users=("ann",), times=3_000, values=("visit",))
    first = list(itertools.islice(space.datasets(), 3))
    assert first == [(), (("ann", "2999", "visit"),), (("ann", "2998", "visit"),)]
    monkeypatch.setattr(EventStreams, "cells", lambda *given: pytest.fail("all cells are listed"))
    assert space.from_counts({("ann", "7", "visit"): 1, ("ann", "3", "visit"): 0}) == (("ann", "7", "visit"),)


def test_streams_are_listed_by_their_number_of_events():
    space = EventStreams(users=("ann", "bob"), times=2, values=("x", "y"), per_time=2)
    listed = list(space.datasets())
    assert len(listed) == len(set(listed)) == space.cardinality() == 6**4
    assert [len(dataset) for dataset in listed] == sorted(len(dataset) for dataset in listed)


def test_a_table_of_weighted_records_has_no_matrix():
    """Their cells are no records: the table is no sum over cells, and that is no error."""
    assert Marginal(unit="record", attributes=("value",)).matrix(WEIGHTED) is None
