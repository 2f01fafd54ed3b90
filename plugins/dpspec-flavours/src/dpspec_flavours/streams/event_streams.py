"""Datasets that are streams: what named users did at which time, read by events, by users, or by users in a stretch of time."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, cast

from dpspec.blocks.attributes import read_record
from dpspec.blocks.multisets import multisets_between, sequences_between
from dpspec.blocks.palettes import combined
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace, Record
from dpspec.blocks.wording import pair_of_records
from dpspec.errors import IncompatibleBlocksError, NotInSpaceError, ParameterError
from dpspec.params import Integer, Items, Text, define

EVENT, USER, USER_WINDOW = "event", "user", "user-window"
TIME = "time"
NOTHING = "none"
"""How a time without an event is written in the record of a user."""

_MOST = 100_000
"""A dataset is read by its cells, which are listed."""

Slot = tuple[str, int]
"""A user and a time."""


@define
class EventStreams(DatasetSpace):
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
        states = multisets_between(len(self.values), 0, self.per_time)
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
            raise NotInSpaceError(self.name, "must be a collection of events (user, time, value)", value=value)
        attributes = self.attributes_of(EVENT)
        events = [read_record(event, attributes) for event in value]
        crowded = [slot for slot, count in Counter((user, time) for user, time, _ in events).items() if count > self.per_time]
        if crowded:
            raise NotInSpaceError(
                self.name, f"a user has at most {self.per_time} events at one time", "give the space a larger per_time",
                value=crowded[0],
            )  # fmt: skip
        return tuple(sorted(events, key=self._place))

    def datasets(self) -> Iterator[Dataset]:
        slots = tuple(itertools.product(self.users, range(self.times)))
        return itertools.chain.from_iterable(self._sized(slots, size) for size in range(len(slots) * self.per_time + 1))

    def _sized(self, slots: tuple[Slot, ...], size: int) -> Iterator[tuple[Record, ...]]:
        """Every way to put `size` events into the slots."""
        if not slots:
            yield from () if size else ((),)
            return
        user, time = slots[0]
        least = max(0, size - (len(slots) - 1) * self.per_time)
        for here in range(least, min(size, self.per_time) + 1):
            for values in itertools.combinations_with_replacement(self.values, here):
                head = tuple((user, str(time), value) for value in values)
                yield from ((*head, *rest) for rest in self._sized(slots[1:], size - here))

    def cardinality(self) -> int | None:
        states, slots = multisets_between(len(self.values), 0, self.per_time), len(self.users) * self.times
        return None if states is None else sequences_between(states, slots, slots)

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
        if any(count < 0 for count in vector):
            raise NotInSpaceError(self.name, "counts must not be negative", value=vector)
        return self.dataset([cell for cell, count in zip(self.cells(), vector, strict=True) for _ in range(count)])

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
        return combined(cast("Sequence[Record]", cells), self.attributes_of(EVENT))

    def in_words(self, left: Dataset, right: Dataset) -> tuple[str, str]:
        return pair_of_records(self._events(left), self._events(right), self.attributes_of(EVENT), EVENT)

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
