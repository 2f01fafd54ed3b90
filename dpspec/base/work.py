"""Counted work: what limits a search, in units that do not depend on the machine, its load or its clock.

The engines call `spend` where their work is done, with about one unit for each microsecond that it takes on the machine where
this was measured. `limited` ends a search when a number of units is spent.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from dpspec.base.errors import WorkLimitError


class _Meter(threading.local):
    """The units spent by a thread since it started, and the number at which its work ends."""

    spent: int = 0
    limit: int | None = None


_METER = _Meter()


def spend(units: int) -> None:
    """Count work.

    Raises:
        WorkLimitError: when more is spent than the innermost or any outer `limited` allows.

    >>> before = spent()
    >>> spend(3)
    >>> spent() - before
    3
    """
    _METER.spent += units
    if _METER.limit is not None and _METER.spent > _METER.limit:
        raise WorkLimitError("work", "exceeds its limit: the search is too large")


def spent() -> int:
    """The units that this thread has spent: the difference of two is the work between them."""
    return _METER.spent


@contextmanager
def limited(most: int) -> Iterator[None]:
    """Limit the work of what is done inside; an outer limit holds as well.

    Args:
        most: the largest number of units.

    >>> with limited(2):
    ...     spend(3)
    Traceback (most recent call last):
    ...
    dpspec.base.errors.WorkLimitError: work: exceeds its limit: the search is too large
    """
    outer = _METER.limit
    own = _METER.spent + most
    _METER.limit = own if outer is None else min(outer, own)
    try:
        yield
    finally:
        _METER.limit = outer
