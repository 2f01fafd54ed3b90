"""The law of a plain sampler, read off by running it on every choice of its randomness.

    P_x(o) = sum over the paths that end in o of the product of the probabilities of their choices.

A rejection loop that comes back to an earlier state is solved as a Markov chain, so that redrawing has an exact law too.

A run is a law only when all its randomness comes from the generator that it was given, so randomness from elsewhere ends the
enumeration.
"""

from __future__ import annotations

import contextlib
import copy
import heapq
import itertools
import math
import os
import random
import warnings
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
import numpy as np

from dpspec.plugin import Dataset, DatasetSpace, Law, LibraryModels, Mechanism, ParameterError, spend
from dpspec.plugin.judges import (
    WALL,
    Cut,
    Enclosed,
    EnclosedLaw,
    NotEnumerableError,
    Probability,
    cutting,
    exact_exponential,
    finite_law,
    observed,
    observed_raise,
    presented,
)
from dpspec_code.automatic.coupling import NoisyLaw, raced
from dpspec_code.automatic.entry_arrays import SymbolicDataset
from dpspec_code.automatic.formulas import TreeEnd, has_holes
from dpspec_code.automatic.generator import EnumeratingGenerator
from dpspec_code.automatic.inversion import rounded_down, with_signs
from dpspec_code.automatic.path import MOST_CHOICES, Choices, RandomPath, Stop, TransitionRow, changed, solve
from dpspec_code.automatic.questions import Questions
from dpspec_code.automatic.rewriting import prepare

if TYPE_CHECKING:
    from dpspec.plugin.judges import Exponential


@contextmanager
def only_its_generator() -> Iterator[None]:
    """Raise NotEnumerableError when the block used a global generator or the operating system's randomness.

    Detected are Python's `random`, `secrets` and `uuid`, numpy's global and newly made generators, and `os.urandom`. Native code
    that calls the system directly is not; a run that differs when it is repeated reveals it, most of the time.

    >>> with only_its_generator():
    ...     random.random() < 2
    Traceback (most recent call last):
    ...
    dpspec.base.errors.NotEnumerableError: sampler: draws from elsewhere than the generator that it is given: ...
    """
    asked: list[int] = []
    sources: list[tuple[Any, str]] = [(os, "urandom"), (random, "_urandom")]
    originals = [getattr(module, name) for module, name in sources]

    def counted(count: int) -> bytes:
        asked.append(count)
        return bytes(originals[0](count))

    before = _states()
    for module, name in sources:
        setattr(module, name, counted)
    try:
        yield
    finally:
        for (module, name), original in zip(sources, originals, strict=True):
            setattr(module, name, original)
    if asked or _states() != before:
        raise NotEnumerableError(
            "sampler", "draws from elsewhere than the generator that it is given", "draw all randomness from that generator"
        )


def _states() -> tuple[object, ...]:
    """The states of the global generators; numpy makes its own on the first call, which is not the sampler's doing."""
    state: Any = np.random.get_state(legacy=False)
    return random.getstate(), state["state"]["pos"], state["state"]["key"].tobytes()


# --- the law of a sampler -------------------------------------------------------------------------


Draw = Callable[[Any, Any], Any]
"""A sampler: (dataset, generator) -> output."""

_BEYOND = ("beyond the cut",)
_FEW_STATES = 64
LIMIT = 1.0
"""Seconds of processor time that one run may take."""
_LARGEST_REST = Fraction(1, 10**9)
_WORK_OF_A_RELEASE, _WORK_OF_A_CHOICE = 50, 4
"""Units of work (`dpspec.base.work`) of a run of release code, and of each choice in it."""
_CHOICES_OF_A_RELEASE = 500
"""Release code that makes more choices in one run draws again and again: to find the end takes the square of their number."""


ASSUMPTIONS = (
    "random() is a uniform real number and not one of 2^53 doubles, and a number typed as 0.1 means 1/10",
    "each draw of numpy's Generator has exactly the law that it is named for, independent of the others",
    "an observer sees what is returned, raised or printed, and nothing else of the process (dpspec.verifier.observation)",
)
"""What a law that was read off plain code takes for granted."""


