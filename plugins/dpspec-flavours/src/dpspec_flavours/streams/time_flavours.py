"""Flavours for streams: what one change is, from one event to all that a user ever did."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import ClassVar

from dpspec_divergences import Hamming, Mult, SymmetricDifference
from dpspec_noise import Geometric

from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import Trivial
from dpspec.exact import ln
from dpspec.flavour import Example, Flavour
from dpspec.spec import PrivacySpec
from dpspec_flavours.streams.event_streams import EVENT, TIME, USER, USER_WINDOW, EventStreams
from dpspec_flavours.streams.window_events import WindowEvents

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

    >>> from dpspec import verify_claim
    >>> flavour = EventLevelDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "event-level-dp"
    title: ClassVar[str] = "Event-level privacy of a stream"
    citation: ClassVar[str] = "Dwork, Naor, Pitassi and Rothblum, STOC 2010"
    reference: ClassVar[str] = "B-D30"
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

    >>> from dpspec import verify_claim
    >>> flavour = UserLevelDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "user-level-dp"
    title: ClassVar[str] = "User-level privacy of a stream"
    citation: ClassVar[str] = "Dwork, Naor, Pitassi and Rothblum, STOC 2010"
    reference: ClassVar[str] = "B-D30"
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

    >>> from dpspec import verify_claim
    >>> flavour = UserWindowDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "user-window-dp"
    title: ClassVar[str] = "Privacy of one user in one block of times (a person-day)"
    citation: ClassVar[str] = "Dwork, Naor, Pitassi and Rothblum, STOC 2010, with blocks of times between event and user"
    reference: ClassVar[str] = "B-D30"
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

    d counts windows of w times, and so does the budget: it is spent at most once in every window (Kellaris, Papadopoulos,
    Xiao and Papadias 2014).

    >>> from dpspec import verify_claim
    >>> flavour = WEventDP()
    >>> [verify_claim(e.mechanism, flavour.spec()).outcome.value for e in (flavour.satisfied_by(), flavour.broken_by())]
    ['verified', 'refuted']
    """

    name: ClassVar[str] = "w-event-dp"
    title: ClassVar[str] = "w-event privacy of a stream, for w = 2"
    citation: ClassVar[str] = "Kellaris, Papadopoulos, Xiao and Papadias, PVLDB 2014"
    reference: ClassVar[str] = "B-D30"
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
