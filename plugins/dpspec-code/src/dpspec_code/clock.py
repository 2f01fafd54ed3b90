"""The clock of a search: how much time the search has used, and the time limit of one call into foreign code.

Every search takes its clock as an argument. The default measures this process. Tests pass a clock that counts units of work, so
that what they find depends neither on the machine nor on what else runs there (`tests.sampled.toys.CountingClock`).

A call that reaches its limit is interrupted by `Cut`. Such a call has no outcome: how long a call takes depends on the machine,
so no search may use the interruption as evidence, or choose by it where to search.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable

from dpspec.plugin.judges import Stopwatch, cutting


class SearchClock:
    """The time of this process.

    >>> watch = SearchClock().watch(60)
    >>> watch.left() <= 60
    True
    """

    def now(self) -> float:
        """Seconds of processor time since some moment; only differences mean anything."""
        return time.process_time()

    def watch(self, seconds: float = math.inf) -> Stopwatch:
        """Start a stopwatch.

        Args:
            seconds: how much time there is.
        """
        return Stopwatch(seconds)

    def cutting(self, current: Callable[[], int], seconds: float) -> contextlib.AbstractContextManager[None]:
        """Interrupt calls that exceed their time limit, while the context is open.

        Args:
            current: returns the number of the running call, negative for none.
            seconds: the time limit of one call.
        """
        return cutting(current, seconds)


SYSTEM_CLOCK = SearchClock()
"""The clock of all searches that are given no other."""
