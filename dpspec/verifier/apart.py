"""Running foreign code in a child process: what it breaks, prints or keeps stays there, and how it ends is told.

The child is a fork, so that any function can be handed to it, a lambda too. Its standard output and error go to a file of their
own; its result, or its exception, comes back by a pipe. On systems without fork the code runs in this process.

Time is processor time of the work (`Clock`), so that a busy machine changes nothing: the kernel ends a child that has used its
part. A clock on the wall only guards against work that waits for ever.

`Cut` ends calls into foreign code that do not end. `Trial` is a first look at a plain function: a few calls, so that a crash is
reported as a crash before anybody speaks of privacy.

A function that raises in every call, whatever the dataset, is bad input: wrong for the space, or unfinished. One that raises
now and then is judged, exceptions being outcomes, and what it raised is told beside the verdict.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import itertools
import mmap
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

import attrs
import numpy as np

from dpspec.base.errors import DpspecError, count
from dpspec.base.types import Progress
from dpspec.blocks.space import Dataset, presented

Result = TypeVar("Result")

CAN_FORK = hasattr(os, "fork") and sys.platform != "win32"
_NOTE = 1 << 12
_SHOWN = 1 << 16


@attrs.frozen(kw_only=True)
class Returned(Generic[Result]):
    """What came back from a child.

    Args:
        value: the result; None where the process ended without one.
        printed: what was written to standard output and error.
        ended: how the process ended before its work was done; empty where it was not.
        late: whether it was ended because its time was over.
        note: what it was about when it ended, by `note`.
    """

    value: Result | None
    printed: str = ""
    ended: str = ""
    note: str = ""
    late: bool = False


class Clock:
    """Processor time from now on: of this process, and of its children that have ended.

    Args:
        seconds: how much there is.

    >>> Clock(30.0).left() <= 30.0
    True
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._start = _used()

    def spent(self) -> float:
        """Seconds of processor time since the start."""
        return _used() - self._start

    def left(self) -> float:
        """Seconds that are left, at least 0."""
        return max(0.0, self.seconds - self.spent())


def _used() -> float:
    try:
        import resource
    except ImportError:  # no such module on systems without fork, where there are no children either
        return time.process_time()
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


class _Note:
    """A line of text that survives the process that writes it."""

    def __init__(self) -> None:
        self.place: mmap.mmap | None = None

    def write(self, text: str) -> None:
        if self.place is not None:
            data = text.encode("utf-8", "backslashreplace")[: _NOTE - 1] + b"\0"
            self.place[: len(data)] = data

    def read(self) -> str:
        return "" if self.place is None else self.place[:].split(b"\0", 1)[0].decode("utf-8", "replace")


_note = _Note()


def note(text: str) -> None:
    """Say what is done next; it is told where the process ends in the middle of it."""
    _note.write(text)


PATIENCE = 20
"""A child may take so many times its seconds on the clock on the wall, and as many seconds more: a busy machine is no fault."""


def apart(
    work: Callable[[Progress], Result], progress: Progress | None = None, *, seconds: float | None = None
) -> Returned[Result]:
    """Run `work` in a child process, and hand back what it returns or raises.

    Args:
        work: takes a function that tells of progress; returns something that can be pickled.
        progress: called in this process with what the work tells of its progress.
        seconds: processor time that the child may take; the kernel then ends it, whatever it is about.

    Raises:
        whatever the work raises.

    >>> apart(lambda tell: 6 * 7).value
    42
    >>> apart(lambda tell: os._exit(3)).ended
    'with exit code 3'
    >>> apart(lambda tell: [None for _ in itertools.repeat(0)], seconds=0.05).late
    True
    """
    tell = progress or (lambda _done, _all: None)
    if not CAN_FORK:
        return Returned(value=work(tell))
    receiver, sender = Pipe(duplex=False)
    before, _note.place = _note.place, mmap.mmap(-1, _NOTE)
    with tempfile.TemporaryFile() as printed, receiver:
        child = _fork()
        if not child:
            receiver.close()
            _serve(work, sender, printed, seconds)
        sender.close()
        try:
            kind, content = _received(receiver, tell, None if seconds is None else PATIENCE * (seconds + 1))
            if kind == "late":
                os.kill(child, signal.SIGKILL)
        except BaseException:  # this process was interrupted
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            _note.place = before
            raise
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        late = kind == "late" or (kind == "ended" and seconds is not None and status == -signal.SIGPROF)
        noted, _note.place = _note.read(), before
        text = _text(printed)
    if kind == "failure":
        raise content
    if kind == "result":
        return Returned(value=content, printed=text)
    return Returned(value=None, printed=text, ended=content or _how(status), note=noted, late=late)


_forking = False


def _fork() -> int:
    global _forking  # noqa: PLW0603
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads of ours hold no lock that the child needs
        _forking = True
        try:
            return os.fork()
        finally:
            _forking = False


def _alone() -> None:
    """A copy that the code makes of its process ends at once: it would go on with our work, and make copies of its own."""
    if not _forking:
        os._exit(0)


