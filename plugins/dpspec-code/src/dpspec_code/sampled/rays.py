"""Long datasets and large numbers at which code changes its behaviour: wrapping counters, underflowing weights, exceeded limits.

A *ray* of a space is a family of datasets x_1, x_2, ..., such as 1, 2, 3 copies of one value. Code is called a few times at
1, 2, 4, 8, ...; where the kind of its outputs changes, or a number does not go on as it did, the place is found by halving.
The two neighbours at such a place are tried like any other pair. A change of behaviour by itself is no fault.

Code *breaks* at a place where its calls begin to fail as computers do: by an error of arithmetic, recursion or memory, or a
ValueError, that it does not raise by a statement of its own; by a number that is none; or after an array of doubles has
overflowed. exp(epsilon u / 2) breaks so at 1,420 records of one kind, for epsilon = 1, while the exponential mechanism itself
does not. A claim about real numbers is not refuted by that: it is reported. Where the claim is about doubles, the pair is
tried as any other.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Literal

import attrs
import numpy as np

from dpspec import DpspecError
from dpspec.plugin import Dataset, PrivacySpec
from dpspec.plugin.judges import Atom, Raised, Ray, Shape, Trials, outcome_atom, written
from dpspec_code.sampled.calls import Calls, ChosenPair, Endless, Stuck, pairs

_CALLS = 5
"""The number of outputs that are drawn on each dataset."""
_RAYS, _PLACES = 6, 2
"""Rays that are followed, and places of each that are looked for."""
_NUMBERS = 8
"""Numbers of an output that are followed."""
_CONSPICUOUS, _STILL = 3.0, 1e-9
"""Times a number's scatter by which it has to jump, and the scatter of one that has none."""
_LIMITS = frozenset({"OverflowError", "ZeroDivisionError", "FloatingPointError", "RecursionError", "MemoryError", "ValueError"})
"""What is raised where numbers, calls or memory come to an end; ValueError: by a draw that is handed a number that is none."""
_NO_NUMBERS = frozenset({"nan", "inf", "-inf"})


class _TooFar(Exception):
    """A call on a dataset of a ray was cut at its time limit. The ray is left: how long calls take depends on the machine."""


def _outputs(
    calls: Calls, dataset: Dataset, count: int, *, overflow: Literal["ignore", "raise"] = "ignore"
) -> list[tuple[Atom, str | None]]:
    """The outputs of some calls on a dataset of a ray, each with how the call fails as computers do.

    Raises:
        _TooFar: as soon as one of them is cut.
    """
    rng = np.random.Generator(calls.generator(dataset, "ray"))
    outputs: list[Any] = []
    for _ in range(count):
        outputs += calls.outputs(
            dataset, rng, 1, observe=lambda output: (outcome_atom(output), _failure(output)), overflow=overflow
        )
        if isinstance(outputs[-1], Endless):
            raise _TooFar
    return outputs


@attrs.frozen
class _Seen:
    """What a few calls on one dataset show: the kinds of their outputs, and the medians and the spread of their numbers.

    Args:
        kinds: the shapes of the outputs.
        middle, spread: the medians of their numbers, and by how much those of each place differ.
        broken: how calls fail as computers do; None where none does.
    """

    kinds: frozenset[Hashable]
    middle: tuple[float, ...]
    spread: tuple[float, ...]
    broken: str | None

    @classmethod
    def on(cls, calls: Calls, dataset: Dataset) -> _Seen:
        outputs = _outputs(calls, dataset, _CALLS)
        atoms = [found for found, _ in outputs]
        kinds = frozenset(shape for shape, _ in atoms)
        columns = [] if len(kinds) > 1 else list(zip(*(numbers[:_NUMBERS] for _, numbers in atoms), strict=False))
        middle = tuple(float(statistics.median(column)) for column in columns)
        spread = tuple(float(max(column)) - float(min(column)) for column in columns)
        return cls(kinds, middle, spread, next((text for _, text in outputs if text is not None), None))

    def step(self, other: _Seen) -> tuple[float, ...] | None:
        """By how much the numbers grow; None where the outputs are of other kinds."""
        if not self.kinds & other.kinds or len(self.middle) != len(other.middle):
            return None
        return tuple(b - a for a, b in zip(self.middle, other.middle, strict=True))


