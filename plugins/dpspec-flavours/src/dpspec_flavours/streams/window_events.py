"""w-event privacy: the distance between streams in windows of w consecutive times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Annotated, ClassVar

from dpspec_divergences import Hamming, SymmetricDifference

from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import IncompatibleBlocksError
from dpspec.exact import Number, number
from dpspec.params import Integer, define, did_you_mean
from dpspec_flavours.streams.event_streams import EVENT, TIME, USER, EventStreams

Bound = tuple[Number, str]


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
        width: w, in times.

    Raises:
        IncompatibleBlocksError: when the space has no unit event with the attributes user and time.

    >>> space = EventStreams(users=("ann",), times=4, values=("visit",))
    >>> nothing, always = space.dataset([]), space.dataset([["ann", time, "visit"] for time in range(4)])
    >>> [str(WindowEvents(width=width).distance(nothing, always, space)) for width in (1, 2, 3, 4)]
    ['4', '2', '2', '1']
    """

    name: ClassVar[str] = "window-events"
    is_integral: ClassVar[bool] = True

    width: Annotated[int, Integer(1)]

    def check(self, space: DatasetSpace) -> None:
        known = {attribute.name for attribute in space.attributes_of(EVENT)}
        for name in (USER, TIME):
            if name not in known:
                rule = f"needs an attribute {name} of each event, and the space {space.name} has none"
                raise IncompatibleBlocksError(self.name, rule, did_you_mean(name, known))

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
        if isinstance(other, WindowEvents):
            windows = -(-other.width // self.width)
            return number(windows), f"{windows} windows of {self.width} times cover one of {other.width}"
        if not isinstance(other, (Hamming, SymmetricDifference)):
            return None
        needed = self._windows_of(other.unit, space)
        if needed is None:
            return None
        records = 2 if space.fixes_size(other.unit) else 1  # of the multiset difference, for each slot or user that differs
        factor = Fraction(needed, records) * (2 if isinstance(other, Hamming) else 1)
        return number(factor), f"{needed} windows of {self.width} times cover all that one {other.unit} holds"

    def bounds(self, other: InputDivergence, space: DatasetSpace) -> Bound | None:
        """A window changes what one user did at each of its w times."""
        if not isinstance(space, EventStreams) or not isinstance(other, (Hamming, SymmetricDifference)):
            return None
        slots = min(self.width, space.times)
        reason = f"a window of {self.width} times changes what one user did at each of them"
        if space.fixes_size(other.unit):
            touched = min(slots, len(space.users)) if other.unit == USER else slots
            return number(touched if isinstance(other, Hamming) else 2 * touched), reason
        return (number(2 * slots * space.per_time), reason) if isinstance(other, SymmetricDifference) else None

    def _windows_of(self, unit: str, space: DatasetSpace) -> int | None:
        """How many windows cover all slots in which one record of the unit shows."""
        if unit == EVENT:
            return 1
        return -(-space.stretch(unit) // self.width) if isinstance(space, EventStreams) else None

    def __str__(self) -> str:
        return f"{self.name} (windows of {self.width})"

    @classmethod
    def examples(cls) -> Iterator[tuple[WindowEvents, EventStreams]]:
        """What the conformance kit checks it with."""
        yield cls(width=2), EventStreams(users=("ann", "bob"), times=2, values=("visit",))
        yield cls(width=2), EventStreams(users=("ann",), times=3, values=("visit",), window=2)