def enumerate_law(
    function: Draw,
    dataset: Any,
    *,
    most_paths: int = 100_000,
    tail: Fraction = Fraction(1, 1 << 64),
    read: bool = True,
    symbolic: bool = False,
    drew: set[str] | None = None,
    counter: RunCounter | None = None,
    models: LibraryModels | None = None,
) -> Law:
    """The law of function(dataset, generator): of what an observer sees of it (`dpspec.verifier.observation`).

    The code is run with questions put in (`dpspec_code.automatic.rewriting`): it may use what is known to depend on its
    arguments alone, and functions and classes in Python whose source is at hand; anything else ends the enumeration, and no
    `except` or `finally` of the code can make an outcome of that.

    Args:
        function: the sampler; an exception that it raises is an outcome.
        dataset: what it is run on.
        most_paths: how many runs are made before it is given up.
        tail: endless draws and loops are cut off where less than this probability is left.
        read: whether the code is untrusted, so that it is analysed; release code of a mechanism is trusted, and its
            outcomes are distinguished by ==.
        symbolic: whether draws of `geometric` are symbols, as continuous noise is, and not choices.
        drew: gets "geometric" when such a draw was made.
        counter: counts the runs of several enumerations together.
        models: of libraries that the code calls, by whose laws these calls are read.

    Returns:
        A `FiniteLaw` when every probability is rational, an `ExponentialLaw` when some are rational functions of e^r,
        an `EnclosedLaw` when a threshold was computed in floating point or an endless draw was cut off.

    Raises:
        NotEnumerableError: for draws without a finite list of values, code of which it is not known that it depends on its
            arguments alone, outcomes that cannot be compared, too many paths, a memory between calls, or no end.
        RunLimitError: when the counter has reached its limit.

    >>> def coin(bit, rng):
    ...     while True:
    ...         first, second = rng.random() < 0.7, rng.random() < 0.7
    ...         if first != second:
    ...             return bit if first else 1 - bit
    >>> enumerate_law(coin, 1)
    FiniteLaw({1: 1/2, 0: 1/2})
    """
    if read:
        prepare(function)
    with Questions(_State, models) as questions:
        search = _Search(
            function=function, dataset=dataset, most_paths=most_paths, tail=Fraction(tail), questions=questions, read=read,
            symbolic=symbolic, drew=drew, counter=counter,
        )  # fmt: skip
        with only_its_generator(), cutting(lambda: search.runs if search.inside else -1, LIMIT), _warned(search, read=read):
            return _law(search.ends(), symbolic=symbolic)


@contextlib.contextmanager
def _warned(search: _Search, *, read: bool) -> Iterator[None]:
    """A warning is written to standard error, which is not part of the outcome; release code of a mechanism is trusted."""

    def on_warning(message: Any, *_: Any, **__: Any) -> None:
        if search.inside:
            search.questions.refuse(f"warns: {message}")

    with warnings.catch_warnings(), contextlib.nullcontext() if read else np.errstate(all="ignore"):
        warnings.simplefilter("always" if read else "ignore")
        warnings.showwarning = on_warning
        yield


class RunLimitError(NotEnumerableError):
    """Several enumerations together took more runs than they may."""

    code = "run-limit"


@attrs.define
class RunCounter:
    """Counts the runs of a function over several enumerations, and ends them at a limit.

    The limit is a number of runs and not a time, so that what an enumeration finds does not depend on the machine.

    Args:
        most: how many runs are made at most.
        made: how many were made.
    """

    most: int
    made: int = 0

    def add_run(self) -> None:
        """Count one run.

        Raises:
            RunLimitError: when the limit is exceeded.
        """
        self.made += 1
        if self.made > self.most:
            rule = f"takes more than {self.most:,} runs to enumerate on all datasets together"
            raise RunLimitError("sampler", rule, "take a smaller space, or give its law by hand")


