"""Time a line of the benchmarks: in fresh processes, alternating with its peer and a calibration.

Seconds are processor time. A ratio to a calibration of the same run holds on any machine:

* `import numpy`: a process that does nothing else
* `copy`: a copy of 1 GiB
* `sort`: a stable sort of 10^7 words of 64 bits
"""

from __future__ import annotations

import functools
import gc
import importlib
import inspect
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import attrs

ROOT = Path(__file__).parents[1]

Task = Callable[[Path, int], object]
"""What is timed: given a folder with the files of the line, and a size."""


@attrs.frozen(kw_only=True)
class Line:
    """One line of the benchmarks.

    Args:
        name: what `--only` takes.
        what: one sentence on what is timed.
        sizes: the sizes at which the line can run; the last one is the line, all of them its growth.
        counted: the sizes at which the work is counted; at least one, which may be smaller than what is timed.
        command: writes the files of a size into a folder and returns the arguments of `dpspec`; the whole process is timed.
        work: a function, timed without the imports; or
        ready: makes the files of a size in a folder and returns such a function; exactly one of the three is given.
        peer: the same by other means: a function that needs nothing of dpspec.
        needs: the libraries of the peer; where one is missing, the peer is left out.
        calibration: what a run alternates with.
        goal: at most so many seconds; on the machine of the results.
        goal_of_peer: at most so many times the processor time of the peer.
        goal_of_ratio: at most so many times the processor time of the calibration.
        megabytes: at most so much memory.
        bound: the largest exponent of processor time in the size.
        memory_bound: the most bytes a record.
        repeats: how often the line alternates with its peer and calibration.
        is_quick: part of the quick set.
        draws: numbers that are drawn, for lines whose goal is millions of them a second.
        peer_share: the part of the size that the peer does, where it would take too long.
    """

    name: str
    what: str
    sizes: tuple[int, ...] = (1,)
    counted: tuple[int, ...] = ()
    command: Callable[[Path, int], list[str]] | None = None
    work: Task | None = None
    ready: Callable[[Path, int], Callable[[], object]] | None = None
    peer: Task | None = None
    needs: tuple[str, ...] = ()
    calibration: str = "import numpy"
    goal: float | None = None
    goal_of_peer: float | None = None
    goal_of_ratio: float | None = None
    megabytes: float | None = None
    bound: float | None = None
    memory_bound: float | None = None
    repeats: int = 3
    is_quick: bool = False
    draws: int | None = None
    peer_share: float = 1.0

    def run(self, folder: Path, size: int) -> Callable[[], object]:
        """What is timed or counted inside a process, with its files ready."""
        if self.ready is not None:
            return self.ready(folder, size)
        if self.command is None:
            assert self.work is not None
            return functools.partial(self.work, folder, size)
        arguments = self.command(folder, size)
        return lambda: dpspec(arguments, folder)


def late(path: str) -> Task:
    """A function named as `module:function` and imported when it runs; it gets what it has parameters for."""

    def run(folder: Path, size: int) -> object:
        module, _, name = path.partition(":")
        function = getattr(importlib.import_module(module), name)
        return function(folder, size) if inspect.signature(function).parameters else function()

    return run


def dpspec(arguments: Sequence[str], folder: Path) -> None:
    """Run a command of dpspec in this process, without its output."""
    from dpspec.cli import main

    where = Path.cwd()
    os.chdir(folder)
    try:
        with Path(os.devnull).open("w", encoding="utf-8") as sink, redirect_stdout(sink), redirect_stderr(sink):
            try:
                main(list(arguments), standalone_mode=True)
            except SystemExit as end:
                if end.code not in ENDS:
                    raise RuntimeError(f"dpspec {' '.join(arguments)} ended with {end.code}") from None
    finally:
        os.chdir(where)


ENDS = (0, 1, 3, 6, 7, None)
"""Exit codes of a command that did its work: that a claim is refuted, undecided or known false is an answer, too."""


@attrs.frozen
class Cost:
    """The processor time of one run in seconds, and the largest memory of its process in MB, before it and in all."""

    seconds: float
    peak: float
    before: float = 0.0


# --- processes ------------------------------------------------------------------------------------


def environment() -> dict[str, str]:
    """One thread for each library, and bytecode in the place where `compiled` put it."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, **threads, "PYTHONPATH": str(ROOT)}


def compile_bytecode() -> None:
    """Compile dpspec, its plugins and the libraries once, so that no run pays for it: a run of the command does it."""
    for command in (["-m", "dpspec", "--version"], ["-m", "dpspec", "plugins"]):
        subprocess.run([sys.executable, *command], env=environment(), stdout=subprocess.DEVNULL, check=True)
    folders = [str(ROOT / "dpspec"), *(str(path) for path in (ROOT / "plugins").glob("*/src"))]
    subprocess.run([sys.executable, "-m", "compileall", "-q", *folders], env=environment(), stdout=subprocess.DEVNULL, check=True)


def whole_process(command: Sequence[str], folder: Path) -> Cost:
    """Run a command to its end; its own threads count."""
    process = subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in ENDS:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def in_child(part: str, name: str, size: int, folder: Path, python: str = sys.executable) -> Cost:
    """Time a part of a line in a fresh process: `work`, `peer`, or the name of a calibration."""
    command = [python, "-m", "benchmarks.measure", part, name, str(size), str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True, check=True)
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


def calibrated(name: str) -> float:
    """The processor time of a calibration."""
    if name == "import numpy":
        return whole_process([sys.executable, "-c", "import numpy"], ROOT).seconds
    return in_child(name, "-", 0, ROOT).seconds


def copy_of_memory() -> object:
    """A copy of 1 GiB, in eight parts, so that it needs 256 MiB."""
    import numpy as np

    words, target = np.arange(1 << 24), np.empty(1 << 24, dtype=np.int64)
    return lambda: [np.copyto(target, words) for _ in range(8)]


def sort_of_words() -> object:
    """A stable sort of 10^7 words of 64 bits.

    It is a merge of comparisons on every processor. The default sort of numpy uses vector instructions where there are any, and
    took 0.65 s on one machine and 0.18 s on another of the same name, so that every ratio to it was wrong by a factor of 3.
    """
    import numpy as np

    words = np.random.default_rng(0).integers(0, 1 << 63, 10**7)
    return lambda: np.sort(words, kind="stable")


CALIBRATIONS: dict[str, Callable[[], Any]] = {"copy": copy_of_memory, "sort": sort_of_words}


MOST_RUNS = 20
"""A function that takes less than a millisecond is run so often in one process."""


def timed(run: Callable[[], object], *, again: bool) -> Cost:
    """The shortest of several runs with cold caches; of one run where that takes long or cannot be done `again`."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    best, spent, known = math.inf, 0.0, caches()
    for _ in range(MOST_RUNS if again else 1):
        for cache in known:
            cache.cache_clear()
        begin = time.process_time()
        run()
        seconds = time.process_time() - begin
        best, spent = min(best, seconds), spent + seconds
        if spent > 0.3:
            break
    return Cost(best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, before)


