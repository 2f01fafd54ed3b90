"""Small black boxes, right and wrong, and claims about them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

from dpspec_code.clock import SearchClock

from dpspec.base.time_limits import Cut, Stopwatch
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.lists import ValueLists
from dpspec.blocks.multiverse import Multiverse, Trivial
from dpspec.blocks.space import DatasetSpace
from dpspec.grammar.spec import PrivacySpec
from tests.verify.toys import block

BIT = ValueLists(values=(0, 1), least=1, most=1)
LISTS = ValueLists(values=(0, 1), most=3, ordered=False)


def claim(
    space: DatasetSpace = LISTS,
    *,
    epsilon: Any = 1,
    d_pr: tuple[str, dict[str, Any]] = ("mult", {}),
    metric: Any = None,
    parameter: str = "epsilon",
    multiverse: Multiverse | None = None,
) -> PrivacySpec:
    """A claim about lists: symmetric difference for multisets, positions that differ for sequences."""
    return PrivacySpec(
        space=space,
        multiverse=multiverse or Trivial(),
        input_divergence=metric or block("input_divergences", "hamming-ordered" if space.is_ordered else "symmetric-difference"),
        output_divergence=block("output_divergences", d_pr[0], **d_pr[1]),
        budget=UniformBudget(parameter=parameter, value=epsilon),
    )


def response(epsilon: float) -> Any:
    """Randomised response on the first bit, tight at epsilon."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    return lambda x, rng: int(x[0] ^ (rng.random() >= keep))


def laplace_count(scale: float) -> Any:
    """The number of records with Laplace noise: tight at 1/scale."""
    return lambda x, rng: round(len(x) + rng.laplace(0, scale), 3)


def geometric_count(ratio: float) -> Any:
    """The number of records with two-sided geometric noise: tight at -ln(ratio)."""
    return lambda x, rng: len(x) + int(rng.geometric(1 - ratio)) - int(rng.geometric(1 - ratio))


# --- a clock that counts -------------------------------------------------------------------------


class CountingWatch(Stopwatch):
    """The units of work that a clock has counted from now on."""

    def __init__(self, clock: CountingClock, units: float) -> None:
        self.seconds = units
        self._clock, self._begun = clock, clock.units

    def spent(self) -> float:
        return self._clock.units - self._begun


class CountingClock(SearchClock):
    """Counts units of work that a function reports, in place of seconds. A call is cut when it reports more than its limit."""

    def __init__(self) -> None:
        self.units = 0.0
        self._current: Callable[[], int] = lambda: -1
        self._limit = math.inf
        self._call, self._used = -1, 0.0

    def now(self) -> float:
        return self.units

    def watch(self, seconds: float = math.inf) -> Stopwatch:
        return CountingWatch(self, seconds)

    @contextlib.contextmanager
    def cutting(self, current: Callable[[], int], seconds: float) -> Iterator[None]:
        before = self._current, self._limit
        self._current, self._limit = current, seconds
        try:
            yield
        finally:
            self._current, self._limit = before

    def work(self, units: float) -> None:
        """Report work of the running call."""
        call = self._current()
        if call != self._call:
            self._call, self._used = call, 0.0
        self._used += units
        if call >= 0 and self._used > self._limit:
            self.units += max(0.0, self._limit - (self._used - units))
            raise Cut(waited=False)
        self.units += units
