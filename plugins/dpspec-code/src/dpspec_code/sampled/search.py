"""The search for an event that distinguishes two samples, and the bets on it against the claim.

Cells of a number are ordered by their likelihood ratio on the first half; the sets {the k most discriminating cells} are the
candidates (and half-lines). No mass is fixed: what counts is the growth ln-wealth per draw against the claim's null set.

Betting against the claim is an any-time valid test of one pair, many of which share one wealth.

An account bets on fresh draws of its pair with what its earlier draws taught it: before every round it chooses an event and an
alternative, and each draw multiplies its stake by a certified e-variable. Under the claim the expected wealth never grows, at any
stopping time (Ville). The j-th account that is opened holds 1/(j(j+1)) of the wealth, so that all together start with at most 1
and P(any account times its share ever reaches 1/error) <= error.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np

from dpspec.plugin import Floats, Integers
from dpspec.plugin.judges import Outcomes, Shape
from dpspec_code.sampled.calls import Calls, ChosenPair
from dpspec_code.sampled.events import (
    ANYWHERE,
    Additive,
    Atoms,
    Combination,
    OutputEvent,
    Projection,
    Ranges,
    Shapes,
    Whole,
    both,
    merged,
    projections,
    telling_places,
)
from dpspec_code.sampled.null import Null

CELLS = 20
MOST_SHAPES = 12
MOST_ATOMS = 200
KEPT = 16
_PER_TALLY = 4


@attrs.frozen
class EventTally:
    """Candidates of one kind: how often each holds in the four quarters, and how to make the event.

    Args:
        counts: one row per candidate: (x, first half), (x', first half), (x, second half), (x', second half).
        make: the event of a row.
        complexity: 1 for the simplest events; the price of a candidate when growth is compared.
    """

    counts: Integers
    make: Callable[[int], OutputEvent]
    complexity: int = 1


@attrs.frozen
class FoundEvent:
    """An event with its direction and its counts in all draws that it was found on.

    Args:
        event: the event.
        turned: whether it is more probable under x' than under x.
        hits, sizes: how often it holds in the draws from x and from x', and how many there are.
        growth: the estimated growth per draw (from a search: on the half that did not fit the event).
    """

    event: OutputEvent
    turned: bool
    hits: tuple[int, int]
    sizes: tuple[int, int]
    growth: float

    @property
    def alternative(self) -> tuple[float, float]:
        """The estimated probabilities, the one of the side where the event is more probable first."""
        p, q = (float(_smooth(hits, size)) for hits, size in zip(self.hits, self.sizes, strict=True))
        return (q, p) if self.turned else (p, q)

    def rate(self, null: Null, errors: float) -> float:
        """The growth per draw when both estimates are off by so many standard errors, to its favour or, below 0, against it."""
        p, q = self.alternative
        n, m = self.sizes[::-1] if self.turned else self.sizes
        p, q = p + errors * math.sqrt(p * (1 - p) / n), q - errors * math.sqrt(q * (1 - q) / m)
        return null.rate(min(max(p, 1e-9), 1 - 1e-6), min(max(q, 1e-6), 1 - 1e-9))

    def regrown(self, null: Null) -> FoundEvent:
        """The same with the growth that all its draws show."""
        return attrs.evolve(self, growth=null.rate(*self.alternative))

    def extended(self, hits: tuple[int, int], sizes: tuple[int, int], null: Null) -> FoundEvent:
        """The same after more draws."""
        total = self.hits[0] + hits[0], self.hits[1] + hits[1]
        drawn = self.sizes[0] + sizes[0], self.sizes[1] + sizes[1]
        return attrs.evolve(self, hits=total, sizes=drawn).regrown(null)


@attrs.frozen
class Halves:
    """The draws from x and from x', in halves by turns."""

    quarters: tuple[Outcomes, Outcomes, Outcomes, Outcomes]

    @classmethod
    def of(cls, left: Outcomes, right: Outcomes) -> Halves:
        return cls((left.part(0, None, 2), right.part(0, None, 2), left.part(1, None, 2), right.part(1, None, 2)))

    def restricted(self, event: OutputEvent) -> Halves:
        a, b, c, d = (quarter.kept(event.holds(quarter)) for quarter in self.quarters)
        return Halves((a, b, c, d))

    def sizes(self) -> tuple[int, int, int, int]:
        a, b, c, d = map(len, self.quarters)
        return a, b, c, d

    def shapes(self) -> list[Shape]:
        """The commonest shapes."""
        common: Counter[Shape] = Counter()
        for quarter in self.quarters:
            common.update({shape: len(rows) for shape, (rows, _) in quarter.groups.items()})
        return [shape for shape, _ in sorted(common.items(), key=lambda item: (-item[1], repr(item[0])))[:MOST_SHAPES]]

    def matrices(self, shape: Shape) -> list[Floats]:
        """The numbers of the outputs of one shape in each quarter."""
        found = [quarter.groups.get(shape) for quarter in self.quarters]
        width = max(group[1].shape[1] for group in found if group is not None)
        return [np.zeros((0, width)) if group is None else group[1] for group in found]


