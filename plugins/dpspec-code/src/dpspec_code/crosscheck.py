"""Crosscheck of plain code: the real function with numpy's real generator, against the laws that were derived from its code.

Nothing of the enumerating engine is used here but what an observer sees (`dpspec.verifier.observation`). On every dataset, or on
a stated selection, the function runs thousands of times, one dataset after the other in turns. What it shows has to fit:

    every outcome lies in the support of P_x (up to what the law says it has cut off)
    for every outcome seen k times in n:   n kl(k/n, p) <= ln(2 t / error)   for a p within the bounds of P_x(outcome)

with kl the divergence of two coins and t the number of outcomes compared over all datasets. By Chernoff's bound (Chernoff
1952, in the form of Hoeffding 1963) a right law misfits with probability at most `error` in all.

Where the law is a tree over noise, each run is made twice with one seed: with numpy's generator, and with one that writes down
what is drawn. Both must show the same, and what they show must be what some leaf of the tree says of those draws.

Numbers of a fixed width wrap around on long datasets only. So trees are also compared with few runs on datasets of hundreds, and
of tens of thousands of records. There, a run that takes too much time or memory says nothing.

Side effects of the function are reported as well: files, sockets, processes, native libraries, and text that it writes
elsewhere than to standard output.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from dpspec.plugin import Dataset, DatasetSpace, Law
from dpspec.plugin.judges import Cut, UnobservableError, count, observed, observed_raise, own_acts_allowed, presented
from dpspec_code import child_process
from dpspec_code.child_process import note
from dpspec_code.clock import SYSTEM_CLOCK, SearchClock

RUNS, FEWEST = 8_000, 1_000
"""Runs in all, and how many there are to be where time is over before."""
RUNS_OF_TREES = 2_000
"""... where every one of them has to be what a tree says of its draws."""
MOST_DATASETS = 8
"""... on at most so many datasets."""
ERROR = 1e-9
"""The probability that a right law misfits, at most, over all outcomes of all datasets."""
LONG_RUNS = 2
"""Runs on each long dataset."""
OF_LONG = 0.2
"""The part of the time that these may take."""
LIMIT = 1.0
"""Seconds of processor time that one run may take."""

_REACHING = (
    "open", "os.", "socket.", "subprocess.", "ctypes.", "shutil.", "tempfile.", "mmap.", "fcntl.", "signal.", "syslog.",
    "sqlite3.", "urllib.", "http.", "ftplib.", "smtplib.", "pty.", "resource.", "gc.", "sys.addaudithook", "builtins.input",
    "webbrowser.",
)  # fmt: skip
"""Beginnings of the names of audit events by which code reaches beyond its own values (PEP 578)."""
_MODULES = (".py", ".pyc", ".so", ".pyd")

RealFunction = Callable[[Any, Any], Any]


@attrs.frozen(kw_only=True)
class Opinion:
    """The result of the crosscheck.

    Args:
        misfit: what does not fit the enumerated laws; empty where all does.
        scope: the datasets that were compared, in words.
        reaches: the side effects of the function.
        printed: something that it printed to standard output.
        mutated: whether it changed the dataset that it was given.
    """

    misfit: str
    scope: str
    reaches: tuple[str, ...] = ()
    printed: str = ""
    mutated: bool = False


def second_opinion(
    function: RealFunction,
    space: DatasetSpace,
    laws: Mapping[Dataset, Law],
    *,
    seed: int = 0,
    of: int = 0,
    seconds: float | None = None,
    clock: SearchClock = SYSTEM_CLOCK,
    long: Mapping[Dataset, Law] | None = None,
) -> Opinion:
    """Run the function on the datasets of some laws, and hold what is seen against them.

    Args:
        function: the plain function.
        space: defines the form of a dataset.
        laws: the enumerated law of each dataset that is compared.
        seed: of numpy's generators: one for each dataset, from SeedSequence([seed, place]).
        of: how many datasets there are, of which these are a selection.
        seconds: processor time for it.
        clock: measures the time, and cuts runs.
        long: the trees of a few datasets of many records, on which it is run a few times only.
    """
    trees = all(hasattr(law, "explains") for law in laws.values())
    runs = math.ceil((RUNS_OF_TREES if trees else RUNS) / max(len(laws), 1))
    crowd = _Crowd(function=function, space=space, laws=laws, seed=seed)
    selected = f"{len(laws)} of {of} datasets" if of > len(laws) else count(len(laws), "dataset")
    each = f"{'each of ' if len(laws) > 1 else ''}{selected}"
    with _heard() as reaches:
        whole = math.inf if seconds is None else seconds
        stopped = crowd.run_long(long, reaches, clock, OF_LONG * whole) if long else ""
        stopped = stopped or crowd.run(runs, reaches, clock, (1 - OF_LONG) * whole if long else whole)
    shown = f"{max(map(Counter.total, crowd.seen.values()), default=0):,}"
    scope = f"{shown} runs with numpy's generator on {each}, seed {seed}, error {ERROR:g} in all{crowd.lengths(space)}"
    listed = {dataset: law for dataset, law in laws.items() if not hasattr(law, "explains")}
    misfit = stopped or _misfit(crowd, listed)
    return Opinion(misfit=misfit, scope=scope, reaches=tuple(reaches.heard), printed=crowd.printed, mutated=crowd.mutated)


@attrs.define(kw_only=True)
class _Crowd:
    """Many runs on several datasets."""

    function: RealFunction
    space: DatasetSpace
    laws: Mapping[Dataset, Any]
    seed: int
    made: int = 0
    inside: bool = False
    printed: str = ""
    mutated: bool = False
    raised: BaseException | None = None
    long: list[Dataset] = attrs.field(factory=list)
    seen: dict[Dataset, Counter[Hashable]] = attrs.field(factory=dict)

    def lengths(self, space: DatasetSpace) -> str:
        """Which long datasets it was run on, in words."""
        sizes = sorted({space.magnitude(dataset) for dataset in self.long})
        return f"; and {count(LONG_RUNS, 'run')} on each of the sizes {', '.join(f'{size:,}' for size in sizes)}" if sizes else ""

    def run_long(self, laws: Mapping[Dataset, Any], reaches: _Reaches, clock: SearchClock, seconds: float) -> str:
        """Run it a few times on each of some long datasets; returns what does not fit, or nothing."""
        watch = clock.watch(seconds)
        with clock.cutting(lambda: self.made if self.inside else -1, LIMIT), warnings.catch_warnings():
            warnings.simplefilter("always")
            for place, (dataset, law) in enumerate(laws.items()):
                bits = np.random.SeedSequence([self.seed, len(self.laws) + place])
                source, writer = np.random.Generator(np.random.PCG64(bits)), Recorder(np.random.PCG64(bits))
                for _ in range(LONG_RUNS):
                    if reaches.heard or not watch.left():
                        return ""
                    note(f"a run with numpy's generator on {self.space.magnitude(dataset):,} records")
                    try:
                        seen = self._once(dataset, source, reaches)
                        fits = self._explained(dataset, law, seen, writer, reaches)
                    except UnobservableError as problem:
                        return f"on {self.space.magnitude(dataset):,} records it gave an {problem}"
                    except Cut:
                        break
                    if isinstance(self.raised, (MemoryError, RecursionError)):
                        break
                    if not fits:
                        what = f"on {self.space.magnitude(dataset):,} records it gave {_short(seen)}"
                        return f"{what}, which its tree does not say of what it drew"
                else:
                    self.long.append(dataset)
        return ""

    def run(self, runs: int, reaches: _Reaches, clock: SearchClock, seconds: float) -> str:
        """Run everything, in turns; returns why it was stopped, or nothing."""
        watch = clock.watch(seconds)
        seeds = [np.random.SeedSequence([self.seed, place]) for place in range(len(self.laws))]
        sources = [np.random.Generator(np.random.PCG64(one)) for one in seeds]
        writers = [Recorder(np.random.PCG64(one)) for one in seeds]
        self.seen = {dataset: Counter() for dataset in self.laws}
        with clock.cutting(lambda: self.made if self.inside else -1, LIMIT), warnings.catch_warnings():
            warnings.simplefilter("always")
            for _ in range(runs):
                if reaches.heard:  # it is not verified whatever the rest shows
                    break
                if not watch.left():
                    return "" if self.made >= FEWEST else f"there was no time for more than {count(self.made, 'run')}"
                for (dataset, law), source, writer in zip(self.laws.items(), sources, writers, strict=True):
                    note(f"a run with numpy's generator on {dataset}")
                    try:
                        seen = self._once(dataset, source, reaches)
                        self.seen[dataset][seen] += 1
                        if hasattr(law, "explains") and not self._explained(dataset, law, seen, writer, reaches):
                            return f"on {dataset} it gave {_short(seen)}, which its tree does not say of what it drew"
                    except UnobservableError as problem:
                        return f"on {dataset} it gave an {problem}"
                    except Cut:
                        return f"on {dataset} it did not end within {LIMIT:g} s"
        return ""

    def _explained(self, dataset: Dataset, law: Any, seen: Hashable, writer: Recorder, reaches: _Reaches) -> bool:
        """Whether a run with the same seed shows the same, and a leaf of the tree says so of its draws."""
        writer.begin(geometric=law.symbolic)
        return self._once(dataset, writer, reaches) == seen and law.explains(seen, writer.drawn) is not None

    def _once(self, dataset: Dataset, source: np.random.Generator, reaches: _Reaches) -> Hashable:
        given, handed = presented(dataset), presented(dataset)
        self.made += 1
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.inside = reaches.listening = True
            self.raised = None
            output = None
            try:
                output = self.function(handed, source)
            except Cut:
                raise
            except BaseException as raised:  # whatever it raises is what is seen
                self.raised = raised
            finally:
                self.inside = reaches.listening = False
        if type(handed) is not type(given) or handed != given:
            self.mutated = True
        printed = out.getvalue()
        self.printed = self.printed or printed
        return observed(output, printed) if self.raised is None else observed_raise(self.raised, printed)


_SCALARS = (float, int, np.floating, np.integer)


class Recorder(np.random.Generator):
    """numpy's generator, which writes down the noise that it draws, centered, and every uniform number as one between 0 and 1.

    >>> writer = Recorder(np.random.PCG64(1))
    >>> writer.begin()
    >>> value = writer.laplace(5.0, 2.0)
    >>> writer.drawn == [value - 5.0]
    True
    """

    drawn: list[float | None]
    _geometric: bool

    def begin(self, *, geometric: bool = False) -> None:
        """Start a run; whether draws of `geometric` are written down, too."""
        self.drawn, self._geometric = [], geometric

    @property
    def writes_geometric(self) -> bool:
        """Whether draws of `geometric` are written down in this run."""
        return self._geometric

    def beside(self, bits: np.random.BitGenerator) -> Recorder:
        """A generator on other bits, whose draws are written down among those of this one."""
        made = Recorder(bits)
        made.drawn, made._geometric = self.drawn, self._geometric
        return made

    def write(self, value: float | None) -> None:
        """A draw of a generator that is made of this one."""
        self.drawn.append(value)

    def write_uniform(self, values: Any, low: Any = 0.0, high: Any = 1.0) -> None:
        """Uniform numbers between two ends, as numbers between 0 and 1."""
        values, low, high = (np.asarray(one, dtype=float) for one in (values, low, high))
        self.drawn += ((values - low) / (high - low)).ravel().tolist() if np.all(low < high) else [None] * values.size

    def _written(self, values: Any, loc: Any = 0.0) -> Any:
        if type(values) is float and isinstance(loc, _SCALARS):  # arrays of one number take twenty times as long
            self.drawn.append(values - float(loc))
            return values
        centers = np.broadcast_to(np.asarray(loc, dtype=float), np.shape(values)).ravel()
        self.drawn += [float(value) - float(center) for value, center in zip(np.ravel(values), centers, strict=True)]
        return values

    def _placed(self, values: Any, low: Any = 0.0, high: Any = 1.0) -> Any:
        self.write_uniform(values, low, high)
        return values

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._written(super().laplace(loc, scale, size), loc)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._written(super().normal(loc, scale, size), loc)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._written(super().gumbel(loc, scale, size), loc)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._written(super().logistic(loc, scale, size), loc)

    def standard_cauchy(self, size: Any = None) -> Any:
        return self._written(super().standard_cauchy(size))

    def standard_normal(self, *given: Any, **options: Any) -> Any:
        return self._written(super().standard_normal(*given, **options))

    def exponential(self, *given: Any, **options: Any) -> Any:
        return self._written(super().exponential(*given, **options))

    def standard_exponential(self, *given: Any, **options: Any) -> Any:
        return self._written(super().standard_exponential(*given, **options))

    def geometric(self, *given: Any, **options: Any) -> Any:
        found = super().geometric(*given, **options)
        return self._written(found) if self._geometric else found

    def random(self, *given: Any, **options: Any) -> Any:
        return self._placed(super().random(*given, **options))

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return self._placed(super().uniform(low, high, size), low, high)


# --- whether it fits ------------------------------------------------------------------------------------------------------------


def _misfit(crowd: _Crowd, laws: Mapping[Dataset, Any]) -> str:
    """The first thing that does not fit, in words."""
    tests = max(1, sum(len(law.support) + 1 for law in laws.values()))
    most = math.log(2 * tests / ERROR)
    for dataset, law in laws.items():
        seen = crowd.seen[dataset]
        runs, rest = seen.total(), float(getattr(law, "rest", 0))
        support = law.support
        strange = [outcome for outcome in seen if outcome not in set(support)]
        if exceeds(sum(seen[outcome] for outcome in strange), runs, 0.0, rest, most):
            return f"on {dataset} it gave {_short(strange[0])}, which its enumerated law does not know"
        for outcome in support:
            low, high = _bounds(law, outcome)
            if exceeds(seen[outcome], runs, low, high, most):
                shown = f"{low:.6g}" if high - low < 1e-9 else f"{low:.6g} to {high:.6g}"
                often = f"{_short(outcome)} {seen[outcome]} times in {runs}"
                return f"on {dataset} it gave {often}; enumerated, its probability is {shown}"
    return ""


def _bounds(law: Any, outcome: Hashable) -> tuple[float, float]:
    """The probability of an outcome, rounded outwards."""
    ball = law.mass(outcome, 64)
    low, high = math.nextafter(float(ball.lower()), 0.0), math.nextafter(float(ball.upper()), 2.0)
    return max(low, 0.0), min(high, 1.0)


def exceeds(hits: int, runs: int, low: float, high: float, most: float) -> bool:
    """Whether n kl(k/n, p) > most for every p between low and high.

    >>> exceeds(0, 1000, 0.5, 0.5, 25.0), exceeds(480, 1000, 0.5, 0.5, 25.0), exceeds(1, 1000, 0.0, 0.0, 25.0)
    (True, False, True)
    """
    if not runs:
        return False
    share = hits / runs
    nearest = min(max(share, low), high)
    return runs * _kl(share, nearest) > most


def _kl(share: float, probability: float) -> float:
    total = 0.0
    for part, of in ((share, probability), (1 - share, 1 - probability)):
        if part > 0:
            if of <= 0:
                return math.inf
            total += part * math.log(part / of)
    return total


def _short(outcome: Hashable) -> str:
    text = repr(outcome)
    return text if len(text) <= 60 else f"{text[:57]}..."


# --- models of libraries against the libraries ------------------------------------------------------------------------

COMPARED = 1_000
"""Runs with the library, and with its models, on each dataset."""


def compared_by_runs(
    function: RealFunction,
    modelled: RealFunction,
    datasets: Sequence[Dataset],
    *,
    seed: int = 0,
    seconds: float | None = None,
    clock: SearchClock = SYSTEM_CLOCK,
) -> str:
    """The difference of a function from the same with models in place of libraries; empty where none is found.

    The outputs of both are split into their numbers and texts. On each dataset, for each of them, the empirical distributions of
    both may differ by what two samples of one law differ by, up to a probability of `ERROR` in all (Dvoretzky, Kiefer and
    Wolfowitz 1956; Massart 1990).

    Args:
        function, modelled: both.
        datasets: where they are run.
        seed: of numpy's generators.
        seconds: processor time for it.
        clock: measures the time.
    """
    watch = clock.watch(math.inf if seconds is None else seconds)
    for place, dataset in enumerate(datasets):
        samples: list[list[tuple[Hashable, list[Any]]]] = [[], []]
        sources = [np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, place, side]))) for side in (0, 1)]
        for made in range(COMPARED):
            if not watch.left():
                if made < FEWEST:
                    return f"there was no time for more than {count(made, 'run')}"
                break
            for call, source, sample in zip((function, modelled), sources, samples, strict=True):
                sample.append(_parts_of(call, presented(dataset), source))
        found = _differing_part(samples, len(datasets))
        if found:
            return f"on {dataset} {found}"
    return ""


def _parts_of(call: RealFunction, given: Any, source: np.random.Generator) -> tuple[Hashable, list[Any]]:
    """The form of what a call returns, and the numbers and texts in it."""
    parts: list[Any] = []

    def form(value: Any) -> Hashable:
        if isinstance(value, (list, tuple)):
            return type(value).__name__, tuple(map(form, value))
        if isinstance(value, dict):
            return "dict", tuple((repr(key), form(one)) for key, one in value.items())
        if isinstance(value, np.ndarray):
            return value.dtype.str, value.shape, tuple(map(form, value.ravel().tolist()))
        is_number = isinstance(value, (int, float, np.number, np.bool_))
        parts.append(float(value) if is_number else repr(value))
        return type(value).__name__

    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            whole = form(call(given, source))
        except Exception as raised:
            whole = ("raises", type(raised).__name__)
    return (whole, out.getvalue()), parts


def _differing_part(samples: Sequence[Sequence[tuple[Hashable, list[Any]]]], datasets: int) -> str:
    """Which part of what is returned has another distribution in the second sample; empty for none."""
    forms = Counter(form for sample in samples for form, _ in sample)
    usual = forms.most_common(1)[0][0]
    width = max(len(parts) for sample in samples for form, parts in sample if form == usual)
    tests = datasets * (width + 1)
    form_texts = [[repr(form) for form, _ in sample] for sample in samples]
    if _differ(form_texts, tests):
        return "it returns other types or shapes, or raises, more or less often"
    for place in range(width):
        if _differ([[parts[place] for form, parts in sample if form == usual] for sample in samples], tests):
            return f"number {place + 1} of what it returns has another distribution"
    return ""


def _differ(samples: Sequence[Sequence[Any]], tests: int) -> bool:
    """Whether two samples of numbers, or of texts, differ too much to be of one law."""
    if not all(samples):
        return False
    drawn = [np.sort(np.array(sample)) for sample in samples]
    places = np.union1d(*drawn)
    below = [np.searchsorted(sample, places, side="right") / len(sample) for sample in drawn]
    widths = sum(math.sqrt(math.log(4 * tests / ERROR) / (2 * len(sample))) for sample in drawn)
    return bool(np.max(np.abs(below[0] - below[1])) > widths)


# --- side effects ---------------------------------------------------------------------------------------------------


class _Reaches:
    """An audit hook that listens while the function runs; only ever added in a child, for no hook can be removed."""

    def __init__(self) -> None:
        self.listening = False
        self.heard: dict[str, None] = {}

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if own_acts_allowed():
            return
        if self.listening and event.startswith(_REACHING) and not _imports(event, arguments):
            subject = repr(arguments[0])[:60] if arguments else ""
            self.heard.setdefault(f"{event} {subject}".strip())


def _imports(event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether this is what an import statement does: look into the folder of a package, and read a module."""
    subject = str(arguments[0]) if arguments else ""
    if event == "open":
        return subject.endswith(_MODULES) and arguments[1] in ("r", "rb", None) and arguments[2] & (os.O_WRONLY | os.O_RDWR) == 0
    listed = event in ("os.listdir", "os.scandir")
    return listed and (subject in sys.path or os.path.isfile(os.path.join(subject, "__init__.py")))


@contextlib.contextmanager
def _heard() -> Iterator[_Reaches]:
    hook = _Reaches()
    if child_process.CAN_FORK:
        sys.addaudithook(hook)
    yield hook
