"""The event that tells two samples apart fastest: candidates fitted on one half, chosen on the other by estimated growth.

Cells of a number are ordered by their likelihood ratio on the first half; the sets {the k most telling cells} are the candidates
(half-lines besides). No mass is fixed: what counts is the growth ln-wealth per draw against the claim's null set.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np

from dpspec.verify.sampled.events import (
    Additive,
    Atoms,
    Combination,
    Event,
    Projection,
    Ranges,
    Shapes,
    both,
    merged,
    projections,
)
from dpspec.verify.sampled.null import Null
from dpspec.verify.sampled.outputs import Floats, Outcomes, Shape

CELLS = 20
MOST_SHAPES = 12
MOST_ATOMS = 200
KEPT = 16
_PER_TALLY = 4
Ints = np.ndarray[Any, np.dtype[np.int64]]


@attrs.frozen
class Tally:
    """Candidates of one kind: how often each holds in the four quarters, and how to make the event.

    Args:
        counts: one row per candidate: (x, first half), (x', first half), (x, second half), (x', second half).
        make: the event of a row.
        complexity: 1 for the simplest events; the price of a candidate when growth is compared.
    """

    counts: Ints
    make: Callable[[int], Event]
    complexity: int = 1


@attrs.frozen
class Found:
    """An event with its direction and its counts in all draws that it was found on.

    Args:
        event: the event.
        turned: whether it is more probable under x' than under x.
        hits, sizes: how often it holds in the draws from x and from x', and how many there are.
        growth: the estimated growth per draw (from a search: on the half that did not fit the event).
    """

    event: Event
    turned: bool
    hits: tuple[int, int]
    sizes: tuple[int, int]
    growth: float

    @property
    def alternative(self) -> tuple[float, float]:
        """The estimated probabilities, the one of the side where the event is more probable first."""
        p, q = (float(_smooth(hits, size)) for hits, size in zip(self.hits, self.sizes, strict=True))
        return (q, p) if self.turned else (p, q)

    def regrown(self, null: Null) -> Found:
        """The same with the growth that all its draws show."""
        return attrs.evolve(self, growth=null.rate(*self.alternative))

    def extended(self, hits: tuple[int, int], sizes: tuple[int, int], null: Null) -> Found:
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

    def restricted(self, event: Event) -> Halves:
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


def search(left: Outcomes, right: Outcomes, null: Null, *, both_ways: bool = True) -> Found | None:
    """The event of greatest estimated growth against the null; None when no candidate lies outside."""
    halves = Halves.of(left, right)
    tallies = list(candidates(halves))
    ranked = _ranked(tallies, halves, null, both_ways)
    if _is_manifold(halves):
        simple = [event for _, event, _ in ranked if isinstance(event, (Ranges, Shapes)) and event.complexity <= 2]
        for event in simple[:3]:
            tallies.extend(_inside(event, halves))
        ranked = _ranked(tallies, halves, null, both_ways)
    return _chosen(ranked, halves, null)


def simplest(left: Outcomes, right: Outcomes, null: Null, least: float, *, both_ways: bool = True) -> Found | None:
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


def candidates(halves: Halves) -> Iterator[Tally]:
    """All candidate events but intersections."""
    yield from _listed(halves, [list(quarter.atoms) for quarter in halves.quarters], Atoms, MOST_ATOMS)
    shapes = halves.shapes()
    if len(shapes) > 1:
        yield from _listed(halves, [[a[0] for a in quarter.atoms] for quarter in halves.quarters], Shapes, MOST_SHAPES)
    for shape in shapes:
        matrices = halves.matrices(shape)
        if matrices[0].shape[1] == 0:
            continue
        alone = len(shapes) == 1
        for projection in projections(matrices[0]):
            yield from _ranged(shape, projection, matrices, halves, alone=alone)
        if matrices[0].shape[1] > 1 and min(map(len, matrices)) > 20:
            for score in (_additive(matrices), _logistic(matrices)):
                if score is not None:
                    yield from _ranged(shape, score, matrices, halves, alone=alone, price=4)


def _log_ratio(first: Any, second: Any, sizes: tuple[int, ...]) -> Any:
    return np.log((first + 0.5) / (sizes[0] + 1.0)) - np.log((second + 0.5) / (sizes[1] + 1.0))


def _listed(halves: Halves, keys: list[list[Any]], kind: Callable[[frozenset[Any]], Event], most: int) -> Iterator[Tally]:
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
    yield Tally(counts, lambda i: kind(frozenset([held[i]])))
    order = np.argsort(-_log_ratio(counts[:, 0], counts[:, 1], halves.sizes()), kind="stable")
    for way in (order, order[::-1]):
        sets = np.cumsum(counts[way], axis=0)[1:]
        if len(sets):
            yield Tally(sets, lambda i, way=way: kind(frozenset(held[j] for j in way[: i + 2])), 2)  # type: ignore[misc]


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
    shape: Shape, projection: Projection, matrices: list[Floats], halves: Halves, *, alone: bool, price: int = 1
) -> Iterator[Tally]:
    """Half-lines of one number, and the unions of its most telling cells."""
    values = [projection.of(matrix) for matrix in matrices]
    cuts = _cuts(np.concatenate(values[:2]) if len(values[0]) + len(values[1]) else np.concatenate(values))
    if not len(cuts):
        return
    width = matrices[0].shape[1]
    cells = np.array([np.bincount(np.searchsorted(cuts, v, side="right"), minlength=len(cuts) + 1) for v in values]).T

    def make(intervals: tuple[tuple[float, float], ...]) -> Event:
        return Ranges(shape, width, projection, intervals, alone)

    below = np.cumsum(cells, axis=0)[:-1]
    yield Tally(below, lambda i: make(((-math.inf, float(cuts[i])),)), price)
    yield Tally(cells.sum(axis=0) - below, lambda i: make(((float(cuts[i]), math.inf),)), price)
    if price == 1 and len(cuts) > 1:
        order = np.argsort(-_log_ratio(cells[:, 0], cells[:, 1], halves.sizes()), kind="stable")
        for way in (order, order[::-1]):
            sets = np.cumsum(cells[way], axis=0)[:-1]
            yield Tally(sets, lambda i, way=way: make(merged([int(j) for j in way[: i + 1]], cuts)), 2)  # type: ignore[misc]


def _inside(event: Event, halves: Halves) -> Iterator[Tally]:
    """The intersections of an event with half-lines and outcomes: one more level of a shallow tree."""
    for tally in candidates(halves.restricted(event)):
        if tally.complexity == 1:
            yield Tally(tally.counts, lambda i, tally=tally: both(event, tally.make(i)), 2)  # type: ignore[misc]


def _additive(matrices: list[Floats]) -> Projection | None:
    """The sum over coordinates of the log-ratio of the coordinate's cell, from the first half."""
    cuts, scores = [], []
    for place in range(min(matrices[0].shape[1], 24)):
        first, second = matrices[0][:, place], matrices[1][:, place]
        edges = _cuts(np.concatenate([first, second]))[::2]
        counts = [np.bincount(np.searchsorted(edges, v, side="right"), minlength=len(edges) + 1) for v in (first, second)]
        ratio = np.log((counts[0] + 1.0) / (len(first) + 2.0)) - np.log((counts[1] + 1.0) / (len(second) + 2.0))
        cuts.append(tuple(map(float, edges)))
        scores.append(tuple(round(float(r), 3) for r in ratio))
    return Additive(tuple(cuts), tuple(scores)) if any(map(len, cuts)) else None