def search(left: Outcomes, right: Outcomes, null: Null, *, both_ways: bool = True) -> FoundEvent | None:
    """The event of greatest estimated growth against the null; None when no candidate lies outside, or a sample is empty."""
    if not (len(left) and len(right)):
        return None
    halves = Halves.of(left, right)
    tallies = list(candidates(halves))
    ranked = _ranked(tallies, halves, null, both_ways)
    if _is_manifold(halves):
        simple = [event for _, event, _ in ranked if isinstance(event, (Ranges, Shapes)) and event.complexity <= 2]
        for event in simple[:3]:
            tallies.extend(_inside(event, halves))
        ranked = _ranked(tallies, halves, null, both_ways)
    return _chosen(ranked, halves, null)


def simplest(left: Outcomes, right: Outcomes, null: Null, least: float, *, both_ways: bool = True) -> FoundEvent | None:
    """The shortest event whose growth is at least `least`; the fastest among equally short ones."""
    halves = Halves.of(left, right)
    tallies = [tally for tally in candidates(halves) if tally.complexity <= 2]
    ranked = _ranked(tallies, halves, null, both_ways, 4 * KEPT)
    for most in (1, 2, 3, 4, 6):
        short = [row for row in ranked if row[1].complexity <= most]
        found = _chosen(short, halves, null) if short else None
        if found is not None and found.growth >= least:
            return found
    return None


def _is_manifold(halves: Halves) -> bool:
    """Whether outputs have several numbers or shapes, so that intersections say something new."""
    shapes = halves.shapes()
    return len(shapes) > 1 or halves.matrices(shapes[0])[0].shape[1] > 1


def candidates(halves: Halves) -> Iterator[EventTally]:
    """All candidate events but intersections."""
    yield from _listed(halves, [list(quarter.atoms) for quarter in halves.quarters], Atoms, MOST_ATOMS)
    shapes = halves.shapes()
    if len(shapes) > 1:
        yield from _listed(halves, [[a[0] for a in quarter.atoms] for quarter in halves.quarters], Shapes, MOST_SHAPES)
        for whole in map(Whole, ANYWHERE):
            anywhere = [_everywhere(quarter, whole) for quarter in halves.quarters]
            yield from _ranged((None, 0, True), whole, anywhere, halves)
    for shape in shapes:
        matrices = halves.matrices(shape)
        width = matrices[0].shape[1]
        if width == 0:
            continue
        kind = (shape, width, len(shapes) == 1)
        places = telling_places(matrices[:2])
        for projection in projections(matrices[0], places):
            yield from _ranged(kind, projection, [projection.of(matrix) for matrix in matrices], halves)
        if width > 1 and min(map(len, matrices)) > 20:
            for score in (_additive(matrices, places), _logistic(matrices, places)):
                if score is not None:
                    yield from _ranged(kind, score, [score.of(matrix) for matrix in matrices], halves, price=4)


