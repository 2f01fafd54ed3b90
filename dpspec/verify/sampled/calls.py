"""Running a black box under guard: seeds from hashes, a limit on every call, exceptions as outputs, and what the calls give away.

The generator of each batch of draws is seeded by SHA-256 of (claim, dataset, stage, user seed): the same seed gives the same
verdict. A call that burns more than `limit` seconds of processor time (or five of wall time) is cut and becomes the
output "does not end"; this needs the main thread of a system with interval timers, elsewhere calls are not cut.
"""

from __future__ import annotations

import contextlib
import hashlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.errors import DpspecError
from dpspec.plural import count as told
from dpspec.verify.apart import Spare
from dpspec.verify.limit import WALL, Cut, cutting
from dpspec.verify.sampled.outputs import Atom, Endless, Outcomes, Raised, atom

Function = Callable[[Any, np.random.Generator], Any]

MOST_ENDLESS = 120
"""After so many calls that do not end the search gives up."""
MOST_WAITS = 2
"""... or after so many that only wait, for a network or a lock."""
_CHECKED = 400
SINGLES = 60
"""Calls on each dataset that are made again in a fresh process."""


class OutOfDraws(Exception):
    """The budget of draws or of time is spent."""


class Stuck(DpspecError):
    """A mechanism does not end, too often to go on."""

    code = "endless"
    exit_code = 3


class Logged(np.random.Generator):
    """A generator that writes down which of its methods are called, with which numbers."""

    def __init__(self, bits: np.random.PCG64) -> None:
        super().__init__(bits)
        self.log: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("_") or name in ("log", "bit_generator") or not callable(found):
            return found

        def called(*args: Any, **kwargs: Any) -> Any:
            self.log.append(f"{name}{args}{kwargs}"[:120])
            return found(*args, **kwargs)

        return called


@attrs.define(eq=False)
class Calls:
    """The only place that calls the function.

    Args:
        function: the mechanism.
        space: says how a dataset is presented.
        claim: a text that identifies the claim, part of every seed.
        seed: the user's seed.
        draws: how many calls may be made.
        limit: seconds that one call may take.
    """

    function: Function
    space: DatasetSpace
    claim: str
    seed: int
    draws: int
    limit: float = 0.1
    made: int = 0
    endless: int = 0
    mutated: Dataset | None = None
    expired: Callable[[], bool] = lambda: False
    _inside: bool = False
    _waits: int = 0

    @property
    def left(self) -> int:
        """How many calls may still be made."""
        return self.draws - self.made

    def generator(self, dataset: Dataset, stage: str) -> np.random.PCG64:
        """The seeded bits for a dataset at a stage."""
        text = f"{self.claim}|{self.space.order(dataset)[1]}|{dataset!r}|{stage}|{self.seed}"
        return np.random.PCG64(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big"))

    def coin(self, text: str, count: int) -> int:
        """How many of `count` fair labels fall on x."""
        digest = hashlib.sha256(f"{self.claim}|coin|{text}|{self.seed}".encode()).digest()
        return int(np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big"))).binomial(count, 0.5))

    def draw(self, dataset: Dataset, stage: str, count: int) -> Outcomes:
        """Independent outputs on one dataset."""
        if count > self.left or self.expired():
            raise OutOfDraws
        return Outcomes.of(self.outputs(dataset, np.random.Generator(self.generator(dataset, stage)), count))

    def outputs(self, dataset: Dataset, rng: np.random.Generator, count: int) -> list[Any]:
        """What the function returns, or how it fails, call by call."""
        found: list[Any] = []
        given = self.space.presented(dataset)
        is_list = type(given) is list
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                while len(found) < count:
                    handed = given.copy() if is_list else given
                    try:
                        found.append(self._output(handed, rng))
                    except Cut as cut:
                        self._inside = False
                        found.append(Endless())
                        self._count_endless(dataset, waited=cut.waited)
                    self.made += 1
                    if self.made < _CHECKED or len(found) <= 3:
                        self._compare(handed, given, dataset)
        finally:
            self._inside = False
        return found

    def _output(self, handed: Any, rng: np.random.Generator) -> Any:
        """The output of one call, or what it raised; only in here may the call be cut."""
        self._inside = True
        try:
            output = self.function(handed, rng)
        except (Cut, KeyboardInterrupt):
            raise
        except BaseException as problem:
            output = Raised(type(problem).__name__, str(problem)[:80])
        self._inside = False
        return output

    def _compare(self, handed: Any, given: Any, dataset: Dataset) -> None:
        if self.mutated is None and type(handed) is list and [*map(repr, handed)] != [*map(repr, given)]:
            self.mutated = dataset

    def _count_endless(self, dataset: Dataset, *, waited: bool) -> None:
        self.endless += 1
        self._waits += waited
        if self.endless > MOST_ENDLESS or self._waits > MOST_WAITS:
            limit = f"{WALL:g} s on the clock" if waited else f"{self.limit:g} s"
            raise Stuck("mechanism", f"did not end within {limit} in {told(self.endless, 'call')}", f"last on {dataset}")

    # -- what the calls give away -----------------------------------------------------------------

    def repeats(self, dataset: Dataset, between: Dataset) -> bool:
        """Whether the same seed gives the same outputs, also after calls on another dataset."""
        runs = []
        for _ in range(2):
            rng = np.random.Generator(self.generator(dataset, "repeat"))
            runs.append([atom(output) for output in self.outputs(dataset, rng, 4)])
            self.outputs(between, np.random.Generator(self.generator(between, "between")), 2)
        return runs[0] == runs[1]

    def ignores(self, dataset: Dataset) -> bool:
        """Whether the generator is left untouched."""
        bits = self.generator(dataset, "untouched")
        before = str(bits.state)
        self.outputs(dataset, np.random.Generator(bits), 3)
        return str(bits.state) == before

    def signature(self, dataset: Dataset) -> tuple[str, ...]:
        """Which draws the function makes on a dataset: a hint where laws differ, never a verdict."""
        rng = Logged(self.generator(dataset, "signature"))
        self.outputs(dataset, rng, 1)
        return tuple(rng.log[:40])

    def single(self, asked: Sequence[tuple[Dataset, int]]) -> list[Atom]:
        """The outputs of single calls, in the given order; the generator of each is seeded by its dataset and number alone."""
        found = []
        for dataset, number in asked:
            rng = np.random.Generator(self.generator(dataset, f"single-{number}"))
            found += [atom(output) for output in self.outputs(dataset, rng, 1)]
        return found

    def kept(self, datasets: Sequence[Dataset], fresh: Spare[list[Atom]]) -> Dataset | None:
        """A dataset on which a call depends on the calls before it; None when none was found.

        The same single calls are made here, after all that was called before, and the other way round in a process in which the
        function was never called. An output that is a function of dataset and generator is the same in both.
        """
        order = [(dataset, number) for number in range(SINGLES) for dataset in datasets]
        theirs = fresh.ask(order[::-1])
        if theirs is None:
            return None
        ours = self.single(order)
        return next((dataset for (dataset, _), one, other in zip(order, ours, theirs[::-1], strict=True) if one != other), None)

    def guarded(self) -> contextlib.AbstractContextManager[None]:
        """Cut calls that do not end, while this context is open."""
        return cutting(lambda: self.made if self._inside else -1, self.limit)