def _logistic(matrices: list[Floats]) -> Projection | None:
    """The direction of a logistic regression of the label on the numbers, by a few Newton steps on the first half."""
    numbers = np.concatenate(matrices[:2])[:, :24]
    label = np.concatenate([np.ones(len(matrices[0])), np.zeros(len(matrices[1]))])
    spread = numbers.std(axis=0)
    used = np.flatnonzero(spread > 0)
    if len(used) < 2:
        return None
    scaled = (numbers[:, used] - numbers[:, used].mean(axis=0)) / spread[used]
    design = np.column_stack([np.ones(len(scaled)), np.clip(scaled, -5, 5)])
    weights = np.zeros(design.shape[1])
    for _ in range(4):
        chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        hessian = (design * (chance * (1 - chance))[:, None]).T @ design + np.eye(design.shape[1])
        weights = weights + np.linalg.solve(hessian, design.T @ (label - chance) - weights)
    slopes = weights[1:] / spread[used]
    size = np.abs(slopes).max()
    if not np.isfinite(size) or size <= 0:
        return None
    return Combination(tuple(map(int, used)), tuple(round(float(s), 3) for s in slopes / size))


# --- choice --------------------------------------------------------------------------------------


def _smooth(hits: Any, size: int) -> Any:
    return (hits + 0.5) / (size + 1.0)


def _ranked(
    tallies: list[Tally], halves: Halves, null: Null, both_ways: bool, kept: int = KEPT
) -> list[tuple[float, Event, bool]]:
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
    rows: list[tuple[float, Event, bool]] = []
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


def _chosen(ranked: list[tuple[float, Event, bool]], halves: Halves, null: Null) -> Found | None:
    """The candidate of greatest growth on the second half (on all draws where none grows there)."""
    best: tuple[tuple[float, float], Found] | None = None
    sizes = halves.sizes()
    for growth, event, turned in ranked:
        held = [event.count(quarter) for quarter in halves.quarters]
        fresh = [_smooth(hits, size) for hits, size in zip(held[2:], sizes[2:], strict=True)]
        chance = null.rate(*(fresh[::-1] if turned else fresh))

        drawn = (sizes[0] + sizes[2], sizes[1] + sizes[3])
        found = Found(event, turned, (held[0] + held[2], held[1] + held[3]), drawn, chance)
        rank = (chance * max(1 - 0.03 * (event.complexity - 1), 0.3), growth)
        if best is None or rank > best[0]:
            best = rank, found
    return None if best is None else best[1]