@attrs.define(kw_only=True)
class _Search:
    """All runs of a sampler on one dataset, state by state."""

    function: Draw
    dataset: Any
    most_paths: int
    tail: Fraction
    questions: Questions
    read: bool
    symbolic: bool
    drew: set[str] | None
    counter: RunCounter | None = None
    runs: int = 0
    inside: bool = False
    known: dict[Hashable, list[Probability]] = attrs.field(factory=dict)

    def ends(self) -> TransitionRow:
        """The law of where the runs end."""
        prefixes: dict[Hashable, Choices] = {(): ()}
        rows: dict[Hashable, TransitionRow] = {}
        ticket = itertools.count()
        waiting: list[tuple[float, int, Hashable]] = [(-1.0, next(ticket), ())]
        masses: dict[Hashable, float] = {(): 1.0}
        while waiting:
            _, _, state = heapq.heappop(waiting)
            left = sum(mass for state, mass in masses.items() if state not in rows)
            if len(rows) >= _FEW_STATES and left < self.tail:
                break
            if state in rows:
                continue
            rows[state] = self._row(prefixes[state], prefixes)
            for target, probability in rows[state].items():
                if target in prefixes and target not in rows:
                    masses[target] = masses.get(target, 0.0) + masses[state] * float(probability)
                    heapq.heappush(waiting, (-masses[target], next(ticket), target))
        cut = [state for state in prefixes if state not in rows]
        found = solve(rows, ())
        beyond = [found.pop(state) for state in (*cut, _BEYOND) if state in found]
        if beyond:
            found[_BEYOND] = sum(beyond, Fraction(0))
        return found

    def _row(self, start: Choices, prefixes: dict[Hashable, Choices]) -> TransitionRow:
        """Where the runs from one state go: to outcomes or to the next states."""
        row: TransitionRow = {}
        pending, most = [start], MOST_CHOICES if self.read else _CHOICES_OF_A_RELEASE
        while pending:
            path = RandomPath(forced=pending.pop(), start=len(start), most_choices=most)
            target = self._run(path)
            if not self.read:  # many searches ask for the laws of release code; plain functions have limits of their own
                spend(_WORK_OF_A_RELEASE + _WORK_OF_A_CHOICE * len(path.taken))
            if self.runs == 1:
                self.check_repeatable(path, target)
            if target not in prefixes and isinstance(target, _State):
                prefixes[target] = tuple(path.taken)
            row[target] = row[target] + path.mass if target in row else path.mass
            pending += path.siblings
        return row

    def _run(self, path: RandomPath) -> Hashable:
        """One run: the outcome, the state where it was stopped, or the cut."""
        self.runs += 1
        if self.counter is not None:
            self.counter.add_run()
        if self.runs > self.most_paths:
            rule = f"has more than {self.most_paths} paths"
            raise NotEnumerableError("sampler", rule, "take a smaller space, raise most_paths, or give its law by hand")
        symbolic = type(self.dataset) is SymbolicDataset
        self.questions.symbolic = symbolic
        given = self.dataset.at(path) if symbolic else self._fresh()
        before = None if symbolic else _print_of(given)
        self.questions.path, self.questions.printed[:] = path, []
        with contextlib.suppress(Stop):
            output = self._observed(given, self._generator(path), path)
            if not isinstance(self.dataset, list) and before is not None and _print_of(given) != before:
                path.refuse(NotEnumerableError("sampler", "changes the dataset that it is given", "let it work on a copy"))
            self.questions.check_roots()
        if path.ended is None:
            if not path.conditions and not has_holes(output):
                return _Output(output)
            return _Output(TreeEnd(output, tuple(path.conditions), tuple(path.made)))
        if path.ended.fault is not None:
            raise path.ended.fault from None
        return _BEYOND if path.ended.beyond else path.ended.state

    def _generator(self, path: RandomPath) -> EnumeratingGenerator:
        return EnumeratingGenerator(path, self.tail, self.known, symbolic=self.symbolic, drew=self.drew)

    def _observed(self, given: Any, generator: EnumeratingGenerator, path: RandomPath) -> Hashable:
        """What is seen of one call; once the path has ended it does not matter."""
        questions = self.questions
        self.inside = True
        try:
            output = questions.judged(self.function, given, generator) if self.read else self.function(given, generator)
        except Cut as cut:
            limit = f"{WALL:g} s on the clock" if cut.waited else f"{LIMIT:g} s"
            path.refuse(NotEnumerableError("sampler", f"did not end within {limit}", "check its loops"))
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            self.inside = False
            questions.caught(problem)
            path.going()
            return observed_raise(problem, "".join(questions.printed))
        finally:
            self.inside = False
        path.going()
        return observed(output, "".join(questions.printed)) if self.read else output

    def _fresh(self) -> Any:
        """The dataset, as a copy where a sampler could change it."""
        try:
            hash(self.dataset)
        except TypeError:
            return copy.deepcopy(self.dataset)
        return self.dataset

    def check_repeatable(self, path: RandomPath, target: Hashable) -> None:
        """Run the first path again: a sampler with another source of randomness or a memory may end elsewhere."""
        again = RandomPath(forced=tuple(path.taken), start=path.start)
        if self._run(again) != target or again.taken != path.taken:
            raise changed()