def _everywhere(outcomes: Outcomes, projection: Projection) -> Floats:
    """The number for outputs of all shapes."""
    found = [projection.of(matrix) for _, matrix in outcomes.groups.values()]
    return np.concatenate(found) if found else np.zeros(0)


def _log_ratio(first: Any, second: Any, sizes: tuple[int, ...]) -> Any:
    return np.log((first + 0.5) / (sizes[0] + 1.0)) - np.log((second + 0.5) / (sizes[1] + 1.0))


def _listed(
    halves: Halves, keys: list[list[Any]], kind: Callable[[frozenset[Any]], OutputEvent], most: int
) -> Iterator[EventTally]:
    """Single outcomes, and the sets of the most telling ones."""
    counters = [Counter(given) for given in keys]
    common: Counter[Any] = Counter()
    for counter in counters:
        common.update(counter)
    held = [key for key, count in common.items() if count > 1]
    held = sorted(held, key=lambda key: (-common[key], repr(key)))[:most]
    if not held:
        return
    counts = np.array([[counter[key] for counter in counters] for key in held], dtype=np.int64)
    yield EventTally(counts, lambda i: kind(frozenset([held[i]])))
    order = np.argsort(-_log_ratio(counts[:, 0], counts[:, 1], halves.sizes()), kind="stable")
    for way in (order, order[::-1]):
        sets = np.cumsum(counts[way], axis=0)[1:]
        if len(sets):
            yield EventTally(sets, lambda i, way=way: kind(frozenset(held[j] for j in way[: i + 2])), 2)  # type: ignore[misc]


def _cuts(values: Floats) -> Floats:
    """Quantiles, and both sides of every value that is frequent."""
    ordered = np.unique(values)
    if len(ordered) <= CELLS:
        return ordered[1:]
    levels = np.linspace(0, 1, CELLS + 1)[1:-1]
    extra = np.array([0.01, 0.025, 0.975, 0.99])
    quantiles = np.quantile(values, np.concatenate([levels, extra]), method="higher")
    above = np.searchsorted(ordered, quantiles, side="right")
    edges = np.concatenate([quantiles, ordered[np.minimum(above, len(ordered) - 1)]])
    repeated = _repeated(values, quantiles)
    found: Floats = np.unique(np.concatenate([quantiles, edges[len(quantiles) :][repeated]]))
    kept: Floats = found[found > ordered[0]]
    return kept