def _failure(output: Any) -> str | None:
    """How a call fails as computers do; None where it does not."""
    if isinstance(output, Raised):
        return f"raises {output.kind}: {output.message}" if output.kind in _LIMITS and not output.stated else None
    shape, _ = outcome_atom(output)
    return f"returns {written((shape, ()))}" if _has_no_number(shape) else None


def _has_no_number(shape: Shape) -> bool:
    return shape[0] in _NO_NUMBERS or any(_has_no_number(part) for part in shape[1:] if isinstance(part, tuple) and part)


def _overflows(calls: Calls, dataset: Dataset) -> str | None:
    """Which array of doubles overflows in a call; numpy says of numbers alone only that one does, which may be an integer."""
    (((shape, _), _),) = _outputs(calls, dataset, 1, overflow="raise")
    message = str(shape[2]) if shape[:2] == ("raises", "FloatingPointError") else ""
    return message if message.startswith("overflow") and "scalar" not in message else None


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
                if off > _CONSPICUOUS:
                    found.append((off, low, high, slope))
            slope = None if step is None else tuple(by / (high - low) for by in step)
        ranked = sorted(found, key=lambda one: (-one[0], one[1]))
        return ((low, high, slope) for _, low, high, slope in ranked[:_PLACES])

    def _off(self, low: int, high: int, slope: tuple[float, ...]) -> float:
        """By how much a number at two places differs from what it would be by going on as before, over how much it scatters."""
        before, after = self.at(low), self.at(high)
        step = before.step(after)
        if step is None:
            return math.inf
        usual = slope if len(slope) == len(step) else (0.0,) * len(step)
        widths = map(max, before.spread, after.spread)
        parts = zip(step, usual, widths, strict=True)
        return max((abs(by - (high - low) * each) / (width + _STILL) for by, each, width in parts), default=0.0)

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

    def breaks(self, place: int, beside: Sequence[Dataset]) -> str | None:
        """How code fails on one of the two datasets after a place, as it does not on the other; None where it does on none."""
        broken = [self.at(one).broken or _overflows(self.calls, dataset) for one, dataset in enumerate(beside, place)]
        return (broken[0] or broken[1]) if (broken[0] is None) != (broken[1] is None) else None


@attrs.frozen
class Jumps:
    """The changes of behaviour along the rays of a space.

    Args:
        pairs: neighbours between which the outputs of code jump.
        broken: neighbours between which code begins to fail as computers do, with how.
    """

    pairs: tuple[ChosenPair, ...] = ()
    broken: tuple[tuple[ChosenPair, str], ...] = ()


def jumps(calls: Calls, spec: PrivacySpec) -> Jumps:
    """Pairs of neighbours on the rays of a space between which the outputs of code jump.

    Args:
        calls: calls the code.
        spec: the claim.
    """
    trials = Trials.found_in(spec.space)
    found: dict[ChosenPair, str | None] = {}
    for ray in itertools.islice(trials.rays() if trials is not None else (), _RAYS):
        walk = _RayWalk(calls, ray, spec)
        try:
            for bend in walk.bends():
                place = walk.narrowed(*bend)
                if place is not None:
                    beside = [spec.space.dataset(ray.at(one)) for one in (place, place + 1)]
                    found |= dict.fromkeys(pairs(beside, spec), walk.breaks(place, beside))
        except Stuck:
            raise
        except (_TooFar, DpspecError):  # a space may have no such datasets, or the claim no distance of them
            continue
    broken = tuple((pair, text) for pair, text in found.items() if text is not None)
    return Jumps(tuple(pair for pair, text in found.items() if text is None), broken)