def _print_of(dataset: Any) -> Hashable:
    """The dataset as it was handed over, to see whether it was changed: which objects it holds, and how they are written."""
    return (*map(id, dataset), repr(dataset)) if isinstance(dataset, list) else repr(dataset)


@attrs.frozen
class _Output:
    value: Hashable


@attrs.frozen
class _State:
    key: Hashable


def _law(ends: TransitionRow, *, symbolic: bool) -> Law:
    beyond = ends.pop(_BEYOND, None)
    ends = _raced(ends)
    if any(isinstance(end, _Output) and isinstance(end.value, TreeEnd) for end in ends):
        return _noisy(ends, beyond, symbolic=symbolic)
    probabilities: dict[Hashable, Probability] = {
        end.value: probability for end, probability in ends.items() if isinstance(end, _Output)
    }
    if beyond is None and not any(isinstance(probability, Enclosed) for probability in probabilities.values()):
        exact: dict[Hashable, Exponential | Fraction | int] = {
            o: c for o, c in probabilities.items() if not isinstance(c, Enclosed)
        }
        return finite_law(exact)
    rest = Fraction(0) if beyond is None else Enclosed.of(beyond).high
    if rest > _LARGEST_REST:
        raise NotEnumerableError("sampler", f"{float(rest):.2g} of its probability is left after the cut", "give its law by hand")
    bounds = {outcome: Enclosed.of(probability) for outcome, probability in probabilities.items()}
    enclosed = EnclosedLaw({outcome: (bound.low, bound.high) for outcome, bound in bounds.items()}, rest)
    written = None if rest else as_written(enclosed)
    return enclosed if written is None else written


# --- probabilities computed in doubles ------------------------------------------------------------


_SIMPLE = 1_000
_NARROW = Fraction(1, 1 << 36)


def as_written(law: EnclosedLaw) -> Law | None:
    """The exact law that probabilities computed in doubles approximate, if it is identified; else None. Nothing may be cut off.

    Every probability over the largest one is read as the fraction q with a denominator up to 1,000, or as e^q with such a q, that
    lies within what rounding leaves open; the law in these ratios has to lie within all enclosures. So e^0.5/(1 + e^0.5) of
    a program is what it says, as 0.1 is 1/10.

    >>> third = Fraction(1, 3)
    >>> near = Fraction(1, 1 << 50)
    >>> as_written(EnclosedLaw({"a": (2 * third - near, 2 * third + near), "b": (third - near, third + near)}))
    FiniteLaw({'a': 2/3, 'b': 1/3})
    """
    bounds = {outcome: ends for outcome, ends in law.bounds.items() if ends[1]}
    top = max(bounds, key=lambda outcome: bounds[outcome][0])
    ratios = {}
    for outcome, (low, high) in bounds.items():
        if not low or high - low > low * _NARROW:
            return None
        ratios[outcome] = _ratio_written(low / bounds[top][1], high / bounds[top][0]) if outcome != top else Fraction(1)
        if ratios[outcome] is None:
            return None
    whole = sum(ratios.values(), Fraction(0))
    probabilities = {outcome: ratio / whole for outcome, ratio in ratios.items()}
    if all(bounds[outcome][0] <= probability <= bounds[outcome][1] for outcome, probability in probabilities.items()):
        return finite_law(probabilities)
    return None