def _repeated(values: Floats, points: Floats) -> Any:
    ordered = np.sort(values)
    heavy = np.searchsorted(ordered, points, side="right") - np.searchsorted(ordered, points, side="left")
    return heavy > max(2, len(values) // 50)


def _ranged(
    kind: tuple[Shape | None, int, bool], projection: Projection, values: list[Floats], halves: Halves, *, price: int = 1
) -> Iterator[EventTally]:
    """Half-lines of one number, and the unions of its most telling cells; in outputs of one shape, or in all."""
    shape, width, alone = kind
    cuts = _cuts(np.concatenate(values[:2]) if len(values[0]) + len(values[1]) else np.concatenate(values))
    if not len(cuts):
        return
    cells = np.array([np.bincount(np.searchsorted(cuts, v, side="right"), minlength=len(cuts) + 1) for v in values]).T

    def make(intervals: tuple[tuple[float, float], ...]) -> OutputEvent:
        return Ranges(shape, width, projection, intervals, alone)

    below = np.cumsum(cells, axis=0)[:-1]
    yield EventTally(below, lambda i: make(((-math.inf, float(cuts[i])),)), price)
    yield EventTally(cells.sum(axis=0) - below, lambda i: make(((float(cuts[i]), math.inf),)), price)
    if price == 1 and len(cuts) > 1:
        order = np.argsort(-_log_ratio(cells[:, 0], cells[:, 1], halves.sizes()), kind="stable")
        for way in (order, order[::-1]):
            sets = np.cumsum(cells[way], axis=0)[:-1]
            yield EventTally(sets, lambda i, way=way: make(merged([int(j) for j in way[: i + 1]], cuts)), 2)  # type: ignore[misc]


def _inside(event: OutputEvent, halves: Halves) -> Iterator[EventTally]:
    """The intersections of an event with half-lines and outcomes: one more level of a shallow tree."""
    for tally in candidates(halves.restricted(event)):
        if tally.complexity == 1:
            yield EventTally(tally.counts, lambda i, tally=tally: both(event, tally.make(i)), 2)  # type: ignore[misc]


def _additive(matrices: list[Floats], places: list[int]) -> Projection | None:
    """The sum over coordinates of the log-ratio of the coordinate's cell, from the first half."""
    used, cuts, scores = sorted(places), [], []
    for place in used:
        first, second = matrices[0][:, place], matrices[1][:, place]
        edges = _cuts(np.concatenate([first, second]))[::2]
        counts = [np.bincount(np.searchsorted(edges, v, side="right"), minlength=len(edges) + 1) for v in (first, second)]
        ratio = np.log((counts[0] + 1.0) / (len(first) + 2.0)) - np.log((counts[1] + 1.0) / (len(second) + 2.0))
        cuts.append(tuple(map(float, edges)))
        scores.append(tuple(round(float(r), 3) for r in ratio))
    if not any(map(len, cuts)):
        return None
    last = used[-1] + 1
    held = dict(zip(used, zip(cuts, scores, strict=True), strict=True))
    steps = [held.get(place, ((), (0.0,))) for place in range(last)]
    return Additive(tuple(step[0] for step in steps), tuple(step[1] for step in steps))


def _logistic(matrices: list[Floats], places: list[int]) -> Projection | None:
    """The direction of a logistic regression of the label on the numbers, by a few Newton steps on the first half."""
    numbers = np.concatenate(matrices[:2])[:, sorted(places)]
    label = np.concatenate([np.ones(len(matrices[0])), np.zeros(len(matrices[1]))])
    spread = numbers.std(axis=0)
    used = np.flatnonzero(spread > 0)
    if len(used) < 2:
        return None
    scaled = (numbers[:, used] - numbers[:, used].mean(axis=0)) / spread[used]
    design = np.column_stack([np.ones(len(scaled)), np.clip(scaled, -5, 5)])
    weights = np.zeros(design.shape[1])
    for _ in range(4):
        probability = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        hessian = (design * (probability * (1 - probability))[:, None]).T @ design + np.eye(design.shape[1])
        weights = weights + np.linalg.solve(hessian, design.T @ (label - probability) - weights)
    slopes = weights[1:] / spread[used]
    size = np.abs(slopes).max()
    if not np.isfinite(size) or size <= 0:
        return None
    chosen = tuple(sorted(places)[place] for place in used)
    return Combination(chosen, tuple(round(float(s), 3) for s in slopes / size))


# --- candidates -----------------------------------------------------------------------------------


def _smooth(hits: Any, size: int) -> Any:
    return (hits + 0.5) / (size + 1.0)


def _ranked(
    tallies: list[EventTally], halves: Halves, null: Null, both_ways: bool, kept: int = KEPT
) -> list[tuple[float, OutputEvent, bool]]:
    """The best candidates by growth on the first half, each with its direction."""
    if not tallies:
        return []
    sizes = halves.sizes()
    counts = np.concatenate([tally.counts for tally in tallies])
    owner = np.repeat(np.arange(len(tallies)), [len(tally.counts) for tally in tallies])
    first = np.concatenate([[0], np.cumsum([len(tally.counts) for tally in tallies])])
    price = np.array([1 - 0.03 * (tally.complexity - 1) for tally in tallies])[owner]
    p, q = _smooth(counts[:, 0], sizes[0]), _smooth(counts[:, 1], sizes[1])
    growths = [null.growth(p, q) * price] + ([null.growth(q, p) * price] if both_ways else [])
    together = np.concatenate(growths)
    rows: list[tuple[float, OutputEvent, bool]] = []
    used: Counter[tuple[int, bool]] = Counter()
    for i in np.argsort(-together, kind="stable"):
        if together[i] <= 0 or len(rows) >= kept:
            break
        turned, place = bool(i >= len(counts)), int(i % len(counts))
        tally = int(owner[place])
        used[tally, turned] += 1
        if used[tally, turned] <= _PER_TALLY:
            rows.append((float(together[i]), tallies[tally].make(place - int(first[tally])), turned))
    return rows


def _chosen(ranked: list[tuple[float, OutputEvent, bool]], halves: Halves, null: Null) -> FoundEvent | None:
    """The candidate of greatest growth on the second half (on all draws where none grows there)."""
    best: tuple[tuple[float, float], FoundEvent] | None = None
    sizes = halves.sizes()
    for growth, event, turned in ranked:
        held = [event.count(quarter) for quarter in halves.quarters]
        fresh = [_smooth(hits, size) for hits, size in zip(held[2:], sizes[2:], strict=True)]
        probability = null.rate(*(fresh[::-1] if turned else fresh))

        drawn = (sizes[0] + sizes[2], sizes[1] + sizes[3])
        found = FoundEvent(event, turned, (held[0] + held[2], held[1] + held[3]), drawn, probability)
        rank = (probability * max(1 - 0.03 * (event.complexity - 1), 0.3), growth)
        if best is None or rank > best[0]:
            best = rank, found
    return None if best is None else best[1]


# --- bets -----------------------------------------------------------------------------------------


SHARES = (1.0, 0.6, 0.3)
"""Each account splits its stake over these distances from the null to the estimate, for estimates err."""
HOPE = 2.0
_ROUNDING = 1e-6
MOST_REMEMBERED = 20_000
_LARGEST_STEP = 12_000


def weight(opened: int) -> float:
    """ln of the share of the account opened as number 1, 2, ...: 1/(j(j+1)), which add up to 1."""
    return -math.log(opened * (opened + 1))


@attrs.define(eq=False)
class Account:
    """A stake on one pair.

    Args:
        pair: x and x'.
        null: what the claim allows for the pair.
        label: names the account in the seeds.
        log_share: ln of its part of the common wealth.
        left, right: draws from x and x' that have been seen.
        both_ways: whether the event may be more probable under x'.
        found: the event that it bets on.
        fixed: whether it stays with that event.
        spent: the draws that it has bet on.
        evidence: the counts of every event in the draws that were bet on it, all of them made after it was chosen.
    """

    pair: ChosenPair
    null: Null
    label: str
    log_share: float
    left: Outcomes
    right: Outcomes
    both_ways: bool = True
    found: FoundEvent | None = None
    fixed: bool = False
    stakes: list[float] = attrs.field(factory=lambda: [-math.log(len(SHARES))] * len(SHARES))
    spent: int = 0
    rounds: int = 0
    evidence: dict[OutputEvent, EventCounts] = attrs.field(factory=dict)
    _searched: int = 0

    @property
    def log_wealth(self) -> float:
        """ln of the account's wealth, its share of the common wealth included."""
        top = max(self.stakes)
        if top == -math.inf:
            return top
        return top + math.log(sum(math.exp(stake - top) for stake in self.stakes)) + self.log_share - _ROUNDING

    @property
    def seen(self) -> int:
        """The draws that count for the present event."""
        return len(self.left) + len(self.right) if self.found is None else sum(self.found.sizes)

    def look(self, left: Outcomes, right: Outcomes) -> None:
        """Learn from other draws of the past, where they are more than the account has seen itself."""
        if min(len(left), len(right)) > 2 * min(len(self.left), len(self.right)):
            self.left, self.right, self.found = left, right, None
            self.choose()

    def choose(self) -> None:
        """Choose the event for the next round; the old one stays unless another grows clearly faster."""
        old = self.found
        if old is not None and (self.fixed or self.seen < 1.4 * self._searched):
            return
        fresh = search(self.left, self.right, self.null, both_ways=self.both_ways)
        fresh = None if fresh is None else fresh.regrown(self.null)
        if old is None or (fresh is not None and fresh.event != old.event and fresh.growth > 1.2 * old.growth):
            self.found = fresh
        self._searched = self.seen

    def prospects(self) -> tuple[float, float]:
        """The growth per draw: as estimated, and at HOPE standard errors to its favour."""
        if self.found is None:
            return 0.0, 0.0
        return self.found.growth, self.found.rate(self.null, HOPE)

    def step(self, calls: Calls, count: int) -> None:
        """One round: choose on the past, bet on `count` fresh draws; one that was cut is taken to speak against the bet."""
        self.choose()
        bets = (None,) * len(SHARES) if self.found is None else self.null.bets(*self.found.alternative, SHARES)
        self.rounds += 1
        stage = f"{self.label}-{self.rounds}"
        heads = calls.coin(f"{self.pair.left!r}|{self.pair.right!r}|{stage}", count)
        fresh = calls.draw(self.pair.left, stage, heads), calls.draw(self.pair.right, stage, count - heads)
        self.spent += count
        if self.found is not None:
            counts = EventCounts.of(self.found.event, fresh, (heads, count - heads))
            self.evidence[self.found.event] = self.evidence.get(self.found.event, EventCounts()) + counts
            cells = against(counts.right, counts.left) if self.found.turned else against(counts.left, counts.right)
            self.stakes = [
                stake if bet is None else stake + bet.log_wealth(cells) for stake, bet in zip(self.stakes, bets, strict=True)
            ]
            hits = counts.left[0], counts.right[0]
            self.found = self.found.extended(hits, (len(fresh[0]), len(fresh[1])), self.null)
        self.left, self.right = _latest(self.left + fresh[0]), _latest(self.right + fresh[1])

    def next_step(self, needed: float, room: int) -> int:
        """How many draws the next round takes: half of what was seen, or what the estimate says is missing."""
        rate = 0.0 if self.found is None else self.found.growth
        wanted = max(400, self.seen // 2)
        if rate > 0 and self.rounds:
            wanted = min(wanted, max(150, int(1.2 * (needed - self.log_wealth) / rate)))
        return max(1, min(wanted, _LARGEST_STEP, room))


SideCounts = tuple[int, int, int]
"""Of one side of a round: how often the event happened, in how many outputs, of how many calls; the other calls were cut."""


@attrs.frozen
class EventCounts:
    """The counts of an event in draws on x and on x'. They count for nothing if the draws suggested the event.

    >>> EventCounts((3, 10, 10), (1, 8, 9)) + EventCounts((0, 1, 1), (1, 1, 1))
    EventCounts(left=(3, 11, 11), right=(2, 9, 10))
    """

    left: SideCounts = (0, 0, 0)
    right: SideCounts = (0, 0, 0)

    def __add__(self, other: EventCounts) -> EventCounts:
        left, right = (
            (mine[0] + its[0], mine[1] + its[1], mine[2] + its[2])
            for mine, its in ((self.left, other.left), (self.right, other.right))
        )
        return EventCounts(left, right)

    @classmethod
    def of(cls, event: OutputEvent, drawn: tuple[Outcomes, Outcomes], calls: tuple[int, int]) -> EventCounts:
        """The counts of an event in some draws, of so many calls."""
        left, right = (
            (event.count(outcomes) if len(outcomes) else 0, len(outcomes), made)
            for outcomes, made in zip(drawn, calls, strict=True)
        )
        return cls(left, right)


def against(likelier: SideCounts, other: SideCounts) -> tuple[int, int, int, int]:
    """The four cells of a bet, where every call that was cut is counted in the cell of its side that pays less.

    On the side where the event is more probable that is its complement, on the other one the event: whatever the call would have
    returned, the true payoff is at least the one computed here.

    >>> against((3, 9, 10), (1, 8, 10))
    (3, 7, 3, 7)
    """
    hits, _, calls = likelier
    others = other[0] + other[2] - other[1]
    return hits, calls - hits, others, other[2] - others


def _latest(outcomes: Outcomes) -> Outcomes:
    surplus = len(outcomes) - MOST_REMEMBERED
    return outcomes.part(surplus) if surplus > 0 else outcomes
