"""Time that a process had, and limits of the time of calls into foreign code, which may not end.

Time is what the work had (`Stopwatch`): on a processor, or asleep, but not in the queue for a processor, so that a busy machine
changes nothing, and work that waits for ever ends. `cutting` raises `Cut` inside calls that take too long.
"""

from __future__ import annotations

import contextlib
import gc
import math
import mmap
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

_ours = False
NOTE = 1 << 12
"""Bytes of a `Note`."""


def own_acts_allowed() -> bool:
    """Whether what a process does is an act of dpspec, and none of the code that it runs."""
    return _ours


@contextlib.contextmanager
def allow_own_acts() -> Iterator[None]:
    """What is done inside is an act of dpspec, also in a process whose acts are watched."""
    global _ours  # noqa: PLW0603
    before, _ours = _ours, True
    try:
        yield
    finally:
        _ours = before


class Note:
    """A line of text that survives the process that writes it.

    Args:
        place: memory that the processes share; None for a note that nobody reads.
    """

    def __init__(self, place: mmap.mmap | None = None) -> None:
        self.place = place

    def write(self, text: str) -> None:
        if self.place is not None:
            data = text.encode("utf-8", "backslashreplace")[: NOTE - 1] + b"\0"
            self.place[: len(data)] = data

    def read(self) -> str:
        return "" if self.place is None else self.place[:].split(b"\0", 1)[0].decode("utf-8", "replace")


def account_of(process: int | str) -> tuple[float, float] | None:
    """Seconds that a process ran, and that it waited for a processor; None where the kernel does not report them."""
    try:
        with allow_own_acts():  # a timer reads it in the middle of a call, of which it is no side effect
            ran, waited = Path(f"/proc/{process}/schedstat").read_text().split()[:2]
    except (OSError, ValueError):
        return None
    return int(ran) / 1e9, int(waited) / 1e9


class Stopwatch:
    """The time that this process had from now on: on a processor or asleep, but not waiting for a processor.

    Where the kernel does not report the waiting time, only processor time counts.

    Args:
        seconds: how much there is.

    >>> watch = Stopwatch(60)
    >>> time.sleep(0.01)
    >>> watch.spent() < 60
    True
    """

    _AGAIN = 0.02

    def __init__(self, seconds: float = math.inf) -> None:
        self.seconds = seconds
        self._wall, self._ran, self._start = time.monotonic(), time.process_time(), account_of("self")
        self._asleep = self._idle = 0.0

    def spent(self) -> float:
        """Seconds since the start."""
        ran = time.process_time() - self._ran
        idle = time.monotonic() - self._wall - ran
        if self._start is not None and idle > self._idle + self._AGAIN:  # queried again only when it did not run for a while
            now, self._idle = account_of("self") or self._start, idle
            self._asleep = max(self._asleep, idle - (now[1] - self._start[1]))
        return ran + self._asleep

    def left(self) -> float:
        """Seconds that are left, at least 0."""
        return max(0.0, self.seconds - self.spent())


# --- calls that do not end -----------------------------------------------------------------------


WALL = 5.0
"""Seconds on the clock that one call may take: it may wait, but not for ever. Waiting for a processor does not count."""

ASLEEP = 0.9
"""The part of them that a call had, asleep or running, when it is cut: on a busy machine it waits in the queue for the rest."""


LOST = 50
"""A call that goes on for so many times its limit after it was cut is cut again: what is raised while the interpreter calls back
from collecting garbage, or into `__del__`, is lost."""


class Cut(BaseException):
    """Raised inside a call that takes too long; no `except Exception` of that call swallows it."""

    def __init__(self, *, waited: bool) -> None:
        super().__init__()
        self.waited = waited


class _LateCut(Cut):
    """One that another thread raises, which hands over a class and nothing else."""

    def __init__(self) -> None:
        super().__init__(waited=False)


@contextlib.contextmanager
def _cutting_by_thread(current: Callable[[], int], seconds: float) -> Iterator[None]:
    """The same without signals. Processor time counts here too, so that a busy machine cuts nothing that is right."""
    import ctypes

    target, guard, over = ctypes.c_ulong(threading.get_ident()), threading.Lock(), threading.Event()
    has_struck = False

    def watch() -> None:
        nonlocal has_struck
        seen, begun, cut, struck = -1, 0.0, -1, 0.0
        while not over.wait(seconds / 2):
            with guard:
                running, now = current(), time.process_time()
                if over.is_set() or running < 0 or running != seen:
                    seen, begun = running, now
                elif now - begun >= seconds and (running != cut or now - struck >= LOST * seconds):
                    cut, struck, has_struck = running, now, True
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(target, ctypes.py_object(_LateCut))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        while not over.is_set():
            with contextlib.suppress(_LateCut), guard:  # a cut that arrives here has missed its call
                over.set()
        if has_struck:
            _consume(target)
        watcher.join()