def _ratio_written(low: Fraction, high: Fraction) -> Any:
    """The simple q or e^q between two near numbers, if there is one."""
    simple = ((low + high) / 2).limit_denominator(_SIMPLE)
    if low <= simple <= high:
        return simple
    power = Fraction(math.log((low + high) / 2)).limit_denominator(_SIMPLE)
    value = exact_exponential(power)
    return value if low <= value <= high else None


def _raced(ends: TransitionRow) -> TransitionRow:
    """The ends without the noise that only decides which of several numbers is the largest, where its probability is known."""
    found: TransitionRow = {}
    for end, probability in ends.items():
        to, share = end, probability
        if isinstance(end, _Output) and isinstance(end.value, TreeEnd):
            leaf, share = raced(end.value, probability)
            to = _Output(leaf if leaf.conditions or has_holes(leaf.seen) else leaf.seen)
        found[to] = found[to] + share if to in found else share
    return found


def _noisy(ends: TransitionRow, beyond: Probability | None, *, symbolic: bool) -> Law:
    """The law of runs of which some drew noise."""
    if beyond is not None:
        raise NotEnumerableError("sampler", "draws noise and has an endless loop, too", "give its law by hand")
    values = ((end.value, probability) for end, probability in ends.items() if isinstance(end, _Output))
    leaves = tuple((value if isinstance(value, TreeEnd) else TreeEnd(value, ()), probability) for value, probability in values)
    joined = rounded_down(with_signs(leaves))
    return NoisyLaw(joined, symbolic, () if joined == leaves else leaves)


@attrs.frozen
class Sampler(Mechanism):
    """A plain sampler as a mechanism: its law is read off its code by enumeration, nothing is stated twice.

    Args:
        function: (dataset, numpy Generator) -> output.
        label: what it is, for people.
        most_paths: how many runs one dataset may take.
        symbolic: whether draws of `geometric` are symbols, as continuous noise is, and not choices.
        drew: gets "geometric" when such a draw was made.

    >>> from dpspec.plugin import BitVectors
    >>> flip = Sampler(lambda bits, rng: tuple(bit ^ int(rng.random() < 0.25) for bit in bits), "randomised response")
    >>> str(flip.law((0, 1), BitVectors(length=2)).probability((0, 1)))
    '9/16'
    """

    name: ClassVar[str] = "sampler"

    function: Draw
    label: str = "sampler"
    most_paths: int = 100_000
    symbolic: bool = False
    drew: set[str] = attrs.field(factory=set, eq=False)

    def __attrs_post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError("function", "must take a dataset and a generator", value=self.function)

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        return enumerate_law(
            self.function, presented(dataset), most_paths=self.most_paths, symbolic=self.symbolic, drew=self.drew
        )

    def __str__(self) -> str:
        return self.label


# --- assumptions of each method -------------------------------------------------------------------


NOISE = (
    "normal, laplace and the like are real numbers, and what is added to them is added exactly: what the last digits of doubles "
    "tell (Mironov 2012) is checked by `bits` alone",
    "a number that was computed in doubles is the fraction with a denominator up to 1,000 within 8 units in the last place of "
    "it, or else itself",
)
"""Of laws of noise."""
CALLS = (
    "calls are independent: each has randomness of its own, and nothing is kept between them",
    "neither time nor memory nor power of a call is seen",
    "the code does not tamper with dpspec, and outside modules behave as documented",
)
"""Of plain code, whatever the method."""
ENUMERATES = (
    "the bits of numpy's generator are uniform and independent",
    *ASSUMPTIONS,
    *CALLS,
    "the interpreter, the platform and the environment are those of this run",
)
"""Exhaustive, on laws read off plain code."""
SAMPLES = ("numpy's seeded generator is as good as true randomness for this function", *CALLS)
"""Sampled."""
