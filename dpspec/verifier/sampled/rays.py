"""Where a long dataset, or a large number, makes code jump: counters that wrap, weights that underflow, limits that are passed.

A *ray* of a space is a family of datasets x_1, x_2, ..., such as 1, 2, 3 copies of one value. Code is called a few times at
1, 2, 4, 8, ...; where the kind of its outputs changes, or a number does not go on as it did, the place is found by halving.
Two neighbours beside such a place are tried like any other pair. Nothing here says that anything is wrong with them.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Hashable, Iterator

import attrs
import numpy as np

from dpspec.base.errors import DpspecError
from dpspec.blocks.parts import Trials
from dpspec.blocks.space import Dataset
from dpspec.blocks.tried import Ray
from dpspec.grammar.spec import PrivacySpec
from dpspec.verifier.expression import Endless, outcome_atom
from dpspec.verifier.sampled.calls import Calls, ChosenPair, Stuck, pairs

_CALLS = 5
"""So many outputs are looked at on each dataset."""
_RAYS, _PLACES = 6, 2
"""Rays that are followed, and places of each that are looked for."""
_NUMBERS = 8
"""Numbers of an output that are followed."""


class _TooFar(Exception):
    """A call on a dataset of a ray does not end: how long calls take says nothing of the data, and is not looked for."""


@attrs.frozen
class _Seen:
    """What a few calls on one dataset show: the kinds of their outputs, and the medians and the spread of their numbers."""

    kinds: frozenset[Hashable]
    middle: tuple[float, ...]
    spread: float

    @classmethod
    def on(cls, calls: Calls, dataset: Dataset) -> _Seen:
        rng = np.random.Generator(calls.generator(dataset, "ray"))
        first = calls.outputs(dataset, rng, 1)
        if isinstance(first[0], Endless):
            raise _TooFar
        atoms = [outcome_atom(output) for output in (*first, *calls.outputs(dataset, rng, _CALLS - 1))]
        kinds = frozenset(shape for shape, _ in atoms)
        columns = [] if len(kinds) > 1 else list(zip(*(numbers[:_NUMBERS] for _, numbers in atoms), strict=False))
        middle = tuple(float(statistics.median(column)) for column in columns)
        spread = max((float(max(column)) - float(min(column)) for column in columns), default=0.0)
        return cls(kinds, middle, spread)

    def step(self, other: _Seen) -> tuple[float, ...] | None:
        """By how much the numbers grow; None where the outputs are of other kinds."""
        if not self.kinds & other.kinds or len(self.middle) != len(other.middle):
            return None
        return tuple(b - a for a, b in zip(self.middle, other.middle, strict=True))


@attrs.define(eq=False)
class _RayWalk:
    """One ray and what was seen on it."""

    calls: Calls
    ray: Ray
    spec: PrivacySpec
    seen: dict[int, _Seen] = attrs.field(factory=dict)

    def at(self, place: int) -> _Seen:
        if place not in self.seen:
            self.seen[place] = _Seen.on(self.calls, self.spec.space.dataset(self.ray.at(place)))
        return self.seen[place]

    def bends(self) -> Iterator[tuple[int, int, tuple[float, ...]]]:
        """Stretches of the ray on which something happens, the most conspicuous first, with how numbers grew per place before."""
        first, last = self.ray.ends
        marks = [first, *itertools.takewhile(lambda place: place < last, (first + (1 << k) for k in range(40))), last]
        found = []
        slope: tuple[float, ...] | None = None
        for low, high in itertools.pairwise(dict.fromkeys(marks)):
            try:
                step = self.at(low).step(self.at(high))
            except _TooFar:
                break
            if step is None:
                found.append((math.inf, low, high, slope or ()))
            elif slope is not None and len(slope) == len(step):
                off = self._off(low, high, slope)
                if off > 3 * max(self.at(low).spread, self.at(high).spread):
                    found.append((off, low, high, slope))
            slope = None if step is None else tuple(by / (high - low) for by in step)
        ranked = sorted(found, key=lambda one: (-one[0], one[1]))
        return ((low, high, slope) for _, low, high, slope in ranked[:_PLACES])

    def _off(self, low: int, high: int, slope: tuple[float, ...]) -> float:
        """By how much the numbers at two places differ from what they would by going on as before."""
        step = self.at(low).step(self.at(high))
        if step is None:
            return math.inf
        usual = slope if len(slope) == len(step) else (0.0,) * len(step)
        return max((abs(by - (high - low) * each) for by, each in zip(step, usual, strict=True)), default=0.0)

    def narrowed(self, low: int, high: int, slope: tuple[float, ...]) -> int | None:
        """The place after which most of what happens between two places happens at once; None where it does not."""
        whole = self._off(low, high, slope)
        while high - low > 1:
            middle = (low + high) // 2
            if self._off(low, middle, slope) >= self._off(middle, high, slope):
                high = middle
            else:
                low = middle
        return low if self._off(low, high, slope) >= whole / 2 else None


def jumping_pairs(calls: Calls, spec: PrivacySpec) -> list[ChosenPair]:
    """Pairs of neighbours on the rays of a space between which the outputs of code jump.

    Args:
        calls: calls the code.
        spec: the claim.
    """
    trials = Trials.found_in(spec.space)
    found: list[ChosenPair] = []
    for ray in itertools.islice(trials.rays() if trials is not None else (), _RAYS):
        walk = _RayWalk(calls, ray, spec)
        try:
            for bend in walk.bends():
                place = walk.narrowed(*bend)
                if place is not None:
                    found += pairs([spec.space.dataset(ray.at(one)) for one in (place, place + 1)], spec)
        except Stuck:
            raise
        except (_TooFar, DpspecError):  # a space may have no such datasets, or the claim no distance of them
            continue
    return found