def _serve(work: Callable[[Progress], Any], sender: Connection, printed: IO[bytes], seconds: float | None) -> None:
    """The child's whole life."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if seconds is not None:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)  # which ends the process, also in the middle of foreign code
            signal.setitimer(signal.ITIMER_PROF, max(seconds, 1e-3))
        os.register_at_fork(after_in_child=_alone)
        _redirect(printed)
        try:
            message = ("result", work(lambda done, of: sender.send(("progress", (done, of)))))
        except KeyboardInterrupt:  # not from the keyboard, which ends this process by its signal
            message = ("ended", "by a KeyboardInterrupt of its own")
        except BaseException as problem:  # it is raised again where it was asked for
            message = ("failure", problem)
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        sender.send_bytes(_pickled(*message))
        status = 0
    finally:
        os._exit(status)


def _pickled(kind: str, content: Any) -> bytes:
    try:
        data = pickle.dumps((kind, content))
        pickle.loads(data)  # noqa: S301 (our own bytes)
    except Exception as problem:
        if kind == "result":
            raise
        data = pickle.dumps((kind, RuntimeError(f"{type(content).__name__}: {content} ({problem})")))
    return data


def _redirect(printed: IO[bytes]) -> None:
    faulthandler.disable()  # it may hold a copy of the terminal
    for descriptor in (1, 2):
        os.dup2(printed.fileno(), descriptor)
    out = io.TextIOWrapper(os.fdopen(1, "wb", 0, closefd=False), "utf-8", "backslashreplace", write_through=True)
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = out  # type: ignore[misc]
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def _received(receiver: Connection, tell: Progress, patience: float | None) -> tuple[str, Any]:
    """How it went (result, failure, ended or late), and what belongs to it."""
    end = None if patience is None else time.monotonic() + patience
    while True:
        try:
            if not receiver.poll(None if end is None else max(0.0, end - time.monotonic())):
                return "late", "by waiting too long"
            kind, content = receiver.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            return "ended", ""
        if kind != "progress":
            return kind, content
        tell(*content)


def _how(code: int) -> str:
    if code >= 0:
        return f"with exit code {code}"
    try:
        name = signal.Signals(-code)
    except ValueError:
        return f"by signal {-code}"
    if code == -signal.SIGPROF:
        return "when its time was over"
    words = {signal.SIGSEGV: "a segmentation fault", signal.SIGABRT: "an abort", signal.SIGKILL: "a kill"}
    return f"by {words.get(name, 'a signal')} ({name.name})"


def _text(printed: IO[bytes]) -> str:
    printed.seek(0)
    return printed.read(_SHOWN).decode("utf-8", "replace")


# --- a process in which the code was never called -------------------------------------------------


class Spare(Generic[Result]):
    """A copy of this process as it is now, from which questions are answered later, each by a fresh copy of it.

    Args:
        answer: takes a question that can be pickled, and returns something that can be.

    >>> seen = [1]
    >>> with Spare(lambda extra: seen + [extra]) as spare:
    ...     seen.append(2)
    ...     spare.ask(3)
    [1, 3]
    """

    def __init__(self, answer: Callable[[Any], Result]) -> None:
        self._answer = answer
        self._child = 0
        self._line: Connection | None = None

    def __enter__(self) -> Spare[Result]:
        if CAN_FORK:
            self._line, theirs = Pipe()
            with tempfile.TemporaryFile() as printed:
                self._child = _fork()
                if not self._child:
                    self._line.close()
                    self._wait(theirs, printed)
            theirs.close()
        return self

    def _wait(self, line: Connection, printed: IO[bytes]) -> None:
        """The copy's whole life: to fork whenever something is asked."""
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            _redirect(printed)
            while True:
                question = line.recv()
                try:
                    line.send((True, apart(lambda _, asked=question: self._answer(asked)).value))  # type: ignore[misc]
                except Exception as problem:
                    line.send((False, repr(problem)))
        finally:
            os._exit(0)

    def ask(self, question: Any) -> Result | None:
        """The answer of a fresh copy; None where there is none, as when the copy ended in the middle of it."""
        if self._line is None:
            return None
        try:
            self._line.send(question)
            answered, answer = self._line.recv()
        except (EOFError, OSError):
            return None
        found: Result | None = answer if answered else None
        return found

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.close()
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)
            self._line = None


# --- calls that do not end ------------------------------------------------------------------------


WALL = 5.0
"""Seconds on the clock that one call may take: it may wait, but not for ever."""


class Cut(BaseException):
    """Raised inside a call that takes too long; no `except Exception` of that call swallows it."""

    def __init__(self, *, waited: bool) -> None:
        super().__init__()
        self.waited = waited


