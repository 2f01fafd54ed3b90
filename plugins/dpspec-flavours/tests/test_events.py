"""Streams of events, their units and windows, by brute force from the definitions; and their flavours."""

import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import pytest
from dpspec_divergences import Hamming, HammingOrdered, SymmetricDifference
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
    OneSided,
    PersonalWeights,
)
from dpspec_flavours.streams.record_flavours import ElementLevelDP, WeightedDP
from hypothesis import given, strategies as st

from dpspec import installed
from dpspec.api import compare
from dpspec.base.exact import Number, ln, number
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import determines
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors
from dpspec.comparison.compare import Answer
from dpspec.grammar.tables import Table
from dpspec.specfile import read_text
from dpspec.specfile.document import flavour_document
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


def test_invariants_of_any_unit_are_compared() -> None:
    """What does not add up over events is settled by looking at all datasets, and no fault."""
    first, per_time = Marginal(attributes=("time 0",), unit="user"), Marginal(attributes=("time",), unit="event")
    assert first.matrix(VISITS) is None
    assert per_time.matrix(VISITS) is not None
    assert determines((per_time,), (first,), VISITS).answer is True
    assert determines((first,), (per_time,), VISITS).answer is False


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