KEPT = ("dpspec.extension", "dpspec.base")
"""Modules whose caches hold what is installed, and not what was computed."""


def caches() -> list[Any]:
    """The caches of dpspec."""
    found = (thing for thing in gc.get_objects() if isinstance(thing, functools._lru_cache_wrapper))
    return [cache for cache in found if cache.__module__.startswith(("dpspec", "reproductions")) and not cache.__module__.startswith(KEPT)]


def _child(part: str, name: str, size: int, folder: Path) -> Cost:
    """What `in_child` runs."""
    if part in CALIBRATIONS:
        return timed(CALIBRATIONS[part](), again=True)
    from benchmarks.lines import LINES

    line = LINES[name]
    if part == "peer":
        assert line.peer is not None
        if line.command is None:
            line.peer(folder, min(line.sizes))
        return timed(functools.partial(line.peer, folder, size), again=line.command is None)
    first = folder / "first"
    first.mkdir(exist_ok=True)
    beside_peer = line.command is None and line.peer is not None
    least = min(line.sizes) if beside_peer else min((*line.sizes, *line.counted))
    line.run(first, least)()  # everything that is imported late, is now; what a line shares with its peer is made, as for the peer
    return timed(line.run(folder, size), again=line.command is None)


# --- lines and growth -----------------------------------------------------------------------------


@attrs.frozen
class Round:
    """One alternation: the line, its calibration, and its peer where there is one."""

    ours: Cost
    calibration: float
    peer: Cost | None


def interpreter_of_peer(line: Line, peers: str) -> str | None:
    """This interpreter where it has the libraries of the peer, or that of the peers, or None."""
    if line.peer is None:
        return None
    check = f"import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, {list(line.needs)!r})))"
    return next((python for python in (sys.executable, peers) if not subprocess.run([python, "-c", check], check=False).returncode), None)


def rounds(line: Line, peers: str, repeats: int, size: int | None = None) -> Iterator[Round]:
    """Alternate the line with its calibration and its peer."""
    size, python = line.sizes[-1] if size is None else size, interpreter_of_peer(line, peers)
    with temporary() as folder:
        arguments = [] if line.command is None else prepared(line, folder, size)
        for _ in range(repeats):
            calibration = calibrated(line.calibration)
            if line.command is None:
                ours = in_child("work", line.name, size, folder)
            else:
                ours = whole_process([sys.executable, "-m", "dpspec", *arguments], folder)
            yield Round(ours, calibration, in_child("peer", line.name, size, folder, python) if python else None)


def prepared(line: Line, folder: Path, size: int) -> list[str]:
    """The arguments of the command of a line, whose files a fork writes: the largest memory that is reported of a process is never
    below that of the process that started it, so this one has to stay small."""
    assert line.command is not None
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with os.fdopen(writing, "w", encoding="utf-8") as pipe:
                json.dump([str(argument) for argument in line.command(folder, size)], pipe)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        text = pipe.read()
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise SystemExit(f"{line.name}: its files could not be written")
    arguments: list[str] = json.loads(text)
    return arguments


def growth(line: Line, repeats: int = 2) -> list[Cost]:
    """The cost at each size without the start of the process: the shortest of some runs, sizes in turn."""
    found: list[list[Cost]] = [[] for _ in line.sizes]
    for _ in range(repeats):
        for costs, size in zip(found, line.sizes, strict=True):
            with temporary() as folder:
                costs.append(in_child("work", line.name, size, folder))
    return [min(costs, key=lambda cost: cost.seconds) for costs in found]


@contextmanager
def temporary() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """The slope of the logarithms by least squares: p where values grow as size^p.

    >>> round(exponent([1, 2, 4, 8], [3, 6, 12, 24]), 6)
    1.0
    """
    x, y = ([math.log(max(value, 1e-6)) for value in given] for given in (sizes, values))
    middle = sum(x) / len(x)
    return sum((a - middle) * b for a, b in zip(x, y, strict=True)) / sum((a - middle) ** 2 for a in x)


if __name__ == "__main__":
    kind, of, number, where = sys.argv[1:]
    print(json.dumps(attrs.asdict(_child(kind, of, int(number), Path(where)))))
