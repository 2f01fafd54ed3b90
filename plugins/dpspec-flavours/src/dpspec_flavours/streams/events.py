"""Streams: what named users did at which time, and the flavours that say what one change is.

A stream is read by events, by users, or by users in a stretch of time: one change is from one event to all that a user ever did.
w-event privacy counts windows of w consecutive times.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, ClassVar, cast

from dpspec_divergences import Hamming, Mult, SymmetricDifference
from dpspec_noise import Geometric

from dpspec.plugin import (
    Attribute,
    Bound,
    Dataset,
    DatasetSpace,
    Example,
    Flavour,
    IncompatibleBlocksError,
    InputDivergence,
    Integer,
    Items,
    LinearMap,
    Marginal,
    Number,
    ParameterError,
    PrivacySpec,
    Record,
    Text,
    Trivial,
    UniformBudget,
    blocks,
    define,
    errors,
    is_a,
    ln,
    number,
    params,
)

EVENT, USER, USER_WINDOW = "event", "user", "user-window"
TIME = "time"
NOTHING = "none"
"""How a time without an event is written in the record of a user."""

_MOST = 100_000
"""A dataset is read by its cells, which are listed."""

Slot = tuple[str, int]
"""A user and a time."""


@define
class EventStreams(DatasetSpace, blocks.ListedCells, blocks.CellRecords, blocks.Nesting, blocks.Wording):
    """Streams of events (user, time, value), with at most `per_time` events of one user at one time, possibly none.

    A dataset is a tuple of its events, by user, then time, then value. One and the same dataset is read by three units:
    *event* (one record for each event), *user* (one record for each user: what they did at every time) and *user-window* (one
    record for each user and each of the consecutive blocks of `window` times, such as a person-day). So the distances that
    count records give the levels of protection of Dwork, Naor, Pitassi and Rothblum (2010): event-level is symmetric-difference
    of events, user-level is hamming of users, and between them lies hamming of user-windows.

    Args:
        users: their names.
        times: T; the times are 0 to T - 1.
        values: what an event may be.
        per_time: the most events of one user at one time.
        window: the number of times in a block; without it there is no unit user-window. The last block may be shorter.

    >>> space = EventStreams(users=("ann", "bob"), times=2, values=("visit",), window=1)
    >>> space.records(space.dataset([["bob", 1, "visit"]]), "user")
    (('ann', 'none', 'none'), ('bob', 'none', 'visit'))
    """

    name: ClassVar[str] = "event-streams"

    users: Annotated[tuple[str, ...], Items(Text(), least=1)]
    times: Annotated[int, Integer(1)]
    values: Annotated[tuple[str, ...], Items(Text(), least=1)]
    per_time: Annotated[int, Integer(1)] = 1
    window: Annotated[int, Integer(1)] | None = None

    def __attrs_post_init__(self) -> None:
        states = blocks.multisets_between(len(self.values), 0, self.per_time)
        if states is None or states > _MOST or len(self.users) * self.times * len(self.values) > _MOST:
            rule = f"must not make more than {_MOST} cells, or as many states at one time"
            raise ParameterError("times and per_time", rule, "take fewer, or blocks of them", value=(self.times, self.per_time))
        self.attributes_of(EVENT)  # the attributes refuse names that are given twice
        self._slot_attribute("slot")

    # -- units ------------------------------------------------------------------------------------

    @property
    def units(self) -> tuple[str, ...]:
        return (USER, EVENT) if self.window is None else (USER, USER_WINDOW, EVENT)

    @property
    def blocks(self) -> tuple[range, ...]:
        """The consecutive blocks of times: one block without a window."""
        length = self.stretch(USER_WINDOW)
        return tuple(range(start, min(start + length, self.times)) for start in range(0, self.times, length))

    def stretch(self, unit: str) -> int:
        """The number of times over which one record of the unit stretches."""
        longest = {USER: self.times, USER_WINDOW: min(self.window or self.times, self.times), EVENT: 1}
        return longest[unit]

    def attributes_of(self, unit: str) -> tuple[Attribute, ...]:
        self.check_unit(unit)
        user = Attribute(name=USER, categories=self.users)
        if unit == EVENT:
            return user, Attribute(name=TIME, count=self.times), Attribute(name="value", categories=self.values)
        if unit == USER:
            return user, *(self._slot_attribute(f"time {time}") for time in range(self.times))
        slots = (self._slot_attribute(f"slot {place}") for place in range(self.stretch(unit)))
        return user, Attribute(name="block", count=len(self.blocks)), *slots

    def records(self, dataset: Dataset, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        if unit == EVENT:
            return self._events(dataset)
        done = self._by_slot(dataset)

        def row(user: str, times: Iterable[int]) -> tuple[str, ...]:
            return tuple(" + ".join(done.get((user, time), ())) or NOTHING for time in times)

        if unit == USER:
            return tuple((user, *row(user, range(self.times))) for user in self.users)
        starts = enumerate(range(0, self.times, self.stretch(unit)))
        return tuple(
            (user, str(block), *row(user, range(start, start + self.stretch(unit))))
            for user, (block, start) in itertools.product(self.users, tuple(starts))
        )

    def fixes_size(self, unit: str) -> bool:
        return unit in self.units and unit != EVENT

    def is_told_by(self, unit: str) -> bool:
        return unit in self.units

    def most_within(self, inner: str, outer: str) -> int | None:
        if not {inner, outer} <= set(self.units) or self.units.index(inner) < self.units.index(outer):
            return None
        if inner == outer:
            return 1
        return len(self.blocks) if inner == USER_WINDOW else self.stretch(outer) * self.per_time

    def most_changed(self, unit: str, per: str) -> int | None:
        """As `most_within`; and a changed event changes one user, whose record is then another one: one gone, one come."""
        if {unit, per} <= set(self.units) and self.units.index(unit) < self.units.index(per):
            return 2 if per == EVENT else 1
        return self.most_within(unit, per)

    # -- datasets ---------------------------------------------------------------------------------

    def dataset(self, value: Any) -> Dataset:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            raise errors.NotInSpaceError(self.name, "must be a collection of events (user, time, value)", value=value)
        attributes = self.attributes_of(EVENT)
        events = [blocks.read_record(event, attributes) for event in value]
        crowded = [slot for slot, count in Counter((user, time) for user, time, _ in events).items() if count > self.per_time]
        if crowded:
            raise errors.NotInSpaceError(
                self.name, f"a user has at most {self.per_time} events at one time", "give the space a larger per_time",
                value=crowded[0],
            )  # fmt: skip
        return tuple(sorted(events, key=self._place))

    def datasets(self) -> Iterator[Dataset]:
        slots = tuple(itertools.product(self.users, range(self.times)))
        return itertools.chain.from_iterable(self._sized(slots, 0, size) for size in range(len(slots) * self.per_time + 1))

    def _sized(self, slots: tuple[Slot, ...], start: int, size: int) -> Iterator[tuple[Record, ...]]:
        """Every way to put `size` events into the slots from one on: the first slot that is not empty is a late one first."""
        if not size:
            yield ()
            return
        for place in reversed(range(start, len(slots) - -(-size // self.per_time) + 1)):
            user, time = slots[place]
            least = max(1, size - (len(slots) - place - 1) * self.per_time)
            for here in range(least, min(size, self.per_time) + 1):
                for values in itertools.combinations_with_replacement(self.values, here):
                    head = tuple((user, str(time), value) for value in values)
                    yield from ((*head, *rest) for rest in self._sized(slots, place + 1, size - here))

    def cardinality(self) -> int | None:
        states, slots = blocks.multisets_between(len(self.values), 0, self.per_time), len(self.users) * self.times
        return None if states is None else blocks.sequences_between(states, slots, slots)

    def magnitude(self, dataset: Dataset) -> int:
        """The number of events."""
        return len(self._events(dataset))

    # -- coordinates ------------------------------------------------------------------------------

    def cells(self) -> tuple[tuple[str, str, str], ...]:
        times = [str(time) for time in range(self.times)]
        return tuple(itertools.product(self.users, times, self.values))

    def vector(self, dataset: Dataset) -> tuple[int, ...]:
        counts = Counter(self._events(dataset))
        return tuple(counts[cell] for cell in self.cells())

    def from_vector(self, vector: tuple[int, ...]) -> Dataset:
        return self.from_counts(dict(zip(self.cells(), vector, strict=True)))

    def from_counts(self, counts: Mapping[Hashable, int]) -> Dataset:
        """Without a list of all cells, which may be a hundred thousand."""
        if any(count < 0 for count in counts.values()):
            raise errors.NotInSpaceError(self.name, "counts must not be negative", value=tuple(counts.values()))
        return self.dataset([cell for cell, count in counts.items() for _ in range(count)])

    def records_of_cell(self, cell: Hashable, unit: str) -> tuple[Record, ...]:
        self.check_unit(unit)
        if unit != EVENT:
            raise IncompatibleBlocksError(f"space {self.name}", "events do not add up to a record of this unit", value=unit)
        return (cast("Record", cell),)

    # -- moves ------------------------------------------------------------------------------------

    def cell_range(self) -> tuple[int, int]:
        return 0, self.per_time

    def crossed(self, cells: Sequence[Hashable]) -> tuple[Hashable, ...]:
        """The events that combine the users, the times and the values of some events."""
        return blocks.combined(cast("Sequence[Record]", cells), self.attributes_of(EVENT))

    def in_words(self, left: Dataset, right: Dataset) -> tuple[str, str]:
        return blocks.pair_of_records(self._events(left), self._events(right), self.attributes_of(EVENT), EVENT)

    # -- parts ------------------------------------------------------------------------------------

    def _events(self, dataset: Dataset) -> tuple[Any, ...]:
        return cast("tuple[Any, ...]", dataset)

    def _by_slot(self, dataset: Dataset) -> dict[Slot, list[str]]:
        done: dict[Slot, list[str]] = {}
        for user, time, value in self._events(dataset):
            done.setdefault((user, int(time)), []).append(value)
        return done

    def _place(self, event: Record) -> tuple[int, int, int]:
        user, time, value = event
        return self.users.index(str(user)), int(str(time)), self.values.index(str(value))

    def _slot_attribute(self, name: str) -> Attribute:
        """What a user may have done at one time."""
        sizes = range(1, self.per_time + 1)
        some = (chosen for size in sizes for chosen in itertools.combinations_with_replacement(self.values, size))
        return Attribute(name=name, categories=(NOTHING, *(" + ".join(chosen) for chosen in some)))

    @classmethod
    def examples(cls) -> Iterator[EventStreams]:
        """What the conformance kit checks it with."""
        yield cls(users=("ann", "bob"), times=2, values=("visit",), window=1)
        yield cls(users=("ann",), times=3, values=("visit",), window=2)
        yield cls(users=("ann",), times=1, values=("buy", "sell"), per_time=2)


# --- windows of times -----------------------------------------------------------------------------


def windows_needed(demand: Mapping[int, int], width: int) -> int:
    """The least number of intervals of `width` consecutive integers that cover every t at least demand[t] times.

    From left to right, an interval is begun where it is needed and not before: no interval could begin later.

    >>> windows_needed({0: 1, 1: 1, 2: 1}, 2), windows_needed({0: 1, 1: 2}, 2)
    (2, 2)
    """
    begun: dict[int, int] = {}
    for time in sorted(demand):
        running = sum(count for start, count in begun.items() if start > time - width)
        begun[time] = max(0, demand[time] - running)
    return sum(begun.values())


@define
class WindowEvents(InputDivergence):
    """The least number of windows of w consecutive times that turn one stream into the other (Kellaris et al. 2014).

    With n_t the number of users whose events at time t differ, d(x, x') is the least number of windows of w consecutive times
    that cover every time t at least n_t times: one w-event neighbour changes what one user did at each time of one window, and it
    may be another user at another time. For w = 1 it counts the pairs (user, time) that differ; for w >= T it is max n_t, which
    is 1 for the whole stream of one user.

    Args:
        width: w, the length of a window in times.

    Raises:
        IncompatibleBlocksError: when the space has no unit event with the attributes user and time.

    >>> space = EventStreams(users=("ann",), times=4, values=("visit",))
    >>> nothing, always = space.dataset([]), space.dataset([["ann", time, "visit"] for time in range(4)])
    >>> [str(WindowEvents(width=width).distance(nothing, always, space)) for width in (1, 2, 3, 4)]
    ['4', '2', '2', '1']
    """

    name: ClassVar[str] = "window-events"
    is_symmetric: ClassVar[bool] = True
    is_metric: ClassVar[bool] = True
    is_integral: ClassVar[bool] = True

    width: Annotated[int, Integer(1)]

    def check(self, space: DatasetSpace) -> None:
        known = {attribute.name for attribute in space.attributes_of(EVENT)}
        for name in (USER, TIME):
            if name not in known:
                rule = f"needs an attribute {name} of each event, and the space {space.name} has none"
                raise IncompatibleBlocksError(self.name, rule, params.did_you_mean(name, known))

    def distance(self, left: Dataset, right: Dataset, space: DatasetSpace) -> Number:
        places = {attribute.name: (place, attribute) for place, attribute in enumerate(space.attributes_of(EVENT))}
        (user, _), (time, times) = places[USER], places[TIME]
        surplus = Counter(space.records(left, EVENT))
        surplus.subtract(space.records(right, EVENT))
        slots = {(record[user], record[time]) for record, count in surplus.items() if count}
        return number(windows_needed(Counter(times.index(when) for _, when in slots), self.width))

    def least_distance(self, space: DatasetSpace) -> Number | None:
        return number(1) if space.is_told_by(EVENT) and not space.is_ordered else None

    def bounded_by(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        if is_a(other, WindowEvents):
            windows = -(-other.width // self.width)
            return number(windows), f"{windows} windows of {self.width} times cover one of {other.width}"
        if not is_a(other, Hamming, SymmetricDifference):
            return None
        needed = self._windows_of(other.unit, space)
        if needed is None:
            return None
        # Of the multiset difference: an event that goes may have another slot than one that comes, and a user has one of each.
        records = 1 if other.unit == EVENT else 2
        factor = Fraction(needed, records) * (2 if is_a(other, Hamming) else 1)
        return number(factor), f"{needed} windows of {self.width} times cover all that one {other.unit} holds"

    def bounds(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        """A window changes what one user did at each of its w times."""
        if not is_a(space, EventStreams) or not is_a(other, Hamming, SymmetricDifference):
            return None
        slots = min(self.width, space.times)
        reason = f"a window of {self.width} times changes what one user did at each of them"
        if space.fixes_size(other.unit):
            touched = min(slots, len(space.users)) if other.unit == USER else slots
            return number(touched if is_a(other, Hamming) else 2 * touched), reason
        return (number(2 * slots * space.per_time), reason) if is_a(other, SymmetricDifference) else None

    def _windows_of(self, unit: str, space: DatasetSpace) -> int | None:
        """How many windows cover all slots in which one record of the unit shows."""
        if unit == EVENT:
            return 1
        return -(-space.stretch(unit) // self.width) if is_a(space, EventStreams) else None

    def in_words(self) -> str:
        times = "one time" if self.width == 1 else f"{self.width} consecutive times"
        return f"what one user did in {times}"

    def __str__(self) -> str:
        return f"{self.name} (windows of {self.width})"

    @classmethod
    def examples(cls) -> Iterator[tuple[WindowEvents, EventStreams]]:
        """What the conformance kit checks it with."""
        yield cls(width=2), EventStreams(users=("ann", "bob"), times=2, values=("visit",))
        yield cls(width=2), EventStreams(users=("ann",), times=3, values=("visit",), window=2)


# --- the flavours ---------------------------------------------------------------------------------


STREAMS = EventStreams(users=("ann",), times=4, values=("visit",), window=2)
"""One user, four times, two to a block: the levels of protection differ on it, and it has 16 datasets."""
_PER_TIME = Marginal(attributes=(TIME,), unit=EVENT)
"""How many events there are at each time."""
_EPSILON = ln(4)


def _spec(distance: InputDivergence) -> PrivacySpec:
    return PrivacySpec(
        space=STREAMS,
        multiverse=Trivial(),
        input_divergence=distance,
        output_divergence=Mult(),
        budget=UniformBudget(parameter="epsilon", value=_EPSILON),
    )


def sums_over(stretches: Iterable[range], label: str) -> LinearMap:
    """The number of events in each of some stretches of time."""
    rows = tuple(tuple(int(int(time) in times) for _, time, _ in STREAMS.cells()) for times in stretches)
    return LinearMap(rows=rows, label=label)


class EventLevelDP(Flavour):
    """Event-level privacy: d counts the events added or removed, so that one visit is hidden and not who ever came.

    P_x(S) <= e^epsilon P_x'(S) for streams that differ in one event (Dwork, Naor, Pitassi and Rothblum 2010).

    >>> from dpspec import verify
    >>> flavour = EventLevelDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "event-level-dp"
    title: ClassVar[str] = "Event-level privacy of a stream"
    citation: ClassVar[str] = "Dwork, Naor, Pitassi and Rothblum, STOC 2010"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        return _spec(SymmetricDifference(unit=EVENT))

    def satisfied_by(self) -> Example:
        nodes = [range(start, start + size) for size in (1, 2, 4) for start in range(0, 4, size)]
        tree = sums_over(nodes, "events in each node of a binary tree of times")
        return Example(
            title="the counts of a binary tree of times, from which all running counts follow",
            mechanism=Geometric(queries=(tree,), epsilon=_EPSILON, sensitivity=Fraction(3), unit=EVENT),
            because="an event lies in three nodes of the tree, and the noise is for three counts",
        )

    def broken_by(self) -> Example:
        running = sums_over([range(time + 1) for time in range(4)], "events so far")
        return Example(
            title="running counts with the noise of one count",
            mechanism=Geometric(queries=(running,), epsilon=_EPSILON, unit=EVENT),
            because="an event at time 0 is in every running count that follows",
        )


class UserLevelDP(Flavour):
    """User-level privacy: d counts the users whose streams differ, so that it is hidden who ever came.

    P_x(S) <= e^epsilon P_x'(S) for streams that differ in all that one user did (Dwork, Naor, Pitassi and Rothblum 2010).

    >>> from dpspec import verify
    >>> flavour = UserLevelDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "user-level-dp"
    title: ClassVar[str] = "User-level privacy of a stream"
    citation: ClassVar[str] = "Dwork, Naor, Pitassi and Rothblum, STOC 2010"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        return _spec(Hamming(unit=USER))

    def satisfied_by(self) -> Example:
        mechanism = Geometric(
            queries=(_PER_TIME,), epsilon=_EPSILON, sensitivity=Fraction(4), neighbours="replace-one", unit=USER
        )
        return Example(
            title="the count at each time, with noise for all of them together",
            mechanism=mechanism,
            because="a user changes each of the four counts by at most 1",
        )

    def broken_by(self) -> Example:
        return Example(
            title="event-level noise offered as user-level privacy",
            mechanism=Geometric(queries=(_PER_TIME,), epsilon=_EPSILON, unit=EVENT),
            because="a user who comes every time changes all four counts, and pays four times",
        )


class UserWindowDP(Flavour):
    """User-time privacy: d counts the pairs (user, block of times) that differ, such as person-days or person-months.

    P_x(S) <= e^epsilon P_x'(S) for streams that differ in what one user did in one of the consecutive blocks of times.

    >>> from dpspec import verify
    >>> flavour = UserWindowDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "user-window-dp"
    title: ClassVar[str] = "Privacy of one user in one block of times (a person-day)"
    citation: ClassVar[str] = "Dwork, Naor, Pitassi and Rothblum, STOC 2010, with blocks of times between event and user"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        return _spec(Hamming(unit=USER_WINDOW))

    def _totals(self) -> LinearMap:
        return sums_over(STREAMS.blocks, "events of each block")

    def satisfied_by(self) -> Example:
        mechanism = Geometric(
            queries=(self._totals(),), epsilon=_EPSILON, sensitivity=Fraction(2), neighbours="replace-one", unit=USER_WINDOW
        )
        return Example(
            title="the total of each block, with noise for two events",
            mechanism=mechanism,
            because="one user has at most two events in a block of two times, and they count in the total of that block only",
        )

    def broken_by(self) -> Example:
        mechanism = Geometric(queries=(self._totals(),), epsilon=_EPSILON, neighbours="replace-one", unit=USER_WINDOW)
        return Example(
            title="the total of each block, with noise for one event",
            mechanism=mechanism,
            because="a user with two events in a block changes its total by 2: a person is not a visit",
        )


class WEventDP(Flavour):
    """w-event privacy: what happens within any w consecutive times is hidden, wherever they begin.

    d counts windows of w times, and so does the budget: it is spent at most once in every window
    (Kellaris, Papadopoulos, Xiao and Papadias 2014).

    >>> from dpspec import verify
    >>> flavour = WEventDP()
    >>> [verify(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "w-event-dp"
    title: ClassVar[str] = "w-event privacy of a stream, for w = 2"
    citation: ClassVar[str] = "Kellaris, Papadopoulos, Xiao and Papadias, PVLDB 2014"
    reference: ClassVar[str] = "Bailie et al. 2024, flavours by building block"
    changes: ClassVar[tuple[str, ...]] = ("space", "input_divergence")

    def spec(self) -> PrivacySpec:
        return _spec(WindowEvents(width=2))

    def satisfied_by(self) -> Example:
        return Example(
            title="the count at each time, with half of the budget each",
            mechanism=Geometric(queries=(_PER_TIME,), epsilon=_EPSILON, sensitivity=Fraction(2), unit=EVENT),
            because="any two consecutive times spend the budget once",
        )

    def broken_by(self) -> Example:
        middle = Marginal(attributes=(TIME,), unit=EVENT, where=((TIME, ("1", "2")),))
        return Example(
            title="the last count of one day and the first of the next, each with the whole budget of its day",
            mechanism=Geometric(queries=(middle,), epsilon=_EPSILON, unit=EVENT),
            because="each day {0, 1} and {2, 3} spends its budget once, but the window {1, 2} spends it twice",
        )
