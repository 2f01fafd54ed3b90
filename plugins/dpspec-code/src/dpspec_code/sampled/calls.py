"""Running a black box under guard, and the datasets and pairs that it is tried on.

The generator of each batch of draws is seeded by SHA-256 of (claim, dataset, stage, user seed): the same seed gives the same
verdict. A call that uses more than `limit` seconds of processor time (or five of wall time) is cut. It has no output: nothing is
inferred from how long a call takes. Every estimate omits such a call; every bet and interval assumes its least favourable output.

It is tried on the smallest datasets, and on patterns, whatever the order in which a space lists its values:

    lists    the smallest; one value repeated, at every length and around those at which counters wrap; one entry changed, at
             every position and to every value; steps; some at random, with one entry changed, two exchanged, one less
    vectors  constants, moved up and down by 1, 2 and 3 in patterns: all, one alone, one against the rest, a step, alternating, at
             random; the ends of the range
    records  (tables, households, whatever counts over cells) the first ones; w + v^- and w + v^+ for short changes v that keep
             the invariants, w a few equal cells; a space whose records are of very many kinds through its miniature

A pair is two datasets of one universe at finite distance. Pairs are compared at their own distance, not neighbours only. Datasets
are listed on demand (`Tried`): among the first ones every pair counts, a later one is paired with what is near.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import math
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeVar

import attrs
import numpy as np
from flint import arb

from dpspec import DpspecError
from dpspec.plugin import Dataset, DatasetSpace, Number, PrivacySpec, errors, exact
from dpspec.plugin.judges import (
    MOST as MOST,
    WALL,
    Atom,
    Cut,
    Outcomes,
    Raised,
    Universe,
    atom,
    count as count_of,
    order_tried,
    pattern_datasets,
    presented,
)
from dpspec_code.child_process import Spare
from dpspec_code.clock import SYSTEM_CLOCK, SearchClock

Result = TypeVar("Result")

Function = Callable[[Any, np.random.Generator], Any]

MOST_ENDLESS = 120
"""After so many calls that do not end the search gives up."""
MOST_WAITS = 2
"""... or after so many that only wait, for a network or a lock."""
LIMIT, SLOWEST = 0.1, 1.0
"""Seconds that one call may take at least, and at most, before it counts as one that does not end."""
_CHECKED = 400
_APART = 1 << 64
"""How far the generator is moved on after a call that left it as it was: no call draws so much."""
SINGLES, FIRST_SINGLES = 60, 10
"""Calls on each dataset that are made again in a fresh process, and how many of them at least."""


class OutOfDraws(Exception):
    """The budget of draws or of time is spent."""


class Endless:
    """Marks a call in a list of observations that was cut at its time limit; it is no output and becomes no outcome."""


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
        clock: measures calls and cuts them.
        expired: whether the time for all of them is over; evaluated between calls, and between two steps of an analysis.
    """

    function: Function
    space: DatasetSpace
    claim: str
    seed: int
    draws: int
    limit: float = LIMIT
    clock: SearchClock = SYSTEM_CLOCK
    expired: Callable[[], bool] = lambda: False
    made: int = 0
    endless: int = 0
    mutated: Dataset | None = None
    _inside: bool = False
    _waits: int = 0

    @property
    def left(self) -> int:
        """How many calls may still be made."""
        return self.draws - self.made

    @property
    def replays(self) -> bool:
        """Whether the same bits give the same output: not where native code calls the operating system directly."""
        return bool(getattr(self.function, "replays", True))

    def in_time(self, value: Result) -> Result:
        """What was computed, unless the time is over: so a long look at many draws ends on the way.

        Raises:
            OutOfDraws: when it is.
        """
        if self.expired():
            raise OutOfDraws
        return value

    def generator(self, dataset: Dataset, stage: str) -> np.random.PCG64:
        """The seeded bits for a dataset at a stage."""
        text = f"{self.claim}|{self.space.order(dataset)[1]}|{dataset!r}|{stage}|{self.seed}"
        return np.random.PCG64(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big"))

    def coin(self, text: str, count: int) -> int:
        """How many of `count` fair labels fall on x."""
        digest = hashlib.sha256(f"{self.claim}|coin|{text}|{self.seed}".encode()).digest()
        return int(np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big"))).binomial(count, 0.5))

    def draw(self, dataset: Dataset, stage: str, count: int) -> Outcomes:
        """Independent outputs on one dataset; fewer than `count` where calls were cut, whose outputs remain unknown."""
        if count > self.left:
            raise OutOfDraws
        before = self.endless
        outputs = self.outputs(dataset, np.random.Generator(self.generator(dataset, stage)), count)
        return Outcomes.from_atoms(outputs if self.endless == before else list(filter(_ended, outputs)))

    def outputs(
        self,
        dataset: Dataset,
        rng: np.random.Generator,
        count: int,
        *,
        observe: Callable[[Any], Any] = atom,
        overflow: Literal["ignore", "raise"] = "ignore",
    ) -> list[Any]:
        """What is observed of each call: of what the function returns, or of how it fails.

        Every output is observed before the next call is made, which may change it: a function may fill and return one buffer
        again and again. After a call that was cut the generator starts anew, since how many bits that call has used depends on
        the machine. A call that draws from a copy of the generator leaves it as it was; before the next one it is moved on, or
        all calls would draw the same.

        Args:
            dataset: the dataset.
            rng: the generator that all calls are given.
            count: how many calls are made.
            observe: maps an output, or a `Raised`, to what is kept of it.
            overflow: what numpy does where its numbers overflow.

        Returns:
            What `observe` returned, and an `Endless` for every call that was cut.
        """
        found: list[Any] = []
        given = presented(dataset)
        is_list = type(given) is list
        bits, before = rng.bit_generator, None
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore", over=overflow):
                warnings.simplefilter("ignore")
                while len(found) < count:
                    if not len(found) & 7 and self.expired():
                        raise OutOfDraws
                    handed = given.copy() if is_list else given
                    state = bits.state
                    if state == before:
                        bits.advance(_APART)  # type: ignore[attr-defined]  # it is the PCG64 of `generator`
                        state = bits.state
                    before = state
                    try:
                        found.append(observe(self._output(handed, rng)))
                    except Cut as cut:
                        self._inside = False
                        found.append(Endless())
                        self._count_endless(dataset, waited=cut.waited)
                        bits.state = self.generator(dataset, f"after-{self.endless}").state
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
        except BaseException as problem:  # whatever a mechanism raises is an output
            output = Raised.of(problem)
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
            raise Stuck("mechanism", f"did not end within {limit} in {count_of(self.endless, 'call')}", f"last on {dataset}")

    def calibrate(self, limit: float | None, datasets: Iterable[Dataset]) -> None:
        """Say how long one call may take: what is given, or in a measure of the slowest of a few calls."""
        if limit is not None:
            self.limit = limit
            return
        slowest = 0.0
        self.limit = SLOWEST
        with self.guarded(), contextlib.suppress(OutOfDraws):  # the time may be over before a slow function is measured
            for place, dataset in enumerate(datasets):
                begun = self.clock.now()
                self.outputs(dataset, np.random.Generator(self.generator(dataset, f"price-{place}")), 1)
                if not self.endless:
                    slowest = max(slowest, self.clock.now() - begun)
        self.endless = self._waits = 0
        self.limit = min(SLOWEST, max(LIMIT, 30 * slowest))

    # -- properties visible in calls --------------------------------------------------------------

    def repeats(self, dataset: Dataset, between: Dataset) -> bool:
        """Whether the same seed gives the same outputs, also after calls on another dataset; not tested where no seed reaches."""
        if not self.replays:
            return True
        runs = []
        for _ in range(2):
            rng = np.random.Generator(self.generator(dataset, "repeat"))
            runs.append([*itertools.takewhile(_ended, self.outputs(dataset, rng, 4))])
            self.outputs(between, np.random.Generator(self.generator(between, "between")), 2)
        return all(one == other for one, other in zip(*runs, strict=False))

    def ignores(self, dataset: Dataset) -> bool:
        """Whether the generator is left untouched; not tested where no seed reaches."""
        if not self.replays:
            return False
        bits = self.generator(dataset, "untouched")
        before = str(bits.state)
        for _ in range(3):
            self.outputs(dataset, np.random.Generator(bits), 1)
        return str(bits.state) == before

    def signature(self, dataset: Dataset) -> tuple[str, ...] | None:
        """Which draws the function makes on a dataset: a hint where laws differ, never a verdict; None where the call was cut."""
        rng = Logged(self.generator(dataset, "signature"))
        (output,) = self.outputs(dataset, rng, 1)
        return tuple(rng.log[:40]) if _ended(output) else None

    def single(self, asked: Sequence[tuple[Dataset, int]]) -> list[Atom | None]:
        """The outputs of single calls, in the given order, None for one that was cut.

        The generator of each is seeded by its dataset and number alone.
        """
        found = []
        for dataset, number in asked:
            rng = np.random.Generator(self.generator(dataset, f"single-{number}"))
            found += [output if _ended(output) else None for output in self.outputs(dataset, rng, 1)]
        return found

    def single_in_fresh_process(self, asked: tuple[float, Sequence[tuple[Dataset, int]]]) -> list[Atom | None]:
        """The same in a copy of this process, with the given time limit of a call and no other limit."""
        self.limit, self.expired = asked[0], lambda: False
        with self.guarded():
            return self.single(asked[1])

    def kept(self, datasets: Sequence[Dataset], fresh: Spare[list[Atom | None]]) -> Dataset | None:
        """A dataset on which a call depends on the calls before it; None when none was found.

        The same single calls are made here, after all that was called before, and the other way round in a process in which the
        function was never called. An output that is a function of dataset and generator is the same in both; where no seed
        reaches, the outputs on a dataset have the same law in both. A call that was cut in either is not compared.
        """
        if not self.replays:
            compared = self._compared(datasets, range(SINGLES), fresh)
            return next((dataset for dataset in datasets if _differ([part[1:] for part in compared if part[0] == dataset])), None)
        found = next(
            (dataset for dataset, one, other in self._compared(datasets, range(FIRST_SINGLES), fresh) if one != other), None
        )
        if found is None:
            with contextlib.suppress(OutOfDraws):  # a slow function is compared on its first calls
                compared = self._compared(datasets, range(FIRST_SINGLES, SINGLES), fresh)
                found = next((dataset for dataset, one, other in compared if one != other), None)
        return found

    def _compared(
        self, datasets: Sequence[Dataset], numbers: range, fresh: Spare[list[Atom | None]]
    ) -> list[tuple[Dataset, Atom, Atom]]:
        """The outputs of single calls here and, the other way round, in a fresh process, where neither was cut."""
        order = [(dataset, number) for number in numbers for dataset in datasets]
        theirs = fresh.ask((self.limit, order[::-1]))
        if theirs is None:
            return []
        both = zip(order, self.single(order), theirs[::-1], strict=True)
        return [(dataset, one, other) for (dataset, _), one, other in both if one is not None and other is not None]

    def guarded(self) -> contextlib.AbstractContextManager[None]:
        """Cut calls that do not end, while this context is open."""
        return self.clock.cutting(lambda: self.made if self._inside else -1, self.limit)


def _ended(output: Any) -> bool:
    return not isinstance(output, Endless)


def _differ(both: Sequence[tuple[Atom, Atom]]) -> bool:
    """Whether two samples of one dataset have different laws: their empirical distributions, in any fixed order of the outputs,
    differ by more than those of two samples of one law do except with probability 1e-9 (Dvoretzky, Kiefer and Wolfowitz 1956;
    Massart 1990).

    What is drawn once and repeated shows so: each process then has a point mass of its own.
    """
    if not both:
        return False
    drawn = [list(map(repr, sample)) for sample in zip(*both, strict=True)]
    widths = sum(math.sqrt(math.log(2 * 2 / MISTAKEN) / (2 * len(sample))) for sample in drawn)
    first, second = (np.sort(np.array(sample)) for sample in drawn)
    places = np.union1d(first, second)
    below = [np.searchsorted(sample, places, side="right") / len(sample) for sample in (first, second)]
    return bool(np.max(np.abs(below[0] - below[1])) > widths)


MISTAKEN = 1e-9
"""The probability that calls that depend on nothing else are said to depend on the calls before them."""


# --- datasets and pairs ---------------------------------------------------------------------------


ALL_PAIRS = 72
"""Of the first ones every pair is compared; a later one with those before it that look near."""
NEAR = 10
"""... but with no more of them than this, and with the last ones listed, whatever they look like."""
_PRECISION = 96


@attrs.frozen
class ChosenPair:
    """Two datasets of one universe.

    Args:
        left, right: x and x'.
        distance: d_X(x, x').
        universe: the label of the universe.
        budget: the Lipschitz constant of the universe.
    """

    left: Dataset
    right: Dataset
    distance: Number
    universe: Hashable
    budget: Number
    length: float = attrs.field(eq=False)
    """The distance as a float, to sort by."""

    @property
    def bound(self) -> arb:
        """A ball around budget x distance."""
        return self.budget.enclose(_PRECISION) * self.distance.enclose(_PRECISION)


def datasets(spec: PrivacySpec, seed: int, most: int = MOST) -> list[Dataset]:
    """The datasets that are tried, each once; with a smaller `most`, the first ones of them."""
    return list(itertools.islice(pattern_datasets(spec, seed), most))


def pairs(given: Sequence[Dataset], spec: PrivacySpec) -> list[ChosenPair]:
    """All pairs among some datasets that the claim speaks about."""
    tried = Tried(spec, iter(given))
    return tried.grow(len(given), everything=True)


@attrs.define(eq=False)
class Tried:
    """Datasets on demand, and the pairs among them that the claim constrains.

    Args:
        spec: the claim.
        source: the datasets, the most telling first.
    """

    spec: PrivacySpec
    source: Iterator[Dataset]
    datasets: list[Dataset] = attrs.field(factory=list)
    _labels: list[Sequence[Hashable]] = attrs.field(factory=list)
    _looks: list[tuple[Any, ...]] = attrs.field(factory=list)
    _budgets: dict[Any, Number] = attrs.field(factory=dict)
    _lengths: dict[str, tuple[Number, float]] = attrs.field(factory=dict)

    @classmethod
    def of(cls, spec: PrivacySpec, seed: int) -> Tried:
        """Those that patterns suggest."""
        return cls(spec, itertools.islice(pattern_datasets(spec, seed), MOST))

    def grow(self, most: int, *, everything: bool = False) -> list[ChosenPair]:
        """List datasets until there are `most`; the pairs of the new ones, with each other and with those before."""
        found: list[ChosenPair] = []
        for dataset in itertools.islice(self.source, max(0, most - len(self.datasets))):
            place = len(self.datasets)
            self.datasets.append(dataset)
            self._labels.append(self.spec.multiverse.labels(dataset, self.spec.space))
            self._looks.append(_look(dataset))
            others = range(place) if everything or place < ALL_PAIRS else self._near(place)
            for other in others:
                found += self._both(other, place)
        return found

    def _near(self, place: int) -> list[int]:
        """The datasets before this one that look nearest to it, and the last ones."""
        sizes = [(_apart(self._looks[place], self._looks[other]), -other) for other in range(place)]
        near = [-other for _, other in sorted(sizes)[:NEAR]]
        return sorted({*near, *range(max(0, place - NEAR), place)})

    def _both(self, first: int, second: int) -> Iterator[ChosenPair]:
        shared = [label for label in self._labels[first] if label in self._labels[second]]
        if not shared:
            return
        ends = sorted((self.datasets[first], self.datasets[second]), key=lambda dataset: order_tried(self.spec.space, dataset))
        one_way = not self.spec.output_divergence.is_symmetric
        for left, right in (ends, ends[::-1]) if one_way else (ends,):
            pair = _pair(left, right, shared, self.spec, (self._budgets, self._lengths), one_way=one_way)
            if pair is not None:
                yield pair


def _look(dataset: Dataset) -> tuple[Any, ...]:
    """What is compared to guess which datasets are near: the entries, and how often each occurs."""
    entries = dataset if isinstance(dataset, tuple) else (dataset,)
    texts = tuple(map(repr, entries))
    return texts, Counter(texts)


def _apart(one: tuple[Any, ...], other: tuple[Any, ...]) -> int:
    """How many places differ; for lists of two lengths, how many entries only one of them has."""
    (texts, counts), (others, their) = one, other
    moved = int(((counts - their) + (their - counts)).total())
    if len(texts) != len(others):
        return moved
    return min(sum(int(a != b) for a, b in zip(texts, others, strict=True)), moved)


def _pair(
    left: Dataset,
    right: Dataset,
    shared: list[Hashable],
    spec: PrivacySpec,
    known: tuple[dict[Any, Number], dict[str, tuple[Number, float]]],
    *,
    one_way: bool,
) -> ChosenPair | None:
    budgets, lengths = known
    distance = spec.distance(left, right)
    if not one_way and not spec.input_divergence.is_symmetric:
        back = spec.distance(right, left)
        if back < distance:
            left, right, distance = right, left, back
    if distance.is_infinite:
        return None
    for label in shared:
        if label not in budgets:
            try:
                budgets[label] = spec.bound(Universe(label=label, datasets=(left, right), is_whole=False))
            except errors.BudgetNotKnownError:  # a pair refutes a budget that is known alone
                budgets[label] = exact.INFINITY
    universe = shared[0] if len(shared) == 1 else min(shared, key=lambda label: budgets[label])
    distance, length = lengths.setdefault(str(distance), (distance, float(distance)))
    return None if budgets[universe].is_infinite else ChosenPair(left, right, distance, universe, budgets[universe], length)


def pair_order(pair: ChosenPair, space: DatasetSpace) -> tuple[Any, ...]:
    """The order of witnesses: closer pairs first, then smaller ones, then by text."""
    (left, left_text), (right, right_text) = order_tried(space, pair.left), order_tried(space, pair.right)
    return pair.length, left + right, left_text, right_text
