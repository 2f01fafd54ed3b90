"""Cutting calls into foreign code that do not end."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

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
