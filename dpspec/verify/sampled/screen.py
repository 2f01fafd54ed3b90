"""Screening: every dataset is drawn from a little, every pair is compared on a pool of events, the best go on.

Halving: few draws and optimistic ranks first, more draws and cautious ranks later. What is seen here only says where to look; no
verdict rests on it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import attrs
import numpy as np

from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.space import Dataset
from dpspec.exact import Number
from dpspec.verify.sampled.calls import Calls
from dpspec.verify.sampled.events import projections
from dpspec.verify.sampled.null import PRECISION, Floats, Null
from dpspec.verify.sampled.outputs import Outcomes, Shape
from dpspec.verify.sampled.pairs import Pair

CUTS = 10
POOL = 6_000
_STRONG = 5.5
"""Standard errors beyond which a pair counts as plainly violating, so that the smallest such pair comes first."""


@attrs.define(eq=False)
class Samples:
    """The draws that were spent on looking, by dataset."""

    calls: Calls
    held: dict[str, Outcomes] = attrs.field(factory=dict)

    def of(self, dataset: Dataset) -> Outcomes:
        return self.held.get(repr(dataset)) or Outcomes.of([])

    def extend(self, dataset: Dataset, size: int) -> None:
        """Draw until the dataset has `size` draws."""
        now = self.of(dataset)
        if len(now) < size:
            fresh = self.calls.draw(dataset, f"look-{len(now)}", size - len(now))
            self.held[repr(dataset)] = now + fresh if len(now) else fresh


@attrs.define(eq=False)
class Nulls:
    """The null sets of a divergence, one for each bound (a divergence that has no hash is not remembered between runs)."""

    divergence: OutputDivergence
    held: dict[tuple[Number, Number], Null] = attrs.field(factory=dict)

    def of(self, pair: Pair) -> Null:
        key = (pair.budget, pair.distance)
        if key not in self.held:
            try:
                self.held[key] = _null(self.divergence, *key)
            except TypeError:
                self.held[key] = Null(self.divergence, pair.bound)
        return self.held[key]


@lru_cache(maxsize=128)
def _null(divergence: OutputDivergence, budget: Number, distance: Number) -> Null:
    """Null sets are remembered between runs: their tables are the same, and cost more than many draws."""
    return Null(divergence, budget.enclose(PRECISION) * distance.enclose(PRECISION))


def pooled_counts(samples: Sequence[Outcomes]) -> Floats:
    """How often each event of a common pool holds in each sample: one row per sample."""
    columns: list[Floats] = [_frequent(samples, 40), _frequent(samples, 12, shapes=True)]
    share = max(1, sum(map(len, samples)) // POOL)
    pool = Outcomes.from_atoms([atom for sample in samples for atom in sample.atoms[::share]])
    for shape, (rows, matrix) in sorted(pool.groups.items(), key=_commonest)[:8]:
        if matrix.shape[1] == 0 or len(rows) < 20:
            continue
        owners = [place for place, sample in enumerate(samples) if shape in sample.groups]
        numbers = np.concatenate([samples[place].groups[shape][1] for place in owners])
        owner = np.repeat(owners, [len(samples[place].groups[shape][1]) for place in owners])
        for projection in projections(matrix):
            cuts = np.unique(np.quantile(projection.of(matrix), np.linspace(0, 1, CUTS + 1)[1:], method="higher"))
            cells = np.searchsorted(cuts, projection.of(numbers), side="right")
            counts = np.zeros((len(samples), len(cuts) + 1))
            np.add.at(counts, (owner, cells), 1.0)
            columns.append(np.cumsum(counts, axis=1))
            if matrix.shape[1] == 1:
                columns.append(counts)
    return np.concatenate(columns, axis=1)


def _commonest(item: tuple[Shape, tuple[Any, Floats]]) -> tuple[int, str]:
    return -len(item[1][0]), repr(item[0])


def _frequent(samples: Sequence[Outcomes], most: int, *, shapes: bool = False) -> Floats:
    counters: list[Counter[Any]] = [
        Counter(atom[0] for atom in sample.atoms) if shapes else Counter(sample.atoms) for sample in samples
    ]
    common: Counter[Any] = Counter()
    for counter in counters:
        common.update(counter)
    kept = sorted((key for key in common if common[key] > 3), key=lambda key: (-common[key], repr(key)))[:most]
    return np.array([[counter[key] for key in kept] for counter in counters], dtype=float).reshape(len(samples), len(kept))


def excesses(pairs: Sequence[Pair], samples: Samples, nulls: Nulls, *, both_ways: bool) -> Floats:
    """For every pair the largest excess over the claim, in standard errors, among a pool of events."""
    names = {repr(dataset): dataset for pair in pairs for dataset in (pair.left, pair.right)}
    places = {name: place for place, name in enumerate(names)}
    held = [samples.of(dataset) for dataset in names.values()]
    sizes = np.array([max(len(sample), 1) for sample in held], dtype=float)
    chances = (pooled_counts(held) + 0.5) / (sizes[:, None] + 1.0)
    found = np.zeros(len(pairs))
    groups: dict[int, tuple[Null, list[int]]] = {}
    for place, pair in enumerate(pairs):
        null = nulls.of(pair)
        groups.setdefault(id(null), (null, []))[1].append(place)
    for null, members in groups.values():
        for start in range(0, len(members), 512):
            some = members[start : start + 512]
            first = np.array([places[repr(pairs[i].left)] for i in some])
            second = np.array([places[repr(pairs[i].right)] for i in some])
            p, q = chances[first], chances[second]
            draws = np.minimum(sizes[first], sizes[second])[:, None]
            value = null.excess(p, q, draws).max(axis=1)
            if both_ways:
                value = np.maximum(value, null.excess(q, p, draws).max(axis=1))
            found[some] = value
    return found


def ranked(pairs: Sequence[Pair], values: Floats, hints: dict[str, tuple[str, ...]], most: int) -> list[Pair]:
    """The most promising of some sorted pairs; among plain violations the smallest first; a few for which the calls differ."""
    order = sorted(range(len(pairs)), key=lambda i: (-min(float(values[i]), _STRONG), i))
    chosen = [pairs[i] for i in order[:most]]
    differing = [pairs[i] for i in order if hints.get(repr(pairs[i].left)) != hints.get(repr(pairs[i].right))]
    by_distance: dict[float, list[Pair]] = defaultdict(list)
    for i in order:
        by_distance[pairs[i].length].append(pairs[i])
    spread = [held[0] for _, held in sorted(by_distance.items())[:4]]
    extra = [*differing[: max(1, most // 8)], *spread]
    return list({id(pair): pair for pair in [*chosen, *extra]}.values())