@contextlib.contextmanager
def cutting(current: Callable[[], int], seconds: float) -> Iterator[None]:
    """Cut calls that do not end, while this context is open.

    This needs the main thread of a system with interval timers; elsewhere calls are not cut.

    Args:
        current: the number of the call that is running, negative for none.
        seconds: processor time that one call may take; up to twice that goes by before it is cut.

    >>> with contextlib.suppress(Cut), cutting(lambda: 0, 0.01):
    ...     while True:
    ...         pass
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    timers: tuple[tuple[signal.Signals, int, float], ...] = (
        (signal.SIGVTALRM, signal.ITIMER_VIRTUAL, seconds),
        (signal.SIGALRM, signal.ITIMER_REAL, max(WALL, seconds)),
    )
    if signal.getitimer(signal.ITIMER_REAL)[0]:
        timers = timers[:1]
    seen = {number: -1 for number, _, _ in timers}
    cut = -1

    def tick(number: int, _frame: Any) -> None:
        """No call is cut twice: a second timer, or a late tick, must not strike whoever handles the first."""
        nonlocal cut
        running = current()
        late = running >= 0 and running != cut and seen[signal.Signals(number)] == running
        seen[signal.Signals(number)] = running
        if late:
            cut = running
            raise Cut(waited=number == signal.SIGALRM)

    before = [signal.signal(number, tick) for number, _, _ in timers]
    for _, timer, period in timers:
        signal.setitimer(timer, period, period)
    try:
        yield
    finally:
        for (number, timer, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


# --- a first look ---------------------------------------------------------------------------------


FIRST = 24
"""Datasets that are looked at; more only while every call raises."""
MOST = 500
CALLS = 64
"""Calls in all before a function is said to raise always, at least."""
LIMIT = 1.0
FRAMES = 3


class FunctionRaisesError(DpspecError):
    """A plain function raises in every call, on every dataset that was tried: it does not fit the space, or is not finished."""

    code = "function-raises"


@attrs.frozen(kw_only=True)
class Trial:
    """What the first calls showed.

    Args:
        calls, datasets: how many calls were made, on how many datasets.
        returned: how many of them returned something.
        raised: on how many datasets a call raised.
        cut: whether one of them did not end.
        crash: the first exception, with its place in the code and the dataset; empty for none.
    """

    calls: int
    datasets: int
    returned: int
    raised: int
    cut: bool
    crash: str = ""

    @property
    def always(self) -> bool:
        """Whether every call raised."""
        return bool(self.crash) and not self.returned and not self.cut


def trial(
    function: Callable[[Any, Any], Any], datasets: Iterable[Dataset], *, seed: int = 0, seconds: float | None = None
) -> Trial:
    """Call the function a few times on the first datasets; while it only raises, on more of them; until its time is over."""
    clock = Clock(seconds or float("inf"))
    calls = returned = raised = looked = 0
    crash, inside, cut = "", False, False
    held: Sequence[Dataset] = list(itertools.islice(datasets, MOST))
    each = max(2, -(-CALLS // max(len(held), 1)))
    with cutting(lambda: calls if inside else -1, LIMIT):
        for place, dataset in enumerate(held):
            if cut or (returned and place >= FIRST) or (looked and not clock.left()):
                break
            looked, failed = place + 1, False
            note(f"a first call on {dataset}")
            for turn in range(each):
                handed = presented(dataset)
                calls, inside = calls + 1, True
                try:
                    function(handed, np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, place, turn]))))
                    inside, returned = False, returned + 1
                except Cut:  # a call that does not end is told by those who come after
                    inside, cut = False, True
                    break
                except BaseException as problem:  # it is told, not handled
                    inside, failed = False, True
                    crash = crash or f"{_where(problem)}, on {presented(dataset)!r}"
                if returned and turn:
                    break
            raised += failed
    return Trial(calls=calls, datasets=looked, returned=returned, raised=raised, cut=cut, crash=crash)


def shape(datasets: Iterable[Dataset]) -> str:
    """How a dataset looks to a plain function, in words."""
    dataset = next(iter(datasets), None)
    if dataset is None:
        return ""
    given = presented(dataset)
    if not isinstance(given, (list, tuple)):
        return f"a dataset is a {type(given).__name__} such as {given!r}"
    kinds = " or ".join(dict.fromkeys(type(part).__name__ for part in given))
    return f"a dataset is a {type(given).__name__}{f' of {kinds}' if kinds else ''} such as {given!r}"


def _where(problem: BaseException) -> str:
    """The exception with the last frames that led to it."""
    frames = traceback.extract_tb(problem.__traceback__)[1:][-FRAMES:]
    places = [f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}: {frame.line or '?'}" for frame in frames]
    said = " ".join(f"{type(problem).__name__}: {problem}".split())[:200].rstrip(": ")
    return f"{said} ({' > '.join(places)})" if places else said


def refuse(name: str, found: Trial, message: str) -> FunctionRaisesError:
    """The error for a function that raises always.

    Args:
        name: of the function.
        found: its trial.
        told: the shape of a dataset.
    """
    rule = f"raised in all of {count(found.calls, 'call')} on {count(found.datasets, 'dataset')}: {found.crash}"
    advice = f"{message}; mend the function, or name the file that it is written for"
    return FunctionRaisesError("function", rule, advice, value=name)
