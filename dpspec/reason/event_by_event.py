"""Implication event by event: small spaces where both output divergences are seen on single events.

`dpspec.reason.search.ARGUMENTS` says how.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction

import attrs

from dpspec.base.errors import DpspecError, NotInUniverseError, count
from dpspec.base.exact import Number, number
from dpspec.base.log_linear import dyadic
from dpspec.base.memo import memoize
from dpspec.blocks.parts import listing_size
from dpspec.blocks.space import Dataset, Pair
from dpspec.grammar.declarations import listed_datasets
from dpspec.grammar.rule import Step
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.numeric import rational_exponential
from dpspec.reason.small_spaces import allowance

LISTED = 20
"""Spaces of at most this many datasets are listed."""

EVENT_BY_EVENT = "event-by-event"

BITS = 96

BLOCKS = ("space", "multiverse", "input_divergence", "output_divergence", "budget")

Line = tuple[Fraction, Fraction]
"""(r, s): p <= r q + s."""

Lines = Mapping[Pair, tuple[Line, ...]]
"""The required bounds of P_x(S) by P_y(S), by (x, y); pairs without a bound are absent."""


@attrs.frozen(kw_only=True)
class Broken:
    """Probabilities of one event that the premise allows and the conclusion forbids.

    Args:
        pair: where the conclusion is broken.
        probabilities: of the event, by dataset.
    """

    pair: Pair
    probabilities: Mapping[Dataset, Fraction]


def event_by_event(premise: PrivacySpec, goal: PrivacySpec) -> Step | None:
    """The step from the premise to the goal in one, when it follows for every event; None when that is not seen."""
    if premise.space != goal.space:
        return None
    given, asked = lines(premise, up=True), lines(goal, up=False)
    if given is None or asked is None or next(_broken(given, asked), None) is not None:
        return None
    return Step(
        rule=EVENT_BY_EVENT,
        block=next(block for block in BLOCKS if getattr(premise, block) != getattr(goal, block)).replace("_", " "),
        before=premise,
        after=goal,
        reason=f"for every event, on each of {count(len(asked), 'ordered pair')} of datasets that the conclusion compares",
        citation="post-processing to one event, and group privacy along paths; Wasserman and Zhou 2010, Theorem 2.4",
        parameters={"pairs": len(asked)},
    )


def broken(premise: PrivacySpec, goal: PrivacySpec) -> Iterator[Broken]:
    """Events that the premise allows: those that the goal forbids, and where single events do not decide for the goal, those
    at the corners of what the premise allows, which may break it.
    """
    given = lines(premise, up=False) if premise.space == goal.space else None
    if given is None:
        return
    asked = lines(goal, up=True)
    if asked is not None:
        yield from _broken(given, asked)
        return
    allowed = _Allowed(_steps(given))
    for pair in itertools.permutations(listed_datasets(goal.space), 2):
        if not _asks_nothing(goal, pair):
            yield from (allowed.broken(pair, q) for q in allowed.corners(*pair))


def _asks_nothing(goal: PrivacySpec, pair: Pair) -> bool:
    try:
        return allowance(goal, pair).upper.is_infinite
    except NotInUniverseError:  # a universe without a budget
        return True
    except DpspecError:
        return False


@memoize(maxsize=64)
def lines(spec: PrivacySpec, *, up: bool) -> Lines | None:
    """The inequalities of a specification; None where its space is too large, or single events do not decide.

    Args:
        up: whether irrational numbers are rounded up, so that the inequalities require no more than the specification, or down.
    """
    size = listing_size(spec.space)
    if size is None or size > LISTED:
        return None
    divergence, found = spec.output_divergence, dict[Pair, tuple[Line, ...]]()
    try:
        for pair in itertools.permutations(listed_datasets(spec.space), 2):
            bracket = allowance(spec, pair)
            bound = bracket.upper if up else bracket.lower
            if bracket.upper.is_infinite:
                continue
            known = divergence.event_bounds(bound)
            if known is None:
                return None
            small = [(min(power, number(EVENTS_LARGEST)), slack) for power, slack in known if not (up and power > EVENTS_LARGEST)]
            asked = tuple((_exponential(power, up), _rounded(slack, up)) for power, slack in small)
            for ordered in (pair, pair[::-1]) if divergence.is_symmetric else (pair,):
                found[ordered] = tuple({*found.get(ordered, ()), *asked})
    except DpspecError:  # a universe without a budget
        return None
    return found

EVENTS_LARGEST = 200
"""e^a is written down up to this a, and exactly up to this many digits of it in base 2."""


def _exponential(power: Number, up: bool) -> Fraction:
    exact = rational_exponential(power)
    if exact is not None and exact.denominator.bit_length() < BITS:
        return exact
    ends = power.enclose(BITS).exp()
    found = dyadic(ends.upper() if up else ends.lower())
    return max(found, Fraction(1)) if power >= 0 else found


def _rounded(value: Number, up: bool) -> Fraction:
    if value.is_rational:
        return value.as_fraction()
    ends = value.enclose(BITS)
    return dyadic(ends.upper() if up else ends.lower())


def _broken(given: Lines, asked: Lines) -> Iterator[Broken]:
    """Every pair on which the required bounds do not follow from the given ones."""
    allowed = _Allowed(_steps(given))
    for pair, wanted in sorted(asked.items(), key=lambda item: repr(item[0])):
        found = next((q for line in wanted if (q := allowed.above(*pair, line)) is not None), None)
        if found is not None:
            yield allowed.broken(pair, found)

Steps = Mapping[Dataset, tuple[tuple[Dataset, Line], ...]]
"""For each dataset y the inequalities p_x <= r p_y + s, as (x, (r, s))."""


def _steps(given: Lines) -> Steps:
    """Each inequality, and what it says about the complement: 1 - p_x <= r (1 - p_y) + s is p_y <= p_x/r + 1 - (1 - s)/r."""
    found: dict[Dataset, list[tuple[Dataset, Line]]] = {}
    for (x, y), held in given.items():
        for ratio, slack in held:
            found.setdefault(y, []).append((x, (ratio, slack)))
            found.setdefault(x, []).append((y, (1 / ratio, 1 - (1 - slack) / ratio)))
    return {dataset: tuple(held) for dataset, held in found.items()}

CERTAIN = Fraction(1), Fraction(0)
"""A probability of 1, whatever q is."""


@attrs.define
class _Allowed:
    """The largest probabilities that inequalities allow.

    Args:
        steps: the inequalities.
        known: what was computed before, by the dataset and the probability at the start.
    """

    steps: Steps
    known: dict[tuple[Dataset, Fraction], dict[Dataset, tuple[Fraction, Fraction]]] = attrs.field(factory=dict)

    def largest(self, start: Dataset, q: Fraction) -> dict[Dataset, tuple[Fraction, Fraction]]:
        """With p_start = q each probability below 1, and how fast it grows with q along its path."""
        if (start, q) in self.known:
            return self.known[start, q]
        found: dict[Dataset, tuple[Fraction, Fraction]] = {}
        waiting, order = [(q, 0, Fraction(1), start)], itertools.count(1)
        while waiting:
            value, _, slope, dataset = heapq.heappop(waiting)
            if dataset in found:
                continue
            found[dataset] = value, slope
            for other, (ratio, slack) in self.steps.get(dataset, ()):
                reached = ratio * value + slack
                if other not in found and reached < 1:
                    heapq.heappush(waiting, (reached, next(order), ratio * slope, other))
        self.known[start, q] = found
        return found

    def piece(self, u: Dataset, v: Dataset, q: Fraction) -> tuple[Fraction, Fraction]:
        """p_u at p_v = q, and the slope of a straight line through it that is nowhere below."""
        return self.largest(v, q).get(u, CERTAIN)

    def broken(self, pair: Pair, q: Fraction) -> Broken:
        """The event with probability q at the second dataset, and the largest ones elsewhere."""
        return Broken(pair=pair, probabilities={x: p for x, (p, _) in self.largest(pair[1], q).items()})

    def above(self, u: Dataset, v: Dataset, line: Line) -> Fraction | None:
        """Some q with p_u(q) > r q + s; None when there is none in [0, 1]."""
        ratio, slack = line
        low, high = Fraction(0), Fraction(1)
        (left, rise), (right, fall) = self.piece(u, v, low), self.piece(u, v, high)
        left, right, rise, fall = left - slack, right - ratio - slack, rise - ratio, fall - ratio
        while left <= 0 and right <= 0 and rise > 0 > fall:
            q = (right - left + rise * low - fall * high) / (rise - fall)
            limit = left + rise * (q - low)  # where the lines through both ends meet: the maximum is no larger
            value, slope = self.piece(u, v, q)
            height, slope = value - ratio * q - slack, slope - ratio
            if height > 0:
                return q
            if limit <= 0 or height == limit or slope == 0:
                return None
            if slope > 0:
                low, left, rise = q, height, slope
            else:
                high, right, fall = q, height, slope
        return low if left > 0 else high if right > 0 else None

    def corners(self, u: Dataset, v: Dataset) -> Iterator[Fraction]:
        """The points where the linear pieces of p_u(q) meet, ends included."""
        ends = [(q, *self.piece(u, v, q)) for q in (Fraction(0), Fraction(1))]
        found, waiting = {Fraction(0), Fraction(1)}, [tuple(ends)]
        while waiting and len(found) < MOST_CORNERS:
            (low, left, rise), (high, right, fall) = waiting.pop()
            if rise <= fall:
                continue
            q = (right - left + rise * low - fall * high) / (rise - fall)
            value, slope = self.piece(u, v, q)
            if q in found:
                continue
            found.add(q)
            if value < left + rise * (q - low):
                middle = (q, value, slope)
                waiting += [((low, left, rise), middle), (middle, (high, right, fall))]
        yield from sorted(found)

MOST_CORNERS = 40