def _consume(target: Any) -> None:
    """Let a cut that has not been raised be raised here, in its own thread.

    Taking it back (an exception of NULL) would leave the flag set by which CPython 3.11 interrupts its evaluation loop: every
    step would check for an exception that never comes, and under a trace function, as a debugger or Hypothesis sets one, the loop
    would never end.
    """
    import ctypes

    with contextlib.suppress(_LateCut):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(target, ctypes.py_object(_LateCut))
        while True:
            pass


def _is_in_collector(frame: FrameType | None) -> bool:
    """Whether a callback of the garbage collector is running: what is raised there is printed, and lost."""
    callbacks = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None and frame.f_code not in callbacks:
        frame = frame.f_back
    return frame is not None


@contextlib.contextmanager
def cutting(current: Callable[[], int], seconds: float) -> Iterator[None]:
    """Cut calls that do not end, while this context is open.

    In the main thread of a system with interval timers a signal cuts. Elsewhere, as on Windows, another thread does: it reaches
    a call between two steps of Python, so that one that sleeps, or is inside foreign code, is cut when it comes back.

    Args:
        current: the number of the call that is running, negative for none.
        seconds: processor time that one call may take; up to twice that goes by before it is cut.

    >>> with contextlib.suppress(Cut), cutting(lambda: 0, 0.01):
    ...     while True:
    ...         pass
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        with _cutting_by_thread(current, seconds):
            yield
        return
    timers: tuple[tuple[signal.Signals, int, float], ...] = (
        (signal.SIGVTALRM, signal.ITIMER_VIRTUAL, seconds),
        (signal.SIGALRM, signal.ITIMER_REAL, max(WALL, seconds)),
    )
    if signal.getitimer(signal.ITIMER_REAL)[0]:
        timers = timers[:1]
    seen = {number: -1 for number, _, _ in timers}
    had, sees_queue = Stopwatch(), account_of("self") is not None
    cut, since, waited = -1, 0, 0

    def tick(number: int, frame: FrameType | None) -> None:
        """No call is cut twice at once: a second timer, or a late tick, must not interrupt the handler of the first."""
        nonlocal cut, since, had, waited
        running = current()
        late = running >= 0 and seen[signal.Signals(number)] == running
        if number == signal.SIGALRM:
            if not late:
                had = Stopwatch()
            # a call that is in the queue for a processor does not wait for anything of its own, as far as the kernel tells
            late = late and (not sees_queue or had.spent() >= ASLEEP * max(WALL, seconds))
        seen[signal.Signals(number)] = running
        since = since + 1 if running == cut else 0
        waited = waited + 1 if late and _is_in_collector(frame) else 0
        if late and not 0 < waited < LOST and (running != cut or since >= LOST):
            cut, since = running, 0
            raise Cut(waited=number == signal.SIGALRM)

    def lost(problem: sys.UnraisableHookArgs) -> None:
        """What is raised in `__del__` or in a callback of a weak reference is printed and lost: the next tick cuts again."""
        nonlocal cut
        if issubclass(problem.exc_type, Cut):
            cut = -1
        else:
            shown(problem)

    shown, sys.unraisablehook = sys.unraisablehook, lost
    before = [signal.signal(number, tick) for number, _, _ in timers]
    outer = [signal.setitimer(timer, period, period) for _, timer, period in timers]
    try:
        yield
    finally:
        if sys.unraisablehook is lost:
            sys.unraisablehook = shown
        for (number, timer, _), handler, goes_on in zip(timers, before, outer, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)
            signal.setitimer(timer, *goes_on)


unfinished = Note()
"""What code of others this process runs that may end it; written where a parent reads it."""


@contextlib.contextmanager
def ending(name: str, seconds: float) -> Iterator[None]:
    """End this process where code inside goes on for too long that cannot be cut, and leave a note for its parent.

    Code that takes no signals, such as a loop in C, and code that catches what is raised in it are never cut.

    Args:
        name: whose code it is.
        seconds: processor time that it may take.
    """
    if unfinished.place is None:
        yield
        return
    before = unfinished.read()
    unfinished.write(name)
    outer = signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, *outer)
        unfinished.write(before)
